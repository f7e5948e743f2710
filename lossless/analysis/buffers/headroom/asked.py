"""The link or ports that headroom is asked for: by profile, HWSKU and speed, or by the name of a port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import LosslessError, ProfileError
from lossless.ground.basics.nearest import suggestion
from lossless.ground.basics.units import format_rate
from lossless.model.fabric.view import single_port

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lossless.model.fabric.model import Port, Switch
    from lossless.model.fabric.view import PortSet, View
    from lossless.model.hardware.model import Hwsku, SwitchProfile


def hwsku_for(switch: SwitchProfile, name: str | None, speed_bps: int) -> Hwsku:
    """Return the HWSKU of a name, the profile's own for None, whose ports may run at a speed.

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
    """Return the port of a name, ``leaf1:Ethernet0`` or of a single device ``Ethernet0``, as a set of its own.

    Raises:
        LosslessError: no such switch or port, or one without QoS.
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
