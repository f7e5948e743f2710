"""What tuning found as plain data, for JSON, tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.thresholds import alpha, group_threshold_bytes
from lossless.analysis.simulation.study.grid import LOSSY_ALONE, ThresholdSetting
from lossless.analysis.simulation.tune.kpis import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.analysis.simulation.study.settings import PortKind, TrialSetting
    from lossless.analysis.simulation.tune.choice import Choice
    from lossless.analysis.simulation.tune.kpis import Kpis, WorkloadKpis
    from lossless.analysis.simulation.tune.search import TriedSetting
    from lossless.analysis.simulation.tune.space import PortThresholds
    from lossless.analysis.simulation.tune.tune import Standing, Tuned
    from lossless.ground.basics.findings import Json


def tuned_data(tuned: Tuned) -> dict[str, Json]:
    """Return what tuning found, names as there; ``settings`` has everything that was tried, in that order."""
    places = {row.setting: place for place, row in enumerate(tuned.front, 1)}
    now = {kind: each.thresholds for kind, each in tuned.now.items()}
    return {
        "class": tuned.class_name,
        "tried": len(tuned.rows),
        "steps": dict(tuned.steps),
        "seeds": tuned.seeds,
        "events": tuned.events,
        "order": ORDER,
        "axes": {axis.name: list(axis.values) for axis in tuned.axes},
        "now": _ports(now.items()),
        "chosen": None if tuned.chosen is None else _choice(tuned.chosen, tuned.now, now),
        "standings": [_standing(each, places) for each in tuned.standings],
        "front": [_row(row) for row in tuned.front],
        "settings": [_row(row) for row in tuned.rows],
        "assumed": list(tuned.assumed),
    }


def _row(row: TriedSetting) -> dict[str, Json]:
    return {"step": row.step, **_setting(row.setting), **kpis_data(row.kpis)}


def _setting(setting: TrialSetting) -> dict[str, Json]:
    return {"ports": _ports(setting.by_kind), "dcqcn": dict(setting.dcqcn)}


def _ports(by_kind: Iterable[tuple[PortKind, ThresholdSetting]]) -> list[Json]:
    return [
        {"role": kind.role, "rate_bps": round(kind.rate_bps), **_lossless(thresholds)}
        for kind, thresholds in by_kind
    ]


def _lossless(thresholds: ThresholdSetting) -> dict[str, Json]:
    """Return the thresholds that a lossless class has."""
    return {name: value for name, value in thresholds._asdict().items() if name not in LOSSY_ALONE}


def _choice(
    choice: Choice, places: Mapping[PortKind, PortThresholds], now: Mapping[PortKind, ThresholdSetting]
) -> dict[str, Json]:
    near: list[Json] = [{"change": each.change, **kpis_data(each.kpis)} for each in choice.near]
    margins: list[Json] = [
        {
            "role": kind.role,
            "rate_bps": round(kind.rate_bps),
            **_margins(own, now[kind], places[kind].pool_bytes),
        }
        for kind, own in choice.row.setting.by_kind
    ]
    return {
        "place": choice.place,
        **_row(choice.row),
        "near": near,
        "worst_change": choice.worst.change,
        "rejected": [{**_setting(each.setting), "reason": each.reason} for each in choice.rejected],
        "margins": margins,
    }


def _margins(own: ThresholdSetting, now: ThresholdSetting, pool_bytes: int) -> dict[str, Json]:
    """Return how far Kmax is below T(1), what a single loaded group holds at XOFF; None where that is not known."""
    exponent = now.dynamic_th if own.dynamic_th is None else own.dynamic_th
    if exponent is None or own.kmax_bytes is None:
        return {"xoff_bytes": None, "kmax_margin_bytes": None}
    xoff_bytes = round(group_threshold_bytes(alpha(exponent), pool_bytes, 1))
    return {"xoff_bytes": xoff_bytes, "kmax_margin_bytes": xoff_bytes - own.kmax_bytes}


def _standing(standing: Standing, places: Mapping[TrialSetting, int]) -> dict[str, Json]:
    by = standing.beaten_by
    return {
        "name": standing.name,
        "fresh": kpis_data(standing.fresh),
        "searched": kpis_data(standing.searched),
        "dominated": standing.dominated,
        "beaten": standing.beaten,
        "beaten_by": None if by is None else {"place": places.get(by.setting), **_row(by)},
    }


def kpis_data(kpis: Kpis) -> dict[str, Json]:
    """Return what a setting showed, over all workloads and of each."""
    workloads: list[Json] = [_workload(each) for each in kpis.workloads]
    return {**kpis._asdict(), "workloads": workloads}


def _workload(kpis: WorkloadKpis) -> dict[str, Json]:
    values = kpis._asdict()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
