"""The tools that set trust, DSCP map, PFC and ETS on a host, and the template values for each.

* ``mlnx_qos`` kept nothing across calls until 2024: ``--cable_len`` alone wrote an empty PFC mask, ``--pfc`` alone no
  cable length, so both are in one call; since @83b87d9 each leaves the other unchanged. ``--trust`` and
  ``--dscp2prio`` exclude each other (Mellanox/mlnx-tools python/mlnx_qos @088fadb).
* ``dcb`` of iproute2 reads before it writes, and keeps entries that a call does not name: hence ``app replace`` and
  whole lists (iproute2 dcb/dcb_app.c @00d59f4, dcb_ets.c @12d41d0; pmachata/iproute2 dcb/dcb_pfc.c @cecd504). Its
  ``apptrust`` is younger (dcb_apptrust.c @21f88a0); the script checks for it.
* ``niccli`` takes one priority for PFC, TCs by their traffic, and applications one by one
  (bnxt_setupcc.sh 236.1.155.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.settings import dscp_digits, profile, roce
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.known import certain
from lossless.model.fabric.hosts import NIC_DSCP_PRIORITIES
from lossless.model.fabric.priorities import priority_flags
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lossless.model.fabric.hosts import Ets, HostQos
    from lossless.model.hardware.nic import Tool

Values = dict[str, object]
_DCB_ALONE = "dcb comes with iproute2"
_NO_PFC = "0xFF"
"""The argument of niccli for no priority at all."""


def tool_of(qos: HostQos) -> Tool:
    """Return the tool that sets a host's NICs up.

    Raises:
        RenderError: the tool does not support the NIC.
    """
    nic = profile(qos)
    tool = qos.tool or nic.tools[0]
    if tool not in nic.tools:
        raise RenderError(f"{nic.name}: {tool} cannot set this NIC; expected {' or '.join(nic.tools)}")
    return tool


def values(qos: HostQos) -> Mapping[str, object]:
    """Return the template values of the tool's parts of a script.

    Raises:
        RenderError: the tool does not support a value.
    """
    return _MAKERS[tool_of(qos)](qos)


def _mlnx_qos(qos: HostQos) -> Values:
    return {
        "connection_manager": "cma",
        "need": ("mlnx_qos", "cma_roce_mode"),
        "come_with": "mlnx_qos and cma_roce_* come with MLNX_OFED, DOCA and mlnx-tools",
        "dcbx": "os" if certain(qos.dcbx) == "os" else "fw",
        "dscp_priorities": dscp_digits(qos),
        "default_priorities": "".join(map(str, NIC_DSCP_PRIORITIES)),
        "pfc_mask": ",".join(priority_flags(certain(qos.pfc_priorities))),
        "cable_m": certain(qos.cable_m),
        "ets": None,
    }


def _dcb(qos: HostQos) -> Values:
    driver, ets = profile(qos).driver, certain(qos.ets)
    by_priority = priority_flags(certain(qos.pfc_priorities))
    return {
        "connection_manager": "configfs",
        "need": ("dcb",),
        "come_with": _DCB_ALONE,
        "dscp_priorities": _dcb_map(qos),
        "prio_pfc": _pairs("on" if flag == "1" else "off" for flag in by_priority),
        "delay": certain(qos.cable_m) if driver == "mlx5" else None,
        "ets": None if ets is None else _ets(ets),
        "roce_priority": roce(qos)[1] if driver == "bnxt_re" else None,
    }


def _niccli(qos: HostQos) -> Values:
    ets, paused = certain(qos.ets), certain(qos.pfc_priorities)
    if ets is None:
        raise RenderError(f"{qos.nic_name}: nothing says which traffic classes niccli must make")
    if len(paused) > 1:
        named = ", ".join(map(str, paused))
        raise RenderError(f"{qos.nic_name}: niccli is known to pause one priority, not {named}")
    return {
        "connection_manager": "configfs",
        "need": ("niccli",),
        "come_with": "niccli comes from Broadcom, with the driver",
        "dscp_priorities": _unlisted(dscp_digits(qos)),
        "pfc_priority": str(paused[0]) if paused else _NO_PFC,
        "ets": _ets(ets),
        "roce_priority": roce(qos)[1],
    }


_MAKERS: Mapping[Tool, Callable[[HostQos], Values]] = {"mlnx_qos": _mlnx_qos, "dcb": _dcb, "niccli": _niccli}


def _dcb_map(qos: HostQos) -> str:
    """Return the DSCP map for dcb; without entries for a NIC that trusts VLAN tags, since mapped DSCPs would win."""
    digits = dscp_digits(qos)
    if certain(qos.trust) == "pcp":
        return "-" * len(digits)
    return _unlisted(digits) if profile(qos).driver == "bnxt_re" else digits


def _unlisted(digits: str) -> str:
    """Return a map for a driver in which a DSCP without a priority has 0: dcb then does not list it."""
    return digits.replace("0", "-")


def _ets(ets: Ets) -> Mapping[str, str]:
    return {
        "prio_tc": _pairs(ets.priority_to_tc),
        "tc_tsa": _pairs(ets.tsa),
        "tc_bw": _pairs(ets.bandwidth_percent),
    }


def _pairs(values: Iterable[object]) -> str:
    return " ".join(f"{number}:{value}" for number, value in zip(PRIORITIES, values, strict=True))
