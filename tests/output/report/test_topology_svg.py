"""Pictures of fabrics: no label overlaps another, every number is on its own line, planes and rails are told apart."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from lossless.analysis.topology.folding import MOST_COLUMNS, folded
from lossless.analysis.topology.shapes import LinkBundle, PlanNode, WiringPlan, wiring_plan
from lossless.analysis.topology.summary import Picture, PictureEdge, PictureItem
from lossless.output.report.drawing import LINKS, ROLE_FILLS
from lossless.output.report.topology.svg import topology_svg
from tests.analysis.topology.test_shape_laws import AT, G, clos, fly, fly_plus, pods, rails, ring
from tests.output.report.svg_shapes import Drawn, contains, overlapping, read_svg

WIDEST_PX = 1420
"""Of a picture whose devices have the names of their shape: 11 pixels are legible on a page of 1,000."""
SMALL, PLANES = st.integers(1, 4), st.integers(1, 6)


@st.composite
def pictures(draw: Any) -> Picture:
    """Draw fabrics of every shape: few and many leaves, rails, planes, pods and groups."""
    shape = draw(
        st.sampled_from(
            ["leaf_spine", "rail_optimised", "three_tier", "dragonfly", "dragonfly_plus", "torus"]
        )
    )
    many, some, few = draw(st.integers(1, 60)), draw(st.integers(1, 9)), draw(SMALL)
    planes = draw(PLANES)
    made: dict[str, Any] = {
        "leaf_spine": lambda: clos(many * few, some, 1),
        "rail_optimised": lambda: rails(many, some, few, 1, planes=planes),
        "three_tier": lambda: pods(some, few, few, some, planes, 1, rails=draw(st.sampled_from([1, 2, 8]))),
        "dragonfly": lambda: fly(some, few, 1, 2),
        "dragonfly_plus": lambda: fly_plus(some, few, few, 1, 2),
        "torus": lambda: ring(tuple(draw(st.lists(st.integers(1, 7), min_size=2, max_size=3))), 1),
    }
    return folded(wiring_plan(made[shape]()), "fabric", shape)


def drawn(picture: Picture) -> Drawn:
    return read_svg(topology_svg(picture))


@settings(deadline=None, max_examples=120)
@given(pictures())
def test_no_text_overlaps_another_and_all_are_inside(picture: Picture) -> None:
    found = drawn(picture)
    assert overlapping([one.area for one in found.texts]) == []
    assert [one for one in found.texts if not contains(found.size, one.area)] == []


@settings(deadline=None, max_examples=120)
@given(pictures())
def test_numbers_of_links_are_clear_of_boxes_and_of_all_lines_but_one(picture: Picture) -> None:
    found = drawn(picture)
    for label in (one for one in found.texts if one.on_line):
        assert not any(label.area.overlaps(box) for box in found.boxes)
        left, top, right, bottom = label.area
        around = label.area._replace(left=left - 1, top=top - 1, right=right + 1, bottom=bottom + 1)
        crossing = [line for line in found.lines if around.is_crossed_by(line)]
        assert len(crossing) == 1, label


@settings(deadline=None, max_examples=120)
@given(pictures())
def test_boxes_and_frames_do_not_overlap_and_no_picture_is_too_wide(picture: Picture) -> None:
    found = drawn(picture)
    assert overlapping(found.boxes) == overlapping(found.frames) == []
    assert all(contains(found.size, area) for area in (*found.boxes, *found.frames))
    assert found.size.right <= WIDEST_PX
    words = [one.area for one in found.texts if not one.on_line]
    assert all(
        any(contains(box, text) for box in found.boxes if box.overlaps(text)) or not text_in_box
        for text in words
        if (text_in_box := any(box.overlaps(text) for box in found.boxes))
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 9), st.integers(2, 9))
def test_no_box_holds_two_planes_that_are_drawn_apart(
    units: int, rail_count: int, spines: int, planes: int
) -> None:
    plan = wiring_plan(rails(units, rail_count, spines, 1, planes=planes))
    picture = folded(plan, "f", "rail_optimised")
    frames = {key: frame.title for frame in picture.frames for key in frame.items}
    switches = [item for item in picture.items if item.role != "host"]
    assert all(frames[item.key].startswith("plane") for item in switches)
    uplinks = [edge for edge in picture.edges if edge.tier == "uplinks"]
    assert all(frames[edge.a] == frames[edge.b] for edge in uplinks)
    assert len({*frames.values()}) == min(planes, 4)


def texts(picture: Picture) -> list[str]:
    return [one.text for one in drawn(picture).texts]


@pytest.mark.parametrize(("units", "said"), [(1, 8), (8, 56), (64, 504)])
def test_rails_of_the_first_unit_have_their_number_at_8_64_and_512_leaves(units: int, said: int) -> None:
    plan = wiring_plan(rails(units, 8, 4, 4))
    rail_of = {node.name: node.place[1] for node in plan.nodes if node.role == "leaf"}
    found = texts(folded(plan, "f", "rail_optimised", rail_of))
    assert {f"rail {number}" for number in range(1, 9)} <= {*found}
    assert (f"{said} leaves" in found) == (units > 1)
    assert any("unit 1" in text for text in found)


@pytest.mark.parametrize(("leaves", "folded_into"), [(8, None), (64, "61 leaves"), (512, "509 leaves")])
def test_eight_leaves_are_drawn_one_by_one_and_of_more_the_rest_is_counted(
    leaves: int, folded_into: str | None
) -> None:
    found = texts(folded(wiring_plan(clos(leaves, 4, 2)), "f", "leaf_spine"))
    named = [text for text in found if re.fullmatch(r"leaf\d+", text)]
    assert len(named) == (8 if folded_into is None else 3)
    assert folded_into is None or folded_into in found
    assert f"4 spines, {leaves} leaves, {2 * leaves:,} hosts" in found


def test_planes_of_listed_devices_are_found_in_their_links() -> None:
    """Two leaves and two spines each, which only the hosts join."""
    nodes = [PlanNode(name, "spine", None, AT) for name in ("sa", "sb")]
    nodes += [PlanNode(name, "leaf", None, AT) for name in ("la1", "lb1", "la2", "lb2")]
    nodes += [PlanNode(f"h{number}", "host", None, AT) for number in (1, 2)]
    ups = [("la1", "sa"), ("la2", "sa"), ("lb1", "sb"), ("lb2", "sb")]
    downs = [(f"l{plane}{number}", f"h{number}") for number in (1, 2) for plane in "ab"]
    bundles = [LinkBundle(a, None, b, None, 1, 400 * G, 3, "uplinks", AT, AT) for a, b in ups]
    bundles += [LinkBundle(a, None, b, None, 1, 400 * G, 3, "hosts", AT, AT) for a, b in downs]
    picture = folded(WiringPlan(tuple(nodes), tuple(bundles)), "f", None)
    assert [(frame.title, frame.items) for frame in picture.frames] == [
        ("plane 1", ("sa", "la1", "la2")),
        ("plane 2", ("sb", "lb1", "lb2")),
    ]


def test_parts_that_no_host_joins_are_no_planes() -> None:
    alone = WiringPlan((PlanNode("leaf1", "leaf", None, AT), PlanNode("spine1", "spine", None, AT)), ())
    assert folded(alone, "f", None).frames == ()


def test_links_that_occur_together_differ_in_dash_or_width() -> None:
    together = (
        ("hosts", "uplinks", "spine_uplinks"),
        ("hosts", "links"),
        ("hosts", "local_links", "global_links"),
        ("hosts", "uplinks", "global_links"),
        ("stalled", "free"),
    )
    for names in together:
        assert len({(LINKS[name].dash, LINKS[name].width) for name in names}) == len(names)
    assert set(ROLE_FILLS) == {"super-spine", "spine", "leaf", "switch", "host"}


@settings(deadline=None, max_examples=60)
@given(pictures())
def test_no_row_has_more_boxes_than_are_legible(picture: Picture) -> None:
    if picture.sides:
        return
    for role in ("super-spine", "spine", "leaf", "switch"):
        assert sum(item.role == role for item in picture.items) <= MOST_COLUMNS


@pytest.mark.parametrize("one_in", [1, 2])
def test_labels_without_a_place_are_in_the_legend(one_in: int) -> None:
    """Of a row of switches with more links than get labels; each link has one, or every second."""
    names = [f"sw{number}" for number in range(46)]
    items = tuple(PictureItem(name, (name, name), 1, "leaf") for name in names)
    edges = tuple(
        PictureEdge(a, b, "links", 2, 400 * G, 3, label=f"label {number}" if number % one_in == 0 else "")
        for number, (a, b) in enumerate(pairwise(names))
    )
    texts = {word for one in drawn(Picture("f", (), items, edges)).texts for word in one.text.split(": ")}
    assert [edge.label for edge in edges if edge.label and edge.label not in texts] == []
