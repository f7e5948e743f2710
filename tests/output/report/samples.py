"""Findings as rules and documents would give them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lossless.checks.lint.run import CheckedReport
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import Finding, Origin
from lossless.ground.documents import load_text
from lossless.ground.documents.text import Document

INTENT = """\
lossless: v1
fabric: roce-256
transport: rocev2

classes:
  rdma:    {dscp: 26, priority: 3, lossless: true, bandwidth: 50%, ecn: {min: 800 KiB, max: 3200 KiB}}
  cnp:     {dscp: 48, priority: 6, scheduling: strict}
  default: {dscp: rest, priority: 0, bandwidth: 50%}

pfc:
  watchdog: {poll: 600ms, detection: 1200ms, restoration: 1200ms, action: drop}

congestion_control:
  dcqcn: {cnp_interval: 4us}            # the rest from the NIC profile

hardware: {leaf: nvidia-sn5600, spine: nvidia-sn5600, nic: connectx-7}

topology:
  leaf_spine:
    leaves: 2
    spines: 2
    hosts_per_leaf: 16
    host_links: 2 x 400G                # from each host to its leaf

    # from each leaf to each spine
    uplinks: 1 x 800G
"""
CONFIG_DB = """\
{
  "PORT": {
    "Ethernet0": {
      "mtu": "9100"
    },
    "Ethernet4": {
      "mtu": "1500"
    }
  },
  "PORT_QOS_MAP": {
    "Ethernet0,Ethernet4": {
      "pfc_enable": "3,4"
    }
  }
}
"""
UPLINKS = ("topology", "leaf_spine", "uplinks")


def lint_run(
    findings: tuple[Finding, ...] = (),
    errors: tuple[Problem, ...] = (),
    documents: Mapping[str, Document] = MappingProxyType({}),
    **fields: Any,
) -> CheckedReport:
    """Return a lint run of which nothing else is known."""
    return CheckedReport(
        **({"not_checked": ()} | fields), findings=findings, errors=errors, documents=documents
    )


def finding(origin: Origin, **fields: Any) -> Finding:
    """Return a finding; what does not matter is the same in all."""
    given = {"code": "WD001", "name": "watchdog-missing", "severity": "error", "confidence": "high"}
    given |= {"message": "PFC is on and no watchdog is declared"}
    return Finding(origin=origin, **(given | fields))


def oversubscribed(**fields: Any) -> Finding:
    """Return the finding that the design shows."""
    given = {
        "code": "TOP001",
        "name": "oversubscription-undeclared",
        "message": "leaf uplinks carry 1.6 Tb/s for 12.8 Tb/s of hosts, 8:1",
        "note": "16 hosts x 2 x 400G = 12.8 Tb/s down, "
        "2 spines x 1 x 800G = 1.6 Tb/s up, each counted one way",
        "help": "8 x 800G to each spine make it 1:1; "
        "to accept it, state `oversubscription: 8` under `leaf_spine`",
    }
    return finding(Origin("fabric.yaml", UPLINKS, "key"), **(given | fields))


def on_switch(*path: str, **fields: Any) -> Finding:
    """Return a finding on the sample CONFIG_DB."""
    return finding(Origin("leaf1.json", path), **({"object_form": "config_db"} | fields))


def sample(*findings: Finding, **fields: Any) -> CheckedReport:
    """Return a run over both sample files."""
    documents = {file: load_text(text, file) for file, text in TEXTS.items()}
    return lint_run(findings=findings, documents=documents, **fields)


TEXTS = {"fabric.yaml": INTENT, "leaf1.json": CONFIG_DB}
