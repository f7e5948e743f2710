"""Topology: a fabric in numbers, what it can carry, and a picture of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.api.loading import DEFAULT_OPTIONS, Options, one_intent
from lossless.errors import InputError, Problem, ProfileError
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from os import PathLike

    from lossless.findings import Json
    from lossless.intent.load import LoadedIntent
    from lossless.resolve.fabric import Wired


class Topology(NamedTuple):
    """A fabric in numbers, as plain data; what it carries is part of it; and what is drawn of it, large ones folded."""

    data: dict[str, Json]
    capacity: dict[str, Json]
    picture: dict[str, Json]


VERSION = 1
"""Of the names in the data."""


def topology(path: str | PathLike[str], options: Options = DEFAULT_OPTIONS) -> Topology:
    """Return what an intent amounts to: devices by product, links by tier, ports used and free, and capacity.

    Raises:
        InputError: no intent, or one that cannot be resolved.
    """
    from lossless.intent.load import load_intent
    from lossless.topology.capacity import carried
    from lossless.topology.folding import folded
    from lossless.topology.summary import summary

    document = one_intent(path)
    loaded = load_intent(document)
    fabric, plan, _ = wired_of(loaded, options)
    capacity = carried(fabric).to_data()
    data: dict[str, Json] = {
        "version": VERSION,
        **summary(plan, fabric).to_data(),
        "accepted_oversubscription": max((c.accepted for c in fabric.capacities), default=None),
        "capacity": capacity,
    }
    return Topology(data, capacity, folded(plan, fabric.name, loaded.intent.topology.shape_key).to_data())


def wired_of(loaded: LoadedIntent, options: Options) -> Wired:
    """Return the fabric of an intent with its wiring; a profile that cannot be read is said as its problem."""
    from lossless.resolve.fabric import resolve_wired

    try:
        return resolve_wired(loaded, options.profile_dirs)
    except ProfileError as error:
        raise InputError([Problem(loaded.document.file, None, None, str(error))]) from None
