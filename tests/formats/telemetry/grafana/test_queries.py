"""Every query of every panel gives data on some state, as promtool evaluates it; and on what hosts really exposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.formats.telemetry.metrics import FOREIGN, METRICS, PREFIX
from tests.formats.telemetry.grafana.subject_boards import boards
from tests.formats.telemetry.grafana.test_boards import expressions, metrics, panels
from tests.formats.telemetry.promtool import (
    INTERVAL_S,
    Scrape,
    as_grafana_asks,
    input_series,
    without_data,
)
from tests.formats.telemetry.scraping import exporter_of
from tests.formats.telemetry.series import SWITCH_LABELS, exposition
from tests.redis_server import databases_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.redis_server import Redis

FABRIC = {"fabric": "roce-256"}
LEAF = FABRIC | {"job": "lossless-switches", "switch": "leaf1", "tier": "leaf", "rail": "0"}
SPINE = FABRIC | {"job": "lossless-switches", "switch": "spine1", "tier": "spine"}
SUPER_SPINE = FABRIC | {"job": "lossless-switches", "switch": "super1", "tier": "super-spine"}
NO_TIER = FABRIC | {"job": "lossless-switches", "switch": "switch1", "tier": "switch"}
HOST = FABRIC | {"job": "lossless-hosts", "instance": "host1"}
UFM = FABRIC | {"job": "lossless-ufm"}
TIMES = range(5)
NOW_S = TIMES[-1] * INTERVAL_S
HOST_LABELS = {"device": ("mlx5_0", "eth0"), "port": ("1",)}
UFM_LABELS = dict.fromkeys(("source", "node_guid", "port_guid", "port_num"), ("1",))
FIRING = 'ALERTS{alertname="LosslessPauseStorm",alertstate="firing",fabric="roce-256",severity="critical"} 1'
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


@pytest.mark.tools("prometheus")
def test_every_query_gives_data_in_a_storm(tmp_path: Path) -> None:
    asked = map(as_grafana_asks, expressions())
    assert without_data(tmp_path, input_series([storm(time) for time in TIMES]), asked, NOW_S) == []


@pytest.mark.tools("prometheus")
def test_a_fabric_without_counters_would_have_been_noticed(tmp_path: Path) -> None:
    asked = list(map(as_grafana_asks, expressions()))
    assert without_data(tmp_path, input_series([[Scrape("other 1", {})]]), asked, 0) == asked


@pytest.mark.tools("prometheus")
def test_queries_of_switches_give_data_on_captured_databases(
    redis: Redis, reference: Path, tmp_path: Path
) -> None:
    """As the exporter serves them; what is left has no data there, for want of what the capture does not have."""
    redis.fill(databases_in(reference / "captures/state/sonic-db/su-single"))
    scrapes = [
        Scrape(exporter_of(redis, target["switch"]).exposition().decode(), target) for target in (LEAF, SPINE)
    ]
    asked = {
        as_grafana_asks(query.expression)
        for board in boards("roce-256")
        for panel in panels(board)
        for query in panel.queries
        if query.expression.startswith(("rate", "sum", "max", "8 *", "lossless"))
        and "> 0" not in query.expression
        if all(name.startswith(PREFIX) for name in metrics(query.expression))
    }
    left = without_data(tmp_path, input_series([scrapes] * 3), asked, 2 * INTERVAL_S)
    assert len(asked) > 40
    assert {name.removeprefix(PREFIX) for expression in left for name in metrics(expression)} == ABSENT


@pytest.mark.tools("prometheus")
def test_what_gnmic_serves_of_a_switch_is_enough_to_choose_it_and_its_ports(tmp_path: Path) -> None:
    _, board, *_ = boards("roce-256")
    queries = {variable.name: variable.query for variable in board.variables}
    asked = [
        as_grafana_asks(queries[name].removeprefix("label_values(").rpartition(",")[0])
        for name in ("switch", "interface")
    ]
    served = 'lossless_sonic_queue_sent_packets_total{switch="leaf1",interface="Ethernet0",queue="3"} 5'
    assert without_data(tmp_path, input_series([[Scrape(served, FABRIC)]]), asked, 0) == []


@pytest.mark.tools("prometheus")
def test_ports_of_one_name_on_two_asics_are_each_compared_with_their_own_speed(tmp_path: Path) -> None:
    (share,) = {
        query.expression
        for panel in panels(boards("roce-256")[0])
        for query in panel.queries
        if panel.title == "Leaves: busiest ports"
    }
    ports = SWITCH_LABELS | {"interface": ("Ethernet-Rec0",), "switch": ("leaf1",)}
    at = [
        [Scrape(exposition(METRICS, ports, time), LEAF | {"namespace": asic}) for asic in ("asic0", "asic1")]
        for time in TIMES
    ]
    assert without_data(tmp_path, input_series(at), [as_grafana_asks(share)], NOW_S) == []


ABSENT = {
    # The capture has the windows of users, and the persistent ones.
    "buffer_pool_headroom_watermark_bytes",
    "buffer_pool_watermark_bytes",
    "priority_group_headroom_watermark_bytes",
    "priority_group_shared_watermark_bytes",
    "queue_watermark_bytes",
    "interface_sent_dropped_packets_total",
    "interface_sent_errors_total",
}
