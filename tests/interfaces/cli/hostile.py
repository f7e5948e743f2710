"""Inputs whose names are hostile in every place: intents, files of switches, hosts and subnet managers, cables."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.interfaces.cli.inputs import BASES

HOSTILE = (
    "x\x1b[2J\x1b[1;31m\x9b1m\u202ey\u2066\u200f\u061c\u2028z\u0085\x7f\u200b"
    "\n::error file=a::b\r\n  ::set-output name=q::r\n##[error]c##vso[task.complete]d"
    "](javascript:alert(1))<img src=x>`|@someone https://evil.example &amp;'\""
)
"""All that a terminal, the log of a CI job, Markdown or HTML could take for its own."""
Place = tuple[str | int, ...]


def places(data: Any, at: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield the place of every text and of every key of plain data, with ``value`` or ``key``; one of each kind."""
    if isinstance(data, dict):
        for key, below in data.items():
            yield (*at, key), "key"
            yield from places(below, (*at, key))
    elif isinstance(data, list):
        for number, below in enumerate(data):
            yield from places(below, (*at, number))
    elif isinstance(data, str):
        yield at, "value"


def replaced(data: Any, place: Place, kind: str, text: str = HOSTILE) -> Any:
    """Return plain data with one text or key made hostile."""
    data = json.loads(json.dumps(data))
    within = data
    for step in place[:-1]:
        within = within[step]
    if kind == "key":
        items = [(text if key == place[-1] else key, value) for key, value in within.items()]
        within.clear()
        within.update(items)
    else:
        within[place[-1]] = text
    return data


def survivors(data: Any, is_read: Callable[[Any], bool]) -> Any:
    """Return plain data with all texts and keys hostile that are still read so, each with a number of its own."""
    for number, (place, kind) in enumerate([*places(data)][::-1]):
        tried = replaced(data, place, kind, f"{number}{HOSTILE}")
        data = tried if is_read(tried) else data
    return data


def intent() -> Any:
    """Return an intent that has names in all places where one may be chosen."""
    with (BASES / "leaf-spine.yaml").open() as stream:
        data = json.loads(json.dumps(YAML(typ="safe").load(stream)))
    data["topology"]["names"] = {"leaf1": "rack1", "host1": "node1"}
    return data


def infiniband() -> Any:
    """Return the intent of a subnet."""
    with (BASES / "infiniband.yaml").open() as stream:
        return json.loads(json.dumps(YAML(typ="safe").load(stream)))


def switch() -> Any:
    """Return a switch's own file with two rows of each table, which is enough to name everything."""
    data = json.loads((BASES / "wired-leaf.json").read_text())
    return {
        table: dict(list(rows.items())[:2]) if isinstance(rows, dict) else rows
        for table, rows in data.items()
    }


def named_switch() -> Any:
    """Return the same with every name that rows give each other hostile, and still one name everywhere."""
    data = switch()
    tables = ("BUFFER_POOL", "BUFFER_PROFILE", "DEVICE_NEIGHBOR_METADATA", "SCHEDULER", "WRED_PROFILE")
    names = {key for table in tables for key in data.get(table, {})} | {"AZURE", "leaf1"}
    text = json.dumps(data)
    for name in sorted(names, key=len, reverse=True):
        written = json.dumps(name + HOSTILE)[1:-1].replace("\\", r"\\")
        text = re.sub(rf'(?<=["|]){re.escape(name)}(?=["|])', written, text)
    return json.loads(text)


def other_files() -> dict[str, str]:
    """Return files of other kinds by name, with a hostile word in every line that has a place for one."""
    files = {}
    for name in ("opensm.conf", "partitions.conf", "qos-policy.conf", "sharp_am.cfg", "cables.csv"):
        text = (BASES / name).read_text()
        word = HOSTILE.replace("\n", "\v").replace("\r", "\f")
        files[name] = text + "".join(
            f"{line}{word}\n{word}{line}\n" for line in text.splitlines()[:20] if line
        )
    files["node1.facts"] = facts()
    return files


def facts() -> str:
    """Return facts of a host in which every value is hostile."""
    word = HOSTILE.replace("\n", "\v").replace("\r", "\f")
    return (
        f"# lossless host facts 1\n# host {word}\n==> ethtool {word}\ndriver: {word}\nversion: {word}\n"
        f"==> mlnx_qos {word}\n{word}\n==> end\n"
    )


def write(folder: Path, name: str, data: Any) -> Path:
    """Write plain data as JSON, which YAML reads too."""
    path = folder / name
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return path
