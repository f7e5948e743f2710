"""What rules about running state are given: one device as captures show it, beside what is configured and intended."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput
from lossless.checks.rules.pfc.priorities import paused_priority, sent_priority
from lossless.formats.sonic.read.system_ports import Card, card_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.checks.rules.subjects import Device
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Link, Port, Switch
    from lossless.model.fabric.qos import PortQos
    from lossless.model.fabric.state.device_state import DeviceState


OTHER_CARD = MissingInput(
    "a queue is for a port of another card, and the own ports have different lossless classes"
)


class LosslessPort(NamedTuple):
    """What of a port is lossless by its configuration: priorities, queues and groups."""

    priorities: frozenset[int]
    queues: frozenset[int]
    groups: frozenset[int]


class RunningDevice:
    """A device that runs: what captures say of it, its configuration, and what an intent wants of it.

    ``configured`` is None where no capture holds the configuration, ``intended`` and ``intended_host`` where no intent
    names the device. ``before`` is the same device at an earlier time, None where no capture of it was named.
    ``asics`` are the ASICs of a switch that has several, each as a device of its own; rules of one device are given
    these, those of a whole fabric the switch.
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
        """What it is called."""
        return self.state.name

    @property
    def switch(self) -> Switch | None:
        """The switch that its configuration makes, or that its intent wants without one; None without either."""
        return self.configured.switch if self.configured is not None else self.intended

    @cached_property
    def ports(self) -> Mapping[str, Port]:
        """Its ports by name; empty where neither a configuration nor an intent says which it has."""
        if self.asics:
            return {name: port for asic in self.asics for name, port in asic.ports.items()}
        return {port.name: port for port in self.switch.ports} if self.switch is not None else {}

    @cached_property
    def lossless(self) -> Mapping[str, LosslessPort]:
        """What is lossless on each port, by its configuration, or by its intent without one; empty without either."""
        return {
            name: _lossless(port.qos)
            for name, port in self.ports.items()
            if port.qos is not None and port.qos.pfc.priorities
        }

    @cached_property
    def card(self) -> Card:
        """How system ports of a chassis call it."""
        metadata = self.configured.metadata if self.configured is not None else {}
        card = card_of(metadata)
        return card if card.host is not None else Card(metadata.get("hostname", self.name), None)

    def own_port(self, name: str) -> str:
        """Return the port that a name of a system port is for, the name itself where that is no port of its own."""
        if "|" not in name:
            return name
        host, _, rest = name.partition("|")
        asic, _, port = rest.rpartition("|")
        own = self.card.is_named(host, asic) if asic else self.card.host == host
        return port if own else name

    def lossless_at(self, name: str) -> LosslessPort | MissingInput | None:
        """Return what is lossless of what is sent to a port, by the maps of the own ports where it is of another card.

        None: nothing is. A card queues what it received for the ports of all cards.
        """
        port = self.own_port(name)
        if "|" not in port or port in self.ports:
            return self.lossless.get(port)
        every = {*self.lossless.values()}
        return every.pop() if len(every) == 1 else OTHER_CARD if every else None


class RunningFabric(NamedTuple):
    """All devices of which captures were read, and the links and switches of an intent that is checked with them.

    ``switches`` are those of the intent, also where no capture of one was read.
    """

    devices: tuple[RunningDevice, ...]
    links: tuple[Link, ...] = ()
    switches: tuple[Switch, ...] = ()


def _lossless(qos: PortQos) -> LosslessPort:
    """Return the queues and groups that pauses of a port's priorities are for."""
    classes = range(8)
    return LosslessPort(
        frozenset(qos.pfc.priorities),
        frozenset(qos.queue_of(tc) for tc in classes if sent_priority(qos, tc) is not None),
        frozenset(qos.group_of(tc) for tc in classes if paused_priority(qos, tc) is not None),
    )
