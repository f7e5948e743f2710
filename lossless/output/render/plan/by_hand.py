"""Manual work of a step, and the variable that confirms it: a playbook never waits for an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.checks.plan.batches import StepKind
    from lossless.checks.plan.plan import PlanStep

DRAINED = "drained"
_DONE = "by_hand_done"
_OF_KIND: dict[StepKind, str] = {
    "jobs": "jobs_restarted",
    "cables": "cables_changed",
    "stop": "jobs_stopped",
    "start": "jobs_started",
}


class Required(NamedTuple):
    """A variable that must be set to go on, and the message if it is not."""

    variable: str
    message: str


def required(step: PlanStep, *, drained: bool) -> tuple[Required, ...]:
    """Return the confirmations required before devices of a step change; ``drained``: they carry no jobs meanwhile."""
    variables = [_OF_KIND[step.kind]] if step.kind in _OF_KIND else []
    variables += [DRAINED] if drained else []
    if step.by_hand and not variables and not any(group.drained for group in step.switches):
        variables = [_DONE]
    return tuple(Required(variable, _message(step, variable)) for variable in variables)


def drained_message(step: PlanStep) -> str:
    """Return the message of ``run.sh`` on a switch that has to be drained first."""
    return _told(step, "this switch must carry no jobs while it changes", "--drained")


def _message(step: PlanStep, variable: str) -> str:
    why = {
        DRAINED: "these switches must carry no jobs while they change; --limit takes some of them alone",
        "jobs_restarted": "jobs that were started before this step must have ended or restarted",
        "cables_changed": "the cables must have been changed",
        "jobs_stopped": "all jobs must have been stopped",
        "jobs_started": "jobs can start again, and have to be started",
    }.get(variable, "this step has something that people do")
    return _told(step, why, f"-e {variable}=yes")


def _told(step: PlanStep, why: str, flag: str) -> str:
    lines = (f"Step {step.number}: {why}.", *(f"- {line}" for line in step.by_hand))
    return "\n".join((*lines, f"Then run the same command with {flag}."))
