"""How a NIC shares its wire, from the classes of an intent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.ground.basics.records import certain
from tests.strategies import fabric_of

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import HostQos

ECN = {"min": "150 KiB", "max": "1000 KiB", "probability": "5%"}
CLASSES: dict[str, Any] = {
    "rdma": {"dscp": 26, "priority": 3, "lossless": True, "bandwidth": "60%", "ecn": ECN},
    "cnp": {"dscp": 48, "priority": 6, "scheduling": "strict"},
    "video": {"dscp": 34, "priority": 4, "bandwidth": "10%"},
    "default": {"dscp": "rest", "priority": 0, "bandwidth": "30%"},
}


def first_host(nic: str, classes: dict[str, Any] = CLASSES, **hosts: Any) -> HostQos:
    """Return a host of a small fabric with such NICs and classes."""
    intent = {
        "lossless": "v1",
        "fabric": "shares",
        "transport": "rocev2",
        "classes": classes,
        "congestion_control": "dcqcn",
        "hardware": {"leaf": "nvidia-sn5600", "spine": "nvidia-sn5600", "nic": nic},
        "hosts": hosts,
        "topology": {
            "leaf_spine": {
                "leaves": 2,
                "spines": 1,
                "hosts_per_leaf": 2,
                "host_links": "1 x 400G",
                "uplinks": "2 x 800G",
                "cables": {"host": "3m", "uplink": "30m"},
            }
        },
    }
    return fabric_of(intent).hosts[0].qos


def without_shares(classes: dict[str, Any]) -> dict[str, Any]:
    """Return classes none of which states a share."""
    return {
        name: {key: value for key, value in cls.items() if key != "bandwidth"}
        for name, cls in classes.items()
    }


def test_mlnx_qos_leaves_shares_as_they_are() -> None:
    host = first_host("connectx-7")
    assert (host.tool, host.ets, host.traffic_class) == ("mlnx_qos", None, 106)


def test_every_class_has_a_tc_of_its_own_the_rest_first() -> None:
    ets = certain(first_host("connectx-7", tool="dcb").ets)
    assert ets is not None
    assert ets.priority_to_tc == (0, 0, 0, 1, 2, 0, 3, 0)
    assert ets.tsa == ("ets", "ets", "ets", "strict", "strict", "strict", "strict", "strict")
    assert ets.bandwidth_percent == (30, 60, 10, 0, 0, 0, 0, 0)


def test_shares_that_are_not_stated_are_not_made_up() -> None:
    assert first_host("connectx-7", without_shares(CLASSES), tool="dcb").ets is None


@pytest.mark.parametrize("tool", ["dcb", "niccli"])
def test_a_thor_has_tcs_by_what_they_carry(tool: str) -> None:
    host = first_host("broadcom-thor-2", tool=tool)
    ets = certain(host.ets)
    assert ets is not None
    assert (host.tool, host.traffic_class) == (tool, 104), "its ECN bits are set elsewhere"
    assert ets.priority_to_tc == (0, 0, 0, 1, 0, 0, 2, 0)
    assert ets.tsa[:3] == ("ets", "ets", "strict")
    assert ets.bandwidth_percent == (40, 60, 0, 0, 0, 0, 0, 0)


def test_a_thor_without_stated_shares_has_halves() -> None:
    ets = certain(first_host("broadcom-thor-2", without_shares(CLASSES)).ets)
    assert ets is not None
    assert ets.bandwidth_percent[:2] == (50, 50)
