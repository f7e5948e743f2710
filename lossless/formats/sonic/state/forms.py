"""The forms in which a SONiC switch prints its state, and the groups of FLEX_COUNTER_TABLE that poll counters.

While the group of a counter is off, its last value stays and is meaningless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.fabric.state import CaptureForm

if TYPE_CHECKING:
    from lossless.model.fabric.state import Unit


def _table(command: str, *headings: str) -> CaptureForm:
    return CaptureForm("switch", command, "", "sonic.state.show_tables", "table", headings, "read_table")


def _text(name: str, title: str, unit: Unit, module: str, reads: str, tells: str = "") -> CaptureForm:
    return CaptureForm("switch", name, title, f"sonic.state.{module}", unit, tells, reads)


TABLES = (
    _table("show pfcwd stats", "QUEUE", "STATUS"),
    _table("show pfcwd config", "PORT", "ACTION"),
    _table("show pfc counters", "Port Rx"),
    _table("show pfc counters", "Port Tx"),
    _table("show pfc counters --history", "Port", "Priority"),
    _table("show queue wredcounters", "Port", "WredDrp/pkts"),
    _table("show queue wredcounters", "Port", "EcnMarked/pkts"),
    _table("show queue counters", "Port", "TxQ"),
    _table("show queue counters", "Port", "Voq"),
    _table("show dropcounters counts", "IFACE", "RX_DROPS"),
    _table("show dropcounters counts", "DEVICE"),
    _table("show interfaces counters fec-stats", "IFACE", "FEC_CORR"),
    _table("show interfaces counters fec-histogram", "IFACE", "BIN0"),
    _table("show interfaces counters trim", "IFACE", "TRIM_PKTS"),
    _table("show interfaces counters", "IFACE"),
    _table("show buffer_pool watermark", "Pool", "Bytes"),
    _table("counterpoll show", "Type", "Interval (in ms)"),
    _table("show pfc priority", "Interface", "Lossless priorities"),
    _table("show pfc asymmetric", "Interface", "Asymmetric"),
    _table("show dropcounters configuration", "Counter", "Alias"),
    _table("show dropcounters capabilities", "Counter Type", "Total"),
    _table("show lldp table", "LocalPort", "RemoteDevice"),
    _table("show switch-trimming global", "Configuration", "Value"),
    _table("show switch counters", "TrimSent/pkts"),
    _table("show switch counters", "TrimDrop/pkts"),
)
"""The tables of SONiC's commands, by their first heading and a second one (if any); the most particular first."""
_DUMPS = (
    "dumps of its databases (CONFIG, APPL, STATE, COUNTERS, ASIC; one file or many, also of several ASICs)"
)
_COLLECTOR = "what the script of `lossless collector --switch` prints"
FORMS = (
    _text("switch state", _COLLECTOR, "snapshot", "snapshot", "read_snapshot", "is_snapshot"),
    _text("databases", _DUMPS, "json", "databases", "read_databases"),
    _text("scripts", "the JSON of the scripts behind `show`", "json", "script_json", "read_scripts"),
    _text("gNMI", "answers over gNMI", "json", "gnmi", "read_answer"),
    _text("rows", "transcripts of `redis-cli` and `sonic-db-cli`", "rows", "script_json", "read_rows"),
    _text("show", "outputs of `show`, alone and in transcripts", "text", "show", "read_show"),
    *TABLES,
)


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
"""The FLEX_COUNTER_TABLE group that polls a counter, by the counter's name and the kind of its object (sonic-swss
orchagent/flexcounterorch.cpp, portsorch.cpp, bufferorch.cpp and pfcwdsworch.cpp @e6b0c5b)."""
GROUPS = tuple(dict.fromkeys(GROUP_OF.values()))
