"""``lossless render``: all files or none, and never a fabric with errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from lossless.formats.telemetry.grafana import build
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, intent_with
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"


def tree(folder: str) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.fixture
def fabric(cli: Cli) -> Cli:
    Path("fabric.yaml").write_text(INTENT)
    return cli


@pytest.mark.usefixtures("wide")
def test_without_a_base_it_says_what_the_files_are_not(fabric: Cli) -> None:
    outcome = fabric("render", ".", "-o", "out")
    written = tree("out")
    assert {f"out/{name}/qos.json" for name in ("leaf1", "leaf2", "spine1", "spine2")} <= written.keys()
    wrote, warned = outcome.err.splitlines()[-2:]
    # The manifest itself is written each time.
    assert wrote == f"wrote {len(written)} files below out, {len(written) - 1} of them new or changed"
    assert warned.startswith("each qos.json holds only the tables this tool owns; reloading a switch with it")
    assert (outcome.code, outcome.out) == (0, "")


def test_what_an_earlier_render_wrote_and_this_one_does_not_is_counted_as_removed(fabric: Cli) -> None:
    fabric("render", ".", "-o", "out")
    before = tree("out").keys()
    intent = Path("fabric.yaml")
    smaller = intent.read_text().replace("hosts_per_leaf: ", "hosts_per_leaf: 1 # ")
    assert smaller != intent.read_text()
    intent.write_text(smaller)
    wrote = next(line for line in fabric("render", ".", "-o", "out").err.splitlines() if "wrote" in line)
    gone = len(before - tree("out").keys())
    assert gone > 0
    assert wrote.endswith(f", removed {gone} of an earlier render")


def test_with_a_base_the_result_is_complete(cli: Cli) -> None:
    outcome = cli("render", str(EXAMPLE), "-o", "out", "--base", str(EXAMPLE / "base"))
    assert Path("out/leaf1/config_db.json").exists()
    assert not Path("out/leaf1/qos.json").exists()
    assert "holds only" not in outcome.err
    assert outcome.code == 0


def test_check_names_what_would_change_and_writes_nothing(fabric: Cli) -> None:
    before = fabric("render", "fabric.yaml", "-o", "out", "--check")
    assert not Path("out").exists()
    assert "leaf1/qos.json: missing" in before.out.splitlines()
    fabric("render", "fabric.yaml", "-o", "out")
    same = fabric("render", "fabric.yaml", "-o", "out", "--check")
    Path("out/leaf1/qos.json").write_text("{}")
    Path("out/leaf2/qos.json").unlink()
    edited = fabric("render", "fabric.yaml", "-o", "out", "--check")
    assert (before.code, same.code, edited.code) == (1, 0, 1)
    assert (same.out, edited.out) == ("", "leaf1/qos.json: differs\nleaf2/qos.json: missing\n")
    assert "out is not what is rendered: 1 missing, 1 different" in edited.err.splitlines()
    told = fabric("render", "fabric.yaml", "-o", "out", "--check", "--format", "json")
    assert (told.code, json.loads(told.out)) == (
        1,
        {
            "version": 1,
            "output": "out",
            "files": [
                {"path": "leaf1/qos.json", "state": "differs"},
                {"path": "leaf2/qos.json", "state": "missing"},
            ],
            "total": {"missing": 1, "differs": 1, "stale": 0},
            "notes": [],
        },
    )


def test_a_fabric_with_errors_is_refused_and_the_old_tree_stays(fabric: Cli) -> None:
    fabric("render", "fabric.yaml", "-o", "out")
    old = tree("out")
    Path("fabric.yaml").write_text(intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G"))
    outcome = fabric("render", "fabric.yaml", "-o", "out")
    assert "TOP001 oversubscription-undeclared" in outcome.out
    assert outcome.err.splitlines()[-1] == (
        "refused: a fabric with errors is not rendered; nothing was written"
    )
    assert outcome.code == 2
    assert tree("out") == old


def test_an_intent_that_cannot_be_read_is_not_rendered(fabric: Cli) -> None:
    Path("fabric.yaml").write_text(intent_with("dscp: 48", "dscp: 64"))
    outcome = fabric("render", "fabric.yaml", "-o", "out")
    assert outcome.err == (
        "fabric.yaml:6:15: classes.cnp.dscp: 64 is not a DSCP; expected a whole number from 0 to 63\n"
    )
    assert (outcome.code, outcome.out) == (2, "")
    assert not Path("out").exists()


def test_an_output_that_is_a_file_is_no_traceback(fabric: Cli) -> None:
    Path("out").write_text("a file")
    outcome = fabric("render", "fabric.yaml", "-o", "out")
    assert outcome.err.splitlines()[-1].startswith("lossless: out")
    assert (outcome.code, Path("out").read_text()) == (2, "a file")


def test_what_must_be_named_is_asked_for(fabric: Cli) -> None:
    assert fabric("render", "fabric.yaml").err.endswith("Error: Missing option '-o' / '--output'.\n")
    assert fabric("render", "gone.yaml", "-o", "out").err == "gone.yaml: no such file\n"
    outcome = fabric("render", "fabric.yaml", "-o", "out", "--base", "gone")
    assert outcome.err.endswith("Directory 'gone' does not exist.\n")


def test_rendering_twice_gives_the_same_bytes(cli: Cli) -> None:
    shutil.copy(EXAMPLE / "fabric.yaml", "fabric.yaml")
    for folder in ("one", "two"):
        assert cli("render", "fabric.yaml", "-o", folder).code == 0
    one = {name.removeprefix("one/"): data for name, data in tree("one").items()}
    assert one == {name.removeprefix("two/"): data for name, data in tree("two").items()}


def test_diff_shows_what_would_change_and_writes_nothing(fabric: Cli) -> None:
    fabric("render", "fabric.yaml", "-o", "out")
    same = fabric("render", "fabric.yaml", "-o", "out", "--diff")
    assert (same.code, same.out) == (0, "")
    text = Path("out/leaf1/qos.json").read_text()
    Path("out/leaf1/qos.json").write_text(text.replace('"819200"', '"1"'))
    Path("out/leaf2/qos.json").unlink()
    before = tree("out")
    found = fabric("render", "fabric.yaml", "-o", "out", "--diff")
    assert tree("out") == before
    assert found.code == 1
    lines = found.out.splitlines()
    assert lines[:2] == ["--- a/leaf1/qos.json", "+++ b/leaf1/qos.json"]
    changes = [line.strip("+- ,") for line in lines[2:] if line.startswith(("-  ", "+  "))][:2]
    assert changes == ['"green_min_threshold": "1"', '"green_min_threshold": "819200"']
    assert "--- /dev/null\n+++ b/leaf2/qos.json\n@@ -0,0 +1," in found.out


def test_diff_shows_the_files_that_would_go(fabric: Cli) -> None:
    fabric("render", "fabric.yaml", "-o", "out")
    manifest = Path("out/manifest.json").read_text()
    Path("out/gone").write_text("one line\n")
    Path("out/manifest.json").write_text(manifest.replace('"files": [', '"files": [\n{"path": "gone"},', 1))
    found = fabric("render", "fabric.yaml", "-o", "out", "--diff")
    assert (found.code, found.out) == (1, "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-one line\n")
    assert fabric("render", "fabric.yaml", "-o", "out", "--check").out == "gone: no longer belongs\n"
    fabric("render", "fabric.yaml", "-o", "out")
    assert not Path("out/gone").exists()


def test_also_makes_what_a_change_window_needs(wide: Cli) -> None:
    arguments = ("render", str(EXAMPLE), "-o", "out", "--base", str(EXAMPLE / "base"))
    outcome = wide(*arguments, "--also", "patch", "--also", "rollback")
    assert outcome.code == 0
    assert {path.name for path in Path("out/leaf1").iterdir()} == {"config_db.json", "rollback.json"}
    assert outcome.err.splitlines()[-2] == (
        "leaf1, leaf2, spine1, spine2: reload, not patch; BUFFER_POOL, BUFFER_PROFILE, PFC_WD, WRED_PROFILE: "
        "the updater of 202411 does not permit adding the table"
    )
    for switch in ("leaf1", "leaf2", "spine1", "spine2"):
        Path(f"now/{switch}").mkdir(parents=True)
        text = Path(f"out/{switch}/config_db.json").read_text()
        Path(f"now/{switch}/config_db.json").write_text(text.replace('"819200"', '"800000"'))
    outcome = wide("render", str(EXAMPLE), "-o", "out", "--base", "now", "--also", "patch")
    assert {path.name for path in Path("out/leaf1").iterdir()} == {"config_db.json"}
    assert "WRED_PROFILE|AZURE_LOSSLESS|red_min_threshold" in outcome.err.splitlines()[-2]


def test_telemetry_needs_no_base_and_says_that_receivers_are_empty(wide: Cli) -> None:
    outcome = wide("render", str(EXAMPLE), "-o", "out", "--also", "telemetry")
    assert outcome.code == 0
    assert (
        "telemetry/alertmanager/alertmanager.yml: its receivers tell nobody until you fill them in"
        in outcome.err
    )
    refused = wide("render", str(EXAMPLE), "-o", "out", "--also", "telemetry", "--also", "patch")
    assert (refused.code, refused.err.splitlines()[-1]) == (
        2,
        "Error: --also patch is made from the file that a switch runs; name it with --base",
    )


def test_also_without_a_base_is_refused_in_one_line(fabric: Cli) -> None:
    outcome = fabric("render", "fabric.yaml", "-o", "out", "--also", "patch")
    assert outcome.code == 2
    assert outcome.err.endswith(
        "Error: --also patch is made from the file that a switch runs; name it with --base\n"
    )
    assert not Path("out").exists()


def test_a_base_is_overwritten_only_where_that_is_asked_for(cli: Cli) -> None:
    shutil.copytree(EXAMPLE / "base", "configs")
    Path("same").symlink_to("configs")
    before = Path("configs/leaf1/config_db.json").read_bytes()
    for output in ("configs", "same", "configs/."):
        outcome = cli("render", str(EXAMPLE), "-o", output, "--base", "configs")
        assert (outcome.code, outcome.err) == (
            2,
            snapshot("""\
lossless: configs/leaf1/config_db.json: is a base, and would be overwritten; write to another folder, or say \
--overwrite-base
"""),
        )
    assert Path("configs/leaf1/config_db.json").read_bytes() == before
    assert not Path("configs/manifest.json").exists()
    assert cli("render", str(EXAMPLE), "-o", "configs", "--base", "configs", "--diff").code == 1
    assert cli("render", str(EXAMPLE), "-o", "configs", "--base", "configs", "--overwrite-base").code == 0
    assert Path("configs/leaf1/config_db.json").read_bytes() != before


def test_a_render_that_was_interrupted_is_told_of_and_finished(cli: Cli) -> None:
    assert cli("render", str(EXAMPLE), "-o", "out").code == 0
    staging = Path("out", ".lossless-staging")
    (staging / "new" / "leaf1").mkdir(parents=True)
    shutil.copy("out/manifest.json", staging / "new")
    (staging / "new" / "leaf1" / "qos.json").write_text("{}\n")
    (staging / "journal.json").write_text('{"files": ["leaf1/qos.json"], "stale": []}')
    checked = cli("render", str(EXAMPLE), "-o", "out", "--check")
    assert (
        "out: a render was interrupted while it changed these files; the next one finishes it\n"
        in checked.err
    )
    assert staging.exists(), "a check writes nothing"
    written = cli("render", str(EXAMPLE), "-o", "out")
    assert (
        "out: an earlier render was interrupted while it changed these files; it is finished now\n"
        in written.err
    )
    assert not staging.exists()
    assert cli("render", str(EXAMPLE), "-o", "out", "--check").code == 0


@pytest.mark.parametrize("example", ["roce-256", "infiniband-256-ndr"])
def test_telemetry_without_the_sdk_is_all_but_dashboards_and_says_what_to_install(
    example: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = str(ROOT / "examples" / example)
    assert cli("render", intent, "-o", "whole", "--also", "telemetry").code == 0
    monkeypatch.setattr(build, "find_spec", lambda _: None)
    outcome = cli("render", intent, "-o", "out", "--also", "telemetry")
    assert outcome.code == 0
    said = " ".join(outcome.err.split())
    assert "telemetry/grafana: not written: dashboards are built with `grafana-foundation-sdk`" in said
    assert "which is not installed: pip install" in said
    whole, without = (
        {file.relative_to(tree): file.read_bytes() for file in Path(tree).rglob("*") if file.is_file()}
        for tree in ("whole", "out")
    )
    left = {path for path in whole if path.is_relative_to("telemetry/grafana")}
    assert left
    assert without.keys() == whole.keys() - left
    for path in without.keys() - {Path("manifest.json")}:
        assert without[path] == whole[path], path


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_dashboards_of_an_earlier_render_are_not_removed_for_lack_of_the_sdk(
    options: tuple[str, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = str(ROOT / "examples" / "roce-256")
    assert cli("render", intent, "-o", "out", "--also", "telemetry").code == 0
    before = {file: file.read_bytes() for file in Path("out").rglob("*") if file.is_file()}
    monkeypatch.setattr(build, "find_spec", lambda _: None)
    outcome = cli("render", intent, "-o", "out", "--also", "telemetry", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert "out/telemetry/grafana: this render would remove it" in " ".join(outcome.err.split())
    assert {file: file.read_bytes() for file in Path("out").rglob("*") if file.is_file()} == before
