"""Files beside a switch's complete file: a patch, a rollback, and the removals that ``config load`` leaves undone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.formats.device_files.deployment import (
    LISTED_DELETES,
    PlannedFile,
    UpdatePlan,
    patch_deployment,
    rollback_deployment,
)
from lossless.formats.sonic.capabilities.updater_verdict import release_of, update
from lossless.formats.sonic.changes.json_patch import REFERRED, operations, patch_text
from lossless.ground.basics.wording import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lossless.formats.device_files.deployment import Extra
    from lossless.formats.sonic.capabilities.updater_verdict import Update, UpdateRefusal
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Switch

Tables = dict[str, Any]


def extra_files(
    switch: Switch, base: Document, content: Tables, extras: Collection[Extra]
) -> tuple[list[PlannedFile], UpdatePlan | None]:
    """Return the requested files beside the complete one, and the update plan of the switch."""
    files: list[PlannedFile] = []
    plan = None
    if "qos" in extras:
        text = json.dumps(removals(base.data, content), indent=2, ensure_ascii=False) + "\n"
        files.append(PlannedFile(f"{switch.name}/qos-deletes.json", text, deployment=LISTED_DELETES))
    there = update_of(switch, base.data, content) if {"patch", "rollback"} & set(extras) else None
    if "patch" in extras and there is not None:
        plan = change_of(switch, there)
        if plan.how == "patch":
            text = patch_text(step.as_json() for step in there.operations)
            files.append(PlannedFile(f"{switch.name}/patch.json", text, deployment=patch_deployment(there)))
    if "rollback" in extras and there is not None:
        back = None if there.refusals else update_of(switch, content, base.data)
        deployment = rollback_deployment(back)
        files.append(PlannedFile(f"{switch.name}/rollback.json", base.text, deployment=deployment))
    return files, plan


def update_of(switch: Switch, running: Mapping[str, Any], target: Mapping[str, Any]) -> Update:
    """Return how a switch's running configuration becomes another, under the rules of its release and HWSKU."""
    meta = running.get("DEVICE_METADATA", {}).get("localhost", {})
    return update(
        running, target, release_of(running) or switch.release, str(meta.get("hwsku") or switch.hwsku_name)
    )


def change_of(switch: Switch, there: Update) -> UpdatePlan:
    """Return the method of an update, and the rows that need more than a patch."""
    if not there.operations:
        return UpdatePlan(switch.name, "nothing")
    if there.refusals:
        return UpdatePlan(switch.name, "reload", why=tuple(reasons(there.refusals)))
    return UpdatePlan(switch.name, "patch", there.ports_down, harms=there.harms)


def reasons(refusals: Sequence[UpdateRefusal]) -> Iterator[str]:
    """Yield one line a reason, with the rows that it holds for."""
    rows: dict[str, dict[str, None]] = {}
    for refusal in refusals:
        rows.setdefault(refusal.why, {})["|".join(refusal.path)] = None
    for why, places in rows.items():
        yield f"{listed(list(places))}: {why}"


def removals(running: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the commands that ``config load`` needs ``before`` and ``after`` it, as it removes nothing itself.

    Rows of ports go before: the removal of a range takes away the rows loaded for its numbers. Rows that others
    refer to go after, when no row refers to them any more.
    """
    commands: dict[str, list[str]] = {"before": [], "after": []}
    for step in operations(running, content):
        if step.op == "remove":
            when = "after" if step.path[0] in REFERRED and len(step.path) < 3 else "before"
            commands[when] += _commands(step.path, running)
    return commands


def _commands(path: tuple[str, ...], running: Mapping[str, Any]) -> Iterator[str]:
    """Yield the commands that remove a table, a row or a field; a list is kept under its field's name and an ``@``."""
    from shlex import quote

    table = running[path[0]]
    for row in path[1:2] or (tuple(table) if isinstance(table, dict) else ()):
        key = quote(f"{path[0]}|{row}")
        if len(path) < 3:
            yield f"sonic-db-cli CONFIG_DB DEL {key}"
        else:
            value = table[row][path[2]]
            yield f"sonic-db-cli CONFIG_DB HDEL {key} {quote(path[2] + '@' * isinstance(value, list))}"
