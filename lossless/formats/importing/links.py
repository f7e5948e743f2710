"""Derives links from a cabling file, LLDP and DEVICE_NEIGHBOR, in this order of trust; and ECN curves of classes.

The curve of most ports is declared, with exceptions by speed, tier and device.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from lossless.formats.importing.buffers import layered, voters
from lossless.formats.importing.configured import most
from lossless.formats.importing.model import Claim, ColourCurve, EcnCurve, ImportLink, ImportWiring
from lossless.formats.sonic.to_model.device_types import neighbor_type
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import natural_key
from lossless.ground.basics.units import joined
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from lossless.formats.importing.buffers import PortsOfSpeed
    from lossless.formats.importing.cabling.cables import LldpNeighbor
    from lossless.formats.importing.model import ClassCurve, DraftClass, ImportDevice, Source
    from lossless.model.fabric.model import Port, Tier
    from lossless.model.fabric.qos import Curve, Wred


_LARGEST_THRESHOLD = 2**31 - 1
_ALL = 100
_DEFAULT_PROBABILITY = 100
"""The default of orchagent for a WRED profile without a probability (sonic-swss orchagent/qosorch.cpp @e6b0c5b)."""


_OFF: ClassCurve = (None,)


def with_curves(
    devices: Sequence[ImportDevice], classes: Sequence[DraftClass], silent: Collection[CableEnd]
) -> tuple[DraftClass, ...]:
    """Return draft classes with the WRED curves that most of their queues have.

    ``silent`` are the ports of tiers without PFC, which count only where no other port of a tier has their speed.
    """
    ports = voters(devices, silent)
    return tuple(_with_curves(ports, cls) for cls in classes)


def _with_curves(ports: Sequence[tuple[PortsOfSpeed, Port]], cls: DraftClass) -> DraftClass:
    by_cell: dict[PortsOfSpeed, list[ClassCurve]] = {}
    for cell, port in ports:
        queue = port.qos.queues[cls.priority] if port.qos else None
        if queue is not None:
            by_cell.setdefault(cell, []).append(_curve(queue.wred))
    ecn, notes = layered(by_cell, lambda *_: True, "ecn")
    some = any(curve != _OFF for by_speed in ecn.values() for curve in by_speed.values())
    spelt = {scope: _spelt(scope, by_speed, by_cell) for scope, by_speed in ecn.items() if some}
    declared = {scope: by_speed for scope, by_speed in spelt.items() if by_speed}
    return cls._replace(ecn=declared, notes=(*notes, *cls.notes))


def _spelt(
    scope: Tier | str | None, by_speed: dict[int | None, ClassCurve], cells: Iterable[PortsOfSpeed]
) -> dict[int | None, ClassCurve]:
    """Return the ECN curves of a scope as an intent accepts them: without exceptions to an ``off`` for all speeds.

    Speeds without a curve do not mark; a device overrides its tier speed by speed.
    """
    if by_speed.get(None) != _OFF or (len(by_speed) == 1 and scope is not None):
        return by_speed
    own = (cell.speed_bps for cell in cells if cell.device == scope)
    off: dict[int | None, ClassCurve] = dict.fromkeys(own, _OFF)
    return off | {speed_bps: curve for speed_bps, curve in by_speed.items() if speed_bps is not None}


def _curve(wred: Wred | None) -> ClassCurve:
    """Return the curve of a WRED profile, ``off`` without one, or if it does not mark or cannot be declared."""
    green = _of_colour(wred.green) if wred is not None and wred.marks else None
    if wred is None or green is None:
        return _OFF
    others = ((name, _other(curve, green)) for name, curve in (("yellow", wred.yellow), ("red", wred.red)))
    return (EcnCurve(green, tuple((name, curve) for name, curve in others if curve != green)),)


def _other(curve: Curve, green: ColourCurve) -> ColourCurve | None:
    """Return the curve of yellow or red packets, None where it neither drops nor marks; green's if it cannot be
    declared.
    """
    if curve.enabled == curve.marks:
        return (_of_colour(curve) or green) if curve.enabled else None
    return green


def _of_colour(curve: Curve) -> ColourCurve | None:
    """Return the WRED curve of one color in the form of an intent, None where it cannot be declared."""
    probability = _DEFAULT_PROBABILITY if curve.probability_percent is None else curve.probability_percent
    if curve.min_bytes is None or curve.max_bytes is None or not 0 <= probability <= _ALL:
        return None
    if not 0 <= curve.min_bytes <= curve.max_bytes <= _LARGEST_THRESHOLD:
        return None
    return ColourCurve(curve.min_bytes, curve.max_bytes, probability)


_TRUST: tuple[Source, ...] = ("cabling", "LLDP", "DEVICE_NEIGHBOR")
_PORT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}(/[0-9]{1,4}){0,3}")


def neighbor_claims(devices: Iterable[ImportDevice]) -> Iterable[Claim]:
    """Yield the cables of ports by DEVICE_NEIGHBOR."""
    for device in devices:
        for port in device.switch.ports:
            if port.neighbor is not None and port.neighbor[0]:
                yield Claim(
                    "DEVICE_NEIGHBOR",
                    CableEnd(device.name, port.name),
                    CableEnd(port.neighbor[0], port.neighbor[1] or None),
                )


def wire(
    devices: Sequence[ImportDevice],
    claims: Iterable[Claim],
    fastest_nic_bps: int,
    cable_m: int | None = None,
) -> ImportWiring:
    """Return the links of the ports in use with a usable name; an unknown far end faster than any NIC is a switch.

    ``cable_m`` is the default length of cables at switches of other systems than SONiC.

    Raises:
        InputError: a cable of a system other than SONiC has no length, and there is no default.
    """
    return _LinkBuilder(devices, claims, fastest_nic_bps, cable_m).wiring()


class _LinkBuilder:
    def __init__(
        self,
        devices: Sequence[ImportDevice],
        claims: Iterable[Claim],
        fastest_nic_bps: int,
        cable_m: int | None,
    ) -> None:
        self._cable_m = cable_m
        self._without_length: dict[str, list[Port]] = {}
        self._fastest_nic_bps = fastest_nic_bps
        self._devices = {device.name: device for device in devices}
        self._notes: list[str] = []
        self._outside: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._switches: set[str] = set()
        self._taken: set[CableEnd] = set()
        self._claims = self._by_end(claims)

    def wiring(self) -> ImportWiring:
        links = []
        for device in self._devices.values():
            for port in device.used.values():
                near = CableEnd(device.name, port.name)
                if near not in self._taken and self._can_be_named(near):
                    links.append(self._link(near, port))
        self._require_lengths()
        return ImportWiring(tuple(links), self._outside, frozenset(self._switches), tuple(self._notes))

    def _by_end(self, claims: Iterable[Claim]) -> dict[CableEnd, Claim]:
        """Return the claim from the most trusted source for each port; a claim applies to both ends of a cable."""
        trusted: dict[CableEnd, Claim] = {}
        ranked = sorted(claims, key=lambda c: (_TRUST.index(c.source), *map(_end_key, (c.near, c.far))))
        for claim in ranked:
            near, far = self._known(claim.near), self._known(claim.far)
            for end, other in ((near, far), (far, near)):
                if end.port is not None:
                    self._keep(trusted, end, claim._replace(near=end, far=other))
        return trusted

    def _keep(self, trusted: dict[CableEnd, Claim], end: CableEnd, claim: Claim) -> None:
        known = trusted.setdefault(end, claim)
        if known.far.device != claim.far.device:
            claims = f"{known.source} says {known.far.device}, {claim.source} says {claim.far.device}"
            self._notes.append(f"{end.device} {end.port}: {claims}; the first was taken")

    def _known(self, end: CableEnd) -> CableEnd:
        """Return a cable end with the device's own name for the port in place of an alias."""
        device = self._devices.get(end.device)
        return end if device is None or end.port is None else CableEnd(end.device, own_name(device, end.port))

    def _can_be_named(self, near: CableEnd) -> bool:
        if near.port is not None and _PORT.fullmatch(near.port):
            return True
        self._notes.append(f"{near.device} {near.port}: no name that an intent can give a port; left out")
        return False

    def _link(self, near: CableEnd, port: Port) -> ImportLink:
        claim = self._claims.get(near)
        notes: list[str] = []
        speed_bps = self._speed(near, port, notes)
        far = self._nowhere(near, speed_bps) if claim is None else self._far(near, claim)
        cable_m = self._cable(near, far, port, claim, speed_bps, notes)
        self._taken |= {near, far}
        return ImportLink(near, far, speed_bps, cable_m, tuple(notes))

    def _nowhere(self, near: CableEnd, speed_bps: int) -> CableEnd:
        """Return the far end of a port without a known neighbor: a device outside, named after this one."""
        known = "what is at these ports, nothing says"
        if speed_bps > self._fastest_nic_bps:
            return self._a_switch(near, f"{known}; no NIC is so fast")
        return self._out(CableEnd(f"{near.device}-outside", None), known)

    def _a_switch(self, near: CableEnd, known: str) -> CableEnd:
        """Return the other end of a port that leads to a switch without a usable port of its own."""
        far = self._out(CableEnd(f"{near.device}-outside-switch", None), known)
        self._switches.add(far.device)
        return far

    def _far(self, near: CableEnd, claim: Claim) -> CableEnd:
        """Return the far end of a link: a free port of a device, or a device outside the given ones.

        A port without traffic classes may be the far end too, as the near end has classes.
        """
        far = claim.far
        device = self._devices.get(far.device)
        if device is None:
            return self._out(
                far,
                f"{_kind(self._devices[near.device], far.device)}by {claim.source}; no file was given for it",
            )
        known = f"{near.device} {near.port}: {claim.source} says {far.device} {far.port}, which"
        if far not in self._taken and far.device != near.device:
            if far.port in device.used:
                return far
            if any(port.name == far.port for port in device.switch.ports):
                self._notes.append(f"{known} carries no classes; it is declared as the end of this link")
                return far
        why = "is in use already" if far in self._taken else "is no port that a link can have"
        self._notes.append(f"{known} {why}")
        return self._a_switch(near, "a switch whose port cannot be told")

    def _out(self, end: CableEnd, known: str) -> CableEnd:
        name = self._names.get(end.device)
        if name is None:
            name = self._names[end.device] = self._free_name(end.device)
            self._outside[name] = known
        port = end.port if end.port and _PORT.fullmatch(end.port) else None
        return CableEnd(name, None if CableEnd(name, port) in self._taken else port)

    def _free_name(self, text: str) -> str:
        """Return a device name, made of a text, that an intent accepts and no other device has."""
        plain = re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-")[:60] or "outside"
        taken = self._devices.keys() | self._outside.keys()
        numbered = (f"{plain}-{number}" for number in count(2))
        return plain if plain not in taken else next(name for name in numbered if name not in taken)

    def _speed(self, near: CableEnd, port: Port, notes: list[str]) -> int:
        if port.speed_bps is not None:
            return port.speed_bps
        device = self._devices[near.device]
        own = next((spec.speed_bps for spec in device.hwsku.ports if spec.name == near.port), None)
        speed_bps = own or max(device.profile.speeds_bps, default=100 * 10**9)
        notes.append("no speed is configured: that of the HWSKU")
        return speed_bps

    def _cable(
        self, near: CableEnd, far: CableEnd, port: Port, claim: Claim | None, speed_bps: int, notes: list[str]
    ) -> int:
        """Return the length of a cable: from the cabling file, else as configured at its ends, else the default that
        the user states (other systems) or a usual one (SONiC).
        """
        if claim is not None and claim.cable_m:
            return claim.cable_m
        ends = [(self._devices[near.device], port.cable.configured_m), *self._configured_at(far)]
        configured = [(device, length) for device, length in ends if length]
        if not configured:
            if not self._devices[near.device].switch.runs_sonic:
                return self._stated_cable(near.device, port)
            notes.append("no length is configured: what most ports have")
            return self._usual_cable(near.device, speed_bps)
        lengths = sorted({length for _, length in configured})
        # Each end is configured with the next longer row of its own HWSKU, so they may differ and both be right.
        if all(_covers(device, speed_bps, lengths[0]) == length for device, length in configured):
            return lengths[0]
        if len(lengths) > 1:
            notes.append(f"configured as {lengths[0]} m and {lengths[-1]} m: the longer")
        return lengths[-1]

    def _stated_cable(self, name: str, port: Port) -> int:
        """Return the default cable length; without one, record the port as a problem and return 0."""
        if self._cable_m is None:
            self._without_length.setdefault(name, []).append(port)
        return self._cable_m or 0

    def _require_lengths(self) -> None:
        problems = []
        for name, ports in self._without_length.items():
            document = self._devices[name].document
            span = document.locate(ports[0].origin.path)
            where = joined([port.name for port in ports], 2)
            why = f"nothing says how long the cables at {where} are; state them with --cabling, or --cable for all"
            problems.append(Problem(document.file, span.line, span.column, why))
        if problems:
            raise InputError(problems)

    def _configured_at(self, far: CableEnd) -> list[tuple[ImportDevice, int | None]]:
        device = self._devices.get(far.device)
        ports = (port for port in device.switch.ports if port.name == far.port) if device else ()
        return [(device, port.cable.configured_m) for port in ports if device]

    def _usual_cable(self, name: str, speed_bps: int) -> int:
        device = self._devices[name]
        lengths = [length for port in device.used.values() if (length := port.cable.configured_m)]
        usual, _ = most(lengths)
        rows = [row.cable_m for row in device.hwsku.headroom if row.speed_bps == speed_bps]
        return usual or min(rows, default=1)


def _covers(device: ImportDevice, speed_bps: int, cable_m: int) -> int | None:
    """Return the configured cable length for a real one, None where no headroom row of the HWSKU covers it."""
    if device.switch.qos.buffer_model == "dynamic" or not device.switch.runs_sonic:
        return cable_m
    row = device.hwsku.row_covering(speed_bps, cable_m)
    return row.cable_m if row else None


def _kind(device: ImportDevice, neighbor: str) -> str:
    """Return the type of a neighbor in a device's tables, as the beginning of a remark; empty where it is unknown."""
    kind = neighbor_type(device.tables, neighbor)
    return f"a {kind} " if kind else ""


def lldp_claims(
    device: str, heard: Iterable[LldpNeighbor], devices: Sequence[ImportDevice]
) -> Iterable[Claim]:
    """Yield the cables that a device learned by LLDP.

    Of several names of the far port it is one that the neighbor uses, else the first.
    """
    by_name = {switch.name: switch for switch in devices}
    for neighbor in heard:
        far = by_name.get(neighbor.name)
        names = [own_name(far, word) for word in neighbor.ports] if far else list(neighbor.ports)
        known = [name for name in names if far is None or name in far.used]
        yield Claim(
            "LLDP",
            CableEnd(device, neighbor.port),
            CableEnd(neighbor.name, next(iter([*known, *names]), None)),
        )


def own_name(device: ImportDevice, port: str) -> str:
    """Return the device's own name of a port by its name or alias; an unknown name is returned unchanged."""
    if port in device.used:
        return port
    rows = device.tables.table("PORT")
    return next((name for name, row in rows.items() if row.fields.get("alias") == port), port)


def _end_key(end: CableEnd) -> tuple[object, ...]:
    return (natural_key(end.device), natural_key(end.port or ""))
