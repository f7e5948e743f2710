"""Which tests a change affects, and which are left out where time is short."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.paths import ROOT
from tools import affected, durations

pytestmark = [pytest.mark.xdist_group("selections"), pytest.mark.tools("sources")]
"""One process reads all sources."""


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("lossless/analysis/storm/blast_radius.py", "tests/analysis/storm/test_blast_radius.py"),
        # imported late, by a command that is named by a string
        ("lossless/interfaces/lsp/server.py", "tests/interfaces/lsp/test_server.py"),
        ("lossless/analysis/storm/blast_radius.py", "tests/interfaces/cli/test_cli_planning.py"),
        # a rule, which the registry names by a part of its path
        (
            "lossless/checks/rules/watchdog/wd001_watchdog_missing.py",
            "tests/checks/rules/test_rule_snippets.py",
        ),
        # a reader, whose name is put together
        ("lossless/formats/hosts/state/mlnx_qos.py", "tests/formats/hosts/state/test_host_captures.py"),
        # fixtures, a script that is started, and a package
        ("tests/analysis/opensm/conftest.py", "tests/analysis/opensm/test_routes.py"),
        ("tools/answers.py", "tests/test_answers.py"),
        # sources that are read as text
        ("tools/mutants.py", "tests/test_names.py"),
        ("lossless/analysis/storm/blast_radius.py", "tests/test_architecture.py"),
        ("lossless/formats/sonic/__init__.py", "tests/formats/sonic/test_sonic_patch.py"),
        # data
        ("docs/faq.md", "tests/test_answers.py"),
        ("README.md", "tests/test_docs.py"),
        ("profiles/nics/connectx-7.toml", "tests/model/hardware/test_hardware_facts.py"),
        ("templates/hosts/lossless-roce.sh.j2", "tests/output/render/test_goldens.py"),
        ("examples/roce-256/fabric.yaml", "tests/test_examples.py"),
        ("tests/checks/rules/bases/leaf.json", "tests/checks/rules/test_rule_snippets.py"),
        ("action.yml", "tests/integrations/test_github_action.py"),
    ],
)
def test_a_change_runs_the_test_that_depends_on_it(changed: str, test: str) -> None:
    assert (ROOT / test).is_file()
    assert test in affected.affected([changed])


def test_a_change_of_the_editor_leaves_the_buffer_model_alone() -> None:
    assert "tests/analysis/buffers/test_thresholds.py" not in affected.affected(
        ["lossless/interfaces/lsp/server.py"]
    )


@pytest.mark.parametrize(
    "changed", ["pyproject.toml", "Makefile", "tests/conftest.py", "requirements/dev.txt", "new/file"]
)
def test_what_any_test_may_depend_on_runs_all(changed: str) -> None:
    assert affected.affected([changed]) == affected.tests()


def test_a_module_that_is_gone_runs_what_its_package_affects() -> None:
    assert affected.affected(["lossless/analysis/storm/gone.py"]) >= affected.affected(
        ["lossless/analysis/storm/__init__.py"]
    )


def test_each_folder_of_the_repository_has_a_row_or_is_code() -> None:
    """A new folder runs all tests until it has one."""
    asked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    folders = {line.partition("/")[0] for line in asked.stdout.splitlines() if "/" in line}
    assert folders - {*affected.CODE, *affected.DATA} == {".ci", "requirements"}


def test_a_file_that_reads_data_unseen_is_named(tmp_path: Path) -> None:
    (tmp_path / "reads-gw0.json").write_text(
        '[["tests/ground/basics/test_units.py", "docs"], ["tests/test_docs.py", "docs"]]'
    )
    assert affected.unknown_reads(tmp_path) == [
        "tests/ground/basics/test_units.py reads docs/, and tools/affected.py does not see that"
    ]


def test_the_files_that_make_quick_leaves_out_exist() -> None:
    listed = durations.on_record()
    assert listed
    assert [cost.file for cost in listed if not (ROOT / cost.file).is_file()] == []


def test_the_heaviest_files_are_left_out_until_the_others_are_quick() -> None:
    every = [durations.Cost(seconds, 1, f"{seconds}") for seconds in (50.0, 30.0, 20.0, 10.0)]
    assert [cost.seconds for cost in durations.heaviest(every, 30)] == [50, 30]
    assert durations.heaviest(every, 110) == []


def test_durations_are_added_up_by_file_whatever_the_class(tmp_path: Path) -> None:
    cases = "".join(
        f'<testcase classname="{name}" name="t" time="1.5"/>'
        for name in (
            "tests.test_docs",
            "tests.formats.sonic.test_sonic_forms.TestWholeFiles",
            "tests.test_docs",
        )
    )
    (tmp_path / "junit.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert durations.costs(tmp_path / "junit.xml") == [
        (3.0, 2, "tests/test_docs.py"),
        (1.5, 1, "tests/formats/sonic/test_sonic_forms.py"),
    ]
