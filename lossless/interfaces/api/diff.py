"""Diff: how a running configuration differs from what an intent declares, and how it gets there."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from lossless.formats.inputs.fabrics import intent_at
from lossless.ground.basics.errors import InputError, Problem
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.interfaces.api.render import sound_fabric
from lossless.output.render.drift import Drift as Drift, drift_of, hostname_of

if TYPE_CHECKING:
    from os import PathLike

    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.output.render.drift import SwitchDrift


def diff(
    config_db: str | PathLike[str],
    intent: str | PathLike[str],
    *,
    device: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> Drift:
    """Compare a switch's ``config_db.json`` with what an intent renders for it, in the tables rendering owns.

    ``device`` names the switch of the intent; left out, it is the file's own hostname, or its folder's name where the
    file has none.

    Raises:
        InputError: the file or the intent cannot be read, or the intent has no such switch.
    """
    try:
        document, running = intent_at(intent), _running(config_db)
    except InputError:
        require_order(str(config_db), str(intent))
        raise
    report, fabric = sound_fabric(document, options)
    if fabric is None:
        return Drift(device or "", running.file, document.file, (), 0, None, None, (), (), report)
    switch = switch_of(fabric, running, device)
    return Drift(switch.name, running.file, document.file, *drift_between(switch, running), report)


def drift_between(switch: Switch, running: Document) -> SwitchDrift:
    """Return how the configuration of a switch differs from its intent, whichever system it runs."""
    if switch.runs_sonic and not running.dialect:
        return drift_of(switch, running)
    from lossless.output.render.drift_of_systems import drift_of_system

    return drift_of_system(switch, running)


def _running(config_db: str | PathLike[str]) -> Document:
    from lossless.formats.inputs.collect import Candidate, device_in, is_json, read
    from lossless.ground.documents import load

    _require_one_file(config_db)
    if is_json(str(config_db)):
        return device_in(load(config_db))
    inputs = read(Candidate(str(config_db), expected=True))
    if len(inputs.documents) == 1 and inputs.documents[0].dialect:
        return inputs.documents[0]
    return device_in(load(config_db))


def require_order(config_db: str, intent: str) -> None:
    """Say which argument is which where one has the other's place.

    Raises:
        InputError: an intent comes first, or a configuration second.
    """
    from os.path import isfile, join

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
    from os.path import isdir

    if isdir(config_db):
        raise InputError(
            [Problem(str(config_db), None, None, "a folder; diff_fabric compares all its switches")]
        )


def switch_of(
    fabric: Fabric, running: Document, device: str | None, remedy: str = "; name one with --device"
) -> Switch:
    """Return the switch of the intent that a file is of.

    Raises:
        InputError: there is none; the message names those that there are.
    """
    from lossless.formats.inputs.devices import name_in_intent
    from lossless.formats.inputs.switches import read_switch
    from lossless.formats.sonic.read.tables import Tables
    from lossless.ground.basics.nearest import suggestion

    switches = {switch.name: switch for switch in fabric.switches}
    if running.dialect:
        hostname = read_switch(running).read.switch.name
        name = device or hostname
    else:
        hostname = hostname_of(running)
        name = device or name_in_intent(Tables(running.file, running.data), hostname)
    if name in switches:
        return switches[name]
    hint = suggestion(device or hostname, switches)
    if device:
        message = f"the intent has no switch {device!r}{hint}"
    elif hostname:
        message = f"is the file of {hostname!r}, and the intent has no such switch{hint}{remedy}"
    else:
        message = f"does not say whose it is (DEVICE_METADATA|localhost|hostname){hint}{remedy}"
    raise InputError([Problem(running.file, None, None, message)])
