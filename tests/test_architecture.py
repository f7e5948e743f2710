"""The packages keep to the map: each imports only what the table of docs/architecture.md allows it to."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from tests.paths import ROOT
from tools.architecture import FACES, WINGS, arrows, imports, modules, package_of

pytestmark = pytest.mark.xdist_group("architecture")
"""One process reads all sources."""

_ROW = re.compile(r"^\| `([a-z_]+/[a-z_]+)` \|[^|]*\|([^|]*)\|$")


def allowed() -> dict[str, set[str]]:
    """Return the table of docs/architecture.md: a package, and the packages it may import."""
    table = {}
    for line in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines():
        match = _ROW.match(line)
        if match:
            table[match[1]] = set(re.findall(r"[a-z_]+/[a-z_]+", match[2]))
    return table


def wing(package: str) -> str:
    """Return the wing of a package."""
    return package.partition("/")[0]


def test_packages_import_exactly_what_the_table_says() -> None:
    table = allowed()
    measured = {package: {b for a, b in arrows() if a == package} for package in table}
    assert {package_of(module) for module in modules() if module.count(".") > 1} == table.keys()
    assert measured == table


def test_no_wing_imports_a_wing_above_it() -> None:
    assert [pair for pair in arrows() if WINGS.index(wing(pair[0])) > WINGS.index(wing(pair[1]))] == []


def test_the_package_consists_of_seven_wings_and_their_faces() -> None:
    top = {name.split(".")[1] for name in modules() if "." in name}
    assert top == {*WINGS, *FACES}


def test_no_two_files_import_each_other() -> None:
    assert list(_cycles(imports())) == []


def test_modules_with_a_leading_underscore_are_imported_by_their_own_package_alone() -> None:
    private = [
        (module, target)
        for module, targets in imports().items()
        for target in targets
        if any(part.startswith("_") for part in target.split("."))
        and package_of(module) != package_of(target)
    ]
    assert private == []


def _cycles(graph: dict[str, frozenset[str]]) -> Iterable[list[str]]:
    """Yield the modules that can reach themselves, found by taking away those that import nothing left."""
    left = {name: set(targets) for name, targets in graph.items()}
    while True:
        done = {name for name, targets in left.items() if not targets & left.keys()}
        if not done:
            break
        left = {name: targets for name, targets in left.items() if name not in done}
    if left:
        yield sorted(left)
