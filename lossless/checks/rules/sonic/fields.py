"""Fields of rows as orchagent reads them, and the violation of a field that it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import Violation
from lossless.formats.sonic.effective.objects import UINT64, to_uint
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.qos import COLOURS

if TYPE_CHECKING:
    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.read.tables import ConfigRow
    from lossless.ground.basics.findings import Severity

TIMERS = ("detection_time", "restoration_time")
NUMBERS = {
    "WRED_PROFILE": tuple(
        f"{colour}_{name}"
        for colour in COLOURS
        for name in ("min_threshold", "max_threshold", "drop_probability")
    ),
    "SCHEDULER": ("weight", "cir", "cbs", "pir", "pbs"),
    "BUFFER_POOL": ("size", "xoff"),
    "BUFFER_PROFILE": ("size", "xon", "xon_offset", "xoff", "static_th", "dynamic_th"),
}
"""The fields of rows that are numbers, by table of CONFIG_DB."""


def read_timer(text: str) -> int | None:
    """Return the milliseconds that orchagent reads from a text, None where it refuses the text."""
    return to_uint(text, 0, UINT64 - 1)


def is_canonical(text: str) -> bool:
    """Return whether a text is a number in its usual form: digits, no leading zero, perhaps a minus."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and (digits[0] != "0" or digits == "0")


class FieldProblem(NamedTuple):
    """A field that orchagent or the chip refuses or misreads; ``message`` follows the key of its row.

    ``severity`` None: an error where orchagent throws on it, or where a lossless class needs the row.
    """

    field: str
    message: str
    help: str
    severity: Severity | None = None
    throws: bool = False


def field_violation(device: Device, table: str, row: ConfigRow, problem: FieldProblem) -> Violation:
    """Return the violation of one field of a row."""
    from lossless.checks.rules.sonic.lossless_rows import THROWS, severity_of

    return Violation(
        origin=device.tables.origin(table, row, problem.field),
        message=f"{row.key} {problem.message}",
        note=THROWS if problem.throws else "",
        help=problem.help,
        data={"field": problem.field, "value": row.fields.get(problem.field)},
        severity=problem.severity or (None if problem.throws else severity_of(device, table, (row.key,))),
    )
