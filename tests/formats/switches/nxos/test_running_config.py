"""Configurations of NX-OS, however they are published, are read as the switch takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.api import lint_documents
from lossless.formats.inputs.switches import configuration_in, read_switch
from lossless.formats.switches.nxos.names import interface_names
from lossless.formats.switches.registry import of_text
from tests.paths import RULE_BASES

if TYPE_CHECKING:
    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.qos import PortQos

LEAF = (RULE_BASES / "switch-nxos.txt").read_text()


def read(text: str) -> ReadSwitch:
    document = configuration_in(text, "leaf1.cfg")
    assert document is not None
    assert document.dialect == "nxos"
    return read_switch(document).read


def qos_of(text: str, port: str = "Ethernet1/1") -> PortQos:
    switch = read(text).switch
    qos = next(p.qos for p in switch.ports if p.name == port)
    assert qos is not None
    return qos


def meaning(text: str) -> object:
    switch = read(text)
    return [
        (
            port.name,
            port.mtu_bytes,
            switch.trusts[port.name],
            port.qos and (port.qos.dscp_to_tc and port.qos.dscp_to_tc.targets, port.qos.pfc.priorities),
            port.qos
            and [
                queue and (queue.scheduler and queue.scheduler[1:3], queue.wred and queue.wred.green)
                for queue in port.qos.queues
            ],
            port.qos and (port.qos.watchdog is not None),
        )
        for port in switch.switch.ports
    ]


def flat(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines())


def with_exits(text: str) -> str:
    """Return a script whose modes are left by ``exit``, flat."""
    lines: list[str] = []
    depth = 0
    for line in text.splitlines():
        indent = (len(line) - len(line.lstrip())) // 2
        lines += ["exit"] * max(0, depth - indent)
        lines.append(line.strip())
        depth = indent
    return "\n".join(lines)


def as_session(text: str) -> str:
    return "\n".join(f"leaf1(config-pmap)# {line.strip()}" for line in text.splitlines())


def with_comments(text: str) -> str:
    return "\n!\n".join(text.splitlines()) + "\n#*** the end ***\n"


@pytest.mark.parametrize("form", [flat, with_exits, as_session, with_comments])
def test_the_same_commands_mean_the_same_however_they_are_written(form: object) -> None:
    assert callable(form)
    assert meaning(form(LEAF)) == meaning(LEAF)


def test_a_leaf_is_read() -> None:
    qos = qos_of(LEAF)
    assert qos.dscp_to_tc is not None
    assert (qos.dscp_to_tc.targets[26], qos.dscp_to_tc.targets[48], qos.dscp_to_tc.targets[0]) == (3, 6, 0)
    assert qos.pfc.priorities == (3,)
    assert [queue.number for queue in qos.queues if queue] == [0, 3, 6]
    assert qos.watchdog is not None
    assert read(LEAF).lossless == {3: 3}


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("Ethernet1/1-3", ["Ethernet1/1", "Ethernet1/2", "Ethernet1/3"]),
        ("e1/1/1-2,e1/2/1-2", ["Ethernet1/1/1", "Ethernet1/1/2", "Ethernet1/2/1", "Ethernet1/2/2"]),
        ("eth1/1, 1/3", ["Ethernet1/1", "Ethernet1/3"]),
        ("po10-11", ["port-channel10", "port-channel11"]),
        ("Ethernet 1/27", ["Ethernet1/27"]),
    ],
)
def test_interfaces_are_named_in_full(written: str, names: list[str]) -> None:
    assert list(interface_names(written)) == names


def test_names_and_lists_of_dscps_are_read() -> None:
    text = LEAF.replace("match dscp 26", "match dscp 24-25,cs4,af31 ef")
    targets = qos_of(text).dscp_to_tc
    assert targets is not None
    assert targets.sources(3) == (24, 25, 26, 32, 46)


def test_the_first_class_of_a_policy_that_matches_counts() -> None:
    text = LEAF.replace("match dscp 48", "match dscp 26,48")
    targets = qos_of(text).dscp_to_tc
    assert targets is not None
    assert (targets.targets[26], targets.targets[48]) == (3, 6)


def test_a_class_that_wants_more_than_a_dscp_leaves_it_open() -> None:
    text = LEAF.replace("match-any RDMA\n", "match-all RDMA\n  match access-group name hosts\n")
    targets = qos_of(text).dscp_to_tc
    assert targets is not None
    assert targets.targets[26] == -1


def test_a_policy_in_two_blocks_adds_up() -> None:
    more = "policy-map type network-qos NETWORK\n  class type network-qos c-8q-nq4\n    pause pfc-cos 4\n"
    assert qos_of(LEAF + more).pfc.priorities == (3, 4)


def test_mode_auto_pauses_nothing_that_is_known() -> None:
    read_leaf = read(LEAF.replace("mode on", "mode auto"))
    assert {port.qos.pfc.priorities for port in read_leaf.switch.ports if port.qos} == {()}
    assert read_leaf.lossless == {3: 3}
    assert [setting.help for setting in read_leaf.refused] == ["priority-flow-control mode on"]


def test_the_watchdog_needs_the_line_of_the_switch() -> None:
    text = LEAF.replace("priority-flow-control watch-dog-interval on\nsystem", "system")
    (refused,) = read(text).refused
    assert refused.why == "without the line of the switch that of a port has no effect"
    assert refused.ports == ("Ethernet1/1", "Ethernet1/2", "Ethernet1/3", "Ethernet1/4")


def test_a_port_has_what_its_profile_says() -> None:
    profile = "port-profile type ethernet HOSTS\n  priority-flow-control mode on\n  mtu 9216\n"
    port = "interface Ethernet1/9\n  inherit port-profile HOSTS\n  mtu 1500\n"
    switch = read(LEAF + profile + port).switch
    (own,) = (p for p in switch.ports if p.name == "Ethernet1/9")
    assert own.qos is not None
    assert (own.mtu_bytes, own.qos.pfc.priorities) == (1500, (3,))


def test_a_member_has_the_policies_of_its_port_channel() -> None:
    bundle = "interface port-channel1\n  service-policy type qos input CLASSIFY\n"
    member = "interface Ethernet1/9\n  channel-group 1 mode active\n"
    assert read(LEAF + bundle + member).trusts["Ethernet1/9"] == "dscp"


def test_no_drop_of_old_releases_pauses_the_priority_of_its_group() -> None:
    text = LEAF.replace("pause pfc-cos 3", "pause no-drop")
    assert qos_of(text).pfc.priorities == (3,)


def test_random_detect_without_ecn_drops() -> None:
    document = configuration_in(LEAF.replace(" weight 0 ecn", " weight 0"), "leaf1.cfg")
    assert document is not None
    (finding,) = lint_documents([document]).findings
    assert (finding.code, finding.severity) == ("ECN001", "error")
    assert finding.help == "put ecn at the end of that line"


def test_lines_about_qos_without_a_meaning_are_named() -> None:
    text = LEAF + "interface Ethernet1/1\n  priority-flow-control something new\n"
    assert read(text).unread == ("line 36: 'priority-flow-control something new' is not read",)


@pytest.mark.parametrize(
    "text",
    [
        "policy-map type network-qos P\n  class C\n   pause\n   pfc-cos 3\ntrust dot1p-map x\n",
        "interface ethernet1/1/1\n priority-flow-control mode on\n ets mode on\n",
        "interface Ethernet1\n   priority-flow-control on\n   tx-queue 3\n",
    ],
)
def test_other_systems_with_such_commands_are_not_taken_for_it(text: str) -> None:
    assert of_text(text) != "nxos"
