"""Classes of a simulation, and lossy RDMA in the model's terms.

The simulated classes are the requested one, and those that share switches with it. Of a lossy class the model needs
whether its queues drop or trim, and the behavior of its senders.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lossless.analysis.buffers.verdict import nothing_lossless
from lossless.analysis.simulation.engine.network import UNBOUNDED, Physics, SimTrim, SimWindow
from lossless.analysis.simulation.question.ports import SimClass
from lossless.analysis.simulation.question.request import choices_of, chooses
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import suggestion
from lossless.model.fabric.cabling import UEC_CONTROLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.simulation.engine.network import SimCable, SimFlow, SimPort, SimQueue
    from lossless.analysis.simulation.question.request import Question
    from lossless.model.fabric.model import ClassSet, Fabric
    from lossless.model.fabric.view import View


SHORT_BYTES = 64
"""The size of an ACK, a NACK or credit on the wire (uet-htsim @40ccb05)."""
CREDIT_BYTES = 16_384
"""The credit that a receiver gives at a time (uet-htsim @40ccb05)."""
_TIMEOUT_US, _TIMEOUT_QUEUES = 15, 6
"""A sender's timer: 15 us, and the time that six full queues take to empty (uet-htsim @40ccb05)."""
_UNLIMITED_BDPS = 1024
"""The window of RoCE senders in round trips at line rate, in effect unlimited: more than any queue of its class holds.
"""
_SAID = {"nscc": "NSCC", "rccc": "RCCC", "both": "NSCC and RCCC"}
TRIM_TARGET_RTTS, DROP_TARGET_RTTS = 0.75, 1.0
"""The queueing delay that NSCC aims at, in base round trips, where packets are trimmed and where they are dropped
(Ultra Ethernet 1.0.3, 3.6.13, by secondary copies)."""


def lossy_classes(view: View) -> Iterator[SimClass]:
    """Yield the lossy classes in which an intent sends RDMA.

    Those are the lossy ones of the trimmed classes, else of the classes that jobs mark, else of those with DCQCN, else
    of the classes, except the default one, with an ECN curve.
    """
    fabric = view.fabric
    if not fabric.declared:
        return
    wanted = (
        frozenset(fabric.trimming.classes if fabric.trimming is not None else ())
        or _marked(fabric)
        or _slowed(fabric)
        or _curved(view)
    )
    for traffic_class in fabric.classes.classes:
        if traffic_class.name in wanted and not traffic_class.lossless and traffic_class.priority is not None:
            yield SimClass(traffic_class.name, traffic_class.priority, lossless=False)


def _marked(fabric: Fabric) -> frozenset[str]:
    """Return the names of the classes of the ToS bytes that hosts send RDMA with, without that of all other DSCPs."""
    bytes_ = {host.qos.traffic_class for host in fabric.hosts if isinstance(host.qos.traffic_class, int)}
    classes = [fabric.classes.of_dscp(byte >> 2) for byte in bytes_]
    return frozenset(each.name for each in classes if each is not None and not each.rest)


def _slowed(fabric: Fabric) -> frozenset[str]:
    stated = [host.qos.dcqcn.priorities for host in fabric.hosts]
    priorities = {priority for each in stated if isinstance(each, tuple) for priority in each}
    return frozenset(each.name for each in fabric.classes.classes if each.priority in priorities)


def _curved(view: View) -> frozenset[str]:
    """Return the names of the classes whose queues have an ECN curve, without that of all other DSCPs."""
    marking = {
        queue.number
        for ports in view.port_sets
        for queue in ports.qos.queues
        if queue is not None and queue.wred is not None and queue.wred.marks
    }
    classes = view.fabric.classes.classes
    return frozenset(each.name for each in classes if each.priority in marking and not each.rest)


def carrier_class(fabric: Fabric, job: SimClass) -> SimClass | None:
    """Return the class that carries the trimmed packets of a class.

    None: its packets are not trimmed, or that class is not declared with a priority.
    """
    trimming = fabric.trimming
    if trimming is None or job.lossless or job.name not in trimming.classes:
        return None
    into = fabric.classes.named(trimming.into)
    if into is None or into.priority is None:
        return None
    return SimClass(into.name, into.priority, lossless=False)


def with_trimming(ends: Mapping[tuple[int, int], SimPort], size_bytes: int) -> dict[tuple[int, int], SimPort]:
    """Return ports whose first queue trims packets that exceed its limit, into the second class."""
    trim = SimTrim(size_bytes, 1)
    return {
        key: end._replace(queues=(end.queues[0]._replace(trim=trim), *end.queues[1:]))
        for key, end in ends.items()
    }


class UecSenders(NamedTuple):
    """Senders of Ultra Ethernet: their congestion control, whether it is declared, and the largest queue in bytes.

    ``trims``: switches trim packets that exceed a queue's limit.
    """

    control: str
    trims: bool
    queue_bytes: int
    stated: bool


def uec_senders(fabric: Fabric, ends: Mapping[tuple[int, int], SimPort], *, trims: bool) -> UecSenders | None:
    """Return the Ultra Ethernet senders of a fabric, None for a fabric with RoCEv2 or without congestion control."""
    if fabric.congestion is None or not fabric.ultra_ethernet:
        return None
    largest = max((most_bytes(end.queues[0]) for end in ends.values()), default=0)
    stated = fabric.congestion.kind if fabric.congestion.kind in UEC_CONTROLS else None
    return UecSenders(stated or UEC_CONTROLS[0], trims, largest, stated is not None)


def most_bytes(queue: SimQueue) -> int:
    """Return the most bytes in a queue if all others are empty: its limit, and alpha / (1 + alpha) of its pool."""
    return min(UNBOUNDED, queue.limit_bytes + int(queue.alpha / (1 + queue.alpha) * queue.pool_bytes))


def with_windows(
    flows: Sequence[SimFlow], cables: Sequence[SimCable], senders: UecSenders | None
) -> tuple[SimFlow, ...]:
    """Return flows with the congestion window of Ultra Ethernet senders; unchanged where ``senders`` is None."""
    if senders is None:
        return tuple(flows)
    slowest_bps = min(cable.rate_bps for cable in cables)
    window = SimWindow(
        base_rtt_us=base_rtt_us(flows, cables),
        control="none" if senders.control == "rccc" else "nscc",
        target_rtts=TRIM_TARGET_RTTS if senders.trims else DROP_TARGET_RTTS,
        timeout_us=_TIMEOUT_US + _TIMEOUT_QUEUES * senders.queue_bytes * 8e6 / slowest_bps,
        credit_bytes=0 if senders.control == "nscc" else CREDIT_BYTES,
    )
    return tuple(flow._replace(window=window) for flow in flows)


def with_selective_repeat(
    flows: Sequence[SimFlow], cables: Sequence[SimCable], timeout_ms: float | None
) -> tuple[SimFlow, ...]:
    """Return flows of RoCE in which senders of the first class resend only lost packets.

    A receiver that gets a packet requests the missing ones that were sent before it; if packets take several paths, it
    cannot detect a loss in this way, and a timer runs out.
    """
    window = SimWindow(
        base_rtt_us=base_rtt_us(flows, cables),
        bdps=_UNLIMITED_BDPS,
        control="none",
        timeout_us=None if timeout_ms is None else timeout_ms * 1000,
    )
    return tuple(
        flow if flow.traffic_class else flow._replace(window=window._replace(nacks=flow.spread is None))
        for flow in flows
    )


def base_rtt_us(flows: Sequence[SimFlow], cables: Sequence[SimCable]) -> float:
    """Return the round trip without queues of the longest path: a full frame there, an ACK back."""
    frame_bytes = max(flow.mtu_bytes for flow in flows) + Physics().overhead_bytes + SHORT_BYTES
    hop_us: dict[tuple[int, int], float] = {}
    for cable in cables:
        both_us = frame_bytes * 8e6 / cable.rate_bps + 2 * cable.propagation_ns / 1000
        hop_us[cable.a, cable.b] = hop_us[cable.b, cable.a] = both_us
    return max(sum(hop_us[pair] for pair in pairwise(flow.path)) for flow in flows)


def lossy_assumptions(
    question: Question, senders: UecSenders | None, *, trims: bool, selective: bool
) -> Iterator[str]:
    """Yield the assumptions about lossy RDMA, one sentence each."""
    if selective:
        told = "wait for a timer" if chooses(question) else "are asked for at once, by the next that comes"
        yield f"packets that are lost {told}, and are sent alone again; how NICs do it is in no public source"
        if trims:
            yield "RoCE receivers ask for a trimmed packet at once; what NICs do with one is in no public source"
        return
    if senders is None:
        yield "RoCE senders go back to the first packet that is missing; NICs that repeat it alone repeat less"
        if trims:
            yield "to RoCE receivers a trimmed packet is lost; what NICs do with one is in no public source"
        return
    if not senders.stated:
        yield "congestion control is not that of Ultra Ethernet: its senders have no DCQCN, and run NSCC"
    yield f"senders run {_SAID[senders.control]}, as uet-htsim @40ccb05 has it: 1.5 round trips at line rate at first"
    if "spray" in choices_of(question):
        yield "they give each packet another entropy value, by which switches hash"
    if not trims:
        yield "what is dropped is sent again when a timer of 15 us and 6 full queues runs out"


def refuse_pauses(question: Question) -> None:
    """Raise an error for options of a question that need PFC: a dead or slow NIC, or storage.

    Raises:
        ScenarioError: the question has such an option.
    """
    asked = (
        ("--dead-nic", question.dead_nic),
        ("--slow-nic", question.slow_nic_bps is not None),
        ("--storage", bool(question.storage)),
    )
    for option, given in asked:
        if given:
            raise ScenarioError(
                f"{option}: the class is lossy, and nothing pauses; it needs a lossless class"
            )


def classes_of(view: View, question: Question) -> tuple[SimClass, ...] | MissingInput:
    """Return the simulated classes, the requested one first, or the reason why there is none.

    Raises:
        ScenarioError: no class has a requested name, the class is lossy and the question needs PFC, or storage has
            no class of its own on this fabric.
    """
    known = list(simulated_classes(view))
    if not known:
        return MissingInput(_nothing_to_ask(view))
    wanted = question.traffic_class
    chosen = [
        sim_class
        for sim_class in known
        if wanted is None or wanted in (sim_class.name, str(sim_class.priority))
    ]
    if not chosen:
        hint = suggestion(str(wanted), [sim_class.name for sim_class in known])
        raise ScenarioError(f"--class: no lossless class is called {wanted!r}{hint}")
    if not chosen[0].lossless:
        refuse_pauses(question)
        return tuple(filter(None, (chosen[0], carrier_class(view.fabric, chosen[0]))))
    return (
        (chosen[0], _storage_class(view, chosen[0], question.storage_class))
        if question.storage
        else (chosen[0],)
    )


def _nothing_to_ask(view: View) -> str:
    fabric = view.fabric
    if fabric.declared and not fabric.classes.lossless:
        return "no class is lossless, and nothing says which lossy class is that of RDMA; state hosts.traffic_class"
    return nothing_lossless(fabric)


def simulated_classes(view: View) -> Iterator[SimClass]:
    """Yield the classes that a question can name: the lossless ones, and lossy ones if no class is lossless."""
    known = list(lossless_classes(view))
    yield from known or lossy_classes(view)


def lossless_classes(view: View) -> Iterator[SimClass]:
    """Yield the lossless classes: those of an intent with a priority, else priorities with PFC, most ports first."""
    if view.fabric.declared:
        for traffic_class in view.fabric.classes.lossless:
            if traffic_class.priority is not None:
                yield SimClass(traffic_class.name, traffic_class.priority, lossless=True)
        return
    counts: dict[int, int] = {}
    for ports in view.lossless_sets:
        for priority in ports.qos.pfc.priorities:
            counts[priority] = counts.get(priority, 0) + ports.places
    for priority in sorted(counts, key=lambda priority: (-counts[priority], priority)):
        yield SimClass(f"priority {priority}", priority, lossless=True)


def _storage_class(view: View, job: SimClass, wanted: str | None) -> SimClass:
    """Return the traffic class of storage: ``wanted``, else that of the storage network, else that of other DSCPs.

    Raises:
        ScenarioError: no class with a priority has the wanted name, or storage shares the class of the job, or is on
            a separate network.
    """
    name = wanted or _class_of_storage(view)
    declared = view.fabric.classes.named(name)
    if wanted is not None and (declared is None or declared.priority is None):
        hint = suggestion(wanted, [cls.name for cls in view.fabric.classes.classes])
        raise ScenarioError(f"--storage-class: no class is called {wanted!r}{hint}")
    priority = _priority(view.fabric.classes, name)
    if priority == job.priority:
        raise ScenarioError(f"storage rides class {job.name} itself; make its transfers larger instead")
    return SimClass(name or "default", priority, lossless=declared is not None and declared.lossless)


def _class_of_storage(view: View) -> str | None:
    """Return the name of the traffic class of the storage network, None where none is declared.

    Raises:
        ScenarioError: the storage network is separate from this fabric.
    """
    network = next((declared for declared in view.fabric.networks if declared.carries_storage), None)
    if network is not None and network.separate:
        raise ScenarioError(
            f"networks.{network.name} is separate: there is no storage on this fabric to mix in"
        )
    return network.class_name if network else None


def _priority(classes: ClassSet, name: str | None) -> int:
    """Return the priority of a class; without a name that of the class of all other DSCPs, else 0."""
    fitting = (
        candidate for candidate in classes.classes if (candidate.name == name if name else candidate.rest)
    )
    return next((candidate.priority for candidate in fitting if candidate.priority is not None), 0)


def other_classes(view: View, question: Question) -> tuple[str, ...]:
    """Return the further classes that could be simulated, by name or priority; none with a class or storage chosen."""
    if question.traffic_class is not None or question.storage:
        return ()
    declared = view.fabric.declared
    _, *others = [one.name if declared else str(one.priority) for one in simulated_classes(view)] or [""]
    return tuple(others)
