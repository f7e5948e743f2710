"""What a rule is, and what it yields.

A rule is one module, ``rules/<family>/<code>_<name>.py``: its docstring is its documentation and holds its metadata,
``check`` is one pure generator over what its row in :mod:`lossless.checks.rules.registry` says it is given. It yields a
:class:`Hit` for each cause it finds and a :class:`Gap` where something it needs is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from lossless.ground.basics.findings import Confidence, Edit, Json, Origin, Related, Severity
from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple


class Hit(NamedTuple):
    """One cause. ``elements`` are what it shows on, ``places`` how many they are where not all of them are named.

    ``severity`` overrides the rule's own: the same fact can be certain with an intent and likely without.
    ``conclusive`` is False where it does not replace the findings that its rule supersedes at the same place
    (:mod:`lossless.checks.rules.precedence`).
    ``fix`` are edits that fix it in every place it shows; its rule says whether they are safe.
    """

    origin: Origin
    message: str
    note: str = ""
    help: str = ""
    elements: tuple[str, ...] = ()
    places: int | None = None
    data: Mapping[str, Json] = {}
    related: tuple[Related, ...] = ()
    severity: Severity | None = None
    confidence: Confidence | None = None
    conclusive: bool = True
    fix: tuple[Edit, ...] = ()

    @property
    def total(self) -> int:
        """On how many elements it shows."""
        return (len(self.elements) or 1) if self.places is None else self.places


class Gap(NamedTuple):
    """Something a rule could not judge, and what it would have needed."""

    reason: str
    times: int = 1


def unread(what: str, hosts: Collection[str]) -> Gap:
    """Return that something is not known of some hosts: their files do not say it."""
    return Gap(f"no file of the host says {what}", len(hosts))


Results = Iterator[Hit | Gap]
"""What the function of a rule yields."""


def merged(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Yield one hit for those of one message and severity: rows of many ports that say the same are one cause."""
    return map(added_up, grouped(((hit.message, hit.severity), hit) for hit in hits).values())


def added_up(hits: list[Hit]) -> Hit:
    """Return the first of some hits with the elements of all; what cannot be fixed everywhere is not fixed at all."""
    if len(hits) == 1:
        return hits[0]
    elements = tuple(dict.fromkeys(name for hit in hits for name in hit.elements))
    named = elements and all(hit.places is None for hit in hits)
    fix = (
        tuple(dict.fromkeys(edit for hit in hits for edit in hit.fix)) if all(hit.fix for hit in hits) else ()
    )
    places = None if named else sum(hit.total for hit in hits)
    return hits[0]._replace(elements=elements, places=places, fix=fix)
