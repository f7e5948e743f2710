"""What a sweep recommends, put into the intent as it says, shows in runs what the row of the sweep shows.

``reference/designs`` holds published fabrics as intents; one of each pair of runs has the setting laid over the model
of the fabric, the other reads it from the intent.
"""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile

import pytest

from lossless.analysis.simulation.study.grid import Grid
from lossless.api import Question, SimulationRequest, lint, state_thresholds, sweep
from tests.paths import ROOT

pytestmark = pytest.mark.tools("records")

HORIZON_NS = 200_000
EXAMPLES = ("inbox-drivers", "roce-256", "thor-64")
DESIGNS = (
    "colossus-rails",
    "storage-converged-25g",
    "superpod-roce-1su",
    "superpod-roce-dynamic",
)
GRID = Grid(dynamic_th=(-3, 1), kmax_bytes=(2 << 20,), pmax_percent=(40,))


@pytest.fixture
def designs(reference: Path) -> Path:
    return reference / "reference" / "designs"


def errors(intent: Path) -> set[str]:
    return {finding.code for finding in lint([intent]).findings if finding.severity == "error"}


@pytest.mark.parametrize("name", [*EXAMPLES, *DESIGNS])
def test_what_is_written_runs_as_the_row_says(name: str, designs: Path, tmp_path: Path) -> None:
    source = ROOT / "examples" / name / "fabric.yaml" if name in EXAMPLES else designs / f"{name}.yaml"
    intent = tmp_path / "fabric.yaml"
    copyfile(source, intent)
    ask = SimulationRequest(Question(nics=17))
    (swept,) = sweep(intent, GRID, ask=ask, horizon_ns=HORIZON_NS)
    for row in swept.rows:
        stated = state_thresholds(intent, swept.class_name, row.setting)
        written = tmp_path / "written.yaml"
        written.write_text(stated.after)
        if row.verdict != "unsafe":
            assert errors(written) == errors(intent)
        th, pmax = row.setting.dynamic_th, row.setting.pmax_percent
        assert th is not None
        assert pmax is not None
        # What one of the two grids varies, and to what it is already, the other reads from the intent.
        for grid in (Grid(dynamic_th=(th,)), Grid(pmax_percent=(pmax,))):
            (again,) = sweep(written, grid, ask=ask, horizon_ns=HORIZON_NS)
            assert [one._replace(setting=row.setting) for one in again.rows] == [row]
