"""Results of tuning as plain data, for JSON and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.simulation.study.grid import LOSSY_ALONE
from lossless.analysis.simulation.tune.kpis import ORDER

if TYPE_CHECKING:
    from lossless.analysis.simulation.study.grid import PortKind, ThresholdSetting, TrialSetting
    from lossless.analysis.simulation.tune.kpis import Kpis, WorkloadKpis
    from lossless.analysis.simulation.tune.space import TriedSetting
    from lossless.analysis.simulation.tune.tune import Choice, PortMargin, Standing, Tuned
    from lossless.checks.thresholds.tuned_intent import TuneResult

    Data = dict[str, Any]


def tune_data(result: TuneResult) -> Data:
    """Return the result of tuning under stable names; ``settings`` has every setting that was tried, in that order.

    ``intent`` is the line that declares the chosen setting, None if it is the current one.
    """
    tuned = result.tuned
    return {
        "workloads": dict(result.workloads),
        "not_run": list(result.not_run),
        "raised_headroom": [
            {"role": role, "rate_bps": rate_bps, "headroom_bytes": size}
            for (role, rate_bps), size in result.headroom_bytes.items()
        ],
        "intent": result.stated().line if result.improves else None,
        "class": tuned.class_name,
        "tried": len(tuned.rows),
        "steps": dict(tuned.steps),
        "seeds": tuned.seeds,
        "events": tuned.events,
        "order": ORDER,
        "axes": {axis.name: list(axis.values) for axis in tuned.axes},
        "now": [port_data(kind, each.thresholds) for kind, each in tuned.now.items()],
        "chosen": None if tuned.chosen is None else _choice(tuned.chosen, tuned.margins),
        "standings": [_standing(each, tuned) for each in tuned.standings],
        "front": [_row(row) for row in tuned.front],
        "settings": [_row(row) for row in tuned.rows],
        "assumed": list(tuned.assumed),
        "fresh": None if tuned.fresh is None else _kpis(tuned.fresh),
    }


def port_data(kind: PortKind, thresholds: ThresholdSetting) -> Data:
    """Return a kind of port with the thresholds that a lossless class has there."""
    own = {name: value for name, value in thresholds._asdict().items() if name not in LOSSY_ALONE}
    return {"role": kind.role, "rate_bps": round(kind.rate_bps), **own}


def _row(row: TriedSetting) -> Data:
    return {"step": row.step, **_setting(row.setting), **_kpis(row.kpis)}


def _setting(setting: TrialSetting) -> Data:
    return {"ports": [port_data(*port) for port in setting.by_kind], "dcqcn": dict(setting.dcqcn)}


def _choice(choice: Choice, margins: tuple[PortMargin, ...]) -> Data:
    return {
        "place": choice.place,
        **_row(choice.row),
        "near": [{"change": each.change, **_kpis(each.kpis)} for each in choice.near],
        "worst_change": choice.worst.change,
        "rejected": [{**_setting(each.setting), "reason": each.reason} for each in choice.rejected],
        "margins": [
            {
                "role": margin.kind.role,
                "rate_bps": round(margin.kind.rate_bps),
                "xoff_bytes": margin.xoff_bytes,
                "kmax_margin_bytes": margin.kmax_margin_bytes,
            }
            for margin in margins
        ],
    }


def _standing(standing: Standing, tuned: Tuned) -> Data:
    by = standing.beaten_by
    return {
        "name": standing.name,
        "fresh": _kpis(standing.fresh),
        "searched": _kpis(standing.searched),
        "dominated": standing.dominated,
        "beaten": standing.beaten,
        "beaten_by": None if by is None else {"place": tuned.place_of(by.setting), **_row(by)},
    }


def _kpis(kpis: Kpis) -> Data:
    """Return the measures of a setting, over all workloads and of each."""
    return {**kpis._asdict(), "workloads": [_workload(each) for each in kpis.workloads]}


def _workload(kpis: WorkloadKpis) -> Data:
    """Return the measures of one workload; a measure over seeds is a list of its least, mean and most."""
    values = kpis._asdict()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
