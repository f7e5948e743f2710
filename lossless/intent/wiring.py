"""Hardware, topology, hosts and networks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from lossless.intent.base import (
    Byte,
    Count,
    FrameSize,
    Length,
    LinkCount,
    Model,
    Priority,
    listed,
    refused,
    small_number,
)
from lossless.intent.policy import Ratio

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]


class SwitchChoice(Model):
    """A switch product and, where it has several, one of its HWSKUs."""

    profile: str
    hwsku: str | None = None


def _switch_choice(value: Any) -> Any:
    return {"profile": value} if isinstance(value, str) else value


SwitchField = Annotated[
    SwitchChoice,
    BeforeValidator(_switch_choice),
    WithJsonSchema({"anyOf": [{"type": "string"}, SwitchChoice.model_json_schema()]}),
]


class Hardware(Model):
    """Which product fills which role, by the name of its profile (``lossless profiles`` lists them)."""

    leaf: SwitchField
    spine: SwitchField | None = None
    nic: str


class Cables(Model):
    """Real cable lengths by tier; what is configured is the next longer row of the HWSKU."""

    host: Length
    uplink: Length


class LeafSpine(Model):
    """A two-tier Clos: every leaf connects to every spine."""

    leaves: Count
    spines: Count
    hosts_per_leaf: Count
    host_links: LinkCount
    uplinks: LinkCount
    cables: Cables
    oversubscription: Ratio = 1.0


class DeviceChoice(Model):
    """One device of an explicit topology; ``hardware`` differs from its role's only where stated."""

    role: Literal["leaf", "spine", "host"]
    hardware: SwitchField | None = None


class LinkChoice(Model):
    """One bundle of links of an explicit topology, between ``DEVICE`` or ``DEVICE:PORT`` ends."""

    a: str
    b: str
    links: LinkCount
    cable: Length


class Topology(Model):
    """A shape, or devices and links by name."""

    leaf_spine: LeafSpine | None = None
    devices: dict[Name, DeviceChoice] | None = None
    links: tuple[LinkChoice, ...] | None = None
    oversubscription: Ratio = 1.0

    @field_validator("links", mode="before")
    @classmethod
    def _list_to_tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _one_form(self) -> Topology:
        explicit = self.devices is not None and self.links is not None
        if (self.leaf_spine is None) == (not explicit):
            raise refused("give either leaf_spine, or both devices and links")
        if self.leaf_spine is not None and (self.devices is not None or self.links is not None):
            raise refused("give either leaf_spine, or devices and links, not both")
        return self


def _transport_number(name: str, high: int) -> BeforeValidator:
    return small_number(0, high, name)


class Nccl(Model):
    """What the job environment sets. Defaults are NCCL's own (NVIDIA/nccl src/transport/net_ib @5067397)."""

    ib_tc: Byte | None = None
    ib_timeout: Annotated[int, _transport_number("NCCL_IB_TIMEOUT", 31)] = 20
    ib_retry_count: Annotated[int, _transport_number("NCCL_IB_RETRY_CNT", 7)] = 7


def _traffic_class(value: Any) -> Any:
    if value in ("derived", "unset"):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return value
    raise refused(f"{value!r} is not a ToS byte; expected a number from 0 to 255, derived or unset")


class Hosts(Model):
    """What holds on every host.

    ``traffic_class`` is the ToS byte of all RDMA traffic: derived from the RDMA class's DSCP, a number, or
    unset where the jobs set it themselves. ``pfc`` names priorities only where they differ from the classes.
    """

    mtu: FrameSize = 9000
    traffic_class: Annotated[
        int | Literal["derived", "unset"],
        BeforeValidator(_traffic_class),
        WithJsonSchema(
            {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"enum": ["derived", "unset"]}]}
        ),
    ] = "derived"
    pfc: Annotated[tuple[Priority, ...] | None, BeforeValidator(listed)] = None
    interfaces: Annotated[tuple[str, ...] | None, BeforeValidator(listed)] = None
    rdma_devices: Annotated[tuple[str, ...] | None, BeforeValidator(listed)] = None
    nccl: Nccl = Nccl()

    @field_validator("interfaces", "rdma_devices")
    @classmethod
    def _safe_names(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in value or ():
            if not 0 < len(name) <= 15 or not all(c.isalnum() or c in "._-" for c in name):
                raise refused(
                    f"{name!r} is not an interface name; letters, digits, . _ - and at most 15 of them"
                )
        return value


class NetworkChoice(Model):
    """A network: on its own switches, or sharing the fabric in a class of its own."""

    on: Literal["separate", "fabric"]
    prefixes: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    traffic_class: str | None = Field(default=None, alias="class")

    @field_validator("prefixes")
    @classmethod
    def _are_prefixes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        from netaddr import AddrFormatError, IPNetwork  # noqa: PLC0415 -- only intents with prefixes pay for it

        for text in value:
            try:
                network = IPNetwork(text)
            except (AddrFormatError, ValueError):
                raise refused(
                    f"{text!r} is not an IP prefix; write it like 10.20.0.0/16 or 2001:db8::/48"
                ) from None
            if network.ip != network.network:
                raise refused(f"{text!r} has host bits set; the prefix is {network.cidr}")
        return value
