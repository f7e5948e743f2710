"""Turns CONFIG_DB documents into devices, and defines the records that the steps of an import pass on.

Each device must name its HWSKU, and a profile must have it. The records are devices with their ports, links, classes,
and the whole draft.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, TypeVar

from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.errors import InputError, LosslessError, Problem
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import Tier, known_tier
from lossless.model.hardware.load import hardware_finder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.cabling import CableEnd
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.hardware.load import FindHardware, Folder
    from lossless.model.hardware.model import Hwsku, SwitchProfile


PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
NAMES = "letters, digits, '.', '_' and '-', at most 63, beginning with a letter or digit"


def devices_of(
    documents: Sequence[Document],
    profile_dirs: Sequence[Folder] = (),
    others: Sequence[ImportDevice] = (),
    problems: Sequence[Problem] = (),
) -> tuple[ImportDevice, ...]:
    """Return the SONiC devices of documents and ``others``, which run other systems, sorted by name.

    ``problems`` are those of the others.

    Raises:
        InputError: every document that names no HWSKU or an unknown one, or has an invalid table, an invalid name or
            the name of another; and ``problems``.
    """
    problems = list(problems)
    find = hardware_finder(profile_dirs)
    devices = [device for document in documents if (device := _device(document, find, problems))]
    devices += others
    problems += _same_names(devices)
    if problems:
        raise InputError(problems)
    return tuple(sorted(devices, key=lambda device: natural_key(device.name)))


def require_name(name: str) -> None:
    """Check that an intent accepts the name of a fabric.

    Raises:
        LosslessError: it does not.
    """
    if PLAIN_NAME.fullmatch(name) is None:
        raise LosslessError(f"{name!r} cannot name a fabric; expected {NAMES}")


def _device(document: Document, find: FindHardware, problems: list[Problem]) -> ImportDevice | None:
    tables = Tables.of(document)
    before = len(problems)
    problems += [_at(document, message, table) for table, message in tables.unreadable]
    problems += _unnamed_hardware(document, tables)
    if len(problems) > before:
        return None
    (switch,) = read_fabric([tables], find).switches
    if switch.profile is None or switch.hwsku is None:
        problems.append(_unknown_hardware(document, switch))
        return None
    name = _name(document, tables)
    if PLAIN_NAME.fullmatch(name) is None:
        problems.append(_at(document, f"{name!r} cannot name a device; expected {NAMES}", *_HOSTNAME))
        return None
    return ImportDevice(
        name=name,
        tier=known_tier(switch.tier) or Tier.LEAF,
        document=document,
        tables=tables,
        switch=switch,
        profile=switch.profile,
        hwsku=switch.hwsku,
        used={port.name: port for port in switch.ports if _is_used(port, tables)},
    )


_HWSKU = ("DEVICE_METADATA", "localhost", "hwsku")
_HOSTNAME = ("DEVICE_METADATA", "localhost", "hostname")


def _unnamed_hardware(document: Document, tables: Tables) -> Iterable[Problem]:
    meta = tables.row("DEVICE_METADATA", "localhost")
    if meta is None or not meta.fields.get("hwsku"):
        why = "DEVICE_METADATA|localhost|hwsku is missing: which hardware this is decides its buffers"
        yield _at(document, why, *_HWSKU)


def _unknown_hardware(document: Document, switch: Switch) -> Problem:
    why = (
        f"no profile knows the HWSKU {switch.hwsku_name}; `lossless profiles` lists those that are known, "
        "--profiles adds your own"
    )
    return _at(document, why, *_HWSKU)


def _name(document: Document, tables: Tables) -> str:
    """Return the hostname of a device; without one, the folder of a ``config_db.json``, else the name of the file.

    A part of a file, as one ASIC of several, has a name of its own.
    """
    if tables.device:
        return tables.device
    meta = tables.row("DEVICE_METADATA", "localhost")
    hostname = meta.fields.get("hostname", "") if meta else ""
    if hostname:
        return hostname
    path = PurePath(document.file)
    return path.parent.name or path.stem if path.stem == "config_db" else path.stem


def _same_names(devices: Sequence[ImportDevice]) -> Iterable[Problem]:
    first: dict[str, ImportDevice] = {}
    for device in sorted(devices, key=lambda each: each.document.file):
        other = first.setdefault(device.name, device)
        if other is not device:
            why = (
                f"is called {device.name}, as {other.document.file} is; an intent tells devices apart by name"
            )
            place = _HOSTNAME if device.switch.runs_sonic else device.switch.origin.path
            yield _at(device.document, why, *place)


def second_priorities(port: Port) -> tuple[int, ...]:
    """Return the priorities of a port with PFC and without watchdog, where it has others with both.

    They are the second priorities of tunnels between dual ToRs.

    Source: sonic-buildimage files/build_templates/qos_config.j2 @086b03b, ``tunnel_qos_remap_enable``.
    """
    qos = port.qos
    if qos is None or qos.watchdog_mask is None or not qos.watchdog_mask.priorities:
        return ()
    watched = qos.watchdog_mask.priorities
    return (
        tuple(p for p in qos.pfc.priorities if p not in watched) if {*watched} < {*qos.pfc.priorities} else ()
    )


def is_dual_tor(device: ImportDevice) -> bool:
    """Return whether a leaf tunnels to a peer: it has the maps of tunnels, and ports with second priorities."""
    maps = device.tables.data.get("TC_TO_DSCP_MAP")
    return device.tier is Tier.LEAF and bool(maps) and any(map(second_priorities, device.used.values()))


def _is_used(port: Port, tables: Tables) -> bool:
    """Return whether a port carries classes: it has a row in PORT_QOS_MAP, and QoS."""
    return port.qos is not None and tables.row("PORT_QOS_MAP", port.name) is not None


def _at(document: Document, message: str, *path: str | int) -> Problem:
    span = document.locate(path)
    return Problem(document.file, span.line, span.column, message)


Source = Literal["cabling", "LLDP", "DEVICE_NEIGHBOR"]


class ImportDevice(NamedTuple):
    """One deployed switch: the content of its file, and its hardware.

    ``tier`` is the one that the intent will declare. ``used`` are the ports that are configured to carry classes, by
    name. For a switch of another system than SONiC, ``tables`` are empty, ``breakouts`` are the breakouts to declare by
    cage, and ``notes`` list parts of its file that are not read or refused.
    """

    name: str
    tier: Tier
    document: Document
    tables: Tables
    switch: Switch
    profile: SwitchProfile
    hwsku: Hwsku
    used: dict[str, Port]
    breakouts: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()


class Claim(NamedTuple):
    """A cable according to one source: its two ends, and its length where the source has it."""

    source: Source
    near: CableEnd
    far: CableEnd
    cable_m: int | None = None


class ImportLink(NamedTuple):
    """One link of the draft, at most one port an end. ``notes`` are the choices made for it."""

    a: CableEnd
    b: CableEnd
    speed_bps: int
    cable_m: int
    notes: tuple[str, ...] = ()


class ImportWiring(NamedTuple):
    """The links of all devices, and the far ends for which no file was given, each with a remark on its source.

    ``switches`` are the far ends that are switches and have no name: their links are faster than every NIC, or lead to
    a device with a file.
    """

    links: tuple[ImportLink, ...]
    outside: dict[str, str]
    switches: frozenset[str]
    notes: tuple[str, ...]


class ColourCurve(NamedTuple):
    """The WRED curve of one color: min and max threshold in bytes, and the probability at max in percent."""

    min_bytes: int
    max_bytes: int
    probability_percent: int


class EcnCurve(NamedTuple):
    """The WRED curve of a queue, and other curves for yellow and red; None: packets of the color are not marked."""

    green: ColourCurve
    others: tuple[tuple[str, ColourCurve | None], ...] = ()


ClassCurve = tuple["EcnCurve | None"]
"""The WRED curve of a class, None where it does not mark."""
ClassGroup = tuple[int]
"""The priority group of a class, as a tuple of its number."""
ClassValues = tuple[tuple[str, int], ...]
"""Keys below ``buffer`` or ``queue`` of a class with their values, sizes in bytes."""
_Values = TypeVar("_Values")
Stated = dict["Tier | str | None", dict["int | None", _Values]]
"""Values of a class or of pools by scope (a tier, a device by name, None for all) and link speed (None for all)."""


class DraftClass(NamedTuple):
    """One traffic class of a draft; ``dscps`` is None for the class of all other DSCPs.

    ``pg``, ``buffers`` and ``queues`` are the values that are not defaults. ``notes`` list the choices.
    """

    name: str
    dscps: tuple[int, ...] | None
    priority: int
    lossless: bool
    pg: Stated[ClassGroup]
    strict: bool
    bandwidth: int | None
    ecn: Stated[ClassCurve]
    buffers: Stated[ClassValues]
    queues: Stated[ClassValues]
    notes: tuple[str, ...] = ()


class DraftWatchdog(NamedTuple):
    """The PFC watchdog that most ports have, in milliseconds; ``tiers`` has those of tiers that differ."""

    poll_ms: int
    detection_ms: int
    restoration_ms: int | None
    action: str
    tiers: Mapping[Tier, DraftWatchdog] = {}

    def of(self, tier: Tier) -> DraftWatchdog:
        """Return the watchdog that is declared for the switches of a tier."""
        return self.tiers.get(tier, self)


class DraftException(NamedTuple):
    """Settings of one port that differ from those declared for all ports; None: the setting does not differ.

    ``watchdog`` are the words of its settings, empty for a port without watchdog.
    """

    mtu_bytes: int | None
    asymmetric: bool | None
    watchdog: tuple[str, ...] | None


PoolValues = tuple[tuple[tuple[str, ...], float], ...]
"""Keys below ``buffers`` with their values: the ratio of the shared headroom, sizes in bytes, shares in percent."""


class DraftTrimming(NamedTuple):
    """Packet trimming of a draft: the trimmed classes, the class that trimmed packets continue in, and their size."""

    classes: tuple[str, ...]
    into: str
    size_bytes: int


class DraftBuffers(NamedTuple):
    """The buffer policy of a draft: words by key and tier, pools and shared headroom by scope, and the dynamic model.

    ``small_packets`` is a percentage. Words that are defaults of an intent are left out.
    """

    words: dict[str, dict[Tier, str]]
    pools: Stated[PoolValues]
    lossless_mtu: int | None
    small_packets: int | None
    notes: tuple[str, ...]


class Draft(NamedTuple):
    """An imported intent before its text is written.

    ``outside`` are the far ends without a file, each with its known facts, ``switches_outside`` the
    tiers of those that are switches. ``dual_tors`` are leaves that share their hosts in pairs. ``tiers`` are those with
    PFC where not all have it. ``notes`` are choices by the key they belong to: ``classes``, ``pfc``, ``nic``,
    ``topology``, ``mtu``, ``buffers``, ``trimming``. ``oversubscription`` is that of each tier with uplinks.
    ``exceptions`` are the ports with settings of their own.
    """

    name: str
    devices: tuple[ImportDevice, ...]
    classes: tuple[DraftClass, ...]
    watchdog: DraftWatchdog | None
    tiers: tuple[str, ...] | None
    asymmetric: bool
    links: tuple[ImportLink, ...]
    outside: dict[str, str]
    switches_outside: dict[str, Tier]
    nic: str
    mtu_bytes: int
    buffers: DraftBuffers
    dual_tors: frozenset[str]
    oversubscription: dict[Tier, float]
    notes: dict[str, tuple[str, ...]]
    trimming: DraftTrimming | None = None
    exceptions: Mapping[CableEnd, DraftException] = {}
