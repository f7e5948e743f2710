"""A fabric onto disk: every device's files made, staged and forgotten, in one process or several.

A process takes a switch at a time and hands back what the manifest needs, never the text: memory does not grow with
the number of switches.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, LosslessError, Problem, RenderError
from lossless.ground.basics.records import NamedTuple
from lossless.output.render.hosts import host_files
from lossless.output.render.jobs import job_files
from lossless.output.render.switches import switch_files
from lossless.output.render.tree import (
    abandon,
    begin,
    changed_paths,
    finish,
    is_secret,
    look,
    old_text,
    stage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from lossless.model.fabric.model import Fabric, Switch
    from lossless.output.render.manifest import ManifestEntry
    from lossless.output.render.planned_files import Extra, PlannedFile, UpdatePlan

_CHUNK = 8
"""Switches handed to a process at a time: few, so that all end together."""
_FEWEST = 16
"""Switches below which starting processes costs more than it saves."""


class RenderJob(NamedTuple):
    """What to render, and where to: ``bases`` holds the path of each switch's own file, None for none at all.

    ``diff``: say in full what would change.
    """

    fabric: Fabric
    folder: Path
    bases: dict[str, str] | None
    extras: tuple[Extra, ...]
    write: bool
    diff: bool

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
    """What was made: an entry a file, what each switch takes to change, and what differs from before."""

    entries: tuple[ManifestEntry, ...]
    plans: tuple[UpdatePlan, ...]
    changed: tuple[str, ...]
    differences: tuple[str, ...]


class _DeviceOutcome(NamedTuple):
    entries: tuple[ManifestEntry, ...]
    plan: UpdatePlan | None = None
    differences: tuple[str, ...] = ()
    refused: str | None = None
    unread: tuple[Problem, ...] = ()


def render_fabric(job: RenderJob, processes: int) -> RenderOutcome:
    """Make every file of a fabric; a tree that cannot be made whole leaves the old one as it was.

    Raises:
        InputError: a base cannot be read.
        RenderError: a base does not fit, or the output cannot be written; every reason is in the message.
    """
    tree = job.tree
    with _staging(tree):
        outcomes = list(_switches(job, processes))
        unread = [problem for outcome in outcomes for problem in outcome.unread]
        if unread:
            raise InputError(unread)
        refused = [outcome.refused for outcome in outcomes if outcome.refused is not None]
        if refused:
            raise RenderError("\n".join(refused))
        outcomes += (_placed(tree, (file,)) for file in host_files(job.fabric))
        outcomes += (_placed(tree, (file,)) for file in job_files(job.fabric))
        return _finished(tree, outcomes)


def render_files(files: Iterable[PlannedFile], tree: OutputTree) -> RenderOutcome:
    """Put a tree of files that are already made in its place; one that cannot be put whole leaves the old as it was.

    Raises:
        RenderError: the output cannot be written.
    """
    with _staging(tree):
        return _finished(tree, [_placed(tree, (file,)) for file in files])


def _finished(tree: OutputTree, outcomes: Sequence[_DeviceOutcome]) -> RenderOutcome:
    entries = tuple(entry for outcome in outcomes for entry in outcome.entries)
    plans = tuple(outcome.plan for outcome in outcomes if outcome.plan is not None)
    changed = changed_paths(tree.folder, entries)
    texts = (*(text for outcome in outcomes for text in outcome.differences), *_gone(tree, entries, changed))
    if tree.write:
        finish(tree.folder, entries, plans)
    return RenderOutcome(entries, plans, changed, texts)


@contextmanager
def _staging(tree: OutputTree) -> Iterator[None]:
    if not tree.write:
        yield
        return
    try:
        begin(tree.folder)
        yield
    finally:
        abandon(tree.folder)


def _switches(job: RenderJob, processes: int) -> Iterable[_DeviceOutcome]:
    switches = job.fabric.switches
    if processes < 2 or len(switches) < _FEWEST:
        return map(partial(_switch, job), switches)
    return _in_processes(job, processes)


def _switch(job: RenderJob, switch: Switch) -> _DeviceOutcome:
    from lossless.ground.documents import load

    try:
        base = load(job.bases[switch.name]) if job.bases is not None else None
        files, plan = switch_files(switch, base, job.extras)
        return _placed(job.tree, files)._replace(plan=plan)
    except InputError as error:
        return _DeviceOutcome((), unread=error.problems)
    except RenderError as error:
        return _DeviceOutcome((), refused=str(error))


def _placed(tree: OutputTree, files: Sequence[PlannedFile]) -> _DeviceOutcome:
    """Stage files, or only compare them with the present ones."""
    entry_of: Callable[[Path, PlannedFile], ManifestEntry] = stage if tree.write else look
    entries = tuple(entry_of(tree.folder, file) for file in files)
    texts = (
        _difference(tree, file.path, file.text, secret=file.secret)
        for file, entry in zip(files, entries, strict=True)
        if tree.diff and entry.changed
    )
    return _DeviceOutcome(entries, differences=tuple(texts))


def _gone(tree: OutputTree, entries: Sequence[ManifestEntry], changed: Iterable[str]) -> Iterator[str]:
    """Yield what files held that are no longer part of the tree."""
    kept = {entry.path for entry in entries}
    for path in changed:
        if tree.diff and path not in kept:
            yield _difference(tree, path, "", secret=False)


def _difference(tree: OutputTree, path: str, after: str, *, secret: bool) -> str:
    """Return how a file differs from the present one; keys are not shown, neither old nor new."""
    before = old_text(tree.folder, path) or ""
    if not (secret or is_secret(tree.folder, path)):
        return _unified(path, before, after)
    from lossless.formats.infiniband.read.secrets import masked

    return _unified(path, masked(before), masked(after)) or f"# {path}: its keys or its mode differ"


def _unified(path: str, before: str, after: str) -> str:
    from difflib import unified_diff

    names = (f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null")
    lines = unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    return "\n".join(lines)


_state: list[RenderJob] = []
"""What a process works on; set once, when it starts as a copy."""


def _in_processes(job: RenderJob, processes: int) -> Iterator[_DeviceOutcome]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    from lossless.output.render.environment import environment

    # Read once here, and shared by every copy.
    environment()
    context = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(processes, context, _begin, (job,)) as pool:
            yield from pool.map(_numbered, range(len(job.fabric.switches)), chunksize=_CHUNK)
    except BrokenProcessPool as error:
        raise LosslessError(
            "a process that rendered was ended from outside; is there enough memory?"
        ) from error


def _begin(job: RenderJob) -> None:
    # The fabric stays; not looking through it again and again also keeps its pages shared with the other processes.
    gc.freeze()
    _state[:] = [job]


def _numbered(number: int) -> _DeviceOutcome:
    (job,) = _state
    return _switch(job, job.fabric.switches[number])
