"""Where what is to blame for a run's outcome was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.buffers.port import Missing
from lossless.simulation.ends import profile_of

if TYPE_CHECKING:
    from lossless.fabric.model import Port
    from lossless.fabric.qos import BufferProfile
    from lossless.fabric.view import View
    from lossless.findings import Origin
    from lossless.simulation.measure import Place
    from lossless.simulation.study import Study


def blame(view: View, found: Study) -> tuple[Origin, str | None]:
    """Return the row of the threshold that ran out, and the port where it showed.

    A pool that ran short comes before the group that drew on it; a watchdog that acted comes before both.
    """
    place = _place(found)
    port = view.port(place.switch, place.port) if place is not None and place.port is not None else None
    if place is None or port is None or port.qos is None:
        return view.fabric.switches[0].qos.origin, None
    stormed = any(one.outcome.storms for one in found.seen) and not found.scenario.question.dead_nic
    if stormed and port.qos.watchdog is not None:
        return port.qos.watchdog.origin, str(place)
    profile = profile_of(view.switch_by_name[place.switch], port, found.scenario.classes[0])
    return _of_profile(view, found, port, None if isinstance(profile, Missing) else profile), str(place)


def _place(found: Study) -> Place | None:
    """Return the group that dropped or came closest to it, else the fullest queue."""
    uses = [one.tightest for one in found.seen if one.tightest is not None]
    worst = max(uses, key=lambda use: (use.drops, -use.margin_bytes), default=None)
    if worst is not None:
        return worst.place
    return next((one.hottest for one in found.seen if one.hottest is not None), None)


def _of_profile(view: View, found: Study, port: Port, profile: BufferProfile | None) -> Origin:
    if profile is None:
        return port.origin
    pools = [
        one.headroom_pool_margin_bytes for one in found.seen if one.headroom_pool_margin_bytes is not None
    ]
    short = pools and min(pools) < found.scenario.frame_bytes
    origin = profile.pool.origin if short and profile.pool is not None else profile.origin
    return origin if view.fabric.declared else origin.at("xoff")
