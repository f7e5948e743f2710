"""gnmic's configuration: the subscriptions of each switch, by its SONiC release, and the output for Prometheus.

It replaces ``lossless exporter`` where no program may be installed on the switches, and has fewer metrics: gNMI serves
neither pools nor polling. Sources: docs/user_guide of openconfig/gnmic @5977503 for keys; paths by release, in the
branches of sonic-net/sonic-gnmi, sonic_data_client/virtual_db.go: 201911 to 202605 @06ec477.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.collection.sonic_names import names_script
from lossless.formats.telemetry.places import places_in_service
from lossless.formats.telemetry.yaml_text import yaml_text
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.places import SwitchPlace
    from lossless.formats.telemetry.yaml_text import Yaml
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
    """The paths of a switch by the name of their subscription, and the omitted paths, each with the reason."""

    paths: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def gnmic_files(fabric: Fabric, interval_s: int) -> dict[str, str]:
    """Return the configuration and its processor, by path below the folder of telemetry; none without switches."""
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
    """Return the subscriptions that a switch supports."""
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
