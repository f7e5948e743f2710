"""How many switches get to their target, in one line a way and reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import grouped
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.device_files.base_merge import UpdatePlan


def plan_lines(plans: Sequence[UpdatePlan]) -> list[str]:
    """Return a line for switches that a patch cannot bring there, by reason, and one for all that it can."""
    reloads = grouped((plan.why, plan.device) for plan in plans if plan.how == "reload")
    lines = [f"{listed(devices)}: reload, not patch; {'; '.join(why)}" for why, devices in reloads.items()]
    patched = [plan for plan in plans if plan.how == "patch"]
    hit = sum(1 for plan in patched if plan.ports_down)
    if patched:
        ports = f"; on {hit} of them it takes ports down on the way" if hit else "; no port goes down"
        lines.append(f"a patch brings {len(patched)} of {len(plans)} switches there{ports}")
    harmed = grouped((plan.harms, plan.device) for plan in patched if plan.harms)
    lines += (
        f"{listed(devices)}: lossless traffic is harmed: {'; '.join(why)}" for why, devices in harmed.items()
    )
    return lines
