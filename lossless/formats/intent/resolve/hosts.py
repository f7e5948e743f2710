"""Resolves the required settings of host NICs from the classes and the NIC profile, the environment of jobs, and GPUs.

Bandwidth shares are percentages of the traffic classes of a NIC. The environment has variables that an intent
declares, and those derived from the fabric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.problems import in_file_order
from lossless.ground.basics.errors import InputError
from lossless.model.fabric.cluster import Cluster, ScaleUp
from lossless.model.fabric.hosts import Dcqcn, Ets, HostQos, Jobs, Library, Transport, Variable
from lossless.model.fabric.model import CongestionControl
from lossless.model.fabric.qos import DSCPS
from lossless.model.hardware.devices import NVLINK, UALINK_MOST_GPUS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.formats.intent.classes import TrafficClassIntent
    from lossless.formats.intent.jobs import ClusterIntent
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.hosts import Tsa
    from lossless.model.hardware.devices import NicProfile, Parameter, Tool


def resolved_cluster(declared: ClusterIntent | None, origin: Origin) -> Cluster | None:
    """Return the GPU cluster of an intent of any transport, None where it declares none; ``origin`` is its section."""
    if declared is None:
        return None
    return Cluster(
        gpus_per_host=declared.gpus_per_host,
        nics_per_host=declared.nics_per_host,
        gpus=declared.gpus,
        rails=declared.rails,
        bandwidth_bps=declared.bandwidth_per_gpu,
        scale_up=_scale_up(declared, origin),
        origin=origin,
    )


def _scale_up(declared: ClusterIntent, origin: Origin) -> ScaleUp | None:
    if declared.nvlink is not None:
        nvlink, number = NVLINK[declared.nvlink.generation], declared.nvlink.generation
        at = origin.at("nvlink")
        return ScaleUp(f"NVLink {number}", declared.nvlink.domain, nvlink.rate_bps, nvlink.most_gpus, at)
    if declared.ualink is not None:
        at = origin.at("ualink")
        return ScaleUp("UALink", declared.ualink.domain, declared.ualink.rate, UALINK_MOST_GPUS, at)
    return None


_TCS = 8
_WHOLE = 100
_BNXT_ROCE_PERCENT = 50
"""The default share of RoCE in Broadcom's own script (bnxt_setupcc.sh 236.1.155.0)."""
Groups = tuple[tuple["TrafficClassIntent", ...], ...]


def shares(loaded: LoadedIntent, nic: NicProfile, tool: Tool, cnp_dscp: int | None) -> Ets | None:
    """Return the ETS settings of a NIC, its TCs and their bandwidth shares; None where none are set.

    mlx5 pauses by priority and needs none, so ``mlnx_qos`` leaves them unchanged. bnxt_re has fixed TCs: 1 for RoCE, 2
    for CNPs, 0 for the rest. Elsewhere every class has its own TC, the class ``rest`` first, where the declared shares
    sum to 100%.
    """
    classes = list(loaded.intent.classes.values())
    if tool == "mlnx_qos":
        return None
    if nic.driver == "bnxt_re":
        return _by_role(classes, cnp_dscp)
    ordered = sorted(classes, key=lambda cls: (not cls.rest, not cls.lossless, cls.priority))
    percent = _stated_shares(ordered)
    strict = tuple(cls.scheduling == "strict" for cls in ordered)
    return None if percent is None else _ets(tuple((cls,) for cls in ordered), percent, strict)


def _by_role(classes: Sequence[TrafficClassIntent], cnp_dscp: int | None) -> Ets:
    roce = tuple(cls for cls in classes if cls.lossless)
    cnps = tuple(cls for cls in classes if not cls.lossless and cnp_dscp in cls.dscps)
    rest = tuple(cls for cls in classes if cls not in roce and cls not in cnps)
    given = _stated_shares(classes)
    percent = _BNXT_ROCE_PERCENT
    if given is not None and roce:
        percent = sum(share for cls, share in zip(classes, given, strict=True) if cls in roce)
    return _ets((rest, roce, cnps), (_WHOLE - percent, percent, 0), (False, False, True))


def _stated_shares(classes: Sequence[TrafficClassIntent]) -> tuple[int, ...] | None:
    """Return the bandwidth percentage of each class, None where a DWRR class has none or they do not sum to 100%."""
    percent = tuple(cls.bandwidth or 0 for cls in classes)
    unsaid = any(cls.bandwidth is None and cls.scheduling != "strict" for cls in classes)
    return None if unsaid or sum(percent) != _WHOLE else percent


def _ets(groups: Groups, percent: Sequence[int], strict: Sequence[bool]) -> Ets:
    """Return the ETS settings with one TC for each group of classes, from 0; priorities of no class are in TC 0."""
    by_priority = {cls.priority: tc for tc, group in enumerate(groups) for cls in group}
    unused = _TCS - len(groups)
    tsa: list[Tsa] = ["strict" if alone else "ets" for alone in (*strict, *(True,) * unused)]
    return Ets(
        priority_to_tc=tuple(by_priority.get(priority, 0) for priority in range(_TCS)),
        tsa=tuple(tsa),
        bandwidth_percent=(*percent, *((0,) * unused)),
    )


ECT0 = 0b10
"""ECN-capable transport in the two low bits of the ToS byte (RFC 3168, section 5)."""
ROCE_V2 = 2
"""The RoCE version with an IP header, and so a DSCP (InfiniBand Architecture Specification, annex A17)."""
_STATED = ("trust", "dcbx", "global_pause", "pfc_prevention", "reorder", "retransmission")
"""Settings of hosts whose origins are kept, to compare with the settings read from a host."""
_PER_UNIT = {"us": 1000, "Mb/s": 10**6}
"""Factors from units of the firmware to the units of an intent's values (ns, b/s)."""


def congestion_control(loaded: LoadedIntent, nic: NicProfile) -> CongestionControl:
    """Return the declared congestion control with the DSCP of CNPs, None without DCQCN or where it is unknown."""
    policy = loaded.intent.congestion_control
    cnp_dscp = _cnp_dscp(loaded, nic) if policy.kind == "dcqcn" else None
    return CongestionControl(
        policy.kind, cnp_dscp, loaded.origin("congestion_control"), loaded.intent.transport
    )


def _cnp_dscp(loaded: LoadedIntent, nic: NicProfile) -> int | None:
    """Return the declared DSCP of CNPs, else that of the class ``cnp``, else the default of the NIC's firmware."""
    stated = loaded.intent.congestion_control.dcqcn.cnp_dscp
    if stated is not None:
        return stated
    cls = loaded.intent.classes.get("cnp")
    return cls.dscps[0] if cls and cls.dscps else nic.cnp_dscp


def host_qos(
    loaded: LoadedIntent, nic: NicProfile, nic_origin: Origin, rate_bps: int, cable_m: int
) -> HostQos:
    """Return the QoS of hosts with one adapter, one link rate and one cable length."""
    hosts = loaded.intent.hosts
    at_hosts, tool = loaded.origin("hosts"), _tool(loaded, nic)
    return HostQos(
        nic=nic,
        nic_name=nic.name,
        interfaces=hosts.interfaces or (),
        rdma_devices=hosts.rdma_devices or (),
        rate_bps=rate_bps,
        mtu_bytes=hosts.mtu,
        cable_m=cable_m,
        dscp_to_priority=_dscp_to_priority(loaded),
        pfc_priorities=_pfc_priorities(loaded),
        pfc_origin=loaded.origin("hosts", "pfc"),
        traffic_class=_traffic_class(loaded, nic),
        traffic_class_origin=loaded.origin("hosts", "traffic_class"),
        nccl_tc=hosts.nccl.ib_tc,
        nccl_tc_origin=loaded.origin("hosts", "nccl", "ib_tc"),
        dcqcn=_dcqcn(loaded, nic),
        transport=Transport(hosts.nccl.ib_timeout, hosts.nccl.ib_retry_count, loaded.origin("hosts", "nccl")),
        origin=at_hosts,
        nic_origin=nic_origin,
        mtu_origin=loaded.origin("hosts", "mtu"),
        jobs=_jobs(loaded, _traffic_class(loaded, nic)),
        stall_ms=_stall_ms(loaded, nic),
        trust=hosts.trust,
        dcbx=hosts.dcbx,
        global_pause=hosts.global_pause,
        applied_by=hosts.applied_by,
        driver=nic.driver,
        roce_version=ROCE_V2,
        out_of_order=_asked(loaded, loaded.intent.hosts.reorder, "none"),
        selective_repeat=_asked(loaded, loaded.intent.hosts.retransmission, "go-back-n"),
        ets=shares(loaded, nic, tool, _cnp_dscp(loaded, nic)),
        tool=tool,
        origins=(
            *((key, loaded.origin("hosts", key)) for key in _STATED),
            ("dscp_to_priority", loaded.origin("classes")),
        ),
    )


def _tool(loaded: LoadedIntent, nic: NicProfile) -> Tool:
    stated = loaded.intent.hosts.tool
    return nic.tools[0] if stated == "auto" else stated


def _pfc_priorities(loaded: LoadedIntent) -> tuple[int, ...]:
    """Return the NICs' priorities with PFC: those declared for hosts, else lossless ones, none on links without PFC."""
    intent = loaded.intent
    if intent.hosts.pfc is not None:
        return tuple(sorted(set(intent.hosts.pfc)))
    tiers = intent.pfc.tiers if intent.pfc else None
    if tiers is not None and "hosts" not in tiers:
        return ()
    return tuple(sorted(cls.priority for cls in intent.classes.values() if cls.lossless))


def _stall_ms(loaded: LoadedIntent, nic: NicProfile) -> int | None:
    stated = loaded.intent.hosts.pfc_prevention
    if nic.stall_prevention is None:
        return None
    return nic.stall_prevention.auto_ms if stated == "auto" else stated


def _asked(loaded: LoadedIntent, stated: object, off: str) -> bool | None:
    """Return whether the intent enables a mode of RoCE NICs, None where it is not declared or NICs have no RoCE."""
    if stated is None or loaded.intent.transport != "rocev2":
        return None
    return stated != off


def _jobs(loaded: LoadedIntent, tos: int | None) -> Jobs:
    hosts = loaded.intent.hosts
    stated = variables(loaded, tos)
    given = {variable.name: variable.value for variable in stated}
    timeout_ms = None if hosts.job_timeout is None else hosts.job_timeout // 10**6
    return Jobs(
        libraries=tuple(_libraries(loaded)),
        fifo_tc=hosts.nccl.ib_fifo_tc,
        qps_per_connection=hosts.nccl.ib_qps_per_connection,
        timeout_ms=timeout_ms,
        loopback=hosts.loopback_rdma,
        gid_index=hosts.nccl.ib_gid_index,
        hca=given.get("NCCL_IB_HCA"),
        socket_interfaces=given.get("NCCL_SOCKET_IFNAME"),
        ucx_devices=given.get("UCX_NET_DEVICES"),
        variables=stated,
    )


def _libraries(loaded: LoadedIntent) -> Iterator[Library]:
    """Yield the communication libraries of jobs with their ToS bytes, beside NCCL's host-driven queue pairs."""
    hosts = loaded.intent.hosts
    if hosts.ucx is not None:
        tos, at = hosts.ucx.traffic_class, loaded.origin("hosts", "ucx")
        yield Library("UCX", "UCX_IB_TRAFFIC_CLASS", tos, False, _written(at, "traffic_class", tos))
    if hosts.mori is not None:
        tos, at = hosts.mori.traffic_class, loaded.origin("hosts", "mori")
        yield Library("MORI", "MORI_RDMA_TC", tos, True, _written(at, "traffic_class", tos))
    nccl, at = hosts.nccl, loaded.origin("hosts", "nccl")
    if nccl.gin_ib_tc is not None:
        yield Library("NCCL GIN", "NCCL_GIN_IB_TC", nccl.gin_ib_tc, True, at.at("gin_ib_tc"))
    elif nccl.gin:
        # It falls back to the byte of NCCL's other queue pairs (NVIDIA/nccl src/transport/net_ib/gin.cc).
        origin = at.at("gin" if nccl.ib_tc is None else "ib_tc")
        yield Library("NCCL GIN", "NCCL_IB_TC", nccl.ib_tc, True, origin)


def _written(origin: Origin, key: str, value: object) -> Origin:
    return origin if value is None else origin.at(key)


def _dscp_to_priority(loaded: LoadedIntent) -> tuple[tuple[int, int], ...]:
    """Return the priority of every DSCP: that of its class, which may differ from the default of NICs, DSCP / 8."""
    classes = loaded.intent.classes.values()
    named = {dscp: cls.priority for cls in classes for dscp in cls.dscps}
    rest = next(cls.priority for cls in classes if cls.rest)
    return tuple((dscp, named.get(dscp, rest)) for dscp in DSCPS)


def _traffic_class(loaded: LoadedIntent, nic: NicProfile) -> int | None:
    """Return the ToS byte of RDMA traffic, None where it is ``unset`` or no class gives one.

    It is derived from the first DSCP of the lossless class with the lowest priority; without a lossless class, of the
    lossy class that DCQCN runs on. One byte serves a whole host: jobs whose traffic belongs in another lossless class
    must set their own. Its ECN bits are ECT(0), except for bnxt_re: there ``ecn_marking`` sets them, and Broadcom's
    script leaves them out here.
    """
    stated = loaded.intent.hosts.traffic_class
    if isinstance(stated, int):
        return stated
    first = min(_rdma_classes(loaded), key=lambda cls: cls.priority, default=None)
    if first is None or stated != "derived":
        return None
    return first.dscps[0] << 2 | (0 if nic.driver == "bnxt_re" else ECT0)


def _rdma_classes(loaded: LoadedIntent) -> list[TrafficClassIntent]:
    """Return the classes of RDMA that have DSCPs: the lossless ones, else those that DCQCN is configured on."""
    classes = [cls for cls in loaded.intent.classes.values() if cls.dscps]
    stated = loaded.intent.congestion_control.dcqcn.priorities or ()
    return [cls for cls in classes if cls.lossless] or [cls for cls in classes if cls.priority in stated]


def _dcqcn(loaded: LoadedIntent, nic: NicProfile) -> Dcqcn:
    policy = loaded.intent.congestion_control
    stated = _stated_dcqcn(loaded, nic)
    defaults = {name.lower(): p.default for name, p in nic.dcqcn.items() if not name.startswith("CNP_")}
    cnp_dscp = _cnp_dscp(loaded, nic)
    priority = policy.dcqcn.cnp_priority
    if priority is None:
        priority = nic.cnp_priority if cnp_dscp is None else dict(_dscp_to_priority(loaded))[cnp_dscp]
    return Dcqcn(
        enabled=policy.kind == "dcqcn",
        values=tuple(sorted({**defaults, **stated}.items())),
        stated=tuple(sorted(stated)),
        cnp_dscp=cnp_dscp,
        cnp_priority=priority,
        origin=loaded.origin("congestion_control", "dcqcn"),
        priorities=_dcqcn_priorities(loaded),
    )


def _dcqcn_priorities(loaded: LoadedIntent) -> tuple[int, ...] | None:
    """Return the priorities that DCQCN runs on, None for those with PFC.

    They are the declared ones, or those of lossless classes where links to hosts have no PFC.
    """
    stated = loaded.intent.congestion_control.dcqcn.priorities
    if stated is not None:
        return tuple(sorted(set(stated)))
    if _pfc_priorities(loaded) or loaded.intent.hosts.pfc is not None:
        return None
    return tuple(sorted(cls.priority for cls in loaded.intent.classes.values() if cls.lossless)) or None


def check_nics(loaded: LoadedIntent, nics: Iterable[NicProfile]) -> None:
    """Check that each NIC profile and its tool support the host settings of the intent.

    Raises:
        InputError: every setting that a NIC or its tool lacks, that is finer than its unit or outside its known range,
            and every NIC whose interfaces are unknown.
    """
    problems = [
        problem
        for nic in {nic.name: nic for nic in nics}.values()
        for problem in (
            *_unfit_dcqcn(loaded, nic),
            *_unfit_prevention(loaded, nic),
            *_unfit_tool(loaded, nic),
            *_not_found(loaded, nic),
        )
    ]
    if problems:
        raise InputError(in_file_order(problems))


def _unfit_dcqcn(loaded: LoadedIntent, nic: NicProfile) -> Iterator[Problem]:
    known = _parameters(nic)
    for key, name, value in _given(loaded):
        why = _unfit(known[name], value) if name in known else "has no such parameter that is known"
        if why is not None:
            origin = loaded.origin("congestion_control", "dcqcn", key)
            yield loaded.problem(origin, f"congestion_control.dcqcn.{key}: {nic.name} {why}")


def _unfit_prevention(loaded: LoadedIntent, nic: NicProfile) -> Iterator[Problem]:
    stated, known = loaded.intent.hosts.pfc_prevention, nic.stall_prevention
    if not isinstance(stated, int) or stated == 0:
        return
    why = None if known else "has no such setting that is known"
    if known and not known.minimum_ms <= stated <= known.maximum_ms:
        why = f"takes {known.minimum_ms:,} to {known.maximum_ms:,} ms, not {stated:,}"
    if why is not None:
        origin = loaded.origin("hosts", "pfc_prevention")
        yield loaded.problem(origin, f"hosts.pfc_prevention: {nic.name} {why}")


def _unfit_tool(loaded: LoadedIntent, nic: NicProfile) -> Iterator[Problem]:
    """Yield the problem of a tool that cannot set a NIC as the intent declares, at most one."""
    hosts, tool, origin = loaded.intent.hosts, _tool(loaded, nic), loaded.origin("hosts", "tool")
    if tool not in nic.tools:
        fits = " or ".join(nic.tools)
        yield loaded.problem(origin, f"hosts.tool: {tool} cannot set {nic.name}; expected {fits}")
    elif tool == "niccli" and len(_pfc_priorities(loaded)) > 1:
        priorities = ", ".join(map(str, _pfc_priorities(loaded)))
        message = f"hosts.tool: niccli is known to pause one priority, not {priorities}; expected dcb"
        yield loaded.problem(origin, message)
    elif tool == "niccli" and hosts.trust != "dscp":
        yield loaded.problem(origin, "hosts.tool: niccli sorts by DSCP alone; expected dcb, or trust: dscp")
    elif tool != "mlnx_qos" and hosts.dcbx == "firmware":
        message = f"hosts.dcbx: {tool} sets what firmware that speaks DCBX would write over; expected os"
        yield loaded.problem(loaded.origin("hosts", "dcbx"), message)


def _not_found(loaded: LoadedIntent, nic: NicProfile) -> Iterator[Problem]:
    """Yield a problem where neither the profile nor the intent identifies the interfaces of a NIC."""
    hosts = loaded.intent.hosts
    known = len(nic.tools) > 1 or nic.pci_id is not None
    if not known and not hosts.interfaces and not hosts.rdma_devices:
        message = f"hosts.interfaces is missing: the profile of {nic.name} has no pci_id to find its ports by"
        yield loaded.problem(loaded.origin("hardware", "nic"), message)


def _unfit(parameter: Parameter, value: int) -> str | None:
    """Return why a NIC cannot have a DCQCN parameter of this value, None where no reason is known.

    A time is in ns, a rate in b/s.
    """
    count, rest = divmod(value, _PER_UNIT.get(parameter.unit, 1))
    if rest:
        return f"counts in whole {parameter.unit}"
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None and not low <= count <= high:
        return f"takes {low:,} to {high:,} {_spoken_unit(parameter)}".rstrip() + f", not {count:,}"
    if low is not None and count < low:
        return f"takes {low:,} {_spoken_unit(parameter)}".rstrip() + f" or more, not {count:,}"
    return None


def _spoken_unit(parameter: Parameter) -> str:
    """Return the unit of a DCQCN parameter for messages: us, Mb/s or %; empty for all others."""
    return parameter.unit if parameter.unit in (*_PER_UNIT, "%") else ""


def _given(loaded: LoadedIntent) -> Iterator[tuple[str, str, int]]:
    """Yield the DCQCN parameters that the intent declares: key, firmware name, value (times in ns, rates in b/s)."""
    for key, value in loaded.intent.congestion_control.dcqcn:
        if value is not None and key not in ("priorities", "cnp_dscp", "cnp_priority"):
            yield key, "min_time_between_cnps" if key == "cnp_interval" else key, int(value)


def _parameters(nic: NicProfile) -> dict[str, Parameter]:
    return {name.lower(): parameter for name, parameter in nic.dcqcn.items()}


def _stated_dcqcn(loaded: LoadedIntent, nic: NicProfile) -> dict[str, int]:
    """Return the DCQCN parameters that the intent declares, in the units of the firmware."""
    known = _parameters(nic)
    return {name: value // _PER_UNIT.get(known[name].unit, 1) for _, name, value in _given(loaded)}


def variables(loaded: LoadedIntent, tos: int | None) -> tuple[Variable, ...]:
    """Return every environment variable of the jobs, in the order of the rendered files.

    ``tos`` is the ToS byte that the hosts give RDMA traffic. NCCL, and UCX if the intent has it, are set to it where
    the intent declares no other byte: by default UCX would use 106, also where the port has another traffic class, up
    to 1.20 (openucx/ucx ib_device.c @e7b7c86 is in 1.21.0), and queue pairs that bypass the kernel would use 0.
    """
    hosts = loaded.intent.hosts
    stated = (
        Variable(name, value, loaded.origin("hosts", "environment", name))
        for name, value in sorted(hosts.environment.items())
    )
    return (*_nccl(loaded, tos), *_ucx(loaded, tos), *_mori(loaded), *stated)


def _nccl(loaded: LoadedIntent, tos: int | None) -> Iterator[Variable]:
    hosts, nccl = loaded.intent.hosts, loaded.intent.hosts.nccl
    traffic = tos if nccl.ib_tc is None else nccl.ib_tc
    origin = loaded.origin(
        *(("hosts", "traffic_class") if nccl.ib_tc is None else ("hosts", "nccl", "ib_tc"))
    )
    yield from _known("NCCL_IB_TC", traffic, origin)
    for name, key, value in (
        ("NCCL_IB_FIFO_TC", "ib_fifo_tc", nccl.ib_fifo_tc),
        ("NCCL_GIN_IB_TC", "gin_ib_tc", nccl.gin_ib_tc),
        ("NCCL_IB_GID_INDEX", "ib_gid_index", nccl.ib_gid_index),
        ("NCCL_IB_TIMEOUT", "ib_timeout", nccl.ib_timeout),
        ("NCCL_IB_RETRY_CNT", "ib_retry_count", nccl.ib_retry_count),
        ("NCCL_IB_QPS_PER_CONNECTION", "ib_qps_per_connection", nccl.ib_qps_per_connection),
        ("NCCL_SOCKET_IFNAME", "socket_interfaces", exactly(nccl.socket_interfaces)),
    ):
        yield from _known(name, value, loaded.origin("hosts", "nccl", key))
    yield from _known("NCCL_IB_HCA", exactly(hosts.rdma_devices), loaded.origin("hosts", "rdma_devices"))


def _ucx(loaded: LoadedIntent, tos: int | None) -> Iterator[Variable]:
    hosts, ucx = loaded.intent.hosts, loaded.intent.hosts.ucx
    if ucx is None:
        return
    key = "traffic_class" if ucx.traffic_class is not None else None
    origin = loaded.origin("hosts", "ucx", key) if key else loaded.origin("hosts", "traffic_class")
    yield from _known("UCX_IB_TRAFFIC_CLASS", ucx.traffic_class if key else tos, origin)
    yield from _known("UCX_IB_GID_INDEX", ucx.gid_index, loaded.origin("hosts", "ucx", "gid_index"))
    ports = ",".join(f"{device}:1" for device in hosts.rdma_devices or ())
    yield from _known("UCX_NET_DEVICES", ports or None, loaded.origin("hosts", "rdma_devices"))


def _mori(loaded: LoadedIntent) -> Iterator[Variable]:
    mori = loaded.intent.hosts.mori
    if mori is not None:
        yield from _known("MORI_RDMA_TC", mori.traffic_class, loaded.origin("hosts", "mori", "traffic_class"))


def exactly(names: Iterable[str] | None) -> str | None:
    """Return names with the prefix ``=``, without which mlx5_1 also matches mlx5_10; None for no names.

    Source: NVIDIA/nccl docs, environment variables (NCCL_IB_HCA, NCCL_SOCKET_IFNAME).
    """
    listed = ",".join(names or ())
    return f"={listed}" if listed else None


def _known(name: str, value: int | str | None, origin: Origin) -> Iterator[Variable]:
    if value is not None:
        yield Variable(name, str(value), origin)
