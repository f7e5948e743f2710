"""What verify says of captures of real switches beside a configuration or an intent, and not of healthy ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
)

if TYPE_CHECKING:
    from pathlib import Path

_T1 = "sonic-db/t1-arista-7050cx3"
_TRIAGE = "sonic-cli/triage-256cell"
REASON = "a port that has counted is in neither the configuration nor the intent"


@pytest.fixture
def captures(reference: Path) -> Path:
    folder = reference / "captures" / "state"
    if not (folder / "index.json").is_file():
        pytest.skip(f"no captures of running state at {folder}")
    return folder


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


class TestAliases:
    """``show`` in alias mode: Ethernet0 of leaf1 is etp1a."""

    def _files(self, dropped: int, port: str = "etp1a") -> dict[str, str]:
        return {"leaf1/queues.txt": queue_counters({f"{port} UC3": dropped})}

    def test_a_port_is_known_by_its_alias(self, tmp_path: Path) -> None:
        found = {("CTR001", "leaf1:Ethernet0:3")}
        config = {"leaf1/config_db.json": leaf_config()}
        assert findings(report_on(tmp_path / "a", {**self._files(5), **config})) == found
        assert findings(report_on(tmp_path / "b", {**self._files(5), **INTENT})) == found

    def test_captures_of_both_modes_are_compared(self, tmp_path: Path) -> None:
        config = {"leaf1/config_db.json": leaf_config()}
        report = report_on(tmp_path, {**self._files(5), **config}, self._files(5, "Ethernet0"))
        assert (findings(report), reasons(report, "CTR001")) == (set(), [])

    def test_an_alias_that_names_another_port_is_no_alias(self, tmp_path: Path) -> None:
        config = {"leaf1/config_db.json": leaf_config(PORT={"Ethernet0": {"alias": "Ethernet8"}})}
        report = report_on(tmp_path, {**self._files(5, "Ethernet8"), **config})
        assert findings(report) == {("CTR001", "leaf1:Ethernet8:3")}

    @pytest.mark.parametrize("code", ["CTR001", "CTR002"])
    def test_a_port_that_nothing_knows_is_not_checked(self, tmp_path: Path, code: str) -> None:
        text = queue_counters({"etp9 UC3": 5, "etp8 UC3": 0}) + pauses("Rx", {"etp9": 7, "etp8": 0}, 4)
        report = report_on(tmp_path, {"leaf1/a.txt": text, "leaf1/config_db.json": leaf_config()})
        assert (findings(report), reasons(report, code)) == (set(), [REASON])
