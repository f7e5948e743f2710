"""The intent of a subnet to its model: ports, options, managers and members are those that it states."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lossless.formats.intent.infiniband.document import load_subnet
from lossless.formats.intent.resolve.infiniband.subnet import SubnetPortUse, cages, place, resolve_subnet
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import Unknown
from lossless.ground.documents import load
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from lossless.model.fabric.infiniband.qos_policy import RATES
from lossless.model.fabric.infiniband.subnet import Hca, Subnet, SubnetLink, SubnetSwitch
from lossless.model.hardware.infiniband import infiniband_switch_names, load_infiniband_switch
from tests.conftest import ROOT
from tests.formats.intent.intent_texts import spoilt
from tests.formats.intent.subnet_texts import LISTED, TREE, subnet_of

HERE = Origin("fabric.yaml")
TREE_SUBNET, LISTED_SUBNET = subnet_of(TREE), subnet_of(LISTED)


def links_of(subnet: Subnet) -> tuple[SubnetLink, ...]:
    assert not isinstance(subnet.links, Unknown)
    return subnet.links


def switches_of(subnet: Subnet) -> tuple[SubnetSwitch, ...]:
    assert not isinstance(subnet.switches, Unknown)
    return subnet.switches


def hcas_of(subnet: Subnet) -> tuple[Hca, ...]:
    assert not isinstance(subnet.hcas, Unknown)
    return subnet.hcas


def options_of(subnet: Subnet) -> dict[str, str]:
    return {option.key: option.text for option in subnet.options}


uses = st.lists(
    st.builds(SubnetPortUse, st.sampled_from(sorted(RATES)), st.just("x"), st.just(HERE), st.none()),
    max_size=80,
)


@given(st.sampled_from(infiniband_switch_names()), uses)
def test_no_two_links_share_a_port_and_none_has_one_beyond_the_last(
    name: str, asked: list[SubnetPortUse]
) -> None:
    ports = place(load_infiniband_switch(name), asked)
    given_out = [number for number in ports.numbers if number is not None]
    assert len(ports.numbers) == len(asked)
    assert len(set(given_out)) == len(given_out)
    assert all(1 <= number <= ports.highest for number in given_out)


@given(st.sampled_from(infiniband_switch_names()), uses)
def test_a_link_goes_without_a_port_only_where_lanes_are_short(name: str, asked: list[SubnetPortUse]) -> None:
    profile = load_infiniband_switch(name)
    ports = place(profile, asked)
    halves = sum(RATES[use.rate].lanes == 2 for use in asked)
    needed = len(asked) - halves + -(-halves // 2)
    assert (None in ports.numbers) == (needed > cages(profile))


@given(st.sampled_from(infiniband_switch_names()), uses)
def test_a_link_of_all_lanes_takes_both_halves_of_a_port(name: str, asked: list[SubnetPortUse]) -> None:
    ports = place(load_infiniband_switch(name), asked)
    if ports.highest == cages(load_infiniband_switch(name)):
        return
    taken = {number for number in ports.numbers if number is not None}
    for use, number in zip(asked, ports.numbers, strict=True):
        if number is not None and RATES[use.rate].lanes == 4:
            assert number % 2 == 1
            assert number + 1 not in taken


@pytest.mark.parametrize("subnet", [TREE_SUBNET, LISTED_SUBNET], ids=["tree", "listed"])
def test_every_end_of_a_link_has_a_port_of_its_own(subnet: Subnet) -> None:
    ends = [end for link in links_of(subnet) for end in ((link.a, link.a_port), (link.b, link.b_port))]
    assert len(set(ends)) == len(ends)
    assert {link.b for link in links_of(subnet) if link.to_hca} == {hca.name for hca in hcas_of(subnet)}


def test_what_is_asked_of_a_switch_is_what_its_links_are() -> None:
    for subnet in (TREE_SUBNET, LISTED_SUBNET):
        asked: Counter[str] = Counter()
        for one in subnet.demand:
            asked[one.switch] += one.ports
        ends = Counter(link.a for link in links_of(subnet))
        ends += Counter(link.b for link in links_of(subnet) if not link.to_hca)
        assert asked == ends


def test_a_port_that_is_named_is_kept_and_others_are_placed_around_it() -> None:
    a, b = switches_of(LISTED_SUBNET)
    between = [link for link in links_of(LISTED_SUBNET) if not link.to_hca]
    assert [(link.a_port, link.b_port) for link in between] == [(40, 1), (1, 2), (3, 3)]
    assert (a.ports, b.ports) == (80, 40)


def test_a_switch_that_is_overfull_is_built_and_says_what_is_asked_of_it() -> None:
    subnet = subnet_of(spoilt(TREE, ("uplinks: 4 x NDR", "uplinks: 40 x NDR")))
    unplaced = Counter(link.a for link in links_of(subnet) if link.a_port is None)
    # 64 ports: 4 hosts, one of sm1 or store1, and 80 uplinks; leaf1 has both of those.
    assert unplaced == {"leaf1": 22, "leaf2": 21, "leaf3": 20, "leaf4": 20}


def test_the_tiers_of_a_tree_are_counted_from_its_leaves() -> None:
    tiers = {switch.name: switch.tier for switch in switches_of(TREE_SUBNET)}
    assert tiers == {"leaf1": 0, "leaf2": 0, "leaf3": 0, "leaf4": 0, "spine1": 1, "spine2": 1}
    assert not isinstance(TREE_SUBNET.shape, Unknown)
    assert TREE_SUBNET.shape.roots == TREE_SUBNET.routing.roots == ("spine1", "spine2")


def test_options_are_those_that_are_stated_and_those_that_follow() -> None:
    assert options_of(TREE_SUBNET) == {
        "routing_engine": "ftree",
        "qos": "TRUE",
        "max_op_vls": "3",
        "qos_max_vls": "4",
        "qos_high_limit": "255",
        "qos_vlarb_high": "0:192",
        "qos_vlarb_low": "0:64,1:32",
        "qos_sl2vl": "0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0",
        "max_wire_smps": "16",
        "use_ucast_cache": "TRUE",
    }
    written = {option.key for option in TREE_SUBNET.options if not option.derived}
    assert written == {"max_wire_smps", "use_ucast_cache"}


@pytest.mark.parametrize(
    ("change", "sl2vl"),
    [
        (("  high_limit: 255", "  rest: storage\n  high_limit: 255"), "0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"),
        (("compute: {sl: 0", "compute: {sl: 1"), "15,0,15,1,15,15,15,15,15,15,15,15,15,15,15,15"),
    ],
    ids=["rest", "no-sl-0"],
)
def test_service_levels_that_none_names_use_the_lane_of_rest_or_of_sl_0_or_none(
    change: tuple[str, str], sl2vl: str
) -> None:
    assert options_of(subnet_of(spoilt(TREE, change)))["qos_sl2vl"] == sl2vl


def test_what_is_off_is_stated_and_what_is_left_out_is_not() -> None:
    head, tail = TREE[: TREE.index("qos:")], "partitions: {}\n"
    assert "qos" not in options_of(subnet_of(head + tail))
    assert options_of(subnet_of(f"{head}qos: off\n{tail}"))["qos"] == "FALSE"


@pytest.mark.parametrize(
    ("sharp", "text"),
    [("", None), ("sharp: off\n", "1"), ("sharp: {manager: h1}\n", "2")],
    ids=["", "off", "on"],
)
def test_opensm_of_nvidia_has_a_word_of_three_for_sharp(sharp: str, text: str | None) -> None:
    assert options_of(subnet_of(LISTED + sharp)).get("sharp_enabled") == text


def test_no_fallback_stands_after_the_engines() -> None:
    text = spoilt(TREE, ("engine: ftree,", "engine: [ftree, updn], fallback: off,"))
    assert options_of(subnet_of(text))["routing_engine"] == "ftree,updn,no_fallback"
    assert subnet_of(text).routing.engines == ("ftree", "updn")


def test_a_manager_runs_on_the_first_hca_of_its_host_or_on_a_switch() -> None:
    found = [(one.node, one.hca, one.priority, one.standby) for one in TREE_SUBNET.managers]
    assert found == [("sm1", "sm1:mlx5_0", 14, False), ("leaf1", None, 13, True)]
    (manager,) = subnet_of(
        spoilt(
            TREE,
            ("{on: sm1, priority: 14}, {on: leaf1, priority: 13, standby: true}", '{on: "store1:mlx5_1"}'),
        )
    ).managers
    assert (manager.node, manager.hca) == ("store1", "store1:mlx5_1")


def test_members_are_hcas_roles_ranges_guids_and_words() -> None:
    text = spoilt(TREE, ('"host[1-4]"', '["host[1-2]", "host3:mlx5_1", "0x00aa", SELF]'))
    partitions = subnet_of(text).partitions
    assert isinstance(partitions, tuple)
    found = [(m.hca or m.guid or m.word, m.membership) for m in partitions[1].members]
    assert found == [
        ("store1:mlx5_0", "full"),
        ("store1:mlx5_1", "full"),
        ("host1:mlx5_0", "limited"),
        ("host1:mlx5_1", "limited"),
        ("host2:mlx5_0", "limited"),
        ("host2:mlx5_1", "limited"),
        ("host3:mlx5_1", "limited"),
        (0xAA, "limited"),
        ("SELF", "limited"),
    ]
    assert (partitions[1].sl, partitions[1].rate, partitions[1].mtu_bytes) == (3, 17, 4096)


def test_hosts_that_take_part_in_reductions_are_those_that_compute() -> None:
    sharp = TREE_SUBNET.sharp
    assert sharp is not None
    assert sharp.hosts == tuple(f"host{number}" for number in range(1, 9))
    assert (sharp.am_node, sharp.excluded) == ("sm1", ("store1",))


def test_guids_are_stated_in_the_intent_or_beside_it(tmp_path: Path) -> None:
    text = spoilt(TREE, ("guids: {", "guid_file: guids.txt\nguids: {"))
    (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
    guids = tmp_path / "guids.txt"
    guids.write_text(
        "# of ibnetdiscover\nleaf1 0x0002c90300000009\nspine1 0x7  # overruled\n", encoding="utf-8"
    )
    subnet = resolve_subnet(load_subnet(load(tmp_path / "fabric.yaml")))
    stated = {switch.name: switch.guid for switch in switches_of(subnet) if switch.guid is not None}
    assert stated == {"leaf1": 0x0002C90300000009, "spine1": 0x0002C90300000001}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("leaf1", "guids.txt:1:1: expected a name and a GUID, as in: leaf1 0x0002c90300a1b2c3"),
        ("leaf9 0x1", "guids.txt:1:1: there is no switch or HCA leaf9; did you mean leaf4?"),
        ("leaf1 xyz", "guids.txt:1:1: 'xyz' is no number of 64 bits; write it like 0x0002c90300a1b2c3"),
        (None, "fabric.yaml:11:12: guid_file: "),
    ],
    ids=["half", "name", "number", "missing"],
)
def test_what_is_wrong_with_a_file_of_guids_is_said_with_its_line(
    tmp_path: Path, line: str | None, message: str
) -> None:
    text = spoilt(TREE, ("guids: {", "guid_file: guids.txt\nguids: {"))
    (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
    if line is not None:
        (tmp_path / "guids.txt").write_text(line, encoding="utf-8")
    with pytest.raises(InputError) as error:
        resolve_subnet(load_subnet(load(tmp_path / "fabric.yaml")))
    assert str(error.value).removeprefix(f"{tmp_path}/").startswith(message)


def test_a_simulated_subnet_has_a_guid_everywhere_and_keeps_those_that_are_stated() -> None:
    subnet = with_derived_guids(TREE_SUBNET)
    found = {switch.name: switch.guid for switch in switches_of(subnet)}
    found |= {hca.name: hca.guid for hca in hcas_of(subnet)}
    assert None not in found.values()
    assert len(set(found.values())) == len(found)
    assert (found["spine1"], found["sm1:mlx5_0"]) == (0x0002C90300000001, 0x0002C90300000002)
    assert isinstance(subnet.partitions, tuple)
    members = [member for partition in subnet.partitions for member in partition.members if member.hca]
    assert members
    assert all(member.guid == found[member.hca or ""] for member in members)


def test_keys_of_the_subnet_are_named_and_never_held() -> None:
    assert [(one.key, one.variable) for one in TREE_SUBNET.secrets] == [("m_key", "FABRIC_M_KEY")]
    assert "m_key" not in options_of(TREE_SUBNET)


def test_keys_of_gv_cfg_keep_their_section() -> None:
    assert [(one.section, one.key, one.text) for one in LISTED_SUBNET.gv] == [
        ("Sharp", "enable_sharp_allocation", "true")
    ]


def topologies_of_the_guide() -> list[str]:
    guide = (ROOT / "docs" / "guides" / "infiniband.md").read_text(encoding="utf-8")
    return re.findall(r"^```yaml\n(topology:.*?)^```$", guide, re.MULTILINE | re.DOTALL)


def test_topologies_of_the_guide_are_what_they_say() -> None:
    head, kinds = TREE[: TREE.index("topology:")], []
    for topology in topologies_of_the_guide():
        subnet = subnet_of(f"{head}{topology}subnet_manager: {{manager: opensm, hosts: [{{on: host1}}]}}\n")
        assert not isinstance(subnet.shape, Unknown)
        kinds.append(subnet.shape.kind)
    assert kinds == ["fat-tree", "dragonfly-plus", "torus", "explicit"]


TORUS = """\
lossless: v1
fabric: torus
transport: infiniband
flavour: upstream
hardware: {switch: nvidia-qm8700, hca: connectx-6}
topology:
  torus: {sides: [4, 2, 3], links: 2 x HDR, hosts_per_switch: 3, host_links: 1 x HDR100}
  hosts: {sm1: {at: sw-1-1-1, links: 1 x HDR, role: management}, gate: {at: sw-0-0-0, links: 2 x HDR100}}
subnet_manager: {manager: opensm, hosts: [{on: sm1}], routing: {engine: dor}}
"""


def test_each_direction_of_a_torus_has_the_same_ports_at_every_switch_whoever_hangs_there() -> None:
    subnet = subnet_of(TORUS)
    place = {switch.name: switch.coordinates for switch in switches_of(subnet)}
    ports: dict[tuple[int, int], set[tuple[int | None, ...]]] = {}
    bundles: dict[tuple[str, int, int], list[int | None]] = {}
    for link in links_of(subnet):
        if not link.to_hca:
            axis = next(
                n for n, (a, b) in enumerate(zip(place[link.a], place[link.b], strict=True)) if a != b
            )
            bundles.setdefault((link.a, axis, 1), []).append(link.a_port)
            bundles.setdefault((link.b, axis, -1), []).append(link.b_port)
    for (_, axis, way), numbers in bundles.items():
        ports.setdefault((axis, way), set()).add(tuple(numbers))
    # Links of all lanes take the odd port of a pair; both ends of the side of two have its one bundle identical.
    assert ports == {
        (0, 1): {(1, 3)},
        (0, -1): {(5, 7)},
        (1, 1): {(9, 11)},
        (1, -1): {(9, 11)},
        (2, 1): {(13, 15)},
        (2, -1): {(17, 19)},
    }


TORUS_OF_LANES = """\
lossless: v1
fabric: torus
transport: infiniband
flavour: upstream
hardware: {switch: nvidia-qm8700, hca: connectx-6}
topology: {torus: {sides: [4, 3], links: 2 x HDR, hosts_per_switch: 2, host_links: 1 x HDR}}
subnet_manager:
  manager: opensm
  hosts: [{on: host1, priority: 15}]
  routing: {engine: torus-2QoS, fallback: off}
qos:
  vls: 8
  levels: {jobs: {sl: 0, vl: 0, high: 64, low: 32}}
"""


@pytest.mark.parametrize(
    ("levels", "vls", "tables"),
    [
        (
            "",
            8,
            {
                "swe_high": "0:64,1:64,2:64,3:64",
                "swe_low": "0:32,1:32,2:32,3:32",
                "ca_high": "0:64",
                "ca_low": "0:32",
            },
        ),
        (
            ", storage: {sl: 8, vl: 1, low: 16}",
            8,
            {
                "swe_high": "0:64,1:64,2:64,3:64",
                "swe_low": "0:32,1:32,2:32,3:32,4:16,5:16,6:16,7:16",
                "ca_high": "0:64",
                "ca_low": "0:32,1:16",
            },
        ),
        ("", 2, {"swe_high": "0:64,1:64", "swe_low": "0:32,1:32", "ca_high": "0:64", "ca_low": "0:32"}),
    ],
)
def test_torus_2qos_has_a_weight_on_every_lane_it_uses(levels: str, vls: int, tables: dict[str, str]) -> None:
    text = spoilt(TORUS_OF_LANES, ("low: 32}", f"low: 32}}{levels}"))
    options = options_of(subnet_of(spoilt(text, ("vls: 8", f"vls: {vls}"))))
    of_kind = {
        f"{kind}_{table}": options[f"qos_{kind}_vlarb_{table}"]
        for kind in ("swe", "ca")
        for table in ("high", "low")
    }
    assert of_kind == tables
    assert not {"qos_vlarb_high", "qos_vlarb_low"} & set(options)


@pytest.mark.parametrize("engine", ["lash", "dfsssp", "nue"])
def test_an_engine_of_lanes_has_all_of_them(engine: str) -> None:
    options = options_of(subnet_of(spoilt(TORUS_OF_LANES, ("torus-2QoS", engine))))
    assert options["qos_sl2vl"] == "0,1,2,3,4,5,6,7,0,0,0,0,0,0,0,0"
    assert options["qos_vlarb_high"] == ",".join(f"{vl}:64" for vl in range(8))
    assert options["qos_vlarb_low"] == ",".join(f"{vl}:32" for vl in range(8))
