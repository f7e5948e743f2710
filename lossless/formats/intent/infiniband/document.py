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


class InfinibandIntent(Model):
    """What an InfiniBand subnet must be.

    ``partitions`` left out: there is no file of them, and opensm makes every port a full member of the default one.
    ``guids`` are node GUIDs of switches and port GUIDs of HCAs, by name; ``guid_file`` has them as lines, beside the
    intent.
    """

    lossless: Annotated[
        Literal["v1"], WithJsonSchema({"const": "v1", "description": "version of this format"})
    ]
    fabric: Name
    transport: Literal["infiniband"]
    flavour: Literal["upstream", "nvidia"]
    hardware: SubnetHardware
    topology: SubnetTopology
    guids: dict[str, Guid] = Field(default_factory=dict)
    guid_file: str | None = None
    subnet_manager: SubnetManager
    qos: Annotated[SubnetQos | None, BeforeValidator(off_or_section)] = None
    partitions: dict[Name, PartitionChoice] | None = None
    sharp: Annotated[SharpChoice | None, BeforeValidator(off_or_section)] = None
    jobs: JobsIntent | None = None

    def is_off(self, section: Literal["qos", "sharp"]) -> bool:
        """Return whether a section is stated to be off; left out, nothing is said of it."""
        return section in self.model_fields_set and getattr(self, section) is None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of such an intent as people write it."""
    from lossless.formats.intent.document import (
        finished_schema,  # and with it the model of the other transport
    )

    schema = InfinibandIntent.model_json_schema(by_alias=True)
    schema["title"] = "InfiniBand intent"
    for key, section in (("qos", "SubnetQos"), ("sharp", "SharpChoice")):
        schema["properties"][key] = {"anyOf": [{"enum": ["off", False]}, {"$ref": f"#/$defs/{section}"}]}
    return finished_schema(schema)
