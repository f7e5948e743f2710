"""The whole intent of a fabric, one versioned document, with its sections on buffers, trimming and SONiC.

Buffers are the buffer model, pool sizes and shared headroom. Trimming has the classes whose packets are cut where a
queue has no room, their size, and their new class. SONiC settings are the release, and choices that may differ from
one role to another.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import (
    LEAST_MTU,
    FrameSize,
    Model,
    OnDemand,
    Percent,
    Size,
    listed,
    refused,
    shown,
)
from lossless.formats.intent.classes import ClassName, TrafficClassIntent
from lossless.formats.intent.hosts import HostsIntent
from lossless.formats.intent.jobs import ClusterIntent, FailuresIntent, WorkloadIntent
from lossless.formats.intent.policy import (
    CongestionControlField,
    PfcIntent,
    PortException,
    Ratio,
    TelemetryIntent,
    TierName,
    off_or_section,
)
from lossless.formats.intent.wiring import HardwareIntent, Name, NetworkChoice, PortEnd, TopologyIntent
from lossless.ground.basics.units import suggestion
from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES, SWITCH_ROLES, BufferModel, EthernetTransport

RELEASES = ("202305", "202311", "202405", "202411", "202505", "202511", "202605", "master")
"""The supported releases: those of ``profiles/sonic/schema.json``."""
WITH_TRIMMING = RELEASES[RELEASES.index("202505") :]
"""The releases with packet trimming: the table SWITCH_TRIMMING of ``profiles/sonic/releases.toml``."""
RELEASE = "release that is known"


def by_role(what: str, words: Iterable[str], of_role: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return the validator and the schema of a choice that is one word for all roles, or a mapping of roles to words.

    The validated value is always a mapping, complete where one word was given. ``of_role`` documents the key of a role.
    """
    known = tuple(words)
    word = _words(known)
    meaning = f"{of_role} of switches of this role. Left out: what holds for all."
    roles = {role: {**word, "documentation": meaning} for role in SWITCH_ROLES}
    each = {"type": "object", "properties": roles, "additionalProperties": False}
    return BeforeValidator(_reader(what, known)), WithJsonSchema({"anyOf": [word, each]})


def _words(known: tuple[str, ...]) -> dict[str, Any]:
    # Releases are numbers to YAML.
    return {"enum": [*known, *(int(word) for word in known if word.isdecimal())]}


def _reader(what: str, known: tuple[str, ...]) -> Callable[[object], object]:
    def read(value: object) -> object:
        if not isinstance(value, dict):
            return dict.fromkeys(SWITCH_ROLES, _word(value, what, known))
        if not value:
            raise refused(f"an empty mapping; write {_listed(known, 'or')}, or one of them for each role")
        for role in value:
            if role not in SWITCH_ROLES:
                raise refused(
                    f"{shown(role)} is no role of a switch; there are {_listed(SWITCH_ROLES)}",
                    role,
                    at_key=True,
                )
        return {role: _word(word, what, known, role) for role, word in value.items()}

    return read


def _word(value: object, what: str, known: tuple[str, ...], *within: str) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if text in known:
        return str(text)
    hint = suggestion(text if isinstance(text, str) else "", known, most=None)
    raise refused(f"{shown(value)} is no {what}{hint}", *within)


def _listed(words: tuple[str, ...], joined: str = "and") -> str:
    return f"{', '.join(words[:-1])} {joined} {words[-1]}"


def _devices(value: object) -> object:
    if not isinstance(value, dict) or not value:
        raise refused(f"expected a mapping of devices to releases, found {shown(value)}")
    return {str(name): _word(word, RELEASE, RELEASES, name) for name, word in value.items()}


class Sonic(Model):
    """The SONiC release of the switches; rendered files keep to the tables and fields of that release.

    ``release`` is one for all, or one for each role; ``devices`` names the switches that run another. Left out,
    it is that of a switch's base, and 202411 where no base declares one.
    """

    release: Annotated[dict[str, str], *by_role(RELEASE, RELEASES, "The release")] = Field(
        default_factory=dict
    )
    """Release of SONiC, one for all or one for each role. Left out: that of the base, else 202411.
    Example: `"202405"`
    Example: `{leaf: "202405", spine: "202411"}`
    """
    devices: Annotated[
        dict[str, str],
        BeforeValidator(_devices),
        WithJsonSchema({"type": "object", "additionalProperties": _words(RELEASES)}),
    ] = Field(default_factory=dict)
    """Switches by name that run another release. Left out: none does. Example: `{leaf1: "202311"}`"""

    def release_of(self, name: str, role: str) -> str | None:
        """Return the release of a switch, None where it is not declared."""
        return self.devices.get(name) or self.release.get(role)


MOST_LOSSLESS_MTU = 9216
"""The largest value of LOSSLESS_TRAFFIC_PATTERN|mtu (sonic-lossless-traffic-pattern.yang @086b03b)."""
ModelByRole = Annotated[dict[str, str], *by_role("buffer model", get_args(BufferModel), "The buffer model")]
PoolForm = Annotated[
    dict[str, str], *by_role("form of ingress pools", ("single", "split"), "The form of the pools")
]
UnusedPorts = Annotated[
    dict[str, str], *by_role("policy for unused ports", ("reclaim", "keep"), "What becomes of unused ports")
]


class WholePool(Model):
    """A pool with a size and no other setting."""

    size: Size | None = None
    """Size of the pool in bytes. Has a unit. Left out: it is computed. Example: `40 MiB`"""


class SharedPool(WholePool):
    """A pool: its size, or in the dynamic buffer model its percentage of the buffer that is left to share."""

    percentage: Percent | None = None
    """In the dynamic buffer model: the part of the pool, in whole percent, of what headroom and reserved buffer leave
    of the chip. Left out: an equal share.
    Example: `60%`
    """

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.size is not None and self.percentage is not None:
            raise refused("a pool has one size; leave out size or percentage", "percentage")
        return self


class LosslessPool(SharedPool):
    """The pool of lossless groups; ``xoff`` is the shared headroom beside it."""

    xoff: Size | None = None
    """Size in bytes of the shared headroom beside the pool, instead of `headroom_oversubscription`. Has a unit. Left
    out: as that ratio says.
    Example: `8 MiB`
    """

    @model_validator(mode="after")
    def _some_room(self) -> Self:
        for key in ("size", "percentage"):
            if getattr(self, key) == 0:
                raise refused("leaves lossless groups nothing to share; a pool has room for packets", key)
        return self


class PoolSizes(Model):
    """Sizes of pools by their names in CONFIG_DB."""

    ingress_lossless_pool: LosslessPool | None = None
    """The pool that groups of lossless classes take from. Left out: what is left once all ports have their own.
    Example: `{size: 40 MiB, xoff: 8 MiB}`
    Example: `{percentage: 60%}`
    """
    ingress_lossy_pool: SharedPool | None = None
    """The pool of all other groups, where the HWSKU has one. Left out: it is computed. Example: `{size: 40 MiB}`"""
    egress_lossless_pool: WholePool | None = None
    """The pool of lossless queues, which spans the whole buffer. Left out: as the vendor ships it.
    Example: `{size: 40 MiB}`
    """
    egress_lossy_pool: SharedPool | None = None
    """The pool of all other queues. Left out: it is computed. Example: `{size: 40 MiB}`"""


class SwitchBuffers(Model):
    """Pools and shared headroom of some switches. A key that is left out takes its value from a lower rank."""

    headroom_oversubscription: Ratio | None = None
    """How much more headroom all groups may ask for than the shared headroom pool holds: 1.5 means 1.5:1. Left out: 1,
    up to a pool of half the chip, or of what the vendor ships if that is more.
    Example: `1.5`
    """
    pool_sizes: PoolSizes | None = None
    """Sizes of buffer pools by their names in CONFIG_DB. Left out: all are computed.
    Example: `{ingress_lossless_pool: {size: 40 MiB}}`
    """

    @model_validator(mode="after")
    def _one_shared_headroom(self) -> Self:
        lossless = self.pool_sizes.ingress_lossless_pool if self.pool_sizes else None
        if self.headroom_oversubscription is not None and lossless is not None and lossless.xoff is not None:
            why = "gives the shared headroom its size, and so does headroom_oversubscription; leave out one of them"
            raise refused(why, "pool_sizes", "ingress_lossless_pool", "xoff")
        return self

    @property
    def values(self) -> Self:
        """The values for ports of all speeds."""
        return self

    @property
    def by_speed(self) -> Mapping[int, Self]:
        """No exceptions by speed: pools belong to a switch, not to ports of one speed."""
        return {}


class Buffers(SwitchBuffers):
    """Buffer policy. Without a declared ratio or ``xoff`` a shared headroom pool that is computed here holds the
    headroom of all groups at once. If that exceeds half of the chip, the pool has half of the chip, or the size that
    the vendor ships if that is more.

    ``model`` is SONiC's buffer model. In the ``traditional`` model, the default, headroom comes from the rows of the
    HWSKU and pools are computed here. In the ``dynamic`` model the switch computes both, for packets of up to
    ``lossless_mtu`` bytes of which ``small_packets`` percent have 64 bytes. ``pools`` is one ingress pool for all
    traffic or one for lossless and one for lossy traffic, where HWSKUs of a product ship both; left out, the form of
    the HWSKU. ``unused_ports: reclaim`` shuts ports without a link down and reclaims their buffer. All three may differ
    by role: ``{leaf: dynamic, spine: traditional}``. Sizes and the ratio may differ by role and device: the highest
    rank that declares one applies.
    """

    model: ModelByRole = Field(default_factory=dict)
    """Who computes headroom and pools: `traditional` takes the rows of the HWSKU, in the `dynamic` model the switch
    does (NVIDIA, Barefoot). One word, or one for each role. Left out: traditional.
    Example: `dynamic`
    Example: `{leaf: dynamic, spine: traditional}`
    """
    lossless_mtu: FrameSize | None = None
    """Largest frame of lossless traffic in the dynamic model, in bytes or with a unit. Left out: 1024.
    Example: `4096`
    """
    small_packets: Percent | None = None
    """Part of lossless packets that are small, in percent, in the dynamic model. Left out: 100%. Example: `50%`"""
    pools: PoolForm = Field(default_factory=dict)
    """`single` or `split` ingress pools, where the product ships both. Left out: those of the HWSKU.
    Example: `single`
    """
    unused_ports: UnusedPorts = Field(default_factory=dict)
    """`reclaim` shuts ports without a link down and reclaims their buffer. Left out: keep, and pools leave room for the
    buffer that such ports reserve while they are up.
    Example: `reclaim`
    """
    by_tier: dict[TierName, SwitchBuffers] = Field(default_factory=dict, min_length=1)
    """Pools and shared headroom of the switches of one role. Left out: none differ.
    Example: `{spine: {headroom_oversubscription: 1}}`
    """
    by_device: dict[Name, SwitchBuffers] = Field(default_factory=dict, min_length=1)
    """Pools and shared headroom of single switches by name; they come before those of `by_tier`. Left out: none differ.
    Example: `{leaf1: {pool_sizes: {ingress_lossless_pool: {size: 40 MiB}}}}`
    """

    @model_validator(mode="after")
    def _dynamic_keys(self) -> Self:
        for name in ("lossless_mtu", "small_packets"):
            if getattr(self, name) is not None and "dynamic" not in self.model.values():
                why = "counts in the dynamic buffer model alone; state model: dynamic, or leave it out"
                raise refused(why, name)
        if self.lossless_mtu is not None and self.lossless_mtu > MOST_LOSSLESS_MTU:
            most = f"SONiC takes {LEAST_MTU} to {MOST_LOSSLESS_MTU:,} bytes"
            raise refused(f"{self.lossless_mtu} is no lossless packet; {most}", "lossless_mtu")
        return self


class TrimmingIntent(Model):
    """Packets of the classes ``of`` that find no room in a queue are cut to ``size`` and continue in class ``into``."""

    of: Annotated[tuple[ClassName, ...], BeforeValidator(listed)] = Field(min_length=1)
    """The lossy classes whose packets are trimmed. Example: `[rdma]`"""
    into: ClassName
    """The class that trimmed packets continue in, by its one DSCP. Example: `trimmed`"""
    size: Size
    """Size of a trimmed packet, with its unit, at least 64 B. Example: `256 B`"""


Preset = Literal["azure", "nvidia", "pfc-only"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
"""Names of the vendors' presets; each is a file in ``profiles/presets/`` that names its sources."""


class Intent(Model, title="Intent"):
    """The intent of an Ethernet fabric for RDMA. Every key that a preset gives can be overridden by naming it.

    ``pfc: off`` declares that no class is lossless, ``telemetry: off`` that pauses are not monitored.
    """

    lossless: Annotated[
        Literal["v1"], WithJsonSchema({"const": "v1", "description": "version of this format"})
    ]
    """Version of this format. Every intent begins with it."""
    fabric: Name
    """Name of the fabric: at most 63 letters, digits, '.', '_' and '-'. Example: `roce-256` Example: `pod-7`"""
    transport: EthernetTransport
    """How RDMA travels: RoCEv2 (`rocev2`) or Ultra Ethernet's transport (`uec`), both over UDP and IP."""
    preset: Preset | None = None
    """A vendor's starting point for classes, pfc and congestion_control; every key of it can be overridden by naming
    it. Left out: nothing is assumed.
    """
    classes: dict[ClassName, TrafficClassIntent] = Field(min_length=1)
    """Traffic classes by name, at most 24 characters each. Exactly one takes `dscp: rest`. Left out: those of the
    preset.
    Example: `{rdma: {dscp: 26, priority: 3, lossless: true, bandwidth: 50%}}`
    """
    pfc: Annotated[PfcIntent | None, BeforeValidator(off_or_section)] = PfcIntent.model_construct()
    """Priority flow control: on for the lossless classes and for nothing else. `off` states that no class is lossless.
    Left out: no watchdog, unless the preset gives one.
    """
    congestion_control: CongestionControlField
    """How senders slow down: `dcqcn`, a mapping of its parameters, or `pfc-only` as a stated policy; with transport
    `uec` a window (`nscc`), credit of the receiver (`rccc`) or `both`. Left out: that of the preset.
    Example: `dcqcn`
    Example: `{dcqcn: {cnp_interval: 4us}}`
    """
    trimming: Annotated[TrimmingIntent | None, OnDemand()] = None
    """Packets that find no room in a queue are cut to their headers instead of dropped, so that the receiver can ask
    for them again. Rendered for SONiC 202505 and later. Left out: they are dropped.
    Example: `{of: [rdma], into: trimmed, size: 256 B}`
    """
    hardware: HardwareIntent
    """Which product fills which role, by the names that `lossless profiles` lists."""
    topology: TopologyIntent
    """A shape (`leaf_spine`), or `devices` and `links` by name."""
    hosts: Annotated[HostsIntent, OnDemand()] = HostsIntent.model_construct()
    """Settings of the NICs of every host, and the environment of jobs. Left out: the defaults below it."""
    buffers: Annotated[Buffers, OnDemand()] = Buffers.model_construct()
    """Buffer policy. Left out: headroom is not oversubscribed, unless the vendor ships it so."""
    sonic: Annotated[Sonic, OnDemand()] = Sonic.model_construct()
    """Which release of SONiC the switches run. Left out: that of the switch's base, else 202411.
    Example: `{release: "202405"}`
    """
    mtu: FrameSize = DEFAULT_SWITCH_MTU_BYTES
    """Largest IP packet in bytes that switches carry, without the Ethernet header: a number, or a size with its unit.
    Example: `9100`
    """
    exceptions: dict[PortEnd, PortException] = Field(default_factory=dict)
    """Single ports that differ from all others, by `DEVICE:PORT`: their MTU, asymmetric PFC, watchdog. Left out: none.
    Example: `{"leaf1:Ethernet0": {mtu: 1500}}`
    """
    networks: dict[Name, NetworkChoice] = Field(default_factory=dict)
    """Other networks by name (storage, management), and whether they share the fabric. Left out: none are checked.
    Example: `{storage: {on: separate}}`
    """
    telemetry: Annotated[TelemetryIntent | None, BeforeValidator(off_or_section)] = (
        TelemetryIntent.model_construct()
    )
    """How pauses are monitored; `off` declares that they are not. Left out: nothing is declared."""
    cluster: ClusterIntent | None = None
    """The GPUs behind the hosts. Left out: bandwidth is given per host alone.
    Example: `{gpus_per_host: 8, nvlink: {generation: 5, domain: 72}}`
    """
    workloads: dict[Name, WorkloadIntent] = Field(default_factory=dict)
    """The traffic that `lossless tune` chooses thresholds for, by name; it changes nothing on any device. Left out: an
    incast of 16 NIC ports into one, a permutation of 16 and an all-to-all of 8.
    Example: `{checkpoint: {pattern: incast, nics: 17, size: 8 MiB}}`
    """
    failures: Annotated[FailuresIntent, OnDemand()] = FailuresIntent.model_construct()
    """Failures to tolerate. Left out: any one link, or any one switch.
    Example: `{links: 2, switches: 1, oversubscription: 2}`
    """


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an Ethernet intent as people write it; ``intent/load.py`` has that of all intents.

    Keys that a preset may supply are not required here, because a schema cannot see presets.
    """
    schema = Intent.model_json_schema(by_alias=True)
    schema["required"] = [key for key in schema["required"] if key not in ("classes", "congestion_control")]
    del schema["$defs"]["TrafficClassIntent"]["required"]
    del schema["properties"]["classes"]["minProperties"]
    for section in ("Pfc", "Telemetry"):
        either = [{"enum": ["off", False]}, {"$ref": f"#/$defs/{section}Intent"}]
        schema["properties"][section.lower()]["anyOf"] = either
    return finished_schema(schema)


def finished_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return pydantic's JSON Schema in the form for editors: no references, keys with descriptions and examples."""
    from lossless.formats.intent.key_docs import describe

    _close(schema)
    whole = _resolved(schema, schema.pop("$defs", {}))
    describe(whole)
    return whole  # type: ignore[no-any-return]


def _resolved(schema: Any, parts: dict[str, Any]) -> Any:
    """Return a JSON Schema with a copy of each referenced part in place of its reference; no model contains itself."""
    if isinstance(schema, list):
        return [_resolved(part, parts) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        part = parts[schema["$ref"].rpartition("/")[2]]
        schema = {**part, **{word: value for word, value in schema.items() if word != "$ref"}}
    return {word: _resolved(part, parts) for word, part in schema.items()}


def _close(schema: Any) -> None:
    """Make a JSON Schema refuse keys that match no pattern of ``patternProperties``, in place."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema["additionalProperties"] = False
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        _close(part)
