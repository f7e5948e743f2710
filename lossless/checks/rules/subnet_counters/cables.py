"""Signs of a bad cable in the counters of a port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.state import BY_NAME, ceiling

if TYPE_CHECKING:
    from lossless.checks.rules.subnet_counters.ports import CountedPort

SYMBOL_ERRORS = "symbol_error"
RECOVERIES = "link_error_recovery"
DOWNED = "link_downed"
_MANY = ceiling(BY_NAME[SYMBOL_ERRORS])
"""The maximum of the 16-bit counter of symbol errors; a 64-bit one goes on."""


def has_bad_cable(port: CountedPort) -> bool:
    """Return whether errors on the wire made the link train again.

    From one capture that is certain only where they filled the 16-bit counter. Between two captures it is where the
    link was never down: a link that comes up counts both.
    """
    errors = port.counters.get(SYMBOL_ERRORS)
    if errors is None or not port.number(RECOVERIES):
        return False
    if not port.between(RECOVERIES):
        return (errors.number or 0) >= _MANY
    has_errors = bool(port.alongside(RECOVERIES, SYMBOL_ERRORS)) or errors.reading.is_saturated
    return has_errors and port.alongside(RECOVERIES, DOWNED) == 0
