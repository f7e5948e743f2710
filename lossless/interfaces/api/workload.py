"""Workload: the traffic of a collective on a fabric, its duration, and whether buffers are safe.

Storm: the blast radius of a PFC storm from one host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.workloads.workload import Workload
from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.inputs.intents import declares_subnet, subnet_of
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options
from lossless.model.fabric.cluster import ALGORITHMS, COLLECTIVE, COLLECTIVES, STORM_TRAFFIC

if TYPE_CHECKING:
    from os import PathLike

    from lossless.analysis.simulation.question.request import SimulationRequest
    from lossless.analysis.storm.blast_radius import BlastRadius
    from lossless.analysis.storm.paths import ShapeGroups
    from lossless.analysis.workloads.placement import Estimate
    from lossless.analysis.workloads.verdict import WorkloadVerdict
    from lossless.model.fabric.cluster import StormTraffic

__all__ = [
    "ALGORITHMS",
    "COLLECTIVE",
    "COLLECTIVES",
    "STORM_TRAFFIC",
    "Workload",
    "evaluate_workload",
    "storm",
    "workload",
]


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


def storm(
    path: str | PathLike[str],
    end: str,
    traffic: StormTraffic = STORM_TRAFFIC[0],
    drain_bps: int = 0,
    traffic_class: str | None = None,
    *,
    options: Options = DEFAULT_OPTIONS,
) -> BlastRadius:
    """Return the blast radius of a PFC storm from a host (``host1``, ``host1:port2``) that drains ``drain_bps`` a port.

    Raises:
        InputError: the intent cannot be read, or there is not exactly one.
        ScenarioError: no such host, port or class, or buffers or routes that are not known.
    """
    from lossless.analysis.storm.blast_radius import StormSource, blast_radius
    from lossless.interfaces.api.fabrics import intent_fabric_at
    from lossless.model.fabric.view import View

    fabric = intent_fabric_at(path, options)
    groups = _groups(path) if fabric.managed is None else None
    return blast_radius(View(fabric), StormSource(end, traffic, drain_bps, traffic_class), groups)


_WITHOUT_PODS = ("dragonfly", "dragonfly_plus")
"""Shapes whose groups do not show in who is below whom."""


def _groups(path: str | PathLike[str]) -> ShapeGroups | None:
    """Return the groups of an intent's shape, None where switches have no groups, or pods that the links show."""
    from lossless.analysis.storm.paths import ShapeGroups
    from lossless.analysis.topology.folding import groups_of
    from lossless.formats.inputs.fabrics import intent_at
    from lossless.formats.intent.load import load_intent
    from lossless.formats.intent.resolve.shapes import plan

    loaded = load_intent(intent_at(path))
    shape = loaded.intent.topology.shape_key
    name, of = groups_of(plan(loaded), shape) if shape in _WITHOUT_PODS else ("", {})
    return ShapeGroups(name, of) if of else None
