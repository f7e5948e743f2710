"""``lossless lint --simulate``: what runs of traffic show, among the findings; streams and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lossless.analysis.simulation.question.request import FOREIGN_SETTINGS
from lossless.ground.basics.programs import install_command
from lossless.interfaces.cli import progress
from tests.analysis.simulation.fabrics import HOST_PROFILE, headroom
from tests.checks.rules.checking import patched
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import BASES, INTENT, LEAF, intent_with
from tests.output.report.contract import parsed

CLEAN = "0 errors, 0 warnings, 0 infos in 1 file (0 suppressed, 0 baselined, 0 not checked)\n"
DROPS = headroom(20_480)
EDGE: dict[str, Any] = {
    "BUFFER_POOL": {"ingress_lossless_pool": {"xoff": "445000"}},
    "BUFFER_PROFILE": {
        "pg_lossless_400000_5m_profile": {"size": "19456"},
        "pg_lossless_800000_40m_profile": {"size": "38912"},
    },
}


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of compiling is another file's; here it may or may not have been done before."""
    monkeypatch.setattr(progress, "compiling", lambda: None)


def leaf(patch: dict[str, Any]) -> str:
    return json.dumps(patched("rendered-leaf.json", patch).data, indent=1)


def test_a_sound_intent_and_a_sound_switch_stay_clean(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    assert cli("lint", "--simulate", "fabric.yaml") == (0, "", CLEAN)
    Path("leaf1.json").write_text(leaf({}))
    assert cli("lint", "--simulate", "leaf1.json") == cli("lint", "leaf1.json")


def test_frames_that_are_dropped_make_the_exit_code_one(cli: Cli) -> None:
    Path("leaf1.json").write_text(leaf(DROPS))
    assert cli("lint", "leaf1.json").code == 0
    outcome = cli("lint", "--simulate", "leaf1.json")
    first = outcome.out.splitlines()[0]
    assert outcome.code == 1
    assert (
        f": SIM001 simulated-unsafe: BUFFER_PROFILE|{HOST_PROFILE}|xoff: lossless frames are dropped" in first
    )
    assert "   = note: incast of 11 NICs into NIC at leaf1:Ethernet0, 8 MiB each" in outcome.out
    assert "BUF002" not in outcome.out
    assert outcome.err.startswith("1 error, 0 warnings, 0 infos in 1 file")


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_the_edge_is_a_warning(fail_on: str, code: int, cli: Cli) -> None:
    Path("leaf1.json").write_text(leaf(EDGE))
    outcome = cli("lint", "--simulate", "--fail-on", fail_on, "leaf1.json")
    assert outcome.code == code
    assert "SIM002 simulated-edge: BUFFER_POOL|ingress_lossless_pool|xoff: " in outcome.out


def test_json_carries_the_numbers(cli: Cli) -> None:
    Path("leaf1.json").write_text(leaf(DROPS))
    outcome = cli("lint", "--simulate", "--format", "json", "leaf1.json")
    report = parsed(outcome.out)
    (finding,) = (found for found in report["findings"] if found["code"] == "SIM001")
    assert (outcome.code, outcome.err) == (1, "")
    assert finding["path"] == ["BUFFER_PROFILE", HOST_PROFILE, "xoff"]
    assert finding["line"] is not None
    data = finding["data"]
    assert data["margin_bytes"] == data["given_bytes"] - data["used_bytes"] < data["need_bytes"]
    assert {"seeds": 1, "seeds_with_drops": 1, "given_bytes": 20_480}.items() <= data.items()
    assert data["drops"] > 0


def test_standard_input_is_run_too(cli: Cli) -> None:
    outcome = cli("lint", "--simulate", "-", "--stdin-filename", "leaf1.json", stdin=leaf(DROPS).encode())
    assert outcome.out.startswith("leaf1.json:")
    assert (outcome.code, "SIM001" in outcome.out) == (1, True)


NO_NUMBA = f"numba is not installed: {install_command('sim')} adds the packet-level model"


def test_without_numba_it_is_said_and_counted_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lossless.analysis.simulation.study.answer.has_numba", lambda: False)
    Path("fabric.yaml").write_text(INTENT)
    Path("leaf1.json").write_text(LEAF)
    plain = cli("lint", "--format", "json")
    simulated = cli("lint", "--format", "json", "--simulate")
    assert (plain.err, simulated.err) == ("", f"{NO_NUMBA}\n")
    before, after = (parsed(outcome.out)["summary"]["not_checked"] for outcome in (plain, simulated))
    assert after == before + 1
    in_text = cli("lint", "--simulate")
    assert in_text.err.startswith(f"{NO_NUMBA}\n")
    assert in_text.err.endswith(f"{after} not checked)\n")
    assert in_text.code == simulated.code == plain.code


def test_settings_of_the_compiler_that_lie_in_a_checkout_are_not_taken(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    (tmp_path / "fabric.yaml").write_text(INTENT)
    command = [sys.executable, "-c", "import numba; print(numba.config.DISABLE_JIT)"]
    trusting = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert trusting.stdout == "1\n"
    assert FOREIGN_SETTINGS in " ".join(cli("simulate", "fabric.yaml").out.split())
    assert cli("lint", "--simulate").err.startswith(f"{FOREIGN_SETTINGS}\n")
    assert FOREIGN_SETTINGS not in cli("simulate", "--closed-form", "fabric.yaml").out


def test_why_nothing_was_run_is_said_where_it_is_asked_for(cli: Cli) -> None:
    Path("leaf1.json").write_text(
        json.dumps(patched("leaf.json", {"BUFFER_POOL": {"ingress_lossless_pool": {"size": None}}}).data)
    )
    verbose = cli("lint", "--simulate", "-v", "leaf1.json")
    assert "not checked: SIM001: leaf1 has no buffer pool for the classes that are simulated\n" in verbose.err
    assert "SIM001" not in cli("lint", "--simulate", "leaf1.json").err
    assert "SIM001" not in cli("lint", "-v", "leaf1.json").err


def test_what_cannot_be_read_is_an_error_and_the_rest_is_run(cli: Cli) -> None:
    Path("leaf1.json").write_text(leaf(DROPS))
    Path("fabric.yaml").write_text(intent_with("dscp: 26", "dscp: [26, 64]"))
    outcome = cli("lint", "--simulate", "leaf1.json", "fabric.yaml")
    assert outcome.code == 2
    assert "SIM001" in outcome.out
    assert outcome.err.count("fabric.yaml:") == 1


@pytest.mark.parametrize(("arguments", "loaded"), [([], False), (["--simulate"], True)])
def test_the_model_is_loaded_only_where_it_is_asked_for(arguments: list[str], loaded: bool) -> None:
    start = f"import sys; sys.argv[1:] = {['lint', *arguments, str(BASES / 'leaf.json')]!r}"
    wanted = {"numpy", "numba", "lossless.analysis.simulation", "lossless.checks.lint.intents"}
    code = f"{start}; from lossless.interfaces.cli import main; main(); print(*sorted({wanted!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = done.stdout.splitlines()[-1].split()
    assert names == (
        ["lossless.analysis.simulation", "lossless.checks.lint.intents", "numba", "numpy"] if loaded else []
    )
