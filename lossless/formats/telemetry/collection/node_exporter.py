"""The systemd drop-in of node_exporter on hosts, limited to the counters of ``ethtool -S`` that rules and boards use.

A NIC has thousands of those (node_exporter#2096). RDMA devices are read by default; their hw_counters from
:data:`~lossless.formats.telemetry.foreign_metrics.HW_COUNTERS_SINCE` on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.formats.telemetry.foreign_metrics import (
    ETHTOOL_SINCE,
    HW_COUNTERS_SINCE,
    RDMA_SENT,
    packets_sent,
    pause_counters,
)
from lossless.model.fabric.qos import PRIORITIES
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric

PATH = "collection/node_exporter/lossless.conf"
UNIT = "prometheus-node-exporter.service"
"""The unit of Debian and Ubuntu, whose ``ARGS`` come from /etc/default."""
_PROGRAM = "/usr/bin/prometheus-node-exporter"


def node_exporter_files(fabric: Fabric) -> dict[str, str]:
    """Return the drop-in of a fabric's hosts, by its path below the folder of telemetry; none without hosts."""
    if not fabric.hosts:
        return {}
    return {PATH: _drop_in(flags(fabric))}


def subnet_node_exporter_files(subnet: Subnet) -> dict[str, str]:
    """Return the drop-in of a subnet's hosts; InfiniBand needs no flag except the one that enables its collector."""
    return {PATH: _drop_in(("--collector.infiniband",))} if isinstance(subnet.hosts, tuple) else {}


def flags(fabric: Fabric) -> tuple[str, ...]:
    """Return the arguments of node_exporter."""
    counters = dict.fromkeys(_counters(fabric))
    if not counters:
        return ("--collector.infiniband",)
    interfaces = dict.fromkeys(name for qos, _ in View(fabric).host_kinds for name in qos.interfaces)
    known = all(qos.interfaces for qos, _ in View(fabric).host_kinds)
    devices = (f"--collector.ethtool.device-include={_one_of(interfaces)}",) if known else ()
    return (
        "--collector.infiniband",
        "--collector.ethtool",
        *devices,
        f"--collector.ethtool.metrics-include={_one_of(counters)}",
    )


def _counters(fabric: Fabric) -> Iterator[str]:
    """Yield the drivers' counters that rules and dashboards query."""
    priorities = [cls.priority for cls in fabric.classes.classes if cls.priority is not None]
    lossless = [cls.priority for cls in fabric.classes.lossless if cls.priority is not None]
    for driver in dict.fromkeys(str(qos.driver) for qos, _ in View(fabric).host_kinds):
        named = (pause_counters(driver, priority) for priority in lossless)
        yield from (counter for counters in named if counters is not None for counter in counters if counter)
        # Pauses of the others too: where something is lossy, none may be received.
        every = (pause_counters(driver, priority) for priority in PRIORITIES)
        yield from (counters.received for counters in every if counters is not None)
        if driver == "mlx5":
            yield RDMA_SENT
            yield from map(packets_sent, priorities)


def _one_of(names: Iterable[str]) -> str:
    return f"^({'|'.join(map(re.escape, names))})$"


def _drop_in(arguments: Iterable[str]) -> str:
    """Return a drop-in of systemd that starts the program with the arguments of /etc/default and with flags."""
    doubled = (re.sub(r"[\\%$]", r"\g<0>\g<0>", argument) for argument in arguments)
    quoted = (f'"{argument}"' for argument in doubled)
    command = " \\\n  ".join((f"{_PROGRAM} $ARGS", *quoted))
    return (
        f"# Goes to /etc/systemd/system/{UNIT}.d/lossless.conf on every host; then\n"
        f"# systemctl daemon-reload, systemctl restart {UNIT}.\n"
        f"# Needs node_exporter {ETHTOOL_SINCE}. Counters of congestion control and of retransmission come from\n"
        f"# {HW_COUNTERS_SINCE} on; what asks for them has no data before.\n"
        f"[Service]\nExecStart=\nExecStart={command}\n"
    )
