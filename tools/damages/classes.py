"""What SONiC switches and the NICs behind them do with packets of several DSCPs, read from rows and settings alone.

Rules of orchagent and buffermgrd (sonic-swss orchagent/qosorch.cpp, bufferorch.cpp and cfgmgr/buffermgr.cpp @e6b0c5b):
a port without a DSCP map has that of ``PORT_QOS_MAP|global``, else traffic class 0 for all; a row of PORT_QOS_MAP that
names a map which is not there is not applied, PFC included; a map that a port does not name is the identity, and an
entry that a named map lacks is group or queue 0, no priority in a map of PFC. A group without a row has no headroom
here: buffermgrd makes one only when the port comes up.

A fabric keeps a DSCP lossless if at each hop the port that receives it has headroom for its cable, asks for a pause,
and the port that sends it stops the queue that it waits in. Nothing here is shared with the package.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

Config = dict[str, dict[str, Any]]
End = tuple[str, str]
"""A switch or host, and a port of it."""

_MAPS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}
_COMPUTED = 10**9
"""Headroom that a switch computes by itself, in the dynamic model: more than any that is written, with the cable."""
_LARGEST_PAYLOAD = 4096
"""Bytes: the largest path MTU of RDMA (InfiniBand Architecture Specification, volume 1, section 7.7.8)."""
_HEADERS = 20 + 8 + 12 + 16 + 4 + 4
"""Bytes of IPv4, UDP, BTH, RETH, immediate data and ICRC before and after a payload of RoCEv2."""


class Nic(NamedTuple):
    """The settings of a host's NICs that decide about packets; ``priorities`` of DSCPs are None with trust in PCP."""

    priorities: tuple[int, ...] | None
    pfc: frozenset[int]
    tos: int | None
    mtu_bytes: int
    files: str = ""
    """A hash of all files of the host."""

    @property
    def rdma_bytes(self) -> int:
        """The largest IP packet of RDMA that the MTU allows: payloads are powers of two."""
        payload = _LARGEST_PAYLOAD
        while payload > 256 and payload + _HEADERS > self.mtu_bytes:
            payload //= 2
        return payload + _HEADERS


class Fault(NamedTuple):
    """One thing that is wrong: what, where, and for which DSCP."""

    what: str
    place: str
    dscp: int


class Ingress(NamedTuple):
    """What a port does to packets of a DSCP that come in: bytes of headroom, and priorities that it asks to pause."""

    headroom: int
    asks: frozenset[int]
    pool: str


class Egress(NamedTuple):
    """What a port does to packets that leave by it: the priorities that stop their queue, and what else it has."""

    obeys: frozenset[int]
    marked: bool
    watched: bool
    scheduled: bool
    pool: str


class Rows:
    """The rows of one switch by port and number."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._numbered = {table: self._expanded(table) for table in ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE")}
        self.up = {port for port, row in config.get("PORT", {}).items() if row.get("admin_status") == "up"}

    def _expanded(self, table: str) -> dict[tuple[str, int], Mapping[str, Any]]:
        rows: dict[tuple[str, int], Mapping[str, Any]] = {}
        for key, row in self.config.get(table, {}).items():
            ports, _, numbers = key.rpartition("|")
            first, _, last = numbers.partition("-")
            for number in range(int(first), int(last or first) + 1):
                rows.update({(port, number): row for port in ports.split(",")})
        return rows

    def _bound(self, port: str) -> Mapping[str, str]:
        """Return the row of a port that is applied: none if it waits for a map."""
        row: Mapping[str, str] = self.config.get("PORT_QOS_MAP", {}).get(port, {})
        waits = any(
            row[field] not in self.config.get(_MAPS[field], {}) for field in _MAPS.keys() & row.keys()
        )
        return {} if waits else row

    def _map(self, port: str, field: str) -> Mapping[str, str] | None:
        name = self._bound(port).get(field)
        if name is None and field == "dscp_to_tc_map":
            name = self.config.get("PORT_QOS_MAP", {}).get("global", {}).get(field)
        return None if name is None else self.config.get(_MAPS[field], {}).get(name, {})

    def _traffic_class(self, port: str, dscp: int) -> int:
        return int((self._map(port, "dscp_to_tc_map") or {}).get(str(dscp), 0))

    def _of_class(self, port: str, field: str, traffic_class: int) -> int:
        entries = self._map(port, field)
        return traffic_class if entries is None else int(entries.get(str(traffic_class), 0))

    def _pfc(self, port: str) -> frozenset[int]:
        return frozenset(
            int(part) for part in str(self._bound(port).get("pfc_enable", "")).split(",") if part
        )

    def _of_pfc(self, port: str, field: str, number: int) -> frozenset[int]:
        """Return the priorities of a port that a map of PFC leads to a group or queue."""
        entries = self._map(port, field)
        led = {p: p if entries is None else int(entries.get(str(p), -1)) for p in self._pfc(port)}
        return frozenset(p for p, to in led.items() if to == number)

    def _profile(self, table: str, port: str, number: int) -> Mapping[str, Any]:
        name = str(self._numbered[table].get((port, number), {}).get("profile"))
        profile: Mapping[str, Any] = self.config.get("BUFFER_PROFILE", {}).get(name, {})
        return {"computed": True} if name == "NULL" or profile.get("headroom_type") == "dynamic" else profile

    def ingress(self, port: str, dscp: int) -> Ingress:
        """Return what a port does to packets of a DSCP that it receives."""
        group = self._of_class(port, "tc_to_pg_map", self._traffic_class(port, dscp))
        profile = self._profile("BUFFER_PG", port, group)
        headroom = int(profile.get("xoff", 0) or 0)
        if profile.get("computed"):
            headroom = self._computed(port)
        return Ingress(headroom, self._of_pfc(port, "pfc_to_pg_map", group), str(profile.get("pool", "")))

    def _computed(self, port: str) -> int:
        device = self.config.get("DEVICE_METADATA", {}).get("localhost", {})
        lengths = (row[port] for row in self.config.get("CABLE_LENGTH", {}).values() if port in row)
        length = next(lengths, None)
        if device.get("buffer_model") != "dynamic" or length is None or not self._pfc(port):
            return 0
        return _COMPUTED + int(length.rstrip("m"))

    def egress(self, port: str, entered: str, dscp: int) -> Egress:
        """Return what a port does to packets of a DSCP that came in at another one."""
        queue = self._of_class(port, "tc_to_queue_map", self._traffic_class(entered, dscp))
        row = self._numbered["QUEUE"].get((port, queue), {})
        obeys = self._of_pfc(port, "pfc_to_queue_map", queue)
        curve = self.config.get("WRED_PROFILE", {}).get(str(row.get("wred_profile")), {})
        watched = self._bound(port).get("pfcwd_sw_enable")
        watchdog = self.config.get("PFC_WD", {})
        return Egress(
            obeys,
            curve.get("ecn", "ecn_none") != "ecn_none" and curve.get("wred_green_enable") == "true",
            bool(watchdog.get(port, {}).get("detection_time"))
            and (watched is None or obeys <= {int(part) for part in watched.split(",") if part}),
            "scheduler" not in row or row["scheduler"] in self.config.get("SCHEDULER", {}),
            str(self._profile("BUFFER_QUEUE", port, queue).get("pool", "")),
        )

    def mtu(self, port: str) -> int:
        """Return the largest IP packet that a port carries."""
        return int(self.config.get("PORT", {}).get(port, {}).get("mtu", 9100))

    def committed(self) -> int:
        """Return the bytes of ingress pools together, shared headroom included."""
        pools = self.config.get("BUFFER_POOL", {}).values()
        own = [pool for pool in pools if pool.get("type") in ("ingress", "both")]
        return sum(int(pool.get("size", 0)) + int(pool.get("xoff", 0)) for pool in own)

    def buffer(self) -> int:
        """Return the bytes of the largest pool at egress, which spans the buffer of the chip; 0 without one."""
        pools = self.config.get("BUFFER_POOL", {}).values()
        return max((int(pool.get("size", 0)) for pool in pools if pool.get("type") == "egress"), default=0)


class Site(NamedTuple):
    """The links of a fabric: of each port of a switch, the other end, a port of a switch or a host."""

    links: Mapping[End, End]

    def ports(self, switch: str) -> Iterator[tuple[str, End]]:
        """Yield the ports of a switch that have a link, with the other end."""
        yield from ((port, far) for (name, port), far in self.links.items() if name == switch)


def site_of(configs: Mapping[str, Config]) -> Site:
    """Return the links that switches declare of ports that are up."""
    links = {}
    for name, config in configs.items():
        up = Rows(config).up
        for port, row in config.get("DEVICE_NEIGHBOR", {}).items():
            if port in up:
                links[name, port] = (row["name"], row["port"])
    return Site(links)


class Limits(NamedTuple):
    """What states are held to: headroom in bytes that ports need, pools that they fill, and bytes of pools together."""

    headroom: Mapping[End, int]
    pools: Mapping[End, Collection[str]]
    committed: Mapping[str, int]


class Checker:
    """Checks states of one fabric; a switch that has not changed since the last state is not read again."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.states = 0
        self._read: dict[str, tuple[Config, frozenset[int], Rows, dict[tuple[str, int], Any]]] = {}

    def faults(
        self,
        configs: Mapping[str, Config],
        nics: Mapping[str, Nic],
        dscps: frozenset[int],
        limits: Limits,
        away: Collection[str] = (),
    ) -> Iterator[Fault]:
        """Yield what is wrong for DSCPs that jobs send; devices that are ``away`` carry no traffic."""
        self.states += 1
        for name in configs:
            self._summary(name, configs[name], dscps)
        for (name, port), (peer, peer_port) in self.site.links.items():
            if name in away or peer in away or name not in configs:
                continue
            rows, met = self._read[name][2:]
            for dscp in dscps:
                into: Ingress = met[port, dscp][0]
                out: set[Egress] = met[port, dscp][1]
                place = f"{name} {port}"
                yield from _at_port(place, dscp, into, out, limits, (name, port))
                if peer in configs:
                    there: Ingress = self._read[peer][3][peer_port, dscp][0]
                    if any(not each.obeys & there.asks for each in out):
                        yield Fault("is not stopped by its peer", place, dscp)
                elif peer in nics:
                    yield from _at_nic(f"{peer} - {place}", dscp, nics[peer], into, out)
            largest = max((nic.rdma_bytes for host, nic in nics.items() if host not in away), default=0)
            if dscps and largest > rows.mtu(port):
                yield Fault("drops packets larger than its MTU", f"{name} {port}", 0)
        for name in configs:
            if name not in away and self._read[name][2].committed() > limits.committed.get(name, 1 << 62):
                yield Fault("has pools larger than its buffer", name, 0)

    def _summary(self, name: str, config: Config, dscps: frozenset[int]) -> None:
        known = self._read.get(name)
        if known is not None and known[0] is config and known[1] == dscps:
            return
        rows = Rows(config)
        ports = [port for port, _ in self.site.ports(name)]
        met: dict[tuple[str, int], Any] = {}
        for port in ports:
            for dscp in dscps:
                entered = [other for other in ports if other != port] or [port]
                met[port, dscp] = rows.ingress(port, dscp), {rows.egress(port, e, dscp) for e in entered}
        self._read[name] = config, dscps, rows, met


def _at_port(
    place: str, dscp: int, into: Ingress, out: Collection[Egress], limits: Limits, end: End
) -> Iterator[Fault]:
    pools = limits.pools.get(end)
    wrong = {
        "is lossy": into.headroom == 0,
        "has less headroom than its cable needs": 0 < into.headroom < limits.headroom.get(end, 0),
        "asks for no pause": not into.asks,
        "obeys no pause": any(not each.obeys for each in out),
        "is not watched": any(not each.watched for each in out),
        "does not mark": any(not each.marked for each in out),
        "has a scheduler that is not there": any(not each.scheduled for each in out),
        "fills another pool": pools is not None and not {into.pool, *(each.pool for each in out)} <= {*pools},
    }
    yield from (Fault(what, place, dscp) for what, is_wrong in wrong.items() if is_wrong)


def _at_nic(place: str, dscp: int, nic: Nic, into: Ingress, out: Collection[Egress]) -> Iterator[Fault]:
    if nic.priorities is None:
        return
    own = {nic.priorities[dscp]} & nic.pfc
    if not own & into.asks:
        yield Fault("does not stop for its switch", place, dscp)
    if any(not own & each.obeys for each in out):
        yield Fault("cannot stop its switch", place, dscp)
