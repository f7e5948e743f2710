"""The text format of Prometheus, version 0.0.4 (prometheus/docs content/docs/instrumenting/exposition_formats.md).

It is written here rather than by a client library: samples of a switch are ten thousand or more, their names and labels
stay the same from scrape to scrape, and a counter is written as the database has it (ADR 29).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.formats.telemetry.metrics import Metric

_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\""})


def label_text(labels: Iterable[tuple[str, str]]) -> str:
    """Return labels as they stand between the braces; what a terminal would obey is spelled out."""
    return ",".join(f'{name}="{visible(value).translate(_ESCAPED)}"' for name, value in labels)


def sample(metric: Metric, labels: Sequence[tuple[str, str]], value: float) -> bytes:
    """Return the line of one sample, without its line break."""
    return f"{metric.name}{{{label_text(labels)}}} {number_text(value)}".encode()


def number_text(value: float) -> str:
    """Return a number as it is written: a whole one without a fraction."""
    return str(int(value)) if value == int(value) else repr(value)


def family(metric: Metric, lines: Sequence[bytes]) -> bytes:
    """Return the samples of a metric with what is said of it; nothing where it has none."""
    if not lines:
        return b""
    head = f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"
    return head.encode() + b"\n".join(lines) + b"\n"
