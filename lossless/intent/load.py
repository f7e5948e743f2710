"""An intent document to a checked :class:`Intent`, every mistake located in the file."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError

from lossless.datafiles import data_dir
from lossless.errors import InputError, Problem
from lossless.findings import Origin
from lossless.intent.document import PRESETS, Intent
from lossless.source.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import ErrorDetails

    from lossless.findings import Path
    from lossless.intent.classes import TrafficClass
    from lossless.source.document import Document


class LoadedIntent(NamedTuple):
    """An intent, the document it was written in, and what its preset gave."""

    intent: Intent
    document: Document
    preset: Mapping[str, Any]

    def problem(self, origin: Origin, message: str) -> Problem:
        """Return a located problem at an origin of this document."""
        return _located(self.document, origin.path, message, at_key=origin.mark == "key")

    def origin(self, *path: str | int) -> Origin:
        """Return where a value was written: its own key, the preset that gave it, or the nearest key above."""
        if self.document.exists(path):
            return Origin(self.document.file, path)
        if _reaches(self.preset, path):
            return Origin(self.document.file, ("preset",))
        while path and not self.document.exists(path):
            path = path[:-1]
        return Origin(self.document.file, path, "key")


def load_intent(document: Document) -> LoadedIntent:
    """Return the intent of a document.

    Raises:
        InputError: everything in it that has no meaning, each located.
    """
    if document.problems:
        raise InputError(document.problems)
    data = document.data
    _require_version(document)
    preset = _preset(document)
    try:
        intent = Intent.model_validate(_merged(preset, data))
    except ValidationError as error:
        raise InputError(_problem(document, detail) for detail in error.errors()) from None
    problems = list(_contradictions(document, intent))
    if problems:
        raise InputError(problems)
    return LoadedIntent(intent, document, preset)


def _require_version(document: Document) -> None:
    if "lossless" not in document.data:
        message = "not an intent: it does not begin with lossless: v1"
        raise InputError([Problem(document.file, 1, 1, message)])
    if document.data["lossless"] != "v1":
        message = f"version {document.data['lossless']!r} is not known to this release; it reads v1"
        raise InputError([_located(document, ("lossless",), message)])


def _preset(document: Document) -> dict[str, Any]:
    name = document.data.get("preset")
    if name is None:
        return {}
    if name not in PRESETS:
        message = f"no preset {name!r}; there are {', '.join(PRESETS)}" + _suggestion(str(name), PRESETS)
        raise InputError([_located(document, ("preset",), message)])
    with (data_dir("profiles") / "presets" / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)["intent"]  # type: ignore[no-any-return]


def _merged(base: Any, over: Any) -> Any:
    """Return ``over`` laid on ``base``: mappings merge key by key, anything else replaces."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {key: _merged(base.get(key), over[key]) if key in over else base[key] for key in {**base, **over}}


def _reaches(data: Any, path: Path) -> bool:
    for key in path:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return bool(path)


def _located(document: Document, path: Path, message: str, *, at_key: bool = False) -> Problem:
    span = document.locate(path, "key" if at_key else "value")
    return Problem(document.file, span.line, span.column, message)


def _problem(document: Document, detail: ErrorDetails) -> Problem:
    path = _written_path(document, detail["loc"])
    if detail["type"] == "extra_forbidden":
        return _unknown_key(document, path, detail)
    if detail["type"] == "missing":
        message = (
            f"{_dotted(path)}: {detail['loc'][-1]} is missing" if path else f"{detail['loc'][-1]} is missing"
        )
        return _located(document, path, message, at_key=True)
    return _located(document, path, f"{_dotted(path)}: {_message(detail)}")


def _message(detail: ErrorDetails) -> str:
    kind, value = detail["type"], detail["input"]
    if kind == "lossless":
        return detail["msg"]
    if kind == "literal_error":
        expected = detail["ctx"]["expected"].replace("'", "")
        return f"{value!r} is not one of {expected}" + _suggestion(
            str(value), expected.replace(" or ", ", ").split(", ")
        )
    if kind == "string_pattern_mismatch":
        return f"{value!r} is not a name; letters, digits, '.', '_' and '-', beginning with a letter or digit"
    return f"{detail['msg'][0].lower()}{detail['msg'][1:]}, found {value!r}"


def _unknown_key(document: Document, path: Path, detail: ErrorDetails) -> Problem:
    key = str(detail["loc"][-1])
    candidates = _keys_of(Intent, detail["loc"][:-1])
    message = f"unknown key {key!r}" + (
        _suggestion(key, candidates) or f"; there are {', '.join(candidates)}"
    )
    return _located(document, path, message, at_key=True)


def _suggestion(name: str, candidates: tuple[str, ...] | list[str]) -> str:
    close = nearest(name, candidates)
    return f"; did you mean {close}?" if close else ""


def _keys_of(model: type[BaseModel], loc: tuple[str | int, ...]) -> list[str]:
    """Return the keys that are known where ``loc`` points, for the nearest valid name."""
    current: type[BaseModel] | None = model
    for segment in loc:
        fields = current.model_fields if current else {}
        named = {field.alias or name: field for name, field in fields.items()}
        if str(segment) in named:
            current = _model_in(named[str(segment)].annotation)
    return [field.alias or name for name, field in current.model_fields.items()] if current else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_in(inner) for inner in get_args(annotation))
    return next((model for model in found if model), None)


def _written_path(document: Document, loc: tuple[str | int, ...]) -> Path:
    """Return the part of a pydantic location that stands in the file; segments of our own making are skipped."""
    path: Path = ()
    for segment in loc:
        if segment != "[key]" and document.exists((*path, segment)):
            path = (*path, segment)
    return path


def _dotted(path: Path) -> str:
    return ".".join(str(key) for key in path)


def _contradictions(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield what each value alone allows but all together give no meaning."""
    yield from _shared_numbers(document, intent)
    share = sum(cls.bandwidth or 0 for cls in intent.classes.values())
    if share > 100:
        yield _located(
            document, ("classes",), f"bandwidth adds up to {share}%; all classes share 100%", at_key=True
        )
    rests = [name for name, cls in intent.classes.items() if cls.rest]
    if len(rests) != 1:
        message = "exactly one class takes the rest of the DSCPs (dscp: rest)" + (
            f"; there are {', '.join(rests)}" if rests else "; there is none"
        )
        yield _located(
            document, ("classes", rests[1], "dscp") if rests else ("classes",), message, at_key=not rests
        )
    for name, network in intent.networks.items():
        if network.traffic_class is not None and network.traffic_class not in intent.classes:
            message = f"no class {network.traffic_class!r}" + _suggestion(
                network.traffic_class, list(intent.classes)
            )
            yield _located(document, ("networks", name, "class"), message)


def _shared_numbers(document: Document, intent: Intent) -> Iterator[Problem]:
    priorities: dict[int, str] = {}
    dscps: dict[int, str] = {}
    for name, cls in intent.classes.items():
        first = priorities.setdefault(cls.priority, name)
        if first != name:
            message = f"classes.{name}.priority: {cls.priority} is already the priority of class {first}"
            yield _located(document, ("classes", name, "priority"), message)
        yield from _shared_dscps(document, name, cls, dscps)


def _shared_dscps(
    document: Document, name: str, cls: TrafficClass, dscps: dict[int, str]
) -> Iterator[Problem]:
    for dscp in cls.dscps:
        first = dscps.setdefault(dscp, name)
        if first != name:
            message = f"classes.{name}.dscp: DSCP {dscp} already belongs to class {first}"
            yield _located(document, ("classes", name, "dscp"), message)
