"""Reserved bytes and divided buffers: XOFF of a synchronous incast is that of closed forms."""

from __future__ import annotations

from typing import Any

import pytest

from lossless.analysis.buffers.ecn_marking import group_threshold_bytes
from lossless.analysis.simulation.engine.memory_units import MemoryUnit, memory_units
from lossless.analysis.simulation.engine.network import (
    SimCable,
    SimFlow,
    SimGroup,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSwitch,
)
from lossless.analysis.simulation.engine.run import Simulation

POOL_BYTES, FRAME_BYTES, SENDERS = 4_000_000, 4158, 8
FRAME_NS = 332.64
"""At 100 Gb/s."""
HEADROOM_BYTES = 300_000


def incast(switch: SimSwitch, *, reserved_bytes: int = 0, alpha: float = 1.0) -> Simulation:
    """Return hosts 1 to 8 that send to host 9 through switch 0, all at once and at one rate, at time zero."""
    group = SimGroup(alpha, HEADROOM_BYTES, reserved_bytes=reserved_bytes)
    end = SimPort((SimQueue(),), (group,))
    cables = tuple(SimCable(0, host, 1e11, 5, a_end=end) for host in range(1, SENDERS + 2))
    flows = tuple(SimFlow((host, 0, SENDERS + 1), 2 << 20) for host in range(1, SENDERS + 1))
    return Simulation(SimNetwork(SENDERS + 2, {0: switch}, cables, flows))


def xoff_bytes(simulation: Simulation) -> list[int]:
    """Return what groups hold, without headroom, once all that receive have asked for a pause."""
    now_ns = 0.0
    while (simulation.state.groups["first_pause_at"] >= 0).sum() < SENDERS:
        now_ns += FRAME_NS
        assert not simulation.advance(now_ns)
    groups = simulation.state.groups
    return [int(group["bytes"] - group["headroom_used"]) for group in groups if group["first_pause_at"] >= 0]


def switch_with(**other: object) -> SimSwitch:
    return SimSwitch(1 << 40, POOL_BYTES)._replace(**other)  # type: ignore[arg-type]


@pytest.mark.parametrize("reserved_bytes", [0, 20_000, 200_000])
@pytest.mark.parametrize("alpha", [0.125, 1.0, 8.0])
def test_what_groups_reserve_comes_on_top_of_their_share(reserved_bytes: int, alpha: float) -> None:
    """The pool is what is shared: each of 8 groups pauses at r + T(8) = r + alpha B / (1 + 8 alpha)."""
    held = xoff_bytes(incast(switch_with(reserved_apart=True), reserved_bytes=reserved_bytes, alpha=alpha))
    wanted = reserved_bytes + group_threshold_bytes(alpha, POOL_BYTES, SENDERS)
    assert len(held) == SENDERS
    assert all(abs(each - wanted) <= 2 * FRAME_BYTES for each in held)


def test_what_is_reserved_within_a_pool_is_taken_from_what_is_shared() -> None:
    reserved_bytes = 50_000
    held = xoff_bytes(incast(switch_with(), reserved_bytes=reserved_bytes))
    # Of a cable of 9 to each port, all 9 groups reserve.
    shared = POOL_BYTES - (SENDERS + 1) * reserved_bytes
    wanted = reserved_bytes + group_threshold_bytes(1.0, shared, SENDERS)
    assert all(abs(each - wanted) <= 2 * FRAME_BYTES for each in held)


@pytest.mark.parametrize(
    ("parts", "ports_per_part", "together"), [(1, 0, 8), (2, 16, 8), (2, 4, 4), (4, 2, 2)]
)
def test_senders_that_share_a_part_share_its_part_of_the_pool(
    parts: int, ports_per_part: int, together: int
) -> None:
    """T of a part with so many of the senders: alpha (B / parts) / (1 + alpha together)."""
    held = xoff_bytes(incast(switch_with(parts=parts, ports_per_part=ports_per_part)))
    wanted = group_threshold_bytes(1.0, POOL_BYTES // parts, together)
    assert len(held) == SENDERS
    assert all(abs(each - wanted) <= 2 * FRAME_BYTES for each in held)


def test_ports_that_nothing_comes_in_by_take_no_place_of_senders() -> None:
    """With the receiver and five idle hosts cabled first, four senders still share a part for four ports."""
    idle, senders, receiver = range(1, 6), range(6, 10), 10
    end = SimPort((SimQueue(),), (SimGroup(1.0, HEADROOM_BYTES),))
    cables = tuple(SimCable(0, host, 1e11, 5, a_end=end) for host in (receiver, *idle, *senders))
    flows = tuple(SimFlow((host, 0, receiver), 2 << 20) for host in senders)
    switch = switch_with(parts=2, ports_per_part=4)
    units = Simulation(SimNetwork(11, {0: switch}, cables, flows)).state.groups["unit"]
    received = Simulation(SimNetwork(11, {0: switch}, cables, flows))
    from_senders = [
        int(units[link])
        for link, (sender, there) in enumerate(received.index.wiring.ends)
        if there == 0 and sender in senders
    ]
    assert from_senders == [0] * 4


def test_a_shared_headroom_pool_is_divided_too() -> None:
    """Of 600 kB each of two parts has half: 8 groups that pause at once in one of them lose frames, and in one no."""
    short = {"headroom_pool_bytes": 1_200_000}
    groups = ended(switch_with(**short))
    used = int(groups["max_headroom"].sum())
    assert int(groups["drops"].sum()) == 0
    half = switch_with(parts=2, ports_per_part=16, headroom_pool_bytes=int(used * 1.2))
    whole = switch_with(headroom_pool_bytes=int(used * 1.2))
    assert int(ended(half)["drops"].sum()) > 0
    assert int(ended(whole)["drops"].sum()) == 0


def ended(switch: SimSwitch) -> Any:
    """Return the groups after 2 ms."""
    simulation = incast(switch)
    simulation.advance(2e6)
    return simulation.state.groups


def test_the_first_units_are_the_switches_and_parts_and_pools_follow() -> None:
    network = SimNetwork(2, {0: switch_with(), 1: switch_with(parts=2, other_pools=(9_000,))}, (), ())
    assert memory_units(network) == (
        MemoryUnit(0, 0),
        MemoryUnit(1, 0),
        MemoryUnit(1, 0, 1),
        MemoryUnit(1, 1, 0),
        MemoryUnit(1, 1, 1),
    )
