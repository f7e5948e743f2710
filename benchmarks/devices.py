"""A repository of many different 64-port switches, as a benchmark lints it: no two files are identical."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from lossless.formats.device_files.switches import switch_file
from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from tools.example_base import base_of

if TYPE_CHECKING:
    from pathlib import Path

INTENT = """
lossless: v1
fabric: {name}
transport: rocev2
classes:
  rdma: {{dscp: {dscp}, priority: 3, lossless: true, bandwidth: {share}%,
          ecn: {{min: {kmin_kib} KiB, max: {kmax_kib} KiB, probability: {probability}%}}}}
  storage: {{dscp: {storage_dscp}, priority: 2, bandwidth: {storage_share}%}}
  cnp: {{dscp: 48, priority: 6, scheduling: strict}}
  default: {{dscp: rest, priority: 0, bandwidth: {rest_share}%}}
pfc:
  watchdog: {{poll: 600ms, detection: {detection_ms}ms, restoration: {restoration_ms}ms, action: drop}}
congestion_control: dcqcn
hardware: {{leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-8}}
topology:
  leaf_spine:
    leaves: 2
    spines: {spines}
    hosts_per_leaf: {hosts}
    host_links: 1 x {host_rate}
    uplinks: {uplinks} x 800G
    cables: {{host: {host_m}m, uplink: {uplink_m}m}}
    oversubscription: 3
"""


def _shape(source: random.Random) -> dict[str, object]:
    """Return hosts and uplinks that together take all 64 cages, with one host or two on a cage."""
    spines, uplinks = source.choice([(2, 8), (2, 12), (2, 16), (4, 4), (4, 8), (8, 4)])
    rate = source.choice(["800G", "400G"])
    cages = 64 - spines * uplinks
    hosts = min(cages, 64 - spines * uplinks) if rate == "800G" else cages
    return {"spines": spines, "uplinks": uplinks, "hosts": hosts, "host_rate": rate}


def _values(source: random.Random) -> dict[str, object]:
    share, storage_share = source.randrange(40, 60), source.randrange(10, 30)
    detection_ms = source.randrange(1200, 3000, 600)
    return {
        "dscp": source.choice([24, 26, 30]),
        "storage_dscp": source.choice([16, 18, 20]),
        "share": share,
        "storage_share": storage_share,
        "rest_share": 100 - share - storage_share,
        "kmin_kib": source.randrange(600, 1000),
        "kmax_kib": source.randrange(2600, 3400),
        "probability": source.randrange(5, 40),
        "detection_ms": detection_ms,
        "restoration_ms": detection_ms + source.randrange(0, 1000, 100),
        "host_m": source.randrange(1, 6),
        "uplink_m": source.randrange(10, 41),
    }


def write_devices(folder: Path, count: int) -> int:
    """Write ``count`` configurations below a folder and return their bytes; the same ones on every run."""
    source, written = random.Random(1), 0
    for number in range(count):
        name = f"pod{number:04}"
        text = INTENT.format(name=name, **_shape(source), **_values(source))
        fabric = resolve(load_intent(load_text(text, "fabric.yaml")))
        tables = base_of(fabric, fabric.switches[0])
        switch = fabric.switches[0]._replace(name=f"{name}-leaf1")
        tables["DEVICE_METADATA"]["localhost"]["hostname"] = switch.name
        base = load_text(json.dumps(tables, indent=4), "base.json")
        rendered = switch_file(switch, base).text
        path = folder / switch.name / "config_db.json"
        path.parent.mkdir(parents=True)
        path.write_text(rendered, encoding="utf-8")
        written += len(rendered)
    return written
