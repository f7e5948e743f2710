"""Profiles: the hardware that intents name, every fact with its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.infiniband import (
    HcaProfile,
    InfinibandSwitchProfile,
    hca_names,
    infiniband_switch_names,
    load_hca,
    load_infiniband_switch,
)
from lossless.model.hardware.load import load_nic, load_switch, nic_names, switch_names
from lossless.model.hardware.load_balancing import OfferedChoices, PacketReorder
from lossless.model.hardware.model import Hwsku, PortNaming, SwitchProfile
from lossless.model.hardware.nic import NicProfile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

__all__ = [
    "Hardware",
    "HcaProfile",
    "Hwsku",
    "InfinibandSwitchProfile",
    "NicProfile",
    "OfferedChoices",
    "PacketReorder",
    "PortNaming",
    "SwitchProfile",
    "hardware",
    "load_nic",
]


class Hardware(NamedTuple):
    """Profiles by kind, each kind sorted by name."""

    switches: tuple[SwitchProfile, ...] = ()
    nics: tuple[NicProfile, ...] = ()
    infiniband_switches: tuple[InfinibandSwitchProfile, ...] = ()
    hcas: tuple[HcaProfile, ...] = ()


def hardware(name: str | None = None, profile_dirs: Sequence[str | PathLike[str]] = ()) -> Hardware:
    """Return the hardware that is known, or of that the one of a name: a NIC of both transports is among ``nics``.

    Raises:
        ProfileError: nothing has that name (the message has the nearest one), or a user's file is unreadable or wrong.
    """
    switches, nics = switch_names(profile_dirs), nic_names(profile_dirs)
    if name in switches:
        return Hardware(switches=(load_switch(name, profile_dirs),))
    if name in nics:
        return Hardware(nics=(load_nic(name, profile_dirs),))
    infiniband_switches, hcas = infiniband_switch_names(profile_dirs), hca_names(profile_dirs)
    if name in infiniband_switches:
        return Hardware(infiniband_switches=(load_infiniband_switch(name, profile_dirs),))
    if name in hcas:
        return Hardware(hcas=(load_hca(name, profile_dirs),))
    if name is not None:
        raise ProfileError(_unknown(name, (*switches, *nics, *infiniband_switches, *hcas)))
    return Hardware(
        tuple(load_switch(known, profile_dirs) for known in switches),
        tuple(load_nic(known, profile_dirs) for known in nics),
        tuple(load_infiniband_switch(known, profile_dirs) for known in infiniband_switches),
        tuple(load_hca(known, profile_dirs) for known in hcas),
    )


def _unknown(name: str, names: Sequence[str]) -> str:
    from lossless.ground.basics.wording import suggestion

    return f"no profile is called {name!r}{suggestion(name.lower(), names, see='lossless profiles')}"
