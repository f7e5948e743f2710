"""Separates the outputs of several commands in one text without titles, by lines that only one command prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection

_FIRST = {
    "ethtool -S": re.compile(r"\s*NIC statistics(?: for \S+)?:\s*"),
    "mlnx_qos": re.compile(r"\s*DCBX mode:.*"),
    "dcb": re.compile(r"\s*pfc-cap\s.*"),
}
"""Lines that begin the output of a command, also after another output of the same command."""
_LINES = {
    "sysfs": re.compile(r"\s*(?:/sys/class/\S|ports/[0-9]+/|hw_counters/\w|[a-z][\w./]*=).*"),
    "rdma statistic": re.compile(r"\s*(?:link \S+/[0-9]+|[a-z_]\w* [0-9]+)(?:\s.*)?"),
    "ethtool -S": re.compile(r"\s*[^:=\s]*_[^:=]*:\s+[0-9]+\s*"),
}
"""Lines that only one command prints; others, such as titles and settings, may be of any."""
JOINED = frozenset({*_FIRST, *_LINES})
"""Forms that often share one file."""


def outputs_of(section: PrintedSection) -> Iterator[PrintedSection]:
    """Yield the outputs in a section, in their order; the first one keeps the section's command."""
    title, form = section.title, ""
    lines: list[PrintedLine] = []
    for line in section.lines:
        begins, kind = _of(_FIRST, line.text), _of(_LINES, line.text)
        if form and (begins or (kind and kind != form)):
            yield section._replace(title=title, lines=tuple(lines))
            title, form, lines = "", "", []
        form = begins or form or kind
        lines.append(line)
    yield section._replace(title=title, lines=tuple(lines))


def of_interfaces(outputs: Iterable[PrintedSection]) -> Iterator[tuple[PrintedSection, bool]]:
    """Yield each output, and whether its interface may differ from that of an earlier one, because neither names it."""
    seen: set[str] = set()
    for output in outputs:
        first = next((line.text for line in output.lines if line.text.strip()), "")
        command = "" if output.named else _of(_FIRST, first)
        yield output, command in seen
        seen.update({command} - {""})


def _of(known: dict[str, re.Pattern[str]], text: str) -> str:
    """Return the command that prints a line, empty where several may."""
    return next((name for name, line in known.items() if line.fullmatch(text)), "")
