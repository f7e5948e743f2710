"""What of a switch a deployed configuration can carry, for comparing what was declared with what is there.

``switch_view(read(render(switch))) == switch_view(switch)`` is the law of rendering; :data:`NOT_CARRIED` is the
one list of what CONFIG_DB has no place for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.known import UNKNOWN
from lossless.model.fabric.view import bare

if TYPE_CHECKING:
    from lossless.model.fabric.model import Port, Switch, SwitchQos

NOT_CARRIED: dict[str, str] = {
    "Switch.tier": "the tier of a device follows from its neighbors and its type, which its own provisioning writes",
    "Switch.device_type": "DEVICE_METADATA belongs to the device",
    "Switch.classes": "class names and the rest class exist only in an intent",
    "Switch.demand": "ports an intent asks for beyond those the switch has",
    "Cable.real_m": "CABLE_LENGTH holds the configured length, the next longer row of the HWSKU",
    "Port.leads_to": "what is at the other end is not part of a port's row",
    "Port.neighbor": "DEVICE_NEIGHBOR belongs to the device's own provisioning",
    "Port.admin_up": "PORT belongs to the device's own provisioning",
    "Port.placed": "a port without a place is never rendered",
    "Port.pfc_unwanted": "why a port has no PFC exists only in an intent",
    "Port.lag": "PORTCHANNEL_MEMBER belongs to the device's own provisioning; QoS rows are those of its members",
    "Port.spec": "lanes and aliases are the PORT row's; their number is compared",
    "Switch.unused": "ports without a link have no rows of their own; those that give their buffer back are ports",
    "Switch.idle": "whether a port without a link is up is for PORT to say",
    "Switch.release": "VERSIONS belongs to the device",
    "SwitchQos.headroom_oversubscription": "only what comes of it is configured: the size of the shared headroom, "
    "and in the dynamic model the ratio the device divides by",
    "SwitchQos.database_version": "VERSIONS belongs to the device",
    "SwitchQos.storage_backend": "DEVICE_METADATA belongs to the device",
    "SwitchQos.voq": "DEVICE_METADATA belongs to the device",
}
"""What a rendered configuration does not say, and why; everything else must survive rendering and reading."""


def switch_view(switch: Switch, counters: frozenset[str]) -> Any:
    """Return what a configuration says of a switch, comparable wherever its facts come from.

    ``counters`` names the flex counter groups of interest; a device's file holds others of its own.
    """
    ports = [port for port in switch.ports if port.qos is not None and port.placed]
    return (
        switch.name,
        switch.hwsku_name,
        tuple(sorted(_port(port) for port in ports)),
        _switch_qos(switch.qos, counters),
    )


def _port(port: Port) -> tuple[Any, ...]:
    """Speed, lanes and MTU are None where the file, a fragment, has no PORT table."""
    return (
        port.name,
        port.speed_bps,
        port.lanes,
        _known(port.mtu_bytes),
        port.cable.configured_m,
        port.asymmetric,
        bare(port.qos),
    )


def _known(value: Any) -> Any:
    return None if value is UNKNOWN else value


def _switch_qos(qos: SwitchQos, counters: frozenset[str]) -> tuple[Any, ...]:
    return (
        qos.buffer_model,
        bare(tuple(sorted(qos.pools))),
        qos.poll.poll_ms,
        tuple(sorted((group, on) for group, on in qos.counters if group in counters)),
        bare(qos.global_dscp_map),
        bare(qos.dynamic),
        bare(qos.tunnel),
        bare(qos.trimming),
    )
