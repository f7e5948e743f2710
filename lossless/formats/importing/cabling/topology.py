"""Turns files of cables into devices and links of an intent; missing facts are problems, and none is guessed."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lossless.formats.importing.cabling.cables import PORT_NAME, merge_cables, sonic_spelling
from lossless.formats.importing.cabling.sheets import read_files
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, listed
from lossless.ground.documents.yaml.compose import text_scalar
from lossless.model.fabric.cabling import CableEnd, canonical_names
from lossless.model.fabric.model import ROLES, link_tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.importing.cabling.cables import CableFile, FileCable, FileLine
    from lossless.formats.importing.cabling.sheets import CableFiles

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_NO_PORT = re.compile(r"(?i)(port-?channel|bond|lag|vlan|loopback)[ ]?[0-9]+")
"""The pattern of interfaces that consist of ports, or of none, and have no cable of their own."""
_MANY = 5


class CablingOptions(NamedTuple):
    """Device roles, and default speeds and cable lengths of links, that files about cabling lack.

    ``roles`` are patterns of names, or of an export's own roles (``role:tor``), each with a role. ``speeds`` in b/s and
    ``cables`` in m are defaults by tier of links. ``exclude`` are name patterns of devices to leave out.
    """

    roles: tuple[tuple[str, str], ...] = ()
    speeds: Mapping[str, int] = {}
    cables: Mapping[str, int] = {}
    exclude: tuple[str, ...] = ()


class CablingLink(NamedTuple):
    """One link of an intent, its switch first."""

    a: CableEnd
    b: CableEnd
    speed_bps: int
    cable_m: int


class CablingTopology(NamedTuple):
    """The role of each device by name, and the links, both in natural order."""

    roles: dict[str, str]
    links: tuple[CablingLink, ...]


def read_topology(texts: Mapping[str, str], options: CablingOptions) -> CablingTopology:
    """Return the devices and links in files about cabling; ``texts`` has the text of each file.

    Raises:
        InputError: files of an unsupported kind, contradictions, and devices or links with missing facts.
    """
    cable_files = read_files(texts)
    files, problems = _by_one_name(cable_files), list(cable_files.problems)
    speed_of = {end: speed_bps for file in files for end, speed_bps in (*file.rated, *file.speeds)}
    cables = merge_cables(
        (c for file in files for c in file.cables if not is_excluded(c, options.exclude)), problems
    )
    roles = _roles(cables, files, options, problems)
    known = [cable for cable in cables if cable.a.device in roles and cable.b.device in roles]
    links = list(_links(known, roles, speed_of, options, problems))
    if problems:
        raise InputError(sorted(set(problems), key=lambda p: (p.file, p.line or 0, p.message)))
    return CablingTopology(roles, tuple(sorted(links, key=_order)))


def _by_one_name(cable_files: CableFiles) -> tuple[CableFile, ...]:
    """Return the content of files about cabling with one spelling of the name of each device and port."""
    cables = cable_files.cables
    names = {end.device for cable in cables for end in (cable.a, cable.b)} | cable_files.listed
    called = canonical_names(names, cable_files.listed)
    ports = _port_names(called, cables)

    def end(cable_end: CableEnd) -> CableEnd:
        device = called.get(cable_end.device, cable_end.device)
        return CableEnd(device, ports.get((device, (cable_end.port or "").lower()), cable_end.port))

    return tuple(
        file._replace(
            cables=tuple(cable._replace(a=end(cable.a), b=end(cable.b)) for cable in file.cables),
            roles=tuple((called[name], role, place) for name, role, place in file.roles),
            speeds=tuple((end(at), speed_bps) for at, speed_bps in file.speeds),
            rated=tuple((end(at), speed_bps) for at, speed_bps in file.rated),
        )
        for file in cable_files.files
    )


def _port_names(called: Mapping[str, str], cables: Iterable[FileCable]) -> dict[tuple[str, str], str]:
    """Return the name of each port by device and lower-case name: the first found, with SONiC's capital."""
    name_of: dict[tuple[str, str], str] = {}
    for cable in cables:
        for end in (cable.a, cable.b):
            if end.port is not None:
                key = (called[end.device], end.port.lower())
                name_of.setdefault(key, sonic_spelling(end.port))
    return name_of


def is_excluded(cable: FileCable, exclude: Sequence[str]) -> bool:
    """Return whether the device at an end of a cable has a name that matches a pattern, in any case."""
    return any(
        fnmatchcase(end.device.lower(), pattern.lower()) for end in (cable.a, cable.b) for pattern in exclude
    )


def _roles(
    cables: Sequence[FileCable], files: Iterable[CableFile], options: CablingOptions, problems: list[Problem]
) -> dict[str, str]:
    """Return the role of every device with a cable, by name: as declared, else the role in an export.

    Devices without a role, and names that an intent refuses, are problems.
    """
    exported = {name: role for file in files for name, role, _ in file.roles}
    first: dict[str, FileLine] = {}
    for cable in cables:
        for end in (cable.a, cable.b):
            first.setdefault(end.device, cable.place)
    roles, unknown = {}, []
    for name in sorted(first, key=natural_key):
        role = _role(name, exported.get(name, ""), options)
        if role is None:
            unknown.append(name)
        elif _NAME.fullmatch(name) is None:
            problems.append(first[name].problem(f"{name!r} is no name that an intent can give a device"))
        else:
            roles[name] = role
    if unknown:
        problems.append(first[unknown[0]].problem(_no_role(unknown, exported)))
    return roles


def _role(name: str, exported: str, options: CablingOptions) -> str | None:
    for pattern, role in options.roles:
        kind, colon, word = pattern.partition(":")
        if (
            (exported.lower() == word.lower())
            if colon and kind == "role"
            else fnmatchcase(name.lower(), pattern.lower())
        ):
            return role
    word = exported.strip().lower().replace(" ", "-").replace("_", "-")
    return word if word in ROLES else None


def _no_role(unknown: Sequence[str], exported: Mapping[str, str]) -> str:
    named = listed(unknown, _MANY)
    own = exported.get(unknown[0])
    example = f"role:{own}" if own else f"{unknown[0].rstrip('0123456789') or unknown[0]}*"
    verb = "is" if len(unknown) == 1 else "are"
    return (
        f"nothing says what {named} {verb}; state it: --role ROLE='{example}', with one of {', '.join(ROLES)}"
    )


def _links(
    cables: Iterable[FileCable],
    roles: Mapping[str, str],
    speed_of: Mapping[CableEnd, int],
    options: CablingOptions,
    problems: list[Problem],
) -> Iterator[CablingLink]:
    lacking: dict[tuple[str, str], list[FileCable]] = {}
    for cable in cables:
        a, b = (cable.b, cable.a) if roles[cable.a.device] == "host" else (cable.a, cable.b)
        if roles[a.device] == "host":
            problems.append(cable.place.problem(f"{_text(a)} and {_text(b)}: a link of two hosts"))
            continue
        if a.device == b.device:
            problems.append(
                cable.place.problem(f"{_text(a)} and {_text(b)}: a link leads back to its own device")
            )
            continue
        unsure = next(
            (end for end in (a, b) if end.port in cable.b_words and roles[end.device] != "host"), None
        )
        if unsure is not None:
            problems.append(cable.place.problem(_unsure(unsure, cable)))
            continue
        tier = link_tier({roles[a.device], roles[b.device]})
        speed_bps = _speed(cable, speed_of, problems) or options.speeds.get(tier)
        cable_m = cable.cable_m or options.cables.get(tier)
        for what, value in (("speed", speed_bps), ("cable", cable_m)):
            if value is None:
                lacking.setdefault((what, tier), []).append(cable)
        if speed_bps and cable_m:
            problems += _odd_port(a, cable)
            # A host's port may be a MAC address, and so may the far end that LLDP tells of: the link is known without.
            if roles[b.device] != "host" and not cable.heard:
                problems += _odd_port(b, cable)
            yield CablingLink(a, _without_odd_port(b), speed_bps, cable_m)
    problems += [_lacks(what, tier, lacking_cables) for (what, tier), lacking_cables in lacking.items()]


def _unsure(end: CableEnd, cable: FileCable) -> str:
    words = " or ".join(cable.b_words)
    return f"{end.device} has a port that it calls {words}: its own output of LLDP tells which"


def _speed(cable: FileCable, speed_of: Mapping[CableEnd, int], problems: list[Problem]) -> int | None:
    """Return the highest speed of a cable and its interfaces, None if unknown; a contradiction is a problem."""
    speeds = {
        speed for speed in (cable.speed_bps, *(speed_of.get(end) for end in (cable.a, cable.b))) if speed
    }
    if len(speeds) > 1:
        rates = " and ".join(format_rate(speed) for speed in sorted(speeds))
        problems.append(cable.place.problem(f"{_text(cable.a)} to {_text(cable.b)}: {rates} for one link"))
    return max(speeds, default=None)


def _odd_port(end: CableEnd, cable: FileCable) -> Iterator[Problem]:
    """Yield a problem where an intent cannot have a file's name for a switch port."""
    if end.port is not None and _NO_PORT.fullmatch(end.port):
        yield cable.place.problem(
            f"{_text(end)} is made of ports, and no port; write a line for each of its members"
        )
    elif end.port is not None and not PORT_NAME.fullmatch(end.port):
        message = "no name that an intent can give a port of a switch; write it as SONiC calls it, Ethernet0"
        yield cable.place.problem(f"{_text(end)}: {message}")


def _without_odd_port(end: CableEnd) -> CableEnd:
    """Return the end of a link without a port name that an intent cannot have, such as a MAC address of LLDP."""
    return end if end.port and PORT_NAME.fullmatch(end.port) else CableEnd(end.device, None)


_NEEDS = {
    "speed": "no speed; add a column of it, or state it: --speed {tier}=RATE",
    "cable": "no length, which headroom needs; add a column of it, or state it: --cable {tier}=LENGTH",
}


def _lacks(what: str, tier: str, cables: Sequence[FileCable]) -> Problem:
    first = cables[0]
    more = f" and {len(cables) - 1:,} more of {tier}" if len(cables) > 1 else ""
    return first.place.problem(
        f"{_text(first.a)} to {_text(first.b)}{more}: {_NEEDS[what].format(tier=tier)}"
    )


def _text(end: CableEnd) -> str:
    return f"{end.device} {end.port}" if end.port else end.device


def _order(link: CablingLink) -> tuple[object, ...]:
    return tuple(natural_key(word) for end in (link.a, link.b) for word in (end.device, end.port or ""))


def topology_yaml(topology: CablingTopology) -> str:
    """Return devices and links as the YAML of the section ``topology`` of an intent."""
    lines = ["topology:", "  devices:"]
    ranked = sorted(topology.roles.items(), key=lambda named: ROLES.index(named[1]))
    lines += [f"    {text_scalar(name)}: {{role: {role}}}" for name, role in ranked]
    lines.append("  links:")
    for link in topology.links:
        ends = f"a: {_yaml_end(link.a)}, b: {_yaml_end(link.b)}"
        lines.append(f"    - {{{ends}, links: 1 x {format_rate(link.speed_bps)}, cable: {link.cable_m}m}}")
    return "\n".join(lines) + "\n"


def _yaml_end(end: CableEnd) -> str:
    return f'"{end.device}:{end.port}"' if end.port else text_scalar(end.device)
