"""Adaptive routing in CONFIG_DB: tables that no release reads, names that lead nowhere, and tiers of two minds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import lint, lint_documents
from lossless.ground.documents import load_text
from tests.checks.rules.linted import device, drawn, only
from tests.checks.rules.snippets import BASES, merge

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.api import Report

GLOBAL = {"default": {"default_ars_object": "any", "ars_nhg_path_selector_mode": "global"}}
ADAPTIVE = {"ARS_PROFILE": GLOBAL, "ARS_OBJECT": {"any": {"assign_mode": "per_packet_quality"}}}
TRIMMING = {
    "BUFFER_PROFILE": {"trims": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3",
                                 "packet_discard_action": "trim"}},
    "BUFFER_QUEUE": {"Ethernet0|0": {"profile": "trims"}},
    "SWITCH_TRIMMING": {"GLOBAL": {"size": "128", "dscp_value": "48", "queue_index": "6"}},
}  # fmt: skip


def leaves(*patches: dict[str, Any]) -> Report:
    names = ("wired-leaf", "wired-leaf2", "wired-leaf3")
    bases = [json.loads((BASES / f"{name}.json").read_text()) for name in names]
    merged = [merge(base, patch) for base, patch in zip(bases, patches, strict=True)]
    return lint_documents(
        [load_text(json.dumps(data), f"{name}.json") for name, data in zip(names, merged, strict=True)]
    )


def test_no_configuration_of_upstream_has_it(reference: Path) -> None:
    files = [p for d in ("full", "partial") for p in sorted((reference / "corpus" / d).glob("*.json"))]
    findings = [f for path in files for f in lint([path]).findings if f.code in {"SWS016", "SWS017"}]
    assert (len(files) > 60, findings) == (True, [])


class TestTables:
    """SWS016."""

    @pytest.mark.parametrize(
        ("version", "hits"),
        [("version_202411_01", 1), ("version_202605_01", 1), ("version_202611_01", 0), ("version_4_0_0", 0)],
    )
    def test_only_releases_that_were_looked_through_are_spoken_of(self, version: str, hits: int) -> None:
        report = device({**ADAPTIVE, "VERSIONS": {"DATABASE": {"VERSION": version}}})
        assert len(drawn(report, "SWS016")) == hits
        assert drawn(report, "SCM007") == []

    def test_all_tables_are_one_finding_in_either_spelling(self) -> None:
        more: dict[str, Any] = {"ARS_INTERFACES": {"Ethernet0": {}}, "ARS_NEXTHOP": {"default|10.0.0.1": {}}}
        found = only(device({**ADAPTIVE, **more}), "SWS016")
        assert found.data["tables"] == ["ARS_PROFILE", "ARS_OBJECT", "ARS_INTERFACES", "ARS_NEXTHOP"]
        assert found.severity == "info"

    def test_other_tables_without_a_model_are_still_named(self) -> None:
        report = device({**ADAPTIVE, "TC_TO_DOT1P_MAP": {"AZURE": {"3": "3"}}})
        assert only(report, "SCM007").data["tables"] == ["TC_TO_DOT1P_MAP"]

    def test_without_a_profile_they_are_tables_without_a_model(self) -> None:
        report = device({"ARS_INTERFACE": {"Ethernet0": {}}})
        assert only(report, "SCM007").data["tables"] == ["ARS_INTERFACE"]


class TestNames:
    """SWS017."""

    @pytest.mark.parametrize("table", ["ARS_INTERFACE", "ARS_INTERFACES"])
    def test_ports_that_name_one_missing_object_are_one_finding(self, table: str) -> None:
        rows = {f"Ethernet{n}": {"ars_obj_name": "none"} for n in (0, 4)}
        found = only(device({**ADAPTIVE, table: rows}), "SWS017")
        assert (found.severity, found.elements) == ("warning", (f"{table}|Ethernet0", f"{table}|Ethernet4"))

    @pytest.mark.parametrize("table", ["ARS_NEXTHOP", "ARS_NEXTHOPS"])
    def test_next_hops_and_the_default_are_followed_too(self, table: str) -> None:
        patch = {"ARS_PROFILE": GLOBAL, table: {"default|10.0.0.1": {"ars_obj_name": "other"}}}
        found = drawn(device(patch), "SWS017")
        assert {f.origin.path[-1] for f in found} == {"default_ars_object", "ars_obj_name"}

    def test_an_interface_without_a_name_takes_the_default(self) -> None:
        assert drawn(device({**ADAPTIVE, "ARS_INTERFACE": {"Ethernet0": {}}}), "SWS017") == []

    def test_a_profile_for_all_groups_needs_an_object(self) -> None:
        profile = {"default": {"ars_nhg_path_selector_mode": "global"}}
        found = only(device({"ARS_PROFILE": profile}), "SWS017")
        assert found.origin.path == ("ARS_PROFILE", "default", "ars_nhg_path_selector_mode")
        assert drawn(device({"ARS_PROFILE": {"default": {}}}), "SWS017") == []

    def test_ports_must_exist(self) -> None:
        found = only(device({**ADAPTIVE, "ARS_INTERFACE": {"Ethernet99": {}}}), "SWS017")
        assert found.origin.path == ("ARS_INTERFACE", "Ethernet99")


class TestTiers:
    """CFG011: one leaf does what the others of its role do not."""

    @pytest.mark.parametrize(
        ("patch", "here", "usual"),
        [
            (ADAPTIVE, "off", "per packet"),
            ({**ADAPTIVE, "ARS_OBJECT": {"any": {}}}, "off", "per flowlet"),
            (TRIMMING, "off", "on with DSCP 48"),
        ],
    )
    def test_the_one_that_does_not(self, patch: dict[str, Any], here: str, usual: str) -> None:
        found = only(leaves({}, patch, patch), "CFG011")
        assert (found.data, found.elements) == ({"here": here, "usual": usual}, ("leaf1",))

    def test_the_one_that_does_is_named_with_its_table(self) -> None:
        assert only(leaves({}, ADAPTIVE, {}), "CFG011").origin.path == ("ARS_PROFILE",)
        assert only(leaves({}, TRIMMING, {}), "CFG011").origin.path == ("SWITCH_TRIMMING",)

    @pytest.mark.parametrize("patch", [ADAPTIVE, TRIMMING, {"ARS_PROFILE": {"default": {}}}])
    def test_where_all_do_nothing_is_said(self, patch: dict[str, Any]) -> None:
        assert drawn(leaves(patch, patch, patch), "CFG011") == []

    @pytest.mark.parametrize(
        "patch", [{"ARS_PROFILE": {"default": {}}}, {"SWITCH_TRIMMING": TRIMMING["SWITCH_TRIMMING"]}]
    )
    def test_settings_that_do_nothing_are_no_difference(self, patch: dict[str, Any]) -> None:
        assert drawn(leaves({}, patch, patch), "CFG011") == []
