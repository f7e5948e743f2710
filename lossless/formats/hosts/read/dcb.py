"""Reads ``dcb -j OBJECT show dev IF``, and resources of NVIDIA's NIC operator: JSON and YAML about hosts.

``dcb`` prints one JSON object for each of app, pfc, ets, buffer, dcbx and apptrust. Source: iproute2
dcb/dcb_{app,pfc,ets,buffer}.c (pmachata/iproute2 @3c3a345, @cecd504, @63672e4), dcb/dcb_dcbx.c (iproute2/iproute2
@9ef3210) and lib/json_print.c: on and off are booleans in JSON; maps of app are lists of pairs, maps of priorities
(``prio_tc``, ``prio_buffer``) lists of eight values.

A resource of the operator has the intended settings of hosts. With ``roceOptimized`` the operator writes three firmware
settings of its own, which ``rawNvConfig`` overrides: ROCE_CC_PRIO_MASK 255, CNP_DSCP 4, CNP_802P_PRIO 6; by default it
trusts DSCP, pauses priority 3 and leaves the ToS byte 0 (Mellanox/nic-configuration-operator README.md and
pkg/configuration/configvalidation.go @8bfbeb3).

Documents about hosts are recognized with as little code as a search through a repository needs.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lossless.formats.hosts.from_model.nvidia import MASK, PARAMETERS
from lossless.formats.hosts.read.facts import (
    Facts,
    HostFact,
    SectionFlaw,
    folder_host,
    interface_named,
    parameter_key,
)
from lossless.ground.basics.errors import Problem
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document, ValuePlace
from lossless.model.fabric.cluster import priorities_of_flags
from lossless.model.fabric.hosts import Ets, ReceiveBuffers
from lossless.model.fabric.qos import PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import TypeGuard

    from lossless.formats.hosts.read.facts import Reading, Section
    from lossless.ground.basics.findings import Path


OBJECTS = ("app", "pfc", "ets", "buffer", "dcbx", "apptrust")
_TSA = ("strict", "cbs", "ets", "vendor")


def read(section: Section) -> Reading:
    """Yield the facts in the JSON object of ``dcb -j``; no output, other text and an invalid ``prio_pfc`` are flaws."""
    if not section.text.strip():
        yield SectionFlaw(
            f"{section.title}: it printed nothing",
            ValuePlace(section.start, section.start, section.start, section.start),
        )
        return
    try:
        data = json.loads(section.text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        yield SectionFlaw(f"{section.title}: expected the JSON object of dcb -j", section.lines[0].place)
        return
    if "prio_pfc" in data and _flags(data["prio_pfc"]) is None:
        yield SectionFlaw(
            f"{section.title}: prio_pfc: expected eight of on and off, or of true and false",
            _place(section, "prio_pfc"),
        )
    for fact in said_by(data, section.scope, section.title, _object(section)):
        yield fact._replace(place=_place(section, str(fact.path[-1])))


def said_by(data: Mapping[str, Any], scope: str, title: str, about: str = "") -> Iterator[HostFact]:
    """Yield the host facts in a JSON object of dcb; ``about`` is the name of that object where it is known."""
    yield from _pauses(data, scope, title)
    yield from _classes(data, scope, title)
    if about == "app" or "dscp_prio" in data:
        yield from _map(data, scope, title)
    if about == "dcbx" or {"host", "lld_managed"} & data.keys():
        hosted = data.get("host") is True and data.get("lld_managed") is not True
        key = "host" if "host" in data else "lld_managed"
        yield HostFact(scope, "dcbx", "os" if hosted else "firmware", (title, key))
    order = data.get("order")
    if isinstance(order, list) and order and order[0] in ("dscp", "pcp"):
        yield HostFact(scope, "trust", order[0], (title, "order"))


def _pauses(data: Mapping[str, Any], scope: str, title: str) -> Iterator[HostFact]:
    flags = _flags(data.get("prio_pfc"))
    if flags is not None:
        yield HostFact(scope, "pfc", priorities_of_flags(flags), (title, "prio_pfc"))
    if _is_number(data.get("delay")):
        yield HostFact(scope, "pfc_delay", data["delay"], (title, "delay"))
    buffers, sizes = data.get("prio_buffer"), data.get("buffer_size")
    if _are_numbers(buffers, 8) and _are_numbers(sizes, 8):
        yield HostFact(scope, "buffers", ReceiveBuffers(tuple(buffers), tuple(sizes)), (title, "buffer_size"))


def _classes(data: Mapping[str, Any], scope: str, title: str) -> Iterator[HostFact]:
    tcs, percent, tsa = data.get("prio_tc"), data.get("tc_bw"), data.get("tc_tsa")
    if not (_are_numbers(tcs, 8) and _are_numbers(percent, 8) and isinstance(tsa, list)):
        return
    if len(tsa) == 8 and all(word in _TSA for word in tsa) and {*tcs} <= {*PRIORITIES}:
        yield HostFact(scope, "ets", Ets(tuple(tcs), tuple(tsa), tuple(percent)), (title, "tc_tsa"))


def _map(data: Mapping[str, Any], scope: str, title: str) -> Iterator[HostFact]:
    """Yield the DSCP map, if no DSCP occurs twice, and the trust that follows from it.

    A DSCP without an entry has the default priority, 0 without one.
    """
    pairs = [pair for pair in data.get("dscp_prio") or () if _are_numbers(pair, 2) and 0 <= pair[0] < 64]
    defaults = data.get("default_prio")
    default = defaults[0] if _are_numbers(defaults, 1) else 0
    priority_by_dscp = {pair[0]: pair[1] for pair in pairs}
    if len(priority_by_dscp) == len(pairs):
        whole = tuple((dscp, priority_by_dscp.get(dscp, default)) for dscp in range(64))
        yield HostFact(scope, "dscp_to_priority", whole, (title, "dscp_prio"), rank=0 if pairs else 1)
    # Drivers without a trust order of their own trust DSCP as soon as one is mapped (mlx5 core/en_dcbnl.c).
    yield HostFact(scope, "trust", "dscp" if pairs else "pcp", (title, "dscp_prio"), rank=1)


def _object(section: Section) -> str:
    return next((word for word in section.words if word in OBJECTS), "")


def _place(section: Section, key: str) -> ValuePlace:
    for line in section.lines:
        at = line.text.find(f'"{key}"')
        if at >= 0:
            return ValuePlace(
                line.start + at,
                line.start + at + len(key) + 2,
                line.start + at,
                line.start + at + len(key) + 2,
            )
    return section.lines[0].place


def _flags(value: object) -> list[bool] | None:
    """Return whether each of eight priorities is on; None if the value is no such list."""
    if not isinstance(value, list) or len(value) != 8:
        return None
    if not all(isinstance(item, bool) or item in ("on", "off") for item in value):
        return None
    return [item in (True, "on") for item in value]


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_numbers(value: object, count: int) -> TypeGuard[list[int]]:
    return isinstance(value, list) and len(value) == count and all(_is_number(item) for item in value)


_BY_DEFAULT = {"trust": "dscp", "pfc": "0,0,0,1,0,0,0,0", "tos": 0}
_BY_ITSELF = {"dcqcn.priority_mask": 255, "dcqcn.cnp_dscp": 4, "dcqcn.cnp_priority": 6}
_BETWEEN = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_NO_BREAK = re.compile(r"[^\n]")
_NODE = ("spec", "configuration", "template")


def read_document(document: Document) -> Facts:
    """Return the host facts in a document: a resource of NVIDIA's NIC operator, or the JSON object of ``dcb -j``."""
    if is_resource(document.data):
        return _resource(document)
    scope = interface_named(document.file)
    facts = tuple(fact._replace(path=fact.path[1:]) for fact in said_by(document.data, scope, "dcb"))
    return Facts(document, folder_host(document.file), facts, ())


def resources_in(text: str, file: str) -> tuple[Facts, ...]:
    """Return the host facts of the NIC operator's resources in a file of several YAML documents, one record each.

    Empty where it has no such resource, or a document without ``apiVersion``. Paths begin with the name of the
    resource. Each document is parsed with the text before it blanked, so that its places are those of the file.

    Raises:
        InputError: a document is not a valid mapping of YAML.
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
    """Finds places in the YAML documents of one file; paths begin with the name of the resource."""

    __slots__ = ("_parts",)

    def __init__(self, parts: dict[str, Document]) -> None:
        self._parts = parts

    def places(self, paths: Iterable[Path]) -> dict[Path, ValuePlace]:
        """Return, by path, its place in the file; the beginning of the file for a resource that it does not have."""
        found: dict[Path, ValuePlace] = {}
        for path in paths:
            part = self._parts.get(str(path[0])) if path else None
            found[path] = ValuePlace(0, 0, 0, 0) if part is None else part.places([path[1:]])[path[1:]]
        return found


def _resource(document: Document) -> Facts:
    """Return the host facts of a NicConfigurationTemplate or NicDevice.

    Its host is the node that it names, else its own name, else the name of the folder.
    """
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
    """Yield the DCQCN parameter or mask in a firmware setting of the first port, for both ports; none for others."""
    name, _, port = str(row.get("name", "")).rpartition("_P")
    value = str(row.get("value", ""))
    if port != "1" or not (value.isascii() and value.isdecimal()):
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
    """Return whether a document is a resource of NVIDIA's NIC operator, or has keys of the output of ``dcb -j``."""
    if any(keys <= data.keys() for keys in _DCB):
        return True
    if data and data.keys() <= _BARE_DCBX and all(value is True for value in data.values()):
        return True
    return is_resource(data)


def is_resource(data: Mapping[Any, Any]) -> bool:
    """Return whether a document is a resource of NVIDIA's nic-configuration-operator that sets up NICs."""
    return str(data.get("apiVersion", "")).startswith(_GROUP) and data.get("kind") in _KINDS
