"""A fabric onto disk: every device's files made, staged and forgotten, in one process or several.

A process takes a switch at a time and hands back what the manifest needs, never the text: memory does not grow with
the number of switches.
"""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING

from lossless.formats.device_files.hosts import host_files
from lossless.formats.device_files.jobs import job_files
from lossless.formats.device_files.switches import switch_files
from lossless.formats.device_files.telemetry import telemetry_files
from lossless.ground.basics.errors import InputError, Problem, RenderError
from lossless.ground.basics.processes import in_processes
from lossless.ground.basics.records import NamedTuple
from lossless.output.render.tree import ChangingTree, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from lossless.formats.device_files.planned_files import Extra, PlannedFile, UpdatePlan
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.output.render.manifest import ManifestEntry

_FEWEST = 16
"""Switches below which starting processes costs more than it saves."""


class RenderJob(NamedTuple):
    """What to render, and where to: ``bases`` holds the path of each switch's own file, None for none at all.

    ``diff``: say in full what would change; ``telemetry``: write also what a fabric in service is watched with.
    """

    fabric: Fabric
    folder: Path
    bases: dict[str, str] | None
    extras: tuple[Extra, ...]
    write: bool
    diff: bool
    telemetry: bool = False

    @property
    def tree(self) -> OutputTree:
        """Where the tree goes."""
        return OutputTree(self.folder, self.write, self.diff)


class OutputTree(NamedTuple):
    """Where a tree goes, whether it is written at all, and whether to say in full what would change."""

    folder: Path
    write: bool
    diff: bool


class RenderOutcome(NamedTuple):
    """What was made: an entry a file, what each switch takes to change, and what differs from before.

    ``notes`` says of an earlier render that was interrupted.
    """

    entries: tuple[ManifestEntry, ...]
    plans: tuple[UpdatePlan, ...]
    changed: tuple[str, ...]
    differences: tuple[str, ...]
    notes: tuple[str, ...] = ()


class _DeviceOutcome(NamedTuple):
    entries: tuple[ManifestEntry, ...]
    plan: UpdatePlan | None = None
    differences: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    unread: tuple[Problem, ...] = ()


def render_fabric(job: RenderJob, processes: int) -> RenderOutcome:
    """Make every file of a fabric; a tree that cannot be made whole leaves the old one as it was.

    Raises:
        InputError: a base cannot be read.
        RenderError: a base does not fit, or the output cannot be written; every reason is in the message.
    """
    with _opened(job.tree) as tree:
        outcomes = list(_switches(job, tree, processes))
        unread = [problem for outcome in outcomes for problem in outcome.unread]
        if unread:
            raise InputError(unread)
        refused = [line for outcome in outcomes for line in outcome.refused]
        if refused:
            raise RenderError(*refused)
        if not job.fabric.ultra_ethernet:
            outcomes += (_placed(tree, (file,), diff=job.diff) for file in host_files(job.fabric))
            outcomes += (_placed(tree, (file,), diff=job.diff) for file in job_files(job.fabric))
        if job.telemetry:
            outcomes += (_placed(tree, (file,), diff=job.diff) for file in telemetry_files(job.fabric))
        return _finished(tree, outcomes, diff=job.diff)


def render_files(files: Iterable[PlannedFile], output: OutputTree) -> RenderOutcome:
    """Put a tree of files that are already made in its place; one that cannot be put whole leaves the old as it was.

    Raises:
        RenderError: the output cannot be written.
    """
    with _opened(output) as tree:
        placed = [_placed(tree, (file,), diff=output.diff) for file in files]
        return _finished(tree, placed, diff=output.diff)


def _opened(output: OutputTree) -> Tree:
    return ChangingTree(str(output.folder)) if output.write else Tree(str(output.folder))


def _finished(tree: Tree, outcomes: Sequence[_DeviceOutcome], *, diff: bool) -> RenderOutcome:
    entries = tuple(entry for outcome in outcomes for entry in outcome.entries)
    plans = tuple(outcome.plan for outcome in outcomes if outcome.plan is not None)
    changed = tree.changed(entries)
    texts = [text for outcome in outcomes for text in outcome.differences]
    if diff:
        texts += _gone(tree, entries, changed)
    tree.finish(entries, plans)
    return RenderOutcome(entries, plans, changed, tuple(texts), tree.notes)


def _switches(job: RenderJob, tree: Tree, processes: int) -> Iterable[_DeviceOutcome]:
    switches = job.fabric.switches
    if processes < 2 or len(switches) < _FEWEST:
        return map(partial(_switch, job, tree), switches)
    return _in_processes(job, tree, processes)


def _switch(job: RenderJob, tree: Tree, switch: Switch) -> _DeviceOutcome:
    from lossless.ground.documents import load

    try:
        path = job.bases.get(switch.name) if job.bases is not None else None
        base = None if path is None else load(path)
        files, plan = switch_files(switch, base, job.extras)
        return _placed(tree, files, diff=job.diff)._replace(plan=plan)
    except InputError as error:
        return _DeviceOutcome((), unread=error.problems)
    except RenderError as error:
        return _DeviceOutcome((), refused=error.lines)


def _placed(tree: Tree, files: Sequence[PlannedFile], *, diff: bool) -> _DeviceOutcome:
    """Stage files, or only compare them with the present ones."""
    entries = tuple(map(tree.entry, files))
    texts = (
        _difference(tree, file.path, file.text, secret=file.secret)
        for file, entry in zip(files, entries, strict=True)
        if diff and entry.changed
    )
    return _DeviceOutcome(entries, differences=tuple(texts))


def _gone(tree: Tree, entries: Sequence[ManifestEntry], changed: Iterable[str]) -> Iterator[str]:
    """Yield what files held that are no longer part of the tree."""
    kept = {entry.path for entry in entries}
    for path in changed:
        if path not in kept:
            yield _difference(tree, path, "", secret=False)


def _difference(tree: Tree, path: str, after: str, *, secret: bool) -> str:
    """Return how a file differs from the present one; keys are not shown, neither old nor new."""
    before = tree.text(path) or ""
    if not (secret or tree.is_secret(path)):
        return _unified(path, before, after)
    from lossless.formats.infiniband.read.secrets import masked

    return _unified(path, masked(before), masked(after)) or f"# {path}: its keys or its mode differ"


def _unified(path: str, before: str, after: str) -> str:
    from difflib import unified_diff

    names = (f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null")
    lines = unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    return "\n".join(lines)


def _in_processes(job: RenderJob, tree: Tree, processes: int) -> Iterator[_DeviceOutcome]:
    from lossless.formats.device_files.environment import environment

    # Read once here, and shared by every copy.
    environment()
    switches = job.fabric.switches

    def numbered(number: int) -> _DeviceOutcome:
        return _switch(job, tree, switches[number])

    # The fabric stays; not looking through it again and again also keeps its pages shared with the other processes.
    numbers = range(len(switches))
    yield from in_processes(numbered, numbers, processes=processes, prepare=gc.freeze, doing="rendered")
