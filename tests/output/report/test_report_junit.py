"""JUnit: red exactly when the run fails, and never an empty suite."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given, strategies as st

from lossless.checks.lint.run import CheckedReport
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import SEVERITIES, Origin, Severity
from lossless.output.report.lint.junit import junit_text
from tests.output.report.samples import finding, lint_run, on_switch, oversubscribed, sample
from tests.output.report.settings import setting

Element = ElementTree.Element
KNOWN = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testcase": {"name", "classname", "file", "line", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "system-out": set(),
}
"""The elements that CI systems read, and their attributes."""
BELOW = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error", "system-out"},
}


def suites(report: CheckedReport, failing: tuple[Severity, ...] = SEVERITIES[:1]) -> list[Element]:
    """Return the suites; fails where the document is not what CI systems read."""
    root = ElementTree.fromstring(junit_text(report, setting(failing=failing)).text)
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) <= KNOWN[element.tag]
        assert {child.tag for child in element} <= BELOW.get(element.tag, set())
    for counting in (root, *root):
        cases = list(counting.iter("testcase"))
        assert int(counting.attrib["tests"]) == len(cases) > 0
        for outcome in ("failure", "error"):
            assert int(counting.attrib[f"{outcome}s"]) == len(list(counting.iter(outcome)))
    for suite in root:
        names = [(case.attrib["classname"], case.attrib["name"]) for case in suite]
        assert len(set(names)) == len(names)
    return list(root)


def test_a_file_is_a_suite_and_a_finding_a_case() -> None:
    report = sample(oversubscribed(), on_switch("PORT", "Ethernet0", "mtu", note="why"))
    intent, leaf = suites(report)
    assert (intent.attrib["name"], leaf.attrib["name"]) == ("fabric.yaml", "leaf1.json")
    (case,) = leaf
    assert case.attrib == {
        "name": "WD001 watchdog-missing (PORT|Ethernet0|mtu)",
        "classname": "lossless.WD001",
        "file": "leaf1.json",
        "line": "4",
        "time": "0",
    }
    (failure,) = case
    assert failure.attrib == {
        "message": "PORT|Ethernet0|mtu: PFC is on and no watchdog is declared",
        "type": "error",
    }
    assert failure.text == "PORT|Ethernet0|mtu: PFC is on and no watchdog is declared\nnote: why"


def test_a_clean_file_is_a_case_that_passes() -> None:
    for suite in suites(sample()):
        (case,) = suite
        assert (case.attrib["name"], list(case)) == ("no findings", [])


def test_only_what_fails_the_run_is_a_failure() -> None:
    report = sample(on_switch("PORT", severity="warning"), on_switch("PORT", severity="info"))

    def failed(failing: tuple[Severity, ...]) -> list[str]:
        return [child.tag for suite in suites(report, failing) for case in suite for child in case]

    assert failed(("error",)) == ["system-out", "system-out"]
    assert failed(("error", "warning")) == ["failure", "system-out"]
    assert failed(()) == ["system-out", "system-out"]


def test_what_could_not_be_read_is_an_error() -> None:
    (suite,) = suites(lint_run(errors=(Problem("gone.yaml", None, None, "no such file"),)))
    (case,) = suite
    assert [(child.tag, child.attrib["message"]) for child in case] == [("error", "no such file")]


def test_findings_of_one_name_are_cases_of_their_own() -> None:
    report = sample(*(on_switch("PORT", message=str(number)) for number in range(3)))
    names = [case.attrib["name"] for case in suites(report)[1]]
    assert names == [f"WD001 watchdog-missing (PORT){more}" for more in ("", " #2", " #3")]


@given(st.text(max_size=40), st.text(max_size=20))
def test_any_text_makes_a_document_that_parses(message: str, key: str) -> None:
    found = finding(Origin("a.json", (key,)), message=message, note=message)
    suites(lint_run(findings=(found,), errors=(Problem("b.json", 1, 1, message),)))
