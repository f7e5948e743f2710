"""Numbers and words on the lines of a picture, each where no other is already."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHARACTER, _LINE = 6, 12
"""Pixels that a character and a line of these words take."""
_HALO = "stroke='#ffffff' stroke-width='3' paint-order='stroke' fill='#1c2430'"


class LinkLabels:
    """Places labels at the first free of several places, best first; one without a free place is only a tooltip."""

    def __init__(self) -> None:
        self._placed: list[tuple[float, float, float, str]] = []

    def add(self, places: Sequence[tuple[float, float]], text: str, *, always: bool) -> None:
        """Add words in the first free place; ``always``: in the best one where none is free."""
        half = len(text) * CHARACTER / 2 + 2
        free = (place for place in places if self._is_free(*place, half))
        place = next(free, places[0] if always else None)
        if place is not None:
            self._placed.append((*place, half, text))

    def _is_free(self, x: float, y: float, half: float) -> bool:
        return all(
            abs(x - other_x) >= half + other_half or abs(y - other_y) >= _LINE
            for other_x, other_y, other_half, _ in self._placed
        )

    def lines(self) -> Iterator[str]:
        """Yield the words, with the white of the page around each."""
        for x, y, _, text in self._placed:
            where = f"x='{px(x)}' y='{px(y)}' text-anchor='middle' font-size='10'"
            yield f"<text {where} {_HALO}>{text}</text>"


def px(number: float) -> str:
    """Return a coordinate: with one digit behind the point, and none where it is whole."""
    return f"{number:.1f}".removesuffix(".0")
