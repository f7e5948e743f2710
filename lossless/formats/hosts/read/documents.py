"""JSON and YAML that say something of hosts: an object that ``dcb -j`` printed, an NVIDIA operator's resource.

A resource of the operator says what hosts are to be; where it optimizes for RoCE it writes three firmware settings of
its own, which ``rawNvConfig`` overrides: ROCE_CC_PRIO_MASK 255, CNP_DSCP 4, CNP_802P_PRIO 6, and without words of
its own it trusts DSCP, pauses priority 3 and leaves the ToS byte 0 (Mellanox/nic-configuration-operator README.md and
pkg/configuration/configvalidation.go @8bfbeb3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.hosts.from_model.nvidia import MASK, PARAMETERS
from lossless.formats.hosts.read.dcb import said_by
from lossless.formats.hosts.read.facts import HostFact
from lossless.formats.hosts.read.facts_file import Facts, folder_host, interface_named
from lossless.formats.hosts.read.recognition import is_resource
from lossless.formats.hosts.read.tools import parameter_key
from lossless.ground.basics.errors import Problem
from lossless.model.fabric.priorities import priorities_of_flags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

_BY_DEFAULT = {"trust": "dscp", "pfc": "0,0,0,1,0,0,0,0", "tos": 0}
_BY_ITSELF = {"dcqcn.priority_mask": 255, "dcqcn.cnp_dscp": 4, "dcqcn.cnp_priority": 6}
_NODE = ("spec", "configuration", "template")


def read_document(document: Document) -> Facts:
    """Return what a document says of a host."""
    if is_resource(document.data):
        return _resource(document)
    scope = interface_named(document.file)
    facts = tuple(fact._replace(path=fact.path[1:]) for fact in said_by(document.data, scope, "dcb"))
    return Facts(document, folder_host(document.file), facts, ())


def _resource(document: Document) -> Facts:
    """Return what a NicConfigurationTemplate or a NicDevice wants; a device names its node."""
    data = document.data
    is_device = data.get("kind") == "NicDevice"
    name = _dig(data, ("metadata", "name"))
    node = _dig(data, ("status", "node")) if is_device else None
    path: Path = _NODE if is_device else ("spec", "template")
    template = _dig(data, path)
    facts = tuple(_wanted(template, path)) if isinstance(template, dict) else ()
    problems = (
        [] if facts else [_problem(document, path, f"{data.get('kind')} has no {'.'.join(map(str, path))}")]
    )
    return Facts(document, str(node or name or folder_host(document.file)), facts, tuple(problems))


def _wanted(template: dict[str, Any], path: Path) -> Iterator[HostFact]:
    roce = template.get("roceOptimized")
    if isinstance(roce, dict) and roce.get("enabled") is True:
        yield from _optimized(roce, (*path, "roceOptimized"))
    raw = template.get("rawNvConfig")
    for number, row in enumerate(raw if isinstance(raw, list) else ()):
        if isinstance(row, dict):
            yield from _raw(row, (*path, "rawNvConfig", number, "value"))


def _optimized(roce: dict[str, Any], path: Path) -> Iterator[HostFact]:
    for key, value in _BY_ITSELF.items():
        yield HostFact("", key, value, path, rank=1)
    stated = roce.get("qos")
    qos = stated if isinstance(stated, dict) else {}
    qos_values = {
        name: (qos.get(name, default), (*path, "qos", name)) for name, default in _BY_DEFAULT.items()
    }
    trust, mask, tos = qos_values["trust"], qos_values["pfc"], qos_values["tos"]
    if trust[0] in ("dscp", "pcp"):
        yield HostFact("", "trust", trust[0], trust[1])
    flags = str(mask[0]).split(",")
    yield HostFact("", "pfc", priorities_of_flags(flag.strip() == "1" for flag in flags), mask[1])
    if isinstance(tos[0], int):
        yield HostFact("", "traffic_class", tos[0], tos[1])
    if isinstance(roce.get("roceMode"), int):
        yield HostFact("", "roce_version", roce["roceMode"], (*path, "roceMode"))
    if isinstance(qos.get("cableLen"), int):
        yield HostFact("", "cable_m", qos["cableLen"], (*path, "qos", "cableLen"))


def _raw(row: dict[str, Any], path: Path) -> Iterator[HostFact]:
    """Yield a firmware setting of the first port, which represents both."""
    name, _, port = str(row.get("name", "")).rpartition("_P")
    value = str(row.get("value", ""))
    if port != "1" or not value.isdecimal():
        return
    if name == MASK:
        yield HostFact("", "dcqcn.priority_mask", int(value), path)
    elif name.lower() in PARAMETERS:
        yield HostFact("", parameter_key(name.lower()), int(value), path)


def _dig(data: Any, path: Path) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _problem(document: Document, path: Path, message: str) -> Problem:
    span = document.locate(path)
    return Problem(document.file, span.line, span.column, message)
