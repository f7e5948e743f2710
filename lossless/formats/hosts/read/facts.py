"""Reads the facts of a host in a text: a snapshot of the collector, a transcript, or the output of one tool.

A text has sections, and each section the facts about one part of a host. A snapshot begins with ``# lossless host
facts 1`` and names its host in ``# host NAME``. Each of its sections begins with ``==> COMMAND``, followed by the
output of that command. A terminal's transcript is read the same way, by its prompts. In any other file a section begins
with a line that only another tool prints, or with the first line of an output that comes again; the name of the file
may contain the interface, ``mlnx_qos.eth2.txt``; its folder is the host.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lossless.formats.hosts.forms import FACTS
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Path
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import Document, ValuePlace

if TYPE_CHECKING:
    from collections.abc import Iterable


class SectionLine(NamedTuple):
    """One line of a file, and the offset at which it begins."""

    start: int
    text: str

    @property
    def place(self) -> ValuePlace:
        """The place of the line without leading and trailing blanks."""
        begin = self.start + len(self.text) - len(self.text.lstrip())
        end = self.start + len(self.text.rstrip())
        return ValuePlace(begin, end, begin, end)


class Section(NamedTuple):
    """The output of one tool, or the content of one file: ``title`` is the command line, else the name of the form.

    ``scope`` is the interface, RDMA device or PCI address that the command names, empty for a command about the whole
    host.
    """

    title: str
    scope: str
    lines: tuple[SectionLine, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the command line."""
        return tuple(self.title.split())

    @property
    def text(self) -> str:
        """The text of the output, joined from its lines."""
        return "\n".join(line.text for line in self.lines)

    @property
    def start(self) -> int:
        """The offset in the file at which the output begins, 0 for one without lines."""
        return self.lines[0].start if self.lines else 0


class HostFact(NamedTuple):
    """One fact in a file: the part of the host, the setting (a key of a host's settings), its value, and its place.

    A fact of ``rank`` 1 holds only without a fact of rank 0 for the same setting: a setting of the firmware is weaker
    than the running value, an indirect sign weaker than an explicit value.
    """

    scope: str
    key: str
    value: Any
    path: Path
    place: ValuePlace | None = None
    rank: int = 0


class SectionFlaw(NamedTuple):
    """A part of a file that cannot be read; the rest of the file is still used."""

    message: str
    place: ValuePlace


Reading = Iterator[HostFact | SectionFlaw]


FIRST_LINE = "# lossless host facts"
"""The beginning of a snapshot of the collector."""
VERSION = "1"
END = "==> end"
"""The last line of a complete snapshot."""
NOT_READ = "not read"
"""The section that lists the commands that the collector could not run."""

_FORMS = {form.name.split()[0]: form for form in FACTS}
"""The forms of host settings by the first word of a section's title."""
_FORM_NAMES = frozenset(form.name for form in FACTS)
_SIGNED = tuple(form for form in FACTS if form.tells and form.name != "dcb")
"""The forms of host settings that one line tells."""
_AGAIN = frozenset({"mlnx_qos", "niccli", "Get-NetAdapterQos", "ethtool -a"})
"""Forms whose output comes again where a line by which they are known does."""
_ADAPTER_NAME = re.compile(r"Name\s*+:")
_ADAPTER_LINES = 20
_ASSIGNED = re.compile(r"(?:export\s+)?[A-Za-z_][A-Za-z0-9_]*\s*=")
_VARIABLE = re.compile(r"(?:export\s+)?(?:(?:NCCL|UCX|MORI)_[A-Z0-9_]+|NVME_TRANSPORT_TOS)\s*=")
_PAUSED = re.compile(r"^Pause parameters for (\S+):", re.MULTILINE)
_TITLE = re.compile(r"(?:==>|\S*\$|\S+#)\s++(\S++(?:\s++\S++)*)\s*+$")
_HOST = re.compile(r"# host (\S+)\s*$")
_BY_OPTION = ("-i", "-d", "dev", "--dev")
_LOOKED_INTO = 65536


class Facts(NamedTuple):
    """The facts of one host in one file: document, host, facts, and the problems of parts that cannot be read.

    ``is_job``: the facts are of a job in a cluster; files of other jobs may have the same name. ``notes`` name values
    that are not read, since another place sets them.
    """

    document: Document
    host: str
    said: tuple[HostFact, ...]
    problems: tuple[Problem, ...]
    is_job: bool = False
    notes: tuple[str, ...] = ()

    def line_of(self, fact: HostFact) -> int:
        """Return the line of a fact, 0 for one without a place."""
        return 0 if fact.place is None else self.document.line_and_column(fact.place.start)[0]

    @property
    def is_of_one_object(self) -> bool:
        """Whether each command of a transcript is for one interface or device alone; False without a command."""
        lines = (line.split() for line in self.document.text.splitlines())
        scopes = {(words[at], _scope(words[at:])) for words in lines for at in _commands(words)}
        return bool(scopes) and len({command for command, _ in scopes}) == len(scopes)

    def names_object(self, fact: HostFact) -> bool:
        """Return whether the output or the command of a fact, or the file's name, names the fact's object."""
        title = str(fact.path[0])
        return bool(fact.scope) and (title in _FORM_NAMES or title.startswith("cat "))


class PlaceLocator:
    """Finds places by a table of paths; a path that is not in it has the beginning of the file."""

    __slots__ = ("_places",)

    def __init__(self, places: dict[Path, ValuePlace]) -> None:
        self._places = places

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return the place in the file of each path; the file's beginning for an unknown path."""
        return {path: self._places.get(path, ValuePlace(0, 0, 0, 0)) for path in paths}


def is_facts(text: str) -> bool:
    """Return whether the beginning of a text has a supported form of host facts."""
    return bool(_kind(text[:_LOOKED_INTO]))


def _kind(text: str) -> str:
    """Return FIRST_LINE for a snapshot or transcript, else the title of a text of one section; empty if unsupported."""
    if text.startswith(FIRST_LINE):
        return FIRST_LINE
    for line in text.splitlines()[:1]:
        if _title(line):
            return FIRST_LINE
    form = next((form for form in FACTS if form.tells and form.is_of(text)), None)
    return form.name if form else "env" if _is_environment(text) else ""


def _is_environment(text: str) -> bool:
    """Return whether a text only sets environment variables, at least one of them a supported one."""
    lines = [line.strip() for line in text.splitlines()]
    statements = [line for line in lines if line and not line.startswith("#")]
    return any(map(_VARIABLE.match, statements)) and all(map(_ASSIGNED.match, statements))


def read_facts(text: str, file: str, *, is_script: bool = False) -> Facts:
    """Return the host facts in a text; parts that cannot be read become problems.

    ``is_script`` reads it as a shell script: by the settings that it makes.
    """
    lines = _lines(text)
    sections = (Section("script", "", lines),) if is_script else tuple(_sections(lines, text, file))
    reading = [item for section in sections for item in _reading(section)]
    facts = tuple(item for item in reading if isinstance(item, HostFact))
    places = {fact.path: fact.place for fact in facts if fact.place is not None}
    document = Document(file, text, _data(facts), PlaceLocator(places))
    flaws = [item for item in reading if isinstance(item, SectionFlaw)] + list(_truncated(lines))
    problems = tuple(
        Problem(file, *document.line_and_column(flaw.place.start), flaw.message) for flaw in flaws
    )
    return Facts(document, _host(lines, file), facts, problems)


def folder_host(file: str) -> str:
    """Return the host of a file: the name of its folder."""
    return pathlib.Path(file).absolute().parent.name


def _host(lines: tuple[SectionLine, ...], file: str) -> str:
    named = next((match[1] for line in lines[:8] if (match := _HOST.match(line.text))), "")
    return named or folder_host(file)


def _truncated(lines: tuple[SectionLine, ...]) -> Iterator[SectionFlaw]:
    """Yield a flaw for a snapshot of another version, and one for a snapshot without its last line."""
    if not lines or not lines[0].text.startswith(FIRST_LINE):
        return
    version = lines[0].text.removeprefix(FIRST_LINE).strip()
    if version != VERSION:
        yield SectionFlaw(
            f"a snapshot of version {version or 'none'}; this program reads {VERSION}", lines[0].place
        )
    last = next((line for line in reversed(lines) if line.text.strip()), lines[0])
    if last.text.strip() != END:
        yield SectionFlaw(f"the snapshot ends before its last line, {END!r}: it was cut short", last.place)


def _lines(text: str) -> tuple[SectionLine, ...]:
    section_lines, start = [], 0
    for line in text.splitlines(keepends=True):
        section_lines.append(SectionLine(start, line.rstrip("\r\n")))
        start += len(line)
    return tuple(section_lines)


def _title(line: str) -> str:
    match = _TITLE.match(line)
    words = match[1].split() if match else []
    known = words and (words[0] in _FORMS or (match and match[1] in (NOT_READ, END.removeprefix("==> "))))
    return match[1] if match and known else ""


def _sections(lines: tuple[SectionLine, ...], text: str, file: str) -> Iterator[Section]:
    kind = _kind(text[:_LOOKED_INTO])
    if kind != FIRST_LINE:
        yield from (
            [Section(kind, "", lines)] if kind == "env" else _outputs(kind, lines, interface_named(file))
        )
        return
    starts = [(number, title) for number, line in enumerate(lines) if (title := _title(line.text))]
    for (number, title), (end, _) in pairwise([*starts, (len(lines), "")]):
        yield Section(title, _scope(title.split()), lines[number + 1 : end])


def _outputs(kind: str, lines: tuple[SectionLine, ...], scope: str) -> Iterator[Section]:
    """Yield the outputs in a text without titles; ``kind`` is their form where no line shows it."""
    starts, form = [(0, kind)], ""
    seen: set[str] = set()
    for number, line in enumerate(lines):
        found = next((one.name for one in _SIGNED if one.is_of(line.text)), "")
        key = line.text.partition(":")[0].strip()
        if found and not form:
            starts, form = [(0, found)], found
        elif found and (found != form or (found in _AGAIN and key in seen)):
            first = _first_line(found, lines, number, starts[-1][0])
            starts, form, seen = [*starts, (first, found)], found, set()
        seen |= {key} if found else set()
    for (start, name), (end, _) in pairwise([*starts, (len(lines), "")]):
        part = lines[start:end]
        paused = next((match for line in part if (match := _PAUSED.match(line.text))), None)
        if part:
            yield Section(name, paused[1] if paused else scope, part)


def _first_line(form: str, lines: tuple[SectionLine, ...], number: int, after: int) -> int:
    """Return the first line of an output: for ``Get-NetAdapterQos`` that of the adapter's name, else ``number``."""
    if form != "Get-NetAdapterQos":
        return number
    above = range(number, max(after, number - _ADAPTER_LINES), -1)
    return next((at for at in above if _ADAPTER_NAME.match(lines[at].text)), number)


def _commands(words: list[str]) -> list[int]:
    """Return the positions of known commands among the words of a line: after a prompt, and before an option."""
    return [
        at for at, word in enumerate(words[:-1]) if at and word in _FORMS and words[at + 1].startswith("-")
    ]


def _scope(words: list[str]) -> str:
    """Return the interface, RDMA device or PCI address that a command names, empty where it names none."""
    for option, name in pairwise(words):
        if option in _BY_OPTION:
            return name
    if words[0] == "ethtool":
        return next((word for word in words[1:] if not word.startswith("-")), "")
    return ""


def interface_named(file: str) -> str:
    """Return the interface in a file's name, between its first and last dot; empty for none or a command's name."""
    _, _, rest = pathlib.Path(file).name.partition(".")
    name = rest.rpartition(".")[0]
    return "" if name in _FORMS else name


def _reading(section: Section) -> Iterator[HostFact | SectionFlaw]:
    form = _FORMS.get(next(iter(section.title.split()), ""))
    if form is not None:
        yield from form.read(section)


def _data(facts: Iterable[HostFact]) -> dict[str, dict[str, object]]:
    data: dict[str, dict[str, object]] = {}
    for fact in facts:
        data.setdefault(str(fact.path[0]), {})[str(fact.path[-1])] = fact.value
    return data


_DRIVERS = {"mlx5_core": "mlx5", "bnxt_en": "bnxt_re"}
"""The RDMA driver of each Ethernet driver."""


def driver_of(module: str) -> str:
    """Return the RDMA driver of an Ethernet driver; the same name for an unknown one."""
    return _DRIVERS.get(module, module)


def parameter_key(name: str) -> str:
    """Return the key of a DCQCN parameter in host facts, by its ConnectX name."""
    if name == "cnp_802p_prio":
        return "dcqcn.cnp_priority"
    return "dcqcn.cnp_dscp" if name == "cnp_dscp" else f"dcqcn.value.{name}"


ROCE_VERSIONS = {"IB/RoCE v1": 1, "RoCE v1": 1, "RoCE v2": 2}
"""RoCE versions by the kernel's spelling (Linux drivers/infiniband/core/cache.c, gid_type_str)."""
