"""Priority groups, buffer thresholds and queue limits of a class in an intent, with exceptions for links and switches.

Groups are parsed by hand: pydantic models for so few numbers would slow down every lint of an intent.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError, core_schema

from lossless.formats.intent.base import (
    RATE_PATTERN,
    LazyJsonSchema,
    Model,
    Rate,
    Size,
    identifier,
    rate,
    refused,
    shown,
    small_number,
    whole_number,
)
from lossless.formats.intent.policy import TIER_PATTERN, TierName, exceptions_schema, tier_name
from lossless.formats.intent.wiring import NAME, Name
from lossless.ground.basics.findings import Path
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import key_suggestion

Exponent = Annotated[int, *whole_number(-8, 7, "a dynamic_th")]
"""Exponent of alpha: 2^-8 to 2^7 (sonic-buildimage src/sonic-yang-models/yang-models/sonic-buffer-profile.yang
@086b03b)."""


class Threshold(Model):
    """The dynamic (alpha) or static (bytes) threshold of a priority group or queue in an intent: at most one."""

    if TYPE_CHECKING:
        dynamic_th: int | None
        static_th: int | None

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if self.dynamic_th is not None and self.static_th is not None:
            raise refused("there is one threshold; leave out dynamic_th or static_th", "static_th")
        return self

    @property
    def values(self) -> Self:
        """The thresholds for ports of all speeds."""
        return self


class BufferValues(Threshold):
    """Buffers of a class on some switches and links."""

    dynamic_th: Exponent | None = None
    """Exponent of alpha: a group takes 2^n times the free shared buffer before it pauses, from -8 to 7. Left out: that
    of the HWSKU's row, in the dynamic buffer model 0.
    Example: `-1`
    Example: `1`
    """
    static_th: Size | None = None
    """Shared buffer in bytes that a group takes before it pauses, where the product's pools allow it. Has a unit. Left
    out: `dynamic_th` counts.
    Example: `800 KiB`
    Example: `150 kB`
    """
    xoff: Size | None = None
    """Headroom in bytes: buffer of a group for packets that arrive after it has paused its peer. Has a unit. Left out:
    that of the HWSKU's row; in the dynamic buffer model the switch computes it.
    Example: `400 KiB`
    """
    xon: Size | None = None
    """Occupancy in bytes to which a group must drain before it lets its peer send again. Has a unit. Left out: as for
    `xoff`; in the dynamic buffer model both are stated or neither.
    Example: `19 KiB`
    """
    xon_offset: Size | None = None
    """How far below its threshold a group lets its peer send again, in bytes. Has a unit. Left out: that of the HWSKU's
    row, if any.
    Example: `2560 B`
    """


class BuffersBySpeed(BufferValues):
    """Buffers of a class on some switches, with ``by_speed`` for links of one speed."""

    by_speed: dict[Rate, BufferValues] = Field(default_factory=dict, min_length=1)
    """Exceptions for links of one speed, in bits per second. Left out: none. Example: `{800G: {dynamic_th: 1}}`"""


class ClassBuffers(BuffersBySpeed):
    """Buffers of a class. For each key the highest rank that declares it applies: a device in ``by_device``, then its
    role in ``by_tier``, then its speed in ``by_speed``, then the values beside them.
    """

    by_tier: dict[TierName, BuffersBySpeed] = Field(default_factory=dict, min_length=1)
    """Exceptions for the switches of one role; they come before those of `by_speed`. Left out: none.
    Example: `{spine: {dynamic_th: 1}}`
    """
    by_device: dict[Name, BuffersBySpeed] = Field(default_factory=dict, min_length=1)
    """Exceptions for single switches by name; they come before all others. Left out: none.
    Example: `{leaf1: {dynamic_th: 1}}`
    """


class QueueValues(Threshold):
    """Limits of the queues of a class on some switches and links, and the buffer reserved for each queue. A key that is
    left out takes its value from a lower rank, else from the HWSKU.
    """

    dynamic_th: Exponent | None = None
    """Exponent of alpha: a queue takes 2^n times the free shared buffer before it drops, from -8 to 7. Left out: that
    of the HWSKU's profile.
    Example: `3`
    """
    static_th: Size | None = None
    """Shared buffer in bytes that a queue takes before it drops, where the product's pools allow it. Has a unit. Left
    out: that of the HWSKU's profile.
    Example: `800 KiB`
    Example: `150 kB`
    """
    size: Size | None = None
    """Buffer in bytes that is reserved for each queue, whether or not a packet uses it; it is no longer shared. Has a
    unit. Left out: that of the HWSKU's profile.
    Example: `9216 B`
    """


class QueuesBySpeed(QueueValues):
    """Limits of the queues of a class on some switches, with ``by_speed`` for links of one speed."""

    by_speed: dict[Rate, QueueValues] = Field(default_factory=dict, min_length=1)
    """Exceptions for links of one speed, in bits per second. Left out: none. Example: `{800G: {dynamic_th: 1}}`"""


class ClassQueues(QueuesBySpeed):
    """Limits of the queues of a class, with the same ranks as its buffers."""

    by_tier: dict[TierName, QueuesBySpeed] = Field(default_factory=dict, min_length=1)
    """Exceptions for the switches of one role; they come before those of `by_speed`. Left out: none.
    Example: `{spine: {dynamic_th: 1}}`
    """
    by_device: dict[Name, QueuesBySpeed] = Field(default_factory=dict, min_length=1)
    """Exceptions for single switches by name; they come before all others. Left out: none.
    Example: `{leaf1: {dynamic_th: 1}}`
    """


_number: Callable[[object], object] = small_number(0, 7, "a priority group").func  # type: ignore[assignment]


class GroupBySpeed(NamedTuple):
    """The priority group of a class on the switches of one role or on one switch; exceptions by link speed in b/s."""

    number: int | None
    """Priority group from 0 to 7. Left out: as a lower rank states it, else as where `pg` is left out. Example: `1`"""
    by_speed: Mapping[int, int]
    """Exceptions for links of one speed, in bits per second. Left out: none. Example: `{800G: 0}`"""

    @property
    def values(self) -> int | None:
        """The priority group for links of all other speeds, None where it is not declared."""
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
        """The priority group on links and switches without an exception, None where it is not declared."""
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
        PydanticCustomError: the value is neither, is empty, is a number out of range, or has an unknown key.
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
    """Return the JSON Schema of a priority group: a number, or a mapping of the number and its exceptions."""
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
