"""How long a sender needs to come back to line rate after CNPs, by the formulas of the packet-level reference.

ns-3, inet-tub/ns3-datacenter simulator/ns-3.39/src/point-to-point/model/rdma-hw.cc @060976e, Mellanox's version of
DCQCN, has the cut, three kinds of increase and a timer; the byte counter, which it lacks, is that of Zhu et al.,
SIGCOMM 2015. The table of docs/validation.md is computed here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lossless.analysis.simulation.question.nodes import BYTE_RESET_UNIT, dcqcn_defaults
from lossless.ground.basics.units import parse_rate
from lossless.model.hardware.load import load_nic
from tests.analysis.simulation.reaction_point import ReactionPoint
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.engine.network import SimDcqcn


def _factory() -> SimDcqcn:
    found = dcqcn_defaults(load_nic("connectx-6-dx"))
    assert found is not None
    return found


FACTORY = _factory()
TIMERS_ALONE = FACTORY._replace(byte_reset=0)
LINES_BPS = (25e9, 100e9, 400e9)
_BACK = 0.99
"""The part of the line rate at which a sender counts as recovered."""


def reference_rates(dcqcn: SimDcqcn, line_bps: float, raises: int, lowered: int = 0) -> Iterator[float]:
    """Yield the rate after the cut of the first CNP, and after each increase by the timer.

    After ``lowered`` increases another CNP comes: as the rate has risen since the last cut, it becomes the target.
    """
    rate = target = line_bps
    alpha = dcqcn.initial_alpha * (1 - dcqcn.g) ** (dcqcn.decrease_us // dcqcn.alpha_us)
    rate *= 1 - alpha / 2
    yield rate
    stage = 0
    for step in range(raises):
        if lowered and step == lowered:
            target, stage, lowered = rate, 0, 0
            rate /= 2
        if stage >= dcqcn.threshold:
            target += dcqcn.ai_bps if stage == dcqcn.threshold else dcqcn.hai_bps
        target = min(target, line_bps)
        rate = rate / 2 + target / 2
        stage += 1
        yield rate


@pytest.mark.parametrize("line_bps", LINES_BPS)
def test_the_rate_after_a_cnp_is_that_of_the_reference(line_bps: float) -> None:
    point = ReactionPoint(TIMERS_ALONE, line_bps)
    point.cnp(0)
    cut_us = TIMERS_ALONE.decrease_us
    found = [point.at(cut_us + n * TIMERS_ALONE.increase_us).rate_gbps * 1e9 for n in range(13)]
    assert found == pytest.approx(list(reference_rates(TIMERS_ALONE, line_bps, 12)), rel=1e-9)


@pytest.mark.parametrize("line_bps", LINES_BPS)
def test_a_lowered_target_rises_once_by_ai_and_then_by_hai(line_bps: float) -> None:
    """Alpha is held at 1, so that the second cut halves the rate as the first did."""
    steady = TIMERS_ALONE._replace(g=0.0, initial_alpha=1.0)
    point = ReactionPoint(steady, line_bps)
    point.cnp(0)
    first = [point.at(steady.decrease_us + n * steady.increase_us).rate_gbps * 1e9 for n in range(3)]
    point.cnp(606)
    then = [point.at(608 + n * steady.increase_us).rate_gbps * 1e9 for n in range(1, 41)]
    assert [*first, *then] == pytest.approx(list(reference_rates(steady, line_bps, 42, lowered=2)), rel=1e-9)


def back_us(dcqcn: SimDcqcn, line_bps: float, first_part: float = 1.0, cnps: int = 1) -> float:
    """Return when a sender with endless data is back at 99 % of line rate after CNPs, one in each decrease period.

    ``first_part``: the first CNP also lowers the target to this part of the line rate.
    """
    lowered = dcqcn._replace(first_rate_bps=0 if first_part == 1 else first_part * line_bps)
    point = ReactionPoint(lowered, line_bps)
    point.cnp(*(n * dcqcn.decrease_us for n in range(cnps)))
    now_us, stretch_bytes = cnps * dcqcn.decrease_us, 4096 if dcqcn.byte_reset < 1 << 20 else 1 << 16
    while (rate_gbps := point.at(now_us).rate_gbps) < _BACK * line_bps / 1e9:
        if not dcqcn.byte_reset:
            now_us += dcqcn.increase_us
            continue
        point.send(stretch_bytes)
        now_us += stretch_bytes * 8 / (rate_gbps * 1e3)
    return now_us


@pytest.mark.parametrize("line_bps", LINES_BPS)
def test_a_burst_of_cnps_costs_little_more_than_one_as_the_target_stays(line_bps: float) -> None:
    assert 2000 < back_us(TIMERS_ALONE, line_bps, cnps=10) < 2200


def _table() -> Iterator[tuple[str, ...]]:
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    section = text.partition("### Recovery of DCQCN\n")[2].partition("\n#")[0]
    for row in re.findall(r"^\| ([0-9]+G) \| (.+) \|$", section, re.MULTILINE):
        yield (row[0], *row[1].split(" | "))


def test_the_times_of_the_documentation_are_these() -> None:
    """Columns: timers alone, counter of 64 B and of 1 B, each to the old target; then to line rate from half of it."""
    rows = list(_table())
    assert [row[0] for row in rows] == ["25G", "100G", "400G"]
    for line, *cells in rows:
        line_bps = parse_rate(line)
        bytes_alone = FACTORY._replace(byte_reset=FACTORY.byte_reset // BYTE_RESET_UNIT)
        scaled = TIMERS_ALONE._replace(
            ai_bps=FACTORY.ai_bps * line_bps / 25e9, hai_bps=FACTORY.hai_bps * line_bps / 25e9
        )
        times = [
            *(back_us(one, line_bps) for one in (TIMERS_ALONE, FACTORY, bytes_alone)),
            *(back_us(one, line_bps, 0.5) for one in (TIMERS_ALONE, FACTORY, scaled)),
        ]
        assert cells == [_shown(time_us) for time_us in times]


def _shown(time_us: float) -> str:
    return f"{time_us / 1000:.0f} ms" if time_us >= 10_000 else f"{time_us / 1000:.2f} ms"
