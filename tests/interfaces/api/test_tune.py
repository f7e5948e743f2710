"""Tuning an intent: the same answer however it is worked out, settings that the intent can state, headroom first."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lossless import api
from lossless.analysis.simulation.engine.run import prepare
from lossless.analysis.simulation.study.grid import PortKind, TrialSetting
from lossless.analysis.simulation.tune.choose import SHARED_POOL, Chooser, with_buffer
from lossless.analysis.simulation.tune.kpis import LEAST_GAIN
from lossless.analysis.simulation.tune.space import PARAMETERS
from lossless.ground.basics.errors import LosslessError, ScenarioError
from lossless.interfaces.api.tune import TuneAsk, tuned_intent
from lossless.output.report.quantities import LABELS
from lossless.output.report.simulation.tune_text import tune_text
from tests.interfaces.cli.inputs import INTENT

pytestmark = pytest.mark.tools("runs")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.analysis.simulation.tune.choose import Reason
    from lossless.analysis.simulation.tune.kpis import Effect

WORKLOADS = """\
workloads:
  incast:  {pattern: incast, nics: 9, size: 1 MiB}
  shuffle: {pattern: permutation, size: 1 MiB}
"""
SMALL = TuneAsk(evaluations=40, limits=api.Limits(seeds=2))
LEAST = TuneAsk(evaluations=1, limits=api.Limits(seeds=1))
"""For what does not depend on what is found."""


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


@pytest.fixture
def intent(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "fabric.yaml"
    path.write_text(INTENT + WORKLOADS)
    return path  # type: ignore[return-value]


@cache
def tuned_on(threads: int | None, text: str = INTENT + WORKLOADS) -> api.TuneResult:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fabric.yaml")
        path.write_text(text)
        limits = SMALL.limits._replace(threads=threads)
        return api.tune(path, SMALL._replace(limits=limits))


def answers(result: api.TuneResult) -> object:
    return result.tuned


def test_the_answer_does_not_depend_on_how_many_threads_work_it_out() -> None:
    assert answers(tuned_on(1)) == answers(tuned_on(2)) == answers(tuned_on(5))


@pytest.mark.tools("cluster")
@pytest.mark.xdist_group("cluster")
def test_a_cluster_gives_the_same_answer(intent: Path) -> None:
    assert answers(api.tune(intent, SMALL, cluster="local:2")) == answers(tuned_on(1))


def test_what_is_chosen_is_safe_and_survives_small_changes_and_other_seeds() -> None:
    tuned = tuned_on(1).tuned
    assert tuned.chosen is not None
    assert tuned.fresh is not None
    assert {tuned.chosen.row.kpis.verdict, tuned.fresh.verdict} == {"safe"}
    assert {each.kpis.verdict for each in tuned.chosen.near} == {"safe"}
    changes = {each.change for each in tuned.chosen.near}
    assert {"other seeds", "buffer -10 %", "buffer +10 %", "Kmax -10 %"} <= changes
    assert tuned.chosen.harm >= tuned.chosen.row.kpis.rank


def test_every_preset_is_compared_and_dominance_is_that_of_what_was_tried() -> None:
    """Brute force over all rows: who dominates a preset in the search, and whether the chosen setting does twice."""
    tuned = tuned_on(1).tuned
    assert tuned.fresh is not None
    assert tuned.chosen is not None
    assert [each.name for each in tuned.standings] == ["now", "azure", "nvidia"]
    for each in tuned.standings:
        beating = [row for row in tuned.rows if row.kpis.dominates(each.searched)]
        assert each.beaten == len(beating)
        assert each.beaten_by is None or each.beaten_by in beating
        both = tuned.chosen.row.kpis.dominates(each.searched) and tuned.fresh.dominates(each.fresh)
        assert each.dominated is both


def test_the_front_has_no_setting_that_another_dominates() -> None:
    tuned = tuned_on(1).tuned
    safe = [row.kpis for row in tuned.rows if row.kpis.verdict == "safe"]
    assert tuned.front
    assert not any(other.dominates(row.kpis) for row in tuned.front for other in safe)


def test_what_is_written_is_what_was_tried_and_every_other_byte_stays(intent: Path) -> None:
    """The intent with the line, resolved again, has the thresholds of the setting at every kind of port."""
    result = api.tune(intent, SMALL)
    stated = api.write_tuned(result, 1)
    assert intent.read_text() == stated.after
    assert _unchanged(stated.before, stated.after)
    again = tuned_intent(intent, SMALL, api.Options())
    now = again.problem().presets[0][1]
    assert _thresholds(now) == _given(result.tuned.front[0].setting)


def test_the_bound_of_the_queueing_delay_is_that_of_the_class(tmp_path: Path) -> None:
    """Eight NICs that begin at line rate fill the queue of the ninth whatever the marks: 1 us is out of reach."""
    path = tmp_path / "fabric.yaml"
    path.write_text((INTENT + WORKLOADS).replace("ecn:", "queueing_delay: 1us, ecn:", 1))
    result = api.tune(path, SMALL)
    assert result.tuned.bound_us == 1.0
    assert not result.improves
    assert "within 1 us: the least is" in result.tuned.declined
    assert "at most 1 us is declared (queueing_delay of class rdma)" in " ".join(tune_text(result).split())


def test_without_a_bound_the_queueing_delay_is_no_longer_than_now() -> None:
    """Nine NICs into one of a quarter of their speed wait for milliseconds, whatever the thresholds."""
    tuned = proposed().tuned
    assert tuned.bound_us is None
    assert proposed().improves
    assert tuned.chosen is not None
    assert tuned.fresh is not None
    now = next(each for each in tuned.standings if each.name == "now")
    assert 50 < tuned.chosen.row.kpis.queue_us <= now.searched.queue_us
    assert tuned.fresh.queue_us <= now.fresh.queue_us
    shown = " ".join(tune_text(proposed()).split())
    reached = f"{tuned.fresh.queue_us:,.0f} us, now {now.fresh.queue_us:,.0f} us"
    assert f"p99 queueing delay of the worst workload: {reached}; " in shown
    assert "no bound is declared (queueing_delay of class rdma)" in shown


def test_what_a_workload_loses_by_itself_is_not_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = "slow: completion time 9.0 % more"
    monkeypatch.setattr(
        "lossless.analysis.simulation.tune.choose.workload_losses",
        lambda before, after: [loss] * (before != after),
    )
    result = _proposed()
    assert not result.improves
    assert result.tuned.declined.endswith(loss)


def test_a_proposal_keeps_queues_short_slopes_and_alpha() -> None:
    """Whatever is proposed: p99 no longer than now, Kmin below Kmax, a gain for every change."""
    tuned = tuned_on(1).tuned
    assert tuned.chosen is not None
    now = next(each for each in tuned.standings if each.name == "now")
    assert tuned.chosen.row.kpis.queue_us <= now.searched.queue_us
    assert (tuned.chosen.row.step == "now") is bool(tuned.declined)
    for kind, own in tuned.chosen.row.setting.by_kind:
        assert (own.kmin_bytes or 0) < (own.kmax_bytes or 1)
        assert own.dynamic_th == tuned.now[kind].thresholds.dynamic_th
    assert {each.parameter for each in tuned.chosen.reasons} == {
        "dynamic_th", "kmin_bytes", "kmax_bytes", "pmax_percent",
    }  # fmt: skip


SLOW = "workloads:\n  slow: {pattern: incast, nics: 9, size: 4 MiB, slow_nic: 100G}\n"
FROM_60_KB = "ecn: {min: 60 kB, max: 120 kB, probability: 100%}"


@cache
def proposed() -> api.TuneResult:
    """Return what is proposed for a fabric that marks so early that a slow NIC's senders stay below its rate."""
    return _proposed()


def _proposed() -> api.TuneResult:
    import tempfile

    text = re.sub(r"ecn: \{[^}]*\}", FROM_60_KB, INTENT) + SLOW
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fabric.yaml")
        path.write_text(text)
        return api.tune(path, TuneAsk(evaluations=80, limits=api.Limits(seeds=4)))


def changes_of(result: api.TuneResult) -> list[Reason]:
    assert result.tuned.chosen is not None
    return [each for each in result.tuned.chosen.reasons if each.now != each.chosen]


def test_each_change_of_a_proposal_is_printed_with_its_reason_and_all_others_are_kept() -> None:
    for result in (proposed(), tuned_on(1)):
        tuned, chosen = result.tuned, result.tuned.chosen
        assert chosen is not None
        shown = " ".join(tune_text(result).split())
        given = dict(chosen.row.setting.by_kind)
        assert {(each.kind, each.parameter) for each in chosen.reasons} == set(product(given, PARAMETERS))
        for each in chosen.reasons:
            assert each.now == getattr(tuned.now[each.kind].thresholds, each.parameter)
            assert each.chosen == getattr(given[each.kind], each.parameter)
            assert each.why.startswith("kept: ") is (each.now == each.chosen)
        for each in changes_of(result):
            where = f"{each.kind.role} {each.kind.rate_bps / 1e9:g}G"
            assert re.search(rf"{LABELS[each.parameter]} \([^)]*{where}[^)]*\): {re.escape(each.why)}", shown)
        assert bool(changes_of(result)) is not bool(tuned.declined)
    gain = chosen_gain(proposed())
    assert gain.low > 0
    assert gain.mean >= LEAST_GAIN
    assert f"proposed, against what is configured: {gain}" in " ".join(tune_text(proposed()).split())


def chosen_gain(result: api.TuneResult) -> Effect:
    assert result.tuned.chosen is not None
    assert result.tuned.chosen.gain is not None
    return result.tuned.chosen.gain


def test_a_gain_that_is_too_small_proposes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar of 90 % is as far above what there is to gain here as 2 % is above less."""
    assert chosen_gain(proposed()).figure == "jct_ratio"
    monkeypatch.setattr("lossless.analysis.simulation.tune.kpis.LEAST_GAIN", 90.0)
    result = _proposed()
    assert not result.improves
    assert changes_of(result) == []
    assert "nothing is proposed: " in tune_text(result)


def test_what_loses_with_a_quarter_of_the_buffer_is_not_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[float] = []

    def with_part(scenario: Scenario, part: float) -> Scenario:
        parts.append(part)
        return with_buffer(scenario, part)

    loss = "with 25% of the buffer: unsafe"
    monkeypatch.setattr("lossless.analysis.simulation.tune.tune.with_buffer", with_part)
    monkeypatch.setattr(Chooser, "_shared_losses", lambda *_: [loss])
    result = _proposed()
    assert parts[-1] == SHARED_POOL == 0.25
    assert not result.improves
    assert result.tuned.declined.endswith(loss)


def test_any_setting_of_the_front_can_be_written() -> None:
    result = tuned_on(1)
    last = len(result.tuned.front)
    assert result.stated(last).after != result.stated(1).before
    with pytest.raises(LosslessError, match=f"the front has {last:,} settings"):
        result.stated(last + 1)


def _unchanged(before: str, after: str) -> bool:
    """Return whether only the line of the class has changed."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    changed = [old for old, new in pairs if old != new]
    return len(changed) <= 1 or all("rdma" in line or "ecn" in line for line in changed)


def _thresholds(workloads: tuple[tuple[str, object], ...]) -> dict[PortKind, tuple[int | None, ...]]:
    from lossless.analysis.simulation.tune.kpis import case_of
    from lossless.analysis.simulation.tune.space import thresholds_now

    cases = [case_of(name, scenario, (1,)) for name, scenario in workloads]  # type: ignore[arg-type]
    return {kind: _curve(each.thresholds) for kind, each in thresholds_now(cases).items()}


def _given(setting: TrialSetting) -> dict[PortKind, tuple[int | None, ...]]:
    return {kind: _curve(own) for kind, own in setting.by_kind}


def _curve(own: ThresholdSetting) -> tuple[int | None, ...]:
    return own.dynamic_th, own.kmin_bytes, own.kmax_bytes, own.pmax_percent


def test_headroom_that_is_too_short_is_raised_before_the_search(tmp_path: Path) -> None:
    """Of 30 KiB, which is less than any peer may send before it obeys, nothing can be safe."""
    line = "buffer: {by_speed: {400G: {xoff: 30 KiB}}}, ecn:"
    text = INTENT.replace("ecn:", line, 1) if INTENT.count("ecn:") else INTENT
    path = tmp_path / "fabric.yaml"
    path.write_text(text + WORKLOADS)
    result = api.tune(path, SMALL)
    assert set(result.headroom_bytes) == {("leaf", 400_000_000_000)}
    assert result.headroom_bytes["leaf", 400_000_000_000] > 60_000
    assert result.tuned.declined
    assert "xoff" in result.stated().line
    assert "ecn" not in result.stated().line
    assert "nothing but the headroom is proposed: " in tune_text(result)
    assert result.tuned.chosen is not None


def test_workloads_are_chosen_by_name_and_must_be_declared(intent: Path) -> None:
    result = api.tune(intent, LEAST._replace(workloads=("shuffle",)))
    assert list(result.workloads) == ["shuffle"]
    with pytest.raises(ScenarioError, match="no workload is called 'shufle'; did you mean shuffle"):
        api.tune(intent, SMALL._replace(workloads=("shufle",)))


def test_an_intent_without_workloads_is_tuned_for_several(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(INTENT)
    assert list(api.tune(path, LEAST).workloads) == ["incast", "permutation", "all-to-all"]


def test_dcqcn_parameters_are_searched_where_asked_for(intent: Path) -> None:
    result = api.tune(intent, SMALL._replace(dcqcn=True))
    assert result.tuned.steps["optuna"] > 0
    assert all(row.setting.dcqcn for row in result.tuned.rows if row.step == "optuna")
    with_parameters = next(row for row in result.tuned.rows if row.step == "optuna")
    stated = result.state(with_parameters.setting)
    assert "rpg_ai_rate" in stated.line
    assert "cnp_interval" in stated.line
    subject = tuned_intent(intent, SMALL, api.Options())
    subject.problem()
    searched = [row.setting for row in result.tuned.rows if row.step == "optuna"][:3]
    assert searched
    assert not any("cannot state" in str(subject._objection(setting)) for setting in searched)


def test_a_setting_that_lint_warns_of_is_not_chosen(intent: Path) -> None:
    """Kmax above what a single group holds at XOFF is what ECN005 warns of."""
    subject = tuned_intent(intent, SMALL, api.Options())
    kinds = list(_thresholds(subject.problem().workloads))
    setting = next(row.setting for row in tuned_on(1).tuned.rows)
    assert subject._objection(setting) is None
    above = tuple(
        (kind, own._replace(dynamic_th=-8, kmin_bytes=1024, kmax_bytes=64 << 20))
        for kind, own in setting.by_kind
    )
    assert "ECN005" in str(subject._objection(TrialSetting(by_kind=above)))
    assert [kind for kind, _ in above] == kinds


def test_the_class_must_be_lossless(intent: Path) -> None:
    with pytest.raises(ScenarioError, match="--class: no lossless class is called 'default'"):
        api.tune(intent, SMALL._replace(class_name="default"))
