"""What the packet-level model says beside published tests and measurements of switches.

    published.py

One JSON object goes to stdout: ``rows`` has for each case and measure the published bounds, what the model shows, and
whether both agree.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from benchmarks.published_cases import Q3, Q4, RECEIVER, SWITCH, WEIGHTS, Published, cases
from lossless.analysis.simulation.engine.run import Simulation, prepare


def main() -> None:
    """Run every case, and print what agrees."""
    prepare()
    found = [row for case in cases() for row in rows(case)]
    summary = {word: sum(row["verdict"] == word for row in found) for word in ("agrees", "differs")}
    json.dump({"rows": found, "summary": summary}, sys.stdout, indent=1)
    sys.stdout.write("\n")


def rows(case: Published) -> list[dict[str, Any]]:
    """Return a row for each measure of a case."""
    shown = measures(case)
    return [
        {
            "case": case.name,
            "measure": name,
            "published": [least, most],
            "model": shown[name],
            "verdict": "agrees" if _within(shown[name], least, most) else "differs",
            "source": case.source,
            "assumed": case.assumed,
        }
        for name, (least, most) in case.expected.items()
    ]


def _within(value: float, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def measures(case: Published) -> dict[str, float]:
    """Return all measures of a case; rates and shares over the second half of its time."""
    simulation = Simulation(case.network, 1)
    simulation.advance(case.horizon_ns / 2)
    before = _sent(simulation)
    simulation.advance(case.horizon_ns)
    after = _sent(simulation)
    flows, queues = (now - then for now, then in zip(after, before, strict=True))
    groups = simulation.state.groups.reshape(-1, simulation.index.classes)
    lossless = groups["lossless"] == 1
    rates = flows[np.array(simulation.index.flow_at)]
    return {
        "lossless_drops": int(groups["drops"][lossless].sum()),
        "lossy_drops": int(groups["drops"][~lossless].sum()),
        "marks": int(simulation.state.clock["marks"][0]),
        "cnps": int(simulation.state.clock["cnps"][0]),
        "pauses_q3": int(groups["pauses"][:, Q3].sum()),
        "pauses_q4": int(groups["pauses"][:, Q4].sum()),
        "flow_ratio": round(float(rates[0] / max(1, rates[1])), 5),
        "deviation": round(float((rates.max() - rates.min()) / max(1.0, rates.mean())), 3),
        **{f"share_{queue}": round(float(queues[queue] / max(1, queues.sum())), 4) for queue in WEIGHTS},
    }


def _sent(simulation: Simulation) -> tuple[Any, Any]:
    """Return the bytes that each flow has delivered, and that each queue has sent to the receiver."""
    index = simulation.index
    link = index.wiring.ends.index((SWITCH, RECEIVER))
    first = link * index.classes
    return (
        simulation.state.flows["expected_psn"].copy(),
        simulation.state.queues["sent_bytes"][first : first + len(WEIGHTS)].copy(),
    )


if __name__ == "__main__":
    main()
