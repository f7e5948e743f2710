"""Turns deployed devices into an intent: writes its text, and compares its render with the devices.

The text is short, in the units people use, with a comment for each choice. The oversubscription of shared headroom
is derived from deployed pool sizes where those differ from the computed ones.
"""

from __future__ import annotations

import json
import math
import os
import re
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from lossless.formats.importing.buffers import RATIO, breakouts, with_ratio, with_sizes
from lossless.formats.importing.cabling.cables import device_of, read_cabling, read_lldp
from lossless.formats.importing.configured import NEVER, most
from lossless.formats.importing.differences import (
    KINDS,
    Explainer,
    compare_others,
    figures,
    other_devices,
    port_cells,
    total,
)
from lossless.formats.importing.draft import draft_of
from lossless.formats.importing.links import lldp_claims
from lossless.formats.importing.model import devices_of, require_name
from lossless.formats.inputs.intents import intent_fabric
from lossless.formats.sonic.changes.meaning import compare
from lossless.formats.sonic.from_model import chassis_rows, tables
from lossless.formats.sonic.read.tables import Tables, whole_number
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, parse_length, parse_rate, size_text
from lossless.ground.documents import load_text
from lossless.ground.documents.text import read_text
from lossless.model.fabric.model import DEFAULT_HOST_MTU_BYTES, DEFAULT_SWITCH_MTU_BYTES, Tier
from lossless.model.hardware.load import load_nic, nic_profiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.formats.importing.differences import Figures, ImportDifference
    from lossless.formats.importing.model import (
        Claim,
        ClassCurve,
        ClassGroup,
        ClassValues,
        ColourCurve,
        Draft,
        DraftClass,
        DraftWatchdog,
        ImportDevice,
        ImportLink,
        PoolValues,
        Stated,
    )
    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.cabling import CableEnd
    from lossless.model.fabric.model import Fabric
    from lossless.model.hardware.devices import NicProfile
    from lossless.model.hardware.load import Folder


_MOST_DECIMALS = 6


def shared_sizes(cells: Iterable[Cell]) -> list[tuple[int, int]]:
    """Return the headroom of all groups and the deployed size of shared headroom pools, in bytes.

    ``cells`` compare a device with an intent whose ratio is 1, in which the pool holds the headroom of all groups.
    Pools that are deployed larger than that, or without a size, are left out.
    """
    sizes = []
    for cell in cells:
        if cell.table == "BUFFER_POOL" and cell.field == "xoff" and cell.deployed and cell.rendered:
            claimed, deployed = whole_number(cell.rendered), whole_number(cell.deployed)
            if claimed and deployed and claimed >= deployed:
                sizes.append((claimed, deployed))
    return sizes


def ratio_of(sizes: Iterable[tuple[int, int]]) -> float | None:
    """Return the headroom oversubscription that gives the most pools their deployed size, None for none."""
    ratios = (_shortest(claimed, deployed) for claimed, deployed in sizes)
    usual, _ = most(ratio for ratio in ratios if ratio is not None)
    return usual


def _shortest(claimed: int, deployed: int) -> float | None:
    """Return the decimal with fewest digits by which ``claimed``, divided and rounded up, is ``deployed``, or None."""
    low = Fraction(claimed, deployed)
    for decimals in range(_MOST_DECIMALS + 1):
        ratio = float(Fraction(math.ceil(low * 10**decimals), 10**decimals))
        if math.ceil(claimed / ratio) == deployed:
            return ratio
    return None


if TYPE_CHECKING:
    Path = str | PathLike[str]
    Refusals = Callable[[str], tuple[Problem, ...]]
    """A function that returns the problems for which ``render`` refuses the text of an intent."""


INTENT_FILE = "fabric.yaml"
"""The file name of an imported intent before it is written."""


class ImportRequest(NamedTuple):
    """Options of an import: cabling and LLDP files, NIC, fabric name, switch profiles, and default cable length.

    See :func:`lossless.api.import_configs`.
    """

    cabling: Path | None = None
    lldp: Sequence[Path] = ()
    nic: str | None = None
    name: str = "imported"
    switches: Sequence[str] = ()
    cable: str | None = None
    profile_dirs: Sequence[Folder] = ()


class ImportResult(NamedTuple):
    """An imported intent: its text, and the comparison of its render with the deployed devices.

    ``cells`` are the compared fields, by device: of SONiC those of the tables that rendering owns, port settings and
    the buffer model, of other systems port settings. ``differences`` are those that differ after the render, each with
    its kind. ``refused`` are the problems for which ``render`` refuses this intent: values that it cannot express, or
    errors of lint. ``bases`` are the files of SONiC devices as ``render`` expects them, by path below a folder.
    """

    text: str
    devices: tuple[str, ...]
    cells: dict[str, tuple[Cell, ...]]
    differences: tuple[ImportDifference, ...]
    refused: tuple[Problem, ...]
    bases: dict[str, str]

    @property
    def figures(self) -> Figures:
        """The sums over devices of tables, deployed rows and fields, and of those that the intent reproduces."""
        return total(map(figures, self.cells.values()))

    @property
    def reasons(self) -> Mapping[str, str]:
        """The reason of each kind of difference."""
        return KINDS


def intent_of_devices(
    documents: Sequence[Document], asked: ImportRequest, refusals: Refusals
) -> ImportResult:
    """Return the intent imported from deployed devices, and the comparison of its render with them.

    Raises:
        InputError: a file cannot be read or is invalid, a device has an invalid name or that of another, no profile has
            its hardware, a cable has no length, or no port carries classes.
        LosslessError: the name of the fabric or the cable length is not valid, or a profile does not exist or is
            unreadable or wrong.
    """
    require_name(asked.name)
    problems: list[Problem] = []
    others = other_devices([d for d in documents if d.dialect], asked.switches, asked.profile_dirs, problems)
    devices = devices_of([d for d in documents if not d.dialect], asked.profile_dirs, others, problems)
    cable_m = None if asked.cable is None else parse_length(asked.cable)
    claims, nics = _claims(devices, asked.cabling, asked.lldp), _nics(asked.nic, asked.profile_dirs)
    draft = draft_of(devices, claims, nics, asked.nic, asked.name, cable_m)
    best = _best(draft, asked.profile_dirs, refusals)
    bases = {f"{d.name}/config_db.json": d.document.text for d in devices if d.switch.runs_sonic}
    names = tuple(device.name for device in devices)
    refused = best.refused or refusals(best.text)
    return ImportResult(best.text, names, best.cells, best.differences, refused, bases)


class _Attempt(NamedTuple):
    """The text of an intent, and its render compared with the devices that it was imported from."""

    text: str
    cells: dict[str, tuple[Cell, ...]]
    differences: tuple[ImportDifference, ...]
    refused: tuple[Problem, ...]


def _best(draft: Draft, profile_dirs: Sequence[Folder], refusals: Refusals) -> _Attempt:
    """Return the intent of a draft, with a headroom ratio or pool sizes declared where fewer fields differ then."""
    first = _attempt(draft, profile_dirs)
    if not _pools_differ(first):
        return first
    best = _better(first, _with_best_ratio(draft, profile_dirs))
    sized = _attempt(with_sizes(draft, first.cells), profile_dirs) if _pools_differ(best) else best
    # Sizes that were computed otherwise are not declared where they make a fabric that is refused.
    refuses = sized is not best and bool(refusals(sized.text)) and not refusals(best.text)
    return best if refuses else _better(best, sized)


def _pools_differ(attempt: _Attempt) -> bool:
    return any(difference.cell.table == "BUFFER_POOL" for difference in attempt.differences)


def _better(first: _Attempt, second: _Attempt) -> _Attempt:
    return second if not second.refused and len(second.differences) < len(first.differences) else first


def _with_best_ratio(draft: Draft, profile_dirs: Sequence[Folder]) -> _Attempt:
    """Return the intent of a draft with the headroom ratio that gives most pools their deployed size, else with 1."""
    whole = _attempt(with_ratio(draft, 1.0), profile_dirs)
    ratio = ratio_of(size for cells in whole.cells.values() for size in shared_sizes(cells))
    return whole if ratio is None else _attempt(with_ratio(draft, ratio), profile_dirs)


def _claims(devices: Sequence[ImportDevice], cabling: Path | None, lldp: Sequence[Path]) -> list[Claim]:
    claims: list[Claim] = []
    if cabling is not None:
        claims += read_cabling(read_text(cabling), os.fspath(cabling))
    names = [device.name for device in devices]
    for file in (os.fspath(path) for path in lldp):
        claims += lldp_claims(device_of(file, names), read_lldp(read_text(file), file), devices)
    return claims


def _nics(nic: str | None, profile_dirs: Sequence[Folder]) -> list[NicProfile]:
    """Return the NIC profiles to choose from: the one that the user names, else all.

    Raises:
        ProfileError: the one that the user names does not exist, or a user's file is unreadable or wrong.
    """
    if nic is not None:
        return [load_nic(nic, profile_dirs)]
    return list(nic_profiles(profile_dirs))


def _attempt(draft: Draft, profile_dirs: Sequence[Folder]) -> _Attempt:
    """Return the text of a draft's intent, and the comparison of its render with each device, or why it is refused."""
    text = intent_text(draft)
    errors: list[Problem] = []
    fabric = intent_fabric(load_text(text, INTENT_FILE), profile_dirs, errors)
    if fabric is None:
        return _Attempt(text, {}, (), tuple(errors))
    cells, differences = round_trip(draft, fabric)
    others = [device for device in draft.devices if not device.switch.runs_sonic]
    if not others:
        return _Attempt(text, cells, differences, ())
    other_cells, more, refused = compare_others(others, fabric)
    return _Attempt(text, cells | other_cells, (*differences, *more), refused)


_V = TypeVar("_V")
_NUMBER, _OFF = "number: ", "off"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_WORDS = frozenset(
    {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "rest", "none", "nan", "inf"}
)


def intent_text(draft: Draft) -> str:
    """Return the YAML of the intent that a draft stands for, with its notes as comments."""
    return "\n".join(_lines(draft)) + "\n"


def _lines(draft: Draft) -> Iterator[str]:
    names = ", ".join(device.name for device in draft.devices[:5])
    more = f" and {len(draft.devices) - 5} more" if len(draft.devices) > 5 else ""
    yield f"# Imported from what is deployed on {names}{more}. What most ports have is declared here."
    yield "lossless: v1"
    yield f"fabric: {_text(draft.name)}"
    yield "transport: rocev2"
    yield ""
    yield from _comments(draft.notes["classes"])
    yield "classes:"
    width = max(len(cls.name) for cls in draft.classes) + 1
    yield from (line for cls in draft.classes for line in _class(cls, width))
    yield ""
    yield from _policies(draft)
    yield from _buffers(draft)
    yield from _hardware(draft)
    yield ""
    yield from _topology(draft)


def _class(cls: DraftClass, width: int) -> Iterator[str]:
    yield from _comments(cls.notes, "  ")
    fields = [f"dscp: {_dscps(cls.dscps)}", f"priority: {cls.priority}"]
    fields += ["lossless: true"] if cls.lossless else []
    fields += [f"pg: {_stated(cls.pg, _group)}"] if cls.pg else []
    fields += ["scheduling: strict"] if cls.strict else []
    fields += [] if cls.bandwidth is None else [f"bandwidth: {cls.bandwidth}%"]
    fields += [f"ecn: {_stated(cls.ecn, _curve)}"] if cls.ecn else []
    fields += [f"buffer: {_stated(cls.buffers, _values)}"] if cls.buffers else []
    fields += [f"queue: {_stated(cls.queues, _values)}"] if cls.queues else []
    yield f"  {f'{cls.name}:'.ljust(width)} {{{', '.join(fields)}}}"


def _dscps(dscps: tuple[int, ...] | None) -> str:
    if dscps is None:
        return "rest"
    if not dscps:
        return "off"
    return str(dscps[0]) if len(dscps) == 1 else f"[{', '.join(map(str, dscps))}]"


def _stated(stated: Stated[_V], fields: Callable[[_V], Iterable[str]]) -> str:
    """Return the values of a class section as YAML: for all switches, with exceptions by speed, tier and device."""
    return _short(_ranks(stated, fields))


def _ranks(stated: Stated[_V], fields: Callable[[_V], Iterable[str]]) -> list[str]:
    tiers = (f"{t.word}: {_short(_by_speed(v, fields))}" for t, v in stated.items() if isinstance(t, Tier))
    devices = (f"{_text(d)}: {_short(_by_speed(v, fields))}" for d, v in stated.items() if isinstance(d, str))
    exceptions = {"by_tier": ", ".join(tiers), "by_device": ", ".join(devices)}
    return [
        *_by_speed(stated.get(None, {}), fields),
        *(f"{k}: {{{v}}}" for k, v in exceptions.items() if v),
    ]


def _by_speed(by_speed: Mapping[int | None, _V], fields: Callable[[_V], Iterable[str]]) -> list[str]:
    usual = fields(by_speed[None]) if None in by_speed else ()
    others = [f"{_rate(s)}: {_short(fields(v))}" for s, v in by_speed.items() if s is not None]
    return [*usual, *([f"by_speed: {{{', '.join(others)}}}"] if others else [])]


def _short(fields: Iterable[str]) -> str:
    """Return a mapping of fields as YAML; a number alone, or the word ``off``, is its own short form."""
    parts = [*fields]
    if parts == [_OFF] or (len(parts) == 1 and parts[0].startswith(_NUMBER)):
        return parts[0].removeprefix(_NUMBER)
    return f"{{{', '.join(parts)}}}"


def _group(group: ClassGroup) -> Iterator[str]:
    yield f"{_NUMBER}{group[0]}"


def _curve(curves: ClassCurve) -> Iterator[str]:
    curve = curves[0]
    if curve is None:
        yield _OFF
        return
    yield from _of_colour(curve.green)
    for name, other in curve.others:
        yield f"{name}: off" if other is None else f"{name}: {{{', '.join(_of_colour(other))}}}"


def _of_colour(curve: ColourCurve) -> list[str]:
    low, high, probability = curve
    return [f"min: {size_text(low)}", f"max: {size_text(high)}", f"probability: {probability}%"]


def _values(values: ClassValues) -> Iterator[str]:
    yield from (f"{key}: {value if key == 'dynamic_th' else size_text(value)}" for key, value in values)


def _pools(values: PoolValues) -> Iterator[str]:
    sizes: dict[str, list[str]] = {}
    for path, value in values:
        if path == RATIO:
            yield f"{RATIO[0]}: {value:.10g}"
        else:
            text = f"{value:g}%" if path[2] == "percentage" else size_text(int(value))
            sizes.setdefault(path[1], []).append(f"{path[2]}: {text}")
    if sizes:
        each = (f"{pool}: {{{', '.join(fields)}}}" for pool, fields in sizes.items())
        yield f"pool_sizes: {{{', '.join(each)}}}"


def _policies(draft: Draft) -> Iterator[str]:
    lossless = [cls for cls in draft.classes if cls.lossless]
    yield from _comments(draft.notes["pfc"])
    if not lossless:
        yield "pfc: off"
    else:
        yield f"pfc: {{{', '.join(_pfc(draft))}}}"
    marks = any(cls.ecn for cls in lossless)
    yield f"congestion_control: {'dcqcn' if marks else 'pfc-only'}  # {_WHY_MARKS if marks else _WHY_NOT}"
    yield from _comments(draft.notes["mtu"])
    if draft.mtu_bytes != DEFAULT_SWITCH_MTU_BYTES:
        yield f"mtu: {draft.mtu_bytes}"
    if draft.mtu_bytes < DEFAULT_HOST_MTU_BYTES:
        yield f"hosts: {{mtu: {draft.mtu_bytes}}}  # no switch knows it: as large as the switches let through"
    yield from _exceptions(draft)
    yield from _trimming(draft)
    yield ""


def _exceptions(draft: Draft) -> Iterator[str]:
    if not draft.exceptions:
        return
    yield "exceptions:  # ports that differ from most"
    for end, own in draft.exceptions.items():
        fields = [] if own.mtu_bytes is None else [f"mtu: {own.mtu_bytes}"]
        fields += [] if own.asymmetric is None else [f"asymmetric: {'on' if own.asymmetric else 'off'}"]
        if own.watchdog is not None:
            fields.append(f"watchdog: {{{', '.join(own.watchdog)}}}" if own.watchdog else "watchdog: off")
        yield f"  {_end(end)}: {{{', '.join(fields)}}}"


def _trimming(draft: Draft) -> Iterator[str]:
    yield from _comments(draft.notes["trimming"])
    if draft.trimming is not None:
        classes, into, size_bytes = draft.trimming
        yield f"trimming: {{of: [{', '.join(classes)}], into: {into}, size: {size_text(size_bytes)}}}"


def _pfc(draft: Draft) -> Iterator[str]:
    if draft.tiers is not None:
        yield f"tiers: [{', '.join(draft.tiers)}]"
    if draft.asymmetric:
        yield "asymmetric: on"
    if draft.watchdog is None:
        yield "watchdog: off"
        return
    usual = _watchdog_words(draft.watchdog)
    # For all switches, a restoration time that is left out is none.
    fields = [f"{key}: {word}" for key, word in usual.items() if word != NEVER]
    tiers = []
    for tier, watchdog in draft.watchdog.tiers.items():
        own = (f"{key}: {word}" for key, word in _watchdog_words(watchdog).items() if usual[key] != word)
        tiers.append(f"{tier.word}: {{{', '.join(own)}}}")
    fields += [f"by_tier: {{{', '.join(tiers)}}}"] if tiers else []
    yield f"watchdog: {{{', '.join(fields)}}}"


def _watchdog_words(watchdog: DraftWatchdog) -> dict[str, str]:
    """Return the settings of a watchdog as the exception of an intent states them: ``never`` for no restoration."""
    restoration_ms = watchdog.restoration_ms
    return {
        "poll": f"{watchdog.poll_ms}ms",
        "detection": f"{watchdog.detection_ms}ms",
        "restoration": NEVER if restoration_ms is None else f"{restoration_ms}ms",
        "action": watchdog.action,
    }


def _buffers(draft: Draft) -> Iterator[str]:
    buffers, tiers = draft.buffers, {device.tier for device in draft.devices}
    fields = [f"{key}: {_by_tier(words, tiers)}" for key, words in buffers.words.items()]
    fields += _ranks(buffers.pools, _pools)
    if "dynamic" in buffers.words.get("model", {}).values():
        mtu_bytes, small = buffers.lossless_mtu, buffers.small_packets
        fields += [] if mtu_bytes is None else [f"lossless_mtu: {mtu_bytes}"]
        fields += [] if small is None else [f"small_packets: {small}%"]
    if fields:
        yield from _comments(buffers.notes)
        yield f"buffers: {{{', '.join(fields)}}}"
        yield ""


def _by_tier(words: dict[Tier, str], tiers: set[Tier]) -> str:
    """Return a buffer policy as YAML: one word if all tiers have it, else a mapping of tiers to words."""
    if len({*words.values()}) == 1 and words.keys() == tiers:
        return next(iter(words.values()))
    return f"{{{', '.join(f'{tier.word}: {word}' for tier, word in words.items())}}}"


_WHY_MARKS = "the lossless queues mark; what senders make of it, no switch knows"
_WHY_NOT = "no lossless queue marks"


def _hardware(draft: Draft) -> Iterator[str]:
    yield "hardware:"
    for tier, device in _usual_hardware(draft).items():
        yield f"  {tier.word}: {_switch(device)}"
    yield from _comments(draft.notes["nic"], "  ")
    yield f"  nic: {_text(draft.nic)}"


def _usual_hardware(draft: Draft) -> dict[Tier, ImportDevice]:
    """Return, by tier, a device with the hardware of most devices there; for leaves any device where there are none."""
    by_tier = {}
    for tier in Tier:
        identical = {_hardware_of(device): device for device in draft.devices if device.tier is tier}
        usual, _ = most(_hardware_of(device) for device in draft.devices if device.tier is tier)
        if usual is not None:
            by_tier[tier] = identical[usual]
    # An intent always has leaves; where none was given, their placeholder is never asked for.
    return by_tier if Tier.LEAF in by_tier else {Tier.LEAF: next(iter(by_tier.values())), **by_tier}


def _hardware_of(device: ImportDevice) -> tuple[str, str, str]:
    return device.profile.name, device.hwsku.name, device.switch.format


def _switch(device: ImportDevice, split: dict[str, str] | None = None) -> str:
    system = device.switch.format
    runs = f"hwsku: {_text(device.hwsku.name)}" if device.switch.runs_sonic else f"format: {system}"
    fields = [f"profile: {_text(device.profile.name)}", runs]
    if split:
        cages = ", ".join(f"{_text(cage)}: {text}" for cage, text in split.items())
        fields.append(f"breakout: {{{cages}}}")
    return f"{{{', '.join(fields)}}}"


def _topology(draft: Draft) -> Iterator[str]:
    yield from _comments(draft.notes["topology"])
    yield "topology:"
    if max(draft.oversubscription.values(), default=1.0) > 1:
        yield f"  oversubscription: {_ratios(draft.oversubscription)}  # as it is wired"
    yield "  devices:"
    usual = _usual_hardware(draft)
    for device in draft.devices:
        split = breakouts(device)
        own = split or _hardware_of(device) != _hardware_of(usual[device.tier])
        hardware = f", hardware: {_switch(device, split)}" if own else ""
        tor = ", dual_tor: true" if device.name in draft.dual_tors else ""
        yield f"    {_text(device.name)}: {{role: {device.tier.word}{tor}{hardware}}}"
    last = ""
    for name, known in draft.outside.items():
        yield from _comments([known] if known != last else [], "    ")
        tier = draft.switches_outside.get(name)
        what = f"role: {tier.word}, outside: true" if tier else "role: host"
        yield f"    {_text(name)}: {{{what}}}"
        last = known
    yield "  links:" if draft.links else "  links: []"
    yield from (line for link in draft.links for line in _link(link))


def _ratios(ratios: dict[Tier, float]) -> str:
    if len(ratios) == 1:
        return f"{next(iter(ratios.values())):g}"
    return f"{{{', '.join(f'{tier.word}: {ratios[tier]:g}' for tier in sorted(ratios))}}}"


def _link(link: ImportLink) -> Iterator[str]:
    ends = f"a: {_end(link.a)}, b: {_end(link.b)}"
    comment = f"  # {visible('; '.join(link.notes))}" if link.notes else ""
    yield f"    - {{{ends}, links: 1 x {_rate(link.speed_bps)}, cable: {link.cable_m}m}}{comment}"


def _end(end: CableEnd) -> str:
    return _text(end.device if end.port is None else f"{end.device}:{end.port}")


def _comments(notes: Iterable[str], indent: str = "") -> Iterator[str]:
    yield from (f"{indent}# {visible(note)}" for note in notes)


def _text(text: str) -> str:
    """Return a name in YAML: plain where it can only be text, else in quotes."""
    plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS
    return text if plain else json.dumps(text)


def _rate(rate_bps: int) -> str:
    text = format_rate(rate_bps)
    return text if parse_rate(text) == rate_bps else f"{rate_bps // 10**6}M"


class RoundTrip(NamedTuple):
    """The compared fields, by device, and those that differ after import and render."""

    cells: dict[str, tuple[Cell, ...]]
    differences: tuple[ImportDifference, ...]


def round_trip(draft: Draft, fabric: Fabric) -> RoundTrip:
    """Return the comparison of the SONiC devices of a draft with the render of its intent's fabric."""
    switches = {switch.name: switch for switch in fabric.switches}
    cells: dict[str, tuple[Cell, ...]] = {}
    differences: list[ImportDifference] = []
    for device in draft.devices:
        if not device.switch.runs_sonic:
            continue
        switch = switches[device.name]
        rendered = Tables(device.name, chassis_rows(tables(switch), device.tables.data))
        own = compare(device.tables, rendered, device.switch)
        cells[device.name] = (*own, *(cell for _, cell in port_cells(device, switch)))
        differences += Explainer(device, switch, draft).differences(cells[device.name])
    return RoundTrip(cells, tuple(differences))
