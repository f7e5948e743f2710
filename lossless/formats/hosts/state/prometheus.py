"""Metrics as node_exporter exposes them: InfiniBand ports and ``ethtool`` counters, in the exposition format.

Names that have one here become those of sysfs and of ``ethtool -S``; all others of the file are kept as they are.
Data are in bytes, sysfs' words times four. Sources: prometheus/node_exporter collector/infiniband_linux.go @a7dcc3a
and its fixtures; Prometheus' exposition format 0.0.4.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.state.ethtool import NicCounterName, counter_name
from lossless.ground.documents.printed_lines import measured
from lossless.model.fabric.state import BY_NAME, StateReading, sysfs_ceiling

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import CountedSince, Identity, StateItems

_SERIES = re.compile(r"\s*([A-Za-z_:][\w:]*)(\{.*\})?\s+(\S+)(?:\s+-?[0-9]+)?\s*")
_LABEL = re.compile(r'(?<!\w)[^\WA-Za-z_]*+([A-Za-z_]\w*+)="((?:[^"\\]|\\.)*)"')
_TYPE = re.compile(r"# TYPE (\S+) (\w+)")
_SIGN = re.compile(r"^(?:# TYPE )?node_(?:infiniband|ethtool|network)_\w+", re.MULTILINE)
_INFINIBAND = {
    "port_data_received_bytes_total": "port_rcv_data",
    "port_data_transmitted_bytes_total": "port_xmit_data",
    "port_packets_received_total": "port_rcv_packets",
    "port_packets_transmitted_total": "port_xmit_packets",
    "port_errors_received_total": "port_rcv_errors",
    "port_discards_transmitted_total": "port_xmit_discards",
    "port_transmit_wait_total": "port_xmit_wait",
    "port_constraint_errors_received_total": "port_rcv_constraint_errors",
    "port_constraint_errors_transmitted_total": "port_xmit_constraint_errors",
    "link_downed_total": "link_downed",
    "link_error_recovery_total": "link_error_recovery",
    "multicast_packets_received_total": "multicast_rcv_packets",
    "multicast_packets_transmitted_total": "multicast_xmit_packets",
    "unicast_packets_received_total": "unicast_rcv_packets",
    "unicast_packets_transmitted_total": "unicast_xmit_packets",
    "np_cnp_packets_sent_total": "np_cnp_sent",
    "np_ecn_marked_roce_packets_received_total": "np_ecn_marked_roce_packets",
    "rp_cnp_packets_handled_total": "rp_cnp_handled",
    "rp_cnp_ignored_packets_received_total": "rp_cnp_ignored",
    "out_of_sequence_packets_received_total": "out_of_sequence",
    "packet_sequence_errors_total": "packet_seq_err",
    "local_ack_timeout_errors_total": "local_ack_timeout_err",
    "rnr_nak_retry_packets_received_total": "rnr_nak_retry_err",
    "roce_adp_retransmits_total": "roce_adp_retrans",
    "roce_adp_retransmits_timeout_total": "roce_adp_retrans_to",
    "roce_slow_restart_used_total": "roce_slow_restart",
    "roce_slow_restart_cnps_total": "roce_slow_restart_cnps",
    "roce_slow_restart_total": "roce_slow_restart_trans",
    "out_of_buffer_drops_total": "out_of_buffer",
    "duplicate_requests_packets_total": "duplicate_request",
    "implied_nak_seq_errors_total": "implied_nak_seq_err",
    "rx_icrc_encapsulated_errors_total": "rx_icrc_encapsulated",
    "state_id": "state_id",
    "physical_state_id": "physical_state_id",
}
_ETHTOOL = re.compile(r"(received|transmitted)_(.+)")
_DIRECTIONS = {"received": "rx", "transmitted": "tx"}


def is_form(section: PrintedSection) -> bool:
    """Return whether a text has a metric of a network device or of InfiniBand."""
    return bool(_SIGN.search(section.head))


def read(section: PrintedSection) -> StateItems:
    """Yield a reading for each sample of a metric; a line that is neither a sample nor a comment is a problem."""
    types = {match[1]: match[2] for line in section.lines if (match := _TYPE.match(line.text))}
    for line in section.lines:
        if not line.text.strip() or line.text.lstrip().startswith("#"):
            continue
        match = _SERIES.fullmatch(line.text)
        if match is None:
            yield section.problem(line, f"no metric: {line.text.strip()!r}")
        else:
            yield _reading(match, types.get(match[1], ""), section.place(line, match[1]))


def _reading(match: re.Match[str], kind: str, path: Path) -> StateReading:
    metric, labels = match[1], _LABEL.findall(match[2] or "")
    called = _name(metric)
    counter = BY_NAME.get(called.name)
    unit = called.unit or (counter.unit if counter else "")
    identity: Identity = (*labels, *called.part)
    series = f"{metric}{match[2] or ''}"
    # A sum of packets and data of either width may not stop anywhere.
    ceiling = sysfs_ceiling(counter) if counter else None
    since: CountedSince = (
        "unknown" if counter else "boot" if kind == "counter" or metric.endswith("_total") else "now"
    )
    value = measured(match[3])
    return StateReading(identity, called.name, value, unit, since, path, series, ceiling)


def _name(metric: str) -> NicCounterName:
    if metric.startswith("node_infiniband_"):
        short = metric.removeprefix("node_infiniband_")
        return NicCounterName(_INFINIBAND.get(short, metric), "bytes" if "_bytes" in short else "")
    match = _ETHTOOL.fullmatch(metric.removeprefix("node_ethtool_"))
    if metric.startswith("node_ethtool_") and match:
        called = counter_name(f"{_DIRECTIONS[match[1]]}_{match[2]}")
        return called if called.part else NicCounterName(metric, called.unit)
    return NicCounterName(metric, "")
