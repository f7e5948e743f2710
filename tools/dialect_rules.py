"""The rules that say nothing of a system, in the page of dialects: ``python tools/dialect_rules.py [--check]``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.formats.switches.registry import TITLES, dialect  # noqa: E402
from lossless.ground.basics.findings import grouped  # noqa: E402
from lossless.output.report.columns import markdown_table  # noqa: E402
from tools.generated import between_marks, write_or_check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE = ROOT / "docs" / "dialects.md"


def with_tables(text: str) -> str:
    """Return the page with a table for each dialect again."""
    tables = (
        f"## Rules that say nothing of {title.split()[-1]}\n\n{_table(dialect(name).not_applicable)}"
        for name, title in TITLES.items()
    )
    return between_marks(text, "tools/dialect_rules.py", "\n\n".join(tables))


def _table(reasons: Mapping[str, str]) -> str:
    by_reason = grouped((reason, _linked(code)) for code, reason in sorted(reasons.items()))
    return markdown_table(
        ("rule", "why"), [(", ".join(codes), _linked(reason)) for reason, codes in by_reason.items()]
    )


def _linked(text: str) -> str:
    """Return a text whose codes of rules are links to their pages."""
    return re.sub(r"\b[A-Z]{2,3}[0-9]{3}\b", r"[\g<0>](rules/\g<0>.md)", text)


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` report that it is stale."""
    return write_or_check({PAGE: with_tables(PAGE.read_text(encoding="utf-8"))}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
