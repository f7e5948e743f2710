"""A scenario: a question with the facts of the fabric that its simulation needs, and its assumptions in words.

Assumptions are facts that the fabric does not declare, and limits of the model.
:mod:`lossless.analysis.simulation.question.instance` makes networks of a scenario.
"""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING

from lossless.analysis.buffers.ecn_marking import POSSIBLE_PARTS, buffer_parts, most_parts
from lossless.analysis.simulation.engine.network import Physics
from lossless.analysis.simulation.question.lossy import (
    UecSenders,
    carrier_class,
    classes_of,
    lossy_assumptions,
    uec_senders,
    with_trimming,
)
from lossless.analysis.simulation.question.nodes import (
    BYTE_RESET_UNIT,
    EcmpRoutes,
    RateControl,
    SimTopology,
    dcqcn_defaults,
    dcqcn_of,
    rate_control,
    sim_topology,
)
from lossless.analysis.simulation.question.ports import SimClass, sim_port, sim_switch
from lossless.analysis.simulation.question.request import (
    Question,
    as_declared,
    taken_for_granted,
    takes_any_order,
)
from lossless.ground.basics.errors import NotHereError, ScenarioError
from lossless.ground.basics.findings import MissingInput, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import joined, suggestion
from lossless.model.fabric.cluster import MOST_PEERS, MOST_SENDERS, PATTERNS
from lossless.model.fabric.hosts import RDMA_HEADERS_BYTES, RDMA_MTUS, Transport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lossless.analysis.simulation.engine.network import SimDcqcn, SimPort, SimSwitch, SimWatchdog
    from lossless.model.fabric.cabling import Routing
    from lossless.model.fabric.hosts import HostQos
    from lossless.model.fabric.model import Port, Switch as FabricSwitch
    from lossless.model.fabric.view import View


WITHIN_RAILS, ACROSS_RAILS = "traffic within rails", "traffic across rails"
"""Where NIC ports of a fabric with rails send to, in reports."""


def across_rails(built: SimTopology, question: Question) -> str:
    """Return whether traffic crosses rails, in words; empty in a fabric without rails, and for listed transfers."""
    if not built.rail_of or question.moves:
        return ""
    return WITHIN_RAILS if question.traffic == "rail" else ACROSS_RAILS


def assumptions(
    built: SimTopology,
    question: Question,
    nics: tuple[int, ...],
    switches: dict[int, SimSwitch],
    *,
    pauses: bool,
) -> Iterator[str]:
    """Yield the assumptions of a simulation about a fabric, one sentence each; ``pauses``: its class is lossless."""
    if built.left_out:
        many = f"{built.left_out} links are" if built.left_out > 1 else "1 link is"
        yield f"{many} left out: a switch has no port there, or no QoS, speed or cable length on it"
    if (planes := len(built.by_plane(nics))) > 1:
        yield f"{planes} planes that no link joins: each NIC port sends within its own"
    if built.rail_of and not question.moves and question.traffic == "rail":
        yield f"{WITHIN_RAILS}: data for other GPUs is first handed on inside the host, as by PXN (--traffic any)"
    if pauses:
        yield "every peer takes as long to obey PFC as IEEE 802.3 allows at its rate"
    if len(nics) < len(built.nics):
        where = "" if question.moves else ", spread over all switches"
        yield f"{len(nics)} of {len(built.nics)} NIC ports take part{where}"
    yield from taken_for_granted(question)
    if any(switch.cell_bytes == 1 for switch in switches.values()):
        yield "a frame takes no more memory than its bytes: the cell size of a chip is unknown"
    yield from _assumed_of_parts(built.switch_of.values())
    if not all(switch.runs_sonic for switch in built.switch_of.values()):
        yield "a switch of another system than SONiC has the headroom and pools that SONiC gives the same product"
    watched = any(switch.watchdog is not None for switch in switches.values())
    if watched and any(map(_is_of_another_vendor, built.switch_of.values())):
        yield "a watchdog of a chip that is neither NVIDIA's nor known to be Broadcom's is checked as Broadcom's"
    if watched:
        yield from _not_restored(built.switch_of.values())
    if question.slow_nic_bps:
        yield "the slow NIC pauses its switch at 512 KiB in its receive buffer, and resumes it at 256 KiB"


def _not_restored(switches: Iterable[FabricSwitch]) -> Iterator[str]:
    """Yield the assumption about queues that a watchdog stops on switches whose rule of restoration is unknown."""
    kinds = {id(switch.ports): switch for switch in switches}
    unknown = [
        switch.name for switch in kinds.values() if any(_recovery(port) == "unknown" for port in switch.ports)
    ]
    if unknown:
        yield (
            f"restoration by the watchdog of {joined(unknown, 3)} is not simulated: when that system restores a queue"
            " that its lines give no time for was found in no source, and such a queue stays stopped"
        )


def _recovery(port: Port) -> str | None:
    return port.qos.watchdog.recovery if port.qos is not None and port.qos.watchdog is not None else None


def _assumed_of_parts(switches: Iterable[FabricSwitch]) -> Iterator[str]:
    """Yield the assumptions about packet buffers that are divided into parts, or may be."""
    parts = {buffer_parts(switch): most_parts(switch) for switch in switches}
    if POSSIBLE_PARTS in parts:
        yield (
            f"a chip's buffer has {max(POSSIBLE_PARTS)} parts, which XOFF is smallest with: how many it has is unknown"
        )
    if max(parts.values(), default=1) > 1:
        yield "a chip divides its buffer: ports that traffic comes in by share as few parts as they can, the worst case"


def assumed_of_routes(routing: Routing | None) -> Iterator[str]:
    """Yield a sentence about the paths that the model leaves out, if the intent allows extra hops."""
    if routing is not None and routing.extra_hops:
        yield f"packets take shortest paths: the model has none of the paths with up to {routing.extra_hops} extra hops"


def _is_of_another_vendor(switch: FabricSwitch) -> bool:
    """Return whether a chip is unknown or a Barefoot one: the model has the watchdogs of two other vendors."""
    return switch.profile is None or switch.profile.asic.formula == "barefoot"


_LINK_HEADERS = 18
"""Ethernet 14 and FCS 4 bytes, which a switch's MTU may count."""


class Scenario(NamedTuple):
    """A question about a fabric with the data that all seeds share.

    ``classes`` are those simulated, the requested one first. ``dcqcn_of`` is the DCQCN of each NIC that takes part,
    None for one without DCQCN. ``ends`` and ``switches`` are indexed by the shared configuration of ports and
    switches. ``assumed`` lists assumptions. ``reaction`` is the reaction time of peers to PFC as a part of the time
    that IEEE 802.3 allows. ``senders`` are those of Ultra Ethernet, None with RoCEv2. ``selective``: RoCE NICs resend
    only the lost packets of the lossy class.
    """

    topology: SimTopology
    routes: EcmpRoutes
    question: Question
    classes: tuple[SimClass, ...]
    nics: tuple[int, ...]
    target: int
    mtu_bytes: int
    dcqcn_of: Mapping[int, SimDcqcn | None]
    timeout_ms: float | None
    ends: dict[tuple[int, int], SimPort]
    switches: dict[int, SimSwitch]
    assumed: tuple[str, ...]
    reaction: float = 1.0
    senders: UecSenders | None = None
    selective: bool = False

    @property
    def is_lossy(self) -> bool:
        """Whether the requested class is lossy: its frames may be dropped."""
        return not self.classes[0].lossless

    @property
    def marks(self) -> bool:
        """Whether some queue of the requested class marks with ECN."""
        return any(end.queues[0].wred is not None and end.queues[0].wred.marks for end in self.ends.values())

    @property
    def trims(self) -> bool:
        """Whether switches trim packets that exceed a queue's limit."""
        return any(end.queues[0].trim is not None for end in self.ends.values())

    @property
    def dcqcn(self) -> SimDcqcn | None:
        """The DCQCN of the first NIC that runs it, None where none does."""
        return next(filter(None, self.dcqcn_of.values()), None)

    @property
    def rate_controls(self) -> tuple[RateControl, ...]:
        """The different congestion controls of RoCE senders; empty where senders are those of Ultra Ethernet."""
        if self.senders is not None:
            return ()
        return _rate_controls((self.topology.host_of[nic] for nic in self.nics), self.question)

    @property
    def groups(self) -> list[list[int]]:
        """The NIC ports that take part, grouped by the plane they are in, and by rail if traffic stays in its rail."""
        return self.topology.exchanging(self.nics, self.question.traffic)

    @property
    def rails(self) -> str:
        """Whether traffic crosses rails, in words; empty in a fabric without rails, and for listed transfers."""
        return across_rails(self.topology, self.question)

    @property
    def watchdogs(self) -> tuple[SimWatchdog, ...]:
        """The PFC watchdogs that watch a class: one for each kind of switch with one, and those of single ports."""
        of_switches = (switch.watchdog for switch in self.switches.values())
        of_ports = dict.fromkeys(end.watchdog for end in self.ends.values())
        return tuple(dog for dog in (*of_switches, *of_ports) if dog is not None and dog.classes)

    @property
    def ends_storms(self) -> bool:
        """Whether any watchdog drops or forwards: an alert ends no storm."""
        return any(watchdog.action != "alert" for watchdog in self.watchdogs)

    @property
    def frame_bytes(self) -> int:
        """The bytes of a full frame of the class in memory, not rounded up to cells."""
        return self.mtu_bytes + Physics().overhead_bytes

    def end(self, node: int, port: Port | None) -> SimPort | None:
        """Return the queues and groups of a port of a node, None for a NIC."""
        return None if port is None else self.ends[end_key(self.topology.switch_of[node], port)]

    def switch(self, node: int) -> SimSwitch:
        """Return the memory of a switch."""
        return self.switches[id(self.topology.switch_of[node].ports)]


def end_key(switch: FabricSwitch, port: Port) -> tuple[int, int]:
    """Return a key that ports with the same QoS record share, on switches with the same record of ports."""
    return id(switch.ports), id(port.qos)


class Participants(NamedTuple):
    """The NIC ports that take part in a question about a fabric, and the paths between them, without buffers."""

    question: Question
    topology: SimTopology
    routes: EcmpRoutes
    nics: tuple[int, ...]

    @property
    def groups(self) -> list[list[int]]:
        """The NIC ports in groups that exchange traffic."""
        return self.topology.exchanging(self.nics, self.question.traffic)


def participants(view: View, question: Question) -> Participants | MissingInput:
    """Return the NIC ports and paths of a question, or the missing input; buffers and classes may be unknown.

    Raises:
        ScenarioError: the question is invalid for this fabric.
    """
    posed = _posed(view, question)
    if isinstance(posed, MissingInput):
        return posed
    question, built = posed
    if len(built.nics) < 2:
        return MissingInput("fewer than two links lead to NICs")
    routes = EcmpRoutes(built)
    nics = _nics(built, routes, question, _target(built, question))
    return nics if isinstance(nics, MissingInput) else Participants(question, built, routes, nics)


def _posed(view: View, question: Question) -> tuple[Question, SimTopology] | MissingInput:
    """Return a question with the declared packet order and congestion control, and its topology, or the missing input.

    Raises:
        ScenarioError: the question is invalid.
    """
    _check(question)
    question = as_declared(question, view.fabric.packet_order, view.fabric.congestion)
    built = sim_topology(view, _failed(view, question.failed))
    return built if isinstance(built, MissingInput) else (question, built)


def scenario(view: View, question: Question) -> Scenario | MissingInput:
    """Return the scenario of a question about a fabric, or the input that is missing or not modeled.

    Raises:
        ScenarioError: the question is invalid for this fabric.
    """
    posed = _posed(view, question)
    if isinstance(posed, MissingInput):
        return posed
    question, built = posed
    voq = next((switch.name for switch in built.switch_of.values() if switch.qos.voq), None)
    if voq is not None:
        return MissingInput(
            f"{voq} has virtual output queues: what its cards grant each other is not modeled"
        )
    classes = classes_of(view, question)
    if isinstance(classes, MissingInput):
        return classes
    if len(built.nics) < 2:
        return MissingInput("fewer than two ports with PFC lead to a NIC: there is nobody to send to")
    target = _target(built, question)
    routes = EcmpRoutes(built)
    nics = _nics(built, routes, question, target)
    if isinstance(nics, MissingInput):
        return nics
    laid_out = _laid_out(built, classes)
    if isinstance(laid_out, MissingInput):
        return laid_out
    ends, switches = laid_out
    carrier = carrier_class(view.fabric, classes[0])
    if carrier is not None and view.fabric.trimming is not None:
        ends = with_trimming(ends, view.fabric.trimming.size_bytes)
    senders = uec_senders(view.fabric, ends, trims=carrier is not None)
    if senders is not None and classes[0].lossless:
        return MissingInput(f"class {classes[0].name} is lossless: Ultra Ethernet over PFC is not modeled")
    order = view.fabric.packet_order
    selective = (
        senders is None
        and not classes[0].lossless
        and order is not None
        and order.selective
        and takes_any_order(question)
    )
    dcqcn_of, notes = _dcqcn(built, question, nics) if senders is None else (dict.fromkeys(nics), ())
    if not classes[0].lossless:
        notes = (
            *notes,
            *lossy_assumptions(question, senders, trims=carrier is not None, selective=selective),
        )
    mtu_bytes, timeout_ms = _mtu(built, target), _timeout_ms(built, target)
    notes = (*notes, *assumed_of_routes(view.fabric.routing))
    assumed = (*notes, *assumptions(built, question, nics, switches, pauses=classes[0].lossless))
    return Scenario(
        built, routes, question, classes, nics, target, mtu_bytes, dcqcn_of, timeout_ms, ends, switches, assumed,
        senders=senders, selective=selective,
    )  # fmt: skip


def _laid_out(
    built: SimTopology, classes: tuple[SimClass, ...]
) -> tuple[dict[tuple[int, int], SimPort], dict[int, SimSwitch]] | MissingInput:
    """Return the switch ports and switches in the model's terms, or the input that is missing for them."""
    ends = _ends(built, classes)
    switches = _switches(built, classes)
    if isinstance(ends, MissingInput):
        return ends
    return switches if isinstance(switches, MissingInput) else (ends, switches)


def _check(question: Question) -> None:
    if question.pattern not in PATTERNS:
        raise ScenarioError(
            f"workload {question.pattern!r} is not known; expected one of {', '.join(PATTERNS)}"
        )
    if question.size_bytes < 1:
        raise ScenarioError(f"size is {question.size_bytes}; expected at least 1 byte")
    if question.nics is not None and question.nics < 2:
        raise ScenarioError(f"nics is {question.nics}; traffic needs at least 2")
    if not 0 <= question.storage < 1:
        raise ScenarioError(f"storage is {question.storage:.0%}; expected 0 % to below 100 %")
    if question.slow_nic_bps is not None and question.slow_nic_bps <= 0:
        raise ScenarioError(
            "--slow-nic: the slow NIC takes in nothing; a NIC that never resumes is a dead one"
        )


def _failed(view: View, names: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    failed = set()
    for name in names:
        switch, _, port = name.partition(":")
        if view.port(switch, port) is None:
            there = view.switch_by_name.get(switch)
            ports = (f"{switch}:{each.name}" for each in there.ports) if there else view.switch_by_name
            raise NotHereError(f"--link-down: no port is called {name!r}{suggestion(name, ports)}")
        failed.add((switch, port))
    return frozenset(failed)


def _target(built: SimTopology, question: Question) -> int:
    if question.target is None and question.moves:
        (most, _), *_ = Counter(move.target for move in question.moves).most_common(1)
        return next((nic for nic in built.nics if built.names[nic] == most), built.nics[0])
    if question.target is None:
        return built.nics[0]
    alone = next(iter(built.switch_of)) if len(built.switch_of) == 1 else None
    switch = None if alone is None else built.names[alone]
    named = [nic for nic in built.nics if question.target in _called(built.names[nic], switch)]
    if not named:
        hint = suggestion(question.target, [built.names[nic] for nic in built.nics])
        raise NotHereError(f"--target: no NIC port is called {question.target!r}{hint}")
    return named[0]


def _called(name: str, alone: str | None) -> tuple[str, ...]:
    """Return the accepted names of a NIC port: in full, by its host, or of an unnamed one by its switch port.

    If that switch is the only one, its name may be omitted.
    """
    port = name.removeprefix("NIC at ")
    return name, name.split(":")[0], port, *([] if alone is None else [port.removeprefix(f"{alone}:")])


def _nics(
    built: SimTopology, routes: EcmpRoutes, question: Question, target: int
) -> tuple[int, ...] | MissingInput:
    """Return the NIC ports that take part, in the order of the fabric.

    A subset alternates among planes and switches; with ``whole_leaves`` it has the first and last leaves of each plane.
    A missing input is returned where no other NIC port reaches the target.

    Switches read from devices without a link between them are fabrics of their own; an intent declares one fabric, or
    several planes: an incast stays in that of its target, other patterns are in all planes that hosts share. Where
    traffic stays in its rail, an incast has the rail of its target alone, and a subset the rails one after the other.
    """
    if question.moves:
        return _moving(built, question)
    if question.whole_leaves and question.nics is None:
        return _of_whole_leaves(built, question)
    most = question.nics or (MOST_SENDERS + 1 if question.pattern == "incast" else MOST_PEERS)
    by_rail: dict[int | None, list[dict[int, list[int]]]] = {}
    for group in _groups(built, question, target):
        by_switch: dict[int, list[int]] = {}
        first = target if target in group else group[0]
        for nic in group:
            if nic == target:
                continue
            if routes.reaches(nic, first):
                by_switch.setdefault(built.leaf(nic), []).append(nic)
            elif built.declared:
                return _no_path(built, nic, first)
        by_rail.setdefault(_rail(built, question, first), []).append(by_switch)
    if not any(by_switch for nics_of in by_rail.values() for by_switch in nics_of):
        return MissingInput(f"no other NIC reaches {built.names[target]}")
    in_turn: list[int] = []
    for nics_of in by_rail.values():
        across = zip_longest(*(by_switch.values() for by_switch in nics_of), fillvalue=[])
        switches = [nics for of_planes in across for nics in of_planes]
        turns = range(max(map(len, switches), default=0))
        in_turn += [nics[turn] for turn in turns for nics in switches if turn < len(nics)]
    chosen = built.exchanging(sorted((target, *in_turn[: most - 1])), question.traffic)
    return tuple(sorted(nic for group in chosen if len(group) > 1 for nic in group))


def _rail(built: SimTopology, question: Question, nic: int) -> int | None:
    """Return the rail that the traffic of a NIC port stays in, None where it does not."""
    return built.rail_of.get(built.leaf(nic)) if question.traffic == "rail" else None


def _of_whole_leaves(built: SimTopology, question: Question) -> tuple[int, ...]:
    """Return all NIC ports, or those of the first and the last leaves of each plane: their uplinks are fully loaded.

    The first and the last, so that traffic crosses all tiers where leaves share switches with their neighbors alone.
    Of rails that traffic stays in, which share no links of leaves, as many as there is room for, and one at least.
    """
    rails = grouped((_rail(built, question, nic), nic) for nic in built.nics)
    chosen: list[int] = []
    for nics in rails.values():
        if chosen and len(chosen) + len(nics) > question.most_loaded:
            break
        chosen += _of_leaves(built, nics, question.most_loaded)
    return tuple(sorted(chosen))


def _of_leaves(built: SimTopology, nics: Iterable[int], most: int) -> list[int]:
    """Return NIC ports by whole leaves of each plane: at most ``most`` together, or those of two leaves of a plane."""
    planes = [
        list(grouped((built.leaf(nic), nic) for nic in plane).values()) for plane in built.by_plane(nics)
    ]
    chosen: list[int] = []
    for leaves in planes:
        room = most // len(planes)
        by_turns = [leaf for ends in zip(leaves, reversed(leaves), strict=True) for leaf in ends][
            : len(leaves)
        ]
        for turn, leaf in enumerate(by_turns):
            room -= len(leaf)
            if room < 0 and turn > 1:
                break
            chosen += leaf
    return chosen


def _groups(built: SimTopology, question: Question, target: int) -> list[list[int]]:
    """Return the NIC ports with traffic, in groups that exchange it, that of the target's rail first.

    If a host of an intent has no port in the plane of the target, the result is one group: the target and a port of
    that host, which no path connects.
    """
    planes = built.by_plane(built.nics)
    own = next(plane for plane in planes if target in plane)
    hosts = {_host(built, nic) for nic in own}
    apart = next((nic for nic in built.nics if _host(built, nic) not in hosts), None)
    if apart is not None and built.declared:
        return [[target, apart]]
    groups = built.exchanging(built.nics, question.traffic)
    if question.pattern == "incast":
        return [group for group in groups if target in group]
    rail = _rail(built, question, target)
    return sorted(groups, key=lambda group: _rail(built, question, group[0]) != rail)


def _host(built: SimTopology, nic: int) -> str:
    return built.names[nic].partition(":")[0]


def _no_path(built: SimTopology, nic: int, target: int) -> MissingInput:
    no_path = f"no path leads from {built.names[nic]} to {built.names[target]}"
    ends = [built.names[built.leaf(end)].rpartition(":") for end in (nic, target)]
    if ends[0][0] and ends[0][0] == ends[1][0]:
        return MissingInput(f"{no_path}: what joins the ASICs of {ends[0][0]} is not known")
    if built.left_out:
        return MissingInput(f"{no_path}: {built.left_out} links have no port on a switch")
    raise ScenarioError(no_path)


def _moving(built: SimTopology, question: Question) -> tuple[int, ...] | MissingInput:
    """Return the NIC ports that the moves of a question name, or the missing input for one."""
    number_of = {built.names[nic]: nic for nic in built.nics}
    named = dict.fromkeys(name for move in question.moves for name in (move.source, move.target))
    absent = next((name for name in named if name not in number_of), None)
    if absent is not None:
        return MissingInput(f"no link of {absent} has a port with PFC on a switch")
    return tuple(sorted(number_of[name] for name in named))


def _ends(built: SimTopology, classes: tuple[SimClass, ...]) -> dict[tuple[int, int], SimPort] | MissingInput:
    ends: dict[tuple[int, int], SimPort] = {}
    for wire in built.wires:
        for node, port in ((wire.a, wire.a_port), (wire.b, wire.b_port)):
            if port is None or end_key(built.switch_of[node], port) in ends:
                continue
            end = sim_port(built.switch_of[node], port, classes)
            if isinstance(end, MissingInput):
                return end
            ends[end_key(built.switch_of[node], port)] = end
    return ends


def _switches(built: SimTopology, classes: tuple[SimClass, ...]) -> dict[int, SimSwitch] | MissingInput:
    switches: dict[int, SimSwitch] = {}
    for switch in built.switch_of.values():
        if id(switch.ports) not in switches:
            memory = sim_switch(switch, classes)
            if isinstance(memory, MissingInput):
                return memory
            switches[id(switch.ports)] = memory
    return switches


def _dcqcn(
    built: SimTopology, question: Question, nics: tuple[int, ...]
) -> tuple[dict[int, SimDcqcn | None], tuple[str, ...]]:
    """Return the DCQCN parameters of each sender, None without DCQCN, and the assumptions about DCQCN."""
    assumed = dcqcn_defaults(question.nic) if question.nic is not None else None
    kinds = {id(built.host_of[nic]): built.host_of[nic] for nic in nics}
    known = {key: assumed if host is None else dcqcn_of(host) for key, host in kinds.items()}
    notes = sorted({_without(host, question) for key, host in kinds.items() if known[key] is None} - {""})
    if any(known.values()):
        notes.append(
            f"DCQCN's byte counter counts in units of {BYTE_RESET_UNIT} B; sources disagree on the unit"
        )
        limited = (host for key, host in kinds.items() if known[key] is not None)
        notes += map(_in_words, _rate_controls(limited, question))
    return {nic: known[id(built.host_of[nic])] for nic in nics}, tuple(notes)


def _rate_controls(hosts: Iterable[HostQos | None], question: Question) -> tuple[RateControl, ...]:
    return tuple(dict.fromkeys(rate_control(host, question.nic) for host in hosts))


def _in_words(control: RateControl) -> str:
    """Return the note on a congestion control; if it stands in for another, with the option for a run without any."""
    without = "; congestion_control: pfc-only shows them without any" if control.stands_in else ""
    return f"congestion control of senders: {control.name}{without}"


def _without(host: HostQos | None, question: Question) -> str:
    """Return the note on senders without DCQCN; empty if their configuration disables it."""
    if host is None and question.nic is None:
        return "no NIC is known: senders keep to line rate until they are paused, without DCQCN"
    if host is not None and host.dcqcn.enabled is False:
        return ""
    name = host.nic_name if host is not None else question.nic.name if question.nic is not None else ""
    return f"the DCQCN of {name} is unknown: senders keep to line rate until they are paused"


def _mtu(built: SimTopology, target: int) -> int:
    """Return the largest RDMA MTU within the MTU of the target's host, else of its switch port, else a default."""
    host = built.host_of[target]
    port_mtu = built.wires[built.wires_of[target][0]].a_port.mtu_bytes
    mtu = (
        host.mtu_bytes
        if host and isinstance(host.mtu_bytes, int)
        else port_mtu - _LINK_HEADERS
        if isinstance(port_mtu, int)
        else RDMA_MTUS[0] * 2
    )
    return next((rdma_mtu for rdma_mtu in RDMA_MTUS if rdma_mtu + RDMA_HEADERS_BYTES <= mtu), RDMA_MTUS[-1])


def _timeout_ms(built: SimTopology, target: int) -> float | None:
    """Return a sender's retransmission timeout; None if it is unknown, or infinite (timeout 0)."""
    host = built.host_of[target]
    transport = host.transport if host else None
    timeout_ns = transport.timeout_ns if isinstance(transport, Transport) else None
    return None if timeout_ns is None else timeout_ns / 1e6
