"""The attributes of a switch: one table of its QoS, PFC, buffer and port settings, by which switches are compared.

Every field of the records of a switch is reached by an attribute or is in :data:`NO_ATTRIBUTE` with the reason
(``tests/model/fabric/test_attributes.py``), and every system declares for each key that its files carry it, or why not.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES
from lossless.model.fabric.qos import COLOURS, DSCPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.qos import PortQos

Owner = Literal["switch", "port", "priority", "queue"]
NOT_SAID = object()
"""The value of an attribute that the configuration does not declare for a port, priority or queue."""


class Place(NamedTuple):
    """The source of an attribute's value: a port of a switch, and the number of a PFC priority or queue, else -1."""

    switch: Switch
    port: Port
    qos: PortQos
    number: int = -1


class Attribute(NamedTuple):
    """One setting of a switch.

    ``owner`` is the kind of object that has a value of it: switch, port, priority or queue. ``paths`` are its keys in
    an intent, and ``fields`` those of the records that store it. ``value`` is the function that reads it; None for an
    attribute by which no two switches are compared. ``unset`` is the value without a declaration in an intent.
    ``label`` is the name of a single value in a comparison, where that is not ``title``.
    """

    key: str
    title: str
    owner: Owner
    paths: tuple[str, ...]
    fields: tuple[str, ...]
    value: Callable[[Place], Any] | None
    unset: Any = None
    unit: str = ""
    label: str = ""

    def shown(self, what: str) -> str:
        """Return the title of the attribute, with a queue or priority (``queue 3``) in parentheses, if any."""
        return f"{self.title} ({what})" if what else self.title


def _dscp(at: Place) -> Any:
    qos = at.qos
    return (
        NOT_SAID if qos.dscp_to_tc is None else tuple(qos.queue_of(qos.traffic_class(dscp)) for dscp in DSCPS)
    )


def _paused(at: Place) -> tuple[int, ...]:
    qos, group = at.qos, at.qos.pausing_group(at.number)
    return tuple(dscp for dscp in DSCPS if qos.group_of(qos.traffic_class(dscp)) == group)


def _scheduler(at: Place) -> Any:
    queue = at.qos.queues[at.number]
    if queue is None or queue.scheduler is None:
        return NOT_SAID
    kind = queue.scheduler.kind
    return kind, None if kind == "STRICT" else queue.scheduler.weight


def _marking(colour: str) -> Callable[[Place], Any]:
    """Return the reader of a queue's WRED curve of a color.

    It gives None without WRED, for green where it is off, and for another color with the curve of green.
    """

    def value(at: Place) -> Any:
        queue = at.qos.queues[at.number]
        if queue is None or queue.wred is None:
            return None
        curve, green = getattr(queue.wred, colour), queue.wred.green
        if curve == green if colour != "green" else not green.enabled:
            return None
        return curve.marks, *curve.thresholds

    return value


def _watchdog(field: str) -> Callable[[Place], Any]:
    def value(at: Place) -> Any:
        watchdog = at.qos.watchdog if at.qos.pfc.priorities else None
        return watchdog and getattr(watchdog, field)

    return value


def _forced(at: Place) -> bool:
    """Return whether a queue is restored although pauses go on; False without a watchdog or with an unknown rule."""
    return bool(_watchdog("recovery")(at) == "fixed")


def _poll(at: Place) -> Any:
    return at.switch.qos.poll.poll_ms if at.qos.watchdog and at.qos.pfc.priorities else None


def _of_switch(field: str) -> Callable[[Place], bool]:
    return lambda at: bool(getattr(at.switch.qos, field))


def _of(record: str, fields: str) -> tuple[str, ...]:
    return tuple(f"{record}.{field}" for field in fields.split())


ATTRIBUTES = (
    Attribute(
        "dscp",
        "the queue of a DSCP",
        "port",
        ("classes.NAME.dscp", "classes.NAME.priority"),
        ("PortQos.dscp_to_tc", "PortQos.tc_to_queue", "IndexMap.targets", "Queue.number"),
        _dscp,
    ),
    Attribute(
        "pfc",
        "the priorities that are paused",
        "port",
        ("classes.NAME.lossless", "pfc.tiers"),
        ("PortQos.pfc", "PortQos.pfc_to_queue", "PriorityMask.priorities", "PriorityMask.undecided"),
        lambda at: at.qos.pfc.priorities,
        unset=(),
        label="the set of paused priorities",
    ),
    Attribute(
        "paused",
        "the DSCPs that a pause stops",
        "priority",
        ("classes.NAME.pg",),
        ("PortQos.tc_to_pg", "PortQos.pfc_to_pg", "PortQos.groups", "PriorityGroup.number"),
        _paused,
        label="the set of DSCPs that a pause of {} stops",
    ),
    Attribute(
        "scheduler",
        "how a queue is served",
        "queue",
        ("classes.NAME.scheduling", "classes.NAME.bandwidth"),
        ("Queue.scheduler", "Scheduler.kind", "Scheduler.weight"),
        _scheduler,
        label="the scheduling of {}",
    ),
    Attribute(
        "ecn",
        "the marking curve of a queue",
        "queue",
        ("classes.NAME.ecn",),
        ("Queue.wred", "Wred.green", *_of("Curve", "enabled marks min_bytes max_bytes probability_percent")),
        _marking("green"),
        label="ECN of {}",
    ),
    *(
        Attribute(
            f"ecn.{colour}",
            f"the marking curve of {colour} packets",
            "queue",
            (f"classes.NAME.ecn.{colour}",),
            (f"Wred.{colour}",),
            _marking(colour),
            label=f"ECN of {colour} packets of {{}}",
        )
        for colour in COLOURS[1:]
    ),
    Attribute(
        "watchdog",
        "whether the watchdog is on",
        "port",
        ("pfc.watchdog", "exceptions.NAME.watchdog"),
        ("PortQos.watchdog", "PortQos.watchdog_mask"),
        lambda at: at.qos.watchdog is not None and bool(at.qos.pfc.priorities),
        unset=False,
    ),
    Attribute(
        "watchdog.detection",
        "the watchdog's detection time",
        "port",
        (
            "pfc.watchdog.detection",
            "pfc.watchdog.by_tier.NAME.detection",
            "exceptions.NAME.watchdog.detection",
        ),
        ("Watchdog.detection_ms",),
        _watchdog("detection_ms"),
        unit="ms",
    ),
    Attribute(
        "watchdog.restoration",
        "the watchdog's restoration time",
        "port",
        (
            "pfc.watchdog.restoration",
            "pfc.watchdog.by_tier.NAME.restoration",
            "exceptions.NAME.watchdog.restoration",
        ),
        ("Watchdog.restoration_ms",),
        _watchdog("restoration_ms"),
        unit="ms",
    ),
    Attribute(
        "watchdog.forced",
        "whether the watchdog restores a queue during pauses",
        "port",
        ("pfc.watchdog.restoration",),
        ("Watchdog.recovery",),
        _forced,
        unset=False,
    ),
    Attribute(
        "watchdog.action",
        "the watchdog's action",
        "port",
        ("pfc.watchdog.action", "pfc.watchdog.by_tier.NAME.action", "exceptions.NAME.watchdog.action"),
        ("Watchdog.action",),
        _watchdog("action"),
    ),
    Attribute(
        "watchdog.poll",
        "the watchdog's poll interval",
        "switch",
        ("pfc.watchdog.poll", "pfc.watchdog.by_tier.NAME.poll"),
        ("SwitchQos.poll", "WatchdogPoll.poll_ms"),
        _poll,
        unit="ms",
    ),
    Attribute(
        "asymmetric",
        "asymmetric PFC",
        "port",
        ("pfc.asymmetric", "exceptions.NAME.asymmetric"),
        ("Port.asymmetric",),
        lambda at: at.port.asymmetric,
        unset=False,
    ),
    Attribute(
        "cable",
        "the length of cables",
        "port",
        ("topology.SHAPE.cables",),
        ("Port.cable", "Cable.configured_m", "Cable.real_m"),
        lambda at: at.port.cable.known_m if at.qos.pfc.priorities else None,
        unit="m",
        label="the length of the cable",
    ),
    Attribute(
        "buffers",
        "buffers and headroom",
        "switch",
        ("classes.NAME.buffer", "classes.NAME.queue", "buffers"),
        (
            *_of("PriorityGroup", "buffer generated override"),
            "Queue.buffer",
            "PortQos.profile_lists",
            *_of("BufferProfile", "pool reserved_bytes headroom_bytes xon_bytes xon_offset_bytes"),
            *_of("BufferProfile", "dynamic_th static_th_bytes"),
            *_of("SwitchQos", "buffer_model pools dynamic"),
            *_of("Pool", "kind mode size_bytes shared_headroom_bytes percent"),
            *_of(
                "DynamicBuffers",
                "default_dynamic_th oversubscription lossless_mtu_bytes small_packet_percent",
            ),
        ),
        None,
    ),
    Attribute(
        "adaptive",
        "adaptive routing",
        "port",
        ("topology.routing.load_balancing",),
        ("Port.adaptive",),
        lambda at: at.port.adaptive or NOT_SAID,
    ),
    Attribute(
        "mtu",
        "the MTU of ports",
        "port",
        ("mtu", "exceptions.NAME.mtu"),
        ("Port.mtu_bytes",),
        lambda at: at.port.mtu_bytes if isinstance(at.port.mtu_bytes, int) else NOT_SAID,
        unset=DEFAULT_SWITCH_MTU_BYTES,
        unit="B",
    ),
    Attribute(
        "trimming",
        "the trimming of packets",
        "switch",
        ("trimming",),
        (
            "SwitchQos.trimming",
            "BufferProfile.trims",
            *_of("TrimSettings", "size_bytes dscp traffic_class queue"),
        ),
        _of_switch("trimming"),
        unset=False,
    ),
    Attribute(
        "tunnel",
        "the maps of the tunnel between dual ToRs",
        "switch",
        ("topology.SHAPE.dual_tor",),
        (
            "SwitchQos.tunnel",
            *_of("TunnelMaps", "dscp_to_tc tc_to_pg tc_to_queue tc_to_dscp"),
        ),
        _of_switch("tunnel"),
        unset=False,
    ),
)
"""All attributes of a switch; those of one owner that follow each other are read together."""
BY_KEY = {attribute.key: attribute for attribute in ATTRIBUTES}
_PROVISIONING = "ports belong to the provisioning of a device; an intent says which of them it uses"
_NAMED = "a name means nothing by itself; what is named is compared"
_PLACE = "where a value is written carries no meaning"
_READ = "no intent states it; rules read it of deployed files"
NO_ATTRIBUTE = {
    **dict.fromkeys(("origin", "origins", "buffer_origin", "wred_origin"), _PLACE),
    "name": _NAMED,
    **dict.fromkeys(_of("Port", "speed_bps lanes admin_up neighbor placed lag spec"), _PROVISIONING),
    "Port.qos": "what the other attributes say",
    "Port.leads_to": "what is at the other end is not set at a port",
    "Port.pfc_unwanted": "why a port has no PFC exists only in an intent",
    **dict.fromkeys(
        (
            "Port.offered_bps",
            *_of("PortQos", "trust_dot1p dot1p_to_tc queues"),
            *_of("Scheduler", "cir pir meter"),
            "SwitchQos.voq",
            *_of("SwitchQos", "global_dscp_map database_version storage_backend no_default_watchdog"),
        ),
        _READ,
    ),
    "SwitchQos.counters": "SONiC polls counters where it is told to; it changes nothing for traffic",
    "SwitchQos.headroom_oversubscription": "what comes of it is configured: the size of the shared headroom",
    **dict.fromkeys(
        (
            *_of("Switch", "tier hwsku_name profile hwsku classes ports demand qos release unused idle"),
            *_of("Switch", "device_type format shares_in_percent"),
        ),
        "which device it is, and what an intent asks of it; no setting of it",
    ),
}
"""Fields of a switch's records without an attribute, each with the reason: by record and name, or by name in all."""


_OF_PORTS = tuple(
    field.removeprefix("Port.")
    for attribute in ATTRIBUTES
    for field in attribute.fields
    if field.startswith("Port.")
)
"""Fields of the port record that attributes read."""


def settings(
    switch: Switch, port: Port, qos: PortQos, attributes: Sequence[Attribute] = ATTRIBUTES
) -> Iterator[tuple[Attribute, str, Any]]:
    """Yield each compared attribute of a port, its queue or priority (``queue 3``) or "", and its value.

    Values that are NOT_SAID are left out. A value may be None, for example of a setting that is
    off, or a cable of unknown length.
    """
    numbers = {
        "priority": qos.pfc.priorities,
        "queue": tuple(queue.number for queue in qos.queues if queue is not None),
    }
    for owner, of_owner in groupby(attributes, lambda attribute: attribute.owner):
        readers = [(attribute, attribute.value) for attribute in of_owner if attribute.value is not None]
        for number in numbers.get(owner, (-1,)):
            at, what = Place(switch, port, qos, number), f"{owner} {number}" if owner in numbers else ""
            for attribute, read in readers:
                if (value := read(at)) is not NOT_SAID:
                    yield attribute, what, value


def is_set(attribute: Attribute, switch: Switch) -> bool:
    """Return whether a placed port with QoS sets an attribute; True for one not compared (``value`` is None).

    Set is any value other than ``unset``.
    """
    ports = {
        (id(port.qos), *(getattr(port, field) for field in _OF_PORTS)): port
        for port in switch.ports
        if port.placed
    }
    return attribute.value is None or any(
        value != attribute.unset
        for port in ports.values()
        if port.qos is not None
        for _, _, value in settings(switch, port, port.qos, (attribute,))
    )
