"""Devices that are imported, and what is said of them."""

from __future__ import annotations

import json
from typing import Any

from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import ImportResult, import_documents
from tests.formats.sonic.devices import Config, base, patched


def imported(*configs: Config) -> ImportResult:
    return import_documents(
        [load_text(json.dumps(c), f"sw{n}/config_db.json") for n, c in enumerate(configs)]
    )


def intent(found: ImportResult) -> Any:
    return load_text(found.text, "fabric.yaml").data


def kinds(found: ImportResult) -> set[str]:
    return {difference.kind for difference in found.differences}


def telling(found: ImportResult) -> list[tuple[str, str]]:
    """Return what differs but for the sizes of pools, which are computed, as kinds and fields."""
    return [(d.kind, d.cell.field) for d in found.differences if d.kind != "pool size"]


def ports(table: str, **fields: str) -> dict[str, dict[str, str]]:
    """Return rows of all three ports with fields laid over them."""
    return {key: {**row, **fields} for key, row in base()[table].items() if key != "global"}


def named(config: Config, name: str, kind: str = "ToRRouter", **meta: str) -> Config:
    """Return a device under another name, of a type."""
    fields = {**config["DEVICE_METADATA"]["localhost"], "hostname": name, "type": kind, **meta}
    return patched(config, DEVICE_METADATA={"localhost": fields})


def with_ports(table: str, *rows: dict[str, str]) -> Config:
    """Return the base device with fields laid over the rows of its ports, one mapping a port."""
    config = base()
    laid = zip(ports(table), rows, strict=False)
    return patched(config, **{table: {port: {**config[table][port], **row} for port, row in laid}})


def lines(found: ImportResult, word: str) -> list[str]:
    """Return the lines of an intent that a word is in, without the blanks around them."""
    return [line.strip() for line in found.text.splitlines() if word in line]
