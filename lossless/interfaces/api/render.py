"""Render: makes the files of switches, hosts and subnet managers of an intent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.inputs.intents import Declaration, no_fabric
from lossless.ground.basics.errors import InputError, RenderError
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.lint import DEFAULT_OPTIONS, Options, Report, lint_intent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from os import PathLike
    from pathlib import Path

    from lossless.formats.device_files.base_merge import Extra, PlannedFile, UpdatePlan
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric
    from lossless.output.render.fabric import RenderOutcome

    Extras = Collection[Literal["qos", "patch", "rollback", "telemetry"]]


class RenderResult(NamedTuple):
    """The files that a render writes below the output folder, and the report of the rules before it.

    ``files`` is empty if nothing was written; ``changed`` names files that differ from the existing tree: of these
    ``missing`` were not there, and ``stale`` are of an earlier render and do not belong there any more. ``notes`` lists
    parts that are not rendered, with the reason, and an interrupted earlier render. ``plans`` contains the update plans
    of SONiC switches, if a patch was requested; ``differences`` contains unified diffs, if requested.
    """

    files: tuple[str, ...]
    changed: tuple[str, ...]
    notes: tuple[str, ...]
    report: Report
    plans: tuple[UpdatePlan, ...] = ()
    differences: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class RenderedFiles(NamedTuple):
    """The files of an intent in memory, each with its path below an output folder, and the report of the rules.

    ``files`` is empty where the report has errors. ``notes`` lists parts that are not rendered, with the reason;
    ``plans`` contains the update plans of SONiC switches, if a patch was requested.
    """

    files: tuple[PlannedFile, ...]
    notes: tuple[str, ...]
    report: Report
    plans: tuple[UpdatePlan, ...] = ()


def render(
    intent: str | PathLike[str],
    out_dir: str | PathLike[str],
    *,
    base_dir: str | PathLike[str] | None = None,
    options: Options = DEFAULT_OPTIONS,
    check: bool = False,
    diff: bool = False,
    extras: Extras = (),
    overwrite_base: bool = False,
) -> RenderResult:
    """Write the configurations of the switches, hosts and subnet managers of an intent below ``out_dir``.

    ``base_dir`` holds the own files of SONiC switches, such as ``DIR/<device>/config_db.json``; the result is complete.
    Without it only the owned tables of SONiC switches are written, as ``qos.json``. ``extras`` are written beside a
    complete file: the owned tables for ``config load``, a patch for ``config apply-patch`` if the updater accepts it, a
    rollback; ``telemetry`` needs the intent only and writes the monitoring configuration of the fabric. With ``check``
    or ``diff`` nothing is written. A fabric with errors is refused: its findings are in the report and no file is
    written. A base file at the path of an output file is overwritten only with ``overwrite_base``.

    Raises:
        InputError: the intent or a base cannot be read, or a value of a subnet cannot be written or lacks its key.
        RenderError: a base is missing where it is needed, does not fit, or would be overwritten, a device cannot be set
            as declared, or the output cannot be written.
    """
    from pathlib import Path

    from lossless.ground.basics.processes import processors, usable
    from lossless.output.render.fabric import render_fabric, render_files

    in_order = _in_order(extras, base_dir)
    telemetry = "telemetry" in extras
    document = intent_at(intent)
    report, declared = sound(document, options)
    write = not (check or diff)
    if telemetry:
        _require_dashboards_kept(Path(out_dir))
    if declared.subnet is not None:
        files, notes = _subnet_files(declared.subnet, document, base_dir, telemetry=telemetry)
        made = render_files(files, Path(out_dir), write=write, diff=diff)
        return _result(made, report, notes, written=write)
    fabric = declared.fabric
    if fabric is None:
        return RenderResult((), (), (), report)
    bases = _bases(fabric, Path(base_dir)) if base_dir is not None else None
    if bases and write and not overwrite_base:
        _require_apart(bases.values(), Path(base_dir or ""), Path(out_dir))
    made = render_fabric(
        fabric,
        Path(out_dir),
        bases,
        in_order,
        write=write,
        diff=diff,
        telemetry=telemetry,
        processes=processors() if usable() else 1,
    )
    return _result(made, report, _notes(fabric, bases, telemetry=telemetry), written=write)


def render_to_memory(
    intent: str | PathLike[str],
    *,
    base_dir: str | PathLike[str] | None = None,
    options: Options = DEFAULT_OPTIONS,
    extras: Extras = (),
) -> RenderedFiles:
    """Return the files that :func:`render` writes, except the manifest; nothing is written.

    Raises:
        InputError: the intent or a base cannot be read, or a value of a subnet cannot be written or lacks its key.
        RenderError: a base is missing where it is needed or does not fit, or a device cannot be set as declared.
    """
    from pathlib import Path

    from lossless.output.render.fabric import files_of_fabric

    in_order = _in_order(extras, base_dir)
    telemetry = "telemetry" in extras
    document = intent_at(intent)
    report, declared = sound(document, options)
    if declared.subnet is not None:
        files, notes = _subnet_files(declared.subnet, document, base_dir, telemetry=telemetry)
        return RenderedFiles(files, notes, report)
    fabric = declared.fabric
    if fabric is None:
        return RenderedFiles((), (), report)
    bases = _bases(fabric, Path(base_dir)) if base_dir is not None else None
    files, plans = files_of_fabric(fabric, bases, in_order, telemetry=telemetry)
    return RenderedFiles(files, _notes(fabric, bases, telemetry=telemetry), report, plans)


def _in_order(extras: Extras, base_dir: str | PathLike[str] | None) -> tuple[Extra, ...]:
    """Return the extras that are made from a base, in the order in which they are written.

    Raises:
        RenderError: there are some, and no base.
    """
    from lossless.formats.device_files.base_merge import EXTRAS

    in_order = tuple(extra for extra in EXTRAS if extra in extras)
    if in_order and base_dir is None:
        raise RenderError(f"{', '.join(in_order)}: made from the file that a switch runs; name it as base")
    return in_order


def _notes(fabric: Fabric, bases: Mapping[str, str] | None, *, telemetry: bool) -> tuple[str, ...]:
    """Return notes on the parts of a fabric that are not rendered, or are to be filled in."""
    from lossless.formats.device_files.hosts import host_notes, job_notes, telemetry_notes
    from lossless.formats.device_files.switches import system_notes

    monitoring = telemetry_notes(fabric) if telemetry else ()
    return (*system_notes(fabric, bases or ()), *host_notes(fabric), *job_notes(fabric), *monitoring)


def _result(made: RenderOutcome, report: Report, notes: tuple[str, ...], *, written: bool) -> RenderResult:
    files = (*(entry.path for entry in made.entries), "manifest.json") if written else ()
    notes = (*made.notes, *notes)
    return RenderResult(
        files, made.changed, notes, report, made.plans, made.differences, made.missing, made.stale
    )


def _subnet_files(
    subnet: Subnet, document: Document, base_dir: str | PathLike[str] | None, *, telemetry: bool
) -> tuple[tuple[PlannedFile, ...], tuple[str, ...]]:
    """Return the files of a subnet, its monitoring files if ``telemetry`` is set, and notes on parts not rendered.

    Keys that protect it are those of the environment.

    Raises:
        InputError: a declared value that cannot be written, or a missing key; each has its location.
        RenderError: there is a base.
    """
    import os

    from lossless.formats.device_files.hosts import monitoring_notes, subnet_telemetry_files
    from lossless.formats.device_files.infiniband import subnet_files, subnet_notes
    from lossless.formats.inputs.collect import located

    if base_dir is not None:
        raise RenderError("a base is the file of a SONiC switch; an InfiniBand subnet has none")
    files, troubles = subnet_files(subnet, os.environ)
    if troubles:
        raise InputError(located(document, trouble.origin.path, trouble.message) for trouble in troubles)
    notes = tuple(subnet_notes(subnet))
    if not telemetry:
        return files, notes
    return (*files, *subnet_telemetry_files(subnet)), (*notes, *monitoring_notes())


def sound(document: Document, options: Options) -> tuple[Report, Declaration]:
    """Return the report of the rules on an intent, and its declaration; the declaration is empty if there are errors.

    Raises:
        InputError: the intent cannot be read.
    """
    report, declared = lint_intent(document, options)
    if report.errors:
        raise InputError(report.errors)
    refused = any(finding.severity == "error" for finding in report.findings)
    return report, (Declaration() if refused else declared)


def sound_fabric(document: Document, options: Options) -> tuple[Report, Fabric | None]:
    """Return the report of the rules on an intent, and its fabric; None instead of the fabric if there are errors.

    Raises:
        InputError: the intent cannot be read, or declares a subnet.
    """
    report, declared = sound(document, options)
    if declared.subnet is not None:
        raise InputError([no_fabric(document)])
    return report, declared.fabric


def _require_dashboards_kept(out_dir: Path) -> None:
    """Refuse a tree with dashboards where none can be built: they would be removed as those of an earlier render.

    Raises:
        RenderError: there is one.
    """
    from lossless.formats.device_files.hosts import DASHBOARDS
    from lossless.formats.telemetry.grafana.build import why_no_dashboards

    folder = out_dir / DASHBOARDS
    if folder.exists() and (reason := why_no_dashboards()):
        raise RenderError(f"{folder}: this render would remove it: {reason}")


def _require_apart(bases: Iterable[str], base_dir: Path, out_dir: Path) -> None:
    """Refuse an output that would take the place of a base.

    Raises:
        RenderError: an output file has the path of a base.
    """
    from os.path import realpath
    from pathlib import Path as FilePath

    for base in bases:
        written = out_dir / FilePath(base).relative_to(base_dir)
        if realpath(written) == realpath(base):
            raise RenderError(
                f"{base}: is a base, and would be overwritten; write to another folder, or say --overwrite-base"
            )


def _bases(fabric: Fabric, folder: Path) -> dict[str, str]:
    """Return the paths of the ``config_db.json`` (of an ASIC ``config_db0.json``) of SONiC switches in a folder.

    Raises:
        InputError: one is a link that leads outside.
        RenderError: a SONiC switch has none.
    """
    from lossless.formats.device_files.hosts import require_bases
    from lossless.ground.documents.folder import file_in

    # The file of the host of several ASICs has none of the tables that are rendered, and is left alone.
    paths = {
        switch.name: folder / switch.device / f"config_db{switch.asic.removeprefix('asic')}.json"
        for switch in fabric.switches
        if switch.runs_sonic
    }
    present = {
        name: file_in(folder, str(path.relative_to(folder))) for name, path in paths.items() if path.exists()
    }
    require_bases(fabric, present)
    return present
