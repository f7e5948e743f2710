"""What a rule is, and what it yields.

A rule is one module, ``rules/<family>/<code>_<name>.py``: its docstring is its documentation, :class:`Rule` its
metadata, ``check`` one pure generator over what ``rules.table`` says it is given. It yields a :class:`Hit`
for each cause it finds and a :class:`Gap` where something it needs is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lossless.ground.basics.findings import Confidence, Edit, Fixable, Json, Origin, Related, Severity
from lossless.ground.basics.records import NamedTuple

Subject = Literal["fabric", "tables", "intent", "hosts", "subnet", "suppressions"]


class Hit(NamedTuple):
    """One cause. ``places`` is on how many elements it shows; hits of one cause and message are added up.

    ``severity`` overrides the rule's own: the same fact can be certain with an intent and likely without.
    ``supersedes`` names rules whose finding at the same origin, or at a related one, this one replaces: it knows more
    of the cause.
    ``fix`` are edits that mend it in every place it shows; its rule says whether they are safe.
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
    supersedes: tuple[str, ...] = ()
    fix: tuple[Edit, ...] = ()


class Gap(NamedTuple):
    """Something a rule could not judge, and what it would have needed."""

    reason: str
    times: int = 1


class Rule(NamedTuple):
    """The metadata of one rule. ``sources`` name where the fact or number stands."""

    code: str
    name: str
    severity: Severity
    summary: str
    sources: tuple[str, ...]
    subject: Subject = "fabric"
    confidence: Confidence = "high"
    fixable: Fixable = "no"
