"""Every query of every panel gives data on some state, as promtool evaluates it; and on what hosts really exposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.foreign_metrics import FOREIGN
from lossless.formats.telemetry.metrics import METRICS
from tests.formats.telemetry.grafana.test_boards import expressions
from tests.formats.telemetry.promtool import (
    INTERVAL_S,
    Scrape,
    as_grafana_asks,
    input_series,
    installed,
    without_data,
)
from tests.formats.telemetry.series import SWITCH_LABELS, exposition

if TYPE_CHECKING:
    from pathlib import Path

LEAF = {"job": "lossless-switches", "switch": "leaf1", "tier": "leaf", "rail": "0"}
SPINE = {"job": "lossless-switches", "switch": "spine1", "tier": "spine"}
SUPER_SPINE = {"job": "lossless-switches", "switch": "super1", "tier": "super-spine"}
NO_TIER = {"job": "lossless-switches", "switch": "switch1", "tier": "switch"}
HOST = {"job": "lossless-hosts", "instance": "host1"}
UFM = {"job": "lossless-ufm"}
TIMES = range(5)
NOW_S = TIMES[-1] * INTERVAL_S
HOST_LABELS = {"device": ("mlx5_0", "eth0"), "port": ("1",)}
UFM_LABELS = dict.fromkeys(("source", "node_guid", "port_guid", "port_num"), ("1",))
FIRING = 'ALERTS{alertname="LosslessPauseStorm",alertstate="firing",severity="critical"} 1'
_PROGRAMS = ("node_exporter", "UFM Telemetry")


def storm(time: int) -> list[Scrape]:
    """Return what all would expose in a storm that spares no counter; one spine pauses others and is not paused."""
    ports = SWITCH_LABELS | {"interface": ("Ethernet0", "Ethernet24")}
    incast = [metric for metric in METRICS if metric.name != "lossless_sonic_pfc_received_frames_total"]
    of = {
        program: [metric for metric in FOREIGN.values() if metric.program == program] for program in _PROGRAMS
    }
    return [
        *(
            Scrape(exposition(METRICS, ports | {"switch": (target["switch"],)}, time), target)
            for target in (LEAF, SPINE, SUPER_SPINE, NO_TIER)
        ),
        Scrape(exposition(incast, ports | {"switch": ("spine2",)}, time), SPINE | {"switch": "spine2"}),
        Scrape('lossless_sonic_polling_enabled{group="PG_DROP"} 0', LEAF | {"switch": "leaf2"}),
        Scrape(exposition(of["node_exporter"], HOST_LABELS, time), HOST),
        Scrape(exposition(of["UFM Telemetry"], UFM_LABELS, time), UFM),
        Scrape(FIRING, {}),
    ]


@installed
def test_every_query_gives_data_in_a_storm(tmp_path: Path) -> None:
    asked = map(as_grafana_asks, expressions())
    assert without_data(tmp_path, input_series([storm(time) for time in TIMES]), asked, NOW_S) == []


@installed
def test_a_fabric_without_counters_would_have_been_noticed(tmp_path: Path) -> None:
    asked = list(map(as_grafana_asks, expressions()))
    assert without_data(tmp_path, input_series([[Scrape("other 1", {})]]), asked, 0) == asked
