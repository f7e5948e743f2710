"""What GitLab's merge request shows, and keeps apart by fingerprints."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from lossless.checks.lint.run import CheckedReport
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin
from lossless.output.report.lint.gitlab import gitlab_text
from tests.output.report.samples import finding, on_switch, oversubscribed, sample
from tests.output.report.settings import setting

TEXT = {"type": "string", "minLength": 1}
LINE = {"type": "integer", "minimum": 1}
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": [
            "type", "check_name", "description", "categories", "severity", "fingerprint", "location",
        ],
        "properties": {
            "type": {"const": "issue"},
            "check_name": TEXT,
            "description": TEXT,
            "categories": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "enum": [
                        "Bug Risk", "Clarity", "Compatibility", "Complexity",
                        "Duplication", "Performance", "Security", "Style",
                    ]
                },
            },
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": LINE, "end": LINE},
                    },
                },
            },
        },
    },
}  # fmt: skip
"""What GitLab reads and what Code Climate's specification (spec/analyzers/SPEC.md) requires, recorded here."""


def issues(report: CheckedReport, folder: str = "/repo") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(gitlab_text(report, setting(folder)).text)
    Draft202012Validator(SCHEMA).validate(found)
    assert len({issue["fingerprint"] for issue in found}) == len(found)
    return found


def test_a_finding_is_an_issue() -> None:
    (issue,) = issues(sample(oversubscribed()))
    assert issue | {"fingerprint": ""} == {
        "type": "issue",
        "check_name": "TOP001",
        "description": "TOP001 oversubscription-undeclared: "
        "leaf uplinks carry 1.6 Tb/s for 12.8 Tb/s of hosts, 8:1",
        "categories": ["Bug Risk"],
        "severity": "critical",
        "fingerprint": "",
        "location": {"path": "fabric.yaml", "lines": {"begin": 26, "end": 26}},
    }


def test_severities_and_what_could_not_be_read() -> None:
    report = sample(
        on_switch("PORT", severity="warning"),
        on_switch("PORT", severity="info"),
        finding(Origin("./unread.json")),
        errors=(Problem("gone.yaml", None, None, "no such file"), Problem("gone.yaml", 4, 1, "x")),
    )
    assert [
        (i["severity"], i["location"]["path"], i["location"]["lines"]["begin"]) for i in issues(report)
    ] == [
        ("blocker", "gone.yaml", 1),
        ("blocker", "gone.yaml", 4),
        ("critical", "unread.json", 1),
        ("major", "leaf1.json", 2),
        ("info", "leaf1.json", 2),
    ]


def test_paths_are_those_of_the_repository() -> None:
    (issue,) = issues(sample(finding(Origin("./a.json"))), folder="/repo/site")
    assert issue["location"]["path"] == "site/a.json"


def test_nothing_found_is_an_empty_list() -> None:
    assert issues(sample()) == []
