"""The forms in which tools print the state of an InfiniBand subnet, and the commands that print them."""

from __future__ import annotations

from lossless.model.fabric.state import CaptureForm


def _form(name: str, module: str = "", title: str = "", *functions: str) -> CaptureForm:
    module = f"infiniband.state.{module or name}"
    return CaptureForm("subnet", name, title or f"`{name}`", module, "section", *functions)


FORMS = (
    _form("opensm log", "opensm", "opensm's log"),
    _form("ibqueryerrors"),
    _form("perfquery", "ibqueryerrors", "", "is_perfquery", "read_perfquery"),
    _form("ibnetdiscover"),
    _form("iblinkinfo"),
    _form("ibswinfo"),
    _form("UFM telemetry", "ufm", "telemetry of UFM"),
    _form("ibdiagnet2.db_csv", "ibdiagnet_database"),
    _form("ibdiagnet2.pm", "ibdiagnet_lines"),
    _form("ibdiagnet2.net_dump", "ibdiagnet_links"),
    _form("ibdiagnet2.log", "ibdiagnet_lines", "", "is_log", "read_log"),
    _form("ibdiagnet2.sharp_an_info", "ibdiagnet_links", "", "is_sharp_nodes", "read_sharp_nodes"),
    _form("partitions.conf", "opensm", "", "is_partitions", "read_definitions"),
)
COMMANDS = {
    *("perfquery", "ibqueryerrors", "iblinkinfo", "ibnetdiscover", "ibswinfo"),
    *("ibstat", "ibhosts", "ibswitches", "ibdiagnet"),
}
"""Commands whose prompt begins a section of a transcript; an unsupported one ends the section before it."""
