"""A partitions.conf beside captures: the definition of each partition, as readings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.infiniband.read.partitions import looks_like_partitions, read_partitions
from lossless.ground.basics.limits import DIGITS
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import StateItems

_READ = ("pkey", "rate", "mtu", "sl", "scope", "default")
_LONG = re.compile(rf"(?<![0-9])[0-9]{{{DIGITS + 1}}}")


def is_form(section: PrintedSection) -> bool:
    """Return whether a text is a partitions.conf: at least half of its statements are, and no number is too long."""
    return not _LONG.search(section.head) and looks_like_partitions(section.head)


def read(section: PrintedSection) -> StateItems:
    """Yield P_Key, rate, MTU, SL, scope and default membership of each partition; a repeated name has ``#2`` behind."""
    for line in section.lines:
        if _LONG.search(line.text):
            yield section.problem(line, f"a number of more than {DIGITS} digits, the most that is read")
            return
    document, _ = read_partitions(section.text, section.file)
    for name, stated in document.data.items():
        for key in _READ:
            if key in stated:
                yield StateReading((("partition", name),), key, stated[key], "", "now", (name, key), key)
