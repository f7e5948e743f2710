"""``lossless plan``: what a person sees, what a program reads, what is refused, and how far a change has come."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lossless.api import load_fabrics, render
from lossless.formats.sonic.capabilities.releases import releases
from lossless.ground.documents import load
from lossless.model.fabric.model import Fabric
from tests.formats.reader_texts import FACTS
from tests.interfaces.cli.conftest import Cli
from tests.paths import ROOT

EXAMPLE = ROOT / "examples" / "roce-256"
OLD = (
    (EXAMPLE / "fabric.yaml")
    .read_text(encoding="utf-8")
    .replace("transport: rocev2\n", 'transport: rocev2\nsonic: {release: "202411"}\n')
)
NEW = OLD.replace("dscp: 26", "dscp: 24")


@pytest.fixture(autouse=True)
def _intents(cli: Cli) -> None:  # noqa: ARG001
    """Put both intents into the folder that ``cli`` runs in."""
    Path("old.yaml").write_text(OLD, encoding="utf-8")
    Path("new.yaml").write_text(NEW, encoding="utf-8")


@pytest.fixture
def running(_intents: None) -> Path:
    """Return a folder of what the switches of the old intent run."""
    render("old.yaml", "running", base_dir=EXAMPLE / "base")
    return Path("running")


@pytest.mark.parametrize("form", ["nccl.conf", "mlnx_qos", "files"])
def test_hosts_that_reported_something_get_files_and_go_back_by_hand(
    form: str, cli: Cli, running: Path
) -> None:
    """A report has neither all settings that a script sets, nor the NIC in each of these."""
    place = running / "host1" / "node.facts"
    place.parent.mkdir(exist_ok=True)
    place.write_text(FACTS[form].text.replace("node1", "host1") + "==> end\n", encoding="utf-8")
    outcome = cli("plan", "running", "new.yaml", "-o", "change")
    assert outcome.code == 0, outcome.err
    assert list(Path("change").glob("step-*/*/lossless-roce.sh"))
    plan = json.loads(Path("change/plan.json").read_text(encoding="utf-8"))
    reported = next(group for group, hosts in _hosts(plan["steps"]).items() if hosts == ["host1"])
    back = [line for steps in plan["rollback"] for step in steps for line in step["by_hand"]]
    assert any(line.startswith(f"{reported.replace('-', ' ')}: back to before") for line in back)


def _hosts(steps: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {group["group"]: group["hosts"] for step in steps for group in step["hosts"]}


def written(name: str, text: str) -> str:
    """Write an intent, and return its name."""
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_each_step_says_what_changes_and_what_jobs_send(wide: Cli) -> None:
    outcome = wide("plan", "old.yaml", "new.yaml")
    assert outcome.code == 0
    assert [line for line in outcome.out.splitlines() if line[:1].isdigit()] == [
        "4 steps from old.yaml to new.yaml",
        "79 states were evaluated; they stand for 141,733,920,770 of the whole fabric, all safe",
        "1. configurations change; jobs send DSCP 26, up to 22 s",
        "2. configurations change; jobs send DSCP 24, 26",
        "3. jobs restart; jobs send DSCP 24, 26",
        "4. configurations change; jobs send DSCP 24, up to 22 s",
    ]
    assert "   hosts (32): take in DSCP 24 too" in outcome.out
    assert outcome.hint == (
        "lossless plan old.yaml new.yaml -o change  # writes the plan, its patches and playbooks"
    )
    assert "its queue pairs keep DSCP 26" in outcome.out


@pytest.mark.parametrize(
    ("release", "time", "note"),
    [
        ("202405", "up to 22 s", "0.5 s to 11.2 s an operation"),
        ("202605", "1 to 12 s", "1 s to 1.5 s an operation"),
    ],
)
def test_the_time_of_a_patch_is_that_of_public_measurements(
    release: str, time: str, note: str, cli: Cli
) -> None:
    before, after = (
        written(name, text.replace('release: "202411"', f'release: "{release}"'))
        for name, text in (("before.yaml", OLD), ("after.yaml", NEW))
    )
    outcome = cli("plan", before, after)
    assert f"1. configurations change; jobs send DSCP 26, {time}" in outcome.out
    words = " ".join(outcome.out.split())
    assert f"a patch on SONiC {release}: {note}" in words
    assert "sonic-buildimage-msft#2733" in words


def test_the_time_of_what_was_not_measured_is_the_limit_of_the_script(cli: Cli) -> None:
    curve = written("curve.yaml", OLD.replace("min: 800 KiB", "min: 700 KiB"))
    outcome = cli("plan", "old.yaml", curve)
    assert "1. configurations change; jobs send DSCP 26, up to 2 min" in outcome.out
    assert "no source has one, so the limit of run.sh for a command is counted" in " ".join(
        outcome.out.split()
    )


def test_json_has_the_rows_of_every_batch(cli: Cli) -> None:
    data = json.loads(cli("plan", "old.yaml", "new.yaml", "--format", "json").out)
    (batch,) = data["steps"][0]["switches"][0]["batches"]
    assert batch["operations"] == [{"op": "replace", "path": "/DSCP_TO_TC_MAP/AZURE/24", "value": "3"}]
    assert batch["before"]["DSCP_TO_TC_MAP"]["AZURE"]["24"] == "0"
    assert batch["after"]["DSCP_TO_TC_MAP"]["AZURE"]["24"] == "3"
    assert data["groups"] == {"leaf": ["leaf1", "leaf2"], "spine": ["spine1", "spine2"]}
    assert len(data["rollback"]) == 4


def test_files_of_switches_lead_to_the_same_steps(cli: Cli, running: Path) -> None:
    by_files = json.loads(cli("plan", str(running), "new.yaml", "--format", "json").out)
    by_intent = json.loads(cli("plan", "old.yaml", "new.yaml", "--format", "json").out)
    assert [step["switches"] for step in by_files["steps"]] == [
        step["switches"] for step in by_intent["steps"]
    ]
    assert [step["dscps_in_use"] for step in by_files["steps"]] == [[26], [24, 26], [24, 26], [24]]


CHANGES = {
    "scheduler": ("bandwidth: 50%, ecn", "bandwidth: 30%, ecn"),
    "alpha of a queue": ("bandwidth: 50%, ecn", "bandwidth: 50%, queue: {dynamic_th: 1}, ecn"),
    "dscp": ("dscp: 26", "dscp: 24"),
    "ecn": ("max: 3200 KiB, probability: 20%", "max: 3000 KiB, probability: 10%"),
    "priority": ("priority: 3", "priority: 4"),
    "CNP": ("cnp:     {dscp: 48", "cnp:     {dscp: 46"),
    "poll": ("poll: 600ms", "poll: 400ms"),
    "watchdog": ("restoration: 1200ms", "restoration: 2400ms"),
}
"""What an intent says of an attribute of switches, and what the target says of it."""
_OFTEN = ("scheduler", "priority")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(of, id=name, marks=[] if name in _OFTEN else pytest.mark.tools("records"))
        for name, of in CHANGES.items()
    ],
)
def test_a_change_is_the_same_from_files_and_from_an_intent(
    change: tuple[str, str], cli: Cli, running: Path
) -> None:
    target = written("target.yaml", OLD.replace(*change))
    by_files, by_intent = (
        json.loads(cli("plan", source, target, "--format", "json").out)["steps"]
        for source in (str(running), "old.yaml")
    )
    assert by_intent
    for changed in ("switches", "hosts", "dscps_in_use"):
        assert [step[changed] for step in by_files] == [step[changed] for step in by_intent]
    drifted = [
        cli("diff", str(running / name / "config_db.json"), target).code for name in ("leaf1", "spine1")
    ]
    assert 1 in drifted
    render(target, "after", base_dir=running)
    assert not json.loads(cli("plan", "after", target, "--format", "json").out)["steps"]
    assert cli("diff", "after", target).code == 0


def _edited(file: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    config = json.loads(file.read_text(encoding="utf-8"))
    edit(config)
    file.write_text(json.dumps(config), encoding="utf-8")


def test_a_start_that_is_not_safe_is_said_first_with_its_findings(wide: Cli, running: Path) -> None:
    _edited(running / "spine1" / "config_db.json", lambda c: c["DSCP_TO_TC_MAP"]["AZURE"].update({"26": "0"}))
    _edited(running / "leaf1" / "config_db.json", lambda c: c["PFC_WD"].clear())
    outcome = wide("plan", str(running), "new.yaml", "-o", "change")
    head = outcome.out.split("1. ")[0]
    assert "all safe" not in head
    assert head.splitlines()[1].startswith("not safe before the change: ")
    assert "spine1: DSCP 26 of class rdma maps to TC 0, which is lossy" in head
    assert "WD001: leaf1: " in head
    plan = json.loads(Path("change/plan.json").read_text(encoding="utf-8"))
    assert all("gone after step" in line for line in plan["unsafe"])
    ticket = Path("change/plan.md").read_text(encoding="utf-8")
    assert ticket.index("not safe before the change") < ticket.index("states were evaluated")


def test_spines_whose_ports_go_down_in_one_patch_are_drained_whole(cli: Cli) -> None:
    """Between the ports of one patch nobody can shut down a BGP session."""
    longer = written("longer.yaml", OLD.replace("uplink: 30m", "uplink: 60m"))
    steps = json.loads(cli("plan", "old.yaml", longer, "--format", "json").out)["steps"]
    (spine,) = (line for step in steps for line in step["by_hand"] if line.startswith("spine:"))
    assert "run TSA on each switch before it changes, and TSB once it is done" in spine
    assert "BGP session" not in spine


def test_the_end_of_old_jobs_is_seen_by_a_command(cli: Cli) -> None:
    steps = json.loads(cli("plan", "old.yaml", "new.yaml", "--format", "json").out)["steps"]
    (line,) = (line for step in steps if step["kind"] == "jobs" for line in step["by_hand"])
    assert line.endswith("has a queue pair on any host (rdma resource show qp lists them)")


def test_interruptions_of_a_group_do_not_contradict_each_other(cli: Cli) -> None:
    """A patch of ports beside a write of a pool."""
    longer = written("longer.yaml", OLD.replace("uplink: 30m", "uplink: 60m"))
    steps = json.loads(cli("plan", "old.yaml", longer, "--format", "json").out)["steps"]
    said = [line for step in steps for line in step["interrupts"]]
    down = {line.partition(":")[0] for line in said if "ports go down" in line}
    assert down
    assert not [line for line in said if "no port goes down" in line and line.partition(":")[0] in down]
    assert all(len(set(step["interrupts"])) == len(step["interrupts"]) for step in steps)


def test_a_target_that_is_not_safe_gets_no_plan_and_its_findings_are_said(cli: Cli) -> None:
    """A warning of lint: marking that begins after pauses."""
    late = OLD.replace("min: 800 KiB, max: 3200 KiB", "min: 60 MiB, max: 90 MiB")
    outcome = cli("plan", "old.yaml", written("late.yaml", late), "-o", "change")
    assert outcome.code == 2
    assert "the target is not safe; nothing is written" in outcome.err
    assert "ECN004: leaf1 (+1 identical): Kmin 62,914,560 B" in outcome.err
    assert not Path("change").exists()
    back = cli("plan", "late.yaml", "old.yaml", "--format", "json")
    assert all("gone after step 1" in line for line in json.loads(back.out)["unsafe"])
    assert json.loads(back.out)["unsafe"]


TWO = OLD.replace("bandwidth: 50%, ecn", "bandwidth: 30%, ecn").replace(
    "  cnp: ",
    "  storage: {dscp: 18, priority: 4, lossless: true, bandwidth: 20%, "
    "ecn: {min: 800 KiB, max: 3200 KiB, probability: 20%}}\n  cnp: ",
)
"""A second lossless class: hosts get PFC of another priority, which takes links down."""


@pytest.mark.tools("runs")
def test_hosts_whose_links_go_down_are_drained_and_count_as_ports(cli: Cli) -> None:
    two = written("two.yaml", TWO)

    def hosts(*options: str) -> dict[str, Any]:
        plan = json.loads(cli("plan", "old.yaml", two, "--format", "json", *options).out)
        (step,) = (step for step in plan["steps"] if step["hosts"])
        (group,) = step["hosts"]
        lines = [line for line in step["by_hand"] if line.startswith("hosts: have the job scheduler")]
        return {**group, "by_hand": lines, "interrupts": step["interrupts"]}

    alone = hosts()
    links = alone["links_down"]
    assert links > 1
    assert (alone["drained"], alone["at_once"]) == (True, 1)
    assert f"(1 of {len(alone['hosts'])} hosts at a time)" in alone["by_hand"][0]
    most = hosts("--max-ports-down", str(1000 * links))
    assert most["at_once"] == 15, "of the 16 hosts at a leaf one stays"
    assert f"its {links} links go down for a moment" in alone["interrupts"][-1]
    assert hosts("--max-ports-down", str(3 * links + 1))["at_once"] == 3
    refused = cli("plan", "old.yaml", two, "--max-ports-down", str(links - 1))
    assert refused.code == 2
    assert f"takes the {links} links of a host down" in refused.err


RAILS = """topology:
  rail_optimised:
    units: 2
    rails: 4
    spines: 2
    hosts_per_unit: 6
    host_links: 4 x 400G
    uplinks: 2 x 800G
    cables: {host: 3m, uplink: 30m}
cluster: {gpus_per_host: 4, rails: 4}
"""
"""Each host has a link to each of the four leaves of its unit."""


def test_whichever_hosts_change_at_once_each_rail_of_a_unit_keeps_one(cli: Cli) -> None:
    """An intent does not declare which hosts a job runs on, or which are replicas of each other."""
    old, two = (
        written(name, intent.partition("topology:")[0] + RAILS)
        for name, intent in (("rails.yaml", OLD), ("rails-two.yaml", TWO))
    )
    outcome = cli("plan", old, two, "--max-ports-down", "1000", "--format", "json")
    changing = [
        group for step in json.loads(outcome.out)["steps"] for group in step["hosts"] if group["links_down"]
    ]
    (fabric,) = load_fabrics([load(Path(two))]).fabrics
    at_leaf = Counter(link.a for link in fabric.links if link.to_host)
    assert len(at_leaf) == 8
    assert [group["at_once"] for group in changing] == [min(at_leaf.values()) - 1] == [5]


def test_hosts_that_keep_their_pfc_are_not_drained(cli: Cli) -> None:
    plan = json.loads(cli("plan", "old.yaml", "new.yaml", "--format", "json").out)
    groups = [
        group for steps in (plan["steps"], *plan["rollback"]) for step in steps for group in step["hosts"]
    ]
    assert {(group["links_down"], group["drained"], group["at_once"]) for group in groups} == {
        (0, False, None)
    }


def test_cnps_that_move_are_said_to_meet_another_class_meanwhile(cli: Cli) -> None:
    moved = written("cnp.yaml", OLD.replace("dscp: 48", "dscp: 46"))
    plan = json.loads(cli("plan", "old.yaml", moved, "--format", "json").out)
    said = [line for step in plan["steps"] for line in step["interrupts"] if "CNPs" in line]
    assert len(said) == 1
    assert said[0].startswith(
        "hosts: CNPs move from DSCP 48 to DSCP 46: until all switches and hosts have changed"
    )
    back = [line for step in plan["rollback"][0] for line in step["interrupts"] if "CNPs" in line]
    assert back[0].startswith("hosts: CNPs move from DSCP 46 to DSCP 48")


def test_one_switch_of_a_tier_carries_on_however_many_ports_may_be_down(cli: Cli) -> None:
    plan = json.loads(
        cli("plan", "old.yaml", written("two.yaml", TWO), "--format", "json", "--max-ports-down", "64").out
    )
    spines = [group for step in plan["steps"] for group in step["switches"] if group["group"] == "spine"]
    assert {group["at_once"] for group in spines if group["drained"]} == {1}
    assert any("1 of 2 carry on" in line for step in plan["steps"] for line in step["by_hand"])


def _mapped(switches: list[Path], dscp: str, traffic_class: str) -> None:
    for file in switches:
        _edited(file, lambda c: c["DSCP_TO_TC_MAP"]["AZURE"].update({dscp: traffic_class}))


@pytest.mark.parametrize(
    ("taken_in", "dropped", "sent", "steps", "said"),
    [
        (["leaf1"], [], [26], 4, "change from DSCP 26 to DSCP 24 that is begun"),
        (None, [], [24, 26], 4, "are lossless on all switches, as half way from 26 to 24"),
        (None, ["leaf1", "spine2"], [24], 1, "that is done but for its last step"),
    ],
)
def test_a_change_that_is_half_done_goes_on_from_there(
    taken_in: list[str] | None,
    dropped: list[str],
    sent: list[int],
    steps: int,
    said: str,
    cli: Cli,
    running: Path,
) -> None:
    """By files between two steps, or of some switches within one: no job has to stop, and the text says so."""
    switches = sorted(running.glob("*/config_db.json"))
    _mapped([file for file in switches if taken_in is None or file.parent.name in taken_in], "24", "3")
    _mapped([file for file in switches if file.parent.name in dropped], "26", "0")
    plan = json.loads(cli("plan", str(running), "new.yaml", "--format", "json").out)
    assert plan["dscps_before"] == plan["steps"][0]["dscps_in_use"] == sent
    assert [step["kind"] for step in plan["steps"]] == ["change", "change", "jobs", "change"][-steps:]
    assert said in plan["notes"][0]
    assert plan["unsafe"] == []
    titles = [hosts["title"] for step in plan["steps"] for hosts in step["hosts"]]
    assert not any("none" in title for title in titles)


def test_the_dscps_that_are_stated_count_whatever_is_half_done(cli: Cli, running: Path) -> None:
    _mapped([running / "leaf1" / "config_db.json"], "24", "3")
    plan = json.loads(cli("plan", str(running), "new.yaml", "--rdma-dscp", "24", "--format", "json").out)
    assert any("DSCP 24" in line for line in plan["unsafe"])
    assert not any("half" in note or "begun" in note for note in plan["notes"])


def test_a_switch_that_drifted_is_no_change_that_is_half_done(cli: Cli, running: Path) -> None:
    _mapped([running / "spine1" / "config_db.json"], "26", "0")
    plan = json.loads(cli("plan", str(running), "old.yaml", "--format", "json").out)
    assert any("DSCP 26" in line for line in plan["unsafe"])
    assert not any("taken to send" in note for note in plan["notes"])


def test_a_safe_start_has_no_dangers(cli: Cli) -> None:
    assert json.loads(cli("plan", "old.yaml", "new.yaml", "--format", "json").out)["unsafe"] == []


def test_a_step_that_is_too_long_is_split_by_switches(cli: Cli) -> None:
    longer = written("longer.yaml", OLD.replace("uplink: 30m", "uplink: 60m"))
    whole = json.loads(cli("plan", "old.yaml", longer, "--format", "json").out)["steps"]
    split = json.loads(cli("plan", "old.yaml", longer, "--per-step", "20min", "--format", "json").out)[
        "steps"
    ]
    assert whole[0]["seconds"] > 20 * 60
    assert all(step["seconds"] <= 20 * 60 for step in split)
    assert [step["switches"][0].get("devices") for step in split if step["switches"]] == [
        ["leaf1"],
        ["leaf2"],
    ]


def test_times_are_in_minutes_and_hours_too(cli: Cli) -> None:
    assert cli("plan", "old.yaml", "new.yaml", "--per-step", "30min", "--drain-time", "1.5h").code == 0
    outcome = cli("plan", "old.yaml", "new.yaml", "--per-step", "30")
    assert outcome.code == 2
    assert "'30' has no unit; write it like 30min or 90s (units: ns, us, µs, ms, s, min, h)" in " ".join(
        outcome.err.split()
    )


def test_what_is_missing_on_one_side_is_named(cli: Cli, running: Path) -> None:
    shutil.rmtree(running / "spine2")
    outcome = cli("plan", str(running), "new.yaml", "-o", "out")
    assert outcome.code == 2
    assert "spine2: in the target, and nothing says what runs there" in outcome.err.replace("\n  ", " ")
    assert not Path("out").exists()


def test_a_switch_in_service_that_the_target_does_not_have_is_named(cli: Cli, running: Path) -> None:
    text = (running / "leaf2" / "config_db.json").read_text(encoding="utf-8")
    (running / "leaf9").mkdir()
    (running / "leaf9" / "config_db.json").write_text(text.replace('"leaf2"', '"leaf9"'), encoding="utf-8")
    outcome = cli("plan", str(running), "new.yaml")
    assert outcome.code == 2
    assert "leaf9: in service, and not in the target" in outcome.err


def test_a_release_that_no_intent_states_is_the_one_that_render_assumes(cli: Cli) -> None:
    before, after = (
        written(name, text.replace('sonic: {release: "202411"}\n', ""))
        for name, text in (("before.yaml", OLD), ("after.yaml", NEW))
    )
    outcome = cli("plan", before, after)
    assumed = releases().default
    assert f"SONiC {assumed} is assumed of leaf1, leaf2, spine1, spine2, as in lossless render" in " ".join(
        outcome.out.split()
    )
    steps = [
        json.loads(cli("plan", *sides, "--format", "json").out)["steps"]
        for sides in ((before, after), ("old.yaml", "new.yaml"))
    ]
    assert assumed == "202411"
    assert steps[0] == steps[1]
    assert "is assumed" not in cli("plan", "old.yaml", "new.yaml").out


def test_a_release_that_one_side_alone_states_is_not_assumed_of_the_other(cli: Cli, running: Path) -> None:
    plain = written("plain.yaml", OLD.replace('sonic: {release: "202411"}\n', ""))
    outcome = cli("plan", plain, "new.yaml")
    assert (outcome.code, outcome.out) == (2, "")
    assert "leaf1 runs an unknown release; state sonic.release in the intent" in outcome.err
    for file in running.glob("*/config_db.json"):
        data = json.loads(file.read_text(encoding="utf-8"))
        del data["VERSIONS"]
        file.write_text(json.dumps(data), encoding="utf-8")
    outcome = cli("plan", str(running), plain)
    assert "leaf1 runs an unknown release; state sonic.release in the intent" in " ".join(outcome.err.split())


def test_switches_of_one_tier_on_several_releases_are_refused(cli: Cli, running: Path) -> None:
    file = running / "leaf2" / "config_db.json"
    file.write_text(
        file.read_text(encoding="utf-8").replace("version_202411_01", "version_202405_01"), encoding="utf-8"
    )
    any_release = written("any.yaml", NEW.replace('sonic: {release: "202411"}\n', ""))
    outcome = cli("plan", str(running), any_release)
    assert outcome.code == 2
    assert (
        "switches of one tier (leaf) run several releases: 202405 (leaf2), 202411 (leaf1)"
        in outcome.err.replace("\n  ", " ")
    )


def test_a_target_with_errors_is_refused_with_its_findings(cli: Cli) -> None:
    wrong = written("wrong.yaml", NEW.replace("detection: 1200ms", "detection: 10ms"))
    outcome = cli("plan", "old.yaml", wrong)
    assert outcome.code == 2
    assert outcome.err.startswith("wrong.yaml:")
    assert "WD003 detection of 10 ms" in outcome.err


def test_a_step_cannot_be_shorter_than_one_switch_takes(cli: Cli) -> None:
    longer = written("longer.yaml", OLD.replace("uplink: 30m", "uplink: 60m"))
    outcome = cli("plan", "old.yaml", longer, "--per-step", "5s")
    assert outcome.code == 2
    assert "leaf: one switch takes up to 967 s; --per-step has to be that long" in outcome.err
    assert cli("plan", "old.yaml", longer, "--per-step", "966s").code == 2
    assert cli("plan", "old.yaml", longer, "--per-step", "967s").code == 0


def test_several_jobs_stop_where_no_order_is_safe(cli: Cli) -> None:
    moved = written("moved.yaml", OLD.replace("priority: 3", "priority: 4"))
    steps = json.loads(cli("plan", "old.yaml", moved, "--format", "json").out)["steps"]
    assert [step["kind"] for step in steps] == ["stop", "change", "start"]
    assert [step["dscps_in_use"] for step in steps] == [[26], [], [26]]


def test_a_fault_of_the_start_neither_stops_a_plan_nor_is_kept(cli: Cli, running: Path) -> None:
    file = running / "leaf1" / "config_db.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    del data["PFC_WD"]["Ethernet0"]
    data["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "0"
    file.write_text(json.dumps(data), encoding="utf-8")
    steps = json.loads(cli("plan", str(running), "new.yaml", "--format", "json").out)["steps"]
    assert [step["kind"] for step in steps] == ["change", "change", "jobs", "change"]
    first = {group["group"]: [*group["batches"][0]["titles"]] for group in steps[0]["switches"]}
    assert first["leaf-1"] == ["DSCP_TO_TC_MAP|AZURE|24 becomes 3", "PFC_WD"]


@pytest.mark.parametrize(
    ("uplink", "said", "at_once"),
    [("8", "move its hosts to the second ToR first", 1), ("1", "too little to carry all of them", 2)],
)
def test_hosts_move_to_the_second_tor_where_it_carries_them(
    uplink: str, said: str, at_once: int, cli: Cli
) -> None:
    """Then the second one stays, however many ports may be down; where the scheduler drains hosts, both may change."""
    dual = OLD.replace("leaves: 2", "dual_tor: true\n    oversubscription: 8\n    leaves: 2")
    dual = re.sub(r"uplinks: \d+ x", f"uplinks: {uplink} x", dual)
    longer = dual.replace("host: 3m", "host: 10m")
    intents = (written("dual.yaml", dual), written("longer.yaml", longer))
    outcome = cli("plan", *intents, "--max-ports-down", "2", "--format", "json")
    step = json.loads(outcome.out)["steps"][0]
    assert any(said in line for line in step["by_hand"])
    (leaves,) = (group for group in step["switches"] if group["group"] == "leaf")
    assert leaves["at_once"] == at_once


def test_hosts_of_an_mclag_peer_are_not_said_to_have_single_links(cli: Cli, running: Path) -> None:
    for leaf in ("leaf1", "leaf2"):
        file = running / leaf / "config_db.json"
        data = json.loads(file.read_text(encoding="utf-8"))
        data["MCLAG_DOMAIN"] = {
            "1": {"source_ip": "10.0.0.1", "peer_ip": "10.0.0.2", "peer_link": "PortChannel1"}
        }
        file.write_text(json.dumps(data), encoding="utf-8")
    less = written("less.yaml", OLD.replace("host: 3m", "host: 10m"))
    step = json.loads(cli("plan", str(running), less, "--format", "json").out)["steps"][0]
    said = [line for line in step["by_hand"] if line.startswith("leaf")]
    assert any("second ToR" in line for line in said)
    assert not any("single links" in line for line in said)


@pytest.mark.parametrize(("options", "at_once"), [((), 1), (("--max-ports-down", "2"), 2)])
def test_as_many_switches_change_at_once_as_ports_may_be_down(
    options: tuple[str, ...], at_once: int, cli: Cli
) -> None:
    longer = written("longer.yaml", OLD.replace("uplink: 30m", "uplink: 60m"))
    step, *_ = json.loads(cli("plan", "old.yaml", longer, *options, "--format", "json").out)["steps"]
    # One of the two spines carries the traffic of the other, and takes as long as ever.
    assert [(group["group"], group["at_once"]) for group in step["switches"]] == [
        ("leaf", at_once),
        ("spine", 1),
    ]
    assert (step["seconds_at_least"], step["seconds"]) == (32, 1934)


def test_a_reload_that_takes_down_more_ports_than_may_be_is_refused(cli: Cli) -> None:
    dynamic = written("dynamic.yaml", OLD.replace("\npfc:", "\nbuffers: {model: dynamic}\npfc:"))
    assert "carrying out another buffer model is left to you" in cli("plan", "old.yaml", dynamic).out
    outcome = cli("plan", "old.yaml", dynamic, "--max-ports-down", "8")
    assert (outcome.code, outcome.out) == (2, "")
    assert "a reload takes 48 ports down at once, and --max-ports-down allows 8" in outcome.err


def test_the_plan_that_is_written_says_how_far_switches_are(wide: Cli, running: Path) -> None:
    wide("plan", str(running), "new.yaml", "-o", "change")
    assert wide("lint", "--plan", "change", str(running)).out == (
        "leaf1, leaf2, spine1, spine2: not begun, 0 of 2 batches done\n"
    )
    file = running / "leaf1" / "config_db.json"
    before = file.read_text(encoding="utf-8")
    file.write_text(before.replace('"24": "0"', '"24": "3"'), encoding="utf-8")
    shutil.rmtree(running / "spine2")
    assert wide("lint", "--plan", "change", str(running)).out.splitlines() == [
        "leaf2, spine1: not begun, 0 of 2 batches done",
        "leaf1: step 1 of 4, 1 of 2 batches done",
        "no file here of spine2",
    ]
    file.write_text(before.replace('"24": "0"', '"24": "5"'), encoding="utf-8")
    outcome = wide("lint", "--plan", "change", str(running))
    assert outcome.code == 1
    assert "  neither old nor new: DSCP_TO_TC_MAP|AZURE" in outcome.out.splitlines()


def test_a_folder_without_a_plan_is_refused(cli: Cli, running: Path) -> None:
    outcome = cli("lint", "--plan", str(running), str(running))
    assert (outcome.code, outcome.err) == (2, "running/plan.json: no such file\n")


def test_runs_between_steps_are_looked_at(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from lossless.checks.lint.run import CheckedReport
    from lossless.checks.plan import assemble
    from lossless.ground.basics.findings import Finding, Origin

    def unsafe(_checked: CheckedReport, fabrics: list[Fabric]) -> CheckedReport:
        (fabric,) = fabrics
        both = fabric.switches[0].classes.classes[0].dscps == (24, 26)
        finding = Finding(
            code="SIM001", name="drops", severity="error", confidence="high", message="frames are dropped",
            origin=Origin("leaf1/config_db.json", ()), note="", help="", url="", related=(), places=1, elements=(),
            data={}, fixable="no", object_form="config_db", fix=(), conclusive=True,
        )  # fmt: skip
        return CheckedReport((finding,) if both else ())

    monkeypatch.setattr(assemble, "with_runs", unsafe)
    assert cli("plan", "old.yaml", "new.yaml").code == 0
    outcome = cli("plan", "old.yaml", "new.yaml", "--simulate")
    assert outcome.code == 2
    assert "after step 2: leaf1: frames are dropped" in outcome.err


def test_plan_and_diff_agree_on_what_is_a_change(wide: Cli, running: Path) -> None:
    file = running / "leaf1" / "config_db.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"detection_time": "1200"', '"detection_time": 1200'), encoding="utf-8")
    assert wide("diff", str(running), "old.yaml").code == 0
    assert wide("plan", str(running), "old.yaml").out.startswith("nothing to change")
    file.write_text(text.replace('"detection_time": "1200"', '"detection_time": "1100"'), encoding="utf-8")
    assert wide("diff", str(running), "old.yaml").code == 1
    (step,) = json.loads(wide("plan", str(running), "old.yaml", "--format", "json").out)["steps"]
    assert [group["group"] for group in step["switches"]] == ["leaf-1"]


@pytest.mark.parametrize("option", [["--fix"], ["--simulate"], ["--format", "sarif"], ["--per-file"]])
def test_progress_takes_no_options_of_findings(option: list[str], cli: Cli, running: Path) -> None:
    outcome = cli("lint", "--plan", str(running), *option, str(running))
    assert outcome.code == 2
    assert "--plan says how far switches are, as text or json" in " ".join(outcome.err.split())


def test_jobs_send_what_ports_pause_where_a_traffic_class_is_not_its_priority(
    cli: Cli, running: Path
) -> None:
    """DSCP 26 to TC 5, and TC 5 to the group and the queue of priority 3: 26 is lossless all the same."""
    for file in running.glob("*/config_db.json"):
        data = json.loads(file.read_text(encoding="utf-8"))
        data["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "5"
        data["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["5"] = "3"
        data["TC_TO_QUEUE_MAP"]["AZURE"]["5"] = "3"
        file.write_text(json.dumps(data), encoding="utf-8")
    plan = json.loads(cli("plan", str(running), "new.yaml", "--format", "json").out)
    assert plan["dscps_before"] == [26]
    assert all(26 in step["dscps_in_use"] for step in plan["steps"][:-1])
