"""The headroom need and the headroom of one kind of port: from the fabric model to the closed forms of this package.

The result for an unknown input is no guess: None, or a :class:`MissingInput` that names it. A headroom need comes from
one method, in this order, and carries its name: the formula of a switch with the dynamic model, the vendor's row of the
HWSKU that covers the length, the ASIC's formula with the inputs that reproduce the HWSKU's own rows, the closed-form
floor.

The headroom is the profile's ``xoff``. ``size`` (reserved) and ``xon`` add nothing to it: with a shared headroom pool
``size`` is below ``xon + xoff`` and the rest comes from that pool (3,011 of 3,607 rows in sonic-buildimage
pg_profile_lookup.ini @086b03b). :func:`given_headroom` has the one case where ``size`` reduces it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.formulas import (
    AsicInputs,
    HeadroomNeed,
    LinkInputs,
    barefoot_headroom,
    cable_floor_bytes,
    cable_plus_mtu_bytes,
    floor_headroom,
    mellanox_headroom,
    older_mellanox_headroom,
    pause_response_bytes,
    vendor_row_headroom,
)
from lossless.ground.basics.errors import QuantityError
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple, Unknown
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.analysis.buffers.headroom.formulas import MellanoxFormula
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.qos import BufferProfile, Pool
    from lossless.model.fabric.view import PortSet
    from lossless.model.hardware.model import Asic, Hwsku


class TrafficPattern(NamedTuple):
    """The traffic assumptions of the formulas: the largest frames, and the percentage of packets of 64 bytes.

    ``port_mtu_bytes`` is the largest frame of any traffic, ``lossless_mtu_bytes`` that of lossless traffic.
    """

    port_mtu_bytes: int
    lossless_mtu_bytes: int
    small_packet_percent: int


ROW_PATTERNS = (TrafficPattern(9216, 1024, 100), TrafficPattern(9216, 4096, 50))
"""Patterns with which the formula reproduces the rows that NVIDIA ships.

Measured against sonic-buildimage pg_profile_lookup.ini @086b03b: the first reproduces all 24 rows of ACS-SN5600 and of
ACS-SN5400 (Spectrum-4), the second all 36 to 42 rows of each HWSKU of SN5640 (Spectrum-5). A pattern is used for a
HWSKU only if it reproduces every row of it.
"""


class LinkNeed(NamedTuple):
    """The headroom need of one lossless group on a link.

    ``speed_bps`` is the fastest speed of the link; ``cable_bytes`` is the cable alone, ``frame_bytes`` the cable and
    one frame of the configured port MTU; ``floor`` is None at a rate without pause quanta. ``need`` is the best known
    need, None where even the floor is unknown.
    """

    speed_bps: int
    cable_m: int
    mtu_bytes: int
    cable_bytes: int
    frame_bytes: int
    floor: HeadroomNeed | None
    need: HeadroomNeed | None


def link_of(ports: PortSet) -> tuple[int, int, int] | MissingInput:
    """Return the fastest speed in b/s, the best known cable length in meters and the MTU in bytes of a link.

    Where one of them is unknown, return it as a missing input.
    """
    speed_bps, cable_m, mtu_bytes = fastest_speed(ports), ports.cable.known_m, port_mtu(ports)
    if speed_bps is None:
        return MissingInput("the speed of the port is unknown")
    if not cable_m:
        return MissingInput("the length of the cable is unknown")
    if mtu_bytes is None:
        return MissingInput("the MTU of the port is unknown")
    return speed_bps, cable_m, mtu_bytes


def link_need(ports: PortSet) -> LinkNeed | MissingInput:
    """Return the headroom need of a lossless group, for the best known cable length, or the unknown input."""
    link = link_of(ports)
    if isinstance(link, MissingInput):
        return link
    speed_bps, cable_m, mtu_bytes = link
    asic = ports.switch.profile.asic if ports.switch.profile else None
    floor = _floor(speed_bps, cable_m, mtu_bytes, asic)
    return LinkNeed(
        speed_bps=speed_bps,
        cable_m=cable_m,
        mtu_bytes=mtu_bytes,
        cable_bytes=cable_floor_bytes(speed_bps, cable_m),
        frame_bytes=cable_plus_mtu_bytes(speed_bps, cable_m, mtu_bytes),
        floor=floor,
        need=_computed_at(ports, cable_m)
        or _row(ports, cable_m)
        or _formula(ports, cable_m, mtu_bytes)
        or floor,
    )


def formula_need(ports: PortSet) -> HeadroomNeed | None:
    """Return the need by SONiC's formula at the best known cable length.

    None where the formula does not reproduce the HWSKU's rows, or an input is unknown.
    """
    link = link_of(ports)
    return None if isinstance(link, MissingInput) else _formula(ports, *link[1:])


def lossless_profile(ports: PortSet, priority: int) -> BufferProfile | MissingInput | None:
    """Return the buffer profile of the group that pauses a PFC priority, None or the unknown input.

    The result is that of :func:`group_profile`. But a switch without SONiC computes headroom itself: SONiC's rows of
    the product do not apply to it.
    """
    if not ports.switch.runs_sonic:
        return MissingInput(HEADROOM_OF_CHIP)
    return group_profile(ports, ports.qos.pausing_group(priority))


def group_profile(ports: PortSet, number: int) -> BufferProfile | MissingInput | None:
    """Return the buffer profile of a lossless group by its number, or the unknown input.

    None: the group is lossy, or it is missing in a file that has buffer pools. SONiC uses the numbers in ``pfc_enable``
    as those of the groups that it generates (sonic-swss cfgmgr/buffermgr.cpp @e6b0c5b).
    """
    group = ports.qos.groups[number]
    if group is None:
        return None if ports.switch.qos.pools else MissingInput("the file has no buffer pools")
    if group.buffer is not None:
        return group.buffer if group.buffer.lossless else None
    if ports.switch.qos.buffer_model == "dynamic":
        return MissingInput(_COMPUTED)
    if not group.generated:
        return MissingInput("the profile of the priority group is not in the file")
    if not ports.switch.runs_sonic:
        return MissingInput(HEADROOM_OF_CHIP)
    if ports.speed_bps is None:
        return MissingInput("the speed of the port is unknown")
    return MissingInput(unknown_hwsku(ports.switch))


def lends_headroom(switch: Switch, pool: Pool) -> bool:
    """Return whether a pool lends headroom: it has ``xoff``, or the dynamic model has a ratio for its size.

    Source: sonic-swss cfgmgr/buffer_pool_mellanox.lua @1469e8d.
    """
    dynamic = switch.qos.dynamic if switch.qos.buffer_model == "dynamic" else None
    return bool(pool.shared_headroom_bytes or (dynamic is not None and dynamic.oversubscription))


def shares_headroom(switch: Switch) -> bool:
    """Return whether lossless groups of a switch share headroom."""
    return any(lends_headroom(switch, pool) for pool in switch.qos.pools)


def given_headroom(switch: Switch, profile: BufferProfile) -> int:
    """Return the effective headroom in bytes of a lossless profile on a switch.

    It is ``xoff``, except on NVIDIA chips without a shared headroom pool: there ``size`` must hold ``xon`` and ``xoff``
    (sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b), and if it is below ``xoff`` alone, only its part beyond
    ``xon`` exists. Shipped rows 1 KiB short of the sum count in full.
    """
    headroom = profile.xoff_bytes
    elsewhere = profile.pool is None or lends_headroom(switch, profile.pool)
    if elsewhere or not is_nvidia(switch) or profile.reserved_bytes >= headroom:
        return headroom
    return max(0, profile.reserved_bytes - (profile.xon_bytes or 0))


SIZE_SLACK_BYTES = 1024
"""The shortfall of NVIDIA's shipped rows against ``xon`` + ``xoff``: 40G over 5 m of ACS-SN5400 and ACS-SN5600,
sonic-buildimage device/mellanox/x86_64-nvidia_sn5400-r0/ACS-SN5400/pg_profile_lookup.ini @086b03b.
"""


def unbacked_bytes(switch: Switch, profile: BufferProfile) -> int:
    """Return the shortfall of ``size`` against ``xon`` + ``xoff``.

    0: it is at most 1 KiB, ``size`` need not hold them, or the pool is unknown.

    It must hold them on NVIDIA chips without a shared headroom pool; shipped rows of other chips keep no such relation
    (sonic-swss cfgmgr/buffer_headroom_mellanox.lua @e6b0c5b).
    """
    if not is_nvidia(switch) or profile.pool is None or lends_headroom(switch, profile.pool):
        return 0
    short = (profile.xon_bytes or 0) + profile.xoff_bytes - profile.reserved_bytes
    return short if short > SIZE_SLACK_BYTES else 0


def computed_headroom(ports: PortSet) -> HeadroomNeed | MissingInput:
    """Return the headroom that the dynamic buffer model computes from a port's cable length and traffic pattern.

    An input that is unknown or has no meaning is returned instead.
    """
    dynamic = ports.switch.qos.dynamic
    if dynamic is None or dynamic.lossless_mtu_bytes is None or dynamic.small_packet_percent is None:
        return MissingInput(f"{_COMPUTED}, from a LOSSLESS_TRAFFIC_PATTERN that is not in the file")
    pattern = dynamic.lossless_mtu_bytes, dynamic.small_packet_percent
    try:
        need = dynamic_headroom(ports, *pattern, shared_headroom=shares_headroom(ports.switch))
    except QuantityError as error:
        return MissingInput(f"{_COMPUTED}, from what has no meaning: {error}")
    return MissingInput(_COMPUTED) if need is None else need


_COMPUTED = "in the dynamic buffer model the switch computes headroom itself"
HEADROOM_OF_CHIP = "the switch computes headroom itself, and no file of its system states it"


def dynamic_headroom(
    ports: PortSet, lossless_mtu_bytes: int, small_packet_percent: int, *, shared_headroom: bool
) -> HeadroomNeed | None:
    """Return the headroom of a port set by the dynamic buffer model, None where an input is unknown.

    Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua and buffer_headroom_barefoot.lua @e6b0c5b.

    Raises:
        QuantityError: an input without physical meaning.
    """
    profile, cable_m, mtu_bytes = ports.switch.profile, ports.cable.configured_m, port_mtu(ports)
    inputs, speed_bps = asic_inputs(profile.asic) if profile else None, fastest_speed(ports)
    if profile is None or inputs is None or not cable_m or mtu_bytes is None or speed_bps is None:
        return None
    lanes = max((port.lanes or 1 for port in ports.ports), default=1)
    link = LinkInputs(speed_bps, cable_m, lanes, mtu_bytes, lossless_mtu_bytes, small_packet_percent)
    formula = mellanox_formula(ports.switch)
    return evaluate(profile.asic, inputs, link, shared_headroom=shared_headroom, formula=formula)


def fastest_speed(ports: PortSet) -> int | None:
    """Return the fastest possible speed of a port set: the fastest advertised one, else the configured one, if known.

    The dynamic buffer model uses it. Source: sonic-swss cfgmgr/buffermgrdyn.cpp @e6b0c5b
    (needRefreshPortDueToEffectiveSpeed).
    """
    offered = [port.offered_bps for port in ports.ports if port.offered_bps is not None]
    return max(offered, default=ports.speed_bps)


def mellanox_formula(switch: Switch) -> MellanoxFormula:
    """Return the formula that a switch has by its release, the newest one where that is unknown.

    A release has the name of the month of its branch, and so has the version of the database since 202305. Source:
    :func:`lossless.analysis.buffers.headroom.formulas.older_mellanox_headroom` and ``mellanox_headroom`` there.
    """
    stated = switch.release or (switch.qos.database_version or "").removeprefix("version_").partition("_")[0]
    if not stated.isdecimal() or len(stated) != len("202405"):
        return "202605"
    if stated < "202405":
        return "202311"
    return "202405" if stated < "202605" else "202605"


def is_nvidia(switch: Switch) -> bool:
    """Return whether SONiC sizes the switch's buffers by its rules for NVIDIA chips."""
    return switch.profile is not None and switch.profile.asic.formula == "mellanox"


def unknown_hwsku(switch: Switch) -> str:
    """Return the reason for the missing headroom rows of a switch without a known HWSKU."""
    if isinstance(switch.hwsku_name, Unknown) or switch.hwsku_name is None:
        return "the file does not say which HWSKU the switch is"
    return f"the headroom rows of HWSKU {switch.hwsku_name} are unknown"


def port_mtu(ports: PortSet) -> int | None:
    """Return the largest MTU of a port set in bytes, None where none is known."""
    known = [port.mtu_bytes for port in ports.ports if isinstance(port.mtu_bytes, int)]
    return max(known, default=None)


def _computed_at(ports: PortSet, cable_m: int) -> HeadroomNeed | None:
    """Return the headroom that a switch with the dynamic model computes for a port set at a cable length, else None."""
    groups = [ports.qos.groups[ports.qos.pausing_group(priority)] for priority in ports.qos.pfc.priorities]
    if ports.switch.qos.buffer_model != "dynamic" or not any(group and group.generated for group in groups):
        return None
    need = computed_headroom(ports._replace(cable=ports.cable._replace(configured_m=cable_m)))
    return None if isinstance(need, MissingInput) else need


def _row(ports: PortSet, cable_m: int) -> HeadroomNeed | None:
    row = ports.switch.hwsku.row_covering(fastest_speed(ports), cable_m) if ports.switch.hwsku else None
    if row is None:
        return None
    name = f"{format_rate(row.speed_bps)} {row.cable_m}m"
    return vendor_row_headroom(row.headroom_bytes, row.xon_bytes, row.reserved_bytes, name)


def _formula(ports: PortSet, cable_m: int, mtu_bytes: int) -> HeadroomNeed | None:
    switch, speed_bps = ports.switch, fastest_speed(ports)
    inputs = asic_inputs(switch.profile.asic) if switch.profile else None
    if switch.profile is None or switch.hwsku is None or inputs is None or speed_bps is None:
        return None
    pattern = row_pattern(switch.profile.asic, switch.hwsku)
    if pattern is None:
        return None
    lanes = max((port.lanes or 1 for port in ports.ports), default=1)
    grown = pattern._replace(port_mtu_bytes=max(mtu_bytes, pattern.port_mtu_bytes))
    link = LinkInputs(speed_bps, cable_m, lanes, *grown)
    return evaluate(switch.profile.asic, inputs, link, shared_headroom=switch.hwsku.uses_shared_headroom)


def asic_inputs(asic: Asic) -> AsicInputs | None:
    """Return the chip inputs of the headroom formula, None for a chip without a formula or with unknown sizes."""
    sizes = asic.cell_bytes, asic.pipeline_latency_bytes, asic.mac_phy_delay_bytes, asic.peer_response_bytes
    if asic.formula is None or None in sizes:
        return None
    cell, pipeline, mac_phy, peer = (size or 0 for size in sizes)
    return AsicInputs(int(cell), pipeline, mac_phy, peer, asic.gearbox_delay_ns or 0, asic.tile)


@lru_cache(maxsize=64)
def row_pattern(asic: Asic, hwsku: Hwsku) -> TrafficPattern | None:
    """Return the pattern with which the formula reproduces every row of a HWSKU, or None.

    Only then are the vendor's inputs known, and the formula is used for lengths without a row.
    """
    inputs = asic_inputs(asic)
    if inputs is None or not hwsku.headroom:
        return None
    return next((pattern for pattern in ROW_PATTERNS if _gives_rows(asic, inputs, hwsku, pattern)), None)


def _gives_rows(asic: Asic, inputs: AsicInputs, hwsku: Hwsku, pattern: TrafficPattern) -> bool:
    shared = hwsku.uses_shared_headroom
    links = (LinkInputs(row.speed_bps, row.cable_m, 1, *pattern) for row in hwsku.headroom)
    needs_bytes = (evaluate(asic, inputs, link, shared_headroom=shared).headroom_bytes for link in links)
    return all(
        need_bytes == row.headroom_bytes for need_bytes, row in zip(needs_bytes, hwsku.headroom, strict=True)
    )


def evaluate(
    asic: Asic,
    inputs: AsicInputs,
    link: LinkInputs,
    *,
    shared_headroom: bool,
    formula: MellanoxFormula = "202605",
) -> HeadroomNeed:
    """Return the result of SONiC's formula for a chip; ``inputs`` are the chip's own, or assumed ones.

    ``formula`` is the version for NVIDIA chips (:func:`mellanox_formula`).

    Raises:
        QuantityError: an input without physical meaning.
    """
    if asic.formula == "barefoot":
        return barefoot_headroom(inputs, link)
    if formula == "202311":
        return older_mellanox_headroom(inputs, link, shared_headroom=shared_headroom)
    return mellanox_headroom(inputs, link, shared_headroom=shared_headroom, compensated=formula == "202605")


def _floor(rate_bps: int, cable_m: int, mtu_bytes: int, asic: Asic | None) -> HeadroomNeed | None:
    response = pause_response_bytes(rate_bps)
    if response is None:
        return None
    own_bytes = (asic.mac_phy_delay_bytes if asic else None) or 0.0
    return floor_headroom(
        rate_bps, cable_m, mtu_bytes, mtu_bytes, peer_response_bytes=response, mac_phy_bytes=own_bytes
    )
