"""The check of the files of a run: intents first, since they declare the targets of devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.devices import check_devices
from lossless.checks.lint.results import completed, joined
from lossless.formats.inputs.collect import Inputs, devices_in, is_device, is_json, merged, read
from lossless.formats.inputs.intents import declarations_of
from lossless.formats.inputs.subnet_manager import is_managers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.checks.lint.run import CheckedReport, Settings
    from lossless.formats.inputs.collect import Candidate
    from lossless.formats.inputs.intents import Declarations

FEWEST_FOR_WORKERS = 32
"""The number of configurations from which several processes check them; fewer are done before processes start."""

FEWEST_INTENTS = 16
"""The number of intents from which several processes check them: an intent takes as long as some configurations."""


def check_files(candidates: Sequence[Candidate], settings: Settings) -> CheckedReport:
    """Return the report of files; several processes check many devices, or many intents without devices."""
    if _are_many_intents(candidates):
        from lossless.checks.lint.intents import check_intents

        report = check_intents(candidates, settings)
        if report is not None:
            return report
    devices = _for_workers(candidates)
    apart = set(devices)
    inputs = merged([read(candidate) for candidate in candidates if candidate not in apart])
    return _check_in_processes(devices, inputs, settings) if devices else check_inputs(inputs, settings)[0]


def check_inputs(inputs: Inputs, settings: Settings) -> tuple[CheckedReport, Declarations]:
    """Return the report of documents and facts of hosts that are already read, and the declarations of intents."""
    split = merged([devices_in(document) for document in inputs.documents])
    inputs = inputs._replace(documents=split.documents, problems=(*inputs.problems, *split.problems))
    intents = declarations_of(inputs.documents, settings.profile_dirs, settings.progress)
    deployed = [document for document in inputs.documents if is_device(document)]
    settings = completed(settings, intents, [document.file for document in deployed], len(inputs.facts))
    shown = {document.file: document.whole for document in inputs.documents}
    return joined(inputs, intents, check_devices(deployed, settings), shown, settings), intents


def _check_in_processes(devices: Sequence[Candidate], inputs: Inputs, settings: Settings) -> CheckedReport:
    """Return the report of devices, which several processes check, and of inputs that are already read."""
    from lossless.checks.lint.workers import check_in_processes

    intents = declarations_of(inputs.documents, settings.profile_dirs, settings.progress)
    settings = completed(settings, intents, [candidate.file for candidate in devices], len(inputs.facts))
    work = check_in_processes(devices, settings)
    others = merged([read(candidate) for candidate in work.others])
    inputs = inputs._replace(documents=(*inputs.documents, *others.documents))
    shown = {document.file: document.whole for document in inputs.documents} | dict(work.excerpts)
    inputs = inputs._replace(
        problems=(*inputs.problems, *work.problems), facts=(*inputs.facts, *others.facts)
    )
    return joined(inputs, intents, work.results, shown, settings)


def _are_many_intents(candidates: Sequence[Candidate]) -> bool:
    """Return whether no file is a device's or a subnet manager's, and other processes are worth their start.

    Devices are compared with the fabrics of the intents, which therefore stay in this process.
    """
    if len(candidates) < FEWEST_INTENTS or not all(
        (not is_json(candidate.file) and not is_managers(candidate.file)) for candidate in candidates
    ):
        return False
    from lossless.ground.basics.processes import usable

    return usable()


def _for_workers(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the JSON files, none if they are too few for other processes or those cannot be used."""
    devices = [candidate for candidate in candidates if is_json(candidate.file)]
    if len(devices) < FEWEST_FOR_WORKERS:
        return []
    from lossless.ground.basics.processes import usable

    return devices if usable() else []
