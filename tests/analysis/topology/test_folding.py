"""What is drawn of a fabric: every device is in one shape, and every link between two of them is counted once."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st
from inline_snapshot import snapshot

from lossless.analysis.topology.folding import Picture, folded
from lossless.analysis.topology.shapes import LinkBundle, PlanNode, WiringPlan, wiring_plan
from lossless.output.report.topology.svg import from_to, topology_svg
from tests.analysis.topology.test_shape_laws import AT, PLANS, G, clos, fly_plus, pods, ring

SMALL = st.integers(1, 7)


def drawn(shape: str, plan: WiringPlan) -> Picture:
    return folded(plan, "f", shape.removesuffix("-2d").removesuffix("-3d"))


def svg(found: Picture) -> str:
    return topology_svg(found.to_data())


@pytest.mark.parametrize("shape", PLANS)
@settings(deadline=None, max_examples=25)
@given(a=SMALL, b=SMALL, c=SMALL)
def test_no_device_and_no_link_is_lost_by_folding(shape: str, a: int, b: int, c: int) -> None:
    plan = PLANS[shape](a, b, c)
    found = drawn(shape, plan)
    assert sum(item.devices for item in found.items) == len(plan.nodes)
    assert sum(edge.links for edge in found.edges) == sum(bundle.links for bundle in plan.bundles)
    keys = {item.key for item in found.items}
    assert len(keys) == len(found.items)
    assert all({edge.a, edge.b} <= keys for edge in found.edges)


@pytest.mark.parametrize("shape", PLANS)
@settings(deadline=None, max_examples=15)
@given(a=SMALL, b=SMALL, c=SMALL)
def test_pictures_are_well_formed_and_nothing_stands_on_something_else(
    shape: str, a: int, b: int, c: int
) -> None:
    found = drawn(shape, PLANS[shape](a, b, c))
    root = ElementTree.fromstring(svg(found))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = [
        (float(box.attrib["x"]), float(box.attrib["y"]))
        for box in root.iter("{http://www.w3.org/2000/svg}rect")
        if box.attrib.get("rx") == "4"
    ]
    shown = [item for item in found.items if item.role != "host" or not found.sides]
    assert len(boxes) == len(shown)
    assert all(0 <= x <= width - 104 and 0 <= y <= height - 40 for x, y in boxes)
    for number, (x, y) in enumerate(boxes):
        assert all(abs(x - p) >= 104 or abs(y - q) >= 40 for p, q in boxes[:number])


@pytest.mark.parametrize("shape", PLANS)
@settings(deadline=None, max_examples=10)
@given(a=SMALL, b=SMALL, c=SMALL)
def test_no_number_on_a_line_stands_on_another(shape: str, a: int, b: int, c: int) -> None:
    root = ElementTree.fromstring(svg(drawn(shape, PLANS[shape](a, b, c))))
    words = [
        (float(text.attrib["x"]), float(text.attrib["y"]), len(text.text or ""))
        for text in root.iter("{http://www.w3.org/2000/svg}text")
        if text.attrib.get("stroke") == "#ffffff"
    ]
    for number, (x, y, length) in enumerate(words):
        # A digit of 10 pixels is less than six wide; places are rounded to a tenth.
        assert all(abs(x - p) > 3 * (length + n) or abs(y - q) > 11.8 for p, q, n in words[:number])


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("host105", "host112", "host105 .. 112"),
        ("sw-0-1", "sw-4-0", "sw-0-1 .. 4-0"),
        ("rack7-tor", "rack8-tor", "rack7-tor .. 8-tor"),
        ("leaf1", "gpu2", "leaf1 .. gpu2"),
        ("a", "b", "a .. b"),
    ],
)
def test_what_two_names_begin_with_is_said_once(first: str, last: str, said: str) -> None:
    assert from_to(first, last) == said


def test_a_picture_does_not_grow_with_the_fabric() -> None:
    small, large = (svg(drawn("three_tier", wiring_plan(pods(n, n, 8, 8, 2, n)))) for n in (16, 32))
    assert len(large) < 1.05 * len(small)


def test_a_side_of_a_torus_is_closed_by_dashed_ends_and_one_of_two_is_not() -> None:
    rings, flat = (svg(drawn("torus", wiring_plan(ring(sides, 1)))) for sides in ((3, 2), (2, 2)))
    assert rings.count("stroke-dasharray='3 3'") == 2 * 2
    assert "stroke-dasharray='3 3'" not in flat


def test_links_within_a_row_are_arcs() -> None:
    text = svg(drawn("dragonfly_plus", wiring_plan(fly_plus(3, 1, 1, 1, 1))))
    assert text.count("<path d='M") == 3


def named(name: str) -> WiringPlan:
    nodes = (PlanNode(name, "leaf", None, AT), PlanNode("h", "host", None, AT))
    return WiringPlan(nodes, (LinkBundle(name, None, "h", None, 1, 400 * G, 3, "hosts", AT, AT),))


def test_names_cannot_become_markup() -> None:
    text = topology_svg(folded(named("leaf1"), "<b>&'\x1b", None).to_data())
    assert "<text x='24' y='28' font-size='16' font-weight='bold'>&lt;b&gt;&amp;&#39;\\x1b</text>" in text
    ElementTree.fromstring(text)


def test_long_names_are_cut_and_whole_where_a_pointer_is() -> None:
    name = "a-very-long-name-of-a-leaf-in-row-7"
    text = svg(folded(named(name), "f", None))
    assert ">a-very-long-name…</text>" in text
    assert f"<title>{name}</title>" in text


def test_devices_without_links_and_fabrics_without_hosts_are_drawn() -> None:
    alone = WiringPlan((PlanNode("leaf1", "leaf", None, AT), PlanNode("spine1", "spine", None, AT)), ())
    text = svg(folded(alone, "f", None))
    assert re.findall(r"font-weight='bold'>([^<]*)</text>", text) == ["f", "spine1", "leaf1"]


def test_a_small_one_in_full() -> None:
    """Without its colours: how lines look is no fact about a network."""
    text = svg(drawn("leaf_spine", wiring_plan(clos(1, 1, 2))))
    looks = r" (stroke|fill|text-anchor|paint-order|role|rx|xmlns|viewBox|(font|stroke)-[a-z]+)='[^']*'"
    assert re.sub(looks, "", text) == snapshot("""\
<svg width='460' height='502'>
<title>f: devices and links</title>
<rect width='460' height='502'/>
<text x='24' y='28'>f</text>
<g><title>leaf1 to host1 .. host2: 4 x 400G, 3 m</title>
<line x1='76' y1='254' x2='76' y2='366'/>
</g>
<g><title>leaf1 to spine1: 2 x 800G, 30 m</title>
<line x1='76' y1='214' x2='76' y2='102'/>
</g>
<text x='76' y='290.6'>4</text>
<text x='76' y='183.4'>2</text>
<g><title>spine1</title>
<rect x='24' y='62' width='104' height='40'/>
<text x='76' y='86'>spine1</text>
</g>
<g><title>leaf1</title>
<rect x='24' y='214' width='104' height='40'/>
<text x='76' y='238'>leaf1</text>
</g>
<g><title>host1 .. host2</title>
<rect x='24' y='366' width='104' height='40'/>
<text x='76' y='383'>2 hosts</text>
<text x='76' y='397'>host1 .. 2</text>
</g>
<line x1='24' y1='432' x2='50' y2='432'/>
<text x='58' y='436'>links to hosts: 4 x 400G, 3 m</text>
<line x1='24' y1='450' x2='50' y2='450'/>
<text x='58' y='454'>uplinks of leaves: 2 x 800G, 30 m</text>
<text x='58' y='472'>a box with a dashed border is several devices</text>
</svg>
""")


def described(found: Picture) -> list[Any]:
    return [(item.names, item.devices, item.group) for item in found.items]


def test_the_middle_of_many_is_one() -> None:
    found = drawn("leaf_spine", wiring_plan(clos(64, 2, 4)))
    assert described(found) == snapshot(
        [
            (("spine1", "spine1"), 1, -1),
            (("spine2", "spine2"), 1, -1),
            (("leaf1", "leaf1"), 1, -1),
            (("leaf2", "leaf2"), 1, -1),
            (("leaf3", "leaf3"), 1, -1),
            (("leaf4", "leaf63"), 60, -1),
            (("leaf64", "leaf64"), 1, -1),
            (("host1", "host4"), 4, -1),
            (("host5", "host8"), 4, -1),
            (("host9", "host12"), 4, -1),
            (("host13", "host252"), 240, -1),
            (("host253", "host256"), 4, -1),
        ]
    )
