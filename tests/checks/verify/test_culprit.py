"""Who did it: the host, workload, cycle or link that most evidence of captures points to.

In the recorded storm port2 of host37, at Ethernet36 of leaf3, pauses its switch; ``after`` and ``before`` have the
watchdog's table, ``a2`` and ``b2`` do not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lossless.api import verify
from lossless.interfaces.cli import main as lossless
from tests.all_cases import some
from tests.checks.verify.running import INTENT, leaf_config, pauses, report_on, storm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lossless.api import Report
    from lossless.checks.rules.storms.culprit import Culprit

    Found = list[tuple[str, str, str]]

_LEAF = (*range(0, 32, 4), *range(32, 64, 8))
HOST37 = ("host", "host37", "port2")
AT_LEAF3 = ("host", "leaf3", "Ethernet36")
BY_ITS_NIC = ("host", "host37", "eth1")


def _found(report: Report) -> Found:
    return [(each.kind, each.device, each.port) for each in report.culprits or ()]


def _accused(report: Report) -> Found:
    return [found for found in _found(report) if found[0] != "none"]


@pytest.fixture
def storm_folder(reference: Path) -> Path:
    """Return the folder of the recorded storm."""
    folder = reference / "field" / "day" / "storm"
    if not folder.is_dir():
        pytest.skip(f"no recorded storm at {folder}")
    return folder


@pytest.mark.parametrize(
    ("paths", "since", "expected"),
    [
        (["fabric.yaml", "after"], ["before"], [HOST37]),
        (["fabric.yaml", "after"], [], [HOST37]),
        (["fabric.yaml", "a2"], ["b2"], [HOST37]),
        (["fabric.yaml", "a2"], [], [HOST37]),
        (["fabric.yaml", "after/leaf3"], [], [HOST37]),
        (["fabric.yaml", "a2/leaf3"], [], [HOST37]),
        (["a2/leaf1", "a2/leaf3", "a2/spine1", "a2/spine2"], ["b2"], [AT_LEAF3]),
        (["after/leaf1", "after/leaf3", "after/spine1", "after/spine2"], [], [AT_LEAF3]),
        (["after/host5", "after/host37"], [], [BY_ITS_NIC]),
        (["after/host5", "after/host37"], ["before"], [BY_ITS_NIC]),
        (["after"], ["before"], [AT_LEAF3, BY_ITS_NIC]),
        (["after/spine1", "after/host5"], [], []),
        (["after/spine1", "after/host5"], ["before"], []),
        (["fabric.yaml", "after/spine1", "after/host5"], ["before"], []),
        (["fabric.yaml", "before"], [], []),
    ],
)
def test_the_recorded_storm_has_its_culprit(
    storm_folder: Path, paths: list[str], since: list[str], expected: Found
) -> None:
    report = verify([storm_folder / path for path in paths], since=[storm_folder / path for path in since])
    assert _accused(report) == expected


LLDP = """admin@leaf3:~$ show lldp table
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet32   host37          02:00:00:00:00:01                eth0
Ethernet36   host37          02:00:00:00:00:02                eth1
Ethernet128  spine1          Ethernet128        BR            Ethernet128
--------------------------------------------------
Total entries displayed:  3
"""
NEIGHBORS = json.dumps(
    {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf3"}},
        "PORT": {"Ethernet36": {"lanes": "36", "speed": "400000", "admin_status": "up"}},
        "DEVICE_NEIGHBOR": {"Ethernet36": {"name": "host37", "port": "eth1"}},
        "DEVICE_NEIGHBOR_METADATA": {"host37": {"type": "Server"}},
    }
)
HEARD = json.dumps(
    {
        "LLDP_ENTRY_TABLE:Ethernet36": {
            "lldp_rem_sys_name": "host37",
            "lldp_rem_port_id": "02:00:00:00:00:02",
            "lldp_rem_port_desc": "eth1",
        }
    }
)


@pytest.mark.parametrize(
    ("name", "text"), [("lldp.txt", LLDP), ("config_db.json", NEIGHBORS), ("appl_db.json", HEARD)]
)
def test_what_is_connected_joins_switch_and_host(
    storm_folder: Path, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "leaf3").mkdir()
    (tmp_path / "leaf3" / name).write_text(text)
    report = verify([storm_folder / "after", tmp_path], since=[storm_folder / "before"])
    assert _accused(report) == [BY_ITS_NIC]
    (culprit,) = report.culprits or ()
    assert (culprit.seen_at, culprit.confidence) == ("leaf3 Ethernet36", "high")
    assert any("host37 eth1 sent 48,211,930 pauses" in fact.text for fact in culprit.evidence)


@pytest.mark.tools("records")
def test_no_capture_of_a_healthy_device_accuses_a_host(reference: Path) -> None:
    every = [
        file
        for folder in (reference / "captures" / "state", reference / "captures" / "state-2")
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    ]
    files, folders = some(every, 4, "healthy"), {file.parent for file in every}
    accused = [
        (path, found)
        for path in (*files, *folders)
        for found in _found(verify([path]))
        if found[0] not in ("none", "workload")
    ]
    assert accused == []


def _counts(rx: Mapping[str, int], tx: Mapping[str, int], numbers: Iterable[int] = _LEAF) -> str:
    """Return pauses of all ports of a leaf, or of those of some numbers; 40 where none are given."""
    ports = dict.fromkeys([f"Ethernet{number}" for number in numbers], 40)
    return pauses("Rx", {**ports, **rx}) + pauses("Tx", {**ports, **tx})


def _one(tmp_path: Path, now: Mapping[str, str], before: Mapping[str, str] | None = None) -> Culprit:
    (culprit,) = report_on(tmp_path, {**now, **INTENT}, None if before is None else {**before}).culprits or ()
    return culprit


@pytest.mark.parametrize(("received", "accused"), [(9_999, []), (10_000, [("host", "host2", "port1")])])
def test_a_port_has_to_have_received_ten_thousand_pauses(
    tmp_path: Path, received: int, accused: Found
) -> None:
    report = report_on(tmp_path, {"leaf1/a.txt": _counts({"Ethernet8": received}, {}), **INTENT})
    assert _accused(report) == accused


def test_a_port_that_received_as_many_as_the_others_is_no_culprit(tmp_path: Path) -> None:
    rx = {f"Ethernet{number}": 20_000 for number in range(0, 32, 4)}
    report = report_on(tmp_path, {"leaf1/a.txt": _counts({**rx, "Ethernet8": 900_000}, {}), **INTENT})
    assert _accused(report) == []


@pytest.mark.parametrize(("received", "accused"), [(999_999, []), (10**6, [("host", "host2", "port1")])])
def test_a_port_that_was_captured_alone_needs_a_million(
    tmp_path: Path, received: int, accused: Found
) -> None:
    text = pauses("Rx", {"Ethernet8": received}) + pauses("Tx", {"Ethernet8": 40})
    assert _accused(report_on(tmp_path, {"leaf1/a.txt": text, **INTENT})) == accused


def test_a_few_pauses_beside_an_old_storm_accuse_nobody(tmp_path: Path) -> None:
    text = storm("Ethernet8", "operational") + "\n" + _counts({"Ethernet8": 800}, {})
    assert _accused(report_on(tmp_path, {"leaf1/a.txt": text, **INTENT})) == []


@pytest.mark.parametrize(("storms", "accused"), [(4, []), (5, [("host", "host2", "port1")])])
def test_the_watchdog_alone_names_a_host_by_five_storms(tmp_path: Path, storms: int, accused: Found) -> None:
    report = report_on(tmp_path, {"leaf1/a.txt": storm("Ethernet8", "operational", storms), **INTENT})
    assert _accused(report) == accused


def test_between_captures_one_storm_is_enough(tmp_path: Path) -> None:
    now, before = (storm("Ethernet8", "operational", storms) for storms in (3, 2))
    report = report_on(tmp_path, {"leaf1/a.txt": now, **INTENT}, {"leaf1/a.txt": before})
    assert _accused(report) == [("host", "host2", "port1")]


def test_two_hosts_are_two_answers_the_worse_first(tmp_path: Path) -> None:
    rx = {"Ethernet8": 50_000, "Ethernet16": 700_000}
    report = report_on(tmp_path, {"leaf1/a.txt": _counts(rx, {}), **INTENT})
    assert _accused(report) == [("host", "host3", "port1"), ("host", "host2", "port1")]


def _taken(at_s: int, frames: int, paused_us: int | None, out_bytes: int) -> dict[str, str]:
    """Return what the collector prints of Ethernet8 of leaf1; the switch counts durations of pauses, or does not."""
    row = {"SAI_PORT_STAT_IF_OUT_OCTETS": out_bytes, "SAI_PORT_STAT_PFC_3_RX_PKTS": frames}
    if paused_us is not None:
        row["SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US"] = paused_us
    words = [json.dumps(str(word)) for field in row.items() for word in field]
    lines = ["# lossless switch state 1", "# switch leaf1", f"# taken {1_790_000_000 + at_s} UTC"]
    lines += [
        "==> sonic-db-cli COUNTERS_DB HGETALL 'COUNTERS_PORT_NAME_MAP'",
        '1) "Ethernet8"',
        '2) "oid:0x1"',
    ]
    lines += ["==> sonic-db-cli COUNTERS_DB HGETALL 'COUNTERS:oid:0x1'"]
    lines += [f"{number}) {word}" for number, word in enumerate(words, start=1)]
    return {"leaf1.txt": "\n".join((*lines, "==> end", ""))}


_LINE_BYTES = 400_000_000_000 // 8 * 100
"""What a link of 400G carries in 100 s."""


@pytest.mark.parametrize(
    ("frames", "paused_us", "out_bytes", "accused"),
    [
        (50_000, 1_000_000, _LINE_BYTES // 4, True),
        (50_000, 990_000, _LINE_BYTES // 4, False),
        # Line rate in what is left of the time is a receiver that keeps up.
        (50_000, 40_000_000, _LINE_BYTES * 6 // 10, False),
        (50_000, 40_000_000, _LINE_BYTES * 5 // 10, True),
        # 12,000 frames of 83.9 us each are at most 1.007 s.
        (12_000, None, _LINE_BYTES // 4, True),
        (11_900, None, _LINE_BYTES // 4, False),
        (12_000, None, _LINE_BYTES * 9 // 10, False),
    ],
)
def test_a_slow_receiver_pauses_for_one_percent_of_the_time_below_line_rate(
    tmp_path: Path, frames: int, paused_us: int | None, out_bytes: int, accused: bool
) -> None:
    now = _taken(100, 7 + frames, None if paused_us is None else 5 + paused_us, 900 + out_bytes)
    before = _taken(0, 7, None if paused_us is None else 5, 900)
    report = report_on(tmp_path, {**now, **INTENT}, before)
    assert _accused(report) == ([("host", "host2", "port1")] if accused else [])


def _nic(tx_pause: int, **counters: int) -> str:
    values = {
        "rx_packets": 10**9,
        "rx_discards_phy": 0,
        "rx_prio3_pause": 3,
        "tx_prio3_pause": tx_pause,
        **counters,
    }
    lines = "\n".join(f"     {name}: {value}" for name, value in values.items())
    return f"==> ethtool -S eth0\nNIC statistics:\n{lines}\n"


def test_a_nic_that_counts_no_pauses_has_failed(tmp_path: Path) -> None:
    leaf = _counts({"Ethernet8": 700_000}, {})
    culprit = _one(tmp_path, {"leaf1/a.txt": leaf, "host2/a.txt": _nic(0)})
    assert (culprit.kind, culprit.device) == ("NIC", "host2")
    assert culprit.against == (
        "its NIC counts 0 sent pauses: a NIC that has failed does not count, or it is another link",
    )


def test_storms_that_the_nic_ended_itself_are_the_nics(tmp_path: Path) -> None:
    leaf = _counts({"Ethernet8": 700_000}, {})
    culprit = _one(
        tmp_path, {"leaf1/a.txt": leaf, "host2/a.txt": _nic(700_000, tx_pause_storm_error_events=2)}
    )
    assert (culprit.kind, culprit.device, culprit.confidence) == ("NIC", "host2", "medium")


def test_a_nic_that_ended_storms_is_named_by_its_own_counters(tmp_path: Path) -> None:
    report = report_on(tmp_path, {"host2/a.txt": _nic(300, tx_pause_storm_error_events=2)})
    assert _accused(report) == [("NIC", "host2", "eth0")]


def test_a_bus_that_stalls_without_pauses_is_no_culprit(tmp_path: Path) -> None:
    assert _accused(report_on(tmp_path, {"host2/a.txt": _nic(300, outbound_pci_stalled_wr=93)})) == []


def _printed(capsys: pytest.CaptureFixture[str], folder: Path, form: str) -> str:
    assert lossless(["verify", str(folder), "--format", form]) == 0
    return capsys.readouterr().out


def test_reports_have_the_answer_with_its_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report_on(tmp_path, {"leaf1/a.txt": _counts({"Ethernet8": 700_000}, {}), **INTENT})
    (culprit,) = json.loads(_printed(capsys, tmp_path / "now", "json"))["culprits"]
    assert (culprit["kind"], culprit["device"], culprit["port"]) == ("host", "host2", "port1")
    assert culprit["evidence"][0]["line"] == 5
    for form, start in (("text", "who did it: host2 port1"), ("markdown", "**Who did it** host2 port1")):
        printed = _printed(capsys, tmp_path / "now", form)
        assert start in printed
        assert "700,000 pauses" in printed


def test_a_name_from_a_file_is_shown_harmless(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lldp = (
        LLDP.replace("host37", "\x1b[31mevil").replace("Ethernet36", "Ethernet8 ").replace("leaf3", "leaf1")
    )
    report_on(tmp_path, {"leaf1/a.txt": _counts({"Ethernet8": 700_000}, {}) + lldp})
    printed = _printed(capsys, tmp_path / "now", "text")
    assert "who did it" in printed
    assert "\x1b" not in printed


def test_counts_that_do_not_agree_are_said(tmp_path: Path) -> None:
    leaf = _counts({"Ethernet8": 700_000}, {})
    culprit = _one(tmp_path, {"leaf1/a.txt": leaf, "host2/a.txt": _nic(90_000)})
    assert culprit.against == ("its NIC counts 90,000 sent pauses, leaf1 Ethernet8 700,000",)


def test_a_watchdog_that_detected_nothing_is_said(tmp_path: Path) -> None:
    text = storm("Ethernet8", "operational", 0) + "\n" + _counts({"Ethernet8": 700_000}, {})
    culprit = _one(tmp_path, {"leaf1/a.txt": text})
    assert culprit.against == (
        "the watchdog of leaf1 detected no storm at Ethernet8: it is slow rather than stuck",
    )


_INCAST = {"Ethernet4": 49.0}


def _rates(gigabytes: Mapping[str, float]) -> str:
    lines = [
        "    IFACE    STATE            RX_OK        RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR"
        "            TX_OK        TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR"
    ]
    lines.append("-" * 9 + "  -----" + "  ---" * 12)
    for port, rate in gigabytes.items():
        share = f"{rate / 50:.2%}"
        lines.append(
            f"{port:>9}        U    1,000    0.00 B/s    0.00%    0    0    0    1,000    {rate:.2f} GB/s    {share}"
            "    0    0    0"
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("gigabytes", "expected"),
    [
        ({"Ethernet4": 49.0, "Ethernet8": 3.0}, ("workload", "leaf1", "Ethernet4")),
        ({"Ethernet4": 30.0, "Ethernet8": 3.0}, ("none", "leaf1", "")),
    ],
)
def test_an_egress_at_line_rate_without_pauses_is_an_incast(
    tmp_path: Path, gigabytes: Mapping[str, float], expected: tuple[str, str, str]
) -> None:
    tx = {f"Ethernet{number}": 300_000 for number in range(8, 64, 8)}
    culprit = _one(tmp_path, {"leaf1/a.txt": _counts({}, tx) + _rates(gigabytes)})
    assert (culprit.kind, culprit.device, culprit.port) == expected


def _ring(stormed: str = "stormed") -> dict[str, str]:
    """Return captures of three switches in a ring, each paused by the next: sw1 by sw2, sw2 by sw3, sw3 by sw1."""
    files = {}
    for number in (1, 2, 3):
        after, before = number % 3 + 1, (number - 2) % 3 + 1
        config = {
            "DEVICE_METADATA": {"localhost": {"hostname": f"sw{number}", "type": "ToRRouter"}},
            "PORT": {
                port: {"lanes": lane, "speed": "400000", "admin_status": "up"}
                for port, lane in (("Ethernet0", "0"), ("Ethernet4", "4"), ("Ethernet8", "8"))
            },
            "DEVICE_NEIGHBOR": {
                "Ethernet0": {"name": f"sw{after}", "port": "Ethernet4"},
                "Ethernet4": {"name": f"sw{before}", "port": "Ethernet0"},
                "Ethernet8": {"name": f"host{number}", "port": "eth0"},
            },
            "DEVICE_NEIGHBOR_METADATA": {
                f"sw{after}": {"type": "ToRRouter"},
                f"sw{before}": {"type": "ToRRouter"},
                f"host{number}": {"type": "Server"},
            },
        }
        files[f"sw{number}/config_db.json"] = json.dumps(config)
        files[f"sw{number}/a.txt"] = (
            storm("Ethernet0", stormed, int(stormed == "stormed"))
            + "\n"
            + pauses("Rx", {"Ethernet0": 400_000, "Ethernet4": 0, "Ethernet8": 12})
            + pauses("Tx", {"Ethernet0": 0, "Ethernet4": 400_000, "Ethernet8": 90_000})
        )
    return files


@pytest.mark.parametrize("stormed", ["stormed", "operational"])
def test_a_cycle_of_pauses_has_no_guilty_device(tmp_path: Path, stormed: str) -> None:
    (culprit,) = report_on(tmp_path, _ring(stormed)).culprits or ()
    assert culprit.kind == "cycle"
    assert culprit.what.endswith("sw1 < sw2 < sw3 < sw1")
    assert (culprit.against == ()) is (stormed == "stormed")


def test_two_switches_that_pause_each_other_on_one_link_are_no_cycle(tmp_path: Path) -> None:
    files = {name: text for name, text in _ring().items() if not name.startswith("sw3")}
    files["sw2/a.txt"] = (
        storm("Ethernet4")
        + "\n"
        + pauses("Rx", {"Ethernet0": 0, "Ethernet4": 400_000, "Ethernet8": 12})
        + pauses("Tx", {"Ethernet0": 0, "Ethernet4": 400_000, "Ethernet8": 90_000})
    )
    assert "cycle" not in [kind for kind, *_ in _found(report_on(tmp_path, files))]


def test_pauses_that_a_captured_switch_sent_accuse_no_unknown_neighbor(tmp_path: Path) -> None:
    spine = pauses("Rx", {"Ethernet0": 1_700_000, "Ethernet8": 40}) + pauses(
        "Tx", {"Ethernet0": 40, "Ethernet8": 90_000}
    )
    sent = pauses("Rx", {"Ethernet0": 40, "Ethernet32": 40}) + pauses(
        "Tx", {"Ethernet0": 40, "Ethernet32": 1_690_000}
    )
    other = sent.replace("1690000", "   1690")
    assert _accused(report_on(tmp_path / "one", {"spine1/a.txt": spine, "leaf1/a.txt": sent})) == []
    accused = _accused(report_on(tmp_path / "two", {"spine1/a.txt": spine, "leaf1/a.txt": other}))
    assert accused == [("host", "spine1", "Ethernet0")]


def test_one_switch_of_a_ring_that_is_not_paused_ends_the_cycle(tmp_path: Path) -> None:
    files = _ring("operational")
    files["sw2/a.txt"] = files["sw2/a.txt"].replace("   400000", "        9", 1)
    assert [kind for kind, *_ in _found(report_on(tmp_path, files))] == ["none"]


@pytest.mark.parametrize(("errors", "accused"), [(99, []), (101, [("link", "host2", "eth0")])])
def test_a_link_is_bad_by_its_damaged_frames_per_frame(tmp_path: Path, errors: int, accused: Found) -> None:
    now = {"host2/a.txt": _nic(5, rx_packets=2 * 10**9, rx_crc_errors_phy=errors)}
    before = {"host2/a.txt": _nic(5, rx_crc_errors_phy=0)}
    assert _accused(report_on(tmp_path, {**now, **INTENT}, before)) == accused


@pytest.mark.parametrize(("downs", "accused"), [(3, []), (4, [("link", "host2", "eth0")])])
def test_a_link_that_went_down_twice_between_the_captures_flaps(
    tmp_path: Path, downs: int, accused: Found
) -> None:
    before = {"host2/a.txt": _nic(5, link_down_events_phy=2)}
    now = {"host2/a.txt": _nic(5, link_down_events_phy=downs)}
    assert _accused(report_on(tmp_path, {**now, **INTENT}, before)) == accused


def _group_drops(dropped: int, port: str = "Ethernet8") -> str:
    return (
        "Ingress PG dropped packets:\n      Port    PG0    PG1    PG2    PG3    PG4    PG5    PG6    PG7\n"
        "----------  -----  -----  -----  -----  -----  -----  -----  -----\n"
        f"{port:>10}      0      0      0  {dropped:>5}      0      0      0      0\n\n"
    )


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        (0, ("host", "host2", "port1")),
        (5_000, ("switch port", "leaf1", "Ethernet8")),
        (None, ("none", "leaf1", "Ethernet8")),
    ],
)
def test_drops_of_a_lossless_group_are_the_senders_who_ignores_pauses(
    tmp_path: Path, heard: int | None, expected: tuple[str, str, str]
) -> None:
    def files(dropped: int, sent: int, received: int | None) -> dict[str, str]:
        leaf = _group_drops(dropped) + _counts({}, {"Ethernet8": sent})
        nic = {} if received is None else {"host2/a.txt": _nic(5, rx_prio3_pause=received)}
        return {"leaf1/a.txt": leaf, "leaf1/config_db.json": leaf_config(), **nic}

    culprit = _one(tmp_path, files(700, 5_040, heard), files(0, 40, None if heard is None else 0))
    assert (culprit.kind, culprit.device, culprit.port) == expected


HEARD_AT_LEAF1 = """admin@leaf1:~$ show lldp table
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet8    {8}             02:00:00:00:00:01                eth0
Ethernet16   {16}            02:00:00:00:00:02                eth0
--------------------------------------------------
Total entries displayed:  2
"""


def _heard(at_8: str, at_16: str) -> str:
    return HEARD_AT_LEAF1.replace("{8} ", at_8.ljust(4)).replace("{16}", at_16.ljust(4))


def test_a_cable_in_another_port_is_named_with_the_host_that_is_there(tmp_path: Path) -> None:
    leaf = _counts({"Ethernet8": 700_000}, {}) + _heard("host3", "host2")
    report = report_on(tmp_path, {"leaf1/a.txt": leaf, **INTENT})
    assert _accused(report) == [("host", "host3", "eth0"), ("link", "leaf1", "Ethernet8")]
    cable = (report.culprits or ())[1]
    assert cable.what == "a cable in another port than declared, at leaf1 Ethernet8, leaf1 Ethernet16"
    assert "leaf1 Ethernet8 is declared to lead to host2 port1, and LLDP hears host3 eth0" in [
        fact.text for fact in cable.evidence
    ]


@pytest.mark.parametrize(
    "names", [("host2", "host3"), ("host2.example.net", "host3.example.net"), ("gpu17", "gpu18")]
)
def test_another_name_of_a_host_is_no_other_cable(tmp_path: Path, names: tuple[str, str]) -> None:
    report = report_on(tmp_path, {"leaf1/a.txt": _counts({}, {}) + _heard(*names), **INTENT})
    assert _found(report) == []


def test_a_declared_host_that_sent_no_pauses_is_not_the_one_whose_nic_did(tmp_path: Path) -> None:
    leaf = _counts({"Ethernet8": 700_000}, {})
    culprit = _one(tmp_path, {"leaf1/a.txt": leaf, "host2/a.txt": _nic(0), "host5/a.txt": _nic(700_000)})
    assert (culprit.kind, culprit.device, culprit.port) == ("host", "host5", "eth0")
    assert (
        "host2 is declared there, and its NIC sent next to no pauses: the cable may be another"
        in culprit.against
    )


def test_pauses_between_the_asics_of_a_switch_accuse_none_of_them(tmp_path: Path) -> None:
    rx = {"Ethernet-BP0": 900_000, "Ethernet8": 700_000}
    culprit = _one(tmp_path, {"leaf1/a.txt": _counts(rx, {"Ethernet-BP256": 800_000})})
    assert (culprit.device, culprit.port) == ("host2", "port1")
    assert (
        _found(report_on(tmp_path / "alone", {"leaf1/a.txt": _counts({"Ethernet-BP0": 900_000}, {})})) == []
    )


def test_a_host_that_pauses_all_the_time_does_not_keep_up(tmp_path: Path) -> None:
    """A port that was paused for all of the time sent nothing, which is no line rate."""
    now, before = _taken(100, 2_400_000, 100_000_000, 900), _taken(0, 0, 0, 900)
    assert _accused(report_on(tmp_path, {**now, **INTENT}, before)) == [("host", "host2", "port1")]


@pytest.mark.parametrize(
    ("dropped", "expected"),
    # At 800G 5,000 times 50 us are 5,984,000 frames of 4 KiB.
    [
        (700, ("leaf1", "Ethernet32")),
        (5_980_000, ("leaf1", "Ethernet32")),
        (5_990_000, ("spine1", "Ethernet0")),
    ],
)
def test_a_switch_that_counts_pauses_leaves_a_short_headroom_or_does_not_stop(
    tmp_path: Path, dropped: int, expected: tuple[str, str]
) -> None:
    """A cable between switches that is longer than declared, or a spine whose frames are of another class."""

    def files(dropped: int, frames: int) -> dict[str, str]:
        leaf = _group_drops(dropped, "Ethernet32") + _counts({}, {"Ethernet32": frames})
        return {"leaf1/a.txt": leaf, "spine1/a.txt": pauses("Rx", {"Ethernet0": frames})}

    culprit = _one(tmp_path, files(dropped, 5_040), files(0, 40))
    assert (culprit.kind, culprit.device, culprit.port) == ("switch port", *expected)


def _queues(packets: Mapping[str, tuple[int, int]], dropped: int = 0) -> str:
    """Return packets of queues 0 and 3 by ports, and how many queue 0 of each has dropped."""
    lines = ["Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes"]
    lines.append("----------  -----  --------------  ---------------  -----------  ------------")
    for port in (f"Ethernet{number}" for number in _LEAF):
        for queue, count, lost in zip((0, 3), packets.get(port, (0, 0)), (dropped, 0), strict=True):
            cells = (f"UC{queue}", count, count * 1024, lost, lost * 1024)
            lines.append(
                f"{port:>10}  {cells[0]:>5}  {cells[1]:>14}  {cells[2]:>15}  {cells[3]:>11}  {cells[4]:>12}"
            )
    return "\n".join(lines) + "\n"


def _sender(packets: int, priority: int) -> str:
    counts = {f"tx_prio{number}_packets": packets * (number == priority) for number in (0, 3)}
    counts |= {"rx_prio0_packets": 0, "rx_prio3_packets": 0, "tx_vport_rdma_unicast_packets": packets}
    return _nic(3, **counts)


def _fabric_of(leaf: str, hosts: Mapping[str, str]) -> dict[str, str]:
    return {
        "leaf1/a.txt": _counts({}, {}) + leaf,
        "leaf1/config_db.json": leaf_config(),
        **{f"{name}/a.txt": text for name, text in hosts.items()},
    }


_MILLIONS = 50_000_000


@pytest.mark.parametrize(
    ("queue_0", "queue_3", "dropped", "accused"),
    [
        (_MILLIONS, 0, 900_000, [("switch", "leaf1", "")]),
        (0, _MILLIONS, 900_000, []),
        # What is not lost has harmed nobody.
        (_MILLIONS, 0, 0, []),
    ],
)
def test_a_switch_that_sends_none_of_its_class_on_has_no_map(
    tmp_path: Path, queue_0: int, queue_3: int, dropped: int, accused: Found
) -> None:
    now = _fabric_of(_queues({"Ethernet4": (queue_0, queue_3)}, dropped), {"host2": _sender(_MILLIONS, 3)})
    before = _fabric_of(_queues({}), {"host2": _sender(0, 3)})
    assert _accused(report_on(tmp_path, {**now, **INTENT}, before)) == accused


@pytest.mark.parametrize(("priority", "accused"), [(0, [("host", "host2", "eth0")]), (3, [])])
def test_a_host_whose_rdma_is_of_another_priority_is_outside_of_the_class(
    tmp_path: Path, priority: int, accused: Found
) -> None:
    counts = (_MILLIONS, 0) if priority == 0 else (0, _MILLIONS)
    now = _fabric_of(_queues({"Ethernet4": counts}, 900_000), {"host2": _sender(_MILLIONS, priority)})
    before = _fabric_of(_queues({}), {"host2": _sender(0, priority)})
    assert _accused(report_on(tmp_path, {**now, **INTENT}, before)) == accused
