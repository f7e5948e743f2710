"""The configuration of Alertmanager: routes by severity, and inhibitions, so that one cause is one notification.

Its receivers are names without settings: they send no notification until the operator configures them, and contain no
secrets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import any_of
from lossless.formats.telemetry.prometheus.bench import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.formats.telemetry.collection import Yaml
    from lossless.formats.telemetry.prometheus.bench import Alert, Severity

STORM_AT_HOST = "LosslessPauseStorm"
_REPEAT: dict[Severity, str] = {"critical": "1h", "warning": "12h", "info": "3d"}
"""Repeat interval of a firing alert by severity (ours)."""
_WAIT = "30s"
"""Group wait, Alertmanager's default: consequences of an alert come a scrape or two later and join it."""


def receiver(severity: Severity) -> str:
    """Return the name of the receiver of a severity."""
    return f"lossless-{severity}"


def alertmanager_config(alerts: Iterable[Alert]) -> dict[str, Yaml]:
    """Return a complete configuration of Alertmanager for these alerts."""
    return {
        "route": {
            "receiver": receiver("warning"),
            "group_by": ["fabric", "alertname"],
            "group_wait": _WAIT,
            "group_interval": "5m",
            "repeat_interval": _REPEAT["warning"],
            "routes": [_route(severity) for severity in SEVERITIES],
        },
        "inhibit_rules": [*_storms(), *_inhibitions(alerts)],
        "receivers": [{"name": receiver(severity)} for severity in SEVERITIES],
    }


def _route(severity: Severity) -> Yaml:
    return {
        "matchers": [f'severity="{severity}"'],
        "receiver": receiver(severity),
        "repeat_interval": _REPEAT[severity],
    }


def _storms() -> Iterator[Yaml]:
    """Yield the inhibition of pause storms between switches by a storm of the same queue from a host."""
    yield {
        "source_matchers": [f'alertname="{STORM_AT_HOST}"', 'leads_to="host"'],
        "target_matchers": [f'alertname="{STORM_AT_HOST}"', 'leads_to!="host"'],
        "equal": ["fabric", "queue"],
    }


def _inhibitions(alerts: Iterable[Alert]) -> Iterator[Yaml]:
    """Yield the inhibitions of alerts by the alerts that explain them."""
    explained: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for alert in alerts:
        for cause in alert.follows:
            explained.setdefault(cause, {})[alert.name] = None
    for (name, shared), names in explained.items():
        yield {
            "source_matchers": [f'alertname="{name}"'],
            "target_matchers": [f'alertname=~"{any_of(names)}"'],
            "equal": list(shared),
        }
