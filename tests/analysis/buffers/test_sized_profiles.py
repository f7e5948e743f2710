"""What profiles reserve beside lossless groups, and speeds on offer: a deployed switch against SONiC's own scripts.

The sizes are what cfgmgr/buffer_pool_mellanox.lua and buffer_headroom_mellanox.lua of sonic-swss @e6b0c5b give for the
same rows (Lua 5.1, 192 B cells, pipeline latency of 19 KiB, MAC and PHY delay of 0.8 KiB).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
from lossless.analysis.buffers.headroom.port import computed_headroom
from lossless.api import load_fabrics
from lossless.model.fabric.view import View
from tests.checks.rules.checking import patched

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Switch

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
QUEUES = {f"{port}|{number}": {"profile": "queue_8k"} for port in PORTS for number in range(7) if number != 3}
SIZED: dict[str, dict[str, Any]] = {
    "as-shipped": {},
    "queues": {"BUFFER_QUEUE": QUEUES},
    "lossy-groups": {"BUFFER_PROFILE": {"ingress_lossy_profile": {"size": "36864"}}},
    "queues of a port that is down": {
        "PORT": {"Ethernet0": {"admin_status": "down"}},
        "BUFFER_QUEUE": QUEUES,
    },
    "egress-list": {"BUFFER_PROFILE": {"egress_lossy_profile": {"size": "4096"}}},
}


def sized(**tables: Any) -> Document:
    """Return a leaf of the dynamic model with groups of stated headroom, some queues and groups with a size."""
    none: dict[str, Any] = {"size": None}
    queue = {"queue_8k": {"pool": "egress_lossy_pool", "size": "8192", "dynamic_th": "3"}}
    return patched(
        "leaf.json",
        {
            "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
            "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
            "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
            "BUFFER_POOL": dict.fromkeys(
                ("ingress_lossless_pool", "ingress_lossy_pool", "egress_lossy_pool"), none
            ),
            **tables,
            "BUFFER_PROFILE": {**queue, **tables.get("BUFFER_PROFILE", {})},
        },
    )


def computed(document: Document) -> Switch:
    return with_computed_buffers(load_fabrics([document]).fabrics[0]).switches[0]


@pytest.mark.parametrize(
    ("name", "pool_bytes"),
    [
        ("as-shipped", 78_338_560),
        ("queues", 78_347_776),
        ("queues of a port that is down", 78_526_976),
        ("lossy-groups", 78_283_264),
        ("egress-list", 78_392_320),
    ],
)
def test_pools_leave_room_for_every_profile_with_a_size(name: str, pool_bytes: int) -> None:
    pools = computed(sized(**SIZED[name])).qos.pools
    assert {pool.size_bytes for pool in pools if pool.name == "ingress_lossless_pool"} == {pool_bytes}


def slow(**fields: str) -> Document:
    """Return the leaf with groups that the switch computes, and a first port of 25G that may offer more."""
    port = {"speed": "25000", "lanes": "0", **fields}
    groups = {f"{name}|3": {"profile": "NULL"} for name in PORTS}
    return sized(PORT={"Ethernet0": port}, BUFFER_PG=groups)


def headroom_bytes(document: Document) -> int:
    view = View(load_fabrics([document]).fabrics[0])
    (ports,) = (ports for ports in view.lossless_sets if ports.elements == ("leaf1:Ethernet0",))
    need = computed_headroom(ports)
    assert isinstance(need, HeadroomNeed)
    return need.headroom_bytes


@pytest.mark.parametrize(
    ("fields", "xoff_bytes"),
    [
        ({}, 48_128),
        ({"autoneg": "on", "adv_speeds": "10000,50000,25000"}, 62_464),
        ({"autoneg": "off", "adv_speeds": "50000"}, 48_128),
        ({"autoneg": "on"}, 48_128),
        ({"autoneg": "on", "adv_speeds": "all"}, 48_128),
    ],
)
def test_a_port_that_negotiates_has_headroom_for_the_fastest_speed_it_offers(
    fields: dict[str, str], xoff_bytes: int
) -> None:
    assert headroom_bytes(slow(**fields)) == xoff_bytes


def profile_name(document: Document, port_name: str) -> str:
    port = next(port for port in computed(document).ports if port.name == port_name)
    group = port.qos.groups[3] if port.qos is not None else None
    assert group is not None
    assert group.buffer is not None
    return group.buffer.name


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"mtu": "9100"}, "pg_lossless_25000_5m_profile"),
        ({"mtu": "1500"}, "pg_lossless_25000_5m_mtu1500_profile"),
        ({"autoneg": "on", "adv_speeds": "50000"}, "pg_lossless_50000_5m_profile"),
        ({"speed": "400000", "lanes": "0,1,2,3,4,5,6,7"}, "pg_lossless_400000_5m_8lane_profile"),
        (
            {"speed": "400000", "lanes": "0,1,2,3,4,5,6,7", "mtu": "1500"},
            "pg_lossless_400000_5m_mtu1500_8lane_profile",
        ),
    ],
)
def test_computed_profiles_are_called_as_the_switch_calls_them(fields: dict[str, str], name: str) -> None:
    """sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b (getDynamicProfileName)."""
    assert profile_name(slow(**fields), "Ethernet0") == name
    assert profile_name(slow(**fields), "Ethernet8") == "pg_lossless_800000_40m_profile"
