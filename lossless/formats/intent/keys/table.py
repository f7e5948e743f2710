"""What each key of an intent means, for people who write one in an editor.

Beside the models and not in them: linting an intent never loads this. A test holds the two together.
"""

from __future__ import annotations

from typing import Any

from lossless.formats.intent.keys.cluster import CLUSTER
from lossless.formats.intent.keys.infiniband import INFINIBAND
from lossless.formats.intent.keys.jobs import JOBS
from lossless.formats.intent.keys.key_doc import KeyDoc
from lossless.formats.intent.keys.policy import POLICY
from lossless.formats.intent.keys.routing import ROUTING
from lossless.formats.intent.keys.shapes import SHAPES
from lossless.formats.intent.keys.sonic import SONIC
from lossless.formats.intent.keys.wiring import WIRING
from lossless.formats.intent.keys.workloads import WORKLOADS


def known_keys() -> dict[str, dict[str, KeyDoc]]:
    """Return all keys: by the model (where a schema has no title, by the key above it), then as they are written."""
    by_owner: dict[str, dict[str, KeyDoc]] = {}
    for table in (POLICY, WIRING, SHAPES, SONIC, CLUSTER, WORKLOADS, ROUTING, JOBS, INFINIBAND):
        for owner, keys in table.items():
            by_owner.setdefault(owner, {}).update(keys)
    return by_owner


def describe(schema: Any) -> None:
    """Give every key of a JSON Schema its description and examples, and leave out what no person would write.

    That is the titles of single keys, and defaults that are null or whole sections: an editor would insert them.
    """
    _walk(schema, known_keys(), "")


def _walk(schema: Any, keys: dict[str, dict[str, KeyDoc]], owner: str) -> None:
    if isinstance(schema, list):
        for part in schema:
            _walk(part, keys, owner)
    if not isinstance(schema, dict):
        return
    if "description" in schema:
        schema["description"] = schema["description"].replace("``", "`")
    properties = schema.get("properties", {})
    known = keys.get(schema.get("title", owner), {})
    for name, part in properties.items():
        _walk(part, keys, name)
        _describe(part, known.get(name))
    for word, part in schema.items():
        if word not in ("properties", "examples", "default", "enum", "const"):
            _walk(part, keys, owner)


def _describe(part: dict[str, Any], key: KeyDoc | None) -> None:
    part.pop("title", None)
    if part.get("default") is None or isinstance(part["default"], dict | list):
        part.pop("default", None)
    if key is not None:
        part["description"] = key.description
        if key.examples:
            part["examples"] = list(key.examples)
