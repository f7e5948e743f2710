"""Intent sections on hardware, other networks, and topology with its routing and bridging."""

import re
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lossless.formats.intent.base import (
    PORT_NAME,
    Duration,
    LazyJsonSchema,
    Length,
    LinkCount,
    Model,
    OnDemand,
    OnOff,
    identifier,
    listed,
    not_one_of,
    port_name,
    refused,
    shown,
    whole_number,
)
from lossless.formats.intent.policy import TIER_PATTERN, TierRatios, exceptions_schema
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
from lossless.ground.basics.units import suggestion
from lossless.model.fabric.cabling import RoutingPolicy
from lossless.model.fabric.model import SWITCH_ROLES, DscpMarking, NetworkPurpose, Role
from lossless.model.hardware.model import LOAD_BALANCING, LoadBalancing

MOST_EXTRA_HOPS = 8
"""The most extra hops: a detour through any third switch of a three-tier Clos is four hops, of a dragonfly three."""


def _load_balancing(value: Any) -> Any:
    """Return a declared load balancing unchanged: one for all switches, or a mapping of roles to it.

    Raises:
        PydanticCustomError: a role or a load balancing is unknown, or the mapping is empty.
    """
    if not isinstance(value, dict):
        return _choice(value)
    if not value:
        raise refused("an empty mapping; write how all switches choose, or each tier")
    for role, choice in value.items():
        if role not in SWITCH_ROLES:
            hint = suggestion(str(role), [*SWITCH_ROLES], most=None)
            raise refused(f"{shown(role)} is no role of a switch{hint}", role, at_key=True)
        _choice(choice, role)
    return value


def _choice(value: Any, *within: str) -> Any:
    if value not in LOAD_BALANCING:
        raise refused(not_one_of(value, LOAD_BALANCING), *within)
    return value


LoadBalancingField = Annotated[
    LoadBalancing | dict[str, LoadBalancing],
    BeforeValidator(_load_balancing),
    WithJsonSchema(
        {"anyOf": [{"enum": [*LOAD_BALANCING]}, exceptions_schema(TIER_PATTERN, {"enum": [*LOAD_BALANCING]})]}
    ),
]


class RoutingChoice(Model):
    """How packets are routed; ``failures`` declares the failures to tolerate.

    Switches in ``bounce`` send packets from a higher tier back up: they reroute locally when the path down is blocked.
    Dual ToRs need not be named; they bounce in a second priority.
    """

    policy: RoutingPolicy = "up-down"
    """`up-down`: paths without a valley; `shortest-path`: any shortest path, also around failures."""
    extra_hops: Annotated[int, *whole_number(0, MOST_EXTRA_HOPS, "a number of extra hops")] = 0
    """How many hops more than the shortest path that the policy allows a packet may take: non-minimal routing, as over
    alternative paths of adaptive routing or through a third group of a dragonfly. No packet turns straight back. 0:
    shortest paths alone, also where routing among them is adaptive. It is checked by TOP004 and TOP005, and neither
    simulated nor rendered.
    Example: `2`
    """
    load_balancing: LoadBalancingField = "ecmp"
    """How switches choose among equal paths, all of them or those of each tier: `ecmp`, by a hash of the flow;
    `flowlet`, the less loaded after a gap; `adaptive`, the less loaded one for each packet; `spray`, at random for each
    packet; `dlb`, dynamic load balancing whose mode, that of `flowlet` or of `adaptive`, the intent does not declare.
    Tiers that are left out have `ecmp`. It is checked and simulated; for Cumulus Linux `adaptive` is also rendered.
    Example: `adaptive`
    Example: `{leaf: adaptive, spine: ecmp}`
    """
    bounce: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    """Switches that bounce: with the path down blocked, they send packets from a higher tier back up. Left out: none.
    Example: `[leaf3]`
    """


class BridgingChoice(Model):
    """Leaves bridge RDMA traffic: hosts and uplinks are in one VLAN."""

    unknown_unicast: Literal["flood", "drop"] = "flood"
    """What a leaf does with packets whose MAC address it has forgotten: `flood` or `drop`."""
    arp_timeout: Duration | None = Field(default=None)
    """How long a leaf keeps the MAC address of an IP address, with its unit. Left out: not declared.
    Example: `300s`
    """
    mac_aging: Duration | None = Field(default=None)
    """How long a leaf keeps the port of a silent MAC address, with its unit. Left out: not declared.
    Example: `600s`
    """


NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME)]


class SwitchChoice(Model):
    """A switch product and, where it has several, one of its HWSKUs; ``format`` is the system that it runs.

    ``breakout`` splits cages as declared, ``Ethernet0: 4x200G``; other cages are split as links need it. Ports
    in ``down`` get no link and stay down.
    """

    profile: str
    """Name of a switch profile. Example: `nvidia-sn5600`"""
    hwsku: str | None = None
    """One of its HWSKUs. Left out: the default of the profile. Example: `Mellanox-SN5600-O128`"""
    format: str | None = None
    """The system that it runs, which its files are written for: `sonic`, or another one that its profile has, as `eos`
    and `nvue`; `lossless profiles NAME` lists them. Left out: the first of that list.
    Example: `sonic`
    """
    breakout: dict[str, LinkCount] = Field(default_factory=dict)
    """Cages and how they are split: how many ports, of which rate. Left out: as the links need it.
    Example: `{Ethernet0: 4x200G}`
    """
    down: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    """Ports that are kept down. Left out: none. Example: `[Ethernet504]`"""

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
    """The product of each role, by the name of its profile (``lossless profiles`` lists them).

    ``switch`` is the product of every role without its own, and of switches without a tier.
    """

    switch: SwitchField | None = None
    """Switch profile of every role that names none of its own, and of switches without a tier, as in a torus. Left out:
    each role names its own.
    Example: `nvidia-sn5600`
    """
    leaf: SwitchField | None = None
    """Switch profile of the leaves, or a mapping with its HWSKU; `lossless profiles` lists what is known. Left out:
    that of `switch`.
    Example: `nvidia-sn5600`
    Example: `{profile: nvidia-sn5600, hwsku: Mellanox-SN5600-O128}`
    """
    spine: SwitchField | None = None
    """Switch profile of the spines. Left out: that of `switch`, if any. Example: `nvidia-sn5600`"""
    super_spine: SwitchField | None = Field(default=None, alias="super-spine")
    """Switch profile of the super-spines. Left out: that of `switch`, if any. Example: `nvidia-sn5600`"""
    nic: str
    """NIC profile of every host that names none of its own. Example: `connectx-7`"""

    def choice(self, role: str) -> tuple[SwitchChoice | None, str]:
        """Return the product of a switch role, None where none is declared, and the key of ``hardware`` for it."""
        own = {"leaf": self.leaf, "spine": self.spine, "super-spine": self.super_spine}.get(role)
        return (own, role) if own is not None or self.switch is None else (self.switch, "switch")


class DeviceChoice(Model):
    """One device of an explicit topology; its ``hardware`` or ``nic`` only where it differs from the fabric's.

    ``outside``: the device is configured elsewhere. Links to it count for the declared devices; no files are rendered
    and no rules are checked for it.
    """

    role: Role
    """What the device is."""
    hardware: SwitchField | None = None
    """Switch profile of this switch. Left out: that of its role under `hardware`. Example: `nvidia-sn4700`"""
    nic: str | None = None
    """NIC profile of this host. Left out: `hardware.nic`. Example: `connectx-8`"""
    dual_tor: OnOff = False
    """Whether this leaf shares its hosts with another and tunnels to it. Left out: off. Example: `on`"""
    outside: OnOff = False
    """Whether it is configured elsewhere: only links to it count. Left out: off. Example: `on`"""

    @model_validator(mode="after")
    def _outside_nothing_is_chosen(self) -> Self:
        if self.outside and (self.hardware is not None or self.nic is not None):
            raise refused(
                "a device outside has its hardware stated elsewhere", "hardware" if self.hardware else "nic"
            )
        return self

    @model_validator(mode="after")
    def _only_leaves_are_dual_tor(self) -> Self:
        if self.dual_tor and self.role != "leaf":
            raise refused(
                f"a {self.role} is no ToR; dual_tor is for leaves, which hosts are attached to", "dual_tor"
            )
        return self

    @model_validator(mode="after")
    def _hosts_have_nics(self) -> Self:
        if self.role == "host" and self.hardware is not None:
            raise refused("a host is no switch; its adapter is nic, or hardware.nic for all", "hardware")
        if self.role != "host" and self.nic is not None:
            raise refused(f"a {self.role} is a switch; its product is hardware", "nic")
        return self


_END_SCHEMA = {"type": "string", "pattern": rf"^[^:]*(:{PORT_NAME})?$"}
End = Annotated[str, WithJsonSchema(_END_SCHEMA)]


def _port_end(value: object) -> object:
    """Return the name of a port of a device, ``DEVICE:PORT``, unchanged."""
    if isinstance(value, str):
        device, colon, port = value.partition(":")
        if not colon or not device:
            raise refused(f"expected DEVICE:PORT, found {shown(value)}", at_key=True)
        port_name(port)
    return value


PortEnd = Annotated[
    str, BeforeValidator(_port_end), WithJsonSchema({"type": "string", "pattern": rf"^[^:]+:{PORT_NAME}$"})
]
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

    ``lag: true`` makes the bundle a LAG. A name joins it with the other bundles of that name between the same
    two switches.
    """

    a: End
    """One end: a device, or DEVICE:PORT. A port that is not named is placed by the front panel. Example: `leaf1`"""
    b: End
    """The other end: a device, or DEVICE:PORT. Example: `host1` Example: `spine1:Ethernet0`"""
    links: LinkCount
    """How many links, of which rate. Example: `4 x 400G`"""
    cable: Length
    """Real length of the cables, in meters, with its unit. Example: `30m`"""
    lag: Annotated[Literal[True] | str | None, BeforeValidator(_lag), WithJsonSchema(_LAG_SCHEMA)] = None
    """`true` makes a LAG of this bundle, a name joins bundles between the same two switches. Left out: none.
    Example: `true`
    Example: `uplink1`
    """

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


class TopologyIntent(Model):
    """A shape, or devices and links by name.

    ``names`` renames devices of a shape, by their derived names. ``ports`` lists the ports of the links between two
    devices in their order, by ``DEVICE:NEIGHBOR``; all others are derived.
    """

    leaf_spine: LeafSpineIntent | None = None
    """A two-tier Clos by its numbers. Left out: another form is given."""
    three_tier: Annotated[ThreeTierIntent | None, OnDemand()] = None
    """A three-tier Clos of pods by its numbers. Left out: another form is given."""
    rail_optimised: Annotated[RailOptimisedIntent | None, OnDemand()] = None
    """Scalable units with a leaf for each rail of the hosts, by their numbers. Left out: another form is given."""
    dragonfly: Annotated[DragonflyIntent | None, OnDemand()] = None
    """A dragonfly by its numbers. Left out: another form is given."""
    dragonfly_plus: Annotated[DragonflyPlusIntent | None, OnDemand()] = None
    """A dragonfly+ by its numbers. Left out: another form is given."""
    torus: Annotated[TorusIntent | None, OnDemand()] = None
    """A torus of two or three dimensions by its numbers. Left out: another form is given."""
    devices: dict[Name, DeviceChoice] | None = None
    """Devices by name, where the fabric has no plain shape. Left out: a shape makes them.
    Example: `{leaf1: {role: leaf}, host1: {role: host}}`
    """
    links: Annotated[tuple[LinkChoice, ...] | None, BeforeValidator(listed)] = None
    """Bundles of links between the devices. Left out: a shape makes them.
    Example: `[{a: leaf1, b: host1, links: 2 x 400G, cable: 3m}]`
    """
    names: dict[str, Name] = Field(default_factory=dict)
    """Names of devices of a shape, by the names that are derived. Left out: the derived ones.
    Example: `{leaf1: rack7-tor}`
    """
    ports: Annotated[
        dict[str, tuple[str, ...]], BeforeValidator(_port_lists), WithJsonSchema(_PORTS_SCHEMA)
    ] = Field(default_factory=dict)
    """Ports of links of a shape, by `DEVICE:NEIGHBOR`, in the order of its links; `any` is the next free one. Left out:
    derived ones.
    Example: `{"leaf1:spine1": [Ethernet448, Ethernet456]}`
    """
    oversubscription: TierRatios = Field(default_factory=dict)
    """Accepted ratio of the bandwidth below a switch to that of its uplinks: 2 means 2:1. One number for all tiers, or
    one for each. Left out: 1.
    Example: `2`
    Example: `{leaf: 1, spine: 7}`
    """
    routing: Annotated[RoutingChoice | None, OnDemand()] = None
    """How packets are routed. Left out: up and then down, as in a Clos. Example: `{policy: shortest-path}`"""
    bridging: Annotated[BridgingChoice | None, OnDemand()] = None
    """Given where leaves bridge RDMA traffic between hosts and uplinks. Left out: they route it.
    Example: `{arp_timeout: 300s, mac_aging: 600s}`
    """

    @model_validator(mode="after")
    def _one_form(self) -> Self:
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
    def _overrides_are_of_shapes(self) -> Self:
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
        """The key of the topology's shape, None where devices and links are listed."""
        return next((name for name in SHAPES if getattr(self, name) is not None), None)

    @property
    def frame(self) -> tuple[str | int, ...] | None:
        """The key of the shape and its numbers of planes, rails or sides, None where devices are listed.

        Positions of devices in two topologies with equal frames are comparable.
        """
        shape, key = self.shape, self.shape_key
        return None if shape is None or key is None else (key, *shape.frame)

    @property
    def shape(self) -> ShapeIntent | None:
        """The topology's shape, None where devices and links are listed."""
        shape: ShapeIntent | None = getattr(self, self.shape_key) if self.shape_key else None
        return shape


SHAPES = tuple(
    name
    for name, field in TopologyIntent.model_fields.items()
    if any(isinstance(form, type) and issubclass(form, ShapeIntent) for form in get_args(field.annotation))
)
"""The keys of shapes under ``topology``, which has at most one of them."""

_PREFIX = r"[0-9A-Fa-f:.]+/[0-9]{1,3}"
Prefix = Annotated[str, WithJsonSchema({"type": "string", "pattern": rf"^{_PREFIX}$"})]


class NetworkChoice(Model):
    """A network: on its own switches, or sharing the fabric in a class of its own.

    ``purpose`` is derived from its name where it is left out. ``marking`` declares who sets the DSCPs of its packets:
    the operator (``trusted``), the senders (``untrusted``), or a rule where its hosts attach (``rewritten``).
    """

    on: Literal["separate", "fabric"]
    """`separate`: on switches of its own; `fabric`: shares the fabric, in a class."""
    purpose: NetworkPurpose | None = None
    """What the network is for. Left out: derived from its name, as in storage or mgmt."""
    marking: DscpMarking | None = None
    """Who sets the DSCPs of its packets: you (`trusted`), the senders (`untrusted`), or a rule where its hosts attach
    (`rewritten`). Left out: you, and on a `tenant` network the senders.
    """
    prefixes: Annotated[tuple[Prefix, ...], BeforeValidator(listed)] = ()
    """IP prefixes of the network. Left out: none are known. Example: `[10.20.0.0/16, "2001:db8::/48"]`"""
    traffic_class: str | None = Field(default=None, alias="class")
    """Traffic class it uses on the fabric. Left out: none is named. Example: `default`"""

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
