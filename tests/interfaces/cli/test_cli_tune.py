"""``lossless tune``: what it prints, in which shapes, what it writes and refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from lossless.analysis.simulation.engine.run import prepare
from lossless.analysis.simulation.question.request import Limits
from lossless.analysis.simulation.tune.choose import TuneProblem
from lossless.analysis.simulation.tune.tune import Tuned, tune as search
from tests.analysis.simulation.lossy_fabrics import fabric as lossy_fabric
from tests.interfaces.cli.conftest import Cli, Outcome
from tests.interfaces.cli.inputs import INTENT

pytestmark = pytest.mark.xdist_group("cli_tune")

WORKLOADS = """\
workloads:
  incast: {pattern: incast, nics: 9, size: 1 MiB}
  dead:   {pattern: incast, nics: 5, size: 4 MiB, dead_nic: true}
"""
SHORT_OF_HEADROOM = INTENT.replace("ecn:", "buffer: {by_speed: {400G: {xoff: 30 KiB}}}, ecn:", 1)
"""What tuning changes in any case: headroom of 30 KiB is less than any peer may send before it obeys."""
RELEASE = "sonic: {release: '202411'}\n"
SHORT = ("--evaluations", "12", "--seeds", "2")
SEARCHED: dict[tuple[str, int, Limits], Tuned] = {}
"""What was found, by the text of the intent, how many settings were tried, and the limits."""


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


@pytest.fixture
def searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search the settings of an intent once, whatever is printed or written of them."""

    def once(problem: TuneProblem, evaluations: int, limits: Limits, *_others: object) -> Tuned:
        asked = Path("fabric.yaml").read_text(), evaluations, limits
        if asked not in SEARCHED:
            SEARCHED[asked] = search(problem, evaluations, limits)
        return SEARCHED[asked]

    monkeypatch.setattr("lossless.analysis.simulation.tune.tune.tune", once)


@pytest.fixture
def tuned(cli: Cli) -> Cli:
    Path("fabric.yaml").write_text(SHORT_OF_HEADROOM + RELEASE + WORKLOADS)

    def run(*args: str, stdin: bytes = b"") -> Outcome:
        return cli("tune", "fabric.yaml", *SHORT, *args, stdin=stdin)

    return run


@pytest.mark.usefixtures("wide")
def test_text_says_what_was_searched_chosen_and_compared(tuned: Cli) -> None:
    outcome = tuned()
    assert outcome.code == 0
    blocks = outcome.out.split("\n\n")
    assert blocks[0].startswith("tune: 12 settings tried for class rdma, 2 seeds each\n  incast ")
    assert blocks[1].startswith("nothing but the headroom is proposed: ")
    assert "in the intent (--write puts it there):\n  classes: {rdma: {" in blocks[1]
    text = outcome.out
    for words in ("with 2 seeds that the search has not seen:", "the chosen setting after a small change:"):
        assert words in text
    for preset in ("now", "azure", "nvidia"):
        assert f"\n{preset}: " in text
    assert "Pareto front: " in text
    assert outcome.err.splitlines()[0].startswith("up to ")


@pytest.mark.usefixtures("wide", "searched_once")
def test_verbose_shows_each_workload_and_what_ended_the_storm_of_the_dead_nic(tuned: Cli) -> None:
    text = tuned("-v").out
    table = text[text.rindex("\n  dead ") :]
    line = next(line for line in table.splitlines() if line.startswith("  chosen"))
    assert line.split()[:5] == ["chosen", "safe", "1", "queue", "stopped"]
    assert "assumed:\n" in text


@pytest.mark.usefixtures("searched_once")
def test_json_has_everything_and_csv_a_line_for_each_kind_of_port(tuned: Cli) -> None:
    report = json.loads(tuned("--format", "json").out)
    assert (report["version"], report["class"], report["tried"]) == (1, "rdma", 12)
    assert len(report["settings"]) == 12
    assert [*report["workloads"]] == ["incast", "dead"]
    assert report["chosen"]["near"]
    assert report["intent"].startswith("classes: {rdma: {")
    rows = list(csv.DictReader(tuned("--format", "csv").out.splitlines()))
    assert len(rows) == 12 * len(report["now"])
    assert {row["setting"] for row in rows} == {str(number) for number in range(1, 13)}


@pytest.mark.usefixtures("searched_once")
def test_a_folder_gets_the_intent_the_report_all_settings_and_the_plan(tuned: Cli) -> None:
    before = Path("fabric.yaml").read_text()
    outcome = tuned("-o", "out")
    assert outcome.code == 0
    assert Path("fabric.yaml").read_text() == before
    assert Path("out/fabric.yaml").read_text() != before
    assert Path("out/report.md").read_text().startswith("# Thresholds of class rdma\n")
    assert Path("out/settings.csv").read_text().startswith("setting,step,role,rate_bps,")
    assert Path("out/plan/plan.md").is_file()


def test_the_plan_says_which_release_it_assumes(cli: Cli) -> None:
    Path("fabric.yaml").write_text(SHORT_OF_HEADROOM + WORKLOADS)
    outcome = cli("tune", "fabric.yaml", *SHORT, "-o", "out")
    assert outcome.code == 0
    assert "is assumed of leaf1" in Path("out/plan/plan.md").read_text()


@pytest.mark.usefixtures("searched_once")
def test_a_setting_is_written_by_its_place(tuned: Cli) -> None:
    text = SHORT_OF_HEADROOM + RELEASE + WORKLOADS
    written = []
    for place in ("--write", "--write=1"):
        Path("fabric.yaml").write_text(text)
        outcome = tuned(place)
        assert outcome.code == 0
        assert "wrote classes: {rdma: " in outcome.err
        written.append(Path("fabric.yaml").read_text())
    assert len({text, *written}) == 3
    Path("fabric.yaml").write_text(text)
    outcome = tuned("--write", "99")
    assert outcome.code == 2
    assert "place 99: nothing was written; the front has" in outcome.err
    assert Path("fabric.yaml").read_text() == text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--workload", "incest"), "--workload: no workload is called 'incest'; did you mean incast"),
        (("--class", "cnp"), "--class: no lossless class is called 'cnp'"),
        (("--cluster", "nowhere"), "'nowhere' is no cluster; expected local, local:N or HOST:PORT"),
    ],
)
def test_what_cannot_be_is_refused_in_one_message(options: tuple[str, ...], said: str, tuned: Cli) -> None:
    outcome = tuned(*options)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_a_dead_nic_that_would_meet_no_traffic_is_said_and_left_out(cli: Cli) -> None:
    Path("fabric.yaml").write_text(INTENT + WORKLOADS.replace("size: 4 MiB", "size: 64 KiB"))
    report = json.loads(cli("tune", "fabric.yaml", *SHORT, "--format", "json").out)
    assert [*report["workloads"]] == ["incast"]
    assert report["not_run"] == [
        "dead: the pause storm of the dead NIC begins after 100 us, and all is delivered in 5.3 us at line rate; state"
        " a larger size"
    ]


@pytest.mark.usefixtures("searched_once")
def test_where_no_setting_is_safe_the_exit_code_says_so(cli: Cli) -> None:
    """A watchdog that only alerts ends no storm of a dead NIC, whatever the thresholds."""
    assert INTENT.count("action: drop") == 1
    Path("fabric.yaml").write_text(INTENT.replace("action: drop", "action: alert") + WORKLOADS)
    outcome = cli("tune", "fabric.yaml", *SHORT, "--write")
    assert outcome.code == 2
    assert "nothing is chosen: no setting that was tried is safe for all workloads" in " ".join(
        outcome.out.split()
    )
    assert "no setting was chosen" in outcome.err
    outcome = cli("tune", "fabric.yaml", *SHORT)
    assert outcome.code == 1


def test_a_fabric_of_lossy_classes_says_what_to_do_instead(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("tune", str(lossy_fabric(tmp_path)), *SHORT)
    assert outcome.code == 2
    assert "declares no lossless class; lossless sweep --vary queue_dynamic_th=-6..1 tries" in outcome.err
