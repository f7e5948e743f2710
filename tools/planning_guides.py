"""The guides to topology, workload and storm: what commands print in them, and their pictures.

python tools/planning_guides.py           write them again
python tools/planning_guides.py --check   say what is stale
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools.answers import DOCS, elsewhere, run, stale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GUIDES = DOCS / "guides"
PICTURES: Mapping[str, Mapping[str, str]] = {
    "topology.md": {"roce-256.svg": "topology-roce-256.svg", "pods.svg": "topology-three-tier.svg"},
    "workload.md": {},
    "storm.md": {"dead.svg": "storm-roce-256.svg"},
}
"""By guide: what its commands draw, and what that is called beside it."""
FILES: Mapping[str, Sequence[str]] = {
    "topology.md": ("fabric.yaml", "grown.yaml", "fabric.yaml", "cabling.csv", "faults.csv", "cabled.csv"),
}
"""By guide: what whole intents and sheets in it are called, in their order; one may take the place of another."""


def fresh() -> dict[Path, str]:
    """Return the guides with what their commands print now, and their pictures."""
    found: dict[Path, str] = {}
    for name, pictures in PICTURES.items():
        with elsewhere():
            found[GUIDES / name] = run(GUIDES / name, FILES.get(name, ()))
            found |= {GUIDES / kept: Path(made).read_text("utf-8") for made, kept in pictures.items()}
    return found


def main(arguments: Sequence[str]) -> int:
    """Write all, or with ``--check`` report what is stale."""
    return stale(fresh(), check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
