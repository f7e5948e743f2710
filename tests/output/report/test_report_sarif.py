"""SARIF must keep to the standard, keep an alert the same alert, and stay within what code scanning takes."""

from __future__ import annotations

import copy
import gzip
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from lossless.checks.lint.run import CheckedReport
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin, RelatedPlace
from lossless.output.report.lint.sarif import MOST_RESULTS, sarif_text
from tests.output.report.samples import finding, lint_run, on_switch, oversubscribed, sample
from tests.output.report.sarif import parsed
from tests.output.report.settings import setting

REPORTED = sample(
    oversubscribed(),
    on_switch(
        "PORT",
        "Ethernet0",
        "mtu",
        severity="warning",
        confidence="medium",
        places=64,
        elements=("leaf1:Ethernet0", "leaf1:Ethernet4"),
        data={"mtu_bytes": None},
        related=(
            RelatedPlace(Origin("leaf1.json", ("PORT", "Ethernet4", "mtu")), "the other end has {1500} B"),
        ),
        via=Origin("fabric.yaml", ("classes", "cnp", "dscp")),
    ),
    errors=(Problem("gone.yaml", None, None, "no such file"), Problem("b.json", 3, 4, "cut off")),
)


def run_of(report: CheckedReport, folder: str = "/repo") -> dict[str, Any]:
    log = parsed(sarif_text(report, setting(folder)).text)
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_a_finding_is_a_result_with_its_place_rule_and_words() -> None:
    run = run_of(REPORTED)
    first = run["results"][0]
    assert first["ruleId"] == run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == "TOP001"
    assert first["level"] == "error"
    assert first["message"]["text"].splitlines() == [
        "leaf uplinks carry 1.6 Tb/s for 12.8 Tb/s of hosts, 8:1",
        "note: 16 hosts x 2 x 400G = 12.8 Tb/s down, 2 spines x 1 x 800G = 1.6 Tb/s up, each counted one way",
        "help: 8 x 800G to each spine make it 1:1; to accept it, state `oversubscription: 8` under `leaf_spine`",
    ]
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "fabric.yaml", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 26, "startColumn": 5, "endLine": 26, "endColumn": 12},
            },
            "logicalLocations": [{"fullyQualifiedName": "topology.leaf_spine.uplinks"}],
        }
    ]


def test_other_places_are_related_locations_and_a_brace_is_no_placeholder() -> None:
    (result,) = (result for result in run_of(REPORTED)["results"] if result["ruleId"] == "WD001")
    assert result["occurrenceCount"] == 64
    assert result["properties"] == {"confidence": "medium", "data": {"mtu_bytes": None}}
    told = [
        (place["id"], place["message"]["text"], place["logicalLocations"][0]["fullyQualifiedName"])
        for place in result["relatedLocations"]
    ]
    assert told == [
        (1, "the other end has {{1500}} B", "PORT|Ethernet4|mtu"),
        (2, "the intent behind it", "classes.cnp.dscp"),
    ]


def test_a_rule_brings_its_documentation_once() -> None:
    run = run_of(sample(oversubscribed(), oversubscribed(message="again"), on_switch("PORT")))
    assert run["tool"]["driver"]["rules"] == [
        {
            "id": "TOP001",
            "name": "oversubscription-undeclared",
            "shortDescription": {"text": "TOP001 in short"},
            "help": {"text": "# TOP001\n\nat length", "markdown": "# TOP001\n\nat length"},
            "defaultConfiguration": {"level": "error"},
            "properties": {"precision": "high", "problem.severity": "error"},
        },
        {"id": "WD001", "name": "watchdog-missing"},
    ]


def test_what_could_not_be_read_is_told_and_the_run_has_not_succeeded() -> None:
    (invocation,) = run_of(REPORTED)["invocations"]
    assert not invocation["executionSuccessful"]
    told = [
        (note["level"], note["message"]["text"], note["locations"][0]["physicalLocation"])
        for note in invocation["toolExecutionNotifications"]
    ]
    assert [(level, text) for level, text, _ in told] == [("error", "cut off"), ("error", "no such file")]
    assert told[0][2]["region"] == {"startLine": 3, "startColumn": 4}
    assert run_of(sample())["invocations"] == [
        {"executionSuccessful": True, "toolExecutionNotifications": []}
    ]


@pytest.mark.parametrize(
    ("file", "folder", "location"),
    [
        ("./fabric.yaml", "/repo", {"uri": "fabric.yaml", "uriBaseId": "%SRCROOT%"}),
        ("fabric.yaml", "/repo/site a", {"uri": "site%20a/fabric.yaml", "uriBaseId": "%SRCROOT%"}),
        ("../fabric.yaml", "/repo/site", {"uri": "fabric.yaml", "uriBaseId": "%SRCROOT%"}),
        ("/repo/x/a:b.json", "/elsewhere", {"uri": "x/a%3Ab.json", "uriBaseId": "%SRCROOT%"}),
        ("../fabric.yaml", "/repo", {"uri": "file:///fabric.yaml"}),
        ("/other/\u00e9.json", "/repo", {"uri": "file:///other/%C3%A9.json"}),
        ("bad\udcff.json", "/repo", {"uri": "bad%FF.json", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_files_are_relative_to_the_root_of_the_repository(
    file: str, folder: str, location: dict[str, str]
) -> None:
    run = run_of(sample(finding(Origin(file))), folder=folder)
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == location


def many(severities: dict[str, int]) -> CheckedReport:
    found = [
        on_switch("PORT", f"Ethernet{number}", "mtu", severity=severity, message=f"{severity} {number}")
        for severity, times in severities.items()
        for number in range(times)
    ]
    return lint_run(findings=tuple(found))


def test_what_code_scanning_does_not_show_is_left_out_least_severe_first_and_said() -> None:
    made = sarif_text(many({"info": 3_000, "warning": 2_999, "error": 2_000}), setting())
    run = parsed(made.text)["runs"][0]
    levels = [result["level"] for result in run["results"]]
    assert levels == ["error"] * 2_000 + ["warning"] * 2_999 + ["note"]
    assert made.notices == (
        "2,999 of 7,999 findings are left out, the least severe: code scanning shows 5,000 of a run",
    )
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [(note["level"], note["message"]["text"]) for note in notes] == [("warning", *made.notices)]
    assert run["properties"]["info"] == 3_000


def test_as_many_findings_as_are_shown_are_within_every_limit_of_an_upload() -> None:
    made = sarif_text(many({"error": MOST_RESULTS}), setting())
    assert made.notices == ()
    assert len(gzip.compress(made.text.encode())) < 10_000_000


def test_a_result_has_no_more_places_than_are_shown() -> None:
    related = tuple(RelatedPlace(Origin("leaf1.json", ("PORT", str(n))), f"end {n}") for n in range(300))
    (result,) = run_of(sample(on_switch("PORT", related=related)))["results"]
    assert len(result["locations"]) + len(result["relatedLocations"]) == 100


def test_every_result_has_a_fingerprint_of_its_own_under_our_own_key() -> None:
    marks = [result["partialFingerprints"] for result in run_of(REPORTED)["results"]]
    assert [list(mark) for mark in marks] == [["lossless/v1"]] * 2
    assert len({mark["lossless/v1"] for mark in marks}) == 2


@given(st.text(max_size=30), st.text(max_size=30), st.text(min_size=1, max_size=30))
def test_any_name_and_message_makes_a_valid_log(key: str, message: str, file: str) -> None:
    found = on_switch("PORT", key, message=message or "m", note=message)._replace(
        origin=Origin(file, ("PORT", key))
    )
    run_of(lint_run(findings=(found,), errors=(Problem(file, None, None, message),)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), "2.0.0"),
        (("runs", 0, "tool", "driver", "name"), None),
        (("runs", 0, "results", 0, "level"), "fatal"),
        (("runs", 0, "results", 0, "message"), {}),
        (("runs", 0, "results", 0, "message"), "no object"),
        (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "region"), {"startColumn": 1}),
        (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "artifactLocation", "uri"), "a b"),
        (("runs", 0, "results", 0, "line"), 1),
        (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "region", "startLine"), 0),
        (("runs", 0, "results", 0, "ruleIndex"), "0"),
        (("runs", 0, "invocations", 0, "executionSuccessful"), None),
    ],
)
def test_the_schema_refuses_what_the_standard_forbids(path: tuple[str | int, ...], value: object) -> None:
    log = copy.deepcopy(parsed(sarif_text(REPORTED, setting()).text))
    target: Any = log
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises((ValidationError, AssertionError)):
        parsed(json.dumps(log))
