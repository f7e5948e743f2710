"""Alerts over minutes in which something happens that is healthy, or that must not be missed, as promtool sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.formats.telemetry.prometheus.rendered import read, rules, run, written
from tests.formats.telemetry.subjects import example

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.tools("prometheus")

FABRIC = "roce-256"
MINUTES = 15
_SWITCH = f'fabric="{FABRIC}",switch="leaf1"'
_PORT = f'{_SWITCH},interface="Ethernet0"'
_QUEUE, _GROUP = f'{_PORT},queue="3"', f'{_PORT},pg="3"'
_REST = "x200"
KNOWN = {
    f"lossless:intended_switch:info{{{_SWITCH}}}": f"1+0{_REST}",
    f'lossless:intended_port:info{{{_PORT},kind="k",leads_to="host",neighbor="host1"}}': f"1+0{_REST}",
    f'lossless:intended_queue:info{{fabric="{FABRIC}",kind="k",queue="3"}}': f"1+0{_REST}",
    f'lossless:intended_priority_group:info{{fabric="{FABRIC}",kind="k",pg="3"}}': f"1+0{_REST}",
}
_SCRAPED = {
    f'up{{job="lossless-switches",{_SWITCH}}}': f"1+0{_REST}",
    f"lossless_sonic_info{{{_SWITCH}}}": f"1+0{_REST}",
    f"lossless_sonic_interface_up{{{_PORT}}}": f"1+0{_REST}",
}
_DROPS_LATE = {
    f"lossless_sonic_queue_dropped_packets_total{{{_QUEUE}}}": f"0+0x13 50+0{_REST}",
    f"lossless_sonic_priority_group_dropped_packets_total{{{_GROUP}}}": f"0+0x13 50+0{_REST}",
}
"""What was dropped at 110 s to 130 s, and is polled and scraped a little later."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("rules"), example(FABRIC))


def fired(folder: Path, series: dict[str, str], name: str = "Lossless.*") -> set[str]:
    """Return the alerts that fired at any time."""
    (folder / "asked.json").write_text(json.dumps(_suite(series, name)), encoding="utf-8")
    _, said = run(folder, "promtool", "test", "rules", "asked.json")
    assert "err:" not in said, said
    return {rule["alert"] for rule in rules(folder) if f'alertname="{rule["alert"]}"' in said}


def _suite(series: dict[str, str], name: str) -> dict[str, object]:
    """Return a test that expects no alert, so that promtool names those that there were."""
    firing = f'ALERTS{{alertname=~"{name}",alertstate="firing"}}'
    ever = f"max_over_time((count by (alertname) ({firing}))[{MINUTES}m:10s])"
    test = {
        "interval": "10s",
        "input_series": [{"series": each, "values": values} for each, values in {**KNOWN, **series}.items()],
        "promql_expr_test": [{"expr": ever, "eval_time": f"{MINUTES}m", "exp_samples": []}],
    }
    files = ["recording.rules", "alerts.rules"]
    return {"rule_files": files, "evaluation_interval": "10s", "tests": [test]}


def test_drops_counted_after_what_explains_them_raise_no_alert_when_that_is_forgotten(folder: Path) -> None:
    flap = {f"lossless_sonic_interface_up{{{_PORT}}}": f"1+0x10 0 0 1+0{_REST}"}
    storm = {
        f"lossless_sonic_interface_up{{{_PORT}}}": f"1+0{_REST}",
        f"lossless_sonic_pfc_watchdog_storm{{{_QUEUE}}}": f"0+0x10 1 1 0+0{_REST}",
        f"lossless_sonic_pfc_watchdog_storms_detected_total{{{_QUEUE}}}": f"0+0x10 1+0{_REST}",
    }
    drops = {"LosslessQueueDrops", "LosslessPriorityGroupDrops"}
    assert fired(folder, _SCRAPED | _DROPS_LATE | flap) & drops == set()
    assert fired(folder, _SCRAPED | _DROPS_LATE | storm) & drops == set()
    assert fired(folder, _SCRAPED | _DROPS_LATE) & drops == drops


def test_a_switch_that_gnmic_reads_is_watched_and_its_drops_are_seen(folder: Path) -> None:
    of_gnmic = {
        'up{job="lossless-switches",instance="collector:9804"}': f"1+0{_REST}",
        f"lossless_sonic_queue_sent_packets_total{{{_QUEUE}}}": f"0+50{_REST}",
    }
    assert fired(folder, of_gnmic | _DROPS_LATE) == {"LosslessQueueDrops", "LosslessPriorityGroupDrops"}
    assert fired(folder, {}) == {"LosslessSwitchNotATarget"}


def test_a_switch_that_calls_itself_otherwise_than_the_intent_does_is_not_silent(folder: Path) -> None:
    up, info, _ = _SCRAPED
    otherwise = info.replace("leaf1", "leaf1.example.net")
    assert fired(folder, {up: f"1+0{_REST}", otherwise: f"1+0{_REST}"}) == {"LosslessSwitchNotATarget"}


def test_a_switch_that_is_upgraded_is_told_once_and_not_by_each_of_its_neighbors(folder: Path) -> None:
    up = f'{_SWITCH},interface="Ethernet128"'
    link = {
        f'lossless:intended_port:info{{{up},kind="k",leads_to="up",neighbor="spine1"}}': f"1+0{_REST}",
        f"lossless_sonic_interface_up{{{up}}}": f"1+0x10 0+0{_REST}",
    }
    spine = f'up{{job="lossless-switches",fabric="{FABRIC}",switch="spine1"}}'
    assert fired(folder, _SCRAPED | link | {spine: f"1+0x10 0+0{_REST}"}) == {"LosslessSwitchScrapeFailed"}
    assert fired(folder, _SCRAPED | link | {spine: f"1+0{_REST}"}) == {"LosslessPortDown"}


def test_jobs_say_how_often_they_are_scraped_so_that_it_goes_with_them(folder: Path) -> None:
    configuration = read((folder / "prometheus.yml").read_text(encoding="utf-8"))
    assert {job["scrape_interval"] for job in configuration["scrape_configs"]} == {"10s"}
