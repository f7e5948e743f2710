"""A snapshot of one interface of a host, as its tools print what an intent wants of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.nvidia import PARAMETERS

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import HostQos

INTERFACE = "eth2"
DEVICE = "mlx5_0"
_GIDS = ("IB/RoCE v1", "RoCE v2", "IB/RoCE v1", "RoCE v2")


def snapshot(host: str, want: HostQos, neighbor: tuple[str, str] | None = None) -> str:
    """Return what is read on a host that is set up as wanted; LLDP names the switch and port it is attached to."""
    sections = {
        "files": _files(want),
        f"mlnx_qos -i {INTERFACE}": _mlnx_qos(want),
        f"ethtool -a {INTERFACE}": f"Pause parameters for {INTERFACE}:\nAutonegotiate: off\nRX: off\nTX: off\n",
        f"ethtool --get-tunable {INTERFACE} pfc-prevention-tout": f"pfc-prevention-tout: {want.stall_ms}\n",
        "nccl.conf": "".join(f"{one.name}={one.value}\n" for one in want.jobs.variables),
    }
    if neighbor is not None:
        chassis, port = neighbor
        lldp = f"lldp.{INTERFACE}.chassis.name={chassis}\nlldp.{INTERFACE}.port.ifname={port}\n"
        sections["lldpctl -f keyvalue"] = lldp
    parts = "".join(f"==> {title}\n{text}\n" for title, text in sections.items())
    return f"# lossless host facts 1\n# host {host}\n{parts}==> end\n"


def _files(want: HostQos) -> str:
    net, rdma = f"/sys/class/net/{INTERFACE}", f"/sys/class/infiniband/{DEVICE}"
    cm = f"/sys/kernel/config/rdma_cm/{DEVICE}/ports/1"
    rate = want.rate_bps // 10**6 if isinstance(want.rate_bps, int) else 0
    lines = {
        f"{net}/mtu": want.mtu_bytes,
        f"{net}/speed": rate,
        f"{net}/device/driver": "mlx5_core",
        f"{net}/device/vendor": "0x15b3",
        f"{net}/device/device": "0x1021",
        f"{net}/device/infiniband": DEVICE,
        f"{rdma}/tc/1/traffic_class": f"Global tclass={want.traffic_class}",
        f"{cm}/default_roce_tos": want.traffic_class,
        f"{cm}/default_roce_mode": "RoCE v2",
    }
    on = want.pfc_priorities if isinstance(want.pfc_priorities, tuple) else ()
    for point in ("rp", "np"):
        lines |= {f"{net}/ecn/roce_{point}/enable/{p}": int(p in on) for p in range(8)}
    values = {
        **dict(want.dcqcn.values),
        "cnp_dscp": want.dcqcn.cnp_dscp,
        "cnp_802p_prio": want.dcqcn.cnp_priority,
    }
    lines |= {f"{net}/ecn/{PARAMETERS[name][0]}": value for name, value in values.items()}
    lines |= {f"{rdma}/ports/1/gid_attrs/types/{index}": kind for index, kind in enumerate(_GIDS)}
    return "".join(f"{path} = {value}\n" for path, value in lines.items())


def _mlnx_qos(want: HostQos) -> str:
    mapped = want.dscp_to_priority if isinstance(want.dscp_to_priority, tuple) else ()
    paused = want.pfc_priorities if isinstance(want.pfc_priorities, tuple) else ()
    rows = "".join(f"\tprio:{priority} dscp:{dscp:02},\n" for dscp, priority in mapped)
    enabled = "".join(f"{int(priority in paused):<4}" for priority in range(8))
    shares = "".join(f"tc: {tc} ratelimit: unlimited, tsa: vendor\n\t priority:  {tc}\n" for tc in range(8))
    return (
        "DCBX mode: OS controlled\n"
        f"Priority trust state: {want.trust}\n"
        f"dscp2prio mapping:\n{rows}"
        f"Cable len: {want.cable_m}\n"
        "PFC configuration:\n"
        "\tpriority    0   1   2   3   4   5   6   7\n"
        f"\tenabled     {enabled}\n"
        f"{shares}"
    )
