"""Reads Kubernetes resources and Compose files: the NIC settings of NVIDIA's operator, and environments of jobs.

A resource of the operator has the intended settings of hosts. With ``roceOptimized`` the operator writes three firmware
settings of its own, which ``rawNvConfig`` overrides: ROCE_CC_PRIO_MASK 255, CNP_DSCP 4, CNP_802P_PRIO 6; by default it
trusts DSCP, pauses priority 3 and leaves the ToS byte 0 (Mellanox/nic-configuration-operator README.md and
pkg/configuration/configvalidation.go @8bfbeb3).

A job is a container of any resource with a pod in it (Pod, Deployment, StatefulSet, Job, MPIJob, PyTorchJob, JobSet,
LeaderWorkerSet and others), a ConfigMap that no container of its file takes, or a service of a Compose file. Its
variables are those of ``envFrom`` (a ConfigMap in the same file), ``env``, and assignments in ``command`` and ``args``,
also of ``mpirun -x``; of one variable the last in this order holds (Kubernetes, Container v1 core: ``env`` takes
precedence over ``envFrom``). A value that another place has is noted, not read.

Whether a document is about hosts is recognized by a few keys, which is fast for a search through a repository.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.hosts.from_model.nvidia import MASK, PARAMETERS
from lossless.formats.hosts.read.dcb import has_keys_of_dcb, said_by
from lossless.formats.hosts.read.facts import (
    Facts,
    HostFact,
    Section,
    SectionFlaw,
    SectionLine,
    folder_host,
    interface_named,
    parameter_key,
)
from lossless.formats.hosts.read.scripts import assignments
from lossless.formats.hosts.read.tools import OURS, meaning_of, said
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document, ValuePlace
from lossless.model.fabric.cluster import priorities_of_flags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Path

_BY_DEFAULT = {"trust": "dscp", "pfc": "0,0,0,1,0,0,0,0", "tos": 0}
_BY_ITSELF = {"dcqcn.priority_mask": 255, "dcqcn.cnp_dscp": 4, "dcqcn.cnp_priority": 6}
_BETWEEN = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_NO_BREAK = re.compile(r"[^\n]")
_NODE = ("spec", "configuration", "template")


_GROUP = "configuration.net.nvidia.com/"
_KINDS = ("NicConfigurationTemplate", "NicDevice")
_VARIABLES = re.compile(r"\b(?:NCCL|UCX|MORI)_[A-Z]|\bNVME_TRANSPORT_TOS\b")


def speaks_of_hosts(document: Document) -> bool:
    """Return whether a document has facts of hosts or jobs.

    It is a resource of NVIDIA's NIC operator, has keys of the output of ``dcb -j``, or sets variables of jobs.
    """
    data = document.data
    return has_keys_of_dcb(data) or is_resource(data) or bool(_jobs(document, [((), data)]))


def is_resource(data: Mapping[Any, Any]) -> bool:
    """Return whether a document is a resource of NVIDIA's nic-configuration-operator that sets up NICs."""
    return str(data.get("apiVersion", "")).startswith(_GROUP) and data.get("kind") in _KINDS


def read_document(document: Document) -> tuple[Facts, ...]:
    """Return the facts in a document: a resource of NVIDIA's NIC operator, jobs, or a JSON object of ``dcb -j``."""
    if is_resource(document.data):
        return (_resource(document),)
    if jobs := _jobs(document, [((), document.data)]):
        return jobs
    scope = interface_named(document.file)
    facts = tuple(fact._replace(path=fact.path[1:]) for fact in said_by(document.data, scope, "dcb"))
    return (Facts(document, folder_host(document.file), facts, ()),)


def resources_in(text: str, file: str) -> tuple[Facts, ...]:
    """Return the facts of hosts and jobs in a file of several YAML documents, one record for each of them.

    Empty where it has none, or a document without ``apiVersion``. Paths begin with the name of the resource. Each
    document is parsed with the text before it blanked, so that its places are those of the file.

    Raises:
        InputError: a document is not a valid mapping of YAML.
    """
    starts = [0, *(match.end() for match in _BETWEEN.finditer(text))]
    ends = [*(match.start() for match in _BETWEEN.finditer(text)), len(text)]
    parts: dict[str, Document] = {}
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if all(not line.strip() or line.lstrip().startswith("#") for line in text[start:end].splitlines()):
            continue
        document = load_text(_NO_BREAK.sub(" ", text[:start]) + text[start:end], file)
        if "apiVersion" not in document.data:
            return ()  # No file of a cluster: what else it is must not be left out.
        name = str(_dig(document.data, ("metadata", "name")) or number)
        parts[f"{name} ({number})" if name in parts else name] = document
    whole = Document(file, text, {name: each.data for name, each in parts.items()}, _ResourceLocator(parts))
    resources = (
        _of_resource(_resource(document), name, whole)
        for name, document in parts.items()
        if is_resource(document.data)
    )
    return (*resources, *_jobs(whole, [((name,), document.data) for name, document in parts.items()]))


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
    """Yield the DCQCN parameter or priority mask in a firmware setting of port 1, which counts for both ports."""
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


class _Container(NamedTuple):
    """A container of a pod, or a service of a Compose file, that is a job by its variables.

    ``job`` names the resource, ``part`` its kind of pod (``Worker``); ``lacks_device``: it gets no RDMA device.
    """

    job: str
    part: str
    name: str
    settings: tuple[_Setting, ...]
    unread: tuple[str, ...]
    lacks_device: Path | None


class _Setting(NamedTuple):
    """A variable of a job with its value, None where the value refers to another source, and its path."""

    name: str
    value: str | None
    path: Path


class _Node(NamedTuple):
    """A mapping in a resource: its path, the resource's name, the words of its place, and the mapping around it."""

    data: Any
    path: Path
    job: str
    part: str
    around: Mapping[Any, Any]


_PLAIN_PLACES = frozenset({"spec", "template", "items", "metadata"})
"""Keys on the path to a pod that say nothing of the kind of pod."""
_ELSEWHERE = re.compile(r"\$[({A-Za-z_]|\{\{")
"""Values that Kubernetes, Compose, a shell or Helm takes from another place."""
_OWN_RESOURCES = re.compile(
    r"cpu|memory|ephemeral-storage|hugepages-\S+|nvidia\.com/(?:gpu(?:\.shared)?|mig-\S+)|amd\.com/gpu"
)
"""Resources that are no network device."""
_OF_GPUS = re.compile(r"nvidia\.com/(?:gpu(?:\.shared)?|mig-\S+)|amd\.com/gpu")
_NETWORKS = ("k8s.v1.cni.cncf.io/networks", "networking.gke.io/interfaces")
"""Annotations of further networks: those of Multus, and of GKE (multi-network support for Pods)."""
_BY_RUNTIME = "NVIDIA_MOFED"
"""The variable by which NVIDIA's container runtime adds RDMA devices (nvidia-container-toolkit, MOFED)."""


def _jobs(whole: Document, parts: Sequence[tuple[Path, Mapping[Any, Any]]]) -> tuple[Facts, ...]:
    """Return the facts of the jobs in the documents of a file, each given with the beginning of its paths."""
    if not _VARIABLES.search(whole.text):
        return ()
    maps = {
        str(_dig(data, ("metadata", "name"))): (path, data)
        for path, data in parts
        if data.get("kind") == "ConfigMap" and isinstance(data.get("data"), dict)
    }
    found: list[_Container] = []
    taken: set[str] = set()
    for path, data in parts:
        if "apiVersion" in data and "kind" in data:
            found += _of_pods(data, path, maps, taken)
        elif isinstance(data.get("services"), dict):
            found += _of_services(data["services"], (*path, "services"))
    for name, (path, data) in maps.items():
        settings = tuple(_of_map(path, data))
        if settings and name not in taken:
            found.append(_Container(name, "", "", settings, (), None))
    return tuple(_facts_of(whole, name, container) for name, container in _named(found))


def _of_pods(
    data: Mapping[Any, Any],
    path: Path,
    maps: Mapping[str, tuple[Path, Mapping[Any, Any]]],
    taken: set[str],
) -> Iterator[_Container]:
    """Yield the containers with variables in a resource; names of ConfigMaps that they take are added to ``taken``."""
    nodes = [_Node(data, path, "", "", {})]
    while nodes:
        node = nodes.pop()
        if isinstance(node.data, list):
            nodes += [
                node._replace(
                    data=item,
                    path=(*node.path, at),
                    part=str(item.get("name", at)) if isinstance(item, dict) else node.part,
                )
                for at, item in reversed([*enumerate(node.data)])
            ]
        if not isinstance(node.data, dict):
            continue
        if "kind" in node.data:
            name = str(_dig(node.data, ("metadata", "name")) or node.data["kind"])
            node = node._replace(job=name, part="")
        containers = node.data.get("containers")
        if isinstance(containers, list):
            for at, container in enumerate(containers):
                if isinstance(container, dict):
                    yield from _of_container(node, container, (*node.path, "containers", at), maps, taken)
            continue
        nodes += [
            _Node(
                value,
                (*node.path, key),
                node.job,
                node.part if key in _PLAIN_PLACES else str(key),
                node.data,
            )
            for key, value in reversed(node.data.items())
        ]


def _of_container(
    pod: _Node,
    container: Mapping[Any, Any],
    path: Path,
    maps: Mapping[str, tuple[Path, Mapping[Any, Any]]],
    taken: set[str],
) -> Iterator[_Container]:
    settings: list[_Setting] = []
    unread: list[str] = []
    for source in _listed(container, "envFrom"):
        name = _dig(source, ("configMapRef", "name"))
        if name in maps:
            taken.add(name)
            settings += _of_map(*maps[name])
        elif name or _dig(source, ("secretRef", "name")):
            unread.append(f"ConfigMap {name}" if name else f"Secret {_dig(source, ('secretRef', 'name'))}")
    for at, entry in enumerate(_listed(container, "env")):
        if OURS.match(str(entry.get("name", ""))):
            value = _written(entry.get("value")) if "valueFrom" not in entry else None
            settings.append(_Setting(entry["name"], value, (*path, "env", at, "value")))
    for key in ("command", "args"):
        settings += _of_words(container.get(key), (*path, key))
    if settings:
        lacks = _lacks_device(pod, container, settings)
        named = str(container.get("name", ""))
        place = (*path, "name") if named else path
        yield _Container(pod.job, pod.part, named, tuple(settings), tuple(unread), place if lacks else None)


def _lacks_device(pod: _Node, container: Mapping[Any, Any], settings: Iterable[_Setting]) -> bool:
    """Return whether a container with GPUs, set up for RDMA, gets no RDMA device.

    A container has devices of the host only if it requests a resource of a device plugin, a claim, or is privileged
    (Kubernetes, Device Plugins). An annotation of networks may add such a request (network-resources-injector), and so
    may the container runtime of NVIDIA.
    """
    sections = [_dig(container, ("resources", kind)) for kind in ("limits", "requests")]
    requested = {str(name) for section in sections if isinstance(section, dict) for name in section}
    annotations = _dig(pod.around, ("metadata", "annotations"))
    claims = (_dig(container, ("resources", "claims")), pod.data.get("resourceClaims"))
    environment = {str(entry.get("name")) for entry in _listed(container, "env")}
    volumes = {str(_dig(volume, ("hostPath", "path"))) for volume in _listed(pod.data, "volumes")}
    return (
        any(map(_OF_GPUS.fullmatch, requested))
        and _wants_rdma(settings)
        and all(map(_OWN_RESOURCES.fullmatch, requested))
        and _dig(container, ("securityContext", "privileged")) is not True
        and not any(claims)
        and not (isinstance(annotations, dict) and any(name in annotations for name in _NETWORKS))
        and _BY_RUNTIME not in environment
        and not any(volume == "/dev" or volume.startswith("/dev/") for volume in volumes)
    )


def _wants_rdma(settings: Iterable[_Setting]) -> bool:
    """Return whether variables choose a NIC or a header field of RDMA, and none turns it off."""
    values = {setting.name: setting.value for setting in settings}
    names = ("NCCL_IB_HCA", "NCCL_IB_TC", "NCCL_IB_GID_INDEX", "UCX_IB_TRAFFIC_CLASS", "UCX_IB_GID_INDEX")
    return values.get("NCCL_IB_DISABLE", "0") == "0" and any(name in values for name in names)


def _of_services(services: Mapping[Any, Any], path: Path) -> Iterator[_Container]:
    """Yield the services with variables in a Compose file (Compose Specification, 05-services)."""
    for name, service in services.items():
        if not isinstance(service, dict):
            continue
        settings: list[_Setting] = []
        environment, place = service.get("environment"), (*path, name, "environment")
        if isinstance(environment, dict):
            pairs = [(str(key), value, (*place, key)) for key, value in environment.items()]
        else:
            items = environment if isinstance(environment, list) else ()
            pairs = [
                (key, value if has else None, (*place, at))
                for at, item in enumerate(items)
                for key, has, value in [str(item).partition("=")]
            ]
        settings += [_Setting(key, _written(value), at) for key, value, at in pairs if OURS.match(key)]
        for key in ("entrypoint", "command"):
            settings += _of_words(service.get(key), (*path, name, key))
        if settings:
            files = service.get("env_file")
            unread = (f"env_file {files}",) if isinstance(files, str) else ("env_file",) if files else ()
            lacks = _service_lacks_device(service, {key for key, _, _ in pairs}, settings)
            yield _Container(str(name), "", "", tuple(settings), unread, settings[0].path if lacks else None)


def _service_lacks_device(
    service: Mapping[Any, Any], environment: set[str], settings: Iterable[_Setting]
) -> bool:
    """Return whether a service with GPUs, set up for RDMA, gets no RDMA device of its host."""
    reserved = _dig(service, ("deploy", "resources", "reservations", "devices"))
    devices = [*_listed_words(service, "devices"), *_listed_words(service, "volumes")]
    return (
        bool(reserved or service.get("gpus") or service.get("runtime") == "nvidia")
        and _wants_rdma(settings)
        and service.get("privileged") is not True
        and not any(device.partition(":")[0].startswith("/dev") for device in devices)
        and not any(
            "cdi" in str(entry.get("driver", "")) for entry in reserved or () if isinstance(entry, dict)
        )
        and "extends" not in service
        and _BY_RUNTIME not in environment
    )


def _of_map(path: Path, data: Mapping[Any, Any]) -> Iterator[_Setting]:
    for key, value in data["data"].items():
        if OURS.match(str(key)):
            yield _Setting(str(key), _written(value), (*path, "data", key))


def _of_words(words: object, path: Path) -> Iterator[_Setting]:
    """Yield the variables that a command sets; of a script in one word all lines have the place of that word."""
    for at, word in enumerate(words if isinstance(words, list) else [words]):
        place = (*path, at) if isinstance(words, list) else path
        for line in str(word).splitlines():
            if not line.lstrip().startswith("#"):
                for name, value in assignments(line):
                    if OURS.match(name):
                        yield _Setting(name, _written(value), place)


def _written(value: object) -> str | None:
    """Return the value of a variable as text; None where it refers to another source."""
    if value is None or isinstance(value, dict | list):
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return None if _ELSEWHERE.search(text) else text


def _listed(data: Mapping[Any, Any], key: str) -> list[Mapping[Any, Any]]:
    value = data.get(key)
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


def _listed_words(data: Mapping[Any, Any], key: str) -> list[str]:
    value = data.get(key)
    items = value if isinstance(value, list) else []
    return [str(item.get("source", "")) if isinstance(item, dict) else str(item) for item in items]


def _named(found: Iterable[_Container]) -> Iterator[tuple[str, _Container]]:
    """Yield jobs by name; parts and containers are named where a resource has several, equal names numbered."""
    names: dict[str, int] = {}
    for job, of_job in grouped((container.job, container) for container in found).items():
        for part, of_part in grouped((container.part, container) for container in of_job).items():
            for container in of_part:
                words = [job]
                words += [part] if part and len({each.part for each in of_job}) > 1 else []
                words += [container.name] if container.name and len(of_part) > 1 else []
                name = "/".join(words)
                names[name] = names.get(name, 0) + 1
                yield (name if names[name] == 1 else f"{name} ({names[name]})"), container


def _facts_of(whole: Document, name: str, container: _Container) -> Facts:
    """Return the facts of a job; notes name values that are set elsewhere, problems unreadable values."""
    last = {setting.name: setting for setting in container.settings}
    facts: list[HostFact] = []
    problems: list[Problem] = []
    notes = [f"{whole.file}: variables of {name} in {source}: not read" for source in container.unread]
    section = Section("environment", "", ())
    for setting in last.values():
        if setting.value is None:
            notes.append(f"{whole.file}: {setting.name} of {name} is set elsewhere: not read")
            continue
        line = SectionLine(0, "")
        stated = said(section, f"variable.{setting.name}", (setting.name, setting.value), line)
        for item in (stated, *meaning_of(section, setting.name, setting.value, line)):
            if isinstance(item, SectionFlaw):
                problems.append(_problem(whole, setting.path, item.message))
            else:
                facts.append(item._replace(path=setting.path, place=None))
    if container.lacks_device is not None:
        facts.append(HostFact("", "lacks_rdma_device", True, container.lacks_device))
    return Facts(whole, name, tuple(facts), tuple(problems), is_job=True, notes=tuple(notes))
