"""Documentation of the keys of an intent in its JSON Schema, shown by editors, and parts of that schema as text.

The documentation of a key is the string below its field: its meaning and unit, then each example as
``Example: `800 KiB``` in YAML. Such strings cost nothing when models are loaded; they are read from the source when a
schema is built. Schemas built by hand have the same text under the word ``documentation``.

The parts as text are the forms of a value, and the words it may be.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents import load_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class KeyDoc(NamedTuple):
    """The meaning of a key of an intent, and example values as YAML parses them."""

    description: str
    examples: tuple[Any, ...]


@cache
def key_doc(text: str) -> KeyDoc:
    """Return the documentation of a key of an intent, parsed from its text.

    Raises:
        InputError: an example is not valid YAML.
    """
    description, *examples = " ".join(text.split()).split(" Example: ")
    return KeyDoc(description, tuple(_value(example.strip("`")) for example in examples))


def _value(text: str) -> Any:
    return load_text(f"example: {text}", "example.yaml").data["example"]


def documented(properties: Mapping[str, Schema], declared_by: type) -> dict[str, Schema]:
    """Return the properties of an unfinished schema with the documentation of the fields of ``declared_by``."""
    texts = documentation(declared_by)
    return {
        key: {**part, "documentation": texts[key]} if key in texts else part
        for key, part in properties.items()
    }


def lengthened(text: str, sentence: str) -> str:
    """Return the documentation of a key with one more sentence before its examples."""
    description, *examples = re.split(r"(?<!\s)\s++(?=Example: )", text)
    return "\n".join([f"{description} {sentence}", *examples])


def documentation(model: type) -> dict[str, str]:
    """Return the documentation of an intent class's fields by key; its own texts override those of its base classes."""
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.startswith(f"{__package__}."):
            texts |= texts_below_fields(base.__module__).get(base.__qualname__, {})
    fields: Mapping[str, Any] = getattr(model, "model_fields", {})
    return {(fields[name].alias if name in fields else None) or name: text for name, text in texts.items()}


@cache
def texts_below_fields(module: str) -> dict[str, dict[str, str]]:
    """Return the strings below fields, by class and by field, from the source of a module that is loaded."""
    import inspect

    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: dict(_below_fields(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _below_fields(node: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (field.target.id, below.value.value)
        for field, below in zip(node.body, node.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(below.value.value, str)
    ]


def describe(schema: Any) -> None:
    """Add description and examples to the keys of a JSON Schema, and remove parts of no use to an editor, in place.

    These are the titles of single keys, and defaults that are null or whole sections, which an editor would insert.
    """
    if isinstance(schema, list):
        for part in schema:
            describe(part)
    if not isinstance(schema, dict):
        return
    if "description" in schema:
        schema["description"] = schema["description"].replace("``", "`")
    for part in schema.get("properties", {}).values():
        describe(part)
        part.pop("title", None)
        if part.get("default") is None or isinstance(part["default"], dict | list):
            part.pop("default", None)
        if "documentation" in part:
            description, examples = key_doc(part.pop("documentation"))
            part["description"] = description
            if examples:
                part["examples"] = list(examples)
    for word, part in schema.items():
        if word not in ("properties", "examples", "default", "enum", "const"):
            describe(part)


Schema = dict[str, Any]


def forms(part: Schema) -> Iterator[Schema]:
    """Yield the JSON Schemas of all forms that a value can have: itself, or its alternatives under ``anyOf``."""
    if "anyOf" not in part:
        yield part
    for form in part.get("anyOf", ()):
        yield from forms(form)


def words(form: Schema) -> list[str]:
    """Return the words that a JSON Schema accepts: true and false of a boolean, else the texts of its enum or const."""
    if form.get("type") == "boolean":
        return ["true", "false"]
    values = [*form.get("enum", ()), *([form["const"]] if "const" in form else [])]
    return [word for word in values if isinstance(word, str)]
