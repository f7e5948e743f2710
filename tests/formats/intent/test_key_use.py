"""Every key of an intent is read by the code, and named by a test."""

from __future__ import annotations

import ast
import re

from tests.formats.intent.test_intent_schema import MODELS, NO_KEYS, fields
from tests.paths import ROOT

READ_TOGETHER = {"cc_key", "sm_key"}
"""Keys that one loop reads over all fields of their model, which therefore no code names."""
KEYS = {
    f"{model.__name__}.{key}": {name, key}
    for model in MODELS
    for name, key in fields(model).items()
    if key not in NO_KEYS.get(model, set()) | READ_TOGETHER
}
"""The field and the key of each, by the name of the model and the key."""


def read_in(text: str) -> set[str]:
    """Return the attributes that a module reads, and its strings: some fields are read by their names.

    The alias of a field declares its key, and reads nothing.
    """
    nodes = [*ast.walk(ast.parse(text))]
    aliases = {id(node.value) for node in nodes if isinstance(node, ast.keyword) and node.arg == "alias"}
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    strings = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in aliases)
    return read | {node.value for node in strings if isinstance(node.value, str)}


def test_every_key_is_read() -> None:
    texts = (file.read_text(encoding="utf-8") for file in (ROOT / "lossless").rglob("*.py"))
    read = set().union(*map(read_in, texts))
    unread = sorted(key for key, names in KEYS.items() if not names & read)
    assert unread == [], "no code reads these keys: they do nothing; see lossless/formats/intent/resolve"


def test_every_key_is_in_a_test() -> None:
    texts = (file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py"))
    named = {word for text in texts for word in re.findall(r"[\w-]+", text)}
    untested = sorted(key for key, names in KEYS.items() if not names & named)
    assert untested == [], "no test names these keys; tests of keys are in tests/formats/intent"
