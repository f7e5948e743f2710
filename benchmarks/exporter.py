"""How long a scrape of 64 ports with 8 priorities takes, beside other reads of the same rows in the same run.

The redis is a real one in this machine, and everything of each object is counted. The other reads only get the values:
one by ``redis-cli`` that is given the commands of the scrape, one by redis-py's pipeline with every field of each row.
Times are the least of some rounds; processor time is that of the exporter and of redis together.

    python benchmarks/exporter.py --scrapes 10000

asks the command itself, by several clients at a time, and reports its memory and its slowest answer.
"""

from __future__ import annotations

import argparse
import http.client
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from gzip import compress
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))

from redis import Redis as Client

from benchmarks.measure import report
from lossless.formats.telemetry.exposition.exporter import Exporter
from lossless.formats.telemetry.exposition.layout import given
from lossless.formats.telemetry.exposition.redis_reader import MAPS, LosslessNumbers, plan_of
from tests.redis_server import NUMBER_OF, Redis, busy_switch, running

PORTS = 64
ROUNDS = 15
GOAL_MS = 100.0
MOST_OF_REDIS_CLI = 1.0
MOST_OF_PIPELINE = 1.0
CLIENTS = 4
WARMING = 200
"""Scrapes before memory is first read: threads and buffers are then there."""
MOST_GROWTH = 1.05
MOST_WAIT_S = 10.0
"""As long as Prometheus gives a scrape unless it is configured otherwise (scrape_timeout)."""


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory(prefix="redis") as folder, running(Path(folder)) as redis:
        redis.fill(busy_switch(PORTS))
        exporter = Exporter(given([redis.socket]), time.perf_counter)
        first = _seconds(exporter.exposition)
        commands = _commands()
        methods: dict[str, Callable[[], object]] = {
            "scrape": exporter.exposition,
            "redis-cli": lambda: _by_redis_cli(redis, commands),
            "pipeline": lambda: _by_pipeline(redis, commands),
        }
        taken: dict[str, list[float]] = {name: [] for name in methods}
        for _ in range(ROUNDS):
            for name, way in methods.items():
                taken[name].append(_seconds(way))
        text, busy = exporter.exposition(), _processor_s(redis, exporter)
        whole = Exporter(given([redis.socket]), time.perf_counter, everything=True).exposition()
    scrape, cli, pipeline = (min(taken[name]) for name in methods)
    rows = sum(map(len, commands.values()))
    print(f"{rows:,} rows, {size_of(text)}; with --all {size_of(whole)}")
    report(
        [
            ("scrape", scrape * 1000, GOAL_MS, "ms"),
            ("scrape, processor time", busy * 1000, GOAL_MS, "ms"),
            ("first scrape", first * 1000, 10 * GOAL_MS, "ms"),
            ("scrape, to redis-cli", scrape / cli, MOST_OF_REDIS_CLI, "x"),
            ("scrape, to HGETALL by redis-py's pipeline", scrape / pipeline, MOST_OF_PIPELINE, "x"),
        ]
    )


def size_of(text: bytes) -> str:
    """Return the samples and bytes of an exposition, plain and as a client gets them that takes gzip."""
    samples = sum(not line.startswith(b"#") for line in text.splitlines())
    return f"{samples:,} samples, {len(text) / 1e3:.0f} kB, {len(compress(text, 1)) / 1e3:.1f} kB packed"


def load(scrapes: int) -> None:
    """Ask a serving exporter so many times, and print its memory before and after, and its slowest answer."""
    with TemporaryDirectory(prefix="redis") as folder, running(Path(folder)) as redis:
        redis.fill(busy_switch(PORTS))
        command = [sys.executable, "-m", "lossless", "exporter", "--redis", redis.socket]
        with subprocess.Popen(
            [*command, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True
        ) as served:
            assert served.stderr is not None
            port = int(served.stderr.readline().split()[-1])
            try:
                _by_clients(port, WARMING)
                before, started = _resident_kib(served.pid), time.perf_counter()
                taken = _by_clients(port, scrapes)
                took, after = time.perf_counter() - started, _resident_kib(served.pid)
            finally:
                served.terminate()
    taken.sort()
    print(f"{len(taken):,} scrapes of {PORTS} ports by {CLIENTS} clients in {took:.0f} s, none refused")
    print(f"resident memory: {before:,} KiB before, {after:,} KiB after")
    print(f"median {taken[len(taken) // 2] * 1000:.0f} ms")
    report(
        [
            ("memory after, to before", after / before, MOST_GROWTH, "x"),
            ("slowest scrape", taken[-1], MOST_WAIT_S, "s"),
        ]
    )


def _by_clients(port: int, scrapes: int) -> list[float]:
    """Return the seconds of each scrape; CLIENTS ask at a time, one after another each.

    Raises:
        AssertionError: an answer is no exposition with its end.
    """

    def one(_: int) -> float:
        started = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=MOST_WAIT_S)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status == 200
        assert re.search(rb"^lossless_\w*scrape_duration_seconds\{", text, re.MULTILINE)
        return time.perf_counter() - started

    with ThreadPoolExecutor(CLIENTS) as clients:
        return list(clients.map(one, range(scrapes)))


def _resident_kib(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"^VmRSS:\s+([0-9]+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1])


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _processor_s(redis: Redis, exporter: Exporter) -> float:
    """Return the processor time that a scrape takes of both processes."""

    def used() -> float:
        cpu = re.findall(r"used_cpu_(?:sys|user):([0-9.]+)", redis.ask("INFO", "cpu"))
        return time.process_time() + sum(map(float, cpu))

    before = used()
    for _ in range(ROUNDS):
        exporter.exposition()
    return (used() - before) / ROUNDS


def _commands() -> dict[str, list[tuple[str, ...]]]:
    """Return the rows that a scrape reads, each with its fields, by database."""
    maps = busy_switch(PORTS)["COUNTERS_DB"]
    lossless = LosslessNumbers(frozenset("3"), frozenset("3"), frozenset("3"))
    plan = plan_of({of: maps[name] for of, name in MAPS.items()}, (), (), lossless)
    commands: dict[str, list[tuple[str, ...]]] = {}
    for row in plan.rows:
        commands.setdefault(row.database, []).append((row.key, *row.fields))
    return commands


def _by_redis_cli(redis: Redis, commands: dict[str, list[tuple[str, ...]]]) -> None:
    for database, rows in commands.items():
        command = ["redis-cli", "-s", redis.socket, "-n", str(NUMBER_OF[database])]
        said = "".join(f"HMGET {' '.join(row)}\n" for row in rows)
        subprocess.run(command, input=said.encode(), stdout=subprocess.DEVNULL, check=True)


def _by_pipeline(redis: Redis, commands: dict[str, list[tuple[str, ...]]]) -> None:
    for database, rows in commands.items():
        client = Client(unix_socket_path=redis.socket, db=NUMBER_OF[database])
        pipeline = client.pipeline(transaction=False)
        for key, *_ in rows:
            pipeline.hgetall(key)
        pipeline.execute()
        client.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scrapes", type=int, help="ask the command so many times instead")
    asked = parser.parse_args()
    main() if asked.scrapes is None else load(asked.scrapes)
