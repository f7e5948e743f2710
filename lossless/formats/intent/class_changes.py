"""The changes by which an intent states thresholds of a class for all its switches and links.

Where it has exceptions, they are changed too: what is stated for a device or a speed would count before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.classes import NoCurve
from lossless.formats.intent.ranks import as_written, everywhere
from lossless.ground.basics.units import size_text
from lossless.ground.documents.changes import ValueChange
from lossless.model.fabric.tier import SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.intent.load import LoadedIntent
    from lossless.ground.basics.findings import Json, Path

_CURVE_KEYS = ("min", "max", "probability")
_RIVALS = {"dynamic_th": "static_th", "static_th": "dynamic_th"}


def class_changes(
    loaded: LoadedIntent, class_name: str, values: Mapping[str, int]
) -> tuple[ValueChange, ...]:
    """Return the changes that give a class some values everywhere.

    ``values`` are in bytes and percent, by their keys under ``ecn`` and ``buffer``. In the traditional buffer model all
    lossless classes share a profile, so all of them state the values under ``buffer``.
    """
    curve = {key: value for key, value in values.items() if key in _CURVE_KEYS}
    buffers = {key: value for key, value in values.items() if key not in _CURVE_KEYS}
    classes, model = loaded.intent.classes, loaded.intent.buffers.model
    alone = all(model.get(role) == "dynamic" for role in SWITCH_ROLES)
    sharing = [name for name, cls in classes.items() if name == class_name or (cls.lossless and not alone)]
    changes = [change for name in sharing for change in _buffer_changes(loaded, name, buffers)]
    return (*_curve_changes(loaded, class_name, curve), *changes)


def _curve_changes(loaded: LoadedIntent, class_name: str, curve: Mapping[str, int]) -> Iterator[ValueChange]:
    policy, path = loaded.intent.classes[class_name].ecn, ("classes", class_name, "ecn")
    texts: dict[str, Json] = {key: _text(key, value) for key, value in curve.items()}
    if policy is None:
        if curve:
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


def _buffer_changes(
    loaded: LoadedIntent, class_name: str, buffers: Mapping[str, int]
) -> Iterator[ValueChange]:
    policy, path = loaded.intent.classes[class_name].buffer, ("classes", class_name, "buffer")
    for key, value in buffers.items():
        rival = _RIVALS.get(key, key)
        yield ValueChange((*path, key), "add", _text(key, value))
        for values, below in everywhere(policy) if policy else ():
            has_rival = rival != key and getattr(values, rival) is not None
            if has_rival:
                yield ValueChange(_written(loaded, (*path, *below, rival)), "remove")
            if below and (has_rival or getattr(values, key) is not None):
                yield ValueChange(_written(loaded, (*path, *below, key)), "add", _text(key, value))


def _written(loaded: LoadedIntent, path: Path) -> Path:
    return as_written(loaded.document, path)


def _text(key: str, value: int) -> Json:
    if key == "dynamic_th":
        return value
    return f"{value}%" if key == "probability" else size_text(value)


def intent_line(changes: tuple[ValueChange, ...]) -> str:
    """Return what changes state as one line of YAML: ``classes: {rdma: {buffer: {dynamic_th: 1}}}``."""
    from lossless.formats.intent.schema_values import written
    from lossless.ground.documents.changes import changed

    stated = changed({}, [change for change in changes if change.action == "add"]) or {}
    return ", ".join(f"{key}: {written(value)}" for key, value in stated.items())
