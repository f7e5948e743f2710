"""All deployed devices together: what each says that another can contradict, and who is linked to whom.

A summary is small and plain, so that a thousand devices can be read apart and still be compared.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lossless.fabric.known import Maybe
from lossless.findings import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class LinkEnd(NamedTuple):
    """One port as its own device describes it; ``neighbor`` is whoever the device believes to be at the other end.

    ``up`` is None without ``admin_status``. ``cable_m`` is the configured length, None without one, 0 for
    ``0m``. ``pfc`` are the priorities it pauses, None without QoS rows; ports that are configured alike share
    ``pfc_origin``. ``remapped`` are those of them that tunnel remapping added, ``uncovered`` priorities without
    PFC that its own device contradicts. ``lossless`` says whether the device has lossless classes at all.
    """

    switch: str
    port: str
    neighbor: tuple[str, str] | None
    up: Maybe[bool]
    speed_bps: int | None
    mtu_bytes: Maybe[int]
    fec: str | None
    autoneg: bool
    cable_m: int | None
    cable_origin: Origin
    pfc: tuple[int, ...] | None
    pfc_origin: Origin
    remapped: tuple[int, ...]
    uncovered: tuple[int, ...]
    lossless: bool
    origin: Origin

    @property
    def name(self) -> str:
        """The end as people write it: ``leaf1:Ethernet0``."""
        return f"{self.switch}:{self.port}"

    @property
    def in_service(self) -> bool:
        """Whether the port is not known to be down; one without ``admin_status`` is.

        Source: sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b.
        """
        return self.up is not None and self.up is not False


class Setting(NamedTuple):
    """What one device says of something that all devices of its role should say alike.

    ``subject`` names it (``DSCP_TO_TC_MAP|AZURE``), ``value`` is its meaning, comparable across devices and
    short enough to be shown as ``text``.
    """

    subject: str
    value: Any
    text: str
    origin: Origin


class Summary(NamedTuple):
    """One deployed device. ``name`` is its hostname, or its file where it has none."""

    name: str
    role: str | None
    hwsku: str | None
    file: str
    ends: tuple[LinkEnd, ...]
    settings: tuple[Setting, ...]
    origin: Origin


class CabledPair(NamedTuple):
    """Both ends of a link between two devices; ``mutual`` where each names the other.

    ``near`` is an end whose DEVICE_NEIGHBOR names the other; the first by name where both do.
    """

    near: LinkEnd
    far: LinkEnd
    mutual: bool

    @property
    def name(self) -> str:
        """The link as people write it."""
        return f"{self.near.name} - {self.far.name}"


class Across:
    """All deployed devices and their indexes."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        self.summaries = tuple(summaries)

    @cached_property
    def by_name(self) -> dict[str, Summary]:
        """Devices by name; names that two files claim are left out, for nobody knows which is meant."""
        times: dict[str, int] = {}
        for summary in self.summaries:
            times[summary.name] = times.get(summary.name, 0) + 1
        return {summary.name: summary for summary in self.summaries if times[summary.name] == 1}

    @cached_property
    def roles(self) -> dict[str, tuple[Summary, ...]]:
        """Devices by role, those with a role and a name of their own."""
        found: dict[str, list[Summary]] = {}
        for summary in self.by_name.values():
            if summary.role:
                found.setdefault(summary.role, []).append(summary)
        return {role: tuple(members) for role, members in sorted(found.items())}

    @cached_property
    def ends(self) -> dict[tuple[str, str], LinkEnd]:
        """Ends by device and port."""
        return {(end.switch, end.port): end for s in self.by_name.values() for end in s.ends}

    @cached_property
    def pairs(self) -> tuple[CabledPair, ...]:
        """Links of which both ends are known, each once, by name."""
        return tuple(self._pairs())

    @cached_property
    def missing_ends(self) -> tuple[LinkEnd, ...]:
        """Ends whose neighbor is among the devices, without the port that is named."""
        return tuple(
            end
            for (switch, _), end in sorted(self.ends.items())
            if end.neighbor is not None
            and end.neighbor[0] in self.by_name
            and end.neighbor[0] != switch
            and end.neighbor not in self.ends
        )

    def _pairs(self) -> Iterator[CabledPair]:
        seen: set[frozenset[tuple[str, str]]] = set()
        for key, near in sorted(self.ends.items()):
            if near.neighbor is None or near.neighbor[0] == near.switch:
                continue
            far, link = self.ends.get(near.neighbor), frozenset((key, near.neighbor))
            if far is None or link in seen:
                continue
            seen.add(link)
            yield CabledPair(near, far, mutual=far.neighbor == key)
