"""What is said to change where loss harms: it is the first thing to do, and doing it makes loss harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.simulation.engine.run import prepare
from lossless.api import Limits, Question, SimulationRequest, simulate
from tests.analysis.simulation.lossy_fabrics import SHORT, TRIMMING, fabric, roce

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.analysis.simulation.study.verdict import RunVerdict

INCAST = Question(size_bytes=1 << 20)
PERMUTATION = Question(pattern="permutation", size_bytes=1 << 20)
DCQCN, PFC_ONLY = "congestion_control: dcqcn", "congestion_control: pfc-only"
QUEUE = "queue: {dynamic_th: -3}"
CURVE = "ecn: {min: 100 kB, max: 400 kB, probability: 20%},"
MARKED = ("pfc: off", "pfc: off\nhosts: {traffic_class: 104}")
SPRAY = ("telemetry: off", "  routing: {load_balancing: spray}\ntelemetry: off")


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


def run_of(path: Path, question: Question) -> RunVerdict:
    (result,) = simulate(path, ask=SimulationRequest(question, Limits(seeds=2)))
    (run,) = result.runs
    return run


@pytest.mark.parametrize(
    ("bad", "good", "question", "says"),
    [
        (
            [(DCQCN, PFC_ONLY)],
            [],
            INCAST,
            "set congestion_control to dcqcn: nothing pauses the class, and pfc-only slows no sender down",
        ),
        (
            [(QUEUE, "queue: {dynamic_th: -6}")],
            [],
            INCAST,
            "raise dynamic_th of egress_lossy_dynamic_th_-6 to -3 (classes.rdma.queue.dynamic_th, now -6): loss is then"
            " harmless in the worst seed, and lossless sweep --vary queue_dynamic_th tries more",
        ),
        (
            [(QUEUE, "queue: {static_th: 60 kB}")],
            [],
            INCAST,
            "lower Kmin (classes.rdma.ecn.min, now 100,000 B) below 61,778 B, the most that a queue of the class may"
            " hold: it is full before it marks",
        ),
        (
            [(CURVE, ""), MARKED],
            [MARKED],
            INCAST,
            "give the class an ECN curve (classes.rdma.ecn): senders learn of congestion by loss alone",
        ),
        (
            [SPRAY],
            [SPRAY, ("pfc: off", "pfc: off\nhosts: {reorder: any}")],
            PERMUTATION,
            "let NICs take packets out of order and state it (hosts.reorder), or set topology.routing.load_balancing to"
            " ecmp: under spray, NICs that take packets in order ask again for those that come late",
        ),
    ],
    ids=["pfc-only", "small queue", "smaller than Kmin", "no marks", "in order"],
)
def test_what_lossy_roce_is_told_to_change_makes_its_loss_harmless(
    tmp_path: Path, bad: Any, good: Any, question: Question, says: str
) -> None:
    run = run_of(roce(tmp_path, *bad), question)
    assert run.verdict != "safe"
    assert run.changes[0] == says
    better = run_of(roce(tmp_path, *good), question)
    assert (better.verdict, better.changes) == ("safe", ())


def test_an_incast_that_drops_is_told_to_trim_first_and_then_to_hold_more(tmp_path: Path) -> None:
    run = run_of(fabric(tmp_path, (TRIMMING, "")), Question(size_bytes=SHORT))
    trim, hold = run.changes
    assert trim.startswith("trim instead of dropping (trimming of rdma, SONiC 202505 and later)")
    # With -5 timers run longer than with -6, and as many packets wait for one.
    assert hold.startswith("raise dynamic_th of egress_lossy_dynamic_th_-6 to -4 ")
    assert run_of(fabric(tmp_path), Question(size_bytes=SHORT)).verdict == "safe"
    for exponent, verdict in ((-5, "unsafe"), (-4, "safe")):
        held = fabric(tmp_path, (TRIMMING, ""), ("dynamic_th: -6", f"dynamic_th: {exponent}"))
        assert run_of(held, Question(size_bytes=SHORT)).verdict == verdict
