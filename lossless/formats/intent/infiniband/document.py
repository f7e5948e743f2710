"""The intent of an InfiniBand subnet, one versioned document: its hardware, topology and manager, and its loading.

Loading checks the document, with every mistake located in the file. The topology is a shape, or switches and links by
name. The subnet manager has its program, its hosts, routing engines and options.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetPydanticSchema, WithJsonSchema, model_validator
from pydantic_core import core_schema

from lossless.analysis.topology.cabling_comparison import SwitchRole
from lossless.formats.intent.base import Count, Model, OnOff, listed, refused, shown, whole_number
from lossless.formats.intent.infiniband.service import (
    Guid,
    JobsIntent,
    Number64,
    OptionText,
    PartitionChoice,
    RatedLinks,
    SettingKey,
    SettingText,
    SharpChoice,
    SubnetQos,
    Variable,
)
from lossless.formats.intent.jobs import ClusterIntent
from lossless.formats.intent.load import checked
from lossless.formats.intent.policy import Ratio, off_or_section
from lossless.formats.intent.problems import IntentSource, located
from lossless.formats.intent.shapes import (
    Sides,
    clos_links,
    pairs,
    refuse_too_many,
    refuse_unequal_links,
    torus_links,
)
from lossless.formats.intent.wiring import Name
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.folder import StatedPath
from lossless.model.fabric.infiniband.subnet import Flavour, HostRole, Manager

if TYPE_CHECKING:
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.text import Document


ELSEWHERE = {
    "routing_engine": "subnet_manager.routing.engine",
    "subnet_prefix": "subnet_manager.prefix",
    "sm_priority": "priority of each of subnet_manager.hosts",
    "root_guid_file": "subnet_manager.routing.roots",
    "cn_guid_file": "subnet_manager.routing.compute_nodes",
    "partition_config_file": "partitions",
}
"""Keys of opensm.conf that only another part of the intent may set, and that part."""
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

    ``roots``: ``top`` is the top tier. ``compute_nodes`` writes the HCAs of compute hosts into a file for
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


class SubnetHardware(Model):
    """The product of each role; ``switch`` is that of every role without a product of its own."""

    switch: str | None = None
    """Switch profile of every role that names none of its own. Left out: each role names its own.
    Example: `nvidia-qm9700`
    """
    leaf: str | None = None
    """Switch profile of the leaves. Left out: that of `switch`. Example: `nvidia-qm9700`"""
    spine: str | None = None
    """Switch profile of the spines. Left out: that of `switch`. Example: `nvidia-qm9700`"""
    core: str | None = None
    """Switch profile of the cores. Left out: that of `switch`. Example: `nvidia-qm9700`"""
    hca: str
    """Adapter profile of every host that names none of its own. Example: `connectx-7`"""

    def of_role(self, role: str) -> tuple[str | None, str]:
        """Return the product of a switch role, None where none is declared, and the key of ``hardware`` for it."""
        own = getattr(self, role)
        return (own, role) if own is not None else (self.switch, "switch")


class FatTree(Model):
    """A fat tree of two levels, or of three with ``cores``: then ``leaves`` and ``spines`` are those of one pod.

    With several ``rails`` a host's HCAs go to as many leaves, one after the other, and as many leaves share its hosts.
    With several ``planes`` each spine connects to the cores of its own plane.
    """

    pods: Count = 1
    """How many pods. More than one needs `cores`. Example: `4`"""
    leaves: Count
    """How many leaf switches; with several pods, in each. Example: `4`"""
    spines: Count
    """How many spine switches; with several pods, in each. Example: `4`"""
    cores: Count | None = None
    """How many core switches join the pods. Left out: the tree has two levels. Example: `16`"""
    planes: Count = 1
    """Into how many planes cores and spines are parted. Example: `4`"""
    rails: Count = 1
    """Among how many leaves that follow each other the links of a host are shared out: 2 puts every other HCA at a
    second leaf.
    Example: `2`
    """
    hosts_per_leaf: Count
    """How many hosts at every leaf; with several rails, at every leaf that shares them. Example: `16`"""
    host_links: RatedLinks
    """Links from each host: how many, of which rate (QDR, FDR, EDR, HDR100, HDR, NDR200, NDR, XDR); each is an HCA of
    its own.
    Example: `2 x NDR`
    """
    uplinks: RatedLinks
    """Links from each leaf to each spine: how many, of which rate. Example: `4 x NDR`"""
    core_links: RatedLinks | None = None
    """Links from each spine to each core of its plane: how many, of which rate. Left out: there are no cores.
    Example: `1 x NDR`
    """

    @model_validator(mode="after")
    def _three_levels_or_two(self) -> FatTree:
        if (self.cores is None) != (self.core_links is None):
            missing = "core_links" if self.core_links is None else "cores"
            raise refused(f"a fat tree of three levels has both cores and core_links; {missing} is missing")
        if self.cores is None and self.pods > 1:
            raise refused("several pods need cores to join them", "pods")
        if self.cores is None and self.planes > 1:
            raise refused("planes part the cores, and there are none", "planes")
        return self

    @model_validator(mode="after")
    def _parts_divide(self) -> FatTree:
        parts = (("planes", "spines"), ("planes", "cores"), ("rails", "leaves"))
        for part, whole in parts:
            count = getattr(self, whole)
            if count is not None and count % getattr(self, part):
                raise refused(f"{getattr(self, part)} {part} do not divide {count} {whole}", part)
        refuse_unequal_links("rails", self.rails, self.host_links[0])
        return self

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> FatTree:
        host_links = self.host_links[0] // self.rails
        in_pod = clos_links(self.leaves, self.hosts_per_leaf, host_links, self.spines, self.uplinks[0])
        links = self.pods * in_pod
        if self.cores is not None and self.core_links is not None:
            links += self.pods * self.spines * (self.cores // self.planes) * self.core_links[0]
        refuse_too_many(links)
        return self


class SubnetDragonflyPlus(Model):
    """A dragonfly+: groups that each are a fat tree of two levels, every two groups joined by links of their spines."""

    groups: Count
    """How many groups. Example: `8`"""
    leaves: Count
    """How many leaf switches in each group. Example: `4`"""
    spines: Count
    """How many spine switches in each group. Example: `4`"""
    hosts_per_leaf: Count
    """How many hosts at every leaf. Example: `16`"""
    host_links: RatedLinks
    """Links from each host: how many, of which rate (QDR, FDR, EDR, HDR100, HDR, NDR200, NDR, XDR); each is an HCA of
    its own.
    Example: `2 x NDR`
    """
    uplinks: RatedLinks
    """Links from each leaf to each spine of its group: how many, of which rate. Example: `4 x NDR`"""
    global_links: RatedLinks
    """Links between every two groups, shared out among their spines: how many, of which rate. Example: `4 x NDR`"""

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> SubnetDragonflyPlus:
        if self.groups == 1:
            raise refused("one group is a fat tree; a dragonfly+ has two or more", "groups")
        in_group = clos_links(
            self.leaves, self.hosts_per_leaf, self.host_links[0], self.spines, self.uplinks[0]
        )
        refuse_too_many(self.groups * in_group + pairs(self.groups) * self.global_links[0])
        return self


class SubnetTorus(Model):
    """A torus of two or three dimensions. A side of two switches has one bundle between them, not a ring of two."""

    sides: Sides
    """How many switches along each of two or three sides. Example: `[4, 4, 4]`"""
    links: RatedLinks
    """Links between every two neighbors: how many, of which rate. Example: `2 x HDR`"""
    hosts_per_switch: Count
    """How many hosts at every switch. Example: `4`"""
    host_links: RatedLinks
    """Links from each host: how many, of which rate (QDR, FDR, EDR, HDR100, HDR, NDR200, NDR, XDR); each is an HCA of
    its own.
    Example: `2 x NDR`
    """

    @model_validator(mode="after")
    def _of_a_size_to_lay_out(self) -> SubnetTorus:
        refuse_too_many(torus_links(self.sides, self.links[0], self.hosts_per_switch, self.host_links[0]))
        return self


class SwitchNode(Model):
    """One switch that is listed by name; ``hardware`` differs from that of its role only where stated."""

    role: SwitchRole = "switch"
    """What the switch is; leaves, spines and cores make up the tiers of a tree."""
    hardware: str | None = None
    """Switch profile of this switch. Left out: that of its role under `hardware`. Example: `nvidia-qm8700`"""


def _one_or_several(value: object) -> object:
    return (value,) if isinstance(value, str) else listed(value)


class HostChoice(Model):
    """One host that is listed by name: its switches, to which its links go in turn."""

    at: Annotated[
        tuple[str, ...],
        BeforeValidator(_one_or_several),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    ] = Field(min_length=1)
    """The switch its links go to, or several that take them in turn. Example: `leaf1` Example: `[leaf1, leaf2]`"""
    links: RatedLinks
    """Links of this host: how many, of which rate; each is an HCA of its own. Example: `1 x NDR`"""
    role: HostRole = "compute"
    """What the host is for."""
    hca: str | None = None
    """Adapter profile of this host. Left out: `hardware.hca`. Example: `connectx-7`"""


class SwitchLink(Model):
    """One bundle of links between two switches that are listed: ``SWITCH``, or ``SWITCH:PORT`` for a single link."""

    a: str
    """One end: a switch, or SWITCH:PORT for a single link. Example: `leaf1` Example: `leaf1:17`"""
    b: str
    """The other end: a switch, or SWITCH:PORT. Example: `spine1`"""
    links: RatedLinks
    """Links of this bundle: how many, of which rate. Example: `4 x NDR`"""


class SubnetTopology(Model):
    """A shape, or switches and links by name; ``hosts`` are those beside the hosts of the shape."""

    fat_tree: FatTree | None = None
    """A fat tree by its numbers. Left out: the subnet has another shape."""
    dragonfly_plus: SubnetDragonflyPlus | None = None
    """A dragonfly+ by its numbers. Left out: the subnet has another shape."""
    torus: SubnetTorus | None = None
    """A torus by its numbers. Left out: the subnet has another shape."""
    switches: dict[Name, SwitchNode] | None = None
    """Switches by name, where the subnet has no plain shape. Left out: a shape makes them.
    Example: `{leaf1: {role: leaf}, spine1: {role: spine}}`
    """
    links: Annotated[tuple[SwitchLink, ...], BeforeValidator(listed)] = ()
    """Bundles of links between the switches that are listed. Left out: there are none.
    Example: `[{a: leaf1, b: spine1, links: 4 x NDR}]`
    """
    hosts: dict[Name, HostChoice] = Field(default_factory=dict)
    """Hosts that no shape makes, by name. Left out: there are none.
    Example: `{sm1: {at: leaf1, links: 1 x NDR, role: management}}`
    """
    oversubscription: Ratio = 1.0
    """Accepted ratio of host to uplink bandwidth of a leaf: 2 means 2:1. Example: `2`"""

    @model_validator(mode="after")
    def _one_form(self) -> SubnetTopology:
        forms = ("fat_tree", "dragonfly_plus", "torus", "switches")
        given = [form for form in forms if getattr(self, form) is not None]
        if len(given) != 1:
            stated = " and ".join(given) or "none"
            raise refused(f"expected one of {', '.join(forms[:-1])} or switches, found {stated}")
        if self.links and self.switches is None:
            raise refused(f"{given[0]} makes its links; links are for switches that are listed", "links")
        return self

    @property
    def shape(self) -> FatTree | SubnetDragonflyPlus | SubnetTorus | None:
        """The shape, None where switches are listed."""
        return self.fat_tree or self.dragonfly_plus or self.torus


def split_end(end: str) -> tuple[str, int | None]:
    """Return the switch and the port of a link end, ``leaf1:17``; the port is None where none is named.

    Raises:
        PydanticCustomError: the port is not a port number.
    """
    name, colon, port = end.partition(":")
    if not colon:
        return name, None
    if re.fullmatch(r"0{0,9}[1-9][0-9]{0,2}", port) is None or int(port) > 254:
        raise refused(f"{shown(end)} names no port; ports have numbers from 1 to 254")
    return name, int(port)


FilePath = Annotated[
    StatedPath,
    GetPydanticSchema(
        lambda _source, _handler: core_schema.no_info_after_validator_function(
            StatedPath, core_schema.str_schema()
        )
    ),
]
"""The path of a file that an intent names, as it is written: only :meth:`StatedPath.beside` makes it a path to open.
"""


class InfinibandIntent(Model):
    """The intent of an InfiniBand subnet.

    Without ``partitions`` no partition file is written, and opensm makes every port a full member of the default one.
    ``guids`` are node GUIDs of switches and port GUIDs of HCAs, by name; ``guid_file`` is a file in the folder or
    repository of the intent that lists them.
    """

    lossless: Annotated[
        Literal["v1"], WithJsonSchema({"const": "v1", "description": "version of this format"})
    ]
    """Version of this format. Every intent begins with it."""
    fabric: Name
    """Name of the subnet: at most 63 letters, digits, '.', '_' and '-'. Example: `infiniband-256` Example: `pod-7`"""
    transport: Literal["infiniband"]
    """How RDMA travels: InfiniBand, by the routes of a subnet manager."""
    flavour: Flavour
    """Whose opensm runs: `upstream`, that of Linux distributions, or `nvidia`, that of MLNX_OFED, DOCA, UFM and
    switches. They know different keys.
    """
    hardware: SubnetHardware
    """Which product fills which role, by the names of InfiniBand profiles."""
    topology: SubnetTopology
    """A shape (`fat_tree`, `dragonfly_plus`, `torus`), or `switches` and `links` by name, and further `hosts`."""
    guids: dict[str, Guid] = Field(default_factory=dict)
    """Node GUIDs of switches and port GUIDs of HCAs, by name. Left out: none is known, and files that hold GUIDs cannot
    be written.
    Example: `{leaf1: "0x0002c90300a1b2c3", "host1:mlx5_0": "0x0002c90300d4e5f6"}`
    """
    guid_file: FilePath | None = None
    """File beside the intent, or elsewhere in its repository, with a name and its GUID on each line. Left out: `guids`
    has them all.
    Example: `guids.txt`
    """
    subnet_manager: SubnetManager
    """Which subnet manager runs, where, and its options."""
    qos: Annotated[SubnetQos | None, BeforeValidator(off_or_section)] = None
    """Levels of service, each with its SL and VL; `off` states that there are none. Left out: nothing is said of them,
    and opensm has QoS off.
    """
    partitions: dict[Name, PartitionChoice] | None = None
    """Partitions by name. Left out: opensm gets no file of them and makes every port a full member of the default one.
    Example: `{Default: {pkey: 32767, members: {full: SELF, limited: ALL}}}`
    """
    sharp: Annotated[SharpChoice | None, BeforeValidator(off_or_section)] = None
    """Reductions in the switches; `off` states that there are none. Left out: nothing is said of them."""
    cluster: ClusterIntent | None = None
    """The GPUs behind the compute hosts, for `workload` and `topology`. Left out: each HCA counts as one GPU.
    Example: `{gpus_per_host: 8, nvlink: {generation: 4, domain: 8}}`
    """
    jobs: JobsIntent | None = None
    """Settings of the jobs on the subnet. Left out: no files are written for them."""

    def is_off(self, section: Literal["qos", "sharp"]) -> bool:
        """Return whether the section ``qos`` or ``sharp`` is declared ``off``, as opposed to left out."""
        return section in self.model_fields_set and getattr(self, section) is None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an InfiniBand intent as people write it."""
    from lossless.formats.intent.document import (
        finished_schema,  # and with it the model of the other transport
    )

    schema = InfinibandIntent.model_json_schema(by_alias=True)
    schema["title"] = "InfiniBand intent"
    for key, section in (("qos", "SubnetQos"), ("sharp", "SharpChoice")):
        schema["properties"][key]["anyOf"] = [{"enum": ["off", False]}, {"$ref": f"#/$defs/{section}"}]
    return finished_schema(schema)


class LoadedSubnet(NamedTuple):
    """The intent of an InfiniBand subnet, and the document that it was loaded from."""

    intent: InfinibandIntent
    document: Document

    def problem(self, origin: Origin, message: str) -> Problem:
        """Return a problem located at an origin of this document."""
        return located(self.document, origin.path, message, at_key=origin.mark == "key")

    def origin(self, *path: str | int) -> Origin:
        """Return the origin of a value of the intent, or of the nearest key above it where it is left out."""
        if self.document.exists(path):
            return Origin(self.document.file, path)
        while path and not self.document.exists(path):
            path = path[:-1]
        return Origin(self.document.file, path, "key")


def load_subnet(document: Document) -> LoadedSubnet:
    """Return the intent of an InfiniBand subnet.

    Raises:
        InputError: every invalid value of the document, each located, in the order of the file.
    """
    written = IntentSource(document, {}, InfinibandIntent)
    return LoadedSubnet(checked(written, InfinibandIntent, document.data), document)
