"""The interface of a rule: its module, the violations and missing inputs that it yields, and how violations are merged.

A rule is one module, ``rules/<family>/<code>_<name>.py``. Its docstring is its documentation and holds its metadata.
Its function for each subject (``check``, or the name in :data:`~lossless.checks.rules.rule_rows.FUNCTIONS`) is a pure
function of that subject. It yields values of :class:`Violation`, and of :class:`MissingInput` for values that it needs
and that are unknown.
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
    grouped,
)
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.view import PortSet


class Violation(NamedTuple):
    """One violation of a rule, with the elements that it affects, such as ports, queues or devices (``elements``).

    ``places`` is the number that counts in place of that of ``elements``, None without one. ``severity`` overrides
    that of the rule: the same fact can be certain with an intent and likely without one. ``conclusive`` is False where
    the violation does not replace the findings that its rule supersedes at the same place
    (:mod:`lossless.checks.rules.precedence`). ``note_lines`` replace ``note`` where the note has several lines. ``fix``
    has the edits that fix the cause on all affected elements; ``Fix:`` in the docstring of the rule says whether they
    are safe.
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
        """The number of affected elements: ``places``; without it that of ``elements``, or 1 where they are empty."""
        return (len(self.elements) or 1) if self.places is None else self.places

    def certain_if(self, certain: bool) -> Violation:
        """Return the violation unchanged if ``certain``, else as a warning of medium confidence."""
        return self if certain else self._replace(severity="warning", confidence="medium")

    def on_ports(self, *sets: PortSet) -> Violation:
        """Return the violation on the ports of port sets; ``elements`` names those of up to five switches a set."""
        elements = tuple(name for ports in sets for name in ports.elements)
        return self._replace(elements=elements, places=places(sets))


Results = Iterator[Violation | MissingInput]
"""The return type of the function of a rule: an iterator of violations and missing inputs."""


def unread(what: str, hosts: Collection[str]) -> MissingInput:
    """Return the missing input for a value, described by ``what``, that the files of ``hosts`` do not contain."""
    return MissingInput(f"no file of the host says {what}", len(hosts))


def merged(violations: Iterable[Violation]) -> Iterator[Violation]:
    """Yield one violation for each message and severity, with the affected elements of all such violations."""
    pairs = (((violation.message, violation.severity), violation) for violation in violations)
    return map(added_up, grouped(pairs).values())


def added_up(same: list[Violation]) -> Violation:
    """Return the first violation with the affected elements of all; with edits only if each violation has some."""
    if len(same) == 1:
        return same[0]
    # The same elements with another priority or queue are counted once.
    apart = [*{violation.elements or number: violation for number, violation in enumerate(same)}.values()]
    elements = tuple(dict.fromkeys(name for violation in apart for name in violation.elements))
    twice = sum(len(violation.elements) for violation in apart) - len(elements)
    named = elements and all(violation.places is None for violation in same)
    # No edits unless every violation has some: the finding would stay.
    fixes = [violation.fix for violation in same]
    return same[0]._replace(
        elements=elements,
        places=None if named else sum(violation.total for violation in apart) - twice,
        fix=tuple(dict.fromkeys(edit for fix in fixes for edit in fix)) if all(fixes) else (),
    )


def tightest(ranked: Iterable[tuple[tuple[float, ...], Violation]]) -> Iterator[Violation]:
    """Yield the violation of lowest rank for each origin, with the affected elements of all violations there."""
    for same in grouped((violation.origin, (rank, violation)) for rank, violation in ranked).values():
        _, worst = min(same, key=lambda pair: pair[0])
        together = added_up([violation for _, violation in same])
        yield worst._replace(elements=together.elements, places=together.total)
