"""On which DSCP RDMA leaves the hosts: one source that is right is enough."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tests.checks.rules.checking import Patch, drawn, only, patched

INTENT = "leaf-spine.yaml"
TWO_CLASSES: Patch = {
    "classes": {
        "storage": {
            "dscp": 4,
            "priority": 4,
            "lossless": True,
            "ecn": {"min": "1 MiB", "max": "2 MiB", "probability": "5%"},
        }
    }
}


def hosts(traffic_class: int | str, ib_tc: int | None = None) -> Patch:
    return {"hosts": {"traffic_class": traffic_class, "nccl": {"ib_tc": ib_tc}}}


def test_unset_everywhere_is_dscp_0() -> None:
    finding = only("HST001", patched(INTENT, hosts("unset")))
    assert finding.origin.path == ("hosts", "traffic_class")
    assert (finding.severity, finding.places) == ("error", 8)
    assert finding.data == {"dscps": [0], "lossless_dscps": [26]}


@pytest.mark.parametrize(
    ("traffic_class", "ib_tc"),
    [("derived", None), (104, None), (106, None), ("unset", 104), ("unset", 106), (0, 106), (106, 0)],
)
def test_either_source_counts(traffic_class: int | str, ib_tc: int | None) -> None:
    assert drawn("HST001", patched(INTENT, hosts(traffic_class, ib_tc))) == []


def test_two_wrong_sources_are_one_finding() -> None:
    finding = only("HST001", patched(INTENT, hosts(40, 0)))
    assert finding.data == {"dscps": [10, 0], "lossless_dscps": [26]}
    assert finding.origin.path == ("hosts", "traffic_class")
    assert [related.origin.path for related in finding.related] == [("hosts", "nccl", "ib_tc")]


def test_the_source_that_is_set_is_the_value_to_change() -> None:
    assert only("HST001", patched(INTENT, hosts("unset", 40))).origin.path == ("hosts", "nccl", "ib_tc")


@pytest.mark.parametrize(("traffic_class", "ib_tc"), [(26, None), ("unset", 26), (26, 0), (0, 26)])
def test_a_unit_slip_is_left_to_cls006(traffic_class: int | str, ib_tc: int | None) -> None:
    slipped = patched(INTENT, hosts(traffic_class, ib_tc))
    assert drawn("HST001", slipped) == []
    assert only("CLS006", slipped).severity == "error"


@pytest.mark.parametrize("tos", [16, 18, 104, 107])
def test_any_of_several_lossless_classes_will_do(tos: int) -> None:
    assert drawn("HST001", patched(INTENT, {**TWO_CLASSES, **hosts("unset", tos)})) == []


def test_a_lossless_rest_carries_dscp_0() -> None:
    rest: Patch = {"classes": {"rdma": {"dscp": "rest"}, "default": {"dscp": 10}}}
    assert drawn("HST001", patched(INTENT, {**rest, **hosts("unset")})) == []


def test_a_fabric_without_a_lossless_class_has_nothing_to_miss() -> None:
    lossy: Patch = {"classes": {"rdma": {"lossless": False}}}
    assert drawn("HST001", patched(INTENT, {**lossy, **hosts("unset")})) == []


@given(st.integers(0, 255))
def test_each_byte_is_lossless_a_slip_or_lossy_and_never_two_of_them(tos: int) -> None:
    document = patched(INTENT, hosts("unset", tos))
    drawn_codes = [code for code in ("HST001", "CLS006") if drawn(code, document)]
    assert drawn_codes == ([] if tos >> 2 == 26 else ["CLS006"] if tos == 26 else ["HST001"])


@pytest.mark.parametrize(
    ("variable", "value", "severity"),
    [
        ("NCCL_IB_DISABLE", "1", "error"), ("NCCL_IB_DISABLE", "0", None), ("NCCL_NET", "Socket", "error"),
        ("NCCL_NET", "IB", None), ("FI_PROVIDER", "tcp", "warning"), ("FI_PROVIDER", "verbs", None),
        ("UCX_TLS", "tcp,sm", "info"), ("UCX_TLS", "rc,sm", None), ("NCCL_COLLNET_ENABLE", "1", "warning"),
        ("NCCL_COLLNET_ENABLE", "0", None), ("NCCL_ALGO", "CollNetDirect", "warning"), ("NCCL_ALGO", "Ring,Tree", None),
        ("NCCL_ALGO", "NVLS", None), ("NCCL_ALGO", "Ring,CollnetDirect", None), ("NCCL_NVLS_ENABLE", "1", None),
        ("SHARP_COLL_ENABLE_SAT", "1", "warning"), ("HCOLL_ENABLE_SHARP", "3", "warning"),
        ("HCOLL_ENABLE_SHARP", "1", None), ("NCCL_NET_PLUGIN", "none", None),
    ],
)  # fmt: skip
def test_jobs_on_ethernet_use_rdma_and_ask_no_switch_to_reduce(
    variable: str, value: str, severity: str | None
) -> None:
    found = drawn("HST011", patched(INTENT, {"hosts": {"environment": {variable: value}}}))
    assert [finding.severity for finding in found] == ([] if severity is None else [severity])
