"""Changes to an intent that set tuned values, or the values of a preset in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.class_changes import placed_changes, sharing_classes
from lossless.formats.intent.load import preset_values
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.ground.documents.changes import ValueChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.formats.intent.class_changes import Place
    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.findings import Json

TUNED_PRESETS = ("azure", "nvidia")
"""Presets that have an ECN curve."""
_CNP_INTERVAL = {"min_time_between_cnps": "cnp_interval"}
"""Keys of an intent for parameters whose ConnectX name is less clear."""
_RATES = ("rpg_ai_rate", "rpg_hai_rate")
_MBPS = 1_000_000


class TunedValues(NamedTuple):
    """Tuned values of a class.

    ``thresholds`` are by their keys under ``ecn`` and ``buffer``, by role and speed; ``headroom_bytes`` has the ports
    that need more headroom; ``dcqcn`` has DCQCN parameters by ConnectX's names, in its units.
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
    """Return the changes that set tuned values; ``places`` are all kinds of ports, ``role_of`` has all switches."""
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
    """Return a parameter as an intent has it: rates and times with their units."""
    if name in _RATES:
        return format_rate(value * _MBPS)
    return value if name == "dce_tcp_g" else f"{value}us"


def preset_changes(loaded: LoadedIntent, class_name: str, preset: str) -> tuple[ValueChange, ...]:
    """Return the changes that give a class the ECN curve of a preset, and the buffers of its HWSKUs."""
    classes = preset_values(preset)["classes"].values()
    curve = next(given["ecn"] for given in classes if given.get("lossless"))
    stated = ValueChange(("classes", class_name, "ecn"), "add", curve)
    return (stated, *row_changes(loaded, class_name))


def row_changes(loaded: LoadedIntent, class_name: str) -> tuple[ValueChange, ...]:
    """Return the changes that give a class the buffers of its HWSKUs; none where it has them already."""
    paths = (("classes", name, "buffer") for name in sharing_classes(loaded, class_name))
    return tuple(ValueChange(path, "remove") for path in paths if loaded.document.exists(path))
