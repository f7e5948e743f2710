"""Headroom by kind of port: the records that the report of ``lossless headroom`` prints, and its JSON has.

Names once shipped stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.comparison import ConfiguredHeadroom, NoHeadroom
from lossless.analysis.buffers.headroom.methods import uses_lanes
from lossless.analysis.buffers.headroom.port import asic_inputs
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.buffers.headroom.comparison import HeadroomComparison
    from lossless.analysis.buffers.headroom.formulas import Term
    from lossless.analysis.buffers.headroom.methods import HeadroomCase, MethodResult, SourcedValue

_SHOWN_ELEMENTS = 5


class HeadroomAnswer(NamedTuple):
    """What one method asks for; the figures are None where it cannot answer, and ``unknown`` says why.

    ``margin_bytes`` is what is configured less what the method asks for.
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
    """What the three methods ask for."""

    row: HeadroomAnswer
    formula: HeadroomAnswer
    floor: HeadroomAnswer


class FormulaInput(NamedTuple):
    """One value that the formula takes for given, and its source."""

    name: str
    value: float | None
    unit: str
    source: str


class HeadroomKind(NamedTuple):
    """One kind of port: what is configured there, and what each method asks for.

    ``switch`` is None for a link that is in no file. Where nothing is ``configured``, that is absent for a reason, or
    unknown for one. ``elements`` are the first ports. ``least_bytes`` are those of the cable and one frame.
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
    """Kinds of link: what is configured on each, and what each method says, with its terms and sources."""

    comparisons: tuple[HeadroomComparison, ...]

    def kinds(self) -> tuple[HeadroomKind, ...]:
        """Return the kinds of port; those that are identical on several devices are one."""
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
    """Yield what the formula takes for given, nothing where there is none."""
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
