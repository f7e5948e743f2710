"""All files for Prometheus and Alertmanager, by their paths below the folder of telemetry."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from lossless.formats.telemetry.alertmanager import alertmanager_config
from lossless.formats.telemetry.collection import yaml_text
from lossless.formats.telemetry.prometheus.alerts.congestion import (
    congestion_alerts,
    port_counters,
    subnet_alerts,
    subnet_recordings,
)
from lossless.formats.telemetry.prometheus.alerts.hosts import host_alerts
from lossless.formats.telemetry.prometheus.alerts.losses import loss_alerts
from lossless.formats.telemetry.prometheus.alerts.storms import storm_alerts
from lossless.formats.telemetry.prometheus.alerts.watching import AlertContext, watching_alerts
from lossless.formats.telemetry.prometheus.bench import Group, tests_data
from lossless.formats.telemetry.prometheus.healthy import healthy
from lossless.formats.telemetry.prometheus.inventory import host_facts, inventory, subnet_times, times
from lossless.formats.telemetry.prometheus.recordings import intent_groups, jobs_of, rate_group, scrape_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.telemetry.prometheus.bench import Alert, AlertCase
    from lossless.formats.telemetry.prometheus.inventory import AlertTimes
    from lossless.formats.telemetry.prometheus.recordings import ScrapeJob
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric

INTENT, RATES, ALERTS = "intent.rules", "recording.rules", "alerts.rules"
"""Names of the rule files, without the extension of YAML, so that linters of folders skip them."""
PROMETHEUS, ALERTMANAGER = "prometheus", "alertmanager/alertmanager.yml"
_RECEIVERS = """\
Fill in the receivers: until then nobody is told. Do that in a copy, since the next render overwrites this file.
Then: amtool check-config alertmanager.yml
"""
_TARGETS = """\
Addresses are the names of devices. To take it into a configuration of your own, keep the names of jobs, their interval
and the labels of targets: rules look for them, and back by seven scrapes.
"""
_TESTS = """\
Run: promtool test rules alerts.tests.yml
"""


def fabric_files(fabric: Fabric) -> dict[str, str]:
    """Return the files of a RoCE fabric, by path: rules, their tests, scrape jobs, routes of alerts."""
    intended, every = inventory(fabric), times(fabric)
    context = AlertContext(
        intended,
        every,
        host_facts(fabric),
        pfc_only=fabric.congestion is None or fabric.congestion.kind == "pfc-only",
        polled=_polled(fabric),
    )
    made = (watching_alerts, storm_alerts, loss_alerts, congestion_alerts, host_alerts)
    alerts = tuple(chain.from_iterable(alerts_of(context) for alerts_of in made))
    rates = (rate_group(intended, every),) if intended.priorities else ()
    switches = [switch.place for switch in intended.switches]
    jobs = jobs_of(fabric.name, switches=switches, hosts=intended.hosts)
    return _files(fabric.name, every, intent_groups(intended), rates, alerts, (healthy(context),), jobs)


def subnet_files(subnet: Subnet) -> dict[str, str]:
    """Return the files of an InfiniBand subnet, by path: rules, their tests, scrape jobs, routes of alerts."""
    every = subnet_times()
    hosts = tuple(host.name for host in subnet.hosts) if isinstance(subnet.hosts, tuple) else ()
    managers = [str(manager.node) for manager in subnet.managers]
    counters = port_counters(subnet.manager, hosts[0] if hosts else "host1", subnet.name)
    alerts = tuple(subnet_alerts(subnet.name, every, counters, hosts))
    rates = (subnet_recordings(subnet.name, every, counters),)
    jobs = jobs_of(subnet.name, hosts=hosts, ufm=managers if subnet.manager == "ufm" else ())
    return _files(subnet.name, every, (), rates, alerts, (), jobs)


def _polled(fabric: Fabric) -> tuple[str, ...]:
    """Return the counter groups with intended polling on all switches."""
    groups = [{name for name, on in switch.qos.counters if on} for switch in fabric.switches]
    return tuple(sorted(set.intersection(*groups))) if groups else ()


def _files(
    fabric: str,
    every: AlertTimes,
    intent: Sequence[Group],
    rates: Sequence[Group],
    alerts: Sequence[Alert],
    on_healthy: Sequence[AlertCase],
    jobs: Sequence[ScrapeJob],
) -> dict[str, str]:
    """Return the files for Prometheus and Alertmanager by path; a rule file without groups is left out."""
    groups = {
        INTENT: intent,
        RATES: rates,
        ALERTS: (Group(f"lossless-alerts-{fabric}", every.scrape, tuple(alerts)),),
    }
    rules = {name: of_file for name, of_file in groups.items() if of_file}
    order = [group.name for name in (RATES, ALERTS) for group in rules.get(name, ())]
    tested = [name for name in (RATES, ALERTS) if name in rules]
    files = {
        "prometheus.yml": yaml_text(scrape_config(jobs, every.scrape, list(rules)), _TARGETS),
        **{
            name: yaml_text({"groups": [group.data() for group in of_file]})
            for name, of_file in rules.items()
        },
        **{job.file: job.text for job in jobs},
        "alerts.tests.yml": yaml_text(tests_data(alerts, on_healthy, tested, order, every.sample), _TESTS),
    }
    routes = yaml_text(alertmanager_config(alerts), _RECEIVERS)
    return {**{f"{PROMETHEUS}/{name}": text for name, text in files.items()}, ALERTMANAGER: routes}
