"""Expositions of metrics by their catalogue: every metric with every label that it can have, at a time.

What exporters print of captures takes their place where there is one; these are for what no capture has, as a storm.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.telemetry.metrics import ForeignMetric, Metric

NUMBERS = ("0", "3")
SWITCH_LABELS: dict[str, tuple[str, ...]] = {
    "priority": NUMBERS,
    "queue": NUMBERS,
    "pg": NUMBERS,
    "pool": ("ingress_lossless_pool", "egress_lossless_pool"),
    "window": ("periodic", "persistent", "user"),
    "direction": ("received", "sent"),
    "group": ("PORT", "QUEUE"),
    "database": ("COUNTERS_DB", "STATE_DB"),
    "hwsku": ("Mellanox-SN5600",),
    "platform": ("x86_64",),
    "release": ("202411",),
}


def exposition(
    metrics: Sequence[Metric | ForeignMetric],
    labels: Mapping[str, Sequence[str]],
    time: int,
    *,
    fixed: str = "1",
) -> str:
    """Return all series of some metrics: counters have grown since time 0, anything else has one value."""
    return "\n".join(line for metric in metrics for line in _lines(metric, labels, time, fixed)) + "\n"


def _lines(
    metric: Metric | ForeignMetric, labels: Mapping[str, Sequence[str]], time: int, fixed: str
) -> Iterator[str]:
    value = fixed if metric.kind == "gauge" else str(1000 + 60 * time)
    for values in product(*(labels[name] for name in metric.labels)):
        pairs = ",".join(f'{name}="{value}"' for name, value in zip(metric.labels, values, strict=True))
        yield f"{metric.name}{{{pairs}}} {value}"
