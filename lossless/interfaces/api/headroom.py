"""Headroom of a link by the vendor's row, by SONiC's formula and by physics, beside what is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.buffers.headroom.inputs import HeadroomInputs as HeadroomInputs
from lossless.ground.basics.errors import LosslessError, ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.fabrics import fabrics_at
from lossless.interfaces.api.options import DEFAULT_OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from lossless.analysis.buffers.headroom.cases import SourcedTraffic
    from lossless.analysis.buffers.headroom.comparison import HeadroomComparison
    from lossless.ground.basics.findings import Json
    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import PortSet, View
    from lossless.model.hardware.model import Hwsku, SwitchProfile


NOTHING_STATED = HeadroomInputs()


class Headrooms(NamedTuple):
    """Kinds of link: what is configured on each, and what each method says, with its terms and sources."""

    comparisons: tuple[HeadroomComparison, ...]

    def to_data(self) -> dict[str, Json]:
        """Return them as plain data; kinds that are identical on several devices are one."""
        from lossless.analysis.buffers.headroom.data import headroom_data

        return headroom_data(self.comparisons)


def headroom_of_link(
    profile: str,
    speed_bps: int,
    cable_m: int,
    *,
    hwsku: str | None = None,
    stated: HeadroomInputs = NOTHING_STATED,
    options: Options = DEFAULT_OPTIONS,
) -> Headrooms:
    """Say what the three methods ask for a lossless group of a switch, by profile, speed and cable.

    ``hwsku`` is by default the one an intent would take; ``stated`` is what the formula should take for given.

    Raises:
        ProfileError: no such profile or HWSKU, or a switch that knows no such speed.
    """
    from lossless.analysis.buffers.headroom.comparison import of_link
    from lossless.model.hardware.load import load_switch

    switch = load_switch(profile, options.profile_dirs)
    chosen = _hwsku(switch, hwsku)
    _check_speed(switch, chosen, speed_bps)
    return Headrooms((of_link(switch, chosen, speed_bps, cable_m, stated, _assumed()),))


def headroom_of_ports(
    path: str | PathLike[str],
    ports: Sequence[str] = (),
    *,
    stated: HeadroomInputs = NOTHING_STATED,
    options: Options = DEFAULT_OPTIONS,
) -> Headrooms:
    """Say the same of the ports of an intent or of configurations, with what is configured.

    ``ports`` are names like ``leaf1:Ethernet0``, on a single device ``Ethernet0``; without one, every kind of lossless
    port.

    Raises:
        InputError: the intent or a configuration cannot be read, or there is none.
        LosslessError: no such switch or port, or one without QoS.
    """
    from lossless.analysis.buffers.headroom.comparison import of_ports
    from lossless.model.fabric.view import View

    views = [View(fabric) for fabric in fabrics_at(path, options, "compute headroom for")]
    sets = [_named(views, name) for name in ports] or [
        port_set for view in views for port_set in view.lossless_sets
    ]
    assumed = _assumed()
    return Headrooms(tuple(each for port_set in sets for each in of_ports(port_set, stated, assumed)))


def _assumed() -> SourcedTraffic:
    """Return what the formula takes for given where nothing better is known."""
    from lossless.analysis.buffers.headroom.cases import SourcedTraffic
    from lossless.analysis.buffers.headroom.methods import SourcedValue
    from lossless.formats.intent.resolve.buffers import LOSSLESS_MTU_BYTES, SMALL_PACKET_PERCENT
    from lossless.model.fabric.model import DEFAULT_SWITCH_MTU_BYTES

    return SourcedTraffic(
        SourcedValue(DEFAULT_SWITCH_MTU_BYTES, "SONiC's default"),
        SourcedValue(LOSSLESS_MTU_BYTES, "SONiC's default"),
        SourcedValue(SMALL_PACKET_PERCENT, "SONiC's default until 2024-10"),
    )


def _hwsku(switch: SwitchProfile, name: str | None) -> Hwsku:
    hwsku = switch.hwsku(switch.default_hwsku if name is None else name)
    if hwsku is None:
        raise ProfileError(
            f"{switch.name} has no HWSKU {name!r}{_suggest(name or '', [each.name for each in switch.hwskus])}"
        )
    return hwsku


def _check_speed(switch: SwitchProfile, hwsku: Hwsku, speed_bps: int) -> None:
    """Check that a port may run at a speed: not every mode of every cage is known, so rows count too."""
    from lossless.ground.basics.units import format_rate

    known = sorted({*switch.speeds_bps, *hwsku.speeds(), *(port.speed_bps for port in hwsku.ports)})
    if speed_bps not in known:
        rates = ", ".join(map(format_rate, known))
        raise ProfileError(
            f"no port of {switch.name} runs at {format_rate(speed_bps)}; its ports run at {rates}"
        )


def _named(views: Sequence[View], spec: str) -> PortSet:
    """Return the port of a name as a set of its own."""
    from lossless.model.fabric.view import single_port

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
    from lossless.ground.basics.nearest import suggestion

    return suggestion(name, list(dict.fromkeys(known)))
