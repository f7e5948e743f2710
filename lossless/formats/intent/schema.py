"""The JSON Schema of all intents, for editors."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lossless.formats.intent.load import TRANSPORTS


def intent_schema() -> dict[str, Any]:
    """Return the JSON Schema of an intent as people write it: one alternative for each kind of transport.

    It is of draft 7 and has no references: editors support no later one well, and ignore keys beside a reference.
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "lossless intent",
        "anyOf": [import_module(module).json_schema() for module in dict.fromkeys(TRANSPORTS.values())],
    }
