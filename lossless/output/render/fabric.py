"""Renders the files of the devices of a fabric to disk, in one process or several.

A process renders a switch at a time, and stages its files or compares them with those that are there. It returns
manifest entries, update plans and the diffs that are asked for, without the text of files.
"""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING

from lossless.formats.device_files.hosts import host_files, job_files, telemetry_files
from lossless.formats.device_files.switches import switch_files
from lossless.ground.basics.errors import InputError, Problem, RenderError
from lossless.ground.basics.processes import in_processes
from lossless.ground.basics.records import NamedTuple
from lossless.output.render.tree import ChangingTree, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lossless.formats.device_files.base_merge import Extra, PlannedFile, UpdatePlan
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.output.render.tree import ManifestEntry

_FEWEST = 16
"""Switches below which starting processes costs more than it saves."""


class RenderOutcome(NamedTuple):
    """The result of rendering a device or a whole tree: the manifest entries of files, and update plans of switches.

    ``changed`` names files that differ from before; of these ``missing`` were not there, and ``stale`` do not belong to
    the tree any more. ``differences`` are their diffs if requested, ``notes`` report an interrupted earlier render.
    ``unread`` and ``refused`` are the reasons why a device has no files; both are empty for a tree.
    """

    entries: tuple[ManifestEntry, ...] = ()
    plans: tuple[UpdatePlan, ...] = ()
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[Problem, ...] = ()
    refused: tuple[str, ...] = ()


def render_fabric(
    fabric: Fabric,
    folder: Path,
    bases: Mapping[str, str] | None,
    extras: tuple[Extra, ...] = (),
    *,
    write: bool,
    diff: bool = False,
    telemetry: bool = False,
    processes: int = 1,
) -> RenderOutcome:
    """Make the files of a fabric; if one of them cannot be made or staged, the old tree stays as it was.

    ``bases`` holds the path of each SONiC switch's own file, None to render without bases. Without ``write`` nothing is
    written. ``diff``: also return unified diffs; ``telemetry``: also make the monitoring files of the fabric. Hosts of
    Ultra Ethernet have no files.

    Raises:
        InputError: a base cannot be read.
        RenderError: a base does not fit, a device cannot be set as declared, or the output cannot be written; every
            reason is in the message.
    """
    with _opened(folder, write=write) as tree:
        make = partial(_switch, tree, bases or {}, extras, diff=diff)
        several = processes > 1 and len(fabric.switches) >= _FEWEST
        outcomes = list(
            _in_processes(make, fabric.switches, processes) if several else map(make, fabric.switches)
        )
        unread = [problem for outcome in outcomes for problem in outcome.unread]
        if unread:
            raise InputError(unread)
        refused = [line for outcome in outcomes for line in outcome.refused]
        if refused:
            raise RenderError(*refused)
        outcomes += (_placed(tree, (file,), diff=diff) for file in _beside(fabric, telemetry=telemetry))
        return _finished(tree, outcomes, diff=diff)


def files_of_fabric(
    fabric: Fabric,
    bases: Mapping[str, str] | None,
    extras: tuple[Extra, ...] = (),
    *,
    telemetry: bool = False,
) -> tuple[tuple[PlannedFile, ...], tuple[UpdatePlan, ...]]:
    """Return the files that :func:`render_fabric` writes, except the manifest, and the update plans, in one process.

    Raises:
        InputError: a base cannot be read.
        RenderError: a base does not fit, or a device cannot be set as declared.
    """
    made = [_files_of(switch, bases or {}, extras) for switch in fabric.switches]
    files = [file for of_switch, _ in made for file in of_switch]
    return (*files, *_beside(fabric, telemetry=telemetry)), tuple(
        plan for _, plan in made if plan is not None
    )


def _beside(fabric: Fabric, *, telemetry: bool) -> Iterator[PlannedFile]:
    """Yield the files of hosts and jobs, none for Ultra Ethernet, and, if asked for, of monitoring."""
    if not fabric.ultra_ethernet:
        yield from host_files(fabric)
        yield from job_files(fabric)
    if telemetry:
        yield from telemetry_files(fabric)


def render_files(
    files: Iterable[PlannedFile], folder: Path, *, write: bool, diff: bool = False
) -> RenderOutcome:
    """Write files that are already made as the tree below a folder; if one cannot be staged, the old tree stays.

    Without ``write`` they are compared with the present tree alone.

    Raises:
        RenderError: the output cannot be written.
    """
    with _opened(folder, write=write) as tree:
        return _finished(tree, [_placed(tree, (file,), diff=diff) for file in files], diff=diff)


def _opened(folder: Path, *, write: bool) -> Tree:
    return ChangingTree(str(folder)) if write else Tree(str(folder))


def _finished(tree: Tree, outcomes: Sequence[RenderOutcome], *, diff: bool) -> RenderOutcome:
    entries = tuple(entry for outcome in outcomes for entry in outcome.entries)
    plans = tuple(plan for outcome in outcomes for plan in outcome.plans)
    stale = tuple(tree.stale(entries))
    changed = tuple(sorted({*(entry.path for entry in entries if entry.changed), *stale}))
    missing = tuple(path for path in changed if tree.is_missing(path))
    texts = [text for outcome in outcomes for text in outcome.differences]
    if diff:
        texts += (_difference(tree, path, "", secret=False) for path in stale)
    tree.finish(entries, plans)
    return RenderOutcome(entries, plans, changed, missing, stale, tuple(texts), tree.notes)


def _switch(
    tree: Tree, bases: Mapping[str, str], extras: tuple[Extra, ...], switch: Switch, *, diff: bool
) -> RenderOutcome:
    try:
        files, plan = _files_of(switch, bases, extras)
        return _placed(tree, files, diff=diff)._replace(plans=() if plan is None else (plan,))
    except InputError as error:
        return RenderOutcome(unread=error.problems)
    except RenderError as error:
        return RenderOutcome(refused=error.lines)


def _files_of(
    switch: Switch, bases: Mapping[str, str], extras: tuple[Extra, ...]
) -> tuple[tuple[PlannedFile, ...], UpdatePlan | None]:
    from lossless.ground.documents import load

    path = bases.get(switch.name)
    return switch_files(switch, None if path is None else load(path), extras)


def _placed(tree: Tree, files: Sequence[PlannedFile], *, diff: bool) -> RenderOutcome:
    """Stage files, or only compare them with the present ones; return their manifest entries and requested diffs."""
    entries = tuple(map(tree.entry, files))
    texts = (
        _difference(tree, file.path, file.text, secret=file.secret)
        for file, entry in zip(files, entries, strict=True)
        if diff and entry.changed
    )
    return RenderOutcome(entries, differences=tuple(texts))


def _difference(tree: Tree, path: str, after: str, *, secret: bool) -> str:
    """Return the unified diff of a file to the present one; old and new secret keys are masked."""
    before = tree.text(path) or ""
    if not (secret or tree.is_secret(path)):
        return _unified(path, before, after)
    from lossless.formats.infiniband.read.sharp import masked

    return _unified(path, masked(before), masked(after)) or f"# {path}: its keys or its mode differ"


def _unified(path: str, before: str, after: str) -> str:
    from difflib import unified_diff

    names = (f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null")
    lines = unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    return "\n".join(lines)


def _in_processes(
    make: Callable[[Switch], RenderOutcome], switches: Sequence[Switch], processes: int
) -> Iterator[RenderOutcome]:
    from lossless.formats.device_files.environment import environment

    # Read once here, and shared by every copy.
    environment()

    def numbered(number: int) -> RenderOutcome:
        return make(switches[number])

    # The fabric stays; not looking through it again and again also keeps its pages shared with the other processes.
    numbers = range(len(switches))
    yield from in_processes(numbered, numbers, processes=processes, prepare=gc.freeze, doing="rendered")
