"""Effects of a change on lossless traffic that runs meanwhile, whether or not a port goes down for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.read.tables import Tables
from lossless.formats.sonic.to_model.devices import read_fabric
from lossless.ground.basics.wording import joined
from lossless.model.hardware.load import switch_for_hwsku

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def harms(running: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[str, ...]:
    """Return how DSCPs that are lossless on a device would be treated otherwise: senders still mark them."""
    return tuple(_moves(_priorities(running), _priorities(target)))


def _moves(before: Mapping[int, frozenset[int]], after: Mapping[int, frozenset[int]]) -> Iterator[str]:
    for dscp, priorities in sorted(before.items()):
        moved = after.get(dscp, frozenset())
        if moved != priorities:
            becomes = f"on priority {_spelled(moved)}" if moved else "lossy"
            yield f"DSCP {dscp} is lossless on priority {_spelled(priorities)}, and becomes {becomes}"


def _spelled(priorities: frozenset[int]) -> str:
    return joined(map(str, sorted(priorities)))


def _priorities(configuration: Mapping[str, Any]) -> dict[int, frozenset[int]]:
    """Return the priorities of each DSCP that a device pauses for."""
    (switch,) = read_fabric([Tables("config_db.json", dict(configuration))], switch_for_hwsku).switches
    priorities: dict[int, frozenset[int]] = {}
    for cls in switch.classes.lossless:
        for dscp in cls.dscps:
            priorities[dscp] = priorities.get(dscp, frozenset()) | {cls.priority or 0}
    return priorities
