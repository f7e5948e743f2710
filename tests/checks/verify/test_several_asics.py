"""Each ASIC of a switch is checked against its own configuration, in whatever files its namespaces are captured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.checks.lint.running import Intended, running_devices
from lossless.formats.inputs.captures import gather_captures
from lossless.formats.inputs.devices import DeviceReader
from tests.checks.verify.running import (
    INTENT,
    Files,
    dumped,
    findings,
    leaf_config,
    pauses,
    queue_counters,
    reasons,
    report_on,
    rows_of,
    storm,
    watchdog,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PORTS = {"Ethernet0": "Ethernet16", "Ethernet4": "Ethernet20", "Ethernet8": "Ethernet24"}
"""Ports of ASIC 1, by those of ASIC 0."""
_OTHER_CLASS = {name: {"pfc_enable": "4"} for name in _PORTS.values()}


def asic(number: int, renamed: Mapping[str, str] | None = None, **rows: Any) -> dict[str, Any]:
    """Return the configuration of an ASIC: priority 3 is lossless at the ports of leaf1."""
    rows["DEVICE_METADATA"] = {"localhost": {"asic_name": f"asic{number}", "sub_role": "FrontEnd"}}
    data: dict[str, Any] = json.loads(leaf_config(renamed, **rows))
    return data


def drops(port: str, packets: int = 7) -> dict[str, Any]:
    """Return COUNTERS_DB of an ASIC that has dropped in queue 3 of one port."""
    return {
        "COUNTERS_QUEUE_NAME_MAP": {f"{port}:3": "oid:0x15"},
        "COUNTERS:oid:0x15": {"SAI_QUEUE_STAT_DROPPED_PACKETS": str(packets)},
    }


HOST = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "hwsku": "ACS-SN5600"}}}
ASICS = (asic(0), asic(1, _PORTS, PORT_QOS_MAP=_OTHER_CLASS, TC_TO_QUEUE_MAP={"AZURE": {"3": "4", "4": "3"}}))
COUNTERS = (drops("Ethernet0"), drops("Ethernet16"))


def folders(asics: tuple[Any, ...], counters: tuple[Any, ...]) -> Files:
    """Return a folder for each ASIC, whose databases do not say which it is."""
    unnamed = [json.dumps(data).replace('"asic_name"', '"other_name"') for data in asics]
    named = {f"leaf1/asic{n}/config_db.json": text for n, text in enumerate(unnamed)}
    return named | {f"leaf1/asic{n}/counters.json": json.dumps(data) for n, data in enumerate(counters)}


def sections(asics: tuple[Any, ...], counters: tuple[Any, ...]) -> Files:
    """Return one file with a section for each ASIC, as ``config save FILE`` writes it, and one of the counters."""
    config = {"localhost": HOST, **{f"asic{n}": data for n, data in enumerate(asics)}}
    state = {f"asic{n}": {"COUNTERS_DB": data} for n, data in enumerate(counters)}
    return {"leaf1/config_db.json": json.dumps(config), "leaf1/counters.json": json.dumps(state)}


def techsupport(asics: tuple[Any, ...], counters: tuple[Any, ...]) -> Files:
    """Return the tree of ``show techsupport``: rows as sonic-db-dump prints them, the ASIC in the name of the file."""
    dump = "sonic_dump_leaf1_20260723_101010/dump"
    files = {f"{dump}/CONFIG_DB.json": json.dumps(dumped(rows_of(HOST)))}
    files |= {f"{dump}/CONFIG_DB.json.{n}": json.dumps(dumped(rows_of(data))) for n, data in enumerate(asics)}
    return files | {
        f"{dump}/COUNTERS_DB_2.json.{n}": json.dumps(dumped(data)) for n, data in enumerate(counters)
    }


def snapshot(asics: tuple[Any, ...], counters: tuple[Any, ...]) -> Files:
    """Return what ``lossless collector --switch`` prints."""
    databases = [("", "CONFIG_DB", rows_of(HOST))]
    databases += [(f"-n asic{n} ", "CONFIG_DB", rows_of(data)) for n, data in enumerate(asics)]
    databases += [(f"-n asic{n} ", "COUNTERS_DB", data) for n, data in enumerate(counters)]
    lines = ["# lossless switch state 1", "# switch leaf1"]
    for namespace, name, rows in databases:
        for key, row in rows.items():
            words = [json.dumps(word) for field in row.items() for word in field]
            lines.append(f"==> sonic-db-cli {namespace}{name} HGETALL '{key}'")
            lines += [f"{number}) {word}" for number, word in enumerate(words, start=1)]
    return {"captures/leaf1.txt": "\n".join((*lines, "==> end", ""))}


_FORMS = [folders, sections, techsupport, snapshot]


@pytest.mark.parametrize("form", _FORMS)
def test_a_queue_is_lossless_where_its_own_asic_has_it_so(form: Any, tmp_path: Path) -> None:
    report = report_on(tmp_path, form(ASICS, COUNTERS))
    assert findings(report, "warning") == {("CTR001", "leaf1:asic0:Ethernet0:3")}


@pytest.mark.parametrize("form", _FORMS)
def test_a_counter_group_that_is_off_is_off_for_its_own_asic(form: Any, tmp_path: Path) -> None:
    off = {"QUEUE": {"FLEX_COUNTER_STATUS": "disable"}}
    asics = (asic(0), asic(1, _PORTS, FLEX_COUNTER_TABLE=off))
    report = report_on(tmp_path, form(asics, COUNTERS))
    assert findings(report, "warning") == {("CTR001", "leaf1:asic0:Ethernet0:3")}
    assert "counter group QUEUE is off: its counters do not move" in reasons(report, "CTR001")


@pytest.mark.parametrize("form", _FORMS)
def test_ports_of_one_name_are_those_of_their_asic(form: Any, tmp_path: Path) -> None:
    asics = (asic(0), asic(1))
    report = report_on(tmp_path, form(asics, (drops("Ethernet0", 0), drops("Ethernet0", 5))))
    assert findings(report, "warning") == {("CTR001", "leaf1:asic1:Ethernet0:3")}


def test_what_happened_between_captures_is_counted_for_each_asic(tmp_path: Path) -> None:
    asics = (asic(0), asic(1))
    before = folders(asics, (drops("Ethernet0", 7), drops("Ethernet0", 3)))
    now = folders(asics, (drops("Ethernet0", 7), drops("Ethernet0", 5)))
    (finding,) = report_on(tmp_path, now, before).findings
    assert (finding.severity, finding.elements, finding.data["dropped"]) == (
        "error",
        ("leaf1:asic1:Ethernet0:3",),
        2,
    )


def test_captures_that_are_swapped_are_named(tmp_path: Path) -> None:
    asics, early = (asic(0), asic(1)), "# taken 1758000000 UTC"
    now, before = (snapshot(asics, (drops("Ethernet0", n), drops("Ethernet0", n))) for n in (5, 7))
    now = {name: text.replace("# switch leaf1", f"# switch leaf1\n{early}") for name, text in now.items()}
    before = {
        name: text.replace("# switch", "# taken 1758000090 UTC\n# switch") for name, text in before.items()
    }
    assert ("CAP005", "leaf1") in findings(report_on(tmp_path, now, before), "warning")
    assert ("CAP005", "leaf1") not in findings(report_on(tmp_path / "right", before, now))


def test_a_table_of_all_asics_is_of_the_one_that_has_the_port(tmp_path: Path) -> None:
    files = {
        **sections(ASICS, ()),
        "leaf1/queues.txt": queue_counters({"Ethernet4 UC3": 9, "Ethernet20 UC3": 9, "Ethernet20 UC4": 2}),
    }
    assert findings(report_on(tmp_path, files), "warning") == {
        ("CTR001", "leaf1:asic0:Ethernet4:3"),
        ("CTR001", "leaf1:asic1:Ethernet20:4"),
    }


def test_a_table_does_not_say_which_of_two_ports_of_one_name_it_is_of(tmp_path: Path) -> None:
    files = {**sections((asic(0), asic(1)), ()), "leaf1/queues.txt": queue_counters({"Ethernet4 UC3": 9})}
    report = report_on(tmp_path, files)
    assert findings(report) == set()
    assert reasons(report, "CTR001") == [
        "neither a configuration nor an intent says which classes are lossless"
    ]


def test_an_asic_without_ports_of_the_intent_needs_none_of_its_qos(tmp_path: Path) -> None:
    bare = {
        "PORT": {"Ethernet-BP0": {"lanes": "1"}},
        "DEVICE_METADATA": {"localhost": {"asic_name": "asic1"}},
    }
    front, unloaded = asic(0), asic(0)
    for table in ("PORT_QOS_MAP", "BUFFER_PG", "PFC_WD"):
        del unloaded[table]
    assert findings(report_on(tmp_path / "a", {**INTENT, **sections((front, bare), ())}), "error") == set()
    report = report_on(tmp_path / "b", {**INTENT, **sections((unloaded, bare), ())})
    assert ("APP001", "leaf1:asic0") in findings(report, "error")


def test_pauses_are_followed_from_one_asic_of_a_switch_to_the_other(tmp_path: Path) -> None:
    """spine1 is paused by Ethernet32 of leaf1, whose other ASIC has host2 at Ethernet8."""
    none = {"Ethernet32": 0}
    files = {
        **INTENT,
        "spine1/a.txt": storm("Ethernet0"),
        "leaf1/asic0/a.txt": storm("Ethernet8") + "\n" + pauses("Rx", {"Ethernet8": 5312044}),
        "leaf1/asic1/a.txt": pauses("Rx", none) + pauses("Tx", {"Ethernet32": 161502}),
    }
    report = report_on(tmp_path, files)
    assert [finding.data["source"] for finding in report.findings if finding.code == "STM003"] == ["host2"]


def test_the_switch_as_a_whole_has_the_ports_of_all_its_asics(tmp_path: Path) -> None:
    report_on(tmp_path, sections(ASICS, COUNTERS))
    inputs = gather_captures([tmp_path / "now"])
    (switch,) = running_devices(inputs.devices, (), Intended({}, {}), DeviceReader(()).read)
    assert switch.ports.keys() == {*_PORTS, *_PORTS.values()}
    assert [asic.name for asic in switch.asics] == ["leaf1", "leaf1:asic0", "leaf1:asic1"]


@pytest.mark.parametrize("then", [watchdog([]), storm("Ethernet16", "operational")], ids=["empty", "other"])
def test_a_table_of_all_asics_leaves_out_queues_without_storms(tmp_path: Path, then: str) -> None:
    config = folders(ASICS, ())
    now = {**config, "leaf1/pfcwd.txt": storm("Ethernet0", "operational", 2)}
    report = report_on(tmp_path, now, {"leaf1/pfcwd.txt": then})
    assert findings(report, "warning") == {("STM005", "leaf1:asic0:Ethernet0:3")}
