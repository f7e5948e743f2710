"""What cards of a VOQ chassis that runs SONiC do with a DSCP, by orchagent's rules, and damages of their rows.

Keys of QUEUE and BUFFER_QUEUE have four parts, host, ASIC, port and queue, and are dropped otherwise. Where host and
ASIC are the card's own, the ASIC in any case, the queue is that of a local port; else the three together must be the
name of a system port. WRED and buffer are applied to the virtual output queue that the card has for that port, the
scheduler on local ports alone (sonic-swss orchagent/qosorch.cpp, handleQueueTable and applyWredProfileToQueue;
orchagent/bufferorch.cpp, processQueue, @e6b0c5b). All else is as on other switches.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

from tools.damages.text import RDMA

Table = dict[str, dict[str, str]]
Card = dict[str, Table]
Chassis = dict[str, Card]
Damage = Callable[[Chassis, random.Random], None]

CARDS = ("lc1", "lc2")
PORTS = ("Ethernet0", "Ethernet8", "Ethernet16", "Ethernet24")
LOSSLESS, SERVED = "3", range(7)
_INSIDE = ("Cpu0", "Ethernet-IB0", "Ethernet-Rec0")
"""System ports that no traffic of hosts leaves by."""


def chassis() -> Chassis:
    """Return two cards of four ports, lossless for the DSCP, each with queues for all ports of both."""
    return {name: _card(name) for name in CARDS}


def text(card: Card) -> str:
    """Return the file of a card."""
    return json.dumps(card, indent=1)


def _card(name: str) -> Card:
    """Return the rows of a card, in the form of upstream's templates for a chassis."""
    own = {f"{name}|asic0|{port}" for port in PORTS}
    system = [f"{card}|asic0|{port}" for card in CARDS for port in PORTS]
    queue = {f"{place}|{LOSSLESS}": {"wred_profile": "AZURE_LOSSLESS"} for place in system}
    for place in own:
        for number in SERVED:
            row = queue.setdefault(f"{place}|{number}", {})
            row["scheduler"] = "scheduler.1" if str(number) == LOSSLESS else "scheduler.0"
    buffers = {f"{place}|{LOSSLESS}": {"profile": "egress_lossless_profile"} for place in system}
    buffers |= {
        f"{place}|{part}": {"profile": "egress_lossy_profile"} for place in system for part in ("0-2", "4-6")
    }
    identity = {str(number): str(number) for number in range(8)}
    maps = {
        "dscp_to_tc_map": "AZURE",
        "tc_to_queue_map": "AZURE",
        "tc_to_pg_map": "AZURE",
        "pfc_to_queue_map": "AZURE",
    }
    ports = enumerate(PORTS)
    return {
        "DEVICE_METADATA": {
            "localhost": {
                "hostname": name,
                "hwsku": "Nokia-IXR7250E-36x400G",
                "platform": "x86_64-nokia_ixr7250e_36x400g-r0",
                "type": "SpineRouter",
                "bgp_asn": "65001",
                "switch_type": "voq",
                "switch_id": str(2 * CARDS.index(name)),
                "asic_name": "asic0",
                "max_cores": "48",
            }
        },
        "PORT": {
            port: {
                "admin_status": "up",
                "alias": f"etp{number + 1}",
                "index": str(number + 1),
                "lanes": ",".join(str(8 * number + lane + 1) for lane in range(8)),
                "mtu": "9100",
                "speed": "400000",
                "fec": "rs",
            }
            for number, port in ports
        },
        "SYSTEM_PORT": {
            f"{card}|asic0|{port}": {
                "core_index": "0",
                "core_port_index": str(number + 1),
                "num_voq": "8",
                "speed": "400000",
                "switch_id": str(2 * CARDS.index(card)),
                "system_port_id": str(10 * CARDS.index(card) + number + 1),
            }
            for card in CARDS
            for number, port in enumerate((*PORTS, *_INSIDE[:2]))
        },
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(PORTS, "40m")},
        "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): {RDMA: "3", 48: "6"}.get(dscp, "0") for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {"AZURE": dict(identity)},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": dict.fromkeys(identity, "0") | {"3": "3"}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": dict(identity)},
        "PORT_QOS_MAP": {port: maps | {"pfc_enable": "3", "pfcwd_sw_enable": "3"} for port in PORTS},
        "SCHEDULER": {
            "scheduler.0": {"type": "DWRR", "weight": "14"},
            "scheduler.1": {"type": "DWRR", "weight": "50"},
        },
        "WRED_PROFILE": {
            "AZURE_LOSSLESS": {
                "ecn": "ecn_all",
                "green_min_threshold": "800000",
                "green_max_threshold": "3200000",
                "green_drop_probability": "20",
                "wred_green_enable": "true",
            }
        },
        "QUEUE": queue,
        "BUFFER_POOL": {
            "ingress_lossless_pool": {
                "size": "6441610000",
                "type": "both",
                "mode": "dynamic",
                "xoff": "11354112",
            }
        },
        "BUFFER_PROFILE": {
            "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "33030144"},
            "egress_lossless_profile": {
                "pool": "ingress_lossless_pool",
                "size": "0",
                "static_th": "33030144",
            },
            "egress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "-4"},
            "pg_lossless_400000_40m_profile": {
                "pool": "ingress_lossless_pool",
                "size": "1280",
                "xon": "0",
                "xon_offset": "2560",
                "xoff": "400000",
                "dynamic_th": "-3",
            },
        },
        "BUFFER_PG": {
            f"{port}|{number}": {
                "profile": "pg_lossless_400000_40m_profile" if number == "3" else "ingress_lossy_profile"
            }
            for port in PORTS
            for number in ("0", "3")
        },
        "BUFFER_QUEUE": buffers,
        "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}}
        | {port: {"action": "drop", "detection_time": "200", "restoration_time": "200"} for port in PORTS},
    }


# --- what a card does -----------------------------------------------------------------------------------------------


def verdict(cards: Chassis) -> tuple[frozenset[str], frozenset[str]]:
    """Return the ports that are lossy for the DSCP, and what else is wrong: queues of system ports, rows dropped."""
    lossy, other = set(), set()
    for name, card in cards.items():
        lossy |= {f"{name} {port}: {why}" for port in card["PORT"] if (why := _lossy(card, port))}
        other |= {f"{name} {what}" for what in _queues(card)}
    return frozenset(lossy), frozenset(other)


def _bound(card: Card, port: str, field: str, table: str) -> dict[str, str] | None:
    name = card["PORT_QOS_MAP"].get(port, {}).get(field)
    return None if name is None else card[table].get(name)


def _lossy(card: Card, port: str) -> str:
    traffic_class = (_bound(card, port, "dscp_to_tc_map", "DSCP_TO_TC_MAP") or {}).get(str(RDMA), "0")
    group = (_bound(card, port, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP") or {}).get(traffic_class, "0")
    queue = (_bound(card, port, "tc_to_queue_map", "TC_TO_QUEUE_MAP") or {}).get(traffic_class, "0")
    stops = _bound(card, port, "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE")
    paused = card["PORT_QOS_MAP"].get(port, {}).get("pfc_enable", "").split(",")
    if group not in paused:
        return f"priority group {group} is not paused"
    if (group if stops is None else stops.get(group)) != queue:
        return f"a pause of {group} does not stop queue {queue}"
    return ""


def _queues(card: Card) -> Iterator[str]:
    """Yield what is wrong with the virtual output queues of a card: not marked, no buffer, rows that are dropped."""
    local = card["DEVICE_METADATA"]["localhost"]
    for port in card["PORT"]:
        if f"{local['hostname']}|{local['asic_name']}|{port}" not in card["SYSTEM_PORT"]:
            yield f"{port}: it has no system port"
    paused = any(LOSSLESS in row.get("pfc_enable", "").split(",") for row in card["PORT_QOS_MAP"].values())
    for table, field in (("QUEUE", "wred_profile"), ("BUFFER_QUEUE", "profile")):
        bound: dict[str, str] = {}
        for key, row in card[table].items():
            place = _place(card, key)
            if place is None:
                yield f"{table} {key}: dropped"
                continue
            low, _, high = key.rpartition("|")[2].partition("-")
            if int(low) <= int(LOSSLESS) <= int(high or low):
                bound[place] = row.get(field, "")
        for place in card["SYSTEM_PORT"] if paused else ():
            if place.rpartition("|")[2] not in _INSIDE and not _serves(card, field, bound.get(place, "")):
                yield f"{place}: {field} of queue {LOSSLESS}"


def _place(card: Card, key: str) -> str | None:
    """Return the system port of a key, None where orchagent drops the row."""
    parts, local = key.split("|"), card["DEVICE_METADATA"]["localhost"]
    if len(parts) != 4:
        return None
    if parts[0] == local["hostname"] and parts[1].lower() == local["asic_name"].lower():
        own = f"{local['hostname']}|{local['asic_name']}|{parts[2]}"
        return own if parts[2] in card["PORT"] else None
    place = "|".join(parts[:3])
    return place if place in card["SYSTEM_PORT"] else None


def _serves(card: Card, field: str, name: str) -> bool:
    if field == "profile":
        return name in card["BUFFER_PROFILE"] and "lossy" not in name
    wred = card["WRED_PROFILE"].get(name, {})
    return wred.get("ecn", "ecn_none") != "ecn_none" and wred.get("wred_green_enable") == "true"


# --- damages --------------------------------------------------------------------------------------------------------


def _cards(cards: Chassis, rng: random.Random) -> list[Card]:
    return [cards[rng.choice(CARDS)]] if rng.random() < 0.5 else list(cards.values())


def _ports(rng: random.Random) -> list[str]:
    return [rng.choice(PORTS)] if rng.random() < 0.5 else list(PORTS)


def _entry(table: str, key: str, value: str | None) -> Damage:
    """Return a damage to an entry of a map."""

    def damage(cards: Chassis, rng: random.Random) -> None:
        for card in _cards(cards, rng):
            card[table]["AZURE"].pop(key, None)
            card[table]["AZURE"].update({} if value is None else {key: value})

    return damage


def _at_ports(table: str, field: str, value: str | None) -> Damage:
    """Return a damage to a field of the rows of ports."""

    def damage(cards: Chassis, rng: random.Random) -> None:
        ports = _ports(rng)
        for card in _cards(cards, rng):
            for port in ports:
                card[table][port].pop(field, None)
                card[table][port].update({} if value is None else {field: value})

    return damage


def _no_rows(table: str) -> Damage:
    def damage(cards: Chassis, rng: random.Random) -> None:
        ports = _ports(rng)
        for card in _cards(cards, rng):
            card[table] = {key: row for key, row in card[table].items() if key not in ports}

    return damage


def _keys(table: str, whose: str, change: Callable[[str], str]) -> Damage:
    """Return a damage to keys of the card's own queues, of those of other cards, or of all; no key removes the row."""

    def damage(cards: Chassis, rng: random.Random) -> None:
        ports = _ports(rng)
        for card in _cards(cards, rng):
            name = card["DEVICE_METADATA"]["localhost"]["hostname"]
            rows: Table = {}
            for key, row in card[table].items():
                own = key.startswith(f"{name}|")
                meant = whose == "all" or own == (whose == "own")
                new = change(key) if meant and key.split("|")[-2] in ports else key
                rows.update({new: row} if new else {})
            card[table] = rows

    return damage


def _at_queue(table: str, whose: str, field: str, value: str | None) -> Damage:
    """Return a damage to the rows of the lossless queue."""

    def damage(cards: Chassis, rng: random.Random) -> None:
        ports = _ports(rng)
        for card in _cards(cards, rng):
            name = card["DEVICE_METADATA"]["localhost"]["hostname"]
            for key, row in card[table].items():
                place, _, number = key.rpartition("|")
                meant = whose == "all" or key.startswith(f"{name}|") == (whose == "own")
                if meant and number == LOSSLESS and place.rpartition("|")[2] in ports:
                    row.pop(field, None)
                    row.update({} if value is None else {field: value})

    return damage


def _lossless_key(key: str) -> str:
    return "" if key.rpartition("|")[2] == LOSSLESS else key


def _no_key(_: str) -> str:
    return ""


def _two_parts(key: str) -> str:
    return "|".join(key.split("|")[-2:])


def _upper_host(key: str) -> str:
    host, rest = key.split("|", 1)
    return f"{host.upper()}|{rest}"


def _upper_asic(key: str) -> str:
    return key.replace("|asic0|", "|ASIC0|")


def _wred(field: str, value: str | None) -> Damage:
    def damage(cards: Chassis, rng: random.Random) -> None:
        for card in _cards(cards, rng):
            card["WRED_PROFILE"]["AZURE_LOSSLESS"].pop(field, None)
            card["WRED_PROFILE"]["AZURE_LOSSLESS"].update({} if value is None else {field: value})

    return damage


def _foreign_rows(cards: Chassis, rng: random.Random) -> None:
    for card in _cards(cards, rng):
        card["QUEUE"]["lc9|asic0|Ethernet0|3"] = {"wred_profile": "AZURE_LOSSLESS"}


def _lost_system_port(cards: Chassis, rng: random.Random) -> None:
    for card in _cards(cards, rng):
        name = card["DEVICE_METADATA"]["localhost"]["hostname"]
        others = [
            place
            for place in card["SYSTEM_PORT"]
            if not place.startswith(f"{name}|") and "Ethernet1" in place
        ]
        del card["SYSTEM_PORT"][others[0]]


def _renamed_card(cards: Chassis, rng: random.Random) -> None:
    _cards(cards, rng)[0]["DEVICE_METADATA"]["localhost"]["hostname"] = "lc7"


def _more_rows(table: str, key: str, row: dict[str, str]) -> Damage:
    def damage(cards: Chassis, rng: random.Random) -> None:
        for card in _cards(cards, rng):
            card[table][key] = dict(row)

    return damage


def _shuffled(cards: Chassis, rng: random.Random) -> None:
    for card in cards.values():
        for table in list(card):
            rows = list(card[table].items())
            rng.shuffle(rows)
            card[table] = dict(rows)


DAMAGES: dict[str, Damage] = {
    "DSCP to TC 0": _entry("DSCP_TO_TC_MAP", "26", "0"),
    "DSCP not mapped": _entry("DSCP_TO_TC_MAP", "26", None),
    "DSCP to TC 4": _entry("DSCP_TO_TC_MAP", "26", "4"),
    "TC to group 0": _entry("TC_TO_PRIORITY_GROUP_MAP", "3", "0"),
    "TC to queue 4": _entry("TC_TO_QUEUE_MAP", "3", "4"),
    "TC without queue": _entry("TC_TO_QUEUE_MAP", "3", None),
    "pause to queue 4": _entry("MAP_PFC_PRIORITY_TO_QUEUE", "3", "4"),
    "no PFC": _at_ports("PORT_QOS_MAP", "pfc_enable", None),
    "PFC of another priority": _at_ports("PORT_QOS_MAP", "pfc_enable", "4"),
    "no DSCP map": _at_ports("PORT_QOS_MAP", "dscp_to_tc_map", None),
    "no rows of ports": _no_rows("PORT_QOS_MAP"),
    "no WRED of other cards": _at_queue("QUEUE", "others", "wred_profile", None),
    "no WRED": _at_queue("QUEUE", "all", "wred_profile", None),
    "no queue rows of other cards": _keys("QUEUE", "others", _no_key),
    "no lossless queue of other cards": _keys("QUEUE", "others", _lossless_key),
    "no buffers of other cards": _keys("BUFFER_QUEUE", "others", _no_key),
    "no lossless buffer of other cards": _keys("BUFFER_QUEUE", "others", _lossless_key),
    "no lossless buffer": _keys("BUFFER_QUEUE", "all", _lossless_key),
    "lossy profile of other cards": _at_queue("BUFFER_QUEUE", "others", "profile", "egress_lossy_profile"),
    "queue keys of two parts": _keys("QUEUE", "own", _two_parts),
    "buffer keys of two parts": _keys("BUFFER_QUEUE", "own", _two_parts),
    "host of other cards in capitals": _keys("QUEUE", "others", _upper_host),
    "own host in capitals": _keys("QUEUE", "own", _upper_host),
    "buffers of a host in capitals": _keys("BUFFER_QUEUE", "all", _upper_host),
    "ASIC of other cards in capitals": _keys("BUFFER_QUEUE", "others", _upper_asic),
    "rows of a card that is not there": _foreign_rows,
    "a system port is gone": _lost_system_port,
    "the card has another name": _renamed_card,
    "ECN off": _wred("ecn", "ecn_none"),
    "WRED off": _wred("wred_green_enable", "false"),
    "harmless: own ASIC in capitals": _keys("QUEUE", "own", _upper_asic),
    "harmless: spare DSCP": _more_rows("DSCP_TO_TC_MAP", "SPARE", {"26": "0"}),
    "harmless: MTU": _at_ports("PORT", "mtu", "9216"),
    "harmless: unused profile": _more_rows(
        "BUFFER_PROFILE", "spare", {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "0"}
    ),
    "harmless: description": _at_ports("PORT", "description", "core 7"),
    "harmless: order": _shuffled,
}
