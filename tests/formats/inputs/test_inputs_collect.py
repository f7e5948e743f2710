"""Which files are checked: ours by name or by what is in them, each once, none silently lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lossless.formats.inputs.collect import collect

INTENT = "lossless: v1\n"
DEVICE = '{"PORT": {}}'


def tree(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def found(root: Path, *paths: str | Path) -> tuple[list[str], list[str]]:
    """Return the documents and the problems of paths, by names below a folder."""
    documents, problems = collect([root / path for path in paths] or [root])
    prefix = f"{root}{os.sep}"
    return [d.file.removeprefix(prefix) for d in documents], [str(p).removeprefix(prefix) for p in problems]


def test_a_repository_holds_intents_devices_and_much_that_is_not_ours(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "fabric.yaml": INTENT,
            "lab/other.yml": INTENT,
            "devices/leaf1.json": DEVICE,
            "devices/LEAF2.JSON": DEVICE,
            "package.json": '{"name": "x"}',
            "versions.json": '{"VERSIONS": "1.2", "PORT": 80}',
            "empty.json": "{}",
            "broken.json": "{",
            "list.json": "[]",
            "mkdocs.yaml": "site_name: x\n",
            "chart.yaml": "{{ template }}\n",
            "notes.txt": DEVICE,
            ".git/fabric.yaml": INTENT,
            "node_modules/x/fabric.yaml": INTENT,
        },
    )
    documents, problems = found(tmp_path)
    assert documents == ["fabric.yaml", "devices/LEAF2.JSON", "devices/leaf1.json", "lab/other.yml"]
    assert problems == []


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ('{"localhost": {"PORT": {}}, "asic0": {"PORT": {}}}', 2),
        ('{"PORT|Ethernet0": {"mtu": "9100"}}', 1),
        ('{"PORT|Ethernet0": {"value": {"mtu": "9100"}}}', 1),
        ('[{"PORT": {}}, {"asic0": {"PORT": {}}, "asic1": {"QUEUE|Ethernet0|3": {}}}]', 3),
    ],
)
def test_a_configuration_in_another_form_is_ours_by_what_is_in_it(
    tmp_path: Path, text: str, devices: int
) -> None:
    tree(tmp_path, {"one.json": text, "two.json": '[{"name": "x"}, 3]', "three.json": '{"asic0": []}'})
    assert found(tmp_path) == (["one.json"] * devices, [])


def test_a_section_beside_devices_that_is_none_is_reported_at_its_place(tmp_path: Path) -> None:
    text = '{\n "asic0": {"PORT": {}},\n "asic1": [],\n "note": "x"\n}'
    assert found(tree(tmp_path, {"one.json": text}), "one.json") == (
        ["one.json"],
        [
            "one.json:3:11: 'asic1' is no configuration of a device; it is not read",
            "one.json:4:10: 'note' is no configuration of a device; it is not read",
        ],
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "fabric.yaml",
            "a: *x\n",
            "fabric.yaml:1:4: no anchor &x before this alias",
        ),
        ("fabric.yaml", "a: 1\n", "fabric.yaml:1:1: not an intent: it does not begin with lossless: v1"),
        (
            "config_db.json",
            "{",
            "config_db.json:1:2: the file ends too early; is it cut off?",
        ),
        (
            "config_db.json",
            '{"name": "x"}',
            "config_db.json:1:1: not a CONFIG_DB: it has none of the tables that this tool reads",
        ),
        (
            "config_db.json",
            '{"running_config": {"PORT": {}}}',
            "config_db.json:1:1: not a CONFIG_DB: it has none of the tables that this tool reads",
        ),
        (
            "config_db.json",
            '[{"op": "add", "path": "/PORT", "value": {}}]',
            "config_db.json:1:1: a list, and none of its items is a CONFIG_DB",
        ),
    ],
)
def test_what_bears_our_name_is_reported_in_a_directory_and_by_name(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    tree(tmp_path, {name: text})
    assert found(tmp_path) == ([], [said])
    assert found(tmp_path, name) == ([], [said])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.json", '{"a": 1}', "not a CONFIG_DB: it has none of the tables that this tool reads"),
        ("x.JSON", '{"a": 1}', "not a CONFIG_DB: it has none of the tables that this tool reads"),
        ("x.yaml", "a: 1\n", "not an intent: it does not begin with lossless: v1"),
    ],
)
def test_what_is_named_must_be_ours(tmp_path: Path, name: str, text: str, said: str) -> None:
    tree(tmp_path, {name: text})
    assert found(tmp_path) == ([], [])
    assert found(tmp_path, name) == ([], [f"{name}:1:1: {said}"])
    assert found(tmp_path, ".", name) == ([], [f"{name}:1:1: {said}"])


def test_an_empty_device_is_one_when_named(tmp_path: Path) -> None:
    tree(tmp_path, {"x.json": "{}"})
    assert found(tmp_path, "x.json") == (["x.json"], [])


def test_what_is_named_and_is_no_file(tmp_path: Path) -> None:
    tree(tmp_path, {"x.txt": DEVICE})
    assert found(tmp_path, "nowhere.json", "x.txt") == (
        [],
        [
            "nowhere.json: no such file",
            "x.txt: unknown kind of file; expected .json, .yaml or .yml, a configuration of Arista EOS, "
            "NVIDIA NVUE or Cisco NX-OS, "
            "a file of a subnet manager, "
            "or facts of a host "
            "(docs/guides/host-facts.md)",
        ],
    )


def test_a_file_counts_once_by_whatever_name_it_is_met(tmp_path: Path) -> None:
    tree(tmp_path, {"a/leaf1.json": DEVICE})
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "link.json").symlink_to(tmp_path / "a" / "leaf1.json")
    assert found(tmp_path) == (["a/leaf1.json"], [])
    assert found(tmp_path, "a/leaf1.json", "a", "b", "a/../a/leaf1.json") == (["a/leaf1.json"], [])


def test_a_broken_file_is_reported_once(tmp_path: Path) -> None:
    tree(tmp_path, {"config_db.json": "{"})
    assert len(found(tmp_path, ".", "config_db.json", ".")[1]) == 1


def test_folders_that_are_links_lead_nowhere(tmp_path: Path) -> None:
    tree(tmp_path, {"a/leaf1.json": DEVICE})
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    assert found(tmp_path) == (["a/leaf1.json"], [])


def test_a_dangling_link_of_our_name_is_reported(tmp_path: Path) -> None:
    (tmp_path / "config_db.json").symlink_to(tmp_path / "gone.json")
    (tmp_path / "other.json").symlink_to(tmp_path / "gone.json")
    assert found(tmp_path) == ([], ["config_db.json: no such file"])


def test_a_pipe_in_a_directory_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config_db.json")
    assert found(tmp_path) == ([], [])


def test_a_folder_that_may_not_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"open/leaf1.json": DEVICE, "shut/leaf2.json": DEVICE})
    scandir = os.scandir

    def guarded(path: Any) -> Iterator[Any]:
        if os.fspath(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    assert found(tmp_path) == (["open/leaf1.json"], ["shut: no permission to read this folder"])


def test_an_empty_directory_holds_nothing(tmp_path: Path) -> None:
    assert found(tmp_path) == ([], [])


def test_what_is_plain_is_read_without_what_takes_other_forms_apart(tmp_path: Path) -> None:
    (tmp_path / "config_db.json").write_text(DEVICE)
    code = (
        "import sys; from lossless.api import lint; lint([sys.argv[1]]); "
        "print(sorted({'lossless.formats.sonic.read.forms', 'lossless.ground.documents.marked_document'}"
        " & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_dump_of_state_db_in_a_folder_is_no_configuration(tmp_path: Path) -> None:
    """It has DEVICE_METADATA as CONFIG_DB has, and bars in its keys."""
    rows = {"DEVICE_METADATA|localhost": {"hostname": "leaf1"}, "CHASSIS_INFO|chassis 1": {"psu_num": "2"}}
    (tmp_path / "state_db.json").write_text(json.dumps(rows))
    assert collect([tmp_path]) == ([], [])
    rows["PORT|Ethernet0"] = {"lanes": "1"}
    (tmp_path / "state_db.json").write_text(json.dumps(rows))
    assert len(collect([tmp_path])[0]) == 1
