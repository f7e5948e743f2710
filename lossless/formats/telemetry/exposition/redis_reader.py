"""Reads redis: many commands in a few packets, with a timeout that fits into a scrape.

Commands are DBSIZE, HGETALL and HMGET; the connection itself sends SELECT and its client name, and nothing else.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.formats.telemetry.exposition.layout import Database

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
