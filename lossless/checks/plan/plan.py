"""A plan as it is written and carried out: the changes of each group of devices in each step, and the rollbacks.

Manual work of a step, and the interruptions that a step causes, are described in words. Of a plan.json only the
groups of devices and the rows of each step are read again.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Literal

from lossless.formats.device_files.hosts import same_files
from lossless.formats.sonic.capabilities.updater_sorting import TimeRange
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import grouped, natural_key
from lossless.ground.basics.records import NamedTuple, Record
from lossless.ground.basics.units import format_rate, joined, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Annotated, NotRequired, TypedDict

    from lossless.checks.plan.batches import (
        FabricChange,
        HostChange,
        HostKind,
        How,
        PlannedKind,
        Step,
        StepKind,
    )
    from lossless.checks.plan.systems import PlannedSession
    from lossless.formats.sonic.changes.json_patch import Operation
    from lossless.ground.basics.findings import Json, Path
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.hosts import HostQos


CALL_S = 120
"""The time limit in seconds of a command that reads, writes or saves, or makes a checkpoint. A choice: they take
seconds."""
RELOAD_S = 900
"""The time limit in seconds of a reload: SONiC refuses one for 120 s after the last, and restarts all services
(config/main.py @691b1bb)."""
_QUEUE_PAIRS = "rdma resource show qp"
"""The command that lists the queue pairs of a host, each with the number and name of its process (rdma-resource(8)).

Counters of a switch do not show that a DSCP is gone: they are those of queues, and the new DSCP can have the same one.
"""


_TITLES = {
    "jobs": "jobs restart",
    "cables": "cables change",
    "stop": "all jobs stop",
    "start": "jobs start again",
}


def by_hand(change: FabricChange, step: Step, groups: Sequence[PlannedSwitches]) -> Iterator[str]:
    """Yield in words the manual work of a step."""
    if step.kind == "jobs":
        gone = _gone(change, step)
        ended = "no process from before that step has a" if _moves(change) else "its processes have no"
        yield f"{_stopped(change, gone)}; go on when {ended} queue pair on any host ({_QUEUE_PAIRS} lists them)"
    if step.kind == "cables":
        yield from _recabled(change)
    if step.kind == "stop":
        yield (
            "stop all jobs that use RDMA on this fabric: no order of steps keeps their traffic lossless; go on when no "
            f"host has a queue pair of a job ({_QUEUE_PAIRS} lists them)"
        )
    if step.kind == "start":
        yield "start the jobs again"
    for host in step.hosts:
        own = change.hosts[host.kind]
        if is_told(own, host):
            yield f"{own.title}: {reached_by(own, host)}; by hand on each host: the plan has no file of it"
    for own_change, group in zip(step.switches, groups, strict=True):
        if group.drained:
            yield _drain(change, change.kinds[own_change.kind], group, whole=own_change.drained)
        if any(batch.session is not None for batch in group.batches):
            numbers = [n for n, batch in enumerate(group.batches, 1) if batch.session is not None]
            files = joined(f"{number:02}-session.txt" for number in numbers)
            yield f"{group.name}: on each switch, run the commands of {files} in the folder of its group"
        yield from (_replacement(group, batch) for batch in group.batches if batch.how == "by hand")


def step_title(change: FabricChange, step: Step) -> str | None:
    """Return the title of a step without changes of devices, None of one with them."""
    if step.kind == "jobs" and not _moves(change):
        return f"jobs stop sending DSCP {_gone(change, step)}"
    return _TITLES.get(step.kind)


def leaves_no_trace(step: PlanStep) -> bool:
    """Return whether no device shows that a step is complete: it has sessions, or manual work other than a drain."""
    told = {batch.how for group in step.switches for batch in group.batches}
    if step.kind != "change" or not told.isdisjoint({"by hand", "session"}):
        return True
    return bool(step.by_hand) and not step.drains


def _gone(change: FabricChange, step: Step) -> str:
    return listed([str(dscp) for dscp in sorted(step.in_use - change.wanted)])


def _moves(change: FabricChange) -> bool:
    """Return whether hosts get settings to send other DSCPs."""
    return any(len({stage.sends for stage in kind.stages}) > 1 for kind in change.hosts)


def _stopped(change: FabricChange, gone: str) -> str:
    """Return in words how jobs stop sending DSCPs: they get new queue pairs if the settings of hosts have changed."""
    if _moves(change):
        return f"restart every job that began before the last step: its queue pairs keep DSCP {gone}"
    return f"stop what sends DSCP {gone}: the settings of hosts send other DSCPs, before and after"


def is_told(kind: HostKind, change: HostChange) -> bool:
    """Return whether a change of hosts is manual work: their settings are unknown, or no file of theirs differs.

    A change back to reported settings is manual work too: a report does not have all settings that files set, nor
    always the NIC.
    """
    before, after = (kind.stages[number].qos for number in (change.stages[0] - 1, change.stages[-1]))
    return (
        after is None or after.provenance == "deployed" or (before is not None and same_files(before, after))
    )


def _drain(change: FabricChange, kind: PlannedKind, group: PlannedSwitches, *, whole: bool) -> str:
    """Return in words how traffic leaves switches, or ports of them, before they change."""
    down = {port for batch in group.batches for port in batch.ports_down}
    number = len(group.devices)
    pace = f" ({group.at_once} of {number} switches at a time)" if number > 1 else ""
    if kind.host_ports & down or (whole and kind.host_ports):
        return f"{group.name}: {_drain_of_hosts(kind)}{pace}"
    tier = tier_size(change, kind)
    if not whole and kind.host_ports:
        return (
            f"{group.name}: its uplinks go down one after another within one patch, and no session can be shut down "
            f"between two of them; {_DRAIN_HOSTS}{pace}"
        )
    if tier < 2:
        only = kind.devices[0]
        return (
            f"{group.name}: {only} is the only one of its tier, no other carries its traffic: stop all jobs"
        )
    left = tier - (group.at_once or 1)
    if kind.system is not None:
        return f"{group.name}: take traffic off the switch first, and back on after; {left} of {tier} carry on{pace}"
    return (
        f"{group.name}: run TSA on each switch before it changes, and TSB once it is done; {left} of {tier} carry on"
        f"{pace}"
    )


def tier_size(change: FabricChange, kind: PlannedKind) -> int:
    """Return the number of switches in the tier of a kind."""
    return sum(len(other.devices) for other in change.kinds if _tier(other) == _tier(kind))


def _tier(kind: PlannedKind) -> str:
    """Return the tier of a kind of switches: its title without the number."""
    return kind.title.rstrip("0123456789 ")


def _replacement(group: PlannedSwitches, batch: PlannedBatch) -> str:
    """Return in words the manual work on replaced or upgraded switches, and the check after it."""
    what = listed(batch.titles)
    if "VERSIONS" in batch.after:
        return f"{group.name}: {what}; install it, and see that its QoS rows are as before"
    return f"{group.name}: {what}; each comes up with what lossless render writes of the target"


def _recabled(change: FabricChange) -> Iterator[str]:
    """Yield in words the cables to change at the switches of each kind; those between switches have two lines."""
    for kind in change.kinds:
        ports = (
            ((kind.cables_m[port], kind.new_cables_m[port]), port)
            for port in sorted(kind.recabled, key=natural_key)
        )
        for (old_m, new_m), own in grouped(ports).items():
            each = "on each, " if len(kind.devices) > 1 else ""
            known = f"; it is configured for {old_m} m: leave a cable that has {new_m} m already"
            yield (
                f"{listed(kind.devices)}: {each}change the cables at {listed(own, 8)} from {old_m} m to {new_m} m"
                f"{known if change.is_read else ''}"
            )


def reached_by(kind: HostKind, change: HostChange) -> str:
    """Return the settings that hosts of a kind receive in a step, in words."""
    return ", ".join(kind.stages[stage].title for stage in change.stages)


_SCHEDULERS = (
    "Slurm: scontrol update nodename=HOST state=drain reason=plan, then state=resume; Kubernetes: kubectl drain HOST, "
    "then kubectl uncordon HOST"
)
"""The commands by which jobs leave a host and come back (SchedMD scontrol(1), kubectl reference)."""
_DRAIN_HOSTS = (
    "have the job scheduler drain the hosts behind each switch before it changes, and resume them after "
    f"({_SCHEDULERS})"
)


def _drain_of_hosts(kind: PlannedKind) -> str:
    """Return in words how a leaf's hosts are drained: to a second ToR if that carries them, else by the scheduler."""
    scheduler = _DRAIN_HOSTS
    second = kind.second_tor
    if second is None:
        return f"no other switch has the links of its hosts, so the network cannot drain it: {scheduler}"
    down, up = format_rate(second.down_bps), format_rate(second.up_bps)
    if not second.carries_all:
        return f"the second ToR has {up} up for {down} of hosts, too little to carry all of them: {scheduler}"
    return (
        f"move its hosts to the second ToR first ({second.moved_by}), which has {up} up for {down} of hosts, and back "
        "after"
    )


def interrupts(groups: Sequence[PlannedSwitches]) -> Iterator[str]:
    """Yield in words the interruptions that the batches of each group cause, or that no port goes down."""
    for group in groups:
        is_down = any(batch.ports_down or batch.how in ("reload", "by hand") for batch in group.batches)
        # What goes down comes first: the rest is said to take nothing down beside it.
        order = sorted(
            group.batches, key=lambda batch: not (batch.ports_down or batch.how in ("reload", "by hand"))
        )
        said = (_interruption(batch, beside_others=is_down) for batch in order)
        yield from (f"{group.name}: {line}" for line in dict.fromkeys(said))


def _interruption(batch: PlannedBatch, *, beside_others: bool) -> str:
    """Return the interruption that a batch causes; ``beside_others``: another of its group takes ports down."""
    if batch.how == "by hand":
        return "each switch is out of service meanwhile; for how long is not known"
    if batch.session is not None:
        return batch.session.why
    if batch.how == "reload":
        return f"config reload restarts the services, and all {len(batch.ports_down)} ports go down"
    if batch.ports_down:
        return f"{len(batch.ports_down)} ports go down, one after another, on each switch"
    quiet = "the rest takes no port down" if beside_others else "no port goes down"
    return f"{quiet}; what the chip does to packets meanwhile is not known"


def interrupts_of_hosts(groups: Sequence[HostGroup]) -> Iterator[str]:
    """Yield in words the interruptions that new settings of hosts cause."""
    for group in groups:
        if group.links_down:
            links = "its link goes" if group.links_down == 1 else f"its {group.links_down} links go"
            yield f"{group.name}: PFC of the NICs changes on each host: {links} down for a moment"
        if group.cnp_dscps:
            old, new = group.cnp_dscps
            yield (
                f"{group.name}: CNPs move from DSCP {old} to DSCP {new}: until all switches and hosts have changed, "
                "CNPs meet switches that have their DSCP in another class, and senders slow down later where it queues"
            )


def drains_of_hosts(groups: Sequence[HostGroup]) -> Iterator[str]:
    """Yield in words how jobs leave hosts before their links go down."""
    for group in groups:
        if group.drained:
            yield (
                f"{group.name}: have the job scheduler drain each host before it changes, and resume it after "
                f"({_SCHEDULERS}) ({group.at_once} of {len(group.hosts)} hosts at a time)"
            )


VERSION: Literal[1] = 1
"""The version of the format of plan.json."""
Rows = dict[str, dict[str, Any]]
"""Rows of CONFIG_DB by table and key; None where there is no such row."""


def slug(title: str) -> str:
    """Return the title of a kind of switches or hosts as the name of a folder: ``leaf-2``."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


class PlannedBatch(NamedTuple):
    """Changes that are brought onto each switch of a group at once: the operations, and the rows that they change.

    ``before`` and ``after`` are these rows whole, None for a row that is absent: the rows that a switch must have to
    go on, and the rows that it has afterward. Of rows that rendering shares with others (PORT, DEVICE_METADATA) they
    have the fields that change, None for absent fields: others, such as the hostname, differ by switch. ``how`` is
    ``patch`` (``config apply-patch``), ``write`` (rows written to CONFIG_DB without the updater, which refuses them),
    ``reload`` (``config reload`` of the running configuration with these rows), ``by hand`` (people install another
    release on the switch, or replace it; the rows show whether that is done), or ``session`` (commands of another
    system than SONiC, whose rows describe the behavior of a switch); ``why`` is the reason why it is no patch.

    ``ports_down`` are the ports that go down meanwhile, one after another in a patch, else all at once;
    ``moves`` is the maximum number of moves in the updater's patch, and ``time`` how long the batch takes: of a patch
    as measured in public (:func:`patch_time`), of a write or a reload up to the limit at which ``run.sh`` ends it; 0 if
    unknown.
    """

    how: How
    titles: tuple[str, ...]
    operations: tuple[Operation, ...]
    before: Rows
    after: Rows
    ports_down: tuple[str, ...]
    moves: int
    time: TimeRange = TimeRange()
    why: str = ""
    session: PlannedSession | None = None


class PlannedSwitches(NamedTuple):
    """Switches that do the same in a step, batch after batch. ``drained``: a switch carries no jobs while it changes.

    ``at_once`` is how many of them may change at the same time, None where all may.
    """

    name: str
    devices: tuple[str, ...]
    batches: tuple[PlannedBatch, ...]
    drained: bool
    at_once: int | None


class HostGroup(NamedTuple):
    """Hosts with the same settings in a step: ``title`` is a summary, ``qos`` has all settings.

    ``links_down`` is the number of links of a host that go down for a moment. ``drained``: a host carries no jobs while
    it changes. ``at_once`` is how many of them may change at the same time, None where all may. ``cnp_dscps`` are the
    DSCPs of CNPs before and after, if they differ.
    """

    name: str
    hosts: tuple[str, ...]
    title: str
    qos: HostQos
    links_down: int = 0
    drained: bool = False
    at_once: int | None = None
    cnp_dscps: tuple[int, int] | None = None


ManagerState = Literal["standby", "master"]
TakenBy = Literal["hup", "restart", "nothing"]
"""The way files take effect: SIGHUP to opensm, a restart of it, or nothing if their reader notices a change itself."""


class FileChange(NamedTuple):
    """A file that a host gets, or loses: its path, and its text before and after, None if there is no file.

    ``keys`` are the keys that differ in it, of opensm.conf alone.
    """

    name: str
    target: str
    before: str | None
    after: str | None
    keys: tuple[str, ...] = ()


class FileGroup(NamedTuple):
    """Hosts that get the same files in a step, in the order in which the files are put into place.

    ``states`` are the required state of the subnet manager before the change and its state after, None for files that
    are not of a manager; ``device`` is the adapter used to query it. ``why`` is the reason why SIGHUP is not enough.
    ``log`` is the log file of the manager.
    """

    name: str
    devices: tuple[str, ...]
    files: tuple[FileChange, ...]
    how: TakenBy = "nothing"
    states: tuple[ManagerState, ManagerState] | None = None
    device: str = ""
    why: tuple[str, ...] = ()
    log: str = ""


Impact = Literal["none known", "unknown", "interrupted"]


class PlanStep(NamedTuple):
    """One step. ``in_use`` are the DSCPs, or service levels, that jobs send on.

    ``time`` is how long it takes, without manual work, and without drains and links whose times are not declared.

    ``interrupts`` lists interruptions, ``by_hand`` manual work: drain, restart jobs, change cables. ``files`` are
    those of hosts of an InfiniBand subnet, one group after another.
    """

    number: int
    kind: StepKind
    title: str
    switches: tuple[PlannedSwitches, ...]
    hosts: tuple[HostGroup, ...]
    in_use: tuple[int, ...]
    time: TimeRange
    interrupts: tuple[str, ...]
    by_hand: tuple[str, ...]
    files: tuple[FileGroup, ...] = ()

    @property
    def drains(self) -> bool:
        """Whether switches or hosts carry no jobs while they change."""
        switches = any(group.drained for group in self.switches)
        return switches or any(group.drained for group in self.hosts)


Transport = Literal["rocev2", "infiniband"]
_CLASSES: dict[Transport, str] = {"rocev2": "dscps", "infiniband": "service_levels"}
"""The key of plan.json for the traffic classes of jobs."""


class Plan(NamedTuple):
    """A plan. ``rollback`` has the steps back to the start from after each step, in the order of ``steps``.

    ``id`` is a hash over its changes. ``evaluated`` states were evaluated and stand for ``represented``, a number as
    text, large ones as a power of ten; ``notes`` list work that it leaves to people, and times and effects that it does
    not count. ``unsafe`` are the dangers that the fabric has before the change: no later state has another one.
    """

    id: str
    current: str
    target: str
    sent: tuple[int, ...]
    wanted: tuple[int, ...]
    steps: tuple[PlanStep, ...]
    rollback: tuple[tuple[PlanStep, ...], ...]
    evaluated: int
    represented: str
    notes: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = {}
    transport: Transport = "rocev2"
    unsafe: tuple[str, ...] = ()

    def to_data(self) -> Annotated[dict[str, Any], PlanData]:
        """Return the plan as plain data, as plan.json has it: a step names a whole group without its devices."""
        return {
            "version": VERSION,
            "id": self.id,
            "current": self.current,
            "target": self.target,
            **_of_transport(self),
            "states_evaluated": self.evaluated,
            "states_represented": self.represented,
            "unsafe": list(self.unsafe),
            "notes": list(self.notes),
            "groups": {name: list(devices) for name, devices in self.groups.items()},
            "steps": [_step(step, self) for step in self.steps],
            "rollback": [[_step(step, self) for step in steps] for steps in self.rollback],
        }


if TYPE_CHECKING:

    class OperationData(TypedDict):
        """An operation of a patch, as RFC 6902 has it."""

        op: str
        path: str
        value: NotRequired[Json]

    class SessionData(TypedDict):
        """The session that a switch takes at once."""

        file: str
        commands: list[str]
        undo: list[str]
        runs: dict[str, list[str]]
        why: str

    class BatchData(TypedDict):
        """Changes that are brought onto each switch of a group at once."""

        how: How
        titles: list[str]
        why: str
        ports_down: list[str]
        moves: int
        operations: list[OperationData]
        before: Rows
        after: Rows
        session: NotRequired[SessionData]

    class GroupData(TypedDict):
        """Switches that do the same in a step; its devices where they are only some of the group."""

        group: str
        devices: NotRequired[list[str]]
        drained: bool
        at_once: int | None
        batches: list[BatchData]

    class HostData(TypedDict):
        """Hosts that get the same settings."""

        group: str
        hosts: list[str]
        title: str
        links_down: int
        drained: bool
        at_once: int | None

    class FileChangeData(TypedDict):
        """A file with the checksums of its text before and after."""

        name: str
        target: str
        keys: list[str]
        before: str | None
        after: str | None

    class FileGroupData(TypedDict):
        """Hosts that get the same files."""

        group: str
        devices: list[str]
        how: TakenBy
        why: list[str]
        states: list[ManagerState] | None
        files: list[FileChangeData]

    class PlanStepData(TypedDict):
        """One step."""

        number: int
        kind: StepKind
        title: str
        dscps_in_use: NotRequired[list[int]]
        service_levels_in_use: NotRequired[list[int]]
        seconds: int
        seconds_at_least: int
        interrupts: list[str]
        by_hand: list[str]
        switches: list[GroupData]
        hosts: list[HostData]
        files: NotRequired[list[FileGroupData]]

    class PlanData(TypedDict):
        """A plan, as plan.json has it; the traffic classes of jobs are DSCPs or service levels."""

        version: Literal[1]
        id: str
        current: str
        target: str
        transport: NotRequired[Transport]
        dscps_before: NotRequired[list[int]]
        dscps_after: NotRequired[list[int]]
        service_levels_before: NotRequired[list[int]]
        service_levels_after: NotRequired[list[int]]
        states_evaluated: int
        states_represented: str
        unsafe: list[str]
        notes: list[str]
        groups: dict[str, list[str]]
        steps: list[PlanStepData]
        rollback: list[list[PlanStepData]]


def _of_transport(plan: Plan) -> dict[str, Any]:
    named = {} if plan.transport == "rocev2" else {"transport": plan.transport}
    classes = _CLASSES[plan.transport]
    return {**named, f"{classes}_before": list(plan.sent), f"{classes}_after": list(plan.wanted)}


def _step(step: PlanStep, plan: Plan) -> Annotated[dict[str, Any], PlanStepData]:
    files = {} if plan.transport == "rocev2" else {"files": [_files(group) for group in step.files]}
    return {
        "number": step.number,
        "kind": step.kind,
        "title": step.title,
        f"{_CLASSES[plan.transport]}_in_use": list(step.in_use),
        "seconds": step.time.most_s,
        "seconds_at_least": step.time.least_s,
        "interrupts": list(step.interrupts),
        "by_hand": list(step.by_hand),
        "switches": [_switches(group, plan) for group in step.switches],
        "hosts": [_hosts(group) for group in step.hosts],
        **files,
    }


def _switches(group: PlannedSwitches, plan: Plan) -> Annotated[dict[str, Any], GroupData]:
    """Return a group of switches as plain data; its devices are listed if the step changes only some of them."""
    some = {} if plan.groups.get(group.name) == group.devices else {"devices": list(group.devices)}
    return {
        "group": group.name,
        **some,
        "drained": group.drained,
        "at_once": group.at_once,
        "batches": [_batch(batch) for batch in group.batches],
    }


def _batch(batch: PlannedBatch) -> Annotated[dict[str, Any], BatchData]:
    session = {} if batch.session is None else {"session": _session(batch.session)}
    return {
        "how": batch.how,
        "titles": list(batch.titles),
        "why": batch.why,
        "ports_down": list(batch.ports_down),
        "moves": batch.moves,
        "operations": [operation.as_json() for operation in batch.operations],
        "before": batch.before,
        "after": batch.after,
        **session,
    }


def _session(session: PlannedSession) -> SessionData:
    return {
        "file": session.file,
        "commands": list(session.commands),
        "undo": list(session.undo),
        "runs": {name: list(commands) for name, commands in session.runs.items()},
        "why": session.why,
    }


def _hosts(group: HostGroup) -> HostData:
    return {
        "group": group.name,
        "hosts": list(group.hosts),
        "title": group.title,
        "links_down": group.links_down,
        "drained": group.drained,
        "at_once": group.at_once,
    }


def _files(group: FileGroup) -> FileGroupData:
    """Return a group of files as plain data, with checksums of texts without secret keys, which hosts alone have."""
    return {
        "group": group.name,
        "devices": list(group.devices),
        "how": group.how,
        "why": list(group.why),
        "states": None if group.states is None else list(group.states),
        "files": [
            {
                "name": file.name,
                "target": file.target,
                "keys": list(file.keys),
                "before": sha256(file.before),
                "after": sha256(file.after),
            }
            for file in group.files
        ],
    }


def sha256(text: str | None) -> str | None:
    """Return the SHA-256 of a text in hexadecimal, None for None."""
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


class StoredBatch(Record):
    """The rows that a batch changes, as a switch must have them before and has them afterward."""

    before: dict[str, dict[str, dict[str, Any] | None]]
    after: dict[str, dict[str, dict[str, Any] | None]]


class StoredSwitches(Record):
    """A group of switches in a step of a plan.json; ``devices`` None: every switch of the group."""

    group: str
    batches: list[StoredBatch]
    devices: list[str] | None = None


class StoredStep(Record):
    """A step of a plan.json: its number, and the groups of switches that it changes."""

    number: int
    switches: list[StoredSwitches]


class StoredPlan(Record):
    """A plan.json as far as it is read again: the switches of each group, and the steps."""

    groups: dict[str, list[str]]
    steps: list[StoredStep]


class _Head(Record):
    version: Any = None
    transport: Any = "rocev2"


def stored_plan(document: Document) -> StoredPlan:
    """Return the content of a plan.json.

    Raises:
        InputError: it is no plan of this version and of switches, or is damaged.
    """
    from lossless.ground.documents.json.own_records import own_problem, own_record

    def refused(says: str, *at: str | int) -> InputError:
        return InputError([own_problem(document, at, says)])

    head = own_record(document, _Head)
    if head.version != VERSION:
        says = f"not a plan of version {VERSION}: write it again with lossless plan"
        raise InputError([Problem(document.file, None, None, says)])
    if head.transport != "rocev2":
        says = "a plan of an InfiniBand subnet: run.sh --check says on each host how far it is"
        raise InputError([Problem(document.file, None, None, says)])
    plan = own_record(document, StoredPlan)
    for number, step in enumerate(plan.steps):
        for place, group in enumerate(step.switches):
            at: Path = ("steps", number, "switches", place)
            if group.group not in plan.groups:
                raise refused(f"the plan has no group {group.group!r}", *at, "group")
            for which, batch in enumerate(group.batches):
                if rows_of(batch.before).keys() != rows_of(batch.after).keys():
                    raise refused("before and after are not of the same rows", *at, "batches", which)
    return plan


def rows_of(tables: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], Any]:
    """Return the rows of tables of CONFIG_DB, by pairs of table and key."""
    return {(table, key): row for table, rows in tables.items() for key, row in rows.items()}
