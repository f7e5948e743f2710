"""Switches of other systems than SONiC: the content of their files, and the declared hardware."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import takewhile
from typing import TYPE_CHECKING

from lossless.formats.importing.devices import NAMES, PLAIN_NAME
from lossless.formats.importing.model import ImportDevice
from lossless.formats.importing.one_number import as_classes, unsaid_dscps
from lossless.formats.importing.split_ports import SplitPorts
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import joined
from lossless.model.fabric.tier import Tier
from lossless.model.hardware.load import load_switch, switch_names
from lossless.model.hardware.port_names import in_format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.model import Port
    from lossless.model.hardware.load import Folder
    from lossless.model.hardware.model import SwitchProfile


class ProductChoice(NamedTuple):
    """The profile of the switches whose name fits a pattern, of all where it is ``*``."""

    pattern: str
    profile: str


def carries_classes(port: Port) -> bool:
    """Return whether a port carries classes: it is not shut down, and has priority groups or queues."""
    qos = port.qos
    return qos is not None and port.admin_up is not False and (any(qos.groups) or any(qos.queues))


def configured_device(
    document: Document,
    read: ReadSwitch,
    products: Sequence[ProductChoice],
    profile_dirs: Sequence[Folder],
    problems: list[Problem],
) -> ImportDevice | None:
    """Return the device of a configuration; each fact that is neither in the file nor declared is a problem."""
    profile = _profile(document, read, products, profile_dirs, problems)
    if profile is None:
        return None
    switch = read.switch
    if PLAIN_NAME.fullmatch(switch.name) is None:
        problems.append(
            _at(document, switch.origin, f"{switch.name!r} cannot name a device; expected {NAMES}")
        )
        return None
    profile = in_format(profile, switch.format)
    hwsku = profile.hwsku(profile.default_hwsku)
    assert hwsku is not None
    used = _ports(document, read, profile, problems)
    splits = SplitPorts(profile, hwsku, [port for port in switch.ports if port.name in used])
    return ImportDevice(
        name=switch.name,
        tier=Tier.LEAF,
        document=document,
        tables=Tables(document.file, {}),
        switch=switch,
        profile=profile,
        hwsku=hwsku,
        used={name: as_classes(splits.with_speed(port)) for name, port in used.items()},
        breakouts=splits.stated(),
        notes=_notes(read),
    )


def _profile(
    document: Document,
    read: ReadSwitch,
    products: Sequence[ProductChoice],
    profile_dirs: Sequence[Folder],
    problems: list[Problem],
) -> SwitchProfile | None:
    """Return the profile that is declared for a switch, else that of the product in its file.

    Raises:
        ProfileError: a profile of that name does not exist.
    """
    name, system = read.switch.name, read.switch.format
    own = [choice for choice in products if choice.pattern != "*" and fnmatchcase(name, choice.pattern)]
    stated = [
        load_switch(c.profile, profile_dirs) for c in (*own, *(c for c in products if c.pattern == "*"))
    ]
    for profile in stated[:1] if own else stated:
        if system in profile.formats:
            return profile
        if own:
            runs = joined(profile.runs)
            why = f"{profile.name} is stated for {name}, and is not known to run {system}: it runs {runs}"
            problems.append(_at(document, read.switch.origin, why))
            return None
    known = [
        p for p in (load_switch(n, profile_dirs) for n in switch_names(profile_dirs)) if system in p.formats
    ]
    same = [profile for profile in known if profile.product == read.product]
    if len(same) == 1:
        return same[0]
    says = (
        f"names the product {read.product}, which no profile knows"
        if read.product
        else "does not say which product it is"
    )
    why = f"{says}; state its profile: --switch {name}=PROFILE, one of {joined([p.name for p in known])}"
    problems.append(_at(document, read.switch.origin, why))
    return None


def _ports(
    document: Document, read: ReadSwitch, profile: SwitchProfile, problems: list[Problem]
) -> dict[str, Port]:
    """Return the ports that carry classes and exist on the product."""
    prefixes = {_word(cage.name) for cage in profile.cages}
    used = {p.name: p for p in read.switch.ports if carries_classes(p) and _word(p.name) in prefixes}
    used = {name: port for name, port in used.items() if name[-1].isdecimal()}
    names = {spec.name for hwsku in profile.hwskus for spec in hwsku.ports}
    for cage in profile.cages:
        names |= {cage.name, *(spec.name for mode in cage.modes for spec in profile.breakout(cage, mode))}
    unknown = [port for name, port in used.items() if name not in names]
    if unknown:
        ports = joined([port.name for port in unknown], 4)
        problems.append(
            _at(document, unknown[0].origin, f"{profile.product} ({profile.name}) has no port {ports}")
        )
    if not used:
        why = "no port is configured to carry classes: nothing says which traffic is which class"
        problems.append(_at(document, read.switch.origin, why))
    for port in used.values():
        if (dscps := unsaid_dscps(port)) is not None:
            why = f"{port.name}: the text does not say which class {dscps} to; import the whole configuration"
            problems.append(_at(document, port.origin, why))
            break
    return used


def _word(name: str) -> str:
    return "".join(takewhile(str.isalpha, name))


def _notes(read: ReadSwitch) -> tuple[str, ...]:
    notes = [f"{read.switch.name}: {read.unread[0]}{_more(read.unread)}"] if read.unread else []
    notes += [f"{read.switch.name}: {refused.what}: {refused.why}" for refused in read.refused]
    return tuple(notes)


def _more(lines: Sequence[str]) -> str:
    return f", nor are {len(lines) - 1} more" if len(lines) > 1 else ""


def _at(document: Document, origin: Origin, message: str) -> Problem:
    span = document.locate(origin.path)
    return Problem(document.file, span.line, span.column, message)
