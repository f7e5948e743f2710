"""Blast radius on a fabric, compared with the packet-level model of the same fabric."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.storm.blast_radius import StormSource, blast_radius
from lossless.analysis.storm.tiers import LeafReachability, TierShares, channel_graph, rates
from lossless.ground.basics.errors import ScenarioError
from lossless.model.fabric.cluster import StormTraffic
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import PFC_ONLY, declared
from tests.analysis.storm.nets import SHAPES, cycle_seen, of, seen

if TYPE_CHECKING:
    from lossless.analysis.storm.blast_radius import BlastRadius

G = 10**9
SHORT: dict[str, Any] = {"pfc": {"watchdog": {"poll": "200ms", "detection": "400ms", "restoration": "400ms"}}}
PODS: dict[str, Any] = {
    "hardware": {"super-spine": "nvidia-sn5600"},
    "topology": {
        "leaf_spine": None,
        "three_tier": {
            "pods": 2,
            "leaves_per_pod": 2,
            "spines_per_pod": 2,
            "super_spines": 2,
            "hosts_per_leaf": 2,
            "host_links": "1 x 400G",
            "uplinks": "1 x 400G",
            "spine_uplinks": "1 x 400G",
            "cables": {"host": "3m", "uplink": "30m", "spine_uplink": "40m"},
        },
    },
}


def stages(found: BlastRadius) -> dict[str, tuple[int, int]]:
    return {stage.name: (stage.stopped, stage.channels) for stage in found.stages if stage.stopped}


def first_ns(found: BlastRadius) -> dict[str, float]:
    return {stage.name: stage.first_ns for stage in found.stages if stage.first_ns is not None}


class TestSpread:
    def test_a_dead_host_stops_all_others_long_before_the_watchdog(self) -> None:
        found = blast_radius(declared(SHORT), StormSource("host1"))
        assert list(stages(found).items()) == [
            ("its leaf to host1", (2, 2)),
            ("spines to its leaf", (4, 4)),
            ("hosts to its leaf", (6, 6)),
            ("other leaves to spines", (4, 4)),
            ("hosts to other leaves", (8, 8)),
        ]
        assert len(found.hosts) == 7
        assert found.ends_ns == 600e6
        assert max(at_ns for _, at_ns in found.hosts) < 3e6 < found.ends_ns

    def test_an_incast_reaches_everybody_sooner(self) -> None:
        view = declared(SHORT)
        apart, together = (
            first_ns(blast_radius(view, StormSource("host1", traffic)))
            for traffic in ("all-to-all", "incast")
        )
        assert apart.keys() == together.keys()
        assert all(together[name] < apart[name] for name in apart if apart[name])

    def test_a_slow_host_takes_longer_and_one_that_keeps_up_stops_nobody(self) -> None:
        view = declared(SHORT)
        times = [
            first_ns(blast_radius(view, StormSource("host1", drains_bps=rate * G)))["hosts to other leaves"]
            for rate in (1, 100)
        ]
        assert (
            first_ns(blast_radius(view, StormSource("host1")))["hosts to other leaves"] < times[0] < times[1]
        )
        keeps_up = blast_radius(view, StormSource("host1", drains_bps=400 * G))
        assert (keeps_up.hosts, keeps_up.ends_ns) == ((), None)

    def test_without_a_watchdog_nothing_ends_it(self) -> None:
        assert blast_radius(declared({"pfc": {"watchdog": None}}), StormSource("host1")).ends_ns is None

    def test_pauses_end_where_there_is_no_pfc_and_packets_are_dropped(self) -> None:
        found = blast_radius(declared({"pfc": {"tiers": ["hosts"]}}), StormSource("host1"))
        assert stages(found) == {"its leaf to host1": (2, 2), "hosts to its leaf": (6, 6)}
        assert [place.partition(":")[0] for place in found.loses] == ["leaf1"] * 4

    def test_a_host_whose_link_has_no_pfc_pauses_nobody(self) -> None:
        found = blast_radius(declared({"pfc": {"tiers": ["uplinks"]}}), StormSource("host1"))
        assert (stages(found), found.hosts, found.loses) == ({}, (), ())

    def test_other_pods_are_reached_through_super_spines(self) -> None:
        found = first_ns(blast_radius(declared(PODS), StormSource("host1")))
        way = ("its leaf to host1", "spines of its pod to its leaf", "super-spines to spines of its pod")
        beyond = ("spines of other pods to super-spines", "leaves of other pods to spines of other pods")
        times = [found[name] for name in (*way, *beyond, "hosts to leaves of other pods")]
        assert times == sorted(times)

    def test_gpus_are_those_of_the_hosts_that_stall_and_of_the_dead_one(self) -> None:
        found = blast_radius(declared({"cluster": {"gpus_per_host": 8}}), StormSource("host1"))
        assert found.to_data()["gpus"] == {"stopped": 64, "all": 64}

    def test_the_data_are_plain(self) -> None:
        found = blast_radius(declared(), StormSource("host1"))
        data = found.to_data()
        assert json.loads(json.dumps(data)) == data


class TestRefused:
    @pytest.mark.parametrize(
        ("stuck", "message"),
        [
            (
                StormSource("hots1"),
                "no host 'hots1' in this fabric; did you mean host1? "
                "(others: host2, host3, host4, host5, host6 and 2 more)",
            ),
            (StormSource("host1:port9"), "host1 has no port 'port9'; it has port1, port2"),
            (StormSource("host1", traffic_class="default"), "no lossless class 'default'; there is rdma"),
        ],
    )
    def test_what_is_not_there_is_said(self, stuck: StormSource, message: str) -> None:
        with pytest.raises(ScenarioError) as told:
            blast_radius(declared(), stuck)
        assert str(told.value) == message

    def test_buffers_that_cannot_be_worked_out_are_not_guessed(self) -> None:
        view = declared({"buffers": {"model": "dynamic"}})
        untold = tuple(
            switch._replace(qos=switch.qos._replace(dynamic=None)) for switch in view.fabric.switches
        )
        with pytest.raises(
            ScenarioError, match="in the dynamic buffer model the switch computes headroom itself"
        ):
            blast_radius(View(view.fabric._replace(switches=untold)), StormSource("host1"))


@pytest.mark.parametrize("patch", [{}, PODS])
def test_shares_add_up_and_what_hosts_send_arrives(patch: dict[str, Any]) -> None:
    found = channel_graph(declared(patch).fabric)
    to_hosts = [at for at, one in enumerate(found.channels) if not found.rank[one.target]]
    from_hosts = [at for at, one in enumerate(found.channels) if not found.rank[one.source]]
    shares = TierShares(LeafReachability(found), dict.fromkeys(to_hosts, 1.0))
    of = {at: shares.of(at) for at, one in enumerate(found.channels) if found.rank[one.target]}
    assert all(sum(share.parts().values()) == pytest.approx(1) for share in of.values())
    rate = rates(found, of, from_hosts)
    assert sum(rate[at] for at in to_hosts) == pytest.approx(sum(rate[at] for at in from_hosts))
    assert {round(rate[at]) for at in to_hosts} == {400 * G}


@pytest.mark.parametrize("traffic", ["all-to-all", "incast"])
def test_in_the_packet_level_model_pauses_propagate_to_the_same_tiers_in_the_same_order(
    traffic: StormTraffic,
) -> None:
    pytest.importorskip("numba")
    view, end = of("leaf-spine"), "host1:port1"
    packets, fluid = seen(view, end, traffic, 5.0), first_ns(blast_radius(view, StormSource(end, traffic)))
    # The other NIC of the host sends to this one too; that a host waits for itself is no spread.
    del packets["host1 to its leaf"]
    assert packets.keys() == fluid.keys()
    by_median = sorted(packets, key=lambda name: median(packets[name]))
    assert [name for name in by_median if "other leaves" in name] == [
        name for name in fluid if "other leaves" in name
    ]
    assert by_median[0] == next(iter(fluid)) == "its leaf to host1:port1"


@pytest.mark.tools("runs")
@pytest.mark.parametrize(
    ("shape", "traffic"),
    [*((name, "all-to-all") for name in SHAPES), ("rails", "any"), ("rails by plane", "any")],
)
def test_times_of_an_all_to_all_agree_with_the_packet_level_model(shape: str, traffic: StormTraffic) -> None:
    """Within a quarter: flows of the packet-level model take one path each, and its queues are not empty at first.

    Where the fabric has a cyclic buffer dependency, links away from the dead host stall only if traffic fills them: the
    packet-level model may see none of these stall. It sees no others than the fluid model, and the same hosts.
    """
    pytest.importorskip("numba")
    view, end = of(shape), "host1:port1"
    found = blast_radius(view, StormSource(end, traffic))
    packets, fluid = seen(view, end, traffic, 9.0), first_ns(found)
    packets.pop("host1 to its leaf", None)
    if found.cycle:
        assert packets.keys() <= fluid.keys()
        assert {name for name in fluid if "hosts" in name} <= packets.keys()
    else:
        assert packets.keys() == fluid.keys()
    for name, times in packets.items():
        assert median(times) == pytest.approx(fluid[name], rel=0.25, abs=1.0), name


@pytest.mark.tools("runs")
def test_where_traffic_fills_a_torus_both_models_see_a_pfc_deadlock() -> None:
    pytest.importorskip("numba")
    torus = SHAPES["torus"]["topology"]["torus"] | {"hosts_per_switch": 2}
    view = declared({**SHAPES["torus"], **PFC_ONLY, "topology": {"leaf_spine": None, "torus": torus}})
    assert cycle_seen(view, "host1:port1", 20.0)
    assert blast_radius(view, StormSource("host1:port1")).cycle


def test_rails_carry_the_pauses_of_all_nics_of_a_host() -> None:
    rails = {"units": 2, "rails": 2, "spines": 2, "hosts_per_unit": 4, "host_links": "2 x 400G"}
    shape = rails | {"uplinks": "1 x 800G", "cables": {"host": "3m", "uplink": "30m"}}
    found = blast_radius(
        declared({"topology": {"leaf_spine": None, "rail_optimised": shape}}), StormSource("host1")
    )
    assert next(iter(stages(found).items())) == ("its leaves to host1", (2, 2))
    assert len(found.hosts) == 7


def test_a_storm_from_one_rail_stays_there_unless_traffic_crosses_rails() -> None:
    within, across = (
        stages(blast_radius(of("rails"), StormSource("host1:port2", traffic)))
        for traffic in ("all-to-all", "any")
    )
    assert [*within] == [
        "its leaf to host1:port2",
        "spines to its leaf",
        "hosts to its leaf",
        "other leaves of its rail to spines",
        "hosts to other leaves of its rail",
    ]
    assert "leaves of other rails to spines" in across


def test_the_picture_of_a_storm_names_rails_and_hosts_that_are_on_all() -> None:
    found = blast_radius(of("rails"), StormSource("host1:port2")).picture()
    words = {item.words[1:-1] for item in found.items}
    assert words == {
        ("", ""),
        ("its leaf", "rail 2"),
        ("other leaves of its rail", "rail 2"),
        ("of other rails", "rail 1"),
        ("at its leaf, on all rails", ""),
        ("at other leaves of its rail, on all rails", ""),
    }


def test_a_torus_can_deadlock_and_tiers_never_do() -> None:
    said = {shape: blast_radius(of(shape), StormSource("host1")).cycle for shape in SHAPES}
    assert [shape for shape, ports in said.items() if ports] == ["dragonfly", "torus"]
    switches = [port.partition(":")[0] for port in said["torus"]]
    assert len(switches) >= 4
    for here, there in zip(switches, [*switches[1:], switches[0]], strict=True):
        joined = {tuple(map(int, name.removeprefix("sw-").split("-"))) for name in (here, there)}
        (a, b), (c, d) = sorted(joined)
        assert ((c - a) % 5, (d - b) % 5) in {(1, 0), (4, 0), (0, 1), (0, 4)}, "neighbors of the torus"


def test_the_dynamic_buffer_model_is_worked_out_and_differs_by_little() -> None:
    apart, together = (
        first_ns(blast_radius(of(shape), StormSource("host1"))) for shape in ("leaf-spine", "dynamic buffers")
    )
    assert apart.keys() == together.keys()
    assert all(together[name] == pytest.approx(at_ns, rel=0.01) for name, at_ns in apart.items())


def test_what_is_out_of_service_carries_no_pauses() -> None:
    found = blast_radius(
        declared({**SHORT, "failures": {"out_of_service": ["spine2", ["leaf1", "spine1"]]}}),
        StormSource("host1"),
    )
    assert stages(found) == {"its leaf to host1": (2, 2), "hosts to its leaf": (6, 6)}
    assert "2 pairs of switches have no such path between them, and send each other nothing" in found.assumed
    half = blast_radius(declared({**SHORT, "failures": {"out_of_service": ["spine2"]}}), StormSource("host1"))
    assert stages(half)["spines to its leaf"] == (2, 2)


def test_a_worn_fabric_sends_each_destination_what_way_is_left() -> None:
    """Spine 2 does not lead to leaf 1: what leaf 2 has for it goes up to spine 1 alone."""
    found = blast_radius(
        declared({**SHORT, "failures": {"out_of_service": [["leaf1", "spine2"]]}}), StormSource("host1")
    )
    assert {(who, to) for who, _, to, _ in found.times if who in ("leaf2", "spine1", "spine2")} == {
        ("spine1", "leaf1"),
        ("leaf2", "spine1"),
    }


@pytest.mark.parametrize(
    ("shape", "more", "message"),
    [
        (
            "torus",
            {"routing": {"policy": "up-down"}},
            "topology.routing.policy is up-down, but this fabric has switches without a tier, so no path goes up "
            "and then down; declare policy: shortest-path if packets take any shortest path",
        ),
    ],
)
def test_a_policy_that_leads_nowhere_is_not_guessed_at(
    shape: str, more: dict[str, Any], message: str
) -> None:
    patch = {**SHAPES[shape], "topology": {**SHAPES[shape]["topology"], **more}}
    with pytest.raises(ScenarioError) as told:
        blast_radius(declared(patch), StormSource("host1"))
    assert str(told.value) == message


def test_the_asics_of_one_switch_are_not_guessed_at() -> None:
    view = declared()
    two = view.fabric.switches[0]._replace(name="leaf1:asic0")
    with pytest.raises(
        ScenarioError, match="leaf1 has several ASICs, each with a buffer of its own, and its profile"
    ):
        blast_radius(
            View(view.fabric._replace(switches=(two, *view.fabric.switches[1:]))), StormSource("host1")
        )


def test_a_fabric_too_large_to_look_at_each_destination_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lossless.analysis.storm.paths.MOST_WORK", 100)
    with pytest.raises(
        ScenarioError, match="traffic to 25 switches over 50 links between switches is too much"
    ):
        blast_radius(of("torus"), StormSource("host1"))
    assert blast_radius(of("torus"), StormSource("host1", "incast")).hosts


def test_hosts_are_below_all_tiers_and_a_fabric_with_a_switch_of_no_tier_has_none() -> None:
    heights = channel_graph(of("three tiers").fabric).rank
    assert {name.rstrip("0123456789-"): rank for name, rank in heights.items()} == {
        "host": 0,
        "leaf": 1,
        "spine": 2,
        "superspine": 3,
    }
    link = {"a": "spine1", "b": "management", "links": "1 x 400G", "cable": "3m"}
    devices = {"leaf1": {"role": "leaf"}, "spine1": {"role": "spine"}, "management": {"role": "switch"}}
    host = {"a": "leaf1", "b": "host1", "links": "1 x 400G", "cable": "3m"}
    links = [host, {**link, "a": "leaf1", "b": "spine1"}, link]
    topology = {"leaf_spine": None, "devices": {**devices, "host1": {"role": "host"}}, "links": links}
    hardware = {"switch": "nvidia-sn5600"}
    partly = channel_graph(declared({"topology": topology, "hardware": hardware}).fabric)
    assert partly.rank == {"leaf1": 1, "spine1": 1, "management": 1, "host1": 0}
    assert not partly.tiered
