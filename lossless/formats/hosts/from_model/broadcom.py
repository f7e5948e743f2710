"""Host files for Broadcom NICs (driver bnxt_re): the settings of the driver beside those of every NIC.

Congestion control is set in configfs, in a folder that exists while a process uses it: files below ``cc`` accept
hexadecimal numbers and store them, writing 1 to ``apply`` sends them to the firmware, and reading ``apply``
prints the values of the firmware (bnxt_re/configfs.c in lykeioner/driver @bcef51d). Firmware with service profiles
refuses priorities there, and takes them with the DSCPs from DCB; it alone has a TC for CNPs
(bnxt_setupcc.sh 236.1.155.0). ``ecn_marking`` 1 is ECT(1), ``cc_mode`` 1 is DCQCN with probabilities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.settings import cnps, dcqcn_priorities, roce
from lossless.ground.basics.records import certain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.model.fabric.hosts import HostQos

Row = tuple[str, str, str, str]
_CNP_TC = 2


def values(qos: HostQos) -> Mapping[str, object]:
    """Return the template values of bnxt_re's part of a host's script.

    Each row of ``congestion_control`` has a file below ``cc``, its name in the output of ``apply``, its value, and that
    value as ``apply`` prints it.

    Raises:
        RenderError: the DSCP or priority of RDMA or CNPs is unknown, or DCQCN would run on no priority.
    """
    dcqcn_priorities(qos)
    return {
        "driver_part": "bnxt_re",
        "module": "bnxt_en",
        "rdma_module": "bnxt_re",
        "congestion_control": _always(qos),
        "without_profiles": _without_profiles(qos),
        "prio_tc_without_profiles": _prio_tc_without_profiles(qos),
    }


def settings(qos: HostQos) -> Mapping[str, int]:
    """Return the congestion control settings of bnxt_re by their file below ``cc``.

    Raises:
        RenderError: the DSCP or priority of RDMA or CNPs is unknown.
    """
    return {name: int(value, 16) for name, _, value, _ in (*_always(qos), *_without_profiles(qos))}


def _always(qos: HostQos) -> tuple[Row, ...]:
    on, by_dscp = certain(qos.dcqcn.enabled), certain(qos.trust) == "dscp"
    mode: tuple[Row, ...] = (("cc_mode", "(cc_mode)", "0x1", "DCQCN-P"),) if on else ()
    return (
        ("disable_prio_vlan_tx", "(VLAN 0)", hex(by_dscp), "Disabled" if by_dscp else "Enabled"),
        ("ecn_marking", "(ecn_marking)", hex(on), "ECT(1)" if on else "Not-ECT"),
        ("ecn_enable", "(ecn_enable)", hex(on), "Enabled" if on else "Disabled"),
        *mode,
    )


def _without_profiles(qos: HostQos) -> tuple[Row, ...]:
    dscp, priority = roce(qos)
    rows = {"roce_prio": priority, "roce_dscp": dscp}
    if certain(qos.dcqcn.enabled):
        cnp_dscp, cnp_priority = cnps(qos)
        rows = {"cnp_prio": cnp_priority, **rows, "cnp_dscp": cnp_dscp}
    return tuple((name, f"({name})", hex(value), str(value)) for name, value in rows.items())


def _prio_tc_without_profiles(qos: HostQos) -> str:
    ets = certain(qos.ets)
    tcs = () if ets is None else ets.priority_to_tc
    return " ".join(f"{priority}:{0 if tc == _CNP_TC else tc}" for priority, tc in enumerate(tcs))
