"""Packets that a sender with a window waits for, in the order in which it sent them: each has a timer of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World

RECEIVED, LOST, ACKED, RESENT = 1, 2, 4, 8
"""Bits of a packet: its receiver has it; its sender is to send it again; an ACK covers it; it was sent again."""


@kernel
def start_timer(w: World, sender: Any, place: int, at_ps: int) -> None:
    """Wait for a packet that is sent."""
    stop_timer(w, sender, place)
    sent = w.sent[np.uint64(place)]
    sent.at, sent.before, sent.after, sent.waits = at_ps, sender.last_sent, -1, 1
    if sender.last_sent < 0:
        sender.first_sent = place
    else:
        w.sent[np.uint64(sender.last_sent)].after = place
    sender.last_sent = place


@kernel
def stop_timer(w: World, sender: Any, place: int) -> None:
    """Wait for a packet no longer."""
    sent = w.sent[np.uint64(place)]
    if not sent.waits:
        return
    sent.waits = 0
    if sent.before < 0:
        sender.first_sent = sent.after
    else:
        w.sent[np.uint64(sent.before)].after = sent.after
    if sent.after < 0:
        sender.last_sent = sent.before
    else:
        w.sent[np.uint64(sent.after)].before = sent.before


@kernel
def hold_back(w: World, sender: Any, place: int) -> None:
    """Add a received packet to those that no ACK covers yet."""
    w.sent[np.uint64(place)].held_before = sender.last_held
    sender.last_held = place


@kernel
def acknowledge_held(w: World, sender: Any) -> None:
    """Mark all received packets as covered by an ACK, and stop their timers."""
    place = sender.last_held
    while place >= 0:
        w.packets[np.uint64(place)] |= ACKED
        stop_timer(w, sender, place)
        place = w.sent[np.uint64(place)].held_before
    sender.last_held = -1
