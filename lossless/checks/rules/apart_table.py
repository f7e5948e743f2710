"""Rules that are given neither a fabric nor a device: a part of the one table from rule code to module."""

from __future__ import annotations

CABLED: dict[str, str] = {
    "LNK006": "links.lnk006_link_not_cabled",
    "LNK007": "links.lnk007_cable_not_declared",
    "LNK008": "links.lnk008_cables_crossed",
    "LNK009": "links.lnk009_cable_length_unlike_declared",
    "LNK010": "links.lnk010_speed_unlike_declared",
}
"""Rules that are given the cables of an intent against those that files tell of."""

SIMULATED: dict[str, str] = {
    "SIM001": "simulation.sim001_simulated_unsafe",
    "SIM002": "simulation.sim002_simulated_edge",
}
"""Rules that are given what runs of the packet-level model showed."""

KEPT: dict[str, str] = {
    "SUP001": "suppressions.sup001_suppression_unused",
    "SUP002": "suppressions.sup002_suppression_expired",
    "SUP003": "suppressions.sup003_baseline_stale",
}
"""Rules that are given what keeps findings back: suppressions and baselines."""
