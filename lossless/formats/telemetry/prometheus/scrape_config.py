"""The configuration of Prometheus: a job for each kind of target, the rule files, and the address of Alertmanager.

Targets carry the labels that rules and dashboards match: ``fabric`` on all; ``switch`` as the exporter has it, with
its ``tier`` and ``rail``; ``instance`` as the intent names hosts. Their addresses are the names of devices, which a
resolver must support.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lossless.formats.telemetry.prometheus.alerts.watching import HOSTS_JOB, SWITCHES_JOB, UFM_JOB
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.formats.telemetry.places import SwitchPlace, Yaml

EXPORTER_PORT = 10163
"""The port of ``lossless exporter``."""
NODE_EXPORTER_PORT = 9100
"""The port of node_exporter (its README, --web.listen-address)."""
UFM_PORT = 9001
"""The port of UFM Telemetry's Prometheus endpoint (docs.nvidia.com, UFM Telemetry, Prometheus Endpoint Support)."""


class ScrapeJob(NamedTuple):
    """A job and its targets: the address and the labels of each. ``file`` contains the targets."""

    name: str
    file: str
    targets: tuple[tuple[str, Mapping[str, str]], ...]
    honor_labels: bool = False

    @property
    def text(self) -> str:
        """The content of its file of targets in the format of ``file_sd_configs``: one target a line."""
        rows = ({"targets": [address], "labels": labels} for address, labels in self.targets)
        lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
        return f"[\n{lines}\n]\n"

    def data(self, scrape_s: int) -> dict[str, Yaml]:
        """Return the job in the form of a configuration.

        It states its own interval, by which rules look back, so that it also works within another configuration.
        """
        every: dict[str, Yaml] = {"job_name": self.name, "scrape_interval": f"{scrape_s}s"}
        honored: dict[str, Yaml] = {"honor_labels": True} if self.honor_labels else {}
        return {**every, **honored, "file_sd_configs": [{"files": [self.file]}]}


def scrape_config(jobs: Sequence[ScrapeJob], scrape_s: int, rule_files: Sequence[str]) -> dict[str, Yaml]:
    """Return a complete configuration."""
    return {
        "rule_files": list(rule_files),
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": ["localhost:9093"]}]}]},
        "scrape_configs": [job.data(scrape_s) for job in jobs],
    }


def jobs_of(
    fabric: str, *, switches: Sequence[SwitchPlace] = (), hosts: Sequence[str] = (), ufm: Sequence[str] = ()
) -> tuple[ScrapeJob, ...]:
    """Return the jobs that have targets: the exporters, node_exporter on hosts, and the hosts that UFM runs on.

    A switch keeps the name that it reports itself (``honor_labels``).
    """
    made = (
        ScrapeJob(
            SWITCHES_JOB,
            "targets/switches.json",
            tuple((f"{place.name}:{EXPORTER_PORT}", _labels(fabric, place)) for place in switches),
            honor_labels=True,
        ),
        ScrapeJob(
            HOSTS_JOB,
            "targets/hosts.json",
            tuple((f"{name}:{NODE_EXPORTER_PORT}", {"fabric": fabric, "instance": name}) for name in hosts),
        ),
        ScrapeJob(
            UFM_JOB, "targets/ufm.json", tuple((f"{name}:{UFM_PORT}", {"fabric": fabric}) for name in ufm)
        ),
    )
    return tuple(job for job in made if job.targets)


def _labels(fabric: str, place: SwitchPlace) -> dict[str, str]:
    labels = {"fabric": fabric, "switch": place.name, "tier": place.tier, "rail": place.rail}
    return {name: value for name, value in labels.items() if value}
