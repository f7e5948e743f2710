"""Hardware and topology of an InfiniBand subnet: shapes, or switches and links by name."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

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

SwitchRole = Literal["leaf", "spine", "core", "switch"]


class SubnetHardware(Model):
    """Which product fills which role; ``switch`` is that of every role that names none of its own."""

    switch: str | None = None
    leaf: str | None = None
    spine: str | None = None
    core: str | None = None
    hca: str

    def of_role(self, role: str) -> tuple[str | None, str]:
        """Return the product of a role and the key that names it; None where nothing does."""
        own = getattr(self, role)
        return (own, role) if own is not None else (self.switch, "switch")


class FatTree(Model):
    """A fat tree of two levels, or of three with ``cores``: then ``leaves`` and ``spines`` are those of one pod.

    With several ``rails`` a host's HCAs go to as many leaves, one after the other, and as many leaves share its hosts.
    With several ``planes`` each spine connects to the cores of its own plane.
    """

    pods: Count = 1
    leaves: Count
    spines: Count
    cores: Count | None = None
    planes: Count = 1
    rails: Count = 1
    hosts_per_leaf: Count
    host_links: RatedLinks
    uplinks: RatedLinks
    core_links: RatedLinks | None = None

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
    leaves: Count
    spines: Count
    hosts_per_leaf: Count
    host_links: RatedLinks
    uplinks: RatedLinks
    global_links: RatedLinks

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
    links: RatedLinks
    hosts_per_switch: Count
    host_links: RatedLinks

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> SubnetTorus:
        refuse_too_many(torus_links(self.sides, self.links[0], self.hosts_per_switch, self.host_links[0]))
        return self


class SwitchNode(Model):
    """One switch that is listed by name; ``hardware`` differs from that of its role only where stated."""

    role: SwitchRole = "switch"
    hardware: str | None = None


def _one_or_several(value: object) -> object:
    return (value,) if isinstance(value, str) else listed(value)


class HostChoice(Model):
    """One host that is named: at which switch its links are, in turn where there are several."""

    at: Annotated[
        tuple[str, ...],
        BeforeValidator(_one_or_several),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    ] = Field(min_length=1)
    links: RatedLinks
    role: Literal["compute", "storage", "management"] = "compute"
    hca: str | None = None


class SwitchLink(Model):
    """One bundle of links between two switches that are listed: ``SWITCH``, or ``SWITCH:PORT`` for a single link."""

    a: str
    b: str
    links: RatedLinks


class SubnetTopology(Model):
    """A shape, or switches and links by name; ``hosts`` are those that no shape makes."""

    fat_tree: FatTree | None = None
    dragonfly_plus: SubnetDragonflyPlus | None = None
    torus: SubnetTorus | None = None
    switches: dict[Name, SwitchNode] | None = None
    links: Annotated[tuple[SwitchLink, ...], BeforeValidator(listed)] = ()
    hosts: dict[Name, HostChoice] = Field(default_factory=dict)
    oversubscription: Ratio = 1.0

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
        PydanticCustomError: the port is no number of one.
    """
    name, colon, port = end.partition(":")
    if not colon:
        return name, None
    if not port.isdecimal() or not 1 <= int(port[:4]) <= 254:
        raise refused(f"{shown(end)} names no port; ports have numbers from 1 to 254")
    return name, int(port)
