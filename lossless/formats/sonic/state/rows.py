"""Rows and counters of a SONiC switch: their objects, one name for each field in all sources, and its unit in each.

Rows are those of CONFIG_DB, APPL_DB, STATE_DB and ASIC_DB. A row of a port, a buffer or a profile is identified by
that as well as by its table and key, so that it is compared with the output of commands. Times of the watchdog and of
polling are in milliseconds there (sonic-buildimage src/sonic-yang-models/yang-models/sonic-pfcwd.yang and
sonic-flex_counter.yang @086b03b).

A counter has names in each source. Sources: fields of COUNTERS_DB by column (sonic-utilities
utilities_common/portstat.py @01876d4, scripts/queuestat @056d9d4 and scripts/wredstat @0245fd7, scripts/pfcstat
@7eef69b, scripts/watermarkstat @2a5c132, scripts/dropstat @4fca816, pfcwd/main.py @015521a); pause counters of a chip
and estimates of orchagent (SONiC doc/PFC_historical_statistics/PFC_Counters_History_HLD.md @98de38f); fields of the
watchdog are in microseconds, where CONFIG_DB has milliseconds (tests/mock_tables/counters_db.json and config_db.json
@691b1bb: 600000 and 600).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.state import CountedSince, Identity


class CounterName(NamedTuple):
    """One counter: its name and unit, and its fields of databases, headings of tables and keys of JSON.

    ``N`` in a field is a placeholder for a priority, which is a part of the identity of the value.
    """

    name: str
    unit: str
    fields: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


_PORT = "SAI_PORT_STAT_"
_QUEUE = "SAI_QUEUE_STAT_"
_PG = "SAI_INGRESS_PRIORITY_GROUP_STAT_"
_POOL = "SAI_BUFFER_POOL_STAT_"
_WATCHDOG_STATISTICS = "PFC_WD_QUEUE_STATS_"

COUNTERS: tuple[CounterName, ...] = (
    CounterName("pfc_rx", "packets", (_PORT + "PFC_N_RX_PKTS",)),
    CounterName("pfc_tx", "packets", (_PORT + "PFC_N_TX_PKTS",)),
    # Where a chip counts these itself, nothing is estimated.
    CounterName(
        "pause_transitions",
        "",
        (_PORT + "PFC_N_ON2OFF_RX_PKTS", "EST_PORT_STAT_PFC_N_ON2OFF_RX_PKTS"),
        ("RX Pause Transitions",),
    ),
    CounterName(
        "pause_duration",
        "us",
        (_PORT + "PFC_N_RX_PAUSE_DURATION_US", "EST_PORT_STAT_PFC_N_RX_PAUSE_DURATION_US"),
        ("Total RX Pause Time US",),
    ),
    CounterName("pause_duration", "ms", headings=("Total RX Pause Time MS",)),
    CounterName(
        "recent_pause_duration",
        "us",
        ("EST_PORT_STAT_PFC_N_RECENT_PAUSE_TIME_US",),
        ("Recent RX Pause Time US",),
    ),
    CounterName("recent_pause_duration", "ms", headings=("Recent RX Pause Time MS",)),
    CounterName(
        "recent_pause_timestamp",
        "",
        ("EST_PORT_STAT_PFC_N_RECENT_PAUSE_TIMESTAMP",),
        ("Recent RX Pause Timestamp",),
    ),
    CounterName("pause_rx", "packets", (_PORT + "PAUSE_RX_PKTS",)),
    CounterName("pause_tx", "packets", (_PORT + "PAUSE_TX_PKTS",)),
    # Queues
    CounterName("packets", "packets", (_QUEUE + "PACKETS",), ("Counter/pkts",), ("totalpacket",)),
    CounterName("bytes", "bytes", (_QUEUE + "BYTES",), ("Counter/bytes",), ("totalbytes",)),
    CounterName("dropped_packets", "packets", (_QUEUE + "DROPPED_PACKETS",), ("Drop/pkts",), ("droppacket",)),
    CounterName("dropped_bytes", "bytes", (_QUEUE + "DROPPED_BYTES",), ("Drop/bytes",), ("dropbytes",)),
    CounterName(
        "wred_dropped_packets",
        "packets",
        (_QUEUE + "WRED_DROPPED_PACKETS", _PORT + "WRED_DROPPED_PACKETS"),
        ("WredDrp/pkts", "WRED Total Dropped Packets"),
        ("wreddroppacket",),
    ),
    CounterName(
        "wred_dropped_bytes",
        "bytes",
        (_QUEUE + "WRED_DROPPED_BYTES",),
        ("WredDrp/bytes",),
        ("wreddropbytes",),
    ),
    CounterName(
        "ecn_marked_packets",
        "packets",
        (_QUEUE + "WRED_ECN_MARKED_PACKETS",),
        ("EcnMarked/pkts",),
        ("ecnmarkedpacket",),
    ),
    CounterName(
        "ecn_marked_bytes",
        "bytes",
        (_QUEUE + "WRED_ECN_MARKED_BYTES",),
        ("EcnMarked/bytes",),
        ("ecnmarkedbytes",),
    ),
    CounterName(
        "trimmed_packets",
        "packets",
        (_QUEUE + "TRIM_PACKETS", _PORT + "TRIM_PACKETS", "SAI_SWITCH_STAT_TRIM_PACKETS"),
        ("Trim/pkts", "TRIM_PKTS", "TRIM", "Trimmed Packets"),
        ("trimpacket",),
    ),
    CounterName(
        "trimmed_sent_packets",
        "packets",
        (_QUEUE + "TX_TRIM_PACKETS", _PORT + "TX_TRIM_PACKETS", "SAI_SWITCH_STAT_TX_TRIM_PACKETS"),
        ("TrimSent/pkts", "TRIM_TX_PKTS", "TRIM_TX", "Trimmed Sent Packets"),
        ("trimsentpacket",),
    ),
    CounterName(
        "trimmed_dropped_packets",
        "packets",
        (
            _QUEUE + "DROPPED_TRIM_PACKETS",
            _PORT + "DROPPED_TRIM_PACKETS",
            "SAI_SWITCH_STAT_DROPPED_TRIM_PACKETS",
        ),
        ("TrimDrop/pkts", "TRIM_DRP_PKTS", "TRIM_DRP", "Trimmed Dropped Packets"),
        ("trimdroppacket",),
    ),
    CounterName(
        "credit_watchdog_deleted_packets",
        "packets",
        (_QUEUE + "CREDIT_WD_DELETED_PACKETS",),
        ("Credit-WD-Del/pkts",),
        ("creditWDPkts",),
    ),
    CounterName("occupancy_bytes", "bytes", (_QUEUE + "CURR_OCCUPANCY_BYTES",)),
    # Watermarks: the table says since when
    CounterName(
        "shared_watermark_bytes",
        "bytes",
        (_QUEUE + "SHARED_WATERMARK_BYTES", _PG + "SHARED_WATERMARK_BYTES"),
    ),
    CounterName(
        "xoff_room_watermark_bytes",
        "bytes",
        (_PG + "XOFF_ROOM_WATERMARK_BYTES", _POOL + "XOFF_ROOM_WATERMARK_BYTES"),
    ),
    CounterName("watermark_bytes", "bytes", (_POOL + "WATERMARK_BYTES",)),
    CounterName("dropped_packets", "packets", (_PG + "DROPPED_PACKETS",)),
    # Ports
    CounterName("in_discards", "packets", (_PORT + "IF_IN_DISCARDS",), ("RX_DRP", "RX_DROPS")),
    CounterName("out_discards", "packets", (_PORT + "IF_OUT_DISCARDS",), ("TX_DRP", "TX_DROPS")),
    CounterName("in_errors", "packets", (_PORT + "IF_IN_ERRORS",), ("RX_ERR",)),
    CounterName("out_errors", "packets", (_PORT + "IF_OUT_ERRORS",), ("TX_ERR",)),
    CounterName("in_oversize_packets", "packets", (_PORT + "ETHER_RX_OVERSIZE_PKTS",), ("RX_OVR",)),
    CounterName("out_oversize_packets", "packets", (_PORT + "ETHER_TX_OVERSIZE_PKTS",), ("TX_OVR",)),
    CounterName("in_bytes", "bytes", (_PORT + "IF_IN_OCTETS",)),
    CounterName("out_bytes", "bytes", (_PORT + "IF_OUT_OCTETS",)),
    CounterName(
        "in_unicast_packets", "packets", (_PORT + "IF_IN_UCAST_PKTS",), ("Unicast Packets Received",)
    ),
    CounterName("in_non_unicast_packets", "packets", (_PORT + "IF_IN_NON_UCAST_PKTS",)),
    CounterName(
        "in_multicast_packets", "packets", (_PORT + "IF_IN_MULTICAST_PKTS",), ("Multicast Packets Received",)
    ),
    CounterName(
        "in_broadcast_packets", "packets", (_PORT + "IF_IN_BROADCAST_PKTS",), ("Broadcast Packets Received",)
    ),
    CounterName(
        "out_unicast_packets", "packets", (_PORT + "IF_OUT_UCAST_PKTS",), ("Unicast Packets Transmitted",)
    ),
    CounterName("out_non_unicast_packets", "packets", (_PORT + "IF_OUT_NON_UCAST_PKTS",)),
    CounterName(
        "out_multicast_packets",
        "packets",
        (_PORT + "IF_OUT_MULTICAST_PKTS",),
        ("Multicast Packets Transmitted",),
    ),
    CounterName(
        "out_broadcast_packets",
        "packets",
        (_PORT + "IF_OUT_BROADCAST_PKTS",),
        ("Broadcast Packets Transmitted",),
    ),
    CounterName("in_packets", "packets", headings=("RX_OK",)),
    CounterName("out_packets", "packets", headings=("TX_OK",)),
    CounterName("jabbers", "packets", (_PORT + "ETHER_STATS_JABBERS",), ("Jabbers Received",)),
    CounterName("fragments", "packets", (_PORT + "ETHER_STATS_FRAGMENTS",), ("Fragments Received",)),
    CounterName(
        "undersize_packets", "packets", (_PORT + "ETHER_STATS_UNDERSIZE_PKTS",), ("Undersize Received",)
    ),
    CounterName(
        "wred_green_dropped_packets",
        "packets",
        (_PORT + "GREEN_WRED_DROPPED_PACKETS",),
        ("WRED Green Dropped Packets",),
    ),
    CounterName(
        "wred_yellow_dropped_packets",
        "packets",
        (_PORT + "YELLOW_WRED_DROPPED_PACKETS",),
        ("WRED Yellow Dropped Packets",),
    ),
    CounterName(
        "wred_red_dropped_packets",
        "packets",
        (_PORT + "RED_WRED_DROPPED_PACKETS",),
        ("WRED Red Dropped Packets",),
    ),
    CounterName(
        "fec_corrected_codewords", "codewords", (_PORT + "IF_IN_FEC_CORRECTABLE_FRAMES",), ("FEC_CORR",)
    ),
    CounterName(
        "fec_uncorrected_codewords",
        "codewords",
        (_PORT + "IF_IN_FEC_NOT_CORRECTABLE_FRAMES",),
        ("FEC_UNCORR",),
    ),
    CounterName("fec_symbol_errors", "symbols", (_PORT + "IF_IN_FEC_SYMBOL_ERRORS",), ("FEC_SYMBOL_ERR",)),
    CounterName("fec_pre_ber", "", ("FEC_PRE_BER",), ("FEC_PRE_BER",)),
    CounterName("fec_post_ber", "", ("FEC_POST_BER",), ("FEC_POST_BER",)),
    CounterName("fec_pre_ber_max", "", ("FEC_PRE_BER_MAX",), ("FEC_PRE_BER_MAX",)),
    CounterName("fec_flr", "", ("FEC_FLR",), ("FLR(O)",)),
    CounterName("fec_flr_predicted", "", ("FEC_FLR_PREDICTED",), ("FLR(P) (Accuracy)",)),
    CounterName("fec_max_symbol_errors", "", ("FEC_MAX_T",), ("FEC_MAX_T",)),
    CounterName("in_rate", "bytes/s", ("RX_BPS",), ("RX_BPS",)),
    CounterName("out_rate", "bytes/s", ("TX_BPS",), ("TX_BPS",)),
    CounterName("in_packet_rate", "packets/s", ("RX_PPS",), ("RX_PPS",)),
    CounterName("out_packet_rate", "packets/s", ("TX_PPS",), ("TX_PPS",)),
    CounterName("in_utilization", "%", headings=("RX_UTIL",)),
    CounterName("out_utilization", "%", headings=("TX_UTIL",)),
    # The watchdog of a queue
    CounterName("pfcwd_status", "", ("PFC_WD_STATUS",)),
    CounterName("pfcwd_action", "", ("PFC_WD_ACTION",)),
    CounterName("pfcwd_detection_time", "us", ("PFC_WD_DETECTION_TIME",)),
    CounterName("pfcwd_restoration_time", "us", ("PFC_WD_RESTORATION_TIME",)),
    CounterName("pfcwd_detection_time_left", "us", ("PFC_WD_DETECTION_TIME_LEFT",)),
    CounterName("pfcwd_restoration_time_left", "us", ("PFC_WD_RESTORATION_TIME_LEFT",)),
    CounterName("pfcwd_detected", "storms", (_WATCHDOG_STATISTICS + "DEADLOCK_DETECTED",)),
    CounterName("pfcwd_restored", "storms", (_WATCHDOG_STATISTICS + "DEADLOCK_RESTORED",)),
    CounterName("pfcwd_tx_ok", "packets", (_WATCHDOG_STATISTICS + "TX_PACKETS",)),
    CounterName("pfcwd_tx_drop", "packets", (_WATCHDOG_STATISTICS + "TX_DROPPED_PACKETS",)),
    CounterName("pfcwd_rx_ok", "packets", (_WATCHDOG_STATISTICS + "RX_PACKETS",)),
    CounterName("pfcwd_rx_drop", "packets", (_WATCHDOG_STATISTICS + "RX_DROPPED_PACKETS",)),
    CounterName("pfcwd_tx_last_ok", "packets", (_WATCHDOG_STATISTICS + "TX_PACKETS_LAST",)),
    CounterName("pfcwd_tx_last_drop", "packets", (_WATCHDOG_STATISTICS + "TX_DROPPED_PACKETS_LAST",)),
    CounterName("pfcwd_rx_last_ok", "packets", (_WATCHDOG_STATISTICS + "RX_PACKETS_LAST",)),
    CounterName("pfcwd_rx_last_drop", "packets", (_WATCHDOG_STATISTICS + "RX_DROPPED_PACKETS_LAST",)),
)

BY_FIELD = {field: counter for counter in COUNTERS for field in counter.fields}
BY_HEADING = {heading: counter for counter in COUNTERS for heading in counter.headings}
BY_KEY = {key: counter for counter in COUNTERS for key in counter.keys}
_PRIORITY = re.compile(r"_PFC_([0-9]{1,2})_")
_SETTINGS = frozenset(
    {"pfcwd_status", "pfcwd_action", "pfcwd_detection_time", "pfcwd_restoration_time", "occupancy_bytes"}
    | {"pfcwd_detection_time_left", "pfcwd_restoration_time_left", "recent_pause_timestamp"}
    | {"recent_pause_duration"}
)
_TABLES: dict[str, CountedSince] = {
    "USER_WATERMARKS": "user clear",
    "PERSISTENT_WATERMARKS": "persistent clear",
    "PERIODIC_WATERMARKS": "period",
    "RATES": "last poll",
}
"""Since when a table of COUNTERS_DB counts (sonic-swss orchagent/watermarkorch.cpp @0545c4c)."""


def counter_of_field(field: str) -> tuple[CounterName, str | None]:
    """Return the counter that a field of COUNTERS_DB holds, and the priority in the field's name, None without one."""
    match = _PRIORITY.search(field)
    if match is None:
        return BY_FIELD.get(field, CounterName(field, "")), None
    counter = BY_FIELD.get(_PRIORITY.sub("_PFC_N_", field))
    return (counter, match[1]) if counter else (CounterName(field, ""), match[1])


def is_setting(name: str) -> bool:
    """Return whether a value of this name is known as a current state, not a counter."""
    return name in _SETTINGS


def since_of(name: str, table: str) -> CountedSince:
    """Return since when a counter counts in a table of COUNTERS_DB: COUNTERS itself has the watermarks of one poll."""
    if table in _TABLES:
        return _TABLES[table]
    if is_setting(name) or table == "PORT_PHY_ATTR":
        return "now"
    return "last poll" if "watermark" in name.lower() else "boot"


_KINDS = {
    "BUFFER_POOL": "pool",
    "BUFFER_PROFILE": "profile",
    "WRED_PROFILE": "profile",
    "DEBUG_COUNTER": "object",
}
_PORTS = frozenset({"PORT", "PORT_QOS_MAP", "PFC_WD", "CABLE_LENGTH", "PORT_OPERR"})
_MEMBERS = {"BUFFER_PG": "pg", "BUFFER_QUEUE": "queue", "QUEUE": "queue"}
_MEMBER = re.compile(r"(.+)[|:]([0-9]{1,3}(?:-[0-9]{1,3})?)")
_BYTES = frozenset({"size", "xon", "xoff", "xon_offset", "static_th", "mmu_size", "max_headroom_size"})
_WATCHDOG_FIELDS = {
    "detection_time": CounterName("pfcwd_detection_time", "ms"),
    "restoration_time": CounterName("pfcwd_restoration_time", "ms"),
    "action": CounterName("pfcwd_action", ""),
    "POLL_INTERVAL": CounterName("pfcwd_poll_interval", "ms"),
    "pfc_stat_history": CounterName("pfcwd_history", ""),
}


def row_identity(table: str, key: str) -> Identity:
    """Return the port, queue or other object of a row, beside its table and key; empty if it has none."""
    kind = table.removesuffix("_TABLE")
    if kind in _KINDS:
        return ((_KINDS[kind], key),)
    if kind in _MEMBERS and (match := _MEMBER.fullmatch(key)):
        return ("port", match[1]), (_MEMBERS[kind], match[2])
    is_port = kind in _PORTS or kind.startswith("TRANSCEIVER_")
    return (("port", key),) if is_port and key not in ("", "GLOBAL") else ()


def row_field(table: str, field: str) -> CounterName:
    """Return the name and unit of a field of a row of CONFIG_DB, APPL_DB or STATE_DB, by its table."""
    kind = table.removesuffix("_TABLE")
    if kind == "PFC_WD" and field in _WATCHDOG_FIELDS:
        return _WATCHDOG_FIELDS[field]
    if kind == "PORT_QOS_MAP" and field == "pfc_enable":
        return CounterName("lossless_priorities", "")
    if kind == "FLEX_COUNTER" and field == "POLL_INTERVAL":
        return CounterName("poll_interval", "ms")
    if kind.startswith("BUFFER_"):
        return CounterName(field, "bytes" if field in _BYTES else "")
    if kind == "WRED_PROFILE":
        return CounterName(field, profile_unit(field))
    return CounterName(field, "")


def profile_unit(field: str) -> str:
    """Return the unit of a field of a WRED profile."""
    if field.endswith("_threshold"):
        return "bytes"
    return "%" if field.endswith("_probability") else ""
