"""The public face: names that others import."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from lossless import api
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"


def test_the_public_names_are_these() -> None:
    assert sorted(api.__all__) == [
        "AcceptancePlan",
        "AcceptanceResults",
        "BaselineResult",
        "Cabling",
        "Change",
        "DeviceProgress",
        "Document",
        "Drift",
        "Edit",
        "Exporter",
        "Fabric",
        "FabricDrift",
        "Fabrics",
        "Finding",
        "FixResult",
        "Format",
        "Grid",
        "Hardware",
        "HeadroomInputs",
        "Headrooms",
        "ImportResult",
        "InputError",
        "Limits",
        "LosslessError",
        "NoPlan",
        "OpensmResult",
        "Options",
        "Origin",
        "OutsideError",
        "PlacedFinding",
        "Plan",
        "PlanLimits",
        "Problem",
        "ProfileError",
        "ProgramError",
        "QuantityError",
        "Question",
        "RenderError",
        "RenderResult",
        "RenderedFiles",
        "Report",
        "Rule",
        "ScenarioError",
        "SimulationRequest",
        "SimulationResult",
        "StatedThresholds",
        "Sweep",
        "Topology",
        "TuneAsk",
        "TuneProgress",
        "TuneResult",
        "Watch",
        "Workload",
        "acceptance",
        "acceptance_page",
        "acceptance_results",
        "baseline",
        "cabled_as_declared",
        "cabled_topology",
        "check_with_opensm",
        "collector",
        "configuration_schema",
        "diff",
        "diff_fabric",
        "document_schema",
        "evaluate_workload",
        "exporter",
        "fix",
        "formats",
        "hardware",
        "headroom_of_link",
        "headroom_of_ports",
        "import_configs",
        "intent_schema",
        "lint",
        "lint_documents",
        "lint_patch",
        "lint_since",
        "lint_text",
        "load",
        "load_fabrics",
        "load_text",
        "moves",
        "parse_grid",
        "pins",
        "plan",
        "plan_page",
        "plan_progress",
        "reaching",
        "render",
        "render_to_memory",
        "report_as",
        "rule",
        "rules",
        "simulate",
        "simulation_page",
        "state_thresholds",
        "storm",
        "sweep",
        "topology",
        "trace",
        "tune",
        "using_plugins",
        "verify",
        "workload",
        "write_acceptance",
        "write_import",
        "write_plan",
        "write_thresholds",
        "write_tuned",
    ]
    assert all(inspect.getdoc(getattr(api, name)) for name in api.__all__)
    assert dir(api) == api.__all__, "completion offers names before their modules are imported"


WITHOUT_EXTRAS = """
import sys
from importlib.machinery import PathFinder

class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in sys.argv[1:] else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
from lossless.api import *
from lossless import api

assert {*dir(api)} - {*globals()} == {"Sweep", "TuneResult"}, {*dir(api)} - {*globals()}
for needs_numpy in (lambda: api.Sweep, lambda: sweep(".", parse_grid(["pmax=5%"])), lambda: tune(".")):
    try:
        needs_numpy()
    except LosslessError as error:
        assert "pip install" in str(error), error
    else:
        raise AssertionError(needs_numpy)
"""


def test_without_extras_every_name_imports_or_says_what_to_install() -> None:
    missing = ("numpy", "numba", "matplotlib", "distributed", "cryptography", "optuna", "hiredis", "pygls")
    command = [sys.executable, "-c", WITHOUT_EXTRAS, *missing]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_shape_of_their_results_is_this() -> None:
    assert api.Options._fields == (
        *("rdma_dscps", "profile_dirs", "simulate", "select", "ignore"),
        *(
            "configured",
            "configuration",
            "baseline",
            "today",
            "exclude",
            "extend_exclude",
            "force_exclude",
            "per_file",
            "tell",
        ),
    )
    assert api.Report._fields[:4] == ("findings", "errors", "not_checked", "documents")
    assert api.RenderResult._fields == (
        "files",
        "changed",
        "notes",
        "report",
        "plans",
        "differences",
        "missing",
        "stale",
    )
    assert api.Fabrics._fields == ("fabrics", "errors")


@pytest.mark.parametrize("extras", [(), ("patch", "rollback", "telemetry")])
def test_what_is_rendered_to_memory_is_what_is_written(
    extras: tuple[Literal["patch", "rollback", "telemetry"], ...], tmp_path: Path
) -> None:
    base_dir = EXAMPLE / "base" if extras else None
    written = api.render(EXAMPLE / "fabric.yaml", tmp_path, base_dir=base_dir, extras=extras)
    made = api.render_to_memory(EXAMPLE / "fabric.yaml", base_dir=base_dir, extras=extras)
    assert {file.path for file in made.files} == set(written.files) - {"manifest.json"}
    assert [file.path for file in made.files if file.text != (tmp_path / file.path).read_text()] == []
    assert (made.notes, made.plans) == (written.notes, written.plans)


def test_a_fabric_with_errors_has_no_files_in_memory(tmp_path: Path) -> None:
    intent = tmp_path / "fabric.yaml"
    intent.write_text(
        (EXAMPLE / "fabric.yaml")
        .read_text()
        .replace("min: 800 KiB, max: 3200 KiB", "min: 90 MiB, max: 95 MiB")
    )
    made = api.render_to_memory(intent)
    assert made.files == ()
    assert any(finding.severity == "error" for finding in made.report.findings)


def test_a_report_is_made_in_the_forms_that_the_command_writes() -> None:
    report = api.lint_text(
        b'{"PORT": {"Ethernet0": {"lanes": "1", "speed": "400000", "mtu": "x"}}}', "leaf.json"
    )
    log = json.loads(api.report_as(report, "sarif").text)
    assert [result["ruleId"] for result in log["runs"][0]["results"]]
    with pytest.raises(api.LosslessError, match="no form of a report is called 'xml'; there are json, sarif"):
        api.report_as(report, "xml")  # type: ignore[arg-type]
    data = json.loads(api.report_as(report).text)
    assert len(data["findings"]) == len(report.findings)


def test_the_pipeline_of_the_guide_prints_what_the_guide_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "guides" / "python.md").read_text()
    script, printed = page.split("```python\n")[1].split("```")[0], page.split("```text\n")[1].split("```")[0]
    before = (EXAMPLE / "fabric.yaml").read_text()
    api.render(EXAMPLE / "fabric.yaml", tmp_path / "running", base_dir=EXAMPLE / "base")
    after = before.replace("lossless: true, bandwidth: 50%", "lossless: true, bandwidth: 60%")
    (tmp_path / "fabric.yaml").write_text(
        after.replace("priority: 0, bandwidth: 50%", "priority: 0, bandwidth: 40%")
    )
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "python.md", "exec"), {})
    assert capsys.readouterr().out == printed
    assert json.loads(Path("lint.sarif").read_text())["runs"]
