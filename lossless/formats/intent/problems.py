"""Located problems of an intent: pydantic's errors, and contradictions between values that are each valid alone.

One mistake is one problem, in the words of operators. Problems of the trimming section are classes that cannot be
trimmed or carry trimmed packets, sizes, and releases without trimming.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from lossless.formats.intent.base import not_one_of, shown
from lossless.formats.intent.classes import EcnIntent
from lossless.formats.intent.document import WITH_TRIMMING, Intent
from lossless.formats.intent.jobs import VARIABLE_KEYS
from lossless.formats.intent.policy import mapping_keys, speed_mappings
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, key_suggestion, nearest, parse_rate, suggestion
from lossless.model.fabric.cabling import LEAST_TRIM_BYTES, UEC_CONTROLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic_core import ErrorDetails

    from lossless.formats.intent.document import TrimmingIntent
    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.text import Document


def contradictions(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield a problem for each contradiction between values of an intent, located in its file."""
    yield from _shared_priorities(document, intent)
    yield from _shared_dscps(document, intent)
    yield from _bandwidth(document, intent)
    yield from _rest(document, intent)
    yield from _speeds(document, intent)
    yield from _networks(document, intent)
    yield from _dual_tor(document, intent)
    yield from _kubernetes(document, intent)
    yield from _environment(document, intent)
    yield from _transport(document, intent)
    yield from contradictions_of_trimming(document, intent)


def _transport(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield a problem for a congestion control or NIC retransmission that the transport does not have."""
    kind = intent.congestion_control.kind
    if intent.transport == "rocev2" and kind in UEC_CONTROLS:
        message = f"congestion_control: {kind} is that of transport uec; RoCEv2 has dcqcn"
        yield located(document, ("congestion_control",), message)
    if intent.transport != "rocev2" and intent.hosts.retransmission is not None:
        message = (
            "hosts.retransmission is of RoCE NICs; those of Ultra Ethernet send lost packets alone again"
        )
        yield located(document, ("hosts", "retransmission"), message)


def _shared_priorities(document: Document, intent: Intent) -> Iterator[Problem]:
    owners: dict[int, str] = {}
    for name, cls in intent.classes.items():
        first = owners.setdefault(cls.priority, name)
        if first != name:
            here, other = _written_first(document, name, first, "priority")
            message = f"classes.{here}.priority: {cls.priority} is already the priority of class {other}"
            yield located(document, ("classes", here, "priority"), message)


def _shared_dscps(document: Document, intent: Intent) -> Iterator[Problem]:
    owners: dict[int, str] = {}
    for name, cls in intent.classes.items():
        seen = set()
        for index, dscp in enumerate(cls.dscps):
            first = owners.setdefault(dscp, name)
            if dscp in seen:
                message = f"classes.{name}.dscp: DSCP {dscp} occurs twice in the list"
                yield located(document, _dscp_path(document, name, index), message)
            elif first != name:
                here, other = _written_first(document, name, first, "dscp")
                index = intent.classes[here].dscps.index(dscp)
                message = f"classes.{here}.dscp: DSCP {dscp} already belongs to class {other}"
                yield located(document, _dscp_path(document, here, index), message)
            seen.add(dscp)


def _written_first(document: Document, second: str, first: str, key: str) -> tuple[str, str]:
    """Return the class to report for a shared priority or DSCP, then the other class.

    The second class is reported, unless only the first one's value is in the file and not from the preset.
    """
    only_first = document.exists(("classes", first, key)) and not document.exists(("classes", second, key))
    return (first, second) if only_first else (second, first)


def _dscp_path(document: Document, name: str, index: int) -> Path:
    path = ("classes", name, "dscp")
    return (*path, index) if document.exists((*path, index)) else path


def _bandwidth(document: Document, intent: Intent) -> Iterator[Problem]:
    shares = {name: cls.bandwidth for name, cls in intent.classes.items() if cls.bandwidth}
    if sum(shares.values()) > 100:
        each = ", ".join(f"{name} {share}%{_from_preset(document, name)}" for name, share in shares.items())
        message = f"bandwidth adds up to {sum(shares.values())}%, and all classes share 100%: {each}"
        yield located(document, ("classes",), message, at_key=True)


def _from_preset(document: Document, name: str) -> str:
    return "" if document.exists(("classes", name, "bandwidth")) else " (preset)"


def _rest(document: Document, intent: Intent) -> Iterator[Problem]:
    rests = [name for name, cls in intent.classes.items() if cls.rest]
    rule = "exactly one class takes the rest of the DSCPs (dscp: rest)"
    if not rests:
        yield located(document, ("classes",), f"{rule}; there is none", at_key=True)
    elif len(rests) > 1:
        written = [name for name in rests if document.exists(("classes", name, "dscp"))]
        blamed = next((name for name in written if name != rests[0]), written[0])
        yield located(document, ("classes", blamed, "dscp"), f"{rule}; there are {', '.join(rests)}")


def _speeds(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield problems of speeds written twice, as 400G and 400 Gb/s, and of WRED profiles named like a class."""
    for name, cls in intent.classes.items():
        for path in speed_mappings(document, name):
            written: dict[int, str] = {}
            for key in mapping_keys(document, path):
                first = written.setdefault(parse_rate(key), key)
                if first != key:
                    message = f"{'.'.join(map(str, path))}: {key} is the same speed as {first}"
                    yield located(document, (*path, key), message, at_key=True)
        for speed_bps in sorted(cls.ecn.speeds() if cls.ecn else ()):
            taken = wred_name_at(name, speed_bps)
            if taken in intent.classes:
                message = (
                    f"{taken} is the name of the WRED profile of class {name} at {format_rate(speed_bps)}"
                )
                yield located(document, ("classes", taken), f"classes: {message}", at_key=True)


def wred_name_at(class_name: str, speed_bps: int) -> str:
    """Return the name of the WRED profile of a class on links of one speed: ``rdma_400000``, in Mb/s."""
    return f"{class_name}_{speed_bps // 10**6}"


def _networks(document: Document, intent: Intent) -> Iterator[Problem]:
    for name, network in intent.networks.items():
        wanted = network.traffic_class
        if wanted is not None and wanted not in intent.classes:
            message = (
                f"networks.{name}.class: no class {wanted!r}{suggestion(wanted, sorted(intent.classes))}"
            )
            yield located(document, ("networks", name, "class"), message)


REMAP = {3: 2, 4: 6}
"""The second priority of a lossless class between dual ToRs, which is also the DSCP of its tunnel, by its priority.

Source: sonic-buildimage files/build_templates/qos_config.j2 @0791705 and the maps of Arista's 7260CX3 there.
"""


def _dual_tor(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield conflicts with priorities and DSCPs that SONiC prescribes between dual ToRs, and uplinks without PFC."""
    where = _dual_tor_path(intent)
    if where is None:
        return
    lossless = {cls.priority: name for name, cls in intent.classes.items() if cls.lossless}
    second = {REMAP[priority]: name for priority, name in lossless.items() if priority in REMAP}
    for priority, name in lossless.items():
        if priority not in REMAP:
            message = f"{priority} has no second priority for tunnels between dual ToRs; 3 and 4 have"
            yield located(document, ("classes", name, "priority"), f"classes.{name}.priority: {message}")
    for name, cls in intent.classes.items():
        if cls.priority in second:
            owner = second[cls.priority]
            message = f"{cls.priority} is the second priority of class {owner} between dual ToRs"
            yield located(document, ("classes", name, "priority"), f"classes.{name}.priority: {message}")
        for index, dscp in enumerate(cls.dscps):
            if dscp in second:
                message = f"DSCP {dscp} marks tunnels of class {second[dscp]} between dual ToRs"
                yield located(document, _dscp_path(document, name, index), f"classes.{name}.dscp: {message}")
    yield from _dual_tor_pauses(document, intent, where)


def _dual_tor_pauses(document: Document, intent: Intent, where: Path) -> Iterator[Problem]:
    tiers = intent.pfc.tiers if intent.pfc else None
    if tiers is not None and "uplinks" not in tiers:
        message = (
            f"{'.'.join(map(str, where))} sends lossless classes back through uplinks, which have no PFC"
        )
        yield located(document, ("pfc", "tiers"), f"pfc.tiers: {message}; add uplinks")


def _dual_tor_path(intent: Intent) -> Path | None:
    """Return the path at which dual ToRs are declared, None where they are not."""
    topology = intent.topology
    for name, shape in (("leaf_spine", topology.leaf_spine), ("three_tier", topology.three_tier)):
        if shape is not None and shape.dual_tor:
            return ("topology", name, "dual_tor")
    dual_tors = (name for name, device in (topology.devices or {}).items() if device.dual_tor)
    first = next(dual_tors, None)
    return None if first is None else ("topology", "devices", first, "dual_tor")


def _kubernetes(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield problems of host settings, trust and ToS, that NVIDIA's NIC configuration operator does not support.

    Sources: Mellanox/nic-configuration-operator pkg/consts/consts.go @0044138 (trust), README.md @0082142 (ToS).
    """
    hosts = intent.hosts
    if hosts.kubernetes is not None and hosts.trust != "dscp":
        message = f"the operator of hosts.kubernetes is only known to set dscp, not {hosts.trust}"
        yield located(document, ("hosts", "trust"), f"hosts.trust: {message}")
    if hosts.kubernetes is not None and hosts.traffic_class == "unset":
        message = "the operator of hosts.kubernetes then writes ToS 0, which is DSCP 0; expected derived or a number"
        yield located(document, ("hosts", "traffic_class"), f"hosts.traffic_class: {message}")


def _environment(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield a problem for each environment variable that has a key of its own in the intent."""
    for name in intent.hosts.environment:
        if name in VARIABLE_KEYS:
            message = f"hosts.environment: {name} is set by {VARIABLE_KEYS[name]}"
            yield located(document, ("hosts", "environment", name), message, at_key=True)


_UNKNOWN = "extra_forbidden"
_MISSING = "missing"
_EXPECTED = {
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    "bool_type": "true or false",
    "string_type": "text",
    "too_short": "at least one entry",
}


class IntentSource(NamedTuple):
    """The sources of an intent, to locate a path in: the document, the values of its preset, and the model of both."""

    document: Document
    preset: Mapping[str, Any]
    model: type[BaseModel] = Intent

    def path(self, path: Path) -> Path:
        """Return the segments of a path that are in the file, without those that only the models have."""
        written_path: Path = ()
        for segment in path:
            if self.document.exists((*written_path, segment)):
                written_path = (*written_path, segment)
        return written_path

    def comes_from_preset(self, path: Path) -> bool:
        """Return whether the preset alone supplies the value at a path."""
        return not self.document.exists(path) and reaches(self.preset, path)


def reaches(data: Any, path: Path) -> bool:
    """Return whether a path exists in the data; False for the empty path."""
    for key in path:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return bool(path)


def located(document: Document, path: Path, message: str, *, at_key: bool = False) -> Problem:
    """Return a problem located at a path of a document, or at the deepest part of it that is written."""
    span = document.locate(path, "key" if at_key else "value")
    return Problem(document.file, span.line, span.column, message)


def in_file_order(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems ordered by their position in the file, without duplicates."""
    return sorted(set(problems), key=lambda p: (p.line or 0, p.column or 0, p.message))


def refusals(written: IntentSource, details: Sequence[ErrorDetails]) -> Iterator[Problem]:
    """Yield the problems that pydantic's errors stand for. A misspelled key is not also reported as a missing one."""
    missing: dict[Path, list[str]] = {}
    unknown = Counter(_own_words(detail["loc"])[:-1] for detail in details if detail["type"] == _UNKNOWN)
    for detail in details:
        if detail["type"] == _MISSING:
            loc = _own_words(detail["loc"])
            missing.setdefault(loc[:-1], []).append(str(loc[-1]))
    for detail in details:
        if detail["type"] == _UNKNOWN:
            loc = _own_words(detail["loc"])
            yield _unknown_key(written, loc, missing.get(loc[:-1], []), unknown[loc[:-1]])
    for parent, keys in missing.items():
        dotted = f"{_dotted(parent)}: " if parent else ""
        path = written.path(parent)
        yield from (located(written.document, path, f"{dotted}{key} is missing", at_key=True) for key in keys)
    yield from (
        _refusal(written, d)
        for d in details
        if d["type"] not in (_UNKNOWN, _MISSING) and not _about_type_of_key(d)
    )


def not_text(document: Document, data: Any, path: Path = ()) -> Iterator[Problem]:
    """Yield a problem for each key of a document that is not text, such as ``5:``, except right under ``by_speed``.

    The values below such a key are not searched.
    """
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(data, dict) and not isinstance(key, str) and path[-1:] != ("by_speed",):
            message = f"a key is text, found {shown(key)}"
            yield located(document, (*path, key), message, at_key=True)
        else:
            yield from not_text(document, value, (*path, key))


def _about_type_of_key(detail: ErrorDetails) -> bool:
    """Return whether an error is about a key that is not text, which :func:`not_text` reports with its position."""
    return detail["type"] == "invalid_key" or (
        detail["type"] == "string_type" and detail["loc"][-1] == "[key]"
    )


def _own_words(loc: tuple[str | int, ...]) -> Path:
    """Return pydantic's location of an error without the segment that only :class:`EcnBySpeed` has."""
    for at in (3, 5):
        if loc[:1] == ("classes",) and loc[2:3] == ("ecn",) and loc[at : at + 1] == ("all_speeds",):
            return (*loc[:at], *loc[at + 1 :])
    return loc


def _unknown_key(written: IntentSource, loc: Path, missing: list[str], unknown: int) -> Problem:
    key = str(loc[-1])
    here = written.path(loc[:-1])
    keys = _keys_at(written.model, loc[:-1])
    stated = {name for name in keys if written.document.exists((*here, name))}
    meant = nearest(key, missing) or nearest(key, set(keys) - stated)
    if meant is None and unknown == len(missing) == 1:
        meant = missing[0]
    if meant in missing:
        missing.remove(meant)
    hint = key_suggestion(key, keys, stated, meant=meant)
    return located(written.document, written.path(loc), f"unknown key {shown(key)}{hint}", at_key=True)


def _refusal(written: IntentSource, detail: ErrorDetails) -> Problem:
    loc = _own_words(detail["loc"])
    context = detail.get("ctx", {})
    loc = (*loc, *context.get("within", ()))
    path = written.path(loc)
    if context.get("at_key"):
        return located(written.document, path, _message(detail), at_key=True)
    named = loc if written.comes_from_preset(loc) else path
    message = f"{_dotted(named)}: {_message(detail)}" if named else _message(detail)
    if named != path:
        message += f" (preset {written.document.data['preset']} gives {loc[-1]})"
    return located(written.document, path, message, at_key=loc[-1:] == ("[key]",))


def _message(detail: ErrorDetails) -> str:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "lossless":
        return detail["msg"]
    if kind == "literal_error":
        words = context["expected"].replace("'", "")
        if " or " not in words:
            return f"expected {words}, found {shown(value)}"
        return not_one_of(value, words.replace(" or ", ", ").split(", "))
    if kind == "string_pattern_mismatch":
        return f"{shown(value)} is not a name; expected {_name_rule(context['pattern'])}"
    if kind in ("less_than_equal", "greater_than_equal"):
        bound = f"at most {context['le']}" if "le" in context else f"at least {context['ge']}"
        return f"expected {bound}, found {shown(value)}"
    return f"expected {_EXPECTED.get(kind, 'something else')}, found {shown(value)}"


def _name_rule(pattern: str) -> str:
    marks = "'.', '_' and '-'" if "." in pattern else "'_' and '-'"
    longest = 1 + int(pattern.rpartition(",")[2].rstrip("}$"))
    return f"at most {longest} letters, digits, {marks}, beginning with a letter or digit"


def _keys_at(model_of_document: type[BaseModel], loc: Path) -> list[str]:
    """Return the valid keys of the mapping at a path of an intent; empty where no model describes it."""
    annotation: Any = model_of_document
    for segment in loc:
        annotation = _inner(annotation, segment)
    model = _model_in(annotation)
    if model is None:
        return []
    fields = _fields(model)
    # What an operator writes as one mapping, the models keep as curve and exceptions.
    return [*_fields(EcnIntent), *list(fields)[1:]] if "all_speeds" in fields else list(fields)


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _inner(annotation: Any, segment: str | int) -> Any:
    """Return the type below a path segment: of a field, of values of a mapping, or of items of a list; else None."""
    model = _model_in(annotation) if not _is_collection(annotation) else None
    if model is not None:
        return _fields(model).get(str(segment))
    if get_origin(annotation) is dict:
        return get_args(annotation)[1]
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0]
    collections = [inner for inner in get_args(annotation) if _is_collection(inner)]
    return _inner(collections[0], segment) if collections else None


def _is_collection(annotation: Any) -> bool:
    """Return whether an annotation has a mapping or list outside of any model."""
    if get_origin(annotation) in (dict, tuple):
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return False
    inner = get_args(annotation)[:1] if get_origin(annotation) is Annotated else get_args(annotation)
    return any(map(_is_collection, inner))


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = (_model_in(inner) for inner in get_args(annotation))
    return next((model for model in models if model), None)


def _dotted(path: Path) -> str:
    return ".".join(str(key) for key in path if key != "[key]")


def contradictions_of_trimming(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield each contradiction of the trimming section, located."""
    trimming = intent.trimming
    if trimming is None:
        return
    if trimming.size < LEAST_TRIM_BYTES:
        message = f"trimming.size: {trimming.size} B is no frame; the shortest has {LEAST_TRIM_BYTES} B"
        yield located(document, ("trimming", "size"), message)
    elif trimming.size > intent.mtu:
        message = (
            f"trimming.size: {trimming.size:,} B cuts no packet; none has more than {intent.mtu:,} B (mtu)"
        )
        yield located(document, ("trimming", "size"), message)
    for number, name in enumerate(trimming.of):
        entry = ("trimming", "of", number)
        path = entry if document.exists(entry) else entry[:-1]
        if name not in intent.classes:
            hint = suggestion(name, sorted(intent.classes))
            yield located(document, path, f"trimming.of: no class {name!r}{hint}")
        elif intent.classes[name].lossless:
            message = f"trimming.of: class {name} is lossless: its packets are paused, and none is trimmed"
            yield located(document, path, message)
    yield from _carrier(document, intent, trimming)
    yield from _releases(document, intent)


def _releases(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield a problem for each declared SONiC release without packet trimming, one for each place in the file."""
    stated = {("release", role): release for role, release in intent.sonic.release.items()}
    stated |= {("devices", name): release for name, release in intent.sonic.devices.items()}
    told = set()
    for below, release in stated.items():
        path = ("sonic", *(below if document.exists(("sonic", *below)) else below[:1]))
        if release not in WITH_TRIMMING and path not in told:
            told.add(path)
            message = f"SONiC {release} has no packet trimming, which trimming asks for"
            yield located(
                document, path, f"{'.'.join(path)}: {message}; {WITH_TRIMMING[0]} is the first that has"
            )


def _carrier(document: Document, intent: Intent, trimming: TrimmingIntent) -> Iterator[Problem]:
    """Yield the problem of a class that cannot carry trimmed packets, if it cannot."""
    name, path = trimming.into, ("trimming", "into")
    if name not in intent.classes:
        hint = suggestion(name, sorted(intent.classes))
        yield located(document, path, f"trimming.into: no class {name!r}{hint}")
    elif name in trimming.of:
        yield located(document, path, f"trimming.into: packets of class {name} are trimmed themselves")
    elif intent.classes[name].lossless:
        yield located(
            document, path, f"trimming.into: class {name} is lossless; trimmed packets must not pause"
        )
    elif len(intent.classes[name].dscps) != 1:
        message = f"trimming.into: class {name} has {len(intent.classes[name].dscps)} DSCPs; a trimmed packet gets one"
        yield located(document, path, message)
