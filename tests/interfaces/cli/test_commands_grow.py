"""Commands take time in proportion to what is in their files, whatever there is much of: ratios of processor times.

Readers have such tests by themselves (tests/formats/test_readers_grow.py). Here it is what a command does with what it
has read: findings, fixes, suppressions, operations of a patch, ports and policies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from lossless.checks.lint.run import run
from lossless.checks.plan.batches import Config, FabricChange, PlannedKind, PlannedLink
from lossless.checks.plan.evaluation import Danger, DeviceVerdict, Evaluator, PlacedEnd
from lossless.checks.plan.search import Search
from lossless.checks.plan.systems import units_of
from lossless.checks.rules.registry import rules_for
from lossless.formats.sonic.capabilities.updater_sorting import UpdaterDevice
from lossless.ground.basics.findings import Origin
from lossless.interfaces.cli import main
from lossless.model.fabric.deployed_devices import DeployedDevices, DeviceSummary, LinkEnd, SharedSetting
from lossless.model.fabric.view import View
from lossless.model.hardware.load import hardware_finder
from tests.growth import by_doubling
from tests.interfaces.cli.inputs import BASES, LEAF

if TYPE_CHECKING:
    from lossless.model.fabric.model import Fabric

Files = dict[str, str]
SMALLEST, LARGEST = 200, 2000
"""So many that work for each pair of them outweighs the rest."""
NXOS = (BASES / "switch-nxos.txt").read_text()
EOS = (BASES / "switch-leaf.txt").read_text()


class Grown(NamedTuple):
    """A call, and the files that it is of, with so many of something."""

    call: tuple[str, ...]
    files: Callable[[int], Files]


def odd_numbers(many: int) -> dict[str, Any]:
    """Return a switch with so many rows whose numbers are not canonical: each is a finding with a fix of its own."""
    switch: dict[str, Any] = json.loads(LEAF)
    curve = switch["WRED_PROFILE"]["AZURE_LOSSLESS"]
    switch["WRED_PROFILE"] |= {
        f"w{n}": curve | {"green_min_threshold": f" {819200 + n}"} for n in range(many)
    }
    return switch


def with_entries(many: int, pattern: str, **files: str) -> Files:
    """Return files beside a configuration with so many suppressions, each of a pattern of its own."""
    entry = '[[suppress]]\nrules = ["CFG001"]\nreason = "why"\n{}\n'
    return files | {"lossless.toml": "".join(entry.format(pattern.format(n)) for n in range(many))}


def patched(many: int) -> Files:
    steps = [
        {"op": "replace", "path": f"/WRED_PROFILE/w{n}/green_max_threshold", "value": " 3000000"}
        for n in range(many)
    ]
    return {"leaf.json": json.dumps(odd_numbers(many)), "p.json": json.dumps(steps)}


def unlike_ports(many: int) -> Files:
    """Return a switch with so many ports, each with a buffer profile, a curve and maps of its own."""
    switch: dict[str, Any] = json.loads(LEAF)
    for table in ("PORT", "PORT_QOS_MAP", "PFC_WD", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "CABLE_LENGTH"):
        rows = switch[table]["AZURE"] if table == "CABLE_LENGTH" else switch[table]
        own = {key.removeprefix("Ethernet8"): row for key, row in rows.items() if key.startswith("Ethernet8")}
        for n in range(2, many):
            for rest, row in own.items():
                rows[f"Ethernet{8 * n}{rest}"] = row.copy() if isinstance(row, dict) else row
    group, curve = (
        switch["BUFFER_PROFILE"]["pg_lossless_800000_40m_profile"],
        switch["WRED_PROFILE"]["AZURE_LOSSLESS"],
    )
    for n in range(2, many):
        port = f"Ethernet{8 * n}"
        switch["PORT"][port] |= {"alias": f"etp{n}", "index": str(n), "lanes": str(8 * n)}
        switch["BUFFER_PROFILE"][f"p{n}"] = group | {"size": str(410624 + n)}
        switch["BUFFER_PG"][f"{port}|3"] = {"profile": f"p{n}"}
        switch["WRED_PROFILE"][f"w{n}"] = curve | {"green_min_threshold": str(819200 + n)}
        switch["QUEUE"][f"{port}|3"] = {"scheduler": "scheduler.1", "wred_profile": f"w{n}"}
    return {"leaf.json": json.dumps(switch)}


def with_policies(text: str, policy: str, bound: str, first: str) -> Callable[[int], Files]:
    """Return what makes a configuration with so many policies, each of an interface of its own."""
    head, _, body = text.partition(f"interface {first}\n")
    stem = first.removesuffix("1")

    def made(many: int) -> Files:
        policies = "".join(policy.format(n=n) for n in range(1, many + 1))
        ports = "".join(f"interface {stem}{n}\n{body.replace(bound, f'P{n}')}" for n in range(1, many + 1))
        return {"switch.cfg": head + policies + ports}

    return made


NXOS_POLICY = (
    "class-map type qos match-any C{n}\n  match dscp 26\n"
    "policy-map type qos P{n}\n  class C{n}\n    set qos-group 3\n"
)
EOS_POLICY = (
    "qos profile P{n}\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n!\n"
    "class-map type qos match-any C{n}\n   match dscp 26\n!\n"
)
COMMANDS = {
    "fixes": Grown(("lint", "--diff", "."), lambda n: {"leaf.json": json.dumps(odd_numbers(n))}),
    "findings": Grown(("lint", "."), lambda n: {"leaf.json": json.dumps(odd_numbers(n))}),
    "suppressed objects": Grown(
        ("lint", "."),
        lambda n: with_entries(n, 'object = "WRED_PROFILE|w{}"', **{"leaf.json": json.dumps(odd_numbers(n))}),
    ),
    "operations": Grown(("lint", ".", "--patch", "p.json"), patched),
    "ports": Grown(("lint", "."), unlike_ports),
    "policies of NX-OS": Grown(("lint", "."), with_policies(NXOS, NXOS_POLICY, "MARKS", "Ethernet1/1")),
    "profiles of EOS": Grown(("lint", "."), with_policies(EOS, EOS_POLICY, "ROCE", "Ethernet1")),
}


def grows(folder: Path, grown: Grown) -> Sequence[float] | None:
    """Return by what the time of a call grows with each doubling, None where that is in proportion."""

    def make(many: int) -> Path:
        place = folder / str(many)
        place.mkdir(exist_ok=True)
        for name, text in grown.files(many).items():
            (place / name).write_text(text, encoding="utf-8")
        return place

    def work(place: Path) -> None:
        with pytest.MonkeyPatch.context() as here, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            here.chdir(place)
            main(list(grown.call))

    work(make(1))
    return by_doubling(make, work, SMALLEST, LARGEST)


@pytest.mark.tools("growth")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_takes_time_in_proportion_to_its_files(name: str, tmp_path: Path) -> None:
    growth = grows(tmp_path, COMMANDS[name])
    assert growth is None, growth


def role(many: int) -> DeployedDevices:
    """Return so many switches of one role, of which every tenth has no buffers of queues."""
    return DeployedDevices(
        [
            DeviceSummary(
                f"leaf{n}",
                "ToRRouter",
                None,
                None,
                f"{n}.json",
                (),
                (
                    SharedSetting("queues", "queues", n % 10 > 0, "", Origin(f"{n}.json")),
                    SharedSetting("policy", "watchdog", n if n % 3 == 0 else 0, str(n), Origin(f"{n}.json")),
                ),
                intended=False,
                origin=Origin(f"{n}.json"),
            )
            for n in range(many)
        ]
    )


@pytest.mark.tools("growth")
def test_switches_of_a_role_are_compared_in_time_that_grows_with_them() -> None:
    rules = rules_for("devices", chosen=frozenset({"CFG011"}))
    growth = by_doubling(role, lambda devices: run(devices, rules, "config_db"), 50, 2000)
    assert growth is None, growth


class AllSafe(Evaluator):
    """Finds no danger anywhere."""

    def device(self, name: str, *_: object) -> DeviceVerdict:
        """Return the ends of a switch with two ports."""
        ends = {port: role(1).summaries[0] for port in ("Ethernet0", "Ethernet4")}
        return DeviceVerdict((), {port: PlacedEnd(own, end_of(name, port), 0) for port, own in ends.items()})

    def link(self, *_: object) -> tuple[Danger, ...]:
        """Return no danger."""
        return ()


def end_of(switch: str, port: str) -> LinkEnd:
    return LinkEnd(switch, port, None, "", None, True, None, None, None, (), lossless=True)


def ring(many: int) -> FabricChange:
    """Return a change of so many switches in a ring, each of a kind of its own."""
    before: Config = {
        "WRED_PROFILE": {"AZURE": {"green_min_threshold": "800000"}},
        "DEVICE_METADATA": {"localhost": {}},
    }
    running, target = before, before | {"WRED_PROFILE": {"AZURE": {"green_min_threshold": "900000"}}}
    units = units_of(running, target, frozenset({26}))
    kind = PlannedKind("", (), running, target, units, UpdaterDevice("ACS-SN5600"))
    return FabricChange(
        tuple(kind._replace(title=f"leaf{n}", devices=(f"leaf{n}",)) for n in range(many)),
        (),
        tuple(PlannedLink(n, "Ethernet0", (n + 1) % many, "Ethernet4") for n in range(many)),
        (),
        sent=frozenset({26}),
        wanted=frozenset({26}),
        lossless=frozenset({26}),
    )


@pytest.mark.tools("growth")
def test_a_plan_is_searched_in_time_that_grows_with_the_kinds_of_switches() -> None:
    def ordered(change: FabricChange) -> None:
        assert len(Search(change, AllSafe(hardware_finder(()))).order().steps) == 1

    growth = by_doubling(ring, ordered, 100, 2000)
    assert growth is None, growth


def chained(many: int) -> View:
    """Return the view of so many switches, each linked to the first one and to the next."""
    names = [f"leaf{n}" for n in range(many)]
    links = [SimpleNamespace(a=a, b=b, to_host=False) for a, b in pairwise(names)]
    links += [SimpleNamespace(a=names[0], b=name, to_host=False) for name in names[1:]]
    switches = [SimpleNamespace(name=name, device=name) for name in names]
    return View(cast("Fabric", SimpleNamespace(switches=switches, links=links, beyond=())))


@pytest.mark.tools("growth")
def test_planes_are_found_in_time_that_grows_with_the_switches() -> None:
    growth = by_doubling(chained, lambda view: View(view.fabric).plane_of, 500, 8000)
    assert growth is None, growth
