"""The interface of a dialect, the configuration language of one network operating system; two switches compared.

All other code works with switches of the fabric model. A dialect recognizes a configuration, makes a switch of it,
finds settings that the system refuses or leaves without effect, lists rules that cannot apply to it with the reason,
and has the words in which its operators describe a finding. It also makes the files of a switch, and the commands from
one configuration to another.

Switches are compared by their attributes, whichever system they run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.attributes import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.text import Document
    from lossless.model.fabric.configured_switch import ReadSwitch, Words
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import PortQos


class ConfigurationFile(NamedTuple):
    """A file that configures a switch: its name, the template that lays it out, and the template's content.

    ``target`` is its place on the switch, ``apply`` the commands that load it, each empty if there is none; ``why`` are
    notes on its use and effects. ``whole``: it has everything that the dialect can express, and so can be read back.
    """

    name: str
    template: str
    content: Mapping[str, Any]
    target: str
    apply: tuple[str, ...]
    why: str
    whole: bool = True


CARRIED_BY_ALL = frozenset({"dscp", "pfc", "paused", "scheduler", "ecn", "watchdog"})
"""Attributes of :mod:`lossless.model.fabric.attributes` that the files of every dialect carry."""
_ONE_CURVE = "one curve is set for a queue, and holds for packets of all colors"
CARRIED_BY_NONE = {
    "asymmetric": "PFC of a port has one set of priorities: it sends and obeys pauses of the same",
    "ecn.yellow": _ONE_CURVE,
    "ecn.red": _ONE_CURVE,
    "mtu": "the MTU of an interface belongs to its own provisioning",
    "trimming": "it is rendered for SONiC alone: queues drop",
    "tunnel": "dual ToRs are rendered for SONiC alone",
}
"""Attributes that the files of no dialect carry, with why."""
NO_FORCED_RECOVERY = {"watchdog.forced": "no line sets whether pauses hold restoration up"}
"""The loss of systems with one rule of restoration."""
SONIC_LOSSES = {
    **NO_FORCED_RECOVERY,
    "adaptive": "no SONiC up to 202605 has adaptive routing (ARS): it is in no model and not in orchagent, as pull "
    "requests alone (sonic-buildimage 22264, sonic-swss 3597)",
    "mtu": "the device's own provisioning sets it in PORT; a base with a smaller MTU is refused",
}
"""Attributes that the rendered rows of CONFIG_DB do not carry, with why; they carry all others."""
NO_ADAPTIVE_ROUTING = {"adaptive": "no command for adaptive routing is written"}
"""The loss of dialects whose files do not turn adaptive routing on."""
_NO_PROFILE = "no buffer profile limits a queue"
NOT_APPLICABLE_TO_ANY = {
    "BUF013": _NO_PROFILE,
    "ECN010": "the values are defaults of SONiC's templates",
    "ECN012": _NO_PROFILE,
    "WD008": "transports of hosts are compared with the watchdogs of SONiC alone",
}
"""Codes of fabric rules that apply to no dialect, with why."""


class Carrying(NamedTuple):
    """The way in which a switch takes a change: ``file`` holds its commands, and is their place among those to run.

    ``begin`` comes before the commands, ``commit`` after them, ``confirm`` after a successful check; ``check`` shows
    the running configuration, ``back`` undoes the change before it is confirmed. ``{name}`` is a name of the change.
    ``why`` lists known and unknown effects during the change. For a change of the parts ``drained`` the switch must
    carry no jobs.
    """

    file: str
    begin: tuple[str, ...]
    commit: tuple[str, ...]
    check: tuple[str, ...]
    confirm: tuple[str, ...]
    back: tuple[str, ...]
    why: str
    drained: frozenset[str] = frozenset()


class Dialect(NamedTuple):
    """The configuration language of one network operating system: how to read, check, write and change its files.

    ``reads`` and ``writes`` describe its files, ``checked_with`` names the reference for both directions.
    ``recognizes`` returns whether a text is in it, ``recognizes_data`` the same of a YAML file's data, with ``in_json``
    of a JSON file too. ``document`` reads a text, and ``read`` makes the switch of a document; its second argument
    names the DSCPs that must be lossless. ``not_applicable`` are the codes of rules of fabrics that have no meaning
    here, with the reason, as docs/dialects.md lists them; ``words`` are by code, or by code and severity if one code
    has several messages. ``files`` makes the files of a switch. For each attribute of
    :mod:`lossless.model.fabric.attributes` the dialect declares that its files carry it (``carries``), or the reason
    why not (``losses``). ``session`` makes the commands that turn one configuration into another, with removals of
    what the files can have, and ``carrying`` describes how a switch takes them. ``shares_in_percent``: queues of a port
    whose shares add up to more than 100 % are refused.
    """

    reads: str
    writes: str
    checked_with: str
    recognizes: Callable[[str], bool]
    recognizes_data: Callable[[Mapping[object, object]], bool]
    document: Callable[[str, str], Document]
    read: Callable[[Document, tuple[int, ...]], ReadSwitch]
    not_applicable: Mapping[str, str]
    words: Mapping[str, Words]
    files: Callable[[Switch], tuple[ConfigurationFile, ...]]
    carries: frozenset[str]
    losses: Mapping[str, str]
    session: Callable[[Document, Document], tuple[str, ...]]
    carrying: Carrying
    in_json: bool = False
    shares_in_percent: bool = False


PORT_TABLE = "port"
"""The table name of differences of a dialect, which has no tables: its differences are listed port by port."""


class Difference(NamedTuple):
    """A setting of a port that differs: its attribute, its queue or priority, the declared and the read value."""

    port: str
    part: str
    what: str
    declared: Any
    read: Any


def differences(declared: Switch, read: Switch, without: Mapping[str, str]) -> Iterator[Difference]:
    """Yield the declared QoS settings of placed ports that differ in the read switch, without those in ``without``."""
    ports = {port.name: port for port in read.ports}
    for port in declared.ports:
        if not port.placed or port.qos is None:
            continue
        own = dict(_parts(declared, port, port.qos))
        other = ports.get(port.name)
        said = dict(_parts(read, other, other.qos)) if other is not None and other.qos is not None else {}
        for (part, what), value in own.items():
            if part not in without and said.get((part, what)) != value:
                yield Difference(port.name, part, what, value, said.get((part, what)))


def meaning(switch: Switch, without: Mapping[str, str]) -> list[dict[tuple[str, str], Any]]:
    """Return the settings of each placed port with QoS, in port order, except attributes in ``without``.

    Ports have no names here, because each system has its own."""
    return [
        {key: value for key, value in _parts(switch, port, port.qos) if key[0] not in without}
        for port in switch.ports
        if port.placed and port.qos is not None
    ]


def _parts(switch: Switch, port: Port, qos: PortQos) -> Iterator[tuple[tuple[str, str], Any]]:
    return (((attribute.key, what), value) for attribute, what, value in settings(switch, port, qos))
