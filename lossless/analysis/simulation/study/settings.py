"""The settings of one trial: thresholds of all ports, others of ports of some kinds, and DCQCN of all senders."""

from __future__ import annotations

from lossless.analysis.simulation.study.grid import ThresholdSetting
from lossless.ground.basics.records import NamedTuple


class PortKind(NamedTuple):
    """Ports of switches that have the same thresholds: the role of their switch, and their speed in b/s."""

    role: str
    rate_bps: float


class TrialSetting(NamedTuple):
    """Thresholds of the requested class on every port, then on ports of some kinds.

    ``dcqcn`` are parameters of every sender that runs DCQCN, by ConnectX's names in lower case and in its units.
    """

    everywhere: ThresholdSetting = ThresholdSetting()
    by_kind: tuple[tuple[PortKind, ThresholdSetting], ...] = ()
    dcqcn: tuple[tuple[str, int], ...] = ()
