"""Which switch of an intent a configuration is of, and how it differs: of one switch, and of all of a fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.drift.drift import Drift, drift_of
from lossless.checks.drift.other_systems import drift_of_system
from lossless.formats.inputs.devices import hostname_of, name_in_intent
from lossless.formats.inputs.switches import read_switch
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.checks.drift.drift import SwitchDrift
    from lossless.checks.lint.report import Report
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric, Switch


class FabricDrift(NamedTuple):
    """The differences between the running configurations of switches and those that one intent renders for them.

    ``drifts`` has one entry a switch that was compared, in the order of the files; ``missing`` names the switches of
    the intent without a file. ``errors`` are the files that were not compared. ``report`` contains the findings of the
    rules on the intent; with errors in it nothing is compared.
    """

    intent: str
    drifts: tuple[Drift, ...]
    missing: tuple[str, ...]
    errors: tuple[Problem, ...]
    report: Report


def drift_between(switch: Switch, running: Document) -> SwitchDrift:
    """Return how the configuration of a switch differs from its intent, whichever system it runs."""
    if switch.runs_sonic and not running.dialect:
        return drift_of(switch, running)
    return drift_of_system(switch, running)


def switch_of(
    fabric: Fabric, running: Document, device: str | None, remedy: str = "; name one with --device"
) -> Switch:
    """Return the switch of the intent that a file is of.

    Raises:
        InputError: there is none; the message names those that there are.
    """
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


def fabric_drift(
    running: Sequence[Document],
    fabric: Fabric,
    intent: str,
    report: Report,
    progress: Callable[[int, int], None] | None = None,
) -> FabricDrift:
    """Compare configurations, each with its switch of a fabric; ``intent`` is the file that declares it."""
    devices, problems = _matched(fabric, running)
    drifts = tuple(_compared(devices, fabric, intent, report, progress))
    missing = tuple(switch.name for switch in fabric.switches if switch.name not in devices)
    return FabricDrift(intent, drifts, missing, tuple(problems), report)


def _matched(fabric: Fabric, running: Sequence[Document]) -> tuple[dict[str, Document], list[Problem]]:
    """Return configurations by their switch of the intent, and why others have none."""
    devices: dict[str, Document] = {}
    problems: list[Problem] = []
    for document in running:
        try:
            name = switch_of(fabric, document, None, remedy="").name
        except InputError as error:
            problems += error.problems
            continue
        if name in devices:
            message = f"is the file of {name!r}, and so is {devices[name].file}; keep the one that runs"
            problems.append(Problem(document.file, None, None, message))
        devices.setdefault(name, document)
    return devices, problems


def _compared(
    devices: dict[str, Document],
    fabric: Fabric,
    intent: str,
    report: Report,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Drift]:
    switches = {switch.name: switch for switch in fabric.switches}
    for number, (name, running) in enumerate(devices.items(), 1):
        yield Drift(name, running.file, intent, *drift_between(switches[name], running), report)
        if progress is not None:
            progress(number, len(devices))
