"""What rules are given beside the view of a fabric: the subjects of the registry, each as plain data."""

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
    """Return a view with the buffers that switches of the dynamic model compute, itself where none does."""
    if all(switch.qos.buffer_model != "dynamic" for switch in view.fabric.switches):
        return view
    from lossless.analysis.buffers.dynamic_model import with_computed_buffers
    from lossless.model.fabric.view import View

    return View(with_computed_buffers(view.fabric))


class Device:
    """A deployed device: its rows as they are written, and the model they make.

    ``intended`` is the switch of that name in an intent that is checked with it, None without one; ``without_rdma`` are
    the ports that are said to carry no RDMA.
    """

    def __init__(
        self,
        tables: Tables,
        view: View,
        intended: Switch | None = None,
        without_rdma: frozenset[str] = frozenset(),
    ) -> None:
        self.tables = tables
        self.view = view
        self.intended = intended
        self.without_rdma = without_rdma

    @cached_property
    def buffers(self) -> View:
        """The view of this device with the buffers that it computes for itself."""
        return computing_buffers(self.view)

    @property
    def fabric(self) -> Fabric:
        """The fabric of this device alone."""
        return self.view.fabric

    @property
    def switch(self) -> Switch:
        """The device in the model."""
        return self.view.fabric.switches[0]

    @property
    def metadata(self) -> Mapping[str, str]:
        """The fields of ``DEVICE_METADATA|localhost``, empty without that row."""
        row: ConfigRow | None = self.tables.row("DEVICE_METADATA", "localhost")
        return row.fields if row else {}

    @cached_property
    def programmed(self) -> Programmed:
        """What the switch's daemons make of its rows, but for queues and watchdogs."""
        from lossless.formats.sonic.effective.programmed import programmed

        return programmed(self.tables, self.switch, whole=False)

    @cached_property
    def bound_to_queues(self) -> Mapping[str, Mapping[int, Mapping[str, str]]]:
        """The names of what is bound to the queues of ports, by port, number and kind, once all rows are applied."""
        from lossless.formats.sonic.effective.programmed import programmed

        ports = programmed(self.tables, self.switch).ports
        return {name: port.queues for name, port in ports.items()}

    @cached_property
    def conformity(self) -> ValidationResult:
        """What SONiC's models refuse in the file, checked once for all rules of the schema."""
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
        """Whether a lossless class is named or declared, not inferred from what the switch pauses."""
        return self.intended is not None or self.read.switch.classes.knowledge != "inferred"


OTHER_HWSKU = MissingInput(
    "the switch runs another HWSKU than its intent says, and its ports have other names"
)
"""Why the ports of a device are not compared with those of its intent."""


class IntendedHost(NamedTuple):
    """A host as it was read, and as an intent wants it; ``names`` are all hosts of which the same was read."""

    have: HostQos
    want: HostQos
    names: tuple[str, ...]


class FabricCabling(NamedTuple):
    """The fabric of an intent, and its cables against those that files tell of."""

    view: View
    comparison: CablingComparison


class SimulationRun(NamedTuple):
    """What a run of the packet-level model showed, and the findings of other rules in the same files."""

    facts: SimulationFacts
    findings: tuple[Finding, ...] = ()


class UnusedSuppression(NamedTuple):
    """A suppression that hides no finding of ``rules``, some or all of those it names."""

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    is_whole: bool


class ExpiredSuppression(NamedTuple):
    """A suppression whose last day was ``until``; ``places`` is how many findings it would hide."""

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    until: str
    places: int


class StaleBaselineEntry(NamedTuple):
    """An entry of a baseline that is not found any more, in all or some of its places."""

    origin: Origin
    file: str
    object: str
    code: str


class SuppressionReview(NamedTuple):
    """The suppressions and baseline entries of a run that hide nothing, or should not any more."""

    unused: tuple[UnusedSuppression, ...] = ()
    expired: tuple[ExpiredSuppression, ...] = ()
    stale: tuple[StaleBaselineEntry, ...] = ()
