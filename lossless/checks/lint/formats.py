"""Rules of fabrics whose switches run several systems: each looks at those of which it can say something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.lint.run import Verdicts, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.rules.registry import LoadedRule
    from lossless.model.fabric.view import View


def run_by_format(view: View, rules: Sequence[LoadedRule]) -> Iterator[Verdicts]:
    """Yield what rules find in the fabric of an intent."""
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
        yield run(_without(view, left_out), group, "intent")


def _without(view: View, formats: frozenset[str]) -> View:
    """Return a view without the switches of some systems, itself where there are none."""
    from lossless.model.fabric.view import View

    if not formats:
        return view
    fabric = view.fabric
    gone = {switch.name for switch in fabric.switches if switch.format in formats}
    return View(
        fabric._replace(
            switches=tuple(switch for switch in fabric.switches if switch.name not in gone),
            links=tuple(link for link in fabric.links if gone.isdisjoint((link.a, link.b))),
            beyond=tuple(link for link in fabric.beyond if link.switch not in gone),
        )
    )
