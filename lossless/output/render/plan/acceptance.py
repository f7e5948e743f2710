"""The files of an acceptance test: its scripts, the pairs and settings that they read, and a page for people.

Scripts are the same for every fabric; what differs is in ``settings.sh``, ``pairs.tsv`` and ``mtu.tsv``. They run on a
machine that reaches hosts and switches by ssh.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.checks.plan.acceptance import (
    TEST_S,
    coverage_rows,
    expected_figures,
    minutes,
    mtu_pairs,
    spread_sentence,
    step_rows,
)
from lossless.formats.device_files.base_merge import PlannedFile
from lossless.formats.device_files.environment import render_template
from lossless.ground.basics.files import data_dir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.plan.acceptance import AcceptancePlan, TestPair
    from lossless.ground.basics.findings import Json

_ROWS = 12
"""Switches in the table of the page: more are in acceptance.json."""
_MARKS = "the marks are those of `lossless verify`; table `bandwidth` of `lossless.toml` sets others"
_STORMS = 3
"""Times the detection time of a storm: the watchdog compares counters at its polls."""


def acceptance_files(plan: AcceptancePlan, collector: str, data: Json) -> Iterator[PlannedFile]:
    """Yield the files of an acceptance test.

    ``collector`` is the text of the script that prints the state of a SONiC switch, ``data`` the plan as plain data.
    """
    rows = step_rows(plan)
    context = {
        "plan": plan,
        "test_s": TEST_S,
        "steps": rows,
        "minutes": minutes(plan.seconds),
        "scripts": [row.script for row in rows if "/" not in row.script],
        "expected": [*expected_figures(plan), _MARKS],
        "spread": spread_sentence(plan),
        "coverage": [row._asdict() for row in coverage_rows(plan)[:_ROWS]],
        "more": max(len(coverage_rows(plan)) - _ROWS, 0),
        **_pause_times(plan),
    }
    yield PlannedFile("README.md", render_template("acceptance/README.md.j2", context))
    yield PlannedFile("acceptance.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    yield PlannedFile("settings.sh", render_template("acceptance/settings.sh.j2", context))
    yield PlannedFile("run.sh", render_template("acceptance/run.sh.j2", context), executable=True)
    yield PlannedFile("pairs.tsv", "".join(map(_pair_line, plan.pairs)))
    scripts = [row.script for row in rows]
    if "mtu.sh" in scripts:
        ends = ((p.id, p.source, p.source_port, p.target, p.target_port) for p in mtu_pairs(plan))
        yield PlannedFile("mtu.tsv", "".join("\t".join(each) + "\n" for each in ends))
    if plan.switches:
        yield PlannedFile("lossless-collect-switch.sh", collector)
    if plan.pause_test is not None:
        scripts.append("disturbing/pfc-storm.py")
    for name in ("lib.sh", "on-host.sh", *scripts):
        text = Path(data_dir("templates"), "acceptance", name).read_text(encoding="utf-8")
        yield PlannedFile(
            name, text, executable=name.endswith(".sh") and name not in ("lib.sh", "on-host.sh")
        )


def _pair_line(pair: TestPair) -> str:
    """Return the line of a pair in pairs.tsv; the last column is empty where no bandwidth is expected."""
    mark = "" if pair.mark_gbps is None else pair.mark_gbps
    ends = (pair.source, pair.source_port, pair.target, pair.target_port)
    return "\t".join(map(str, (pair.id, pair.round, *ends, pair.queue_pairs, mark))) + "\n"


def _pause_times(plan: AcceptancePlan) -> dict[str, int]:
    """Return how long the storm lasts, and until the watchdog has restored, in whole seconds; 0 without a watchdog."""
    test = plan.pause_test
    if test is None or test.detection_ms is None:
        return {"storm_s": 0, "restored_s": 0}
    return {
        "storm_s": -(-_STORMS * test.detection_ms // 1000) + 1,
        "restored_s": -(-_STORMS * (test.restoration_ms or 0) // 1000) + 1,
    }
