"""The text format of Prometheus, version 0.0.4 (prometheus/docs content/docs/instrumenting/exposition_formats.md).

It is written here and not by a client library: a switch has ten thousand samples or more, their names and labels
stay the same from scrape to scrape, and counters keep the digits of the database (ADR 29).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.foreign_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.formats.telemetry.metrics import Metric

_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\""})


def label_text(labels: Iterable[tuple[str, str]]) -> str:
    """Return labels as text between the braces; control characters of terminals are escaped."""
    return ",".join(f'{name}="{visible(value).translate(_ESCAPED)}"' for name, value in labels)


def sample(metric: Metric, labels: Sequence[tuple[str, str]], value: float) -> bytes:
    """Return the line of one sample, without its line break."""
    return f"{metric.name}{{{label_text(labels)}}} {number_text(value)}".encode()


def number_text(value: float) -> str:
    """Return a number as text, a whole number without a fraction."""
    return str(int(value)) if value == int(value) else repr(value)


def family(metric: Metric, lines: Sequence[bytes]) -> bytes:
    """Return the samples of a metric below its HELP and TYPE lines; empty without samples."""
    if not lines:
        return b""
    head = f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"
    return head.encode() + b"\n".join(lines) + b"\n"
