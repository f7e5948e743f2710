"""Topology: a fabric in numbers, its capacity and its picture; the cables that move when its declaration changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.topology import Topology as Topology, topology_of, topology_of_subnet
from lossless.formats.inputs.fabrics import intent_at
from lossless.formats.inputs.intents import declares_subnet, intent_of_switches, subnet_of, wired_of
from lossless.ground.basics.errors import InputError
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from os import PathLike

    from lossless.analysis.topology.recabling import DeclaredCabling, Pins, RecablingPlan
    from lossless.formats.intent.load import LoadedIntent


def topology(path: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> Topology:
    """Return a summary of the fabric of an intent: devices by product, links by tier, ports used and free, capacity.

    Raises:
        InputError: no intent, or one that cannot be resolved.
    """
    document = intent_at(path)
    if declares_subnet(document):
        return topology_of_subnet(subnet_of(document, options.profile_dirs))
    loaded = intent_of_switches(document)
    fabric, plan, _ = wired_of(loaded, options.profile_dirs)
    return topology_of(fabric, plan, loaded.intent.topology.shape_key)


def moves(
    path: str | PathLike[str], against: str | PathLike[str], options: Options = DEFAULT_OPTIONS
) -> RecablingPlan:
    """Return the changes from the current intent to another: devices renamed, added and removed, and cables moved.

    Raises:
        InputError: one of the two is no intent, or cannot be resolved.
    """
    from lossless.analysis.topology.recabling import recabling_plan

    return recabling_plan(_cabling(_loaded(against), options), _cabling(_loaded(path), options))


def pins(path: str | PathLike[str], against: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> Pins:
    """Return the names and ports to state in an intent, so that all devices and cables of the current one stay.

    Raises:
        InputError: as :func:`moves`; or the intent lists its devices and links, which have the names and ports there.
    """
    from lossless.analysis.topology.recabling import Pins, pins_for, recabling_plan

    loaded = _loaded(path)
    topology = loaded.intent.topology
    if topology.shape_key is None:
        message = "topology: names and ports are stated beside a shape; what is listed states its own"
        raise InputError([loaded.problem(loaded.origin("topology").key(), message)])
    after = _cabling(loaded, options)
    recabling = recabling_plan(_cabling(_loaded(against), options), after)
    return pins_for(after, recabling, Pins(topology.names, topology.ports))


def _loaded(path: str | PathLike[str]) -> LoadedIntent:
    return intent_of_switches(intent_at(path))


def _cabling(loaded: LoadedIntent, options: Options) -> DeclaredCabling:
    from lossless.analysis.topology.recabling import DeclaredCabling

    wired = wired_of(loaded, options.profile_dirs)
    return DeclaredCabling(loaded.intent.topology.frame, wired.plan.nodes, tuple(wired.wires()))
