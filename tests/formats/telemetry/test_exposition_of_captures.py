"""What the exporter serves of captured databases is what ``lossless verify`` reads in them, all of it and no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lossless.formats.inputs.captures import gather_captures
from lossless.ground.basics.findings import grouped
from lossless.model.fabric.state import DeviceState, PlacedReading
from tests.formats.telemetry.scraping import Samples, complaints, exporter_of, samples_in
from tests.redis_server import Redis, databases_in

CAPTURES = (
    "t1-arista-7050cx3",
    "su-single",
    "su-watermark",
    "su-portstat",
    "su-pgdrop-broken",
    "exporter-premday",
    "exporter-vinted",
)
READ = {
    "interface_received_bytes_total": (("in_bytes",), ("port",)),
    "interface_sent_bytes_total": (("out_bytes",), ("port",)),
    "interface_received_packets_total": (("in_unicast_packets", "in_non_unicast_packets"), ("port",)),
    "interface_sent_packets_total": (("out_unicast_packets", "out_non_unicast_packets"), ("port",)),
    "interface_received_dropped_packets_total": (("in_discards",), ("port",)),
    "interface_sent_dropped_packets_total": (("out_discards",), ("port",)),
    "interface_received_errors_total": (("in_errors",), ("port",)),
    "interface_sent_errors_total": (("out_errors",), ("port",)),
    "pfc_received_frames_total": (("pfc_rx",), ("port", "priority")),
    "pfc_sent_frames_total": (("pfc_tx",), ("port", "priority")),
    "pfc_received_pause_seconds_total": (("pause_duration",), ("port", "priority")),
    "pfc_watchdog_storms_detected_total": (("pfcwd_detected",), ("port", "queue")),
    "pfc_watchdog_storms_restored_total": (("pfcwd_restored",), ("port", "queue")),
    "pfc_watchdog_detection_seconds": (("pfcwd_detection_time",), ("port", "queue")),
    "pfc_watchdog_restoration_seconds": (("pfcwd_restoration_time",), ("port", "queue")),
    "queue_sent_packets_total": (("packets",), ("port", "queue")),
    "queue_sent_bytes_total": (("bytes",), ("port", "queue")),
    "queue_dropped_packets_total": (("dropped_packets",), ("port", "queue")),
    "queue_dropped_bytes_total": (("dropped_bytes",), ("port", "queue")),
    "queue_ecn_marked_packets_total": (("ecn_marked_packets",), ("port", "queue")),
    "queue_ecn_marked_bytes_total": (("ecn_marked_bytes",), ("port", "queue")),
    "queue_wred_dropped_packets_total": (("wred_dropped_packets",), ("port", "queue")),
    "queue_trimmed_packets_total": (("trimmed_packets",), ("port", "queue")),
    "priority_group_dropped_packets_total": (("dropped_packets",), ("port", "pg")),
}
"""What ``verify`` calls the counters of a metric, and what they are of."""
PEAKS = {
    "queue_watermark_bytes": ("shared_watermark_bytes", ("port", "queue")),
    "priority_group_shared_watermark_bytes": ("shared_watermark_bytes", ("port", "pg")),
    "priority_group_headroom_watermark_bytes": ("xoff_room_watermark_bytes", ("port", "pg")),
    "buffer_pool_watermark_bytes": ("watermark_bytes", ("pool",)),
    "buffer_pool_headroom_watermark_bytes": ("xoff_room_watermark_bytes", ("pool",)),
}
WINDOWS = {"user clear": "user", "persistent clear": "persistent", "period": "periodic"}
NAME_MAPS = {f"COUNTERS_{kind}_NAME_MAP" for kind in ("PORT", "QUEUE", "PG")}
LABELS = {"port": "interface"}
SECONDS = {"us": 1e6}
NOT_POLLED = {"su-pgdrop-broken": {"priority_group_dropped_packets_total"}}
"""Metrics whose counters are switched off in a capture."""
OF_THE_SWITCH = {
    *("info", "database_up", "scrape_duration_seconds", "polling_enabled", "polling_interval_seconds"),
}
CHANGES = "interface_status_changes_total"
"""The metric of a field that verify does not read."""
DROPS = {"pfcwd_rx_drop": "received", "pfcwd_tx_drop": "sent"}
STORMS = {"stormed": 1.0, "operational": 0.0}
STATES = {"up": 1.0, "down": 0.0}
BYTES_PER_MBIT = 125_000
Labels = frozenset[tuple[str, str]]


def _values(state: DeviceState, name: str, *kinds: str) -> Iterator[tuple[Labels, PlacedReading]]:
    """Yield each value of a counter, with its object by its labels; also what is of ports that are no interface."""
    for placed in state.every(name):
        parts = dict(placed.reading.identity)
        if parts.keys() & {"port", "queue", "pg", "pool", "priority"} == set(kinds) and "table" not in parts:
            yield frozenset((LABELS.get(kind, kind), parts[kind]) for kind in kinds), placed


def _numbers(state: DeviceState, name: str, *kinds: str) -> Iterator[tuple[Labels, str, float]]:
    """Yield each number of a counter that is known, in base units, with since when it counts."""
    for labels, placed in _values(state, name, *kinds):
        value = placed.reading.value
        if isinstance(value, int | float):
            yield labels, placed.reading.since, value / SECONDS.get(placed.reading.unit, 1)


def _counted(state: DeviceState) -> Iterator[tuple[str, Labels, float]]:
    for metric, (counters, kinds) in READ.items():
        parts = grouped(
            (labels, value) for name in counters for labels, _, value in _numbers(state, name, *kinds)
        )
        # What one of the counters is not known of has no sum.
        yield from ((metric, of, sum(values)) for of, values in parts.items() if len(values) == len(counters))
    for counter, direction in DROPS.items():
        for labels, _, value in _numbers(state, counter, "port", "queue"):
            yield "pfc_watchdog_dropped_packets_total", labels | {("direction", direction)}, value


def _peaks(state: DeviceState) -> Iterator[tuple[str, Labels, float]]:
    for metric, (counter, kinds) in PEAKS.items():
        for labels, since, value in _numbers(state, counter, *kinds):
            if since in WINDOWS:
                yield metric, labels | {("window", WINDOWS[since])}, value


def _states(state: DeviceState) -> Iterator[tuple[str, Labels, float]]:
    for labels, placed in _values(state, "pfcwd_status", "port", "queue"):
        if placed.reading.value in STORMS:
            yield "pfc_watchdog_storm", labels, STORMS[str(placed.reading.value)]
    for name, metric in (("oper_status", "interface_up"), ("speed", "interface_speed_bytes_per_second")):
        for placed in state.every(name):
            value, labels = placed.reading.value, frozenset({("interface", placed.part("port") or "")})
            if placed.part("table") == "PORT_TABLE":
                number = value * BYTES_PER_MBIT if isinstance(value, int) else STATES.get(str(value))
                if number is not None:
                    yield metric, labels, number


def _expected(state: DeviceState) -> Samples:
    """Return the samples of what the maps of ports, queues and groups name, and of pools: not of ports of a fabric."""
    ports = {placed.part("port") for placed in state.every("oid") if placed.reading.heading in NAME_MAPS}
    # Of two databases with a speed, STATE_DB is read last, and counts.
    samples = {
        (metric, labels): value
        for part in (_counted(state), _peaks(state), _states(state))
        for metric, labels, value in part
    }
    return {
        key: value
        for key, value in samples.items()
        if dict(key[1]).get("interface") in ports or key[0].startswith("buffer_pool")
    }


@pytest.mark.tools("prometheus")
@pytest.mark.parametrize("capture", CAPTURES)
def test_samples_are_what_verify_reads_of_the_same_databases(
    capture: str, redis: Redis, reference: Path
) -> None:
    folder = reference / "captures" / "state" / "sonic-db" / capture
    redis.fill(databases_in(folder))
    text = exporter_of(redis).exposition()
    assert complaints(text) == ""
    (device,) = gather_captures(
        [str(path) for path in sorted(folder.glob("*_db.json")) if not path.name.startswith("gb_")]
    ).devices
    expected = _expected(DeviceState(device.name, device.captures))
    samples = samples_in(text)
    changes = {
        dict(labels)["interface"]: samples.pop((name, labels))
        for name, labels in [*samples]
        if name == CHANGES
    }
    ports = databases_in(folder).get("APPL_DB", {})
    assert changes == {port: int(ports[f"PORT_TABLE:{port}"]["flap_count"]) for port in changes}
    assert {key: samples[key] for key in samples if key[0] not in OF_THE_SWITCH} == {
        key: expected[key] for key in expected if key[0] not in NOT_POLLED.get(capture, ())
    }
