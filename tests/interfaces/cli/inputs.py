"""Sound inputs, and the same with one thing wrong."""

from __future__ import annotations

import json
from typing import Any

from tests.paths import RULE_BASES

BASES = RULE_BASES
INTENT = (BASES / "leaf-spine.yaml").read_text()
LEAF = (BASES / "leaf.json").read_text()
DUPLICATED = LEAF.replace(
    '"VERSION": "version_202411_01"', '"VERSION": "version_202405_01",\n      "VERSION": "version_202411_01"'
)


def intent_with(old: str, new: str) -> str:
    """Return the sound intent with one text replaced, which must stand there once."""
    assert INTENT.count(old) == 1, old
    return INTENT.replace(old, new)


def leaf_with(table: str, row: str, **fields: str | None) -> str:
    """Return the sound switch with fields of one row set; None removes the row."""
    data: dict[str, Any] = json.loads(LEAF)
    if None in fields.values():
        del data[table][row]
    else:
        data[table][row] |= fields
    return json.dumps(data, indent=2)
