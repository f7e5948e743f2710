"""Derives the buffer policy of an intent from the buffers of devices: thresholds, headroom, pools, by tier and speed.

Values of lossless groups that differ from the HWSKU's are declared, and pools and shared headroom where their
computed values would differ. Values that a switch would compute, or take from a row of its HWSKU, are not declared:
they are the defaults of an intent.

Values of a class are distributed over the ranks of an intent: all switches, tiers, devices, by speed. The value of
most ports of a tier is declared for the tier, and a deviating device has an exception under its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from lossless.formats.importing.configured import dissent_notes, most
from lossless.formats.importing.model import DraftBuffers
from lossless.formats.sonic.read.tables import whole_number
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.model.fabric.cabling import CableEnd
from lossless.model.hardware.buffers import INGRESS_LOSSLESS_POOL, INGRESS_LOSSY_POOL
from lossless.model.hardware.model import backs_headroom, widest_split

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from lossless.formats.importing.model import (
        ClassValues,
        Draft,
        DraftClass,
        ImportDevice,
        PoolValues,
        Stated,
    )
    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.model.fabric.model import Port, Tier
    from lossless.model.fabric.qos import BufferProfile
    from lossless.model.hardware.model import Cage, HeadroomRow


_NEVER = -8
"""The exponent of the smallest alpha: a profile with it and nothing reserved takes no buffer."""


class _LanedPort(NamedTuple):
    """A switch port and the numbers of its lanes."""

    port: Port
    lanes: set[int]


def find_buffers(devices: Sequence[ImportDevice]) -> DraftBuffers:
    """Return the buffer policy of a draft: model, pool form and unused ports of most devices of each tier, and ratios.

    Settings of the dynamic buffer model are those of most devices that have it.
    """
    notes: list[str] = []
    words = {
        "model": _by_tier(devices, _model, "traditional", notes),
        "pools": _by_tier(devices, _form, "", notes),
        "unused_ports": _by_tier(devices, _unused, "keep", notes),
    }
    models = [device.switch.qos.dynamic for device in devices if device.switch.qos.dynamic is not None]
    mtu_bytes, _ = most(dynamic.lossless_mtu_bytes for dynamic in models)
    small, _ = most(dynamic.small_packet_percent for dynamic in models)
    pools, pool_notes = stated_ratios(devices)
    notes += pool_notes
    return DraftBuffers({k: v for k, v in words.items() if v}, pools, mtu_bytes, small, tuple(notes))


def _by_tier(
    devices: Sequence[ImportDevice], word_of: Callable[[ImportDevice], str], usual: str, notes: list[str]
) -> dict[Tier, str]:
    """Return the policy word of most devices by tier, without tiers whose word is ``usual`` or empty.

    ``notes`` gets a note for each tier whose devices differ.
    """
    by_tier: dict[Tier, str] = {}
    for tier in sorted({device.tier for device in devices}):
        word, vote = most(word_of(device) for device in devices if device.tier is tier)
        if word and word != usual:
            by_tier[tier] = word
        if not vote.unanimous:
            notes.append(
                f"buffers: {vote.ayes} of {vote.votes} of role {tier.word} have it so, the others differ"
            )
    return by_tier


def _model(device: ImportDevice) -> str:
    """Return ``dynamic`` if the device uses that model and SONiC has a formula for the chip, else ``traditional``."""
    dynamic = device.switch.qos.buffer_model == "dynamic" and device.profile.asic.formula is not None
    return "dynamic" if dynamic else "traditional"


def _form(device: ImportDevice) -> str:
    """Return the form of ingress pools if only other HWSKUs of the product ship it, with headroom; else ``""``."""
    pools = {pool.name for pool in device.switch.qos.pools}
    if not pools:
        return ""
    form = _form_of(pools)
    own = {_form_of({pool.name for pool in defaults.pools}) for defaults in device.hwsku.buffers}
    shipped = (
        defaults
        for hwsku in device.profile.hwskus
        for defaults in hwsku.buffers
        if backs_headroom(hwsku, defaults)
    )
    fitting = {
        _form_of({p.name for p in defaults.pools})
        for defaults in shipped
        if backs_headroom(device.hwsku, defaults)
    }
    return form if form not in own and form in fitting else ""


def _form_of(pools: set[str]) -> str:
    return "split" if INGRESS_LOSSY_POOL in pools else "single"


def _unused(device: ImportDevice) -> str:
    """Return ``reclaim`` where unused ports give their buffer back and SONiC has profiles for that, else ``keep``."""
    if device.profile.zero_buffers is None:
        return "keep"
    if not _expected_ports(device) <= device.tables.table("PORT").keys():
        return "keep"
    unused = [port for port in device.tables.table("PORT") if port not in device.used]
    rows = {key.partition("|")[0]: row for key, row in device.tables.table("BUFFER_QUEUE").items()}
    bound = [rows[port].reference("profile") for port in unused if port in rows]
    taken = bound and (
        device.switch.qos.buffer_model == "dynamic" or all(_takes_nothing(device, name) for name in bound)
    )
    return "reclaim" if taken else "keep"


def _expected_ports(device: ImportDevice) -> set[str]:
    """Return the names of the HWSKU's ports in cages that have no port in use and no breakout of their own."""
    split, used = breakouts(device), _laned(device, device.used.values())
    taken = {cage.index for cage in device.profile.cages if cage.name in split or _of_cage(used, cage)}
    return {spec.name for spec in device.hwsku.ports if spec.index not in taken}


def _takes_nothing(device: ImportDevice, name: str) -> bool:
    row = device.tables.row("BUFFER_PROFILE", name)
    if row is None or row.fields.get("size") != "0":
        return False
    return row.fields.get("dynamic_th") == str(_NEVER) or row.fields.get("static_th") == "0"


def breakouts(device: ImportDevice) -> dict[str, str]:
    """Return the breakouts that neither the HWSKU nor the port speed implies, as ``4 x 100G``, by cage name."""
    if not device.switch.runs_sonic:
        return dict(device.breakouts)
    laned, numbered = _laned(device, device.switch.ports), _numbered(device.switch.ports)
    return {
        cage.name: text for cage in device.profile.cages if (text := _breakout(device, cage, laned, numbered))
    }


def _breakout(
    device: ImportDevice, cage: Cage, laned: Sequence[_LanedPort], numbered: Mapping[str, int]
) -> str | None:
    ports = _of_cage(laned, cage)
    speeds = {port.speed_bps for port in ports}
    if len(speeds) != 1 or (speed_bps := next(iter(speeds))) is None:
        return None
    names = [port.name for port in ports]
    # Names and lanes that do not go together are of no product; nothing is said of how that is split.
    if _named_after(numbered, cage) != {*names}:
        return None
    own = [spec for spec in device.hwsku.ports if spec.index == cage.index]
    if own and [spec.name for spec in own] == names and own[0].speed_bps == speed_bps:
        return None
    fits, widest = cage.mode_for(len(ports), speed_bps), widest_split(cage, speed_bps)
    if fits is None or (fits == widest and any(name in device.used for name in names)):
        return None
    split = [spec.name for spec in device.profile.breakout(cage, fits, speed_bps)]
    return f"{len(ports)} x {format_rate(speed_bps)}" if split == names else None


def _numbered(ports: Iterable[Port]) -> dict[str, int]:
    """Return the number in each SONiC port name, 8 of ``Ethernet8``, by name; ports of other names are left out."""
    numbers = ((port.name, whole_number(port.name.removeprefix("Ethernet"))) for port in ports)
    return {name: number for name, number in numbers if number is not None}


def _named_after(numbered: Mapping[str, int], cage: Cage) -> set[str]:
    """Return the port names whose number belongs to a cage: its first number plus that of a lane."""
    first = int(cage.name.removeprefix("Ethernet"))
    return {name for name, number in numbered.items() if first <= number < first + len(cage.lanes)}


def _laned(device: ImportDevice, ports: Iterable[Port]) -> list[_LanedPort]:
    """Return the ports whose row in PORT has lanes, each with its lane numbers."""
    rows = ((port, device.tables.row("PORT", port.name)) for port in ports)
    laned = (_LanedPort(port, _lanes(row.fields.get("lanes", "").split(","))) for port, row in rows if row)
    return [port for port in laned if port.lanes]


def _of_cage(laned: Iterable[_LanedPort], cage: Cage) -> list[Port]:
    """Return the ports whose lanes all belong to a cage."""
    lanes = {*cage.lanes}
    return [port for port, own in laned if own <= lanes]


def _lanes(texts: Iterable[str]) -> set[int]:
    bare = [text.strip() for text in texts]
    return (
        {int(text) for text in bare} if all(text.isascii() and text.isdecimal() for text in bare) else set()
    )


_DEFAULT_DYNAMIC_TH = 0
"""The intent's default threshold in the dynamic buffer model.

Source: sonic-buildimage files/build_templates/buffers_config.j2 @02aaf5c.
"""


def with_class_buffers(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass]
) -> tuple[DraftClass, ...]:
    """Return draft classes with the thresholds and headroom of most of their lossless groups, except for defaults."""
    return tuple(_with_buffers(devices, classes, cls) if cls.lossless else cls for cls in classes)


def _with_buffers(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass], cls: DraftClass
) -> DraftClass:
    # In the traditional model all lossless classes have one profile, so they have one vote.
    alone = all(device.switch.qos.buffer_model == "dynamic" for device in devices)
    priorities = [other.priority for other in classes if other.lossless and (other is cls or not alone)]
    ports: dict[PortsOfSpeed, list[ClassValues]] = {}
    for device in devices:
        for port in device.used.values():
            for values in _values_of(device, port, priorities):
                ports.setdefault(cell_of(device, port), []).append(values)
    buffers, notes = layered(ports, _has_keys, "thresholds and headroom")
    return cls._replace(buffers=buffers, notes=(*cls.notes, *notes))


def _has_keys(values: ClassValues, lower: ClassValues) -> bool:
    return dict(values).keys() >= dict(lower).keys()


def _values_of(device: ImportDevice, port: Port, priorities: Sequence[int]) -> Iterator[ClassValues]:
    """Yield, for lossless priority groups of a port, the buffer values that an intent would have to declare."""
    qos = port.qos
    for priority in priorities if qos is not None and port.speed_bps else ():
        group = (
            qos.groups[qos.group_of(priority)] if qos is not None and priority in qos.pfc.priorities else None
        )
        if group is None:
            continue
        profile = group.named
        if device.switch.qos.buffer_model == "dynamic":
            yield _of_computed(device, profile)
        elif profile is not None and (row := _row(device, port)) is not None:
            yield _beyond(device, profile, row)


def _row(device: ImportDevice, port: Port) -> HeadroomRow | None:
    return device.hwsku.row(port.speed_bps, port.cable.configured_m or 0)


def _of_computed(device: ImportDevice, profile: BufferProfile | None) -> ClassValues:
    dynamic = device.switch.qos.dynamic
    default = _DEFAULT_DYNAMIC_TH if dynamic is None else dynamic.default_dynamic_th
    if profile is None:
        return () if default in (None, _DEFAULT_DYNAMIC_TH) else (("dynamic_th", default),)
    headroom = {
        "xoff": profile.headroom_bytes,
        "xon": profile.xon_bytes,
        "xon_offset": profile.xon_offset_bytes,
    }
    whole = {key: value for key, value in headroom.items() if value is not None}
    return (*_threshold(device, profile), *(whole.items() if {"xoff", "xon"} <= whole.keys() else ()))


def _beyond(device: ImportDevice, profile: BufferProfile, row: HeadroomRow) -> ClassValues:
    """Return the values of a buffer profile that differ from the HWSKU's headroom row of its speed and length."""
    usual = {"xoff": row.headroom_bytes, "xon": row.xon_bytes, "xon_offset": row.xon_offset_bytes}
    given = {"xoff": profile.headroom_bytes, "xon": profile.xon_bytes, "xon_offset": profile.xon_offset_bytes}
    other = ((key, value) for key, value in given.items() if value is not None and value != usual[key])
    threshold = (
        () if row.threshold in (profile.dynamic_th, profile.static_th_bytes) else _threshold(device, profile)
    )
    return (*threshold, *other)


def _threshold(device: ImportDevice, profile: BufferProfile) -> ClassValues:
    """Return the threshold of a buffer profile that has the mode of ingress_lossless_pool; else, or if invalid, empty.

    The effect of a threshold of the other mode depends on the switch.
    """
    pools = {pool.name: pool for pool in device.switch.qos.pools}
    mode = pools[INGRESS_LOSSLESS_POOL].mode if INGRESS_LOSSLESS_POOL in pools else ""
    if mode == "dynamic" and profile.dynamic_th is not None and -8 <= profile.dynamic_th <= 7:
        return (("dynamic_th", profile.dynamic_th),)
    if mode == "static" and profile.static_th_bytes is not None:
        return (("static_th", profile.static_th_bytes),)
    return ()


_V = TypeVar("_V")


class PortsOfSpeed(NamedTuple):
    """The ports of one speed on a device, and the tier of the device."""

    tier: Tier
    device: str
    speed_bps: int


def cell_of(device: ImportDevice, port: Port) -> PortsOfSpeed:
    """Return the tier, device and speed of a port; a speed that is not configured is 0."""
    return PortsOfSpeed(device.tier, device.name, port.speed_bps or 0)


def voters(devices: Iterable[ImportDevice], lesser: Container[CableEnd]) -> list[tuple[PortsOfSpeed, Port]]:
    """Return the ports in use of a known speed, whose values are counted, each with its device and speed.

    Those in ``lesser`` count only where no other port of their tier has their speed.
    """
    ports = [
        (cell_of(device, port), port, CableEnd(device.name, port.name) in lesser)
        for device in devices
        for port in device.used.values()
        if port.speed_bps is not None
    ]
    heard = {(cell.tier, cell.speed_bps) for cell, _, is_lesser in ports if not is_lesser}
    return [
        (cell, port)
        for cell, port, is_lesser in ports
        if not is_lesser or (cell.tier, cell.speed_bps) not in heard
    ]


def layered(
    ports: Mapping[PortsOfSpeed, Sequence[_V]], hides: Callable[[_V, _V], bool], what: str
) -> tuple[Stated[_V], tuple[str, ...]]:
    """Return the values to declare by scope and speed, and notes on ports and devices that differ from most.

    An empty value is not declared. ``hides`` returns whether a value replaces every part of one of a lower rank.
    """
    votes = {cell: most(values) for cell, values in sorted(ports.items())}
    notes = dict.fromkeys(note for _, vote in votes.values() for note in dissent_notes(vote, what))
    own = {cell: value for cell, (value, _) in votes.items() if value is not None}
    stated = _Layers(ports, own, hides).stated()
    by_name = [scope for scope in stated if isinstance(scope, str)]
    if by_name:
        notes[f"{what}: of {by_name[0]}{_more(by_name)} under its own name, unlike most of its role"] = None
    return stated, tuple(notes)


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


class _Layers(Generic[_V]):
    """Chooses the ranks of an intent (all switches, tier, device, speed) at which values of ports are declared."""

    def __init__(
        self,
        ports: Mapping[PortsOfSpeed, Sequence[_V]],
        own: Mapping[PortsOfSpeed, _V],
        hides: Callable[[_V, _V], bool],
    ) -> None:
        self._ports, self._own, self._hides = ports, own, hides
        self._tiers = {
            tier: self._usual(cell for cell in own if cell.tier is tier)
            for tier in sorted({cell.tier for cell in own})
        }

    def stated(self) -> Stated[_V]:
        """Return the thresholds that an intent states, by scope (all switches, tier, device) and port speed."""
        own, tiers = self._own, self._tiers
        differing = {cell for cell, value in own.items() if value != tiers[cell.tier][cell.speed_bps]}
        # Where a device has less than its tier would state, each device of the tier states what it has.
        named = {c.tier for c in differing if not self._hides(own[c], tiers[c.tier][c.speed_bps])}
        stated = self._of_all() if not named else None
        if stated is None:
            stated = {
                tier: self._by_speed(values, (c for c in own if c.tier is tier))
                for tier, values in tiers.items()
                if tier not in named
            }
        for device in dict.fromkeys(cell.device for cell in own):
            cells = [cell for cell in own if cell.device == device]
            stated[device] = self._of_device(cells, differing, alone=cells[0].tier in named)
        return {scope: values for scope, values in stated.items() if values}

    def _usual(self, cells: Iterable[PortsOfSpeed]) -> dict[int, _V]:
        """Return, by port speed, the value that most ports have; a speed where most have none is left out."""
        by_speed: dict[int, list[_V]] = {}
        for cell in sorted(cells):
            by_speed.setdefault(cell.speed_bps, []).extend(self._ports[cell])
        votes = {speed_bps: most(values) for speed_bps, values in sorted(by_speed.items())}
        return {speed_bps: value for speed_bps, (value, _) in votes.items() if value is not None}

    def _of_all(self) -> Stated[_V] | None:
        """Return the values by port speed of all tiers, for all switches; None where two tiers differ at a speed."""
        by_speed: dict[int, _V] = {}
        for values in self._tiers.values():
            if any(by_speed.setdefault(speed_bps, value) != value for speed_bps, value in values.items()):
                return None
        return {None: self._by_speed(dict(sorted(by_speed.items())), self._own)}

    def _of_device(
        self, cells: Sequence[PortsOfSpeed], differing: set[PortsOfSpeed], *, alone: bool
    ) -> dict[int | None, _V]:
        """Return the values to declare for a device: all of its own if ``alone``, else those that differ."""
        stating = [cell for cell in cells if alone or cell in differing]
        by_speed = {cell.speed_bps: self._own[cell] for cell in stating}
        if len(stating) == len(cells):
            return self._by_speed(by_speed, cells)
        return dict(by_speed.items())

    def _by_speed(self, by_speed: Mapping[int, _V], cells: Iterable[PortsOfSpeed]) -> dict[int | None, _V]:
        """Return the value of most ports under the key None, and the values of speeds that differ by speed.

        Every speed has its own value, without None, if the value of most ports is that of no speed, or if the value of
        a speed does not replace every part of it.
        """
        usual, _ = most(value for cell in cells for value in self._ports[cell])
        values = {*by_speed.values()}
        if usual in values and all(self._hides(value, usual) for value in values if usual is not None):
            others: dict[int | None, _V] = {s: value for s, value in by_speed.items() if value != usual}
            every: dict[int | None, _V] = {None: usual}
            return every | others if usual else others
        return {speed_bps: value for speed_bps, value in by_speed.items() if value}


RATIO = ("headroom_oversubscription",)
"""The path of the oversubscription of shared headroom, below ``buffers``."""


def stated_ratios(devices: Sequence[ImportDevice]) -> tuple[Stated[PoolValues], tuple[str, ...]]:
    """Return the headroom oversubscription of devices with the dynamic buffer model by scope, and notes."""
    told = ((device, device.switch.qos.dynamic) for device in devices)
    return _layers((d, ((RATIO, m.oversubscription),) if m.oversubscription else ()) for d, m in told if m)


def with_ratio(draft: Draft, ratio: float) -> Draft:
    """Return a draft that declares one headroom oversubscription for all switches, and no pool size."""
    return draft._replace(buffers=draft.buffers._replace(pools={None: {None: ((RATIO, ratio),)}}))


def with_sizes(draft: Draft, cells: Mapping[str, Iterable[Cell]]) -> Draft:
    """Return a draft that declares the deployed pool sizes that differ from those computed for the intent.

    ``cells`` has the comparison of each device's fields with the computed ones, by device name.
    """
    pools, notes = _layers((device, _values(device, cells[device.name])) for device in draft.devices)
    said = "pool sizes are as deployed; left out, they are computed for the ports that are up"
    buffers = draft.buffers._replace(pools=pools, notes=(*draft.buffers.notes, *notes, said))
    return draft._replace(buffers=buffers)


def _values(device: ImportDevice, cells: Iterable[Cell]) -> PoolValues:
    """Return the pool sizes of a device to declare; its headroom oversubscription first, unless a size is ``xoff``."""
    sizes = tuple(sorted((path, size) for cell in cells for path, size in _size(cell)))
    told = device.switch.qos.dynamic
    ratio = told.oversubscription if told else None
    if not ratio or any(path[-1] == "xoff" for path, _ in sizes):
        return sizes
    return ((RATIO, ratio), *sizes)


def _size(cell: Cell) -> Iterable[tuple[tuple[str, ...], int]]:
    """Yield the path below ``buffers`` and the value of a deployed pool field that differs from the computed one."""
    number = whole_number(cell.deployed) if cell.table == "BUFFER_POOL" and cell.deployed else None
    keys = ("size", "percentage", "xoff") if cell.key == INGRESS_LOSSLESS_POOL else ("size", "percentage")
    if cell.state != "same" and cell.field in keys and number is not None and number >= 0:
        yield ("pool_sizes", cell.key, cell.field), number


def _layers(
    by_device: Iterable[tuple[ImportDevice, PoolValues]],
) -> tuple[Stated[PoolValues], tuple[str, ...]]:
    """Return the pool values of devices by scope, and notes; pool values of a switch have no port speed."""
    ports = {PortsOfSpeed(device.tier, device.name, 0): [values] for device, values in by_device}
    return layered(ports, lambda values, lower: dict(values).keys() >= dict(lower).keys(), "buffers")
