"""The purpose of a network: the one that the intent states, else the one that its name suggests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossless.model.fabric.model import Network

_MANAGEMENT = frozenset({"management", "mgmt", "oob", "bmc", "ipmi"})
_STORAGE = frozenset({"storage", "nfs", "nvme", "nvmeof", "iscsi", "ceph", "lustre", "backup"})


def manages(network: Network) -> bool:
    """Return whether a network manages devices, by its stated purpose, else by a word of its name."""
    return network.purpose == "management" if network.purpose else is_management(network.name)


def stores(network: Network) -> bool:
    """Return whether a network carries storage, by its stated purpose, else by a word of its name."""
    return network.purpose == "storage" if network.purpose else is_storage(network.name)


def is_management(name: str) -> bool:
    """Return whether a network manages devices, by a word of its name."""
    return not _MANAGEMENT.isdisjoint(_words(name))


def is_storage(name: str) -> bool:
    """Return whether a network carries storage, by a word of its name."""
    return not _STORAGE.isdisjoint(_words(name))


def _words(name: str) -> list[str]:
    return name.lower().replace("_", "-").replace(".", "-").split("-")
