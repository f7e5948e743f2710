"""Buffers of a class: what is stated for all switches, and what differs by speed, by tier and on single devices."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import Model, Rate, Size, refused, small_number
from lossless.formats.intent.ranks import TierName
from lossless.formats.intent.wiring import Name

Exponent = Annotated[
    int,
    small_number(-8, 7, "a dynamic_th"),
    WithJsonSchema({"type": "integer", "minimum": -8, "maximum": 7}),
]
"""Exponent of alpha: 2^-8 to 2^7 (sonic-buildimage src/sonic-yang-models/yang-models/sonic-buffer-profile.yang
@086b03b)."""


class Threshold(Model):
    """How much a group or queue takes at some place. What is left out is as another rank states it, else computed."""

    dynamic_th: Exponent | None = None
    static_th: Size | None = None

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if self.dynamic_th is not None and self.static_th is not None:
            raise refused("there is one threshold; leave out dynamic_th or static_th", "static_th")
        return self

    @property
    def values(self) -> Self:
        """What holds for all speeds."""
        return self


class BufferValues(Threshold):
    """Buffers of a class at some place."""

    xoff: Size | None = None
    xon: Size | None = None
    xon_offset: Size | None = None


class BuffersBySpeed(BufferValues):
    """Buffers of a class on some switches, with ``by_speed`` for links of one speed."""

    by_speed: dict[Rate, BufferValues] = Field(default_factory=dict, min_length=1)


class ClassBuffers(BuffersBySpeed):
    """Buffers of a class. Of each key the highest rank counts that states it: a device in ``by_device``, then its role
    in ``by_tier``, then its speed in ``by_speed``, then the values beside them.
    """

    by_tier: dict[TierName, BuffersBySpeed] = Field(default_factory=dict, min_length=1)
    by_device: dict[Name, BuffersBySpeed] = Field(default_factory=dict, min_length=1)


class QueueValues(Threshold):
    """Limits of the queues of a class at some place, and what is reserved for each. What is left out is as another rank
    states it, else that of the HWSKU.
    """

    size: Size | None = None


class QueuesBySpeed(QueueValues):
    """Limits of the queues of a class on some switches, with ``by_speed`` for links of one speed."""

    by_speed: dict[Rate, QueueValues] = Field(default_factory=dict, min_length=1)


class ClassQueues(QueuesBySpeed):
    """Limits of the queues of a class, ranked as its buffers are."""

    by_tier: dict[TierName, QueuesBySpeed] = Field(default_factory=dict, min_length=1)
    by_device: dict[Name, QueuesBySpeed] = Field(default_factory=dict, min_length=1)
