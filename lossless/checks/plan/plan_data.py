"""A plan as plain data, for reports and programs; the format has a version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossless.checks.plan.plan import HostGroup, Plan, PlannedBatch, PlanStep, SwitchGroup

VERSION = 1


def plan_data(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain data; switches are named once, by group."""
    return {
        "version": VERSION,
        "id": plan.id,
        "current": plan.current,
        "target": plan.target,
        "dscps_before": list(plan.sent),
        "dscps_after": list(plan.wanted),
        "states_evaluated": plan.evaluated,
        "states_represented": plan.represented,
        "notes": list(plan.notes),
        "groups": {name: list(devices) for name, devices in plan.groups.items()},
        "steps": [_step(step, plan) for step in plan.steps],
        "rollback": [[_step(step, plan) for step in steps] for steps in plan.rollback],
    }


def _step(step: PlanStep, plan: Plan) -> dict[str, Any]:
    return {
        "number": step.number,
        "kind": step.kind,
        "title": step.title,
        "dscps_in_use": list(step.in_use),
        "seconds": step.seconds,
        "interrupts": list(step.interrupts),
        "by_hand": list(step.by_hand),
        "switches": [_switches(group, plan) for group in step.switches],
        "hosts": [_hosts(group) for group in step.hosts],
    }


def _switches(group: SwitchGroup, plan: Plan) -> dict[str, Any]:
    """Return a group; its devices are named where the step has only some of them."""
    some = {} if plan.groups.get(group.name) == group.devices else {"devices": list(group.devices)}
    return {
        "group": group.name,
        **some,
        "drained": group.drained,
        "at_once": group.at_once,
        "batches": [_batch(batch) for batch in group.batches],
    }


def _batch(batch: PlannedBatch) -> dict[str, Any]:
    return {
        "how": batch.how,
        "titles": list(batch.titles),
        "why": batch.why,
        "ports_down": list(batch.ports_down),
        "moves": batch.moves,
        "operations": [operation.as_json() for operation in batch.operations],
        "before": batch.before,
        "after": batch.after,
    }


def _hosts(group: HostGroup) -> dict[str, Any]:
    return {"group": group.name, "hosts": list(group.hosts), "title": group.title}
