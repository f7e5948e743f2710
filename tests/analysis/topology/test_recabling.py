"""Which device is which, and which cable, when a fabric is declared again."""

from __future__ import annotations

from lossless.analysis.topology.recabling import DeclaredCable, DeclaredCabling, RecablingPlan, recabling_plan
from lossless.analysis.topology.shapes import PlanNode
from lossless.ground.basics.findings import Origin
from lossless.model.fabric.model import Role

AT = Origin("fabric.yaml", ("topology",))
G = 10**9


def node(name: str, role: Role = "leaf", *place: int) -> PlanNode:
    return PlanNode(name, role, None, AT, place=place)


def wire(a: str, b: str, speed: int = 400, cable_m: int = 3) -> DeclaredCable:
    (a, a_port), (b, b_port) = (end.split(":") for end in (a, b))
    return DeclaredCable(a, a_port, b, b_port, speed * G, cable_m, "uplinks")


def between(old: list[DeclaredCable], new: list[DeclaredCable]) -> RecablingPlan:
    """Return what becomes of the cables between a leaf and a spine."""
    nodes = (node("leaf1"), node("spine1", "spine"))
    return recabling_plan(DeclaredCabling(None, nodes, tuple(old)), DeclaredCabling(None, nodes, tuple(new)))


def ports(found: RecablingPlan) -> list[tuple[object, object]]:
    return [(old.ports, new.ports) for old, new in found.moved]


def test_a_cable_that_keeps_both_ports_stays_whatever_its_number_is() -> None:
    old = [wire("leaf1:1", "spine1:1"), wire("leaf1:2", "spine1:2")]
    new = [wire("leaf1:2", "spine1:2"), wire("leaf1:3", "spine1:3")]
    found = between(old, new)
    assert (found.kept, ports(found)) == (1, [(("1", "1"), ("3", "3"))])


def test_where_all_ports_of_one_end_shift_the_other_end_tells_which_cable_is_which() -> None:
    old = [wire(f"leaf1:{n}", f"spine1:s{n}") for n in (1, 2, 3)]
    new = [wire(f"leaf1:{n + 1}", f"spine1:s{n}") for n in (1, 2, 3)]
    for one, two in ((old, new), ([w.turned() for w in old], [w.turned() for w in new])):
        moved = between(one, two).moved
        assert len(moved) == 3
        assert all(set(was.ports) & set(is_.ports) for was, is_ in moved)


def test_the_order_of_the_two_ends_in_a_document_is_of_no_consequence() -> None:
    old = [wire("leaf1:1", "spine1:1")]
    found = between(old, [old[0].turned()])
    assert (found.stays, found.kept) == (True, 1)


def test_another_speed_or_length_at_the_same_ports_is_a_change() -> None:
    found = between([wire("leaf1:1", "spine1:1")], [wire("leaf1:1", "spine1:1", cable_m=5)])
    assert (found.stays, found.moved) == (False, ())
    assert [(old.cable_m, new.cable_m) for old, new in found.changed] == [(3, 5)]


def test_a_new_device_that_takes_an_existing_name_is_not_that_device() -> None:
    old = DeclaredCabling(
        ("x",), (node("leaf1", "leaf", 0), node("host1", "host", 0)), (wire("leaf1:1", "host1:1"),)
    )
    new = DeclaredCabling(
        ("x",),
        (node("leaf1", "leaf", 0), node("host2", "host", 0), node("host1", "host", 1)),
        (wire("leaf1:1", "host2:1"), wire("leaf1:2", "host1:1")),
    )
    found = recabling_plan(old, new)
    assert [(was.name, name) for was, name in found.renamed] == [("host1", "host2")]
    assert [one.name for one in found.added] == ["host1"]
    assert (found.kept, [w.b for w in found.added_wires]) == (1, ["host1"])


def test_places_of_another_frame_mean_nothing_and_names_count() -> None:
    old = DeclaredCabling(("x", 1), (node("spine1", "spine", 0, 0), node("spine2", "spine", 0, 1)), ())
    new = DeclaredCabling(("x", 2), (node("spine1", "spine", 0, 0), node("spine2", "spine", 1, 0)), ())
    assert recabling_plan(old, new).stays
    assert recabling_plan(DeclaredCabling(None, old.nodes, ()), new).stays


def test_a_leaf_is_not_the_spine_that_was_called_so() -> None:
    found = recabling_plan(
        DeclaredCabling(None, (node("a"),), ()), DeclaredCabling(None, (node("a", "spine"),), ())
    )
    assert ([n.role for n in found.removed], [n.role for n in found.added]) == (["leaf"], ["spine"])
