"""Lint: checks the files at paths, a text, or documents, and returns a report, by the options of a run.

Excluded files are not checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.checks.lint.run import CheckedReport, Settings
from lossless.ground.basics.findings import UncheckedRule
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike
    from typing import TypeVar

    from lossless.analysis.topology.summary import Picture
    from lossless.checks.lint.configuration.lookup import ConfigurationLookup
    from lossless.formats.inputs.collect import Candidate, Excludes, FoundFiles, Inputs
    from lossless.formats.inputs.intents import Declaration, Declarations
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Severity
    from lossless.ground.documents.excerpts import DocumentView
    from lossless.ground.documents.text import Document
    from lossless.output.report.lint.summary import ReportText, RuleHelp
    from lossless.output.report.page import InputFile
    from lossless.output.report.pages import DrawnFabrics


class Options(NamedTuple):
    """Options of a run.

    ``rdma_dscps`` names the DSCPs that must be lossless on devices without an intent; ``profile_dirs`` are
    folders of hardware profiles that add to the shipped ones. ``simulate``: lint also runs traffic.

    ``select`` and ``ignore`` choose rules by code, name or family. ``configured``: settings of ``lossless.toml`` or
    ``pyproject.toml`` above a file apply to it; None, the default, means that they apply in the functions whose
    commands read such files: those that check files (``lint``, ``fix``, ``baseline``, ``verify``, ``Watch``) and those
    that read files of devices (``load_fabrics``, ``trace``, ``simulate``, ``sweep``, ``headroom_of_ports``, ``plan``,
    ``diff``, ``diff_fabric``). Others, such as ``render``, read an intent alone and are not configured.
    ``configuration`` names one file that applies to all instead. ``baseline`` replaces the configured file of known
    findings; empty means no baseline. ``today``, as 2026-12-31, ends suppressions whose date has passed; without it
    none ends.

    ``exclude`` replaces the configured patterns of files and folders that are not searched; ``extend_exclude`` adds
    patterns; both are relative to the current folder. ``force_exclude``: patterns also apply to paths named on the
    command line; None as configured.

    ``per_file``: every file is checked by itself, and a named file of an unknown kind is not an error. ``tell`` is
    called with the number of checked files and their total during the checks.
    """

    rdma_dscps: tuple[int, ...] = ()
    profile_dirs: tuple[str | PathLike[str], ...] = ()
    simulate: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    configured: bool | None = None
    configuration: str | None = None
    baseline: str | None = None
    today: str = ""
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool | None = None
    per_file: bool = False
    tell: Callable[[int, int], None] | None = None


DEFAULT_OPTIONS = Options()


class Report(CheckedReport):
    """The result of a lint run, with the documents that commands print of it.

    :class:`lossless.checks.lint.run.CheckedReport` describes its fields.
    """

    __slots__ = ()

    def to_json(self) -> str:
        """Return the document that ``lossless lint --format json`` prints of the same files, in ASCII.

        :func:`lossless.api.document_schema` describes its data.
        """
        return report_as(self, "json").text

    def to_sarif(self) -> str:
        """Return the SARIF log that ``lossless lint --format sarif`` prints of the same files in the same folder.

        It names files from the top of the repository, or else the current folder, and has at most 5,000 findings, the
        most severe; a notification in it counts the others.
        """
        return report_as(self, "sarif").text


if TYPE_CHECKING:
    AnyReport = TypeVar("AnyReport", bound=CheckedReport)
    CheckFiles = Callable[[Sequence[Candidate], Settings], CheckedReport]
    ReportForm = Literal["json", "sarif", "junit", "github", "gitlab", "markdown", "html"]


def lint(paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS) -> Report:
    """Check files, and the files of folders: intents, configurations of switches, hosts and subnet managers."""
    return lint_at(paths, as_configured(options))


def as_configured(options: Options) -> Options:
    """Return the options for a function to which settings in files apply unless ``configured`` is False."""
    return options._replace(configured=True) if options.configured is None else options


def lint_at(
    paths: Sequence[str | PathLike[str]], options: Options, check: CheckFiles | None = None
) -> Report:
    """Check the files at paths; ``check`` replaces the function that checks them, for example by one with a cache."""
    import os

    from lossless.checks.lint.files import check_files

    every = configurations_of(options)
    found = found_at(paths, options, every)
    lookup = _needed(every, options, [candidate.file for candidate in found.candidates])
    report = (check or check_files)(found.candidates, settings_of(options, lookup))
    if options.simulate:
        report = _with_runs(report, documents_below(paths, options), options, lookup)
    # What compares files did not run where each is checked by itself: no folder was checked whole.
    folders = (
        () if options.per_file else tuple(os.path.abspath(path) for path in paths if os.path.isdir(path))
    )
    report = report._replace(errors=(*found.problems, *report.errors))
    return finished(accounted(report, found), options, lookup, folders)


def lint_text(raw: bytes, file: str, options: Options = DEFAULT_OPTIONS) -> Report:
    """Check a text as the content of ``file``."""
    from lossless.formats.inputs.patches import read_bytes

    return lint_inputs(read_bytes(raw, file), as_configured(options))


def lint_documents(
    documents: Sequence[Document], options: Options = DEFAULT_OPTIONS, errors: Sequence[Problem] = ()
) -> Report:
    """Check documents that are already read; ``errors`` are the problems of reading them."""
    from lossless.formats.inputs.collect import Inputs

    return lint_inputs(Inputs(tuple(documents), tuple(errors)), as_configured(options))


def lint_inputs(inputs: Inputs, options: Options) -> Report:
    """Check documents and facts of hosts that are already read; return the report after filters."""
    files = [document.file for document in inputs.documents]
    lookup = lookup_of(options, [*files, *(facts.document.file for facts in inputs.facts)])
    return finished(check(inputs, options, lookup)[0], options, lookup)


def lint_intent(document: Document, options: Options) -> tuple[Report, Declaration]:
    """Check one intent; return the report and the resolved declaration, so that the intent is resolved once."""
    from lossless.checks.lint.files import check_inputs
    from lossless.formats.inputs.collect import Inputs
    from lossless.formats.inputs.intents import Declaration

    lookup = lookup_of(options, [document.file])
    report, (fabrics, _, subnets) = check_inputs(Inputs((document,)), settings_of(options, lookup))
    declaration = Declaration(next(iter(fabrics), None), next(iter(subnets), None))
    return finished(report, options, lookup), declaration


def check(
    inputs: Inputs, options: Options, lookup: ConfigurationLookup | None = None
) -> tuple[CheckedReport, Declarations]:
    """Check documents and facts already read; return the report before filters, and the declarations of intents."""
    from lossless.checks.lint.files import check_inputs

    report, declared = check_inputs(inputs, settings_of(options, lookup))
    if options.simulate:
        report = _with_runs(report, inputs.documents, options, lookup)
    return report, declared


def lookup_of(options: Options, files: Sequence[str]) -> ConfigurationLookup | None:
    """Return the lookup of configurations; None if no configuration, baseline or choice of rules is for ``files``."""

    return _needed(configurations_of(options), options, files)


def _needed(
    lookup: ConfigurationLookup | None, options: Options, files: Sequence[str]
) -> ConfigurationLookup | None:
    """Return ``lookup``; None if no configuration, baseline or choice of rules applies to ``files``."""
    if lookup is None:
        return None
    asked = options.configuration or options.baseline or options.select or options.ignore
    return lookup if asked or any(map(lookup.is_configured, files)) else None


def settings_of(options: Options, lookup: ConfigurationLookup | None) -> Settings:
    import os

    folders = tuple(os.fspath(folder) for folder in options.profile_dirs)
    settings = Settings(options.rdma_dscps, folders, apart=options.per_file, progress=options.tell)
    if lookup is None:
        return settings
    return settings._replace(
        chosen=lookup.chosen,
        fabric_of=lookup.fabric,
        named_in=lookup.rdma_dscps,
        without_rdma=lookup.without_rdma,
    )


def _with_runs(
    report: CheckedReport,
    documents: Sequence[Document],
    options: Options,
    lookup: ConfigurationLookup | None,
) -> CheckedReport:
    """Return a report with the findings of simulations and the traffic not simulated; unchanged if no rule needs them.

    A rule counts if it is chosen for the file of one of the documents.
    """
    from lossless.checks.rules.registry import codes_for

    choices = {lookup.chosen(document.file) for document in documents} if lookup else {None}
    if all(chosen is not None and chosen.isdisjoint(codes_for("runs")) for chosen in choices):
        return report
    from lossless.checks.lint.intents import with_runs
    from lossless.formats.inputs.fabrics import fabrics_of, inside
    from lossless.formats.inputs.intents import declares_subnet

    fabrics = fabrics_of(documents, options.profile_dirs, options.rdma_dscps, lookup).fabrics
    report = with_runs(report, inside(fabrics, lookup))
    for where, times in (
        ("on an InfiniBand subnet", sum(map(declares_subnet, documents))),
        (
            "through switches whose buffers are not read",
            sum(bool(document.dialect) for document in documents),
        ),
    ):
        if times:
            missing = UncheckedRule("SIM001", f"traffic {where} is not simulated", times)
            report = report._replace(not_checked=(*report.not_checked, missing))
    return report


def finished(
    report: CheckedReport, options: Options, lookup: ConfigurationLookup | None, folders: tuple[str, ...] = ()
) -> Report:
    """Return a report with origins in the files, and without findings that are suppressed, baselined or not selected.

    ``lookup`` is None if no configuration or option chooses rules or accepts findings; ``folders`` are the folders of
    which all files were checked.
    """
    if report.layouts:
        from lossless.ground.documents.layout import as_written

        findings, superseded = as_written((report.findings, tuple(report.superseded)), report.layouts)
        report = report._replace(findings=findings, superseded=frozenset(superseded), layouts={})
    if lookup is None and not any(map(_may_suppress, report.documents.values())):
        return Report._make(report)
    from lossless.checks.lint.configuration.lookup import ConfigurationLookup
    from lossless.checks.lint.filter import FilterTerms, filtered

    lookup = lookup or ConfigurationLookup(searching=False)
    terms = FilterTerms(lookup, options.baseline, options.today, options.simulate, folders)
    return Report._make(filtered(report, terms))


_OTHER_FORMS = ("sarif", "junit", "github", "gitlab", "markdown")
"""Forms besides JSON and HTML, each by the module of its name in ``output/report/lint``."""


def report_as(
    report: CheckedReport,
    form: ReportForm = "json",
    failing: tuple[Severity, ...] = ("error",),
    profile_dirs: Sequence[str | PathLike[str]] = (),
) -> ReportText:
    """Return a report in a form such as JSON, SARIF or HTML, and notices about the findings that it leaves out.

    HTML is a page for people, with the fabric's picture and the hashes of all files, which are read again for them;
    ``profile_dirs`` are the folders of hardware profiles of the run.

    JSON and HTML name files as they were named, without a leading ``./``. Other forms name them from the top of the
    repository, or else the current folder; files outside of it by their absolute path. ``failing`` are the severities
    that make a run fail, for forms that contain its success.

    Raises:
        LosslessError: there is no form of this name.
    """
    from lossless.output.report.lint.summary import ReportText, RunContext

    if form == "json":
        from lossless.output.report.lint.json_format import json_text

        return ReportText(json_text(report))
    if form == "html":
        return ReportText(_page(report, failing, profile_dirs))
    if form not in _OTHER_FORMS:
        from lossless.ground.basics.errors import LosslessError

        raise LosslessError(
            f"no form of a report is called {form!r}; there are json, {', '.join(_OTHER_FORMS)} and html"
        )
    from importlib import import_module
    from pathlib import Path

    folder = Path.cwd()
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    context = RunContext(str(folder), str(root), _describe, failing, report.change)
    made = getattr(import_module(f"lossless.output.report.lint.{form}"), f"{form}_text")(report, context)
    assert isinstance(made, ReportText)
    return made


def _page(
    report: CheckedReport, failing: tuple[Severity, ...], profile_dirs: Sequence[str | PathLike[str]]
) -> str:
    import os
    from functools import partial

    from lossless.output.report.pages import report_html

    views = [*report.documents.values()]
    unread = (error.file for error in report.errors if os.path.isfile(error.file))
    return report_html(
        report, failing, hashed(unread, profile_dirs, views), partial(drawn, views, profile_dirs)
    )


def hashed(
    files: Iterable[str], profile_dirs: Sequence[str | PathLike[str]], views: Iterable[DocumentView] = ()
) -> tuple[InputFile, ...]:
    """Return the SHA-256 of files, of those in folders of hardware profiles, and of documents, sorted by their names.

    A document that is not what is on the disk, such as standard input, has the hash of its text.
    """
    import os

    from lossless.ground.documents.text import Document
    from lossless.output.report.page import InputFile

    texts: dict[str, str | None] = dict.fromkeys(files)
    for view in views:
        texts[view.file] = view.text if isinstance(view, Document) and view.part is None else None
    for folder in profile_dirs:
        for root, _, names in os.walk(os.fspath(folder)):
            texts |= dict.fromkeys(os.path.join(root, name) for name in names if name.endswith(".toml"))
    return tuple(InputFile(file, _sha256(file, text)) for file, text in sorted(texts.items()))


def _sha256(file: str, text: str | None) -> str:
    """Return the SHA-256 of a file; of ``text`` where it is known and the file does not hold it; empty for neither."""
    from hashlib import sha256

    from lossless.ground.basics.errors import UnreadableError
    from lossless.ground.basics.files import beginning
    from lossless.ground.basics.limits import FILE_BYTES
    from lossless.ground.documents.text import decode

    try:
        raw = beginning(file, FILE_BYTES + 1)
        if text is None or decode(raw, file) == text:
            return sha256(raw).hexdigest()
    except (OSError, UnreadableError):
        pass
    return "" if text is None else sha256(text.encode(errors="backslashreplace")).hexdigest()


def drawn(
    views: Sequence[DocumentView], profile_dirs: Sequence[str | PathLike[str]], marks: Mapping[str, str]
) -> DrawnFabrics:
    """Return the pictures of the intents among documents, with marks of devices; at most as many as a page draws.

    An intent whose fabric cannot be built is not drawn: the reason is beside the pictures.
    """
    from lossless.ground.basics.errors import LosslessError
    from lossless.output.report.page import MOST_PICTURES
    from lossless.output.report.pages import DrawnFabrics

    pictures: list[Picture] = []
    not_drawn: list[str] = []
    for document in _intents(views):
        if len(pictures) == MOST_PICTURES:
            not_drawn.append(f"The first {MOST_PICTURES} fabrics are drawn; further ones are not.")
            break
        try:
            pictures.append(_picture(document, profile_dirs, marks))
        except LosslessError as error:
            not_drawn.append(f"{document.file} is not drawn: {error}")
    if not pictures and not not_drawn:
        not_drawn.append(
            "No picture: an intent declares the links of a fabric, and none is among the inputs."
        )
    return DrawnFabrics(tuple(pictures), tuple(not_drawn))


def _intents(views: Iterable[DocumentView]) -> Iterator[Document]:
    """Yield the intents among documents; a YAML file whose data are not in this process is read again."""
    from lossless.formats.inputs.intents import is_intent
    from lossless.ground.basics.errors import InputError
    from lossless.ground.documents import load
    from lossless.ground.documents.text import Document

    for view in views:
        if isinstance(view, Document):
            document = view
        elif view.file.lower().endswith((".yaml", ".yml")):
            try:
                document = load(view.file)
            except InputError:
                continue
        else:
            continue
        if is_intent(document):
            yield document


def _picture(
    document: Document, profile_dirs: Sequence[str | PathLike[str]], marks: Mapping[str, str]
) -> Picture:
    """Return the picture of the fabric or subnet of an intent.

    Raises:
        InputError: it cannot be resolved, or a cloud runs its switches.
        ProfileError: the intent names hardware that is not known.
    """
    from lossless.analysis.topology.subnet import fabric_picture, subnet_picture
    from lossless.formats.inputs.intents import declares_subnet, intent_of_switches, subnet_of
    from lossless.formats.intent.resolve.fabric import resolve_wired

    if declares_subnet(document):
        return subnet_picture(subnet_of(document, profile_dirs), marks)
    loaded = intent_of_switches(document)
    fabric, plan, _ = resolve_wired(loaded, profile_dirs)
    return fabric_picture(fabric, plan, loaded.intent.topology.shape_key, marks)


def _describe(code: str) -> RuleHelp | None:
    """Return the help of the rule with a code, None for a code without a rule."""
    from lossless.checks.rules.documentation import rule_of
    from lossless.checks.rules.registry import code_of
    from lossless.output.report.lint.summary import RuleHelp

    known = code_of(code)
    rule = known and rule_of(known)
    return RuleHelp(rule.summary, rule.text, rule.severity, rule.confidence) if rule else None


def accounted(report: AnyReport, found: FoundFiles) -> AnyReport:
    """Return the report of a run with its excluded files, and files found but not checked, each with the reason.

    Configurations and baselines that have the default name are not listed.
    """
    read = {*report.documents, *(error.file for error in report.errors)}
    left = {*(candidate.file for candidate in found.candidates), *found.others} - read
    if not left:
        return report._replace(excluded=found.excluded)
    import os

    from lossless.formats.inputs.skipped import OWN, why_skipped

    skipped = tuple(why_skipped(file) for file in sorted(left) if os.path.basename(file) not in OWN)
    return report._replace(excluded=found.excluded, skipped=skipped)


def _may_suppress(document: DocumentView) -> bool:
    """Return whether a document has a comment of lossless, which may suppress findings; JSON has no comments."""
    if document.file.lower().endswith(".json"):
        return False
    import re

    return re.search(r"#[ \t]*lossless:", getattr(document, "text", "")) is not None


def found_at(
    paths: Sequence[str | PathLike[str]], options: Options, lookup: ConfigurationLookup | None = None
) -> FoundFiles:
    """Return the files to read at paths, and the excluded ones; ``lookup`` finds the configurations with exclusions."""
    from lossless.formats.inputs.collect import search

    return search(paths, lenient=options.per_file, excludes=exclusions_of(options, lookup))


def configurations_of(options: Options) -> ConfigurationLookup | None:
    """Return the lookup of configurations by the options of a run.

    None if the run uses neither configurations nor a baseline, and no option chooses rules.
    """
    asked = bool(options.select or options.ignore)
    if not (options.configured or options.configuration or options.baseline or asked):
        return None
    from lossless.checks.lint.configuration.lookup import ConfigurationLookup

    choice = None
    if asked:
        from lossless.checks.rules.selectors import RuleChoice

        choice = RuleChoice(options.select, options.ignore)
    return ConfigurationLookup(searching=bool(options.configured), only=options.configuration, asked=choice)


def documents_below(paths: Sequence[str | PathLike[str]], options: Options) -> tuple[Document, ...]:
    """Return the parsed documents of the files at paths, without excluded files."""
    from lossless.formats.inputs.collect import gather

    return gather(paths, lenient=options.per_file, excludes=exclusions_of(options)).documents


def without_excluded(files: Iterable[str], paths: Sequence[str], options: Options) -> list[str]:
    """Return the files that are not excluded; those in ``paths`` count as named, others as found below one of these."""
    import os

    excludes = exclusions_of(options)

    def within(file: str) -> str | None:
        holding = (path for path in paths if path != file and file.startswith(os.path.join(path, "")))
        return None if file in paths else next(holding, os.curdir)

    return [file for file in files if excludes is None or not excludes(file, within(file))]


def exclusions_of(options: Options, lookup: ConfigurationLookup | None = None) -> Excludes | None:
    """Return the exclusions that apply to the files of a run, None if no option or configuration can exclude files."""
    asked = options.exclude is not None or options.extend_exclude
    if not (options.configured or options.configuration or asked):
        return None
    from lossless.checks.lint.configuration.lookup import AskedExclusions, ConfigurationLookup, Exclusions

    governing = lookup or ConfigurationLookup(searching=bool(options.configured), only=options.configuration)
    return Exclusions(
        governing, AskedExclusions(options.exclude, options.extend_exclude, options.force_exclude)
    )
