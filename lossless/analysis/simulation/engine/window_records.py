"""Records of packet spreading over paths, and of senders with a congestion window: see :mod:`.records`."""

from __future__ import annotations

import numpy as np

FAN = np.dtype(
    [
        ("first", "i4"),  # index in the paths: the first of its links
        ("links", "i4"),  # count: of them
        ("turn", "i4"),  # count: links that had their turn in this round
    ],
    align=True,
)
"""The links of a switch that lead toward the same places at the same cost."""

FLOWLET = np.dtype(
    [
        ("last_at", "i8"),  # ps: when a frame of the flow last came by
        ("link", "i4"),  # link that it took; -1: none yet
    ],
    align=True,
)
"""The memory that a switch has of a flow: by switch and flow, if flows are moved between gaps."""

SENDER = np.dtype(
    [
        ("cwnd", "f8"),  # bytes: congestion window
        ("average_ps", "f8"),  # ps: average of the queueing delay
        ("owed", "f8"),  # bytes * bytes: increase that is not applied yet
        ("base_rtt_ps", "i8"),  # ps: round trip without queues
        ("in_flight", "i8"),  # bytes: sent, and neither acknowledged nor known to be lost
        ("new_psn", "i8"),  # bytes: the first that was never sent
        ("credit", "i8"),  # bytes: that the receiver has allowed and that are not sent yet
        ("achieved", "i8"),  # bytes: acknowledged since the last quick adaptation
        ("ignored", "i8"),  # bytes: acknowledged since it, until marks count again
        ("ignores", "i8"),  # bytes: for which marks do not count
        ("counted", "i8"),  # bytes: acknowledged since the window was last adjusted
        ("fast", "i8"),  # bytes: acknowledged without any delay, one after another
        ("adjusted_at", "i8"),  # ps: when a base round trip of adjustments last ended
        ("cut_at", "i8"),  # ps: when it was last cut
        ("adapts_at", "i8"),  # ps: after which it may adapt quickly again; 0: not yet
        ("granted", "i8"),  # bytes: that its receiver has allowed in all
        ("asked", "i8"),  # bytes: of credit that its receiver knows it asks for in all
        ("pulled", "i8"),  # bytes: of credit that it has got
        ("arrived", "i8"),  # bytes: of payload that its receiver has
        ("resend_bytes", "i8"),  # bytes: of the packets to be sent again
        ("puller", "i4"),  # puller of its receiver; -1: it needs no credit
        ("flow", "i4"),  # its flow
        ("first_sent", "i4"),  # packet, of all flows, that it waits for longest; -1: none
        ("last_sent", "i4"),  # packet that it waits for, sent last
        ("last_held", "i4"),  # packet that its receiver got last, of those that no ACK tells of; -1: none
        ("speculates", "u1"),  # bool: it still sends on credit that nobody gave
        ("to_adapt", "u1"),  # bool: a packet was trimmed, and it has not adapted since
        ("rests", "u1"),  # bool: it could send nothing when it was last looked at
        ("heard", "u1"),  # bool: its receiver has got a packet whole
        ("asks", "u1"),  # bool: a packet asked for an ACK, and earlier ones have not come yet
        ("window", "i4"),  # parameters of its window
        ("first_news", "i4"),  # index in the news: its ring, and behind it what is on its way in ACKs
        ("depth", "i4"),  # count: entries of the ring
        ("head", "i4"),  # entry: the first that is not taken
        ("waiting", "i4"),  # count: entries not taken
        ("to_resend", "i4"),  # count: packets to be sent again
        ("resend_from", "i4"),  # packet of the flow: none before it is to be sent again
        ("unacked", "i4"),  # bytes: received, and not acknowledged yet
        ("kept", "i4"),  # count: entropy values kept for use again (REPS)
        ("taken", "i4"),  # index of the next of them
        ("good", "i2", (8,)),  # entropy values of unmarked ACKs
        ("recycles", "u1"),  # bool: it uses them again
        ("next", "i4", (2,)),  # sender that waits behind it in each list of its puller; -1: none
        ("waits", "u1", (2,)),  # bool: it waits in each list
    ],
    align=True,
)
"""The sender of a flow with a congestion window: its state, and the news under way to it."""

SENT = np.dtype(
    [
        ("at", "i8"),  # ps: when it was last sent
        ("before", "i4"),  # packet that its sender waits for, sent before it; -1: none
        ("after", "i4"),  # the one sent after it
        ("held_before", "i4"),  # packet received before it, of those that no ACK tells of; -1: none
        ("waits", "u1"),  # bool: its sender waits for it
    ],
    align=True,
)
"""A packet of a sender with a window."""

ASK = np.dtype(
    [
        ("bytes", "i8"),  # bytes: of credit asked for in all
        ("at", "i8"),  # ps: when its receiver learns of it
        ("next", "i4"),  # packet whose request arrives next; -1: none is on the link
        ("sender", "i4"),  # its sender
        ("trimmed", "u1"),  # bool: it was trimmed
    ],
    align=True,
)
"""The credit that a packet requests."""

NEWS = np.dtype(
    [
        ("at", "i8"),  # ps: when the sender learns it
        ("sent_at", "i8"),  # ps: when the packet was sent that it is about; -1: not known
        ("psn", "i8"),  # bytes: offset of that packet in the flow
        ("bytes", "i4"),  # bytes: on the wire, acknowledged or lost
        ("kind", "i1"),  # 0 an ACK, 1 a trimmed packet, 2 credit
        ("marked", "u1"),  # bool: the packet was marked
        ("entropy", "i2"),  # its entropy value
        ("travels", "u1"),  # bool: it is on its way in an ACK
    ],
    align=True,
)
"""News for a sender: an ACK, a loss, or credit."""

WINDOW = np.dtype(
    [
        ("bdps", "f8"),  # round trips at line rate: the largest window
        ("line_bytes_per_ps", "f8"),  # bytes per ps of the NIC
        ("target", "f8"),  # base round trips: queueing delay that is aimed at
        ("base_rtt_ps", "i8"),  # ps: round trip without queues, of the longest path
        (
            "timeout_ps",
            "i8",
        ),  # ps: after which a packet that is neither acknowledged nor trimmed is sent again
        ("ack_bytes", "i4"),  # bytes: received for which an ACK is sent
        ("control", "u1"),  # 0 the window stays, 1 NSCC
        ("nacks", "u1"),  # bool: receivers ask for what was sent before a packet that they get
    ],
    align=True,
)
"""Parameters of windows: see ``engine.network.SimWindow``."""

PULLER = np.dtype(
    [
        ("next_at", "i8"),  # ps: when it may give credit again
        ("ps_per_byte", "f8"),  # ps per byte of credit
        ("first_ask", "i4"),  # packet on the host's link whose request arrives next; -1: none
        ("last_ask", "i4"),  # packet whose request arrives last
        (
            "first",
            "i4",
            (2,),
        ),  # sender that waits first: of those that ask, of those that got all they asked for; -1
        ("last", "i4", (2,)),  # sender that waits last
        ("credit_bytes", "i4"),  # bytes of one credit
    ],
    align=True,
)
"""A receiving NIC that gives credit to its senders, one after another."""
