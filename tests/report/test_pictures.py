"""Pictures of a run: which there are, that they are whole, and the same every time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lossless.errors import LosslessError
from lossless.report.pictures import MISSING, occupancy, pauses, rates, write_pictures

PNG = b"\x89PNG\r\n\x1a\n"


def data(*kinds: str, last_us: float = 900.0) -> dict[str, Any]:
    series = [{"kind": kind, "name": f"{kind} at leaf1", "values": [0.0, 4e6, 2e6]} for kind in kinds]
    return {
        "title": "incast of 3 NICs",
        "seed": 7,
        "times_us": [0.0, last_us / 2, last_us],
        "series": series,
        "limits": [{"name": "Kmin", "bytes": 1e6}],
    }


EVERYTHING = data("egress", "memory", "group", "threshold", "paused", "rate")


def test_a_run_with_everything_draws_three_pictures_in_two_forms(tmp_path: Path) -> None:
    names = [Path(name).name for name in write_pictures(EVERYTHING, str(tmp_path / "new"), "run")]
    stems = ("run-occupancy", "run-pauses", "run-rates")
    assert names == [f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")]
    for name in names:
        head = (tmp_path / "new" / name).read_bytes()[:200]
        assert head.startswith(PNG) if name.endswith("png") else b"<?xml" in head
    assert not list((tmp_path / "new").glob(".*"))


def test_nothing_is_drawn_of_what_did_not_happen(tmp_path: Path) -> None:
    names = write_pictures(data("egress"), str(tmp_path), "run")
    assert [Path(name).name for name in names] == ["run-occupancy.png", "run-occupancy.svg"]
    assert pauses(data("egress")) is None
    assert rates(data("egress")) is None


def test_the_same_recording_draws_the_same_bytes(tmp_path: Path) -> None:
    first = write_pictures(EVERYTHING, str(tmp_path / "a"), "run")
    second = write_pictures(EVERYTHING, str(tmp_path / "b"), "run")
    assert [Path(name).read_bytes() for name in first] == [Path(name).read_bytes() for name in second]


def test_bytes_are_drawn_in_megabytes_with_thresholds_named() -> None:
    figure = occupancy(EVERYTHING)
    assert figure is not None
    (axes,) = figure.axes
    drawn: list[Any] = list(axes.get_lines())
    heights = {line.get_label(): max(line.get_ydata()) for line in drawn}
    assert heights == {
        "egress at leaf1": 4.0, "memory at leaf1": 4.0, "group at leaf1": 4.0, "threshold at leaf1": 4.0, "Kmin": 1.0
    }  # fmt: skip
    assert axes.get_ylabel() == "MB"
    assert axes.get_title(loc="left") == "Occupancy: incast of 3 NICs; seed 7"


@pytest.mark.parametrize(("last_us", "unit"), [(900.0, "us"), (20_000.0, "ms"), (3_600_000.0, "s")])
def test_time_has_the_unit_that_suits_it(last_us: float, unit: str) -> None:
    figure = occupancy(data("egress", last_us=last_us))
    assert figure is not None
    assert figure.axes[0].get_xlabel() == unit


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LosslessError, match=r"run-occupancy\.png cannot be written"):
        write_pictures(EVERYTHING, str(tmp_path / "file"), "run")


def test_without_matplotlib_the_way_to_get_it_is_said() -> None:
    hidden = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'matplotlib' else real(name, *a)\n"
        "from lossless.cli import main; sys.argv = ['lossless', 'simulate', 'examples/roce-256', '--plots', 'x']\n"
        "raise SystemExit(main())"
    )
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"lossless: {MISSING}\n"
