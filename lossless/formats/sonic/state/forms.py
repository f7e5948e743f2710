"""The forms in which a SONiC switch prints its state."""

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
    _table("show switch-trimming global", "Configuration", "Value"),
    _table("show switch counters", "TrimSent/pkts"),
    _table("show switch counters", "TrimDrop/pkts"),
)
"""Commands by the first heading of their table, and another; the most particular first."""
_DUMPS = (
    "dumps of its databases (CONFIG, APPL, STATE, COUNTERS, ASIC; one file or many, also of several ASICs)"
)
_COLLECTOR = "what the script of `lossless collector --switch` prints"
FORMS = (
    _text("switch state", _COLLECTOR, "snapshot", "snapshot", "read_snapshot", "is_snapshot"),
    _text("databases", _DUMPS, "json", "databases", "read_databases"),
    _text("scripts", "the JSON of the scripts behind `show`", "json", "script_json", "read_scripts"),
    _text("gNMI", "answers over gNMI", "json", "gnmi", "read_answer"),
    _text("rows", "transcripts of `redis-cli` and `sonic-db-cli`", "rows", "redis_lines", "read_rows"),
    _text("show", "outputs of `show`, alone and in transcripts", "text", "show", "read_show"),
    *TABLES,
)
