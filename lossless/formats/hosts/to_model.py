"""Turns files of facts into the hosts of the model: all facts of a host together, interface by interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import UNKNOWN, NamedTuple
from lossless.model.fabric.cluster import priorities_of_bits
from lossless.model.fabric.hosts import Attachment, HostInterfaces, Jobs, Library, Transport, Variable, unread
from lossless.model.fabric.view import bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.hosts.read.facts import Facts, HostFact
    from lossless.model.fabric.hosts import Dcqcn, HostQos
    from lossless.model.hardware.devices import NicProfile


_WIRING = ("pci", "rdma_device")
_PLAIN = {
    "trust": "trust",
    "dcbx": "dcbx",
    "dscp_to_priority": "dscp_to_priority",
    "pfc": "pfc_priorities",
    "mtu": "mtu_bytes",
    "rate": "rate_bps",
    "cable_m": "cable_m",
    "ets": "ets",
    "buffers": "buffers",
    "global_pause": "global_pause",
    "rdma_mtu": "rdma_mtu_bytes",
    "roce_version": "roce_version",
    "traffic_class": "traffic_class",
    "cma_tos": "cma_tos",
    "pfc_prevention": "stall_ms",
    "reorder": "out_of_order",
    "retransmission": "selective_repeat",
    "gid_types": "gid_types",
    "driver": "driver",
    "nccl.ib_tc": "nccl_tc",
}
"""Keys of facts, and the field of :class:`~lossless.model.fabric.hosts.HostQos` for each."""
_JOBS = {
    "nccl.ib_fifo_tc": "fifo_tc",
    "nccl.ib_qps_per_connection": "qps_per_connection",
    "nccl.ib_gid_index": "gid_index",
    "nccl.ib_hca": "hca",
    "nccl.socket_ifname": "socket_interfaces",
    "ucx.net_devices": "ucx_devices",
}
_DCQCN = ("enabled", "priorities", "notifying", "priority_mask", "cnp_dscp", "cnp_priority")
_TIMEOUT, _RETRIES = 20, 7
"""NCCL's default timeout and retry count (NVIDIA/nccl src/transport/net_ib @5067397)."""


class InterfaceFact(NamedTuple):
    """One fact about an interface: its value, its origin, its rank, and its line, 0 without a place."""

    value: Any
    origin: Origin
    rank: int
    line: int = 0


class Hosts(NamedTuple):
    """The interfaces of all hosts by their settings, and the contradictions between facts of one host.

    ``notes`` are values in a transcript that a later output of the same command changes, and values of jobs that
    another place sets.
    """

    hosts: tuple[HostInterfaces, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()


def read_hosts(files: Iterable[Facts], nics: Sequence[NicProfile]) -> Hosts:
    """Return the hosts in files of facts, by name; hosts with identical interfaces and settings share their QoS."""
    by_host: dict[tuple[str, str], list[Facts]] = {}
    notes: dict[str, None] = {}
    for facts in files:
        # Jobs of several files may have one name.
        by_host.setdefault((facts.host, facts.document.file if facts.is_job else ""), []).append(facts)
        notes |= dict.fromkeys(facts.notes)
    hosts: list[HostInterfaces] = []
    problems: list[Problem] = []
    shared: dict[Any, HostQos] = {}
    for (name, _), of_host in sorted(by_host.items()):
        for interface in _interfaces(name, of_host, nics, problems, notes):
            meaning = _meaning(interface.qos)
            hosts.append(interface._replace(qos=shared.setdefault(meaning, interface.qos)))
    return Hosts(tuple(hosts), tuple(problems), tuple(notes))


def _interfaces(
    host: str,
    files: Sequence[Facts],
    nics: Sequence[NicProfile],
    problems: list[Problem],
    notes: dict[str, None],
) -> Iterator[HostInterfaces]:
    all_facts = [(facts, fact) for facts in files for fact in facts.said]
    owners = _owners(all_facts)
    interfaces = sorted(set(owners.values())) or [""]
    known: dict[str, dict[str, InterfaceFact]] = {interface: {} for interface in interfaces}
    contradicted: dict[tuple[str, str], Problem] = {}
    for facts, fact in all_facts:
        owner = owners.get(fact.scope, fact.scope)
        for interface in interfaces if owner not in known else (owner,):
            _add(known[interface], facts, fact, contradicted, interface, notes)
    problems.extend(_once(contradicted.values()))
    read = [
        (_qos(interface_facts, interface, files, nics), _attachment(interface, interface_facts))
        for interface, interface_facts in known.items()
    ]
    yield from _identical(host, read)


def _identical(host: str, read: Iterable[tuple[HostQos, Attachment | None]]) -> Iterator[HostInterfaces]:
    """Yield the interfaces of one host, grouped by identical settings."""
    groups: dict[Any, list[tuple[HostQos, Attachment | None]]] = {}
    for qos, attachment in read:
        groups.setdefault(_meaning(qos._replace(interfaces=(), rdma_devices=())), []).append(
            (qos, attachment)
        )
    for group in groups.values():
        first = group[0][0]
        interfaces = tuple(name for qos, _ in group for name in qos.interfaces)
        devices = tuple(name for qos, _ in group for name in qos.rdma_devices)
        yield HostInterfaces(
            host if len(groups) == 1 else f"{host}:{interfaces[0]}",
            host,
            first._replace(interfaces=interfaces, rdma_devices=devices),
            tuple(attachment for _, attachment in group if attachment),
        )


def _meaning(qos: HostQos) -> Any:
    """Return the settings of a host without origins and NIC profile, to compare them; the profile's name stays."""
    return bare(qos._replace(nic=None))


def _owners(facts: Iterable[tuple[Facts, HostFact]]) -> dict[str, str]:
    """Return the interface of every RDMA device, PCI address and interface in the facts.

    A name without a known interface stands for itself, except that a device gets the sole interface, if there is only
    one.
    """
    owners: dict[str, str] = {}
    others: set[str] = set()
    for _, fact in facts:
        if fact.key in _WIRING:
            owners[str(fact.value)] = fact.scope
            owners[fact.scope] = fact.scope
        elif fact.scope:
            others.add(fact.scope)
    return _tied({**{name: name for name in others}, **owners})


def _tied(owners: dict[str, str]) -> dict[str, str]:
    """Return the interfaces of RDMA devices and PCI addresses; one without any gets the only interface."""
    devices = {name for name, owner in owners.items() if name == owner and _is_device(name)}
    interfaces = {owner for owner in owners.values() if owner not in devices}
    if len(interfaces) == 1:
        (only,) = interfaces
        return {name: only if name in devices else owner for name, owner in owners.items()}
    return owners


def _is_device(name: str) -> bool:
    return ":" in name or name.startswith(("mlx5_", "bnxt_re", "rocep", "irdma"))


def _add(
    known: dict[str, InterfaceFact],
    facts: Facts,
    fact: HostFact,
    contradicted: dict[tuple[str, str], Problem],
    interface: str,
    notes: dict[str, None],
) -> None:
    """Add a fact to those of an interface.

    Of two values of equal rank that contradict each other neither is used, and the contradiction is reported. Where a
    transcript has two outputs of one command for the same interface, the later one is used.
    """
    new = InterfaceFact(fact.value, Origin(facts.document.file, fact.path), fact.rank, facts.line_of(fact))
    old = known.get(fact.key)
    if (interface, fact.key) in contradicted:
        return
    if old is None or new.rank < old.rank:
        known[fact.key] = new
    elif (
        new.rank == old.rank
        and new.origin == old.origin
        and new.line > old.line
        and (facts.names_object(fact) or facts.is_of_one_object)
    ):
        known[fact.key] = new
        if bare(new.value) != bare(old.value):
            notes[_outdated(new, old)] = None
    elif new.rank == old.rank and bare(new.value) != bare(old.value):
        del known[fact.key]
        contradicted[interface, fact.key] = _contradiction(facts, fact, old)


def _outdated(new: InterfaceFact, old: InterfaceFact) -> str:
    command, key = new.origin.path[0], new.origin.path[-1]
    return f"{new.origin.file}: {key} of line {old.line}, as {command} printed it again in line {new.line}, which holds"


def _contradiction(facts: Facts, fact: HostFact, old: InterfaceFact) -> Problem:
    span = facts.document.locate(fact.path)
    there = "another line" if old.origin.file == facts.document.file else old.origin.file
    return Problem(facts.document.file, span.line, span.column, f"contradicts {there} of the same host")


def _once(contradictions: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the first of the contradictions of a file with one message, with the number of further ones."""
    identical: dict[tuple[str, str], list[Problem]] = {}
    for problem in contradictions:
        identical.setdefault((problem.file, problem.message), []).append(problem)
    for first, *more in identical.values():
        also = f", here and in {len(more)} more places" if more else ""
        yield first._replace(message=f"{first.message}{also}; what they differ in is not checked")


def _attachment(interface: str, known: Mapping[str, InterfaceFact]) -> Attachment | None:
    if not interface or not known:  # nothing is left of what contradicts itself
        return None
    device, neighbor = known.get("rdma_device"), known.get("neighbor")
    first = neighbor or device or next(iter(known.values()))
    return Attachment(
        interface, device.value if device else None, neighbor.value if neighbor else None, first.origin
    )


def _qos(
    known: Mapping[str, InterfaceFact], interface: str, files: Sequence[Facts], nics: Sequence[NicProfile]
) -> HostQos:
    origin = next((fact.origin for fact in known.values()), Origin(files[0].document.file))
    nic = _nic(known, nics)
    host = unread(Origin(origin.file))
    plain = {field: known[key].value for key, field in _PLAIN.items() if key in known}
    driver = plain.get("driver", nic.driver if nic else UNKNOWN)
    device = known.get("rdma_device")
    plain |= {"driver": driver, "cable_m": plain.get("cable_m", _cable(known, driver))}
    return host._replace(
        **plain,
        nic=nic,
        nic_name=nic.name if nic else "",
        interfaces=(interface,) if interface else (),
        rdma_devices=(str(device.value),) if device else (),
        dcqcn=_dcqcn(host.dcqcn, known),
        transport=_transport(known),
        jobs=_jobs(host.jobs, known),
        pfc_origin=_at(known, "pfc", host.origin),
        traffic_class_origin=_at(known, "traffic_class", host.origin),
        nccl_tc_origin=_at(known, "nccl.ib_tc", host.origin),
        mtu_origin=_at(known, "mtu", host.origin),
        nic_origin=_at(known, "device", host.origin),
        origins=tuple((_spoken(key), fact.origin) for key, fact in sorted(known.items())),
    )


def _spoken(key: str) -> str:
    return "cable_m" if key == "pfc_delay" else key


def _at(known: Mapping[str, InterfaceFact], key: str, otherwise: Origin) -> Origin:
    return known[key].origin if key in known else otherwise


def _nic(known: Mapping[str, InterfaceFact], nics: Sequence[NicProfile]) -> NicProfile | None:
    """Return the NIC profile with the PCI vendor and device ID of a NIC, None where they or the profile are unknown."""
    if "vendor" not in known or "device" not in known:
        return None
    ids = (known["vendor"].value, known["device"].value)
    spelled = ":".join(str(number).lower().removeprefix("0x") for number in ids)
    return next((nic for nic in nics if nic.pci_id == spelled), None)


def _cable(known: Mapping[str, InterfaceFact], driver: object) -> Any:
    """Return the cable length in meters, which mlx5 and the output of mlnx_qos have as PFC's delay; else UNKNOWN.

    The delay of other drivers is in bit times (IEEE 802.1Qbb).
    """
    delay = known.get("pfc_delay")
    is_length = delay is not None and (driver == "mlx5" or delay.origin.path[-1] == "pfc_delay")
    return delay.value if delay is not None and is_length else UNKNOWN


def _dcqcn(unknown: Dcqcn, known: Mapping[str, InterfaceFact]) -> Dcqcn:
    prefix = "dcqcn."
    dcqcn_facts = {key.removeprefix(prefix): fact for key, fact in known.items() if key.startswith(prefix)}
    values = {
        key.removeprefix("value."): fact for key, fact in dcqcn_facts.items() if key.startswith("value.")
    }
    fields = {name: dcqcn_facts[name].value for name in _DCQCN if name in dcqcn_facts}
    if "bnxt.enabled" in known:
        dcqcn_facts |= _broadcom(known)
        fields |= {name: dcqcn_facts[name].value for name in _DCQCN if name in dcqcn_facts}
    mask = fields.get("priority_mask")
    if isinstance(mask, int) and "enabled" not in fields:
        # The kernel's own driver has no switch of its own: the firmware's mask is what DCQCN runs on.
        on = priorities_of_bits(mask)
        fields |= {"enabled": bool(on), "priorities": on, "notifying": on}
        dcqcn_facts |= {"priorities": dcqcn_facts["priority_mask"], "notifying": dcqcn_facts["priority_mask"]}
    origins = {name.removeprefix("value."): fact.origin for name, fact in dcqcn_facts.items()}
    return unknown._replace(
        **fields,
        values=tuple(sorted((name, fact.value) for name, fact in values.items())),
        stated=tuple(sorted(values)),
        origin=next(iter(origins.values()), unknown.origin),
        origins=tuple(sorted(origins.items())),
    )


def _broadcom(known: Mapping[str, InterfaceFact]) -> dict[str, InterfaceFact]:
    """Return the DCQCN facts of bnxt_re; DSCP and priority of CNPs are known only without service profiles."""
    enabled = known["bnxt.enabled"]
    dcqcn_facts = {"enabled": enabled._replace(value=enabled.value != 0)}
    profiles = known.get("bnxt.profiles")
    if profiles is not None and not profiles.value:
        for name in ("cnp_dscp", "cnp_priority"):
            dcqcn_facts |= {name: known[f"bnxt.{name}"]} if f"bnxt.{name}" in known else {}
        if "bnxt.priority" in known:
            priority = known["bnxt.priority"]
            dcqcn_facts["priorities"] = priority._replace(value=(priority.value,))
    return dcqcn_facts


def _transport(known: Mapping[str, InterfaceFact]) -> Any:
    timeout, retries = known.get("nccl.ib_timeout"), known.get("nccl.ib_retry_count")
    first = timeout or retries
    if first is None:
        return UNKNOWN
    return Transport(
        timeout.value if timeout else _TIMEOUT, retries.value if retries else _RETRIES, first.origin
    )


def _jobs(unknown: Jobs, known: Mapping[str, InterfaceFact]) -> Jobs:
    fields = {field: known[key].value for key, field in _JOBS.items() if key in known}
    libraries = [
        Library(fact.value[0], key.removeprefix("library."), fact.value[2], fact.value[1], fact.origin)
        for key, fact in sorted(known.items())
        if key.startswith("library.")
    ]
    variables = [
        Variable(fact.value[0], fact.value[1], fact.origin)
        for key, fact in sorted(known.items())
        if key.startswith("variable.")
    ]
    return unknown._replace(
        **fields,
        libraries=tuple(libraries),
        variables=tuple(variables),
        lacks_device="lacks_rdma_device" in known,
    )
