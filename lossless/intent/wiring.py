"""Hardware, topology and networks."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from lossless.intent.base import (
    Count,
    Length,
    LinkCount,
    Model,
    OnOff,
    identifier,
    listed,
    refused,
    shown,
)
from lossless.intent.policy import Ratio

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME)]
MAX_LINKS = 2_000_000
"""Most links of one fabric: twice those of 65,536 hosts with eight links each."""
LONGEST_PORT_NAME = 31


class SwitchChoice(Model):
    """A switch product and, where it has several, one of its HWSKUs.

    ``breakout`` splits cages as stated, ``Ethernet0: 4x200G``; other cages are split as links need it. Ports
    in ``down`` get no link and stay down.
    """

    profile: str
    hwsku: str | None = None
    breakout: dict[str, LinkCount] = Field(default_factory=dict)
    down: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()

    @field_validator("breakout", "down")
    @classmethod
    def _safe_ports(cls, value: Any) -> Any:
        for port in value:
            identifier(port, "the name of a port", LONGEST_PORT_NAME)
        return value


def _switch_choice(value: Any) -> Any:
    if isinstance(value, str):
        return {"profile": value}
    if not isinstance(value, dict):
        raise refused(f"expected the name of a switch profile, or a mapping of it; found {shown(value)}")
    return value


SwitchField = Annotated[
    SwitchChoice,
    BeforeValidator(_switch_choice),
    WithJsonSchema({"anyOf": [{"type": "string"}, SwitchChoice.model_json_schema()]}),
]


class Hardware(Model):
    """Which product fills which role, by the name of its profile (``lossless profiles`` lists them)."""

    leaf: SwitchField
    spine: SwitchField | None = None
    super_spine: SwitchField | None = Field(default=None, alias="super-spine")
    nic: str

    def choice(self, role: str) -> SwitchChoice | None:
        """Return the product of a role, None where none is named."""
        return {"leaf": self.leaf, "spine": self.spine, "super-spine": self.super_spine}[role]


class Cables(Model):
    """Real cable lengths by tier; what is configured is the next longer row of the HWSKU."""

    host: Length
    uplink: Length


class PodCables(Cables):
    """Real cable lengths of a fabric of pods."""

    spine_uplink: Length


class LeafSpine(Model):
    """A two-tier Clos: every leaf connects to every spine.

    With ``lag`` the uplinks between a leaf and a spine are one LAG. With ``dual_tor`` hosts hang on pairs of
    leaves, and what reaches the wrong one of a pair goes back through the spines in a tunnel.
    """

    leaves: Count
    spines: Count
    hosts_per_leaf: Count
    host_links: LinkCount
    uplinks: LinkCount
    cables: Cables
    oversubscription: Ratio = 1.0
    lag: OnOff = False
    dual_tor: OnOff = False

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> LeafSpine:
        per_leaf = self.hosts_per_leaf * self.host_links[0] + self.spines * self.uplinks[0]
        _refuse_too_many(self.leaves * per_leaf)
        return self


class ThreeTier(Model):
    """A three-tier Clos: in each pod every leaf connects to every spine, and super-spines join the pods.

    Every spine connects to every super-spine. With several ``planes`` it connects to those of its own: the first
    spines of each pod to the first super-spines, and so on. ``lag`` and ``dual_tor`` as in a two-tier Clos.
    """

    pods: Count
    leaves_per_pod: Count
    spines_per_pod: Count
    super_spines: Count
    planes: Count = 1
    hosts_per_leaf: Count
    host_links: LinkCount
    uplinks: LinkCount
    spine_uplinks: LinkCount
    cables: PodCables
    oversubscription: Ratio = 1.0
    lag: OnOff = False
    dual_tor: OnOff = False

    @model_validator(mode="after")
    def _planes_divide_both(self) -> ThreeTier:
        for name in ("spines_per_pod", "super_spines"):
            switches = getattr(self, name)
            if switches % self.planes:
                raise refused(f"{self.planes} planes do not divide {switches} {name}", "planes")
        return self

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> ThreeTier:
        per_leaf = self.hosts_per_leaf * self.host_links[0] + self.spines_per_pod * self.uplinks[0]
        per_spine = self.super_spines // self.planes * self.spine_uplinks[0]
        per_pod = self.leaves_per_pod * per_leaf + self.spines_per_pod * per_spine
        _refuse_too_many(self.pods * per_pod)
        return self


def _refuse_too_many(links: int) -> None:
    if links > MAX_LINKS:
        raise refused(f"{links:,} links; the most that is laid out is {MAX_LINKS:,}")


class DeviceChoice(Model):
    """One device of an explicit topology; ``hardware`` of a switch and ``nic`` of a host differ from those
    of the fabric only where stated.

    ``outside``: it is configured elsewhere. Links to it count for the devices that are declared; nothing is rendered
    or judged for it.
    """

    role: Literal["leaf", "spine", "super-spine", "host"]
    hardware: SwitchField | None = None
    nic: str | None = None
    dual_tor: OnOff = False
    outside: OnOff = False

    @model_validator(mode="after")
    def _outside_nothing_is_chosen(self) -> DeviceChoice:
        if self.outside and (self.hardware is not None or self.nic is not None):
            raise refused(
                "a device outside has its hardware stated elsewhere", "hardware" if self.hardware else "nic"
            )
        return self

    @model_validator(mode="after")
    def _only_leaves_are_dual_tor(self) -> DeviceChoice:
        if self.dual_tor and self.role != "leaf":
            raise refused(f"a {self.role} is no ToR; dual_tor is for leaves, which hosts hang on", "dual_tor")
        return self

    @model_validator(mode="after")
    def _hosts_have_nics(self) -> DeviceChoice:
        if self.role == "host" and self.hardware is not None:
            raise refused("a host is no switch; its adapter is nic, or hardware.nic for all", "hardware")
        if self.role != "host" and self.nic is not None:
            raise refused(f"a {self.role} is a switch; its product is hardware", "nic")
        return self


_END_SCHEMA = {"type": "string", "pattern": r"^[^:]*(:[A-Za-z0-9][A-Za-z0-9._-]{0,30})?$"}
End = Annotated[str, WithJsonSchema(_END_SCHEMA)]
_LAG_SCHEMA = {"anyOf": [{"type": "boolean"}, {"enum": ["on", "off"]}, {"type": "string", "pattern": NAME}]}


def _lag(value: object) -> object:
    if value is True or value == "on":
        return True
    if value is False or value == "off":
        return None
    if not isinstance(value, str):
        raise refused(f"expected true or the name of a LAG, found {shown(value)}")
    return identifier(value, "the name of a LAG", 63)


class LinkChoice(Model):
    """One bundle of links of an explicit topology, between ``DEVICE`` or ``DEVICE:PORT`` ends.

    ``lag: true`` makes a LAG of the bundle. A name joins it with the other bundles of that name between the same
    two switches.
    """

    a: End
    b: End
    links: LinkCount
    cable: Length
    lag: Annotated[Literal[True] | str | None, BeforeValidator(_lag), WithJsonSchema(_LAG_SCHEMA)] = None

    @field_validator("a", "b")
    @classmethod
    def _safe_port(cls, value: str) -> str:
        _, colon, port = value.partition(":")
        if colon:
            identifier(port, "the name of a port", LONGEST_PORT_NAME)
        return value


class Topology(Model):
    """A shape, or devices and links by name."""

    leaf_spine: LeafSpine | None = None
    three_tier: ThreeTier | None = None
    devices: dict[Name, DeviceChoice] | None = None
    links: Annotated[tuple[LinkChoice, ...] | None, BeforeValidator(listed)] = None
    oversubscription: Ratio = 1.0

    @model_validator(mode="after")
    def _one_form(self) -> Topology:
        listed_too = self.devices is not None or self.links is not None
        if self.leaf_spine is not None and self.three_tier is not None:
            raise refused("give either leaf_spine or three_tier, not both")
        if self.shape is not None and listed_too:
            name = "leaf_spine" if self.leaf_spine is not None else "three_tier"
            raise refused(f"give either {name}, or devices and links, not both")
        if self.shape is None and (self.devices is None or self.links is None):
            raise refused("give either leaf_spine or three_tier, or both devices and links")
        _refuse_too_many(sum(link.links[0] for link in self.links or ()))
        return self

    @property
    def shape(self) -> LeafSpine | ThreeTier | None:
        """The shape, None where devices and links are listed."""
        return self.leaf_spine or self.three_tier


_PREFIX = r"[0-9A-Fa-f:.]+/\d{1,3}"
Prefix = Annotated[str, WithJsonSchema({"type": "string", "pattern": rf"^{_PREFIX}$"})]


class NetworkChoice(Model):
    """A network: on its own switches, or sharing the fabric in a class of its own."""

    on: Literal["separate", "fabric"]
    prefixes: Annotated[tuple[Prefix, ...], BeforeValidator(listed)] = ()
    traffic_class: str | None = Field(default=None, alias="class")

    @field_validator("prefixes")
    @classmethod
    def _are_prefixes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for index, text in enumerate(value):
            _check_prefix(text, index)
        return value


def _check_prefix(text: str, index: int) -> None:
    from netaddr import AddrFormatError, IPNetwork  # only intents with prefixes pay for it

    try:
        # netaddr also reads masks, and an address alone as a network of one.
        network = IPNetwork(text) if re.fullmatch(_PREFIX, text) else None
    except (AddrFormatError, ValueError):
        network = None
    if network is None:
        raise refused(
            f"{shown(text)} is not an IP prefix; write it like 10.20.0.0/16 or 2001:db8::/48", index
        )
    if network.ip != network.network:
        raise refused(f"{shown(text)} has host bits set; the prefix is {network.cidr}", index)
