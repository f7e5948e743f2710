"""The whole intent: one versioned document for one fabric."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from lossless.formats.intent.base import FrameSize, Model
from lossless.formats.intent.buffer_policy import Buffers, TrimmingIntent
from lossless.formats.intent.classes import ClassName, TrafficClassIntent
from lossless.formats.intent.cluster import ClusterIntent, FailuresIntent
from lossless.formats.intent.hosts import HostsIntent
from lossless.formats.intent.policy import (
    CongestionControlField,
    PfcIntent,
    TelemetryIntent,
    off_or_section,
)
from lossless.formats.intent.sonic import Sonic
from lossless.formats.intent.wiring import HardwareIntent, Name, NetworkChoice, TopologyIntent
from lossless.formats.intent.workloads import WorkloadIntent
from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES, EthernetTransport

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
    trimming: TrimmingIntent | None = None
    """Packets that find no room in a queue are cut to their headers instead of dropped, so that the receiver can ask
    for them again. Rendered for SONiC 202505 and later. Left out: they are dropped.
    Example: `{of: [rdma], into: trimmed, size: 256 B}`
    """
    hardware: HardwareIntent
    """Which product fills which role, by the names that `lossless profiles` lists."""
    topology: TopologyIntent
    """A shape (`leaf_spine`), or `devices` and `links` by name."""
    hosts: HostsIntent = HostsIntent.model_construct()
    """Settings of the NICs of every host, and the environment of jobs. Left out: the defaults below it."""
    buffers: Buffers = Buffers.model_construct()
    """Buffer policy. Left out: headroom is not oversubscribed, unless the vendor ships it so."""
    sonic: Sonic = Sonic.model_construct()
    """Which release of SONiC the switches run. Left out: that of the switch's base, else 202411.
    Example: `{release: "202405"}`
    """
    mtu: FrameSize = DEFAULT_SWITCH_MTU_BYTES
    """Largest IP packet in bytes that switches carry, without the Ethernet header: a number, or a size with its unit.
    Example: `9100`
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
    incast of 16 NIC ports into one.
    Example: `{checkpoint: {pattern: incast, nics: 17, size: 8 MiB}}`
    """
    failures: FailuresIntent = FailuresIntent.model_construct()
    """Failures to tolerate. Left out: any one link, or any one switch.
    Example: `{links: 2, switches: 1, oversubscription: 2}`
    """


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an Ethernet intent as people write it; ``intent/schema.py`` has that of all intents.

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
    """Return a schema of pydantic in the form for editors: references resolved, keys with descriptions and examples."""
    from lossless.formats.intent.key_docs import describe

    _close(schema)
    whole = _resolved(schema, schema.pop("$defs", {}))
    describe(whole)
    return whole  # type: ignore[no-any-return]


def _resolved(schema: Any, parts: dict[str, Any]) -> Any:
    """Return a schema with a copy of each referenced part in place of the reference; no model contains itself."""
    if isinstance(schema, list):
        return [_resolved(part, parts) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        part = parts[schema["$ref"].rpartition("/")[2]]
        schema = {**part, **{word: value for word, value in schema.items() if word != "$ref"}}
    return {word: _resolved(part, parts) for word, part in schema.items()}


def _close(schema: Any) -> None:
    """Refuse names that do not match their pattern, in place: pydantic's schemas leave other names open."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema["additionalProperties"] = False
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        _close(part)
