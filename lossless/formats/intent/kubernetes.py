"""Settings of NVIDIA's NIC configuration operator, where hosts are the nodes of a Kubernetes cluster.

Its resource is NicConfigurationTemplate (Mellanox/nic-configuration-operator). Sources of its behavior: README.md
@0082142 and pkg/configuration/configvalidation.go @01eed1d; of its fields: the resource definition @4096d0c.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from lossless.formats.intent.base import Model, OnOff, listed, refused, shown, whole_number

LABEL = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
"""The pattern of a DNS label (RFC 1123), the form of namespace names (Kubernetes, object names and IDs)."""
_PART = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
LABEL_KEY = rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_PART}$"
LABEL_VALUE = rf"^({_PART})?$"
"""The pattern of label values, and of the parts of label keys (Kubernetes, labels and selectors)."""
PCI_ADDRESS = r"^0000:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$"
"""The operator's own pattern (api/v1alpha1/nicconfigurationtemplate_types.go @0744b8d)."""
PARAMETER = r"^[A-Z][A-Z0-9_]{0,63}$"
PARAMETER_VALUE = r"^[A-Za-z0-9_.-]{1,128}$"
MOST_VFS = 65_535
"""TotalVFs has 16 bits (PCI Express, SR-IOV extended capability); the limit of a card depends on its firmware."""
DERIVED = (
    "ROCE_CC_PRIO_MASK",
    "CNP_DSCP",
    "CNP_802P_PRIO",
    "LINK_TYPE",
    "SRIOV_EN",
    "NUM_OF_VFS",
    "ATS_ENABLED",
)
"""Firmware settings that the operator sets, or that are derived from the rest of the intent, without port suffix."""


MOST_PARAMETERS = 48
"""The most firmware settings: the resource holds 128, and the fabric's own take 20 for each of at most 4 ports."""


def _matching(pattern: str, what: str, wanted: str) -> BeforeValidator:
    def read(value: Any) -> Any:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise refused(f"{shown(value)} is not {what}; expected {wanted}")
        return value

    return BeforeValidator(read)


_NAMESPACE = _matching(LABEL, "a namespace", "at most 63 small letters, digits and '-'")
_PCI = _matching(PCI_ADDRESS, "a PCI address", "one like 0000:1a:00.0")


def _selector(value: Any) -> Any:
    if not isinstance(value, dict) or not value:
        raise refused(f"expected labels by name, found {shown(value)}")
    for name, label in value.items():
        if not isinstance(name, str) or not re.fullmatch(LABEL_KEY, name):
            raise refused(f"hosts.kubernetes.node_selector: {shown(name)} is no label", name, at_key=True)
        if not isinstance(label, str) or not re.fullmatch(LABEL_VALUE, label):
            quotes = " in quotes" if isinstance(label, bool | int) else ""
            raise refused(f"{shown(label)} is no value of a label; expected text{quotes}", name)
    return value


def _parameters(value: Any) -> Any:
    if not isinstance(value, dict):
        raise refused(f"expected firmware settings by name, found {shown(value)}")
    if len(value) > MOST_PARAMETERS:
        raise refused(f"{len(value)} firmware settings; the most is {MOST_PARAMETERS}")
    for name, setting in value.items():
        _check_parameter(name, setting)
    return {name: str(setting) for name, setting in value.items()}


def _check_parameter(name: Any, setting: Any) -> None:
    at = "hosts.kubernetes.firmware"
    if not isinstance(name, str) or not re.fullmatch(PARAMETER, name):
        raise refused(f"{at}: {shown(name)} is no firmware setting", name, at_key=True)
    if re.sub(r"_P\d$", "", name) in DERIVED:
        raise refused(f"{at}: {name} follows from the rest of the intent", name, at_key=True)
    if isinstance(setting, bool) or not re.fullmatch(PARAMETER_VALUE, str(setting)):
        raise refused(f"{shown(setting)} is no value of a firmware setting; write a number or a word", name)


def _max_read_request(value: Any) -> Any:
    if value in (True, "on"):
        return "on"
    if value in (False, "off"):
        return None
    if isinstance(value, dict) and value.keys() == {"max_read_request"}:
        return _read_request(value["max_read_request"])
    raise refused(f"expected on, off or {{max_read_request: 4096}}, found {shown(value)}")


def _read_request(size: Any) -> Any:
    if isinstance(size, bool) or size not in READ_REQUESTS:
        sizes = ", ".join(map(str, READ_REQUESTS[:-1]))
        message = f"{shown(size)} is no size of a read request; expected {sizes} or {READ_REQUESTS[-1]} bytes"
        raise refused(message, "max_read_request")
    return size


ReadRequest = Literal[128, 256, 512, 1024, 2048, 4096]
READ_REQUESTS: tuple[ReadRequest, ...] = get_args(ReadRequest)
"""Sizes in bytes that the resource definition admits."""
_PCI_SCHEMA = {
    "anyOf": [
        {"type": "boolean"},
        {"enum": ["on", "off"]},
        {
            "type": "object",
            "properties": {
                "max_read_request": {
                    "enum": list(READ_REQUESTS),
                    "documentation": "Bytes that a read request asks for at most: 128 to 4096, a power of two.",
                }
            },
            "required": ["max_read_request"],
            "additionalProperties": False,
        },
    ]
}


class Kubernetes(Model):
    """Settings of NVIDIA's NIC configuration operator beyond those derived from the fabric.

    ``num_vfs`` has no default: 0 switches SR-IOV off. ``pci_addresses`` are the NICs of the fabric, where others of the
    same type serve other networks. ``ports`` is how many ports a NIC has: the operator ignores settings of ports that
    do not exist. ``firmware`` are further settings of mlxconfig.
    """

    namespace: Annotated[str, _NAMESPACE, WithJsonSchema({"type": "string", "pattern": LABEL})]
    """Namespace that the operator runs in. Example: `nvidia-network-operator`"""
    num_vfs: Annotated[int, *whole_number(0, MOST_VFS, "a number of VFs")]
    """Virtual functions of each NIC, for SR-IOV; 0 switches SR-IOV off. Example: `0` Example: `8`"""
    node_selector: Annotated[
        dict[str, str] | None,
        BeforeValidator(_selector),
        WithJsonSchema(
            {
                "type": "object",
                "patternProperties": {LABEL_KEY: {"type": "string", "pattern": LABEL_VALUE}},
                "additionalProperties": False,
                "minProperties": 1,
            }
        ),
    ] = None
    """Labels of the nodes that are configured, all of which a node must have. Left out: every node.
    Example: `{feature.node.kubernetes.io/network-sriov.capable: "true"}`
    """
    pci_addresses: Annotated[
        tuple[Annotated[str, _PCI, WithJsonSchema({"type": "string", "pattern": PCI_ADDRESS})], ...] | None,
        BeforeValidator(listed),
    ] = None
    """PCI addresses of the fabric's NICs, where nodes have others of the same type. Left out: all of that type.
    Example: `["0000:1a:00.0"]`
    """
    ports: Annotated[int, *whole_number(1, 4, "a number of ports")] = 2
    """Ports of each NIC, 1 to 4; settings of ports that it does not have are ignored. Example: `1`"""
    pci_performance: Annotated[
        Literal["on"] | ReadRequest | None,
        BeforeValidator(_max_read_request),
        WithJsonSchema(_PCI_SCHEMA),
    ] = None
    """Whether the operator tunes PCI Express, and how many bytes a read request asks for at most. Left out: it does
    not.
    Example: `on`
    Example: `{max_read_request: 4096}`
    """
    gpu_direct: OnOff = False
    """Whether the operator prepares GPUDirect on bare metal; needs `pci_performance`."""
    firmware: Annotated[
        dict[str, str] | None,
        BeforeValidator(_parameters),
        WithJsonSchema(
            {
                "type": "object",
                "patternProperties": {PARAMETER: {"type": ["string", "integer"], "pattern": PARAMETER_VALUE}},
                "additionalProperties": False,
            }
        ),
    ] = None
    """Further settings of the firmware by their names in mlxconfig, with their ports. Left out: none.
    Example: `{ADVANCED_PCI_SETTINGS: 1}`
    """

    @model_validator(mode="after")
    def _gpu_direct_needs_pci(self) -> Kubernetes:
        if self.gpu_direct and self.pci_performance is None:
            raise refused(
                "the operator refuses it without pci_performance; add pci_performance: on", "gpu_direct"
            )
        return self
