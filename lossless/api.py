"""The public face: load, lint, render, simulate, sweep, trace. A test pins these names.

Nothing here prints or exits; :func:`render` is the only one that writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.errors import InputError, Problem, ProfileError
from lossless.findings import Finding, NotJudged
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor
    from os import PathLike
    from pathlib import Path

    from lossless.buffers.verdict import FabricVerdict, Verdict
    from lossless.fabric.model import Fabric
    from lossless.findings import Json
    from lossless.lint.devices import Settings
    from lossless.lint.repository import Declare, Judged
    from lossless.simulation.grid import Grid
    from lossless.simulation.judge import RunVerdict
    from lossless.simulation.recording import Recording
    from lossless.simulation.request import Ask
    from lossless.simulation.sweep import Sweep
    from lossless.source.document import Document
    from lossless.source.excerpts import Shown
    from lossless.trace.model import Traced

__all__ = [
    "Fabrics",
    "Options",
    "RenderResult",
    "Report",
    "Simulated",
    "lint",
    "lint_documents",
    "lint_text",
    "load_fabrics",
    "render",
    "simulate",
    "sweep",
    "trace",
]


class Options(NamedTuple):
    """What a user can say about a run.

    ``rdma_dscps`` names the DSCPs that must be lossless on devices without an intent; ``profile_dirs`` are
    folders of hardware profiles that add to the shipped ones. ``simulate``: lint also runs traffic.
    """

    rdma_dscps: tuple[int, ...] = ()
    profile_dirs: tuple[str | PathLike[str], ...] = ()
    simulate: bool = False


class Report(NamedTuple):
    """What a lint run has to say; ``documents`` by file name, to show excerpts.

    ``suppressed`` and ``baselined`` count findings that are kept back.
    """

    findings: tuple[Finding, ...]
    errors: tuple[Problem, ...]
    not_judged: tuple[NotJudged, ...]
    documents: Mapping[str, Shown]
    suppressed: int = 0
    baselined: int = 0

    @property
    def files(self) -> int:
        """How many files were judged."""
        return len(self.documents)


class Fabrics(NamedTuple):
    """The fabrics that documents describe, and what could not be read of them."""

    fabrics: tuple[Fabric, ...]
    errors: tuple[Problem, ...]


DEFAULT_OPTIONS = Options()


def lint(paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS) -> Report:
    """Judge intents, config_db.json files and directories of them."""
    from lossless.lint.collect import search
    from lossless.lint.repository import judge_files

    candidates, errors = search(paths)
    report = _report(judge_files(candidates, _declaring(options), _settings(options)), errors)
    if not options.simulate:
        return report
    from lossless.lint.collect import collect

    return _with_runs(report, collect(paths)[0], options)


def lint_text(raw: bytes, file: str, options: Options = DEFAULT_OPTIONS) -> Report:
    """Judge a text that stands for ``file``, whose suffix says what it is."""
    from lossless.lint.collect import foreign
    from lossless.source import load_text
    from lossless.source.text import decode

    try:
        document = load_text(decode(raw, file), file)
    except InputError as error:
        return lint_documents([], options, error.problems)
    reason = foreign(document)
    if reason is not None:
        return lint_documents([], options, [Problem(file, 1, 1, reason)])
    return lint_documents([document], options)


def lint_documents(
    documents: Sequence[Document], options: Options = DEFAULT_OPTIONS, errors: Sequence[Problem] = ()
) -> Report:
    """Judge documents that are already read; ``errors`` are those of reading them."""
    from lossless.lint.repository import judge_documents

    report = _report(judge_documents(documents, _declaring(options), _settings(options)), errors)
    return _with_runs(report, documents, options) if options.simulate else report


def _with_runs(report: Report, documents: Sequence[Document], options: Options) -> Report:
    """Return a report with what runs of traffic show."""
    from lossless.lint.run import Verdicts
    from lossless.lint.traffic import with_runs

    judged = Verdicts(report.findings, report.not_judged)
    verdicts = with_runs(judged, load_fabrics(documents, options).fabrics)
    return report._replace(findings=verdicts.findings, not_judged=verdicts.not_judged)


def _declaring(options: Options) -> Declare:
    """Return what makes fabrics of the intents among documents."""
    from lossless.lint.repository import Intents

    def declare(documents: Sequence[Document]) -> Intents:
        errors: list[Problem] = []
        fabrics = [_intent_fabric(document, options, errors) for document in documents if is_intent(document)]
        return Intents(tuple(fabric for fabric in fabrics if fabric is not None), tuple(errors))

    return declare


def _settings(options: Options) -> Settings:
    import os

    from lossless.lint.devices import Settings

    folders = tuple(os.fspath(folder) for folder in options.profile_dirs)
    return Settings(options.rdma_dscps, folders, intended={}, compared=False)


def _report(judged: Judged, errors: Sequence[Problem]) -> Report:
    verdicts = judged.verdicts
    return Report(verdicts.findings, (*errors, *judged.errors), verdicts.not_judged, judged.documents)


def load_fabrics(documents: Sequence[Document], options: Options = DEFAULT_OPTIONS) -> Fabrics:
    """Return the fabric of each intent, and one of all deployed devices together."""
    errors: list[Problem] = []
    intents = [document for document in documents if is_intent(document)]
    fabrics = [fabric for document in intents if (fabric := _intent_fabric(document, options, errors))]
    deployed = [document for document in documents if not is_intent(document)]
    if deployed:
        from lossless.lint.devices import deployed_fabric

        try:
            fabrics.append(deployed_fabric(deployed, _settings(options), errors))
        except ProfileError as error:
            errors.append(Problem(deployed[0].file, None, None, str(error)))
    return Fabrics(tuple(fabrics), tuple(errors))


def is_intent(document: Document) -> bool:
    """Return whether a document is an intent: those are written in YAML, devices in JSON."""
    return not document.file.lower().endswith(".json")


def _intent_fabric(document: Document, options: Options, errors: list[Problem]) -> Fabric | None:
    from lossless.intent.load import load_intent
    from lossless.resolve.fabric import resolve

    try:
        return resolve(load_intent(document), options.profile_dirs)
    except InputError as error:
        errors.extend(error.problems)
    except ProfileError as error:
        errors.append(Problem(document.file, None, None, str(error)))
    return None


class RenderResult(NamedTuple):
    """What a render did: the files below the output folder, and what the rules said first.

    ``files`` is empty where errors refused the render; ``changed`` names what differs from what was there,
    ``notes`` what is not rendered and why.
    """

    files: tuple[str, ...]
    changed: tuple[str, ...]
    notes: tuple[str, ...]
    report: Report


def render(
    intent: str | PathLike[str],
    out_dir: str | PathLike[str],
    *,
    base_dir: str | PathLike[str] | None = None,
    options: Options = DEFAULT_OPTIONS,
    check: bool = False,
) -> RenderResult:
    """Write the configuration of every switch and host of an intent below ``out_dir``.

    ``base_dir`` holds each switch's own file, ``DIR/<device>/config_db.json``; the result is then complete.
    Without it only the owned tables are written, as ``qos.json``. With ``check`` nothing is written. A fabric
    with errors is refused: its findings are in the report and no file is written.

    Raises:
        InputError: the intent or a base cannot be read.
        RenderError: a base does not fit, or the output cannot be written; the old tree is then as it was.
    """
    from pathlib import Path

    from lossless.render.fabric import plan_fabric
    from lossless.render.tree import changes, write_tree

    document = _one_intent(intent)
    report = lint_documents([document], options)
    if report.errors:
        raise InputError(report.errors)
    if any(finding.severity == "error" for finding in report.findings):
        return RenderResult((), (), (), report)
    (fabric,) = load_fabrics([document], options).fabrics
    plan = plan_fabric(fabric, _bases(fabric, Path(base_dir)) if base_dir is not None else None)
    changed = changes(Path(out_dir), plan.files)
    written = () if check else write_tree(Path(out_dir), plan.files)
    return RenderResult(written, changed, plan.notes, report)


class Simulated(NamedTuple):
    """What simulation says of one fabric: by closed forms, and from runs of the packet-level model.

    ``not_run`` says why the model was not asked, or could not be; ``overall`` is the worst of both. ``recordings`` are
    what pictures are drawn from, where they were asked for.
    """

    closed: FabricVerdict
    runs: tuple[RunVerdict, ...] = ()
    not_run: str | None = None
    recordings: tuple[Recording, ...] = ()

    @property
    def overall(self) -> Verdict:
        """The worst of what is known."""
        from lossless.buffers.verdict import VERDICTS

        return min((self.closed.overall, *(run.verdict for run in self.runs)), key=VERDICTS.index)

    def to_data(self) -> dict[str, Json]:
        """Return the verdict as plain data: that of the closed forms, and below ``packet_level`` that of the runs."""
        runs: list[Json] = [run.to_data() for run in self.runs]
        packet_level: dict[str, Json] = {"runs": runs, "not_run": self.not_run}
        return {**self.closed.to_data(), "overall": self.overall, "packet_level": packet_level}


def simulate(
    path: str | PathLike[str],
    options: Options = DEFAULT_OPTIONS,
    ask: Ask | None = None,
) -> tuple[Simulated, ...]:
    """Say whether the thresholds of a fabric are safe: by closed forms, and by runs where ``ask`` says which.

    Raises:
        InputError: the intent or configuration cannot be read.
        ScenarioError: what is asked cannot be, or would take too long.
    """
    from lossless.buffers.verdict import judge_fabric
    from lossless.fabric.view import View

    views = [View(fabric) for fabric in _fabrics(path, options)]
    closed = [judge_fabric(view) for view in views]
    if ask is None:
        return tuple(Simulated(verdict) for verdict in closed)
    from lossless.simulation.answer import answer

    return tuple(
        Simulated(verdict, *answer(view, ask)[:3]) for view, verdict in zip(views, closed, strict=True)
    )


def sweep(
    path: str | PathLike[str],
    grid: Grid,
    options: Options = DEFAULT_OPTIONS,
    ask: Ask | None = None,
    *,
    horizon_ns: int = 3_000_000,
    executor: Executor | None = None,
) -> tuple[Sweep, ...]:
    """Try every setting of ``grid``, each for ``horizon_ns`` of the traffic of ``ask``, by default an incast, one seed.

    Any ``executor`` of :mod:`concurrent.futures` may do the work, also one of processes or machines; else threads do.

    Raises:
        InputError: the intent or configuration cannot be read.
        ScenarioError: what is asked cannot be, would take too long, or numba is missing.
    """
    from lossless.simulation.sweeps import sweep_fabrics

    return sweep_fabrics(_fabrics(path, options), grid, ask, horizon_ns, executor)


def _fabrics(path: str | PathLike[str], options: Options) -> tuple[Fabric, ...]:
    documents, errors = _documents(path)
    fabrics, unread = load_fabrics(documents, options)
    if errors or unread or not fabrics:
        raise InputError([*errors, *unread] or [Problem(str(path), None, None, "nothing here to simulate")])
    return fabrics


def trace(
    path: str | PathLike[str],
    source: str,
    target: str,
    dscp: int,
    *,
    via: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> Traced:
    """Say what a packet with a DSCP meets between two hosts or ports, and where the chain breaks.

    ``source`` and ``target`` are names like ``host1``, ``host1:port2`` or ``leaf1:Ethernet0``, on a single
    device ``Ethernet0``; ``via`` is a switch that the path must meet.

    Raises:
        InputError: the intent or a configuration cannot be read, or there is not exactly one fabric.
        LosslessError: no such host, switch or port, no DSCP, or no path.
    """
    from lossless.fabric.view import View
    from lossless.sonic.rewrites import rewrites
    from lossless.trace import follow
    from lossless.trace.model import Traced

    documents, errors = _documents(path)
    fabrics, unread = load_fabrics(documents, options)
    if errors or unread or len(fabrics) != 1:
        raise InputError([*errors, *unread] or [Problem(str(path), None, None, follow.not_one(fabrics))])
    report = lint_documents(documents, options)
    written = {} if fabrics[0].declared else rewrites(fabrics[0], documents)
    found = follow.trace(
        View(fabrics[0]), source, target, dscp, via=via, findings=report.findings, rewrites=written
    )
    return Traced(found, report.documents)


def _documents(path: str | PathLike[str]) -> tuple[list[Document], list[Problem]]:
    """Return what a path stands for; a folder with a fabric.yaml stands for that intent."""
    import os

    from lossless.lint.collect import collect

    inside = os.path.join(path, "fabric.yaml")
    return collect([inside if os.path.isfile(inside) else path])


def _one_intent(path: str | PathLike[str]) -> Document:
    documents, errors = _documents(path)
    intents = [document for document in documents if is_intent(document)]
    if errors or len(intents) != 1:
        message = (
            f"expected one intent, found {len(intents)}; name a file, or a folder that holds fabric.yaml"
        )
        raise InputError(errors or [Problem(str(path), None, None, message)])
    return intents[0]


def _bases(fabric: Fabric, folder: Path) -> dict[str, Document]:
    from lossless.source import load

    found = {switch.name: folder / switch.name / "config_db.json" for switch in fabric.switches}
    return {name: load(path) for name, path in found.items() if path.exists()}
