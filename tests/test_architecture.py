"""The house keeps its walls: every room imports only what docs/architecture.md allows it to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lossless"
GROUND = {"errors", "findings", "units", "datafiles", "records"}
_ROW = re.compile(r"^\| `([a-z_./]+)` \|[^|]*\|([^|]*)\|$")


def allowed() -> dict[str, set[str]]:
    """Return the import table of docs/architecture.md: a room, and the rooms it may import."""
    table = {}
    for line in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines():
        match = _ROW.match(line)
        if match:
            table[match[1].rstrip("/").removesuffix(".py")] = set(re.findall(r"[a-z_]+", match[2]))
    return table


def room_of(path: Path) -> str:
    """Return the room a module stands in: its folder below lossless/, or its own name at the top."""
    relative = path.relative_to(PACKAGE)
    if len(relative.parts) > 1:
        return relative.parts[0]
    return relative.stem if relative.stem not in GROUND else "ground"


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and dotted name of every module of ours that a file imports, late imports included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lossless"):
            yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names if name.name.startswith("lossless"))


def modules() -> list[Path]:
    """Return every module of the package."""
    return sorted(path for path in PACKAGE.rglob("*.py") if "_data" not in path.parts)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_import_only_what_their_room_may(path: Path) -> None:
    table = allowed()
    room = room_of(path)
    if room == "__init__":
        return
    assert room in table, f"docs/architecture.md does not know the room {room!r}"
    broken = []
    for line, module in imports(path):
        parts = module.split(".")
        other = "ground" if len(parts) == 1 or parts[1] in GROUND else parts[1]
        if other not in (room, *table[room]):
            broken.append(f"line {line}: {module}")
    assert not broken, f"{room} may import {sorted(table[room])}, not " + "; ".join(broken)


def test_every_room_of_the_map_exists() -> None:
    rooms = {room_of(path) for path in modules()} - {"__init__"}
    assert set(allowed()) == rooms


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_stay_below_four_hundred_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 400
