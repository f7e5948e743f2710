"""What rules of Prometheus are made of: recordings, alerts, and the series that each alert is tested with.

An alert stands beside one set of series in which it fires and one in which it does not, as a rule of the linter stands
beside Bad and Good: promtool runs both on the rules that are rendered (:mod:`.tests_file`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.formats.telemetry.yaml_text import Yaml

Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""``critical``: jobs stop or lose data now; ``warning``: they may; ``info``: worth knowing when something is wrong."""


class RecordingRule(NamedTuple):
    """A recorded series. ``labels`` are set on what ``expr`` returns."""

    record: str
    expr: str
    labels: Mapping[str, str] = {}

    def data(self) -> dict[str, Yaml]:
        """Return it as a rule file has it."""
        labels: dict[str, Yaml] = {"labels": self.labels} if self.labels else {}
        return {"record": self.record, "expr": self.expr, **labels}


class AlertCase(NamedTuple):
    """Series as they are scraped, as promtool writes their values, and how long they are looked at.

    ``labels`` are those of the alert that fires, besides its name and severity; None: it does not fire.
    """

    series: tuple[tuple[str, str], ...]
    seconds: int
    labels: Mapping[str, str] | None = None


class Alert(NamedTuple):
    """An alert. ``follows`` names alerts that explain it, and the labels that both then share.

    Texts are templates of Prometheus: ``{{ $labels.switch }}``. ``for_s`` is how long the condition holds first.
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
        """Return it as a rule file has it."""
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
        """Return it as a rule file has it."""
        return {
            "name": self.name,
            "interval": f"{self.interval_s}s",
            "rules": [rule.data() for rule in self.rules],
        }
