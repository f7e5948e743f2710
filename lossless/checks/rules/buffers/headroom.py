"""What the rules on headroom have in common: the groups of a port, and where their headroom was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import MissingInput, given_headroom, link_need, lossless_profile
from lossless.checks.rules.base import Gap
from lossless.checks.rules.locations import beside, row_of
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes
from lossless.model.hardware.buffer_names import is_pg_profile_name, pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
    from lossless.analysis.buffers.headroom.port import LinkNeed
    from lossless.ground.basics.findings import Json, Origin, Related
    from lossless.model.fabric.qos import BufferProfile
    from lossless.model.fabric.view import PortSet, View


class ProfileHeadroom(NamedTuple):
    """One profile of lossless groups, what it gives in headroom, and what the link behind it needs."""

    ports: PortSet
    profile: BufferProfile
    given_bytes: int
    link: LinkNeed


def measured(view: View) -> Iterator[ProfileHeadroom | Gap]:
    """Yield each distinct profile of lossless groups with its link, and a gap for what is unknown of either."""
    for ports in view.lossless_sets:
        link = link_need(ports)
        for profile in _lossless_profiles(ports):
            if isinstance(profile, Gap):
                yield profile
            elif isinstance(link, MissingInput):
                yield Gap(link.reason, ports.places)
            else:
                yield ProfileHeadroom(ports, profile, given_headroom(ports.switch, profile), link)


def _lossless_profiles(ports: PortSet) -> Iterator[BufferProfile | Gap]:
    """Yield each distinct profile of the lossless groups of these ports, and a gap for each unknown one."""
    found: dict[object, BufferProfile | Gap] = {}
    for priority in ports.qos.pfc.priorities:
        profile = lossless_profile(ports, priority)
        if isinstance(profile, MissingInput):
            found[profile.reason] = Gap(profile.reason, ports.places)
        elif profile is not None:
            found[id(profile)] = profile
    yield from found.values()


class ProfileUse(NamedTuple):
    """A lossless profile that a file writes, and the ports with PFC whose groups name it."""

    profile: BufferProfile
    sets: tuple[PortSet, ...]


def written_profiles(view: View) -> tuple[ProfileUse, ...]:
    """Return the lossless profiles of a deployed file that ports with PFC use; rows of a HWSKU are none."""
    found: dict[int, ProfileUse] = {}
    for ports in view.lossless_sets:
        for profile in _named_profiles(ports):
            known = found.get(id(profile), ProfileUse(profile, ()))
            found[id(profile)] = ProfileUse(profile, (*known.sets, ports))
    return tuple(found.values())


def _named_profiles(ports: PortSet) -> Iterable[BufferProfile]:
    groups = (ports.qos.groups[priority] for priority in ports.qos.pfc.priorities)
    named = (group.buffer for group in groups if group is not None and group.buffer is not None)
    return {
        id(profile): profile
        for profile in named
        if profile.lossless and profile.origin.path[:1] == ("BUFFER_PROFILE",)
    }.values()


def headroom_origin(ports: PortSet, profile: BufferProfile) -> Origin:
    """Return where a headroom is decided: in the profile, else by the cable it was looked up by.

    A row that still names what was generated for another speed or length is itself to blame.
    """
    if profile.origin.path[:1] != ("BUFFER_PROFILE",):
        return ports.cable.origin
    stale = stale_row(ports, profile)
    hollow = given_headroom(ports.switch, profile) < (profile.headroom_bytes or 0)
    return profile.origin.at("size" if hollow else "xoff") if stale is None else stale.at("profile")


def headroom_beside(ports: PortSet, profile: BufferProfile) -> tuple[Related, ...]:
    """Return the other rows that decide about a headroom: the one that sets xoff, and the length it is for."""
    row, cable = row_of(profile), ports.cable
    return beside(
        headroom_origin(ports, profile),
        (
            row.at("xoff") if row else None,
            f"xoff of {profile.name}, {format_bytes(profile.headroom_bytes or 0)}",
        ),
        (cable.origin if cable.configured_m else None, f"the length it is for, {cable.configured_m} m"),
    )


def hollow_note(ports: PortSet, profile: BufferProfile) -> str:
    """Return why a profile gives less headroom than its xoff says, empty where it does not."""
    if given_headroom(ports.switch, profile) == (profile.headroom_bytes or 0):
        return ""
    size, xoff = format_bytes(profile.reserved_bytes), format_bytes(profile.headroom_bytes or 0)
    return f"size of {size} does not hold the xoff of {xoff}, and the pool shares no headroom; "


def hollow_help(ports: PortSet, profile: BufferProfile, need: HeadroomNeed) -> str:
    """Return what fills such a profile up, empty where nothing is amiss."""
    if not hollow_note(ports, profile):
        return ""
    if profile.origin.path[:1] != ("BUFFER_PROFILE",):
        return "give the pool a shared headroom pool (xoff): the rows of this HWSKU count on one"
    headroom = max(profile.headroom_bytes or 0, need.headroom_bytes)
    return f"set size to xon + xoff, {(profile.xon_bytes or 0) + headroom}, and xoff to {headroom}"


def stale_row(ports: PortSet, profile: BufferProfile) -> Origin | None:
    """Return the BUFFER_PG row that names a profile generated for another speed or length, else None."""
    if ports.speed_bps is None or not ports.cable.configured_m:
        return None
    own = pg_profile_name(ports.speed_bps, ports.cable.configured_m)
    if profile.name == own or not is_pg_profile_name(profile.name):
        return None
    rows = (group.origin for group in ports.qos.groups if group and group.buffer is profile)
    return next((row for row in rows if row.path[:1] == ("BUFFER_PG",)), None)


def fresh_row(ports: PortSet, stale: Origin, need: HeadroomNeed) -> str:
    """Return how a port gets the headroom of its own speed and length; other ports may need the old profile."""
    own, row = (
        pg_profile_name(ports.speed_bps or 0, ports.cable.configured_m or 0),
        "|".join(map(str, stale.path)),
    )
    if need.method == "vendor row":
        return f"remove {row} and reload: the switch then makes {own} of its row"
    return f"write {own} with xoff {need.headroom_bytes}, and name it in {row}"


def headroom_data(ports: PortSet, profile: BufferProfile, link: LinkNeed) -> dict[str, Json]:
    """Return the numbers of a comparison."""
    return {
        "headroom_bytes": given_headroom(ports.switch, profile),
        "speed_bps": ports.speed_bps,
        "cable_m": link.cable_m,
        "mtu_bytes": link.mtu_bytes,
        "cable_bytes": link.cable_bytes,
        "cable_plus_mtu_bytes": link.frame_bytes,
        "need_bytes": link.need.headroom_bytes if link.need else None,
        "need_method": link.need.method if link.need else None,
    }
