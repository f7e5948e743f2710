"""Pairs of intents of one small fabric, and what a plan between them is carried out on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from lossless.api import render
from lossless.checks.plan.inputs import running_of_intent
from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from tests.checks.plan.brute_force import Bench, sent_in_the_end
from tools.example_base import base_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lossless.model.fabric.model import Fabric
    from tests.checks.plan.service import Config

Data = dict[str, Any]


def intent(
    *,
    dscp: int = 26,
    priority: int = 3,
    second: tuple[int, int] | None = None,
    poll: int = 600,
    detection: int = 1200,
    action: str = "drop",
    kmin: int = 800,
    probability: int = 20,
    alpha: int | None = None,
    cables: tuple[int, int] = (3, 30),
    share: int = 50,
    cnp: int = 48,
    release: str = "202411",
    leaf: str = "nvidia-sn5600",
    spine: str = "nvidia-sn5600",
    oversubscription: int | None = None,
    model: str | None = None,
    group: int | None = None,
    shape: str = "leaf_spine",
) -> Data:
    """Return an intent of two leaves, two spines and two hosts a leaf; ``cables`` are those of hosts and of uplinks."""
    own: Data = {
        "lossless": True,
        "ecn": {"min": f"{kmin} KiB", "max": "3200 KiB", "probability": f"{probability}%"},
    }
    if alpha is not None:
        own["buffer"] = {"dynamic_th": alpha}
    rdma = {"dscp": dscp, "priority": priority, "bandwidth": f"{share - 10 * bool(second)}%", **own}
    if group is not None:
        rdma["pg"] = group
    classes = {"rdma": rdma}
    if second:
        classes["storage"] = {"dscp": second[0], "priority": second[1], "bandwidth": "10%", **own}
    classes["cnp"] = {"dscp": cnp, "priority": 6, "scheduling": "strict"}
    classes["default"] = {"dscp": "rest", "priority": 0, "bandwidth": f"{100 - share}%"}
    watchdog = {
        "poll": f"{poll}ms",
        "detection": f"{detection}ms",
        "restoration": f"{detection}ms",
        "action": action,
    }
    uplink = "1 x 800G" if "nvidia-sn4700" not in (leaf, spine) else "1 x 400G"
    topology = _topology(shape, uplink, cables)
    data: Data = {"lossless": "v1", "fabric": "small", "transport": "rocev2", "sonic": {"release": release}}
    buffers = {"headroom_oversubscription": oversubscription, "model": model}
    if stated := {name: value for name, value in buffers.items() if value is not None}:
        data["buffers"] = stated
    return {
        **data,
        "classes": classes,
        "pfc": {"watchdog": watchdog},
        "congestion_control": {"dcqcn": {"cnp_interval": "4us"}},
        "hardware": {"leaf": leaf, "spine": spine, "nic": "connectx-7"},
        "topology": topology,
    }


def _topology(shape: str, uplink: str, cables: tuple[int, int]) -> Data:
    """Return two leaves and two spines, with two hosts a leaf or with none, or one leaf alone with two hosts."""
    host, up = (
        {"links": rate, "cable": f"{length}m"}
        for rate, length in zip(("1 x 400G", uplink), cables, strict=True)
    )
    if shape == "leaf_spine":
        sizes = {
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 2,
            "host_links": host["links"],
            "uplinks": uplink,
        }
        return {"leaf_spine": {**sizes, "cables": {"host": host["cable"], "uplink": up["cable"]}}}
    leaves = ["leaf1", "leaf2"] if shape == "no hosts" else ["leaf1"]
    spines = ["spine1", "spine2"] if shape == "no hosts" else []
    hosts = [] if shape == "no hosts" else ["host1", "host2"]
    roles = {
        **dict.fromkeys(leaves, "leaf"),
        **dict.fromkeys(spines, "spine"),
        **dict.fromkeys(hosts, "host"),
    }
    links = [{"a": leaf, "b": spine, **up} for leaf in leaves for spine in spines]
    links += [{"a": leaf, "b": name, **host} for leaf in leaves for name in hosts]
    return {"devices": {name: {"role": role} for name, role in roles.items()}, "links": links}


def bench_of(current: Path, target: Path, folder: Path, files: Path | None = None) -> Bench:
    """Return what a plan is carried out on; ``files`` are those in service, else they are rendered from ``current``."""
    old, new = fabric_at(current), fabric_at(target)
    start = _files(files) if files else _running(old, current)
    _write(folder / "start", {name: _upgraded(config, new) for name, config in start.items()})
    render(target, folder / "goal", base_dir=folder / "start")
    # Another release keeps the rows, and its version is no row of a plan.
    versions = {name: config.get("VERSIONS") for name, config in start.items()}
    goal = {name: {**config, "VERSIONS": versions[name]} for name, config in _files(folder / "goal").items()}
    links = [((link.a, link.a_port), (link.b, link.b_port)) for link in new.links if not link.to_host]
    return Bench(
        start,
        {name: {table: rows for table, rows in config.items() if rows} for name, config in goal.items()},
        links,
        [(link.b, (link.a, link.a_port)) for link in new.links if link.to_host],
        (
            {host.name: host.qos if not files else None for host in old.hosts},
            {host.name: host.qos for host in new.hosts},
        ),
        ({}, {}) if files else (_cables_m(old), _cables_m(new)),
        dscps_of(old),
        sent_in_the_end(dscps_of(old), dscps_of(new), [host.qos for host in new.hosts]),
    )


def _upgraded(config: Config, target: Fabric) -> Config:
    """Return a configuration as it is on a switch with the release of the target."""
    version = {"VERSIONS": {"DATABASE": {"VERSION": _version(target.switches[0].release)}}}
    return {**config, **(version if "VERSIONS" in config else {})}


def _version(release: str | None) -> str:
    return {"master": "master_01"}.get(release or "", f"version_{release}_01")


def files_of(current: Path, folder: Path) -> Path:
    """Return a folder of files in service: an intent rendered onto what devices of its fabric would have besides."""
    fabric = fabric_at(current)
    bases = {switch.name: base_of(fabric, switch) for switch in fabric.switches}
    for switch in fabric.switches:
        bases[switch.name]["VERSIONS"] = {"DATABASE": {"VERSION": _version(switch.release)}}
    _write(folder / "base", bases)
    render(current, folder / "files", base_dir=folder / "base")
    return folder / "files"


def fabric_at(path: Path) -> Fabric:
    """Return the fabric of an intent in a file."""
    return resolve(load_intent(intent_at(path)))


def dscps_of(fabric: Fabric) -> frozenset[int]:
    """Return the DSCPs of the lossless classes of a fabric."""
    return frozenset(dscp for cls in fabric.classes.lossless for dscp in cls.dscps)


def _running(fabric: Fabric, file: Path) -> dict[str, Config]:
    documents = running_of_intent(fabric, intent_at(file)).documents
    return {name: json.loads(json.dumps(document.data)) for name, document in documents.items()}


def _cables_m(fabric: Fabric) -> dict[tuple[str, str], int]:
    return {
        (switch.name, port.name): port.cable.real_m
        for switch in fabric.switches
        for port in switch.ports
        if isinstance(port.cable.real_m, int)
    }


def _files(folder: Path) -> dict[str, Config]:
    return {file.parent.name: json.loads(file.read_text()) for file in folder.glob("*/config_db.json")}


def _write(folder: Path, configs: Mapping[str, Config]) -> None:
    for name, config in configs.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "config_db.json").write_text(json.dumps(config))


_CLASSES: tuple[Data, ...] = (
    {},
    {"dscp": 24},
    {"group": 1},
    {"dscp": 24, "group": 1},
    {"dscp": 24, "priority": 4},
    {"priority": 4},
    {"second": (30, 4)},
    {"second": (30, 2)},
    {"dscp": 30},
    {"dscp": 30, "priority": 4},
    {"dscp": 30, "second": (26, 4)},
    {"priority": 4, "second": (30, 3)},
    {"second": (24, 4)},
    {"second": (24, 2)},
)


@st.composite
def changes(draw: st.DrawFn) -> tuple[Data, Data]:
    """Draw what an intent says before and after, as arguments of ``intent``."""
    hardware = draw(st.sampled_from([{}, {}, {"leaf": "nvidia-sn4700", "spine": "nvidia-sn4700"}]))
    shape = draw(st.sampled_from(["leaf_spine", "leaf_spine", "one leaf", "no hosts"]))
    both = {"release": draw(st.sampled_from(["202411", "202311", "202405"])), "shape": shape, **hardware}
    old, new = draw(values()), draw(values())
    changed = draw(st.sets(st.sampled_from(sorted(new)), max_size=3))
    before, after = draw(st.sampled_from(_CLASSES)), draw(st.sampled_from(_CLASSES))
    return {**both, **old, **before}, {**both, **old, **after, **{name: new[name] for name in changed}}


@st.composite
def values(draw: st.DrawFn) -> Data:
    """Draw values of an intent."""
    drawn: Data = {
        "poll": draw(st.sampled_from([600, 400])),
        "detection": draw(st.sampled_from([1200, 1600])),
        "action": draw(st.sampled_from(["drop", "forward"])),
        "kmin": draw(st.sampled_from([800, 400])),
        "probability": draw(st.sampled_from([20, 60])),
        "alpha": draw(st.sampled_from([None, 0, 1])),
        "cables": draw(st.sampled_from([(3, 30), (10, 30), (3, 100), (10, 100), (3, 5)])),
        "share": draw(st.sampled_from([50, 60])),
        "cnp": draw(st.sampled_from([48, 46])),
        "oversubscription": draw(st.sampled_from([None, None, 2])),
    }
    return drawn
