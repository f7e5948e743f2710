"""ECN curves against XOFF thresholds: the curves of each switch, their origins, and their margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import EcnMarking, EcnMarkings, by_switch, whatever_the_parts
from lossless.checks.rules.base import MissingInput, Results, Violation, tightest
from lossless.checks.rules.locations import below, places
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lossless.ground.basics.findings import Json, Origin
    from lossless.model.fabric.qos import Wred
    from lossless.model.fabric.view import PortSet, View

ONE_PACKET_BYTES = 4096
"""The payload of the largest RDMA packet: path MTUs are 256 to 4,096 bytes (IBTA volume 1)."""
_FIELDS = {"min": "green_min_threshold", "max": "green_max_threshold"}


def markings(view: View) -> Iterator[tuple[PortSet, EcnMarking | MissingInput]]:
    """Yield each distinct curve on each set of ports with the pause trigger it is compared with, or a missing input."""
    for sets in by_switch(view):
        if sets[0].switch.qos.voq:
            yield (
                sets[0],
                MissingInput("virtual output queues are at the ingress of another card", places(sets)),
            )
        else:
            of_switch = EcnMarkings(sets)
            for egress in sets:
                yield from ((egress, marking) for marking in _distinct(of_switch, egress))


def _distinct(of_switch: EcnMarkings, egress: PortSet) -> Iterable[EcnMarking | MissingInput]:
    """Return the ECN curves of one port set, one for each curve and pause trigger, and the missing inputs."""
    distinct: dict[object, EcnMarking | MissingInput] = {}
    for priority in egress.qos.pfc.priorities:
        marking = of_switch.of(egress, priority)
        if isinstance(marking, MissingInput):
            distinct[marking.reason] = MissingInput(marking.reason, egress.places)
        elif marking is not None:
            distinct.setdefault((marking.wred.origin, marking.trigger), marking)
    return distinct.values()


if TYPE_CHECKING:
    Rank = Callable[[View, PortSet, EcnMarking], tuple[tuple[float, ...], Violation] | None]
    """A function that returns the violation of an ECN curve with its rank, None without one; the lowest is reported."""


def tightest_curves(view: View, rank: Rank) -> Results:
    """Yield the violation of lowest rank at each curve that has one for every number of parts of the buffer.

    A missing input: a curve, its trigger or the number of parts on which the result depends is unknown.
    """
    ranked = []
    for ports, marking in markings(view):
        if isinstance(marking, MissingInput):
            yield marking
            continue
        found = whatever_the_parts(
            marking.trigger,
            lambda one, at=ports, of=marking: rank(view, at, of._replace(trigger=one)),  # type: ignore[misc]
        )
        if isinstance(found, MissingInput):
            yield MissingInput(found.reason, ports.places)
        elif found is not None:
            ranked.append(found)
    yield from tightest(ranked)


def shared_pool(marking: EcnMarking) -> str:
    """Return as text the size of the pool of a curve's groups; of a divided pool also the part that a port fills."""
    trigger, size = marking.trigger, format_bytes(marking.trigger.pool_bytes)
    many = max(trigger.parts)
    return (
        size
        if many == 1
        else f"{size} in {many} parts, of which a port fills {format_bytes(trigger.part_bytes)}"
    )


def threshold_origin(view: View, wred: Wred, end: str) -> Origin:
    """Return the origin of Kmin (``end`` is ``min``) or Kmax (``max``) of a curve."""
    return below(wred.origin, end if view.fabric.declared else _FIELDS[end])


def raised_alpha(view: View, ports: PortSet) -> str:
    """Return the advice to raise alpha, by which the groups of a switch pause later."""
    computes = ports.switch.qos.buffer_model == "dynamic" and not view.fabric.declared
    where = " (default_dynamic_th, or dynamic_th of the profile that they name)" if computes else ""
    return f"raise alpha of the lossless groups{where}"


def margins(marking: EcnMarking, threshold_bytes: int) -> Mapping[str, Json]:
    """Return pool, alpha, fan-in and XOFF thresholds, and the margins of these above an ECN threshold; sizes in bytes.

    With a negative margin PFC comes first.
    """
    return {
        "pool_bytes": marking.trigger.pool_bytes,
        "buffer_parts": max(marking.trigger.parts),
        "alpha": marking.trigger.alpha,
        "one_group_bytes": int(marking.trigger.threshold_bytes(1)),
        "two_sender_egress_bytes": int(marking.trigger.egress_bytes(2)),
        "worst_fan_in": marking.fan_in,
        "two_sender_margin_bytes": int(marking.trigger.egress_bytes(2)) - threshold_bytes,
        "two_egress_margin_bytes": int(marking.trigger.threshold_bytes(1)) - 2 * threshold_bytes,
    }
