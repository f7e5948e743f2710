"""Forms in which people publish configurations, beside what switches print: each is read as what it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.api import Options, lint_documents
from lossless.formats.inputs.switches import configuration_in, is_structured, read_switch
from lossless.formats.switches.registry import of_text
from lossless.ground.documents import load_text
from lossless.model.fabric.qos import UNREADABLE

if TYPE_CHECKING:
    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.qos import PortQos

EOS = """qos map dscp 26 to traffic-class 3
qos profile ROCE
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   uc-tx-queue 3
      no priority
      bandwidth percent 95
   uc-tx-queue 6
      priority strict
interface Ethernet1
   no switchport
   mtu 9214
   service-profile ROCE
"""
POLICIES = """class-map type qos match-any ROCE
   match dscp 26
policy-map type quality-of-service IN
   class ROCE
      set traffic-class 3
"""
PAUSING = "   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n"


def read(text: str, name: str = "leaf1.cfg") -> ReadSwitch:
    document = configuration_in(text, name)
    assert document is not None
    return read_switch(document).read


def qos(text: str, port: int = 0) -> PortQos:
    made = read(text).switch.ports[port].qos
    assert made is not None
    return made


def refused(text: str) -> list[str]:
    return [each.what for each in read(text).refused]


def prompted(text: str, mode: str = "config-if-Et1") -> str:
    return "".join(f"leaf-1({mode})# {line.strip()}\n" for line in text.splitlines())


class TestEos:
    @pytest.mark.parametrize("text", [prompted(EOS), prompted(EOS, "config-qos-profile-ROCE-uc-txq-3")])
    def test_a_transcript_is_read_as_its_commands(self, text: str) -> None:
        assert of_text(text) == "eos"
        assert qos(text).pfc.priorities == qos(EOS).pfc.priorities == (3,)
        kinds = [
            [queue.scheduler.kind for queue in qos(each).queues if queue and queue.scheduler]
            for each in (text, EOS)
        ]
        assert kinds[0] == kinds[1] == ["DWRR", "STRICT"]

    def test_a_remark_behind_a_command_is_none_of_its_words(self) -> None:
        text = f"qos map dscp 18 to traffic-class 4    ! storage\n{EOS}"
        assert read(text).maps.dscp_to_tc.targets[18] == 4
        assert read(text).unread == ()

    def test_a_description_keeps_its_exclamation_mark(self) -> None:
        assert read(f"{EOS}   description do not touch ! really\n").unread == ()

    def test_a_class_map_of_any_form_does_not_make_it_another_system(self) -> None:
        text = POLICIES.replace("match-any ", "") + f"interface Ethernet1\n{PAUSING}"
        assert of_text(text) == "eos"

    def test_policies_alone_are_of_eos_by_what_they_set(self) -> None:
        assert of_text(POLICIES.replace("quality-of-service", "qos")) == "eos"
        assert (
            of_text("interface Management1\n   vrf MGMT\nclass-map type qos match-any A\n   match vlan 2\n")
            == ""
        )

    def test_the_action_that_overrides_others_is_the_one_that_counts(self) -> None:
        timer = "priority-flow-control pause watchdog default timeout 0.2\n"
        action = "priority-flow-control pause watchdog action errdisable\n"
        text = f"{EOS}{timer}{action}"
        both = f"{text}priority-flow-control pause watchdog override action drop\n"
        assert [dog.action for dog in (qos(text).watchdog, qos(both).watchdog) if dog] == [
            "errdisable",
            "drop",
        ]

    @pytest.mark.parametrize(
        "line",
        [
            "service-policy type pbr input ROUTES",
            "service-policy type pdp input default-pdp-policy",
            "qos traffic-class 3 name target-group-AF3",
            "qos map traffic-class 3 to exp 3",
        ],
    )
    def test_lines_of_other_matters_are_not_named(self, line: str) -> None:
        text = f"{line}\n{EOS}" if line.startswith("qos") else f"{EOS}   {line}\n"
        assert read(text).unread == ()
        assert read(text).refused == ()

    @pytest.mark.parametrize(
        "line",
        [
            "priority-flow-control watchdog action errdisable",
            "qos map dscp 26 traffic-class 3",
            "pfc priority 3 no-drop",
            "qos profile ROCE",
            "ecn minimum-threshold 150 kbytes",
            "random-detect ecn minimum-threshold 512 maximum-threshold 1536 units kbytes",
            "ecn threshold 1500000 bytes",
            "qos tx-queue 3 ecn minimum-threshold 1500000 maximum-threshold 1500000",
        ],
    )
    def test_lines_that_eos_does_not_have_are_named(self, line: str) -> None:
        assert refused(f"{EOS}   {line}\n") == [f"{line!r} is no command of EOS"]

    def test_whatever_stands_in_a_queue_is_about_qos(self) -> None:
        text = EOS.replace("      priority strict\n", "      priority strict\n      guaranteed something\n")
        assert len(read(text).unread) == 1
        assert read(EOS.replace("      priority strict\n", "      shape rate 40 percent\n")).unread == ()

    def test_a_priority_without_pfc_is_named_once_for_its_ports(self) -> None:
        (what,) = refused(
            EOS.replace("   priority-flow-control on\n", "").replace("Ethernet1", "Ethernet1-2")
        )
        assert what == "a priority is no-drop at Ethernet1 and Ethernet2, and PFC is not on there"

    @pytest.mark.parametrize("line", ["no priority-flow-control", "priority-flow-control on", "shutdown"])
    def test_a_port_that_says_so_is_not_named(self, line: str) -> None:
        assert refused(EOS.replace("   priority-flow-control on\n", "") + f"   {line}\n") == []


class TestEosChannels:
    CHANNEL = (
        "hostname leaf1\ninterface Port-Channel1\n   no switchport\n   mtu 9214\n   service-profile ROCE\n"
        "qos profile ROCE\n   qos trust dscp\n"
        + PAUSING
        + "interface Ethernet6/1\n   channel-group 1 mode active\n"
    )

    def test_members_have_what_their_port_channel_has(self) -> None:
        (port,) = read(self.CHANNEL).switch.ports
        assert qos(self.CHANNEL).pfc.priorities == (3,)
        assert (port.mtu_bytes, port.lag) == (9214, "Port-Channel1")
        assert read(self.CHANNEL).trusts["Ethernet6/1"] == "dscp"
        assert "Ethernet6/1" in read(self.CHANNEL).untagged

    def test_lines_of_a_member_are_its_own(self) -> None:
        assert qos(f"{self.CHANNEL}   no priority-flow-control\n").pfc.priorities == ()
        other = self.CHANNEL.replace("channel-group 1", "channel-group 2")
        assert qos(other).pfc.priorities == ()

    def test_a_structured_configuration_has_port_channels_too(self) -> None:
        text = (
            "port_channel_interfaces:\n  - name: Port-Channel1\n    qos:\n      trust: dscp\n"
            "ethernet_interfaces:\n  - name: Ethernet1\n    channel_group:\n      id: 1\n"
            "interface_defaults:\n  mtu: 9214\n"
        )
        document = load_text(text, "leaf1.yml")
        assert is_structured(document)
        assert read_switch(document).read.trusts["Ethernet1"] == "dscp"

    @pytest.mark.parametrize(("lines", "mtu"), [("", 9214), ("   mtu 1500\n", 1500)])
    def test_routed_ports_have_the_default_mtu(self, lines: str, mtu: int) -> None:
        default = "interface defaults\n   mtu 9214\n!\n"
        (port,) = read(f"{default}interface Ethernet1\n   no switchport\n{lines}{PAUSING}").switch.ports
        assert port.mtu_bytes == mtu


class TestEosPolicies:
    PORT = f"hostname leaf1\ninterface Ethernet1\n   no switchport\n   service-policy type qos input IN\n{PAUSING}"

    def test_a_policy_classifies_before_trust(self) -> None:
        mapped = qos(POLICIES.replace("dscp 26", "dscp 10 cs2") + self.PORT).dscp_to_tc
        assert mapped is not None
        assert (mapped.targets[10], mapped.targets[16], mapped.targets[26], mapped.targets[0]) == (3, 3, 3, 1)

    def test_of_a_policy_that_is_not_there_nothing_is_known(self) -> None:
        mapped = qos(self.PORT).dscp_to_tc
        assert mapped is not None
        assert set(mapped.targets) == {UNREADABLE}
        assert [(each.name, each.ports) for each in read(self.PORT).undefined] == [("IN", ("Ethernet1",))]

    def test_an_access_list_that_names_a_dscp_leads_to_the_class(self) -> None:
        listed = "ip access-list R\n   10 permit udp any any eq 4791 dscp 26\n"
        by_list = POLICIES.replace("match dscp 26", "match ip access-group R") + listed
        mapped = qos(by_list.replace("traffic-class 3", "traffic-class 5") + self.PORT).dscp_to_tc
        assert mapped is not None
        assert mapped.targets[26] == 5

    def test_a_class_that_no_class_map_defines_is_named(self) -> None:
        text = POLICIES.replace("   class ROCE", "   class RDMA") + self.PORT
        assert [each.name for each in read(text).undefined] == ["RDMA"]
        assert read(POLICIES + self.PORT).undefined == ()


class TestNvue:
    SET = "nv set qos roce\nnv set interface swp1-4 link mtu 9216\n"

    @pytest.mark.parametrize(
        "prompt", ["cumulus@switch:~$ ", "cumulus@leaf1:mgmt:~$ ", "$ ", "root@leaf1:/home# sudo "]
    )
    def test_a_transcript_is_read_as_its_commands(self, prompt: str) -> None:
        text = "".join(f"{prompt}{line}\n" for line in self.SET.splitlines())
        assert [port.name for port in read(text).switch.ports] == [
            port.name for port in read(self.SET).switch.ports
        ]

    def test_a_command_behind_a_lone_hash_is_a_comment(self) -> None:
        assert qos(f"{self.SET}# nv set qos pfc default-global switch-priority 4\n").pfc.priorities == (3,)

    def test_a_backslash_continues_a_command(self) -> None:
        text = "nv set qos \\\n  roce \\\n  mode lossy\nnv set interface swp1 link mtu 9216\n"
        assert qos(text).pfc.priorities == ()
        assert qos(text.replace("lossy", "lossless")).pfc.priorities == (3,)

    def test_a_range_may_say_the_word_twice(self) -> None:
        text = "nv set qos roce\nnv set interface swp1-swp3,swp5 link mtu 9216\n"
        assert [port.name for port in read(text).switch.ports] == ["swp*", "swp1", "swp2", "swp3", "swp5"]

    @pytest.mark.parametrize(
        "text",
        [
            '[{"header": {}}, {"set": {"interface": {"swp1-2": {}}, "qos": {"roce": {"enable": "on"}}}}]',
            '{"interface": {"swp1,swp2": {}}, "qos": {"roce": {"enable": "on"}}}',
        ],
    )
    def test_json_of_the_configuration_is_read_as_its_yaml(self, text: str) -> None:
        document = load_text(text, "leaf1.json", lists=True)
        assert is_structured(document)
        assert [port.name for port in read_switch(document).read.switch.ports] == ["swp*", "swp1", "swp2"]

    def test_members_have_the_qos_of_their_bond(self) -> None:
        text = (
            "nv set qos mapping default-global trust l3\nnv set qos pfc R switch-priority 3\n"
            "nv set interface bond1 bond member swp1-2\nnv set interface bond1 qos pfc profile R\n"
            "nv set interface swp1-2 qos pfc-watchdog\nnv set interface swp3 link mtu 9216\n"
        )
        made = {port.name: port.qos for port in read(text).switch.ports if port.qos is not None}
        assert [made[name].pfc.priorities for name in ("swp1", "swp2", "swp3")] == [(3,), (3,), ()]
        assert all(made[name].watchdog for name in ("swp1", "swp2"))
        assert refused(text) == []

    def test_a_key_of_yaml_may_be_a_list(self) -> None:
        text = (
            "- set:\n    interface:\n      swp1-2,swp49:\n        link:\n          mtu: 9216\n"
            "    qos:\n      roce:\n        enable: on\n      egress-scheduler:\n        default-global:\n"
            "          traffic-class:\n            '3,4':\n              mode: strict\n"
        )
        document = load_text(text, "leaf1.yaml", lists=True)
        assert is_structured(document)
        ports = read_switch(document).read.switch.ports
        assert [(port.name, port.mtu_bytes) for port in ports[1:]] == [
            ("swp1", 9216), ("swp2", 9216), ("swp49", 9216),
        ]  # fmt: skip
        made = ports[1].qos
        assert made is not None
        kinds = [queue.scheduler.kind for queue in made.queues if queue and queue.scheduler]
        assert kinds.count("STRICT") == 3

    @pytest.mark.parametrize("trust", ["l3", "both"])
    def test_trust_of_dscp_without_a_map_has_that_of_nvue(self, trust: str) -> None:
        mapped = qos(
            f"nv set qos mapping default-global trust {trust}\nnv set qos pfc default-global switch-priority 3\n"
        ).dscp_to_tc
        assert mapped is not None
        assert mapped.targets == tuple(dscp // 8 for dscp in range(64))

    def test_a_port_that_reads_no_mark_has_its_own_priority(self) -> None:
        port = (
            "nv set qos mapping default-global trust port\nnv set qos pfc default-global switch-priority 3\n"
        )
        mapped = qos(f"{port}nv set qos mapping default-global port-default-sp 3\n").dscp_to_tc
        assert mapped is not None
        assert set(mapped.targets) == {3}
        assert qos(port).dscp_to_tc is None

    @pytest.mark.parametrize(
        "line", ["qos roce enable on mode lossless", "qos pfc p tx enable on rx enable on"]
    )
    def test_words_behind_a_value_are_not_read(self, line: str) -> None:
        assert len(read(f"nv set {line}\n{self.SET}").unread) == 1

    def test_link_pause_beside_pfc_is_named(self) -> None:
        pause = "nv set qos link-pause P tx enable\nnv set interface swp1-2 qos link-pause profile P\n"
        assert refused(self.SET + pause) == ["link pause is set beside PFC at swp1 and swp2"]
        assert refused(pause) == []

    def test_shared_headroom_is_no_unknown_word(self) -> None:
        assert read(f"{self.SET}nv set interface swp1 qos shared-headroom-pool\n").unread == ()


class TestNxos:
    CLASSES = (
        "class-map type qos match-any R\n  match dscp 26\n"
        "policy-map type qos IN\n  class R\n    set qos-group 3\n"
    )
    PORT = "interface Ethernet1/1\n  service-policy type qos input IN\n"

    def test_a_remark_behind_a_command_is_none_of_its_words(self) -> None:
        text = self.CLASSES.replace("dscp 26", "dscp 26      ! hosts mark") + self.PORT
        assert read(text).maps.dscp_to_tc.targets[26] == 3

    def test_the_class_of_fcoe_takes_no_marked_packets(self) -> None:
        text = (
            self.CLASSES.replace("dscp 26", "cos 3") + "  class class-fcoe\n    set qos-group 1\n" + self.PORT
        )
        assert read(text).maps.dot1p_to_tc.targets == (0, 0, 0, 3, 0, 0, 0, 0)

    def test_a_curve_of_another_system_is_not_read(self) -> None:
        nothing = (
            "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    congestion-control {}\n"
        )
        assert len(read(nothing.format("ecn minimum-absolute 150") + self.CLASSES).unread) == 1
        assert read(nothing.format("tail-drop") + self.CLASSES).unread == ()

    def test_lines_of_other_matters_are_not_named(self) -> None:
        text = (
            "class-map match-any EMPTY\npolicy-map type control-plane CP\n  class CP-1\n    set cos 7\n"
            "    police cir 19000 pps bc 128 packets conform transmit violate drop\n"
            "interface Vlan10\n  hsrp 10\n    priority 150\n  bandwidth inherit\n"
            f"  service-policy type pbr input ROUTES\n{self.CLASSES}{self.PORT}"
        )
        assert read(text).unread == ()


class TestRewrites:
    NVUE = "nv set qos roce\nnv set interface swp1-2 link mtu 9216\n"

    @staticmethod
    def found(text: str) -> list[int]:
        document = configuration_in(text, "leaf1.cfg")
        assert document is not None
        findings = lint_documents([document], Options()).findings
        return [int(str(each.data["dscp"])) for each in findings if each.code == "CLS009"]

    @pytest.mark.parametrize(
        ("lines", "dscps"),
        [
            ("rewrite l3\nnv set qos remark default-global switch-priority 3 dscp 0", [0]),
            ("rewrite both\nnv set qos remark default-global switch-priority 3 dscp 48", [48]),
            ("rewrite l3\nnv set qos remark default-global switch-priority 3 dscp 24", []),
            ("rewrite l3\nnv set qos remark default-global switch-priority 0 dscp 8", []),
            ("rewrite l2\nnv set qos remark default-global switch-priority 3 dscp 0", []),
        ],
    )
    def test_a_lossless_class_leaves_with_a_dscp_of_its_own(self, lines: str, dscps: list[int]) -> None:
        assert self.found(f"{self.NVUE}nv set qos remark default-global {lines}\n") == dscps

    def test_a_profile_that_no_port_has_writes_nothing(self) -> None:
        profile = "nv set qos remark R rewrite l3\nnv set qos remark R switch-priority 3 dscp 0\n"
        assert self.found(self.NVUE + profile) == []
        assert self.found(f"{self.NVUE}{profile}nv set interface swp2 qos remark profile R\n") == [0]

    @pytest.mark.parametrize(("marked", "dscps"), [("dscp 26", []), ("dscp cs1", [8]), ("cos 3", [])])
    def test_a_class_of_nxos_sets_a_dscp_that_leads_back(self, marked: str, dscps: list[int]) -> None:
        no_drop = "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n"
        bound = f"{no_drop}system qos\n  service-policy type network-qos N\n"
        classes = f"{TestNxos.CLASSES}    set {marked}\n"
        assert self.found(f"{classes}{bound}{TestNxos.PORT}  priority-flow-control mode on\n") == dscps


@pytest.mark.parametrize(
    "mode", ["leaf-1(config-if-Et1)# ", "leaf-1 (config-if-Et1)# ", "leaf-1 (config-if) # "]
)
def test_guides_put_blanks_around_the_mode_of_a_prompt(mode: str) -> None:
    text = "".join(f"{mode}{line.strip()}\n" for line in EOS.splitlines())
    assert qos(text).pfc.priorities == (3,)
    assert qos("interface Ethernet1\n   description rack (configured) # 7\n" + PAUSING).pfc.priorities == (3,)


def test_a_class_that_eos_does_not_have_is_not_lost_without_a_word() -> None:
    lines = "policy-map type qos ROCE\n   description RDMA\n   class tx-queue 3\n      bandwidth percent 5\n"
    unread = " ".join(read(EOS + lines).unread)
    assert "'class tx-queue 3' is not read" in unread
    assert "'bandwidth percent 5' is not read" in unread
    assert "description" not in unread


@pytest.mark.parametrize(
    "line", ["vpc domain 1\n  role priority 1", "interface Ethernet1/1\n  vpc peer-link"]
)
def test_a_part_with_a_virtual_port_channel_is_one_of_nxos(line: str) -> None:
    assert of_text(f"interface Ethernet1/49\n  priority-flow-control mode on\n{line}\n") == "nxos"
    assert of_text("interface Ethernet1/49\n  priority-flow-control mode on\n") == ""


@pytest.mark.parametrize(
    ("words", "watched"),
    [
        ("", True),
        (" state enabled", True),
        (" enable on", True),
        (" robustness 3", True),
        (" enabled", False),
        (" on", False),
    ],
)
def test_a_watchdog_by_words_that_nvue_does_not_have_is_none(words: str, watched: bool) -> None:
    ports = read(f"nv set qos roce\nnv set interface swp1 qos pfc-watchdog{words}\n", "leaf1.nv").switch.ports
    port = next(port.qos for port in ports if port.name == "swp1")
    assert port is not None
    assert (port.watchdog is not None) is watched
