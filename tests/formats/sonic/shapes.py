"""Configurations in the forms in which they are found in the field, made of plain ones."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

Config = dict[str, Any]

REFERENCES = {
    "PORT_QOS_MAP": {
        "dscp_to_tc_map": "DSCP_TO_TC_MAP",
        "tc_to_queue_map": "TC_TO_QUEUE_MAP",
        "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
        "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    },
    "QUEUE": {"scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"},
    "BUFFER_PG": {"profile": "BUFFER_PROFILE"},
    "BUFFER_QUEUE": {"profile": "BUFFER_PROFILE"},
    "BUFFER_PROFILE": {"pool": "BUFFER_POOL"},
    "BUFFER_PORT_INGRESS_PROFILE_LIST": {"profile_list": "BUFFER_PROFILE"},
    "BUFFER_PORT_EGRESS_PROFILE_LIST": {"profile_list": "BUFFER_PROFILE"},
}
"""Fields that name rows, by table, each with the table it names."""
JOINED = ("PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE", "BUFFER_PORT_INGRESS_PROFILE_LIST")


def dump(data: Config) -> Config:
    """Return a configuration as redis has it: flat keys, ``field@`` for lists, NULL for no fields."""
    return {
        f"{table}|{key}": _hash(fields) if isinstance(fields, dict) else fields
        for table, rows in data.items()
        if isinstance(rows, dict)
        for key, fields in rows.items()
    }


def _hash(fields: Config) -> Config:
    found = {
        f"{name}@" if isinstance(value, list) else name: ",".join(map(str, value))
        if isinstance(value, list)
        else value
        for name, value in fields.items()
    }
    return found or {"NULL": "NULL"}


def wrapped(data: Config) -> Config:
    """Return a configuration as ``redis-dump`` writes it."""
    return {
        key: {"type": "hash", "value": value, "ttl": -0.001, "expireat": 1602451533.237415}
        for key, value in dump(data).items()
    }


def sections(data: Config) -> Config:
    """Return a configuration as the only ASIC of a file for several."""
    return {"asic0": data}


def listed(data: Config) -> list[Config]:
    """Return a configuration as the only item of a list."""
    return [data]


def bracketed(data: Config, separator: str = "|") -> Config:
    """Return a configuration with references as they were before 202111."""
    found = copy.deepcopy(data)
    for table, fields in REFERENCES.items():
        for row in _rows(found, table):
            for field, target in fields.items():
                text = row.get(field)
                if isinstance(text, str) and text not in ("", "NULL") and "[" not in text:
                    names = row[field].split(",")
                    row[field] = ",".join(f"[{target}{separator}{name.strip()}]" for name in names)
    return found


def _rows(data: Config, table: str) -> list[Config]:
    rows = data.get(table)
    return [row for row in rows.values() if isinstance(row, dict)] if isinstance(rows, dict) else []


def joined(data: Config) -> Config:
    """Return a configuration with rows of ports that say the same under one key."""
    return {table: _joined(rows) if table in JOINED else rows for table, rows in data.items()}


def _joined(rows: Config) -> Config:
    identical: dict[tuple[str, str], list[str]] = {}
    found: Config = {}
    for key, row in rows.items():
        port, bar, index = key.partition("|")
        if isinstance(row, dict) and re.fullmatch(r"Ethernet[0-9]+", port) and index.count("|") == 0:
            identical.setdefault((bar + index, repr(sorted(row.items()))), []).append(port)
        else:
            found[key] = row
    for (index, _), ports in identical.items():
        found[",".join(ports) + index] = rows[ports[0] + index]
    return found


WHOLE: dict[str, Callable[[Config], Any]] = {
    "dump": dump,
    "redis-dump": wrapped,
    "sections": sections,
    "list": listed,
}
"""Forms of a whole file, which say all that the plain one says."""
