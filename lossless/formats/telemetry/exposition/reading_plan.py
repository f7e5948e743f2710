"""Plans a scrape: the rows to read, and the sample of each of their fields; computed again when names change.

A row is read by HMGET with the needed fields alone: a port has over a hundred.

The text format of Prometheus, version 0.0.4 (prometheus/docs content/docs/instrumenting/exposition_formats.md).

It is written here and not by a client library: a switch has ten thousand samples or more, their names and labels
stay the same from scrape to scrape, and counters keep the digits of the database (ADR 29).
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from lossless.formats.sonic.state.databases import named_identity
from lossless.formats.sonic.state.forms import GROUP_OF
from lossless.formats.sonic.state.rows import COUNTERS
from lossless.formats.telemetry.metrics import METRICS
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.formats.telemetry.metrics import Metric


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
"""The prefixes of an object's fields in COUNTERS_DB."""
_PRIORITIES = tuple(map(str, range(8)))
_FIELDS = grouped((counter.name, field) for counter in COUNTERS for field in counter.fields)


class Row(NamedTuple):
    """A row to read: its database, its key, and its needed fields."""

    database: str
    key: str
    fields: tuple[str, ...]


class Sample(NamedTuple):
    """A sample before its value is read: its name and labels as text, and the positions of its values.

    ``row`` is the position of its row in the plan. ``fields`` has for each counter of the sum the positions of the
    fields that may contain it: the first one with a value is used.
    """

    start: bytes
    row: int
    fields: tuple[tuple[int, ...], ...]


class SourceSamples(NamedTuple):
    """The samples of one source of a metric."""

    metric: Metric
    source: Source
    samples: tuple[Sample, ...]


class ReadingPlan(NamedTuple):
    """The rows of a scrape, and the samples made from them in the order of the catalog."""

    rows: tuple[Row, ...]
    batches: tuple[SourceSamples, ...]


class _Template(NamedTuple):
    """The sample of any object of a kind: the indexes of its metric and source, its labels, its fields."""

    metric: int
    source: int
    labels: str
    fields: tuple[tuple[str, ...], ...]


def plan_of(objects: Objects, off: Collection[str], labels: Labels) -> ReadingPlan:
    """Return the plan for some objects, without groups whose polling is off. ``labels`` are those of the switch."""
    labelled = {of: list(_labelled(of, names, label_text(labels))) for of, names in objects.items()}
    rows: list[Row] = []
    samples: dict[tuple[int, int], list[Sample]] = {}
    for (database, table, of), templates in grouped(_templates(off)).items():
        wanted = (field for each in templates for any_of in each.fields for field in any_of)
        fields = tuple(dict.fromkeys(wanted))
        for template in templates:
            at = tuple(tuple(map(fields.index, any_of)) for any_of in template.fields)
            begins, ends = f"{METRICS[template.metric].name}{{", f"{template.labels}}} "
            samples.setdefault((template.metric, template.source), []).extend(
                Sample(f"{begins}{text}{ends}".encode(), row, at)
                for row, (_, _, text) in enumerate(labelled.get(of, ()), len(rows))
            )
        rows += (Row(database, _key(database, table, *named), fields) for *named, _ in labelled.get(of, ()))
    batches = (
        SourceSamples(METRICS[metric], METRICS[metric].sources[source], tuple(sorted(made, key=_row)))
        for (metric, source), made in sorted(samples.items(), key=lambda item: item[0])
    )
    return ReadingPlan(tuple(rows), tuple(batches))


def _row(sample: Sample) -> int:
    return sample.row


def _labelled(of: ObjectKind, names: Mapping[str, str], switch: str) -> Iterator[tuple[str, str, str]]:
    """Yield the objects in a map of names: the name, the object id, and its labels after those of the switch."""
    kind = MAPS[of].removeprefix("COUNTERS_").removesuffix("_NAME_MAP")
    for name, oid in names.items():
        parts = dict(named_identity(kind, name))
        if of in parts:
            own = label_text((_LABELS[part], parts[part]) for part in _LABELS if part in parts)
            yield name, oid, f"{switch},{own}"


def _key(database: str, table: str, name: str, oid: str) -> str:
    """Return the key of an object's row: in COUNTERS_DB by its oid, in other databases by its name."""
    if database == "COUNTERS_DB":
        return f"{table}:{oid}"
    return f"{table}|{name}" if database == "STATE_DB" else f"{table}:{name}"


def _templates(off: Collection[str]) -> Iterator[tuple[tuple[str, str, ObjectKind], _Template]]:
    """Yield the sample templates of each kind of object, by database, table and kind."""
    for number, metric in enumerate(METRICS):
        by_priority = "priority" in metric.labels
        for place, source in enumerate(metric.sources):
            of = "priority" if by_priority else source.of
            if any(GROUP_OF.get((counter, of)) in off for counter in source.counters):
                continue
            for priority in _PRIORITIES if by_priority else (None,):
                own = () if priority is None else (("priority", priority),)
                labels = "".join(f",{label_text((pair,))}" for pair in (*own, *source.labels))
                fields = tuple(fields_of(source, counter, priority) for counter in source.counters)
                yield (source.database, source.table, source.of), _Template(number, place, labels, fields)


def fields_of(source: Source, counter: str, priority: str | None) -> tuple[str, ...]:
    """Return the fields that may contain a counter of an object; the first one with a value is used."""
    if source.database != "COUNTERS_DB":
        return (counter,)
    pairs = product(_FIELDS[counter], _BEGINNINGS[source.of])
    own = (field for field, beginning in pairs if field.startswith(beginning))
    return tuple(field.replace("_N_", f"_{priority}_") for field in own)


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
