"""What runs are blamed on, from what they showed: made up here, so that no traffic is run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.simulation_facts import (
    EgressRefusal,
    HeadroomUse,
    LongestPause,
    PeerResponse,
    PortRef,
    SimulationCause,
    SimulationFacts,
)
from lossless.checks.rules.base import MissingInput, Violation
from lossless.checks.rules.simulation.root_causes import view_of
from lossless.checks.rules.simulation.run_violations import violations
from lossless.checks.rules.subjects import SimulationRun
from lossless.ground.basics.findings import Finding, Origin
from tests.analysis.simulation.fabrics import HOST_PROFILE, UPLINK_PROFILE, declared, seen_as
from tests.checks.rules.checking import patched

if TYPE_CHECKING:
    from lossless.analysis.buffers.simulation_facts import CauseKind
    from lossless.analysis.buffers.verdict import BufferVerdict
    from lossless.ground.basics.findings import Severity
    from lossless.model.fabric.view import View

HOST_XOFF = f"BUFFER_PROFILE/{HOST_PROFILE}/xoff"
UPLINK_XOFF = f"BUFFER_PROFILE/{UPLINK_PROFILE}/xoff"
SHARED: dict[str, Any] = {"BUFFER_POOL": {"ingress_lossless_pool": {"xoff": "30000"}}}
MADE_UP = "made up"
SEEN = "as seen"
"""What a run is and what it showed, in words that findings pass on."""
THE_CLASS = "PORT_QOS_MAP"
"""Where PFC is turned on, which is blamed where nothing else is known."""


def leaf(**patch: Any) -> View:
    """Return a deployed leaf with two ports of 400G and one of 800G."""
    return seen_as(patched("leaf.json", patch))


def use(
    port: str,
    needed: int | None = 2000,
    *,
    used: int = 1000,
    drops: int = 3,
    seeds: tuple[int, ...] = (1,),
    switch: str = "leaf1",
) -> HeadroomUse:
    """Return what was used of a headroom of 1000 B."""
    return HeadroomUse(PortRef(switch, port), 1000, used, needed, drops, frozenset(seeds))


def refusal(port: str, *seeds: int) -> EgressRefusal:
    return EgressRefusal(PortRef("leaf1", port), frozenset(seeds))


def results(
    view: View,
    kind: CauseKind,
    verdict: BufferVerdict = "unsafe",
    findings: tuple[Finding, ...] = (),
    **facts: Any,
) -> list[Violation | MissingInput]:
    cause = SimulationCause(kind, verdict, SEEN, 1)
    run = SimulationFacts(view, MADE_UP, priority=3, seeds=4, causes=(cause,), **facts)
    severity: Severity = "error" if verdict == "unsafe" else "warning"
    return list(violations(SimulationRun(run, findings), verdict, severity))


def found(*args: Any, **facts: Any) -> list[Violation]:
    return [result for result in results(*args, **facts) if isinstance(result, Violation)]


def reported(code: str, severity: Severity, origin: Origin) -> Finding:
    return Finding(code, "", severity, "high", "said already", origin)


def place(violation: Violation) -> str:
    return "/".join(map(str, violation.origin.path))


def numbers(text: str) -> list[int]:
    """Return the numbers in a text: of what is advised they are in no other field."""
    return [int(digits.replace(",", "")) for digits in re.findall(r"\d[\d,]*", text)]


def blamed(*args: Any, **facts: Any) -> list[tuple[str, list[int]]]:
    """Return the place of each finding, and the numbers that its help advises."""
    return [(place(violation), numbers(violation.help)) for violation in found(*args, **facts)]


class TestHeadroom:
    """Groups whose own headroom runs out."""

    def test_ports_of_one_profile_are_one_finding_with_the_worst_of_each_number(self) -> None:
        uses = (
            use("Ethernet0", 5000, used=900, seeds=(1, 2)),
            use("Ethernet4", 9000, used=990, drops=7, seeds=(2, 3)),
            use("Ethernet8", None, drops=1),
        )
        of_hosts, of_uplink = found(leaf(), "drop", short=uses)
        assert (place(of_hosts), place(of_uplink)) == (HOST_XOFF, UPLINK_XOFF)
        assert (of_hosts.elements, of_hosts.note) == (("leaf1:Ethernet0", "leaf1:Ethernet4"), MADE_UP)
        assert of_hosts.data == {
            "seeds": 4, "seeds_with_drops": 3, "drops": 7, "given_bytes": 1000, "used_bytes": 990,
            "margin_bytes": 10, "need_bytes": 9000,
        }  # fmt: skip
        assert of_hosts.severity is None
        assert (numbers(of_uplink.help), of_uplink.data["need_bytes"]) == ([], None)

    @pytest.mark.parametrize(("needed", "advice"), [(231_424, [231_424]), (231_425, [231_425, 250_881])])
    def test_the_row_of_the_vendor_is_proposed_where_it_is_enough(
        self, needed: int, advice: list[int]
    ) -> None:
        assert blamed(leaf(), "drop", short=(use("Ethernet0", needed),)) == [(HOST_XOFF, advice)]

    def test_what_most_is_needed_anywhere_is_proposed(self) -> None:
        uses = use("Ethernet0", 300_000), use("Ethernet4", 500_000), use("Ethernet4", None)
        assert blamed(leaf(), "drop", short=uses) == [(HOST_XOFF, [500_000, 519_456])]

    def test_size_holds_xon_too_unless_there_is_none(self) -> None:
        without = leaf(BUFFER_PROFILE={HOST_PROFILE: {"xon": "0", "size": "231424"}})
        assert blamed(without, "drop", short=(use("Ethernet0", 300_000),)) == [
            (HOST_XOFF, [300_000, 300_000])
        ]

    @pytest.mark.parametrize(("size", "advice"), [("319456", []), ("319455", [319_456])])
    def test_a_size_that_is_large_enough_stays(self, size: str, advice: list[int]) -> None:
        roomy = leaf(BUFFER_PROFILE={HOST_PROFILE: {"size": size}})
        assert blamed(roomy, "drop", short=(use("Ethernet0", 300_000),)) == [(HOST_XOFF, [300_000, *advice])]

    def test_size_holds_no_headroom_that_a_pool_lends(self) -> None:
        assert blamed(leaf(**SHARED), "drop", short=(use("Ethernet0", 300_000),)) == [(HOST_XOFF, [300_000])]

    def test_a_lossy_profile_and_a_group_that_nobody_configured_and_a_port_that_is_not_there(self) -> None:
        lossy = {"Ethernet0|3": None, "Ethernet4|3": {"profile": "ingress_lossy_profile"}}
        # buffermgrd puts a lossless profile in the place of a lossy one, unless the port has no length.
        view = leaf(BUFFER_PG=lossy, CABLE_LENGTH={"AZURE": {"Ethernet4": "0m"}})
        uses = use("Ethernet0"), use("Ethernet4"), use("Ethernet99")
        assert blamed(view, "drop", short=uses) == [
            (HOST_XOFF, [231_424]),
            ("BUFFER_PROFILE/ingress_lossy_profile", [2000, 2000]),
            (THE_CLASS, []),
        ]

    def test_a_group_that_cannot_be_read_is_not_blamed(self) -> None:
        unread = {"AZURE": {"3": "x"}}
        view = leaf(TC_TO_PRIORITY_GROUP_MAP=unread, TC_TO_QUEUE_MAP=unread, PORT=None)
        assert blamed(view, "drop", short=(use("Ethernet0"),)) == [(THE_CLASS, [])]
        ((where, _),) = blamed(view, "drop", refusing=(refusal("Ethernet0", 1),))
        assert where == THE_CLASS

    def test_how_long_peers_take_is_said_where_it_matters(self) -> None:
        (violation,) = found(leaf(), "drop", short=(use("Ethernet0"),), obeyed=PeerResponse(1234.4, 567.6))
        assert {1234, 568} <= {*numbers(violation.message)}

    def test_of_an_intent_the_hardware_is_blamed(self) -> None:
        (violation,) = found(declared(), "drop", short=(use("Ethernet0"),))
        assert (place(violation), numbers(violation.help), violation.severity) == (
            "hardware/leaf",
            [2000],
            None,
        )

    def test_a_link_without_pfc_is_blamed_on_the_tiers_that_have_it(self) -> None:
        (violation,) = found(declared({"pfc": {"tiers": ["hosts"]}}), "drop", short=(use("Ethernet32"),))
        assert place(violation) == "pfc/tiers"


class TestBuffers:
    """Chips that are full, and headroom that groups share."""

    def test_a_group_that_has_what_it_needs_drops_where_the_chip_is_full(self) -> None:
        of_group, of_chip = found(leaf(), "drop", short=(use("Ethernet0", 1000), use("Ethernet4", 1001)))
        assert (place(of_group), of_group.elements) == (HOST_XOFF, ("leaf1:Ethernet4",))
        assert (place(of_chip), of_chip.elements) == (
            "BUFFER_POOL/ingress_lossless_pool/size",
            ("leaf1:Ethernet0",),
        )
        assert of_chip.data["need_bytes"] == of_chip.data["given_bytes"] == 1000

    def test_without_a_profile_the_class_is_blamed(self) -> None:
        gone = use("Ethernet99", 1000)
        assert place(*found(leaf(), "drop", short=(gone,))) == THE_CLASS
        (violation,) = found(leaf(), "drop", short=(gone,), pools=(("leaf1", 3),))
        assert (place(violation), violation.data["pool_left_bytes"]) == (THE_CLASS, 3)

    def test_of_shared_headroom_the_least_that_was_left_on_switches_that_drop_counts(self) -> None:
        uses = use("Ethernet0"), use("Ethernet8", 3000, switch="leaf2")
        (violation,) = found(
            declared(), "drop", short=uses, pools=(("leaf1", 100), ("leaf2", 50), ("spine1", 7))
        )
        assert violation.data["pool_left_bytes"] == 50
        assert violation.elements == ("leaf1:Ethernet0", "leaf2:Ethernet8")

    def test_headroom_is_shared_on_some_switches_and_a_groups_own_on_others(self) -> None:
        uses = use("Ethernet0"), use("Ethernet8", 3000, switch="leaf2")
        places = [place(one) for one in found(declared(), "drop", short=uses, pools=(("leaf1", 100),))]
        assert places == ["hardware/leaf", "topology"]

    def test_xoff_of_the_pool_of_a_device_is_blamed(self) -> None:
        (violation,) = found(leaf(**SHARED), "drop", short=(use("Ethernet0"),), pools=(("leaf1", 100),))
        assert place(violation) == "BUFFER_POOL/ingress_lossless_pool/xoff"

    def test_pools_of_which_little_was_left_are_one_finding_with_the_least(self) -> None:
        pools = ("leaf1", 100), ("leaf2", 50), ("spine1", 60), ("gone", 7)
        (violation,) = found(declared(), "headroom pool", "on the edge", pools=pools)
        assert violation.data["pool_left_bytes"] == 50
        assert violation.elements == ("leaf1:Ethernet0", "leaf2:Ethernet0", "spine1:Ethernet0")
        assert (violation.severity, violation.data) == (None, {"seeds": 4, "pool_left_bytes": 50})
        (violation,) = found(leaf(**SHARED), "headroom pool", "on the edge", pools=(("leaf1", -3),))
        assert violation.data == {"seeds": 4, "pool_left_bytes": -3}


class TestTightHeadroom:
    """SIM002: nothing was dropped, and less than a frame was left."""

    def test_the_port_with_least_is_named_and_the_vendors_own_is_information(self) -> None:
        uses = use("Ethernet0", 1500, used=995, drops=0), use("Ethernet4", 1600, used=998, drops=0)
        (violation,) = found(leaf(), "headroom", "on the edge", short=uses)
        assert violation.data["margin_bytes"] == 2
        assert (violation.severity, violation.data["used_bytes"]) == ("info", 998)
        (violation,) = found(declared(), "headroom", "on the edge", short=uses)
        assert violation.severity == "info"

    def test_below_the_vendors_row_it_is_a_warning(self) -> None:
        below = leaf(BUFFER_PROFILE={HOST_PROFILE: {"xoff": "231423"}})
        (violation,) = found(below, "headroom", "on the edge", short=(use("Ethernet0", drops=0),))
        assert violation.severity is None

    def test_without_a_row_of_the_vendor_it_is_a_warning(self) -> None:
        unknown = leaf(DEVICE_METADATA={"localhost": {"hwsku": "unknown"}})
        (violation,) = found(unknown, "headroom", "on the edge", short=(use("Ethernet0", 1500, drops=0),))
        assert (violation.severity, numbers(violation.help)) == (None, [1500])

    def test_without_a_cable_length_it_is_a_warning(self) -> None:
        (violation,) = found(leaf(CABLE_LENGTH=None), "headroom", "on the edge", short=(use("Ethernet0"),))
        assert violation.severity is None

    def test_more_than_all_that_was_used_is_nothing_left(self) -> None:
        (violation,) = found(leaf(), "headroom", "on the edge", short=(use("Ethernet0", used=1002, drops=0),))
        assert violation.data["margin_bytes"] == -2


class TestQueues:
    """Queues that refuse what PFC should have held back."""

    def test_an_unbounded_queue_fills_its_pool(self) -> None:
        (violation,) = found(
            leaf(), "drop", refusing=(refusal("Ethernet0", 1, 2), refusal("Ethernet4", 2, 3))
        )
        assert place(violation) == "BUFFER_POOL/egress_lossless_pool/size"
        assert violation.data == {"seeds": 4, "seeds_with_drops": 3}
        assert place(*found(declared(), "drop", refusing=(refusal("Ethernet0", 1),))) == "topology"

    def test_alpha_of_a_queue(self) -> None:
        low = leaf(BUFFER_PROFILE={"egress_lossless_profile": {"dynamic_th": "-6"}})
        assert blamed(low, "drop", refusing=(refusal("Ethernet0", 1),)) == [
            (
                "BUFFER_PROFILE/egress_lossless_profile/dynamic_th",
                [7],
            )
        ]

    def test_a_static_threshold_of_half_a_pool_is_left_open_and_a_lower_one_blamed(self) -> None:
        half = {"pool": "egress_lossless_pool", "size": "0", "static_th": "79114752"}
        view = leaf(
            BUFFER_POOL={"egress_lossless_pool": {"mode": "static"}},
            BUFFER_PROFILE={
                "egress_lossless_profile": {"dynamic_th": None, "static_th": "200000"},
                "half": half,
            },
            BUFFER_QUEUE={"Ethernet0|3": {"profile": "half"}},
        )
        open_, blamed_ = results(view, "drop", refusing=(refusal("Ethernet0", 1), refusal("Ethernet4", 2)))
        assert isinstance(open_, MissingInput)
        assert open_.reason.startswith("a queue of half its pool drops in the model")
        assert isinstance(blamed_, Violation)
        assert place(blamed_) == "BUFFER_PROFILE/egress_lossless_profile/static_th"
        assert blamed_.elements == ("leaf1:Ethernet4",)
        # What another verdict leaves open is not repeated.
        cause = SimulationCause("drop", "unsafe", "as seen", 1)
        facts = SimulationFacts(
            view, seeds=4, priority=3, causes=(cause,), refusing=(refusal("Ethernet0", 1),)
        )
        assert list(violations(SimulationRun(facts), "on the edge", "warning")) == []

    def test_wred_that_drops_and_a_queue_without_a_profile(self) -> None:
        wred = leaf(WRED_PROFILE={"AZURE_LOSSLESS": {"ecn": "ecn_none"}})
        assert blamed(wred, "drop", refusing=(refusal("Ethernet0", 1),)) == [
            ("WRED_PROFILE/AZURE_LOSSLESS/ecn", [])
        ]
        bare = leaf(BUFFER_QUEUE={"Ethernet0|3": {"profile": "gone"}}, QUEUE={"Ethernet4|3": None})
        refusing = refusal("Ethernet0", 1), refusal("Ethernet4", 2)
        assert [where for where, _ in blamed(bare, "drop", refusing=refusing)] == [
            "QUEUE/Ethernet0|3",
            "BUFFER_POOL/egress_lossless_pool/size",
        ]


class TestOtherCauses:
    """Storms, pauses, deadlocks, and frames that are dropped nobody knows where."""

    def test_the_watchdog_of_another_port_is_blamed_where_a_port_has_none(self) -> None:
        stopped = PortRef("leaf1", "Ethernet0"), PortRef("leaf1", "Ethernet99")
        one = leaf(PFC_WD={"Ethernet0": None})
        assert [place(violation) for violation in found(one, "storm", stopped=stopped)] == [
            "PFC_WD/Ethernet4/detection_time",
            THE_CLASS,
        ]
        (violation,) = found(leaf(PFC_WD=None), "storm", stopped=stopped)
        assert place(violation) == THE_CLASS
        assert violation.data == {"seeds": 4, "seeds_with_storms": 1}

    def test_a_pause_where_there_is_no_watchdog(self) -> None:
        pause = LongestPause(3.5, None)
        (violation,) = found(leaf(PFC_WD=None), "pause", "on the edge", pause=pause)
        assert (place(violation), violation.message) == (THE_CLASS, SEEN)
        assert violation.data == {"seeds": 4, "longest_pause_ms": 3.5, "detection_ms": None}
        (violation,) = found(leaf(), "pause", "on the edge")
        assert (place(violation), violation.data) == ("PFC_WD/Ethernet0/detection_time", {"seeds": 4})
        (violation,) = found(declared(), "pause", "on the edge")
        assert place(violation) == "pfc/watchdog/detection"

    def test_a_deadlock_is_blamed_on_its_first_link(self) -> None:
        cycle = PortRef("leaf1", "Ethernet32"), PortRef("leaf1", "Ethernet0")
        (violation,) = found(declared(), "cycle", cycle=cycle)
        assert place(violation) == "topology/leaf_spine/uplinks"
        assert violation.elements == ("leaf1:Ethernet32", "leaf1:Ethernet0")
        assert violation.data == {"seeds": 4, "seeds_with_cycles": 1, "links": 2}
        assert place(*found(leaf(), "cycle", cycle=cycle)) == THE_CLASS

    def test_the_class_is_blamed_where_nothing_else_is_known(self) -> None:
        lossy = {port: {"pfc_enable": ""} for port in ("Ethernet0", "Ethernet4", "Ethernet8")}
        assert place(*found(declared(), "dead NIC")) == "classes/rdma"
        assert place(*found(leaf(), "dead NIC")) == THE_CLASS
        assert place(*found(leaf(PORT_QOS_MAP=lossy), "dead NIC")) == "DEVICE_METADATA"
        (violation,) = found(leaf(), "drop", short=(use("Ethernet0", drops=0),))
        assert (place(violation), violation.message) == (THE_CLASS, SEEN)

    def test_a_run_without_a_fabric_has_nothing_to_blame(self) -> None:
        with pytest.raises(ValueError, match="without a fabric"):
            view_of(SimulationFacts())


class TestReportedAlready:
    """What another rule says of the same object, at least as grave, is not said again."""

    SHORT = (use("Ethernet0"),)

    def is_left_out(
        self,
        path: str,
        severity: Severity = "error",
        code: str = "BUF002",
        *,
        view: View | None = None,
        verdict: BufferVerdict = "unsafe",
        file: str = "fabric.json",
        elements: tuple[str, ...] = (),
    ) -> bool:
        origin = Origin(file, tuple(path.split("/")))
        said = reported(code, severity, origin)._replace(elements=elements)
        other = reported("CFG001", "error", Origin("other.json", ("PORT", "Ethernet0")))
        kind: CauseKind = "drop" if verdict == "unsafe" else "headroom"
        return not results(view or leaf(), kind, verdict, (other, said), short=self.SHORT)

    def test_it_is_a_matter_of_severity(self) -> None:
        assert self.is_left_out(HOST_XOFF)
        assert not self.is_left_out(HOST_XOFF, "warning")
        assert not self.is_left_out(HOST_XOFF, "info")
        # Headroom that is the vendor's own is information only, and so is enough to replace it.
        assert self.is_left_out(HOST_XOFF, "info", verdict="on the edge")
        below = leaf(BUFFER_PROFILE={HOST_PROFILE: {"xoff": "231423"}})
        assert self.is_left_out(HOST_XOFF, "warning", verdict="on the edge", view=below)
        assert not self.is_left_out(HOST_XOFF, "info", verdict="on the edge", view=below)

    def test_of_a_device_the_row_is_the_object(self) -> None:
        assert self.is_left_out(f"BUFFER_PROFILE/{HOST_PROFILE}/dynamic_th")
        assert self.is_left_out(f"BUFFER_PROFILE/{HOST_PROFILE}")
        assert self.is_left_out("BUFFER_PG/Ethernet0|3/profile")
        assert not self.is_left_out(f"BUFFER_PROFILE/{UPLINK_PROFILE}/xoff")
        assert not self.is_left_out("BUFFER_PROFILE")
        assert not self.is_left_out(HOST_XOFF, file="leaf2.json")

    def test_the_row_that_binds_a_profile_to_a_queue_has_a_part_in_it(self) -> None:
        low = leaf(BUFFER_PROFILE={"egress_lossless_profile": {"dynamic_th": "-6"}})
        for key, left in (("Ethernet0|3", 0), ("Ethernet4|3", 1)):
            said = reported("BUF022", "error", Origin("fabric.json", ("BUFFER_QUEUE", key, "profile")))
            assert len(found(low, "drop", findings=(said,), refusing=(refusal("Ethernet0", 1),))) == left

    def test_a_whole_table_is_no_object(self) -> None:
        view = leaf()
        at_table = reported("PFC002", "error", Origin("fabric.json", (THE_CLASS,)))
        assert len(results(view, "dead NIC", findings=(at_table,))) == 1

    def test_what_only_restates_counts_for_nothing(self) -> None:
        assert not self.is_left_out(HOST_XOFF, code="SCM001")
        assert not self.is_left_out(HOST_XOFF, code="CFG004")

    def test_some_rules_explain_what_is_lost_at_a_port(self) -> None:
        here, there = ("leaf1:Ethernet0", "leaf1:Ethernet8"), ("leaf1:Ethernet4",)
        assert self.is_left_out("CABLE_LENGTH/AZURE", code="BUF001", elements=here)
        assert not self.is_left_out("CABLE_LENGTH/AZURE", code="BUF001", elements=there)
        assert not self.is_left_out("CABLE_LENGTH/AZURE", code="BUF002", elements=here)

    def test_of_an_intent_the_object_is_a_value_or_what_is_right_below_it(self) -> None:
        intent = declared()
        assert self.is_left_out("hardware/leaf", view=intent, file="fabric.yaml")
        assert self.is_left_out("hardware/leaf/hwsku", view=intent, file="fabric.yaml")
        assert not self.is_left_out("hardware/leaf/hwsku/more", view=intent, file="fabric.yaml")
        assert not self.is_left_out("hardware", view=intent, file="fabric.yaml")
        assert not self.is_left_out("hardware/spine", view=intent, file="fabric.yaml")

    def test_one_finding_an_object(self) -> None:
        causes = (
            SimulationCause("drop", "unsafe", "as seen", 1),
            SimulationCause("headroom", "on the edge", "", 1),
        )
        run = SimulationRun(SimulationFacts(leaf(), priority=3, seeds=4, causes=causes, short=self.SHORT))
        assert len(list(violations(run, "unsafe", "error"))) == 1
        assert list(violations(run, "on the edge", "warning")) == []
