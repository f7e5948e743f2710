"""Every file by which a plan is carried out, step by step, with the rollback from after each step.

One copy serves all devices of a group: their changes are the same, and an inventory lists them.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from lossless.formats.device_files.deployment import PlannedFile
from lossless.formats.device_files.environment import render_template
from lossless.formats.device_files.hosts import below, planned
from lossless.formats.hosts.from_model.kubernetes import job_files
from lossless.formats.hosts.from_model.scripts import host_files
from lossless.output.render.plan.batches import CALL_S, KILL_AFTER_S, PAUSE_S, batch_files, batch_line
from lossless.output.render.plan.by_hand import drained_message
from lossless.output.render.plan.host_files import host_group_files, shell_limits, sums
from lossless.output.render.plan.names import GroupNames
from lossless.output.render.plan.playbooks import StepPlace, flags, inventory_text, playbook_text
from lossless.output.render.plan.session_files import session_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.plan.plan import FileGroup, HostGroup, Plan, PlannedSwitches, PlanStep

_SHARED = {
    "rows.py": "rows.py",
    "tasks/switch.yml": "tasks/switch.yml.j2",
    "tasks/host.yml": "tasks/host.yml.j2",
}
"""Files that every plan of a fabric has as they are, and their templates."""
_SHARED_BY_HOSTS = {"tasks/device.yml": "tasks/switch.yml.j2"}
"""The same of a subnet."""
_SCRIPTS = {"run.sh": "0755", "rows.py": "0644"}


def plan_run_files(plan: Plan) -> Iterator[PlannedFile]:
    """Yield the files by which a plan is carried out, and by which each of its steps is rolled back.

    Raises:
        RenderError: a name cannot be that of a file or of a device in an inventory, or hosts cannot be set as planned.
    """
    names = GroupNames(plan)
    shared = tuple(_shared_files(plan))
    yield from shared
    yield PlannedFile("inventory.yml", inventory_text(plan, names))
    for step, place in _places(plan):
        yield from _step_files(plan, step, place, names, shared)


def _shared_files(plan: Plan) -> Iterator[PlannedFile]:
    if plan.transport == "infiniband":
        text = render_template("plan/host.sh.j2", {"plan": plan, "limits": shell_limits()})
        yield PlannedFile("run.sh", text, executable=True)
        yield from _as_they_are(_SHARED_BY_HOSTS, {"run.sh": "0755"})
        return
    limits = {"call_s": CALL_S, "kill_after_s": KILL_AFTER_S, "pause_s": PAUSE_S}
    text = render_template("plan/run.sh.j2", {"plan": plan, "limits": limits})
    yield PlannedFile("run.sh", text, executable=True)
    yield from _as_they_are(_SHARED, _SCRIPTS)


def _as_they_are(shared: Mapping[str, str], scripts: Mapping[str, str]) -> Iterator[PlannedFile]:
    for name, template in shared.items():
        yield PlannedFile(name, render_template(f"plan/{template}", {"scripts": scripts}))


def _places(plan: Plan) -> Iterator[tuple[PlanStep, StepPlace]]:
    """Yield each step with its folder; a rollback begins with a first step of its own."""
    for step in plan.steps:
        yield step, StepPlace(f"step-{step.number:02}", f"Step {step.number} of {len(plan.steps)}")
    for after, back in zip(plan.steps, plan.rollback, strict=True):
        for step in back:
            folder = f"rollback-from-{after.number:02}/step-{step.number:02}"
            yield (
                step,
                StepPlace(folder, f"Rollback from step {after.number}, step {step.number} of {len(back)}"),
            )


def _run(step: PlanStep) -> PlanStep:
    """Return a step without the switches that people replace, upgrade or give a session: no playbook does that."""
    others = ("by hand", "session")
    return step._replace(
        switches=tuple(
            group for group in step.switches if any(batch.how not in others for batch in group.batches)
        )
    )


def _step_files(
    plan: Plan, whole: PlanStep, place: StepPlace, names: GroupNames, shared: Sequence[PlannedFile]
) -> Iterator[PlannedFile]:
    step = _run(whole)
    called = f"{plan.id}-{place.folder.replace('/', '-')}"
    sessions = {
        names.of_switches(group): tuple(session_files(group, called))
        for group in whole.switches
        if any(batch.session is not None for batch in group.batches)
    }
    groups = {names.of_switches(group): tuple(_switch_files(step, group)) for group in step.switches}
    groups |= {names.of_hosts(group): tuple(_host_files(group)) for group in step.hosts}
    groups |= {names.of_files(group): tuple(_given_files(group)) for group in step.files}
    inside = {name: tuple(below(name, files)) for name, files in (groups | sessions).items()}
    playbook = PlannedFile("playbook.yml", playbook_text(plan, step, place, names, inside))
    files = (playbook, *(file for group in inside.values() for file in group))
    manifest = _manifest(plan, whole, place, names, files, shared)
    yield from below(place.folder, (PlannedFile("manifest.json", manifest), *files))


def _switch_files(step: PlanStep, group: PlannedSwitches) -> Iterator[PlannedFile]:
    """Yield the files of a group of switches, and the checksums by which ``run.sh`` verifies that all have arrived."""
    numbers = [f"{number:02}" for number in range(1, len(group.batches) + 1)]
    named = {
        "batches": "".join(f"{batch_line(*pair)}\n" for pair in zip(numbers, group.batches, strict=True))
    }
    for number, batch in zip(numbers, group.batches, strict=True):
        named |= dict(batch_files(number, batch))
    if group.drained:
        named["drained"] = drained_message(step) + "\n"
    for name, text in (named | {"SHA256SUMS": sums(named)}).items():
        yield PlannedFile(name, text)


def _given_files(group: FileGroup) -> Iterator[PlannedFile]:
    named = dict(host_group_files(group))
    for name, text in (named | {"SHA256SUMS": sums(named)}).items():
        yield PlannedFile(name, text)


def _host_files(group: HostGroup) -> Iterator[PlannedFile]:
    yield from planned((*host_files(group.qos), *job_files(group.qos)))


def _manifest(
    plan: Plan,
    step: PlanStep,
    place: StepPlace,
    names: GroupNames,
    files: Iterable[PlannedFile],
    shared: Iterable[PlannedFile],
) -> str:
    said = {
        "plan": plan.id,
        "step": step.number,
        "folder": place.folder,
        "kind": step.kind,
        "title": step.title,
        "in_use": step.in_use,
        "seconds": step.seconds,
        "interrupts": step.interrupts,
        "by_hand": step.by_hand,
        "variables": flags(_run(step)),
        "switches": [_switches(group, names.of_switches(group)) for group in step.switches],
        "hosts": [
            {"group": names.of_hosts(group), "title": group.title, "devices": group.hosts}
            for group in step.hosts
        ],
        **_given(plan, step, names),
        "files": _sums(files),
        "shared_files": _sums(file._replace(path=f"{place.root}/{file.path}") for file in shared),
    }
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _given(plan: Plan, step: PlanStep, names: GroupNames) -> dict[str, Any]:
    """Return the groups that get files, of a subnet alone."""
    if plan.transport != "infiniband":
        return {}
    groups = [
        {
            "group": names.of_files(group),
            "devices": group.devices,
            "how": group.how,
            "targets": {file.name: file.target for file in group.files},
        }
        for group in step.files
    ]
    return {"given": groups}


def _switches(group: PlannedSwitches, name: str) -> dict[str, Any]:
    batches = [
        {"how": batch.how, "titles": batch.titles, "why": batch.why, "ports_down": batch.ports_down}
        for batch in group.batches
    ]
    return {
        "group": name,
        "devices": group.devices,
        "drained": group.drained,
        "at_once": group.at_once,
        "batches": batches,
    }


def _sums(files: Iterable[PlannedFile]) -> Mapping[str, str]:
    return {file.path: _sha256(file.text) for file in files}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
