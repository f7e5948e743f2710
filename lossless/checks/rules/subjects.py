"""Subjects of rules other than the view of a fabric: devices, hosts, cabling, simulation runs and suppressions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.analysis.buffers.simulation_facts import SimulationFacts
    from lossless.analysis.topology.cabling_comparison import CablingComparison
    from lossless.formats.sonic.effective.programmed import Programmed
    from lossless.formats.sonic.read.tables import ConfigRow, Tables
    from lossless.formats.sonic.validate.conformity import ValidationResult
    from lossless.ground.basics.findings import Finding, Origin
    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.model.fabric.view import View


def computing_buffers(view: View) -> View:
    """Return a view with the buffers that switches of the dynamic model compute; without any, the same view."""
    if all(switch.qos.buffer_model != "dynamic" for switch in view.fabric.switches):
        return view
    from lossless.analysis.buffers.dynamic_model import with_computed_buffers
    from lossless.model.fabric.view import View

    return View(with_computed_buffers(view.fabric))


class Device:
    """A deployed device: its rows of CONFIG_DB, and the model that is built from them.

    ``intended`` is the switch of that name in an intent that is checked with it, None without one; ``without_rdma`` are
    the ports that are declared to carry no RDMA; ``programmed`` is the whole state that its daemons program, None where
    rules that ask for it have to derive it.
    """

    def __init__(
        self,
        tables: Tables,
        view: View,
        intended: Switch | None = None,
        without_rdma: frozenset[str] = frozenset(),
        programmed: Programmed | None = None,
    ) -> None:
        self.tables = tables
        self.view = view
        self.intended = intended
        self.without_rdma = without_rdma
        self._programmed = programmed

    @cached_property
    def buffers(self) -> View:
        """The view of the device with the buffers that the dynamic model computes."""
        return computing_buffers(self.view)

    @property
    def fabric(self) -> Fabric:
        """The fabric of this device alone."""
        return self.view.fabric

    @property
    def switch(self) -> Switch:
        """The switch of the model that is built from the rows of the device."""
        return self.view.fabric.switches[0]

    @property
    def metadata(self) -> Mapping[str, str]:
        """The fields of ``DEVICE_METADATA|localhost``, empty without that row."""
        row: ConfigRow | None = self.tables.row("DEVICE_METADATA", "localhost")
        return row.fields if row else {}

    @cached_property
    def programmed(self) -> Programmed:
        """The values that the daemons of the switch program from rows, without WRED profiles, queues and watchdogs."""
        from lossless.formats.sonic.effective.programmed import programmed

        return self._programmed or programmed(self.tables, self.switch, whole=False)

    @cached_property
    def bound_to_queues(self) -> Mapping[str, Mapping[int, Mapping[str, str]]]:
        """The names of the profiles and scheduler bound to queues, by port, queue number and kind of object.

        They are those in effect once all rows are applied.
        """
        from lossless.formats.sonic.effective.programmed import programmed

        ports = (self._programmed or programmed(self.tables, self.switch)).ports
        return {name: port.queues for name, port in ports.items()}

    @cached_property
    def conformity(self) -> ValidationResult:
        """The result of validating the file against SONiC's YANG models, computed once for all rules."""
        from lossless.formats.sonic.validate.conformity import validate

        return validate(self.tables.data)


class SwitchConfiguration(NamedTuple):
    """The configuration of a switch that does not run SONiC, and the view of it.

    ``intended`` is the switch of that name in an intent that is checked with it, None without one.
    """

    read: ReadSwitch
    view: View
    intended: Switch | None = None

    @property
    def is_named(self) -> bool:
        """Whether the lossless classes are named or declared, not inferred from the priorities with PFC."""
        return self.intended is not None or self.read.switch.classes.knowledge != "inferred"


OTHER_HWSKU = MissingInput(
    "the switch runs another HWSKU than its intent says, and its ports have other names"
)
"""The reason for not comparing the ports of a device with those of its intent."""


class IntendedHost(NamedTuple):
    """A host as read, and the host of the intent; ``names`` are all with the same settings and intent."""

    have: HostQos
    want: HostQos
    names: tuple[str, ...]


class FabricCabling(NamedTuple):
    """The view of the fabric of an intent, and the comparison of its cables with those in files."""

    view: View
    comparison: CablingComparison


class SimulationRun(NamedTuple):
    """The results of a run of the packet-level model, and the findings of other rules in the same files."""

    facts: SimulationFacts
    findings: tuple[Finding, ...] = ()


class UnusedSuppression(NamedTuple):
    """A suppression that hides no finding of ``rules``: of all its rules if ``is_whole``, else of some."""

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    is_whole: bool


class ExpiredSuppression(NamedTuple):
    """A suppression whose last day was ``until``; ``places`` is the number of findings it would hide."""

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    until: str
    places: int


class StaleBaselineEntry(NamedTuple):
    """An entry of a baseline whose finding no longer occurs in some or all of its places."""

    origin: Origin
    file: str
    object: str
    code: str


class SuppressionReview(NamedTuple):
    """The suppressions and baseline entries of a run that are unused, expired or stale."""

    unused: tuple[UnusedSuppression, ...] = ()
    expired: tuple[ExpiredSuppression, ...] = ()
    stale: tuple[StaleBaselineEntry, ...] = ()
