"""Cages that an intent splits, ports that it keeps down, and ports that no link uses."""

from __future__ import annotations

import pytest

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric, Switch
from tests.formats.intent.intent_texts import NAMED, SHAPE, said_of, spoilt

G = 10**9
_LEAF = "leaf: nvidia-sn5600"


def stated(choice: str, text: str = SHAPE) -> str:
    """Return an intent that says something of the cages and ports of its leaves."""
    return spoilt(text, (_LEAF, f"leaf: {{profile: nvidia-sn5600, {choice}}}"))


def fabric(text: str) -> Fabric:
    return resolve(load_intent(load_text(text, "fabric.yaml")))


def leaf(text: str) -> Switch:
    return fabric(text).switches[0]


def used(switch: Switch) -> list[tuple[str, int | None, int | None]]:
    return [(port.name, port.lanes, port.speed_bps and port.speed_bps // G) for port in switch.ports]


class TestBreakout:
    def test_several_breakouts_and_speeds_stand_on_one_switch(self) -> None:
        found = leaf(stated("breakout: {Ethernet0: 4x200G, Ethernet8: 2 x 400G, Ethernet16: 1x400G}"))
        assert used(found)[:4] == [
            ("Ethernet8", 4, 400),
            ("Ethernet12", 4, 400),
            ("Ethernet16", 8, 400),
            ("Ethernet24", 4, 400),
        ]
        rest = [(spec.name, len(spec.lanes)) for spec in found.unused if spec.index == 1]
        assert rest == [
            ("Ethernet0", 2),
            ("Ethernet2", 2),
            ("Ethernet4", 2),
            ("Ethernet6", 2),
        ]

    def test_lanes_and_aliases_are_those_of_the_platform(self) -> None:
        specs = [port.spec for port in leaf(SHAPE).ports[:2]]
        assert [(s.name, s.lanes, s.alias, s.index) for s in specs if s] == [
            ("Ethernet0", (0, 1, 2, 3), "etp1a", 1),
            ("Ethernet4", (4, 5, 6, 7), "etp1b", 1),
        ]

    def test_a_link_can_name_a_port_of_a_stated_breakout(self) -> None:
        text = stated("breakout: {Ethernet8: 4x200G}", NAMED)
        named = spoilt(
            text, ("a: leaf1, b: host1, links: 1 x 400G", "a: 'leaf1:Ethernet10', b: host1, links: 1 x 200G")
        )
        assert ("Ethernet10", 2, 200) in used(leaf(named))

    @pytest.mark.parametrize(
        ("breakout", "said"),
        [
            (
                "{Ethernet0: 3x200G}",
                "12:65: hardware.leaf.breakout.Ethernet0: Ethernet0 cannot be 3 x 200G; it can be "
                "1x800G[400G,200G,100G,50G,40G,25G,10G], 2x400G[200G,100G,50G,40G,25G,10G], 4x200G[100G,50G,25G,10G]",
            ),
            (
                "{Ethernet512: 2x25G}",
                "12:67: hardware.leaf.breakout.Ethernet512: Ethernet512 cannot be 2 x 25G; it can be 1x25G[10G]",
            ),
            (
                "{Ethernet1: 2x400G}",
                "12:65: hardware.leaf.breakout.Ethernet1: nvidia-sn5600 has no cage Ethernet1; its cages are "
                "Ethernet0, Ethernet8, Ethernet16, Ethernet24 ... Ethernet512",
            ),
            (
                "{Ethernet0: two}",
                "12:65: hardware.leaf.breakout.Ethernet0: 'two' does not say how many links of which rate; "
                "write it like 2 x 400G",
            ),
            (
                "{../x: 2x400G}",
                "12:53: hardware.leaf.breakout: '../x' is not the name of a port; expected one like Ethernet8, "
                "swp1s0 or Ethernet1/1",
            ),
        ],
    )
    def test_what_a_cage_cannot_be_is_refused_where_it_is_written(self, breakout: str, said: str) -> None:
        assert said_of(stated(f"breakout: {breakout}")) == [said]

    def test_a_split_that_leaves_no_port_for_a_link_is_reported_by_the_rules(self) -> None:
        every = ", ".join(f"Ethernet{8 * n}: 1x800G" for n in range(64))
        found = leaf(stated(f"breakout: {{{every}}}"))
        assert sum(not port.placed for port in found.ports) == 8


class TestDownPorts:
    def test_a_port_that_stays_down_gets_no_link(self) -> None:
        found = leaf(stated("down: [Ethernet0, Ethernet4]"))
        assert used(found)[:2] == [("Ethernet8", 4, 400), ("Ethernet12", 4, 400)]
        assert {"Ethernet0", "Ethernet4"} <= {spec.name for spec in found.unused}

    @pytest.mark.parametrize(
        ("down", "said"),
        [
            ("[Ethernet8, Ethernet8]", "12:61: hardware.leaf.down.1: Ethernet8 occurs twice in the list"),
            ("Ethernet8", "12:49: hardware.leaf.down: expected a list, found 'Ethernet8'"),
            (
                "[Ethernet1]",
                "12:50: hardware.leaf.down.0: nvidia-sn5600 has no port Ethernet1; its ports can be "
                "Ethernet0, Ethernet8, Ethernet16, Ethernet24 ... Ethernet510",
            ),
        ],
    )
    def test_what_is_no_list_of_ports_is_refused(self, down: str, said: str) -> None:
        assert said_of(stated(f"down: {down}")) == [said]

    def test_a_port_with_a_link_cannot_stay_down(self) -> None:
        text = spoilt(
            stated("down: [Ethernet8]", NAMED), ("a: leaf1, b: leaf2", 'a: "leaf1:Ethernet8", b: leaf2')
        )
        assert said_of(text) == [
            "20:47: topology.links.0.links: Ethernet8 has a link, and hardware.leaf.down says that it stays down"
        ]

    def test_what_no_link_uses_is_known_and_has_no_qos(self) -> None:
        found = leaf(SHAPE)
        names = [spec.name for spec in found.unused]
        assert len(names) == len(set(names)) == 65 - 4 - 4
        assert not {port.name for port in found.ports} & set(names)

    def test_the_rest_of_a_split_cage_is_unused_too(self) -> None:
        found = leaf(
            spoilt(SHAPE, ("host_links: 2 x", "host_links: 1 x"), ("hosts_per_leaf: 4", "hosts_per_leaf: 3"))
        )
        assert "Ethernet12" in {spec.name for spec in found.unused}
