"""Recognizes JSON and YAML documents about hosts, with as little code as a search through a repository needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_GROUP = "configuration.net.nvidia.com/"
_KINDS = ("NicConfigurationTemplate", "NicDevice")
_DCB = ({"dscp_prio"}, {"prio_pfc"}, {"tc_tsa", "prio_tc"}, {"prio_buffer", "buffer_size"}, {"lld_managed"})
_BARE_DCBX = frozenset({"host", "ieee", "cee", "static"})


def speaks_of_hosts(data: Mapping[Any, Any]) -> bool:
    """Return whether a document is an operator's resource, or an object of ``dcb -j``."""
    if any(keys <= data.keys() for keys in _DCB):
        return True
    if data and data.keys() <= _BARE_DCBX and all(value is True for value in data.values()):
        return True
    return is_resource(data)


def is_resource(data: Mapping[Any, Any]) -> bool:
    """Return whether a document is a resource of NVIDIA's nic-configuration-operator that sets up NICs."""
    return str(data.get("apiVersion", "")).startswith(_GROUP) and data.get("kind") in _KINDS
