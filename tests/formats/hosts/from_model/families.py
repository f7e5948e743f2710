"""A host of every family, as tests of host files want them: a driver, and a tool that sets it up."""

from __future__ import annotations

from typing import Any

from lossless.model.fabric.hosts import Ets, HostQos
from lossless.model.hardware.load import load_nic
from tests.formats.hosts.from_model.made_hosts import dcqcn, host

SHARED = Ets((0, 0, 0, 1, 0, 0, 0, 2), ("ets", "ets", *(("strict",) * 6)), (60, 40, *((0,) * 6)))
MAP = tuple((dscp, {26: 3, 48: 7}.get(dscp, 0)) for dscp in range(64))


def broadcom(**changes: Any) -> HostQos:
    """Return a host with a Thor 2: RDMA on DSCP 26 and priority 3, CNPs on DSCP 48 and priority 7."""
    plain = {"dscp_to_priority": MAP, "traffic_class": 104, "stall_ms": None, "ets": SHARED, "tool": "dcb"}
    cnps = dcqcn(values=(), cnp_priority=7)
    return host("broadcom-thor-2", **{**plain, "dcqcn": cnps, **changes})


def mlx5_by_dcb(**changes: Any) -> HostQos:
    """Return a host with a ConnectX-7 whose kernel's own driver is set by iproute2."""
    return host(**{"tool": "dcb", "ets": SHARED, "dscp_to_priority": MAP, **changes})


def other(**changes: Any) -> HostQos:
    """Return a host with a NIC of a driver that this program does not know."""
    nic = load_nic("broadcom-thor-2")._replace(
        name="e810", product="E810", driver="irdma", pci_id="8086:1592"
    )
    plain = {"dscp_to_priority": MAP, "stall_ms": None, "ets": SHARED, "tool": "dcb"}
    return host(**{**plain, **changes})._replace(nic=nic, nic_name="e810")


KINDS: dict[str, HostQos] = {
    "plain": host(),
    "named": host(
        interfaces=("ens1f0np0", "ens2f0np0"),
        rdma_devices=("mlx5_0", "mlx5_1"),
        dscp_to_priority=((24, 5), (26, 5), (46, 6)),
        pfc_priorities=(5,),
        traffic_class=None,
        dcqcn=dcqcn(cnp_dscp=46, stated=("rpg_ai_rate",)),
        out_of_order=True,
        selective_repeat=False,
    ),
    "pfc-only": host("bluefield-3", dcqcn=dcqcn(enabled=False), pfc_priorities=(3, 4), cable_m=40),
    "connectx-dcb": mlx5_by_dcb(),
    "thor-dcb": broadcom(),
    "thor-niccli": broadcom(tool="niccli"),
    "thor-pfc-only": broadcom(dcqcn=dcqcn(enabled=False, values=()), trust="pcp", ets=SHARED),
    "other-dcb": other(),
    "other-named": other(interfaces=("ens1f0", "ens1f1"), ets=None, traffic_class=None),
}
"""By the folder of their goldens."""
