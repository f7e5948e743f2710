"""Intent sections on PFC, its watchdog, telemetry and congestion control; ranks of the values of a class.

The ranks are device before tier before speed before fabric. The class sections ``pg``, ``ecn``, ``buffer`` and
``queue`` have values for all switches, with exceptions: ``by_speed`` for links of one speed, ``by_tier`` for the
switches of one role, ``by_device`` for single switches. Within a tier or a device ``by_speed`` makes exceptions too.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Protocol, Self, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import (
    DURATION_PATTERN,
    Dscp,
    Duration,
    FrameSize,
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
    whole_milliseconds,
)
from lossless.ground.basics.findings import Path
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import parse_rate, suggestion
from lossless.ground.documents.text import Document
from lossless.model.fabric.model import SWITCH_ROLES, CongestionKind, LinkTier
from lossless.model.fabric.qos import WatchdogAction


def tier_name(name: str) -> str:
    """Return the name of a switch role unchanged.

    Raises:
        PydanticCustomError: the name is not a role.
    """
    if name not in SWITCH_ROLES:
        hint = suggestion(name, [*SWITCH_ROLES], most=None)
        raise refused(f"{shown(name)} is no role of a switch{hint}", at_key=True)
    return name


def exceptions_schema(pattern: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of exceptions, a mapping whose keys (tiers, devices, speeds) match a pattern."""
    return {
        "type": "object",
        "minProperties": 1,
        "patternProperties": {pattern: entry},
        "additionalProperties": False,
    }


TIER_PATTERN = f"^({'|'.join(SWITCH_ROLES)})$"
TierName = Annotated[
    str, AfterValidator(tier_name), WithJsonSchema({"type": "string", "pattern": TIER_PATTERN})
]
"""A switch role as a key of ``by_tier``."""


NEVER = "never"
"""The restoration time of an exception by which a stormed queue stays stopped until an operator restores it."""


def _milliseconds(value: object) -> object:
    return whole_milliseconds(value, "switches")


def _restoration(value: object) -> object:
    return None if value == NEVER else _milliseconds(value)


_Milliseconds = Annotated[
    int | None,
    BeforeValidator(_milliseconds),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN}),
]


class WatchdogException(Model):
    """Settings of the watchdog that differ at some ports; a key left out has the value of the switch's other ports."""

    detection: _Milliseconds = None
    """How long a queue is paused without a break until it counts as stormed, in whole milliseconds, with its unit. Left
    out: as at all others.
    Example: `600ms`
    """
    restoration: Annotated[
        int | None,
        BeforeValidator(_restoration),
        WithJsonSchema({"anyOf": [{"enum": [NEVER]}, {"type": "string", "pattern": DURATION_PATTERN}]}),
    ] = None
    """The restoration time of a stormed queue, in whole milliseconds, with its unit; `never` leaves it stopped until an
    operator restores it. Left out: as at all others.
    Example: `600ms`
    Example: `never`
    """
    action: WatchdogAction | None = None
    """Action on packets of a stormed queue: `drop`, `forward` or `alert`. Left out: as at all others."""


class WatchdogTier(WatchdogException):
    """Settings of the watchdog on the switches of one role; a key left out has the value of the other switches."""

    poll: _Milliseconds = None
    """Polling interval of queues there, in whole milliseconds, with its unit. Left out: as on all other switches.
    Example: `200ms`
    """

    @model_validator(mode="after")
    def _some_setting(self) -> Self:
        if not self.model_fields_set:
            raise refused("an empty mapping; name what differs on these switches")
        return self


class WatchdogPolicy(Model):
    """The PFC watchdog: its polling interval, the detection time of a storm, and the restoration time of a queue.

    ``restoration`` left out means that a stormed queue stays broken until an operator acts. ``by_tier`` has the roles
    of switches with settings of their own, and ``exceptions`` of the intent those of single ports, which come first.
    """

    poll: Duration
    """Polling interval of queues, in whole milliseconds, with its unit. Required, unless the preset gives it.
    Example: `600ms`
    """
    detection: Duration
    """How long a queue is paused without a break until it counts as stormed, in whole milliseconds, with its unit.
    Required, unless the preset gives it.
    Example: `1200ms`
    """
    restoration: Duration | None = None
    """How long a stormed queue stays free of pauses until it is restored, in whole milliseconds, with its unit. Left
    out: it stays stopped until an operator restores it.
    Example: `1200ms`
    """
    action: WatchdogAction = "drop"
    """Action on packets of a stormed queue: `drop` or `forward` them, or only raise an `alert`."""
    by_tier: Annotated[
        dict[TierName, WatchdogTier],
        LazyJsonSchema(lambda: exceptions_schema(TIER_PATTERN, WatchdogTier.model_json_schema())),
    ] = Field(default_factory=dict, min_length=1)
    """Settings of the switches of one role that differ, as a longer detection above the leaves, so that the switch next
    to a stuck NIC triggers first (rule WD018). Left out: none.
    Example: `{spine: {detection: 1800ms}}`
    """

    @model_validator(mode="after")
    def _whole_milliseconds(self) -> Self:
        for name in ("poll", "detection", "restoration"):
            value = getattr(self, name)
            if value is not None and value % 10**6:
                raise refused("switches count in whole milliseconds", name)
        return self


class PortException(Model):
    """Settings of one port that differ from those of all ports; a key left out has the value of the other ports."""

    mtu: FrameSize | None = None
    """Largest IP packet in bytes that the port carries, without the Ethernet header. NICs at the port send no larger
    packets. Left out: that of the fabric.
    Example: `1500`
    """
    asymmetric: OnOff | None = None
    """Whether the port obeys pauses of all priorities. Left out: as `pfc.asymmetric` says. Example: `on`"""
    watchdog: Annotated[
        WatchdogException | None,
        BeforeValidator(off_or_mapping),
        LazyJsonSchema(lambda: {"anyOf": [{"enum": ["off", False]}, WatchdogException.model_json_schema()]}),
    ] = None
    """Settings of the PFC watchdog there; `off` for none. Left out: those of `pfc.watchdog`.
    Example: `{detection: 600ms}`
    """


def _watchdog_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``off`` or a watchdog, whose keys are not required: a preset may supply them."""
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

    ``tiers`` lists the tiers of links with PFC; left out, all. On other links neither end pauses: packets of a lossless
    class that arrive there are counted in groups without headroom, and no watchdog is needed. Packets that leave there
    keep their lossless queue, because they may have come in where PFC is on. Without ``tiers`` rule PFC008
    warns of PFC at super-spines.

    ``asymmetric`` makes ports obey pauses of all eight priorities, while they send them for lossless classes
    alone (PORT|pfc_asym; sonic-swss orchagent/portsorch.cpp @e6b0c5b). A base that sets it at ports of the intent is
    refused where this key is off.
    """

    tiers: Annotated[
        Annotated[tuple[LinkTier, ...], AfterValidator(_some_tiers)] | None, BeforeValidator(listed)
    ] = None
    """Which links pause: `hosts`, `uplinks` (of leaves), `spine_uplinks`, `links` (of a torus), `local_links` and
    `global_links` (of groups). On others lossless packets can be dropped. Left out: all.
    Example: `[hosts, uplinks]`
    """
    asymmetric: OnOff = False
    """Whether ports obey pauses of all priorities and send their own. Left out: off. Example: `on`"""

    watchdog: Annotated[
        WatchdogPolicy | None,
        BeforeValidator(off_or_mapping),
        LazyJsonSchema(_watchdog_schema),
    ] = None
    """The PFC watchdog, which ends storms; `off` for none. Left out: none, unless the preset gives one.
    Example: `{poll: 600ms, detection: 1200ms, restoration: 1200ms, action: drop}`
    """


class TelemetryIntent(Model):
    """Monitoring of pauses: how often counters are collected, and which events raise an alert.

    ``alerts`` left out declares nothing about alerts; otherwise it lists all of them.
    """

    interval: Duration | None = None
    """How often counters are collected, with its unit. Left out: not declared. Example: `5s`"""
    alerts: Annotated[tuple[Literal["watchdog", "pauses"], ...] | None, BeforeValidator(listed)] = None
    """Events that raise an alert: `watchdog` (storms), `pauses`. Left out: not declared.
    Example: `[watchdog, pauses]`
    """


def off_or_section(value: object) -> object:
    """Return None for a section that is ``off`` or false, and a mapping unchanged, also an empty one.

    Raises:
        PydanticCustomError: the value is neither.
    """
    return value if value == {} else off_or_mapping(value)


class DcqcnIntent(Model):
    """DCQCN parameters by the names of ConnectX firmware. A parameter that is left out comes from the NIC profile.

    ``priorities`` are those it runs on (ROCE_CC_PRIO_MASK); left out, those with PFC.
    Source of names and units: NVIDIA DOCA documentation, DCQCN CC parameters.
    """

    priorities: Annotated[tuple[Priority, ...] | None, BeforeValidator(listed)] = None
    """Priorities that DCQCN runs on (ROCE_CC_PRIO_MASK). Left out: those with PFC. Example: `[3]`"""
    cnp_dscp: Dscp | None = None
    """DSCP of congestion notifications, 0 to 63. Left out: that of the class `cnp`, else the NIC's own.
    Example: `48`
    """
    cnp_priority: Priority | None = None
    """Priority of congestion notifications, 0 to 7. Left out: that of the class their DSCP belongs to. Example: `6`"""
    cnp_interval: Duration | None = Field(default=None, description="min_time_between_cnps")
    """Least time between two CNPs, of a flow or of a port as the firmware has it, in whole microseconds, with its unit
    (min_time_between_cnps). Left out: that of the NIC profile.
    Example: `4us`
    """
    dce_tcp_g: int | None = Field(default=None, ge=0, le=1023)
    """Weight of the previous alpha at an update, in 1/1024, from 0 to 1023 (rule NIC006). Left out: that of the NIC
    profile.
    Example: `1019`
    """
    dce_tcp_rtt: Duration | None = None
    """Period of alpha's updates, in whole microseconds, with its unit. Left out: that of the NIC profile.
    Example: `1us`
    """
    initial_alpha_value: int | None = Field(default=None, ge=1, le=1023)
    """Alpha of a new flow, in 1/1024, from 1 to 1023. Left out: that of the NIC profile. Example: `1023`"""
    rate_to_set_on_first_cnp: Rate | None = None
    """Rate a flow falls to on its first CNP, in whole Mb/s, with its unit; 0M leaves it. Left out: that of the NIC
    profile.
    Example: `0M`
    """
    rpg_min_dec_fac: Percent | None = None
    """Least share of a rate that one cut leaves, in whole percent. Left out: that of the NIC profile. Example: `50%`"""
    rpg_min_rate: Rate | None = None
    """Least rate of a flow, in whole Mb/s, with its unit. Left out: that of the NIC profile. Example: `1M`"""
    rpg_gd: int | None = Field(default=None, ge=0, le=15)
    """By how much alpha is divided when a rate is cut, as a power of two. Left out: that of the NIC profile.
    Example: `11`
    """
    rate_reduce_monitor_period: Duration | None = None
    """Least time between two cuts of a rate, in whole microseconds, with its unit. Left out: that of the NIC profile.
    Example: `4us`
    """
    clamp_tgt_rate: bool | None = None
    """Whether every CNP sets the target rate to the current one. Left out: as the NIC profile has it."""
    clamp_tgt_rate_after_time_inc: bool | None = None
    """The same after the first increase by time alone. Left out: as the NIC profile has it."""
    rpg_time_reset: Duration | None = None
    """Time between two increases of a rate, in whole microseconds, with its unit. Left out: that of the NIC profile.
    Example: `300us`
    """
    rpg_byte_reset: int | None = Field(default=None, ge=0, le=32767)
    """Bytes sent between two increases, as firmware counts them (sources disagree on the unit), 0 for off. Left out:
    that of the NIC profile.
    Example: `32767`
    """
    rpg_threshold: int | None = Field(default=None, ge=1, le=31)
    """Increases after which a flow recovers faster, from 1 to 31. Left out: that of the NIC profile. Example: `1`"""
    rpg_max_rate: Rate | None = None
    """Largest rate of a flow, in whole Mb/s, with its unit; 0M is line rate. Left out: that of the NIC profile.
    Example: `0M`
    """
    rpg_ai_rate: Rate | None = None
    """Step of additive increase, in whole Mb/s, with its unit. Left out: that of the NIC profile. Example: `5M`"""
    rpg_hai_rate: Rate | None = None
    """Step of hyper-active increase, in whole Mb/s, with its unit. Left out: that of the NIC profile. Example: `50M`"""


class CongestionControlIntent(Model):
    """Congestion control: ``dcqcn``, or ``pfc-only`` as a stated policy; with transport uec a window or credit."""

    kind: CongestionKind
    dcqcn: DcqcnIntent = DcqcnIntent.model_construct()
    """DCQCN parameters by the names of ConnectX firmware; a parameter that is left out comes from the NIC profile."""


_CONTROLS: tuple[CongestionKind, ...] = get_args(CongestionKind)


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
    from lossless.formats.intent.key_docs import documented

    parameters = {"anyOf": [DcqcnIntent.model_json_schema(), {"type": "null"}]}
    mapping = {
        "type": "object",
        "additionalProperties": False,
        "required": ["dcqcn"],
        "properties": documented({"dcqcn": parameters}, CongestionControlIntent),
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


_RATIO_SCHEMA = {"type": "number", "minimum": 1, "description": "1.5 means 1.5:1"}
Ratio = Annotated[float, BeforeValidator(_ratio), WithJsonSchema(_RATIO_SCHEMA)]

RATIO_TIERS = ("leaf", "spine")
"""The tiers whose switches have uplinks."""


def _ratios(value: Any) -> Any:
    """Return the oversubscription ratios by tier; a single number applies to leaves and spines."""
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
                    "properties": {
                        tier: {
                            **_RATIO_SCHEMA,
                            "documentation": f"The accepted ratio of a {tier}. Left out: 1. Example: `2`",
                        }
                        for tier in RATIO_TIERS
                    },
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
"""Oversubscription ratios by tier; a tier that is left out has 1:1."""


_Values = TypeVar("_Values", covariant=True)
CLASS_SECTIONS = ("pg", "ecn", "buffer", "queue")
"""The sections of a class whose values have exceptions by speed, tier and device."""


class BySpeed(Protocol[_Values]):
    """Values of a class section for ports of all speeds, None where there are none, and exceptions by port speed."""

    @property
    def values(self) -> _Values | None:
        """The values for ports of all speeds."""

    @property
    def by_speed(self) -> Mapping[int, _Values]:
        """The values for ports of one speed, by the speed in b/s."""


class Ranked(BySpeed[_Values], Protocol[_Values]):
    """Values of a class section for all switches, with exceptions by switch role and by switch name."""

    @property
    def by_tier(self) -> Mapping[str, BySpeed[_Values]]:
        """The exceptions for the switches of one role, by role."""

    @property
    def by_device(self) -> Mapping[str, BySpeed[_Values]]:
        """The exceptions for single switches, by switch name."""


class ClassPlace(NamedTuple):
    """The ports of one speed on a switch, by which the values of a class are looked up.

    ``device`` is the name of the switch, empty where no exception names it; ``role`` is its role.
    """

    device: str
    role: str
    speed_bps: int


def statements(policy: Ranked[_Values], place: ClassPlace) -> Iterator[tuple[_Values, Path]]:
    """Yield the values of a class section for the ports of a place, highest rank first, each with its path below it."""
    for key, layers, name in (
        ("by_device", policy.by_device, place.device),
        ("by_tier", policy.by_tier, place.role),
    ):
        if name in layers:
            yield from _by_speed(layers[name], (key, name), place.speed_bps)
    yield from _by_speed(policy, (), place.speed_bps)


def _by_speed(layer: BySpeed[_Values], path: Path, speed_bps: int) -> Iterator[tuple[_Values, Path]]:
    if speed_bps in layer.by_speed:
        yield layer.by_speed[speed_bps], (*path, "by_speed", speed_bps)
    if layer.values is not None:
        yield layer.values, path


def everywhere(policy: Ranked[_Values]) -> Iterator[tuple[_Values, Path]]:
    """Yield every declared value of a class section, each with its path below the section; speeds are in b/s."""
    layers: list[tuple[BySpeed[_Values], Path]] = [(policy, ())]
    layers += [(layer, ("by_tier", name)) for name, layer in policy.by_tier.items()]
    layers += [(layer, ("by_device", name)) for name, layer in policy.by_device.items()]
    for layer, path in layers:
        if layer.values is not None:
            yield layer.values, path
        yield from ((values, (*path, "by_speed", speed_bps)) for speed_bps, values in layer.by_speed.items())


def as_written(document: Document, path: Path) -> Path:
    """Return a path in an intent with link speeds as the file spells them, since 400G and 400 Gb/s are the same key."""
    written_path: Path = ()
    for at, key in enumerate(path):
        if at and path[at - 1] == "by_speed":
            keys = mapping_keys(document, written_path)
            key = next((written for written in keys if parse_rate(written) == key), key)
        written_path = (*written_path, key)
    return written_path


def speed_mappings(document: Document, class_name: str) -> Iterator[Path]:
    """Yield the paths of the ``by_speed`` mappings of a class, also of those that are not written."""
    for section in CLASS_SECTIONS:
        path: Path = ("classes", class_name, section)
        layers = [
            (*path, key, name)
            for key in ("by_tier", "by_device")
            for name in mapping_keys(document, (*path, key))
        ]
        yield from ((*layer, "by_speed") for layer in (path, *layers))


def mapping_keys(document: Document, path: Path) -> list[str]:
    """Return the keys of the mapping at a path of a document as written; empty where there is no mapping."""
    value: object = document.data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return list(value) if isinstance(value, dict) else []
