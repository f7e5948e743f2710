"""What of a switch a deployed configuration can carry, for comparing what was declared with what is there.

``switch_view(read(render(switch))) == switch_view(switch)`` is the law of rendering; :data:`NOT_CARRIED` is the
one list of what CONFIG_DB has no place for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.switches.contract import SONIC_LOSSES
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.attributes import BY_KEY

if TYPE_CHECKING:
    from lossless.model.fabric.model import Switch

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


_LOST = {field for key in SONIC_LOSSES for field in BY_KEY[key].fields} - {"Port.mtu_bytes"}
"""Fields of attributes that no rendered row carries. The MTU is that of the base, which refuses a smaller one."""


def switch_view(switch: Switch, counters: frozenset[str]) -> Any:
    """Return what a configuration says of a switch, comparable wherever its facts come from.

    ``counters`` names the flex counter groups of interest; a device's file holds others of its own.
    """
    ports = [port for port in switch.ports if port.qos is not None and port.placed]
    polled = tuple(sorted((group, on) for group, on in switch.qos.counters if group in counters))
    qos = switch.qos._replace(pools=tuple(sorted(switch.qos.pools)), counters=polled)
    return switch.name, switch.hwsku_name, tuple(sorted(map(_carried, ports))), _carried(qos)


def _carried(value: Any) -> Any:
    """Return a value without origins, and without the fields that a configuration has no place for.

    The MTU is None where the file, a fragment, has no PORT table.
    """
    if not isinstance(value, tuple):
        return None if value is UNKNOWN else value
    fields = getattr(value, "_fields", ("",) * len(value))
    return tuple(
        _carried(item)
        for name, item in zip(fields, value, strict=True)
        if not name.endswith(("origin", "origins"))
        and f"{type(value).__name__}.{name}" not in NOT_CARRIED.keys() | _LOST
    )
