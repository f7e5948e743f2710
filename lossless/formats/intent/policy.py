"""PFC, its watchdog, congestion control and buffers: the policies that keep a lossless fabric alive."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import (
    Dscp,
    Duration,
    LazyJsonSchema,
    Model,
    OnOff,
    Percent,
    Priority,
    Rate,
    listed,
    off_or_mapping,
    refused,
    shown,
)
from lossless.model.fabric.routing import UEC_CONTROLS
from lossless.model.fabric.tier import LinkTier


class WatchdogPolicy(Model):
    """The PFC watchdog: how often queues are looked at, how long a storm lasts, when a queue is restored.

    ``restoration`` left out means that a stormed queue stays broken until an operator acts.
    """

    poll: Duration
    detection: Duration
    restoration: Duration | None = None
    action: Literal["drop", "forward", "alert"] = "drop"

    @model_validator(mode="after")
    def _whole_milliseconds(self) -> WatchdogPolicy:
        for name in ("poll", "detection", "restoration"):
            value = getattr(self, name)
            if value is not None and value % 10**6:
                raise refused("switches count in whole milliseconds", name)
        return self


def _watchdog_schema() -> dict[str, Any]:
    """Return the schema of ``off``, or of a watchdog of which a preset may supply a part."""
    schema = WatchdogPolicy.model_json_schema()
    del schema["required"]
    return {"anyOf": [{"enum": ["off", False]}, schema]}


def _some_tiers(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise refused("an empty list; name the tiers with PFC, or state pfc: off where none has it")
    for index, name in enumerate(value):
        if name in value[:index]:
            raise refused(f"{name} occurs twice in the list", index)
    return value


class PfcIntent(Model):
    """Priority flow control. It is on for the lossless classes and for nothing else.

    ``tiers`` names the links with PFC; left out, all have it. On the others neither end pauses: what arrives
    there for a lossless class is counted in groups without headroom, and no watchdog is needed. What leaves
    there keeps its lossless queue, because it may have come in where PFC is on. PFC at super-spines wants to be
    stated (rule PFC008).

    ``asymmetric`` makes ports obey pauses of all eight priorities, while they send them for lossless classes
    alone (PORT|pfc_asym; sonic-swss orchagent/portsorch.cpp @e6b0c5b). Nothing else sets it, and a base that
    does is refused.
    """

    tiers: Annotated[
        Annotated[tuple[LinkTier, ...], AfterValidator(_some_tiers)] | None, BeforeValidator(listed)
    ] = None
    asymmetric: OnOff = False

    watchdog: Annotated[
        WatchdogPolicy | None,
        BeforeValidator(off_or_mapping),
        LazyJsonSchema(_watchdog_schema),
    ] = None


class TelemetryIntent(Model):
    """How pauses are watched: how often counters are collected, and what somebody is told of.

    ``alerts`` left out says nothing about alerts; stated, it names all of them.
    """

    interval: Duration | None = None
    alerts: Annotated[tuple[Literal["watchdog", "pauses"], ...] | None, BeforeValidator(listed)] = None


def off_or_section(value: object) -> object:
    """Return None for ``off``, a mapping as it is, an empty one included."""
    return value if value == {} else off_or_mapping(value)


class DcqcnIntent(Model):
    """DCQCN, by the names ConnectX firmware uses. What is left out comes from the NIC profile.

    ``priorities`` are those it runs on (ROCE_CC_PRIO_MASK); left out, those with PFC.
    Source of names and units: NVIDIA DOCA documentation, DCQCN CC parameters.
    """

    priorities: Annotated[tuple[Priority, ...] | None, BeforeValidator(listed)] = None
    cnp_dscp: Dscp | None = None
    cnp_priority: Priority | None = None
    cnp_interval: Duration | None = Field(default=None, description="min_time_between_cnps")
    dce_tcp_g: int | None = Field(default=None, ge=0, le=1023)
    dce_tcp_rtt: Duration | None = None
    initial_alpha_value: int | None = Field(default=None, ge=1, le=1023)
    rate_to_set_on_first_cnp: Rate | None = None
    rpg_min_dec_fac: Percent | None = None
    rpg_min_rate: Rate | None = None
    rpg_gd: int | None = Field(default=None, ge=0, le=15)
    rate_reduce_monitor_period: Duration | None = None
    clamp_tgt_rate: bool | None = None
    clamp_tgt_rate_after_time_inc: bool | None = None
    rpg_time_reset: Duration | None = None
    rpg_byte_reset: int | None = Field(default=None, ge=0, le=32767)
    rpg_threshold: int | None = Field(default=None, ge=1, le=31)
    rpg_max_rate: Rate | None = None
    rpg_ai_rate: Rate | None = None
    rpg_hai_rate: Rate | None = None


class CongestionControlIntent(Model):
    """How senders slow down: ``dcqcn``, ``pfc-only`` as a stated policy; with transport uec a window or credit."""

    kind: Literal["dcqcn", "pfc-only", "nscc", "rccc", "both"]
    dcqcn: DcqcnIntent = DcqcnIntent.model_construct()


_CONTROLS = ("dcqcn", "pfc-only", *UEC_CONTROLS)


def _congestion_control(value: Any) -> Any:
    if value in _CONTROLS:
        return {"kind": value}
    if isinstance(value, dict) and set(value) == {"dcqcn"}:
        return {"kind": "dcqcn", "dcqcn": value["dcqcn"] if value["dcqcn"] is not None else {}}
    if isinstance(value, dict) and value:
        other = next(key for key in value if key != "dcqcn")
        raise refused(f"unknown key {shown(other)}; there is only dcqcn", other, at_key=True)
    raise refused(
        f"expected dcqcn, a mapping with the one key dcqcn, pfc-only, or with transport uec nscc, rccc or both; found "
        f"{shown(value)}"
    )


def _congestion_control_schema() -> dict[str, Any]:
    parameters = {"anyOf": [DcqcnIntent.model_json_schema(), {"type": "null"}]}
    mapping = {
        "type": "object",
        "additionalProperties": False,
        "required": ["dcqcn"],
        "properties": {"dcqcn": parameters},
    }
    return {"anyOf": [{"enum": [*_CONTROLS]}, mapping]}


CongestionControlField = Annotated[
    CongestionControlIntent,
    BeforeValidator(_congestion_control),
    LazyJsonSchema(_congestion_control_schema),
]


def _ratio(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise refused(
            f"{shown(value)} is not an oversubscription ratio; write 1 or more, as in 1.5 for 1.5:1"
        )
    return float(value)


Ratio = Annotated[
    float,
    BeforeValidator(_ratio),
    WithJsonSchema({"type": "number", "minimum": 1, "description": "1.5 means 1.5:1"}),
]

RATIO_TIERS = ("leaf", "spine")
"""The tiers with links that go up."""


def _ratios(value: Any) -> Any:
    """Return the ratio of each tier: one number is that of all."""
    if not isinstance(value, dict):
        return dict.fromkeys(RATIO_TIERS, _ratio(value))
    if not value:
        raise refused("an empty mapping; write a ratio, or one for each tier")
    for tier in value:
        if tier not in RATIO_TIERS:
            raise refused(
                f"{shown(tier)} is no tier with uplinks; there are leaf and spine", tier, at_key=True
            )
    return value


_RATIO_SCHEMA = {"type": "number", "minimum": 1, "description": "1.5 means 1.5:1"}
TierRatios = Annotated[
    dict[str, Ratio],
    BeforeValidator(_ratios),
    WithJsonSchema(
        {
            "anyOf": [
                _RATIO_SCHEMA,
                {
                    "type": "object",
                    "minProperties": 1,
                    "properties": dict.fromkeys(RATIO_TIERS, _RATIO_SCHEMA),
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
"""Ratios by tier; a tier that is left out has 1:1."""
