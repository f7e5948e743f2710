"""What CONFIG_DB rows do to RDMA packets, read from the rows alone: no rule, trace or model of ours is asked.

A port serves a DSCP where the switch neither drops it under congestion nor lets it go unpaused, unwatched or unmarked;
a link serves it where what one end sends with a priority is what the other end pauses with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from lossless.model.fabric.hosts import HostQos

Config = dict[str, dict[str, Any]]
Rows = "Mapping[str, Mapping[str, Any]]"
NAMED = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "profile": "BUFFER_PROFILE",
    "profile_list": "BUFFER_PROFILE",
    "wred_profile": "WRED_PROFILE",
    "scheduler": "SCHEDULER",
    "pool": "BUFFER_POOL",
}
"""The table that a field names a row of."""
PORT_TABLES = (
    "BUFFER_PG",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_QUEUE",
    "PORT_QOS_MAP",
    "QUEUE",
)
"""Tables that the updater changes only while the port is down."""

_REFERRING = frozenset({*PORT_TABLES, "BUFFER_PROFILE"})
_COMPUTED = 10**9


class Served(NamedTuple):
    """How a port treats one DSCP: bytes of headroom where it comes in, and the priorities that pause it.

    ``paused`` is the priority that this port tells its neighbor to stop, ``obeyed`` the one that stops its own queue;
    None where it does neither. ``pools`` are those it fills.
    """

    headroom: int
    paused: int | None
    obeyed: int | None
    watched: bool
    marked: bool
    pools: tuple[str | None, str | None]


class Fault(NamedTuple):
    """One thing that is wrong: what, where and for which DSCP."""

    what: str
    place: str
    dscp: int


def served(config: Config, port: str, dscp: int, *, entered: str | None = None) -> Served:
    """Return how a port of a configuration treats a DSCP; ``entered`` is where its packets came in, if elsewhere."""
    qos = config.get("PORT_QOS_MAP", {}).get(port, {})
    came_in = config.get("PORT_QOS_MAP", {}).get(entered, {}) if entered else qos
    tc = _through(config, came_in, "dscp_to_tc_map", dscp)
    group, queue = _through(config, qos, "tc_to_pg_map", tc), _through(config, qos, "tc_to_queue_map", tc)
    pauses = _numbers(qos.get("pfc_enable"))
    watched = _numbers(qos.get("pfcwd_sw_enable")) if "pfcwd_sw_enable" in qos else pauses
    paused = next((p for p in sorted(pauses) if _through(config, qos, "pfc_to_pg_map", p) == group), None)
    obeyed = next((p for p in sorted(pauses) if _through(config, qos, "pfc_to_queue_map", p) == queue), None)
    into = _named(config, "BUFFER_PROFILE", _of(config, "BUFFER_PG", port, group).get("profile"))
    out = _named(config, "BUFFER_PROFILE", _of(config, "BUFFER_QUEUE", port, queue).get("profile"))
    watchdog = config.get("PFC_WD", {})
    return Served(
        headroom=_headroom(config, port, group),
        paused=paused,
        obeyed=obeyed,
        watched=bool(watchdog.get(port, {}).get("action"))
        and "POLL_INTERVAL" in watchdog.get("GLOBAL", {})
        and obeyed in watched,
        marked=_marks(_named(config, "WRED_PROFILE", _of(config, "QUEUE", port, queue).get("wred_profile"))),
        pools=(into.get("pool"), out.get("pool")),
    )


def _headroom(config: Config, port: str, group: int | None) -> int:
    """Return the bytes of headroom of a group; where the switch computes them, more for a longer cable."""
    name = _of(config, "BUFFER_PG", port, group).get("profile")
    profile = _named(config, "BUFFER_PROFILE", name)
    if name == "NULL" or profile.get("headroom_type") == "dynamic":
        model = config.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model")
        length = next((row[port] for row in config.get("CABLE_LENGTH", {}).values() if port in row), "0m")
        return _COMPUTED + int(length.rstrip("m")) if model == "dynamic" else 0
    return int(profile.get("xoff", 0))


def _marks(profile: Mapping[str, Any]) -> bool:
    return (
        profile.get("ecn") in ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")
        and profile.get("wred_green_enable") == "true"
        and all(f"green_{name}_threshold" in profile for name in ("min", "max"))
    )


def _through(config: Config, qos: Mapping[str, Any], field: str, number: int | None) -> int | None:
    """Return what a map of a port makes of a number, None where there is no entry, the number itself without a map."""
    if number is None or field not in qos:
        return number if field in ("pfc_to_pg_map", "pfc_to_queue_map") else None
    value = config.get(NAMED[field], {}).get(qos[field], {}).get(str(number))
    return None if value is None else int(value)


def _numbers(text: Any) -> set[int]:
    return {int(part) for part in str(text or "").split(",") if part}


def _of(config: Config, table: str, port: str, number: int | None) -> Mapping[str, Any]:
    """Return the row of a port for a number, which may be one of a range."""
    if number is not None:
        own = f"{port}|"
        for key, row in config.get(table, {}).items():
            if key.startswith(own):
                first, _, last = key.removeprefix(own).partition("-")
                if int(first) <= number <= int(last or first):
                    found: Mapping[str, Any] = row
                    return found
    return {}


def _named(config: Config, table: str, name: Any) -> Mapping[str, Any]:
    row: Mapping[str, Any] = config.get(table, {}).get(name, {})
    return row


def dangling(config: Config) -> str | None:
    """Return a row that refers to one that is not there."""
    for table in config.keys() & _REFERRING:
        for key, row in config[table].items():
            for field, value in row.items() if isinstance(row, dict) else ():
                other = NAMED.get(field)
                if other and not {*str(value).split(",")} <= {"NULL", *config.get(other, {})}:
                    return f"{table}|{key} {field} {value}"
    return None


def faults_at_port(
    place: str, dscp: int, found: Served, needed: int, pools: Collection[Any]
) -> Iterator[Fault]:
    """Yield what a port does wrong to a DSCP; ``pools`` are those that its packets may fill."""
    wrong = {
        "lossy": found.headroom == 0,
        "headroom": 0 < found.headroom < needed,
        "not paused at ingress": found.paused is None,
        "pauses not obeyed at egress": found.obeyed is None,
        "not watched": not found.watched,
        "not marked": not found.marked,
        "pool": bool(pools) and found.pools not in pools,
    }
    yield from (Fault(what, place, dscp) for what, is_wrong in wrong.items() if is_wrong)


def faults_between(place: str, dscp: int, near: Served, far: Served) -> Iterator[Fault]:
    """Yield what the two ends of a link do not agree on."""
    if near.obeyed != far.paused:
        yield Fault("other priority forth", place, dscp)
    if far.obeyed != near.paused:
        yield Fault("other priority back", place, dscp)


def faults_at_host(place: str, dscp: int, host: HostQos, at: Served) -> Iterator[Fault]:
    """Yield what a NIC and its switch do not agree on; of a host of which nothing is known, nothing."""
    if not isinstance(host.dscp_to_priority, tuple) or not isinstance(host.pfc_priorities, tuple):
        return
    priority = dict(host.dscp_to_priority).get(dscp)
    own = priority if priority in host.pfc_priorities else None
    if (own, own) != (at.paused, at.obeyed):
        yield Fault("NIC", place, dscp)
