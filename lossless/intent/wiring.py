"""Hardware, topology and networks."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from lossless.intent.base import (
    Count,
    Length,
    LinkCount,
    Model,
    identifier,
    listed,
    refused,
    shown,
)
from lossless.intent.policy import Ratio

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME)]
MAX_LINKS = 2_000_000
"""Most links of one fabric: twice those of 65,536 hosts with eight links each."""


class SwitchChoice(Model):
    """A switch product and, where it has several, one of its HWSKUs."""

    profile: str
    hwsku: str | None = None


def _switch_choice(value: Any) -> Any:
    if isinstance(value, str):
        return {"profile": value}
    if not isinstance(value, dict):
        raise refused(f"expected the name of a switch profile, or a mapping of it; found {shown(value)}")
    return value


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

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> LeafSpine:
        per_leaf = self.hosts_per_leaf * self.host_links[0] + self.spines * self.uplinks[0]
        _refuse_too_many(self.leaves * per_leaf)
        return self


def _refuse_too_many(links: int) -> None:
    if links > MAX_LINKS:
        raise refused(f"{links:,} links; the most that is laid out is {MAX_LINKS:,}")


class DeviceChoice(Model):
    """One device of an explicit topology; ``hardware`` of a switch and ``nic`` of a host differ from those
    of the fabric only where stated.
    """

    role: Literal["leaf", "spine", "host"]
    hardware: SwitchField | None = None
    nic: str | None = None

    @model_validator(mode="after")
    def _hosts_have_nics(self) -> DeviceChoice:
        if self.role == "host" and self.hardware is not None:
            raise refused("a host is no switch; its adapter is nic, or hardware.nic for all", "hardware")
        if self.role != "host" and self.nic is not None:
            raise refused(f"a {self.role} is a switch; its product is hardware", "nic")
        return self


_END_SCHEMA = {"type": "string", "pattern": r"^[^:]*(:[A-Za-z0-9][A-Za-z0-9._-]{0,30})?$"}
End = Annotated[str, WithJsonSchema(_END_SCHEMA)]


class LinkChoice(Model):
    """One bundle of links of an explicit topology, between ``DEVICE`` or ``DEVICE:PORT`` ends."""

    a: End
    b: End
    links: LinkCount
    cable: Length

    @field_validator("a", "b")
    @classmethod
    def _safe_port(cls, value: str) -> str:
        _, colon, port = value.partition(":")
        if colon:
            identifier(port, "the name of a port", 31)
        return value


class Topology(Model):
    """A shape, or devices and links by name."""

    leaf_spine: LeafSpine | None = None
    devices: dict[Name, DeviceChoice] | None = None
    links: Annotated[tuple[LinkChoice, ...] | None, BeforeValidator(listed)] = None
    oversubscription: Ratio = 1.0

    @model_validator(mode="after")
    def _one_form(self) -> Topology:
        if self.leaf_spine is not None and (self.devices is not None or self.links is not None):
            raise refused("give either leaf_spine, or devices and links, not both")
        if self.leaf_spine is None and (self.devices is None or self.links is None):
            raise refused("give either leaf_spine, or both devices and links")
        _refuse_too_many(sum(link.links[0] for link in self.links or ()))
        return self


_PREFIX = r"[0-9A-Fa-f:.]+/\d{1,3}"
Prefix = Annotated[str, WithJsonSchema({"type": "string", "pattern": rf"^{_PREFIX}$"})]


class NetworkChoice(Model):
    """A network: on its own switches, or sharing the fabric in a class of its own."""

    on: Literal["separate", "fabric"]
    prefixes: Annotated[tuple[Prefix, ...], BeforeValidator(listed)] = ()
    traffic_class: str | None = Field(default=None, alias="class")

    @field_validator("prefixes")
    @classmethod
    def _are_prefixes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for index, text in enumerate(value):
            _check_prefix(text, index)
        return value


def _check_prefix(text: str, index: int) -> None:
    from netaddr import AddrFormatError, IPNetwork  # only intents with prefixes pay for it

    try:
        # netaddr also reads masks, and an address alone as a network of one.
        network = IPNetwork(text) if re.fullmatch(_PREFIX, text) else None
    except (AddrFormatError, ValueError):
        network = None
    if network is None:
        raise refused(
            f"{shown(text)} is not an IP prefix; write it like 10.20.0.0/16 or 2001:db8::/48", index
        )
    if network.ip != network.network:
        raise refused(f"{shown(text)} has host bits set; the prefix is {network.cidr}", index)
