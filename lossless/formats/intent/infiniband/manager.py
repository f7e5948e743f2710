"""The subnet manager: which it is, where it runs, how it routes, what else it is told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lossless.formats.intent.base import Model, OnOff, listed, refused, shown, small_number
from lossless.formats.intent.infiniband.base import Number64, OptionText, SettingKey, SettingText, Variable

SECRETS = ("m_key", "sm_key", "sa_key", "cc_key")
"""Keys of opensm.conf that protect the subnet: read from the environment when files are written, never stated."""
ELSEWHERE = {
    "routing_engine": "subnet_manager.routing.engine",
    "subnet_prefix": "subnet_manager.prefix",
    "sm_priority": "priority of each of subnet_manager.hosts",
    "root_guid_file": "subnet_manager.routing.roots",
    "cn_guid_file": "subnet_manager.routing.compute_nodes",
    "partition_config_file": "partitions",
}
"""Keys of opensm.conf that are made of another part of the intent."""
SmPriority = Annotated[
    int, small_number(0, 15, "a priority"), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 15})
]


class ManagerChoice(Model):
    """Where a subnet manager runs: ``host1``, ``host1:mlx5_0`` or a managed switch."""

    on: str
    priority: SmPriority | None = None
    standby: OnOff = False


def _engines(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(","))
    return listed(value)


def _roots(value: object) -> object:
    if value in ("off", False):
        return None
    return (value,) if isinstance(value, str) else listed(value)


class EngineChoice(Model, title="SubnetRouting"):
    """How opensm routes. Engines are tried in order; without ``fallback`` it gives up rather than take minhop.

    ``roots``: ``top`` is the top tier of a fat tree. ``compute_nodes``: their HCAs are written into a file for it.
    """

    engine: Annotated[
        tuple[str, ...],
        BeforeValidator(_engines),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    ] = Field(min_length=1)
    fallback: OnOff = True
    roots: Annotated[
        tuple[str, ...] | None,
        BeforeValidator(_roots),
        WithJsonSchema(
            {"anyOf": [{"type": "string"}, {"const": False}, {"type": "array", "items": {"type": "string"}}]}
        ),
    ] = None
    compute_nodes: OnOff = False

    @model_validator(mode="after")
    def _no_fallback_is_no_engine(self) -> EngineChoice:
        if "no_fallback" in self.engine:
            raise refused("no_fallback is no engine; write fallback: off", "engine")
        return self


class SubnetKeys(Model):
    """The environment variables that hold what protects a subnet."""

    m_key: Variable | None = None
    sm_key: Variable | None = None
    sa_key: Variable | None = None
    cc_key: Variable | None = None

    def stated(self) -> dict[str, str]:
        """Return the variables that are stated, by key of opensm.conf."""
        variables = {key: getattr(self, key) for key in SECRETS}
        return {key: variable for key, variable in variables.items() if variable is not None}


class SubnetManager(Model):
    """Which subnet manager runs, and what it is told.

    ``options`` are keys of opensm.conf as they stand there, ``ufm`` those of UFM's gv.cfg by section. ``keys`` name the
    environment variables that hold what protects the subnet.
    """

    manager: Literal["opensm", "ufm"]
    hosts: Annotated[tuple[ManagerChoice, ...], BeforeValidator(listed)] = Field(min_length=1)
    prefix: Number64 | None = None
    routing: EngineChoice | None = None
    options: dict[SettingKey, OptionText] = Field(default_factory=dict)
    keys: SubnetKeys = SubnetKeys.model_construct()
    ufm: dict[SettingKey, dict[SettingKey, SettingText]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _each_key_in_one_place(self) -> SubnetManager:
        for key in self.options:
            if key in SECRETS:
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
