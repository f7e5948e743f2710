"""The public face: names that others import."""

from __future__ import annotations

import inspect

from lossless import api


def test_the_public_names_are_these() -> None:
    assert sorted(api.__all__) == [
        "BaselineResult",
        "Cabling",
        "Change",
        "DeviceProgress",
        "Drift",
        "Exporter",
        "FabricDrift",
        "Fabrics",
        "FixResult",
        "Format",
        "Grid",
        "Hardware",
        "HeadroomInputs",
        "Headrooms",
        "ImportResult",
        "Limits",
        "OpensmResult",
        "Options",
        "Plan",
        "PlanLimits",
        "Question",
        "RenderResult",
        "Report",
        "Rule",
        "SimulationRequest",
        "SimulationResult",
        "StatedThresholds",
        "Sweep",
        "Topology",
        "TuneAsk",
        "TuneProgress",
        "TuneResult",
        "Watch",
        "Workload",
        "baseline",
        "cabled_as_declared",
        "cabled_topology",
        "check_with_opensm",
        "collector",
        "configuration_schema",
        "diff",
        "diff_fabric",
        "evaluate_workload",
        "exporter",
        "fix",
        "formats",
        "hardware",
        "headroom_of_link",
        "headroom_of_ports",
        "import_configs",
        "intent_schema",
        "lint",
        "lint_documents",
        "lint_patch",
        "lint_since",
        "lint_text",
        "load_fabrics",
        "moves",
        "parse_grid",
        "pins",
        "plan",
        "plan_progress",
        "reaching",
        "render",
        "rule",
        "rules",
        "simulate",
        "state_thresholds",
        "storm",
        "sweep",
        "topology",
        "trace",
        "tune",
        "verify",
        "workload",
        "write_import",
        "write_plan",
        "write_thresholds",
        "write_tuned",
    ]
    assert all(inspect.getdoc(getattr(api, name)) for name in api.__all__)


def test_the_shape_of_their_results_is_this() -> None:
    assert api.Options._fields == (
        *("rdma_dscps", "profile_dirs", "simulate", "select", "ignore"),
        *(
            "configured",
            "configuration",
            "baseline",
            "today",
            "exclude",
            "extend_exclude",
            "force_exclude",
            "per_file",
            "tell",
        ),
    )
    assert api.Report._fields[:4] == ("findings", "errors", "not_checked", "documents")
    assert api.RenderResult._fields == (
        "files",
        "changed",
        "notes",
        "report",
        "plans",
        "differences",
    )
    assert api.Fabrics._fields == ("fabrics", "errors")
