"""Dashboards have the types that Grafana declares; a broken one has not. One run of its compiler, as it is slow."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.formats.telemetry.grafana.test_build import rendered
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TYPES = ROOT / "tools" / "grafana"
COMPILER = TYPES / "node_modules" / "typescript" / "bin" / "tsc"
OPTIONS = ("--noEmit", "--strict", "--skipLibCheck", "--target", "esnext", "--module", "esnext")
SUBJECTS = ("rails", "ufm")
"""Between them they have every kind of panel that there is."""
installed = pytest.mark.tools("grafana")


def broken(board: Any) -> Iterator[Any]:
    """Yield a dashboard with one mistake each: a text for a number, a key and a value that Grafana does not know."""

    def changed(**keys: Any) -> Any:
        panels = [dict(panel) for panel in board["panels"]]
        lines = next(panel for panel in panels if panel["type"] == "timeseries")
        lines |= keys
        return {**board, "panels": panels}

    yield changed(gridPos={"x": 0, "y": 0, "w": 8, "h": "eight"})
    yield changed(titel="a title")
    yield changed(type="timeserie")
    yield changed(
        options={"legend": {"displayMode": "lists", "placement": "bottom", "calcs": [], "showLegend": True}}
    )
    yield {**board, "schemaVersion": "41"}


@installed
def test_dashboards_have_the_types_of_grafana_and_broken_ones_have_not(tmp_path: Path) -> None:
    sound = [board for subject in SUBJECTS for board in rendered(subject).values()]
    wrong = list(broken(sound[0]))
    lines = [
        "import type { Checked } from './checked';",
        *(
            f"export const sound{number}: Checked = {json.dumps(board)};"
            for number, board in enumerate(sound)
        ),
        *(
            f"export const wrong{number}: Checked = {json.dumps(board)};"
            for number, board in enumerate(wrong)
        ),
    ]
    (tmp_path / "dashboards.ts").write_text("\n".join(lines), encoding="utf-8")
    shutil.copy(TYPES / "checked.ts", tmp_path)
    (tmp_path / "node_modules").symlink_to(TYPES / "node_modules")
    command = ["node", str(COMPILER), *OPTIONS, "--moduleResolution", "bundler", "dashboards.ts"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    refused = {int(line) for line in re.findall(r"^dashboards\.ts\((\d+),", done.stdout, re.MULTILINE)}
    first_wrong = 2 + len(sound)
    assert refused == set(range(first_wrong, first_wrong + len(wrong))), done.stdout[:4000]
