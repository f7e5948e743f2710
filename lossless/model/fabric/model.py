"""The fabric model, independent of the source of its facts. Plain frozen data.

Identically configured switches of an intent share one tuple of ports, and ports with identical configuration share
one :class:`~lossless.model.fabric.qos.PortQos`.

The tier of a switch comes from an intent, or is derived for a deployed switch.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Literal, get_args

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import UNKNOWN, Maybe, NamedTuple, Provenance
from lossless.model.fabric.qos import DynamicBuffers, IndexMap, Pool, PortQos, TrimSettings, TunnelMaps

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from lossless.ground.basics.records import Unknown
    from lossless.model.fabric.cabling import Bridging, PacketOrder, Routing, Trimming
    from lossless.model.fabric.cluster import Cluster, DeclaredWorkload, Failures, KubernetesPolicy
    from lossless.model.fabric.hosts import HostQos, ManagedFabric
    from lossless.model.hardware.model import Hwsku, PortSpec, SwitchProfile


Role = Literal["leaf", "spine", "super-spine", "switch", "host"]
"""The role of a device. A ``switch`` has no tier: it has hosts, and links to other such switches, as in a torus."""
ROLES: tuple[Role, ...] = get_args(Role)
SWITCH_ROLES = tuple(role for role in ROLES if role != "host")
LinkTier = Literal["hosts", "uplinks", "spine_uplinks", "links", "local_links", "global_links"]
"""The tier of links.

Links to hosts, links that go up from a leaf, links that go up from a spine; between switches without a tier those of a
torus, within a group and between groups.
"""
LINK_TIERS: tuple[LinkTier, ...] = get_args(LinkTier)


class Tier(IntEnum):
    """The tiers of a Clos fabric, the lowest first."""

    LEAF = 1
    SPINE = 2
    SUPER_SPINE = 3

    @property
    def word(self) -> str:
        """The tier in the spelling of intents, reports and JSON: ``super-spine``."""
        return _WORDS[self]


_WORDS = {Tier.LEAF: "leaf", Tier.SPINE: "spine", Tier.SUPER_SPINE: "super-spine"}
_TIER_OF_ROLE = {word: tier for tier, word in _WORDS.items()}


def tier_of_role(role: str) -> Tier | None:
    """Return the tier of a role in an intent; None for ``switch``, which has no tier, and ``host``."""
    return _TIER_OF_ROLE.get(role)


def role_word(device_type: str | None, tier: Maybe[Tier]) -> str:
    """Return the word for a switch in messages: its operator's own word, else its tier, else ``switch``."""
    known = known_tier(tier)
    return device_type or (known.word if known else "switch")


def link_tier(roles: Container[str]) -> LinkTier:
    """Return the tier of links between switches of these roles, or between one of them and a host: by the lower end.

    A switch without a tier has no uplinks.
    """
    if "host" in roles:
        return "hosts"
    if "switch" in roles:
        return "links"
    return "uplinks" if "leaf" in roles else "spine_uplinks"


def known_tier(tier: Maybe[Tier]) -> Tier | None:
    """Return a tier where it is known; None for a switch without a tier and for an unknown tier."""
    return tier if isinstance(tier, Tier) else None


def deployed_tier(by_type: Tier | None, has_hosts: bool, neighbors: Sequence[Tier]) -> Tier | Unknown:
    """Return the tier of a deployed switch: first by its neighbors, second by its type.

    ``by_type`` is the tier that its type stands for, None for a type without one; ``neighbors`` are the tiers of the
    switches it is linked to, one for each switch whose type has one.

    1. With hosts it is a leaf, also where its type stands for a spine: many operators call their leaves LeafRouter,
       as ``sonic-cfggen --preset`` ``t1`` and ``empty`` call any switch. But it is UNKNOWN where its type stands for a
       super-spine, or where it is linked to a leaf and its type does not make it a peer of that leaf.
    2. Above several leaves, and nothing else, it is a spine, also where its type stands for a super-spine: operators
       who call their leaves LeafRouter call their spines SpineRouter. Where its type stands for the tier of all its
       neighbors, it is UNKNOWN: a tier is not linked to itself alone. One neighbor is no evidence, it may be a peer
       (MCLAG, dual ToR).
    3. In all other cases its type decides; without one it is UNKNOWN.

    Source of the preset: sonic-buildimage src/sonic-config-engine/config_samples.py @086b03b.
    """
    if has_hosts:
        conflict = by_type is Tier.SUPER_SPINE or (by_type is not Tier.LEAF and Tier.LEAF in neighbors)
        return UNKNOWN if conflict else Tier.LEAF
    if len(neighbors) > 1 and len(set(neighbors)) == 1:
        if by_type is neighbors[0]:
            return UNKNOWN
        if neighbors[0] is Tier.LEAF:
            return Tier.SPINE
    return UNKNOWN if by_type is None else by_type


CongestionKind = Literal["dcqcn", "pfc-only", "nscc", "rccc", "both"]
EthernetTransport = Literal["rocev2", "uec"]
BufferModel = Literal["traditional", "dynamic"]
NetworkPurpose = Literal["compute", "storage", "management", "tenant"]
DscpMarking = Literal["trusted", "untrusted", "rewritten"]
DEFAULT_SWITCH_MTU_BYTES = 9100
"""MTU of a PORT row without one (sonic-swss cfgmgr/portmgr.h @e1abf76, DEFAULT_MTU_STR), or if an intent has none."""
DEFAULT_HOST_MTU_BYTES = 9000
"""MTU of host interfaces where an intent states none."""


class NamedDscp(NamedTuple):
    """A DSCP that an intent declares by name and number; the number applies.

    ``means`` is the DSCP the name stands for, ``right_name`` the name of the number, None where it has none.
    """

    name: str
    means: int
    dscp: int
    right_name: str | None
    origin: Origin


class TrafficClass(NamedTuple):
    """One class of traffic. ``priority`` is PFC priority, TC and queue at once; None where only DSCPs are named.

    ``rest``: the class of every DSCP that no other class names.
    """

    name: str
    dscps: tuple[int, ...]
    rest: bool
    priority: int | None
    lossless: bool
    origin: Origin
    named_dscps: tuple[NamedDscp, ...] = ()


class ClassSet(NamedTuple):
    """The traffic classes of a fabric, and their source.

    ``declared``: an intent; ``named``: DSCPs that the user named; ``inferred``: the configuration of the device itself.
    """

    knowledge: Literal["declared", "named", "inferred"]
    classes: tuple[TrafficClass, ...]

    @property
    def lossless(self) -> tuple[TrafficClass, ...]:
        """The lossless classes."""
        return tuple(c for c in self.classes if c.lossless)

    def named(self, name: str | None) -> TrafficClass | None:
        """Return the traffic class of a name, None where no class has it."""
        return next((cls for cls in self.classes if cls.name == name), None)

    def of_dscp(self, dscp: int) -> TrafficClass | None:
        """Return the traffic class of a DSCP, else the ``rest`` class, None without one."""
        rest = None
        for candidate in self.classes:
            if dscp in candidate.dscps:
                return candidate
            rest = candidate if candidate.rest else rest
        return rest


class CongestionControl(NamedTuple):
    """Congestion control of senders, and their transport. ``cnp_dscp`` is the DSCP of the NICs' CNPs.

    ``nscc`` and ``rccc`` are a sender's window and a receiver's credit of Ultra Ethernet's transport.
    """

    kind: CongestionKind
    cnp_dscp: int | None
    origin: Origin
    transport: EthernetTransport = "rocev2"


class Cable(NamedTuple):
    """The real and the configured length of a cable.

    ``real_m`` is UNKNOWN for a deployed file, which has only the configured length. ``configured_m`` is None
    where no length is configured (or no row of the HWSKU covers it), 0 for SONiC's ``0m``.
    """

    real_m: Maybe[int]
    configured_m: int | None
    origin: Origin

    @property
    def known_m(self) -> int | None:
        """The real length where it is known, else the configured one, None without one."""
        return self.real_m if isinstance(self.real_m, int) else self.configured_m


class Port(NamedTuple):
    """One switch port in use or configured. ``qos`` None: the device has no QoS row for it.

    ``speed_bps`` None: the file lacks it, or is of NVUE. ``neighbor`` is the device and port that the switch has
    configured for the other end.

    ``placed`` False: the intent needs a port that the switch does not have; it has no name in SONiC. ``leads_to`` is
    the kind of device at the other end, where that is known. ``pfc_unwanted``: an intent declares that links of its
    tier have no PFC. ``lag`` names the LAG the port is a member of, None where it is in none, and always on deployed
    devices of SONiC and NVUE: rules on LAGs of SONiC (PFC014) read the rows of PORTCHANNEL_MEMBER. ``asymmetric``: it
    obeys pauses of all priorities. ``spec`` has lanes and alias, None where the device's own file is the only source or
    the port is not placed. ``offered_bps`` is the fastest speed that an auto-negotiating port offers its peer, None
    where it does not negotiate or lists none. ``adaptive``: packets that leave by it are routed adaptively, as far as
    its chip supports that at its speed.
    """

    name: str
    speed_bps: int | None
    lanes: int | None
    mtu_bytes: Maybe[int]
    admin_up: Maybe[bool]
    leads_to: Literal["host", "switch"] | None
    cable: Cable
    neighbor: tuple[str, str] | None
    qos: PortQos | None
    placed: bool
    origin: Origin
    pfc_unwanted: bool = False
    lag: str | None = None
    asymmetric: bool = False
    spec: PortSpec | None = None
    offered_bps: int | None = None
    adaptive: bool = False


class WatchdogPoll(NamedTuple):
    """The watchdog's poll interval; None: not configured, so that the device uses its default."""

    poll_ms: int | None
    origin: Origin


class SwitchQos(NamedTuple):
    """QoS settings of a whole switch.

    ``counters`` has each configured flex counter group, and whether it is polled. ``global_dscp_map`` serves ports that
    bind no map of their own. ``headroom_oversubscription`` is the declared ratio of the shared headroom pool, None
    without one. ``storage_backend``: 802.1p is trusted by design. ``voq``: a chassis with virtual output queues.
    ``dynamic`` are the settings of the dynamic buffer model, ``tunnel`` the maps of a dual ToR for the tunnel to its
    peer, ``trimming`` the handling of trimmed packets: None without them. ``no_default_watchdog`` is the place of the
    setting that keeps a boot from starting a watchdog, None without it.
    """

    buffer_model: BufferModel
    pools: tuple[Pool, ...]
    poll: WatchdogPoll
    counters: tuple[tuple[str, bool], ...]
    global_dscp_map: IndexMap | None
    database_version: str | None
    headroom_oversubscription: float | None
    storage_backend: bool
    voq: bool
    origin: Origin
    dynamic: DynamicBuffers | None = None
    tunnel: TunnelMaps | None = None
    trimming: TrimSettings | None = None
    no_default_watchdog: Origin | None = None


class Switch(NamedTuple):
    """One switch. ``profile`` and ``hwsku`` are None where they are not known.

    ``tier`` is None where the fabric has none for it (a torus, a dragonfly, the role ``switch`` of an intent), UNKNOWN
    where the file of a deployed switch does not determine it. ``device_type`` is the operator's own word, the type of a
    deployed switch in DEVICE_METADATA: it groups switches, names them in messages, and determines the tier where the
    neighbors do not (:func:`deployed_tier`).

    ``unused`` are the ports that no link of an intent uses: they have no QoS of their own unless the intent reclaims
    their buffer. ``idle`` are those of them that the intent does not shut down: they reserve buffer while they are up.
    ``release`` is the declared SONiC release, None without one; a deployed switch has
    ``SwitchQos.database_version``. ``format`` is the system that it runs; ``shares_in_percent``: it takes the shares
    of queues in percent of a port, and refuses more than 100 % of them (set of switches of an intent).
    """

    name: str
    tier: Maybe[Tier]
    hwsku_name: Maybe[str]
    profile: SwitchProfile | None
    hwsku: Hwsku | None
    classes: ClassSet
    ports: tuple[Port, ...]
    demand: tuple[PortDemand, ...]
    qos: SwitchQos
    origin: Origin
    release: str | None = None
    unused: tuple[PortSpec, ...] = ()
    idle: tuple[PortSpec, ...] = ()
    device_type: str | None = None
    format: str = "sonic"
    shares_in_percent: bool = False

    @property
    def device(self) -> str:
        """The name of its device: ``leaf1`` for ``leaf1:asic0``."""
        return self.name.partition(":")[0]

    @property
    def runs_sonic(self) -> bool:
        """Whether it runs SONiC, and so has a CONFIG_DB."""
        return self.format == "sonic"

    @property
    def asic(self) -> str:
        """The namespace of its ASIC, empty for a device with one ASIC."""
        return self.name.partition(":")[2]

    @property
    def names_neighbors(self) -> bool:
        """Whether any port has a neighbor; if none has, the wired ports are unknown."""
        return any(port.neighbor is not None for port in self.ports)

    @property
    def is_fragment(self) -> bool:
        """Whether its file has no PORT rows, as a qos.json: other files may have the missing settings."""
        return all(port.admin_up is UNKNOWN for port in self.ports)

    @property
    def lacks_lengths(self) -> bool:
        """Whether no port has a cable length, in a file without PORT rows or buffer pools: another may have lengths."""
        may_stand_elsewhere = self.is_fragment or not self.qos.pools
        return may_stand_elsewhere and all(port.cable.configured_m is None for port in self.ports)


class PortDemand(NamedTuple):
    """The number of ports of one speed that an intent needs on a switch, and their purpose."""

    ports: int
    speed_bps: int
    purpose: str
    origin: Origin


class Host(NamedTuple):
    """One host. Hosts with identical configuration share one :class:`HostQos`."""

    name: str
    qos: HostQos


class Link(NamedTuple):
    """One link, switch ``a`` to switch or host ``b``; by node and port name."""

    a: str
    a_port: str
    b: str
    b_port: str
    speed_bps: int
    to_host: bool


class OutsideLink(NamedTuple):
    """One link from a port of a switch to a device that is configured elsewhere: a host, or a switch and its tier."""

    switch: str
    port: str
    far: str
    to_host: bool
    tier: Tier | None


class Network(NamedTuple):
    """A network beside or on the fabric, with its prefixes as text.

    ``purpose`` and ``marking`` are those of an intent, None where it declares none.
    """

    name: str
    separate: bool
    prefixes: tuple[str, ...]
    class_name: str | None
    origin: Origin
    purpose: NetworkPurpose | None = None
    marking: DscpMarking | None = None

    @property
    def carries_storage(self) -> bool:
        """Whether it is a storage network: by its purpose, else by its name."""
        return self.purpose == "storage" if self.purpose is not None else "storage" in self.name


class Uplinks(NamedTuple):
    """Parallel links of one rate from a switch to one above it."""

    above: str
    links: int
    speed_bps: int


class Capacity(NamedTuple):
    """The bandwidth of one leaf down and up, each counted one way, and the accepted oversubscription.

    In a fabric of pods spines have one too; ``leaf`` and ``leaves`` then name spines. ``uplinks`` are those of
    ``leaf``; those of the other ``leaves`` are as many and as fast, possibly to other switches. Where elements are out
    of service, ``in_service`` has the remaining uplinks, one entry for each distinct set.
    """

    leaf: str
    down_bps: int
    up_bps: int
    note: str
    accepted: float
    origin: Origin
    leaves: tuple[str, ...]
    tier: Tier = Tier.LEAF
    uplinks: tuple[Uplinks, ...] = ()
    in_service: tuple[tuple[Uplinks, ...], ...] = ()


class RepeatedKey(NamedTuple):
    """A key that one JSON object repeats, and the line where it is first."""

    origin: Origin
    first_line: int


class Telemetry(NamedTuple):
    """The monitoring of pauses that an intent declares. None: the interval, or alerts, are not declared."""

    on: bool
    interval_ms: int | None
    alerts: tuple[str, ...] | None
    origin: Origin


class Fabric(NamedTuple):
    """A fabric. ``sources`` are its files; ``unread`` lists parts that could not be read and are not checked.

    ``lossy_origin`` is the place at which an intent declares that no class is lossless, None without it. ``pfc_tiers``
    are the tiers of links with PFC, None where an intent does not declare them; ``link_tiers`` are all tiers of links
    in it. ``failures`` are those to tolerate, None for a fabric that was read from devices. ``cluster`` (the GPUs of
    the hosts), ``routing`` and ``bridging`` are None where an intent does not declare them. ``kubernetes`` are the
    settings of a NIC operator where hosts are nodes of a cluster. ``managed`` describes a fabric that a cloud provider
    operates, which has no switches and hosts of its own. ``beyond`` are the links to devices that are configured
    elsewhere, which ``links`` leaves out. ``workloads`` is the traffic that thresholds are tuned for. ``packet_order``
    is the declared load balancing, None without an intent. ``trimming`` is None where an intent declares none.
    ``cut_orders`` are orders of the switches of a torus, by each of its sides, at whose middle bisections are tried.
    """

    name: str
    provenance: Provenance
    classes: ClassSet
    congestion: CongestionControl | None
    switches: tuple[Switch, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...]
    networks: tuple[Network, ...]
    capacities: tuple[Capacity, ...]
    sources: tuple[str, ...]
    unread: tuple[str, ...] = ()
    repeated_keys: tuple[RepeatedKey, ...] = ()
    telemetry: Telemetry | None = None
    lossy_origin: Origin | None = None
    pfc_tiers: tuple[LinkTier, ...] | None = None
    link_tiers: tuple[LinkTier, ...] = ()
    cluster: Cluster | None = None
    failures: Failures | None = None
    routing: Routing | None = None
    bridging: Bridging | None = None
    kubernetes: KubernetesPolicy | None = None
    managed: ManagedFabric | None = None
    beyond: tuple[OutsideLink, ...] = ()
    workloads: tuple[DeclaredWorkload, ...] = ()
    packet_order: PacketOrder | None = None
    trimming: Trimming | None = None
    cut_orders: tuple[tuple[str, ...], ...] = ()

    @property
    def declared(self) -> bool:
        """Whether an intent declares the fabric; otherwise it was read from devices."""
        return self.provenance == "intent"

    @property
    def ultra_ethernet(self) -> bool:
        """Whether its transport is that of Ultra Ethernet."""
        return self.congestion is not None and self.congestion.transport == "uec"


def of_switches(fabric: Fabric, belongs: Callable[[Switch], bool]) -> Fabric:
    """Return a fabric with all hosts, the switches for which ``belongs`` is true, and no links to other switches."""
    gone = {switch.name for switch in fabric.switches if not belongs(switch)}
    if not gone:
        return fabric
    return fabric._replace(
        switches=tuple(switch for switch in fabric.switches if switch.name not in gone),
        links=tuple(link for link in fabric.links if gone.isdisjoint((link.a, link.b))),
        beyond=tuple(link for link in fabric.beyond if link.switch not in gone),
    )
