"""What a fabric is asked to carry: the time of a collective, and how far the pauses of one host reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError
from lossless.interfaces.api.loading import (
    DEFAULT_OPTIONS,
    Options,
    intent_fabric,
    one_intent,
    require_own_switches,
)

if TYPE_CHECKING:
    from os import PathLike

    from lossless.analysis.simulation.question.request import Ask
    from lossless.analysis.storm.distance import Groups
    from lossless.analysis.storm.reach import Reach, Traffic
    from lossless.analysis.workloads.estimate import Estimate
    from lossless.analysis.workloads.workload import Workload
    from lossless.ground.basics.errors import Problem
    from lossless.interfaces.api.crowding import Judged
    from lossless.model.fabric.model import Fabric


def workload(path: str | PathLike[str], asked: Workload, options: Options = DEFAULT_OPTIONS) -> Estimate:
    """Say what a collective puts on the fabric of an intent, and how long it takes at line rate.

    Raises:
        InputError: the intent cannot be read, or there is not exactly one.
        ScenarioError: the fabric has not the GPUs that are asked for, or no storage that is asked about.
        QuantityError: an algorithm that the collective has not.
    """
    from lossless.analysis.workloads.estimate import estimate

    return estimate(_fabric(path, options), asked)


def judge_workload(
    path: str | PathLike[str], asked: Workload, ask: Ask, options: Options = DEFAULT_OPTIONS
) -> tuple[Estimate, Judged]:
    """Say that, and what the buffers make of it: the packet-level model is asked to carry what meets at each port.

    ``ask`` says how far to go; its question is that of the workload.

    Raises:
        InputError: the intent cannot be read, or there is not exactly one.
        ScenarioError: as :func:`workload`.
        QuantityError: an algorithm that the collective has not.
    """
    from lossless.analysis.workloads.estimate import estimate
    from lossless.interfaces.api.crowding import judged
    from lossless.model.fabric.view import View

    fabric = _fabric(path, options)
    found = estimate(fabric, asked)
    return found, judged(View(fabric), found, ask)


def spread(
    path: str | PathLike[str],
    end: str,
    traffic: Traffic = "all-to-all",
    drains_bps: int = 0,
    traffic_class: str | None = None,
    *,
    options: Options = DEFAULT_OPTIONS,
) -> Reach:
    """Say how far the pauses of a host (``host1``, ``host1:port2``) reach that takes in ``drains_bps`` a port.

    Raises:
        InputError: the intent cannot be read, or there is not exactly one.
        ScenarioError: no such host, port or class, or buffers or ways that are not known.
    """
    from lossless.analysis.storm.reach import Stuck, reach
    from lossless.model.fabric.view import View

    fabric = _fabric(path, options)
    groups = _groups(path) if fabric.managed is None else None
    return reach(View(fabric), Stuck(end, traffic, drains_bps, traffic_class), groups)


_WITHOUT_PODS = ("dragonfly", "dragonfly_plus")
"""Shapes whose groups do not show in who is below whom."""


def _groups(path: str | PathLike[str]) -> Groups | None:
    """Return the groups of an intent's shape, None where switches stand in no groups, or in pods that links show."""
    from lossless.analysis.storm.distance import Groups
    from lossless.analysis.topology.folding import groups_of
    from lossless.formats.intent.load import load_intent
    from lossless.formats.intent.resolve.wiring import plan

    loaded = load_intent(one_intent(path))
    shape = loaded.intent.topology.shape_key
    name, of = groups_of(plan(loaded), shape) if shape in _WITHOUT_PODS else ("", {})
    return Groups(name, of) if of else None


def _fabric(path: str | PathLike[str], options: Options) -> Fabric:
    errors: list[Problem] = []
    fabric = intent_fabric(one_intent(path), options, errors)
    if fabric is None:
        raise InputError(errors)
    require_own_switches((fabric,))
    return fabric
