"""Measures the imports between packages, and draws them: docs/architecture.svg.

    python tools/architecture.py            writes the picture again
    python tools/architecture.py --check    exit 1 where the picture is out of date

The rules are in the table of docs/architecture.md, and tests/test_architecture.py compares the code with them.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from lossless.output.report import drawing as style
from tools.generated import write_or_check

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "lossless"
PICTURE = ROOT / "docs" / "architecture.svg"
WINGS = ("interfaces", "output", "checks", "formats", "analysis", "model", "ground")
"""From top to bottom: each imports only itself and those below it."""
FACES = {"api": "interfaces/api", "__main__": "interfaces/cli"}
"""Modules beside the wings, and the packages that they belong to."""

CELL, LEFT, TOP = 22, 190, 95
SIZES = ((1, "one import", 3.5), (9, "up to nine imports", 5.5), (sys.maxsize, "ten imports or more", 8.0))
"""Most modules, words, radius: three sizes only, so that the picture changes where the structure does."""
_TINTS = (style.BLUE, style.GREEN, style.VERMILLION, style.ORANGE, style.PURPLE, style.SKY_BLUE, style.GREY)
COLORS = dict(zip(WINGS, _TINTS, strict=True))


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    named = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "_data" not in parts:
            named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def package_of(module: str) -> str:
    """Return the package of a module, ``wing/package``; two modules beside the wings are the faces of packages."""
    parts = module.split(".")[1:]
    return FACES.get(".".join(parts), "/".join(parts[:2]))


@cache
def imports() -> dict[str, frozenset[str]]:
    """Return, by module, the modules of ours that it imports, late imports and those for annotations included."""
    return {name: frozenset(_imported(name, path)) for name, path in modules().items()}


def _imported(name: str, path: Path) -> set[str]:
    targets = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "lossless":
            targets |= {_known(f"{node.module}.{alias.name}") for alias in node.names}
        elif isinstance(node, ast.Import):
            ours = (alias.name for alias in node.names)
            targets |= {_known(module) for module in ours if module.partition(".")[0] == "lossless"}
    return targets - {name, "lossless"}


def _known(name: str) -> str:
    while name not in modules():
        name = name.rpartition(".")[0]
    return name


def arrows() -> dict[tuple[str, str], int]:
    """Return, for each two packages of which one imports the other, how many imports of modules that is."""
    counted: dict[tuple[str, str], int] = defaultdict(int)
    for module, targets in imports().items():
        for target in targets:
            pair = package_of(module), package_of(target)
            if pair[0] != pair[1] and all(pair):
                counted[pair] += 1
    return dict(counted)


def packages() -> list[str]:
    """Return all packages, top wing first; within a wing those that import others before those they import."""
    named = {package_of(module) for module in modules() if module.count(".") > 1} | {"interfaces/api"}
    below: dict[str, set[str]] = {name: {b for a, b in arrows() if a == name} for name in named}

    def height(name: str) -> int:
        return 1 + max((height(other) for other in below[name] if _wing(other) == _wing(name)), default=0)

    return sorted(named, key=lambda name: (WINGS.index(_wing(name)), -height(name), name))


def _wing(package: str) -> str:
    return package.partition("/")[0]


def picture() -> str:
    """Return the picture: packages as rows and columns, a dot where the row imports the column."""
    names, counted = packages(), arrows()
    side = CELL * len(names)
    width, height = LEFT + side + 60, TOP + side + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' font-family="{style.FONT_FAMILY}" font-size="{style.TEXT_PX}" fill="{style.INK}">',
        f'<rect width="{width}" height="{height}" fill="{style.PAPER}"/>',
        *_bands(names, side),
        *(_labels(names)),
        *(_dot(names, pair, number) for pair, number in sorted(counted.items())),
        *_caption(side, len(counted)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _caption(side: int, number: int) -> list[str]:
    lines = (
        "A dot: the package of the row imports that of the column. By size: one import, up to nine, or more.",
        f"{number} dots, none below the diagonal: imports lead down only.",
    )
    return [
        f'<text x="{LEFT}" y="{TOP + side + 20 + 16 * place}">{line}</text>'
        for place, line in enumerate(lines)
    ]


def _bands(names: list[str], side: int) -> list[str]:
    parts = []
    for wing in WINGS:
        rows = [place for place, name in enumerate(names) if _wing(name) == wing]
        first, size = CELL * rows[0], CELL * len(rows)
        fill = f'fill="{COLORS[wing]}" fill-opacity="0.12"'
        parts += [
            f'<rect x="{LEFT}" y="{TOP + first}" width="{side}" height="{size}" {fill}/>',
            f'<rect x="{LEFT + first}" y="{TOP}" width="{size}" height="{side}" {fill}/>',
            f'<rect x="{LEFT + first}" y="{TOP + first}" width="{size}" height="{size}" fill="{COLORS[wing]}"'
            ' fill-opacity="0.25"/>',
            f'<text x="8" y="{TOP + first + 15}" font-weight="bold">{wing}</text>',
        ]
    return parts


def _labels(names: list[str]) -> list[str]:
    parts = []
    for place, name in enumerate(names):
        label, middle = name.partition("/")[2], CELL * place + CELL / 2
        parts += [
            f'<text x="{LEFT - 8}" y="{TOP + middle + 4}" text-anchor="end">{label}</text>',
            f'<text transform="translate({LEFT + middle + 4} {TOP - 8}) rotate(-60)">{label}</text>',
        ]
    return parts


def _dot(names: list[str], pair: tuple[str, str], number: int) -> str:
    row, column = (CELL * names.index(name) + CELL / 2 for name in pair)
    words, radius = next((words, radius) for most, words, radius in SIZES if number <= most)
    title = f"<title>{pair[0]} imports {pair[1]}: {words}</title>"
    return (
        f'<circle cx="{LEFT + column}" cy="{TOP + row}" r="{radius:.1f}" fill="{style.INK}">{title}</circle>'
    )


def main(arguments: list[str]) -> int:
    """Write the picture, or say whether it is out of date."""
    return write_or_check({PICTURE: picture()}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
