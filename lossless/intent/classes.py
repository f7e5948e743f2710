"""Traffic classes: which DSCPs, which priority, lossless or not, how they are served, where ECN marks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.intent.base import Dscp, Model, Percent, Priority, Rate, Size, refused

ClassName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,23}$")]
"""Short enough to name a WRED profile with a speed behind it (sonic-wred-profile.yang @086b03b: 32 characters)."""


class Ecn(Model):
    """A WRED curve that marks: from ``min`` on, with ``probability`` at ``max``, always above.

    ``by_speed`` gives other values for links of one speed.
    """

    min: Size
    max: Size
    probability: Percent

    @model_validator(mode="after")
    def _ordered(self) -> Ecn:
        if self.min > self.max:
            raise refused(f"min ({self.min:,} B) is above max ({self.max:,} B); marking would never start")
        return self


class EcnPolicy(Model):
    """ECN of a class: one curve for all links, or one per link speed."""

    all_speeds: Ecn | None = None
    by_speed: dict[Rate, Ecn] = Field(default_factory=dict)

    def curve(self, speed_bps: int) -> Ecn | None:
        """Return the curve for links of one speed."""
        return self.by_speed.get(speed_bps, self.all_speeds)


def _dscps(value: object) -> object:
    if value == "rest":
        return value
    if isinstance(value, list) and value:
        return tuple(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    raise refused(f"{value!r} is not a DSCP; expected a number from 0 to 63, a list of them, or rest")


def _ecn(value: object) -> object:
    if value is False or value == "off":
        return None
    if not isinstance(value, dict):
        raise refused(f"ecn is off or a mapping of min, max and probability, found {value!r}")
    by_speed = value.get("by_speed")
    plain = {key: entry for key, entry in value.items() if key != "by_speed"}
    return {"all_speeds": plain or None, "by_speed": by_speed or {}}


_DSCP_SCHEMA = {
    "description": "one DSCP, a list of them, or rest",
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 63},
        {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 63}, "minItems": 1},
        {"const": "rest"},
    ],
}
_CURVE_SCHEMA = {
    "min": {"type": "string"},
    "max": {"type": "string"},
    "probability": {"type": "string"},
}
_ECN_SCHEMA = {
    "description": "off, or min, max and probability, with by_speed for links that differ",
    "anyOf": [
        {"enum": ["off", False]},
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                **_CURVE_SCHEMA,
                "by_speed": {
                    "type": "object",
                    "additionalProperties": {"type": "object", "properties": _CURVE_SCHEMA},
                },
            },
        },
    ],
}


class TrafficClass(Model):
    """One traffic class. Priority, TC and queue are the same number.

    A lossless class has the priority group of its priority; a lossy one shares group 0 unless ``pg`` says
    otherwise. ``bandwidth`` is a DWRR share; ``scheduling: strict`` serves the queue before all others.
    """

    dscp: Annotated[tuple[Dscp, ...] | Literal["rest"], BeforeValidator(_dscps), WithJsonSchema(_DSCP_SCHEMA)]
    priority: Priority
    lossless: bool = False
    pg: Priority | None = None
    scheduling: Literal["dwrr", "strict"] | None = None
    bandwidth: Percent | None = None
    ecn: Annotated[EcnPolicy | None, BeforeValidator(_ecn), WithJsonSchema(_ECN_SCHEMA)] = None

    @model_validator(mode="after")
    def _one_way_of_serving(self) -> TrafficClass:
        if self.scheduling == "strict" and self.bandwidth is not None:
            raise refused("a strict class takes what it needs; leave out bandwidth, or scheduling: strict")
        if self.bandwidth == 0:
            raise refused("bandwidth 0% would starve the class; give it a share or leave it out")
        return self

    @property
    def dscps(self) -> tuple[int, ...]:
        """The DSCPs the class names; none for ``rest``."""
        return () if self.dscp == "rest" else self.dscp

    @property
    def rest(self) -> bool:
        """Whether the class takes every DSCP that no other names."""
        return self.dscp == "rest"
