"""A storm from a switch's counters to one notification: redis, exporter, Prometheus' rules, Alertmanager.

The state of a captured switch lies in a real redis; the exporter is scraped again and again while a storm begins. What
the scrapes say goes through the rendered rules in promtool, and the alerts that fire through a real alertmanager with
the rendered routes.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.formats.telemetry.alertmanager_server import running
from tests.formats.telemetry.prometheus.rendered import rules, run, written
from tests.formats.telemetry.promtool import INTERVAL_S, Scrape, input_series
from tests.formats.telemetry.scraping import exporter_of
from tests.formats.telemetry.subjects import example
from tests.redis_server import NUMBER_OF, Redis, databases_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

pytestmark = [pytest.mark.tools("redis"), pytest.mark.tools("prometheus")]

FABRIC = "roce-256"
PORT, PRIORITY, QUEUE_OID, PORT_OID = "Ethernet0", "3", "oid:0x1500000000035a", "oid:0x1000000000012"
CALM, STORM = 8, 4
"""Scrapes before the storm, and while it goes on."""
HOST = {"fabric": FABRIC, "job": "lossless-hosts", "instance": "host2"}
"""A host that talks to the one behind the storm."""


def target(switch: str) -> dict[str, str]:
    return {"fabric": FABRIC, "job": "lossless-switches", "switch": switch}


@pytest.fixture
def captured(redis: Redis, reference: Path) -> Redis:
    """The captured state, before any storm."""
    redis.fill(databases_in(reference / "captures/state/sonic-db/su-single"))
    calm = {"PFC_WD_STATUS": "operational", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": "1"}
    redis.fill({"COUNTERS_DB": {f"COUNTERS:{QUEUE_OID}": calm}})
    other = redis.ask(
        "HGET", "COUNTERS_QUEUE_NAME_MAP", "Ethernet8:4", number=NUMBER_OF["COUNTERS_DB"]
    ).strip()
    redis.fill({"COUNTERS_DB": {f"COUNTERS:{other}": {"PFC_WD_STATUS": "operational"}}})
    return redis


def scrapes(redis: Redis, switch: str) -> Iterator[Scrape]:
    """Yield what a switch answers while the port is paused without an end, and its watchdog says so."""
    exporter = exporter_of(redis, switch)
    for number in range(CALM + STORM):
        if number >= CALM:
            paused = {
                f"SAI_PORT_STAT_PFC_{PRIORITY}_RX_PKTS": str(number * 360_000),
                f"EST_PORT_STAT_PFC_{PRIORITY}_RX_PAUSE_DURATION_US": str(20_000_003 + number * 15_000_000),
            }
            dropped = str(1000 * (number - CALM + 1))
            stormed = {
                "PFC_WD_STATUS": "stormed",
                "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "2",
                "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS": dropped,
                "SAI_QUEUE_STAT_DROPPED_PACKETS": dropped,
            }
            redis.fill({"COUNTERS_DB": {f"COUNTERS:{PORT_OID}": paused, f"COUNTERS:{QUEUE_OID}": stormed}})
        yield Scrape(exporter.exposition().decode(), target(switch))
    exporter.close()


def host_scrapes() -> Iterator[Scrape]:
    """Yield what node_exporter says of a host whose packets to the stormed one are lost."""
    for number in range(CALM + STORM):
        lost = max(0, number - CALM + 1) * 50
        yield Scrape(
            f'node_infiniband_local_ack_timeout_errors_total{{device="mlx5_0",port="1"}} {lost}\n', HOST
        )


def firing(folder: Path, series: list[dict[str, str]], alerts: list[str]) -> list[dict[str, str]]:
    """Return the labels of the alerts of some names that fire at the end, as promtool evaluates the rules."""
    suite = {
        "rule_files": ["intent.rules", "recording.rules", "alerts.rules"],
        "evaluation_interval": f"{INTERVAL_S}s",
        "group_eval_order": _groups(folder),
        "tests": [
            {
                "interval": f"{INTERVAL_S}s",
                "input_series": series,
                "promql_expr_test": [
                    {
                        "expr": f'ALERTS{{alertstate="firing",alertname=~"{"|".join(alerts)}"}} * 0',
                        "eval_time": f"{(CALM + STORM - 1) * INTERVAL_S}s",
                        "exp_samples": [],
                    }
                ],
            }
        ],
    }
    (folder / "storm.json").write_text(json.dumps(suite), encoding="utf-8")
    _, said = run(folder, "promtool", "test", "rules", "storm.json")
    assert "err:" not in said, said
    # What promtool got and was not told to expect: the alerts.
    found = said.partition("got:")[2]
    return [dict(re.findall(r'(\w+)="([^"]*)"', match)) for match in re.findall(r"\{(.*?)\} 0E", found)]


def _groups(folder: Path) -> list[str]:
    names = re.findall(r"- name: (\S+)", "".join((folder / f"{name}.rules").read_text() for name in _FILES))
    return [name.strip('"') for name in names]


_FILES = ("intent", "recording", "alerts")


def alert(labels: Mapping[str, str], annotations: Mapping[str, str]) -> dict[str, Any]:
    own = {name: value for name, value in labels.items() if name not in ("alertstate", "__name__")}
    return {"labels": own, "annotations": dict(annotations)}


def test_a_storm_is_one_notification_with_what_to_run_next(tmp_path: Path, captured: Redis) -> None:
    folder = written(tmp_path / "telemetry", example(FABRIC))
    leaf = list(scrapes(captured, "leaf1"))
    # Pauses propagate to the spine: its own watchdog triggers on its port to leaf1, a little later.
    spine = [
        Scrape(scrape.text.replace('switch="leaf1"', 'switch="spine1"'), target("spine1")) for scrape in leaf
    ]
    series = input_series(list(zip(leaf, [spine[0], *spine[:-1]], host_scrapes(), strict=True)))
    named = {rule["alert"]: rule for rule in rules(folder)}
    fires = firing(folder, series, [name for name in named if name not in _ABSENT])
    by_name = {f"{found['alertname']} {found.get('switch', '')}".strip() for found in fires}
    assert by_name == {
        "LosslessPauseStorm leaf1",
        "LosslessPauseStorm spine1",
    }
    also = [
        {
            "alertname": name,
            "severity": named[name]["labels"]["severity"],
            "fabric": FABRIC,
            "instance": "host2",
        }
        for name in ("LosslessHostAckTimeouts", "LosslessHostRetransmits")
    ]
    with running(tmp_path, tmp_path / "telemetry" / "alertmanager" / "alertmanager.yml") as manager:
        manager.post([alert(labels, named[labels["alertname"]]["annotations"]) for labels in (*fires, *also)])
        notification = manager.next()
        # All groups wait equally long: once a later one is told of, all that came with the storm have had their time.
        manager.post([alert({"alertname": "Later", "severity": "info", "fabric": "another"}, {})])
        later = manager.next()
        states = manager.states()
    assert [found["labels"]["switch"] for found in notification["alerts"]] == ["leaf1"]
    assert notification["receiver"] == "lossless-critical"
    assert notification["alerts"][0]["labels"]["neighbor"] == "host1"
    assert "lossless verify INTENT CAPTURES" in notification["alerts"][0]["annotations"]["runbook"]
    assert later["groupLabels"]["alertname"] == "Later"
    assert {name for name, state in states.items() if state == "active"} == {
        "LosslessPauseStorm leaf1",
        "Later",
    }
    assert states["LosslessPauseStorm spine1"] == "suppressed"
    assert states["LosslessHostAckTimeouts host2"] == "suppressed"


def test_before_the_storm_the_captured_switch_raises_no_alarm(tmp_path: Path, captured: Redis) -> None:
    folder = written(tmp_path, example(FABRIC))
    exporter = exporter_of(captured, "leaf1")
    calm = [[Scrape(exporter.exposition().decode(), target("leaf1"))] for _ in range(CALM + STORM)]
    exporter.close()
    alerts = [rule["alert"] for rule in rules(folder)]
    assert firing(folder, input_series(calm), [name for name in alerts if name not in _ABSENT]) == []


_ABSENT = {
    "LosslessSwitchNotATarget",
    "LosslessHostNotATarget",
    "LosslessHostCountersMissing",
    "LosslessPortMissing",
    "LosslessPortDown",
    "LosslessWatchdogNotRunning",
    "LosslessCounterPollingOff",
}
"""Alerts on what is not there: of this fabric only one switch was captured, and it has other ports."""
