"""The kernel's reaction point of DCQCN by itself: CNPs, time and frames are given by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba

from lossless.analysis.simulation.engine.kernel.nscc import count_bytes, react
from lossless.analysis.simulation.engine.network import SimCable, SimFlow, SimNetwork
from lossless.analysis.simulation.engine.run import Simulation

if TYPE_CHECKING:
    from lossless.analysis.simulation.engine.network import SimDcqcn


@numba.njit
def catch_up(now_ps: int, points: Any, params: Any, cnps: Any) -> None:
    react(now_ps, points[0], params[0], cnps, 0)


@numba.njit
def spend(points: Any, params: Any, wire_bytes: int) -> None:
    count_bytes(points[0], params[0], wire_bytes)


class ReactionPoint:
    """The reaction point of the one flow of a network, fed with CNPs and looked at by hand."""

    def __init__(self, dcqcn: SimDcqcn, line_bps: float) -> None:
        cable = SimCable(0, 1, line_bps, 1000)
        self._state = Simulation(SimNetwork(2, {}, (cable,), (SimFlow((0, 1), 1, dcqcn=dcqcn),))).state

    def cnp(self, *at_us: float) -> None:
        """Let CNPs arrive; they take effect when the point is next looked at."""
        for at in at_us:
            point, cnps = self._state.points[0], self._state.cnps
            if point["cnps"] == cnps.shape[1]:
                self.at(at)
            cnps[0, (point["first_cnp"] + point["cnps"]) % cnps.shape[1]] = round(at * 1e6)
            point["cnps"] += 1

    def at(self, now_us: float) -> ReactionPoint:
        """Let time pass, as it does when the flow starts a frame."""
        catch_up(round(now_us * 1e6), self._state.points, self._state.params, self._state.cnps)
        return self

    def send(self, wire_bytes: int) -> ReactionPoint:
        """Count a frame that starts now."""
        spend(self._state.points, self._state.params, wire_bytes)
        return self

    @property
    def rate_gbps(self) -> float:
        return float(self._state.points[0]["rate_bps"]) / 1e9

    @property
    def target_gbps(self) -> float:
        return float(self._state.points[0]["target_bps"]) / 1e9

    @property
    def alpha(self) -> float:
        return float(self._state.points[0]["alpha"])
