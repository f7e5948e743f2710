"""Intents of InfiniBand subnets: each mistake, and exactly what is said of it."""

from __future__ import annotations

import pytest
from jsonschema import Draft7Validator

from lossless.formats.intent.load import intent_schema
from lossless.ground.documents import load_text
from tests.formats.intent.intent_texts import spoilt
from tests.formats.intent.subnet_texts import LISTED, TREE, said_of

VALIDATOR = Draft7Validator(intent_schema())
Cases = dict[str, tuple[tuple[str, str], list[str]]]
OF_ONE_KEY: Cases = {
    "rate-of-ethernet": (
        ("2 x NDR", "2 x 400G"),
        ["7:77: topology.fat_tree.host_links: 400G is no known rate of InfiniBand; that of 400G is NDR"],
    ),
    "rate-of-an-old-generation": (
        ("2 x NDR", "2 x SDR"),
        [
            "7:77: topology.fat_tree.host_links: SDR is a rate of InfiniBand below those that are known here: "
            "QDR, FDR, EDR, HDR100, HDR, NDR200, NDR, XDR"
        ],
    ),
    "rate-that-comes-later": (
        ("2 x NDR", "2 x GDR"),
        [
            "7:77: topology.fat_tree.host_links: GDR is no known rate of InfiniBand; "
            "there are QDR, FDR, EDR, HDR100, HDR, NDR200, NDR, XDR"
        ],
    ),
    "rate-without-a-count": (
        ("uplinks: 4 x NDR", "uplinks: NDR"),
        [
            "7:95: topology.fat_tree.uplinks: 'NDR' does not say how many links of which rate; write it like 2 x NDR"
        ],
    ),
    "flavour": (
        ("flavour: upstream", "flavour: mellanox"),
        ["4:10: flavour: 'mellanox' is not one of upstream or nvidia"],
    ),
    "key": (
        ("engine: ftree", "engin: ftree"),
        ["16:13: unknown key 'engin'; did you mean engine? (others: fallback, compute_nodes)"],
    ),
    "priority": (
        ("priority: 14", "priority: 16"),
        [
            "14:31: subnet_manager.hosts.0.priority: 16 is not a priority; expected a whole number from 0 to 15"
        ],
    ),
    "sl": (
        ("sl: 3", "sl: 16"),
        ["23:19: qos.levels.storage.sl: 16 is not an SL; expected a whole number from 0 to 15"],
    ),
    "vl-of-management": (
        ("vl: 1", "vl: 15"),
        ["23:26: qos.levels.storage.vl: 15 is not a data VL; expected a whole number from 0 to 14"],
    ),
    "guid-of-nothing": (
        ("0x0002c90300000001", "0"),
        ["11:17: guids.spine1: 0 is no GUID: opensm takes it as not given"],
    ),
    "guid-too-long": (
        ("0002:c903:0000:0002", "0002:c903:0000:00020"),
        [
            "11:51: guids.sm1:mlx5_0: '0002:c903:0000:00020' is no number of 64 bits; write it like 0x0002c90300a1b2c3"
        ],
    ),
    "key-in-the-intent": (
        ("m_key: FABRIC_M_KEY", 'm_key: "0x1234"'),
        [
            "18:17: subnet_manager.keys.m_key: '0x1234' is no name of an environment variable: keys are never "
            "written here"
        ],
    ),
    "boolean-of-no-file": (
        ("max_trees_to_build: 126", "max_trees_to_build: true"),
        [
            "28:85: sharp.settings.max_trees_to_build: true is spelled differently in every file; write it "
            "in quotes, as the file spells it"
        ],
    ),
    "mtu": (
        ("mtu: 4096", "mtu: 9000"),
        ["27:59: partitions.storage.mtu: 9000 is not one of 256, 512, 1024, 2048 or 4096"],
    ),
}
OF_SEVERAL_KEYS: Cases = {
    "key-among-options": (
        ("max_wire_smps: 16", "m_key: 16"),
        [
            "17:13: m_key protects the subnet and is never written here; keys.m_key names the environment variable "
            "that holds it"
        ],
    ),
    "option-with-a-key-of-its-own": (
        ("max_wire_smps: 16", "routing_engine: updn"),
        ["17:13: routing_engine is made of subnet_manager.routing.engine"],
    ),
    "option-made-of-levels": (
        ("max_wire_smps: 16", "max_op_vls: 2"),
        ["17:13: max_op_vls is made of qos.vls; state it in one place"],
    ),
    "sl-twice": (
        ("sl: 3", "sl: 0"),
        ["23:19: qos.levels.storage.sl: SL 0 is already that of compute"],
    ),
    "level-and-sl": (
        ("level: storage, rate", "level: storage, sl: 3, rate"),
        ["27:43: give either level or sl, not both"],
    ),
    "level": (
        ("level: storage, rate", "level: storag, rate"),
        [
            "27:34: partitions.storage.level: there is no level storag; did you mean storage? (others: compute)"
        ],
    ),
    "rails": (
        ("rails: 2", "rails: 3"),
        ["7:43: topology.fat_tree.rails: 3 rails do not divide 4 leaves"],
    ),
    "pods": (
        ("{leaves: 4", "{pods: 2, leaves: 4"),
        ["7:20: topology.fat_tree.pods: several pods need cores to join them"],
    ),
    "two-shapes": (
        (
            "  hosts:\n",
            "  torus: {sides: [2, 2], links: 1 x NDR, hosts_per_switch: 1, host_links: 1 x NDR}\n  hosts:\n",
        ),
        [
            "7:3: topology: expected one of fat_tree, dragonfly_plus, torus or switches, found fat_tree and torus"
        ],
    ),
    "links-of-a-shape": (
        ("  hosts:\n", "  links: [{a: leaf1, b: leaf2, links: 1 x NDR}]\n  hosts:\n"),
        ["8:10: topology.links: fat_tree makes its links; links are for switches that are listed"],
    ),
    "host": (
        ("on: sm1", "on: sm2"),
        [
            "14:16: subnet_manager.hosts.0.on: there is no host or switch sm2; did you mean sm1? (other"
            "s: host2, spine2, host1, host3, host4 and 10 more)"
        ],
    ),
    "manager-on-several-hosts": (
        ("on: sm1", 'on: "host[1-2]"'),
        ["14:16: subnet_manager.hosts.0.on: host[1-2] is 2 hosts; name one"],
    ),
    "manager-on-no-host": (
        ("{on: sm1, priority: 14}, {on: leaf1", '{on: "@storag", priority: 14}, {on: leaf1'),
        [
            "14:16: subnet_manager.hosts.0.on: @storag is no role of hosts; did you mean storage? (othe"
            "rs: compute, management)"
        ],
    ),
    "member": (
        ("host[1-4]", "host[1-40]"),
        [
            "27:102: partitions.storage.members.limited: there is no host host9; did you mean host8? (o"
            "thers: host1, host2, host3, host4, host5 and 4 more)"
        ],
    ),
    "role": (
        ('exclude: "@storage"', 'exclude: "@strage"'),
        [
            "28:42: sharp.exclude: @strage is no role of hosts; did you mean storage? (others: management, compute)"
        ],
    ),
    "guid-of-nobody": (
        ("{spine1: 0x", "{spine3: 0x"),
        [
            "11:17: there is no switch or HCA spine3; did you mean spine2? (others: spine1, leaf3, leaf"
            "1, leaf2, leaf4 and 19 more)"
        ],
    ),
    "guid-of-two": (
        ("0002:c903:0000:0002", "0002:c903:0000:0001"),
        ["11:51: 0x0002c90300000001 is already the GUID of spine1"],
    ),
    "switch": (
        ("switch: nvidia-qm9700", "switch: nvidia-sn5600"),
        [
            "5:20: no InfiniBand switch profile is called 'nvidia-sn5600'; did you mean "
            "nvidia-q3400? (others: nvidia-qm8700, nvidia-qm9700, nvidia-qm8790, nvidia-qm9790)"
        ],
    ),
    "no-switch": (
        ("switch: nvidia-qm9700", "leaf: nvidia-qm9700"),
        ["5:1: hardware.spine is missing, and hardware.switch that would stand for it"],
    ),
    "partition-of-jobs": (
        ("partition: storage", "partition: stor"),
        ["29:35: jobs.partition: there is no partition stor; did you mean storage? (others: Default)"],
    ),
    "gv-without-ufm": (
        ("  keys:", "  ufm: {Sharp: {x: 1}}\n  keys:"),
        ["18:3: gv.cfg is of UFM, and the manager is 'opensm'"],
    ),
    "host-that-a-shape-makes": (
        ("    sm1: {at", "    host1: {at: leaf1, links: 1 x NDR}\n    sm1: {at"),
        ["9:5: host1 is there already"],
    ),
}
OF_LISTED: Cases = {
    "link-to-nothing": (
        ("{a: a, b: b", "{a: a, b: c"),
        ["12:7: there is no switch c; there are a, b"],
    ),
    "one-port-of-two-links": (
        ("{a: a, b: b", '{a: "a:3", b: b'),
        ["12:7: a:3 is one port, and the bundle has 2 links"],
    ),
    "port-beyond-the-switch": (
        ('"a:40"', '"a:81"'),
        ["11:7: a has ports 1 to 80, and no 81"],
    ),
    "port-0": (
        ('"a:40"', '"a:0"'),
        ["11:7: 'a:0' names no port; ports have numbers from 1 to 254"],
    ),
    "itself": (
        ("{a: a, b: b", "{a: a, b: a"),
        ["12:7: both ends are a: a switch is not linked to itself"],
    ),
    "host-at-nothing": (
        ("h2: {at: b", "h2: {at: c"),
        ["15:14: there is no switch c; there are a, b"],
    ),
}


@pytest.mark.parametrize("text", [TREE, LISTED])
def test_what_has_a_meaning_is_taken(text: str) -> None:
    assert said_of(text) == []
    assert VALIDATOR.is_valid(load_text(text, "fabric.yaml").data)


@pytest.mark.parametrize("case", OF_ONE_KEY)
def test_a_value_without_meaning_is_refused_at_its_place(case: str) -> None:
    change, said = OF_ONE_KEY[case]
    text = spoilt(TREE, change)
    assert said_of(text) == said
    assert not VALIDATOR.is_valid(load_text(text, "fabric.yaml").data)


@pytest.mark.parametrize("case", OF_SEVERAL_KEYS)
def test_what_several_keys_say_together_must_have_a_meaning(case: str) -> None:
    change, said = OF_SEVERAL_KEYS[case]
    assert said_of(spoilt(TREE, change)) == said


@pytest.mark.parametrize("case", OF_LISTED)
def test_switches_that_are_listed_have_the_links_they_can_have(case: str) -> None:
    change, said = OF_LISTED[case]
    assert said_of(spoilt(LISTED, change)) == said


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ("[3]", "sides: expected two or three sides, found 1"),
        ("[3, 1]", "sides.1: a side of one switch is no side; leave it out"),
        ("[1000, 1000, 2]", ": 9,000,000 links; the most that is laid out is 2,000,000"),
    ],
)
def test_a_torus_of_a_subnet_is_refused_as_that_of_a_fabric_is(sides: str, said: str) -> None:
    tree = next(line for line in TREE.splitlines() if line.startswith("  fat_tree:"))
    torus = f"  torus: {{sides: {sides}, links: 1 x NDR, hosts_per_switch: 2, host_links: 1 x NDR}}"
    (first, *_) = said_of(spoilt(TREE, (tree, torus)))
    assert "topology.torus" in first
    assert first.endswith(said)
