"""Hardware and topology of an InfiniBand subnet: shapes, or switches and links by name."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.analysis.topology.cabling_comparison import SwitchRole
from lossless.formats.intent.base import Count, Model, listed, refused, shown
from lossless.formats.intent.infiniband.base import RatedLinks
from lossless.formats.intent.policy import Ratio
from lossless.formats.intent.shapes import (
    Sides,
    clos_links,
    pairs,
    refuse_too_many,
    refuse_unequal_links,
    torus_links,
)
from lossless.formats.intent.wiring import Name
from lossless.model.fabric.infiniband.subnet import HostRole


class SubnetHardware(Model):
    """The product of each role; ``switch`` is that of every role without a product of its own."""

    switch: str | None = None
    """Switch profile of every role that names none of its own. Left out: each role names its own.
    Example: `nvidia-qm9700`
    """
    leaf: str | None = None
    """Switch profile of the leaves. Left out: that of `switch`. Example: `nvidia-qm9700`"""
    spine: str | None = None
    """Switch profile of the spines. Left out: that of `switch`. Example: `nvidia-qm9700`"""
    core: str | None = None
    """Switch profile of the cores. Left out: that of `switch`. Example: `nvidia-qm9700`"""
    hca: str
    """Adapter profile of every host that names none of its own. Example: `connectx-7`"""

    def of_role(self, role: str) -> tuple[str | None, str]:
        """Return the product of a role, None where none is declared, and the key that names it."""
        own = getattr(self, role)
        return (own, role) if own is not None else (self.switch, "switch")


class FatTree(Model):
    """A fat tree of two levels, or of three with ``cores``: then ``leaves`` and ``spines`` are those of one pod.

    With several ``rails`` a host's HCAs go to as many leaves, one after the other, and as many leaves share its hosts.
    With several ``planes`` each spine connects to the cores of its own plane.
    """

    pods: Count = 1
    """How many pods. More than one needs `cores`. Example: `4`"""
    leaves: Count
    """How many leaf switches; with several pods, in each. Example: `4`"""
    spines: Count
    """How many spine switches; with several pods, in each. Example: `4`"""
    cores: Count | None = None
    """How many core switches join the pods. Left out: the tree has two levels. Example: `16`"""
    planes: Count = 1
    """Into how many planes cores and spines are parted. Example: `4`"""
    rails: Count = 1
    """Among how many leaves that follow each other the links of a host are shared out: 2 puts every other HCA at a
    second leaf.
    Example: `2`
    """
    hosts_per_leaf: Count
    """How many hosts at every leaf; with several rails, at every leaf that shares them. Example: `16`"""
    host_links: RatedLinks
    """Links from each host: how many, of which rate (HDR100, HDR, NDR200, NDR, XDR); each is an HCA of its own.
    Example: `2 x NDR`
    """
    uplinks: RatedLinks
    """Links from each leaf to each spine: how many, of which rate. Example: `4 x NDR`"""
    core_links: RatedLinks | None = None
    """Links from each spine to each core of its plane: how many, of which rate. Left out: there are no cores.
    Example: `1 x NDR`
    """

    @model_validator(mode="after")
    def _three_levels_or_two(self) -> FatTree:
        if (self.cores is None) != (self.core_links is None):
            missing = "core_links" if self.core_links is None else "cores"
            raise refused(f"a fat tree of three levels has both cores and core_links; {missing} is missing")
        if self.cores is None and self.pods > 1:
            raise refused("several pods need cores to join them", "pods")
        if self.cores is None and self.planes > 1:
            raise refused("planes part the cores, and there are none", "planes")
        return self

    @model_validator(mode="after")
    def _parts_divide(self) -> FatTree:
        parts = (("planes", "spines"), ("planes", "cores"), ("rails", "leaves"))
        for part, whole in parts:
            count = getattr(self, whole)
            if count is not None and count % getattr(self, part):
                raise refused(f"{getattr(self, part)} {part} do not divide {count} {whole}", part)
        refuse_unequal_links("rails", self.rails, self.host_links[0])
        return self

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> FatTree:
        host_links = self.host_links[0] // self.rails
        in_pod = clos_links(self.leaves, self.hosts_per_leaf, host_links, self.spines, self.uplinks[0])
        links = self.pods * in_pod
        if self.cores is not None and self.core_links is not None:
            links += self.pods * self.spines * (self.cores // self.planes) * self.core_links[0]
        refuse_too_many(links)
        return self


class SubnetDragonflyPlus(Model):
    """A dragonfly+: groups that each are a fat tree of two levels, every two groups joined by links of their spines."""

    groups: Count
    """How many groups. Example: `8`"""
    leaves: Count
    """How many leaf switches in each group. Example: `4`"""
    spines: Count
    """How many spine switches in each group. Example: `4`"""
    hosts_per_leaf: Count
    """How many hosts at every leaf. Example: `16`"""
    host_links: RatedLinks
    """Links from each host: how many, of which rate (HDR100, HDR, NDR200, NDR, XDR); each is an HCA of its own.
    Example: `2 x NDR`
    """
    uplinks: RatedLinks
    """Links from each leaf to each spine of its group: how many, of which rate. Example: `4 x NDR`"""
    global_links: RatedLinks
    """Links between every two groups, shared out among their spines: how many, of which rate. Example: `4 x NDR`"""

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> SubnetDragonflyPlus:
        if self.groups == 1:
            raise refused("one group is a fat tree; a dragonfly+ has two or more", "groups")
        in_group = clos_links(
            self.leaves, self.hosts_per_leaf, self.host_links[0], self.spines, self.uplinks[0]
        )
        refuse_too_many(self.groups * in_group + pairs(self.groups) * self.global_links[0])
        return self


class SubnetTorus(Model):
    """A torus of two or three dimensions. A side of two switches has one bundle between them, not a ring of two."""

    sides: Sides
    """How many switches along each of two or three sides. Example: `[4, 4, 4]`"""
    links: RatedLinks
    """Links between every two neighbors: how many, of which rate. Example: `2 x HDR`"""
    hosts_per_switch: Count
    """How many hosts at every switch. Example: `4`"""
    host_links: RatedLinks
    """Links from each host: how many, of which rate (HDR100, HDR, NDR200, NDR, XDR); each is an HCA of its own.
    Example: `2 x NDR`
    """

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> SubnetTorus:
        refuse_too_many(torus_links(self.sides, self.links[0], self.hosts_per_switch, self.host_links[0]))
        return self


class SwitchNode(Model):
    """One switch that is listed by name; ``hardware`` differs from that of its role only where stated."""

    role: SwitchRole = "switch"
    """What the switch is; leaves, spines and cores make up the tiers of a tree."""
    hardware: str | None = None
    """Switch profile of this switch. Left out: that of its role under `hardware`. Example: `nvidia-qm8700`"""


def _one_or_several(value: object) -> object:
    return (value,) if isinstance(value, str) else listed(value)


class HostChoice(Model):
    """One host that is named: at which switch its links are, in turn where there are several."""

    at: Annotated[
        tuple[str, ...],
        BeforeValidator(_one_or_several),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    ] = Field(min_length=1)
    """The switch its links go to, or several that take them in turn. Example: `leaf1` Example: `[leaf1, leaf2]`"""
    links: RatedLinks
    """Links of this host: how many, of which rate; each is an HCA of its own. Example: `1 x NDR`"""
    role: HostRole = "compute"
    """What the host is for."""
    hca: str | None = None
    """Adapter profile of this host. Left out: `hardware.hca`. Example: `connectx-7`"""


class SwitchLink(Model):
    """One bundle of links between two switches that are listed: ``SWITCH``, or ``SWITCH:PORT`` for a single link."""

    a: str
    """One end: a switch, or SWITCH:PORT for a single link. Example: `leaf1` Example: `leaf1:17`"""
    b: str
    """The other end: a switch, or SWITCH:PORT. Example: `spine1`"""
    links: RatedLinks
    """Links of this bundle: how many, of which rate. Example: `4 x NDR`"""


class SubnetTopology(Model):
    """A shape, or switches and links by name; ``hosts`` are those beside the hosts of the shape."""

    fat_tree: FatTree | None = None
    """A fat tree by its numbers. Left out: the subnet has another shape."""
    dragonfly_plus: SubnetDragonflyPlus | None = None
    """A dragonfly+ by its numbers. Left out: the subnet has another shape."""
    torus: SubnetTorus | None = None
    """A torus by its numbers. Left out: the subnet has another shape."""
    switches: dict[Name, SwitchNode] | None = None
    """Switches by name, where the subnet has no plain shape. Left out: a shape makes them.
    Example: `{leaf1: {role: leaf}, spine1: {role: spine}}`
    """
    links: Annotated[tuple[SwitchLink, ...], BeforeValidator(listed)] = ()
    """Bundles of links between the switches that are listed. Left out: there are none.
    Example: `[{a: leaf1, b: spine1, links: 4 x NDR}]`
    """
    hosts: dict[Name, HostChoice] = Field(default_factory=dict)
    """Hosts that no shape makes, by name. Left out: there are none.
    Example: `{sm1: {at: leaf1, links: 1 x NDR, role: management}}`
    """
    oversubscription: Ratio = 1.0
    """Accepted ratio of host to uplink bandwidth of a leaf: 2 means 2:1. Example: `2`"""

    @model_validator(mode="after")
    def _one_form(self) -> SubnetTopology:
        forms = ("fat_tree", "dragonfly_plus", "torus", "switches")
        given = [form for form in forms if getattr(self, form) is not None]
        if len(given) != 1:
            stated = " and ".join(given) or "none"
            raise refused(f"expected one of {', '.join(forms[:-1])} or switches, found {stated}")
        if self.links and self.switches is None:
            raise refused(f"{given[0]} makes its links; links are for switches that are listed", "links")
        return self

    @property
    def shape(self) -> FatTree | SubnetDragonflyPlus | SubnetTorus | None:
        """The shape, None where switches are listed."""
        return self.fat_tree or self.dragonfly_plus or self.torus


def split_end(end: str) -> tuple[str, int | None]:
    """Return the switch and the port of an end, ``leaf1:17``.

    Raises:
        PydanticCustomError: the port is not a port number.
    """
    name, colon, port = end.partition(":")
    if not colon:
        return name, None
    if not port.isdecimal() or not 1 <= int(port[:4]) <= 254:
        raise refused(f"{shown(end)} names no port; ports have numbers from 1 to 254")
    return name, int(port)
