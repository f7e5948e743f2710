"""The page of published failures, written from the replays: ``python tools/incident_page.py [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from lossless.output.report.columns import markdown_table  # noqa: E402
from tests.checks.rules.incidents.replays import INCIDENTS  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.checks.rules.incidents.replays import Incident

PAGE = ROOT / "docs" / "incidents.md"
_INTRODUCTION = """\
# Published failures, and the rules that find them

Each failure that is visible in an intent or a `config_db.json` is injected into `examples/roce-256`, or into
`examples/infiniband-256-ndr`, as a test. The rule in the last column must report it; without it the examples have no
findings. For failures that are visible in no such file, the last column says why.
"""


def page() -> str:
    """Return the text of the page."""
    heads = ("", "what happened", "source", "injected fault", "reported by")
    rows = [row for incident in INCIDENTS for row in _rows(incident)]
    seen = sum(bool(incident.replays) for incident in INCIDENTS)
    counts = f"{seen} of {len(INCIDENTS)} are replayed."
    return f"{_INTRODUCTION}\n{counts}\n\n{markdown_table(heads, rows)}\n"


def _rows(incident: Incident) -> list[tuple[str, ...]]:
    about = (incident.number, incident.what, incident.source)
    if not incident.replays:
        return [(*about, "-", f"not visible: {incident.unseen}")]
    return [
        (*about, replay.injected, f"[{replay.code}](rules/{replay.code}.md)") for replay in incident.replays
    ]


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` report that it is stale."""
    return write_or_check({PAGE: page()}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
