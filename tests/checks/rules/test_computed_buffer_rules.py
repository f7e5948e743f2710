"""Rules on headroom, pools and marking see the buffers that a switch of the dynamic model computes for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.headroom.port import LinkNeed, link_need, lossless_profile
from lossless.analysis.buffers.simulation_facts import HeadroomUse, PortRef, SimulationFacts
from lossless.analysis.buffers.verdict import fabric_verdict
from lossless.api import lint_documents, load_fabrics
from lossless.checks.rules.buffers.headroom import row_help
from lossless.checks.rules.simulation.root_causes import headroom, more_headroom
from lossless.checks.rules.subjects import computing_buffers
from lossless.ground.documents import load_text
from lossless.model.fabric.qos import BufferProfile
from lossless.model.fabric.view import View
from tests.checks.rules.checking import drawn, only, patched, unchecked
from tests.checks.rules.test_dynamic_model_rules import SHARED, THRESHOLD_ALONE, long_links, rendered
from tests.formats.intent.intent_texts import SHAPE

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

DYNAMIC = "{model: dynamic}"
SEEING = ("BUF001", "BUF002", "BUF005", "BUF007", "BUF013", "ECN004", "ECN005")
"""The rules that see computed buffers."""


def intent(buffers: str = DYNAMIC) -> Document:
    return load_text(f"{SHAPE}buffers: {buffers}\n", "fabric.yaml")


def marking(kmin_bytes: int, kmax_bytes: int) -> Document:
    """Return a rendered leaf with another ECN curve for RDMA."""
    document = rendered(DYNAMIC)
    (name,) = document.data["WRED_PROFILE"]
    curve = {"green_min_threshold": str(kmin_bytes), "green_max_threshold": str(kmax_bytes)}
    return rendered(DYNAMIC, WRED_PROFILE={name: {**document.data["WRED_PROFILE"][name], **curve}})


@pytest.mark.parametrize("code", SEEING)
def test_nothing_of_a_switch_that_computes_its_buffers_is_left_unchecked(code: str) -> None:
    for documents in ([intent()], [rendered(DYNAMIC)], [intent(), rendered(DYNAMIC)]):
        assert (drawn(code, *documents), unchecked(code, *documents)) == ([], [])


@pytest.mark.parametrize("code", ["BUF001", "BUF002", "BUF007", "ECN004", "ECN005"])
def test_what_a_switch_computes_from_what_is_not_written_stays_unchecked(code: str) -> None:
    document = rendered(DYNAMIC)
    del document.data["LOSSLESS_TRAFFIC_PATTERN"]
    assert drawn(code, document) == []
    assert unchecked(code, document)


def test_a_length_below_the_cable_gives_computed_headroom_for_the_wrong_length() -> None:
    told: dict[str, Any] = dict.fromkeys(rendered(DYNAMIC).data["CABLE_LENGTH"]["AZURE"], "5m")
    uplink = next(name for name, m in rendered(DYNAMIC).data["CABLE_LENGTH"]["AZURE"].items() if m == "30m")
    finding = only("BUF005", intent(), rendered(DYNAMIC, CABLE_LENGTH={"AZURE": told}))
    assert (finding.data["configured_m"], finding.data["real_m"]) == (5, 30)
    assert finding.severity == "warning"
    assert finding.origin.path == ("CABLE_LENGTH", "AZURE", uplink)
    given: Any = finding.data["headroom_bytes"]
    assert given < finding.data["need_bytes"]


def test_an_egress_pool_too_small_for_one_computed_group_is_the_one_cause() -> None:
    """The chip keeps its size, whatever its pools are told: 158,229,504 B of SN5600."""
    row = rendered(DYNAMIC).data["BUFFER_POOL"]["egress_lossless_pool"]
    small = {"egress_lossless_pool": {**row, "size": str(158_229_504 // 20)}}
    findings = lint_documents([rendered(DYNAMIC, BUFFER_POOL=small)]).findings
    (finding,) = (finding for finding in findings if finding.severity == "error")
    assert (finding.code, finding.origin.path) == (
        "BUF013",
        ("BUFFER_POOL", "egress_lossless_pool", "size"),
    )


def test_marking_is_held_against_the_pool_that_the_switch_computes() -> None:
    """One group of alpha 1 pauses at half of the 73 MB that two pools leave it."""
    assert drawn("ECN005", marking(8192, 30_000_000)) == []
    finding = only("ECN005", marking(8192, 60_000_000))
    assert finding.data["one_group_bytes"] == 38_406_400
    assert only("ECN004", marking(50_000_000, 60_000_000)).severity == "warning"


def test_alpha_of_the_whole_switch_decides_where_marking_is_too_late() -> None:
    low = {"AZURE": {"default_dynamic_th": "-6"}}
    assert only("ECN005", rendered(DYNAMIC, DEFAULT_LOSSLESS_BUFFER_PARAMETER=low)).severity == "warning"


def test_a_ratio_that_a_device_is_told_is_worth_knowing_unless_its_intent_accepts_it() -> None:
    shared = "{model: dynamic, headroom_oversubscription: 2}"
    finding = only("BUF007", rendered(shared))
    assert (finding.severity, finding.origin.path[-1]) == ("info", "over_subscribe_ratio")
    assert finding.data["ratio"] == 2.0
    assert drawn("BUF007", intent(shared), rendered(shared)) == []
    more = {"AZURE": {"default_dynamic_th": "0", "over_subscribe_ratio": "3"}}
    beyond = only("BUF007", intent(shared), rendered(shared, DEFAULT_LOSSLESS_BUFFER_PARAMETER=more))
    assert (beyond.severity, beyond.data["ratio"]) == ("warning", 3.0)


def test_a_shared_pool_that_is_written_is_the_one_to_change() -> None:
    pool = {"type": "ingress", "mode": "dynamic", "xoff": "1000000"}
    finding = only("BUF007", rendered(SHARED, BUFFER_POOL={"ingress_lossless_pool": pool}))
    assert finding.origin.path == ("BUFFER_POOL", "ingress_lossless_pool", "xoff")
    assert finding.data["shared_headroom_bytes"] == 1_000_000


def test_computed_headroom_that_fills_the_chip_is_an_error() -> None:
    found = drawn("BUF007", long_links(DYNAMIC, "30km"))
    assert [(finding.severity, finding.data["headroom_sum_bytes"]) for finding in found] == [
        ("error", 182_636_544),
        ("error", 91_738_112),
    ]


def test_a_chip_without_headroom_for_its_cables_needs_a_ratio_or_shorter_ones() -> None:
    lengths = dict.fromkeys(rendered(DYNAMIC).data["CABLE_LENGTH"]["AZURE"], "10000m")
    finding = only("BUF007", rendered(DYNAMIC, CABLE_LENGTH={"AZURE": lengths}))
    assert (finding.severity, finding.data["headroom_sum_bytes"]) == ("error", 245_170_176)


def test_the_row_of_a_threshold_is_not_to_blame_for_computed_headroom() -> None:
    own = {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "2", "headroom_type": "dynamic"}
    groups = {"Ethernet0|3": {"profile": "my_th"}}
    document = rendered(DYNAMIC, BUFFER_PROFILE={"my_th": own}, BUFFER_PG=groups)
    assert [code for code in SEEING if drawn(code, document)] == []


def test_the_traditional_model_is_seen_as_before() -> None:
    assert unchecked("BUF001", patched("leaf.json", {})) == []


@pytest.mark.parametrize("length", ["0m", None])
def test_a_port_without_a_length_gets_no_computed_headroom(length: str | None) -> None:
    """buffermgrdyn.cpp @e6b0c5b (refreshPgsForPort) takes the group of a port with 0m away, and waits without one."""
    lengths = {**rendered(DYNAMIC).data["CABLE_LENGTH"]["AZURE"], "Ethernet0": length}
    told = {port: text for port, text in lengths.items() if text is not None}
    document = rendered(DYNAMIC, CABLE_LENGTH={"AZURE": told})
    errors = [finding for finding in lint_documents([document]).findings if finding.severity == "error"]
    assert [(finding.code, finding.elements) for finding in errors] == [("BUF004", ("leaf1:Ethernet0",))]
    fabrics, _ = load_fabrics([document])
    assert fabric_verdict(View(fabrics[0])).overall == "unsafe"


def test_a_group_with_headroom_of_its_own_needs_no_length_in_the_dynamic_model() -> None:
    own = {
        "pool": "ingress_lossless_pool",
        "size": "400000",
        "xon": "19456",
        "xoff": "380544",
        "dynamic_th": "0",
    }
    told = {
        port: m for port, m in rendered(DYNAMIC).data["CABLE_LENGTH"]["AZURE"].items() if port != "Ethernet0"
    }
    groups = {"Ethernet0|3": {"profile": "by_hand"}}
    document = rendered(
        DYNAMIC, CABLE_LENGTH={"AZURE": told}, BUFFER_PROFILE={"by_hand": own}, BUFFER_PG=groups
    )
    assert drawn("BUF004", document) == []


def test_computed_headroom_is_not_raised_in_a_row_that_another_length_left_over() -> None:
    fabrics, _ = load_fabrics([rendered(DYNAMIC)])
    ports = computing_buffers(View(fabrics[0])).lossless_sets[0]
    profile, link = lossless_profile(ports, 3), link_need(ports)
    assert isinstance(profile, BufferProfile)
    assert isinstance(link, LinkNeed)
    assert link.need is not None
    assert row_help(ports, profile, link.need._replace(headroom_bytes=500_000)) == (
        "give the groups a profile of their own, with xoff 500000 (the switch computes none for those)"
    )


@pytest.mark.parametrize("threshold", [{}, THRESHOLD_ALONE])
def test_what_runs_show_of_computed_headroom_names_no_row_that_is_not_there(
    threshold: dict[str, Any],
) -> None:
    """The row of a threshold alone has no xoff to raise."""
    fabrics, _ = load_fabrics([rendered(DYNAMIC, **threshold)])
    view = computing_buffers(View(fabrics[0]))
    short = HeadroomUse(PortRef("leaf1", "Ethernet0"), 1000, 1000, 500_000, 3, frozenset({1}))
    run = SimulationFacts(view, "made up", priority=3, seeds=2)
    assert more_headroom(run, short) == (
        "give the groups a profile of their own, with xoff 500000 (the switch computes none for those)"
    )
    ports = tuple(
        port._replace(cable=port.cable._replace(real_m=100)) for port in fabrics[0].switches[0].ports
    )
    switch = fabrics[0].switches[0]._replace(ports=ports)
    view = computing_buffers(View(fabrics[0]._replace(switches=(switch,))))
    assert more_headroom(run._replace(view=view), short) == (
        "set the length of these cables to 100 m, from which the switch computes headroom"
    )
    assert headroom(run._replace(view=view), short.spot).origin.path[0] == "CABLE_LENGTH"
