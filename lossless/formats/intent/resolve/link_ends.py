"""The two ends of every link: the device and the port assigned to it."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lossless.analysis.topology.recabling import DeclaredCable
from lossless.model.fabric.model import Link, OutsideLink
from lossless.model.fabric.tier import tier_of_role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.analysis.topology.shapes import LinkBundle, WiringPlan
    from lossless.formats.intent.resolve.asics import DeviceUnits

    End = tuple[str, str | None]
    """A switch of the model or a host, and its port; None where another configuration determines the port."""


def links_of(wiring: WiringPlan, devices: Mapping[str, DeviceUnits]) -> Iterator[Link]:
    """Yield every link between devices that are declared here."""
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
    """Yield every link with its two ends; a switch's ports are taken in the order of the uses of its layout."""
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
