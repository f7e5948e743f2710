"""Deployed CONFIG_DBs to the fabric model: one switch for each, joined where a port names its neighbor."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from lossless.formats.sonic.read.tables import ConfigRow, whole_number
from lossless.formats.sonic.to_model.device_types import device_tier
from lossless.formats.sonic.to_model.ports import Objects, QosReader, RowIndex
from lossless.formats.sonic.to_model.trimming import dynamic_buffers, trim_settings
from lossless.formats.sonic.to_model.tunnel import tunnel_maps
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.records import UNKNOWN
from lossless.model.fabric.model import (
    DEFAULT_SWITCH_MTU_BYTES,
    Cable,
    ClassSet,
    Fabric,
    Link,
    Port,
    Switch,
    SwitchQos,
    TrafficClass,
    WatchdogPoll,
)
from lossless.model.fabric.qos import BufferProfile, IndexMap
from lossless.model.hardware.buffers import INGRESS_LOSSLESS_POOL, pg_profile_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lossless.formats.sonic.read.tables import Tables
    from lossless.formats.sonic.to_model.lags import Limit
    from lossless.ground.basics.findings import Origin
    from lossless.ground.basics.records import Maybe
    from lossless.model.hardware.load import FindHardware
    from lossless.model.hardware.model import Hwsku, SwitchProfile


def read_fabric(
    devices: Sequence[Tables], find_hardware: FindHardware, rdma_dscps: Sequence[tuple[int, ...]] = ()
) -> Fabric:
    """Return the fabric that deployed CONFIG_DBs describe.

    ``rdma_dscps`` names the DSCPs that must be lossless, of each device; without them, its lossless classes are
    inferred from PFC and the DSCP-to-TC maps of its ports. Links are known where a port names its neighbor, both
    ends are among the files and their hostnames are unique.
    """
    named = rdma_dscps or [()] * len(devices)
    pairs = zip(devices, named, strict=True)
    read = tuple(_DeviceReader(tables, find_hardware, dscps).switch() for tables, dscps in pairs)
    switches = _by_own_names(read) if len(read) > 1 else read
    return Fabric(
        name="",
        provenance="deployed",
        classes=switches[0].classes if len(switches) == 1 else ClassSet("inferred", ()),
        congestion=None,
        switches=switches,
        hosts=(),
        links=tuple(_links(switches)),
        networks=(),
        capacities=(),
        sources=tuple(tables.file for tables in devices),
        unread=tuple(f"{tables.shown}: {note}" for tables in devices for note in tables.unread),
    )


def _by_own_names(switches: tuple[Switch, ...]) -> tuple[Switch, ...]:
    """Return the switches, their neighbors renamed to the names that these have in their own files."""
    from lossless.model.fabric.cabling import other_names

    named = {port.neighbor[0] for switch in switches for port in switch.ports if port.neighbor}
    others = other_names({switch.name for switch in switches}, named)
    if not others:
        return switches
    return tuple(
        switch._replace(
            ports=tuple(
                port._replace(neighbor=(others[port.neighbor[0]], port.neighbor[1]))
                if port.neighbor is not None and port.neighbor[0] in others
                else port
                for port in switch.ports
            )
        )
        for switch in switches
    )


def _links(switches: Sequence[Switch]) -> Iterable[Link]:
    times: dict[str, int] = {}
    for switch in switches:
        times[switch.name] = times.get(switch.name, 0) + 1
    by_name = {switch.name: switch for switch in switches if times[switch.name] == 1}
    seen = set()
    for name, switch in sorted(by_name.items()):
        for port in switch.ports:
            if port.neighbor is None or port.neighbor[0] == name or port.neighbor[0] not in by_name:
                continue
            (a, a_port), (b, b_port) = ends = tuple(sorted(((name, port.name), port.neighbor)))
            if ends not in seen:
                seen.add(ends)
                yield Link(a, a_port, b, b_port, port.speed_bps or 0, to_host=False)


class _DeviceReader:
    """Reads the CONFIG_DB of one device."""

    def __init__(self, tables: Tables, find_hardware: FindHardware, rdma_dscps: tuple[int, ...]) -> None:
        self.tables = tables
        self.rdma_dscps = rdma_dscps
        self.objects = Objects(tables)
        self.index = RowIndex(tables)
        meta = tables.row("DEVICE_METADATA", "localhost")
        self.meta: Mapping[str, str] = meta.fields if meta else {}
        self.hwsku_name = self.meta.get("hwsku")
        hardware = find_hardware(self.hwsku_name, self.meta.get("platform")) if self.hwsku_name else None
        self.profile: SwitchProfile | None = hardware[0] if hardware else None
        self.hwsku: Hwsku | None = hardware[1] if hardware else None
        self.dynamic = self.meta.get("buffer_model") == "dynamic"
        self.cables = self._cables()
        self.lag_mtus: Mapping[str, Limit] = {}
        if "PORTCHANNEL_MEMBER" in tables.data:
            from lossless.formats.sonic.to_model.lags import lag_mtus

            self.lag_mtus = lag_mtus(tables)

    def switch(self) -> Switch:
        """Return the device as a switch of the model."""
        ports, device_type = self._ports(), self.meta.get("type")
        return Switch(
            name=self.tables.device or self.meta.get("hostname", self.tables.shown),
            tier=device_tier(self.tables, device_type),
            hwsku_name=self.hwsku_name if self.hwsku_name else UNKNOWN,
            profile=self.profile,
            hwsku=self.hwsku,
            classes=_classes(ports, self.rdma_dscps, self.tables),
            ports=ports,
            demand=(),
            qos=self._switch_qos(),
            origin=self.tables.origin("DEVICE_METADATA"),
            device_type=device_type,
        )

    def _cables(self) -> dict[str, Cable]:
        cable_by_port = {}
        for row in self.tables.table("CABLE_LENGTH").values():
            for port, text in row.fields.items():
                cable_by_port[port] = Cable(
                    UNKNOWN, _length_m(text), self.tables.origin("CABLE_LENGTH", row, port)
                )
        return cable_by_port

    def _ports(self) -> tuple[Port, ...]:
        reader = QosReader(self.objects, self.dynamic, self._generated)
        rows = self.tables.table("PORT")
        names = rows.keys() or self.index.ports()
        return tuple(self._port(name, rows.get(name), reader) for name in sorted(names, key=natural_key))

    def _port(self, name: str, row: ConfigRow | None, reader: QosReader) -> Port:
        fields: Mapping[str, str] = row.fields if row else {}
        speed_mbps = self._positive(row, "speed")
        speed_bps = speed_mbps * 10**6 if speed_mbps else None
        cable = self.cables.get(name) or Cable(UNKNOWN, None, self.tables.origin("CABLE_LENGTH").key())
        rows = self.index.rows_of(name)
        return Port(
            name=name,
            speed_bps=speed_bps,
            lanes=len(fields["lanes"].split(",")) if "lanes" in fields else None,
            mtu_bytes=self._mtu(name, row),
            admin_up=self._admin_up(row),
            leads_to=None,
            cable=cable,
            neighbor=self._neighbor(name),
            qos=reader.read(rows, speed_bps, cable) if rows.qos or rows.groups else None,
            placed=True,
            origin=self.tables.origin("PORT", row) if row else self.tables.origin("PORT_QOS_MAP"),
            asymmetric=fields.get("pfc_asym") == "on",
            offered_bps=_offered(fields),
        )

    def _mtu(self, name: str, row: ConfigRow | None) -> Maybe[int]:
        """Return the MTU of a port's LAG, else of its row with its default; UNKNOWN if unreadable or without a row."""
        if name in self.lag_mtus:
            mtu = self.lag_mtus[name][0]
            return UNKNOWN if mtu is None else mtu
        if row is not None and "mtu" not in row.fields:
            return DEFAULT_SWITCH_MTU_BYTES
        mtu = self._positive(row, "mtu")
        return UNKNOWN if mtu is None else mtu

    def _positive(self, row: ConfigRow | None, field: str) -> int | None:
        """Return a field of a PORT row, None where it is absent or not above 0 (which is noted)."""
        if row is None or not row.fields.get(field):
            return None
        value = whole_number(row.fields[field])
        if value is not None and value > 0:
            return value
        self.tables.unread.append(f"PORT|{row.key}|{field}: {row.fields[field]!r} is not above 0")
        return None

    @staticmethod
    def _admin_up(row: ConfigRow | None) -> Maybe[bool]:
        if row is None:
            return UNKNOWN
        # orchagent skips the port of any other word than up and down, which somebody wrote for one that is in use.
        status = row.fields.get("admin_status")
        return None if status is None else status.lower() != "down"

    def _neighbor(self, port: str) -> tuple[str, str] | None:
        row = self.tables.row("DEVICE_NEIGHBOR", port)
        return (row.fields.get("name", ""), row.fields.get("port", "")) if row else None

    def _generated(self, speed_bps: int | None, cable: Cable) -> Maybe[BufferProfile]:
        """Return the profile that buffermgrd makes for a lossless group, None if it makes none, UNKNOWN if not known.

        Source: sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b."""
        if not cable.configured_m:
            return None
        if speed_bps is None:
            return UNKNOWN
        name = pg_profile_name(speed_bps, cable.configured_m)
        if name in self.objects.profiles:
            return self.objects.profiles[name]
        if self.hwsku is None or not self.hwsku.headroom_source:
            return UNKNOWN
        return self._from_row(name, speed_bps, cable)

    def _from_row(self, name: str, speed_bps: int, cable: Cable) -> BufferProfile | None:
        row = self.hwsku.row(speed_bps, cable.configured_m or 0) if self.hwsku else None
        if row is None:
            return None
        pool = self.objects.pools.get(INGRESS_LOSSLESS_POOL)
        static = pool is not None and pool.mode == "static"
        return BufferProfile(
            name=name,
            pool=pool,
            reserved_bytes=row.reserved_bytes,
            headroom_bytes=row.headroom_bytes,
            xon_bytes=row.xon_bytes,
            xon_offset_bytes=row.xon_offset_bytes,
            dynamic_th=None if static else row.threshold,
            static_th_bytes=row.threshold if static else None,
            origin=cable.origin,
        )

    def _switch_qos(self) -> SwitchQos:
        version = self.tables.row("VERSIONS", "DATABASE")
        return SwitchQos(
            buffer_model="dynamic" if self.dynamic else "traditional",
            pools=tuple(pool for _, pool in sorted(self.objects.pools.items())),
            poll=self._poll(),
            counters=tuple(
                (group, row.fields.get("FLEX_COUNTER_STATUS") == "enable")
                for group, row in sorted(self.tables.table("FLEX_COUNTER_TABLE").items())
                if "FLEX_COUNTER_STATUS" in row.fields
            ),
            global_dscp_map=self._global_dscp_map(),
            database_version=version.fields.get("VERSION") if version else None,
            headroom_oversubscription=None,
            storage_backend=self.meta.get("storage_device", "").lower() == "true"
            or self.meta.get("type", "").startswith("BackEnd"),
            voq=self.meta.get("switch_type") == "voq",
            origin=self.tables.origin("DEVICE_METADATA"),
            dynamic=dynamic_buffers(self.tables),
            tunnel=tunnel_maps(self.tables, self.objects),
            trimming=trim_settings(self.tables),
            no_default_watchdog=self._no_default_watchdog(),
        )

    def _no_default_watchdog(self) -> Origin | None:
        row, field = self.tables.row("DEVICE_METADATA", "localhost"), "default_pfcwd_status"
        is_disabled = row is not None and row.fields.get(field) == "disable"
        return self.tables.origin("DEVICE_METADATA", row, field) if row and is_disabled else None

    def _global_dscp_map(self) -> IndexMap | None:
        row = self.tables.row("PORT_QOS_MAP", "global")
        return self.objects.index_map("DSCP_TO_TC_MAP", row.reference("dscp_to_tc_map")) if row else None

    def _poll(self) -> WatchdogPoll:
        row = self.tables.row("PFC_WD", "GLOBAL")
        return WatchdogPoll(
            poll_ms=self.tables.number("PFC_WD", row, "POLL_INTERVAL") if row else None,
            origin=self.tables.origin("PFC_WD", row) if row else self.tables.origin("PFC_WD"),
        )


def _offered(fields: Mapping[str, str]) -> int | None:
    """Return the fastest speed in ``adv_speeds`` of a port with ``autoneg`` on, in b/s; None if it has none."""
    offered = fields.get("adv_speeds", "").split(",") if fields.get("autoneg") == "on" else []
    speeds_mbps = [speed for speed in map(whole_number, offered) if speed]
    return max(speeds_mbps) * 10**6 if speeds_mbps else None


@lru_cache(maxsize=1024)
def _length_m(text: str) -> int | None:
    match = re.fullmatch(r"([0-9]{1,9})m", text.strip())
    return int(match[1]) if match else None


def _classes(ports: Sequence[Port], rdma_dscps: tuple[int, ...], tables: Tables) -> ClassSet:
    origin = tables.origin("PORT_QOS_MAP")
    if rdma_dscps:
        named = TrafficClass("rdma", rdma_dscps, rest=False, priority=None, lossless=True, origin=origin)
        return ClassSet("named", (named,))
    dscps_by_priority: dict[int, set[int]] = {}
    for qos in {id(p.qos): p.qos for p in ports if p.qos and p.admin_up is not False}.values():
        for priority in qos.pfc.priorities:
            dscps_by_priority.setdefault(priority, set()).update(
                qos.dscp_to_tc.sources(priority) if qos.dscp_to_tc else ()
            )
    return ClassSet(
        "inferred",
        tuple(
            TrafficClass(
                f"priority {p}", tuple(sorted(dscps)), rest=False, priority=p, lossless=True, origin=origin
            )
            for p, dscps in sorted(dscps_by_priority.items())
        ),
    )
