"""Speeds of ports that are unknown, because the profile of their switch has only some modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.model import may_take

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.model import Switch


def unknown_speeds(switch: Switch, names: Sequence[str]) -> Iterator[MissingInput]:
    """Yield a missing input per needed speed that a switch's profile does not list and the switch may yet have."""
    if switch.profile is None:
        return
    for speed_bps in dict.fromkeys(demand.speed_bps for demand in switch.demand):
        if may_take(switch.profile, speed_bps):
            speeds = ", ".join(map(format_rate, switch.profile.speeds_bps))
            rate = format_rate(speed_bps)
            yield MissingInput(
                f"whether a port of {switch.profile.name} takes {rate}: only {speeds} are known of it",
                len(names),
            )
