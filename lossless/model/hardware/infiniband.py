"""Profiles of InfiniBand hardware; the shipped ones are read with the standard library alone.

Switches have files of their own, ``infiniband/switches/NAME.toml``. An adapter is a network adapter whose profile lists
rates of InfiniBand; one without known Ethernet facts has a file of its own, ``infiniband/hcas/NAME.toml``. A
user's folders have the same layout, as in :mod:`lossless.model.hardware.load`.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.files import data_dir
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.load import load_nic, nic_names, profiles_in, read_profile, unknown_profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.model.hardware.load import Folder

_FOLDER = "infiniband"


class InfinibandSwitchProfile(NamedTuple):
    """One InfiniBand switch product.

    ``ports`` has the number of logical ports by rate, with all of them at that rate. A rate that is missing there is
    unknown if it is slower than the fastest; no port is faster. ``managed``: it can run a subnet manager itself.
    ``sharp`` is the generation of its SHARP. ``vls`` is its number of data VLs, None where no checkable source states
    it.
    """

    name: str
    product: str
    vendor: str
    ports: Mapping[str, int]
    managed: bool
    sharp: int
    vls: int | None
    sources: Mapping[str, str]


class HcaProfile(NamedTuple):
    """One adapter; ``rates`` are the names of rates of a port, slowest first, ``ports`` is the most ports of a card."""

    name: str
    product: str
    rates: tuple[str, ...]
    ports: int | None
    pci_id: str | None
    sources: Mapping[str, str]


def infiniband_switch_names(extra_dirs: Sequence[Folder] = ()) -> tuple[str, ...]:
    """Return the names of all InfiniBand switch profiles, sorted.

    Raises:
        ProfileError: a user's profile is a link that leads outside of its folder and repository.
    """
    return tuple(sorted(_files("switches", extra_dirs)))


def load_infiniband_switch(name: str, extra_dirs: Sequence[Folder] = ()) -> InfinibandSwitchProfile:
    """Return the InfiniBand switch profile of that name.

    Raises:
        ProfileError: no such profile (with the nearest name), or a user's file that is unreadable or wrong.
    """
    files = _files("switches", extra_dirs)
    if name not in files:
        raise ProfileError(unknown_profile("InfiniBand switch", name, sorted(files)))
    return _switch(name, files[name])


def hca_names(extra_dirs: Sequence[Folder] = ()) -> tuple[str, ...]:
    """Return the names of the adapters that support InfiniBand, sorted.

    Raises:
        ProfileError: a user's file that is unreadable or wrong.
    """
    nics = (name for name in nic_names(extra_dirs) if load_nic(name, extra_dirs).infiniband)
    return tuple(sorted({*nics, *_files("hcas", extra_dirs)}))


def load_hca(name: str, extra_dirs: Sequence[Folder] = ()) -> HcaProfile:
    """Return the InfiniBand facts in the profile of an adapter.

    Raises:
        ProfileError: no such profile, one without InfiniBand, or a user's file that is unreadable or wrong.
    """
    files = _files("hcas", extra_dirs)
    if name in files:
        return _hca(name, files[name])
    if name not in nic_names(extra_dirs):
        raise ProfileError(unknown_profile("InfiniBand adapter", name, list(hca_names(extra_dirs))))
    nic = load_nic(name, extra_dirs)
    if not nic.infiniband:
        have = ", ".join(hca_names(extra_dirs))
        raise ProfileError(f"{name} has no rate of InfiniBand; adapters that have one: {have}")
    return HcaProfile(nic.name, nic.product, nic.infiniband, nic.ports, nic.pci_id, nic.sources)


def _files(kind: str, extra_dirs: Sequence[Folder]) -> dict[str, str]:
    files: dict[str, str] = {}
    for folder in (data_dir("profiles"), *reversed(extra_dirs)):
        files |= profiles_in(folder, os.path.join(_FOLDER, kind))
    return files


@cache
def _switch(name: str, path: str) -> InfinibandSwitchProfile:
    raw = read_profile(path)
    if not path.startswith(data_dir("profiles")):
        from lossless.model.hardware.schema import check_infiniband_switch

        check_infiniband_switch(path, raw)
    return build(name, raw)


@cache
def _hca(name: str, path: str) -> HcaProfile:
    raw = read_profile(path)
    if not path.startswith(data_dir("profiles")):
        from lossless.model.hardware.schema import check_hca

        check_hca(path, raw)
    return HcaProfile(
        name, raw["product"], tuple(raw["infiniband"]), raw.get("ports"), raw.get("pci_id"), raw["sources"]
    )


def build(name: str, raw: dict[str, Any]) -> InfinibandSwitchProfile:
    """Return the profile of a file's contents, which must have the shape of schema.InfinibandSwitchFile."""
    return InfinibandSwitchProfile(
        name=name,
        product=raw["product"],
        vendor=raw["vendor"],
        ports=raw["ports"],
        managed=raw["managed"],
        sharp=raw["sharp"],
        vls=raw.get("vls"),
        sources=raw["sources"],
    )
