"""Which rows are read in a scrape, and which sample each of their fields becomes: computed again when names change.

A row is read by HMGET with the fields that are needed and no others: a port has over a hundred.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from lossless.formats.sonic.state.names import COUNTERS
from lossless.formats.sonic.state.objects import named_identity
from lossless.formats.sonic.state.polling import GROUP_OF
from lossless.formats.telemetry.exposition.text import label_text
from lossless.formats.telemetry.metrics import METRICS
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lossless.formats.telemetry.metrics import Metric, ObjectKind, Source

    Labels = Sequence[tuple[str, str]]
    Objects = Mapping[ObjectKind, Mapping[str, str]]
    """The names of the objects of each kind, each with its object in COUNTERS_DB."""

MAPS: dict[ObjectKind, str] = {
    "port": "COUNTERS_PORT_NAME_MAP",
    "queue": "COUNTERS_QUEUE_NAME_MAP",
    "pg": "COUNTERS_PG_NAME_MAP",
    "pool": "COUNTERS_BUFFER_POOL_NAME_MAP",
}
_LABELS = {"port": "interface", "queue": "queue", "pg": "pg", "pool": "pool"}
_BEGINNINGS = {
    "port": ("SAI_PORT_STAT_", "EST_PORT_STAT_"),
    "queue": ("SAI_QUEUE_STAT_", "PFC_WD_"),
    "pg": ("SAI_INGRESS_PRIORITY_GROUP_STAT_",),
    "pool": ("SAI_BUFFER_POOL_STAT_",),
}
"""What the fields of an object begin with in COUNTERS_DB."""
_PRIORITIES = tuple(map(str, range(8)))
_FIELDS = grouped((counter.name, field) for counter in COUNTERS for field in counter.fields)

Place = tuple[int, int]
"""Where a value stands in the answers of a scrape: the row, and the field in it, by their positions."""


class Row(NamedTuple):
    """A row to read: its database, its key, and the fields that are asked for."""

    database: str
    key: str
    fields: tuple[str, ...]


class Sample(NamedTuple):
    """A sample to be: its name and labels as they are written, and where its values stand.

    ``places`` has for each counter that is added the places that may hold it: the first that does counts.
    """

    start: bytes
    places: tuple[tuple[Place, ...], ...]


class SourceSamples(NamedTuple):
    """The samples of one source of a metric."""

    metric: Metric
    source: Source
    samples: tuple[Sample, ...]


class ReadingPlan(NamedTuple):
    """The rows of a scrape, and the samples made of them in the order of the catalogue."""

    rows: tuple[Row, ...]
    batches: tuple[SourceSamples, ...]


class _Template(NamedTuple):
    """A sample of any object of a kind: the numbers of its metric and source there, its labels, its fields."""

    metric: int
    source: int
    labels: Labels
    fields: tuple[tuple[str, ...], ...]


def plan_of(objects: Objects, off: Collection[str], labels: Labels) -> ReadingPlan:
    """Return what to read of some objects: nothing of groups whose polling is off. ``labels`` are the switch's."""
    rows: list[Row] = []
    samples: dict[tuple[int, int], list[Sample]] = {}
    for (database, table, of), templates in grouped(_templates(off)).items():
        wanted = (field for each in templates for any_of in each.fields for field in any_of)
        fields = tuple(dict.fromkeys(wanted))
        at = {field: position for position, field in enumerate(fields)}
        for key, own in _objects(database, table, of, objects):
            for template in templates:
                made = _sample(template, (*labels, *own), len(rows), at)
                samples.setdefault((template.metric, template.source), []).append(made)
            rows.append(Row(database, key, fields))
    batches = (
        SourceSamples(METRICS[metric], METRICS[metric].sources[source], tuple(made))
        for (metric, source), made in sorted(samples.items(), key=lambda item: item[0])
    )
    return ReadingPlan(tuple(rows), tuple(batches))


def _sample(template: _Template, labels: Labels, row: int, at: Mapping[str, int]) -> Sample:
    start = f"{METRICS[template.metric].name}{{{label_text((*labels, *template.labels))}}} "
    places = tuple(tuple((row, at[field]) for field in any_of) for any_of in template.fields)
    return Sample(start.encode(), places)


def _objects(database: str, table: str, of: ObjectKind, objects: Objects) -> Iterator[tuple[str, Labels]]:
    """Yield the row of each object of a kind in a table, with the labels of the object."""
    kind = MAPS[of].removeprefix("COUNTERS_").removesuffix("_NAME_MAP")
    for name, oid in objects.get(of, {}).items():
        parts = dict(named_identity(kind, name))
        if of in parts:
            separator = "|" if database == "STATE_DB" else ":"
            key = f"{table}{separator}{oid if database == 'COUNTERS_DB' else name}"
            yield key, [(_LABELS[part], parts[part]) for part in _LABELS if part in parts]


def _templates(off: Collection[str]) -> Iterator[tuple[tuple[str, str, ObjectKind], _Template]]:
    """Yield each sample of an object of a kind, by database, table and kind."""
    for number, metric in enumerate(METRICS):
        by_priority = "priority" in metric.labels
        for place, source in enumerate(metric.sources):
            of = "priority" if by_priority else source.of
            if any(GROUP_OF.get((counter, of)) in off for counter in source.counters):
                continue
            for priority in _PRIORITIES if by_priority else (None,):
                labels = source.labels if priority is None else (("priority", priority), *source.labels)
                fields = tuple(fields_of(source, counter, priority) for counter in source.counters)
                yield (source.database, source.table, source.of), _Template(number, place, labels, fields)


def fields_of(source: Source, counter: str, priority: str | None) -> tuple[str, ...]:
    """Return the fields that may hold a counter of an object; the first that does counts."""
    if source.database != "COUNTERS_DB":
        return (counter,)
    pairs = product(_FIELDS[counter], _BEGINNINGS[source.of])
    own = (field for field, beginning in pairs if field.startswith(beginning))
    return tuple(field.replace("_N_", f"_{priority}_") for field in own)
