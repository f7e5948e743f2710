"""The subnet manager: its program, its hosts, routing engines and options."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import Model, OnOff, listed, refused, shown, whole_number
from lossless.formats.intent.infiniband.base import Number64, OptionText, SettingKey, SettingText, Variable
from lossless.model.fabric.infiniband.subnet import Manager

ELSEWHERE = {
    "routing_engine": "subnet_manager.routing.engine",
    "subnet_prefix": "subnet_manager.prefix",
    "sm_priority": "priority of each of subnet_manager.hosts",
    "root_guid_file": "subnet_manager.routing.roots",
    "cn_guid_file": "subnet_manager.routing.compute_nodes",
    "partition_config_file": "partitions",
}
"""Keys of opensm.conf that are derived from another part of the intent."""
SmPriority = Annotated[int, *whole_number(0, 15, "a priority")]


class ManagerChoice(Model):
    """Where a subnet manager runs: ``host1``, ``host1:mlx5_0`` or a managed switch."""

    on: str
    """A host, one of its HCAs, or a managed switch that runs a subnet manager.
    Example: `sm1`
    Example: `sm1:mlx5_1`
    Example: `leaf1`
    """
    priority: SmPriority | None = None
    """Its priority, 0 to 15; the highest is master. Left out: opensm's own, 0. Example: `14`"""
    standby: OnOff = False
    """Whether it is a standby until the master fails."""


def _engines(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(","))
    return listed(value)


def _roots(value: object) -> object:
    if value in ("off", False):
        return None
    return (value,) if isinstance(value, str) else listed(value)


class EngineChoice(Model, title="SubnetRouting"):
    """Routing of opensm. Engines are tried in order; without ``fallback`` opensm gives up rather than use minhop.

    ``roots``: ``top`` is the top tier of a fat tree. ``compute_nodes`` writes the HCAs of compute hosts into a file for
    ftree.
    """

    engine: Annotated[
        tuple[str, ...],
        BeforeValidator(_engines),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    ] = Field(min_length=1)
    """Routing engine, or several that are tried in order: ftree and updn for fat trees, torus-2QoS for tori.
    Example: `ftree`
    Example: `[ftree, updn]`
    Example: `torus-2QoS`
    """
    fallback: OnOff = True
    """Whether opensm takes minhop where no engine can route; off, it gives up instead."""
    roots: Annotated[
        tuple[str, ...] | None,
        BeforeValidator(_roots),
        WithJsonSchema(
            {"anyOf": [{"type": "string"}, {"const": False}, {"type": "array", "items": {"type": "string"}}]}
        ),
    ] = None
    """Switches that are written as roots: `top` is the top tier, or a list of names. Left out: no such file.
    Example: `top`
    Example: `[spine1, spine2]`
    """
    compute_nodes: OnOff = False
    """Whether HCAs of compute hosts are written into a file for ftree."""

    @model_validator(mode="after")
    def _no_fallback_is_no_engine(self) -> EngineChoice:
        if "no_fallback" in self.engine:
            raise refused("no_fallback is no engine; write fallback: off", "engine")
        return self


class SubnetKeys(Model):
    """Environment variables with the keys of a subnet, by key of opensm.conf; an intent never contains the keys."""

    m_key: Variable | None = None
    """Environment variable that holds the management key. Left out: opensm's own. Example: `FABRIC_M_KEY`"""
    sm_key: Variable | None = None
    """Environment variable that holds the key that subnet managers show each other. Left out: opensm's own.
    Example: `FABRIC_SM_KEY`
    """
    sa_key: Variable | None = None
    """Environment variable that holds the key of trusted queries. Left out: opensm's own. Example: `FABRIC_SA_KEY`"""
    cc_key: Variable | None = None
    """Environment variable that holds the key of congestion control. Left out: opensm's own.
    Example: `FABRIC_CC_KEY`
    """

    def stated(self) -> dict[str, str]:
        """Return the declared variables by key of opensm.conf."""
        variables = {key: getattr(self, key) for key in type(self).model_fields}
        return {key: variable for key, variable in variables.items() if variable is not None}


class SubnetManager(Model):
    """The subnet manager and its options.

    ``options`` are keys of opensm.conf in its own spelling, ``ufm`` those of UFM's gv.cfg by section. ``keys`` are the
    environment variables that hold the keys of the subnet.
    """

    manager: Manager
    """Which program manages the subnet: opensm by itself, or UFM."""
    hosts: Annotated[tuple[ManagerChoice, ...], BeforeValidator(listed)] = Field(min_length=1)
    """Where subnet managers run: the master and the standby ones.
    Example: `[{on: sm1, priority: 14}, {on: sm2, priority: 13, standby: true}]`
    """
    prefix: Number64 | None = None
    """Subnet prefix, 64 bits, another one for every subnet that hosts or routers join. Left out: opensm's own,
    0xfe80000000000000.
    Example: `"0xfec0000000000001"`
    """
    routing: EngineChoice | None = None
    """How packets are routed. Left out: opensm takes minhop."""
    options: dict[SettingKey, OptionText] = Field(default_factory=dict)
    """Further keys of opensm.conf, as that file spells them. Left out: opensm's own defaults hold.
    Example: `{max_wire_smps: 16}`
    """
    keys: SubnetKeys = SubnetKeys.model_construct()
    """The environment variables that hold the keys of the subnet when its files are written. Left out: opensm's own,
    which protect nothing.
    Example: `{m_key: FABRIC_M_KEY}`
    """
    ufm: dict[SettingKey, dict[SettingKey, SettingText]] = Field(default_factory=dict)
    """Keys of UFM's gv.cfg by section, as that file spells them. Left out: only what SHARP needs is written.
    Example: `{Sharp: {enable_sharp_allocation: "true"}}`
    """

    @model_validator(mode="after")
    def _each_key_in_one_place(self) -> SubnetManager:
        for key in self.options:
            if key in SubnetKeys.model_fields:
                raise refused(
                    f"{key} protects the subnet and is never written here; keys.{key} names the environment "
                    "variable that holds it",
                    "options",
                    key,
                    at_key=True,
                )
            if key in ELSEWHERE:
                raise refused(f"{key} is made of {ELSEWHERE[key]}", "options", key, at_key=True)
        return self

    @model_validator(mode="after")
    def _gv_cfg_is_of_ufm(self) -> SubnetManager:
        if self.ufm and self.manager != "ufm":
            raise refused(f"gv.cfg is of UFM, and the manager is {shown(self.manager)}", "ufm", at_key=True)
        return self
