"""Counters of an InfiniBand port: one name, unit and width for each, for the spellings of all tools.

Names are those of the kernel (Linux Documentation/ABI/stable/sysfs-class-infiniband @031616c). Widths of PortCounters
and of PortCountersExtended are those of the InfiniBand Architecture Specification, volume 1, 16.1.3.5 and 16.1.4.11,
as linux-rdma/rdma-core libibmad/fields.c @691953d has them: a counter stops at all ones, it does not wrap.
"""

from __future__ import annotations

from lossless.ground.basics.records import NamedTuple

WORDS = "4-byte words"
"""The unit of PortXmitData and PortRcvData in all MADs and in sysfs."""
_BITS_EXTENDED = 64


class PortCounter(NamedTuple):
    """One counter: its name, unit, its width in PortCounters in bits, and its name in MADs."""

    name: str
    unit: str
    bits: int
    mad_name: str


PORT_COUNTERS = (
    PortCounter("symbol_error", "errors", 16, "SymbolErrorCounter"),
    PortCounter("link_error_recovery", "recoveries", 8, "LinkErrorRecoveryCounter"),
    PortCounter("link_downed", "events", 8, "LinkDownedCounter"),
    PortCounter("port_rcv_errors", "packets", 16, "PortRcvErrors"),
    PortCounter("port_rcv_remote_physical_errors", "packets", 16, "PortRcvRemotePhysicalErrors"),
    PortCounter("port_rcv_switch_relay_errors", "packets", 16, "PortRcvSwitchRelayErrors"),
    PortCounter("port_xmit_discards", "packets", 16, "PortXmitDiscards"),
    PortCounter("port_xmit_constraint_errors", "packets", 8, "PortXmitConstraintErrors"),
    PortCounter("port_rcv_constraint_errors", "packets", 8, "PortRcvConstraintErrors"),
    PortCounter("local_link_integrity_errors", "errors", 4, "LocalLinkIntegrityErrors"),
    PortCounter("excessive_buffer_overrun_errors", "errors", 4, "ExcessiveBufferOverrunErrors"),
    PortCounter("qp1_dropped", "packets", 16, "QP1Dropped"),
    PortCounter("VL15_dropped", "packets", 16, "VL15Dropped"),
    PortCounter("port_xmit_data", WORDS, 32, "PortXmitData"),
    PortCounter("port_rcv_data", WORDS, 32, "PortRcvData"),
    PortCounter("port_xmit_packets", "packets", 32, "PortXmitPkts"),
    PortCounter("port_rcv_packets", "packets", 32, "PortRcvPkts"),
    PortCounter("port_xmit_wait", "ticks", 32, "PortXmitWait"),
    PortCounter("unicast_xmit_packets", "packets", 64, "PortUnicastXmitPkts"),
    PortCounter("unicast_rcv_packets", "packets", 64, "PortUnicastRcvPkts"),
    PortCounter("multicast_xmit_packets", "packets", 64, "PortMulticastXmitPkts"),
    PortCounter("multicast_rcv_packets", "packets", 64, "PortMulticastRcvPkts"),
    # PortXmitDiscardDetails and PortRcvErrorDetails, 16.1.4.6 and 16.1.4.5.
    PortCounter("port_inactive_discards", "packets", 16, "PortInactiveDiscards"),
    PortCounter("port_neighbor_mtu_discards", "packets", 16, "PortNeighborMTUDiscards"),
    PortCounter("port_switch_lifetime_limit_discards", "packets", 16, "PortSwLifetimeLimitDiscards"),
    PortCounter("port_switch_hoq_lifetime_limit_discards", "packets", 16, "PortSwHOQLifetimeLimitDiscards"),
    PortCounter("port_local_physical_errors", "packets", 16, "PortLocalPhysicalErrors"),
    PortCounter("port_malformed_packet_errors", "packets", 16, "PortMalformedPktErrors"),
    PortCounter("port_buffer_overrun_errors", "packets", 16, "PortBufferOverrunErrors"),
    PortCounter("port_dlid_mapping_errors", "packets", 16, "PortDLIDMappingErrors"),
    PortCounter("port_vl_mapping_errors", "packets", 16, "PortVLMappingErrors"),
    PortCounter("port_looping_errors", "packets", 16, "PortLoopingErrors"),
)
BY_NAME = {counter.name: counter for counter in PORT_COUNTERS}
BY_MAD_NAME = {counter.mad_name: counter for counter in PORT_COUNTERS}
_WIDE = frozenset({"port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets"})


def ceiling(counter: PortCounter, *, extended: bool = False) -> int:
    """Return the value at which a counter saturates; ``extended`` where it comes from PortCountersExtended."""
    return int(2 ** (_BITS_EXTENDED if extended else counter.bits) - 1)


def sysfs_ceiling(counter: PortCounter) -> int | None:
    """Return the value at which a counter saturates in sysfs; None for data and packets, which have either width there.

    The kernel shows those four of PortCountersExtended where the port has it, and all others of PortCounters (Linux
    drivers/infiniband/core/sysfs.c @0147ebc, get_counter_table).
    """
    return None if counter.name in _WIDE else ceiling(counter)
