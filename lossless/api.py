"""The public face: load, lint, render, simulate. A test pins these names.

Nothing here prints or exits; :func:`render` is the only one that writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lossless.errors import InputError, Problem, ProfileError
from lossless.findings import Finding, NotJudged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from lossless.buffers.verdict import FabricVerdict
    from lossless.fabric.model import Fabric, Switch
    from lossless.lint.collect import Candidate
    from lossless.lint.devices import Settings
    from lossless.lint.run import Verdicts
    from lossless.source.document import Document
    from lossless.source.excerpts import Shown

__all__ = [
    "Fabrics",
    "Options",
    "RenderResult",
    "Report",
    "lint",
    "lint_documents",
    "lint_text",
    "load_fabrics",
    "render",
    "simulate",
]


class Options(NamedTuple):
    """What a user can say about a run.

    ``rdma_dscps`` names the DSCPs that must be lossless on devices without an intent; ``profile_dirs`` are
    folders of hardware profiles that add to the shipped ones.
    """

    rdma_dscps: tuple[int, ...] = ()
    profile_dirs: tuple[str | PathLike[str], ...] = ()


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
FEWEST_FOR_WORKERS = 32
"""From how many configurations on several processes judge them; fewer are done before those would start."""


def lint(paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS) -> Report:
    """Judge intents, config_db.json files and directories of them."""
    from lossless.lint.collect import search

    candidates, errors = search(paths)
    return _lint_candidates(candidates, options, errors)


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
    from lossless.lint.devices import compare, finder, judge_document

    intents = _judged_intents(documents, options)
    deployed = [document for document in documents if not is_intent(document)]
    settings = _device_settings(options, intents.fabrics, compared=len(deployed) > 1)
    find = finder(settings.profile_dirs)
    outcomes = [judge_document(document, settings, find) for document in deployed]
    across = compare([outcome.summary for outcome in outcomes if outcome.summary is not None])
    return _report(
        (*intents.verdicts, *(outcome.verdicts for outcome in outcomes), across),
        (*errors, *intents.errors, *(error for outcome in outcomes for error in outcome.errors)),
        {document.file: document for document in documents},
    )


def _lint_candidates(candidates: Sequence[Candidate], options: Options, errors: Sequence[Problem]) -> Report:
    """Judge files: in several processes where there is much to read, else as documents."""
    from lossless.lint.collect import read

    many = _for_workers(candidates)
    if not many:
        found = [read(candidate) for candidate in candidates]
        documents = [one.document for one in found if one.document is not None]
        problems = (*errors, *(problem for one in found for problem in one.problems))
        return lint_documents(documents, options, problems)
    return _lint_in_workers(many, candidates, options, errors)


def _for_workers(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the devices' files where they are so many that other processes are worth their start."""
    devices = [candidate for candidate in candidates if candidate.file.lower().endswith(".json")]
    if len(devices) < FEWEST_FOR_WORKERS:
        return []
    from lossless.lint.workers import usable

    return devices if usable() else []


def _lint_in_workers(
    devices: Sequence[Candidate], candidates: Sequence[Candidate], options: Options, errors: Sequence[Problem]
) -> Report:
    from lossless.lint.collect import read
    from lossless.lint.devices import compare
    from lossless.lint.workers import judge_files

    among = set(devices)
    found = [read(candidate) for candidate in candidates if candidate not in among]
    intents = _judged_intents([one.document for one in found if one.document is not None], options)
    settings = _device_settings(options, intents.fabrics, compared=True)
    outcomes, excerpts, unread = judge_files(devices, settings)
    across = compare([outcome.summary for outcome in outcomes if outcome.summary is not None])
    read_badly = (problem for one in found for problem in one.problems)
    return _report(
        (*intents.verdicts, *(outcome.verdicts for outcome in outcomes), across),
        (
            *errors,
            *read_badly,
            *unread,
            *intents.errors,
            *(e for outcome in outcomes for e in outcome.errors),
        ),
        {**{one.document.file: one.document for one in found if one.document is not None}, **excerpts},
    )


class _Intents(NamedTuple):
    fabrics: tuple[Fabric, ...]
    verdicts: tuple[Verdicts, ...]
    errors: tuple[Problem, ...]


def _judged_intents(documents: Sequence[Document], options: Options) -> _Intents:
    from lossless.fabric.view import View

    errors: list[Problem] = []
    intents = [document for document in documents if is_intent(document)]
    if not intents:
        return _Intents((), (), ())
    from lossless.lint.run import run
    from lossless.rules.table import for_intents

    fabrics = tuple(f for document in intents if (f := _intent_fabric(document, options, errors)))
    rules = for_intents()
    return _Intents(fabrics, tuple(run(View(fabric), rules, "intent") for fabric in fabrics), tuple(errors))


def _device_settings(options: Options, intents: Sequence[Fabric], *, compared: bool) -> Settings:
    """Return what judging devices depends on; of switches that two intents name, none is intended."""
    import os

    from lossless.lint.devices import Settings

    intended: dict[str, Switch | None] = {}
    for switch in (switch for fabric in intents for switch in fabric.switches):
        intended[switch.name] = None if switch.name in intended else switch
    return Settings(
        rdma_dscps=options.rdma_dscps,
        profile_dirs=tuple(os.fspath(folder) for folder in options.profile_dirs),
        intended={name: switch for name, switch in intended.items() if switch is not None},
        compared=compared,
    )


def _report(
    verdicts: Sequence[Verdicts], errors: Sequence[Problem], documents: Mapping[str, Shown]
) -> Report:
    from lossless.lint.run import together

    whole = together(verdicts)
    return Report(whole.findings, tuple(errors), whole.not_judged, documents)


def load_fabrics(documents: Sequence[Document], options: Options = DEFAULT_OPTIONS) -> Fabrics:
    """Return the fabric of each intent, and one of all deployed devices together."""
    errors: list[Problem] = []
    intents = [document for document in documents if is_intent(document)]
    fabrics = [fabric for document in intents if (fabric := _intent_fabric(document, options, errors))]
    deployed = [document for document in documents if not is_intent(document)]
    if deployed:
        try:
            fabrics.append(_deployed_fabric(deployed, options, errors))
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


def _deployed_fabric(documents: Sequence[Document], options: Options, errors: list[Problem]) -> Fabric:
    import os

    from lossless.lint.devices import finder, located, repeated_keys
    from lossless.sonic.read import read_fabric
    from lossless.sonic.tables import Tables

    devices = []
    for document in documents:
        tables = Tables(document.file, document.data)
        errors.extend(located(document, name, message) for name, message in tables.unreadable)
        devices.append(tables)
    find = finder(tuple(os.fspath(folder) for folder in options.profile_dirs))
    repeated = tuple(key for document in documents for key in repeated_keys(document))
    return read_fabric(devices, find, options.rdma_dscps)._replace(repeated_keys=repeated)


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


def simulate(path: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> tuple[FabricVerdict, ...]:
    """Say whether the thresholds of a fabric are safe, by closed forms.

    Raises:
        InputError: the intent or configuration cannot be read.
    """
    from lossless.buffers.verdict import judge_fabric
    from lossless.fabric.view import View

    documents, errors = _documents(path)
    fabrics, unread = load_fabrics(documents, options)
    if errors or unread or not fabrics:
        raise InputError([*errors, *unread] or [Problem(str(path), None, None, "nothing here to simulate")])
    return tuple(judge_fabric(View(fabric)) for fabric in fabrics)


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
