"""Types of Prometheus rules: recordings, alerts, and the series with which each alert is tested.

Each alert has one set of series in which it fires and one in which it does not, as a rule of the linter has Bad and
Good: promtool runs both on the rendered rules (:mod:`.tests_file`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.formats.telemetry.yaml_text import Yaml

Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""``critical``: jobs stop or lose data now; ``warning``: they may; ``info``: context for other alerts."""


class RecordingRule(NamedTuple):
    """A recorded series. ``labels`` are set on the result of ``expr``."""

    record: str
    expr: str
    labels: Mapping[str, str] = {}

    def data(self) -> dict[str, Yaml]:
        """Return the rule in the form of a rule file."""
        labels: dict[str, Yaml] = {"labels": self.labels} if self.labels else {}
        return {"record": self.record, "expr": self.expr, **labels}


class AlertCase(NamedTuple):
    """Scraped series with values in promtool's notation, and the duration of the test.

    ``labels`` are those of the firing alert besides its name and severity; None: it does not fire.
    """

    series: tuple[tuple[str, str], ...]
    seconds: int
    labels: Mapping[str, str] | None = None


class Alert(NamedTuple):
    """An alert. ``follows`` names alerts that explain it, and the labels that both then share.

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
    """Rules that are evaluated one after another, every ``interval_s``."""

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
