"""What a rule is, and what it yields.

A rule is one module, ``rules/<family>/<code>_<name>.py``: its docstring is its documentation and holds its metadata,
``check`` is one pure generator over what its row in :mod:`lossless.checks.rules.registry` says it is given. It yields a
:class:`Hit` for each cause it finds and a :class:`Gap` where something it needs is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

from lossless.ground.basics.findings import Confidence, Edit, Json, Origin, Related, Severity
from lossless.ground.basics.records import NamedTuple


class Hit(NamedTuple):
    """One cause. ``places`` is on how many elements it shows; hits of one cause and message are added up.

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
    places: int = 1
    data: Mapping[str, Json] = {}
    related: tuple[Related, ...] = ()
    severity: Severity | None = None
    confidence: Confidence | None = None
    conclusive: bool = True
    fix: tuple[Edit, ...] = ()


class Gap(NamedTuple):
    """Something a rule could not judge, and what it would have needed."""

    reason: str
    times: int = 1
