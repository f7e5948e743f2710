"""The model of an InfiniBand subnet, independent of the source of its facts. Plain frozen data.

An intent declares all of it. A deployed ``opensm.conf``, with the files beside it, has no switches,
adapters and links: those are ``UNKNOWN`` there, and unknown facts are not checked.

All keys of ``opensm.conf`` have one source: :attr:`Subnet.options`, as text, whether they were declared, derived from
other declarations or read. :class:`Qos` has the numbers of its QoS options.

Keys are interpreted by the table in ``profiles/opensm/options.toml``. Nothing is checked here: a text is interpreted
as opensm does, with a word for each way in which its value differs from the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args

from lossless.ground.basics.files import data_dir
from lossless.ground.basics.findings import Origin, grouped, natural_key
from lossless.ground.basics.records import NamedTuple, Provenance, Unknown
from lossless.model.hardware.load import read_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.model.fabric.cluster import Cluster
    from lossless.model.fabric.infiniband.qos_policy import QosPolicy, Rate
    from lossless.model.hardware.infiniband import HcaProfile, InfinibandSwitchProfile


def number(text: str | None) -> int | None:
    """Return the number of a text in C's notation, ``0x12``, ``022`` or ``18``; None for other text, and for None."""
    return None if text is None else c_number(text.strip())


def is_true(text: str) -> bool:
    """Return whether opensm reads a text as true: only ``TRUE`` is; all other text is false, without a message."""
    return text == TRUE


def qos_of(options: Iterable[ManagerSetting], levels: tuple[ServiceLevel, ...], origin: Origin) -> Qos:
    """Return the QoS settings in the options of an opensm.conf; of a repeated key the last value applies."""
    texts = {option.key: option.text for option in options}
    return Qos(
        on=is_true(texts.get("qos", "FALSE")),
        levels=levels,
        max_op_vls=number(texts.get("max_op_vls")),
        max_vls=number(texts.get("qos_max_vls")),
        high_limit=number(texts.get("qos_high_limit")),
        high=weights_of(texts.get("qos_vlarb_high")),
        low=weights_of(texts.get("qos_vlarb_low")),
        sl2vl=_vls(texts.get("qos_sl2vl")),
        origin=origin,
    )


def weights_of(text: str | None) -> tuple[Weight, ...] | None:
    """Return the entries of a VL arbitration table, ``0:64,1:32``; None without a table or with an invalid entry."""
    if text is None:
        return None
    pairs = [tuple(map(number, entry.split(":"))) for entry in text.split(",")]
    weights = [Weight(p[0], p[1]) for p in pairs if len(p) == 2 and p[0] is not None and p[1] is not None]
    return tuple(weights) if len(weights) == len(pairs) else None


def _vls(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    numbers = [number(entry) for entry in text.split(",")]
    vls = [vl for vl in numbers if vl is not None]
    return tuple(vls) if len(vls) == len(numbers) else None


def levels_in_use(subnet: Subnet) -> dict[int, list[tuple[str, Origin]]]:
    """Return the users of each used SL from 0 to 15 in order: declared levels and partitions, as text, with origins.

    Levels of one SL are in the order of their names, whatever that of a file.
    """
    parts = () if isinstance(subnet.partitions, Unknown) else subnet.partitions or ()
    levels = sorted(subnet.qos.levels, key=lambda level: natural_key(level.name))
    used = [(level.sl, (f"level {level.name}", level.origin)) for level in levels]
    used += [(part.sl, (f"partition {part.name}", part.origin)) for part in parts if part.sl is not None]
    users_of = grouped(used)
    return {sl: users_of[sl] for sl in range(16) if sl in users_of}


def job_level(subnet: Subnet) -> int | None:
    """Return the SL on which NCCL sends in the declared jobs; None without jobs, or where it is not from 0 to 15.

    It is the declared NCCL_IB_SL, else the SL of the jobs' level, else NCCL's default, 0 (NVIDIA/nccl
    src/transport/net_ib.cc @02aedae).
    """
    if subnet.job is None:
        return None
    stated = [setting.text for setting in subnet.job.environment if setting.key == "NCCL_IB_SL"]
    levels = [level.sl for level in subnet.qos.levels if level.name == subnet.job.level]
    told = number(stated[-1]) if stated else next(iter(levels), 0)
    return told if told is not None and 0 <= told <= 15 else None


Flavour = Literal["upstream", "nvidia"]
Manager = Literal["opensm", "ufm"]
ShapeKind = Literal["fat-tree", "dragonfly-plus", "torus", "explicit"]
HostRole = Literal["compute", "storage", "management"]
Membership = Literal["full", "limited", "both"]
_T = TypeVar("_T")
OrUnknown: TypeAlias = _T | Unknown
"""A value that an intent declares, and that a deployed file may lack."""


class ManagerSetting(NamedTuple):
    """A key of a subnet manager's or SHARP's file, or a variable of jobs, with its value as text, and its place.

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
    """One InfiniBand switch. ``guid`` is its node GUID, None if unknown; ``tier`` is 0 at leaves, None without tiers.

    ``ports`` is its highest port number: where a link has half the lanes, every port counts twice. ``coordinates`` are
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
    """A host of a subnet and the names of its HCAs."""

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
    """The topology of a subnet.

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
    """The place of a subnet manager: a host (by its first HCA, or the one named) or a managed switch.

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
    """An entry of a VL arbitration table; ``weight`` is in units of 64 bytes (InfiniBand specification, 7.6.9)."""

    vl: int
    weight: int


class Qos(NamedTuple):
    """The QoS options as numbers. None: not set, or not a number, so that opensm's default applies.

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

    ``hca`` names the HCA, ``guid`` is its GUID where it is known; both None where ``word`` stands for members.
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
        """The low 15 bits of the P_Key, which identify the partition; None where no P_Key is stated."""
        return None if self.pkey is None else self.pkey & 0x7FFF


class Sharp(NamedTuple):
    """SHARP: reductions in the switches. ``am_node`` is the host or switch of the aggregation manager.

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
    """Settings of jobs: the names of their service level and partition, and declared environment variables."""

    level: str | None
    partition: str | None
    environment: tuple[ManagerSetting, ...]
    origin: Origin


class Subnet(NamedTuple):
    """A subnet with its manager. ``files`` are its sources; ``subnet_prefix`` None: opensm's own default.

    ``options`` is every key of opensm.conf that is declared or derived from the intent, in the order of the file; a
    repeated key of a file is repeated here, and its last value applies. ``gv`` are the declared keys of UFM's gv.cfg.
    ``policy`` is a qos-policy.conf that was read; that of an intent is derived from its levels and partitions.
    ``partitions`` None: there is no file of them, so all are full members of the default partition. ``cluster`` are the
    GPUs of the compute hosts, None where an intent declares none, and for files.
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
    cluster: Cluster | None = None

    def option(self, key: str) -> ManagerSetting | None:
        """Return the setting of an option of opensm.conf that applies, the last one; None without one."""
        return next((option for option in reversed(self.options) if option.key == key), None)


Kind = Literal[
    "bool", "u8", "u16", "u32", "u64", "i32", "text", "file", "pairs", "pair", "numbers", "per-sl", "mask"
]
Loss = Literal["", "no number", "too wide", "silently zero", "silently false", "replaced"]
"""How opensm's value of an option differs from its text.

Not at all; refused with a message (``no number``, ``too wide``); read as FALSE, or as the number at its beginning (0
without one), without a message; ``replaced`` by another value.
"""

Given = Literal["", "simulated", "own-file", "read"]
"""How an opensm that is run here gets an option: ``profiles/opensm/options.toml`` explains the words."""
KINDS = get_args(Kind)
BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
"""Widths in bits of options of opensm.conf that are unsigned whole numbers, by kind."""

LINE_BYTES = 1022
"""Most bytes of a line that opensm reads in one piece, without its break: it reads the rest as another line.

opensm/osm_subnet.c (osm_subn_parse_conf_file: fgets of 1023) of NilsBlach/opensm @3130f6c, and run.
"""

TRUE = "TRUE"
_C_NUMBER = re.compile(r"\s*[+-]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")


class Option(NamedTuple):
    """One key of opensm.conf.

    ``default`` is the text that ``opensm -c`` writes, None where no such file was available. ``legal`` is the range
    that opensm accepts, without the range ``gap``: it replaces other values by ``replaced``. ``choices`` is the same
    for words. ``wire`` is the range of the field on the wire, which opensm does not check, ``safe`` the range that does
    a subnet no harm. ``restart``: SIGHUP does not apply a new value. ``given`` is the form in which an opensm that this
    program runs gets the option. It is empty for an option that this opensm does not get: for the reason ``withheld``,
    or because no list of the table has the key.
    """

    key: str
    kind: Kind
    default: str | None
    unit: str
    restart: bool
    legal: tuple[int, int] | None
    replaced: str | None
    choices: tuple[str, ...]
    wire: tuple[int, int] | None
    safe: tuple[int, int] | None
    secret: bool
    alias: str | None
    only: Flavour | None
    trap: str
    gap: tuple[int, int] | None = None
    given: Given = ""
    withheld: str = ""

    def known_to(self, flavour: Flavour) -> bool:
        """Return whether an opensm of this flavor has the key."""
        return self.only in (None, flavour)


class OptionValue(NamedTuple):
    """An option's value as opensm interprets its text, and the loss; None: it keeps an earlier value, or has none."""

    value: int | bool | str | None
    loss: Loss = ""


def options() -> Mapping[str, Option]:
    """Return all known options of opensm.conf by key, also those that only one flavor of opensm has."""
    return _table()[0]


def option(key: str) -> Option | None:
    """Return the option of a key of opensm.conf, None where no flavor is known to have it; keys are case-sensitive."""
    return options().get(key)


def known_keys(flavour: Flavour) -> tuple[str, ...]:
    """Return the keys of opensm.conf that a flavor of opensm is known to have; NVIDIA's has more than these."""
    return tuple(key for key, definition in options().items() if definition.known_to(flavour))


def engines(flavour: Flavour) -> tuple[str, ...]:
    """Return the known words of ``routing_engine`` of a flavor; later releases of NVIDIA's may have more."""
    return _table()[1][flavour]


def sharp_keys() -> frozenset[str]:
    """Return the keys of sharp_am.cfg of sharp 3.6.0; other releases may have more."""
    return frozenset(_data()["sharp_am"]["keys"])


def gv_keys() -> frozenset[str]:
    """Return the keys of UFM's gv.cfg that public sources name, of any section; UFM has more."""
    return frozenset(key for keys in _data()["gv"].values() for key in keys)


def sharp_range(key: str) -> tuple[int, int] | None:
    """Return the least and the greatest value of a key of sharp_am.cfg, None where no source states them."""
    return _range(_data()["sharp_am"]["range"], key)


def taken(definition: Option, text: str) -> OptionValue:
    """Return the value of an option as opensm interprets its text.

    Of a repeated key, a text without a value leaves the earlier value.
    """
    if definition.kind == "bool":
        return OptionValue(text == TRUE, "" if text in (TRUE, "FALSE") else "silently false")
    if definition.kind == "i32":
        return _signed(definition, text)
    if definition.kind in BITS:
        return _whole_number(definition, text)
    if definition.choices and text not in definition.choices:
        return OptionValue(definition.replaced, "replaced")
    return OptionValue(None if text == "(null)" else text)


def c_number(text: str) -> int | None:
    """Return a number in C's notation with base 0, octal after a leading 0; None where the whole text is not one."""
    match = _C_NUMBER.match(text)
    if match is None or match.end() != len(text):
        return None
    return _from_c(text)


def _from_c(text: str) -> int:
    digits = text.strip().lstrip("+-").lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    return int(digits, base) * (-1 if "-" in text else 1)


def _signed(definition: Option, text: str) -> OptionValue:
    """Return the value of a text that opensm does not check: the low 32 bits of strtol's number, if it is legal."""
    match = _C_NUMBER.match(text)
    number = _from_c(match[0]) if match else 0
    low = (min(max(number, -(2**63)), 2**63 - 1) + 2**31) % 2**32 - 2**31
    loss: Loss = "silently zero" if c_number(text) is None else "" if low == number else "replaced"
    return _within(definition, low, loss)


def _whole_number(definition: Option, text: str) -> OptionValue:
    number = c_number(text)
    if number is None:
        return OptionValue(None, "no number")
    # strtoul has 64 bits, and takes -1 for the largest of them.
    number = number if number >= 0 else number + 2**64
    if not 0 <= number < 2 ** BITS[definition.kind]:
        return OptionValue(None, "too wide")
    return _within(definition, number, "")


def _within(definition: Option, number: int, loss: Loss) -> OptionValue:
    kept = definition.legal is None or definition.legal[0] <= number <= definition.legal[1]
    if not kept or (definition.gap is not None and definition.gap[0] <= number <= definition.gap[1]):
        return OptionValue(int(definition.replaced or 0), "replaced")
    return OptionValue(number, loss)


@cache
def _data() -> dict[str, Any]:
    return read_profile(f"{data_dir('profiles')}/opensm/options.toml")


@cache
def _table() -> tuple[dict[str, Option], dict[str, tuple[str, ...]]]:
    data = _data()
    words = cast("tuple[Given, ...]", get_args(Given))
    given: dict[str, Given] = {key: word for word in words for key in data["given"].get(word, ())}
    withheld = data["given"]["withheld"]
    rows = {
        key: _option(key, row)._replace(given=given.get(key, ""), withheld=withheld.get(key, ""))
        for key, row in data["options"].items()
    }
    return rows, {flavour: tuple(words) for flavour, words in data["engines"].items()}


def _option(key: str, row: Mapping[str, Any]) -> Option:
    return Option(
        key=key,
        kind=row["kind"],
        default=row.get("default"),
        unit=row.get("unit", ""),
        restart=row.get("restart", False),
        legal=_range(row, "legal"),
        replaced=row.get("replaced"),
        choices=tuple(row.get("choices", ())),
        wire=_range(row, "wire"),
        safe=_range(row, "safe"),
        secret=row.get("secret", False),
        alias=row.get("alias"),
        only=row.get("only"),
        trap=row.get("trap", ""),
        gap=_range(row, "gap"),
    )


def _range(row: Mapping[str, Any], name: str) -> tuple[int, int] | None:
    return (row[name][0], row[name][1]) if name in row else None
