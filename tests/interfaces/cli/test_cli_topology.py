"""``lossless topology``, and every shape through the real command: checked, rendered, summed up and drawn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.interfaces.cli.conftest import Cli, cli
from tests.paths import ROOT

__all__ = ["cli"]
EXAMPLE = ROOT / "examples" / "roce-256"
HEAD = """\
lossless: v1
fabric: made
transport: rocev2
preset: nvidia
hardware: {switch: nvidia-sn5600, nic: connectx-7}
"""
SHAPES = {
    "leaf_spine": """\
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4, host_links: 2 x 400G, uplinks: 2 x 800G,
    cables: {host: 3m, uplink: 30m}}
""",
    "rail_optimised": """\
  rail_optimised: {units: 2, rails: 4, spines: 2, hosts_per_unit: 8, host_links: 4 x 400G, uplinks: 2 x 800G,
    cables: {host: 5m, uplink: 30m}}
""",
    "rails by plane": """\
  rail_optimised: {units: 2, rails: 2, planes: 2, spines: 4, hosts_per_unit: 8, host_links: 4 x 400G,
    uplinks: 2 x 800G, cables: {host: 5m, uplink: 30m}}
""",
    "rails in three tiers": """\
  three_tier: {pods: 2, leaves_per_pod: 4, spines_per_pod: 2, super_spines: 2, rails: 2, hosts_per_leaf: 4,
    host_links: 2 x 400G, uplinks: 2 x 800G, spine_uplinks: 4 x 800G,
    cables: {host: 5m, uplink: 30m, spine_uplink: 40m}}
pfc: {tiers: [hosts, uplinks, spine_uplinks]}
""",
    "dragonfly": """\
  dragonfly: {groups: 3, switches: 4, hosts_per_switch: 2, host_links: 1 x 400G, local_links: 2 x 400G,
    global_links: 4 x 400G, cables: {host: 3m, local: 10m, global: 100m}}
""",
    "dragonfly_plus": """\
  dragonfly_plus: {groups: 3, leaves: 2, spines: 2, hosts_per_leaf: 4, host_links: 1 x 400G, uplinks: 2 x 400G,
    global_links: 4 x 400G, cables: {host: 3m, uplink: 30m, global: 100m}}
""",
    "torus": """\
  torus: {sides: [3, 2, 2], links: 2 x 400G, hosts_per_switch: 2, host_links: 1 x 400G,
    cables: {host: 3m, link: 10m}}
""",
}
NODES = {
    "leaf_spine": (4, 8),
    "rail_optimised": (10, 16),
    "rails by plane": (12, 16),
    "rails in three tiers": (14, 16),
    "dragonfly": (12, 24),
    "dragonfly_plus": (12, 24),
    "torus": (12, 24),
}


def written(shape: str) -> str:
    Path("fabric.yaml").write_text(f"{HEAD}topology:\n{SHAPES[shape]}")
    return "fabric.yaml"


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_checked_and_rendered(shape: str, cli: Cli) -> None:
    intent = written(shape)
    checked = cli("lint", intent)
    assert (checked.code, checked.out) == (0, "")
    assert cli("render", intent, "-o", "out").code == 0
    switches, hosts = NODES[shape]
    assert len(list(Path("out").glob("*/qos.json"))) == switches
    assert len([path for path in Path("out").iterdir() if path.name.startswith("host")]) == hosts
    # A value in a part of a configuration that the rest of the file decides is a remark, no more.
    report = json.loads(cli("lint", "out", "--format", "json").out)
    assert {found["severity"] for found in report["findings"]} <= {"info"}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_numbers_are_those_of_what_is_rendered(shape: str, cli: Cli) -> None:
    intent = written(shape)
    data = json.loads(cli("topology", intent, "--format", "json").out)
    switches, hosts = NODES[shape]
    assert sum(group["switches"] for group in data["switches"]) == switches
    assert sum(group["hosts"] for group in data["hosts"]) == hosts
    ends = sum(group["links"] * (1 if group["tier"] == "hosts" else 2) for group in data["links"])
    used = sum(g["switches"] * one["ports"] for g in data["switches"] for one in g["ports"]["used"])
    assert used == ends
    assert cli("render", intent, "-o", "out").code == 0
    rendered = [json.loads(path.read_text()) for path in Path("out").glob("*/qos.json")]
    ports = [port for tables in rendered for port in tables["PORT_QOS_MAP"] if port != "global"]
    assert len(ports) == used


@pytest.mark.parametrize("shape", SHAPES)
def test_a_packet_finds_its_way_through_every_shape(shape: str, cli: Cli) -> None:
    hosts = NODES[shape][1]
    intent = written(shape)
    traced = cli("trace", intent, "--from", "host1", "--to", f"host{hosts}", "--dscp", "26")
    assert traced.code == 0
    assert "unbroken" in traced.out


def test_the_same_fabric_gives_the_same_bytes_whatever_the_hash_seed(cli: Cli) -> None:
    intent = written("dragonfly_plus")
    for seed in ("0", "1", "2"):
        command = [
            sys.executable,
            "-c",
            "from lossless.interfaces.cli import main; main()",
            "topology",
            intent,
        ]
        subprocess.run(
            [*command, "--svg", f"{seed}.svg"],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
    assert len({Path(f"{seed}.svg").read_bytes() for seed in "012"}) == 1
    assert cli("topology", intent, "--svg", "3.svg").err == "drawn in 3.svg\n"
    assert Path("3.svg").read_bytes() == Path("0.svg").read_bytes()


def test_ports_that_a_switch_lacks_are_counted(cli: Cli) -> None:
    outcome = cli("topology", str(ROOT / "examples" / "roce-256-as-published"))
    assert outcome.code == 0
    assert "missing" in outcome.out
    assert "32 hosts" in outcome.out


def test_devices_outside_are_named_and_their_links_count(cli: Cli) -> None:
    Path("fabric.yaml").write_text(
        f"{HEAD}topology:\n  devices: {{leaf1: {{role: leaf}}, core: {{role: spine, outside: true}}}}\n"
        "  links: [{a: leaf1, b: core, links: 2 x 400G, cable: 30m}]\n"
    )
    found = json.loads(cli("topology", "fabric.yaml", "--format", "json").out)
    assert found["outside"] == ["core"]
    assert [group["links"] for group in found["links"]] == [2]
    assert "1 device outside: core" in cli("topology", "fabric.yaml").out


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing": ((), "name an intent, or files with --from"),
    "no-such-file": (("fabric.yaml", "--from", "cables.csv"), "cables.csv: no such file"),
    "picture-of-a-comparison": (
        ("fabric.yaml", "--from", "cables.csv", "--svg", "x.svg"),
        "--svg and --against are for an intent alone; leave --from out",
    ),
    "cables-against-two": (
        ("fabric.yaml", "--from", "cables.csv", "--against", "fabric.yaml"),
        "--svg and --against are for an intent alone; leave --from out",
    ),
    "role-in-a-comparison": (
        ("fabric.yaml", "--from", "cables.csv", "--role", "leaf=*"),
        "--role is for --from without an intent",
    ),
    "left-out-of-an-intent": (("fabric.yaml", "--exclude", "x*"), "--exclude is for --from"),
    "role-of-an-intent": (("fabric.yaml", "--role", "leaf=*"), "--role is for --from"),
    "picture-of-cables": (
        ("--from", "cables.csv", "--svg", "x.svg"),
        "--svg, --against and --format are for an intent",
    ),
    "picture-of-two": (
        ("fabric.yaml", "--against", "fabric.yaml", "--svg", "x.svg"),
        "it does not go with --against",
    ),
    "against-of-cables": (
        ("--from", "cables.csv", "--against", "fabric.yaml"),
        "--svg, --against and --format are for an intent",
    ),
    "keep-alone": (("fabric.yaml", "--pin"), "--pin is for --against"),
    "no-such-role": (
        ("--from", "cables.csv", "--role", "tor=*"),
        "'tor=*' is not ROLE=PATTERN, with one of leaf, spine, super-spine, switch, host",
    ),
    "no-such-tier": (
        ("--from", "cables.csv", "--speed", "core=400G"),
        "'core=400G' is not TIER=RATE, with one of hosts, uplinks, spine_uplinks, links",
    ),
    "no-rate": (("--from", "cables.csv", "--speed", "hosts=fast"), "'fast' is not a rate"),
    "no-length": (("--from", "cables.csv", "--cable", "hosts=3"), "'3' has no unit"),
    "length-of-nothing": (("--from", "cables.csv", "--cable", "hosts=0m"), "'0m' is nothing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_options_that_cannot_be_are_said(case: str, cli: Cli) -> None:
    written("torus")
    arguments, said = WRONG[case]
    outcome = cli("topology", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_nothing_is_drawn_where_that_is_impossible(cli: Cli) -> None:
    outcome = cli("topology", written("torus"), "--svg", "no/such/folder/x.svg")
    assert (outcome.code, outcome.out) == (2, "")
    assert (
        outcome.err
        == "lossless: no/such/folder/x.svg: cannot be written: there is no folder no/such/folder\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lossless: v1\n", "fabric.yaml:1:1: fabric is missing"),
        (f"{HEAD}topology: {{torus: {{sides: [3]}}}}\n", "topology.torus"),
    ],
)
def test_an_intent_that_is_none_is_located(text: str, said: str, cli: Cli) -> None:
    Path("fabric.yaml").write_text(text)
    outcome = cli("topology", "fabric.yaml", "--svg", "x.svg")
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert not Path("x.svg").exists()


SHEET = "leaf1,Ethernet0,gpu1,eth0,3m,400G\nleaf1,Ethernet8,gpu2,eth0,3m,400G\n"
ROLES = ("--role", "leaf=leaf*", "--role", "host=gpu*")


def test_cables_become_the_topology_of_an_intent(cli: Cli) -> None:
    Path("cables.csv").write_text(SHEET)
    outcome = cli("topology", "--from", "cables.csv", *ROLES, "-o", "topology.yaml")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "3 devices and 2 links in topology.yaml\n")
    Path("fabric.yaml").write_text(HEAD + Path("topology.yaml").read_text())
    assert cli("lint", "fabric.yaml").code == 0
    data: Any = json.loads(cli("topology", "fabric.yaml", "--format", "json").out)
    assert data["links"][0] | {"between": None} == {
        "tier": "hosts",
        "between": None,
        "links": 2,
        "speed_bps": 400 * 10**9,
        "cable_m": 3,
    }


def test_where_cables_contradict_each_other_nothing_is_written(cli: Cli) -> None:
    Path("cables.csv").write_text(SHEET + "leaf1,Ethernet0,gpu3,eth0,3m,400G\n")
    outcome = cli("topology", "--from", "cables.csv", *ROLES, "-o", "topology.yaml")
    assert (outcome.code, outcome.out) == (2, "")
    said = "cables.csv:3:1: leaf1 Ethernet0 is joined to gpu3 eth0 here, and to gpu1 eth0 in cables.csv:1\n"
    assert outcome.err == said
    assert not Path("topology.yaml").exists()


def test_files_that_cannot_be_read_are_all_named(cli: Cli) -> None:
    Path("empty.csv").write_text("")
    outcome = cli("topology", "--from", "gone.csv", "--from", "empty.csv", *ROLES)
    assert outcome.code == 2
    assert outcome.err.splitlines() == ["gone.csv: no such file", "empty.csv: the file is empty"]


GROWING = f"""\
{HEAD}topology:
  leaf_spine: {{leaves: 2, spines: 1, hosts_per_leaf: 1, host_links: 2 x 400G, uplinks: 2 x 800G,
    cables: {{host: 3m, uplink: 30m}}}}
"""


def grown(*changes: tuple[str, str]) -> tuple[str, str, str]:
    """Write the current intent and one that follows it, and return the arguments that compare them."""
    text = GROWING
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("old.yaml").write_text(GROWING)
    Path("new.yaml").write_text(text)
    return "new.yaml", "--against", "old.yaml"


def test_what_moves_is_said_device_by_device_and_cable_by_cable(cli: Cli) -> None:
    outcome = cli("topology", *grown(("hosts_per_leaf: 1", "hosts_per_leaf: 2")))
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out == snapshot("""\
new.yaml against old.yaml: 1 device renamed, 4 cables moved

devices  how many  which
renamed  1 host    host2 -> host3
added    2 hosts   host2, host4

links  how many   which
moved  4 uplinks  below
added  4 hosts    leaf1:Ethernet8 - host2:port1 .. leaf2:Ethernet12 - host4:port2

cables that move  how many  at     from                     to
leaf1 - spine1           2  leaf1  Ethernet8 .. Ethernet16  Ethernet16 .. Ethernet24
leaf2 - spine1           2  leaf2  Ethernet8 .. Ethernet16  Ethernet16 .. Ethernet24
""")


def test_what_is_added_and_changed_is_said(cli: Cli) -> None:
    outcome = cli("topology", *grown(("leaves: 2", "leaves: 3"), ("host: 3m", "host: 5m")))
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out == snapshot("""\
new.yaml against old.yaml: 4 cables changed

devices  how many  which
added    1 leaf    leaf3
added    1 host    host3

links    how many   which
changed  4 hosts    400G 3 m -> 400G 5 m
added    2 hosts    leaf3:Ethernet0 - host3:port1 .. leaf3:Ethernet4 - host3:port2
added    2 uplinks  leaf3:Ethernet8 - spine1:Ethernet32 .. leaf3:Ethernet16 - spine1:Ethernet40
""")


def test_where_all_stays_the_exit_code_says_so(cli: Cli) -> None:
    outcome = cli("topology", *grown(("leaves: 2", "leaves: 3")))
    assert (outcome.code, outcome.out.partition("\n")[0]) == (
        0,
        "new.yaml against old.yaml: no existing device or cable changes",
    )
    outcome = cli("topology", *grown())
    assert (outcome.code, outcome.out) == (0, "new.yaml against old.yaml: nothing changes\n")


def test_what_moves_is_there_for_programs(cli: Cli) -> None:
    arguments = grown(("hosts_per_leaf: 1", "hosts_per_leaf: 2"))
    outcome = cli("topology", *arguments, "--format", "json")
    data = json.loads(outcome.out)
    assert outcome.code == 1
    assert (data["intent"], data["against"], data["stays"]) == ("new.yaml", "old.yaml", False)
    assert data["devices"]["renamed"] == [{"was": "host2", "name": "host3", "role": "host"}]
    assert data["links"]["kept"] == 4
    assert [(pair["was"]["a_port"], pair["is"]["a_port"]) for pair in data["links"]["moved"][:2]] == [
        ("Ethernet8", "Ethernet16"),
        ("Ethernet16", "Ethernet24"),
    ]


def test_what_is_stated_to_keep_it_keeps_it(cli: Cli) -> None:
    arguments = grown(("hosts_per_leaf: 1", "hosts_per_leaf: 2"))
    stated = cli("topology", *arguments, "--pin")
    assert stated.code == 0
    assert (
        stated.err == "stated beside the shape of new.yaml, this keeps all devices and cables of old.yaml\n"
    )
    assert stated.out == snapshot("""\
  names:
    host2: host3
    host3: host2
  ports:
    "leaf1:host1": [Ethernet0, Ethernet4]
    "leaf1:spine1": [Ethernet8, Ethernet16]
    "leaf2:host2": [Ethernet0, Ethernet4]
    "leaf2:spine1": [Ethernet8, Ethernet16]
""")
    new = Path("new.yaml")
    new.write_text(new.read_text() + stated.out)
    outcome = cli("topology", *arguments)
    assert (outcome.code, outcome.out.partition("\n")[0]) == (
        0,
        "new.yaml against old.yaml: no existing device or cable changes",
    )
    assert cli("lint", "new.yaml").code == 0
    assert cli("topology", *arguments, "--pin").out == stated.out


def test_where_nothing_moves_there_is_nothing_to_state(cli: Cli) -> None:
    outcome = cli("topology", *grown(("leaves: 2", "leaves: 3")), "--pin")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "nothing to state: no device is renamed, and no cable moves\n"


def test_a_fabric_that_outgrows_its_shape_is_compared_by_names(cli: Cli) -> None:
    grown()
    devices = "{leaf1: {role: leaf}, spine1: {role: spine}, core: {role: spine, outside: true}}"
    listed = f"{HEAD}topology:\n  devices: {devices}\n"
    for file, port in (("new.yaml", 80), ("old.yaml", 72)):
        Path(file).write_text(
            f'{listed}  links: [{{a: "leaf1:Ethernet64", b: spine1, links: 1 x 800G, cable: 30m}}, '
            f'{{a: "leaf1:Ethernet{port}", b: core, links: 1 x 800G, cable: 30m}}]\n'
        )
    outcome = cli("topology", "new.yaml", "--against", "old.yaml")
    assert outcome.code == 1
    assert "leaf1 - core             1  leaf1  Ethernet72  Ethernet80" in outcome.out
    refused = cli("topology", "new.yaml", "--against", "old.yaml", "--pin")
    assert (refused.code, refused.out) == (2, "")
    assert (
        refused.err
        == "new.yaml:6:1: topology: names and ports are stated beside a shape; what is listed states its own\n"
    )


def test_an_intent_to_compare_with_that_is_none_is_located(cli: Cli) -> None:
    arguments = grown()
    Path("old.yaml").write_text("lossless: v1\n")
    outcome = cli("topology", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert "old.yaml:1:1: fabric is missing" in outcome.err


CABLED = "leaf1,Ethernet32,spine1,Ethernet0\nleaf1,Ethernet40,spine1,Ethernet8\n"


def test_cables_as_they_are_declared_give_0_and_what_is_not_seen_is_said(wide: Cli) -> None:
    Path("cables.csv").write_text(CABLED)
    outcome = wide("topology", written("leaf_spine"), "--from", "cables.csv")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.splitlines() == [
        "not checked: LNK006: links of host1, host2, host3, host4, host5 and 5 more: no file lists them (22 times)",
        "0 errors, 0 warnings, 0 infos in 2 files (0 suppressed, 0 baselined, 22 not checked)",
    ]


def test_cables_otherwise_than_declared_give_1_in_both_forms(cli: Cli) -> None:
    Path("cables.csv").write_text(
        CABLED.replace("Ethernet0", "x").replace("Ethernet8", "Ethernet0").replace("x", "Ethernet8")
    )
    outcome = cli("topology", written("leaf_spine"), "--from", "cables.csv")
    assert outcome.code == 1
    assert outcome.out.startswith("cables.csv:1:1: LNK008 cables-crossed: two cables are swapped: ")
    (line,) = (
        n for n, text in enumerate(Path("fabric.yaml").read_text().splitlines(), 1) if "uplinks" in text
    )
    assert f"= also: fabric.yaml:{line}:" in outcome.out
    told = cli("topology", "fabric.yaml", "--from", "cables.csv", "--format", "json")
    data = json.loads(told.out)
    assert told.code == 1
    (found,) = data["findings"]
    assert (found["code"], found["file"], found["line"], found["count"]) == ("LNK008", "cables.csv", 1, 2)
    assert found["data"]["declared"] == [
        "leaf1:Ethernet32 - spine1:Ethernet0",
        "leaf1:Ethernet40 - spine1:Ethernet8",
    ]
    assert [place["file"] for place in found["related"]] == ["fabric.yaml"]
    assert data["summary"]["not_checked"] == 22


def test_a_shorter_cable_is_worth_knowing_and_no_failure(cli: Cli) -> None:
    Path("cables.csv").write_text("".join(f"{line},5m\n" for line in CABLED.splitlines()))
    outcome = cli("topology", written("leaf_spine"), "--from", "cables.csv")
    assert (outcome.code, outcome.out.count("LNK009")) == (0, 1)


def test_files_that_contradict_each_other_give_2_and_are_located(cli: Cli) -> None:
    Path("cables.csv").write_text(CABLED)
    Path("other.csv").write_text("leaf1,Ethernet32,spine2,Ethernet0\n")
    outcome = cli("topology", written("leaf_spine"), "--from", "cables.csv", "--from", "other.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "other.csv:1:1: leaf1 Ethernet32 is joined to spine2 Ethernet0 here, and to spine1 Ethernet0 in cables.csv:1\n"
    )


@pytest.mark.parametrize(
    ("example", "says"),
    [
        ("infiniband-256-ndr", "5:12: transport: infiniband: this is for fabrics with PFC"),
        ("efa-train", "4:12: transport: efa: its switches are run by the cloud"),
    ],
)
def test_a_fabric_of_another_transport_is_refused_in_one_line(cli: Cli, example: str, says: str) -> None:
    intent = str(ROOT / "examples" / example)
    compared = (("--against", intent), ("--from", __file__))
    # Of a subnet the numbers are said; it is not compared with another, nor with cables.
    for more in compared if "infiniband" in example else ((), *compared):
        outcome = cli("topology", intent, *more)
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
        assert says in outcome.err


@pytest.mark.parametrize(("links", "switches"), [(0, 0), (1, 0), (0, 1), (2, 1)])
def test_no_column_is_about_failures_that_need_not_be_tolerated(links: int, switches: int, cli: Cli) -> None:
    failures = f"failures: {{links: {links}, switches: {switches}}}\n"
    Path("fabric.yaml").write_text(HEAD + failures + "topology:\n" + SHAPES["leaf_spine"])
    text = cli("topology", "fabric.yaml").out
    assert "without 0" not in text
    assert ("without" in text) is bool(links or switches)
    assert ("failures are the worst case" in text) is bool(links or switches)
