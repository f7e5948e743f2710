"""Cabling files: one line a cable, ``device, port, device, port, length``; only the length may be left out."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from lossless.formats.importing.model import Claim
from lossless.ground.basics.errors import InputError, Problem, QuantityError
from lossless.ground.basics.units import parse_length
from lossless.model.fabric.cabling import CableEnd

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHOWN = "device, port, device, port, length"
_HEADS = ("device", "port", "device", "port")


def read_cabling(text: str, file: str) -> tuple[Claim, ...]:
    """Return the cables of a file. A first line of headings, blank lines and comments (``#``) are skipped.

    Raises:
        InputError: every line that is not a cable, located.
    """
    problems: list[Problem] = []
    claims = []
    seen: dict[CableEnd, int] = {}
    for number, cells in _lines(text, file):
        claim = _claim(cells, file, number, problems)
        if claim is not None:
            claims.append(claim)
            problems += _twice(claim, seen, file, number)
    if problems:
        raise InputError(problems)
    return tuple(claims)


def _lines(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    # strict: a quote that is never closed is said, not taken for the rest of the file.
    reader = csv.reader(text.splitlines(), skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            bare = [cell.strip() for cell in cells]
            is_head = reader.line_num == 1 and _is_head(bare)
            if any(bare) and not bare[0].startswith("#") and not is_head:
                yield reader.line_num, bare
    except csv.Error as error:
        raise InputError([Problem(file, reader.line_num, 1, f"not CSV: {error}")]) from None


def _is_head(cells: list[str]) -> bool:
    """Return whether a line has column headings: each of the first four cells contains the word for its column."""
    words = [cell.lower() for cell in cells[:4]]
    return len(words) == 4 and all(head in word for head, word in zip(_HEADS, words, strict=True))


def _claim(cells: list[str], file: str, number: int, problems: list[Problem]) -> Claim | None:
    if len(cells) not in (4, 5) or not all(cells[:4]):
        message = f"{', '.join(cells)!r} is no cable; expected {_SHOWN}"
        problems.append(Problem(file, number, 1, message))
        return None
    try:
        cable_m = parse_length(cells[4]) if cells[4:] and cells[4] else None
    except QuantityError as error:
        problems.append(Problem(file, number, 1, str(error)))
        return None
    if cable_m == 0:
        problems.append(Problem(file, number, 1, f"{cells[4]!r} is no cable; the shortest counts as 1m"))
        return None
    return Claim("cabling", CableEnd(cells[0], cells[1]), CableEnd(cells[2], cells[3]), cable_m)


def _twice(claim: Claim, seen: dict[CableEnd, int], file: str, number: int) -> Iterator[Problem]:
    for end in (claim.near, claim.far):
        first = seen.setdefault(end, number)
        if first != number or claim.near == claim.far:
            yield Problem(file, number, 1, f"{end.device} {end.port} already has a cable in line {first}")
