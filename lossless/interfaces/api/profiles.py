"""Profiles: the hardware that intents name, every fact with its source.

The files of folders that lint reads, and editor texts that replace files while they are edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.collect import Candidate, Inputs, read
from lossless.formats.inputs.patches import is_ours, read_text
from lossless.formats.inputs.switches import SUFFIXES as _OF_SWITCHES
from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.discovery import found_at, without_excluded
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

    from lossless.interfaces.api.options import Options

__all__ = [
    "SUFFIXES",
    "Candidate",
    "Hardware",
    "HcaProfile",
    "Hwsku",
    "InfinibandSwitchProfile",
    "Inputs",
    "NicProfile",
    "OfferedChoices",
    "PacketReorder",
    "PortNaming",
    "SwitchProfile",
    "candidates_below",
    "hardware",
    "is_excluded",
    "is_ours",
    "load_nic",
    "read",
    "read_text",
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
    from lossless.ground.basics.units import suggestion

    return f"no profile is called {name!r}{suggestion(name.lower(), names, see='lossless profiles')}"


SUFFIXES = (".json", ".yaml", ".yml", *_OF_SWITCHES)
"""Names of files that editors show the findings of."""


def candidates_below(folders: Sequence[str], options: Options) -> tuple[Candidate, ...]:
    """Return the files of folders that may be intents or configurations."""
    return found_at(folders, options).candidates


def is_excluded(file: str, folder: str, options: Options) -> bool:
    """Return whether a file is excluded from those of a folder."""
    return not without_excluded([file], [folder], options)
