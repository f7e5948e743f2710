"""Changes that reduce the cost of loss in a lossy class: of a threshold, the mode or the setting of NICs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.instance import instantiate
from lossless.analysis.simulation.question.load_balancing import spread_of
from lossless.analysis.simulation.question.lossy import most_bytes
from lossless.analysis.simulation.question.ports import queue_buffer
from lossless.analysis.simulation.study.grid import ThresholdSetting
from lossless.analysis.simulation.study.loss_verdict import harm, losses
from lossless.analysis.simulation.study.lossy_trial import LossyTask, network_with
from lossless.analysis.simulation.study.study import follow, times_of
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.study import Study
    from lossless.model.fabric.qos import BufferProfile
    from lossless.model.fabric.view import View

_MOST_DYNAMIC_TH = 1
"""Up to which exponent of alpha queues are tried: one may then hold two thirds of its pool."""


def lossy_advice(view: View, results: Study) -> Iterator[str]:
    """Yield the changes to make, the most urgent first; none if loss is harmless."""
    if not any(harm(losses(results))):
        return
    yield from _order(results)
    if not any(each.lost for each in losses(results)):
        return
    yield from _senders(view, results.scenario)
    yield from _marks(results.scenario)
    # Trimming helps more than any threshold, a class without loss only with all else that PFC takes.
    parts = [_queues(view, results), _repetition(view, results)]
    for part in reversed(parts) if results.scenario.senders is not None else parts:
        yield from part


def _order(results: Study) -> Iterator[str]:
    """Yield the change that ends the repetition of packets that arrive out of order over other paths."""
    question = results.scenario.question
    if spread_of(question) is None or question.ahead_frames == 0:
        return
    if not any(each.resent for each in losses(results)):
        return
    frames = question.ahead_frames
    now = "in order" if frames is None else f"up to {frames:,} frames ahead"
    yield (
        "let NICs take packets out of order and state it (hosts.reorder), or set topology.routing.load_balancing to"
        f" ecmp: under {question.load_balancing}, NICs that take packets {now} ask again for those that come late"
    )


def _senders(view: View, scenario: Scenario) -> Iterator[str]:
    congestion = view.fabric.congestion
    if congestion is not None and congestion.kind == "pfc-only":
        yield "set congestion_control to dcqcn: nothing pauses the class, and pfc-only slows no sender down"
    elif scenario.senders is None and scenario.dcqcn is None:
        yield "turn DCQCN on in the NICs for the class: no sender slows down"


def _marks(scenario: Scenario) -> Iterator[str]:
    """Yield the change that makes ECN slow senders down before packets are lost."""
    key = f"classes.{scenario.classes[0].name}.ecn"
    if not scenario.marks:
        yield f"give the class an ECN curve ({key}): senders learn of congestion by loss alone"
        return
    late = [
        (most_bytes(queue), queue.wred.kmin_bytes)
        for queue in (end.queues[0] for end in scenario.ends.values())
        if queue.wred is not None and most_bytes(queue) <= queue.wred.kmin_bytes
    ]
    if late:
        held_bytes, kmin_bytes = min(late)
        yield (
            f"lower Kmin ({key}.min, now {format_bytes(round(kmin_bytes))}) below {format_bytes(held_bytes)}, the most"
            " that a queue of the class may hold: it is full before it marks"
        )


def _queues(view: View, results: Study) -> Iterator[str]:
    """Yield the threshold of the queue that refused packets, or was deepest, where another makes loss harmless."""
    name, profile = results.scenario.classes[0].name, _refusing(view, results)
    if profile is None:
        return
    key = f"classes.{name}.queue"
    if profile.dynamic_th is not None:
        enough = _enough(results, profile.dynamic_th)
        if enough is not None:
            yield (
                f"raise dynamic_th of {profile.name} to {enough} ({key}.dynamic_th, now {profile.dynamic_th}): loss is"
                " then harmless in the worst seed, and lossless sweep --vary queue_dynamic_th tries more"
            )
    elif profile.static_th_bytes:
        yield (
            f"raise static_th of {profile.name} ({key}.static_th, now"
            f" {format_bytes(profile.static_th_bytes)}), or state dynamic_th in its place"
        )


def _enough(results: Study, now: int) -> int | None:
    """Return the least exponent of alpha above a queue's own with which loss is harmless in the worst seed.

    A little more may be worse than nothing: senders of Ultra Ethernet wait for as long as full queues take.
    """
    scenario = results.scenario
    seed = max(
        results.seeds, key=lambda seed: (seed.loss.unfinished, seed.loss.cost) if seed.loss else (0, 0)
    ).seed
    instance = instantiate(scenario, seed)
    times = times_of(scenario, instance.network)
    task = LossyTask((), times, tuple(scenario.ends.values()), scenario.senders)
    for exponent in range(now + 1, _MOST_DYNAMIC_TH + 1):
        network = network_with(instance.network, ThresholdSetting(queue_dynamic_th=exponent), task)
        loss = follow(instance._replace(network=network), seed, times).loss
        if loss is not None and not any(harm([loss])):
            return exponent
    return None


def _refusing(view: View, results: Study) -> BufferProfile | None:
    """Return the profile of the first queue that refused packets, else of the deepest."""
    seeds = results.seeds
    places = [*(place for seed in seeds for place in seed.refusing), *(seed.hottest for seed in seeds)]
    for place in places:
        port = view.port(place.switch, place.port) if place is not None and place.port is not None else None
        buffer = queue_buffer(port, results.scenario.classes[0]) if port is not None else None
        if buffer is not None:
            return buffer
    return None


def _repetition(view: View, results: Study) -> Iterator[str]:
    """Yield the change that reduces the cost of a single loss."""
    scenario = results.scenario
    name = scenario.classes[0].name
    if scenario.selective:
        yield "make the class lossless: lost packets are sent alone again already"
    elif scenario.senders is None:
        yield (
            "make the class lossless, or have NICs send lost packets alone again where they can, and state it"
            " (hosts.retransmission: selective): a loss costs a go-back"
        )
    elif not scenario.trims:
        yield (
            f"trim instead of dropping (trimming of {name}, SONiC 202505 and later): a receiver then asks at once, and"
            " no timer has to run out"
        )
    elif any(each.dropped for each in losses(results)):
        into = view.fabric.trimming.into if view.fabric.trimming is not None else ""
        yield f"raise classes.{into}.bandwidth, or the queues of class {into}: trimmed packets are dropped there"
    else:
        yield "send less at once into one NIC: packets are trimmed again before a queue has emptied"
