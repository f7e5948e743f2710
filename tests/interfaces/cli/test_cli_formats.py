"""``lossless lint`` in every form, as a person or a CI job calls it.

What each form looks like stands in ``forms/``; ``--inline-snapshot=fix`` writes them again, to be read before they are
kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import external_file, snapshot

from lossless.ground.basics.files import build_version
from lossless.interfaces.cli.options.lint import FORMATS
from lossless.output.report.columns import wrapped
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import DUPLICATED, LEAF, intent_with, leaf_with
from tests.output.report import sarif
from tests.output.report.contract import parsed

OVERSUBSCRIBED = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
TOR = (
    leaf_with("PFC_WD", "Ethernet4", action=None)
    .replace('"hostname": "leaf1"', '"hostname": "tor1"')  # no switch of the intent
    .replace('"xoff": "231424"', '"xoff": "131072"')
)


@pytest.fixture
def site(cli: Cli) -> Cli:
    """A repository with an oversubscribed intent, a switch with two faults of its own, and a file that is cut off."""
    Path(".git").mkdir()
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    Path("configs").mkdir()
    Path("configs/tor1.json").write_text(TOR)
    Path("configs/config_db.json").write_text('{"PORT": {')
    return cli


SOUND_COUNTS = "2 errors, 1 warning, 0 infos in 2 files (0 suppressed, 0 baselined, 3 not checked)"
COUNTS = f"{wrapped('check incomplete (1 problem in the input); the rest: ' + SOUND_COUNTS)}\n"


def test_what_a_person_sees(site: Cli) -> None:
    code, out, err = site("lint")
    assert code == 2
    assert out == external_file("forms/text.txt")
    assert err == external_file("forms/text.stderr.txt")


def test_without_the_line_of_the_file(site: Cli) -> None:
    code, out, err = site("lint", "--no-source", "fabric.yaml", "configs/tor1.json")
    assert code == 1
    assert out == external_file("forms/no-source.txt")
    assert err == SOUND_COUNTS + "\n"


def test_one_line_a_finding(site: Cli) -> None:
    code, out, err = site("lint", "--quiet")
    assert code == 2
    assert out == external_file("forms/quiet.txt")
    assert err == snapshot("configs/config_db.json:1:11: the file ends too early; is it cut off?\n")
    assert site("lint", "-q", "--no-source") == (code, out, err)


def test_counts_by_rule(site: Cli) -> None:
    code, out, err = site("lint", "--statistics")
    assert code == 2
    assert out == external_file("forms/statistics.txt")
    assert err.endswith(COUNTS)
    assert site("lint", "--statistics", "-q").out == out


def test_annotations_of_github(site: Cli) -> None:
    code, out, err = site("lint", "--format", "github")
    assert code == 2
    assert out == external_file("forms/github.txt")
    assert err == COUNTS
    assert site("lint", "--format", "github", "-q").err == ""


def test_nothing_found_is_no_annotation(cli: Cli) -> None:
    Path("leaf1.json").write_text(LEAF)
    assert cli("lint", "leaf1.json", "--format", "github", "-q") == (0, "", "")


def test_a_code_quality_report_of_gitlab(site: Cli) -> None:
    code, out, err = site("lint", "--format", "gitlab")
    assert (code, err) == (2, "")
    assert out == external_file("forms/gitlab.txt")


def test_junit(site: Cli) -> None:
    code, out, err = site("lint", "--format", "junit")
    assert (code, err) == (2, "")
    assert out == external_file("forms/junit.txt")


def test_sarif(site: Cli) -> None:
    code, out, err = site("lint", "--format", "sarif")
    assert (code, err) == (2, "")
    (run,) = sarif.parsed(out)["runs"]
    driver = run["tool"]["driver"]
    assert driver.pop("version") == driver.pop("semanticVersion") == build_version()
    for rule in driver["rules"]:
        described = rule.pop("help")
        assert described["text"].startswith(rule["shortDescription"]["text"])
        assert "## Why it breaks a lossless fabric" in described["markdown"]
    assert json.dumps(run, indent=2) == external_file("forms/sarif.txt")


def test_several_at_once_are_what_each_is_alone(site: Cli) -> None:
    outputs = [f"--output={form}=lint.{form}" for form in FORMATS]
    alone = site("lint")
    assert site("lint", *outputs) == alone
    written = {form: Path(f"lint.{form}") for form in FORMATS}
    texts = {form: path.read_text() for form, path in written.items()}
    for path in written.values():
        path.unlink()
    assert texts["text"] == f"{alone.out}{alone.err}"
    for form in FORMATS[1:]:
        assert texts[form] == site("lint", "--format", form).out
    parsed(texts["json"])


@pytest.mark.parametrize("how", ["--verbose", "--no-source", "--quiet"])
def test_a_text_file_has_what_a_terminal_shows(how: str, site: Cli) -> None:
    _, out, err = site("lint", how, "--output", "text=lint.txt")
    assert Path("lint.txt").read_text() == f"{out}{err}"


def test_an_output_does_not_change_what_stdout_has(site: Cli) -> None:
    alone = site("lint", "--format", "json")
    assert site("lint", "--format", "json", "--output", "sarif=lint.sarif") == alone
    assert len(sarif.parsed(Path("lint.sarif").read_text())["runs"][0]["results"]) == 3


def test_an_output_is_written_where_all_is_well_too(cli: Cli) -> None:
    Path("leaf1.json").write_text(LEAF)
    assert cli("lint", "leaf1.json", "--output", "junit=junit.xml").code == 0
    assert Path("junit.xml").read_text() == external_file("forms/clean-junit.txt")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "sarf=a",
            "Invalid value for '--output': no format 'sarf'; did you mean sarif? (others: "
            "markdown, text, json, github, gitlab, junit, html)",
        ),
        (
            "xml=a",
            "Invalid value for '--output': no format 'xml'; there are " + ", ".join(["html", *FORMATS[:-1]]),
        ),
        ("sarif", "Invalid value for '--output': 'sarif' is not FORMAT=FILE, as in sarif=lint.sarif"),
        ("sarif=", "Invalid value for '--output': 'sarif=' is not FORMAT=FILE, as in sarif=lint.sarif"),
        ("json=./a", "Invalid value for '--output': ./a is named twice"),
        ("json=gone/a", "lossless: gone/a: cannot be written: there is no folder gone"),
        ("json=configs", "lossless: configs: cannot be written: it is a folder"),
    ],
)
def test_a_bad_output_is_refused_before_anything_is_checked(value: str, message: str, site: Cli) -> None:
    code, out, err = site("lint", "--output", "text=a", "--output", value)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].removeprefix("Error: ") == message
    assert not Path("a").exists()


@pytest.mark.parametrize("file", ["fabric.yaml", "./configs/tor1.json", "configs/config_db.json"])
def test_a_report_is_never_written_over_what_it_is_about(file: str, site: Cli) -> None:
    before = Path(file).read_text()
    code, out, err = site("lint", "--output", "sarif=lint.sarif", "--output", f"json={file}")
    assert code == 2
    assert out == site("lint").out
    assert f"lossless: {file}: cannot be written: it is one of the files that were checked\n" in err
    assert Path(file).read_text() == before
    assert not Path("lint.sarif").exists()


def test_a_disk_that_is_full_is_said_and_the_findings_are_printed(
    site: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_source: str, target: str, **_folders: int) -> None:
        raise OSError(28, "No space left on device", target)

    Path("lint.sarif").write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", full)
        code, out, err = site("lint", "fabric.yaml", "--output", "sarif=lint.sarif")
    assert code == 2
    assert out == site("lint", "fabric.yaml").out
    assert "lint.sarif: cannot be written: No space left on device" in err
    assert Path("lint.sarif").read_text() == "old"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--statistics", "--format", "json"),
            "--statistics counts for people; it does not go with --format json",
        ),
        (("--quiet", "--verbose"), "--quiet and --verbose contradict each other"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    arguments: tuple[str, ...], message: str, site: Cli
) -> None:
    outcome = site("lint", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[-1] == f"Error: {message}"


def test_a_format_has_its_name_in_the_help(cli: Cli) -> None:
    assert f"[{'|'.join(FORMATS)}]" in cli("lint", "--help").out


def test_names_are_those_of_the_repository_wherever_the_run_begins(
    site: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files(*paths: str) -> set[str]:
        results = sarif.parsed(site("lint", "--format", "sarif", *paths).out)["runs"][0]["results"]
        places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in results]
        assert {place["uriBaseId"] for place in places} == {"%SRCROOT%"}
        return {place["uri"] for place in places}

    above = files("configs/tor1.json")
    monkeypatch.chdir("configs")
    assert above == files("tor1.json") == files(str(Path("tor1.json").resolve())) == {"configs/tor1.json"}
    assert files("../fabric.yaml") == {"fabric.yaml"}


@pytest.mark.parametrize(("fail_on", "failures"), [("error", 0), ("warning", 1), ("never", 0)])
def test_junit_is_red_exactly_when_the_run_fails(fail_on: str, failures: int, cli: Cli) -> None:
    Path("leaf1.json").write_text(DUPLICATED)
    code, out, _ = cli("lint", "--format", "junit", "--fail-on", fail_on, "leaf1.json")
    assert f'failures="{failures}"' in out.splitlines()[1]
    assert "<system-out>warning: " in out or failures
    assert code == bool(failures)


@pytest.mark.usefixtures("site")
def test_a_report_is_whole_also_where_nobody_reads_stdout() -> None:
    code = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "lint", "--output", "json=lint.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.close()
    assert process.returncode == 141
    assert len(parsed(Path("lint.json").read_text())["findings"]) == 3


def test_a_file_has_no_colours_though_the_terminal_has(site: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in site("lint", "--output", "text=lint.txt").out
    assert "\x1b[" not in Path("lint.txt").read_text()


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_has_colours_unless_it_is_told_not_to(environment: dict[str, str], coloured: bool) -> None:
    code = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"
    ours, theirs = os.openpty()
    told = {"TERM": "xterm", "COLUMNS": "80", **environment}
    with subprocess.Popen(
        [sys.executable, "-c", code, "lint", "fabric.yaml"],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=os.environ | told,
    ) as process:
        os.close(theirs)
        printed = b""
        # A terminal whose other end has closed is an error to read from, on Linux.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65536):
                printed += part
    os.close(ours)
    assert process.returncode == 1
    assert b"TOP001" in printed
    assert (b"\x1b[" in printed) == coloured
