"""Priority groups of a class: one for all switches, with exceptions by speed, by tier and by device.

Parsed by hand: pydantic models for so few numbers would slow down every lint of an intent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic_core import PydanticCustomError, core_schema

from lossless.formats.intent.base import (
    RATE_PATTERN,
    LazyJsonSchema,
    identifier,
    rate,
    refused,
    shown,
    small_number,
)
from lossless.formats.intent.ranks import TIER_PATTERN, exceptions_schema, tier_name
from lossless.formats.intent.wiring import NAME
from lossless.ground.basics.nearest import key_suggestion
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.ground.basics.findings import Path

_number: Callable[[object], object] = small_number(0, 7, "a priority group").func  # type: ignore[assignment]


class GroupBySpeed(NamedTuple):
    """The priority group of a class on some switches, and that on links of one speed, in b/s."""

    number: int | None
    """Priority group from 0 to 7. Left out: as a lower rank states it, else as where `pg` is left out. Example: `1`"""
    by_speed: Mapping[int, int]
    """Exceptions for links of one speed, in bits per second. Left out: none. Example: `{800G: 0}`"""

    @property
    def values(self) -> int | None:
        """The group for links of all other speeds."""
        return self.number


class GroupPolicy(NamedTuple):
    """The priority group of a class. The highest rank that declares one applies: a device in ``by_device``, then its
    role in ``by_tier``, then its speed in ``by_speed``, then ``number``.
    """

    number: int | None
    """Priority group from 0 to 7. Left out: as a lower rank states it, else as where `pg` is left out. Example: `1`"""
    by_speed: Mapping[int, int]
    """Exceptions for links of one speed, in bits per second. Left out: none. Example: `{800G: 0}`"""
    by_tier: Mapping[str, GroupBySpeed]
    """Exceptions for the switches of one role, each a number or a mapping with its own `by_speed`; they come before
    those of `by_speed`. Left out: none.
    Example: `{spine: 0}`
    """
    by_device: Mapping[str, GroupBySpeed]
    """Exceptions for single switches by name, each a number or a mapping with its own `by_speed`; they come before all
    others. Left out: none.
    Example: `{leaf1: 0}`
    """

    @property
    def values(self) -> int | None:
        """The group for links of all other speeds, of switches that are no exception."""
        return self.number

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> core_schema.CoreSchema:
        """Return the validator of the policy (hook of pydantic)."""
        return core_schema.no_info_plain_validator_function(_policy)


def _policy(value: object) -> GroupPolicy:
    stated = _mapping_of(value, GroupPolicy._fields, ())
    return GroupPolicy(
        *_layer(stated, ()),
        by_tier=_exceptions(stated, "by_tier", tier_name),
        by_device=_exceptions(stated, "by_device", lambda name: identifier(name, "a name", 63)),
    )


def _layer(stated: dict[str, Any], within: Path) -> GroupBySpeed:
    number = _read(_number, stated["number"], (*within, "number")) if "number" in stated else None
    speeds = _entries(stated, "by_speed", within)
    path = (*within, "by_speed")
    return GroupBySpeed(
        number,
        {
            _read(rate, key, (*path, key, "[key]")): _read(_number, entry, (*path, key))
            for key, entry in speeds.items()
        },
    )


def _exceptions(stated: dict[str, Any], rank: str, known: Callable[[str], str]) -> dict[str, GroupBySpeed]:
    layers = {}
    for name, entry in _entries(stated, rank, ()).items():
        if not isinstance(name, str):
            raise refused(f"a key is text, found {shown(name)}", rank, name, at_key=True)
        _read(known, name, (rank, name, "[key]"))
        layers[name] = _layer(_mapping_of(entry, GroupBySpeed._fields, (rank, name)), (rank, name))
    return layers


def _mapping_of(value: object, keys: tuple[str, ...], within: Path) -> dict[str, Any]:
    """Return a declared group policy as a mapping; a number alone becomes ``{"number": NUMBER}``.

    Raises:
        PydanticCustomError: the value is neither, or has an unknown key.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return {"number": _read(_number, value, within)}
    if not isinstance(value, dict) or not value:
        raise refused(f"expected a whole number from 0 to 7 or a mapping, found {shown(value)}", *within)
    for key in value:
        if key not in keys:
            hint = key_suggestion(str(key), keys, value)
            raise refused(f"unknown key {shown(key)}{hint}", *within, key, at_key=True)
    return value


def _entries(stated: dict[str, Any], key: str, within: Path) -> dict[Any, Any]:
    entries = stated.get(key, {})
    if not isinstance(entries, dict):
        raise refused(f"expected a mapping, found {shown(entries)}", *within, key)
    if key in stated and not entries:
        raise refused(f"expected at least one entry, found {shown(entries)}", *within, key)
    return entries


def _read(read: Callable[[Any], Any], value: object, within: Path) -> Any:
    """Return a value converted by ``read``; an error is located at the path ``within``."""
    try:
        return read(value)
    except PydanticCustomError as error:
        context = error.context or {}
        raise refused(context["message"], *within, at_key=context["at_key"]) from None


_NUMBER_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 7}


def _schema(declared_by: type, **exceptions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a number, and of one with its exceptions."""
    from lossless.formats.intent.key_docs import documented

    by_speed = exceptions_schema(RATE_PATTERN, _NUMBER_SCHEMA)
    properties = documented({"number": _NUMBER_SCHEMA, "by_speed": by_speed, **exceptions}, declared_by)
    form = {"type": "object", "minProperties": 1, "additionalProperties": False}
    return {"anyOf": [_NUMBER_SCHEMA, {"title": declared_by.__name__, **form, "properties": properties}]}


def _policy_schema() -> dict[str, Any]:
    some = _schema(GroupBySpeed)
    by_tier, by_device = exceptions_schema(TIER_PATTERN, some), exceptions_schema(NAME, some)
    return _schema(GroupPolicy, by_tier=by_tier, by_device=by_device)


ClassGroups = Annotated[GroupPolicy, LazyJsonSchema(_policy_schema)]
"""The priority groups of a class: a number, or a mapping with exceptions."""
