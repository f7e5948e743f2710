"""Resolves classes of an intent to the QoS maps of ports, its hardware to profiles, and its links to switch ports.

Every product name without a profile is a located problem, and so is a mistake in the configuration of a switch's
cages and ports.

A link gets a port of a switch from the HWSKU's port table, or by breaking out a cage. Ports are taken in the order of
the front panel. A port of the HWSKU's own table comes first; where none of that speed is left, unused cages are split
with the breakout mode that gives most ports of the speed. A cage with a declared breakout is split only as declared,
and a port that must stay down is assigned to no link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.classes import NoCurve
from lossless.formats.intent.policy import ClassPlace, as_written, statements
from lossless.formats.intent.problems import in_file_order, wred_name_at
from lossless.ground.basics.errors import InputError, Problem, ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, suggestion
from lossless.model.fabric.cluster import dscp_of_name, name_of_dscp
from lossless.model.fabric.model import ClassSet, NamedDscp, TrafficClass
from lossless.model.fabric.qos import DSCPS, PRIORITIES, Curve, IndexMap, PriorityMask, Scheduler, Wred
from lossless.model.hardware.devices import in_format
from lossless.model.hardware.load import load_nic, load_switch
from lossless.model.hardware.model import widest_split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from lossless.analysis.topology.shapes import PlanNode
    from lossless.formats.intent.classes import CurveIntent
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.wiring import SwitchChoice
    from lossless.ground.basics.findings import Origin
    from lossless.model.hardware.devices import NicProfile
    from lossless.model.hardware.model import Cage, Hwsku, PortSpec, SwitchProfile


_MOST_NAMES = 5
"""The most names of cages or ports that a message lists."""


class CageReader:
    """Checks ``breakout`` and ``down`` of one hardware choice against the cages and ports of its product."""

    def __init__(
        self, loaded: LoadedIntent, profile: SwitchProfile, hwsku: Hwsku, path: tuple[str, ...]
    ) -> None:
        self._loaded = loaded
        self._profile = profile
        self._hwsku = hwsku
        self._path = path

    def settings(self, choice: SwitchChoice, problems: list[Problem]) -> CageSettings:
        """Return the breakout of cages and the ports that stay down; invalid entries are appended to ``problems``."""
        breakout = {}
        for name, (count, speed_bps) in choice.breakout.items():
            ports = self._split(name, count, speed_bps, problems)
            if ports:
                breakout[name] = ports
        self._check_down(choice.down, breakout, problems)
        return CageSettings(tuple(sorted(breakout.items())), tuple(sorted(choice.down)))

    def _split(self, name: str, count: int, speed_bps: int, problems: list[Problem]) -> tuple[PortSpec, ...]:
        cage = self._profile.cage(name)
        mode = cage.mode_for(count, speed_bps) if cage else None
        if cage is not None and mode is not None:
            return self._profile.breakout(cage, mode, speed_bps)
        problems.append(self._problem(self._cannot(name, cage, count, speed_bps), "breakout", name))
        return ()

    def _cannot(self, name: str, cage: Cage | None, count: int, speed_bps: int) -> str:
        if cage is None:
            cages = _some([cage.name for cage in self._profile.cages])
            return f"{self._profile.name} has no cage {name}; its cages are {cages}"
        known = ", ".join(mode.text for mode in cage.modes)
        return f"{name} cannot be {count} x {format_rate(speed_bps)}; it can be {known}"

    def _check_down(
        self, down: tuple[str, ...], breakout: dict[str, tuple[PortSpec, ...]], problems: list[Problem]
    ) -> None:
        known = self._names(breakout) if down else {}
        for index, name in enumerate(down):
            if name in down[:index]:
                problems.append(self._problem(f"{name} occurs twice in the list", "down", index))
            elif name not in known:
                why = f"{self._profile.name} has no port {name}; its ports can be {_some(list(known))}"
                problems.append(self._problem(why, "down", index))

    def _names(self, breakout: dict[str, tuple[PortSpec, ...]]) -> dict[str, None]:
        """Return the possible port names: of configured breakouts, of the HWSKU, and of all modes of other cages."""
        ports = [port for split_ports in breakout.values() for port in split_ports]
        ports += self._hwsku.ports
        for cage in self._profile.cages:
            if cage.name not in breakout:
                ports += (port for mode in cage.modes for port in self._profile.breakout(cage, mode))
        return {port.name: None for port in ports}

    def _problem(self, message: str, *keys: str | int) -> Problem:
        origin = self._loaded.origin(*self._path, *keys)
        dotted = ".".join(map(str, (*self._path, *keys)))
        return self._loaded.problem(origin, f"{dotted}: {message}")


def _some(known: list[str]) -> str:
    """Return names of cages or ports for a message: of many only the first four and the last."""
    if len(known) <= _MOST_NAMES:
        return ", ".join(known)
    return f"{', '.join(known[: _MOST_NAMES - 1])} ... {known[-1]}"


MAP_NAME = "AZURE"
"""The name of QoS maps that SONiC's tools require.

Source: sonic-buildimage files/build_templates/qos_config.j2 @086b03b.
"""
WRED_NAME = "AZURE_LOSSLESS"
"""The one WRED profile that the config updater changes in place (rules of GCU, releases 202305 to 202411)."""


class Maps(NamedTuple):
    """The QoS maps and the PFC mask of ports.

    ``pfc_to_pg`` is None where no class is lossless, both PFC maps where the link has no PFC.
    """

    dscp_to_tc: IndexMap
    tc_to_queue: IndexMap
    tc_to_pg: IndexMap
    pfc_to_queue: IndexMap | None
    pfc_to_pg: IndexMap | None
    pfc: PriorityMask


class PlacedGroups(NamedTuple):
    """The priority groups of classes on the ports of one speed of a switch, by class, and the origin of each.

    ``shared`` is the group of traffic of no class, ``targets`` has the group of each TC.
    """

    shared: int
    numbers: Mapping[str, int]
    origins: Mapping[str, Origin]
    targets: tuple[int, ...]


def class_set(loaded: LoadedIntent) -> ClassSet:
    """Return the declared traffic classes, sorted by priority; their order in the document has no meaning."""
    return ClassSet(
        "declared",
        tuple(
            TrafficClass(
                name=name,
                dscps=tuple(sorted(cls.dscps)),
                rest=cls.rest,
                priority=cls.priority,
                lossless=cls.lossless,
                origin=loaded.origin("classes", name),
                named_dscps=tuple(_named(loaded, name)),
            )
            for name, cls in sorted(loaded.intent.classes.items(), key=lambda item: item[1].priority)
        ),
    )


def _named(loaded: LoadedIntent, class_name: str) -> Iterator[NamedDscp]:
    """Yield the DSCPs that a class declares by name and number; the validated intent keeps the numbers alone."""
    origin = loaded.origin("classes", class_name, "dscp")
    written: object = loaded.document.data
    for key in ("classes", class_name, "dscp"):
        written = written.get(key) if isinstance(written, dict) else None
    entries = (
        [(origin.at(i), e) for i, e in enumerate(written)]
        if isinstance(written, list)
        else [(origin, written)]
    )
    for at, entry in entries:
        for name, dscp in entry.items() if isinstance(entry, dict) else ():
            yield NamedDscp(name, dscp_of_name(name) or 0, dscp, name_of_dscp(dscp), at.at(name))


def maps(loaded: LoadedIntent) -> Maps:
    """Return the QoS maps of the fabric without exceptions for switches or speeds: priority = TC = queue."""
    classes = loaded.intent.classes
    origin = loaded.origin("classes")
    owners = {dscp: name for name, cls in classes.items() for dscp in cls.dscps}
    rest = next(name for name, cls in classes.items() if cls.rest)
    dscp_owner = [owners.get(dscp, rest) for dscp in DSCPS]
    lossless = tuple(sorted(cls.priority for cls in classes.values() if cls.lossless))
    named = {cls.priority: name for name, cls in classes.items()}
    priorities = tuple(
        loaded.origin("classes", named[p], "priority") if p in named else origin for p in PRIORITIES
    )
    identity = IndexMap(MAP_NAME, tuple(PRIORITIES), origin, priorities)
    plain = Maps(
        dscp_to_tc=IndexMap(
            MAP_NAME,
            tuple(classes[name].priority for name in dscp_owner),
            origin,
            tuple(loaded.origin("classes", name, "dscp") for name in dscp_owner),
        ),
        tc_to_queue=identity,
        tc_to_pg=identity,
        pfc_to_queue=identity,
        pfc_to_pg=identity,
        pfc=PriorityMask(lossless, origin),
    )
    return in_groups(loaded, plain, class_groups(loaded, ClassPlace("", "", 0)), MAP_NAME)


def in_groups(loaded: LoadedIntent, plain: Maps, groups: PlacedGroups, name: str) -> Maps:
    """Return a copy of QoS maps whose maps to priority groups have the groups and the name given."""
    named = {cls.priority: name for name, cls in loaded.intent.classes.items()}
    paused = tuple(group if p in plain.pfc.priorities else None for p, group in enumerate(groups.targets))
    origin = loaded.origin("classes")
    origins = tuple(groups.origins[named[p]] if p in named else origin for p in PRIORITIES)
    return plain._replace(
        tc_to_pg=IndexMap(name, groups.targets, origin, origins),
        # orchagent ends at a map without entries: sonic-swss orchagent/qosorch.cpp @bcd579d.
        pfc_to_pg=IndexMap(name, paused, origin, origins) if plain.pfc.priorities else None,
    )


def class_groups(loaded: LoadedIntent, place: ClassPlace) -> PlacedGroups:
    """Return the priority group of each class on the ports of a place.

    A lossless class has the group of its priority. Lossy classes share group 0, as in stock SONiC; where 0 is lossless
    they share the first group that no lossless priority has, because they would use up its headroom. ``pg`` overrides
    both.
    """
    classes = loaded.intent.classes
    own = {cls.priority for cls in classes.values() if cls.lossless}
    shared = min(set(PRIORITIES) - own, default=0)
    numbers, origins = {}, {}
    for name, cls in classes.items():
        stated = next(statements(cls.pg, place), None) if cls.pg else None
        if stated is None:
            numbers[name] = cls.priority if cls.lossless else shared
            origins[name] = loaded.origin("classes", name, "priority")
        else:
            numbers[name], below = stated
            path = as_written(loaded.document, ("classes", name, "pg", *below))
            number = (*path, "number")
            origins[name] = loaded.origin(*(number if loaded.document.exists(number) else path))
    by_tc = {cls.priority: numbers[name] for name, cls in classes.items()}
    return PlacedGroups(shared, numbers, origins, tuple(by_tc.get(tc, shared) for tc in PRIORITIES))


def schedulers(loaded: LoadedIntent) -> dict[str, Scheduler]:
    """Return the scheduler of each class by name.

    DWRR classes without a share divide the rest equally, at least 1 percent each.
    """
    classes = loaded.intent.classes
    open_shares = [cls for cls in classes.values() if cls.bandwidth is None and cls.scheduling != "strict"]
    taken = sum(cls.bandwidth or 0 for cls in classes.values())
    share = max(1, (100 - taken) // len(open_shares)) if open_shares else 0
    by_class = {}
    for name, cls in classes.items():
        strict = cls.scheduling == "strict"
        by_class[name] = Scheduler(
            name=f"scheduler.{name}",
            kind="STRICT" if strict else "DWRR",
            weight=None if strict else cls.bandwidth or share,
            origin=loaded.origin("classes", name, "scheduling" if strict else "bandwidth"),
        )
    return by_class


def wred(loaded: LoadedIntent, class_name: str, place: ClassPlace) -> tuple[Wred | None, Origin]:
    """Return the WRED profile of a class on the ports of a place, None where ECN is off, and the origin of that choice.

    All colors have the class's curve unless they have their own: RDMA packets are green unless a device on the path
    recolors them.
    """
    policy = loaded.intent.classes[class_name].ecn
    stated = next(statements(policy, place), None) if policy else None
    ecn, path = stated or (None, ())
    origin = loaded.origin(*as_written(loaded.document, ("classes", class_name, "ecn", *path)))
    if ecn is None or isinstance(ecn, NoCurve):
        return None, origin
    green, yellow, red = (_curve(curve or ecn) for curve in (ecn, ecn.yellow, ecn.red))
    own_speed = place.speed_bps if "by_speed" in path else None
    return Wred(_wred_name(loaded, class_name, place, own_speed), green, yellow, red, origin), origin


def _curve(ecn: CurveIntent) -> Curve:
    if isinstance(ecn, NoCurve):
        return Curve(enabled=False, marks=False, min_bytes=None, max_bytes=None, probability_percent=None)
    return Curve(
        enabled=True, marks=True, min_bytes=ecn.min, max_bytes=ecn.max, probability_percent=ecn.probability
    )


def _wred_name(loaded: LoadedIntent, class_name: str, place: ClassPlace, own_speed: int | None) -> str:
    """Return the name of a WRED profile: the common one, or by class and own speed.

    It is the common one where the intent has one curve for the switch, at all speeds that any class names.
    """
    curves = {
        next(statements(policy, place._replace(speed_bps=speed_bps)), (None, ()))[0]
        for cls in loaded.intent.classes.values()
        if (policy := cls.ecn)
        for speed_bps in (0, *policy.speeds())
    }
    if sum(curve is not None and not isinstance(curve, NoCurve) for curve in curves) == 1:
        return WRED_NAME
    return class_name if own_speed is None else wred_name_at(class_name, own_speed)


class CageSettings(NamedTuple):
    """Settings of a switch's ports: the declared breakout of cages, by name, and ports that stay down."""

    breakout: tuple[tuple[str, tuple[PortSpec, ...]], ...] = ()
    down: tuple[str, ...] = ()


NO_CAGE_SETTINGS = CageSettings()


class PortPlacement:
    """Assigns the ports of one switch."""

    def __init__(self, profile: SwitchProfile, hwsku: Hwsku, cages: CageSettings = NO_CAGE_SETTINGS) -> None:
        self._profile = profile
        self._breakouts = dict(cages.breakout)
        self._down = frozenset(cages.down)
        self._native: dict[int, list[PortSpec]] = {}
        for port in hwsku.ports:
            self._native.setdefault(port.index, []).append(port)
        self._untouched = {cage.index: cage for cage in profile.cages}
        self._native_bps = {cage.index: self._only_speed(cage) for cage in profile.cages}
        self._open: dict[int, list[PortSpec]] = {}
        self._by_name: dict[int, dict[str, list[tuple[Cage, list[PortSpec]]]]] = {}
        self._kept_down: list[PortSpec] = []

    def take(self, speed_bps: int) -> PortSpec | None:
        """Take the next free port of a speed and return it, None where the switch has none left."""
        waiting = self._open.get(speed_bps)
        while not waiting and (waiting := self._open_cage(speed_bps)) is not None:
            pass  # a cage all of whose ports stay down gives none
        return waiting.pop(0) if waiting else None

    def keep(self, speed_bps: int) -> bool:
        """Reserve the next free port of a speed, down until a link needs it; return whether there is one."""
        spec = self.take(speed_bps)
        if spec is not None:
            self._kept_down.append(spec)
        return spec is not None

    def claim(self, name: str, speed_bps: int) -> PortSpec | None:
        """Take the port of a name and return it, None where it does not exist at that speed or is taken."""
        for cage, ports in self._cages_with(name, speed_bps):
            if cage.index in self._untouched:
                self._use(cage, speed_bps, ports)
        waiting = self._open.get(speed_bps, [])
        match = next((port for port in waiting if port.name == name), None)
        if match is not None:
            waiting.remove(match)
        return match

    def unused(self) -> Iterator[PortSpec]:
        """Yield the ports without a link: those kept free or down, then of used cages, then of untouched cages."""
        yield from self._kept_down
        for waiting in self._open.values():
            yield from waiting
        for cage in self._untouched.values():
            yield from self._ports_as_they_are(cage)

    def _open_cage(self, speed_bps: int) -> list[PortSpec] | None:
        native = self._native_bps
        for index, cage in self._untouched.items():
            if native[index] == speed_bps:
                return self._use(cage, speed_bps, self._ports_as_they_are(cage))
        for cage in self._untouched.values():
            ports = self._ports_of(cage, speed_bps)
            if ports:
                return self._use(cage, speed_bps, ports)
        return None

    def _cages_with(self, name: str, speed_bps: int) -> list[tuple[Cage, list[PortSpec]]]:
        """Return the cages that can have a port of a name at a speed, each with all of its ports."""
        if speed_bps not in self._by_name:
            named: dict[str, list[tuple[Cage, list[PortSpec]]]] = {}
            self._by_name[speed_bps] = named
            for cage in self._untouched.values():
                ports = self._ports_of(cage, speed_bps)
                for port in dict.fromkeys(port.name for port in ports):
                    named.setdefault(port, []).append((cage, ports))
        return self._by_name[speed_bps].get(name, [])

    def _use(self, cage: Cage, speed_bps: int, ports: list[PortSpec]) -> list[PortSpec]:
        del self._untouched[cage.index]
        waiting = self._open.setdefault(speed_bps, [])
        for port in ports:
            (self._kept_down if port.name in self._down else waiting).append(port)
        return waiting

    def _ports_as_they_are(self, cage: Cage) -> list[PortSpec]:
        """Return the ports of a cage as the intent splits it, else as the HWSKU does."""
        ports = self._breakouts.get(cage.name)
        return self._native.get(cage.index, []) if ports is None else list(ports)

    def _only_speed(self, cage: Cage) -> int | None:
        """Return the one speed of a cage's current ports; None where it has no ports, or ports of several speeds."""
        speeds = {port.speed_bps for port in self._ports_as_they_are(cage)}
        return speeds.pop() if len(speeds) == 1 else None

    def _ports_of(self, cage: Cage, speed_bps: int) -> list[PortSpec]:
        if self._native_bps[cage.index] == speed_bps:
            return self._ports_as_they_are(cage)
        if cage.name in self._breakouts:
            return []
        mode = widest_split(cage, speed_bps)
        return list(self._profile.breakout(cage, mode, speed_bps)) if mode else []


class SwitchHardware(NamedTuple):
    """The product and HWSKU of a switch, the origin of that choice, and the settings of its cages and ports."""

    profile: SwitchProfile
    hwsku: Hwsku
    origin: Origin
    cages: CageSettings


class FabricHardware(NamedTuple):
    """The hardware of a fabric: its NIC profile, other NIC profiles by host, and the hardware of switches by name."""

    nic: NicProfile
    other_nics: dict[str, NicProfile]
    switches: dict[str, SwitchHardware]


def find_hardware(
    loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]], nodes: Iterable[PlanNode]
) -> FabricHardware:
    """Return the hardware of a fabric by its profiles.

    Raises:
        InputError: every profile that does not exist or cannot be read, every unknown HWSKU or system, every role
            without a product, and every invalid cage or port setting, each located in the intent.
    """
    finder = _Finder(loaded, profile_dirs)
    nic = finder.nic(loaded.intent.hardware.nic, "hardware", "nic")
    devices = loaded.intent.topology.devices or {}
    others = {n: finder.nic(d.nic, "topology", "devices", n, "nic") for n, d in devices.items() if d.nic}
    switches = {node.name: finder.switch(node) for node in nodes if node.role != "host" and not node.outside}
    if finder.problems or nic is None:
        raise InputError(in_file_order(finder.problems))
    other_nics = {name: own for name, own in others.items() if own}
    return FabricHardware(
        nic, other_nics, {name: hardware for name, hardware in switches.items() if hardware}
    )


class _Finder:
    def __init__(self, loaded: LoadedIntent, profile_dirs: Sequence[str | PathLike[str]]) -> None:
        self.problems: list[Problem] = []
        self._loaded = loaded
        self._profile_dirs = profile_dirs
        self._nics: dict[str, NicProfile] = {}
        self._by_path: dict[tuple[str, ...], SwitchHardware | None] = {}

    def nic(self, name: str, *path: str) -> NicProfile | None:
        if name not in self._nics:
            try:
                self._nics[name] = load_nic(name, self._profile_dirs)
            except ProfileError as error:
                self._refuse(self._loaded.origin(*path), f"{'.'.join(path)}: {error}")
                return None
        return self._nics[name]

    def switch(self, node: PlanNode) -> SwitchHardware | None:
        path: tuple[str, ...] = ("hardware", self._loaded.intent.hardware.choice(node.role)[1])
        if node.hardware is not None:
            path = ("topology", "devices", node.hardware, "hardware")
        if path not in self._by_path:
            self._by_path[path] = self._choose(node, path)
        return self._by_path[path]

    def _choose(self, node: PlanNode, path: tuple[str, ...]) -> SwitchHardware | None:
        intent = self._loaded.intent
        devices = intent.topology.devices or {}
        choice = (
            intent.hardware.choice(node.role)[0] if node.hardware is None else devices[node.hardware].hardware
        )
        if choice is None:
            message = f"hardware: {node.role} is missing; {node.name} is a {node.role}"
            self._refuse(self._loaded.origin("hardware").key(), message)
            return None
        return self._load(choice, path)

    def _load(self, choice: SwitchChoice, path: tuple[str, ...]) -> SwitchHardware | None:
        origin, dotted = self._loaded.origin(*path), ".".join(path)
        try:
            profile = load_switch(choice.profile, self._profile_dirs)
        except ProfileError as error:
            self._refuse(self._below(path, "profile"), f"{dotted}: {error}")
            return None
        system = choice.format or profile.default_format
        if system not in profile.runs:
            hint = suggestion(system, profile.runs)
            message = f"{dotted}.format: {profile.name} is not known to run {system!r}{hint}"
            self._refuse(self._below(path, "format"), message)
            return None
        profile = in_format(profile, system)
        name = choice.hwsku or profile.default_hwsku
        hwsku = profile.hwsku(name)
        if hwsku is not None:
            cages = CageReader(self._loaded, profile, hwsku, path).settings(choice, self.problems)
            return SwitchHardware(profile, hwsku, origin, cages)
        known = [h.name for h in profile.hwskus]
        hint = suggestion(name, known, see=f"lossless profiles {profile.name}")
        message = f"{dotted}: {profile.name} has no HWSKU {name!r}{hint}"
        self._refuse(self._below(path, "hwsku"), message)
        return None

    def _below(self, path: tuple[str, ...], key: str) -> Origin:
        """Return the origin of a key of a hardware choice, or of the choice where it is a plain name."""
        exists = self._loaded.document.exists((*path, key))
        return self._loaded.origin(*path, key) if exists else self._loaded.origin(*path)

    def _refuse(self, origin: Origin, message: str) -> None:
        self.problems.append(self._loaded.problem(origin, message))
