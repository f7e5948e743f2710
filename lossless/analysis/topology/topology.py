"""A fabric or a subnet in numbers, and what is drawn of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.topology.folding import folded
from lossless.analysis.topology.subnet import picture_shape, subnet_plan, subnet_summary
from lossless.analysis.topology.summary import summary
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.analysis.topology.picture import Picture
    from lossless.analysis.topology.shapes import WiringPlan
    from lossless.analysis.topology.summary import FabricSummary
    from lossless.model.fabric.infiniband.subnet import Subnet
    from lossless.model.fabric.model import Fabric


class Topology(NamedTuple):
    """A fabric in numbers, its capacity among them; and what is drawn of it, large ones folded."""

    summary: FabricSummary
    picture: Picture


def topology_of(fabric: Fabric, plan: WiringPlan, shape: str | None) -> Topology:
    """Return the numbers and the picture of a fabric; ``shape`` is its key, None where devices are listed."""
    return Topology(summary(plan, fabric), folded(plan, fabric.name, shape))


def topology_of_subnet(subnet: Subnet) -> Topology:
    """Return the numbers and the picture of a subnet."""
    return Topology(subnet_summary(subnet), folded(subnet_plan(subnet), subnet.name, picture_shape(subnet)))
