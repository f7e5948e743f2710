"""Exporter and collector: the databases of a SONiC switch as metrics, and the scripts that take a snapshot.

Metrics are for Prometheus. The scripts print a snapshot of a host or a switch for this program to read; they run
in a shell, without this program.
"""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.formats.telemetry.exposition.exporter import Exporter as Exporter
from lossless.formats.telemetry.exposition.layout import given, read_layout
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.files import data_dir
from lossless.ground.basics.programs import install_command
from lossless.ground.documents.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


FOLDER = "/var/run/redis/sonic-db"
"""The folder of SONiC's files with the addresses of its databases (sonic-swss-common common/dbconnector.h @01a617f)."""
LAYOUTS = ("database_global.json", "database_config.json")
VERSION_FILE = "/etc/sonic/sonic_version.yml"
_VERSION = re.compile(r"^build_version: *['\"]?([^'\"\s]+)", re.MULTILINE)


def exporter(
    clock: Callable[[], float],
    *,
    servers: Sequence[str] = (),
    database_config: str | None = None,
    host: str = "",
    switch: str | None = None,
    everything: bool = False,
    version_file: str = VERSION_FILE,
) -> Exporter:
    """Return an exporter that reads a switch's databases at each scrape; no database is read yet.

    ``servers`` are redis servers, as socket paths or HOST:PORT, each prefixed with ``NAMESPACE=`` if there are several.
    Without them the addresses are read from ``database_config``, a ``database_config.json`` or
    ``database_global.json``, else from SONiC's own file. ``clock`` returns seconds. ``host`` is the name of the switch
    until CONFIG_DB provides one; ``switch`` overrides the name in CONFIG_DB. ``everything``: all metrics are
    served, of all windows, queues, groups and priorities, not those alone that rules, alerts and dashboards read.

    Raises:
        InputError: a server or a file does not give the address of the databases, or a file cannot be read.
        LosslessError: hiredis is not installed, or this machine has no file of SONiC with the addresses.
    """
    from importlib.util import find_spec

    if find_spec("hiredis") is None:
        raise LosslessError(f"the exporter needs hiredis: {install_command('telemetry')}")
    namespaces = given(servers) if servers else read_layout(database_config or _own_layout())
    return Exporter(
        namespaces,
        clock,
        host=host,
        switch=switch,
        release=_release(version_file),
        everything=everything,
    )


def _own_layout() -> str:
    paths = [os.path.join(FOLDER, name) for name in LAYOUTS]
    layout = next(filter(os.path.exists, paths), None)
    if layout is None:
        raise LosslessError(f"no {paths[-1]} here; say where redis is by --redis or --database-config")
    return layout


def _release(file: str) -> str:
    """Return the release of the switch from its version file; empty if no file gives it."""
    match = _VERSION.search(read_text(file)) if os.path.isfile(file) else None
    return match[1] if match else ""


def collector(*, switch: bool = False) -> str:
    """Return the text of the script that takes a snapshot of a host, or with ``switch`` of a SONiC switch.

    Raises:
        LosslessError: the installation is damaged.
    """
    folder, name = ("sonic", "lossless-collect-switch.sh") if switch else ("hosts", "lossless-collect.sh")
    return Path(data_dir("templates"), folder, "collect", name).read_text(encoding="utf-8")
