"""A NicConfigurationTemplate for each kind of NIC: settings of NVIDIA's operator that match those of the switches.

The operator handles it as follows (Mellanox/nic-configuration-operator README.md @0082142 and
pkg/configuration/configvalidation.go @01eed1d):

* ``roceOptimized`` alone writes CNP_DSCP 4, CNP_802P_PRIO 6, a ToS byte of 0 and congestion control on all priorities.
  The fabric needs other values, so all of them are set: ``tos``, and the rest in ``rawNvConfig``, which overrides
  ``roceOptimized``.
* Settings of a port that the NIC does not have are ignored.
* ``qos`` holds until the next boot, and its daemon sets it again; firmware settings need a reset or a reboot.
* A NIC that two templates select gets neither. Hence one for each type of NIC, with the longest of its cables.

``roceOptimized`` has no field for the MTU, the map from DSCPs to priorities, the stall prevention and the modes of
queue pairs: the host's own script keeps those.

The environment of jobs as files: NCCL's own configuration, and variables for containers.

Both are lines of ``NAME=value`` without quotes or ``export``, the only syntax that their readers support:

* NCCL reads ``/etc/nccl.conf``. A line that begins with ``#`` is a comment, blanks belong to names and values, and a
  variable that a job has set itself wins (NVIDIA/nccl src/misc/param.cc @081eafa).
* Containers do not see that file; ``docker run --env-file`` and systemd's ``EnvironmentFile=`` read the other one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model.scripts import HostFile
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import UNKNOWN, Unknown
from lossless.model.fabric.priorities import priority_bits, priority_flags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.model.fabric.cluster import KubernetesPolicy
    from lossless.model.fabric.hosts import HostQos, Transport, Variable
    from lossless.model.fabric.model import Fabric


_VENDOR = "15b3"
_TEMPLATE = "hosts/kubernetes/nic-configuration.yaml.j2"


def kubernetes_files(fabric: Fabric) -> tuple[HostFile, ...]:
    """Return the resources of a fabric whose hosts are nodes of a cluster, by paths in their own folder.

    Raises:
        RenderError: the operator cannot set a value that the fabric needs.
    """
    policy = fabric.kubernetes
    if policy is None:
        return ()
    return tuple(
        HostFile(
            f"nic-configuration-{kinds[0].nic_name}.yaml",
            _TEMPLATE,
            _policy_context(fabric.name, nic_type, kinds, policy),
            executable=False,
        )
        for nic_type, kinds in sorted(_by_type(fabric).items())
    )


def unconfigured(fabric: Fabric) -> tuple[str, ...]:
    """Return the names of the NICs that the operator of the cluster does not set."""
    if fabric.kubernetes is None:
        return ()
    return tuple(sorted({host.qos.nic_name for host in fabric.hosts if _type_of(host.qos) is None}))


def _by_type(fabric: Fabric) -> Mapping[str, list[HostQos]]:
    """Return the kinds of hosts by the type of their NIC, each kind once."""
    hosts_by_type: dict[str, dict[int, HostQos]] = {}
    for host in fabric.hosts:
        nic_type = _type_of(host.qos)
        if nic_type is not None:
            hosts_by_type.setdefault(nic_type, {})[id(host.qos)] = host.qos
    return {nic_type: list(kinds.values()) for nic_type, kinds in hosts_by_type.items()}


def _type_of(qos: HostQos) -> str | None:
    """Return the device id by which the operator selects a NIC, None for NICs of other vendors than NVIDIA."""
    vendor, _, device = ((qos.nic.pci_id if qos.nic else None) or "").partition(":")
    return device if vendor == _VENDOR else None


def _policy_context(
    fabric: str, nic_type: str, kinds: list[HostQos], policy: KubernetesPolicy
) -> Mapping[str, object]:
    first = kinds[0]
    priorities = _congestion_priorities(first)
    return {
        "nic": first.nic.product if first.nic else first.nic_name,
        "name": resource_name(f"{fabric}-{first.nic_name}"),
        "nic_type": nic_type,
        "policy": policy,
        "trust": first.trust,
        "pfc": ",".join(priority_flags(_pauses(first))),
        "tos": _tos(first),
        "cable_m": max(_cable_m(kind) for kind in kinds),
        "ecn": _ecn(first, priorities),
        "pause_frames": first.global_pause is True,
        "raw": tuple(_raw(first, priorities, policy)),
    }


def resource_name(text: str) -> str:
    """Return a text in the form of a Kubernetes object name: a DNS subdomain (RFC 1123)."""
    return re.sub(r"[^a-z0-9.-]|(?<![a-z0-9])\.|\.(?![a-z0-9])", "-", text.lower()).strip("-.")


def _pauses(qos: HostQos) -> tuple[int, ...]:
    return qos.pfc_priorities if isinstance(qos.pfc_priorities, tuple) else ()


def _congestion_priorities(qos: HostQos) -> tuple[int, ...]:
    """Return the priorities that DCQCN runs on, none where it is off."""
    if qos.dcqcn.enabled is not True:
        return ()
    return qos.dcqcn.priorities if isinstance(qos.dcqcn.priorities, tuple) else _pauses(qos)


def _tos(qos: HostQos) -> int:
    if not isinstance(qos.traffic_class, int):
        raise RenderError(
            f"{qos.nic_name}: no class gives RDMA a DSCP, and the operator would write ToS 0; "
            "state hosts.traffic_class"
        )
    return qos.traffic_class


def _cable_m(qos: HostQos) -> int:
    return qos.cable_m if isinstance(qos.cable_m, int) else 0


def _ecn(qos: HostQos, priorities: tuple[int, ...]) -> Mapping[str, object] | None:
    """Return congestion control for the one priority that the resource supports, None for several priorities."""
    if len(priorities) > 1:
        return None
    subject = priorities or _pauses(qos)[:1]
    return {"enabled": str(bool(priorities)).lower(), "priority": subject[0]} if subject else None


def _raw(qos: HostQos, priorities: tuple[int, ...], policy: KubernetesPolicy) -> Iterator[tuple[str, str]]:
    """Yield the firmware settings, port by port: all of DCQCN, since defaults differ between firmware versions."""
    settings = {
        "ROCE_CC_PRIO_MASK": priority_bits(priorities),
        "CNP_DSCP": _known(qos, qos.dcqcn.cnp_dscp),
        "CNP_802P_PRIO": _known(qos, qos.dcqcn.cnp_priority),
    }
    if priorities:
        settings |= {name.upper(): value for name, value in sorted(qos.dcqcn.values)}
    for port in range(1, policy.ports + 1):
        yield from ((f"{name}_P{port}", str(value)) for name, value in settings.items())
    yield from policy.firmware


def _known(qos: HostQos, value: object) -> int:
    if not isinstance(value, int):
        raise RenderError(f"{qos.nic_name}: nothing says which DSCP and priority CNPs have")
    return value


NCCL_CONF = "nccl.conf"
JOBS_ENV = "jobs.env"
_NCCL = "NCCL_"


def job_files(qos: HostQos) -> tuple[HostFile, ...]:
    """Return the files that configure the jobs on a host for its fabric."""
    return environment_files(qos.jobs.variables, about=_about(qos))


def environment_files(variables: Iterable[Variable], about: tuple[str, ...] = ()) -> tuple[HostFile, ...]:
    """Return variables as NCCL's configuration and as a file for containers, both with the comment lines ``about``."""
    every = tuple(variables)
    nccl = tuple(variable for variable in every if variable.name.startswith(_NCCL))
    return (
        HostFile(NCCL_CONF, f"hosts/jobs/{NCCL_CONF}.j2", _job_context(nccl, about), executable=False),
        HostFile(JOBS_ENV, f"hosts/jobs/{JOBS_ENV}.j2", _job_context(every, about), executable=False),
    )


def _job_context(variables: tuple[Variable, ...], about: tuple[str, ...]) -> Mapping[str, object]:
    return {"about": about, "variables": [(variable.name, variable.value) for variable in variables]}


def _about(qos: HostQos) -> tuple[str, ...]:
    transport = qos.transport
    if transport is None or transport is UNKNOWN or isinstance(transport, Unknown):
        return ()
    return (_patience(transport),)


def _patience(transport: Transport) -> str:
    """Return how long NCCL's queue pairs retry, the time that rule WD008 compares with the switches' watchdog."""
    patience_ns = transport.patience_ns
    if patience_ns is None:
        return "A queue pair never gives up: NCCL_IB_TIMEOUT is 0."
    sum_ = f"4.096 us x 2^{transport.timeout} x ({transport.retry_count} + 1) = {patience_ns / 10**9:.1f} s"
    return f"A queue pair gives up after {sum_}."
