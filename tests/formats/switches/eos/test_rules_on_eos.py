"""Each rule of fabrics either finds its fault in a configuration of EOS, or is in the table of those that cannot."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from lossless.api import Options, lint_documents
from lossless.checks.rules.rule_rows import ROWS
from lossless.formats.inputs.switches import configuration_in, read_switch
from tests.paths import ROOT, RULE_BASES

LEAF = (RULE_BASES / "switch-leaf.txt").read_text()
CURVE = "random-detect ecn minimum-threshold {} maximum-threshold {} max-mark-probability {} weight 0"
SECOND = "interface Ethernet2\n   no switchport\n"


class Case(NamedTuple):
    """Lines behind those of a healthy leaf that draw one rule, and no other of its kind."""

    code: str
    lines: str
    rdma_dscps: tuple[int, ...] = ()


def profile(*lines: str) -> str:
    return "".join(f"{line}\n" for line in ("qos profile ROCE", *(f"   {line}" for line in lines)))


def queue(number: int, *lines: str) -> str:
    return profile(f"tx-queue {number}", *(f"   {line}" for line in lines))


CASES = (
    Case("CLS001", "qos map dscp 26 to traffic-class 1\n", (26,)),
    Case("CLS002", "", (26,)),
    Case("CLS004", "interface Ethernet2\n   switchport trunk allowed vlan 1\n   service-profile ROCE\n"),
    Case("CLS007", "qos map dscp 48 to traffic-class 3\n"),
    Case("CLS012", "qos map dscp 0 to traffic-class 3\n"),
    Case("CFG002", f"{SECOND}   service-profile MISSING\n"),
    Case("CFG013", "qos profile UNUSED\n   priority-flow-control on\n"),
    Case("CFG014", "priority-flow-control pause watchdog default timeout 99\n"),
    Case("ECN001", queue(3, "no random-detect ecn")),
    Case("ECN002", queue(3, CURVE.format("1 mbytes", "1 mbytes", 10))),
    Case("ECN003", queue(3, CURVE.format("1 mbytes", "2 mbytes", 0))),
    Case("ECN007", queue(3, CURVE.format("1 kbytes", "2 kbytes", 10))),
    Case("PFC001", profile("priority-flow-control priority 4 no-drop"), (26,)),
    Case("PFC002", profile(*(f"priority-flow-control priority {n} no-drop" for n in (2, 4, 5)))),
    Case("PFC018", f"{SECOND}   priority-flow-control on\n"),
    Case("SCH001", queue(3, "bandwidth percent 2") + queue(1, "no priority", "bandwidth percent 97")),
    Case("SCH004", queue(3, "priority strict")),
    Case("WD001", "interface Ethernet1\n   no priority-flow-control pause watchdog\n"),
    Case("WD006", "priority-flow-control pause watchdog default timeout 0.8\n"),
    Case("WD011", "priority-flow-control pause watchdog action notify-only\n"),
)
NOT_CASES = {"ECN009": "it compares ports of two speeds", "TOP": "fabrics of several devices"}


def findings(lines: str, rdma_dscps: tuple[int, ...] = ()) -> list[tuple[str, str, str]]:
    document = configuration_in(LEAF + lines, "leaf1.cfg")
    assert document is not None
    report = lint_documents([document], Options(rdma_dscps=rdma_dscps))
    assert report.errors == ()
    return [(finding.code, finding.message, finding.help) for finding in report.findings]


def test_a_healthy_leaf_draws_nothing() -> None:
    assert findings("") == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_each_rule_finds_its_fault(case: Case) -> None:
    assert case.code in {code for code, _, _ in findings(case.lines, case.rdma_dscps)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_nothing_is_said_in_the_words_of_sonic(case: Case) -> None:
    said = " ".join(text for finding in findings(case.lines, case.rdma_dscps) for text in finding[1:])
    assert re.findall(r"\b[A-Z]+_[A-Z_]+\b|\"[a-z_]+\":|pfcwd|SONiC|orchagent|_enable\b", said) == []


def test_every_rule_of_fabrics_has_a_case_or_a_reason() -> None:
    document = configuration_in(LEAF, "leaf1.cfg")
    assert document is not None
    reasons = read_switch(document).not_applicable
    subjects = {"fabric", "buffers", "switch"}
    rules = {row.code for row in ROWS if subjects.intersection(row.subjects)}
    assert rules - {case.code for case in CASES} - reasons.keys() == NOT_CASES.keys() & rules
    assert not {case.code for case in CASES} & reasons.keys()


def test_the_guide_lists_the_rules_that_cannot_say_anything() -> None:
    document = configuration_in(LEAF, "leaf1.cfg")
    assert document is not None
    page = (ROOT / "docs" / "dialects.md").read_text()
    section = page.partition("## Rules that say nothing of EOS")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\|.*?\|", section, re.MULTILINE)[2:])
    codes = {code for row in listed for code in re.findall(r"\[([A-Z]+[0-9]{3})\]", row)}
    assert codes == read_switch(document).not_applicable.keys()
