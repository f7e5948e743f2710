"""The public face: load, lint, render, diff, headroom, simulate, sweep, trace, opensm. A test pins these names.

Nothing here prints or exits; only :func:`render`, :func:`fix`, :func:`baseline` and :func:`write_import` write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossless.interfaces.api.baselining import Baselined, baseline
    from lossless.interfaces.api.cabling import Cabling, cabled_as_declared, cabled_topology
    from lossless.interfaces.api.changing import lint_since
    from lossless.interfaces.api.collector import collector
    from lossless.interfaces.api.diffing import Drift, diff
    from lossless.interfaces.api.fabrics import Fabrics, load_fabrics
    from lossless.interfaces.api.fixing import Fixed, fix
    from lossless.interfaces.api.headroom import (
        HeadroomInputs,
        Headrooms,
        headroom_of_link,
        headroom_of_ports,
    )
    from lossless.interfaces.api.importing import Imported, import_configs, write_import
    from lossless.interfaces.api.judging import JudgedByOpensm, judge_by_opensm
    from lossless.interfaces.api.linting import lint, lint_documents, lint_text
    from lossless.interfaces.api.mapping import Topology, moves, pins, topology
    from lossless.interfaces.api.options import Options
    from lossless.interfaces.api.profiles import Hardware, hardware
    from lossless.interfaces.api.rendering import RenderResult, render
    from lossless.interfaces.api.report import Change, Report
    from lossless.interfaces.api.rules import Rule, rule, rules
    from lossless.interfaces.api.schema import configuration_schema, intent_schema
    from lossless.interfaces.api.simulating import Limits, Question, Simulated, SimulationRequest, simulate
    from lossless.interfaces.api.storm import storm
    from lossless.interfaces.api.sweeping import Grid, parse_grid, sweep
    from lossless.interfaces.api.tracing import trace
    from lossless.interfaces.api.watching import Watch
    from lossless.interfaces.api.workloads import Workload, judge_workload, workload

__all__ = [
    "Baselined",
    "Cabling",
    "Change",
    "Drift",
    "Fabrics",
    "Fixed",
    "Grid",
    "Hardware",
    "HeadroomInputs",
    "Headrooms",
    "Imported",
    "JudgedByOpensm",
    "Limits",
    "Options",
    "Question",
    "RenderResult",
    "Report",
    "Rule",
    "Simulated",
    "SimulationRequest",
    "Topology",
    "Watch",
    "Workload",
    "baseline",
    "cabled_as_declared",
    "cabled_topology",
    "collector",
    "configuration_schema",
    "diff",
    "fix",
    "hardware",
    "headroom_of_link",
    "headroom_of_ports",
    "import_configs",
    "intent_schema",
    "judge_by_opensm",
    "judge_workload",
    "lint",
    "lint_documents",
    "lint_since",
    "lint_text",
    "load_fabrics",
    "moves",
    "parse_grid",
    "pins",
    "render",
    "rule",
    "rules",
    "simulate",
    "storm",
    "sweep",
    "topology",
    "trace",
    "workload",
    "write_import",
]

_HOMES = {
    "Baselined": "baselining",
    "Cabling": "cabling",
    "Change": "report",
    "Drift": "diffing",
    "Fabrics": "fabrics",
    "Fixed": "fixing",
    "Grid": "sweeping",
    "Hardware": "profiles",
    "HeadroomInputs": "headroom",
    "Headrooms": "headroom",
    "Imported": "importing",
    "JudgedByOpensm": "judging",
    "Limits": "simulating",
    "Options": "options",
    "Question": "simulating",
    "RenderResult": "rendering",
    "Report": "report",
    "Rule": "rules",
    "Simulated": "simulating",
    "SimulationRequest": "simulating",
    "Topology": "mapping",
    "Watch": "watching",
    "Workload": "workloads",
    "baseline": "baselining",
    "cabled_as_declared": "cabling",
    "cabled_topology": "cabling",
    "collector": "collector",
    "configuration_schema": "schema",
    "diff": "diffing",
    "fix": "fixing",
    "hardware": "profiles",
    "headroom_of_link": "headroom",
    "headroom_of_ports": "headroom",
    "import_configs": "importing",
    "intent_schema": "schema",
    "judge_by_opensm": "judging",
    "judge_workload": "workloads",
    "lint": "linting",
    "lint_documents": "linting",
    "lint_since": "changing",
    "lint_text": "linting",
    "load_fabrics": "fabrics",
    "moves": "mapping",
    "parse_grid": "sweeping",
    "pins": "mapping",
    "render": "rendering",
    "rule": "rules",
    "rules": "rules",
    "simulate": "simulating",
    "storm": "storm",
    "sweep": "sweeping",
    "topology": "mapping",
    "trace": "tracing",
    "workload": "workloads",
    "write_import": "importing",
}
"""The module of each name, imported when it is first asked for: whoever lints one file needs two of them."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"lossless.interfaces.api.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
