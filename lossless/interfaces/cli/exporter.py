"""``lossless exporter`` and ``lossless collector``: a switch's databases for Prometheus, and scripts for captures.

The HTTP server of the exporter has one page of metrics for Prometheus, and one with a link to it. The scripts of the
collector print how the NICs of a host are configured, and the state of a switch.
"""

from __future__ import annotations

import re
import socket
import sys
from gzip import compress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Any

import click

from lossless.ground.basics.errors import LosslessError
from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.options import InputPath
from lossless.interfaces.cli.terminal import next_step, notice, out, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


_PORT = 10163
"""Default port, not in Prometheus' list of default ports as far as it could be read: 9100 to 9999 are all taken there
(prometheus/prometheus wiki, Default-port-allocations). Not registered."""
_LISTEN = re.compile(r"(\[[0-9A-Fa-f:.%\w]+\]|[A-Za-z0-9._-]*):([0-9]{1,5})")
_ALL = "0.0.0.0"
_PORTS = range(65536)


def _address(_context: click.Context, _option: click.Parameter, text: str) -> tuple[str, int]:
    """Return the host and port to listen on; port 0 is any that is free.

    Raises:
        BadParameter: the text is not ``[ADDRESS]:PORT``.
    """
    match = _LISTEN.fullmatch(text)
    if match is None or int(match[2]) not in _PORTS:
        raise click.BadParameter(f"{text!r} is not [ADDRESS]:PORT")
    return match[1].strip("[]") or _ALL, int(match[2])


@click.command("exporter", short_help=COMMANDS["exporter"])
@click.option(
    "--redis",
    "servers",
    metavar="[NAMESPACE=]ADDRESS",
    multiple=True,
    help="Redis server, as the path of its socket or HOST:PORT; one for each namespace of a switch with several ASICs.",
)
@click.option(
    "--database-config",
    metavar="FILE",
    type=InputPath(),
    help="File that says where the databases are (default: SONiC's own database_global.json or database_config.json).",
)
@click.option(
    "--listen",
    metavar="[ADDRESS]:PORT",
    default=f":{_PORT}",
    callback=_address,
    help=f"Where to serve /metrics (default: port {_PORT} of all IPv4 addresses).",
)
@click.option("--switch", metavar="NAME", help="Value of the label switch (default: hostname of CONFIG_DB).")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Serve all metrics, of every window, queue, group and priority, not only those that the rendered rules, "
    "alerts and dashboards read.",
)
@click.option("--once", is_flag=True, help="Print the metrics once and end.")
def exporter_command(
    servers: Sequence[str],
    database_config: str | None,
    listen: tuple[str, int],
    switch: str | None,
    *,
    everything: bool,
    once: bool,
) -> None:
    """Serve the counters of a SONiC switch to Prometheus.

    Runs on the switch, or where its redis can be reached, and reads its databases for each scrape: PFC frames and
    ECN marks by priority and queue, the PFC watchdog, drops, and watermarks of queues, priority groups and pools. It
    never writes. Values that a database lacks are absent, and so are counters whose polling is off. Queues, groups and
    priorities without PFC are left out where no rule, alert or dashboard reads them.

    \b
    lossless exporter --listen 192.0.2.10:10163
    lossless exporter --once | promtool check metrics

    Needs the extra telemetry. Exit codes: 0 printed once, 2 not started.
    """
    from socket import gethostname
    from time import perf_counter

    from lossless import api

    if servers and database_config:
        raise click.UsageError("--redis and --database-config both say where the databases are; give one")
    made = api.exporter(
        perf_counter,
        servers=servers,
        database_config=database_config,
        host=gethostname(),
        switch=switch,
        everything=everything,
    )
    exposition = _telling(made.exposition, lambda: made.unanswered)
    if once:
        out(exposition().decode().rstrip("\n"))
        return

    with MetricsServer(*listen, exposition) as server:
        notice(f"serving /metrics on {listen[0]} port {server.server_port}")
        server.serve_forever()


def _telling(make: Callable[[], bytes], unanswered: Callable[[], Iterable[str]]) -> Callable[[], bytes]:
    """Return a function that makes an exposition of metrics, and reports a silent database once until it answers."""
    told: set[str] = set()

    def exposition() -> bytes:
        text = make()
        now = dict.fromkeys(unanswered())
        for line in now:
            if line not in told:
                problem(f"no answer from {line}")
        told.intersection_update(now)
        told.update(now)
        return text

    return exposition


_REQUESTS = 8
"""Requests that are answered at a time, each by a thread: two Prometheus servers, and people."""
_CLIENT_TIMEOUT_S = 10
"""How long a client may take to ask or to read: as long as Prometheus gives a scrape."""
_TEXT, _PAGE = "text/plain; version=0.0.4; charset=utf-8", "text/html; charset=utf-8"
"""Content types of the metrics, which are in Prometheus' text format, and of the page with a link to them.

Source: prometheus/docs docs/instrumenting/exposition_formats.md.
"""
_REFUSED = re.compile(r"\s*q=0(?:\.0*)?\s*", re.IGNORECASE)
_INDEX = (
    b'<html><head><title>lossless exporter</title></head><body><a href="/metrics">Metrics</a></body></html>\n'
)


class MetricsServer(ThreadingHTTPServer):
    """Answers requests for ``/metrics``, each by an exposition of metrics that begins after the request.

    One exposition is made at a time; requests that come during it share the next one.

    Raises:
        LosslessError: nothing can listen at that address.
    """

    daemon_threads = True

    def __init__(self, host: str, port: int, exposition: Callable[[], bytes]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._exposition = exposition
        self._one = Lock()
        self._begun = 0
        self._last = 0, b""
        self._free = BoundedSemaphore(_REQUESTS)
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise LosslessError(f"cannot listen on {host} port {port}: {error.strerror or error}") from None

    def exposition(self) -> bytes:
        """Return an exposition whose collection starts after this call; calls at the same time share one."""
        begun = self._begun
        with self._one:
            if self._last[0] <= begun:
                self._begun += 1
                self._last = self._begun, self._exposition()
            return self._last[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a request in a thread; while :data:`_REQUESTS` are being answered, close the connection instead."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a request in its thread, and then make room for another request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Report an error of a request, unless it is an OSError: the client went away or timed out."""
        error = sys.exception()
        if not isinstance(error, OSError):
            problem(f"lossless: a request failed: {type(error).__name__}: {error}")


def _takes_gzip(accepted: str) -> bool:
    """Return whether a header Accept-Encoding names gzip, and not with a weight of 0 (RFC 9110, 12.5.3)."""
    return any(
        coding.strip().lower() == "gzip" and not _REFUSED.fullmatch(weight)
        for coding, _, weight in (each.partition(";") for each in accepted.split(","))
    )


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
        if _takes_gzip(self.headers.get("Accept-Encoding", "")):
            # The fastest level: the processor is that of a switch.
            body = compress(body, compresslevel=1, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Return the name of the server without versions, which clients need not see."""
        return "lossless"

    def log_message(self, *_: Any) -> None:
        """Log nothing: regular scrapes need no log lines."""


@click.command("collector", short_help=COMMANDS["collector"])
@click.option(
    "--switch", is_flag=True, help="The script for a SONiC switch: its databases, for lossless verify."
)
def collector_command(*, switch: bool) -> None:
    """Print the script that reports the state of a host or a switch.

    It changes no setting there. That for hosts reports how their NICs are set. Save its output in a folder of the
    host's name, and check it with the switches:

    \b
    lossless collector > lossless-collect.sh
    ssh gpu1 sudo sh -s < lossless-collect.sh > hosts/gpu1/snapshot.facts
    lossless lint .

    That for switches reads tables of ports and their neighbors, LAGs, QoS, the watchdog, trimming, buffers,
    capabilities and counters of every ASIC, versions, and some fields of DEVICE_METADATA; nothing of users, AAA
    or SNMP:

    \b
    lossless collector --switch > lossless-collect-switch.sh
    ssh leaf1 sudo sh -s < lossless-collect-switch.sh > captures/leaf1.txt
    lossless verify captures
    """
    from lossless import api

    out(api.collector(switch=switch).rstrip("\n"))
    step = "lossless collector > lossless-collect.sh  # saves it, to be run on each host"
    if switch:
        step = (
            "lossless collector --switch > lossless-collect-switch.sh  # saves it, to be run on each switch"
        )
    next_step(step, quiet=not sys.stdout.isatty())
