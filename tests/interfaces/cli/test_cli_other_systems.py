"""Commands on fabrics whose switches run other systems than SONiC, as a person meets them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from lossless.api import formats, load_fabrics, render
from lossless.formats.switches.registry import TITLES
from lossless.ground.documents import load_text
from lossless.model.hardware.load import load_switch, switch_names
from tests.paths import ROOT
from tools.damage_systems import INTENT
from tools.example_base import base_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interfaces.cli.conftest import Cli

MIXED = str(ROOT / "examples" / "roce-256-mixed")


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the mixed fabric."""
    folder = tmp_path_factory.mktemp("mixed")
    render(MIXED, folder)
    return folder


def changed(rendered: Path, name: str, folder: Path, *changes: tuple[str, str]) -> str:
    text = (rendered / name).read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = folder / f"{name.partition('/')[0]}.cfg"
    path.write_text(text)
    return str(path)


def test_formats_are_listed_with_what_checks_them(cli: Cli) -> None:
    listed = json.loads(cli("formats", "--format", "json").out)
    assert [row["name"] for row in listed] == ["sonic", *TITLES]
    assert all(row.keys() == {"name", "title", "reads", "writes", "checked_with"} for row in listed)
    assert {row.name: row.writes for row in formats()}["eos"] == "qos.cfg, avd.yml"


def test_profiles_know_formats_that_exist() -> None:
    known = {name for switch in switch_names() for name in load_switch(switch).formats}
    assert known <= set(TITLES)
    assert {"eos", "nvue"} <= known


def test_a_profile_says_how_ports_are_called(cli: Cli) -> None:
    lines = cli("profiles", "nvidia-sn5600").out.splitlines()
    assert "  formats          sonic, nvue (ports swp1, swp1s0)" in lines


@pytest.mark.parametrize("name", ["leaf1/qos.nv", "leaf1/qos.yaml", "spine1/qos.cfg", "spine1/avd.yml"])
def test_what_was_rendered_is_no_drift(cli: Cli, rendered: Path, name: str) -> None:
    outcome = cli("diff", str(rendered / name), MIXED)
    device = name.partition("/")[0]
    assert (outcome.code, outcome.out) == (0, "")
    assert f"{device} is configured as" in outcome.err


def test_drift_is_told_by_port(cli: Cli, rendered: Path, tmp_path: Path) -> None:
    path = changed(
        rendered,
        "spine1/qos.cfg",
        tmp_path,
        ("minimum-threshold 800 kbytes", "minimum-threshold 500 kbytes"),
        ("dscp 26 to traffic-class 3", "dscp 26 to traffic-class 4"),
        ("recovery-time 1.2", "recovery-time 1"),
        ("interface Ethernet2/5\n   service-profile LOSSLESS\n", ""),
    )
    outcome = cli("diff", path, MIXED)
    assert outcome.code == 1
    on = "Ethernet1/1, Ethernet1/5, Ethernet2/1, Ethernet3/1 and 27 more: "
    said = " ".join(outcome.out.split())
    assert said == (
        "Ethernet2/5: missing on the device "
        f"{on}the queue of DSCP 26 is 4; the intent says 3 "
        f"{on}Kmin of queue 3 is 500,000 B; the intent says 800,000 B "
        f"{on}the watchdog's restoration time is 1000 ms; the intent says 1200 ms"
    )
    assert "no patch: such a switch is brought there by the file that render writes for it" in outcome.err


def test_a_recovery_that_is_forced_is_drift_and_a_plan_ends_it(
    cli: Cli, rendered: Path, tmp_path: Path
) -> None:
    """The same times: only the word tells whether a NIC that keeps storming gets its queue back."""
    own = "   priority-flow-control on\n"
    timer = "   priority-flow-control pause watchdog port timer timeout 0.6 polling-interval 0.2 recovery-time 1.2"
    for name in ("leaf1/qos.nv", "leaf2/qos.nv", "spine1/qos.cfg", "spine2/qos.cfg"):
        target = tmp_path / "running" / name
        target.parent.mkdir(parents=True)
        target.write_text((rendered / name).read_text())
    quiet = changed(rendered, "spine1/qos.cfg", tmp_path, (own, f"{own}{timer}\n"))
    assert cli("diff", quiet, MIXED).code == 0
    forced = changed(rendered, "spine1/qos.cfg", tmp_path, (own, f"{own}{timer} forced\n"))
    outcome = cli("diff", forced, MIXED)
    assert outcome.code == 1
    on = "Ethernet1/1, Ethernet1/5, Ethernet2/1, Ethernet2/5 and 28 more: "
    assert " ".join(outcome.out.split()) == (
        f"{on}whether the watchdog restores a queue during pauses is yes; the intent says no"
    )
    (tmp_path / "running" / "spine1" / "qos.cfg").write_text((tmp_path / "spine1.cfg").read_text())
    planned = cli("plan", str(tmp_path / "running"), MIXED, "-o", str(tmp_path / "plan"))
    assert planned.code == 0
    sessions = "".join(path.read_text() for path in (tmp_path / "plan" / "step-01").rglob("01-session.cfg"))
    assert "no priority-flow-control pause watchdog port timer" in sessions


def test_patches_are_for_the_switches_of_sonic_and_the_others_are_named(cli: Cli, tmp_path: Path) -> None:
    intent = tmp_path / "fabric.yaml"
    kinds = "leaf: nvidia-sn5600, spine: {profile: arista-7060x6-64pe, format: eos}"
    text = INTENT.format(hardware="KINDS").replace("switch: KINDS", kinds)
    intent.write_text(text + 'sonic: {release: "202411"}\n')
    (fabric,) = load_fabrics([load_text(intent.read_text(), "fabric.yaml")]).fabrics
    for switch in (each for each in fabric.switches if each.runs_sonic):
        base = tmp_path / "base" / switch.name / "config_db.json"
        base.parent.mkdir(parents=True)
        base.write_text(json.dumps(base_of(fabric, switch)))
    render(intent, tmp_path / "out", base_dir=tmp_path / "base")
    for name in ("leaf1/config_db.json", "leaf2/config_db.json", "spine1/qos.cfg", "spine2/qos.cfg"):
        (tmp_path / "running" / name).parent.mkdir(parents=True)
        (tmp_path / "running" / name).write_text((tmp_path / "out" / name).read_text())
    words = ("diff", str(tmp_path / "running"), str(intent), "--patch", str(tmp_path / "patches"))
    assert cli(*words).code == 0
    leaf = tmp_path / "running" / "leaf1" / "config_db.json"
    leaf.write_text(re.sub(r'("green_max_threshold": ?")3200000', r"\g<1>4194304", leaf.read_text()))
    assert cli(*words).code == 1
    spine = tmp_path / "running" / "spine2" / "qos.cfg"
    spine.write_text(
        spine.read_text().replace("minimum-threshold 800 kbytes", "minimum-threshold 500 kbytes")
    )
    outcome = cli(*words)
    assert outcome.code == 2
    assert "no patch for spine2: config apply-patch is of SONiC" in " ".join(outcome.err.split())
    assert [path.parent.name for path in (tmp_path / "patches").glob("*/patch.json")] == ["leaf1"]


def test_a_switch_of_another_system_than_declared_is_not_compared(cli: Cli, rendered: Path) -> None:
    outcome = cli("diff", str(rendered / "spine1" / "qos.cfg"), str(ROOT / "examples" / "roce-256"))
    assert outcome.code == 2
    assert "is of Arista EOS; spine1 runs SONiC" in outcome.err


def test_a_folder_of_several_systems_is_compared_with_one_intent(
    cli: Cli, rendered: Path, tmp_path: Path
) -> None:
    for name in ("leaf1/qos.nv", "leaf2/qos.nv", "spine1/qos.cfg"):
        target = tmp_path / name
        target.parent.mkdir()
        target.write_text((rendered / name).read_text())
    outcome = cli("diff", str(tmp_path), MIXED)
    assert outcome.code == 0
    assert "3 of 4 switches compared; 3 configured as" in outcome.err
    assert "no configuration here of spine2" in outcome.err


def test_a_path_through_several_systems_names_no_rows_of_sonic(cli: Cli) -> None:
    outcome = cli("trace", MIXED, "--from", "host1", "--to", "host17", "--dscp", "26", "-v")
    assert outcome.code == 0
    assert {"leaf1 (nvue)", "spine1 (eos)", "  headroom  computed by the switch"} <= set(
        outcome.out.splitlines()
    )
    assert "_MAP" not in outcome.out
    assert "PROFILE" not in outcome.out


def test_a_simulation_says_whose_buffers_it_takes(cli: Cli) -> None:
    outcome = cli("simulate", MIXED, "--seeds", "1", "-v")
    assert outcome.code == 0
    said = " ".join(outcome.out.split())
    assert (
        "a switch of another system than SONiC has the headroom and pools that SONiC gives the same product"
        in said
    )


def test_a_deployed_switch_of_another_system_is_traced(cli: Cli, rendered: Path) -> None:
    path = str(rendered / "spine1" / "qos.cfg")
    outcome = cli("trace", path, "--from", "Ethernet1/1", "--to", "Ethernet1/5", "--dscp", "26", "-v")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[1] == "unbroken: no error on this path concerns this DSCP"
    assert (
        "  watchdog  running: drop; detects in 600 ms; restores 1200 ms after pauses end; polls every 200 ms"
        in lines
    )
    lossy = cli("trace", path, "--from", "Ethernet1/1", "--to", "Ethernet1/5", "--dscp", "48", "-v")
    assert "  headroom  none: there is no lossless group" in lossy.out.splitlines()


@pytest.mark.parametrize(("command", "code"), [("simulate --closed-form", 2), ("headroom", 0)])
def test_headroom_of_a_deployed_switch_of_another_system_is_not_checked(
    cli: Cli, rendered: Path, tmp_path: Path, command: str, code: int
) -> None:
    outcome = cli(*command.split(), changed(rendered, "spine1/qos.cfg", tmp_path))
    assert outcome.code == code
    said = " ".join(outcome.out.split())
    assert "the switch computes headroom itself, and no file of its system states it" in said
    assert "safe" not in said
