"""Recorded series and the configuration of Prometheus.

Series are the intent as values, rates by port, shares of time and of buffers, and sums of the fabric. The configuration
has a job for each kind of target, the rule files, and the address of Alertmanager.

Targets carry the labels that rules and dashboards match: ``fabric`` on all; ``switch`` as the exporter has it, with
its ``tier`` and ``rail``; ``instance`` as the intent names hosts. Their addresses are the names of devices, which a
resolver must support.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import any_of
from lossless.formats.telemetry.prometheus.alerts.watching import HOSTS_JOB, SWITCHES_JOB, UFM_JOB
from lossless.formats.telemetry.prometheus.bench import (
    INTENT,
    UNENDED,
    FabricSeries,
    Group,
    RecordingRule,
    duration,
)
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.telemetry.collection import SwitchPlace, Yaml
    from lossless.formats.telemetry.prometheus.inventory import AlertTimes, Inventory, LosslessPriority


_INTENT_INTERVAL_S = 60
"""Evaluation interval of constant values; Prometheus looks back five minutes for a value."""


def intent_groups(intended: Inventory) -> tuple[Group, ...]:
    """Return the rules that record an intent's values: a group for the fabric, then one for each switch's ports."""
    ports = grouped((port.switch, port) for port in intended.ports)
    fabric = {"fabric": intended.fabric}
    of_switches = (
        Group(
            f"lossless-intent-{intended.fabric}-{switch}",
            _INTENT_INTERVAL_S,
            tuple(
                _value(
                    "port:info", 1, fabric | port.identity | port.known | {"pfc": port.pfc} | _state(port.up)
                )
                for port in of_switch
            ),
        )
        for switch, of_switch in ports.items()
    )
    name = f"lossless-intent-{intended.fabric}"
    return (Group(name, _INTENT_INTERVAL_S, tuple(_of_fabric(intended))), *of_switches)


def _state(up: bool) -> dict[str, str]:
    return {} if up else {"out_of_service": "true"}


def _of_fabric(intended: Inventory) -> Iterator[RecordingRule]:
    fabric = {"fabric": intended.fabric}
    for place, hwsku in intended.switches:
        known = {"switch": place.name, "tier": place.tier, "rail": place.rail, "hwsku": hwsku}
        yield _value("switch:info", 1, fabric | {name: value for name, value in known.items() if value})
    for host in intended.hosts:
        yield _value("host:info", 1, fabric | {"instance": host})
    for pool in intended.pools:
        asic = {"namespace": pool.namespace} if pool.namespace else {}
        labels = fabric | {"switch": pool.switch, **asic, "pool": pool.pool}
        yield _value("headroom_pool:bytes", pool.headroom_bytes, labels)
    for name, kind in intended.kinds.items():
        for lossless in kind.priorities:
            yield from _of_kind(fabric | {"kind": name}, lossless)


def _of_kind(kind: dict[str, str], lossless: LosslessPriority) -> Iterator[RecordingRule]:
    """Yield the rules that record the intended values of one lossless priority of a kind of ports."""
    queue, group = {"queue": str(lossless.queue)}, {"pg": str(lossless.group)}
    yield _value("priority:info", 1, kind | {"priority": str(lossless.priority)})
    yield _value("queue:info", 1, kind | queue)
    yield _value("priority_group:info", 1, kind | group)
    if lossless.headroom_bytes is not None:
        yield _value("headroom:bytes", lossless.headroom_bytes, kind | group)
    if lossless.kmax_bytes is not None:
        yield _value("kmax:bytes", lossless.kmax_bytes, kind | queue)
    if lossless.detection_s is not None:
        yield _value("watchdog:seconds", lossless.detection_s, kind | {"queue": str(lossless.priority)})


def _value(name: str, value: float, labels: dict[str, str]) -> RecordingRule:
    return RecordingRule(f"{INTENT}{name}", f"vector({value:.12g})", labels)


def rate_group(intended: Inventory, every: AlertTimes) -> Group:
    """Return the rules that record storms, rates and shares by port and by pool, then sums over ports."""
    of = FabricSeries(intended.fabric)
    of_ports = (*_of_pauses(of, duration(every.rate)), *_of_losses(of, intended, every))
    rules = (*_of_storms(of, intended), *of_ports, *_sums(of))
    return Group(f"lossless-rates-{intended.fabric}", every.scrape, rules)


def _of_storms(of: FabricSeries, intended: Inventory) -> Iterator[RecordingRule]:
    """Yield the rule for storms that go on, as far as is known; none where the intent has no PFC watchdog.

    It keeps its own last value where an ASIC reports nothing from its watchdog: silence is not the end of a storm. For
    a switch that the intent no longer has, the series ends.
    """
    if intended.watched:
        storm = of.sonic("pfc_watchdog_storm")
        yield RecordingRule(
            UNENDED,
            f"{storm} == 1\nor\n(\n{of(UNENDED)}\nunless on (fabric, switch, namespace) {storm}\n"
            f"and on (fabric, switch) {of.intended('switch:info')}\n)",
        )


def _of_pauses(of: FabricSeries, window: str) -> Iterator[RecordingRule]:
    for direction in ("received", "sent"):
        frames = f"rate({of.sonic(f'pfc_{direction}_frames_total')}[{window}])"
        yield RecordingRule(f"lossless:pfc_{direction}_frames:rate", of.with_port(frames))
    pauses = f"rate({of.sonic('pfc_received_pause_seconds_total')}[{window}])"
    yield RecordingRule("lossless:pfc_received_pause:ratio", of.with_port(pauses))


def _of_losses(of: FabricSeries, intended: Inventory, every: AlertTimes) -> Iterator[RecordingRule]:
    """Yield the rules for rates of packets that lossless queues send, mark, drop, and groups drop, and for levels."""
    window = duration(every.rate)
    queues, groups = f'queue=~"{any_of(intended.queues)}"', f'pg=~"{any_of(intended.groups)}"'
    for name in ("sent_packets", "ecn_marked_packets", "dropped_packets"):
        counted = f"rate({of.sonic(f'queue_{name}_total', queues)}[{window}])"
        yield RecordingRule(f"lossless:queue_{name}:rate", of.with_port(counted))
    dropped = f"rate({of.sonic('priority_group_dropped_packets_total', groups)}[{window}])"
    yield RecordingRule("lossless:priority_group_dropped_packets:rate", of.with_port(dropped))
    yield from _levels(of, duration(every.watermark))


def _levels(of: FabricSeries, window: str) -> Iterator[RecordingRule]:
    """Yield the rules for the highest watermarks of a window as shares of headroom, Kmax and pool in the intent.

    SONiC clears the values itself, so that the last one is 0 for some time of each period.
    """
    periodic = 'window="periodic"'

    def highest(metric: str) -> str:
        return f"max_over_time({of.sonic(metric, periodic)}[{window}])"

    headroom = of.with_port(highest("priority_group_headroom_watermark_bytes"))
    yield RecordingRule(
        "lossless:priority_group_headroom:ratio",
        f"({headroom})\n/ on (fabric, kind, pg) group_left () {of.intended('headroom:bytes')}",
    )
    peak = of.with_port(highest("queue_watermark_bytes"))
    yield RecordingRule(
        "lossless:queue_peak_to_kmax:ratio",
        f"({peak})\n/ on (fabric, kind, queue) group_left () {of.intended('kmax:bytes')}",
    )
    pool = highest("buffer_pool_headroom_watermark_bytes")
    yield RecordingRule(
        "lossless:headroom_pool:ratio",
        f"{pool}\n/ on (fabric, switch, namespace, pool) group_left () {of.intended('headroom_pool:bytes')}",
    )


_SUMMED = {
    "pfc_received_frames:rate": "priority",
    "pfc_sent_frames:rate": "priority",
    "queue_ecn_marked_packets:rate": "queue",
    "queue_dropped_packets:rate": "queue",
    "priority_group_dropped_packets:rate": "pg",
}


def _sums(of: FabricSeries) -> Iterable[RecordingRule]:
    """Return the rules for sums over the fabric by tier, rail, destination of ports, and priority, queue or group."""
    return (
        RecordingRule(
            f"lossless_fabric:{name}",
            f"sum by (fabric, tier, rail, leads_to, {label}) ({of(f'lossless:{name}')})",
        )
        for name, label in _SUMMED.items()
    )


EXPORTER_PORT = 10163
"""The port of ``lossless exporter``."""
NODE_EXPORTER_PORT = 9100
"""The port of node_exporter (its README, --web.listen-address)."""
UFM_PORT = 9001
"""The port of UFM Telemetry's Prometheus endpoint (docs.nvidia.com, UFM Telemetry, Prometheus Endpoint Support)."""


class ScrapeJob(NamedTuple):
    """A scrape job of Prometheus and its targets: the address and the labels of each. ``file`` contains the targets."""

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
        """Return the job in the form of Prometheus's configuration.

        It states its own interval, by which rules look back, so that it also works within another configuration.
        """
        every: dict[str, Yaml] = {"job_name": self.name, "scrape_interval": f"{scrape_s}s"}
        honored: dict[str, Yaml] = {"honor_labels": True} if self.honor_labels else {}
        return {**every, **honored, "file_sd_configs": [{"files": [self.file]}]}


def scrape_config(jobs: Sequence[ScrapeJob], scrape_s: int, rule_files: Sequence[str]) -> dict[str, Yaml]:
    """Return a complete configuration of Prometheus."""
    return {
        "rule_files": list(rule_files),
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": ["localhost:9093"]}]}]},
        "scrape_configs": [job.data(scrape_s) for job in jobs],
    }


def jobs_of(
    fabric: str, *, switches: Sequence[SwitchPlace] = (), hosts: Sequence[str] = (), ufm: Sequence[str] = ()
) -> tuple[ScrapeJob, ...]:
    """Return the scrape jobs that have targets: exporters of switches, node_exporter on hosts, UFM Telemetry.

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
