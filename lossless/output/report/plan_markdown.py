"""``plan.md``: a plan for a change ticket, with what to run, what to check, and the rollback from every step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.wording import listed
from lossless.output.report.plan_text import devices_of, duration, evaluated, group_lines, headline, in_use

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Any]

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


def plan_markdown(data: Data) -> str:
    """Return a plan as Markdown."""
    shown = {**data, **spelled_out({key: value for key, value in data.items() if key != "groups"})}
    return "\n".join(_lines(shown)).rstrip() + "\n"


def _lines(data: Data) -> Iterator[str]:
    yield from (f"# {headline(data)}", "", f"Plan `{data['id']}`. {evaluated(data)}.", "")
    if not data["steps"]:
        return
    yield from ("![Order of the steps](plan.svg)", "")
    yield from _table(data)
    yield from (f"- {note}" for note in data["notes"])
    yield ""
    for step in data["steps"]:
        yield from _step(step, data)


def _table(data: Data) -> Iterator[str]:
    yield "| step | what | who | ports down on a switch | time at most | by hand |"
    yield "|---|---|---|---|---|---|"
    for step in data["steps"]:
        who = [f"{len(devices_of(group, data)):,} {group['group']}" for group in step["switches"]]
        who += [f"{len(group['hosts']):,} {group['group']}" for group in step["hosts"]]
        who += [group["group"] for group in step.get("files", ())]
        down = max((len(batch["ports_down"]) for batch in _batches(step)), default=0)
        by_hand = "yes" if step["by_hand"] else "-"
        cells = (
            step["number"],
            step["title"],
            ", ".join(who) or "-",
            down or "-",
            duration(step["seconds"]),
            by_hand,
        )
        yield f"| {' | '.join(_cell(str(cell)) for cell in cells)} |"
    yield ""


def _cell(text: str) -> str:
    """Return a text as a cell of a table has it."""
    return text.replace("|", "\\|")


def _batches(step: Data) -> list[Data]:
    return [batch for group in step["switches"] for batch in group["batches"]]


def _step(step: Data, data: Data) -> Iterator[str]:
    number = step["number"]
    yield from (f"## Step {number}: {step['title']}", "")
    use = in_use(step)
    yield from (f"{use[0].upper()}{use[1:]}.", "")
    if step["by_hand"]:
        yield from ("By hand:", "", *(f"- {line}" for line in step["by_hand"]), "")
    groups = list(group_lines(step, data))
    if groups:
        yield from ("What changes:", "", *(f"- {line}" for line in groups), "")
        yield from _reasons(step)
    interrupts = dict.fromkeys(step["interrupts"])
    if interrupts:
        yield from ("What it interrupts:", "", *(f"- {line}" for line in interrupts), "")
    yield from _run(f"step-{number:02}", asked=bool(step["by_hand"]))
    yield from _checks(step)
    yield from _rollback(number, data["rollback"][number - 1])


def _reasons(step: Data) -> Iterator[str]:
    why = dict.fromkeys(
        f"{batch['how']}, not patch: {batch['why']}" for batch in _batches(step) if batch["why"]
    )
    if why:
        yield from ("Why not by patch:", "", *(f"- {line}" for line in why), "")


def _run(folder: str, *, asked: bool) -> Iterator[str]:
    yield from ("Run:", "", "```sh", f"ansible-playbook -i inventory.yml {folder}/playbook.yml", "```", "")
    if asked:
        yield from ("It asks for what is done by hand, and says with which option to go on.", "")


def _checks(step: Data) -> Iterator[str]:
    """Yield which command shows what the step has changed."""
    lines = dict.fromkeys(line for group in step["switches"] for line in _expected(group))
    lines |= dict.fromkeys(line for group in step.get("files", ()) for line in _manager_state(group))
    if lines:
        yield from (
            "Check, beside what the playbook checks itself:",
            "",
            *(f"- {line}" for line in lines),
            "",
        )


def _manager_state(group: Data) -> Iterator[str]:
    """Yield how the subnet manager of a host is asked for its state."""
    if group["states"] is not None:
        yield f"{group['group']}: `sminfo -D 0` says SMINFO_{group['states'][1].upper()}"


def _expected(group: Data) -> Iterator[str]:
    for batch in group["batches"]:
        if batch["how"] == "by hand":
            yield f"{group['group']}: `lossless lint --plan` over the running configurations says who is done"
            continue
        for table, rows in batch["after"].items():
            changed = [
                f"`{key}` {_difference(batch['before'][table][key], row)}"
                for key, row in rows.items()
                if batch["before"][table][key] != row
            ]
            yield f"{group['group']}: {_showing(table, batch)} shows of {table}: {listed(changed, _FEW)}"


def _showing(table: str, batch: Data) -> str:
    """Return the commands that show a table, or a part of what a switch does."""
    if "session" in batch:
        return listed([f"`{command}`" for command in batch["session"]["runs"]["check"]])
    command = _SHOWN.get(table, f"sonic-db-cli CONFIG_DB HGETALL '{table}|...'")
    return f"`{command}`"


def _difference(before: Data | None, after: Data | None) -> str:
    if after is None:
        return "gone"
    old = before or {}
    new = [f"{field} {value}" for field, value in after.items() if old.get(field) != value]
    gone = [f"no {field}" for field in old if field not in after]
    return listed([*new, *gone], _FEW)


def _rollback(number: int, steps: Sequence[Data]) -> Iterator[str]:
    yield from (f"### Rollback from step {number}", "")
    if not steps:
        yield from ("Nothing to undo.", "")
        return
    for step in steps:
        folder = f"rollback-from-{number:02}/step-{step['number']:02}"
        run = (
            f" `ansible-playbook -i inventory.yml {folder}/playbook.yml`"
            if step["switches"] or step["hosts"] or step.get("files")
            else ""
        )
        yield f"{step['number']}. {step['title']}.{run}"
        yield from (f"   - {line}" for line in step["by_hand"])
    yield ""
