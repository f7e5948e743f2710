"""The pages of results: a report of findings, the verdict of a simulation, a plan, and an acceptance test, as HTML.

Each begins with its verdict in plain words; the evidence is that of the other formats, in the same words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import SEVERITIES, by_cause, grouped
from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.records import NamedTuple
from lossless.output.report.columns import TextStyle
from lossless.output.report.page import (
    MOST_ENTRIES,
    AlignedLines,
    Drawing,
    Entries,
    Entry,
    Page,
    PageSection,
    Table,
    drawing_of,
    left_out,
    listing,
    page_html,
    table_of,
    width_px,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.simulation.study.answer import SimulationResult
    from lossless.analysis.topology.summary import Picture
    from lossless.checks.lint.run import Change, CheckedReport
    from lossless.checks.plan.acceptance import AcceptancePlan, AcceptanceResults, LineOutcome
    from lossless.checks.plan.plan import Plan, PlanStep
    from lossless.checks.rules.storms.culprit import Culprit
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin, Severity
    from lossless.ground.documents.excerpts import Locations
    from lossless.output.report.page import InputFile, Listing, Tone


class DrawnFabrics(NamedTuple):
    """The pictures of the fabrics of a result, and the reasons why others are not drawn."""

    pictures: tuple[Picture, ...]
    not_drawn: tuple[str, ...] = ()


if TYPE_CHECKING:
    Draw = Callable[[Mapping[str, str]], DrawnFabrics]
    """Draws the fabrics of a result, with the marks of devices by their names."""

_WORD = re.compile(r"[^\s:,;()]++")
_PLAIN = TextStyle(verbose=True)
_TONES: dict[str, Tone] = {
    "error": "bad",
    "warning": "warn",
    "info": "unknown",
    "unsafe": "bad",
    "on the edge": "warn",
    "safe": "good",
    "not checked": "unknown",
}
_LONGEST_LINE = 160
_ALL = "--format json has all"
_FEW_CAUSES = 12
"""The most findings that are listed without a table of their rules before them."""


def _names(texts: Iterable[str], mark: str) -> dict[str, str]:
    """Return the mark of each word in names of places such as ``leaf1:Ethernet0``; devices are among the words."""
    return {word: mark for text in texts for word in _WORD.findall(text)}


def _fabrics(drawn: DrawnFabrics, meaning: str) -> PageSection:
    return PageSection(
        "The fabric", drawn.not_drawn, tuple(drawing_of(each, meaning) for each in drawn.pictures)
    )


def _subject(drawn: DrawnFabrics) -> str:
    return ", ".join(picture.fabric for picture in drawn.pictures)


# --- findings ---


def report_html(
    report: CheckedReport, failing: Sequence[Severity], inputs: tuple[InputFile, ...], draw: Draw
) -> str:
    """Return a report of lint or verify as a page; ``failing`` are the severities that make the run fail.

    Raises:
        LosslessError: the installation is damaged.
    """
    from lossless.output.report.lint.summary import causes_by_severity, summarise, summary_text

    counts = summarise(report)
    drawn = draw(_marks(report))
    verdict, tone = _verdict_of(report, failing)
    lead = [summary_text(report).capitalize() if report.errors else ""]
    if report.change is not None:
        lead.append(_since(report, report.change))
    lead += _answer(report)
    if counts.not_checked:
        were = "check was" if counts.not_checked == 1 else "checks were"
        lead.append(f"{counts.not_checked:,} {were} not possible: see what was not checked.")
    shown = [(f"{severity}s", number) for number, severity in causes_by_severity(report.findings)]
    repeated = len(report.findings) - counts.causes
    shown += [("the same in other files", repeated)] if repeated else []
    shown += [("not checked", counts.not_checked), ("files", counts.files)]
    shown += [("suppressed", counts.suppressed)] if counts.suppressed else []
    shown += [("baselined", counts.baselined)] if counts.baselined else []
    shown += [("ports without RDMA", counts.ports_without_rdma)] if counts.ports_without_rdma else []
    command = "lossless lint" if report.culprits is None else "lossless verify"
    return page_html(
        Page(
            command,
            _subject(drawn),
            tone,
            verdict,
            tuple(filter(None, lead)),
            tuple((label, f"{number:,}") for label, number in shown),
            (
                *_unread(report),
                *_culprits(report),
                _fabrics(
                    drawn,
                    "Marked are devices that a finding names (with the gravest of it), and the culprit.",
                ),
                *_tests(report),
                *_findings(report),
                *_changed(report),
                *_not_checked(report),
            ),
            inputs,
        )
    )


def _verdict_of(report: CheckedReport, failing: Sequence[Severity]) -> tuple[str, Tone]:
    """Return the result of a report in one line, and its tone."""
    from lossless.output.report.lint.summary import causes_by_severity, counted

    found = [(number, noun) for number, noun in causes_by_severity(report.findings) if number]
    words = ", ".join(counted(*each) for each in found)
    if report.errors:
        problems = counted(len(report.errors), "problem")
        return f"Check incomplete: {problems} in the input{f'; {words} in the rest' if words else ''}", "bad"
    first = next(iter(report.culprits or ()), None)
    if first is not None:
        is_none = first.kind == "none"
        said = f"{'Cause not shown' if is_none else 'Who did it'}: {_name(first)}"
        return said, "warn" if is_none else "bad"
    if any(noun == "error" or noun in failing for _, noun in found):
        return f"Not passed: {words}", "bad"
    if any(device.stage is not None for device in report.patch):
        return f"Not passed: the updater refuses the patch{f'; {words}' if words else ''}", "bad"
    files = counted(report.files, "file")
    if words:
        return f"Passed, with {words} in {files}", "warn"
    return f"Passed: nothing found in {files}", "good"


def _name(culprit: Culprit) -> str:
    return f"{culprit.device} {culprit.port}".rstrip()


def _answer(report: CheckedReport) -> Iterator[str]:
    """Yield sentences on the first culprit, unless the input has problems, and how many more there are."""
    found = report.culprits or ()
    if not found or report.errors:
        return
    first = found[0]
    at = f", seen at {first.seen_at}" if first.seen_at not in ("", _name(first)) else ""
    yield f"{_sentence(first.what)}{at}."
    if first.kind != "none":
        yield f"Kind: {first.kind}. Confidence: {first.confidence}."
    yield f"What to do: {first.help}."
    if len(found) > 1:
        yield f"{len(found) - 1} more {'answer is' if len(found) == 2 else 'answers are'} below."


def _marks(report: CheckedReport) -> dict[str, str]:
    """Return the marks of the devices that findings and culprits name; words that name no device do no harm."""
    marks: dict[str, str] = {}
    for severity in ("warning", "error"):
        named = [finding for finding in report.findings if finding.severity == severity]
        marks |= _names(
            (name for finding in named for name in (*finding.elements, *_of_file(finding))), severity
        )
    guilty = [each for each in report.culprits or () if each.kind != "none"]
    marks |= _names((each.seen_at for each in guilty), "seen here")
    return marks | _names((each.device for each in guilty), "culprit")


def _of_file(finding: Finding) -> Iterator[str]:
    """Yield the names that the configuration of a device may have from it: ``leaf1/config_db.json``, ``leaf1.json``."""
    if finding.object_form != "intent":
        folder, _, name = finding.origin.file.rpartition("/")
        yield from (folder.rpartition("/")[2], name.partition(".")[0])


def _since(report: CheckedReport, change: Change) -> str:
    from lossless.output.report.lint.text import counts_text

    return f"Compared with an earlier revision: {counts_text(change, len(report.findings))}."


def _unread(report: CheckedReport) -> Iterator[PageSection]:
    from lossless.output.report.lint.text import sort_problems

    if report.errors:
        lines = listing(map(str, sort_problems(report.errors)), "problems")
        yield PageSection(
            "Not read", ("These files were not checked, or not completely. Fix them first.",), (lines,)
        )


def _culprits(report: CheckedReport) -> Iterator[PageSection]:
    """Yield the section of the culprits: each with the evidence, what contradicts it, and what would make it surer."""
    from lossless.output.report.lint.text import locate

    found = report.culprits or ()
    if not found:
        return
    locations, _ = locate(report)

    def entry(culprit: Culprit) -> Entry:
        facts = [("evidence", f"{fact.text} ({_place(fact.origin, locations)})") for fact in culprit.evidence]
        facts += [("against", text) for text in culprit.against]
        facts += [("missing", text) for text in culprit.missing]
        facts.append(("help", culprit.help))
        is_shown = culprit.kind != "none"
        badge = f"{culprit.kind}, {culprit.confidence} confidence" if is_shown else "not shown"
        at = f", at {culprit.seen_at}" if culprit.seen_at not in ("", _name(culprit)) else ""
        title = f"{_name(culprit)}{at}: {culprit.what}"
        return Entry("bad" if is_shown else "warn", badge, title, remarks=tuple(facts))

    entries = tuple(map(entry, found[:MOST_ENTRIES]))
    more = left_out(len(found) - MOST_ENTRIES, len(found), "answers", _ALL)
    yield PageSection("Who did it", (), (Entries(entries, more),))


def _tests(report: CheckedReport) -> Iterator[PageSection]:
    rows = [(test.text, test.note or "-") for test in report.tests]
    if rows:
        table = table_of(
            "Results of traffic tests", ("measured, expected and verdict", "note"), rows, "tests"
        )
        yield PageSection("Traffic tests", (), (table,))


def _findings(report: CheckedReport) -> Iterator[PageSection]:
    from lossless.output.report.lint.summary import STATISTICS_HEADS, statistics_rows
    from lossless.output.report.lint.text import locate

    locations, findings = locate(report)
    causes = sorted(by_cause(findings), key=lambda same: SEVERITIES.index(same[0].severity))
    if not causes:
        return
    blocks: list[Table | Entries] = []
    if len(causes) > _FEW_CAUSES:
        blocks.append(table_of("Findings by rule", STATISTICS_HEADS, statistics_rows(report), "rules"))
    entries = tuple(_entry(same, locations) for same in causes[:MOST_ENTRIES])
    more = left_out(len(causes) - MOST_ENTRIES, len(causes), "findings", _ALL)
    text = "The gravest first. lossless rule CODE explains a rule: what it checks, why, and its sources."
    yield PageSection("Added" if report.change else "Findings", (text,), (*blocks, Entries(entries, more)))


def _entry(same: Sequence[Finding], locations: Locations) -> Entry:
    """Return the entry of the findings of one cause."""
    from lossless.output.report.lint.text import (
        details,
        excerpt,
        headline,
        other_places,
        same_elsewhere,
        shown_file,
        together,
    )

    finding = together(same)
    span = locations.span(finding.origin)
    line = ""
    if span is not None:
        text = locations.line_text(finding.origin.file, span.line)
        line = excerpt(text, span.column - 1, span.column, _LONGEST_LINE)[0].strip()
    others = (*same_elsewhere(same, locations, shown_file), *other_places(finding, locations, shown_file))
    doubt = "" if finding.confidence == "high" else f", {finding.confidence} confidence"
    return Entry(
        _TONES[finding.severity],
        f"{finding.severity}{doubt}",
        headline(finding),
        f"{finding.code} {finding.name}",
        _place(finding.origin, locations),
        line,
        tuple(details(finding, others)),
    )


def _place(origin: Origin, locations: Locations) -> str:
    from lossless.output.report.lint.text import shown_file

    span = locations.span(origin)
    return f"{shown_file(origin.file)}:{span.line}:{span.column}" if span else shown_file(origin.file)


def _changed(report: CheckedReport) -> Iterator[PageSection]:
    """Yield what a change removes and leaves, and the updater's answer to a patch."""
    from lossless.output.report.lint.json_format import patch_text
    from lossless.output.report.lint.text import MARGINS, headline, left_by_rule, margin_row, unread_note

    change = report.change
    if change is not None:
        gone = (
            f"{each.origin.file}: {each.code} {each.name}: {headline(each)}"
            for each in change.removed.findings
        )
        yield PageSection("Gone", (), tuple(_listed(gone, "findings")))
        yield PageSection("Left", (), tuple(_listed(left_by_rule(change.left), "rules")))
        if change.margins:
            rows = [margin_row(margin) for margin in change.margins]
            yield PageSection("Under traffic", (), (table_of("Before -> after", MARGINS, rows, "fabrics"),))
        yield PageSection("Not read before", tuple(unread_note(change, file) for file in change.unread))
    if report.patch:
        blocks = tuple(AlignedLines(text) for text in patch_text(report.patch, _PLAIN))
        yield PageSection("The updater's answer to the patch", (), blocks)


def _not_checked(report: CheckedReport) -> Iterator[PageSection]:
    from lossless.output.report.lint.summary import skipped_text

    rows = [(each.code or "-", each.reason, f"{each.times:,}") for each in sorted(report.not_checked)]
    blocks: list[Table | Listing] = []
    if rows:
        blocks.append(table_of("Checks that were not possible", ("rule", "why", "times"), rows, "reasons"))
    blocks += _listed(skipped_text(report.skipped, _PLAIN, verbose=True), "reasons")
    blocks += _listed((f"excluded: {file}" for file in report.excluded), "files")
    nothing = () if blocks else ("No check was left out for lack of a value, and no file was skipped.",)
    yield PageSection("What was not checked, and why", nothing, tuple(blocks))


def _listed(lines: Iterable[str], noun: str, where: str = "") -> Iterator[Listing]:
    """Yield a list of lines, none without lines."""
    made = listing(lines, noun, where)
    if made.lines:
        yield made


# --- simulations ---


def simulation_html(
    results: Sequence[SimulationResult], subject: str, inputs: tuple[InputFile, ...], draw: Draw
) -> str:
    """Return the verdicts of simulations as a page: one result for each fabric.

    Raises:
        LosslessError: the installation is damaged.
    """
    from lossless.analysis.buffers.verdict import BUFFER_VERDICTS
    from lossless.output.report.simulation.verdict_text import head_lines

    results = [spelled_out(result._replace(recordings=())) for result in results]
    overall = min((result.overall for result in results), key=BUFFER_VERDICTS.index)
    wide = TextStyle(columns=10_000)
    heads = [[_sentence(line.strip()) for line in head_lines(result, wide)] for result in results]
    # The first line is the verdict, which is above.
    lead = (
        [f"{line}." for line in heads[0][1:]]
        if len(results) == 1
        else [f"Fabric {at}: {'; '.join(head)}" for at, head in enumerate(heads, 1)]
    )
    drawn = draw(
        {word: mark for result in reversed(results) for word, mark in _unsafe_places(result).items()}
    )
    ports = grouped((line.verdict, line.ports) for result in results for line in result.closed.lines)
    counts = [(f"lossless groups, {verdict}", f"{sum(each):,}") for verdict, each in ports.items()]
    seeds = sum(run.seeds for result in results for run in result.runs)
    counts += [("seeds run", f"{seeds:,}")] if seeds else []
    sections = [
        section
        for at, result in enumerate(results, 1)
        for section in _result(result, f"Fabric {at}: " if len(results) > 1 else "")
    ]
    meaning = "Marked are the first switch of each kind that is unsafe or on the edge, and that of the limiting port."
    verdict = f"The buffers are {overall}" if overall != "not checked" else "The buffers were not checked"
    sections.insert(0, _fabrics(drawn, meaning))
    return page_html(
        Page(
            "lossless simulate",
            _subject(drawn) or subject,
            _TONES[overall],
            verdict,
            tuple(lead),
            tuple(counts),
            tuple(sections),
            inputs,
        )
    )


def _unsafe_places(result: SimulationResult) -> dict[str, str]:
    """Return the marks of switches: of kinds of ports by closed forms, and of the limiting port of runs."""
    marks: dict[str, str] = {}
    for run in result.runs:
        marks |= _names([run.headroom_at] if run.headroom_at else [], "limiting port")
    for verdict in ("on the edge", "unsafe"):
        marks |= {line.switch: verdict for line in result.closed.lines if line.verdict == verdict}
    return marks


def _result(result: SimulationResult, which: str) -> Iterator[PageSection]:
    """Yield the sections of one fabric; ``which`` stands before each title."""
    from lossless.output.report.simulation import verdict_text as text

    closed, runs = result.closed, result.runs
    reasons = [*closed.reasons, *(reason for run in runs for reason in run.reasons)]
    yield PageSection(f"{which}Why", (), tuple(_listed(reasons, "reasons")))
    changes = _listed((change for run in runs for change in run.changes), "changes")
    yield PageSection(f"{which}What to change", (), tuple(changes))
    blocks: list[Table | AlignedLines] = [
        table_of(run.scenario, ("measure", "value"), [*text.measured(run)], "measures") for run in runs
    ]
    blocks += [AlignedLines(text.carried_text(load, _PLAIN)) for load in result.loads]
    blocks += [AlignedLines(text.load_text(load, _PLAIN)) for load in result.pfc_loads]
    yield PageSection(f"{which}Occupancy, drops and pauses under traffic", (), tuple(blocks))
    tables = [
        table_of(
            "Every kind of lossless port",
            text.PORT_HEADS,
            [*map(text.port_row, closed.lines)],
            "kinds of port",
        ),
        table_of("Every buffer pool", text.POOL_HEADS, [*map(text.pool_row, closed.pools)], "pools"),
        table_of(
            f"XOFF against ECN {text.MARGINS_REMARK}",
            text.MARGIN_HEADS,
            [row for line in closed.lines for row in text.margin_rows(line)],
            "rows",
        ),
    ]
    yield PageSection(f"{which}Headroom and pools", (), tuple(table for table in tables if table.rows))
    peaks = grouped((text.kind_of_peak(peak), text.peak_row(peak)) for peak in result.peaks)
    measured = tuple(
        table_of(kind, ("peak", *text.PEAK_HEADS), rows, "peaks") for kind, rows in peaks.items()
    )
    yield PageSection(
        f"{which}Measured peaks beside the model", (text.PEAKS_REMARK,) if measured else (), measured
    )
    assumed = _listed((entry for run in runs for entry in run.assumed), "assumptions")
    yield PageSection(f"{which}What is assumed", (), tuple(assumed))
    unknown = [reason for reason in result.not_checked if reason != result.not_run]
    unknown += [f"packet-level model: not run: {result.not_run}"] if result.not_run else []
    unknown += map(str, result.problems)
    nothing = () if unknown else ("No check was left out for lack of a value.",)
    yield PageSection(f"{which}What was not checked, and why", nothing, tuple(_listed(unknown, "reasons")))


# --- plans ---


def plan_html(plan: Plan, inputs: tuple[InputFile, ...], draw: Draw) -> str:
    """Return a plan as a page, with its picture; commands and files of the steps are in plan.md.

    Raises:
        LosslessError: the installation is damaged.
    """
    from lossless.output.report import plan_markdown as text

    marks = {name: "changes" for step in plan.steps for name in _devices(step)}
    shown = text.shown(plan)
    drawn = draw(marks)
    lead = [f"{text.evaluated(shown)}."] if plan.steps else []
    lead += ["What is not safe before the change is below: no step adds to it."] if plan.unsafe else []
    by_hand = sum(bool(step.by_hand) for step in plan.steps)
    counts = [
        ("steps", len(plan.steps)),
        ("devices that change", len(marks)),
        ("steps with manual work", by_hand),
    ]
    steps = [section for number in range(len(plan.steps)) for section in _step(shown, number)]
    picture: tuple[PageSection, ...] = ()
    if plan.steps:
        svg = text.plan_picture(plan)
        drawing = Drawing(svg, width_px(svg), "Order of the steps")
        rows = [tuple(map(str, row)) for row in text.plan_rows(shown)]
        table = table_of("The steps", text.STEP_HEADS, rows, "steps")
        picture = (PageSection("The steps", (), (drawing, table)),)
    missing = shown.notes or ("The plan has no work, time or effect that it leaves out of its count.",)
    return page_html(
        Page(
            "lossless plan",
            f"plan {plan.id}",
            "warn" if plan.unsafe else "good",
            _sentence(text.headline(shown)),
            tuple(lead),
            tuple((label, f"{number:,}") for label, number in counts) if plan.steps else (),
            (
                PageSection(
                    "Not safe before the change",
                    (),
                    tuple(_listed(shown.unsafe, "dangers", _ALL)),
                ),
                *picture,
                _fabrics(drawn, "The fabric of the target. Devices that a step changes are marked."),
                *steps,
                PageSection(
                    "What the plan does not count",
                    () if shown.notes else missing,
                    tuple(_listed(shown.notes, "notes")),
                ),
            ),
            inputs,
        )
    )


def _devices(step: PlanStep) -> Iterator[str]:
    for group in step.switches:
        yield from group.devices
    for hosts in step.hosts:
        yield from hosts.hosts
    for files in step.files:
        yield from files.devices


def _step(plan: Plan, number: int) -> Iterator[PageSection]:
    """Yield the section of a step, with the rollback from it."""
    from lossless.output.report import plan_markdown as text

    step = plan.steps[number]
    rows = [("changes", line) for line in text.group_lines(step)]
    rows += [("by hand", line) for line in step.by_hand]
    rows += [("interrupts", line) for line in dict.fromkeys(step.interrupts)]
    back = [each.title for each in plan.rollback[number]] if plan.rollback else []
    rows += [("rollback from here", f"{at}. {title}") for at, title in enumerate(back, 1)]
    rows += [] if back else [("rollback from here", "nothing to undo")]
    time = text.duration(step.time)
    said = f"{_sentence(text.in_use(step, plan))}.{f' It takes {time}.' if step.time.most_s else ''}"
    caption = f"Changes, manual work, interruptions and rollback of step {step.number}"
    table = table_of(caption, ("what", "detail"), rows, "rows", "plan.md has all")
    yield PageSection(f"Step {step.number}: {step.title}", (said,), (table,))


# --- acceptance tests ---

_ORDER = "In the order of the test"
_UNMET = ("fail", "not checked")
"""Outcomes of lines that were run and did not pass, the gravest first."""


class Outcome(NamedTuple):
    """The outcomes of an acceptance test, and the problems of reading its results."""

    results: AcceptanceResults
    problems: tuple[Problem, ...] = ()


def acceptance_html(
    plan: AcceptancePlan, outcome: Outcome | None, inputs: tuple[InputFile, ...], draw: Draw
) -> str:
    """Return an acceptance test as a page; with the outcome of each line where its results were read.

    Raises:
        LosslessError: the installation is damaged.
    """
    from lossless.checks.plan.acceptance import expected_figures, minutes, spread_sentence
    from lossless.output.report import plan_markdown as text

    results = outcome.results if outcome is not None else None
    drawn = draw(_disturbed(plan) if results is None else _failed(results))
    verdict, tone = _verdict_of_test(plan, outcome)
    counts = [("lines", f"{len(plan.lines):,}")]
    if results is not None:
        numbers = (results.passed, results.failed, results.not_checked, results.not_run)
        counts += zip(
            ("passed", "failed", "not checked", "not run"), map("{:,}".format, numbers), strict=True
        )
    counts += [("hosts", f"{len(plan.hosts):,}"), ("host ports", f"{plan.host_port_count:,}")]
    counts += [("rounds", f"{plan.rounds:,}")]
    counts += [("time", minutes(plan.seconds))] if results is None else []
    coverage = table_of(
        "Links from each switch to others", text.COVERAGE_HEADS, text.coverage_cells(plan), "switches", _ALL
    )
    figures = tuple(_listed(expected_figures(plan), "figures", _ALL))
    meaning = (
        "Marked are the devices that the scripts in the folder disturbing take a link from, or pause."
        if results is None
        else "Marked are the devices that a failed line names: either end of a failed pair may be the cause."
    )
    left = tuple(_listed(map(_sentence, plan.not_covered), "parts", _ALL))
    return page_html(
        Page(
            "lossless acceptance",
            plan.name,
            tone,
            verdict,
            ("The time is an estimate, without that of the scripts in the folder disturbing.",)
            if results is None
            else (),
            tuple(counts),
            (
                *(_outcomes(outcome) if outcome is not None else ()),
                _fabrics(drawn, meaning),
                PageSection(
                    "The scripts",
                    ("In this order. Those in the folder disturbing run apart, after the others.",),
                    (table_of("Scripts", text.SCRIPT_HEADS, text.script_rows(plan), "scripts"),),
                ),
                PageSection("Expected figures", (), figures),
                PageSection(
                    "Coverage of links between switches",
                    (spread_sentence(plan),),
                    (coverage,) if coverage.rows else (),
                ),
                _lines(plan) if results is None else _other_lines(results),
                PageSection(
                    "What is not covered, and why",
                    () if left else ("The plan names no part that it leaves out.",),
                    left,
                ),
            ),
            inputs,
        )
    )


def _verdict_of_test(plan: AcceptancePlan, outcome: Outcome | None) -> tuple[str, Tone]:
    """Return the size of an acceptance test, or its result, in one line, and the tone."""
    from lossless.output.report.lint.summary import counted
    from lossless.output.report.plan_markdown import outcome_counts

    if outcome is None:
        lines = counted(len(plan.lines), "line")
        ports, hosts = counted(plan.host_port_count, "host port"), counted(len(plan.hosts), "host")
        rounds = counted(plan.rounds, "round")
        return f"Not run yet: {lines} test {ports} of {hosts} in {rounds} of disjoint pairs", "unknown"
    results = outcome.results
    said = outcome_counts(results)
    if outcome.problems:
        return f"Check incomplete: {counted(len(outcome.problems), 'problem')} in the results; {said}", "bad"
    if results.failed:
        return f"Not passed: {said}", "bad"
    if results.passed < len(results.lines):
        return f"Not complete: {said}", "warn"
    return f"Passed: all {len(results.lines):,} lines", "good"


def _disturbed(plan: AcceptancePlan) -> dict[str, str]:
    """Return the marks of devices that scripts disturb beyond the load of their traffic."""
    pull, pause = plan.link_pull, plan.pause_test
    names = [pull.switch, pull.far] if pull is not None else []
    names += [pause.switch, pause.target] if pause is not None else []
    return dict.fromkeys(names, "disturbed")


def _failed(results: AcceptanceResults) -> dict[str, str]:
    return _names((line.text for line in results.lines if line.outcome == "fail"), "failed")


def _outcomes(outcome: Outcome) -> Iterator[PageSection]:
    """Yield the results that could not be read, the lines that did not pass, and the outcomes of every step."""
    yield PageSection("Not read", (), tuple(_listed(map(str, outcome.problems), "problems")))
    lines = outcome.results.lines
    unmet = sorted(
        (line for line in lines if line.outcome in _UNMET), key=lambda line: _UNMET.index(line.outcome)
    )
    if unmet:
        rows = [(line.outcome, line.id, line.text, line.note or "-") for line in unmet]
        table = table_of("Failed first", ("outcome", "line", "tests", "why"), rows, "lines", _ALL)
        yield PageSection("Lines that did not pass", (), (table,))
    words: tuple[LineOutcome, ...] = ("pass", "fail", "not checked", "not run")
    steps = grouped((line.step, line.outcome) for line in lines)
    sums = [
        (step, f"{len(each):,}", *(f"{each.count(word):,}" for word in words)) for step, each in steps.items()
    ]
    table = table_of("Lines of each step", ("step", "lines", *words), sums, "steps")
    yield PageSection("Outcomes by step", (), (table,))


def _other_lines(results: AcceptanceResults) -> PageSection:
    rows = [
        (line.id, line.text, line.outcome, line.note or "-")
        for line in results.lines
        if line.outcome not in _UNMET
    ]
    table = table_of(_ORDER, ("line", "tests", "outcome", "note"), rows, "lines", _ALL)
    return PageSection("Lines that passed or were not run", (), (table,) if rows else ())


def _lines(plan: AcceptancePlan) -> PageSection:
    rows = [(line.id, line.step, line.text, line.passes) for line in plan.lines]
    table = table_of(_ORDER, ("line", "step", "tests", "passes"), rows, "lines", _ALL)
    return PageSection("The lines of the test", (), (table,))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
