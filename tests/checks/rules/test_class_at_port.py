"""CLS016: what of a port of EOS makes a named class lossy, by the command that does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import Options, lint_documents
from lossless.checks.rules.base import MissingInput, Violation
from lossless.checks.rules.classification.cls016_class_lossy_at_port import on_switch
from lossless.checks.rules.subjects import SwitchConfiguration
from lossless.formats.inputs.switches import configuration_in, fabric_of_switches, read_switch
from lossless.model.fabric.qos import UNREADABLE
from lossless.model.fabric.view import View
from tests.checks.rules.snippets import BASES

if TYPE_CHECKING:
    from lossless.api import Report
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.model import Switch

LEAF = (BASES / "switch-leaf.txt").read_text()
PORT = "interface Ethernet1\n   mtu 9214\n   no switchport\n   qos trust dscp\n   service-profile ROCE\n"
SECOND = PORT.replace("Ethernet1", "Ethernet2")
assert PORT in LEAF


def leaf(*changes: tuple[str, str], ports: str = PORT) -> Document:
    """Return the leaf with some lines changed, and with other ports."""
    text = LEAF.replace(PORT, ports)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    document = configuration_in(text, "leaf1.txt")
    assert document is not None
    return document


def linted(document: Document, *dscps: int) -> Report:
    return lint_documents([document], Options(rdma_dscps=dscps))


def found(document: Document, *dscps: int) -> list[dict[str, Any]]:
    """Return what the rule says of a leaf, with the ports that it names."""
    findings = (finding for finding in linted(document, *dscps).findings if finding.code == "CLS016")
    return [
        {**json.loads(json.dumps(dict(f.data))), "on": [*f.elements], "severity": f.severity}
        for f in findings
    ]


def on(*names: str, **data: Any) -> dict[str, Any]:
    return {"severity": "error", **data, "on": [f"leaf1:{name}" for name in names]}


FAULTS: dict[str, tuple[Document, list[dict[str, Any]]]] = {
    "nothing": (leaf(), []),
    "no trust": (
        leaf(("   qos trust dscp\n", "   qos trust cos\n")),
        [on("Ethernet1", cause="trust", dscp=26)],
    ),
    "PFC off": (
        leaf(("   service-profile ROCE\n", "   service-profile ROCE\n   no priority-flow-control\n")),
        [on("Ethernet1", cause="pause", dscp=26)],
    ),
    "PFC off at the second port": (
        leaf(ports=PORT + SECOND + "   no priority-flow-control\n"),
        [on("Ethernet2", cause="pause", dscp=26)],
    ),
    "the second port without any line of a class": (
        leaf(ports=f"{PORT}interface Ethernet2\n   no switchport\n"),
        [],
    ),
    "the second port down": (
        leaf(ports=f"{PORT}{SECOND}   no priority-flow-control\n   shutdown\n"),
        [],
    ),
    "both ports without trust": (
        leaf(("   qos trust dscp\n", "   qos trust cos\n"), ports=PORT + SECOND),
        [on("Ethernet1", "Ethernet2", cause="trust", dscp=26)],
    ),
    "another priority is no-drop": (
        leaf(("priority 3 no-drop", "priority 4 no-drop")),
        [],
    ),
    "an MTU that RDMA's packets just fit": (leaf(("mtu 9214", "mtu 4156")), []),
    "an MTU of a byte less": (
        leaf(("mtu 9214", "mtu 4155")),
        [on("Ethernet1", cause="mtu", mtu=4155)],
    ),
    "PFC nowhere": (
        leaf(("   priority-flow-control on\n", ""), ("   priority-flow-control priority 3 no-drop\n", "")),
        [on("Ethernet1", cause="nowhere", dscps=[26])],
    ),
    "a class that nothing configures": (
        leaf(ports="interface Ethernet1\n   no switchport\n"),
        [on("Ethernet1", cause="nowhere", dscps=[26])],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_makes_a_named_class_lossy_at_a_port(name: str) -> None:
    document, expected = FAULTS[name]
    assert found(document, 26) == expected


def test_two_classes_are_followed_each_by_itself() -> None:
    untrusted = leaf(("qos trust dscp", "qos trust cos"))
    assert [one["dscp"] for one in found(untrusted, 26, 48)] == [26, 48]
    assert [one["dscp"] for one in found(untrusted, 48)] == [48]


def test_without_a_name_an_mtu_is_a_warning_and_nothing_else_is_said() -> None:
    small = ("mtu 9214", "mtu 1500")
    assert found(leaf(small)) == [{**on("Ethernet1", cause="mtu", mtu=1500), "severity": "warning"}]
    assert found(leaf(small, ("   service-profile ROCE\n", ""))) == []
    assert found(leaf(("qos trust dscp", "qos trust cos"))) == []


def read(document: Document, *, dscps: tuple[int, ...] = (26,)) -> ReadSwitch:
    return read_switch(document, dscps).read


def results(have: ReadSwitch, want: Switch | None = None) -> list[str]:
    """Return causes with their port, and the reasons for what is not checked."""
    view = View(fabric_of_switches((have.switch,), ("leaf1.txt",)))
    found = [*on_switch(SwitchConfiguration(have, view, want))]
    causes = [f"{r.data['cause']} {','.join(r.elements)}" for r in found if isinstance(r, Violation)]
    return causes + [r.reason for r in found if isinstance(r, MissingInput)]


BOTH = PORT + SECOND
OFF = "   no priority-flow-control\n"
WANTED = read(leaf(ports=BOTH)).switch


class TestBesideAnIntent:
    """The ports are those that links of the intent use; here another leaf stands for it."""

    @pytest.mark.parametrize(
        ("ports", "expected"),
        [
            (BOTH, []),
            (PORT + SECOND + OFF, ["pause leaf1:Ethernet2"]),
            (f"{PORT}interface Ethernet2\n   no switchport\n", ["pause leaf1:Ethernet2"]),
            (PORT, ["trust leaf1:Ethernet2"]),
            (BOTH + SECOND.replace("Ethernet2", "Ethernet3") + OFF, []),
            (f"{PORT}{SECOND}{OFF}   shutdown\n", []),
            (BOTH.replace("9214", "1500"), ["mtu leaf1:Ethernet1,leaf1:Ethernet2"]),
        ],
        ids=[
            "identical",
            "no PFC",
            "no line of a class",
            "no line at all",
            "a port beside",
            "down",
            "small MTU",
        ],
    )
    def test_the_ports_of_its_links_are_followed(self, ports: str, expected: list[str]) -> None:
        assert results(read(leaf(ports=ports)), WANTED) == expected

    @pytest.mark.parametrize("change", [{"admin_up": False}, {"placed": False}, {"qos": None}])
    def test_a_port_that_it_does_not_use_is_not_followed(self, change: dict[str, Any]) -> None:
        used = tuple(p._replace(**change) if p.name == "Ethernet2" else p for p in WANTED.ports)
        assert results(read(leaf(ports=PORT + SECOND + OFF)), WANTED._replace(ports=used)) == []

    def test_other_names_of_ports_are_not_checked(self) -> None:
        others = read(leaf(ports=PORT.replace("Ethernet1", "Ethernet7")))
        assert results(others._replace(rest=None), WANTED) == [
            "no port of the intent has its name in the configuration"
        ]
        assert results(read(leaf())._replace(rest=None), WANTED) == []

    @pytest.mark.parametrize(
        ("declared", "paused", "expected"),
        [
            (3, 3, []),
            (5, 3, ["priority leaf1:Ethernet1"]),
            (3, 4, ["pause leaf1:Ethernet1"]),
            (None, 3, []),
            (None, 4, ["entry leaf1:Ethernet1"]),
        ],
    )
    def test_it_declares_by_which_priority_a_class_is_paused(
        self, declared: int | None, paused: int, expected: list[str]
    ) -> None:
        (rdma,) = (cls for cls in WANTED.classes.lossless if 26 in cls.dscps)
        classes = WANTED.classes._replace(classes=(rdma._replace(priority=declared),))
        want = WANTED._replace(classes=classes, ports=WANTED.ports[:1])
        assert results(read(leaf(("priority 3 no-drop", f"priority {paused} no-drop"))), want) == expected


class TestNotChecked:
    """What the text does not state."""

    def test_maps_that_stand_elsewhere(self) -> None:
        unstated = read(leaf())._replace(unstated=frozenset({"Ethernet1"}))
        (reason,) = results(unstated)
        assert "another part of the configuration" in reason

    def test_a_traffic_class_that_is_unknown(self) -> None:
        have = read(leaf())
        (port,) = have.switch.ports
        assert port.qos is not None
        assert port.qos.dscp_to_tc is not None
        unknown = port.qos.dscp_to_tc._replace(targets=(UNREADABLE,) * 64)
        ports = (port._replace(qos=port.qos._replace(dscp_to_tc=unknown)),)
        assert results(have._replace(switch=have.switch._replace(ports=ports))) == [
            "the traffic class of DSCP 26 is not known"
        ]

    def test_pfc_that_a_protocol_decides(self) -> None:
        have = read(leaf(ports=PORT + SECOND + OFF))
        assert results(have) == ["pause leaf1:Ethernet2"]
        assert results(have._replace(undecided={"Ethernet2": "DCBX decides"})) == ["DCBX decides"]

    def test_what_a_name_refers_to_is_said_by_another_rule(self) -> None:
        dangling = leaf(("service-profile ROCE", "service-profile GONE"))
        assert found(dangling, 26) == []
        assert "CFG002" in {finding.code for finding in linted(dangling, 26).findings}

    def test_tags_that_no_text_shows(self) -> None:
        by_tags = read(leaf(("qos trust dscp", "qos trust cos")))
        assert results(by_tags) == ["trust leaf1:Ethernet1"]
        by_tags = by_tags._replace(untagged=frozenset())
        assert [reason[:23] for reason in results(by_tags)] == ["the port goes by 802.1p"]
        assert results(by_tags, WANTED._replace(ports=WANTED.ports[:1])) == ["trust leaf1:Ethernet1"]
