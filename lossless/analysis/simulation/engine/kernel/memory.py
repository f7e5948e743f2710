"""The memory unit of a switch, lists of frames and random numbers, and the state of all kernel functions.

A priority group holds frames up to its threshold T, which falls as the shared pool fills (Choudhury and Hahne 1998), or
is static. Its reserved bytes are added to T if the unit is configured so, as packet counts of switches show
(docs/validation.md); in ns-3 they count within T. Above that, a lossy group drops the arriving frame; a lossless one
charges it to its headroom, and every further frame, until the headroom is empty again; departing frames are taken from
the headroom first. Semantics of SONiC's buffer model as the packet-level simulator ns-3.39 has it
(inet-tub/ns3-datacenter @6ddb4a4).

A frame is in one list at a time: those in no use, those on a wire, those in a queue. :class:`World` has the state
that kernel functions work on, under one name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined


@kernel
def threshold(unit: Any, group: Any) -> float:
    """Return T in bytes: alpha times the free part of the shared pool, or a static threshold limited by the pool."""
    # Only what is shared counts as used: not what is charged to headroom, nor what groups have reserved.
    left = unit.shared_bytes - (unit.used - unit.headroom_used - unit.reserved_used)
    if group.static_bytes >= 0:
        own_bytes = group.bytes - min(group.bytes, group.reserved_bytes) * unit.reserved_apart
        return float(min(group.static_bytes, own_bytes + left))
    return group.alpha * max(0, left)


@kernel
def xoff(unit: Any, group: Any) -> float:
    """Return the most bytes that a group holds without headroom: T, plus its reserved bytes if they are apart."""
    return threshold(unit, group) + (group.reserved_bytes if unit.reserved_apart else 0)


@kernel
def fits(unit: Any, group: Any, held_bytes: int) -> bool:
    """Return whether a frame may enter: chip and pools have room for it.

    If the group uses headroom, its headroom or its reservation must have room too, and so must the headroom pool.
    """
    used = unit.used + held_bytes
    if used > unit.buffer_bytes or used > unit.pool_bytes + unit.headroom_pool_bytes:
        return False
    in_headroom = group.headroom_used
    if in_headroom == 0:
        return True
    full = in_headroom + held_bytes > group.headroom_bytes
    if full and group.bytes + held_bytes > group.reserved_bytes:
        return False
    return unit.headroom_used + held_bytes <= unit.headroom_pool_bytes


@kernel
def charge(unit: Any, group: Any, held_bytes: int) -> int:
    """Count a frame in: as reserved up to that limit, then as shared; return the bytes in the group."""
    before = group.bytes
    after = before + held_bytes
    group.bytes = after
    unit.used += held_bytes
    reserved = group.reserved_bytes
    if reserved:
        unit.reserved_used += min(after, reserved) - min(before, reserved)
    return after


@kernel
def admit(clock: Any, unit: Any, group: Any, held_bytes: int) -> bool:
    """Take a frame into memory if there is room for it; return whether there was."""
    if not fits(unit, group, held_bytes):
        return False
    in_headroom = group.headroom_used
    holds = charge(unit, group, held_bytes)
    if in_headroom > 0 or holds > xoff(unit, group):
        if not group.lossless:
            _discharge(unit, group, held_bytes)
            return False
        in_headroom += held_bytes
        group.headroom_used = in_headroom
        unit.headroom_used += held_bytes
        if in_headroom > group.max_headroom:
            group.max_headroom = in_headroom
            unit.max_headroom = max(unit.max_headroom, unit.headroom_used)
    group.max_shared = max(group.max_shared, holds - in_headroom)
    unit.max_used = max(unit.max_used, unit.used)
    clock.grew_at = clock.now if holds > group.max_bytes else clock.grew_at
    group.max_bytes = max(group.max_bytes, holds)
    return True


@kernel
def release(unit: Any, group: Any, held_bytes: int) -> None:
    """Count a frame out: from headroom first."""
    if group.headroom_used > 0:
        from_headroom = min(group.headroom_used, held_bytes)
        group.headroom_used -= from_headroom
        unit.headroom_used -= from_headroom
    _discharge(unit, group, held_bytes)


@kernel
def _discharge(unit: Any, group: Any, held_bytes: int) -> None:
    before = group.bytes
    after = before - held_bytes
    group.bytes = after
    unit.used -= held_bytes
    reserved = group.reserved_bytes
    if reserved:
        unit.reserved_used -= min(before, reserved) - min(after, reserved)


@kernel
def wants_pause(group: Any) -> bool:
    """Return whether a group has to pause its peer: it uses headroom, and its peer is not paused yet."""
    return group.headroom_used > 0 and not group.paused


@kernel
def wants_resume(unit: Any, group: Any) -> bool:
    """Return whether a paused group lets its peer go on: no headroom in use, and below XON or XON offset below XOFF."""
    if not group.paused or group.headroom_used > 0:
        return False
    return group.bytes < group.xon or group.bytes + group.xon_offset <= xoff(unit, group)


@kernel
def take(w: World) -> int:
    """Return the number of a free frame; :mod:`run` makes sure that there is one."""
    w.clock.free_frames -= 1
    number = w.clock.free
    if number < 0:
        number = w.clock.fresh
        w.clock.fresh = number + 1
    else:
        w.clock.free = w.frames[np.uint64(number)].next
    return number


@kernel
def give_back(w: World, number: int) -> None:
    """Return a frame to those in no use."""
    w.frames[np.uint64(number)].next = w.clock.free
    w.clock.free = number
    w.clock.free_frames += 1


@kernel
def enqueue(w: World, queue: Any, number: int) -> None:
    """Put a frame last in a queue."""
    w.frames[np.uint64(number)].next = -1
    if queue.head < 0:
        queue.head = number
    else:
        w.frames[np.uint64(queue.tail)].next = number
    queue.tail = number


@kernel
def dequeue(w: World, queue: Any) -> int:
    """Take the first frame of a queue."""
    number = queue.head
    queue.head = w.frames[np.uint64(number)].next
    return number


@kernel
def random(clock: Any) -> float:
    """Return the next random number in [0, 1): xorshift64* (Vigna 2016)."""
    state = clock.random
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    clock.random = state
    return float((state * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@kernel
def below(clock: Any, many: int) -> int:
    """Return a random whole number from 0 to ``many`` - 1."""
    return int(random(clock) * many)


@outlined
def hashed(salt: Any, place: int, flow: int, value: int) -> int:
    """Return the hash of a flow, a value and the number of a place, 31 bits: splitmix64 (Steele 2014)."""
    word = salt ^ (np.uint64(place) << np.uint64(48)) ^ (np.uint64(flow) << np.uint64(16)) ^ np.uint64(value)
    word += np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int((word ^ (word >> np.uint64(31))) >> np.uint64(33))


class World(NamedTuple):
    """The state of a simulated fabric; ``engine.records`` documents the fields of its structured arrays.

    Indexes on frequent paths are made unsigned: of a signed one the compiled code would test each time whether it
    counts from the end. ``classes`` is the number of classes of a link, ``bits`` how many bits of an agenda entry are
    its slot.
    """

    clock: Any
    agenda: Any
    frames: Any
    links: Any
    queues: Any
    groups: Any
    units: Any
    flows: Any
    points: Any
    params: Any
    cnps: Any
    paths: Any
    receivers: Any
    holds: Any
    delays: Any
    probes: Any
    samples: Any
    routes: Any
    fans: Any
    flowlets: Any
    packets: Any
    sent: Any
    asked: Any
    senders: Any
    news: Any
    windows: Any
    pullers: Any
    classes: int
    bits: int
