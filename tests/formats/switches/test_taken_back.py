"""Commands of EOS, NVUE and NX-OS are read in their order: what a later one takes back is not set any more."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from lossless.api import Options, lint_documents
from lossless.formats.inputs.switches import configuration_in, read_switch
from tests.formats.switches.test_rules_on_dialects import LEAVES


class TakenBack(NamedTuple):
    """Lines behind those of a healthy leaf, and lines that take them back: below the same modes, which are left out."""

    system: str
    modes: tuple[str, ...]
    line: str
    back: str


PORT, QUEUE = ("interface Ethernet1",), ("qos profile ROCE", "   tx-queue 3")
NX_PORT = ("interface Ethernet1/1",)
NX_QUEUE = ("policy-map type queuing QUEUES", "  class type queuing c-out-8q-q3")
CASES = (
    TakenBack("eos", (), "qos map dscp 26 to traffic-class 1", "no qos map dscp 26 to traffic-class"),
    TakenBack("eos", (), "qos map dscp 20-29 to traffic-class 1", "default qos map dscp 20-29"),
    TakenBack("eos", (), "qos map traffic-class 3 to tx-queue 1", "no qos map traffic-class 3 to tx-queue"),
    TakenBack("eos", (), "qos map traffic-class 3 to uc-tx-queue 1", "default qos map traffic-class 3"),
    TakenBack("eos", (), "priority-flow-control all off", "no priority-flow-control all off"),
    TakenBack("eos", PORT, "   qos trust cos", "   default qos trust"),
    TakenBack("eos", PORT, "   priority-flow-control priority 3 drop", "   default priority-flow-control priority 3"),
    TakenBack("eos", PORT, "   priority-flow-control off", "   default priority-flow-control"),
    TakenBack("eos", PORT, "   service-policy type qos input NONE", "   default service-policy type qos input"),
    TakenBack("eos", PORT, "   shutdown", "   default shutdown"),
    TakenBack("eos", QUEUE, "      shape rate 1000 kbps", "      no shape rate"),
    TakenBack("eos", QUEUE, "      priority strict", "      no priority strict"),
    TakenBack("eos", ("qos profile OTHER",), "   priority-flow-control on", "no qos profile OTHER"),
    TakenBack("nxos", (), "priority-flow-control override-interface mode off",
              "no priority-flow-control override-interface mode off"),
    TakenBack("nxos", NX_PORT, "  storm-control unicast level 5", "  no storm-control unicast level"),
    TakenBack("nxos", NX_PORT, "  flowcontrol receive on", "  no flowcontrol receive on"),
    TakenBack("nxos", NX_QUEUE, "    shape min 0 kbps max 1000 kbps", "    no shape min 0 kbps max 1000 kbps"),
    TakenBack("nxos", ("class-map type qos match-any RDMA",), "  match dscp 48", "  no match dscp 48"),
    TakenBack("nxos", ("policy-map type qos MARKS",), "  class OTHER", "  no class OTHER"),
    TakenBack("nxos", ("policy-map type qos OTHER",), "  class RDMA", "no policy-map type qos OTHER"),
    TakenBack("nxos", (), "class-map type qos match-any OTHER", "no class-map type qos match-any OTHER"),
    TakenBack("nvue", (), "nv set qos pfc default-global switch-priority 4", "nv unset qos pfc default-global"),
    TakenBack("nvue", (), "nv set qos mapping default-global trust l2", "nv unset qos mapping"),
)  # fmt: skip


def findings(system: str, lines: str) -> list[tuple[str, str]]:
    document = configuration_in(LEAVES[system] + lines, "leaf1.cfg")
    assert document is not None
    report = lint_documents([document], Options(rdma_dscps=(26,)))
    assert report.errors == ()
    return sorted((finding.code, finding.message) for finding in report.findings)


def below(case: TakenBack, line: str) -> str:
    modes = case.modes if line.startswith(" ") else ()
    return "".join(f"{each}\n" for each in (*modes, line))


@pytest.mark.parametrize("case", CASES, ids=[f"{case.system}: {case.back.strip()}" for case in CASES])
def test_what_is_taken_back_has_no_effect(case: TakenBack) -> None:
    line = below(case, case.line) if case.line.startswith(" ") else f"{case.line}\n"
    stated = findings(case.system, line + below(case, case.back))
    assert stated == findings(case.system, "")
    again = f"{line}{below(case, case.back)}{line}"
    assert findings(case.system, again) == findings(case.system, line), "the last line decides"


LEFT = (
    ("eos", "no qos profile ROCE\n", "CFG002"),
    ("eos", "interface Ethernet1\n   no service-profile ROCE\n", "CLS016"),
    ("eos", "default interface Ethernet1\n", "CLS016"),
    ("eos", "interface Ethernet1\n   no priority-flow-control mode on\n", "CLS016"),
    ("eos", "no priority-flow-control pause watchdog default timeout\n", "WD001"),
    ("eos", "qos profile ROCE\n   no tx-queue 3\n", "ECN001"),
    ("nxos", "no policy-map type network-qos CLASSES\n", "CFG002"),
    ("nxos", "policy-map type qos MARKS\n  no class RDMA\n", "CLS001"),
    ("nxos", "class-map type qos match-any RDMA\n  no match dscp 26\n", "CLS001"),
    ("nvue", "nv set qos pfc ROCE switch-priority 3\nnv set interface swp1 qos pfc profile ROCE\nnv unset qos\n",
     "CFG002"),
    ("nvue", "nv unset qos\n", "CLS016"),
)  # fmt: skip


@pytest.mark.parametrize(("system", "lines", "code"), LEFT)
def test_a_lossless_class_that_is_taken_back_is_found(system: str, lines: str, code: str) -> None:
    assert code in {found for found, _ in findings(system, lines)}


def test_an_interface_with_its_defaults_is_outside_and_counted() -> None:
    second = "interface Ethernet2\n   no switchport\n   service-profile ROCE\n"
    document = configuration_in(LEAVES["eos"] + second + "default interface Ethernet2\n", "leaf1.cfg")
    assert document is not None
    report = lint_documents([document], Options(rdma_dscps=(26,)))
    assert report.ports_without_rdma == 1
    assert [finding for finding in report.findings if finding.severity == "error"] == []


def test_match_all_needs_every_mark_and_match_any_one() -> None:
    text = LEAVES["nxos"].replace("match dscp 26", "match dscp 26\n  match cos 3")
    unknown = {}
    for match in ("match-any", "match-all"):
        document = configuration_in(text.replace("match-any RDMA", f"{match} RDMA"), "leaf1.cfg")
        assert document is not None
        read = read_switch(document).read
        port = read.switch.ports[0]
        assert port.qos is not None
        unknown[match] = port.qos.traffic_class(26)
    assert unknown == {"match-any": 3, "match-all": -1}
