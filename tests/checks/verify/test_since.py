"""Counters of hosts and subnets between two captures: what happened now, and what that says nothing of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.checks.verify.running import INTENT, Files, findings, reasons, report_on

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report


def _report(tmp_path: Path, now: str, before: str, *, intent: bool = False) -> Report:
    """Return what is said of two captures of host1."""
    return report_on(
        tmp_path, {"host1/now.txt": now, **(INTENT if intent else {})}, {"host1/before.txt": before}
    )


def _nic(interface: str = "eth0", **counters: int) -> str:
    lines = "".join(f"     {name}: {value}\n" for name, value in counters.items())
    return f"==> ethtool -S {interface}\n{lines}"


class TestNics:
    def _discards(self, now: int, rdma: int = 9) -> str:
        return _nic(rx_vport_rdma_unicast_packets=rdma, rx_packets_phy=rdma, rx_discards_phy=now)

    def test_old_discards_are_no_finding(self, tmp_path: Path) -> None:
        report = _report(tmp_path, self._discards(49337, 99), self._discards(49337))
        assert (findings(report), reasons(report, "HCT005")) == (set(), [])

    def test_new_discards_are_counted_from_the_earlier_capture(self, tmp_path: Path) -> None:
        report = _report(tmp_path, self._discards(49340, 99), self._discards(49337))
        (finding,) = report.findings
        assert (finding.code, finding.severity, finding.data) == (
            "HCT005",
            "warning",
            {"rx_discards_phy": 3},
        )
        assert finding.note == "between the captures"

    def test_a_nic_that_carried_no_rdma_in_between_discarded_none(self, tmp_path: Path) -> None:
        report = _report(tmp_path, self._discards(49340), self._discards(49337))
        assert findings(report, "info") == {("HCT005", "host1:eth0")}

    def test_a_driver_that_was_loaded_again_counts_from_there(self, tmp_path: Path) -> None:
        # The discards are more than before, the packets are less: all counters began again.
        report = _report(tmp_path, self._discards(60, 7), self._discards(50))
        (finding,) = report.findings
        assert (finding.data, finding.note) == ({"rx_discards_phy": 60}, "since its driver was loaded")

    def test_two_interfaces_are_compared_each_with_its_own(self, tmp_path: Path) -> None:
        def counters(first: int, second: int) -> str:
            return "".join(
                _nic(name, rx_vport_rdma_unicast_packets=value, rx_packets=value, rx_discards_phy=value)
                for name, value in (("eth0", first), ("eth1", second))
            )

        report = _report(tmp_path, counters(900, 7), counters(900, 5))
        assert findings(report) == {("HCT005", "host1:eth1")}

    def test_interfaces_without_names_are_told_by_their_files(self, tmp_path: Path) -> None:
        def files(first: int, second: int) -> Files:
            counters = "rx_vport_rdma_unicast_packets: {0}\nrx_packets: {0}\nrx_discards_phy: {0}\n"
            return {"host1/a.txt": counters.format(first), "host1/b.txt": counters.format(second)}

        (finding,) = report_on(tmp_path, files(900, 7), files(900, 5)).findings
        assert finding.data == {"rx_discards_phy": 2}

    def test_an_earlier_capture_of_another_interface_is_not_compared(self, tmp_path: Path) -> None:
        later, before = (
            text.replace("eth0", name)
            for text, name in ((self._discards(9), "eth1"), (self._discards(7), "eth0"))
        )
        (finding,) = _report(tmp_path, later, before).findings
        assert finding.note == "since its driver was loaded"

    def test_rdma_that_moved_to_its_priority_is_no_more_on_priority_0(self, tmp_path: Path) -> None:
        def counters(packets: int, lossless: int) -> str:
            return _nic(
                rx_vport_rdma_unicast_packets=packets + lossless,
                rx_prio0_packets=packets,
                tx_prio0_packets=packets,
                tx_prio3_packets=lossless,
            )

        assert findings(_report(tmp_path / "a", counters(900, 0), counters(5, 0), intent=True)) == {
            ("HCT003", "host1:eth0")
        }
        assert findings(_report(tmp_path / "b", counters(900, 800), counters(900, 0), intent=True)) == set()

    def test_other_traffic_alone_is_not_rdma_on_priority_0(self, tmp_path: Path) -> None:
        def counters(packets: int) -> str:
            return _nic(
                rx_vport_rdma_unicast_packets=77,
                rx_prio0_packets=packets,
                tx_prio0_packets=packets,
                tx_prio3_packets=5,
            )

        assert findings(_report(tmp_path, counters(900), counters(5), intent=True)) == set()

    def test_marks_that_came_back_are_no_more_missing_one_way(self, tmp_path: Path) -> None:
        def counters(sent: int, received: int) -> str:
            return _nic(
                rx_prio0_packets=9 + sent,
                tx_prio0_packets=9,
                rx_prio3_packets=received,
                tx_prio3_packets=sent,
                rx_vport_rdma_unicast_packets=sent,
            )

        (finding,) = _report(tmp_path / "a", counters(900, 7), counters(5, 7), intent=True).findings
        assert (finding.code, finding.note) == ("HCT010", "between the captures")
        assert findings(_report(tmp_path / "b", counters(900, 700), counters(5, 0), intent=True)) == set()

    def test_global_pause_of_an_idle_rdma_nic_is_still_one(self, tmp_path: Path) -> None:
        def counters(pauses: int) -> str:
            return _nic(rx_vport_rdma_unicast_packets=77, rx_packets=9, tx_global_pause=pauses)

        assert findings(_report(tmp_path / "a", counters(9), counters(5)), "warning") == {
            ("HCT002", "host1:eth0")
        }
        assert findings(_report(tmp_path / "b", counters(9), counters(9))) == set()


class TestSubnets:
    PORT = "# Port counters: Lid 9 port 1 (CapMask: 0x5A00)\n"

    def _port(self, **counters: int) -> str:
        return self.PORT + "".join(
            f"{name}:{'.' * (33 - len(name))}{value}\n" for name, value in counters.items()
        )

    def _discards(self, discards: int, wait: int, downed: int = 4) -> str:
        return self._port(LinkDownedCounter=downed, PortXmitDiscards=discards, PortXmitWait=wait)

    @pytest.mark.parametrize(
        ("now", "severity"),
        [((5, 9, 4), None), ((7, 99, 4), "warning"), ((7, 99, 5), "info"), ((7, 9, 4), None)],
        ids=["old", "waited", "was down", "did not wait"],
    )
    def test_discards_count_with_what_happened_at_the_same_time(
        self, tmp_path: Path, now: tuple[int, int, int], severity: str | None
    ) -> None:
        report = _report(tmp_path, self._discards(*now), self._discards(5, 9))
        expected = {("IBC001", "9:1")} if severity else set()
        assert findings(report) == findings(report, severity or "warning") == expected

    def test_what_stood_at_its_ceiling_is_no_sign(self, tmp_path: Path) -> None:
        report = _report(tmp_path, self._discards(7, 2**32 - 1), self._discards(5, 2**32 - 1))
        assert findings(report) == {("CAP004", "9:1")}
        assert reasons(report, "IBC001") == [
            "no capture says whether the port was congested when it discarded, or down"
        ]

    def test_counters_that_were_cleared_count_from_there(self, tmp_path: Path) -> None:
        (finding,) = _report(tmp_path, self._discards(3, 8, 0), self._discards(5, 9)).findings
        assert (finding.code, finding.data["discards"]) == ("IBC001", 3)
        assert "since its counters were cleared" in finding.message

    def test_what_was_below_the_threshold_before_counts_as_from_one_capture(self, tmp_path: Path) -> None:
        port = 'Errors for "switch-a"\n   GUID 0x2c903006e29b0 port {}: {}\n'
        now = port.format(6, "[LinkDownedCounter == 9] [PortXmitDiscards == 14176] [PortXmitWait == 87]")
        report = _report(tmp_path, now, port.format(5, "[LinkDownedCounter == 9]"))
        assert findings(report, "info") == {("IBC001", "switch-a:6")}

    @pytest.mark.parametrize(
        ("now", "found"),
        [((12, 3, 4), True), ((12, 2, 4), False), ((9, 3, 4), False), ((12, 3, 5), False)],
        ids=["errors and recoveries", "errors alone", "recoveries alone", "was down"],
    )
    def test_errors_that_made_a_link_train_again_are_a_bad_cable(
        self, tmp_path: Path, now: tuple[int, int, int], *, found: bool
    ) -> None:
        def port(errors: int, recoveries: int, downed: int) -> str:
            return self._port(
                SymbolErrorCounter=errors, LinkErrorRecoveryCounter=recoveries, LinkDownedCounter=downed
            )

        report = _report(tmp_path, port(*now), port(9, 2, 4))
        assert findings(report) == ({("IBC003", "9:1")} if found else set())

    def test_a_cable_that_was_bad_long_ago_is_silent_but_for_its_counter(self, tmp_path: Path) -> None:
        port = self._port(SymbolErrorCounter=65535, LinkErrorRecoveryCounter=8, LinkDownedCounter=0)
        assert findings(_report(tmp_path, port, port)) == {("CAP004", "9:1")}

    def test_a_full_counter_does_not_hide_that_the_link_still_trains_again(self, tmp_path: Path) -> None:
        now, before = (
            self._port(SymbolErrorCounter=65535, LinkErrorRecoveryCounter=count, LinkDownedCounter=0)
            for count in (9, 8)
        )
        report = _report(tmp_path, now, before)
        assert findings(report) == {("CAP004", "9:1"), ("IBC003", "9:1")}
        (finding,) = [f for f in report.findings if f.code == "IBC003"]
        assert finding.message.endswith("an unknown number of symbol errors, 1 recoveries")

    def test_two_widths_of_a_counter_are_not_compared(self, tmp_path: Path) -> None:
        extended = self.PORT.replace("Port counters", "Port extended counters") + "PortXmitWait:.....99\n"
        narrow = self._port(LinkDownedCounter=4, PortXmitDiscards=5, PortXmitWait=9)
        now = extended + self._port(LinkDownedCounter=4, PortXmitDiscards=7)
        assert findings(_report(tmp_path, now, narrow)) == set()


def test_earlier_captures_of_other_devices_are_an_error(tmp_path: Path) -> None:
    report = report_on(tmp_path, {"host1/a.txt": _nic(rx_packets=9)}, {"host2/a.txt": _nic(rx_packets=9)})
    (problem,) = report.errors
    assert "earlier captures of host2, and later ones of host1" in problem.message


def test_devices_that_counted_at_other_times_are_one_finding(tmp_path: Path) -> None:
    def files(times: dict[str, int]) -> Files:
        return {
            f"{name}/a.txt": f"# host {name}\n# taken {taken} UTC\n{_nic(rx_packets=taken)}"
            for name, taken in times.items()
        }

    apart = report_on(
        tmp_path / "a",
        files({"host1": 100, "host2": 110, "host3": 500, "host4": 600}),
        files({"host1": 50, "host2": 60, "host3": 400, "host4": 450}),
    )
    assert findings(apart, "info") == {("CAP005", "host3"), ("CAP005", "host4")}
    together = report_on(
        tmp_path / "b", files({"host1": 100, "host2": 110}), files({"host1": 50, "host2": 90})
    )
    assert findings(together) == set()
    swapped = report_on(tmp_path / "c", files({"host1": 50}), files({"host1": 100}))
    assert findings(swapped, "warning") == {("CAP005", "host1")}


def test_two_snapshots_of_a_switch_are_no_capture_of_one_time(tmp_path: Path) -> None:
    def snapshot(taken: int) -> str:
        row = (
            "==> sonic-db-cli COUNTERS_DB HGETALL 'COUNTERS:oid:0x1'\n{'SAI_PORT_STAT_PFC_3_RX_PKTS': '20'}\n"
        )
        return f"# lossless switch state 1\n# switch leaf1\n# taken {taken} UTC\n{row}==> end\n"

    (finding,) = report_on(tmp_path / "a", {"b.txt": snapshot(1000), "a.txt": snapshot(4600)}).findings
    assert (finding.code, finding.severity, finding.elements) == ("CAP005", "warning", ("leaf1",))
    assert finding.message == "leaf1 has 2 snapshots, the first 3600 s before the last"
    assert finding.origin.file.endswith("a.txt")
    report = report_on(tmp_path / "b", {"a.txt": snapshot(4600)}, {"b.txt": snapshot(1000)})
    assert findings(report) == set()
