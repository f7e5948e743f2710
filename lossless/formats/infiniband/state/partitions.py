"""A partitions.conf beside captures: what each partition is defined to have, as readings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.read.partitions import looks_like_partitions, read_partitions
from lossless.ground.basics.limits import DIGITS
from lossless.model.fabric.state.readings import StateReading

if TYPE_CHECKING:
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state.collected import StateItems

_READ = ("pkey", "rate", "mtu", "sl", "scope", "default")
_LONG = re.compile(rf"[0-9]{{{DIGITS + 1}}}")


def is_form(section: PrintedSection) -> bool:
    """Return whether most of what a text states are partitions."""
    return not _LONG.search(section.head) and looks_like_partitions(section.head)


def read(section: PrintedSection) -> StateItems:
    """Yield what is stated of each partition; the second of a name has ``#2`` after it."""
    for line in section.lines:
        if _LONG.search(line.text):
            yield section.problem(line, f"a number of more than {DIGITS} digits, the most that is read")
            return
    document, _ = read_partitions(section.text, section.file)
    for name, stated in document.data.items():
        for key in _READ:
            if key in stated:
                yield StateReading((("partition", name),), key, stated[key], "", "now", (name, key), key)
