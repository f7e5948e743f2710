"""What the counters of a port say of its cable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.state.port_counters import BY_NAME, ceiling

if TYPE_CHECKING:
    from lossless.checks.rules.subnet_counters.ports import CountedPort

SYMBOL_ERRORS = "symbol_error"
RECOVERIES = "link_error_recovery"
_MANY = ceiling(BY_NAME[SYMBOL_ERRORS])
"""Where the counter of 16 bits stops: one of 64 bits goes on."""


def has_bad_cable(port: CountedPort) -> bool:
    """Return whether errors on the wire filled their counter, and the link had to be trained again."""
    return (port.number(SYMBOL_ERRORS) or 0) >= _MANY and bool(port.number(RECOVERIES))
