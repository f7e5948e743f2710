"""What stays where it is when a fabric grows, without a room that was stated before: its laws, shape by shape."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.topology.recabling import (
    DeclaredCabling,
    Pins,
    RecablingPlan,
    pins_for,
    recabling_plan,
)
from lossless.formats.intent.resolve.fabric import resolve_wired
from tests.formats.intent.resolve.test_resolve_shapes import SHAPES as OF_ROOMS
from tests.strategies import loaded_of

Data = dict[str, Any]
pytestmark = pytest.mark.xdist_group("what stays")
INSIDE = {"dragonfly": {"switches": 2}, "dragonfly_plus": {"spines": 1}, "torus": {"x": 3, "y": 2}}
"""What a shape can be drawn with besides what a room holds."""
SHAPES: dict[str, tuple[Data, dict[str, int]]] = {
    shape: (
        {key: value for key, value in fixed.items() if key not in ("sides", *INSIDE.get(shape, ()))},
        least | INSIDE.get(shape, {}),
    )
    for shape, (fixed, least) in OF_ROOMS.items()
}
"""What is the same in all of a shape, and the numbers that may grow, at their least."""
STAYS = {
    "leaf_spine": ("leaves", "spines"),
    "three_tier": ("pods", "super_spines"),
    "rail_optimised": ("units", "spines"),
    "dragonfly": ("groups",),
    "dragonfly_plus": ("groups",),
}
"""What comes after all that is there, by itself."""
HOSTS = {
    "leaf_spine": "hosts_per_leaf",
    "three_tier": "hosts_per_leaf",
    "rail_optimised": "hosts_per_unit",
    "dragonfly": "hosts_per_switch",
    "dragonfly_plus": "hosts_per_leaf",
    "torus": "hosts_per_switch",
}
IN_A_PART = {
    "three_tier": ("leaves_per_pod", "spines_per_pod"),
    "dragonfly": ("switches",),
    "dragonfly_plus": ("leaves", "spines"),
}
"""What is added inside of pods and groups: all that comes after, in the next ones, is counted again."""


def cabling(shape: str, numbers: Data, **beside: Any) -> DeclaredCabling:
    if shape == "torus":
        numbers = {"sides": [numbers["x"], numbers["y"]], **numbers}
        numbers = {key: value for key, value in numbers.items() if key not in "xy"}
    data: Data = {"lossless": "v1", "fabric": "f", "transport": "rocev2", "preset": "nvidia"}
    data["hardware"] = {"switch": "nvidia-sn5600", "nic": "connectx-7"}
    return _cabling(json.dumps({**data, "topology": {shape: {**SHAPES[shape][0], **numbers}, **beside}}))


@lru_cache(maxsize=512)
def _cabling(text: str) -> DeclaredCabling:
    """Return the cabling of an intent: few sizes are drawn, and most of them by several tests of a shape."""
    loaded = loaded_of(json.loads(text))
    wired = resolve_wired(loaded)
    return DeclaredCabling(loaded.intent.topology.frame, wired.plan.nodes, tuple(wired.wires()))


def sizes(draw: Any, shape: str) -> dict[str, int]:
    return {
        name: least + draw.draw(st.integers(0, 2), label=name) for name, least in SHAPES[shape][1].items()
    }


def grown(draw: Any, shape: str, *names: str) -> RecablingPlan:
    """Return what becomes of a fabric that grows by some of its numbers, by one at least."""
    now = sizes(draw, shape)
    more = {name: now[name] + draw.draw(st.integers(1, 2), label=f"{name} more") for name in names}
    return recabling_plan(cabling(shape, now), cabling(shape, now | more))


def roles_moved(found: RecablingPlan) -> set[str]:
    """Return the roles of the devices at which a cable gets another port."""
    role = {node.name: node.role for node in found.same.values()}
    return {
        role[name]
        for old, new in found.moved
        for name, was, port in ((old.a, old.a_port, new.a_port), (old.b, old.b_port, new.b_port))
        if was != port
    }


@pytest.mark.parametrize(("shape", "number"), [(shape, n) for shape, names in STAYS.items() for n in names])
@settings(max_examples=12, deadline=None)
@given(draw=st.data())
def test_a_part_more_renames_nothing_and_moves_no_cable(shape: str, number: str, draw: Any) -> None:
    found = grown(draw, shape, number)
    assert found.stays
    assert found.added


@pytest.mark.parametrize("shape", STAYS)
@settings(max_examples=8, deadline=None)
@given(draw=st.data())
def test_several_parts_more_at_once_stay_as_well(shape: str, draw: Any) -> None:
    assert grown(draw, shape, *STAYS[shape]).stays


@pytest.mark.parametrize("shape", [shape for shape in HOSTS if shape != "torus"])
@settings(max_examples=12, deadline=None)
@given(draw=st.data())
def test_a_host_more_moves_at_most_the_lower_ends_of_links_between_switches_and_renames_but_hosts(
    shape: str, draw: Any
) -> None:
    found = grown(draw, shape, HOSTS[shape])
    renamed = [node for node, _ in found.renamed]
    assert {node.role for node in renamed} <= {"host"}
    # Of the first leaf, unit or switch no host is called otherwise.
    assert all(any(node.place[:-1]) for node in renamed)
    assert not any((found.removed, found.removed_wires, found.changed))
    assert {wire.tier for wire in found.added_wires} == {"hosts"}
    ends = {"dragonfly": "switch"}.get(shape, "leaf")
    # None where a host more fills the other half of a cage that is split already.
    assert roles_moved(found) <= {ends}
    assert "hosts" not in {old.tier for old, _ in found.moved}


@settings(max_examples=12, deadline=None)
@given(draw=st.data())
def test_a_host_more_at_a_torus_moves_no_cable(draw: Any) -> None:
    found = grown(draw, "torus", "hosts_per_switch")
    assert not any((found.moved, found.removed, found.removed_wires, found.changed))
    assert {node.role for node, _ in found.renamed} == {"host"}


@pytest.mark.parametrize("side", ["x", "y"])
@settings(max_examples=12, deadline=None)
@given(draw=st.data())
def test_a_longer_side_of_a_torus_opens_its_rings_and_moves_nothing_else(side: str, draw: Any) -> None:
    now = sizes(draw, "torus") | {"y": draw.draw(st.integers(3, 4))}
    found = recabling_plan(cabling("torus", now), cabling("torus", now | {side: now[side] + 1}))
    assert not any((found.moved, found.removed, found.changed))
    assert {node.role for node, _ in found.renamed} <= {"host"}
    last = now[side] - 1
    axis = "xy".index(side)
    rings = now["x"] * now["y"] // now[side]
    assert len(found.removed_wires) == 2 * rings
    for wire in found.removed_wires:
        assert {int(name.split("-")[1 + axis]) for name in (wire.a, wire.b)} == {0, last}


@pytest.mark.parametrize(
    ("shape", "number"), [(shape, n) for shape, names in IN_A_PART.items() for n in names]
)
@settings(max_examples=12, deadline=None)
@given(draw=st.data())
def test_what_is_added_in_pods_and_groups_leaves_the_first_of_them_its_names(
    shape: str, number: str, draw: Any
) -> None:
    found = grown(draw, shape, number)
    assert all(node.place[0] for node, _ in found.renamed)
    assert not any((found.removed, found.changed))


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=8, deadline=None)
@given(draw=st.data())
def test_what_is_not_changed_stays(shape: str, draw: Any) -> None:
    stands = cabling(shape, sizes(draw, shape))
    found = recabling_plan(stands, stands)
    assert (found.stays, found.kept) == (True, len(stands.wires))
    assert not any((found.added, found.added_wires))


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=12, deadline=None)
@given(draw=st.data())
def test_a_rollback_undoes_what_has_become_of_a_fabric(shape: str, draw: Any) -> None:
    first, second = (cabling(shape, sizes(draw, shape)) for _ in range(2))
    there, back = recabling_plan(first, second), recabling_plan(second, first)
    assert {node.name for node in there.added} == {node.name for node in back.removed}
    assert {(node.name, name) for node, name in there.renamed} == {
        (name, node.name) for node, name in back.renamed
    }
    for found, ours, others in ((there, first, second), (back, second, first)):
        assert found.kept + len(found.moved) + len(found.changed) + len(found.removed_wires) == len(
            ours.wires
        )
        assert found.kept + len(found.moved) + len(found.changed) + len(found.added_wires) == len(
            others.wires
        )
    assert (there.kept, len(there.moved)) == (back.kept, len(back.moved))


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=25, deadline=None)
@given(draw=st.data())
def test_with_the_names_and_ports_that_keep_it_the_current_fabric_stays(shape: str, draw: Any) -> None:
    now, later = sizes(draw, shape), sizes(draw, shape)
    own = Pins(draw.draw(st.sampled_from([{}, {"host1": "gpu-7"}])), {})
    before, after = cabling(shape, now), cabling(shape, later, **own._asdict())
    found = recabling_plan(before, after)
    stated = pins_for(after, found, own)
    after = cabling(shape, later, **stated._asdict())
    again = recabling_plan(before, after)
    assert (again.moved, list(again.renamed)) == ((), [])
    assert (again.removed, again.removed_wires) == (found.removed, found.removed_wires)
    assert len(again.added) == len(found.added)
    # What is stated already is stated again, if as the port that any has become; where nothing moves nothing is.
    pins = pins_for(after, again, stated)
    assert (pins.names, pins.ports.keys()) == (stated.names, stated.ports.keys())
    assert cabling(shape, later, **pins._asdict()).wires == after.wires
    if found.stays:
        assert stated == Pins({}, {})
