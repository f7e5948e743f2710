"""The :class:`HeadroomCase` of a port, or of a link that a user describes, for the three methods.

The inputs of the formula come from these sources, in this order: the user, the dynamic buffer model of the switch, the
pattern that reproduces the HWSKU's rows, SONiC's defaults. Each input carries its source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.methods import HeadroomCase, SourcedValue
from lossless.analysis.buffers.headroom.port import (
    computes_as_before,
    fastest_speed,
    link_of,
    row_pattern,
    shares_headroom,
    unknown_hwsku,
)
from lossless.ground.basics.findings import MissingInput
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate

if TYPE_CHECKING:
    from lossless.analysis.buffers.headroom.inputs import HeadroomInputs
    from lossless.model.fabric.model import Switch
    from lossless.model.fabric.view import PortSet
    from lossless.model.hardware.model import Hwsku, SwitchProfile

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
    """Return the headroom case of a link without a file."""
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
    """Return the headroom case of some ports, for the real cable length where it is known."""
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
        older_formula=computes_as_before(switch),
        computing_bps=fastest_speed(ports) if switch.qos.buffer_model == "dynamic" else None,
    )


def _or(stated: int | None, known: SourcedValue) -> SourcedValue:
    return known if stated is None else SourcedValue(int(stated), STATED)


def _gearbox(profile: SwitchProfile | None) -> SourcedValue:
    delay_ns = profile.asic.gearbox_delay_ns if profile else None
    return SourcedValue(delay_ns or 0, "the platform" if delay_ns else "none is known of")


def _traffic(switch: Switch, mtu_bytes: int, assumed: SourcedTraffic) -> SourcedTraffic:
    """Return the inputs of the dynamic model, else the pattern of the HWSKU's rows with the port's MTU if larger."""
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
    """Return the lanes of a port at a speed: those in the HWSKU, else those of the breakout modes for that speed."""
    own = {len(port.lanes) for port in hwsku.ports if port.speed_bps == speed_bps}
    if own:
        return SourcedValue(min(own), f"ports of {hwsku.name}")
    modes = {mode for cage in profile.cages for mode in cage.modes if speed_bps in mode.speeds_bps}
    made = [mode for mode in modes if mode.speeds_bps[0] == speed_bps] or modes
    chosen = min(made, key=lambda mode: (mode.lanes // mode.count, mode.text), default=None)
    if chosen is None:
        return SourcedValue(None, f"no port of {profile.name} is known to run at {format_rate(speed_bps)}")
    return SourcedValue(chosen.lanes // chosen.count, f"ports split as {chosen.text}")
