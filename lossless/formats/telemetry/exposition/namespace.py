"""One ASIC in a scrape: the identity of the switch, the polling of its counters, and the rows of its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.sonic.state.polling import GROUPS
from lossless.formats.telemetry.exposition.reading_plan import MAPS, ReadingPlan, plan_of
from lossless.formats.telemetry.exposition.redis_reader import Packets, RedisReader, packed
from lossless.formats.telemetry.exposition.values import number_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.formats.telemetry.exposition.layout import Namespace, RedisServer
    from lossless.formats.telemetry.exposition.redis_reader import Answer
    from lossless.formats.telemetry.exposition.values import Answers

METADATA = ("hostname", "hwsku", "platform")
_SIZE = ("DBSIZE",)
_ROWS = (
    ("DEVICE_METADATA|localhost", *METADATA),
    *((f"FLEX_COUNTER_TABLE|{group}", "FLEX_COUNTER_STATUS", "POLL_INTERVAL") for group in GROUPS),
)
_CONFIGURED = packed([_SIZE, *(("HMGET", *row) for row in _ROWS)])
_NAMES = packed([_SIZE, *(("HGETALL", name_map) for name_map in MAPS.values())])
_STATUS = (("enable", 1), ("disable", 0))
_MS_PER_S = 1000


class Polling(NamedTuple):
    """Whether a group of counters is polled (0 or 1), and its interval; None where CONFIG_DB lacks the value."""

    enabled: float | None
    interval_s: float | None


class SwitchSettings(NamedTuple):
    """The settings in CONFIG_DB: the fields of DEVICE_METADATA that exist, and the polling of each group."""

    metadata: dict[str, str]
    polling: dict[str, Polling]

    @property
    def off(self) -> frozenset[str]:
        """The counter groups whose polling is off."""
        return frozenset(group for group, polling in self.polling.items() if polling.enabled == 0)


class _CurrentPlan(NamedTuple):
    """A plan, the inputs that it was made from, and the commands that read its rows, by database."""

    made_of: tuple[object, ...]
    plan: ReadingPlan
    commands: dict[str, Packets]


class NamespaceReader:
    """The databases of one namespace. It keeps its connections, and the plan while the names of objects do not change.

    ``up`` has for each database whether it answered in this scrape and is not empty.
    """

    def __init__(self, namespace: Namespace) -> None:
        self.name = namespace.name
        self.up: dict[str, bool] = {}
        self._places = namespace.databases
        self._readers = {name: RedisReader(place) for name, place in namespace.databases.items()}
        self._planned: _CurrentPlan | None = None

    def close(self) -> None:
        """Close the connections."""
        for reader in self._readers.values():
            reader.close()

    @property
    def unanswered(self) -> Iterator[str]:
        """Yield the databases that did not answer the last query, with the reason."""
        of = f" of {self.name}" if self.name else ""
        return (f"{name}{of}: {reader.why}" for name, reader in self._readers.items() if reader.why)

    def configured(self, away: set[RedisServer]) -> SwitchSettings:
        """Return the settings in CONFIG_DB, which is the first database that a scrape reads."""
        self.up = dict.fromkeys(self._readers, False)
        metadata, *groups = self._ask("CONFIG_DB", _CONFIGURED, away) or [None] * len(_ROWS)
        named = zip(METADATA, metadata or (), strict=False)
        present = {name: _text(value) for name, value in named if value}
        return SwitchSettings(present, dict(zip(GROUPS, map(_polling, groups), strict=True)))

    def read(
        self, off: frozenset[str], labels: Sequence[tuple[str, str]], away: set[RedisServer]
    ) -> tuple[ReadingPlan, Answers]:
        """Return the samples of a scrape as a plan, and the values of its rows."""
        if "COUNTERS_DB" not in self._readers:
            return ReadingPlan((), ()), ()
        maps = self._ask("COUNTERS_DB", _NAMES, away) or [None] * len(MAPS)
        plan, commands = self._plan(maps, off, labels)
        answers = {name: iter(self._ask(name, packets, away) or ()) for name, packets in commands.items()}
        return plan, [next(answers[row.database], ()) or (None,) * len(row.fields) for row in plan.rows]

    def _plan(
        self, maps: Sequence[Answer], off: frozenset[str], labels: Sequence[tuple[str, str]]
    ) -> tuple[ReadingPlan, dict[str, Packets]]:
        made_of = (maps, off, tuple(labels))
        if self._planned is None or self._planned.made_of != made_of:
            objects = {of: _pairs(answer or ()) for of, answer in zip(MAPS, maps, strict=True)}
            plan = plan_of(objects, off, labels)
            self._planned = _CurrentPlan(made_of, plan, _commands(plan, self._readers))
        return self._planned.plan, self._planned.commands

    def _ask(self, name: str, commands: Packets, away: set[RedisServer]) -> list[Answer] | None:
        """Return the answers of a database to commands after DBSIZE, None where it gives none.

        A database on a server that failed to answer in this scrape is skipped, because it would cause another timeout.
        """
        server = self._places[name].server
        answers = None if server in away else self._readers[name].ask(commands)
        if answers is None:
            away.add(server)
            self.up[name] = False
            return None
        self.up[name] = bool(answers[0])
        return answers[1:]


def _commands(plan: ReadingPlan, databases: Iterable[str]) -> dict[str, Packets]:
    """Return the commands that read the rows of a plan; a database without rows is only queried for its size."""
    return {
        name: packed([_SIZE, *(("HMGET", row.key, *row.fields) for row in plan.rows if row.database == name)])
        for name in databases
        if name != "CONFIG_DB"
    }


def _pairs(answer: Sequence[bytes]) -> dict[str, str]:
    words = list(map(_text, answer))
    return dict(zip(words[::2], words[1::2], strict=True))


def _polling(row: Sequence[bytes | None] | None) -> Polling:
    enabled, interval_ms = row or (None, None)
    interval = number_of(interval_ms)
    return Polling(number_of(enabled, _STATUS), None if interval is None else interval / _MS_PER_S)


def _text(value: bytes) -> str:
    return value.decode(errors="backslashreplace")
