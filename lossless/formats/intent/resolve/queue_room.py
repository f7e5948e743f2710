"""Checks the buffer that an intent reserves for queues against the available buffer.

On NVIDIA chips reserved buffer is outside the pools: SONiC sizes pools from the rest of the chip. Elsewhere pools have
their configured size, and the shared part of a pool is its size without the buffer reserved in it. Sources: sonic-swss
cfgmgr/buffer_pool_mellanox.lua and buffermgr.cpp @e6b0c5b (doBufferTableTask); opencomputeproject/SAI inc/saibuffer.h
@91e6b86 (SAI_BUFFER_POOL_ATTR_SHARED_SIZE).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.dynamic_model import room_left
from lossless.analysis.buffers.headroom.port import is_nvidia
from lossless.formats.intent.resolve.class_queues import stated_size
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.switch_kinds import SwitchKind
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import Queue


class _Reserved(NamedTuple):
    """The reservation of one value of the intent on a switch: pool, bytes per queue, and number of queues."""

    origin: Origin
    pool: str
    size_bytes: int
    queues: int

    @property
    def bytes(self) -> int:
        return self.size_bytes * self.queues

    def said_of(self, switches: str) -> str:
        queues = (
            f"{self.queues} queues of {switches} reserve"
            if self.queues > 1
            else f"1 queue of {switches} reserves"
        )
        return f"{queues} {format_bytes(self.bytes)}"


def require_room(loaded: LoadedIntent, switches: Iterable[tuple[SwitchKind, Switch]]) -> None:
    """Refuse reservations for queues that leave no buffer to share on a switch; ``switches`` has one of each kind.

    Raises:
        InputError: the largest reservation on each such switch, or in each such pool.
    """
    if all(cls.queue is None for cls in loaded.intent.classes.values()):
        return
    problems = [problem for kind, switch in switches for problem in _refused(loaded, kind, switch)]
    if problems:
        raise InputError(list(dict.fromkeys(problems)))


def _refused(loaded: LoadedIntent, kind: SwitchKind, switch: Switch) -> Iterator[Problem]:
    reserved = _reserved(loaded, kind, switch)
    if is_nvidia(switch):
        room_bytes = room_left(switch)
        if room_bytes is None:
            return
        sharers = sum(pool.kind == "ingress" for pool in switch.qos.pools)
        free_bytes = room_bytes + _sum(reserved)
        # Where the headroom alone leaves nothing, no queue is to blame.
        if room_bytes < sharers <= free_bytes:
            yield _problem(loaded, kind, reserved, free_bytes - sharers, "the chip")
        return
    for pool in switch.qos.pools:
        here = [one for one in reserved if one.pool == pool.name]
        if pool.size_bytes is not None and here and _sum(here) >= pool.size_bytes:
            yield _problem(loaded, kind, here, pool.size_bytes - 1, pool.name)


def _sum(reserved: Iterable[_Reserved]) -> int:
    return sum(one.bytes for one in reserved)


def _reserved(loaded: LoadedIntent, kind: SwitchKind, switch: Switch) -> list[_Reserved]:
    """Return the reservation of each value of the intent for the queues of ports that are up."""
    class_of = {loaded.origin("classes", name): name for name in loaded.intent.classes}
    queues: dict[tuple[str, int, str], int] = {}
    for port, queue in _queues(switch):
        if queue.origin in class_of and queue.buffer is not None and queue.buffer.pool is not None:
            key = class_of[queue.origin], port.speed_bps or 0, queue.buffer.pool.name
            queues[key] = queues.get(key, 0) + 1
    by_statement: dict[tuple[Origin, str, int], int] = {}
    for (name, speed_bps, pool), count in queues.items():
        size_bytes, origin = stated_size(loaded, kind, name, speed_bps)
        if size_bytes:
            statement = origin, pool, size_bytes
            by_statement[statement] = by_statement.get(statement, 0) + count
    return [_Reserved(*statement, count) for statement, count in by_statement.items()]


def _queues(switch: Switch) -> Iterator[tuple[Port, Queue]]:
    """Yield the queues of ports, each with its port; a port that is down has queues of no class."""
    for port in switch.ports:
        if port.placed and port.qos is not None:
            yield from ((port, queue) for queue in port.qos.queues if queue is not None)


def _problem(
    loaded: LoadedIntent, kind: SwitchKind, reserved: list[_Reserved], free_bytes: int, where: str
) -> Problem:
    """Return the problem of reservations that exceed ``free_bytes``, located at the largest."""
    worst = max(reserved, key=lambda one: one.bytes)
    others_bytes = _sum(reserved) - worst.bytes
    others = f", others {format_bytes(others_bytes)}" if others_bytes else ""
    return loaded.problem(
        worst.origin,
        f"{'.'.join(map(str, worst.origin.path))}: {worst.said_of(kind.called)}{others}, and {where} has "
        f"{format_bytes(free_bytes)} for queues; {_advice(worst, free_bytes - others_bytes)}",
    )


def _advice(worst: _Reserved, free_bytes: int) -> str:
    most_bytes = free_bytes // worst.queues
    return f"state at most {format_bytes(most_bytes)}" if most_bytes > 0 else "state less for each class"
