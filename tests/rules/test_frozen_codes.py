"""Codes and names that were shipped: suppressions and baselines depend on them, so none ever changes meaning."""

from __future__ import annotations

from lossless.rules.table import MODULES, load

SHIPPED = {
    "BUF001": "headroom-below-cable",
    "BUF002": "headroom-below-need",
    "BUF003": "headroom-row-missing",
    "BUF004": "cable-length-missing",
    "BUF007": "headroom-oversubscribed",
    "CFG005": "repeated-key",
    "CLS001": "rdma-dscp-not-lossless",
    "CLS002": "other-dscp-lossless",
    "CLS006": "tos-dscp-unit-slip",
    "CLS007": "cnp-class-unsafe",
    "CLS008": "cnp-marking-mismatch",
    "ECN001": "lossless-queue-without-ecn",
    "ECN003": "marking-probability-zero",
    "ECN004": "marking-starts-after-pfc",
    "ECN005": "full-marking-after-pfc",
    "ECN010": "storage-default-thresholds",
    "HST001": "nccl-ib-tc-not-lossless",
    "PFC001": "pfc-priorities-mismatch",
    "PFC003": "pfc-one-sided",
    "PFC005": "pfc-path-misaligned",
    "PFC009": "pfc-oversubscribed-uplinks",
    "TOP001": "oversubscription-undeclared",
    "TOP002": "port-budget",
    "TOP003": "port-speed-missing",
    "WD001": "watchdog-missing",
    "WD002": "watchdog-mask-empty",
    "WD003": "watchdog-timer-range",
    "WD004": "watchdog-timer-below-poll",
    "WD005": "watchdog-restoration-unset",
    "WD006": "watchdog-restores-too-soon",
    "WD008": "watchdog-outlasts-transport",
}


def test_codes_and_names_are_frozen() -> None:
    assert {code: load(code).rule.name for code in MODULES} == SHIPPED
    assert list(MODULES) == sorted(MODULES)
