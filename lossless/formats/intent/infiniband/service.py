"""Intent sections on the services of an InfiniBand subnet: service levels, partitions, SHARP, and the jobs.

All sections of an InfiniBand intent share the types defined here: named rates, GUIDs, and keys of files.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from lossless.formats.intent.base import (
    BLANKS,
    BUNDLE_PATTERN,
    MAX_BUNDLE,
    Count,
    Model,
    OnOff,
    listed,
    quantity_schema,
    refused,
    shown,
    whole_number,
    whole_pattern,
)
from lossless.formats.intent.wiring import Name
from lossless.ground.basics import units
from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.units import nearest, suggestion
from lossless.model.fabric.infiniband.subnet import Membership

RateName = Literal["QDR", "FDR", "EDR", "HDR100", "HDR", "NDR200", "NDR", "XDR"]
RATE_GBPS: dict[RateName, int] = {
    "QDR": 40,
    "FDR": 56,
    "EDR": 100,
    "HDR100": 100,
    "HDR": 200,
    "NDR200": 200,
    "NDR": 400,
    "XDR": 800,
}
"""InfiniBand link rates by name, slowest generation first, in Gb/s one way."""
RATE_NAMES: tuple[str, ...] = tuple(RATE_GBPS)
_OLDER = ("SDR", "DDR", "FDR10")
_A_SLIP = 0.7
"""Least likeness of a slip of the keyboard: two names of generations, such as FDR and XDR, resemble each other less."""
_LINKS = re.compile(rf"{BLANKS}([0-9]{{1,{units.LONGEST_QUANTITY}}}){BLANKS}[x×]{BLANKS}(\S+){BLANKS}")
_HEX64 = re.compile(r"0[xX][0-9A-Fa-f]{1,16}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{4}(:[0-9A-Fa-f]{4}){3}")
MOST_64_BITS = 2**64 - 1


def _rated_links(value: object) -> tuple[int, str]:
    match = (
        _LINKS.fullmatch(value) if isinstance(value, str) and len(value) <= units.LONGEST_QUANTITY else None
    )
    if match is None or int(match[1]) == 0:
        raise refused(f"{shown(value)} does not say how many links of which rate; write it like 2 x NDR")
    if match[2] in _OLDER:
        raise refused(
            f"{match[2]} is a rate of InfiniBand below those that are known here: {', '.join(RATE_NAMES)}"
        )
    if match[2] not in RATE_NAMES:
        raise refused(f"{match[2]} is no known rate of InfiniBand{_meant(match[2])}")
    if int(match[1]) > MAX_BUNDLE:
        raise refused(f"{int(match[1]):,} links in one bundle; the most is {MAX_BUNDLE:,}")
    return int(match[1]), match[2]


def _meant(rate: str) -> str:
    """Return a hint for messages: the names of a rate that is written as ``400G`` or ``NDR400``, else valid names."""
    in_gbps = re.fullmatch(r"[A-Z]DR([0-9]{2,4})", rate)
    try:
        rate_bps = units.parse_rate(f"{in_gbps[1]}G" if in_gbps else rate)
    except QuantityError:
        near = nearest(rate, RATE_NAMES, _A_SLIP)
        return suggestion(rate, RATE_NAMES, most=None) if near else suggestion("", RATE_NAMES, most=None)
    names = [name for name, gbps in RATE_GBPS.items() if gbps * 10**9 == rate_bps]
    return f"; that of {rate} is {' or '.join(names)}" if names else suggestion("", RATE_NAMES, most=None)


RatedLinks = Annotated[
    tuple[int, str],
    BeforeValidator(_rated_links),
    quantity_schema("2 x NDR", whole_pattern(rf"{BUNDLE_PATTERN}{BLANKS}(?:{'|'.join(RATE_NAMES)})")),
]


def number_64(value: object) -> int:
    """Return a number of 64 bits: in hexadecimal, as four groups, or as YAML reads it.

    Raises:
        PydanticCustomError: the value is not a number of 64 bits.
    """
    if isinstance(value, str) and _HEX64.fullmatch(value):
        return int(value.replace(":", ""), 16)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_64_BITS:
        raise refused(f"{shown(value)} is no number of 64 bits; write it like 0x0002c90300a1b2c3")
    return value


def _guid(value: object) -> int:
    guid = number_64(value)
    if guid == 0:
        raise refused("0 is no GUID: opensm takes it as not given")
    return guid


def _hexadecimal(least: int, ahead: str = "") -> WithJsonSchema:
    pattern = rf"^{ahead}(?:{_HEX64.pattern})$(?!\n)"
    return WithJsonSchema({"type": ["string", "integer"], "minimum": least, "pattern": pattern})


Number64 = Annotated[int, BeforeValidator(number_64), _hexadecimal(0)]
Guid = Annotated[int, BeforeValidator(_guid), _hexadecimal(1, "(?=.*[1-9A-Fa-f])")]


def _option_text(value: object) -> str:
    """Return a value as the text of opensm.conf: TRUE and FALSE for booleans."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        raise refused(
            f"{shown(value)} is spelled differently in every file; write it in quotes, as the file spells it"
        )
    if not isinstance(value, int | str):
        raise refused(f"expected one value, found {shown(value)}")
    text = str(value)
    if "\n" in text or "\r" in text:
        raise refused("a value is one line")
    return text


OptionText = Annotated[
    str, BeforeValidator(_option_text), WithJsonSchema({"type": ["string", "integer", "boolean"]})
]
"""The value of a key of opensm.conf: true and false of YAML become TRUE and FALSE, the words that opensm takes."""
SettingText = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": ["string", "integer"]})]
"""The value of a key of a file that is written unchanged; no booleans, since each file spells them differently."""


def _word(value: object) -> object:
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,62}", value) is None:
        raise refused(f"{shown(value)} is no key; expected letters, digits, '_', '.' and '-'")
    return value


SettingKey = Annotated[str, BeforeValidator(_word)]


def _variable(value: object) -> object:
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", value) is None:
        raise refused(f"{shown(value)} is no name of an environment variable: keys are never written here")
    return value


Variable = Annotated[
    str,
    BeforeValidator(_variable),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"}),
]
ServiceLevel = Annotated[int, *whole_number(0, 15, "an SL")]
DataVl = Annotated[int, *whole_number(0, 14, "a data VL")]
"""A data VL, 0 to 14; VL15 carries management and is in no table (InfiniBand specification, 3.5.7)."""
ArbitrationWeight = Annotated[int, *whole_number(0, 255, "a weight")]


_VLS = (1, 2, 4, 8, 15)


class QosLevel(Model):
    """A level of service: packets of its SL use its VL. A VL is in an arbitration table if it has a weight there."""

    sl: ServiceLevel
    """Service level of its packets, 0 to 15. Example: `1`"""
    vl: DataVl
    """Virtual lane that they use, 0 to 14. Example: `1`"""
    high: ArbitrationWeight | None = None
    """Weight of the lane in the high table, in steps of 64 bytes. Left out: it is not in that table. Example: `64`"""
    low: ArbitrationWeight | None = None
    """Weight of the lane in the low table, in steps of 64 bytes. Left out: it is not in that table. Example: `64`"""


class SubnetQos(Model):
    """Levels of service. The level ``rest`` has the VL that SLs of no level use; left out, that of SL 0, if any."""

    vls: Annotated[int, WithJsonSchema({"enum": list(_VLS)})] | None = None
    """How many data VLs ports use. Left out: opensm's own, as many as they have. Example: `4`"""
    levels: dict[Name, QosLevel] = Field(min_length=1)
    """Levels of service by name. Example: `{compute: {sl: 0, vl: 0, high: 192, low: 64}}`"""
    rest: str | None = None
    """The level whose VL is used by SLs that no level names. Left out: that of SL 0; without one they are dropped.
    Example: `compute`
    """
    high_limit: Annotated[int, *whole_number(0, 255, "a high limit")] | None = None
    """How much of the high table is sent before the low one has its turn, 0 to 255; 255 is no limit. Left out: opensm's
    own.
    Example: `255`
    """

    @field_validator("vls")
    @classmethod
    def _a_count_that_ports_know(cls, value: int | None) -> int | None:
        if value is not None and value not in _VLS:
            raise refused(f"ports use 1, 2, 4, 8 or 15 data VLs, not {value}")
        return value

    @model_validator(mode="after")
    def _one_level_an_sl(self) -> SubnetQos:
        owners: dict[int, str] = {}
        for name, level in self.levels.items():
            first = owners.setdefault(level.sl, name)
            if first != name:
                raise refused(f"SL {level.sl} is already that of {first}", "levels", name, "sl")
        if self.rest is not None and self.rest not in self.levels:
            raise refused(f"{shown(self.rest)} is none of the levels: {', '.join(self.levels)}", "rest")
        return self


Members = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else listed(value)),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""Hosts (``host[1-16]``), HCAs (``host1:mlx5_0``), roles (``@storage``), GUIDs, or opensm's words (``ALL_CAS``)."""
Pkey = Annotated[int, *whole_number(0, 0xFFFF, "a P_Key")]
MtuBytes = Literal[256, 512, 1024, 2048, 4096]


class PartitionMembers(Model):
    """Members by membership: ``full`` members communicate with all, ``limited`` ones with full members alone."""

    full: Members = ()
    """Full members, which talk to all: hosts, HCAs, `@` and a role, GUIDs, or opensm's words. Left out: none.
    Example: `["host[1-16]", "host17:mlx5_0"]`
    Example: `"@compute"`
    Example: `[ALL_CAS, SELF]`
    """
    limited: Members = ()
    """Limited members, which talk to full members alone: hosts, HCAs, `@` and a role, GUIDs, or opensm's words. Left
    out: none.
    Example: `["host[1-16]", "host17:mlx5_0"]`
    Example: `"@compute"`
    Example: `[ALL_CAS, SELF]`
    """
    both: Members = ()
    """Members with both memberships: hosts, HCAs, `@` and a role, GUIDs, or opensm's words. Left out: none.
    Example: `["host[1-16]", "host17:mlx5_0"]`
    Example: `"@compute"`
    Example: `[ALL_CAS, SELF]`
    """


class PartitionChoice(Model):
    """A partition. ``level`` names the level of service of its traffic, or ``sl`` gives its number."""

    pkey: Pkey
    """P_Key; opensm uses its low 15 bits. 0x7fff is the default partition. Example: `0x7fff` Example: `1`"""
    members: PartitionMembers
    """Who belongs to it, by membership. Example: `{full: "@storage", limited: "@compute"}`"""
    ipoib: OnOff = False
    """Whether IP over InfiniBand has a broadcast group in it."""
    rate: RateName | None = None
    """Rate of its multicast group. Left out: opensm's own. Example: `HDR`"""
    mtu: MtuBytes | None = None
    """MTU of its multicast group, in bytes. Left out: opensm's own. Example: `4096`"""
    level: str | None = None
    """Level of service of its traffic, by name. Left out: `sl`, else SL 0. Example: `storage`"""
    sl: ServiceLevel | None = None
    """Service level of its traffic by number, 0 to 15. Left out: that of `level`, else 0. Example: `1`"""
    index0: OnOff = False
    """Whether it takes index 0 of the P_Key tables of ports, which is that of the default partition."""
    default: Membership = "limited"
    """Membership of whoever states none."""

    @model_validator(mode="after")
    def _level_or_sl(self) -> PartitionChoice:
        if self.level is not None and self.sl is not None:
            raise refused("give either level or sl, not both", "sl", at_key=True)
        return self


class SharpChoice(Model):
    """Reductions in the switches: host of the aggregation manager, number of trees and jobs, and hosts that take part.

    ``needs`` is the generation of SHARP that the jobs need. ``settings`` are keys of sharp_am.cfg in its own spelling.
    """

    manager: str
    """The host or switch on which the aggregation manager runs. Example: `sm1`"""
    trees: Count | None = None
    """How many trees are meant. Left out: nothing is said of them. Example: `8`"""
    jobs: Count | None = None
    """How many jobs are meant to use it at a time. Left out: nothing is said of them. Example: `4`"""
    hosts: Members = ("@compute",)
    """Hosts that take part. Left out: all compute hosts. Example: `"@compute"`"""
    exclude: Members = ()
    """Hosts that do not take part, storage for example. Left out: none. Example: `"@storage"`"""
    needs: Annotated[int, *whole_number(1, 4, "a generation of SHARP")] | None = None
    """Generation of SHARP that jobs need, 1 to 4. Left out: any will do. Example: `3`"""
    settings: dict[SettingKey, SettingText] = Field(default_factory=dict)
    """Keys of sharp_am.cfg, as that file spells them. Left out: the aggregation manager's own defaults hold.
    Example: `{max_trees_to_build: 126}`
    """


class JobsIntent(Model):
    """Settings of jobs: their service level and partition, and further environment variables."""

    level: str | None = None
    """Level of service that jobs use, by name. Left out: they are not told. Example: `compute`"""
    partition: str | None = None
    """Partition that jobs use, by name. Left out: they are not told. Example: `compute`"""
    environment: dict[Variable, SettingText] = Field(default_factory=dict)
    """Variables of their environment, as jobs read them. Left out: only what follows from the rest.
    Example: `{NCCL_IB_HCA: "=mlx5_0:1,mlx5_1:1"}`
    """
