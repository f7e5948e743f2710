"""Reads the settings that a shell script makes on a host or for a job; of each the last one counts.

Settings are those of ``mlnx_qos`` (Mellanox/mlnx-tools python/mlnx_qos @088fadb, options) and ``cma_roce_tos``, values
written to files below ``/sys``, and variables of NCCL, UCX, MORI and NVMe over RDMA, also of ``mpirun -x``. They are
weaker than the settings that a host prints: a script may not have run.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.formats.hosts.read import sysfs
from lossless.formats.hosts.read.facts import HostFact, SectionFlaw
from lossless.formats.hosts.read.tools import OURS, bare_word, meaning_of, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.hosts.read.facts import Reading, Section, SectionLine

_SHELL = re.compile(r"#![^\n]{0,80}\b(?:ba|da|z|k)?sh\b")
_SETS = re.compile(
    r"\b(?:mlnx_qos|cma_roce_tos)\s|/sys/class/infiniband/\S{1,64}/tc/"
    r"|\b(?:NCCL|UCX|MORI)_[A-Z0-9_]{1,60}="
)
_OWN = "lossless-roce"
"""A word in every script that this program renders: such a script is what an intent asks for."""
_SET_IN_SCRIPT = re.compile(r"(?<![\w$-])([A-Za-z_][A-Za-z0-9_]*+)=")
_SHELL_WORD = re.compile(r"\"[^\"]*+\"|'[^']*+'|[^\s;\"'&|]*+")
_WRITTEN = re.compile(r"echo\s++[\"']?([\w=. -]{1,40}?)[\"']?\s*+>\s*+(/sys/\S++)")


def is_script(text: str) -> bool:
    """Return whether a text is a shell script that sets up RDMA of a host or a job, other than a rendered one."""
    return bool(_SHELL.match(text) and _SETS.search(text)) and _OWN not in text


def read(section: Section) -> Reading:
    """Yield the settings that a shell script makes, of rank 1, the last of each; an unreadable value is a flaw."""
    last: dict[tuple[str, str], HostFact] = {}
    for item in _settings_of(section):
        if isinstance(item, HostFact):
            last[item.scope, item.key] = item._replace(rank=1)
        else:
            yield item
    yield from last.values()


def _settings_of(section: Section) -> Reading:
    values: dict[str, str] = {}
    for line in section.lines:
        text = line.text.strip()
        if text.startswith("#"):
            continue
        for name, value in assignments(text):
            values[name] = _expanded(value, values)
            if OURS.match(name):
                yield from _job_setting(section, name, values[name], line)
        written = _WRITTEN.search(_expanded(text, values))
        words = _expanded(text, values).split()
        if written is not None:
            yield from _written(section, written, line)
        for command, settings in (("mlnx_qos", _mlnx_qos_command), ("cma_roce_tos", _cma_command)):
            if command in words:
                options = words[words.index(command) + 1 :]
                if any("$" in word for word in options):
                    yield SectionFlaw(f"{text}: a variable that is set elsewhere; not read", line.place)
                else:
                    yield from settings(section, options, line)


def assignments(line: str) -> Iterator[tuple[str, str]]:
    """Yield the variables that a line of a shell script sets, with their values without quotes."""
    for assigned in _SET_IN_SCRIPT.finditer(line):
        value = _SHELL_WORD.match(line, assigned.end())
        yield assigned[1], bare_word(value[0] if value else "")


def _expanded(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of the variables that the script has set so far."""
    return re.sub(r"\$\{?([A-Za-z_]\w{0,60})\}?", lambda match: values.get(match[1], match[0]), text)


def _job_setting(section: Section, name: str, value: str, line: SectionLine) -> Reading:
    if "$" in value:
        yield SectionFlaw(f"{name}: {value} is set elsewhere; not read", line.place)
        return
    yield said(section, f"variable.{name}", (name, value), line)
    yield from meaning_of(section, name, value, line)


def _written(section: Section, written: re.Match[str], line: SectionLine) -> Reading:
    """Yield the meaning of a value that is written to a file below /sys."""
    stated = line._replace(text=f"{written[2]}={written[1]}")
    for fact in sysfs.read(section._replace(lines=(stated,))):
        yield fact._replace(place=line.place)


def _mlnx_qos_command(section: Section, options: Sequence[str], line: SectionLine) -> Reading:
    """Yield trust and PFC that ``mlnx_qos`` sets."""
    given = _options(options)
    scope = given.get("-i", given.get("--interface", ""))
    trust, pfc = given.get("--trust", ""), given.get("--pfc", given.get("-f", ""))
    if trust in ("dscp", "pcp"):
        yield HostFact(scope, "trust", trust, (section.title, "trust"), line.place)
    flags = pfc.split(",")
    if len(flags) == 8 and set(flags) <= {"0", "1"}:
        paused = tuple(priority for priority, flag in enumerate(flags) if flag == "1")
        yield HostFact(scope, "pfc", paused, (section.title, "pfc"), line.place)


def _cma_command(section: Section, options: Sequence[str], line: SectionLine) -> Reading:
    given = _options(options)
    tos = given.get("-t", "")
    if tos.isdecimal() and len(tos) < 4:
        yield HostFact(given.get("-d", ""), "cma_tos", int(tos), (section.title, "cma_tos"), line.place)


def _options(words: Sequence[str]) -> dict[str, str]:
    """Return the options of a command with their values: ``-i eth0``, ``--trust=dscp``."""
    split = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    return {name: value for name, value in pairwise(split) if name.startswith("-")}
