"""Reads redis: many commands in a few packets, with a timeout that fits into a scrape.

Commands are DBSIZE, HGETALL and HMGET; the connection itself sends SELECT and its client name, and nothing else.

One ASIC in a scrape: the identity of the switch, the polling of its counters, and the rows of its objects.

Converts values of databases to samples. A value other than a number of 64 bits, as ``N/A``, gives no sample.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.forms import GROUPS
from lossless.formats.telemetry.exposition.reading_plan import MAPS, ReadingPlan, number_text, plan_of
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.printed_lines import stored_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.formats.telemetry.exposition.layout import Database, Namespace, RedisServer


TIMEOUT_S = 1.0
"""Timeout of one answer in seconds.

Prometheus allows 10 s for a scrape (scrape_timeout), and a redis on the same machine answers in milliseconds.
"""
_AT_ONCE = 256
"""Commands sent before their answers are read: redis serves other clients in between, and buffers few answers."""

Answer = Any
"""The answer to a command: a number, a list of values, or None for an error of redis, such as a row of another type."""


class Packets(NamedTuple):
    """Commands in the protocol of redis, with the number of commands in each packet."""

    packets: tuple[tuple[bytes, int], ...]


def packed(commands: Iterable[Sequence[str]]) -> Packets:
    """Return commands in the protocol of redis (https://redis.io/docs/latest/develop/reference/protocol-spec)."""
    each = iter(map(_packed, commands))
    packets = []
    while some := tuple(islice(each, _AT_ONCE)):
        packets.append((b"".join(some), len(some)))
    return Packets(tuple(packets))


def _packed(command: Sequence[str]) -> bytes:
    words = [word.encode() for word in command]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class RedisReader:
    """A connection to one database, opened at the first query and again after it broke.

    ``why`` is the error of the database or of the system after a query without an answer.
    """

    def __init__(self, database: Database) -> None:
        self.why = ""
        self._connection = _connection(database)
        self._is_used = False

    def ask(self, commands: Packets) -> list[Answer] | None:
        """Return the answers to some commands, None where the database gives none."""
        from redis.exceptions import RedisError

        # A redis that was started again has closed the connection: that is found out by using it.
        for _ in range(1 + self._is_used):
            try:
                answers = list(self._answers(commands))
            except (RedisError, OSError) as error:
                self.why = str(error)
                self.close()
            else:
                self.why = ""
                self._is_used = True
                return answers
        return None

    def close(self) -> None:
        """Close the connection."""
        self._is_used = False
        self._connection.disconnect()

    def _answers(self, commands: Packets) -> Iterator[Answer]:
        from redis.exceptions import ResponseError

        connection = self._connection
        connection.connect()
        for packet, count in commands.packets:
            connection.send_packed_command([packet], check_health=False)
            for _ in range(count):
                try:
                    yield connection.read_response()
                except ResponseError:
                    yield None


def _connection(database: Database) -> Any:
    """Return a connection of redis-py, not yet opened."""
    from redis import backoff, connection, retry

    server = database.server
    options = {
        "db": database.number,
        "protocol": 2,
        "socket_timeout": TIMEOUT_S,
        "socket_connect_timeout": TIMEOUT_S,
        "retry": retry.Retry(backoff.NoBackoff(), 0),
    }
    # Of these classes redis-py says no types.
    kinds: Any = connection
    if server.socket is not None:
        return kinds.UnixDomainSocketConnection(path=server.socket, **options)
    return kinds.Connection(host=server.host, port=server.port, **options)


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


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.formats.telemetry.exposition.reading_plan import SourceSamples
    from lossless.formats.telemetry.metrics import Source

    Answers = Sequence[Sequence[bytes | None]]
    """The values of each row that was read; None for a field that the row lacks."""

_MOST = 2**64 - 1
"""Counters of SAI have 64 bits (opencomputeproject/SAI inc/saitypes.h @b1e1bd2, sai_stat_value_t)."""
_DIGITS = len(str(_MOST)) - 1
"""A number with up to this many digits fits into 64 bits."""


def lines_of(batch: SourceSamples, answers: Answers) -> Iterator[tuple[bytes, bytes]]:
    """Yield the samples of a batch that have a value: name and labels, and the value as text."""
    source = batch.source
    as_stored = source.times == source.per and not source.words
    for sample in batch.samples:
        start, row, fields = sample
        values = answers[row]
        if as_stored and len(fields) == 1:
            value = values[fields[0][0]]
            # Most values by far, and so without a detour.
            if value is not None and value.isdigit() and len(value) <= _DIGITS:
                yield start, value
                continue
        number = _number(fields, source, values)
        if number is not None:
            yield start, number_text(number).encode()


def _number(fields: Iterable[Sequence[int]], source: Source, values: Sequence[bytes | None]) -> float | None:
    """Return the value of a sample, None if one of its counters has no value."""
    total: float = 0
    for any_of in fields:
        present = (values[field] for field in any_of if values[field] is not None)
        value = number_of(next(present, None), source.words)
        if value is None:
            return None
        total += value
    return total * source.times / source.per


def number_of(stored: bytes | None, words: Sequence[tuple[str, int]] = ()) -> float | None:
    """Return the number in a field, or the number that ``words`` has for its text; None for any other content."""
    if stored is None:
        return None
    text = stored.decode(errors="replace")
    if words:
        return dict(words).get(text)
    value = stored_value(text)
    return value if isinstance(value, int | float) and 0 <= value <= _MOST else None
