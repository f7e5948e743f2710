"""The ports of one device: rows of CONFIG_DB to objects of the fabric model, shared by all ports that name them.

A row of PORT_QOS_MAP, QUEUE, BUFFER_PG or BUFFER_QUEUE names others, and each of these becomes one object.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, TypeVar

from lossless.formats.sonic.effective.objects import (
    UINT64,
    index_range as programmed_range,
    stoi,
    to_uint,
    unsigned8,
)
from lossless.formats.sonic.effective.programmed import lossless_ranges
from lossless.formats.sonic.read.tables import (
    PORT_MAPS,
    Card,
    ConfigRow,
    NumberedKeys,
    RowOverlap,
    card_of,
    names_in,
    read_priorities,
    whole_number,
)
from lossless.formats.sonic.to_model.trimming import COMPUTED, DISCARD_ACTION, TRIM
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.model.fabric.qos import (
    COLOURS,
    PRIORITIES,
    UNREADABLE,
    BufferProfile,
    Curve,
    IndexMap,
    Pool,
    PortQos,
    PriorityGroup,
    PriorityMask,
    Queue,
    Scheduler,
    Watchdog,
    Wred,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lossless.formats.sonic.read.tables import Tables
    from lossless.ground.basics.records import Maybe
    from lossless.model.fabric.model import Cable


_T = TypeVar("_T")

_MAP_SIZE = {"DSCP_TO_TC_MAP": 64}


class Objects:
    """The QoS maps, schedulers, WRED profiles, pools and buffer profiles of one device, by name."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._maps: dict[tuple[str, str], IndexMap | None] = {}

    @staticmethod
    def referred(row: ConfigRow, field: str, objects: Mapping[str, _T]) -> _T | None:
        """Return the object that a row refers to by name, None without a reference or object (see rule CFG002)."""
        return objects.get(row.reference(field))

    @cached_property
    def schedulers(self) -> dict[str, Scheduler]:
        """SCHEDULER rows by name. Type WRR is the YANG default (sonic-scheduler.yang @086b03b)."""
        return {name: self._scheduler(name, row) for name, row in self.tables.table("SCHEDULER").items()}

    @cached_property
    def wreds(self) -> dict[str, Wred]:
        """WRED_PROFILE rows by name."""
        return {name: self._wred(name, row) for name, row in self.tables.table("WRED_PROFILE").items()}

    @cached_property
    def pools(self) -> dict[str, Pool]:
        """BUFFER_POOL rows by name."""
        return {name: self._pool(name, row) for name, row in self.tables.table("BUFFER_POOL").items()}

    @cached_property
    def profiles(self) -> dict[str, BufferProfile]:
        """BUFFER_PROFILE rows by name."""
        return {name: self._profile(name, row) for name, row in self.tables.table("BUFFER_PROFILE").items()}

    @cached_property
    def computed_profiles(self) -> frozenset[str]:
        """Buffer profiles whose headroom the dynamic model computes: those with ``headroom_type`` dynamic.

        Source: sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b (refreshPgsForPort).
        """
        rows = self.tables.table("BUFFER_PROFILE").items()
        return frozenset(name for name, row in rows if row.fields.get("headroom_type") == "dynamic")

    def index_map(self, table: str, name: str) -> IndexMap | None:
        """Return the QoS map of a table by its name, None where there is none."""
        key = (table, name)
        if key not in self._maps:
            row = self.tables.row(table, name)
            self._maps[key] = None if row is None else self._index_map(table, name, row)
        return self._maps[key]

    def _index_map(self, table: str, name: str, row: ConfigRow) -> IndexMap:
        targets: list[int | None] = [None] * _MAP_SIZE.get(table, 8)
        # Where 26 and 026 both stand, 26 counts, whichever is first in the file.
        for index_text, target_text in sorted(
            row.fields.items(), reverse=True, key=lambda item: len(item[0])
        ):
            read, target = stoi(index_text), stoi(target_text)
            # What is no index and no target is reported by the rules SWS001 and SWS002.
            if read is not None and (index := unsigned8(read)) < len(targets):
                targets[index] = UNREADABLE if target is None or unsigned8(target) >= 8 else unsigned8(target)
        return IndexMap(name, tuple(targets), self.tables.origin(table, row))

    def _scheduler(self, name: str, row: ConfigRow) -> Scheduler:
        number = self.tables.number
        return Scheduler(
            name=name,
            kind=row.fields.get("type", "WRR"),
            weight=number("SCHEDULER", row, "weight"),
            origin=self.tables.origin("SCHEDULER", row),
            cir=number("SCHEDULER", row, "cir"),
            pir=number("SCHEDULER", row, "pir"),
            meter=row.fields.get("meter_type", "bytes"),
        )

    def _wred(self, name: str, row: ConfigRow) -> Wred:
        green, yellow, red = (self._curve(row, colour) for colour in COLOURS)
        return Wred(name, green, yellow, red, self.tables.origin("WRED_PROFILE", row))

    def _curve(self, row: ConfigRow, colour: str) -> Curve:
        mode = row.fields.get("ecn", "ecn_none")
        number = self.tables.number
        return Curve(
            enabled=row.fields.get(f"wred_{colour}_enable") == "true",
            marks=mode == "ecn_all" or colour in mode.split("_"),
            min_bytes=number("WRED_PROFILE", row, f"{colour}_min_threshold"),
            max_bytes=number("WRED_PROFILE", row, f"{colour}_max_threshold"),
            probability_percent=number("WRED_PROFILE", row, f"{colour}_drop_probability"),
        )

    def _pool(self, name: str, row: ConfigRow) -> Pool:
        number, fields = self.tables.number, row.fields
        return Pool(
            name=name,
            kind=fields.get("type", ""),
            mode=fields.get("mode", ""),
            size_bytes=number("BUFFER_POOL", row, "size"),
            shared_headroom_bytes=number("BUFFER_POOL", row, "xoff"),
            origin=self.tables.origin("BUFFER_POOL", row),
            percent=number("BUFFER_POOL", row, "percentage"),
        )

    def _profile(self, name: str, row: ConfigRow) -> BufferProfile:
        def number(field: str) -> int | None:
            return self.tables.number("BUFFER_PROFILE", row, field)

        return BufferProfile(
            name=name,
            pool=self.referred(row, "pool", self.pools),
            reserved_bytes=number("size") or 0,
            headroom_bytes=number("xoff"),
            xon_bytes=number("xon"),
            xon_offset_bytes=number("xon_offset"),
            dynamic_th=number("dynamic_th"),
            static_th_bytes=number("static_th"),
            origin=self.tables.origin("BUFFER_PROFILE", row),
            trims=row.fields.get(DISCARD_ACTION) == TRIM,
        )

    def mask(self, row: ConfigRow, field: str) -> PriorityMask | None:
        """Return the priorities in ``pfc_enable`` or ``pfcwd_sw_enable`` of a row, None where the field is absent."""
        text = row.fields.get(field)
        if text is None:
            return None
        return PriorityMask(read_priorities(text), self.tables.origin("PORT_QOS_MAP", row, field))

    def watchdog(self, port: str) -> Watchdog | None:
        """Return the PFC watchdog of a port, None without a row.

        Action drop is orchagent's default (pfcwdorch.cpp @e6b0c5b).
        """
        row = self.tables.row("PFC_WD", port)
        if row is None:
            return None
        return Watchdog(
            detection_ms=_timer_ms(row, "detection_time"),
            restoration_ms=_timer_ms(row, "restoration_time"),
            action=row.fields.get("action", "drop"),
            origin=self.tables.origin("PFC_WD", row),
        )


def _timer_ms(row: ConfigRow, field: str) -> int | None:
    """Return a watchdog timer as orchagent reads it (``0x200`` too), a negative one as written; None if unreadable."""
    text = row.fields.get(field, "")
    return whole_number(text) if text.startswith("-") else to_uint(text, 0, UINT64 - 1)


if TYPE_CHECKING:
    Generate = Callable[[int | None, Cable], Maybe[BufferProfile]]
    """Returns the profile that buffermgrd makes for a group by speed and cable: None if none, UNKNOWN if not known."""

Slots = dict[int, "ConfigRow"]
_VOQ_KEYED = ("QUEUE", "BUFFER_QUEUE")
_FIELDS = attrgetter("fields")
_ITEMS = methodcaller("items")
LAST_INDEX = 255
"""Ranges are read this far: far beyond the queues of any port, and short of filling the memory."""


class PortRows(NamedTuple):
    """The CONFIG_DB rows of one port, of queues and groups by number; ``unmade``: buffermgrd adds no groups to them."""

    qos: ConfigRow | None
    watchdog: ConfigRow | None
    queues: Slots
    queue_buffers: Slots
    groups: Slots
    lists: tuple[str, str]
    unmade: bool

    @property
    def numbered(self) -> tuple[Slots, Slots, Slots]:
        """The rows of QUEUE, BUFFER_QUEUE and BUFFER_PG by number."""
        return self.queues, self.queue_buffers, self.groups

    @property
    def rewritten(self) -> tuple[int, ...]:
        """The priority groups whose rows buffermgrd overrides with the profile that it makes for speed and cable.

        buffermgrd writes a row for each range of consecutive numbers in ``pfc_enable``, if the row of PORT_QOS_MAP is
        of one port. It replaces a configured row of the same key. Of several rows with a number, the last in the order
        of keys counts. Source: sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b, doSpeedUpdateTask.
        """
        if self.qos is None or self.unmade or "," in self.qos.key:
            return ()
        made = _made_by(self.qos.fields.get("pfc_enable", ""))
        port = self.qos.key
        return tuple(
            n
            for n, row in self.groups.items()
            if (text := made.get(n)) is not None and row.key.replace("|", ":") <= f"{port}:{text}"
        )


@lru_cache(maxsize=256)
def _made_by(pfc_enable: str) -> Mapping[int, str]:
    """Return the range (``3-4``) in the key of the BUFFER_PG row that buffermgrd writes for a group, by group."""
    return {n: text for text in lossless_ranges(pfc_enable) for n in index_range(text) or ()}


class RowIndex:
    """Rows of the port-keyed tables by port, so that no table is scanned once per port."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._own = _own_card(tables)
        self._numbered = {name: self._by_port(name) for name in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG")}

    def _by_port(self, table: str) -> dict[str, Slots]:
        slots_by_port: dict[str, Slots] = {}
        ports: dict[str, str | None] = {}
        ranges: dict[str, range | None] = {}
        malformed: list[ConfigRow] = []
        overlaps: list[RowOverlap] = []
        # Rows that overlap are applied in the order of keys, as tables have them.
        for key, row in self._tables.table(table).items():
            place, _, numbers_text = key.rpartition("|")
            if place not in ports:
                ports[place] = self._port(table, place)
            if numbers_text not in ranges:
                ranges[numbers_text] = index_range(numbers_text)
            port, numbers = ports[place], ranges[numbers_text]
            if port is None or numbers is None:
                malformed.append(row)
            elif port:
                slots = slots_by_port.get(port)
                if slots is None:
                    slots_by_port[port] = dict.fromkeys(numbers, row)
                    continue
                if not slots.keys().isdisjoint(numbers):
                    overlaps += _overlaps(port, slots, numbers, row)
                for number in numbers:
                    earlier = slots.get(number) if table == "QUEUE" else None
                    slots[number] = row if earlier is None else _added(earlier, row)
        self._tables.keys[table] = NumberedKeys(slots_by_port.keys(), ranges, malformed, overlaps)
        return slots_by_port

    def _port(self, table: str, place: str) -> str | None:
        """Return the port of a row; empty for a port of another card of a chassis or a refused row, None for no port.

        With virtual output queues the keys of queues name host and ASIC too: the host exactly, the ASIC in any case
        (sonic-swss orchagent/qosorch.cpp @bcd579d, handleQueueTable); a row without them is refused there. On other
        devices, and for priority groups, a row with them is refused; rule SCM006 reports both.
        """
        parts = place.split("|")
        if len(parts) == 1:
            return "" if self._own.voq and table in _VOQ_KEYED else place or None
        if len(parts) != 3 or "," in parts[2]:
            return None
        return parts[2] if table in _VOQ_KEYED and self._own.is_named(*parts[:2]) else ""

    def ports(self) -> set[str]:
        """Return the names of the ports in PORT_QOS_MAP, QUEUE, BUFFER_QUEUE and BUFFER_PG."""
        names = set(self._tables.table("PORT_QOS_MAP")) - {"global"}
        return names.union(*self._numbered.values())

    def rows_of(self, port: str) -> PortRows:
        """Return the QoS, watchdog and buffer rows of one port."""
        tables = self._tables
        return PortRows(
            qos=tables.row("PORT_QOS_MAP", port),
            watchdog=tables.row("PFC_WD", port),
            queues=self._numbered["QUEUE"].get(port, {}),
            queue_buffers=self._numbered["BUFFER_QUEUE"].get(port, {}),
            groups=self._numbered["BUFFER_PG"].get(port, {}),
            lists=(self._list("INGRESS", port), self._list("EGRESS", port)),
            unmade=port in tables.unmade,
        )

    def _list(self, side: str, port: str) -> str:
        row = self._tables.row(f"BUFFER_PORT_{side}_PROFILE_LIST", port)
        return row.fields.get("profile_list", "") if row else ""


def _overlaps(port: str, slots: Slots, numbers: range, later: ConfigRow) -> Iterator[RowOverlap]:
    earlier = {slots[n].key: slots[n] for n in numbers if n in slots}
    for row in earlier.values():
        yield RowOverlap(port, tuple(n for n in numbers if slots.get(n) is row), row, later)


def _added(earlier: ConfigRow, later: ConfigRow) -> ConfigRow:
    """Return a QUEUE row with the fields that it lacks of an earlier row of the queue: each field is applied by itself.

    Source: sonic-swss orchagent/qosorch.cpp @e6b0c5b, handleQueueTable.
    """
    if earlier.fields.keys() <= later.fields.keys():
        return later
    return ConfigRow(later.key, {**earlier.fields, **later.fields})


def index_range(text: str) -> range | None:
    """Return ``3`` or ``3-4`` as numbers, up to :data:`LAST_INDEX`; None for forms that orchagent rejects (``4-3``)."""
    numbers = programmed_range(text)
    return range(numbers.start, min(numbers.stop, LAST_INDEX + 1)) if isinstance(numbers, range) else None


def _own_card(tables: Tables) -> Card:
    row = tables.row("DEVICE_METADATA", "localhost")
    return card_of(row.fields) if row and row.fields else _only_card(tables)


def _only_card(tables: Tables) -> Card:
    """Return the card that all queue rows of a fragment name; without names if they name several cards or none."""
    keys = {
        tuple(key.split("|")[:2])
        for table in _VOQ_KEYED
        for key in tables.table(table)
        if key.count("|") == 3
    }
    if len(keys) == 1:
        host, asic = keys.pop()
        return Card(host, asic.lower())
    if keys:
        tables.unread.append(f"rows of {len(keys)} cards of a chassis, and nothing says which is this device")
    return Card(None, None)


class QosReader:
    """Builds the QoS of ports, one object for ports of equal rows, speed and cable length."""

    def __init__(self, objects: Objects, dynamic: bool, generate: Generate) -> None:
        self._objects = objects
        self._tables = objects.tables
        self._dynamic = dynamic
        self._generate = generate
        self._built: dict[object, PortQos] = {}
        self._as_written: dict[object, PortQos] = {}
        self._contents = _Contents()

    def read(self, rows: PortRows, speed_bps: int | None, cable: Cable) -> PortQos:
        """Return the QoS of a port; ports with equal rows, speed, cable length and changes by buffermgrd share one."""
        link = (rows.lists, speed_bps, cable.configured_m, rows.unmade, rows.rewritten)
        written = (_written(rows.qos), _written(rows.watchdog), *map(_written_slots, rows.numbered), link)
        qos = self._as_written.get(written)
        if qos is None:
            says = self._contents.of
            slots = [tuple((n, says(slots[n])) for n in sorted(slots)) for slots in rows.numbered]
            content = (says(rows.qos), says(rows.watchdog), *slots, link)
            qos = self._built.get(content) or self._build(rows, speed_bps, cable)
            self._built[content] = self._as_written[written] = qos
        return qos

    def _build(self, rows: PortRows, speed_bps: int | None, cable: Cable) -> PortQos:
        qos, objects = rows.qos, self._objects

        def bound(field: str) -> IndexMap | None:
            name = qos.reference(field) if qos else ""
            return objects.index_map(PORT_MAPS[field], name) if name else None

        nowhere = self._tables.origin("PORT_QOS_MAP")
        pfc = (objects.mask(qos, "pfc_enable") if qos else None) or PriorityMask(
            (), self._tables.origin("PORT_QOS_MAP", qos) if qos else nowhere
        )
        return PortQos(
            # A reference that leads nowhere makes the whole row wait; it does not fall back to the global map.
            dscp_to_tc=bound("dscp_to_tc_map")
            if qos and qos.reference("dscp_to_tc_map")
            else self._global_dscp_map(),
            tc_to_queue=bound("tc_to_queue_map"),
            tc_to_pg=bound("tc_to_pg_map"),
            pfc_to_queue=bound("pfc_to_queue_map"),
            pfc_to_pg=bound("pfc_to_pg_map"),
            trust_dot1p=bool(qos and qos.reference("dot1p_to_tc_map")),
            pfc=pfc,
            watchdog_mask=objects.mask(qos, "pfcwd_sw_enable") if qos else None,
            watchdog=objects.watchdog(rows.watchdog.key) if rows.watchdog else None,
            queues=tuple(self._queue(n, rows) for n in PRIORITIES),
            groups=tuple(self._group(n, rows, pfc, speed_bps, cable) for n in PRIORITIES),
            profile_lists=(self._listed(rows.lists[0]), self._listed(rows.lists[1])),
            origin=self._tables.origin("PORT_QOS_MAP", qos) if qos else nowhere,
            dot1p_to_tc=objects.index_map("DOT1P_TO_TC_MAP", qos.reference("dot1p_to_tc_map"))
            if qos
            else None,
        )

    def _listed(self, text: str) -> tuple[BufferProfile, ...]:
        profiles = self._objects.profiles
        return tuple(profiles[name] for name in names_in(text) if name in profiles)

    def _global_dscp_map(self) -> IndexMap | None:
        row = self._tables.row("PORT_QOS_MAP", "global")
        return self._objects.index_map("DSCP_TO_TC_MAP", row.reference("dscp_to_tc_map")) if row else None

    def _queue(self, number: int, rows: PortRows) -> Queue | None:
        row, buffer_row = rows.queues.get(number), rows.queue_buffers.get(number)
        if row is None and buffer_row is None:
            return None
        objects, tables = self._objects, self._tables
        origin = tables.origin("QUEUE", row) if row else tables.origin("BUFFER_QUEUE", buffer_row)
        return Queue(
            number=number,
            scheduler=objects.referred(row, "scheduler", objects.schedulers) if row else None,
            wred=objects.referred(row, "wred_profile", objects.wreds) if row else None,
            buffer=objects.referred(buffer_row, "profile", objects.profiles) if buffer_row else None,
            origin=origin,
            buffer_origin=tables.origin("BUFFER_QUEUE", buffer_row) if buffer_row else None,
        )

    def _group(
        self, number: int, rows: PortRows, pfc: PriorityMask, speed_bps: int | None, cable: Cable
    ) -> PriorityGroup | None:
        row = rows.groups.get(number)
        if row is not None:
            written = self._written_group(number, row)
            backed = written.lossless and (written.buffer is None or written.buffer.xoff_bytes > 0)
            if backed or self._dynamic or number not in rows.rewritten:
                return written
            made = self._generate(speed_bps, cable)
            if made is None or isinstance(made, Unknown) or made is written.buffer:
                return written
            return PriorityGroup(number, made, generated=True, origin=written.origin)
        if number not in pfc.priorities or self._dynamic or rows.unmade:
            return None
        generated = self._generate(speed_bps, cable)
        if generated is None:
            return None
        known = None if isinstance(generated, Unknown) else generated
        return PriorityGroup(number, known, generated=True, origin=pfc.origin)

    def _written_group(self, number: int, row: ConfigRow) -> PriorityGroup:
        objects, origin = self._objects, self._tables.origin("BUFFER_PG", row)
        profile = objects.referred(row, "profile", objects.profiles)
        if self._dynamic and row.reference("profile") in objects.computed_profiles:
            return PriorityGroup(number, None, generated=True, origin=origin, override=profile)
        computed = self._dynamic and row.reference("profile") in ("", COMPUTED)
        return PriorityGroup(number, None if computed else profile, computed, origin)


class _Contents:
    """Numbers for the contents of rows: rows with the same fields, in any order, have the same number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[tuple[str, str], ...], int] = {}

    def of(self, row: ConfigRow | None) -> int:
        """Return the number of a row's contents, 0 for no row."""
        if row is None:
            return 0
        return self._numbers.setdefault(tuple(sorted(row.fields.items())), len(self._numbers) + 1)


def _written(row: ConfigRow | None) -> tuple[tuple[str, str], ...] | None:
    return None if row is None else tuple(row.fields.items())


def _written_slots(slots: Slots) -> tuple[object, ...]:
    """Return the numbers of queue or group rows, and the rows' fields in the order of the file."""
    return (*slots, *map(tuple, map(_ITEMS, map(_FIELDS, slots.values()))))
