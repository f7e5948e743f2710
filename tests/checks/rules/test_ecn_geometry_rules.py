"""ECN against XOFF: egress queues compare with ingress groups only under a stated fan-in or fan-out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.ecn_marking import PARTS_UNKNOWN
from tests.checks.rules.checking import drawn, only, patched, unchecked

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document


def leaf(
    kmin: int, kmax: int, pool: int, dynamic_th: int = 0, base: str = "leaf.json", **tables: Any
) -> Document:
    """Return the leaf of three ports, or another, with one curve, one pool and one alpha."""
    profiles = ("pg_lossless_400000_5m_profile", "pg_lossless_800000_40m_profile")
    curve = {"green_min_threshold": str(kmin), "green_max_threshold": str(kmax)}
    patch = {
        "BUFFER_POOL": {"ingress_lossless_pool": {"size": str(pool)}},
        "BUFFER_PROFILE": {name: {"dynamic_th": str(dynamic_th)} for name in profiles},
        "WRED_PROFILE": {"AZURE_LOSSLESS": curve},
    }
    return patched(base, {**patch, **tables})


def verdicts(document: Document) -> list[tuple[str, str]]:
    return [(f.code, f.severity) for code in ("ECN004", "ECN005") for f in drawn(code, document)]


# T(1) = B/2, 2 T(2) = 2B/3 with alpha 1.
@pytest.mark.parametrize(
    ("kmin", "kmax", "expected"),
    [
        (1_500_000, 3_000_000, []),
        (1_500_000, 3_000_001, [("ECN005", "warning")]),
        (1_500_001, 3_000_000, [("ECN004", "warning")]),
        (1_500_001, 3_000_001, [("ECN004", "warning"), ("ECN005", "warning")]),
        (3_000_001, 9_000_000, [("ECN004", "warning")]),
        (4_000_000, 4_000_000, [("ECN004", "error")]),
    ],
)
def test_curves_around_xoff_in_a_pool_of_6_mb(kmin: int, kmax: int, expected: list[tuple[str, str]]) -> None:
    assert verdicts(leaf(kmin, kmax, 6_000_000)) == expected


# At equality PFC is first: the probability of a mark begins at zero at Kmin, and what exceeds T is paused for certain.
# With twelve ports up to eleven send to one: 11 T(11) = 11 B/12 = 5.5 MB, 2 T(2) = 4 MB.
@pytest.mark.parametrize(
    ("kmin", "severity", "margin"),
    [
        (1_500_001, "warning", 2_499_999),
        (3_999_999, "warning", 1),
        (4_000_000, "warning", 0),
        (5_499_999, "warning", -1_499_999),
        (5_500_000, "error", -1_500_000),
    ],
)
def test_kmin_at_exactly_what_an_egress_holds_at_xoff_comes_after_pfc(
    kmin: int, severity: str, margin: int
) -> None:
    document = leaf(kmin, 9_000_000, 6_000_000, base="rendered-leaf.json")
    found = only("ECN004", document)
    assert found.severity == severity
    assert found.data["two_sender_margin_bytes"] == margin


@pytest.mark.parametrize(("kmin", "expected"), [(3_000_000, ["ECN004", "ECN005"]), (3_000_001, ["ECN004"])])
def test_kmin_equal_to_the_threshold_of_one_port_leaves_kmax_to_its_own_rule(
    kmin: int, expected: list[str]
) -> None:
    """Above T(1) = B/2 Kmin alone is at fault, for one loaded port too; at T(1) itself both thresholds are."""
    assert [code for code, _ in verdicts(leaf(kmin, 9_000_000, 6_000_000))] == expected


def test_the_storage_curve_on_a_small_pool_comes_after_pfc() -> None:
    # 18 MB at alpha 1/8: T(1) is 2.00 MB, below Kmax of 2 MiB and below two egresses at Kmin of 1 MiB.
    document = leaf(1_048_576, 2_097_152, 18_000_000, dynamic_th=-3)
    kmin, kmax = only("ECN004", document), only("ECN005", document)
    assert [kmin.data[key] for key in ("kmin_bytes", "one_group_bytes", "two_egress_margin_bytes")] == [
        1_048_576,
        2_000_000,
        -97_152,
    ]
    assert kmin.origin.path == ("WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold")
    assert kmax.origin.path == ("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold")
    assert kmax.places == 3
    assert kmax.data == {
        "kmax_bytes": 2_097_152,
        "pool_bytes": 18_000_000,
        "buffer_parts": 1,
        "alpha": 0.125,
        "one_group_bytes": 2_000_000,
        "two_sender_egress_bytes": 3_600_000,
        "worst_fan_in": 2,
        "two_sender_margin_bytes": 1_502_848,
        "two_egress_margin_bytes": -2_194_304,
    }


def test_a_large_fan_in_does_not_condemn_a_sound_curve() -> None:
    # T(48) of 67.7 MB at alpha 1 is 1.38 MB, but the egress then holds 66 MB.
    assert verdicts(leaf(819_200, 3_276_800, 67_737_959)) == []


@pytest.mark.parametrize(
    ("curve", "expected"),
    [((1_048_576, 2_097_152), []), ((2_000_000, 10_000_000), [("ECN005", "info")])],
)
def test_a_stock_curve_on_tomahawk_2_is_at_most_information(
    curve: tuple[int, int], expected: list[tuple[str, str]]
) -> None:
    """A port fills one of four parts, and pauses at 4.2 MB: below Kmax of the second curve, which vendors ship."""
    wred = {"green_min_threshold": str(curve[0]), "green_max_threshold": str(curve[1])}
    document = patched("azure.json", {"WRED_PROFILE": {"AZURE_LOSSLESS": wred}})
    assert verdicts(document) == expected
    assert unchecked("ECN004", document) == unchecked("ECN005", document) == []


@pytest.mark.parametrize(
    ("kmax_bytes", "code"), [(1_400_000, None), (3_000_000, "unchecked"), (7_000_000, "ECN005")]
)
def test_a_curve_that_depends_on_parts_that_are_not_known_is_not_checked(
    kmax_bytes: int, code: str | None
) -> None:
    """12 MB at alpha 1: one group pauses at 6, 3 or 1.5 MB in 1, 2 or 4 parts."""
    unknown = {"localhost": {"hwsku": "unknown", "platform": "unknown"}}
    document = leaf(100_000, kmax_bytes, 12_000_000, DEVICE_METADATA=unknown)
    assert [found for found, _ in verdicts(document)] == [code] * (code == "ECN005")
    reasons = {gap.reason for gap in unchecked("ECN005", document)}
    assert reasons == ({PARTS_UNKNOWN} if code == "unchecked" else set())


def test_headroom_that_a_pool_size_counts_in_is_taken_out() -> None:
    # 158 MB of which 155 MB are headroom leave 3.2 MB to share, so T(1) is 1.6 MB.
    pool = {"ingress_lossless_pool": {"size": "158229504", "xoff": "155000000"}}
    document = leaf(819_200, 1_600_000, 158_229_504, BUFFER_POOL=pool)
    assert [f.code for f in drawn("ECN004", document)] == ["ECN004"]
    assert only("ECN004", document).data["pool_bytes"] == 3_229_504


def test_a_static_threshold_is_what_one_group_may_hold() -> None:
    static = {"dynamic_th": None, "static_th": "1000000"}
    profiles = {f"pg_lossless_{name}_profile": static for name in ("400000_5m", "800000_40m")}
    document = leaf(400_000, 1_000_001, 78_000_000, BUFFER_PROFILE=profiles)
    assert verdicts(document) == [("ECN005", "warning")]
    assert only("ECN005", document).data["alpha"] is None


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (
            {"BUFFER_POOL": {"ingress_lossless_pool": {"size": None}}},
            "the size of ingress_lossless_pool is unknown",
        ),
        (
            {"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_max_threshold": None}}},
            "the WRED profile does not give both thresholds",
        ),
        (
            {"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_max_threshold": "5000000000"}}},
            "a WRED threshold is larger than orchagent can read",
        ),
        (
            {"BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {"dynamic_th": "44302336"}}},
            "dynamic_th of the lossless profile is not -8 to 7",
        ),
        (
            {"BUFFER_PROFILE": {"pg_lossless_400000_5m_profile": {"dynamic_th": None}}},
            "the lossless profile has no threshold",
        ),
    ],
)
def test_what_is_unknown_is_not_checked(tables: dict[str, Any], reason: str) -> None:
    document = patched("leaf.json", tables)
    assert verdicts(document) == []
    for code in ("ECN004", "ECN005"):
        assert [(rule.reason, rule.times) for rule in unchecked(code, document)] == [(reason, 3)]


def test_queues_that_do_not_mark_are_other_rules_business() -> None:
    unmarked = {"AZURE_LOSSLESS": {"ecn": "ecn_none"}}
    document = leaf(4_000_000, 9_000_000, 6_000_000, WRED_PROFILE=unmarked)
    assert verdicts(document) == []


def test_one_port_with_pfc_has_nobody_to_compete_with() -> None:
    alone = {name: {"pfc_enable": ""} for name in ("Ethernet4", "Ethernet8")}
    assert verdicts(leaf(4_000_000, 9_000_000, 6_000_000, PORT_QOS_MAP=alone)) == []


def intent(ecn: dict[str, str], **hardware: Any) -> Document:
    return patched("leaf-spine.yaml", {"classes": {"rdma": {"ecn": ecn}}, **hardware})


def test_one_curve_is_one_finding_though_leaves_and_spines_share_different_pools() -> None:
    found = only("ECN004", intent({"min": "20 MB", "max": "25 MB"}))
    assert found.origin.path == ("classes", "rdma", "ecn", "min")
    assert found.places == 2 * 12 + 2 * 4
    # The leaf has more ports, so less to share: it is the tighter of the two.
    assert found.data["one_group_bytes"] == 37_686_272


def test_kmax_of_an_intent_points_at_max() -> None:
    found = only("ECN005", intent({"max": "50 MB"}))
    assert found.origin.path == ("classes", "rdma", "ecn", "max")
    assert found.severity == "warning"


@pytest.mark.parametrize("min_mb", [40, 60, 90])
def test_kmin_above_xoff_itself_leaves_kmax_unsaid(min_mb: int) -> None:
    document = intent({"min": f"{min_mb} MB", "max": f"{min_mb + 1} MB"})
    assert [code for code, _ in verdicts(document)] == ["ECN004"]
