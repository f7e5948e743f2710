"""Captures are known by what they hold, and belong to the device that they or their folder name."""

from __future__ import annotations

import json
from pathlib import Path

from lossless.formats.inputs.captures import gather_captures

WATCHDOG = {"Ethernet96:3": {"PFC_WD_STATUS": "stormed", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "19"}}
METADATA = {"DEVICE_METADATA|localhost": {"hostname": "leaf7", "hwsku": "ACS-SN5600"}}
CONFIG = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf7"}}, "PORT": {"Ethernet96": {"lanes": "1"}}}


def written(file: Path, data: object) -> Path:
    """Write a file, and return it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return file


def test_a_file_without_a_device_is_of_the_one_that_its_folder_is_named_after(tmp_path: Path) -> None:
    written(tmp_path / "leaf1" / "anything", WATCHDOG)
    (device,) = gather_captures([tmp_path]).devices
    assert (device.name, device.configuration) == ("leaf1", None)


def test_a_file_without_a_device_is_of_the_one_that_another_in_its_folder_names(tmp_path: Path) -> None:
    written(tmp_path / "dump" / "watchdog.json", WATCHDOG)
    written(tmp_path / "dump" / "config_db.json", CONFIG)
    (device,) = gather_captures([tmp_path]).devices
    assert device.name == "leaf7"
    assert device.configuration is not None
    assert {capture.form for capture in device.captures} >= {"CONFIG_DB"}


def test_two_devices_of_one_folder_keep_what_names_neither_apart(tmp_path: Path) -> None:
    written(tmp_path / "all" / "a.json", CONFIG)
    written(tmp_path / "all" / "b.json", {**CONFIG, "DEVICE_METADATA": {"localhost": {"hostname": "leaf8"}}})
    written(tmp_path / "all" / "c.json", WATCHDOG)
    assert {device.name for device in gather_captures([tmp_path]).devices} == {"leaf7", "leaf8", "all"}


def test_what_is_none_is_a_problem_only_where_it_is_named(tmp_path: Path) -> None:
    letter = written(tmp_path / "letter.txt", "Dear Bob,\n\nthe fabric is slow again.\n")
    assert gather_captures([tmp_path]).problems == ()
    (problem,) = gather_captures([letter]).problems
    assert problem.file == str(letter)


def test_a_file_is_read_once_by_whatever_name_it_is_met(tmp_path: Path) -> None:
    file = written(tmp_path / "leaf1" / "wd.json", WATCHDOG)
    (device,) = gather_captures([tmp_path, file]).devices
    assert len(device.captures) == 1


def test_places_of_texts_are_their_lines_and_of_json_its_keys(tmp_path: Path) -> None:
    text = '{\n  "Ethernet96:3": {\n    "PFC_WD_STATUS": "stormed"\n  }\n}\n'
    inputs = gather_captures([written(tmp_path / "leaf1" / "wd", text)])
    (document,) = inputs.documents.values()
    (capture,) = inputs.devices[0].captures
    (reading,) = capture.readings
    assert document.locate_many([reading.path])[reading.path].line == 3
    assert document.line_text(3).strip() == '"PFC_WD_STATUS": "stormed"'


def test_places_of_an_intent_are_those_of_its_yaml(tmp_path: Path) -> None:
    file = written(tmp_path / "fabric.yaml", "lossless: v1\nfabric: small\n")
    document = gather_captures([file]).documents[str(file)]
    assert document.locate_many([("fabric",)])[("fabric",)].line == 2
