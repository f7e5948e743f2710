"""Fields of rows as orchagent reads them, and the violation of one that it does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Violation

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity

TIMERS = ("detection_time", "restoration_time")


def read_timer(text: str) -> int | None:
    """Return the milliseconds that orchagent makes of a text, None where it refuses it.

    The base follows from the text: a leading 0 makes it octal, 0x hexadecimal, and nothing may follow the digits
    (to_uint, sonic-swss-common common/converter.h @07a03cb).
    """
    bare = text.lstrip().removeprefix("+")
    octal = bare[:1] == "0" and bare[1:].isdecimal()
    try:
        # int() takes digits parted by underscores too.
        return None if "_" in bare else int(bare, 8 if octal else 16 if bare[:2].lower() == "0x" else 10)
    except ValueError:
        return None


def is_canonical(text: str) -> bool:
    """Return whether a text is a number as everyone writes it: digits, no leading zero, perhaps a minus."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and (digits[0] != "0" or digits == "0")


def field_violation(
    device: Device,
    table: str,
    row: ConfigRow,
    field: str,
    problem: str,
    help_text: str,
    severity: Severity | None = None,
) -> Violation:
    """Return the violation of one field; ``problem`` follows the key of the row in the message."""
    return Violation(
        origin=device.tables.origin(table, row, field),
        message=f"{row.key} {problem}",
        help=help_text,
        data={"field": field, "value": row.fields.get(field)},
        severity=severity,
    )
