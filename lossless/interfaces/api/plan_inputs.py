"""What a plan is made of: the running configuration of every switch, what its intent renders, and what hosts send."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.checks.plan.model import FabricChange, HostKind, PlannedHostLink, PlannedKind, PlannedLink
from lossless.checks.plan.units import units_of
from lossless.formats.sonic.capabilities.updater import release_of, releases
from lossless.formats.sonic.capabilities.updater_rules import UpdaterDevice
from lossless.formats.sonic.capabilities.updater_verdict import model_refusals
from lossless.formats.sonic.from_model.tables import OWNED, SHARED, tables
from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.errors import InputError, Problem, RenderError
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.known import UNKNOWN
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.wording import listed
from lossless.interfaces.api.plan_hosts import host_stages, host_stages_elsewhere, sent_by
from lossless.model.fabric.tier import known_tier
from lossless.model.fabric.view import View
from lossless.model.hardware.load import hardware_finder
from lossless.output.render.drift import drift_of, hostname_of
from lossless.output.render.switches import contents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.capabilities.updater_verdict import UpdateRefusal
    from lossless.ground.documents.document import Document
    from lossless.interfaces.api.options import Options
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Fabric, Switch

_OWN_NAMES = frozenset(
    {"hostname", "mac", "bgp_asn", "cluster", "deployment_id", "cloudtype", "region", "rack_id"}
)
"""Fields of DEVICE_METADATA in which switches of one kind differ, and which no rule of a single switch reads."""
_SPOKEN = frozenset({"description", "alias", "index"})
"""Fields of PORT that name or number a port."""


class InService(NamedTuple):
    """What is in service: the configuration of each switch by its name, from which files.

    ``fabric`` is the intent that was rendered into them, None where they are files of switches; ``hosts`` are those
    that were read.
    """

    documents: Mapping[str, Document]
    fabric: Fabric | None
    hosts: Mapping[str, HostQos]
    source: str


def running_of_intent(fabric: Fabric, document: Document) -> InService:
    """Return what the switches of an intent run where they were rendered from it, on a file with their ports alone."""
    shared: dict[tuple[int, int, int], dict[str, Any]] = {}
    documents = {}
    for switch in fabric.switches:
        key = (id(switch.ports), id(switch.qos), id(switch.hwsku))
        if key not in shared:
            shared[key] = {**_ports(switch), **tables(switch)}
        named = {"DEVICE_METADATA": {"localhost": {**_metadata(switch), **_rendered_metadata(shared[key])}}}
        documents[switch.name] = plain_document(f"{switch.name}/config_db.json", {**shared[key], **named})
    return InService(documents, fabric, {host.name: host.qos for host in fabric.hosts}, document.file)


def _rendered_metadata(rendered: Mapping[str, Any]) -> Mapping[str, str]:
    row: Mapping[str, str] = rendered.get("DEVICE_METADATA", {}).get("localhost", {})
    return row


def _metadata(switch: Switch) -> dict[str, str]:
    hwsku = switch.hwsku_name if isinstance(switch.hwsku_name, str) else ""
    return {"hostname": switch.device, "hwsku": hwsku}


def _ports(switch: Switch) -> dict[str, Any]:
    rows = {
        port.name: {
            "admin_status": "up",
            "speed": str((port.speed_bps or 0) // 10**6),
            **({"lanes": ",".join(map(str, port.spec.lanes))} if port.spec else {}),
            **({"mtu": str(port.mtu_bytes)} if isinstance(port.mtu_bytes, int) else {}),
        }
        for port in switch.ports
        if port.placed and port.admin_up is not False
    }
    return {"PORT": rows}


def plain_document(file: str, data: dict[str, Any]) -> Document:
    """Return a document of data that was not written as text."""
    from lossless.ground.documents.document import Document

    return Document(file, "", data, _NoPlaces())


class _NoPlaces:
    """Places of data without a text: none."""

    def places(self, paths: object) -> dict[Any, Any]:
        """Return no place."""
        raise LookupError(paths)


class _Pair(NamedTuple):
    """A switch that runs something, and what is to run there."""

    name: str
    running: Document
    target: Switch


def change_of(running: InService, target: Fabric, options: Options) -> FabricChange:
    """Return the change from what is in service to what an intent declares.

    Raises:
        InputError: a switch is on one side alone, or a file, a release or a HWSKU does not allow a plan.
    """
    pairs = _pairs(running, target)
    groups = list(_groups(pairs, running, target).values())
    problems: list[Problem] = []
    kinds = [kind for number, group in enumerate(groups) if (kind := _kind(group, number, running, problems))]
    problems += _mixed_releases(groups, kinds) if not problems else []
    if problems:
        raise InputError(problems)
    kinds = [*_titled(kinds, groups)]
    kind_of = {name: number for number, kind in enumerate(kinds) for name in kind.devices}
    priorities = _lossless(running, kinds, options)
    sent = (
        frozenset(options.rdma_dscps)
        or sent_by(running.hosts if not running.fabric else {})
        or frozenset(priorities)
    )
    wanted = frozenset(dscp for cls in target.classes.lossless for dscp in cls.dscps)
    hosts, host_of = _hosts(running, target, {dscp: priorities.get(dscp) for dscp in sent}, wanted)
    kinds = [kind._replace(units=units_of(kind.running, kind.target, sent | wanted)) for kind in kinds]
    classes = _PortClasses(kinds)
    return FabricChange(
        tuple(kinds),
        tuple(hosts),
        tuple(_links(target, kind_of, classes)),
        tuple(_host_links(target, kind_of, host_of, classes)),
        sent,
        wanted,
    )


def _pairs(running: InService, target: Fabric) -> list[_Pair]:
    """Return the switches of both sides.

    Raises:
        InputError: some are on one side alone.
    """
    wanted = {switch.name: switch for switch in target.switches}
    several = [name for name, switch in wanted.items() if switch.asic]
    problems = []
    if several:
        problems.append(
            f"{listed(several)}: a plan is made for switches with one ASIC; render and diff take these"
        )
    lacking = [name for name in wanted if name not in running.documents]
    if lacking:
        problems.append(
            f"{listed(lacking)}: in the target, and nothing says what runs there; name their files too"
        )
    extra = [name for name in running.documents if name not in wanted]
    if extra:
        problems.append(
            f"{listed(extra)}: in service, and not in the target; a plan neither adds nor removes switches"
        )
    if problems:
        raise InputError([Problem(running.source, None, None, problem) for problem in problems])
    return [_Pair(name, running.documents[name], switch) for name, switch in wanted.items()]


def _groups(pairs: Sequence[_Pair], running: InService, target: Fabric) -> dict[Any, list[_Pair]]:
    """Return the switches that run the same and are to run the same."""
    before = _identical(running.fabric) if running.fabric else None
    after = _identical(target)
    return grouped(
        ((before[pair.name] if before else _fingerprint(pair.running), after[pair.name]), pair)
        for pair in pairs
    )


def _identical(fabric: Fabric) -> dict[str, int]:
    return {name: number for number, (_, names) in enumerate(View(fabric).identical) for name in names}


def _fingerprint(document: Document) -> str:
    """Return what of a configuration decides what a plan does with the switch, as text."""
    data = document.data
    told: dict[str, Any] = {table: data[table] for table in (*OWNED, *SHARED, "VERSIONS") if table in data}
    for table, own in (("DEVICE_METADATA", _OWN_NAMES), ("PORT", _SPOKEN)):
        rows = told.get(table)
        if isinstance(rows, dict):
            told[table] = {
                key: {name: value for name, value in row.items() if name not in own}
                if isinstance(row, dict)
                else row
                for key, row in rows.items()
            }
    return json.dumps(told, sort_keys=True)


def _kind(
    group: Sequence[_Pair], number: int, running: InService, problems: list[Problem]
) -> PlannedKind | None:
    first = group[0]
    file = running.source if running.fabric else first.running.file
    try:
        _, wanted = contents(first.target._replace(name=_hostname(first)), first.running)
    except RenderError as error:
        problems.extend(Problem(file, None, None, line) for line in error.lines)
        return None
    release = release_of(first.running.data) or first.target.release
    hwsku = str(first.running.data.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", ""))
    if release not in releases():
        what = f"SONiC {release}, whose updater is not known" if release else "an unknown release"
        fix = "state sonic.release in the intent" if not release else f"known are {listed(releases())}"
        problems.append(Problem(file, None, None, f"{first.name} runs {what}; {fix}"))
        return None
    if first.target.hwsku is None:
        problems.append(
            Problem(file, None, None, f"{first.name}: HWSKU {hwsku} is not known; name its profile")
        )
        return None
    if running.fabric is None and not drift_of(first.target, first.running).rows:
        # What only the spelling differs in is no change, as in diff.
        wanted = first.running.data
    old = next((s for s in running.fabric.switches if s.name == first.name), None) if running.fabric else None
    return PlannedKind(
        title=str(number),
        devices=tuple(pair.name for pair in group),
        running=first.running.data,
        target=wanted,
        units=(),
        updater=UpdaterDevice(hwsku, release),
        cables_m=_cables_m(old) if old else {},
        new_cables_m=_cables_m(first.target) if old else {},
        dual_tor_bps=_dual_tor_bps(first.target),
        unpatchable=() if running.fabric else tuple(_model_refusals(first.running.data, wanted)),
        host_ports=frozenset(port.name for port in first.target.ports if port.leads_to == "host"),
    )


def _dual_tor_bps(switch: Switch) -> tuple[int, int] | None:
    """Return the speed of the ports of a dual ToR to hosts, and up; None where it is none."""
    if switch.qos.tunnel is None:
        return None
    speeds = [(port.leads_to == "host", port.speed_bps or 0) for port in switch.ports if port.placed]
    return sum(bps for to_host, bps in speeds if to_host), sum(bps for to_host, bps in speeds if not to_host)


def _model_refusals(running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield what SONiC's models refuse of either configuration: the updater loads both before it does anything."""
    for whole in (running, target):
        yield from model_refusals(whole, None)


def _hostname(pair: _Pair) -> str:
    return hostname_of(pair.running) or pair.name


def _cables_m(switch: Switch) -> dict[str, int]:
    return {port.name: port.cable.real_m for port in switch.ports if isinstance(port.cable.real_m, int)}


def _mixed_releases(groups: Sequence[Sequence[_Pair]], kinds: Sequence[PlannedKind]) -> Iterator[Problem]:
    """Yield tiers whose switches run several releases: a change and an upgrade are not made at the same time."""
    by_tier: dict[str, dict[str, list[str]]] = {}
    for group, kind in zip(groups, kinds, strict=True):
        by_tier.setdefault(_role(group[0].target), {}).setdefault(kind.updater.release, []).extend(
            kind.devices
        )
    for role, names in by_tier.items():
        if len(names) > 1:
            each = ", ".join(
                f"{release} ({listed(devices, 3)})" for release, devices in sorted(names.items())
            )
            message = f"switches of one tier ({role}) run several releases: {each}; finish the upgrade first"
            yield Problem(groups[0][0].running.file, None, None, message)


def _role(switch: Switch) -> str:
    tier = known_tier(switch.tier) if switch.tier is not UNKNOWN else None
    return tier.word if tier is not None else "switch"


def _titled(kinds: Sequence[PlannedKind], groups: Sequence[Sequence[_Pair]]) -> Iterator[PlannedKind]:
    """Yield kinds with names of their own: the tier, with a number where there are several."""
    roles = [_role(group[0].target) for group in groups]
    for number, (kind, role) in enumerate(zip(kinds, roles, strict=True)):
        nth = roles[: number + 1].count(role)
        yield kind._replace(title=f"{role} {nth}" if roles.count(role) > 1 else role)


def _lossless(running: InService, kinds: Sequence[PlannedKind], options: Options) -> dict[int, int | None]:
    """Return the DSCPs that are lossless in service, with the priority of each."""
    if running.fabric is not None:
        classes = [*running.fabric.classes.lossless]
    else:
        find = hardware_finder(options.profile_dirs)
        switches = (read_fabric([Tables("", kind.running)], find).switches[0] for kind in kinds)
        classes = [cls for switch in switches for cls in switch.classes.lossless]
    return {dscp: cls.priority for cls in classes for dscp in cls.dscps}


def _hosts(
    running: InService,
    target: Fabric,
    sent: Mapping[int, int | None],
    wanted: frozenset[int],
) -> tuple[list[HostKind], dict[str, int]]:
    """Return the kinds of hosts that change, and the kind of each host by its name."""
    groups = grouped(((id(running.hosts.get(host.name)), id(host.qos)), host) for host in target.hosts)
    hosts: list[HostKind] = []
    host_of: dict[str, int] = {}
    for members in groups.values():
        old, new = running.hosts.get(members[0].name), members[0].qos
        stages = host_stages(old, new, sent, wanted)
        host_of.update((host.name, len(hosts)) for host in members)
        hosts.append(HostKind("hosts", tuple(host.name for host in members), stages))
    if not hosts and sent.keys() != wanted:
        hosts = [HostKind("senders", (), host_stages_elsewhere(frozenset(sent), wanted))]
    if len(hosts) > 1:
        hosts = [kind._replace(title=f"hosts {number}") for number, kind in enumerate(hosts, 1)]
    return hosts, host_of


class _PortClasses:
    """Which ports of a kind of switches are configured the same, before and after."""

    def __init__(self, kinds: Sequence[PlannedKind]) -> None:
        self._of = [_port_classes(kind) for kind in kinds]
        self._cables = [(kind.cables_m, kind.new_cables_m) for kind in kinds]

    def of(self, kind: int, port: str) -> object:
        """Return what tells the class of a port."""
        old, new = self._cables[kind]
        return self._of[kind].get(port), old.get(port), new.get(port)


def _port_classes(kind: PlannedKind) -> dict[str, str]:
    rows: dict[str, list[object]] = {}
    for side, config in enumerate((kind.running, kind.target)):
        for table in OWNED:
            own = config.get(table)
            for key, row in own.items() if isinstance(own, dict) else ():
                if table == "CABLE_LENGTH":
                    for port, length in row.items() if isinstance(row, dict) else ():
                        rows.setdefault(port, []).append((side, table, length))
                else:
                    port, _, rest = str(key).partition("|")
                    rows.setdefault(port, []).append((side, table, rest, row))
    return {port: json.dumps(own, sort_keys=True) for port, own in rows.items()}


def _links(target: Fabric, kind_of: Mapping[str, int], classes: _PortClasses) -> Iterator[PlannedLink]:
    seen = set()
    for link in target.links:
        if not link.to_host:
            a, b = kind_of[link.a], kind_of[link.b]
            key = (a, classes.of(a, link.a_port), b, classes.of(b, link.b_port))
            if key not in seen:
                seen.add(key)
                yield PlannedLink(a, link.a_port, b, link.b_port)


def _host_links(
    target: Fabric, kind_of: Mapping[str, int], host_of: Mapping[str, int], classes: _PortClasses
) -> Iterator[PlannedHostLink]:
    seen = set()
    for link in target.links:
        if link.to_host:
            switch, host = kind_of[link.a], host_of[link.b]
            key = (host, switch, classes.of(switch, link.a_port))
            if key not in seen:
                seen.add(key)
                yield PlannedHostLink(host, switch, link.a_port)
