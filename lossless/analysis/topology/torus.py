"""Torus: switches on a grid that is closed in every direction, with hosts at each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.adjacency import grid, grid_name, torus_pairs
from lossless.analysis.topology.shapes import NodeGrid
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.analysis.topology.shapes import LinkBundle, LinkKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.tier import Role


class TorusShape(NamedTuple):
    """A torus by its sides, two or three of them."""

    sides: tuple[int, ...]
    links: LinkKind
    hosts_per_switch: int
    host_links: LinkKind
    origin: Origin

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return switches by coordinates, ``sw-0-0``, and hosts through all switches."""
        return {
            "switch": NodeGrid("sides", self.sides, by_coordinates=True),
            "host": NodeGrid("hosts_per_switch", (*self.sides, self.hosts_per_switch)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links between switches, then those of hosts.

        Links between switches have the first ports, whose number depends on the sides alone; hosts, whose number may
        grow, come last.
        """
        for first, second, _ in torus_pairs(self.sides):
            yield self.links.between(grid_name(first), grid_name(second))
        for number, place in enumerate(grid((*self.sides, self.hosts_per_switch)), 1):
            yield self.host_links.between(grid_name(place[:-1]), f"host{number}")
