"""Parts of a fabric: some of its switches, with the links among them and their hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.model.fabric.model import Fabric, Switch


def of_switches(fabric: Fabric, belongs: Callable[[Switch], bool]) -> Fabric:
    """Return a fabric with the switches for which ``belongs`` is true, and without links to other switches."""
    gone = {switch.name for switch in fabric.switches if not belongs(switch)}
    if not gone:
        return fabric
    return fabric._replace(
        switches=tuple(switch for switch in fabric.switches if switch.name not in gone),
        links=tuple(link for link in fabric.links if gone.isdisjoint((link.a, link.b))),
        beyond=tuple(link for link in fabric.beyond if link.switch not in gone),
    )
