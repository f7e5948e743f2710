"""Series for tests of alerts: those of one port, switch or host of the fabric, in promtool's notation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.metrics import named
from lossless.formats.telemetry.prometheus.promql import INTENT, named_series
from lossless.formats.telemetry.prometheus.rule_data import AlertCase
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.telemetry.prometheus.inventory import IntendedPort, Inventory
    from lossless.formats.telemetry.prometheus.kinds import LeadsTo, LosslessPriority

Line = tuple[str, str]
"""A series, and its values."""
Labels = dict[str, str]
REPEATS = "xN"
"""Placeholder for the number of repetitions of a step, which the test derives from its duration."""


def steady(value: float) -> str:
    """Return a constant value."""
    return f"{value:.12g}+0{REPEATS}"


def rising(step: float) -> str:
    """Return a counter that grows by ``step`` from one scrape to the next."""
    return f"0+{step:.12g}{REPEATS}"


def line(name: str, labels: Mapping[str, str], values: str) -> Line:
    """Return a series with its values."""
    return named_series(name, labels), values


class PortBench(NamedTuple):
    """A port, one of its lossless priorities, and their series."""

    intended: Inventory
    port: IntendedPort
    lossless: LosslessPriority

    @property
    def identity(self) -> Labels:
        """The labels of all series of the port."""
        return {"fabric": self.intended.fabric, **self.port.identity}

    @property
    def labels(self) -> Labels:
        """The labels of an alert on the port."""
        return {**self.identity, **self.port.known}

    @property
    def intent(self) -> tuple[Line, ...]:
        """The recorded values of the intent."""
        kind = {"fabric": self.intended.fabric, "kind": self.port.kind}
        item = self.lossless
        queue, group = {"queue": str(item.queue)}, {"pg": str(item.group)}
        values = (
            ("port:info", self.labels | {"pfc": self.port.pfc}, 1),
            ("priority:info", kind | {"priority": str(item.priority)}, 1),
            ("queue:info", kind | queue, 1),
            ("priority_group:info", kind | group, 1),
            ("headroom:bytes", kind | group, item.headroom_bytes),
            ("kmax:bytes", kind | queue, item.kmax_bytes),
            ("watchdog:seconds", kind | {"queue": str(item.priority)}, item.detection_s),
        )
        return tuple(
            line(f"{INTENT}{name}", labels, steady(value))
            for name, labels, value in values
            if value is not None
        )

    def sonic(self, name: str, values: str, **labels: str) -> Line:
        """Return a series of the port that the exporter serves."""
        return line(named(name).name, self.identity | labels, values)

    def scenario(self, seconds: int, *lines: Line, fires: Mapping[str, str] | None = None) -> AlertCase:
        """Return a case: series beside those of the intent, and the labels of the alert besides those of the port."""
        return AlertCase((*self.intent, *lines), seconds, None if fires is None else {**self.labels, **fires})


def port_bench(intended: Inventory, *leads_to: LeadsTo, priority: int | None = None) -> PortBench | None:
    """Return the first port that leads to one of ``leads_to`` and has the lossless priority, None for none."""
    return next(
        (
            bench
            for bench in _benches(intended)
            if (not leads_to or bench.port.leads_to in leads_to)
            and (priority is None or bench.lossless.priority == priority)
        ),
        None,
    )


def _benches(intended: Inventory) -> Iterator[PortBench]:
    for port in intended.ports:
        for lossless in intended.kinds[port.kind].priorities:
            yield PortBench(intended, port, lossless)
