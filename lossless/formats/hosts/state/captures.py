"""A text that a host printed to captures of its state; each form is told by what is in it, not by the file's name.

A snapshot of the collector and a terminal's transcript have a section for each command; every other text is one, or
outputs that were written into one file.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossless.formats.hosts.state.joined_outputs import JOINED, of_interfaces, outputs_of
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.printed_lines import LOOKED_INTO, printed_sections
from lossless.model.fabric.state.collected import captured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state.collected import StateItems
    from lossless.model.fabric.state.readings import StateCapture, StateReading

COMMANDS = frozenset(
    {
        *("ethtool", "dcb", "mlnx_qos", "rdma", "cat", "grep", "nicctl", "ip", "files", "env", "nccl.conf"),
        *("lldpctl", "mlxconfig", "mstconfig", "cma_roce_tos", "cma_roce_mode", "ibv_devinfo", "end", "not"),
    }
)
"""Commands that begin a section, those of the collector with them; what is not read here ends the section before it."""


class HostForm(NamedTuple):
    """One form: its name, the module of this room that reads it, and the two functions there."""

    name: str
    module: str
    tells: str = "is_form"
    reads: str = "read"


_FORMS = (
    HostForm("RCCL RAS status", "other_outputs", "is_ras", "read_ras"),
    HostForm("nicctl", "nicctl"),
    HostForm("mlnx_qos", "mlnx_qos"),
    HostForm("dcb", "dcb"),
    HostForm("ip link show", "other_outputs", "is_ip_link", "read_ip_link"),
    HostForm("rdma statistic", "rdma_statistic"),
    HostForm("node_exporter", "prometheus"),
    HostForm("UCX log", "ucx_log"),
    HostForm("NCCL log", "nccl_log"),
    HostForm("sysfs", "sysfs"),
    HostForm("ethtool -S", "ethtool"),
)
"""The most particular first: an ethtool's counter is the plainest line of all."""

_TAKEN = re.compile(r"^# taken ([0-9]{1,12})(?: UTC)?\s*$", re.MULTILINE)
_HEADER_LINES = 8
_SEARCHED = 4 * LOOKED_INTO
"""Letters of a text in which a section of a known form begins, if it has one."""

_NAMELESS = "another output of {} that names no interface: write ==> and the command before each; not read"


def read_capture(text: str, file: str) -> tuple[StateCapture, ...] | None:
    """Return what a host printed, a capture for each section of a known form; None where there is none."""
    if not any(map(_form, printed_sections(text[:_SEARCHED], file, COMMANDS))):
        return None
    outputs = (
        output
        for section in printed_sections(text, file, COMMANDS)
        for output in _outputs(section)
        if output.lines
    )
    captures = [
        captured(file, form.name, _read(form, output, is_nameless=again), output.host)
        for output, again in of_interfaces(outputs)
        if (form := _form(output))
    ]
    taken_at = _taken_at(text)
    return tuple(_of_its_host(capture)._replace(taken_at=taken_at) for capture in captures) or None


def _read(form: HostForm, output: PrintedSection, *, is_nameless: bool) -> StateItems:
    if is_nameless:
        # Its counters would be taken for those of the first.
        yield output.problem(output.lines[0], _NAMELESS.format(form.name))
    else:
        yield from _function(form.module, form.reads)(output)


def _outputs(section: PrintedSection) -> Iterable[PrintedSection]:
    form = _form(section)
    return outputs_of(section) if form is not None and form.name in JOINED else (section,)


def _form(section: PrintedSection) -> HostForm | None:
    return next((form for form in _FORMS if _function(form.module, form.tells)(section)), None)


def _function(module: str, name: str) -> Any:
    return getattr(import_module(f"lossless.formats.hosts.state.{module}"), name)


def _taken_at(text: str) -> int | None:
    """Return when a text says that it was captured, in seconds since 1970: ``# taken`` in one of its first lines."""
    match = _TAKEN.search(text[:_SEARCHED])
    return int(match[1]) if match and text.count("\n", 0, match.start()) < _HEADER_LINES else None


def _of_its_host(capture: StateCapture) -> StateCapture:
    """Return a capture with the host that all its readings name, where no snapshot or prompt names one."""
    hosts = {_host(reading) for reading in capture.readings}
    return capture._replace(device=hosts.pop()) if capture.device is None and len(hosts) == 1 else capture


def _host(reading: StateReading) -> str | None:
    return next((name for kind, name in reading.identity if kind == "host"), None)
