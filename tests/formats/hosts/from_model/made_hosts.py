"""Hosts to render, as the tests of host files want them."""

from __future__ import annotations

from typing import Any

from lossless.formats.device_files.environment import render_template
from lossless.formats.hosts.from_model.scripts import host_files
from lossless.ground.basics.findings import Origin
from lossless.model.fabric.hosts import Dcqcn, HostQos, Jobs
from lossless.model.hardware.load import load_nic

SOMEWHERE = Origin("fabric.yaml")


def dcqcn(**changes: Any) -> Dcqcn:
    """Return DCQCN as ConnectX-7 has it by default, CNPs on DSCP 48 and priority 6."""
    defaults = load_nic("connectx-7").dcqcn
    values = {name.lower(): p.default for name, p in defaults.items() if not name.startswith("CNP_")}
    plain = Dcqcn(True, tuple(sorted(values.items())), (), 48, 6, SOMEWHERE)
    return plain._replace(**changes)


def host(nic: str = "connectx-7", **changes: Any) -> HostQos:
    """Return RDMA on DSCP 26 and priority 3 at 400G over 3 m, but for ``changes``."""
    plain = HostQos(
        nic=load_nic(nic),
        nic_name=nic,
        interfaces=(),
        rdma_devices=(),
        rate_bps=400 * 10**9,
        mtu_bytes=9000,
        cable_m=3,
        dscp_to_priority=((26, 3), (48, 6)),
        pfc_priorities=(3,),
        pfc_origin=SOMEWHERE,
        traffic_class=106,
        traffic_class_origin=SOMEWHERE,
        nccl_tc=None,
        nccl_tc_origin=SOMEWHERE,
        dcqcn=dcqcn(),
        transport=None,
        origin=SOMEWHERE,
        nic_origin=SOMEWHERE,
        mtu_origin=SOMEWHERE,
        jobs=Jobs((), None, None, None, loopback=False),
        stall_ms=100,
    )
    return plain._replace(**changes)


def rendered(qos: HostQos) -> dict[str, str]:
    """Return the text of each file of a host."""
    return {file.path: render_template(file.template, file.context) for file in host_files(qos)}


def script(qos: HostQos) -> str:
    """Return the script of a host."""
    return rendered(qos)["lossless-roce.sh"]
