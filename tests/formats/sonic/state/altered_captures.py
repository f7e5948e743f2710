"""A folder of captures altered in what must not matter: names of files and ports, the order of rows and columns."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lossless.ground.documents.printed_tables import PrintedTable, printed_blocks

if TYPE_CHECKING:
    from pathlib import Path

_RULER = re.compile(r"[ \t]*-+(?:[ \t]+-+)+[ \t]*")
_MINE = ("sonic-cli/", "sonic-db/", "sonic-gnmi/", "other-switches/")


def altered(folder: Path, into: Path, seed: int | None) -> None:
    """Write the captures of switches under other names, with other ports, and tables in another order.

    Without a seed they are written as they are.
    """
    chance = random.Random(seed)
    entries = []
    for number, entry in enumerate(json.loads((folder / "index.json").read_bytes())):
        path = entry["path"]
        if not path.startswith(_MINE) or not (folder / path).is_file():
            continue
        text = (folder / path).read_bytes().decode(errors="replace")
        if seed is not None and path.endswith(".txt"):
            text = _tables(text, chance)
        # Databases keep their folder: pairs are found by it.
        new = f"{path.rpartition('/')[0]}/capture-{number}" if seed is not None else path
        (into / new).parent.mkdir(parents=True, exist_ok=True)
        ports = _ports if seed is not None else str
        (into / new).write_text(ports(text), encoding="utf-8")
        entries.append(json.loads(ports(json.dumps({**entry, "path": new}))))
    (into / "index.json").write_text(json.dumps(entries), encoding="utf-8")


def _ports(text: str) -> str:
    """Give ports other names of the same length: the columns of tables stay where they are."""
    return re.sub(r"Ethernet(?=[-0-9])", "Fabricif", text)


def _tables(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    for block in printed_blocks(text):
        if isinstance(block, PrintedTable) and _RULER.fullmatch(lines[block.line]):
            _reorder(lines, block, chance)
    return "\n".join(lines)


def _reorder(lines: list[str], table: PrintedTable, chance: random.Random) -> None:
    """Put the rows of a table in another order, and its columns too where each cell lies below its ruler."""
    places = [row.line - 1 for row in table.rows]
    wrapped = any(b - a > 1 and lines[a + 1].strip() for a, b in pairwise(places))
    if not wrapped:
        moved = [lines[place] for place in places]
        chance.shuffle(moved)
        for place, line in zip(places, moved, strict=True):
            lines[place] = line
    spans = [match.span() for match in re.finditer(r"-+", lines[table.line])]
    whole = [table.line - 1, table.line, *places]
    # Tables without a column of ports are told by their first heading.
    is_keyed = table.headings[0].lower() in (
        "port",
        "iface",
        "interface",
        "pool",
        "queue",
        "port rx",
        "port tx",
    )
    if is_keyed and not wrapped and all(_is_clean(lines[place], spans) for place in whole):
        order = list(range(len(spans)))
        chance.shuffle(order)
        for place in whole:
            lines[place] = "  ".join(_cell(lines[place], spans[index]) for index in order).rstrip()


def _is_clean(line: str, spans: list[tuple[int, int]]) -> bool:
    outside = "".join(char for at, char in enumerate(line) if not any(a <= at < b for a, b in spans))
    return not outside.strip()


def _cell(line: str, span: tuple[int, int]) -> str:
    return line[span[0] : span[1]].ljust(span[1] - span[0])


def results(said: dict[str, Any]) -> dict[str, Any]:
    """Return what of a comparison must not change."""
    return {
        "agree": said["agree"],
        "differ": said["differ"],
        "expect_by": said["expect_by"],
        "pairs": (said["pairs"]["agree"], said["pairs"]["differ"]),
        "read": said["files"]["read"],
        "reasons": sorted(said["files"]["refused"].values()),
    }
