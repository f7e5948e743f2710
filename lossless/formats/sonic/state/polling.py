"""The group of FLEX_COUNTER_TABLE that polls a counter: while it is off, the last value stays and is meaningless."""

from __future__ import annotations

_PORT = ("in_bytes", "out_bytes", "in_errors", "out_errors", "in_discards", "out_discards")
_PACKETS = ("in_unicast_packets", "in_non_unicast_packets", "out_unicast_packets", "out_non_unicast_packets")
_QUEUE = ("packets", "bytes", "dropped_packets", "dropped_bytes", "trimmed_packets")
_WRED = ("ecn_marked_packets", "ecn_marked_bytes", "wred_dropped_packets", "wred_dropped_bytes")
_WATCHDOG = ("detected", "restored", "status", "detection_time", "restoration_time", "rx_drop", "tx_drop")

GROUP_OF: dict[tuple[str, str], str] = {
    ("pfc_rx", "priority"): "PORT",
    ("pfc_tx", "priority"): "PORT",
    **{(name, "port"): "PORT" for name in (*_PORT, *_PACKETS)},
    ("SAI_PORT_STAT_IN_DROPPED_PKTS", "port"): "PORT_BUFFER_DROP",
    **{(name, "queue"): "QUEUE" for name in _QUEUE},
    ("dropped_packets", "pg"): "PG_DROP",
    ("shared_watermark_bytes", "queue"): "QUEUE_WATERMARK",
    ("shared_watermark_bytes", "pg"): "PG_WATERMARK",
    ("xoff_room_watermark_bytes", "pg"): "PG_WATERMARK",
    ("watermark_bytes", "pool"): "BUFFER_POOL_WATERMARK",
    ("xoff_room_watermark_bytes", "pool"): "BUFFER_POOL_WATERMARK",
    **{(name, "queue"): "WRED_ECN_QUEUE" for name in _WRED},
    **{(f"pfcwd_{name}", "queue"): "PFCWD" for name in _WATCHDOG},
    ("pause_duration", "priority"): "PFCWD",
}
"""The group that polls a counter, by the counter's name and the kind of its object (sonic-swss
orchagent/flexcounterorch.cpp, portsorch.cpp, bufferorch.cpp and pfcwdsworch.cpp @e6b0c5b)."""
GROUPS = tuple(dict.fromkeys(GROUP_OF.values()))
