"""Names the test files that a change can affect, by their imports and the folders of data that they read.

    python tools/affected.py [BASE]            prints them, for what differs from BASE (HEAD), new files included
    python tools/affected.py --reads FOLDER    exit 1 where a test read data that this table does not know of

A module depends on what it imports, late imports and modules named in strings included, but for imports that only
annotations need; where a name is made up at run time, on the whole package. A changed file of data affects the modules
that name its folder. What fits nothing here affects all tests. ``make affected`` runs what is printed.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
CODE = ("lossless", "tests", "tools", "benchmarks")
DATA = {
    "docs": ("docs", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    "examples": ("examples",),
    "integrations": ("integrations", "action.yml", ".pre-commit-hooks.yaml"),
    "profiles": ("profiles",),
    "templates": ("templates",),
    "benchmarks": ("benchmarks",),
    "tools": ("tools",),
}
"""By folder: the words by which a module names it, and files at the root that change like the folder."""
IN_THE_WHEEL = ("examples", "profiles", "templates")
"""Folders that the package itself reads, each by its name."""
FINDS_DATA = "lossless.ground.basics.files"
"""The module that finds all of them, for modules that name one."""
SCANS = {"*.py", "ls-files"}
"""Strings of modules outside the package that read all sources as text."""
COPIES = "--cached"
"""String of modules outside the package that list the files of the checkout, to copy them or to compare all."""
COMMAND = "lossless.interfaces.cli"
"""The dependency of a module that starts the command."""
_NAMED = re.compile(r"\b(?:lossless|tests|tools|benchmarks)(?:\.\w+)+")
_SCRIPT = re.compile(r"\b(?:tools|benchmarks|tests)/[\w/]+\.py\b")


@cache
def modules() -> dict[str, Path]:
    """Return every module by its dotted name, packages by theirs."""
    named = {}
    for path in (path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py"))):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if not {"_data", "node_modules"} & {*parts}:
            named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


class Module:
    """The imports and the strings of one module."""

    def __init__(self, name: str) -> None:
        """Read a module by its dotted name."""
        path = modules()[name]
        self.name = name
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.strings: set[str] = set()
        self.targets = {*_above(name)}
        self._walk(ast.parse(path.read_text(encoding="utf-8")))
        for text in self.strings:
            self._named_in(text)

    def _walk(self, node: ast.AST) -> None:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            return
        if isinstance(node, ast.ImportFrom) and node.module:
            self.targets |= {_home(f"{node.module}.{alias.name}") for alias in node.names}
        elif isinstance(node, ast.Import):
            self.targets |= {_home(alias.name) for alias in node.names}
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            # A module whose last part is made up at run time is any of the package.
            prefix = str(node.values[0].value)
            if prefix.endswith(".") and prefix[:-1] in modules():
                self.targets |= {other for other in modules() if other.startswith(prefix)}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # documentation
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.strings.add(node.value)
        for child in ast.iter_child_nodes(node):
            self._walk(child)

    def _named_in(self, text: str) -> None:
        self.targets |= {_known(name) for name in _NAMED.findall(text)}
        self.targets |= {_known(path[:-3].replace("/", ".")) for path in _SCRIPT.findall(text)}
        if f"{self.package}.{text}" in modules():
            self.targets.add(f"{self.package}.{text}")
        if not self.name.startswith("lossless") and (text == "lossless" or "bin/lossless" in text):
            self.targets.add(COMMAND)


def _above(name: str) -> Iterator[str]:
    """Yield the packages above a module, and the files of fixtures beside them that pytest loads."""
    while name := name.rpartition(".")[0]:
        yield from {name, f"{name}.conftest"} & modules().keys()


def _known(name: str) -> str:
    """Return the module that a dotted name leads into, nothing where it leads to none of ours."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


@cache
def _public() -> dict[str, str]:
    """Return the module of each name of ``lossless.api``, which imports it when it is asked for."""
    from lossless.api import _HOMES

    return {name: resolve_name(f".{home}", "lossless.interfaces.api") for name, home in _HOMES.items()}


def _home(name: str) -> str:
    package, _, last = name.rpartition(".")
    return _public()[last] if package == "lossless.api" and last in _public() else _known(name)


@cache
def graph() -> dict[str, Module]:
    """Return all modules, read."""
    return {name: Module(name) for name in modules()}


@cache
def _importers() -> dict[str, set[str]]:
    importers: dict[str, set[str]] = defaultdict(set)
    for name, module in graph().items():
        for target in module.targets - {"", name}:
            importers[target].add(name)
    # Whoever asks for the face of the API by its own name may ask it for anything.
    for name in _public().values():
        importers[name].add("lossless.api")
    return importers


def dependents(names: Iterable[str]) -> set[str]:
    """Return the modules that depend on some, they themselves included."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += _importers().get(name, ())
    return seen


def readers(folder: str) -> set[str]:
    """Return the modules that name a folder of data in a string; those of the package where the wheel has it."""
    words = "|".join(map(re.escape, DATA[folder]))
    pattern = re.compile(rf"(?:^|[/\s'\"(])(?:{words})(?:$|[/\s'\")])")
    return {
        name
        for name, module in graph().items()
        if (folder in IN_THE_WHEEL and folder in module.strings and name != FINDS_DATA)
        or (
            not name.startswith("lossless")
            and (COPIES in module.strings or any(map(pattern.search, module.strings)))
        )
    }


def tests() -> set[str]:
    """Return all test files, as paths from the root."""
    return {_file(name) for name in modules() if _is_test(name)}


def _is_test(name: str) -> bool:
    return name.startswith("tests.") and name.rpartition(".")[2].startswith("test_")


def _file(name: str) -> str:
    return str(modules()[name].relative_to(ROOT))


def affected(paths: Iterable[str]) -> set[str]:
    """Return the test files that changed files can affect; all of them where one fits nothing."""
    changed: set[str] = set()
    for path in paths:
        names = _modules_of(path)
        if names is None:
            return tests()
        changed |= names
    return {_file(name) for name in dependents(changed) if _is_test(name)}


def _modules_of(path: str) -> set[str] | None:
    """Return the modules that a changed file is, or that read it; None where any may."""
    top, _, rest = path.partition("/")
    folder = next((name for name, words in DATA.items() if path in words), top)
    if path.endswith(".py") and top in CODE:
        name = path[:-3].replace("/", ".").removesuffix(".__init__")
        # A module that is gone is still named by those that import it.
        scans = {each for each, module in graph().items() if SCANS & module.strings}
        return ({name, _known(name)} | {each for each in scans if not each.startswith("lossless.")}) - {""}
    if top == "tests" and "/" in rest:
        return _near(path)
    return readers(folder) if folder in DATA else None


def _near(path: str) -> set[str]:
    """Return the modules of the package of a file of test data, and those that name it or its folder of data."""
    parts = path.split("/")
    package = ".".join(parts[:2])
    folders = {part for part in parts[2:-1] if not any(f".{part}." in name for name in modules())}
    words = {*folders, parts[-1], parts[-1].partition(".")[0]}
    beside = {name for name in modules() if name.startswith(f"{package}.")}
    return beside | {name for name, module in graph().items() if words & module.strings}


def changed_files(base: str) -> list[str]:
    """Return the files that differ from a commit, those that git does not know yet included."""
    asked = (("diff", "--name-only", "--no-renames", base), ("ls-files", "--others", "--exclude-standard"))
    answers = [
        subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for words in asked
    ]
    return sorted({line for answer in answers for line in answer.splitlines()})


def unknown_reads(folder: Path) -> list[str]:
    """Return the test files that read a folder of data (``reads-*.json``) and would not run when it changes."""
    known = {name: {_file(each) for each in dependents(readers(name)) if _is_test(each)} for name in DATA}
    reads: set[tuple[str, str]] = set()
    for record in folder.glob("reads-*.json"):
        reads |= {(file, top) for file, top in json.loads(record.read_text())}
    return [
        f"{file} reads {top}/, and tools/affected.py does not see that"
        for file, top in sorted(reads)
        if top in DATA and file not in known[top]
    ]


def main(arguments: list[str]) -> int:
    """Print the files, or reads that the table misses; return the exit code."""
    if arguments[:1] == ["--reads"]:
        lacking = unknown_reads(Path(arguments[1]))
        print("\n".join(lacking), end="\n" if lacking else "")
        return int(bool(lacking))
    files = affected(changed_files(arguments[0] if arguments else "HEAD"))
    print(f"{len(files)} of {len(tests())} test files depend on what changed", file=sys.stderr)
    print("\n".join(sorted(files)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
