"""Which port each link gets, and what each end of a link is called."""

from __future__ import annotations

import pytest

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.classes import PortPlacement
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.model.fabric.model import Fabric, Switch
from lossless.model.hardware.load import load_switch
from tests.formats.intent.intent_texts import DEVICES, LINKS, NAMED, SHAPE, said_of, spoilt

G = 10**9


def fabric(text: str) -> Fabric:
    return resolve(load_intent(load_text(text, "fabric.yaml")))


def placement(profile_name: str, hwsku_name: str | None = None) -> PortPlacement:
    profile = load_switch(profile_name)
    hwsku = profile.hwsku(hwsku_name or profile.default_hwsku)
    assert hwsku is not None
    return PortPlacement(profile, hwsku)


def taken(found: PortPlacement, speed_bps: int, count: int) -> list[str]:
    specs = [found.take(speed_bps) for _ in range(count)]
    return [spec.name if spec else "-" for spec in specs]


def switch(found: Fabric, name: str) -> Switch:
    return next(s for s in found.switches if s.name == name)


class TestPlacement:
    def test_ports_of_the_port_table_come_first_in_the_order_of_the_front_panel(self) -> None:
        assert taken(placement("nvidia-sn5600"), 800 * G, 3) == ["Ethernet0", "Ethernet8", "Ethernet16"]

    def test_a_speed_that_is_not_in_the_table_breaks_the_next_cage_out(self) -> None:
        found = placement("nvidia-sn5600")
        assert taken(found, 400 * G, 3) == ["Ethernet0", "Ethernet4", "Ethernet8"]
        assert taken(found, 800 * G, 1) == ["Ethernet16"]
        assert taken(found, 400 * G, 1) == ["Ethernet12"]

    def test_a_mixed_hwsku_gives_each_speed_its_own_ports(self) -> None:
        found = placement("nvidia-sn4700", "Mellanox-SN4700-O8C48")
        hwsku = load_switch("nvidia-sn4700").hwsku("Mellanox-SN4700-O8C48")
        assert hwsku is not None
        table = {speed: [p.name for p in hwsku.ports if p.speed_bps == speed] for speed in (100 * G, 400 * G)}
        assert taken(found, 400 * G, 8) == table[400 * G]
        assert taken(found, 100 * G, 48) == table[100 * G]
        assert taken(found, 100 * G, 1) == ["-"]

    def test_a_speed_no_cage_takes_has_no_port(self) -> None:
        assert taken(placement("nvidia-sn3700"), 400 * G, 1) == ["-"]

    def test_a_full_switch_has_none_left(self) -> None:
        found = placement("nvidia-sn3700")
        assert "-" not in taken(found, 200 * G, 32)
        assert taken(found, 200 * G, 1) == ["-"]

    def test_a_named_port_is_given_once_and_only_at_a_speed_it_has(self) -> None:
        found = placement("nvidia-sn5600")
        spec = found.claim("Ethernet12", 400 * G)
        assert spec is not None
        assert (spec.name, spec.speed_bps, len(spec.lanes)) == ("Ethernet12", 400 * G, 4)
        assert found.claim("Ethernet12", 400 * G) is None
        assert found.claim("Ethernet8", 800 * G) is None
        assert found.claim("Ethernet1", 400 * G) is None
        assert taken(found, 400 * G, 2) == ["Ethernet8", "Ethernet0"]


class TestNamedPorts:
    def test_a_named_port_is_the_port_of_the_link(self) -> None:
        links = ("a: leaf1, b: leaf2, links", 'a: "leaf1:Ethernet8", b: "leaf2:Ethernet504", links')
        found = fabric(spoilt(NAMED, links))
        assert [(link.a, link.a_port, link.b, link.b_port) for link in found.links] == [
            ("leaf1", "Ethernet8", "leaf2", "Ethernet504"),
            ("leaf1", "Ethernet0", "host1", "port1"),
            ("leaf2", "Ethernet0", "host2", "port1"),
        ]

    def test_a_port_that_does_not_exist_is_built_without_a_place(self) -> None:
        found = fabric(spoilt(NAMED, ("a: leaf1, b: leaf2", 'a: "leaf1:Ethernet999", b: leaf2')))
        port = switch(found, "leaf1").ports[0]
        assert (port.placed, port.name, port.lanes) == (False, "(no port Ethernet999)", None)

    def test_a_host_is_the_far_end_whichever_side_it_is_written_on(self) -> None:
        found = fabric(spoilt(NAMED, ("a: leaf1, b: host1", 'a: "host1:mlx5_0", b: leaf1')))
        link = next(link for link in found.links if link.b == "host1")
        assert (link.a, link.b_port, link.to_host) == ("leaf1", "mlx5_0", True)

    def test_numbered_host_ports_leave_out_those_that_are_named(self) -> None:
        more = "    - {a: leaf1, b: 'host1:port2', links: 1 x 400G, cable: 3m}\n"
        found = fabric(spoilt(NAMED, ("b: host1, links: 1 x", "b: host1, links: 3 x")) + more)
        assert [link.b_port for link in found.links if link.b == "host1"] == [
            "port1",
            "port3",
            "port4",
            "port2",
        ]


def test_switches_and_hosts_are_in_the_order_a_shape_gives_them() -> None:
    names = ["leaf10", "leaf9", "host2", "host1", "spine1", "leaf2"]
    roles = [f"    {name}: {{role: {name.rstrip('0123456789')}}}\n" for name in names]
    found = fabric(spoilt(NAMED, (DEVICES, "  devices:\n" + "".join(roles)), (LINKS, "  links: []\n")))
    assert [s.name for s in found.switches] == ["leaf2", "leaf9", "leaf10", "spine1"]
    assert [host.name for host in found.hosts] == ["host1", "host2"]


def test_more_links_than_ports_are_built_and_marked() -> None:
    found = fabric(spoilt(SHAPE, ("hosts_per_leaf: 4", "hosts_per_leaf: 70")))
    leaf = switch(found, "leaf1")
    assert [(demand.ports, demand.purpose) for demand in leaf.demand] == [
        (140, "400G host ports"),
        (4, "800G switch ports"),
    ]
    assert sum(not port.placed for port in leaf.ports) == 16


@pytest.mark.parametrize(
    ("uplinks", "up_bps", "note"),
    [
        ("2 x 800G", 3200 * G, "4 hosts x 2 x 400G = 3.2 Tb/s down, 2 spines x 2 x 800G = 3.2 Tb/s up"),
        ("1 x 400G", 800 * G, "4 hosts x 2 x 400G = 3.2 Tb/s down, 2 spines x 1 x 400G = 800 Gb/s up"),
    ],
)
def test_capacity_of_leaves_wired_identical_is_counted_once(uplinks: str, up_bps: int, note: str) -> None:
    (capacity,) = fabric(spoilt(SHAPE, ("2 x 800G", uplinks))).capacities
    assert (capacity.leaves, capacity.down_bps, capacity.up_bps) == (("leaf1", "leaf2"), 3200 * G, up_bps)
    assert capacity.note == f"{note}, each counted one way"


def test_thousands_of_hosts_share_what_is_identical() -> None:
    text = spoilt(
        SHAPE,
        ("leaves: 2", "leaves: 128"),
        ("spines: 2", "spines: 16"),
        ("hosts_per_leaf: 4", "hosts_per_leaf: 32"),
    )
    found = fabric(spoilt(text, ("2 x 400G", "1 x 400G"), ("2 x 800G", "1 x 800G")))
    assert (len(found.switches), len(found.hosts), len(found.links)) == (144, 4096, 4096 + 128 * 16)
    assert len({id(s.ports) for s in found.switches}) == 2
    assert len({id(host.qos) for host in found.hosts}) == 1
    assert len({id(port.qos) for s in found.switches for port in s.ports}) == 3


EXCEPTIONS = """\
exceptions:
  "leaf1:Ethernet0": {mtu: 1500, asymmetric: on, watchdog: {detection: 600ms, restoration: never}}
  "spine2:Ethernet8": {mtu: 8000, watchdog: off}
"""


def test_an_exception_applies_to_its_port_and_to_the_hosts_there() -> None:
    found = fabric(SHAPE + EXCEPTIONS)
    own = {
        f"{switch.name}:{port.name}": (port.mtu_bytes, port.asymmetric, port.qos.watchdog)
        for switch in found.switches
        for port in switch.ports
        if port.qos is not None
    }
    usual = [end for end, values in own.items() if values == own["leaf2:Ethernet0"]]
    assert {*own} - {*usual} == {"leaf1:Ethernet0", "spine2:Ethernet8"}
    mtu, asymmetric, watchdog = own["leaf1:Ethernet0"]
    assert (mtu, asymmetric, watchdog and watchdog.settings) == (1500, True, (600, None, "drop"))
    assert own["spine2:Ethernet8"] == (8000, False, None)
    assert {host.name: host.qos.mtu_bytes for host in found.hosts if host.qos.mtu_bytes != 9000} == {
        "host1": 1500
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('"leaf1:Ethernet999": {mtu: 1500}', "exceptions: no link uses a port 'leaf1:Ethernet999'"),
        ('"leaf9:Ethernet0": {mtu: 1500}', "exceptions: no link uses a port 'leaf9:Ethernet0'"),
        ("leaf1: {mtu: 1500}", "expected DEVICE:PORT, found 'leaf1'"),
        ('"leaf1:Ethernet0": {mtu: 1}', "exceptions.leaf1:Ethernet0.mtu"),
        ('"leaf1:Ethernet0": {watchdog: {restoration: 1us}}', "switches count in whole milliseconds"),
        (
            '"leaf1:Ethernet0": {watchdog: {detection: never}}',
            "exceptions.leaf1:Ethernet0.watchdog.detection",
        ),
    ],
)
def test_a_wrong_exception_is_refused_at_its_place(line: str, said: str) -> None:
    found = said_of(f"{SHAPE}exceptions:\n  {line}\n")
    assert len(found) == 1
    assert found[0].startswith("24:"), found
    assert said in found[0]


def test_an_exception_of_a_port_that_is_shut_down_to_reclaim_its_buffer_is_refused() -> None:
    def reclaiming(end: str) -> str:
        return f"{SHAPE}buffers: {{unused_ports: reclaim}}\nexceptions: {{'{end}': {{mtu: 1500}}}}\n"

    unused = [
        f"{switch.name}:{port.name}"
        for switch in fabric(reclaiming("leaf1:Ethernet0")).switches
        for port in switch.ports
        if port.admin_up is False
    ]
    (said,) = said_of(reclaiming(unused[0]))
    assert f"exceptions: no link uses a port '{unused[0]}'" in said


WATCHDOG = "watchdog: {poll: 600ms, detection: 1200ms, restoration: 1200ms, action: drop}"
TIERS = """\
watchdog:
    poll: 600ms
    detection: 1200ms
    restoration: 1200ms
    by_tier:
      leaf: {poll: 200ms, detection: 400ms, restoration: never}
      spine: {detection: 1800ms}
exceptions:
  "leaf1:Ethernet0": {watchdog: {detection: 600ms}}
  "spine1:Ethernet0": {watchdog: {action: forward}}
"""


def test_watchdog_times_by_tier_apply_to_all_ports_of_the_tier_and_below_exceptions() -> None:
    found = fabric(SHAPE.replace(WATCHDOG, TIERS.rstrip()))
    times = {
        (switch.name, port.name): (switch.qos.poll.poll_ms, *port.qos.watchdog.settings)
        for switch in found.switches
        for port in switch.ports
        if port.qos is not None and port.qos.watchdog is not None
    }
    assert times.pop(("leaf1", "Ethernet0")) == (200, 600, None, "drop")
    assert times.pop(("spine1", "Ethernet0")) == (600, 1800, 1200, "forward")
    by_tier = {(name[:-1], settings) for (name, _), settings in times.items()}
    assert by_tier == {("leaf", (200, 400, None, "drop")), ("spine", (600, 1800, 1200, "drop"))}


@pytest.mark.parametrize(
    ("tiers", "said"),
    [
        ("{}", "pfc.watchdog.by_tier"),
        ("{spine: {}}", "an empty mapping; name what differs on these switches"),
        ("{spin: {poll: 100ms}}", "'spin' is no role of a switch; did you mean spine?"),
        ("{spine: {poll: 1us}}", "switches count in whole milliseconds"),
        ("{spine: {tiers: [hosts]}}", "unknown key 'tiers'"),
    ],
)
def test_wrong_times_of_a_tier_are_refused_at_their_place(tiers: str, said: str) -> None:
    found = said_of(SHAPE.replace("action: drop}", f"by_tier: {tiers}}}"))
    assert len(found) == 1
    assert found[0].startswith("9:"), found
    assert said in found[0]
