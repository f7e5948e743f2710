"""Classes and policies that NX-OS has without a definition, and the qos-group of a policy's class.

Source: class names of Nexus 9000 in the configurations of microsoft/AzureStack_Network_Switch_Config_Generator @51524fa
(``c-8q-nq3``, ``c-out-8q-q3``), and of batfish/batfish @cba1873 (``c-out-q-default`` with its qos-group).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.switches.nxos.defaults import FCOE_CLASS, FCOE_GROUP
from lossless.formats.switches.nxos.read.rows import DEFAULT_CLASS, NETWORK, QOS, QUEUING

if TYPE_CHECKING:
    from lossless.formats.switches.nxos.read.rows import NxosConfig

_BUILT_IN = {
    QOS: re.compile(r"class-(?:default|fcoe)"),
    QUEUING: re.compile(r"class-(?:default|fcoe)|c-(?:in|out)-(?:[48]q-)?q(?:-default|[1-7])"),
    NETWORK: re.compile(r"class-(?:default|fcoe)|c-(?:[48]q-)?nq(?:-default|[1-7])"),
}
_NUMBER = re.compile(r"q([1-7])$")


def is_built_in(kind: str, name: str) -> bool:
    """Return whether a class has a name that NX-OS itself defines for its type."""
    return _BUILT_IN[kind].fullmatch(name) is not None


def exists(config: NxosConfig, kind: str, name: str) -> bool:
    """Return whether a class of a policy is defined, or built in."""
    return is_built_in(kind, name) or (kind, name) in config.class_maps


def qos_group(config: NxosConfig, kind: str, name: str) -> int | None:
    """Return the qos-group of a class of a network-qos or queuing policy; None if neither name nor line gives it."""
    if not exists(config, kind, name):
        return None
    if is_built_in(kind, name):
        match = _NUMBER.search(name)
        if name == FCOE_CLASS:
            return FCOE_GROUP
        return int(match[1]) if match else 0 if name.endswith("default") else None
    stated = [int(key[1]) for key in config.class_maps[kind, name] if key[0] == "qos-group"]
    return stated[0] if stated else 0 if name == DEFAULT_CLASS else None
