"""A scrape says what the databases of a switch say, and what they do not say is absent."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from lossless.formats.sonic.state.forms import GROUPS
from lossless.formats.telemetry.exposition import redis_reader
from lossless.formats.telemetry.exposition.exporter import Exporter
from lossless.formats.telemetry.exposition.layout import given, read_layout
from lossless.formats.telemetry.metrics import METRICS, PREFIX, named
from tests.formats.telemetry.scraping import Samples, complaints, exporter_of, names, samples_in, value
from tests.redis_server import Redis, Rows, busy_switch, databases_in, running

PORT, QUEUE, GROUP, POOL = (
    "oid:0x1000000000012",
    "oid:0x15000000000357",
    "oid:0x1a00000000034f",
    "oid:0x18000000000b64",
)
MAPS = {
    "COUNTERS_PORT_NAME_MAP": {"Ethernet0": PORT},
    "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": QUEUE},
    "COUNTERS_PG_NAME_MAP": {"Ethernet0:3": GROUP},
    "COUNTERS_BUFFER_POOL_NAME_MAP": {"ingress_lossless_pool": POOL},
}
LEAF1 = {
    "DEVICE_METADATA|localhost": {"hostname": "leaf1", "hwsku": "Arista-7060X6", "platform": "x86_64-arista"}
}
DATABASES = ("CONFIG_DB", "COUNTERS_DB", "APPL_DB", "STATE_DB")


def counters(**rows: dict[str, str]) -> dict[str, Rows]:
    """Return a COUNTERS_DB of one object of each kind; ``port``, ``queue``, ``pg`` and ``pool`` have these fields."""
    oids = {"port": PORT, "queue": QUEUE, "pg": GROUP, "pool": POOL}
    return {"CONFIG_DB": LEAF1, "COUNTERS_DB": {**MAPS, **{f"COUNTERS:{oids[of]}": rows[of] for of in rows}}}


@pytest.mark.tools("prometheus")
def test_a_busy_switch_has_a_sample_of_every_metric_for_each_object(redis: Redis) -> None:
    redis.fill(busy_switch(2))
    redis.fill(
        {"CONFIG_DB": {"FLEX_COUNTER_TABLE|PORT": {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "1000"}}}
    )
    text = exporter_of(redis).exposition()
    samples = samples_in(text)
    assert names(samples) == {metric.name.removeprefix(PREFIX) for metric in METRICS}
    assert sum(name == "pfc_received_frames_total" for name, _ in samples) == 2 * 8
    assert sum(name == "queue_watermark_bytes" for name, _ in samples) == 2 * 8 * 3
    assert complaints(text) == ""


_READ_OF_ALL = {"pfc_received_frames_total", "pfc_sent_frames_total", "queue_sent_bytes_total"}


def test_what_no_rule_alert_or_dashboard_reads_is_left_out(redis: Redis) -> None:
    """Kept of all priorities are counts of pauses, for alerts on lossy ones, and what each queue sends."""
    redis.fill(busy_switch(2))
    samples = samples_in(exporter_of(redis).exposition())
    fewer = samples_in(exporter_of(redis, everything=False).exposition())
    unread = {
        (name, labels)
        for name, labels in samples
        for own in [dict(labels)]
        if own.get("window", "periodic") != "periodic"
        or named(name).read == "none"
        or (name not in _READ_OF_ALL and {own.get(key, "3") for key in ("priority", "queue", "pg")} != {"3"})
    }
    assert fewer.keys() == samples.keys() - unread
    assert {key: samples[key] for key in fewer} == fewer


@pytest.mark.parametrize(
    ("rows", "queues", "groups"),
    [
        ({"PORT_QOS_MAP|Ethernet8": {"pfc_enable": "3,4"}}, {"3", "4"}, {"3", "4"}),
        ({"PORT_QOS_MAP|Ethernet8": {"pfc_enable": "", "pfcwd_sw_enable": "5"}}, {"3", "5"}, {"3", "5"}),
        (
            {
                "PORT_QOS_MAP|Ethernet8": {"pfc_enable": "4", "pfc_to_pg_map": "P", "pfc_to_queue_map": "Q"},
                "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|P": {"4": "1"},
                "MAP_PFC_PRIORITY_TO_QUEUE|Q": {"4": "6"},
            },
            {"3", "6"},
            {"3", "1"},
        ),
    ],
    ids=["another priority on one port", "a watchdog without PFC", "maps of PFC"],
)
def test_lossless_queues_and_groups_are_those_of_pfc_on_any_port(
    rows: Rows, queues: set[str], groups: set[str], redis: Redis
) -> None:
    redis.fill(busy_switch(2))
    redis.fill({"CONFIG_DB": rows})
    samples = samples_in(exporter_of(redis, everything=False).exposition())
    assert of_metric(samples, "queue_dropped_packets_total", "queue") == queues
    assert of_metric(samples, "priority_group_dropped_packets_total", "pg") == groups


def test_a_class_added_in_operation_is_served_and_one_taken_away_stays(redis: Redis) -> None:
    """PFC that a wrong configuration takes away must not end the alerts on its queue."""
    redis.fill(busy_switch(1))
    exporter = exporter_of(redis, everything=False)
    for enabled, queues in (("3", {"3"}), ("3,4", {"3", "4"}), ("4", {"3", "4"})):
        redis.fill({"CONFIG_DB": {"PORT_QOS_MAP|Ethernet0": {"pfc_enable": enabled}}})
        samples = samples_in(exporter.exposition())
        assert of_metric(samples, "queue_dropped_packets_total", "queue") == queues


def test_a_switch_without_pfc_has_all_queues_and_groups(redis: Redis) -> None:
    redis.fill(busy_switch(1))
    redis.fill({"CONFIG_DB": {"PORT_QOS_MAP|Ethernet0": {"pfc_enable": ""}}})
    samples = samples_in(exporter_of(redis, everything=False).exposition())
    assert of_metric(samples, "priority_group_dropped_packets_total", "pg") == set("01234567")


def of_metric(samples: Samples, name: str, label: str) -> set[str]:
    """Return the values of a label of a metric."""
    return {dict(labels)[label] for metric, labels in samples if metric == name}


def test_the_switch_is_named_by_its_configuration(redis: Redis) -> None:
    redis.fill(counters())
    assert (
        b'lossless_sonic_info{switch="leaf1",hwsku="Arista-7060X6",platform="x86_64-arista",release=""} 1\n'
        in (exporter_of(redis).exposition())
    )
    assert b'switch="tor7"' in exporter_of(redis, "tor7").exposition()


def test_until_the_configuration_names_it_the_switch_has_the_name_of_its_host(redis: Redis) -> None:
    exporter = exporter_of(redis)
    assert b'database_up{switch="host",database="CONFIG_DB"} 0\n' in exporter.exposition()
    redis.fill(counters())
    assert b'switch="leaf1"' in exporter.exposition()
    redis.ask("FLUSHALL")
    assert b'database_up{switch="leaf1",database="CONFIG_DB"} 0\n' in exporter.exposition()


def test_times_of_the_watchdog_are_microseconds_and_its_status_is_a_word(redis: Redis) -> None:
    watchdog = {
        "PFC_WD_DETECTION_TIME": "200000",
        "PFC_WD_RESTORATION_TIME": "400001",
        "PFC_WD_STATUS": "stormed",
    }
    redis.fill(counters(queue=watchdog))
    samples = samples_in(exporter_of(redis).exposition())
    assert value(samples, "pfc_watchdog_detection_seconds", interface="Ethernet0", queue="3") == 0.2
    assert value(samples, "pfc_watchdog_restoration_seconds", interface="Ethernet0", queue="3") == 0.400001
    assert value(samples, "pfc_watchdog_storm", interface="Ethernet0", queue="3") == 1
    redis.fill(counters(queue={"PFC_WD_STATUS": "operational"}))
    assert (
        value(
            samples_in(exporter_of(redis).exposition()),
            "pfc_watchdog_storm",
            interface="Ethernet0",
            queue="3",
        )
        == 0
    )


def test_a_status_that_nobody_knows_is_absent(redis: Redis) -> None:
    redis.fill(counters(queue={"PFC_WD_STATUS": "unknown"}))
    assert "pfc_watchdog_storm" not in names(samples_in(exporter_of(redis).exposition()))


def test_what_a_chip_counts_of_pauses_comes_before_the_estimate(redis: Redis) -> None:
    estimate = {
        "EST_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US": "7000000",
        "EST_PORT_STAT_PFC_4_RX_PAUSE_DURATION_US": "20000001",
    }
    redis.fill(counters(port={"SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US": "2500000", **estimate}))
    samples = samples_in(exporter_of(redis).exposition())
    paused = {
        priority: value(samples, "pfc_received_pause_seconds_total", interface="Ethernet0", priority=priority)
        for priority in "345"
    }
    assert paused == {"3": 2.5, "4": 20.000001, "5": None}


def test_a_sum_of_counters_of_which_one_is_missing_is_absent(redis: Redis) -> None:
    redis.fill(
        counters(
            port={
                "SAI_PORT_STAT_IF_IN_UCAST_PKTS": "5",
                "SAI_PORT_STAT_IF_OUT_UCAST_PKTS": "5",
                "SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS": "2",
            }
        )
    )
    samples = samples_in(exporter_of(redis).exposition())
    assert value(samples, "interface_received_packets_total", interface="Ethernet0") is None
    assert value(samples, "interface_sent_packets_total", interface="Ethernet0") == 7


def test_the_operational_speed_counts_before_the_configured_one(redis: Redis) -> None:
    redis.fill(counters())
    redis.fill({"APPL_DB": {"PORT_TABLE:Ethernet0": {"speed": "400000", "oper_status": "down"}}})
    samples = samples_in(exporter_of(redis).exposition())
    assert value(samples, "interface_speed_bytes_per_second", interface="Ethernet0") == 50e9
    assert value(samples, "interface_up", interface="Ethernet0") == 0
    redis.fill({"STATE_DB": {"PORT_TABLE|Ethernet0": {"speed": "100000"}}})
    samples = samples_in(exporter_of(redis).exposition())
    assert value(samples, "interface_speed_bytes_per_second", interface="Ethernet0") == 12.5e9


@pytest.mark.parametrize(
    ("group", "gone"),
    [
        ("PORT", r"interface_(received|sent)_.*|pfc_(received|sent)_frames_total"),
        ("QUEUE", r"queue_(sent|dropped|trimmed)_.*"),
        ("WRED_ECN_QUEUE", r"queue_(ecn|wred)_.*"),
        ("QUEUE_WATERMARK", r"queue_watermark_bytes"),
        ("PG_WATERMARK", r"priority_group_.*_watermark_bytes"),
        ("PG_DROP", r"priority_group_dropped_packets_total"),
        ("BUFFER_POOL_WATERMARK", r"buffer_pool_.*"),
        ("PFCWD", r"pfc_watchdog_.*|pfc_received_pause_seconds_total"),
    ],
)
def test_counters_that_are_not_polled_are_absent(group: str, gone: str, redis: Redis) -> None:
    redis.fill(busy_switch(1))
    exporter = exporter_of(redis)
    before = names(samples_in(exporter.exposition()))
    redis.fill({"CONFIG_DB": {f"FLEX_COUNTER_TABLE|{group}": {"FLEX_COUNTER_STATUS": "disable"}}})
    samples = samples_in(exporter.exposition())
    assert before - names(samples) == {name for name in before if re.fullmatch(gone, name)}
    assert value(samples, "polling_enabled", group=group) == 0
    assert value(samples, "polling_interval_seconds", group=group) is None
    redis.fill(
        {
            "CONFIG_DB": {
                f"FLEX_COUNTER_TABLE|{group}": {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "1500"}
            }
        }
    )
    samples = samples_in(exporter.exposition())
    assert before <= names(samples)
    assert value(samples, "polling_enabled", group=group) == 1
    assert value(samples, "polling_interval_seconds", group=group) == 1.5


STORED = {
    "12": 12.0,
    " 12 ": 12.0,
    "0": 0.0,
    "18446744073709551615": 2.0**64,
    "1.5e+07": 15e6,
    "": None,
    "N/A": None,
    "-5": None,
    "1,000": None,
    "0x10": None,
    "nan": None,
    "inf": None,
    "1e99": None,
    "18446744073709551616": None,
    "9" * 500: None,
    "\u0661\u0662": None,
    "12\n# HELP x y": None,
    "true": None,
    "\udcff": None,
}


@pytest.mark.tools("prometheus")
@pytest.mark.parametrize(("stored", "number"), STORED.items(), ids=ascii)
def test_what_is_no_number_of_64_bits_is_absent_and_the_rest_is_there(
    stored: str, number: float | None, redis: Redis
) -> None:
    fields = {"SAI_PORT_STAT_PFC_3_RX_PKTS": stored, "SAI_PORT_STAT_PFC_4_RX_PKTS": "4"}
    redis.fill(counters(port=fields, queue={"PFC_WD_DETECTION_TIME": stored}))
    text = exporter_of(redis).exposition()
    samples = samples_in(text)
    assert value(samples, "pfc_received_frames_total", interface="Ethernet0", priority="3") == number
    assert value(samples, "pfc_received_frames_total", interface="Ethernet0", priority="4") == 4
    assert ("pfc_watchdog_detection_seconds" in names(samples)) == (number is not None)
    assert complaints(text) == ""


NAMES = (
    'Eth"er\\net0',
    "Eth\nernet0",
    "Eth\x1b[2J0",
    "Ethérnet☃",
    "",
    "Eth\udcff0",
    "##[error]",
    "a,b}c",
    "x" * 5000,
)


@pytest.mark.tools("prometheus")
def test_no_name_breaks_the_text(redis: Redis) -> None:
    ports = {name: f"oid:0x1{at}" for at, name in enumerate(NAMES)}
    queues = {f"{name}:3": f"oid:0x15{at}" for at, name in enumerate(NAMES)}
    redis.fill(
        {
            "CONFIG_DB": {"DEVICE_METADATA|localhost": {"hostname": 'le"af\n1', "hwsku": "\\"}},
            "COUNTERS_DB": {
                "COUNTERS_PORT_NAME_MAP": ports,
                "COUNTERS_QUEUE_NAME_MAP": {**queues, "Ethernet0": "oid:0x1", "Ethernet0:x": "oid:0x2"},
                **{f"COUNTERS:{oid}": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "1"} for oid in ports.values()},
                **{f"COUNTERS:{oid}": {"SAI_QUEUE_STAT_PACKETS": "1"} for oid in queues.values()},
            },
        }
    )
    text = exporter_of(redis).exposition()
    samples = samples_in(text)
    assert complaints(text) == ""
    assert sum(name == "pfc_received_frames_total" for name, _ in samples) == len(NAMES)
    # Neither a port without a name nor one with a line break in it has queues.
    assert sum(name == "queue_sent_packets_total" for name, _ in samples) == len(NAMES) - 2
    assert value(samples, "pfc_received_frames_total", interface=NAMES[0], priority="3") == 1


def test_rows_of_another_type_are_absent_and_the_rest_is_there(redis: Redis) -> None:
    redis.fill(counters(queue={"SAI_QUEUE_STAT_PACKETS": "9"}, port={"SAI_PORT_STAT_IF_IN_OCTETS": "5"}))
    redis.ask("SET", f"COUNTERS:{PORT}", "text", number=2)
    redis.ask("DEL", "COUNTERS_PG_NAME_MAP", number=2)
    redis.ask("RPUSH", "COUNTERS_PG_NAME_MAP", "Ethernet0:3", number=2)
    redis.ask("SET", "FLEX_COUNTER_TABLE|PORT", "text", number=4)
    samples = samples_in(exporter_of(redis).exposition())
    assert value(samples, "queue_sent_packets_total", interface="Ethernet0", queue="3") == 9
    assert "interface_received_bytes_total" not in names(samples)


def test_without_names_the_switch_and_its_databases_are_still_there(redis: Redis) -> None:
    redis.fill(
        {"CONFIG_DB": LEAF1, "COUNTERS_DB": {f"COUNTERS:{PORT}": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "1"}}}
    )
    samples = samples_in(exporter_of(redis).exposition())
    assert names(samples) == {"info", "database_up", "scrape_duration_seconds"}
    assert {database: value(samples, "database_up", database=database) for database in DATABASES} == {
        "CONFIG_DB": 1,
        "COUNTERS_DB": 1,
        "APPL_DB": 0,
        "STATE_DB": 0,
    }


def test_a_name_that_goes_takes_its_samples_along(redis: Redis) -> None:
    redis.fill(busy_switch(2))
    exporter = exporter_of(redis)
    exporter.exposition()
    redis.ask("HDEL", "COUNTERS_PORT_NAME_MAP", "Ethernet8", number=2)
    assert not any(
        ("interface", "Ethernet8") in labels and name.startswith("interface")
        for name, labels in samples_in(exporter.exposition())
    )


@pytest.mark.tools("redis")
def test_a_redis_that_goes_away_and_comes_back_ends_no_scrape(tmp_path: Path) -> None:
    with running(tmp_path) as redis:
        redis.fill(counters(port={"SAI_PORT_STAT_PFC_3_RX_PKTS": "1"}))
        exporter = exporter_of(redis)
        assert "pfc_received_frames_total" in names(samples_in(exporter.exposition()))
    samples = samples_in(exporter.exposition())
    assert names(samples) == {"info", "database_up", "scrape_duration_seconds"}
    assert {
        database: value(samples, "database_up", database=database) for database in DATABASES
    } == dict.fromkeys(DATABASES, 0)
    with running(tmp_path) as redis:
        redis.fill(counters(port={"SAI_PORT_STAT_PFC_3_RX_PKTS": "2"}))
        assert (
            value(
                samples_in(exporter.exposition()),
                "pfc_received_frames_total",
                interface="Ethernet0",
                priority="3",
            )
            == 2
        )
        # Between two scrapes: the old connection is found to be closed, and a new one is made at once.
        redis.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        assert (
            value(
                samples_in(exporter.exposition()),
                "pfc_received_frames_total",
                interface="Ethernet0",
                priority="3",
            )
            == 2
        )
    exporter.close()


def test_a_server_that_hangs_is_waited_for_once_in_a_scrape(
    monkeypatch: pytest.MonkeyPatch, redis: Redis
) -> None:
    monkeypatch.setattr(redis_reader, "TIMEOUT_S", 0.05)
    redis.fill(counters(port={"SAI_PORT_STAT_PFC_3_RX_PKTS": "1"}))
    silent = socket.socket(socket.AF_INET)
    silent.bind(("127.0.0.1", 0))
    silent.listen(100)
    asked: list[redis_reader.RedisReader] = []
    ask = redis_reader.RedisReader.ask

    def noted(
        reader: redis_reader.RedisReader, commands: redis_reader.Packets, limits: redis_reader.ScrapeLimits
    ) -> list[Any] | None:
        asked.append(reader)
        return ask(reader, commands, limits)

    monkeypatch.setattr(redis_reader.RedisReader, "ask", noted)
    servers = [f"asic0=127.0.0.1:{silent.getsockname()[1]}", f"asic1={redis.socket}"]
    with silent:
        samples = samples_in(Exporter(given(servers), lambda: 0.0).exposition())
    assert value(samples, "database_up", namespace="asic0", database="COUNTERS_DB") == 0
    assert (
        value(samples, "pfc_received_frames_total", namespace="asic1", interface="Ethernet0", priority="3")
        == 1
    )
    assert len(asked) == 1 + 6


def test_it_sends_no_command_that_writes(redis: Redis) -> None:
    redis.fill(busy_switch(2))
    redis.ask("CONFIG", "RESETSTAT")
    before = redis.ask("INFO", "keyspace")
    exporter = exporter_of(redis)
    exporter.exposition()
    exporter.exposition()
    calls = re.findall(r"^cmdstat_([^:]+):calls=(\d+)", redis.ask("INFO", "commandstats"), re.MULTILINE)
    sent = {name: int(times) for name, times in calls}
    # redis-cli's own are taken away.
    own = {"info", "config|resetstat", "auth"}
    assert sent.keys() - own == {"select", "dbsize", "hgetall", "hmget"}
    assert redis.ask("INFO", "keyspace") == before


@pytest.mark.tools("redis")
def test_a_user_who_may_only_read_is_enough(tmp_path: Path) -> None:
    with running(tmp_path) as redis:
        redis.fill(busy_switch(2))
        redis.ask("ACL", "SETUSER", "admin", "on", "nopass", "~*", "&*", "+@all")
        whole = exporter_of(redis).exposition()
        redis.ask(
            "ACL",
            "SETUSER",
            "default",
            "reset",
            "on",
            "nopass",
            "~*",
            "+@read",
            "-@write",
            "-@dangerous",
            "+select",
        )
        assert "NOPERM" in redis.ask("SET", "a", "b")
        redis.ask("ACL", "LOG", "RESET", user="admin")
        assert exporter_of(redis).exposition() == whole
        denied = redis.ask("ACL", "LOG", user="admin")
        assert denied.strip() == ""


@pytest.mark.parametrize("everything", [True, False])
def test_a_scrape_costs_one_command_for_each_row_and_few_besides(everything: bool, redis: Redis) -> None:
    redis.fill(busy_switch(64))
    exporter = exporter_of(redis, everything=everything)
    exporter.exposition()
    redis.ask("CONFIG", "RESETSTAT")
    exporter.exposition()
    calls = dict(re.findall(r"^cmdstat_([^:]+):calls=(\d+)", redis.ask("INFO", "commandstats"), re.MULTILINE))
    # Ports in three databases; queues, groups and the pool with their windows; the switch, and what is polled. Of all
    # queues one row is read, of other groups none, and PFC of each port tells which are lossless.
    objects = 2 * (1 + 3) * 64 * 8 + 3 if everything else 64 * 8 + 64 + 2 * 64 + 1 + 64
    assert int(calls["hmget"]) == 3 * 64 + objects + 1 + len(GROUPS)
    assert (int(calls["hgetall"]), int(calls["dbsize"])) == (4, 5 if everything else 6)


@pytest.mark.tools("prometheus")
def test_the_databases_of_each_asic_are_in_one_exposition(
    reference: Path, redis: Redis, tmp_path: Path
) -> None:
    folder = reference / "captures" / "state" / "sonic-db" / "su-multi"
    (tmp_path / "database_global.json").write_text(json.dumps(_layout(folder, redis, tmp_path)))
    text = Exporter(read_layout(str(tmp_path / "database_global.json")), lambda: 0.0).exposition()
    samples = samples_in(text)
    assert complaints(text) == ""
    for asic in ("asic0", "asic2"):
        stored = databases_in(folder / asic)["COUNTERS_DB"]
        own = stored[f"COUNTERS:{stored['COUNTERS_PORT_NAME_MAP']['Ethernet0']}"]
        received = value(samples, "interface_received_bytes_total", interface="Ethernet0", namespace=asic)
        assert received == int(own["SAI_PORT_STAT_IF_IN_OCTETS"])
    up = {
        dict(labels).get("namespace"): dict(labels)["database"]
        for name, labels in samples
        if name == "database_up"
    }
    assert up.keys() == {None, "asic0", "asic1", "asic2"}
    assert up[None] == "CONFIG_DB"
    assert {dict(labels).get("namespace") for name, labels in samples if name == "info"} == {None}


def _layout(folder: Path, redis: Redis, made: Path) -> dict[str, object]:
    """Fill one server with the databases of three ASICs, and return the file that says so."""
    includes: list[dict[str, str]] = [{"include": "database_config.json"}]
    for at, name in enumerate(("", "asic0", "asic1", "asic2")):
        numbers = {database: 4 * at + place for place, database in enumerate(DATABASES)}
        where = made / name
        where.mkdir(exist_ok=True)
        databases = {
            each: {"id": number, "separator": ":", "instance": "redis"} for each, number in numbers.items()
        }
        instance = {"hostname": "127.0.0.1", "port": 6379, "unix_socket_path": redis.socket}
        text = json.dumps({"INSTANCES": {"redis": instance}, "DATABASES": databases})
        (where / "database_config.json").write_text(text)
        redis.fill({"CONFIG_DB": LEAF1}, numbers)
        if name:
            redis.fill(
                {key: rows for key, rows in databases_in(folder / name).items() if key in numbers}, numbers
            )
            includes.append({"namespace": name, "include": f"{name}/database_config.json"})
    return {"INCLUDES": [*includes, {"include": "nowhere.json", "container_name": "dpu0"}], "VERSION": "1.0"}
