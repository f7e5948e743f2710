"""``plan.md``: a plan for a change ticket, with commands, checks, and the rollback from every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.wording import listed
from lossless.output.report.plan_text import duration, evaluated, group_lines, headline, in_use, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.checks.plan.plan import FileGroup, Plan, PlannedBatch, PlannedSwitches, PlanStep

_SHOWN = {
    "PFC_WD": "show pfcwd config",
    "WRED_PROFILE": "show ecn",
    "BUFFER_POOL": "show mmu",
    "BUFFER_PROFILE": "show mmu",
    "PORT_QOS_MAP": "show pfc priority",
}
"""What shows a table (sonic-utilities show/main.py @691b1bb); others are read from the database."""
_FEW = 4
"""Rows of a table that are named in a check; the checker of the step looks at all of them."""


def plan_markdown(plan: Plan) -> str:
    """Return a plan as Markdown."""
    return "\n".join(_lines(shown(plan))).rstrip() + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    yield from (f"# {headline(plan)}", "", f"Plan `{plan.id}`. {evaluated(plan)}.", "")
    if not plan.steps:
        return
    yield from ("![Order of the steps](plan.svg)", "")
    yield from _table(plan)
    yield from (f"- {note}" for note in plan.notes)
    yield ""
    for step, back in zip(plan.steps, plan.rollback, strict=True):
        yield from _step(step, plan)
        yield from _rollback(step.number, back)


def _table(plan: Plan) -> Iterator[str]:
    yield "| step | what | who | ports down on a switch | time at most | by hand |"
    yield "|---|---|---|---|---|---|"
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
            duration(step.seconds),
            "yes" if step.by_hand else "-",
        )
        yield f"| {' | '.join(_cell(str(cell)) for cell in cells)} |"
    yield ""


def _cell(text: str) -> str:
    """Return a text as a cell of a table has it."""
    return text.replace("|", "\\|")


def _batches(step: PlanStep) -> list[PlannedBatch]:
    return [batch for group in step.switches for batch in group.batches]


def _step(step: PlanStep, plan: Plan) -> Iterator[str]:
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
    yield from _run(f"step-{step.number:02}", asked=bool(step.by_hand))
    yield from _checks(step)


def _reasons(step: PlanStep) -> Iterator[str]:
    why = dict.fromkeys(f"{batch.how}, not patch: {batch.why}" for batch in _batches(step) if batch.why)
    if why:
        yield from ("Why not by patch:", "", *(f"- {line}" for line in why), "")


def _run(folder: str, *, asked: bool) -> Iterator[str]:
    yield from ("Run:", "", "```sh", f"ansible-playbook -i inventory.yml {folder}/playbook.yml", "```", "")
    if asked:
        yield from ("It asks for what is done by hand, and says with which option to go on.", "")


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
    """Yield the query for the state of the subnet manager on a host."""
    if group.states is not None:
        yield f"{group.name}: `sminfo -D 0` says SMINFO_{group.states[1].upper()}"


def _expected(group: PlannedSwitches) -> Iterator[str]:
    for batch in group.batches:
        if batch.how == "by hand":
            yield f"{group.name}: `lossless lint --plan` over the running configurations says who is done"
            continue
        for table, rows in batch.after.items():
            before = batch.before[table]
            changed = [
                f"`{key}` {_difference(before[key], row)}" for key, row in rows.items() if before[key] != row
            ]
            yield f"{group.name}: {_showing(table, batch)} shows of {table}: {listed(changed, _FEW)}"


def _showing(table: str, batch: PlannedBatch) -> str:
    """Return the commands that show a table, or a part of a switch's behavior."""
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
