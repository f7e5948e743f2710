"""The changes from the current intent to another, as plain data.

Names once shipped stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.output.report.plain import plain

if TYPE_CHECKING:
    from lossless.analysis.topology.recabling import DeclaredCable, RecablingPlan
    from lossless.analysis.topology.shapes import PlanNode
    from lossless.ground.basics.findings import Json


def recabling_data(plan: RecablingPlan) -> dict[str, Json]:
    """Return the devices and links that stay, and those that change."""
    return {
        "stays": plan.stays,
        "devices": {
            "kept": sum(node.name == name for name, node in plan.same.items()),
            "renamed": [{"was": node.name, "name": name, "role": node.role} for node, name in plan.renamed],
            "added": [_device(node) for node in plan.added],
            "removed": [_device(node) for node in plan.removed],
        },
        "links": {
            "kept": plan.kept,
            "moved": [_pair(*pair) for pair in plan.moved],
            "changed": [_pair(*pair) for pair in plan.changed],
            "added": plain(plan.added_wires),
            "removed": plain(plan.removed_wires),
        },
    }


def _device(node: PlanNode) -> dict[str, Json]:
    return {"name": node.name, "role": node.role}


def _pair(was: DeclaredCable, to_be: DeclaredCable) -> dict[str, Json]:
    return {"was": plain(was), "is": plain(to_be)}
