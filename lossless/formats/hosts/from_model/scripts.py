"""The files of a host: its script and unit, its tools, the environment of jobs, and resources of NVIDIA's operator.

A script consists of the settings of every NIC, those of its driver (mlx5 and bnxt_re have a module
each), and the calls of the tool that sets trust, DSCP map and PFC. Only settings in firmware survive a reboot; hence
the unit.

The tools set trust, DSCP map, PFC and ETS on a host:

* ``mlnx_qos`` kept nothing across calls until 2024: ``--cable_len`` alone wrote an empty PFC mask, ``--pfc`` alone no
  cable length, so both are in one call; since @83b87d9 each leaves the other unchanged. ``--trust`` and
  ``--dscp2prio`` exclude each other (Mellanox/mlnx-tools python/mlnx_qos @088fadb).
* ``dcb`` of iproute2 reads before it writes, and keeps entries that a call does not name: hence ``app replace`` and
  whole lists (iproute2 dcb/dcb_app.c @00d59f4, dcb_ets.c @12d41d0; pmachata/iproute2 dcb/dcb_pfc.c @cecd504). Its
  ``apptrust`` is younger (dcb_apptrust.c @21f88a0); the script checks for it.
* ``niccli`` takes one priority for PFC, TCs by their traffic, and applications one by one
  (bnxt_setupcc.sh 236.1.155.0).

NVIDIA's NIC configuration operator gets a NicConfigurationTemplate for each kind of NIC, with settings that match those
of the switches. The operator handles such a template as follows (Mellanox/nic-configuration-operator README.md @0082142
and pkg/configuration/configvalidation.go @01eed1d):

* ``roceOptimized`` alone writes CNP_DSCP 4, CNP_802P_PRIO 6, a ToS byte of 0 and congestion control on all priorities.
  The fabric needs other values, so all of them are set: ``tos``, and the rest in ``rawNvConfig``, which overrides
  ``roceOptimized``.
* Settings of a port that the NIC does not have are ignored.
* ``qos`` holds until the next boot, and its daemon sets it again; firmware settings need a reset or a reboot.
* A NIC that two templates select gets neither. Hence one for each type of NIC, with the longest of its cables.

``roceOptimized`` has no field for the MTU, the map from DSCPs to priorities, the stall prevention and the modes of
queue pairs: the host's own script keeps those.

The environment of jobs is NCCL's own configuration, and variables for containers. Both are lines of ``NAME=value``
without quotes or ``export``, the only syntax that their readers support:

* NCCL reads ``/etc/nccl.conf``. A line that begins with ``#`` is a comment, blanks belong to names and values, and a
  variable that a job has set itself wins (NVIDIA/nccl src/misc/param.cc @081eafa).
* Containers do not see that file; ``docker run --env-file`` and systemd's ``EnvironmentFile=`` read ``jobs.env``.

Machines on a fabric that a cloud provider operates get the environment of their jobs, and nothing else. Where the
provider ships a script of its own with it, that is one shell file, which jobs source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lossless.formats.hosts.from_model import broadcom, nvidia
from lossless.formats.hosts.from_model.settings import common, dscp_digits, profile, roce, settings_json
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.records import UNKNOWN, NamedTuple, Unknown, certain
from lossless.model.fabric.cluster import priority_bits, priority_flags
from lossless.model.fabric.hosts import NIC_DSCP_PRIORITIES
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lossless.model.fabric.cluster import KubernetesPolicy
    from lossless.model.fabric.hosts import Ets, HostQos, ManagedFabric, Transport, Variable
    from lossless.model.fabric.model import Fabric
    from lossless.model.hardware.devices import Tool


_VENDOR = "15b3"
_TEMPLATE = "hosts/kubernetes/nic-configuration.yaml.j2"


def kubernetes_files(fabric: Fabric) -> tuple[HostFile, ...]:
    """Return the NicConfigurationTemplates of a fabric, one for each type of NVIDIA NIC; none without a policy.

    Raises:
        RenderError: the ToS byte of RDMA, or the DSCP or priority of CNPs, is unknown.
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
    """Return the names of the NICs that NVIDIA's operator does not set, none where the fabric does not use it."""
    if fabric.kubernetes is None:
        return ()
    return tuple(sorted({host.qos.nic_name for host in fabric.hosts if _type_of(host.qos) is None}))


def _by_type(fabric: Fabric) -> Mapping[str, list[HostQos]]:
    """Return the distinct QoS of hosts by the device ID of their NVIDIA NIC."""
    hosts_by_type: dict[str, dict[int, HostQos]] = {}
    for host in fabric.hosts:
        nic_type = _type_of(host.qos)
        if nic_type is not None:
            hosts_by_type.setdefault(nic_type, {})[id(host.qos)] = host.qos
    return {nic_type: list(kinds.values()) for nic_type, kinds in hosts_by_type.items()}


def _type_of(qos: HostQos) -> str | None:
    """Return the device id by which the operator selects a NIC, None for one not known as NVIDIA's by its PCI id."""
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
    """Return a text in the characters of a Kubernetes object name: those of a DNS subdomain (RFC 1123)."""
    return re.sub(r"[^a-z0-9.-]|(?<![a-z0-9])\.|\.(?![a-z0-9])", "-", text.lower()).strip("-.")


def _pauses(qos: HostQos) -> tuple[int, ...]:
    return qos.pfc_priorities if isinstance(qos.pfc_priorities, tuple) else ()


def _congestion_priorities(qos: HostQos) -> tuple[int, ...]:
    """Return the priorities that DCQCN runs on, none where it is not on."""
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
    """Return the ECN section of the resource for the priority of DCQCN, else the first with PFC.

    None without such a priority, and where DCQCN runs on several.
    """
    if len(priorities) > 1:
        return None
    subject = priorities or _pauses(qos)[:1]
    return {"enabled": str(bool(priorities)).lower(), "priority": subject[0]} if subject else None


def _raw(qos: HostQos, priorities: tuple[int, ...], policy: KubernetesPolicy) -> Iterator[tuple[str, str]]:
    """Yield firmware settings: those of DCQCN for each port, since defaults of versions differ, then declared ones."""
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
    """Return ``nccl.conf`` with the variables of NCCL, and ``jobs.env`` with all; both have the comments ``about``."""
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


JOBS_SH = "jobs.sh"


def managed_files(managed: ManagedFabric) -> tuple[HostFile, ...]:
    """Return the files of every machine of a fabric that a cloud provider operates.

    Where the provider ships a script with the settings of its network, a job sources a file that runs that script
    first: its values belong to the version of the provider's plugin, and are not repeated.
    """
    network = managed.network
    if network is None or network.profile is None:
        return environment_files(managed.variables)
    context = {
        "network": network.name,
        "profile": network.profile,
        "needs": network.needs,
        "variables": [(variable.name, variable.value) for variable in managed.variables],
    }
    return (HostFile(JOBS_SH, f"hosts/jobs/{JOBS_SH}.j2", context, executable=False),)


SCRIPT = "lossless-roce.sh"
UNIT = "lossless-roce.service"
RULES = "lossless-roce.rules"
PLAIN = "lossless-roce.json"
SCRIPT_DIRECTORY = "/usr/local/sbin"
"""The directory from which the unit runs the script."""
TOOL_LIMIT_S = 20
"""Longest that one call of a tool may take. A choice: the slowest, mlxconfig, answers in seconds."""
KILL_AFTER_S = 2
"""How long a tool may take to end after its time limit, before it is killed."""
RUN_LIMIT_S = 600
"""Longest that a run of the script goes on calling tools. A choice: mlnx_qos is called twice for each of 64 DSCPs at
most, half a second each time, on 8 ports: 512 s."""
START_LIMIT_S = RUN_LIMIT_S + KILL_AFTER_S + 28
"""When systemd ends the script: the last call is cut off by then, and no tool is left to wait for."""
STOP_LIMIT_S = 2 * KILL_AFTER_S + 6
"""Time after which systemd kills a unit that it stops: ``timeout`` ends its tool first."""


class _Driver(NamedTuple):
    """The parts of a driver: the template values of its part of a script, and its congestion control settings."""

    values: Callable[[HostQos], Mapping[str, object]]
    settings: Callable[[HostQos], Mapping[str, int]]


def _other_values(qos: HostQos) -> Mapping[str, object]:
    """Return the template values of an unsupported driver: only the settings that Linux has for any NIC.

    The ports are found by the NIC's PCI id, or named in the intent.
    """
    nic = profile(qos)
    return {"driver_part": "other", "module": None, "pci_id": nic.pci_id, "rdma_module": nic.driver}


_NVIDIA = _Driver(nvidia.values, nvidia.settings)
_OTHER = _Driver(_other_values, lambda _qos: {})
"""Any unsupported driver: congestion control remains unchanged, as every driver has its own way to set it."""
_DRIVERS: Mapping[str, _Driver] = {"mlx5": _NVIDIA, "bnxt_re": _Driver(broadcom.values, broadcom.settings)}
_ABSENT: Mapping[str, object] = {"openibd": False, "firmware": (), "accelerations": (), "pci_id": None}
"""Template values for drivers without these settings."""
_MODES = {
    "out_of_order": "what NICs take out of order",
    "selective_repeat": "how NICs send lost packets again",
}


def host_files(qos: HostQos) -> tuple[HostFile, ...]:
    """Return the files that set up a host's NICs: script, unit, udev rule and JSON.

    Where something else, or a person, runs the script, there is neither unit nor rule.

    Raises:
        RenderError: see :func:`context`.
    """
    values = context(qos)
    script = HostFile(SCRIPT, f"hosts/{SCRIPT}.j2", values, executable=True)
    unit = HostFile(UNIT, f"hosts/{UNIT}.j2", values, executable=False)
    rules = HostFile(RULES, f"hosts/{RULES}.j2", values, executable=False)
    data = HostFile(PLAIN, f"hosts/{PLAIN}.j2", {"plain": _plain(qos)}, executable=False)
    return (script, unit, rules, data) if qos.applied_by == "unit" else (script, data)


def context(qos: HostQos) -> Mapping[str, object]:
    """Return the template values of :func:`host_files`.

    ``dscp_priorities`` has 64 digits, the priority of DSCP n at place n, or - where it has none of its own.

    Raises:
        RenderError: the NIC has no profile, it or its tool does not support a value, a name is not valid, DCQCN would
            run on no priority, or a required value is missing.
    """
    driver = driver_of(qos).values(qos)
    named = driver["module"] or f"PCI id {driver['pci_id']}"
    return {
        **_ABSENT,
        **common(qos),
        **driver,
        **values(qos),
        "tool": tool_of(qos),
        "ports_of": f"the driver {named}" if driver["module"] else named,
        "ports_of_one": named,
        "script_path": f"{SCRIPT_DIRECTORY}/{SCRIPT}",
        "tool_limit_s": TOOL_LIMIT_S,
        "kill_after_s": KILL_AFTER_S,
        "run_limit_s": RUN_LIMIT_S,
        "start_limit_s": START_LIMIT_S,
        "stop_limit_s": STOP_LIMIT_S,
    }


def driver_of(qos: HostQos) -> _Driver:
    """Return the parts of the driver of a host's NIC.

    Raises:
        RenderError: the NIC has no profile.
    """
    return _DRIVERS.get(profile(qos).driver, _OTHER)


def unset(qos: HostQos) -> str | None:
    """Return the settings among DCQCN and modes of queue pairs that no file of a host sets, as text; None without any.

    Raises:
        RenderError: the NIC has no profile.
    """
    driver = driver_of(qos)
    left = ["DCQCN"] if certain(qos.dcqcn.enabled) and driver is _OTHER else []
    if driver is not _NVIDIA:
        left += [said for mode, said in _MODES.items() if certain(getattr(qos, mode)) is not None]
    if not left:
        return None
    return f"{' and '.join(left)}, which nothing is known of for the driver {profile(qos).driver}"


def _plain(qos: HostQos) -> Mapping[str, object]:
    firmware = nvidia.firmware(qos) if driver_of(qos) is _NVIDIA else ()
    return settings_json(
        qos,
        tool_of(qos),
        driver_of(qos).settings(qos),
        {parameter.name: parameter.value for parameter in firmware},
    )


class HostFile(NamedTuple):
    """One file of a host: its path in the host's folder, its template and values, and whether it is executable."""

    path: str
    template: str
    context: Mapping[str, object]
    executable: bool


Values = dict[str, object]
_DCB_ALONE = "dcb comes with iproute2"
_NO_PFC = "0xFF"
"""The argument of niccli for no priority at all."""


def tool_of(qos: HostQos) -> Tool:
    """Return the tool that sets a host's NICs up.

    Raises:
        RenderError: the NIC has no profile, or the tool does not support it.
    """
    nic = profile(qos)
    tool = qos.tool or nic.tools[0]
    if tool not in nic.tools:
        raise RenderError(f"{nic.name}: {tool} cannot set this NIC; expected {' or '.join(nic.tools)}")
    return tool


def values(qos: HostQos) -> Mapping[str, object]:
    """Return the template values of the tool's parts of a script.

    Raises:
        RenderError: the NIC has no profile, the tool does not support it or a value, or a required value is missing.
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
    """Return digits of a DSCP map with ``-`` for 0, for drivers in which a DSCP without an entry has priority 0."""
    return digits.replace("0", "-")


def _ets(ets: Ets) -> Mapping[str, str]:
    return {
        "prio_tc": _pairs(ets.priority_to_tc),
        "tc_tsa": _pairs(ets.tsa),
        "tc_bw": _pairs(ets.bandwidth_percent),
    }


def _pairs(values: Iterable[object]) -> str:
    return " ".join(f"{number}:{value}" for number, value in zip(PRIORITIES, values, strict=True))
