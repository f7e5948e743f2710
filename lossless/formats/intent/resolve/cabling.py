"""The cables that an intent declares, with the ports they are in as far as the intent or its shape determines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.resolve.link_ends import ends_of
from lossless.model.fabric.cabling import CableEnd, PlannedCable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.topology.shapes import LinkBundle
    from lossless.formats.intent.load import LoadedIntent
    from lossless.formats.intent.resolve.fabric import WiredFabric
    from lossless.formats.intent.resolve.link_ends import End


def planned_cables(wired: WiredFabric, loaded: LoadedIntent) -> Iterator[PlannedCable]:
    """Yield every cable with at least one end at a declared switch, that end first.

    Links to outside devices are included. A host's port has a name only where the intent declares one.
    """
    topology = loaded.intent.topology
    stated = {*(topology.devices or ()), *topology.names.values()}
    for bundle, near, far in ends_of(wired.plan, wired.devices):
        a = _end(near) if bundle.a in wired.devices else CableEnd(bundle.a, bundle.a_port)
        b = _end(far) if bundle.b in wired.devices else CableEnd(bundle.b, bundle.b_port)
        if bundle.a in wired.devices:
            yield _cable(bundle, a, b, bundle.b in stated)
        elif bundle.b in wired.devices:
            yield _cable(bundle, b, a, bundle.a in stated)


def _end(at: End) -> CableEnd:
    """Return an end by device and front-panel port, without the ASIC."""
    return CableEnd(at[0].partition(":")[0], at[1])


def _cable(bundle: LinkBundle, a: CableEnd, b: CableEnd, named: bool) -> PlannedCable:
    return PlannedCable(
        a, b, bundle.speed_bps, bundle.cable_m, bundle.tier, bundle.origin, bundle.cable_origin, named
    )
