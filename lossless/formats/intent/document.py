"""The whole intent: one versioned document for one fabric."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from lossless.formats.intent.base import FrameSize, Model, not_one_of, refused
from lossless.formats.intent.buffer_policy import Buffers
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
from lossless.formats.intent.trimming import TrimmingIntent
from lossless.formats.intent.wiring import HardwareIntent, Name, NetworkChoice, TopologyIntent
from lossless.formats.intent.workloads import WorkloadIntent
from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES

PRESETS = ("azure", "nvidia", "pfc-only")
"""Vendor starting points; each is a file in ``profiles/presets/`` that names its sources."""


TRANSPORTS = ("rocev2", "uec", "efa", "gcp", "azure")
"""How RDMA travels: over one's own Ethernet fabric, or a cloud's (:mod:`lossless.formats.intent.managed.document`)."""


def _transport(value: Any) -> Any:
    if value not in TRANSPORTS:
        raise refused(not_one_of(value, TRANSPORTS))
    return value


class Intent(Model, title="Intent"):
    """What an Ethernet fabric for RDMA must be. Everything a preset gives can be overridden by naming it.

    ``pfc: off`` states that no class is lossless, ``telemetry: off`` that nobody watches.
    """

    lossless: Annotated[
        Literal["v1"], WithJsonSchema({"const": "v1", "description": "version of this format"})
    ]
    fabric: Name
    transport: Annotated[Literal["rocev2", "uec"], BeforeValidator(_transport)]
    preset: Literal["azure", "nvidia", "pfc-only"] | None = None
    classes: dict[ClassName, TrafficClassIntent] = Field(min_length=1)
    pfc: Annotated[PfcIntent | None, BeforeValidator(off_or_section)] = PfcIntent.model_construct()
    congestion_control: CongestionControlField
    trimming: TrimmingIntent | None = None
    hardware: HardwareIntent
    topology: TopologyIntent
    hosts: HostsIntent = HostsIntent.model_construct()
    buffers: Buffers = Buffers.model_construct()
    sonic: Sonic = Sonic.model_construct()
    mtu: FrameSize = DEFAULT_SWITCH_MTU_BYTES
    networks: dict[Name, NetworkChoice] = Field(default_factory=dict)
    telemetry: Annotated[TelemetryIntent | None, BeforeValidator(off_or_section)] = (
        TelemetryIntent.model_construct()
    )
    cluster: ClusterIntent | None = None
    workloads: dict[Name, WorkloadIntent] = Field(default_factory=dict)
    failures: FailuresIntent = FailuresIntent.model_construct()


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of such an intent as people write it; ``intent/schema.py`` has that of all intents.

    What a preset may supply is not required here, because a schema cannot see presets.
    """
    schema = Intent.model_json_schema(by_alias=True)
    schema["required"] = [key for key in schema["required"] if key not in ("classes", "congestion_control")]
    del schema["$defs"]["TrafficClassIntent"]["required"]
    del schema["properties"]["classes"]["minProperties"]
    for section in ("Pfc", "Telemetry"):
        either = [{"enum": ["off", False]}, {"$ref": f"#/$defs/{section}Intent"}]
        schema["properties"][section.lower()] = {"anyOf": either}
    return finished_schema(schema)


def finished_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that pydantic made of a document as editors need it: without references, with words."""
    from lossless.formats.intent.keys.table import describe  # only a schema needs the words

    _close(schema)
    whole = _resolved(schema, schema.pop("$defs", {}))
    describe(whole)
    return whole  # type: ignore[no-any-return]


def _resolved(schema: Any, parts: dict[str, Any]) -> Any:
    """Return a schema with the parts that it refers to in their places, each a copy; no model contains itself."""
    if isinstance(schema, list):
        return [_resolved(part, parts) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        part = parts[schema["$ref"].rpartition("/")[2]]
        schema = {**part, **{word: value for word, value in schema.items() if word != "$ref"}}
    return {word: _resolved(part, parts) for word, part in schema.items()}


def _close(schema: Any) -> None:
    """Refuse names that do not match their pattern: pydantic describes those that do, and stops there."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema["additionalProperties"] = False
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        _close(part)
