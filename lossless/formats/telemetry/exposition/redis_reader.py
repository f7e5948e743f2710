"""Reads redis for a scrape, and converts the values of databases to samples in the text format of Prometheus.

Many commands are sent in a few packets, within the seconds and bytes of a scrape: SELECT, DBSIZE, HGETALL and HMGET. A
redis may be slow, or be another program: no answer of it takes longer or more memory than :class:`ScrapeLimits` allows,
or has another shape than its command asks for.

A scrape is planned: the rows to read, and the sample of each of their fields; it is planned again when names change.
A row is read by HMGET with the needed fields alone: a port has over a hundred. Of each ASIC it has the identity of
the switch, the polling of its counters, PFC of its ports, and the rows of its objects. Unless everything is asked for,
queues, groups and priorities that are not lossless are left out where no rule, alert or dashboard reads them. A value
other than a number of 64 bits, as ``N/A``, gives no sample.

The text format is version 0.0.4 (prometheus/docs content/docs/instrumenting/exposition_formats.md). It is written
here and not by a client library: a switch has ten thousand samples or more, their names and labels stay the same from
scrape to scrape, and counters keep the digits of the database (ADR 29).
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.databases import named_identity
from lossless.formats.sonic.state.forms import GROUP_OF, GROUPS
from lossless.formats.sonic.state.rows import COUNTERS
from lossless.formats.telemetry.metrics import METRICS, READ_WINDOW, WINDOWS
from lossless.ground.basics.findings import grouped
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.limits import MIB
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.printed_lines import stored_value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from socket import socket

    from lossless.formats.telemetry.exposition.layout import Database, Namespace, RedisServer
    from lossless.formats.telemetry.metrics import Metric, ObjectKind, Source


if TYPE_CHECKING:
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
    """A database row that a scrape reads: its database, its key, and its needed fields."""

    database: str
    key: str
    fields: tuple[str, ...]


class Sample(NamedTuple):
    """A sample of a metric before its value is read: its name and labels as text, and the positions of its values.

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
    """The sample of any object of a kind: the indexes of its metric and source, its labels, its fields.

    ``of_all``: it is also read of queues and groups that are not lossless.
    """

    metric: int
    source: int
    labels: str
    fields: tuple[tuple[str, ...], ...]
    of_all: bool


class LosslessNumbers(NamedTuple):
    """The numbers that are lossless on a switch, as text: priorities with PFC, and the queues and groups of these."""

    priorities: frozenset[str]
    queues: frozenset[str]
    groups: frozenset[str]

    def has(self, of: ObjectKind, number: str | None) -> bool:
        """Return whether an object is a lossless queue or group, or neither a queue nor a group."""
        own = {"queue": self.queues, "pg": self.groups}.get(of)
        return own is None or number in own


def plan_of(
    objects: Objects,
    off: Collection[str],
    labels: Labels,
    lossless: LosslessNumbers | None = None,
    *,
    everything: bool = False,
) -> ReadingPlan:
    """Return the plan of a scrape of these objects, without counters of groups whose polling is off.

    ``labels`` are those of the switch. With ``everything`` every metric of all objects is read, in every window. Else
    metrics and windows that no rule, alert or dashboard reads are left out, and of most metrics the queues, groups and
    priorities that are not in ``lossless``; None stands for all.
    """
    labelled = {of: list(_labelled(of, names, label_text(labels))) for of, names in objects.items()}
    rows: list[Row] = []
    samples: dict[tuple[int, int], list[Sample]] = {}
    for (database, table, of), templates in grouped(_templates(off, lossless, everything)).items():
        named = labelled.get(of, ())
        kept = [each for each in named if everything or lossless is None or lossless.has(of, each.number)]
        others = [each for each in named if each not in kept] if len(kept) < len(named) else []
        for some, own in ((kept, templates), (others, [each for each in templates if each.of_all])):
            wanted = (field for each in own for any_of in each.fields for field in any_of)
            fields = tuple(dict.fromkeys(wanted))
            for template in own:
                at = tuple(tuple(map(fields.index, any_of)) for any_of in template.fields)
                begins, ends = f"{METRICS[template.metric].name}{{", f"{template.labels}}} "
                samples.setdefault((template.metric, template.source), []).extend(
                    Sample(f"{begins}{each.labels}{ends}".encode(), row, at)
                    for row, each in enumerate(some, len(rows))
                )
            if own:
                rows += (Row(database, _key(database, table, each.name, each.oid), fields) for each in some)
    batches = (
        SourceSamples(METRICS[metric], METRICS[metric].sources[source], tuple(sorted(made, key=_row)))
        for (metric, source), made in sorted(samples.items(), key=lambda item: item[0])
    )
    return ReadingPlan(tuple(rows), tuple(batches))


def _row(sample: Sample) -> int:
    return sample.row


class _Labelled(NamedTuple):
    """An object in a name map of COUNTERS_DB, with the labels of its samples; ``number``: of a queue or group."""

    name: str
    oid: str
    labels: str
    number: str | None


def _labelled(of: ObjectKind, names: Mapping[str, str], switch: str) -> Iterator[_Labelled]:
    """Yield the objects in a name map of COUNTERS_DB."""
    kind = MAPS[of].removeprefix("COUNTERS_").removesuffix("_NAME_MAP")
    for name, oid in names.items():
        parts = dict(named_identity(kind, name))
        if of in parts:
            own = label_text((_LABELS[part], parts[part]) for part in _LABELS if part in parts)
            number = parts[of] if of in ("queue", "pg") else None
            yield _Labelled(name, oid, f"{switch},{own}", number)


def _key(database: str, table: str, name: str, oid: str) -> str:
    """Return the key of an object's row: in COUNTERS_DB by its oid, in other databases by its name."""
    if database == "COUNTERS_DB":
        return f"{table}:{oid}"
    return f"{table}|{name}" if database == "STATE_DB" else f"{table}:{name}"


def _templates(
    off: Collection[str], lossless: LosslessNumbers | None, everything: bool
) -> Iterator[tuple[tuple[str, str, ObjectKind], _Template]]:
    """Yield the sample templates of each kind of object, by database, table and kind, without counters not polled."""
    unread = {table for window, table in WINDOWS.items() if not everything and window != READ_WINDOW}
    for number, metric in enumerate(METRICS):
        if metric.read == "none" and not everything:
            continue
        by_priority = "priority" in metric.labels
        own_priorities = (
            None if everything or metric.read == "all" or lossless is None else lossless.priorities
        )
        priorities = [p for p in _PRIORITIES if own_priorities is None or p in own_priorities]
        for place, source in enumerate(metric.sources):
            of = "priority" if by_priority else source.of
            if source.table in unread or any(
                GROUP_OF.get((counter, of)) in off for counter in source.counters
            ):
                continue
            for priority in priorities if by_priority else (None,):
                own = () if priority is None else (("priority", priority),)
                labels = "".join(f",{label_text((pair,))}" for pair in (*own, *source.labels))
                fields = tuple(fields_of(source, counter, priority) for counter in source.counters)
                template = _Template(number, place, labels, fields, metric.read == "all")
                yield (source.database, source.table, source.of), template


def fields_of(source: Source, counter: str, priority: str | None) -> tuple[str, ...]:
    """Return the fields that may contain a counter of a source's objects; the first one with a value is used."""
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


TIMEOUT_S = 1.0
"""Seconds without a byte after which a redis is given up: on the same machine it answers in milliseconds."""
WAITING_S = 4.0
"""Seconds that a scrape waits for all redis servers, each for an equal share.

Two scrapes, one after the other, end within the 10 s that Prometheus allows a scrape unless it is told otherwise
(scrape_timeout).
"""
ANSWER_BYTES = 16 * MIB
"""The most bytes of all answers in a scrape: those of a switch with 512 ports and 8 priorities have 2 MB."""
OBJECTS = 32_768
"""The most objects of one ASIC: a switch with 1,024 ports, 20 queues and 8 priority groups a port has fewer."""
NAMES_BYTES = 2 * MIB
"""The most bytes of their names and oids, each of which is in some ten samples: twice those of so many objects."""
LABEL_BYTES = 255
"""The most bytes of a label that all samples have: host names have no more (RFC 1035, 2.3.4)."""
_MANY = re.compile(rb"[*~>][0-9]{7}")
"""The beginning of an answer with a million values or more: the parser takes memory for all before they come."""
_BEGUN = len("*999999")
_AT_ONCE = 256
"""Commands sent before their answers are read: redis serves other clients in between, and buffers few answers."""
_RECEIVED_BYTES = 1 << 16
_WHY_CHARACTERS = 200

Answer = Any
"""The answer to a command: a number, a list of values, or None for an error of redis, such as a row of another type."""


class ScrapeLimitError(OSError):
    """No seconds for a redis or bytes of answers are left in a scrape, or an answer is not of the shape asked for."""


class ScrapeLimits:
    """The seconds of waiting for each server, and the bytes of all answers, that a scrape may still use.

    ``away`` are servers that failed to answer: their other databases are skipped. ``clock`` returns seconds.
    """

    def __init__(self, servers: Collection[RedisServer], clock: Callable[[], float]) -> None:
        self.away: set[RedisServer] = set()
        self._left_s = dict.fromkeys(servers, WAITING_S / max(1, len(servers)))
        self._left_bytes = ANSWER_BYTES
        self._clock = clock

    @contextmanager
    def waiting(self, server: RedisServer) -> Iterator[float]:
        """Yield the seconds that a server may be waited for now; the time until the end of the block is counted.

        Raises:
            ScrapeLimitError: it has none left.
            OSError: the block fails; the message of a timeout names its seconds.
        """
        left_s = self._left_s[server]
        share = ScrapeLimitError(f"slow: its {WAITING_S / len(self._left_s):g} s of this scrape are used up")
        if left_s <= 0:
            raise share
        started = self._clock()
        try:
            yield min(TIMEOUT_S, left_s)
        except TimeoutError:
            raise (share if left_s < TIMEOUT_S else TimeoutError(f"nothing within {TIMEOUT_S:g} s")) from None
        finally:
            self._left_s[server] = left_s - (self._clock() - started)

    def count(self, received_bytes: int) -> None:
        """Count bytes of answers.

        Raises:
            ScrapeLimitError: they are more than a scrape reads.
        """
        self._left_bytes -= received_bytes
        if self._left_bytes < 0:
            raise ScrapeLimitError(f"more than {ANSWER_BYTES // MIB} MiB of answers in one scrape")


class Packets(NamedTuple):
    """Commands in the protocol of redis, with the number of values that each command of a packet is answered by.

    It is None for a single number, and :data:`_PAIRS` for any number of names and values.
    """

    packets: tuple[tuple[bytes, tuple[int | None, ...]], ...]


_PAIRS = -1


def packed(commands: Iterable[Sequence[str]]) -> Packets:
    """Return commands in the protocol of redis (https://redis.io/docs/latest/develop/reference/protocol-spec)."""
    each = iter(commands)
    packets = []
    while some := tuple(islice(each, _AT_ONCE)):
        packets.append((b"".join(map(_packed, some)), tuple(map(_values, some))))
    return Packets(tuple(packets))


def _packed(command: Sequence[str]) -> bytes:
    words = [word.encode() for word in command]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def _values(command: Sequence[str]) -> int | None:
    name, *words = command
    return {"HMGET": len(words) - 1, "HGETALL": _PAIRS}.get(name)


_TYPES = frozenset({bytes, type(None)})


def _fits(answer: Answer, values: int | None) -> bool:
    """Return whether an answer has the shape that its command asks for."""
    if values is None:
        return isinstance(answer, int)
    if not isinstance(answer, list):
        return False
    if values == _PAIRS:
        return len(answer) % 2 == 0 and {bytes}.issuperset(map(type, answer))
    return len(answer) == values and _TYPES.issuperset(map(type, answer))


class RedisReader:
    """A connection to one database, opened at the first query and again after it broke.

    ``why`` is the reason after a query without an answer that can be used, else empty.
    """

    def __init__(self, database: Database) -> None:
        self.why = ""
        self._database = database
        self._socket: socket | None = None
        self._parser: Any = None
        self._end = b""

    def ask(self, commands: Packets, limits: ScrapeLimits) -> list[Answer] | None:
        """Return the answers to these commands, None where the database does not give all of them (``why``)."""
        from hiredis import HiredisError

        # A redis that was started again has closed the connection: that is found out by using it.
        for _ in range(1 + (self._socket is not None)):
            try:
                answers = list(self._answers(commands, limits))
            except ConnectionError as error:
                self.refuse(error.strerror or str(error))
            except (HiredisError, OSError) as error:
                self.refuse((error.strerror if isinstance(error, OSError) else None) or str(error))
                return None
            else:
                self.why = ""
                return answers
        return None

    def __del__(self) -> None:
        """Close the connection when the reader is deleted."""
        self.close()

    def refuse(self, why: str) -> None:
        """Close the connection, as it gave no answer that can be used, and keep the reason in ``why``."""
        server = self._database.server
        self.why = f"{server.socket or f'{server.host}:{server.port}'}: {why[:_WHY_CHARACTERS]}"
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
        self._socket = self._parser = None

    def _answers(self, commands: Packets, limits: ScrapeLimits) -> Iterator[Answer]:
        from hiredis import ReplyError

        self._open(limits)
        for packet, shapes in commands.packets:
            self._send(packet, limits)
            for values in shapes:
                answer = self._answer(limits)
                if isinstance(answer, ReplyError):
                    yield None
                elif _fits(answer, values):
                    yield answer
                else:
                    raise ScrapeLimitError(
                        "an answer of another kind than was asked for: no redis, or a damaged one"
                    )

    def _open(self, limits: ScrapeLimits) -> None:
        if self._socket is not None:
            return
        from socket import AF_UNIX, create_connection, socket

        from hiredis import Reader, ReplyError

        server = self._database.server
        self._parser, self._end = Reader(), b""
        with limits.waiting(server) as timeout_s:
            if server.socket is None:
                self._socket = create_connection((server.host, server.port), timeout_s)
            else:
                self._socket = socket(AF_UNIX)
                self._socket.settimeout(timeout_s)
                self._socket.connect(server.socket)
        self._send(_packed(("SELECT", str(self._database.number))), limits)
        answer = self._answer(limits)
        if isinstance(answer, ReplyError):
            raise OSError(str(answer))

    def _send(self, packet: bytes, limits: ScrapeLimits) -> None:
        assert self._socket is not None
        with limits.waiting(self._database.server) as timeout_s:
            self._socket.settimeout(timeout_s)
            self._socket.sendall(packet)

    def _answer(self, limits: ScrapeLimits) -> Answer:
        """Return the next answer of redis; an error of it is a ``ReplyError`` as value."""
        assert self._socket is not None
        while (answer := self._parser.gets()) is False:
            with limits.waiting(self._database.server) as timeout_s:
                self._socket.settimeout(timeout_s)
                received = self._socket.recv(_RECEIVED_BYTES)
            if not received:
                raise ConnectionError("the connection was closed")
            limits.count(len(received))
            if _MANY.search(self._end + received):
                raise ScrapeLimitError("an answer of a million values or more")
            self._end = received[-_BEGUN:]
            self._parser.feed(received)
        return answer


METADATA = ("hostname", "hwsku", "platform")
_SIZE = ("DBSIZE",)
_ROWS = (
    ("DEVICE_METADATA|localhost", *METADATA),
    *((f"FLEX_COUNTER_TABLE|{group}", "FLEX_COUNTER_STATUS", "POLL_INTERVAL") for group in GROUPS),
)
_CONFIGURED = packed([_SIZE, *(("HMGET", *row) for row in _ROWS)])
_NAMES = packed([_SIZE, *(("HGETALL", name_map) for name_map in MAPS.values())])
_PFC_MAPS = ("MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP")
_PFC = ("pfc_enable", "pfcwd_sw_enable", "pfc_to_queue_map", "pfc_to_pg_map")
"""Fields of PORT_QOS_MAP: priorities with PFC and with a watchdog, and maps of PFC, which are the identity if absent
(sonic-swss orchagent/qosorch.cpp @e6b0c5b)."""
_PRIORITY = re.compile(r"(?<![0-9])[0-7](?![0-9])")
_STATUS = (("enable", 1), ("disable", 0))
_MS_PER_S = 1000


class Polling(NamedTuple):
    """The polling of a group of counters: on or off (1 or 0), and its interval; None without such a value."""

    enabled: float | None
    interval_s: float | None


class SwitchSettings(NamedTuple):
    """The settings in CONFIG_DB: values of ``METADATA`` of 1 to 255 bytes, and the polling of each counter group."""

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
    """The databases of one namespace. It keeps its connections, and its plan while objects, polling and labels stay.

    ``up`` has for each database whether it answered in this scrape and is not empty. ``everything``: metrics, windows,
    queues, groups and priorities are served that no rule, alert or dashboard reads, too.
    """

    def __init__(self, namespace: Namespace, *, everything: bool) -> None:
        self.name = namespace.name
        self._everything = everything
        self._lossless: LosslessNumbers | None = None
        self.up: dict[str, bool] = {}
        self._places = namespace.databases
        self._readers = {name: RedisReader(place) for name, place in namespace.databases.items()}
        self._planned: _CurrentPlan | None = None

    def close(self) -> None:
        """Close the connections to the databases."""
        for reader in self._readers.values():
            reader.close()

    @property
    def unanswered(self) -> Iterator[str]:
        """The databases that did not answer the last query, each with the reason."""
        of = f" of {self.name}" if self.name else ""
        return (f"{name}{of}: {reader.why}" for name, reader in self._readers.items() if reader.why)

    def configured(self, limits: ScrapeLimits) -> SwitchSettings:
        """Return the settings in CONFIG_DB, which is the first database that a scrape reads."""
        self.up = dict.fromkeys(self._readers, False)
        metadata, *groups = self._ask("CONFIG_DB", _CONFIGURED, limits) or [None] * len(_ROWS)
        named = zip(METADATA, metadata or (), strict=False)
        present = {name: _text(value) for name, value in named if value and len(value) <= LABEL_BYTES}
        return SwitchSettings(present, dict(zip(GROUPS, map(_polling, groups), strict=True)))

    def read(
        self, off: frozenset[str], labels: Sequence[tuple[str, str]], limits: ScrapeLimits
    ) -> tuple[ReadingPlan, Answers]:
        """Return the plan of this scrape, and the values of each of its rows; both empty without names to read."""
        if "COUNTERS_DB" not in self._readers:
            return ReadingPlan((), ()), ()
        maps = self._ask("COUNTERS_DB", _NAMES, limits) or [None] * len(MAPS)
        if why := _too_much(maps):
            self._readers["COUNTERS_DB"].refuse(why)
            self.up["COUNTERS_DB"] = False
            return ReadingPlan((), ()), ()
        self._learn_lossless(_pairs(maps[0] or ()), limits)
        plan, commands = self._plan(maps, off, labels)
        answers = {name: iter(self._ask(name, packets, limits) or ()) for name, packets in commands.items()}
        return plan, [next(answers[row.database], ()) or (None,) * len(row.fields) for row in plan.rows]

    def _learn_lossless(self, ports: Iterable[str], limits: ScrapeLimits) -> None:
        """Add the priorities with PFC or a watchdog in CONFIG_DB, their queues and groups, to those known before.

        A priority that was lossless stays among them, so that its metrics do not end with a wrong configuration.
        """
        if self._everything or "CONFIG_DB" not in self._readers or not self.up["CONFIG_DB"]:
            return
        rows = self._ask("CONFIG_DB", _of_ports(tuple(ports)), limits) or ()
        pfc = {tuple(None if value is None else _text(value) for value in row or ()) for row in rows} - {()}
        named = {
            (table, name) for _, _, *maps in pfc for table, name in zip(_PFC_MAPS, maps, strict=True) if name
        }
        asked = [("HGETALL", f"{table}|{name}") for table, name in sorted(named)]
        answers = (self._ask("CONFIG_DB", packed([_SIZE, *asked]), limits) or ()) if asked else ()
        entries = {key: _pairs(answer or ()) for key, answer in zip(sorted(named), answers, strict=False)}
        known = self._lossless or LosslessNumbers(frozenset(), frozenset(), frozenset())
        for enabled, watched, *maps in pfc:
            own = frozenset(_PRIORITY.findall(f"{enabled},{watched}"))
            queues, groups = (
                {entries.get((table, name or ""), {}).get(priority, priority) for priority in own}
                for table, name in zip(_PFC_MAPS, maps, strict=True)
            )
            known = LosslessNumbers(known.priorities | own, known.queues | queues, known.groups | groups)
        self._lossless = known if known.priorities else None

    def _plan(
        self, maps: Sequence[Answer], off: frozenset[str], labels: Sequence[tuple[str, str]]
    ) -> tuple[ReadingPlan, dict[str, Packets]]:
        made_of = (maps, off, tuple(labels), self._lossless)
        if self._planned is None or self._planned.made_of != made_of:
            objects = {of: _pairs(answer or ()) for of, answer in zip(MAPS, maps, strict=True)}
            plan = plan_of(objects, off, labels, self._lossless, everything=self._everything)
            self._planned = _CurrentPlan(made_of, plan, _commands(plan, self._readers))
        return self._planned.plan, self._planned.commands

    def _ask(self, name: str, commands: Packets, limits: ScrapeLimits) -> list[Answer] | None:
        """Return the answers of a database to the commands after DBSIZE, None where it does not answer.

        A database on a server that failed to answer in this scrape is skipped, because it would cause another timeout.
        """
        server = self._places[name].server
        answers = None if server in limits.away else self._readers[name].ask(commands, limits)
        if answers is None:
            limits.away.add(server)
            self.up[name] = False
            return None
        self.up[name] = bool(answers[0])
        return answers[1:]


@lru_cache(maxsize=64)
def _of_ports(ports: tuple[str, ...]) -> Packets:
    """Return the commands for PFC of ports in CONFIG_DB."""
    return packed([_SIZE, *(("HMGET", f"PORT_QOS_MAP|{port}", *_PFC) for port in ports)])


def _commands(plan: ReadingPlan, databases: Iterable[str]) -> dict[str, Packets]:
    """Return by database but CONFIG_DB the command for its size, then those that read the plan's rows in it."""
    return {
        name: packed([_SIZE, *(("HMGET", row.key, *row.fields) for row in plan.rows if row.database == name)])
        for name in databases
        if name != "CONFIG_DB"
    }


def _too_much(maps: Sequence[Answer]) -> str:
    """Return why the name maps of COUNTERS_DB are too large: too many objects, or too long names; empty if not."""
    count = sum(len(names or ()) for names in maps) // 2
    if count > OBJECTS:
        return f"{count:,} objects; the most that is read is {OBJECTS:,}"
    size = sum(len(word) for names in maps for word in names or ())
    return f"names of {size:,} bytes; the most that is read is {NAMES_BYTES:,}" if size > NAMES_BYTES else ""


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
    Answers = Sequence[Sequence[bytes | None]]
    """The values of each row that was read; None for a field that the row lacks."""

_MOST = 2**64 - 1
"""Counters of SAI have 64 bits (opencomputeproject/SAI inc/saitypes.h @b1e1bd2, sai_stat_value_t)."""
_DIGITS = len(str(_MOST)) - 1
"""A number with up to this many digits fits into 64 bits."""


def lines_of(batch: SourceSamples, answers: Answers) -> Iterator[tuple[bytes, bytes]]:
    """Yield the samples of one source of a metric that have a value: name and labels, and the value as text."""
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
    """Return the number in a field (0 to 2**64 - 1), or the one that ``words`` has for its text; None for others."""
    if stored is None:
        return None
    text = stored.decode(errors="replace")
    if words:
        return dict(words).get(text)
    value = stored_value(text)
    return value if isinstance(value, int | float) and 0 <= value <= _MOST else None
