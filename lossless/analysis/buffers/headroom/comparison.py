"""Headroom of a link or of the ports of a fabric by three methods, beside the configured headroom.

A link is described by a user, or by profile, HWSKU and speed; a port is named, or all ports of a fabric are meant.
Each with known inputs becomes a :class:`HeadroomCase` for the methods of
:mod:`lossless.analysis.buffers.headroom.methods`.

The traffic inputs of the formula come from these sources, in this order: the user, the dynamic buffer model of the
switch, the pattern that reproduces the HWSKU's rows, SONiC's defaults. Each input carries its source.

The results by kind of port are the records that the report of ``lossless headroom`` prints, and its JSON has: names
once shipped stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.headroom.formulas import cable_plus_mtu_bytes
from lossless.analysis.buffers.headroom.methods import (
    HeadroomCase,
    MethodResult,
    SourcedValue,
    answers,
    silent,
    uses_lanes,
)
from lossless.analysis.buffers.headroom.port import (
    asic_inputs,
    computed_headroom,
    fastest_speed,
    given_headroom,
    link_of,
    lossless_profile,
    mellanox_formula,
    row_pattern,
    shares_headroom,
    unknown_hwsku,
)
from lossless.ground.basics.errors import LosslessError, ProfileError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate, suggestion
from lossless.model.fabric.view import single_port

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.analysis.buffers.headroom.formulas import Term
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import PortSet, View
    from lossless.model.hardware.model import Hwsku, SwitchProfile


def hwsku_for(switch: SwitchProfile, name: str | None, speed_bps: int) -> Hwsku:
    """Return the HWSKU of a switch profile by name (None: the default one), if its ports may run at a speed.

    Not every mode of every cage is known, so speeds of rows count too.

    Raises:
        ProfileError: no such HWSKU, or no port that runs at this speed.
    """
    hwsku = switch.hwsku(switch.default_hwsku if name is None else name)
    if hwsku is None:
        raise ProfileError(
            f"{switch.name} has no HWSKU {name!r}{_suggest(name or '', [each.name for each in switch.hwskus])}"
        )
    known = sorted({*switch.speeds_bps, *hwsku.speeds(), *(port.speed_bps for port in hwsku.ports)})
    if speed_bps not in known:
        rates = ", ".join(map(format_rate, known))
        raise ProfileError(
            f"no port of {switch.name} runs at {format_rate(speed_bps)}; its ports run at {rates}"
        )
    return hwsku


def named_port(views: Sequence[View], spec: str) -> PortSet:
    """Return a port by name, ``leaf1:Ethernet0`` or of a single device ``Ethernet0``, as a port set of its own.

    Raises:
        LosslessError: no such switch or port, a hostname of two files, or a port without QoS.
    """
    switches = [switch for view in views for switch in view.fabric.switches]
    switch, port = _port(switches, spec)
    if port.qos is None:
        raise LosslessError(f"{switch.name}:{port.name} has no QoS: nothing is lossless there")
    return single_port(switch, port, port.qos)


def _port(switches: Sequence[Switch], spec: str) -> tuple[Switch, Port]:
    name, colon, port_name = spec.partition(":")
    if not colon and len(switches) == 1:
        name, port_name = switches[0].name, spec
    namesakes = [switch for switch in switches if switch.name == name]
    if not namesakes:
        raise LosslessError(f"no switch {name!r}{_suggest(name, (switch.name for switch in switches))}")
    if len(namesakes) > 1:
        files = " and ".join(switch.origin.file for switch in namesakes)
        raise LosslessError(f"{files} both have the hostname {name!r}")
    for port in namesakes[0].ports:
        if port.name == port_name:
            return namesakes[0], port
    known = [port.name for port in namesakes[0].ports]
    if not port_name:
        raise LosslessError(
            f"{name} is a switch; name one of its ports, like {name}:{known[0] if known else '...'}"
        )
    raise LosslessError(f"{name} has no port {port_name!r}{_suggest(port_name, known)}")


def _suggest(name: str, known: Iterable[str]) -> str:
    return suggestion(name, list(dict.fromkeys(known)))


STATED = "stated"
_PORT = "the port"


class SourcedTraffic(NamedTuple):
    """The values of a :class:`~lossless.analysis.buffers.headroom.port.TrafficPattern`, each with its source."""

    port_mtu: SourcedValue
    lossless_mtu: SourcedValue
    small_percent: SourcedValue


def link_case(
    profile: SwitchProfile,
    hwsku: Hwsku,
    speed_bps: int,
    cable_m: int,
    stated: HeadroomInputs,
    assumed: SourcedTraffic,
) -> HeadroomCase:
    """Return the headroom case of a link that is described by profile, HWSKU, speed and length, not by a file."""
    traffic = _stated_traffic(_known_traffic(profile, hwsku, assumed), stated)
    shared = SourcedValue(int(hwsku.uses_shared_headroom), f"the buffer pools of {hwsku.name}")
    return HeadroomCase(
        profile=profile,
        hwsku=hwsku,
        unknown_switch="",
        speed_bps=speed_bps,
        cable_m=cable_m,
        mtu_bytes=traffic.port_mtu.value or 0,
        peer_response_ns=stated.peer_response_ns,
        lanes=_or(stated.lanes, _lanes(profile, hwsku, speed_bps)),
        port_mtu_bytes=traffic.port_mtu,
        lossless_mtu_bytes=traffic.lossless_mtu,
        small_packet_percent=traffic.small_percent,
        shared_headroom=_or(stated.shared_headroom, shared),
        gearbox_ns=_or(stated.gearbox_ns, _gearbox(profile)),
    )


def port_case(ports: PortSet, stated: HeadroomInputs, assumed: SourcedTraffic) -> HeadroomCase | MissingInput:
    """Return the headroom case of a port set, for the real cable length where it is known, or the unknown input."""
    switch, link = ports.switch, link_of(ports)
    if isinstance(link, MissingInput):
        return link
    speed_bps, cable_m, mtu_bytes = link
    traffic = _stated_traffic(_traffic(switch, mtu_bytes, assumed), stated)
    lanes = max((port.lanes or 0 for port in ports.ports), default=0)
    return HeadroomCase(
        profile=switch.profile,
        hwsku=switch.hwsku,
        unknown_switch=unknown_hwsku(switch),
        speed_bps=speed_bps,
        cable_m=cable_m,
        mtu_bytes=mtu_bytes,
        peer_response_ns=stated.peer_response_ns,
        lanes=SourcedValue(lanes or None, _PORT),
        port_mtu_bytes=traffic.port_mtu,
        lossless_mtu_bytes=traffic.lossless_mtu,
        small_packet_percent=traffic.small_percent,
        shared_headroom=SourcedValue(int(shares_headroom(switch)), "the buffer pools of the switch"),
        gearbox_ns=_or(stated.gearbox_ns, _gearbox(switch.profile)),
        formula=mellanox_formula(switch),
        computing_bps=fastest_speed(ports) if switch.qos.buffer_model == "dynamic" else None,
    )


def _or(stated: int | None, known: SourcedValue) -> SourcedValue:
    return known if stated is None else SourcedValue(int(stated), STATED)


def _gearbox(profile: SwitchProfile | None) -> SourcedValue:
    delay_ns = profile.asic.gearbox_delay_ns if profile else None
    return SourcedValue(delay_ns or 0, "the platform" if delay_ns else "none that SONiC counts")


def _traffic(switch: Switch, mtu_bytes: int, assumed: SourcedTraffic) -> SourcedTraffic:
    """Return the traffic of the dynamic model, else of the HWSKU's rows, else the assumed one.

    The largest frame is that of the port, or without the dynamic model that of the rows if it is not smaller.
    """
    dynamic = switch.qos.dynamic if switch.qos.buffer_model == "dynamic" else None
    known = _known_traffic(switch.profile, switch.hwsku, assumed)
    if dynamic is not None:
        source = "LOSSLESS_TRAFFIC_PATTERN"
        return SourcedTraffic(
            SourcedValue(mtu_bytes, _PORT),
            known.lossless_mtu
            if dynamic.lossless_mtu_bytes is None
            else SourcedValue(dynamic.lossless_mtu_bytes, source),
            known.small_percent
            if dynamic.small_packet_percent is None
            else SourcedValue(dynamic.small_packet_percent, source),
        )
    own = known is assumed or mtu_bytes > (known.port_mtu.value or 0)
    return known._replace(port_mtu=SourcedValue(mtu_bytes, _PORT)) if own else known


def _known_traffic(
    profile: SwitchProfile | None, hwsku: Hwsku | None, assumed: SourcedTraffic
) -> SourcedTraffic:
    pattern = row_pattern(profile.asic, hwsku) if profile and hwsku else None
    if pattern is None or hwsku is None:
        return assumed
    return SourcedTraffic(*(SourcedValue(value, f"as in the rows of {hwsku.name}") for value in pattern))


def _stated_traffic(known: SourcedTraffic, stated: HeadroomInputs) -> SourcedTraffic:
    return SourcedTraffic(
        _or(stated.port_mtu_bytes, known.port_mtu),
        _or(stated.lossless_mtu_bytes, known.lossless_mtu),
        _or(stated.small_packet_percent, known.small_percent),
    )


def _lanes(profile: SwitchProfile, hwsku: Hwsku, speed_bps: int) -> SourcedValue:
    """Return the fewest lanes of a port at a speed: in the HWSKU, else in the breakout modes for that speed."""
    own = {len(port.lanes) for port in hwsku.ports if port.speed_bps == speed_bps}
    if own:
        return SourcedValue(min(own), f"ports of {hwsku.name}")
    modes = {mode for cage in profile.cages for mode in cage.modes if speed_bps in mode.speeds_bps}
    made = [mode for mode in modes if mode.speeds_bps[0] == speed_bps] or modes
    chosen = min(made, key=lambda mode: (mode.lanes // mode.count, mode.text), default=None)
    if chosen is None:
        return SourcedValue(None, f"no port of {profile.name} is known to run at {format_rate(speed_bps)}")
    return SourcedValue(chosen.lanes // chosen.count, f"ports split as {chosen.text}")


class NoHeadroom(NamedTuple):
    """The reason why ports have no configured headroom."""

    reason: str


NO_PFC = NoHeadroom("PFC is off: there is no lossless group")


class ConfiguredHeadroom(NamedTuple):
    """The headroom of a group: configured in the file, or computed by the switch from its configuration.

    ``headroom_bytes`` is less than ``xoff_bytes`` where ``size`` does not hold it, see ``port.given_headroom``.
    ``name`` is that of the buffer profile, None where the switch computes it.
    """

    name: str | None
    by: Literal["file", "switch"]
    headroom_bytes: int
    xoff_bytes: int
    xon_bytes: int | None
    reserved_bytes: int | None


class HeadroomComparison(NamedTuple):
    """One kind of link: the configured headroom and the result of each method.

    ``configured`` is None for a link without a file; ``switch`` is then empty. ``cable_m`` is the real length where it
    is known. ``case`` is the input of the methods, None where too little is known.
    """

    switch: str
    switches: tuple[str, ...]
    ports: int
    elements: tuple[str, ...]
    priorities: tuple[int, ...]
    profile: SwitchProfile | None
    hwsku: Hwsku | None
    speed_bps: int | None
    cable_m: int | None
    configured_cable_m: int | None
    configured: ConfiguredHeadroom | NoHeadroom | MissingInput | None
    answers: tuple[MethodResult, ...]
    case: HeadroomCase | None

    def margin_bytes(self, answer: MethodResult) -> int | None:
        """Return the configured headroom less the need, None where either is unknown."""
        if not isinstance(self.configured, ConfiguredHeadroom) or answer.need is None:
            return None
        return self.configured.headroom_bytes - answer.need.headroom_bytes

    @property
    def least_bytes(self) -> int | None:
        """The cable there and back and one frame: with less headroom, a link at line rate is sure to drop frames.

        None without a :attr:`case`.
        """
        if self.case is None:
            return None
        return cable_plus_mtu_bytes(self.case.speed_bps, self.case.cable_m, self.case.mtu_bytes)


def of_link(
    profile: SwitchProfile,
    hwsku: Hwsku,
    speed_bps: int,
    cable_m: int,
    stated: HeadroomInputs,
    assumed: SourcedTraffic,
) -> HeadroomComparison:
    """Return the comparison of a link without a file: the results of the three methods."""
    case = link_case(profile, hwsku, speed_bps, cable_m, stated, assumed)
    return HeadroomComparison(
        switch="",
        switches=(),
        ports=0,
        elements=(),
        priorities=(),
        profile=profile,
        hwsku=hwsku,
        speed_bps=speed_bps,
        cable_m=cable_m,
        configured_cable_m=None,
        configured=None,
        answers=answers(case),
        case=case,
    )


def of_ports(ports: PortSet, stated: HeadroomInputs, assumed: SourcedTraffic) -> Iterator[HeadroomComparison]:
    """Yield one comparison for each headroom of the PFC priorities of a port set; one with ``NO_PFC`` without PFC."""
    by_headroom: dict[ConfiguredHeadroom | NoHeadroom | MissingInput, list[int]] = {}
    for priority in ports.qos.pfc.priorities:
        by_headroom.setdefault(_configured(ports, priority), []).append(priority)
    case = port_case(ports, stated, assumed)
    for configured, priorities in (by_headroom or {NO_PFC: []}).items():
        yield _compared(ports, tuple(priorities), configured, case)


def _compared(
    ports: PortSet,
    priorities: tuple[int, ...],
    configured: ConfiguredHeadroom | NoHeadroom | MissingInput,
    case: HeadroomCase | MissingInput,
) -> HeadroomComparison:
    return HeadroomComparison(
        switch=ports.switch.name,
        switches=ports.switches,
        ports=ports.places,
        elements=ports.elements,
        priorities=priorities,
        profile=ports.switch.profile,
        hwsku=ports.switch.hwsku,
        speed_bps=ports.speed_bps,
        cable_m=ports.cable.known_m,
        configured_cable_m=ports.cable.configured_m,
        configured=configured,
        answers=silent(case.reason) if isinstance(case, MissingInput) else answers(case),
        case=None if isinstance(case, MissingInput) else case,
    )


def _configured(ports: PortSet, priority: int) -> ConfiguredHeadroom | NoHeadroom | MissingInput:
    profile = lossless_profile(ports, priority)
    if isinstance(profile, MissingInput):
        return _computed(ports) if ports.switch.qos.buffer_model == "dynamic" else profile
    if profile is None:
        return _absent(ports, priority)
    return ConfiguredHeadroom(
        name=profile.name or None,
        by="file",
        headroom_bytes=given_headroom(ports.switch, profile),
        xoff_bytes=profile.xoff_bytes,
        xon_bytes=profile.xon_bytes,
        reserved_bytes=profile.reserved_bytes,
    )


def _absent(ports: PortSet, priority: int) -> NoHeadroom:
    group = ports.qos.groups[ports.qos.pausing_group(priority)]
    if group is not None and group.buffer is not None:
        return NoHeadroom(f"{group.buffer.name} has no xoff: the group is lossy")
    none_at_0 = "0 m is configured, and SONiC makes no lossless group for that"
    return NoHeadroom(none_at_0 if ports.cable.configured_m == 0 else "there is no lossless group")


def _computed(ports: PortSet) -> ConfiguredHeadroom | MissingInput:
    need = computed_headroom(ports)
    if isinstance(need, MissingInput):
        return need
    stated = need.headroom_bytes
    return ConfiguredHeadroom(None, "switch", stated, stated, need.xon_bytes, need.reserved_bytes)


class HeadroomInputs(NamedTuple):
    """The inputs of a headroom calculation that the user states, None for those not stated.

    ``small_packet_percent`` counts packets of 64 bytes; ``gearbox_ns`` is one way, ``peer_response_ns`` the response
    time of a peer to a pause. ``lanes`` and ``shared_headroom`` count for a link without a file alone.
    """

    lossless_mtu_bytes: int | None = None
    small_packet_percent: int | None = None
    gearbox_ns: int | None = None
    peer_response_ns: int | None = None
    port_mtu_bytes: int | None = None
    lanes: int | None = None
    shared_headroom: bool | None = None


_SHOWN_ELEMENTS = 5


class HeadroomAnswer(NamedTuple):
    """The headroom need by one method; its figures are None where it has no result, and ``unknown`` has the reason.

    ``margin_bytes`` is the configured headroom less the need.
    """

    name: str
    headroom_bytes: int | None
    xon_bytes: int | None
    reserved_bytes: int | None
    margin_bytes: int | None
    terms: tuple[Term, ...]
    unknown: str | None
    notes: tuple[str, ...]
    source: str | None


class HeadroomAnswers(NamedTuple):
    """The headroom needs of one kind of port by the three methods."""

    row: HeadroomAnswer
    formula: HeadroomAnswer
    floor: HeadroomAnswer


class FormulaInput(NamedTuple):
    """One input value of the headroom formula, and its source."""

    name: str
    value: float | None
    unit: str
    source: str


class HeadroomKind(NamedTuple):
    """One kind of port: its configured headroom, and the headroom need by each method.

    ``switch`` is None for a link that is in no file. Where a port has no ``configured``, ``configured_absent`` or
    ``configured_unknown`` has the reason. ``elements`` are the first ports. ``least_bytes`` are the bytes on the cable
    there and back and one frame.
    """

    switch: str | None
    switches: int
    ports: int
    elements: tuple[str, ...]
    priorities: tuple[int, ...]
    profile: str | None
    asic: str | None
    hwsku: str | None
    speed_bps: int | None
    cable_m: int | None
    configured_cable_m: int | None
    configured: ConfiguredHeadroom | None
    configured_absent: str | None
    configured_unknown: str | None
    least_bytes: int | None
    methods: HeadroomAnswers
    inputs: tuple[FormulaInput, ...]


class Headrooms(NamedTuple):
    """Kinds of link: the configured headroom of each, and the result of each method, with its terms and sources."""

    comparisons: tuple[HeadroomComparison, ...]

    def kinds(self) -> tuple[HeadroomKind, ...]:
        """Return the kinds of port; kinds that are identical on several switches are one."""
        kinds: dict[str, HeadroomKind] = {}
        for kind in map(_kind, self.comparisons):
            key = repr(kind._replace(switch=None, switches=0, ports=0, elements=()))
            first = kinds.get(key)
            kinds[key] = kind if first is None else _joined(first, kind)
        return tuple(kinds.values())


def _joined(first: HeadroomKind, other: HeadroomKind) -> HeadroomKind:
    return first._replace(
        switches=first.switches + other.switches,
        ports=first.ports + other.ports,
        elements=(first.elements + other.elements)[:_SHOWN_ELEMENTS],
    )


def _kind(comparison: HeadroomComparison) -> HeadroomKind:
    configured = comparison.configured
    return HeadroomKind(
        switch=comparison.switch or None,
        switches=len(comparison.switches),
        ports=comparison.ports,
        elements=comparison.elements[:_SHOWN_ELEMENTS],
        priorities=comparison.priorities,
        profile=comparison.profile.name if comparison.profile else None,
        asic=comparison.profile.asic.name if comparison.profile else None,
        hwsku=comparison.hwsku.name if comparison.hwsku else None,
        speed_bps=comparison.speed_bps,
        cable_m=comparison.cable_m,
        configured_cable_m=comparison.configured_cable_m,
        configured=configured if isinstance(configured, ConfiguredHeadroom) else None,
        configured_absent=configured.reason if isinstance(configured, NoHeadroom) else None,
        configured_unknown=configured.reason if isinstance(configured, MissingInput) else None,
        least_bytes=comparison.least_bytes,
        methods=HeadroomAnswers(*(_answer(comparison, answer) for answer in comparison.answers)),
        inputs=tuple(_inputs(comparison.case)) if comparison.case else (),
    )


def _answer(comparison: HeadroomComparison, answer: MethodResult) -> HeadroomAnswer:
    need = answer.need
    return HeadroomAnswer(
        name=answer.name,
        headroom_bytes=need.headroom_bytes if need else None,
        xon_bytes=need.xon_bytes if need else None,
        reserved_bytes=need.reserved_bytes if need else None,
        margin_bytes=comparison.margin_bytes(answer),
        terms=tuple(term._replace(bytes=round(term.bytes, 3)) for term in need.terms) if need else (),
        unknown=answer.unknown or None,
        notes=answer.notes,
        source=answer.source or None,
    )


def _inputs(case: HeadroomCase) -> Iterator[FormulaInput]:
    """Yield the input values of the headroom formula, none for a chip without a formula or with unknown sizes."""
    asic = case.profile.asic if case.profile else None
    chip = asic_inputs(asic) if asic else None
    if asic is None or chip is None:
        return
    yield FormulaInput("cell size", chip.cell_bytes, "B", "ASIC table")
    yield FormulaInput("pipeline latency", chip.pipeline_latency_bytes, "B", "ASIC table")
    yield FormulaInput("MAC and PHY delay", chip.mac_phy_delay_bytes, "B", "ASIC table")
    yield _input("port MTU", case.port_mtu_bytes, "B")
    yield _input("lossless MTU", case.lossless_mtu_bytes, "B")
    yield _input("small packets", case.small_packet_percent, "%")
    yield _input("gearbox", case.gearbox_ns, "ns")
    if uses_lanes(asic):
        yield _input("lanes", case.lanes, "")
        yield _input("shared headroom", case.shared_headroom, "")


def _input(name: str, given: SourcedValue, unit: str) -> FormulaInput:
    return FormulaInput(name, given.value, unit, given.source)
