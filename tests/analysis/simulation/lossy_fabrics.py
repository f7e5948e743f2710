"""Fabrics whose RDMA is lossy: Ultra Ethernet that trims, and RoCE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples/ultra-ethernet-128/fabric.yaml"
SHORT = 128 * 1024
"""Bytes of a message that ends before its sender has slowed down."""
TRIMMING = "trimming: {of: [rdma], into: trimmed, size: 206 B}  # what Tomahawk 5 leaves of a packet\n"
ROCE = """\
lossless: v1
fabric: lossy-roce
transport: rocev2
classes:
  rdma:    {dscp: 26, priority: 3, lossless: false, bandwidth: 60%, ecn: {min: 100 kB, max: 400 kB, probability: 20%},
            queue: {dynamic_th: -3}}
  cnp:     {dscp: 48, priority: 6, scheduling: strict}
  default: {dscp: rest, priority: 0, bandwidth: 15%}
pfc: off
congestion_control: dcqcn
hardware: {switch: arista-7060x6-64pe-b, nic: connectx-7}
topology:
  leaf_spine:
    leaves: 2
    spines: 2
    hosts_per_leaf: 16
    host_links: 1 x 400G
    uplinks: 4 x 800G
    cables: {host: 3m, uplink: 30m}
telemetry: off
"""


def roce(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = ROCE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "fabric.yaml").write_text(text)
    return tmp_path / "fabric.yaml"


def fabric(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = EXAMPLE.read_text()
    for old, new in (("bandwidth: 60%,", "bandwidth: 60%, queue: {dynamic_th: -6},"), *changes):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "fabric.yaml").write_text(text)
    return tmp_path / "fabric.yaml"
