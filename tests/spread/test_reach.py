"""How far pauses reach on a fabric, beside what the packet-level model shows of the same fabric."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from lossless.errors import ScenarioError
from lossless.simulation.stage import DEAD_FROM_NS
from lossless.spread.channels import Shares, rates, tiers
from lossless.spread.reach import Stuck, Traffic, reach
from tests.simulation.fabrics import PFC_ONLY, declared, put

if TYPE_CHECKING:
    from lossless.fabric.view import View
    from lossless.spread.reach import Reach

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


def stages(found: Reach) -> dict[str, tuple[int, int]]:
    return {stage.name: (stage.stopped, stage.channels) for stage in found.stages if stage.stopped}


def first_ns(found: Reach) -> dict[str, float]:
    return {stage.name: stage.first_ns for stage in found.stages if stage.first_ns is not None}


class TestSpread:
    def test_a_dead_host_stops_all_others_long_before_the_watchdog(self) -> None:
        found = reach(declared(SHORT), Stuck("host1"))
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
            first_ns(reach(view, Stuck("host1", traffic))) for traffic in ("all-to-all", "incast")
        )
        assert apart.keys() == together.keys()
        assert all(together[name] < apart[name] for name in apart if apart[name])

    def test_a_slow_host_takes_longer_and_one_that_keeps_up_stops_nobody(self) -> None:
        view = declared(SHORT)
        times = [
            first_ns(reach(view, Stuck("host1", drains_bps=rate * G)))["hosts to other leaves"]
            for rate in (1, 100)
        ]
        assert first_ns(reach(view, Stuck("host1")))["hosts to other leaves"] < times[0] < times[1]
        keeps_up = reach(view, Stuck("host1", drains_bps=400 * G))
        assert (keeps_up.hosts, keeps_up.ends_ns) == ((), None)

    def test_without_a_watchdog_nothing_ends_it(self) -> None:
        assert reach(declared({"pfc": {"watchdog": None}}), Stuck("host1")).ends_ns is None

    def test_pauses_end_where_there_is_no_pfc_and_packets_are_dropped(self) -> None:
        found = reach(declared({"pfc": {"tiers": ["hosts"]}}), Stuck("host1"))
        assert stages(found) == {"its leaf to host1": (2, 2), "hosts to its leaf": (6, 6)}
        assert [place.partition(":")[0] for place in found.loses] == ["leaf1"] * 4

    def test_a_host_whose_link_has_no_pfc_pauses_nobody(self) -> None:
        found = reach(declared({"pfc": {"tiers": ["uplinks"]}}), Stuck("host1"))
        assert (stages(found), found.hosts, found.loses) == ({}, (), ())

    def test_other_pods_are_reached_through_super_spines(self) -> None:
        found = first_ns(reach(declared(PODS), Stuck("host1")))
        way = ("its leaf to host1", "spines of its pod to its leaf", "super-spines to spines of its pod")
        beyond = ("spines of other pods to super-spines", "leaves of other pods to spines of other pods")
        times = [found[name] for name in (*way, *beyond, "hosts to leaves of other pods")]
        assert times == sorted(times)

    def test_gpus_are_those_of_the_hosts_that_stand_still_and_of_the_dead_one(self) -> None:
        found = reach(declared({"cluster": {"gpus_per_host": 8}}), Stuck("host1"))
        assert found.to_data()["gpus"] == {"stopped": 64, "all": 64}

    def test_the_picture_and_the_data_are_plain(self) -> None:
        found = reach(declared(), Stuck("host1"))
        assert json.loads(json.dumps([found.to_data(), found.picture])) == [found.to_data(), found.picture]


class TestRefused:
    @pytest.mark.parametrize(
        ("stuck", "message"),
        [
            (Stuck("hots1"), "no host 'hots1' in this fabric; did you mean host1?"),
            (Stuck("host1:port9"), "host1 has no port 'port9'; it has port1, port2"),
            (Stuck("host1", traffic_class="default"), "no lossless class 'default'; there is rdma"),
        ],
    )
    def test_what_is_not_there_is_said(self, stuck: Stuck, message: str) -> None:
        with pytest.raises(ScenarioError) as told:
            reach(declared(), stuck)
        assert str(told.value) == message

    def test_buffers_that_only_the_switch_knows_are_not_guessed(self) -> None:
        with pytest.raises(
            ScenarioError, match="in the dynamic buffer model the switch computes headroom itself"
        ):
            reach(declared({"buffers": {"model": "dynamic"}}), Stuck("host1"))


@pytest.mark.parametrize("patch", [{}, PODS])
def test_shares_add_up_and_what_hosts_send_arrives(patch: dict[str, Any]) -> None:
    found = tiers(declared(patch).fabric)
    to_hosts = [at for at, one in enumerate(found.channels) if not found.rank[one.target]]
    from_hosts = [at for at, one in enumerate(found.channels) if not found.rank[one.source]]
    shares = Shares(found, dict.fromkeys(to_hosts, 1.0))
    of = {at: shares.of(at) for at, one in enumerate(found.channels) if found.rank[one.target]}
    assert all(sum(share.values()) == pytest.approx(1) for share in of.values())
    rate = rates(found, of, from_hosts)
    assert sum(rate[at] for at in to_hosts) == pytest.approx(sum(rate[at] for at in from_hosts))
    assert {round(rate[at]) for at in to_hosts} == {400 * G}


def seen(view: View, traffic: Traffic, until_ms: float) -> dict[str, list[float]]:
    """Return since when links stand still in the packet-level model, by the names of stages."""
    from lossless.simulation.engine import Simulation
    from lossless.simulation.stage import stage

    found = put(view, pattern=traffic, size_bytes=1 << 30, dead_nic=True, target="host1:port1")
    staged = stage(found, 1)
    simulation = Simulation(staged.network, 1)
    simulation.advance(until_ms * 1e6)
    times: dict[str, list[float]] = defaultdict(list)
    for link, (sender, receiver) in enumerate(simulation.index.wiring.ends):
        since_ps = int(simulation.state.queues[link * simulation.index.classes]["paused_since"])
        if since_ps >= 0:
            times[_stage(staged.names[sender], staged.names[receiver])].append(since_ps / 1e3 - DEAD_FROM_NS)
    return times


def _stage(sender: str, receiver: str) -> str:
    if receiver == "host1:port1":
        return "its leaf to host1:port1"
    who = {"l": "other leaves", "s": "spines", "h": "hosts"}
    named = ("its leaf" if name == "leaf1" else who[name[0]] for name in (sender, receiver))
    return " to ".join(named)


@pytest.mark.parametrize(("traffic", "until_ms"), [("all-to-all", 5.0), ("incast", 3.0)])
def test_the_packet_level_model_sees_pauses_reach_the_same_tiers_in_the_same_order(
    traffic: Traffic, until_ms: float
) -> None:
    pytest.importorskip("numba")
    view = declared(PFC_ONLY)
    packets, fluid = seen(view, traffic, until_ms), first_ns(reach(view, Stuck("host1:port1", traffic)))
    assert packets.keys() == fluid.keys()
    by_median = sorted(packets, key=lambda name: sorted(packets[name])[len(packets[name]) // 2])
    assert [name for name in by_median if "other leaves" in name] == [
        name for name in fluid if "other leaves" in name
    ]
    assert by_median[0] == next(iter(fluid)) == "its leaf to host1:port1"


def test_times_of_an_all_to_all_agree_with_the_packet_level_model() -> None:
    """Within a fifth: flows of the model take one way each, and its queues are not empty when the NIC dies."""
    pytest.importorskip("numba")
    view = declared(PFC_ONLY)
    packets, fluid = seen(view, "all-to-all", 5.0), first_ns(reach(view, Stuck("host1:port1")))
    for name, at_ns in fluid.items():
        if at_ns:
            assert sum(packets[name]) / len(packets[name]) == pytest.approx(at_ns, rel=0.2), name


def test_rails_carry_the_pauses_of_all_nics_of_a_host() -> None:
    rails = {"units": 2, "rails": 2, "spines": 2, "hosts_per_unit": 4, "host_links": "2 x 400G"}
    shape = rails | {"uplinks": "1 x 800G", "cables": {"host": "3m", "uplink": "30m"}}
    found = reach(declared({"topology": {"leaf_spine": None, "rail_optimised": shape}}), Stuck("host1"))
    assert next(iter(stages(found).items())) == ("its leaves to host1", (2, 2))
    assert len(found.hosts) == 7


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            {"torus": {"sides": [4, 4], "links": "1 x 800G", "cables": {"host": "3m", "link": "5m"}}},
            "sw-0-0 stands in no tier; the spread is computed for leaves, spines and super-spines",
        ),
        (
            {
                "dragonfly_plus": {
                    "groups": 3,
                    "leaves": 2,
                    "spines": 2,
                    "uplinks": "1 x 800G",
                    "global_links": "1 x 800G",
                    "cables": {"host": "3m", "uplink": "5m", "global": "30m"},
                }
            },
            "spine1 has no link up, and leaf3 is not below it: the spread needs a way up and down",
        ),
    ],
)
def test_fabrics_without_a_way_up_and_down_are_not_guessed_at(shape: dict[str, Any], message: str) -> None:
    name, keys = next(iter(shape.items()))
    hosts = {"hosts_per_switch" if name == "torus" else "hosts_per_leaf": 2, "host_links": "1 x 400G"}
    patch = {"hardware": {"switch": "nvidia-sn5600"}, "topology": {"leaf_spine": None, name: keys | hosts}}
    with pytest.raises(ScenarioError) as told:
        reach(declared(patch), Stuck("host1"))
    assert str(told.value) == message
