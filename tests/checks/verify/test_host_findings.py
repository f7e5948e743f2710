"""What rules say of hosts and subnets that ran, and where they must be silent."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lossless.api import Options, Report, verify
from tests.checks.verify.running import INTENT, report_on
from tests.conftest import REFERENCE
from tests.formats.infiniband.state import ibdiagnet_files
from tests.paths import RULE_BASES

CAPTURES = REFERENCE / "captures" / "state"

RDMA = "rx_vport_rdma_unicast_packets: 3809045607\ntx_vport_rdma_unicast_packets: 3809045607\n"
NO_RDMA = "rx_vport_rdma_unicast_packets: 0\ntx_vport_rdma_unicast_packets: 0\n"
ON_PRIORITY_0 = "tx_prio0_packets: 896117891\ntx_prio3_packets: 0\nrx_prio0_packets: 845715962\n"


def said(report: Report) -> set[tuple[str, str, str]]:
    return {
        (finding.code, finding.severity, element)
        for finding in report.findings
        for element in finding.elements
    }


def of(folder: Path, *texts: str, intent: str = "") -> Report:
    """Return what is said of texts of one host; ``intent`` is the name of a base that is beside them."""
    (folder / "host1").mkdir()
    for number, text in enumerate(texts):
        (folder / "host1" / f"capture{number}.txt").write_text(text)
    if intent:
        shutil.copy(RULE_BASES / intent, folder)
    report = verify([folder], options=Options())
    assert report.errors == ()
    return report


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


def not_checked(report: Report) -> list[str]:
    return [unchecked.code for unchecked in report.not_checked]


@pytest.mark.usefixtures("reference")
def test_captures_of_several_hosts_in_one_folder_are_not_mixed(tmp_path: Path) -> None:
    files = [path for name in ("ethtool", "nccl") for path in sorted((CAPTURES / "hosts" / name).iterdir())]
    (tmp_path / "host").mkdir()
    each: set[tuple[str, str, str]] = set()
    for path in files:
        each |= said(verify([shutil.copy(path, tmp_path / "host")]))
    assert {code for code, *_ in each} == {"HCT002", "HCT005", "HCT007", "HCT008"}
    assert said(verify([tmp_path])) == each


@pytest.mark.usefixtures("reference")
def test_a_log_of_flushed_requests_alone_is_not_checked() -> None:
    assert not_checked(verify([CAPTURES / "hosts" / "nccl" / "wr-flush-error5.txt"])) == ["HCT008"]


class TestGlobalPause:
    PAUSES = "tx_global_pause: 1266552\n"

    def test_on_a_port_with_rdma_it_is_a_warning(self, tmp_path: Path) -> None:
        assert said(of(tmp_path, RDMA + self.PAUSES)) == {("HCT002", "warning", "host1")}

    def test_on_a_host_that_is_to_have_pfc_it_is_a_warning(self, tmp_path: Path) -> None:
        report = of(tmp_path, self.PAUSES + "rx_global_pause: 0\n", intent="leaf-spine.yaml")
        assert said(report) == {("HCT002", "warning", "host1")}

    def test_a_nic_beside_that_of_rdma_may_pause_its_link(self, tmp_path: Path) -> None:
        text = f"==> ethtool -S eth0\n{RDMA}==> ethtool -S eth1\n{NO_RDMA}{self.PAUSES}"
        assert codes(of(tmp_path, text, intent="leaf-spine.yaml")) == []

    def test_an_ethernet_host_may_pause_its_link(self, tmp_path: Path) -> None:
        report = of(tmp_path, NO_RDMA + self.PAUSES + "tx_global_pause_duration: 555665182\n")
        assert (codes(report), not_checked(report)) == ([], [])

    def test_a_count_without_a_second_sign_is_not_checked(self, tmp_path: Path) -> None:
        report = of(tmp_path, self.PAUSES + "rx_global_pause: 0\n")
        assert (codes(report), not_checked(report)) == ([], ["HCT002"])

    def test_pauses_of_one_priority_are_none(self, tmp_path: Path) -> None:
        assert codes(of(tmp_path, RDMA + "tx_prio3_pause: 126655\ntx_prio3_pause_duration: 5556\n")) == []


class TestPriority0:
    @pytest.mark.parametrize(("named", "expected"), [("eth0", []), ("eth1", ["HCT003"])])
    def test_the_intent_is_not_of_other_interfaces(
        self, tmp_path: Path, named: str, expected: list[str]
    ) -> None:
        intent = INTENT["fabric.yaml"].replace("hardware:", f"hosts: {{interfaces: [{named}]}}\nhardware:")
        storage = f"==> ethtool -S eth1\n{RDMA}{ON_PRIORITY_0}"
        report = report_on(tmp_path, {"host1/a.txt": storage, "fabric.yaml": intent})
        assert (report.errors, codes(report)) == ((), expected)

    def test_rdma_beside_pfc_on_another_priority(self, tmp_path: Path) -> None:
        assert codes(of(tmp_path, RDMA + ON_PRIORITY_0, intent="leaf-spine.yaml")) == ["HCT003"]

    def test_without_rdma_nothing_is_misplaced(self, tmp_path: Path) -> None:
        report = of(tmp_path, NO_RDMA + ON_PRIORITY_0, intent="leaf-spine.yaml")
        assert (codes(report), not_checked(report)) == ([], [])

    def test_where_nothing_says_what_is_lossless_it_is_not_checked(self, tmp_path: Path) -> None:
        assert not_checked(of(tmp_path, RDMA + ON_PRIORITY_0)) == ["HCT003"]

    def test_where_nothing_says_that_rdma_was_carried_it_is_not_checked(self, tmp_path: Path) -> None:
        assert not_checked(of(tmp_path, ON_PRIORITY_0, intent="leaf-spine.yaml")) == ["HCT003"]

    def test_packets_of_another_priority_are_enough(self, tmp_path: Path) -> None:
        counters = ON_PRIORITY_0.replace("tx_prio3_packets: 0", "tx_prio3_packets: 1")
        assert codes(of(tmp_path, RDMA + counters, intent="leaf-spine.yaml")) == []

    def test_pfc_that_was_read_back_counts_before_the_intent(self, tmp_path: Path) -> None:
        pfc = "==> dcb pfc show dev eth0\nprio-pfc 0:on 1:off 2:off 3:off 4:off 5:off 6:off 7:off\n"
        report = of(tmp_path, f"==> ethtool -S eth0\n{RDMA}{ON_PRIORITY_0}{pfc}", intent="leaf-spine.yaml")
        assert codes(report) == ["APP005"]

    def test_a_nic_that_counts_pauses_of_one_priority_has_pfc_on_it(self, tmp_path: Path) -> None:
        whole = "rx_packets: 1\nrx_vport_unicast_packets: 1\nrx_prio3_pause: 0\ntx_prio3_pause: 0\n"
        counters = "".join(f"rx_prio{number}_packets: {0 if number else 9}\n" for number in range(8))
        assert codes(of(tmp_path, f"{RDMA}{whole}{counters}tx_prio0_packets: 9\n")) == ["HCT003"]

    def test_a_nic_without_pfc_may_be_of_a_lossy_fabric(self, tmp_path: Path) -> None:
        pfc = "==> dcb pfc show dev eth0\nprio-pfc " + " ".join(f"{number}:off" for number in range(8))
        report = of(tmp_path, f"==> ethtool -S eth0\n{RDMA}{ON_PRIORITY_0}{pfc}\n")
        assert (codes(report), not_checked(report)) == ([], ["HCT003"])

    def test_an_rdma_device_speaks_for_the_only_nic(self, tmp_path: Path) -> None:
        device = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/rx_write_requests:3809045607\n"
        assert codes(of(tmp_path, ON_PRIORITY_0, device, intent="leaf-spine.yaml")) == ["HCT003"]

    def test_of_two_rdma_devices_it_is_not_known_whose_the_nic_is(self, tmp_path: Path) -> None:
        devices = (
            f"/sys/class/infiniband/{name}/ports/1/hw_counters/rx_write_requests:3809045607\n"
            for name in ("mlx5_0", "mlx5_1")
        )
        report = of(tmp_path, ON_PRIORITY_0, "".join(devices), intent="leaf-spine.yaml")
        assert (codes(report), not_checked(report)) == ([], ["HCT003"])

    def test_an_infiniband_device_is_none_of_an_ethernet_nic(self, tmp_path: Path) -> None:
        root = "/sys/class/infiniband/mlx5_0/ports/1"
        device = f"{root}/hw_counters/rx_write_requests:3809045607\n{root}/link_layer:InfiniBand\n"
        report = of(tmp_path, ON_PRIORITY_0, device, intent="leaf-spine.yaml")
        assert (codes(report), not_checked(report)) == ([], ["HCT003"])


class TestReceiver:
    def test_discards_of_a_lossy_priority_are_none_of_rdma(self, tmp_path: Path) -> None:
        counters = f"{RDMA}rx_discards_phy: 49337\nrx_prio0_discards: 49337\nrx_prio3_discards: 0\n"
        report = of(tmp_path, counters, intent="leaf-spine.yaml")
        assert said(report) == {("HCT005", "info", "host1")}

    def test_discards_of_the_lossless_priority_are_a_warning(self, tmp_path: Path) -> None:
        counters = f"{RDMA}rx_discards_phy: 49337\nrx_prio0_discards: 0\nrx_prio3_discards: 49337\n"
        report = of(tmp_path, counters, intent="leaf-spine.yaml")
        assert said(report) == {("HCT005", "warning", "host1")}

    def test_discards_for_want_of_a_buffer_of_the_host_count_too(self, tmp_path: Path) -> None:
        counters = f"{RDMA}rx_discards_phy: 0\nrx_prio0_buf_discard: 5\nrx_prio3_buf_discard: 49337\n"
        report = of(tmp_path, counters, intent="leaf-spine.yaml")
        assert said(report) == {("HCT005", "warning", "host1")}


class TestLanes:
    LANES = "rx_err_lane_0_phy: 6\nrx_err_lane_1_phy: 17722623\nrx_packets: 1\n"

    def test_one_lane_that_counts_may_be_the_only_one(self, tmp_path: Path) -> None:
        lanes = "rx_err_lane_0_phy: 17722623\nrx_err_lane_1_phy: 0\nrx_packets: 1\n"
        report = of(tmp_path, f"rx_pcs_symbol_err_phy: 3\n{lanes}")
        assert (codes(report), not_checked(report)) == ([], ["HCT006"])

    def test_what_fec_may_have_corrected_is_not_checked(self, tmp_path: Path) -> None:
        report = of(tmp_path, self.LANES)
        assert (codes(report), not_checked(report)) == ([], ["HCT006"])

    @pytest.mark.parametrize(("downed", "severity"), [(0, "warning"), (2, "info")])
    def test_a_link_that_came_up_has_errors_of_that(self, tmp_path: Path, downed: int, severity: str) -> None:
        counters = f"link_down_events_phy: {downed}\nrx_pcs_symbol_err_phy: 3\n"
        assert said(of(tmp_path, counters + self.LANES)) == {("HCT006", severity, "host1")}

    @pytest.mark.parametrize(
        ("uncorrected", "expected"), [(0, []), (386, ["HCT006"])], ids=["corrected", "uncorrected"]
    )
    def test_few_errors_are_a_finding_only_where_fec_failed(
        self, tmp_path: Path, uncorrected: int, expected: list[str]
    ) -> None:
        counters = f"rx_pcs_symbol_err_phy: {uncorrected}\nrx_err_lane_0_phy: 6\nrx_err_lane_1_phy: 1900\n"
        assert codes(of(tmp_path, f"{counters}rx_packets: 1\n")) == expected

    def test_lanes_that_are_all_bad_are_not_one_bad_lane(self, tmp_path: Path) -> None:
        lanes = (f"rx_err_lane_{lane}_phy: {errors}\n" for lane, errors in enumerate((972, 971, 970)))
        assert codes(of(tmp_path, f"rx_pcs_symbol_err_phy: 3\n{''.join(lanes)}rx_packets: 1\n")) == []


class TestJobs:
    def test_the_first_error_that_is_no_flush_is_the_cause(self, tmp_path: Path) -> None:
        lines = (
            f"h1:5:9 [0] NCCL WARN NET/IB : Got completion from peer 10.2.0.{n}<3> with error {n},"
            for n in (5, 13, 12)
        )
        report = of(tmp_path, "".join(f"{line} opcode 0, len 0, vendor err 129 (Recv)\n\n" for line in lines))
        (finding,) = report.findings
        assert (finding.code, finding.data["status"], finding.data["errors"]) == ("HCT008", 13, 2)

    def test_hosts_that_each_use_one_link_layer_are_not_mixed(self, tmp_path: Path) -> None:
        lines = (
            f"{host}:5:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/{layer} [RO]; OOB eth0:10.0.0.1<0>\n"
            for host, layer in (("h1", "IB"), ("h2", "RoCE"))
        )
        assert codes(of(tmp_path, "".join(lines))) == []

    def test_a_host_may_have_ports_of_both_that_no_job_uses(self, tmp_path: Path) -> None:
        root = "/sys/class/infiniband/mlx5_{}/ports/1/link_layer:{}\n"
        counters = "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:0\n"
        assert codes(of(tmp_path, root.format(0, "InfiniBand") + root.format(1, "Ethernet") + counters)) == []


class TestAppliedMode:
    ALL_ON = "prio-pfc " + " ".join(f"{priority}:on" for priority in range(8)) + "\n"

    def test_without_an_intent_any_mode_may_be_right(self, tmp_path: Path) -> None:
        assert codes(of(tmp_path, self.ALL_ON)) == []

    def test_a_mode_that_is_cut_is_not_checked(self, tmp_path: Path) -> None:
        report = of(tmp_path, "prio-pfc 0:off 1:off 2:off\n", intent="leaf-spine.yaml")
        assert (codes(report), not_checked(report)) == ([], ["APP005"])

    @pytest.mark.parametrize(
        ("enabled", "severity"), [({3}, None), (set(), "error"), ({5}, "error"), ({3, 5}, "warning")]
    )
    def test_a_lossless_priority_that_is_off_is_worse_than_one_too_many(
        self, tmp_path: Path, enabled: set[int], severity: str | None
    ) -> None:
        modes = (f"{number}:{'on' if number in enabled else 'off'}" for number in range(8))
        report = of(tmp_path, f"prio-pfc {' '.join(modes)}\n", intent="leaf-spine.yaml")
        assert said(report) == ({("APP005", severity, "host1")} if severity else set())

    def test_it_says_what_is_on_and_what_should_be(self, tmp_path: Path) -> None:
        report = of(tmp_path, self.ALL_ON, intent="leaf-spine.yaml")
        (finding,) = report.findings
        assert (finding.code, finding.data["applied"]) == ("APP005", [*range(8)])
        assert finding.data["intended"] == [3]


class TestSubnets:
    PORT = 'Errors for "switch-a"\n   GUID 0x2c903006e29b0 port 6: {}\n'

    def test_waiting_alone_is_no_finding(self, tmp_path: Path) -> None:
        assert codes(of(tmp_path, self.PORT.format("[PortXmitWait == 84704351]"))) == []

    def test_discards_without_waiting_are_not_checked(self, tmp_path: Path) -> None:
        report = of(tmp_path, self.PORT.format("[LinkDownedCounter == 9] [PortXmitDiscards == 1029]"))
        assert (codes(report), not_checked(report)) == ([], ["IBC001"])

    def test_discards_of_a_link_that_was_never_down_are_a_warning(self, tmp_path: Path) -> None:
        port = "# Port extended counters: Lid 9 port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)\n"
        counters = "LinkDownedCounter:......0\nPortXmitDiscards:.......5\nPortXmitWait:...........7\n"
        assert said(of(tmp_path, port + counters)) == {("IBC001", "warning", "9:1")}

    def test_few_symbol_errors_are_not_checked(self, tmp_path: Path) -> None:
        report = of(tmp_path, self.PORT.format("[SymbolErrorCounter == 12] [LinkErrorRecoveryCounter == 2]"))
        assert (codes(report), not_checked(report)) == ([], ["IBC003"])

    def test_discards_behind_a_bad_cable_are_laid_to_it(self, tmp_path: Path) -> None:
        errors = "[SymbolErrorCounter == 65535] [LinkErrorRecoveryCounter == 8]"
        report = of(tmp_path, self.PORT.format(f"{errors} [PortXmitDiscards == 649] [PortXmitWait == 8]"))
        assert sorted(codes(report)) == ["CAP004", "IBC003"]

    def test_counters_of_ethernet_ports_are_none_of_a_subnet(self, tmp_path: Path) -> None:
        root = "/sys/class/infiniband/mlx5_0/ports/1"
        values = {"link_layer": "Ethernet", "counters/port_xmit_discards": 9, "counters/port_xmit_wait": 9}
        assert (
            codes(of(tmp_path, "".join(f"{root}/{name}:{value}\n" for name, value in values.items()))) == []
        )

    def test_a_link_is_one_finding_from_both_of_its_ends(self, tmp_path: Path) -> None:
        ends = (
            "CA: n02 HCA-1:\n   0xec0d9a03003d62be  4  1[  ] ==( 1X 25.78125 Gbps Active/ LinkUp)==>  2  17[  ]"
            ' "switch-a" ( Could be 4X )\n'
            "Switch: 0x506b4b0300820910 switch-a:\n   2  17[  ] ==( 1X 25.78125 Gbps Active/ LinkUp)==>  4  1[  ]"
            ' "n02 HCA-1" ( Could be 4X )\n'
        )
        assert said(of(tmp_path, ends)) == {("IBC005", "warning", "n02 HCA-1:1")}

    def test_a_link_that_is_not_active_is_no_finding(self, tmp_path: Path) -> None:
        end = (
            "CA: n02 HCA-1:\n   0xec0d9a03003d62be  4  1[  ] ==( 1X 25.78125 Gbps Initialize/ LinkUp)==>  2  17[  ]"
            ' "switch-a" ( Could be 4X )\n'
        )
        assert codes(of(tmp_path, end)) == []

    def test_a_link_of_two_lanes_that_could_only_be_wider_is_one_of_a_splitter_cable(
        self, tmp_path: Path
    ) -> None:
        end = (
            "CA: n02 HCA-1:\n   0xec0d9a03003d62be  4  1[  ] ==( 2X 53.125 Gbps Active/ LinkUp)==>  2  17[  ]"
            ' "switch-a" ( Could be 4X )\n'
        )
        assert codes(of(tmp_path, end)) == []

    def test_a_port_in_several_files_of_ibdiagnet_is_one(self, tmp_path: Path) -> None:
        counters = {
            "SymbolErrorCounter": 65535,
            "SymbolErrorCounterExt": 70000,
            "LinkErrorRecoveryCounter": 7,
        }
        folder = tmp_path / "run"
        folder.mkdir()
        texts = {
            "ibdiagnet2.db_csv": ibdiagnet_files.database(counters),
            "ibdiagnet2.log": ibdiagnet_files.LOG,
            "ibdiagnet2.net_dump": ibdiagnet_files.NET_DUMP,
            "ibdiagnet2.pm": ibdiagnet_files.counters_file(
                {"symbol_error_counter": "0xffff", "link_error_recovery_counter": "0x7"}
            ),
        }
        for name, text in texts.items():
            (folder / name).write_text(text)
        report = verify([folder])
        leaf = "MF0;leaf1:MQM8700/U1:1"
        assert said(report) == {("IBC003", "warning", leaf), ("IBC005", "warning", leaf)}
        assert "70,000 symbol errors, 7 recoveries" in next(
            f.message for f in report.findings if f.code == "IBC003"
        )

    def test_a_link_that_only_a_log_of_ibdiagnet_shows_is_a_finding(self, tmp_path: Path) -> None:
        report = of(tmp_path, ibdiagnet_files.LOG)
        assert [(finding.code, finding.message) for finding in report.findings] == [
            (
                "IBC005",
                "the link of S1070fd03001adeb4/N1070fd03001adeb4/P1 to gpu1/U1/P1 runs at 25 Gb/s a lane: should be 50",
            )
        ]

    def test_discards_of_a_link_that_was_down_are_none_of_congestion(self, tmp_path: Path) -> None:
        counters = "PortXmitDiscards:.......5\nPortXmitWait:...........7\n"
        details = "# PortXmitDiscardDetails counters: Lid 9 port 1\nPortInactiveDiscards:...5\n"
        port = "# Port extended counters: Lid 9 port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)\n"
        report = of(tmp_path, f"{port}{counters}{details}")
        assert (codes(report), not_checked(report)) == ([], [])

    def test_a_full_counter_of_symbol_errors_alone_is_no_bad_cable(self, tmp_path: Path) -> None:
        report = of(tmp_path, self.PORT.format("[SymbolErrorCounter == 65535]"))
        assert (codes(report), not_checked(report)) == (["CAP004"], ["IBC003"])

    def test_counters_in_sysfs_are_those_of_one_port(self, tmp_path: Path) -> None:
        root = "/sys/class/infiniband/mlx5_0/ports/1/counters"
        report = of(tmp_path, f"{root}/symbol_error:65535\n{root}/link_error_recovery:8\n")
        assert ("IBC003", "warning", "host1:mlx5_0:1") in said(report)


class TestManagers:
    ERROR = (
        "sm_mad_ctrl_send_err_cb: ERR 3113: MAD completed in error (IB_TIMEOUT): SubnGet({}), attr_mod 0x0"
    )

    def log(self, *stamps: str, attribute: str = "SMInfo") -> str:
        error = self.ERROR.format(attribute)
        return "".join(f"{stamp} 718223 [EC430700] 0x01 -> {error}\n" for stamp in stamps)

    @pytest.mark.parametrize(
        ("stamps", "expected"),
        [
            (("Mar 11 19:32:26", "Mar 11 19:34:56"), []),
            (("Mar 11 19:32:26", "Mar 11 19:34:56", "Mar 11 19:35:26"), ["IBC004"]),
            (("Dec 31 23:59:50", "Dec 31 23:59:59", "Jan  1 00:00:09"), ["IBC004"]),
            (("Mar 11 19:32:26", "Mar 12 19:34:56", "Mar 14 19:35:26"), []),
            (("Dec 11 19:32:26", "Dec 12 19:34:56", "Jan 14 19:35:26"), []),
        ],
        ids=["two", "three", "over the new year", "days apart", "days apart, over the new year"],
    )
    def test_it_is_silent_where_three_answers_were_lost_within_hours(
        self, tmp_path: Path, stamps: tuple[str, ...], expected: list[str]
    ) -> None:
        assert codes(of(tmp_path, self.log(*stamps))) == expected

    def test_nodes_that_do_not_answer_are_no_managers(self, tmp_path: Path) -> None:
        assert codes(of(tmp_path, self.log(*["Mar 11 19:32:26"] * 5, attribute="NodeInfo"))) == []
