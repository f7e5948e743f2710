"""What a rule reports: severities, origins and findings, as plain values.

Rules say *where* symbolically, as an :class:`Origin` (a file and a path of keys); line and column are looked
up only when a finding is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from lossless.ground.basics.grouping import grouped
from lossless.ground.basics.records import NamedTuple

Path = tuple[str | int, ...]
Severity = Literal["error", "warning", "info"]
Confidence = Literal["high", "medium", "low"]
Fixable = Literal["no", "safe", "unsafe"]
"""Whether edits can fix a finding: ``safe`` changes nothing that a device does, ``unsafe`` changes what it does."""
Action = Literal["set", "add", "remove", "rename"]
ObjectForm = Literal["config_db", "intent", "commands"]
"""How the path to an object is written."""
Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Most severe first."""


class Origin(NamedTuple):
    """Where a value was written: a file and the path of keys to it.

    ``mark`` says what to point at: the value, or its key (for something missing below that key).
    """

    file: str
    path: Path = ()
    mark: Literal["key", "value"] = "value"

    @property
    def place(self) -> tuple[str, Path]:
        """The file and the path, whatever to point at."""
        return self.file, self.path

    def at(self, *keys: str | int) -> Origin:
        """Return the origin of something below this one."""
        return Origin(self.file, self.path + keys, self.mark)

    def key(self) -> Origin:
        """Return the same place, pointing at the key instead of the value."""
        return Origin(self.file, self.path, "key")


class RelatedPlace(NamedTuple):
    """Another place that has to do with a finding, and why."""

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

    ``set`` gives it a value, in a row that is there; ``add`` does so with the row and table, where they are missing;
    ``remove`` takes it away; ``rename`` gives its key the name in ``value``.
    """

    origin: Origin
    action: Action
    value: Json = None


class Finding(NamedTuple):
    """One cause, found by one rule; ``places`` says on how many elements it shows.

    ``elements`` names all of them in a fixed order; reports show the first five. ``via`` is the intent key
    behind a finding on rendered output, None otherwise. ``fix`` are the edits that fix it everywhere it shows; empty
    where ``fixable`` is no. ``conclusive``: it replaces the findings that its rule supersedes at its places.
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
    def origins(self) -> tuple[Origin, ...]:
        """Its place, and the other places that have to do with it."""
        return self.origin, *(related.origin for related in self.related)

    @property
    def object(self) -> str:
        """The path as people write it: ``PORT|Ethernet0|mtu`` in CONFIG_DB, ``classes.rdma.ecn`` in an intent, and
        ``interface Ethernet1|mtu 9214`` where it consists of commands.
        """
        separator = "." if self.object_form == "intent" else "|"
        return separator.join(str(key) for key in self.origin.path)


def cause_of(finding: Finding) -> tuple[object, ...]:
    """Return what findings of one cause have in common: all that is said, in whichever device's file."""
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
    """Return findings by cause, in the order in which they come: what many devices have identical is told once.

    Suppressions, baselines and reports for programs go by single findings.
    """
    return [*grouped((cause_of(finding), finding) for finding in findings).values()]


class MissingInput(NamedTuple):
    """An input that is not known, and how often: what needs it is not checked."""

    reason: str
    times: int = 1


class SkippedFile(NamedTuple):
    """A file that is not checked, and why; ``named``: reports name it, as it has to do with a network.

    Other files, such as a README, are counted.
    """

    file: str
    reason: str
    named: bool = False


class UncheckedRule(NamedTuple):
    """A rule that could not be checked because something is unknown, how often; counted, never a finding.

    ``code`` is that of the rule, empty where a value cannot be read and so no rule saw it.
    """

    code: str
    reason: str
    times: int = 1
