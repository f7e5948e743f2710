"""Maps fields of gNMI answers to metrics of ``lossless exporter``, as data for gnmic's processor.

gnmic makes names of paths, in which the port is a part of the name. A processor in Starlark (templates/telemetry/
sonic_names.star) gives them the names and labels of the catalog, from a table that is written into it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossless.formats.telemetry.exposition.reading_plan import fields_of
from lossless.formats.telemetry.metrics import METRICS, WINDOWS
from lossless.ground.basics.data_files import data_dir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.telemetry.metrics import Metric, Source

_TABLES = ("COUNTERS", WINDOWS["periodic"])
"""The tables that gNMI serves by port (sonic-gnmi sonic_data_client/virtual_db.go @5ec1c20)."""
_PARTS = {"port": "", "queue": "queue", "pg": "pg"}
_PRIORITIES = tuple(map(str, range(8)))


def names_script() -> str:
    """Return the processor, with its table."""
    script = Path(data_dir("templates"), "telemetry", "sonic_names.star").read_text(encoding="utf-8")
    return script.replace("FIELDS_OF_SONIC", json.dumps(_table(), indent=1))


def _table() -> dict[str, list[dict[str, Any]]]:
    table: dict[str, list[dict[str, Any]]] = {}
    for metric in METRICS:
        for source in metric.sources:
            if source.database == "COUNTERS_DB" and source.table in _TABLES and source.of in _PARTS:
                for field, entry in _entries(metric, source):
                    table.setdefault(field, []).append(entry)
    return table


def _entries(metric: Metric, source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    by_priority = "priority" in metric.labels
    for priority in _PRIORITIES if by_priority else (None,):
        own = {} if priority is None else {"priority": priority}
        entry = {
            "metric": metric.name,
            "part": _PARTS[source.of],
            "labels": own | dict(source.labels),
            "words": dict(source.words),
            "times": source.times,
            "per": source.per,
        }
        for counter in source.counters:
            for rank, field in enumerate(fields_of(source, counter, priority)):
                yield field, entry | {"counter": counter, "rank": rank}
