"""Workload: the traffic of a collective on a fabric, its duration, and whether buffers are safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.workloads.workload import Workload
from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.inputs.intents import declares_subnet, subnet_of
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.model.fabric.workloads import ALGORITHMS, COLLECTIVE, COLLECTIVES

if TYPE_CHECKING:
    from os import PathLike

    from lossless.analysis.simulation.question.request import SimulationRequest
    from lossless.analysis.workloads.placement import Estimate
    from lossless.analysis.workloads.verdict import WorkloadVerdict

__all__ = ["ALGORITHMS", "COLLECTIVE", "COLLECTIVES", "Workload", "evaluate_workload", "workload"]


def workload(path: str | PathLike[str], asked: Workload, options: Options = DEFAULT_OPTIONS) -> Estimate:
    """Return the traffic that a collective puts on the fabric of an intent, and its duration at line rate.

    Raises:
        InputError: the intent cannot be read, or there is not exactly one.
        ScenarioError: the fabric lacks the requested GPUs, or has no storage.
        QuantityError: an algorithm that the collective does not have.
    """
    from lossless.analysis.topology.subnet import COMPUTE, subnet_fabric
    from lossless.analysis.workloads.placement import estimate
    from lossless.interfaces.api.fabrics import intent_fabric_at

    document = intent_at(path)
    if declares_subnet(document):
        return estimate(subnet_fabric(subnet_of(document, options.profile_dirs), COMPUTE), asked)
    return estimate(intent_fabric_at(path, options), asked)


def evaluate_workload(
    path: str | PathLike[str], asked: Workload, ask: SimulationRequest, options: Options = DEFAULT_OPTIONS
) -> tuple[Estimate, WorkloadVerdict]:
    """Return the estimate of :func:`workload`, and whether buffers are safe: the model runs the fan-in of each port.

    ``ask`` sets the effort of the simulation; its scenario is replaced by that of the workload.

    Raises:
        InputError: the intent cannot be read, or there is not exactly one.
        ScenarioError: as :func:`workload`.
        QuantityError: an algorithm that the collective does not have.
    """
    from lossless.analysis.workloads.placement import estimate
    from lossless.analysis.workloads.verdict import workload_verdict
    from lossless.interfaces.api.fabrics import intent_fabric_at
    from lossless.model.fabric.view import View

    fabric = intent_fabric_at(path, options)
    line_rate = estimate(fabric, asked)
    return line_rate, workload_verdict(View(fabric), line_rate, ask)
