"""Values that the host files of every NIC share: the settings of a host as plain, checked values, and as JSON.

Names become shell words and parts of paths, so they are checked here once more, from every source.

The JSON is for configuration management: the settings of a host by name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import certain
from lossless.model.fabric.hosts import NIC_DSCP_PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.model.fabric.hosts import HostQos
    from lossless.model.hardware.devices import NicProfile, Tool


INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
RDMA_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""The pattern of RDMA device names.

IFNAMSIZ is 16 and IB_DEVICE_NAME_MAX 64, both with the final zero (Linux include/uapi).
"""


def profile(qos: HostQos) -> NicProfile:
    """Return the profile of a host's NIC.

    Raises:
        RenderError: it has no profile.
    """
    if qos.nic is None:
        of = (
            f"{qos.nic_name}: no profile says which driver this NIC has"
            if qos.nic_name
            else "its NIC is unknown"
        )
        raise RenderError(f"{of}; no host files for it")
    return qos.nic


def common(qos: HostQos) -> Mapping[str, object]:
    """Return the template values that every script has, for all NICs and tools.

    ``traffic_class`` is empty where the host sets no ToS byte.

    Raises:
        RenderError: a name is not valid, or the NIC has no profile.
    """
    nic, tos = profile(qos), certain(qos.traffic_class)
    return {
        "nic": nic.product,
        "interfaces": _names(qos.interfaces, INTERFACE, "a network interface"),
        "rdma_devices": _names(qos.rdma_devices, RDMA_DEVICE, "an RDMA device"),
        # Each interface or device that is named has to be there by itself.
        "links": 0 if qos.interfaces or qos.rdma_devices else qos.links,
        "mtu_bytes": certain(qos.mtu_bytes),
        "global_pause": "on" if certain(qos.global_pause) else "off",
        "trust": certain(qos.trust),
        "traffic_class": "" if tos is None else str(tos),
        "stall_prevention": nic.stall_prevention,
        "stall_ms": certain(qos.stall_ms),
    }


def dscp_digits(qos: HostQos) -> str:
    """Return 64 digits, the priority of DSCP n at place n.

    A DSCP without a declared priority has DSCP / 8, the default map of NICs, so that a mapping left by an earlier
    configuration is removed.
    """
    declared = dict(certain(qos.dscp_to_priority))
    return "".join(str(declared.get(dscp, own)) for dscp, own in enumerate(NIC_DSCP_PRIORITIES))


def dcqcn_priorities(qos: HostQos) -> tuple[int, ...]:
    """Return the priorities that DCQCN runs on.

    Raises:
        RenderError: DCQCN is on, and would run on no priority.
    """
    priorities = certain(qos.dcqcn_priorities)
    if certain(qos.dcqcn.enabled) and not priorities:
        raise RenderError(
            f"{qos.nic_name}: DCQCN is on, yet it would run on no priority: "
            "none is lossless, and congestion_control.dcqcn.priorities names none"
        )
    return priorities


def cnps(qos: HostQos) -> tuple[int, int]:
    """Return the DSCP and the priority of congestion notifications.

    Raises:
        RenderError: either is unknown.
    """
    dscp, priority = certain(qos.dcqcn.cnp_dscp), certain(qos.dcqcn.cnp_priority)
    if dscp is None or priority is None:
        raise RenderError(f"{qos.nic_name}: DCQCN is on, yet nothing says which DSCP and priority CNPs have")
    return dscp, priority


def roce(qos: HostQos) -> tuple[int, int]:
    """Return the DSCP and the priority of RDMA, for drivers that need one of each.

    Raises:
        RenderError: either is unknown.
    """
    declared, tos = dict(certain(qos.dscp_to_priority)), certain(qos.traffic_class)
    if tos is not None:
        return tos >> 2, declared.get(tos >> 2, tos >> 5)
    lossless = min(certain(qos.pfc_priorities), default=None)
    rdma_dscp = min((dscp for dscp, priority in declared.items() if priority == lossless), default=None)
    if lossless is None or rdma_dscp is None:
        raise RenderError(
            f"{qos.nic_name}: nothing says which DSCP and priority RDMA has: "
            "hosts.traffic_class is unset, and no class with PFC names a DSCP"
        )
    return rdma_dscp, lossless


def _names(names: Iterable[str], pattern: re.Pattern[str], what: str) -> tuple[str, ...]:
    for name in names:
        if not pattern.fullmatch(name):
            raise RenderError(f"{name!r} cannot be the name of {what}")
    return tuple(names)


VERSION = 1
"""Version of the JSON of host settings; names are stable within a version."""


def settings_json(
    qos: HostQos, tool: Tool, parameters: Mapping[str, int], firmware: Mapping[str, int]
) -> Mapping[str, object]:
    """Return the settings of a host for its JSON file; null for a setting that remains unchanged.

    Raises:
        RenderError: DCQCN would run on no priority, or the NIC has no profile.
    """
    nic, ets = profile(qos), certain(qos.ets)
    return {
        "version": VERSION,
        "nic": nic.name,
        "driver": nic.driver,
        "tool": tool,
        "applied_by": certain(qos.applied_by),
        "interfaces": list(qos.interfaces),
        "rdma_devices": list(qos.rdma_devices),
        "mtu_bytes": certain(qos.mtu_bytes),
        "global_pause": certain(qos.global_pause),
        "dcbx": certain(qos.dcbx),
        "trust": certain(qos.trust),
        "dscp_to_priority": [int(digit) for digit in dscp_digits(qos)],
        "pfc_priorities": list(certain(qos.pfc_priorities)),
        "cable_m": certain(qos.cable_m),
        "ets": None if ets is None else {name: list(column) for name, column in ets._asdict().items()},
        "roce_version": 2,
        "traffic_class": certain(qos.traffic_class),
        "stall_prevention_ms": certain(qos.stall_ms),
        "out_of_order": certain(qos.out_of_order),
        "selective_repeat": certain(qos.selective_repeat),
        "congestion_control": {
            "dcqcn": certain(qos.dcqcn.enabled),
            "priorities": list(dcqcn_priorities(qos)),
            "cnp_dscp": certain(qos.dcqcn.cnp_dscp),
            "cnp_priority": certain(qos.dcqcn.cnp_priority),
            "parameters": dict(parameters),
        },
        "firmware": dict(firmware),
    }
