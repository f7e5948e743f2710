"""Buffers of a class: values for all switches, with exceptions by speed, by tier and by device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from lossless.formats.intent.base import Model, Rate, Size, refused, whole_number
from lossless.formats.intent.ranks import TierName
from lossless.formats.intent.wiring import Name

Exponent = Annotated[int, *whole_number(-8, 7, "a dynamic_th")]
"""Exponent of alpha: 2^-8 to 2^7 (sonic-buildimage src/sonic-yang-models/yang-models/sonic-buffer-profile.yang
@086b03b)."""


class Threshold(Model):
    """The threshold of a group or queue. A key that is left out comes from a lower rank, else it is computed."""

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
        """The values for ports of all speeds."""
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
