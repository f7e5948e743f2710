"""Inputs of a plan: the running and the rendered configuration of every switch, and the DSCPs and stages of hosts.

Stages are the settings of hosts during a change: they accept the new DSCPs first, and drop the old ones last.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lossless.checks.plan.batches import (
    FabricChange,
    HostKind,
    HostStage,
    PlannedHostLink,
    PlannedKind,
    PlannedLink,
)
from lossless.checks.plan.kinds_of_switches import (
    InService,
    SwitchPair,
    complete_rows,
    fingerprint_of,
    kind_of_switches,
    kind_of_system,
    mixed_releases,
    named_rows_of,
    plain_document,
    port_classes,
    titled,
)
from lossless.checks.plan.systems import units_of, units_of_system
from lossless.checks.rules.hosts.host_drift import differences
from lossless.checks.rules.pfc.priorities import paused_priority
from lossless.formats.device_files.hosts import same_files
from lossless.formats.inputs.collect import gather, is_json, split
from lossless.formats.inputs.devices import hostname_of, name_in_intent
from lossless.formats.inputs.switches import fabric_of_switches, hosts_of, read_switch
from lossless.formats.sonic.effective.chain import chain_of
from lossless.formats.sonic.from_model import OWNED, SHARED
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import grouped, natural_key
from lossless.ground.basics.records import UNKNOWN, NamedTuple, Unknown
from lossless.ground.basics.units import listed
from lossless.model.fabric.qos import DSCPS
from lossless.model.fabric.view import View, bare
from lossless.model.hardware.load import hardware_finder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.checks.plan.systems import Unit
    from lossless.formats.inputs.collect import Excludes
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import ClassSet, Fabric
    from lossless.model.fabric.view import PortSet
    from lossless.model.hardware.load import Folder


_OWN_NAMES = frozenset(
    {"hostname", "mac", "bgp_asn", "cluster", "deployment_id", "cloudtype", "region", "rack_id"}
)
"""Fields of DEVICE_METADATA in which switches of one kind may differ: no lossless class depends on them."""
_SPOKEN = frozenset({"description", "alias", "index"})
"""Fields of PORT that name or number a port."""


def running_of_intent(fabric: Fabric, document: Document) -> InService:
    """Return the switches and hosts of an intent in service; SONiC's files are rendered onto files with ports alone."""
    shared: dict[tuple[int, int, int], dict[str, Any]] = {}
    documents = {}
    for switch in fabric.switches:
        if not switch.runs_sonic:
            documents[switch.name] = plain_document(document.file, {})
            documents[switch.name].dialect = switch.format
            continue
        key = (id(switch.ports), id(switch.qos), id(switch.hwsku))
        if key not in shared:
            shared[key] = complete_rows(switch)
        rows = named_rows_of(switch, shared[key])
        documents[switch.name] = plain_document(f"{switch.name}/config_db.json", rows)
    return InService(documents, fabric, {host.name: host.qos for host in fabric.hosts}, document.file)


def deployed(
    paths: Sequence[str | PathLike[str]], excludes: Excludes | None, profile_dirs: Sequence[Folder]
) -> InService:
    """Return the switches and hosts whose files are at the given paths, without those that ``excludes`` leaves out.

    Raises:
        InputError: a file cannot be read, two are of one switch, or none is of a switch.
    """
    inputs = gather(paths, excludes=excludes)
    problems = list(inputs.problems)
    devices: dict[str, Document] = {}
    others = [document for document in inputs.documents if document.dialect]
    rows = (document for document in inputs.documents if is_json(document.file) and not document.dialect)
    for document in (*split(rows), *others):
        if document.dialect:
            name = read_switch(document).read.switch.name
        else:
            name = name_in_intent(Tables(document.file, document.data), hostname_of(document))
        if name in devices:
            says = f"is the file of {name!r}, and so is {devices[name].file}"
            problems.append(Problem(document.file, None, None, says))
        devices[name] = document
    if inputs.facts:
        hosts = hosts_of(inputs.facts, tuple(map(str, profile_dirs)))
        problems += hosts.problems
    source = ", ".join(map(str, paths))
    if not devices and not problems:
        says = "nothing here that runs: no configuration of a switch, and no intent"
        problems.append(Problem(source, None, None, says))
    if problems:
        raise InputError(problems)
    read = {host.host: host.qos for host in hosts.hosts} if inputs.facts else {}
    return InService(devices, None, read, source)


def change_of(
    running: InService,
    target: Fabric,
    rdma_dscps: tuple[int, ...] = (),
    profile_dirs: Sequence[Folder] = (),
) -> FabricChange:
    """Return the change from the fabric in service to the fabric of an intent.

    ``rdma_dscps`` are the DSCPs that jobs send now; if empty, those that hosts were read to send, else those that are
    lossless in service, without one that a half-done change of DSCPs leaves unsent.

    Raises:
        InputError: a switch is on one side alone, or has several ASICs, or a file, a release or a HWSKU does not allow
            a plan.
    """
    pairs = _pairs(running, target)
    groups = list(_groups(pairs, running, target).values())
    problems: list[Problem] = []
    made = (_kind(group, n, running, target, problems) for n, group in enumerate(groups))
    kinds = [kind for kind in made if kind is not None]
    problems += mixed_releases(groups, kinds) if not problems else []
    if problems:
        raise InputError(problems)
    to_lay, to_take = _moved_links(running, target, kinds)
    kinds = [_without_cables(kind, to_lay) for kind in titled(kinds, groups)]
    kind_of = {name: number for number, kind in enumerate(kinds) for name in kind.devices}
    views = _views(running, kinds, profile_dirs)
    lossless = frozenset(dscp for cls in target.classes.lossless for dscp in cls.dscps)
    priorities = _lossless(running, views)
    stated = frozenset(rdma_dscps) or sent_by(running.hosts if not running.fabric else {})
    moves = () if stated else tuple(_moves([_lossless_on(view) for view in views], target.classes))
    sent = stated or frozenset(priorities) - {move.unsent for move in moves}
    wanted = will_send(sent, lossless, [host.qos for host in target.hosts])
    hosts, host_of = _hosts(
        running,
        target,
        {dscp: priorities.get(dscp) for dscp in sent},
        wanted,
        lossless,
        moved=bool(moves) or _has_moved_dscps(views, kinds, target),
        recabled=frozenset() if running.fabric else _recabled_hosts(kinds, target),
    )
    kinds = [kind._replace(units=_units(kind, sent | lossless)) for kind in kinds]
    classes = _PortClasses(kinds)
    return FabricChange(
        tuple(kinds),
        tuple(hosts),
        tuple(_links(target, kind_of, classes, to_lay)),
        tuple(_host_links(target, kind_of, host_of, classes, to_lay)),
        sent,
        wanted,
        lossless,
        "; ".join(dict.fromkeys(_begun(move) for move in moves)),
        _named_links(to_lay),
        _named_links(to_take),
        unread_hosts=any(host.name not in running.hosts for host in target.hosts),
        is_read=running.fabric is None,
    )


def _kind(
    group: Sequence[SwitchPair], number: int, running: InService, target: Fabric, problems: list[Problem]
) -> PlannedKind | None:
    if group[0].target.runs_sonic and not group[0].running.dialect:
        return kind_of_switches(group, number, running, target, problems)
    return kind_of_system(group, number, running, problems)


def _units(kind: PlannedKind, dscps: frozenset[int]) -> tuple[Unit, ...]:
    of = units_of if kind.system is None else units_of_system
    return of(kind.running, kind.target, dscps)


def _pairs(running: InService, target: Fabric) -> list[SwitchPair]:
    """Return each switch with its running configuration and its target.

    Raises:
        InputError: a switch is on one side alone, or has several ASICs.
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
    return [SwitchPair(name, running.documents[name], switch) for name, switch in wanted.items()]


def _groups(pairs: Sequence[SwitchPair], running: InService, target: Fabric) -> dict[Any, list[SwitchPair]]:
    """Return the switches in groups of equal running configuration and equal target."""
    before = _identical(running.fabric) if running.fabric else None
    after = _identical(target)
    return grouped(
        ((before[pair.name] if before else _fingerprint(pair.running), after[pair.name]), pair)
        for pair in pairs
    )


def _identical(fabric: Fabric) -> dict[str, int]:
    return {name: number for number, (_, names) in enumerate(View(fabric).identical) for name in names}


def _fingerprint(document: Document) -> str:
    """Return as text the part of a configuration that affects the plan; switches with equal text share a plan."""
    if document.dialect:
        return fingerprint_of(document)
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


def _views(running: InService, kinds: Sequence[PlannedKind], profile_dirs: Sequence[Folder]) -> list[View]:
    """Return a view of the switch in service of each kind; none for those of an intent."""
    if running.fabric is not None:
        return []
    find = hardware_finder(profile_dirs)
    return [
        View(
            chain_of([Tables("", kind.running)], find).applied
            if kind.system is None
            else fabric_of_switches((kind.system.running,), kind.devices)
        )
        for kind in kinds
    ]


def _lossless(running: InService, views: Sequence[View]) -> dict[int, int | None]:
    """Return the DSCPs that are lossless in service, with the PFC priority of each, None if it is unknown."""
    if running.fabric is not None:
        return _by_dscp(running.fabric.classes)
    by_class: dict[int, int | None] = {}
    for view in views:
        by_class |= _by_dscp(view.fabric.switches[0].classes)
    # Classes are known by traffic classes that are priorities; where the maps say otherwise, ports do.
    return dict(paused for view in views for paused in _paused_dscps(view)) | by_class


def _lossless_on(view: View) -> dict[int, int | None]:
    """Return the DSCPs that are lossless on a switch, with their PFC priorities; ``None`` if one is unknown."""
    return dict(_paused_dscps(view)) | _by_dscp(view.fabric.switches[0].classes)


class _DscpMove(NamedTuple):
    """A change from one DSCP of a priority to another that has begun on some switches; jobs do not send ``unsent``.

    ``old`` is lossless on all switches while they take in ``new``, and ``new`` while they drop ``old``; in between both
    are, and ``unsent`` is None.
    """

    old: int
    new: int
    unsent: int | None


def _moves(switches: Sequence[Mapping[int, int | None]], target: ClassSet) -> Iterator[_DscpMove]:
    """Yield the changes of a DSCP that are half done, by the DSCPs that are lossless on each switch in service.

    A DSCP goes if the target has it in no lossless class. Switches that lack a DSCP of the target while none of its
    priority goes have drifted, and jobs are still taken to send it.
    """
    everywhere = set.intersection(*(set(own) for own in switches)) if switches else set()
    anywhere = dict(pair for own in switches for pair in own.items())
    wanted = _by_dscp(target)
    going = {dscp: priority for dscp, priority in anywhere.items() if dscp not in wanted}
    for new in sorted(wanted.keys() & anywhere.keys()):
        for old in sorted(dscp for dscp, priority in going.items() if priority == wanted[new]):
            if old in everywhere or new in everywhere:
                lacking = (dscp for dscp in (old, new) if dscp not in everywhere)
                yield _DscpMove(old, new, next(lacking, None))


def _begun(move: _DscpMove) -> str:
    """Return in words where a half-done change of a DSCP is, and which DSCPs jobs are taken to send."""
    old, new, unsent = move
    if unsent is None:
        return (
            f"DSCP {old} and DSCP {new} are lossless on all switches, as half way from {old} to {new}: jobs are taken "
            f"to send both; state --rdma-dscp {old} if none sends {new} yet"
        )
    done = "begun" if unsent == new else "done but for its last step"
    return (
        f"DSCP {unsent} is lossless on some switches alone, as in a change from DSCP {old} to DSCP {new} that is {done}"
        f": jobs are taken to send DSCP {new if unsent == old else old}, not {unsent}; state --rdma-dscp for each DSCP "
        "that they send if they send others"
    )


def _has_moved_dscps(views: Sequence[View], kinds: Sequence[PlannedKind], target: Fabric) -> bool:
    """Return whether a DSCP has a queue in the target that it has on no switch of hosts in service.

    Hosts were then set for other queues: a DSCP map of a NIC has the priorities of its switch. A switch that drifted
    alone moves no DSCP, as others have it where the target has it. False without ``views``: an intent in service
    has none.
    """
    own = [(view, kind) for view, kind in zip(views, kinds, strict=False) if kind.host_ports]
    names = {name for _, kind in own for name in kind.devices}
    after = (ports for ports in View(target).port_sets if not names.isdisjoint(ports.switches))
    now = _queues_of_dscps(ports for view, _ in own for ports in view.port_sets)
    return bool(now) and not _queues_of_dscps(after) <= now


def _queues_of_dscps(sets: Iterable[PortSet]) -> set[tuple[int, int | None]]:
    """Return the pairs of a DSCP and its queue on ports with a DSCP map."""
    maps = (ports.qos for ports in sets if ports.qos.dscp_to_tc is not None)
    return {(dscp, qos.queue_of(qos.traffic_class(dscp))) for qos in maps for dscp in DSCPS}


def _by_dscp(classes: ClassSet) -> dict[int, int | None]:
    return {dscp: cls.priority for cls in classes.lossless for dscp in cls.dscps}


def _paused_dscps(view: View) -> Iterator[tuple[int, int]]:
    """Yield the DSCPs that ports of a switch pause, with their priorities."""
    for ports in view.lossless_sets:
        for dscp in DSCPS:
            priority = paused_priority(ports.qos, ports.qos.traffic_class(dscp))
            if priority is not None:
                yield dscp, priority


def _hosts(
    running: InService,
    target: Fabric,
    sent: Mapping[int, int | None],
    wanted: frozenset[int],
    lossless: frozenset[int],
    *,
    moved: bool,
    recabled: frozenset[str],
) -> tuple[list[HostKind], dict[str, int]]:
    """Return the kinds of hosts with their stages, and the number of the kind of each host by its name.

    ``moved``: switches change the queues of DSCPs, so that settings of hosts that were not read change too; so do those
    that have the length of a cable, of the hosts in ``recabled``. If the target has no hosts, and jobs are to send
    other DSCPs, all senders are one kind.
    """
    groups = grouped(
        ((id(running.hosts.get(host.name)), id(host.qos), host.name in recabled), host)
        for host in target.hosts
    )
    links = Counter(link.b for link in target.links if link.to_host)
    leaves = grouped((link.b, link.a) for link in target.links if link.to_host)
    at_leaf = Counter(leaf for own in leaves.values() for leaf in {*own})
    hosts: list[HostKind] = []
    host_of: dict[str, int] = {}
    for (_, _, is_recabled), members in groups.items():
        old, new = running.hosts.get(members[0].name), members[0].qos
        changes = moved or (is_recabled and _sets_cable(new))
        stages = host_stages(old, new, sent, wanted, lossless, moved=changes)
        host_of.update((host.name, len(hosts)) for host in members)
        names = tuple(host.name for host in members)
        fewest = min((at_leaf[leaf] for name in names for leaf in leaves.get(name, ())), default=0)
        hosts.append(HostKind("hosts", names, stages, max(links[name] for name in names), fewest))
    if not hosts and sent.keys() != wanted:
        hosts = [HostKind("senders", (), host_stages_elsewhere(frozenset(sent), wanted))]
    if len(hosts) > 1:
        hosts = [kind._replace(title=f"hosts {number}") for number, kind in enumerate(hosts, 1)]
    return hosts, host_of


def _recabled_hosts(kinds: Sequence[PlannedKind], target: Fabric) -> frozenset[str]:
    """Return the names of the hosts at ports whose cables change."""
    changed = {(name, port) for kind in kinds for port in kind.recabled for name in kind.devices}
    return frozenset(link.b for link in target.links if link.to_host and (link.a, link.a_port) in changed)


def _sets_cable(qos: HostQos) -> bool:
    """Return whether the files of a host set the length of its cable."""
    return isinstance(qos.cable_m, int) and not same_files(qos, qos._replace(cable_m=qos.cable_m + 1))


class _PortClasses:
    """Classes of ports for each kind of switches: those of one class are configured the same, before and after."""

    def __init__(self, kinds: Sequence[PlannedKind]) -> None:
        self._of: list[Mapping[str, object]] = [
            _port_classes(kind) if kind.system is None else port_classes(kind.system) for kind in kinds
        ]
        self._replaced = [bool(kind.port_names) for kind in kinds]
        self._cables = [(kind.cables_m, kind.new_cables_m) for kind in kinds]

    def of(self, kind: int, port: str) -> object:
        """Return the key of a port's class; ports of a switch that is replaced are classes of their own."""
        if self._replaced[kind]:
            return port
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


def _links(
    target: Fabric, kind_of: Mapping[str, int], classes: _PortClasses, to_lay: Collection[_End]
) -> Iterator[PlannedLink]:
    seen = set()
    for link in target.links:
        ends = (link.a, link.a_port), (link.b, link.b_port)
        if not link.to_host and not any(end in to_lay for end in ends):
            a, b = kind_of[link.a], kind_of[link.b]
            key = (a, classes.of(a, link.a_port), b, classes.of(b, link.b_port))
            if key not in seen:
                seen.add(key)
                yield PlannedLink(a, link.a_port, b, link.b_port)


def _host_links(
    target: Fabric,
    kind_of: Mapping[str, int],
    host_of: Mapping[str, int],
    classes: _PortClasses,
    to_lay: Collection[_End],
) -> Iterator[PlannedHostLink]:
    seen = set()
    for link in target.links:
        if link.to_host and (link.a, link.a_port) not in to_lay:
            switch, host = kind_of[link.a], host_of[link.b]
            key = (host, switch, classes.of(switch, link.a_port))
            if key not in seen:
                seen.add(key)
                yield PlannedHostLink(host, switch, link.a_port)


_End = tuple[str, str]
"""A switch and a port of it; of a host, its name alone."""


def _moved_links(
    running: InService, target: Fabric, kinds: Sequence[PlannedKind]
) -> tuple[dict[_End, _End], dict[_End, _End]]:
    """Return the far ends of links of the target that are not in service, and of links in service that it lacks.

    They are by the port of a switch. In files a link is one of a port that is up, with the neighbor that
    DEVICE_NEIGHBOR names; a port without a row of PORT is unknown, and a host may have another name there. Switches
    that are replaced have their ports renamed, and are left out.
    """
    renamed = {name for kind in kinds if kind.port_names for name in kind.devices}
    wanted = {end: far for end, far in _ends_of(target) if end[0] not in renamed}
    if running.fabric is not None:
        there = {end: far for end, far in _ends_of(running.fabric) if end[0] not in renamed}
        to_lay = {end: far for end, far in wanted.items() if not _is_same(there.get(end), far, renamed)}
        to_take = {end: far for end, far in there.items() if not _is_same(wanted.get(end), far, renamed)}
        return to_lay, to_take
    to_lay, to_take = {}, {}
    names = {switch.name for switch in target.switches}
    for switch in target.switches:
        data = running.documents[switch.name].data
        ports, neighbors = (_rows(data, table) for table in ("PORT", "DEVICE_NEIGHBOR"))
        for port, row in ports.items():
            end, far = (switch.name, port), wanted.get((switch.name, port))
            told = neighbors.get(port) or {}
            near = (str(told.get("name", "")), str(told.get("port", "")))
            is_up = row.get("admin_status") == "up"
            other = is_up and near[0] in names and far is not None and near != far
            if far is not None and (not is_up or other):
                to_lay[end] = far
            if is_up and near[0] and (far is None or other):
                to_take[end] = near if near[0] in names else (near[0], "")
    return to_lay, to_take


def _without_cables(kind: PlannedKind, to_lay: Collection[_End]) -> PlannedKind:
    """Return a kind without the cables of links that are laid after the last step: they replace no cable in service.

    A port with such a link on some of its switches keeps its cables, which those on the others have.
    """
    before, after = (
        {
            port: length
            for port, length in cables_m.items()
            if not all((name, port) in to_lay for name in kind.devices)
        }
        for cables_m in (kind.cables_m, kind.new_cables_m)
    )
    return kind._replace(cables_m=before, new_cables_m=after)


def _ends_of(fabric: Fabric) -> Iterator[tuple[_End, _End]]:
    """Yield the ports of switches that have a link, each with its far end."""
    for link in fabric.links:
        yield (link.a, link.a_port), (link.b, "" if link.to_host else link.b_port)
        if not link.to_host:
            yield (link.b, link.b_port), (link.a, link.a_port)


def _is_same(one: _End | None, other: _End, renamed: Collection[str]) -> bool:
    return one == other or (one is not None and one[0] == other[0] and one[0] in renamed)


def _rows(data: object, table: str) -> dict[str, dict[str, Any]]:
    rows = data.get(table) if isinstance(data, dict) else None
    return {key: row for key, row in rows.items() if isinstance(row, dict)} if isinstance(rows, dict) else {}


def _named_links(ends: Mapping[_End, _End]) -> tuple[str, ...]:
    """Return links by their ends, each once."""
    pairs = (sorted(":".join(filter(None, end)) for end in link) for link in ends.items())
    return tuple(sorted({" - ".join(pair) for pair in pairs}, key=natural_key))


_ECN_BITS = 2
"""Bits of a ToS byte below the DSCP (RFC 3168, section 5)."""


def sent_by(hosts: Mapping[str, HostQos]) -> frozenset[int]:
    """Return the DSCPs of the known ToS bytes other than 0 that hosts, or NCCL on them, put on RDMA packets."""
    unique = {id(qos): qos for qos in hosts.values()}.values()
    tos = (value for qos in unique for value in (qos.traffic_class, qos.nccl_tc))
    return frozenset(value >> _ECN_BITS for value in tos if isinstance(value, int) and value)


def _marked(qos: HostQos | None) -> frozenset[int]:
    """Return the DSCPs of the ToS bytes other than 0 that hosts, their jobs and libraries put on RDMA packets."""
    if qos is None:
        return frozenset()
    tos = (
        *(qos.traffic_class, qos.nccl_tc, qos.cma_tos, qos.jobs.fifo_tc),
        *(library.tos for library in qos.jobs.libraries),
    )
    return frozenset(value >> _ECN_BITS for value in tos if isinstance(value, int) and value)


def will_send(
    sent: frozenset[int], lossless: frozenset[int], hosts: Sequence[HostQos | None]
) -> frozenset[int]:
    """Return the DSCPs of the target's lossless classes that jobs send once ``hosts`` have these settings.

    They are those that jobs send now, and those that the settings mark. All are, if the settings of a host mark none,
    as its jobs choose by themselves, or if there are no hosts.
    """
    marked = [_marked(qos) for qos in hosts]
    return lossless & sent.union(*marked) if marked and all(marked) else lossless


def host_stages(
    old: HostQos | None,
    new: HostQos,
    sent: Mapping[int, int | None],
    wanted: frozenset[int],
    lossless: frozenset[int],
    *,
    moved: bool = False,
) -> tuple[HostStage, ...]:
    """Return the settings of hosts, stage by stage.

    ``sent`` maps the DSCPs that are sent now to their priorities, as far as switches configure them; ``lossless`` are
    those that hosts accept in the end. Between the first stage and the last, hosts accept the DSCPs of both sides,
    first while they send the old ones, then while they send the new. If the DSCPs that are sent stay the same, the
    second stage is the target. Left out are a stage equal to the one before it, and one for sending DSCPs that are
    sent already. Unknown hosts get the target if DSCPs have ``moved`` to other queues, although jobs send the same.
    """
    now = frozenset(sent)
    more = (
        f"take in DSCP {_spelled(lossless - now)} too" if lossless - now else f"take in DSCP {_spelled(now)}"
    )
    if now == wanted:
        stay = HostStage("as they are", old, sends=True)
        had = _as_switches_have_it(new, sent) if old is None else old
        changes = moved or lossless != now or (old is not None and any(differences(old, new)))
        if _same(old, new) or (not changes and not _sorts(old, new)):
            return (stay,)
        if old is None and None not in sent.values():
            stay = stay._replace(assumed=had)
        title = "set as the target says" if lossless == now else more
        return stay, HostStage(title, new, sends=True, links_down=_takes_links_down(had, new))
    before = _as_switches_have_it(new, sent) if old is None else _settable(old, new, sent)
    # Where the marking of a host is unknown, its jobs are told in words.
    keeps = bool(_marked(old)) and _marked(old) == _marked(new) and _marked(new) <= now
    sending = "set as the target says" if keeps else _sending(now, wanted)
    assumed = before if old is None and None not in sent.values() else None
    stages = [
        HostStage("as they are", old, sends=keeps, assumed=assumed),
        HostStage(more, _accepting(before, new, now, lossless), sends=keeps),
        HostStage(sending, _accepting(new, before, lossless, now), sends=True),
        HostStage(f"take in DSCP {_spelled(now - lossless)} no longer", new, sends=True),
    ]
    left = [
        stage
        for stage, last in zip(stages, (None, *stages), strict=False)
        if last is None or stage.sends != last.sends or not _same(stage.qos, last.qos)
    ]
    return (
        left[0],
        *(
            stage._replace(links_down=_takes_links_down(last.qos or before, stage.qos))
            for last, stage in pairwise(left)
        ),
    )


def _takes_links_down(old: HostQos, new: HostQos | None) -> bool:
    """Return whether the links of a host's NICs go down as its settings change.

    A change of PFC takes a link down for a moment, as the script of the host says
    (templates/hosts/lossless-roce.sh.j2); unknown PFC counts as a change.
    """
    if new is None:
        return False
    return isinstance(old.pfc_priorities, Unknown) or old.pfc_priorities != new.pfc_priorities


def _as_switches_have_it(new: HostQos, sent: Mapping[int, int | None]) -> HostQos:
    """Return assumed settings of unknown hosts: packet marking unset, DSCP map and PFC as their switches need them.

    Map and PFC are those of ``new`` if its map is unknown.
    """
    known = {dscp: priority for dscp, priority in sent.items() if priority is not None}
    old = new._replace(traffic_class=None, nccl_tc=None, cma_tos=None)
    if isinstance(new.dscp_to_priority, Unknown):
        return old
    both = {dscp: 0 if priority in known.values() else priority for dscp, priority in new.dscp_to_priority}
    return old._replace(
        dscp_to_priority=tuple(sorted({**both, **known}.items())),
        pfc_priorities=tuple(sorted({*known.values()})),
    )


def _settable(old: HostQos, new: HostQos, sent: Mapping[int, int | None]) -> HostQos:
    """Return the settings in force on hosts that files can set.

    Of hosts that were read, these are the reported DSCP map, PFC and packet marking; all other settings are assumed, as
    those of unknown hosts.
    """
    if old.provenance == "intent":
        return old
    names = ("dscp_to_priority", "pfc_priorities", "traffic_class", "nccl_tc", "cma_tos")
    reported = {name: value for name in names if (value := getattr(old, name)) is not UNKNOWN}
    return _as_switches_have_it(new, sent)._replace(**reported)


def host_stages_elsewhere(sent: frozenset[int], wanted: frozenset[int]) -> tuple[HostStage, ...]:
    """Return the stages of senders without an intent: people change their DSCPs when a step of the plan requests it."""
    return HostStage("as they are", None, sends=False), HostStage(_sending(sent, wanted), None, sends=True)


def _same(one: HostQos | None, other: HostQos | None) -> bool:
    """Return whether two host settings are equal, or make the same files; unknown settings (None) never do.

    Settings that a host reported are equal to others if it reported its PFC and the priority of every DSCP, and
    `lossless lint` finds no difference in what it reported (HST009).
    """
    if one is None or other is None:
        return False
    if "deployed" in (one.provenance, other.provenance):
        read, wanted = (one, other) if one.provenance == "deployed" else (other, one)
        return _sorts(read, wanted) and not any(differences(read, wanted))
    return bool(bare(one) == bare(other)) or same_files(one, other)


def _sorts(qos: HostQos | None, like: HostQos) -> bool:
    """Return whether the PFC of a host is known, and the priority of each DSCP that other settings have."""
    if qos is None or isinstance(qos.pfc_priorities, Unknown) or isinstance(qos.dscp_to_priority, Unknown):
        return False
    if isinstance(like.dscp_to_priority, Unknown):
        return True
    return dict(like.dscp_to_priority).keys() <= dict(qos.dscp_to_priority).keys()


def _sending(sent: frozenset[int], wanted: frozenset[int]) -> str:
    new, old = wanted - sent, sent - wanted
    # Old settings may be unknown: jobs that send a DSCP already are then told it again.
    said = [f"send DSCP {_spelled(new or wanted)}", f"no longer DSCP {_spelled(old)}" if old else ""]
    return ", ".join(filter(None, said))


def _accepting(base: HostQos, other: HostQos, own: frozenset[int], others: frozenset[int]) -> HostQos:
    """Return host settings of one side, extended to accept the DSCPs that only the other side has.

    The DSCP map is UNKNOWN if that of either side is.
    """
    if isinstance(base.dscp_to_priority, Unknown) or isinstance(other.dscp_to_priority, Unknown):
        return base._replace(dscp_to_priority=UNKNOWN)
    theirs = {dscp: priority for dscp, priority in other.dscp_to_priority if dscp in others - own}
    merged = {**dict(base.dscp_to_priority), **theirs}
    return base._replace(
        dscp_to_priority=tuple(sorted(merged.items())),
        pfc_priorities=_priorities_of_both(base, other, theirs.values()),
    )


def _priorities_of_both(base: HostQos, other: HostQos, taken_in: Iterable[int]) -> tuple[int, ...] | Unknown:
    """Return the PFC priorities of hosts, and those of ``taken_in`` with PFC on the other side of the change.

    UNKNOWN if the PFC priorities of either side are.
    """
    if isinstance(base.pfc_priorities, Unknown) or isinstance(other.pfc_priorities, Unknown):
        return UNKNOWN
    return tuple(sorted({*base.pfc_priorities, *(p for p in taken_in if p in other.pfc_priorities)}))


def _spelled(dscps: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(dscps))) or "none"
