"""The reaction time that peers need for PFC if a vendor's headroom is less than the slowest peer needs.

IEEE 802.3 allows a peer up to 905 pause quanta at 400G. Some headroom rows of vendors are too small for such a peer:
they assume that their own NICs and switches are quicker, and no public source has their reaction time. A drop that
depends on this is not a certain fault: the result is the longest reaction time without drops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import given_headroom
from lossless.analysis.simulation.question.nodes import reaction_ns
from lossless.analysis.simulation.question.ports import need_of
from lossless.analysis.simulation.study.study import study
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.study.measure import GroupUse, NamedLinkEnd
    from lossless.analysis.simulation.study.study import Study
    from lossless.model.fabric.view import View

_HALVINGS = 4
"""Steps of a bisection: the result is exact to a sixteenth of the time that IEEE 802.3 allows."""


class PeerReactionLimit(NamedTuple):
    """Frames are dropped where a peer takes ``allowed_ns`` to obey, and none where it takes ``safe_ns``."""

    place: NamedLinkEnd
    allowed_ns: float
    safe_ns: float


def peer_reaction_limit(view: View, results: Study, limits: Limits) -> PeerReactionLimit | None:
    """Return the longest reaction time of peers without drops; None if there is none, or the headroom is too small.

    It applies to a study in which frames were dropped.
    """
    worst = _worst(results)
    pools = [
        seed.headroom_pool_margin_bytes
        for seed in results.seeds
        if seed.headroom_pool_margin_bytes is not None
    ]
    short = any(left < results.scenario.frame_bytes for left in pools)
    if worst is None or short or any(seed.refused for seed in results.seeds):
        return None
    rate_bps = _row_rate_bps(view, worst.place)
    if rate_bps is None or _drops(results, 0.0, limits):
        return None
    safe, unsafe = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (safe + unsafe) / 2
        safe, unsafe = (safe, middle) if _drops(results, middle, limits) else (middle, unsafe)
    return PeerReactionLimit(worst.place, reaction_ns(rate_bps), safe * reaction_ns(rate_bps))


def _worst(results: Study) -> GroupUse | None:
    dropping = [seed.worst for seed in results.seeds if seed.drops and seed.worst is not None]
    return max(dropping, key=lambda use: use.drops, default=None)


def _drops(results: Study, part: float, limits: Limits) -> bool:
    again = study(results.scenario._replace(reaction=part), limits)
    return any(seed.drops + seed.refused for seed in again.seeds)


def _row_rate_bps(view: View, place: NamedLinkEnd) -> int | None:
    """Return the rate of a port with at least its vendor's headroom, None if it has less."""
    port = view.port(place.switch, place.port) if place.port is not None else None
    if port is None or port.qos is None or port.speed_bps is None:
        return None
    need = need_of(view.switch_by_name[place.switch], port)
    if need is None or need.method == "floor":
        return None
    return port.speed_bps if _given(place, view) >= need.headroom_bytes else None


def _given(place: NamedLinkEnd, view: View) -> int:
    port = view.port(place.switch, place.port or "")
    groups = port.qos.groups if port is not None and port.qos is not None else ()
    switch = view.switch_by_name[place.switch]
    held = (
        given_headroom(switch, group.buffer)
        for group in groups
        if group is not None and group.buffer is not None
    )
    return max(held, default=0)
