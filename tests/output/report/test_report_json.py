"""What machines read: names, nulls and order that do not change under anyone."""

from __future__ import annotations

import itertools

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin, RelatedPlace, UncheckedRule
from lossless.output.report.lint.gitlab import cause_fingerprint
from lossless.output.report.lint.json_format import json_text
from tests.output.report.contract import parsed
from tests.output.report.samples import finding, on_switch, oversubscribed, sample


def test_a_finding_has_every_field() -> None:
    found = oversubscribed(
        url="docs/rules/TOP001.md",
        places=12,
        elements=tuple(f"leaf{number}" for number in range(1, 13)),
        data={"ratio": 8.0, "up_bps": 1_600_000_000_000},
    )
    (entry,) = parsed(json_text(sample(found)))["findings"]
    assert entry == {
        "code": "TOP001",
        "name": "oversubscription-undeclared",
        "severity": "error",
        "confidence": "high",
        "message": "leaf uplinks carry 1.6 Tb/s for 12.8 Tb/s of hosts, 8:1",
        "note": found.note,
        "help": found.help,
        "url": "docs/rules/TOP001.md",
        "file": "fabric.yaml",
        "path": ["topology", "leaf_spine", "uplinks"],
        "object": "topology.leaf_spine.uplinks",
        "line": 26,
        "column": 5,
        "end_line": 26,
        "end_column": 12,
        "origin": None,
        "related": [],
        "count": 12,
        "elements": ["leaf1", "leaf2", "leaf3", "leaf4", "leaf5"],
        "data": {"ratio": 8.0, "up_bps": 1_600_000_000_000},
        "fixable": "no",
        "cause": cause_fingerprint(found),
    }


def test_what_is_unknown_is_null() -> None:
    (entry,) = parsed(json_text(sample(finding(Origin("other.yaml", ("a", 0))))))["findings"]
    nulls = {key for key, value in entry.items() if value is None}
    assert nulls == {"note", "help", "url", "line", "column", "end_line", "end_column", "origin"}
    assert entry["path"] == ["a", 0]


def test_other_places_and_the_intent_key_are_objects() -> None:
    found = on_switch(
        "PORT",
        "Ethernet0",
        "mtu",
        related=(RelatedPlace(Origin("leaf1.json", ("PORT", "Ethernet4", "mtu")), "the other end"),),
        via=Origin("fabric.yaml", ("classes", "cnp", "dscp")),
    )
    (entry,) = parsed(json_text(sample(found)))["findings"]
    assert entry["object"] == "PORT|Ethernet0|mtu"
    assert entry["related"] == [
        {
            "file": "leaf1.json",
            "path": ["PORT", "Ethernet4", "mtu"],
            "line": 7,
            "column": 14,
            "message": "the other end",
        }
    ]
    assert entry["origin"] == {
        "file": "fabric.yaml",
        "path": ["classes", "cnp", "dscp"],
        "object": "classes.cnp.dscp",
        "line": 7,
        "column": 19,
    }


def test_errors_and_counts() -> None:
    run = sample(
        on_switch("PORT", severity="warning"),
        errors=(Problem("b.yaml", 3, 4, "x"), Problem("./a.yaml", None, None, "no such file")),
        not_checked=(UncheckedRule("CLS001", "no map", 3),),
        baselined=2,
    )
    report = parsed(json_text(run))
    assert report["errors"] == [
        {"file": "a.yaml", "line": None, "column": None, "message": "no such file"},
        {"file": "b.yaml", "line": 3, "column": 4, "message": "x"},
    ]
    assert report["summary"] == {
        "error": 0,
        "warning": 1,
        "info": 0,
        "suppressed": 0,
        "baselined": 2,
        "not_checked": 3,
        "files": 2,
        "causes": 1,
        "excluded": 0,
        "skipped": 0,
        "ports_without_rdma": 0,
    }


def test_the_order_of_findings_and_errors_does_not_matter() -> None:
    findings = [
        on_switch("PORT", "Ethernet0", "mtu"),
        on_switch("PORT", "Ethernet0", "mtu", message="another"),
        on_switch("PORT", "Ethernet4", severity="info"),
        oversubscribed(),
    ]
    errors = [Problem("b", 1, 1, "x"), Problem("b", 1, 1, "a"), Problem("a", None, None, "z")]
    texts = {
        json_text(sample(*order, errors=tuple(problems)))
        for order, problems in zip(
            itertools.permutations(findings), itertools.cycle(itertools.permutations(errors)), strict=False
        )
    }
    assert len(texts) == 1


def test_the_object_is_ascii_whatever_the_names() -> None:
    text = json_text(sample(finding(Origin("f\u00e4b\udcff.yaml"), message="\u00b5s \u202e")))
    assert text.isascii()
    assert parsed(text)["findings"][0]["message"] == "\u00b5s \u202e"
