"""Cables that take the headroom row of a longer one: which row, and what it costs the shared buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.api import load_fabrics
from tests.checks.rules.checking import drawn, only, patched

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document

ROW_BYTES, NEED_BYTES = 1_150_976, 393_216
"""800G on an SN5600: the row of 300 m (sonic-buildimage pg_profile_lookup.ini @086b03b), and what SONiC's formula gives
50 m (sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b)."""


def uplinks(length: str, **more: Any) -> Document:
    return patched("leaf-spine.yaml", {"topology": {"leaf_spine": {"cables": {"uplink": length}}}, **more})


def stated(xoff: int) -> dict[str, Any]:
    return {"classes": {"rdma": {"buffer": {"by_speed": {"800G": {"xoff": f"{xoff} B"}}}}}}


def shared_bytes(document: Document) -> dict[str, int]:
    """Return what all ingress pools of each switch hold."""
    fabric = load_fabrics([document]).fabrics[0]
    return {
        switch.name: sum(pool.size_bytes or 0 for pool in switch.qos.pools if pool.kind == "ingress")
        for switch in fabric.switches
    }


def test_the_finding_says_which_row_and_what_it_costs() -> None:
    found = only("BUF025", uplinks("50m"))
    assert found.data == {
        "row_cable_m": 300,
        "row_headroom_bytes": 1150976,
        "need_bytes": 393216,
        "unused_on_switch_bytes": 3031040,
    }
    assert (found.severity, found.places) == ("info", 16)
    assert found.origin.path == ("topology", "leaf_spine", "cables", "uplink")


def test_the_cost_is_what_the_pool_gains_where_headroom_is_stated() -> None:
    cost = only("BUF025", uplinks("50m")).data["unused_on_switch_bytes"]
    assert cost == 4 * (ROW_BYTES - NEED_BYTES)
    plenty, enough = shared_bytes(uplinks("50m")), shared_bytes(uplinks("50m", **stated(NEED_BYTES)))
    assert {enough[name] - plenty[name] for name in plenty} == {cost}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="keep the cable within the shorter row"),
        pytest.param({"buffers": {"model": "dynamic"}}, id="let the switch compute it"),
    ],
)
def test_who_follows_the_advice_has_no_finding(more: dict[str, Any]) -> None:
    document = uplinks("50m" if more else "40m", **more)
    assert drawn("BUF025", document) == []
    assert drawn("BUF001", document) + drawn("BUF002", document) == []


@pytest.mark.parametrize(
    ("length", "found"), [("5m", 0), ("6m", 0), ("40m", 0), ("160m", 0), ("41m", 1), ("300m", 0)]
)
def test_rounding_up_to_the_next_row_is_the_normal_way(length: str, found: int) -> None:
    assert len(drawn("BUF025", uplinks(length))) == found


def test_chips_without_a_formula_are_left_alone() -> None:
    arista = {"profile": "arista-7060x6-64pe"}
    topology = {"leaf_spine": {"cables": {"uplink": "6m"}}}
    document = patched(
        "leaf-spine.yaml", {"hardware": {"leaf": arista, "spine": arista}, "topology": topology}
    )
    assert drawn("BUF025", document) == []
