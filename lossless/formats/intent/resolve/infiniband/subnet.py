"""Turns an InfiniBand intent and hardware profiles into the model of the subnet: its options, GUIDs and ports.

Keys of opensm.conf are those that an intent declares, and those derived from its other sections. GUIDs stand in an
intent or in a file beside it, which has one line a switch or HCA: ``leaf1 0x0002c90300a1b2c3``. Each link gets a port
of a switch, and the required ports of each rate are counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from pydantic_core import PydanticCustomError

from lossless.analysis.topology.cabling_comparison import TIERS
from lossless.formats.intent.infiniband.service import number_64
from lossless.formats.intent.resolve.hosts import resolved_cluster
from lossless.formats.intent.resolve.infiniband.service import HostNames, Services, layout_of
from lossless.ground.basics.errors import InputError, OutsideError, Problem, ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import suggestion
from lossless.ground.documents.text import read_text
from lossless.model.fabric.infiniband.derived_policy import SL_IS_LANE, TORUS_ENGINE, TORUS_PORTS, torus_lanes
from lossless.model.fabric.infiniband.qos_policy import OPERATIONAL_VLS, RATES
from lossless.model.fabric.infiniband.subnet import (
    Hca,
    ManagerSetting,
    Secret,
    ServiceLevel,
    Subnet,
    SubnetHost,
    SubnetLink,
    SubnetPortDemand,
    SubnetShape,
    SubnetSwitch,
    qos_of,
)
from lossless.model.hardware.infiniband import load_hca, load_infiniband_switch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.analysis.topology.cabling_comparison import HostSpot, SubnetLayout, SwitchSpot
    from lossless.formats.intent.infiniband.document import LoadedSubnet
    from lossless.formats.intent.infiniband.service import SubnetQos
    from lossless.ground.basics.findings import Origin
    from lossless.ground.documents.folder import StatedPath
    from lossless.model.fabric.infiniband.subnet import HostRole, ShapeKind
    from lossless.model.hardware.infiniband import HcaProfile, InfinibandSwitchProfile


def guids_of(loaded: LoadedSubnet, known: Mapping[str, object]) -> dict[str, int]:
    """Return the GUIDs of switches and HCAs by name; those of the intent override those of its file.

    Raises:
        InputError: a name that is not in ``known``, a GUID with two names, or a file or line that cannot be read.
    """
    problems: list[Problem] = []
    stated: dict[str, tuple[int, _GuidPlace]] = {}
    for name, guid, problem_of in (*_of_file(loaded, problems), *_of_intent(loaded)):
        if name not in known:
            problems.append(problem_of(f"there is no switch or HCA {name}{suggestion(name, known)}"))
        elif guid is not None:
            stated.pop(name, None)
            stated[name] = guid, problem_of
    owners: dict[int, str] = {}
    for name, (guid, problem_of) in stated.items():
        if owners.setdefault(guid, name) != name:
            problems.append(problem_of(f"{guid:#018x} is already the GUID of {owners[guid]}"))
    if problems:
        raise InputError(problems)
    return {name: guid for name, (guid, _) in stated.items()}


class _GuidPlace:
    """Creates problems located at one GUID, in the intent or in its GUID file."""

    def __init__(self, file: str, line: int | None, column: int | None) -> None:
        self._file, self._line, self._column = file, line, column

    def __call__(self, message: str) -> Problem:
        return Problem(self._file, self._line, self._column, message)


_Stated = tuple[str, int | None, _GuidPlace]


def _of_intent(loaded: LoadedSubnet) -> Iterator[_Stated]:
    for name, guid in loaded.intent.guids.items():
        span = loaded.document.locate(("guids", name))
        yield name, guid, _GuidPlace(loaded.document.file, span.line, span.column)


def _of_file(loaded: LoadedSubnet, problems: list[Problem]) -> Iterator[_Stated]:
    """Yield the GUIDs of the intent's GUID file; text after a # is a comment. Invalid lines go to ``problems``."""
    if loaded.intent.guid_file is None:
        return
    path, lines = _stated_lines(loaded, loaded.intent.guid_file)
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        place = _GuidPlace(path, number, 1)
        if len(words) == 2:
            try:
                yield words[0], number_64(words[1]), place
            except PydanticCustomError as error:
                problems.append(place(error.message()))
        elif words:
            problems.append(place("expected a name and a GUID, as in: leaf1 0x0002c90300a1b2c3"))


def _stated_lines(loaded: LoadedSubnet, stated: StatedPath) -> tuple[str, list[str]]:
    try:
        path = stated.beside(loaded.document.file)
        return path, read_text(path).splitlines()
    except OutsideError as error:
        says = str(error)
    except InputError as error:
        says = error.problems[0].message
    raise InputError([loaded.problem(loaded.origin("guid_file"), f"guid_file: {says}")])


SL_COUNT = 16
DROP = 15
"""The VL of the SL2VL table that drops packets of an SL (InfiniBand specification, 7.6.6)."""
_VLS_CODE = {count: code for code, count in OPERATIONAL_VLS.items()}


def options_of(loaded: LoadedSubnet) -> tuple[ManagerSetting, ...]:
    """Return the settings of opensm.conf: those derived from the intent, then those that it declares itself.

    Raises:
        InputError: a declared key is also derived from another section.
    """
    derived = tuple(_derived(loaded))
    made = {setting.key: setting.origin for setting in derived}
    stated = []
    problems = []
    for key, text in loaded.intent.subnet_manager.options.items():
        origin = loaded.origin("subnet_manager", "options", key)
        if key in made:
            says = f"{key} is made of {'.'.join(map(str, made[key].path))}; state it in one place"
            problems.append(loaded.problem(origin.key(), says))
        stated.append(ManagerSetting(key, text, origin))
    if problems:
        raise InputError(problems)
    return (*derived, *stated)


def levels_of(loaded: LoadedSubnet) -> tuple[ServiceLevel, ...]:
    """Return the InfiniBand service levels that an intent declares, empty without ``qos``."""
    qos = loaded.intent.qos
    return tuple(
        ServiceLevel(name, level.sl, level.vl, loaded.origin("qos", "levels", name))
        for name, level in (qos.levels.items() if qos is not None else ())
    )


def _derived(loaded: LoadedSubnet) -> Iterator[ManagerSetting]:
    intent = loaded.intent
    routing = intent.subnet_manager.routing
    if routing is not None:
        engines = (*routing.engine, *(() if routing.fallback else ("no_fallback",)))
        yield ManagerSetting(
            "routing_engine", ",".join(engines), loaded.origin("subnet_manager", "routing", "engine"), True
        )
    if intent.qos is not None:
        yield from _qos(loaded, intent.qos)
    elif intent.is_off("qos"):
        yield ManagerSetting("qos", "FALSE", loaded.origin("qos"), True)
    if intent.flavour == "nvidia" and (intent.sharp is not None or intent.is_off("sharp")):
        # A word of three values in NVIDIA's opensm.conf: 0 leaves switches as they are, 1 turns SHARP off, 2 on.
        yield ManagerSetting("sharp_enabled", "2" if intent.sharp else "1", loaded.origin("sharp"), True)


def _qos(loaded: LoadedSubnet, qos: SubnetQos) -> Iterator[ManagerSetting]:
    at = loaded.origin("qos")
    yield ManagerSetting("qos", "TRUE", at, True)
    if qos.vls is not None:
        yield ManagerSetting("max_op_vls", str(_VLS_CODE[qos.vls]), loaded.origin("qos", "vls"), True)
        yield ManagerSetting("qos_max_vls", str(qos.vls), loaded.origin("qos", "vls"), True)
    if qos.high_limit is not None:
        yield ManagerSetting("qos_high_limit", str(qos.high_limit), loaded.origin("qos", "high_limit"), True)
    levels = loaded.origin("qos", "levels")
    for table in ("high", "low"):
        if _engine(loaded) == TORUS_ENGINE:
            yield from _torus_arbitration(qos, table, levels)
        else:
            yield from _arbitration(qos, table, levels, _layers(loaded, qos))
    yield ManagerSetting("qos_sl2vl", ",".join(map(str, _sl2vl(qos, _layers(loaded, qos)))), levels, True)


def _arbitration(qos: SubnetQos, table: str, origin: Origin, layers: int) -> Iterator[ManagerSetting]:
    """Yield the setting of a VL arbitration table where a level has a weight in it; else opensm's default applies.

    A VL of the routing engine without a level has the largest of the weights.
    """
    weights = [(level.vl, getattr(level, table)) for level in qos.levels.values()]
    stated = [(vl, weight) for vl, weight in weights if weight is not None]
    named = {vl for vl, _ in weights}
    most = max((weight for _, weight in stated), default=0)
    unnamed = [(vl, most) for vl in range(layers) if vl not in named] if stated else []
    entries = [f"{vl}:{weight}" for vl, weight in (*stated, *unnamed)]
    if entries:
        yield ManagerSetting(f"qos_vlarb_{table}", ",".join(entries), origin, True)


def _engine(loaded: LoadedSubnet) -> str | None:
    routing = loaded.intent.subnet_manager.routing
    return routing.engine[0] if routing is not None and routing.engine else None


def _layers(loaded: LoadedSubnet, qos: SubnetQos) -> int:
    """Return how many VLs the routing engine divides its paths among; paths on VL n have SL n. 0: it uses no lanes."""
    return qos.vls or DROP if _engine(loaded) in SL_IS_LANE else 0


def _torus_arbitration(qos: SubnetQos, table: str, origin: Origin) -> Iterator[ManagerSetting]:
    """Yield the settings of a VL arbitration table for each kind of port, with the VLs that torus-2QoS assigns."""
    levels = [(level.sl, getattr(level, table)) for level in qos.levels.values()]
    stated = [(sl, weight) for sl, weight in levels if weight is not None]
    for kind in TORUS_PORTS:
        lanes = {sl: torus_lanes(kind, qos.vls or DROP, sl) for sl, _ in stated}
        entries = {
            vl: max(w for sl, w in stated if vl in lanes[sl]) for vl in sorted(set().union(*lanes.values()))
        }
        if entries:
            text = ",".join(f"{vl}:{weight}" for vl, weight in entries.items())
            yield ManagerSetting(f"qos_{kind}_vlarb_{table}", text, origin, True)


def _sl2vl(qos: SubnetQos, layers: int) -> list[int]:
    """Return the VL of every SL; SLs without a level use that of ``rest``, else that of SL 0, else they are dropped.

    Where the engine divides its paths among lanes, each path has the SL of its lane, and these SLs have the VL of their
    number unless a level has them.
    """
    by_sl = {level.sl: level.vl for level in qos.levels.values()}
    rest = qos.levels[qos.rest].vl if qos.rest is not None else by_sl.get(0, DROP)
    return [by_sl.get(sl, sl if sl < layers else rest) for sl in range(SL_COUNT)]


FULL_LANES = 4


class SubnetPortUse(NamedTuple):
    """A link end at a switch: its rate, its purpose, its origin, and the port where one is named.

    Of the ends without a named port, those of a lower ``order`` get the lower ports.
    """

    rate: str
    purpose: str
    origin: Origin
    port: int | None
    order: int = 0


class SubnetPorts(NamedTuple):
    """The ports of one switch: the highest number, and the port of each use in order, None where none was left."""

    highest: int
    numbers: tuple[int | None, ...]


def cages(profile: InfinibandSwitchProfile) -> int:
    """Return the number of unsplit ports of a switch: those at a rate of all lanes, else half of the split ports."""
    whole = [count for rate, count in profile.ports.items() if RATES[rate].lanes == FULL_LANES]
    return max(whole, default=max(profile.ports.values()) // 2)


def place(profile: InfinibandSwitchProfile, uses: Sequence[SubnetPortUse]) -> SubnetPorts:
    """Return the ports of a switch's links: first those that are named, then the others by their order.

    If a link uses half the lanes, every port of the switch counts as two, and a link of all lanes takes the odd number.
    The numbers of the model are therefore unique, which is all that routing needs; ``ibnetdiscover`` reports the port
    numbers of a deployed switch.
    """
    halves = any(RATES[use.rate].lanes < FULL_LANES for use in uses)
    highest = cages(profile) * (2 if halves else 1)
    taken = {use.port for use in uses if use.port is not None}
    free = _Free(highest, taken, halves=halves)
    numbers = [use.port for use in uses]
    for index in sorted(range(len(uses)), key=lambda index: uses[index].order):
        numbers[index] = numbers[index] or free.next(RATES[uses[index].rate].lanes)
    return SubnetPorts(highest, tuple(numbers))


class _Free:
    """Allocates port numbers of an InfiniBand switch from 1 on; the halves of a split port follow each other."""

    def __init__(self, highest: int, taken: set[int], *, halves: bool) -> None:
        self._highest, self._taken, self._step = highest, taken, 2 if halves else 1
        self._next = 1
        self._half: int | None = None

    def next(self, lanes: int) -> int | None:
        if lanes < FULL_LANES and self._half is not None:
            half, self._half = self._half, None
            return half
        while self._next <= self._highest:
            first, self._next = self._next, self._next + self._step
            both = range(first, first + self._step)
            if self._taken.isdisjoint(both):
                self._half = first + 1 if lanes < FULL_LANES and self._step == 2 else self._half
                return first
        return None


def demand(switch: str, uses: Sequence[SubnetPortUse]) -> Iterator[SubnetPortDemand]:
    """Yield how many ports of each rate the links of a switch need, and their purpose."""
    counted = Counter((use.rate, use.purpose, use.origin) for use in uses)
    for (rate, purpose, origin), count in counted.items():
        yield SubnetPortDemand(switch, count, RATES[rate], purpose, origin)


def resolve_subnet(loaded: LoadedSubnet, profile_dirs: Sequence[str | PathLike[str]] = ()) -> Subnet:
    """Return the subnet that an intent declares.

    An unsafe or impossible subnet is built nevertheless, for rules to report.

    Raises:
        InputError: a profile that is missing or wrong, a switch, host, port, level or partition that does not exist, a
            name or option given twice, or an invalid GUID; located in the intent or its GUID file.
    """
    return _SubnetResolver(loaded, profile_dirs).subnet()


class _SubnetResolver:
    def __init__(self, loaded: LoadedSubnet, profile_dirs: Sequence[str | PathLike[str]]) -> None:
        self.loaded = loaded
        self.layout: SubnetLayout = layout_of(loaded)
        self.hardware = _Hardware(loaded, profile_dirs)

    def subnet(self) -> Subnet:
        loaded, intent = self.loaded, self.loaded.intent
        switches, links, demands = self._wired()
        hosts, hcas = self._hosts()
        guids = guids_of(loaded, {**switches, **hcas})
        switches = {name: switch._replace(guid=guids.get(name)) for name, switch in switches.items()}
        hcas = {name: hca._replace(guid=guids.get(name)) for name, hca in hcas.items()}
        services = Services(loaded, HostNames(hosts), hcas, switches)
        shape = self._shape()
        options = options_of(loaded)
        subnet = Subnet(
            name=intent.fabric,
            provenance="intent",
            flavour=intent.flavour,
            manager=intent.subnet_manager.manager,
            origin=loaded.origin("subnet_manager"),
            files=(loaded.document.file,),
            options=options,
            secrets=self._secrets(),
            subnet_prefix=intent.subnet_manager.prefix,
            shape=shape,
            switches=tuple(switches.values()),
            hosts=tuple(hosts.values()),
            hcas=tuple(hcas.values()),
            links=links,
            demand=demands,
            managers=services.managers(),
            routing=services.routing(shape.roots),
            qos=qos_of(options, levels_of(loaded), loaded.origin("qos")),
            partitions=services.partitions(),
            sharp=services.sharp(),
            job=services.job(),
            gv=self._gv(),
            cluster=resolved_cluster(intent.cluster, loaded.origin("cluster")),
        )
        services.finish()
        return subnet

    def _wired(self) -> tuple[dict[str, SubnetSwitch], tuple[SubnetLink, ...], tuple[SubnetPortDemand, ...]]:
        """Return the switches, the links with port numbers, and the required ports of every switch."""
        uses: dict[str, list[SubnetPortUse]] = {spot.name: [] for spot in self.layout.switches}
        for wire in self.layout.wires:
            uses[wire.a].append(
                SubnetPortUse(wire.rate, wire.purpose, wire.origin, wire.a_port, wire.a_order)
            )
            if wire.rail is None:
                uses[wire.b].append(
                    SubnetPortUse(wire.rate, wire.purpose, wire.origin, wire.b_port, wire.b_order)
                )
        profiles = {spot.name: self.hardware.switch(spot) for spot in self.layout.switches}
        placed = {name: place(profiles[name][0], ends) for name, ends in uses.items()}
        self._check_named(uses, placed)
        switches = {
            spot.name: _switch(spot, *profiles[spot.name], placed[spot.name].highest)
            for spot in self.layout.switches
        }
        asked = tuple(port_demand for name, ends in uses.items() for port_demand in demand(name, ends))
        return switches, tuple(self._links(placed)), asked

    def _check_named(
        self, uses: Mapping[str, Sequence[SubnetPortUse]], placed: Mapping[str, SubnetPorts]
    ) -> None:
        problems = [
            self.loaded.problem(
                use.origin, f"{name} has ports 1 to {placed[name].highest}, and no {use.port}"
            )
            for name, ends in uses.items()
            for use in ends
            if use.port is not None and use.port > placed[name].highest
        ]
        if problems:
            raise InputError(problems)

    def _links(self, placed: Mapping[str, SubnetPorts]) -> list[SubnetLink]:
        numbers = {name: iter(ports.numbers) for name, ports in placed.items()}
        return [
            SubnetLink(
                wire.a,
                next(numbers[wire.a]),
                wire.b if wire.rail is None else _hca_name(wire.b, wire.rail),
                1 if wire.rail is not None else next(numbers[wire.b]),
                RATES[wire.rate],
                wire.rail is not None,
                wire.origin,
            )
            for wire in self.layout.wires
        ]

    def _hosts(self) -> tuple[dict[str, SubnetHost], dict[str, Hca]]:
        rails: dict[str, list[int]] = {spot.name: [] for spot in self.layout.hosts}
        for wire in self.layout.wires:
            if wire.rail is not None:
                rails[wire.b].append(wire.rail)
        hosts, hcas = {}, {}
        for spot in self.layout.hosts:
            own = {_hca_name(spot.name, rail): rail for rail in sorted(rails[spot.name])}
            hosts[spot.name] = SubnetHost(spot.name, self._role(spot), tuple(own), spot.origin)
            profile, origin = self.hardware.hca(spot)
            for name, rail in own.items():
                hcas[name] = Hca(name, spot.name, f"mlx5_{rail}", rail, profile, None, spot.origin, origin)
        return hosts, hcas

    def _role(self, spot: HostSpot) -> HostRole:
        choice = self.loaded.intent.topology.hosts.get(spot.name)
        return "compute" if choice is None else choice.role

    def _shape(self) -> SubnetShape:
        topology = self.loaded.intent.topology
        kind, key = _kind(topology)
        tiers = [(tier, spot.name) for spot in self.layout.switches if (tier := TIERS[spot.role]) is not None]
        top = max((tier for tier, _ in tiers), default=0)
        return SubnetShape(
            kind=kind,
            origin=self.loaded.origin("topology", key),
            sides=topology.torus.sides if topology.torus is not None else (),
            groups=topology.dragonfly_plus.groups if topology.dragonfly_plus is not None else 0,
            roots=tuple(name for tier, name in tiers if tier == top)
            if kind in ("fat-tree", "explicit")
            else (),
            oversubscription=topology.oversubscription,
        )

    def _secrets(self) -> tuple[Secret, ...]:
        return tuple(
            Secret(key, variable, self.loaded.origin("subnet_manager", "keys", key))
            for key, variable in self.loaded.intent.subnet_manager.keys.stated().items()
        )

    def _gv(self) -> tuple[ManagerSetting, ...]:
        return tuple(
            ManagerSetting(
                key, text, self.loaded.origin("subnet_manager", "ufm", section, key), section=section
            )
            for section, settings in self.loaded.intent.subnet_manager.ufm.items()
            for key, text in settings.items()
        )


def _kind(topology: object) -> tuple[ShapeKind, Literal["fat_tree", "dragonfly_plus", "torus", "switches"]]:
    if getattr(topology, "fat_tree", None) is not None:
        return "fat-tree", "fat_tree"
    if getattr(topology, "dragonfly_plus", None) is not None:
        return "dragonfly-plus", "dragonfly_plus"
    return ("torus", "torus") if getattr(topology, "torus", None) is not None else ("explicit", "switches")


def _hca_name(host: str, rail: int) -> str:
    return f"{host}:mlx5_{rail}"


def _switch(
    spot: SwitchSpot, profile: InfinibandSwitchProfile, hardware_origin: Origin, ports: int
) -> SubnetSwitch:
    return SubnetSwitch(
        name=spot.name,
        role=spot.role,
        tier=TIERS[spot.role],
        profile=profile,
        ports=ports,
        guid=None,
        origin=spot.origin,
        hardware_origin=hardware_origin,
        coordinates=spot.coordinates,
        group=spot.group,
    )


class _Hardware:
    """Looks up the products of switches and hosts, each once, and the origin of each choice."""

    def __init__(self, loaded: LoadedSubnet, folders: Sequence[str | PathLike[str]]) -> None:
        self._loaded, self._folders = loaded, folders
        self._switches: dict[str, InfinibandSwitchProfile] = {}
        self._hcas: dict[str, HcaProfile] = {}

    def switch(self, spot: SwitchSpot) -> tuple[InfinibandSwitchProfile, Origin]:
        """Return the product of a switch; raises InputError where none is declared, or its profile cannot be loaded."""
        name, origin = self._switch_choice(spot)
        try:
            if name not in self._switches:
                self._switches[name] = load_infiniband_switch(name, self._folders)
        except ProfileError as error:
            raise InputError([self._loaded.problem(origin, str(error))]) from None
        return self._switches[name], origin

    def hca(self, spot: HostSpot) -> tuple[HcaProfile, Origin]:
        """Return the adapter of a host; raises InputError where its profile is missing or wrong."""
        name, origin = self._loaded.intent.hardware.hca, self._loaded.origin("hardware", "hca")
        choice = self._loaded.intent.topology.hosts.get(spot.name)
        if choice is not None and choice.hca is not None:
            name, origin = choice.hca, self._loaded.origin("topology", "hosts", spot.name, "hca")
        try:
            if name not in self._hcas:
                self._hcas[name] = load_hca(name, self._folders)
        except ProfileError as error:
            raise InputError([self._loaded.problem(origin, str(error))]) from None
        return self._hcas[name], origin

    def _switch_choice(self, spot: SwitchSpot) -> tuple[str, Origin]:
        loaded = self._loaded
        listed = (loaded.intent.topology.switches or {}).get(spot.name)
        if listed is not None and listed.hardware is not None:
            return listed.hardware, loaded.origin("topology", "switches", spot.name, "hardware")
        product, key = loaded.intent.hardware.of_role(spot.role)
        if product is None:
            says = f"hardware.{spot.role} is missing, and hardware.switch that would stand for it"
            raise InputError([loaded.problem(loaded.origin("hardware", spot.role), says)])
        return product, loaded.origin("hardware", key)
