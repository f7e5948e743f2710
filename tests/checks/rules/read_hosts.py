"""Hosts as files of theirs would show them, made of what an intent wants of them, and what rules say of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.checks.lint.run import run, together
from lossless.checks.rules.registry import rules_for
from lossless.checks.rules.subjects import IntendedHost
from lossless.ground.basics.findings import Origin
from lossless.model.fabric.hosts import Dcqcn, HostQos, Jobs, Library, Transport, Variable
from lossless.model.fabric.model import Fabric, Host
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.checks.lint.run import CheckedReport

FILE = "hosts/host1/facts"
NAME = "host1"
_KEYS = (
    *(
        "mtu",
        "rate",
        "cable_m",
        "trust",
        "dscp_to_priority",
        "pfc",
        "pfc_prevention",
        "reorder",
        "retransmission",
        "ets",
        "buffers",
        "dcbx",
    ),
    *("global_pause", "cma_tos", "roce_version", "gid_types", "job_timeout", "loopback_rdma", "applied_by"),
    *("nccl.ib_timeout", "nccl.ib_retry_count", "nccl.ib_fifo_tc", "nccl.ib_gid_index"),
    "nccl.ib_qps_per_connection",
)


def at(key: str) -> Origin:
    """Return where a setting stands in the files of a host."""
    return Origin(FILE, tuple(key.split(".")))


def as_read(want: HostQos, **changes: Any) -> HostQos:
    """Return a host that is set up as an intent wants it, as if it had been read; changed in some fields."""
    return want._replace(
        pfc_origin=at("pfc"),
        traffic_class_origin=at("traffic_class"),
        nccl_tc_origin=at("nccl.ib_tc"),
        dcqcn=_dcqcn(want),
        transport=want.transport._replace(origin=at("nccl.ib_timeout"))
        if isinstance(want.transport, Transport)
        else None,
        origin=Origin(FILE),
        nic_origin=at("nic"),
        mtu_origin=at("mtu"),
        jobs=_jobs(want.jobs),
        applied_by="unit",
        provenance="deployed",
        cma_tos=want.traffic_class,
        origins=tuple((key, at(key)) for key in _KEYS),
    )._replace(**changes)


def _dcqcn(want: HostQos) -> Dcqcn:
    found = want.dcqcn
    priorities = want.pfc_priorities if found.priorities is None else found.priorities
    names = (*("priorities", "notifying", "priority_mask", "cnp_dscp", "cnp_priority"), *dict(found.values))
    return found._replace(
        priorities=priorities,
        notifying=priorities,
        priority_mask=255,
        stated=tuple(dict(found.values)),
        origin=at("dcqcn"),
        provenance="deployed",
        origins=tuple((name, at(f"dcqcn.{name}")) for name in names),
    )


def _jobs(want: Jobs) -> Jobs:
    return want._replace(
        libraries=tuple(library._replace(origin=at(library.variable)) for library in want.libraries),
        variables=tuple(variable._replace(origin=at(variable.name)) for variable in want.variables),
    )


def with_variable(host: HostQos, name: str, value: str) -> HostQos:
    """Return a host whose jobs are given a variable."""
    others = tuple(variable for variable in host.jobs.variables if variable.name != name)
    return host._replace(jobs=host.jobs._replace(variables=(*others, Variable(name, value, at(name)))))


def with_library(host: HostQos, name: str, variable: str, tos: int) -> HostQos:
    """Return a host with another library that jobs use."""
    library = Library(name, variable, tos, False, at(variable))
    return host._replace(jobs=host.jobs._replace(libraries=(*host.jobs.libraries, library)))


def checked(fabric: Fabric, have: HostQos, want: HostQos | None) -> CheckedReport:
    """Return what the rules say of a host that was read, in a fabric, and beside what is wanted of it."""
    view = View(fabric._replace(hosts=(Host(NAME, have),)))
    reports = [run(view, rules_for("hosts"), "config_db")]
    if want is not None:
        reports.append(run(IntendedHost(have, want, (NAME,)), rules_for("host"), "config_db"))
    return together(reports)


def codes(report: CheckedReport) -> list[str]:
    """Return the codes of findings, in order."""
    return [finding.code for finding in report.findings]


def places(report: CheckedReport) -> list[tuple[str, str]]:
    """Return each finding as its code and where it points, in a host's files."""
    found: Iterable[Any] = report.findings
    return [(finding.code, ".".join(map(str, finding.origin.path))) for finding in found]
