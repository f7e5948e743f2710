"""PFC deadlock: stalled links that form a cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.graphs.cycles import cycle
from lossless.ground.graphs.graph import from_lists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.analysis.storm.channels import ChannelGraph
    from lossless.analysis.storm.fluid import IngressGroup


def stalled_cycle(
    net: ChannelGraph, stopped: Mapping[int, float], groups: Mapping[int, IngressGroup]
) -> tuple[str, ...]:
    """Return the sending ports of a shortest cycle of stalled channels, empty without one.

    A channel waits for another where part of its traffic leaves by that one, which is stalled too.
    """
    number = {at: place for place, at in enumerate(stopped)}
    waits_for = (groups[at].shares.parts() if at in groups else {} for at in number)
    places = cycle(from_lists([number[out] for out in outs if out in number] for outs in waits_for))
    channels = [net.channels[at] for at in stopped]
    return tuple(f"{channels[place].source}:{channels[place].source_port}" for place in places)
