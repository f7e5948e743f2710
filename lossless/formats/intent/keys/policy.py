"""What the keys of an intent mean: the document, classes, PFC and congestion control."""

from __future__ import annotations

from lossless.formats.intent.keys.key_doc import KeyDoc

_SIZE = ("800 KiB", "150 kB")
_REQUIRED = "Required, unless the preset gives it."
_OR_PRESET = "Left out: as the preset has it, or only links of the speeds in `by_speed` are marked."
_FASTER = {"min": "1600 KiB", "max": "6400 KiB", "probability": "20%"}
_CURVE = {
    "min": KeyDoc("Queue length in bytes from which packets are marked (Kmin). Has a unit.", _SIZE),
    "max": KeyDoc(
        "Queue length in bytes at which `probability` is reached; above it every packet is marked (Kmax). Has a unit.",
        _SIZE,
    ),
    "probability": KeyDoc(
        "Share of packets marked just below `max`, in whole percent (Pmax).", ("20%", "100%")
    ),
}

_OR_BELOW = "Left out: only links of the speeds in `by_speed` have another curve."
_OTHER_CURVES = {
    "by_speed": KeyDoc(
        "Other curves for links of one speed, in bits per second, or `off`. Left out: one curve for all.",
        ({"800G": _FASTER}, {"400G": "off"}),
    ),
    "by_tier": KeyDoc(
        "Other curves for the switches of one role, or `off`; they come before those of `by_speed`. Left out: none.",
        ({"spine": _FASTER}, {"spine": "off"}),
    ),
    "by_device": KeyDoc(
        "Other curves for single switches by name, or `off`; they come before all others. Left out: none.",
        ({"leaf1": _FASTER}, {"leaf1": "off"}),
    ),
}
_EXCEPTIONS = {
    "by_speed": KeyDoc(
        "Exceptions for links of one speed, in bits per second. Left out: none.",
        ({"800G": {"dynamic_th": 1}},),
    ),
    "by_tier": KeyDoc(
        "Exceptions for the switches of one role; they come before those of `by_speed`. Left out: none.",
        ({"spine": {"dynamic_th": 1}},),
    ),
    "by_device": KeyDoc(
        "Exceptions for single switches by name; they come before all others. Left out: none.",
        ({"leaf1": {"dynamic_th": 1}},),
    ),
}
_BUFFER = {
    "dynamic_th": KeyDoc(
        "Exponent of alpha: a group takes 2^n times the free shared buffer before it pauses, from -8 to 7. Left out: "
        "that of the HWSKU's row, in the dynamic buffer model 0.",
        (-1, 1),
    ),
    "static_th": KeyDoc(
        "Shared buffer in bytes that a group takes before it pauses, where the product's pools allow it. Has a unit. "
        "Left out: `dynamic_th` counts.",
        _SIZE,
    ),
    "xoff": KeyDoc(
        "Headroom in bytes: what a group holds after it has paused. Has a unit. Left out: that of the HWSKU's row, in "
        "the dynamic buffer model what the switch computes.",
        ("400 KiB",),
    ),
    "xon": KeyDoc(
        "What a group must have drained to before it lets its peer send again, in bytes. Has a unit. Left out: as for "
        "`xoff`; in the dynamic buffer model both are stated or neither.",
        ("19 KiB",),
    ),
    "xon_offset": KeyDoc(
        "How far below its threshold a group lets its peer send again, in bytes. Has a unit. Left out: that of the "
        "HWSKU's row, if any.",
        ("2560 B",),
    ),
}

_QUEUE = {
    "dynamic_th": KeyDoc(
        "Exponent of alpha: a queue takes 2^n times the free shared buffer before it drops, from -8 to 7. Left out: "
        "that of the HWSKU's profile.",
        (3,),
    ),
    "static_th": KeyDoc(
        "Shared buffer in bytes that a queue takes before it drops, where the product's pools allow it. Has a unit. "
        "Left out: that of the HWSKU's profile.",
        _SIZE,
    ),
    "size": KeyDoc(
        "Buffer in bytes that is reserved for each queue, whether or not a packet uses it; it is no longer shared. Has "
        "a unit. Left out: that of the HWSKU's profile.",
        ("9216 B",),
    ),
}

_COLOURS = {
    colour: KeyDoc(
        f"The curve of packets that a device on the path has colored {colour}; `off` marks none of them. Left out: "
        "that of all others.",
        (_FASTER, "off"),
    )
    for colour in ("yellow", "red")
}

_GROUP = {
    "number": KeyDoc(
        "Priority group from 0 to 7. Left out: as a lower rank states it, else as where `pg` is left out.",
        (1,),
    ),
    "by_speed": KeyDoc(
        "Exceptions for links of one speed, in bits per second. Left out: none.", ({"800G": 0},)
    ),
    "by_tier": KeyDoc(
        "Exceptions for the switches of one role, each a number or a mapping with its own `by_speed`; they come before "
        "those of `by_speed`. Left out: none.",
        ({"spine": 0},),
    ),
    "by_device": KeyDoc(
        "Exceptions for single switches by name, each a number or a mapping with its own `by_speed`; they come before "
        "all others. Left out: none.",
        ({"leaf1": 0},),
    ),
}

POLICY: dict[str, dict[str, KeyDoc]] = {
    "Intent": {
        "lossless": KeyDoc("Version of this format. Every intent begins with it."),
        "fabric": KeyDoc(
            "Name of the fabric: at most 63 letters, digits, '.', '_' and '-'.", ("roce-256", "pod-7")
        ),
        "transport": KeyDoc(
            "How RDMA travels: RoCEv2 (`rocev2`) or Ultra Ethernet's transport (`uec`), both over UDP and IP."
        ),
        "preset": KeyDoc(
            "A vendor's starting point for classes, pfc and congestion_control; every key of it can be overridden by "
            "naming it. Left out: nothing is assumed."
        ),
        "classes": KeyDoc(
            "Traffic classes by name, at most 24 characters each. Exactly one takes `dscp: rest`. "
            "Left out: those of the preset.",
            ({"rdma": {"dscp": 26, "priority": 3, "lossless": True, "bandwidth": "50%"}},),
        ),
        "pfc": KeyDoc(
            "Priority flow control: on for the lossless classes and for nothing else. `off` states that no class is "
            "lossless. Left out: no watchdog, unless the preset gives one."
        ),
        "congestion_control": KeyDoc(
            "How senders slow down: `dcqcn`, a mapping of its parameters, or `pfc-only` as a stated policy; with "
            "transport `uec` a window (`nscc`), credit of the receiver (`rccc`) or `both`. Left out: that of the "
            "preset.",
            ("dcqcn", {"dcqcn": {"cnp_interval": "4us"}}),
        ),
        "trimming": KeyDoc(
            "Packets that find no room in a queue are cut to their headers instead of dropped, so that the receiver "
            "can ask for them again. Rendered for SONiC 202505 and later. Left out: they are dropped.",
            ({"of": ["rdma"], "into": "trimmed", "size": "256 B"},),
        ),
        "hardware": KeyDoc("Which product fills which role, by the names that `lossless profiles` lists."),
        "topology": KeyDoc("A shape (`leaf_spine`), or `devices` and `links` by name."),
        "hosts": KeyDoc(
            "What the NICs of every host are set to, and what jobs set themselves. Left out: the defaults below it."
        ),
        "buffers": KeyDoc(
            "Buffer policy. Left out: headroom is not oversubscribed, unless the vendor ships it so."
        ),
        "mtu": KeyDoc(
            "Largest IP packet in bytes that switches carry, without the Ethernet header: a number, or a size "
            "with its unit.",
            (9100,),
        ),
        "networks": KeyDoc(
            "Other networks by name (storage, management), and whether they share the fabric. Left out: none are "
            "checked.",
            ({"storage": {"on": "separate"}},),
        ),
        "telemetry": KeyDoc(
            "How pauses are monitored; `off` states that nobody does. Left out: nothing is stated."
        ),
    },
    "Trimming": {
        "of": KeyDoc("The lossy classes whose packets are trimmed.", (["rdma"],)),
        "into": KeyDoc("The class that trimmed packets go on in, by its one DSCP.", ("trimmed",)),
        "size": KeyDoc("What is left of a packet: a size with its unit, at least 64 B.", ("256 B",)),
    },
    "TrafficClass": {
        "dscp": KeyDoc(
            "The DSCPs of the class: a number from 0 to 63, a name (`AF31`), both (`{AF31: 26}`), a list of them, or "
            "`rest` for all that no other class names. Required, unless the preset gives it.",
            (26, "AF31", [26, 27], "rest"),
        ),
        "priority": KeyDoc(
            "Priority from 0 to 7; also the traffic class and the queue. No two classes share one. Required, unless "
            "the preset gives it.",
            (3,),
        ),
        "lossless": KeyDoc("Whether PFC keeps this class from losing packets."),
        "pg": KeyDoc(
            "Priority group from 0 to 7, with exceptions where links or switches differ. Left out: that of the "
            "priority for a lossless class; for lossy ones group 0, or the first that no lossless class has.",
            (3, {"number": 1, "by_tier": {"spine": 0}}),
        ),
        "scheduling": KeyDoc(
            "`dwrr` shares bandwidth by `bandwidth`, `strict` serves the queue before all others. Left out: dwrr "
            "where `bandwidth` is given."
        ),
        "bandwidth": KeyDoc(
            "DWRR share in whole percent; all classes share 100%. Not with `scheduling: strict`. Left out: no share "
            "is stated.",
            ("50%",),
        ),
        "ecn": KeyDoc(
            "The WRED curve that marks packets, with exceptions where links or switches differ; `off` marks nothing. "
            "Left out: nothing is marked, unless the preset says so.",
            ({"min": "800 KiB", "max": "3200 KiB", "probability": "20%"},),
        ),
        "buffer": KeyDoc(
            "Thresholds and headroom of a lossless class, with exceptions where links or switches differ. Left out: "
            "those of the HWSKU.",
            ({"dynamic_th": 1, "by_tier": {"spine": {"dynamic_th": 0}}},),
        ),
        "queue": KeyDoc(
            "How much the queues of the class take before they drop, with exceptions where links or switches differ. "
            "Left out: as the HWSKU's profiles say.",
            ({"dynamic_th": 3, "by_tier": {"spine": {"dynamic_th": 1}}},),
        ),
    },
    "GroupBySpeed": {key: _GROUP[key] for key in ("number", "by_speed")},
    "GroupPolicy": _GROUP,
    "BufferValues": _BUFFER,
    "BuffersBySpeed": {**_BUFFER, "by_speed": _EXCEPTIONS["by_speed"]},
    "ClassBuffers": {**_BUFFER, **_EXCEPTIONS},
    "QueueValues": _QUEUE,
    "QueuesBySpeed": {**_QUEUE, "by_speed": _EXCEPTIONS["by_speed"]},
    "ClassQueues": {**_QUEUE, **_EXCEPTIONS},
    "Curve": _CURVE,
    "Ecn": {**_CURVE, **_COLOURS},
    "EcnPolicy": {
        **{name: key._replace(description=f"{key.description} {_OR_PRESET}") for name, key in _CURVE.items()},
        **_COLOURS,
        **_OTHER_CURVES,
    },
    "EcnBySpeed": {
        **{name: key._replace(description=f"{key.description} {_OR_BELOW}") for name, key in _CURVE.items()},
        **_COLOURS,
        "by_speed": _OTHER_CURVES["by_speed"],
    },
    "Pfc": {
        "watchdog": KeyDoc(
            "The PFC watchdog, which ends storms; `off` for none. Left out: none, unless the preset gives one.",
            ({"poll": "600ms", "detection": "1200ms", "restoration": "1200ms", "action": "drop"},),
        ),
    },
    "WatchdogPolicy": {
        "poll": KeyDoc(
            "How often queues are looked at, in whole milliseconds, with its unit. " + _REQUIRED, ("600ms",)
        ),
        "detection": KeyDoc(
            "How long a queue is paused without a break until it counts as stormed, in whole milliseconds, with its "
            "unit. " + _REQUIRED,
            ("1200ms",),
        ),
        "restoration": KeyDoc(
            "How long a stormed queue stays free of pauses until it is restored, in whole milliseconds, with its unit. "
            "Left out: it stays stopped until an operator restores it.",
            ("1200ms",),
        ),
        "action": KeyDoc(
            "What is done with packets of a stormed queue: `drop` or `forward` them, or only `alert` somebody."
        ),
    },
    "Telemetry": {
        "interval": KeyDoc(
            "How often counters are collected, with its unit. Left out: nothing is stated.", ("5s",)
        ),
        "alerts": KeyDoc(
            "Events that raise an alert: `watchdog` (storms), `pauses`. Left out: nothing is stated.",
            (["watchdog", "pauses"],),
        ),
    },
    "congestion_control": {
        "dcqcn": KeyDoc(
            "DCQCN parameters by the names of ConnectX firmware; what is not named comes from the NIC profile."
        ),
    },
    "Dcqcn": {
        "priorities": KeyDoc(
            "Priorities that DCQCN runs on (ROCE_CC_PRIO_MASK). Left out: those with PFC.", ([3],)
        ),
        "cnp_dscp": KeyDoc(
            "DSCP of congestion notifications, 0 to 63. Left out: that of the class `cnp`, else the NIC's own.",
            (48,),
        ),
        "cnp_priority": KeyDoc(
            "Priority of congestion notifications, 0 to 7. Left out: that of the class their DSCP belongs to.",
            (6,),
        ),
        "cnp_interval": KeyDoc(
            "Least time between two CNPs of a flow, in whole microseconds, with its unit (min_time_between_cnps). "
            "Left out: that of the NIC profile.",
            ("4us",),
        ),
        "dce_tcp_g": KeyDoc(
            "Weight of a new sample of alpha, in 1/1024, from 0 to 1023. Left out: that of the NIC profile.",
            (1019,),
        ),
        "dce_tcp_rtt": KeyDoc(
            "Period of alpha's decay, in whole microseconds, with its unit. Left out: that of the NIC profile.",
            ("1us",),
        ),
        "initial_alpha_value": KeyDoc(
            "Alpha of a new flow, in 1/1024, from 1 to 1023. Left out: that of the NIC profile.", (1023,)
        ),
        "rate_to_set_on_first_cnp": KeyDoc(
            "Rate a flow falls to on its first CNP, in whole Mb/s, with its unit; 0M leaves it. Left out: that of the "
            "NIC profile.",
            ("0M",),
        ),
        "rpg_min_dec_fac": KeyDoc(
            "Most that one CNP takes off a rate, in whole percent. Left out: that of the NIC profile.",
            ("50%",),
        ),
        "rpg_min_rate": KeyDoc(
            "Least rate of a flow, in whole Mb/s, with its unit. Left out: that of the NIC profile.", ("1M",)
        ),
        "rpg_gd": KeyDoc(
            "By how much alpha is divided when a rate is cut, as a power of two. Left out: that of the NIC profile.",
            (11,),
        ),
        "rate_reduce_monitor_period": KeyDoc(
            "Least time between two cuts of a rate, in whole microseconds, with its unit. Left out: that of the NIC "
            "profile.",
            ("4us",),
        ),
        "clamp_tgt_rate": KeyDoc(
            "Whether every CNP sets the target rate to the current one. Left out: as the NIC profile has it."
        ),
        "clamp_tgt_rate_after_time_inc": KeyDoc(
            "The same after the first increase by time alone. Left out: as the NIC profile has it."
        ),
        "rpg_time_reset": KeyDoc(
            "Time between two increases of a rate, in whole microseconds, with its unit. Left out: that of the NIC "
            "profile.",
            ("300us",),
        ),
        "rpg_byte_reset": KeyDoc(
            "Bytes sent between two increases, as firmware counts them (sources disagree on the unit), 0 for off. "
            "Left out: that of the NIC profile.",
            (32767,),
        ),
        "rpg_threshold": KeyDoc(
            "Increases after which a flow recovers faster, from 1 to 31. Left out: that of the NIC profile.",
            (1,),
        ),
        "rpg_max_rate": KeyDoc(
            "Most that a flow may send, in whole Mb/s, with its unit; 0M is line rate. Left out: that of the NIC "
            "profile.",
            ("0M",),
        ),
        "rpg_ai_rate": KeyDoc(
            "Step of additive increase, in whole Mb/s, with its unit. Left out: that of the NIC profile.",
            ("5M",),
        ),
        "rpg_hai_rate": KeyDoc(
            "Step of hyper-active increase, in whole Mb/s, with its unit. Left out: that of the NIC profile.",
            ("50M",),
        ),
    },
}
