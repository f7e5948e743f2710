"""From a fabric to wires: what is one switch, what is one pair, who has hosts, what is never paused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.routing.symmetry import Wires, wires_of, without
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.model import (
    Cable,
    ClassSet,
    Fabric,
    Link,
    OutsideLink,
    Port,
    Switch,
    SwitchQos,
    Tier,
    WatchdogPoll,
)
from tests.analysis.routing.made import leaf_spine

if TYPE_CHECKING:
    from lossless.ground.basics.records import Maybe

HERE = Origin("fabric.yaml")
NO_CLASSES = ClassSet("declared", ())
QOS = SwitchQos("traditional", (), WatchdogPoll(None, HERE), (), None, None, None, False, False, HERE)
LEAF, SPINE = Tier.LEAF, Tier.SPINE


def switch(name: str, tier: Maybe[Tier] = LEAF, unwanted: tuple[str, ...] = ()) -> Switch:
    """Return a switch; an intent wants no PFC on the ports that are named."""
    cable = Cable(UNKNOWN, None, HERE)
    ports = tuple(
        Port(port, None, None, UNKNOWN, UNKNOWN, None, cable, None, None, True, HERE, pfc_unwanted=True)
        for port in unwanted
    )
    return Switch(name, tier, None, None, None, NO_CLASSES, ports, (), QOS, HERE)


def link(near: str, far: str, to_host: bool = False) -> Link:
    """Return a link between ports, written ``leaf1 1``."""
    (a, a_port), (b, b_port) = near.split(), far.split()
    return Link(a, a_port, b, b_port, 400_000_000_000, to_host)


def fabric(
    switches: tuple[Switch, ...],
    links: tuple[Link, ...] = (),
    beyond: tuple[OutsideLink, ...] = (),
    pfc: bool = True,
) -> Fabric:
    """Return a fabric; ``pfc``: its intent says nothing of links without PFC."""
    made = Fabric("made", "intent", NO_CLASSES, None, switches, (), links, (), (), ())
    return made._replace(beyond=beyond, pfc_tiers=None if pfc else ("hosts",))


def named(wires: Wires) -> dict[str, dict[str, int]]:
    """Return how many links join each switch to others, by name."""
    return {
        name: {wires.names[far]: count for far, count in others.items()}
        for name, others in zip(wires.names, wires.links, strict=True)
    }


def test_links_beside_each_other_are_one_pair_and_hosts_are_left_out() -> None:
    found = wires_of(
        fabric(
            (switch("leaf1"), switch("leaf2"), switch("spine1", SPINE)),
            (
                link("leaf1 1", "spine1 1"),
                link("leaf1 2", "spine1 2"),
                link("leaf2 1", "spine1 3"),
                link("leaf2 2", "leaf1 3"),
                link("leaf2 9", "gpu1 0", to_host=True),
            ),
        )
    )
    assert named(found) == {
        "leaf1": {"spine1": 2, "leaf2": 1},
        "leaf2": {"spine1": 1, "leaf1": 1},
        "spine1": {"leaf1": 2, "leaf2": 1},
    }
    assert list(found.tiers) == [1, 1, 2]
    assert list(found.attached) == [False, True, False]
    assert sorted(found.pairs()) == [(0, 1, 1), (0, 2, 2), (1, 2, 1)]
    assert [found.above(number) for number in range(3)] == [[2], [2], []]
    assert (found.outside, found.lossy) == (frozenset(), frozenset())


def test_a_device_of_several_asics_is_one_switch() -> None:
    asics = (switch("big:asic0", SPINE), switch("leaf1"), switch("big:asic1", SPINE), switch("leaf2"))
    links = (
        link("big:asic0 1", "big:asic1 1"),
        link("leaf1 1", "big:asic0 2"),
        link("leaf1 2", "big:asic1 2"),
        link("leaf2 1", "big:asic1 3"),
    )
    found = wires_of(fabric(asics, links))
    assert named(found) == {"big": {"leaf1": 2, "leaf2": 1}, "leaf1": {"big": 2}, "leaf2": {"big": 1}}
    assert list(found.tiers) == [2, 1, 1]
    assert found.ports([("leaf1", "big"), ("big", "leaf2"), ("leaf1", "leaf2")]) == {
        ("leaf1", "big"): ("leaf1:1", "big:asic0:2"),
        ("big", "leaf1"): ("big:asic0:2", "leaf1:1"),
        ("leaf2", "big"): ("leaf2:1", "big:asic1:3"),
        ("big", "leaf2"): ("big:asic1:3", "leaf2:1"),
    }


def test_switches_that_are_configured_elsewhere_are_outside_and_have_hosts() -> None:
    beyond = (
        OutsideLink("leaf1", "1", "far-spine", False, SPINE),
        OutsideLink("leaf2", "1", "far-spine", False, SPINE),
        OutsideLink("leaf1", "2", "stranger", False, None),
        OutsideLink("leaf2", "2", "gpu1", True, None),
    )
    found = wires_of(fabric((switch("leaf1"), switch("leaf2", UNKNOWN)), beyond=beyond))
    assert list(found.names) == ["leaf1", "leaf2", "far-spine", "stranger"]
    assert list(found.tiers) == [1, 0, 2, 0]
    assert list(found.attached) == [False, True, True, True]
    assert found.outside == {2, 3}
    assert named(found)["far-spine"] == {"leaf1": 1, "leaf2": 1}
    assert found.ports([("far-spine", "leaf2")])["leaf2", "far-spine"] == ("leaf2:1", "far-spine:")


def test_a_link_to_nobody_joins_nothing() -> None:
    links = (link("gone 1", "leaf1 1"), link("leaf1 1", "gone 1"), link("gone 2", "gpu1 0", to_host=True))
    found = wires_of(fabric((switch("leaf1"), switch("leaf2")), (*links, link("leaf1 2", "leaf2 2"))))
    assert named(found) == {"leaf1": {"leaf2": 1}, "leaf2": {"leaf1": 1}}
    assert not any(found.attached)


def test_what_a_port_without_pfc_receives_is_never_paused() -> None:
    switches = (switch("leaf1", LEAF, ("1",)), switch("spine1", SPINE), switch("spine2", SPINE, ("1",)))
    links = (
        link("leaf1 1", "spine1 1"),
        link("leaf1 2", "spine2 1"),
        link("leaf1 1", "gpu1 0", to_host=True),
    )
    assert wires_of(fabric(switches, links)).lossy == frozenset()
    # What comes from spine1 arrives at port 1 of leaf1, what leaf1 sends to spine2 at its port 1.
    assert wires_of(fabric(switches, links, pfc=False)).lossy == {(1, 0), (0, 2)}


def test_a_switch_outside_pauses_nothing_on_a_link_without_pfc() -> None:
    beyond = (
        OutsideLink("leaf1", "1", "far", False, SPINE),
        OutsideLink("leaf1", "2", "other", False, SPINE),
        OutsideLink("leaf1", "3", "gpu1", True, None),
    )
    found = wires_of(fabric((switch("leaf1", LEAF, ("1", "3")),), beyond=beyond, pfc=False))
    assert found.lossy == {(0, 1), (1, 0)}


def test_what_is_out_of_service_has_no_links_and_no_hosts() -> None:
    clos = leaf_spine(3, 2)
    left = without(clos, switches=[1], pairs=[(0, 3)])
    assert named(left) == {
        "leaf0": {"spine1": 1},
        "leaf1": {},
        "leaf2": {"spine0": 1, "spine1": 1},
        "spine0": {"leaf2": 1},
        "spine1": {"leaf0": 1, "leaf2": 1},
    }
    assert list(left.attached) == [True, False, True, False, False]
