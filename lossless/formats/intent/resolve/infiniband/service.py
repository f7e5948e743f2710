"""Resolves managers, routing, partitions, SHARP and jobs of an InfiniBand intent, and its topology to a layout.

Every name is looked up: ``host[1-16]``, ``host1:mlx5_0``, ``@storage``, and opensm's words. A layout comes from a
shape, or from the listed switches and links.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from pydantic_core import PydanticCustomError

from lossless.analysis.topology.cabling_comparison import (
    HostSpot,
    SubnetDragonflyPlusShape,
    SubnetFatTreeShape,
    SubnetLayout,
    SubnetLinks,
    SubnetTorusShape,
    SubnetWire,
    SwitchSpot,
    dragonfly_plus,
    fat_tree,
    torus,
)
from lossless.formats.intent.base import refused
from lossless.formats.intent.infiniband.document import FatTree, SubnetDragonflyPlus, SubnetTorus, split_end
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import suggestion
from lossless.model.fabric.infiniband.qos_policy import RATES
from lossless.model.fabric.infiniband.subnet import (
    HostRole,
    Job,
    ManagerHost,
    ManagerSetting,
    Member,
    Membership,
    Partition,
    Sharp,
    SubnetRouting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.formats.intent.infiniband.document import HostChoice, LoadedSubnet, SwitchLink
    from lossless.formats.intent.infiniband.service import PartitionChoice, PartitionMembers
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.infiniband.subnet import Hca, SubnetHost, SubnetSwitch


WORDS = ("ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF")
"""Words of opensm that stand for many ports at once (opensm(8), partition configuration)."""
_GUID = re.compile(r"0[xX][0-9A-Fa-f]{1,16}")


class Services:
    """Looks up host, HCA and switch names in the service sections of an intent; unknown ones become problems."""

    def __init__(
        self,
        loaded: LoadedSubnet,
        names: HostNames,
        hcas: Mapping[str, Hca],
        switches: Mapping[str, SubnetSwitch],
    ) -> None:
        self._loaded, self._names, self._hcas, self._switches = loaded, names, hcas, switches
        self.problems: list[Problem] = []

    def finish(self) -> None:
        """Raise InputError with the problems of the names that were looked up, if any."""
        if self.problems:
            raise InputError(self.problems)

    def managers(self) -> tuple[ManagerHost, ...]:
        """Return the hosts or switches of the subnet managers, in the order of the intent."""
        managers = []
        for index, choice in enumerate(self._loaded.intent.subnet_manager.hosts):
            path = ("subnet_manager", "hosts", index)
            node, hca = self._node(choice.on, (*path, "on"))
            managers.append(
                ManagerHost(node, hca, choice.priority, choice.standby, self._loaded.origin(*path))
            )
        return tuple(managers)

    def routing(self, top: Sequence[str]) -> SubnetRouting:
        """Return the routing of the subnet; ``top`` are the switches of the top tier."""
        loaded, choice = self._loaded, self._loaded.intent.subnet_manager.routing
        at = loaded.origin("subnet_manager", "routing")
        if choice is None:
            return SubnetRouting((), False, at)
        roots = None if choice.roots is None else tuple(self._roots(choice.roots, top))
        compute = [hca for host in self._names.hosts.values() if host.role == "compute" for hca in host.hcas]
        return SubnetRouting(
            engines=choice.engine,
            no_fallback=not choice.fallback,
            origin=loaded.origin("subnet_manager", "routing", "engine"),
            roots=roots,
            compute=tuple(compute) if choice.compute_nodes else None,
            roots_origin=loaded.origin("subnet_manager", "routing", "roots"),
        )

    def partitions(self) -> tuple[Partition, ...] | None:
        """Return the partitions, None where the intent declares none."""
        declared = self._loaded.intent.partitions
        if declared is None:
            return None
        return tuple(self._partition(name, choice) for name, choice in declared.items())

    def sharp(self) -> Sharp | None:
        """Return the SHARP settings of the subnet, None without a section ``sharp``; for ``off``, ``on`` is False."""
        loaded, choice = self._loaded, self._loaded.intent.sharp
        at = loaded.origin("sharp")
        if choice is None:
            off = Sharp(False, None, None, None, (), (), None, (), at)
            return off if loaded.intent.is_off("sharp") else None
        excluded = self._hosts(choice.exclude, ("sharp", "exclude"))
        hosts = self._hosts(choice.hosts, ("sharp", "hosts"))
        settings = (
            ManagerSetting(key, text, loaded.origin("sharp", "settings", key))
            for key, text in choice.settings.items()
        )
        return Sharp(
            on=True,
            am_node=self._node(choice.manager, ("sharp", "manager"))[0],
            trees=choice.trees,
            jobs=choice.jobs,
            hosts=tuple(host for host in hosts if host not in set(excluded)),
            excluded=excluded,
            needs=choice.needs,
            settings=tuple(settings),
            origin=at,
        )

    def job(self) -> Job | None:
        """Return the settings of jobs, None where the intent declares none."""
        loaded, jobs = self._loaded, self._loaded.intent.jobs
        if jobs is None:
            return None
        self._one_of(jobs.level, self._levels(), "level", ("jobs", "level"))
        self._one_of(
            jobs.partition, tuple(loaded.intent.partitions or ()), "partition", ("jobs", "partition")
        )
        environment = (
            ManagerSetting(key, text, loaded.origin("jobs", "environment", key))
            for key, text in jobs.environment.items()
        )
        return Job(jobs.level, jobs.partition, tuple(environment), loaded.origin("jobs"))

    def _levels(self) -> tuple[str, ...]:
        return tuple(self._loaded.intent.qos.levels) if self._loaded.intent.qos else ()

    def _node(self, named: str, path: tuple[str | int, ...]) -> tuple[str, str | None]:
        """Return the host or switch of a name, and its first HCA or the named one; None for a switch and an unknown
        name.
        """
        if named in self._switches:
            return named, None
        try:
            hcas = self._names.hcas_of(named)
        except PydanticCustomError as error:
            # A plain name may be that of a switch as well; of anything else what is wrong with it is said.
            is_plain = not {"@", ":", "["} & set(named)
            known = (*self._names.hosts, *self._switches)
            says = (
                f"there is no host or switch {named}{suggestion(named, known)}"
                if is_plain
                else error.message()
            )
            self._refuse(path, says)
            return named, None
        hosts = {hca.partition(":")[0] for hca in hcas}
        if len(hosts) != 1:
            self._refuse(path, f"{named} is {len(hosts)} hosts; name one")
            return named, None
        return hosts.pop(), hcas[0]

    def _roots(self, stated: Sequence[str], top: Sequence[str]) -> Iterator[str]:
        path = ("subnet_manager", "routing", "roots")
        for index, name in enumerate(stated):
            if name == "top":
                if not top:
                    self._refuse(path, "this topology has no top tier; name the switches")
                yield from top
            elif name in self._switches:
                yield name
            else:
                where = path if len(stated) == 1 else (*path, index)
                self._refuse(where, f"there is no switch {name}{suggestion(name, self._switches)}")

    def _partition(self, name: str, choice: PartitionChoice) -> Partition:
        path = ("partitions", name)
        self._one_of(choice.level, self._levels(), "level", (*path, "level"))
        qos = self._loaded.intent.qos
        level = qos.levels.get(choice.level) if qos is not None and choice.level is not None else None
        rate_bps = RATES[choice.rate].bits_per_second if choice.rate is not None else None
        return Partition(
            name=name,
            pkey=choice.pkey,
            index0=choice.index0,
            ipoib=choice.ipoib,
            rate=RATES[choice.rate].code if choice.rate is not None else None,
            mtu=None,
            sl=level.sl if level is not None else choice.sl,
            default=choice.default,
            # A later entry of the file replaces an earlier one of the same port: words for many come first.
            members=tuple(sorted(self._members(choice.members, (*path, "members")), key=_is_of_few)),
            origin=self._loaded.origin(*path),
            rate_bps=rate_bps,
            mtu_bytes=choice.mtu,
        )

    def _members(self, members: PartitionMembers, path: tuple[str | int, ...]) -> Iterator[Member]:
        for membership in get_args(Membership):
            stated: tuple[str, ...] = getattr(members, membership)
            for index, entry in enumerate(stated):
                written = self._loaded.document.exists((*path, membership, index))
                where = (*path, membership, index) if written else (*path, membership)
                yield from self._member(entry, membership, where)

    def _member(self, entry: str, membership: Membership, path: tuple[str | int, ...]) -> Iterator[Member]:
        origin = self._loaded.origin(*path)
        if entry in WORDS:
            yield Member(None, None, entry, membership, origin)
        elif _GUID.fullmatch(entry):
            yield Member(None, int(entry, 16), None, membership, origin)
        else:
            for hca in self._looked_up(self._names.hcas_of, entry, path):
                yield Member(hca, self._hcas[hca].guid, None, membership, origin)

    def _hosts(self, entries: Sequence[str], path: tuple[str | int, ...]) -> tuple[str, ...]:
        def names(entry: str) -> list[str]:
            return [host.name for host in self._names.hosts_of(entry)]

        host_names = (name for entry in entries for name in self._looked_up(names, entry, path))
        return tuple(dict.fromkeys(host_names))

    def _looked_up(
        self, look_up: Callable[[str], list[str]], entry: str, path: tuple[str | int, ...]
    ) -> list[str]:
        try:
            return look_up(entry)
        except PydanticCustomError as error:
            self._refuse(path, error.message())
            return []

    def _one_of(self, name: str | None, known: Sequence[str], what: str, path: tuple[str | int, ...]) -> None:
        if name is not None and name not in known:
            self._refuse(path, f"there is no {what} {name}{suggestion(name, known)}")

    def _refuse(self, path: tuple[str | int, ...], message: str) -> None:
        origin = self._loaded.origin(*path)
        self.problems.append(self._loaded.problem(origin, f"{'.'.join(map(str, origin.path))}: {message}"))


def _is_of_few(member: Member) -> bool:
    return member.word in (None, "SELF")


_RANGES = re.compile(r"([^\[\]]*)\[([0-9,\- ]+)\]([^\[\]]*)")
_MOST = 1_000_000
_MOST_DIGITS = 30
"""The most digits of both ends of a range together; Python itself refuses numbers of thousands of digits."""


class HostNames(NamedTuple):
    """The hosts of a subnet and the names of their HCAs, by name of host."""

    hosts: Mapping[str, SubnetHost]

    def hosts_of(self, entry: str) -> list[SubnetHost]:
        """Return the hosts that an entry names; raises PydanticCustomError for an unknown name."""
        if entry.startswith("@"):
            return self._of_role(entry[1:])
        return [self._host(name) for name in expanded(entry)]

    def hcas_of(self, entry: str) -> list[str]:
        """Return the HCAs that an entry names, all HCAs for a host; raises PydanticCustomError for an unknown name."""
        if ":" not in entry:
            return [hca for host in self.hosts_of(entry) for hca in host.hcas]
        hcas = []
        for name in expanded(entry):
            host = self._host(name.partition(":")[0])
            if name not in host.hcas:
                raise refused(f"{host.name} has no HCA {name.partition(':')[2]}{suggestion(name, host.hcas)}")
            hcas.append(name)
        return hcas

    def _host(self, name: str) -> SubnetHost:
        if name not in self.hosts:
            raise refused(f"there is no host {name}{suggestion(name, self.hosts)}")
        return self.hosts[name]

    def _of_role(self, role: str) -> list[SubnetHost]:
        roles = get_args(HostRole)
        if role not in roles:
            raise refused(f"@{role} is no role of hosts{suggestion(role, roles)}")
        return [host for host in self.hosts.values() if host.role == role]


def expanded(entry: str) -> Iterator[str]:
    """Yield the names of an entry with ranges: ``host[1-3,7]``, ``host[01-16]``; may raise PydanticCustomError."""
    match = _RANGES.fullmatch(entry)
    if match is None:
        if "[" in entry or "]" in entry:
            raise refused(f"{entry} is no list of names; write it like host[1-16,20]")
        yield entry
        return
    before, ranges, after = match.groups()
    for part in ranges.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        last = last if dash else first
        numbers = first + last
        is_range = numbers.isascii() and numbers.isdecimal() and len(numbers) <= _MOST_DIGITS
        if not is_range or not 0 <= int(last) - int(first) < _MOST:
            raise refused(f"{part.strip()!r} in {entry} is no range; write it like 1-16")
        for number in range(int(first), int(last) + 1):
            yield f"{before}{number:0{len(first)}d}{after}"


HOSTS = "hosts"
UPLINKS = "uplinks"
CORE_LINKS = "links to cores"
GLOBAL_LINKS = "links between groups"
SWITCH_LINKS = "links between switches"


def layout_of(loaded: LoadedSubnet) -> SubnetLayout:
    """Return the switches, hosts and links of an InfiniBand intent; hosts listed by name follow those of the shape.

    Raises:
        InputError: a switch that does not exist, an impossible port, or a name given twice, located in the intent.
    """
    made = _of_shape(loaded)
    problems: list[Problem] = []
    hosts, wires = list(made.hosts), list(made.wires)
    known = {switch.name: None for switch in made.switches}
    there = known.keys() | {host.name for host in hosts}
    for name, choice in loaded.intent.topology.hosts.items():
        origin = loaded.origin("topology", "hosts", name)
        if name in there:
            problems.append(loaded.problem(origin.key(), f"{name} is there already"))
        hosts.append(HostSpot(name, origin))
        wires += _named_host(loaded, name, choice, known, problems)
    if problems:
        raise InputError(problems)
    return SubnetLayout(made.switches, tuple(hosts), tuple(wires))


def _of_shape(loaded: LoadedSubnet) -> SubnetLayout:
    shape = loaded.intent.topology.shape
    if isinstance(shape, FatTree):
        return _fat_tree(loaded, shape)
    if isinstance(shape, SubnetDragonflyPlus):
        return _dragonfly_plus(loaded, shape)
    return _torus(loaded, shape) if isinstance(shape, SubnetTorus) else _listed(loaded)


def _fat_tree(loaded: LoadedSubnet, shape: FatTree) -> SubnetLayout:
    at = loaded.origin("topology", "fat_tree")
    return fat_tree(
        SubnetFatTreeShape(
            pods=shape.pods,
            leaves=shape.leaves,
            spines=shape.spines,
            cores=shape.cores or 0,
            planes=shape.planes,
            rails=shape.rails,
            hosts_per_leaf=shape.hosts_per_leaf,
            host_links=SubnetLinks(*shape.host_links, HOSTS, at.at("host_links")),
            uplinks=SubnetLinks(*shape.uplinks, UPLINKS, at.at("uplinks")),
            core_links=shape.core_links and SubnetLinks(*shape.core_links, CORE_LINKS, at.at("core_links")),
            origin=at,
        )
    )


def _dragonfly_plus(loaded: LoadedSubnet, shape: SubnetDragonflyPlus) -> SubnetLayout:
    at = loaded.origin("topology", "dragonfly_plus")
    return dragonfly_plus(
        SubnetDragonflyPlusShape(
            groups=shape.groups,
            leaves=shape.leaves,
            spines=shape.spines,
            hosts_per_leaf=shape.hosts_per_leaf,
            host_links=SubnetLinks(*shape.host_links, HOSTS, at.at("host_links")),
            uplinks=SubnetLinks(*shape.uplinks, UPLINKS, at.at("uplinks")),
            global_links=SubnetLinks(*shape.global_links, GLOBAL_LINKS, at.at("global_links")),
            origin=at,
        )
    )


def _torus(loaded: LoadedSubnet, shape: SubnetTorus) -> SubnetLayout:
    at = loaded.origin("topology", "torus")
    return torus(
        SubnetTorusShape(
            sides=shape.sides,
            links=SubnetLinks(*shape.links, SWITCH_LINKS, at.at("links")),
            hosts_per_switch=shape.hosts_per_switch,
            host_links=SubnetLinks(*shape.host_links, HOSTS, at.at("host_links")),
            origin=at,
        )
    )


def _listed(loaded: LoadedSubnet) -> SubnetLayout:
    declared = loaded.intent.topology.switches or {}
    switches = tuple(
        SwitchSpot(name, choice.role, loaded.origin("topology", "switches", name))
        for name, choice in declared.items()
    )
    problems: list[Problem] = []
    taken: set[tuple[str, int]] = set()
    wires: list[SubnetWire] = []
    for index, link in enumerate(loaded.intent.topology.links):
        at = loaded.origin("topology", "links", index)
        try:
            wires += _bundle(link, at, declared, taken)
        except PydanticCustomError as error:
            problems.append(loaded.problem(at, error.message()))
    if problems:
        raise InputError(problems)
    return SubnetLayout(switches, (), tuple(wires))


def _bundle(
    link: SwitchLink, at: Origin, known: Mapping[str, object], taken: set[tuple[str, int]]
) -> Iterator[SubnetWire]:
    """Return the links of a bundle between two listed switches, adding named ports to ``taken``.

    Raises:
        PydanticCustomError: a switch does not exist, a port is invalid or has a link already or several, or both ends
            are one switch.
    """
    ends = [split_end(link.a), split_end(link.b)]
    for name, port in ends:
        if name not in known:
            raise refused(f"there is no switch {name}{suggestion(name, known)}")
        if port is not None and link.links[0] > 1:
            raise refused(f"{name}:{port} is one port, and the bundle has {link.links[0]} links")
        if port is not None and (name, port) in taken:
            raise refused(f"{name}:{port} has a link already")
        if port is not None:
            taken.add((name, port))
    (a, a_port), (b, b_port) = ends
    if a == b:
        raise refused(f"both ends are {a}: a switch is not linked to itself")
    wire = SubnetWire(a, b, link.links[1], SWITCH_LINKS, at, a_port=a_port, b_port=b_port)
    return (wire for _ in range(link.links[0]))


def _named_host(
    loaded: LoadedSubnet, name: str, choice: HostChoice, known: dict[str, None], problems: list[Problem]
) -> Iterator[SubnetWire]:
    """Yield the links of a host listed by name, to its switches in turn; an unknown switch adds a problem instead."""
    count, rate = choice.links
    path = ("topology", "hosts", name)
    missing = [switch for switch in choice.at if switch not in known]
    problems += (
        loaded.problem(loaded.origin(*path, "at"), f"there is no switch {switch}{suggestion(switch, known)}")
        for switch in missing
    )
    origin = loaded.origin(*path, "links")
    for rail in range(0 if missing else count):
        yield SubnetWire(choice.at[rail % len(choice.at)], name, rate, HOSTS, origin, rail=rail)
