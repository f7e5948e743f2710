"""Types of Prometheus rules, parts of their expressions, and the tests of alerts with their series.

Rules are recordings and alerts. Each alert has one set of series in which it fires and one in which it does not, as a
rule of the linter has Bad and Good: promtool runs both on the rendered rules (:func:`tests_data`).

The tests of promtool have for every alert series in which it fires, and series in which it does not. They give the
values of the intent as series of their own, of one port, so that their duration is the same for any fabric. Series
are those of one port, switch or host of the fabric, in promtool's notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from lossless.formats.telemetry.metrics import named
from lossless.formats.telemetry.prometheus.inventory import WATERMARK_S
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.telemetry.collection import Yaml
    from lossless.formats.telemetry.prometheus.inventory import (
        AlertTimes,
        IntendedPort,
        Inventory,
        LeadsTo,
        LosslessPriority,
    )


Line = tuple[str, str]
"""A series of a test, and its values in promtool's notation."""
Labels = dict[str, str]
REPEATS = "xN"
"""Placeholder for the number of repetitions of a step, which the test derives from its duration."""


def steady(value: float) -> str:
    """Return the values of a constant series in promtool's notation."""
    return f"{value:.12g}+0{REPEATS}"


def rising(step: float) -> str:
    """Return the values of a counter that grows by ``step`` from one scrape to the next, in promtool's notation."""
    return f"0+{step:.12g}{REPEATS}"


def saw_tooth(value: float, every: AlertTimes, seconds: int) -> str:
    """Return the values of a PERIODIC watermark in promtool's notation: 0 after SONiC cleared it, then the peak."""
    half = max(1, WATERMARK_S // 2 // every.sample)
    period = f"0+0x{half - 1} {value:.12g}+0x{half - 1}"
    # Tests last up to two evaluations longer than their seconds.
    samples = seconds // every.sample + 2 * _SAMPLES_PER_EVALUATION
    return " ".join([period] * (samples // (2 * half) + 1))


def line(name: str, labels: Mapping[str, str], values: str) -> Line:
    """Return a series by name and labels, with its values."""
    return named_series(name, labels), values


class PortBench(NamedTuple):
    """A switch port of the intent and one of its lossless priorities, whose series the tests of alerts use."""

    intended: Inventory
    port: IntendedPort
    lossless: LosslessPriority

    @property
    def identity(self) -> Labels:
        """The labels of all series of the port."""
        return {"fabric": self.intended.fabric, **self.port.identity}

    @property
    def labels(self) -> Labels:
        """The labels of an alert on the port."""
        return {**self.identity, **self.port.known}

    @property
    def intent(self) -> tuple[Line, ...]:
        """The recorded series of the intent for this port and priority."""
        kind = {"fabric": self.intended.fabric, "kind": self.port.kind}
        item = self.lossless
        queue, group = {"queue": str(item.queue)}, {"pg": str(item.group)}
        values = (
            ("port:info", self.labels | {"pfc": self.port.pfc}, 1),
            ("priority:info", kind | {"priority": str(item.priority)}, 1),
            ("queue:info", kind | queue, 1),
            ("priority_group:info", kind | group, 1),
            ("headroom:bytes", kind | group, item.headroom_bytes),
            ("kmax:bytes", kind | queue, item.kmax_bytes),
            ("watchdog:seconds", kind | {"queue": str(item.priority)}, item.detection_s),
        )
        return tuple(
            line(f"{INTENT}{name}", labels, steady(value))
            for name, labels, value in values
            if value is not None
        )

    def sonic(self, name: str, values: str, **labels: str) -> Line:
        """Return a series of the port as ``lossless exporter`` serves it, with these values."""
        return line(named(name).name, self.identity | labels, values)

    def scenario(self, seconds: int, *lines: Line, fires: Mapping[str, str] | None = None) -> AlertCase:
        """Return the test of an alert after ``seconds``, with the series ``lines`` besides those of the intent.

        ``fires`` are labels of the alert besides those of the port, None if it does not fire.
        """
        return AlertCase((*self.intent, *lines), seconds, None if fires is None else {**self.labels, **fires})


def port_bench(intended: Inventory, *leads_to: LeadsTo, priority: int | None = None) -> PortBench | None:
    """Return the first lossless port, if given one that leads to ``leads_to`` and has ``priority``; None for none."""
    return next(
        (
            bench
            for bench in _benches(intended)
            if (not leads_to or bench.port.leads_to in leads_to)
            and (priority is None or bench.lossless.priority == priority)
        ),
        None,
    )


def _benches(intended: Inventory) -> Iterator[PortBench]:
    for port in intended.ports:
        for lossless in intended.kinds[port.kind].priorities:
            yield PortBench(intended, port, lossless)


PORT = "fabric, switch, namespace, interface"
"""The labels that name a port; ``namespace`` is empty on switches with one ASIC, which matches too."""
INTENT = "lossless:intended_"
"""The prefix of the recorded values of the intent."""
UNENDED = "lossless:pfc_watchdog_storm:unended"
"""The recorded storms whose end no scrape has reported."""
KNOWN = "kind, tier, rail, leads_to, neighbor, neighbor_port"
"""The labels that the intent adds to a port's identity."""


class FabricSeries(NamedTuple):
    """The selectors of one fabric's series, by their names; each series has the label ``fabric`` of its target."""

    fabric: str

    def __call__(self, name: str, *matchers: str) -> str:
        """Return the selector of the series of a metric that matchers select."""
        return f"{name}{{{', '.join((matching('fabric', self.fabric), *matchers))}}}"

    def sonic(self, name: str, *matchers: str) -> str:
        """Return the selector of a metric of the exporter, given without its prefix; KeyError for an unknown name."""
        return self(named(name).name, *matchers)

    def intended(self, name: str, *matchers: str) -> str:
        """Return the selector of a recorded value of the intent."""
        return self(f"{INTENT}{name}", *matchers)

    def with_port(self, expression: str) -> str:
        """Return a PromQL expression on ports with the labels of the intent; ports outside the intent are dropped."""
        return f"{expression}\n* on ({PORT}) group_left ({KNOWN}) {self.intended('port:info')}"


def matching(label: str, value: str) -> str:
    """Return the PromQL matcher for a label with exactly this value."""
    return f'{label}="{value}"'


def named_series(name: str, labels: Mapping[str, str]) -> str:
    """Return one series by its name and labels."""
    return f"{name}{{{', '.join(matching(*label) for label in labels.items())}}}"


def duration(seconds: int) -> str:
    """Return a duration in PromQL's notation: ``5m``, ``40s``."""
    return f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"


Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""``critical``: jobs stop or lose data now; ``warning``: they may; ``info``: context for other alerts."""


class RecordingRule(NamedTuple):
    """A recording rule of Prometheus. ``labels`` are set on the result of ``expr``."""

    record: str
    expr: str
    labels: Mapping[str, str] = {}

    def data(self) -> dict[str, Yaml]:
        """Return the rule in the form of a rule file."""
        labels: dict[str, Yaml] = {"labels": self.labels} if self.labels else {}
        return {"record": self.record, "expr": self.expr, **labels}


class AlertCase(NamedTuple):
    """A test of an alert: series with values in promtool's notation, and its duration.

    ``labels`` are those of the firing alert besides its name and severity; None: it does not fire.
    """

    series: tuple[tuple[str, str], ...]
    seconds: int
    labels: Mapping[str, str] | None = None


class Alert(NamedTuple):
    """An alerting rule of Prometheus, with its tests.

    ``follows`` names alerts that explain it, and the labels that both then share.

    Texts are templates of Prometheus: ``{{ $labels.switch }}``. ``for_s`` is how long the condition must hold.
    """

    name: str
    severity: Severity
    expr: str
    for_s: int
    summary: str
    description: str
    runbook: str
    fires: AlertCase
    quiet: AlertCase
    labels: Mapping[str, str] = {}
    follows: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def data(self) -> dict[str, Yaml]:
        """Return the alert in the form of a rule file."""
        waits: dict[str, Yaml] = {"for": f"{self.for_s}s"} if self.for_s else {}
        return {
            "alert": self.name,
            "expr": self.expr,
            **waits,
            "labels": {"severity": self.severity, **self.labels},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook": self.runbook,
            },
        }


class Group(NamedTuple):
    """Rules of Prometheus that are evaluated one after another, every ``interval_s`` seconds."""

    name: str
    interval_s: int
    rules: tuple[RecordingRule | Alert, ...]

    def data(self) -> dict[str, Yaml]:
        """Return the group in the form of a rule file."""
        return {
            "name": self.name,
            "interval": f"{self.interval_s}s",
            "rules": [rule.data() for rule in self.rules],
        }


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
