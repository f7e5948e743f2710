"""Switch kinds, which group identical switches, and the port of each link on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.problems import located
from lossless.formats.intent.ranks import ClassPlace
from lossless.formats.intent.resolve.placement import NO_CAGE_SETTINGS, CageSettings
from lossless.ground.basics.errors import InputError
from lossless.ground.basics.limits import SWITCH_PORTS
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.model.fabric.model import PortDemand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.placement import PortPlacement
    from lossless.ground.basics.findings import Origin
    from lossless.model.fabric.tier import LinkTier, Role
    from lossless.model.hardware.model import Hwsku, PortSpec, SwitchProfile


class PortUse(NamedTuple):
    """One port that a switch needs: its speed, the tier of its link, and the real cable length.

    ``remapped``: tunnels between dual ToRs pass here. ``lag`` names its LAG. ``kept`` are the ports to keep free before
    it, as counts and speeds in b/s.
    """

    speed_bps: int
    tier: LinkTier
    cable_m: int
    name: str | None
    origin: Origin
    cable_origin: Origin
    remapped: bool = False
    lag: str | None = None
    kept: tuple[tuple[int, int], ...] = ()

    @property
    def to_host(self) -> bool:
        """Whether a host is at the other end."""
        return self.tier == "hosts"


class SwitchKind(NamedTuple):
    """The properties that identical switches share: product, HWSKU, role and the ports they need, in order.

    ``cages`` are the declared settings of cages and ports. ``device`` is the name of a switch with exceptions for
    buffers or curves under its own name, empty for all others.
    """

    profile: SwitchProfile
    hwsku: Hwsku
    role: Role
    uses: tuple[PortUse, ...]
    hardware_origin: Origin
    cages: CageSettings = NO_CAGE_SETTINGS
    device: str = ""

    @property
    def called(self) -> str:
        """The switches of this kind, as text for messages."""
        return f"{self.device or f'role {self.role}'} ({self.hwsku.name})"

    def place(self, speed_bps: int) -> ClassPlace:
        """Return the place of classes at ports of one speed."""
        return ClassPlace(self.device, self.role, speed_bps)

    @property
    def remapped(self) -> bool:
        """Whether tunnels between dual ToRs pass at any of its ports."""
        return any(use.remapped for use in self.uses)


def require_few_ports(loaded: LoadedIntent, kind: SwitchKind) -> None:
    """Refuse a switch of more ports than a layout supports.

    Raises:
        InputError: it has more.
    """
    if len(kind.uses) > SWITCH_PORTS:
        message = (
            f"{len(kind.uses):,} ports on one {kind.role}; the most that is laid out is {SWITCH_PORTS:,}"
        )
        raise InputError([located(loaded.document, ("topology",), message, at_key=True)])


def place(loaded: LoadedIntent, kind: SwitchKind, placement: PortPlacement) -> list[PortSpec | None]:
    """Return the port of each use; named ports are assigned before the others.

    Raises:
        InputError: a named port must stay down, or no port is left to keep free.
    """
    claimed: dict[int, PortSpec | None] = {}
    for number, use in enumerate(kind.uses):
        if use.name is None:
            continue
        if use.name in kind.cages.down:
            link, hardware = (".".join(map(str, o.path)) for o in (use.origin, kind.hardware_origin))
            message = f"{link}: {use.name} has a link, and {hardware}.down says that it stays down"
            raise InputError([loaded.problem(use.origin, message)])
        claimed[number] = placement.claim(use.name, use.speed_bps)
    return [_placed(loaded, kind, use, claimed.get(i), placement) for i, use in enumerate(kind.uses)]


def _placed(
    loaded: LoadedIntent, kind: SwitchKind, use: PortUse, claimed: PortSpec | None, placement: PortPlacement
) -> PortSpec | None:
    """Return the port of a use, after the ports that are kept free before it."""
    for ports, speed_bps in use.kept:
        for _ in range(ports):
            if not placement.keep(speed_bps):
                where = loaded.origin("topology", loaded.intent.topology.shape_key or "", "room")
                path, rate = ".".join(map(str, where.path)), format_rate(speed_bps)
                message = f"{path}: a {kind.role} ({kind.hwsku.name}) has no {rate} port left for links that may come"
                raise InputError([loaded.problem(where, message)])
    return claimed if use.name is not None else placement.take(use.speed_bps)


def demand(uses: Sequence[PortUse]) -> tuple[PortDemand, ...]:
    """Return how many ports of each speed are needed, and their purpose."""
    by_purpose: dict[tuple[int, str], list[PortUse]] = {}
    for use in uses:
        by_purpose.setdefault((use.speed_bps, "host" if use.to_host else "switch"), []).append(use)
    return tuple(
        PortDemand(len(identical), speed_bps, f"{format_rate(speed_bps)} {tier} ports", identical[0].origin)
        for (speed_bps, tier), identical in by_purpose.items()
    )
