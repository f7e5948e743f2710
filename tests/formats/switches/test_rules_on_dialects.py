"""Each rule of fabrics finds its fault in a configuration of each system, or is in the table of those that cannot."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from lossless.api import Options, lint_documents
from lossless.checks.rules.rule_rows import ROWS
from lossless.formats.inputs.switches import configuration_in, read_switch
from lossless.formats.switches.registry import TITLES
from tests.paths import ROOT, RULE_BASES

LEAVES = {
    name: (RULE_BASES / file).read_text()
    for name, file in (("eos", "switch-leaf.txt"), ("nvue", "switch-nvue.txt"), ("nxos", "switch-nxos.txt"))
}
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


EOS = (
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
ROCE = "qos roce"
CURVE_OF_3 = "".join(
    f"nv set qos congestion-control default-global traffic-class 3 {words}\n"
    for words in ("ecn enable", "min-threshold {}", "max-threshold {}", "probability {}")
)
NVUE = (
    Case("CLS001", "nv set qos mapping default-global dscp 26 switch-priority 1\n", (26,)),
    Case("CLS002", "", (26,)),
    Case("CLS004", "nv set qos mapping plain trust port\nnv set interface swp1 qos mapping profile plain\n"),
    Case("CLS007", "nv set qos mapping default-global dscp 48 switch-priority 3\n"),
    Case("CLS012", "nv set qos mapping default-global dscp 0 switch-priority 3\n"),
    Case("CFG002", "nv set interface swp1 qos pfc profile missing\n"),
    Case("CFG013", "nv set qos pfc unused switch-priority 3\n"),
    Case(
        "CFG014",
        "nv set qos pfc default-global switch-priority 3\nnv set qos pfc default-global rx disable\n",
    ),
    Case("ECN001", "nv set qos congestion-control default-global traffic-class 3 ecn disable\n"),
    Case("ECN002", CURVE_OF_3.format(1000000, 1000000, 10)),
    Case("ECN003", CURVE_OF_3.format(1000000, 2000000, 0)),
    Case("ECN007", CURVE_OF_3.format(1000, 2000, 10)),
    Case("PFC001", "nv set qos pfc default-global switch-priority 3,4\n", (26,)),
    Case("PFC002", "nv set qos pfc default-global switch-priority 3,4,5\n"),
    Case("SCH001", "nv set qos egress-scheduler default-global traffic-class 3 bw-percent 2\n"),
    Case("SCH004", "nv set qos egress-scheduler default-global traffic-class 3 mode strict\n"),
    Case("WD001", "nv unset interface swp1-4 qos pfc-watchdog\n"),
)


def input_class(dscp: int, group: int) -> str:
    return (
        f"class-map type qos match-any C{dscp}\n  match dscp {dscp}\n"
        f"policy-map type qos CLASSIFY\n  class C{dscp}\n    set qos-group {group}\n"
    )


def network(number: int, *lines: str) -> str:
    below = "".join(f"    {line}\n" for line in lines)
    return f"policy-map type network-qos NETWORK\n  class type network-qos c-8q-nq{number}\n{below}"


def output(number: int, *lines: str) -> str:
    below = "".join(f"    {line}\n" for line in lines)
    return f"policy-map type queuing OUTPUT\n  class type queuing c-out-8q-q{number}\n{below}"


WRED = (
    "random-detect minimum-threshold {} kbytes maximum-threshold {} kbytes drop-probability {} weight 0 ecn"
)
PORT5 = "interface Ethernet1/5\n"
NXOS = (
    Case("CLS001", "", (34,)),
    Case("CLS002", input_class(27, 3), (26,)),
    Case("CLS004", f"{PORT5}  priority-flow-control mode on\n"),
    Case("CLS007", "class-map type qos match-any RDMA\n  match dscp 48\n"),
    Case("CLS012", input_class(0, 3)),
    Case("CFG002", f"{PORT5}  service-policy type qos input MISSING\n"),
    Case(
        "CFG013",
        "policy-map type queuing UNUSED\n  class type queuing c-out-8q-q3\n    bandwidth percent 9\n",
    ),
    Case(
        "CFG014",
        "policy-map type network-qos NETWORK\n  class type network-qos c-out-8q-q3\n    pause pfc-cos 3\n",
    ),
    Case("ECN001", "system qos\n  service-policy type queuing output EMPTY\npolicy-map type queuing EMPTY\n"),
    Case("ECN002", output(3, WRED.format(900, 900, 10))),
    Case("ECN003", output(3, WRED.format(500, 2000, 0))),
    Case("ECN007", output(3, WRED.format(1, 3, 10))),
    Case("PFC001", network(4, "pause pfc-cos 4"), (26,)),
    Case("PFC002", network(4, "pause pfc-cos 4") + network(5, "pause pfc-cos 5")),
    Case(
        "PFC018", "system qos\n  service-policy type network-qos PLAIN\npolicy-map type network-qos PLAIN\n"
    ),
    Case("SCH001", output(3, "bandwidth remaining percent 2") + output(1, "bandwidth remaining percent 97")),
    Case("SCH004", output(3, "priority level 1")),
    Case("WD001", f"{PORT5}  priority-flow-control mode on\n  service-policy type qos input CLASSIFY\n"),
)
BY_NAME = {"eos": EOS, "nvue": NVUE, "nxos": NXOS}
CASES = [pytest.param(name, case, id=f"{name} {case.code}") for name, of in BY_NAME.items() for case in of]
NOT_CASES = {"ECN009": "it compares ports of two speeds", "PFC018": "NVUE turns PFC on by naming priorities"}


def findings(name: str, lines: str, rdma_dscps: tuple[int, ...] = ()) -> list[tuple[str, str, str]]:
    document = configuration_in(LEAVES[name] + lines, "leaf1.cfg")
    assert document is not None
    assert document.dialect == name
    report = lint_documents([document], Options(rdma_dscps=rdma_dscps))
    assert report.errors == ()
    return [(finding.code, finding.message, finding.help) for finding in report.findings]


@pytest.mark.parametrize("name", TITLES)
def test_a_healthy_leaf_draws_nothing(name: str) -> None:
    assert findings(name, "") == []


@pytest.mark.parametrize(("name", "case"), CASES)
def test_each_rule_finds_its_fault(name: str, case: Case) -> None:
    assert case.code in {code for code, _, _ in findings(name, case.lines, case.rdma_dscps)}


@pytest.mark.parametrize(("name", "case"), CASES)
def test_nothing_is_said_in_the_words_of_sonic(name: str, case: Case) -> None:
    said = " ".join(text for finding in findings(name, case.lines, case.rdma_dscps) for text in finding[1:])
    assert re.findall(r"\b[A-Z]+_[A-Z_]+\b|\"[a-z_]+\":|pfcwd|SONiC|orchagent|_enable\b", said) == []


def not_applicable(name: str) -> set[str]:
    document = configuration_in(LEAVES[name], "leaf1.cfg")
    assert document is not None
    return set(read_switch(document).not_applicable)


@pytest.mark.parametrize("name", TITLES)
def test_every_rule_of_fabrics_has_a_case_or_a_reason(name: str) -> None:
    subjects = {"fabric", "buffers", "switch"}
    rules = {row.code for row in ROWS if subjects.intersection(row.subjects)}
    cases = {case.code for case in BY_NAME[name]}
    assert rules - cases - not_applicable(name) <= NOT_CASES.keys()
    assert not cases & not_applicable(name)


@pytest.mark.parametrize("name", TITLES)
def test_the_guide_lists_the_rules_that_cannot_say_anything(name: str) -> None:
    heading = f"Rules that say nothing of {TITLES[name].rpartition(' ')[2]}"
    page = (ROOT / "docs" / "dialects.md").read_text()
    section = page.partition(f"## {heading}")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|(.*?)\|", section, re.MULTILINE)[2:]
    assert {code for row in rows for code in re.findall(r"\[([A-Z]+[0-9]{3})\]", row)} == not_applicable(name)


def test_only_the_registry_and_their_folders_name_dialects() -> None:
    """Docstrings, comments and the readers of running state may: they are text, and another table."""
    named = re.compile("|".join(f'"{name}"' for name in TITLES))
    places = {
        path.relative_to(ROOT / "lossless").as_posix()
        for path in (ROOT / "lossless").rglob("*.py")
        if named.search(path.read_text(encoding="utf-8"))
    }
    assert {place for place in places if not place.startswith("formats/switches/")} == set()
