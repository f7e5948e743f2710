"""The alerts of an operator's scenarios on a whole fabric, as docs/guides/telemetry.md lists them.

Each scenario changes some series of a fabric that is healthy under load; promtool says which alerts fire within 16 to
25 minutes. Those that Alertmanager inhibits stand apart from those that it sends.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

import pytest

from lossless.formats.telemetry.metrics import (
    FOREIGN,
    RDMA_SENT,
    ethtool_metric,
    named,
    packets_sent,
    pause_counters,
)
from lossless.formats.telemetry.prometheus.bench import named_series
from lossless.formats.telemetry.prometheus.files import fabric_files
from lossless.formats.telemetry.prometheus.inventory import inventory
from tests.formats.telemetry.prometheus.rendered import metrics_in, read, run, written
from tests.formats.telemetry.subjects import example
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from lossless.formats.telemetry.prometheus.inventory import IntendedPort

pytestmark = pytest.mark.tools("prometheus")

FABRIC = "roce-256"
EVERY_S = 10
EVALUATED_S = 60
"""Time between two evaluations, longer than in service: no condition of these scenarios lasts less."""
SAMPLES = 150
BEGINS = 24
SOON = 96
"""Samples within which an alert fires that waits no longer than ten minutes."""
SLOW = ("ECN", "retransmits")
"""Words of the scenarios whose alerts wait longer."""
"""The sample at which a scenario begins: the windows of rates are full by then."""
GUIDE = ROOT / "docs" / "guides" / "telemetry.md"
INTENDED = inventory(example(FABRIC))
Values: TypeAlias = "Sequence[float | None]"
Series: TypeAlias = dict[str, Values]
"""Values by the text of a series; None where a scrape has none, which Prometheus marks as stale."""


def steady(value: float) -> Values:
    return [value] * SAMPLES


def rising(per_s: float, until: int = SAMPLES, begins: int = 0) -> Values:
    return [per_s * EVERY_S * max(0, min(at, until) - begins) for at in range(SAMPLES)]


def then(before: float, after: float, at: int = BEGINS) -> Values:
    return [before] * at + [after] * (SAMPLES - at)


def cleared(value: float) -> Values:
    """Return a periodic watermark: 0 for the first half of each period of two minutes."""
    return [0 if at % 12 < 6 else value for at in range(SAMPLES)]


def of_port(port: IntendedPort, name: str, **labels: str) -> str:
    return named_series(named(name).name, {"fabric": FABRIC, **port.identity, **labels})


def of_switch(switch: str, name: str, **labels: str) -> str:
    return named_series(named(name).name, {"fabric": FABRIC, "switch": switch, **labels})


def of_host(host: str, name: str, **labels: str) -> str:
    return named_series(name, {"fabric": FABRIC, "instance": host, **labels})


def up(job: str, device: str) -> str:
    label = "switch" if job == "switches" else "instance"
    return named_series("up", {"job": f"lossless-{job}", "fabric": FABRIC, label: device})


SWITCHES = [unit.place.name for unit in INTENDED.switches]
PORTS = INTENDED.ports
RDMA_DEVICES = ("mlx5_0", "mlx5_1")
ASKED = metrics_in(fabric_files(example(FABRIC))["prometheus/alerts.rules"])
"""The metrics that an alert asks for by itself."""


@cache
def healthy() -> Mapping[str, Values]:
    """Return the series of the whole fabric under load."""
    series: Series = {}
    for port in PORTS:
        series[of_port(port, "interface_up")] = steady(1)
        series[of_port(port, "interface_status_changes_total")] = steady(3)
        series[of_port(port, "interface_speed_bytes_per_second")] = steady(50e9)
        for item in INTENDED.kinds[port.kind].priorities:
            priority, queue, group = str(item.priority), str(item.queue), str(item.group)
            series[of_port(port, "pfc_received_frames_total", priority=priority)] = rising(50)
            series[of_port(port, "pfc_sent_frames_total", priority=priority)] = rising(50)
            series[of_port(port, "pfc_received_pause_seconds_total", priority=priority)] = rising(0.03)
            series[of_port(port, "pfc_watchdog_storm", queue=priority)] = steady(0)
            series[of_port(port, "pfc_watchdog_storms_detected_total", queue=priority)] = steady(2)
            series[of_port(port, "pfc_watchdog_detection_seconds", queue=priority)] = steady(
                item.detection_s or 1
            )
            series[of_port(port, "queue_sent_packets_total", queue=queue)] = rising(1e6)
            series[of_port(port, "queue_ecn_marked_packets_total", queue=queue)] = rising(1e3)
            series[of_port(port, "queue_dropped_packets_total", queue=queue)] = steady(17)
            series[of_port(port, "priority_group_dropped_packets_total", pg=group)] = steady(17)
            peak, headroom = (item.kmax_bytes or 0) * 1.2, (item.headroom_bytes or 0) * 0.7
            series[of_port(port, "queue_watermark_bytes", queue=queue, window="periodic")] = cleared(peak)
            marked = of_port(port, "priority_group_headroom_watermark_bytes", pg=group, window="periodic")
            series[marked] = cleared(headroom)
    for switch in SWITCHES:
        series[up("switches", switch)] = steady(1)
        series[of_switch(switch, "info")] = steady(1)
        series[of_switch(switch, "database_up", database="COUNTERS_DB")] = steady(1)
        for polled in ("PFCWD", "PORT", "QUEUE"):
            series[of_switch(switch, "polling_enabled", group=polled)] = steady(1)
    for host in INTENDED.hosts:
        series |= _of_host(host)
    return series


def _of_host(host: str) -> Series:
    series: Series = {up("hosts", host): steady(1)}
    for device in RDMA_DEVICES:
        for name, metric in FOREIGN.items():
            if name.startswith("node_infiniband") and metric.kind == "counter":
                if name not in ASKED:
                    continue
                moves = "np_ecn_marked" in name
                series[of_host(host, name, device=device, port="1")] = rising(9) if moves else steady(17)
    for device in ("eth0", "eth1"):
        series[of_host(host, f"node_{ethtool_metric(RDMA_SENT)}", device=device)] = rising(1e5)
        for priority in INTENDED.priorities:
            series[of_host(host, f"node_{ethtool_metric(packets_sent(priority))}", device=device)] = rising(
                1e5
            )
            counters = pause_counters("mlx5", priority)
            assert counters is not None
            series[of_host(host, f"node_{ethtool_metric(counters.received)}", device=device)] = rising(10)
    return series


def first(leads_to: str, switch: str = "") -> IntendedPort:
    """Return the first port of the fabric, or of a switch, that leads there."""
    return next(
        port
        for port in PORTS
        if port.leads_to == leads_to and (not switch or port.switch == switch) and port.up
    )


HOST_PORT, UPLINK = first("host", "leaf1"), first("up", "leaf1")
HOST = HOST_PORT.known["neighbor"]
SPINE = UPLINK.known["neighbor"]
FAR_END = next(
    port
    for port in PORTS
    if port.switch == SPINE
    and port.known["neighbor_port"] == UPLINK.interface
    and port.known["neighbor"] == "leaf1"
)


def device_of(name: str) -> str:
    """Return the device that answers with a series."""
    return str(re.findall(r'(?:switch|instance)="([^"]+)"', name)[0])


def silent(device: str, begins: int = BEGINS, ends: int = SAMPLES) -> Series:
    """Return the series of a device that does not answer scrapes for some time; counters begin again after it."""
    found: Series = {}
    for name, values in healthy().items():
        if device_of(name) == device and not name.startswith("up{"):
            again = values[ends - 1] if ends < SAMPLES and "_total{" in name else 0
            found[name] = [
                None if begins <= at < ends else value - (again or 0) * (at >= ends)
                for at, value in enumerate(values)
                if value is not None
            ]
    return found


def links_of(device: str, begins: int = BEGINS, ends: int = SAMPLES) -> Series:
    """Return the state of the ports that lead to a device: down for some time."""
    down = [0 if begins <= at < ends else 1 for at in range(SAMPLES)]
    changes = [3 + (at >= begins) + (at >= ends) for at in range(SAMPLES)]
    found: Series = {}
    for port in PORTS:
        if port.known.get("neighbor") == device:
            found[of_port(port, "interface_up")] = down
            found[of_port(port, "interface_status_changes_total")] = changes
    return found


def away(device: str, begins: int = BEGINS, ends: int = SAMPLES) -> Series:
    """Return a device that is down: it answers no scrape, and its neighbors have no link to it."""
    job = "switches" if device in SWITCHES else "hosts"
    answers: Values = [0 if begins <= at < ends else 1 for at in range(SAMPLES)]
    return {
        **silent(device, begins, ends),
        up(job, device): answers,
        **links_of(device, begins, ends),
    }


def stormed(ends: int = SAMPLES) -> Series:
    storm = [1 if BEGINS <= at < ends else 0 for at in range(SAMPLES)]
    return {
        of_port(HOST_PORT, "pfc_watchdog_storm", queue="3"): storm,
        of_port(HOST_PORT, "pfc_watchdog_storms_detected_total", queue="3"): then(2, 3),
    }


def flaps(times: int) -> Series:
    """Return flaps of both ends of an uplink, each shorter than a scrape, and the drops of the last one."""
    changes = [3.0 + 2 * sum(at >= BEGINS + 12 * flap for flap in range(times)) for at in range(SAMPLES)]
    drops = then(17, 90, BEGINS + 12 * (times - 1))
    return {
        of_port(UPLINK, "interface_status_changes_total"): changes,
        of_port(FAR_END, "interface_status_changes_total"): changes,
        of_port(UPLINK, "queue_dropped_packets_total", queue="3"): drops,
        of_port(FAR_END, "queue_dropped_packets_total", queue="3"): drops,
    }


def without_marks(switches: Iterable[str]) -> Series:
    chosen = set(switches)
    return {
        of_port(port, "queue_ecn_marked_packets_total", queue="3"): steady(0)
        for port in PORTS
        if port.switch in chosen
    }


def three_of_seven(series: Mapping[str, Values]) -> Series:
    """Return series of which each device misses three scrapes of seven, at its own times."""

    def missed(name: str, at: int) -> bool:
        return (at + crc32(device_of(name).encode())) % 7 in (0, 3, 5)

    return {
        name: [
            value if not missed(name, at) else 0 if name.startswith("up{") else None
            for at, value in enumerate(values)
        ]
        for name, values in series.items()
    }


def on_hosts(name: str, values: Values) -> Series:
    return {of_host(HOST, f"node_infiniband_{name}", device="mlx5_0", port="1"): values}


def rdma_elsewhere() -> Series:
    return {
        of_host(HOST, f"node_{ethtool_metric(packets_sent(priority))}", device="eth0"): steady(5)
        for priority in INTENDED.priorities
    }


def swss_restarts(switch: str) -> Series:
    """Return the counters of a switch that begin again while it answers."""
    return {
        name: [
            value if at < BEGINS else value - (values[BEGINS] or 0)
            for at, value in enumerate(values)
            if value is not None
        ]
        for name, values in healthy().items()
        if device_of(name) == switch and "_total{" in name
    }


def renamed(switch: str, name: str) -> Series:
    """Return the series of a switch that reports another name from then on."""
    found: Series = {}
    for series, values in healthy().items():
        if device_of(series) == switch and not series.startswith("up{"):
            found[series] = [*values[:BEGINS], *[None] * (SAMPLES - BEGINS)]
            found[series.replace(f'"{switch}"', f'"{name}"')] = [*[None] * BEGINS, *values[BEGINS:]]
    return found


def removed() -> Series:
    """Return an uplink whose port the leaf has no more; the spine's end goes down."""
    here = {
        name: [*values[:BEGINS], *[None] * (SAMPLES - BEGINS)]
        for name, values in healthy().items()
        if f'interface="{UPLINK.interface}"' in name and device_of(name) == "leaf1"
    }
    return here | {
        of_port(FAR_END, "interface_up"): then(1, 0),
        of_port(FAR_END, "interface_status_changes_total"): then(3, 4),
    }


def polled_each_minute(series: Mapping[str, Values]) -> Series:
    """Return series of which counters of switches move once in six scrapes."""
    return {
        name: [values[max(0, at - (at + 3) % 6)] for at in range(SAMPLES)]
        for name, values in series.items()
        if name.startswith("lossless_sonic_") and "_total{" in name
    }


SCENARIOS: dict[str, Callable[[], Series]] = {
    "full load: pauses, marks, peaks above Kmax, 70% of headroom": dict,
    "each device misses three scrapes of seven": lambda: three_of_seven(healthy()),
    "a leaf restarts within 4 min, and its counters begin again": lambda: away("leaf1", BEGINS, BEGINS + 20),
    "a stuck NIC: its port is in a storm": stormed,
    "a storm that the watchdog ended after 2 min": lambda: stormed(BEGINS + 12),
    "a leaf answers no scrape, and forwards": lambda: silent("leaf1") | {up("switches", "leaf1"): then(1, 0)},
    "a leaf is dead": lambda: away("leaf1"),
    "a spine is dead": lambda: away(SPINE),
    "a leaf and a spine are dead": lambda: away("leaf1") | away(SPINE),
    "counters of a leaf begin again while it answers": lambda: swss_restarts("leaf1"),
    "a leaf reports another name": lambda: renamed("leaf1", "tor1"),
    "a leaf no longer has the port of an uplink": removed,
    "a host is switched off": lambda: away(HOST),
    "the link of a host that answers is dead": lambda: {of_port(HOST_PORT, "interface_up"): then(1, 0)},
    "an uplink is dead": lambda: {of_port(port, "interface_up"): then(1, 0) for port in (UPLINK, FAR_END)},
    "an uplink flaps once for 3 s, and its queue drops": lambda: flaps(1),
    "an uplink flaps four times for 3 s, and its queue drops": lambda: flaps(4),
    "a lossless queue drops": lambda: {
        of_port(UPLINK, "queue_dropped_packets_total", queue="3"): then(17, 400)
    },
    "a lossless priority group drops": lambda: {
        of_port(HOST_PORT, "priority_group_dropped_packets_total", pg="3"): then(17, 400)
    },
    "95% of a headroom is used": lambda: {
        of_port(HOST_PORT, "priority_group_headroom_watermark_bytes", pg="3", window="periodic"): cleared(
            0.95 * (INTENDED.kinds[HOST_PORT.kind].priorities[0].headroom_bytes or 0)
        )
    },
    "ECN is off on one leaf": lambda: without_marks(["leaf1"]),
    "ECN is off everywhere": lambda: (
        without_marks(SWITCHES)
        | {
            of_host(
                host, "node_infiniband_np_ecn_marked_roce_packets_received_total", device=device, port="1"
            ): steady(5)
            for host in INTENDED.hosts
            for device in RDMA_DEVICES
        }
    ),
    "a host pauses its port 30% of the time": lambda: {
        of_port(HOST_PORT, "pfc_received_pause_seconds_total", priority="3"): rising(0.3)
    },
    "the same, and counters are polled once a minute": lambda: polled_each_minute(
        {
            **healthy(),
            of_port(HOST_PORT, "pfc_received_pause_seconds_total", priority="3"): rising(0.3),
        }
    ),
    "a port sends pauses of a lossy priority": lambda: {
        of_port(HOST_PORT, "pfc_sent_frames_total", priority="0"): rising(20)
    },
    "a leaf does not poll queues": lambda: {
        of_switch("leaf1", "polling_enabled", group="QUEUE"): then(1, 0),
    },
    "a leaf's watchdog does not run": lambda: {
        of_port(port, name, queue="3"): [None] * SAMPLES
        for port in PORTS
        if port.switch == "leaf1"
        for name in (
            "pfc_watchdog_storm",
            "pfc_watchdog_storms_detected_total",
            "pfc_watchdog_detection_seconds",
        )
    },
    "a host sends RDMA on another priority": rdma_elsewhere,
    "a host retransmits, and no switch drops": lambda: on_hosts("roce_adp_retransmits_total", rising(5)),
}


def text(values: Values) -> str:
    """Return values in promtool's notation."""
    runs: list[tuple[str, int]] = []
    for value in values:
        said = "stale" if value is None else f"{value:.15g}"
        if runs and runs[-1][0] == said:
            runs[-1] = said, runs[-1][1] + 1
        else:
            runs.append((said, 1))
    return " ".join(
        said if times == 1 else f"{said}x{times - 1}" if said != "stale" else " ".join(["stale"] * times)
        for said, times in runs
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("rules"), example(FABRIC))


def rows() -> dict[str, tuple[set[str], set[str]]]:
    """Return the rows of the guide's table by their scenario: the alerts that are sent, and those inhibited."""
    _, _, text = GUIDE.read_text(encoding="utf-8").partition(
        "| scenario | sent | inhibited |\n|---|---|---|\n"
    )
    lines = re.findall(r"\| ([^|]+) \| ([^|]*) \| ([^|]*) \|\n", text.partition("\n\n")[0] + "\n")
    return {
        scenario: (set(re.findall(r"`(\w+)`", sent)), set(re.findall(r"`(\w+)`", inhibited)))
        for scenario, sent, inhibited in lines
    }


def test_the_guide_has_every_scenario() -> None:
    assert list(rows()) == list(SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_has_the_alerts_that_the_guide_names(folder: Path, scenario: str) -> None:
    samples = SAMPLES if any(word in scenario for word in SLOW) else SOON
    fired = alerts_of(folder, dict(healthy()) | SCENARIOS[scenario](), samples)
    inhibited = fired & inhibited_by(folder, fired)
    assert (fired - inhibited, inhibited) == rows()[scenario]


def inhibited_by(folder: Path, fired: set[str]) -> set[str]:
    """Return the alerts that Alertmanager sends no more while these fire, on the same device."""
    routes = read((folder.parent / "alertmanager" / "alertmanager.yml").read_text(encoding="utf-8"))
    names = re.compile(r"\w*Lossless\w+")
    return {
        target
        for rule in routes["inhibit_rules"]
        # A storm on a port to a host explains those on the way to it: another port of one alert.
        if rule["source_matchers"][0] != rule["target_matchers"][0]
        if fired & set(names.findall(str(rule["source_matchers"])))
        for target in names.findall(str(rule["target_matchers"]))
    }


def alerts_of(folder: Path, series: Mapping[str, Values], samples: int) -> set[str]:
    """Return the alerts that fired at any time within so many samples."""
    files = ("intent.rules", "recording.rules", "alerts.rules")
    texts = ((folder / name).read_text(encoding="utf-8") for name in files)
    order = [group["name"] for text in texts for group in read(text)["groups"]]
    firing = 'count by (alertname) (ALERTS{alertstate="firing"})'
    ever = f"max_over_time(({firing})[{samples * EVERY_S}s:{EVALUATED_S}s])"
    suite = {
        "rule_files": list(files),
        "evaluation_interval": f"{EVALUATED_S}s",
        "group_eval_order": order,
        "tests": [
            {
                "interval": f"{EVERY_S}s",
                "input_series": [
                    {"series": name, "values": text(values[:samples])} for name, values in series.items()
                ],
                "promql_expr_test": [{"expr": ever, "eval_time": f"{samples * EVERY_S}s", "exp_samples": []}],
            }
        ],
    }
    (folder / "scenario.json").write_text(json.dumps(suite), encoding="utf-8")
    _, said = run(folder, "promtool", "test", "rules", "scenario.json")
    assert "err:" not in said, said
    return set(re.findall(r'alertname="(\w+)"', said))
