"""The table of captures that are read, in the guide to verify: ``python tools/capture_table.py [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.formats.inputs.capture_forms import PACKAGES, declared_by  # noqa: E402
from lossless.output.report.columns import markdown_table  # noqa: E402
from tools.generated import between_marks, write_or_check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

GUIDE = ROOT / "docs" / "guides" / "verify.md"


def with_table(text: str) -> str:
    """Return the guide with its table again."""
    titles = {source: [form.title for form in declared_by(source).FORMS if form.title] for source in PACKAGES}
    rows = [(source, ", ".join(titles[source])) for source in PACKAGES]
    return between_marks(text, "tools/capture_table.py", markdown_table(("from", "what"), rows))


def main(arguments: Sequence[str]) -> int:
    """Write the guide, or with ``--check`` report that it is stale."""
    return write_or_check({GUIDE: with_table(GUIDE.read_text(encoding="utf-8"))}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
