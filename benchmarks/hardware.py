"""Closed forms held to hardware: the packet counts that upstream's tests of QoS expect on real switches.

    hardware.py FILE...

One JSON object goes to stdout: ``rows``, each a count that was recorded with the one that is predicted, the margin of
the test, a verdict and a reason; and ``summary``. What a row may be of is found by chip, speed, length and place:
``unique`` is one prediction, ``ambiguous`` several, ``none`` no HWSKU. The reason of a row that differs names what can
be checked upstream; ``unexplained`` says that nothing was found. A row is ``apart``
where it is none of the chip with the buffers of today's files: of older files, of another HWSKU, a copy of another
chip's row, or not measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.hardware_predictions import predicted
from benchmarks.hardware_reasons import UNEXPLAINED, Reasons
from benchmarks.hardware_records import read
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.load import load_switch, switch_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.hardware_predictions import Prediction
    from benchmarks.hardware_records import Recorded

Row = dict[str, Any]


def main() -> None:
    """Compare every count of the files named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, metavar="FILE", nargs="+")
    counts = [one for file in parser.parse_args().files for one in read(file)]
    json.dump(compared(counts), sys.stdout, indent=1)
    sys.stdout.write("\n")


def compared(recorded: Sequence[Recorded]) -> dict[str, Any]:
    """Return the rows and the summary of all measurements."""
    profiles = [load_switch(name) for name in switch_names()]
    reasons = Reasons(profiles)
    predictions = [predicted(profiles, one, reasons.recording_of(one)) for one in recorded]
    by_topology: dict[tuple[str, str], list[Prediction]] = {}
    for one in predictions:
        by_topology.setdefault((one.recorded.asic, one.recorded.topology), []).append(one)
    rows = [
        _row(
            one,
            reasons.of(one, by_topology[one.recorded.asic, one.recorded.topology]),
            apart=one.verdict != "not compared" and bool(reasons.apart(one)),
        )
        for one in predictions
    ]
    return {"rows": rows, "summary": summary(rows)}


def _row(one: Prediction, reason: str, *, apart: bool) -> Row:
    recorded = one.recorded
    return {
        "asic": recorded.asic,
        "topology": recorded.topology,
        "speed": format_rate(recorded.speed_bps),
        "cable": f"{recorded.cable_m}m",
        "test": recorded.test,
        "what": recorded.what,
        "predicted": one.nearest,
        "recorded": recorded.packets,
        "margin": recorded.margin,
        "verdict": one.verdict,
        "reason": reason,
        "apart": apart,
        "join": one.join,
        "hwskus": sorted({candidate.name for candidate in one.candidates}),
        "predictions": {str(packets): names for packets, names in sorted(one.by_packets.items())},
    }


def summary(rows: Sequence[Row]) -> Row:
    """Return counts by verdict: of each quantity and join, and of each chip; and what of unique headroom agrees."""
    unique = [row for row in rows if row["what"] == "headroom" and row["join"] == "unique"]
    agreeing = sum(row["verdict"] == "agrees" for row in unique)
    return {
        "rows": len(rows),
        "unique_headroom": len(unique),
        "unique_headroom_agrees": agreeing,
        "unique_headroom_part": agreeing / len(unique) if unique else None,
        "unexplained": sum(row["reason"] == UNEXPLAINED for row in rows),
        "headroom": _of_todays_files(rows, "headroom"),
        "xoff point": _of_todays_files(rows, "xoff point"),
        "by_what": _counted(rows, ("what", "join", "verdict")),
        "by_asic": _counted(rows, ("asic", "what", "verdict")),
        "reasons": dict(Counter(row["reason"] for row in rows if row["verdict"] == "differs").most_common()),
    }


def _of_todays_files(rows: Sequence[Row], what: str) -> dict[str, dict[str, int | float]]:
    """Return, for each chip, the counts that agree of those compared, and the largest part that one is off.

    Counts that are none of the chip with the buffers of today's files are ``apart``.
    """
    found: dict[str, dict[str, int | float]] = {}
    for row in rows:
        if row["what"] != what or row["verdict"] == "not compared":
            continue
        chip = found.setdefault(row["asic"], {"agree": 0, "compared": 0, "apart": 0, "most_off": 0.0})
        if row["apart"]:
            chip["apart"] += 1
            continue
        chip["compared"] += 1
        chip["agree"] += row["verdict"] == "agrees"
        chip["most_off"] = max(chip["most_off"], abs(row["predicted"] / row["recorded"] - 1))
    return found


def _counted(rows: Iterable[Row], keys: tuple[str, str, str]) -> dict[str, dict[str, dict[str, int]]]:
    counted: dict[str, dict[str, dict[str, int]]] = {}
    for row in rows:
        first, second, third = (row[key] for key in keys)
        inner = counted.setdefault(first, {}).setdefault(second, {})
        inner[third] = inner.get(third, 0) + 1
    return counted


if __name__ == "__main__":
    main()
