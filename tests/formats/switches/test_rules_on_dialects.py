"""Each rule of fabrics finds its fault in a configuration of each system, or is in the table of those that cannot.

A Bad example of a rule that is a configuration of a system is such a fault, and needs no case here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from lossless.api import Options, lint_documents
from lossless.checks.rules.compiled_rows import ROWS
from lossless.formats.inputs.switches import configuration_in
from lossless.formats.switches.registry import TITLES, dialect
from tests.checks.rules.recorded import bad_examples
from tests.paths import ROOT, RULE_BASES

BASES = {"eos": "switch-leaf", "nvue": "switch-nvue", "nxos": "switch-nxos"}
LEAVES = {name: (RULE_BASES / f"{base}.txt").read_text() for name, base in BASES.items()}
CURVE = "random-detect ecn minimum-threshold {} maximum-threshold {} max-mark-probability {} weight 0"


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
    Case("CLS007", "qos map dscp 48 to traffic-class 3\n"),
    Case("CLS009", "qos rewrite dscp\nqos map traffic-class 3 to dscp 8\n"),
    Case("CLS012", "qos map dscp 0 to traffic-class 3\n"),
    Case("CLS016", "interface Ethernet1\n   priority-flow-control priority 3 drop\n", (26,)),
    Case("ECN001", queue(3, "no random-detect ecn")),
    Case("ECN002", queue(3, CURVE.format("1 mbytes", "1 mbytes", 10))),
    Case("ECN003", queue(3, CURVE.format("1 mbytes", "2 mbytes", 0))),
    Case("ECN007", queue(3, CURVE.format("1 kbytes", "2 kbytes", 10))),
    Case("PFC001", profile("priority-flow-control priority 4 no-drop"), (26,)),
    Case("PFC002", profile(*(f"priority-flow-control priority {n} no-drop" for n in (2, 4, 5)))),
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
    Case(
        "CLS010",
        "nv set interface swp1 bridge domain br_default access 100\nnv set nve vxlan state enabled\n"
        "nv set nve vxlan encapsulation dscp action set\nnv set nve vxlan encapsulation dscp value 0\n",
    ),
    Case("CLS012", "nv set qos mapping default-global dscp 0 switch-priority 3\n"),
    Case("CLS016", "nv set interface swp2 link mtu 1500\n", (26,)),
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
    Case(
        "SCH005",
        "nv set qos egress-shaper slow traffic-class 3 max-rate 1000\n"
        "nv set interface swp1 qos egress-shaper profile slow\n",
    ),
    Case("WD001", "nv unset interface swp1-4 qos pfc-watchdog\n"),
)
NXOS_SECOND = "interface Ethernet1/2\n  no switchport\n  mtu 9216\n"
ON = "  priority-flow-control mode on\n"
WATCHED = "  priority-flow-control watch-dog-interval on\n"
MARKED = "  service-policy type qos input MARKS\n"


def of_class(kind: str, policy: str, name: str, *lines: str) -> str:
    opened = (f"policy-map type {kind} {policy}", f"  class type {kind} {name}")
    return "".join(f"{line}\n" for line in (*opened, *(f"    {line}" for line in lines)))


def of_queue(*lines: str) -> str:
    return of_class("queuing", "QUEUES", "c-out-8q-q3", *lines)


def no_drop(*priorities: int) -> str:
    return "".join(
        of_class("network-qos", "CLASSES", f"c-8q-nq{n}", "mtu 9216", f"pause pfc-cos {n}")
        for n in priorities
    )


NXOS_CURVE = "random-detect minimum-threshold {} maximum-threshold {} drop-probability {} weight 0 ecn"
NXOS = (
    Case("CLS001", of_class("qos", "MARKS", "RDMA", "set qos-group 1"), (26,)),
    Case("CLS002", "class-map type qos match-any RDMA\n  match dscp 27\n", (26,)),
    Case("CLS004", NXOS_SECOND + ON + WATCHED),
    Case("CLS007", of_class("qos", "MARKS", "CNP", "set qos-group 3")),
    Case("CLS009", of_class("qos", "MARKS", "RDMA", "set dscp cs1")),
    Case("CLS012", "class-map type qos match-any RDMA\n  match dscp 0\n"),
    Case("CLS016", "system qos\n  no service-policy type network-qos CLASSES\n", (26,)),
    Case("CFG002", NXOS_SECOND + "  service-policy type qos input MISSING\n"),
    Case("CFG013", of_class("qos", "UNUSED", "RDMA", "set qos-group 3")),
    Case("ECN001", of_queue("no random-detect")),
    Case("ECN003", of_queue(NXOS_CURVE.format("1 mbytes", "2 mbytes", 0))),
    Case("ECN007", of_queue(NXOS_CURVE.format("1 kbytes", "2 kbytes", 10))),
    Case("PFC001", no_drop(4), (26,)),
    Case("PFC002", no_drop(2, 4, 5)),
    Case("PFC018", "system qos\n  no service-policy type network-qos CLASSES\n"),
    Case(
        "SCH001",
        of_queue("bandwidth remaining percent 2")
        + of_class("queuing", "QUEUES", "c-out-8q-q-default", "bandwidth remaining percent 98"),
    ),
    Case("SCH004", of_queue("priority level 1")),
    Case("SCH005", of_queue("shape min 0 mbps max 100 mbps")),
    Case("WD001", "interface Ethernet1/1\n  no priority-flow-control watch-dog-interval\n"),
)
BY_NAME = {"eos": EOS, "nvue": NVUE, "nxos": NXOS}
EXAMPLES = [
    (name, Case(code, example.text, example.rdma_dscps))
    for _, code, example in bad_examples()
    for name, base in BASES.items()
    if example.base == base
]
CASES = [*((name, case) for name, of in BY_NAME.items() for case in of), *EXAMPLES]
CASE_IDS = [f"{name} {case.code}" for name, case in CASES]
NOT_CASES = {
    "BUF001": "headroom stands in no file that is read, and is not checked",
    "ECN009": "it compares ports of two speeds",
    "PFC018": "NVUE turns PFC on by naming priorities",
}


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


@pytest.mark.parametrize("name", TITLES)
def test_headroom_that_the_switch_computes_is_not_checked(name: str) -> None:
    document = configuration_in(LEAVES[name], "leaf1.cfg")
    assert document is not None
    unchecked = {left.code for left in lint_documents([document], Options()).not_checked}
    assert "BUF001" in unchecked


@pytest.mark.parametrize(("name", "case"), CASES, ids=CASE_IDS)
def test_each_rule_finds_its_fault(name: str, case: Case) -> None:
    assert case.code in {code for code, _, _ in findings(name, case.lines, case.rdma_dscps)}


KNOWN = (
    ("nxos", Case("CLS007", of_class("qos", "MARKS", "CNP", "set qos-group 0"))),
    ("nxos", Case("ECN002", of_queue(NXOS_CURVE.format("1 mbytes", "1 mbytes", 100)))),
    ("nxos", Case("WD001", "system qos\n  no service-policy type network-qos CLASSES\nno priority-flow-control "
                  "watch-dog-interval on\n")),
    ("nvue", Case("ECN002", CURVE_OF_3.format(1000000, 1000000, 100))),
)  # fmt: skip
"""What is no mistake, and worth knowing."""


@pytest.mark.parametrize(("name", "case"), KNOWN, ids=[f"{name} {case.code}" for name, case in KNOWN])
def test_what_is_no_mistake_is_an_info(name: str, case: Case) -> None:
    document = configuration_in(LEAVES[name] + case.lines, "leaf1.cfg")
    assert document is not None
    report = lint_documents([document], Options())
    assert [each.severity for each in report.findings if each.code == case.code] == ["info"]


@pytest.mark.parametrize(("name", "case"), CASES, ids=CASE_IDS)
def test_nothing_is_said_in_the_words_of_sonic(name: str, case: Case) -> None:
    said = " ".join(text for finding in findings(name, case.lines, case.rdma_dscps) for text in finding[1:])
    assert re.findall(r"\b[A-Z]+_[A-Z_]+\b|\"[a-z_]+\":|pfcwd|SONiC|orchagent|_enable\b", said) == []


@pytest.mark.parametrize("name", TITLES)
def test_every_rule_of_fabrics_has_a_case_or_a_reason(name: str) -> None:
    subjects = {"fabric", "buffers", "switch"}
    rules = {row.code for row in ROWS if subjects.intersection(row.subjects)}
    cases = {case.code for of, case in CASES if of == name}
    silent = dialect(name).not_applicable.keys()
    unsaid = rules - cases - silent - NOT_CASES.keys()
    assert not unsaid, (
        f"{unsaid}: neither a case of {name} in tests/formats/switches/test_rules_on_dialects.py, "
        f"nor in NOT_APPLICABLE of lossless/formats/switches/{name}/dialect.py"
    )
    assert not cases & silent
    assert silent <= rules


def test_only_the_registry_and_their_folders_name_dialects() -> None:
    """Docstrings, comments and the readers of running state may: they are text, and another table."""
    named = re.compile("|".join(f'"{name}"' for name in TITLES))
    places = {
        path.relative_to(ROOT / "lossless").as_posix()
        for path in (ROOT / "lossless").rglob("*.py")
        if named.search(path.read_text(encoding="utf-8"))
    }
    assert {place for place in places if not place.startswith("formats/switches/")} == set()
