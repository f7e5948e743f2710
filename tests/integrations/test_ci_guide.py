"""The guide to CI names hooks, inputs and files that there are."""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML

from tests.integrations.conftest import ROOT

GUIDE = (ROOT / "docs" / "guides" / "ci.md").read_text()
PARTS: list[Any] = [
    YAML(typ="safe").load(text)
    for text in re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
]
HOOKS: list[dict[str, Any]] = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
TEMPLATE: dict[str, Any] = YAML(typ="safe").load(ROOT / "integrations" / "gitlab" / "lossless.yml")


def test_its_hooks_are_those_there_are() -> None:
    named = [hook["id"] for hook in PARTS[0]["repos"][0]["hooks"]]
    assert named == [hook["id"] for hook in HOOKS if not hook["id"].endswith("-locked")]
    assert all(f"`{hook['id']}`" in GUIDE for hook in HOOKS)


def test_its_workflow_gives_the_action_what_it_takes_and_uses_what_it_gives() -> None:
    steps = PARTS[1]["jobs"]["lossless"]["steps"]
    (ours,) = (step for step in steps if step.get("id") == "lossless")
    assert ours["with"].keys() <= ACTION["inputs"].keys()
    used = set(re.findall(r"steps\.lossless\.outputs\.([a-z-]+)", GUIDE))
    assert used == {"sarif", "markdown"} <= ACTION["outputs"].keys()


def test_its_workflow_gives_code_scanning_a_base_and_compares_pull_requests_alone() -> None:
    """A push has no base branch: `since` must be empty then, not the name of a remote without a branch."""
    assert PARTS[1]["on"].keys() == {"pull_request", "push"}
    ours, upload = PARTS[1]["jobs"]["lossless"]["steps"][-2:]
    assert ours["with"]["since"].startswith("${{ github.base_ref && ")
    assert "head.repo.full_name == github.repository" in upload["if"]


def test_its_job_sets_variables_of_the_template() -> None:
    part = PARTS[3]
    assert (ROOT / part["include"][0]["file"].lstrip("/")).is_file()
    assert part["lossless"]["variables"].keys() <= TEMPLATE["lossless"]["variables"].keys()
    (kept,) = TEMPLATE["lossless"]["artifacts"]["paths"]
    assert f"body@{kept}" in PARTS[4]["lossless-note"]["script"][0]
