"""ConnectX parameters in the model's units, by hand, and what adapters and intents make of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lossless.analysis.simulation.engine.network import SimDcqcn
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.nodes import (
    RateControl,
    dcqcn,
    dcqcn_defaults,
    dcqcn_of,
    rate_control,
)
from lossless.model.hardware.load import load_nic, nic_names
from tests.analysis.simulation.fabrics import PFC_ONLY, declared, deployed, put

CONNECTX = {
    "dce_tcp_g": 1019,
    "dce_tcp_rtt": 1,
    "rate_reduce_monitor_period": 4,
    "rpg_time_reset": 300,
    "rpg_threshold": 1,
    "rpg_ai_rate": 5,
    "rpg_hai_rate": 50,
    "rpg_min_rate": 1,
    "min_time_between_cnps": 4,
    "rpg_byte_reset": 32_767,
    "initial_alpha_value": 1023,
    "rpg_gd": 11,
    "rpg_min_dec_fac": 50,
    "rate_to_set_on_first_cnp": 0,
    "rpg_max_rate": 0,
    "clamp_tgt_rate": 0,
    "clamp_tgt_rate_after_time_inc": 1,
}
"""Defaults of NVIDIA's DOCA documentation, in its units: microseconds, Mb/s, parts of 1,024, percent."""


def test_every_parameter_in_the_models_units() -> None:
    """g is what alpha does not keep: 1,024 - 1,019 of 1,024. With rpg_gd 11 a cut takes alpha / 2 of the rate.

    Without pacing lock, which at 1 Mb/s would keep a queue pair from sending for 33 ms although its rate has risen.
    """
    assert dcqcn(CONNECTX) == SimDcqcn(
        g=5 / 1024,
        alpha_us=1,
        decrease_us=4,
        increase_us=300,
        threshold=1,
        ai_bps=5_000_000,
        hai_bps=50_000_000,
        min_rate_bps=1_000_000,
        cnp_gate_us=4,
        byte_reset=2_097_088,
        initial_alpha=1023 / 1024,
        alpha_to_rate=0.5,
        min_decrease=0.5,
        first_rate_bps=0,
        release_bps=0,
        clamp=False,
        clamp_after_increase=True,
        pacing_lock=False,
    )


@pytest.mark.parametrize(
    ("name", "value", "field", "means"),
    [
        ("dce_tcp_g", 0, "g", 1.0),
        ("dce_tcp_g", 1024, "g", 0.0),
        ("dce_tcp_rtt", 55, "alpha_us", 55),
        ("rate_reduce_monitor_period", 50, "decrease_us", 50),
        ("rpg_time_reset", 1500, "increase_us", 1500),
        ("rpg_threshold", 5, "threshold", 5),
        ("rpg_ai_rate", 40, "ai_bps", 40e6),
        ("rpg_hai_rate", 200, "hai_bps", 200e6),
        ("rpg_min_rate", 100, "min_rate_bps", 100e6),
        ("min_time_between_cnps", 0, "cnp_gate_us", 0),
        ("rpg_byte_reset", 0, "byte_reset", 0),
        ("rpg_byte_reset", 150, "byte_reset", 9600),
        ("initial_alpha_value", 512, "initial_alpha", 0.5),
        ("rpg_gd", 10, "alpha_to_rate", 1.0),
        ("rpg_min_dec_fac", 10, "min_decrease", 0.1),
        ("rate_to_set_on_first_cnp", 25_000, "first_rate_bps", 25e9),
        ("rpg_max_rate", 100_000, "release_bps", 100e9),
        ("clamp_tgt_rate", 1, "clamp", True),
        ("clamp_tgt_rate_after_time_inc", 0, "clamp_after_increase", False),
    ],
)
def test_each_parameter_moves_its_own_field_alone(name: str, value: int, field: str, means: Any) -> None:
    changed = dcqcn({**CONNECTX, name: value})
    assert getattr(changed, field) == means
    assert changed._replace(**{field: getattr(dcqcn(CONNECTX), field)}) == dcqcn(CONNECTX)


@given(st.integers(0, 1024), st.integers(0, 1023))
def test_weights_and_alpha_stay_parts_of_one(g: int, alpha: int) -> None:
    found = dcqcn({**CONNECTX, "dce_tcp_g": g, "initial_alpha_value": alpha})
    assert 0 <= found.g <= 1
    assert 0 <= found.initial_alpha < 1


# --- adapters ---


@pytest.mark.parametrize("name", nic_names())
def test_an_adapter_has_the_defaults_of_its_profile_or_none_that_are_known(name: str) -> None:
    profile = load_nic(name)
    known = {parameter.lower(): found.default for parameter, found in profile.dcqcn.items()}
    assert dcqcn_defaults(profile) == (dcqcn(known) if known else None)


def test_connectx_7_has_these_very_defaults_and_of_thor_none_are_known() -> None:
    assert dcqcn_defaults(load_nic("connectx-7")) == dcqcn(CONNECTX)
    assert dcqcn_defaults(load_nic("broadcom-thor-2")) is None


# --- intents ---


def test_what_an_intent_states_goes_before_the_profile() -> None:
    stated = {"cnp_interval": "2us", "rpg_time_reset": "55us", "rpg_ai_rate": "1G", "rpg_min_dec_fac": "10%"}
    found = put(declared({"congestion_control": {"dcqcn": {**stated, "clamp_tgt_rate": True}}}))
    changed = {
        "min_time_between_cnps": 2,
        "rpg_time_reset": 55,
        "rpg_ai_rate": 1000,
        "rpg_min_dec_fac": 10,
        "clamp_tgt_rate": 1,
    }
    assert found.dcqcn == dcqcn({**CONNECTX, **changed})


def test_without_congestion_control_a_host_runs_none() -> None:
    view = declared(PFC_ONLY)
    assert {dcqcn_of(host.qos) for host in view.fabric.hosts} == {None}
    assert put(view).dcqcn is None


def test_at_a_deployed_switch_the_nic_that_is_asked_for_is_assumed() -> None:
    found = put(deployed(), nic=load_nic("connectx-7"))
    assert found.dcqcn == dcqcn(CONNECTX)
    assert found.assumed[:2] == (
        "DCQCN's byte counter counts in units of 64 B; sources disagree on the unit",
        "congestion control of senders: ZTR-RTTCC of ConnectX-7; DCQCN of BlueField-3 defaults stands for it; "
        "congestion_control: pfc-only shows them without any",
    )


def test_the_nic_that_an_intent_names_goes_before_the_one_that_is_asked_for() -> None:
    found = put(
        declared({"congestion_control": {"dcqcn": {"cnp_interval": "7us"}}}), nic=load_nic("connectx-7")
    )
    assert found.dcqcn is not None
    assert found.dcqcn.cnp_gate_us == 7


def mixed(first: str, others: str) -> Any:
    """Return three hosts at one leaf, the first with another adapter than the rest."""
    devices = {"l1": {"role": "leaf"}, "h1": {"role": "host", "nic": first}}
    devices |= {f"h{n}": {"role": "host"} for n in (2, 3)}
    links = [{"a": "l1", "b": f"h{n}", "links": "1 x 200G", "cable": "3m"} for n in (1, 2, 3)]
    topology = {"leaf_spine": None, "devices": devices, "links": links}
    policy = {"congestion_control": "dcqcn", "hardware": {"nic": others}}
    return declared({**policy, "topology": topology})


@pytest.mark.parametrize("first", ["broadcom-thor-2", "connectx-7"])
def test_each_host_sends_as_its_own_adapter_does(first: str) -> None:
    """Nobody publishes Thor's defaults: it keeps to line rate, beside ConnectX that does not."""
    other = {"broadcom-thor-2": "connectx-7", "connectx-7": "broadcom-thor-2"}[first]
    found = put(mixed(first, other), pattern="all-to-all")
    runs = {found.topology.host_of[nic].nic_name: found.dcqcn_of[nic] is not None for nic in found.nics}  # type: ignore[union-attr]
    assert runs == {"broadcom-thor-2": False, "connectx-7": True}
    assert (
        "the DCQCN of broadcom-thor-2 is unknown: senders keep to line rate until they are paused"
        in found.assumed
    )
    flows = instantiate(found, 1).network.flows
    assert len({flow.dcqcn for flow in flows}) == 2
    assert {control.name for control in found.rate_controls} == {
        "DCQCN of Thor 2 (BCM57608), parameters unknown; PFC alone stands for it",
        "ZTR-RTTCC of ConnectX-7; DCQCN of BlueField-3 defaults stands for it",
    }


# --- whose congestion control a run has ---


def control(policy: Any, nic: str = "connectx-6-dx") -> RateControl:
    """Return the one congestion control of the senders of an intent, whose links have a rate of every adapter."""
    links = [{"a": "l1", "b": f"h{n}", "links": "1 x 200G", "cable": "3m"} for n in (1, 2)]
    devices = {"l1": {"role": "leaf"}, "h1": {"role": "host"}, "h2": {"role": "host"}}
    topology = {"leaf_spine": None, "devices": devices, "links": links}
    view = declared({"congestion_control": policy, "hardware": {"nic": nic}, "topology": topology})
    (found,) = put(view).rate_controls
    return found


def test_an_adapter_that_ships_with_dcqcn_and_its_own_defaults_is_named_by_them() -> None:
    assert control("dcqcn") == RateControl("DCQCN of ConnectX-6 Dx defaults", stands_in=False)


def test_a_parameter_that_the_intent_changes_is_named_and_one_it_repeats_is_not() -> None:
    stated = {"rpg_time_reset": "300us", "rpg_ai_rate": "1G"}
    assert control({"dcqcn": stated}).name == "DCQCN of ConnectX-6 Dx defaults but for rpg_ai_rate"


def test_dcqcn_stands_for_another_algorithm_and_for_an_unknown_one() -> None:
    assert control("dcqcn", "bluefield-3") == RateControl(
        "ZTR-RTTCC of BlueField-3; DCQCN of BlueField-3 defaults stands for it", stands_in=True
    )
    assert control("dcqcn", "connectx-8") == RateControl(
        "unknown algorithm of ConnectX-8 SuperNIC; DCQCN of BlueField-3 defaults stands for it",
        stands_in=True,
    )


def test_pfc_alone_is_named_where_it_is_declared() -> None:
    view = declared(PFC_ONLY)
    assert put(view).rate_controls == (RateControl("PFC alone", stands_in=False),)
    assert not any("congestion control of senders" in text for text in put(view).assumed)


def test_without_a_nic_pfc_alone_stands_for_the_unknown() -> None:
    assert put(deployed()).rate_controls == (
        RateControl("unknown algorithm; PFC alone stands for it", stands_in=True),
    )


def test_a_host_that_was_read_has_the_parameters_that_were_read() -> None:
    (host, *_) = declared({"congestion_control": "dcqcn"}).fabric.hosts
    read = host.qos._replace(nic=None, dcqcn=host.qos.dcqcn._replace(provenance="deployed"))
    assert rate_control(read, None) == RateControl("DCQCN as read from hosts", stands_in=False)
    assert rate_control(host.qos._replace(dcqcn=read.dcqcn), None) == RateControl(
        "ZTR-RTTCC of ConnectX-7; DCQCN as read from hosts stands for it", stands_in=True
    )
