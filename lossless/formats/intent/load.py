"""Turns an intent document into a checked :class:`Intent`, with located mistakes; the JSON Schema of all intents.

The schema is for editors.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import ValidationError

from lossless.formats.intent.base import not_one_of, shown
from lossless.formats.intent.document import PRESETS, Intent
from lossless.formats.intent.problems import (
    IntentSource,
    contradictions,
    in_file_order,
    located,
    not_text,
    reaches,
    refusals,
)
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.files import data_dir
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import suggestion
from lossless.model.fabric.model import EthernetTransport
from lossless.model.hardware.clouds import TRANSPORTS as CLOUDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from lossless.ground.documents.text import Document


_Model = TypeVar("_Model", bound="BaseModel")

TRANSPORTS = {
    **dict.fromkeys(get_args(EthernetTransport), "lossless.formats.intent.document"),
    "infiniband": "lossless.formats.intent.infiniband.document",
    **dict.fromkeys(CLOUDS, "lossless.formats.intent.managed"),
}
"""The module with the document model of each transport; its ``json_schema`` returns the schema of such an intent."""


class LoadedIntent(NamedTuple):
    """An intent, the document that it was loaded from, and the values of its preset."""

    intent: Intent
    document: Document
    preset: Mapping[str, Any]

    def problem(self, origin: Origin, message: str) -> Problem:
        """Return a problem located at an origin of this document."""
        return located(self.document, origin.path, message, at_key=origin.mark == "key")

    def origin(self, *path: str | int) -> Origin:
        """Return the origin of a value: its own key, the preset that gives it, or the nearest key above."""
        if self.document.exists(path):
            return Origin(self.document.file, path)
        if reaches(self.preset, path):
            return Origin(self.document.file, ("preset",))
        while path and not self.document.exists(path):
            path = path[:-1]
        return Origin(self.document.file, path, "key")


def load_intent(document: Document) -> LoadedIntent:
    """Return the Ethernet intent of a document.

    Raises:
        InputError: the document cannot be read, or its version, transport or preset is unknown; else every invalid
            value, or if there is none every contradiction, each located, in the order of the file.
    """
    transport_of(document)
    preset = _preset(document)
    written = IntentSource(document, preset)
    intent = checked(written, Intent, _merged(preset, document.data))
    problems = list(contradictions(document, intent))
    if problems:
        raise InputError(in_file_order(problems))
    return LoadedIntent(intent, document, preset)


def transport_of(document: Document) -> str:
    """Return the transport of an intent, a key of :data:`TRANSPORTS`; the first one where the key is missing.

    Raises:
        InputError: the document cannot be read, is not an intent of this version, or names an unknown transport.
    """
    if document.problems:
        raise InputError(document.problems)
    _require_version(document)
    name = document.data.get("transport", next(iter(TRANSPORTS)))
    if not isinstance(name, str) or name not in TRANSPORTS:
        message = f"transport: {not_one_of(name, tuple(TRANSPORTS))}"
        raise InputError([located(document, ("transport",), message)])
    return name


def checked(written: IntentSource, model: type[_Model], data: Any) -> _Model:
    """Return the data of a document as an instance of a model.

    Raises:
        InputError: every value that the model refuses and every key that is not text, each located, in the order of the
            file.
    """
    problems = list(not_text(written.document, written.document.data))
    intent: _Model | None = None
    try:
        intent = model.model_validate(data)
    except ValidationError as error:
        problems += refusals(written, error.errors())
    if intent is None or problems:
        raise InputError(in_file_order(problems))
    return intent


def _require_version(document: Document) -> None:
    if "lossless" not in document.data:
        message = "not an intent: it does not begin with lossless: v1"
        raise InputError([Problem(document.file, 1, 1, message)])
    if document.data["lossless"] != "v1":
        message = (
            f"lossless: {shown(document.data['lossless'])} is no version this release reads; it reads v1"
        )
        raise InputError([located(document, ("lossless",), message)])


def _preset(document: Document) -> dict[str, Any]:
    name = document.data.get("preset")
    if name is None:
        return {}
    if name not in PRESETS:
        message = (
            f"preset: {shown(name)} is no preset{suggestion(name if isinstance(name, str) else '', PRESETS)}"
        )
        raise InputError([located(document, ("preset",), message)])
    return preset_values(name)


def preset_values(name: str) -> dict[str, Any]:
    """Return the keys of an intent that a preset gives, as its file in ``profiles/presets`` has them."""
    import tomllib  # only intents with a preset pay for it

    with open(os.path.join(data_dir("profiles"), "presets", f"{name}.toml"), "rb") as file:
        return tomllib.load(file)["intent"]  # type: ignore[no-any-return]


def _merged(base: Any, over: Any) -> Any:
    """Return ``over`` merged into ``base``: mappings key by key, any other value replaces the one of ``base``."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {key: _merged(base.get(key), over[key]) if key in over else base[key] for key in {**base, **over}}


def intent_schema() -> dict[str, Any]:
    """Return the JSON Schema of an intent as people write it: one alternative for each kind of transport.

    It is of draft 7 and has no references: editors support no later one well, and ignore keys beside a reference.
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "lossless intent",
        "anyOf": [import_module(module).json_schema() for module in dict.fromkeys(TRANSPORTS.values())],
    }
