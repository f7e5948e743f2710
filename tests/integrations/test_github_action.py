"""The steps of action.yml, run as GitHub runs them: as written, with its variables, in a repository."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from tests.integrations.conftest import ROOT, bash
from tests.interfaces.cli.inputs import INTENT, intent_with
from tests.interfaces.cli.repositories import commit, repository, write

pytestmark = [pytest.mark.xdist_group("github"), pytest.mark.tools("installing")]

ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
THIN = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
MARKED = ", ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}"


class Ran(NamedTuple):
    """What a step left behind."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str


Act = Callable[..., Ran]


def given_by(step: Mapping[str, Any], inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a step, its expressions resolved."""
    values = {name: inputs.get(name, one["default"]) for name, one in ACTION["inputs"].items()}
    return {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: values[match[1]], text)
        for name, text in step["env"].items()
    }


@pytest.fixture(scope="module")
def runner(
    tmp_path_factory: pytest.TempPathFactory, checkout: Path, installing: Mapping[str, str]
) -> dict[str, str]:
    """The variables of a runner on which the first step has been run."""
    temporary = tmp_path_factory.mktemp("runner")
    runner = {
        **installing,
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(checkout),
        "RUNNER_TEMP": str(temporary),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
    }
    done = bash(STEPS[0]["run"], temporary, runner | given_by(STEPS[0], {}))
    assert done.returncode == 0, done.stderr
    return runner


@pytest.fixture
def act(tmp_path: Path, runner: dict[str, str]) -> Act:
    """Run the second step in a repository, which is the workspace."""

    def run(**inputs: str) -> Ran:
        outputs, summary = Path(runner["GITHUB_OUTPUT"]), Path(runner["GITHUB_STEP_SUMMARY"])
        outputs.write_text("")
        summary.write_text("")
        for left in ("lossless.sarif", "lossless.md"):
            (Path(runner["RUNNER_TEMP"]) / left).unlink(missing_ok=True)
        workspace = {"GITHUB_WORKSPACE": str(tmp_path)}
        done = bash(STEPS[1]["run"], tmp_path, runner | workspace | given_by(STEPS[1], inputs))
        found = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
        return Ran(done.returncode, done.stdout + done.stderr, found, summary.read_text())

    return run


def results(path: str) -> list[str]:
    (run,) = json.loads(Path(path).read_text())["runs"]
    return [result["ruleId"] for result in run["results"]]


def test_a_clean_repository_passes(act: Act, tmp_path: Path) -> None:
    repository(tmp_path, {"fabric.yaml": INTENT})
    ran = act()
    assert (ran.code, ran.outputs["exit-code"], results(ran.outputs["sarif"])) == (0, "0", [])
    assert ran.summary.startswith("### lossless: 0 errors")


def test_a_finding_is_an_annotation_a_result_and_a_row(act: Act, tmp_path: Path) -> None:
    repository(tmp_path, {"fabric.yaml": THIN})
    ran = act()
    assert (ran.code, ran.outputs["exit-code"]) == (1, "1")
    assert "::error file=fabric.yaml,line=19" in ran.log
    assert results(ran.outputs["sarif"]) == ["TOP001"]
    assert "| error | TOP001" in ran.summary
    assert Path(ran.outputs["markdown"]).read_text() == ran.summary


def test_a_change_fails_for_what_it_adds_and_code_scanning_gets_all(act: Act, tmp_path: Path) -> None:
    repository(tmp_path, {"fabric.yaml": THIN})
    before = act(since="HEAD")
    assert (before.code, results(before.outputs["sarif"])) == (0, ["TOP001"])
    commit(tmp_path, {"fabric.yaml": THIN.replace(MARKED, "")})
    after = act(since="HEAD~1")
    assert after.code == 1
    assert "TOP001" not in after.log
    assert sorted(results(after.outputs["sarif"])) == ["ECN001", "PFC009", "TOP001"]
    assert after.summary.startswith("### lossless: 2 added, 0 gone, 1 left since HEAD&#126;1")


def test_paths_and_options_are_words_whatever_is_in_them(act: Act, tmp_path: Path) -> None:
    names = ["a b/fabric.yaml", "$(touch pwned)/fabric.yaml", "-o.yaml"]
    repository(tmp_path, dict.fromkeys(names, THIN))
    ran = act(paths="\n".join([*names, ""]), args="--ignore=TOP001\n--fail-on\ninfo\n")
    assert (ran.code, not results(ran.outputs["sarif"])) == (0, True), ran.log
    assert not (tmp_path / "pwned").exists()


def test_what_cannot_be_read_is_two(act: Act, tmp_path: Path) -> None:
    repository(tmp_path, {"fabric.yaml": INTENT})
    write(tmp_path, {"broken.yaml": "lossless: v1\na: *x\n"})
    assert act().code == act(since="HEAD").code == 2
    gone = act(since="gone")
    assert (gone.code, "no revision 'gone'" in gone.log) == (2, True)


def test_an_old_python_is_refused_in_words(runner: dict[str, str], tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{runner['PATH']}"}
    done = bash(STEPS[0]["run"], tmp_path, runner | given_by(STEPS[0], {}) | path)
    assert (done.returncode, done.stdout.startswith("::error::lossless needs Python 3.11")) == (2, True)


def test_scripts_hold_no_expressions_that_anyone_could_fill(tmp_path: Path) -> None:
    for number, step in enumerate(STEPS):
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        script = tmp_path / f"{number}.sh"
        script.write_text(f"#!/bin/bash\n{step['run']}")
        subprocess.run([Path(sys.prefix, "bin", "shellcheck"), script], check=True)


def test_every_output_is_one_that_a_step_makes(act: Act, tmp_path: Path) -> None:
    repository(tmp_path, {"fabric.yaml": INTENT})
    assert {f"${{{{ steps.lint.outputs.{name} }}}}" for name in act().outputs} == {
        one["value"] for one in ACTION["outputs"].values()
    }
