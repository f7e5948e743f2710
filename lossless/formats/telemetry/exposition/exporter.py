"""A scrape: reads all namespaces of a switch and returns their metrics as text; no content of a database aborts it.

The seconds that it waits for redis and the bytes that it reads are limited
(:class:`~lossless.formats.telemetry.exposition.redis_reader.ScrapeLimits`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.telemetry.exposition.redis_reader import (
    NamespaceReader,
    ScrapeLimits,
    family,
    lines_of,
    sample,
)
from lossless.formats.telemetry.metrics import METRICS, NAMESPACE, SWITCH, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lossless.formats.telemetry.exposition.layout import Namespace
    from lossless.formats.telemetry.exposition.redis_reader import Answers, ReadingPlan

    Labels = tuple[tuple[str, str], ...]
    Lines = dict[str, list[bytes]]
    """The lines of samples, by the name of their metric."""


class Exporter:
    """Reads the databases of a switch once for each scrape; scrapes must not overlap.

    ``clock`` returns seconds. ``host`` is the name of the switch until a CONFIG_DB supplies one, ``switch`` a name that
    overrides that of CONFIG_DB. Served is what rules, alerts and dashboards read, with ``everything`` all metrics, of
    all windows, queues, groups and priorities.
    """

    def __init__(
        self,
        namespaces: Sequence[Namespace],
        clock: Callable[[], float],
        *,
        host: str = "",
        switch: str | None = None,
        release: str = "",
        everything: bool = False,
    ) -> None:
        self._readers = [NamespaceReader(namespace, everything=everything) for namespace in namespaces]
        places = (place for namespace in namespaces for place in namespace.databases.values())
        self._servers = frozenset(place.server for place in places)
        self._clock = clock
        self._host = host
        self._switch = switch
        self._release = release

    def exposition(self) -> bytes:
        """Return the current values of the databases in the text format of Prometheus."""
        started = self._clock()
        limits = ScrapeLimits(self._servers, self._clock)
        configured = [reader.configured(limits) for reader in self._readers]
        metadata = next((each.metadata for each in configured if each.metadata), {})
        self._host = metadata.get("hostname", self._host)
        switch = (SWITCH, self._switch or self._host)
        lines: Lines = {metric.name: [] for metric in METRICS}
        info = [(label, metadata.get(label, "")) for label in ("hwsku", "platform")]
        _add(lines, "info", (switch, *info, ("release", self._release)), 1)
        for reader, said in zip(self._readers, configured, strict=True):
            labels = (switch, (NAMESPACE, reader.name)) if reader.name else (switch,)
            _add_objects(lines, *reader.read(said.off, labels, limits))
            for name, is_up in reader.up.items():
                _add(lines, "database_up", (*labels, ("database", name)), is_up)
            for group, polling in said.polling.items():
                of = (*labels, ("group", group))
                if polling.enabled is not None:
                    _add(lines, "polling_enabled", of, polling.enabled)
                if polling.interval_s is not None:
                    _add(lines, "polling_interval_seconds", of, polling.interval_s)
        _add(lines, "scrape_duration_seconds", (switch,), self._clock() - started)
        return b"".join(family(metric, lines[metric.name]) for metric in METRICS)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The databases that did not answer the last query, each with the reason."""
        return tuple(line for reader in self._readers for line in reader.unanswered)

    def close(self) -> None:
        """Close the connections to the databases."""
        for reader in self._readers:
            reader.close()


def _add_objects(lines: Lines, plan: ReadingPlan, answers: Answers) -> None:
    """Add the samples of ports, queues, groups and pools; of several sources of equal labels, the first is used."""
    begun: dict[str, set[bytes]] = {}
    for batch in plan.batches:
        name = batch.metric.name
        values = dict(lines_of(batch, answers))
        lines[name] += (start + value for start, value in values.items() if start not in begun.get(name, ()))
        begun.setdefault(name, set()).update(values)


def _add(lines: Lines, name: str, labels: Iterable[tuple[str, str]], value: float) -> None:
    metric = named(name)
    lines[metric.name].append(sample(metric, tuple(labels), value))
