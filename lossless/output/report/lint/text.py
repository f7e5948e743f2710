"""Findings and problems as people read them.

The first line of each is ``file:line:column: CODE name: message``, which editors and terminals can follow; a
severity other than error follows in brackets. In a CONFIG_DB the object comes before the message.
Below come the line it is about, with a caret, its explanation and its fix; a style can leave both out.

Findings that a change removes and leaves, and simulations before and after: the part below the added findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.findings import by_cause, grouped
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.units import format_bytes
from lossless.output.report.columns import PLAIN, TextStyle, table
from lossless.output.report.lint.finding_text import (
    details,
    excerpt,
    headline,
    other_places,
    same_elsewhere,
    together,
)
from lossless.output.report.lint.locations import locate, shown_file, sort_problems
from lossless.output.report.quantities import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.checks.lint.run import Change, MarginChange, RemainingFinding


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.checks.lint.run import Report
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin, Span
    from lossless.output.report.lint.locations import Locations

    LineText = Callable[[str, int], str | None]
    """Gives a line of a file, None where there is no such text."""


def findings_text(report: Report, style: TextStyle = PLAIN) -> Iterator[str]:
    """Yield every cause as a block of lines, in the order of reports; a brief style leaves a line for every finding."""
    locations, findings = locate(report)
    for same in [[finding] for finding in findings] if style.brief else by_cause(findings):
        yield _finding(same, locations, style)


def problems_text(
    problems: Iterable[Problem], line_text: LineText, style: TextStyle = PLAIN
) -> Iterator[str]:
    """Yield every problem as a block of lines; ``line_text`` gives the line it is about."""
    for problem in sort_problems(problems):
        place = _place(problem.file, problem.line, problem.column)
        first, *rest = _folded(f"{place}: {visible(problem.message)}", style)
        lines = [first.replace(place, style.paint(place, "place"), 1), *rest]
        if style.source and problem.line is not None and problem.column is not None:
            lines += _word(problem.line, problem.column - 1, line_text(problem.file, problem.line), style)
        yield "\n".join(lines)


def _finding(same: Sequence[Finding], locations: Locations, style: TextStyle) -> str:
    """Return the block of the findings of one cause: the first in full, with the elements that all of them affect."""
    finding = together(same)
    span = locations.span(finding.origin)
    lines = _first_lines(finding, span, style)
    margin = 0
    if span is not None and style.source:
        line = locations.line_text(finding.origin.file, span.line)
        end = span.end_column - 1 if span.end_line == span.line else len(line)
        lines += _excerpt(line, span.line, span.column - 1, end, finding.severity, style)
        margin = len(str(span.line))
    others = (*same_elsewhere(same, locations, shown_file), *other_places(finding, locations, shown_file))
    for label, text in () if style.brief else details(finding, others):
        lines += _remark(label, text, margin, style)
    return "\n".join(lines)


def _first_lines(finding: Finding, span: Span | None, style: TextStyle) -> list[str]:
    """Return the first line of a finding; on a terminal that is narrower as several."""
    doubt = "" if finding.confidence == "high" else f", {finding.confidence} confidence"
    is_plain = finding.severity == "error" and not doubt
    name = f"{finding.code} {finding.name}"
    text = f"{_place_of(finding.origin, span)}: {name}: {headline(finding)}"
    lines = _folded(text + ("" if is_plain else f" [{finding.severity}{doubt}]"), style)
    place = style.paint(_place_of(finding.origin, span), "place")
    code = f": {finding.code} "
    painted = lines[0].replace(code, f": {style.paint(finding.code, finding.severity)} ", 1)
    return [painted.replace(_place_of(finding.origin, span), place, 1), *lines[1:]]


def _folded(text: str, style: TextStyle) -> list[str]:
    """Return the first line of a finding or problem; programs look for it whole."""
    if style.whole_heads or len(text) <= style.columns:
        return [text]
    from lossless.output.report.columns import wrapped

    return wrapped(text, style, hanging="    ").split("\n")


def _remark(label: str, text: str, margin: int, style: TextStyle) -> list[str]:
    head = f"{' ' * margin} {style.paint('=', 'gutter')} {style.paint(f'{label}:', 'label')} "
    indent = " " * (margin + len(label) + 5)
    lines = [part for line in text.split("\n") for part in _fitting(visible(line), len(indent), style)]
    return [(indent if i else head) + line for i, line in enumerate(lines)]


def _fitting(line: str, indent: int, style: TextStyle) -> list[str]:
    """Return a line of a remark in as many as its columns need."""
    if indent + len(line) <= style.columns:
        return [line]
    from lossless.output.report.columns import wrapped

    return [part[indent:] for part in wrapped(line, style, " " * indent, "").split("\n")]


def _excerpt(line: str, number: int, start: int, end: int, role: str, style: TextStyle) -> list[str]:
    digits = str(number)
    margin = " " * len(digits)
    text, carets = excerpt(line, start, end, style.columns - len(digits) - 3)
    bar = style.paint("|", "gutter")
    pad = len(carets) - len(carets.lstrip())
    return [
        f"{margin} {bar}",
        f"{style.paint(digits, 'gutter')} {bar} {text}".rstrip(),
        f"{margin} {bar} {carets[:pad]}{style.paint(carets[pad:], role)}",
    ]


def _place_of(origin: Origin, span: Span | None) -> str:
    return _place(origin.file, span.line, span.column) if span else visible(shown_file(origin.file))


def _place(file: str, line: int | None, column: int | None) -> str:
    parts = [visible(shown_file(file)), *(str(number) for number in (line, column) if number is not None)]
    return ":".join(parts)


def _word(number: int, start: int, line: str | None, style: TextStyle) -> list[str]:
    """Return the lines that show the word a problem is about; none where there is no text."""
    return [] if line is None else _excerpt(line, number, start, _word_end(line, start), "error", style)


def _word_end(line: str, start: int) -> int:
    """Return where the word ends that a problem points at; problems have no end of their own."""
    end = start
    while end < len(line) and (line[end].isalnum() or line[end] in "_-.%"):
        end += 1
    return end


MARGINS = (
    "fabric",
    LABELS["verdict"],
    "seeds with drops",
    LABELS["headroom_margin_bytes"],
    LABELS["longest_pause_us"],
    "traffic",
)
"""What is said of runs, in this order."""


def change_text(change: Change, style: TextStyle) -> Iterator[str]:
    """Yield removed findings, remaining findings by rule, and simulation margins, as blocks of lines."""
    gone = [*findings_text(change.removed, style.showing(source=False, brief=True))]
    if gone:
        yield "\n".join([f"gone since {visible(change.revision)}:", *(f"  {line}" for line in gone)])
    if change.left:
        yield "\n".join(["left:", *(f"  {line}" for line in left_by_rule(change.left))])
    if change.margins:
        yield table([MARGINS, *map(margin_row, change.margins)], style)
    for file in change.unread:
        yield unread_note(change, file)


def counts_text(change: Change, added: int) -> str:
    """Return the counts on one line."""
    since = f"since {visible(change.revision)}"
    return f"{added} added, {len(change.removed.findings)} gone, {len(change.left)} left {since}"


def unread_note(change: Change, file: str) -> str:
    """Return the note on a file that could not be read at the earlier revision."""
    name = visible(shown_file(file))
    return f"{name} could not be read at {visible(change.revision)}: all that is found in it counts as added"


def left_by_rule(left: Sequence[RemainingFinding]) -> Iterator[str]:
    """Yield the number of remaining findings of each rule, and the growth of their places."""
    rules = grouped(((pair[0].code, pair[0].name, pair[0].severity), pair) for pair in left)
    for (code, name, severity), of_rule in sorted(rules.items()):
        yield f"{len(of_rule)} x {code} {name} [{severity}]{_growth(of_rule)}"


def _growth(left: Sequence[RemainingFinding]) -> str:
    """Return the note on findings that affect more places than before, empty if none does."""
    before = sum(places for _, places in left)
    now = sum(finding.places for finding, _ in left)
    return f": on {now} places, before on {before}" if now > before else ""


def margin_row(margin: MarginChange) -> tuple[str, ...]:
    """Return the simulation results of one part, each before and after if they differ."""
    both = [margin.before, margin.after]
    return (
        visible(shown_file(margin.part)),
        _differing([run.verdict if run else None for run in both]),
        _differing([f"{run.drops.seeds} of {run.drops.of}" if run else None for run in both]),
        _differing([_headroom(run) for run in both]),
        _differing([f"{run.longest_pause_us / 1000:.2f} ms" if run else None for run in both]),
        _differing([visible(run.scenario) if run else None for run in both]),
    )


def _headroom(run: RunVerdict | None) -> str | None:
    if run is None:
        return None
    left_bytes = run.headroom_margin_bytes
    return "none was used" if left_bytes is None else format_bytes(left_bytes)


def _differing(both: list[str | None]) -> str:
    before, after = (value or "not run" for value in both)
    return after if before == after else f"{before} -> {after}"
