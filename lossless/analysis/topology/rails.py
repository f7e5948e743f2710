"""Rail-optimized: adapter n of every host of a scalable unit is at the leaf of rail n, and spines join all leaves.

Traffic between equal adapters of a unit meets one switch; that between rails or units meets a spine. With several
planes an adapter has a port in each: a rail has a leaf in each plane, and no link joins two planes.
Sources: juniper.net, JVD of an AI data center with NVIDIA GPUs, Rail Optimized Fabric (rail N joins GPU N of all
servers of a stripe at leaf N; a stripe is our unit); Qian et al., Alibaba HPN: A Data Center Network for Large Language
Model Training, SIGCOMM 2024 (each NIC has its two ports at two ToRs, one of each plane; a segment is our unit).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.adjacency import part
from lossless.analysis.topology.shapes import NodeGrid
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.analysis.topology.shapes import LinkBundle, LinkKind
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.tier import Role


class RailShape(NamedTuple):
    """A rail-optimized fabric by its numbers; a unit has one leaf for each rail of each plane.

    ``host_links`` are all links of a host: the ports of an adapter, one in each plane, follow each other. ``spines``
    are shared out among the planes.
    """

    units: int
    rails: int
    spines: int
    hosts_per_unit: int
    host_links: LinkKind
    uplinks: LinkKind
    origin: Origin
    planes: int = 1

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the nodes of each role; leaves are counted through planes first, then through rails, then units."""
        return {
            "leaf": NodeGrid("rails", (self.units, self.rails, self.planes)),
            "spine": NodeGrid("spines", (self.planes, self.spines // self.planes)),
            "host": NodeGrid("hosts_per_unit", (self.units, self.hosts_per_unit)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links leaf by leaf: to the hosts of its unit, then to the spines of its plane."""
        leaves = self.rails * self.planes
        for leaf in range(self.units * leaves):
            yield from self.host_links.adapters(leaf, part(leaf // leaves, self.hosts_per_unit), leaves)
            for spine in part(leaf % self.planes, self.spines // self.planes):
                yield self.uplinks.between(f"leaf{leaf + 1}", f"spine{spine + 1}")
