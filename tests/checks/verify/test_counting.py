"""Counters between two captures: growth, resets, clears, ceilings, groups that are off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.counting import Count, count_of
from lossless.checks.rules.running_subjects import RunningDevice
from lossless.model.fabric.state import DeviceState, StateCapture, StateReading
from tests.checks.verify.running import (
    INTENT,
    Files,
    findings,
    leaf_config,
    pauses,
    queue_counters,
    reasons,
    report_on,
    storm,
    watchdog,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lossless.api import Report
    from lossless.model.fabric.state import CountedSince

_CLEARED = "Last cached time was 2026-07-01 10:00:00\n"
_QUEUE_OFF = {"QUEUE": {"FLEX_COUNTER_STATUS": "disable"}}


def _count(
    now: tuple[int, CountedSince], then: tuple[int, CountedSince] | None, ceiling: int | None = None
) -> object:
    """Return amount of a counter and whether it is between two captures; the reason where that is not known."""
    states = [
        DeviceState("leaf1", [StateCapture("file", "form", (reading,))])
        for value, since in filter(None, (now, then))
        for reading in [
            StateReading((("port", "Ethernet0"),), "counter", value, since=since, ceiling=ceiling)
        ]
    ]
    device = RunningDevice(states[0], before=states[1] if then else None)
    count = count_of(device, "counter", port="Ethernet0")
    return (count.amount, count.between) if isinstance(count, Count) else count.reason


def test_one_capture_counts_since_boot() -> None:
    assert _count((7, "boot"), None) == (7, False)


@pytest.mark.parametrize(("then", "amount"), [(0, 7), (5, 2), (7, 0)])
def test_growth_is_what_happened_between(then: int, amount: int) -> None:
    assert _count((7, "boot"), (then, "boot")) == (amount, True)


def test_a_counter_that_was_reset_is_taken_as_from_one_capture() -> None:
    assert _count((7, "boot"), (900, "boot")) == (7, False)


def test_a_clear_between_counts_at_least_the_difference() -> None:
    assert _count((7, "clear"), (5, "boot")) == (2, True)


def test_smaller_since_another_clear_says_nothing() -> None:
    assert _count((7, "clear"), (9, "boot")) == "counter counts since another clear than before"


def test_what_stood_at_its_ceiling_may_have_counted_more() -> None:
    assert _count((255, "boot"), (255, "boot"), ceiling=255) == "counter stood at its ceiling before"
    assert _count((255, "boot"), (250, "boot"), ceiling=255) == (5, True)


_BELOW_0 = (
    "counter is below 0, which no counter can be: it may have begun again after the clear it counts from"
)


@pytest.mark.parametrize("value", [-1_823_871, (1 << 64) - 1_823_871])
def test_what_no_counter_can_count_is_unknown(value: int) -> None:
    assert _count((value, "clear"), None) == _BELOW_0
    assert _count((value, "clear"), (7, "clear")) == _BELOW_0
    assert _count((7, "clear"), (value, "clear")) == _BELOW_0


def test_a_counter_of_64_bits_may_stand_at_its_ceiling() -> None:
    ceiling = (1 << 64) - 1
    assert _count((ceiling, "boot"), None, ceiling=ceiling) == (ceiling, False)
    assert _count(((1 << 63) - 1, "boot"), None) == ((1 << 63) - 1, False)


@pytest.mark.parametrize("dropped", [-1_823_871, (1 << 64) - 1_823_871])
def test_drops_below_0_are_no_drops(tmp_path: Path, dropped: int) -> None:
    """pg-drop subtracts what a counter was at a clear, also from one that began again."""
    table = (
        "admin@leaf1:~$ pg-drop -c show\nIngress PG dropped packets:\n"
        f"     Port  {'PG3':>21}\n---------  {'-' * 21}\nEthernet0  {dropped:>21}\nEthernet4  {{other:>21}}\n"
    )
    files = {"leaf1/config_db.json": leaf_config(), "leaf1/drops.txt": table.format(other=0)}
    report = report_on(tmp_path, files)
    assert findings(report) == set()
    assert reasons(report, "CTR001") == [_BELOW_0.replace("counter", "PG3", 1)]
    assert reasons(report, "") == [f"leaf1: {reasons(report, 'CTR001')[0]}"]
    report = report_on(tmp_path, files | {"leaf1/drops.txt": table.format(other=12)})
    assert findings(report) == {("CTR001", "leaf1:Ethernet4:PG3")}


def test_a_counter_that_no_capture_has_is_missing() -> None:
    device = RunningDevice(DeviceState("leaf1", []))
    assert isinstance(count_of(device, "pfc_tx", port="Ethernet0", priority="3"), MissingInput)


class TestDropsBetweenCaptures:
    """Drops of lossless queue 3 of Ethernet4, in two captures."""

    def _report(self, tmp_path: Path, now: str, then: str, config: str = "") -> Report:
        files = [
            {"leaf1/state.txt": text, "leaf1/config_db.json": config or leaf_config()} for text in (now, then)
        ]
        return report_on(tmp_path, *files)

    @pytest.mark.parametrize(
        ("now", "then", "severity", "dropped"), [(91786, 91000, "error", 786), (12, 91786, "warning", 12)]
    )
    def test_growth_is_an_error_and_a_reset_a_warning(
        self, tmp_path: Path, now: int, then: int, severity: str, dropped: int
    ) -> None:
        drops = [queue_counters({"Ethernet4 UC3": count}) for count in (now, then)]
        (finding,) = self._report(tmp_path, drops[0], drops[1]).findings
        assert (finding.code, finding.severity, finding.data["dropped"]) == ("CTR001", severity, dropped)

    def test_old_drops_are_no_finding(self, tmp_path: Path) -> None:
        text = queue_counters({"Ethernet4 UC3": 91786})
        assert findings(self._report(tmp_path, text, text)) == set()

    def test_headroom_is_not_to_blame_for_what_a_queue_drops(self, tmp_path: Path) -> None:
        now = pauses("Tx", {"Ethernet8": 7}) + queue_counters({"Ethernet4 UC3": 5})
        (finding,) = report_on(tmp_path, {"leaf1/a.txt": now, "leaf1/config_db.json": leaf_config()}).findings
        assert finding.note.startswith(
            "the switch sent 7 pauses of the class: WRED or the limit of the queue"
        )
        assert "headroom" not in f"{finding.note} {finding.help}"

    def test_a_clear_that_hides_them_is_named(self, tmp_path: Path) -> None:
        now, then = queue_counters({"Ethernet4 UC3": 12}), queue_counters({"Ethernet4 UC3": 91786})
        report = self._report(tmp_path, _CLEARED + now, then)
        assert findings(report) == set()
        assert reasons(report, "CTR001") == ["Drop/pkts counts since another clear than before"]

    def test_a_group_that_is_off_is_not_checked(self, tmp_path: Path) -> None:
        now, then = (queue_counters({"Ethernet4 UC3": count}) for count in (91786, 0))
        report = self._report(tmp_path, now, then, leaf_config(FLEX_COUNTER_TABLE=_QUEUE_OFF))
        assert findings(report) == {("CAP003", "leaf1:QUEUE")}
        assert reasons(report, "CTR001") == ["counter group QUEUE is off: its counters do not move"]

    def test_storms_of_the_queue_take_its_drops(self, tmp_path: Path) -> None:
        def files(dropped: int, detected: int) -> Files:
            fields = {
                "SAI_QUEUE_STAT_DROPPED_PACKETS": str(dropped),
                "PFC_WD_STATUS": "operational",
                "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": str(detected),
            }
            return {
                "leaf1/gnmi.json": json.dumps({"Ethernet4:3": fields}),
                "leaf1/config_db.json": leaf_config(),
            }

        stormed = report_on(tmp_path / "a", files(700, 3), files(0, 2))
        assert findings(stormed) == {("STM005", "leaf1:Ethernet4:3")}
        assert reasons(stormed, "CTR001") == [
            "the watchdog stormed the queue, and its drops may be the watchdog's"
        ]
        earlier = report_on(tmp_path / "b", files(700, 3), files(0, 3))
        assert findings(earlier, "error") == {("CTR001", "leaf1:Ethernet4:3")}


def _wred(drops: Mapping[str, int | str]) -> str:
    """Return what ``show queue wredcounters`` prints of drops, by port and queue."""
    lines = ["     Port    TxQ    WredDrp/pkts    WredDrp/bytes    EcnMarked/pkts    EcnMarked/bytes"]
    lines.append("---------  -----  --------------  ---------------  ----------------  -----------------")
    for name, dropped in drops.items():
        port, queue = name.split()
        lines.append(f"{port:>9}  {queue:>5}  {dropped:>14}  {dropped:>15}  {9:>16}  {9:>17}")
    return "\n".join(lines) + "\n\n"


class TestWhatElseAQueueLoses:
    """Losses that are counted apart from all that a queue dropped."""

    def _report(self, tmp_path: Path, text: str) -> Report:
        return report_on(tmp_path, {"leaf1/state.txt": text, "leaf1/config_db.json": leaf_config()})

    def test_drops_of_wred_are_drops(self, tmp_path: Path) -> None:
        report = self._report(tmp_path, _wred({"Ethernet4 UC3": 12, "Ethernet8 UC1": 5, "Ethernet0 UC3": 0}))
        assert findings(report, "warning") == {("CTR001", "leaf1:Ethernet4:3")}

    @pytest.mark.parametrize(
        "counter", ["WRED_DROPPED_PACKETS", "TRIM_PACKETS", "CREDIT_WD_DELETED_PACKETS", "DROPPED_PACKETS"]
    )
    def test_each_counter_of_losses_by_its_name_in_the_database(self, tmp_path: Path, counter: str) -> None:
        state = json.dumps({"Ethernet4:3": {f"SAI_QUEUE_STAT_{counter}": "12"}})
        assert findings(self._report(tmp_path, state)) == {("CTR001", "leaf1:Ethernet4:3")}

    def test_one_queue_is_one_loss_of_the_larger_counter(self, tmp_path: Path) -> None:
        text = _wred({"Ethernet4 UC3": 12}) + queue_counters({"Ethernet4 UC3": 90})
        (finding,) = self._report(tmp_path, text).findings
        assert finding.data["dropped"] == 90

    def test_a_counter_of_wred_that_a_chip_lacks_leaves_nothing_unchecked(self, tmp_path: Path) -> None:
        text = _wred({"Ethernet4 UC3": "N/A"})
        report = self._report(tmp_path, queue_counters({"Ethernet4 UC3": 0}) + text)
        assert (report.findings, reasons(report, "CTR001")) == ((), [])

    def test_nothing_is_known_where_it_is_the_only_counter(self, tmp_path: Path) -> None:
        report = self._report(tmp_path, _wred({"Ethernet4 UC3": "N/A"}))
        assert reasons(report, "CTR001") == ["the captures do not say the value of WredDrp/pkts"]


class TestVirtualOutputQueues:
    """A card of a chassis queues what it received for the ports of all cards."""

    CARD: ClassVar[dict[str, Any]] = {"switch_type": "voq", "asic_name": "Asic0", "switch_id": "0"}

    def _report(self, tmp_path: Path, port: str, queue: str = "VOQ3", *, pfc: str = "3") -> Report:
        config = leaf_config(
            DEVICE_METADATA={"localhost": self.CARD}, PORT_QOS_MAP={"Ethernet0": {"pfc_enable": pfc}}
        )
        text = queue_counters({f"{port} {queue}": 12}).replace("  TxQ", "  Voq")
        return report_on(tmp_path, {"leaf1/state.txt": text, "leaf1/config_db.json": config})

    @pytest.mark.parametrize("port", ["leaf1|asic0|Ethernet4", "leaf1|Ethernet4"])
    def test_drops_for_an_own_port(self, tmp_path: Path, port: str) -> None:
        assert findings(self._report(tmp_path, port), "warning") == {("CTR001", "leaf1:Ethernet4:3")}

    @pytest.mark.parametrize("port", ["lc2|asic0|Ethernet4", "leaf1|asic1|Ethernet4"])
    def test_drops_for_a_port_of_another_card(self, tmp_path: Path, port: str) -> None:
        assert findings(self._report(tmp_path, port), "warning") == {("CTR001", f"leaf1:{port}:3")}

    def test_drops_of_another_class(self, tmp_path: Path) -> None:
        assert findings(self._report(tmp_path, "lc2|asic0|Ethernet4", "VOQ1")) == set()

    def test_own_ports_with_other_classes_leave_it_open(self, tmp_path: Path) -> None:
        report = self._report(tmp_path, "lc2|asic0|Ethernet4", pfc="4")
        assert findings(report) == set()
        assert reasons(report, "CTR001") == [
            "a queue is for a port of another card, and the own ports have different lossless classes"
        ]


def test_a_row_of_a_counter_group_is_no_configuration(tmp_path: Path) -> None:
    rows = json.dumps({"FLEX_COUNTER_TABLE|QUEUE": {"FLEX_COUNTER_STATUS": "enable"}})
    files = {"leaf1/state.txt": queue_counters({"Ethernet8 UC3": 786}), "leaf1/rows.json": rows}
    intended = report_on(tmp_path / "a", {**files, **INTENT})
    assert findings(intended) == {("CTR001", "leaf1:Ethernet8:3")}
    (reason,) = reasons(report_on(tmp_path / "b", files), "CTR001")
    assert reason == "neither a configuration nor an intent says which classes are lossless"


class TestStormsThatATableLeavesOut:
    """``show pfcwd stats`` prints no queue whose counters are all 0."""

    def _report(self, tmp_path: Path, now: str, then: str) -> Report:
        return report_on(tmp_path, {"leaf1/pfcwd.txt": now}, {"leaf1/pfcwd.txt": then})

    @pytest.mark.parametrize("command", ["", "admin@leaf1:~$ pfcwd show stats\n"])
    @pytest.mark.parametrize("then", [watchdog([]), storm("Ethernet8", "operational")])
    def test_the_first_storm_of_a_queue_is_found(self, tmp_path: Path, then: str, command: str) -> None:
        report = self._report(tmp_path, storm("Ethernet4", "operational"), command + then)
        assert findings(report, "warning") == {("STM005", "leaf1:Ethernet4:3")}

    def test_a_command_for_one_queue_says_nothing_of_others(self, tmp_path: Path) -> None:
        then = "admin@leaf1:~$ pfcwd show stats Ethernet8:3\n" + watchdog([])
        report = self._report(tmp_path, storm("Ethernet4", "operational"), then)
        assert (findings(report), len(reasons(report, "STM005"))) == (set(), 1)


class TestPausesOfLossyPriorities:
    """Pauses of priority 4, which is not lossless on leaf1."""

    def _files(self, text: str, config: str = "") -> Files:
        return {"leaf1/state.txt": text, "leaf1/config_db.json": config or leaf_config()}

    def test_since_boot_they_are_information(self, tmp_path: Path) -> None:
        report = report_on(tmp_path, self._files(pauses("Rx", {"Ethernet8": 5}, 4)))
        assert findings(report, "info") == {("CTR002", "leaf1:Ethernet8:4")}

    @pytest.mark.parametrize(("table", "hits"), [({}, 1), (None, 0)], ids=["off everywhere", "no maps"])
    def test_pfc_that_is_off_everywhere_makes_all_lossy(
        self, tmp_path: Path, table: dict[str, Any] | None, hits: int
    ) -> None:
        config = json.loads(leaf_config())
        for row in config["PORT_QOS_MAP"].values():
            row.pop("pfc_enable", None)
        config["PORT_QOS_MAP"] = config["PORT_QOS_MAP"] if table is not None else {}
        report = report_on(tmp_path, self._files(pauses("Rx", {"Ethernet8": 5}, 4), json.dumps(config)))
        assert len([code for code, _ in findings(report, "info") if code == "CTR002"]) == hits

    def test_between_captures_a_warning(self, tmp_path: Path) -> None:
        now, then = (self._files(pauses("Tx", {"Ethernet8": count}, 4)) for count in (5, 0))
        assert findings(report_on(tmp_path, now, then), "warning") == {("CTR002", "leaf1:Ethernet8:4")}

    def test_a_port_that_obeys_all_of_them_may_receive_them(self, tmp_path: Path) -> None:
        config = leaf_config(PORT={"Ethernet8": {"pfc_asym": "on"}})
        text = pauses("Rx", {"Ethernet8": 5}, 4)
        assert findings(report_on(tmp_path, self._files(text, config))) == set()

    def test_a_switch_without_lossless_classes_has_no_lossy_ones(self, tmp_path: Path) -> None:
        config = json.loads(leaf_config())
        bare = json.dumps({key: config[key] for key in ("DEVICE_METADATA", "PORT")})
        files = self._files(pauses("Rx", {"Ethernet8": 5}, 4), bare)
        assert findings(report_on(tmp_path, files)) == set()
