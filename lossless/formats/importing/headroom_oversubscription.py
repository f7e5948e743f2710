"""Derives the oversubscription of shared headroom from deployed pool sizes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from lossless.formats.importing.classes import most
from lossless.formats.sonic.read.tables import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lossless.formats.sonic.changes.meaning import Cell

_MOST_DECIMALS = 6


def shared_sizes(cells: Iterable[Cell]) -> list[tuple[int, int]]:
    """Return, for each shared headroom pool, the total that all groups can claim and the deployed size, in bytes.

    ``cells`` compare a device with an intent whose ratio is 1, in which the pool holds the total.
    """
    sizes = []
    for cell in cells:
        if cell.table == "BUFFER_POOL" and cell.field == "xoff" and cell.deployed and cell.rendered:
            claimed, deployed = whole_number(cell.rendered), whole_number(cell.deployed)
            if claimed and deployed and claimed >= deployed:
                sizes.append((claimed, deployed))
    return sizes


def ratio_of(sizes: Iterable[tuple[int, int]]) -> float | None:
    """Return the ratio with fewest decimals that gives most pools their deployed size; None where no ratio does."""
    ratios = (_shortest(claimed, deployed) for claimed, deployed in sizes)
    usual, _ = most(ratio for ratio in ratios if ratio is not None)
    return usual


def _shortest(claimed: int, deployed: int) -> float | None:
    """Return the decimal with fewest digits for which ``claimed`` divided by it and rounded up is ``deployed``."""
    low = Fraction(claimed, deployed)
    for decimals in range(_MOST_DECIMALS + 1):
        ratio = float(Fraction(math.ceil(low * 10**decimals), 10**decimals))
        if math.ceil(claimed / ratio) == deployed:
            return ratio
    return None
