"""TOP015 and TOP016: what profiles say of NICs and switches, held against what an intent declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.checks.rules.base import Violation
from lossless.checks.rules.topology.top015_packets_out_of_order import check
from lossless.model.fabric.view import View
from lossless.model.hardware.model import PacketReorder
from tests.checks.rules.linted import drawn, intent, intent_view, only

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.hosts import HostQos

ADAPTIVE = {"topology": {"routing": {"load_balancing": "adaptive"}}}
IN_ORDER = PacketReorder(able=False, setting=None, frames=None, source="a data sheet")
A_WINDOW = PacketReorder(able=True, setting=None, frames=64, source="a data sheet")


def said(reorder: PacketReorder, patch: Mapping[str, Any]) -> list[Violation]:
    """Return what TOP015 says where the profile of the NIC says something else."""
    fabric = intent_view(dict(patch)).fabric
    hosts = tuple(host._replace(qos=_with(host.qos, reorder)) for host in fabric.hosts)
    return [result for result in check(View(fabric._replace(hosts=hosts))) if isinstance(result, Violation)]


def _with(qos: HostQos, reorder: PacketReorder) -> HostQos:
    assert qos.nic is not None
    return qos._replace(nic=qos.nic._replace(reorder=reorder))


def test_a_nic_that_is_known_to_need_order_is_named_where_packets_overtake_each_other() -> None:
    (violation,) = said(IN_ORDER, ADAPTIVE)
    assert violation.data == {"nic": "connectx-7"}
    assert violation.origin.path == ("topology", "routing", "load_balancing")


LOSSY = {"classes": {"rdma": {"lossless": False}}, "pfc": "off"}


def test_order_matters_to_lossy_roce_and_not_to_ultra_ethernet() -> None:
    (violation,) = said(IN_ORDER, {**ADAPTIVE, **LOSSY})
    assert violation.data == {"nic": "connectx-7"}
    assert said(IN_ORDER, {**ADAPTIVE, **LOSSY, "transport": "uec", "congestion_control": "nscc"}) == []


def test_a_nic_that_is_known_to_need_order_is_not_said_to_take_any() -> None:
    (violation,) = said(IN_ORDER, {**ADAPTIVE, "hosts": {"reorder": "any"}})
    assert violation.data == {"nic": "connectx-7", "frames": None}
    assert violation.origin.path == ("hosts", "reorder")


@pytest.mark.parametrize("stated", ["any", 65, 1024])
def test_no_nic_is_said_to_take_more_than_its_profile_says(stated: str | int) -> None:
    (violation,) = said(A_WINDOW, {**ADAPTIVE, "hosts": {"reorder": stated}})
    assert violation.data == {"nic": "connectx-7", "frames": 64}
    assert violation.origin.path == ("hosts", "reorder")


@pytest.mark.parametrize("stated", [1, 64])
def test_what_a_profile_says_may_be_stated(stated: int) -> None:
    assert said(A_WINDOW, {**ADAPTIVE, "hosts": {"reorder": stated}}) == []


def on(leaf: str, spine: str, **changes: Any) -> dict[str, Any]:
    """Return the patch of an intent whose switches run Cumulus Linux, joined by links of 400G."""
    hardware = {
        role: {"profile": name, "format": "nvue"} for role, name in (("leaf", leaf), ("spine", spine))
    }
    routing = {"leaf_spine": {"uplinks": "4 x 400G"}, "routing": {"load_balancing": "adaptive"}}
    return {"hardware": hardware, "topology": routing, **changes}


def test_order_is_not_asked_for_where_no_switch_can_spread_packets() -> None:
    report = intent(on("nvidia-sn4700", "nvidia-sn4700"))
    assert only(report, "TOP016").severity == "warning"
    assert drawn(report, "TOP015") == []


def test_order_is_asked_for_where_some_switches_spread_packets() -> None:
    report = intent(on("nvidia-sn5600", "nvidia-sn4700"))
    assert only(report, "TOP016").elements == ("spine1", "spine2")
    assert only(report, "TOP015").severity == "warning"


def test_nics_that_need_order_stay_an_error_on_switches_that_cannot_spread() -> None:
    report = intent(on("nvidia-sn4700", "nvidia-sn4700", hosts={"reorder": "none"}))
    assert only(report, "TOP015").severity == "error"


def test_links_of_400g_between_switches_of_spectrum_4_are_what_cumulus_linux_routes_adaptively() -> None:
    assert drawn(intent(on("nvidia-sn5600", "nvidia-sn5600", hosts={"reorder": "any"})), "TOP016") == []


def test_links_of_800g_are_information_and_say_nothing_of_the_nics() -> None:
    patch = on("nvidia-sn5600", "nvidia-sn5600")
    patch["topology"]["leaf_spine"]["uplinks"] = "2 x 800G"
    report = intent(patch)
    assert only(report, "TOP016").severity == "info"
    assert only(report, "TOP016").data["speeds_bps"] == [800 * 10**9]
    assert only(report, "TOP015").severity == "warning"


def test_links_to_hosts_are_no_choice_of_a_switch() -> None:
    patch = on("nvidia-sn5600", "nvidia-sn5600", hosts={"reorder": "any"})
    patch["topology"]["leaf_spine"]["host_links"] = "2 x 100G"
    assert drawn(intent(patch), "TOP016") == []
