"""Shapes of an Ethernet topology in an intent: a few numbers that define all devices and links."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import Count, Length, LinkCount, Model, OnOff, listed, refused
from lossless.formats.intent.policy import TierRatios
from lossless.ground.basics.limits import LINKS


def refuse_too_many(links: int) -> None:
    """Refuse a fabric of more links than a layout supports.

    Raises:
        PydanticCustomError: there are more than LINKS.
    """
    if links > LINKS:
        raise refused(f"{links:,} links; the most that is laid out is {LINKS:,}")


def clos_links(leaves: int, hosts_per_leaf: int, host_links: int, spines: int, uplinks: int) -> int:
    """Return how many links a Clos of leaves has: to the hosts of each leaf, and from each leaf to each spine."""
    return leaves * (hosts_per_leaf * host_links + spines * uplinks)


def pairs(groups: int) -> int:
    """Return the number of pairs of groups of a dragonfly."""
    return groups * (groups - 1) // 2


def torus_links(sides: Sequence[int], links: int, hosts_per_switch: int, host_links: int) -> int:
    """Return how many links a torus has, between switches and to hosts."""
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
    """Real cable lengths by tier; the traditional buffer model configures the next longer length of the HWSKU."""

    host: Length
    """Length of the cables from hosts to leaves, in meters, with its unit. Example: `3m`"""
    uplink: Length
    """Length of the cables from leaves to spines, in meters, with its unit. Example: `30m`"""


class PodCables(Cables):
    """Real cable lengths of a fabric of pods."""

    spine_uplink: Length
    """Length of the cables from spines to super-spines, in meters, with its unit. Example: `300m`"""


class GroupCables(Cables):
    """Real cable lengths of a dragonfly+."""

    host: Length
    """Length of the cables from hosts to their switches, in meters, with its unit. Example: `3m`"""
    global_: Length = Field(alias="global")
    """Length of the cables between groups, in meters, with its unit. Example: `100m`"""


class DragonflyCables(Model):
    """Real cable lengths of a dragonfly."""

    host: Length
    """Length of the cables from hosts to their switches, in meters, with its unit. Example: `3m`"""
    local: Length
    """Length of the cables within a group, in meters, with its unit. Example: `10m`"""
    global_: Length = Field(alias="global")
    """Length of the cables between groups, in meters, with its unit. Example: `100m`"""


class TorusCables(Model):
    """Real cable lengths of a torus; the links that close a ring have the same length as all others."""

    host: Length
    """Length of the cables from hosts to their switches, in meters, with its unit. Example: `3m`"""
    link: Length
    """Length of the cables between switches, in meters, with its unit. Example: `10m`"""


class ShapeIntent(Model):
    """Keys that all shapes have: the accepted oversubscription, and whether bundles between switches are LAGs."""

    oversubscription: TierRatios = Field(default_factory=dict)
    """Accepted ratio of the bandwidth below a switch to that of its uplinks: 2 means 2:1. One number for all tiers, or
    one for each. Left out: 1.
    Example: `2`
    """
    lag: OnOff = False
    """Whether bundles between two switches are LAGs. Left out: off. Example: `on`"""
    if TYPE_CHECKING:
        cables: Model

    @property
    def room_sizes(self) -> Mapping[str, int]:
        """The declared sizes under ``room`` that the shape may grow to, by key; empty where none are declared."""
        room = getattr(self, "room", None)
        return room.model_dump(exclude_none=True) if room is not None else {}

    @property
    def frame(self) -> tuple[int, ...]:
        """The numbers of planes, rails or sides, by which positions of devices are counted; empty without any."""
        return ()

    def grown(self) -> Self:
        """Return the shape at the size that it may grow to."""
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
    """Refuse a shape whose number of planes or rails does not divide a number of switches, now or when grown.

    Raises:
        PydanticCustomError: ``parts`` do not divide ``whole``; both are keys of the shape.
    """
    number = getattr(shape, parts)
    for size, where in ((getattr(shape, whole), (parts,)), (shape.room_sizes.get(whole), ("room", whole))):
        if size is not None and size % number:
            raise refused(f"{number} {parts} do not divide {size} {whole}", *where)


def refuse_unequal_links(parts: str, number: int, host_links: int) -> None:
    """Refuse hosts that have more links on one rail than on another.

    Raises:
        PydanticCustomError: the number of rails does not divide the links of a host.
    """
    if host_links % number:
        raise refused(f"{number} {parts} do not divide {host_links} links of a host", parts)


class ClosIntent(ShapeIntent):
    """A Clos: each of its tiers has an accepted oversubscription, and its uplinks may be LAGs."""

    oversubscription: TierRatios = Field(default_factory=dict)
    """Accepted ratio of the bandwidth below a switch to that of its uplinks: 2 means 2:1. One number for all tiers, or
    one for each. Left out: 1.
    Example: `2`
    Example: `{leaf: 1, spine: 7}`
    """
    lag: OnOff = False
    """Whether the uplinks between two switches are one LAG. Left out: off. Example: `on`"""


class LeafSpineRoom(Model):
    """Size limits of a two-tier Clos within which no existing port or name changes."""

    leaves: Count | None = None
    """The most leaves there may be. Left out: no more than there are. Example: `16`"""
    spines: Count | None = None
    """The most spines there may be. Left out: no more than there are. Example: `8`"""
    hosts_per_leaf: Count | None = None
    """The most hosts at a leaf there may be. Left out: no more than there are. Example: `32`"""


class LeafSpineIntent(ClosIntent):
    """A two-tier Clos: every leaf connects to every spine.

    With ``lag`` the uplinks between a leaf and a spine are one LAG. With ``dual_tor`` hosts are attached to pairs of
    leaves, and packets that reach the wrong leaf of a pair go back through the spines in a tunnel.
    """

    leaves: Count
    """How many leaf switches. Example: `4`"""
    spines: Count
    """How many spine switches. Example: `4`"""
    hosts_per_leaf: Count
    """How many hosts at every leaf. Example: `16`"""
    host_links: LinkCount
    """Links from each host to its leaf: how many, of which rate. Example: `2 x 400G`"""
    uplinks: LinkCount
    """Links from each leaf to each spine: how many, of which rate. Example: `8 x 800G`"""
    cables: Cables
    """Real cable lengths by tier. Example: `{host: 3m, uplink: 30m}`"""
    dual_tor: OnOff = False
    """Whether hosts are attached to pairs of leaves that tunnel to each other. Left out: off. Example: `on`"""
    room: LeafSpineRoom | None = None
    """What the shape may grow to. Ports and names are kept free for it, so that none of those that exist change. Left
    out: no more than there is.
    Example: `{hosts_per_leaf: 32}`
    """

    def link_count(self) -> int:
        """Return how many links the shape has."""
        return clos_links(self.leaves, self.hosts_per_leaf, self.host_links[0], self.spines, self.uplinks[0])


class ThreeTierRoom(Model):
    """Size limits of a three-tier Clos within which no existing port or name changes."""

    pods: Count | None = None
    """The most pods there may be. Left out: no more than there are. Example: `16`"""
    leaves_per_pod: Count | None = None
    """The most leaves in a pod there may be. Left out: no more than there are. Example: `32`"""
    spines_per_pod: Count | None = None
    """The most spines in a pod there may be. Left out: no more than there are. Example: `16`"""
    super_spines: Count | None = None
    """The most super-spines there may be. Left out: no more than there are. Example: `64`"""
    hosts_per_leaf: Count | None = None
    """The most hosts at a leaf there may be. Left out: no more than there are. Example: `32`"""


class ThreeTierIntent(ClosIntent):
    """A three-tier Clos: in each pod every leaf connects to every spine, and super-spines join the pods.

    Every spine connects to every super-spine. With several ``planes`` it connects to those of its own: the first
    spines of each pod to the first super-spines, and so on. With several ``rails`` adapter n of every host is at the
    leaf of rail n: as many leaves, one after the other, share their hosts. ``lag`` and ``dual_tor`` as in a two-tier
    Clos.
    """

    pods: Count
    """How many pods. Example: `4`"""
    leaves_per_pod: Count
    """How many leaf switches in every pod. Example: `4`"""
    spines_per_pod: Count
    """How many spine switches in every pod. Example: `4`"""
    super_spines: Count
    """How many super-spine switches. Example: `4`"""
    planes: Count = 1
    """Planes that spines and super-spines are divided into. Example: `1`"""
    rails: Count = 1
    """How many leaves of a pod share their hosts: adapter n of each is at the leaf of rail n. Example: `8`"""
    hosts_per_leaf: Count
    """How many hosts at every leaf; with several rails, at every leaf that shares them. Example: `16`"""
    host_links: LinkCount
    """Links from each host to its leaf, with several rails to all its leaves: how many, of which rate.
    Example: `2 x 400G`
    """
    uplinks: LinkCount
    """Links from each leaf to each spine of its pod: how many, of which rate. Example: `4 x 800G`"""
    spine_uplinks: LinkCount
    """Links from each spine to each super-spine of its plane: how many, of which rate. Example: `2 x 800G`"""
    cables: PodCables
    """Real cable lengths by tier. Example: `{host: 3m, uplink: 30m, spine_uplink: 300m}`"""
    dual_tor: OnOff = False
    """Whether hosts are attached to pairs of leaves that tunnel to each other. Left out: off. Example: `on`"""
    room: ThreeTierRoom | None = None
    """What the shape may grow to. Ports and names are kept free for it, so that none of those that exist change. Left
    out: no more than there is.
    Example: `{leaves_per_pod: 32}`
    """

    @property
    def frame(self) -> tuple[int, ...]:
        """The number of planes, by which spines and super-spines are counted, then of rails, which share hosts."""
        return (self.planes, self.rails)

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
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
    """Size limits of a rail-optimized fabric within which no existing port or name changes."""

    units: Count | None = None
    """The most units there may be. Left out: no more than there are. Example: `8`"""
    spines: Count | None = None
    """The most spines there may be. Left out: no more than there are. Example: `16`"""
    hosts_per_unit: Count | None = None
    """The most hosts in a unit there may be. Left out: no more than there are. Example: `32`"""


class RailOptimisedIntent(ShapeIntent):
    """Scalable units in which adapter n of every host is at the leaf of rail n; every leaf connects to every spine.

    A unit has one leaf a rail. ``host_links`` are all links of a host, shared out among its rails. With several
    ``planes`` an adapter has a port in each: a unit has a leaf for each rail of each, and the spines are shared out.
    """

    units: Count
    """How many scalable units. Example: `4`"""
    rails: Count
    """How many rails, which is how many leaves a unit has in every plane. Example: `8`"""
    planes: Count = 1
    """Planes that no link joins: every adapter has a port in each, and each has its part of the spines. Example: `2`"""
    spines: Count
    """How many spine switches join all units, in all planes. Example: `8`"""
    hosts_per_unit: Count
    """How many hosts in every unit. Example: `32`"""
    host_links: LinkCount
    """All links of a host, shared out among its rails, adapter by adapter, and each adapter's among the planes: how
    many, of which rate.
    Example: `8 x 400G`
    """
    uplinks: LinkCount
    """Links from each leaf to each spine: how many, of which rate. Example: `2 x 800G`"""
    cables: Cables
    """Real cable lengths by tier. Example: `{host: 5m, uplink: 30m}`"""
    room: RailRoom | None = None
    """What the shape may grow to. Ports and names are kept free for it, so that none of those that exist change. Left
    out: no more than there is.
    Example: `{units: 8}`
    """

    @property
    def frame(self) -> tuple[int, ...]:
        """The number of planes, by which leaves and spines are counted."""
        return (self.planes,)

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
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
    """Size limits of a dragonfly within which no existing port or name changes."""

    groups: Count | None = None
    """The most groups there may be. Left out: no more than there are. Example: `17`"""
    hosts_per_switch: Count | None = None
    """The most hosts at a switch there may be. Left out: no more than there are. Example: `16`"""


class DragonflyIntent(ShapeIntent):
    """A dragonfly: groups in which every switch has links to every other, and links between every two groups.

    ``switches`` are those of one group; ``global_links`` those of two groups, which each shares out among its switches.
    """

    groups: Count
    """How many groups. Example: `9`"""
    switches: Count
    """How many switches in every group. Example: `4`"""
    hosts_per_switch: Count
    """How many hosts at every switch. Example: `8`"""
    host_links: LinkCount
    """Links from each host to its switch: how many, of which rate. Example: `1 x 400G`"""
    local_links: LinkCount
    """Links between every two switches of a group: how many, of which rate. Example: `2 x 400G`"""
    global_links: LinkCount
    """Links between every two groups, shared out among their switches: how many, of which rate. Example: `4 x 400G`"""
    cables: DragonflyCables
    """Real cable lengths by tier. Example: `{host: 3m, local: 10m, global: 100m}`"""
    room: DragonflyRoom | None = None
    """What the shape may grow to. Ports and names are kept free for it, so that none of those that exist change. Left
    out: no more than there is.
    Example: `{groups: 17}`
    """

    @model_validator(mode="after")
    def _several_groups_of_several(self) -> Self:
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
    """Size limits of a dragonfly+ within which no existing port or name changes."""

    groups: Count | None = None
    """The most groups there may be. Left out: no more than there are. Example: `16`"""
    leaves: Count | None = None
    """The most leaves in a group there may be. Left out: no more than there are. Example: `8`"""
    hosts_per_leaf: Count | None = None
    """The most hosts at a leaf there may be. Left out: no more than there are. Example: `32`"""


class DragonflyPlusIntent(ShapeIntent):
    """A dragonfly+: groups that each are a leaf-spine, every two groups joined by links of their spines.

    ``leaves`` and ``spines`` are those of one group; ``global_links`` those of two groups, which each shares out among
    its spines.
    """

    groups: Count
    """How many groups. Example: `8`"""
    leaves: Count
    """How many leaf switches in every group. Example: `4`"""
    spines: Count
    """How many spine switches in every group. Example: `4`"""
    hosts_per_leaf: Count
    """How many hosts at every leaf. Example: `16`"""
    host_links: LinkCount
    """Links from each host to its leaf: how many, of which rate. Example: `2 x 400G`"""
    uplinks: LinkCount
    """Links from each leaf to each spine of its group: how many, of which rate. Example: `4 x 800G`"""
    global_links: LinkCount
    """Links between every two groups, shared out among their spines: how many, of which rate. Example: `4 x 800G`"""
    cables: GroupCables
    """Real cable lengths by tier. Example: `{host: 3m, uplink: 30m, global: 100m}`"""
    room: DragonflyPlusRoom | None = None
    """What the shape may grow to. Ports and names are kept free for it, so that none of those that exist change. Left
    out: no more than there is.
    Example: `{groups: 16}`
    """

    @model_validator(mode="after")
    def _several_groups(self) -> Self:
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
    """Size limits of a torus's switches within which no existing port or name changes."""

    hosts_per_switch: Count | None = None
    """The most hosts at a switch there may be. Left out: no more than there are. Example: `8`"""


class TorusIntent(ShapeIntent):
    """A torus of two or three dimensions. A side of two switches has one bundle between them, not a ring of two."""

    sides: Sides
    """How many switches along each of two or three sides. Example: `[4, 4, 4]`"""
    links: LinkCount
    """Links between every two neighbors: how many, of which rate. Example: `2 x 400G`"""
    hosts_per_switch: Count
    """How many hosts at every switch. Example: `4`"""
    host_links: LinkCount
    """Links from each host to its switch: how many, of which rate. Example: `1 x 400G`"""
    cables: TorusCables
    """Real cable lengths by tier. Example: `{host: 3m, link: 10m}`"""
    room: TorusRoom | None = None
    """What the shape may grow to. Ports and names are kept free for it, so that none of those that exist change. Left
    out: no more than there is.
    Example: `{hosts_per_switch: 8}`
    """

    @property
    def frame(self) -> tuple[int, ...]:
        """The number of sides."""
        return (len(self.sides),)

    def link_count(self) -> int:
        """Return how many links the shape has."""
        return torus_links(self.sides, self.links[0], self.hosts_per_switch, self.host_links[0])
