"""A class name stands for one thing, and says what an object of it is."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.paths import ROOT
from tools.architecture import modules

RIDDLES = (
    "Blamed Cabled Carried Changed Checked Declared Deployed Fixed Found Given Happened Kept Known "
    "Marked Measured Ran Said Seen Served Settled Shown Simulated Stated Traced Wanted Written"
)
"""Participles that were names of classes: none says what an object of it is."""


def classes(within: ast.AST) -> Iterator[str]:
    """Yield the name of every class in some code; in expressions there are none."""
    for node in ast.iter_child_nodes(within):
        if isinstance(node, ast.ClassDef):
            yield node.name
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield from classes(node)


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path in modules().values():
        for name in classes(ast.parse(path.read_text(encoding="utf-8"))):
            places[name].append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
    assert places.keys() & set(RIDDLES.split()) == set()
