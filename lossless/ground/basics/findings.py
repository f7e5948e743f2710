"""Findings, the results of rules, with their severities, origins and edits; grouping by key; the order of names.

Rules name places symbolically, as an :class:`Origin` (a file and a path of keys); line and column are looked
up later, to show a finding for example.

Values are grouped by a key; the natural order of names compares numbers without leading zeros by value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from lossless.ground.basics.records import NamedTuple

Path = tuple[str | int, ...]
Severity = Literal["error", "warning", "info"]
Confidence = Literal["high", "medium", "low"]
Fixable = Literal["no", "safe", "unsafe"]
"""Whether edits can fix a finding: ``safe`` ones keep the behavior of a device, ``unsafe`` ones change it."""
Action = Literal["set", "add", "remove", "rename"]
ObjectForm = Literal["config_db", "intent", "commands"]
"""The notation of the path to an object."""
Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""All severities, the most severe first."""


class Origin(NamedTuple):
    """The place of a value: a file and the path of keys to it.

    ``mark`` selects the value, or its key, for example for a missing value below that key.
    """

    file: str
    path: Path = ()
    mark: Literal["key", "value"] = "value"

    @property
    def place(self) -> tuple[str, Path]:
        """The file and the path, without the mark."""
        return self.file, self.path

    def at(self, *keys: str | int) -> Origin:
        """Return the origin of a value below this one."""
        return Origin(self.file, self.path + keys, self.mark)

    def key(self) -> Origin:
        """Return the same place with the key marked instead of the value."""
        return Origin(self.file, self.path, "key")


class RelatedPlace(NamedTuple):
    """The origin of another value that a finding refers to, and a message about that value."""

    origin: Origin
    message: str


class Span(NamedTuple):
    """A place in a text, 1-based, in code points, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Edit(NamedTuple):
    """One change that helps to fix a finding, at the place of a value.

    ``set`` sets a value in an existing row; ``add`` also adds the row and table if they are missing;
    ``remove`` removes it; ``rename`` renames its key to ``value``.
    """

    origin: Origin
    action: Action
    value: Json = None


class Finding(NamedTuple):
    """One cause, found by one rule; ``places`` is the number of affected elements.

    ``elements`` are names of some or all of them in a fixed order; JSON has the first five. ``via`` is the intent key
    behind a finding on rendered output, None otherwise. ``fix`` are the edits that fix it at all elements; empty
    where ``fixable`` is no. ``url`` is the address of the rule's page; empty where no ``rules-url`` is configured.
    ``conclusive``: it replaces the findings that its rule supersedes at its elements.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    origin: Origin
    note: str = ""
    help: str = ""
    url: str = ""
    related: tuple[RelatedPlace, ...] = ()
    places: int = 1
    elements: tuple[str, ...] = ()
    data: Mapping[str, Json] = {}
    fixable: Fixable = "no"
    via: Origin | None = None
    object_form: ObjectForm = "intent"
    fix: tuple[Edit, ...] = ()
    conclusive: bool = True

    @property
    def file(self) -> str:
        """The file of the origin, by the name by which it was read."""
        return self.origin.file

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The origin of the finding, and those of its related places."""
        return self.origin, *(related.origin for related in self.related)

    @property
    def object(self) -> str:
        """The path of the origin as text, in the notation of ``object_form``.

        ``PORT|Ethernet0|mtu`` in CONFIG_DB, ``classes.rdma.ecn`` in an intent, and ``interface Ethernet1|mtu 9214`` for
        commands.
        """
        separator = "." if self.object_form == "intent" else "|"
        return separator.join(str(key) for key in self.origin.path)


def cause_of(finding: Finding) -> tuple[object, ...]:
    """Return the key by which findings form a cause; the file of their origin counts unless it is a CONFIG_DB."""
    file = "" if finding.object_form == "config_db" else finding.origin.file
    related = tuple((place.origin.path, place.message) for place in finding.related)
    said = (
        finding.severity,
        finding.confidence,
        finding.message,
        finding.note,
        finding.help,
        finding.fixable,
    )
    return finding.code, file, finding.origin.path, finding.origin.mark, *said, related, finding.via


def by_cause(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return findings grouped by cause, in their order; equal findings of many CONFIG_DBs form one group.

    Suppressions, baselines and reports for programs use single findings.
    """
    return [*grouped((cause_of(finding), finding) for finding in findings).values()]


class MissingInput(NamedTuple):
    """A missing input as text, and how often it was missing: checks that need it are skipped."""

    reason: str
    times: int = 1


class SkippedFile(NamedTuple):
    """A file that is not checked, and the reason; ``named``: reports name it, because it belongs to a network.

    Other files, such as a README, are counted.
    """

    file: str
    reason: str
    named: bool = False


class UncheckedRule(NamedTuple):
    """A rule that was not checked because of an unknown value, and how often; counted, never a finding.

    ``code`` is that of the rule, empty where a value cannot be read and so no rule saw it.
    """

    code: str
    reason: str
    times: int = 1


if TYPE_CHECKING:
    from typing import TypeVar

    Key = TypeVar("Key")
    Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of each key; keys and values in their original order."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


@lru_cache(maxsize=4096)
def natural_key(name: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key that orders ``Ethernet8`` before ``Ethernet10``, and ``leaf7`` before ``leaf08``.

    Names that differ in leading zeros alone are ordered as text.
    """
    # Digits compare by length without leading zeros, then as text: no text is too long for that.
    parts = (part.lstrip("0") if i % 2 else part for i, part in enumerate(re.split(r"([0-9]+)", name)))
    return (*((len(part) if i % 2 else 0, part) for i, part in enumerate(parts)), (-1, name))
