"""Common names of the counters of ``ethtool -S``, which each driver names differently, with their priority or ring.

Names that are not here are kept as they are printed. A counter of one priority has ``priority_`` or ``pfc_`` before
its name, one of a ring of the driver ``ring_``: the same word alone is that of the whole port.

Sources: mlx5 Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst @16f448d; mlx4
drivers/net/ethernet/mellanox/mlx4/en_ethtool.c; i40e, ice and ixgbe drivers/net/ethernet/intel/*_ethtool.c;
bnxt_en drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c; nfp nfp_net_ethtool.c and nfp_port.h; hns3
hns3_ethtool.c; ionic ionic_stats.c. How each driver prints rings was read from isc-projects/ethq tests/ @b91b2e4.
"""

from __future__ import annotations

import re

from lossless.ground.basics.records import NamedTuple


class NicCounterName(NamedTuple):
    """The name of a counter, its unit, and the part of the NIC that it belongs to, as pairs of a kind and a number."""

    name: str
    unit: str
    part: tuple[tuple[str, str], ...] = ()


_PORT = {
    # Frames of 802.3x: they stop the whole port.
    "rx_global_pause": ("global_pause_rx", "packets"),
    "tx_global_pause": ("global_pause_tx", "packets"),
    "rx_global_pause_duration": ("global_pause_rx_us", "us"),
    "tx_global_pause_duration": ("global_pause_tx_us", "us"),
    "rx_global_pause_transition": ("global_pause_rx_transitions", "events"),
    "port.link_xoff_rx": ("global_pause_rx", "packets"),
    "port.link_xoff_tx": ("global_pause_tx", "packets"),
    "link_xoff_rx.nic": ("global_pause_rx", "packets"),
    "link_xoff_tx.nic": ("global_pause_tx", "packets"),
    "rx_flow_control_xoff": ("global_pause_rx", "packets"),
    "tx_flow_control_xoff": ("global_pause_tx", "packets"),
    "frames_rx_pause": ("global_pause_rx", "packets"),
    "frames_tx_pause": ("global_pause_tx", "packets"),
    "mac_rx_mac_pause_num": ("global_pause_rx", "packets"),
    "mac_tx_mac_pause_num": ("global_pause_tx", "packets"),
    # Frames of either kind; with PFC these are those of all priorities.
    "rx_pause_ctrl_phy": ("link_pause_rx", "packets"),
    "tx_pause_ctrl_phy": ("link_pause_tx", "packets"),
    "frames_rx_pripause": ("pfc_rx_all", "packets"),
    "frames_tx_pripause": ("pfc_tx_all", "packets"),
    "rx_pfc_frames": ("pfc_rx_all", "packets"),
    "tx_pfc_frames": ("pfc_tx_all", "packets"),
    "tx_pause_storm_warning_events": ("pause_storm_warnings", "events"),
    "tx_pause_storm_error_events": ("pause_storm_errors", "events"),
    # What no buffer of the NIC was left for; out_of_buffer of hw_counters counts RDMA instead.
    "rx_discards_phy": ("rx_discards", "packets"),
    "tx_discards_phy": ("tx_discards", "packets"),
    "rx_stat_discard": ("rx_discards", "packets"),
    "rx_out_of_buffer": ("rx_out_of_buffer", "packets"),
    "rx_total_ring_discards": ("rx_ring_discards", "packets"),
    "rx_buffer_passed_thres_phy": ("rx_buffer_passed_threshold", "events"),
    "link_down_events_phy": ("link_downed", "events"),
    "outbound_pci_stalled_rd": ("outbound_pci_stalled_rd", "percent"),
    "outbound_pci_stalled_wr": ("outbound_pci_stalled_wr", "percent"),
}
_ONE = "([0-7])"
_PRIORITY = (
    # mlx5, only where PFC is on for the priority; then mlx4 and mlxsw, which has no transitions of what is received.
    (rf"(rx|tx)_prio{_ONE}_pause", "pfc_{}", "packets"),
    (rf"(rx|tx)_prio{_ONE}_pause_duration", "pfc_{}_us", "us"),
    (rf"(rx|tx)_prio{_ONE}_pause_transition", "pfc_{}_transitions", "events"),
    (rf"(rx|tx)_pause_prio_{_ONE}", "pfc_{}", "packets"),
    (rf"(rx|tx)_pause_duration_prio_{_ONE}", "pfc_{}_us", "us"),
    (rf"(rx|tx)_pause_transition_prio_{_ONE}", "pfc_{}_transitions", "events"),
    # bnxt_en
    (rf"(rx|tx)_pfc_ena_frames_pri{_ONE}", "pfc_{}", "packets"),
    (rf"pfc_pri{_ONE}_(rx|tx)_duration_us", "pfc_{}_us", "us"),
    (rf"pfc_pri{_ONE}_(rx|tx)_transitions", "pfc_{}_transitions", "events"),
    # Intel counts frames that stop a priority apart from those that let it go on.
    (rf"(?:port\.)?(rx|tx)_priority_{_ONE}_xoff(?:\.nic)?", "pfc_{}", "packets"),
    (rf"(?:port\.)?(rx|tx)_priority_{_ONE}_xon(?:\.nic)?", "pfc_{}_xon", "packets"),
    (rf"(?:port\.)?(rx|tx)_priority_{_ONE}_xon_2_xoff(?:\.nic)?", "pfc_{}_transitions", "events"),
    (rf"(rx|tx)_pb_{_ONE}_pxoff", "pfc_{}", "packets"),
    (rf"(rx|tx)_pb_{_ONE}_pxon", "pfc_{}_xon", "packets"),
    # nfp, hns3, ionic
    (rf"mac\.(rx|tx)_pause_frames_class{_ONE}", "pfc_{}", "packets"),
    (rf"mac_(rx|tx)_pfc_pri{_ONE}_pkt_num", "pfc_{}", "packets"),
    (rf"(rx|tx)_pripause_{_ONE}_1us_count", "pfc_{}_us", "us"),
    (rf"frames_(rx|tx)_pri_{_ONE}", "priority_{}_packets", "packets"),
    # What a priority carried, and what was dropped of it.
    (rf"(rx|tx)_prio_?{_ONE}_bytes", "priority_{}_bytes", "bytes"),
    (rf"(rx|tx)_prio_?{_ONE}_packets", "priority_{}_packets", "packets"),
    (rf"(rx|tx)_bytes_pri{_ONE}", "priority_{}_bytes", "bytes"),
    (rf"(rx|tx)_packets_pri{_ONE}", "priority_{}_packets", "packets"),
    (rf"(rx|tx)_octets_prio_{_ONE}", "priority_{}_bytes", "bytes"),
    (rf"(rx|tx)_frames_prio_{_ONE}", "priority_{}_packets", "packets"),
    (rf"(rx|tx)_prio{_ONE}_discards", "priority_{}_discards", "packets"),
    (rf"(rx|tx)_prio{_ONE}_buf_discard", "priority_{}_buffer_discards", "packets"),
    (rf"(rx|tx)_prio{_ONE}_cong_discard", "priority_{}_congestion_discards", "packets"),
    (rf"(rx|tx)_prio{_ONE}_marked", "priority_{}_ecn_marked_packets", "packets"),
)
_QUEUE = (
    (rf"(rx|tx)_bytes_cos{_ONE}", "tc_{}_bytes", "bytes"),
    (rf"(rx|tx)_packets_cos{_ONE}", "tc_{}_packets", "packets"),
    (rf"(rx|tx)_discard_bytes_cos{_ONE}", "tc_{}_discard_bytes", "bytes"),
    (rf"(rx|tx)_discard_packets_cos{_ONE}", "tc_{}_discards", "packets"),
)
"""Counters of the hardware queues of bnxt_en, each of which serves one traffic class."""
_RINGS = (
    r"\[(?P<ring>[0-9]+)\]: ?(?P<name>.+)",
    r"(?P<way>rx|tx)q(?P<ring>[0-9]+): ?(?P<name>.+)",
    r"(?P<way>rx|tx)[-_]queue[-_](?P<ring>[0-9]+)[-_.](?P<name>.+)",
    r"queue_(?P<ring>[0-9]+)_(?P<name>(?:rx|tx)_.+)",
    r"(?P<way>rx|tx)-(?P<ring>[0-9]+)\.(?P<name>.+)",
    r"rvec_(?P<ring>[0-9]+)_(?P<name>.+)",
    # Not tx_1024_to_1522_byte_packets and rx_64_bytes_phy: those are sizes.
    r"(?P<way>rx|tx|ch)_?(?P<ring>[0-9]+)_(?P<name>(?!to_|bytes?_|octets?_|oct_|[0-9]).+)",
)
_LANE = re.compile(r"rx_err_lane_([0-9]+)_phy")
_UNITS = (
    (re.compile(r"(?:^|[ _.])(?:bytes|octets)(?:$|[ _.])"), "bytes"),
    (re.compile(r"_us$"), "us"),
    (re.compile(r"(?:^|[ _.])(?:packets|pkts|frames)(?:$|[ _.])"), "packets"),
)


def _patterns(
    rows: tuple[tuple[str, str, str], ...], kind: str
) -> tuple[tuple[re.Pattern[str], str, str, str], ...]:
    return tuple((re.compile(pattern), name, unit, kind) for pattern, name, unit in rows)


_NUMBERED = (*_patterns(_PRIORITY, "priority"), *_patterns(_QUEUE, "tc"))
_RING_FORMS = tuple(map(re.compile, _RINGS))


def counter_name(printed: str) -> NicCounterName:
    """Return the common name of a counter by the name that a driver prints."""
    if printed in _PORT:
        return NicCounterName(*_PORT[printed])
    for pattern, name, unit, kind in _NUMBERED:
        if match := pattern.fullmatch(printed):
            way, number = sorted(match.groups(), key=str.isdigit)
            return NicCounterName(name.format(way), unit, ((kind, number),))
    if match := _LANE.fullmatch(printed):
        return NicCounterName("fec_lane_errors", "errors", (("lane", match[1]),))
    return _of_ring(printed) or NicCounterName(printed, unit_of(printed))


def unit_of(printed: str) -> str:
    """Return the unit that a name contains, empty where it has none."""
    return next((unit for sign, unit in _UNITS if sign.search(printed)), "")


def _of_ring(printed: str) -> NicCounterName | None:
    match = next((match for form in _RING_FORMS if (match := form.fullmatch(printed))), None)
    if match is None:
        return None
    way, name = match.groupdict().get("way") or "", match["name"].strip()
    whole = name if not way or name.startswith(f"{way}_") else f"{way}_{name}"
    return NicCounterName(f"ring_{whole}", unit_of(whole), (("ring", match["ring"]),))
