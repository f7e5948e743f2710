"""Priority groups of a class: one for all switches, or others by speed, by tier and on single devices."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from lossless.formats.intent.base import RATE_PATTERN, Model, Rate, refused, shown, small_number
from lossless.formats.intent.ranks import TIER_PATTERN, TierName, exceptions_schema
from lossless.formats.intent.wiring import NAME, Name

_Group = Annotated[int, small_number(0, 7, "a priority group")]


class GroupBySpeed(Model):
    """The priority group of a class on some switches, with ``by_speed`` for links of one speed."""

    number: _Group | None = None
    by_speed: dict[Rate, _Group] = Field(default_factory=dict, min_length=1)

    @property
    def values(self) -> int | None:
        """The group for links of all other speeds."""
        return self.number


def _layer(value: object) -> object:
    """Return a number and its exceptions as the models keep them; a number alone has none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"number": value}
    if not isinstance(value, dict) or not value:
        raise refused(f"expected a whole number from 0 to 7 or a mapping, found {shown(value)}")
    return value


_Layer = Annotated[GroupBySpeed, BeforeValidator(_layer)]


class GroupPolicy(GroupBySpeed):
    """The priority group of a class. The highest rank counts that states it: a device in ``by_device``, then its role
    in ``by_tier``, then its speed in ``by_speed``, then ``number``.
    """

    by_tier: dict[TierName, _Layer] = Field(default_factory=dict, min_length=1)
    by_device: dict[Name, _Layer] = Field(default_factory=dict, min_length=1)


_NUMBER_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 7}


def _schema(title: str, **exceptions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a number, and of one with its exceptions."""
    by_speed = exceptions_schema(RATE_PATTERN, _NUMBER_SCHEMA)
    properties = {"number": _NUMBER_SCHEMA, "by_speed": by_speed, **exceptions}
    form = {"type": "object", "minProperties": 1, "additionalProperties": False}
    return {"anyOf": [_NUMBER_SCHEMA, {"title": title, **form, "properties": properties}]}


_SOME_SCHEMA = _schema("GroupBySpeed")
_SCHEMA = _schema(
    "GroupPolicy",
    by_tier=exceptions_schema(TIER_PATTERN, _SOME_SCHEMA),
    by_device=exceptions_schema(NAME, _SOME_SCHEMA),
)
ClassGroups = Annotated[GroupPolicy, BeforeValidator(_layer), WithJsonSchema(_SCHEMA)]
"""The priority groups of a class: a number, or a mapping with exceptions."""
