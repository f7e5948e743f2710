"""Headroom of a lossless priority group: the bytes that still arrive after its pause request.

There are three results, never to be mixed (they differ 2.5 times on one ASIC): the equations of SONiC's dynamic buffer
model for Mellanox and Barefoot chips, a row of a HWSKU's ``pg_profile_lookup.ini``, and a floor from the physics of one
link. Each result carries its method and its sum term by term.

The Mellanox equations are those of sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b, the Barefoot ones of
cfgmgr/buffer_headroom_barefoot.lua @e6b0c5b. Both work in double precision, with the same order of operations. SONiC
calls the headroom ``xoff``, the pipeline's share ``xon``, and the reservation of a group ``size``.

By these equations a longer cable, a faster link among the listed rates (lanes unchanged), or a larger cell never needs
less. One exception: where the small-packet compensation may apply (Mellanox, no shared headroom pool, small packets
below 100 %), crossing its limit can lower the result by 1 KiB, never by more; SONiC's stock 50 % with a lossless MTU of
1024 and jumbo ports stays clear of it. A rate without pause quanta is outside this law, and vendors' rows do not obey
it.
"""

from __future__ import annotations

import math
from typing import Literal

from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import LIGHT_IN_FIBRE_M_PER_S, format_rate

PAUSE_QUANTA = {
    100_000_000: 1,
    1_000_000_000: 2,
    10_000_000_000: 67,
    25_000_000_000: 80,
    40_000_000_000: 118,
    50_000_000_000: 147,
    100_000_000_000: 394,
    200_000_000_000: 453,
    400_000_000_000: 905,
    800_000_000_000: 905,
}
"""Pause quanta (512 bit times) of a peer's response to a pause, by rate in b/s: IEEE 802.3 clause 31B.3.7 as in
sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b. 1.6T has no entry.
"""

PFC_FRAME_BYTES = 64
"""The size of a PFC frame: the minimum of an Ethernet frame (IEEE 802.3: 64 bytes)."""

SMALLEST_PACKET_BYTES = 64
EIGHT_LANES = 8
QUANTUM_BYTES = 512 // 8
MellanoxFormula = Literal["202311", "202405", "202605"]
"""A version of SONiC's formula for Mellanox chips, by a release that has it: up to 202311, from 202405 to 202511, and
from 202605 on."""
_COMPENSATION_BYTES = 2048
_SPECTRUM6_BYTES = 18 * 1024
BAREFOOT_UNLISTED_BPS = 800_000_000_000
_BAREFOOT_DOUBLED_BPS = 400_000_000_000

Method = Literal["mellanox formula", "barefoot formula", "floor", "vendor row"]


class Term(NamedTuple):
    """One addend of a headroom: its bytes and its formula."""

    name: str
    bytes: float
    formula: str


class HeadroomNeed(NamedTuple):
    """A headroom with its method; ``terms`` add up to ``headroom_bytes``.

    ``xon_bytes`` and ``reserved_bytes`` (SONiC's ``size``) are None where the method has none.
    """

    headroom_bytes: int
    xon_bytes: int | None
    reserved_bytes: int | None
    method: Method
    terms: tuple[Term, ...]


class AsicInputs(NamedTuple):
    """The chip parameters of the equations; SONiC has their sizes in KiB in ``platform/<vendor>/asic_table.j2``.

    ``peer_response_bytes`` counts only at a rate without pause quanta; ``tile`` is true on Spectrum-4 and -5.
    """

    cell_bytes: int
    pipeline_latency_bytes: float
    mac_phy_delay_bytes: float
    peer_response_bytes: float
    gearbox_delay_ns: float = 0
    tile: bool = False
    spectrum6: bool = False


class LinkInputs(NamedTuple):
    """The link parameters of the equations: ``PORT``, ``CABLE_LENGTH`` and ``LOSSLESS_TRAFFIC_PATTERN``."""

    rate_bps: int
    cable_m: float
    lanes: int
    port_mtu_bytes: int
    lossless_mtu_bytes: int
    small_packet_percent: float


class _Flight(NamedTuple):
    """The bytes in flight while a pause takes effect, before cell occupancy."""

    terms: tuple[Term, ...]
    worst_waste: float
    occupancy: float

    def headroom(self, lossless_mtu_bytes: int, occupancy: float) -> tuple[float, int]:
        """Return the headroom before and after rounding up to whole KiB."""
        flight_bytes = 0.0
        # sum() compensates rounding errors since Python 3.12, which Lua's plain additions do not.
        for term in self.terms:
            flight_bytes += term.bytes
        exact = lossless_mtu_bytes + flight_bytes * occupancy
        return exact, _whole_kib(exact)


def pause_response_bytes(rate_bps: int) -> int | None:
    """Return the bytes that a peer may send after receipt of a pause; None at a rate without pause quanta.

    905 quanta of 512 bits at 400G are 57,920 B. Source: :data:`PAUSE_QUANTA`.
    """
    quanta = PAUSE_QUANTA.get(rate_bps)
    return None if quanta is None else quanta * QUANTUM_BYTES


def cable_round_trip_bytes(rate_bps: int, cable_m: float) -> float:
    """Return the bytes on a cable there and back, at 198,000 km/s: 20,202 B for 40 m at 400G.

    Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b.
    """
    return _round_trip(rate_bps, cable_m, bits_per_kilobyte=8000)


def cable_floor_bytes(rate_bps: int, cable_m: float) -> int:
    """Return the bytes on a cable there and back, rounded up; no headroom below this can be lossless at line rate."""
    return math.ceil(cable_round_trip_bytes(rate_bps, cable_m))


def cable_plus_mtu_bytes(rate_bps: int, cable_m: float, mtu_bytes: int) -> int:
    """Return the bytes on a cable there and back plus one frame, which the peer may not interrupt, rounded up."""
    return math.ceil(cable_round_trip_bytes(rate_bps, cable_m) + mtu_bytes)


def floor_headroom(
    rate_bps: int,
    cable_m: float,
    mtu_bytes: int,
    reverse_mtu_bytes: int,
    *,
    peer_response_bytes: float,
    pfc_frame_bytes: int = PFC_FRAME_BYTES,
    mac_phy_bytes: float = 0.0,
) -> HeadroomNeed:
    """Return the headroom that is enough for frames of one size up to the MTU: P (1 + ceil(F / P)) at the worst.

    F are the bytes that leave the peer before it stops: the frame that delays the PFC frame (``reverse_mtu_bytes``, 0
    for a reverse direction without data), the PFC frame, the cable there and back, the delay of the switch's own MAC
    and PHY, the peer's response, and the frame P in progress. These are the terms of IEEE 802.1Q (torvalds/linux
    drivers/net/ethernet/intel/ixgbe/ixgbe_type.h @b6e2174, defines taken from 802.1bb Annex O), which counts the delay
    of MAC and PHY at both ends; of a peer, its response alone is counted here. ``mac_phy_bytes`` is 0 where that of the
    switch is unknown: the floor is then short by it. A frame of which a bit arrives is stored whole: frames a little
    shorter than a whole part of F - P need one frame more than that part itself. The worst P up to the MTU is therefore
    the MTU, or just below the largest such part, and a larger MTU never needs less. It is a floor because small packets
    that waste cells need more; while the egress of an N:1 incast drains, about 1 - 1/N of it is used. MTUs are bytes on
    the wire.
    Source: derived here and compared with a packet-level simulation of frames of the MTU (ns-3.39,
    inet-tub/ns3-datacenter @6ddb4a4).

    Raises:
        QuantityError: a rate or frame that is not positive, or a negative length.
    """
    _require(rate_bps > 0 and cable_m >= 0, f"no link runs at {rate_bps} b/s over {cable_m} m")
    _require(
        mtu_bytes > 0 and reverse_mtu_bytes >= 0, f"no frame has {min(mtu_bytes, reverse_mtu_bytes)} bytes"
    )
    flight = (
        Term("frame ahead of the pause", reverse_mtu_bytes, "one frame on the reverse link"),
        Term("pause frame", pfc_frame_bytes, "one PFC frame"),
        _cable(rate_bps, cable_m),
        *([Term("MAC and PHY", mac_phy_bytes, "ASIC table")] if mac_phy_bytes else []),
        Term("peer response", peer_response_bytes, "what the peer sends until it obeys"),
        Term("frame begun", mtu_bytes, "the frame the peer may not interrupt"),
    )
    in_flight = sum(term.bytes for term in flight)
    need, worst = _whole_frames(in_flight - mtu_bytes, mtu_bytes)
    formula = f"up to a multiple of {mtu_bytes:,} B, and one frame more"
    if worst < mtu_bytes:
        formula = f"as frames just below {worst:,} B need, the worst of up to {mtu_bytes:,} B"
    whole = Term("whole frames", need - in_flight, formula)
    return HeadroomNeed(need, None, None, "floor", (*flight, whole))


def _whole_frames(before_bytes: float, mtu_bytes: int) -> tuple[int, int]:
    """Return the most bytes that frames of one size need, and that size: the MTU, or a size just above the worst one.

    ``before_bytes`` leave before the last frame. Frames of p bytes need p (2 + ceil(before / p)), which grows with p,
    and falls by p where p divides ``before``.
    """
    parts = math.ceil(before_bytes / mtu_bytes)
    own = mtu_bytes * (2 + parts)
    part = before_bytes / parts if parts else 0
    shorter = math.ceil(part * (3 + parts))
    if part > SMALLEST_PACKET_BYTES and shorter > own:
        return shorter, min(math.ceil(part), mtu_bytes - 1)
    return own, mtu_bytes


def vendor_row_headroom(headroom_bytes: int, xon_bytes: int, reserved_bytes: int, row: str) -> HeadroomNeed:
    """Return a row of a HWSKU's ``pg_profile_lookup.ini`` as a need; ``row`` is its name (``400G 40m``)."""
    terms = (Term("vendor row", headroom_bytes, row),)
    return HeadroomNeed(headroom_bytes, xon_bytes, reserved_bytes, "vendor row", terms)


def mellanox_headroom(
    asic: AsicInputs, link: LinkInputs, *, shared_headroom: bool, compensated: bool = True
) -> HeadroomNeed:
    """Return the headroom of a Mellanox priority group by SONiC's dynamic buffer model.

    ``compensated``: with the additions for Spectrum-6 and small packets, which release 202605 and master have and
    202405 to 202511 lack (sonic-swss pull requests 4757 and 4797; branches 202405 @6785d66, 202411 @8aa8f0f, 202505
    @e9dcd50, 202511 @4ea5c3a, 202605 @2478b9c).

    A rate without pause quanta (1.6T) falls back to the chip's ``peer_response_bytes``, 3.8 KiB on every Spectrum,
    where 905 quanta would be 57,920 B: such a headroom is far too small, and its peer term states the reason. With a
    shared headroom pool, ``reserved_bytes`` is the XON alone. Source: see the module.

    Raises:
        QuantityError: an input without physical meaning.
    """
    _require_meaning(asic, link)
    flight = _mellanox_flight(asic, link)
    exact, rounded = flight.headroom(link.lossless_mtu_bytes, flight.occupancy)
    extras = (
        _mellanox_extras(asic, link, flight, rounded, shared_headroom=shared_headroom) if compensated else ()
    )
    headroom = rounded + sum(int(extra.bytes) for extra in extras)
    eight = link.lanes == EIGHT_LANES
    xon = _whole_kib(asic.pipeline_latency_bytes * (2 if eight else 1))
    own = xon if shared_headroom else _whole_kib(headroom + xon + (link.port_mtu_bytes if eight else 0))
    terms = (*_occupied(flight, link), _rounding(rounded - exact), *extras)
    return HeadroomNeed(headroom, xon, own, "mellanox formula", terms)


def older_mellanox_headroom(asic: AsicInputs, link: LinkInputs, *, shared_headroom: bool) -> HeadroomNeed:
    """Return the headroom of a Mellanox priority group by the formula of releases before 202405.

    That formula does not round cell waste up, counts small packets by packets and not by bytes, divides the cable by
    1024 instead of 1000, has 1 KiB less of XON at 8 lanes, and adds nothing for tiles, Spectrum-6 or small packets. On
    Spectrum-2 and -3 the result is a quarter less if all packets are small. Source: sonic-swss
    cfgmgr/buffer_headroom_mellanox.lua @18913fa, before pull request 3235 (2024-07; for 202405: 3342, 2024-10).

    Raises:
        QuantityError: an input without physical meaning.
    """
    _require_meaning(asic, link)
    flight = _packet_flight(
        asic, link, _peer_response(asic, link.rate_bps, pause_response_bytes(link.rate_bps))
    )
    exact, headroom = flight.headroom(link.lossless_mtu_bytes, flight.occupancy)
    eight = link.lanes == EIGHT_LANES
    xon = _whole_kib(asic.pipeline_latency_bytes * 2 - 1024 if eight else asic.pipeline_latency_bytes)
    own = xon if shared_headroom else _whole_kib(headroom + xon + (link.port_mtu_bytes if eight else 0))
    terms = (*_occupied(flight, link), _rounding(headroom - exact))
    return HeadroomNeed(headroom, xon, own, "mellanox formula", terms)


def barefoot_headroom(asic: AsicInputs, link: LinkInputs) -> HeadroomNeed:
    """Return the headroom of a Barefoot priority group by SONiC's dynamic buffer model.

    It differs from Mellanox's: cell waste is not rounded up, small packets count by packets and not by bytes, the cable
    is divided by 1024 instead of 1000 (2.3 % less), the peer's response doubles at 400G, 800G has no pause quanta, and
    a shared headroom pool is assumed. Lanes, tile and Spectrum-6 have no effect. Source: see the module.

    Raises:
        QuantityError: an input without physical meaning.
    """
    _require_meaning(asic, link)
    flight = _packet_flight(asic, link, _barefoot_peer(asic, link))
    exact, headroom = flight.headroom(link.lossless_mtu_bytes, flight.occupancy)
    xon = _whole_kib(asic.pipeline_latency_bytes)
    terms = (*_occupied(flight, link), _rounding(headroom - exact))
    return HeadroomNeed(headroom, xon, xon, "barefoot formula", terms)


def _mellanox_flight(asic: AsicInputs, link: LinkInputs) -> _Flight:
    mean_packet = (
        link.small_packet_percent * SMALLEST_PACKET_BYTES
        + (100 - link.small_packet_percent) * link.lossless_mtu_bytes
    ) / 100
    small = 100 * SMALLEST_PACKET_BYTES / mean_packet
    waste = math.ceil(cell_waste(asic.cell_bytes))
    tile = link.rate_bps / 1e6 / 1000 * 120 / 8 if asic.tile else 0.0
    terms = (
        Term("peer frame", link.port_mtu_bytes, "port MTU"),
        _cable(link.rate_bps, link.cable_m),
        _gearbox(asic, link),
        Term("MAC and PHY", asic.mac_phy_delay_bytes, "ASIC table"),
        _peer_response(asic, link.rate_bps, pause_response_bytes(link.rate_bps)),
        Term("tile", tile, "120 ns at line rate (Spectrum-4 and -5)" if asic.tile else "no tile"),
    )
    return _Flight(terms, waste, (100 - small + small * waste) / 100)


def _barefoot_peer(asic: AsicInputs, link: LinkInputs) -> Term:
    listed = link.rate_bps != BAREFOOT_UNLISTED_BPS
    peer = _peer_response(asic, link.rate_bps, pause_response_bytes(link.rate_bps) if listed else None)
    if link.rate_bps == _BAREFOOT_DOUBLED_BPS:
        return Term(peer.name, 2 * peer.bytes, f"2 x ({peer.formula})")
    return peer


def _packet_flight(asic: AsicInputs, link: LinkInputs, peer: Term) -> _Flight:
    """Return the bytes in flight with small packets counted by packets, as on Barefoot and formerly on Mellanox."""
    cable = _round_trip(link.rate_bps, link.cable_m, bits_per_kilobyte=8 * 1024)
    terms = (
        Term("peer frame", link.port_mtu_bytes, "port MTU"),
        Term("cable round trip", cable, f"{_cable_formula(link.rate_bps, link.cable_m)}, x 1000/1024"),
        _gearbox(asic, link),
        Term("MAC and PHY", asic.mac_phy_delay_bytes, "ASIC table"),
        peer,
    )
    waste = cell_waste(asic.cell_bytes)
    small = link.small_packet_percent
    return _Flight(terms, waste, (100 - small + small * waste) / 100)


def _mellanox_extras(
    asic: AsicInputs, link: LinkInputs, flight: _Flight, rounded: int, *, shared_headroom: bool
) -> tuple[Term, ...]:
    extras = [Term("Spectrum-6", _SPECTRUM6_BYTES, "18 KiB on Spectrum-6")] if asic.spectrum6 else []
    headroom = rounded + sum(int(extra.bytes) for extra in extras)
    worst = flight.headroom(link.lossless_mtu_bytes, flight.worst_waste)[1]
    mixed = link.small_packet_percent != 100
    if not shared_headroom and mixed and headroom + _COMPENSATION_BYTES < worst:
        why = f"2 KiB, as small packets alone would need {worst:,} B"
        extras.append(Term("small-packet compensation", _COMPENSATION_BYTES, why))
    return tuple(extras)


def cell_waste(cell_bytes: int) -> float:
    """Return the buffer bytes per stored byte in the worst case: a smallest packet, or one byte beyond a cell."""
    if cell_bytes > 2 * SMALLEST_PACKET_BYTES:
        return cell_bytes / SMALLEST_PACKET_BYTES
    return 2 * cell_bytes / (1 + cell_bytes)


def _round_trip(rate_bps: int, cable_m: float, *, bits_per_kilobyte: int) -> float:
    return 2 * cable_m * (rate_bps / 1e6) * 1e9 / LIGHT_IN_FIBRE_M_PER_S / bits_per_kilobyte


def _cable(rate_bps: int, cable_m: float) -> Term:
    crossing = cable_round_trip_bytes(rate_bps, cable_m)
    return Term("cable round trip", crossing, _cable_formula(rate_bps, cable_m))


def _cable_formula(rate_bps: int, cable_m: float) -> str:
    return f"2 x {cable_m:g} m x {format_rate(rate_bps)} / {LIGHT_IN_FIBRE_M_PER_S // 1000:,} km/s"


def _gearbox(asic: AsicInputs, link: LinkInputs) -> Term:
    one_way = link.rate_bps / 1e6 * asic.gearbox_delay_ns / (8 * 1024)
    return Term("gearbox", 2 * one_way, f"2 x {asic.gearbox_delay_ns:g} ns")


def _peer_response(asic: AsicInputs, rate_bps: int, known_bytes: int | None) -> Term:
    if known_bytes is not None:
        return Term("peer response", known_bytes, f"{known_bytes // QUANTUM_BYTES} quanta x 512 bit")
    why = f"no pause quanta for {format_rate(rate_bps)}: peer response time of the ASIC table"
    return Term("peer response", asic.peer_response_bytes, why)


def _occupied(flight: _Flight, link: LinkInputs) -> tuple[Term, ...]:
    own = Term("own frame", link.lossless_mtu_bytes, "lossless MTU")
    factor = f"x {flight.occupancy:.4g} for cells"
    scaled = (
        Term(term.name, term.bytes * flight.occupancy, f"{term.formula} = {term.bytes:,.0f} B, {factor}")
        for term in flight.terms
        if term.bytes
    )
    return (own, *scaled)


def _rounding(added_bytes: float) -> Term:
    return Term("rounding", added_bytes, "up to whole KiB")


def _whole_kib(size_bytes: float) -> int:
    return math.ceil(size_bytes / 1024) * 1024


def _require_meaning(asic: AsicInputs, link: LinkInputs) -> None:
    _require(
        link.rate_bps > 0 and link.cable_m >= 0, f"no link runs at {link.rate_bps} b/s over {link.cable_m} m"
    )
    _require(
        0 <= link.small_packet_percent <= 100,
        f"{link.small_packet_percent} is not a percentage of small packets",
    )
    smallest = min(link.port_mtu_bytes, link.lossless_mtu_bytes)
    _require(
        smallest >= SMALLEST_PACKET_BYTES,
        f"an MTU of {smallest} bytes is below the smallest packet, 64 bytes",
    )
    _require(asic.cell_bytes > 0, f"no buffer has cells of {asic.cell_bytes} bytes")
    _require(asic.gearbox_delay_ns >= 0, f"no gearbox delays by {asic.gearbox_delay_ns} ns")


def _require(meaningful: bool, message: str) -> None:
    if not meaningful:
        raise QuantityError(message)
