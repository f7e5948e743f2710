"""Checks tables against the YANG models of SONiC, as the reference material gives them (extracted, not vendored).

A stand-in for ``sonic_yang``: unknown tables and fields, key arity, types, ranges, patterns, enumerations, mandatory
fields and references to rows of other tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
Rows = Mapping[str, Mapping[str, Any]]


def violations(
    schema: Schema, tables: Mapping[str, Rows], only: Collection[str] | None = None
) -> Iterator[str]:
    """Yield what the models refuse in the tables that they describe, or in ``only`` those."""
    for table, rows in tables.items():
        if table in schema and (only is None or table in only):
            for key, fields in rows.items():
                yield from (f"{table}|{key}: {why}" for why in _row(schema[table], tables, key, fields))


def _row(entry: Schema, tables: Mapping[str, Rows], key: str, fields: Mapping[str, Any]) -> Iterator[str]:
    children = entry["children"]
    if key in children:
        yield from _fields(children[key]["fields"], tables, fields)
        return
    parts = key.split("|")
    lists = [child for child in children.values() if len(child.get("key", ())) == len(parts)]
    if not lists:
        yield "no list of the model has keys of this shape"
        return
    model = lists[0]
    named = dict(zip(model["key"], parts, strict=True))
    for name, value in named.items():
        yield from (f"key {why}" for why in _value(model["fields"][name], tables, value))
    nested = list(model.get("children", {}).values())
    if nested:
        yield from _nested(nested[0], tables, fields)
    else:
        known = {name: leaf for name, leaf in model["fields"].items() if name not in named}
        yield from _fields(known, tables, fields)


def _nested(model: Schema, tables: Mapping[str, Rows], fields: Mapping[str, Any]) -> Iterator[str]:
    (key,) = model["key"]
    (value,) = (name for name in model["fields"] if name != key)
    for left, right in fields.items():
        yield from _value(model["fields"][key], tables, left)
        yield from _value(model["fields"][value], tables, right)


def _fields(known: Schema, tables: Mapping[str, Rows], fields: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{name}: unknown field" for name in fields if name not in known)
    yield from (
        f"{name}: missing" for name, leaf in known.items() if leaf.get("mandatory") and name not in fields
    )
    for name, value in fields.items():
        if name in known:
            values = value.split(",") if known[name]["kind"] == "leaf-list" else [value]
            for single in values:
                yield from (f"{name}: {why}" for why in _value(known[name], tables, single))


def _value(leaf: Schema, tables: Mapping[str, Rows], value: Any) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{value!r} is not a string"
    else:
        yield from _typed(leaf["type"], tables, value)


def _typed(kind: Schema, tables: Mapping[str, Rows], value: str) -> Iterator[str]:
    base = kind["base"]
    if base in _KINDS:
        yield from _KINDS[base](kind, tables, value)
    elif "int" in base:
        yield from _number(kind, value)
    elif not all(re.fullmatch(pattern, value) for pattern in kind.get("patterns", ())):
        yield f"{value!r} does not match {kind['patterns']}"


def _union(kind: Schema, tables: Mapping[str, Rows], value: str) -> Iterator[str]:
    if all(list(_typed(arm, tables, value)) for arm in kind["union"]):
        yield f"{value!r} fits no arm of the union"


def _leafref(kind: Schema, tables: Mapping[str, Rows], value: str) -> Iterator[str]:
    table = re.findall(r"/[a-z0-9_]+:([A-Z][A-Z0-9_]*)/", kind["leafref"])[0]
    if value not in tables.get(table, {}):
        yield f"{value!r} is not a row of {table}"


def _enumeration(kind: Schema, _: Mapping[str, Rows], value: str) -> Iterator[str]:
    if value not in kind["enum"]:
        yield f"{value!r} is none of {kind['enum']}"


def _boolean(_: Schema, __: Mapping[str, Rows], value: str) -> Iterator[str]:
    if value not in ("true", "false"):
        yield f"{value!r} is not true or false"


_KINDS: dict[str, Callable[[Schema, Mapping[str, Rows], str], Iterator[str]]] = {
    "union": _union,
    "leafref": _leafref,
    "enumeration": _enumeration,
    "boolean": _boolean,
}


def _number(kind: Schema, value: str) -> Iterator[str]:
    if not re.fullmatch(r"-?\d+", value):
        yield f"{value!r} is not a number"
        return
    low, _, high = kind.get("range", "..").partition("..")
    if (low and int(value) < int(low)) or (high and int(value) > int(high)):
        yield f"{value} is outside {kind['range']}"
    if kind["base"].startswith("u") and int(value) < 0:
        yield f"{value} is negative"
