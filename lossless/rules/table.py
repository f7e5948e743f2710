"""The one table from rule code to module. A code and its name, once shipped, never change meaning.

In which dict a rule stands says what it is given, and so when it is loaded at all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from lossless.errors import LosslessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lossless.rules.base import Gap, Hit, Rule

FABRIC: dict[str, str] = {
    "BUF001": "buffers.buf001_headroom_below_cable",
    "BUF002": "buffers.buf002_headroom_below_need",
    "BUF003": "buffers.buf003_headroom_row_missing",
    "BUF004": "buffers.buf004_cable_length_missing",
    "BUF007": "buffers.buf007_headroom_oversubscribed",
    "CLS001": "classification.cls001_rdma_dscp_not_lossless",
    "CLS002": "classification.cls002_other_dscp_lossless",
    "CLS007": "classification.cls007_cnp_class_unsafe",
    "ECN001": "ecn.ecn001_lossless_queue_without_ecn",
    "ECN003": "ecn.ecn003_marking_probability_zero",
    "ECN004": "ecn.ecn004_marking_starts_after_pfc",
    "ECN005": "ecn.ecn005_full_marking_after_pfc",
    "ECN010": "ecn.ecn010_storage_default_thresholds",
    "PFC001": "pfc.pfc001_pfc_priorities_mismatch",
    "PFC005": "pfc.pfc005_pfc_path_misaligned",
    "WD001": "watchdog.wd001_watchdog_missing",
    "WD002": "watchdog.wd002_watchdog_mask_empty",
    "WD003": "watchdog.wd003_watchdog_timer_range",
    "WD004": "watchdog.wd004_watchdog_timer_below_poll",
    "WD005": "watchdog.wd005_watchdog_restoration_unset",
    "WD006": "watchdog.wd006_watchdog_restores_too_soon",
    "WD008": "watchdog.wd008_watchdog_outlasts_transport",
}
"""Rules that are given a view, of an intent or of one deployed device."""

INTENT: dict[str, str] = {
    "CLS006": "classification.cls006_tos_dscp_unit_slip",
    "CLS008": "classification.cls008_cnp_marking_mismatch",
    "HST001": "hosts.hst001_nccl_ib_tc_not_lossless",
    "PFC003": "pfc.pfc003_pfc_one_sided",
    "PFC009": "pfc.pfc009_pfc_oversubscribed_uplinks",
    "TOP001": "topology.top001_oversubscription_undeclared",
    "TOP002": "topology.top002_port_budget",
    "TOP003": "topology.top003_port_speed_missing",
}
"""Rules that are given the view of an intent, and need what only an intent says."""

DEVICE: dict[str, str] = {
    "CFG005": "configuration.cfg005_repeated_key",
}
"""Rules that are given one deployed device: its rows as they stand, and the model they make."""

ACROSS: dict[str, str] = {
    "PFC003": "pfc.pfc003_pfc_one_sided",
}
"""Rules that are given all deployed devices together: both ends of every link, all switches of a role.

They judge by their function ``across``; one that stands in another dict too has a ``check`` beside it.
"""

MODULES: dict[str, str] = dict(sorted({**FABRIC, **INTENT, **DEVICE, **ACROSS}.items()))


class LoadedRule(NamedTuple):
    """A rule with its documentation and what judges: ``check``, or ``across`` for all devices together."""

    rule: Rule
    check: Callable[[Any], Iterator[Hit | Gap]]
    documentation: str


def load(code: str) -> LoadedRule:
    """Return one rule.

    Raises:
        LosslessError: no such code.
    """
    if code not in MODULES:
        raise LosslessError(f"no rule {code!r}")
    alone = any(code in kind for kind in (FABRIC, INTENT, DEVICE))
    return _load(MODULES[code], "check" if alone else "across")


def load_all(codes: Iterable[str] | None = None) -> tuple[LoadedRule, ...]:
    """Return the rules of some codes, or all."""
    return tuple(load(code) for code in sorted(MODULES if codes is None else codes))


def for_intents() -> tuple[LoadedRule, ...]:
    """Return the rules that are given the view of an intent."""
    return tuple(_load(module, "check") for _, module in sorted({**FABRIC, **INTENT}.items()))


def for_views_of_devices() -> tuple[LoadedRule, ...]:
    """Return the rules that are given the view of one deployed device."""
    return tuple(_load(module, "check") for _, module in sorted(FABRIC.items()))


def for_devices() -> tuple[LoadedRule, ...]:
    """Return the rules that are given one deployed device with its rows."""
    return tuple(_load(module, "check") for _, module in sorted(DEVICE.items()))


def for_all_devices() -> tuple[LoadedRule, ...]:
    """Return the rules that are given all deployed devices together."""
    return tuple(_load(module, "across") for _, module in sorted(ACROSS.items()))


def _load(name: str, function: str) -> LoadedRule:
    module = import_module(f"lossless.rules.{name}")
    return LoadedRule(module.RULE, getattr(module, function), module.__doc__ or "")


def code_of(name: str) -> str | None:
    """Return the code of a rule by its code or its readable name, None where there is none."""
    if name.upper() in MODULES:
        return name.upper()
    wanted = "_" + name.replace("-", "_")
    return next((code for code, module in MODULES.items() if module.endswith(wanted)), None)
