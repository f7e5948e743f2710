"""A plan as text: the number of steps, each with its changes, interruptions and manual work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.wording import listed
from lossless.output.report.columns import cut, wrapped
from lossless.output.report.text_style import PLAIN, TextStyle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.plan.plan import FileChange, FileGroup, Plan, PlanStep, TakenBy
    from lossless.checks.plan.progress import DeviceProgress

_MINUTE_S = 60
_TABLE_WORDS = ("new rows of ", "unused rows of ", "values of ", "old rows of ")


def plan_text(plan: Plan, style: TextStyle = PLAIN) -> str:
    """Return a plan for a terminal."""
    plan = shown(plan._replace(rollback=()))
    return "\n\n".join([_head(plan, style), *(_step(step, plan, style) for step in plan.steps)])


def shown(plan: Plan) -> Plan:
    """Return a plan with texts that can be shown; of its files it has the names, and whether they stay."""
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
    """Return the number of steps of a plan, and its two sides."""
    steps = len(plan.steps)
    if not steps:
        return f"nothing to change: the {_whole(plan)} is what the target declares"
    return f"{steps} step{'' if steps == 1 else 's'} from {plan.current} to {plan.target}"


def evaluated(plan: Plan) -> str:
    """Return the number of states that were evaluated, and the number that they stand for."""
    whole = f"{plan.represented} of the whole {_whole(plan)}"
    return f"{plan.evaluated:,} states were evaluated; they stand for {whole}, all safe"


def _whole(plan: Plan) -> str:
    return "subnet" if plan.transport == "infiniband" else "fabric"


def in_use(step: PlanStep, plan: Plan, *, short: bool = False) -> str:
    """Return which classes jobs send in during a step, as part of a sentence; ``short``: where there is little room."""
    numbers = ", ".join(map(str, step.in_use))
    if plan.transport == "infiniband":
        return f"jobs use SL {numbers}" if numbers else "no job runs"
    if numbers:
        return f"jobs send DSCP {numbers}"
    return "no lossless class" if short else "no lossless class is in use"


def duration(seconds: int) -> str:
    """Return a maximum duration in words."""
    if not seconds:
        return "-"
    return f"{seconds} s" if seconds < 2 * _MINUTE_S else f"{-(-seconds // _MINUTE_S)} min"


def group_lines(step: PlanStep) -> Iterator[str]:
    """Yield the changes of each group in a step."""
    for group in step.switches:
        count = len(group.devices)
        pace = f", {group.at_once} at a time" if group.at_once else ""
        batches = "; then ".join(f"{batch.how}: {spoken(batch.titles)}" for batch in group.batches)
        yield f"{group.name} ({count:,} switch{'' if count == 1 else 'es'}{pace}): {batches}"
    for hosts in step.hosts:
        yield f"{hosts.name} ({len(hosts.hosts):,}): {hosts.title}"
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
    """Return the changes of a batch; tables with the same change are listed together."""
    tables: dict[str, list[str]] = {}
    for title in titles:
        said = next((words for words in _TABLE_WORDS if title.startswith(words)), "")
        tables.setdefault(said or title, []).append(title.removeprefix(said) if said else "")
    return ", ".join(words + ", ".join(filter(None, names)) for words, names in tables.items())


def progress_lines(reached: Sequence[DeviceProgress], missing: Sequence[str], steps: int) -> Iterator[str]:
    """Yield how far switches are in a plan, those that are as far together."""
    together: dict[tuple[int, int, int, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for device in reached:
        key = (device.done, device.batches, device.step, device.partly, device.neither)
        together.setdefault(key, []).append(device.device)
    for (done, batches, step, partly, neither), names in sorted(together.items()):
        where = f"step {step} of {steps}" if step else "not begun"
        yield f"{listed(names, 6)}: {where}, {done} of {batches} batches done"
        if partly:
            yield f"  the next batch is half done: {listed(partly, 6)} are new already"
        if neither:
            yield f"  neither old nor new: {listed(neither, 6)}"
    if missing:
        yield f"no file here of {listed(missing, 6)}"


def _head(plan: Plan, style: TextStyle) -> str:
    lines = [headline(plan), *([evaluated(plan), *plan.notes] if plan.steps else [])]
    return "\n".join(wrapped(line, style) for line in lines)


def _step(step: PlanStep, plan: Plan, style: TextStyle) -> str:
    time = f", {duration(step.seconds)} at most" if step.seconds else ""
    named = step.title if step.kind != "change" else "configurations change"
    lines = [f"{step.number}. {named}; {in_use(step, plan)}{time}"]
    below = [*group_lines(step), *step.by_hand, *dict.fromkeys(step.interrupts)]
    return "\n".join([*lines, *cut([wrapped(line, style, "   ") for line in below], style, "   ")])
