"""Texts of NX-OS: what they say, in which mode, however they are indented."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.api import Options, lint_documents
from lossless.formats.inputs.switches import configuration_in, read_switch
from lossless.formats.switches.nxos.read.dme import looks_like_nxos, read_running_config
from lossless.formats.switches.nxos.read.grammar import (
    Key,
    NxosConfig,
    PauseBuffer,
    RandomDetect,
    Settings,
    port_names,
)
from lossless.formats.switches.nxos.session import session
from lossless.formats.switches.written_numbers import DSCP_NAMES, indexes
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.configured_switch import ReadSwitch
from lossless.model.fabric.model import Port
from lossless.model.fabric.qos import UNREADABLE, PortQos
from tests.paths import RULE_BASES

LEAF = (RULE_BASES / "switch-nxos.txt").read_text()


def config(text: str) -> NxosConfig:
    return read_running_config(text, "leaf1")[1]


def read(text: str) -> ReadSwitch:
    document = configuration_in(text, "leaf1.cfg")
    assert document is not None
    assert document.dialect == "nxos"
    return read_switch(document).read


def values(settings: Settings) -> dict[Key, object]:
    return {key: setting.value for key, setting in settings.items()}


def everything(text: str) -> dict[object, Any]:
    """Return all settings of a text, without their places."""
    have = config(text)
    return {
        "switch": values(have.switch),
        **{("port", name): values(have.settings_of(name)) for name in have.ports},
        **{("class map", *name): values(settings) for name, settings in have.class_maps.items()},
        **{
            ("policy", *name): [(cls, values(settings)) for cls, settings in policy.below.items()]
            for name, policy in have.policies.items()
        },
    }


def port(text: str, name: str = "Ethernet1/1") -> Port:
    return next(each for each in read(text).switch.ports if each.name == name)


def qos(text: str, name: str = "Ethernet1/1") -> PortQos:
    have = port(text, name).qos
    assert have is not None
    return have


# --- modes ---


def flat(text: str) -> str:
    return "".join(f"{line.strip()}\n" for line in text.splitlines())


def test_a_text_says_the_same_without_indentation() -> None:
    assert everything(flat(LEAF)) == everything(LEAF)


def test_a_text_says_the_same_with_prompts() -> None:
    prompts = {"": "leaf1(config)# ", "  ": "leaf1(config-if)# ", "    ": "leaf1(config-pmap-c-qos)# "}
    lines = [
        prompts[line[: len(line) - len(line.lstrip())]] + line.strip()
        for line in LEAF.splitlines()
        if line != "!"
    ]
    assert everything("leaf1# conf t\n" + "\n".join(lines) + "\nleaf1(config)#\n") == everything(LEAF)


def test_one_prompt_may_stand_before_all_lines() -> None:
    lines = "".join(f"leaf1(config)# {line.strip()}\n" for line in LEAF.splitlines() if line != "!")
    have, want = everything(lines), everything(LEAF)
    # The line of the watchdog is the switch's by its prompt, and the port's by nothing.
    for key in (("watchdog",), ("log-only",)):
        del want["port", "Ethernet1/1"][key]
    assert have == want


def test_marks_of_comments_leave_no_mode() -> None:
    text = LEAF.replace("    mtu 9216\n    pause", "!\n    mtu 9216\n! why\n# how\n    pause") + "!! end\n"
    assert everything(text) == everything(LEAF)


def test_exit_leaves_one_mode_and_end_all() -> None:
    text = (
        "policy-map type network-qos N\nclass type network-qos c-8q-nq3\nmtu 9216\nexit\n"
        "class type network-qos c-8q-nq4\npause pfc-cos 4\nexit\nexit\n"
        "priority-flow-control watch-dog-interval on\ninterface e1/1\nend\n"
        "priority-flow-control watch-dog-interval off\n"
    )
    have = config(text)
    assert list(have.policies["network-qos", "N"].below) == ["c-8q-nq3", "c-8q-nq4"]
    assert values(have.switch) == {("watchdog",): False, ("log-only",): False}
    assert have.ports == {"Ethernet1/1": {}}


def test_a_line_of_two_modes_belongs_to_the_one_that_its_indentation_says() -> None:
    line = "priority-flow-control watch-dog-interval on\n"
    inside, behind = f"interface e1/1\n  mtu 9000\n  {line}", f"interface e1/1\n  mtu 9000\n{line}"
    assert ("watchdog",) in config(inside).ports["Ethernet1/1"]
    assert ("watchdog",) in config(behind).switch
    assert ("watchdog",) in config(f"interface e1/1\nmtu 9000\n{line}").ports["Ethernet1/1"]


def test_a_prompt_of_the_switch_ends_all_modes() -> None:
    lines = (
        "(config)# int e1/1",
        "(config-if)# mtu 9000",
        "(config)# priority-flow-control watch-dog-interval on",
    )
    have = config("".join(f"leaf1{line}\n" for line in lines))
    assert values(have.ports["Ethernet1/1"]) == {("mtu",): 9000}
    assert have.switch["watchdog",].value


def test_a_line_of_one_mode_stays_in_it_where_its_indentation_is_lost() -> None:
    text = "interface e1/1\n  mtu 9000\npriority-flow-control mode on\n"
    assert values(config(text).ports["Ethernet1/1"])["pfc",] == "on"


def test_a_command_of_the_switch_ends_a_mode_and_an_unknown_one_does_not() -> None:
    text = "interface e1/1\nno cdp enable\nmtu 9000\nvlan 7\nmtu 1500\n"
    assert values(config(text).ports["Ethernet1/1"]) == {("mtu",): 9000}


def test_two_blocks_of_one_policy_add_up() -> None:
    text = (
        "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    mtu 9216\n"
        "policy-map type network-qos N\n  class type network-qos c-8q-nq4\n    mtu 2240\n"
        "  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n"
    )
    below = config(text).policies["network-qos", "N"].below
    assert values(below["c-8q-nq3"]) == {("mtu",): 9216, ("pause", 3): True}
    assert list(below) == ["c-8q-nq3", "c-8q-nq4"]


def test_port_profiles_are_inherited_and_overridden() -> None:
    text = (
        "port-profile type ethernet BASE\nmtu 9216\npriority-flow-control mode on\nstate enabled\nexit\n"
        "port-profile type ethernet FAST\ninherit port-profile BASE\nspeed 100000\nexit\n"
        "interface e1/1-2\ninherit port-profile FAST\nmtu 4200\nexit\n"
    )
    have = config(text)
    assert values(have.settings_of("Ethernet1/2")) == {
        ("mtu",): 4200,
        ("pfc",): "on",
        ("inherit",): "FAST",
        ("speed",): 100 * 10**9,
    }


def test_port_profiles_may_inherit_in_a_ring() -> None:
    text = "port-profile A\ninherit port-profile A\nmtu 9000\nexit\ninterface e1/1\ninherit port-profile A\n"
    assert values(config(text).settings_of("Ethernet1/1"))["mtu",] == 9000


def test_a_member_has_the_policies_of_its_port_channel() -> None:
    text = LEAF + (
        "interface port-channel7\n  no switchport\n  service-policy type qos input MARKS\n"
        "interface Ethernet1/7\n  priority-flow-control mode on\n  channel-group 7 mode active\n"
    )
    have = read(text)
    assert have.trusts["Ethernet1/7"] == have.trusts["port-channel7"] == "dscp"
    assert "Ethernet1/7" in have.untagged
    assert port(text, "Ethernet1/7").lag == "port-channel7"


def test_what_a_member_says_itself_counts() -> None:
    text = LEAF + (
        "interface port-channel7\n  priority-flow-control mode on\n"
        "interface Ethernet1/7\n  priority-flow-control mode off\n  channel-group 7\n"
    )
    assert qos(text, "Ethernet1/7").pfc.priorities == ()


def test_what_a_member_of_a_channel_elsewhere_reads_is_not_known() -> None:
    text = LEAF + "interface Ethernet1/7\n  priority-flow-control mode on\n  channel-group 7\n"
    assert "Ethernet1/7" not in read(text).trusts
    dscps = qos(text, "Ethernet1/7").dscp_to_tc
    assert dscps is not None
    assert set(dscps.targets) == {UNREADABLE}


@given(st.lists(st.tuples(st.integers(0, 9), st.text("ab!#/ 0", max_size=5)), max_size=40))
def test_no_text_is_too_odd_to_be_read(lines: list[tuple[int, str]]) -> None:
    text = "\n".join(" " * indent + word for indent, word in lines)
    document, _ = read_running_config(text, "leaf1")
    assert sum(1 for command in document.top for _ in (command, *command.all())) <= len(lines)


def test_the_place_of_a_command_is_its_line() -> None:
    document, have = read_running_config(LEAF, "leaf1")
    origin = have.policies["network-qos", "CLASSES"].below["c-8q-nq3"]["pause", 3].origin
    assert document.line_text(document.locate(origin.path).line).strip() == "pause pfc-cos 3"


# --- names and numbers ---


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ethernet 1/1", ["Ethernet1/1"]),
        ("e1/1/1-2,e1/2/1", ["Ethernet1/1/1", "Ethernet1/1/2", "Ethernet1/2/1"]),
        ("eth1/1, 1/3-4", ["Ethernet1/1", "Ethernet1/3", "Ethernet1/4"]),
        ("Ethernet1/1/1-2,Ethernet1/2/1-2", [f"Ethernet1/{n}/{m}" for n in (1, 2) for m in (1, 2)]),
        ("Ethernet 1/1-1/3", ["Ethernet1/1", "Ethernet1/2", "Ethernet1/3"]),
        ("Ethernet1/1/3-1/1/4", ["Ethernet1/1/3", "Ethernet1/1/4"]),
        ("ethernet1/1 - ethernet1/2", ["Ethernet1/1", "Ethernet1/2"]),
        ("Ethernet1/1-2/4", ["Ethernet1/1-2/4"]),
        ("po7", ["port-channel7"]),
        ("port-channel 7", ["port-channel7"]),
        ("mgmt0", ["mgmt0"]),
        ("Ethernet1/9-1", ["Ethernet1/9-1"]),
    ],
)
def test_interfaces_by_every_name(text: str, names: list[str]) -> None:
    assert list(port_names(text)) == names


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("ef", [46]),
        ("cs3,af31", [24, 26]),
        ("24-26,cs6", [24, 25, 26, 48]),
        ("default", [0]),
        ("cs1-cs2", list(range(8, 17))),
        ("18, 20", [18, 20]),
        ("64", None),
        ("af34", None),
        ("", None),
    ],
)
def test_lists_of_dscps(text: str, numbers: list[int] | None) -> None:
    assert indexes(text, 63, DSCP_NAMES) == numbers


def test_the_names_of_dscps_are_those_of_their_rfcs() -> None:
    assert (DSCP_NAMES["cs7"], DSCP_NAMES["af11"], DSCP_NAMES["af43"], DSCP_NAMES["ef"]) == (56, 10, 38, 46)
    assert len(DSCP_NAMES) == 1 + 1 + 7 + 12


# --- what commands say ---


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("priority-flow-control mode on send-tlv", {("pfc",): "on"}),
        ("priority-flow-control mode auto", {("pfc",): "auto"}),
        ("no priority-flow-control mode on", {("pfc",): "auto"}),
        (
            "priority-flow-control watch-dog-interval on disable-action",
            {("watchdog",): True, ("log-only",): True},
        ),
        ("no priority-flow-control watch-dog-interval on", {("watchdog",): False, ("log-only",): False}),
        ("service-policy type qos input A no-stats", {("policy", "qos", "input"): "A"}),
        ("service-policy input A", {("policy", "qos", "input"): "A"}),
        ("service-policy type queuing output A", {("policy", "queuing", "output"): "A"}),
        ("no service-policy type qos input A", {("policy", "qos", "input"): None}),
        ("speed 10000", {("speed",): 10**10}),
        ("speed auto", {}),
        ("switchport mode access", {("access",): True}),
        ("flowcontrol receive off", {("flowcontrol", "receive"): "off"}),
        ("storm-control unicast level 50.5", {("storm",): 50.5}),
        ("shutdown", {("up",): False}),
        ("description priority-flow-control mode off", {}),
    ],
)
def test_what_a_line_of_an_interface_says(line: str, says: dict[object, object]) -> None:
    have = config(f"interface Ethernet1/1\n  {line}\n")
    assert values(have.ports["Ethernet1/1"]) == says
    assert [*have.unread, *have.impossible, *have.refused] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("match dscp 24,af31", {("dscp", 24): True, ("dscp", 26): True}),
        ("match cos 1-2,4", {("cos", 1): True, ("cos", 2): True, ("cos", 4): True}),
        ("match precedence 3", {("dscp", n): True for n in range(24, 32)}),
        ("match qos-group 3", {("qos-group", 3): True}),
        ("match access-group name acl1", {("other",): "access-group name acl1"}),
    ],
)
def test_what_a_line_of_a_class_map_says(line: str, says: dict[object, object]) -> None:
    assert values(config(f"class-map type qos A\n  {line}\n").class_maps["qos", "A"]) == says


@pytest.mark.parametrize(
    ("kind", "line", "says"),
    [
        ("qos", "set qos-group 3", {("qos-group",): 3}),
        ("qos", "set dscp 26", {("marked",): 26}),
        ("qos", "police cir 10 gbps", {("police",): "cir 10 gbps"}),
        ("network-qos", "pause pfc-cos 3,4", {("pause", 3): True, ("pause", 4): True}),
        ("network-qos", "pause no-drop", {("no-drop",): True}),
        ("network-qos", "pause no-drop pfc-cos 3", {("no-drop",): True, ("pause", 3): True}),
        ("network-qos", "pause pfc-cos 3 receive", {("receive",): True, ("pause", 3): True}),
        ("network-qos", "no congestion-control random-detect", {}),
        ("network-qos", "mtu 9216", {("mtu",): 9216}),
        (
            "queuing",
            "pause buffer-size 101920 pause-threshold 46800 resume-threshold 34320",
            {("buffer",): PauseBuffer(101920, 46800, 34320)},
        ),
        ("queuing", "bandwidth percent 5", {("percent",): 5}),
        ("queuing", "priority level 1", {("priority",): 1}),
        (
            "queuing",
            "random-detect minimum-threshold 150 kbytes maximum-threshold 3 mbytes drop-probability 7 weight 0 ecn",
            {("ecn",): RandomDetect(150_000, 3_000_000, 7, ecn=True)},
        ),
        (
            "queuing",
            "random-detect minimum-threshold 9 packets maximum-threshold 9 us drop-probability 7",
            {("ecn",): RandomDetect(None, None, 7, ecn=False)},
        ),
        (
            "queuing",
            "random-detect threshold burst-optimized ecn",
            {("ecn",): RandomDetect(None, None, None, ecn=True)},
        ),
    ],
)
def test_what_a_line_of_a_class_says(kind: str, line: str, says: dict[object, object]) -> None:
    have = config(f"policy-map type {kind} P\n  class type {kind} A\n    {line}\n")
    assert values(have.policies[kind, "P"].below["A"]) == says
    assert [*have.unread, *have.impossible, *have.refused] == []


@pytest.mark.parametrize(
    "line",
    [
        "match dscp 64",
        "match cos 8",
        "set qos-group 8",
        "mtu 9217",
        "pause pfc-cos 8",
        "bandwidth percent 101",
        "priority level 9",
        "random-detect minimum-threshold 1 kbytes maximum-threshold 2 kbytes drop-probability 101 weight 0 ecn",
        "random-detect minimum-threshold 1 kbytes maximum-threshold 52428801 kbytes drop-probability 1 weight 0 ecn",
        "random-detect minimum-threshold 52428801 bytes maximum-threshold 9 mbytes drop-probability 1 weight 0 ecn",
        "random-detect minimum-threshold 1 kbytes maximum-threshold 2 kbytes drop-probability 1 weight 16 ecn",
        "pause buffer-size 4999 pause-threshold 1 resume-threshold 0",
    ],
)
def test_a_value_that_cannot_be_is_refused(line: str) -> None:
    blocks = (
        "class-map type qos A\n",
        *(f"policy-map type {kind} P\n class type {kind} A\n" for kind in ("qos", "network-qos", "queuing")),
    )
    assert any(line in said for block in blocks for _, said in config(f"{block}  {line}\n").impossible)


@pytest.mark.parametrize(
    "line",
    [
        "priority-flow-control watch-dog",
        "priority-flow-control watch-dog-interval 200",
        "priority-flow-control priority 3 no-drop",
        "service-policy type network-qos CLASSES",
    ],
)
def test_a_line_that_nxos_does_not_have_says_what_is_meant(line: str) -> None:
    (refused,) = read(f"{LEAF}interface Ethernet1/1-8\n  {line}\n").refused
    assert line in refused.what
    assert refused.help


def test_a_curve_that_is_split_over_lines_is_refused_line_by_line() -> None:
    lines = "    random-detect minimum-threshold 150 kbytes\n    maximum-threshold 3000 kbytes drop-probability 7\n"
    text = f"policy-map type queuing P\n  class type queuing c-out-8q-q3\n{lines}"
    assert [line for _, line, _ in config(text).refused] == [line.strip() for line in lines.splitlines()]


def test_a_line_about_qos_that_is_not_known_is_named_once_and_others_are_left_alone() -> None:
    text = f"{LEAF}interface Ethernet1/2-9\n  service-policy sideways X\n  ip address 10.0.0.1/31\n"
    assert read(text).unread == ("line 44: 'service-policy sideways X' is not read",)


@pytest.mark.parametrize(
    ("kind", "lines", "left"),
    [
        ("network-qos", "pause pfc-cos 3\nno pause pfc-cos 3\nmtu 9216", {("mtu",): 9216}),
        ("queuing", "bandwidth remaining percent 5\nno bandwidth remaining percent 5", {}),
        ("queuing", "priority level 1\nno priority level 1", {}),
        ("qos", "set qos-group 3\npolice cir 1 gbps\nno police cir 1 gbps", {("qos-group",): 3}),
    ],
)
def test_no_takes_a_setting_back(kind: str, lines: str, left: dict[object, object]) -> None:
    have = config(f"policy-map type {kind} P\nclass type {kind} A\n{lines}\n")
    assert values(have.policies[kind, "P"].below["A"]) == left
    assert values(config("interface e1/1\nchannel-group 7\nno channel-group\n").ports["Ethernet1/1"]) == {}


@pytest.mark.parametrize(
    "text",
    [
        "class type network-qos c-8q-nq3\n  pause pfc-cos 3\n",
        "unknown mode\n  priority-flow-control mode on\n",
        "interface e1/1\n  storm-control unicast level pps 9\n",
    ],
)
def test_a_line_about_qos_is_always_named(text: str) -> None:
    last = text.splitlines()[-1].strip()
    assert last in [line for _, line in config(text).unread]


def test_other_policies_and_route_maps_are_left_alone() -> None:
    text = (
        "class-map type control-plane match-any C\n  match access-group name X\n"
        "policy-map type control-plane P\n  class C\n    police cir 1 kbps\n"
        "route-map R permit 10\n  match ip address prefix-list L\n  set local-preference 200\n"
    )
    assert not config(text).unread


def test_a_network_class_may_match_a_cos() -> None:
    text = (
        "class-map type qos A\n  match cos 3\nclass-map type network-qos B\n  match cos 3\n"
        "policy-map type qos P\n  class A\n    set qos-group 2\n"
        "policy-map type network-qos N\n  class type network-qos B\n    pause no-drop\n"
        "system qos\n  service-policy type qos input P\n  service-policy type network-qos N\n"
        "interface e1/1\n  priority-flow-control mode on\n"
    )
    assert (qos(text).pfc.priorities, qos(text).pausing_group(3)) == ((3,), 2)


# --- the switch that it makes ---


def test_without_a_line_dcbx_decides_and_nothing_is_known_to_be_paused() -> None:
    for line in ("", "  priority-flow-control mode auto\n"):
        text = LEAF.replace("  priority-flow-control mode on\n", line)
        assert qos(text).pfc.priorities == ()
        assert [group.number for group in qos(text).groups if group] == [3]
        assert read(text).silent == ()


def test_the_priority_of_a_class_is_that_of_its_pause_line() -> None:
    text = LEAF.replace("pause pfc-cos 3", "pause pfc-cos 4")
    have = qos(text)
    assert have.pfc.priorities == (4,)
    assert have.pausing_group(4) == 3
    assert [group.number for group in have.groups if group] == [3]


def test_a_pause_without_priority_has_the_cos_that_leads_to_its_class() -> None:
    text = (
        "class-map type qos match-all A\n  match cos 5\nclass-map type network-qos B\n  match qos-group 2\n"
        "policy-map type qos P\n  class A\n    set qos-group 2\n"
        "policy-map type network-qos N\n  class type network-qos B\n    pause no-drop\n"
        "system qos\n  service-policy type qos input P\n  service-policy type network-qos N\n"
        "interface e1/1\n  priority-flow-control mode on\n"
    )
    assert qos(text).pfc.priorities == (5,)
    assert qos(text).pausing_group(5) == 2
    assert read(text).trusts == {"Ethernet1/1": "pcp", "*": "pcp"}


@pytest.mark.parametrize(
    ("switch", "own", "watched"),
    [("on", "on", True), ("off", "on", False), ("on", "off", False), ("off", "off", False)],
)
def test_a_watchdog_takes_the_line_of_the_switch_and_of_the_port(
    switch: str, own: str, watched: bool
) -> None:
    line = "priority-flow-control watch-dog-interval on"
    text = LEAF.replace(f"\n{line}", f"\n{line[:-2]}{switch}").replace(f"  {line}", f"  {line[:-2]}{own}")
    assert (qos(text).watchdog is not None) == watched


def test_classes_are_matched_in_their_order() -> None:
    text = LEAF.replace("  match dscp 48\n", "  match dscp 26,48\n")
    dscps = read(text).maps.dscp_to_tc
    assert (dscps.sources(3), dscps.sources(7), len(dscps.sources(0))) == ((26,), (48,), 62)


def test_a_class_for_what_no_class_matches() -> None:
    text = LEAF.replace(
        "    set qos-group 7\n", "    set qos-group 7\n  class class-default\n    set qos-group 1\n"
    )
    assert read(text).maps.dscp_to_tc.sources(0) == ()
    assert read(text).maps.dscp_to_tc.targets[0] == 1


def test_what_an_access_list_matches_is_not_known() -> None:
    text = LEAF.replace("  match dscp 26\n", "  match dscp 26\n  match access-group name A\n")
    dscps = read(text).maps.dscp_to_tc
    assert (dscps.targets[26], dscps.targets[48], dscps.targets[0]) == (3, 7, UNREADABLE)


def test_mtu_and_speed_are_unknown_where_no_line_says_them() -> None:
    have = port("interface e1/1\n  service-policy type qos input A\n")
    assert have.mtu_bytes is UNKNOWN
    assert have.speed_bps is None


def test_a_text_without_interfaces_has_one_port_for_all() -> None:
    text = LEAF.partition("interface")[0]
    have = read(text)
    assert [each.name for each in have.switch.ports] == ["*"]
    assert [group.number for group in qos(text, "*").groups if group] == [3]


def test_priority_and_class_may_differ_and_no_rule_takes_one_for_the_other() -> None:
    text = LEAF.replace("pause pfc-cos 3", "pause pfc-cos 4")
    document = configuration_in(text, "leaf1.cfg")
    assert document is not None
    assert lint_documents([document], Options(rdma_dscps=(26,))).findings == ()
    document = configuration_in(text.replace(" ecn\n", "\n"), "leaf1.cfg")
    assert document is not None
    found = lint_documents([document], Options(rdma_dscps=(26,))).findings
    assert [(each.code, each.severity, each.data["queues"]) for each in found] == [("ECN001", "error", [3])]


def test_members_and_their_port_channel_share_pfc_and_its_watchdog() -> None:
    on, watched = "  priority-flow-control mode on\n", "  priority-flow-control watch-dog-interval on\n"
    channel, member = f"interface port-channel7\n{on}", "interface Ethernet1/7\n  channel-group 7\n"
    text = f"{LEAF}{channel}{member}{watched}"
    assert qos(text, "Ethernet1/7").pfc.priorities == (3,)
    assert qos(text, "port-channel7").watchdog is not None
    assert qos(f"{text}interface Ethernet1/8\n  channel-group 7\n", "port-channel7").watchdog is None


def test_marking_may_stand_in_the_network_policy() -> None:
    text = LEAF.replace(
        "    pause pfc-cos 3\n", "    pause pfc-cos 3\n    congestion-control random-detect ecn\n"
    )
    text = "".join(line for line in text.splitlines(keepends=True) if "minimum-threshold" not in line)
    queue = qos(text).queues[3]
    assert queue is not None
    assert queue.wred is not None
    assert queue.wred.marks


def test_queues_of_a_policy_that_is_bound_to_nothing_are_defined_and_in_no_port() -> None:
    text = LEAF.replace("  service-policy type queuing output QUEUES\n", "")
    (queue,) = (each for each in read(text).defined if each is not None and each.number == 3)
    assert queue.scheduler is not None
    assert queue.scheduler.weight == 60
    assert qos(text).queues == (None,) * 8
    assert [(each.kind, each.name) for each in read(text).unbound] == [("policy-map type queuing", "QUEUES")]


def test_the_qos_group_of_a_class_that_no_name_says_is_not_known() -> None:
    text = LEAF.replace("type network-qos c-8q-nq3", "type network-qos OTHER")
    assert qos(f"class-map type network-qos OTHER\n  match protocol fcoe\n{text}").groups == (None,) * 8


def test_fcoe_has_a_class_of_its_own_that_no_mark_leads_to() -> None:
    fcoe = "policy-map type network-qos F\n  class type network-qos class-fcoe\n    pause no-drop\n"
    bound = f"{fcoe}system qos\n  service-policy type network-qos F\n"
    text = f"{bound}interface Ethernet1/1\n  priority-flow-control mode on\n"
    assert qos(text).pfc.priorities == (3,)
    assert [group.number for group in qos(text).groups if group] == [1]
    assert read(text).trusts == {}


def test_an_access_port_gets_no_tags() -> None:
    assert "Ethernet1/1" in read(LEAF.replace("no switchport", "switchport mode access")).untagged


def test_a_port_with_an_address_is_routed() -> None:
    text = LEAF.replace("  no switchport\n", "  ip address 10.0.0.0/31\n")
    assert read(text).untagged == {"Ethernet1/1"}


def test_people_write_capitals_and_short_words() -> None:
    text = "Int eth1/1\n  Mtu 9216\n  Description Storage\n  shut\n"
    assert values(config(text).ports["Ethernet1/1"]) == {("mtu",): 9216, ("up",): False}


# --- whose text it is ---


@pytest.mark.parametrize(
    "text",
    [
        "interface Ethernet1\n  priority-flow-control on\n",
        "qos map dscp 26 to traffic-class 3\nclass-map type qos match-any A\n",
        "policy-map type quality-of-service A\n  class B\n    set traffic-class 3\nclass-map type qos match-any B\n",
        "class-map type network-qos A\npolicy-map type network-qos P\n class A\n  pause\n  pfc-cos 3\n",
        "nv set qos roce\n",
        "max_op_vls 5\n",
    ],
)
def test_texts_of_others_are_not_taken(text: str) -> None:
    assert not looks_like_nxos(text)


@pytest.mark.parametrize(
    "line",
    [
        "priority-flow-control watch-dog shutdown-multiplier 10",
        "priority-flow-control auto-restore multiplier 100",
        "priority-flow-control fixed-restore multiplier 5",
        "interface Ethernet1/1\n  priority-flow-control watch-dog-interval on interface-multiplier 10",
    ],
)
def test_a_multiplier_of_the_watchdog_is_not_checked(line: str) -> None:
    assert len(read(f"{LEAF}{line}\n").unread) == 1
    assert read(f"{LEAF}priority-flow-control watch-dog interval 200\n").unread == ()


TIMERS = """\
priority-flow-control watch-dog interval 200
priority-flow-control watch-dog shutdown-multiplier 3
priority-flow-control auto-restore multiplier 10
interface Ethernet1/1
  priority-flow-control watch-dog-interval on interface-multiplier 5
"""


def test_times_of_the_watchdog_are_multiples_of_its_interval() -> None:
    """The multiplier of a port comes before that of the switch; without an interval no time is known."""
    found = read(LEAF + TIMERS)
    times = {port.name: port.qos.watchdog for port in found.switch.ports if port.qos is not None}
    assert {name: dog and dog.settings[:2] for name, dog in times.items()} == {
        "Ethernet1/1": (1000, 2000),
        **{name: (600, 2000) for name in times if name != "Ethernet1/1"},
    }
    assert (found.switch.qos.poll.poll_ms, found.unread) == (200, ())
    without = read(LEAF + TIMERS.split("\n", 1)[1]).switch
    dogs = [port.qos.watchdog for port in without.ports if port.qos is not None]
    assert {dog and dog.settings[:2] for dog in dogs} == {(None, None)}


@pytest.mark.parametrize(
    ("lines", "recovery"),
    [
        ("", "quiet"),
        ("priority-flow-control fixed-restore multiplier 0\n", "quiet"),
        ("priority-flow-control fixed-restore multiplier 5\n", "unknown"),
    ],
)
def test_what_the_fixed_restore_multiplier_adds_is_unknown(lines: str, recovery: str) -> None:
    found = read(LEAF + lines + TIMERS).switch
    assert {port.qos.watchdog.recovery for port in found.ports if port.qos and port.qos.watchdog} == {
        recovery
    }


def test_a_time_of_restoration_that_no_line_states_is_unknown() -> None:
    found = read(LEAF + TIMERS.replace("priority-flow-control auto-restore multiplier 10\n", "")).switch
    dogs = {port.qos.watchdog for port in found.ports if port.qos and port.qos.watchdog}
    assert {(dog.restoration_ms, dog.recovery) for dog in dogs} == {(None, "unknown")}


def test_a_session_takes_times_back_that_are_not_wanted() -> None:
    running, wanted = (
        document for text in (LEAF + TIMERS, LEAF) if (document := configuration_in(text, "leaf1.cfg"))
    )
    commands = session(running, wanted)
    for line in (
        "no priority-flow-control watch-dog interval 200",
        "no priority-flow-control watch-dog shutdown-multiplier 3",
        "no priority-flow-control auto-restore multiplier 10",
        "  no priority-flow-control watch-dog-interval on interface-multiplier 5",
    ):
        assert line in commands
