"""Rules about headroom know that the dynamic buffer model lends it by a ratio, and what an intent makes of a device."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lossless.analysis.buffers.verdict import fabric_verdict
from lossless.api import lint_documents
from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document
from lossless.model.fabric.view import View
from tests.checks.rules.checking import drawn, only, patched
from tests.formats.intent.intent_texts import SHAPE
from tools.example_base import base_of

XON_ALONE = {"pg_lossless_400000_5m_profile": {"size": "19456"}}
"""The row of ACS-SN5600 as it is with a shared headroom pool: ``size`` is no more than ``xon``."""


STEERED = {
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
}
"""What lets buffermgrd compute headroom."""


def leaf(model: str, **parameters: str) -> Document:
    """Return a leaf whose written profile reserves no more than xon, in a buffer model."""
    changes: dict[str, Any] = {
        **STEERED,
        "DEVICE_METADATA": {"localhost": {"buffer_model": model}},
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0", **parameters}},
        "BUFFER_PROFILE": XON_ALONE,
    }
    return patched("leaf.json", changes)


def test_without_any_group_a_switch_that_computes_its_buffers_makes_none() -> None:
    """buffermgrd of the traditional model makes groups of pfc_enable; that of the dynamic model fills in rows."""
    none = {"BUFFER_PG": None, "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}}
    assert only("PFC005", patched("leaf.json", none)).data["priorities"] == [3]
    assert drawn("PFC005", patched("leaf.json", {"BUFFER_PG": None})) == []
    assert drawn("PFC005", patched("leaf.json", {**none, "PORT": None})) == []


@pytest.mark.parametrize("field", ["size", "dynamic_th"])
def test_a_profile_that_lacks_a_field_stops_all_profiles_of_the_dynamic_model(field: str) -> None:
    changes = {
        **STEERED,
        "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
        "BUFFER_PROFILE": {"egress_lossless_profile": {field: None}},
    }
    found = only("SWS018", patched("leaf.json", changes))
    assert found.severity == "error"
    assert found.origin.path == ("BUFFER_PROFILE", "egress_lossless_profile")


@pytest.mark.parametrize("code", ["BUF001", "BUF002", "BUF012"])
def test_headroom_that_a_ratio_lends_is_there(code: str) -> None:
    assert drawn(code, leaf("dynamic", over_subscribe_ratio="2")) == []


@pytest.mark.parametrize("parameters", [{}, {"over_subscribe_ratio": "0"}])
def test_headroom_that_nothing_lends_is_not(parameters: dict[str, str]) -> None:
    assert only("BUF001", leaf("dynamic", **parameters)).data["headroom_bytes"] == 0


def test_a_ratio_counts_in_the_dynamic_model_alone() -> None:
    assert only("BUF001", leaf("traditional", over_subscribe_ratio="2")).data["headroom_bytes"] == 0


def rendered(buffers: str, **changes: Any) -> Document:
    """Return a leaf as it is rendered on a base of its own, with rows laid over it."""
    fabric = resolve(load_intent(load_text(f"{SHAPE}buffers: {buffers}\n", "fabric.yaml")))
    base = json.dumps(base_of(fabric, fabric.switches[0]))
    tables = json.loads(switch_file(fabric.switches[0], load_text(base, "base.json")).text)
    for table, rows in changes.items():
        tables[table] = {**tables[table], **rows}
    return load_text(json.dumps(tables), "leaf1/config_db.json")


@pytest.mark.parametrize(
    "buffers",
    [
        "{model: dynamic}",
        "{model: dynamic, headroom_oversubscription: 2, unused_ports: reclaim}",
        "{unused_ports: reclaim}",
        "{pools: single, unused_ports: reclaim}",
    ],
)
def test_what_is_rendered_draws_nothing_and_has_not_drifted(buffers: str) -> None:
    intent = load_text(f"{SHAPE}buffers: {buffers}\n", "fabric.yaml")
    report = lint_documents([intent, rendered(buffers)])
    assert report.errors == ()
    assert [finding for finding in report.findings if finding.severity != "info"] == []


THRESHOLD_ALONE: dict[str, Any] = {
    "BUFFER_PROFILE": {
        "my_th": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "2", "headroom_type": "dynamic"}
    },
    "BUFFER_PG": {"Ethernet0|3": {"profile": "my_th"}},
}
"""A threshold of its own; the switch computes the headroom (sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b)."""


def test_a_group_that_states_its_threshold_alone_has_headroom() -> None:
    assert lint_documents([rendered("{model: dynamic}", **THRESHOLD_ALONE)]).errors == ()
    assert drawn("PFC005", rendered("{model: dynamic}", **THRESHOLD_ALONE)) == []


def test_the_traditional_model_replaces_a_profile_with_a_threshold_alone() -> None:
    assert only("BUF024", patched("leaf.json", THRESHOLD_ALONE)).data["profile"] == "my_th"


def test_a_threshold_that_the_intent_does_not_state_has_drifted() -> None:
    intent = load_text(f"{SHAPE}buffers: {{model: dynamic}}\n", "fabric.yaml")
    found = drawn("CFG004", intent, rendered("{model: dynamic}", **THRESHOLD_ALONE))
    assert [finding.origin.path for finding in found] == [("BUFFER_PG", "Ethernet0|3")]


LONG_LINKS = """\
lossless: v1
fabric: dci
transport: rocev2
preset: nvidia
hardware: {switch: nvidia-sn4700, nic: connectx-7}
buffers: %s
topology:
  leaf_spine:
    {leaves: 2, spines: 1, hosts_per_leaf: 2, host_links: 1 x 400G, uplinks: 2 x 400G, cables: {host: 3m, uplink: %s}}
"""


SHARED = "{model: dynamic, headroom_oversubscription: 2}"


def long_links(buffers: str, uplink: str) -> Document:
    """Return the intent of a fabric whose uplinks have 8 lanes."""
    return load_text(LONG_LINKS % (buffers, uplink), "fabric.yaml")


def port_limits(buffers: str, uplink: str) -> list[Any]:
    found = drawn("BUF007", long_links(buffers, uplink))
    return [(one.data["claimed_bytes"], one.data["limit_bytes"]) for one in found if one.severity == "error"]


def test_a_port_cannot_claim_more_shared_headroom_than_the_chip_lends_it() -> None:
    """buffer_check_headroom_mellanox.lua @e6b0c5b refuses both uplinks: (8192 + 2 * 20) cells of 144 B."""
    assert port_limits(SHARED, "800m") == [(1_417_216, 1_185_408)]
    assert port_limits(SHARED, "300m") == []


def test_a_group_with_headroom_of_its_own_claims_nothing_of_a_shared_pool() -> None:
    assert port_limits("{model: dynamic}", "800m") == []


@pytest.mark.parametrize(("uplink", "overall"), [("300m", "safe"), ("800m", "unsafe")])
def test_closed_forms_call_a_port_beyond_that_limit_unsafe(uplink: str, overall: str) -> None:
    fabric = resolve(load_intent(long_links(SHARED, uplink)))
    assert fabric_verdict(View(fabric)).overall == overall


def test_a_device_that_is_told_another_model_than_declared_has_drifted() -> None:
    intent = load_text(f"{SHAPE}buffers: {{model: dynamic}}\n", "fabric.yaml")
    device = rendered("{model: traditional}")
    (finding,) = drawn("CFG004", intent, device)
    assert finding.origin.path == ("DEVICE_METADATA", "localhost", "buffer_model")


def test_what_the_dynamic_model_is_told_otherwise_has_drifted() -> None:
    buffers = "{model: dynamic, headroom_oversubscription: 2}"
    intent = load_text(f"{SHAPE}buffers: {buffers}\n", "fabric.yaml")
    pattern = {"AZURE": {"mtu": "1024", "small_packet_percentage": "50"}}
    parameter = {"AZURE": {"default_dynamic_th": "0"}}
    device = rendered(buffers, LOSSLESS_TRAFFIC_PATTERN=pattern, DEFAULT_LOSSLESS_BUFFER_PARAMETER=parameter)
    assert [finding.origin.path for finding in drawn("CFG004", intent, device)] == [
        ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE"),
        ("LOSSLESS_TRAFFIC_PATTERN", "AZURE", "small_packet_percentage"),
    ]


def test_a_port_that_is_up_and_whose_buffer_the_intent_gives_back_has_drifted() -> None:
    buffers = "{unused_ports: reclaim}"
    intent = load_text(f"{SHAPE}buffers: {buffers}\n", "fabric.yaml")
    tables = rendered(buffers).data
    up = {name: {**tables["PORT"][name], "admin_status": "up"} for name in ("Ethernet504", "Ethernet512")}
    found = drawn("CFG004", intent, rendered(buffers, PORT=up))
    assert [(finding.origin.path, finding.elements) for finding in found] == [
        (("PORT",), ("leaf1:Ethernet504", "leaf1:Ethernet512"))
    ]


@pytest.mark.parametrize("model", ["dynamic", "traditional"])
def test_a_port_with_lossless_groups_and_no_maps_is_without_pfc_in_either_model(model: str) -> None:
    document = rendered(f"{{model: {model}}}")
    del document.data["PORT_QOS_MAP"]["Ethernet0"]
    finding = only("PFC001", load_text(json.dumps(document.data), "leaf1/config_db.json"))
    assert (finding.elements, finding.data) == (("leaf1:Ethernet0",), {"pfc": [], "missing": [3]})


COMPUTED_BYTES = 2 * 249_856 + 410_624
"""Two groups of 400G over 5 m and one of 800G over 40 m on eight lanes, as cfgmgr/buffer_headroom_mellanox.lua
@e6b0c5b gives their ``size``."""
QUEUES_BYTES = 18 * 9_216


def pools(size: int) -> Document:
    """Return a leaf that computes its groups, beside two ingress pools of a stated size."""
    document = leaf("dynamic")
    data = json.loads(json.dumps(document.data))
    for port in ("Ethernet0", "Ethernet4", "Ethernet8"):
        data["BUFFER_PG"][f"{port}|3"] = {"profile": "NULL"}
    for name in ("ingress_lossless_pool", "ingress_lossy_pool"):
        data["BUFFER_POOL"][name]["size"] = str(size)
    return load_text(json.dumps(data), "config_db.json")


def test_computed_groups_count_in_what_is_reserved_beside_pools_of_a_stated_size() -> None:
    fits = (158_229_504 - COMPUTED_BYTES - QUEUES_BYTES) // 2
    assert drawn("BUF008", pools(fits)) == []
    found = only("BUF008", pools(fits + 1))
    assert found.data["reserved_bytes"] == COMPUTED_BYTES + QUEUES_BYTES
    assert (found.severity, found.origin.path) == ("warning", ("BUFFER_POOL", "ingress_lossy_pool", "size"))
