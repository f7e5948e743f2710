"""Rules that are given the cables of an intent against those that files tell of: a part of the one table."""

from __future__ import annotations

CABLED: dict[str, str] = {
    "LNK006": "links.lnk006_link_not_cabled",
    "LNK007": "links.lnk007_cable_not_declared",
    "LNK008": "links.lnk008_cables_crossed",
    "LNK009": "links.lnk009_cable_length_unlike_declared",
    "LNK010": "links.lnk010_speed_unlike_declared",
}
"""Rules that are given a :class:`~lossless.rules.links.cabling.Cabled`."""
