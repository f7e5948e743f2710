"""The configuration of Prometheus: a job for each kind of target, the rule files, and where Alertmanager is.

Targets carry the labels that rules look for: ``fabric`` on all, ``switch`` as the exporter has it, ``instance`` as the
intent names hosts. Their addresses are the names of devices, which a resolver has to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.prometheus.alerts.watching import HOSTS_JOB, SWITCHES_JOB, UFM_JOB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.telemetry.places import SwitchPlace
    from lossless.formats.telemetry.yaml_text import Yaml

EXPORTER_PORT = 10163
"""That of ``lossless exporter``."""
NODE_EXPORTER_PORT = 9100
"""That of node_exporter (its README, --web.listen-address)."""
UFM_PORT = 9001
"""That of UFM Telemetry's Prometheus endpoint (docs.nvidia.com, UFM Telemetry, Prometheus Endpoint Support)."""


def scrape_config(jobs: Sequence[Yaml], scrape_s: int, rule_files: Sequence[str]) -> dict[str, Yaml]:
    """Return a whole configuration."""
    interval = f"{scrape_s}s"
    return {
        "global": {"scrape_interval": interval, "evaluation_interval": interval},
        "rule_files": list(rule_files),
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": ["localhost:9093"]}]}]},
        "scrape_configs": list(jobs),
    }


def switches_job(fabric: str, places: Sequence[SwitchPlace]) -> Yaml:
    """Return the job of the exporters; the name that a switch gives itself counts (``honor_labels``)."""
    return _job(
        SWITCHES_JOB,
        [(f"{place.name}:{EXPORTER_PORT}", {"fabric": fabric, "switch": place.name}) for place in places],
        honor_labels=True,
    )


def hosts_job(fabric: str, hosts: Sequence[str]) -> Yaml:
    """Return the job of node_exporter on hosts."""
    labels = ((f"{host}:{NODE_EXPORTER_PORT}", {"fabric": fabric, "instance": host}) for host in hosts)
    return _job(HOSTS_JOB, list(labels))


def ufm_job(fabric: str, hosts: Sequence[str]) -> Yaml:
    """Return the job of UFM Telemetry, on the hosts that UFM runs on."""
    return _job(UFM_JOB, [(f"{host}:{UFM_PORT}", {"fabric": fabric}) for host in hosts])


def _job(name: str, targets: Sequence[tuple[str, dict[str, str]]], *, honor_labels: bool = False) -> Yaml:
    honored: dict[str, Yaml] = {"honor_labels": True} if honor_labels else {}
    configs: list[Yaml] = [{"targets": [target], "labels": labels} for target, labels in targets]
    return {"job_name": name, **honored, "static_configs": configs}
