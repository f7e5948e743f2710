"""Intents of small InfiniBand subnets, written to a folder, and plans between two of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lossless import api
from lossless.checks.plan.plan import FileChange, Plan, PlanStep

Intent = dict[str, Any]
BASE: Intent = {
    "lossless": "v1",
    "fabric": "small",
    "transport": "infiniband",
    "flavour": "upstream",
    "hardware": {"leaf": "nvidia-qm9790", "spine": "nvidia-qm9790", "hca": "connectx-7"},
    "topology": {
        "fat_tree": {
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": 2,
            "host_links": "1 x NDR",
            "uplinks": "2 x NDR",
        },
        "hosts": {
            "sm1": {"at": "leaf1", "links": "1 x NDR", "role": "management"},
            "sm2": {"at": "leaf2", "links": "1 x NDR", "role": "management"},
        },
    },
    "guids": {
        **{f"host{n}:mlx5_0": f"0x{0x100 + n:016x}" for n in range(1, 5)},
        **{f"sm{n}:mlx5_0": f"0x{0x200 + n:016x}" for n in (1, 2)},
        **{name: f"0x{0x300 + n:016x}" for n, name in enumerate(("leaf1", "leaf2", "spine1", "spine2"))},
    },
    "subnet_manager": {
        "manager": "opensm",
        "hosts": [{"on": "sm1", "priority": 14}, {"on": "sm2", "priority": 13, "standby": True}],
        "prefix": "0xfec0000000000001",
        "routing": {"engine": "updn", "roots": "top"},
    },
    "qos": {
        "vls": 4,
        "levels": {
            "rest": {"sl": 0, "vl": 0, "high": 16, "low": 16},
            "rdma": {"sl": 1, "vl": 1, "high": 64, "low": 64},
        },
        "rest": "rest",
        "high_limit": 255,
    },
    "partitions": {
        "Default": {"pkey": 0x7FFF, "ipoib": True, "members": {"full": "@management", "limited": "ALL"}},
        "train": {"pkey": 1, "members": {"full": "@compute"}},
    },
    "jobs": {"level": "rdma", "partition": "train", "environment": {"NCCL_IB_PKEY": 1}},
}


def changed(*changes: tuple[str, object]) -> Intent:
    """Return the intent with other values, each at a path with dots; None takes a key away."""
    intent = copy.deepcopy(BASE)
    for path, value in changes:
        *above, last = path.split(".")
        inside = intent
        for key in above:
            inside = inside.setdefault(key, {})
        if value is None:
            del inside[last]
        else:
            inside[last] = value
    return intent


def two_tenants(first: Sequence[str], second: Sequence[str]) -> Intent:
    """Return the intent with two partitions of hosts."""
    return changed(
        ("partitions.first", {"pkey": 3, "members": {"full": [*first]}}),
        ("partitions.second", {"pkey": 4, "members": {"full": [*second]}}),
    )


def write(folder: Path, name: str, intent: Intent) -> Path:
    """Write an intent, and return its file; JSON is YAML too."""
    path = folder / name / "fabric.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(intent, indent=1))
    return path


def planned(folder: Path, target: Intent, current: Intent = BASE) -> Plan:
    """Return the plan between two intents."""
    before, after = write(folder, "now", current), write(folder, "then", target)
    return api.plan([before], after)


def told(steps: tuple[PlanStep, ...]) -> list[str]:
    """Return what happens in each step: which files whose host gets, and how they are taken in."""
    return [
        f"{step.kind}: "
        + "; ".join(
            f"{group.name} {group.how} {' '.join(_file(file) for file in group.files)}"
            for group in step.files
        )
        if step.files
        else step.kind
        for step in steps
    ]


def _file(file: FileChange) -> str:
    return file.name + (f"({' '.join(file.keys)})" if file.keys else "")
