"""Whether tuned thresholds beat the presets: every intent of some paths, one JSON object.

    tune.py [--evaluations N] [--seeds N] [--workload NAME] PATH...

``rows`` has for each intent how many settings were tried, how long that took, and for each preset whether the chosen
setting dominates it, which other does, or that none of those tried does. An intent that cannot be tuned says why.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from lossless import api
from lossless.ground.basics.errors import LosslessError


def main() -> None:
    """Tune every intent, print what came of it, and how many presets were beaten."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--workload", action="append", default=[])
    given = parser.parse_args()
    ask = api.TuneAsk(
        workloads=tuple(given.workload), evaluations=given.evaluations, limits=api.Limits(seeds=given.seeds)
    )
    rows = [row(path, ask) for path in given.paths]
    presets = [preset for each in rows for preset in each.get("presets", {}).values()]
    summary = {word: presets.count(word) for word in ("chosen", "another", "none")}
    json.dump({"rows": rows, "summary": summary}, sys.stdout, indent=1)
    sys.stdout.write("\n")


def row(path: str, ask: api.TuneAsk) -> dict[str, Any]:
    """Return what tuning found of one intent."""
    begun = time.perf_counter()
    try:
        tuned = api.tune(path, ask).tuned
    except LosslessError as error:
        return {"intent": path, "not_tuned": str(error)}
    return {
        "intent": path,
        "tried": len(tuned.rows),
        "steps": tuned.steps,
        "took_s": round(time.perf_counter() - begun, 1),
        "chosen": None if tuned.chosen is None else tuned.chosen.row.kpis.objectives,
        "presets": {
            each.name: "chosen" if each.dominated else "another" if each.beaten_by else "none"
            for each in tuned.standings
        },
    }


if __name__ == "__main__":
    main()
