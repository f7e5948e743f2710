"""Single CONFIG_DB rows to objects of the fabric model, each built once and shared by all that name it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from lossless.formats.sonic.effective.objects import UINT64, stoi, to_uint, unsigned8
from lossless.formats.sonic.read.numbers import read_priorities
from lossless.formats.sonic.read.tables import whole_number
from lossless.formats.sonic.to_model.trimming import DISCARD_ACTION, TRIM
from lossless.model.fabric.qos import (
    COLOURS,
    UNREADABLE,
    BufferProfile,
    Curve,
    IndexMap,
    Pool,
    PriorityMask,
    Scheduler,
    Watchdog,
    Wred,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lossless.formats.sonic.read.tables import ConfigRow, Tables

_T = TypeVar("_T")

_MAP_SIZE = {"DSCP_TO_TC_MAP": 64}


class Objects:
    """The shared objects of one device, by name."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._maps: dict[tuple[str, str], IndexMap | None] = {}

    @staticmethod
    def referred(row: ConfigRow, field: str, objects: Mapping[str, _T]) -> _T | None:
        """Return the object that a row refers to by name, None if it does not exist (rule CFG002 reports that)."""
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
        """Profiles that state a threshold alone: the dynamic model computes their headroom.

        Source: sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b (refreshPgsForPort).
        """
        rows = self.tables.table("BUFFER_PROFILE").items()
        return frozenset(name for name, row in rows if row.fields.get("headroom_type") == "dynamic")

    def index_map(self, table: str, name: str) -> IndexMap | None:
        """Return the map of a name, None where there is none."""
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
        """Return a list of priorities, None where absent."""
        text = row.fields.get(field)
        if text is None:
            return None
        return PriorityMask(read_priorities(text), self.tables.origin("PORT_QOS_MAP", row, field))

    def watchdog(self, port: str) -> Watchdog | None:
        """Return the watchdog row of a port. Action drop is orchagent's default (pfcwdorch.cpp @e6b0c5b)."""
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
    """Return a timer as orchagent reads it (``0x200`` too), None where it is absent or cannot be read (SWS005)."""
    text = row.fields.get(field, "")
    return whole_number(text) if text.startswith("-") else to_uint(text, 0, UINT64 - 1)
