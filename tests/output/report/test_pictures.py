"""Pictures of a run: what they show, that they are whole, and the same every time."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from base64 import b64encode
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pytest
from hypothesis import Phase, given, settings, strategies as st
from matplotlib.text import Text

from lossless.analysis.simulation.study.recording import Limit, Moment, Recording, Series
from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.programs import install_command
from lossless.output.report.simulation import figures, panels, pictures
from lossless.output.report.simulation.pictures import draw, write_pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

pytestmark = [pytest.mark.xdist_group("pictures"), pytest.mark.tools("pictures")]

PNG = b"\x89PNG\r\n\x1a\n"
NAMES = [f"run-{name}.{kind}" for name in ("occupancy", "pauses", "rates") for kind in ("png", "svg")]


def series(kind: str, *values: float | None, name: str = "leaf1 to host1", **others: Any) -> Series:
    units = {"paused": "us", "rate": "b/s", "delivered": "b/s"}
    seen = Series(kind, name, units.get(kind, "B"), values, pauses=1 if kind == "paused" else None)
    return seen._replace(**others)


def limit(kind: str, name: str, value: float) -> Limit:
    return Limit(kind, name, "b/s" if kind in ("rate", "delivered") else "B", value)


def moments(*at_us: float | None) -> tuple[Moment, ...]:
    """Return the moments of a run by when they were: a mark, a PAUSE, a drop, the watchdog."""
    names = ("first mark", "first PAUSE", "first drop", "watchdog triggers")
    return tuple(map(Moment, names, at_us))


EGRESS = series("egress", 0.0, 4e6, 2e6, peak=4_100_000)
DELIVERED = series("delivered", None, 40e9, 60e9)


def data(*found: Series, limits: tuple[Limit, ...] = (), last_us: float = 900.0, **others: Any) -> Recording:
    return Recording(
        title="incast of 3 NICs",
        seed=7,
        times_us=(0.0, last_us / 2, last_us),
        series=found or (EGRESS, DELIVERED),
        limits=limits,
        moments=moments(100.0, None, None, None),
        counts={"groups": 1, "links": 3, "paused": 1, "flows": 1},
    )._replace(**others)


EVERYTHING = data(
    EGRESS,
    series("group", 0.0, 900e3, 100e3, name="host2 to leaf1", peak=950_000),
    series("threshold", 2e6, 800e3, 2e6, name="XOFF threshold"),
    series("headroom", 0.0, 50e3, 0.0, name="host2 to leaf1", peak=60_000),
    series("memory", 0.0, 4e6, 2e6, name="leaf1"),
    series("paused", 0.0, 225.0, 450.0, name="host2 to leaf1", pauses=12),
    series("paused", 0.0, 0.0, 0.0, name="host3 to leaf1", pauses=0),
    series("rate", 400e9, 1e9, None, name="host2 to host1"),
    DELIVERED,
    limits=(
        limit("egress", "Kmin", 1e6),
        limit("headroom", "headroom", 160_000),
        limit("rate", "line rate", 400e9),
    ),
)


@cache
def drawn_everything() -> dict[str, bytes]:
    """Return what is drawn of everything, once for all tests that look at it."""
    return draw(EVERYTHING)


@cache
def elsewhere() -> list[str]:
    """Return the hashes of what another process draws, and whether it has a window to show it in."""
    code = (
        "import base64, pickle, sys; from hashlib import sha256\n"
        "from lossless.output.report.simulation.pictures import draw\n"
        "recording = pickle.loads(base64.b64decode(sys.argv[1]))\n"
        "print(*(sha256(content).hexdigest() for content in draw(recording).values()))\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", code, b64encode(pickle.dumps(EVERYTHING)).decode()],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def keys(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def heights(axes: Axes) -> dict[str, list[float]]:
    """Return what lines in a panel are drawn at, by what the key calls them."""
    lines: list[Any] = list(axes.get_lines())
    return {
        line.get_label(): list(line.get_ydata()) for line in lines if not line.get_label().startswith("_")
    }


def corners(path: Any) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in path.vertices]


def title(axes: Axes) -> str:
    return axes.get_title(loc="left")


# --- files ---


@pytest.fixture
def already_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take what is drawn of everything as it is: for tests of what becomes of the files."""
    monkeypatch.setattr(
        pictures, "draw", lambda recording: {id(EVERYTHING): drawn_everything()}[id(recording)]
    )


@pytest.mark.usefixtures("already_drawn")
def test_a_run_is_three_pictures_in_two_forms(tmp_path: Path) -> None:
    written = write_pictures(EVERYTHING, str(tmp_path / "new"), "run")
    assert written == tuple(str(tmp_path / "new" / name) for name in NAMES)
    for name in written:
        content = Path(name).read_bytes()
        assert content.startswith(PNG) if name.endswith("png") else content.endswith(b"</svg>\n")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == NAMES


def test_a_run_of_which_little_is_known_is_three_pictures_too(tmp_path: Path) -> None:
    assert len(write_pictures(data(), str(tmp_path), "run")) == 6


def test_the_same_recording_draws_the_same_bytes() -> None:
    hashes = [sha256(content).hexdigest() for content in drawn_everything().values()]
    assert elsewhere()[0].split() == hashes


def test_no_day_stands_in_a_picture() -> None:
    drawn = drawn_everything().values()
    assert all(b"<dc:date>" not in content and b"tIME" not in content for content in drawn)


def test_what_a_person_has_set_for_other_pictures_changes_nothing() -> None:
    plain = drawn_everything()
    with mpl.rc_context(
        {"font.size": 30, "axes.facecolor": "red", "lines.linewidth": 9, "text.usetex": True}
    ):
        assert draw(EVERYTHING) == plain
        assert mpl.rcParams["font.size"] == 30


def test_pictures_need_no_screen_and_leave_no_figure_behind() -> None:
    assert elsewhere()[1:] == ["False"]


@pytest.mark.usefixtures("already_drawn")
def test_a_picture_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "run-pauses.png").mkdir()
    with pytest.raises(LosslessError, match=r"run-pauses\.png: cannot be written: "):
        write_pictures(EVERYTHING, str(tmp_path), "run")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("already_drawn")
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LosslessError, match=r"run-occupancy\.png: cannot be written"):
        write_pictures(EVERYTHING, str(tmp_path / "file"), "run")


@pytest.mark.parametrize("stem", ["../run", "a/b", "", ".run", ".."])
def test_a_name_that_leads_elsewhere_is_refused(stem: str, tmp_path: Path) -> None:
    with pytest.raises(LosslessError, match="is not a name that files can begin with"):
        write_pictures(EVERYTHING, str(tmp_path / "in"), stem)
    assert not (tmp_path / "in").exists()


def test_without_matplotlib_how_to_install_it_is_said() -> None:
    hidden = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'matplotlib' else real(name, *a)\n"
        "from lossless.interfaces.cli import main\n"
        "sys.argv = ['lossless', 'simulate', 'examples/roce-256', '--plots', 'x']\n"
        "raise SystemExit(main())"
    )
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"lossless: matplotlib is not installed: {install_command('plots')} adds pictures\n"


def test_any_name_can_be_drawn_without_a_warning() -> None:
    """Formulas, letters that the font lacks, markup, what moves a cursor, and more than fits."""
    names = ["$host_{1$", "_host1", "höst1", "主机1", "a<b>&c", "bell\x07", "x" * 300, "a\nb", "%s"]
    found = [one._replace(name=name) for one, name in zip(EVERYTHING.series, names, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = draw(data(*found, title="$_{%s$ \x07 主机"))
    assert b"$host_{1$" in drawn["occupancy.svg"]
    assert not any(b"\x07" in content for name, content in drawn.items() if name.endswith("svg"))


def test_a_name_that_begins_with_an_underscore_stands_in_the_key() -> None:
    axes = figures.occupancy(data(EGRESS._replace(name="_host1"))).axes[0]
    assert keys(axes)[0] == " _host1, peak 4.1 MB"


def test_links_can_be_searched_for_in_an_svg() -> None:
    assert b">host2 to leaf1</text>" in drawn_everything()["pauses.svg"]


# --- what all show ---


@pytest.mark.parametrize("figure", [figures.occupancy, figures.pauses, figures.rates])
def test_scenario_seed_and_moments_are_said(figure: Any) -> None:
    made = figure(EVERYTHING)
    assert made.get_suptitle().endswith(": incast of 3 NICs; seed 7")
    assert made.axes[-1].get_xlabel() == "time since the start (us)\nM: first mark at 100 us; no drop"


def test_moments_are_marked_where_they_were_and_close_ones_together() -> None:
    axes = figures.occupancy(data(moments=moments(100.0, 105.0, 600.0, 700.0))).axes[0]
    assert [(text.get_text(), text.xy[0]) for text in axes.texts if hasattr(text, "xy")] == [
        ("MP", 100.0),
        ("D", 600.0),
        ("W", 700.0),
    ]
    assert "no drop" not in axes.get_xlabel()


@pytest.mark.parametrize(
    ("last_us", "unit", "last"), [(900, "us", 900), (20_000, "ms", 20), (3.6e6, "s", 3.6)]
)
def test_time_has_the_unit_that_suits_it(last_us: float, unit: str, last: float) -> None:
    axes = figures.occupancy(data(last_us=last_us)).axes[0]
    assert axes.get_xlabel().startswith(f"time since the start ({unit})")
    assert axes.get_xlim() == pytest.approx((0, last))


@given(st.floats(0, 1e13))
def test_a_size_says_what_it_is_to_four_digits(size_bytes: float) -> None:
    number, unit = panels.size_text(size_bytes).split()
    size = {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    assert float(number) * size == pytest.approx(size_bytes, rel=5e-4, abs=1e-3)


# --- occupancy ---


def test_each_kind_has_a_panel_with_its_unit() -> None:
    found = {title(axes): axes.get_ylabel() for axes in figures.occupancy(EVERYTHING).axes}
    assert found == {
        "queue depth of leaf1 to host1": "MB",
        "PG occupancy of the groups that feed it: 1": "kB",
        "headroom used by these groups": "kB",
        "memory in use in leaf1": "MB",
    }


def test_what_was_held_and_its_thresholds_are_drawn_to_scale_and_named() -> None:
    egress, group, headroom, _ = figures.occupancy(EVERYTHING).axes
    assert heights(egress) == {"leaf1 to host1, peak 4.1 MB": [0, 4, 2], "Kmin: 1000 kB": [1, 1]}
    assert heights(group) == {
        "host2 to leaf1, peak 950 kB": [0, 900, 100],
        "XOFF threshold": [2000, 800, 2000],
    }
    assert heights(headroom) == {"host2 to leaf1, peak 60 kB": [0, 50, 0], "headroom: 160 kB": [160, 160]}
    assert keys(egress) == ["leaf1 to host1, peak 4.1 MB"]
    assert [text.get_text() for text in headroom.texts] == ["headroom: 160 kB"]


def test_headroom_that_is_never_used_has_no_panel() -> None:
    unused = series("headroom", 0.0, 0.0, 0.0, peak=0)
    found = figures.occupancy(data(EGRESS, series("group", 0.0, 1e3, 0.0), unused, DELIVERED))
    assert [title(axes) for axes in found.axes][1:] == [
        "PG occupancy of the groups that feed it: 1; no headroom is used"
    ]


def scale(axes: Axes) -> str:
    return str(axes.get_yscale())


def test_a_limit_far_above_makes_the_scale_logarithmic_and_is_drawn() -> None:
    near, far = limit("egress", "Kmax", 8e6), limit("egress", "queue limit", 157e6)
    axes = figures.occupancy(data(limits=(near, far))).axes[0]
    assert heights(axes)["Kmax: 8 MB"] == [8, 8]
    assert heights(axes)["queue limit: 157 MB"] == [157, 157]
    assert (scale(axes), axes.get_ylabel()) == ("symlog", "MB (log)")
    assert title(axes).endswith("; logarithmic scale")
    assert scale(figures.occupancy(data(limits=(near,))).axes[0]) == "linear"


SIZES = st.floats(1.0, 1e12)


@settings(deadline=None, max_examples=20, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(SIZES, st.lists(SIZES, min_size=1, max_size=4))
def test_every_threshold_is_inside_its_panel_and_has_a_label_of_its_own(
    peak: float, values: list[float]
) -> None:
    """Whatever the ratio of the peak to Kmin: lines are 4 points above the axis, labels do not overlap."""
    limits = tuple(limit("egress", f"limit{at}", value) for at, value in enumerate(values))
    held = series("egress", 0.0, peak, peak / 2, peak=round(peak))
    figure = figures.occupancy(data(held, DELIVERED, limits=limits))
    figure.draw_without_rendering()
    axes, points = figure.axes[0], 72 / figure.dpi
    panel = axes.get_window_extent()
    lines: list[Any] = [line for line in axes.get_lines() if line.get_gid() == panels.LIMIT]
    assert len(lines) == len(values)
    for line in lines:
        y = axes.transData.transform((0, line.get_ydata()[0]))[1]
        assert panel.y0 + 4 / points <= y <= panel.y1 - 1 / points
    top = axes.transData.transform((0, axes.get_ylim()[0] + peak / panels.size_unit(peak).size))[1]
    assert top >= panel.y0 + 4 / points, "the curve is not pressed to the axis"
    labels: list[Any] = [
        text for text in axes.texts if text.get_text() in {line.get_label() for line in lines}
    ]
    assert {label.get_text() for label in labels} == {line.get_label() for line in lines}
    extents = [Text.get_window_extent(label) for label in labels]
    spans = sorted((extent.y0, extent.y1) for extent in extents)
    assert all(below[1] <= above[0] + 1 for below, above in pairwise(spans))
    assert all(label.arrow_patch is not None for label in labels)


def test_thresholds_of_one_value_have_two_labels_with_leader_lines() -> None:
    equal = limit("egress", "Kmin", 1e6), limit("egress", "Kmax", 1e6)
    axes = figures.occupancy(data(limits=equal)).axes[0]
    labels: list[Any] = [text for text in axes.texts if text.get_text().startswith("K")]
    assert len({label.xy[1] for label in labels}) == 1
    assert len({label.xyann[1] for label in labels}) == 2


@given(st.lists(st.floats(0, 1), max_size=6), st.floats(0.01, 0.15))
def test_labels_are_spread_in_order_and_stay_inside(wanted: list[float], apart: float) -> None:
    placed = panels.spread(wanted, apart)
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    assert all(placed[b] - placed[a] >= apart - 1e-9 for a, b in pairwise(order))
    assert all(-1e-9 <= at <= 1 + 1e-9 for at in placed)


def test_a_threshold_far_above_leaves_the_picture_and_a_peak_between_the_times_does_not() -> None:
    group = series("group", 0.0, 1e6, 0.0, peak=3_000_000)
    axes = figures.occupancy(data(EGRESS, group, series("threshold", 90e6, 1e6, 90e6))).axes[1]
    assert 3 < axes.get_ylim()[1] < 6


@pytest.mark.parametrize("many", [panels.MOST_LINES, panels.MOST_LINES + 1, 64])
def test_more_groups_than_can_be_told_apart_are_a_band(many: int) -> None:
    groups = [series("group", 0.0, 1e3 * at, 0.0, name=f"g{at}", peak=1000 * at) for at in range(1, many + 1)]
    counts = {"groups": 70, "links": 1, "paused": 0, "flows": 0}
    axes = figures.occupancy(data(EGRESS, *groups, counts=counts)).axes[1]
    assert title(axes).startswith(f"PG occupancy of the groups that feed it: {many} of 70")
    if many <= panels.MOST_LINES:
        assert len(heights(axes)) == many
        assert not axes.collections
        return
    assert heights(axes) == {
        f"peak: g{many}, peak {many} kB": [0, many, 0],
        "median of all": [0, (many + 1) / 2, 0],
    }
    (band,) = axes.collections
    drawn = [height for _, height in corners(band.get_paths()[0])]
    assert (min(drawn), max(drawn)) == (0, many)
    assert keys(axes)[0] == f"from least to most of {many}"


def test_lines_differ_in_dashes_and_lightness_on_paper_too() -> None:
    """No two lines have the same dashes and nearly the same lightness (ITU-R BT.601)."""
    groups = [series("group", 1e3, 1e3, 1e3, name=f"g{at}") for at in range(panels.MOST_LINES)]
    threshold = series("threshold", 1e3, 1e3, 1e3, name="XOFF")
    axes = figures.occupancy(data(EGRESS, *groups, threshold)).axes[1]
    drawn: list[Any] = list(axes.get_lines())
    lines = [line for line in drawn if not line.get_label().startswith("_")]
    assert len(lines) == panels.MOST_LINES + 1
    looks = [(str(line._unscaled_dash_pattern), _lightness(line.get_color())) for line in lines]
    for at, (dashes, light) in enumerate(looks):
        assert light < 0.75
        assert not [other for other, shade in looks[:at] if other == dashes and abs(shade - light) < 0.3]


def _lightness(color: str) -> float:
    red, green, blue = mpl.colors.to_rgb(color)
    return 0.299 * red + 0.587 * green + 0.114 * blue


# --- pauses ---


def test_only_links_that_were_paused_have_a_row_the_longest_on_top() -> None:
    rows = [series("paused", 0.0, 400.0 / at, 0.0, name=f"link{at}", pauses=at) for at in (1, 2)]
    counts = {"groups": 1, "links": 9, "paused": 5, "flows": 1}
    (axes,) = figures.pauses(data(*rows, series("paused", 0.0, 0.0, 0.0, pauses=0), counts=counts)).axes
    labels = {text.get_text(): at for text, at in zip(axes.get_yticklabels(), axes.get_yticks(), strict=True)}
    assert labels["link1"] > labels["link2"]
    assert len(labels) == len(axes.patches) == 2
    assert [text.get_text() for text in axes.texts if "pause" in text.get_text()] == [
        "2 pauses, 200 us",
        "1 pause, 400 us",
    ]
    assert title(axes) == (
        "5 of 9 links that carry traffic are paused at times, these 2 for longest; height: time in pause"
    )


def test_a_row_is_as_high_as_the_part_of_the_time_that_was_paused() -> None:
    (axes,) = figures.pauses(data(series("paused", 0.0, 225.0, 450.0))).axes
    (patch,) = axes.patches
    half, full = panels.ROW / 2, panels.ROW
    assert corners(patch.get_path()) == [
        (0, 0),
        (0, half),
        (450, half),
        (450, full),
        (900, full),
        (900, 0),
        (0, 0),
    ]


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=30))
def test_the_area_of_a_row_is_the_time_that_was_paused(parts: list[float]) -> None:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    panels.draw_row(axes, list(range(len(parts) + 1)), [0.0, *parts], base=3)
    (patch,) = axes.patches
    twice = sum(x * v - u * y for (x, y), (u, v) in pairwise(corners(patch.get_path())))
    assert abs(twice) / 2 == pytest.approx(panels.ROW * sum(parts))


def test_a_run_without_pauses_says_so() -> None:
    counts = {"groups": 1, "links": 3, "paused": 0, "flows": 1}
    (axes,) = figures.pauses(data(series("paused", 0.0, 0.0, 0.0, pauses=0), counts=counts)).axes
    assert title(axes) == "none of 3 links that carry traffic is paused"
    assert not axes.patches


# --- rates ---


def test_rates_that_differ_much_are_logarithmic_with_plain_numbers() -> None:
    allowed, arrived = figures.rates(EVERYTHING).axes
    assert (allowed.get_yscale(), arrived.get_yscale()) == ("log", "linear")
    assert allowed.yaxis.get_major_formatter()(0.1, 0) == "0.1"
    assert allowed.get_ylabel() == arrived.get_ylabel() == "Gb/s"
    assert title(allowed) == "what DCQCN lets senders send, as of their last frame: 1 flow"


def test_rates_that_differ_little_begin_at_zero() -> None:
    allowed = figures.rates(data(EGRESS, series("rate", 100e9, 50e9, 60e9), DELIVERED)).axes[0]
    assert (allowed.get_yscale(), allowed.get_ylim()[0]) == ("linear", 0)


def test_a_flow_that_has_ended_has_no_line() -> None:
    allowed = figures.rates(EVERYTHING).axes[0]
    first, second, last = heights(allowed)["host2 to host1"]
    assert (first, second, last == last) == (400, 1, False)


def test_without_dcqcn_what_arrives_is_drawn_alone() -> None:
    (axes,) = figures.rates(data(limits=(limit("delivered", "1/3 of leaf1 to host1", 50e9),))).axes
    assert heights(axes)["1/3 of leaf1 to host1: 50 Gb/s"] == [50, 50]
    assert title(axes) == "goodput of each flow, means over 450 us: 1 flow"


def test_of_many_flows_the_fastest_and_the_slowest_are_named() -> None:
    flows = [series("rate", 1e9 * at, 1e9 * at, 1e9 * at, name=f"f{at}") for at in range(1, 12)]
    axes = figures.rates(data(EGRESS, *flows, DELIVERED)).axes[0]
    assert heights(axes) == {"fastest: f11": [11] * 3, "slowest: f1": [1] * 3, "median of all": [6] * 3}


def test_means_of_what_arrives_leave_nothing_out() -> None:
    many = 321
    rates = [float(at % 7) * 1e9 for at in range(1, many)]
    found = data(EGRESS, series("delivered", None, *rates), times_us=[float(at) for at in range(many)])
    (drawn,) = (
        line for name, line in heights(figures.rates(found).axes[0]).items() if name == "leaf1 to host1"
    )
    assert len(drawn) == 80
    assert sum(drawn) * 4 == pytest.approx(sum(rates) / 1e9)
