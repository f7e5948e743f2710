"""``lossless lint``: streams, exit codes and formats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lossless import api
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import DUPLICATED, INTENT, LEAF, intent_with, leaf_with
from tests.output.report.contract import parsed
from tests.paths import ROOT

OVERSUBSCRIBED = intent_with("uplinks: 2 x 800G", "uplinks: 1 x 800G")
BROKEN = intent_with("dscp: 26", "dscp: [26, 64]")
CLEAN_COUNTS = "0 errors, 0 warnings, 0 infos in 1 file (0 suppressed, 0 baselined, 0 not checked)\n"


def test_a_sound_fabric_is_clean(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT)
    assert cli("lint") == (0, "", CLEAN_COUNTS)


def test_a_finding_on_an_intent(cli: Cli) -> None:
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    outcome = cli("lint", "fabric.yaml")
    first, *rest = outcome.out.splitlines()
    assert first.startswith("fabric.yaml:19:")
    assert first.endswith(
        ": TOP001 oversubscription-undeclared: leaf uplinks carry 1.6 Tb/s for 3.2 Tb/s of hosts, 2:1"
    )
    assert "19 |     uplinks: 1 x 800G" in rest
    assert "   = on: leaf1, leaf2" in rest
    assert outcome.err == CLEAN_COUNTS.replace("0 errors", "1 error")
    assert outcome.code == 1


def test_a_finding_on_a_switch_names_the_object(cli: Cli) -> None:
    Path("leaf1.json").write_text(leaf_with("PFC_WD", "Ethernet4", action=None))
    outcome = cli("lint", "leaf1.json")
    assert outcome.out == (
        "leaf1.json:422:21: WD001 watchdog-missing: PORT_QOS_MAP|Ethernet4|pfc_enable: "
        "PFC is on and the port has no PFC_WD row, though other ports of the switch have one\n"
        "    |\n"
        '422 |       "pfc_enable": "3",\n'
        "    |                     ^^^\n"
        "    = on: leaf1:Ethernet4\n"
        "    = note: a stuck NIC pauses the port permanently, and the pause propagates through the fabric\n"
        "    = help: pfcwd start on Ethernet4, or add its row to PFC_WD\n\n"
    )
    assert outcome.code == 1


@pytest.mark.parametrize(
    "paths", [(".",), ("./fabric.yaml", "switches/leaf1.json"), ("broken.yaml", "switches")]
)
def test_a_report_of_the_api_is_the_document_of_the_command(cli: Cli, paths: tuple[str, ...]) -> None:
    """Of a repository with a configuration, accepted findings, and a file that cannot be read."""
    Path(".git").mkdir()
    Path("switches").mkdir()
    Path("lossless.toml").write_text('rules-url = "https://rules.example"\nfail-on = "warning"\n')
    Path("fabric.yaml").write_text(OVERSUBSCRIBED.replace("uplinks: 1", "uplinks:  1"))
    Path("broken.yaml").write_text(BROKEN)
    Path("switches/leaf1.json").write_text(leaf_with("PFC_WD", "Ethernet4", action=None))
    Path("switches/leaf2.json").write_text(leaf_with("PORT", "Ethernet0", mtu="{9}\u00e9"))
    report = api.lint(paths)
    assert report.findings, paths
    assert cli("lint", "--format", "json", *paths).out == f"{report.to_json()}\n"
    assert cli("lint", "--format", "sarif", *paths).out == f"{report.to_sarif()}\n"


def test_findings_of_the_api_have_the_lines_of_the_command(cli: Cli) -> None:
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    Path("leaf1.json").write_text(leaf_with("PFC_WD", "Ethernet4", action=None))
    report = api.lint(["fabric.yaml", "leaf1.json"])
    lines = sorted(f"{file}:{line}:{column}: {each.code}" for each, file, line, column in report.placed())
    shown = cli("lint", "--quiet", "fabric.yaml", "leaf1.json").out.splitlines()
    assert [line[: len(start)] for line, start in zip(sorted(shown), lines, strict=True)] == lines
    assert [each.finding for each in report.placed()] == [*report.findings]
    assert all(each.finding.file == each.file for each in report.placed())


@pytest.mark.usefixtures("cli")
def test_a_finding_without_its_document_has_a_file_and_no_line() -> None:
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    (alone,) = {
        (each.file, each.line, each.column)
        for each in api.lint(["fabric.yaml"])._replace(documents={}).placed()
    }
    assert alone == ("fabric.yaml", None, None)


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (INTENT, "info", 0),
        (OVERSUBSCRIBED, "error", 1),
        (OVERSUBSCRIBED, "warning", 1),
        (OVERSUBSCRIBED, "never", 0),
        (BROKEN, "never", 2),
    ],
)
def test_exit_codes_of_an_intent(text: str, fail_on: str, code: int, cli: Cli) -> None:
    Path("fabric.yaml").write_text(text)
    assert cli("lint", "--fail-on", fail_on, "fabric.yaml").code == code


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)])
def test_a_warning_fails_only_where_it_is_asked_to(fail_on: str, code: int, cli: Cli) -> None:
    Path("config_db.json").write_text(DUPLICATED)
    assert cli("lint", "--fail-on", fail_on).code == code


@pytest.mark.parametrize(("text", "code"), [(INTENT, 0), (OVERSUBSCRIBED, 1), (BROKEN, 2), ("", 2)])
def test_json_is_one_object_with_every_exit_code(text: str, code: int, cli: Cli) -> None:
    Path("fabric.yaml").write_text(text)
    outcome = cli("lint", "--format", "json", "fabric.yaml")
    report = parsed(outcome.out)
    assert (outcome.code, outcome.err) == (code, "")
    assert bool(report["findings"]) == (code == 1)
    assert bool(report["errors"]) == (code == 2)


def test_json_is_printed_where_nothing_was_there_to_check(cli: Cli) -> None:
    outcome = cli("lint", "--format", "json")
    assert [error["file"] for error in parsed(outcome.out)["errors"]] == ["."]
    assert outcome.code == 2


def test_the_named_dscps_must_be_lossless(cli: Cli) -> None:
    Path("leaf1.json").write_text(leaf_with("DSCP_TO_TC_MAP", "AZURE", **{"24": "1", "26": "1"}))

    def dscps(*arguments: str) -> list[int]:
        report = parsed(cli("lint", "--format", "json", *arguments, "leaf1.json").out)
        named = (found["data"] for found in report["findings"] if found["code"] == "CLS001")
        return [data["dscp"] for data in named if "dscp" in data]

    assert dscps() == []
    assert dscps("--rdma-dscp", "26") == [26]
    assert dscps("--rdma-dscp", "26,24") == dscps("--rdma-dscp", "24", "--rdma-dscp", "26, 26") == [24, 26]


@pytest.mark.parametrize("text", ["64", "-1", "af31", "26,", "", "\u0662\u0666"])
def test_what_is_no_dscp_is_refused(text: str, cli: Cli) -> None:
    Path("leaf1.json").write_text(LEAF)
    outcome = cli("lint", "--rdma-dscp", text, "leaf1.json")
    number = text.removeprefix("26,")
    assert outcome.err.splitlines()[-1] == (
        f"Error: Invalid value for '--rdma-dscp': {number!r} is not a DSCP; expected a number from 0 to 63"
    )
    assert (outcome.code, outcome.out) == (2, "")


def test_own_profiles_take_part(cli: Cli) -> None:
    Path("fabric.yaml").write_text(intent_with("nic: connectx-7", "nic: house-nic"))
    Path("own/nics").mkdir(parents=True)
    shipped = ROOT / "profiles/nics/connectx-7.toml"
    Path("own/nics/house-nic.toml").write_bytes(shipped.read_bytes())
    assert cli("lint", "fabric.yaml").code == 2
    assert cli("lint", "--profiles", "own", "fabric.yaml") == (0, "", CLEAN_COUNTS)
    assert cli("lint", "--profiles", "gone", "fabric.yaml").err.endswith("Directory 'gone' does not exist.\n")


def test_standard_input_is_checked_under_its_name(cli: Cli) -> None:
    outcome = cli("lint", "-", "--stdin-filename", "site/fabric.yaml", stdin=OVERSUBSCRIBED.encode())
    assert outcome.out.startswith("site/fabric.yaml:19:")
    assert outcome.code == 1


def test_standard_input_is_refused_as_files_are(cli: Cli) -> None:
    def first_block(name: str, text: bytes) -> str:
        outcome = cli("lint", "-", "--stdin-filename", name, stdin=text)
        assert (outcome.code, outcome.out) == (2, "")
        return outcome.err.split("\n\n")[0]

    assert first_block("a.yaml", b"pfc:\n\toff\n") == (
        "a.yaml:2:1: tab used for indentation; YAML allows only spaces\n  |\n2 |     off\n  | ^^^^"
    )
    assert first_block("a.yaml", b"\xff\xfea\x00") == "a.yaml:1:1: is encoded as UTF-16; expected UTF-8"
    assert first_block("a.json", b"{}x").startswith("a.json:1:3: more text after the end of the JSON value")
    assert first_block("a.json", b'{"a": 1}').startswith("a.json:1:1: not a CONFIG_DB")
    assert first_block("a.txt", b"{}") == "a.txt: unknown kind of file; expected .json, .yaml or .yml"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-",), "- needs --stdin-filename NAME; its suffix (.yaml, .json) says what is read"),
        (("-", "a.yaml", "--stdin-filename", "b.yaml"), "- cannot be mixed with other paths"),
        (
            ("--stdin-filename", "b.yaml"),
            "--stdin-filename names what - stands for, but there is no - to read",
        ),
    ],
)
def test_standard_input_must_be_named(arguments: tuple[str, ...], message: str, cli: Cli) -> None:
    outcome = cli("lint", *arguments)
    assert outcome.err.splitlines()[-1] == f"Error: {message}"
    assert (outcome.code, outcome.out) == (2, "")


def test_what_could_not_be_checked_is_told_when_asked(cli: Cli) -> None:
    data = json.loads(leaf_with("DEVICE_METADATA", "localhost", type="ToRRouter"))
    del data["PORT_QOS_MAP"]["global"]
    for port in ("Ethernet0", "Ethernet4", "Ethernet8"):
        del data["PORT_QOS_MAP"][port]["dscp_to_tc_map"]
    Path("leaf1.json").write_text(json.dumps(data))
    quiet = cli("lint", "--rdma-dscp", "26", "leaf1.json")
    told = cli("lint", "--rdma-dscp", "26", "-v", "leaf1.json")
    assert "not checked: CLS001: no DSCP map is bound to the port (3 times)" in told.err.splitlines()
    assert "not checked:" not in quiet.err
    assert told.out == quiet.out


def test_an_interrupt_is_not_a_traceback(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "lint", interrupted)
    outcome = cli("lint")
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "")


def _lossless(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
    code = "import sys; from lossless.interfaces.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


def test_a_reader_that_stops_early_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(OVERSUBSCRIBED)
    with _lossless("lint", "fabric.yaml", cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_terminal_that_knows_only_ascii_gets_escapes(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(intent_with("poll: 600ms", "poll: 600"), encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    with _lossless("lint", "fabric.yaml", cwd=tmp_path, env=environment) as process:
        _, err = process.communicate()
    assert b"(units: ns, us, \\xb5s, ms, s)" in err
    assert process.returncode == 2


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_only_where_it_is_wanted(
    environment: dict[str, str], coloured: bool, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    Path("fabric.yaml").write_text(OVERSUBSCRIBED)
    assert ("\x1b[" in cli("lint", "fabric.yaml").out) == coloured
