"""Records that the steps of an import pass on: devices with their ports, links, classes, and the whole draft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.formats.sonic.read.tables import Tables
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.cabling import CableEnd
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.tier import Tier
    from lossless.model.hardware.model import Hwsku, SwitchProfile

Source = Literal["cabling", "LLDP", "DEVICE_NEIGHBOR"]


class ImportDevice(NamedTuple):
    """One deployed switch: the content of its file, and its hardware.

    ``tier`` is the one that the intent will declare. ``used`` are the ports that are configured to carry classes, by
    name, in the order of their names. For a switch of another system than SONiC, ``tables`` are empty, ``breakouts``
    are the cages whose split must be declared, and ``notes`` list parts of its file that are not read or refused.
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
    """The links of all devices, and the far ends for which no file was given, each with its known facts.

    ``too_fast`` are the far ends without a name whose links are faster than every NIC.
    """

    links: tuple[ImportLink, ...]
    outside: dict[str, str]
    too_fast: frozenset[str]
    notes: tuple[str, ...]


class ColourCurve(NamedTuple):
    """Thresholds at which marking of one color begins and ends, in bytes, and its probability in percent."""

    min_bytes: int
    max_bytes: int
    probability_percent: int


class EcnCurve(NamedTuple):
    """The curve of a queue, and the exceptions of colors; None: packets of the color are not marked."""

    green: ColourCurve
    others: tuple[tuple[str, ColourCurve | None], ...] = ()


ClassCurve = tuple["EcnCurve | None"]
"""The curve of a class, None where it does not mark."""
ClassGroup = tuple[int]
"""The priority group of a class."""
ClassValues = tuple[tuple[str, int], ...]
"""Keys below ``buffer`` or ``queue`` of a class with their values, sizes in bytes."""
_Values = TypeVar("_Values")
Stated = dict["Tier | str | None", dict["int | None", _Values]]
"""Values by scope (a tier, a device by its name, None for all switches) and by link speed, None for all others."""


class DraftClass(NamedTuple):
    """One class before it is declared; ``dscps`` is None for the class of all other DSCPs.

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
    """The PFC watchdog that most ports have, in milliseconds."""

    poll_ms: int
    detection_ms: int
    restoration_ms: int | None
    action: str


PoolValues = tuple[tuple[tuple[str, ...], float], ...]
"""Keys below ``buffers`` with their values: the ratio of the shared headroom, sizes in bytes, shares in percent."""


class DraftTrimming(NamedTuple):
    """The classes that are trimmed to a size, and the class that trimmed packets continue in."""

    classes: tuple[str, ...]
    into: str
    size_bytes: int


class DraftBuffers(NamedTuple):
    """The buffer policy: words by tier, pools and shared headroom by scope, and settings of the dynamic model.

    ``small_packets`` is a percentage. Defaults of an intent are left out.
    """

    words: dict[str, dict[Tier, str]]
    pools: Stated[PoolValues]
    lossless_mtu: int | None
    small_packets: int | None
    notes: tuple[str, ...]


class Draft(NamedTuple):
    """All facts for the text of an intent.

    ``outside`` are the far ends without a file, each with its known facts, ``switches_outside`` the
    tiers of those that are switches. ``dual_tors`` are leaves that share their hosts in pairs. ``tiers`` are those with
    PFC where not all have it. ``notes`` are choices by the key they belong to: ``classes``, ``pfc``, ``nic``,
    ``topology``, ``mtu``, ``trimming``. ``oversubscription`` is that of each tier with uplinks.
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
