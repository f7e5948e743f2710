"""Names of the objects of COUNTERS_DB: the maps of names joined, so that a counter has a queue, not only an oid.

The maps ``COUNTERS_QUEUE_PORT_MAP``, ``..._INDEX_MAP`` and ``..._TYPE_MAP`` repeat this by object, and add the type
(sonic-utilities scripts/watermarkstat @2a5c132).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.model.fabric.state.readings import Identity

QUEUE_KINDS = {
    "SAI_QUEUE_TYPE_UNICAST": "UC",
    "SAI_QUEUE_TYPE_MULTICAST": "MC",
    "SAI_QUEUE_TYPE_ALL": "ALL",
    "SAI_QUEUE_TYPE_UNICAST_VOQ": "VOQ",
    "SAI_QUEUE_TYPE_FABRIC_TX": "FABRIC",
}
_MEMBERS = {"QUEUE": "queue", "VOQ": "queue", "FABRIC_QUEUE": "queue", "PG": "pg"}
_PORTS = frozenset({"PORT", "SYSTEM_PORT", "FABRIC_PORT"})
_NAME_MAP = re.compile(r"COUNTERS_(\w+)_NAME_MAP|(ACL)_COUNTER_RULE_MAP")
_DEBUG_MAP = re.compile(r"COUNTERS_DEBUG_NAME_\w+_STAT_MAP")
_NEEDED = {"QUEUE": ("TYPE", "INDEX", "PORT"), "PG": ("INDEX", "PORT")}
MEMBER = re.compile(r"(.+):([0-9]{1,3})")


class CounterObjects(NamedTuple):
    """The identities of a database's objects, by oid; the debug counters in fields; and notes on missing maps."""

    identities: dict[str, Identity]
    debug: dict[str, str]
    notes: tuple[str, ...]


def objects_of(rows: Mapping[str, Any]) -> CounterObjects:
    """Return the objects that the maps of a database name."""
    maps = {key: value for key, value in rows.items() if key.endswith("_MAP") and isinstance(value, dict)}
    identities: dict[str, Identity] = {}
    for key, names in maps.items():
        if kind := map_kind(key):
            for name, oid in names.items():
                identities.setdefault(str(oid), _identity(kind, str(name), str(oid), maps))
    debug = {
        str(field): str(name)
        for key, names in maps.items()
        if _DEBUG_MAP.fullmatch(key)
        for name, field in names.items()
    }
    return CounterObjects(identities, debug, tuple(_notes(maps)))


def map_kind(key: str) -> str | None:
    """Return the kind of objects in a map of names (``QUEUE``), None for any other row."""
    match = _NAME_MAP.fullmatch(key)
    return (match[1] or match[2]) if match else None


def named_identity(kind: str, name: str) -> Identity:
    """Return the identity of an object, by its name in a map."""
    if kind in _PORTS:
        return (("port", name),)
    if kind == "BUFFER_POOL":
        return (("pool", name),)
    member = MEMBER.fullmatch(name) if kind in _MEMBERS else None
    if member:
        return ("port", member[1]), (_MEMBERS[kind], member[2])
    return (("object", f"{kind}:{name}"),)


def _identity(kind: str, name: str, oid: str, maps: Mapping[str, dict[str, Any]]) -> Identity:
    identity = named_identity(kind, name)
    if kind not in _MEMBERS or _MEMBERS[kind] != "queue":
        return identity
    sort = QUEUE_KINDS.get(str(maps.get("COUNTERS_QUEUE_TYPE_MAP", {}).get(oid)))
    sort = "VOQ" if kind == "VOQ" else sort
    return (*identity, ("queue_kind", sort)) if sort else identity


def _notes(maps: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    for key, names in maps.items():
        if not names and key != "COUNTERS_LAG_NAME_MAP":
            yield f"{key} is empty: what it names is unknown"
    for kind, parts in _NEEDED.items():
        oids = {str(oid) for oid in maps.get(f"COUNTERS_{kind}_NAME_MAP", {}).values()}
        for part in parts:
            other = maps.get(f"COUNTERS_{kind}_{part}_MAP")
            missing = len(oids - other.keys()) if other else 0
            if missing:
                name_map = f"COUNTERS_{kind}_NAME_MAP"
                yield f"{missing} of {len(oids)} objects of {name_map} are not in COUNTERS_{kind}_{part}_MAP"
