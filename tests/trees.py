"""Small trees of deployed SONiC switches, as their files have them: rows, and who is at the other end of which port."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.from_model import tables
from tests.checks.rules.snippets import merge
from tests.strategies import fabric_of
from tools.example_base import base_of

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.model.fabric.model import Fabric

Data = dict[str, Any]
Tree = dict[str, Data]
"""The rows of each switch."""
Damage = Callable[[Data, Sequence[str]], None]
"""Changes the rows of a switch, at some of its ports."""
Hop = tuple[str, str, str]
"""A switch, the port that a packet comes in by, and the one that it leaves by."""

TOPOLOGIES: dict[str, Data] = {
    "two tiers": {
        "leaf_spine": {
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 2,
            "host_links": "1 x 400G",
            "uplinks": "1 x 400G",
            "cables": {"host": "5m", "uplink": "40m"},
        }
    },
    "three tiers": {
        "three_tier": {
            "pods": 2,
            "leaves_per_pod": 1,
            "spines_per_pod": 1,
            "hosts_per_leaf": 2,
            "super_spines": 1,
            "host_links": "1 x 400G",
            "uplinks": "1 x 400G",
            "spine_uplinks": "1 x 400G",
            "cables": {"host": "5m", "uplink": "40m", "spine_uplink": "40m"},
        }
    },
}


def intent_of(topology: str) -> Data:
    """Return the intent of a tree, in which DSCP 26 is lossless on priority 3."""
    return {
        "lossless": "v1",
        "fabric": "tree",
        "transport": "rocev2",
        "preset": "nvidia",
        "hardware": {"switch": "nvidia-sn5600", "nic": "connectx-7"},
        "topology": TOPOLOGIES[topology],
    }


@cache
def _fabric(topology: str) -> Fabric:
    return fabric_of(intent_of(topology))


@cache
def _text(topology: str) -> str:
    fabric = _fabric(topology)
    made: Tree = {}
    for switch in fabric.switches:
        rows = merge(base_of(fabric, switch), tables(switch))
        used = {name for name, row in rows["PORT"].items() if row["admin_status"] == "up"}
        made[switch.name] = {
            name: {key: row for key, row in table.items() if _port_of(key) in used or not _is_port(key)}
            for name, table in rows.items()
        }
    return json.dumps(made)


def tree(topology: str) -> Tree:
    """Return the rows of each switch of a tree, with the ports that links use alone."""
    made: Tree = json.loads(_text(topology))
    return made


def _port_of(key: str) -> str:
    return key.partition("|")[0]


def _is_port(key: str) -> bool:
    return key.startswith("Ethernet")


def written(made: Tree, folder: Path) -> Path:
    """Write the files of a tree, and return their folder."""
    for name, rows in made.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "config_db.json").write_text(json.dumps(rows))
    return folder


def neighbors(made: Tree) -> dict[tuple[str, str], tuple[str, str]]:
    """Return what each port leads to."""
    return {
        (switch, port): (row["name"], row["port"])
        for switch, rows in made.items()
        for port, row in rows.get("DEVICE_NEIGHBOR", {}).items()
    }


def uplinks(made: Tree, switch: str) -> list[str]:
    """Return the ports of a switch that lead to another one."""
    return [port for (near, port), (far, _) in neighbors(made).items() if near == switch and far in made]


def ends(made: Tree) -> list[str]:
    """Return the ports that hosts are attached to, as trace takes them."""
    return [f"{near}:{port}" for (near, port), (far, _) in neighbors(made).items() if far not in made]


def of_tier(made: Tree, name: str) -> Iterator[str]:
    """Yield the switches whose names begin so, in their order."""
    yield from (switch for switch in made if switch.startswith(name))


# --- damages ---


def _entry(table: str, key: str, target: str | None) -> Damage:
    """Return a change of an entry of the maps of a table; no target takes it away."""

    def change(rows: Data, _ports: Sequence[str]) -> None:
        for entries in rows.get(table, {}).values():
            entries.pop(key, None)
            entries |= {key: target} if target is not None else {}

    return change


def _at_ports(table: str, field: str, value: str | None, number: str = "") -> Damage:
    """Return a change of a field in the rows of ports, of a queue or group where ``number`` says which."""

    def change(rows: Data, ports: Sequence[str]) -> None:
        for key, row in rows.get(table, {}).items():
            if _port_of(key) in ports and key.endswith(number):
                row.pop(field, None)
                row |= {field: value} if value is not None else {}

    return change


def _no_rows(table: str, number: str = "") -> Damage:
    """Return a change that takes away rows of ports."""

    def change(rows: Data, ports: Sequence[str]) -> None:
        for key in [*rows.get(table, {})]:
            if _port_of(key) in ports and key.endswith(number):
                del rows[table][key]

    return change


def _no_table(table: str) -> Damage:
    return lambda rows, _ports: rows.pop(table, None) and None


def _row(table: str, key: str, fields: Data | None) -> Damage:
    """Return a change that writes a row again, or removes it."""

    def change(rows: Data, _ports: Sequence[str]) -> None:
        rows.setdefault(table, {}).pop(key, None)
        rows[table] |= {key: dict(fields)} if fields is not None else {}

    return change


def _in_every(table: str, field: str, value: str | None, name: str = "") -> Damage:
    """Return a change of a field in the rows of a table whose names begin so."""

    def change(rows: Data, _ports: Sequence[str]) -> None:
        for key, row in rows.get(table, {}).items():
            if key.startswith(name):
                row.pop(field, None)
                row |= {field: value} if value is not None else {}

    return change


def _own_map(rows: Data, ports: Sequence[str]) -> None:
    rows["DSCP_TO_TC_MAP"]["LEGACY"] = {str(dscp): str(dscp // 16) for dscp in range(64)} | {"26": "0"}
    _at_ports("PORT_QOS_MAP", "dscp_to_tc_map", "LEGACY")(rows, ports)


def _no_headroom(rows: Data, ports: Sequence[str]) -> None:
    """No group, and no cable length by which buffermgrd makes one."""
    _no_rows("BUFFER_PG", "|3")(rows, ports)
    for lengths in rows["CABLE_LENGTH"].values():
        for port in ports:
            lengths.pop(port, None)


DAMAGES: dict[str, Damage] = {
    "DSCP 26 to TC 0": _entry("DSCP_TO_TC_MAP", "26", "0"),
    "DSCP 26 to TC 4": _entry("DSCP_TO_TC_MAP", "26", "4"),
    "DSCP 26 not mapped": _entry("DSCP_TO_TC_MAP", "26", None),
    "TC 3 to group 0": _entry("TC_TO_PRIORITY_GROUP_MAP", "3", "0"),
    "TC 3 in no group": _entry("TC_TO_PRIORITY_GROUP_MAP", "3", None),
    "TC 3 to queue 4": _entry("TC_TO_QUEUE_MAP", "3", "4"),
    "TC 3 in no queue": _entry("TC_TO_QUEUE_MAP", "3", None),
    "pause of 3 to queue 4": _entry("MAP_PFC_PRIORITY_TO_QUEUE", "3", "4"),
    "pause of 3 to no queue": _entry("MAP_PFC_PRIORITY_TO_QUEUE", "3", None),
    "group 3 pauses 4": _entry("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "3", "4"),
    "own map": _own_map,
    "no DSCP map": _at_ports("PORT_QOS_MAP", "dscp_to_tc_map", None),
    "no group map": _at_ports("PORT_QOS_MAP", "tc_to_pg_map", None),
    "no queue map": _at_ports("PORT_QOS_MAP", "tc_to_queue_map", None),
    "no PFC": _at_ports("PORT_QOS_MAP", "pfc_enable", None),
    "PFC empty": _at_ports("PORT_QOS_MAP", "pfc_enable", ""),
    "PFC of 4": _at_ports("PORT_QOS_MAP", "pfc_enable", "4"),
    "a DSCP map that is not there": _at_ports("PORT_QOS_MAP", "dscp_to_tc_map", "GONE"),
    "no rows of ports": _no_rows("PORT_QOS_MAP"),
    "no table of ports": _no_table("PORT_QOS_MAP"),
    "no DSCP maps": _no_table("DSCP_TO_TC_MAP"),
    "no queue maps": _no_table("TC_TO_QUEUE_MAP"),
    "no lossless groups": _no_rows("BUFFER_PG", "|3"),
    "no headroom": _no_headroom,
    "no groups at all": _no_table("BUFFER_PG"),
    "no cable lengths": _no_table("CABLE_LENGTH"),
    "lossy groups": _at_ports("BUFFER_PG", "profile", "ingress_lossy_profile", "|3"),
    "no profile for the queue": _no_rows("BUFFER_QUEUE", "|3"),
    "a lossy profile for the queue": _at_ports("BUFFER_QUEUE", "profile", "egress_lossy_profile", "|3"),
    "pools without type": _in_every("BUFFER_POOL", "type", None),
    "pools without mode": _in_every("BUFFER_POOL", "mode", None),
    "headroom of 1 kB": _in_every("BUFFER_PROFILE", "xoff", "1024", "pg_lossless"),
    "no watchdog rows": _no_rows("PFC_WD"),
    "no watchdog": _no_table("PFC_WD"),
    "no marking": _at_ports("QUEUE", "wred_profile", None, "|3"),
    "no rows of the queue": _no_rows("QUEUE", "|3"),
    "a scheduler that is not there": _at_ports("QUEUE", "scheduler", "gone", "|3"),
    "ECN off": _in_every("WRED_PROFILE", "ecn", "ecn_none"),
    "no curves": _no_table("WRED_PROFILE"),
    "an empty map": _row("DSCP_TO_TC_MAP", "AAA", {}),
    "a word in a map": _row("TC_TO_QUEUE_MAP", "AAA", {"3": "x"}),
    "a group of a port that is not there": _row("BUFFER_PG", "Ethernet999|3", {"profile": "x"}),
    "a queue out of range": _row("BUFFER_QUEUE", "Ethernet0|0-20", {"profile": "egress_lossy_profile"}),
    "a group without profile": _row("BUFFER_PG", "Ethernet0|7", {}),
    "down": _at_ports("PORT", "admin_status", "down"),
    "harmless: MTU": _at_ports("PORT", "mtu", "9216"),
    "harmless: description": _at_ports("PORT", "description", "rack 7"),
    "harmless: spare DSCP": _entry("DSCP_TO_TC_MAP", "27", "3"),
    "harmless: spare map": _row("DSCP_TO_TC_MAP", "SPARE", {"26": "0"}),
}
SCOPES = ("one", "hosts", "uplinks", "all")
"""At which ports of a switch a damage is done."""


def damaged(made: Tree, switch: str, damage: str, scope: str) -> None:
    """Damage the rows of a switch, at some of its ports where the damage is one of ports."""
    to_switches = uplinks(made, switch)
    to_hosts = [port for port in made[switch]["PORT"] if port not in to_switches]
    chosen = {"one": to_switches[:1], "hosts": to_hosts, "uplinks": to_switches}
    DAMAGES[damage](made[switch], chosen.get(scope, [*to_hosts, *to_switches]))
