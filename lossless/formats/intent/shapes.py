"""Topologies by shape: a few numbers that define all devices and links."""

from __future__ import annotations

from abc import abstractmethod
from math import prod
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import Count, Length, LinkCount, Model, OnOff, listed, refused
from lossless.formats.intent.policy import TierRatios
from lossless.ground.basics.limits import LINKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def refuse_too_many(links: int) -> None:
    """Refuse a fabric of more links than are laid out.

    Raises:
        PydanticCustomError: there are more.
    """
    if links > LINKS:
        raise refused(f"{links:,} links; the most that is laid out is {LINKS:,}")


def clos_links(leaves: int, hosts_per_leaf: int, host_links: int, spines: int, uplinks: int) -> int:
    """Return how many links leaves have: to their hosts, and to as many spines each."""
    return leaves * (hosts_per_leaf * host_links + spines * uplinks)


def pairs(groups: int) -> int:
    """Return how many times two there are among groups."""
    return groups * (groups - 1) // 2


def torus_links(sides: Sequence[int], links: int, hosts_per_switch: int, host_links: int) -> int:
    """Return how many links a torus has."""
    switches = prod(sides)
    # A side of two has half of what a ring has: one bundle for every two switches.
    across = sum(switches if side > 2 else switches // 2 for side in sides)
    return across * links + switches * hosts_per_switch * host_links


def _two_or_three(sides: tuple[int, ...]) -> tuple[int, ...]:
    if len(sides) not in (2, 3):
        raise refused(f"expected two or three sides, found {len(sides)}")
    for index, side in enumerate(sides):
        if side == 1:
            raise refused("a side of one switch is no side; leave it out", index)
    return sides


Sides = Annotated[
    tuple[Count, ...],
    BeforeValidator(listed),
    AfterValidator(_two_or_three),
    WithJsonSchema(
        {"type": "array", "items": {"type": "integer", "minimum": 2}, "minItems": 2, "maxItems": 3}
    ),
]
"""How many switches a torus has along each of its sides."""


class Cables(Model):
    """Real cable lengths by tier; what is configured is the next longer row of the HWSKU."""

    host: Length
    uplink: Length


class PodCables(Cables):
    """Real cable lengths of a fabric of pods."""

    spine_uplink: Length


class GroupCables(Cables):
    """Real cable lengths of a dragonfly+."""

    global_: Length = Field(alias="global")


class DragonflyCables(Model):
    """Real cable lengths of a dragonfly."""

    host: Length
    local: Length
    global_: Length = Field(alias="global")


class TorusCables(Model):
    """Real cable lengths of a torus; those that close a ring count as all others."""

    host: Length
    link: Length


class ShapeIntent(Model):
    """What all shapes have: the accepted oversubscription, and whether bundles between switches are LAGs."""

    oversubscription: TierRatios = Field(default_factory=dict)
    lag: OnOff = False
    if TYPE_CHECKING:
        cables: Model

    @property
    def room_sizes(self) -> Mapping[str, int]:
        """The numbers that the shape may grow to, those that are stated."""
        room = getattr(self, "room", None)
        return room.model_dump(exclude_none=True) if room is not None else {}

    @property
    def frame(self) -> tuple[int, ...]:
        """What the place of a device depends on besides its count: how many planes or sides there are."""
        return ()

    def grown(self) -> Self:
        """Return the shape of the size that it may grow to."""
        return self.model_copy(update=dict(self.room_sizes))

    @model_validator(mode="after")
    def _room_holds_what_is_there(self) -> Self:
        for name, size in self.room_sizes.items():
            if size < getattr(self, name):
                message = f"room for {size} {name}, and there are {getattr(self, name)} already"
                raise refused(message, "room", name)
        return self

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> Self:
        refuse_too_many(self.grown().link_count())
        return self

    @abstractmethod
    def link_count(self) -> int:
        """Return how many links the shape has."""


def refuse_unequal_parts(shape: ShapeIntent, parts: str, whole: str) -> None:
    """Refuse a shape, now or when it has grown, that cannot be parted as stated.

    Raises:
        PydanticCustomError: the parts do not divide the whole.
    """
    number = getattr(shape, parts)
    for size, where in ((getattr(shape, whole), (parts,)), (shape.room_sizes.get(whole), ("room", whole))):
        if size is not None and size % number:
            raise refused(f"{number} {parts} do not divide {size} {whole}", *where)


def refuse_unequal_links(parts: str, number: int, host_links: int) -> None:
    """Refuse hosts that have more links at one of several leaves than at another.

    Raises:
        PydanticCustomError: they do not divide the links of a host.
    """
    if host_links % number:
        raise refused(f"{number} {parts} do not divide {host_links} links of a host", parts)


class LeafSpineRoom(Model):
    """What a two-tier Clos may grow to, without a port or name that changes."""

    leaves: Count | None = None
    spines: Count | None = None
    hosts_per_leaf: Count | None = None


class LeafSpineIntent(ShapeIntent):
    """A two-tier Clos: every leaf connects to every spine.

    With ``lag`` the uplinks between a leaf and a spine are one LAG. With ``dual_tor`` hosts are attached to pairs of
    leaves, and what reaches the wrong one of a pair goes back through the spines in a tunnel.
    """

    leaves: Count
    spines: Count
    hosts_per_leaf: Count
    host_links: LinkCount
    uplinks: LinkCount
    cables: Cables
    dual_tor: OnOff = False
    room: LeafSpineRoom | None = None

    def link_count(self) -> int:
        """Return how many links the shape has."""
        return clos_links(self.leaves, self.hosts_per_leaf, self.host_links[0], self.spines, self.uplinks[0])


class ThreeTierRoom(Model):
    """What a three-tier Clos may grow to, without a port or name that changes."""

    pods: Count | None = None
    leaves_per_pod: Count | None = None
    spines_per_pod: Count | None = None
    super_spines: Count | None = None
    hosts_per_leaf: Count | None = None


class ThreeTierIntent(ShapeIntent):
    """A three-tier Clos: in each pod every leaf connects to every spine, and super-spines join the pods.

    Every spine connects to every super-spine. With several ``planes`` it connects to those of its own: the first
    spines of each pod to the first super-spines, and so on. With several ``rails`` adapter n of every host is at the
    leaf of rail n: as many leaves, one after the other, share their hosts. ``lag`` and ``dual_tor`` as in a two-tier
    Clos.
    """

    pods: Count
    leaves_per_pod: Count
    spines_per_pod: Count
    super_spines: Count
    planes: Count = 1
    rails: Count = 1
    hosts_per_leaf: Count
    host_links: LinkCount
    uplinks: LinkCount
    spine_uplinks: LinkCount
    cables: PodCables
    dual_tor: OnOff = False
    room: ThreeTierRoom | None = None

    @property
    def frame(self) -> tuple[int, ...]:
        """The number of planes, through which spines and super-spines are counted, and of rails, which hosts share."""
        return (self.planes, self.rails)

    @model_validator(mode="after")
    def _parts_are_equal(self) -> ThreeTierIntent:
        for parts, whole in (
            ("planes", "spines_per_pod"),
            ("planes", "super_spines"),
            ("rails", "leaves_per_pod"),
        ):
            refuse_unequal_parts(self, parts, whole)
        refuse_unequal_links("rails", self.rails, self.host_links[0])
        return self

    def link_count(self) -> int:
        """Return how many links the shape has."""
        at_leaf = self.host_links[0] // self.rails
        in_pod = clos_links(
            self.leaves_per_pod, self.hosts_per_leaf, at_leaf, self.spines_per_pod, self.uplinks[0]
        )
        per_spine = self.super_spines // self.planes * self.spine_uplinks[0]
        return self.pods * (in_pod + self.spines_per_pod * per_spine)


class RailRoom(Model):
    """What a rail-optimized fabric may grow to, without a port or name that changes."""

    units: Count | None = None
    spines: Count | None = None
    hosts_per_unit: Count | None = None


class RailOptimisedIntent(ShapeIntent):
    """Scalable units in which adapter n of every host is at the leaf of rail n; every leaf connects to every spine.

    A unit has one leaf a rail. ``host_links`` are all links of a host, shared out among its rails. With several
    ``planes`` an adapter has a port in each: a unit has a leaf for each rail of each, and the spines are shared out.
    """

    units: Count
    rails: Count
    planes: Count = 1
    spines: Count
    hosts_per_unit: Count
    host_links: LinkCount
    uplinks: LinkCount
    cables: Cables
    room: RailRoom | None = None

    @property
    def frame(self) -> tuple[int, ...]:
        """The number of planes, through which leaves and spines are counted."""
        return (self.planes,)

    @model_validator(mode="after")
    def _parts_are_equal(self) -> RailOptimisedIntent:
        refuse_unequal_parts(self, "planes", "spines")
        refuse_unequal_links("rails", self.rails, self.host_links[0])
        if self.host_links[0] // self.rails % self.planes:
            each = self.host_links[0] // self.rails
            links = "1 link" if each == 1 else f"{each} links"
            raise refused(f"{self.planes} planes do not divide {links} of a host on each rail", "planes")
        return self

    def link_count(self) -> int:
        """Return how many links the shape has."""
        up = self.rails * self.spines * self.uplinks[0]
        return self.units * (self.hosts_per_unit * self.host_links[0] + up)


class DragonflyRoom(Model):
    """What a dragonfly may grow to, without a port or name that changes."""

    groups: Count | None = None
    hosts_per_switch: Count | None = None


class DragonflyIntent(ShapeIntent):
    """A dragonfly: groups in which every switch has links to every other, and links between every two groups.

    ``switches`` are those of one group; ``global_links`` those of two groups, which each shares out among its switches.
    """

    groups: Count
    switches: Count
    hosts_per_switch: Count
    host_links: LinkCount
    local_links: LinkCount
    global_links: LinkCount
    cables: DragonflyCables
    room: DragonflyRoom | None = None

    @model_validator(mode="after")
    def _several_groups_of_several(self) -> DragonflyIntent:
        for name, what in (("groups", "group"), ("switches", "switch to a group")):
            if getattr(self, name) == 1:
                raise refused(f"one {what} is no dragonfly; it has two or more", name)
        return self

    def link_count(self) -> int:
        """Return how many links the shape has."""
        local = pairs(self.switches) * self.local_links[0]
        hosts = self.switches * self.hosts_per_switch * self.host_links[0]
        return self.groups * (hosts + local) + pairs(self.groups) * self.global_links[0]


class DragonflyPlusRoom(Model):
    """What a dragonfly+ may grow to, without a port or name that changes."""

    groups: Count | None = None
    leaves: Count | None = None
    hosts_per_leaf: Count | None = None


class DragonflyPlusIntent(ShapeIntent):
    """A dragonfly+: groups that each are a leaf-spine, every two groups joined by links of their spines.

    ``leaves`` and ``spines`` are those of one group; ``global_links`` those of two groups, which each shares out among
    its spines.
    """

    groups: Count
    leaves: Count
    spines: Count
    hosts_per_leaf: Count
    host_links: LinkCount
    uplinks: LinkCount
    global_links: LinkCount
    cables: GroupCables
    room: DragonflyPlusRoom | None = None

    @model_validator(mode="after")
    def _several_groups(self) -> DragonflyPlusIntent:
        if self.groups == 1:
            raise refused("one group is a leaf_spine; a dragonfly+ has two or more", "groups")
        return self

    def link_count(self) -> int:
        """Return how many links the shape has."""
        in_group = clos_links(
            self.leaves, self.hosts_per_leaf, self.host_links[0], self.spines, self.uplinks[0]
        )
        return self.groups * in_group + pairs(self.groups) * self.global_links[0]


class TorusRoom(Model):
    """What the switches of a torus may grow to, without a port or name that changes."""

    hosts_per_switch: Count | None = None


class TorusIntent(ShapeIntent):
    """A torus of two or three dimensions. A side of two switches has one bundle between them, not a ring of two."""

    sides: Sides
    links: LinkCount
    hosts_per_switch: Count
    host_links: LinkCount
    cables: TorusCables
    room: TorusRoom | None = None

    @property
    def frame(self) -> tuple[int, ...]:
        """The number of sides."""
        return (len(self.sides),)

    def link_count(self) -> int:
        """Return how many links the shape has."""
        return torus_links(self.sides, self.links[0], self.hosts_per_switch, self.host_links[0])
