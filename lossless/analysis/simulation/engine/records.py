"""The state of a simulated fabric: record arrays, grouped by what they describe.

Times are picoseconds since the start, sizes bytes. A *link* is one direction of a cable; its transmitter is the
end that sends. Queues (egress, at the transmitter) and groups (ingress, at the far end) are counted
``link * classes + class``. An index of -1 means none.
"""

from __future__ import annotations

from typing import Final

import numpy as np

NEVER: Final = 1 << 62
"""A time that does not come."""

CLOCK = np.dtype(
    [
        ("now", "i8"),
        ("events", "i8"),
        ("grew_at", "i8"),  # when any maximum last grew
        ("free", "i4"),  # first frame that is not in use
        ("free_frames", "i4"),
        ("unfinished", "i4"),  # flows that have not been delivered whole
        ("in_network", "i4"),  # data frames on wires and in queues
        ("first_pause_at", "i8"),
        ("first_mark_at", "i8"),
        ("first_drop_at", "i8"),
        ("drops", "i8"),
        ("marks", "i8"),
        ("cnps", "i8"),
        ("pauses", "i8"),
        ("storms", "i8"),  # queues that the watchdog stopped
        ("first_storm_at", "i8"),
        ("random", "u8"),
        ("samples", "i8"),
        ("sample_ps", "i8"),
    ],
    align=True,
)
"""One record: what holds for the whole run. ``first_..._at`` is -1 until it happens."""

FRAME = np.dtype(
    [
        ("arrives_at", "i8"),  # when its last bit is received
        ("psn", "i8"),  # place of its first payload byte in the flow
        ("next", "i4"),
        ("flow", "i4"),
        ("wire_bytes", "i4"),
        ("held_bytes", "i4"),  # in memory: whole cells
        ("via", "i4"),  # link it came in on
        ("hop", "i2"),
        ("priority", "i1"),  # class of a data frame, or that a PFC frame is about
        ("marked", "u1"),  # ECN: congestion experienced; in a PFC frame: 1 pauses, 0 resumes
    ],
    align=True,
)
"""A frame, data or PFC. Frames stand in queues and on wires as linked lists."""

LINK = np.dtype(
    [
        ("busy_until", "i8"),  # end of the frame being sent
        ("pfc_free_at", "i8"),  # end of the PFC frames being sent
        ("ps_per_byte", "f8"),
        ("propagation_ps", "i8"),
        ("reaction_ps", "i8"),  # from receiving a PFC frame to obeying it
        ("pfc_wire_bytes", "i4"),
        ("gap_bytes", "i4"),  # preamble and inter-frame gap
        ("reverse", "i4"),
        ("sender_unit", "i4"),  # memory unit of the switch that sends; -1: a host
        ("receiver_unit", "i4"),  # memory unit of the switch that receives; -1: a host
        ("wire_head", "i4"),
        ("wire_tail", "i4"),
        ("pfc_head", "i4"),  # PFC frames on their way to this transmitter
        ("pfc_tail", "i4"),
        ("backlog", "u4"),  # classes with frames waiting
        ("paused", "u4"),  # classes paused by the peer
        ("held", "u4"),  # classes held from outside: a NIC that pauses
        ("ignored", "u4"),  # classes whose pauses the watchdog has overruled
        ("strict", "u4"),  # classes served first, the highest before the others
        ("turn", "i4"),  # DWRR: class whose turn it is; host: flow
        ("first_flow", "i4"),
        ("flows", "i4"),
        ("ack_flows", "i4"),  # the first of them, which carry ACKs at strict priority
        ("receiver", "i4"),  # receive buffer of the host at the end; -1: it always keeps up
        ("idle", "u1"),
        ("seen", "u1"),  # arrivals at the host at its end are events of their own
    ],
    align=True,
)

QUEUE = np.dtype(
    [
        ("bytes", "i8"),
        ("kmin", "f8"),
        ("kmax", "f8"),
        ("pmax", "f8"),
        ("limit_bytes", "i8"),
        ("deficit", "i8"),
        ("quantum", "i8"),
        ("max_bytes", "i8"),
        ("max_at", "i8"),
        ("paused_since", "i8"),  # -1 while not paused
        ("paused_ps", "i8"),  # sum of pauses that have ended
        ("longest_pause_ps", "i8"),
        ("pauses", "i8"),
        ("first_mark_at", "i8"),
        ("marks", "i8"),
        ("drops", "i8"),
        ("stopped", "i8"),  # frames that the watchdog dropped
        ("sent_frames", "i8"),
        ("sent_bytes", "i8"),
        ("watch_left_ps", "i8"),  # time until the watchdog triggers, or restores
        ("watch_sent", "i8"),
        ("watch_paused_ps", "i8"),
        ("watch_resumes", "i8"),
        ("resumes", "i8"),
        ("storms", "i8"),
        ("storm_at", "i8"),
        ("head", "i4"),
        ("tail", "i4"),
        ("wred", "u1"),  # 0 off, 1 marks, 2 drops
        ("stormed", "u1"),
        ("watch_was_paused", "u1"),
    ],
    align=True,
)

GROUP = np.dtype(
    [
        ("bytes", "i8"),  # all it holds
        ("headroom_used", "i8"),  # of those, what is charged to headroom
        ("headroom_bytes", "i8"),  # what it may charge: xoff
        ("reserved_bytes", "i8"),
        ("alpha", "f8"),
        ("static_bytes", "i8"),  # threshold that does not move; -1: dynamic
        ("xon", "i8"),
        ("xon_offset", "i8"),
        ("max_bytes", "i8"),
        ("max_headroom", "i8"),
        ("first_pause_at", "i8"),
        ("pauses", "i8"),
        ("drops", "i8"),
        ("first_drop_at", "i8"),
        ("unit", "i4"),  # the pool of memory it draws on
        ("lossless", "u1"),
        ("paused", "u1"),  # it has asked its peer to pause
    ],
    align=True,
)

UNIT = np.dtype(
    [
        # Units 0 to n - 1 are the n switches with the pool of their lossless groups; further pools follow.
        ("used", "i8"),
        ("headroom_used", "i8"),
        ("reserved_used", "i8"),
        ("pool_bytes", "i8"),
        ("shared_bytes", "i8"),  # pool less what groups have reserved
        ("headroom_pool_bytes", "i8"),
        ("buffer_bytes", "i8"),
        ("cell_bytes", "i8"),
        ("max_used", "i8"),
        ("max_headroom", "i8"),
        ("poll_ps", "i8"),  # PFC watchdog; 0: none
        ("detection_ps", "i8"),
        ("restoration_ps", "i8"),  # 0: never
        ("first_link", "i4"),  # links that this switch sends on: a range
        ("links", "i4"),
        ("watched", "u4"),  # classes that the watchdog watches
        ("predicate", "u1"),  # 0 Mellanox, 1 Broadcom
        ("action", "u1"),  # 0 drop, 1 forward, 2 alert
    ],
    align=True,
)

FLOW = np.dtype(
    [
        ("size_bytes", "i8"),
        ("sent_bytes", "i8"),
        ("expected_psn", "i8"),
        ("next_at", "i8"),  # when its next frame may start
        ("started_at", "i8"),
        ("done_at", "i8"),
        ("rewind_at", "i8"),  # when the sender learns of a gap
        ("nacked_psn", "i8"),
        ("nack_again_at", "i8"),
        ("nack_ps", "i8"),
        ("feedback_ps", "i8"),  # from the receiver to the sender: CNP, NACK
        ("timeout_ps", "i8"),  # 0: never
        ("first_link", "i4"),  # the link of its NIC
        ("first_hop", "i4"),  # in the paths
        ("hops", "i4"),
        ("mtu_bytes", "i4"),
        ("overhead_bytes", "i4"),
        ("dcqcn", "i4"),  # parameter set; -1: none
        ("acks", "i4"),  # flow that carries its ACKs; -1: they cost nothing
        ("ack_every", "i4"),
        ("ack_owed", "i4"),
        ("first_follower", "i4"),  # in the paths: flows that wait for this one
        ("followers", "i4"),
        ("waits_for", "i4"),  # flows that must be done before it starts
        ("priority", "i1"),
        ("counts", "u1"),  # whether the run waits for it
        ("cnp_rides_ack", "u1"),  # no CNP without an ACK or NACK
        ("apart", "u1"),  # its frames take no memory in switches
    ],
    align=True,
)

POINT = np.dtype(
    [
        ("rate_bps", "f8"),
        ("target_bps", "f8"),
        ("line_bps", "f8"),
        ("alpha", "f8"),
        ("next_alpha_at", "i8"),
        ("next_decrease_at", "i8"),
        ("next_increase_at", "i8"),
        ("byte_left", "i8"),
        ("owed_bits", "f8"),  # without pacing lock: what must pass at the rate before the next frame
        ("paid_at", "i8"),
        ("cnp_allowed_at", "i8"),  # notification point: when the next CNP may be sent
        ("time_stage", "i4"),
        ("byte_stage", "i4"),
        ("first_cnp", "i4"),  # ring of CNPs under way
        ("cnps", "i4"),
        ("active", "u1"),
        ("alpha_cnp", "u1"),
        ("decrease_cnp", "u1"),
    ],
    align=True,
)
"""DCQCN of one flow: reaction point at the sender, notification point at the receiver."""

DCQCN = np.dtype(
    [
        ("g", "f8"),
        ("initial_alpha", "f8"),
        ("alpha_to_rate", "f8"),
        ("min_decrease", "f8"),
        ("min_rate_bps", "f8"),
        ("ai_bps", "f8"),
        ("hai_bps", "f8"),
        ("first_rate_bps", "f8"),
        ("release_bps", "f8"),
        ("alpha_ps", "i8"),
        ("decrease_ps", "i8"),
        ("increase_ps", "i8"),
        ("byte_reset", "i8"),
        ("cnp_gate_ps", "i8"),
        ("threshold", "i4"),
        ("clamp", "u1"),
        ("clamp_after_increase", "u1"),
        ("pacing_lock", "u1"),
    ],
    align=True,
)

RECEIVER = np.dtype(
    [
        ("level_bytes", "f8"),
        ("drain_ps_per_byte", "f8"),
        ("xoff_bytes", "f8"),
        ("xon_bytes", "f8"),
        ("level_at", "i8"),
        ("max_bytes", "f8"),
        ("link", "i4"),  # link that ends at this host
        ("paused", "u4"),  # classes it has asked the switch to pause
    ],
    align=True,
)

HOLD = np.dtype(
    [
        ("starts_at", "i8"),
        ("ends_at", "i8"),
        ("period_ps", "i8"),  # 0: once
        ("duty_ps", "i8"),
        ("link", "i4"),
        ("classes", "u4"),
        ("on", "u1"),
    ],
    align=True,
)
"""A transmitter that is held paused from outside: what a NIC does that sends PFC without end."""

PROBE = np.dtype([("kind", "i4"), ("index", "i4")], align=True)
