"""What NX-OS takes and cannot mean, what it names and does not define, and what it defines and does not bind."""

from __future__ import annotations

from pathlib import Path

import pytest

from lossless.api import Options, lint
from lossless.formats.inputs.switches import configuration_in, read_switch
from lossless.model.fabric.configured_switch import ReadSwitch
from tests.paths import RULE_BASES

LEAF = (RULE_BASES / "switch-nxos.txt").read_text()
SECOND = "interface Ethernet1/2\n  no switchport\n"
NETWORK, QUEUES = "policy-map type network-qos CLASSES\n", "policy-map type queuing QUEUES\n"
BUFFER = "pause buffer-size {} pause-threshold {} resume-threshold {}"
IN = (
    "policy-map type queuing IN\n  class type queuing c-in-q3\n    {}\n"
    "system qos\n  service-policy type queuing input IN\n"
)


def read(text: str) -> ReadSwitch:
    document = configuration_in(text, "leaf1.cfg")
    assert document is not None
    return read_switch(document).read


def test_a_sound_configuration_refuses_nothing() -> None:
    have = read(LEAF)
    assert (have.refused, have.undefined, have.unbound, have.unread, have.silent) == ((), (), (), (), ())


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("priority-flow-control override-interface mode off\n", "override-interface mode off is set"),
        (
            f"{SECOND}  priority-flow-control watch-dog-interval on\n",
            "watchdog is on at Ethernet1/2, and PFC is not",
        ),
        (
            "interface Ethernet1/1\n  priority-flow-control watch-dog-interval on disable-action\n",
            "Ethernet1/1 has disable-action",
        ),
        (
            f"{SECOND}  priority-flow-control mode auto\n  service-policy type qos input MARKS\n",
            "PFC is auto at Ethernet1/2",
        ),
        (
            f"{SECOND}  priority-flow-control mode off\n  service-policy type qos input MARKS\n",
            "PFC is off at Ethernet1/2",
        ),
        ("interface Ethernet1/1\n  storm-control unicast level 50\n", "drops unicast above 50 %"),
        (
            f"{NETWORK}  class type network-qos c-8q-nq4\n    mtu 9216\n    pause pfc-cos 4\n",
            "class c-8q-nq4 is no-drop, and no class of a policy map of type qos sets qos-group 4",
        ),
        ("interface Ethernet1/1\n  flowcontrol send on\n", "link-level flow control is on beside PFC"),
        (
            f"{NETWORK}  class type network-qos c-8q-nq3\n    mtu 2240\n",
            "MTU of no-drop class c-8q-nq3 is 2,240 B",
        ),
        (
            f"{NETWORK}  class type network-qos c-8q-nq3\n    pause pfc-cos 3 receive\n",
            "obeys pauses and sends none",
        ),
        (IN.format(BUFFER.format(90000, 40000, 40001)), "resumes at 40,001 B, and pauses at 40,000 B"),
        (IN.format(BUFFER.format(40000, 30000, 20000)), "has 10,000 B above its pause-threshold"),
        (
            "policy-map type qos MARKS\n  class RDMA\n    police cir 1 gbps\n",
            "no-drop qos-group 3 is policed",
        ),
        (
            f"{QUEUES}  class type queuing c-out-8q-q3\n    bandwidth remaining percent 0\n",
            "no-drop class c-out-8q-q3 of QUEUES has a share of 0 %",
        ),
        (
            f"{QUEUES}  class type queuing c-out-8q-q1\n    bandwidth remaining percent 2\n",
            "adds up to 101 %",
        ),
        (
            f"{QUEUES}  class type queuing c-out-8q-q1\n    bandwidth remaining percent 1\n",
            "gives 100 % away, and leaves c-out-8q-q2, c-out-8q-q4, c-out-8q-q5 and c-out-8q-q6 out",
        ),
        (
            f"{QUEUES}  class type queuing c-out-8q-q3\n    random-detect minimum-threshold 2 mbytes maximum-threshold "
            "1 mbytes drop-probability 7 weight 0 ecn\n",
            "minimum threshold of class c-out-8q-q3 is 2,000,000 B",
        ),
    ],
)
def test_a_setting_that_cannot_mean_what_it_says(lines: str, says: str) -> None:
    assert [says] == [says for refused in read(LEAF + lines).refused if says in refused.what]


def test_what_no_class_matches_is_in_the_default_class() -> None:
    lines = f"{NETWORK}  class type network-qos c-8q-nq-default\n    pause pfc-cos 0\n"
    assert read(LEAF + lines).refused == ()


def test_headroom_of_two_frames_and_thresholds_in_one_place_are_enough() -> None:
    assert read(LEAF + IN.format(BUFFER.format(58432, 40000, 40000))).refused == ()


def test_all_shares_of_zero_are_one_refusal() -> None:
    lines = "".join(
        f"  class type queuing c-out-8q-q{n}\n    bandwidth remaining percent 0\n" for n in (3, "-default")
    )
    text = LEAF.replace("    priority level 1\n", "    bandwidth remaining percent 0\n")
    (refused,) = read(f"{text}{QUEUES}{lines}").refused
    assert "every class of QUEUES has a share of 0 %" in refused.what


def test_a_watchdog_of_ports_alone_is_one_refusal_for_all() -> None:
    text = LEAF.replace("\npriority-flow-control watch-dog-interval on", "")
    text += f"{SECOND}  priority-flow-control mode on\n  priority-flow-control watch-dog-interval on\n"
    (refused,) = read(text).refused
    assert refused.ports == ("Ethernet1/1", "Ethernet1/2")


def test_a_line_of_a_profile_is_shown_where_it_is_written() -> None:
    text = (
        "port-profile type ethernet A\nstorm-control unicast level 50\nexit\n"
        "interface Ethernet1/1-4\ninherit port-profile A\nexit\n"
    )
    (refused,) = read(LEAF.replace("  no shutdown\n", "  priority-flow-control mode on\n") + text).refused
    assert refused.origin.path == ("port-profile type ethernet A", "storm-control unicast level 50")
    assert refused.ports == ("Ethernet1/1",)


def test_no_port_with_pfc_is_said_at_the_class() -> None:
    text = LEAF.replace("  priority-flow-control mode on\n", "").replace(
        "  priority-flow-control watch-dog-interval on\n", ""
    )
    (refused,) = read(text).refused
    assert "no interface has PFC on" in refused.what
    assert refused.origin.path[-1] == "pause pfc-cos 3"


@pytest.mark.parametrize("line", ["shutdown", "priority-flow-control mode off"])
def test_a_port_that_classifies_nothing_or_is_down_is_left_alone(line: str) -> None:
    assert read(f"{LEAF}{SECOND}  {line}\n").refused == ()


@pytest.mark.parametrize(
    ("lines", "kind", "name"),
    [
        ("  service-policy type qos input MISSING\n", "policy-map type qos", "MISSING"),
        ("  inherit port-profile MISSING\nport-profile A\n", "port-profile", "MISSING"),
        ("policy-map type qos MARKS\n  class MISSING\n", "class-map type qos", "MISSING"),
        (f"{NETWORK}  class type network-qos c-out-8q-q3\n", "class-map type network-qos", "c-out-8q-q3"),
        (f"{NETWORK}  class type queuing c-out-8q-q3\n", "class-map type network-qos", "c-out-8q-q3"),
        (f"{QUEUES}  class type queuing c-8q-nq3\n", "class-map type queuing", "c-8q-nq3"),
        (f"{QUEUES}  class type queuing c-out-8q-q8\n", "class-map type queuing", "c-out-8q-q8"),
    ],
)
def test_a_name_that_nothing_defines(lines: str, kind: str, name: str) -> None:
    (undefined,) = read(LEAF + SECOND + lines).undefined
    assert (undefined.kind, undefined.name) == (kind, name)


def test_what_nxos_brings_along_is_defined() -> None:
    lines = (
        "  service-policy type queuing output default-8q-out-policy\n"
        f"{NETWORK}  class type network-qos class-default\n{QUEUES}  class type queuing class-default\n"
    )
    assert read(LEAF + SECOND + lines).undefined == ()


def test_a_class_of_the_wrong_type_pauses_nothing() -> None:
    have = read(LEAF.replace("type network-qos c-8q-nq3", "type network-qos c-out-8q-q3"))
    assert [port for port, _ in have.silent] == ["Ethernet1/1"]
    assert all(group is None for port in have.switch.ports if port.qos for group in port.qos.groups)


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ("policy-map type qos UNUSED\n  class RDMA\n", "policy-map type qos"),
        ("class-map type network-qos UNUSED\n  match qos-group 1\n", "class-map type network-qos"),
        ("port-profile type ethernet UNUSED\n  mtu 9216\n", "port-profile"),
    ],
)
def test_an_object_that_nothing_names(lines: str, kind: str) -> None:
    (unbound,) = read(LEAF + lines).unbound
    assert (unbound.kind, unbound.name) == (kind, "UNUSED")


def test_a_policy_of_a_vlan_is_bound() -> None:
    lines = "policy-map type qos VLANS\n  class RDMA\nvlan configuration 7\n  service-policy type qos input VLANS\n"
    assert read(LEAF + lines).unbound == ()


def test_a_part_of_a_configuration_lacks_nothing() -> None:
    policies, ports = LEAF.partition("system qos")[0], LEAF[LEAF.index("interface") :]
    assert (read(policies).unbound, read(policies).undefined) == ((), ())
    assert (read(ports).undefined, read(ports).silent) == ((), ())
    assert read(ports).trusts == {}


def test_a_class_that_is_paused_in_a_class_of_another_type_is_meant_to_be_lossless() -> None:
    astray = LEAF.replace("class type network-qos c-8q-nq3", "class type network-qos c-out-8q-q3")
    (cls,) = read(astray).intended
    assert (cls.name, cls.queue) == ("RDMA", 3)
    assert read(LEAF).intended == ()
    defined = "class-map type network-qos c-out-8q-q3\n  match qos-group 3\n"
    assert read(f"{defined}{astray}").intended == ()


def test_a_class_that_is_meant_to_be_lossless_has_to_mark(tmp_path: Path) -> None:
    astray = LEAF.replace("class type network-qos c-8q-nq3", "class type network-qos c-out-8q-q3")
    assert "ECN001" not in codes(astray, tmp_path)
    bare = "\n".join(line for line in astray.splitlines() if "random-detect" not in line)
    again = "policy-map type qos OTHER\n  class RDMA\n    set qos-group 3\n"
    assert codes(f"{bare}\n{again}", tmp_path).count("ECN001") == 1
    ecn = "class type network-qos c-out-8q-q3\n    congestion-control random-detect ecn"
    assert "ECN001" not in codes(bare.replace("class type network-qos c-out-8q-q3", ecn), tmp_path)


def codes(text: str, folder: Path) -> list[str]:
    """Return the codes of the findings in a configuration."""
    file = folder / "leaf1.cfg"
    file.write_text(text)
    return [finding.code for finding in lint([file], Options()).findings]
