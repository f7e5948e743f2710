"""The page of all metrics that ``lossless exporter`` serves, generated from the catalog.

``python tools/metrics_page.py`` writes it; with ``--check`` it says whether it is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.formats.telemetry.exposition.redis_reader import fields_of
from lossless.formats.telemetry.metrics import METRICS, PREFIX
from lossless.output.report.columns import markdown_table
from tools.generated import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.telemetry.metrics import Metric

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "metrics.md"
TOP = f"""# Metrics of the exporter

[`lossless exporter`](guides/telemetry-exporter.md) serves these for a SONiC switch. Each name begins with
`{PREFIX}`, and each metric has the label `switch`, the hostname of CONFIG_DB. On switches with several ASICs all but
`info` and `scrape_duration_seconds` have the label `namespace` (`asic0`) too; on others there is none.

A value that a database does not have is absent, never 0. `N` is a priority, 0 to 7. Names that end in `_total` are
counters, all others are gauges; what is a question is 1 for yes and 0 for no. `window` is `periodic` (cleared every
telemetry interval, 120 s if not set otherwise), `persistent` or `user` (cleared by users). This page is written by
`tools/metrics_page.py`.

The last column is what is served without `--all`: of queues, groups and priorities those that are lossless on the
switch, all, or none (the metric is left out); of windows, `periodic` alone.
"""


def page() -> str:
    """Return the page: a row for each metric."""
    heads = ("metric", "labels", "meaning", "from", "without `--all`")
    return TOP + "\n" + markdown_table(heads, [_row(metric) for metric in METRICS]) + "\n"


def _row(metric: Metric) -> tuple[str, ...]:
    labels = ", ".join(f"`{label}`" for label in metric.labels[1:]) or "-"
    numbered = not {"priority", "queue", "pg"}.isdisjoint(metric.labels)
    served = metric.read if numbered or metric.read == "none" else "all"
    return (
        f"`{metric.name.removeprefix(PREFIX)}`",
        labels,
        metric.help,
        metric.origin or _origin(metric),
        served,
    )


def _origin(metric: Metric) -> str:
    """Return the fields that a metric is made of, each once; those that are added are joined by a plus."""
    return "; ".join(dict.fromkeys(_fields(metric)))


def _fields(metric: Metric) -> Iterator[str]:
    priority = "N" if "priority" in metric.labels else None
    windows = any(name == "window" for source in metric.sources for name, _ in source.labels)
    for source in metric.sources:
        fields = (fields_of(source, counter, priority) for counter in source.counters)
        added = " + ".join(" or ".join(f"`{field}`" for field in any_of) for any_of in fields)
        table = f" of {source.table} in {source.database}" if source.database != "COUNTERS_DB" else ""
        yield added + (" of the table of its window" if windows else table)


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` report that it is stale."""
    return write_or_check({PAGE: page()}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
