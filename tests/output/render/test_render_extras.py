"""What goes beside a switch's complete file: the patch, the rollback, what config load leaves undone, the manifest."""

from __future__ import annotations

import copy
import json
import shlex
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from lossless.api import load_fabrics, render
from lossless.formats.device_files.base_merge import EXTRAS, UpdatePlan
from lossless.formats.device_files.switches import switch_file, switch_files
from lossless.ground.basics.errors import InputError, RenderError
from lossless.ground.documents import load, load_text
from lossless.model.fabric.model import Fabric
from lossless.output.render.fabric import render_fabric
from lossless.output.render.tree import MANIFEST
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"
Data = dict[str, Any]


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    (found,) = load_fabrics([load(EXAMPLE / "fabric.yaml")]).fabrics
    return found


@pytest.fixture(scope="module")
def rendered(fabric: Fabric) -> Data:
    found: Data = json.loads(
        switch_file(fabric.switches[0], load(EXAMPLE / "base" / "leaf1" / "config_db.json")).text
    )
    return found


def changed(data: Data, *path: str, to: Any) -> Data:
    found = copy.deepcopy(data)
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return found


def files(fabric: Fabric, running: Data) -> tuple[UpdatePlan | None, dict[str, Any]]:
    made, change = switch_files(fabric.switches[0], load_text(json.dumps(running), "base.json"), EXTRAS)
    return change, {file.path.removeprefix("leaf1/"): file for file in made}


def test_a_patch_brings_the_running_file_to_the_rendered_one(fabric: Fabric, rendered: Data) -> None:
    running = changed(rendered, "WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold", to="1")
    change, by_name = files(fabric, running)
    assert set(by_name) == {"config_db.json", "patch.json", "rollback.json", "qos.json", "qos-deletes.json"}
    patch = jsonpatch.JsonPatch.from_string(by_name["patch.json"].text)
    assert patch.apply(running) == json.loads(by_name["config_db.json"].text) == rendered
    assert change == ("leaf1", "patch", (), (), ())
    assert by_name["patch.json"].deployment == (
        "/etc/sonic/lossless-patch.json",
        ("config apply-patch /etc/sonic/lossless-patch.json", "config save -y"),
        True,
        "the config updater takes no port and no service down",
        True,
    )


def test_a_patch_that_changes_rows_of_ports_is_not_hitless(fabric: Fabric, rendered: Data) -> None:
    _, by_name = files(fabric, changed(rendered, "QUEUE", "Ethernet0|7", to={"scheduler": "scheduler.cnp"}))
    deployment = by_name["patch.json"].deployment
    assert (deployment.hitless, deployment.why) == (
        False,
        "the config updater takes ports down while it changes their rows: Ethernet0",
    )


def test_a_patch_that_moves_a_lossless_dscp_takes_no_port_down_and_harms_traffic(
    fabric: Fabric, rendered: Data
) -> None:
    """Senders still mark DSCP 24, which the switch runs as lossless until the patch is applied."""
    entries = {**rendered["DSCP_TO_TC_MAP"]["AZURE"], "24": "3", "26": "0"}
    change, by_name = files(fabric, changed(rendered, "DSCP_TO_TC_MAP", "AZURE", to=entries))
    lost = "DSCP 24 is lossless on priority 3, and becomes lossy"
    assert change == ("leaf1", "patch", (), (), (lost,))
    deployment = by_name["patch.json"].deployment
    assert (deployment.hitless, deployment.ports_stay_up) == (False, True)
    assert deployment.why == f"the config updater takes no port and no service down; {lost}"


def test_a_patch_of_a_lossy_dscp_harms_nothing(fabric: Fabric, rendered: Data) -> None:
    entries = {**rendered["DSCP_TO_TC_MAP"]["AZURE"], "10": "1"}
    change, by_name = files(fabric, changed(rendered, "DSCP_TO_TC_MAP", "AZURE", to=entries))
    assert change == ("leaf1", "patch", (), (), ())
    assert by_name["patch.json"].deployment.hitless is True


def test_where_the_updater_refuses_there_is_no_patch_and_the_reason_is_told(
    fabric: Fabric, rendered: Data
) -> None:
    running = changed(rendered, "BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "size", to="1")
    change, by_name = files(fabric, running)
    assert "patch.json" not in by_name
    assert change is not None
    assert (change.how, change.why) == (
        "reload",
        (
            "BUFFER_PROFILE|pg_lossless_400000_5m_profile|size: "
            "the updater of 202411 does not permit changing this field",
        ),
    )
    assert by_name["rollback.json"].deployment.apply == (
        "cp /etc/sonic/lossless-rollback.json /etc/sonic/config_db.json",
        "config reload -y",
    )


def test_a_switch_that_runs_what_is_rendered_needs_nothing(fabric: Fabric, rendered: Data) -> None:
    change, by_name = files(fabric, rendered)
    assert change == ("leaf1", "nothing", (), (), ())
    assert "patch.json" not in by_name


def test_the_rollback_is_the_file_that_ran_to_the_byte(fabric: Fabric, rendered: Data) -> None:
    running = changed(rendered, "PFC_WD", "GLOBAL", "POLL_INTERVAL", to=200)
    _, by_name = files(fabric, running)
    assert by_name["rollback.json"].text == json.dumps(running)
    assert by_name["rollback.json"].deployment.apply == (
        "config replace /etc/sonic/lossless-rollback.json",
        "config save -y",
    )
    assert by_name["rollback.json"].deployment.hitless is True


def test_the_deletes_that_config_load_does_not_do_are_listed_around_it(
    fabric: Fabric, rendered: Data
) -> None:
    running = copy.deepcopy(rendered)
    running["BUFFER_PG"]["Ethernet0|3-4"] = {"profile": "x"}
    running["BUFFER_PROFILE"]["old; rm -rf /"] = {"pool": "ingress_lossless_pool"}
    running["PORT_QOS_MAP"]["Ethernet0"]["tc_to_dot1p_map"] = ["a"]
    _, by_name = files(fabric, running)
    deletes = json.loads(by_name["qos-deletes.json"].text)
    assert [shlex.split(line) for line in deletes["before"]] == [
        ["sonic-db-cli", "CONFIG_DB", "DEL", "BUFFER_PG|Ethernet0|3-4"],
        ["sonic-db-cli", "CONFIG_DB", "HDEL", "PORT_QOS_MAP|Ethernet0", "tc_to_dot1p_map@"],
    ]
    assert [shlex.split(line) for line in deletes["after"]] == [
        ["sonic-db-cli", "CONFIG_DB", "DEL", "BUFFER_PROFILE|old; rm -rf /"]
    ]


def test_load_and_deletes_together_do_what_the_complete_file_says(fabric: Fabric, rendered: Data) -> None:
    """The law of config load: merged onto what runs, with the deletes around it, it is the complete file."""
    running = copy.deepcopy(rendered)
    running["BUFFER_PG"]["Ethernet0|7"] = {"profile": "x"}
    running["SCHEDULER"]["old"] = {"type": "DWRR"}
    running["WRED_PROFILE"]["AZURE_LOSSLESS"]["weight"] = "1"
    _, by_name = files(fabric, running)
    deletes = json.loads(by_name["qos-deletes.json"].text)
    at = copy.deepcopy(running)
    for line in deletes["before"]:
        _delete(at, shlex.split(line)[2:])
    for table, rows in json.loads(by_name["qos.json"].text).items():
        for key, fields in rows.items():
            at.setdefault(table, {}).setdefault(key, {}).update(fields)
    for line in deletes["after"]:
        _delete(at, shlex.split(line)[2:])
    assert at == rendered


def _delete(data: Data, command: list[str]) -> None:
    table, _, key = command[1].partition("|")
    if command[0] == "DEL":
        del data[table][key]
    else:
        del data[table][key][command[2]]


def many(fabric: Fabric, count: int) -> Fabric:
    return fabric._replace(
        switches=tuple(fabric.switches[0]._replace(name=f"leaf{number}") for number in range(count))
    )


def write_bases(folder: Path, fabric: Fabric) -> dict[str, str]:
    data = json.loads((EXAMPLE / "base" / "leaf1" / "config_db.json").read_text())
    found = {}
    for switch in fabric.switches:
        data["DEVICE_METADATA"]["localhost"]["hostname"] = switch.name
        found[switch.name] = str(folder / f"{switch.name}.json")
        Path(found[switch.name]).write_text(json.dumps(data))
    return found


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_several_processes_write_the_same_tree_as_one(fabric: Fabric, tmp_path: Path) -> None:
    fleet = many(fabric, 17)._replace(hosts=fabric.hosts[:1])
    bases = write_bases(tmp_path, fleet)
    trees = []
    for processes in (1, 2):
        out = tmp_path / f"out{processes}"
        made = render_fabric(fleet, out, bases, ("patch", "rollback"), write=True, processes=processes)
        trees.append((snapshot(out), made))
    assert trees[0] == trees[1]
    of_switches = [path for path in trees[0][0] if not path.startswith("host")]
    assert len(of_switches) == 2 * 17 + 1


@pytest.mark.parametrize("processes", [1, 2])
def test_every_base_that_does_not_fit_is_named_and_nothing_is_written(
    fabric: Fabric, tmp_path: Path, processes: int
) -> None:
    fleet = many(fabric, 17)
    bases = write_bases(tmp_path, fleet)
    for name in ("leaf3", "leaf12"):
        data = json.loads(Path(bases[name]).read_text())
        Path(bases[name]).write_text(json.dumps({**data, "PORT": []}))
    with pytest.raises(RenderError) as refused:
        render_fabric(fleet, tmp_path / "out", bases, write=True, processes=processes)
    assert str(refused.value).splitlines() == [
        f"{bases[name]}: PORT is not a table of rows" for name in ("leaf3", "leaf12")
    ]
    Path(bases["leaf5"]).write_text("{")
    with pytest.raises(InputError, match=r"leaf5\.json:1:2"):
        render_fabric(fleet, tmp_path / "out", bases, write=True, processes=processes)
    assert snapshot(tmp_path / "out") == {}


def test_the_manifest_says_of_every_file_where_it_goes_and_what_that_does(tmp_path: Path) -> None:
    render(EXAMPLE, tmp_path, base_dir=EXAMPLE / "base", extras=EXTRAS)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["version"] == 2
    listed = {entry["path"] for entry in manifest["files"]}
    assert listed | {MANIFEST} == set(snapshot(tmp_path))
    for entry in manifest["files"]:
        assert entry["path"].startswith(entry["device"] + "/")
        assert set(entry) == {
            "path",
            "device",
            "sha256",
            "mode",
            "target",
            "apply",
            "hitless",
            "ports_stay_up",
            "why",
        }
        assert entry["target"].startswith("/")
    (complete,) = [entry for entry in manifest["files"] if entry["path"] == "leaf1/config_db.json"]
    assert complete["target"] == "/etc/sonic/config_db.json"
    assert (complete["apply"], complete["hitless"]) == (["config reload -y"], False)
    assert [change["device"] for change in manifest["changes"]] == ["leaf1", "leaf2", "spine1", "spine2"]


def test_extras_need_the_file_that_the_switch_runs(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="patch: made from the file that a switch runs; name it as base"):
        render(EXAMPLE, tmp_path, extras=["patch"])
    assert snapshot(tmp_path) == {}
