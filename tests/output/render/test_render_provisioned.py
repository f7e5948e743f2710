"""What a base is provisioned with and its intent must agree to: asymmetric PFC, tunnels, LAGs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lossless.api import lint_documents
from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import RenderError
from lossless.ground.documents import load_text
from tests.formats.intent.intent_texts import SHAPE, spoilt
from tools.example_base import base_of

Data = dict[str, Any]
LAGS = spoilt(SHAPE, ("leaves: 2", "lag: on\n    leaves: 2"))
DUAL = spoilt(SHAPE, ("leaves: 2", "dual_tor: on\n    leaves: 2"))
ASYMMETRIC = spoilt(SHAPE, ("  watchdog:", "  asymmetric: on\n  watchdog:"))


def rendered(text: str, change: Callable[[Data], object]) -> Data:
    fabric = resolve(load_intent(load_text(text, "fabric.yaml")))
    base = base_of(fabric, fabric.switches[0])
    change(base)
    document = load_text(json.dumps(base), "base/leaf1/config_db.json")
    found: Data = json.loads(switch_file(fabric.switches[0], document).text)
    return found


def refusal(text: str, change: Callable[[Data], object]) -> str:
    with pytest.raises(RenderError) as caught:
        rendered(text, change)
    return str(caught.value).removeprefix("base/leaf1/config_db.json: ")


def asymmetric(*ports: str) -> Callable[[Data], object]:
    return lambda base: [base["PORT"][port].update(pfc_asym="on") for port in ports]


def members(**lags: str) -> Callable[[Data], object]:
    rows: Data = {f"{lag}|{port}": {} for port, lag in lags.items()}
    return lambda base: base.update(PORTCHANNEL_MEMBER=rows)


TUNNEL = {"MuxTunnel0": {"tunnel_type": "IPINIP", "decap_dscp_to_tc_map": "AZURE_TUNNEL"}}


def test_a_base_with_asymmetric_pfc_is_refused_unless_the_intent_states_it() -> None:
    assert refusal(SHAPE, asymmetric("Ethernet0", "Ethernet4")) == (
        "PORT|Ethernet0|pfc_asym is on and 1 more: such ports obey pauses of all 8 priorities; "
        "state pfc.asymmetric, or switch it off"
    )
    found = rendered(ASYMMETRIC, asymmetric("Ethernet0"))
    up = {port for port, row in found["PORT"].items() if row.get("pfc_asym") == "on"}
    assert up == {port for port, row in found["PORT_QOS_MAP"].items() if "pfc_enable" in row}


def test_stating_asymmetric_pfc_keeps_all_else_of_a_port() -> None:
    before = rendered(SHAPE, Data.copy)["PORT"]["Ethernet0"]
    assert rendered(ASYMMETRIC, Data.copy)["PORT"]["Ethernet0"] == before | {"pfc_asym": "on"}


def test_a_file_without_a_base_that_sets_asymmetric_pfc_is_no_file_of_ports_without_lanes() -> None:
    fabric = resolve(load_intent(load_text(ASYMMETRIC, "fabric.yaml")))
    text = switch_file(fabric.switches[0], None).text
    assert "pfc_asym" in text
    report = lint_documents([load_text(text, "leaf1/qos.json")])
    assert [finding.code for finding in report.findings if finding.severity != "info"] == []
    assert [finding.code for finding in report.findings if finding.code == "SCM005"] == []


def test_a_tunnel_must_not_lose_the_maps_it_names() -> None:
    assert refusal(SHAPE, lambda base: base.update(TUNNEL=TUNNEL)) == (
        "TUNNEL|MuxTunnel0|decap_dscp_to_tc_map names DSCP_TO_TC_MAP AZURE_TUNNEL, which the intent does not have; "
        "state dual_tor for leaf1, or take the field off"
    )
    assert rendered(DUAL, lambda base: base.update(TUNNEL=TUNNEL))["TUNNEL"] == TUNNEL


def test_a_tunnel_that_names_no_maps_is_left_alone() -> None:
    plain = {"MuxTunnel0": {"tunnel_type": "IPINIP"}}
    assert rendered(SHAPE, lambda base: base.update(TUNNEL=plain))["TUNNEL"] == plain


def test_members_of_one_lag_cannot_be_in_two_lags_of_the_device() -> None:
    assert refusal(LAGS, members(Ethernet32="PortChannel1", Ethernet40="PortChannel9")) == (
        "PORTCHANNEL_MEMBER has Ethernet32 in PortChannel1 and Ethernet40 in PortChannel9; "
        "the intent makes them members of one LAG"
    )


def test_the_device_names_its_lags_as_it_likes() -> None:
    rendered(
        LAGS, members(Ethernet32="PortChannel101", Ethernet40="PortChannel101", Ethernet48="PortChannel7")
    )
