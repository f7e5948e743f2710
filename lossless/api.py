"""The public face: load, lint, render, diff, headroom, simulate, sweep, trace, opensm. A test pins these names.

Nothing here prints or exits; only :func:`render`, :func:`fix`, :func:`baseline` and :func:`write_import` write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossless.interfaces.api.baselining import Baselined, baseline
    from lossless.interfaces.api.cabling import Cabling, cabled_as_declared, cabled_topology
    from lossless.interfaces.api.changing import Change, lint_since
    from lossless.interfaces.api.diffing import Drift, diff
    from lossless.interfaces.api.fixing import Fixed, fix
    from lossless.interfaces.api.headroom import (
        HeadroomInputs,
        Headrooms,
        headroom_of_link,
        headroom_of_ports,
    )
    from lossless.interfaces.api.importing import Imported, import_configs, write_import
    from lossless.interfaces.api.judging import JudgedByOpensm, judge_by_opensm
    from lossless.interfaces.api.linting import Report, lint, lint_documents, lint_text
    from lossless.interfaces.api.loading import Fabrics, Options, load_fabrics
    from lossless.interfaces.api.mapping import Topology, keeping, moves, topology
    from lossless.interfaces.api.planning import judge_workload, spread, workload
    from lossless.interfaces.api.rendering import RenderResult, render
    from lossless.interfaces.api.simulating import Simulated, simulate, sweep
    from lossless.interfaces.api.tracing import trace
    from lossless.interfaces.api.watching import Watch

__all__ = [
    "Baselined",
    "Cabling",
    "Change",
    "Drift",
    "Fabrics",
    "Fixed",
    "HeadroomInputs",
    "Headrooms",
    "Imported",
    "JudgedByOpensm",
    "Options",
    "RenderResult",
    "Report",
    "Simulated",
    "Topology",
    "Watch",
    "baseline",
    "cabled_as_declared",
    "cabled_topology",
    "diff",
    "fix",
    "headroom_of_link",
    "headroom_of_ports",
    "import_configs",
    "judge_by_opensm",
    "judge_workload",
    "keeping",
    "lint",
    "lint_documents",
    "lint_since",
    "lint_text",
    "load_fabrics",
    "moves",
    "render",
    "simulate",
    "spread",
    "sweep",
    "topology",
    "trace",
    "workload",
    "write_import",
]

_HOMES = {
    "Baselined": "baselining",
    "Cabling": "cabling",
    "Change": "changing",
    "Drift": "diffing",
    "Fabrics": "loading",
    "Fixed": "fixing",
    "HeadroomInputs": "headroom",
    "Headrooms": "headroom",
    "Imported": "importing",
    "Options": "loading",
    "RenderResult": "rendering",
    "Report": "linting",
    "Simulated": "simulating",
    "Topology": "mapping",
    "Watch": "watching",
    "baseline": "baselining",
    "cabled_as_declared": "cabling",
    "cabled_topology": "cabling",
    "diff": "diffing",
    "fix": "fixing",
    "headroom_of_link": "headroom",
    "headroom_of_ports": "headroom",
    "JudgedByOpensm": "judging",
    "judge_by_opensm": "judging",
    "keeping": "mapping",
    "import_configs": "importing",
    "lint": "linting",
    "lint_documents": "linting",
    "lint_since": "changing",
    "lint_text": "linting",
    "load_fabrics": "loading",
    "moves": "mapping",
    "render": "rendering",
    "simulate": "simulating",
    "spread": "planning",
    "sweep": "simulating",
    "topology": "mapping",
    "trace": "tracing",
    "judge_workload": "planning",
    "workload": "planning",
    "write_import": "importing",
}
"""The module of each name, imported when it is first asked for: whoever lints one file needs two of them."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"lossless.interfaces.api.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
