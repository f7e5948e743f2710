"""What the rules on headroom have in common: the groups of a port, and where their headroom was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.buffers.port import Missing, lossless_profile
from lossless.rules.base import Gap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.buffers.port import LinkNeed
    from lossless.fabric.qos import BufferProfile
    from lossless.fabric.view import PortSet
    from lossless.findings import Json, Origin


def lossless_profiles(ports: PortSet) -> Iterator[BufferProfile | Gap]:
    """Yield each distinct profile of the lossless groups of these ports, and a gap for each unknown one."""
    found: dict[object, BufferProfile | Gap] = {}
    for priority in ports.qos.pfc.priorities:
        profile = lossless_profile(ports, priority)
        if isinstance(profile, Missing):
            found[profile.reason] = Gap(profile.reason, ports.places)
        elif profile is not None:
            found[id(profile)] = profile
    yield from found.values()


def headroom_origin(ports: PortSet, profile: BufferProfile) -> Origin:
    """Return where a headroom is decided: in the profile, else by the cable it was looked up by."""
    stated = profile.origin.path[:1] == ("BUFFER_PROFILE",)
    return profile.origin.at("xoff") if stated else ports.cable.origin


def headroom_data(ports: PortSet, profile: BufferProfile, link: LinkNeed) -> dict[str, Json]:
    """Return the numbers of a comparison."""
    return {
        "headroom_bytes": profile.headroom_bytes,
        "speed_bps": ports.speed_bps,
        "cable_m": link.cable_m,
        "mtu_bytes": link.mtu_bytes,
        "cable_bytes": link.cable_bytes,
        "cable_plus_mtu_bytes": link.frame_bytes,
        "need_bytes": link.need.headroom_bytes if link.need else None,
        "need_method": link.need.method if link.need else None,
    }
