"""The settings of a host as JSON, for configuration management: each setting once, its unit in its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.settings import dcqcn_priorities, dscp_digits, profile
from lossless.ground.basics.known import certain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.hosts import HostQos
    from lossless.model.hardware.nic import Tool

VERSION = 1
"""Version of the file format; names are stable within a version."""


def settings_json(
    qos: HostQos, tool: Tool, parameters: Mapping[str, int], firmware: Mapping[str, int]
) -> Mapping[str, object]:
    """Return every setting of a host; null for a setting that remains unchanged.

    Raises:
        RenderError: DCQCN would run on no priority.
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
