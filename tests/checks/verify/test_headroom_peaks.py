"""Headroom watermarks against what links need: of traffic that the packet-level model ran, and made by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.buffers.headroom.methods import HeadroomBound, headroom_bound
from lossless.api import Limits, Question, SimulationRequest, load_fabrics, simulate
from lossless.ground.documents import load_text
from lossless.model.fabric.view import View
from tests.checks.verify.running import INTENT, Files, findings, leaf_config, reasons, report_on

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lossless.analysis.simulation.study.measure import PortPeaks

XOFF = "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"
DROPS = "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS"
PG = "oid:0x1a000000000001"
UPLINK = "Ethernet32"


def peak(
    held_bytes: int,
    port: str = "Ethernet0",
    table: str = "USER_WATERMARKS",
    rows: Mapping[str, dict[str, str]] | None = None,
) -> str:
    """Return a database with the headroom peak of PG 3 of a port, and other rows."""
    database = {"COUNTERS_PG_NAME_MAP": {f"{port}:3": PG}, f"{table}:{PG}": {XOFF: str(held_bytes)}}
    return json.dumps({**database, **(rows or {})})


def fabric(host_m: int = 3, uplink_m: int = 30) -> str:
    """Return the intent of the tests with cables of some lengths, and senders that PFC alone holds back."""
    text = INTENT["fabric.yaml"].replace("host: 3m, uplink: 30m", f"host: {host_m}m, uplink: {uplink_m}m")
    return text.replace("congestion_control:\n  dcqcn: {cnp_interval: 4us}", "congestion_control: pfc-only")


def bound_of(speed: str, **lengths: int) -> HeadroomBound:
    """Return what a link of leaf1 can need."""
    (only,) = load_fabrics([load_text(fabric(**lengths), "fabric.yaml")]).fabrics
    ports = next(one for one in View(only).lossless_sets if one.rate == speed)
    bound = headroom_bound(ports)
    assert isinstance(bound, HeadroomBound)
    return bound


@pytest.fixture(scope="module")
def peaks(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], PortPeaks]:
    """Return the peaks of the incast that is run without options, by the roles at both ends of a link."""
    file = tmp_path_factory.mktemp("simulated") / "fabric.yaml"
    file.write_text(fabric(300, 300))
    ask = SimulationRequest(Question(), Limits(seeds=1))
    (result,) = simulate(file, ask=ask)
    return {(one.switch, one.peer): one for one in result.runs[0].peaks}


class TestByHand:
    """Port Ethernet0 of leaf1: 400G over 3 m."""

    MOST = 286_353
    """The floor of 95,451 B (IEEE 802.3: 905 quanta), times three: a packet of 64 B takes a cell of 192 B."""

    @pytest.mark.parametrize(
        ("held_bytes", "expected"),
        [
            (0, None),
            (97_152, None),
            (231_424, None),
            (231_425, "info"),
            (MOST, "info"),
            (MOST + 1, "warning"),
        ],
    )
    def test_more_than_needed_is_known_and_more_than_ever_needed_is_a_warning(
        self, tmp_path: Path, held_bytes: int, expected: str | None
    ) -> None:
        report = report_on(tmp_path, {"fabric.yaml": fabric(), "leaf1/c.json": peak(held_bytes)})
        found = {finding.severity for finding in report.findings if finding.code == "CTR007"}
        assert found == ({expected} if expected else set())
        assert bound_of("400G").most_bytes == self.MOST

    @pytest.mark.parametrize("hwsku", ["Mellanox-SN5600-C256S1", "another"])
    def test_small_packets_explain_more_than_the_floor(self, tmp_path: Path, hwsku: str) -> None:
        """Without rows of the HWSKU the floor is all that is known, of an unknown chip without its cells."""
        rows = {"hwsku": hwsku} if hwsku != "another" else {"hwsku": hwsku, "platform": "x86_64-another-r0"}
        config = leaf_config(DEVICE_METADATA={"localhost": rows})
        files = {"leaf1/config_db.json": config, "leaf1/c.json": peak(self.MOST)}
        report = report_on(tmp_path, files)
        assert (findings(report), len(reasons(report, "CTR007"))) == (set(), hwsku == "another")

    def test_an_old_peak_may_be_of_another_cable(self, tmp_path: Path) -> None:
        old = peak(500_000, table="PERSISTENT_WATERMARKS")
        report = report_on(tmp_path, {"fabric.yaml": fabric(), "leaf1/c.json": old})
        assert findings(report, "info") == {("CTR007", "leaf1:Ethernet0:PG3")}
        assert "since the last persistent clear" in report.findings[0].message

    @pytest.mark.parametrize("table", ["PG", "port"])
    def test_groups_that_are_not_lossless_are_left_out(self, tmp_path: Path, table: str) -> None:
        database = json.loads(peak(500_000))
        name = {"PG": "Ethernet0:1", "port": "Ethernet500:3"}[table]
        database["COUNTERS_PG_NAME_MAP"] = {name: PG}
        report = report_on(tmp_path, {"fabric.yaml": fabric(), "leaf1/c.json": json.dumps(database)})
        assert findings(report) == set()

    def test_peaks_that_are_not_polled_are_not_checked(self, tmp_path: Path) -> None:
        off = (
            "Type               Interval (in ms)    Status\n-----------------  ------------------  --------\n"
        )
        off += "PG_WATERMARK_STAT               60000   disable\n"
        files = {"fabric.yaml": fabric(), "leaf1/c.json": peak(500_000), "leaf1/polls.txt": off}
        report = report_on(tmp_path, files)
        assert {code for code, _ in findings(report)} == {"CAP003"}
        assert reasons(report, "CTR007") == ["counter group PG_WATERMARK is off: its counters do not move"]

    def test_an_intent_knows_the_cable_where_a_configuration_says_more(self, tmp_path: Path) -> None:
        config = leaf_config(CABLE_LENGTH={"AZURE": {"Ethernet0": "300m"}})
        files: Files = {"leaf1/config_db.json": config, "leaf1/c.json": peak(400_000)}
        assert findings(report_on(tmp_path / "300 m", files)) == set()
        report = report_on(tmp_path / "3 m", {**files, "fabric.yaml": fabric()})
        assert findings(report, "warning") == {("CTR007", "leaf1:Ethernet0:PG3")}

    def test_a_port_of_another_speed_is_another_port(self, tmp_path: Path) -> None:
        """The intent has Ethernet8 at 400G over 3 m, the configuration at 800G over 40 m."""
        files: Files = {"leaf1/config_db.json": leaf_config(), "leaf1/c.json": peak(340_000, "Ethernet8")}
        assert findings(report_on(tmp_path, {**files, "fabric.yaml": fabric()})) == set()


class TestFromTraffic:
    """Peaks of an incast that the packet-level model ran over cables of 300 m; no closed form is asked."""

    @pytest.mark.parametrize(("port", "peer"), [("Ethernet0", "host"), (UPLINK, "spine")])
    def test_the_cable_that_it_ran_over_explains_it(
        self, tmp_path: Path, peaks: dict[tuple[str, str], PortPeaks], port: str, peer: str
    ) -> None:
        held_bytes = peaks["leaf", peer].headroom_bytes
        assert held_bytes > 100_000
        report = report_on(
            tmp_path, {"fabric.yaml": fabric(300, 300), "leaf1/c.json": peak(held_bytes, port)}
        )
        assert findings(report) == set()

    def test_a_cable_of_5_m_does_not(self, tmp_path: Path, peaks: dict[tuple[str, str], PortPeaks]) -> None:
        held = peak(peaks["leaf", "spine"].headroom_bytes, UPLINK)
        report = report_on(tmp_path, {"fabric.yaml": fabric(300, 5), "leaf1/c.json": held})
        assert findings(report, "warning") == {("CTR007", f"leaf1:{UPLINK}:PG3")}


class TestDrops:
    """CTR001 says where the headroom of a group that dropped was full."""

    @pytest.mark.parametrize(
        ("held_bytes", "full"),
        [(231_424, True), (231_424 - 191, True), (231_424 - 192, False), (97_152, False)],
    )
    def test_a_full_headroom_is_the_cause(self, tmp_path: Path, held_bytes: int, full: bool) -> None:
        rows = {f"COUNTERS:{PG}": {DROPS: "12"}}
        files = {"leaf1/config_db.json": leaf_config(), "leaf1/c.json": peak(held_bytes, rows=rows)}
        (finding,) = report_on(tmp_path, files).findings
        assert finding.code == "CTR001"
        assert finding.note.startswith("its headroom was full: it held 231,") is full
        assert (finding.data.get("headroom_bytes") == 231_424) is full

    @pytest.mark.parametrize(("held_bytes", "full"), [(4_000_000, True), (3_999_000, False)])
    def test_a_full_pool_of_headroom_is_the_cause(self, tmp_path: Path, held_bytes: int, full: bool) -> None:
        pool = "SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES"
        rows: dict[str, dict[str, str]] = {
            f"COUNTERS:{PG}": {DROPS: "12"},
            "COUNTERS_BUFFER_POOL_NAME_MAP": {"ingress_lossless_pool": "oid:0x18", "other": "oid:0x19"},
            "USER_WATERMARKS:oid:0x18": {pool: str(held_bytes)},
            "USER_WATERMARKS:oid:0x19": {pool: "4000000"},
        }
        config = leaf_config(BUFFER_POOL={"ingress_lossless_pool": {"xoff": "4000000"}})
        files = {"leaf1/config_db.json": config, "leaf1/c.json": peak(97_152, rows=rows)}
        (finding,) = report_on(tmp_path, files).findings
        said = finding.note.startswith(
            "the headroom that ingress_lossless_pool lends was full: it held 4,000,000 B"
        )
        assert (finding.code, said) == ("CTR001", full)


@pytest.mark.parametrize("cell_bytes", [144, 192, 254])
@pytest.mark.parametrize("frame_bytes", [64, 65, 145, 193, 255, 1024, 1088, 4160, 9100])
def test_frames_of_one_size_need_no_more_than_the_bound(cell_bytes: int, frame_bytes: int) -> None:
    """The packet-level model drops no frames of one size with this many of them: test_closed_form_headroom."""
    from lossless.analysis.buffers.headroom.formulas import cell_waste, floor_headroom
    from tests.analysis.simulation.test_closed_form_headroom import Link

    floor = floor_headroom(400 * 10**9, 40, 9100, 9100, peer_response_bytes=57_920)
    link = Link(400 * 10**9, 40, frame_bytes, cell_bytes, reverse=True)
    assert link.frames * link.held_bytes <= floor.headroom_bytes * cell_waste(cell_bytes)
