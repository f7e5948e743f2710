"""Differences between a host as it was read and its intent, setting by setting.

Settings are compared by their effect: a ToS byte by its DSCP, because the NIC sets the ECN bits; a map by the DSCPs
with another priority. Settings that no file of the host has, or that have no value in the intent, are not compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.ground.basics.units import format_rate, number_ranges, spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.hosts import Dcqcn, HostQos


_JOBS = {
    "fifo_tc": ("ib_fifo_tc", "NCCL_IB_FIFO_TC"),
    "qps_per_connection": ("ib_qps_per_connection", "NCCL_IB_QPS_PER_CONNECTION"),
    "gid_index": ("ib_gid_index", "NCCL_IB_GID_INDEX"),
}
_PATIENCE = {
    "timeout": ("ib_timeout", "NCCL_IB_TIMEOUT"),
    "retry_count": ("ib_retry_count", "NCCL_IB_RETRY_CNT"),
}
"""NCCL's timeout and retry count: the attribute, its key in an intent, and the environment variable."""


_MODES = (
    ("reorder", "out_of_order", "adaptive_routing_forced_en"),
    ("retransmission", "selective_repeat", "selective_repeat_forced_en"),
)
"""Modes of queue pairs: the key of an intent's hosts, the attribute, and the name on NVIDIA NICs."""


class HostDifference(NamedTuple):
    """One setting of a host that differs from the intent: its name, both values as text, and their origins.

    ``harmless`` is True where the host exceeds the intent without an effect on traffic.
    """

    setting: str
    have: str
    want: str
    origin: Origin
    declared: Origin
    harmless: bool = False


def differences(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    """Yield the settings of a host that differ from its intent, in the order in which a host is set up."""
    yield from _network(have, want)
    yield from _sorting(have, want)
    yield from _marking(have, want)
    yield from _dcqcn(have, want)
    yield from _jobs(have, want)


def _network(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    yield from _value("mtu", have.mtu_bytes, want.mtu_bytes, "{} B", have.mtu_origin, want.mtu_origin)
    if isinstance(have.rate_bps, int) and isinstance(want.rate_bps, int) and have.rate_bps != want.rate_bps:
        rate, declared = format_rate(have.rate_bps), format_rate(want.rate_bps)
        yield HostDifference("speed", rate, declared, have.at("rate"), want.nic_origin)
    yield from _cable(have, want)
    if have.global_pause is True and want.global_pause is False:
        yield HostDifference(
            "global pause", "on", "off", have.at("global_pause"), _declared(want, "global_pause")
        )


def _cable(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    """Yield the difference in the cable length that is set on the NIC; a longer one only costs buffer."""
    told_m, real_m = have.cable_m, want.cable_m
    if isinstance(told_m, int) and isinstance(real_m, int) and told_m != real_m:
        yield HostDifference(
            "the cable the NIC was told",
            f"{told_m} m",
            f"{real_m} m",
            have.at("cable_m"),
            want.origin,
            harmless=told_m > real_m,
        )


def _sorting(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    yield from _at_key("trust", have, want)
    yield from _at_key("dcbx", have, want)
    if have.trust != "pcp":
        yield from _map(have, want)
    if isinstance(have.pfc_priorities, tuple) and isinstance(want.pfc_priorities, tuple):
        paused, declared = have.pfc_priorities, want.pfc_priorities
        if paused != declared:
            yield HostDifference("PFC", spell(paused), spell(declared), have.pfc_origin, want.pfc_origin)
    stall = "pfc_prevention"
    yield from _value(stall, have.stall_ms, want.stall_ms, "{} ms", have.at(stall), _declared(want, stall))
    yield from _modes(have, want)
    if want.ets is not None and not isinstance(have.ets, Unknown) and have.ets != want.ets:
        yield HostDifference("shares", _shares(have), _shares(want), have.at("ets"), want.origin)


def _modes(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    """Yield the differences in reordering and retransmission of queue pairs, named like the fields that mlxreg sets."""
    for key, mode, name in _MODES:
        read, asked = getattr(have, mode), getattr(want, mode)
        yield from _value(f"{name} (hosts.{key})", read, asked, "{:d}", have.at(key), _declared(want, key))


def _map(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    if isinstance(have.dscp_to_priority, Unknown) or isinstance(want.dscp_to_priority, Unknown):
        return
    priority_of = dict(have.dscp_to_priority)
    for priority in sorted(set(dict(want.dscp_to_priority).values())):
        moved = [d for d, p in want.dscp_to_priority if p == priority and priority_of.get(d, p) != p]
        if moved:
            went = sorted({priority_of[dscp] for dscp in moved})
            yield HostDifference(
                f"the priority of DSCP {number_ranges(moved)}",
                ", ".join(map(str, went)),
                str(priority),
                at_dscp(have, moved[0]),
                _declared(want, "dscp_to_priority"),
            )


def at_dscp(host: HostQos, dscp: int) -> Origin:
    """Return the origin of a DSCP in a host's map to priorities, or of the whole map where the DSCP has no origin."""
    named = dict(host.origins)
    return named.get(f"dscp_to_priority.{dscp}") or host.at("dscp_to_priority")


def _shares(host: HostQos) -> str:
    ets = host.ets
    if ets is None or isinstance(ets, Unknown):
        return "none"
    tcs = sorted(set(ets.priority_to_tc))
    return ", ".join(f"TC {tc} {ets.tsa[tc]} {ets.bandwidth_percent[tc]} %" for tc in tcs)


def _marking(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    """Yield the ToS bytes of the driver and of RDMA-CM that put RDMA on another DSCP than the intent."""
    declared = want.traffic_class
    sources = (
        ("traffic_class", have.traffic_class, have.traffic_class_origin),
        ("default_roce_tos", have.cma_tos, have.at("cma_tos")),
    )
    for name, tos, origin in sources:
        if isinstance(declared, int) and isinstance(tos, int) and tos >> 2 != declared >> 2:
            yield HostDifference(name, str(tos), str(declared), origin, want.traffic_class_origin)


def _dcqcn(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    dcqcn, declared = have.dcqcn, want.dcqcn
    if declared.enabled is not True:
        if dcqcn.enabled is True:
            yield HostDifference("DCQCN", "on", "off", dcqcn.at("priorities"), declared.origin)
        return
    yield from _points(dcqcn, want)
    for name in ("cnp_dscp", "cnp_priority"):
        values = getattr(dcqcn, name), getattr(declared, name)
        yield from _value(name, *values, "{}", dcqcn.at(name), _written(declared, name))
    parameters = dict(dcqcn.values)
    for name, value in declared.values:
        yield from _value(name, parameters.get(name), value, "{}", dcqcn.at(name), _written(declared, name))


def _points(dcqcn: Dcqcn, want: HostQos) -> Iterator[HostDifference]:
    """Yield the differences in the priorities of DCQCN's reaction and notification points; more are harmless.

    Where only the firmware's mask of allowed priorities is known, it is not compared: NIC001 checks it.
    """
    wanted = want.pfc_priorities if want.dcqcn.priorities is None else want.dcqcn.priorities
    halves: tuple[tuple[str, str], ...] = (
        ("priorities", "DCQCN's reaction point"),
        ("notifying", "DCQCN's notification point"),
    )
    on, named = {name: getattr(dcqcn, name) for name, _ in halves}, dict(dcqcn.origins)
    if on["priorities"] == on["notifying"]:
        halves = (("priorities", "DCQCN"),)
    for name, point in halves:
        running = on[name]
        masked = named.get(name) is not None and named.get(name) == named.get("priority_mask")
        if isinstance(running, tuple) and isinstance(wanted, tuple) and running != wanted and not masked:
            more = set(running) > set(wanted)
            yield HostDifference(
                point, spell(running), spell(wanted), dcqcn.at(name), want.dcqcn.origin, more
            )


def _written(dcqcn: Dcqcn, name: str) -> Origin:
    """Return the origin of a parameter in an intent, or of DCQCN where the value is from the NIC profile."""
    key = "cnp_interval" if name == "min_time_between_cnps" else name
    return dcqcn.at(key) if name in dcqcn.stated else dcqcn.origin


def _jobs(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    yield from _patience(have, want)
    for attribute, (key, variable) in _JOBS.items():
        values = getattr(have.jobs, attribute), getattr(want.jobs, attribute)
        yield from _value(variable, *values, "{}", have.at("nccl", key), _variable(want, variable))


def _patience(have: HostQos, want: HostQos) -> Iterator[HostDifference]:
    transport, declared = have.transport, want.transport
    if not isinstance(transport, tuple) or not isinstance(declared, tuple):
        return
    for attribute, (key, variable) in _PATIENCE.items():
        values = getattr(transport, attribute), getattr(declared, attribute)
        named = dict(have.origins)
        origin = named.get(f"nccl.{key}") or transport.origin
        yield from _value(variable, *values, "{}", origin, _variable(want, variable))


def _variable(want: HostQos, name: str) -> Origin:
    """Return the origin of a job variable in an intent, or of its hosts where it does not state the variable."""
    variable = want.jobs.variable(name)
    return want.origin if variable is None else variable.origin


def _declared(want: HostQos, key: str) -> Origin:
    """Return the origin of a host setting in an intent, or of its hosts where the value is a default."""
    return dict(want.origins).get(key, want.origin)


def _at_key(key: str, have: HostQos, want: HostQos, form: str = "{}") -> Iterator[HostDifference]:
    yield from _value(key, getattr(have, key), getattr(want, key), form, have.at(key), _declared(want, key))


def _value(
    setting: str, have: object, want: object, form: str, origin: Origin, declared: Origin
) -> Iterator[HostDifference]:
    """Yield a setting whose values differ; one that is absent or unknown on either side is not compared."""
    if any(value is None or isinstance(value, Unknown) for value in (have, want)) or have == want:
        return
    yield HostDifference(setting, form.format(have), form.format(want), origin, declared)
