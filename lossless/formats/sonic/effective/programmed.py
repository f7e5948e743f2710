"""The state that SONiC's daemons program from a configuration, and the fate of each row that they do not apply.

buffermgrd copies the buffer tables and writes the lossless groups that it makes of speed, cable and PFC; orchagent
takes the rows of a table in the order of their keys, pools and profiles before rows that refer to them, maps before the
ports. A row waits if the row that it refers to is missing, a row that cannot be read is dropped, and a row that throws
stops its table: it and all rows behind it wait. As long as a row of BUFFER_PG or BUFFER_QUEUE of one port is not
applied, that port is not ready, and then no row of any QoS table and no watchdog is, on any port.

Source: sonic-swss cfgmgr/buffermgr.cpp, orchagent/orch.cpp, orchdaemon.cpp, portsorch.cpp (doPortTask), bufferorch.cpp,
qosorch.cpp, pfcwdorch.cpp @e6b0c5b. Further refusals by the SAI of a vendor are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from operator import methodcaller
from typing import TYPE_CHECKING, TypeVar

from lossless.formats.sonic.effective.objects import (
    EMPTY_ROW,
    Fate,
    Fields,
    IndexTargets,
    PoolSettings,
    PortSettings,
    ProfileSettings,
    SchedulerSettings,
    WatchdogSettings,
    WredSettings,
    dot1p_targets,
    index_range,
    index_targets,
    pool_settings,
    port_settings,
    profile_settings,
    rewritten_dscps,
    scheduler_settings,
    stoi,
    stol,
    to_uint,
    tokens,
    unresolved,
    watchdog_settings,
    wred_settings,
)
from lossless.formats.sonic.read.tables import bit_of, names_in
from lossless.ground.basics.records import Record
from lossless.model.hardware.buffers import INGRESS_LOSSLESS_POOL
from lossless.model.hardware.load import shared_headroom

if TYPE_CHECKING:
    from lossless.formats.sonic.read.tables import Tables
    from lossless.model.fabric.model import Switch
    from lossless.model.hardware.buffers import HeadroomRow

_T = TypeVar("_T")
Row = tuple[str, str]
"""The table and key of a row of CONFIG_DB."""

MAP_TABLES: Mapping[str, Callable[[Fields], IndexTargets | Fate]] = {
    "DSCP_TO_TC_MAP": index_targets,
    "DOT1P_TO_TC_MAP": dot1p_targets,
    "MPLS_TC_TO_TC_MAP": index_targets,
    "TC_TO_QUEUE_MAP": index_targets,
    "TC_TO_PRIORITY_GROUP_MAP": index_targets,
    "MAP_PFC_PRIORITY_TO_QUEUE": index_targets,
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": index_targets,
    "TC_TO_DSCP_MAP": rewritten_dscps,
    "TC_TO_DOT1P_MAP": index_targets,
}
PORT_FIELDS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "mpls_tc_to_tc_map": "MPLS_TC_TO_TC_MAP",
    "dot1p_to_tc_map": "DOT1P_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_dot1p_map": "TC_TO_DOT1P_MAP",
    "tc_to_dscp_map": "TC_TO_DSCP_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "scheduler": "SCHEDULER",
}
"""The fields of PORT_QOS_MAP that name an object, and its table (qos_to_ref_table_map)."""
BUFFER_LISTS = {
    "BUFFER_PORT_INGRESS_PROFILE_LIST": "ingress",
    "BUFFER_PORT_EGRESS_PROFILE_LIST": "egress",
}
RECLAIMING = ("mellanox", "barefoot")
"""Platforms whose buffermgrd removes the groups of ports that are down."""
_EIGHT_LANES_ANYWAY = ("400000", "800000")
"""Speeds in Mb/s whose computed profiles are not named after eight lanes."""
GROUPS = 8
_AS_IN_APPL_DB = methodcaller("replace", "|", ":")
_PRIORITIES = range(8)


class Platform(Record):
    """The facts on a switch that its daemons use beside CONFIG_DB.

    ``name`` is the ASIC's vendor as SONiC calls it, ``headroom`` gives the rows of the HWSKU's
    ``pg_profile_lookup.ini``, None if they are unknown, ``queues`` is the number of queues of a port; the upper half
    are multicast queues, and share the schedulers of the lower half. ``plain_references``: brackets around names are
    removed before (db_migrator).
    """

    name: str | None
    headroom: Callable[[], tuple[HeadroomRow, ...] | None]
    queues: int = 16
    plain_references: bool = False


class ProgrammedPort(Record):
    """The QoS and buffers of a port as the daemons program them.

    ``maps`` are names by field of PORT_QOS_MAP, ``groups`` buffer profiles by number, ``queues`` by number the names of
    bound objects: ``scheduler``, ``wred``, ``buffer``; ``lists`` are buffer profiles by direction.
    """

    settings: PortSettings
    ready: bool
    maps: Mapping[str, str]
    pfc: tuple[int, ...]
    watchdog_mask: tuple[int, ...]
    watchdog: WatchdogSettings | None
    queues: Mapping[int, Mapping[str, str]]
    groups: Mapping[int, str]
    lists: Mapping[str, tuple[str, ...]]


class Programmed(Record):
    """The programmed state of a switch.

    ``fates`` has the rows that are not applied; ``ended``: orchagent crashed at that row. ``unready`` are the ports
    that are not ready, each with the row that it waits for. ``generated`` are the rows that buffermgrd writes,
    ``computed`` the lossless profiles and the pools whose sizes scripts of the vendor compute in the dynamic model.
    ``undecided`` are ports whose groups the headroom rows of an unknown HWSKU decide. ``joined`` are ports whose PFC is
    in a row of several ports, with the key of that row: buffermgrd takes it for the name of one. ``recovery`` is the
    watchdog's action that a switch has as a whole (Broadcom), ``paused_off`` is whether BIG_RED_SWITCH is on.
    """

    ports: Mapping[str, ProgrammedPort]
    maps: Mapping[str, Mapping[str, IndexTargets]]
    schedulers: Mapping[str, SchedulerSettings]
    wreds: Mapping[str, WredSettings]
    pools: Mapping[str, PoolSettings]
    profiles: Mapping[str, ProfileSettings]
    global_map: str | None
    fates: Mapping[Row, Fate]
    unready: Mapping[str, Row]
    generated: Mapping[Row, Fields]
    computed: frozenset[str]
    undecided: frozenset[str]
    joined: Mapping[str, str]
    recovery: str | None
    paused_off: bool
    ended: Row | None


def program(tables: Tables, platform: Platform, *, whole: bool = True) -> Programmed:
    """Return the state that the daemons program from the rows of one device.

    With ``whole`` False it lacks WRED profiles, bindings of queues and watchdogs, on which no group, map or PFC
    depends.
    """
    return _Daemons(tables, platform, whole=whole).run()


class _Port:
    """A port while its rows are applied."""

    def __init__(self, settings: PortSettings) -> None:
        self.settings = settings
        self.maps: dict[str, str] = {}
        self.pfc: tuple[int, ...] = ()
        self.mask: tuple[int, ...] = ()
        self.watchdog: WatchdogSettings | None = None
        self.queues: dict[int, dict[str, str]] = {}
        self.groups: dict[int, str] = {}
        self.lists: dict[str, tuple[str, ...]] = {}

    def finished(self, *, ready: bool) -> ProgrammedPort:
        return ProgrammedPort(
            self.settings,
            ready,
            self.maps,
            self.pfc,
            self.mask,
            self.watchdog,
            self.queues,
            self.groups,
            self.lists,
        )


class _Daemons:
    """Applies the CONFIG_DB rows of one device as buffermgrd and orchagent do."""

    def __init__(self, tables: Tables, platform: Platform, *, whole: bool) -> None:
        self.platform = platform
        self.whole = whole
        plain = platform.plain_references
        self.rows = {table: _rows(tables, table, plain=plain) for table in (*_TABLES, *MAP_TABLES)}
        meta = self.rows["DEVICE_METADATA"].get("localhost", {})
        self.dynamic = meta.get("buffer_model") == "dynamic"
        self.card = None
        if meta.get("switch_type") == "voq":
            self.card = meta.get("hostname", ""), meta.get("asic_name", "").lower()
        self.fates: dict[Row, Fate] = {}
        self.ports: dict[str, _Port] = {}
        self.ready: dict[str, bool] = {}
        self.generated: dict[Row, Fields] = {}
        self.computed: frozenset[str] = frozenset()
        self.undecided: set[str] = set()
        self.joined: dict[str, str] = {}
        self.paused_off = False
        self.recovery: str | None = None
        self.ended: Row | None = None

    def run(self) -> Programmed:
        created = self._objects("PORT", port_settings)
        self.ports = {name: _Port(settings) for name, settings in created.items()}
        waiting = self._tracked()
        if self.dynamic:
            self._compute()
        else:
            self._generate()
        if not self.rows["PORT"]:
            # Without one port there is no PortConfigDone, and the buffer tables wait for it.
            for table in _BUFFER_TABLES:
                self.fates.update(((table, key), Fate("waits")) for key in self.rows.pop(table))
                self.rows[table] = {}
        pools = self._objects("BUFFER_POOL", pool_settings)
        profiles = self._objects("BUFFER_PROFILE", lambda fields: profile_settings(fields, pools))
        if INGRESS_LOSSLESS_POOL in pools:
            computed = ProfileSettings(INGRESS_LOSSLESS_POOL, 0, None, None, None, None, None, None)
            profiles.update(dict.fromkeys(self.computed - pools.keys(), computed))
        self._buffers("BUFFER_PG", profiles)
        self._buffers("BUFFER_QUEUE", profiles)
        for table, side in BUFFER_LISTS.items():
            self._lists(table, side, profiles)
        unready = {port: row for port, rows in waiting.items() for row in self._first_missing(rows)}
        maps: dict[str, dict[str, IndexTargets]] = {table: {} for table in MAP_TABLES}
        schedulers: dict[str, SchedulerSettings] = {}
        wreds: dict[str, WredSettings] = {}
        global_map = None
        if not unready and self.ended is None:
            maps = {table: self._objects(table, read) for table, read in MAP_TABLES.items()}
            schedulers = self._objects("SCHEDULER", scheduler_settings)
            known: dict[str, Mapping[str, object]] = {**maps, "SCHEDULER": schedulers}
            global_map = self._port_maps(known)
            if self.whole:
                wreds = self._objects("WRED_PROFILE", wred_settings)
                self._drain("QUEUE", lambda key, fields: self._queue(key, fields, schedulers, wreds))
                self._drain("PFC_WD", self._watchdog)
            self.paused_off = self.rows["PFC_WD"].get("GLOBAL", {}).get("BIG_RED_SWITCH") == "enable"
            if self.paused_off:
                self._stop_pausing()
        return Programmed(
            {name: port.finished(ready=name not in unready) for name, port in self.ports.items()},
            maps,
            schedulers,
            wreds,
            pools,
            profiles,
            global_map,
            self.fates,
            unready,
            self.generated,
            self.computed,
            frozenset(self.undecided),
            self.joined,
            self.recovery,
            self.paused_off,
            self.ended,
        )

    def _objects(self, table: str, read: Callable[[Fields], _T | Fate]) -> dict[str, _T]:
        """Apply the rows of a table in order of keys; return the settings of each applied row, by key."""
        objects: dict[str, _T] = {}

        def apply(key: str, fields: Fields) -> Fate | None:
            value = read(fields)
            if isinstance(value, Fate):
                return value
            objects[key] = value
            return None

        self._drain(table, apply)
        return objects

    def _drain(
        self,
        table: str,
        apply: Callable[[str, Fields], Fate | None],
    ) -> None:
        """Apply the rows of a table in the order of their keys, up to one that throws."""
        thrower = None
        rows = self.rows[table]
        for key in sorted(rows):
            fate = Fate("behind", on=thrower) if thrower else apply(key, rows[key])
            if fate is not None:
                self.fates[table, key] = fate
                if fate.kind == "throws" and thrower is None:
                    thrower = (table, key)

    def _tracked(self) -> dict[str, list[Row]]:
        """Return the BUFFER_PG and BUFFER_QUEUE rows that each port waits for, by port; of a chassis, BUFFER_PG alone.

        A queue and a group of one key count as one (``m_ready_list``).
        """
        waiting: dict[str, list[Row]] = {}
        for table in ("BUFFER_PG", "BUFFER_QUEUE") if self.card is None else ("BUFFER_PG",):
            for key in self.rows[table]:
                names, text = self._key("BUFFER_PG", key)
                if text:
                    self.ready.setdefault(_appl_key(key), False)
                    for port in names:
                        if port in self.ports:
                            waiting.setdefault(port, []).append((table, key))
        return waiting

    def _first_missing(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        missing = (row for row in rows if not self.ready.get(_appl_key(row[1]), False))
        return tuple([*missing][:1])

    # buffermgrd

    def _generate(self) -> None:
        """Write the lossless priority groups of ports with cable and PFC; some platforms remove those of down ports."""
        cables: dict[str, str] = {}
        for _, fields in sorted(self.rows["CABLE_LENGTH"].items()):
            cables.update((port, text) for port, text in fields.items() if text != "None")
        groups, profiles = self.rows["BUFFER_PG"], self.rows["BUFFER_PROFILE"]
        for port, fields in sorted(self.rows["PORT_QOS_MAP"].items()):
            if "," in port and "pfc_enable" in fields:
                self.joined.update((name, port) for name in tokens(port, ",") if name in self.ports)
            link = self.rows["PORT"].get(port)
            cable = cables.get(port)
            if link is None or cable is None or cable == "0m" or "pfc_enable" not in fields:
                continue
            speed = link.get("speed", "")
            name = f"pg_lossless_{speed}_{cable}_profile"
            keys = [f"{port}|{numbers}" for numbers in lossless_ranges(fields["pfc_enable"])]
            missing = [key for key in keys if groups.get(key, {}).get("profile") != name]
            if link.get("admin_status", "down") == "down" and self.platform.name in RECLAIMING:
                for key in {*keys}.difference(missing):
                    del groups[key]
                    self.ready[_appl_key(key)] = True
            elif not missing and profiles.get(name):
                continue
            elif self.headroom is None:
                self.undecided.add(port)
            elif (row := self.headroom.get((speed, cable))) is not None and self._headroom_profile(name, row):
                for key in missing:
                    self._write("BUFFER_PG", key, {"profile": name})

    @cached_property
    def headroom(self) -> dict[tuple[str, str], HeadroomRow] | None:
        """The rows of ``pg_profile_lookup.ini`` by speed and cable as CONFIG_DB has them; None if they are unknown."""
        rows = self.platform.headroom()
        return None if rows is None else {(str(r.speed_bps // 10**6), f"{r.cable_m}m"): r for r in rows}

    def _compute(self) -> None:
        """Name the profiles that the dynamic model computes for groups that name none, or one with a threshold alone.

        On some platforms, groups and queues of ports that are down are removed. Without the rows of
        DEFAULT_LOSSLESS_BUFFER_PARAMETER and LOSSLESS_TRAFFIC_PATTERN nothing is computed, and such groups wait. A
        value that a profile does not state is written empty, and orchagent throws over it. Source: sonic-swss
        cfgmgr/buffermgrdyn.cpp @e6b0c5b (refreshPgsForPort, updateBufferProfileToDb).
        """
        profiles, groups = self.rows["BUFFER_PROFILE"], self.rows["BUFFER_PG"]
        thresholds: dict[str, str] = {}
        for name, fields in [*profiles.items()]:
            if fields.get("headroom_type") == "dynamic":
                threshold = fields.get("dynamic_th", "")
                if stol(threshold) is not None:
                    thresholds[name] = threshold
                    del profiles[name]
                else:
                    # The profiles that are made of it have its threshold, and orchagent throws over that.
                    computed = {"pool": INGRESS_LOSSLESS_POOL, "size": "0"}
                    profiles[name] = {**computed, **fields, "dynamic_th": threshold}
        down = {
            port
            for port, created in self.ports.items()
            if not created.settings.admin_up and self.platform.name in RECLAIMING
        }
        for table in ("BUFFER_PG", "BUFFER_QUEUE"):
            for key in [key for key in self.rows[table] if key.partition("|")[0] in down]:
                del self.rows[table][key]
                self.ready[_appl_key(key)] = True
        cables = {port: text for row in self.rows["CABLE_LENGTH"].values() for port, text in row.items()}
        defaults = [
            fields.get("default_dynamic_th", "")
            for fields in self.rows["DEFAULT_LOSSLESS_BUFFER_PARAMETER"].values()
        ]
        default, patterns = next(iter(defaults), ""), self.rows["LOSSLESS_TRAFFIC_PATTERN"]
        steered = bool(default and patterns)
        # Where the script of the vendor fails, nothing has a size; orchagent throws over it, as over the threshold.
        fails = not all(_is_pattern(fields) for fields in patterns.values())
        broken: dict[str, Fields] = {}
        named: dict[str, Fields] = {}
        unmade: list[str] = []
        for key, fields in groups.items():
            profile, port = fields.get("profile", "NULL"), key.partition("|")[0]
            link, cable = self.rows["PORT"].get(port, {}), cables.get(port)
            if (profile == "NULL" or profile in thresholds) and steered and cable in (None, "0m"):
                unmade.append(key)
            elif (profile == "NULL" or profile in thresholds) and steered and port in self.ports:
                eight = len(tokens(link.get("lanes", ""), ",")) == 8
                lanes = "_8lane" if eight and link.get("speed") not in _EIGHT_LANES_ANYWAY else ""
                threshold = f"_th{thresholds[profile]}" if profile in thresholds else ""
                name = f"pg_lossless_{link.get('speed')}_{cable}{lanes}{threshold}_profile"
                named[key] = {**fields, "profile": name}
                if fails or (profile == "NULL" and stol(default) is None):
                    size = {} if fails else {"size": "0"}
                    broken[name] = {"size": "", "pool": INGRESS_LOSSLESS_POOL, "dynamic_th": default, **size}
        if not steered:
            # Seen on the daemons: the queues with the keys of such groups wait with them.
            for key in [key for key, fields in groups.items() if fields.get("profile", "NULL") == "NULL"]:
                self.rows["BUFFER_QUEUE"].pop(key, None)
        groups.update(named)
        for key in unmade:
            del groups[key]
            self.ready[_appl_key(key)] = True
        pools = self.rows["BUFFER_POOL"]
        for name, fields in profiles.items():
            if fields.get("pool", "") in ("", *pools):
                profiles[name] = {**_written_empty(fields), **fields}
        unsized = {name: {**fields, "size": "0"} for name, fields in pools.items() if "size" not in fields}
        pools.update(unsized)
        profiles.update(broken)
        made = {fields["profile"] for fields in named.values()}
        self.computed = frozenset({*made.difference(broken), *unsized})

    def _headroom_profile(self, name: str, row: HeadroomRow) -> bool:
        """Return whether a speed and cable have a buffer profile; a missing one is written if the pool has a mode."""
        if self.rows["BUFFER_PROFILE"].get(name):
            return True
        mode = self.rows["BUFFER_POOL"].get(INGRESS_LOSSLESS_POOL, {}).get("mode", "")
        if not mode:
            return False
        offset = {} if row.xon_offset_bytes is None else {"xon_offset": str(row.xon_offset_bytes)}
        fields = {
            "pool": INGRESS_LOSSLESS_POOL,
            "xon": str(row.xon_bytes),
            **offset,
            "xoff": str(row.headroom_bytes),
            "size": str(row.reserved_bytes),
            f"{mode}_th": str(row.threshold),
        }
        self._write("BUFFER_PROFILE", name, fields)
        return True

    def _write(self, table: str, key: str, fields: Fields) -> None:
        self.rows[table][key] = fields
        self.generated[table, key] = fields

    # `bufferorch.cpp`

    def _buffers(self, table: str, profiles: Mapping[str, ProfileSettings]) -> None:
        """Bind the buffer profiles of groups or queues, all at once after all rows are read; none if one row throws."""
        rows = self.rows[table]
        verdicts: dict[tuple[str, str | None], Fate | range] = {}
        bulk: list[tuple[str, list[str], range, str]] = []
        thrower = None
        for key in sorted(rows, key=_AS_IN_APPL_DB):
            names, text = self._key(table, key)
            profile = rows[key].get("profile")
            verdict = verdicts.get((text, profile))
            if verdict is None:
                verdict = verdicts[text, profile] = self._buffer(table, text, profile, profiles)
            if isinstance(verdict, range) and not self.ports.keys() >= {*names}:
                verdict = Fate("refused")
            if isinstance(verdict, range):
                bulk.append((key, names, verdict, profile or ""))
            else:
                self.fates[table, key] = verdict
                if verdict.kind == "throws":
                    thrower = (table, key)
                    break
        if thrower:
            behind = Fate("behind", on=thrower)
            self.fates.update(((table, key), behind) for key in rows if (table, key) not in self.fates)
            return
        for key, names, numbers, profile in bulk:
            if table == "BUFFER_PG":
                for name in names:
                    self.ports[name].groups.update(dict.fromkeys(numbers, profile))
            elif self.whole:
                self._bind(names, numbers, {"buffer": profile})
            self.ready[_appl_key(key)] = True

    def _buffer(
        self, table: str, text: str, profile: str | None, profiles: Mapping[str, ProfileSettings]
    ) -> Fate | range:
        """Return the numbers that a row of groups or queues binds a profile to, or the fate of the row."""
        numbers = index_range(text) if text else None
        if not isinstance(numbers, range):
            return Fate("throws" if numbers else "refused")
        if profile is None:
            return Fate("refused", "profile")
        if fate := unresolved("profile", profile, "BUFFER_PROFILE", profiles):
            return fate
        group = table == "BUFFER_PG"
        if group and profiles[profile].trims:
            return Fate("refused", "profile", profile)
        return numbers if numbers.stop <= (GROUPS if group else self.platform.queues) else Fate("refused")

    def _key(self, table: str, key: str) -> tuple[list[str], str]:
        """Return ports and numbers of a key: no numbers for a malformed key, no ports for that of another card."""
        if self.card is not None and table != "BUFFER_PG":
            parts = tokens(key, "|")
            if len(parts) != 4:
                return [], ""
            own = (parts[0], parts[1].lower()) == self.card
            return [parts[2]] if own else [], parts[3]
        head, _, text = key.partition("|")
        names = [head] if head and "," not in head else tokens(head, ",")
        return names, "" if "|" in text else text

    def _bind(self, names: Iterable[str], numbers: range, bound: Mapping[str, str]) -> None:
        count = self.platform.queues
        scheduler = {kind: name for kind, name in bound.items() if kind == "scheduler"}
        for name in names:
            queues = self.ports[name].queues
            for number in numbers:
                queues.setdefault(number, {}).update(bound)
                if scheduler:
                    queues.setdefault((number + count // 2) % count, {}).update(scheduler)

    def _lists(self, table: str, side: str, profiles: Mapping[str, ProfileSettings]) -> None:
        """Apply the buffer profile lists of one direction; an empty name in one of them makes all fail."""
        failed: Row | None = None

        def apply(key: str, fields: Fields) -> Fate | None:
            nonlocal failed
            text = fields.get("profile_list")
            if text is None:
                return Fate("refused", "profile_list")
            names = tokens(text, ",") if "," in text else [text]
            for name in names:
                if name and name not in profiles:
                    return Fate("waits", "profile_list", name, ("BUFFER_PROFILE", name))
            if names == [""]:
                self.ended = self.ended or (table, key)
            if any(name and profiles[name].trims for name in names):
                return Fate("refused", "profile_list", text)
            ports = tokens(key, ",")
            if any(port not in self.ports for port in ports):
                return Fate("refused")
            if "" in names:
                failed = failed or (table, key)
            for port in ports:
                self.ports[port].lists[side] = tuple(names)
            return None

        self._drain(table, apply)
        if failed:
            for key in self.rows[table]:
                self.fates.setdefault((table, key), Fate("refused", on=failed))
            for port in self.ports.values():
                port.lists.pop(side, None)

    # `qosorch.cpp`

    def _port_maps(self, known: Mapping[str, Mapping[str, object]]) -> str | None:
        global_map = None

        def apply(key: str, fields: Fields) -> Fate | None:
            nonlocal global_map
            if key == "global":
                name = fields.get("dscp_to_tc_map")
                if name is None:
                    return None
                if name not in known["DSCP_TO_TC_MAP"]:
                    return Fate("waits", "dscp_to_tc_map", name, ("DSCP_TO_TC_MAP", name))
                global_map = name
                return None
            maps: dict[str, str] = {}
            masks: dict[str, tuple[int, ...]] = {}
            for field, text in fields.items():
                if (table := PORT_FIELDS.get(field)) is not None:
                    if text not in known[table]:
                        # Of several maps that are missing one is named, whatever their order in the row.
                        return next(
                            Fate("waits", field, fields[field], (table, fields[field]))
                            for field, table in PORT_FIELDS.items()
                            if field in fields and fields[field] not in known[table]
                        )
                    maps[field] = text
                elif field in ("pfc_enable", "pfcwd_sw_enable"):
                    mask = priority_mask(text)
                    if mask is None:
                        return Fate("throws", field, text)
                    masks[field] = mask
            for name in tokens(key, ","):
                if (port := self.ports.get(name)) is not None:
                    port.maps.update(maps)
                    port.pfc = masks.get("pfc_enable", ())
                    port.mask = masks.get("pfcwd_sw_enable", ())
            return None

        self._drain("PORT_QOS_MAP", apply)
        return global_map

    def _queue(
        self,
        key: str,
        fields: Fields,
        schedulers: Mapping[str, SchedulerSettings],
        wreds: Mapping[str, WredSettings],
    ) -> Fate | None:
        names, text = self._key("QUEUE", key)
        numbers = index_range(text) if text else None
        if not isinstance(numbers, range):
            return Fate("throws" if numbers else "refused")
        bound = {}
        for field, kind, table, objects in (
            ("scheduler", "scheduler", "SCHEDULER", schedulers),
            ("wred_profile", "wred", "WRED_PROFILE", wreds),
        ):
            if (name := fields.get(field)) is not None:
                if fate := unresolved(field, name, table, objects):
                    return fate
                bound[kind] = name
        for name in names:
            if name not in self.ports:
                return Fate("refused")
            self._bind([name], range(numbers.start, min(numbers.stop, self.platform.queues)), bound)
            if bound and numbers.stop > self.platform.queues:
                return Fate("refused")
        return None

    # `pfcwdorch.cpp`

    def _watchdog(self, key: str, fields: Fields) -> Fate | None:
        if key == "GLOBAL":
            poll = fields.get("POLL_INTERVAL", "0")
            return Fate("throws", "POLL_INTERVAL", poll) if stoi(poll) is None else None
        port = self.ports.get(key)
        if port is None:
            return Fate("refused")
        settings = watchdog_settings(fields)
        if isinstance(settings, Fate):
            return settings
        if self.platform.name == "broadcom" and "action" in fields:
            # One recovery action holds for the whole switch, that of the first port.
            self.recovery = self.recovery or settings.action
            if self.recovery != settings.action:
                return Fate("refused", "action", settings.action)
        if not port.mask:
            return Fate("waits", on=("PORT_QOS_MAP", key))
        port.watchdog = settings
        return None

    def _stop_pausing(self) -> None:
        """Take PFC and buffers from the queues that are watched, as BIG_RED_SWITCH does."""
        for port in self.ports.values():
            if port.mask:
                port.pfc = tuple(priority for priority in port.pfc if priority not in port.mask)
                for number in port.mask:
                    port.queues.get(number, {}).pop("buffer", None)


_TABLES = (
    "DEVICE_METADATA",
    "PORT",
    "CABLE_LENGTH",
    "PORT_QOS_MAP",
    "QUEUE",
    "SCHEDULER",
    "WRED_PROFILE",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN",
    "PFC_WD",
)


_BUFFER_TABLES = tuple(table for table in _TABLES if table.startswith("BUFFER"))


def _rows(tables: Tables, table: str, *, plain: bool) -> dict[str, Fields]:
    """Return the rows of a table by the key they are written under; ``plain``: without brackets around names."""
    rows = {key: row.fields or EMPTY_ROW for key, row in tables.written(table).items()}
    if plain:
        return {
            key: {
                field: ",".join(names_in(text)) if text[:1] == "[" else text for field, text in fields.items()
            }
            for key, fields in rows.items()
        }
    return rows


def _written_empty(fields: Fields) -> Fields:
    """Return the empty fields that buffermgrd of the dynamic model writes for a buffer profile without them."""
    wanted = ("xon", "size") if "xoff" in fields else ("size",)
    empty = dict.fromkeys((field for field in wanted if field not in fields), "")
    return empty if "dynamic_th" in fields or "static_th" in fields else {**empty, "dynamic_th": ""}


def _is_pattern(fields: Fields) -> bool:
    """Return whether a LOSSLESS_TRAFFIC_PATTERN row has the two numbers that headroom scripts calculate with.

    Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b.
    """
    return all(stoi(fields.get(field, "")) is not None for field in ("mtu", "small_packet_percentage"))


def _appl_key(key: str) -> str:
    """Return a key as APPL_DB has it."""
    return key.replace("|", ":")


@lru_cache(maxsize=256)
def lossless_ranges(text: str) -> tuple[str, ...]:
    """Return the ranges of groups that buffermgrd writes for ``pfc_enable``: ``3-4`` and ``6`` of ``3,4,6``.

    Source: sonic-swss orchagent/orch.cpp @e6b0c5b, generateIdListFromMap.
    """
    read = map(priority_of_group, tokens(text, ","))
    numbers = sorted({number for number in read if number is not None and number in _PRIORITIES})
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1].append(number)
        else:
            ranges.append([number])
    return tuple(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in ranges)


def priority_of_group(part: str) -> int | None:
    """Return the bit that buffermgrd sets for one part of ``pfc_enable``, None if it throws; only 0 to 7 are groups."""
    number = to_uint(part, 0, 255)
    return None if number is None else bit_of(number)


def priority_mask(text: str) -> tuple[int, ...] | None:
    """Return the priorities of ``pfc_enable`` or ``pfcwd_sw_enable``, None where reading them throws."""
    read = [stoi(part) for part in tokens(text, ",")]
    if None in read:
        return None
    bits = {bit_of(number or 0) for number in read}
    return tuple(sorted(bits & set(_PRIORITIES)))


_MELLANOX = ("mlnx", "mellanox", "nvidia")
_PLAIN_SINCE = (3, 0, 3)
_MOST_QUEUES = 20
"""Queues of a port on Broadcom's chips, taken for all but NVIDIA's (16): unicast and multicast halves."""


def programmed(tables: Tables, switch: Switch, *, whole: bool = True) -> Programmed:
    """Return the state that the daemons of a switch program; ``whole`` as in :func:`program`."""
    meta = tables.row("DEVICE_METADATA", "localhost")
    fields = meta.fields if meta else {}
    platform = fields.get("platform", "").lower()
    vendor = switch.profile.vendor.lower() if switch.profile else ""
    mellanox = any(word in platform for word in _MELLANOX) or vendor in _MELLANOX
    return program(
        tables,
        Platform(
            "mellanox" if mellanox else None,
            lambda: _headroom(switch, fields.get("hwsku")),
            16 if mellanox else _MOST_QUEUES,
            _has_brackets_removed(tables, switch.qos.database_version),
        ),
        whole=whole,
    )


def _has_brackets_removed(tables: Tables, database_version: str | None) -> bool:
    """Return whether db_migrator removes brackets around names: by database version, else if all names have them."""
    return has_old_references(database_version) if database_version else is_of_old_form(tables)


def _headroom(switch: Switch, hwsku: str | None) -> tuple[HeadroomRow, ...] | None:
    """Return the headroom rows of a switch, None if they are unknown.

    Where several products have the HWSKU and the file does not identify one, these are the rows that all of them share.
    They are unknown if a product has further rows, unless the caller names the lossless DSCPs.
    """
    if switch.hwsku is not None:
        return switch.hwsku.headroom if switch.hwsku.headroom_source else None
    common = shared_headroom(hwsku) if hwsku else None
    if common is None or not (common[1] or switch.classes.knowledge == "named"):
        return None
    return common[0]


_REFERRING = {
    "PORT_QOS_MAP": "dscp_to_tc_map",
    "QUEUE": "scheduler",
    "BUFFER_PROFILE": "pool",
    "BUFFER_PG": "profile",
    "BUFFER_QUEUE": "profile",
}
"""Tables whose rows refer to others in any configuration, by a field."""


def is_of_old_form(tables: Tables) -> bool:
    """Return whether a file has references between rows, and all are in brackets."""
    referring = ((row, field) for table, field in _REFERRING.items() for row in tables.table(table).values())
    written = [text for row, field in referring if (text := row.fields.get(field)) not in (None, "", "NULL")]
    return bool(written) and all(text.startswith("[") for text in written)


def has_old_references(database_version: str | None) -> bool:
    """Return whether a database version is before 3.0.3, whose references in brackets its migration removes.

    Source: sonic-utilities scripts/db_migrator.py @086b03b (version_3_0_3).
    """
    words = (database_version or "").split("_")
    if words[0] != "version" or len(words) != 4 or not all(map(str.isdecimal, words[1:])):
        return False
    return tuple(map(int, words[1:])) < _PLAIN_SINCE
