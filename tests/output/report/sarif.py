"""The SARIF report as the OASIS standard has it: parsed, and held against the schema.

``pydantic_sarif`` is the OASIS schema (sarif-schema-2.1.0.json) turned into models by datamodel-codegen: every type,
enumeration, pattern, bound and required name of it, and nothing beside what it names. What is lost on that way is
asked for here: nothing is null, no list repeats an item, one of several names must be there, a URI is one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic_sarif.model import (  # type: ignore[import-untyped]
    StaticAnalysisResultsFormatSarifVersion210JsonSchema as Log,
)

ONE_OF = {
    "message": {"text", "id"},
    "region": {"startLine", "charOffset", "byteOffset"},
    "physicalLocation": {"address", "artifactLocation"},
}
"""Names of which an object must have at least one: what the schema says by ``anyOf``."""
_URI = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-F]{2})+")


def parsed(text: str) -> dict[str, Any]:
    """Return the log; fails where it breaks the standard."""
    Log.model_validate_json(text, strict=True)
    log: dict[str, Any] = json.loads(text)
    _require("log", log)
    return log


def _require(name: str, value: Any) -> None:
    assert value is not None, name
    assert name != "uri" or _URI.fullmatch(value), value
    if isinstance(value, list):
        assert len({json.dumps(item, sort_keys=True) for item in value}) == len(value), name
        for item in value:
            _require("", item)
    elif isinstance(value, dict):
        assert name not in ONE_OF or ONE_OF[name] & value.keys(), name
        for key, item in value.items():
            # A bag of properties holds what it likes.
            if key != "properties":
                _require(key, item)
