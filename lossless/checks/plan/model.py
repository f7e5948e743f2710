"""The change to plan and its steps: kinds of switches and hosts, and the links between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.checks.plan.systems import SystemSwitch
    from lossless.checks.plan.units import Unit
    from lossless.formats.sonic.capabilities.updater_rules import UpdaterDevice
    from lossless.formats.sonic.capabilities.updater_verdict import UpdateRefusal
    from lossless.formats.sonic.changes.patch import Operation
    from lossless.model.fabric.hosts import HostQos

Config = dict[str, dict[str, Any]]

How = Literal["patch", "write", "reload", "by hand", "session"]
"""Method of a batch: a patch for the config updater, rows written beside it, a reload, manual work, or a session of a
system other than SONiC.
"""
StepKind = Literal["change", "jobs", "cables", "stop", "start"]
"""Kind of a step: configurations change, jobs restart, cables change, all jobs stop or start again."""


class SecondTor(NamedTuple):
    """A second switch of hosts: how they are moved to it, and the speed of its ports to hosts and of those up."""

    moved_by: str
    down_bps: int
    up_bps: int


class PlannedKind(NamedTuple):
    """Switches with the same running and target configuration, apart from names: the first of them stands for all.

    ``cables_m`` and ``new_cables_m`` are the real lengths of the cables at its ports, where known, before and after.
    ``host_ports`` are those that lead to hosts. ``second_tor`` is set if its hosts are attached to a second switch
    too. ``unpatchable`` lists reasons why the updater refuses the configuration before or after as a whole, and so
    every patch. ``port_names`` has, for a replaced switch, the names of the ports of links on the switch of each HWSKU.
    ``system`` is set if they run another system than SONiC: ``running`` and ``target`` are then rows of behavior.
    """

    title: str
    devices: tuple[str, ...]
    running: Config
    target: Config
    units: tuple[Unit, ...]
    updater: UpdaterDevice
    cables_m: Mapping[str, int] = {}
    new_cables_m: Mapping[str, int] = {}
    host_ports: frozenset[str] = frozenset()
    second_tor: SecondTor | None = None
    unpatchable: tuple[UpdateRefusal, ...] = ()
    port_names: Mapping[str, Mapping[str, str]] = {}
    system: SystemSwitch | None = None


class HostKind(NamedTuple):
    """Hosts with the same settings before and after: their settings, stage by stage.

    ``stages`` begins with the current settings (None: unknown) and ends with those of the target; ``sends`` is the
    stage from which on they send the DSCPs of the target.
    """

    title: str
    hosts: tuple[str, ...]
    stages: tuple[HostStage, ...]


class HostStage(NamedTuple):
    """The settings of hosts at one stage. ``sends``: from here on they send the DSCPs of the target."""

    title: str
    qos: HostQos | None
    sends: bool


class PlannedLink(NamedTuple):
    """A link between two kinds of switches, by index, with the port of each."""

    a: int
    a_port: str
    b: int
    b_port: str


class PlannedHostLink(NamedTuple):
    """A link from a kind of hosts to a port of a kind of switches, both by index."""

    host: int
    switch: int
    port: str


class FabricChange(NamedTuple):
    """A fabric in service and its target.

    ``sent`` and ``wanted`` are the DSCPs of lossless classes that jobs send now, and will.
    """

    kinds: tuple[PlannedKind, ...]
    hosts: tuple[HostKind, ...]
    links: tuple[PlannedLink, ...]
    host_links: tuple[PlannedHostLink, ...]
    sent: frozenset[int]
    wanted: frozenset[int]


class Batch(NamedTuple):
    """Units that are brought onto a switch at once. ``ports_down`` are ports that are up and go down on the way.

    ``before`` and ``after`` are the units done; ``why`` is the reason why it is no patch.
    """

    how: How
    titles: tuple[str, ...]
    before: frozenset[int]
    after: frozenset[int]
    ports_down: tuple[str, ...]
    moves: int
    why: str = ""


class KindChange(NamedTuple):
    """The batches of one kind of switches in a step, in order. ``drained``: each switch carries no jobs meanwhile."""

    kind: int
    batches: tuple[Batch, ...]
    drained: bool = False


class HostChange(NamedTuple):
    """The stages that the hosts of one kind reach in a step, one after another."""

    kind: int
    stages: tuple[int, ...]


class Step(NamedTuple):
    """One step. Its switches and hosts may be done in any order, any number of them at once."""

    kind: StepKind
    switches: tuple[KindChange, ...] = ()
    hosts: tuple[HostChange, ...] = ()
    in_use: frozenset[int] = frozenset()


class Position(NamedTuple):
    """How far a change is: the units that each kind of switch has done, the stage of each kind of hosts."""

    done: tuple[frozenset[int], ...]
    stages: tuple[int, ...]
    restarted: bool
    recabled: bool
    stopped: bool = False


class PlacedStep(NamedTuple):
    """A step, and the position after it."""

    step: Step
    after: Position


class Blocked(NamedTuple):
    """The reason why no safe order was found: the dangers of the next change, and the state in which they occur."""

    unit: str
    where: str
    dangers: tuple[str, ...]


class Order(NamedTuple):
    """The steps of a safe order; ``evaluated`` states were evaluated, and stand for ``represented``."""

    steps: tuple[PlacedStep, ...]
    blocked: tuple[Blocked, ...]
    evaluated: int
    represented: int


def operations_of(kind: PlannedKind, units: frozenset[int]) -> tuple[Operation, ...]:
    """Return the operations of some units of a kind, in the order of a patch."""
    return tuple(operation for number in sorted(units) for operation in kind.units[number].operations)
