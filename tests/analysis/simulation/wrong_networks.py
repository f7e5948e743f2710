"""A sound network, and the same with one thing wrong: what is refused, and the beginning of what is said of it."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from lossless.analysis.simulation.engine.network import (
    Hold,
    Physics,
    SimCable,
    SimDcqcn,
    SimFlow,
    SimGroup,
    SimLoads,
    SimNetwork,
    SimPort,
    SimQueue,
    SimSpread,
    SimSwitch,
    SimTrim,
    SimWatchdog,
    SimWindow,
    SimWred,
    SlowHost,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FAR, LEFT, RIGHT, STRANGER = 4, 0, 1, 9
GROUP, WRED, END = (
    SimGroup(1.0, 50_000),
    SimWred(10_000, 50_000, 0.2),
    SimPort((SimQueue(),), (SimGroup(1.0, 50_000),)),
)
CABLE = SimCable(LEFT, 2, 100e9, 500, None, END)
FLOW = SimFlow((LEFT, 2, 3, RIGHT), 100_000)
WATCHDOG = SimWatchdog(200, 400, 400, "drop", "mellanox", (0,))
DCQCN = SimDcqcn(
    g=1 / 256,
    alpha_us=55,
    decrease_us=50,
    increase_us=55,
    threshold=5,
    ai_bps=40e6,
    hai_bps=200e6,
    min_rate_bps=100e6,
)
TRIM, LOADS = SimTrim(64, 1), SimLoads((10_000, 20_000, 40_000), 100, 10)
SPREAD, WINDOW = SimSpread("hash"), SimWindow(5, timeout_us=100)
SOUND = SimNetwork(
    nodes=5,
    switches={2: SimSwitch(2_000_000, 1_500_000), 3: SimSwitch(2_000_000, 1_500_000)},
    cables=(CABLE, SimCable(RIGHT, 3, 100e9, 500, None, END), SimCable(2, 3, 100e9, 500, END, END)),
    flows=(FLOW,),
)
"""Hosts 0 and 1 at switches 2 and 3; host 4 has no cable."""


class Wrong(NamedTuple):
    """One wrong value, and the beginning of what is said of it."""

    network: SimNetwork
    said: str


def with_cable(said: str, **wrong: Any) -> Wrong:
    return Wrong(SOUND._replace(cables=(CABLE._replace(**wrong), *SOUND.cables[1:])), f"cables[0].{said}")


def with_end(said: str, end: SimPort) -> Wrong:
    return with_cable(f"b_end.{said}", b_end=end)


def with_queue(said: str, **wrong: Any) -> Wrong:
    return with_end(f"queues[0].{said}", SimPort((SimQueue()._replace(**wrong),), (GROUP,)))


def with_wred(said: str, **wrong: Any) -> Wrong:
    return with_queue(f"wred.{said}", wred=WRED._replace(**wrong))


def with_trim(said: str, **wrong: Any) -> Wrong:
    """Return a network of two classes, of which the first is trimmed into the second."""
    groups = (GROUP, GROUP)
    end = SimPort((SimQueue(trim=TRIM._replace(**wrong)), SimQueue()), groups)
    plain = SimPort((SimQueue(), SimQueue()), groups)
    cables = [
        cable._replace(a_end=cable.a_end and plain, b_end=cable.b_end and plain) for cable in SOUND.cables
    ]
    cables[0] = cables[0]._replace(b_end=end)
    return Wrong(SOUND._replace(cables=tuple(cables), classes=2), f"cables[0].b_end.queues[0].trim.{said}")


def with_group(said: str, **wrong: Any) -> Wrong:
    return with_end(f"groups[0].{said}", SimPort((SimQueue(),), (GROUP._replace(**wrong),)))


def with_switch(said: str, **wrong: Any) -> Wrong:
    switches = {**SOUND.switches, 3: SOUND.switches[3]._replace(**wrong)}
    return Wrong(SOUND._replace(switches=switches), f"switches[3].{said}")


def with_watchdog(said: str, **wrong: Any) -> Wrong:
    return with_switch(f"watchdog.{said}", watchdog=WATCHDOG._replace(**wrong))


def with_port_watchdog(said: str, **wrong: Any) -> Wrong:
    return with_end(f"watchdog.{said}", SimPort((SimQueue(),), (GROUP,), WATCHDOG._replace(**wrong)))


def with_loads(said: str, **wrong: Any) -> Wrong:
    return with_switch(f"loads.{said}", loads=LOADS._replace(**wrong))


def with_flow(said: str, **wrong: Any) -> Wrong:
    return Wrong(SOUND._replace(flows=(FLOW, FLOW._replace(**wrong))), f"flows[1].{said}")


def with_dcqcn(said: str, **wrong: Any) -> Wrong:
    return with_flow(f"dcqcn.{said}", dcqcn=DCQCN._replace(**wrong))


def with_spread(said: str, **wrong: Any) -> Wrong:
    return with_flow(f"spread.{said}", spread=SPREAD._replace(**wrong))


def with_window(said: str, **wrong: Any) -> Wrong:
    return with_flow(f"window.{said}", spread=SPREAD, window=WINDOW._replace(**wrong))


def with_hold(said: str, **wrong: Any) -> Wrong:
    return Wrong(SOUND._replace(holds=(Hold(3, RIGHT, 0, 1000)._replace(**wrong),)), f"holds[0].{said}")


def with_slow_host(said: str, **wrong: Any) -> Wrong:
    slow = SlowHost(RIGHT, 1e9, 20_000, 10_000)._replace(**wrong)
    return Wrong(SOUND._replace(slow_hosts=(slow,)), f"slow_hosts[0].{said}")


def with_physics(said: str, **wrong: Any) -> Wrong:
    return Wrong(SOUND._replace(physics=Physics()._replace(**wrong)), f"physics.{said}")


def with_network(said: str, **wrong: Any) -> Wrong:
    return Wrong(SOUND._replace(**wrong), said)


class Range(NamedTuple):
    """What a number may be, both ends included, and the beginning of how that is said.

    ``beside`` is what else must be set for both ends to make sense.
    """

    place: Callable[..., Wrong]
    field: str
    least: float
    most: float
    said: str
    beside: Mapping[str, Any] = MappingProxyType({})

    def outside(self) -> Iterator[Wrong]:
        """Give what is no number of the range: its neighbors, infinities, not a number."""
        whole = isinstance(self.least, int) and isinstance(self.most, int)
        below = self.least - 1 if whole else math.nextafter(self.least, -math.inf)
        above = self.most + 1 if whole else math.nextafter(self.most, math.inf)
        for value in (below, above, math.nan, math.inf, -math.inf):
            said = f"{self.field} is {value}; expected {self.said}"
            yield self.place(said, **{**self.beside, self.field: value})

    def ends(self) -> Iterator[SimNetwork]:
        """Give a network with the least and one with the most."""
        for value in (self.least, self.most):
            yield self.place("", **{**self.beside, self.field: value}).network
