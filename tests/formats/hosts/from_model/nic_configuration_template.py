"""What an API server and NVIDIA's operator take for a NicConfigurationTemplate, written from facts.

The fields and their bounds are those of Mellanox/nic-configuration-operator as of 2026-08 (@8bfbeb3; the definition
itself was read at deployment/nic-configuration-operator-chart/crds @4096d0c, what came later in the tests of
pkg/configuration/configvalidation.go and in README.md @0082142). Fields that lossless never writes are left out, so
that writing one is refused. The rules say what the definition's own expressions mean (api/v1alpha1/validation_test.go
@0978f90), ``refused_by_controller`` what only the controller refuses (pkg/configuration/configvalidation.go @01eed1d).
"""

from __future__ import annotations

from typing import Any

import celpy
from celpy.adapter import json_to_cel
from jsonschema import Draft7Validator

Resource = dict[str, Any]


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_ENABLED = {"enabled": {"type": "boolean"}}
_QOS = _object(
    {
        "trust": {"enum": ["dscp", "pfc"]},
        "pfc": {"type": "string", "pattern": "^([01],){7}[01]$"},
        "tos": {"type": "integer", "minimum": 0, "maximum": 255},
        "cableLen": {"type": "integer", "minimum": 1},
        "ecn": _object({**_ENABLED, "priority": {"type": "integer", "minimum": 0, "maximum": 7}}, "enabled"),
        "pauseFrames": _object(_ENABLED, "enabled"),
    },
    "trust",
    "pfc",
)
_TEMPLATE = _object(
    {
        "numVfs": {"type": "integer"},
        "linkType": {"enum": ["Ethernet", "Infiniband"]},
        "pciPerformanceOptimized": _object(
            {**_ENABLED, "maxReadRequest": {"enum": [128, 256, 512, 1024, 2048, 4096]}}, "enabled"
        ),
        "gpuDirectOptimized": _object({**_ENABLED, "env": {"type": "string"}}, "enabled", "env"),
        "spectrumXOptimized": _object({**_ENABLED, "version": {"type": "string"}}, "enabled", "version"),
        "roceOptimized": _object({**_ENABLED, "roceMode": {"enum": [1, 2]}, "qos": _QOS}, "enabled"),
        "rawNvConfig": {
            "type": "array",
            "maxItems": 128,
            "items": _object(
                {
                    "name": {"type": "string", "maxLength": 64},
                    "value": {"type": "string", "maxLength": 128},
                },
                "name",
                "value",
            ),
        },
    },
    "numVfs",
    "linkType",
)
_SELECTOR = _object(
    {
        "nicType": {"type": "string"},
        "pciAddresses": {
            "type": "array",
            "items": {"type": "string", "pattern": r"^0000:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$"},
        },
    },
    "nicType",
)
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
SCHEMA = _object(
    {
        "apiVersion": {"const": "configuration.net.nvidia.com/v1alpha1"},
        "kind": {"const": "NicConfigurationTemplate"},
        "metadata": _object(
            {
                "name": {"type": "string", "pattern": _NAME, "maxLength": 253},
                "namespace": {
                    "type": "string",
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
                    "maxLength": 63,
                },
            },
            "name",
            "namespace",
        ),
        "spec": _object(
            {
                "nodeSelector": {"type": "object", "additionalProperties": {"type": "string"}},
                "nicSelector": _SELECTOR,
                "template": _TEMPLATE,
            },
            "nicSelector",
            "template",
        ),
    },
    *("apiVersion", "kind", "metadata", "spec"),
)
_ON = "has(self.template.spectrumXOptimized) && self.template.spectrumXOptimized.enabled"
RULES = {
    "Spectrum-X needs Ethernet and one VF": (
        f"{_ON} ? self.template.linkType == 'Ethernet' && self.template.numVfs == 1 : true"
    ),
    "Spectrum-X sets RoCE up itself": (
        f"{_ON} && has(self.template.roceOptimized) ? !self.template.roceOptimized.enabled : true"
    ),
}
_ENVIRONMENT = celpy.Environment()
_PROGRAMS = {
    said: _ENVIRONMENT.program(_ENVIRONMENT.compile(expression)) for said, expression in RULES.items()
}


def refused_by_server(resource: Resource) -> list[str]:
    """Return what an API server refuses a resource for: its structure, then its rules."""
    errors = [error.message for error in Draft7Validator(SCHEMA).iter_errors(resource)]
    if errors:
        return errors
    spec = json_to_cel(resource["spec"])
    return [said for said, program in _PROGRAMS.items() if not program.evaluate({"self": spec})]


def refused_by_controller(resource: Resource) -> list[str]:
    """Return what the operator refuses a resource for that the server took (IncorrectSpecError)."""
    template = resource["spec"]["template"]
    roce, gpu = template.get("roceOptimized", {}), template.get("gpuDirectOptimized", {})
    said = []
    if roce.get("enabled") and template["linkType"] == "Infiniband":
        said.append("RoCE on InfiniBand")
    if gpu.get("enabled") and gpu["env"] != "Baremetal":
        said.append("GPUDirect on something else than bare metal")
    if gpu.get("enabled") and not template.get("pciPerformanceOptimized", {}).get("enabled"):
        said.append("GPUDirect without PCI performance")
    return said


def settings_of(resource: Resource, ports: int) -> dict[str, str]:
    """Return the firmware settings that the operator writes to a NIC with a number of ports.

    ``roceOptimized`` has its own, and ``rawNvConfig`` is laid over them; what names a port beyond is dropped.
    """
    template = resource["spec"]["template"]
    settings: dict[str, str] = {}
    if template.get("roceOptimized", {}).get("enabled"):
        for port in range(1, ports + 1):
            settings |= {f"ROCE_CC_PRIO_MASK_P{port}": "255", f"CNP_DSCP_P{port}": "4"}
            settings[f"CNP_802P_PRIO_P{port}"] = "6"
    for setting in template.get("rawNvConfig", ()):
        _, _, port = setting["name"].rpartition("_P")
        if not (port.isdecimal() and int(port) > ports):
            settings[setting["name"]] = setting["value"]
    return settings
