"""Fabrics as operators write them down, made short: full intents from a few words, and what rules say of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.api import lint_documents
from lossless.ground.documents import load_text
from tests.checks.rules.snippets import merge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.api import Report
    from lossless.ground.basics.findings import Finding

Intent = dict[str, Any]
ROLES = {
    "leaf": "leaf",
    "tor": "leaf",
    "border": "leaf",
    "spine": "spine",
    "super": "super-spine",
    "sw": "switch",
    "oob": "switch",
    "wan": "switch",
    "gpu": "host",
    "nas": "host",
}
"""What a device is, by the letters its name begins with."""


def fabric(topology: dict[str, Any], **more: Any) -> Intent:
    """Return a whole intent: 400G hosts, 800G switches, a watchdog, ECN, networks apart, and nothing fails."""
    base = {
        "lossless": "v1",
        "fabric": "made",
        "transport": "rocev2",
        "preset": "nvidia",
        "hardware": {"switch": "nvidia-sn5600", "nic": "connectx-7"},
        "topology": topology,
        "networks": {"storage": {"on": "separate"}, "management": {"on": "separate"}},
        "failures": {"links": 0, "switches": 0},
    }
    merged: Intent = merge(base, more)
    return merged


def listed(
    links: Iterable[str], outside: Iterable[str] = (), devices: dict[str, Any] | None = None, **more: Any
) -> Intent:
    """Return an intent of links as ``leaf1 spine1 2 x 800G 30m``; devices are what their names begin with."""
    found, names = [], dict[str, None]()
    for link in links:
        a, b, rest = link.split(" ", 2)
        count, _, cable = rest.rpartition(" ")
        found.append({"a": a, "b": b, "links": count, "cable": cable})
        names |= dict.fromkeys((a.partition(":")[0], b.partition(":")[0]))
    own: dict[str, dict[str, Any]] = {name: {"role": ROLES[name.rstrip("0123456789-")]} for name in names}
    for name in outside:
        own[name]["outside"] = True
    topology = merge({"devices": merge(own, devices or {}), "links": found}, more.pop("topology", {}))
    return fabric(topology, **more)


def clos(
    leaves: int, spines: int, uplinks: str = "4 x 800G", hosts: str = "4 x 400G", each: int = 4
) -> list[str]:
    """Return the links of a leaf-spine whose hosts count on from leaf to leaf."""
    ups = [f"leaf{a} spine{b} {uplinks} 30m" for a in range(1, leaves + 1) for b in range(1, spines + 1)]
    downs = [f"leaf{1 + n // each} gpu{n + 1} {hosts} 3m" for n in range(leaves * each)]
    return ups + downs


def said(intent: Intent) -> Report:
    """Return the report on an intent that must be readable."""
    report = lint_documents([load_text(json.dumps(intent), "fabric.yaml")])
    assert report.errors == (), [error.message for error in report.errors]
    return report


def of_fabrics(report: Report) -> list[Finding]:
    """Return the findings that are about a fabric as a whole, or who may use it."""
    families = ("TOP", "ISO", "PFC009", "CLS011")
    return [finding for finding in report.findings if finding.code.startswith(families)]
