"""DCQCN in a network: when a CNP is sent, when it arrives, and when the next frame may start.

One flow comes to a switch at 100 Gb/s and leaves at 10 Gb/s. Kmin and Kmax are 0, so that every frame is marked that
leaves others behind: all but the first and the last.
"""

from __future__ import annotations

from typing import Any

import pytest

from lossless.analysis.simulation.engine.network import (
    SimCable,
    SimDcqcn,
    SimFlow,
    SimGroup,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSwitch,
    SimWred,
)
from lossless.analysis.simulation.engine.run import Simulation
from tests.analysis.simulation.watching import frame_starts

WIRE_BYTES, GAP_BYTES = 4096 + 62, 20
FAST_NS, SLOW_NS = (WIRE_BYTES + GAP_BYTES) * 0.08, (WIRE_BYTES + GAP_BYTES) * 0.8
"""How long a frame takes on the wire at 100 and at 10 Gb/s."""
NO_CUT = SimDcqcn(
    g=1 / 256,
    alpha_us=55,
    decrease_us=5,
    increase_us=10,
    threshold=0,
    ai_bps=0,
    hai_bps=0,
    min_rate_bps=100e6,
    alpha_to_rate=0,
)
"""The rate stays what it is: only the CNPs are looked at."""


def narrow(
    dcqcn: SimDcqcn | None, frames: int = 400, near_ns: float = 1000, far_ns: float = 1000
) -> Simulation:
    end = SimPort((SimQueue(SimWred(0, 0, 1.0)),), (SimGroup(8.0, 100_000),))
    cables = SimCable(0, 2, 100e9, near_ns, None, end), SimCable(2, 1, 10e9, far_ns, end, None)
    flow = SimFlow((0, 2, 1), 4096 * frames, dcqcn=dcqcn)
    return Simulation(SimNetwork(3, {2: SimSwitch(1 << 24, 1 << 24)}, cables, (flow,)))


def first_cnp_ns(near_ns: float, far_ns: float) -> float:
    """Return when the first CNP is back at the sender: that of the second frame, the first one marked.

    It starts behind the first frame on the slow link. The CNP is 66 B, and 20 B gap, on each link of its path.
    """
    marked = FAST_NS + near_ns + SLOW_NS
    arrives = marked + SLOW_NS + far_ns
    return arrives + 86 * 0.8 + far_ns + 86 * 0.08 + near_ns


# --- the notification point ---


@pytest.mark.parametrize("near_ns", [0, 1000, 30_000])
@pytest.mark.parametrize("far_ns", [200, 5000])
def test_a_cnp_is_back_after_propagation_and_its_own_time_on_each_link(near_ns: float, far_ns: float) -> None:
    late = NO_CUT._replace(decrease_us=10_000)
    simulation = narrow(late, near_ns=near_ns, far_ns=far_ns)
    simulation.advance(120_000)
    starts_ns = int(simulation.state.points[0]["next_decrease_at"]) / 1000 - 10_000_000
    assert starts_ns == pytest.approx(first_cnp_ns(near_ns, far_ns), abs=0.01)


def test_without_a_gate_every_marked_frame_earns_a_cnp() -> None:
    simulation = narrow(NO_CUT)
    assert simulation.advance(10_000_000)
    seen = simulation.outcome()
    assert (seen.marks, seen.cnps) == (398, 398)


@pytest.mark.parametrize(("gate_us", "every"), [(3.3, 1), (3.4, 2), (50, 15), (10_000, 398)])
def test_the_gate_keeps_cnps_apart(gate_us: float, every: int) -> None:
    """Marked frames come every 3.3424 us: a gate of 50 us lets every fifteenth through."""
    simulation = narrow(NO_CUT._replace(cnp_gate_us=gate_us))
    assert simulation.advance(10_000_000)
    seen = simulation.outcome()
    assert (seen.marks, seen.cnps) == (398, -(-398 // every))


def test_a_flow_without_dcqcn_gets_no_cnp_for_its_marks() -> None:
    simulation = narrow(None)
    assert simulation.advance(10_000_000)
    assert (simulation.outcome().marks, simulation.outcome().cnps) == (398, 0)


# --- pacing ---


def starts(**changed: Any) -> list[float]:
    return frame_starts(narrow(NO_CUT._replace(**changed), frames=60), 0, 2_000_000)


def test_frames_follow_each_other_at_line_rate_until_the_first_cnp() -> None:
    found = starts(first_rate_bps=1e9)
    before = [at for at in found if at < first_cnp_ns(1000, 1000)]
    assert before == pytest.approx([number * FAST_NS for number in range(len(before))], abs=0.1)
    assert len(before) == 34


def test_after_the_first_cnp_frames_are_paced_at_the_rate() -> None:
    """A frame that starts after the CNP takes 4158 B x 8 at 1 Gb/s before the next may: 33.264 us."""
    found = starts(first_rate_bps=1e9)
    first = next(at for at in found if at >= first_cnp_ns(1000, 1000))
    paced = [at - first for at in found if at >= first]
    assert paced == pytest.approx([number * WIRE_BYTES * 8 for number in range(len(paced))], abs=0.1)
    assert len(paced) == 60 - 34


ONE_RISE = {"first_rate_bps": 1e9, "ai_bps": 99e9, "cnp_gate_us": 10_000, "increase_us": 20}
"""From 1 Gb/s the rate rises half way to 100, to 50.5 Gb/s, one decrease and one increase period after the CNP."""


def first_paced(found: list[float]) -> float:
    """Return when the first frame after the first CNP starts."""
    return next(at for at in found if at >= first_cnp_ns(1000, 1000))


def test_with_the_pacing_lock_a_rise_of_the_rate_comes_too_late_for_the_next_frame() -> None:
    found = starts(**ONE_RISE)
    first = first_paced(found)
    second, third = (at - first for at in found[found.index(first) + 1 :][:2])
    assert second == pytest.approx(WIRE_BYTES * 8, abs=0.1)
    assert third - second == pytest.approx(WIRE_BYTES * 8 / 50.5, abs=0.1)


@pytest.mark.parametrize("decrease_us", [0.1, 5], ids=["cut before the wait", "cut within the wait"])
def test_without_the_pacing_lock_the_next_frame_starts_as_soon_as_the_new_rate_lets_it(
    decrease_us: float,
) -> None:
    """What is owed of 33,264 bits at 1 Gb/s when the rate rises is owed at 50.5 Gb/s from then on."""
    found = starts(**ONE_RISE, decrease_us=decrease_us, pacing_lock=False)
    first = first_paced(found)
    rises = first_cnp_ns(1000, 1000) + decrease_us * 1000 + 20_000
    left_bits = WIRE_BYTES * 8 - (rises - first) * 1
    assert found[found.index(first) + 1] == pytest.approx(rises + left_bits / 50.5, abs=0.1)


def test_the_pacing_lock_changes_nothing_where_the_rate_does_not_rise() -> None:
    locked, free = starts(first_rate_bps=1e9), starts(first_rate_bps=1e9, pacing_lock=False)
    assert free == pytest.approx(locked, abs=0.1)


def test_a_cut_counts_from_the_frame_after_the_one_that_is_waiting() -> None:
    """The cut 5 us after the CNP halves 1 Gb/s; the frame that waits then was paced before it."""
    found = starts(first_rate_bps=1e9, alpha_to_rate=0.5, g=0, cnp_gate_us=10_000, increase_us=100_000)
    first = first_paced(found)
    second, third = (at - first for at in found[found.index(first) + 1 :][:2])
    assert (second, third) == pytest.approx((WIRE_BYTES * 8, WIRE_BYTES * 8 * 3), abs=0.1)
