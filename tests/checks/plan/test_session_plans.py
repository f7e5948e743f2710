"""Plans of switches that take sessions: every mixture of them on the way, read back, keeps jobs lossless."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from lossless.api import plan
from lossless.formats.device_files.environment import render_template
from lossless.formats.switches.contract import differences
from lossless.formats.switches.registry import dialect
from lossless.ground.documents import load_text
from lossless.interfaces.api.lint import DEFAULT_OPTIONS
from lossless.interfaces.api.render import sound_fabric
from tests.formats.switches.session_effects import after_session
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lossless.checks.plan.plan import Plan, PlanStep
    from lossless.model.fabric.model import Fabric, Switch
    from lossless.model.fabric.qos import PortQos

pytestmark = [pytest.mark.xdist_group("session plans"), pytest.mark.tools("laws")]
EXAMPLES = ("roce-256-mixed", "nexus-128")
CHANGES = {
    "another DSCP": ("dscp: 26", "dscp: 24"),
    "other thresholds": ("kB, max: 3", "kB, max: 2"),
    "another share": ("lossless: true, bandwidth: 50%", "lossless: true, bandwidth: 40%"),
    "another priority": ("priority: 3, lossless", "priority: 4, lossless"),
}
NOTHING = re.compile(r"$^")
WATCHDOG = re.compile(r"watchdog|watch-dog")


def changed(example: str, folder: Path, old: str, new: str) -> tuple[str, str]:
    """Return an example, and the same with a change."""
    text = (ROOT / "examples" / example / "fabric.yaml").read_text(encoding="utf-8")
    assert old in text
    before, after = folder / "now.yaml", folder / "then.yaml"
    before.write_text(text, encoding="utf-8")
    after.write_text(text.replace(old, new), encoding="utf-8")
    return str(before), str(after)


@cache
def planned(example: str, name: str) -> Plan:
    """Return the plan of one of the changes of an example."""
    with TemporaryDirectory() as folder:
        now, then = changed(example, Path(folder), *CHANGES[name])
        return plan([now], then)


def fabric_at(file: str) -> Fabric:
    """Return the fabric of an intent; tests of one example have the same."""
    return _fabric_of(Path(file).read_text(encoding="utf-8"))


@cache
def _fabric_of(text: str) -> Fabric:
    fabric = sound_fabric(load_text(text, "fabric.yaml"), DEFAULT_OPTIONS)[1]
    assert fabric is not None
    return fabric


def text_of(switch: Switch) -> str:
    file = dialect(switch.format).files(switch)[0]
    return render_template(file.template, file.content)


def read(switch: Switch, text: str) -> Switch:
    return _read(switch.format, text, dialect(switch.format).files(switch)[0].name)


@cache
def _read(name: str, text: str, file: str) -> Switch:
    """Return what a configuration reads as; the two ends of steps that meet are the same."""
    system = dialect(name)
    return system.read(system.document(text, file), ()).switch


def after_step(switches: Mapping[str, Switch], texts: Mapping[str, str], step: PlanStep) -> dict[str, str]:
    """Return the configurations after the sessions of a step."""
    new = dict(texts)
    for group in step.switches:
        for device in group.devices:
            for batch in group.batches:
                assert batch.session is not None
                name, session = switches[device].format, batch.session
                file = dialect(name).files(switches[device])[0].name
                new[device] = after_session(name, new[device], session.commands, file)
    return new


def pausing(qos: PortQos, dscp: int) -> tuple[int, ...]:
    """Return the priorities by which a port pauses a DSCP."""
    group = qos.group_of(qos.traffic_class(dscp))
    return tuple(priority for priority in qos.pfc.priorities if qos.pausing_group(priority) == group)


def assert_lossless(fabric: Fabric, ends: Iterable[Mapping[str, Switch]], dscps: Iterable[int]) -> None:
    """Check that both ends of every link pause each DSCP by one priority, the same one, and watch it."""
    mixtures = [*ends]
    for dscp, near, far in product(dscps, mixtures, mixtures):
        for link in fabric.links:
            own = port_of(near[link.a], link.a_port)
            assert len(pausing(own, dscp)) == 1, (dscp, link)
            assert own.watchdog is not None
            if not link.to_host:
                assert pausing(port_of(far[link.b], link.b_port), dscp) == pausing(own, dscp), (dscp, link)


def port_of(switch: Switch, name: str) -> PortQos:
    (qos,) = (port.qos for port in switch.ports if port.name == name)
    assert qos is not None
    return qos


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("change", CHANGES)
def test_every_mixture_on_the_way_is_lossless(example: str, change: str, tmp_path: Path) -> None:
    now, then = changed(example, tmp_path, *CHANGES[change])
    made, fabric, target = planned(example, change), fabric_at(now), fabric_at(then)
    switches = {switch.name: switch for switch in fabric.switches}
    passed = [{name: text_of(switch) for name, switch in switches.items()}]
    for step in made.steps:
        passed.append(after_step(switches, passed[-1], step))
        sides = [{name: read(switches[name], text) for name, text in texts.items()} for texts in passed[-2:]]
        if step.kind == "change":
            assert_lossless(fabric, sides, step.in_use)
    assert_same(target, passed[-1])
    for texts, back in zip(passed[1:], made.rollback, strict=True):
        undone = texts
        for step in back:
            undone = after_step(switches, undone, step)
        assert_same(fabric, undone)


def assert_same(fabric: Fabric, texts: Mapping[str, str]) -> None:
    """Check that configurations read as a fabric declares."""
    for switch in fabric.switches:
        left = differences(switch, read(switch, texts[switch.name]), dialect(switch.format).losses)
        assert [*left] == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_class_that_changes_its_priority_stops_the_jobs(example: str) -> None:
    steps = planned(example, "another priority").steps
    assert [step.kind for step in steps] == ["stop", "change", "start"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_new_dscp_is_taken_in_before_hosts_send_it(example: str) -> None:
    made = planned(example, "another DSCP")
    assert [titles(made, number) for number in range(4)] == [
        {"DSCP 24 gets traffic class 3"},
        set(),
        set(),
        {"DSCP 26 gets traffic class 0"},
    ]


def titles(made: Plan, number: int) -> set[str]:
    groups = made.steps[number].switches
    return {title for group in groups for batch in group.batches for title in batch.titles}


@pytest.mark.parametrize("example", EXAMPLES)
def test_files_of_switches_plan_as_their_intent(example: str, tmp_path: Path) -> None:
    now, then = changed(example, tmp_path, *CHANGES["another DSCP"])
    made, of_intent = plan(written(fabric_at(now), tmp_path), then), planned(example, "another DSCP")
    assert [titles(made, n) for n in range(4)] == [titles(of_intent, n) for n in range(4)]
    assert sessions(made) == sessions(of_intent)


def sessions(made: Plan) -> list[tuple[str, ...]]:
    return [
        batch.session.commands
        for step in made.steps
        for group in step.switches
        for batch in group.batches
        if batch.session is not None
    ]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_watchdog_that_is_added_is_one_session(example: str, tmp_path: Path) -> None:
    now, then = changed(example, tmp_path, "priority", "priority")
    files = written(fabric_at(now), tmp_path, WATCHDOG)
    made = plan(files, then)
    assert [titles(made, number) for number in range(len(made.steps))] == [{"the watchdog"}]


def written(fabric: Fabric, folder: Path, without: re.Pattern[str] = NOTHING) -> list[str]:
    """Write the configuration of each switch, but for lines with a text; return their folders."""
    for switch in fabric.switches:
        (folder / switch.name).mkdir()
        lines = [line for line in text_of(switch).splitlines() if not without.search(line)]
        name = dialect(switch.format).files(switch)[0].name
        (folder / switch.name / name).write_text("\n".join(lines), encoding="utf-8")
    return [str(folder / switch.name) for switch in fabric.switches]


def test_what_a_system_has_no_place_for_is_no_change(tmp_path: Path) -> None:
    now, then = changed("roce-256-mixed", tmp_path, "action: drop", "action: alert")
    (step,) = plan([now], then).steps
    assert [group.name for group in step.switches] == ["spine"]


def test_a_pause_of_nx_os_moves_on_drained_switches(tmp_path: Path) -> None:
    old = "default: {dscp: rest, priority: 0, bandwidth: 50%}"
    curve = "ecn: {min: 150 kB, max: 3000 kB, probability: 7%}"
    new = f"more: {{dscp: 34, priority: 4, lossless: true, bandwidth: 10%, {curve}}}\n  {old.replace('50%', '40%')}"
    now, then = changed("nexus-128", tmp_path, old, new)
    made = plan([now], then)
    groups = [group for step in made.steps for group in step.switches]
    pausing_groups = [g for g in groups if any("PFC" in batch.titles for batch in g.batches)]
    assert pausing_groups
    assert all(group.drained for group in pausing_groups)


def test_a_switch_does_not_become_one_of_another_system(tmp_path: Path) -> None:
    now, then = changed(
        "roce-256-mixed",
        tmp_path,
        "{profile: arista-7060x6-64pe, format: eos}",
        "{profile: arista-7060x6-64pe}",
    )
    with pytest.raises(Exception, match="does not replace one system by another"):
        plan([now], then)


# --- adaptive routing: NICs take packets out of order before switches bring them so, and until they no longer do ---

ADAPTIVE = "load_balancing: adaptive"


def adapting(fabric: Fabric, texts: Mapping[str, str]) -> set[str]:
    """Return the switches that route adaptively by what their configurations read as."""
    switches = {switch.name: switch for switch in fabric.switches}
    return {name for name, text in texts.items() if any(p.adaptive for p in read(switches[name], text).ports)}


@pytest.mark.parametrize("turns_on", [True, False])
def test_nics_take_packets_out_of_order_wherever_switches_route_adaptively(
    turns_on: bool, tmp_path: Path
) -> None:
    adaptive, plain = changed("spectrum-x-256", tmp_path, f"    {ADAPTIVE}", "    load_balancing: ecmp")
    text = Path(plain).read_text(encoding="utf-8")
    Path(plain).write_text(text.replace("  reorder: any", "  reorder: none"), encoding="utf-8")
    now, then = (plain, adaptive) if turns_on else (adaptive, plain)
    made, fabric = plan([now], then), fabric_at(now)
    first, second = made.steps
    switches, hosts = (second, first) if turns_on else (first, second)
    assert (switches.hosts, hosts.switches) == ((), ())
    assert [group.name for group in switches.switches] == ["leaf", "spine"]
    assert sum(len(group.hosts) for group in hosts.hosts) == len(fabric.hosts)
    before = {switch.name: text_of(switch) for switch in fabric.switches}
    after = after_step({switch.name: switch for switch in fabric.switches}, before, switches)
    everywhere = {switch.name for switch in fabric.switches}
    assert (adapting(fabric, before), adapting(fabric, after)) == (
        (set(), everywhere) if turns_on else (everywhere, set())
    )


@pytest.mark.parametrize("turns_on", [True, False])
def test_switches_and_nics_change_together_while_no_job_runs(turns_on: bool, tmp_path: Path) -> None:
    adaptive, plain = changed("spectrum-x-256", tmp_path, f"    {ADAPTIVE}", "    load_balancing: ecmp")
    text = Path(plain).read_text(encoding="utf-8")
    text = text.replace("  reorder: any", "  reorder: none").replace(
        "priority: 3, lossless", "priority: 4, lossless"
    )
    Path(plain).write_text(text, encoding="utf-8")
    made = plan([plain], adaptive) if turns_on else plan([adaptive], plain)
    assert [step.kind for step in made.steps] == ["stop", "change", "start"]
    assert (len(made.steps[1].switches), len(made.steps[1].hosts)) == (2, 1)
    assert [[step.kind for step in back] for back in made.rollback] == [
        ["start"],
        ["change", "start"],
        ["stop", "change", "start"],
    ]


def test_adaptive_routing_that_a_file_has_beside_its_target_stays(tmp_path: Path) -> None:
    adaptive, plain = changed("spectrum-x-256", tmp_path, f"    {ADAPTIVE}", "    load_balancing: ecmp")
    assert plan(written(fabric_at(adaptive), tmp_path), plain).steps == ()
