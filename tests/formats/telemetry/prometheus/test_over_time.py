"""Alerts over minutes in which something happens that is healthy, or that must not be missed, as promtool sees it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.formats.telemetry.prometheus.rendered import read, rules, run, written
from tests.formats.telemetry.subjects import example, subnet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

pytestmark = pytest.mark.tools("prometheus")

FABRIC = "roce-256"
MINUTES = 20
LAST_S = MINUTES * 60 - 10
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


def fired(folder: Path, series: dict[str, str], name: str = "Lossless.*", of: str = FABRIC) -> set[str]:
    """Return the alerts that fired at any time."""
    firing = f'ALERTS{{alertname=~"{name}",alertstate="firing"}}'
    ever = f"max_over_time((count by (alertname) ({firing}))[{MINUTES}m:10s])"
    said = asked(folder, series, [{"expr": ever, "eval_time": f"{MINUTES}m", "exp_samples": []}], of)
    return {rule["alert"] for rule in rules(folder) if f'alertname="{rule["alert"]}"' in said}


def spells(folder: Path, series: dict[str, str], name: str) -> list[tuple[int, int]]:
    """Return the first and the last second of each spell in which an alert of this name fires."""
    expr = f'count(ALERTS{{alertname="{name}",alertstate="firing"}})'
    times = [{"expr": expr, "eval_time": f"{at}s", "exp_samples": []} for at in range(0, MINUTES * 60, 10)]
    said = asked(folder, series, times)
    firing = [
        60 * int(minutes or 0) + int(seconds or 0)
        for minutes, seconds in re.findall(r" time: (?:(\d+)m)?(?:(\d+)s)?,", said)
    ]
    begins = [at for at in firing if at - 10 not in firing]
    ends = [at for at in firing if at + 10 not in firing]
    return list(zip(begins, ends, strict=True))


def asked(
    folder: Path, series: dict[str, str], expected: Sequence[Mapping[str, object]], of: str = FABRIC
) -> str:
    """Return the answer of promtool to tests that expect no alert: it names those that there were."""
    test = {
        "interval": "10s",
        "input_series": [{"series": each, "values": values} for each, values in {**KNOWN, **series}.items()],
        "promql_expr_test": expected,
    }
    suite = {
        "rule_files": ["recording.rules", "alerts.rules"],
        "evaluation_interval": "10s",
        "group_eval_order": [f"lossless-rates-{of}", f"lossless-alerts-{of}"],
        "tests": [test],
    }
    (folder / "asked.json").write_text(json.dumps(suite), encoding="utf-8")
    _, said = run(folder, "promtool", "test", "rules", "asked.json")
    assert "err:" not in said, said
    assert "SUCCESS" in said or "exp:" in said, said
    return said


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


def test_a_flap_between_two_scrapes_explains_drops(folder: Path) -> None:
    changes = f"lossless_sonic_interface_status_changes_total{{{_PORT}}}"
    drops = {"LosslessQueueDrops", "LosslessPriorityGroupDrops"}
    assert fired(folder, _SCRAPED | _DROPS_LATE | {changes: f"4+0x11 6+0{_REST}"}) == set()
    assert fired(folder, _SCRAPED | _DROPS_LATE | {changes: f"4+0{_REST}"}) == drops


def test_a_link_that_goes_down_three_times_is_reported_and_a_peer_that_restarts_twice_is_not(
    folder: Path,
) -> None:
    up = f"lossless_sonic_interface_up{{{_PORT}}}"
    changes = f"lossless_sonic_interface_status_changes_total{{{_PORT}}}"
    three = {changes: f"4+0x11 6+0x10 8+0x10 10+0{_REST}"}
    assert fired(folder, _SCRAPED | three) == {"LosslessLinkFlaps"}
    assert fired(folder, _SCRAPED | {changes: f"4+0x11 6+0x10 8+0{_REST}"}) == set()
    # Of a release without the counter, as far as scrapes see it.
    assert fired(folder, _SCRAPED | {up: f"1+0x10 0 1+0x10 0 0 1+0x10 0 1+0{_REST}"}) == {"LosslessLinkFlaps"}
    assert fired(folder, _SCRAPED | {up: f"1+0x10 0 0 1+0x10 0 1+0{_REST}"}) == set()


def test_a_dead_link_of_a_host_that_answers_is_more_than_information(folder: Path) -> None:
    up = f"lossless_sonic_interface_up{{{_PORT}}}"
    host = f'up{{job="lossless-hosts",fabric="{FABRIC}",instance="host1"}}'
    dead = {up: f"1+0x10 0+0{_REST}"}
    assert fired(folder, _SCRAPED | dead | {host: f"1+0{_REST}"}) >= {"LosslessHostLinkDown"}
    away = fired(folder, _SCRAPED | dead | {host: f"0+0{_REST}"})
    assert (away & {"LosslessHostLinkDown", "LosslessPortDown"}) == {"LosslessPortDown"}
    assert "LosslessPortDown" not in fired(folder, _SCRAPED | dead | {host: f"1+0{_REST}"})


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
    assert fired(folder, _SCRAPED | link | {spine: f"1+0x10 0+0{_REST}"}) == {
        "LosslessSwitchDown",
        "LosslessSwitchScrapeFailed",
    }
    # One link of two is up: it forwards, and only its scrape fails.
    second = {name.replace("Ethernet128", "Ethernet136"): f"1+0{_REST}" for name in link}
    away = {spine: f"1+0x10 0+0{_REST}"}
    assert fired(folder, _SCRAPED | link | second | away) == {"LosslessSwitchScrapeFailed"}
    # A boot within the time in which a switch settles.
    boot = {spine: f"1+0x10 0+0x25 1+0{_REST}"}
    booted = {series: values.replace("0+0x200", "0+0x25 1+0x200") for series, values in link.items()}
    assert fired(folder, _SCRAPED | booted | boot) == set()
    assert fired(folder, _SCRAPED | link | {spine: f"1+0{_REST}"}) == {"LosslessPortDown"}


def one_of_three(values: list[int]) -> str:
    """Return the values of a series whose target answers one scrape in three; Prometheus marks the others as stale."""
    return " ".join(str(value) if number % 3 == 0 else "stale" for number, value in enumerate(values))


def test_a_target_that_answers_one_scrape_in_three_does_not_silence_an_alert_on_a_rate(folder: Path) -> None:
    pauses = f'lossless_sonic_pfc_received_frames_total{{{_PORT},priority="0"}}'
    info = f'lossless:intended_port:info{{{_PORT},kind="k",leads_to="host",neighbor="host1"}}'
    with_pfc = {info: "stale", info.replace("neighbor=", 'pfc="symmetric",neighbor='): f"1+0{_REST}"}
    values = [200 * number for number in range(LAST_S // 10)]
    for answers in (" ".join(map(str, values)), one_of_three(values)):
        ((begins, ends),) = spells(
            folder, _SCRAPED | with_pfc | {pauses: answers}, "LosslessPauseOnLossyPriority"
        )
        assert begins <= 240
        assert ends == LAST_S


_STORM = f"lossless_sonic_pfc_watchdog_storm{{{_QUEUE}}}"
_DETECTED = f"lossless_sonic_pfc_watchdog_storms_detected_total{{{_QUEUE}}}"
_UP = f'up{{job="lossless-switches",{_SWITCH}}}'
_OTHER_STORM = f'lossless_sonic_pfc_watchdog_storm{{{_PORT},queue="4"}}'


def test_a_storm_goes_on_until_the_switch_reports_its_end(folder: Path) -> None:
    detected = {_DETECTED: "0+0x9 1+0x9 stale", _UP: f"1+0x19 0+0{_REST}"}
    silent = _SCRAPED | detected | {_STORM: "0+0x9 1+0x9 stale"}
    assert spells(folder, silent, "LosslessPauseStorm") == [(100, LAST_S)]
    assert not spells(folder, silent, "LosslessWatchdogTriggered")
    # The switch is back after ten minutes, and sees no storm.
    back = silent | {_STORM: f"0+0x9 1+0x9 stale _x58 0+0{_REST}", _UP: f"1+0x19 0+0x59 1+0{_REST}"}
    ((begins, ends),) = spells(folder, back, "LosslessPauseStorm")
    assert begins == 100
    assert 780 <= ends <= 810
    # The watchdog restored the queue before the switch went silent.
    restored = silent | {_STORM: "0+0x9 1+0x4 0+0x4 stale"}
    ((begins, ends),) = spells(folder, restored, "LosslessPauseStorm")
    assert ends <= 180
    # The watchdog does not watch the port any more: other queues of the switch are reported, this one is not.
    stopped = _SCRAPED | {_STORM: "0+0x9 1+0x9 stale", _OTHER_STORM: f"0+0{_REST}"}
    ((begins, ends),) = spells(folder, stopped, "LosslessPauseStorm")
    assert ends <= 220


def test_a_switch_that_answers_one_scrape_in_three_has_one_storm_and_one_end_of_it(folder: Path) -> None:
    storm = {
        _STORM: one_of_three([0] * 12 + [1] * 30 + [0] * 80),
        _DETECTED: one_of_three([0] * 12 + [1] * 110),
    }
    ((begins, ends),) = spells(folder, _SCRAPED | storm, "LosslessPauseStorm")
    assert begins == 120
    assert 390 <= ends <= 440
    # The count of the watchdog grew, and the storm is over: told once, after the storm.
    ((after, _),) = spells(
        folder,
        _SCRAPED | storm | {_DETECTED: one_of_three([0] * 12 + [1] * 18 + [2] * 100)},
        "LosslessWatchdogTriggered",
    )
    assert after > ends


def test_frames_alone_are_no_proof_of_a_slow_receiver(folder: Path) -> None:
    """Pauses of 3 us, 2,000 frames/s at 400G: 0.3% of the time, though as many of the longest would be 17%."""
    pauses = {
        f"lossless_sonic_interface_speed_bytes_per_second{{{_PORT}}}": f"50000000000+0{_REST}",
        f'lossless_sonic_pfc_received_frames_total{{{_PORT},priority="3"}}': f"0+20000{_REST}",
        f'lossless_sonic_pfc_sent_frames_total{{{_PORT},priority="3"}}': f"0+50{_REST}",
    }
    measured = f'lossless_sonic_pfc_received_pause_seconds_total{{{_PORT},priority="3"}}'
    assert fired(folder, _SCRAPED | pauses) == set()
    assert fired(folder, _SCRAPED | pauses | {measured: f"0+0.03{_REST}"}) == set()
    assert fired(folder, _SCRAPED | pauses | {measured: f"0+4{_REST}"}) == {"LosslessSlowReceiver"}


_LIMITS = {
    f'lossless:intended_kmax:bytes{{fabric="{FABRIC}",kind="k",queue="3"}}': f"1000+0{_REST}",
    f'lossless:intended_headroom:bytes{{fabric="{FABRIC}",kind="k",pg="3"}}': f"1000+0{_REST}",
}
_CLEARED = " ".join(["0+0x5 950+0x5"] * 10)
"""A watermark as SONiC serves it: cleared each 120 s, and 0 until the next poll, 60 s later."""


def test_headroom_that_is_used_in_each_period_is_one_alert_while_sonic_clears_the_watermark(
    folder: Path,
) -> None:
    series = f'lossless_sonic_priority_group_headroom_watermark_bytes{{{_GROUP},window="periodic"}}'
    name = "LosslessHeadroomNearlyFull"
    ((begins, ends),) = spells(folder, _SCRAPED | _LIMITS | {series: _CLEARED}, name)
    assert begins == 60
    assert ends == LAST_S
    # Once is shown for as long as it is in the window of two periods.
    ((begins, ends),) = spells(folder, _SCRAPED | _LIMITS | {series: f"0+0x5 950+0x5 0+0{_REST}"}, name)
    assert begins == 60
    assert 300 <= ends <= 360
    assert not spells(folder, _SCRAPED | _LIMITS | {series: _CLEARED.replace("950", "850")}, name)


def test_a_queue_above_kmax_in_two_periods_is_no_proof_of_missing_marks(folder: Path) -> None:
    marks = {
        f"lossless_sonic_queue_ecn_marked_packets_total{{{_QUEUE}}}": f"0+0{_REST}",
        f'lossless_sonic_queue_ecn_marked_packets_total{{{_PORT},queue="4"}}': f"0+7{_REST}",
    }
    watermark = f'lossless_sonic_queue_watermark_bytes{{{_QUEUE},window="periodic"}}'
    above, below = "0+0x5 1500+0x5", "0+0x11"
    for periods, expected in (
        ((above,) * 10, {"LosslessNoMarksAboveKmax"}),
        ((above, below) * 5, {"LosslessNoMarksAboveKmax"}),
        ((above, below, below, above, below, below, below, below), set()),
    ):
        assert fired(folder, _SCRAPED | _LIMITS | marks | {watermark: " ".join(periods)}) == expected


def test_jobs_say_how_often_they_are_scraped_so_that_it_goes_with_them(folder: Path) -> None:
    configuration = read((folder / "prometheus.yml").read_text(encoding="utf-8"))
    assert {job["scrape_interval"] for job in configuration["scrape_configs"]} == {"10s"}


def test_a_port_of_a_subnet_that_is_down_for_good_and_a_host_that_is_silent_are_reported(
    tmp_path: Path,
) -> None:
    folder = written(tmp_path, subnet())
    fabric = subnet().name
    host = f'fabric="{fabric}",instance="host1"'
    port = f'{host},device="mlx5_0",port="1"'
    state, downs = f"node_infiniband_state_id{{{port}}}", f"node_infiniband_link_downed_total{{{port}}}"
    up = f'up{{job="lossless-hosts",{host}}}'
    down = {up: f"1+0{_REST}", state: f"4+0x9 1+0{_REST}", downs: f"0+0x9 1+0{_REST}"}
    assert fired(folder, down, of=fabric) == {"LosslessIbPortDown"}
    # A port without a cable, which never was up, and a host that restarts.
    assert fired(folder, down | {state: f"1+0{_REST}", downs: f"0+0{_REST}"}, of=fabric) == set()
    assert fired(folder, down | {state: f"4+0x9 1+0x18 4+0{_REST}"}, of=fabric) == set()
    silent = {up: f"1+0x9 0+0{_REST}", state: "4+0x9 stale", downs: "0+0x9 stale"}
    assert fired(folder, silent, of=fabric) == {"LosslessHostScrapeFailed"}
