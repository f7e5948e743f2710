"""Every form of facts by itself: what it says, where it says it, and what happens to what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from lossless.formats.hosts.read.facts import Facts, is_facts, read_facts
from lossless.formats.hosts.read.manifests import read_document, resources_in, speaks_of_hosts
from lossless.ground.basics.records import UNKNOWN, certain
from lossless.ground.documents import load_text
from lossless.model.fabric.hosts import Ets, HostQos, ReceiveBuffers, Transport
from lossless.model.fabric.view import bare
from tests.formats.hosts.read import printed
from tests.formats.hosts.read.collecting import hosts_of

SNAPSHOT = "# lossless host facts 1\n# host gpu1\n"


def qos_of(text: str, file: str = "hosts/gpu1/facts.txt") -> HostQos:
    """Return the only host that a text is of, without problems."""
    facts = read_facts(text, file)
    assert facts.problems == ()
    (read,) = hosts_of(facts).hosts
    return read.qos


def line_of(facts: Facts, qos: HostQos, *keys: str) -> int:
    """Return the line that a setting stands on."""
    return facts.document.locate(qos.at(*keys).path).line


class TestMlnxQos:
    qos = qos_of(printed.MLNX_QOS, "hosts/gpu1/mlnx_qos.eth2.txt")

    def test_what_it_prints_is_known(self) -> None:
        assert (self.qos.dcbx, self.qos.trust, self.qos.pfc_priorities) == ("os", "dscp", (3,))
        assert self.qos.buffers == ReceiveBuffers(
            (0, 0, 0, 1, 0, 0, 0, 0), (130944, 130944, 0, 0, 0, 0, 0, 0)
        )
        assert self.qos.cable_m == 7

    def test_the_name_of_the_file_has_the_interface(self) -> None:
        assert self.qos.interfaces == ("eth2",)

    def test_dscps_that_are_not_listed_have_priority_0(self) -> None:
        found = dict(certain(self.qos.dscp_to_priority))
        assert {dscp: found[dscp] for dscp in (5, 26, 48, 49)} == {5: 0, 26: 3, 48: 6, 49: 0}

    def test_shares_are_known_where_every_priority_is_listed(self) -> None:
        assert self.qos.ets == Ets(
            (0, 0, 0, 3, 0, 0, 6, 0),
            ("ets", "strict", "strict", "ets", "strict", "strict", "strict", "strict"),
            (50, 0, 0, 50, 0, 0, 0, 0),
        )
        short = printed.MLNX_QOS.replace("\t priority:  6\n", "")
        assert qos_of(short).ets is UNKNOWN

    def test_shares_of_a_tc_above_7_which_no_nic_has_are_unknown(self) -> None:
        assert qos_of(printed.MLNX_QOS.replace("tc: 6 ", "tc: 8 ")).ets is UNKNOWN
        ets = json.loads(printed.DCB_ETS)
        assert (
            qos_of(f"{SNAPSHOT}==> dcb -j ets show dev eth2\n{json.dumps(ets)}\n==> end\n").ets is not UNKNOWN
        )
        ets["prio_tc"][3] = 8
        assert qos_of(f"{SNAPSHOT}==> dcb -j ets show dev eth2\n{json.dumps(ets)}\n==> end\n").ets is UNKNOWN

    def test_what_it_does_not_print_is_not_known(self) -> None:
        assert (self.qos.mtu_bytes, self.qos.traffic_class, self.qos.dcqcn.enabled) == (UNKNOWN,) * 3

    def test_every_setting_has_its_line(self) -> None:
        facts = read_facts(printed.MLNX_QOS, "hosts/gpu1/mlnx_qos.eth2.txt")
        lines = [
            line_of(facts, self.qos, *key.split("|"))
            for key in ("dcbx", "trust", "dscp_to_priority.26", "cable_m", "pfc")
        ]
        assert lines == [1, 2, 5, 9, 12]

    def test_under_trust_in_vlan_tags_no_map_is_known(self) -> None:
        lines = [line for line in printed.MLNX_QOS.splitlines() if "dscp" not in line]
        text = "\n".join([lines[0], "Priority trust state: pcp", *lines[1:]])
        assert (qos_of(text).trust, qos_of(text).dscp_to_priority) == ("pcp", UNKNOWN)

    def test_an_output_that_was_cut_short_is_reported_and_the_rest_counts(self) -> None:
        cut = printed.MLNX_QOS.partition("PFC configuration")[0]
        facts = read_facts(cut, "hosts/gpu1/mlnx_qos.txt")
        assert [(p.line, p.message) for p in facts.problems] == [
            (9, "mlnx_qos: the output ends before its PFC configuration")
        ]
        qos = hosts_of(facts).hosts[0].qos
        assert (qos.trust, qos.pfc_priorities) == ("dscp", UNKNOWN)


class TestDcb:
    @pytest.mark.parametrize(
        ("text", "field", "value"),
        [
            (printed.DCB_PFC, "pfc_priorities", (3,)),
            (printed.DCB_APP, "trust", "dscp"),
            (printed.DCB_DCBX, "dcbx", "os"),
            (
                printed.DCB_BUFFER,
                "buffers",
                ReceiveBuffers((0, 0, 0, 1, 0, 0, 0, 0), (130944, 130944, *(0,) * 6)),
            ),
            (
                printed.DCB_ETS,
                "ets",
                Ets(
                    (0, 0, 0, 3, 0, 0, 6, 0),
                    ("ets", "strict", "strict", "ets", *("strict",) * 4),
                    (50, 0, 0, 50, 0, 0, 0, 0),
                ),
            ),
        ],
    )
    def test_an_object_says_the_same_as_a_file_and_in_a_snapshot(
        self, text: str, field: str, value: object
    ) -> None:
        document = load_text(text, "hosts/gpu1/dcb.json")
        assert speaks_of_hosts(document)
        assert getattr(hosts_of(*read_document(document)).hosts[0].qos, field) == value
        whole = f"{SNAPSHOT}==> dcb -j {_object(field)} show dev eth2\n{text}\n==> end\n"
        assert getattr(qos_of(whole), field) == value

    def test_dscps_without_an_entry_have_the_default_priority(self) -> None:
        text = printed.DCB_APP.replace('"default_prio":[0]', '"default_prio":[2]')
        found = hosts_of(*read_document(load_text(text, "hosts/gpu1/app.json"))).hosts[0].qos.dscp_to_priority
        assert dict(certain(found)) == {dscp: {26: 3, 48: 6}.get(dscp, 2) for dscp in range(64)}

    def test_a_dscp_with_two_priorities_is_not_checked(self) -> None:
        text = printed.DCB_APP.replace("[26,3]", "[26,3],[26,4]")
        assert hosts_of(*read_document(load_text(text, "app.json"))).hosts[0].qos.dscp_to_priority is UNKNOWN

    def test_firmware_speaks_dcbx_where_the_host_does_not(self) -> None:
        text = f'{SNAPSHOT}==> dcb -j dcbx show dev eth2\n{{"lld_managed":true,"ieee":true}}\n==> end\n'
        assert qos_of(text).dcbx == "firmware"

    def test_the_delay_of_pfc_is_a_length_for_mlx5_alone(self) -> None:
        driver = "/sys/class/net/eth2/device/driver = {}\n"
        section = f"==> files\n{driver}==> dcb -j pfc show dev eth2\n{printed.DCB_PFC}\n==> end\n"
        assert qos_of(SNAPSHOT + section.replace("{}", "mlx5_core", 1)).cable_m == 7
        assert qos_of(SNAPSHOT + section.replace("{}", "ice", 1)).cable_m is UNKNOWN

    def test_text_that_is_no_object_is_located(self) -> None:
        text = f"{SNAPSHOT}==> dcb -j pfc show dev eth2\nprio-pfc 0:off\n==> end\n"
        facts = read_facts(text, "x.facts")
        assert [(p.line, p.column, p.message) for p in facts.problems] == [
            (4, 1, "dcb -j pfc show dev eth2: expected the JSON object of dcb -j")
        ]

    @pytest.mark.parametrize(
        "flags",
        [
            "[true]",
            "[false,false,false,1,false,false,false,false]",
            '"3"',
            '["yes"]',
            "null",
            "[[],0,0,0,0,0,0,0]",
        ],
    )
    def test_pfc_that_is_no_list_of_eight_flags_is_located_and_unknown(self, flags: str) -> None:
        text = f'{SNAPSHOT}==> dcb -j pfc show dev eth2\n{{"delay":7,"prio_pfc":{flags}}}\n==> end\n'
        facts = read_facts(text, "x.facts")
        assert [(p.line, p.column, p.message) for p in facts.problems] == [
            (
                4,
                12,
                "dcb -j pfc show dev eth2: prio_pfc: expected eight of on and off, or of true and false",
            )
        ]
        assert "pfc" not in {fact.key for fact in facts.said}


def _object(field: str) -> str:
    return {"pfc_priorities": "pfc", "trust": "app", "buffers": "buffer"}.get(field, field)


class TestFilesOfTheKernel:
    qos = qos_of(printed.SYSFS)

    def test_what_they_hold_is_known(self) -> None:
        assert (self.qos.mtu_bytes, self.qos.rate_bps, self.qos.driver) == (9000, 400 * 10**9, "mlx5")
        assert (self.qos.traffic_class, self.qos.cma_tos, self.qos.roce_version) == (106, 106, 2)
        assert self.qos.gid_types == ((0, "IB/RoCE v1"), (3, "RoCE v2"))

    def test_pci_ids_name_the_profile(self) -> None:
        assert (self.qos.nic_name, self.qos.interfaces, self.qos.rdma_devices) == (
            *("connectx-7", ("eth2",)),
            ("mlx5_0",),
        )

    def test_parameters_by_the_names_of_either_driver(self) -> None:
        assert (self.qos.dcqcn.values, self.qos.dcqcn.cnp_dscp) == ((("rpg_ai_rate", 5),), 48)

    def test_an_unset_traffic_class_is_absent_and_not_unknown(self) -> None:
        assert qos_of(printed.SYSFS.replace("Global tclass=106", "")).traffic_class is None

    def test_a_colon_does_as_well(self) -> None:
        assert qos_of(printed.SYSFS.replace(" = ", ": ")).mtu_bytes == 9000

    def test_a_speed_of_a_link_that_is_down_is_not_known(self) -> None:
        assert qos_of(printed.SYSFS.replace("400000", "-1")).rate_bps is UNKNOWN

    def test_a_value_that_the_kernel_never_writes_is_located(self) -> None:
        facts = read_facts(printed.SYSFS.replace("= 9000", "= big"), "x.txt")
        assert [(p.line, p.message) for p in facts.problems] == [
            (1, "/sys/class/net/eth2/mtu: 'big' is not what the kernel writes there")
        ]


class TestSmallTools:
    def test_global_pause_is_on_where_either_direction_is(self) -> None:
        assert qos_of(printed.ETHTOOL_PAUSE).global_pause is True
        assert qos_of(printed.ETHTOOL_PAUSE.replace("\ton\n", "\toff\n")).global_pause is False
        assert qos_of(printed.ETHTOOL_PAUSE).interfaces == ("eth2",)

    def test_firmware_says_what_holds_now_and_not_after_the_next_boot(self) -> None:
        text = printed.MLXCONFIG.replace("ROCE_CC_PRIO_MASK_P2", "SOMETHING_ELSE_P2")
        dcqcn = qos_of(text).dcqcn
        assert (dcqcn.priority_mask, dcqcn.priorities, dcqcn.cnp_dscp) == (8, (3,), 46)
        assert dcqcn.values == (("clamp_tgt_rate_after_time_inc", 0),)

    def test_ports_of_a_card_are_its_functions(self) -> None:
        wiring = "".join(f"/sys/class/net/eth{n}/device = 0000:17:00.{n}\n" for n in (0, 1))
        text = f"{SNAPSHOT}==> files\n{wiring}==> mlxconfig -d 0000:17:00.0 -e query\n{printed.MLXCONFIG}==> end\n"
        facts = read_facts(text, "x.facts")
        masks = {host.name: host.qos.dcqcn.priority_mask for host in hosts_of(facts).hosts}
        assert masks == {"gpu1:eth0": 8, "gpu1:eth1": 255}

    def test_one_column_is_what_is_set(self) -> None:
        dcqcn = qos_of(printed.MLXCONFIG_PLAIN).dcqcn
        assert (dcqcn.priority_mask, dcqcn.priorities, dcqcn.cnp_priority) == (255, tuple(range(8)), 6)

    def test_a_register_says_what_queue_pairs_are_made_with(self) -> None:
        qos = qos_of(printed.MLXREG)
        assert (qos.out_of_order, qos.selective_repeat) == (True, False)
        wiring = "".join(f"/sys/class/net/eth{n}/device = 0000:17:00.{n}\n" for n in (0, 1))
        title = "mlxreg -d 0000:17:00.1 --reg_name ROCE_ACCL --get"
        text = f"{SNAPSHOT}==> files\n{wiring}==> {title}\n{printed.MLXREG}==> end\n"
        forced = {host.name: host.qos.out_of_order for host in hosts_of(read_facts(text, "x.facts")).hosts}
        assert forced == {"gpu1:eth0": UNKNOWN, "gpu1:eth1": True}

    def test_a_field_that_the_firmware_cannot_set_says_nothing(self) -> None:
        select = "adaptive_routing_forced_en_field_select        | 0x0000000"
        assert f"{select}1" in printed.MLXREG
        qos = qos_of(printed.MLXREG.replace(f"{select}1", f"{select}0"))
        assert (qos.out_of_order, qos.selective_repeat) == (UNKNOWN, False)

    def test_of_two_outputs_of_a_command_the_later_one_holds(self) -> None:
        again = printed.MLXREG.replace("adaptive_routing_forced_en                     | 0x00000001", "")
        again = again.replace("selective_repeat_forced_en                     | 0x00000000", "")
        one, other = (
            f"$ mlxreg -d 0000:17:00.0 --reg_name ROCE_ACCL --get\n{again}"
            f"adaptive_routing_forced_en | 0x0000000{value}\n"
            for value in (0, 1)
        )
        hosts, problems, outdated = hosts_of(read_facts(one + other, "hosts/gpu1/register.txt"))
        assert (problems, hosts[0].qos.out_of_order) == ((), True)
        lines = [
            at
            for at, line in enumerate((one + other).splitlines(), 1)
            if "adaptive_routing_forced_en |" in line
        ]
        assert len(lines) == 2
        (said,) = outdated
        assert f"of line {lines[0]}, as" in said
        assert f"again in line {lines[1]}, which holds" in said

    @pytest.mark.parametrize(
        ("first", "second", "holds"),
        [
            ("$ mlnx_qos -i eth4", "+ mlnx_qos -i eth4 --pfc 0,0,0,1,0,0,0,0", True),
            ("+ mlnx_qos -i eth4", "+ mlnx_qos -i eth5", False),
            ("", "", False),
        ],
    )
    def test_outputs_of_two_interfaces_contradict_each_other(
        self, first: str, second: str, holds: bool
    ) -> None:
        """Without the commands nobody knows of which interface either is."""
        before = printed.MLNX_QOS.replace("0   0   0   1   0   0   0   0", "0   0   0   0   0   0   0   0")
        assert before != printed.MLNX_QOS
        text = f"{first}\n{before}\n{second}\n{printed.MLNX_QOS}"
        hosts, problems, outdated = hosts_of(read_facts(text, "hosts/gpu1/setup.txt"))
        assert (hosts[0].qos.pfc_priorities, len(problems), len(outdated)) == (
            ((3,), 0, 1) if holds else (UNKNOWN, 1, 0)
        )

    def test_lldp_names_the_switch_and_its_port(self) -> None:
        (read,) = hosts_of(read_facts(printed.LLDP, "hosts/gpu1/lldp.txt")).hosts
        assert [one.neighbor for one in read.attachments] == [("leaf1", "Ethernet0")]

    def test_a_transcript_of_a_terminal_is_read_by_its_prompts(self) -> None:
        text = f"user@gpu1:~$ mlnx_qos -i eth2\n{printed.MLNX_QOS}root@gpu1:~# ethtool -a eth2\n{printed.ETHTOOL_PAUSE}"
        qos = qos_of(text)
        assert (qos.interfaces, qos.trust, qos.global_pause) == (("eth2",), "dscp", True)


class TestEnvironment:
    qos = qos_of(printed.NCCL_CONF, "hosts/gpu1/nccl.conf")

    def test_variables_are_known_as_written(self) -> None:
        written = {variable.name: variable.value for variable in self.qos.jobs.variables}
        assert written == {
            "NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1",
            "NCCL_IB_TC": "106",
            "NCCL_IB_TIMEOUT": "22",
            "NCCL_SOCKET_IFNAME": "eth",
            "UCX_IB_TRAFFIC_CLASS": "auto",
        }

    def test_what_they_mean_is_known_too(self) -> None:
        assert (self.qos.nccl_tc, self.qos.jobs.hca) == (106, "=mlx5_0:1,mlx5_1:1")
        assert isinstance(self.qos.transport, Transport)
        assert self.qos.transport[:2] == (22, 7), "the other of the two is NCCL's own default"
        assert [(library.name, library.tos) for library in self.qos.jobs.libraries] == [("UCX", None)]

    def test_what_no_file_sets_may_be_set_elsewhere(self) -> None:
        assert self.qos.jobs.gid_index is UNKNOWN
        assert qos_of("NCCL_DEBUG=INFO\n").nccl_tc is UNKNOWN

    @pytest.mark.parametrize("value", ["256", "-2", "high", "1.5", "1e2"])
    def test_a_number_that_is_none_is_located(self, value: str) -> None:
        facts = read_facts(f"NCCL_DEBUG=INFO\n  NCCL_IB_TC={value}\n", "nccl.conf")
        assert [(p.line, p.column, p.message) for p in facts.problems] == [
            (2, 3, f"NCCL_IB_TC: {value!r} is not a number from 0 to 255")
        ]


class TestOperator:
    def test_a_device_is_of_its_node_and_raw_settings_win(self) -> None:
        (facts,) = read_document(load_text(printed.NIC_DEVICE, "cluster/nic.yaml"))
        (read,) = hosts_of(facts).hosts
        assert (read.name, read.qos.trust, read.qos.pfc_priorities) == ("gpu1", "dscp", (3,))
        assert (read.qos.traffic_class, read.qos.dcqcn.cnp_dscp, read.qos.dcqcn.cnp_priority) == (106, 48, 6)
        assert facts.document.locate(read.qos.traffic_class_origin.path).line == 11

    def test_without_words_of_its_own_the_operator_marks_nothing(self) -> None:
        text = printed.NIC_DEVICE.replace(", tos: 106", "").replace('{name: CNP_DSCP_P1, value: "48"}', "{}")
        qos = hosts_of(*read_document(load_text(text, "nic.yaml"))).hosts[0].qos
        assert (qos.traffic_class, qos.dcqcn.cnp_dscp, qos.dcqcn.priority_mask) == (0, 4, 255)

    def test_a_resource_without_a_template_is_located(self) -> None:
        text = "apiVersion: configuration.net.nvidia.com/v1alpha1\nkind: NicConfigurationTemplate\nspec: {}\n"
        (facts,) = read_document(load_text(text, "nic.yaml"))
        assert [(p.line, p.message) for p in facts.problems] == [
            (3, "NicConfigurationTemplate has no spec.template")
        ]

    def test_a_template_without_settings_of_roce_says_nothing_wrong(self) -> None:
        text = "apiVersion: configuration.net.nvidia.com/v1alpha1\nkind: NicConfigurationTemplate\n"
        (facts,) = read_document(load_text(f"{text}spec: {{template: {{numVfs: 8}}}}\n", "nic.yaml"))
        assert (facts.said, facts.problems) == ((), ())

    def test_each_resource_of_a_file_is_read_at_its_place(self) -> None:
        one = printed.NIC_DEVICE.replace("gpu1", "gpu2").replace("name: ", "name: other-", 1)
        other = "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
        text = f"{printed.NIC_DEVICE}---\n{other}---\n{one}"
        first, second = resources_in(text, "cluster/nics.yaml")
        (read,) = hosts_of(second).hosts
        assert (first.host, second.host, read.qos.traffic_class) == ("gpu1", "gpu2", 106)
        line = second.document.locate(read.qos.traffic_class_origin.path).line
        assert line == printed.NIC_DEVICE.count("\n") + 1 + other.count("\n") + 1 + 11
        assert "tos: 106" in text.splitlines()[line - 1]

    def test_a_file_with_more_than_resources_of_a_cluster_is_none(self) -> None:
        assert resources_in(f"{printed.NIC_DEVICE}---\nlossless: v1\n", "nics.yaml") == ()


class TestSnapshot:
    def test_it_names_its_host_whatever_its_folder(self) -> None:
        assert read_facts(f"{SNAPSHOT}==> end\n", "anywhere/x.facts").host == "gpu1"

    def test_other_files_are_of_the_folder_they_lie_in(self) -> None:
        assert read_facts(printed.MLNX_QOS, "hosts/gpu7/mlnx_qos.txt").host == "gpu7"

    def test_one_that_was_cut_short_is_reported(self) -> None:
        facts = read_facts(f"{SNAPSHOT}==> ethtool -a eth2\nPause parameters for eth2:\n", "x.facts")
        assert [problem.message for problem in facts.problems] == [
            "ethtool -a eth2: the output ends before RX and TX",
            "the snapshot ends before its last line, '==> end': it was cut short",
        ]

    def test_one_of_another_version_is_reported(self) -> None:
        facts = read_facts(SNAPSHOT.replace("facts 1", "facts 2") + "==> end\n", "x.facts")
        assert [(p.line, p.message) for p in facts.problems] == [
            (1, "a snapshot of version 2; this program reads 1")
        ]

    def test_two_files_that_contradict_each_other_are_reported_once_and_not_checked(self) -> None:
        one = read_facts(printed.MLNX_QOS, "hosts/gpu1/mlnx_qos.txt")
        other = read_facts(
            printed.MLNX_QOS.replace("dscp\n", "pcp\n").replace("len: 7", "len: 3"), "hosts/gpu1/b.txt"
        )
        hosts, problems, _ = hosts_of(one, other)
        assert [(p.file, p.line, p.message) for p in problems] == [
            (
                *("hosts/gpu1/b.txt", 2),
                "contradicts hosts/gpu1/mlnx_qos.txt of the same host, here and in 1 more places; "
                "what they differ in is not checked",
            )
        ]
        assert (hosts[0].qos.trust, hosts[0].qos.cable_m, hosts[0].qos.pfc_priorities) == (
            UNKNOWN,
            UNKNOWN,
            (3,),
        )

    def test_the_order_of_files_does_not_matter(self) -> None:
        files = [
            read_facts(text, f"hosts/gpu1/{name}.eth2.txt")
            for name, text in (("a", printed.MLNX_QOS), ("b", printed.SYSFS), ("c", printed.ETHTOOL_PAUSE))
        ]
        forth, back = (hosts_of(*order).hosts[0].qos for order in (files, files[::-1]))
        assert bare(forth._replace(nic=None)) == bare(back._replace(nic=None))
        assert forth.origins == back.origins


@pytest.mark.parametrize(
    "text", ["", "hello\n", "# dcb\nNOTHING=1\n", "PORT = 5\n", '{"PORT": {}}', "key: value\n"]
)
def test_other_texts_are_none_of_ours(text: str) -> None:
    assert not is_facts(text)


@pytest.mark.parametrize("name", [n for n in dir(printed) if n.isupper()])
def test_whatever_is_cut_off_is_read_without_a_traceback(name: str, tmp_path: Path) -> None:
    text = getattr(printed, name)
    for end in range(1, len(text), 7):
        cut = text[:end]
        if is_facts(cut):
            hosts_of(read_facts(cut, str(tmp_path / "facts.txt")))


PIECES = (
    "0",
    "9" * 5000,
    "-1",
    ",",
    ":",
    "\n",
    "\t",
    "==> ",
    "null",
    "[",
    "}",
    '"',
    "é",
    "\u2028",
    "%",
    "True(",
    "0x",
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 30), st.sampled_from(PIECES)), min_size=1, max_size=5
    )
)
def test_whatever_is_changed_in_a_snapshot_every_problem_has_its_place(
    changes: list[tuple[int, int, str]],
) -> None:
    text = WHOLE
    for at, cut, piece in changes:
        place = at % len(text)
        text = text[:place] + piece + text[place + cut :]
    if not is_facts(text):
        return
    facts = read_facts(text, "hosts/gpu1/snapshot.facts")
    assert all(problem.line and problem.column for problem in facts.problems)
    for host in hosts_of(facts).hosts:
        for _, origin in host.qos.origins:
            assert facts.document.exists(origin.path)


WHOLE = SNAPSHOT + "".join(
    f"==> {title}\n{text}\n"
    for title, text in (
        ("files", printed.SYSFS),
        ("mlnx_qos -i eth2", printed.MLNX_QOS),
        *(
            (f"dcb -j {about} show dev eth3", getattr(printed, f"DCB_{about.upper()}"))
            for about in ("app", "pfc", "ets")
        ),
        ("ethtool -a eth2", printed.ETHTOOL_PAUSE),
        ("mlxconfig -d 0000:17:00.0 -e query", printed.MLXCONFIG),
        ("mlxreg -d 0000:17:00.0 --reg_name ROCE_ACCL --get", printed.MLXREG),
        ("nccl.conf", printed.NCCL_CONF),
        ("lldpctl -f keyvalue", printed.LLDP),
        ("not read", "nothing: at all"),
        ("end", ""),
    )
)


@pytest.mark.parametrize("is_script", [False, True])
@pytest.mark.parametrize("text", ["", "\n", "no output of a host\n"])
def test_a_text_of_no_form_has_no_facts(text: str, is_script: bool) -> None:
    facts = read_facts(text, "node1.sh", is_script=is_script)
    assert (facts.said, facts.problems) == ((), ())
