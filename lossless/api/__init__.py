"""The public face: load, lint, render, diff, headroom, simulate, sweep, trace, opensm. A test pins these names.

Nothing here prints or exits; :func:`render` and :func:`write_import` alone write.
"""

from __future__ import annotations

from lossless.api.baselining import Baselined, baseline
from lossless.api.diffing import Drift, diff
from lossless.api.fixing import Fixed, fix
from lossless.api.headroom import HeadroomInputs, Headrooms, headroom_of_link, headroom_of_ports
from lossless.api.importing import Imported, import_configs, write_import
from lossless.api.judging import JudgedByOpensm, judge_by_opensm
from lossless.api.linting import Report, lint, lint_documents, lint_text
from lossless.api.loading import Fabrics, Options, load_fabrics
from lossless.api.rendering import RenderResult, render
from lossless.api.simulating import Simulated, simulate, sweep
from lossless.api.tracing import trace

__all__ = [
    "Baselined",
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
    "baseline",
    "diff",
    "fix",
    "headroom_of_link",
    "headroom_of_ports",
    "import_configs",
    "judge_by_opensm",
    "lint",
    "lint_documents",
    "lint_text",
    "load_fabrics",
    "render",
    "simulate",
    "sweep",
    "trace",
    "write_import",
]
