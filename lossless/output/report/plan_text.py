"""A plan as text: how many steps, each with what it changes, interrupts and leaves to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.foreign_text import spelled_out
from lossless.ground.basics.wording import listed
from lossless.output.report.columns import cut, wrapped
from lossless.output.report.text_style import PLAIN, TextStyle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Data = Mapping[str, Any]
    """A plan as plain data, as plan.json has it."""

_MINUTE_S = 60
_TABLE_WORDS = ("new rows of ", "unused rows of ", "values of ", "old rows of ")


def plan_text(data: Data, style: TextStyle = PLAIN) -> str:
    """Return a plan for a terminal."""
    named = spelled_out({key: value for key, value in data.items() if key not in ("groups", "rollback")})
    shown = {**data, **named}
    return "\n\n".join([_head(shown, style), *(_step(step, shown, style) for step in shown["steps"])])


def headline(data: Data) -> str:
    """Return how many steps a plan has, and what it leads to."""
    steps = len(data["steps"])
    if not steps:
        return f"nothing to change: the {_whole(data)} is what the target declares"
    return f"{steps} step{'' if steps == 1 else 's'} from {data['current']} to {data['target']}"


def evaluated(data: Data) -> str:
    """Return how many states were looked at, and for how many they stand."""
    number, whole = data["states_represented"], _whole(data)
    return f"{data['states_evaluated']:,} states were evaluated; they stand for {number} of the whole {whole}, all safe"


def _whole(data: Data) -> str:
    return "subnet" if data.get("transport") == "infiniband" else "fabric"


def in_use(step: Data, *, short: bool = False) -> str:
    """Return which classes jobs send in during a step, as part of a sentence; ``short``: where there is little room."""
    levels = step.get("service_levels_in_use")
    numbers = ", ".join(map(str, levels if levels is not None else step["dscps_in_use"]))
    if levels is not None:
        return f"jobs use SL {numbers}" if numbers else "no job runs"
    if numbers:
        return f"jobs send DSCP {numbers}"
    return "no lossless class" if short else "no lossless class is in use"


def duration(seconds: int) -> str:
    """Return a time at most as people say it."""
    if not seconds:
        return "-"
    return f"{seconds} s" if seconds < 2 * _MINUTE_S else f"{-(-seconds // _MINUTE_S)} min"


def devices_of(group: Data, data: Data) -> Sequence[str]:
    """Return the switches of a group in a step."""
    devices: Sequence[str] = group.get("devices", data["groups"][group["group"]])
    return devices


def group_lines(step: Data, data: Data) -> Iterator[str]:
    """Yield what each group does in a step."""
    for group in step["switches"]:
        count = len(devices_of(group, data))
        pace = f", {group['at_once']} at a time" if group["at_once"] else ""
        batches = "; then ".join(f"{batch['how']}: {spoken(batch['titles'])}" for batch in group["batches"])
        yield f"{group['group']} ({count:,} switch{'' if count == 1 else 'es'}{pace}): {batches}"
    for group in step["hosts"]:
        yield f"{group['group']} ({len(group['hosts']):,}): {group['title']}"
    for group in step.get("files", ()):
        yield _files_line(group)


_TAKEN = {"hup": "SIGHUP", "restart": "restart", "nothing": "no restart"}


def _files_line(group: Data) -> str:
    count = "" if len(group["devices"]) == 1 else f" ({len(group['devices']):,})"
    why = f" ({'; '.join(group['why'])})" if group["why"] else ""
    return f"{group['group']}{count}: {taken(group)}{why}"


def taken(group: Data) -> str:
    """Return which files a group gets, and what brings them into force."""
    return f"{', '.join(map(_changed, group['files']))}: {_TAKEN[group['how']]}"


def _changed(file: Data) -> str:
    if not file["after"]:
        return f"{file['name']} goes"
    keys = f" ({listed(file['keys'], 6)})" if file["keys"] else ""
    return f"{file['name']}{keys}"


def spoken(titles: Sequence[str]) -> str:
    """Return what a batch changes, tables of which the same is said together."""
    tables: dict[str, list[str]] = {}
    for title in titles:
        said = next((words for words in _TABLE_WORDS if title.startswith(words)), "")
        tables.setdefault(said or title, []).append(title.removeprefix(said) if said else "")
    return ", ".join(words + ", ".join(filter(None, names)) for words, names in tables.items())


def progress_lines(reached: Sequence[Any], missing: Sequence[str], steps: int) -> Iterator[str]:
    """Yield how far switches are in a plan, those that are as far together."""
    together: dict[tuple[Any, ...], list[str]] = {}
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


def _head(data: Data, style: TextStyle) -> str:
    lines = [headline(data), *([evaluated(data), *data["notes"]] if data["steps"] else [])]
    return "\n".join(wrapped(line, style) for line in lines)


def _step(step: Data, data: Data, style: TextStyle) -> str:
    time = f", {duration(step['seconds'])} at most" if step["seconds"] else ""
    named = step["title"] if step["kind"] != "change" else "configurations change"
    lines = [f"{step['number']}. {named}; {in_use(step)}{time}"]
    below = [*group_lines(step, data), *step["by_hand"], *dict.fromkeys(step["interrupts"])]
    return "\n".join([*lines, *cut([wrapped(line, style, "   ") for line in below], style, "   ")])
