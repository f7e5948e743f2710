"""What an intent says of routing: what it becomes, and what is refused, each at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError
from lossless.ground.documents import load_text
from lossless.model.fabric.cabling import Routing
from lossless.model.fabric.cluster import Failures
from lossless.model.fabric.model import Fabric
from tests.checks.rules.snippets import BASES, merge


def fabric(failures: dict[str, Any] | None = None, **topology: Any) -> Fabric:
    """Return the base fabric with more said of its topology, and of what it must bear."""
    base = load_text((BASES / "leaf-spine.yaml").read_text(), "base.yaml").data
    more = {"topology": topology} | ({} if failures is None else {"failures": failures})
    text = json.dumps(merge(base, more), indent=2)
    return resolve(load_intent(load_text(text, "fabric.yaml")))


def stated(**keys: Any) -> Routing:
    found = fabric(routing=keys).routing
    assert found is not None
    return found


def test_nothing_said_is_nothing_known() -> None:
    assert (fabric().routing, fabric().bridging) == (None, None)


def tolerated(**keys: Any) -> Failures:
    found = fabric(failures=keys).failures
    assert found is not None
    return found


def test_routing_goes_up_and_down_unless_it_says_otherwise() -> None:
    assert stated(bounce=[])[:2] == ("up-down", ())
    said = stated(policy="shortest-path", bounce=["leaf2"])
    assert [one.names for one in said.bounce] == [("leaf2",)]


def test_paths_have_no_extra_hops_unless_it_says_so() -> None:
    assert (stated().extra_hops, stated(extra_hops=2).extra_hops) == (0, 2)


def test_switches_hash_flows_unless_it_says_otherwise_of_all_or_of_a_tier() -> None:
    orders = [
        fabric(routing={} if choice is None else {"load_balancing": choice}).packet_order
        for choice in (None, "dlb", {"spine": "adaptive"})
    ]
    assert [(one.choice, one.by_tier) for one in orders if one is not None] == [
        ("ecmp", ()),
        ("dlb", ()),
        ("ecmp", (("spine", "adaptive"),)),
    ]
    assert orders[2] is not None
    role, origin = orders[2].all_choices()["adaptive"]
    assert (role, origin.path) == ("spine", ("topology", "routing", "load_balancing", "spine"))


def test_any_one_link_or_switch_must_be_tolerated_unless_it_says_otherwise() -> None:
    unsaid = fabric().failures
    assert unsaid is not None
    assert unsaid[:4] == tolerated()[:4] == (1, 1, None, ())
    said = tolerated(links=2, switches=0, oversubscription=2, out_of_service=["spine1", ["leaf1", "spine2"]])
    assert said[:3] == (2, 0, 2.0)
    assert [one.names for one in said.out_of_service] == [("spine1",), ("leaf1", "spine2")]
    assert said.out_of_service[1].origin.path == ("failures", "out_of_service", 1)
    assert said.gone == ("spine1", "leaf1 - spine2")
    assert [said.works(*ends) for ends in (("leaf2", "spine1"), ("spine2", "leaf1"), ("leaf2", "spine2"))] == [
        False, False, True]  # fmt: skip


def test_bridging_floods_unless_it_says_otherwise() -> None:
    found = fabric(bridging={"arp_timeout": "14400s", "mac_aging": "300s"}).bridging
    assert found is not None
    assert found[:3] == (True, 14_400_000, 300_000)
    dropping = fabric(bridging={"unknown_unicast": "drop"}).bridging
    assert dropping is not None
    assert dropping[:3] == (False, None, None)


@pytest.mark.parametrize(
    ("routing", "messages"),
    [
        (
            {"bounce": ["leef1", "host1", "spine1"]},
            [
                "topology.routing.bounce.0: no switch 'leef1'; did you mean leaf1? (others: leaf2, spine1, spine2)",
                "topology.routing.bounce.1: no switch 'host1'; there are spine1, leaf1, leaf2, spine2",
                "topology.routing.bounce.2: spine1 has no uplinks, so it cannot bounce packets",
            ],
        ),
        (
            {"load_balancing": {"leaf": "spray", "super-spine": "ecmp"}},
            [
                "topology.routing.load_balancing.super-spine: no switch is a super-spine; there are leaf and spine"
            ],
        ),
    ],
)
def test_what_is_not_there_is_refused_at_its_place(routing: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        fabric(routing=routing)
    assert [problem.message for problem in refused.value.problems] == messages


@pytest.mark.parametrize(
    ("gone", "messages"),
    [
        (
            ["spine9", ["leaf1", "leaf2"], ["leaf1", "spine8"]],
            [
                "failures.out_of_service.0: no switch 'spine9'; did you mean spine2? (others: spine1, leaf1, leaf2)",
                "failures.out_of_service.1: no link joins leaf1 and leaf2",
                "failures.out_of_service.2.1: no switch 'spine8'; did you mean spine2? (others: spine1, leaf1, leaf2)",
            ],
        ),
        (
            [3],
            [
                "failures.out_of_service.0: expected a switch, or the two ends of links as [leaf1, spine1]; found 3",
            ],
        ),
    ],
)
def test_what_is_not_there_cannot_be_out_of_service(gone: list[Any], messages: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        fabric(failures={"out_of_service": gone})
    assert [problem.message for problem in refused.value.problems] == messages
