"""Rail-optimised: adapter n of every host of a scalable unit is at the leaf of rail n, and spines join all leaves.

Traffic between equal adapters of a unit meets one switch; that between rails or units meets a spine.
Source: juniper.net, JVD of an AI data centre with NVIDIA GPUs, Rail Optimized Fabric (rail N joins GPU N of all servers
of a stripe at leaf N; a stripe is our unit).
"""

from __future__ import annotations

from itertools import product
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
    """A rail-optimised fabric by its numbers; a unit has one leaf a rail. ``host_links`` are all links of a host."""

    units: int
    rails: int
    spines: int
    hosts_per_unit: int
    host_links: LinkKind
    uplinks: LinkKind
    origin: Origin

    def grids(self) -> Mapping[Role, NodeGrid]:
        """Return the nodes of each role: ``leaf1`` is rail 1 of unit 1, ``leaf2`` its rail 2."""
        return {
            "leaf": NodeGrid("rails", (self.units, self.rails)),
            "spine": NodeGrid("spines", (self.spines,)),
            "host": NodeGrid("hosts_per_unit", (self.units, self.hosts_per_unit)),
        }

    def bundles(self) -> Iterator[LinkBundle]:
        """Yield the links leaf by leaf."""
        for unit, rail in product(range(self.units), range(self.rails)):
            yield from _leaf(self, unit, rail)


def _leaf(shape: RailShape, unit: int, rail: int) -> Iterator[LinkBundle]:
    """Yield the links of one leaf: adapters of the hosts of its unit, every ``rails``-th of each, then spines."""
    name = f"leaf{unit * shape.rails + rail + 1}"
    count, speed_bps = shape.host_links.links
    adapter_link = shape.host_links._replace(links=(1, speed_bps))
    for host in part(unit, shape.hosts_per_unit):
        for adapter in range(rail, count, shape.rails):
            yield adapter_link.between(name, f"host{host + 1}")._replace(b_port=f"port{adapter + 1}")
    for spine in range(shape.spines):
        yield shape.uplinks.between(name, f"spine{spine + 1}")
