"""Capacity of a switch: ports of one speed from its cages, buffers for lossless groups from its HWSKU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.model.hardware.buffer_names import INGRESS_LOSSLESS_POOL

if TYPE_CHECKING:
    from lossless.model.hardware.model import Asic, BreakoutMode, BufferDefaults, Cage, Hwsku, SwitchProfile

_ADAPTIVE_RATES_BPS = (200 * 10**9, 400 * 10**9)


def widest_split(cage: Cage, speed_bps: int) -> BreakoutMode | None:
    """Return the breakout mode with most ports of a speed, None where the cage does not support the speed."""
    fitting = [mode for mode in cage.modes if speed_bps in mode.speeds_bps]
    return max(fitting, key=lambda mode: (mode.count, mode.speeds_bps[0] == speed_bps), default=None)


def ports_per_cage(profile: SwitchProfile, speed_bps: int) -> int:
    """Return the largest number of ports of a speed that one cage of the switch supports, 0 where no cage does."""
    splits = (widest_split(cage, speed_bps) for cage in profile.cages)
    return max((mode.count for mode in splits if mode), default=0)


def may_take(profile: SwitchProfile, speed_bps: int) -> bool:
    """Return whether the switch may support ports of a speed that its profile does not list."""
    # Most profiles know all speeds; what their cages take is worked out for the others alone.
    return (
        not profile.modes_complete
        and speed_bps < max(profile.speeds_bps)
        and not ports_per_cage(profile, speed_bps)
    )


def fabric_cages(profile: SwitchProfile) -> tuple[Cage, ...]:
    """Return the cages that links of a fabric use: all but the service ports, which have a single lane."""
    return tuple(cage for cage in profile.cages if len(cage.lanes) > 1)


def service_ports(profile: SwitchProfile, speed_bps: int) -> int:
    """Return how many service ports, of a single lane each, support a speed."""
    return sum(len(cage.lanes) == 1 and speed_bps in cage.speeds_bps for cage in profile.cages)


def cages_needed(profile: SwitchProfile, ports: int, speed_bps: int) -> int:
    """Return how many fabric cages a number of ports of one speed fill, without those that are service ports.

    A port of a speed that no cage supports counts as many cages as it would fill at the switch's fastest speed.
    """
    left = max(0, ports - service_ports(profile, speed_bps))
    each = max(
        (mode.count for cage in fabric_cages(profile) if (mode := widest_split(cage, speed_bps))), default=0
    )
    return -(-left // each) if each else left * cages_per_port(profile, speed_bps)


def cages_per_port(profile: SwitchProfile, speed_bps: int) -> int:
    """Return how many cages at the switch's fastest speed have the bandwidth of one port of a speed."""
    return -(-speed_bps // max(profile.speeds_bps))


def routes_adaptively(asic: Asic, speed_bps: int) -> bool:
    """Return whether a chip is known to route packets adaptively over ports of a speed.

    Source: CumulusNetworks/docs content/cumulus-linux-515/Layer-3/Routing/Equal-Cost-Multipath-Load-Sharing.md
    @825c9c4: Spectrum-4 at 200G and 400G; content/cumulus-linux-519 @0a63016: and later chips.
    """
    return asic.name == "Spectrum-5" or (asic.name == "Spectrum-4" and speed_bps in _ADAPTIVE_RATES_BPS)


def backs_headroom(hwsku: Hwsku, defaults: BufferDefaults) -> bool:
    """Return whether a template has buffer for the headroom of the HWSKU's rows: their own, or a shared pool.

    Some HWSKUs are made for lossy fabrics: their rows reserve only xon, and no pool provides the rest.
    """
    if defaults.pool(INGRESS_LOSSLESS_POOL) is None:
        return False
    reserves = all(row.reserved_bytes >= row.headroom_bytes for row in hwsku.headroom)
    return defaults.uses_shared_headroom or reserves
