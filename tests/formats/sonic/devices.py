"""Devices as CONFIG_DB data, read without the help of a document."""

from __future__ import annotations

import json
from typing import Any

from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.model.fabric.model import Port, Switch
from lossless.model.hardware.buffers import EGRESS_LOSSY_POOL, EGRESS_LOSSY_PROFILE, QUEUE_LOSSY_PROFILE
from lossless.model.hardware.load import switch_for_hwsku
from tests.paths import RULE_BASES

BASES = RULE_BASES
Config = dict[str, Any]


def base(name: str = "leaf") -> Config:
    """Return one of the clean devices that rules are tested on; lossy queues of the leaf are those of its HWSKU."""
    data: Config = json.loads((BASES / f"{name}.json").read_text())
    if name == "leaf":
        data["BUFFER_PROFILE"][QUEUE_LOSSY_PROFILE] = {
            "dynamic_th": "3",
            "pool": EGRESS_LOSSY_POOL,
            "size": "0",
        }
        for row in data["BUFFER_QUEUE"].values():
            if row["profile"] == EGRESS_LOSSY_PROFILE:
                row["profile"] = QUEUE_LOSSY_PROFILE
    return data


def patched(data: Config, **tables: Any) -> Config:
    """Return a device with rows laid over its own; None leaves a table out, what is no mapping replaces it."""
    found = dict(data)
    for name, rows in tables.items():
        if rows is None:
            del found[name]
        else:
            found[name] = {**found.get(name, {}), **rows} if isinstance(rows, dict) else rows
    return found


def read(data: Config) -> tuple[Switch, list[str]]:
    """Return a device and the notes of what could not be read in it."""
    tables = Tables("sw.json", data)
    (switch,) = read_fabric([tables], lambda hwsku, platform: switch_for_hwsku(hwsku, platform)).switches
    return switch, tables.unread


def port_of(switch: Switch, name: str = "Ethernet0") -> Port:
    """Return a port by name."""
    return next(port for port in switch.ports if port.name == name)
