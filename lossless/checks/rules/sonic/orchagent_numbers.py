"""How rules word what orchagent reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.read.tables import single_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import Row

_SHOWN = 4


def is_canonical(text: str) -> bool:
    """Return whether a text is a number as everyone writes it: digits, no leading zero, perhaps a minus."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and (digits[0] != "0" or digits == "0")


def listed(names: Sequence[str]) -> str:
    """Return ``a, b, c, d and 3 more``."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def known(device: Device, port: str) -> str:
    """Return a port as findings name it: ``leaf1:Ethernet0``."""
    return f"{device.switch.name}:{port}"


def own_rows(device: Device, table: str, row: Row) -> list[str]:
    """Return the keys that a joined key stands for and that have a row of their own as well."""
    written = device.tables.data.get(table)
    return [key for key in single_keys(row.key) if isinstance(written, dict) and key in written]
