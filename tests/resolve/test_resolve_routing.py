"""What an intent says of routing: what it becomes, and what is refused, each at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.errors import InputError
from lossless.fabric.model import Fabric
from lossless.fabric.routing import Routing
from lossless.intent.load import load_intent
from lossless.resolve.fabric import resolve
from lossless.source import load_text
from tests.rules.snippets import BASES, merge


def fabric(**topology: Any) -> Fabric:
    """Return the base fabric with more said of its topology."""
    base = load_text((BASES / "leaf-spine.yaml").read_text(), "base.yaml").data
    text = json.dumps(merge(base, {"topology": topology}), indent=2)
    return resolve(load_intent(load_text(text, "fabric.yaml")))


def stated(**keys: Any) -> Routing:
    found = fabric(routing=keys).routing
    assert found is not None
    return found


def test_nothing_said_is_nothing_known() -> None:
    assert (fabric().routing, fabric().bridging) == (None, None)


def test_routing_goes_up_and_down_and_bears_one_failure_unless_it_says_otherwise() -> None:
    assert stated(bounce=[])[:4] == ("up-down", (), (), 1)
    said = stated(policy="shortest-path", bounce=["leaf2"], failed=["spine1", ["leaf1", "spine2"]], survive=0)
    assert [one.names for one in said.bounce] == [("leaf2",)]
    assert [one.names for one in said.failed] == [("spine1",), ("leaf1", "spine2")]
    assert said.failed[1].origin.path == ("topology", "routing", "failed", 1)


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
                "topology.routing.bounce.0: no switch 'leef1'; did you mean leaf1?",
                "topology.routing.bounce.1: no switch 'host1'; there are leaf1, leaf2, spine1, spine2",
                "topology.routing.bounce.2: spine1 has no links up, so nothing comes to it from above",
            ],
        ),
        (
            {"failed": ["spine9", ["leaf1", "leaf2"], ["leaf1", "spine8"]]},
            [
                "topology.routing.failed.0: no switch 'spine9'; did you mean spine2?",
                "topology.routing.failed.1: no link joins leaf1 and leaf2",
                "topology.routing.failed.2.1: no switch 'spine8'; did you mean spine2?",
            ],
        ),
        (
            {"failed": [3], "survive": 4},
            [
                "topology.routing.failed.0: expected a switch, or the two ends of links as [leaf1, spine1]; found 3",
                "topology.routing.survive: expected how many failures at once, 0 to 3; found 4",
            ],
        ),
    ],
)
def test_what_is_not_there_is_refused_at_its_place(routing: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        fabric(routing=routing)
    assert [problem.message for problem in refused.value.problems] == messages
