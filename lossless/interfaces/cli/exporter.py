"""``lossless exporter``: the databases of a SONiC switch, for Prometheus."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from lossless.interfaces.cli.app import COMMANDS
from lossless.interfaces.cli.terminal import notice, out, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_PORT = 10163
"""Of no entry in Prometheus' list of default ports as far as it could be read: 9100 to 9999 are all taken there
(prometheus/prometheus wiki, Default-port-allocations). Not registered."""
_LISTEN = re.compile(r"(\[[0-9A-Fa-f:.%\w]+\]|[A-Za-z0-9._-]*):([0-9]{1,5})")
_ALL = "0.0.0.0"
_PORTS = range(65536)


def _address(_context: click.Context, _option: click.Parameter, text: str) -> tuple[str, int]:
    """Return the host and port to listen on; port 0 is any that is free.

    Raises:
        BadParameter: it is no address.
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
@click.option("--once", is_flag=True, help="Print the metrics once and end.")
def command(
    servers: Sequence[str],
    database_config: str | None,
    listen: tuple[str, int],
    switch: str | None,
    *,
    once: bool,
) -> None:
    """Serve the counters of a SONiC switch to Prometheus.

    Runs on the switch, or where its redis can be reached, and reads its databases for each scrape: PFC frames and
    ECN marks by priority and queue, the PFC watchdog, drops, and watermarks of queues, priority groups and pools. It
    never writes. Values that a database lacks are absent, and so are counters whose polling is off.

    \b
    lossless exporter --listen 192.0.2.10:10163
    lossless exporter --once | promtool check metrics

    Needs the extra telemetry. Exit codes: 0 ended, 2 wrong options, or the address is taken.
    """
    from socket import gethostname
    from time import perf_counter

    from lossless import api

    if servers and database_config:
        raise click.UsageError("--redis and --database-config both say where the databases are; give one")
    made = api.exporter(
        perf_counter, servers=servers, database_config=database_config, host=gethostname(), switch=switch
    )
    exposition = _telling(made.exposition, lambda: made.unanswered)
    if once:
        out(exposition().decode().rstrip("\n"))
        return
    from lossless.interfaces.cli.metrics_server import MetricsServer

    with MetricsServer(*listen, exposition) as server:
        notice(f"serving /metrics on {listen[0]} port {server.server_port}")
        server.serve_forever()


def _telling(make: Callable[[], bytes], unanswered: Callable[[], Iterable[str]]) -> Callable[[], bytes]:
    """Return a function that makes an exposition, and reports each database without an answer once until it answers."""
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
