"""The memory of switches as units that groups draw on: one for each pool, and for each part of a divided buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.analysis.simulation.engine import records
from lossless.analysis.simulation.engine.wiring import CHOICES
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.analysis.simulation.engine.network import SimNetwork, SimSwitch
    from lossless.analysis.simulation.engine.wiring import Wiring


class MemoryUnit(NamedTuple):
    """A pool of a switch, or a part of it where the buffer is divided; pool 0 is that of the lossless groups."""

    node: int
    pool: int
    part: int = 0


def memory_units(network: SimNetwork) -> tuple[MemoryUnit, ...]:
    """Return the units in the order of their numbers: the first unit of each switch in turn, then all others."""
    nodes = sorted(network.switches)
    first = [MemoryUnit(node, 0) for node in nodes]
    others = [unit for node in nodes for unit in _units_of(node, network.switches[node]) if unit not in first]
    return (*first, *others)


def _units_of(node: int, switch: SimSwitch) -> Iterator[MemoryUnit]:
    for pool in range(1 + len(switch.other_pools)):
        yield from (MemoryUnit(node, pool, part) for part in range(switch.parts))


def lay_out_units(network: SimNetwork, wiring: Wiring, groups: Any) -> Any:
    """Return the records of all units, and set the unit that each group draws on."""
    numbered = memory_units(network)
    units = np.zeros(len(numbered), records.UNIT)
    drawn = _drawn(network, wiring, {unit: number for number, unit in enumerate(numbered)})
    groups["unit"] = drawn
    senders = [wiring.unit_of.get(sender, -1) for sender, _ in wiring.ends]
    for number, (node, pool, part) in enumerate(numbered):
        unit, switch = units[number], network.switches[node]
        _set_sizes(unit, switch, pool, groups[drawn == number])
        if pool == part == 0:
            unit["first_link"], unit["links"] = senders.index(number), senders.count(number)
            if switch.watchdog is not None:
                unit["poll_ps"] = round(switch.watchdog.poll_ms * 1e9)
                unit["predicate"] = ("mellanox", "broadcom").index(switch.watchdog.vendor)
            if switch.loads is not None:
                unit["levels"] = switch.loads.levels_bytes
                unit["level_ps"] = round(switch.loads.sample_ns * 1000)
                unit["flowlet_ps"] = round(switch.loads.flowlet_us * 1e6)
            if switch.choice is not None:
                unit["choice"] = CHOICES[switch.choice]
    return units


def _set_sizes(unit: Any, switch: SimSwitch, pool: int, own: Any) -> None:
    """Set the sizes of a memory unit: its part of pool and chip, and the reserved bytes of its groups."""
    size = (switch.pool_bytes, *switch.other_pools)[pool] // switch.parts
    reserved = int(own["reserved_bytes"].sum())
    unit["buffer_bytes"] = switch.buffer_bytes // switch.parts
    unit["pool_bytes"] = size + (reserved if switch.reserved_apart else 0)
    unit["shared_bytes"] = unit["pool_bytes"] - reserved
    given = switch.headroom_pool_bytes if pool == 0 else None
    unit["headroom_pool_bytes"] = int(own["headroom_bytes"].sum()) if given is None else given // switch.parts
    unit["cell_bytes"], unit["reserved_apart"] = switch.cell_bytes, switch.reserved_apart


def _drawn(network: SimNetwork, wiring: Wiring, number_of: dict[MemoryUnit, int]) -> Any:
    """Return the memory unit of each group; -1 in hosts. The class of ACKs that travel apart draws on pool 0."""
    drawn = np.full((len(wiring.ends), wiring.classes), -1, np.int32)
    ports: dict[int, int] = {}
    carrying = {link for routes in wiring.all_routes for route in routes for link in route}
    # Where they share a part matters for ports that traffic comes in by: they are placed before the others.
    for number in sorted(range(len(wiring.ends)), key=lambda link: link not in carrying):
        (_, receiver), (cable, forward) = wiring.ends[number], wiring.cables[number]
        end = cable.b_end if forward else cable.a_end
        if receiver not in network.switches or end is None:
            continue
        place = ports.setdefault(receiver, 0)
        ports[receiver] += 1
        part = _part(network.switches[receiver], place)
        drawn[number] = number_of[MemoryUnit(receiver, 0, part)]
        drawn[number, : network.classes] = [
            number_of[MemoryUnit(receiver, group.pool, part)] for group in end.groups
        ]
    return drawn.reshape(-1)


def _part(switch: SimSwitch, place: int) -> int:
    """Return the number of the buffer part of a port: ports fill the parts in the order of their numbers."""
    return min(place // max(1, switch.ports_per_part), switch.parts - 1) if switch.parts > 1 else 0
