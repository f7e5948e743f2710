"""The tests of promtool: for every alert series in which it fires, and series in which it does not.

They give the values of the intent as series of their own, of one port, so that their duration is the same for any
fabric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.prometheus.bench import REPEATS
from lossless.formats.telemetry.prometheus.promql import named_series

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.telemetry.prometheus.rule_data import Alert, AlertCase
    from lossless.formats.telemetry.yaml_text import Yaml


FIRING = {"alertstate": "firing"}
_SAMPLES_PER_EVALUATION = 6
"""Samples between two evaluations, more than in service, which only shortens the tests."""


def tests_data(
    alerts: Sequence[Alert],
    healthy: Sequence[AlertCase],
    rule_files: Sequence[str],
    groups: Sequence[str],
    sample_s: int,
) -> dict[str, Yaml]:
    """Return the tests of alerts for ``promtool test rules``; groups are evaluated in the order given.

    On the cases in ``healthy`` no alert may fire.
    """
    on_healthy = (
        _test("nothing fires on a healthy fabric under load", scenario, FIRING, (), sample_s)
        for scenario in healthy
    )
    return {
        "rule_files": list(rule_files),
        "evaluation_interval": f"{_SAMPLES_PER_EVALUATION * sample_s}s",
        "group_eval_order": list(groups),
        "tests": [*on_healthy, *(test for alert in alerts for test in _of_alert(alert, sample_s))],
    }


def _of_alert(alert: Alert, sample_s: int) -> Iterator[Yaml]:
    name, asked = {"alertname": alert.name}, {**FIRING, "alertname": alert.name, **alert.labels}
    shown = name | FIRING | {"severity": alert.severity, **alert.labels, **(alert.fires.labels or {})}
    fires: Yaml = {"labels": named_series("ALERTS", shown), "value": 1}
    yield _test(f"{alert.name} fires", alert.fires, asked, (fires,), sample_s)
    yield _test(f"{alert.name} does not fire", alert.quiet, asked, (), sample_s)


def _test(
    name: str, scenario: AlertCase, asked: Mapping[str, str], samples: Sequence[Yaml], sample_s: int
) -> Yaml:
    # Up to one evaluation late to begin with, and one to end.
    evaluations = -(-scenario.seconds // (_SAMPLES_PER_EVALUATION * sample_s)) + 1
    steps = evaluations * _SAMPLES_PER_EVALUATION
    return {
        "name": name,
        "interval": f"{sample_s}s",
        "input_series": [
            {"series": series, "values": values.replace(REPEATS, f"x{steps}")}
            for series, values in scenario.series
        ],
        "promql_expr_test": [
            {
                "expr": named_series("ALERTS", asked),
                "eval_time": f"{steps * sample_s}s",
                "exp_samples": list(samples),
            }
        ],
    }
