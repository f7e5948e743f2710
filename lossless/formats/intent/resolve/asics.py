"""The switches of the model that a device consists of, one for each ASIC, and the ends of every link on them.

Each ASIC has its own buffers and configuration, so each is a switch of the model, named ``leaf1:asic0``. The links
between the ASICs of a device are unknown, and are not part of the fabric.

The end of a link is a switch of the model or a host, and the port assigned to it.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lossless.analysis.topology.recabling import DeclaredCable
from lossless.formats.intent.resolve.classes import PortPlacement
from lossless.ground.basics.errors import ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.model.fabric.model import Link, OutsideLink, tier_of_role
from lossless.model.hardware.devices import asic_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.analysis.topology.shapes import LinkBundle, WiringPlan
    from lossless.formats.intent.resolve.layout import SwitchLayout
    from lossless.formats.intent.resolve.unused_ports import PortUse, SwitchKind
    from lossless.model.hardware.devices import AsicPart


class SwitchUnit(NamedTuple):
    """A switch of the model, one ASIC of a device: its name, its switch kind, and the layout of its ports."""

    name: str
    kind: SwitchKind
    layout: SwitchLayout


class DeviceUnits(NamedTuple):
    """The switches of the model that a device consists of, one for each ASIC.

    ``unit_of`` is the index of the ASIC for each link, empty where there is one ASIC.
    """

    units: tuple[SwitchUnit, ...]
    unit_of: tuple[int, ...]

    def ports(self) -> Iterator[tuple[str, str]]:
        """Return an iterator of switch and port of each link, in the order of the port uses.

        With one ASIC, reclaimed ports follow.
        """
        if len(self.units) == 1:
            (unit,) = self.units
            return ((unit.name, port.name) for port in unit.layout.ports)
        unused = [iter(unit.layout.ports) for unit in self.units]
        return ((self.units[i].name, next(unused[i]).name) for i in self.unit_of)


class AsicSplitter:
    """Splits switch kinds with several ASICs; switches of one product share the profiles of the ASICs."""

    def __init__(self) -> None:
        self._parts: dict[tuple[int, int], tuple[AsicPart, ...]] = {}

    def split(self, kind: SwitchKind) -> tuple[tuple[tuple[str, SwitchKind], ...], tuple[int, ...]]:
        """Return the name and switch kind of each ASIC, and for each port use the index of its ASIC.

        For a switch with one ASIC the name is empty, and there are no indexes.

        Raises:
            ProfileError: ports are to be kept free on a switch with several ASICs.
        """
        parts = self._parts_of(kind)
        if not parts:
            return (("", kind),), ()
        if any(use.kept for use in kind.uses):
            name = kind.profile.name
            raise ProfileError(
                f"{name} has several ASICs; ports cannot be kept free on it for links that may come"
            )
        chosen = units_of(parts, kind)
        kinds = tuple(
            (
                part.name,
                kind._replace(
                    profile=part.profile,
                    hwsku=part.hwsku,
                    uses=tuple(use for use, i in zip(kind.uses, chosen, strict=True) if i == number),
                ),
            )
            for number, part in enumerate(parts)
        )
        return kinds, chosen

    def _parts_of(self, kind: SwitchKind) -> tuple[AsicPart, ...]:
        key = (id(kind.profile), id(kind.hwsku))
        if key not in self._parts:
            self._parts[key] = asic_parts(kind.profile, kind.hwsku)
        return self._parts[key]


def units_of(parts: Sequence[AsicPart], kind: SwitchKind) -> tuple[int, ...]:
    """Return the index of the ASIC for each port use: that of the port it names, else the first with a port left.

    All members of a LAG are at one ASIC, whatever ports they name. Another use that fits on no ASIC gets the first one,
    where rules report it.
    """
    placements = [PortPlacement(part.profile, part.hwsku, kind.cages) for part in parts]
    named = {i: _claimed(placements, use) for i, use in enumerate(kind.uses) if use.name is not None}
    lags: dict[str, int] = {use.lag: named[i] for i, use in enumerate(kind.uses) if use.lag and i in named}
    chosen = []
    for number, use in enumerate(kind.uses):
        unit = named[number] if number in named else _taken(placements, use, lags.get(use.lag or ""))
        chosen.append(lags.setdefault(use.lag, unit) if use.lag else unit)
    return tuple(chosen)


def _claimed(placements: Sequence[PortPlacement], use: PortUse) -> int:
    return next(
        (i for i, placement in enumerate(placements) if placement.claim(use.name or "", use.speed_bps)), 0
    )


def _taken(placements: Sequence[PortPlacement], use: PortUse, at: int | None) -> int:
    """Take a port and return the index of its ASIC: ``at`` if given, else the first with a port left, or 0."""
    if at is not None:
        placements[at].take(use.speed_bps)
        return at
    return next((i for i, placement in enumerate(placements) if placement.take(use.speed_bps)), 0)


if TYPE_CHECKING:
    End = tuple[str, str | None]
    """A switch of the model or a host, and its port; None where another configuration determines the port."""


def links_of(wiring: WiringPlan, devices: Mapping[str, DeviceUnits]) -> Iterator[Link]:
    """Yield every link of the fabric, without those to a device that is configured elsewhere."""
    for bundle, (near, near_port), (far, far_port) in ends_of(wiring, devices):
        if near_port is not None and far_port is not None:
            yield Link(near, near_port, far, far_port, bundle.speed_bps, bundle.to_host)


def beyond_of(wiring: WiringPlan, devices: Mapping[str, DeviceUnits]) -> Iterator[OutsideLink]:
    """Yield every link from a port of a switch to a device that is configured elsewhere."""
    role_of = {node.name: node.role for node in wiring.nodes if node.outside}
    if not role_of:
        return
    for bundle, near, far in ends_of(wiring, devices):
        for (unit, port), other in ((near, bundle.b), (far, bundle.a)):
            if (role := role_of.get(other)) and port is not None:
                yield OutsideLink(unit, port, other, role == "host", tier_of_role(role))


def wires_of(wiring: WiringPlan, devices: Mapping[str, DeviceUnits]) -> Iterator[DeclaredCable]:
    """Yield every link as a cable between two devices, including those to outside devices.

    A port of a device with several ASICs has the prefix of its ASIC.
    """
    for bundle, near, far in ends_of(wiring, devices):
        yield DeclaredCable(
            bundle.a,
            _port(bundle.a, near),
            bundle.b,
            _port(bundle.b, far),
            bundle.speed_bps,
            bundle.cable_m,
            bundle.tier,
        )


def _port(device: str, end: End) -> str | None:
    unit, port = end
    return port if unit == device or port is None else f"{unit.removeprefix(f'{device}:')}:{port}"


def ends_of(wiring: WiringPlan, devices: Mapping[str, DeviceUnits]) -> Iterator[tuple[LinkBundle, End, End]]:
    """Yield the bundle and the two ends of every link; a switch's ports are taken in the order of its port uses."""
    unused = {name: device.ports() for name, device in devices.items()}
    numbers = _HostPorts(wiring)
    outside = {node.name for node in wiring.nodes if node.outside}

    def end(name: str, bundle: LinkBundle) -> End:
        if name in unused:
            return next(unused[name])
        if outside & {bundle.a, bundle.b}:
            return name, None
        return name, bundle.b_port or f"port{next(numbers[name])}"

    for bundle in wiring.bundles:
        for _ in range(bundle.links):
            yield bundle, end(bundle.a, bundle), end(bundle.b, bundle)


class _HostPorts(dict[str, "Iterator[int]"]):
    """Numbers of the unnamed ports of each host: 1, 2, ... without those that named ports have."""

    def __init__(self, wiring: WiringPlan) -> None:
        self._named: dict[str, set[str]] = {}
        for bundle in wiring.bundles:
            if bundle.b_port is not None and bundle.to_host:
                self._named.setdefault(bundle.b, set()).add(bundle.b_port)

    def __missing__(self, host: str) -> Iterator[int]:
        named = self._named.get(host, set())
        self[host] = (n for n in count(1) if f"port{n}" not in named)
        return self[host]
