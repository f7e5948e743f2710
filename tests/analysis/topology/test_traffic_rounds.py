"""Rounds of pairs cross every host port and link, never load a link beyond its rate, and say what chance decides."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies

from lossless.analysis.topology.traffic_rounds import (
    MOST_MISSED,
    PairPaths,
    Spread,
    host_ports,
    traffic_rounds,
)
from lossless.model.fabric.model import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

RATE = 400_000_000_000


def clos(leaves: int, spines: int, hosts: int, ports: int = 1, cables: int = 1, pods: int = 1) -> list[Link]:
    """Return the links of leaves and spines; of several pods also those from each spine to as many super-spines."""
    links = []
    for pod in range(pods):
        for leaf in range(leaves):
            name = f"leaf{pod * leaves + leaf}"
            for host in range(hosts):
                place = f"host{(pod * leaves + leaf) * hosts + host}"
                links += [
                    Link(name, f"h{host}-{port}", place, f"port{port + 1}", RATE, to_host=True)
                    for port in range(ports)
                ]
            for spine in range(spines):
                for cable in range(cables):
                    ends = (f"u{spine}-{cable}", f"spine{pod * spines + spine}", f"d{leaf}-{cable}")
                    links.append(Link(name, *ends, RATE, to_host=False))
        if pods > 1:
            for spine in range(spines):
                for top in range(2):
                    ends = (f"t{top}", f"top{top}", f"p{pod}-{spine}")
                    links.append(Link(f"spine{pod * spines + spine}", *ends, RATE, to_host=False))
    return links


shapes = strategies.builds(
    clos,
    leaves=strategies.integers(1, 4),
    spines=strategies.integers(1, 3),
    hosts=strategies.integers(1, 5),
    ports=strategies.integers(1, 2),
    cables=strategies.integers(1, 3),
    pods=strategies.integers(1, 3),
)


@given(links=shapes, spread=strategies.sampled_from(["flow", "packet", "destination"]))
def test_rounds_are_matchings_that_no_hash_can_overload(links: list[Link], spread: Spread) -> None:
    rounds = traffic_rounds(links, spread)
    paths = PairPaths(links)
    for pairs in (*rounds.within, *rounds.across):
        ends = [end for pair in pairs for end in (pair.source, pair.target)]
        assert len(ends) == len({*ends})
        load = Counter(
            wire for pair in pairs for wire in paths.shares(pair.source.switch, pair.target.switch)
        )
        assert all(count * RATE <= wire.speed_bps for wire, count in load.items())
    both = [pair for each in (*rounds.within, *rounds.across) for pair in each]
    assert all(pair.source.host != pair.target.host for pair in both)
    sending, receiving = ({getattr(pair, end) for pair in both} for end in ("source", "target"))
    assert {*host_ports(links)} == (sending & receiving) | {*rounds.alone}
    if len({port.host for port in host_ports(links)}) > 1:
        assert rounds.alone == ()


@given(links=shapes)
def test_the_paths_of_a_clos_fabric_cover_every_link_up_and_down(links: list[Link]) -> None:
    rounds = traffic_rounds(links, "flow")
    if len({link.a for link in links if link.to_host}) > 1:
        assert [each for each in rounds.coverage if not each.pairs] == []
        assert {(each.switch, each.port) for each in rounds.coverage} == {
            end
            for link in links
            if not link.to_host
            for end in ((link.a, link.a_port), (link.b, link.b_port))
        }


def test_all_host_ports_of_leaves_take_two_rounds_and_the_links_one() -> None:
    rounds = traffic_rounds(clos(8, 4, 32, ports=2), "flow")
    assert [len(pairs) for pairs in rounds.within] == [256, 256]
    assert len(rounds.across) == 1


def test_pods_share_the_links_of_spines_so_that_one_leaf_of_each_sends_at_a_time() -> None:
    rounds = traffic_rounds(clos(4, 2, 4, pods=2), "flow")
    assert [len(pairs) for pairs in rounds.across] == [2, 2, 2, 2]


def test_the_number_of_flows_is_the_least_that_leaves_one_run_in_a_hundred() -> None:
    rounds = traffic_rounds(clos(2, 4, 4), "flow")
    missed = sum(each.missed for each in rounds.coverage)
    # Each of 2 leaves has 4 links up, and 4 down: 16 directions, each missed by n flows with (3/4)^n.
    assert rounds.flows == 32
    assert missed == pytest.approx(16 * 0.75**32)
    assert MOST_MISSED < 16 * 0.75**24


def test_a_path_without_a_choice_is_never_missed_and_packets_miss_nothing() -> None:
    assert {each.missed for each in traffic_rounds(clos(2, 1, 2), "flow").coverage} == {0.0}
    assert {each.missed for each in traffic_rounds(clos(2, 4, 2), "packet").coverage} == {0.0}


def test_destinations_decide_on_infiniband_so_every_host_port_sends_across() -> None:
    links = clos(4, 2, 4)
    rounds = traffic_rounds(links, "destination")
    sending = {pair.source for pairs in rounds.across for pair in pairs}
    assert sending == {*host_ports(links)}
    assert rounds.flows == 1


def test_switches_of_a_ring_send_to_their_neighbors_over_links_that_are_no_part_of_a_longer_path() -> None:
    links = [Link(f"sw{n}", "h", f"host{n}", "port1", RATE, to_host=True) for n in range(6)]
    links += [Link(f"sw{n}", "up", f"sw{(n + 1) % 6}", "down", RATE, to_host=False) for n in range(6)]
    assert _uncrossed(links) == []


def test_a_link_that_no_shortest_path_takes_is_not_covered() -> None:
    peer = Link("spine0", "p", "spine1", "p", RATE, to_host=False)
    assert _uncrossed([*clos(2, 2, 2), peer]) == ["spine0", "spine1"]


def _uncrossed(links: Sequence[Link]) -> list[str]:
    return [each.switch for each in traffic_rounds(links, "flow").coverage if not each.pairs]


def test_links_slower_than_host_ports_are_crossed_without_an_expected_rate() -> None:
    links = [link if link.to_host else link._replace(speed_bps=RATE // 4) for link in clos(2, 4, 2)]
    rounds = traffic_rounds(links, "flow")
    assert {pair.line_rate for pairs in rounds.across for pair in pairs} == {False}
    assert {pair.line_rate for pairs in rounds.within for pair in pairs} == {True}
