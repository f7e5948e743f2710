"""The public face: load, lint, render, diff, headroom, simulate, sweep, trace, opensm. A test pins these names.

Nothing here prints or exits; only :func:`render`, :func:`fix`, :func:`baseline` and :func:`write_import` write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossless.interfaces.api.baseline import BaselineResult, baseline
    from lossless.interfaces.api.cabling import Cabling, cabled_as_declared, cabled_topology
    from lossless.interfaces.api.collector import collector
    from lossless.interfaces.api.diff import Drift, diff
    from lossless.interfaces.api.fabrics import Fabrics, load_fabrics
    from lossless.interfaces.api.fix import FixResult, fix
    from lossless.interfaces.api.headroom import (
        HeadroomInputs,
        Headrooms,
        headroom_of_link,
        headroom_of_ports,
    )
    from lossless.interfaces.api.import_ import ImportResult, import_configs, write_import
    from lossless.interfaces.api.lint import lint, lint_documents, lint_text
    from lossless.interfaces.api.lint_since import lint_since
    from lossless.interfaces.api.opensm import OpensmResult, check_with_opensm
    from lossless.interfaces.api.options import Options
    from lossless.interfaces.api.profiles import Hardware, hardware
    from lossless.interfaces.api.render import RenderResult, render
    from lossless.interfaces.api.report import Change, Report
    from lossless.interfaces.api.rules import Rule, rule, rules
    from lossless.interfaces.api.schema import configuration_schema, intent_schema
    from lossless.interfaces.api.simulate import (
        Limits,
        Question,
        SimulationRequest,
        SimulationResult,
        simulate,
    )
    from lossless.interfaces.api.storm import storm
    from lossless.interfaces.api.sweep import Grid, parse_grid, sweep
    from lossless.interfaces.api.topology import Topology, moves, pins, topology
    from lossless.interfaces.api.trace import trace
    from lossless.interfaces.api.watch import Watch
    from lossless.interfaces.api.workload import Workload, evaluate_workload, workload

__all__ = [
    "BaselineResult",
    "Cabling",
    "Change",
    "Drift",
    "Fabrics",
    "FixResult",
    "Grid",
    "Hardware",
    "HeadroomInputs",
    "Headrooms",
    "ImportResult",
    "Limits",
    "OpensmResult",
    "Options",
    "Question",
    "RenderResult",
    "Report",
    "Rule",
    "SimulationRequest",
    "SimulationResult",
    "Topology",
    "Watch",
    "Workload",
    "baseline",
    "cabled_as_declared",
    "cabled_topology",
    "check_with_opensm",
    "collector",
    "configuration_schema",
    "diff",
    "evaluate_workload",
    "fix",
    "hardware",
    "headroom_of_link",
    "headroom_of_ports",
    "import_configs",
    "intent_schema",
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
    "BaselineResult": "baseline",
    "Cabling": "cabling",
    "Change": "report",
    "Drift": "diff",
    "Fabrics": "fabrics",
    "FixResult": "fix",
    "Grid": "sweep",
    "Hardware": "profiles",
    "HeadroomInputs": "headroom",
    "Headrooms": "headroom",
    "ImportResult": "import_",
    "Limits": "simulate",
    "OpensmResult": "opensm",
    "Options": "options",
    "Question": "simulate",
    "RenderResult": "render",
    "Report": "report",
    "Rule": "rules",
    "SimulationRequest": "simulate",
    "SimulationResult": "simulate",
    "Topology": "topology",
    "Watch": "watch",
    "Workload": "workload",
    "baseline": "baseline",
    "cabled_as_declared": "cabling",
    "cabled_topology": "cabling",
    "check_with_opensm": "opensm",
    "collector": "collector",
    "configuration_schema": "schema",
    "diff": "diff",
    "evaluate_workload": "workload",
    "fix": "fix",
    "hardware": "profiles",
    "headroom_of_link": "headroom",
    "headroom_of_ports": "headroom",
    "import_configs": "import_",
    "intent_schema": "schema",
    "lint": "lint",
    "lint_documents": "lint",
    "lint_since": "lint_since",
    "lint_text": "lint",
    "load_fabrics": "fabrics",
    "moves": "topology",
    "parse_grid": "sweep",
    "pins": "topology",
    "render": "render",
    "rule": "rules",
    "rules": "rules",
    "simulate": "simulate",
    "storm": "storm",
    "sweep": "sweep",
    "topology": "topology",
    "trace": "trace",
    "workload": "workload",
    "write_import": "import_",
}
"""The module of each name, imported when it is first asked for: whoever lints one file needs two of them."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"lossless.interfaces.api.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
