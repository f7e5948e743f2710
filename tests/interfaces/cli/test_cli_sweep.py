"""``lossless sweep``: what it prints, in which shapes, what it refuses, and how it ends when interrupted."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lossless.analysis.simulation.engine.run import prepare
from lossless.ground.basics.programs import install_command
from tests.analysis.simulation.lossy_fabrics import fabric
from tests.interfaces.cli.conftest import Cli, Outcome
from tests.interfaces.cli.inputs import INTENT, LEAF
from tests.paths import ROOT

SHOWN = (
    "verdict", "drops", "pauses", "pfc_seeds", "longest_pause_us", "goodput_bps", "egress_bytes",
    "headroom_left_bytes", "marks", "stopped_queues", "cut",
)  # fmt: skip
UNKNOWN = (
    "varies nothing that is known; expected NAME=VALUES of dynamic_th, kmin, kmax, pmax, headroom, queue_dynamic_th,"
    " trimming"
)
LOSS = (
    "verdict", "dropped_share", "trimmed_share", "resent_share", "timeouts", "slowdown", "cost", "unfinished",
    "goodput_bps", "egress_bytes", "marks",
)  # fmt: skip
SHORT = ("--horizon", "100us", "--size", "1 MiB")
TWO = ("--vary", "dynamic_th=-8,0", "--vary", "headroom=9kB,400kB")


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    prepare()


@pytest.fixture
def swept(cli: Cli) -> Cli:
    Path("fabric.yaml").write_text(INTENT)

    def run(*args: str, stdin: bytes = b"") -> Outcome:
        return cli("sweep", ".", *SHORT, *args, stdin=stdin)

    return run


def test_json_is_the_sweep_as_plain_data(swept: Cli) -> None:
    outcome = swept(*TWO, "--format", "json")
    report = json.loads(outcome.out)
    (sweep,) = report["sweeps"]
    assert (report["version"], outcome.code, outcome.err) == (1, 0, "")
    assert sweep["varied"] == ["dynamic_th", "headroom_bytes"]
    assert (sweep["settings"], sweep["safe"], sweep["silent"]) == (4, 3, 2)
    assert (sweep["skipped"], sweep["seeds"], sweep["horizon_us"]) == (0, 1, 100)
    assert tuple(sweep["configured"]) == SHOWN
    assert all(tuple(row) == ("dynamic_th", "headroom_bytes", *SHOWN) for row in sweep["rows"])
    assert {(row["dynamic_th"], row["headroom_bytes"]) for row in sweep["rows"]} == {
        (th, headroom) for th in (-8, 0) for headroom in (9_000, 400_000)
    }
    assert sweep["rows"][-1]["verdict"] == "unsafe"


def test_thresholds_of_switches_that_compute_their_buffers_are_swept(cli: Cli) -> None:
    Path("fabric.yaml").write_text(f"{INTENT}buffers: {{model: dynamic}}\n")
    outcome = cli("sweep", "fabric.yaml", *SHORT, "--vary", "dynamic_th=-8,0", "--format", "json")
    (sweep,) = json.loads(outcome.out)["sweeps"]
    assert (outcome.code, sweep["settings"]) == (0, 2)


def test_csv_has_a_line_a_setting_the_best_first(swept: Cli) -> None:
    rows = list(csv.DictReader(swept(*TWO, "--format", "csv").out.splitlines()))
    (sweep,) = json.loads(swept(*TWO, "--format", "json").out)["sweeps"]
    assert [*rows[0]] == ["dynamic_th", "headroom_bytes", *SHOWN, "scenario"]
    as_text = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in sweep["rows"]
    ]
    assert rows == [row | {"scenario": sweep["scenario"]} for row in as_text]


@pytest.mark.usefixtures("wide")
def test_the_text_says_where_settings_are_safe_and_silent(swept: Cli) -> None:
    lines = swept(*TWO, "-v").out.splitlines()
    assert lines[:5] == [
        "sweep: 4 settings of dynamic_th, headroom, 0.1 ms",
        "  incast of 15 NICs into host1:port1, 1 MiB each, class rdma",
        "  safe        3 of 4; always with dynamic_th 0 or headroom 400,000 B",
        "  PFC silent  2 of 4; always with dynamic_th 0; never with dynamic_th -8",
        "  under way   4 of 4 at the end: pauses and maxima may still come, and a longer --horizon shows them",
    ]
    now = next(number for number, line in enumerate(lines) if line.startswith("now "))
    heads = [number for number, line in enumerate(lines) if line.split()[:1] == ["dynamic_th"]]
    assert heads[0] < now
    assert lines[heads[0]].split()[:5] == ["dynamic_th", "headroom", "(B)", "verdict", "drops"]
    assert [line.split()[0] for line in lines[now : now + 5]] == ["now", "1", "2", "3", "4"]
    assert "  every switch port on the paths has the same setting" in lines


def test_values_next_to_each_other_are_told_as_a_range(swept: Cli) -> None:
    found = swept("--vary", "dynamic_th=-8..2").out
    assert re.search(
        r"PFC silent +8 of 11; always with dynamic_th -5 to 2; never with dynamic_th -8 to -6\n", found
    )


def test_the_text_shows_no_more_than_its_limit(swept: Cli) -> None:
    found = swept("--vary", "dynamic_th=-8..2", "--limit", "3").out
    assert re.findall(r"^ *(\d+) +-?\d", found, re.MULTILINE) == ["1", "2", "3"]
    assert "\n... 8 more, -v shows all\n" in found
    assert "... " not in swept("--vary", "dynamic_th=-8..2", "--limit", "11").out


def test_more_seeds_say_in_how_many_pfc_fires(swept: Cli) -> None:
    found = swept("--vary", "dynamic_th=-8,0", "--seeds", "2", "-v").out
    assert found.startswith("sweep: 2 settings of dynamic_th, 0.1 ms, 2 seeds each\n")
    assert "  0 of 2  " in found
    assert "  2 of 2  " in found
    assert "one random seed: whether PFC fires may depend on the seed" not in found
    assert (
        "one random seed: whether PFC fires may depend on the seed"
        in swept("--vary", "dynamic_th=0", "-v").out
    )


def test_settings_with_kmin_above_kmax_are_told(swept: Cli) -> None:
    found = swept("--vary", "kmin=10kB,30kB", "--vary", "kmax=20kB").out
    assert "  not run     1 setting: Kmin would be above Kmax\n" in found


def test_the_fastest_safe_setting_is_named_where_another_is_the_best(swept: Cli) -> None:
    options = "--vary", "dynamic_th=-8,0", "--vary", "kmin=20kB,3MB", "--horizon", "1ms", "--size", "8 MiB"
    text = swept(*options, "--format", "text").out
    (sweep,) = json.loads(swept(*options, "--format", "json").out)["sweeps"]
    rates = [row["goodput_bps"] for row in sweep["rows"] if row["verdict"] == "safe"]
    assert rates.index(max(rates)) > 0
    assert f"most goodput of all safe settings: place {rates.index(max(rates)) + 1}, dynamic_th " in text


def test_one_safe_setting_is_enough(swept: Cli) -> None:
    assert swept("--vary", "dynamic_th=-8", "--vary", "headroom=9kB,400kB").code == 0
    assert swept("--vary", "dynamic_th=-8", "--vary", "headroom=9kB").code == 1


def test_a_deployed_switch_can_be_swept(cli: Cli) -> None:
    Path("config_db.json").write_text(LEAF)
    outcome = cli("sweep", "config_db.json", *SHORT, "--vary", "dynamic_th=-2..0", "--format", "json")
    (sweep,) = json.loads(outcome.out)["sweeps"]
    assert len(sweep["rows"]) == 3
    assert any("no NIC is known" in entry for entry in sweep["assumed"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kmin", f"'kmin' {UNKNOWN}"),
        ("xoff=1kB", f"'xoff=1kB' {UNKNOWN}"),
        ("dynamic_th=9", "'dynamic_th=9': '9' is out of range; expected -8 to 7"),
        ("dynamic_th=1.5", "'dynamic_th=1.5': '1.5' is not a whole number"),
        ("dynamic_th=3..-4", "'dynamic_th=3..-4': '3..-4' runs backwards; expected the smaller value first"),
        ("dynamic_th=1..", "'dynamic_th=1..': '' is not a whole number"),
        (
            "kmin=100",
            "'kmin=100': '100' has no unit; write it like 800 KiB or 150 kB"
            " (units: B, kB, KB, MB, GB, KiB, MiB, GiB)",
        ),
        (
            "kmin=1KiB..2KiB",
            "'kmin=1KiB..2KiB': '1KiB..2KiB' does not say how many values; write it like 1KiB..2KiB/20",
        ),
        ("kmin=1B..9B/1", "'kmin=1B..9B/1': '1B..9B/1' asks for '1' values; expected 2 to 100,000"),
        ("kmin=1B..9B/x", "'kmin=1B..9B/x': '1B..9B/x' asks for 'x' values; expected 2 to 100,000"),
        ("kmin=1B..9B/20", "'kmin=1B..9B/20': '1B..9B/20' asks for 20 values; there are 9 from end to end"),
        ("kmax=4GiB", "'kmax=4GiB': '4GiB' is out of range; expected a size from 0 B to 2,147,483,647 B"),
        ("pmax=20", "'pmax=20': '20' is not a percentage; write a whole number from 0% to 100%"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused_with_what_was_expected(text: str, message: str, swept: Cli) -> None:
    outcome = swept("--vary", text)
    assert outcome.err.splitlines()[-1] == f"Error: Invalid value for '--vary': {message}"
    assert (outcome.code, outcome.out) == (2, "")


def test_a_threshold_is_varied_once(swept: Cli) -> None:
    outcome = swept("--vary", "kmin=1kB", "--vary", "kmin=2kB")
    assert outcome.err.splitlines()[-1] == (
        "Error: Invalid value for '--vary': 'kmin=2kB': kmin is varied twice; put a comma between its values instead"
    )
    assert outcome.code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--vary", "kmin=1B..1000B/1000", "--vary", "kmax=1kB..1MB/1000"),
            "lossless: 1,000,000 settings are more than the 100,000 that are swept at once; name fewer values\n",
        ),
        (
            ("--vary", "kmin=100MB"),
            "lossless: Kmin would be above Kmax in every one of 1 settings\n",
        ),
        (
            ("--vary", "dynamic_th=0", "--horizon", "0ms"),
            "lossless: horizon is 0 ns; expected a time above zero\n",
        ),
        (
            ("--vary", "dynamic_th=0", "--class", "gold"),
            "lossless: --class: no lossless class is called 'gold'; there is rdma\n",
        ),
    ],
)
def test_sweeps_that_cannot_be_are_refused(options: tuple[str, ...], message: str, swept: Cli) -> None:
    assert swept(*options) == (2, "", message)


def test_what_cannot_be_read_is_not_swept(cli: Cli) -> None:
    assert cli("sweep", "gone.json", "--vary", "dynamic_th=0") == (2, "", "gone.json: no such file\n")


LOUD = """
import sys
from lossless.interfaces.cli import main, sweep
from lossless.analysis.simulation.study.sweep import WorkerPool

class Loud(sweep._SettingsBar):
    def __call__(self, done, of):
        super().__call__(done, of)
        print("some are done", flush=True)

def submit(pool, *given, submit=WorkerPool._submit):
    submit(pool, *given)
    print("work is handed out", flush=True)

sweep._SettingsBar, WorkerPool._submit = Loud, submit
sys.exit(main(sys.argv[1:]))
"""


@contextmanager
def started(until: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a sweep in a session of its own, and wait until it says a line; nothing of it outlives the test."""
    command = [sys.executable, "-c", LOUD, "sweep", str(ROOT / "examples" / "roce-256"), *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            assert any(line == f"{until}\n" for line in process.stdout)
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.tools("hanging")
@pytest.mark.parametrize(
    ("until", "arguments", "said"),
    [
        (
            "some are done",
            ("--vary", "kmin=1B..100000B/100000"),
            r"interrupted after [\d,]+ of 100,000 settings",
        ),
        # One setting takes many seconds: it is stopped on the way.
        (
            "work is handed out",
            (
                "--vary",
                "dynamic_th=0",
                "--workload",
                "all-to-all",
                "--size",
                "4096 MiB",
                "--horizon",
                "200ms",
            ),
            "interrupted",
        ),
    ],
)
def test_an_interrupt_ends_it_at_once_and_nothing_is_reported(
    until: str, arguments: tuple[str, ...], said: str
) -> None:
    with started(until, *arguments, "--max-events", str(10**13)) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert set(out.splitlines()) <= {"some are done", "work is handed out"}
    assert re.fullmatch(rf"lossless: {said}; nothing is reported\n\n?", err)


@pytest.mark.tools("cluster")
def test_an_interrupt_at_the_terminal_ends_the_workers_of_a_local_cluster_silently() -> None:
    many = ("--vary", "kmin=1B..10000B/10000", *SHORT, "--max-events", str(10**13))
    with started("some are done", *many, "--cluster", "local:1") as process:
        workers = children(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert re.fullmatch(
        r"lossless: interrupted after [\d,]+ of 10,000 settings; nothing is reported\n\n?", err
    )
    assert workers
    # They end by themselves once nobody is there for them, which may be after their parent has ended.
    end_by = time.monotonic() + 60
    while any(map(alive, workers)) and time.monotonic() < end_by:
        time.sleep(0.1)
    assert not any(map(alive, workers))


def children(parent: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid="], capture_output=True, text=True, check=True)
    pairs = (map(int, line.split()) for line in listed.stdout.splitlines())
    return [child for of, child in pairs if of == parent]


def alive(process: int) -> bool:
    """Return whether a process runs; one that only waits for its parent to ask how it ended does not."""
    shown = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return shown.stdout.strip()[:1] not in ("", "Z")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("local:0", "'local:0' is no cluster; expected a number of workers, such as local:4"),
        ("scheduler", "'scheduler' is no cluster; expected local, local:N or HOST:PORT of a scheduler"),
        (
            "127.0.0.1:1",
            "no scheduler of dask.distributed answers at 127.0.0.1:1; is it running, and reachable from here?",
        ),
    ],
)
def test_a_cluster_that_is_not_there_is_one_line(
    place: str, message: str, swept: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lossless.analysis.simulation.study.cluster.CONNECT_S", 0.5)
    assert swept("--vary", "dynamic_th=0", "--cluster", place) == (2, "", f"lossless: {message}\n")


def test_without_dask_its_extra_is_named(swept: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = f"lossless: a cluster needs dask.distributed: {install_command('cluster')}\n"
    assert swept("--vary", "dynamic_th=0", "--cluster", "local:2") == (2, "", said)


def test_the_best_setting_is_put_into_the_intent_and_checked_as_it_was_swept(swept: Cli) -> None:
    outcome = swept("--vary", "dynamic_th=-8,0", "--write")
    line = "classes: {rdma: {buffer: {dynamic_th: 0}}}"
    assert f"in the intent, place 1 (--write puts it there):\n  {line}\n" in outcome.out
    assert (outcome.code, outcome.err) == (0, f"wrote {line} to ./fabric.yaml\n")
    assert Path("fabric.yaml").read_text().replace(line, "") != INTENT
    (sweep,) = json.loads(swept("--vary", "dynamic_th=0", "--format", "json").out)["sweeps"]
    assert sweep["rows"][0] == {"dynamic_th": 0, **sweep["configured"]}


def test_another_setting_is_put_there_by_its_place(swept: Cli) -> None:
    swept("--vary", "dynamic_th=-8,0", "--write", "2")
    (sweep,) = json.loads(swept("--vary", "dynamic_th=-8", "--format", "json").out)["sweeps"]
    assert sweep["rows"][0] == {"dynamic_th": -8, **sweep["configured"]}


def test_nothing_is_written_for_a_place_that_is_none(swept: Cli) -> None:
    outcome = swept("--vary", "dynamic_th=-8,0", "--write", "3")
    assert (outcome.code, outcome.err) == (
        2,
        "lossless: --write 3: nothing was written; there are 2 settings\n",
    )
    assert Path("fabric.yaml").read_text() == INTENT


def test_no_line_is_printed_where_no_intent_could_state_it(cli: Cli) -> None:
    """Headroom of the dynamic model is stated whole, and xon is not swept."""
    text = f"{INTENT}buffers: {{model: dynamic}}\n"
    Path("fabric.yaml").write_text(text)
    outcome = cli("sweep", "fabric.yaml", *SHORT, "--vary", "headroom=400kB", "--write")
    assert "in the intent" not in outcome.out
    assert outcome.code == 2
    assert "state xoff and xon" in outcome.err
    assert Path("fabric.yaml").read_text() == text


@pytest.fixture
def lossy(cli: Cli, tmp_path: Path) -> Cli:
    path = str(fabric(tmp_path))

    def run(*args: str, stdin: bytes = b"") -> Outcome:
        return cli("sweep", path, "--size", "128KiB", *args, stdin=stdin)

    return run


@pytest.mark.usefixtures("wide")
def test_text_of_a_lossy_class_has_its_loss_and_its_longest_completion(lossy: Cli) -> None:
    outcome = lossy("--vary", "queue_dynamic_th=-6,-4", "--vary", "trimming=on,off")
    lines = outcome.out.splitlines()
    assert outcome.code == 0
    assert lines[0] == "sweep: 4 settings of queue dynamic_th, trimming, until transfers end"
    assert "  safe          3 of 4; always with queue dynamic_th -4 or trimming on" in lines
    assert "  nothing lost  2 of 4; always with queue dynamic_th -4; never with queue dynamic_th -6" in lines
    assert "  classes: {rdma: {queue: {dynamic_th: -4}}}" in lines
    rows = [line.split() for line in lines if line.startswith(("now", "  1", "  4"))]
    assert [row[:4] for row in rows] == [
        ["now", "-", "-", "safe"],
        ["1", "-4", "on", "safe"],
        ["4", "-6", "off", "on"],
    ]
    assert "PFC" not in outcome.out


def test_json_and_csv_of_a_lossy_class_have_its_loss(lossy: Cli) -> None:
    varied = ("--vary", "queue_dynamic_th=-6,1")
    (sweep,) = json.loads(lossy(*varied, "--format", "json").out)["sweeps"]
    assert tuple(sweep["configured"]) == LOSS
    assert all(tuple(row) == ("queue_dynamic_th", *LOSS) for row in sweep["rows"])
    assert (sweep["safe"], sweep["no_loss"], "silent" in sweep) == (2, 1, False)
    rows = list(csv.DictReader(lossy(*varied, "--format", "csv").out.splitlines()))
    assert [*rows[0]] == ["queue_dynamic_th", *LOSS, "scenario"]
    assert [float(row["trimmed_share"]) for row in rows] == [row["trimmed_share"] for row in sweep["rows"]]


def test_write_states_the_queues_of_a_lossy_class(lossy: Cli, tmp_path: Path) -> None:
    outcome = lossy("--vary", "queue_dynamic_th=-4", "--vary", "kmin=90kB", "--write")
    assert outcome.code == 0
    assert "wrote classes: {rdma: {ecn: {min: 90 kB}, queue: {dynamic_th: -4}}}" in outcome.err
    assert "ecn: {min: 90 kB, max: 400 kB" in (tmp_path / "fabric.yaml").read_text()
    assert "queue: {dynamic_th: -4}" in (tmp_path / "fabric.yaml").read_text()


def test_what_only_a_lossy_class_has_is_refused_of_a_lossless_one(swept: Cli) -> None:
    for vary in ("queue_dynamic_th=1", "trimming=off"):
        outcome = swept("--vary", vary)
        assert outcome.code == 2
        assert "the class is lossless" in outcome.err
    assert "'maybe' is neither on nor off" in swept("--vary", "trimming=maybe").err
