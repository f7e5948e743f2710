"""Lossy RDMA: what queues hold of an egress pool, and when loss is harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.simulation.engine.network import UNBOUNDED, SimGroup, SimPort, SimQueue, SimSpread
from lossless.analysis.simulation.engine.run import Simulation
from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.lossy import lossy_assumptions
from lossless.analysis.simulation.question.scenario import Scenario, scenario
from lossless.analysis.simulation.study.loss import EDGE_SLOWDOWN, step_time_ns
from lossless.analysis.simulation.study.study import Times, follow, without_loss
from lossless.api import Limits, Question, SimulationRequest, simulate
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.documents import load_text
from lossless.model.fabric.view import View
from tests.analysis.simulation.clos import FRAME_BYTES, MTU_BYTES, Clos, clos_network
from tests.analysis.simulation.lossy_fabrics import SHORT, TRIMMING, fabric, roce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lossless.analysis.simulation.engine.network import SimNetwork
    from lossless.analysis.simulation.question.instance import ScenarioInstance
    from lossless.analysis.simulation.study.verdict import LossVerdict, RunVerdict
    from lossless.api import SimulationResult

POOL_BYTES = 400 * FRAME_BYTES


@pytest.mark.parametrize("alpha", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("targets", [1, 2])
def test_congested_queues_share_a_pool_by_the_dynamic_threshold(alpha: float, targets: int) -> None:
    """Choudhury and Hahne 1998: n queues that are full hold alpha B / (1 + n alpha) each."""
    group = SimGroup(None, None, static_bytes=UNBOUNDED)
    end = SimPort((SimQueue(limit_bytes=0, alpha=alpha, pool_bytes=POOL_BYTES),), (group,))
    pairs = [(4 * target + sender, 16 + target) for target in range(targets) for sender in range(4)]
    network = clos_network(Clos(1, 32, 1), pairs, SimSpread("hash"), 600 * MTU_BYTES, end=end)
    simulation = Simulation(network, 1)
    simulation.advance(150_000)
    held = sorted(simulation.state.queues["max_bytes"], reverse=True)[:targets]
    expected = alpha * POOL_BYTES / (1 + targets * alpha)
    # Queues fill one frame after another, and the first may be ahead of the second by what it then gives back.
    assert all(expected - 2 * FRAME_BYTES <= each <= alpha * POOL_BYTES / (1 + alpha) for each in held)
    assert sum(held) <= POOL_BYTES


def asked(path: Path, **how: Any) -> SimulationResult:
    question = Question(size_bytes=SHORT)._replace(**how)
    (result,) = simulate(path, ask=SimulationRequest(question, Limits(seeds=2)))
    return result


def run_of(path: Path, **how: Any) -> tuple[RunVerdict, LossVerdict]:
    (run,) = asked(path, **how).runs
    assert run.loss is not None
    return run, run.loss


@pytest.mark.parametrize("control", ["nscc", "rccc", "both"])
def test_trimming_makes_the_loss_of_an_incast_harmless(tmp_path: Path, control: str) -> None:
    run, loss = run_of(fabric(tmp_path, ("congestion_control: nscc", f"congestion_control: {control}")))
    assert run.verdict == "safe"
    assert loss.trimmed_share > 0.05
    assert (loss.dropped_share, loss.unfinished) == (0, 0)
    assert loss.resent_share >= loss.trimmed_share
    assert 1 <= loss.slowdown < 1.25


def test_without_trimming_senders_wait_for_their_timers(tmp_path: Path) -> None:
    run, loss = run_of(fabric(tmp_path, (TRIMMING, "")))
    assert run.verdict != "safe"
    assert loss.dropped_share > 0.05
    assert loss.timeouts > 0
    assert loss.slowdown > 1.25
    assert any(change.startswith("trim instead of dropping") for change in run.changes)


def test_where_nothing_is_lost_nothing_is_harmful(tmp_path: Path) -> None:
    run, loss = run_of(fabric(tmp_path, (" queue: {dynamic_th: -6},", "")), nics=5)
    assert (run.verdict, loss.resent_share, run.reasons) == ("safe", 0, ())


def test_what_needs_pauses_is_refused(tmp_path: Path) -> None:
    for how in ({"dead_nic": True}, {"slow_nic_bps": 10**9}, {"storage": 0.2}):
        with pytest.raises(ScenarioError, match="the class is lossy, and nothing pauses"):
            asked(fabric(tmp_path), **how)


def test_a_lossless_class_of_ultra_ethernet_is_not_simulated_and_says_so(tmp_path: Path) -> None:
    changes = (
        ("arista-7060x6-64pe-b", "nvidia-sn5600"),
        ("lossless: false", "lossless: true"),
        ("pfc: off\n", ""),
        (TRIMMING, ""),
        (" queue: {dynamic_th: -6},", ""),
    )
    result = asked(fabric(tmp_path, *changes))
    assert "Ultra Ethernet over PFC is not modeled" in (result.not_run or "")


def networks(path: Path, question: Question) -> Iterator[SimNetwork]:
    yield from (instance.network for instance in instances(path, question))


def instances(path: Path, question: Question) -> Iterator[ScenarioInstance]:
    document = load_text(path.read_text(), str(path))
    posed = scenario(View(with_computed_buffers(resolve(load_intent(document)))), question)
    assert isinstance(posed, Scenario)
    yield from (instantiate(posed, seed) for seed in (1, 2))


def test_dcqcn_that_recovers_slowly_is_not_blamed_on_loss(tmp_path: Path) -> None:
    """Marks slow senders down for longer than lost packets do: without loss the incast takes nearly as long."""
    run, loss = run_of(roce(tmp_path), size_bytes=1 << 20)
    assert loss.dropped_share > 0.05
    assert loss.slowdown > EDGE_SLOWDOWN > loss.cost > 1
    assert (run.verdict, run.reasons) == ("safe", ())


def test_nics_that_send_lost_packets_alone_again_send_no_other(tmp_path: Path) -> None:
    _, back = run_of(roce(tmp_path), size_bytes=1 << 20)
    _, alone = run_of(
        roce(tmp_path, ("telemetry: off", "hosts: {retransmission: selective}")), size_bytes=1 << 20
    )
    assert back.resent_share > 1.2 * back.dropped_share
    assert alone.resent_share == alone.dropped_share > 0.05
    assert alone.slowdown <= back.slowdown


def test_nics_that_need_order_go_back_under_spraying_whatever_they_send_again(tmp_path: Path) -> None:
    spray = "telemetry: off", "  routing: {load_balancing: spray}\nhosts: {retransmission: selective}"
    sprayed = roce(tmp_path, spray)
    _, in_order = run_of(sprayed, size_bytes=1 << 20, pattern="permutation")
    _, any_order = run_of(sprayed, size_bytes=1 << 20, pattern="permutation", ahead_frames=0)
    assert in_order.resent_share > 0.2
    assert any_order.resent_share == any_order.dropped_share


def test_transfers_that_take_long_without_loss_are_followed_for_as_long(tmp_path: Path) -> None:
    """They have not ended when the link would have let them, and end before loss can have harmed."""
    for seed, instance in enumerate(instances(roce(tmp_path), Question(size_bytes=1 << 20)), 1):
        step_ns = step_time_ns(instance.network)
        seen = follow(instance, seed, Times(step_ns, 1.1 * step_ns, 1e12))
        assert seen.loss is not None
        assert (seen.loss.unfinished, seen.cut) == (0, False)
        assert 1.3 < seen.loss.without_loss < seen.loss.slowdown


def test_packets_out_of_order_harm_without_being_lost(tmp_path: Path) -> None:
    spray = ("telemetry: off", "  routing: {load_balancing: spray}\ntelemetry: off")
    in_order = roce(tmp_path, spray)
    how: dict[str, Any] = {"pattern": "permutation", "size_bytes": 1 << 20}
    run, loss = run_of(in_order, **how)
    assert (loss.dropped_share, loss.trimmed_share) == (0, 0)
    assert loss.resent_share > 0.25
    assert run.verdict == "unsafe"
    assert "out of order" in run.reasons[0]
    assert run_of(in_order, ahead_frames=0, **how)[0].verdict == "safe"


def test_without_loss_nothing_is_lost_or_sent_again(tmp_path: Path) -> None:
    spray = ("telemetry: off", "  routing: {load_balancing: spray}\ntelemetry: off")
    short = Question(size_bytes=SHORT)
    for path, question in (
        (fabric(tmp_path, (TRIMMING, "")), short),
        (fabric(tmp_path), short),
        (roce(tmp_path), Question(size_bytes=1 << 20)),
        (roce(tmp_path, spray), Question(pattern="permutation", size_bytes=1 << 20)),
    ):
        for seed, network in enumerate(networks(path, question), 1):
            simulation = Simulation(without_loss(network), seed)
            assert simulation.advance(1e8)
            clock = simulation.state.clock[0]
            assert [int(clock[name]) for name in ("drops", "trims", "resent", "timeouts", "unfinished")] == [
                0
            ] * 5


@pytest.mark.parametrize("selective", [False, True])
@pytest.mark.parametrize("trims", [False, True])
def test_what_nics_of_roce_do_with_trimmed_packets_is_said_to_be_assumed(
    selective: bool, trims: bool
) -> None:
    said = " ".join(lossy_assumptions(Question(), None, trims=trims, selective=selective))
    assert ("trimmed packet" in said) == trims
