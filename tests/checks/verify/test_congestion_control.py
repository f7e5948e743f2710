"""Congestion control of a whole fabric: marks of switches, CNPs of receivers and of senders, and the second sign."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.checks.verify.running import Files, findings, leaf_config, reasons, report_on
from tests.paths import RULE_BASES

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report

PAIR = {"fabric.yaml": (RULE_BASES / "pair.yaml").read_text()}
WITHOUT_DCQCN = {
    "fabric.yaml": PAIR["fabric.yaml"].replace(
        "congestion_control:\n  dcqcn: {cnp_interval: 4us}", "congestion_control: pfc-only"
    )
}
KMAX = 3276800
BOTH = {"USER 0": KMAX + 1, "USER 8": 2 * KMAX}


def _port(sent: int, handled: int, ignored: int = 0, marked: int = 0) -> str:
    counters = f"np_ecn_marked_roce_packets {marked} np_cnp_sent {sent}"
    return f"link mlx5_0/1 {counters} rp_cnp_handled {handled} rp_cnp_ignored {ignored}\n"


def _hosts(ports: dict[str, str], taken: dict[str, int] | None = None) -> Files:
    files = {}
    for host, port in ports.items():
        header = f"# host {host}\n" + (f"# taken {taken[host]} UTC\n" if taken else "")
        files[f"{host}/a.txt"] = f"{header}==> rdma statistic show link\n{port}"
    return files


class TestLostCnps:
    """host1 sent CNPs to host2."""

    def _report(
        self,
        tmp_path: Path,
        arrived: int,
        times: tuple[dict[str, int], dict[str, int]] | None = None,
        sent: int = 1000,
        intent: Files = PAIR,
    ) -> Report:
        now = _hosts({"host1": _port(sent, 0), "host2": _port(0, arrived)}, times[1] if times else None)
        before = _hosts({"host1": _port(0, 0), "host2": _port(0, 0)}, times[0] if times else None)
        return report_on(tmp_path, {**now, **intent}, before)

    @pytest.mark.parametrize(
        ("arrived", "expected"), [(1000, []), (400, []), (399, ["HCT004"]), (0, ["HCT004"])]
    )
    def test_half_of_what_is_in_the_common_time_must_arrive(
        self, tmp_path: Path, arrived: int, expected: list[str]
    ) -> None:
        # 100 s each, of which 88 of 110 s are common: 800 of 1,000 are expected, and 400 of them asked for.
        times = {"host1": 0, "host2": 10}, {"host1": 98, "host2": 110}
        report = self._report(tmp_path, arrived, times)
        assert ([f.code for f in report.findings], reasons(report, "HCT004")) == (expected, [])

    def test_captures_with_little_in_common_are_not_compared(self, tmp_path: Path) -> None:
        times = {"host1": 0, "host2": 60}, {"host1": 100, "host2": 160}
        report = self._report(tmp_path, 0, times)
        assert (findings(report), reasons(report, "HCT004")) == (
            set(),
            ["the captures of all hosts have less than half of their time in common"],
        )

    def test_without_times_only_none_at_all_is_a_finding(self, tmp_path: Path) -> None:
        (finding,) = self._report(tmp_path / "a", 0).findings
        assert (finding.code, finding.confidence, finding.data) == (
            "HCT004",
            "medium",
            {"sent": 1000, "arrived": 0},
        )
        some = self._report(tmp_path / "b", 1)
        assert findings(some) == set()
        assert reasons(some, "HCT004")[0].startswith("some CNPs did not arrive; when the captures")

    def test_a_few_cnps_may_all_be_at_the_edges(self, tmp_path: Path) -> None:
        assert findings(self._report(tmp_path / "a", 0, sent=9)) == set()
        assert findings(self._report(tmp_path / "b", 0, sent=10)) == {("HCT004", "host1:mlx5_0:1")}

    def test_ignored_ones_have_arrived(self, tmp_path: Path) -> None:
        now = _hosts({"host1": _port(1000, 0), "host2": _port(0, 100, 890)})
        before = _hosts({"host1": _port(0, 0), "host2": _port(0, 0)})
        report = report_on(tmp_path, {**now, **PAIR}, before)
        assert (findings(report), reasons(report, "HCT004")) == (set(), [])

    def test_a_fabric_without_dcqcn_sends_none(self, tmp_path: Path) -> None:
        report = self._report(tmp_path, 0, intent=WITHOUT_DCQCN)
        assert (findings(report), reasons(report, "HCT004")) == (set(), [])

    def test_a_host_that_is_missing_may_have_all_of_them(self, tmp_path: Path) -> None:
        now, before = (_hosts({"host1": _port(sent, 0)}) for sent in (1000, 0))
        report = report_on(tmp_path, {**now, **PAIR}, before)
        assert findings(report) == set()
        assert reasons(report, "HCT004")[0].startswith("CNPs are compared over all RDMA ports of all hosts")

    def test_one_capture_says_nothing_of_now(self, tmp_path: Path) -> None:
        report = report_on(tmp_path, {**_hosts({"host1": _port(1000, 0), "host2": _port(0, 0)}), **PAIR})
        assert (findings(report), reasons(report, "HCT004")) == (
            set(),
            ["CNPs are compared between two captures of each host (--since)"],
        )

    def test_counters_that_began_again_are_not_compared(self, tmp_path: Path) -> None:
        now = _hosts({"host1": _port(1000, 0), "host2": _port(0, 3)})
        before = _hosts({"host1": _port(0, 0), "host2": _port(0, 900)})
        report = report_on(tmp_path, {**now, **PAIR}, before)
        assert (findings(report), len(reasons(report, "HCT004"))) == (set(), 1)


class TestIgnoredCnps:
    RP_OFF = "".join(f"ecn/roce_rp/enable/{number}={int(number != 3)}\n" for number in range(8))

    def test_none_handled_is_the_second_sign(self, tmp_path: Path) -> None:
        (finding,) = report_on(tmp_path, _hosts({"host1": _port(0, 0, 7)})).findings
        assert (finding.code, finding.severity, finding.confidence) == ("HCT009", "warning", "medium")

    def test_beside_handled_ones_it_needs_the_reaction_point_to_be_off(self, tmp_path: Path) -> None:
        some = _hosts({"host1": _port(0, 900, 7)})
        report = report_on(tmp_path / "a", {**some, **PAIR})
        assert (findings(report), len(reasons(report, "HCT009"))) == (set(), 1)
        (finding,) = report_on(tmp_path / "b", {**some, **PAIR, "host1/eth0-ecn.txt": self.RP_OFF}).findings
        assert (finding.code, finding.confidence, finding.data["off"]) == ("HCT009", "high", [3])

    def test_what_was_ignored_before_is_no_finding(self, tmp_path: Path) -> None:
        ports = _hosts({"host1": _port(0, 0, 7)})
        assert findings(report_on(tmp_path, ports, ports)) == set()


class TestUnansweredMarks:
    NP = "".join(f"ecn/roce_np/enable/{number}={{}}\n" for number in range(8))

    def _report(self, tmp_path: Path, beside: Files, sent: int = 0) -> Report:
        return report_on(tmp_path, {**_hosts({"host1": _port(sent, 0, marked=441882)}), **beside})

    def test_one_cnp_is_an_answer(self, tmp_path: Path) -> None:
        assert findings(self._report(tmp_path, PAIR, sent=1)) == set()

    @pytest.mark.parametrize(
        ("beside", "confidence"),
        [
            (PAIR, "medium"),
            ({"host1/eth0-ecn.txt": NP.format(*[0] * 8)}, "high"),
            ({"host1/eth0-ecn.txt": NP.format(*[0] * 7, 1)}, None),
            (WITHOUT_DCQCN, None),
            ({}, None),
        ],
        ids=["intended", "off", "on for one priority", "not intended", "nothing said"],
    )
    def test_it_needs_to_be_known_that_cnps_are_wanted_or_off(
        self, tmp_path: Path, beside: Files, confidence: str | None
    ) -> None:
        found = [(f.code, f.confidence) for f in self._report(tmp_path, beside).findings]
        assert found == ([("HCT012", confidence)] if confidence else [])

    def test_marks_of_before_are_no_finding(self, tmp_path: Path) -> None:
        ports = {**_hosts({"host1": _port(0, 0, marked=7)}), **PAIR}
        assert findings(report_on(tmp_path, ports, ports)) == set()


class TestPriorityOfCnps:
    def _capture(self, handled: int, **packets: int) -> Files:
        counters = "".join(f"     {name}: {value}\n" for name, value in packets.items())
        return {
            "host1/a.txt": f"==> ethtool -S eth0\n{counters}==> rdma statistic show link\n{_port(0, handled)}"
        }

    @pytest.mark.parametrize(("on_6", "expected"), [(100, {("HCT011", "host1:mlx5_0:1")}), (101, set())])
    def test_one_packet_of_the_intended_priority_is_enough(
        self, tmp_path: Path, on_6: int, expected: set[tuple[str, str]]
    ) -> None:
        now = self._capture(900, rx_prio3_packets=99, rx_prio6_packets=on_6)
        before = self._capture(100, rx_prio3_packets=9, rx_prio6_packets=100)
        assert findings(report_on(tmp_path, {**now, **PAIR}, before)) == expected

    def test_one_capture_is_not_enough(self, tmp_path: Path) -> None:
        # The driver counts packets from when it was loaded, firmware may count CNPs from before.
        now = self._capture(900, rx_prio3_packets=99, rx_prio6_packets=0)
        assert findings(report_on(tmp_path, {**now, **PAIR})) == set()


class TestMarksOfTheFabric:
    """Queues 3 of Ethernet0 and Ethernet8 of leaf1, by their user watermarks and marks."""

    def _capture(
        self, peaks: dict[str, int], marks: int = 0, drops: int = 0, *, supported: bool = True
    ) -> Files:
        queues = {f"Ethernet{port}:3": f"oid:0x1500000000{port:04}" for port in (0, 8)}
        fields = {
            "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": str(drops),
            "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": str(marks),
        }
        database: dict[str, object] = {"COUNTERS_QUEUE_NAME_MAP": queues}
        database.update({f"COUNTERS:{oid}": fields for oid in queues.values()})
        for name, peak in peaks.items():
            table, port = name.split()
            row = {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": str(peak)}
            database[f"{table}_WATERMARKS:{queues[f'Ethernet{port}:3']}"] = row
        capability = "QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER"
        database[capability] = {"isSupported": "true" if supported else "false"}
        return {"leaf1/state.json": json.dumps(database), "leaf1/config_db.json": leaf_config()}

    def test_two_queues_are_one_finding_in_place_of_one_each(self, tmp_path: Path) -> None:
        report = report_on(tmp_path, self._capture(BOTH))
        assert findings(report) == {("CTR004", "leaf1:Ethernet0:3"), ("CTR004", "leaf1:Ethernet8:3")}

    def test_one_peak_is_of_one_queue_alone(self, tmp_path: Path) -> None:
        report = report_on(tmp_path, self._capture({"USER 0": KMAX, "USER 8": 2 * KMAX}))
        assert findings(report) == {("CTR003", "leaf1:Ethernet8:3")}

    def test_a_peak_that_two_tables_have_is_one(self, tmp_path: Path) -> None:
        same = self._capture({"USER 8": 2 * KMAX, "PERIODIC 8": 2 * KMAX})
        assert findings(report_on(tmp_path / "a", same)) == {("CTR003", "leaf1:Ethernet8:3")}
        other = self._capture({"USER 8": 2 * KMAX, "PERIODIC 8": KMAX + 1})
        assert findings(report_on(tmp_path / "b", other)) == {("CTR004", "leaf1:Ethernet8:3")}

    def test_marks_or_drops_of_wred_are_an_answer(self, tmp_path: Path) -> None:
        assert findings(report_on(tmp_path / "a", self._capture(BOTH, 1, 0))) == set()
        codes = {code for code, _ in findings(report_on(tmp_path / "b", self._capture(BOTH, 0, 1)))}
        assert codes == {"CTR001"}

    def test_a_switch_that_does_not_count_marks_is_not_checked(self, tmp_path: Path) -> None:
        report = report_on(tmp_path, self._capture(BOTH, supported=False))
        assert findings(report) == set()
        assert reasons(report, "CTR004") == ["whether the switch counts ECN marks is not known"]

    def test_marks_at_another_switch_say_that_the_fabric_marks(self, tmp_path: Path) -> None:
        other = {
            f"leaf2/{name[6:]}": text.replace("leaf1", "leaf2") for name, text in self._capture({}, 5).items()
        }
        report = report_on(tmp_path, {**self._capture(BOTH), **other})
        assert findings(report) == {("CTR003", "leaf1:Ethernet0:3"), ("CTR003", "leaf1:Ethernet8:3")}
        assert len(report.findings) == 1

    def test_between_captures_peaks_must_have_risen_and_marks_not(self, tmp_path: Path) -> None:
        low = self._capture({"USER 0": 7, "USER 8": KMAX}, 5)
        risen = report_on(tmp_path / "a", self._capture(BOTH, 5), low)
        assert findings(risen) == {("CTR004", "leaf1:Ethernet0:3"), ("CTR004", "leaf1:Ethernet8:3")}
        assert findings(report_on(tmp_path / "b", self._capture(BOTH, 6), low)) == set()
        periods = [self._capture({"PERIODIC 0": peak, "PERIODIC 8": peak}, 5) for peak in (KMAX + 1, 7)]
        assert findings(report_on(tmp_path / "d", *periods)) == set()
        for marks in (0, 5):
            both = self._capture(BOTH, marks)
            assert findings(report_on(tmp_path / f"c{marks}", both, both)) == set()
