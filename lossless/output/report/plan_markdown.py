"""A plan as ``plan.md`` for a change ticket, as text, and as a picture; an acceptance test as text.

``plan.md`` has commands, checks, and the rollback from every step. The text has the number of steps, each with its
changes, interruptions and manual work. The picture has a lane for each group of devices and one for
manual work, a column for each step.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lossless.checks.plan.acceptance import coverage_rows, minutes, spread_sentence, step_rows
from lossless.checks.plan.plan import leaves_no_trace
from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed
from lossless.output.report import drawing as style
from lossless.output.report.columns import PLAIN, TextStyle, cut, table, wrapped
from lossless.output.report.drawing import markup, px, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.plan.acceptance import AcceptancePlan, AcceptanceResults
    from lossless.checks.plan.plan import (
        FileChange,
        FileGroup,
        Plan,
        PlannedBatch,
        PlannedSwitches,
        PlanStep,
        TakenBy,
    )
    from lossless.checks.plan.search import DeviceProgress
    from lossless.formats.sonic.capabilities.updater_sorting import TimeRange


_SHOWN = {
    "PFC_WD": "show pfcwd config",
    "WRED_PROFILE": "show ecn",
    "BUFFER_POOL": "show mmu",
    "BUFFER_PROFILE": "show mmu",
    "PORT_QOS_MAP": "show pfc priority",
}
"""The command that shows a table (sonic-utilities show/main.py @691b1bb); others are read from the database."""
_FEW = 4
"""Rows of a table, and fields of a row, that a check in the text names; the check of the playbook covers all.

As many dangers of the start are in the text on a terminal.
"""


def plan_markdown(plan: Plan) -> str:
    """Return a plan as Markdown, the text of plan.md."""
    return "\n".join(_lines(shown(plan))).rstrip() + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    yield from (f"# {headline(plan)}", "")
    if plan.unsafe:
        yield from (*(f"- {line}" for line in plan.unsafe), "")
    yield from (f"Plan `{plan.id}`. {evaluated(plan)}.", "")
    if not plan.steps:
        return
    yield from ("![Order of the steps](plan.svg)", "")
    yield from _table(plan)
    yield from (f"- {note}" for note in plan.notes)
    yield ""
    for step, back in zip(plan.steps, plan.rollback, strict=True):
        yield from _markdown_step(step, plan)
        yield from _rollback(step.number, back)


STEP_HEADS = ("step", "what", "who", "ports down on a switch", "time", "by hand")
"""The heads of the table of steps."""


def _table(plan: Plan) -> Iterator[str]:
    yield f"| {' | '.join(STEP_HEADS)} |"
    yield f"|{'---|' * len(STEP_HEADS)}"
    for row in plan_rows(plan):
        yield f"| {' | '.join(map(_cell, row))} |"
    yield ""


def plan_rows(plan: Plan) -> Iterator[tuple[str, ...]]:
    """Yield the row of each step in the table of steps."""
    for step in plan.steps:
        who = [f"{len(group.devices):,} {group.name}" for group in step.switches]
        who += [f"{len(group.hosts):,} {group.name}" for group in step.hosts]
        who += [group.name for group in step.files]
        down = max((len(batch.ports_down) for batch in _batches(step)), default=0)
        cells = (
            step.number,
            step.title,
            ", ".join(who) or "-",
            down or "-",
            duration(step.time),
            "yes" if step.by_hand else "-",
        )
        yield tuple(map(str, cells))


def _cell(text: str) -> str:
    """Return a text for a cell of a Markdown table: bars are escaped."""
    return text.replace("|", "\\|")


def _batches(step: PlanStep) -> list[PlannedBatch]:
    return [batch for group in step.switches for batch in group.batches]


def _markdown_step(step: PlanStep, plan: Plan) -> Iterator[str]:
    yield from (f"## Step {step.number}: {step.title}", "")
    use = in_use(step, plan)
    yield from (f"{use[0].upper()}{use[1:]}.", "")
    if step.by_hand:
        yield from ("By hand:", "", *(f"- {line}" for line in step.by_hand), "")
    groups = list(group_lines(step))
    if groups:
        yield from ("What changes:", "", *(f"- {line}" for line in groups), "")
        yield from _reasons(step)
    interrupts = dict.fromkeys(step.interrupts)
    if interrupts:
        yield from ("What it interrupts:", "", *(f"- {line}" for line in interrupts), "")
    before = plan.steps[step.number - 2] if step.number > 1 else None
    yield from _run(step, before if before and leaves_no_trace(before) else None)
    yield from _checks(step)


def _reasons(step: PlanStep) -> Iterator[str]:
    why = dict.fromkeys(f"{batch.how}, not patch: {batch.why}" for batch in _batches(step) if batch.why)
    if why:
        yield from ("Why not by patch:", "", *(f"- {line}" for line in why), "")


def _run(step: PlanStep, before: PlanStep | None) -> Iterator[str]:
    """Yield the command of a step; ``before`` is the step before if no device shows whether that is complete."""
    command = f"ansible-playbook -i inventory.yml step-{step.number:02}/playbook.yml"
    yield from ("Run:", "", "```sh", command, "```", "")
    asked = [f"whether step {before.number} is complete"] if before else []
    asked += ["for what is done by hand"] if step.by_hand else []
    if asked:
        yield from (f"It asks {' and '.join(asked)}, and says with which option to go on.", "")


def _checks(step: PlanStep) -> Iterator[str]:
    """Yield the commands that show the changes of a step."""
    lines = dict.fromkeys(line for group in step.switches for line in _expected(group))
    lines |= dict.fromkeys(line for group in step.files for line in _manager_state(group))
    if lines:
        yield from (
            "Check, beside what the playbook checks itself:",
            "",
            *(f"- {line}" for line in lines),
            "",
        )


def _manager_state(group: FileGroup) -> Iterator[str]:
    """Yield the query for the state of the subnet manager on a host and the expected answer; none without a manager."""
    if group.states is not None:
        yield f"{group.name}: `sminfo -D 0` says SMINFO_{group.states[1].upper()}"


def _expected(group: PlannedSwitches) -> Iterator[str]:
    for batch in group.batches:
        if batch.how == "by hand":
            yield f"{group.name}: `lossless lint --plan` over the running configurations says who is done"
            continue
        for name, rows in batch.after.items():
            before = batch.before[name]
            changed = [
                f"`{key}` {_difference(before[key], row)}" for key, row in rows.items() if before[key] != row
            ]
            yield f"{group.name}: {_showing(name, batch)} shows of {name}: {listed(changed, _FEW)}"


def _showing(table: str, batch: PlannedBatch) -> str:
    """Return the commands that show a table of CONFIG_DB; for a session those of its check."""
    if batch.session is not None:
        return listed([f"`{command}`" for command in batch.session.runs["check"]])
    command = _SHOWN.get(table, f"sonic-db-cli CONFIG_DB HGETALL '{table}|...'")
    return f"`{command}`"


def _difference(before: Mapping[str, object] | None, after: Mapping[str, object] | None) -> str:
    if after is None:
        return "gone"
    old = before or {}
    new = [f"{field} {value}" for field, value in after.items() if old.get(field) != value]
    gone = [f"no {field}" for field in old if field not in after]
    return listed([*new, *gone], _FEW)


def _rollback(number: int, steps: Sequence[PlanStep]) -> Iterator[str]:
    yield from (f"### Rollback from step {number}", "")
    if not steps:
        yield from ("Nothing to undo.", "")
        return
    for step in steps:
        folder = f"rollback-from-{number:02}/step-{step.number:02}"
        run = (
            f" `ansible-playbook -i inventory.yml {folder}/playbook.yml`"
            if step.switches or step.hosts or step.files
            else ""
        )
        yield f"{step.number}. {step.title}.{run}"
        yield from (f"   - {line}" for line in step.by_hand)
    yield ""


_COLUMN_PX, _GAP_PX, _MARGIN_PX = 214, 14, 16
_INSIDE_PX = _COLUMN_PX - 16
_MOST_LINES = 7
_PEOPLE = "by hand"


class _Lane(NamedTuple):
    """A lane of the picture: the name of its group of devices, its color, and the lines of text for each step."""

    name: str
    fill: str
    cells: tuple[tuple[str, ...], ...]

    @property
    def height_px(self) -> int:
        """The height of the lane in pixels, by the box with most lines."""
        return max(1, *(len(lines) for lines in self.cells)) * style.LINE_PX + 16


def plan_picture(plan: Plan) -> str:
    """Return the picture of a plan as SVG."""
    plan = shown(plan._replace(rollback=()))
    lanes = [lane for lane in _lanes(plan) if any(lane.cells)]
    left = _MARGIN_PX + max(text_width(lane.name, style.TEXT_PX) for lane in lanes) + _GAP_PX if lanes else 0
    width = left + len(plan.steps) * (_COLUMN_PX + _GAP_PX) + _MARGIN_PX
    height = _HEAD_PX + sum(lane.height_px + _GAP_PX for lane in lanes) + _MARGIN_PX
    body = "\n".join([*_heads(plan, left), *_drawn(lanes, left, width)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {px(width)} {px(height)}" width="{px(width)}" '
        f'height="{px(height)}" font-family="{style.FONT_FAMILY}" font-size="{style.TEXT_PX}" fill="{style.INK}">\n'
        f'<rect width="100%" height="100%" fill="{style.PAPER}"/>\n{body}\n</svg>\n'
    )


_HEAD_PX = 58


def _heads(plan: Plan, left: float) -> Iterator[str]:
    for number, step in enumerate(plan.steps):
        x = left + number * (_COLUMN_PX + _GAP_PX)
        yield _text(x + 2, 24, f"step {step.number}", bold=True)
        yield _text(x + 2, 42, in_use(step, plan, short=True), color=style.GREY)


def _drawn(lanes: Sequence[_Lane], left: float, width: float) -> Iterator[str]:
    y = float(_HEAD_PX)
    for lane in lanes:
        yield _text(_MARGIN_PX, y + lane.height_px / 2 + 4, lane.name, bold=True)
        yield (
            f'<line x1="{px(left)}" x2="{px(width - _MARGIN_PX)}" y1="{px(y + lane.height_px / 2)}" '
            f'y2="{px(y + lane.height_px / 2)}" stroke="{style.FAINT}"/>'
        )
        for number, lines in enumerate(lane.cells):
            if lines:
                yield from _box(left + number * (_COLUMN_PX + _GAP_PX), y, lane, lines)
        y += lane.height_px + _GAP_PX


def _box(x: float, y: float, lane: _Lane, lines: Sequence[str]) -> Iterator[str]:
    yield (
        f'<rect x="{px(x)}" y="{px(y)}" width="{_COLUMN_PX}" height="{lane.height_px}" rx="4" fill="{lane.fill}" '
        f'stroke="{style.FRAME_LINE}"/>'
    )
    for number, line in enumerate(lines):
        yield _text(x + 8, y + 19 + number * style.LINE_PX, line)


def _text(x: float, y: float, text: str, *, bold: bool = False, color: str = style.INK) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{px(x)}" y="{px(y)}" fill="{color}"{weight}>{markup(text)}</text>'


def _lanes(plan: Plan) -> Iterator[_Lane]:
    for name in dict.fromkeys(group.name for step in plan.steps for group in step.switches):
        fill = style.ROLE_FILLS.get(name.rstrip("-0123456789"), style.FRAME_FILL)
        cells = tuple(_folded(_of_switches(step, name)) for step in plan.steps)
        yield _Lane(f"{name} ({len(plan.groups[name]):,})", fill, cells)
    hosts = {group.name: len(group.hosts) for step in plan.steps for group in step.hosts}
    for name, size in hosts.items():
        cells = tuple(
            _folded("; ".join(group.title for group in step.hosts if group.name == name))
            for step in plan.steps
        )
        yield _Lane(f"{name} ({size:,})", style.ROLE_FILLS["host"], cells)
    given = {group.name: len(group.devices) for step in plan.steps for group in step.files}
    for name, size in given.items():
        cells = tuple(
            _folded("; ".join(taken(group) for group in step.files if group.name == name))
            for step in plan.steps
        )
        yield _Lane(f"{name} ({size:,})", style.ROLE_FILLS["host"], cells)
    by_hand = tuple(_folded(_by_hand(step)) for step in plan.steps)
    yield _Lane(_PEOPLE, style.STATE_FILLS["stalled"], by_hand)


def _of_switches(step: PlanStep, name: str) -> str:
    groups = [group for group in step.switches if group.name == name]
    return "; then ".join(spoken(batch.titles) for group in groups for batch in group.batches)


def _by_hand(step: PlanStep) -> str:
    if step.kind != "change":
        return step.title
    drained = "drain" if step.drains else ""
    brought_in = {batch.how for group in step.switches for batch in group.batches}
    done = [
        "upgrade or replace" if "by hand" in brought_in else "",
        "run sessions" if "session" in brought_in else "",
    ]
    return ", ".join(filter(None, [drained, *done]))


def _folded(text: str) -> tuple[str, ...]:
    """Return a text in lines for a box; excess lines are cut."""
    lines = [""]
    for word in text.split():
        if _fits(f"{lines[-1]} {word}"):
            lines[-1] = f"{lines[-1]} {word}".strip()
        else:
            lines += _broken(word)
    lines = [line for line in lines if line]
    return tuple(lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "..."])


def _broken(word: str) -> list[str]:
    """Return a word as lines, split after underscores and bars if a box is too narrow for it."""
    lines = [""]
    for piece in [word] if _fits(word) else re.split(r"(?<=[_|])", word):
        if _fits(lines[-1] + piece):
            lines[-1] += piece
        else:
            lines.append(piece)
    return lines


def _fits(line: str) -> bool:
    return text_width(line.strip(), style.TEXT_PX) <= _INSIDE_PX


_MINUTE_S = 60
_TABLE_WORDS = ("new rows of ", "unused rows of ", "values of ", "old rows of ")


def plan_text(plan: Plan, style: TextStyle = PLAIN) -> str:
    """Return a plan as text for a terminal, without its rollbacks."""
    plan = shown(plan._replace(rollback=()))
    return "\n\n".join([_head(plan, style), *(_text_step(step, plan, style) for step in plan.steps)])


def shown(plan: Plan) -> Plan:
    """Return a plan with visible texts; the files of InfiniBand hosts have no content, only whether they stay."""
    named: Plan = spelled_out(
        plan._replace(
            steps=tuple(map(_without_texts, plan.steps)),
            rollback=tuple(tuple(map(_without_texts, steps)) for steps in plan.rollback),
        )
    )
    return named


def _without_texts(step: PlanStep) -> PlanStep:
    return step._replace(
        files=tuple(group._replace(files=tuple(map(_without_text, group.files))) for group in step.files)
    )


def _without_text(file: FileChange) -> FileChange:
    return file._replace(before=None, after=None if file.after is None else "")


def headline(plan: Plan) -> str:
    """Return the headline of a plan: its steps, start and target, or that nothing is to change."""
    steps = len(plan.steps)
    if not steps:
        return f"nothing to change: the {_whole(plan)} is what the target declares"
    return f"{steps} step{'' if steps == 1 else 's'} from {plan.current} to {plan.target}"


def evaluated(plan: Plan) -> str:
    """Return the numbers of evaluated states and of the states that they represent, as a sentence."""
    whole = f"{plan.represented} of the whole {_whole(plan)}"
    verdict = "none with a danger beside those said" if plan.unsafe else "all safe"
    return f"{plan.evaluated:,} states were evaluated; they stand for {whole}, {verdict}"


def _whole(plan: Plan) -> str:
    return "subnet" if plan.transport == "infiniband" else "fabric"


def in_use(step: PlanStep, plan: Plan, *, short: bool = False) -> str:
    """Return the DSCPs, or the SLs of a subnet, that jobs use during a step, as words; ``short`` for pictures."""
    numbers = ", ".join(map(str, step.in_use))
    if plan.transport == "infiniband":
        return f"jobs use SL {numbers}" if numbers else "no job runs"
    if numbers:
        return f"jobs send DSCP {numbers}"
    return "no lossless class" if short else "no lossless class is in use"


def duration(time: TimeRange) -> str:
    """Return a time as text, in seconds or whole minutes, least rounded down and most up; ``-`` if nothing is known."""
    if not time.most_s:
        return "-"
    least, most = (
        _rounded(time.least_s, time.least_s // _MINUTE_S),
        _rounded(time.most_s, -(-time.most_s // _MINUTE_S)),
    )
    if least == most:
        return most
    if not time.least_s:
        return f"up to {most}"
    unit = most.rpartition(" ")[2]
    return f"{least.removesuffix(f' {unit}')} to {most}"


def _rounded(seconds: int, minutes: int) -> str:
    return f"{seconds} s" if seconds < 2 * _MINUTE_S else f"{minutes} min"


def group_lines(step: PlanStep) -> Iterator[str]:
    """Yield a line with the changes of each group of switches or hosts in a step."""
    for group in step.switches:
        count = len(group.devices)
        pace = f", {group.at_once} at a time" if group.at_once else ""
        batches = "; then ".join(f"{batch.how}: {spoken(batch.titles)}" for batch in group.batches)
        yield f"{group.name} ({count:,} switch{'' if count == 1 else 'es'}{pace}): {batches}"
    for hosts in step.hosts:
        pace = f", {hosts.at_once} at a time" if hosts.at_once else ""
        yield f"{hosts.name} ({len(hosts.hosts):,}{pace}): {hosts.title}"
    yield from map(_files_line, step.files)


_TAKEN: dict[TakenBy, str] = {"hup": "SIGHUP", "restart": "restart", "nothing": "no restart"}


def _files_line(group: FileGroup) -> str:
    count = "" if len(group.devices) == 1 else f" ({len(group.devices):,})"
    why = f" ({'; '.join(group.why)})" if group.why else ""
    return f"{group.name}{count}: {taken(group)}{why}"


def taken(group: FileGroup) -> str:
    """Return the files that a group gets, and the action that puts them into effect."""
    return f"{', '.join(map(_changed, group.files))}: {_TAKEN[group.how]}"


def _changed(file: FileChange) -> str:
    if file.after is None:
        return f"{file.name} goes"
    keys = f" ({listed(file.keys, 6)})" if file.keys else ""
    return f"{file.name}{keys}"


def spoken(titles: Sequence[str]) -> str:
    """Return the titles of a batch in one text; tables with the same kind of change are listed together."""
    tables: dict[str, list[str]] = {}
    for title in titles:
        said = next((words for words in _TABLE_WORDS if title.startswith(words)), "")
        tables.setdefault(said or title, []).append(title.removeprefix(said) if said else "")
    return ", ".join(words + ", ".join(filter(None, names)) for words, names in tables.items())


def progress_lines(reached: Sequence[DeviceProgress], missing: Sequence[str], steps: int) -> Iterator[str]:
    """Yield the progress of switches in a plan, with equal progress in one line, then the switches without a file."""
    together: dict[tuple[int, int, int, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for device in reached:
        key = (device.done, device.batches, device.step, device.partly, device.neither)
        together.setdefault(key, []).append(device.device)
    for (done, batches, step, partly, neither), names in sorted(together.items()):
        where = f"step {step} of {steps}" if step else "not begun"
        yield f"{listed(names, 6)}: {where}, {done} of {batches} batches done"
        if partly:
            yield f"  the next batch is half done, and these rows are new: {listed(partly, 6)}"
        if neither:
            yield f"  neither old nor new: {listed(neither, 6)}"
    if missing:
        yield f"no file here of {listed(missing, 6)}"


def _head(plan: Plan, style: TextStyle) -> str:
    more = len(plan.unsafe) - _FEW
    rest = [f"and {more} more dangers (--format json has all)"] if more > 0 else []
    unsafe = [*plan.unsafe[:_FEW], *rest]
    lines = [headline(plan), *unsafe, *([evaluated(plan)] if plan.steps else []), *plan.notes]
    return "\n".join(wrapped(line, style) for line in lines)


def _text_step(step: PlanStep, plan: Plan, style: TextStyle) -> str:
    time = f", {duration(step.time)}" if step.time.most_s else ""
    named = step.title if step.kind != "change" else "configurations change"
    lines = [f"{step.number}. {named}; {in_use(step, plan)}{time}"]
    below = [*group_lines(step), *step.by_hand, *dict.fromkeys(step.interrupts)]
    return "\n".join([*lines, *cut([wrapped(line, style, "   ") for line in below], style, "   ")])


SCRIPT_HEADS = ("script", "tests", "lines", "time", "disturbs")
COVERAGE_HEADS = ("switch", "links to switches", "flows", "missed by all, mean")


def script_rows(plan: AcceptancePlan) -> list[tuple[str, ...]]:
    """Return the cells of a row for each script of a test."""
    return [
        (row.script, row.what, str(row.lines or "-"), row.time, row.disturbs.strip("*"))
        for row in step_rows(plan)
    ]


def coverage_cells(plan: AcceptancePlan) -> list[tuple[str, ...]]:
    """Return the cells of a row for each switch that sends into links between switches."""
    return [(row.switch, row.links, str(row.flows), row.missed) for row in coverage_rows(plan)]


def acceptance_text(plan: AcceptancePlan, style: TextStyle = PLAIN) -> str:
    """Return an acceptance test as text: its size, its steps, the coverage, and what is not covered."""
    across = f", {plan.flows} queue pairs each across switches" if plan.spread != "destination" else ""
    head = (
        f"{plan.name}: {len(plan.lines)} lines, {plan.host_port_count} host ports of {len(plan.hosts)} hosts in "
        f"{plan.rounds} rounds of disjoint pairs{across}; about {minutes(plan.seconds)}"
    )
    blocks = [wrapped(head, style), table([SCRIPT_HEADS, *script_rows(plan)], style, whole=True)]
    cells = coverage_cells(plan)
    if cells:
        blocks.append(
            "\n".join([wrapped(spread_sentence(plan), style), table([COVERAGE_HEADS, *cells], style)])
        )
    if plan.not_covered:
        lines = [wrapped(f"- {line}", style) for line in plan.not_covered]
        blocks.append("\n".join(["not covered:", *lines]))
    return "\n\n".join(blocks)


def outcome_counts(results: AcceptanceResults) -> str:
    """Return how many lines have each outcome: ``1 failed, 148 not run of 149 lines``."""
    counts = (
        (results.failed, "failed"),
        (results.not_checked, "not checked"),
        (results.not_run, "not run"),
        (results.passed, "passed"),
    )
    said = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    return f"{said} of {len(results.lines):,} lines"


def acceptance_results_text(results: AcceptanceResults, style: TextStyle = PLAIN) -> str:
    """Return the outcomes of an acceptance test as text: the number of lines of each, failed lines, and other lines."""
    head = f"{results.name}: {outcome_counts(results)}"
    bad = [line for outcome in ("fail", "not checked") for line in results.lines if line.outcome == outcome]
    lines = [
        wrapped(f"{line.outcome}: {line.id}: {line.text}{': ' if line.note else ''}{line.note}", style)
        for line in bad
    ]
    left = Counter(line.step for line in results.lines if line.outcome == "not run")
    if left:
        of = listed([f"{number:,} of {step}" for step, number in left.items()])
        lines.append(wrapped(f"not run: {of}", style))
    return "\n".join([wrapped(head, style), *cut(lines[: len(bad)], style), *lines[len(bad) :]])
