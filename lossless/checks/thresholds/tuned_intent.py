"""The tuning of an intent's thresholds: the search problem, its result, and the intent that declares that result.

Buffer peaks that switches measured are compared, by kind of port, with those of the packet-level model and of the
closed forms.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.dynamic_model import with_computed_buffers
from lossless.analysis.simulation.question.instance import DEAD_FROM_NS, instantiate
from lossless.analysis.simulation.question.nodes import with_parameters
from lossless.analysis.simulation.study.answer import checked_scenario
from lossless.analysis.simulation.study.grid import TrialSetting
from lossless.analysis.simulation.study.loss import step_time_ns
from lossless.analysis.simulation.study.measure import PeakComparison, most
from lossless.analysis.simulation.study.verdict import describe
from lossless.analysis.simulation.tune.choose import TuneProblem
from lossless.analysis.simulation.tune.kpis import case_of
from lossless.analysis.simulation.tune.space import setting_now, thresholds_now
from lossless.analysis.simulation.tune.tune import raised_headroom
from lossless.checks.rules.counting import not_polled
from lossless.formats.inputs.intents import intent_fabric, require_own_switches
from lossless.formats.intent.class_changes import (
    INTENT_KEYS,
    SWEEP_INSTEAD,
    TUNED_PRESETS,
    StatedThresholds,
    TunedValues,
    edited_intent,
    intent_line,
    preset_changes,
    row_changes,
    tuned_changes,
)
from lossless.formats.intent.load import load_intent
from lossless.ground.basics.errors import InputError, LosslessError, Problem, ScenarioError
from lossless.ground.basics.findings import MissingInput, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import suggestion
from lossless.ground.documents import load_text
from lossless.model.fabric.model import role_word
from lossless.model.fabric.state import highest_peaks
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.buffers.verdict import PortVerdict
    from lossless.analysis.simulation.question.request import NamedQuestion, Question, TuneAsk
    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.measure import PeakOf, PortPeaks
    from lossless.analysis.simulation.tune.space import ThresholdsNow
    from lossless.analysis.simulation.tune.tune import Tuned
    from lossless.checks.rules.running_subjects import RunningDevice
    from lossless.formats.intent.class_changes import Place
    from lossless.ground.basics.findings import Finding
    from lossless.ground.documents.changes import ValueChange
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.model.fabric.state import PlacedReading
    from lossless.model.hardware.load import Folder


if TYPE_CHECKING:
    _Kind = tuple[str, str, int | None]
    _Measured = Mapping[tuple[_Kind, str], Sequence[tuple[PlacedReading, str]]]

_READINGS: dict[PeakOf, tuple[str, Literal["pg", "queue"]]] = {
    "shared_bytes": ("shared_watermark_bytes", "pg"),
    "headroom_bytes": ("xoff_room_watermark_bytes", "pg"),
    "queue_bytes": ("shared_watermark_bytes", "queue"),
}


def compared_peaks(
    view: View,
    devices: Sequence[RunningDevice],
    lines: Sequence[PortVerdict],
    runs: Sequence[tuple[PortPeaks, ...]],
) -> tuple[PeakComparison, ...]:
    """Return the peaks of groups and queues at each kind of lossless port: simulated, by closed form, and measured.

    ``lines`` are the closed forms of ports, ``runs`` the peaks of each simulation, ``devices`` have the captures.
    """
    simulated: dict[_Kind, PortPeaks] = {peaks[:3]: peaks for peaks in most(runs)}
    kinds = _PortKinds(view)
    placed = (
        (kinds.of(line.switch, line.elements[0].rpartition(":")[2]), line) for line in lines if line.elements
    )
    closed = grouped((kind, line) for kind, line in placed if kind is not None)
    measured = grouped(_measured(kinds, devices))
    return tuple(
        _with_measured(
            _modelled(kind, peak, simulated.get(kind), closed[kind]), measured.get((kind, peak), ())
        )
        for kind in closed
        for peak in _READINGS
    )


def _modelled(
    kind: _Kind, peak: PeakOf, simulated: PortPeaks | None, lines: Sequence[PortVerdict]
) -> PeakComparison:
    comparison = PeakComparison(*kind, peak, simulated_bytes=getattr(simulated, peak, None))
    if peak == "headroom_bytes":
        checks = [line.headroom for line in lines if line.headroom is not None]
        need = max(checks, key=lambda check: check.need_bytes, default=None)
        if need is not None:
            return comparison._replace(closed_form_bytes=need.need_bytes, closed_form="needed")
    if peak == "shared_bytes":
        alone = [one.group_bytes for line in lines for one in line.fan_out]
        if alone:
            return comparison._replace(closed_form_bytes=max(alone), closed_form="XOFF")
    return comparison


def _with_measured(comparison: PeakComparison, peaks: Sequence[tuple[PlacedReading, str]]) -> PeakComparison:
    if not peaks:
        return comparison
    highest, device = max(peaks, key=lambda one: one[0].number or 0)
    return comparison._replace(
        measured_bytes=highest.number,
        at=f"{device}:{highest.part('port')}",
        since=highest.reading.since,
        ports=len({(name, placed.part("port")) for placed, name in peaks}),
    )


def _measured(
    kinds: _PortKinds, devices: Sequence[RunningDevice]
) -> Iterator[tuple[tuple[_Kind, str], tuple[PlacedReading, str]]]:
    """Yield the highest watermark of each lossless group and queue, by kind of port and peak, if counters are on."""
    for device in devices:
        for peak, (name, part) in _READINGS.items():
            if not_polled(device.state, name, part) is not None:
                continue
            for (port, number), placed in highest_peaks(device.state, name, part).items():
                lossless, kind = device.lossless.get(port), kinds.of(device.name, port)
                numbers = () if lossless is None else lossless.groups if part == "pg" else lossless.queues
                if number in numbers and kind is not None:
                    yield (kind, peak), (placed, device.name)


class _PortKinds:
    """The kind of each port of a fabric: the role of its switch, the role of its peer, and its speed."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._peers = {(link.a, link.a_port): link.b for link in view.fabric.links}
        self._peers |= {(link.b, link.b_port): link.a for link in view.fabric.links if not link.to_host}

    def of(self, switch: str, name: str) -> _Kind | None:
        """Return the kind of a port, None where the fabric does not have it."""
        port = self._view.port(switch, name)
        if port is None:
            return None
        neighbor = port.neighbor[0] if port.neighbor else ""
        far = self._view.switch_by_name.get(self._peers.get((switch, name), neighbor))
        peer = _role(far) if far else (port.leads_to or "unknown")
        return _role(self._view.switch_by_name[switch]), peer, port.speed_bps


def _role(switch: Switch) -> str:
    """Return the role of a switch in the words of the packet-level model."""
    return role_word(switch.device_type, switch.tier)


class TuneResult(NamedTuple):
    """The result of tuning an intent's thresholds.

    ``workloads`` are those of the search, by name, ``not_run`` the workloads and presets without a run, with the
    reason. ``headroom_bytes`` is the headroom that was raised before the search, by role and speed, because it was too
    short.
    """

    tuned: Tuned
    workloads: Mapping[str, str]
    not_run: tuple[str, ...]
    headroom_bytes: Mapping[Place, int]
    state: Callable[[TrialSetting], StatedThresholds]

    def stated(self, place: int | None = None) -> StatedThresholds:
        """Return the edit that declares a setting: that at a place of the Pareto front, without a place the chosen one.

        Raises:
            LosslessError: there is no such place, or no setting was chosen that improves the intent.
            InputError: no edit of the intent declares exactly this setting.
        """
        chosen, front = self.tuned.chosen, self.tuned.front
        if place is None:
            if chosen is None:
                raise LosslessError("no setting was chosen, so that there is nothing to write")
            if not self.improves:
                raise LosslessError(
                    f"nothing is proposed, so that there is nothing to write: {self.tuned.declined}"
                )
            return self.state(chosen.row.setting)
        if not 1 <= place <= len(front):
            raise LosslessError(f"place {place}: nothing was written; the front has {len(front):,} settings")
        return self.state(front[place - 1].setting)

    @property
    def improves(self) -> bool:
        """Whether a setting was chosen that differs from the current one of the intent, or needs more headroom."""
        chosen = self.tuned.chosen
        return chosen is not None and (chosen.row.step != "now" or bool(self.headroom_bytes))


class TunedIntent:
    """An intent whose thresholds are tuned: its simulations, and the declaration of the result.

    ``asking`` makes simulation requests for the workloads of a fabric, all of them or the named ones; ``linting``
    returns the findings of lint in an intent.
    """

    def __init__(
        self,
        document: Document,
        ask: TuneAsk,
        profile_dirs: Sequence[Folder],
        asking: Callable[[View, Sequence[str]], Iterable[NamedQuestion]],
        linting: Callable[[Document], Iterable[Finding]],
    ) -> None:
        self._ask, self._profile_dirs = ask, profile_dirs
        self._asking, self._linting = asking, linting
        self._document = document
        self._fabric = _fabric(document, profile_dirs)
        self._loaded = load_intent(document)
        self._class = self._class_name()
        self._known = self._counted(document)
        self._headroom: dict[Place, int] = {}
        self.not_run: list[str] = []
        self._questions = tuple(self._asked())

    def problem(self) -> TuneProblem:
        """Return the tuning problem: headroom that is too short is raised first, which shrinks the pools.

        Raises:
            ScenarioError: no workload of the class can be run.
            InputError: no edit of the intent states the raised headroom.
        """
        now = self._workloads(self._fabric)
        if not now:
            raise ScenarioError(f"nothing to tune: {'; '.join(self.not_run)}")
        self._raise_headroom(now)
        changes = self._changes(TrialSetting())
        base = _fabric(_changed(self._document, changes), self._profile_dirs) if changes else self._fabric
        presets = (("now", now), *self._presets())
        return TuneProblem(
            self._workloads(base), presets, self._ask.dcqcn, self._objection, self._ask.step, self._bound_us()
        )

    def _bound_us(self) -> float | None:
        """Return in microseconds the largest p99 queueing delay that the intent permits the class, None without one."""
        stated_ns = self._loaded.intent.classes[self._class].queueing_delay
        return None if stated_ns is None else stated_ns / 1000

    def _raise_headroom(self, now: Sequence[tuple[str, Scenario]]) -> None:
        view = View(with_computed_buffers(self._fabric))
        raised = raised_headroom(view, [scenario for _, scenario in now], self._ask.limits)
        self._headroom = {(kind.role, round(kind.rate_bps)): size for kind, size in raised.items()}

    def result(self, tuned: Tuned) -> TuneResult:
        """Return the result of tuning, with the workloads and their descriptions, for reports."""
        workloads = {name: describe(scenario) for name, scenario in self._workloads(self._fabric)}
        return TuneResult(tuned, workloads, tuple(dict.fromkeys(self.not_run)), self._headroom, self.state)

    def state(self, setting: TrialSetting) -> StatedThresholds:
        """Return the thresholds of a setting as the intent declares them: its text before and after the edit.

        Raises:
            InputError: no edit of the intent states exactly these.
        """
        changes = self._changes(setting)
        after = edited_intent(self._document, changes)
        return StatedThresholds(self._document.file, intent_line(changes), self._document.text, after)

    def _class_name(self) -> str:
        lossless = [cls.name for cls in self._fabric.classes.lossless]
        if not lossless:
            raise ScenarioError(f"nothing to tune: the intent declares no lossless class; {SWEEP_INSTEAD}")
        wanted = self._ask.class_name or lossless[0]
        if wanted not in lossless:
            raise ScenarioError(
                f"--class: no lossless class is called {wanted!r}{suggestion(wanted, lossless)}"
            )
        return wanted

    def _asked(self) -> Iterator[tuple[str, Question]]:
        """Yield the workloads of the class; those of other classes, and those that cannot run, are noted as not run."""
        for name, question, _, reason in self._asking(View(self._fabric), self._ask.workloads):
            if question is None:
                self.not_run.append(f"{name}: {reason}")
            elif question.traffic_class not in (None, self._class):
                self.not_run.append(f"{name}: of class {question.traffic_class}; --class tunes it")
            else:
                traffic = "any" if self._ask.traffic == "any" else question.traffic
                yield name, question._replace(traffic_class=self._class, traffic=traffic)

    def _workloads(self, fabric: Fabric) -> tuple[tuple[str, Scenario], ...]:
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
        """Yield the presets of thresholds that the intent can declare, each with the workloads on a fabric with it."""
        sides = {name: preset_changes(self._loaded, self._class, name) for name in TUNED_PRESETS}
        if row := row_changes(self._loaded, self._class):
            sides["buffers of the HWSKU"] = row
        for name, changes in sides.items():
            try:
                fabric = _fabric(_changed(self._document, changes), self._profile_dirs)
            except InputError as error:
                self.not_run.append(f"preset {name}: {error}")
                continue
            yield name, self._workloads(fabric)

    def _objection(self, setting: TrialSetting) -> str | None:
        """Return why a setting may not be written into the intent: no edit states it, or new findings; else None."""
        try:
            document = _changed(self._document, self._changes(setting))
            seen = self._counted(document)
        except InputError as error:
            return str(error)
        new = sorted(code for code, many in seen.items() if many > self._known.get(code, 0))
        if new:
            return f"lint finds {', '.join(new)}"
        return self._difference(document, setting)

    def _counted(self, document: Document) -> dict[str, int]:
        """Return the number of findings of lint in an intent by rule, without those of severity info."""
        counts: dict[str, int] = {}
        for finding in self._linting(document):
            if finding.severity != "info":
                counts[finding.code] = counts.get(finding.code, 0) + 1
        return counts

    def _difference(self, document: Document, setting: TrialSetting) -> str | None:
        """Return in words how an edited intent differs from the setting that was tried, None if it matches."""
        stated = self._workloads(_fabric(document, self._profile_dirs))
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
        """Return the changes that state a setting, and the headroom that was raised.

        Thresholds are left out where the setting is the configured one. Alpha is left out where it stays the same at
        every kind of port: the HWSKU has it, or the intent declares it already.
        """
        own_alpha = bool(setting.by_kind) and all(
            own.dynamic_th == self._now[kind].thresholds.dynamic_th for kind, own in setting.by_kind
        )
        thresholds = {
            (kind.role, round(kind.rate_bps)): {
                INTENT_KEYS[name]: value
                for name, value in own._asdict().items()
                if value is not None and not (own_alpha and name == "dynamic_th")
            }
            for kind, own in setting.by_kind
            if setting != setting_now(self._now)
        }
        values = TunedValues(thresholds, self._headroom, dict(setting.dcqcn))
        return tuned_changes(self._loaded, self._class, values, self._role_of(), self._places())

    @cached_property
    def _now(self) -> ThresholdsNow:
        """The thresholds of each kind of port in the workloads, as the intent has them."""
        workloads = self._workloads(self._fabric)
        return thresholds_now([case_of(name, scenario, (1,)) for name, scenario in workloads])

    def _places(self) -> tuple[Place, ...]:
        """Return each pair of a switch's role and the speed of one of its ports, once."""
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
        return {switch.name: role_word(switch.device_type, switch.tier) for switch in self._fabric.switches}


def _meets_nothing(scenario: Scenario) -> str | None:
    """Return why a workload cannot be tuned for, else None.

    Its class is lossy, or all of its data is delivered before the pause storm of its dead NIC begins.
    """
    if scenario.is_lossy:
        return f"its class is lossy, and what is tuned are thresholds of lossless classes; {SWEEP_INSTEAD}"
    step_ns = step_time_ns(instantiate(scenario, 1).network)
    if not scenario.question.dead_nic or step_ns > DEAD_FROM_NS:
        return None
    return (
        f"the pause storm of the dead NIC begins after {DEAD_FROM_NS / 1000:g} us, and all is delivered in"
        f" {step_ns / 1000:,.1f} us at line rate; state a larger size"
    )


def _fabric(document: Document, profile_dirs: Sequence[Folder]) -> Fabric:
    """Return the fabric of an intent, whose switches are the operator's own.

    Raises:
        InputError: the intent declares a subnet, is invalid, or a cloud runs its switches.
    """
    errors: list[Problem] = []
    fabric = intent_fabric(document, profile_dirs, errors)
    if fabric is None:
        raise InputError(errors)
    require_own_switches((fabric,))
    return fabric


def _changed(document: Document, changes: Sequence[ValueChange]) -> Document:
    return load_text(edited_intent(document, changes), document.file)
