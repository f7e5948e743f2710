"""Networks that cannot be: each is refused with the name of the field that is wrong."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.errors import ScenarioError

if TYPE_CHECKING:
    from lossless.simulation.network import Cable, Dcqcn, End, Flow, Hold, Network, Switch, Watchdog, Wred

_MOST_CLASSES = 31
"""Classes are bits of a 32-bit word, and one may be needed for ACKs."""
_LARGEST_FRAME = 1 << 20


def check(network: Network) -> None:
    """Refuse a network that cannot be.

    Raises:
        ScenarioError: naming the field, its value, and what was expected.
    """
    _require(1 <= network.classes <= _MOST_CLASSES, "classes", network.classes, "1 to 31")
    _require(network.physics.gap_bytes >= 0, "physics.gap_bytes", network.physics.gap_bytes, "no less than 0")
    _require(network.physics.ack_every >= 1, "physics.ack_every", network.physics.ack_every, "at least 1")
    for number, cable in enumerate(network.cables):
        _check_cable(network, cable, f"cables[{number}]")
    for node, switch in network.switches.items():
        _check_switch(network, switch, f"switches[{node}]")
    pairs = {pair for cable in network.cables for pair in ((cable.a, cable.b), (cable.b, cable.a))}
    for number, flow in enumerate(network.flows):
        _check_flow(network, flow, pairs, number)
    for number, hold in enumerate(network.holds):
        _check_hold(hold, pairs, f"holds[{number}]")
    for number, host in enumerate(network.slow_hosts):
        where = f"slow_hosts[{number}]"
        _require(host.drain_bps > 0, f"{where}.drain_bps", host.drain_bps, "a rate above zero")
        low = 0 <= host.xon_bytes <= host.xoff_bytes
        _require(low, f"{where}.xon_bytes", host.xon_bytes, f"0 to xoff_bytes, {host.xoff_bytes}")


def largest_frame(network: Network) -> int:
    """Return the largest frame of a network in bytes on the wire."""
    return max((flow.mtu_bytes for flow in network.flows), default=0) + network.physics.overhead_bytes


def _check_cable(network: Network, cable: Cable, where: str) -> None:
    fit = math.isfinite(cable.rate_bps) and cable.rate_bps > 0
    _require(fit, f"{where}.rate_bps", cable.rate_bps, "a rate above zero")
    for name in ("propagation_ns", "a_reaction_ns", "b_reaction_ns"):
        value = getattr(cable, name)
        _require(math.isfinite(value) and value >= 0, f"{where}.{name}", value, "a time of at least 0")
    _require(cable.a != cable.b, f"{where}.b", cable.b, "another node than a")
    for side, node, end in (("a", cable.a, cable.a_end), ("b", cable.b, cable.b_end)):
        _require(0 <= node < network.nodes, f"{where}.{side}", node, f"a node from 0 to {network.nodes - 1}")
        is_switch = node in network.switches
        _require((end is not None) == is_switch, f"{where}.{side}_end", end, "set at switches and only there")
        if end is not None:
            _check_end(network, end, network.switches[node], f"{where}.{side}_end")


def _check_end(network: Network, end: End, switch: Switch, where: str) -> None:
    for name, found in (("queues", len(end.queues)), ("groups", len(end.groups))):
        _require(
            found == network.classes, f"{where}.{name}", found, f"one for each of {network.classes} classes"
        )
    for number, queue in enumerate(end.queues):
        _require(queue.weight >= 1, f"{where}.queues[{number}].weight", queue.weight, "at least 1")
        if queue.wred is not None:
            _check_wred(queue.wred, f"{where}.queues[{number}].wred")
    for number, group in enumerate(end.groups):
        here = f"{where}.groups[{number}]"
        _require(
            (group.alpha is None) != (group.static_bytes is None),
            f"{here}.alpha",
            group.alpha,
            "or static_bytes",
        )
        positive = group.alpha is None or (group.alpha > 0 and math.isfinite(group.alpha))
        _require(positive, f"{here}.alpha", group.alpha, "above 0")
        for name in ("headroom_bytes", "xon_bytes", "xon_offset_bytes", "reserved_bytes", "static_bytes"):
            value = getattr(group, name) or 0
            _require(value >= 0, f"{here}.{name}", value, "no less than 0")
        most = len(switch.other_pools)
        _require(0 <= group.pool <= most, f"{here}.pool", group.pool, f"0 to {most}")


def _check_wred(wred: Wred, where: str) -> None:
    ordered = 0 <= wred.kmin_bytes <= wred.kmax_bytes
    _require(ordered, f"{where}.kmin_bytes", wred.kmin_bytes, f"0 to kmax_bytes, {wred.kmax_bytes}")
    _require(0 <= wred.pmax <= 1, f"{where}.pmax", wred.pmax, "0 to 1")


def _check_switch(network: Network, switch: Switch, where: str) -> None:
    _require(switch.cell_bytes >= 1, f"{where}.cell_bytes", switch.cell_bytes, "at least 1")
    frame = -(-largest_frame(network) // switch.cell_bytes) * switch.cell_bytes
    for name in ("buffer_bytes", "pool_bytes"):
        value = getattr(switch, name)
        _require(value >= frame, f"{where}.{name}", value, f"at least one frame, {frame} B")
    if switch.watchdog is not None:
        _check_watchdog(switch.watchdog, f"{where}.watchdog")


def _check_watchdog(watchdog: Watchdog, where: str) -> None:
    for name in ("poll_ms", "detection_ms"):
        value = getattr(watchdog, name)
        _require(value > 0, f"{where}.{name}", value, "a time above zero")
    restoration = watchdog.restoration_ms
    _require(
        restoration is None or restoration > 0, f"{where}.restoration_ms", restoration, "a time above zero"
    )


def _check_flow(network: Network, flow: Flow, pairs: set[tuple[int, int]], number: int) -> None:
    where = f"flows[{number}]"
    _require(flow.size_bytes > 0, f"{where}.size_bytes", flow.size_bytes, "at least 1")
    _require(flow.start_ns >= 0, f"{where}.start_ns", flow.start_ns, "a time of at least 0")
    fit = 0 < flow.mtu_bytes <= _LARGEST_FRAME
    _require(fit, f"{where}.mtu_bytes", flow.mtu_bytes, f"1 to {_LARGEST_FRAME}")
    known = 0 <= flow.traffic_class < network.classes
    _require(known, f"{where}.traffic_class", flow.traffic_class, f"0 to {network.classes - 1}")
    _require(len(flow.path) > 1, f"{where}.path", flow.path, "at least a source and a destination")
    for pair in pairwise(flow.path):
        _require(pair in pairs, f"{where}.path", flow.path, f"a cable from {pair[0]} to {pair[1]}")
    for node in (flow.path[0], flow.path[-1]):
        _require(
            node not in network.switches, f"{where}.path", flow.path, f"hosts at both ends, not switch {node}"
        )
    for node in flow.path[1:-1]:
        _require(
            node in network.switches, f"{where}.path", flow.path, f"switches between them, not host {node}"
        )
    for before in flow.after:
        _require(0 <= before < number, f"{where}.after", before, "the number of an earlier flow")
    if flow.dcqcn is not None:
        _check_dcqcn(flow.dcqcn, f"{where}.dcqcn")


def _check_dcqcn(dcqcn: Dcqcn, where: str) -> None:
    for name in ("alpha_us", "decrease_us", "increase_us", "min_rate_bps"):
        value = getattr(dcqcn, name)
        _require(value > 0, f"{where}.{name}", value, "above zero")
    for name in (
        "cnp_gate_us",
        "ai_bps",
        "hai_bps",
        "byte_reset",
        "first_rate_bps",
        "release_bps",
        "threshold",
    ):
        value = getattr(dcqcn, name)
        _require(value >= 0, f"{where}.{name}", value, "no less than 0")
    for name in ("g", "initial_alpha", "alpha_to_rate", "min_decrease"):
        value = getattr(dcqcn, name)
        _require(0 <= value <= 1, f"{where}.{name}", value, "0 to 1")


def _check_hold(hold: Hold, pairs: set[tuple[int, int]], where: str) -> None:
    _require((hold.node, hold.peer) in pairs, f"{where}.peer", hold.peer, f"a neighbour of {hold.node}")
    _require(
        0 <= hold.start_ns < hold.end_ns, f"{where}.end_ns", hold.end_ns, f"a time after {hold.start_ns}"
    )
    _require(hold.period_ns >= 0, f"{where}.period_ns", hold.period_ns, "no less than 0")
    _require(0 <= hold.duty <= 1, f"{where}.duty", hold.duty, "0 to 1")


def _require(meaningful: bool, field: str, value: object, expected: str) -> None:
    if not meaningful:
        raise ScenarioError(f"{field} is {value}; expected {expected}")
