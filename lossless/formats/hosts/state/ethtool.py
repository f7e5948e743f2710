"""Reads ``ethtool -S IF``, whole or filtered: the counters of a NIC by common names, with their priority or ring.

With and without the line ``NIC statistics:``, indented or not; ``[0]: name: 1`` is of ring 0, and vmxnet3 has a line
``Tx Queue#: 0`` before the counters of a ring. mlx5 prints ``rx_prio3_pause`` only where PFC is on for priority 3
(Linux mlx5/counters.rst @16f448d): where the counters of all priorities are there and those of pauses only of some,
the NIC has none for the others.

Each driver names its counters differently. Names that are not here are kept as they are printed. A counter of one
priority has ``priority_`` or ``pfc_`` before its name, one of a ring of the driver ``ring_``: the same word alone is
that of the whole port.

Sources: mlx5 Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst @16f448d; mlx4
drivers/net/ethernet/mellanox/mlx4/en_ethtool.c; i40e, ice and ixgbe drivers/net/ethernet/intel/*_ethtool.c;
bnxt_en drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c; nfp nfp_net_ethtool.c and nfp_port.h; hns3
hns3_ethtool.c; ionic ionic_stats.c. How each driver prints rings was read from isc-projects/ethq tests/ @b91b2e4.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.ground.documents.printed_lines import counted
from lossless.model.fabric.state import StateReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedLine, PrintedSection
    from lossless.model.fabric.state import StateItems


_HEADING = re.compile(r"\s*NIC statistics(?: for \S+)?:\s*")
_NAME = re.compile(r"(?:\[[a-z0-9]+\]:? ?|[rt]xq[0-9]+: ?)?[A-Za-z][A-Za-z0-9_.\[\]#()/ -]{0,63}")
_NUMBER = re.compile(r"[0-9]{1,39}")
_OF_NICS = re.compile(r"(?i)(?:^|[^a-z])(?:rx|tx|frames|pause|packets|octets|pci|prio|queue)(?:[^a-z]|$)")
_RING = re.compile(r"\s*([TR]x) Queue#: ([0-9]+)\s*")
_SUMS = re.compile(r"rx_prio([0-7])_packets")
_PAUSES = re.compile(r"(rx|tx)_prio([0-7])_pause")


def is_form(section: PrintedSection) -> bool:
    """Return whether 90% or more of the first 400 lines are counters, with a heading of ethtool or names of NICs."""
    lines = [line.text for line in section.lines[:400] if _counts(line.text)]
    if not lines:
        return False
    names = [name for name, number in map(_split, lines) if _NUMBER.fullmatch(number)]
    likely = sum(bool(_OF_NICS.search(name)) for name in names)
    titled = any(_HEADING.fullmatch(line.text) for line in section.lines[:8])
    return len(names) * 10 >= len(lines) * 9 and (titled or 3 * likely >= max(len(names), 1))


def read(section: PrintedSection) -> StateItems:
    """Yield the NIC counters, under the name common to all drivers where there is one; invalid lines are problems."""
    device = (("device", section.named),) if section.named else ()
    ring, lines = None, {}
    for line in section.lines:
        if match := _RING.fullmatch(line.text):
            ring = (match[1].lower(), match[2])
        if not _counts(line.text) or match:
            continue
        name, word = _split(line.text)
        number = counted(word)
        if not name or number is UNKNOWN:
            yield section.problem(
                line, f"expected a counter and its value as in rx_packets: 12, not {line.text.strip()!r}"
            )
            continue
        lines[name] = line
        called = counter_name(name) if ring is None else _below(name, ring)
        yield _reading(device, called, name, number, section.place(line, name))
    yield from _without_pauses(section, device, lines)


def _counts(text: str) -> bool:
    bare = text.strip()
    return bool(bare) and not bare.startswith(("#", "==>")) and not _HEADING.fullmatch(text)


def _split(text: str) -> tuple[str, str]:
    """Return the name and the value in a line of ethtool, both empty for a line without a valid name."""
    name, _, value = text.rpartition(":")
    bare = name.strip()
    return (bare, value.strip()) if _NAME.fullmatch(bare) else ("", "")


def _below(name: str, ring: tuple[str, str]) -> NicCounterName:
    way, number = ring
    return NicCounterName(f"ring_{way}_{name.lower().replace(' ', '_')}", unit_of(name), (("ring", number),))


def _reading(
    device: tuple[tuple[str, str], ...],
    called: NicCounterName,
    heading: str,
    number: int | None,
    path: Path,
) -> StateReading:
    return StateReading((*device, *called.part), called.name, number, called.unit, "boot", path, heading)


def _without_pauses(
    section: PrintedSection, device: tuple[tuple[str, str], ...], lines: dict[str, PrintedLine]
) -> Iterator[StateReading]:
    """Yield the pause counters that an mlx5 lacks for priorities without PFC, as None, if the output is complete."""
    present = {match[0] for name in lines if (match := _PAUSES.fullmatch(name))}
    whole = "rx_packets" in lines and "rx_vport_unicast_packets" in lines
    for name, line in lines.items():
        priority = _SUMS.fullmatch(name)
        for way in ("rx", "tx") if priority and whole else ():
            heading = f"{way}_prio{priority[1]}_pause" if priority else ""
            if heading not in present:
                yield _reading(device, counter_name(heading), heading, None, section.place(line, heading))


class NicCounterName(NamedTuple):
    """The common or printed name of a NIC counter, its unit, and the part of the NIC that it counts.

    The part has pairs of kind and number.
    """

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
    # Packets for which the NIC had no buffer left; out_of_buffer of hw_counters counts RDMA instead.
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
    """Return a NIC counter's common name, else the printed one, with its unit and its priority, TC, lane or ring."""
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
    """Return the unit that the name of a counter contains, empty where it has none."""
    return next((unit for sign, unit in _UNITS if sign.search(printed)), "")


def _of_ring(printed: str) -> NicCounterName | None:
    match = next((match for form in _RING_FORMS if (match := form.fullmatch(printed))), None)
    if match is None:
        return None
    way, name = match.groupdict().get("way") or "", match["name"].strip()
    whole = name if not way or name.startswith(f"{way}_") else f"{way}_{name}"
    return NicCounterName(f"ring_{whole}", unit_of(whole), (("ring", match["ring"]),))
