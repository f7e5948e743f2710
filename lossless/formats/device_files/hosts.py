"""Renders the files of a fabric beside those of its switches: of hosts, of jobs and of telemetry.

Each host has a folder for the files of its NICs and the environment of its jobs; NVIDIA's NIC operator gets resources.
Each part of telemetry is a function from the fabric, or the subnet, to texts by their paths below the folder
``telemetry``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.formats.device_files.base_merge import CLUSTER, HOST_FILES, TELEMETRY, Deployment, PlannedFile
from lossless.ground.basics.errors import RenderError
from lossless.ground.basics.units import joined
from lossless.model.fabric.model import of_switches

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from lossless.formats.hosts.from_model.scripts import HostFile
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric


def require_bases(fabric: Fabric, present: Collection[str]) -> None:
    """Refuse a fabric with a SONiC switch that has no base; ``present`` are the names of switches that have one.

    Raises:
        RenderError: it has such switches; the message names them.
    """
    missing = [s.name for s in fabric.switches if s.runs_sonic and s.name not in present]
    if missing:
        raise RenderError(f"no base for {', '.join(missing)}; a base is DIR/<device>/config_db.json")


def host_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return notes on the host settings that no rendered file sets, with the number of hosts and the reason.

    Raises:
        RenderError: a NIC has no profile.
    """
    from lossless.formats.hosts.from_model.scripts import unset

    left = Counter(
        (host.qos.nic_name, what) for host in fabric.hosts if (what := unset(host.qos)) is not None
    )
    notes = (
        (f"hosts with {nic}: their files leave out {what}", count) for (nic, what), count in left.items()
    )
    return tuple(f"{count} {note}" for note, count in sorted(notes))


def host_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Return an iterator of the files that set up the NICs of each host.

    Raises:
        RenderError: a NIC cannot be set as declared; raised while iterating.
    """
    from lossless.formats.hosts.from_model.scripts import host_files as files_of

    return of_each_host(fabric, files_of)


def of_each_host(fabric: Fabric, files_of: Callable[[HostQos], Iterable[HostFile]]) -> Iterator[PlannedFile]:
    """Yield rendered files in the folder of each host; for hosts with the same QoS they are rendered once."""
    rendered: dict[int, tuple[PlannedFile, ...]] = {}
    for host in fabric.hosts:
        if id(host.qos) not in rendered:
            rendered[id(host.qos)] = tuple(_of_host(host.name, planned(files_of(host.qos))))
        yield from below(host.name, rendered[id(host.qos)])


def _of_host(name: str, files: Iterable[PlannedFile]) -> Iterator[PlannedFile]:
    try:
        yield from files
    except RenderError as error:
        raise RenderError(f"{name}: {error}") from error


def planned(files: Iterable[HostFile]) -> Iterator[PlannedFile]:
    """Yield the files of a host with their rendered text, and how they are applied."""
    from lossless.formats.device_files.environment import render_template

    for file in files:
        text = render_template(file.template, file.context)
        yield PlannedFile(file.path, text, file.executable, HOST_FILES.get(file.path))


def files_of_host(name: str, qos: HostQos) -> Iterator[PlannedFile]:
    """Yield the files of one host: those that set up its NICs, and those of its jobs.

    Raises:
        RenderError: a NIC cannot be set as declared; the message names the host.
    """
    from lossless.formats.hosts.from_model import scripts

    yield from _of_host(
        name, planned(file for of in (scripts.host_files, scripts.job_files) for file in of(qos))
    )


def same_files(one: HostQos, other: HostQos) -> bool:
    """Return whether two settings of hosts of an intent give the same files; False if either cannot be rendered.

    Settings that were read on a host do not matter: files are not made from them.
    """
    if "deployed" in (one.provenance, other.provenance):
        return False
    try:
        return [*files_of_host("", one)] == [*files_of_host("", other)]
    except RenderError:
        return False


def below(folder: str, files: Iterable[PlannedFile]) -> Iterator[PlannedFile]:
    """Return files with their paths put below a folder."""
    return (file._replace(path=f"{folder}/{file.path}") for file in files)


CLUSTER_FOLDER = "kubernetes"
MACHINES = "machines"
"""The folder of files that are identical on all machines of a cloud."""


def job_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the files that configure jobs for a fabric, and the resources of NVIDIA's NIC operator.

    Raises:
        RenderError: a NIC cannot be set as the fabric needs.
    """
    from lossless.formats.hosts.from_model.scripts import job_files as files_of

    yield from of_each_host(fabric, files_of)
    yield from _of_cluster(fabric)
    if fabric.managed is not None:
        from lossless.formats.hosts.from_model.scripts import managed_files

        yield from below(MACHINES, planned(managed_files(fabric.managed)))


def job_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return a note for each NIC that NVIDIA's NIC operator does not set; none where the fabric does not use it."""
    from lossless.formats.hosts.from_model.scripts import unconfigured

    return tuple(
        f"no NicConfigurationTemplate for {name}: NVIDIA's operator sets NVIDIA NICs alone"
        for name in unconfigured(fabric)
    )


def _of_cluster(fabric: Fabric) -> Iterator[PlannedFile]:
    if fabric.kubernetes is None:
        return
    from lossless.formats.hosts.from_model.scripts import kubernetes_files

    for file in below(CLUSTER_FOLDER, planned(kubernetes_files(fabric))):
        apply = (f"kubectl apply -f {file.path}",)
        yield file._replace(deployment=CLUSTER._replace(target=file.path, apply=apply))


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
"""How telemetry files are applied, by the first folder of their path. Targets are the folders of Debian's packages."""
_TESTS = Deployment(
    "", (), hitless=True, why="to be run where the rules lie: promtool test rules alerts.tests.yml"
)
DASHBOARDS = f"{TELEMETRY}/grafana"
"""The folder of dashboards in a tree."""
NO_RECEIVERS = "telemetry/alertmanager/alertmanager.yml: its receivers tell nobody until you fill them in"


def telemetry_files(fabric: Fabric) -> Iterator[PlannedFile]:
    """Yield the telemetry files of a fabric's SONiC switches and hosts; none where it has neither.

    Dashboards are left out where grafana-foundation-sdk is not installed.
    """
    from lossless.formats.telemetry.collection import gnmic_files, node_exporter_files
    from lossless.formats.telemetry.grafana.build import dashboard_files, why_no_dashboards
    from lossless.formats.telemetry.prometheus.files import fabric_files
    from lossless.formats.telemetry.prometheus.inventory import times

    watched = of_switches(fabric, lambda switch: switch.runs_sonic)
    if watched.switches or watched.hosts:
        yield from _planned(fabric_files(watched))
        if not why_no_dashboards():
            yield from _planned(dashboard_files(watched))
        yield from _planned(gnmic_files(watched, times(watched).scrape))
        yield from _planned(node_exporter_files(watched))


def subnet_telemetry_files(subnet: Subnet) -> Iterator[PlannedFile]:
    """Yield the telemetry files of an InfiniBand subnet, without dashboards where the SDK is not installed."""
    from lossless.formats.telemetry.collection import subnet_node_exporter_files
    from lossless.formats.telemetry.grafana.build import subnet_dashboard_files, why_no_dashboards
    from lossless.formats.telemetry.prometheus.files import subnet_files

    yield from _planned(subnet_files(subnet))
    if not why_no_dashboards():
        yield from _planned(subnet_dashboard_files(subnet))
    yield from _planned(subnet_node_exporter_files(subnet))


def monitoring_notes() -> tuple[str, ...]:
    """Return notes on monitoring files: receivers of alerts that must be filled in, and dashboards without the SDK."""
    from lossless.formats.telemetry.grafana.build import why_no_dashboards

    reason = why_no_dashboards()
    return (NO_RECEIVERS, f"{DASHBOARDS}: not written: {reason}") if reason else (NO_RECEIVERS,)


def telemetry_notes(fabric: Fabric) -> tuple[str, ...]:
    """Return notes on telemetry: switches or a fabric without it, and receivers of alerts that must be filled in."""
    others = [switch.name for switch in fabric.switches if not switch.runs_sonic]
    if others:
        what = f"{joined(others, 4)}: no telemetry of switches: it is known of SONiC alone"
        return (what, *monitoring_notes()) if fabric.hosts or len(others) < len(fabric.switches) else (what,)
    if fabric.switches or fabric.hosts:
        return monitoring_notes()
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
