"""Rules of fabrics whose switches run several systems: each rule sees the switches to which it applies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lossless.checks.lint.run import run
from lossless.model.fabric.parts import of_switches
from lossless.model.fabric.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.lint.report import Report
    from lossless.checks.rules.registry import LoadedRule
    from lossless.model.fabric.model import Switch


def run_by_format(view: View, rules: Sequence[LoadedRule]) -> Iterator[Report]:
    """Yield the reports of rules on the fabric of an intent."""
    formats = {switch.format for switch in view.fabric.switches if not switch.runs_sonic}
    if not formats:
        yield run(view, rules, "intent")
        return
    from lossless.formats.inputs.switches import rules_without_meaning

    silent = {name: rules_without_meaning(name) for name in formats}
    groups: dict[frozenset[str], list[LoadedRule]] = {}
    for rule in rules:
        groups.setdefault(frozenset(name for name in formats if rule.code in silent[name]), []).append(rule)
    for left_out, group in groups.items():
        part = of_switches(view.fabric, partial(_runs_none_of, left_out))
        yield run(view if part is view.fabric else View(part), group, "intent")


def _runs_none_of(formats: frozenset[str], switch: Switch) -> bool:
    return switch.format not in formats
