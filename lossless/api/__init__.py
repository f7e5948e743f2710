"""The public face: load, lint, render, simulate, sweep, trace. A test pins these names.

Nothing here prints or exits; :func:`render` is the only one that writes.
"""

from __future__ import annotations

from lossless.api.baselining import Baselined, baseline
from lossless.api.fixing import Fixed, fix
from lossless.api.linting import Report, lint, lint_documents, lint_text
from lossless.api.loading import Fabrics, Options, load_fabrics
from lossless.api.rendering import RenderResult, render
from lossless.api.simulating import Simulated, simulate, sweep
from lossless.api.tracing import trace

__all__ = [
    "Baselined",
    "Fabrics",
    "Fixed",
    "Options",
    "RenderResult",
    "Report",
    "Simulated",
    "baseline",
    "fix",
    "lint",
    "lint_documents",
    "lint_text",
    "load_fabrics",
    "render",
    "simulate",
    "sweep",
    "trace",
]
