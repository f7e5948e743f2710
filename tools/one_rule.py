"""Records one rule, writes its pages, and runs what a mistake in a rule makes fail: ``make rule CODE=WD020``.

    python tools/one_rule.py CODE [OPTION ...]

What the rule reports of its examples is written on record, and what changed there is printed: read it. Then check its
types, and run its examples against all rules and the examples of all others against it, its family, every test file
that names it and is not among the heaviest, the corpus, other systems, the catalog and severities of rules, and the
documentation. Options are passed to pytest, such as ``-k`` for some of these tests.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lossless.checks.rules.registry import RULES, module_of  # noqa: E402
from tools.durations import on_record  # noqa: E402

TESTS = "tests/checks/rules"
RECORDS = (
    f"{TESTS}/recorded-examples.txt",
    f"{TESTS}/recorded-values.txt",
    f"{TESTS}/scenarios",
    "docs/rules",
    "docs/dialects.md",
)
ALWAYS = (
    f"{TESTS}/test_rule_snippets.py",
    f"{TESTS}/test_rule_basics.py",
    f"{TESTS}/test_catalogue.py",
    f"{TESTS}/test_severities.py",
    f"{TESTS}/test_frozen_codes.py",
    f"{TESTS}/test_selectors.py",
    f"{TESTS}/test_healthy_fabrics.py",
    f"{TESTS}/test_related_places.py",
    f"{TESTS}/test_corpus.py",
    "tests/checks/verify/test_capture_verdicts.py",
    "tests/formats/switches/test_rules_on_dialects.py",
    "tests/interfaces/cli/test_cli_startup.py",
    "tests/test_docs.py",
    "tests/test_architecture.py",
    "tests/test_names.py",
    "tests/test_phrases.py",
)
"""Tests of all rules: one that is wrong shows in them, whatever it is about."""


def naming(code: str) -> list[str]:
    """Return the test files that name a rule, without those that take long and that test all rules anyway."""
    named = re.compile(rf"\b(?:{code}|{RULES[code].name})\b")
    heavy = {cost.file for cost in on_record()}
    files = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if "node_modules" not in path.parts
    ]
    return [
        file
        for file in files
        if file not in heavy and named.search((ROOT / file).read_text(encoding="utf-8"))
    ]


def run(*command: str) -> bool:
    """Run a command of this project; return whether it succeeds."""
    return subprocess.run([sys.executable, *command], cwd=ROOT, check=False).returncode == 0


def main(arguments: list[str]) -> int:
    """Record, write and test; return the exit code."""
    if not arguments or not re.fullmatch(r"[A-Z]{2,3}\d{3}", arguments[0]):
        print("name one rule: make rule CODE=WD020", file=sys.stderr)
        return 2
    code, *options = arguments
    if code not in RULES:
        print(f"no file {code.lower()}_*.py in a folder of lossless/checks/rules", file=sys.stderr)
        return 1
    recorder = ("-m", "tests.checks.rules.recorded", code)
    sound = run(*recorder) and run("tools/rule_pages.py", "docs/rules") and run("tools/dialect_rules.py")
    subprocess.run(["git", "--no-pager", "diff", "--stat", "--", *RECORDS], cwd=ROOT, check=False)
    typed = run("-m", "mypy", "-m", module_of(code))
    files = sorted({*ALWAYS, *naming(code)} - {f"{TESTS}/test_recorded.py"})
    recorded = run("-m", "pytest", "-n0", f"{TESTS}/test_recorded.py", "-k", f"{code} or in_no_other_test")
    tested = run("-m", "pytest", "-n", "auto", "--dist", "loadgroup", "-m", "not tools", *options, *files)
    return int(not (sound and typed and recorded and tested))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
