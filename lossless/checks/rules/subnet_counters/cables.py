"""What the counters of a port say of its cable."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossless.checks.rules.subnet_counters.ports import CountedPort

SYMBOL_ERRORS = "symbol_error"
RECOVERIES = "link_error_recovery"


def has_bad_cable(port: CountedPort) -> bool:
    """Return whether errors on the wire filled their counter, and the link had to be trained again."""
    errors = port.counters.get(SYMBOL_ERRORS)
    return errors is not None and errors.reading.is_saturated and bool(port.number(RECOVERIES))
