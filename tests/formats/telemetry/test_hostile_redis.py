"""A redis that is slow, or says anything: a scrape ends within its seconds and bytes, and names the absent database."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lossless.formats.telemetry.exposition import redis_reader
from lossless.formats.telemetry.exposition.exporter import Exporter
from lossless.formats.telemetry.exposition.layout import given
from lossless.ground.basics.limits import MIB
from tests.formats.telemetry.scraping import names, samples_in, value
from tests.redis_server import Answers, answering

pytestmark = pytest.mark.tools("hostile")
OK = b"+OK\r\n"
NO_ROW, NO_ROWS = b"*-1\r\n", b"*0\r\n"
WAITING_S = 0.5
GENEROUS_S = 60
"""Far more than a scrape takes that keeps to its limits, and far less than one takes that does not."""
Words = list[bytes]


def bulk(*values: bytes) -> bytes:
    """Return an answer with some values."""
    return b"*%d\r\n" % len(values) + b"".join(b"$%d\r\n%s\r\n" % (len(each), each) for each in values)


def healthy(words: Words) -> Iterator[bytes]:
    """Answer as a switch with one port does."""
    if words[0] == b"SELECT":
        yield OK
    elif words[0] == b"DBSIZE":
        yield b":5\r\n"
    elif words[0] == b"HGETALL":
        yield bulk(b"Ethernet0", b"oid:0x1") if b"PORT" in words[1] else NO_ROWS
    elif b"localhost" in words[1]:
        yield bulk(b"leaf1", b"H", b"p")
    else:
        yield b"*%d\r\n" % (len(words) - 2) + b"$1\r\n7\r\n" * (len(words) - 2)


def instead(when: Callable[[Words], bool], answer: Callable[[], Iterator[bytes]]) -> Answers:
    """Return what answers some commands otherwise."""
    return lambda words: answer() if when(words) else healthy(words)


def drip() -> Iterator[bytes]:
    """Answer a byte at a time, each sooner than a timeout, without an end."""
    yield b"$1000000\r\n"
    while True:
        time.sleep(0.02)
        yield b"x"


def silence() -> Iterator[bytes]:
    """Answer nothing, and keep the connection."""
    time.sleep(GENEROUS_S)
    yield b""


def large(answer: bytes) -> Callable[[], Iterator[bytes]]:
    """Return what answers by a beginning, and then by blanks without an end."""

    def pour() -> Iterator[bytes]:
        yield answer
        while True:
            yield b" " * (1 << 16)

    return pour


def said(answer: bytes) -> Callable[[], Iterator[bytes]]:
    """Return what gives one answer."""
    return lambda: iter([answer])


def is_named(name: bytes) -> Callable[[Words], bool]:
    """Return whether a command is of a name, or has a word."""
    return lambda words: name in words[0] or any(name in word for word in words[1:2])


def scrape(answers: Answers, *servers: str) -> tuple[Exporter, bytes, float]:
    """Return an exporter after a scrape, its text, and the seconds that it took."""
    with TemporaryDirectory(prefix="redis") as folder, answering(Path(folder), answers) as socket:
        addresses = [f"asic0={socket}", *servers] if servers else [socket]
        exporter = Exporter(given(addresses), time.perf_counter)
        started = time.perf_counter()
        text = exporter.exposition()
        took_s = time.perf_counter() - started
        exporter.close()
    return exporter, text, took_s


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_reader, "WAITING_S", WAITING_S)
    monkeypatch.setattr(redis_reader, "TIMEOUT_S", 0.3)


def test_a_switch_that_answers_has_its_samples() -> None:
    exporter, text, _ = scrape(healthy)
    assert exporter.unanswered == ()
    samples = samples_in(text)
    assert value(samples, "pfc_received_frames_total", interface="Ethernet0", priority="3") == 7
    assert value(samples, "database_up", database="COUNTERS_DB") == 1


@pytest.mark.parametrize(
    "command", [b"SELECT", b"DBSIZE", b"HGETALL", b"COUNTERS:", b"PORT_TABLE", b"localhost"]
)
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (drip, "slow: its 0.5 s of this scrape are used up"),
        (silence, "nothing within 0.3 s"),
        (large(b"$2147483648\r\n"), "more than 16 MiB of answers in one scrape"),
        (large(b"+"), "more than 16 MiB of answers in one scrape"),
        (said(b"*2147483647\r\n"), "an answer of a million values or more"),
        (said(b"*4\r\n*1000000\r\n"), "an answer of a million values or more"),
    ],
    ids=["drip", "silence", "2 GB value", "endless line", "array", "array within"],
)
def test_a_scrape_ends_whatever_a_redis_does(
    command: bytes, answer: Callable[[], Iterator[bytes]], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "more" in why:
        monkeypatch.setattr(redis_reader, "WAITING_S", GENEROUS_S)
    tracemalloc.start()
    exporter, text, took_s = scrape(instead(is_named(command), answer))
    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert took_s < GENEROUS_S / 2
    assert most_bytes < 8 * redis_reader.ANSWER_BYTES
    assert {"info", "database_up", "scrape_duration_seconds"} <= names(samples_in(text))
    assert any(why in line for line in exporter.unanswered), exporter.unanswered


SHAPES = {
    "number": b":1\r\n",
    "text": b"$1\r\n7\r\n",
    "nothing": b"$-1\r\n",
    "no list": NO_ROW,
    "empty list": NO_ROWS,
    "one value": bulk(b"1"),
    "list of lists": b"*2\r\n" + bulk(b"1", b"2") * 2,
    "list of numbers": b"*2\r\n:1\r\n:2\r\n",
    "list of errors": b"*2\r\n-ERR a\r\n-ERR b\r\n",
    "error": b"-ERR no\r\n",
    "long error": b"-ERR " + b"x" * MIB + b"\r\n",
    "status": OK,
    "no protocol": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "map": b"%1\r\n$1\r\na\r\n$1\r\nb\r\n",
    "boolean": b"#f\r\n:1\r\n",
    "null": b"_\r\n",
    "double": b",1.5\r\n",
    "big number": b"(123456789012345678901234567890\r\n",
    "push": b">2\r\n$1\r\na\r\n$1\r\nb\r\n",
    "early end": b"*2\r\n$1\r\na\r\n$2147483647\r\nb",
    "two answers": b":1\r\n:1\r\n",
}


@pytest.mark.parametrize(
    "command", [b"SELECT", b"DBSIZE", b"HGETALL", b"COUNTERS:", b"localhost", b"FLEX_COUNTER"]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_answer_of_another_shape_ends_a_scrape(command: bytes, shape: str) -> None:
    exporter, text, _ = scrape(instead(is_named(command), said(SHAPES[shape])))
    assert {"info", "database_up", "scrape_duration_seconds"} <= names(samples_in(text))
    assert all(len(line) < 400 for line in exporter.unanswered)


def test_a_slow_server_takes_no_time_from_another() -> None:
    with TemporaryDirectory(prefix="redis") as folder, answering(Path(folder), healthy) as other:
        _, text, _ = scrape(lambda _: drip(), f"asic1={other}")
    samples = samples_in(text)
    assert value(samples, "database_up", namespace="asic0", database="COUNTERS_DB") == 0
    assert value(samples, "database_up", namespace="asic1", database="COUNTERS_DB") == 1
    labels = {"namespace": "asic1", "interface": "Ethernet0", "priority": "3"}
    assert value(samples, "pfc_received_frames_total", **labels) == 7


@pytest.mark.parametrize(
    ("names_of_ports", "why"),
    [
        ([b"x" * redis_reader.NAMES_BYTES], "names of 2,097,159 bytes; the most that is read is 2,097,152"),
        (
            [*map(b"Ethernet%d".__mod__, range(redis_reader.OBJECTS + 1))],
            "32,769 objects; the most that is read is 32,768",
        ),
    ],
    ids=["long name", "many"],
)
def test_a_few_bytes_do_not_grow_to_many_samples(names_of_ports: list[bytes], why: str) -> None:
    pairs = bulk(*(word for name in names_of_ports for word in (name, b"oid:0x1")))
    exporter, text, _ = scrape(instead(is_named(b"COUNTERS_PORT_NAME_MAP"), said(pairs)))
    assert [line.partition(": ")[2].partition(": ")[2] for line in exporter.unanswered] == [why]
    assert value(samples_in(text), "database_up", database="COUNTERS_DB") == 0


def test_a_long_host_name_is_in_no_label() -> None:
    long = bulk(b"x" * MIB, b"H", b"p")
    _, text, _ = scrape(instead(is_named(b"localhost"), said(long)))
    assert len(text) < MIB
    assert b'hwsku="H"' in text
