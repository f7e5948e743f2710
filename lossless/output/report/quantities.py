"""Labels of quantities, by their names in JSON: reports, tables of pictures and guides take their words from here.

A quantity that several commands report has one name everywhere.
"""

from __future__ import annotations

LABELS = {
    "drops": "drops",
    "pfc": "PFC",
    "marks": "ECN",
    "watchdog": "watchdog",
    "loss": "loss",
    "slowdown": "longest completion",
    "cost": "against no loss",
    "dropped_share": "dropped",
    "trimmed_share": "trimmed",
    "resent_share": "resent",
    "timeouts": "timeouts",
    "unfinished": "unfinished",
    "queue_dynamic_th": "queue dynamic_th",
    "trimming": "trimming",
    "egress_bytes": "peak queue depth",
    "peak_queue_depth_bytes": "peak queue depth",
    "group_bytes": "peak PG occupancy",
    "headroom_bytes": "headroom",
    "headroom_margin_bytes": "headroom left",
    "headroom_left_bytes": "headroom left",
    "longest_pause_us": "longest pause",
    "pauses": "pauses",
    "nics_paused": "NICs paused",
    "time_in_pause": "time in pause",
    "goodput_bps": "goodput",
    "pfc_load": "PFC load",
    "pfc_seeds": "seeds with PFC",
    "verdict": "verdict",
    "pfc_before_ecn": "PFC before ECN",
    "pause_us": "PFC Pause Duration",
    "pause_share": "ports in pause",
    "pause_count": "PFC Pause Count",
    "marking_ratio": "ECN Marking Ratio",
    "jct_ratio": "JCT Ratio",
    "queue_us": "queueing delay",
    "dynamic_th": "dynamic_th",
    "kmin_bytes": "Kmin",
    "kmax_bytes": "Kmax",
    "pmax_percent": "Pmax",
    "margin_bytes": "margin",
    "need_bytes": "needed",
    "shared_headroom_bytes": "shared headroom",
    "kmin_margin_bytes": "Kmin before XOFF",
    "kmax_margin_bytes": "Kmax before XOFF",
}
"""Names in JSON, which stay once shipped, and what text calls the same."""

SINCE = {
    "clear": "the last clear",
    "last poll": "the last poll",
    "user clear": "the last user clear",
    "persistent clear": "the last persistent clear",
    "period": "the last period",
    "unknown": "boot or the last clear",
    "earlier capture": "the earlier capture",
}
"""How text calls the time since when a counter counts, where it is not the word of JSON."""


def over_time(name: str) -> str:
    """Return the label of a quantity as a curve over time, where text reports its peak: ``queue depth``."""
    return LABELS[name].removeprefix("peak ")


def headed(name: str, unit: str) -> str:
    """Return the head of a column of figures: their label and unit."""
    return f"{LABELS[name]} ({unit})"
