"""Each place that refuses input or output, reached under ``--format json``: stdout is one document or nothing."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import FrameType

import pytest

from lossless.ground.basics import errors
from lossless.interfaces.cli.terminal import expected_document
from tests.checks.plan import made_subnets
from tests.formats.intent import (
    test_infiniband_intent as subnets,
    test_intent_fabrics as fabrics,
    test_intent_schema as schema,
    test_intent_shapes as shapes,
    test_intent_workloads as workloads,
)
from tests.formats.intent.intent_texts import NAMED, SHAPE, TOPOLOGY, spoilt
from tests.formats.intent.resolve import test_resolve_managed as managed
from tests.formats.intent.subnet_texts import LISTED as LISTED_SUBNET, TREE
from tests.interfaces.cli.conftest import Cli, takes_json
from tests.interfaces.cli.inputs import BASES, INTENT, LEAF
from tests.paths import ROOT
from tests.refused import refused_as_json, refused_intent_as_json

PACKAGE = ROOT / "lossless"
REFUSING = ("InputError", "UnreadableError", "RenderError", "NoPlan")
RELEASED = INTENT + 'sonic: {release: "202411"}\n'
SUBNET = (BASES / "infiniband.yaml").read_text()
EFA = "lossless: v1\nfabric: cloud\ntransport: efa\n"
PLAN = {"version": 1, "transport": "rocev2", "steps": [], "groups": {}}
RUNNING = (BASES / "rendered-leaf.json").read_text()
TRIMMING = (ROOT / "examples/ultra-ethernet-128/fabric.yaml").read_text()
MIXED = (ROOT / "examples/roce-256-mixed/fabric.yaml").read_text()
ONE_FLOW = ("--size", "4KiB", "--nics", "2")
PATCHES = ("diff", "running.json", "spine.json", "released.yaml", "--patch", "out")
"""Two switches of which one has drifted, so that patches are written."""
Files = Mapping[str, str]
FILES: Files = {
    "fabric.yaml": INTENT,
    "released.yaml": RELEASED,
    "leaf1.json": LEAF,
    "subnet.yaml": SUBNET,
    "efa.yaml": EFA,
    "broken.yaml": "lossless: v1\nlossless: v1\n",
    "broken.json": "{",
    "running.json": RUNNING.replace('"detection_time": "1200"', '"detection_time": "1800"'),
    "spine.json": (BASES / "rendered-spine.json").read_text(),
    "switch.cfg": (BASES / "switch-leaf.txt").read_text(),
    "empty/notes.txt": "",
}
"""What is in the folder of each call."""
TWO_ASICS = (ROOT / "profiles/switches/nvidia-sn5600.toml").read_text() + "".join(
    f'\n[[asics]]\nname = "asic{number}"\nfirst_cage = {first}\nlast_cage = {last}\n'
    for number, (first, last) in enumerate([(1, 32), (33, 65)])
)


def polled(name: str, text: str) -> str:
    """Return a switch that polls its watchdogs every 200 ms, one of them at a port that no RDMA uses."""
    data = json.loads(text)
    data["DEVICE_METADATA"]["localhost"]["hostname"] = name
    for row in data["PFC_WD"].values():
        row |= {"POLL_INTERVAL": "200"} if "POLL_INTERVAL" in row else {"detection_time": "1300"}
    beside = {"lanes": "481,482,483,484", "alias": "etp61a", "index": "61", "admin_status": "down"}
    data["PORT"]["Ethernet480"] = data["PORT"]["Ethernet0"] | beside
    data["PFC_WD"]["Ethernet480"] = {"action": "drop", "detection_time": "600", "restoration_time": "600"}
    return json.dumps(data)


POLLED: Files = {
    f"{name}.json": polled(name, text)
    for text, names in ((RUNNING, ("leaf1", "leaf2")), (FILES["spine.json"], ("spine1", "spine2")))
    for name in names
}
"""Switches whose poll interval a plan raises: in its rollback the timer below it comes first, in another patch."""
PLANNED_FILES = ("plan", "released.yaml", "target.yaml", "-o", "out")
UNCHECKED = {"lossless.toml": 'ignore = ["NIC", "BUF", "CLS", "PFC", "ECN", "WD", "TOP"]\n'}
"""With it an intent is sound whose hosts cannot be set up."""
LOSSY = RELEASED.replace("lossless: true", "lossless: false").replace(
    "pfc:\n  watchdog: {poll: 600ms, detection: 1200ms, restoration: 1200ms, action: drop}", "pfc: off"
)
NIC = (ROOT / "profiles/nics/connectx-7.toml").read_text()


def without_dcqcn(text: str) -> str:
    """Return an intent with NICs by Broadcom that run no DCQCN."""
    text = text.replace("connectx-7", "broadcom-thor-2")
    return text.replace("\n  dcqcn: {cnp_interval: 4us}", " pfc-only")


CALLS: dict[str, tuple[tuple[str, ...], Files]] = {
    "plan of nothing": (("plan", "empty", "fabric.yaml"), {}),
    "plan of files twice": (("plan", "leaf1.json", "leaf1.json", "fabric.yaml"), {}),
    "plan to a subnet": (("plan", "fabric.yaml", "subnet.yaml"), {}),
    "plan from a subnet": (("plan", "subnet.yaml", "fabric.yaml"), {}),
    "plan of another subnet": (
        ("plan", "subnet.yaml", "other.yaml"),
        {"other.yaml": SUBNET.replace("spines: 2", "spines: 1")},
    ),
    "DSCPs of a subnet": (("plan", "subnet.yaml", "subnet.yaml", "--rdma-dscp", "26"), {}),
    "progress in a subnet": (
        ("lint", "--plan", "done", "leaf1.json"),
        {"done/plan.json": json.dumps(PLAN | {"transport": "infiniband"})},
    ),
    "progress of a stranger": (
        ("lint", "--plan", "done", "leaf1.json"),
        {"done/plan.json": json.dumps(PLAN)},
    ),
    "progress in no plan": (("lint", "--plan", "done", "leaf1.json"), {"done/plan.json": "{}"}),
    "plan into a foreign manifest": (
        ("plan", "released.yaml", "target.yaml", "-o", "out"),
        {"target.yaml": RELEASED.replace("4us", "8us"), "out/manifest.json": "{}"},
    ),
    "plan into a foreign journal": (
        ("plan", "released.yaml", "target.yaml", "-o", "out"),
        {"target.yaml": RELEASED.replace("4us", "8us"), "out/.lossless-staging/journal.json": "[]"},
    ),
    "plan over a folder": (
        ("plan", "released.yaml", "target.yaml", "-o", "out"),
        {"target.yaml": RELEASED.replace("4us", "8us"), "out/plan.md/x": ""},
    ),
    "plan that leaves its folder": (
        ("plan", "released.yaml", "target.yaml", "-o", "out"),
        {
            "target.yaml": RELEASED.replace("4us", "8us"),
            "out/manifest.json": json.dumps({"version": 2, "files": [{"path": "../x"}]}),
        },
    ),
    "tune a subnet": (("tune", "subnet.yaml"), {}),
    "sweep in a cloud": (("sweep", "efa.yaml", "--vary", "kmin=100KiB"), {}),
    "headroom in a cloud": (("headroom", "efa.yaml"), {}),
    "opensm on Ethernet": (("opensm", "fabric.yaml"), {}),
    "workload on a broken subnet": (("workload", "bad.yaml"), {"bad.yaml": SUBNET + "colour: 1\n"}),
    "topology of a broken subnet": (("topology", "bad.yaml"), {"bad.yaml": SUBNET + "colour: 1\n"}),
    "opensm on a broken subnet": (("opensm", "bad.yaml"), {"bad.yaml": SUBNET + "colour: 1\n"}),
    "profile that is none": (
        ("topology", "fabric.yaml", "--against", "fabric.yaml", "--profiles", "own"),
        {"own/switches/mine.toml": "name = ["},
    ),
    "diff of a broken file": (("diff", "broken.json", "fabric.yaml"), {}),
    "diff with a broken intent": (("diff", "leaf1.json", "broken.yaml"), {}),
    "diff of a folder": (("diff", "empty", "fabric.yaml", "--format", "text"), {}),
    "patch of a broken file": (("lint", "broken.json", "--patch", "p.json"), {"p.json": "[]"}),
    "patch of another system": (
        ("lint", "switch.cfg", "--patch", "p.json"),
        {"p.json": '[{"op": "remove", "path": "/PORT"}]'},
    ),
    "configuration nested too deep": (("lint", "leaf1.json"), {"lossless.toml": f"a = {'[' * 5000}"}),
    "configuration that is no TOML": (("lint", "leaf1.json"), {"lossless.toml": "a ="}),
    "report over a file": (("lint", "fabric.yaml", "--output", "json=fabric.yaml"), {}),
    "report into no folder": (("lint", "fabric.yaml", "--output", "json=gone/x"), {}),
    "report over a folder": (("lint", "fabric.yaml", "--output", "json=empty"), {}),
    "picture over a folder": (("topology", "fabric.yaml", "--svg", "empty"), {}),
    "sheet without columns": (
        ("topology", "fabric.yaml", "--from", "x.csv"),
        {"x.csv": "device,interface\na,b\n"},
    ),
    "sheet of nothing": (("topology", "fabric.yaml", "--from", "x.csv"), {"x.csv": "# nothing\n"}),
    "sheet that is no CSV": (("topology", "fabric.yaml", "--from", "x.csv"), {"x.csv": 'a,"b\n'}),
    "cables of nobody": (("topology", "fabric.yaml", "--from", "x.csv"), {"x.csv": "a,1,b,2,3m\n"}),
    "cables of unknown ports": (
        ("topology", "fabric.yaml", "--from", "x.csv"),
        {"x.csv": "leaf1,Ethernet9999,spine1,Ethernet0,3m\n"},
    ),
    "JSON of no cables": (("topology", "fabric.yaml", "--from", "x.json"), {"x.json": "{}"}),
    "JSON of no neighbors": (
        ("topology", "fabric.yaml", "--from", "leaf1.json"),
        {"leaf1.json": '{"lldp": 1}'},
    ),
    "table of no neighbors": (
        ("topology", "fabric.yaml", "--from", "leaf1.txt"),
        {"leaf1.txt": "LocalPort RemoteDevice\n"},
    ),
    "neighbors of whom": (
        ("topology", "fabric.yaml", "--from", "x.txt"),
        {"x.txt": "LocalPort  RemoteDevice  RemotePortID\n---------  ------------  ------------\n"},
    ),
    "cables without ports": (
        ("topology", "many.yaml", "--from", "x.csv"),
        {"many.yaml": INTENT.replace("hosts_per_leaf: 4", "hosts_per_leaf: 100"), "x.csv": "a,1,b,2,3m\n"},
    ),
    "adapter that does not exist": (
        ("lint", "bad.yaml"),
        {"bad.yaml": SUBNET.replace("connectx-7", "nothing")},
    ),
    "version left out": (("topology", "bad.yaml"), {"bad.yaml": INTENT.replace("lossless: v1\n", "")}),
    "version of another": (
        ("topology", "bad.yaml"),
        {"bad.yaml": INTENT.replace("lossless: v1", "lossless: v9")},
    ),
    "bounce at no switch": (
        ("lint", "bad.yaml"),
        {"bad.yaml": INTENT.replace("topology:\n", "topology:\n  routing: {bounce: [leef1]}\n")},
    ),
    "ordering of no tier": (
        ("lint", "bad.yaml"),
        {
            "bad.yaml": INTENT.replace(
                "topology:\n", "topology:\n  routing: {load_balancing: {super-spine: ecmp}}\n"
            )
        },
    ),
    "failure of no switch": (
        ("lint", "bad.yaml"),
        {"bad.yaml": INTENT + "failures: {out_of_service: [spine9]}\n"},
    ),
    "Kubernetes of no adapter": (
        ("lint", "bad.yaml"),
        {"bad.yaml": INTENT.replace("connectx-7", "broadcom-thor-2") + "hosts: {kubernetes: {num_vfs: 1}}\n"},
    ),
    "ports beyond reason": (
        ("lint", "bad.yaml"),
        {"bad.yaml": INTENT.replace("hosts_per_leaf: 4", "hosts_per_leaf: 100000")},
    ),
    "diff of no switch": (("diff", "leaf1.json", "fabric.yaml", "--device", "nobody"), {}),
    "diff of no configuration": (("diff", "x.json", "fabric.yaml"), {"x.json": '{"a": {"b": {}}}'}),
    "diff with a subnet": (("diff", "leaf1.json", "subnet.yaml"), {}),
    "diff the wrong way round": (("diff", "fabric.yaml", "leaf1.json"), {}),
    "diff into no folder": (("diff", "leaf1.json", "released.yaml", "--patch", "gone/x"), {}),
    "patch that is none": (("lint", "leaf1.json", "--patch", "p.json"), {"p.json": "{}"}),
    "patch of no operation": (("lint", "leaf1.json", "--patch", "p.json"), {"p.json": "[3]"}),
    "patch of no row": (
        ("lint", "leaf1.json", "--patch", "p.json"),
        {"p.json": '[{"op": "remove", "path": "/PFC_WD/Ethernet400"}]'},
    ),
    "patch of two switches": (
        ("lint", "leaf1.json", "leaf2.json", "--patch", "p.json"),
        {"p.json": '[{"op": "remove", "path": "/PFC_WD/Ethernet0"}]', "leaf2.json": LEAF},
    ),
    "patch of no ASIC": (
        ("lint", "asic0.json", "--patch", "p.json"),
        {
            "p.json": '[{"op": "remove", "path": "/asic7/PFC_WD/Ethernet0"}]',
            "asic0.json": LEAF.replace('"hostname": "leaf1"', '"hostname": "leaf1", "asic_name": "asic0"'),
        },
    ),
    "plan of unknown releases": (
        ("plan", "fabric.yaml", "target.yaml"),
        {"target.yaml": RELEASED.replace("4us", "8us")},
    ),
    "plan into a file": (
        ("plan", "released.yaml", "target.yaml", "-o", "fabric.yaml"),
        {"target.yaml": RELEASED.replace("4us", "8us")},
    ),
    "step shorter than a switch takes": (
        ("plan", "released.yaml", "target.yaml", "--per-step", "1ns"),
        {"target.yaml": RELEASED.replace("dscp: 26", "dscp: 24")},
    ),
    "progress of another system": (
        ("lint", "--plan", "done", "switch.cfg"),
        {"done/plan.json": json.dumps(PLAN)},
    ),
    "moves of a subnet": (("topology", "subnet.yaml", "--against", "fabric.yaml"), {}),
    "moves in a cloud": (("topology", "efa.yaml", "--against", "fabric.yaml"), {}),
    "cables of no file": (("topology", "fabric.yaml", "--from", "gone.csv"), {}),
    "cables that contradict each other": (
        ("topology", "fabric.yaml", "--from", "x.csv"),
        {"x.csv": "leaf1,Ethernet0,host1,port1,3m\nleaf1,Ethernet0,host2,port1,3m\n"},
    ),
    "headroom of no file": (("headroom", "gone"), {}),
    "headroom of nothing": (("headroom", "empty"), {}),
    "workload of no fabric": (("storm", "subnet.yaml", "--from", "h1"), {}),
    "simulation of no file": (("simulate", "gone.yaml"), {}),
    "trace from nowhere": (("trace", "fabric.yaml", "--from", "x", "--to", "host2", "--dscp", "26"), {}),
    "trace of no class": (("trace", "empty", "--from", "host1", "--to", "host2", "--dscp", "26"), {}),
    "tab in YAML": (("topology", "bad.yaml"), {"bad.yaml": "lossless: v1\npfc:\n\twatchdog: off\n"}),
    "file of no kind": (("topology", "x.toml"), {"x.toml": "a = 1\n"}),
    "profile that does not fit": (
        ("lint", "fabric.yaml", "--profiles", "own"),
        {"own/switches/mine.toml": 'name = "x"\n'},
    ),
    "diff of a file with keys twice": (("diff", "x.yaml", "released.yaml"), {"x.yaml": "a: 1\na: 2\n"}),
    "diff to rows of a later release": (
        ("diff", "running.json", "later.yaml", "--device", "leaf1"),
        {"later.yaml": TRIMMING},
    ),
    "patch in the way of a file": (PATCHES, {"out/leaf1": ""}),
    "exception of no port": (
        ("lint", "bad.yaml"),
        {"bad.yaml": INTENT + 'exceptions: {"leaf1:Ethernet999": {mtu: 1500}}\n'},
    ),
    "Kubernetes of another adapter": (
        ("lint", "bad.yaml"),
        {
            "bad.yaml": INTENT.replace("connectx-7", "broadcom-thor-2").replace(
                "\n  dcqcn: {cnp_interval: 4us}", " dcqcn"
            )
            + "hosts: {kubernetes: {namespace: n, num_vfs: 0}}\n"
        },
    ),
    "plan of a larger subnet": (
        ("plan", "subnet.yaml", "other.yaml"),
        {"other.yaml": SUBNET.replace("hosts_per_leaf: 4", "hosts_per_leaf: 5")},
    ),
    "plan of a subnet without GUIDs": (
        ("plan", "subnet.yaml", "other.yaml"),
        {"other.yaml": SUBNET.replace("NCCL_IB_PKEY: 1", "NCCL_IB_PKEY: 2")},
    ),
    "GUIDs of no file": (("lint", "bad.yaml"), {"bad.yaml": SUBNET + "guid_file: gone\n"}),
    "plan to another P_Key than that of jobs": (
        ("plan", "one.yaml", "two.yaml"),
        {
            "one.yaml": json.dumps(made_subnets.BASE),
            "two.yaml": json.dumps(made_subnets.changed(("partitions.train.pkey", 2))),
        },
    ),
    "plan to a time that NVUE does not have": (
        ("plan", "mixed.yaml", "target.yaml"),
        {"mixed.yaml": MIXED, "target.yaml": MIXED.replace("detection: 600ms", "detection: 700ms")},
    ),
    "plan whose rollback the updater refuses": (
        ("plan", *POLLED, "target.yaml"),
        {
            **POLLED,
            "target.yaml": RELEASED.replace(
                "poll: 600ms, detection: 1200ms", "poll: 700ms, detection: 1400ms"
            ).replace("dscp: 26", "dscp: [24, 25, 26, 27, 28, 29]"),
        },
    ),
    "plan with cables that mlx5 does not know": (
        PLANNED_FILES,
        UNCHECKED | {"target.yaml": RELEASED.replace("host: 3m", "host: 1200m")},
    ),
    "plan with DCQCN on no priority": (PLANNED_FILES, UNCHECKED | {"target.yaml": LOSSY}),
    "plan without RDMA": (
        PLANNED_FILES,
        UNCHECKED | {"released.yaml": without_dcqcn(RELEASED), "target.yaml": without_dcqcn(LOSSY)},
    ),
    "plan with a parameter that mlx5 does not have": (
        (*PLANNED_FILES, "--profiles", "own"),
        {
            "released.yaml": RELEASED.replace("connectx-7", "own"),
            "target.yaml": RELEASED.replace("connectx-7", "own").replace("dscp: 26", "dscp: 24"),
            "own/nics/own.toml": NIC.replace("DCE_TCP_G ", "OWN_PARAM "),
        },
    ),
    "sweep to no trimming": (
        ("sweep", "uec.yaml", *ONE_FLOW, "--vary", "trimming=off"),
        {"uec.yaml": TRIMMING},
    ),
    "sweep to what is stated": (
        ("sweep", "uec.yaml", *ONE_FLOW, "--vary", "trimming=on"),
        {"uec.yaml": TRIMMING},
    ),
    "sweep of a curve that two classes share": (
        ("sweep", "alias.yaml", *ONE_FLOW, "--horizon", "10us", "--vary", "kmin=100KiB"),
        {
            "alias.yaml": INTENT.replace("ecn: {", "ecn: &curve {").replace(
                "scheduling: strict", "scheduling: strict, ecn: *curve"
            )
        },
    ),
    "room on a switch with two ASICs": (
        ("topology", "room.yaml", "--profiles", "own"),
        {
            "room.yaml": INTENT.replace("leaf: nvidia-sn5600", "leaf: two-asics").replace(
                "    cables:", "    room: {hosts_per_leaf: 8}\n    cables:"
            ),
            "own/switches/two-asics.toml": TWO_ASICS,
        },
    ),
}
LINKS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "plan by a link": ("done/plan.json", "/etc/hostname", ("lint", "--plan", "done", "leaf1.json")),
    "picture by a link": ("picture.svg", "/etc/hostname", ("topology", "fabric.yaml", "--svg", "picture.svg")),
    "picture to nothing": ("picture.svg", "gone", ("topology", "fabric.yaml", "--svg", "picture.svg")),
    "picture beside a link": (
        "link", "empty/..", ("topology", "fabric.yaml", "--svg", "link/../picture.svg"),
    ),
    "report by a link": ("x.json", "/etc/hostname", ("lint", "fabric.yaml", "--output", "json=x.json")),
    "patch by a link": ("out/leaf1/patch.json", "/etc/hostname", PATCHES),
    "patch below a link": ("out/leaf1", "/etc", PATCHES),
}  # fmt: skip
"""A link, where it leads, and the call that meets it."""


ELSEWHERE = {
    "checks/plan/assemble.py:_Assembly._at_once": "test_a_reload_that_takes_down_more_ports_than_may_be_is_refused",
    "checks/plan/assemble.py:_Assembly._hosts_at_once": (
        "test_hosts_whose_links_go_down_are_drained_and_count_as_ports"
    ),
    "checks/plan/assemble.py:_require_safe_runs": "test_runs_between_steps_are_looked_at",
    "checks/rules/base.py:guarded.checked": "test_a_rule_that_fails_is_told_and_the_others_stay",
    "formats/importing/cabling/intent_names.py:_CableMapper.told#2": (
        "test_files_that_contradict_each_other_give_2_and_are_located"
    ),
    "formats/inputs/subnet_manager.py:lone_subnet": (
        "test_files_as_windows_saves_them_are_refused_where_opensm_reads_something_else"
    ),
    "formats/intent/resolve/class_buffers.py:buffer_defaults#2": "test_a_form_that_no_hwsku_ships_is_refused",
    "formats/intent/resolve/class_buffers.py:buffer_model": "test_what_no_switch_can_hold_is_refused",
    "formats/intent/resolve/class_queues.py:require_room": "test_links_that_get_no_port_reserve_nothing",
    "formats/intent/resolve/fabric.py:check_devices": "test_what_has_no_meaning_is_refused",
    "formats/intent/resolve/pool_sizes.py:require_held": "test_what_no_switch_can_hold_is_refused",
    "formats/intent/resolve/unused_ports.py:place": "test_a_port_with_a_link_cannot_stay_down",
    "formats/intent/resolve/unused_ports.py:zero_buffers": "test_a_switch_without_such_profiles_is_refused",
    "formats/switches/other_systems.py:as_text": "test_structured_configurations_are_refused",
    "ground/documents/__init__.py:_kind": "test_standard_input_is_refused_as_files_are",
    "ground/documents/atomic.py:write_all": "test_a_patch_that_cannot_be_written_is_said",
    "interfaces/api/capacity.py:pins": "test_a_fabric_that_outgrows_its_shape_is_compared_by_names",
    "interfaces/api/plan.py:plan": "test_traffic_between_steps_is_not_run",
    "interfaces/api/render.py:_require_dashboards_kept": (
        "test_dashboards_of_an_earlier_render_are_not_removed_for_lack_of_the_sdk"
    ),
}
"""Places that a test of another file reaches, where what is refused is asked for again as JSON, by their test."""
WITHOUT_FORMAT = {
    # What it writes is files, with manifest.json as the document. A pipeline that needs the errors of an intent as data
    # asks lint first, whose errors are those that render refuses, or render --check --format json.
    "render without --check": """
        formats/device_files/hosts.py:require_bases formats/device_files/switches.py:_file_of_asic
        formats/device_files/switches.py:_sonic_file interfaces/api/render.py:_require_apart
        interfaces/api/render.py:_subnet_files interfaces/api/render.py:_subnet_files#2
        interfaces/api/render.py:_in_order output/render/fabric.py:render_fabric
        output/render/fabric.py:render_fabric#2""",
    # Its document is the intent, in YAML, on stdout without -o; a person runs it once, and states what is missing.
    "import": """
        formats/importing/cabling/cables.py:_lines formats/importing/cabling/cables.py:device_of
        formats/importing/cabling/cables.py:read_cabling formats/importing/draft.py:draft_of
        formats/importing/links.py:_LinkBuilder._require_lengths formats/importing/model.py:devices_of
        interfaces/api/import_.py:import_configs interfaces/api/import_.py:write_import""",
    # It writes a file, and refuses where that is no baseline or none is known: lint says the same as JSON.
    "baseline": "interfaces/api/baseline.py:_present interfaces/api/baseline.py:configured_baseline",
    # A service, whose document is metrics of Prometheus (--once): what it refuses goes to its journal.
    "exporter": """
        formats/telemetry/exposition/layout.py:_refuse formats/telemetry/exposition/layout.py:_refuse_at""",
    # Its document is a section of an intent, in YAML: --format is refused there.
    "topology --from without an intent": "formats/importing/cabling/topology.py:read_topology",
}
"""Places that only commands without ``--format json`` reach, by the command; above it why it needs none."""
PYTHON_ALONE = {
    # Files are looked at before, by formats/inputs/collect.py (foreign); a document of load_text is not.
    "documents": "formats/intent/load.py:_require_version",
    # The schema of an intent or its resolution (check_nics, kubernetes_policy) refuses it before. Hosts that were read,
    # of which these things can be unknown, are compared, and no file is written for them.
    "hosts": """
        formats/hosts/from_model/scripts.py:_known formats/hosts/from_model/scripts.py:_niccli
        formats/hosts/from_model/scripts.py:_niccli#2 formats/hosts/from_model/scripts.py:_tos
        formats/hosts/from_model/scripts.py:tool_of formats/hosts/from_model/settings.py:_names
        formats/hosts/from_model/settings.py:cnps formats/hosts/from_model/settings.py:profile""",
    # Options of the command name one file, or a folder that is there. An intent refuses other names of devices, and the
    # id of a plan is a hash.
    "plans": """
        interfaces/api/plan.py:_require_one_file interfaces/api/plan.py:read_acceptance
        output/render/plan/batches.py:require_plain
        output/render/plan/batches.py:require_plain#2""",
    # A render leaves dashboards out, and notes it.
    "dashboards": "formats/telemetry/grafana/build.py:dashboards",
}
"""Places that no command reaches: a record or a call of the Python API does; above them what is refused before."""
NOT_FROM_INPUT = """
    formats/device_files/environment.py:render_template ground/documents/atomic.py:require_writable#3
    output/report/page.py:page_html output/render/tree.py:ChangingTree.entry"""
"""Places that a malformed template of ours, missing permission (which root has) or a full disk leads to."""


def _written(files: Files) -> None:
    for name, text in {**FILES, **files}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


@pytest.fixture
def folder(cli: Cli) -> Path:  # noqa: ARG001
    """The empty folder of a call."""
    return Path.cwd()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("folder")
def test_a_refused_call_is_one_document_or_nothing(name: str) -> None:
    call, files = CALLS[name]
    _written(files)
    refused_as_json(*call)


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.usefixtures("folder")
def test_a_call_that_meets_a_link_is_one_document_or_nothing(name: str) -> None:
    _linked(*LINKS[name])


def _linked(link: str, target: str, call: tuple[str, ...]) -> None:
    _written({})
    Path(link).parent.mkdir(parents=True, exist_ok=True)
    Path(link).symlink_to(target)
    refused_as_json(*call)


def refused_intents() -> Iterator[str]:
    """Yield every intent that tests of messages refuse."""
    for text, tables in schema.REFUSED.items():
        for changes, _ in chain.from_iterable(table.values() for table in tables):
            yield spoilt(text, *changes)
    for case in (*subnets.OF_ONE_KEY.values(), *subnets.OF_SEVERAL_KEYS.values()):
        yield spoilt(TREE, case[0])
    for case in subnets.OF_LISTED.values():
        yield spoilt(LISTED_SUBNET, case[0])
    for text, _ in managed.REFUSED.values():
        yield managed.HEAD + text
    yield managed.HEAD.replace("efa", "azure") + "machine: Standard_ND96isr_H100_v6\n"
    for topology, changes, _ in shapes.WRONG.values():
        yield spoilt(shapes.of(topology), *changes)
    for added, _ in shapes.OWN.values():
        yield spoilt(SHAPE, (TOPOLOGY, TOPOLOGY + added))
    yield from map(workloads.text_with, (*workloads.MISTAKES, *workloads.ABSENT))
    for base, table in (
        (fabrics.THREE, fabrics.SHAPES),
        (SHAPE, fabrics.TIERS),
        (NAMED, fabrics.LAGS),
        (fabrics.DUAL, fabrics.DUAL_TORS),
    ):
        for changes, _ in table.values():
            yield spoilt(base, *changes)


def places() -> dict[str, list[tuple[int, int, str]]]:
    """Return the statements that raise a refusal, by file: first and last line, and ``module:function#number``."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = str(path.relative_to(PACKAGE))
        counted: dict[str, int] = {}
        for within, node in _raises(ast.parse(path.read_text(encoding="utf-8")), ""):
            counted[within] = number = counted.get(within, 0) + 1
            name = f"{module}:{within}" + (f"#{number}" if number > 1 else "")
            found.setdefault(str(path), []).append((node.lineno, node.end_lineno or node.lineno, name))
    return found


def _raises(node: ast.AST, within: str) -> Iterator[tuple[str, ast.Raise]]:
    for below in ast.iter_child_nodes(node):
        inside = (
            f"{within}.{below.name}".lstrip(".")
            if isinstance(below, ast.FunctionDef | ast.ClassDef)
            else within
        )
        if isinstance(below, ast.Raise) and isinstance(below.exc, ast.Call):
            called = below.exc.func
            if isinstance(called, ast.Name) and called.id in REFUSING:
                yield within, below
        yield from _raises(below, inside)


class Reached:
    """The places that were reached while JSON was asked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._places = places()

    def note(self) -> None:
        """Note the place that makes an error."""
        document = expected_document()
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename == errors.__file__:
            frame = frame.f_back
        if document is not None and document.form == "json" and frame is not None:
            lines = self._places.get(frame.f_code.co_filename, ())
            self.names.update(name for first, last, name in lines if first <= frame.f_lineno <= last)


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> Reached:
    """Return the places that are reached, from here on."""
    noted = Reached()

    def made(error: errors.LosslessError, *arguments: object) -> None:
        Exception.__init__(error, *arguments)
        noted.note()

    monkeypatch.setattr(errors.LosslessError, "__init__", made)
    return noted


@pytest.mark.tools("hostile")
def test_every_place_that_refuses_is_reached_or_listed(
    cli: Cli, reached: Reached, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del cli
    for number, (call, files) in enumerate(CALLS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        _written(files)
        refused_as_json(*call)
    for number, meets in enumerate(LINKS.values()):
        folder = tmp_path / f"link{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        _linked(*meets)
    for text in refused_intents():
        refused_intent_as_json(text)
    every = {name for lines in places().values() for _, _, name in lines}
    listed = [
        *ELSEWHERE,
        *" ".join((*WITHOUT_FORMAT.values(), *PYTHON_ALONE.values())).split(),
        *NOT_FROM_INPUT.split(),
    ]
    assert len(listed) == len(set(listed))
    assert (sorted(every - reached.names - set(listed)), sorted(set(listed) & reached.names)) == ([], [])
    assert set(listed) <= every


def test_places_that_are_reached_elsewhere_have_a_test_there() -> None:
    defined = {
        node.name
        for folder in ("interfaces/cli", "formats/intent")
        for path in (ROOT / "tests" / folder).rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert set(ELSEWHERE.values()) <= defined


@pytest.mark.parametrize("command", WITHOUT_FORMAT)
def test_commands_that_are_listed_without_a_format_have_none(command: str) -> None:
    # topology has one, which --from without an intent refuses, and render has one of --check.
    assert takes_json(command.partition(" ")[0]) is (" " in command)
