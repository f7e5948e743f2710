"""Small fabrics of every shape for the spread, and what the packet-level model shows of them."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.storm.paths import RelativeNames
from lossless.analysis.storm.tiers import LeafReachability, channel_graph
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import PFC_ONLY, declared, put

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.run import Simulation
    from lossless.analysis.simulation.question.instance import ScenarioInstance
    from lossless.model.fabric.cluster import StormTraffic

_SHORT = {"watchdog": {"poll": "200ms", "detection": "400ms", "restoration": "400ms"}}
_CABLES = {"host": "3m", "uplink": "30m"}


def _shape(name: str, **keys: Any) -> dict[str, Any]:
    return {"hardware": {"switch": "nvidia-sn5600"}, "topology": {"leaf_spine": None, name: keys}}


SHAPES: dict[str, dict[str, Any]] = {
    "leaf-spine": {},
    "dynamic buffers": {"buffers": {"model": "dynamic"}},
    "rails": _shape(
        "rail_optimised", units=2, rails=2, spines=2, hosts_per_unit=4,
        host_links="2 x 400G", uplinks="1 x 800G", cables=_CABLES,
    ),
    "rails by plane": _shape(
        "rail_optimised", units=2, rails=2, planes=2, spines=4, hosts_per_unit=4,
        host_links="4 x 400G", uplinks="1 x 800G", cables=_CABLES,
    ),
    "rails in three tiers": _shape(
        "three_tier", pods=2, leaves_per_pod=2, spines_per_pod=2, super_spines=2, rails=2, hosts_per_leaf=4,
        host_links="2 x 400G", uplinks="1 x 800G", spine_uplinks="1 x 800G",
        cables=_CABLES | {"spine_uplink": "40m"},
    ),
    "three tiers": _shape(
        "three_tier", pods=2, leaves_per_pod=2, spines_per_pod=2, super_spines=2, hosts_per_leaf=4,
        host_links="1 x 400G", uplinks="1 x 800G", spine_uplinks="1 x 800G",
        cables=_CABLES | {"spine_uplink": "40m"},
    ),
    "dragonfly": _shape(
        "dragonfly", groups=3, switches=3, hosts_per_switch=2, host_links="1 x 400G", local_links="1 x 400G",
        global_links="3 x 400G", cables={"host": "3m", "local": "5m", "global": "30m"},
    ),
    "dragonfly+": _shape(
        "dragonfly_plus", groups=3, leaves=2, spines=2, hosts_per_leaf=2, host_links="1 x 400G",
        uplinks="1 x 400G", global_links="2 x 400G", cables=_CABLES | {"global": "30m"},
    ),
    "torus": _shape(
        "torus", sides=[5, 5], links="1 x 400G", hosts_per_switch=1, host_links="1 x 400G",
        cables={"host": "3m", "link": "10m"},
    ),
}  # fmt: skip
"""Patches on the sound intent, by name."""


@cache
def of(shape: str, **pfc: Any) -> View:
    """Return a small fabric of a shape, whose watchdog is quick; nothing but pauses slows senders down."""
    return declared({**SHAPES[shape], **PFC_ONLY, "pfc": {**_SHORT, **pfc}})


def seen(view: View, end: str, traffic: StormTraffic, until_ms: float) -> dict[str, list[float]]:
    """Return since when links stall in the packet-level model, in nanoseconds, by the names of stages."""
    from lossless.analysis.simulation.question.instance import DEAD_FROM_NS

    simulation, staged = _run(view, end, traffic, until_ms)
    near, times = _near(view, end), defaultdict(list)
    for link, ends in enumerate(simulation.index.wiring.ends):
        since_ps = int(simulation.state.queues[link * simulation.index.classes]["paused_since"])
        if since_ps >= 0:
            sender, receiver = (staged.names[node] for node in ends)
            to = end if receiver == end else near.who(receiver.partition(":")[0])
            times[f"{near.who(sender.partition(':')[0])} to {to}"].append(since_ps / 1e3 - DEAD_FROM_NS)
    return times


def cycle_seen(view: View, end: str, until_ms: float) -> tuple[str, ...]:
    """Return paused links that form a cycle in the packet-level model, empty where none do."""
    from lossless.analysis.simulation.study.measure import cycle

    simulation, staged = _run(view, end, "all-to-all", until_ms)
    return cycle(simulation.state, simulation.index, staged)


def _run(view: View, end: str, traffic: StormTraffic, until_ms: float) -> tuple[Simulation, ScenarioInstance]:
    from lossless.analysis.simulation.engine.run import Simulation
    from lossless.analysis.simulation.question.instance import instantiate

    view = View(with_computed_buffers(view.fabric))
    found = put(
        view,
        pattern="incast" if traffic == "incast" else "all-to-all",
        traffic="any" if traffic == "any" else "rail",
        size_bytes=1 << 30, dead_nic=True, target=end, nics=64,
    )  # fmt: skip
    staged = instantiate(found, 1)
    simulation = Simulation(staged.network, 1)
    simulation.advance(until_ms * 1e6)
    return simulation, staged


def _near(view: View, end: str) -> RelativeNames:
    host, _, port = end.partition(":")
    found = channel_graph(view.fabric)
    leaves = {found.channels[at].source for at in found.into[host] if found.channels[at].target_port == port}
    return RelativeNames(LeafReachability(found), host, leaves, None, view.rail_of)
