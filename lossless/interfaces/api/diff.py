"""Diff: compare running configurations with an intent, and plan the update of each switch."""

from __future__ import annotations

from os.path import isdir, isfile, join
from shlex import quote
from typing import TYPE_CHECKING

from lossless.checks.drift.drift import (
    Drift as Drift,
    FabricDrift as FabricDrift,
    drift_between,
    fabric_drift,
    switch_of,
)
from lossless.formats.inputs.collect import Candidate, device_in, gather, is_json, read
from lossless.formats.inputs.fabrics import intent_at
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents import load
from lossless.interfaces.api.discovery import exclusions_of
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.interfaces.api.render import sound_fabric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from lossless.ground.documents.text import Document


def diff(
    config_db: str | PathLike[str],
    intent: str | PathLike[str],
    *,
    device: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> Drift:
    """Compare a switch's ``config_db.json`` with the tables that rendering owns, as rendered from an intent.

    ``device`` names the switch of the intent; left out, it is the file's own hostname, or its folder's name where the
    file has none.

    Raises:
        InputError: the file or the intent cannot be read, or the intent has no such switch.
    """
    try:
        document, running = intent_at(intent), _running(config_db)
    except InputError:
        _require_order(str(config_db), str(intent))
        raise
    report, fabric = sound_fabric(document, options)
    if fabric is None:
        return Drift(device or "", running.file, document.file, (), 0, None, None, (), (), report)
    switch = switch_of(fabric, running, device)
    return Drift(switch.name, running.file, document.file, *drift_between(switch, running), report)


def diff_fabric(
    configs: Sequence[str | PathLike[str]],
    intent: str | PathLike[str],
    *,
    options: Options = DEFAULT_OPTIONS,
    progress: Callable[[int, int], None] | None = None,
) -> FabricDrift:
    """Compare the configurations at some paths, files or folders, each with its switch of an intent.

    The switch is the one with the file's hostname, else the one named like the file's folder. ``progress`` is called
    with the number of compared files and the total.

    Raises:
        InputError: the intent cannot be read. A problem with a single configuration is in ``errors`` instead.
    """
    try:
        document = intent_at(intent)
    except InputError:
        _require_order(str(configs[0]), str(intent))
        raise
    inputs = gather(configs, excludes=exclusions_of(options))
    running = [config for config in inputs.documents if config.dialect or is_json(config.file)]
    report, fabric = sound_fabric(document, options)
    if fabric is None:
        return FabricDrift(document.file, (), (), inputs.problems, report)
    drift = fabric_drift(running, fabric, document.file, report, progress)
    return drift._replace(errors=(*inputs.problems, *drift.errors))


def _running(config_db: str | PathLike[str]) -> Document:
    _require_one_file(config_db)
    if is_json(str(config_db)):
        return device_in(load(config_db))
    inputs = read(Candidate(str(config_db), expected=True))
    if len(inputs.documents) == 1 and inputs.documents[0].dialect:
        return inputs.documents[0]
    return device_in(load(config_db))


def _require_order(config_db: str, intent: str) -> None:
    """Raise an error that names the swapped arguments if intent and configuration are in each other's place.

    Raises:
        InputError: an intent comes first, or a configuration second.
    """
    intent_first = isfile(join(config_db, "fabric.yaml")) or (
        isfile(config_db) and config_db.endswith((".yaml", ".yml"))
    )
    switch_second = isfile(intent) and intent.endswith(".json")
    if intent_first and switch_second:
        message = f"an intent, which comes second: lossless diff {quote(intent)} {quote(config_db)}"
    elif intent_first:
        message = "an intent; CONFIG_DB, the first argument, is the config_db.json of one switch"
    else:
        message = (
            "a configuration; INTENT, the second argument, is a YAML file or a folder that holds fabric.yaml"
        )
    if intent_first or switch_second:
        raise InputError([Problem(config_db if intent_first else intent, None, None, message)])


def _require_one_file(config_db: str | PathLike[str]) -> None:
    """Refuse a folder, whose files are those of several switches.

    Raises:
        InputError: it is one.
    """
    if isdir(config_db):
        raise InputError(
            [Problem(str(config_db), None, None, "a folder; diff_fabric compares all its switches")]
        )
