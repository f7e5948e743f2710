"""A tree of show techsupport is read where the switch's state is in it; what must be unpacked first is said."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import verify
from lossless.formats.inputs.captures import gather_captures
from lossless.model.fabric.state import DeviceState
from tests.checks.verify.running import dumped, leaf_config, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TREE = "sonic_dump_leaf-1_20260723_101010"
CONFIG = json.loads(leaf_config())


def counters(drops: int) -> dict[str, Any]:
    """Return COUNTERS_DB with the drops of one queue."""
    return {
        "COUNTERS_QUEUE_NAME_MAP": {"Ethernet4:3": "oid:0x15"},
        "COUNTERS:oid:0x15": {"SAI_QUEUE_STAT_DROPPED_PACKETS": str(drops)},
    }


def tree(folder: Path, files: Mapping[str, str | dict[str, Any]]) -> Path:
    """Write files of a tree of show techsupport; rows as sonic-db-dump prints them."""
    for name, data in files.items():
        file = folder / TREE / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(data if isinstance(data, str) else json.dumps(dumped(data)))
    return folder / TREE


FILES: dict[str, str | dict[str, Any]] = {
    "dump/CONFIG_DB.json": rows_of(CONFIG),
    "dump/COUNTERS_DB.json": counters(5),
    "dump/COUNTERS_DB_1.json": counters(2),
    "dump/COUNTERS_DB_2.json": counters(9),
    "dump/ASIC_DB.json": {"ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:oid:0x15": {"SAI_QUEUE_ATTR_INDEX": "3"}},
    "dump/APPL_STATE_DB.json": {"PORT_TABLE:Ethernet4": {"oper_status": "down"}},
    "dump/interface.counters.fec-histogram.Ethernet4.2": "Symbol Errors    Codewords\n----  ---\nBIN0  5\n",
    "dump/docker.ps": "CONTAINER ID   IMAGE\n------------   -----\nab   swss\n",
    "etc/sonic/config_db.json": json.dumps({**CONFIG, "PFC_WD": {}}),
    "log/syslog": "Jul 23 10:10:10 leaf1 INFO\n",
}


def test_the_running_state_of_a_tree_is_read_and_no_other_file(tmp_path: Path) -> None:
    root = tree(tmp_path, FILES)
    for named in (tmp_path, root, root / "dump"):
        inputs = gather_captures([named])
        assert inputs.problems == ()
        assert {file.rpartition(TREE)[2] for file in inputs.documents} == {
            "/dump/CONFIG_DB.json",
            "/dump/COUNTERS_DB_2.json",
        }


def test_the_configuration_is_the_one_that_runs_and_the_counters_are_the_last(tmp_path: Path) -> None:
    (device,) = gather_captures([tree(tmp_path, FILES)]).devices
    assert device.name == "leaf1"
    assert device.configuration is not None
    assert device.configuration.data["PFC_WD"]
    state = DeviceState(device.name, device.captures)
    assert state.value("dropped_packets", port="Ethernet4", queue="3") == 9


def test_a_tree_without_a_configuration_is_of_the_switch_in_its_name(tmp_path: Path) -> None:
    (device,) = gather_captures([tree(tmp_path, {"dump/COUNTERS_DB.json": counters(1)})]).devices
    assert device.name == "leaf-1"


def test_the_counters_of_its_beginning_are_an_earlier_capture(tmp_path: Path) -> None:
    root = tree(tmp_path, {**FILES, "dump/CONFIG_DB.json": rows_of({**CONFIG, "DEVICE_METADATA": METADATA})})
    report = verify([root], since=[root / "dump" / "COUNTERS_DB_1.json"])
    (finding,) = report.findings
    assert (finding.code, finding.severity, finding.data["dropped"]) == ("CTR001", "error", 7)


METADATA = {"localhost": {**CONFIG["DEVICE_METADATA"]["localhost"], "hostname": "leaf-1"}}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("CONFIG_DB.json", "", "the file is empty"),
        ("COUNTERS_DB_2.json", "Traceback (most recent call last):\n", "no capture that is read here"),
        ("COUNTERS_DB_2.json", json.dumps(dumped(counters(9)))[:-30], "this JSON ends early"),
    ],
)
def test_a_database_that_is_cut_or_missing_is_said(name: str, text: str, says: str, tmp_path: Path) -> None:
    root = tree(tmp_path, {**FILES, f"dump/{name}": text})
    (problem,) = gather_captures([tmp_path]).problems
    assert (problem.file, says in problem.message) == (str(root / "dump" / name), True)


def test_a_folder_called_dump_that_is_no_tree_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "dump" / "anything"
    file.parent.mkdir()
    file.write_text(json.dumps(counters(3)))
    assert [*gather_captures([tmp_path]).documents] == [str(file)]


def _archive() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../../dump/COUNTERS_DB.json"))
    return stream.getvalue()


_REFUSED = [
    (gzip.compress(_archive(), mtime=0), "a compressed file; unpack it"),
    (_archive(), "an archive; unpack it (tar -xf)"),
    (b"PK\x03\x04\x14\x00", "an archive; unpack it (unzip)"),
    (
        b"REDIS0009\xfa\tredis-ver\x055.0.3",
        "print the databases as JSON instead: sonic-db-dump -n COUNTERS_DB -y",
    ),
]


@pytest.mark.parametrize(("raw", "says"), _REFUSED)
def test_what_holds_captures_in_another_form_is_refused_with_what_to_do(
    raw: bytes, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "captures.bin"
    file.write_bytes(raw)
    (problem,) = gather_captures([file]).problems
    assert says in problem.message
    assert gather_captures([tmp_path]).problems == ()


def test_an_archive_of_show_techsupport_is_never_passed_in_silence(tmp_path: Path) -> None:
    (tmp_path / f"{TREE}.tar.gz").write_bytes(gzip.compress(_archive()))
    (problem,) = gather_captures([tmp_path]).problems
    assert problem.file.endswith(".tar.gz")
