"""What is drawn of a fabric: every device is in one shape, and every link between two of them is counted once."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st
from inline_snapshot import snapshot

from lossless.analysis.topology.folding import folded
from lossless.analysis.topology.shapes import LinkBundle, PlanNode, WiringPlan, wiring_plan
from lossless.analysis.topology.summary import Picture
from lossless.output.report.topology.svg import from_to, topology_svg
from tests.analysis.topology.test_shape_laws import AT, PLANS, G, clos, fly_plus, pods, ring
from tests.output.report.svg_shapes import read_svg

SMALL = st.integers(1, 7)


def drawn(shape: str, plan: WiringPlan) -> Picture:
    return folded(plan, "f", shape.removesuffix("-2d").removesuffix("-3d"))


def svg(found: Picture) -> str:
    return topology_svg(found)


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
def test_pictures_are_well_formed_and_every_item_has_a_box(shape: str, a: int, b: int, c: int) -> None:
    found = drawn(shape, PLANS[shape](a, b, c))
    boxes = read_svg(svg(found)).boxes
    assert len(boxes) == sum(item.role != "host" or not found.sides for item in found.items)


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
    assert len(re.findall(r"stroke-dasharray='3 3'>\n<title>[^\n]*\n(<line[^\n]*\n){2}</g>", rings)) == 2
    assert "stroke-dasharray='3 3'" not in flat


def test_links_within_a_row_are_arcs() -> None:
    text = svg(drawn("dragonfly_plus", wiring_plan(fly_plus(3, 1, 1, 1, 1))))
    assert text.count("<path d='M") == 3


def named(name: str) -> WiringPlan:
    nodes = (PlanNode(name, "leaf", None, AT), PlanNode("h", "host", None, AT))
    return WiringPlan(nodes, (LinkBundle(name, None, "h", None, 1, 400 * G, 3, "hosts", AT, AT),))


def test_names_cannot_become_markup() -> None:
    text = topology_svg(folded(named("leaf1"), "<b>&'\x1b", None))
    assert "<text x='24' y='28' font-size='16' font-weight='bold'>&lt;b&gt;&amp;&#39;\\x1b</text>" in text
    ElementTree.fromstring(text)


def test_long_names_are_cut_and_whole_where_a_pointer_is() -> None:
    name = "a-very-long-name-of-a-leaf-in-row-7"
    text = svg(folded(named(name), "f", None))
    assert re.search(r">a-very-long-name-of-[a-z-]*…</text>", text)
    assert f"<title>{name}</title>" in text


def test_devices_without_links_and_fabrics_without_hosts_are_drawn() -> None:
    alone = WiringPlan((PlanNode("leaf1", "leaf", None, AT), PlanNode("spine1", "spine", None, AT)), ())
    text = svg(folded(alone, "f", None))
    assert re.findall(r"font-weight='bold'>([^<]*)</text>", text) == ["f", "spine1", "leaf1"]


def test_a_small_one_in_full() -> None:
    """Without its colors: how lines look is no fact about a network."""
    text = svg(drawn("leaf_spine", wiring_plan(clos(1, 1, 2))))
    looks = r" (stroke|fill|text-anchor|paint-order|role|rx|xmlns|viewBox|(font|stroke)-[a-z]+)='[^']*'"
    assert re.sub(looks, "", text) == snapshot("""\
<svg width='427.4' height='482'>
<title>f: devices and links</title>
<rect width='427.4' height='482'/>
<text x='24' y='28'>f</text>
<text x='24' y='47'>1 spine, 1 leaf, 2 hosts</text>
<g>
<title>leaf1 to host1 .. host2: 4 x 400G, 3 m</title>
<line x1='66' y1='242' x2='66' y2='342'/>
</g>
<g>
<title>leaf1 to spine1: 2 x 800G, 30 m</title>
<line x1='66' y1='208' x2='66' y2='108'/>
</g>
<rect x='61.8' y='267.5' width='8.4' height='10.2'/>
<text x='66' y='275.5'>4</text>
<rect x='61.8' y='173.5' width='8.4' height='10.2'/>
<text x='66' y='181.5'>2</text>
<g><title>spine1</title>
<rect x='24' y='74' width='84' height='34'/>
<text x='66' y='95'>spine1</text>
</g>
<g><title>leaf1</title>
<rect x='24' y='208' width='84' height='34'/>
<text x='66' y='229'>leaf1</text>
</g>
<g><title>host1 .. host2</title>
<path d='M28 342 V338 H112 V378 H108'/>
<rect x='24' y='342' width='84' height='40'/>
<text x='66' y='359'>2 hosts</text>
<text x='66' y='373'>host1 .. 2</text>
</g>
<line x1='24' y1='412' x2='54' y2='412'/>
<text x='62' y='416'>links to hosts: 4 x 400G, 3 m</text>
<line x1='24' y1='430' x2='54' y2='430'/>
<text x='62' y='434'>uplinks of leaves: 2 x 800G, 30 m</text>
<text x='24' y='452'>a stacked box is several devices; a line to it is all of their links</text>
</svg>
""")


def described(found: Picture) -> list[Any]:
    return [(item.names, item.devices, item.labels) for item in found.items]


def test_the_middle_of_many_is_one() -> None:
    found = drawn("leaf_spine", wiring_plan(clos(64, 2, 4)))
    assert described(found) == snapshot(
        [
            (("spine1", "spine1"), 1, ()),
            (("spine2", "spine2"), 1, ()),
            (("leaf1", "leaf1"), 1, ()),
            (("leaf2", "leaf2"), 1, ()),
            (("leaf3", "leaf63"), 61, ()),
            (("leaf64", "leaf64"), 1, ()),
            (("host1", "host4"), 4, ()),
            (("host5", "host8"), 4, ()),
            (("host9", "host252"), 244, ()),
            (("host253", "host256"), 4, ()),
        ]
    )
