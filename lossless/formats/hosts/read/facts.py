"""Types of fact files: sections of text, and the facts that each section has about one part of a host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lossless.ground.basics.findings import Path
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.document import ValuePlace


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
    """The output of one tool, or the content of one file: ``title`` is the command line, or the file.

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
        """The lines as in the file."""
        return "\n".join(line.text for line in self.lines)

    @property
    def start(self) -> int:
        """The offset of its first line."""
        return self.lines[0].start if self.lines else 0


class HostFact(NamedTuple):
    """One fact in a file: the part of the host, the setting (a key of a host's settings), its value, and its place.

    A fact of ``rank`` 1 holds only without a fact of rank 0 for the same setting: firmware is weaker than the running
    value, a sign weaker than an explicit value.
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
