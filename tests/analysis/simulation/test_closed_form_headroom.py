"""The closed-form headroom against the packet-level model: enough, and not twice too much.

The claim: a group of frames of one size never drops with the floor of :func:`floor_headroom`, counted in frames that
each take whole cells; the frame ahead of the pause and the pause itself with their preamble and gap. At half of it
some incast drops, at every rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import assume, given, settings, strategies as st

from lossless.analysis.buffers.headroom.formulas import PAUSE_QUANTA, floor_headroom, pause_response_bytes
from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimFlow,
    SimGroup,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSwitch,
)
from lossless.analysis.simulation.question.nodes import propagation_ns, reaction_ns
from tests.analysis.simulation.made_networks import run, star

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.run import RunOutcome

OVERHEAD, GAP, PFC = 62, 20, 64
RATES = [rate for rate in PAUSE_QUANTA if rate >= 10**10]
CELLS = [1, 64, 144, 192, 208, 254]
SMALLEST, LARGEST = 64, 9216


class Link(NamedTuple):
    """One kind of link, frames of one size on it, and the memory behind it."""

    rate_bps: int
    cable_m: int
    frame_bytes: int
    cell_bytes: int = 1
    reverse: bool = False

    @property
    def held_bytes(self) -> int:
        return -(-self.frame_bytes // self.cell_bytes) * self.cell_bytes

    @property
    def frames(self) -> int:
        """How many frames the floor has room for."""
        ahead = self.frame_bytes + GAP if self.reverse else 0
        response = pause_response_bytes(self.rate_bps)
        assert response is not None
        need = floor_headroom(
            self.rate_bps, self.cable_m, self.frame_bytes, ahead,
            peer_response_bytes=response, pfc_frame_bytes=PFC + GAP,
        )  # fmt: skip
        return need.headroom_bytes // self.frame_bytes


links = st.builds(
    Link,
    rate_bps=st.sampled_from(RATES),
    cable_m=st.integers(1, 2000),
    frame_bytes=st.integers(SMALLEST, LARGEST),
    cell_bytes=st.sampled_from(CELLS),
    reverse=st.booleans(),
)


def incast(
    link: Link,
    senders: int,
    frames: int,
    threshold_frames: int,
    gap: int = GAP,
    *,
    stalled: bool = False,
) -> SimNetwork:
    """Return an incast whose groups pause after some frames and have headroom for some more.

    With traffic in reverse, every sender also sends to the one before it, so that PFC waits for frames ahead of it.
    """
    payload = max(1, link.frame_bytes - OVERHEAD)
    amount = payload * 3 * (frames + threshold_frames)
    hub = senders + 1
    flows = [SimFlow((one, hub, senders), amount, mtu_bytes=payload) for one in range(senders)]
    back = [SimFlow(((one + 1) % senders, hub, one), amount, mtu_bytes=payload) for one in range(senders)]
    group = SimGroup(None, frames * link.held_bytes, static_bytes=threshold_frames * link.held_bytes)
    room = (senders + 1) * (frames + threshold_frames + 2) * link.held_bytes
    return star(
        senders,
        SimPort((SimQueue(),), (group,)),
        SimSwitch(buffer_bytes=4 * room, pool_bytes=2 * room, cell_bytes=link.cell_bytes),
        flows=flows + back if link.reverse else flows,
        rate_bps=link.rate_bps,
        propagation_ns=propagation_ns(link.cable_m),
        reaction_ns=reaction_ns(link.rate_bps),
        physics=Physics(overhead_bytes=link.frame_bytes - payload, gap_bytes=gap, pfc_frame_bytes=PFC),
        holds=(Hold(hub, senders, 0, 1e9),) if stalled else (),
    )


def seen(network: SimNetwork) -> RunOutcome:
    return run(network, 1e8).outcome()


@settings(max_examples=60, deadline=None)
@given(
    link=links, senders=st.integers(3, 12), threshold_frames=st.integers(1, 40), gap=st.sampled_from([0, GAP])
)
def test_a_group_with_the_floor_in_whole_frames_never_drops(
    link: Link, senders: int, threshold_frames: int, gap: int
) -> None:
    found = seen(incast(link, senders, link.frames, threshold_frames, gap))
    assume(found.pauses > 0)
    assert found.drops == 0
    assert found.headroom.bytes <= link.frames * link.held_bytes


@pytest.mark.parametrize("frame_bytes", [SMALLEST, 1086, 4158, LARGEST])
@pytest.mark.parametrize("rate_bps", RATES)
def test_at_half_the_floor_some_incast_drops(rate_bps: int, frame_bytes: int) -> None:
    """The more of a link's flight is cable, the more of the floor an incast of many uses."""
    link = Link(rate_bps, 300, frame_bytes, cell_bytes=192)
    assert seen(incast(link, 12, link.frames // 2, 4)).drops > 0


@pytest.mark.parametrize("frame_bytes", [SMALLEST, 1086, 4158, LARGEST])
@pytest.mark.parametrize("rate_bps", RATES)
def test_all_of_the_floor_but_two_frames_is_used_where_nothing_leaves(
    rate_bps: int, frame_bytes: int
) -> None:
    """One frame is the closed form's own, one is what it rounds up by."""
    link = Link(rate_bps, 100, frame_bytes)
    found = seen(incast(link, 12, 2 * link.frames, 4, gap=0, stalled=True))
    assert link.frames - 2 <= found.headroom.bytes / link.frame_bytes <= link.frames
