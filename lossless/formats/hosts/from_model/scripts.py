"""The files that set a host up: a script, the unit that runs it at every boot, and the same settings as plain data.

A script consists of the settings of every NIC, those of its driver (one module a driver), and the calls of the
tool that sets trust, DSCP map and PFC (``write.tools``). None of it survives a reboot; hence the unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model import broadcom, nvidia, other_drivers
from lossless.formats.hosts.from_model.host_file import HostFile
from lossless.formats.hosts.from_model.settings import common, profile
from lossless.formats.hosts.from_model.settings_json import settings_json
from lossless.formats.hosts.from_model.tools import tool_of, values as tool_values
from lossless.ground.basics.known import certain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from lossless.model.fabric.hosts import HostQos

SCRIPT = "lossless-roce.sh"
UNIT = "lossless-roce.service"
PLAIN = "lossless-roce.json"
SCRIPT_DIRECTORY = "/usr/local/sbin"
"""The directory from which the unit runs the script."""
TOOL_LIMIT_S = 20
"""Longest that one call of a tool may take. A choice: the slowest, mlxconfig, answers in seconds."""
KILL_AFTER_S = 2
"""How long a tool may take to end after its time limit, before it is killed."""
RUN_LIMIT_S = 600
"""Longest that a run of the script goes on calling tools. A choice: mlnx_qos is called twice for each of 64 DSCPs at
most, half a second each time, on 8 ports: 512 s."""
START_LIMIT_S = RUN_LIMIT_S + KILL_AFTER_S + 28
"""When systemd ends the script: the last call is cut off by then, and no tool is left to wait for."""
STOP_LIMIT_S = 2 * KILL_AFTER_S + 6
"""Time after which systemd kills a unit that it stops: ``timeout`` ends its tool first."""
_DRIVERS: Mapping[str, ModuleType] = {"mlx5": nvidia, "bnxt_re": broadcom}
_ABSENT: Mapping[str, object] = {"openibd": False, "firmware": (), "accelerations": (), "pci_id": None}
"""Values of templates that only some drivers have."""
_MODES = {
    "out_of_order": "what NICs take out of order",
    "selective_repeat": "how NICs send lost packets again",
}


def host_files(qos: HostQos) -> tuple[HostFile, ...]:
    """Return the files that set up a host; no unit where something else applies the settings.

    Raises:
        RenderError: see :func:`context`.
    """
    values = context(qos)
    script = HostFile(SCRIPT, f"hosts/{SCRIPT}.j2", values, executable=True)
    unit = HostFile(UNIT, f"hosts/{UNIT}.j2", values, executable=False)
    data = HostFile(PLAIN, f"hosts/{PLAIN}.j2", {"plain": _plain(qos)}, executable=False)
    return (script, unit, data) if qos.applied_by == "unit" else (script, data)


def context(qos: HostQos) -> Mapping[str, object]:
    """Return the template values of :func:`host_files`.

    ``dscp_priorities`` has 64 digits, the priority of DSCP n at place n, or - where it has none of its own.

    Raises:
        RenderError: the NIC has no profile, or does not support a value.
    """
    driver = driver_of(qos).values(qos)
    named = driver["module"] or f"PCI id {driver['pci_id']}"
    return {
        **_ABSENT,
        **common(qos),
        **driver,
        **tool_values(qos),
        "tool": tool_of(qos),
        "ports_of": f"the driver {named}" if driver["module"] else named,
        "ports_of_one": named,
        "script_path": f"{SCRIPT_DIRECTORY}/{SCRIPT}",
        "tool_limit_s": TOOL_LIMIT_S,
        "kill_after_s": KILL_AFTER_S,
        "run_limit_s": RUN_LIMIT_S,
        "start_limit_s": START_LIMIT_S,
        "stop_limit_s": STOP_LIMIT_S,
    }


def driver_of(qos: HostQos) -> ModuleType:
    """Return the module for the driver of a host's NIC.

    Raises:
        RenderError: the NIC has no profile.
    """
    return _DRIVERS.get(profile(qos).driver, other_drivers)


def unset(qos: HostQos) -> str | None:
    """Return the settings of a host that no file sets, as text; None where all are set."""
    driver = driver_of(qos)
    left = ["DCQCN"] if certain(qos.dcqcn.enabled) and driver is other_drivers else []
    if driver is not nvidia:
        left += [said for mode, said in _MODES.items() if certain(getattr(qos, mode)) is not None]
    if not left:
        return None
    return f"{' and '.join(left)}, which nothing is known of for the driver {profile(qos).driver}"


def _plain(qos: HostQos) -> Mapping[str, object]:
    firmware = nvidia.firmware(qos) if driver_of(qos) is nvidia else ()
    return settings_json(
        qos,
        tool_of(qos),
        driver_of(qos).settings(qos),
        {parameter.name: parameter.value for parameter in firmware},
    )
