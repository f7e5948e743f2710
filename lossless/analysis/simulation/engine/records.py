"""The state of a simulated fabric: record arrays, grouped by the objects that they describe.

The names of fields give units: ps are picoseconds, and times (``at``, ``until``, ``since``) count from the start of the
run. A *link* is one direction of a cable; its transmitter is the end that sends. Queues (egress, at the transmitter)
and groups (ingress, at the far end) are counted ``link * classes + class``. A link, frame, flow or unit is an index; -1
means none.

Packet spreading over paths and senders with a congestion window have records of their own, at the end.
"""

from __future__ import annotations

from typing import Final

import numpy as np

NEVER: Final = 1 << 62
"""A time that does not come."""
DELAY_STEP_PS: Final = 500_000
DELAY_STEPS: Final = 1 << 15
"""Queueing delays are counted in steps of half a microsecond, up to 16 ms; the last step has all that are longer."""

CLOCK = np.dtype(
    [
        ("now", "i8"),  # ps: the present
        ("events", "i8"),  # count: things that have happened
        ("grew_at", "i8"),  # ps: when any maximum last grew
        ("free", "i4"),  # frame: the first that is in use no more; -1: none is
        ("fresh", "i4"),  # frame: from this one on, none has been in use
        ("free_frames", "i4"),  # count: frames not in use
        ("unfinished", "i4"),  # count: flows that have not been delivered whole
        ("in_network", "i4"),  # count: frames of flows on wires and in queues
        ("first_pause_at", "i8"),  # ps: first PFC pause sent; -1: none yet
        ("first_mark_at", "i8"),  # ps: first ECN mark; -1: none yet
        ("first_drop_at", "i8"),  # ps: first frame lost; -1: none yet
        ("first_trim_at", "i8"),  # ps: first frame trimmed; -1: none yet
        ("drops", "i8"),  # count: frames lost
        ("trims", "i8"),  # count: frames trimmed
        ("lost_news", "i8"),  # count: news that had no room in a ring, which must not be
        ("timeouts", "i8"),  # count: timers that ran out, of flows that go back and of packets under a window
        ("resent", "i8"),  # count: frames sent again
        ("marks", "i8"),  # count: frames marked (ECN)
        ("cnps", "i8"),  # count: CNPs sent
        ("pauses", "i8"),  # count: times that a group asked its peer to pause
        ("storms", "i8"),  # count: times that the watchdog triggered
        ("first_storm_at", "i8"),  # ps: the first of them; -1: none yet
        ("random", "u8"),  # state of the random generator (xorshift64*)
        ("salt", "u8"),  # what hashes of this run begin with
        ("samples", "i8"),  # count: samples recorded
        ("sample_ps", "i8"),  # ps: time between two samples
    ],
    align=True,
)
"""One record of the whole run: time and counters. ``first_..._at`` is -1 until the event happens."""

FRAME = np.dtype(
    [
        ("arrives_at", "i8"),  # ps: when its last bit is received
        ("psn", "i8"),  # bytes: offset of its first payload byte in the flow
        ("next", "i4"),  # frame: the one behind it in its list; -1: none
        ("flow", "i4"),  # flow it belongs to
        ("wire_bytes", "i4"),  # bytes: without preamble and inter-frame gap
        ("held_bytes", "i4"),  # bytes: in memory, whole cells
        ("via", "i4"),  # link it came in on
        (
            "hop",
            "i2",
        ),  # count: links of its path that it has begun; of a flow that is spread: its entropy value
        ("priority", "i1"),  # class of a data frame, or that a PFC frame is about
        (
            "marked",
            "u1",
        ),  # bits: 1 ECN congestion experienced, 2 trimmed, 4 asks for an ACK, 8 sent again; of PFC: 1 pauses
    ],
    align=True,
)
"""A frame, data or PFC. Frames in queues and on wires are linked lists."""

LINK = np.dtype(
    [
        ("busy_until", "i8"),  # ps: end of the frame being sent
        ("pfc_free_at", "i8"),  # ps: end of the PFC frames being sent
        ("ps_per_byte", "f8"),  # ps per byte at line rate
        ("ps_per_64_kib", "i8"),  # the same in whole numbers, which a kernel reckons with faster
        ("propagation_ps", "i8"),  # ps: along the cable, one direction
        ("reaction_ps", "i8"),  # ps: from receiving a PFC frame to obeying it
        ("pfc_wire_bytes", "i4"),  # bytes: a PFC frame with preamble and inter-frame gap
        ("gap_bytes", "i4"),  # bytes: preamble and inter-frame gap
        ("reverse", "i4"),  # link: the other direction of its cable
        ("sender_unit", "i4"),  # memory unit of the switch that sends; -1: a host
        ("receiver_unit", "i4"),  # memory unit of the switch that receives; -1: a host
        ("wire_head", "i4"),  # frame: the first on the wire; -1: none
        ("wire_tail", "i4"),  # frame: the last on the wire
        ("pfc_head", "i4"),  # frame: the first PFC frame on its way to this transmitter; -1: none
        ("pfc_tail", "i4"),  # frame: the last of them
        ("backlog", "u4"),  # class bits: with frames waiting
        ("paused", "u4"),  # class bits: paused by the peer
        ("held", "u4"),  # class bits: held from outside, by a NIC that pauses
        ("ignored", "u4"),  # class bits: whose pauses the watchdog has overruled
        ("watched", "u4"),  # class bits: that the watchdog of its sender watches
        ("action", "u4"),  # of that watchdog: 0 drop, 1 forward, 2 alert
        ("detection_ps", "i8"),  # ps: its detection time
        ("restoration_ps", "i8"),  # ps: its restoration time; 0: never
        ("strict", "u4"),  # class bits: served first, the highest before the others
        ("turn", "i4"),  # DWRR: class whose turn it is; at a host: flow, counted from first_flow
        ("first_flow", "i4"),  # flow: the first of its NIC
        ("flows", "i4"),  # count: flows of its NIC
        ("ack_flows", "i4"),  # count: the first of them, which carry ACKs at strict priority
        ("receiver", "i4"),  # receiver at the end of it; -1: a host that always keeps up
        ("next_flow", "i4"),  # flow: of the frame that its NIC sends next, where that is foreseen
        ("next_bytes", "i4"),  # bytes: of that frame
        ("rewind_at", "i8"),  # ps: when the first of its flows goes back; NEVER: none is told to
        ("sends_at", "i8"),  # ps: when it starts that frame; NEVER: none is foreseen
        ("next_arrives_at", "i8"),  # ps: when that frame is received whole; NEVER: none is foreseen
        ("level_at", "i8"),  # ps: when its load was last looked at by adaptive routing
        ("level", "i4"),  # the load that was seen then, 0 to 3
        ("sending_bytes", "i4"),  # bytes on the wire of the frame that a switch sends, or has sent last
        ("leaving", "i4"),  # frame that is sent, and counts in its queue until it has gone; -1: none
        ("leaving_queue", "i4"),  # that queue
        ("leaving_bytes", "i4"),  # bytes: that it holds there
        ("foreseen", "u1"),  # bool: a NIC whose next frame is known when it has sent the last
        ("idle", "u1"),  # bool: its transmitter has nothing it may send
        ("seen", "u1"),  # bool: arrivals at the host at its end are events of their own
        ("fixed", "u1"),  # bool: the watchdog restores after its time whether pauses come or not
    ],
    align=True,
)
"""One direction of a cable, with the transmitter that sends on it. Class bits: bit n is class n."""

QUEUE = np.dtype(
    [
        ("bytes", "i8"),  # bytes: held now
        ("kmin", "f8"),  # bytes: WRED or ECN minimum
        ("kmax", "f8"),  # bytes: WRED or ECN maximum
        ("pmax", "f8"),  # probability at kmax, 0 to 1
        ("limit_bytes", "i8"),  # bytes: what would exceed it, and what it may have of its pool, is dropped
        ("alpha", "f8"),  # factor of what its pool has left, that it may have beyond; 0: nothing
        ("pool_bytes", "i8"),  # bytes: size of that pool
        ("deficit", "i8"),  # bytes: DWRR credit left
        ("quantum", "i8"),  # bytes: DWRR credit a turn
        ("max_bytes", "i8"),  # bytes: the most it held
        ("max_at", "i8"),  # ps: when that was; -1: never
        ("paused_since", "i8"),  # ps: -1 while not paused
        ("paused_ps", "i8"),  # ps: sum of pauses that have ended
        ("longest_pause_ps", "i8"),  # ps: longest pause that has ended
        ("pauses", "i8"),  # count: pauses begun
        ("first_mark_at", "i8"),  # ps: first mark; -1: none yet
        ("marks", "i8"),  # count: frames marked
        ("drops", "i8"),  # count: frames refused by the limit or WRED
        ("trims", "i8"),  # count: frames trimmed instead
        ("trim_bytes", "i4"),  # bytes: to which it cuts frames that it has no room for; 0: it drops them
        ("trim_class", "i4"),  # class of what it has trimmed
        ("stopped", "i8"),  # count: frames that the watchdog dropped
        ("sent_frames", "i8"),  # count: frames sent
        ("sent_bytes", "i8"),  # bytes: sent, without preamble and inter-frame gap
        ("watch_left_ps", "i8"),  # ps: time until the watchdog triggers, or restores
        ("watch_sent", "i8"),  # count: sent_frames at the last poll
        ("watch_paused_ps", "i8"),  # ps: time paused in all at the last poll
        ("watch_resumes", "i8"),  # count: resumes at the last poll
        ("resumes", "i8"),  # count: pauses ended
        ("storms", "i8"),  # count: times that the watchdog triggered on it
        ("storm_at", "i8"),  # ps: the first of them; -1: none yet
        ("head", "i4"),  # frame: the first in it; -1: empty
        ("tail", "i4"),  # frame: the last in it
        ("wred", "u1"),  # 0 off, 1 marks, 2 drops, 3 marks a frame that has gone
        ("until_sent", "u1"),  # bool: a frame counts until it has gone, not until it begins to
        ("rare", "u1"),  # bool: it drops by WRED, counts frames until they have gone, or has been stormed
        ("stormed", "u1"),  # bool: the watchdog drops what it gets
        ("watch_was_paused", "u1"),  # bool: paused at the last poll
    ],
    align=True,
)
"""An egress queue: the frames of one class that a transmitter has to send."""

GROUP = np.dtype(
    [
        ("bytes", "i8"),  # bytes: all it holds
        ("headroom_used", "i8"),  # bytes: of those, what is charged to headroom
        ("headroom_bytes", "i8"),  # bytes: what it may charge, xoff
        ("reserved_bytes", "i8"),  # bytes: guaranteed to it
        ("alpha", "f8"),  # factor of the dynamic threshold
        ("static_bytes", "i8"),  # bytes: threshold that does not move; -1: dynamic
        ("xon", "i8"),  # bytes: below this it resumes its peer
        ("xon_offset", "i8"),  # bytes: or this far below its threshold
        ("max_bytes", "i8"),  # bytes: the most it held
        ("max_shared", "i8"),  # bytes: the most it held without what was charged to headroom
        ("max_headroom", "i8"),  # bytes: the most it charged to headroom
        ("first_pause_at", "i8"),  # ps: first pause asked for; -1: none yet
        ("pauses", "i8"),  # count: pauses asked for
        ("drops", "i8"),  # count: frames refused
        ("first_drop_at", "i8"),  # ps: the first of them; -1: none yet
        ("unit", "i4"),  # memory unit whose pool it draws on; -1: at a host
        ("lossless", "u1"),  # bool: it has headroom and pauses
        ("paused", "u1"),  # bool: it has asked its peer to pause
    ],
    align=True,
)
"""An ingress priority group: the frames of one class that arrived over a link and are still in memory."""

UNIT = np.dtype(
    [
        ("used", "i8"),  # bytes: held by all groups of the pool
        ("headroom_used", "i8"),  # bytes: of those, charged to headroom
        ("reserved_used", "i8"),  # bytes: of those, counted as reserved
        ("pool_bytes", "i8"),  # bytes: size of the pool
        ("shared_bytes", "i8"),  # bytes: the pool less what groups have reserved
        ("headroom_pool_bytes", "i8"),  # bytes: headroom that exists for all groups together
        ("buffer_bytes", "i8"),  # bytes: memory of the chip
        ("cell_bytes", "i8"),  # bytes: a cell, in which memory is given out
        ("max_used", "i8"),  # bytes: the most that was held
        ("max_headroom", "i8"),  # bytes: the most headroom in use
        ("poll_ps", "i8"),  # ps: poll interval of the PFC watchdog; 0: none
        (
            "levels",
            "i8",
            (3,),
        ),  # bytes: of a port's queues, at which adaptive routing takes it for more loaded
        ("level_ps", "i8"),  # ps: least time between two looks at them
        ("flowlet_ps", "i8"),  # ps: gap after which a flow may take another link
        ("first_link", "i4"),  # link: the first that this switch sends on
        ("links", "i4"),  # count: links that it sends on, a range
        ("predicate", "u1"),  # 0 Mellanox, 1 Broadcom
        ("reserved_apart", "u1"),  # bool: what groups have reserved comes on top of their threshold
        ("choice", "u1"),  # how it chooses links of flows that leave it that; 0: as the flow says
    ],
    align=True,
)
"""A memory unit: units 0 to n - 1 are the n switches with the pool of their lossless groups, or its first part; further
pools and parts follow."""

FLOW = np.dtype(
    [
        ("size_bytes", "i8"),  # bytes: payload to send; of ACKs: one each, grows
        ("sent_bytes", "i8"),  # bytes: payload sent
        ("expected_psn", "i8"),  # bytes: payload that arrived in order
        ("next_at", "i8"),  # ps: when its next frame may start
        ("started_at", "i8"),  # ps: when it began
        ("done_at", "i8"),  # ps: when it arrived whole; -1: not yet
        ("rewind_at", "i8"),  # ps: when the sender learns of a missing frame
        ("nacked_psn", "i8"),  # bytes: the missing frame of the last NACK; -1: none
        ("nack_again_at", "i8"),  # ps: when that NACK may be sent again
        ("nack_ps", "i8"),  # ps: time between two NACKs of one missing frame
        ("feedback_ps", "i8"),  # ps: from the receiver to the sender, of a CNP or NACK
        ("timeout_ps", "i8"),  # ps: retransmission timeout; 0: never
        ("timer_at", "i8"),  # ps: when it goes back by itself, unless it is told to before; 0: not yet
        ("first_link", "i4"),  # link of its NIC
        ("first_hop", "i4"),  # index in the paths: its first link
        ("mtu_bytes", "i4"),  # bytes: payload of a full frame
        ("overhead_bytes", "i4"),  # bytes: headers and trailers of a frame
        ("dcqcn", "i4"),  # parameter set; -1: none
        ("first_packet", "i4"),  # index in the packets: its first; -1: it is received in order
        (
            "window_frames",
            "i4",
        ),  # count: frames that its receiver takes ahead of the one that is due; 0: no limit
        ("sender", "i4"),  # sender with a window; -1: none
        ("entropies", "i4"),  # count: entropy values of its packets, a power of two
        ("walk", "i4"),  # count: entropy values used in this round
        ("mask", "i4"),  # what the values of this round are combined with
        ("edge", "i4"),  # number of the switch that its destination is attached to
        ("last_link", "i4"),  # link to its destination
        ("acks", "i4"),  # flow that carries its ACKs; -1: they cost nothing
        ("told", "i4"),  # of ACKs: the sender with a window that they are for; -1: none
        ("ack_every", "i4"),  # count: frames to an ACK
        ("ack_owed", "i4"),  # count: frames not acknowledged yet
        ("first_follower", "i4"),  # index in the paths: the flows that wait for this one
        ("followers", "i4"),  # count: of them
        ("waits_for", "i4"),  # count: flows that must be done before it starts
        ("priority", "i1"),  # class of its frames
        ("counts", "u1"),  # bool: the run waits for it; ACKs do not count
        ("cnp_rides_ack", "u1"),  # bool: no CNP without an ACK or NACK
        ("apart", "u1"),  # bool: its frames take no memory in switches
        ("stamped", "u1"),  # bool: its frames get an entropy value, or count in a window
        ("taken", "u1"),  # how its frames are taken where they arrive: see below
        ("spread", "u1"),  # how switches choose its links: 0 they are stated, else see kernel.paths
    ],
    align=True,
)
"""A transfer, or the ACKs of one. A PSN is counted in bytes of payload."""
IN_ORDER, ANY_ORDER, ACKS, NEWS = 1, 2, 3, 4
"""Values of ``FLOW.taken``: data that must come in order, data that need not, ACKs, ACKs to senders with windows."""

POINT = np.dtype(
    [
        ("rate_bps", "f8"),  # b/s: current rate
        ("target_bps", "f8"),  # b/s: target rate of recovery
        ("line_bps", "f8"),  # b/s: line rate, the most
        ("alpha", "f8"),  # estimate of congestion, 0 to 1
        ("next_alpha_at", "i8"),  # ps: next update of alpha
        ("next_decrease_at", "i8"),  # ps: next check for a cut
        ("next_increase_at", "i8"),  # ps: next increase by the timer
        ("byte_left", "i8"),  # bytes: until the next increase by the byte counter
        ("owed_bits", "f8"),  # bits: without pacing lock, what must pass at the rate before the next frame
        ("paid_at", "i8"),  # ps: up to when owed_bits is paid
        ("cnp_allowed_at", "i8"),  # ps: notification point, when the next CNP may be sent
        ("time_stage", "i4"),  # count: increases by the timer since the last cut
        ("byte_stage", "i4"),  # count: increases by the byte counter since the last cut
        ("first_cnp", "i4"),  # index in the ring of CNPs under way
        ("cnps", "i4"),  # count: CNPs under way
        ("active", "u1"),  # bool: a CNP has come, and timers run
        ("alpha_cnp", "u1"),  # bool: a CNP has come since alpha was updated
        ("decrease_cnp", "u1"),  # bool: a CNP has come since the last check for a cut
    ],
    align=True,
)
"""DCQCN of one flow: reaction point at the sender, notification point at the receiver."""

DCQCN = np.dtype(
    [
        ("g", "f8"),  # weight of a CNP in alpha, 0 to 1
        ("initial_alpha", "f8"),  # alpha at the first CNP, 0 to 1
        ("alpha_to_rate", "f8"),  # part of the rate that a cut takes for alpha 1
        ("min_decrease", "f8"),  # least part of the rate that a cut leaves, 0 to 1
        ("min_rate_bps", "f8"),  # b/s: the least rate
        ("ai_bps", "f8"),  # b/s: additive increase
        ("hai_bps", "f8"),  # b/s: hyper increase
        ("first_rate_bps", "f8"),  # b/s: rate set on the first CNP; 0: none
        ("release_bps", "f8"),  # b/s: at which the rate is limited no more; 0: line rate
        ("alpha_ps", "i8"),  # ps: between updates of alpha
        ("decrease_ps", "i8"),  # ps: between checks for a cut
        ("increase_ps", "i8"),  # ps: between increases by the timer
        ("byte_reset", "i8"),  # bytes: between increases by the byte counter; 0: off
        ("cnp_gate_ps", "i8"),  # ps: least time between two CNPs of a flow; 0: off
        ("threshold", "i4"),  # count: increases of fast recovery
        ("clamp", "u1"),  # bool: a cut sets the target to the current rate
        ("clamp_after_increase", "u1"),  # bool: it does once an increase has come
        ("pacing_lock", "u1"),  # bool: the rate at a frame sets when the next may start
    ],
    align=True,
)
"""A set of DCQCN parameters; see ``engine.network.SimDcqcn``."""

RECEIVER = np.dtype(
    [
        ("level_bytes", "f8"),  # bytes: in its buffer at level_at
        ("drain_ps_per_byte", "f8"),  # ps per byte that it takes in
        ("xoff_bytes", "f8"),  # bytes: above this it pauses the switch
        ("xon_bytes", "f8"),  # bytes: at this it resumes the switch
        ("level_at", "i8"),  # ps: when level_bytes was computed
        ("max_bytes", "f8"),  # bytes: the most in its buffer
        ("link", "i4"),  # link that ends at this host
        ("paused", "u4"),  # class bits: that it has asked the switch to pause
    ],
    align=True,
)
"""The receive buffer of a host that takes in less than its link brings."""

HOLD = np.dtype(
    [
        ("starts_at", "i8"),  # ps
        ("ends_at", "i8"),  # ps
        ("period_ps", "i8"),  # ps: 0: once
        ("duty_ps", "i8"),  # ps: of each period that it holds
        ("link", "i4"),  # link that is held
        ("classes", "u4"),  # class bits: that are held
        ("on", "u1"),  # bool: it holds now
    ],
    align=True,
)
"""A transmitter that is held paused from outside, as by a NIC that sends PFC without end."""

PROBE = np.dtype(
    [
        ("kind", "i4"),  # what it looks at: kernel.run
        ("index", "i4"),  # queue, group, unit or flow
    ],
    align=True,
)
"""A probe of a recording: its kind, and the index of the object that it observes."""


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
        ("speculates", "u1"),  # bool: it still sends on credit that no receiver gave
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

WINDOW_NEWS = np.dtype(
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
