"""The faults of ``make mutants``: which edits they are, and what they leave alone."""

from __future__ import annotations

import ast

import pytest

from tests.paths import ROOT
from tools.mutations import faults


def changed(*lines: str) -> list[str]:
    """Return how the lines of a function, indented here, read with each fault in them."""
    source = "\n".join(["def f(a: int = 0 or 1) -> bool:", *(f"    {line}" for line in lines), ""])
    new = [fault.difference(source.encode())[1] for _, fault in faults("made.py", source.encode())]
    return [line for line in new if not line.startswith("def ")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = a and b or c", ["x = a and b and c", "x = a or b or c"]),
        ("x = not a", ["x = (a)"]),
        ("x = a // b", ["x = a * b"]),
        ("x -= a", ["x += a"]),
        ("x = 1", ["x = 2"]),
        ("x = True", ["x = False"]),
        ("x = a[b:]", ["x = a[b + 1:]"]),
        ("x = a.get(b, ())", ["x = a.get(b)"]),
        ("x = a.get(b, None)", []),
        ("x = min(a)", ["x = max(a)"]),
        ("return g(a)", ["return not (g(a))"]),
        ("return a == b", ["return a != b"]),
        ("for x in a: continue", ["for x in a: break"]),
        ("x = b if a else c", ["x = b if (not (a)) else c"]),
        ("x = 'a' + b", []),
        ("x = f'{a + b}'", []),
        ("x: Literal[1] | None = a", []),
        ("x = zip(a, strict=True)", []),
        ("é = 'é'; x = a < b", ["é = 'é'; x = a <= b"]),
    ],
)
def test_each_kind_of_fault(line: str, expected: list[str]) -> None:
    assert changed(line) == expected


def test_what_runs_on_import_has_no_lines_and_a_statement_has_all_of_its_own() -> None:
    lines = [
        "A = 1",
        "def f(b):",
        "    if (",
        "        b",
        "        < 2",
        "    ):",
        "        return g(",
        "            3)",
        "",
    ]
    found = [(fault.line, fault.lines) for _, fault in faults("made.py", "\n".join(lines).encode())]
    assert found == [(1, range(0)), (5, range(3, 7)), (5, range(3, 7)), (7, range(7, 9)), (8, range(7, 9))]


def test_a_name_of_a_fault_stays_while_other_lines_are_edited() -> None:
    before = {name for name, _ in faults("made.py", b"A = 1\nB = 1\nB = 1\n")}
    after = {name for name, _ in faults("made.py", b"# more\nC = 2\nB = 1\nB = 1\n")}
    assert len(before) == len(after) == 3
    assert len(before & after) == 2


@pytest.mark.tools("sources")
@pytest.mark.parametrize("module", ["analysis/buffers/verdict.py", "analysis/routing/dependencies.py"])
def test_every_fault_of_a_module_is_one_other_program(module: str) -> None:
    source = (ROOT / "lossless" / module).read_bytes()
    programs = {ast.dump(ast.parse(fault.applied(source))) for _, fault in faults(module, source)}
    assert len(programs) == len(faults(module, source))
    assert ast.dump(ast.parse(source)) not in programs
