"""Output of opensm: about a configuration that it reads, and the log of a sweep.

opensm 3.3.23 ends with 0 after any error, so only its output shows errors. Its messages are from opensm/osm_subnet.c,
osm_ucast_mgr.c, osm_opensm.c and osm_prtn_config.c of linux-rdma/opensm (@d71a924, @917070c, @917070c, @247d0d8), and
from runs of the program itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_UNRECOGNISED = re.compile(r"Unrecognized token: \"?([^\"\n]*)\"?")
_COMPLAINTS = ("-E-", "Invalid Cached Option", "Warning: Cached Option")
_LOG_LINE = re.compile(r"^\w{3} \d+ [\d:]+ \d+ \[[0-9A-F]+\] 0x([0-9a-f]{2}) -> (.*)$")
_ROUTED = " tables configured on all switches"
_ENGINE = re.compile(rf"(\S+){_ROUTED}")
_COMMENT = re.compile(r"(?:^|\s)#")
_NO_FALLBACK_NOISE = "'no_fallback'"
"""opensm takes this word for one more engine, complains that there is none, and obeys it all the same."""


class OptionsReading(NamedTuple):
    """The result of opensm's reading of a configuration file.

    ``effective`` is the whole configuration that it wrote back, as texts.
    """

    read: bool
    unrecognized: tuple[str, ...]
    complaints: tuple[str, ...]
    effective: dict[str, str]


class SweepLog(NamedTuple):
    """The log of one sweep over a subnet. ``engine`` is the one that routed, None if none did.

    ``lines`` are the lines of the log at the level of errors, and those with the reason why an engine was skipped.
    """

    up: bool
    engine: str | None
    failed_engines: tuple[str, ...]
    partitions: tuple[str, ...]
    qos: tuple[str, ...]
    lines: tuple[str, ...]


def reading_of(output: str, normalised: str) -> OptionsReading:
    """Return the result in the output of ``opensm -F FILE -c OTHER``, and in the text of the other file."""
    lines = [line.strip() for line in output.splitlines()]
    return OptionsReading(
        read=any(line.startswith("Reading Cached Option File:") for line in lines),
        unrecognized=tuple(match[1] for line in lines if (match := _UNRECOGNISED.search(line))),
        complaints=tuple(line for line in lines if any(word in line for word in _COMPLAINTS)),
        effective=options_in(normalised),
    )


def options_in(text: str, *, as_meant: bool = False) -> dict[str, str]:
    """Return the keys of an opensm.conf with their values, read as opensm reads them: a ``#`` ends a line anywhere.

    ``as_meant``: as people read them, to whom a ``#`` inside a word is part of it.
    """
    options = {}
    for line in text.splitlines():
        meant = _COMMENT.split(line, maxsplit=1)[0] if as_meant else line.split("#", 1)[0]
        words = meant.split(None, 1)
        if len(words) == 2:
            options[words[0]] = words[1].strip()
    return options


def differences(written: dict[str, str], effective: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return the keys whose effective value is not the written one, with both; only keys that opensm knows."""
    return [
        (key, text, effective[key])
        for key, text in written.items()
        if key in effective and _value(text) != _value(effective[key])
    ]


def _value(text: str) -> str | int:
    """Return a number where a text is one, so that 18 and 0x12 are the same; else the text, without quotes."""
    bare = text.strip().strip('"')
    try:
        return int(bare, 0)
    except ValueError:
        return re.sub(r"\s*([,:])\s*", r"\1", bare)


def sweep_of(log: Iterable[str]) -> SweepLog:
    """Return the result of a sweep from the lines of an opensm log."""
    entries = list(_entries(log))
    routed = [text for _, text in entries if _ROUTED in text]
    engines = [match[1] for text in routed if (match := _ENGINE.search(text))]
    errors = [text for level, text in entries if level == 0x01 and _NO_FALLBACK_NOISE not in text]
    return SweepLog(
        up=any("SUBNET UP" in text for _, text in entries),
        engine=engines[-1] if engines else None,
        failed_engines=tuple(text for _, text in entries if _skipped(text)),
        partitions=tuple(text for _, text in entries if _of_partitions(text)),
        qos=tuple(text for _, text in entries if "ERR AC" in text or "qos_policy" in text.lower()),
        lines=tuple(dict.fromkeys(errors)),
    )


def _entries(log: Iterable[str]) -> Iterator[tuple[int, str]]:
    for line in log:
        if match := _LOG_LINE.match(line.rstrip("\n")):
            yield int(match[1], 16), match[2]


def _skipped(text: str) -> bool:
    if _NO_FALLBACK_NOISE in text:
        return False
    return any(
        words in text
        for words in (
            "cannot find or setup routing engine",
            "cannot build lid matrices",
            "cannot build fwd tables",
            "disabling UPDN algorithm",
            "disabling DNUP algorithm",
            "No routing engine able to successfully configure",
        )
    )


def _of_partitions(text: str) -> bool:
    return "PARSE ERROR" in text or "PARSE WARN" in text or "Partition configuration in error" in text
