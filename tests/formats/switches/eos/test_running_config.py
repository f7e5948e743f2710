"""Running configurations of EOS: what they say, in which mode, and from which line on they say nothing known."""

from __future__ import annotations

import signal

import pytest
from hypothesis import given, strategies as st

from lossless.formats.inputs.switches import read_switch
from lossless.formats.switches.eos.read.grammar import EcnThresholds, EosConfig, interface_names, speed_bps
from lossless.formats.switches.eos.read.structured import looks_like_eos, read_running_config
from lossless.formats.switches.written_numbers import indexes
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.configured_switch import ReadSwitch
from lossless.model.fabric.qos import UNREADABLE
from tests.paths import RULE_BASES

LEAF = (RULE_BASES / "switch-leaf.txt").read_text()


def config(text: str) -> EosConfig:
    return read_running_config(text, "leaf1")[1]


def read(text: str) -> ReadSwitch:
    document = read_running_config(text, "leaf1")[0]
    document.dialect = "eos"
    return read_switch(document).read


def values(text: str, port: str = "Ethernet1") -> dict[tuple[str | int, ...], object]:
    return {key: setting.value for key, setting in config(text).interfaces[port].items()}


# --- modes ---

INDENTED = """
interface Ethernet1
   mtu 9214
   !
   tx-queue 3
      bandwidth percent 60
   !
   no switchport
"""
FLAT = "\n".join(line.strip() for line in INDENTED.splitlines() if line.strip() != "!")


@pytest.mark.parametrize("text", [INDENTED, FLAT], ids=["indented", "flat"])
def test_commands_stand_in_their_mode_whether_they_are_indented_or_not(text: str) -> None:
    assert values(text) == {
        ("mtu",): 9214,
        ("queue", 3): True,
        ("queue", 3, "percent"): 60,
        ("routed",): True,
    }


def test_a_queue_of_an_interface_that_is_written_flat_takes_no_command_of_the_interface() -> None:
    text = "interface Ethernet1\n   uc-tx-queue 5\n   random-detect ecn count\n   mtu 9000\n"
    document = read_running_config(text, "leaf1")[0]
    assert document.data == {
        "interface Ethernet1": {"uc-tx-queue 5": {"random-detect ecn count": {}}, "mtu 9000": {}}
    }


def test_exit_leaves_one_mode_and_end_all() -> None:
    text = "interface Ethernet1\ntx-queue 3\nbandwidth percent 5\nexit\nmtu 9000\nend\nhostname leaf1\n"
    document = read_running_config(text, "leaf1")[0]
    assert document.data == {
        "interface Ethernet1": {"tx-queue 3": {"bandwidth percent 5": {}}, "mtu 9000": {}},
        "hostname leaf1": {},
    }


def test_the_place_of_a_command_is_its_line() -> None:
    document, eos = read_running_config(LEAF, "leaf1")
    origin = eos.profiles["ROCE"]["no-drop", 3].origin
    assert document.line_text(document.locate(origin.path).line).strip() == origin.path[-1]


@given(st.lists(st.tuples(st.integers(0, 400), st.text("ab!/ 0", max_size=5)), max_size=60))
def test_no_text_is_too_odd_to_be_read(lines: list[tuple[int, str]]) -> None:
    text = "\n".join(" " * indent + word for indent, word in lines)
    document, _ = read_running_config(text, "leaf1")
    assert sum(1 for command in document.top for _ in (command, *command.all())) <= len(lines)


# --- what commands say ---


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("priority-flow-control on", {("pfc",): True}),
        ("priority-flow-control mode on", {("pfc",): True}),
        ("no priority-flow-control", {("pfc",): False}),
        ("priority-flow-control priority 3 no-drop", {("no-drop", 3): True}),
        ("priority-flow-control priority 3 drop", {("no-drop", 3): False}),
        ("no priority-flow-control priority 3", {("no-drop", 3): False}),
        ("qos trust dscp", {("trust",): "dscp"}),
        ("no qos trust", {("trust",): "none"}),
        ("priority-flow-control pause watchdog", {}),
        ("priority-flow-control pause watchdog port action drop", {("watchdog", "action"): "drop"}),
        (
            "priority-flow-control pause watchdog port timer timeout 0.2 polling-interval auto recovery-time 0.4",
            {("watchdog", "timeout"): 200, ("watchdog", "recovery-time"): 400, ("watchdog", "forced"): False},
        ),
        (
            "priority-flow-control pause watchdog port timer timeout 1 polling-interval 0.1 recovery-time 2 forced",
            {
                ("watchdog", "timeout"): 1000,
                ("watchdog", "polling-interval"): 100,
                ("watchdog", "recovery-time"): 2000,
                ("watchdog", "forced"): True,
            },
        ),
        ("speed forced 100gfull", {("speed",): 100 * 10**9}),
        ("speed forced 10000full", {("speed",): 10 * 10**9}),
        ("channel-group 4 mode active", {("lag",): "4"}),
        ("service-policy type qos input IN", {("policy",): "IN"}),
        ("flowcontrol receive on", {("flowcontrol", "receive"): "on"}),
        ("no flowcontrol send", {("flowcontrol", "send"): "off"}),
    ],
)
def test_what_a_line_of_an_interface_says(line: str, says: dict[object, object]) -> None:
    assert values(f"interface Ethernet1\n   {line}\n") == says


def test_thresholds_are_bytes_and_segments_are_of_no_size_that_is_known() -> None:
    line = "random-detect ecn minimum-threshold {} maximum-threshold {} max-mark-probability 20 weight 0"
    curves = {
        amounts: values(f"interface Ethernet1\n   tx-queue 3\n      {line.format(*amounts)}\n")[
            "queue", 3, "ecn"
        ]
        for amounts in (("150 kbytes", "1 mbytes"), ("10 segments", "20 segments"))
    }
    assert list(curves.values()) == [EcnThresholds(150_000, 1_000_000, 20), EcnThresholds(None, None, 20)]


def test_a_line_about_qos_that_is_not_known_is_named_and_others_are_left_alone() -> None:
    text = f"{LEAF}interface Ethernet2\n   qos something new\n   ip address 10.0.0.1/31\n"
    assert read(text).unread == ("line 30: 'qos something new' is not read",)


@pytest.mark.parametrize("indexes", ["1" * 40, "10 " * 4000, "1-" * 4000, "0-7, 8 ,9 " * 1000])
def test_a_long_list_of_numbers_that_leads_nowhere_is_named_at_once(indexes: str) -> None:
    """A pattern that splits digits in every way never ends on 28 of them; 20 s of processor time are far from it."""
    before = signal.signal(signal.SIGVTALRM, lambda *_: pytest.fail("the pattern does not end"))
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)
    try:
        assert len(read(f"{LEAF}qos map dscp {indexes} to x\n").unread) == 1
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("line", ["qos map dscp 99 to traffic-class 3", "qos map dscp 26 to traffic-class 8"])
def test_a_map_to_or_from_what_does_not_exist_is_refused(line: str) -> None:
    (refused,) = read(f"{LEAF}{line}\n").refused
    assert line in refused.what


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("priority-flow-control pause watchdog default timeout 61", "timeout is 61 s"),
        ("priority-flow-control pause watchdog default polling-interval 0.3", "polling interval is 0.3 s"),
        ("priority-flow-control all off", "all off is set"),
        ("qos profile ROCE\n   tx-queue 1\n      bandwidth percent 41", "adds up to 101 %"),
        (
            "interface Ethernet1\n   tx-queue 3\n      random-detect ecn minimum-threshold 2 mbytes "
            "maximum-threshold 1 mbytes",
            "the minimum threshold of tx-queue 3 is 2,000,000 B",
        ),
    ],
)
def test_what_validators_let_through_is_refused_here(lines: str, says: str) -> None:
    assert [says in refused.what for refused in read(f"{LEAF}{lines}\n").refused] == [True]


# --- the switch ---


def test_without_lines_the_maps_are_those_of_eos() -> None:
    dscp = read("interface Ethernet1\n   no switchport\n   qos trust dscp\n").maps.dscp_to_tc
    assert (dscp.targets[0], dscp.targets[8], dscp.targets[26], dscp.targets[48]) == (1, 0, 3, 6)


def test_where_defaults_are_printed_what_is_not_printed_is_unknown() -> None:
    text = "! Command: show running-config all\ninterface Ethernet1\n   qos trust dscp\n"
    assert set(read(text).maps.dscp_to_tc.targets) == {UNREADABLE}


@pytest.mark.parametrize(
    ("lines", "trust"),
    [("no switchport", (True, False)), ("switchport", (False, True)), ("no qos trust", (False, False))],
)
def test_a_routed_port_trusts_dscp_and_a_switched_one_cos(lines: str, trust: tuple[bool, bool]) -> None:
    (port,) = read(f"interface Ethernet1\n   {lines}\n").switch.ports
    assert port.qos is not None
    assert (port.qos.dscp_to_tc is not None, port.qos.trust_dot1p) == trust


def test_the_lines_of_an_interface_override_those_of_its_profile() -> None:
    text = f"{LEAF}interface Ethernet1\n   priority-flow-control priority 3 drop\n"
    (port,) = read(text).switch.ports
    assert port.qos is not None
    assert port.qos.pfc.priorities == ()


def test_the_watchdog_flag_sets_no_timer_and_so_no_watchdog() -> None:
    flag = "   priority-flow-control pause watchdog\n"
    text = f"interface Ethernet1\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n{flag}"
    (port,) = read(text).switch.ports
    assert port.qos is not None
    assert port.qos.watchdog is None


@pytest.mark.parametrize(
    ("lines", "recovery"),
    [
        ("port timer timeout 1 polling-interval 0.1 recovery-time 2 forced", (2000, "fixed")),
        ("port timer timeout 1 polling-interval 0.1 recovery-time 2", (2000, "quiet")),
        ("port timer timeout 1 polling-interval 0.1", (None, "unknown")),
    ],
)
def test_a_forced_recovery_is_fixed_and_one_without_a_time_unknown(
    lines: str, recovery: tuple[int | None, str]
) -> None:
    (port,) = read(f"interface Ethernet1\n   priority-flow-control pause watchdog {lines}\n").switch.ports
    assert port.qos is not None
    assert port.qos.watchdog is not None
    assert (port.qos.watchdog.restoration_ms, port.qos.watchdog.recovery) == recovery


def test_marking_by_delay_is_marking_in_every_queue_though_its_bytes_are_not_known() -> None:
    (port,) = read("interface Ethernet1\n   random-detect ecn delay threshold 3 milliseconds\n").switch.ports
    assert port.qos is not None
    curves = {queue.wred.green.thresholds for queue in port.qos.queues if queue and queue.wred}
    assert curves == {(None, None, None)}


def test_ports_that_are_set_identically_share_their_qos() -> None:
    ports = "".join(
        f"interface Ethernet{n}\n   no switchport\n   service-profile ROCE\n" for n in range(2, 9)
    )
    shared = {id(port.qos) for port in read(LEAF + ports).switch.ports if port.name != "Ethernet1"}
    assert len(shared) == 1


def test_what_the_text_does_not_say_is_unknown() -> None:
    switch = read("interface Ethernet1\n   no switchport\n").switch
    assert (switch.ports[0].mtu_bytes, switch.ports[0].speed_bps, switch.tier) == (UNKNOWN, None, UNKNOWN)


# --- numbers and names ---


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ethernet1", ["Ethernet1"]),
        ("Ethernet1-3,7", ["Ethernet1", "Ethernet2", "Ethernet3", "Ethernet7"]),
        ("Ethernet1/1-2", ["Ethernet1/1", "Ethernet1/2"]),
        ("Ethernet1-2/1", ["Ethernet1/1", "Ethernet2/1"]),
        ("Ethernet1/1-1/2", ["Ethernet1/1", "Ethernet1/2"]),
        ("Ethernet49/1-50/1", ["Ethernet49/1", "Ethernet50/1"]),
        ("Et1/1", ["Et1/1"]),
        ("Port-Channel5", ["Port-Channel5"]),
    ],
)
def test_the_interfaces_that_a_command_names(text: str, names: list[str]) -> None:
    assert list(interface_names(text)) == names


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0-3", [0, 1, 2, 3]),
        ("1 2,5", [1, 2, 5]),
        ("64", None),
        ("9999", None),
        ("a", None),
        ("7-3", None),
        ("26,7-3", None),
    ],
)
def test_lists_of_numbers(text: str, numbers: list[int] | None) -> None:
    assert indexes(text, 63) == numbers


@pytest.mark.parametrize(
    ("text", "gbps"),
    [("forced 100gfull", 100), ("400g-8", 400), ("auto 25gfull", 25), ("1000full", 1), ("auto", None)],
)
def test_speeds(text: str, gbps: int | None) -> None:
    assert speed_bps(text) == (None if gbps is None else gbps * 10**9)


# --- whose it is ---


@pytest.mark.parametrize(
    "text",
    [
        "class-map type qos match-any RDMA\n  match dscp 26\ninterface Ethernet1/1\n  priority-flow-control mode on\n",
        "nv set qos roce\nnv set interface swp1 link mtu 9216\n",
        "qos map dscp-tc ROCE\n dscp 26 traffic-class 3\ninterface Eth1/1\n priority-flow-control priority 3\n",
        "max_op_vls 2\nrouting_engine ftree\n",
        "hostname leaf1\ninterface Ethernet1\n  mtu 9216\n",
        "To pause a priority, enter:\n\n    priority-flow-control on\n\nand name it.\n",
    ],
    ids=["nxos", "nvue", "sonic-cli", "opensm", "any", "prose"],
)
def test_texts_of_other_systems_are_not_taken_for_eos(text: str) -> None:
    assert not looks_like_eos(text)


# --- input policies ---

INPUT = """\
class-map type qos match-any RDMA
   match {0}
policy-map type quality-of-service IN
   class RDMA
      set traffic-class 5
interface Ethernet1
   no switchport
   service-policy type qos input IN
"""


def dscps_of(text: str, traffic_class: int) -> tuple[int, ...]:
    (port,) = read(text).switch.ports
    assert port.qos is not None
    assert port.qos.dscp_to_tc is not None
    return port.qos.dscp_to_tc.sources(traffic_class)


@pytest.mark.parametrize("match", ["dscp 26", "ip dscp af31", "dscp 24-26", "dscp 26 cs3"])
def test_an_input_policy_comes_before_the_trust_of_a_port(match: str) -> None:
    own, rest = dscps_of(INPUT.format(match), 5), dscps_of(INPUT.format(match), 3)
    assert 26 in own
    assert 26 not in rest
    assert 30 in rest


def test_an_access_list_that_names_dscps_is_read_and_another_is_not_known() -> None:
    text = INPUT.format("ip access-group ROCE") + "ip access-list ROCE\n   10 permit ip any any dscp 26\n"
    assert dscps_of(text, 5) == (26, *range(40, 48))
    assert dscps_of(text.replace("any any dscp 26", "any 192.0.2.0/24"), UNREADABLE) == tuple(range(64))


def test_a_default_class_takes_what_no_class_names_and_flat_text_says_the_same() -> None:
    text = INPUT.format("dscp 26").replace(
        "interface", "   class class-default\n      set traffic-class 0\ninterface"
    )
    flat = "".join(f"{line.strip()}\n" for line in text.splitlines())
    for each in (text, flat):
        assert dscps_of(each, 5) == (26,)
        assert len(dscps_of(each, 0)) == 63


def test_a_port_that_trusts_cos_reads_the_dscps_that_its_policy_names() -> None:
    text = INPUT.format("dscp 26").replace("   no switchport\n", "   qos trust cos\n")
    assert dscps_of(text, 5) == (26,)
    assert len(dscps_of(text, UNREADABLE)) == 63
