"""Service levels of paths, as a subnet manager that runs answers for each: of engines that choose them one by one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.analysis.opensm import path_levels
from lossless.analysis.opensm.dumps import lanes_in
from lossless.analysis.routing.infiniband.routes import Lanes
from lossless.ground.basics.known import Unknown

if TYPE_CHECKING:
    from lossless.analysis.opensm.run import LiveSubnet
    from lossless.analysis.routing.infiniband.channels import SubnetGraph
    from lossless.analysis.routing.infiniband.routes import SubnetRoutes
    from lossless.model.fabric.infiniband.subnet import Subnet

ENGINES = frozenset({"lash", "dfsssp", "nue"})
"""Engines whose service levels stand in no dump."""
MOST_PATHS = 16_000
"""Paths that are asked for at most: some four seconds."""
_LONGEST_S = 20.0


def asked_lanes(
    up: LiveSubnet, graph: SubnetGraph, routes: SubnetRoutes, subnet: Subnet, seat: str, vls: int
) -> Lanes | None:
    """Return the lanes of all paths, None where there are too many to ask for or one has no answer."""
    lids = _lids(up, graph, subnet)
    if lids is None or len(routes.owners) != len(lids):
        return None
    # Of a path within one switch no wait comes.
    asked = [
        (hca, column)
        for column, owner in enumerate(routes.owners)
        for hca in range(len(lids))
        if graph.attached[hca].switch != graph.attached[owner].switch
    ]
    if len(asked) > MOST_PATHS:
        return None
    lines = "".join(f"{lids[hca]} {lids[routes.owners[column]]}\n" for hca, column in asked)
    program = str(Path(path_levels.__file__).resolve())
    manager = str(lids[graph.hcas.index(seat)] if seat in graph.hcas else 0)
    answers = up.ask(sys.executable, "-S", "-E", program, manager, given=lines, timeout_s=_LONGEST_S).split()
    if len(answers) != len(asked) or not all(word.isdecimal() for word in answers):
        return None
    levels = dict(zip(asked, map(int, answers), strict=True))
    lane = lanes_in(up.text("opensm-sl2vl.dump"), graph, vls)
    return Lanes(lambda hca, column: levels[hca, column], lane, each_hca=True)


def _lids(up: LiveSubnet, graph: SubnetGraph, subnet: Subnet) -> list[int] | None:
    """Return the LID of each HCA, None where one has none."""
    lines = (line.split() for line in up.text("guid2lid").splitlines() if line.strip())
    lid_of = {int(words[0], 16): int(words[1], 16) for words in lines}
    if isinstance(subnet.hcas, Unknown):
        return None
    lids = [lid_of.get(hca.guid or 0, 0) for hca in subnet.hcas]
    return lids if all(lids) and len(lids) == len(graph.hcas) else None
