"""A real alertmanager with routes that were rendered, and a receiver that keeps what it is told."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from tests.real_tools import program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PATIENCE_S = 600
"""How long something may take on a machine that is busy; nothing waits for it where it comes sooner."""
Notifications = Queue[dict[str, Any]]


class Alertmanager:
    """A running server. Its notifications are in ``told``, in their order."""

    def __init__(self, address: str, told: Notifications) -> None:
        self._api = f"http://{address}"
        self.told = told
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{self._api}/-/ready", timeout=_PATIENCE_S)
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
            else:
                return
        raise AssertionError("alertmanager does not start")

    def post(self, alerts: Sequence[dict[str, Any]]) -> None:
        """Let alerts fire, as Prometheus does."""
        body = json.dumps(list(alerts)).encode()
        request = urllib.request.Request(
            f"{self._api}/api/v2/alerts", body, {"Content-Type": "application/json"}
        )
        urllib.request.urlopen(request, timeout=_PATIENCE_S)

    def states(self) -> dict[str, str]:
        """Return whether each alert is active or suppressed, by its name and switch."""
        with urllib.request.urlopen(f"{self._api}/api/v2/alerts", timeout=_PATIENCE_S) as answer:
            alerts = json.load(answer)
        return {_key(alert["labels"]): alert["status"]["state"] for alert in alerts}

    def next(self) -> dict[str, Any]:
        """Return the next notification."""
        return self.told.get(timeout=_PATIENCE_S)


def _key(labels: dict[str, str]) -> str:
    return f"{labels['alertname']} {labels.get('switch') or labels.get('instance', '')}".strip()


@contextmanager
def running(folder: Path, configuration: Path) -> Iterator[Alertmanager]:
    """Yield an alertmanager whose receivers are all the one of the test; groups wait for a moment alone."""
    told: Notifications = Queue()
    with _receiver(told) as url:
        text = _for_tests(configuration.read_text(encoding="utf-8"), url)
        (folder / "alertmanager.yml").write_text(text, encoding="utf-8")
        address = f"127.0.0.1:{_free_port()}"
        process = subprocess.Popen(
            [
                program("prometheus-alertmanager"),
                "--config.file=alertmanager.yml",
                "--storage.path=data",
                f"--web.listen-address={address}",
                "--cluster.listen-address=",
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Alertmanager(address, told)
        finally:
            process.kill()
            process.wait()


def _for_tests(text: str, url: str) -> str:
    """Return routes whose receivers post to a URL, and whose groups are told at once."""
    lines = text.replace('group_wait: "30s"', 'group_wait: "500ms"').splitlines()
    assert any("500ms" in line for line in lines), text
    names = lines.index("receivers:") + 1
    hooks = (f'{line}\n    webhook_configs: [{{url: "{url}"}}]' for line in lines[names:])
    return "\n".join((*lines[:names], *hooks)) + "\n"


@contextmanager
def _receiver(told: Notifications) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
