"""Trimming of switches: the classes whose queues trim, the size, and the class in which trimmed packets continue.

An intent declares it once for the fabric, by the one DSCP of a lossy class, so the settings of most switches are
declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.importing.majority import most
from lossless.formats.importing.model import DraftTrimming
from lossless.model.fabric.routing import LEAST_TRIM_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.importing.model import DraftClass, ImportDevice

_Notes = tuple[str, ...]


def find_trimming(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass]
) -> tuple[DraftTrimming | None, _Notes]:
    """Return the trimming of most devices and notes; None without trimming, or where an intent cannot declare it."""
    settings = [device.switch.qos.trimming for device in devices]
    told, vote = most(None if each is None else (each.size_bytes, each.dscp, each.queue) for each in settings)
    if told is None:
        return None, () if vote.unanimous else (_dissent(vote.votes - vote.ayes, vote.votes),)
    notes = () if vote.unanimous else (f"trimming: {vote.ayes} of {vote.votes} devices have it so",)
    size_bytes, dscp, queue = told
    trimmed = tuple(cls.name for cls in classes if not cls.lossless and _trims(devices, cls.priority))
    into = next((c for c in classes if c.dscps == (dscp,) and not c.lossless and c.name not in trimmed), None)
    why = _why_not(size_bytes, trimmed, into, queue)
    if why or into is None or size_bytes is None:
        return None, (f"trimming is not declared: {why}",)
    return DraftTrimming(trimmed, into.name, size_bytes), notes


def _dissent(those: int, votes: int) -> str:
    return f"trimming is not declared: {those} of {votes} devices have it, or have it so"


def _trims(devices: Sequence[ImportDevice], number: int) -> bool:
    """Return whether most queues of a number trim packets that find no room."""
    queues = (port.qos.queues[number] for device in devices for port in device.used.values() if port.qos)
    winner, _ = most(queue.buffer is not None and queue.buffer.trims for queue in queues if queue is not None)
    return winner is True


def _why_not(
    size_bytes: int | None, trimmed: _Notes, into: DraftClass | None, queue: int | str | None
) -> str:
    """Return why an intent cannot declare the trimming of devices, empty where it can."""
    if size_bytes is None or size_bytes < LEAST_TRIM_BYTES:
        return "no device says to what size, or to less than a frame has"
    if not trimmed:
        return "most queues of no class that may drop have a profile that trims"
    if into is None:
        return "the DSCP of trimmed packets is not that of a class which may drop and has no other"
    return "" if queue == into.priority else f"class {into.name} has another queue than trimmed packets"
