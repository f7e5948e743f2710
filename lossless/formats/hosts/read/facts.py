"""What files of facts are made of: sections of text, and what each says of one part of a host."""

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
        """The line without the blanks around it."""
        begin = self.start + len(self.text) - len(self.text.lstrip())
        end = self.start + len(self.text.rstrip())
        return ValuePlace(begin, end, begin, end)


class Section(NamedTuple):
    """What one tool printed, or one file held: ``title`` is the command line, or the file.

    ``scope`` is the interface, RDMA device or PCI address that the command names, empty where it names none and
    speaks of the whole host.
    """

    title: str
    scope: str
    lines: tuple[SectionLine, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The command line, word by word."""
        return tuple(self.title.split())

    @property
    def text(self) -> str:
        """The lines as they stand in the file."""
        return "\n".join(line.text for line in self.lines)

    @property
    def start(self) -> int:
        """The offset of its first line."""
        return self.lines[0].start if self.lines else 0


class HostFact(NamedTuple):
    """One thing that a file says: of which part of the host, what (a key of a host's settings), and where.

    ``rank`` 1 holds only where nothing of rank 0 says the same: firmware beside what runs, a sign beside a word.
    """

    scope: str
    key: str
    value: Any
    path: Path
    place: ValuePlace | None = None
    rank: int = 0


class SectionFlaw(NamedTuple):
    """Something in a file that cannot be read; the rest of the file still counts."""

    message: str
    place: ValuePlace


Reading = Iterator[HostFact | SectionFlaw]
