"""A class name stands for one thing, and says what an object of it is."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT
from tools.architecture import modules

RIDDLES = (
    "Blamed Cabled Carried Changed Checked Declared Deployed Fixed Found Given Happened Kept Known "
    "Marked Measured Ran Said Seen Served Settled Shown Simulated Stated Traced Wanted Written"
)
"""Participles that were names of classes: none says what an object of it is."""


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    """Yield every node of the package's code with its file."""
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield path.relative_to(ROOT), node


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path, node in nodes():
        if isinstance(node, ast.ClassDef):
            places[node.name].append(str(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
    assert places.keys() & set(RIDDLES.split()) == set()
