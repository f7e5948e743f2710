"""Headroom in closed form, held against the model where frames of all sizes mix.

The claim: where no frame is larger than P and none smaller than 64 B, a lossless group never drops that has the floor
of :func:`floor_headroom` for P, times the most memory that such a frame takes for each of its bytes (cells). Whatever
the sizes, the fan-in, the thresholds, the classes, the traffic on the path of the pause. Preamble and gap are left out
of the sum: they delay a pause, but take time and no memory after it.

It is not too much either: with frames of one size all of the floor is used but one frame, and at half of it frames are
lost at every rate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings, strategies as st

from lossless.analysis.buffers.headroom.formulas import (
    PAUSE_QUANTA,
    AsicInputs,
    LinkInputs,
    floor_headroom,
    mellanox_headroom,
    pause_response_bytes,
)
from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimFlow,
    SimGroup,
    SimPort,
    SimQueue,
    SimSwitch,
)
from lossless.analysis.simulation.question.nodes import propagation_ns, reaction_ns
from lossless.ground.basics.records import NamedTuple
from tests.analysis.simulation.made_networks import ENDLESS_BYTES, run, star

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.engine.run import RunOutcome

OVERHEAD, ACK, PFC = Physics().overhead_bytes, Physics().ack_frame_bytes, Physics().pfc_frame_bytes
RATES = [rate for rate in PAUSE_QUANTA if rate >= 25 * 10**9]
CELLS = [1, 64, 128, 144, 192, 208, 254]
SMALLEST, LARGEST = 64, 9216
ASICS = [AsicInputs(cell, 19 * 1024, 0.8 * 1024, 3.8 * 1024) for cell in (96, 144, 192)]
"""Spectrum, Spectrum-2 and -3, Spectrum-4 without tile: sonic-buildimage platform/mellanox/asic_table.j2 @086b03b."""


class Case(NamedTuple):
    """An incast through one switch. Sizes are bytes of frames without preamble and gap.

    Each sender sends frames of all ``sizes`` by turns; those of ``reverse_bytes`` come back to it (0: none do), and
    then ACKs go in both directions. ``still``: the switch may not send to the receiver.
    """

    rate_bps: int
    cable_m: int
    senders: int
    sizes: tuple[int, ...]
    reverse_bytes: int = 0
    cell_bytes: int = 1
    gap_bytes: int = 20
    classes: int = 1
    still: bool = False

    @property
    def largest_bytes(self) -> int:
        """P."""
        return max(self.sizes + ((self.reverse_bytes, ACK) if self.reverse_bytes else ()))

    @property
    def floor_bytes(self) -> int:
        """What is enough in bytes, were there no cells."""
        response = pause_response_bytes(self.rate_bps)
        assert response is not None
        return floor_headroom(
            self.rate_bps, self.cable_m, self.largest_bytes, self.reverse_bytes, peer_response_bytes=response
        ).headroom_bytes

    @property
    def need_bytes(self) -> int:
        """What is enough."""
        return math.ceil(self.floor_bytes * waste(self.cell_bytes, self.largest_bytes))


def waste(cell_bytes: int, largest_bytes: int) -> float:
    """Return the most memory that frames of some sizes take for each of their bytes."""
    sizes = range(SMALLEST, largest_bytes + 1)
    return max(-(-size // cell_bytes) * cell_bytes / size for size in sizes)


def incast(case: Case, kind: SimGroup, pool_bytes: int) -> SimNetwork:
    hub = case.senders + 1
    paths = [(host, hub, case.senders) for host in range(case.senders)]
    flows = [
        SimFlow(path, ENDLESS_BYTES, traffic_class=number % case.classes, mtu_bytes=size - OVERHEAD)
        for path in paths
        for number, size in enumerate(case.sizes)
    ]
    if case.reverse_bytes:
        back = [((host + 1) % case.senders, hub, host) for host in range(case.senders)]
        payload = case.reverse_bytes - OVERHEAD
        flows += [SimFlow(path, ENDLESS_BYTES, 37 * path[0], mtu_bytes=payload) for path in back]
    held = Hold(hub, case.senders, 0, 1e9, classes=tuple(range(case.classes)))
    return star(
        case.senders,
        SimPort((SimQueue(),) * case.classes, (kind,) * case.classes),
        SimSwitch(1 << 40, pool_bytes, cell_bytes=case.cell_bytes),
        flows=flows,
        classes=case.classes,
        rate_bps=case.rate_bps,
        propagation_ns=propagation_ns(case.cable_m),
        reaction_ns=reaction_ns(case.rate_bps),
        physics=Physics(gap_bytes=case.gap_bytes),
        holds=(held,) if case.still else (),
    )


def seen(case: Case, kind: SimGroup, pool_bytes: int = 1 << 36) -> RunOutcome:
    """Return what is seen until pauses have come and gone several times."""
    threshold_bytes = pool_bytes if kind.static_bytes is None else kind.static_bytes
    fill_ns = (threshold_bytes + 200 * case.largest_bytes) * 8e9 / case.rate_bps
    peer_ns = 2 * propagation_ns(case.cable_m) + reaction_ns(case.rate_bps)
    return run(incast(case, kind, pool_bytes), 2 * fill_ns + 8 * peer_ns).outcome()


def sizes_to(largest_bytes: int) -> st.SearchStrategy[int]:
    return st.one_of(
        st.sampled_from([SMALLEST, SMALLEST + 1, largest_bytes]), st.integers(SMALLEST, largest_bytes)
    )


MIXES = st.sampled_from([65, 130, 300, 1086, 4158, LARGEST]).flatmap(
    lambda largest: st.lists(sizes_to(largest), min_size=1, max_size=4).map(tuple)
)
CASES = st.builds(
    Case,
    rate_bps=st.sampled_from(RATES),
    cable_m=st.one_of(st.integers(1, 50), st.integers(1, 2000)),
    senders=st.integers(2, 16),
    sizes=MIXES,
    reverse_bytes=st.sampled_from([0, SMALLEST, 1086, LARGEST]),
    cell_bytes=st.sampled_from(CELLS),
    gap_bytes=st.sampled_from([0, 20]),
    classes=st.sampled_from([1, 1, 3]),
    still=st.booleans(),
)


# --- enough ---


@settings(max_examples=120)
@given(case=CASES, threshold=st.integers(0, 40_000), xon_offset=st.integers(0, 20_000))
def test_under_static_thresholds_the_floor_in_cells_never_drops(
    case: Case, threshold: int, xon_offset: int
) -> None:
    kind = SimGroup(None, case.need_bytes, 1, min(threshold, xon_offset), static_bytes=threshold)
    found = seen(case, kind)
    assert found.drops == 0
    assert found.headroom.bytes <= case.need_bytes


@settings(max_examples=120)
@given(
    case=CASES, dynamic_th=st.integers(-6, 3), pool=st.integers(20_000, 600_000), xon=st.integers(1, 20_000)
)
def test_under_dynamic_thresholds_the_floor_in_cells_never_drops(
    case: Case, dynamic_th: int, pool: int, xon: int
) -> None:
    found = seen(case, SimGroup(2.0**dynamic_th, case.need_bytes, xon), pool)
    assert found.drops == 0
    assert found.headroom.bytes <= case.need_bytes


def test_these_incasts_nearly_all_pause() -> None:
    """What the laws above are held against is not quiet."""
    paused: list[bool] = []

    @settings(max_examples=60)
    @given(case=CASES)
    def look(case: Case) -> None:
        paused.append(seen(case, SimGroup(None, case.need_bytes, 1, static_bytes=20_000)).pauses > 0)

    look()
    assert sum(paused) > 0.9 * len(paused)


# --- no more than enough ---


@given(rate_bps=st.sampled_from(RATES), cable_m=st.integers(1, 2000), size=st.integers(SMALLEST, LARGEST))
def test_frames_of_one_size_use_all_of_the_floor_but_one_frame(
    rate_bps: int, cable_m: int, size: int
) -> None:
    """The frame that passes the threshold, and whatever begins until the pause is obeyed: a byte less and one is lost.

    Without preamble and gap, while the switch sends nothing. What begins within a hair of that is left out: the model
    counts in whole picoseconds. The floor is that of the worst size up to the MTU, so never less than that of frames
    of the MTU.
    """
    case = Case(rate_bps, cable_m, 2, (size,), gap_bytes=0, still=True)
    begun = frames_until_obeyed(case)
    assume(0.001 < begun % 1 < 0.999)
    own_bytes = size * (2 + math.ceil(begun))
    assert case.need_bytes >= own_bytes
    assert just_enough(case, own_bytes - size)


@pytest.mark.parametrize(("cell", "size"), [(64, 65), (128, 64), (144, 64), (192, 64), (208, 64), (254, 64)])
@pytest.mark.parametrize("rate_bps", RATES)
def test_where_every_frame_wastes_what_it_can_all_is_used_but_one_frame(
    rate_bps: int, cell: int, size: int
) -> None:
    case = Case(rate_bps, 100, 2, (size,), cell_bytes=cell, gap_bytes=0, still=True)
    held = -(-size // cell) * cell
    assert case.need_bytes == pytest.approx(case.floor_bytes * held / size, abs=1)
    assert just_enough(case, case.floor_bytes // size * held - held)


def frames_until_obeyed(case: Case) -> float:
    response = pause_response_bytes(case.rate_bps) or 0
    return (PFC + response + 2 * propagation_ns(case.cable_m) * case.rate_bps / 8e9) / case.sizes[0]


def just_enough(case: Case, headroom_bytes: int) -> bool:
    """Return whether a headroom is all used and not a byte too much."""
    enough, short = (
        seen(case, SimGroup(None, room, static_bytes=20_000)) for room in (headroom_bytes, headroom_bytes - 1)
    )
    return (enough.headroom.bytes, enough.drops) == (headroom_bytes, 0) and short.drops > 0


@pytest.mark.parametrize("gap", [0, 20])
@pytest.mark.parametrize("rate_bps", RATES)
def test_at_half_of_it_some_incast_drops(rate_bps: int, gap: int) -> None:
    """At every rate, over short cables and over long, among frames that waste half of their cells and none."""
    dropping = [
        (cable_m, size)
        for cable_m in (3, 300)
        for size, cell in ((65, 64), (193, 192), (4158, 1))
        if drops_at_half(Case(rate_bps, cable_m, 16, (size,), 0, cell, gap))
    ]
    assert {cable_m for cable_m, _ in dropping} == {3, 300}
    assert {size for _, size in dropping} == {65, 193, 4158}


def drops_at_half(case: Case) -> bool:
    return seen(case, SimGroup(None, case.need_bytes // 2, 1, static_bytes=10_000)).drops > 0


# --- what SONiC computes ---


@settings(max_examples=120)
@given(
    case=CASES,
    asic=st.sampled_from(ASICS),
    lanes=st.sampled_from([1, 2, 4, 8]),
    threshold=st.integers(0, 40_000),
    port_mtu=st.integers(2 * 1086, 9216),
)
def test_the_formula_of_mellanox_chips_is_enough_for_small_packets_alone(
    case: Case, asic: AsicInputs, lanes: int, threshold: int, port_mtu: int
) -> None:
    """With 100 % small packets, and a port MTU that holds one frame of either direction together.

    The formula knows one frame ahead of the pause, of the port's MTU, and none that the peer has begun.
    """
    case = case._replace(cell_bytes=asic.cell_bytes)
    assume(case.reverse_bytes + case.largest_bytes <= port_mtu)
    link = LinkInputs(case.rate_bps, case.cable_m, lanes, port_mtu, case.largest_bytes, 100)
    need = mellanox_headroom(asic, link, shared_headroom=True)
    found = seen(case, SimGroup(None, need.headroom_bytes, 1, static_bytes=threshold))
    assert found.drops == 0


@pytest.mark.parametrize("rate_bps", [rate for rate in RATES if rate >= 100 * 10**9])
def test_the_formula_at_half_small_packets_is_not_enough_where_all_are_small(rate_bps: int) -> None:
    """A frame of 193 B takes two cells of 192 B; the formula counts on a quarter more than frames have."""
    case = Case(rate_bps, 300, 16, (193,), cell_bytes=192, still=True)
    headroom = [
        mellanox_headroom(
            ASICS[-1], LinkInputs(rate_bps, 300, 4, 9100, 1024, percent), shared_headroom=False
        ).headroom_bytes
        for percent in (50, 100)
    ]
    assert [seen(case, SimGroup(None, room, static_bytes=10_000)).drops > 0 for room in headroom] == [
        True,
        False,
    ]
