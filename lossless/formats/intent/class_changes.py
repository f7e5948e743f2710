"""Changes to an intent that set ECN, buffer and queue thresholds of a traffic class, and DCQCN parameters.

The values are swept, tuned, or those of a preset. Existing exceptions are changed too, because a value for a device or
a speed takes precedence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.classes import CurveIntent, NoCurve
from lossless.formats.intent.load import load_intent, preset_values
from lossless.formats.intent.policy import as_written, everywhere
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, size_text
from lossless.ground.documents import load_text
from lossless.ground.documents.changes import ValueChange, changed
from lossless.ground.documents.command_lines import edited
from lossless.model.fabric.model import SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.formats.intent.classes import TrafficClassIntent
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.findings import Json, Path
    from lossless.ground.documents.text import Document
    from lossless.model.hardware.load import Folder


Place = tuple[str, int]
"""The role of a switch, and the speed of a port in b/s."""
_CURVE_KEYS = CurveIntent.model_fields.keys()
_QUEUE = "queue."
_RIVALS = {"dynamic_th": "static_th", "static_th": "dynamic_th"}


def class_changes(
    loaded: LoadedIntent, class_name: str, values: Mapping[str, int]
) -> tuple[ValueChange, ...]:
    """Return the changes to an intent that set thresholds of a class on all switches and links.

    ``values`` are in bytes and percent, a ``dynamic_th`` is an exponent. Their keys are those under ``ecn`` and
    ``buffer``; keys under ``queue`` have the prefix ``queue.``. Values under ``buffer`` are set for all of
    :func:`sharing_classes`. Where ECN is off, also in an exception, it stays off unless ``values`` have a whole curve.
    """
    curve = {key: value for key, value in values.items() if key in _CURVE_KEYS}
    queue = {key.removeprefix(_QUEUE): value for key, value in values.items() if key.startswith(_QUEUE)}
    buffers = {key: value for key, value in values.items() if key not in curve and not key.startswith(_QUEUE)}
    sharing = sharing_classes(loaded, class_name)
    changes = [change for name in sharing for change in _threshold_changes(loaded, (name, "buffer"), buffers)]
    queues = _threshold_changes(loaded, (class_name, "queue"), queue)
    return (*_curve_changes(loaded, class_name, curve), *changes, *queues)


def sharing_classes(loaded: LoadedIntent, class_name: str) -> tuple[str, ...]:
    """Return a class and all lossless classes, which share one buffer profile, in the order of the intent.

    If every switch role has the dynamic buffer model, it is the class alone.
    """
    classes, model = loaded.intent.classes, loaded.intent.buffers.model
    alone = all(model.get(role) == "dynamic" for role in SWITCH_ROLES)
    return tuple(name for name, cls in classes.items() if name == class_name or (cls.lossless and not alone))


def placed_changes(
    loaded: LoadedIntent,
    class_name: str,
    values: Mapping[Place, Mapping[str, int]],
    role_of: Mapping[str, str],
) -> tuple[ValueChange, ...]:
    """Return the changes that set ECN and buffer thresholds of a class by switch role and port speed.

    The values of the first place become the values for all, as :func:`class_changes` sets them; others become
    exceptions: by speed, or by tier and speed where roles differ at one speed. ``role_of`` maps each switch to its
    role, to find the values that apply to switches with exceptions of their own.
    """
    first = next(iter(values.values()))
    changes = {change.path: change for change in class_changes(loaded, class_name, first)}
    sections = [(class_name, "ecn"), *((name, "buffer") for name in sharing_classes(loaded, class_name))]
    for name, section in sections:
        own = {
            place: {key: value for key, value in each.items() if (key in _CURVE_KEYS) is (section == "ecn")}
            for place, each in values.items()
        }
        for path, texts in _exceptions(loaded.intent.classes[name], section, own, role_of):
            named = _named_speeds(_written(loaded, ("classes", name, section, *path)))
            changes |= {(*named, key): ValueChange((*named, key), "add", text) for key, text in texts.items()}
    return tuple(changes.values())


def _exceptions(
    declared: TrafficClassIntent,
    section: str,
    values: Mapping[Place, Mapping[str, int]],
    role_of: Mapping[str, str],
) -> Iterator[tuple[Path, dict[str, Json]]]:
    """Yield the path below a section and the thresholds of each role and speed whose values differ from the first."""
    first = next(iter(values.values()))
    by_speed = all(values[one] == values[other] for one in values for other in values if one[1] == other[1])
    policy = getattr(declared, section)
    tiers, devices = (policy.by_tier, policy.by_device) if policy is not None else ({}, {})
    for (role, speed_bps), own in values.items():
        if own == first:
            continue
        layers: list[Path] = [() if by_speed else ("by_tier", role)]
        layers += [("by_tier", role)] if by_speed and role in tiers else []
        layers += [("by_device", name) for name in devices if role_of.get(name) == role]
        for layer in layers:
            yield (*layer, "by_speed", speed_bps), {key: _text(key, value) for key, value in own.items()}


def _named_speeds(path: Path) -> Path:
    """Return a path in which each speed that is not yet a key of the file is written with its unit, as ``400G``."""
    return tuple(
        format_rate(key) if at and path[at - 1] == "by_speed" and isinstance(key, int) else key
        for at, key in enumerate(path)
    )


def _curve_changes(loaded: LoadedIntent, class_name: str, curve: Mapping[str, int]) -> Iterator[ValueChange]:
    policy, path = loaded.intent.classes[class_name].ecn, ("classes", class_name, "ecn")
    texts: dict[str, Json] = {key: _text(key, value) for key, value in curve.items()}
    if policy is None:
        if len(curve) == len(_CURVE_KEYS):
            yield ValueChange(path, "add", texts)
        return
    for stated, below in everywhere(policy):
        if isinstance(stated, NoCurve):
            # Half a curve is none: where ECN is off it stays off.
            if len(curve) == len(_CURVE_KEYS):
                yield ValueChange(_written(loaded, (*path, *below)), "add", texts)
            continue
        for key, text in texts.items():
            yield ValueChange(_written(loaded, (*path, *below, key)), "add", text)


def _threshold_changes(
    loaded: LoadedIntent, section: tuple[str, str], values: Mapping[str, int]
) -> Iterator[ValueChange]:
    """Yield the changes that set thresholds in the section ``buffer`` or ``queue`` of a class and in its exceptions.

    Where ``static_th`` is declared, ``dynamic_th`` replaces it, and the reverse.
    """
    policy = getattr(loaded.intent.classes[section[0]], section[1])
    path = ("classes", *section)
    for key, value in values.items():
        rival = _RIVALS.get(key, key)
        yield ValueChange((*path, key), "add", _text(key, value))
        for stated, below in everywhere(policy) if policy else ():
            has_rival = rival != key and getattr(stated, rival) is not None
            if has_rival:
                yield ValueChange(_written(loaded, (*path, *below, rival)), "remove")
            if below and (has_rival or getattr(stated, key) is not None):
                yield ValueChange(_written(loaded, (*path, *below, key)), "add", _text(key, value))


def _written(loaded: LoadedIntent, path: Path) -> Path:
    return as_written(loaded.document, path)


def _text(key: str, value: int) -> Json:
    if key == "dynamic_th":
        return value
    return f"{value}%" if key == "probability" else size_text(value)


def intent_line(changes: tuple[ValueChange, ...]) -> str:
    """Return the values that changes add as one line of YAML: ``classes: {rdma: {buffer: {dynamic_th: 1}}}``."""
    from lossless.ground.documents.yaml.edits import on_one_line

    stated = changed({}, [change for change in changes if change.action == "add"]) or {}
    return ", ".join(f"{key}: {on_one_line(value)}" for key, value in stated.items())


TUNED_PRESETS = ("azure", "nvidia")
"""Presets of an intent that have an ECN curve."""
_CNP_INTERVAL = {"min_time_between_cnps": "cnp_interval"}
"""Keys of an intent by ConnectX's name of the DCQCN parameter, where the two names differ."""
_RATES = ("rpg_ai_rate", "rpg_hai_rate")
_MBPS = 1_000_000


class TunedValues(NamedTuple):
    """Tuned thresholds of a traffic class, and tuned DCQCN parameters.

    ``thresholds`` maps switch role and port speed to values by key of ``ecn`` and ``buffer``. ``headroom_bytes`` is the
    xoff of the roles and speeds that need more headroom. ``dcqcn`` has ConnectX's parameter names and units.
    """

    thresholds: Mapping[Place, Mapping[str, int]] = {}
    headroom_bytes: Mapping[Place, int] = {}
    dcqcn: Mapping[str, int] = {}


def tuned_changes(
    loaded: LoadedIntent,
    class_name: str,
    values: TunedValues,
    role_of: Mapping[str, str],
    places: Iterable[Place],
) -> tuple[ValueChange, ...]:
    """Return the changes to an intent that set tuned values.

    ``places`` are the roles and speeds of all switch ports, ``role_of`` the roles of all switches by name.
    """
    own: dict[Place, Mapping[str, int]] = {
        place: {"xoff": values.headroom_bytes[place]} if place in values.headroom_bytes else {}
        for place in places
    }
    # What is stated for the first counts for all others: where some keep their headroom, one of them is the first.
    ordered = dict(sorted(own.items(), key=lambda entry: bool(entry[1])))
    headroom = placed_changes(loaded, class_name, ordered, role_of) if values.headroom_bytes else ()
    thresholds = placed_changes(loaded, class_name, values.thresholds, role_of) if values.thresholds else ()
    return (*thresholds, *headroom, *_dcqcn_changes(loaded, values.dcqcn))


def _dcqcn_changes(loaded: LoadedIntent, parameters: Mapping[str, int]) -> Iterator[ValueChange]:
    texts: dict[str, Json] = {
        _CNP_INTERVAL.get(name, name): _parameter_text(name, value) for name, value in parameters.items()
    }
    path = ("congestion_control", "dcqcn")
    if not texts:
        return
    if not isinstance(loaded.document.data.get(path[0]), dict):
        yield ValueChange(path[:1], "add", {path[1]: texts})
        return
    for key, text in texts.items():
        yield ValueChange((*path, key), "add", text)


def _parameter_text(name: str, value: int) -> Json:
    """Return a DCQCN parameter as an intent has it: rates and times with their units."""
    if name in _RATES:
        return format_rate(value * _MBPS)
    return value if name == "dce_tcp_g" else f"{value}us"


def preset_changes(loaded: LoadedIntent, class_name: str, preset: str) -> tuple[ValueChange, ...]:
    """Return the changes that give a class the ECN curve of a preset, and the buffer thresholds of the HWSKUs."""
    classes = preset_values(preset)["classes"].values()
    curve = next(given["ecn"] for given in classes if given.get("lossless"))
    stated = ValueChange(("classes", class_name, "ecn"), "add", curve)
    return (stated, *row_changes(loaded, class_name))


def row_changes(loaded: LoadedIntent, class_name: str) -> tuple[ValueChange, ...]:
    """Return the changes that give a class and those that share its profile the buffer thresholds of the HWSKUs.

    They remove the ``buffer`` sections; the result is empty where none is written.
    """
    paths = (("classes", name, "buffer") for name in sharing_classes(loaded, class_name))
    return tuple(ValueChange(path, "remove") for path in paths if loaded.document.exists(path))


INTENT_KEYS = {
    "dynamic_th": "dynamic_th",
    "kmin_bytes": "min",
    "kmax_bytes": "max",
    "pmax_percent": "probability",
    "headroom_bytes": "xoff",
    "queue_dynamic_th": "queue.dynamic_th",
}
"""The keys of an intent by field of ThresholdSetting; ``trimming`` has none, because it is a section of its own."""

SWEEP_INSTEAD = "lossless sweep --vary queue_dynamic_th=-6..1 tries thresholds of a lossy class"
"""The advice of messages for a lossy class, which is not tuned."""


class StatedThresholds(NamedTuple):
    """An intent file with changed thresholds: the changes as a line of YAML, and the text before and after them."""

    file: str
    line: str
    before: str
    after: str


def stated_setting(
    document: Document, class_name: str, setting: ThresholdSetting, profile_dirs: Sequence[Folder] = ()
) -> StatedThresholds:
    """Return the text of an intent with the thresholds of a setting for a class; every other byte of it stays.

    Raises:
        InputError: the intent is invalid, the setting turns trimming off or changes nothing, the file cannot be edited
            so, or the switches cannot hold the thresholds.
    """
    values = {
        key: value for name, key in INTENT_KEYS.items() if (value := getattr(setting, name)) is not None
    }
    changes = class_changes(load_intent(document), class_name, values)
    if setting.trimming == 0:
        message = "to drop instead of trimming, take trimming out by hand, and what only it needs"
        raise InputError([Problem(document.file, None, None, message)])
    if not changes:
        raise InputError([Problem(document.file, None, None, "it states that already")])
    after = edited_intent(document, changes)
    resolve(load_intent(load_text(after, document.file)), profile_dirs)
    return StatedThresholds(document.file, intent_line(changes), document.text, after)


def edited_intent(document: Document, changes: Sequence[ValueChange]) -> str:
    """Return the text of an intent with these changes made.

    Raises:
        InputError: no edit of the text makes exactly these changes.
    """
    after = edited(document, changes)
    if after is None:
        message = f"what is written there leaves no place for {intent_line(tuple(changes))}"
        raise InputError([Problem(document.file, None, None, message)])
    return after
