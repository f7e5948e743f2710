"""Traffic classes: their DSCPs, priority, lossless or lossy, scheduling, and the thresholds of ECN marking."""

import inspect
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from lossless.formats.intent.base import (
    RATE_PATTERN,
    AboveZero,
    Dscp,
    Duration,
    LazyJsonSchema,
    Model,
    OnDemand,
    Percent,
    Priority,
    Rate,
    Size,
    off_or_mapping,
    refused,
    shown,
)
from lossless.formats.intent.class_groups import ClassBuffers, ClassGroups, ClassQueues
from lossless.formats.intent.policy import TIER_PATTERN, TierName, everywhere, exceptions_schema
from lossless.formats.intent.wiring import NAME, Name
from lossless.model.fabric.cluster import dscp_of_name

CLASS_NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,23}$"
ClassName = Annotated[str, Field(pattern=CLASS_NAME)]
"""The name of a class, short enough that a WRED profile can be named after it and a speed.

Such names have at most 32 characters (sonic-wred-profile.yang @086b03b).
"""

LARGEST_THRESHOLD = 2**31 - 1
"""Largest WRED threshold in bytes: sonic-swss parses it as an int (orchagent/qosorch.cpp @e6b0c5b)."""


class CurveIntent(Model):
    """A WRED curve that marks packets of one color: from ``min`` on, with ``probability`` at ``max``, all above it."""

    min: Size
    """Queue length in bytes from which packets are marked (Kmin). Has a unit. Example: `800 KiB` Example: `150 kB`"""
    max: Size
    """Queue length in bytes at which `probability` is reached; above it every packet is marked (Kmax). Has a unit.
    Example: `800 KiB`
    Example: `150 kB`
    """
    probability: Percent
    """Share of packets marked just below `max`, in whole percent (Pmax). Example: `20%` Example: `100%`"""

    @field_validator("min", "max")
    @classmethod
    def _fits_the_switch(cls, value: int) -> int:
        if value > LARGEST_THRESHOLD:
            raise refused(f"{value:,} B is no ECN threshold; switches hold at most {LARGEST_THRESHOLD:,} B")
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise refused(
                f"min ({self.min:,} B) is above max ({self.max:,} B); marking would never start", "min"
            )
        return self


def _curve_or_off(value: object) -> object:
    mapping = off_or_mapping(value)
    return _NO_CURVE if mapping is None else mapping


_OFF_SCHEMA: dict[str, Any] = {"enum": ["off", False]}


def _colour_schema() -> dict[str, Any]:
    return {"anyOf": [_OFF_SCHEMA, CurveIntent.model_json_schema()]}


Colour = Annotated[CurveIntent | None, BeforeValidator(_curve_or_off), LazyJsonSchema(_colour_schema)]
"""The curve of one color, or ``off``."""


class EcnIntent(CurveIntent):
    """A WRED curve that marks packets: from ``min`` on, with ``probability`` at ``max``, all above it.

    ``yellow`` and ``red`` are the curves of packets that a device on the path has colored so, or ``off``; left out, all
    colors have the same curve.
    """

    yellow: Colour = None
    """The curve of packets that a device on the path has colored yellow; `off` marks none of them. Left out: that of
    all others.
    Example: `{min: 1600 KiB, max: 6400 KiB, probability: 20%}`
    Example: `off`
    """
    red: Colour = None
    """The curve of packets that a device on the path has colored red; `off` marks none of them. Left out: that of all
    others.
    Example: `{min: 1600 KiB, max: 6400 KiB, probability: 20%}`
    Example: `off`
    """


class NoCurve(EcnIntent):
    """The curve ``off``: no packet of the queue, or of the color, is marked."""


_NO_CURVE = NoCurve.model_construct(min=0, max=0, probability=0)


class EcnBySpeed(Model):
    """ECN of a class on some switches: a curve for all links, and others by link speed; ``off`` marks nothing there."""

    all_speeds: EcnIntent | None = None
    by_speed: dict[Rate, Annotated[EcnIntent, BeforeValidator(_curve_or_off)]] = Field(
        default_factory=dict, min_length=1
    )
    """Other curves for links of one speed, in bits per second, or `off`. Left out: one curve for all.
    Example: `{800G: {min: 1600 KiB, max: 6400 KiB, probability: 20%}}`
    Example: `{400G: off}`
    """

    @property
    def values(self) -> EcnIntent | None:
        """The curve for links of all other speeds, None where only curves by speed are declared."""
        return self.all_speeds


def _layer(value: object) -> object:
    """Return an entry of ``by_tier`` or ``by_device`` as EcnBySpeed has it: curve or ``off`` under ``all_speeds``."""
    mapping = off_or_mapping(value)
    return _parts(mapping) if isinstance(mapping, dict) else {"all_speeds": _NO_CURVE}


def _parts(value: dict[str, object]) -> dict[str, object]:
    curve = {key: entry for key, entry in value.items() if key not in _EXCEPTIONS}
    others = {key: entry for key, entry in value.items() if key in _EXCEPTIONS}
    return {"all_speeds": curve or None, **others}


_EcnLayer = Annotated[EcnBySpeed, BeforeValidator(_layer)]


class EcnPolicy(EcnBySpeed):
    """ECN of a class: a curve for all links, and others by speed, by tier and on single devices."""

    by_tier: dict[TierName, _EcnLayer] = Field(default_factory=dict, min_length=1)
    """Other curves for the switches of one role, or `off`; they come before those of `by_speed`. Left out: none.
    Example: `{spine: {min: 1600 KiB, max: 6400 KiB, probability: 20%}}`
    Example: `{spine: off}`
    """
    by_device: dict[Name, _EcnLayer] = Field(default_factory=dict, min_length=1)
    """Other curves for single switches by name, or `off`; they come before all others. Left out: none.
    Example: `{leaf1: {min: 1600 KiB, max: 6400 KiB, probability: 20%}}`
    Example: `{leaf1: off}`
    """

    @model_validator(mode="after")
    def _some_curve(self) -> Self:
        if all(isinstance(curve, NoCurve) for curve, _ in everywhere(self)):
            raise refused("off is an exception from a curve, and none is stated; write ecn: off, or a curve")
        return self

    def speeds(self) -> set[int]:
        """Return the link speeds in b/s that have their own curve, and not ``off``, on any switch."""
        layers = (self, *self.by_tier.values(), *self.by_device.values())
        curves = (entry for layer in layers for entry in layer.by_speed.items())
        return {speed_bps for speed_bps, curve in curves if not isinstance(curve, NoCurve)}


_EXCEPTIONS = EcnPolicy.model_fields.keys() - {"all_speeds"}
"""Keys of a class's ``ecn`` beside those of the curve: ``by_speed``, ``by_tier`` and ``by_device``."""


def _number(value: object) -> object:
    """Return the DSCP that a name stands for, and any other value unchanged."""
    number = dscp_of_name(value) if isinstance(value, str) else None
    return value if number is None else number


def _numbers(named: dict[Any, object], *within: str | int) -> tuple[object, ...]:
    """Return the numbers of a mapping of DSCP names to numbers, ``{AF31: 26}``; a number may belong to another name."""
    for name in named:
        if not isinstance(name, str):
            raise refused(f"a key is text, found {shown(name)}", *within, name, at_key=True)
        if dscp_of_name(name) is None:
            known = "expected CS0 to CS7, AF11 to AF43, EF, VOICE-ADMIT or LE"
            raise refused(f"{shown(name)} is no name of a DSCP; {known}", *within, name, at_key=True)
    return tuple(named.values())


def _listed_number(entry: object, index: int) -> object:
    if not isinstance(entry, dict) or not entry:
        return _number(entry)
    first, *others = _numbers(entry, index)
    if others:
        raise refused("expected one name and its number, found several; each is an entry", index)
    return first


def _dscps(value: object) -> object:
    if value == "rest":
        return value
    if value == "off" or value is False:
        return ()
    if isinstance(value, list) and value:
        return tuple(_listed_number(entry, index) for index, entry in enumerate(value))
    if isinstance(value, dict) and value:
        return _numbers(value)
    number = _number(value)
    if isinstance(number, int) and not isinstance(number, bool):
        return (number,)
    wanted = "expected a number from 0 to 63, a name as AF31, a list of them, rest or off"
    raise refused(f"{shown(value)} is not a DSCP; {wanted}")


def _list_or_rest(value: object) -> str:
    return "rest" if value == "rest" else "list"


def _ecn(value: object) -> object:
    mapping = off_or_mapping(value)
    return _parts(mapping) if isinstance(mapping, dict) else mapping


_NUMBER_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 63}
_NAME_PATTERN = (
    r"^([Cc][Ss][0-7]|[Aa][Ff][1-4][1-3]|[Ee][Ff]|[Ll][Ee]|[Vv][Oo][Ii][Cc][Ee]-[Aa][Dd][Mm][Ii][Tt])$"
)
_ENTRY_SCHEMAS: list[dict[str, object]] = [
    _NUMBER_SCHEMA,
    {"type": "string", "pattern": _NAME_PATTERN},
    {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "patternProperties": {_NAME_PATTERN: _NUMBER_SCHEMA},
    },
]
_DSCP_SCHEMA = {
    "description": "one DSCP as a number, a name (AF31) or both (AF31: 26), a list of them, rest or off",
    "anyOf": [
        *_ENTRY_SCHEMAS,
        {"type": "array", "items": {"anyOf": _ENTRY_SCHEMAS, "maxProperties": 1}, "minItems": 1},
        {"enum": ["rest", "off", False]},
    ],
}


def _coloured_schema() -> dict[str, Any]:
    from lossless.formats.intent.key_docs import documented

    curve = CurveIntent.model_json_schema()
    return {
        **curve,
        "title": "Ecn",
        "description": inspect.cleandoc(EcnIntent.__doc__ or ""),
        "properties": documented(
            {**curve["properties"], **dict.fromkeys(("yellow", "red"), _colour_schema())}, EcnIntent
        ),
    }


def _layer_schema(declared_by: type, left_out: str, **exceptions: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a curve whose keys may come from a lower rank or a preset, and of its exceptions."""
    from lossless.formats.intent.key_docs import documented, lengthened

    curve = _coloured_schema()
    by_speed = exceptions_schema(RATE_PATTERN, {"anyOf": [_OFF_SCHEMA, curve]})
    properties = documented({**curve["properties"], "by_speed": by_speed, **exceptions}, declared_by)
    for key in CurveIntent.model_fields:
        text = lengthened(properties[key]["documentation"], left_out)
        properties[key] = {**properties[key], "documentation": text}
    form = {"type": "object", "minProperties": 1, "additionalProperties": False}
    return {"title": declared_by.__name__, **form, "properties": properties}


def _ecn_schema() -> dict[str, Any]:
    some = _layer_schema(EcnBySpeed, "Left out: only links of the speeds in `by_speed` have another curve.")
    layer = {"anyOf": [_OFF_SCHEMA, some]}
    policy = _layer_schema(
        EcnPolicy,
        "Left out: as the preset has it, or only links of the speeds in `by_speed` are marked.",
        by_tier=exceptions_schema(TIER_PATTERN, layer),
        by_device=exceptions_schema(NAME, layer),
    )
    what = "off, or min, max and probability, with exceptions for links and switches that differ"
    return {"description": what, "anyOf": [_OFF_SCHEMA, policy]}


_Share = Annotated[Percent, AboveZero("0% would starve the class; give it a share or leave it out")]


class TrafficClassIntent(Model):
    """One traffic class. Priority, TC and queue are the same number.

    A lossless class has the priority group of its priority. Lossy classes share group 0, or the first group that no
    lossless class has; ``pg`` overrides both. ``bandwidth`` is a DWRR share; ``scheduling: strict`` serves the queue
    before all others. ``dscp: off`` declares traffic that is not classified by DSCP: packets that a switch itself
    sends, or packets that are classified by 802.1p tags.
    """

    dscp: Annotated[
        Annotated[
            Annotated[tuple[Dscp, ...], Tag("list")] | Annotated[Literal["rest"], Tag("rest")],
            Discriminator(_list_or_rest),
        ],
        BeforeValidator(_dscps),
        WithJsonSchema(_DSCP_SCHEMA),
    ]
    """The DSCPs of the class: a number from 0 to 63, a name (`AF31`), both (`{AF31: 26}`), a list of them, or `rest`
    for all that no other class names. Required, unless the preset gives it.
    Example: `26`
    Example: `AF31`
    Example: `[26, 27]`
    Example: `rest`
    """
    priority: Priority
    """Priority from 0 to 7; also the traffic class and the queue. No two classes share one. Required, unless the preset
    gives it.
    Example: `3`
    """
    lossless: bool = False
    """Whether PFC keeps this class from losing packets."""
    pg: ClassGroups | None = None
    """Priority group from 0 to 7, with exceptions where links or switches differ. Left out: that of the priority for a
    lossless class; for lossy ones group 0, or the first that no lossless class has.
    Example: `3`
    Example: `{number: 1, by_tier: {spine: 0}}`
    """
    scheduling: Literal["dwrr", "strict"] | None = None
    """`dwrr` shares bandwidth by `bandwidth`, `strict` serves the queue before all others. Left out: dwrr.
    """
    bandwidth: _Share | None = None
    """DWRR share in whole percent; all classes share 100%.

    Not with `scheduling: strict`. Left out: an equal part of the rest of it, at least 1%. Example: `50%`
    """
    ecn: Annotated[EcnPolicy | None, BeforeValidator(_ecn), LazyJsonSchema(_ecn_schema)] = None
    """The WRED curve that marks packets, with exceptions where links or switches differ; `off` marks nothing. Left out:
    that of the preset, else nothing is marked.
    Example: `{min: 800 KiB, max: 3200 KiB, probability: 20%}`
    """
    queueing_delay: Duration | None = None
    """The longest p99 queueing delay, with its unit, that thresholds of `lossless tune` may cause in any workload: the
    time within which 99 % of all frames leave the queue of a switch port again. Left out: no longer than with the
    configured thresholds. Example: `200us`
    """
    buffer: Annotated[ClassBuffers | None, OnDemand()] = None
    """Thresholds and headroom of a lossless class, with exceptions where links or switches differ. Left out: those of
    the HWSKU.
    Example: `{dynamic_th: 1, by_tier: {spine: {dynamic_th: 0}}}`
    """
    queue: Annotated[ClassQueues | None, OnDemand()] = None
    """Buffer that the queues of the class take before they drop, with exceptions where links or switches differ. Left
    out: that of the HWSKU's profiles.
    Example: `{dynamic_th: 3, by_tier: {spine: {dynamic_th: 1}}}`
    """

    @model_validator(mode="after")
    def _one_way_of_serving(self) -> Self:
        if self.scheduling == "strict" and self.bandwidth is not None:
            raise refused(
                "a strict class takes what it needs; leave out bandwidth, or scheduling: strict", "bandwidth"
            )
        return self

    @model_validator(mode="after")
    def _own_groups(self) -> Self:
        if self.buffer is not None and not self.lossless:
            raise refused(
                "lossy classes share one profile of a switch; only lossless ones have their own", "buffer"
            )
        return self

    @property
    def dscps(self) -> tuple[int, ...]:
        """The DSCPs that the class declares; none for ``rest`` and ``off``."""
        return () if self.dscp == "rest" else self.dscp

    @property
    def rest(self) -> bool:
        """Whether the class takes every DSCP that no other class declares."""
        return self.dscp == "rest"
