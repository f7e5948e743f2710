"""The playbook of a step and the inventory of a plan, for ansible-core without any collection."""

from __future__ import annotations

import re
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any

from lossless.formats.device_files.deployment import HOST_FILES
from lossless.formats.device_files.environment import render_template
from lossless.formats.hosts.from_model.scripts import RUN_LIMIT_S, SCRIPT, UNIT
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import listed
from lossless.output.render.plan.batches import CALL_S, limits_of
from lossless.output.render.plan.by_hand import Required, required
from lossless.output.render.plan.host_files import FOLDER, LIMIT_S
from lossless.output.render.plan.names import HOSTS, SWITCHES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.checks.plan.plan import FileGroup, HostGroup, Plan, PlannedSwitches, PlanStep
    from lossless.formats.device_files.deployment import PlannedFile
    from lossless.output.render.plan.names import GroupNames

SWITCH_FOLDER = "/etc/sonic/lossless-plan"
"""Where a switch has the files of plans."""
_HOST_FOLDER = "/etc/lossless/plan"
_LOCK = "/run/lossless-plan.lock"
_WIDTH = 100
_BUSY = 75
"""Exit status of flock where another run holds the lock: EX_TEMPFAIL of sysexits.h."""


class StepPlace(NamedTuple):
    """Where a step lies below the output folder, and how its title begins: ``Step 2 of 5``."""

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
    names: GroupNames,
    files: Mapping[str, Sequence[PlannedFile]],
) -> str:
    """Return the playbook of a step; ``files`` are those of each group of hosts, by its name."""
    needed = required(step, drained=False)
    plays = [
        *(_switch_play(plan, step, place, group, names.of_switches(group)) for group in step.switches),
        *(
            _host_play(plan, place, group.title, name, files[name], needed)
            for group, name in _hosts(step, names)
        ),
        *(_file_play(plan, place, group, names.of_files(group), needed) for group in step.files),
    ]
    context = {
        "plan": plan,
        "step": step,
        "place": place,
        "title": shorten(plain(step.title), _WIDTH, placeholder=" ..."),
        "flags": flags(step),
        "plays": plays,
        "by_hand": _asserted(needed),
    }
    return render_template("plan/playbook.yml.j2", context)


def flags(step: PlanStep) -> tuple[str, ...]:
    """Return the variables that a step requires."""
    drained = any(group.drained for group in step.switches)
    return tuple(each.variable for each in required(step, drained=drained))


def plain(text: str) -> str:
    """Return a text in one line that Ansible takes for no template."""
    return " ".join(re.sub(r"{(?=[{%#])", "{ ", text).split())


def _hosts(step: PlanStep, names: GroupNames) -> list[tuple[HostGroup, str]]:
    return [(group, names.of_hosts(group)) for group in step.hosts]


def _switch_play(
    plan: Plan, step: PlanStep, place: StepPlace, group: PlannedSwitches, name: str
) -> dict[str, Any]:
    titles = plain(", ".join(dict.fromkeys(title for batch in group.batches for title in batch.titles)))
    return {
        "title": shorten(f"{place.called}, {name}: {titles}", _WIDTH, placeholder=" ..."),
        "hosts": name,
        "serial": "100%" if group.at_once is None else group.at_once,
        "by_hand": _asserted(required(step, drained=group.drained)),
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
    title: str,
    name: str,
    files: Sequence[PlannedFile],
    needed: Sequence[Required],
) -> dict[str, Any]:
    folder = f"{_HOST_FOLDER}/{plan.id}/{place.folder}"
    script = f"{{{{ lossless_root | default('') }}}}{folder}/{SCRIPT}"
    lock = f"{{{{ lossless_root | default('') }}}}{_LOCK}"
    return {
        "title": shorten(f"{place.called}, {name}: {plain(title)}", _WIDTH, placeholder=" ..."),
        "hosts": name,
        "serial": "100%",
        "by_hand": _asserted(needed),
        "tasks": f"{place.root}/tasks/host.yml",
        "vars": {
            "lossless_folder": folder,
            "lossless_group": name,
            "lossless_command": ["flock", "--nonblock", "--conflict-exit-code", str(_BUSY), lock, script],
            "lossless_limit_s": RUN_LIMIT_S + CALL_S,
            "lossless_has_unit": any(file.path.endswith(f"/{UNIT}") for file in files),
            "lossless_files": [_installed(file) for file in files],
        },
    }


def _file_play(
    plan: Plan, place: StepPlace, group: FileGroup, name: str, needed: Sequence[Required]
) -> dict[str, Any]:
    """Return the play of hosts that get files: managers one after another, as each has a state of its own."""
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


def _asserted(needed: Sequence[Required]) -> list[dict[str, object]]:
    return [{"variable": each.variable, "message": _wrapped(each.message)} for each in needed]


def _wrapped(message: str) -> list[str]:
    return [
        part for line in message.splitlines() for part in wrap(plain(line), _WIDTH, subsequent_indent="  ")
    ]
