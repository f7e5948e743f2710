"""Robustness of the optimum: the results of a setting with slightly different thresholds, or another buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import DYNAMIC_TH
from lossless.analysis.simulation.tune.space import KIB
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.analysis.simulation.study.settings import TrialSetting
    from lossless.analysis.simulation.tune.kpis import Kpis

BUFFERS = {"buffer -10 %": 0.9, "buffer +10 %": 1.1}
"""Parts of the buffer for which a setting is tried besides."""

MOST_CHANGES = 8 + len(BUFFERS) + 1
"""Small changes of a setting: of thresholds, of the buffer, and other seeds."""


class Nearby(NamedTuple):
    """The results of a setting after a small change, such as ``Kmin -10 %``."""

    change: str
    kpis: Kpis


def with_buffer(scenario: Scenario, part: float) -> Scenario:
    """Return a scenario whose switches have a part of their buffer and of the pools in it; headroom stays."""
    switches = {
        key: switch._replace(
            pool_bytes=round(switch.pool_bytes * part),
            other_pools=tuple(round(size * part) for size in switch.other_pools),
        )
        for key, switch in scenario.switches.items()
    }
    return scenario._replace(switches=switches)


def nearby(setting: TrialSetting) -> Iterator[tuple[str, TrialSetting]]:
    """Yield small changes of the thresholds at all ports, each with its name; rounding is less than these."""
    changes: tuple[tuple[str, Callable[[ThresholdSetting], ThresholdSetting]], ...] = (
        ("dynamic_th -1", lambda own: _alpha(own, -1)),
        ("dynamic_th +1", lambda own: _alpha(own, 1)),
        ("Kmin -10 %", lambda own: own._replace(kmin_bytes=_part(own.kmin_bytes, 0.9))),
        ("Kmin +10 %", lambda own: _in_order(own._replace(kmin_bytes=_part(own.kmin_bytes, 1.1)))),
        ("Kmax -10 %", lambda own: _in_order(own._replace(kmax_bytes=_part(own.kmax_bytes, 0.9)))),
        ("Kmax +10 %", lambda own: own._replace(kmax_bytes=_part(own.kmax_bytes, 1.1))),
        ("Pmax a step lower", lambda own: own._replace(pmax_percent=_percent(own.pmax_percent, 0.9))),
        ("Pmax a step higher", lambda own: own._replace(pmax_percent=_percent(own.pmax_percent, 1.1))),
    )
    for name, change in changes:
        changed = setting._replace(by_kind=tuple((kind, change(own)) for kind, own in setting.by_kind))
        if changed != setting:
            yield name, changed


def _alpha(own: ThresholdSetting, step: int) -> ThresholdSetting:
    if own.dynamic_th is None:
        return own
    return own._replace(dynamic_th=min(max(own.dynamic_th + step, DYNAMIC_TH[0]), DYNAMIC_TH[-1]))


def _part(size_bytes: int | None, part: float) -> int | None:
    return None if size_bytes is None else max(1, round(size_bytes * part / KIB)) * KIB


def _percent(percent: int | None, part: float) -> int | None:
    """Return a part of a probability; a step is 10 % of it, and at least one percent."""
    if percent is None:
        return None
    step = max(1, round(percent * abs(part - 1)))
    return min(100, max(1, percent + (step if part > 1 else -step)))


def _in_order(own: ThresholdSetting) -> ThresholdSetting:
    """Return the thresholds with Kmin no higher than Kmax."""
    if own.kmin_bytes is None or own.kmax_bytes is None:
        return own
    return own._replace(kmin_bytes=min(own.kmin_bytes, own.kmax_bytes))
