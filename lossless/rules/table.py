"""The one table from rule code to module. A code and its name, once shipped, never change meaning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from lossless.errors import LosslessError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.rules.base import Check, Rule

MODULES: dict[str, str] = {
    "BUF001": "buffers.buf001_headroom_below_cable",
    "BUF002": "buffers.buf002_headroom_below_need",
    "BUF003": "buffers.buf003_headroom_row_missing",
    "BUF004": "buffers.buf004_cable_length_missing",
    "BUF007": "buffers.buf007_headroom_oversubscribed",
    "CFG005": "configuration.cfg005_repeated_key",
    "CLS001": "classification.cls001_rdma_dscp_not_lossless",
    "CLS002": "classification.cls002_other_dscp_lossless",
    "CLS006": "classification.cls006_tos_dscp_unit_slip",
    "CLS007": "classification.cls007_cnp_class_unsafe",
    "CLS008": "classification.cls008_cnp_marking_mismatch",
    "ECN001": "ecn.ecn001_lossless_queue_without_ecn",
    "ECN003": "ecn.ecn003_marking_probability_zero",
    "ECN004": "ecn.ecn004_marking_starts_after_pfc",
    "ECN005": "ecn.ecn005_full_marking_after_pfc",
    "ECN010": "ecn.ecn010_storage_default_thresholds",
    "HST001": "hosts.hst001_nccl_ib_tc_not_lossless",
    "PFC001": "pfc.pfc001_pfc_priorities_mismatch",
    "PFC003": "pfc.pfc003_pfc_one_sided",
    "PFC005": "pfc.pfc005_pfc_path_misaligned",
    "PFC009": "pfc.pfc009_pfc_oversubscribed_uplinks",
    "TOP001": "topology.top001_oversubscription_undeclared",
    "TOP002": "topology.top002_port_budget",
    "TOP003": "topology.top003_port_speed_missing",
    "WD001": "watchdog.wd001_watchdog_missing",
    "WD002": "watchdog.wd002_watchdog_mask_empty",
    "WD003": "watchdog.wd003_watchdog_timer_range",
    "WD004": "watchdog.wd004_watchdog_timer_below_poll",
    "WD005": "watchdog.wd005_watchdog_restoration_unset",
    "WD006": "watchdog.wd006_watchdog_restores_too_soon",
    "WD008": "watchdog.wd008_watchdog_outlasts_transport",
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
