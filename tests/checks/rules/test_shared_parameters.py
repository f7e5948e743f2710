"""What hosts and switches must agree on: every parameter of the model that is changed on a host alone is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from lossless.model.fabric.hosts import Dcqcn, Ets, HostQos, Jobs, Transport
from tests.checks.rules.linted import intent_view
from tests.checks.rules.read_hosts import as_read, at, checked, with_variable

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric

Change = Callable[[HostQos], HostQos]
BYTES = st.integers(0, 255)
PRIORITIES = st.lists(st.integers(0, 7), unique=True).map(lambda found: tuple(sorted(found)))


CONNECTX, THOR = "connectx-7", "broadcom-thor-2"


@cache
def fabric(nic: str = CONNECTX) -> Fabric:
    """Return the fabric of the example that all changes are made to."""
    nccl = {"ib_tc": 106, "ib_fifo_tc": 192, "ib_gid_index": 3}
    plain = {"congestion_control": "dcqcn"} if nic == THOR else {}
    return intent_view({"hosts": {"nccl": nccl}, "hardware": {"nic": nic}, **plain}).fabric


def wanted(nic: str = CONNECTX) -> HostQos:
    return fabric(nic).hosts[0].qos


def healthy(nic: str = CONNECTX) -> HostQos:
    """Return a host that is set up as the intent wants it, with a GID table of the usual order."""
    kinds = ("IB/RoCE v1", "RoCE v2", "IB/RoCE v1", "RoCE v2")
    return as_read(wanted(nic), gid_types=tuple(enumerate(kinds)))


def _with(record: Any, name: str, value: object) -> Any:
    """Return a record with one field changed."""
    return record._replace(**{name: value})


def setting(name: str, values: st.SearchStrategy[object]) -> st.SearchStrategy[Change]:
    """Return changes of one field of a host."""
    different = values.filter(lambda value: value != getattr(healthy(), name))
    return different.map(lambda value: lambda host: _with(host, name, value))


def dcqcn(name: str, values: st.SearchStrategy[object]) -> st.SearchStrategy[Change]:
    different = values.filter(lambda value: value != getattr(healthy().dcqcn, name))
    return different.map(lambda value: lambda host: host._replace(dcqcn=_with(host.dcqcn, name, value)))


def jobs(name: str, values: st.SearchStrategy[object]) -> st.SearchStrategy[Change]:
    different = values.filter(lambda value: value != getattr(healthy().jobs, name))
    return different.map(lambda value: lambda host: host._replace(jobs=_with(host.jobs, name, value)))


def transport(name: str, high: int) -> st.SearchStrategy[Change]:
    def changed(value: int) -> Change:
        return lambda host: host._replace(transport=_with(host.transport, name, value))

    present = getattr(wanted().transport, name)
    return st.integers(0, high).filter(lambda value: value != present).map(changed)


def tos(name: str) -> st.SearchStrategy[Change]:
    """Return changes of a ToS byte to another DSCP; ECN bits are the NIC's own business."""
    return setting(name, BYTES.filter(lambda value: value >> 2 != 26))


@st.composite
def _parameter(draw: st.DrawFn) -> Change:
    """Return a change of one DCQCN parameter."""
    values = dict(wanted().dcqcn.values)
    name = draw(st.sampled_from(sorted(values)))
    value = draw(st.integers(0, 100_000).filter(lambda found: found != values[name]))
    changed = tuple(sorted({**values, name: value}.items()))
    return lambda host: host._replace(dcqcn=host.dcqcn._replace(values=changed))


@st.composite
def _mapped(draw: st.DrawFn) -> Change:
    """Return a change of the priority of one DSCP."""
    declared = wanted().dscp_to_priority
    found = dict(declared) if isinstance(declared, tuple) else {}
    dscp = draw(st.integers(0, 63))
    priority = draw(st.integers(0, 7).filter(lambda value: value != found[dscp]))
    changed = tuple(sorted({**found, dscp: priority}.items()))
    return lambda host: host._replace(dscp_to_priority=changed)


HOST: dict[str, st.SearchStrategy[Change]] = {
    "rate_bps": setting("rate_bps", st.sampled_from([100, 200, 800]).map(lambda gbps: gbps * 10**9)),
    "mtu_bytes": setting("mtu_bytes", st.integers(68, 65535)),
    "cable_m": setting("cable_m", st.integers(0, 65535)),
    "dscp_to_priority": _mapped(),
    "pfc_priorities": setting("pfc_priorities", PRIORITIES),
    "traffic_class": tos("traffic_class"),
    "cma_tos": tos("cma_tos"),
    "nccl_tc": tos("nccl_tc"),
    "stall_ms": setting("stall_ms", st.integers(0, 8000)),
    "trust": setting("trust", st.just("pcp")),
    "dcbx": setting("dcbx", st.just("firmware")),
    "global_pause": setting("global_pause", st.just(value=True)),
    "roce_version": setting("roce_version", st.just(1)),
    "gid_types": setting("gid_types", st.just(((3, "IB/RoCE v1"),))),
}
DCQCN: dict[str, st.SearchStrategy[Change]] = {
    "priorities": dcqcn("priorities", PRIORITIES),
    "notifying": dcqcn("notifying", PRIORITIES),
    "priority_mask": dcqcn("priority_mask", BYTES.filter(lambda mask: not mask & 8)),
    "cnp_dscp": dcqcn("cnp_dscp", st.integers(0, 63)),
    "cnp_priority": dcqcn("cnp_priority", st.integers(0, 7)),
    "values": _parameter(),
}
JOBS: dict[str, st.SearchStrategy[Change]] = {
    "fifo_tc": jobs("fifo_tc", BYTES.filter(lambda value: value >> 2 != 48)),
    "gid_index": jobs("gid_index", st.integers(0, 255)),
}
TRANSPORT: dict[str, st.SearchStrategy[Change]] = {
    "timeout": transport("timeout", 31),
    "retry_count": transport("retry_count", 7),
}
NOT_OF_THOR = {
    "stall_ms": "no profile says when it ends a storm of its own",
    "values": "no profile has a table of its DCQCN parameters",
}
NOT_SHARED = {
    HostQos: {
        "nic": "which NIC it is, and how names call it, is no setting",
        "nic_name": "see nic",
        "driver": "see nic",
        "tool": "what a renderer uses",
        "interfaces": "names of the host alone",
        "rdma_devices": "names of the host alone",
        "applied_by": "no file of a host says who set it",
        "links": "of an intent's topology; a host counts its ports against it",
        "rdma_mtu_bytes": "follows from the MTU of the interface",
        "ets": "an intent leaves the shares of mlx5 alone; NIC013 checks those that starve RDMA",
        "out_of_order": "a choice of hosts; compared where an intent states it",
        "selective_repeat": "see out_of_order",
        "buffers": "the driver makes them of PFC, MTU and cable, which are compared",
        "provenance": "how it is known",
        "dcqcn": "by field, below",
        "jobs": "by field, below",
        "transport": "by field, below",
    },
    Dcqcn: {
        "enabled": "on where it has a priority",
        "stated": "which values somebody wrote",
        "provenance": "how it is known",
    },
    Jobs: {
        "libraries": "by their variables, below",
        "qps_per_connection": "a choice of jobs; compared where an intent states it",
        "timeout_ms": "a property of jobs that only an intent states",
        "loopback": "a property of jobs that only an intent states",
        "lacks_device": "of a container in a manifest; no intent states devices",
        "hca": "by its variable, below",
        "socket_interfaces": "by its variable, below",
        "ucx_devices": "whole names: nothing to get wrong",
        "variables": "by name, below",
    },
    Transport: {},
}


@pytest.mark.parametrize(
    ("record", "shared"), [(HostQos, HOST), (Dcqcn, DCQCN), (Jobs, JOBS), (Transport, TRANSPORT)]
)
def test_every_field_of_a_host_is_shared_or_says_why_not(record: Any, shared: dict[str, object]) -> None:
    places = {name for name in record._fields if name.endswith(("origin", "origins"))}
    assert {*shared, *NOT_SHARED[record], *places} == set(record._fields)
    assert shared.keys().isdisjoint(NOT_SHARED[record])


def test_a_host_that_is_set_up_as_wanted_draws_nothing() -> None:
    verdicts = checked(fabric(), healthy(), wanted())
    assert (verdicts.findings, verdicts.not_checked) == ((), ())


def test_a_host_of_another_vendor_that_is_set_up_as_wanted_draws_nothing() -> None:
    verdicts = checked(fabric(THOR), healthy(THOR), wanted(THOR))
    assert verdicts.findings == ()
    assert [rule.code for rule in verdicts.not_checked] == ["WD015"]


def _cases() -> Iterator[tuple[str, str]]:
    for name in (*HOST, *DCQCN, *JOBS, *TRANSPORT):
        yield CONNECTX, name
        if name not in NOT_OF_THOR:
            yield THOR, name


@pytest.mark.parametrize(("nic", "name"), list(_cases()))
def test_a_shared_parameter_changed_on_the_host_alone_is_reported(nic: str, name: str) -> None:
    changes = {**HOST, **DCQCN, **JOBS, **TRANSPORT}[name]

    @given(changes)
    def law(change: Change) -> None:
        findings = checked(fabric(nic), change(healthy(nic)), wanted(nic)).findings
        assert findings
        assert len({finding.origin for finding in findings}) == 1
        assert all(finding.origin.file == at("x").file for finding in findings)

    law()


@pytest.mark.parametrize(
    "percent", [(60, 40, 0, 0, 0, 0, 0, 0), (100, 0, 0, 0, 0, 0, 0, 0), (0, 100, 0, 0, 0, 0, 0, 0)]
)
def test_shares_that_an_intent_asks_for_are_compared(percent: tuple[int, ...]) -> None:
    """Broadcom's TCs go by what they carry: 1 for RoCE, 2 for CNPs, 0 for the rest."""
    want = wanted(THOR)
    assert isinstance(want.ets, Ets)
    assert want.ets.bandwidth_percent[:3] == (50, 50, 0)
    changed = healthy(THOR)._replace(ets=want.ets._replace(bandwidth_percent=percent))
    assert len({finding.origin for finding in checked(fabric(THOR), changed, want).findings}) == 1


@given(st.sampled_from(["NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"]), st.integers(1, 9))
def test_names_that_match_more_are_found_however_the_host_calls_its_devices(
    variable: str, number: int
) -> None:
    stem = "mlx5_" if variable == "NCCL_IB_HCA" else "eth"
    devices = tuple(f"{stem}{index}" for index in range(12))
    named = healthy()._replace(rdma_devices=devices, interfaces=devices)
    host = with_variable(named, variable, f"{stem}{number}")
    found = [finding.code for finding in checked(fabric(), host, wanted()).findings]
    assert found == (["HST010"] if number == 1 else [])
    exact = with_variable(host, variable, f"={stem}{number}")
    assert checked(fabric(), exact, wanted()).findings == ()
