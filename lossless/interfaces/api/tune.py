"""Tune: thresholds chosen by the packet-level model for the workloads that an intent declares."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from lossless.analysis.simulation.question.request import Limits, TuneProgress
from lossless.analysis.simulation.study.settings import TrialSetting
from lossless.ground.basics.errors import InputError, LosslessError, Problem, ScenarioError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.interfaces.api.stated import INTENT_KEYS, SWEEP_INSTEAD, StatedThresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from os import PathLike

    from lossless.analysis.simulation.question.request import Question
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.tune.tune import Tuned, TuneProblem
    from lossless.formats.intent.class_changes import Place
    from lossless.ground.basics.findings import Json
    from lossless.ground.documents.changes import ValueChange
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.model import Fabric

__all__ = ["TuneAsk", "TuneProgress", "TuneResult", "tune", "write_tuned"]

SEEDS = 8
"""Seeds of the search; as many others check what it found."""
EVALUATIONS = 1000
"""Settings that are tried unless another number is asked for."""


class TuneAsk(NamedTuple):
    """What is to be tuned and how far: the class by name (None: the first lossless one), the workloads by name (none:
    all that the intent declares), whether DCQCN parameters are searched too, settings to try, and the limits of each.
    """

    class_name: str | None = None
    workloads: tuple[str, ...] = ()
    dcqcn: bool = False
    evaluations: int = EVALUATIONS
    limits: Limits = Limits(seeds=SEEDS)


class TuneResult(NamedTuple):
    """What tuning found.

    ``workloads`` are what was searched for, by name, ``not_run`` says what was not, and why. ``headroom_bytes`` is what
    was raised before the search, by role and speed, because a port needs more than it has.
    """

    tuned: Tuned
    workloads: Mapping[str, str]
    not_run: tuple[str, ...]
    headroom_bytes: Mapping[Place, int]
    state: Callable[[TrialSetting], StatedThresholds]

    def stated(self, place: int | None = None) -> StatedThresholds:
        """Return how the intent states the setting at a place of the front, or without one the chosen setting.

        Raises:
            LosslessError: there is no such setting.
            InputError: what is written there leaves no place for it.
        """
        chosen, front = self.tuned.chosen, self.tuned.front
        if place is None:
            if chosen is None:
                raise LosslessError("no setting was chosen, so that there is nothing to write")
            if not self.improves:
                raise LosslessError(
                    "what is configured is the best of all that was tried: there is nothing to write"
                )
            return self.state(chosen.row.setting)
        if not 1 <= place <= len(front):
            raise LosslessError(f"place {place}: nothing was written; the front has {len(front):,} settings")
        return self.state(front[place - 1].setting)

    @property
    def improves(self) -> bool:
        """Whether a setting was chosen that is not what the intent has already."""
        chosen = self.tuned.chosen
        return chosen is not None and (chosen.row.step != "now" or bool(self.headroom_bytes))

    def to_data(self) -> dict[str, Json]:
        """Return it as plain data; ``intent`` is the line that states what was chosen, None where nothing changes."""
        from lossless.analysis.simulation.tune.tuned_data import kpis_data, tuned_data

        return {
            "workloads": dict(self.workloads),
            "not_run": list(self.not_run),
            "raised_headroom": [
                {"role": role, "rate_bps": rate_bps, "headroom_bytes": size}
                for (role, rate_bps), size in self.headroom_bytes.items()
            ],
            "intent": self.stated().line if self.improves else None,
            **tuned_data(self.tuned),
            "fresh": None if self.tuned.fresh is None else kpis_data(self.tuned.fresh),
        }


def tune(
    path: str | PathLike[str],
    ask: TuneAsk | None = None,
    options: Options = DEFAULT_OPTIONS,
    *,
    executor: Executor | None = None,
    cluster: str | None = None,
    waiting: Callable[[], None] | None = None,
    compiling: Callable[[], None] | None = None,
    progress: TuneProgress | None = None,
) -> TuneResult:
    """Find thresholds of a class that keep its workloads safe, then PFC silent, then fast; nothing is written.

    ``executor``, ``cluster`` and ``waiting`` are as for :func:`lossless.api.sweep`.

    Raises:
        InputError: there is not exactly one intent, or it cannot be read.
        ScenarioError: nothing can be tuned, a workload takes too long, or numba is missing.
        QuantityError, ProgramError: as for :func:`lossless.api.sweep`.
        LosslessError: optuna or dask.distributed is missing.
    """
    from lossless.analysis.simulation.question.request import SimulationRequest
    from lossless.analysis.simulation.study.answer import compile_for, why_not

    if (reason := why_not()) is not None:
        raise ScenarioError(reason)
    from lossless.analysis.simulation.study.cluster import cluster_executor
    from lossless.analysis.simulation.tune.optimizer import require_optuna
    from lossless.analysis.simulation.tune.tune import tune as search

    asked = ask or TuneAsk()
    if asked.dcqcn:
        require_optuna()
    subject = _TunedIntent(path, asked, options)
    problem = subject.problem()
    workers: AbstractContextManager[Executor | None]
    workers = nullcontext(executor) if cluster is None else cluster_executor(cluster, waiting)
    for _, scenario in problem.workloads:
        compile_for(SimulationRequest(scenario.question, compiling=compiling))
    with workers as entered:
        tuned = search(problem, asked.evaluations, asked.limits, entered, progress)
    return subject.result(tuned)


def write_tuned(result: TuneResult, place: int | None = None) -> StatedThresholds:
    """State the chosen setting in the intent, or the one at a place of the front; every other byte of it stays.

    Raises:
        LosslessError: there is no such setting, the intent has changed meanwhile, or it cannot be written.
        InputError: as :meth:`TuneResult.stated`.
    """
    from lossless.ground.documents.rewrite import rewrite

    stated = result.stated(place)
    rewrite(stated.file, stated.before, stated.after)
    return stated


class _TunedIntent:
    """An intent whose thresholds are tuned: what is run of it, and how it states what was found."""

    def __init__(self, path: str | PathLike[str], ask: TuneAsk, options: Options) -> None:
        from lossless.formats.inputs.fabrics import intent_at
        from lossless.formats.intent.load import load_intent

        self._ask, self._options = ask, options
        self._document = intent_at(path)
        self._fabric = _fabric(self._document, options)
        self._loaded = load_intent(self._document)
        self._class = self._class_name()
        self._known = _counted(self._document, options)
        self._headroom: dict[Place, int] = {}
        self.not_run: list[str] = []
        self._questions = tuple(self._asked())

    def problem(self) -> TuneProblem:
        """Return what is to be tuned: headroom that is too short is raised first, and pools shrink by it."""
        from lossless.analysis.simulation.tune.tune import TuneProblem

        now = self._workloads(self._fabric)
        if not now:
            raise ScenarioError(f"nothing to tune: {'; '.join(self.not_run)}")
        self._raise_headroom(now)
        changes = self._changes(TrialSetting())
        base = _fabric(_changed(self._document, changes), self._options) if changes else self._fabric
        presets = (("now", now), *self._presets())
        return TuneProblem(self._workloads(base), presets, self._ask.dcqcn, self._objection)

    def _raise_headroom(self, now: Sequence[tuple[str, Scenario]]) -> None:
        from lossless.analysis.buffers.dynamic_model import with_computed_buffers
        from lossless.analysis.simulation.tune.headroom import raised_headroom
        from lossless.model.fabric.view import View

        view = View(with_computed_buffers(self._fabric))
        raised = raised_headroom(view, [scenario for _, scenario in now], self._ask.limits)
        self._headroom = {(kind.role, round(kind.rate_bps)): size for kind, size in raised.items()}

    def result(self, tuned: Tuned) -> TuneResult:
        """Return what was found."""
        from lossless.analysis.simulation.study.verdict import describe

        workloads = {name: describe(scenario) for name, scenario in self._workloads(self._fabric)}
        return TuneResult(tuned, workloads, tuple(dict.fromkeys(self.not_run)), self._headroom, self.state)

    def state(self, setting: TrialSetting) -> StatedThresholds:
        """Return how the intent states a setting."""
        from lossless.formats.intent.class_changes import intent_line

        changes = self._changes(setting)
        after = _edited(self._document, changes)
        return StatedThresholds(self._document.file, intent_line(changes), self._document.text, after)

    def _class_name(self) -> str:
        lossless = [cls.name for cls in self._fabric.classes.lossless]
        if not lossless:
            raise ScenarioError(f"nothing to tune: the intent declares no lossless class; {SWEEP_INSTEAD}")
        wanted = self._ask.class_name or lossless[0]
        if wanted not in lossless:
            from lossless.ground.basics.nearest import suggestion

            raise ScenarioError(
                f"--class: no lossless class is called {wanted!r}{suggestion(wanted, lossless)}"
            )
        return wanted

    def _asked(self) -> Iterator[tuple[str, Question]]:
        """Yield the workloads of the class; those of other classes, and those that cannot be run, are said."""
        from lossless.interfaces.api.declared import declared_questions
        from lossless.model.fabric.view import View

        for name, question, _, reason in declared_questions(View(self._fabric), self._ask.workloads):
            if question is None:
                self.not_run.append(f"{name}: {reason}")
            elif question.traffic_class not in (None, self._class):
                self.not_run.append(f"{name}: of class {question.traffic_class}; --class tunes it")
            else:
                yield name, question._replace(traffic_class=self._class)

    def _workloads(self, fabric: Fabric) -> tuple[tuple[str, Scenario], ...]:
        from lossless.analysis.buffers.dynamic_model import with_computed_buffers
        from lossless.analysis.simulation.study.answer import checked_scenario
        from lossless.model.fabric.view import View

        view = View(with_computed_buffers(fabric))
        posed = []
        for name, question in self._questions:
            scenario = checked_scenario(view, question)
            reason = scenario.reason if isinstance(scenario, MissingInput) else _meets_nothing(scenario)
            if reason is not None:
                self.not_run.append(f"{name}: {reason}")
            elif not isinstance(scenario, MissingInput):
                posed.append((name, scenario))
        return tuple(posed)

    def _presets(self) -> Iterator[tuple[str, tuple[tuple[str, Scenario], ...]]]:
        """Yield the presets that the fabric can have, each with the workloads put to the fabric that has it."""
        from lossless.formats.intent.tuning_changes import TUNED_PRESETS, preset_changes, row_changes

        sides = {name: preset_changes(self._loaded, self._class, name) for name in TUNED_PRESETS}
        if row := row_changes(self._loaded, self._class):
            sides["buffers of the HWSKU"] = row
        for name, changes in sides.items():
            try:
                fabric = _fabric(_changed(self._document, changes), self._options)
            except InputError as error:
                self.not_run.append(f"preset {name}: {error}")
                continue
            yield name, self._workloads(fabric)

    def _objection(self, setting: TrialSetting) -> str | None:
        """Return what is wrong with a setting once the intent states it, None where nothing is."""
        try:
            document = _changed(self._document, self._changes(setting))
            seen = _counted(document, self._options)
        except InputError as error:
            return str(error)
        new = sorted(code for code, many in seen.items() if many > self._known.get(code, 0))
        if new:
            return f"lint finds {', '.join(new)}"
        return self._difference(document, setting)

    def _difference(self, document: Document, setting: TrialSetting) -> str | None:
        """Return what the intent does not state as it was tried: the model must have seen what is written."""
        from lossless.analysis.simulation.question.connectx import with_parameters
        from lossless.analysis.simulation.tune.space import thresholds_now
        from lossless.analysis.simulation.tune.trials import case_of

        stated = self._workloads(_fabric(document, self._options))
        now = thresholds_now([case_of(name, scenario, (1,)) for name, scenario in stated])
        for kind, wanted in setting.by_kind:
            has = now[kind].thresholds
            if any(value not in (None, there) for value, there in zip(wanted, has, strict=True)):
                return f"the intent cannot state it for {kind.role} ports at {kind.rate_bps / 1e9:g}G"
        for (_, before), (_, after) in zip(self._workloads(self._fabric), stated, strict=True):
            for nic, own in before.dcqcn_of.items():
                if own is not None and after.dcqcn_of[nic] != with_parameters(own, dict(setting.dcqcn)):
                    return f"the intent cannot state it for the NIC of {before.topology.names[nic]}"
        return None

    def _changes(self, setting: TrialSetting) -> tuple[ValueChange, ...]:
        """Return the changes that state a setting, and the headroom that was raised."""
        from lossless.formats.intent.tuning_changes import TunedValues, tuned_changes

        thresholds = {
            (kind.role, round(kind.rate_bps)): {
                INTENT_KEYS[name]: value for name, value in own._asdict().items() if value is not None
            }
            for kind, own in setting.by_kind
        }
        values = TunedValues(thresholds, self._headroom, dict(setting.dcqcn))
        return tuned_changes(self._loaded, self._class, values, self._role_of(), self._places())

    def _places(self) -> tuple[Place, ...]:
        """Return the kinds of all ports of switches: role and speed."""
        roles = self._role_of()
        return tuple(
            dict.fromkeys(
                (roles[switch.name], port.speed_bps)
                for switch in self._fabric.switches
                for port in switch.ports
                if port.speed_bps is not None
            )
        )

    def _role_of(self) -> dict[str, str]:
        from lossless.model.fabric.tier import role_word

        return {switch.name: role_word(switch.device_type, switch.tier) for switch in self._fabric.switches}


def _meets_nothing(scenario: Scenario) -> str | None:
    """Return why a workload shows nothing: its class is lossy, or all is over before the storm of a dead NIC."""
    from lossless.analysis.simulation.question.instance import DEAD_FROM_NS, instantiate
    from lossless.analysis.simulation.study.step_time import step_time_ns

    if scenario.is_lossy:
        return f"its class is lossy, and what is tuned are thresholds of lossless classes; {SWEEP_INSTEAD}"
    step_ns = step_time_ns(instantiate(scenario, 1).network)
    if not scenario.question.dead_nic or step_ns > DEAD_FROM_NS:
        return None
    return (
        f"the pause storm of the dead NIC begins after {DEAD_FROM_NS / 1000:g} us, and all is delivered in"
        f" {step_ns / 1000:,.1f} us at line rate; state a larger size"
    )


def _fabric(document: Document, options: Options) -> Fabric:
    """Return the fabric of an intent, whose switches are the operator's own.

    Raises:
        InputError: it declares something else, or cannot be.
    """
    from lossless.formats.inputs.intents import intent_fabric, require_own_switches

    errors: list[Problem] = []
    fabric = intent_fabric(document, options.profile_dirs, errors)
    if fabric is None:
        raise InputError(errors)
    require_own_switches((fabric,))
    return fabric


def _counted(document: Document, options: Options) -> dict[str, int]:
    """Return how often lint finds each rule broken in an intent, notes left out."""
    from lossless.interfaces.api.lint import lint_intent

    counts: dict[str, int] = {}
    for finding in lint_intent(document, options)[0].findings:
        if finding.severity != "info":
            counts[finding.code] = counts.get(finding.code, 0) + 1
    return counts


def _edited(document: Document, changes: Sequence[ValueChange]) -> str:
    """Return the text of an intent with some changes.

    Raises:
        InputError: what is written there leaves no place for them.
    """
    from lossless.formats.intent.class_changes import intent_line
    from lossless.ground.documents.edits import edited

    after = edited(document, changes)
    if after is None:
        message = f"what is written there leaves no place for {intent_line(tuple(changes))}"
        raise InputError([Problem(document.file, None, None, message)])
    return after


def _changed(document: Document, changes: Sequence[ValueChange]) -> Document:
    from lossless.ground.documents import load_text

    return load_text(_edited(document, changes), document.file)
