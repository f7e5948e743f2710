"""GitHub reads annotations from a log, ten of a kind; what it reads must be what was meant."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from lossless.checks.lint.run import CheckedReport
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.foreign_text import gated
from lossless.output.report.lint.github import github_text
from tests.output.report.samples import finding, lint_run, on_switch, oversubscribed, sample
from tests.output.report.settings import setting

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def lines(report: CheckedReport) -> list[str]:
    return github_text(report, setting()).text.splitlines()


def undone(text: str, *more: tuple[str, str]) -> str:
    """Undo escapes in the order of the runner: actions/runner src/Runner.Common/ActionCommand.cs @079cdb1."""
    for token, escape in (("\r", "%0D"), ("\n", "%0A"), *more, ("%", "%25")):
        text = text.replace(escape, token)
    return text


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Return command, properties and message as the runner reads them."""
    match = COMMAND.fullmatch(line)
    assert match, line
    pairs = (part.split("=", 1) for part in match[2].split(","))
    return (
        match[1],
        {key: undone(value, (":", "%3A"), (",", "%2C")) for key, value in pairs},
        undone(match[3]),
    )


def test_a_finding_is_one_command_with_its_place() -> None:
    (line,) = lines(sample(oversubscribed(note="", help="a\nb")))
    assert line == (
        "::error file=fabric.yaml,line=26,endLine=26,col=5,title=TOP001 oversubscription-undeclared"
        "::leaf uplinks carry 1.6 Tb/s for 12.8 Tb/s of hosts, 8:1%0Ahelp: a%0Ab"
    )


def test_errors_come_first_and_infos_are_notices() -> None:
    report = sample(
        finding(Origin("fabric.yaml", ("fabric",)), severity="info"),
        on_switch("PORT", severity="warning"),
        oversubscribed(),
        errors=(Problem("gone.yaml", None, None, "no such file"),),
    )
    assert [(kind, told["file"]) for kind, told, _ in map(read, lines(report))] == [
        ("error", "gone.yaml"),
        ("error", "fabric.yaml"),
        ("warning", "leaf1.json"),
        ("notice", "fabric.yaml"),
    ]


def test_a_file_without_a_line_has_none() -> None:
    (line,) = lines(lint_run(errors=(Problem("gone.yaml", None, None, "no such file"),)))
    assert line == "::error file=gone.yaml,title=cannot be read::no such file"


def many(severity: str, times: int) -> list[object]:
    return [
        on_switch("PORT", f"Ethernet{n}", severity=severity, message=f"{severity} {n}") for n in range(times)
    ]


def test_ten_of_a_kind_are_annotated_and_the_rest_stands_in_the_log() -> None:
    report = sample(*many("error", 12), *many("warning", 3), *many("info", 11))  # type: ignore[arg-type]
    said = lines(report)
    kinds = [line.split(" ")[0] for line in said]
    assert kinds == ["::error"] * 10 + ["::warning"] * 3 + ["::notice"] * 9 + ["-"] * 4 + ["::notice"]
    assert said[22] == "- leaf1.json:3:5: error: WD001 watchdog-missing: PORT|Ethernet0: error 0"
    assert said[-1] == (
        "::notice title=lossless::4 more findings, in the log of this step: 10 of a kind are shown"
    )


def test_ten_of_each_kind_need_no_notice() -> None:
    report = sample(*many("error", 10), *many("warning", 10), *many("info", 10))  # type: ignore[arg-type]
    assert [read(line)[0] for line in lines(report)] == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10


def test_nothing_found_is_nothing_said() -> None:
    assert lines(sample()) == []


@given(
    st.text(min_size=1, max_size=20).filter(lambda name: "/" not in name and name not in (".", "..")),
    st.text(max_size=40),
)
def test_a_hostile_file_makes_no_command_of_its_own(name: str, message: str) -> None:
    found = finding(Origin(name, ("a",)), message=message)
    (line,) = lines(lint_run(findings=(found,)))
    kind, told, text = read(line)
    assert (kind, told["title"]) == ("error", "WD001 watchdog-missing")
    assert "\n" not in text
    if name.isprintable():
        assert told["file"] == name


def test_lines_of_the_log_are_never_commands() -> None:
    hostile = [
        finding(Origin(f"##[error]::set-output name={n}::x", ("a",)), message="##[add-mask]y\n::error::z")
        for n in range(12)
    ]
    plain = [line for line in lines(sample(*hostile)) if not line.startswith("::")]
    assert len(plain) == 2
    assert all(line.startswith("- ") and "##[" not in gated(line, "github") for line in plain)
