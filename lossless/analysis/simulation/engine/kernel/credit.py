"""Receivers that give credit to their senders, one after another (RCCC).

A packet carries the credit that its sender requests. Senders with open requests wait in one list, in the order of their
requests; senders with all requested credit wait in another, and receive more once no request is open, to replace
trimmed packets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine.compiled import kernel, outlined
from lossless.analysis.simulation.engine.kernel.agenda import plan, planned
from lossless.analysis.simulation.engine.kernel.news import CREDIT, TRIMMED, send_news
from lossless.analysis.simulation.engine.kernel.nscc import most_credit_bytes
from lossless.analysis.simulation.engine.records import NEVER

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.kernel.world import World

CREDIT_UNIT_BYTES = 256
"""The unit in bytes in which credit is requested and given (``UEC_PULL_QUANTUM``, ultraethernet/uet-htsim
``htsim/sim/uecpacket.h`` @40ccb05)."""
EMPTY_TURN_BYTES = 1024
"""Bytes whose time a turn takes that gives no credit (``UecPullPacer::doNextEvent``, ``htsim/sim/uec.cpp`` there)."""
ASKING, SATED = 0, 1
"""Lists of a puller."""


@kernel
def ask_for_credit(w: World, flow: Any, frame: Any, arrives_at: int) -> None:
    """Record the credit that a packet's sender had requested when it sent the packet, as the packet arrives."""
    which = w.senders[np.uint64(flow.sender)].puller
    puller = w.pullers[np.uint64(which)]
    _hear(w, puller)
    place = flow.first_packet + frame.psn // flow.mtu_bytes
    ask = w.asked[np.uint64(place)]
    if ask.at > w.clock.now:
        return  # the packet was sent twice, and both are on the link
    ask.at, ask.next, ask.sender = arrives_at, -1, flow.sender
    ask.trimmed = frame.marked & TRIMMED
    if puller.first_ask < 0:
        puller.first_ask = place
    else:
        w.asked[np.uint64(puller.last_ask)].next = place
    puller.last_ask = place
    turn = max(arrives_at, puller.next_at)
    if planned(w, 3 * len(w.links) + which) > turn:
        plan(w, 3 * len(w.links) + which, turn)


@kernel
def _hear(w: World, puller: Any) -> None:
    """Take the requests that have arrived by now, and put senders with new ones into the list of open requests."""
    while puller.first_ask >= 0:
        ask = w.asked[np.uint64(puller.first_ask)]
        if ask.at > w.clock.now:
            return
        sender = w.senders[np.uint64(ask.sender)]
        if ask.bytes > sender.asked or ask.trimmed:
            sender.asked = max(sender.asked, ask.bytes)
            append(w, puller, ask.sender, ASKING)
        puller.first_ask = ask.next


@kernel
def append(w: World, puller: Any, number: int, which: int) -> None:
    """Put a sender at the end of a list, unless it is in the list already."""
    sender = w.senders[np.uint64(number)]
    if sender.waits[which]:
        return
    sender.waits[which], sender.next[which] = 1, -1
    if puller.first[which] < 0:
        puller.first[which] = number
    else:
        w.senders[np.uint64(puller.last[which])].next[which] = number
    puller.last[which] = number


@kernel
def remove_first(w: World, puller: Any, which: int) -> int:
    """Return the sender that waits first in a list, and take it off."""
    number = puller.first[which]
    sender = w.senders[np.uint64(number)]
    puller.first[which] = sender.next[which]
    sender.waits[which] = 0
    return int(number)


@outlined
def pull(w: World, which: int) -> None:
    """Give credit to the next sender with an open request, else to one that may have trimmed packets to resend."""
    puller = w.pullers[np.uint64(which)]
    _hear(w, puller)
    given = -1
    while given < 0 and puller.first[ASKING] >= 0:
        given = _give_asked(w, puller, remove_first(w, puller, ASKING))
    while given < 0 and puller.first[SATED] >= 0:
        given = _give_more(w, puller, remove_first(w, puller, SATED))
    if given >= 0:
        puller.next_at = w.clock.now + int((given or EMPTY_TURN_BYTES) * puller.ps_per_byte)
        plan(w, 3 * len(w.links) + which, puller.next_at)
    else:
        first = puller.first_ask
        plan(w, 3 * len(w.links) + which, w.asked[np.uint64(first)].at if first >= 0 else NEVER)


@kernel
def _give_asked(w: World, puller: Any, number: int) -> int:
    """Give a sender its requested credit, one unit of credit at most; return the bytes, -1 if its flow is done."""
    sender = w.senders[np.uint64(number)]
    if w.flows[np.uint64(sender.flow)].done_at >= 0:
        return -1
    allowed = max(0, min(puller.credit_bytes, sender.asked - sender.granted))
    _give(w, sender, allowed)
    append(w, puller, number, ASKING if sender.asked > sender.granted else SATED)
    return int(allowed)


@kernel
def _give_more(w: World, puller: Any, number: int) -> int:
    """Give a sender credit that it did not ask for, a window at most; return the bytes, -1 where its flow is done."""
    sender = w.senders[np.uint64(number)]
    if w.flows[np.uint64(sender.flow)].done_at >= 0:
        return -1
    _give(w, sender, puller.credit_bytes)
    if sender.granted - sender.asked < most_credit_bytes(w.windows[np.uint64(sender.window)]):
        append(w, puller, number, SATED)
    return int(puller.credit_bytes)


@kernel
def _give(w: World, sender: Any, credit_bytes: int) -> None:
    """Send credit to a sender."""
    if credit_bytes == 0:
        return
    flow = w.flows[np.uint64(sender.flow)]
    sender.granted += credit_bytes
    news = w.news[np.uint64(send_news(w, flow, w.clock.now))]
    news.kind, news.bytes = CREDIT, credit_bytes
