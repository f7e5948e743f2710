"""Facts about switches and their sources; capacity and port names of a switch.

Facts that differ between the HWSKUs of one switch belong to a **HWSKU**, not to the product: ports, headroom rows and
buffer pools. A fact without a public source is None (unknown), never a guess. Large tables are parsed at their first
use, because most commands read one HWSKU of one profile.

The capacity of a switch is its ports of one speed from its cages, and its buffers for lossless groups from its HWSKU.
Systems other than SONiC have patterns of port names. Load balancing over equal paths depends on the system of a switch,
and RDMA packets out of order on what an adapter accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.buffers import (
    INGRESS_LOSSLESS_POOL,
    BufferDefaults as BufferDefaults,
    HeadroomRow as HeadroomRow,
    PoolDefaults as PoolDefaults,
    PoolMode as PoolMode,
    PoolType as PoolType,
    ProfileDefaults as ProfileDefaults,
    ZeroBuffers as ZeroBuffers,
)

LoadBalancing = Literal["ecmp", "flowlet", "adaptive", "spray", "dlb"]
"""How switches choose among equal paths.

By a hash of the flow, the less loaded one after a gap or for each packet, or at random for each packet. ``dlb``, the
dynamic load balancing of Broadcom, is the second or the third, depending on its configuration: Junos has no default for
that (Juniper, Dynamic Load Balancing).
"""
LOAD_BALANCING: tuple[LoadBalancing, ...] = get_args(LoadBalancing)


class OfferedChoices(NamedTuple):
    """The load balancing of a product's switches under one system.

    ``offers`` are the choices in its documentation, ``lacks`` those that it is known not to have; all others
    are unknown. ``speeds_bps`` has the choices that only links of some speeds support.
    """

    offers: tuple[LoadBalancing, ...]
    lacks: tuple[LoadBalancing, ...]
    speeds_bps: Mapping[LoadBalancing, tuple[int, ...]]
    source: str


NO_CHOICES: Mapping[str, OfferedChoices] = {}
"""The load balancing by system of a product for which no source states any."""


class PacketReorder(NamedTuple):
    """The acceptance of RDMA packets out of order by an adapter.

    ``setting`` is the setting that enables it, None where none is needed or known. ``frames`` is how many
    frames it accepts ahead of the next one in order, None where no public source states it.
    """

    able: bool
    setting: str | None
    frames: int | None
    source: str


_ADAPTIVE_RATES_BPS = (200 * 10**9, 400 * 10**9)


def widest_split(cage: Cage, speed_bps: int) -> BreakoutMode | None:
    """Return the breakout mode with most ports of a speed, None where the cage does not support the speed."""
    fitting = [mode for mode in cage.modes if speed_bps in mode.speeds_bps]
    return max(fitting, key=lambda mode: (mode.count, mode.speeds_bps[0] == speed_bps), default=None)


def ports_per_cage(profile: SwitchProfile, speed_bps: int) -> int:
    """Return the largest number of ports of a speed that one cage of the switch supports, 0 where no cage does."""
    splits = (widest_split(cage, speed_bps) for cage in profile.cages)
    return max((mode.count for mode in splits if mode), default=0)


def may_take(profile: SwitchProfile, speed_bps: int) -> bool:
    """Return whether the switch may support ports of a speed that its profile does not list."""
    # Most profiles know all speeds; what their cages take is worked out for the others alone.
    return (
        not profile.modes_complete
        and speed_bps < max(profile.speeds_bps)
        and not ports_per_cage(profile, speed_bps)
    )


def fabric_cages(profile: SwitchProfile) -> tuple[Cage, ...]:
    """Return the cages that links of a fabric use: those of several lanes; service ports have a single one."""
    return tuple(cage for cage in profile.cages if len(cage.lanes) > 1)


def service_ports(profile: SwitchProfile, speed_bps: int) -> int:
    """Return how many service ports, of a single lane each, support a speed."""
    return sum(len(cage.lanes) == 1 and speed_bps in cage.speeds_bps for cage in profile.cages)


def cages_needed(profile: SwitchProfile, ports: int, speed_bps: int) -> int:
    """Return how many fabric cages ports of a speed fill at the widest split of any cage; service ports are used first.

    A port of a speed that no fabric cage supports counts as the cages it would fill at the switch's fastest speed.
    """
    left = max(0, ports - service_ports(profile, speed_bps))
    each = max(
        (mode.count for cage in fabric_cages(profile) if (mode := widest_split(cage, speed_bps))), default=0
    )
    return -(-left // each) if each else left * cages_per_port(profile, speed_bps)


def cages_per_port(profile: SwitchProfile, speed_bps: int) -> int:
    """Return how many cages at the switch's fastest speed have the bandwidth of one port of a speed."""
    return -(-speed_bps // max(profile.speeds_bps))


def routes_adaptively(asic: Asic, speed_bps: int) -> bool:
    """Return whether a chip is known to route packets adaptively over ports of a speed.

    Source: CumulusNetworks/docs content/cumulus-linux-515/Layer-3/Routing/Equal-Cost-Multipath-Load-Sharing.md
    @825c9c4: Spectrum-4 at 200G and 400G; content/cumulus-linux-519 @0a63016: and later chips.
    """
    return asic.name == "Spectrum-5" or (asic.name == "Spectrum-4" and speed_bps in _ADAPTIVE_RATES_BPS)


def backs_headroom(hwsku: Hwsku, defaults: BufferDefaults) -> bool:
    """Return whether a template has a lossless pool, and headroom: reserved by the HWSKU's rows, or in a shared pool.

    The rows of a HWSKU for lossy fabrics may reserve only xon, while no pool provides the rest.
    """
    if defaults.pool(INGRESS_LOSSLESS_POOL) is None:
        return False
    reserves = all(row.reserved_bytes >= row.headroom_bytes for row in hwsku.headroom)
    return defaults.uses_shared_headroom or reserves


class PortNaming(NamedTuple):
    """Port names of a product under a system other than SONiC: patterns, and their source.

    ``whole`` names the port of a cage that is not split, ``split`` each of several, ``single`` a cage of one lane.
    Their fields are ``{index}`` (of the cage), ``{lane}`` (the first of the port within the cage, from 1), ``{number}``
    (of the port within the cage, from 0) and ``{part}`` (the same from 1).
    """

    whole: str
    split: str
    single: str
    source: str

    def of(self, cage: int, lanes: int) -> str:
        """Return the name of the one port of a cage, by the index and the number of lanes of the cage."""
        return (self.whole if lanes > 1 else self.single).format(index=cage)

    def of_part(self, cage: int, number: int, first_lane: int) -> str:
        """Return the name of one of several ports of a cage; ``first_lane`` counts from 0 within the cage."""
        return self.split.format(index=cage, lane=first_lane + 1, number=number, part=number + 1)


NO_FORMATS: Mapping[str, PortNaming] = {}
"""The port names by system other than SONiC of a switch for which none is known."""


_T = TypeVar("_T")
Late: TypeAlias = _T | Callable[[], _T]
"""A value, or the function that computes it at its first use."""

Formula = Literal["mellanox", "barefoot"]
SONIC = "sonic"
"""The name of the system SONiC, the default of a switch."""


class PortSpec(NamedTuple):
    """One port with the fields of SONiC's PORT table, its speed in bits per second; names are those of its system."""

    name: str
    lanes: tuple[int, ...]
    alias: str
    index: int  # type: ignore[assignment]  # SONiC's word, although tuples have a method of that name
    speed_bps: int


class BreakoutMode(NamedTuple):
    """One way to split a cage, in the notation of platform.json: ``2x400G[200G,100G,50G,40G,25G,10G]``.

    ``lanes`` counts the lanes all ``count`` ports use together; the first of ``speeds_bps`` is the default.
    """

    text: str
    count: int  # type: ignore[assignment]
    lanes: int
    speeds_bps: tuple[int, ...]


class Cage(NamedTuple):
    """One physical port, named as its unsplit port: ``Ethernet8``; ``index`` is SONiC's number of it.

    ``names`` are the patterns of its port names, None for the names of SONiC.
    """

    name: str
    lanes: tuple[int, ...]
    alias: str
    index: int  # type: ignore[assignment]
    modes: tuple[BreakoutMode, ...]
    names: PortNaming | None = None

    @property
    def speeds_bps(self) -> tuple[int, ...]:
        """Every speed a port of this cage can have, lowest first."""
        return tuple(sorted({speed for mode in self.modes for speed in mode.speeds_bps}))

    def mode_for(self, count: int, speed_bps: int) -> BreakoutMode | None:
        """Return the mode that gives ``count`` ports of that speed, or None.

        A mode whose default is that speed comes first, then the one that uses most lanes.
        """
        fitting = [m for m in self.modes if m.count == count and speed_bps in m.speeds_bps]
        return max(fitting, key=lambda m: (m.speeds_bps[0] == speed_bps, m.lanes), default=None)


class AsicCages(NamedTuple):
    """One ASIC of a switch with several: the name of its namespace (``asic0``), and the indexes of its cages."""

    name: str
    indexes: range


class Asic(NamedTuple):
    """A switch chip: the inputs of headroom formulas, and the parts of its buffer.

    ``formula`` is the headroom calculation SONiC has for it, None where it has none (headroom then comes from rows
    alone). A delay in bytes is the number of bytes that arrive during it, as in SONiC's ASIC_TABLE (there in KiB).
    ``tile`` is whether the formula adds the tile term (Spectrum-4 and -5); ``pfc_to_pg_map`` whether SONiC renders
    PFC_PRIORITY_TO_PRIORITY_GROUP_MAP for it (``asic_type`` mellanox and barefoot only). ``buffer_bytes`` is the whole
    packet buffer. ``buffer_parts`` is the number of equal parts it is divided into; a packet is stored in one of them,
    depending on its ports, and each has its own occupancy. ``voq``: packets wait in virtual output queues at ingress,
    which pools and thresholds here do not model. Sources are empty where ``source`` has the fact, or where there is
    none.
    """

    name: str
    formula: Formula | None
    cell_bytes: int | None
    pipeline_latency_bytes: float | None
    mac_phy_delay_bytes: float | None
    peer_response_bytes: float | None
    gearbox_delay_ns: int | None
    tile: bool
    pfc_to_pg_map: bool
    buffer_bytes: int | None
    buffer_source: str
    source: str
    cell_source: str = ""
    buffer_parts: int | None = None
    buffer_parts_source: str = ""
    voq: bool = False


class Hwsku:
    """One hardware SKU of SONiC: its ports, headroom rows and buffer defaults.

    ``ports`` is empty where no port table is known; ``headroom_source`` is the file that the rows are from, or that has
    none, and empty where the rows are unknown.
    Tables are parsed at their first use.
    """

    __slots__ = ("_buffers", "_headroom", "_ports", "headroom_source", "name", "platforms", "source")

    def __init__(
        self,
        name: str,
        ports: Late[tuple[PortSpec, ...]] = (),
        headroom: Late[tuple[HeadroomRow, ...]] = (),
        buffers: Late[tuple[BufferDefaults, ...]] = (),
        source: str = "",
        platforms: tuple[str, ...] = (),
        headroom_source: str = "",
    ) -> None:
        self.name = name
        self.source = source
        self.headroom_source = headroom_source
        self.platforms = platforms
        self._ports = ports
        self._headroom = headroom
        self._buffers = buffers

    @property
    def ports(self) -> tuple[PortSpec, ...]:
        """The port table, in its own order."""
        if callable(self._ports):
            self._ports = self._ports()
        return self._ports

    @property
    def headroom(self) -> tuple[HeadroomRow, ...]:
        """The rows of ``pg_profile_lookup.ini``, in their own order."""
        if callable(self._headroom):
            self._headroom = self._headroom()
        return self._headroom

    @property
    def buffers(self) -> tuple[BufferDefaults, ...]:
        """The buffer defaults, one for each place in the fabric that has its own."""
        if callable(self._buffers):
            self._buffers = self._buffers()
        return self._buffers

    def buffer_defaults(self, template: str) -> BufferDefaults | None:
        """Return the buffer defaults of one place in the fabric (``t0``, ``t1``, ...), or None."""
        return next((defaults for defaults in self.buffers if defaults.template == template), None)

    def row(self, speed_bps: int | None, cable_m: int) -> HeadroomRow | None:
        """Return the row of exactly that speed and length, or None."""
        return next((r for r in self.headroom if r.speed_bps == speed_bps and r.cable_m == cable_m), None)

    def row_covering(self, speed_bps: int | None, cable_m: int) -> HeadroomRow | None:
        """Return the row of the shortest length that is not below ``cable_m`` at that speed, or None.

        A real length without a row gets the next longer row, never a shorter one: headroom for a shorter cable may be
        too small, so that lossless packets are dropped.
        """
        fitting = (r for r in self.headroom if r.speed_bps == speed_bps and r.cable_m >= cable_m)
        return min(fitting, key=lambda r: r.cable_m, default=None)

    def speeds(self) -> tuple[int, ...]:
        """Return the speeds that have headroom rows, in bits per second, lowest first."""
        return tuple(sorted({row.speed_bps for row in self.headroom}))

    @property
    def uses_shared_headroom(self) -> bool:
        """Whether any of its buffer defaults has shared headroom."""
        return any(defaults.uses_shared_headroom for defaults in self.buffers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hwsku):
            return NotImplemented
        return self is other or self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.name, self.platforms))

    def __repr__(self) -> str:
        return f"Hwsku({self.name!r})"

    def _content(self) -> tuple[object, ...]:
        return (self.name, self.platforms, self.source, self.ports, self.headroom, self.buffers)


class SwitchProfile:
    """One switch product: its chip, its cages and the HWSKUs SONiC ships for it.

    ``platform`` is SONiC's name of the platform (``x86_64-nvidia_sn5600-r0``). ``queues`` and
    ``priority_groups`` are numbers per port, ``max_mtu`` is bytes; None is unknown. ``split_alias`` is the
    alias of a port of a split cage, with ``{index}`` (of the cage), ``{letter}`` (a, b, ...), ``{lane}`` (the
    first of the port within the cage, from 1) and ``{port}`` (the number in the port's name).
    ``zero_buffers`` is None where SONiC ships none for the product. ``asics`` is empty for a single ASIC.
    ``modes_complete`` is false where cages may support speeds below their fastest that no source lists.
    ``formats`` are the systems beside SONiC whose port names are known, each with these names;
    ``format`` is the one whose names this profile has, ``default_format`` the one that it runs by default.
    ``load_balancing`` has the systems whose choice among equal paths is known.
    """

    __slots__ = (
        "_cages",
        "_zero_buffers",
        "asic",
        "asics",
        "default_format",
        "default_hwsku",
        "format",
        "formats",
        "hwskus",
        "load_balancing",
        "max_mtu",
        "modes_complete",
        "name",
        "platform",
        "priority_groups",
        "product",
        "queues",
        "sources",
        "split_alias",
        "vendor",
    )

    def __init__(
        self,
        *,
        name: str,
        product: str,
        vendor: str,
        platform: str,
        asic: Asic,
        cages: Late[tuple[Cage, ...]],
        hwskus: tuple[Hwsku, ...],
        default_hwsku: str,
        queues: int | None,
        priority_groups: int | None,
        max_mtu: int | None,
        split_alias: str,
        sources: Mapping[str, str],
        zero_buffers: Late[ZeroBuffers | None] = None,
        asics: tuple[AsicCages, ...] = (),
        modes_complete: bool = True,
        formats: Mapping[str, PortNaming] = NO_FORMATS,
        format: str = SONIC,  # noqa: A002 the word of intents
        default_format: str = SONIC,
        load_balancing: Mapping[str, OfferedChoices] = NO_CHOICES,
    ) -> None:
        self.name = name
        self.product = product
        self.vendor = vendor
        self.platform = platform
        self.asic = asic
        self._cages = cages
        self.hwskus = hwskus
        self.default_hwsku = default_hwsku
        self.queues = queues
        self.priority_groups = priority_groups
        self.max_mtu = max_mtu
        self.split_alias = split_alias
        self.sources = sources
        self._zero_buffers = zero_buffers
        self.asics = asics
        self.modes_complete = modes_complete
        self.formats = formats
        self.format = format
        self.default_format = default_format
        self.load_balancing = load_balancing

    @property
    def runs(self) -> tuple[str, ...]:
        """The systems that it can run, its default first; SONiC only if it is the default, or has buffer defaults."""
        others = (name for name in (SONIC, *self.formats) if name != self.default_format)
        sonic = self.default_format == SONIC or any(hwsku.buffers for hwsku in self.hwskus)
        return (self.default_format, *(name for name in others if name != SONIC or sonic))

    @property
    def cages(self) -> tuple[Cage, ...]:
        """The physical ports, service ports included."""
        if callable(self._cages):
            self._cages = self._cages()
        return self._cages

    @property
    def zero_buffers(self) -> ZeroBuffers | None:
        """The zero-size profiles of unused ports in the traditional buffer model, None where SONiC ships none."""
        if callable(self._zero_buffers):
            self._zero_buffers = self._zero_buffers()
        return self._zero_buffers

    @property
    def speeds_bps(self) -> tuple[int, ...]:
        """Every speed that any cage supports, lowest first."""
        return tuple(sorted({speed for cage in self.cages for speed in cage.speeds_bps}))

    def cage(self, name: str) -> Cage | None:
        """Return the cage of that name (``Ethernet8``), or None."""
        return next((cage for cage in self.cages if cage.name == name), None)

    def hwsku(self, name: str) -> Hwsku | None:
        """Return the HWSKU of that name, or None."""
        return next((hwsku for hwsku in self.hwskus if hwsku.name == name), None)

    def breakout(self, cage: Cage, mode: BreakoutMode, speed_bps: int | None = None) -> tuple[PortSpec, ...]:
        """Return the ports of a split cage; without a speed, at the mode's default.

        SONiC names a port by its first lane within the cage (sonic-buildimage, BreakoutCfg.get_config in
        src/sonic-config-engine/portconfig.py); its alias follows the product's ``split_alias``.

        Raises:
            ProfileError: the cage has no such mode, or the mode no such speed.
        """
        speed = mode.speeds_bps[0] if speed_bps is None else speed_bps
        if mode not in cage.modes:
            known = ", ".join(m.text for m in cage.modes)
            raise ProfileError(f"{self.name}: {cage.name} cannot be split as {mode.text}; it can be {known}")
        if speed not in mode.speeds_bps:
            known = ", ".join(map(format_rate, mode.speeds_bps))
            refused = f"{cage.name} as {mode.text} cannot run at {format_rate(speed)}"
            raise ProfileError(f"{self.name}: {refused}; it can at {known}")
        return split(cage, mode.count, mode.lanes, speed, self.split_alias)

    def replaced(self, **changes: Any) -> SwitchProfile:
        """Return a copy of this profile with other values of the given fields; tables not parsed yet stay so."""
        kept = {name.removeprefix("_"): getattr(self, name) for name in self.__slots__}
        return SwitchProfile(**{**kept, **changes})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SwitchProfile):
            return NotImplemented
        return self is other or self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"SwitchProfile({self.name!r})"

    def _content(self) -> tuple[object, ...]:
        return tuple(getattr(self, name.removeprefix("_")) for name in self.__slots__)


PART_LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""The letters of the parts of a cage, in the aliases that name them by letters."""


def split(cage: Cage, count: int, lanes: int, speed_bps: int, split_alias: str) -> tuple[PortSpec, ...]:
    """Return ``count`` ports of ``speed_bps`` that share the first ``lanes`` lanes of a cage evenly.

    In SONiC the name of a port is the cage's number plus the port's first lane within the cage.
    """
    step = lanes // count
    ports = []
    for number in range(count):
        first = number * step
        lanes_here = cage.lanes[first : first + step]
        if cage.names is not None:
            name = cage.names.of_part(cage.index, number, first) if count > 1 else cage.name
            ports.append(PortSpec(name, lanes_here, name, cage.index, speed_bps))
            continue
        port = int(cage.name.removeprefix("Ethernet")) + first
        values = {"index": cage.index, "letter": PART_LETTERS[number], "lane": first + 1, "port": port}
        alias = split_alias.format_map(values) if count > 1 else cage.alias
        ports.append(PortSpec(f"Ethernet{port}", lanes_here, alias, cage.index, speed_bps))
    return tuple(ports)
