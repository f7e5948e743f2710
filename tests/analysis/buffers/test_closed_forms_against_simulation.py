"""The closed forms against a packet-level simulation (ns-3.39, inet-tub/ns3-datacenter @6ddb4a4)."""

from __future__ import annotations

import json
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from lossless.analysis.buffers.ecn_marking import group_threshold_bytes
from lossless.analysis.buffers.headroom.formulas import floor_headroom
from lossless.ground.basics.units import LIGHT_IN_FIBRE_M_PER_S
from tests.analysis.buffers.closed_forms import first_pfc_ns, peak_egress_bytes

if TYPE_CHECKING:
    from pathlib import Path

WIRE_OVERHEAD_BYTES = 48
SIMULATED_PFC_BYTES = 43

Case = dict[str, Any]


class Incast(NamedTuple):
    """One N:1 incast through one switch, without congestion control."""

    name: str
    case: Case
    fan_in: int
    rate_bps: int
    threshold_bytes: float
    need_bytes: int
    headroom_bytes: int

    @property
    def result(self) -> dict[str, Any]:
        return dict(self.case["result"])


@pytest.fixture(scope="module")
def designed(reference: Path) -> list[Case]:
    return load(reference, "designed.json")


@pytest.fixture(scope="module")
def every_case(reference: Path, designed: list[Case]) -> list[Case]:
    return designed + load(reference, "random.json")


def load(reference: Path, name: str) -> list[Case]:
    text = (reference / "reference" / "packet-sim" / name).read_text(encoding="utf-8")
    return list(json.loads(text)["cases"])


def floors(scenario: dict[str, Any]) -> dict[tuple[int, int], int]:
    """Return the floor of every ingress port, by (switch, neighbor), where all frames are of the MTU as they are here.

    The reverse direction is taken as free of data: ACKs are 60 B, and the tighter claim is the better test.
    """
    needs = {}
    for link in scenario["links"]:
        for switch, neighbor in ((link["a"], link["b"]), (link["b"], link["a"])):
            rate_bps = round(link["gbps"] * 10**9)
            frame_bytes = scenario["mtu"] + WIRE_OVERHEAD_BYTES
            *flight, _ = floor_headroom(
                rate_bps,
                link["delay_us"] * 1e-6 * LIGHT_IN_FIBRE_M_PER_S,
                frame_bytes,
                0,
                peer_response_bytes=scenario["pfc_resp_ns"] * rate_bps / 8e9,
                pfc_frame_bytes=SIMULATED_PFC_BYTES,
            ).terms
            needs[switch, neighbor] = frame_bytes * (
                1 + ceil(sum(term.bytes for term in flight) / frame_bytes)
            )
    return needs


def ample(scenario: dict[str, Any]) -> bool:
    needs = floors(scenario)
    return all(port["headroom"] >= needs[port["sw"], port["nbr"]] for port in scenario["ports"])


def incast(case: Case) -> Incast:
    scenario = case["scenario"]
    switch = scenario["switches"][0]
    ((receiver, fan_in),) = Counter(flow[1] for flow in scenario["flows"]).items()
    pool = switch["pool_bytes"] - switch["reserved"] * len(scenario["ports"])
    threshold = group_threshold_bytes(switch["alpha"], pool, fan_in, switch["reserved"])
    sender = scenario["flows"][0][0]
    (rate_bps,) = {round(link["gbps"] * 10**9) for link in scenario["links"]}
    (headroom,) = {port["headroom"] for port in scenario["ports"] if port["nbr"] != receiver}
    need = floors(scenario)[switch["id"], sender]
    return Incast(scenario["name"], case, fan_in, rate_bps, threshold, need, headroom)


def incasts(cases: list[Case]) -> list[Incast]:
    """Return the PFC-only incasts over equal links in which nobody forces a pause and PFC fires."""
    return [
        incast(case)
        for case in cases
        if (scenario := case["scenario"])["cc"] == "off"
        and scenario["topo"] == "single"
        and not scenario["force"]
        and case["result"]["first_pfc_ns"] >= 0
        and len({link["gbps"] for link in scenario["links"]}) == 1
    ]


def synchronous(found: list[Incast]) -> list[Incast]:
    return [one for one in found if len({flow[3] for flow in one.case["scenario"]["flows"]}) == 1]


def test_no_paused_group_uses_more_than_the_floor(designed: list[Case]) -> None:
    used = []
    for case in designed:
        needs = floors(case["scenario"])
        for switch in case["per_port"]["switches"]:
            paused = (port for port in switch["ports"] if port["pfc_tx"])
            used += [port["max_hdrm"] / needs[switch["id"], port["nbr"]] for port in paused]
    assert len(used) == 431
    # Nearly all of it is used, so a floor smaller by one frame would be too small.
    assert 0.98 < max(used) <= 1


def test_nothing_drops_where_every_port_has_the_floor(every_case: list[Case]) -> None:
    enough = [case for case in every_case if ample(case["scenario"])]
    assert len(enough) == 111
    assert [case["scenario"]["name"] for case in enough if case["result"]["drops"]] == []
    most = [case["result"]["max_hdrm_B"] / max(floors(case["scenario"]).values()) for case in enough]
    assert 0.999 < max(most) <= 1


def test_first_pfc_of_a_synchronous_incast_is_predicted_within_0_6_percent(designed: list[Case]) -> None:
    found = synchronous(incasts(designed))
    assert len(found) == 11
    for one in found:
        error = predicted_first_pfc_ns(one) / one.result["first_pfc_ns"] - 1
        assert abs(error) < 0.006, one.name


def test_first_pfc_of_every_synchronous_incast_is_predicted_to_within_a_frame(every_case: list[Case]) -> None:
    found = synchronous(incasts(every_case))
    assert len(found) == 15
    for one in found:
        # A group grows in whole frames, so the threshold is crossed up to one frame's growth away.
        frame_bytes = one.case["scenario"]["mtu"] + WIRE_OVERHEAD_BYTES
        growth_ns = first_pfc_ns(frame_bytes, one.rate_bps, one.fan_in)
        assert abs(predicted_first_pfc_ns(one) - one.result["first_pfc_ns"]) < growth_ns, one.name


def predicted_first_pfc_ns(one: Incast) -> float:
    scenario = one.case["scenario"]
    arrival_ns = scenario["flows"][0][3] + scenario["links"][0]["delay_us"] * 1000
    return first_pfc_ns(one.threshold_bytes, one.rate_bps, one.fan_in, first_arrival_ns=arrival_ns)


def test_the_egress_peak_is_met_within_1_percent_where_headroom_is_enough(every_case: list[Case]) -> None:
    errors = peak_errors([one for one in incasts(every_case) if one.headroom_bytes >= one.need_bytes])
    assert len(errors) == 10
    assert max(errors.values()) < 0.01


def test_the_egress_peak_is_met_within_5_percent_where_headroom_is_short(every_case: list[Case]) -> None:
    errors = peak_errors([one for one in incasts(every_case) if one.headroom_bytes < one.need_bytes])
    beyond = {name for name, error in errors.items() if error >= 0.01}
    assert (len(errors), beyond) == (12, {"D02_hdrm_0.6_400g", "R026_s48", "R082_s4", "R209_s12"})
    assert max(errors.values()) < 0.05


def peak_errors(found: list[Incast]) -> dict[str, float]:
    errors = {}
    for one in found:
        held = min(one.need_bytes, one.headroom_bytes)
        peak = peak_egress_bytes(one.threshold_bytes, held, one.fan_in)
        errors[one.name] = abs(peak / one.result["max_egress_B"] - 1)
    return errors
