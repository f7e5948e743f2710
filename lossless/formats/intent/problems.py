"""Turns pydantic's errors into problems for operators, located in the file: one mistake, one problem."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from lossless.formats.intent.base import not_one_of, shown
from lossless.formats.intent.classes import EcnIntent
from lossless.formats.intent.document import Intent
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.nearest import key_suggestion, nearest
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic_core import ErrorDetails

    from lossless.ground.basics.findings import Path
    from lossless.ground.documents.document import Document

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
        """Return the part of a path that is in the file, without the segments that only the models have."""
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
    """Yield a problem for each key that is not text, such as ``5:``; link speeds without a unit have their own one."""
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
    """Return the valid keys of the mapping at ``loc``."""
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
    """Return the type of a segment of a path: of a field of a model, the values of a mapping, the items of a list."""
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
