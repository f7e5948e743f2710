"""The rows of all rules in one module, so that a linter starts without opening the file of each.

``python tools/compile_rules.py`` writes ``lossless/checks/rules/compiled_rows.py`` from the docstrings of the rules;
with ``--check`` it says whether that is stale.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lossless.checks.rules.rule_rows import FUNCTIONS, Subject  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

RULES = ROOT / "lossless" / "checks" / "rules"
_FILE = re.compile(r"([a-z]{2,3}\d{3})_\w+\.py")
_HEAD = '''"""The rows of all rules by code, written from their docstrings by ``tools/compile_rules.py``."""

from __future__ import annotations

from lossless.checks.rules.rule_rows import RuleRow

# fmt: off
ROWS = (
'''
_TAIL = ")\n# fmt: on\n"


def row_of(path: Path) -> str:
    """Return the row of a rule, as code.

    Raises:
        SystemExit: its docstring does not say what the rule is given, or names what no rule is given.
    """
    module = ast.parse(path.read_text(encoding="utf-8"))
    head = (ast.get_docstring(module) or "").partition("\n## ")[0]
    fields = dict(re.findall(r"^([A-Z][a-z]+): (.+)$", head, re.MULTILINE))
    subjects = tuple(filter(None, fields.get("Subject", "").split(", ")))
    wrong = [subject for subject in subjects if subject not in get_args(Subject)]
    if wrong or not subjects:
        said = f"Subject: {', '.join(wrong)} is none" if wrong else "its docstring has no line Subject:"
        sys.exit(
            f"{path.parent.name}/{path.name}: {said}; it is one or more of {', '.join(get_args(Subject))}"
        )
    named = {statement.name for statement in module.body if isinstance(statement, ast.FunctionDef)}
    named |= {
        alias.asname or alias.name
        for part in module.body
        if isinstance(part, ast.ImportFrom)
        for alias in part.names
    }
    for subject in subjects:
        if (name := FUNCTIONS.get(subject, "check")) not in named:
            sys.exit(f"{path.parent.name}/{path.name}: has no function {name}, which is given {subject}")
    given = ", ".join(f'"{subject}"' for subject in subjects) + ("," if len(subjects) == 1 else "")
    needs = f', "{fields["Needs"]}"' if "Needs" in fields else ""
    code = path.name.partition("_")[0].upper()
    return f'    RuleRow("{code}", "{path.parent.name}.{path.stem}", ({given}){needs}),\n'


def compiled() -> str:
    """Return the text of the module."""
    files = [path for path in RULES.glob("*/*.py") if _FILE.fullmatch(path.name)]
    return _HEAD + "".join(map(row_of, sorted(files, key=lambda path: path.name))) + _TAIL


def main(arguments: Sequence[str]) -> int:
    """Write the module, or with ``--check`` report that it is stale."""
    return write_or_check({RULES / "compiled_rows.py": compiled()}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
