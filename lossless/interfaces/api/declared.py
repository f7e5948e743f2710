"""The workloads that an intent declares, as simulation requests for the packet-level model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.request import NamedQuestion, Question
from lossless.analysis.workloads.workload import Workload
from lossless.ground.basics.errors import LosslessError, ScenarioError
from lossless.ground.basics.wording import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.model.fabric.view import View
    from lossless.model.fabric.workloads import DeclaredWorkload


DEFAULT = NamedQuestion("incast", Question(nics=17))
"""The traffic of an intent that declares none: 16 NIC ports send to one, as in most guides."""


def declared_questions(view: View, names: Sequence[str] = ()) -> tuple[NamedQuestion, ...]:
    """Return the questions of the workloads of a fabric, or of those that are named; without any, :data:`DEFAULT`.

    Raises:
        ScenarioError: a workload that is named is not declared.
    """
    declared = {workload.name: workload for workload in view.fabric.workloads}
    for name in names:
        if name not in declared:
            known = suggestion(name, list(declared)) if declared else ": the intent declares none"
            raise ScenarioError(f"--workload: no workload is called {name!r}{known}")
    if not declared:
        return (DEFAULT,)
    wanted = [declared[name] for name in dict.fromkeys(names)] or list(declared.values())
    return tuple(question for workload in wanted for question in _questions(view, workload))


def _questions(view: View, workload: DeclaredWorkload) -> Iterator[NamedQuestion]:
    if workload.pattern is not None:
        size_bytes = workload.size_bytes or Question().size_bytes
        asked = Question(pattern=workload.pattern, nics=workload.nics, storage=workload.storage)
        yield NamedQuestion(workload.name, _placed(asked._replace(size_bytes=size_bytes), workload))
        return
    try:
        yield from _collective(view, workload)
    except LosslessError as error:
        yield NamedQuestion(workload.name, None, not_run=str(error))


def _placed(question: Question, workload: DeclaredWorkload) -> Question:
    return question._replace(
        target=workload.target,
        traffic_class=workload.class_name or question.traffic_class,
        failed=workload.failed,
        dead_nic=workload.dead_nic,
        slow_nic_bps=workload.slow_nic_bps,
    )


def _collective(view: View, workload: DeclaredWorkload) -> Iterator[NamedQuestion]:
    from lossless.analysis.workloads.placement import estimate
    from lossless.analysis.workloads.verdict import workload_questions

    asked = Workload(
        collective=workload.collective or Workload().collective,
        size_bytes=workload.size_bytes or Workload().size_bytes,
        algorithm=workload.algorithm,
        gpus=workload.gpus,
        sources=workload.sources,
    )
    for question, part in workload_questions(view, estimate(view.fabric, asked)):
        if isinstance(question, str):
            yield NamedQuestion(workload.name, None, not_run=question)
            continue
        name = workload.name if question.moves else f"{workload.name}, worst fan-in"
        yield NamedQuestion(name, _placed(question, workload), part)
