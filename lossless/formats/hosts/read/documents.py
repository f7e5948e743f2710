"""Reads JSON and YAML about hosts: an object of ``dcb -j``, or a resource of NVIDIA's operator.

A resource of the operator has the intended settings of hosts. With ``roceOptimized`` the operator writes three firmware
settings of its own, which ``rawNvConfig`` overrides: ROCE_CC_PRIO_MASK 255, CNP_DSCP 4, CNP_802P_PRIO 6; by default it
trusts DSCP, pauses priority 3 and leaves the ToS byte 0 (Mellanox/nic-configuration-operator README.md and
pkg/configuration/configvalidation.go @8bfbeb3).

Recognizes JSON and YAML documents about hosts, with as little code as a search through a repository needs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.hosts.from_model.nvidia import MASK, PARAMETERS
from lossless.formats.hosts.read.dcb import said_by
from lossless.formats.hosts.read.facts import Facts, HostFact, folder_host, interface_named
from lossless.formats.hosts.read.tools import parameter_key
from lossless.ground.basics.errors import Problem
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document, ValuePlace
from lossless.model.fabric.priorities import priorities_of_flags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.ground.basics.findings import Path


_BY_DEFAULT = {"trust": "dscp", "pfc": "0,0,0,1,0,0,0,0", "tos": 0}
_BY_ITSELF = {"dcqcn.priority_mask": 255, "dcqcn.cnp_dscp": 4, "dcqcn.cnp_priority": 6}
_BETWEEN = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_NO_BREAK = re.compile(r"[^\n]")
_NODE = ("spec", "configuration", "template")


def read_document(document: Document) -> Facts:
    """Return the facts of a document about a host."""
    if is_resource(document.data):
        return _resource(document)
    scope = interface_named(document.file)
    facts = tuple(fact._replace(path=fact.path[1:]) for fact in said_by(document.data, scope, "dcb"))
    return Facts(document, folder_host(document.file), facts, ())


def resources_in(text: str, file: str) -> tuple[Facts, ...]:
    """Return the facts of the operator's resources in a file of several YAML documents; empty where it has none.

    Paths begin with the name of the resource. Each document is parsed with as many blanks before it as the file has
    characters there, so that its places are those of the file.
    """
    starts = [0, *(match.end() for match in _BETWEEN.finditer(text))]
    ends = [*(match.start() for match in _BETWEEN.finditer(text)), len(text)]
    parts: dict[str, Document] = {}
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if not text[start:end].strip():
            continue
        document = load_text(_NO_BREAK.sub(" ", text[:start]) + text[start:end], file)
        if "apiVersion" not in document.data:
            return ()  # No file of a cluster: what else it is must not be left out.
        if is_resource(document.data):
            name = str(_dig(document.data, ("metadata", "name")) or number)
            parts[f"{name} ({number})" if name in parts else name] = document
    whole = Document(file, text, {name: each.data for name, each in parts.items()}, _ResourceLocator(parts))
    return tuple(_of_resource(read_document(document), name, whole) for name, document in parts.items())


def _of_resource(facts: Facts, name: str, whole: Document) -> Facts:
    said = tuple(fact._replace(path=(name, *fact.path)) for fact in facts.said)
    return facts._replace(document=whole, said=said)


class _ResourceLocator:
    """Finds places in the documents of one file; paths begin with the name of the resource."""

    __slots__ = ("_parts",)

    def __init__(self, parts: dict[str, Document]) -> None:
        self._parts = parts

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, for each path, its place."""
        found: dict[Path, ValuePlace] = {}
        for path in paths:
            part = self._parts.get(str(path[0])) if path else None
            found[path] = ValuePlace(0, 0, 0, 0) if part is None else part.places([path[1:]])[path[1:]]
        return found


def _resource(document: Document) -> Facts:
    """Return the intended settings in a NicConfigurationTemplate or a NicDevice, which names its node."""
    data = document.data
    is_device = data.get("kind") == "NicDevice"
    name = _dig(data, ("metadata", "name"))
    node = _dig(data, ("status", "node")) if is_device else None
    path: Path = _NODE if is_device else ("spec", "template")
    template = _dig(data, path)
    has_one = isinstance(template, dict)
    facts = tuple(_wanted(template, path)) if has_one else ()
    # One that sets up nothing of RoCE, such as the number of virtual functions, says nothing wrong.
    problems = (
        [] if has_one else [_problem(document, path, f"{data.get('kind')} has no {'.'.join(map(str, path))}")]
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
    """Yield a firmware setting of the first port, which stands for both ports."""
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


_GROUP = "configuration.net.nvidia.com/"
_KINDS = ("NicConfigurationTemplate", "NicDevice")
_DCB = ({"dscp_prio"}, {"prio_pfc"}, {"tc_tsa", "prio_tc"}, {"prio_buffer", "buffer_size"}, {"lld_managed"})
_BARE_DCBX = frozenset({"host", "ieee", "cee", "static"})


def speaks_of_hosts(data: Mapping[Any, Any]) -> bool:
    """Return whether a document is an operator's resource, or an object of ``dcb -j``."""
    if any(keys <= data.keys() for keys in _DCB):
        return True
    if data and data.keys() <= _BARE_DCBX and all(value is True for value in data.values()):
        return True
    return is_resource(data)


def is_resource(data: Mapping[Any, Any]) -> bool:
    """Return whether a document is a resource of NVIDIA's nic-configuration-operator that sets up NICs."""
    return str(data.get("apiVersion", "")).startswith(_GROUP) and data.get("kind") in _KINDS
