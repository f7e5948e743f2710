"""``lossless simulate``: the verdict, and exit codes that scripts can trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from lossless.analysis.simulation.engine.run import prepare
from lossless.interfaces.cli.simulate import exit_code
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, leaf_with
from tests.interfaces.cli.simulating import SMALL, TWELVE_PORTS, packet_level, report_of, switch_with


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare(rare=True)


def test_a_sound_switch_is_safe(cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    outcome = cli("simulate", "config_db.json")
    assert outcome.out.startswith(
        "verdict: safe\n"
        "  closed forms find nothing unsafe, nor does the packet-level model in 1 seed\n"
        "limiting port: leaf1, priority 3, 400G, 5 m: headroom 231,424 B, needed 231,424 B (vendor row)\n"
        "load: carried\nPFC load: not evaluated\n\npacket-level model: safe\n"
    )
    assert (outcome.code, outcome.err) == (0, "")


def test_a_port_without_watchdog_is_unsafe(cli: Cli) -> None:
    Path("config_db.json").write_text(leaf_with("PFC_WD", "Ethernet8", action=None))
    outcome = cli("simulate", "config_db.json")
    assert outcome.out.startswith("verdict: unsafe\n")
    assert "\nwhy:\n  nothing ends a pause storm: watchdog missing" in outcome.out
    assert outcome.code == 1


def test_json_is_the_verdict_as_plain_data(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    outcome = cli("simulate", ".", "--format", "json")
    report = report_of(outcome)
    assert report["version"] == 1
    assert [verdict["overall"] for verdict in report["verdicts"]] == ["safe"]
    assert {"headroom", "watchdog", "reasons"} <= report["verdicts"][0]["lines"][0].keys()


def test_what_cannot_be_read_has_no_verdict(cli: Cli) -> None:
    Path("empty").mkdir()
    assert cli("simulate", "gone.json") == (2, "", "gone.json: no such file\n")
    assert cli("simulate", "empty") == (2, "", "empty: nothing here to simulate\n")


@pytest.mark.parametrize(
    ("overall", "code"),
    [
        (["safe"], 0),
        (["on the edge", "safe"], 0),
        (["safe", "unsafe"], 1),
        (["not checked", "unsafe"], 1),
        (["safe", "not checked"], 2),
    ],
)
def test_exit_codes(overall: list[str], code: int) -> None:
    assert exit_code(overall) == code


# --- runs: what is printed ---


def test_text_of_one_switch(cli: Cli) -> None:
    """One switch without a NIC that reacts to marks: no figure depends on the seed."""
    Path("config_db.json").write_text(TWELVE_PORTS)
    assert packet_level(cli("simulate", "config_db.json", "-v")) == snapshot("""\
packet-level model: safe
  incast of 11 NICs into NIC at leaf1:Ethernet0, 8 MiB each, class priority 3
  drops              none
  PFC                fires in 1 of 1 seeds, first after 116.42 us
  ECN                marks in 1 of 1 seeds, first after 2.03 us, before PFC in 1
  peak queue depth   70,291,584 B at leaf1:Ethernet0, 1.41 ms to drain
  peak PG occupancy  8,080,512 B
  headroom           63,360 B used, 168,064 B left at leaf1:Ethernet12
  longest pause      19.80 us at NIC at leaf1:Ethernet28
  pause propagation  1 hop, 0 of 12 switch ports and 7 of 12 NICs
  goodput            392.1 Gb/s of payload, 100% of what the topology carries
  ran                1 seed, 1.88 ms, 45,594 events
  assumed:
    no NIC is known: senders keep to line rate until they are paused, without DCQCN
    every peer takes as long to obey PFC as IEEE 802.3 allows at its rate\
""")


def test_text_of_drops(cli: Cli) -> None:
    Path("config_db.json").write_text(switch_with("WRED_PROFILE", "AZURE_LOSSLESS", ecn="ecn_none"))
    outcome = cli("simulate", "config_db.json", "--size", "1 MiB", "-v")
    assert outcome.out.startswith("verdict: unsafe\n")
    assert outcome.code == 1
    assert packet_level(outcome) == snapshot("""\
packet-level model: unsafe
  incast of 11 NICs into NIC at leaf1:Ethernet0, 1 MiB each, class priority 3
  drops              happen in 12 of 12 seeds, first after 1.65 us
  PFC                never
  ECN                marks nothing
  peak queue depth   >= 3,277,824 B at leaf1:Ethernet0, 65.56 us to drain
  peak PG occupancy  >= 1,184,832 B (929,280 B to 1,237,632 B)
  headroom           not used
  goodput            22.1 Gb/s of payload, 6% of what the topology carries
  ran                12 seeds, 1.25 ms, 175,419 events; stopped with traffic under way, so >= where
                     maxima may still grow
  assumed:
    no NIC is known: senders keep to line rate until they are paused, without DCQCN
    every peer takes as long to obey PFC as IEEE 802.3 allows at its rate\
""")


def test_text_of_a_dead_nic(cli: Cli) -> None:
    Path("config_db.json").write_text(TWELVE_PORTS)
    outcome = cli("simulate", "config_db.json", "--dead-nic", "-v")
    assert outcome.code == 0
    verdict, scenario, rest, *measures = packet_level(outcome).splitlines()
    assert verdict == "packet-level model: safe"
    assert f"{scenario} {rest.strip()}".endswith(
        "NIC at leaf1:Ethernet0 dead: it pauses its switch permanently"
    )
    assert "\n".join(measures) == snapshot("""\
  drops              none but what the watchdog dropped
  PFC                fires in 1 of 1 seeds, first after 114.25 us
  ECN                marks in 1 of 1 seeds, first after 2.03 us, before PFC in 1
  peak queue depth   70,414,080 B at leaf1:Ethernet0, 1.41 ms to drain
  peak PG occupancy  8,080,512 B
  headroom           67,584 B used, 163,840 B left at leaf1:Ethernet12
  longest pause      1.80 s at NIC at leaf1:Ethernet4
  pause propagation  2 hops, 1 of 12 switch ports and 7 of 12 NICs
  watchdog           triggers in 1 of 1 seeds, first after 1.80 s; it stopped 1 queue and dropped
                     21,332 frames
  goodput            0.0 Gb/s of payload, 0% of what the topology carries
  ran                1 seed, 3.60 s, 23,850 events
  assumed:
    no NIC is known: senders keep to line rate until they are paused, without DCQCN
    every peer takes as long to obey PFC as IEEE 802.3 allows at its rate\
""")


def test_runs_alone_can_make_a_fabric_unsafe(cli: Cli) -> None:
    """By the closed forms this switch is safe; its WRED drops what it should mark."""
    Path("config_db.json").write_text(switch_with("WRED_PROFILE", "AZURE_LOSSLESS", ecn="ecn_none"))
    closed, run = cli("simulate", ".", "--closed-form"), cli("simulate", ".")
    assert (closed.code, closed.out.splitlines()[0]) == (0, "verdict: safe")
    assert (run.code, run.out.splitlines()[0]) == (1, "verdict: unsafe")
    assert "packet-level" not in closed.out


def test_on_the_edge_is_no_failure(cli: Cli) -> None:
    """Runs use 444 kB of 500 kB of shared headroom; the closed forms call it on the edge, with 3.3 MB promised."""
    data = json.loads(TWELVE_PORTS)
    data["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] = "500000"
    for name, xon in (
        ("pg_lossless_400000_5m_profile", "19456"),
        ("pg_lossless_800000_40m_profile", "38912"),
    ):
        data["BUFFER_PROFILE"][name]["size"] = xon
    Path("config_db.json").write_text(json.dumps(data))
    outcome = cli("simulate", "config_db.json")
    assert (outcome.code, outcome.out.splitlines()[0]) == (0, "verdict: on the edge")


def test_a_pool_that_is_never_made_leaves_nothing_to_run_and_the_closed_forms_still_answer(cli: Cli) -> None:
    data = json.loads(TWELVE_PORTS)
    del data["BUFFER_POOL"]["ingress_lossless_pool"]["size"]
    Path("config_db.json").write_text(json.dumps(data))
    outcome = cli("simulate", "config_db.json")
    assert packet_level(outcome) == (
        "packet-level model: not run\n  leaf1 has no buffer pool for the classes that are simulated"
    )
    assert (outcome.code, outcome.out.splitlines()[0]) == (1, "verdict: unsafe")


def test_a_fabric_without_lossless_ports_is_not_checked(cli: Cli) -> None:
    data = json.loads(TWELVE_PORTS)
    del data["PORT_QOS_MAP"]
    Path("config_db.json").write_text(json.dumps(data))
    outcome = cli("simulate", "config_db.json")
    assert (outcome.code, outcome.out.splitlines()[0]) == (2, "verdict: not checked")
    assert "packet-level model: not run\n  no port in service has PFC on" in outcome.out


# --- runs: as data ---


def test_json_of_runs_keeps_the_contract(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    verdict = report_of(cli("simulate", ".", "--format", "json", *SMALL))["verdicts"][0]
    assert verdict["packet_level"]["not_run"] is None
    (run,) = verdict["packet_level"]["runs"]
    assert run["scenario"] == "incast of 15 NICs into host1:port1, 65,536 B each, class rdma"
    assert (run["seeds"], run["drops"]) == (2, {"seeds": 0, "of": 2, "first_us": None})


@pytest.mark.parametrize(
    ("options", "runs", "not_run"),
    [(("--closed-form",), 0, None), (SMALL, 1, None)],
    ids=["closed forms", "runs"],
)
def test_json_always_says_what_ran(
    cli: Cli, options: tuple[str, ...], runs: int, not_run: str | None
) -> None:
    Path("fabric.yaml").write_text(INTENT)
    found = report_of(cli("simulate", ".", "--format", "json", *options))["verdicts"][0]["packet_level"]
    assert (len(found["runs"]), found["not_run"]) == (runs, not_run)


def test_json_of_what_was_not_run_keeps_the_contract_too(cli: Cli) -> None:
    data = json.loads(TWELVE_PORTS)
    del data["PORT_QOS_MAP"]
    Path("config_db.json").write_text(json.dumps(data))
    report = report_of(cli("simulate", ".", "--format", "json"))
    found = report["verdicts"][0]["packet_level"]
    assert found == {"runs": [], "not_run": "no port in service has PFC on", "load": [], "pfc_load": []}


@pytest.mark.parametrize(
    "options",
    [
        ("--dead-nic",),
        ("--slow-nic", "10G"),
        ("--workload", "permutation", "--nics", "4"),
        ("--storage", "20%"),
    ],
    ids=" ".join,
)
def test_json_of_every_kind_of_run_keeps_the_contract(cli: Cli, options: tuple[str, ...]) -> None:
    Path("config_db.json").write_text(TWELVE_PORTS)
    report = report_of(cli("simulate", ".", "--format", "json", "--size", "1MiB", "--seeds", "2", *options))
    assert len(report["verdicts"][0]["packet_level"]["runs"]) == 1


def test_text_and_json_are_the_same_whenever_they_are_asked_for(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    for form in ("text", "json"):
        once, again = (cli("simulate", ".", "--format", form, *SMALL) for _ in range(2))
        assert once == again


def test_of_a_fabric_without_a_lossless_class_loss_is_evaluated(cli: Cli) -> None:
    lossy = INTENT.replace("lossless: true", "lossless: false").replace(
        "pfc:\n  watchdog:", "pfc: off\nx:\n  w:"
    )
    Path("fabric.yaml").write_text(
        "\n".join(line for line in lossy.splitlines() if not line.startswith(("x:", "  w:")))
    )
    outcome = cli("simulate", ".", "--seeds", "1", "--size", "64 KiB")
    assert outcome.code in (0, 1)
    assert "class rdma" in outcome.out
    assert "dropped, 0.00% trimmed" in outcome.out
    assert "no class of the intent is lossless, and closed forms are of lossless classes" in outcome.out


class TestCaptures:
    """``--captures``: watermarks beside the model; no verdict changes."""

    @pytest.fixture
    def peaks(self, cli: Cli) -> Path:  # noqa: ARG002
        """Return the folder of a capture of leaf1 beside its configuration."""
        Path("config_db.json").write_text(LEAF)
        folder = Path("captures/leaf1")
        folder.mkdir(parents=True)
        xoff = {"SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": "97152"}
        rows = {"COUNTERS_PG_NAME_MAP": {"Ethernet8:3": "oid:0x1a01"}, "USER_WATERMARKS:oid:0x1a01": xoff}
        (folder / "c.json").write_text(json.dumps(rows))
        return folder.parent

    def test_they_stand_beside_runs_and_closed_forms(self, cli: Cli, peaks: Path) -> None:
        outcome = cli("simulate", "config_db.json", *SMALL, "--captures", str(peaks), "--format", "json")
        (verdict,) = report_of(outcome)["verdicts"]
        (headroom,) = (one for one in verdict["measured_peaks"] if one["measured_bytes"] is not None)
        assert (headroom["measured_bytes"], headroom["at"], headroom["since"]) == (
            97152,
            "leaf1:Ethernet8",
            "user clear",
        )
        assert (headroom["closed_form"], headroom["closed_form_bytes"]) == ("needed", 362_496)
        assert (outcome.code, outcome.err) == (0, "")
        lines = cli("simulate", "config_db.json", *SMALL, "--captures", str(peaks)).out.splitlines()
        assert any("97,152" in line and "leaf1:Ethernet8" in line for line in lines)

    def test_without_captures_nothing_is_compared(self, cli: Cli, peaks: Path) -> None:
        assert peaks.exists()
        outcome = cli("simulate", "config_db.json", "--closed-form", "--format", "json")
        assert report_of(outcome)["verdicts"][0]["measured_peaks"] == []

    def test_no_captures_there_is_said_and_the_verdict_is_given(self, cli: Cli, peaks: Path) -> None:
        (peaks / "leaf1" / "c.json").write_text("Dear Bob")
        outcome = cli("simulate", "config_db.json", "--closed-form", "--captures", str(peaks))
        assert outcome.code == 2
        assert "captures: no capture of running state here, and so nothing to compare" in outcome.err
        assert outcome.out.startswith("verdict: safe")
        assert "not captured" in outcome.out
