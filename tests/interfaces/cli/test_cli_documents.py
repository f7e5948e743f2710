"""Under ``--format`` stdout is one document or nothing, refusals included; the rest goes to stderr."""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lossless.interfaces.cli.options.lint import FORMATS
from lossless.interfaces.cli.terminal import GatedStream, expect_document, gated_streams, out, out_json
from tests.interfaces.cli.conftest import Cli
from tests.interfaces.cli.inputs import INTENT, LEAF, intent_with
from tests.output.report import sarif
from tests.output.report.contract import parsed

UNSAFE = intent_with("detection: 1200ms", "detection: 50ms")


@pytest.fixture
def site(cli: Cli) -> Cli:
    """A sound intent, one with an error in it, and a switch."""
    Path("fabric.yaml").write_text(INTENT)
    Path("bad.yaml").write_text(UNSAFE)
    Path("leaf1.json").write_text(LEAF)
    return cli


@pytest.mark.parametrize(
    "call",
    [
        ("diff", "leaf1.json", "bad.yaml", "--device", "leaf1"),
        ("diff", "leaf1.json", "leaf1.json", "bad.yaml"),
        ("render", "bad.yaml", "-o", "out", "--check"),
    ],
    ids=["one", "several", "render"],
)
def test_a_refused_intent_is_one_document(call: tuple[str, ...], site: Cli) -> None:
    code, text, err = site(*call, "--format", "json")
    report = parsed(text)
    assert code == 2
    assert [finding["code"] for finding in report["findings"]] == ["WD003"]
    assert [(error["file"], error["message"][:20]) for error in report["errors"]] == [
        ("bad.yaml", "a fabric with errors")
    ]
    assert "WD003" in err
    assert "refused: a fabric with errors" in err


def test_a_refused_intent_is_no_patch(site: Cli) -> None:
    code, text, err = site("diff", "leaf1.json", "bad.yaml", "--device", "leaf1", "--format", "patch")
    assert (code, text) == (2, "")
    assert "WD003" in err


def test_an_error_after_the_document_is_put_into_it(site: Cli) -> None:
    released = INTENT + 'sonic: {release: "202411"}\n'
    Path("fabric.yaml").write_text(released)
    Path("target.yaml").write_text(released.replace("dscp: 26", "dscp: 24"))
    Path("file").write_text("")
    code, text, err = site("plan", "fabric.yaml", "target.yaml", "-o", "file", "--format", "json")
    data = json.loads(text)
    assert code == 2
    assert data["steps"]
    (error,) = data["errors"]
    assert f"lossless: {error['message']}" in err


def test_an_error_without_a_place_names_the_current_folder(site: Cli) -> None:
    code, text, err = site("storm", "fabric.yaml", "--from", "nobody", "--format", "json")
    data = json.loads(text)
    assert code == 2
    assert list(data) == ["version", "errors"]
    (error,) = data["errors"]
    assert (error["file"], error["line"], error["column"]) == (".", None, None)
    assert err == f"lossless: {error['message']}\n"


def _problems(form: str, text: str) -> list[str]:
    """Return the messages of what could not be read, by a report of a form."""
    if form == "json":
        return [error["message"] for error in parsed(text)["errors"]]
    if form == "sarif":
        (invocation,) = sarif.parsed(text)["runs"][0]["invocations"]
        assert not invocation["executionSuccessful"]
        return [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    if form == "gitlab":
        issues: list[dict[str, Any]] = json.loads(text)
        return [issue["description"] for issue in issues if issue["check_name"] == "unreadable"]
    if form == "junit":
        return [error.get("message", "") for error in ElementTree.fromstring(text).iter("error")]
    if form == "github":
        return [line.rpartition("::")[2] for line in text.splitlines() if line.startswith("::error")]
    if form == "html":
        listed = text.partition("<h2>Not read</h2>")[2].partition("</ul>")[0]
        return [unescape(line).split(": ", 1)[1] for line in re.findall(r"<li>(.*)</li>", listed)]
    head, _, rest = text.partition("**Not read**\n\n")
    assert head.startswith("### lossless: 0 errors")
    return [line.split(": ", 1)[1].replace("\\", "") for line in rest.strip().splitlines()]


@pytest.mark.parametrize("form", FORMATS[1:])
@pytest.mark.parametrize(
    ("command", "told", "option"),
    [
        ("lint", "lossless: --since compares with a revision of git: ", "--since=nowhere"),
        ("lint", "lossless: gone/a: cannot be written: there is no folder gone", "--output=json=gone/a"),
        ("verify", "lossless: gone/a: cannot be written: there is no folder gone", "--output=json=gone/a"),
    ],
    ids=["revision", "output", "verify"],
)
def test_a_refusal_is_a_report_of_each_form(
    command: str, told: str, option: str, form: str, site: Cli
) -> None:
    code, text, err = site(command, "leaf1.json", option, "--format", form)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(told)
    assert _problems(form, text) == [err.removeprefix("lossless: ").removesuffix("\n")]


@pytest.mark.parametrize(
    "call",
    [
        ("lint", "--format", "json", "--colour"),
        ("lint", "--colour", "--format", "json"),
        ("lint", "--format", "json", "--rdma-dscp", "99"),
        ("lint", "--format", "json", "--quiet", "--verbose"),
        ("lint", "--format", "xml"),
        *[("lint", "--watch", "--format", form) for form in FORMATS[1:]],
        ("topology", "--format", "json"),
    ],
)
def test_a_wrong_command_line_is_no_document(call: tuple[str, ...], site: Cli) -> None:
    code, text, err = site(*call)
    assert (code, text) == (2, "")
    assert "Usage: lossless" in err


@pytest.mark.parametrize("form", ["csv", "md", "patch", "json", "sarif"])
def test_other_text_goes_to_stderr(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    with gated_streams():
        expect_document(form, is_report=False)
        out("a line for people")
        print("a line of a library")
        assert isinstance(sys.stdout, GatedStream)
    assert capsys.readouterr() == ("", "a line for people\na line of a library\n")


def test_a_second_document_is_a_mistake_of_ours() -> None:
    with gated_streams():
        expect_document("json", is_report=False)
        out_json({"version": 1})
        with pytest.raises(AssertionError, match="one document"):
            out_json({"version": 1})
