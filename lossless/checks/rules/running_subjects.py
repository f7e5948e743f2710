"""Subjects of rules on running state: a device by its captures, with its configuration and its intent."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.pfc.priorities import paused_priority, sent_priority
from lossless.formats.sonic.read.tables import Card, card_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Link, Port, Switch
    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.state import DeviceState


OTHER_CARD = MissingInput(
    "a queue is for a port of another card, and the own ports have different lossless classes"
)


class LosslessPort(NamedTuple):
    """The lossless priorities of a port, its queues that they pause, and its priority groups that send their pauses."""

    priorities: frozenset[int]
    queues: frozenset[int]
    groups: frozenset[int]


class RunningDevice:
    """A running device: its state by captures, its configuration and its intent.

    ``configured`` is None where no capture holds a usable configuration with ports; ``intended`` and ``intended_host``
    where no intent names the device. ``before`` is the same device at an earlier time, None where no capture of it was
    named. ``asics`` are the host and the ASICs of a switch that has several, each as a device of its own; rules of one
    device are given these, those of a whole fabric the switch.
    """

    def __init__(
        self,
        state: DeviceState,
        configured: Device | None = None,
        intended: Switch | None = None,
        intended_host: HostQos | None = None,
        before: DeviceState | None = None,
        asics: tuple[RunningDevice, ...] = (),
    ) -> None:
        self.state = state
        self.configured = configured
        self.intended = intended
        self.intended_host = intended_host
        self.before = before
        self.asics = asics

    @property
    def name(self) -> str:
        """The name of the device."""
        return self.state.name

    @property
    def switch(self) -> Switch | None:
        """The switch by the configuration, or by the intent where there is no configuration; None without either."""
        return self.configured.switch if self.configured is not None else self.intended

    @cached_property
    def ports(self) -> Mapping[str, Port]:
        """The ports by name, of all ASICs; empty where there is neither a configuration nor an intent."""
        if self.asics:
            return {name: port for asic in self.asics for name, port in asic.ports.items()}
        return {port.name: port for port in self.switch.ports} if self.switch is not None else {}

    @cached_property
    def lossless(self) -> Mapping[str, LosslessPort]:
        """The lossless priorities, queues and groups of each port with PFC, by the configuration or else the intent."""
        return {
            name: _lossless(port.qos)
            for name, port in self.ports.items()
            if port.qos is not None and port.qos.pfc.priorities
        }

    @cached_property
    def card(self) -> Card:
        """The hostname and the ASIC name by which system ports of a chassis refer to the device."""
        metadata = self.configured.metadata if self.configured is not None else {}
        card = card_of(metadata)
        return card if card.host is not None else Card(metadata.get("hostname", self.name), None)

    def own_port(self, name: str) -> str:
        """Return the own port that a system port stands for; any other name, or a port of another card, unchanged."""
        if "|" not in name:
            return name
        host, _, rest = name.partition("|")
        asic, _, port = rest.rpartition("|")
        own = self.card.is_named(host, asic) if asic else self.card.host == host
        return port if own else name

    def lossless_at(self, name: str) -> LosslessPort | MissingInput | None:
        """Return the lossless priorities, queues and groups of traffic to a port; None where there are none.

        A card of a chassis has queues for the ports of all cards. For a port of another card the maps of its own ports
        count, or a missing input is returned where these differ.
        """
        port = self.own_port(name)
        if "|" not in port or port in self.ports:
            return self.lossless.get(port)
        every = {*self.lossless.values()}
        return every.pop() if len(every) == 1 else OTHER_CARD if every else None


class RunningFabric(NamedTuple):
    """All devices with captures, and the links, switches and hosts of an intent that is checked with them.

    ``switches`` and ``hosts`` (the latter by name) include those of the intent without captures. ``pass_marks`` are
    the configured pass marks of traffic tests by file and key, in place of the default ones.
    """

    devices: tuple[RunningDevice, ...]
    links: tuple[Link, ...] = ()
    switches: tuple[Switch, ...] = ()
    pass_marks: Mapping[str, Mapping[str, float]] = {}
    hosts: Mapping[str, HostQos] = {}


def _lossless(qos: PortQos) -> LosslessPort:
    """Return the priorities with PFC of a port, the queues that they pause and the groups that send their pauses."""
    classes = range(8)
    return LosslessPort(
        frozenset(qos.pfc.priorities),
        frozenset(qos.queue_of(tc) for tc in classes if sent_priority(qos, tc) is not None),
        frozenset(qos.group_of(tc) for tc in classes if paused_priority(qos, tc) is not None),
    )
