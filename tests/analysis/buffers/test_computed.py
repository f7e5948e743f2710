"""What the dynamic buffer model makes of a switch, beside what is rendered where it is not used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.model.fabric.view import View
from tests.analysis.simulation.fabrics import declared, judged

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool

DYNAMIC: dict[str, Any] = {"buffers": {"model": "dynamic"}}


def leaf(patch: dict[str, Any]) -> Switch:
    return with_computed_buffers(declared(patch).fabric).switches[0]


def lossless_pool(switch: Switch) -> Pool:
    return next(pool for pool in switch.qos.pools if pool.name == "ingress_lossless_pool")


def profiles(switch: Switch) -> dict[int, BufferProfile]:
    """Return the lossless profile of each port speed in Gb/s."""
    return {
        (port.speed_bps or 0) // 10**9: group.buffer
        for port in switch.ports
        if port.qos is not None
        for group in port.qos.groups
        if group is not None and group.buffer is not None and group.buffer.lossless
    }


def test_a_fabric_without_the_dynamic_model_stays_what_it_is() -> None:
    fabric = declared().fabric
    assert with_computed_buffers(fabric) is fabric


def test_pools_are_those_that_are_rendered_but_for_the_headroom_computed_for_the_real_length() -> None:
    dynamic, rendered = leaf(DYNAMIC), leaf({})
    ports = {speed: sum(port.speed_bps == speed * 10**9 for port in dynamic.ports) for speed in (400, 800)}
    own, rows = profiles(dynamic), profiles(rendered)
    saved = sum(n * (rows[speed].reserved_bytes - own[speed].reserved_bytes) for speed, n in ports.items())
    (size, stock) = (lossless_pool(switch).size_bytes or 0 for switch in (dynamic, rendered))
    # Two ingress pools share what is left.
    assert size == pytest.approx(stock + saved / 2, abs=1)


def test_a_stated_ratio_makes_a_shared_headroom_pool() -> None:
    for ratio in (1, 2, 4):
        found = leaf({"buffers": {"model": "dynamic", "headroom_oversubscription": ratio}})
        pool, own = lossless_pool(found), profiles(found)
        ports = {speed: sum(port.speed_bps == speed * 10**9 for port in found.ports) for speed in own}
        claimed = sum(n * (own[speed].headroom_bytes or 0) - n * 10 * 1024 for speed, n in ports.items())
        assert pool.shared_headroom_bytes == -(-claimed // ratio)
        assert all(one.reserved_bytes == one.xon_bytes for one in own.values())


def test_barefoot_pools_have_the_sizes_that_sonic_fixes() -> None:
    """buffer_pool_barefoot.lua @fbc3657: 43,067,728 B, and 0.7 x 2 x 400 cells for each port."""
    found = leaf(DYNAMIC | {
        "hardware": {"leaf": "accton-as9516", "spine": "accton-as9516"},
        "topology": {"leaf_spine": {"uplinks": "2 x 400G"}},
    })  # fmt: skip
    ports = len(found.ports) + len(found.unused)
    assert lossless_pool(found)[3:5] == (43_067_728, int(ports * 2 * 400 * 176 * 0.7))


def test_what_the_switch_is_not_told_is_not_guessed() -> None:
    fabric = declared(DYNAMIC).fabric
    untold = tuple(switch._replace(qos=switch.qos._replace(dynamic=None)) for switch in fabric.switches)
    assert with_computed_buffers(fabric._replace(switches=untold)).switches == untold


def test_switches_that_are_alike_still_share_their_ports() -> None:
    found = with_computed_buffers(declared(DYNAMIC).fabric)
    assert len(View(found).alike) == len(View(declared(DYNAMIC).fabric).alike)


def test_the_packet_level_model_follows_it() -> None:
    pytest.importorskip("numba")
    verdict = judged(declared(DYNAMIC), pattern="incast", size_bytes=1 << 20)
    assert (verdict.verdict, verdict.drops.seeds) == ("safe", 0)
