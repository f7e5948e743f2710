"""``lossless exporter``: served to whoever asks, printed once, and refused with one line."""

from __future__ import annotations

import gzip
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.programs import install_command
from lossless.interfaces.cli.exporter import MetricsServer
from tests.interfaces.cli.conftest import Cli, cli as cli
from tests.paths import ROOT
from tests.redis_server import busy_switch, running
from tools.answers import cut

GUIDE = {
    "CONFIG_DB": {
        "DEVICE_METADATA|localhost": {
            "hostname": "leaf1",
            "hwsku": "Arista-7060X6-64PE",
            "platform": "x86_64-arista_7060x6",
        }
    },
    "COUNTERS_DB": {
        "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1"},
        "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": "oid:0x15"},
        "COUNTERS:oid:0x1": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "88412", "SAI_PORT_STAT_PFC_4_RX_PKTS": "0"},
        "COUNTERS:oid:0x15": {"PFC_WD_STATUS": "stormed", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "1"},
    },
}
"""The switch of docs/guides/telemetry-exporter.md."""
PROGRAM = "import sys; from lossless.interfaces.cli import main; sys.exit(main(sys.argv[1:]))"


@contextmanager
def serving(*texts: bytes) -> Iterator[str]:
    """Serve some expositions one after the other; yield the address."""
    left = iter(texts)
    with MetricsServer("127.0.0.1", 0, lambda: next(left)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def get(address: str) -> tuple[int, str, bytes]:
    """Return status, type and body of what is at an address."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, "", b""


def test_each_request_is_answered_by_a_new_exposition() -> None:
    with serving(b"a 1\n", b"a 2\n") as address:
        assert get(f"{address}/metrics") == (200, "text/plain; version=0.0.4; charset=utf-8", b"a 1\n")
        assert get(f"{address}/metrics?x=1")[2] == b"a 2\n"
        assert b'href="/metrics"' in get(address)[2]
        assert get(f"{address}/etc/passwd")[0] == 404


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0, identity", False),
        ("deflate", False),
        ("", False),
    ],
)
def test_an_exposition_is_packed_for_who_takes_it(accepted: str, packed: bool) -> None:
    text = b"a 1\n" * 1000
    with serving(text) as address:
        asked = urllib.request.Request(f"{address}/metrics", headers={"Accept-Encoding": accepted})
        with urllib.request.urlopen(asked, timeout=10) as answer:
            body = answer.read()
            assert (answer.headers["Content-Encoding"] == "gzip") is packed
            assert int(answer.headers["Content-Length"]) == len(body)
    assert (gzip.decompress(body) if packed else body) == text
    assert (len(body) < len(text) / 10) is packed


class CountedLock:
    """A lock that counts who asked for it."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self.asked.release()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_requests_that_come_during_a_scrape_share_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, go_on = CountedLock(), threading.Event()
    texts = iter(b"a %d\n" % number for number in range(1, 100))

    def exposition() -> bytes:
        go_on.wait(60)
        return next(texts)

    answers: list[bytes] = []
    with MetricsServer("127.0.0.1", 0, exposition) as server:
        monkeypatch.setattr(server, "_one", lock)
        threads = [threading.Thread(target=lambda: answers.append(server.exposition())) for _ in range(6)]
        for thread in threads:
            thread.start()
            lock.asked.acquire(timeout=60)
        go_on.set()
        for thread in threads:
            thread.join()
    assert sorted(answers) == [b"a 1\n", *[b"a 2\n"] * 5]


def test_a_client_that_says_nothing_holds_up_nobody() -> None:
    with serving(b"a 1\n") as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10):
            assert get(f"{address}/metrics")[2] == b"a 1\n"


def test_more_clients_than_a_few_are_turned_away_and_others_served_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lossless.interfaces.cli.exporter._REQUESTS", 1)
    with serving(b"a 1\n") as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as first:
            first.sendall(b"GET /")
            with socket.create_connection((host, int(port)), timeout=10) as second:
                assert second.recv(1) == b""
            first.sendall(b" HTTP/1.0\r\n\r\n")
            assert first.recv(12) == b"HTTP/1.0 200"
            while first.recv(4096):
                pass


def test_a_scrape_that_fails_is_told_in_one_line_and_the_next_is_served(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failures = iter([ValueError("no\nvalue")])

    def exposition() -> bytes:
        for failure in failures:
            raise failure
        return b"a 1\n"

    with MetricsServer("127.0.0.1", 0, exposition) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            with pytest.raises(ConnectionError):
                get(f"http://127.0.0.1:{server.server_port}/metrics")
            assert get(f"http://127.0.0.1:{server.server_port}/metrics")[0] == 200
        finally:
            server.shutdown()
            thread.join()
    assert capsys.readouterr().err == "lossless: a request failed: ValueError: no\\nvalue\n"


def test_an_address_that_is_taken_is_one_line() -> None:
    with serving() as address:
        port = int(address.rpartition(":")[2])
        with pytest.raises(
            LosslessError, match=rf"^cannot listen on 127\.0\.0\.1 port {port}: Address already in use$"
        ):
            MetricsServer("127.0.0.1", port, bytes)


@pytest.mark.tools("redis")
def test_once_prints_what_is_served(cli: Cli) -> None:
    with TemporaryDirectory(prefix="redis") as folder, running(Path(folder)) as redis:
        redis.fill(busy_switch(1))
        outcome = cli("exporter", "--once", "--redis", redis.socket, "--switch", "tor1")
        assert (outcome.code, outcome.err, outcome.hint) == (0, "", "")
        line = 'lossless_sonic_pfc_received_frames_total{switch="tor1",interface="Ethernet0",priority="3"} '
        assert any(each.startswith(line) for each in outcome.out.splitlines())
        command = [
            sys.executable,
            "-c",
            PROGRAM,
            "exporter",
            "--redis",
            redis.socket,
            "--listen",
            "127.0.0.1:0",
        ]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            assert said.startswith("serving /metrics on 127.0.0.1 port ")
            status, _, body = get(f"http://127.0.0.1:{said.split()[-1]}/metrics")
        finally:
            process.terminate()
            process.communicate(timeout=10)
        assert status == 200
        assert line.replace("tor1", "leaf1").encode() in body


@pytest.mark.tools("redis")
def test_the_guide_shows_what_is_printed(cli: Cli) -> None:
    guide = (ROOT / "docs" / "guides" / "telemetry-exporter.md").read_text()
    shown = re.search(r"^\$ lossless exporter (.*)\n((?:.*\n)*?)```$", guide, re.MULTILINE)
    assert shown
    with TemporaryDirectory(prefix="redis") as folder, running(Path(folder)) as redis:
        redis.fill(GUIDE)
        printed = cli("exporter", *shown[1].replace("/var/run/redis/redis.sock", redis.socket).split()).out
    assert cut(printed, shown[2]) == shown[2]


def test_where_no_redis_answers_that_is_what_is_printed(cli: Cli) -> None:
    outcome = cli("exporter", "--once", "--redis", "./none.sock", "--switch", "leaf1")
    assert outcome.code == 0
    assert 'lossless_sonic_database_up{switch="leaf1",database="COUNTERS_DB"} 0\n' in outcome.out
    assert outcome.err.startswith("no answer from CONFIG_DB: ")
    assert outcome.err.count("\n") == 1
    assert "./none.sock" in outcome.err
    assert "No such file or directory" in outcome.err


@pytest.mark.tools("redis")
def test_a_server_that_wants_a_password_is_named_with_what_it_says(cli: Cli) -> None:
    with TemporaryDirectory(prefix="redis") as folder, running(Path(folder)) as redis:
        redis.ask("CONFIG", "SET", "requirepass", "of-the-lab")
        outcome = cli("exporter", "--once", "--redis", redis.socket)
    assert outcome.err == f"no answer from CONFIG_DB: {redis.socket}: NOAUTH Authentication required.\n"


def test_why_a_database_does_not_answer_is_said_once_and_again_when_it_fails_again() -> None:
    from lossless.interfaces.cli import exporter

    said: list[str] = []
    answers = iter([("a: gone",), ("a: gone",), (), ("a: gone",)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporter, "problem", said.append)
        exposition = exporter._telling(lambda: b"", lambda: next(answers))
        for _ in range(4):
            exposition()
    assert said == ["no answer from a: gone"] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--listen", "9100"], "Error: Invalid value for '--listen': '9100' is not [ADDRESS]:PORT"),
        (["--listen", "a:99999"], "Error: Invalid value for '--listen': 'a:99999' is not [ADDRESS]:PORT"),
        (["--redis", "nowhere"], "--redis: 'nowhere' is neither the path of a socket nor HOST:PORT"),
        (["--database-config", "none.json"], "none.json: no such file"),
        (
            ["--redis", "a/b", "--database-config", "c"],
            "Error: --redis and --database-config both say where the databases are; give one",
        ),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], message: str, wide: Cli) -> None:
    outcome = wide("exporter", "--once", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert (outcome.err + outcome.hint).splitlines()[-1] == message


def test_where_sonic_says_nothing_of_its_databases_that_is_said(
    wide: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lossless.interfaces.api.exporter.FOLDER", "nowhere")
    outcome = wide("exporter", "--once")
    expected = (
        "lossless: no nowhere/database_config.json here; say where redis is by --redis or --database-config"
    )
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"{expected}\n")


def test_without_hiredis_it_says_how_to_get_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hiredis", None)
    outcome = cli("exporter", "--once", "--redis", "h:1")
    expected = f"lossless: the exporter needs hiredis: {install_command('telemetry')}\n"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", expected)


def test_the_release_is_the_one_that_sonic_says_it_was_built_as(tmp_path: Path) -> None:
    from lossless import api

    file = tmp_path / "sonic_version.yml"
    file.write_text("---\nbuild_version: 'SONiC.202505.1'\ndebian_version: '12.1'\n")
    exporter = api.exporter(lambda: 0.0, servers=["./none.sock"], switch="leaf1", version_file=str(file))
    info = b'lossless_sonic_info{switch="leaf1",hwsku="",platform="",release="SONiC.202505.1"} 1\n'
    assert info in exporter.exposition()
