"""What a subnet offers: levels of service, partitions, reductions in the switches, and what jobs are told of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from lossless.formats.intent.base import Count, Model, OnOff, listed, refused, shown, small_number
from lossless.formats.intent.infiniband.base import (
    ArbitrationWeight,
    DataVl,
    RateName,
    ServiceLevel,
    SettingKey,
    SettingText,
    Variable,
)
from lossless.formats.intent.wiring import Name

_VLS = (1, 2, 4, 8, 15)


class QosLevel(Model):
    """A level of service: packets of its SL use its VL. A weight that is left out keeps it out of that table."""

    sl: ServiceLevel
    vl: DataVl
    high: ArbitrationWeight | None = None
    low: ArbitrationWeight | None = None


class SubnetQos(Model):
    """Levels of service. SLs that no level names use the VL of ``rest``, or that of SL 0 where it is left out."""

    vls: Annotated[int, WithJsonSchema({"enum": list(_VLS)})] | None = None
    levels: dict[Name, QosLevel] = Field(min_length=1)
    rest: str | None = None
    high_limit: (
        Annotated[
            int,
            small_number(0, 255, "a high limit"),
            WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 255}),
        ]
        | None
    ) = None

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
Pkey = Annotated[
    int,
    small_number(0, 0xFFFF, "a P_Key"),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 0xFFFF}),
]
MtuBytes = Literal[256, 512, 1024, 2048, 4096]


class PartitionMembers(Model):
    """Members by membership: ``full`` talk to all, ``limited`` to full members alone."""

    full: Members = ()
    limited: Members = ()
    both: Members = ()


class PartitionChoice(Model):
    """A partition. ``level`` names the level of service of its traffic, or ``sl`` gives its number."""

    pkey: Pkey
    members: PartitionMembers
    ipoib: OnOff = False
    rate: RateName | None = None
    mtu: MtuBytes | None = None
    level: str | None = None
    sl: ServiceLevel | None = None
    index0: OnOff = False
    default: Literal["full", "limited", "both"] = "limited"

    @model_validator(mode="after")
    def _level_or_sl(self) -> PartitionChoice:
        if self.level is not None and self.sl is not None:
            raise refused("give either level or sl, not both", "sl", at_key=True)
        return self


class SharpChoice(Model):
    """Reductions in the switches: where the aggregation manager runs, how many trees and jobs, who takes part.

    ``needs`` is the generation of SHARP that the jobs need. ``settings`` are keys of sharp_am.cfg as they stand there.
    """

    manager: str
    trees: Count | None = None
    jobs: Count | None = None
    hosts: Members = ("@compute",)
    exclude: Members = ()
    needs: (
        Annotated[
            int,
            small_number(1, 4, "a generation of SHARP"),
            WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 4}),
        ]
        | None
    ) = None
    settings: dict[SettingKey, SettingText] = Field(default_factory=dict)


class JobsIntent(Model):
    """What jobs are told: the level and partition they use, and variables as they stand in their environment."""

    level: str | None = None
    partition: str | None = None
    environment: dict[Variable, SettingText] = Field(default_factory=dict)
