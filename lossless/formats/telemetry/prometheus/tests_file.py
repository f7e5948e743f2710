"""The tests of promtool: for every alert series in which it fires, and series in which it does not.

They give the values of the intent as series of their own, of one port, so that they take as long on any fabric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.prometheus.bench import REPEATS
from lossless.formats.telemetry.prometheus.promql import named_series

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.telemetry.prometheus.rule_data import Alert, Scenario
    from lossless.formats.telemetry.yaml_text import Yaml


_SAMPLES_PER_EVALUATION = 3
"""Rules are evaluated more seldom than in service, which changes nothing but the time that tests take."""


def tests_data(
    alerts: Sequence[Alert], rule_files: Sequence[str], groups: Sequence[str], sample_s: int
) -> dict[str, Yaml]:
    """Return the tests of alerts, as ``promtool test rules`` reads them; groups are evaluated in the order given."""
    return {
        "rule_files": list(rule_files),
        "evaluation_interval": f"{_SAMPLES_PER_EVALUATION * sample_s}s",
        "group_eval_order": list(groups),
        "tests": [test for alert in alerts for test in _tests(alert, sample_s)],
    }


def _tests(alert: Alert, sample_s: int) -> Iterator[Yaml]:
    yield _test(alert, alert.fires, "fires", sample_s)
    yield _test(alert, alert.quiet, "does not fire", sample_s)


def _test(alert: Alert, scenario: Scenario, what: str, sample_s: int) -> Yaml:
    # Up to one evaluation late to begin with, and one to end.
    evaluations = -(-scenario.seconds // (_SAMPLES_PER_EVALUATION * sample_s)) + 1
    steps = evaluations * _SAMPLES_PER_EVALUATION
    own = {"alertname": alert.name, "alertstate": "firing", "severity": alert.severity, **alert.labels}
    samples: list[Yaml] = []
    if scenario.labels is not None:
        samples = [{"labels": named_series("ALERTS", own | dict(scenario.labels)), "value": 1}]
    return {
        "name": f"{alert.name} {what}",
        "interval": f"{sample_s}s",
        "input_series": [
            {"series": series, "values": values.replace(REPEATS, f"x{steps}")}
            for series, values in scenario.series
        ],
        "promql_expr_test": [
            {
                "expr": named_series(
                    "ALERTS", {"alertname": alert.name, "alertstate": "firing", **alert.labels}
                ),
                "eval_time": f"{steps * sample_s}s",
                "exp_samples": samples,
            }
        ],
    }
