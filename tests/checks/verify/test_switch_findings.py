"""What verify says of captures of real switches, by verdicts of people, and what it must not say of healthy ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.checks.verify.running import (
    INTENT,
    Found,
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
    from pathlib import Path

_T1 = "sonic-db/t1-arista-7050cx3"
_TRIAGE = "sonic-cli/triage-256cell"
_WATCHED = {"pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}


@pytest.fixture
def captures(reference: Path) -> Path:
    folder = reference / "captures" / "state"
    if not (folder / "index.json").is_file():
        pytest.skip(f"no captures of running state at {folder}")
    return folder


def _records(captures: Path, issue: str, **chosen: str) -> list[dict[str, Any]]:
    """Return what an issue reports of the watchdog, at one time where it reports several."""
    records = json.loads((captures / "sonic-cli" / "issues" / f"{issue}.json").read_text())["records"]
    return [r for r in records if "status" in r and all(r.get(key) == value for key, value in chosen.items())]


class TestSwitchWithoutQos:
    """A 7050CX3 leaf in use, with 32 ports up and not one row of QoS."""

    @pytest.fixture
    def files(self, captures: Path) -> dict[str, str]:
        folder = captures / _T1
        texts = {file.name: file.read_text() for file in folder.iterdir()}
        return {f"leaf1/{name}": text.replace("str2-7050cx3-acs-03", "leaf1") for name, text in texts.items()}

    def test_without_an_intent_only_its_discards_are_named(
        self, files: dict[str, str], tmp_path: Path
    ) -> None:
        report = report_on(tmp_path, files)
        ports = {element for _, element in findings(report)}
        assert {code for code, _ in findings(report)} == {"CTR006"}
        assert (len(ports), findings(report, "error", "warning")) == (32, set())

    def test_an_intent_tells_that_its_qos_was_never_loaded(
        self, files: dict[str, str], tmp_path: Path
    ) -> None:
        report = report_on(tmp_path, {**files, **INTENT})
        assert findings(report, "error", "warning") == {("APP001", "leaf1")}


class TestTriage:
    """Notes of buffer tests on one switch: steps 1 and 3 fill a lossy queue, step 4 a lossless one."""

    @pytest.mark.parametrize(
        ("step", "expected"),
        [
            ("step1.txt", set()),
            ("step3-show-priority-group-watermark-shared.txt", set()),
            ("step3-show-queue-watermark-unicast.txt", set()),
            ("step4-portstat-i.txt", set()),
            ("step4-show-pfc-counters.txt", set()),
            ("step4.txt", {("CTR001", "leaf1:Ethernet4:3")}),
        ],
    )
    def test_only_drops_of_the_lossless_queue_are_a_finding(
        self, captures: Path, tmp_path: Path, step: str, expected: Found
    ) -> None:
        text = (captures / _TRIAGE / step).read_text()
        report = report_on(tmp_path, {"leaf1/state.txt": text, "leaf1/config_db.json": leaf_config()})
        assert findings(report) == expected

    def test_since_boot_it_is_a_warning_that_knows_no_pause_was_sent(
        self, captures: Path, tmp_path: Path
    ) -> None:
        text = (captures / _TRIAGE / "step4.txt").read_text()
        report = report_on(tmp_path, {"leaf1/state.txt": text, "leaf1/config_db.json": leaf_config()})
        (finding,) = report.findings
        assert (finding.severity, finding.data) == ("warning", {"dropped": 91786, "pauses_sent": 0})

    def test_without_a_configuration_it_is_not_checked(self, captures: Path, tmp_path: Path) -> None:
        report = report_on(tmp_path, {"leaf1/state.txt": (captures / _TRIAGE / "step4.txt").read_text()})
        assert findings(report) == set()
        assert reasons(report, "CTR001") == [
            "neither a configuration nor an intent says which classes are lossless"
        ]


class TestIssues:
    """Values of public issues, in the table that the switch printed."""

    def _said(self, tmp_path: Path, text: str, config: str = "") -> Found:
        return findings(
            report_on(
                tmp_path, {"leaf1/state.txt": text, **({"leaf1/config_db.json": config} if config else {})}
            )
        )

    def test_more_storms_found_than_restored_is_no_storm(self, captures: Path, tmp_path: Path) -> None:
        text = watchdog(_records(captures, "sonic-utilities-500-detected-not-restored"))
        assert self._said(tmp_path, text) == {("STM001", "leaf1:Ethernet96:3")}

    @pytest.mark.parametrize(
        ("time", "expected"), [("storm", {("STM001", "leaf1:Ethernet44:4")}), ("after", set())]
    )
    def test_a_storm_without_traffic_is_one(
        self, captures: Path, tmp_path: Path, time: str, expected: Found
    ) -> None:
        text = watchdog(_records(captures, "sonic-buildimage-5898-dx010", time=time))
        assert self._said(tmp_path, text) == expected

    def test_a_storm_that_went_on_from_the_switch(self, captures: Path, tmp_path: Path) -> None:
        text = watchdog(_records(captures, "sonic-buildimage-9430-z9332"))
        sent = pauses("Tx", {"Ethernet4": 0, "Ethernet6": 15437})
        assert self._said(tmp_path, text + "\n" + sent) == {("STM002", "leaf1:Ethernet6:3")}

    def test_a_watchdog_that_counts_nothing(self, captures: Path, tmp_path: Path) -> None:
        text = watchdog(_records(captures, "sonic-buildimage-19067-no-drop-count"))
        config = leaf_config({"Ethernet4": "Ethernet24"})
        traffic = queue_counters({"Ethernet24 UC3": 0})
        assert self._said(tmp_path / "alone", text, config) == set()
        assert self._said(tmp_path / "traffic", text + "\n" + traffic, config) == {
            ("STM004", "leaf1:Ethernet24:3")
        }
        idle = traffic.replace("8193", "   0")
        assert self._said(tmp_path / "idle", text + "\n" + idle, config) == set()

    @pytest.mark.parametrize(
        ("time", "expected"),
        [
            ("before stop", set()),
            ("after stop", {("APP004", "leaf1:Ethernet36:4"), ("APP004", "leaf1:Ethernet96:4")}),
        ],
    )
    def test_a_watchdog_that_was_stopped(
        self, captures: Path, tmp_path: Path, time: str, expected: Found
    ) -> None:
        text = watchdog(_records(captures, "sonic-utilities-682-pfcwd-stopped", time=time))
        renamed = {"Ethernet4": "Ethernet36", "Ethernet8": "Ethernet96"}
        config = leaf_config(renamed, PORT_QOS_MAP={"Ethernet36": _WATCHED, "Ethernet96": _WATCHED})
        assert self._said(tmp_path, text, config) == expected


@pytest.mark.parametrize(
    "folder",
    [
        "sonic-cli/cmdref",
        "sonic-cli/hld-ecn-wred",
        "sonic-cli/hld-pfc-history",
        "sonic-cli/hld-voq",
        "sonic-db/su-pgdrop-broken",
        "other-switches/arista-eos",
        "other-switches/nexus",
        "hosts/dcb",
        "hosts/ethtool",
        "hosts/sysfs",
        "infiniband/perfquery",
    ],
)
def test_other_captures_have_no_warning_of_a_switch(captures: Path, tmp_path: Path, folder: str) -> None:
    files = {
        f"leaf1/{file.relative_to(captures / folder)}": file.read_text()
        for file in (captures / folder).rglob("*")
        if file.is_file()
    }
    report = report_on(tmp_path, files)
    said = {f.code for f in report.findings if f.severity != "info"}
    assert {code for code in said if code.startswith(("APP", "CTR", "STM"))} == set()


def test_a_fabric_that_pauses_and_drops_nothing_is_healthy(tmp_path: Path) -> None:
    text = "\n".join(
        [
            pauses("Rx", {"Ethernet0": 812331, "Ethernet8": 2}),
            pauses("Tx", {"Ethernet0": 51, "Ethernet8": 90211}),
            queue_counters({"Ethernet0 UC3": 0, "Ethernet0 UC0": 411, "Ethernet4 MC3": 7}),
            storm("Ethernet0", "operational", 0),
        ]
    )
    report = report_on(tmp_path, {"leaf1/state.txt": text, "leaf1/config_db.json": leaf_config(), **INTENT})
    assert findings(report) == set()
