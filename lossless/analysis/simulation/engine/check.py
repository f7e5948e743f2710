"""Validation of a network before it is simulated: an invalid one is refused with the name of the wrong field."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.analysis.simulation.engine.network import UNBOUNDED
from lossless.analysis.simulation.engine.wiring import CHOICES
from lossless.ground.basics.errors import ScenarioError
from lossless.model.fabric.qos import WATCHDOG_ACTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.analysis.simulation.engine.network import (
        Hold,
        Physics,
        SimCable,
        SimDcqcn,
        SimFlow,
        SimGroup,
        SimLoads,
        SimNetwork,
        SimPort,
        SimSwitch,
        SimWatchdog,
        SimWindow,
        SimWred,
    )

_MOST_CLASSES = 31
"""The most traffic classes: they are bits of a 32-bit word, and one bit may be needed for ACKs."""
_MOST_PARTS, _MOST_PORTS = 64, 4096
"""The most parts of a buffer, and ports of a part: more than any chip has."""
_LARGEST_FRAME = 1 << 20
_LARGEST_ALPHA = 2.0**20
_LONGEST_NS = 1e12
"""The longest duration in a network: a thousand seconds."""
_SHORTEST_US = 1e-6
"""The shortest timer in a network, in its own unit: a picosecond (the clock's step) in us, a nanosecond in ms."""
_RATES_BPS = (1e3, 1e15)
_SLOWEST_BPS = 1e6
"""The slowest rate of a cable: at this rate the time of 64 KiB and of the largest frame still fits in 63 bits
(``kernel.pfc.sending_ps``)."""
_HEAVIEST = 1 << 20
_ENTROPIES = tuple(1 << power for power in range(15))
"""The valid numbers of entropy values: powers of two that a frame's record can hold (``records.FRAME``, ``hop``)."""


def check(network: SimNetwork, names: Mapping[int, str] | None = None) -> None:
    """Raise an error for an invalid network; ``names`` has the names of its nodes for messages.

    Raises:
        ScenarioError: naming the field, its value and the expected one.
    """
    _require(1 <= network.classes <= _MOST_CLASSES, "classes", network.classes, "1 to 31")
    _require(len(network.cables) > 0, "cables", "empty", "at least one")
    _check_physics(network.physics)
    checked: set[tuple[int, int]] = set()
    for number, cable in enumerate(network.cables):
        _check_cable(
            network, cable, f"{names[cable.a]} to {names[cable.b]}" if names else f"cables[{number}]", checked
        )
    for node, switch in network.switches.items():
        _check_switch(network, switch, names[node] if names else f"switches[{node}]")
    pairs = {pair for cable in network.cables for pair in ((cable.a, cable.b), (cable.b, cable.a))}
    for number, flow in enumerate(network.flows):
        _check_flow(network, flow, pairs, number)
    for number, hold in enumerate(network.holds):
        _check_hold(network, hold, pairs, f"holds[{number}]")
    for number, host in enumerate(network.slow_hosts):
        where = f"slow_hosts[{number}]"
        attached = host.node not in network.switches and any(host.node == end for _, end in pairs)
        _require(attached, f"{where}.node", host.node, "a host with a cable")
        others = [other.node for other in network.slow_hosts]
        _require(others.count(host.node) == 1, f"{where}.node", host.node, "each host once")
        _in_range(host.drain_bps, f"{where}.drain_bps", *_RATES_BPS)
        _in_range(host.xoff_bytes, f"{where}.xoff_bytes", 0, UNBOUNDED)
        low = 0 <= host.xon_bytes <= host.xoff_bytes
        _require(low, f"{where}.xon_bytes", host.xon_bytes, f"0 to xoff_bytes, {host.xoff_bytes}")


def largest_frame(network: SimNetwork) -> int:
    """Return the largest data frame of a network in bytes on the wire."""
    return max((flow.mtu_bytes for flow in network.flows), default=0) + network.physics.overhead_bytes


def _check_physics(physics: Physics) -> None:
    _in_range(physics.overhead_bytes, "physics.overhead_bytes", 0, _LARGEST_FRAME)
    _in_range(physics.gap_bytes, "physics.gap_bytes", 0, _LARGEST_FRAME)
    _in_range(physics.pfc_frame_bytes, "physics.pfc_frame_bytes", 1, _LARGEST_FRAME)
    _in_range(physics.ack_frame_bytes, "physics.ack_frame_bytes", 1, _LARGEST_FRAME)
    _in_range(physics.ack_every, "physics.ack_every", 1, _HEAVIEST)
    _in_range(physics.nack_interval_us, "physics.nack_interval_us", 0, _LONGEST_NS / 1e3)
    if physics.timeout_ms is not None:
        _in_range(physics.timeout_ms, "physics.timeout_ms", _SHORTEST_US, _LONGEST_NS / 1e6)
    _require(physics.acks in ("apart", "data"), "physics.acks", physics.acks, "apart or data")


def _check_cable(network: SimNetwork, cable: SimCable, where: str, checked: set[tuple[int, int]]) -> None:
    """Check a cable; ``checked`` has the kinds of port that are checked already: many ports are one object."""
    _in_range(cable.rate_bps, f"{where}.rate_bps", _SLOWEST_BPS, _RATES_BPS[1])
    for name in ("propagation_ns", "a_reaction_ns", "b_reaction_ns"):
        _in_range(getattr(cable, name), f"{where}.{name}", 0, _LONGEST_NS)
    _require(cable.a != cable.b, f"{where}.b", cable.b, "another node than a")
    for side, node, end in (("a", cable.a, cable.a_end), ("b", cable.b, cable.b_end)):
        _require(0 <= node < network.nodes, f"{where}.{side}", node, f"a node from 0 to {network.nodes - 1}")
        is_switch = node in network.switches
        given = "missing" if end is None else "set"
        expected = f"{'set, as' if is_switch else 'missing, as'} node {node} is a {'switch' if is_switch else 'host'}"
        _require((end is not None) == is_switch, f"{where}.{side}_end", given, expected)
        if end is not None:
            kind = id(end), len(network.switches[node].other_pools)
            if kind not in checked:
                _check_end(network, end, network.switches[node], f"{where}.{side}_end")
                checked.add(kind)
            marks_late = any(queue.until_sent and queue.wred is not None for queue in end.queues)
            _require(
                cable.propagation_ns > 0 or not marks_late,
                f"{where}.propagation_ns",
                cable.propagation_ns,
                "above 0, as frames are marked once they have gone",
            )


def _check_end(network: SimNetwork, end: SimPort, switch: SimSwitch, where: str) -> None:
    if end.watchdog is not None:
        _check_watchdog(network, end.watchdog, f"{where}.watchdog")
    for name, count in (("queues", len(end.queues)), ("groups", len(end.groups))):
        wanted = f"one for each of {network.classes} classes"
        _require(count == network.classes, f"{where}.{name}", count, wanted)
    for number, queue in enumerate(end.queues):
        _in_range(queue.weight, f"{where}.queues[{number}].weight", 1, _HEAVIEST)
        _in_range(queue.limit_bytes, f"{where}.queues[{number}].limit_bytes", 0, UNBOUNDED)
        _in_range(queue.alpha, f"{where}.queues[{number}].alpha", 0, _LARGEST_ALPHA)
        _in_range(queue.pool_bytes, f"{where}.queues[{number}].pool_bytes", 0, UNBOUNDED)
        if queue.wred is not None:
            _check_wred(queue.wred, f"{where}.queues[{number}].wred")
        if queue.trim is not None:
            _in_range(queue.trim.size_bytes, f"{where}.queues[{number}].trim.size_bytes", 1, _LARGEST_FRAME)
            other = f"{where}.queues[{number}].trim.traffic_class"
            _check_classes(network, (queue.trim.traffic_class,), other)
            _require(queue.trim.traffic_class != number, other, number, "another class than the queue's own")
    for number, group in enumerate(end.groups):
        _check_group(group, switch, f"{where}.groups[{number}]")


def _check_group(group: SimGroup, switch: SimSwitch, where: str) -> None:
    exclusive = (group.alpha is None) != (group.static_bytes is None)
    _require(exclusive, f"{where}.alpha", group.alpha, "either alpha or static_bytes to be set")
    if group.alpha is not None:
        _in_range(group.alpha, f"{where}.alpha", 2.0**-20, _LARGEST_ALPHA)
    for name in ("headroom_bytes", "xon_bytes", "xon_offset_bytes", "reserved_bytes", "static_bytes"):
        _in_range(getattr(group, name) or 0, f"{where}.{name}", 0, UNBOUNDED)
    most = len(switch.other_pools)
    _require(0 <= group.pool <= most, f"{where}.pool", group.pool, f"0 to {most}")


def _check_wred(wred: SimWred, where: str) -> None:
    _in_range(wred.kmax_bytes, f"{where}.kmax_bytes", 0, UNBOUNDED)
    ordered = 0 <= wred.kmin_bytes <= wred.kmax_bytes
    _require(ordered, f"{where}.kmin_bytes", wred.kmin_bytes, f"0 to kmax_bytes, {wred.kmax_bytes}")
    _in_range(wred.pmax, f"{where}.pmax", 0, 1)


def _check_switch(network: SimNetwork, switch: SimSwitch, where: str) -> None:
    _in_range(switch.cell_bytes, f"{where}.cell_bytes", 1, _LARGEST_FRAME)
    frame = -(-largest_frame(network) // switch.cell_bytes) * switch.cell_bytes
    _in_range(switch.parts, f"{where}.parts", 1, _MOST_PARTS)
    _in_range(switch.ports_per_part, f"{where}.ports_per_part", 0, _MOST_PORTS)
    least = frame * switch.parts
    for name in ("buffer_bytes", "pool_bytes"):
        value = getattr(switch, name)
        _require(
            least <= value <= UNBOUNDED, f"{where}.{name}", value, f"at least one frame a part, {least} B"
        )
    for number, pool in enumerate(switch.other_pools):
        _in_range(pool, f"{where}.other_pools[{number}]", 0, UNBOUNDED)
    _in_range(switch.headroom_pool_bytes or 0, f"{where}.headroom_pool_bytes", 0, UNBOUNDED)
    if switch.watchdog is not None:
        _check_watchdog(network, switch.watchdog, f"{where}.watchdog")
    if switch.loads is not None:
        _check_loads(switch.loads, f"{where}.loads")
    if switch.choice is not None:
        _require(switch.choice in CHOICES, f"{where}.choice", switch.choice, f"one of {', '.join(CHOICES)}")


def _check_loads(loads: SimLoads, where: str) -> None:
    _in_range(loads.sample_ns, f"{where}.sample_ns", 0, _LONGEST_NS)
    _in_range(loads.flowlet_us, f"{where}.flowlet_us", 0, _LONGEST_NS / 1e3)
    low, middle, high = loads.levels_bytes
    rising = 0 <= low <= middle <= high <= UNBOUNDED
    _require(rising, f"{where}.levels_bytes", loads.levels_bytes, "three that do not fall, from 0 on")


def _check_watchdog(network: SimNetwork, watchdog: SimWatchdog, where: str) -> None:
    for name in ("poll_ms", "detection_ms"):
        _in_range(getattr(watchdog, name), f"{where}.{name}", _SHORTEST_US, _LONGEST_NS / 1e6)
    if watchdog.restoration_ms is not None:
        _in_range(watchdog.restoration_ms, f"{where}.restoration_ms", _SHORTEST_US, _LONGEST_NS / 1e6)
    for name, known in (("action", WATCHDOG_ACTIONS), ("vendor", ("mellanox", "broadcom"))):
        value = getattr(watchdog, name)
        _require(value in known, f"{where}.{name}", value, f"one of {', '.join(known)}")
    _check_classes(network, watchdog.classes, f"{where}.classes")


def _check_classes(network: SimNetwork, classes: tuple[int, ...], where: str) -> None:
    for number in classes:
        _require(0 <= number < network.classes, where, number, f"0 to {network.classes - 1}")


def _check_flow(network: SimNetwork, flow: SimFlow, pairs: set[tuple[int, int]], number: int) -> None:
    where = f"flows[{number}]"
    _in_range(flow.size_bytes, f"{where}.size_bytes", 1, UNBOUNDED)
    _in_range(flow.start_ns, f"{where}.start_ns", 0, _LONGEST_NS)
    _in_range(flow.mtu_bytes, f"{where}.mtu_bytes", 1, _LARGEST_FRAME)
    known = 0 <= flow.traffic_class < network.classes
    _require(known, f"{where}.traffic_class", flow.traffic_class, f"0 to {network.classes - 1}")
    _check_path(network, flow, pairs, f"{where}.path")
    for before in flow.after:
        _require(0 <= before < number, f"{where}.after", before, "the number of an earlier flow")
    if flow.dcqcn is not None:
        _check_dcqcn(flow.dcqcn, f"{where}.dcqcn")
    if flow.spread is not None:
        _check_spread(network, flow, f"{where}.spread")
    if flow.ahead_frames is not None:
        _in_range(flow.ahead_frames, f"{where}.ahead_frames", 0, _HEAVIEST)
    if flow.window is not None:
        _check_window(flow, flow.window, where)


def _check_spread(network: SimNetwork, flow: SimFlow, where: str) -> None:
    spread = flow.spread
    assert spread is not None
    _require(spread.choice in CHOICES, f"{where}.choice", spread.choice, f"one of {', '.join(CHOICES)}")
    known = spread.entropies in _ENTROPIES and not isinstance(spread.entropies, float)
    _require(known, f"{where}.entropies", spread.entropies, f"a power of two from 1 to {_ENTROPIES[-1]}")
    direct = not any(node in network.switches for node in flow.path)
    _require(not direct, where, spread.choice, "a path with a switch, which can choose")


def _check_window(flow: SimFlow, window: SimWindow, where: str) -> None:
    alone = flow.dcqcn is None or window.control == "none"
    _require(
        alone,
        f"{where}.window.control",
        window.control,
        "none, or dcqcn to be missing: a flow has one of them",
    )
    _in_range(window.base_rtt_us, f"{where}.window.base_rtt_us", _SHORTEST_US, _LONGEST_NS / 1e3)
    _in_range(window.bdps, f"{where}.window.bdps", 2.0**-10, 2.0**10)
    _in_range(window.target_rtts, f"{where}.window.target_rtts", 2.0**-10, 2.0**10)
    _in_range(window.ack_bytes, f"{where}.window.ack_bytes", 1, _LARGEST_FRAME)
    _in_range(window.credit_bytes, f"{where}.window.credit_bytes", 0, _LARGEST_FRAME)
    _in_range(window.credit_part, f"{where}.window.credit_part", 2.0**-10, 1)
    if window.timeout_us is not None:
        _in_range(window.timeout_us, f"{where}.window.timeout_us", _SHORTEST_US, _LONGEST_NS / 1e3)
    known = window.control in ("none", "nscc")
    _require(known, f"{where}.window.control", window.control, "none or nscc")


def _check_path(network: SimNetwork, flow: SimFlow, pairs: set[tuple[int, int]], where: str) -> None:
    _require(len(flow.path) > 1, where, flow.path, "at least a source and a destination")
    _require(len(set(flow.path)) == len(flow.path), where, flow.path, "no node twice")
    for pair in pairwise(flow.path):
        _require(pair in pairs, where, flow.path, f"a cable from {pair[0]} to {pair[1]}")
    for node in (flow.path[0], flow.path[-1]):
        _require(node not in network.switches, where, flow.path, f"hosts at both ends, not switch {node}")
    for node in flow.path[1:-1]:
        _require(node in network.switches, where, flow.path, f"switches between them, not host {node}")


def _check_dcqcn(dcqcn: SimDcqcn, where: str) -> None:
    for name in ("alpha_us", "decrease_us", "increase_us"):
        _in_range(getattr(dcqcn, name), f"{where}.{name}", _SHORTEST_US, _LONGEST_NS / 1e3)
    _in_range(dcqcn.cnp_gate_us, f"{where}.cnp_gate_us", 0, _LONGEST_NS / 1e3)
    _in_range(dcqcn.min_rate_bps, f"{where}.min_rate_bps", *_RATES_BPS)
    for name in ("ai_bps", "hai_bps", "first_rate_bps", "release_bps"):
        _in_range(getattr(dcqcn, name), f"{where}.{name}", 0, _RATES_BPS[1])
    for name in ("byte_reset", "threshold"):
        value = getattr(dcqcn, name)
        whole = isinstance(value, int) and 0 <= value < 1 << 31
        _require(whole, f"{where}.{name}", value, "a whole number from 0 on")
    for name in ("g", "initial_alpha", "alpha_to_rate", "min_decrease"):
        _in_range(getattr(dcqcn, name), f"{where}.{name}", 0, 1)


def _check_hold(network: SimNetwork, hold: Hold, pairs: set[tuple[int, int]], where: str) -> None:
    _require((hold.node, hold.peer) in pairs, f"{where}.peer", hold.peer, f"a neighbor of {hold.node}")
    _in_range(hold.start_ns, f"{where}.start_ns", 0, _LONGEST_NS)
    after = hold.start_ns < hold.end_ns <= _LONGEST_NS
    _require(after, f"{where}.end_ns", hold.end_ns, f"a time from {hold.start_ns} to {_LONGEST_NS:g}")
    if hold.period_ns != 0:
        _in_range(hold.period_ns, f"{where}.period_ns", 1, _LONGEST_NS)
    _in_range(hold.duty, f"{where}.duty", 0, 1)
    _check_classes(network, hold.classes, f"{where}.classes")


def _in_range(value: float, field: str, least: float, most: float) -> None:
    fits = math.isfinite(value) and least <= value <= most
    _require(fits, field, value, f"{least:g} to {most:g}")


def _require(meaningful: bool, field: str, value: object, expected: str) -> None:
    if not meaningful:
        raise ScenarioError(f"{field} is {value}; expected {expected}")
