"""Monitoring configuration of a fabric in service, beside the configuration of its devices.

Each part is a function from the fabric, or the subnet, to texts by their paths below the folder of telemetry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.device_files.deployment import TELEMETRY, Deployment, PlannedFile
from lossless.formats.device_files.hosts import below
from lossless.ground.basics.wording import joined
from lossless.model.fabric.parts import of_switches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric

_OFF_THE_FABRIC = "no device of the fabric reads it"
_RULES = Deployment(
    "/etc/prometheus/{name}",
    ("promtool check config /etc/prometheus/prometheus.yml", "systemctl reload prometheus"),
    hitless=True,
    why=f"Prometheus reads it when it is reloaded; {_OFF_THE_FABRIC}",
)
_DEPLOYMENTS = {
    "prometheus": _RULES,
    "alertmanager": Deployment(
        "/etc/prometheus/{name}",
        ("amtool check-config /etc/prometheus/{name}", "systemctl reload prometheus-alertmanager"),
        hitless=True,
        why=f"fill in the receivers first: they tell nobody; {_OFF_THE_FABRIC}",
    ),
    "grafana": Deployment(
        "/etc/grafana/{name}",
        ("systemctl restart grafana-server",),
        hitless=True,
        why=f"Grafana reads it when it starts; {_OFF_THE_FABRIC}",
    ),
    "collection": Deployment("", (), hitless=True, why="its first lines say where it goes"),
}
"""By the first folder of a path. The folders are those of Debian's packages."""
_TESTS = Deployment(
    "", (), hitless=True, why="to be run where the rules lie: promtool test rules alerts.tests.yml"
)
NO_RECEIVERS = "telemetry/alertmanager/alertmanager.yml: its receivers tell nobody until you fill them in"


def telemetry_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the files of a fabric; none of one that a cloud runs.

    Raises:
        RenderError: grafana-foundation-sdk is not installed.
    """
    from lossless.formats.telemetry.collection import gnmic_files, node_exporter_files
    from lossless.formats.telemetry.grafana.build import dashboard_files
    from lossless.formats.telemetry.prometheus.files import fabric_files
    from lossless.formats.telemetry.prometheus.inventory import times

    watched = of_switches(fabric, lambda switch: switch.runs_sonic)
    if watched.switches:
        yield from _planned(fabric_files(watched))
        yield from _planned(dashboard_files(watched))
        yield from _planned(gnmic_files(watched, times(watched).scrape))
        yield from _planned(node_exporter_files(watched))


def subnet_telemetry_files(subnet: Subnet) -> Iterator[PlannedFile]:
    """Yield the files of an InfiniBand subnet.

    Raises:
        RenderError: grafana-foundation-sdk is not installed.
    """
    from lossless.formats.telemetry.collection import subnet_node_exporter_files
    from lossless.formats.telemetry.grafana.build import subnet_dashboard_files
    from lossless.formats.telemetry.prometheus.files import subnet_files

    for texts in (subnet_files(subnet), subnet_dashboard_files(subnet), subnet_node_exporter_files(subnet)):
        yield from _planned(texts)


def telemetry_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return the notes on the telemetry files of a fabric."""
    others = [switch.name for switch in fabric.switches if not switch.runs_sonic]
    if others:
        what = f"{joined(others, 4)}: no telemetry: it is known of SONiC alone"
        return (what,) if len(others) == len(fabric.switches) else (what, NO_RECEIVERS)
    if fabric.switches:
        return (NO_RECEIVERS,)
    return ("no telemetry: the intent has no switches and hosts of its own to watch",)


def _planned(texts: Mapping[str, str]) -> Iterator[PlannedFile]:
    return below(
        TELEMETRY, (PlannedFile(path, text, deployment=_deployment(path)) for path, text in texts.items())
    )


def _deployment(path: str) -> Deployment | None:
    folder, _, name = path.partition("/")
    if name.endswith(".tests.yml"):
        return _TESTS
    known = _DEPLOYMENTS.get(folder)
    if known is None:
        return None
    # Grafana has one folder of dashboards for each provider.
    name = name.replace("dashboards/", "dashboards/lossless/") if name.startswith("dashboards/") else name
    apply = tuple(command.format(name=name) for command in known.apply)
    return known._replace(target=known.target.format(name=name), apply=apply)
