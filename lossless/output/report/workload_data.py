"""An estimate of a workload, and the verdict on buffers, as plain data.

Names once shipped stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.verdict import load_data
from lossless.output.report.plain import plain

if TYPE_CHECKING:
    from lossless.analysis.workloads.placement import Estimate
    from lossless.analysis.workloads.verdict import WorkloadVerdict


def workload_data(estimate: Estimate, checked: WorkloadVerdict | None = None) -> dict[str, Any]:
    """Return an estimate, times and sizes as whole numbers, with the verdict on buffers where there is one."""
    data = _estimate_data(estimate)
    return data if checked is None else {**data, "buffers": _verdict_data(checked)}


def _estimate_data(estimate: Estimate) -> dict[str, Any]:
    asked, where, moved = estimate.workload, estimate.placement, estimate.demand
    return {
        "collective": asked.collective,
        "algorithm": estimate.algorithm,
        "size_bytes": asked.size_bytes,
        "gpus": where.gpus,
        "gpus_per_host": where.per_host,
        "domain_gpus": where.domain,
        "per_gpu": {
            "inside_bytes": round(moved.inside_bytes),
            "fabric_bytes": round(moved.fabric_bytes),
            "busiest_bytes": round(moved.busiest_bytes),
        },
        "steps": moved.steps,
        "parts": plain(estimate.parts),
        "limit": estimate.limit,
        "time_ns": round(estimate.time_ns),
        "apart_ns": round(estimate.apart_ns),
        "step_time_ns": _rounded(estimate.step_time_ns),
        "algbw_bps": _rounded(estimate.algorithm_bps),
        "busbw_bps": _rounded(estimate.bus_bps),
        "fan_in": moved.fan_in,
        "message_bytes": round(moved.message_bytes),
        "incast": str(estimate.incast) if estimate.incast else None,
        "assumed": plain(estimate.assumed),
    }


def _rounded(figure: float | None) -> int | None:
    return None if figure is None else round(figure)


def _verdict_data(checked: WorkloadVerdict) -> dict[str, Any]:
    closed = checked.closed
    return {
        "overall": checked.overall,
        "closed_forms": closed and {"overall": closed.overall, "reasons": plain(closed.reasons)},
        "runs": [run.to_data() for run in checked.runs],
        "not_run": plain(checked.not_run),
        "run_part": checked.run_part,
        "pfc_load": [load_data(load) for load in checked.pfc_loads],
    }
