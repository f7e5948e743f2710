"""Buffer policy of switches: the buffer model, pool sizes and shared headroom.

Trimming: the classes whose packets are cut where a queue has no room, their size, and their new class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, get_args

from pydantic import BeforeValidator, Field, model_validator

from lossless.formats.intent.base import LEAST_MTU, FrameSize, Model, Percent, Size, listed, refused
from lossless.formats.intent.classes import ClassName
from lossless.formats.intent.policy import Ratio, TierName
from lossless.formats.intent.sonic import by_role
from lossless.formats.intent.wiring import Name
from lossless.model.fabric.model import BufferModel

MOST_LOSSLESS_MTU = 9216
"""The largest value of LOSSLESS_TRAFFIC_PATTERN|mtu (sonic-lossless-traffic-pattern.yang @086b03b)."""
ModelByRole = Annotated[dict[str, str], *by_role("buffer model", get_args(BufferModel), "The buffer model")]
PoolForm = Annotated[
    dict[str, str], *by_role("form of ingress pools", ("single", "split"), "The form of the pools")
]
UnusedPorts = Annotated[
    dict[str, str], *by_role("policy for unused ports", ("reclaim", "keep"), "What becomes of unused ports")
]


class WholePool(Model):
    """A pool with a size and no other setting."""

    size: Size | None = None
    """Size of the pool in bytes. Has a unit. Left out: it is computed. Example: `40 MiB`"""


class SharedPool(WholePool):
    """A pool: its size, or in the dynamic buffer model its percentage of the buffer that is left to share."""

    percentage: Percent | None = None
    """In the dynamic buffer model: the part of the pool, in whole percent, of what headroom and reserved buffer leave
    of the chip. Left out: an equal share.
    Example: `60%`
    """

    @model_validator(mode="after")
    def _one_size(self) -> SharedPool:
        if self.size is not None and self.percentage is not None:
            raise refused("a pool has one size; leave out size or percentage", "percentage")
        return self


class LosslessPool(SharedPool):
    """The pool of lossless groups; ``xoff`` is the shared headroom beside it."""

    xoff: Size | None = None
    """Size in bytes of the shared headroom beside the pool, instead of `headroom_oversubscription`. Has a unit. Left
    out: as that ratio says.
    Example: `8 MiB`
    """

    @model_validator(mode="after")
    def _some_room(self) -> LosslessPool:
        for key in ("size", "percentage"):
            if getattr(self, key) == 0:
                raise refused("leaves lossless groups nothing to share; a pool has room for packets", key)
        return self


class PoolSizes(Model):
    """Sizes of pools by their names in CONFIG_DB. A pool that is left out is computed."""

    ingress_lossless_pool: LosslessPool | None = None
    """The pool that groups of lossless classes take from. Left out: what is left once all ports have their own.
    Example: `{size: 40 MiB, xoff: 8 MiB}`
    Example: `{percentage: 60%}`
    """
    ingress_lossy_pool: SharedPool | None = None
    """The pool of all other groups, where the HWSKU has one. Left out: it is computed. Example: `{size: 40 MiB}`"""
    egress_lossless_pool: WholePool | None = None
    """The pool of lossless queues, which spans the whole buffer. Left out: as the vendor ships it.
    Example: `{size: 40 MiB}`
    """
    egress_lossy_pool: SharedPool | None = None
    """The pool of all other queues. Left out: it is computed. Example: `{size: 40 MiB}`"""


class SwitchBuffers(Model):
    """Pools and shared headroom of some switches. A key that is left out takes its value from a lower rank."""

    headroom_oversubscription: Ratio | None = None
    """How much more headroom all groups may ask for than the shared headroom pool holds: 1.5 means 1.5:1. Left out: 1,
    or what the vendor ships where 1 took over half of the chip.
    Example: `1.5`
    """
    pool_sizes: PoolSizes | None = None
    """Sizes of buffer pools by their names in CONFIG_DB. Left out: all are computed.
    Example: `{ingress_lossless_pool: {size: 40 MiB}}`
    """

    @model_validator(mode="after")
    def _one_shared_headroom(self) -> SwitchBuffers:
        lossless = self.pool_sizes.ingress_lossless_pool if self.pool_sizes else None
        if self.headroom_oversubscription is not None and lossless is not None and lossless.xoff is not None:
            why = "gives the shared headroom its size, and so does headroom_oversubscription; leave out one of them"
            raise refused(why, "pool_sizes", "ingress_lossless_pool", "xoff")
        return self

    @property
    def values(self) -> SwitchBuffers:
        """The values for ports of all speeds."""
        return self

    @property
    def by_speed(self) -> Mapping[int, SwitchBuffers]:
        """No exceptions by speed: pools belong to a switch, not to ports of one speed."""
        return {}


class Buffers(SwitchBuffers):
    """Buffer policy. Without a declared ratio the shared headroom pool holds the headroom of all groups at once. If
    that exceeds half of the chip, the pool has the size that the vendor ships.

    ``model`` is SONiC's buffer model. In the ``traditional`` model, the default, headroom comes from the rows of the
    HWSKU and pools are computed here. In the ``dynamic`` model the switch computes both, for packets of up to
    ``lossless_mtu`` bytes of which ``small_packets`` percent have 64 bytes. ``pools`` is one ingress pool for all
    traffic or one for lossless and one for lossy traffic, where HWSKUs of a product ship both; left out, the form of
    the HWSKU. ``unused_ports: reclaim`` shuts ports without a link down and reclaims their buffer. All three may differ
    by role: ``{leaf: dynamic, spine: traditional}``. Sizes and the ratio may differ by role and device: the highest
    rank that declares one applies.
    """

    model: ModelByRole = Field(default_factory=dict)
    """Who computes headroom and pools: `traditional` takes the rows of the HWSKU, in the `dynamic` model the switch
    does (NVIDIA, Barefoot). One word, or one for each role. Left out: traditional.
    Example: `dynamic`
    Example: `{leaf: dynamic, spine: traditional}`
    """
    lossless_mtu: FrameSize | None = None
    """Largest frame of lossless traffic in the dynamic model, in bytes or with a unit. Left out: 1024.
    Example: `4096`
    """
    small_packets: Percent | None = None
    """Part of lossless packets that are small, in percent, in the dynamic model. Left out: 100%. Example: `50%`"""
    pools: PoolForm = Field(default_factory=dict)
    """`single` or `split` ingress pools, where the product ships both. Left out: those of the HWSKU.
    Example: `single`
    """
    unused_ports: UnusedPorts = Field(default_factory=dict)
    """`reclaim` shuts ports without a link down and reclaims their buffer. Left out: keep, and pools leave room for the
    buffer that such ports reserve while they are up.
    Example: `reclaim`
    """
    by_tier: dict[TierName, SwitchBuffers] = Field(default_factory=dict, min_length=1)
    """Pools and shared headroom of the switches of one role. Left out: none differ.
    Example: `{spine: {headroom_oversubscription: 1}}`
    """
    by_device: dict[Name, SwitchBuffers] = Field(default_factory=dict, min_length=1)
    """Pools and shared headroom of single switches by name; they come before those of `by_tier`. Left out: none differ.
    Example: `{leaf1: {pool_sizes: {ingress_lossless_pool: {size: 40 MiB}}}}`
    """

    @model_validator(mode="after")
    def _dynamic_keys(self) -> Buffers:
        for name in ("lossless_mtu", "small_packets"):
            if getattr(self, name) is not None and "dynamic" not in self.model.values():
                why = "counts in the dynamic buffer model alone; state model: dynamic, or leave it out"
                raise refused(why, name)
        if self.lossless_mtu is not None and self.lossless_mtu > MOST_LOSSLESS_MTU:
            most = f"SONiC takes {LEAST_MTU} to {MOST_LOSSLESS_MTU:,} bytes"
            raise refused(f"{self.lossless_mtu} is no lossless packet; {most}", "lossless_mtu")
        return self


class TrimmingIntent(Model):
    """Packets of the classes ``of`` that find no room in a queue are cut to ``size`` and continue in class ``into``."""

    of: Annotated[tuple[ClassName, ...], BeforeValidator(listed)] = Field(min_length=1)
    """The lossy classes whose packets are trimmed. Example: `[rdma]`"""
    into: ClassName
    """The class that trimmed packets continue in, by its one DSCP. Example: `trimmed`"""
    size: Size
    """Size of a trimmed packet, with its unit, at least 64 B. Example: `256 B`"""
