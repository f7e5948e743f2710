"""The job of integrations/gitlab/lossless.yml, run as GitLab runs it: as written, with its variables."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

from tests.integrations.conftest import ROOT
from tests.interfaces.cli.inputs import INTENT, intent_with
from tests.interfaces.cli.repositories import commit, git, repository, write

pytestmark = [pytest.mark.xdist_group("gitlab"), pytest.mark.tools("installing")]

JOB: dict[str, Any] = YAML(typ="safe").load(ROOT / "integrations" / "gitlab" / "lossless.yml")["lossless"]
THIN = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
MARKED = ", ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}"
SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"], "sh": ["sh", "-e"]}


class Ran(NamedTuple):
    """What the job left behind."""

    code: int
    log: str


Job = Callable[..., Ran]


@pytest.fixture(scope="module")
def runner(
    tmp_path_factory: pytest.TempPathFactory, checkout: Path, installing: Mapping[str, str]
) -> dict[str, str]:
    """The variables of a runner, with the package installed by the first part of the job."""
    builds = tmp_path_factory.mktemp("builds")
    variables = {"CI": "true", "GITLAB_CI": "true", "CI_BUILDS_DIR": str(builds)}
    source = {"LOSSLESS_REPOSITORY": str(checkout), "LOSSLESS_REVISION": git(checkout, "rev-parse", "HEAD")}
    runner = {**JOB["variables"], **installing, **variables, **source}
    for shell in SHELLS.values():
        done = _run(shell, "before_script", builds, runner)
        assert done.returncode == 0, done.stderr
    return {name: text for name, text in runner.items() if name not in JOB["variables"]}


def _run(
    shell: list[str], part: str, folder: Path, given: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    command = [*shell, "-c", "\n".join(JOB[part])]
    return subprocess.run(command, cwd=folder, env=dict(given), capture_output=True, text=True, check=False)


@pytest.fixture(params=SHELLS)
def job(request: pytest.FixtureRequest, tmp_path: Path, runner: dict[str, str]) -> Job:
    """Run the job in a repository, in each shell that an image may have."""

    def run(**given: str) -> Ran:
        known = {**given, "CI_PROJECT_DIR": str(tmp_path)}
        # GitLab fills in what a variable says of others, with nothing for those that are not set.
        own = {
            name: re.sub(r"\$(\w+)", lambda match: known.get(match[1], ""), text)
            for name, text in JOB["variables"].items()
        }
        done = _run(SHELLS[request.param], "script", tmp_path, {**own, **runner, **known})
        return Ran(done.returncode, done.stdout + done.stderr)

    return run


def quality(folder: Path) -> list[str]:
    report = folder / JOB["artifacts"]["reports"]["codequality"]
    return sorted(entry["check_name"].split()[0] for entry in json.loads(report.read_text()))


def test_a_branch_is_checked_by_all_there_is(job: Job, tmp_path: Path) -> None:
    repository(tmp_path, {"fabric.yaml": INTENT})
    assert (job().code, quality(tmp_path)) == (0, [])
    write(tmp_path, {"fabric.yaml": THIN})
    ran = job()
    assert (ran.code, quality(tmp_path)) == (1, ["TOP001"])
    assert "fabric.yaml:19:5: TOP001 oversubscription-undeclared" in ran.log
    suites = ElementTree.parse(tmp_path / JOB["artifacts"]["reports"]["junit"]).getroot()
    assert suites.get("failures") == "1"


def test_a_merge_request_is_checked_by_what_it_adds(job: Job, tmp_path: Path) -> None:
    repository(tmp_path, {"fabric.yaml": THIN})
    base = git(tmp_path, "rev-parse", "HEAD")
    ran = job(CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (ran.code, quality(tmp_path)) == (0, ["TOP001"])
    (markdown,) = JOB["artifacts"]["paths"]
    assert (tmp_path / markdown).read_text().startswith(f"### lossless: 0 added, 0 gone, 1 left since {base}")
    commit(tmp_path, {"fabric.yaml": THIN.replace(MARKED, "")})
    ran = job(CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (ran.code, quality(tmp_path)) == (1, ["ECN001", "PFC009", "TOP001"])
    assert "ECN001 lossless-queue-without-ecn" in ran.log


def test_paths_and_options_come_from_variables(job: Job, tmp_path: Path) -> None:
    repository(tmp_path, {"a/fabric.yaml": INTENT, "b/fabric.yaml": THIN, "c/fabric.yaml": THIN})
    assert job(LOSSLESS_PATHS="a b", LOSSLESS_ARGS="--ignore TOP001 --fail-on info").code == 0
    assert job(LOSSLESS_PATHS="a b").code == 1
    assert quality(tmp_path) == ["TOP001"]


def test_what_cannot_be_read_is_two(job: Job, tmp_path: Path) -> None:
    repository(tmp_path, {"fabric.yaml": INTENT})
    write(tmp_path, {"broken.yaml": "lossless: v1\na: *x\n"})
    assert job().code == job(CI_MERGE_REQUEST_DIFF_BASE_SHA="HEAD").code == 2


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "given",
    [
        {"LOSSLESS_REVISION": ""},
        {"LOSSLESS_REVISION": "main"},
        {"LOSSLESS_REVISION": "v1.0.0"},
        {"LOSSLESS_REVISION": "abc1234"},
        {"LOSSLESS_REVISION": "-" + 39 * "a"},
        {"LOSSLESS_REPOSITORY": ""},
    ],
)
def test_nothing_that_can_move_is_installed(
    shell: str, given: dict[str, str], tmp_path: Path, installing: Mapping[str, str], checkout: Path
) -> None:
    builds = {"CI_BUILDS_DIR": str(tmp_path), "LOSSLESS_LOCKED": "base"}
    source = {"LOSSLESS_REPOSITORY": str(checkout), "LOSSLESS_REVISION": git(checkout, "rev-parse", "HEAD")}
    done = _run(SHELLS[shell], "before_script", tmp_path, {**installing, **builds, **source, **given})
    assert done.returncode == 2
    assert done.stderr.startswith(
        "set LOSSLESS_REPOSITORY to the URL of lossless, and LOSSLESS_REVISION to a"
    )
    assert [*tmp_path.iterdir()] == []
