"""How long commands take as whole processes, as ratios to ``python -c pass`` in the same run."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.fabrics import leaf_of_64_ports
from benchmarks.measure import ratios, report
from lossless.formats.device_files.switches import switch_file

ROOT = Path(__file__).parent.parent
LOSSLESS = str(Path(sys.executable).parent / "lossless")


def main() -> None:
    """Measure and print."""
    fabric, base = leaf_of_64_ports()
    with tempfile.TemporaryDirectory() as folder:
        config_db = Path(folder) / "config_db.json"
        config_db.write_text(switch_file(fabric.switches[0], base).text, encoding="utf-8")
        found = ratios(
            {
                "lossless --help": [LOSSLESS, "--help"],
                "lint one 64-port config_db.json": [LOSSLESS, "lint", str(config_db)],
                "lint one intent": [LOSSLESS, "lint", str(ROOT / "examples" / "roce-256" / "fabric.yaml")],
            }
        )
    goals = (5.0, 8.0, 25.0)
    report([(name, ratio, goal, "x bare") for (name, ratio), goal in zip(found.items(), goals, strict=True)])


if __name__ == "__main__":
    main()
