"""Findings and problems as text for people, and the parts that all formats share: words, elements, excerpts, places.

The words of a finding are its object, its explanation and its fix. Its first line is ``file:line:column: CODE
name: message``, which editors and terminals can follow; a severity other than error follows in brackets. In a
CONFIG_DB the object comes before the message. Below come the line it is about, with a caret, its explanation and its
fix; a style can leave both out.

An excerpt is one line of a file with a caret under the part that matters. Elements are named in few words:
consecutive ports become a range. The places of all origins in a document are looked up together; reports for programs
name files relative to the root of a repository, wherever the run began. A change has the findings that it removes and
leaves, and simulations before and after, in the part below the added findings.
"""

from __future__ import annotations

from posixpath import join, normpath, relpath
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import SEVERITIES, by_cause, grouped, natural_key
from lossless.ground.basics.foreign_text import visible, visible_chars, visible_lines
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes
from lossless.ground.documents.excerpts import Locations
from lossless.output.report.columns import PLAIN, TextStyle, table, wrapped
from lossless.output.report.quantities import LABELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.checks.lint.run import Change, CheckedReport, MarginChange, RemainingFinding
    from lossless.checks.rules.storms.culprit import Culprit
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin, Path, Span


if TYPE_CHECKING:
    Detail = tuple[str, str]
    """The label of a line below a finding, such as ``note`` or ``help``, and its text."""

_LONGEST_OBJECT = 60
_SHOWN_PLACES = 3


def headline(finding: Finding) -> str:
    """Return the message on one line; in a CONFIG_DB the object comes first, since line numbers mean little there."""
    message = visible(finding.message.replace("\n", " "))
    if finding.object_form == "config_db" and finding.origin.path:
        return f"{object_of(finding.origin.path)}: {message}"
    return message


def object_of(path: Path, *, whole: bool = False) -> str:
    """Return the path of a value on one line, a long one shortened unless ``whole``: ports as ranges, the middle cut.

    Tables of CONFIG_DB have upper-case names, keys of an intent have not, and commands have blanks.
    """
    first = str(path[0]) if path else ""
    separator = "|" if first.isupper() or " " in first else "."
    text = visible(separator.join(map(str, path)))
    if len(text) > _LONGEST_OBJECT and not whole:
        # A row of CONFIG_DB can name its ports in its key: Ethernet0,Ethernet4,...|3.
        parts = [",".join(name_ranges(part.split(","))) for part in text.split(separator)]
        text = _shortened(separator.join(parts))
    return text


def details(finding: Finding, others: Iterable[Detail] = ()) -> Iterator[Detail]:
    """Yield the lines below a message, each with its label; ``others`` come before the help, which ends it."""
    if finding.elements:
        yield "on", visible(elements_text(finding.elements, finding.places))
    if finding.note:
        yield "note", finding.note
    yield from others
    if finding.help:
        yield "help", finding.help


def other_places(finding: Finding, locations: Locations, name: Callable[[str], str]) -> Iterator[Detail]:
    """Yield the related places of a finding and the intent behind it; ``name`` returns the shown name of a file."""
    for related in finding.related:
        path = related.origin.path
        # In an intent the line says it all; in a CONFIG_DB of thousands of lines the object does.
        named = f"{object_of(path)}: " if path and str(path[0]).isupper() else ""
        yield "also", f"{_first_place(related.origin, locations, name)}: {named}{visible(related.message)}"
    if finding.via is not None:
        yield "from", f"{_first_place(finding.via, locations, name)}: {object_of(finding.via.path)}"


def together(same: Sequence[Finding]) -> Finding:
    """Return the first of the findings of one cause, with the elements of all."""
    elements = tuple(dict.fromkeys(name for finding in same for name in finding.elements))
    return same[0]._replace(elements=elements, places=sum(finding.places for finding in same))


def same_elsewhere(
    same: Sequence[Finding], locations: Locations, name: Callable[[str], str]
) -> Iterator[Detail]:
    """Yield the places of the findings of one cause after the first: at most three, and the number of the rest."""
    if len(same) > 1:
        named = [_first_place(finding.origin, locations, name) for finding in same[1 : 1 + _SHOWN_PLACES]]
        unnamed = len(same) - 1 - len(named)
        yield "also", ", ".join(named) + (f" and {unnamed} more (--quiet lists each)" if unnamed else "")


def paragraphs(finding: Finding, others: Iterable[Detail] = ()) -> str:
    """Return a finding without excerpt and location: the headline, then a line for each detail."""
    labelled = details(finding, others)
    return "\n".join([headline(finding), *(f"{label}: {visible_lines(text)}" for label, text in labelled)])


def _first_place(origin: Origin, locations: Locations, name: Callable[[str], str]) -> str:
    span = locations.span(origin)
    file = visible(name(origin.file))
    return f"{file}:{span.line}:{span.column}" if span else file


def _shortened(text: str) -> str:
    """Return an object, with its middle cut if it is too long for a line."""
    half = (_LONGEST_OBJECT - 3) // 2
    return text if len(text) <= _LONGEST_OBJECT else f"{text[:half]}...{text[-half:]}"


_TAB = "    "
_CUT = "..."


def excerpt(line: str, start: int, end: int, columns: int) -> tuple[str, str]:
    """Return a line as it is shown, and the carets below it.

    ``start`` and ``end`` are 0-based code points of the line, the end exclusive. Tabs become four spaces,
    East Asian wide characters count two columns, combining ones none. A line longer than ``columns`` is cut at its
    end, and before the caret if that would not be shown.
    """
    first = max(0, start - columns)
    cells = [_TAB if cell == "\\t" else cell for cell in visible_chars(line[first : start + 2 * columns])]
    start, end = start - first, max(end, start + 1) - first
    left, right = _window(cells, start, end, columns)
    before = _CUT if first or left else ""
    after = _CUT if right < len(cells) or first + len(cells) < len(line) else ""
    text = before + "".join(cells[left:right]) + after
    indent = len(before) + sum(map(_width, cells[left:start]))
    carets = sum(map(_width, cells[start : min(end, right)]))
    return text.rstrip(), " " * indent + "^" * max(carets, 1)


def _window(cells: list[str], start: int, end: int, columns: int) -> tuple[int, int]:
    """Return the range of cells to show: all, from the first, or from a third of the room before the caret."""
    widths = [_width(cell) for cell in cells]
    if sum(widths) <= columns:
        return 0, len(cells)
    room, left = columns - len(_CUT), 0
    if sum(widths[:end]) > room and sum(widths[:start]) > room // 3:
        room, left, lead = room - len(_CUT), start, 0
        while left > 0 and lead + widths[left - 1] <= room // 3:
            left -= 1
            lead += widths[left]
    right, used = left, 0
    while right < len(cells) and used + widths[right] <= room:
        used += widths[right]
        right += 1
    return left, right


def _width(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    # Imported late: nearly every line of a configuration is ASCII, and the table of characters is not small.
    from unicodedata import category, east_asian_width

    return 0 if category(cell) in ("Mn", "Me", "Cf") else 2 if east_asian_width(cell) in "WF" else 1


_SHOWN_RUNS = 3
_SHORTEST_RANGE = 3


class _NameRun(NamedTuple):
    """Names that differ only in a number that grows in even steps; ``head`` is their common beginning."""

    head: str
    numbers: tuple[int, ...]

    def names(self) -> list[str]:
        """Return every name of a short run, or the range from its first to its last name."""
        if len(self.numbers) < _SHORTEST_RANGE:
            return [f"{self.head}{number}" for number in self.numbers]
        stem = self.head.rpartition(":")[2]
        return [f"{self.head}{self.numbers[0]}-{stem}{self.numbers[-1]}"]


def elements_text(elements: Sequence[str], places: int) -> str:
    """Return elements as text: ``leaf1:Ethernet0-Ethernet60, leaf2:Ethernet0-Ethernet60 and 32 more (64 ports)``.

    ``places`` may exceed the elements that are named. The number is added when the names alone do not
    show it.
    """
    shown, named, is_range = [], 0, False
    for run in list(_runs(elements))[:_SHOWN_RUNS]:
        shown += run.names() if isinstance(run, _NameRun) else [run]
        named += len(run.numbers) if isinstance(run, _NameRun) else 1
        is_range = is_range or (isinstance(run, _NameRun) and len(run.numbers) >= _SHORTEST_RANGE)
    text = ", ".join(shown)
    if places > named:
        text += f" and {places - named} more"
    if places > named or is_range:
        text += f" ({places} {'ports' if all(map(_is_port, elements)) else 'in all'})"
    return text


def _is_port(element: str) -> bool:
    """Return whether an element is a port, ``leaf1:Ethernet0``: a queue or a group has one part more."""
    return element.count(":") == 1 and "|" not in element


def name_ranges(names: Sequence[str]) -> list[str]:
    """Return names by beginning, then number, three or more in even steps as one range: ``Ethernet0-Ethernet60``."""
    return [name for run in _runs(names) for name in (run.names() if isinstance(run, _NameRun) else [run])]


def _runs(elements: Sequence[str]) -> Iterator[_NameRun | str]:
    """Yield names by beginning, then number; those whose numbers grow in even steps are one run."""
    numbers: dict[str, list[int]] = {}
    alone: set[str] = set()
    for element in elements:
        head = element.rstrip("0123456789")
        digits = element[len(head) :]
        # A number with a leading 0 stays text.
        if digits and (digits[0] != "0" or digits == "0"):
            numbers.setdefault(head, []).append(int(digits))
        else:
            numbers.setdefault(element, [])
            alone.add(element)
    for head in sorted(numbers, key=natural_key) if len(numbers) > 1 else numbers:
        if head in alone:
            yield head
        yield from (_NameRun(head, run) for run in _even(sorted(numbers[head])))


def _even(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield ascending numbers as runs with even steps."""
    start = 0
    for end in range(1, len(numbers) + 1):
        length = end - start
        is_last = end == len(numbers)
        if is_last or (length > 1 and numbers[end] - numbers[end - 1] != numbers[start + 1] - numbers[start]):
            yield tuple(numbers[start:end])
            start = end


if TYPE_CHECKING:
    LineText = Callable[[str, int], str | None]
    """A function that returns a line of a file, None if the file has no readable text."""


def findings_text(report: CheckedReport, style: TextStyle = PLAIN) -> Iterator[str]:
    """Yield every cause as a block of lines, in the order of reports; a brief style leaves a line for every finding."""
    locations, findings = locate(report)
    for same in [[finding] for finding in findings] if style.brief else by_cause(findings):
        yield _finding(same, locations, style)


def verdicts_text(report: CheckedReport, style: TextStyle = PLAIN) -> Iterator[str]:
    """Yield the verdict on each traffic test that no finding reports, with its note unless the style is brief."""
    reported = {finding.origin for finding in report.findings}
    for verdict in report.tests:
        if verdict.origin in reported:
            continue
        label = style.paint("traffic test", "label")
        lines = [wrapped(f"{label}: {visible(verdict.text)}", style, "", "  ")]
        if verdict.note and not style.brief:
            lines += _remark("note", verdict.note, 0, style)
        yield "\n".join(lines)


MOST_CULPRITS = 3
"""The most culprits that are shown with their evidence."""


def culprit_heading(culprit: Culprit) -> str:
    """Return the first line of a culprit: device and port, where it was seen, kind and confidence."""
    name = f"{culprit.device} {culprit.port}".rstrip()
    at = f", at {culprit.seen_at}" if culprit.seen_at not in ("", name) else ""
    return visible(f"{name}{at}: {culprit.what} [{culprit.kind}, {culprit.confidence} confidence]")


def culprits_text(report: CheckedReport, style: TextStyle = PLAIN) -> Iterator[str]:
    """Yield a block for each of the first culprits, with its evidence; a brief style only its head."""
    found = report.culprits or ()
    locations, _ = locate(report)
    for culprit in found[:MOST_CULPRITS]:
        label = "who did it" if culprit.kind != "none" else "not shown"
        head = f"{style.paint(label, 'label')}: {culprit_heading(culprit)}"
        lines = (
            [head] if style.whole_heads or len(head) <= style.columns else [wrapped(head, style, "", "  ")]
        )
        for fact in () if style.brief else culprit.evidence:
            lines += _remark(
                "evidence", f"{fact.text} ({_first_place(fact.origin, locations, shown_file)})", 0, style
            )
        for name, texts in (
            () if style.brief else (("against", culprit.against), ("missing", culprit.missing))
        ):
            for text in texts:
                lines += _remark(name, text, 0, style)
        if not style.brief:
            lines += _remark("help", culprit.help, 0, style)
        yield "\n".join(lines)
    if len(found) > MOST_CULPRITS:
        yield f"and {len(found) - MOST_CULPRITS} more (--format json has all)"


def problems_text(
    problems: Iterable[Problem], line_text: LineText, style: TextStyle = PLAIN
) -> Iterator[str]:
    """Yield every problem as a block of lines; ``line_text`` returns the source line of a problem."""
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
    """Return the first line of a finding; as several lines on a terminal that is narrower."""
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
    """Return the first line of a finding or problem; wrapped if too long, unless programs look for it whole."""
    if style.whole_heads or len(text) <= style.columns:
        return [text]

    return wrapped(text, style, hanging="    ").split("\n")


def _remark(label: str, text: str, margin: int, style: TextStyle) -> list[str]:
    head = f"{' ' * margin} {style.paint('=', 'gutter')} {style.paint(f'{label}:', 'label')} "
    indent = " " * (margin + len(label) + 5)
    lines = [part for line in text.split("\n") for part in _fitting(visible(line), len(indent), style)]
    return [(indent if i else head) + line for i, line in enumerate(lines)]


def _fitting(line: str, indent: int, style: TextStyle) -> list[str]:
    """Return a line of a remark wrapped to the columns that its indentation leaves."""
    if indent + len(line) <= style.columns:
        return [line]

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
    """Return the excerpt with a caret under the word of a problem; empty if the line is None."""
    return [] if line is None else _excerpt(line, number, start, _word_end(line, start), "error", style)


def _word_end(line: str, start: int) -> int:
    """Return the end of the word that begins at ``start``, as a problem has only a start."""
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
"""The heads of the table of simulation margins."""


def change_text(change: Change, style: TextStyle) -> Iterator[str]:
    """Yield removed findings, remaining findings by rule, simulation margins, and a note on each unread file."""
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
    """Return the numbers of findings that a change adds, removes and leaves, on one line."""
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
    """Return the note on remaining findings that affect more places in total than before, empty if not."""
    before = sum(places for _, places in left)
    now = sum(finding.places for finding, _ in left)
    return f": on {now} places, before on {before}" if now > before else ""


def margin_row(margin: MarginChange) -> tuple[str, ...]:
    """Return the row of simulation results of one fabric, each value as before -> after if they differ."""
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


def locate(report: CheckedReport) -> tuple[Locations, list[Finding]]:
    """Return the locations of all findings, and the findings by file, severity and place.

    The order in which rules ran does not matter.
    """
    facts = (fact.origin for culprit in report.culprits or () for fact in culprit.evidence)
    locations = Locations(report.documents, report.findings, facts)

    def order(finding: Finding) -> tuple[object, ...]:
        span = locations.span(finding.origin)
        place = (span.line, span.column) if span else (0, 0)
        severity = SEVERITIES.index(finding.severity)
        tie = (finding.code, finding.message, finding.object, finding.elements)
        return (finding.origin.file, severity, *place, *tie)

    return locations, sorted(report.findings, key=order)


def sort_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems sorted by file, line and column; those without a line come first in their file."""
    return sorted(problems, key=lambda p: (p.file, p.line or 0, p.column or 0, p.message))


def shown_file(file: str) -> str:
    """Return a file name as reports write it: relative names without a leading ``./``."""
    return file.removeprefix("./")


class FileNames:
    """Names of files relative to a root; nothing is looked up on disk."""

    __slots__ = ("_folder", "_root")

    def __init__(self, folder: str, root: str) -> None:
        self._folder = folder
        self._root = root

    def relative(self, file: str) -> str | None:
        """Return a file relative to the root, None where it lies outside."""
        name = relpath(self.absolute(file), self._root)
        return None if name == ".." or name.startswith("../") else name

    def name(self, file: str) -> str:
        """Return a file relative to the root; outside of it the absolute path."""
        return self.relative(file) or self.absolute(file)

    def absolute(self, file: str) -> str:
        """Return the absolute path of a file."""
        return normpath(join(self._folder, file))
