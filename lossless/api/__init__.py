"""The public face: load, lint, render, simulate, sweep, trace. A test pins these names.

Nothing here prints or exits; only :func:`render`, :func:`fix` and :func:`baseline` write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lossless.api.baselining import Baselined, baseline
    from lossless.api.changing import Change, lint_since
    from lossless.api.fixing import Fixed, fix
    from lossless.api.linting import Report, lint, lint_documents, lint_text
    from lossless.api.loading import Fabrics, Options, load_fabrics
    from lossless.api.rendering import RenderResult, render
    from lossless.api.simulating import Simulated, simulate, sweep
    from lossless.api.tracing import trace
    from lossless.api.watching import Watch

__all__ = [
    "Baselined",
    "Change",
    "Fabrics",
    "Fixed",
    "Options",
    "RenderResult",
    "Report",
    "Simulated",
    "Watch",
    "baseline",
    "fix",
    "lint",
    "lint_documents",
    "lint_since",
    "lint_text",
    "load_fabrics",
    "render",
    "simulate",
    "sweep",
    "trace",
]

_HOMES = {
    "Baselined": "baselining",
    "Change": "changing",
    "Fabrics": "loading",
    "Fixed": "fixing",
    "Options": "loading",
    "RenderResult": "rendering",
    "Report": "linting",
    "Simulated": "simulating",
    "Watch": "watching",
    "baseline": "baselining",
    "fix": "fixing",
    "lint": "linting",
    "lint_documents": "linting",
    "lint_since": "changing",
    "lint_text": "linting",
    "load_fabrics": "loading",
    "render": "rendering",
    "simulate": "simulating",
    "sweep": "simulating",
    "trace": "tracing",
}
"""The module of each name, imported when it is first asked for: whoever lints one file needs two of them."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
