"""Where things lie that tests of any depth read."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
EXAMPLES = ROOT / "examples"
RULE_BASES = TESTS / "checks" / "rules" / "bases"
