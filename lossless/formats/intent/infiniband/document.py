"""The intent of an InfiniBand subnet: one versioned document for one subnet."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from lossless.formats.intent.base import Model
from lossless.formats.intent.infiniband.base import Guid
from lossless.formats.intent.infiniband.manager import SubnetManager
from lossless.formats.intent.infiniband.service import JobsIntent, PartitionChoice, SharpChoice, SubnetQos
from lossless.formats.intent.infiniband.wiring import SubnetHardware, SubnetTopology
from lossless.formats.intent.policy import off_or_section
from lossless.formats.intent.wiring import Name
from lossless.model.fabric.infiniband.subnet import Flavour


class InfinibandIntent(Model):
    """The intent of an InfiniBand subnet.

    Without ``partitions`` no partition file is written, and opensm makes every port a full member of the default one.
    ``guids`` are node GUIDs of switches and port GUIDs of HCAs, by name; ``guid_file`` is a file beside the intent that
    lists them.
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
    guid_file: str | None = None
    """File beside the intent with a name and its GUID on each line. Left out: `guids` has them all.
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
    jobs: JobsIntent | None = None
    """Settings of the jobs on the subnet. Left out: no files are written for them."""

    def is_off(self, section: Literal["qos", "sharp"]) -> bool:
        """Return whether a section is declared ``off``, as opposed to left out."""
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
