"""Declared cables and found cables, identified by their ends.

Matches different spellings of a device's name: upper and lower case, with and without domain.

LLDP reports the name that a system gives itself, with its domain on most hosts; sheets and intents omit the domain.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import Origin
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping


class CableEnd(NamedTuple):
    """One end of a cable. ``port`` is None where an intent names none, or it is unknown."""

    device: str
    port: str | None

    @property
    def name(self) -> str:
        """The end as text: ``leaf1:Ethernet0``."""
        return f"{self.device}:{self.port}" if self.port else self.device


class PlannedCable(NamedTuple):
    """A link of an intent. ``a`` is a switch with its port; ``b`` has a port where the intent gives one.

    ``cable_m`` is its real length. ``renamed``: the name of the device at ``b`` is stated, not derived from a shape.
    """

    a: CableEnd
    b: CableEnd
    speed_bps: int
    cable_m: int
    tier: str
    origin: Origin
    cable_origin: Origin
    renamed: bool = True

    @property
    def name(self) -> str:
        """The link as text."""
        return f"{self.a.name} - {self.b.name}"


class ReportedCable(NamedTuple):
    """A cable that files report, its ends by the names of the intent where it has such a device and port.

    ``speed_bps`` is that of the cable, or the configured one of its ends; None where it is unknown.
    """

    a: CableEnd
    b: CableEnd
    speed_bps: int | None
    cable_m: int | None
    origin: Origin

    @property
    def name(self) -> str:
        """The cable as text."""
        return f"{self.a.name} - {self.b.name}"


class CableReport(NamedTuple):
    """The cables that files report, and the devices that the files cover.

    ``listed`` are devices in sheets or exports, ``heard`` those that LLDP reports and ``listening`` those
    whose own LLDP was given.
    """

    cables: tuple[ReportedCable, ...]
    listed: frozenset[str]
    heard: frozenset[str]
    listening: frozenset[str]

    def reaches(self, cable: PlannedCable) -> bool:
        """Return whether the files would report a declared cable if it existed and were up."""
        ends = {cable.a.device, cable.b.device}
        if ends <= self.listed:
            return True
        return ends <= self.heard | self.listening and bool(ends & self.listening)

    def only_heard(self, cable: PlannedCable) -> bool:
        """Return whether LLDP alone covers a declared cable."""
        return not {cable.a.device, cable.b.device} <= self.listed


class DeviceNames:
    """Finds a known device by a name: one with the same letters in either case, else one that differs by a domain.

    A name that matches two devices matches none.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        self._whole: dict[str, set[str]] = {}
        self._beginning: dict[str, set[str]] = {}
        for name in self._known:
            self._whole.setdefault(name.lower(), set()).add(name)
            for part in _without_domain(name.lower()):
                self._beginning.setdefault(part, set()).add(name)

    def find(self, word: str) -> str | None:
        """Return the device of a name, None where no device or more than one matches."""
        if word in self._known:
            return word
        low = word.lower()
        for candidates in (
            self._whole.get(low),
            next((self._whole[part] for part in _without_domain(low) if part in self._whole), None),
            self._beginning.get(low),
        ):
            if candidates:
                return next(iter(candidates)) if len(candidates) == 1 else None
        return None


@lru_cache(maxsize=4)
def among(known: tuple[str, ...]) -> DeviceNames:
    """Return the names of known devices, made once for all that are looked for."""
    return DeviceNames(known)


def _without_domain(name: str) -> Iterator[str]:
    """Yield a name without the last word of its domain, without the last two, and so on."""
    while "." in name:
        name = name.rpartition(".")[0]
        if name:
            yield name


def canonical_names(names: Collection[str], preferred: Collection[str] = ()) -> dict[str, str]:
    """Return the canonical name of each name: of equal letters a preferred one, without its domain.

    A name is shortened only to another one of ``names``, and only if no other name would be shortened to that.
    """
    identical: dict[str, list[str]] = {}
    # Of two spellings the one in small letters is taken.
    for name in sorted(names, key=lambda name: (name not in preferred, name.swapcase())):
        identical.setdefault(name.lower(), []).append(name)
    shorter = {
        low: next((part for part in _without_domain(low) if part in identical), low) for low in identical
    }
    longer: dict[str, int] = {}
    for low, short in shorter.items():
        longer[short] = longer.get(short, 0) + (low != short)
    chosen = {low: short if longer[short] == 1 else low for low, short in shorter.items()}
    return {name: identical[_last(name.lower(), chosen)][0] for name in names}


def _last(low: str, chosen: Mapping[str, str]) -> str:
    """Return the end of a chain of shortened names."""
    while chosen[low] != low:
        low = chosen[low]
    return low


def other_names(known: Collection[str], named: Iterable[str]) -> dict[str, str]:
    """Return the device that each name means which no device has for itself; none that two domains claim."""
    names = DeviceNames(known)
    meant = {name: device for name in {*named}.difference(known) if (device := names.find(name)) is not None}
    doubtful = {device for device, *_ in claimed_twice(meant | {device: device for device in meant.values()})}
    return {name: device for name, device in meant.items() if device not in doubtful}


def claimed_twice(meant: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each device with two names that cannot both be its own, since their domains differ."""
    by_device: dict[str, list[str]] = {}
    for word, device in meant.items():
        by_device.setdefault(device, []).append(word)
    for device, words in by_device.items():
        longest = max(words, key=len)
        for word in words:
            if word.lower() != longest.lower() and not longest.lower().startswith(f"{word.lower()}."):
                yield device, *sorted((word, longest))  # type: ignore[misc]
                break
