"""Hardware, topology and networks."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lossless.formats.intent.base import (
    PORT_NAME,
    LazyJsonSchema,
    Length,
    LinkCount,
    Model,
    OnOff,
    identifier,
    listed,
    port_name,
    refused,
    shown,
)
from lossless.formats.intent.policy import TierRatios
from lossless.formats.intent.routing import BridgingChoice, RoutingChoice
from lossless.formats.intent.shapes import (
    DragonflyIntent,
    DragonflyPlusIntent,
    LeafSpineIntent,
    RailOptimisedIntent,
    ShapeIntent,
    ThreeTierIntent,
    TorusIntent,
    refuse_too_many,
)
from lossless.model.fabric.tier import Role

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME)]


class SwitchChoice(Model):
    """A switch product and, where it has several, one of its HWSKUs; ``format`` is the system that it runs.

    ``breakout`` splits cages as stated, ``Ethernet0: 4x200G``; other cages are split as links need it. Ports
    in ``down`` get no link and stay down.
    """

    profile: str
    hwsku: str | None = None
    format: str | None = None
    breakout: dict[str, LinkCount] = Field(default_factory=dict)
    down: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()

    @field_validator("breakout", "down")
    @classmethod
    def _safe_ports(cls, value: Any) -> Any:
        for port in value:
            port_name(port)
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
    LazyJsonSchema(lambda: {"anyOf": [{"type": "string"}, SwitchChoice.model_json_schema()]}),
]


class HardwareIntent(Model):
    """Which product fills which role, by the name of its profile (``lossless profiles`` lists them).

    ``switch`` is that of every role that names none of its own, and of switches without a tier.
    """

    switch: SwitchField | None = None
    leaf: SwitchField | None = None
    spine: SwitchField | None = None
    super_spine: SwitchField | None = Field(default=None, alias="super-spine")
    nic: str

    def choice(self, role: str) -> tuple[SwitchChoice | None, str]:
        """Return the product of a role and the key that names it, None where nothing does."""
        own = {"leaf": self.leaf, "spine": self.spine, "super-spine": self.super_spine}.get(role)
        return (own, role) if own is not None or self.switch is None else (self.switch, "switch")


class DeviceChoice(Model):
    """One device of an explicit topology; ``hardware`` of a switch and ``nic`` of a host differ from those
    of the fabric only where stated.

    ``outside``: it is configured elsewhere. Links to it count for the devices that are declared; nothing is rendered
    or checked for it.
    """

    role: Role
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
            raise refused(
                f"a {self.role} is no ToR; dual_tor is for leaves, which hosts are attached to", "dual_tor"
            )
        return self

    @model_validator(mode="after")
    def _hosts_have_nics(self) -> DeviceChoice:
        if self.role == "host" and self.hardware is not None:
            raise refused("a host is no switch; its adapter is nic, or hardware.nic for all", "hardware")
        if self.role != "host" and self.nic is not None:
            raise refused(f"a {self.role} is a switch; its product is hardware", "nic")
        return self


_END_SCHEMA = {"type": "string", "pattern": rf"^[^:]*(:{PORT_NAME})?$"}
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
            port_name(port)
        return value


def _port_lists(value: object) -> object:
    return {ends: listed(ports) for ends, ports in value.items()} if isinstance(value, dict) else value


_PORTS_SCHEMA = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
}
SHAPES = ("leaf_spine", "three_tier", "rail_optimised", "dragonfly", "dragonfly_plus", "torus")
"""The keys of the shapes, one of which a topology can be."""


class TopologyIntent(Model):
    """A shape, or devices and links by name.

    ``names`` gives devices of a shape names of their own, by those that are derived. ``ports`` says which ports of
    ``DEVICE:NEIGHBOR`` the links between the two have, in their order; all others are derived.
    """

    leaf_spine: LeafSpineIntent | None = None
    three_tier: ThreeTierIntent | None = None
    rail_optimised: RailOptimisedIntent | None = None
    dragonfly: DragonflyIntent | None = None
    dragonfly_plus: DragonflyPlusIntent | None = None
    torus: TorusIntent | None = None
    devices: dict[Name, DeviceChoice] | None = None
    links: Annotated[tuple[LinkChoice, ...] | None, BeforeValidator(listed)] = None
    names: dict[str, Name] = Field(default_factory=dict)
    ports: Annotated[
        dict[str, tuple[str, ...]], BeforeValidator(_port_lists), WithJsonSchema(_PORTS_SCHEMA)
    ] = Field(default_factory=dict)
    oversubscription: TierRatios = Field(default_factory=dict)
    routing: RoutingChoice | None = None
    bridging: BridgingChoice | None = None

    @model_validator(mode="after")
    def _one_form(self) -> TopologyIntent:
        listed_too = self.devices is not None or self.links is not None
        given = [name for name in SHAPES if getattr(self, name) is not None]
        if len(given) > 1:
            raise refused(f"give either {' or '.join(given)}, not {'both' if len(given) == 2 else 'all'}")
        if given and listed_too:
            raise refused(f"give either {given[0]}, or devices and links, not both")
        if not given and (self.devices is None or self.links is None):
            raise refused(f"give one of {', '.join(SHAPES)}, or both devices and links")
        refuse_too_many(sum(link.links[0] for link in self.links or ()))
        return self

    @model_validator(mode="after")
    def _overrides_are_of_shapes(self) -> TopologyIntent:
        for key in ("names", "ports"):
            if self.shape is None and getattr(self, key):
                why = "is for what a shape derives; devices and links that are listed name their own"
                raise refused(f"{key} {why}", key, at_key=True)
        return self

    @field_validator("ports")
    @classmethod
    def _safe_port_names(cls, value: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for ends, ports in value.items():
            for index, port in enumerate(ports):
                try:
                    port_name(port)
                except PydanticCustomError as error:
                    raise refused(error.message(), ends, index) from None
        return value

    @property
    def shape_key(self) -> str | None:
        """The key of the shape, None where devices and links are listed."""
        return next((name for name in SHAPES if getattr(self, name) is not None), None)

    @property
    def frame(self) -> tuple[str | int, ...] | None:
        """What the places of devices mean: those of two topologies of one frame are the same, None where listed."""
        shape, key = self.shape, self.shape_key
        return None if shape is None or key is None else (key, *shape.frame)

    @property
    def shape(self) -> ShapeIntent | None:
        """The shape, None where devices and links are listed."""
        shape: ShapeIntent | None = getattr(self, self.shape_key) if self.shape_key else None
        return shape


_PREFIX = r"[0-9A-Fa-f:.]+/\d{1,3}"
Prefix = Annotated[str, WithJsonSchema({"type": "string", "pattern": rf"^{_PREFIX}$"})]


class NetworkChoice(Model):
    """A network: on its own switches, or sharing the fabric in a class of its own.

    ``purpose`` is what its name says where it is left out. ``marking`` is who decides on the DSCPs of its packets: the
    operator (``trusted``), whoever sends them, or a rule where its hosts attach (``rewritten``).
    """

    on: Literal["separate", "fabric"]
    purpose: Literal["compute", "storage", "management", "tenant"] | None = None
    marking: Literal["trusted", "untrusted", "rewritten"] | None = None
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
