"""The one table from rule code to module. A code and its name, once shipped, never change meaning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from lossless.errors import LosslessError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.rules.base import Check, Rule

MODULES: dict[str, str] = {
    "CLS001": "classification.cls001_rdma_dscp_not_lossless",
    "TOP001": "topology.top001_oversubscription_undeclared",
    "WD001": "watchdog.wd001_watchdog_missing",
}


class LoadedRule(NamedTuple):
    """A rule with its check and its documentation."""

    rule: Rule
    check: Check
    documentation: str


def load(code: str) -> LoadedRule:
    """Return one rule.

    Raises:
        LosslessError: no such code.
    """
    if code not in MODULES:
        raise LosslessError(f"no rule {code!r}")
    module = import_module(f"lossless.rules.{MODULES[code]}")
    return LoadedRule(module.RULE, module.check, module.__doc__ or "")


def load_all(codes: Iterable[str] | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules of some codes, or all."""
    return tuple(load(code) for code in sorted(MODULES if codes is None else codes))


def code_of(name: str) -> str | None:
    """Return the code of a rule by its code or its readable name, None where there is none."""
    if name.upper() in MODULES:
        return name.upper()
    wanted = "_" + name.replace("-", "_")
    return next((code for code, module in MODULES.items() if module.endswith(wanted)), None)
