"""What a network is for, as far as its name says so: an intent has no other word for it."""

from __future__ import annotations

_MANAGEMENT = frozenset({"management", "mgmt", "oob", "bmc", "ipmi"})
_STORAGE = frozenset({"storage", "nfs", "nvme", "nvmeof", "iscsi", "ceph", "lustre", "backup"})


def is_management(name: str) -> bool:
    """Return whether a network manages devices, by a word of its name."""
    return not _MANAGEMENT.isdisjoint(_words(name))


def is_storage(name: str) -> bool:
    """Return whether a network carries storage, by a word of its name."""
    return not _STORAGE.isdisjoint(_words(name))


def _words(name: str) -> list[str]:
    return name.lower().replace("_", "-").replace(".", "-").split("-")
