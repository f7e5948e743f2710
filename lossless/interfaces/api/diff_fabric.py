"""Diff of many: how the switches of a fabric differ from what their intent declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.fabrics import intent_at
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.diff import drift_between, require_order, switch_of
from lossless.interfaces.api.discovery import exclusions_of
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.interfaces.api.render import sound_fabric
from lossless.output.render.drift import Drift

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from lossless.checks.lint.report import Report
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Fabric


class FabricDrift(NamedTuple):
    """What differs between the running configurations of switches and what one intent renders for them.

    ``drifts`` has one entry a switch that was compared, in the order of the files; ``missing`` names the switches of
    the intent that no file is of. ``errors`` are the files that were not compared. ``report`` is what the rules say of
    the intent; with errors in it nothing is compared.
    """

    intent: str
    drifts: tuple[Drift, ...]
    missing: tuple[str, ...]
    errors: tuple[Problem, ...]
    report: Report


def diff_fabric(
    configs: Sequence[str | PathLike[str]],
    intent: str | PathLike[str],
    *,
    options: Options = DEFAULT_OPTIONS,
    progress: Callable[[int, int], None] | None = None,
) -> FabricDrift:
    """Compare the configurations at some paths, files and folders of them, each with its switch of an intent.

    A switch is found by the hostname in its file, or by its folder where that names none. ``progress`` is told how many
    of how many are compared.

    Raises:
        InputError: the intent cannot be read. What is wrong with one file is among the ``errors``.
    """
    from lossless.formats.inputs.collect import gather, is_json

    try:
        document = intent_at(intent)
    except InputError:
        require_order(str(configs[0]), str(intent))
        raise
    inputs = gather(configs, excludes=exclusions_of(options))
    running = [config for config in inputs.documents if config.dialect or is_json(config.file)]
    report, fabric = sound_fabric(document, options)
    if fabric is None:
        return FabricDrift(document.file, (), (), inputs.problems, report)
    devices, problems = _matched(fabric, running)
    drifts = tuple(_compared(devices, fabric, document.file, report, progress))
    missing = tuple(switch.name for switch in fabric.switches if switch.name not in devices)
    return FabricDrift(document.file, drifts, missing, (*inputs.problems, *problems), report)


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
