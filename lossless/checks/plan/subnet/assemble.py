"""The plan of the phases of a subnet's change: the files of each host, restarts, and the rollback.

Managers take their files one after another, on SIGHUP or by a restart. A standby programs nothing, so it is first;
the master is last. Which one is the master follows from priorities, then from the lower GUID (linux-rdma/opensm
include/opensm/osm_sm.h osm_sm_is_greater_than @fa74b98): a master hands over to a higher one at its next heavy sweep,
which trap 144 of the other starts (opensm/osm_state_mgr.c do_sweep).

On SIGHUP opensm reads its file again at a heavy sweep, and takes in the keys with can_update (opensm/osm_subnet.c
osm_subn_rescan_conf_files). A key that is gone from the file keeps its value, but for those of QoS, which that function
sets back first. So does a file that is named by a key without can_update, and the path of another file; the content of
such files is read again when it is used (partitions: osm_prtn.c, policy: osm_qos_parser_y.y, roots and compute nodes:
osm_ucast_updn.c updn_lid_matrices, osm_ucast_ftree.c fabric_read_guid_files).

Manual work, and the interruptions that it causes, are described in words.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from lossless.checks.plan.assemble import NoPlan
from lossless.checks.plan.plan import FileChange, FileGroup, Plan, PlanStep
from lossless.checks.plan.subnet.both import misplaced_key
from lossless.checks.plan.subnet.mixtures import (
    aggregation_host,
    back_from,
    differing,
    lost_keys,
    order_of,
    routes_differ,
    unserved,
    used_levels,
)
from lossless.checks.rules.infiniband.subnet_queries import base_of, key_tables, number, value
from lossless.formats.sonic.capabilities.updater_sorting import TimeRange
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined, listed
from lossless.model.fabric.infiniband.derived_policy import with_derived_guids
from lossless.model.fabric.infiniband.subnet import option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.plan.plan import ManagerState, TakenBy
    from lossless.checks.plan.subnet.mixtures import Phase, SubnetChange, SubnetConfiguration
    from lossless.model.fabric.infiniband.subnet import ManagerHost


_INFORMATION = 0x02
"""The bit of log_flags without which opensm logs errors alone: opensm(8)."""
_TITLES = {"stop": "all jobs stop", "start": "jobs start again", "jobs": "jobs restart"}


def subnet_plan(change: SubnetChange, names: tuple[str, str]) -> Plan:
    """Return the plan of a change; ``names`` are the names of its current and target sides.

    Raises:
        NoPlan: jobs of the target would find another P_Key than theirs.
    """
    order = order_of(change)
    misplaced = misplaced_key(change)
    if misplaced is not None:
        raise NoPlan("no plan leads to what the target's jobs expect; nothing is written", misplaced)
    sent, wanted = (used_levels(each.subnet) for each in (change.current, change.target))
    parts = [(done, step) for done in _done(order.phases) for step in _steps(done[-1], order.why)]
    steps = _numbered(step for _, step in parts)
    rollback = tuple(
        _numbered(step for phase in back_from(_so_far(parts, number), sent) for step in _steps(phase, ()))
        for number in range(len(parts))
    )
    return Plan(
        id=_hash(steps),
        current=names[0],
        target=names[1],
        sent=tuple(sorted(sent)),
        wanted=tuple(sorted(wanted)),
        steps=steps,
        rollback=rollback,
        evaluated=order.evaluated,
        represented=_represented(order.phases),
        notes=tuple(notes(change)) if steps else (),
        groups={group.name: group.devices for step in steps for group in step.files},
        transport="infiniband",
    )


def _done(phases: Sequence[Phase]) -> Iterator[tuple[Phase, ...]]:
    """Yield the phases done after the first phase, after the second, and so on."""
    return (tuple(phases[:number]) for number in range(1, len(phases) + 1))


def _so_far(parts: Sequence[tuple[tuple[Phase, ...], PlanStep]], number: int) -> tuple[Phase, ...]:
    """Return the phases completed after a step; its own phase is limited to the managers that have their files."""
    done = parts[number][0]
    own = [step for phases, step in parts[: number + 1] if phases == done]
    only = {group.name for step in own for group in step.files if group.states is not None}
    if any(not any(group.states for group in step.files) for step in own):
        only.add(SHARP_FILE)
    last = done[-1]
    return (*done[:-1], last._replace(only=frozenset(only)) if last.kind == "managers" else last)


def _numbered(steps: Iterable[PlanStep]) -> tuple[PlanStep, ...]:
    return tuple(step._replace(number=number) for number, step in enumerate(steps, 1))


def _represented(phases: Sequence[Phase]) -> str:
    """Return how many states of all switches the phases pass through: each has old or new tables."""
    total = 1
    for phase in phases:
        switches = phase.old.subnet.switches
        if phase.kind == "managers" and isinstance(switches, tuple):
            total += 2 ** len(switches)
    return f"{total:,}" if total < 10**15 else f"10^{len(str(total)) - 1}"


def _steps(phase: Phase, why: Sequence[str]) -> Iterator[PlanStep]:
    if phase.kind == "managers":
        yield from _of_managers(phase)
    elif phase.kind == "hosts":
        yield _of_hosts(phase)
    elif told := tuple(by_hand(phase, why)):
        yield _step(phase, _TITLES[phase.kind], by_hand=told)


def _step(
    phase: Phase,
    title: str,
    files: tuple[FileGroup, ...] = (),
    interrupts: tuple[str, ...] = (),
    by_hand: tuple[str, ...] = (),
) -> PlanStep:
    kind = phase.kind if phase.kind in ("stop", "start", "jobs") else "change"
    return PlanStep(
        0, kind, title, (), (), tuple(sorted(phase.in_use)), TimeRange(), interrupts, by_hand, files
    )


def _of_managers(phase: Phase) -> Iterator[PlanStep]:
    sharp = list(_of_sharp(phase)) if phase.only is None or SHARP_FILE in phase.only else []
    ends = aggregation_host(phase.new) is None
    if ends:
        yield from sharp
    for move in moves_of(phase):
        files = tuple(
            _file(phase, move.host, name) for name in ordered_names(phase.old, phase.new, move.host)
        )
        manager = manager_on(phase.new, move.host)
        group = FileGroup(
            move.host,
            (move.host,),
            files,
            move.how,
            (move.before, move.after),
            (manager.hca or "").partition(":")[2],
            move.why,
            _log(phase, move),
        )
        verb = "SIGHUP" if move.how == "hup" else "restart"
        title = f"{move.host} ({move.before}): {joined(file.name for file in files)}, {verb}"
        yield _step(phase, title, (group,), tuple(interrupts(move, phase)))
    if not ends:
        yield from sharp


def _log(phase: Phase, move: ManagerMove) -> str:
    """Return the log that records the end of a sweep; empty if the configuration does not log it.

    The first sweep of a master is always logged, others as information (opensm/osm_state_mgr.c @fa74b98).
    """
    subnet = phase.new.subnet
    is_told = move.how == "restart" or number(subnet, "log_flags") & _INFORMATION
    return str(value(subnet, "log_file")) if is_told else ""


def _file(phase: Phase, host: str, name: str) -> FileChange:
    before, after = phase.old.files.get(host, {}).get(name), phase.new.files.get(host, {}).get(name)
    target = (after or before or phase.new.files[host][name]).target
    old, new = (None if file is None else file.text for file in (before, after))
    keys = changed_keys(keys_of(old or ""), keys_of(new or "")) if name == CONF else ()
    return FileChange(name, target, old, new, keys)


def _of_sharp(phase: Phase) -> Iterator[PlanStep]:
    """Yield the steps that give the host of SHARP's aggregation manager its file; people stop or restart sharp_am."""
    hosts = [h for h, names in differing(phase.old, phase.new, of_jobs=False).items() if SHARP_FILE in names]
    for host in hosts:
        group = FileGroup(f"{host}-sharp", (host,), (_file(phase, host, SHARP_FILE),))
        yield _step(phase, f"{host}: {SHARP_FILE}", (group,))
    told = aggregation_host(phase.old), aggregation_host(phase.new)
    if told[0] != told[1] or hosts:
        before, after = told
        told_people = [f"stop sharp_am on {before}"] if before and before != after else []
        told_people += [f"restart sharp_am on {after}: it reads its file when it starts"] if after else []
        yield _step(phase, "sharp_am", by_hand=tuple(told_people))


def _of_hosts(phase: Phase) -> PlanStep:
    different = differing(phase.old, phase.new, of_jobs=True)
    kinds = grouped(
        (tuple(_file(phase, host, name) for name in names), host) for host, names in different.items()
    )
    groups = tuple(
        FileGroup("hosts" if len(kinds) == 1 else f"hosts-{number}", tuple(hosts), files)
        for number, (files, hosts) in enumerate(kinds.items(), 1)
    )
    names = dict.fromkeys(file.name for files in kinds for file in files)
    title = f"hosts: {joined(names)}"
    return _step(phase, title, groups, ("jobs that run go on with what they were started with",))


def _hash(steps: Sequence[PlanStep]) -> str:
    told = [
        [step.kind, [[group.name, group.devices, group.how, group.files] for group in step.files]]
        for step in steps
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]


_RESET = re.compile(r"qos_(?:(?:ca|sw0|swe|rtr)_)?(?:max_vls|high_limit|vlarb_high|vlarb_low|sl2vl)")
"""Keys that opensm sets back to nothing before it reads its file again (subn_init_qos_options)."""
CONF = "opensm.conf"
_OF_ROUTES = ("root_guid.conf", "cn_guid.conf", "torus-2QoS.conf")
SHARP_FILE = "sharp_am.cfg"


class ManagerMove(NamedTuple):
    """One subnet manager takes its files: its state before and after, and why it restarts (empty if SIGHUP is enough).

    ``alone``: it is the only manager.
    """

    host: str
    how: TakenBy
    before: ManagerState
    after: ManagerState
    why: tuple[str, ...]
    alone: bool


def moves_of(phase: Phase) -> Iterator[ManagerMove]:
    """Yield subnet managers that take other files, in the order in which they do: standbys first, the master last."""
    old, new, only = phase.old, phase.new, phase.only
    different = differing(old, new, of_jobs=False)
    ranks = {host: _rank(old if only is None or host in only else new, host) for host in _hosts(old)}
    left = [
        host for host in ranks if {*different.get(host, ())} - {SHARP_FILE} and (only is None or host in only)
    ]
    while left:
        master = max(ranks, key=ranks.__getitem__)
        # The master has the highest rank, so it comes last.
        host = min(left, key=ranks.__getitem__)
        ranks[host] = _rank(new, host)
        after = max(ranks, key=ranks.__getitem__)
        why = tuple(_restarts(old, new, host))
        yield ManagerMove(
            host,
            "restart" if why else "hup",
            _state(host, master),
            _state(host, after),
            why,
            alone=len(ranks) == 1,
        )
        left.remove(host)


def _state(host: str, master: str) -> ManagerState:
    return "master" if host == master else "standby"


def _hosts(configuration: SubnetConfiguration) -> tuple[str, ...]:
    return tuple(str(manager.node) for manager in configuration.subnet.managers)


def manager_on(configuration: SubnetConfiguration, host: str) -> ManagerHost:
    """Return the subnet manager on a host or switch, by the name of that."""
    return next(each for each in configuration.subnet.managers if each.node == host)


def _rank(configuration: SubnetConfiguration, host: str) -> tuple[int, int]:
    """Return the rank of a subnet manager in the election, priority before lower GUID: the highest is the master."""
    subnet = with_derived_guids(configuration.subnet)
    manager = manager_on(configuration, host)
    guids = {hca.name: hca.guid or 0 for hca in subnet.hcas} if isinstance(subnet.hcas, tuple) else {}
    priority = number(subnet, "sm_priority") if manager.priority is None else manager.priority
    return priority, -guids.get(manager.hca or "", 0)


def _restarts(old_side: SubnetConfiguration, new_side: SubnetConfiguration, host: str) -> Iterator[str]:
    """Yield the reasons why a subnet manager must restart to take its new files.

    Which keys NVIDIA's OpenSM takes in on SIGHUP is not known: the table is that of upstream.
    """
    before, after = old_side.files.get(host, {}), new_side.files.get(host, {})
    old, new = (keys_of(files[CONF].text) if CONF in files else {} for files in (before, after))
    for key in changed_keys(old, new):
        known = option(key)
        if known is None or "nvidia" in (known.only, new_side.subnet.flavour):
            yield f"whether SIGHUP takes {key} in is not known"
        elif known.restart:
            yield f"{key} is read at the start alone"
        elif key not in new and not _RESET.fullmatch(key):
            yield f"{key} goes from the file, and SIGHUP leaves it as it was"
    cached = "TRUE" in (old.get("use_ucast_cache"), new.get("use_ucast_cache"))
    if cached and any(before.get(name) != after.get(name) for name in _OF_ROUTES):
        yield "use_ucast_cache keeps the routes that there are"


def changed_keys(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of opensm.conf whose texts differ, those of the new file first."""
    return tuple(key for key in dict.fromkeys((*new, *old)) if old.get(key) != new.get(key))


def keys_of(text: str) -> dict[str, str]:
    """Return the keys of an opensm.conf, with their texts."""
    lines = (line.partition("#")[0].split(None, 1) for line in text.splitlines())
    return {line[0]: line[1].strip() if len(line) > 1 else "" for line in lines if line}


def ordered_names(old: SubnetConfiguration, new: SubnetConfiguration, host: str) -> tuple[str, ...]:
    """Return the names of the files of a subnet manager that differ, in the order in which they are put into place.

    opensm reads them at any heavy sweep. So the file with the lanes comes first where its lanes serve the SLs in use,
    and last where they do not: new partitions and a new policy then give other SLs before.
    """
    names = [name for name in differing(old, new, of_jobs=False).get(host, ()) if name != SHARP_FILE]
    serve = not unserved(new.subnet, used_levels(old.subnet))
    return tuple(sorted(names, key=lambda name: (name == CONF) != serve))


def interrupts(move: ManagerMove, phase: Phase) -> Iterator[str]:
    """Yield in words the effects of a subnet manager's change on traffic, or that a standby sets no tables."""
    if move.before == "standby":
        yield f"{move.host} is a standby and sets nothing"
        if move.after == "master":
            yield f"{move.host} becomes the master by its priority: {_SILENT}"
        return
    if move.after == "standby":
        yield f"{move.host} hands over to a manager of higher priority: {_SILENT}"
    elif move.how == "hup":
        yield f"{move.host} sweeps the subnet: switches and ports are set one after another"
    elif move.alone:
        yield f"{move.host} is the only manager: {_SILENT}, from its stop on"
    else:
        subnet = phase.old.subnet
        ms = number(subnet, "sminfo_polling_timeout") * (number(subnet, "polling_retry_number") + 2)
        yield f"{move.host} is away, and a standby takes over after {ms / 1000:g} s at most: {_SILENT}"
    if routes_differ(phase.old.subnet, phase.new.subnet):
        yield "routes change: whether packets under way are lost or overtake each other is not known"
    yield "what switches do to packets in the moment that their tables change is not known"


_SILENT = (
    "paths and joins are not answered until its first sweep has ended (opensm/osm_sa_mad_ctrl.c @fa74b98); "
    "traffic on the paths that there are goes on"
)


def by_hand(phase: Phase, why: Sequence[str]) -> Iterator[str]:
    """Yield in words the manual work with jobs in a phase; ``why`` are the dangers that require to stop them."""
    if phase.kind == "stop":
        yield "stop all jobs on this subnet: no order of steps keeps their traffic safe"
        yield from why
    elif phase.kind == "start":
        yield "start the jobs again"
    else:
        yield from _of_jobs(phase)


def _of_jobs(phase: Phase) -> Iterator[str]:
    old, new = phase.old.subnet, phase.new.subnet
    gone = sorted(used_levels(old) - used_levels(new))
    if gone:
        levels = joined(map(str, gone))
        yield f"restart every job that began before this step: its queue pairs keep SL {levels}"
    for key, names in lost_keys(old, new).items():
        yield f"end or restart what uses P_Key {key:#06x} on {listed(names, 3)}: they lose it next"
    if aggregation_host(phase.old) is not None and aggregation_host(phase.new) is None:
        yield "restart every job that uses SHARP: its manager ends next"


def notes(change: SubnetChange) -> Iterator[str]:
    """Yield in words the unknown effects of a subnet's change, and the checks that a plan leaves to people."""
    old, new = change.current.subnet, change.target.subnet
    if value(old, "qos") is True and value(new, "qos") is not True:
        yield (
            "opensm leaves SL2VL and arbitration tables as they are once qos is FALSE (osm_qos.c @fa74b98): what "
            "switches have after they restart is not known"
        )
    before = key_tables(old)
    if any({*map(base_of, keys)} - {*map(base_of, before[hca])} for hca, keys in key_tables(new).items()):
        yield (
            "P_Keys that are added get the place after the last: check the places that jobs use before they start, "
            "with `smpquery pkeys`"
        )
