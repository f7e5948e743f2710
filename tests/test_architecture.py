"""The packages keep to the map: each imports only what the table of docs/architecture.md allows it to."""

from __future__ import annotations

import ast
import gzip
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.paths import ROOT
from tools.architecture import FACES, PACKAGE, WINGS, arrows, imports, modules, package_of

pytestmark = pytest.mark.xdist_group("architecture")
"""One process reads all sources."""

MAP = ROOT / "docs" / "architecture.md"
_ROW = re.compile(r"^\| `([a-z_]+/[a-z_]+)` \|[^|]*\|([^|]*)\|$")


def allowed() -> dict[str, set[str]]:
    """Return the table of docs/architecture.md: a package, and the packages it may import."""
    table = {}
    for line in MAP.read_text(encoding="utf-8").splitlines():
        match = _ROW.match(line)
        if match:
            table[match[1]] = set(re.findall(r"[a-z_]+/[a-z_]+", match[2]))
    return table


def wing(package: str) -> str:
    """Return the wing of a package."""
    return package.partition("/")[0]


def test_tests_of_a_group_stay_in_one_process(request: pytest.FixtureRequest) -> None:
    """Else each process reads, plans and renders again what the tests of a group share."""
    if getattr(request.config.option, "loadgroup", False):
        assert request.node.nodeid.endswith("@architecture")


@pytest.mark.parametrize("raw", [gzip.compress(b"captures")])
def test_bytes_stay_out_of_the_ids_of_tests(request: pytest.FixtureRequest, raw: bytes) -> None:
    """Processes collect in different seconds, and gzip writes the second: the ids would differ."""
    assert request.node.name.removesuffix("@architecture").endswith("[raw]"), raw


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


def test_every_file_folder_and_name_of_the_map_is_where_the_map_says() -> None:
    """A bare file name is one of the folder that its section, or its row of the table of packages, named last."""
    assert list(missing(MAP.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`checks/lint` has `run.py` (`run`, `together`)", []),
        ("`checks/lint/run.py` and `filter.py`", []),
        ("| `checks/lint/run.py` `Report.change` |", ["`Report.change` in lossless/checks/lint/run.py"]),
        ("| `formats/hosts` | `state/`: counters; `forms.py` |", []),
        ("`checks/lint`, `gone.py`", ["gone.py after checks/lint"]),
        ("`checks/lint/gone.py`", ["checks/lint/gone.py after "]),
        ("`formats/hosts`, `gone/`", ["gone/ after formats/hosts"]),
        ("`checks/gone`", ["checks/gone after "]),
        ("`checks/lint`\n## Next\n`filter.py`", ["filter.py after "]),
        ("`checks/lint/run.py` (`run`), `formats/inputs`: `filter.py`", ["filter.py after formats/inputs"]),
        ("`checks/lint/run.py` (`gone`)", ["`gone` in lossless/checks/lint/run.py"]),
        ("`checks/lint/run.py`, `gone` and `run`", ["`gone` in lossless/checks/lint/run.py"]),
    ],
)
def test_a_place_that_the_map_invents_is_found(text: str, found: list[str]) -> None:
    assert list(missing(text)) == found


def test_no_function_imports_what_its_module_has_loaded() -> None:
    """An import inside a function saves start time; of a module that the top imports it saves none."""
    assert [(name, each) for name, path in modules().items() for each in repeated_imports(path)] == []


def repeated_imports(path: Path) -> Iterator[str]:
    """Yield the modules that a module imports at its top and again in a function, or for annotations in two blocks."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    loaded = {each.module for each in tree.body if isinstance(each, ast.ImportFrom)}
    functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    for node in (inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.ImportFrom) and node.module in loaded:
            yield f"{node.module} in line {node.lineno}"
    blocks = [
        each for each in tree.body if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"
    ]
    for block in blocks[1:]:
        yield from (
            f"line {each.lineno}" for each in block.body if isinstance(each, ast.Import | ast.ImportFrom)
        )


def test_docstrings_refer_to_what_is_there() -> None:
    """A module is not its own reference: one that is joined with another took over the sentences about it."""
    wrong = [(name, *each) for name, path in modules().items() for each in unknown_references(name, path)]
    assert wrong == []


def unknown_references(name: str, path: Path) -> Iterator[tuple[str, str]]:
    """Yield the references of docstrings to no other module, and to full names that no module defines."""
    own = name if path.name == "__init__.py" else name.rpartition(".")[0]
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    documented = (node for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
    text = "\n".join(filter(None, map(ast.get_docstring, documented)))
    for kind, target in re.findall(r":(\w+):`~?([^`]+)`", text):
        whole = target if target.startswith("lossless.") else f"{own}.{target.removeprefix('.')}"
        if kind == "mod":
            if whole == name or (
                whole not in modules() and target.partition(".")[0] not in sys.stdlib_module_names
            ):
                yield kind, target
        elif target.startswith("lossless.") and not target.startswith("lossless.api."):
            home = max((each for each in modules() if target.startswith(f"{each}.")), key=len)
            if target.removeprefix(f"{home}.") not in _defined(modules()[home]):
                yield kind, target


_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[a-z0-9_]+(?:/[a-z0-9_]+)*(?:/|\.py)?")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)?")
_JOINS = {" ", " (", ", ", " and "}
"""What may stand between a file and the names that it defines, and between these."""


def missing(text: str) -> Iterator[str]:
    """Yield the files, folders and names in code spans of a map that do not exist."""
    folder, module, end = "", None, 0
    for part in re.split(r"(?m)^(?=#+ |\| `[a-z_]+/[a-z_]*` \|)", text):
        folder, module = "", None
        for span in _SPAN.finditer(part):
            named, joined = span[1], part[end : span.start()].replace("\n", " ").replace("  ", " ")
            end = span.end()
            if _PATH.fullmatch(named) and ("/" in named or named.endswith(".py")):
                path = next(filter(_exists, _places(folder, named)), None)
                if path is None:
                    yield f"{named} after {folder}"
                module = path if path is not None and path.suffix else None
                moves = "/" in named.rstrip("/") or not folder
                if path is not None and moves and path.is_relative_to(PACKAGE):
                    folder = str((path.parent if module else path).relative_to(PACKAGE))
            elif module is None or joined not in _JOINS or not _NAME.fullmatch(named):
                module = None
            elif named not in _defined(module):
                yield f"`{named}` in {module.relative_to(ROOT)}"


def _places(folder: str, named: str) -> Iterator[Path]:
    """Yield where a path may be: below the folder named last, in the package, or beside it."""
    if folder:
        yield PACKAGE / folder / named
    if not folder or "/" in named:
        yield PACKAGE / named
        yield ROOT / named


def _exists(path: Path) -> bool:
    """Return whether there is a file, or a folder with more than the cache that a deleted package leaves."""
    return path.is_file() or (path.is_dir() and any(each.name != "__pycache__" for each in path.iterdir()))


@cache
def _defined(module: Path) -> frozenset[str]:
    """Return the names that a module defines itself, with those in its classes."""
    if module.suffix != ".py":
        return frozenset()
    names = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return frozenset(names)


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
