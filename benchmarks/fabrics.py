"""The fabrics that benchmarks measure, made from intents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lossless.formats.intent.load import load_intent
from lossless.formats.intent.resolve.fabric import resolve
from lossless.ground.documents import load_text
from tools.example_base import base_of

if TYPE_CHECKING:
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Fabric

INTENT = """
lossless: v1
fabric: bench
transport: rocev2
preset: nvidia
hardware: {{leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-8}}
topology:
  leaf_spine:
    leaves: {leaves}
    spines: {spines}
    hosts_per_leaf: {hosts_per_leaf}
    host_links: 1 x {host_rate}
    uplinks: {uplinks} x 800G
    cables: {{host: 3m, uplink: 30m}}
"""


def fabric(**shape: object) -> Fabric:
    """Return a leaf-spine fabric of the given shape."""
    return resolve(load_intent(load_text(INTENT.format(**shape), "fabric.yaml")))


def leaf_of_64_ports() -> tuple[Fabric, Document]:
    """Return a fabric whose leaf uses all 64 ports of its switch, and that leaf's base file."""
    found = fabric(leaves=2, spines=2, hosts_per_leaf=32, host_rate="800G", uplinks=16)
    text = json.dumps(base_of(found, found.switches[0]), indent=4)
    return found, load_text(text, "base/leaf1/config_db.json")
