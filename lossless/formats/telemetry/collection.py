"""Files for the collection of metrics: gnmic's configuration, and the systemd drop-in of node_exporter on hosts.

gnmic has the subscriptions of each switch, by its SONiC release, and the output for Prometheus. It replaces
``lossless exporter`` where no program may be installed on the switches, and has fewer metrics: gNMI serves neither
pools nor polling. Sources: docs/user_guide of openconfig/gnmic @5977503 for keys; paths by release, in the branches
of sonic-net/sonic-gnmi, sonic_data_client/virtual_db.go: 201911 to 202605 @06ec477.

node_exporter is limited to the counters of ``ethtool -S`` that rules and boards use. A NIC has thousands of those
(node_exporter#2096). RDMA devices are read by default; their hw_counters from
:data:`~lossless.formats.telemetry.metrics.HW_COUNTERS_SINCE` on.

Fields of gNMI answers are mapped to metrics of ``lossless exporter``, as data for gnmic's processor. gnmic makes
names of paths, in which the port is a part of the name. A processor in Starlark (templates/telemetry/
sonic_names.star) gives them the names and labels of the catalog, from a table that is written into it.

Labels of a scrape are the tier and rail of a device, by which dashboards group them.

Plain data are written as YAML for Prometheus and Alertmanager too: few shapes, and many of the same. Texts are quoted
as in JSON, which YAML reads the same way (YAML 1.2.2, 1.2), except for words that every reader takes for text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from lossless.formats.telemetry.exposition.redis_reader import fields_of
from lossless.formats.telemetry.metrics import (
    ETHTOOL_SINCE,
    HW_COUNTERS_SINCE,
    METRICS,
    RDMA_SENT,
    WINDOWS,
    packets_sent,
    pause_counters,
)
from lossless.ground.basics.files import data_dir
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import known_tier
from lossless.model.fabric.qos import PRIORITIES
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.formats.telemetry.metrics import Metric, Source
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric, Switch


FOLDER = "collection/gnmic"
_PORT = 50051
"""The default port of SONiC's telemetry, without TELEMETRY|gnmi|port (sonic-gnmi doc/grpc_telemetry.md)."""
_LISTEN = ":9804"
"""gnmic's default address of its Prometheus output (docs/user_guide/outputs/prometheus_output.md)."""
_ALWAYS = {
    "ports": "COUNTERS/Ethernet*",
    "queues": "COUNTERS/Ethernet*/Queues",
    "watchdog": "COUNTERS/Ethernet*/Pfcwd",
}
_WATERMARKS = "PERIODIC_WATERMARKS/Ethernet*/PriorityGroups"
_WITH_WATERMARKS = frozenset({"202411", "202511", "202605"})
"""Releases whose branch serves watermarks of priority groups; that of 202505 does not."""
_BROKEN_FROM = "202411"
"""The first release on which sampling of ports stops after the first sample on NVIDIA's switches.

Source: sonic-buildimage#22201, open: the PFC history updates the rows of ports all the time.
"""


class Subscribed(NamedTuple):
    """The gNMI paths of a switch by the name of their subscription, and the omitted metrics, each with the reason."""

    paths: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def gnmic_files(fabric: Fabric, interval_s: int) -> dict[str, str]:
    """Return gnmic's configuration and its processor, by path below the folder of telemetry; none without switches."""
    if not fabric.switches:
        return {}
    units = {switch.device: switch for switch in fabric.switches}
    places = places_in_service(fabric)
    devices = {place.name: subscribed(units[place.name]) for place in places}
    targets = {place.name: _target(fabric.name, place, devices[place.name]) for place in places}
    return {
        f"{FOLDER}/gnmic.yml": yaml_text(_configuration(devices, targets, interval_s), _comment(devices)),
        f"{FOLDER}/sonic_names.star": names_script(),
    }


def subscribed(switch: Switch) -> Subscribed:
    """Return the gNMI subscriptions that a switch supports by its SONiC release and vendor, and those left out."""
    release, paths, left_out = switch.release, dict(_ALWAYS), []
    if release is None:
        left_out.append("watermarks of priority groups: the intent states no SONiC release")
    elif release in _WITH_WATERMARKS:
        paths["watermarks"] = _WATERMARKS
    else:
        left_out.append(f"watermarks of priority groups: SONiC {release} does not serve them")
    nvidia = switch.profile is not None and switch.profile.name.startswith("nvidia-")
    if nvidia and release is not None and release >= _BROKEN_FROM:
        del paths["ports"]
        why = "sampling them stops after the first sample (sonic-buildimage#22201)"
        left_out.append(f"counters of ports and PFC: on NVIDIA's switches with SONiC {release}, {why}")
    return Subscribed(tuple(paths.items()), tuple(left_out))


def _comment(devices: dict[str, Subscribed]) -> str:
    missing = grouped((reason, device) for device, item in devices.items() for reason in item.left_out)
    return "\n".join(
        [
            "Run: GNMIC_USERNAME=... GNMIC_PASSWORD=... gnmic --config gnmic.yml subscribe",
            "Say how switches prove who they are: `tls-ca`, `skip-verify` or `insecure`.",
            "An alternative to lossless exporter: have Prometheus scrape one of both, in the job lossless-switches.",
            *(f"Left out on {_devices(names)}: {reason}" for reason, names in missing.items()),
        ]
    )


def _devices(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _target(fabric: str, place: SwitchPlace, item: Subscribed) -> Yaml:
    labels = {
        name: value
        for name, value in (("fabric", fabric), ("tier", place.tier), ("rail", place.rail))
        if value
    }
    names = [name for name, _ in item.paths]
    return {"address": f"{place.name}:{_PORT}", "subscriptions": names, "event-tags": labels}


def _configuration(
    devices: dict[str, Subscribed], targets: dict[str, Yaml], interval_s: int
) -> dict[str, Yaml]:
    every = {name: path for item in devices.values() for name, path in item.paths}
    return {
        "targets": targets,
        "subscriptions": dict(_subscriptions(every, interval_s)),
        "processors": {"sonic-names": {"event-starlark": {"script": "sonic_names.star"}}},
        "outputs": {
            "prometheus": {
                "type": "prometheus",
                "listen": _LISTEN,
                "expiration": f"{4 * interval_s}s",
                "event-processors": ["sonic-names"],
            }
        },
    }


def _subscriptions(paths: dict[str, str], interval_s: int) -> Iterator[tuple[str, Yaml]]:
    for name, path in paths.items():
        yield (
            name,
            {
                "target": "COUNTERS_DB",
                "paths": [path],
                "mode": "stream",
                "stream-mode": "sample",
                "sample-interval": f"{interval_s}s",
                "encoding": "json_ietf",
            },
        )


PATH = "collection/node_exporter/lossless.conf"
UNIT = "prometheus-node-exporter.service"
"""The systemd unit of node_exporter on Debian and Ubuntu, whose ``ARGS`` come from /etc/default."""
_PROGRAM = "/usr/bin/prometheus-node-exporter"


def node_exporter_files(fabric: Fabric) -> dict[str, str]:
    """Return node_exporter's systemd drop-in for a fabric's hosts, by path below the telemetry folder, if any."""
    if not fabric.hosts:
        return {}
    return {PATH: _drop_in(flags(fabric))}


def subnet_node_exporter_files(subnet: Subnet) -> dict[str, str]:
    """Return the drop-in of a subnet's hosts, none if these are unknown; it only enables the InfiniBand collector."""
    return {PATH: _drop_in(("--collector.infiniband",))} if isinstance(subnet.hosts, tuple) else {}


def flags(fabric: Fabric) -> tuple[str, ...]:
    """Return the arguments of node_exporter for the counters of a fabric's hosts."""
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
    """Yield the ``ethtool -S`` counters of the hosts' drivers that alert rules and dashboards query."""
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
    """Return a drop-in of systemd that starts node_exporter with the arguments of /etc/default and these."""
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


_TABLES = ("COUNTERS", WINDOWS["periodic"])
"""The tables that gNMI serves by port (sonic-gnmi sonic_data_client/virtual_db.go @5ec1c20)."""
_PARTS = {"port": "", "queue": "queue", "pg": "pg"}
_PRIORITIES = tuple(map(str, range(8)))


def names_script() -> str:
    """Return gnmic's processor in Starlark, with its table of SONiC's fields and the catalog's metrics."""
    script = Path(data_dir("templates"), "telemetry", "sonic_names.star").read_text(encoding="utf-8")
    return script.replace("FIELDS_OF_SONIC", json.dumps(_table(), indent=1))


def _table() -> dict[str, list[dict[str, Any]]]:
    table: dict[str, list[dict[str, Any]]] = {}
    for metric in METRICS:
        for source in metric.sources:
            if source.database == "COUNTERS_DB" and source.table in _TABLES and source.of in _PARTS:
                for field, entry in _entries(metric, source):
                    table.setdefault(field, []).append(entry)
    return table


def _entries(metric: Metric, source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    by_priority = "priority" in metric.labels
    for priority in _PRIORITIES if by_priority else (None,):
        own = {} if priority is None else {"priority": priority}
        entry = {
            "metric": metric.name,
            "part": _PARTS[source.of],
            "labels": own | dict(source.labels),
            "words": dict(source.words),
            "times": source.times,
            "per": source.per,
        }
        for counter in source.counters:
            for rank, field in enumerate(fields_of(source, counter, priority)):
                yield field, entry | {"counter": counter, "rank": rank}


NO_TIER = "switch"
"""The tier label of a switch without a tier, as in a torus: its role in an intent."""


class SwitchPlace(NamedTuple):
    """The scrape labels of a device: name, tier in an intent's spelling, rail (from ``0``; empty: not of one rail)."""

    name: str
    tier: str
    rail: str = ""


def switch_places(fabric: Fabric) -> tuple[SwitchPlace, ...]:
    """Return name, tier and rail of all devices in the order of the fabric, one for a device with several ASICs."""
    rail_of = View(fabric).rail_of
    devices = grouped((switch.device, switch) for switch in fabric.switches)
    return tuple(
        SwitchPlace(device, _tier(units[0]), str(rail_of.get(units[0].name, "")))
        for device, units in devices.items()
    )


def places_in_service(fabric: Fabric) -> tuple[SwitchPlace, ...]:
    """Return name, tier and rail of the devices that the intent has in service."""
    gone = [cable.names for cable in fabric.failures.out_of_service] if fabric.failures else []
    return tuple(place for place in switch_places(fabric) if (place.name,) not in gone)


def tiers(fabric: Fabric) -> tuple[str, ...]:
    """Return the tiers that have switches, the lowest first."""
    present = {place.tier for place in switch_places(fabric)}
    return tuple(tier for tier in (NO_TIER, "leaf", "spine", "super-spine") if tier in present)


def _tier(switch: Switch) -> str:
    tier = known_tier(switch.tier)
    return NO_TIER if tier is None else tier.word


def host_facing(fabric: Fabric) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield tiers, each with the names of its ports that lead to hosts on all of its switches that have them."""
    for tier in tiers(fabric):
        switches = [switch for switch in fabric.switches if _tier(switch) == tier]
        used = {id(switch.ports): switch.ports for switch in switches}
        leads = grouped((port.name, port.leads_to) for ports in used.values() for port in ports)
        names = tuple(name for name, kinds in leads.items() if name and set(kinds) == {"host"})
        if names:
            yield tier, names


Yaml: TypeAlias = Union["Mapping[str, Yaml]", "Sequence[Yaml]", str, int, float, bool]
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""Words that a reader of YAML 1.1 takes for something other than text."""


def yaml_text(data: Mapping[str, Yaml], comment: str = "") -> str:
    """Return plain data as a YAML document, below a comment."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    return "\n".join([*lines, *_members(data, "")]) + "\n"


def _members(data: Mapping[str, Yaml], margin: str) -> Iterator[str]:
    for key, value in data.items():
        yield from _member(f"{margin}{_scalar(key)}:", value, margin + "  ")


def _items(data: Sequence[Yaml], margin: str) -> Iterator[str]:
    for value in data:
        lines = list(_member("", value, margin + "  "))
        first, *rest = lines[1:] if lines[0] == "" else lines
        yield f"{margin}- {first.strip()}"
        yield from rest


def _member(head: str, value: Yaml, margin: str) -> Iterator[str]:
    """Yield the lines of a value after a key; an item of a list has an empty ``head``."""
    if isinstance(value, str) and "\n" in value:
        yield f"{head} |-"
        yield from (f"{margin}{line}".rstrip() for line in value.split("\n"))
    elif isinstance(value, str | int | float):
        yield f"{head} {_scalar(value)}"
    elif not value:
        yield f"{head} {'{}' if isinstance(value, Mapping) else '[]'}"
    else:
        yield head
        yield from _members(value, margin) if isinstance(value, Mapping) else _items(value, margin)


def _scalar(value: str | float) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
