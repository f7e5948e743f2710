"""What must hold of every spread, whatever the fabric: laws over small fabrics of every shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.buffers.ecn_marking import Trigger
from lossless.analysis.storm.blast_radius import IngressGroup, StormSource, blast_radius, stop_times
from lossless.analysis.storm.paths import EcmpPaths
from lossless.analysis.storm.tiers import EgressShares, LeafReachability, TierShares, channel_graph
from lossless.model.fabric.cabling import RoutingPolicy
from lossless.model.fabric.view import View
from tests.analysis.storm.nets import SHAPES, of

if TYPE_CHECKING:
    from lossless.analysis.storm.blast_radius import BlastRadius

G = 10**9
TIERED = ["leaf-spine", "rails", "three tiers"]
shapes = st.sampled_from(sorted(SHAPES))
traffics = st.sampled_from(["all-to-all", "incast"])


def reached(view: View, stuck: StormSource) -> dict[tuple[str, str, str], float]:
    return {(who, port, to): at_ns for who, port, to, at_ns in blast_radius(view, stuck).times}


def watched(view: View, detection_ms: int) -> View:
    """Return a fabric whose watchdogs detect after another time."""
    switches = tuple(
        switch._replace(
            ports=tuple(
                port._replace(
                    qos=port.qos
                    and port.qos._replace(
                        watchdog=port.qos.watchdog and port.qos.watchdog._replace(detection_ms=detection_ms)
                    )
                )
                for port in switch.ports
            ),
            qos=switch.qos._replace(poll=switch.qos.poll._replace(poll_ms=1)),
        )
        for switch in view.fabric.switches
    )
    return View(view.fabric._replace(switches=switches))


@given(shapes, traffics, st.integers(1, 4), st.integers(0, 8))
def test_a_longer_watchdog_never_reaches_fewer_and_changes_no_time(
    shape: str, traffic: str, detection_ms: int, more_ms: int
) -> None:
    stuck = StormSource("host1", traffic)  # type: ignore[arg-type]
    short, long = (reached(watched(of(shape), ms), stuck) for ms in (detection_ms, detection_ms + more_ms))
    assert short.items() <= long.items()


@given(shapes, st.integers(1, 8))
def test_without_a_watchdog_a_dead_host_reaches_all_that_send_towards_it(shape: str, number: int) -> None:
    found = blast_radius(of(shape, watchdog=None), StormSource(f"host{number}"))
    assert found.ends_ns is None
    assert {name for name, _ in found.hosts} == {
        host.name for host in of(shape).fabric.hosts if host.name != f"host{number}"
    }


@pytest.mark.parametrize("shape", SHAPES)
def test_pfc_on_host_links_alone_stops_at_the_leaf(shape: str) -> None:
    found = blast_radius(of(shape, tiers=("hosts",)), StormSource("host1"))
    stopped = {stage.name for stage in found.stages if stage.stopped}
    assert {name.replace("leaves", "leaf").replace("switch", "leaf") for name in stopped} <= {
        "its leaf to host1", "hosts to its leaf"}  # fmt: skip
    assert found.loses


@given(shapes, traffics, st.integers(1, 400), st.integers(0, 400))
def test_a_slow_host_stops_no_more_and_no_sooner_than_a_slower_or_a_dead_one(
    shape: str, traffic: str, drains: int, more: int
) -> None:
    dead, slower, slow = (
        reached(of(shape, watchdog=None), StormSource("host1", traffic, rate * G))  # type: ignore[arg-type]
        for rate in (0, drains, drains + more)
    )
    for quicker, other in ((dead, slower), (slower, slow)):
        assert other.keys() <= quicker.keys()
        assert all(quicker[way] <= at_ns + 1e-3 for way, at_ns in other.items())


@given(st.sampled_from(TIERED), st.data())
def test_whole_tiers_share_traffic_as_all_shortest_paths_do(shape: str, data: st.DataObject) -> None:
    found = channel_graph(of(shape).fabric)
    tiers = LeafReachability(found)
    assert tiers.whole
    to_hosts = [at for at in range(len(found.channels)) if found.to_host(at)]
    weights = {
        at: data.draw(st.sampled_from([1.0, 2.0, 5.0]))
        for at in data.draw(st.sets(st.sampled_from(to_hosts), min_size=1))
    }
    policy: RoutingPolicy = data.draw(st.sampled_from(get_args(RoutingPolicy)))
    paths, shares = EcmpPaths(found, policy).shares(weights), TierShares(tiers, weights)
    assert paths.lost == 0
    for came in range(len(found.channels)):
        # What no traffic comes by shares nothing; by tiers alone that does not show.
        if not found.to_host(came) and (of_came := paths.shares.get(came)):
            assert of_came == pytest.approx(shares.of(came).parts())


def nets() -> st.SearchStrategy[dict[int, IngressGroup]]:
    """Draw groups of four switches, each fed by and feeding others at random; channel 0 is the way out."""

    def group(number: int) -> st.SearchStrategy[IngressGroup]:
        shares = st.dictionaries(
            st.integers(0, 11).filter(lambda out: out != number), st.floats(0.1, 0.5), max_size=3
        )
        rate, alpha = st.floats(1e9, 800e9), st.sampled_from([1 / 8, 1.0, 4.0])
        return st.builds(
            lambda rate, alpha, shares: IngressGroup(
                f"s{number % 4}", rate, Trigger(10_000_000, alpha, None), EgressShares(shares, 1.0)
            ),
            rate, alpha, shares,
        )  # fmt: skip

    return st.fixed_dictionaries({number: group(number) for number in range(1, 12)})


@given(nets(), st.integers(2, 16))
def test_more_buffer_takes_as_much_longer_and_stops_the_same(
    groups: dict[int, IngressGroup], times: int
) -> None:
    def run(factor: int) -> dict[int, float]:
        scaled = {
            number: one._replace(trigger=Trigger(10_000_000 * factor, one.trigger.alpha, None))
            for number, one in groups.items()
            if one.trigger is not None
        }
        found: dict[int, float] = {}
        for at_ns, channel in stop_times(
            scaled, [0], lambda _: 0.0, 1.0, float("inf"), lambda at: f"s{(at + 1) % 4}"
        ):
            found.setdefault(channel, at_ns)
        return found

    small, large = run(1), run(times)
    assert small.keys() == large.keys()
    assert all(large[at] == pytest.approx(times * at_ns, rel=1e-6, abs=1e-3) for at, at_ns in small.items())


def test_the_hosts_that_stall_are_those_whose_channels_do() -> None:
    for shape in SHAPES:
        found: BlastRadius = blast_radius(of(shape), StormSource("host1"))
        hosts = {host.name for host in of(shape).fabric.hosts}
        assert {name for name, _ in found.hosts} == {who for who, _, _, _ in found.times if who in hosts} - {
            "host1"
        }
