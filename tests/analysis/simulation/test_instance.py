"""The network of one seed: what of a scenario every seed shares, and what the seed decides."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.engine.check import check
from lossless.analysis.simulation.engine.network import Hold, SlowHost
from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.request import NamedTransfer, Question
from lossless.analysis.simulation.question.scenario import scenario
from lossless.analysis.simulation.study.measure import measure
from lossless.analysis.simulation.study.verdict import describe
from lossless.ground.basics.findings import MissingInput
from lossless.model.fabric.cluster import PATTERNS
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import declared, deployed, put

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.question.instance import ScenarioInstance
    from lossless.model.fabric.cluster import Pattern

KIB, MIB = 1 << 10, 1 << 20
ON_FABRIC = {"networks": {"storage": {"on": "fabric", "prefixes": ["10.20.0.0/16"]}}}


TORUS: dict[str, Any] = {
    "sides": [3, 3], "links": "1 x 400G", "hosts_per_switch": 1, "host_links": "1 x 400G",
    "cables": {"host": "3m", "link": "10m"},
}  # fmt: skip
TIERLESS = {"hardware": {"switch": "nvidia-sn5600"}, "topology": {"leaf_spine": None, "torus": TORUS}}


def ends_of_flows(staged: ScenarioInstance) -> list[tuple[str, str]]:
    return [(staged.names[flow.path[0]], staged.names[flow.path[-1]]) for flow in staged.network.flows]


def bytes_by_class(network: SimNetwork) -> dict[int, int]:
    total: Counter[int] = Counter()
    for flow in network.flows:
        total[flow.traffic_class] += flow.size_bytes
    return dict(total)


# --- who takes part ---


def test_an_incast_goes_to_the_first_nic_unless_another_is_named() -> None:
    first = ends_of_flows(instantiate(put(declared()), 1))
    named = ends_of_flows(instantiate(put(declared(), target="host6:port2"), 1))
    assert (len(first), {target for _, target in first}) == (15, {"host1:port1"})
    assert (len(named), {target for _, target in named}) == (15, {"host6:port2"})


@pytest.mark.parametrize(
    ("target", "nic"),
    [("host3", "host3:port1"), ("host3:port2", "host3:port2")],
)
def test_a_target_may_be_a_host_or_its_port(target: str, nic: str) -> None:
    found = put(declared(), target=target)
    assert found.topology.names[found.target] == nic


@pytest.mark.parametrize("target", ["leaf1:Ethernet8", "NIC at leaf1:Ethernet8"])
def test_on_a_deployed_switch_a_target_is_called_by_its_port(target: str) -> None:
    found = put(deployed(), target=target)
    assert found.topology.names[found.target] == "NIC at leaf1:Ethernet8"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_as_many_nics_take_part_as_are_asked_for_spread_over_all_switches(pattern: Pattern) -> None:
    found = put(declared(), pattern=pattern, nics=6, target="host5:port1")
    assert Counter(found.topology.names[found.topology.leaf(nic)] for nic in found.nics) == {
        "leaf1": 3,
        "leaf2": 3,
    }
    assert found.target in found.nics
    assert "6 of 16 NIC ports take part, spread over all switches" in found.assumed
    staged = instantiate(found, 1)
    assert {name for pair in ends_of_flows(staged) for name in pair} == {
        found.topology.names[nic] for nic in found.nics
    }


def test_where_all_are_asked_for_nothing_need_be_said_of_it() -> None:
    assert not any("take part" in said for said in put(declared()).assumed)


# --- what of the fabric is in it ---


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_network_has_the_nodes_that_flows_cross_and_all_links_between_them(pattern: Pattern) -> None:
    staged = instantiate(put(declared(), pattern=pattern), 1)
    network = staged.network
    check(network)
    crossed = {node for flow in network.flows for node in flow.path}
    assert crossed == set(range(network.nodes))
    pairs = {
        frozenset(pair) for flow in network.flows for pair in zip(flow.path, flow.path[1:], strict=False)
    }
    counted = Counter(frozenset((cable.a, cable.b)) for cable in network.cables)
    assert counted.keys() == pairs
    assert {2 if len(pair & network.switches.keys()) == 2 else 1 for pair in pairs} == set(counted.values())


def test_cables_and_wires_go_together_by_number() -> None:
    staged = instantiate(put(declared(), pattern="all-to-all"), 1)
    assert [
        (cable.rate_bps, cable.a_end is None, cable.b_end is None) for cable in staged.network.cables
    ] == [(wire.rate_bps, False, wire.b_port is None) for wire in staged.wires]


def test_senders_have_the_dcqcn_of_their_nic_and_storage_has_none() -> None:
    found = put(declared(ON_FABRIC), storage=0.25)
    assert found.dcqcn is not None
    assert {(flow.traffic_class, flow.dcqcn) for flow in instantiate(found, 1).network.flows} == {
        (0, found.dcqcn),
        (1, None),
    }


@given(st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.integers(100, 100_000))
def test_storage_has_its_part_of_what_every_nic_sends(share: float, size_kib: int) -> None:
    found = put(deployed(), pattern="permutation", storage=share, size_bytes=size_kib * KIB)
    sums = bytes_by_class(instantiate(found, 1).network)
    assert sums[1] / (sums[0] + sums[1]) == pytest.approx(share, rel=1e-4)
    assert sums[0] == len(found.nics) * size_kib * KIB


def test_storage_shares_the_fabric_in_the_class_of_its_network() -> None:
    named = {"networks": {"storage": {"on": "fabric", "class": "default", "prefixes": ["10.20.0.0/16"]}}}
    assert [one.name for one in put(declared(named), storage=0.2).classes] == ["rdma", "default"]
    assert [one.name for one in put(declared(ON_FABRIC), storage=0.2).classes] == ["rdma", "default"]


# --- receivers that pause ---


def at_target(staged: ScenarioInstance) -> tuple[int, int]:
    """Return the last switch and the NIC of every flow to the target."""
    ((switch, nic),) = {flow.path[-2:] for flow in staged.network.flows if flow.path[-1] == staged.target}
    return switch, nic


def test_a_dead_nic_holds_the_port_of_its_switch_without_end() -> None:
    staged = instantiate(put(declared(), dead_nic=True, target="host7:port2"), 1)
    switch, nic = at_target(staged)
    assert (staged.names[switch], staged.names[nic]) == ("leaf2", "host7:port2")
    (hold,) = staged.network.holds
    assert hold == Hold(switch, nic, 100_000, 1e12)


def test_a_slow_nic_takes_in_what_it_is_said_to() -> None:
    found = put(declared(), slow_nic_bps=100 * 10**9)
    staged = instantiate(found, 1)
    assert staged.network.slow_hosts == (SlowHost(staged.target, 100 * 10**9, 512 * KIB, 256 * KIB),)
    assert any("512 KiB" in said and "256 KiB" in said for said in found.assumed)


def test_a_healthy_nic_pauses_nobody() -> None:
    network = instantiate(put(declared()), 1).network
    assert (network.holds, network.slow_hosts) == ((), ())


# --- random seeds ---


@settings(max_examples=20)
@given(st.sampled_from(PATTERNS), st.integers(1, 1000))
def test_one_seed_is_one_network(pattern: Pattern, seed: int) -> None:
    found = put(declared(), pattern=pattern, size_bytes=MIB)
    assert instantiate(found, seed) == instantiate(found, seed)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_seeds_differ_in_the_paths_of_flows_but_not_in_who_sends(pattern: Pattern) -> None:
    found = put(declared(), pattern=pattern)
    networks = [instantiate(found, seed) for seed in range(1, 9)]
    assert len({network.network.flows for network in networks}) == 8
    who = len({tuple(ends_of_flows(network)) for network in networks})
    assert who == (8 if pattern == "permutation" else 1)


def test_at_one_switch_seeds_differ_in_nothing_that_flows_could_meet() -> None:
    found = put(deployed())
    paths = {tuple(flow.path for flow in instantiate(found, seed).network.flows) for seed in range(1, 9)}
    assert len(paths) == 1


# --- what is stated to move ---

MOVES = (
    NamedTransfer("host1:port1", "host5:port1", 64 * KIB),
    NamedTransfer("host2:port1", "host5:port1", 32 * KIB),
    NamedTransfer("host5:port1", "host1:port1", 16 * KIB),
)


def test_what_is_stated_to_move_moves_and_nothing_else() -> None:
    found = put(declared(), moves=MOVES, size_bytes=64 * KIB, called="all-to-all (pxn)")
    staged = instantiate(found, 1)
    assert ends_of_flows(staged) == [(one.source, one.target) for one in MOVES]
    assert [flow.size_bytes for flow in staged.network.flows] == [one.size_bytes for one in MOVES]
    assert staged.names[staged.target] == "host5:port1"
    assert describe(found).startswith("all-to-all (pxn) among 3 NICs, up to 65,536 B each")


def test_a_move_to_nowhere_is_told() -> None:
    found = scenario(declared(), Question(moves=(NamedTransfer("host1:port1", "host99:port1", 1),)))
    assert found == MissingInput("no link of host99:port1 has a port with PFC on a switch")


def test_of_each_kind_of_port_it_is_told_how_many_feed_one() -> None:
    """Two hosts of one leaf send to one of another over an uplink each, or the same one."""
    staged = instantiate(put(declared(), moves=MOVES[:2]), 1)
    simulation = Simulation(staged.network, 1)
    simulation.advance(1e9)
    seen = measure(simulation, staged, 1, cut=False)
    kinds = {(one.sender, one.receiver): one for one in seen.fan_ins}
    assert list(kinds) == [("host", "leaf"), ("leaf", "spine"), ("spine", "leaf"), ("leaf", "host")]
    last_hops = {route[-2] for route in simulation.index.wiring.routes}
    assert (kinds["host", "leaf"].ports, kinds["host", "leaf"].fan_in) == (2, 0)
    assert (kinds["leaf", "host"].ports, kinds["leaf", "host"].fan_in) == (1, len(last_hops))
    assert kinds["leaf", "host"].peak_queue_depth_bytes > 0


@pytest.mark.parametrize(
    ("view", "called"),
    [
        (declared(), {"host", "leaf", "spine"}),
        (declared(TIERLESS), {"host", "switch"}),
        (deployed(), {"host", "ToRRouter"}),
        (deployed({"DEVICE_METADATA": {"localhost": {"type": None}}}), {"host", "switch"}),
    ],
)
def test_switches_are_called_by_the_type_that_operators_gave_them_else_by_their_tier(
    view: View, called: set[str]
) -> None:
    assert set(instantiate(put(view), 1).roles) == called


@pytest.mark.parametrize(("timeout", "timeout_ms"), [(0, None), (1, 0.008192), (14, 67.108864)])
def test_a_timeout_of_0_is_infinite(timeout: int, timeout_ms: float | None) -> None:
    found = put(declared({"hosts": {"nccl": {"ib_timeout": timeout}}}))
    assert instantiate(found, 1).network.physics.timeout_ms == timeout_ms
