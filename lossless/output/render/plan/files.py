"""Every file by which a plan is carried out, step by step, with the rollback from after each step.

All devices of a group share one copy: their changes are the same, and an inventory lists them.

Manual work of a step is confirmed by a variable: a playbook never waits for an answer. The playbook of a step and the
inventory of a plan are for ansible-core without any collection. An InfiniBand host gets its new files in a step, and
the settings of ``run.sh``; a configuration session has its commands, the commands to undo it, and their order.
"""

from __future__ import annotations

import hashlib
import json
import re
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any

from lossless.checks.plan.plan import CALL_S, leaves_no_trace, sha256
from lossless.formats.device_files.base_merge import HOST_FILES, PlannedFile
from lossless.formats.device_files.environment import render_template
from lossless.formats.device_files.hosts import below, files_of_host
from lossless.formats.hosts.from_model.scripts import RUN_LIMIT_S, SCRIPT, UNIT
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed
from lossless.model.fabric.infiniband.subnet import options
from lossless.output.render.plan.batches import (
    HOSTS,
    KILL_AFTER_S,
    PAUSE_S,
    SWITCHES,
    GroupNames,
    batch_files,
    batch_line,
    limits_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.plan.batches import StepKind
    from lossless.checks.plan.plan import FileGroup, HostGroup, Plan, PlannedSwitches, PlanStep
    from lossless.checks.plan.systems import PlannedSession


DRAINED = "drained"
_DONE = "by_hand_done"
_OF_KIND: dict[StepKind, str] = {
    "jobs": "jobs_restarted",
    "cables": "cables_changed",
    "stop": "jobs_stopped",
    "start": "jobs_started",
}


class Required(NamedTuple):
    """A variable of a playbook that must be set to go on, and the message if it is not.

    ``drained`` names devices, or groups of an inventory, and each device of a play must be among them. Others are yes.
    """

    variable: str
    message: str

    @property
    def option(self) -> str:
        """Return the option of ansible-playbook that sets the variable, with a placeholder for the names of devices."""
        return f"-e {self.variable}={'NAMES' if self.variable == DRAINED else 'yes'}"


def required(step: PlanStep, *, drained: bool) -> tuple[Required, ...]:
    """Return the confirmations required before devices of a step change; ``drained``: they carry no jobs meanwhile.

    That of the step before, which :func:`_confirmed` returns, is required beside them.
    """
    variables = [_OF_KIND[step.kind]] if step.kind in _OF_KIND else []
    variables += [DRAINED] if drained else []
    if step.by_hand and not variables and not step.drains:
        variables = [_DONE]
    return tuple(Required(variable, _message(step, variable)) for variable in variables)


def _confirmed(earlier: Sequence[PlanStep]) -> tuple[Required, ...]:
    """Return the confirmation of the last of earlier steps, if no device shows whether it is complete."""
    if not earlier or not leaves_no_trace(earlier[-1]):
        return ()
    last, variable = earlier[-1], f"step_{earlier[-1].number:02}_done"
    lines = (f"Step {last.number} comes first: {last.title}.", *(f"- {line}" for line in last.by_hand))
    asked = f"If it is complete, run the same command with -e {variable}=yes."
    return (Required(variable, "\n".join((*lines, asked))),)


def drained_message(step: PlanStep) -> str:
    """Return the message of ``run.sh`` on a switch that must be drained first."""
    return _told(step, "this switch must carry no jobs while it changes", "--drained")


def _message(step: PlanStep, variable: str) -> str:
    if variable == DRAINED:
        why = "each of these devices must carry no jobs while it changes; --limit takes some of them alone"
        names = "the devices that carry no jobs, joined by commas, or a group in which none does"
        return _told(step, why, f"-e {variable}=NAMES, {names}")
    why = {
        "jobs_restarted": "jobs that were started before this step must have ended or restarted",
        "cables_changed": "the cables must have been changed",
        "jobs_stopped": "all jobs must have been stopped",
        "jobs_started": "jobs can start again, and have to be started",
    }.get(variable, "this step has something that people do")
    return _told(step, why, f"-e {variable}=yes")


def _told(step: PlanStep, why: str, flag: str) -> str:
    lines = (f"Step {step.number}: {why}.", *(f"- {line}" for line in step.by_hand))
    return "\n".join((*lines, f"Then run the same command with {flag}."))


_SHARED = {
    "rows.py": "rows.py",
    "tasks/before.yml": "tasks/before.yml.j2",
    "tasks/switch-first.yml": "tasks/switch-first.yml.j2",
    "tasks/switch.yml": "tasks/switch.yml.j2",
    "tasks/host-first.yml": "tasks/host-first.yml.j2",
    "tasks/host.yml": "tasks/host.yml.j2",
}
"""The files beside ``run.sh`` that the steps of a plan of an Ethernet fabric share, each with its template."""
_SHARED_BY_HOSTS = {
    "tasks/before.yml": "tasks/before.yml.j2",
    "tasks/device-first.yml": "tasks/switch-first.yml.j2",
    "tasks/device.yml": "tasks/switch.yml.j2",
}
"""The files beside ``run.sh`` that the steps of a plan of an InfiniBand subnet share, each with its template."""
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
    for step, place, earlier in _places(plan):
        yield from _step_files(plan, step, place, earlier, names, shared)


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


Earlier = tuple[tuple["PlanStep", "StepPlace"], ...]
"""The steps before one of a plan, or of a rollback, each with its folder."""


def _places(plan: Plan) -> Iterator[tuple[PlanStep, StepPlace, Earlier]]:
    """Yield each step of a plan and of its rollbacks with its folder and those before it.

    The steps of a rollback count from 1.
    """
    placed = tuple(
        (step, StepPlace(f"step-{step.number:02}", f"Step {step.number} of {len(plan.steps)}"))
        for step in plan.steps
    )
    yield from ((*each, placed[:number]) for number, each in enumerate(placed))
    for after, back in zip(plan.steps, plan.rollback, strict=True):
        placed = tuple((step, _place_back(after, step, len(back))) for step in back)
        yield from ((*each, placed[:number]) for number, each in enumerate(placed))


def _place_back(after: PlanStep, step: PlanStep, steps: int) -> StepPlace:
    folder = f"rollback-from-{after.number:02}/step-{step.number:02}"
    return StepPlace(folder, f"Rollback from step {after.number}, step {step.number} of {steps}")


def _run(step: PlanStep) -> PlanStep:
    """Return a step without switches that change by hand or by a session alone: no playbook changes these."""
    others = ("by hand", "session")
    return step._replace(
        switches=tuple(
            group for group in step.switches if any(batch.how not in others for batch in group.batches)
        )
    )


def _step_files(
    plan: Plan,
    whole: PlanStep,
    place: StepPlace,
    earlier: Earlier,
    names: GroupNames,
    shared: Sequence[PlannedFile],
) -> Iterator[PlannedFile]:
    step = _run(whole)
    called = f"{plan.id}-{place.folder.replace('/', '-')}"
    sessions = {
        names.of_switches(group): tuple(session_files(group, called))
        for group in whole.switches
        if any(batch.session is not None for batch in group.batches)
    }
    groups = {names.of_switches(group): tuple(_switch_files(step, group)) for group in step.switches}
    groups |= {names.of_hosts(group): tuple(files_of_host(group.hosts[0], group.qos)) for group in step.hosts}
    groups |= {names.of_files(group): tuple(_given_files(group)) for group in step.files}
    inside = {name: tuple(below(name, files)) for name, files in (groups | sessions).items()}
    playbook = PlannedFile("playbook.yml", playbook_text(plan, step, place, earlier, names, inside))
    files = (playbook, *(file for group in inside.values() for file in group))
    manifest = _manifest(plan, whole, place, earlier, names, files, shared)
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


def _manifest(
    plan: Plan,
    step: PlanStep,
    place: StepPlace,
    earlier: Earlier,
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
        "seconds": step.time.most_s,
        "seconds_at_least": step.time.least_s,
        "interrupts": step.interrupts,
        "by_hand": step.by_hand,
        "variables": [each.variable for each in asked_for(_run(step), [each for each, _ in earlier])],
        "switches": [_switches(group, names.of_switches(group)) for group in step.switches],
        "hosts": [
            {
                "group": names.of_hosts(group),
                "title": group.title,
                "devices": group.hosts,
                "links_down": group.links_down,
                "drained": group.drained,
                "at_once": group.at_once,
            }
            for group in step.hosts
        ],
        **_given(plan, step, names),
        "files": _sums(files),
        "shared_files": _sums(file._replace(path=f"{place.root}/{file.path}") for file in shared),
    }
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _given(plan: Plan, step: PlanStep, names: GroupNames) -> dict[str, Any]:
    """Return the groups of hosts that get files, for the manifest of a subnet's step; empty for an Ethernet fabric."""
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
    return {file.path: hashlib.sha256(file.text.encode()).hexdigest() for file in files}


SERVICE_S = 120
"""The time limit in seconds of stopping or starting opensm: by default systemd kills a stopping service after 90 s."""
STATE_S = 300
"""The time limit in seconds until the manager is in the expected state, and has swept the subnet. A choice: a thousand
hosts take a second in a simulation; a standby waits a minute before it takes over, by default."""
LIMIT_S = 4 * SERVICE_S + 2 * STATE_S + 120
"""The time limit in seconds of a group: the change, and its rollback."""
FOLDER = "/etc/lossless/plan"
"""The folder of the files of plans on a host."""
NONE = "-"


def shell_limits() -> dict[str, object]:
    """Return the time limits and secret keys with which the script is rendered."""
    keys = "|".join(key for key, known in options().items() if known.secret)
    return {"service_s": SERVICE_S, "state_s": STATE_S, "keys": keys}


def host_group_files(group: FileGroup) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the files of a group: ``settings`` and ``files`` are read by ``run.sh``.

    A file without a target on a host (variables of a job) is beside them and is not installed.
    """
    expects, leaves = group.states or (NONE, NONE)
    yield "settings", f"{group.how} {expects} {leaves} {group.device or NONE} {group.log or NONE}\n"
    placed = [file for file in group.files if file.target.startswith("/")]
    lines = [f"{sha256(f.before) or NONE} {sha256(f.after) or NONE} {f.target} {f.name}\n" for f in placed]
    yield "files", "".join(lines)
    for file in group.files:
        if file.after is not None:
            yield file.name, file.after


def sums(named: dict[str, str]) -> str:
    """Return the text of SHA256SUMS, by which ``run.sh`` verifies that all files have arrived."""
    return "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in named.items())


SWITCH_FOLDER = "/etc/sonic/lossless-plan"
"""The folder of the files of plans on a switch."""
_HOST_FOLDER = "/etc/lossless/plan"
_LOCK = "/run/lossless-plan.lock"
_WIDTH = 100
_BUSY = 75
"""Exit status of flock where another run holds the lock: EX_TEMPFAIL of sysexits.h."""


class StepPlace(NamedTuple):
    """The folder of a step below the output folder, and the beginning of its title: ``Step 2 of 5``."""

    folder: str
    called: str

    @property
    def root(self) -> str:
        """Return the path from the step's folder to the output folder."""
        return "/".join(".." for _ in self.folder.split("/"))


def inventory_text(plan: Plan, names: GroupNames) -> str:
    """Return the inventory that all playbooks of a plan share."""
    groups = {SWITCHES: names.switches, HOSTS: names.hosts}
    return render_template("plan/inventory.yml.j2", {"plan": plan, "groups": groups, "others": names.others})


def playbook_text(
    plan: Plan,
    step: PlanStep,
    place: StepPlace,
    earlier: Earlier,
    names: GroupNames,
    files: Mapping[str, Sequence[PlannedFile]],
) -> str:
    """Return the playbook of a step; ``files`` are those of each group of devices, by its name.

    First each device that an earlier playbook changes is asked whether that step is complete, then each device of this
    step whether it can be carried out; only then the first one changes.
    """
    told = [each for each, _ in earlier]
    before = _confirmed(told)
    needed = (*before, *required(step, drained=False))
    groups = [
        *(
            _switch_play(plan, step, place, group, names.of_switches(group), before)
            for group in step.switches
        ),
        *(
            _host_play(
                plan, place, group, name, files[name], (*before, *required(step, drained=group.drained))
            )
            for group, name in _hosts(step, names)
        ),
        *(_file_play(plan, place, group, names.of_files(group), needed) for group in step.files),
    ]
    plays = [*_order_play(plan, step, place, earlier, names), *map(_first, groups), *map(_then, groups)]
    context = {
        "plan": plan,
        "step": step,
        "place": place,
        "by_people": not groups,
        "title": shorten(plain(step.title), _WIDTH, placeholder=" ..."),
        "options": [each.option for each in asked_for(step, told)],
        "plays": plays,
        "by_hand": _asserted(needed),
    }
    return render_template("plan/playbook.yml.j2", context)


def _first(play: Mapping[str, Any]) -> dict[str, Any]:
    """Return the play in which all devices of a group get their files, and check themselves."""
    title, tasks = f"{play['title']}: check", play["tasks"].replace(".yml", "-first.yml")
    return {**play, "title": title, "serial": "100%", "tasks": tasks, "task": "Check what can be checked"}


def _then(play: Mapping[str, Any]) -> dict[str, Any]:
    """Return the play in which the devices of a group change; manual tasks were asked for in the play before."""
    return {**play, "by_hand": [], "task": "Carry out the step"}


def _order_play(
    plan: Plan, step: PlanStep, place: StepPlace, earlier: Earlier, names: GroupNames
) -> Iterator[dict[str, Any]]:
    """Yield the play that requires earlier steps to be complete: for each device the last one that changes it."""
    before = [
        {"group": name, "how": how, "step": folder.folder, "folder": root}
        for each, folder in reversed(earlier)
        for name, how, root in _devices_of(plan, _run(each), names)
    ]
    if before:
        yield {
            "title": f"{place.called}: the steps before are complete",
            "hosts": f"{SWITCHES}:{HOSTS}",
            "serial": "100%",
            "by_hand": [],
            "task": "Ask for the steps before",
            "tasks": f"{place.root}/tasks/before.yml",
            "vars": {
                "lossless_before": before,
                "lossless_step": place.folder,
                "lossless_groups": [name for name, _, _ in _devices_of(plan, step, names)],
                "lossless_limit_s": RUN_LIMIT_S + CALL_S,
            },
        }


def _devices_of(plan: Plan, step: PlanStep, names: GroupNames) -> Iterator[tuple[str, str, str]]:
    """Yield each group of a step with its kind for tasks/before.yml, and the folder of the plan on its devices."""
    for switches in step.switches:
        yield names.of_switches(switches), "switch", f"{SWITCH_FOLDER}/{plan.id}"
    for hosts in step.hosts:
        yield names.of_hosts(hosts), "host", f"{_HOST_FOLDER}/{plan.id}"
    for files in step.files:
        yield names.of_files(files), "switch", f"{FOLDER}/{plan.id}"


def asked_for(step: PlanStep, earlier: Sequence[PlanStep]) -> tuple[Required, ...]:
    """Return the confirmations without which the playbook of a step changes nothing."""
    return (*_confirmed(earlier), *required(step, drained=step.drains))


def plain(text: str) -> str:
    """Return a text on one line in which Ansible finds no template."""
    return " ".join(re.sub(r"{(?=[{%#])", "{ ", text).split())


def _hosts(step: PlanStep, names: GroupNames) -> list[tuple[HostGroup, str]]:
    return [(group, names.of_hosts(group)) for group in step.hosts]


_CANARY = ("{{ lossless_canary | default(1) }}", "{{ lossless_serial | default('100%') }}")
"""The devices of a play that change at first, and those that change at the same time after them, as Ansible's serial.

Any part of a step is safe without the others, but what a chip or a NIC does to packets meanwhile is not known.
"""


def _switch_play(
    plan: Plan,
    step: PlanStep,
    place: StepPlace,
    group: PlannedSwitches,
    name: str,
    before: tuple[Required, ...],
) -> dict[str, Any]:
    titles = plain(", ".join(dict.fromkeys(title for batch in group.batches for title in batch.titles)))
    return {
        "title": shorten(f"{place.called}, {name}: {titles}", _WIDTH, placeholder=" ..."),
        "hosts": name,
        "serial": _CANARY if group.at_once is None else group.at_once,
        "by_hand": _asserted((*before, *required(step, drained=group.drained))),
        "tasks": f"{place.root}/tasks/switch.yml",
        "vars": {
            "lossless_plan_files": f"{{{{ playbook_dir }}}}/{place.root}",
            "lossless_folder": f"{SWITCH_FOLDER}/{plan.id}",
            "lossless_step": place.folder,
            "lossless_group": name,
            "lossless_flags": ["--drained"] if group.drained else [],
            "lossless_limit_s": 2 * CALL_S + sum(limits_of(batch).all_s for batch in group.batches),
        },
    }


def _host_play(
    plan: Plan,
    place: StepPlace,
    group: HostGroup,
    name: str,
    files: Sequence[PlannedFile],
    needed: Sequence[Required],
) -> dict[str, Any]:
    folder = f"{_HOST_FOLDER}/{plan.id}"
    script = f"{{{{ lossless_root | default('') }}}}{folder}/{place.folder}/{SCRIPT}"
    lock = f"{{{{ lossless_root | default('') }}}}{_LOCK}"
    return {
        "title": shorten(f"{place.called}, {name}: {plain(group.title)}", _WIDTH, placeholder=" ..."),
        "hosts": name,
        "serial": _CANARY if group.at_once is None else group.at_once,
        "by_hand": _asserted(needed),
        "tasks": f"{place.root}/tasks/host.yml",
        "vars": {
            "lossless_folder": folder,
            "lossless_step": place.folder,
            "lossless_group": name,
            "lossless_lock": ["flock", "--nonblock", "--conflict-exit-code", str(_BUSY), lock],
            "lossless_script": script,
            "lossless_limit_s": RUN_LIMIT_S + CALL_S,
            "lossless_has_unit": any(file.path.endswith(f"/{UNIT}") for file in files),
            "lossless_files": [_installed(file) for file in files],
        },
    }


def _file_play(
    plan: Plan, place: StepPlace, group: FileGroup, name: str, needed: Sequence[Required]
) -> dict[str, Any]:
    """Return the Ansible play of a group of hosts that get files; a subnet manager has a group and play of its own."""
    said = listed([file.name for file in group.files])
    return {
        "title": shorten(f"{place.called}, {name}: {said}", _WIDTH, placeholder=" ..."),
        "hosts": name,
        "serial": "100%",
        "by_hand": _asserted(needed),
        "tasks": f"{place.root}/tasks/device.yml",
        "vars": {
            "lossless_plan_files": f"{{{{ playbook_dir }}}}/{place.root}",
            "lossless_folder": f"{FOLDER}/{plan.id}",
            "lossless_step": place.folder,
            "lossless_group": name,
            "lossless_flags": [],
            "lossless_limit_s": LIMIT_S,
        },
    }


def _installed(file: PlannedFile) -> dict[str, str]:
    name = file.path.rpartition("/")[2]
    return {"name": name, "target": HOST_FILES[name].target, "mode": "0755" if file.executable else "0644"}


_UNNAMED = {
    "lossless_named": f"{{{{ [{DRAINED} | default('')] | flatten | map('string') | map('split', ',') | flatten }}}}",
    "lossless_groups_named": "{{ lossless_named | select('in', groups) | map('extract', groups) | flatten }}",
    "lossless_unnamed": "{{ ansible_play_hosts_all | reject('in', lossless_named + lossless_groups_named) }}",
}
"""Ansible's variables for the devices of a play that ``drained`` does not name: text with commas, or a list of a file.

Names are those of devices, and of groups of any inventory that is given.
"""


class _Assertion(NamedTuple):
    """A task of a play that fails, with the lines of a message, unless a condition of Ansible is true."""

    that: str
    message: tuple[str, ...]
    variables: Mapping[str, str] = {}


def _asserted(needed: Sequence[Required]) -> list[_Assertion]:
    """Return the assertions of confirmations; ``--check`` needs none, but names that it is given must be complete."""
    return [
        _Assertion(
            f"(ansible_check_mode and {DRAINED} is undefined) or lossless_unnamed | length == 0",
            (*_wrapped(each.message), "Not named: {{ lossless_unnamed | join(', ') }}"),
            _UNNAMED,
        )
        if each.variable == DRAINED
        else _Assertion(f"{each.variable} | default(ansible_check_mode) | bool", _wrapped(each.message))
        for each in needed
    ]


def _wrapped(message: str) -> tuple[str, ...]:
    lines = message.splitlines()
    return tuple(part for line in lines for part in wrap(plain(line), _WIDTH, subsequent_indent="  "))


_HEADINGS = {
    "begin": "Begin",
    "commands": "Enter",
    "commit": "Commit",
    "check": "Check",
    "confirm": "Confirm, if the check shows what is expected",
    "back": "Go back, if it does not",
}
_UNDO = "undo"


def session_files(group: PlannedSwitches, called: str) -> Iterator[PlannedFile]:
    """Yield the files of the configuration sessions of a group of switches; ``called`` is a part of session names."""
    for number, batch in enumerate(group.batches, 1):
        if batch.session is not None:
            session, prefix = batch.session, f"{number:02}-"
            yield PlannedFile(f"{prefix}{session.file}", _lines(session.commands))
            yield PlannedFile(f"{prefix}{_UNDO}-{session.file}", _lines(session.undo))
            steps = "\n".join(_steps(session, prefix, f"lossless-{called}-{number:02}"))
            yield PlannedFile(f"{prefix}session.txt", steps + "\n")


def _lines(commands: tuple[str, ...]) -> str:
    return "".join(f"{command}\n" for command in commands)


def _steps(session: PlannedSession, prefix: str, name: str) -> Iterator[str]:
    """Yield the lines of session.txt: the commands to run on a switch, in order, and notes."""
    for part, heading in _HEADINGS.items():
        yield f"{heading}:"
        for command in session.runs[part]:
            yield f"  {command.format(name=name).replace(session.file, prefix + session.file)}"
    yield "Expected of the check: what the commands set is there, and what they take away is not"
    yield f"Go back later: the same with {prefix}{_UNDO}-{session.file}"
    yield f"Meanwhile: {session.why}"
