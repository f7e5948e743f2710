"""The severity of rows that are not applied, by their effect on the lossless classes of a switch.

A rule about a row reports that orchagent refuses it. That is an error where a lossless class needs the row, or where
ports wait for it; where it belongs to lossy queues, spare objects or missing ports, no lossless traffic suffers, and it
is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.effective.objects import index_range, tokens
from lossless.formats.sonic.effective.programmed import PORT_FIELDS
from lossless.formats.sonic.read.tables import names_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.effective.objects import Fields
    from lossless.ground.basics.findings import Severity

THROWS = (
    "up to release 202511 the exception ends orchagent and takes the whole switch down; later it is caught"
)
"""The effect of a row that orchagent throws on, by release."""
_NAMED_BY = {
    "BUFFER_POOL": (("BUFFER_PROFILE", "pool"),),
    "BUFFER_PROFILE": (("BUFFER_PG", "profile"), ("BUFFER_QUEUE", "profile")),
    "WRED_PROFILE": (("QUEUE", "wred_profile"),),
    "SCHEDULER": (("QUEUE", "scheduler"), ("PORT_QOS_MAP", "scheduler")),
    **{target: (("PORT_QOS_MAP", field),) for field, target in PORT_FIELDS.items() if target != "SCHEDULER"},
}
"""The tables and fields that name an object, by the table of the object."""


def severity_of(device: Device, table: str, keys: Iterable[str]) -> Severity | None:
    """Return the severity of rows that are not applied: None, the rule's own, where one of them does harm.

    A lossless class needs it, ports wait for it, or other rows fail with it.
    Without ports, in a part of a configuration, the users of the rows are unknown.
    """
    if not device.tables.table("PORT") or any(_is_needed(device, table, key) for key in keys):
        return None
    return "warning"


def keeps_ports_waiting(device: Device, table: str, key: str) -> bool:
    """Return whether a row is not applied and a port in its key is not ready."""
    state = device.programmed
    return (table, key) in state.fates and any(port in state.unready for port in _ports(key))


def _is_needed(device: Device, table: str, key: str) -> bool:
    """Return whether a lossless class needs a row or one that names it, ports wait for it, or others fail with it."""
    if table in _NAMED_BY:
        return any(_is_needed(device, *user) for user in _users(device, table, key))
    if table == "PORT_QOS_MAP" and key == "global":
        return _serves_others(device)
    return (
        keeps_ports_waiting(device, table, key)
        or _fails_for_all(device, table, key)
        or any(_port_needs(device, table, key, port) for port in _ports(key))
    )


def _fails_for_all(device: Device, table: str, key: str) -> bool:
    """Return whether orchagent crashes on a profile list, or the lists of all ports fail with it.

    Up to release 202411 a call to the chip that fails aborts orchagent (sonic-swss orchagent/saihelper.cpp @8aa8f0f,
    handleSaiSetStatus).
    """
    state = device.programmed
    fate = state.fates.get((table, key))
    return state.ended == (table, key) or (fate is not None and fate.on == (table, key))


def _users(device: Device, table: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the rows that name an object, those that buffermgrd writes among them."""
    for user, field in _NAMED_BY[table]:
        rows: dict[str, Fields] = {key: row.fields for key, row in device.tables.written(user).items()}
        rows.update(
            (key, fields) for (made, key), fields in device.programmed.generated.items() if made == user
        )
        yield from ((user, key) for key, fields in rows.items() if name in names_in(fields.get(field, "")))


def _serves_others(device: Device) -> bool:
    """Return whether a port with PFC and no DSCP map of its own uses that of ``PORT_QOS_MAP|global``."""
    rows = device.tables.table("PORT_QOS_MAP")
    return any(
        port.name in rows and "dscp_to_tc_map" not in rows[port.name].fields
        for ports in device.view.lossless_sets
        for port in ports.ports
    )


def _port_needs(device: Device, table: str, key: str, name: str) -> bool:
    """Return whether the lossless classes of a port need a row of it."""
    port = device.view.port(device.switch.name, name)
    if port is None or port.qos is None:
        return False
    if table in ("PORT_QOS_MAP", "PFC_WD"):
        return bool(port.qos.pfc.priorities)
    if table == "QUEUE":
        used = {*map(port.qos.queue_of, port.qos.pfc.priorities)}.intersection(_numbers(key))
        return any(_lacks_what_a_row_binds(device, key, name, number) for number in used)
    if table == "BUFFER_PG":
        paused = {*map(port.qos.pausing_group, port.qos.pfc.priorities)}
        return any(lacks_headroom(device, name, group) for group in paused.intersection(_numbers(key)))
    # The chip gives a queue without BUFFER_QUEUE, and a port without lists, a buffer of its own (BUF022).
    return False


_BOUND = {"scheduler": "scheduler", "wred_profile": "wred"}


def _lacks_what_a_row_binds(device: Device, key: str, name: str, number: int) -> bool:
    """Return whether a port's queue lacks the scheduler or WRED profile that a QUEUE row names, or the row is gone."""
    row = device.tables.written("QUEUE").get(key)
    bound = device.bound_to_queues.get(name, {}).get(number, {})
    return row is None or any(_BOUND[field] not in bound for field in row.fields.keys() & _BOUND)


def lacks_headroom(device: Device, name: str, group: int) -> bool:
    """Return whether a port's group is known to be programmed without headroom, even if its row names a profile."""
    state = device.programmed
    if name in state.undecided or name not in state.ports:
        return False
    profile = state.ports[name].groups.get(group, "")
    settings = state.profiles.get(profile)
    return profile not in state.computed and not (settings and settings.xoff_bytes)


def _ports(key: str) -> list[str]:
    """Return the ports in a key; that of a queue of a chassis names host and ASIC before them."""
    place = key.rpartition("|")[0] if "|" in key else key
    return tokens(place.rpartition("|")[2], ",")


def _numbers(key: str) -> range | set[int]:
    """Return the queues or groups in a key; where orchagent reads none, those that were probably intended."""
    text = key.rpartition("|")[2]
    numbers = index_range(text)
    if isinstance(numbers, range):
        return numbers
    return {int(part) for part in text.replace(",", "-").split("-") if part.isascii() and part.isdecimal()}
