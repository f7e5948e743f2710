"""What every host's NICs must be set to, derived from the classes and the NIC profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.fabric.hosts import Dcqcn, HostQos, Transport
from lossless.fabric.model import CongestionControl

if TYPE_CHECKING:
    from lossless.hardware.model import NicProfile
    from lossless.intent.load import LoadedIntent

ECT0 = 0b10
"""ECN-capable transport in the two low bits of the ToS byte (RFC 3168, section 5)."""
_PER_UNIT = {"us": 1000, "Mb/s": 10**6}
"""How many of our base units (ns, b/s) one firmware unit is."""


def congestion_control(loaded: LoadedIntent, nic: NicProfile) -> CongestionControl:
    """Return the declared congestion control, and the DSCP that CNPs carry under it."""
    policy = loaded.intent.congestion_control
    cnp_dscp = _cnp_dscp(loaded, nic) if policy.kind == "dcqcn" else None
    return CongestionControl(policy.kind, cnp_dscp, loaded.origin("congestion_control"))


def _cnp_dscp(loaded: LoadedIntent, nic: NicProfile) -> int | None:
    """The stated one, else that of the class called cnp, else what the NIC's firmware uses."""
    stated = loaded.intent.congestion_control.dcqcn.cnp_dscp
    if stated is not None:
        return stated
    cls = loaded.intent.classes.get("cnp")
    return cls.dscps[0] if cls and cls.dscps else nic.cnp_dscp


def host_qos(loaded: LoadedIntent, nic: NicProfile, rate_bps: int, cable_m: int) -> HostQos:
    """Return the QoS of hosts whose links have one rate and one cable length."""
    intent, hosts = loaded.intent, loaded.intent.hosts
    lossless = sorted(cls.priority for cls in intent.classes.values() if cls.lossless)
    at_hosts = loaded.origin("hosts")
    return HostQos(
        nic=nic,
        nic_name=nic.name,
        interfaces=hosts.interfaces or (),
        rdma_devices=hosts.rdma_devices or (),
        rate_bps=rate_bps,
        mtu_bytes=hosts.mtu,
        cable_m=cable_m,
        dscp_to_priority=_dscp_to_priority(loaded),
        pfc_priorities=tuple(sorted(set(hosts.pfc))) if hosts.pfc is not None else tuple(lossless),
        pfc_origin=loaded.origin("hosts", "pfc"),
        traffic_class=_traffic_class(loaded),
        traffic_class_origin=loaded.origin("hosts", "traffic_class"),
        nccl_tc=hosts.nccl.ib_tc,
        nccl_tc_origin=loaded.origin("hosts", "nccl", "ib_tc"),
        dcqcn=_dcqcn(loaded, nic),
        transport=Transport(hosts.nccl.ib_timeout, hosts.nccl.ib_retry_count, loaded.origin("hosts", "nccl")),
        origin=at_hosts,
    )


def _dscp_to_priority(loaded: LoadedIntent) -> tuple[tuple[int, int], ...]:
    named = ((dscp, cls.priority) for cls in loaded.intent.classes.values() for dscp in cls.dscps)
    return tuple(sorted(named))


def _traffic_class(loaded: LoadedIntent) -> int | None:
    """Return the ToS byte of RDMA traffic; with several lossless DSCPs none can be derived for all of it."""
    stated = loaded.intent.hosts.traffic_class
    if isinstance(stated, int):
        return stated
    lossless = [dscp for cls in loaded.intent.classes.values() if cls.lossless for dscp in cls.dscps]
    return lossless[0] << 2 | ECT0 if stated == "derived" and lossless else None


def _dcqcn(loaded: LoadedIntent, nic: NicProfile) -> Dcqcn:
    policy = loaded.intent.congestion_control
    stated = _stated(loaded, nic)
    defaults = {name.lower(): p.default for name, p in nic.dcqcn.items() if not name.startswith("CNP_")}
    cnp_dscp = _cnp_dscp(loaded, nic)
    cnp = next((cls for cls in loaded.intent.classes.values() if cnp_dscp in cls.dscps), None)
    priority = policy.dcqcn.cnp_priority
    if priority is None:
        priority = cnp.priority if cnp else nic.cnp_priority
    return Dcqcn(
        enabled=policy.kind == "dcqcn",
        values=tuple(sorted({**defaults, **stated}.items())),
        stated=tuple(sorted(stated)),
        cnp_dscp=cnp_dscp,
        cnp_priority=priority,
        origin=loaded.origin("congestion_control", "dcqcn"),
    )


def _stated(loaded: LoadedIntent, nic: NicProfile) -> dict[str, int]:
    """Return the DCQCN parameters that the intent gives, in the units of the firmware."""
    given = loaded.intent.congestion_control.dcqcn.model_dump(exclude_none=True)
    given.pop("cnp_dscp", None)
    given.pop("cnp_priority", None)
    if "cnp_interval" in given:
        given["min_time_between_cnps"] = given.pop("cnp_interval")
    units = {name.lower(): parameter.unit for name, parameter in nic.dcqcn.items()}
    return {name: int(value) // _PER_UNIT.get(units.get(name, ""), 1) for name, value in given.items()}
