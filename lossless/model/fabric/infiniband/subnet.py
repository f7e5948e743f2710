"""The model of an InfiniBand subnet, independent of the source of its facts. Plain frozen data.

An intent declares all of it. A deployed ``opensm.conf``, with the files beside it, has no switches,
adapters and links: those are ``UNKNOWN`` there, and unknown facts are not checked.

All keys of ``opensm.conf`` have one source: :attr:`Subnet.options`, as text, whether they were declared, derived from
other declarations or read. :class:`Qos` is opensm's interpretation of these texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple, Provenance, Unknown

if TYPE_CHECKING:
    from lossless.model.fabric.infiniband.qos_policy import QosPolicy
    from lossless.model.fabric.infiniband.rates import Rate
    from lossless.model.hardware.infiniband import HcaProfile, InfinibandSwitchProfile

Flavour = Literal["upstream", "nvidia"]
Manager = Literal["opensm", "ufm"]
ShapeKind = Literal["fat-tree", "dragonfly-plus", "torus", "explicit"]
HostRole = Literal["compute", "storage", "management"]
Membership = Literal["full", "limited", "both"]
_T = TypeVar("_T")
OrUnknown: TypeAlias = _T | Unknown
"""A value that an intent declares, and that a deployed file may lack."""


class ManagerSetting(NamedTuple):
    """A key with its value as the text in a file, and its place.

    ``derived``: the key itself was not written; ``origin`` is the source of its value. ``section`` is that of an INI
    file.
    """

    key: str
    text: str
    origin: Origin
    derived: bool = False
    section: str = ""


class Secret(NamedTuple):
    """A key that protects the subnet (``m_key``), and the environment variable that holds it."""

    key: str
    variable: str
    origin: Origin


class SubnetSwitch(NamedTuple):
    """One switch. ``guid`` is its node GUID, None where it is unknown; ``tier`` is 0 at leaves, None without tiers.

    ``ports`` is the highest number of its ports in use: split ports count twice. ``coordinates`` are
    those in a torus, ``group`` is that of a dragonfly+ (0 on).
    """

    name: str
    role: str
    tier: int | None
    profile: InfinibandSwitchProfile
    ports: int
    guid: int | None
    origin: Origin
    hardware_origin: Origin
    coordinates: tuple[int, ...] = ()
    group: int | None = None


class Hca(NamedTuple):
    """One port of an adapter, as Linux shows it: a device of one port, ``host1:mlx5_0``.

    ``guid`` is its port GUID, None where it is unknown. ``rail`` is the position of the device in its host, from 0.
    """

    name: str
    host: str
    device: str
    rail: int
    profile: HcaProfile
    guid: int | None
    origin: Origin
    hardware_origin: Origin


class SubnetHost(NamedTuple):
    """A host and its devices, by name."""

    name: str
    role: HostRole
    hcas: tuple[str, ...]
    origin: Origin


class SubnetLink(NamedTuple):
    """One link, switch ``a`` to switch or HCA ``b``, by name; ``rate`` is its declared rate.

    Port numbers are those of the model, from 1. None: the switch has no port left for it.
    """

    a: str
    a_port: int | None
    b: str
    b_port: int | None
    rate: Rate
    to_hca: bool
    origin: Origin


class SubnetPortDemand(NamedTuple):
    """The number of ports of one rate that a switch needs, and their purpose."""

    switch: str
    ports: int
    rate: Rate
    purpose: str
    origin: Origin


class SubnetShape(NamedTuple):
    """The kind of topology.

    ``sides`` are the lengths of a torus, a side of 1 or 2 having no ring of its own. ``roots`` are the switches
    of the top tier of a fat tree. ``oversubscription`` is the accepted one at a leaf, down over up.
    """

    kind: ShapeKind
    origin: Origin
    sides: tuple[int, ...] = ()
    groups: int = 0
    roots: tuple[str, ...] = ()
    oversubscription: float = 1.0


class ManagerHost(NamedTuple):
    """Where a subnet manager runs: a host (by its first HCA, or the one named) or a managed switch.

    ``hca`` is None on a switch. ``priority`` None: not declared, so that opensm's default applies.
    ``standby``: it is intended as a standby. ``node`` is UNKNOWN for a deployed file, which runs on its own host.
    """

    node: OrUnknown[str]
    hca: str | None
    priority: int | None
    standby: bool
    origin: Origin


class SubnetRouting(NamedTuple):
    """Routing of a subnet.

    ``engines`` are in the order in which opensm tries them, empty without a declaration (opensm then uses minhop).
    ``no_fallback``: opensm gives up rather than use minhop. ``roots`` are the switches of the file of roots and
    ``compute`` the HCAs of that of compute nodes, by name; their GUIDs where a file was read. None: no such file.
    """

    engines: tuple[str, ...]
    no_fallback: bool
    origin: Origin
    roots: tuple[str | int, ...] | None = None
    compute: tuple[str | int, ...] | None = None
    roots_origin: Origin | None = None

    @property
    def engine(self) -> str | None:
        """The intended engine: the first, None where none is declared."""
        return self.engines[0] if self.engines else None


class ServiceLevel(NamedTuple):
    """A level of service that an intent declares: its SL and its VL."""

    name: str
    sl: int
    vl: int
    origin: Origin


class Weight(NamedTuple):
    """An entry of an arbitration table; ``weight`` is in units of 64 bytes (InfiniBand specification, 7.6.9)."""

    vl: int
    weight: int


class Qos(NamedTuple):
    """The QoS options as opensm interprets them. None: not set, or not a number, so that opensm's default applies.

    ``max_op_vls`` is a code (3 is VL0 to VL3), ``max_vls`` a count. ``sl2vl`` has one VL an SL, as many as are set.
    """

    on: bool
    levels: tuple[ServiceLevel, ...]
    max_op_vls: int | None
    max_vls: int | None
    high_limit: int | None
    high: tuple[Weight, ...] | None
    low: tuple[Weight, ...] | None
    sl2vl: tuple[int, ...] | None
    origin: Origin


class Member(NamedTuple):
    """Members of a partition, as one entry of the file: an HCA, a GUID or a word (``ALL``, ``ALL_CAS``, ``SELF``).

    ``hca`` names the HCA, ``guid`` is its GUID where it is known; both None where ``word`` stands for many.
    """

    hca: str | None
    guid: int | None
    word: str | None
    membership: Membership
    origin: Origin


class Partition(NamedTuple):
    """A partition. ``pkey`` is as written, with the membership bit if it has one; opensm uses the low 15 bits.

    ``rate`` and ``mtu`` are the codes of the file, ``rate_bps`` and ``mtu_bytes`` the values of an intent. ``default``
    is the membership of members without one.
    """

    name: str
    pkey: int | None
    index0: bool
    ipoib: bool
    rate: int | None
    mtu: int | None
    sl: int | None
    default: Membership
    members: tuple[Member, ...]
    origin: Origin
    rate_bps: int | None = None
    mtu_bytes: int | None = None
    scope: int | None = None

    @property
    def base(self) -> int | None:
        """The low 15 bits of the P_Key, which identify the partition."""
        return None if self.pkey is None else self.pkey & 0x7FFF


class Sharp(NamedTuple):
    """Reductions in the switches. ``am_node`` is the host or switch of the aggregation manager.

    ``trees`` and ``jobs`` are intended numbers, None where they are not declared. ``hosts`` take part; ``excluded`` do
    not (storage). ``needs`` is the generation that the jobs need. ``settings`` are the declared keys of sharp_am.cfg.
    """

    on: bool
    am_node: OrUnknown[str] | None
    trees: int | None
    jobs: int | None
    hosts: tuple[str, ...]
    excluded: tuple[str, ...]
    needs: int | None
    settings: tuple[ManagerSetting, ...]
    origin: Origin


class Job(NamedTuple):
    """Settings of jobs: their level and partition, by name, and declared variables."""

    level: str | None
    partition: str | None
    environment: tuple[ManagerSetting, ...]
    origin: Origin


class Subnet(NamedTuple):
    """A subnet with its manager. ``files`` are its sources; ``subnet_prefix`` None: opensm's own default.

    ``options`` is every key of opensm.conf that is declared or derived from the intent, in the order of the file; a
    repeated key of a file is repeated here, and its last value applies. ``gv`` are the declared keys of UFM's gv.cfg.
    ``policy`` is a qos-policy.conf that was read; that of an intent is derived from its levels and partitions.
    ``partitions`` None: there is no file of them, so all are full members of the default partition.
    """

    name: str
    provenance: Provenance
    flavour: OrUnknown[Flavour]
    manager: Manager
    origin: Origin
    files: tuple[str, ...]
    options: tuple[ManagerSetting, ...]
    secrets: tuple[Secret, ...]
    subnet_prefix: int | None
    shape: OrUnknown[SubnetShape]
    switches: OrUnknown[tuple[SubnetSwitch, ...]]
    hosts: OrUnknown[tuple[SubnetHost, ...]]
    hcas: OrUnknown[tuple[Hca, ...]]
    links: OrUnknown[tuple[SubnetLink, ...]]
    demand: tuple[SubnetPortDemand, ...]
    managers: tuple[ManagerHost, ...]
    routing: SubnetRouting
    qos: Qos
    partitions: OrUnknown[tuple[Partition, ...]] | None
    sharp: Sharp | None
    job: Job | None
    gv: tuple[ManagerSetting, ...] = ()
    policy: QosPolicy | None = None

    def option(self, key: str) -> ManagerSetting | None:
        """Return the setting of an option that applies, None without one."""
        return next((option for option in reversed(self.options) if option.key == key), None)
