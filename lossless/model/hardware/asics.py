"""Switches with several ASICs, each with its own cages, buffers and configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.model import Hwsku

if TYPE_CHECKING:
    from lossless.model.hardware.model import AsicCages, SwitchProfile


class AsicPart(NamedTuple):
    """One ASIC of a switch (``asic0``), as a profile and a HWSKU of its own cages and ports alone."""

    name: str
    profile: SwitchProfile
    hwsku: Hwsku


def asic_parts(profile: SwitchProfile, hwsku: Hwsku) -> tuple[AsicPart, ...]:
    """Return the ASICs of a switch; empty for one with a single ASIC, which its profile describes."""
    return tuple(_part(profile, hwsku, asic) for asic in profile.asics)


def _part(profile: SwitchProfile, hwsku: Hwsku, asic: AsicCages) -> AsicPart:
    ports = tuple(port for port in hwsku.ports if port.index in asic.indexes)
    own = Hwsku(hwsku.name, ports, hwsku.headroom, hwsku.buffers, hwsku.source, hwsku.platforms)
    cages = tuple(cage for cage in profile.cages if cage.index in asic.indexes)
    part = profile.replaced(cages=cages, hwskus=(own,), default_hwsku=own.name, asics=())
    return AsicPart(asic.name, part, own)
