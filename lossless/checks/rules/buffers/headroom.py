"""Headroom of the profiles of lossless groups: the need of their links, and the origins and help of their findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.port import LinkNeed, given_headroom, link_need, lossless_profile
from lossless.checks.rules.base import MissingInput, Violation
from lossless.checks.rules.locations import beside, row_of
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate
from lossless.model.hardware.buffers import is_pg_profile_name, pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.analysis.buffers.headroom.formulas import HeadroomNeed
    from lossless.ground.basics.findings import Origin, Severity
    from lossless.model.fabric.qos import BufferProfile
    from lossless.model.fabric.view import PortSet, View


class ProfileHeadroom(NamedTuple):
    """One buffer profile of lossless groups, the headroom it gives in bytes, and the need of the link."""

    ports: PortSet
    profile: BufferProfile
    given_bytes: int
    link: LinkNeed

    def violation(self, limit: str, *, note: str, help_text: str, severity: Severity) -> Violation:
        """Return the violation of a headroom that is below a limit."""
        ports, profile, link = self.ports, self.profile, self.link
        row = None if is_computed(ports, profile) else row_of(profile)
        origin, cable = headroom_origin(ports, profile), ports.cable
        where = f"{format_rate(link.speed_bps)} over {link.cable_m} m"
        xoff = f"xoff of {profile.name}, {format_bytes(profile.xoff_bytes)}"
        length = f"the length it is for, {cable.configured_m} m"
        return Violation(
            origin=origin,
            message=f"headroom of {format_bytes(self.given_bytes)} at {where} is below {limit}",
            note=_hollow_note(ports, profile) + note,
            help=help_text,
            data={
                "headroom_bytes": self.given_bytes,
                "speed_bps": link.speed_bps,
                "cable_m": link.cable_m,
                "mtu_bytes": link.mtu_bytes,
                "cable_bytes": link.cable_bytes,
                "cable_plus_mtu_bytes": link.frame_bytes,
                "need_bytes": link.need.headroom_bytes if link.need else None,
                "need_method": link.need.method if link.need else None,
            },
            related=beside(
                origin,
                (row.at("xoff") if row else None, xoff),
                (cable.origin if cable.configured_m else None, length),
            ),
            severity=severity,
        ).on_ports(ports)


def profile_headrooms(view: View) -> Iterator[ProfileHeadroom | MissingInput]:
    """Yield, for each port set with PFC, the distinct profiles of its lossless groups with the need of its link.

    A missing input where the profile or the link is unknown.
    """
    for ports in view.lossless_sets:
        link = link_need(ports)
        for profile in _lossless_profiles(ports):
            if isinstance(profile, MissingInput):
                yield profile
            elif isinstance(link, MissingInput):
                yield MissingInput(link.reason, ports.places)
            else:
                yield ProfileHeadroom(ports, profile, given_headroom(ports.switch, profile), link)


def _lossless_profiles(ports: PortSet) -> Iterable[BufferProfile | MissingInput]:
    """Return the distinct profiles of the lossless groups of these ports, and one missing input per reason."""
    profiles: dict[object, BufferProfile | MissingInput] = {}
    for priority in ports.qos.pfc.priorities:
        profile = lossless_profile(ports, priority)
        if isinstance(profile, MissingInput):
            profiles[profile.reason] = MissingInput(profile.reason, ports.places)
        elif profile is not None:
            profiles[id(profile)] = profile
    return profiles.values()


class ProfileUse(NamedTuple):
    """A lossless profile with a row of its own, and the ports with PFC whose groups name it."""

    profile: BufferProfile
    sets: tuple[PortSet, ...]


def written_profiles(view: View) -> Iterator[ProfileUse]:
    """Yield the lossless profiles with a row in the file that ports with PFC use; those of a HWSKU are left out."""
    uses = grouped(
        (id(profile), (profile, ports)) for ports in view.lossless_sets for profile in _row_profiles(ports)
    )
    for pairs in uses.values():
        yield ProfileUse(pairs[0][0], tuple(ports for _, ports in pairs))


def _row_profiles(ports: PortSet) -> Iterable[BufferProfile]:
    qos = ports.qos
    groups = (qos.groups[qos.pausing_group(priority)] for priority in qos.pfc.priorities)
    profiles = (group.buffer for group in groups if group is not None and group.buffer is not None)
    return {id(profile): profile for profile in profiles if profile.lossless and row_of(profile)}.values()


def headroom_origin(ports: PortSet, profile: BufferProfile) -> Origin:
    """Return the origin that decides a headroom: the profile's size or xoff, the intent, or the cable length.

    A ``BUFFER_PG`` row that still names the profile of another speed or length is itself the origin.
    """
    if row_of(profile) is None or is_computed(ports, profile):
        stated = profile.origin.path[-1:] == ("xoff",)
        return profile.origin if stated else ports.cable.origin
    stale = _stale_row(ports, profile)
    hollow = given_headroom(ports.switch, profile) < profile.xoff_bytes
    return profile.origin.at("size" if hollow else "xoff") if stale is None else stale.at("profile")


def is_computed(ports: PortSet, profile: BufferProfile) -> bool:
    """Return whether the switch computes the headroom of a profile; a row of such a profile has a threshold alone."""
    return ports.switch.qos.buffer_model == "dynamic" and any(
        group is not None and group.generated and group.buffer is profile for group in ports.qos.groups
    )


def _hollow_note(ports: PortSet, profile: BufferProfile) -> str:
    """Return the reason why a profile gives less headroom than its xoff; empty where it gives the xoff."""
    if given_headroom(ports.switch, profile) == profile.xoff_bytes:
        return ""
    size, xoff = format_bytes(profile.reserved_bytes), format_bytes(profile.xoff_bytes)
    return f"size of {size} does not hold the xoff of {xoff}, and the pool shares no headroom; "


def row_help(ports: PortSet, profile: BufferProfile, need: HeadroomNeed) -> str:
    """Return the help for a headroom that depends on a cable length, a stale row or a size; else an empty text."""
    if is_computed(ports, profile):
        return computed_help(ports, need.headroom_bytes)
    stale = _stale_row(ports, profile)
    if stale is not None:
        return _fresh_row(ports, stale, need)
    if not _hollow_note(ports, profile):
        return ""
    if row_of(profile) is None:
        return "give the pool a shared headroom pool (xoff): the rows of this HWSKU count on one"
    headroom = max(profile.xoff_bytes, need.headroom_bytes)
    return f"set size to xon + xoff, {(profile.xon_bytes or 0) + headroom}, and xoff to {headroom}"


def computed_help(ports: PortSet, needed_bytes: int) -> str:
    """Return the help for computed headroom that is too small: the real cable length, else a profile of its own."""
    told_m, known_m = ports.cable.configured_m, ports.cable.known_m
    if told_m is not None and known_m is not None and told_m < known_m:
        return f"set the length of these cables to {known_m} m, from which the switch computes headroom"
    return f"give the groups a profile of their own, with xoff {needed_bytes} (the switch computes none for those)"


def _stale_row(ports: PortSet, profile: BufferProfile) -> Origin | None:
    """Return the BUFFER_PG row that names a profile generated for another speed or length; None without one."""
    if ports.speed_bps is None or not ports.cable.configured_m:
        return None
    own = pg_profile_name(ports.speed_bps, ports.cable.configured_m)
    if profile.name == own or not is_pg_profile_name(profile.name):
        return None
    return next(group.origin for group in ports.qos.groups if group and group.buffer is profile)


def _fresh_row(ports: PortSet, stale: Origin, need: HeadroomNeed) -> str:
    """Return the help for a stale BUFFER_PG row. The old profile is not changed, because other ports may need it."""
    own = pg_profile_name(ports.speed_bps, ports.cable.configured_m)
    row = "|".join(map(str, stale.path))
    if need.method == "vendor row":
        return f"remove {row} and reload: the switch then makes {own} of its row"
    return f"write {own} with xoff {need.headroom_bytes}, and name it in {row}"
