"""The HTTP server of ``lossless exporter``: one page for Prometheus, and one that leads there."""

from __future__ import annotations

import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import LosslessError
from lossless.interfaces.cli.terminal import problem

if TYPE_CHECKING:
    from collections.abc import Callable

_REQUESTS = 8
"""Requests that are answered at a time, each by a thread: two Prometheus servers, and people."""
_CLIENT_TIMEOUT_S = 10
"""How long a client may take to ask or to read: as long as Prometheus gives a scrape."""
_TEXT, _PAGE = "text/plain; version=0.0.4; charset=utf-8", "text/html; charset=utf-8"
"""Prometheus' text format (prometheus/docs docs/instrumenting/exposition_formats.md)."""
_INDEX = (
    b'<html><head><title>lossless exporter</title></head><body><a href="/metrics">Metrics</a></body></html>\n'
)


class MetricsServer(ThreadingHTTPServer):
    """Answers each request for ``/metrics`` by a new exposition, one at a time.

    Raises:
        LosslessError: nothing can listen at that address.
    """

    daemon_threads = True

    def __init__(self, host: str, port: int, exposition: Callable[[], bytes]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._exposition = exposition
        self._one = Lock()
        self._free = BoundedSemaphore(_REQUESTS)
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise LosslessError(f"cannot listen on {host} port {port}: {error.strerror or error}") from None

    def exposition(self) -> bytes:
        """Return a new exposition."""
        with self._one:
            return self._exposition()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a request in a thread; more than a few at a time are turned away."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Report an error of a request, unless the client went away or hung."""
        error = sys.exception()
        if not isinstance(error, OSError):
            problem(f"lossless: a request failed: {type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    timeout = _CLIENT_TIMEOUT_S
    server: MetricsServer

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            self._answer(_TEXT, self.server.exposition())
        elif path == "/":
            self._answer(_PAGE, _INDEX)
        else:
            self.send_error(404)

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Return the name of the server without versions, which clients need not see."""
        return "lossless"

    def log_message(self, *_: Any) -> None:
        """Log nothing: regular scrapes need no log lines."""
