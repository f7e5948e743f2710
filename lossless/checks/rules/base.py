"""What a rule is, and what it yields.

A rule is one module, ``rules/<family>/<code>_<name>.py``: its docstring is its documentation and holds its metadata,
``check`` is one pure generator over what its row in :mod:`lossless.checks.rules.registry` says it is given. It yields a
:class:`Violation` for each cause it finds and a :class:`MissingInput` where something it needs is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from lossless.checks.rules.locations import places
from lossless.ground.basics.findings import (
    Confidence,
    Edit,
    Json,
    MissingInput as MissingInput,
    Origin,
    RelatedPlace,
    Severity,
)
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.view import PortSet


class Violation(NamedTuple):
    """One cause. ``elements`` are what it shows on, ``places`` how many they are where not all of them are named.

    ``severity`` overrides the rule's own: the same fact can be certain with an intent and likely without.
    ``conclusive`` is False where it does not replace the findings that its rule supersedes at the same place
    (:mod:`lossless.checks.rules.precedence`).
    ``note_lines`` stand in place of ``note`` where it has several lines.
    ``fix`` are edits that fix it in every place it shows; its rule says whether they are safe.
    """

    origin: Origin
    message: str
    note: str = ""
    help: str = ""
    elements: tuple[str, ...] = ()
    places: int | None = None
    data: Mapping[str, Json] = {}
    related: tuple[RelatedPlace, ...] = ()
    severity: Severity | None = None
    confidence: Confidence | None = None
    conclusive: bool = True
    note_lines: tuple[str, ...] = ()
    fix: tuple[Edit, ...] = ()

    @property
    def total(self) -> int:
        """On how many elements it shows."""
        return (len(self.elements) or 1) if self.places is None else self.places

    def certain_if(self, certain: bool) -> Violation:
        """Return the violation, as a warning of medium confidence where it is not certain."""
        return self if certain else self._replace(severity="warning", confidence="medium")

    def on_ports(self, *sets: PortSet) -> Violation:
        """Return the violation with the ports it shows on."""
        elements = tuple(name for ports in sets for name in ports.elements)
        return self._replace(elements=elements, places=places(sets))


Results = Iterator[Violation | MissingInput]
"""What the function of a rule yields."""


def unread(what: str, hosts: Collection[str]) -> MissingInput:
    """Return that something is not known of some hosts: their files do not say it."""
    return MissingInput(f"no file of the host says {what}", len(hosts))


def merged(violations: Iterable[Violation]) -> Iterator[Violation]:
    """Yield one violation for those of one message and severity: rows of many ports that say the same are one cause."""
    pairs = (((violation.message, violation.severity), violation) for violation in violations)
    return map(added_up, grouped(pairs).values())


def added_up(same: list[Violation]) -> Violation:
    """Return the first of some violations with the elements of all."""
    if len(same) == 1:
        return same[0]
    # The same elements for another priority or queue are no more of them.
    apart = [*{violation.elements or number: violation for number, violation in enumerate(same)}.values()]
    elements = tuple(dict.fromkeys(name for violation in apart for name in violation.elements))
    twice = sum(len(violation.elements) for violation in apart) - len(elements)
    named = elements and all(violation.places is None for violation in same)
    # What cannot be fixed everywhere is not fixed at all: the finding would stay.
    fixes = [violation.fix for violation in same]
    return same[0]._replace(
        elements=elements,
        places=None if named else sum(violation.total for violation in apart) - twice,
        fix=tuple(dict.fromkeys(edit for fix in fixes for edit in fix)) if all(fixes) else (),
    )


def tightest(ranked: Iterable[tuple[tuple[float, ...], Violation]]) -> Iterator[Violation]:
    """Yield one violation a place, the one of lowest rank, with the elements of all that share its cause."""
    for same in grouped((violation.origin, (rank, violation)) for rank, violation in ranked).values():
        _, worst = min(same, key=lambda pair: pair[0])
        together = added_up([violation for _, violation in same])
        yield worst._replace(elements=together.elements, places=together.total)
