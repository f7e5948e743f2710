"""Patterns of port names of systems other than SONiC."""

from __future__ import annotations

from collections.abc import Mapping

from lossless.ground.basics.records import NamedTuple


class PortNaming(NamedTuple):
    """Port names of a product under a system other than SONiC: patterns, and their source.

    ``whole`` names the port of a cage that is not split, ``split`` each of several, ``single`` a cage of one lane.
    Their fields are ``{index}`` (of the cage), ``{lane}`` (the first of the port within the cage, from 1), ``{number}``
    (of the port within the cage, from 0) and ``{part}`` (the same from 1).
    """

    whole: str
    split: str
    single: str
    source: str

    def of(self, cage: int, lanes: int) -> str:
        """Return the name of the one port of a cage, by the index and the number of lanes of the cage."""
        return (self.whole if lanes > 1 else self.single).format(index=cage)

    def of_part(self, cage: int, number: int, first_lane: int) -> str:
        """Return the name of one of several ports of a cage; ``first_lane`` counts from 0 within the cage."""
        return self.split.format(index=cage, lane=first_lane + 1, number=number, part=number + 1)


NO_FORMATS: Mapping[str, PortNaming] = {}
"""The value for a switch whose ports have names in SONiC alone."""
