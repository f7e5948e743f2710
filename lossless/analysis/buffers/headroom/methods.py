"""Three methods side by side for one link: the vendor's row, SONiC's formula, the floor of physics.

They are never mixed: each has its own result, or a reason for its absence, and carries the source of its numbers.

The largest of them, with cell waste added to a floor, bounds the headroom need of a link (:func:`headroom_bound`): a
measured peak above it points to the link, not to traffic.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.headroom.formulas import (
    BAREFOOT_UNLISTED_BPS,
    HeadroomNeed,
    LinkInputs,
    cell_waste,
    floor_headroom,
    pause_response_bytes,
    vendor_row_headroom,
)
from lossless.analysis.buffers.headroom.port import (
    LinkNeed,
    asic_inputs,
    evaluate,
    formula_need,
    link_need,
    row_pattern,
)
from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_bytes, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.analysis.buffers.headroom.formulas import AsicInputs, MellanoxFormula
    from lossless.model.fabric.view import PortSet
    from lossless.model.hardware.model import Asic, Hwsku, SwitchProfile


class HeadroomBound(NamedTuple):
    """The known headroom need of a link and its upper bound.

    ``known`` is the largest of the link's need, the formula's result and the floor. ``most_bytes`` is at least that,
    and at least the floor with the worst cell waste for every packet: the floor includes the full response
    time of IEEE 802.3, and counts packets by their bytes. It is None where the cell size of the chip is unknown.
    """

    link: LinkNeed
    known: HeadroomNeed
    most_bytes: int | None

    @property
    def explained_bytes(self) -> int | None:
        """The headroom that traffic can fill on the declared link; None if ``known`` is a floor and cells are unknown.

        Rows and formulas include cell waste, the floor does not.
        """
        return self.most_bytes if self.known.method == "floor" else self.known.headroom_bytes


def headroom_bound(ports: PortSet) -> HeadroomBound | MissingInput:
    """Return the headroom bound of a lossless group of a port set, or the unknown input.

    It is for the real cable length where that is known.
    """
    link = link_need(ports)
    if isinstance(link, MissingInput):
        return link
    methods = [need for need in (link.need, formula_need(ports), link.floor) if need is not None]
    if link.floor is None:
        return MissingInput(f"how long a peer may take to stop is not known at {ports.rate}")
    known = max(methods, key=lambda need: need.headroom_bytes)
    cell_bytes = ports.switch.profile.asic.cell_bytes if ports.switch.profile else None
    if cell_bytes is None:
        return HeadroomBound(link, known, None)
    wasteful_bytes = math.ceil(link.floor.headroom_bytes * cell_waste(cell_bytes))
    return HeadroomBound(link, known, max(known.headroom_bytes, wasteful_bytes))


MethodKey = Literal["row", "formula", "floor"]

FORMULA_SOURCES = {
    "mellanox": "sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b",
    "barefoot": "sonic-swss cfgmgr/buffer_headroom_barefoot.lua @e6b0c5b",
}
OLDER_FORMULA_SOURCE = (
    "sonic-swss cfgmgr/buffer_headroom_mellanox.lua @18913fa, which releases before 202405 have"
)
_MELLANOX_SOURCES: dict[MellanoxFormula, str] = {
    "202311": OLDER_FORMULA_SOURCE,
    "202405": "sonic-swss cfgmgr/buffer_headroom_mellanox.lua @4ea5c3a, which releases from 202405 to 202511 have",
    "202605": FORMULA_SOURCES["mellanox"],
}
FLOOR_SOURCE = (
    "pause quanta of IEEE 802.3 clause 31B.3.7, signal speed: sonic-swss cfgmgr/buffer_headroom_mellanox.lua "
    "@e6b0c5b; terms: IEEE 802.1Q as in torvalds/linux drivers/net/ethernet/intel/ixgbe/ixgbe_type.h @b6e2174; whole "
    "frames: derived, held against ns-3.39 (inet-tub/ns3-datacenter @6ddb4a4)"
)


class SourcedValue(NamedTuple):
    """One input of the formula and its source; None is unknown."""

    value: int | None
    source: str


class HeadroomCase(NamedTuple):
    """One link, with the inputs of the methods for it and its switch.

    ``unknown_switch`` is the reason for a missing profile or HWSKU. ``mtu_bytes`` is the largest frame of the port.
    ``peer_response_ns`` is the response time of a peer, None for the defaults of the methods. Inputs with a source
    are those of the formula; ``shared_headroom`` is 0 or 1; ``formula`` is its version for NVIDIA chips;
    ``computing_bps`` is the speed of the calculation on a switch with the dynamic model, None for the speed of the
    link.
    """

    profile: SwitchProfile | None
    hwsku: Hwsku | None
    unknown_switch: str
    speed_bps: int
    cable_m: int
    mtu_bytes: int
    peer_response_ns: int | None
    lanes: SourcedValue
    port_mtu_bytes: SourcedValue
    lossless_mtu_bytes: SourcedValue
    small_packet_percent: SourcedValue
    shared_headroom: SourcedValue
    gearbox_ns: SourcedValue
    formula: MellanoxFormula = "202605"
    computing_bps: int | None = None

    @property
    def link(self) -> LinkInputs:
        """The link in the form of formula inputs; unknown lanes count as 1, any other unknown input as 0."""
        return LinkInputs(
            rate_bps=self.computing_bps or self.speed_bps,
            cable_m=self.cable_m,
            lanes=self.lanes.value or 1,
            port_mtu_bytes=self.port_mtu_bytes.value or 0,
            lossless_mtu_bytes=self.lossless_mtu_bytes.value or 0,
            small_packet_percent=self.small_packet_percent.value or 0,
        )


class MethodResult(NamedTuple):
    """The result of one headroom method: a need, or the reason for its absence (``unknown``), its source and notes."""

    key: MethodKey
    name: str
    need: HeadroomNeed | None
    unknown: str
    source: str
    notes: tuple[str, ...] = ()


def answers(case: HeadroomCase) -> tuple[MethodResult, MethodResult, MethodResult]:
    """Return the results of the three methods, in this order: row, formula, floor.

    Formula and floor have a reason instead of a need where an input has no meaning for them.
    """
    return row_answer(case), formula_answer(case), floor_answer(case)


def silent(reason: str) -> tuple[MethodResult, MethodResult, MethodResult]:
    """Return three method results without a need, all for one reason."""
    return (
        MethodResult("row", "vendor row", None, reason, ""),
        MethodResult("formula", "formula", None, reason, ""),
        MethodResult("floor", "floor", None, reason, ""),
    )


def row_answer(case: HeadroomCase) -> MethodResult:
    """Return the result of the HWSKU's rows: the row of this length, else the next longer one at this speed."""
    hwsku = case.hwsku
    row = hwsku.row_covering(case.speed_bps, case.cable_m) if hwsku else None
    if hwsku is None or row is None:
        return MethodResult(
            "row", "vendor row", None, _without_row(case), hwsku.headroom_source if hwsku else ""
        )
    name = f"{format_rate(row.speed_bps)} {row.cable_m}m"
    need = vendor_row_headroom(row.headroom_bytes, row.xon_bytes, row.reserved_bytes, name)
    notes = () if row.cable_m == case.cable_m else (_longer(hwsku, case, row.cable_m),)
    return MethodResult("row", "vendor row", need, "", hwsku.headroom_source, notes)


def _without_row(case: HeadroomCase) -> str:
    hwsku = case.hwsku
    if hwsku is None:
        return case.unknown_switch
    if not hwsku.headroom:
        return f"HWSKU {hwsku.name} ships no rows"
    rate, lengths = format_rate(case.speed_bps), _lengths(hwsku, case.speed_bps)
    if not lengths:
        return f"HWSKU {hwsku.name} has no row at {rate}; it has rows at {_rates(hwsku.speeds())}"
    return f"no row of HWSKU {hwsku.name} at {rate} reaches {case.cable_m} m; it has rows of {lengths}"


def _longer(hwsku: Hwsku, case: HeadroomCase, row_m: int) -> str:
    rate, lengths = format_rate(case.speed_bps), _lengths(hwsku, case.speed_bps)
    return f"no row of {case.cable_m} m at {rate}: {row_m}m is the next longer of {lengths}"


def _lengths(hwsku: Hwsku, speed_bps: int) -> str:
    lengths_m = sorted({row.cable_m for row in hwsku.headroom if row.speed_bps == speed_bps})
    return ", ".join(f"{cable_m}m" for cable_m in lengths_m)


def _rates(rates_bps: Iterable[int]) -> str:
    return ", ".join(map(format_rate, rates_bps))


def formula_answer(case: HeadroomCase) -> MethodResult:
    """Return the result of the dynamic buffer model for this link."""
    if case.profile is None:
        return MethodResult("formula", "formula", None, "the chip of the switch is unknown", "")
    asic = case.profile.asic
    inputs = asic_inputs(asic)
    if inputs is None:
        return MethodResult("formula", "formula", None, missing_formula(asic), asic.source)
    try:
        need = _evaluated(asic, _supposed(inputs, case), case)
    except QuantityError as error:
        return MethodResult("formula", "formula", None, str(error), asic.source)
    source = f"{_formula_source(asic, case)}; chip: {asic.source}"
    return MethodResult("formula", need.method, need, "", source, tuple(_formula_notes(case, inputs)))


def _evaluated(asic: Asic, inputs: AsicInputs, case: HeadroomCase) -> HeadroomNeed:
    shared = bool(case.shared_headroom.value)
    return evaluate(asic, inputs, case.link, shared_headroom=shared, formula=case.formula)


def _formula_source(asic: Asic, case: HeadroomCase) -> str:
    if asic.formula == "mellanox":
        return _MELLANOX_SOURCES[case.formula]
    return FORMULA_SOURCES[asic.formula or ""]


def missing_formula(asic: Asic) -> str:
    """Return why SONiC's formula cannot be computed for a chip: no formula, or unknown inputs; empty where it can."""
    if asic.formula is None:
        return f"SONiC has no headroom formula for {asic.name}: headroom comes from rows alone"
    inputs = {
        "cell size": asic.cell_bytes,
        "pipeline latency": asic.pipeline_latency_bytes,
        "MAC and PHY delay": asic.mac_phy_delay_bytes,
        "peer response time": asic.peer_response_bytes,
    }
    unknown = [name for name, value in inputs.items() if value is None]
    return f"the {', '.join(unknown)} of {asic.name} {_are(unknown)} unknown" if unknown else ""


def _are(things: list[str]) -> str:
    return "is" if len(things) == 1 else "are"


def uses_lanes(asic: Asic) -> bool:
    """Return whether lanes and a shared headroom pool are inputs of the formula for a chip."""
    return asic.formula == "mellanox"


def unlisted(asic: Asic, speed_bps: int) -> bool:
    """Return whether the formula for a chip has no pause quanta at a speed."""
    at_800g = asic.formula == "barefoot" and speed_bps == BAREFOOT_UNLISTED_BPS
    return at_800g or pause_response_bytes(speed_bps) is None


def _supposed(inputs: AsicInputs, case: HeadroomCase) -> AsicInputs:
    inputs = inputs._replace(gearbox_delay_ns=case.gearbox_ns.value or 0)
    if case.peer_response_ns is not None:
        inputs = inputs._replace(peer_response_bytes=response_bytes(case.speed_bps, case.peer_response_ns))
    return inputs


def response_bytes(speed_bps: int, response_ns: int) -> float:
    """Return the bytes that a peer sends at line rate in a time: 57,920 B at 400G in 1,158.4 ns."""
    return speed_bps * response_ns / 8e9


def _formula_notes(case: HeadroomCase, inputs: AsicInputs) -> Iterable[str]:
    asic = case.profile.asic if case.profile else None
    if asic is None:
        return
    if unlisted(asic, case.speed_bps) and case.peer_response_ns is None:
        taken = format_bytes(int(inputs.peer_response_bytes))
        yield (
            f"SONiC's formula has no pause quanta for {format_rate(case.speed_bps)} and takes a peer response of "
            f"{taken}: far too small"
        )
    if not unlisted(asic, case.speed_bps) and case.peer_response_ns is not None:
        yield f"SONiC's formula takes its own pause quanta at {format_rate(case.speed_bps)}, whatever the peer needs"
    if case.lanes.value is None and uses_lanes(asic):
        yield "lanes unknown: xon and size are those of fewer than 8, the headroom is the same"
    if case.hwsku and case.hwsku.headroom and row_pattern(asic, case.hwsku) is None:
        yield f"the rows of {case.hwsku.name} do not follow from this formula"


def floor_answer(case: HeadroomCase) -> MethodResult:
    """Return the result of the physical floor for full-size frames on any chip."""
    response: float | None = pause_response_bytes(case.speed_bps)
    if case.peer_response_ns is not None:
        response = response_bytes(case.speed_bps, case.peer_response_ns)
    if response is None:
        unknown = f"IEEE 802.3 gives no pause quanta for {format_rate(case.speed_bps)}; state how long the peer takes"
        return MethodResult("floor", "floor", None, unknown, FLOOR_SOURCE)
    mtu_bytes, asic = case.mtu_bytes, case.profile.asic if case.profile else None
    try:
        need = floor_headroom(
            case.speed_bps,
            case.cable_m,
            mtu_bytes,
            mtu_bytes,
            peer_response_bytes=response,
            mac_phy_bytes=(asic.mac_phy_delay_bytes if asic else None) or 0.0,
        )
    except QuantityError as error:
        return MethodResult("floor", "floor", None, str(error), FLOOR_SOURCE)
    return MethodResult("floor", "floor", need, "", FLOOR_SOURCE, tuple(_floor_notes(case)))


def _floor_notes(case: HeadroomCase) -> Iterator[str]:
    asic = case.profile.asic if case.profile else None
    if asic is None or asic.cell_bytes is None:
        yield "for full-size frames; small ones need more, by the cell size, which is unknown here"
    else:
        yield f"for full-size frames; small ones need more, as each takes whole cells of {asic.cell_bytes} B"
    if asic is None or asic.mac_phy_delay_bytes is None:
        yield "the delay of the switch's MAC and PHY is unknown here, and comes on top"
