"""DCQCN parameters that can be searched: those that set how fast senders slow down and recover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.tune.space import Axis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.question.scenario import Scenario
    from lossless.model.hardware.nic import NicProfile

SEARCHED = (
    "rpg_ai_rate",
    "rpg_hai_rate",
    "rpg_time_reset",
    "rate_reduce_monitor_period",
    "min_time_between_cnps",
    "dce_tcp_g",
)
"""Parameters by ConnectX's names, lower case. Their meaning: Zhu et al., SIGCOMM 2015, section 3."""
_DOWN, _UP = 16, 64
"""Factors of the search range below and above the present value of a parameter, chosen for this tool."""
_G_LEAST = 896
"""Least DCE_TCP_G that is searched, in 1/1024: a CNP then weighs an eighth in alpha."""


def dcqcn_axes(scenario: Scenario) -> tuple[Axis, ...]:
    """Return the axes of DCQCN parameters around those of the first sender with DCQCN, with one value each."""
    for nic in scenario.nics:
        host = scenario.topology.host_of[nic]
        if host is not None and host.nic is not None and scenario.dcqcn_of.get(nic) is not None:
            return tuple(_axes(host.nic, dict(host.dcqcn.values)))
    return ()


def _axes(nic: NicProfile, values: dict[str, int]) -> Iterator[Axis]:
    for name in SEARCHED:
        parameter = nic.dcqcn[name.upper()]
        low = 0 if parameter.minimum is None else parameter.minimum
        high = values[name] * _UP if parameter.maximum is None else parameter.maximum
        if name == "dce_tcp_g":
            yield Axis(name, (values[name],), min(max(low, _G_LEAST), values[name]), high)
        else:
            own = max(1, values[name])
            least, most = max(low, own // _DOWN, 1), min(high, own * _UP)
            yield Axis(name, (own,), least, most, geometric=True)
