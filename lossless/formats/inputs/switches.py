"""Turns configurations of switches with another system than SONiC, and facts of hosts, into the fabric model.

Configurations are recognized, and read by their dialects. NIC profiles give the adapters of hosts by PCI ID; ports of
hosts that are not on the fabric, such as those for storage, are left out.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.formats.hosts.to_model import Hosts, read_hosts
from lossless.formats.switches.registry import (
    SUFFIXES as SUFFIXES,
    TITLES,
    Format as Format,
    dialect,
    of_data,
    of_text,
    supported as supported_formats,
)
from lossless.ground.basics.errors import Problem, ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined
from lossless.model.fabric.model import Fabric
from lossless.model.hardware.load import nic_profiles

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from lossless.formats.hosts.read.facts import Facts
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.configured_switch import ReadSwitch, Words
    from lossless.model.fabric.hosts import HostInterfaces, HostQos
    from lossless.model.fabric.model import Switch
    from lossless.model.hardware.load import Folder

__all__ = [
    "SUFFIXES",
    "Format",
    "SwitchInput",
    "configuration_in",
    "fabric_of_switches",
    "is_structured",
    "read_switch",
    "rules_without_meaning",
    "supported_formats",
    "systems_of",
]


def hosts_of(files: Sequence[Facts], profile_dirs: Sequence[Folder]) -> Hosts:
    """Return the hosts that files of facts describe, and the problems of the files."""
    problems = [*dict.fromkeys(problem for facts in files for problem in facts.problems)]
    try:
        nics = nic_profiles(profile_dirs)
    except ProfileError as error:
        nics = ()
        problems.insert(0, Problem(files[0].document.file, None, None, str(error)))
    hosts = read_hosts(files, nics)
    return hosts._replace(problems=(*problems, *hosts.problems))


def ports_on_fabric(
    hosts: Iterable[HostInterfaces], declaring: Mapping[str, tuple[Fabric, HostQos]]
) -> tuple[tuple[HostInterfaces, ...], int]:
    """Return the ports of hosts that are on the fabric of their intent, and how many are not.

    They are those that the intent names, else those of its kind of NIC, without those whose neighbor is another switch.
    A criterion that none of a host's ports meets is not applied: the host then has another NIC than declared. Of hosts
    without a declaration all are returned.
    """
    by_host: dict[str, list[HostInterfaces]] = {}
    for host in hosts:
        by_host.setdefault(host.host, []).append(host)
    on_fabric: list[HostInterfaces] = []
    for name, ports in by_host.items():
        on_fabric += _on_fabric(ports, *declaring[name]) if name in declaring else ports
    return tuple(on_fabric), sum(map(len, by_host.values())) - len(on_fabric)


def with_known_names(names: Collection[str], hosts: Iterable[HostInterfaces]) -> tuple[HostInterfaces, ...]:
    """Return host ports with the short host name, ``gpu1`` of ``gpu1.example.net``, where ``names`` has only that."""
    return tuple(_with_known_name(host, names) for host in hosts)


def _with_known_name(host: HostInterfaces, names: Collection[str]) -> HostInterfaces:
    short = host.host.partition(".")[0]
    if host.host in names or short not in names:
        return host
    return host._replace(host=short, name=short + host.name.removeprefix(host.host))


def _on_fabric(ports: Sequence[HostInterfaces], fabric: Fabric, want: HostQos) -> Sequence[HostInterfaces]:
    named = {*want.interfaces, *want.rdma_devices}
    if named:
        return _matching(
            ports, lambda port: not named.isdisjoint((*port.qos.interfaces, *port.qos.rdma_devices))
        )
    of_its_kind = _matching(ports, lambda port: port.qos.nic_name in ("", want.nic_name))
    switches = {switch.device for switch in fabric.switches}
    return _matching(of_its_kind, lambda port: _may_be_attached(port, switches))


def _may_be_attached(port: HostInterfaces, switches: set[str]) -> bool:
    neighbors = [attachment.neighbor[0] for attachment in port.attachments if attachment.neighbor]
    return not neighbors or not switches.isdisjoint(neighbors)


def _matching(
    ports: Sequence[HostInterfaces], matches: Callable[[HostInterfaces], bool]
) -> Sequence[HostInterfaces]:
    return [port for port in ports if matches(port)] or ports


def configuration_in(text: str, file: str) -> Document | None:
    """Return the switch configuration in a text, None if it is in no supported dialect."""
    name = of_text(text)
    if not name:
        return None
    document = dialect(name).document(text, file)
    document.dialect = name
    return document


def is_structured(document: Document) -> bool:
    """Return whether a YAML or JSON file is the configuration of a switch; if so, set the document's dialect."""
    document.dialect = of_data(document.data, json=document.file.lower().endswith(".json"))
    return bool(document.dialect)


class SwitchInput(NamedTuple):
    """A switch as read, reasons by code of rules that do not apply to its operating system, and texts of findings.

    The texts, by the code of the rule, are in the terms of that system.
    """

    read: ReadSwitch
    not_applicable: Mapping[str, str]
    words: Mapping[str, Words]


def read_switch(document: Document, rdma_dscps: tuple[int, ...] = ()) -> SwitchInput:
    """Return the switch of a configuration with another system; ``rdma_dscps`` are the DSCPs that must be lossless."""
    system = dialect(document.dialect)
    read = system.read(document, rdma_dscps)
    name = _name_by_file(document.file) if read.switch.name == document.shown else read.switch.name
    read = read._replace(switch=read.switch._replace(name=name, format=document.dialect))
    return SwitchInput(read, system.not_applicable, system.words)


_ANY_SWITCH = frozenset(("qos", "avd", "config", "running-config", "startup-config", "structured_config"))
"""File names, without suffix, that any switch may have: their folder is named after the switch."""


def _name_by_file(file: str) -> str:
    """Return the name of a switch whose configuration has none: that of its file, or of the file's folder."""
    folder, name = os.path.split(file)
    stem = name.partition(".")[0] or name
    return os.path.basename(folder) or stem if stem in _ANY_SWITCH else stem


def fabric_of_switches(switches: tuple[Switch, ...], files: tuple[str, ...]) -> Fabric:
    """Return the fabric of deployed switches, without links: their configurations do not contain the cabling."""
    return Fabric(
        name="",
        provenance="deployed",
        classes=switches[0].classes,
        congestion=None,
        switches=switches,
        hosts=(),
        links=(),
        networks=(),
        capacities=(),
        sources=files,
    )


def systems_of(documents: Iterable[Document]) -> str:
    """Return the names of the systems of configurations other than SONiC, as text for messages."""
    return joined(dict.fromkeys(TITLES[document.dialect] for document in documents if document.dialect))


def rules_without_meaning(name: str) -> Mapping[str, str]:
    """Return the rules that have no meaning for a switch system, each with the reason."""
    return dialect(name).not_applicable
