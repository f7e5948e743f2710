"""Where storms come from: pauses followed through the links of an intent, and where that must stop.

leaf1 and leaf2 are linked by two spines. spine1 has Ethernet0 to Ethernet32 of leaf1, and Ethernet16 to Ethernet32 of
leaf2; host2 is at Ethernet8 of leaf1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.checks.verify.running import (
    INTENT,
    Files,
    findings,
    leaf_config,
    pauses,
    reasons,
    report_on,
    storm,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lossless.api import Report

_RX: dict[str, int] = {}
_TX = {"Ethernet32": 161502}
_LEAF = (*range(0, 32, 4), *range(32, 64, 8))
_SPINE = range(0, 32, 8)


def _counts(rx: Mapping[str, int], tx: Mapping[str, int], numbers: Iterable[int] = _LEAF) -> str:
    """Return pauses of all ports of a leaf, or of those of some numbers; 0 where none are given."""
    ports = dict.fromkeys([f"Ethernet{number}" for number in numbers], 0)
    return pauses("Rx", {**ports, **rx}) + pauses("Tx", {**ports, **tx})


def _report(tmp_path: Path, now: Files, before: Files | None = None) -> Report:
    return report_on(tmp_path, {**now, **INTENT}, before)


def _sources(report: Report) -> list[tuple[str, object]]:
    return [(f.severity, f.data["source"]) for f in report.findings if f.code == "STM003"]


def test_a_host_behind_the_next_switch(tmp_path: Path) -> None:
    leaf = storm("Ethernet8") + "\n" + _counts({"Ethernet8": 5312044, "Ethernet32": 0}, _TX)
    report = _report(tmp_path, {"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": leaf})
    assert _sources(report) == [("error", "host2")]
    assert findings(report, "error") == {("STM003", "spine1:Ethernet0:3"), ("STM003", "leaf1:Ethernet8:3")}


def test_a_host_at_the_stormed_port_is_no_news(tmp_path: Path) -> None:
    report = _report(tmp_path, {"leaf1/a.txt": storm("Ethernet8")})
    assert findings(report) == {("STM001", "leaf1:Ethernet8:3")}


def test_between_captures_the_walk_follows_what_grew(tmp_path: Path) -> None:
    def files(host: int, other: int) -> Files:
        rx = {"Ethernet8": host, "Ethernet4": other, "Ethernet32": 0}
        tx = {"Ethernet32": host, "Ethernet8": 0, "Ethernet4": 0}
        return {"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": _counts(rx, tx)}

    report = _report(tmp_path, files(900, 77), files(1, 77))
    assert _sources(report) == [("warning", "host2")]


def test_counters_since_boot_do_not_say_which_port_it_was(tmp_path: Path) -> None:
    leaf = _counts({"Ethernet8": 900, "Ethernet32": 0}, _TX)
    report = _report(tmp_path, {"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": leaf})
    assert findings(report, "error", "warning") == {("STM001", "spine1:Ethernet0:3")}
    assert reasons(report, "STM003") == [
        "pauses count since boot: which ports a storm paused shows only with an earlier capture (--since)"
    ]


def test_a_switch_without_captures_stops_the_walk(tmp_path: Path) -> None:
    report = _report(tmp_path, {"spine1/a.txt": storm("Ethernet0")})
    assert findings(report) == {("STM001", "spine1:Ethernet0:3")}
    assert reasons(report, "STM003") == ["there are no captures of leaf1"]


def test_a_neighbor_that_has_sent_none_stops_the_walk(tmp_path: Path) -> None:
    leaf = _counts(_RX, {})
    report = _report(tmp_path, {"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": leaf})
    assert reasons(report, "STM003") == ["leaf1 has not counted the pauses that spine1 Ethernet0 receives"]
    assert _sources(report) == []


@pytest.mark.parametrize(
    ("gigabytes", "severity", "said"),
    [
        ({}, "warning", "the rates of its egress ports in the storm are not captured: it may be an incast"),
        (
            {"Ethernet8": 49.0},
            "warning",
            "none of its egress ports shows line rate: one is slow, or it is an incast of a few seconds",
        ),
        (
            {"Ethernet4": 49.0},
            "warning",
            "Ethernet4 runs at line rate, and no device is at fault",
        ),
    ],
)
def test_a_switch_that_nobody_pauses_is_an_incast_where_an_egress_is_full(
    tmp_path: Path, gigabytes: dict[str, float], severity: str, said: str
) -> None:
    config = leaf_config()
    rates = _rates({**dict.fromkeys(("Ethernet0", "Ethernet4", "Ethernet8"), 0.1), **gigabytes})
    leaf = _counts(_RX, _TX) + (rates if gigabytes else "")
    files = {"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": leaf, "leaf1/config_db.json": config}
    (finding,) = [f for f in _report(tmp_path, files).findings if f.code == "STM003"]
    assert (finding.severity, finding.data["source"]) == (severity, "leaf1")
    assert finding.note == f"spine1 Ethernet0 < leaf1; {said}"


def test_rates_of_now_say_nothing_of_a_storm_that_is_over(tmp_path: Path) -> None:
    def files(detected: int, sent: int) -> Files:
        rates = _rates(dict.fromkeys(("Ethernet0", "Ethernet4", "Ethernet8"), 0.1))
        return {
            "spine1/a.txt": storm("Ethernet0", "operational", detected),
            "leaf1/a.txt": _counts(_RX, {"Ethernet32": sent, "Ethernet8": 0}) + rates,
            "leaf1/config_db.json": leaf_config(),
        }

    assert _sources(_report(tmp_path, files(2, 90), files(1, 0))) == [("warning", "leaf1")]


def test_the_source_of_a_storm_that_is_over_is_said_in_place_of_the_storm(tmp_path: Path) -> None:
    def files(detected: int, host: int) -> Files:
        rx, tx = {"Ethernet8": host, "Ethernet32": 0}, {"Ethernet8": 0, "Ethernet32": host}
        stormed = storm("Ethernet0", "operational", detected)
        return {"spine1/a.txt": stormed, "leaf1/a.txt": _counts(rx, tx)}

    report = _report(tmp_path, files(2, 900), files(1, 1))
    assert _sources(report) == [("warning", "host2")]
    assert {code for code, _ in findings(report)} == {"STM003"}


def test_pauses_that_lead_back_have_no_source(tmp_path: Path) -> None:
    leaf = storm("Ethernet32") + "\n" + _counts({"Ethernet32": 9}, {"Ethernet32": 9})
    spine = storm("Ethernet0") + "\n" + _counts({"Ethernet0": 9}, {"Ethernet0": 9}, _SPINE)
    report = _report(tmp_path, {"spine1/a.txt": spine, "leaf1/a.txt": leaf})
    assert _sources(report) == []
    assert "the pauses that storm spine1 Ethernet0 lead back to it, as in a PFC deadlock" in reasons(
        report, "STM003"
    )


def test_pauses_of_a_host_that_are_no_storm_do_not_accuse_it(tmp_path: Path) -> None:
    leaf = storm("Ethernet4", "operational", 0) + "\n" + _counts({"Ethernet4": 12}, _TX)
    before = storm("Ethernet4", "operational", 0) + "\n" + _counts({}, {})
    files = [{"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": text} for text in (leaf, before)]
    (finding,) = [f for f in _report(tmp_path, *files).findings if f.code == "STM003"]
    assert (finding.severity, finding.data["source"]) == ("warning", "leaf1")
    assert "leaf1, which sends pauses and receives some at Ethernet4, which is no storm" in finding.message


def test_pauses_of_the_spines_are_not_what_a_leaf_pauses_them_for(tmp_path: Path) -> None:
    leaf = _counts({"Ethernet48": 9000}, _TX)
    files = [{"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": text} for text in (leaf, _counts({}, {}))]
    assert _sources(_report(tmp_path, *files)) == [("warning", "leaf1")]


def test_two_storms_at_once_have_two_sources(tmp_path: Path) -> None:
    leaves = {
        f"leaf{number}/a.txt": storm(port) + "\n" + _counts({port: 5312044}, _TX)
        for number, port in ((1, "Ethernet8"), (2, "Ethernet24"))
    }
    # spine1 pauses each leaf for what goes to the other.
    spine = storm("Ethernet0") + "\n" + storm("Ethernet16") + "\n"
    spine += _counts({"Ethernet0": 900, "Ethernet16": 900}, {"Ethernet0": 900, "Ethernet16": 900}, _SPINE)
    report = _report(tmp_path, {"spine1/a.txt": spine, **leaves})
    assert _sources(report) == [("error", "host2"), ("error", "host8")]
    paths = {f.data["source"]: f.data["path"] for f in report.findings if f.code == "STM003"}
    assert paths == {
        "host2": ["spine1 Ethernet0", "leaf1 Ethernet8"],
        "host8": ["spine1 Ethernet16", "leaf2 Ethernet24"],
    }


def test_a_table_of_some_ports_does_not_say_that_the_others_are_not_paused(tmp_path: Path) -> None:
    leaf = _counts({"Ethernet32": 0}, _TX, [32])
    report = _report(tmp_path, {"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": leaf})
    assert _sources(report) == []
    assert reasons(report, "STM003") == ["no capture has the pauses that 8 other ports of leaf1 receive"]


def test_ports_that_a_capture_calls_by_their_alias_are_not_checked(tmp_path: Path) -> None:
    leaf = pauses("Rx", {"etp1a": 5312044}) + pauses("Tx", {"etp5a": 161502})
    report = _report(tmp_path, {"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": leaf})
    assert (_sources(report), reasons(report, "STM003")) == ([], ["no capture has pfc_tx of each priority"])


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (5312044, "; its NICs have sent 5,312,044 since its driver was loaded"),
        (0, "; its NICs count none, as a NIC does that has failed since its driver was loaded"),
        (None, ""),
    ],
)
def test_a_host_that_was_captured_says_what_its_nics_have_sent(
    tmp_path: Path, sent: int | None, said: str
) -> None:
    leaf = storm("Ethernet8") + "\n" + _counts({"Ethernet8": 5312044}, _TX)
    files = {"spine1/a.txt": storm("Ethernet0"), "leaf1/a.txt": leaf}
    if sent is not None:
        files["host2/a.txt"] = f"rx_prio3_packets: 9\ntx_prio3_packets: 9\ntx_prio3_pause: {sent}\n"
    (finding,) = [f for f in _report(tmp_path, files).findings if f.code == "STM003"]
    assert (finding.severity, finding.data["source"]) == ("error", "host2")
    assert finding.note.endswith(f"and only the host is behind it{said}")


def test_what_counted_at_another_time_is_not_compared(tmp_path: Path) -> None:
    def files(hours: dict[str, int]) -> Files:
        return {
            f"{name}/a.txt": _snapshot(name, hour * 3600, rx=hour * 100, tx=hour * 100)
            for name, hour in hours.items()
        }

    report = _report(tmp_path, files({"spine1": 2, "leaf1": 9}), files({"spine1": 1, "leaf1": 8}))
    assert findings(report, "info") == {("CAP005", "leaf1")}
    assert "spine1 and leaf1 were captured at different times" in reasons(report, "STM003")


def _snapshot(name: str, taken: int, *, rx: int, tx: int) -> str:
    """Return a snapshot of a switch whose Ethernet0 is stormed and whose Ethernet32 sends pauses."""
    names = {"Ethernet0": "oid:0x1000000000002", "Ethernet32": "oid:0x1000000000022"}
    queue = {"PFC_WD_STATUS": "stormed", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "1"}
    rows = {
        "COUNTERS_PORT_NAME_MAP": names,
        "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": "oid:0x15000000000003"},
        "COUNTERS:oid:0x1000000000002": {"SAI_PORT_STAT_PFC_3_RX_PKTS": str(rx)},
        "COUNTERS:oid:0x1000000000022": {"SAI_PORT_STAT_PFC_3_TX_PKTS": str(tx)},
        "COUNTERS:oid:0x15000000000003": queue if name == "spine1" else {"PFC_WD_STATUS": "operational"},
    }
    header = f"# lossless switch state 1\n# switch {name}\n# taken {taken} UTC\n"
    sections = (f"==> sonic-db-cli COUNTERS_DB HGETALL '{key}'\n{fields}\n" for key, fields in rows.items())
    return f"{header}{''.join(sections)}==> end\n"


def test_neighbors_of_the_configuration_serve_without_an_intent(tmp_path: Path) -> None:
    neighbors = {"Ethernet0": {"name": "leaf9", "port": "Ethernet32"}}
    config = leaf_config().replace('"leaf1"', '"spine1"')
    config = config.replace(
        '"PORT":', f'"DEVICE_NEIGHBOR": {str(neighbors).replace(chr(39), chr(34))},\n "PORT":'
    )
    files = {"spine1/a.txt": storm("Ethernet0"), "spine1/config_db.json": config}
    leaf = {"leaf9/a.txt": _counts(_RX, _TX)}
    assert _sources(report_on(tmp_path / "a", {**files, **leaf})) == [("warning", "leaf9")]
    assert reasons(report_on(tmp_path / "b", files), "STM003") == ["there are no captures of leaf9"]


def _rates(gigabytes: Mapping[str, float]) -> str:
    """Return what ``show interfaces counters`` prints of the rates of some ports."""
    lines = ["    IFACE    STATE        TX_BPS", "---------  -------  ------------"]
    lines += [f"{port:>9}        U  {rate:>7.2f} GB/s" for port, rate in gigabytes.items()]
    return "\n" + "\n".join(lines) + "\n"
