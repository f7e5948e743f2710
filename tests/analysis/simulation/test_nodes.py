"""From a fabric to what is simulated of it: every number arrives as it was declared, and what is unknown is named."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.nodes import SimTopology, propagation_ns, reaction_ns, sim_topology
from lossless.analysis.simulation.question.scenario import end_key
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.documents import load
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import (
    HOST_PORTS,
    HOST_PROFILE,
    PORTS,
    Patch,
    declared,
    deployed,
    example,
    missing,
    of_every_port,
    put,
    seen_as,
)
from tests.checks.rules.checking import patched
from tests.strategies import fabric_of, intents

if TYPE_CHECKING:
    from pathlib import Path


G = 10**9


def built(view: View, *failed: tuple[str, str]) -> SimTopology:
    found = sim_topology(view, frozenset(failed))
    assert isinstance(found, SimTopology)
    return found


# --- the example, by hand ---

ROCE = example()


def test_nodes_and_links_are_those_of_the_intent() -> None:
    found = built(ROCE)
    assert {found.names[node] for node in found.switch_of} == {"leaf1", "leaf2", "spine1", "spine2"}
    assert {found.names[nic] for nic in found.nics} == {
        f"host{h}:port{p}" for h in range(1, 33) for p in (1, 2)
    }
    kinds = Counter((wire.rate_bps, wire.cable_m, wire.b_port is None) for wire in found.wires)
    assert kinds == {(400 * G, 3, True): 64, (800 * G, 30, False): 32}
    assert (found.left_out, found.declared) == (0, True)
    assert [
        found.names[found.leaf(found.names.index(host))] for host in ("host16:port2", "host17:port1")
    ] == [
        "leaf1",
        "leaf2",
    ]


def test_hosts_send_as_their_nic_profile_and_intent_say() -> None:
    """ConnectX-7 counts alpha's weight from 1,024 and bytes by 64; the intent states cnp_interval 4 us."""
    found = put(ROCE)
    assert found.mtu_bytes == 4096
    dcqcn = found.dcqcn
    assert dcqcn is not None
    assert (dcqcn.g, dcqcn.alpha_us, dcqcn.decrease_us, dcqcn.increase_us) == (5 / 1024, 1, 4, 300)
    assert (dcqcn.ai_bps, dcqcn.hai_bps, dcqcn.min_rate_bps) == (5e6, 50e6, 1e6)
    assert (dcqcn.threshold, dcqcn.cnp_gate_us, dcqcn.byte_reset) == (1, 4, 32_767 * 64)


def test_cables_take_their_length_and_peers_their_pause_quanta() -> None:
    """3 m of fibre at 198,000 km/s; 905 quanta of 512 bits at 400G, and as many at 800G (IEEE 802.3)."""
    cables = Counter(
        (cable.rate_bps, round(cable.propagation_ns, 2), cable.a_reaction_ns, cable.b_reaction_ns)
        for cable in instantiate(put(ROCE, pattern="all-to-all"), 1).network.cables
    )
    assert cables == {(400 * G, 15.15, 1158.4, 1158.4): 64, (800 * G, 151.52, 579.2, 579.2): 32}


@pytest.mark.parametrize(
    ("rate_bps", "quanta"),
    [
        (10 * G, 67),
        (25 * G, 80),
        (40 * G, 118),
        (50 * G, 147),
        (100 * G, 394),
        (200 * G, 453),
        (1600 * G, 905),
    ],
)
def test_a_peer_takes_as_long_as_the_standard_allows_at_its_rate(rate_bps: int, quanta: int) -> None:
    """1.6T has no entry yet and takes that of 800G, half as long."""
    assert reaction_ns(rate_bps) == pytest.approx(quanta * 512 / rate_bps * 1e9)


@given(st.integers(1, 100_000), st.integers(1, 100_000))
def test_a_longer_cable_takes_longer_in_proportion(one_m: int, more_m: int) -> None:
    whole = propagation_ns(one_m + more_m)
    assert whole == pytest.approx(propagation_ns(one_m) + propagation_ns(more_m))


# --- any intent ---


@settings(max_examples=40)
@given(intents(renderable=True))
def test_every_link_of_an_intent_is_a_wire_of_its_rate_and_real_length(data: dict[str, Any]) -> None:
    view = View(fabric_of(data))
    found = built(view)
    wires = Counter((w.a_port.name, w.rate_bps, w.cable_m, found.names[w.a]) for w in found.wires)
    links: Counter[tuple[object, ...]] = Counter()
    for link in view.fabric.links:
        port = view.port(link.a, link.a_port)
        assert port is not None
        links[link.a_port, link.speed_bps, port.cable.real_m, link.a] += 1
    assert (wires, found.left_out) == (links, 0)
    assert {found.names[nic] for nic in found.nics} == {
        f"{link.b}:{link.b_port}" for link in view.fabric.links if link.to_host
    }


# --- sharing ---


def test_ports_that_are_identical_share_one_end() -> None:
    found = put(ROCE, pattern="all-to-all")
    ends = [
        end
        for cable in instantiate(found, 1).network.cables
        for end in (cable.a_end, cable.b_end)
        if end is not None
    ]
    assert len(ends) == 64 + 2 * 32
    assert len({id(end) for end in ends}) == len(found.ends) == 3
    assert len(found.switches) == 2


def test_ports_of_switches_that_differ_do_not_share() -> None:
    """The same words of a port mean another pool where the switch is another: leaf and spine have their own."""
    found = put(ROCE)
    leaf, spine = (found.topology.names.index(name) for name in ("leaf1", "spine1"))
    uplink = next(wire for wire in found.topology.wires if (wire.a, wire.b) == (leaf, spine))
    assert uplink.b_port is not None
    keys = (
        end_key(found.topology.switch_of[leaf], uplink.a_port),
        end_key(found.topology.switch_of[spine], uplink.b_port),
    )
    assert keys[0] != keys[1]


# --- read from devices ---


def test_a_deployed_switch_gets_a_nic_at_every_port_with_pfc() -> None:
    found = built(deployed())
    assert [found.names[nic] for nic in found.nics] == [f"NIC at leaf1:{port}" for port in PORTS]
    assert [(wire.rate_bps, wire.cable_m) for wire in found.wires] == [(400 * G, 5)] * 8 + [(800 * G, 40)] * 4
    assert set(found.host_of.values()) == {None}


@pytest.mark.parametrize("file", ["C64-arista-7260-t1", "D92C16-arista-7260-t0"])
def test_a_real_switch_gets_a_nic_at_every_port_with_pfc(file: str, reference: Path) -> None:
    view = seen_as(load(reference / "corpus" / "full" / f"rend-Arista-7260CX3-{file}.json"))
    (device,) = view.fabric.switches
    with_pfc = [
        port.name
        for port in device.ports
        if port.qos is not None and port.qos.pfc.priorities and port.admin_up is not False
    ]
    found = built(view)
    assert len(with_pfc) > 20
    assert [found.names[nic] for nic in found.nics] == [f"NIC at {device.name}:{name}" for name in with_pfc]
    assert put(view).nics == found.nics


def test_a_link_between_two_deployed_switches_is_one_wire_and_no_nic() -> None:
    view = seen_as(
        patched("rendered-leaf.json", {}, "leaf1.json"), patched("rendered-spine.json", {}, "spine1.json")
    )
    found = built(view)
    between = [wire for wire in found.wires if wire.b_port is not None]
    assert [(found.names[wire.a], found.names[wire.b]) for wire in between] == [("leaf1", "spine1")] * 2
    assert {found.names[nic] for nic in found.nics} == {
        *(f"NIC at leaf1:{port}" for port in (*HOST_PORTS, "Ethernet48", "Ethernet56")),
        *(f"NIC at spine1:{port}" for port in ("Ethernet16", "Ethernet24")),
    }


def test_a_port_that_is_down_has_no_nic() -> None:
    down = deployed({"PORT": {"Ethernet56": {"admin_status": "down", "speed": None}}})
    assert len(built(down).nics) == len(PORTS) - 1


# --- what is not known ---

NO_PG_ROW: Patch = {f"{port}|3": None for port in PORTS}
STRANGE: Patch = {"localhost": {"hwsku": "Some-SKU"}}
UNKNOWN: tuple[tuple[Patch, str], ...] = (
    ({"PORT_QOS_MAP": of_every_port({"pfc_enable": None})}, "no port in service has PFC on"),
    (
        {"PORT_QOS_MAP": of_every_port({"pfc_enable": None}, PORTS[1:])},
        "fewer than two ports with PFC lead to a NIC: there is nobody to send to",
    ),
    ({"PORT": of_every_port({"speed": None})}, "no port in service has PFC on"),
    ({"CABLE_LENGTH": None}, "the length of the cable at leaf1:Ethernet0 is unknown"),
    # Profiles wait for their pool, the rows of groups and queues for profiles, and all QoS for these.
    ({"BUFFER_POOL": None}, "no port in service has PFC on"),
    (
        {"BUFFER_POOL": {"ingress_lossless_pool": {"size": None}}},
        "leaf1 has no buffer pool for the classes that are simulated",
    ),
    (
        {
            "DEVICE_METADATA": STRANGE,
            "BUFFER_POOL": {"ingress_lossless_pool": {"xoff": "1000000"}, "egress_lossless_pool": None},
        },
        "whether the size of ingress_lossless_pool counts its shared headroom in is unknown",
    ),
    (
        {"BUFFER_PROFILE": {HOST_PROFILE: {"dynamic_th": None}}},
        "leaf1:Ethernet0 has no buffer profile for class priority 3",
    ),
    (
        {"BUFFER_PROFILE": {HOST_PROFILE: {"pool": None}}},
        "leaf1:Ethernet0 has no buffer profile for class priority 3",
    ),
    (
        {"DEVICE_METADATA": STRANGE, "BUFFER_PG": NO_PG_ROW, "BUFFER_PROFILE": {HOST_PROFILE: None}},
        "the headroom rows of HWSKU Some-SKU are unknown",
    ),
    ({"TC_TO_QUEUE_MAP": {"AZURE": {"3": "x"}}}, "no port in service has PFC on"),
    ({"TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "x"}}}, "no port in service has PFC on"),
)


@pytest.mark.parametrize(("patch", "reason"), UNKNOWN, ids=map(str, range(len(UNKNOWN))))
def test_what_is_unknown_is_named(patch: Patch, reason: str) -> None:
    assert missing(deployed(patch)) == reason


def test_a_port_that_is_never_made_has_no_nic() -> None:
    """orchagent makes no port of a row without speed."""
    assert len(built(deployed({"PORT": {"Ethernet56": {"speed": None}}})).nics) == len(PORTS) - 1


def test_one_port_of_which_too_little_is_known_is_left_out_and_said() -> None:
    found = put(deployed({"CABLE_LENGTH": {"AZURE": {"Ethernet56": "0m"}}}))
    assert found.topology.left_out == 1
    assert any(said.startswith("1 link is left out") for said in found.assumed)


def test_in_the_dynamic_buffer_model_headroom_is_unknown(reference: Path) -> None:
    file = reference / "corpus" / "full" / "rend-Mellanox-SN4600C-C64-mellanox-4600c-t1-dynamic.json"
    assert missing(seen_as(load(file))) == "in the dynamic buffer model the switch computes headroom itself"


def test_storage_needs_a_group_of_its_own() -> None:
    without = deployed({"BUFFER_PG": {f"{port}|0": None for port in PORTS}})
    assert missing(without, storage=0.2) == "leaf1:Ethernet0 has no buffer profile for class default"


# --- failed, and not there ---


def test_failed_ports_disappear_with_their_link() -> None:
    whole, without = built(declared()), built(declared(), ("leaf1", "Ethernet32"))
    lost = [wire for wire in whole.wires if wire not in without.wires]
    assert [(wire.a_port.name, wire.rate_bps) for wire in lost] == [("Ethernet32", 800 * G)]
    assert without.names == whole.names


@pytest.mark.parametrize("port", [("leaf1", "Ethernet32"), ("spine1", "Ethernet0")])
def test_a_link_is_down_whichever_of_its_ends_fails(port: tuple[str, str]) -> None:
    found = built(declared(), port)
    leaf1 = found.names.index("leaf1")
    assert len(found.wires) == len(built(declared()).wires) - 1
    assert ("Ethernet32", leaf1) not in {(wire.a_port.name, wire.a) for wire in found.wires}


def test_the_nic_behind_a_failed_port_is_gone() -> None:
    found = built(deployed(), ("leaf1", "Ethernet0"))
    assert [found.names[nic] for nic in found.nics] == [f"NIC at leaf1:{port}" for port in PORTS[1:]]


def test_a_port_that_is_not_there_cannot_fail() -> None:
    with pytest.raises(ScenarioError, match="no port is called 'leaf1:Ethernet1'; did you mean"):
        put(deployed(), failed=("leaf1:Ethernet1",))


def test_ports_that_the_switch_does_not_have_are_left_out_and_said() -> None:
    """64 uplinks of 800G beside 8 host ports of 400G: an SN5600 has 64 cages, and room for 60 of the uplinks."""
    view = declared({"topology": {"leaf_spine": {"uplinks": "32 x 800G"}}})
    unplaced = sum(not port.placed for switch in view.fabric.switches for port in switch.ports)
    found = put(view)
    assert (unplaced, found.topology.left_out) == (8, 8)
    assert len(found.topology.wires) == len(view.fabric.links) - 8
    assert (
        "8 links are left out: a switch has no port there, or no QoS, speed or cable length on it"
        in found.assumed
    )


def test_hosts_that_no_port_is_left_for_leave_the_fabric_unjudged() -> None:
    many = declared({"topology": {"leaf_spine": {"hosts_per_leaf": 70, "oversubscription": 20.0}}})
    assert (
        missing(many) == "no path leads from host71:port1 to host1:port1: 32 links have no port on a switch"
    )


def test_what_an_intent_says_is_out_of_service_is_not_there() -> None:
    whole = built(declared())
    left = built(declared({"failures": {"out_of_service": ["spine2", ["leaf1", "spine1"]]}}))
    gone = {tuple(sorted((whole.names[w.a], whole.names[w.b]))) for w in whole.wires} - {
        tuple(sorted((left.names[w.a], left.names[w.b]))) for w in left.wires
    }
    assert gone == {("leaf1", "spine1"), ("leaf1", "spine2"), ("leaf2", "spine2")}
