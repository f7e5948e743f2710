"""The filter of findings that suppressions and baselines accept, the check of these, and suppressions in files.

Replaced findings are removed before: they do not come back if the findings that replace them are accepted.

A suppression in an intent is a comment: ``# lossless: ignore[WD001] -- why until=2026-12-31``. The files of a subnet
manager can have them too. One behind a key covers that line and everything below that key; one on a line of its own
covers the next line that has a key. In YAML a number sign inside a text begins no comment.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from lossless.checks.lint.baseline import (
    BaselineAccount,
    RunCoverage,
    Suppression,
    SuppressionLedger,
    of_configuration,
    read_baseline,
)
from lossless.checks.lint.configuration.lookup import shown_path
from lossless.checks.lint.configuration.reader import CODE_IN_ADDRESS, iso_date
from lossless.checks.lint.run import in_order, run
from lossless.checks.rules.registry import RULES, rules_for
from lossless.checks.rules.selectors import codes_of, most_precise, unknown
from lossless.checks.rules.subjects import SuppressionReview
from lossless.formats.inputs.collect import is_json
from lossless.ground.basics.errors import Problem
from lossless.ground.basics.findings import SEVERITIES, Origin
from lossless.ground.basics.limits import SUPPRESSED_RULES
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import nearest
from lossless.ground.documents.marked_document import KnownPlaces
from lossless.ground.documents.text import Document, Lines
from lossless.ground.documents.yaml.compose import YamlLocator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.checks.lint.baseline import BaselineKey
    from lossless.checks.lint.configuration.lookup import ConfigurationLookup
    from lossless.checks.lint.configuration.reader import Configuration
    from lossless.checks.lint.run import CheckedReport
    from lossless.ground.basics.findings import Finding, ObjectForm, Path
    from lossless.ground.documents.yaml.compose import YamlNode


class FilterTerms(NamedTuple):
    """The conditions that decide which findings of a run are accepted, besides suppressions in the files.

    ``baseline`` is the baseline of all files, None: each file has the configured one, empty: none has any. ``today`` is
    as 2026-12-31, empty if no suppression expires. ``folders`` are those that the run checks whole.
    """

    lookup: ConfigurationLookup
    baseline: str | None
    today: str
    simulated: bool
    folders: tuple[str, ...]


def filtered(report: CheckedReport, terms: FilterTerms) -> CheckedReport:
    """Return a report without findings that are accepted or of rules not chosen, with the configured severities.

    It has the findings on unused or expired suppressions and on stale entries of baselines too.
    """
    return _Filter(report, terms).filtered()


class _Filter:
    def __init__(self, report: CheckedReport, terms: FilterTerms) -> None:
        self._report = report
        self._lookup = terms.lookup
        self._terms = terms
        self._problems: list[Problem] = []
        for file in report.documents:
            self._lookup.of(file)
        self._ledger = SuppressionLedger(list(self._suppressions()), terms.today, self._commentable())
        self._accounts: dict[str, BaselineAccount] = {}
        self._stale: dict[str, Mapping[BaselineKey, Mapping[str, int]]] = {}
        self._suppressed = self._baselined = 0
        self._accepted: set[tuple[str, str]] = set()

    def filtered(self) -> CheckedReport:
        report = self._report
        # A baseline records the severity that was shown.
        chosen = [*map(self._graded, filter(self._is_chosen, report.findings))]
        # What an intent accepts is accepted in the files of its switches too, so intents come first.
        chosen.sort(key=lambda finding: finding.object_form != "intent")
        left = [part for part in map(self._left_of, chosen) if part is not None]
        for code, origin in report.superseded:
            self._saw(code, origin)
        left += map(self._graded, filter(self._is_chosen, self._about_suppressions()))
        findings = in_order(map(self._linked, left))
        beside = {document.file: document for document in self._beside(findings)}
        return report._replace(
            findings=findings,
            errors=(*report.errors, *self._lookup.problems(), *self._problems),
            documents={**report.documents, **beside},
            suppressed=self._suppressed,
            baselined=self._baselined,
            beside=len(beside),
            fail_on=self._fail_on(),
            stale=self._stale,
        )

    def _suppressions(self) -> Iterator[Suppression]:

        for configuration in self._lookup.used():
            yield from of_configuration(configuration, self._is_governed_by(configuration))
        for document in self._commentable().values():
            if has_marker(document.text):
                suppressions, problems = in_comments(document)
                self._problems += problems
                yield from suppressions

    def _commentable(self) -> dict[str, Document]:
        """Return the documents that can have suppressions in comments, by file: all but JSON files and excerpts."""
        documents = self._report.documents.items()
        return {file: each for file, each in documents if isinstance(each, Document) and not is_json(file)}

    def _is_governed_by(self, configuration: Configuration) -> Callable[[str], bool]:
        return lambda file: self._lookup.of(file) is configuration

    def _is_chosen(self, finding: Finding) -> bool:
        chosen = self._lookup.chosen(finding.origin.file)
        return chosen is None or finding.code in chosen

    def _left_of(self, finding: Finding) -> Finding | None:
        """Return the part of a finding that its baseline does not record; None if all is recorded, or suppressed."""
        suppressed = self._ledger.accepts(finding) or self._is_accepted_by_intent(finding)
        if suppressed and finding.object_form == "intent":
            self._accepted.add(_known_by(finding))
        account = self._account(finding.origin.file)
        # What is suppressed is still there: its entry in a baseline is not stale.
        left = finding if account is None else account.unknown_part(finding)
        self._suppressed += suppressed
        self._baselined += left is None and not suppressed
        return None if suppressed else left

    def _is_accepted_by_intent(self, finding: Finding) -> bool:
        """Return whether a finding's code and data were accepted in an intent, and all its switches are declared."""
        if finding.object_form == "intent" or not self._accepted:
            return False
        switches = {element.partition(":")[0] for element in finding.elements}
        return bool(switches) and switches <= self._report.declared and _known_by(finding) in self._accepted

    def _saw(self, code: str, origin: Origin) -> None:
        """Count a finding that another one replaces: it is not shown, and its baseline entry is not stale."""
        form = self._form(origin.file)
        self._ledger.saw(code, origin, form)
        account = self._account(origin.file)
        if account is not None:
            account.saw(code, origin, form)

    def _form(self, file: str) -> ObjectForm:
        """Return the notation of objects in a file, by its format."""
        document = self._report.documents.get(file)
        if isinstance(document, Document) and document.dialect:
            return "commands"
        return "config_db" if is_json(file) else "intent"

    def _account(self, file: str) -> BaselineAccount | None:
        """Return the account of the baseline that applies to a file, None without one."""
        named = self._terms.baseline
        name = self._configured_baseline(file) if named is None else named
        if not name:
            return None
        if name not in self._accounts:
            baseline = read_baseline(name)
            self._problems += baseline.problems
            self._accounts[name] = BaselineAccount(baseline)
        return self._accounts[name]

    def _configured_baseline(self, file: str) -> str:
        configuration = self._lookup.of(file)
        if configuration is None or configuration.baseline is None:
            return ""
        return shown_path(configuration.baseline)

    def _about_suppressions(self) -> tuple[Finding, ...]:
        """Return the findings of the rules about suppressions and baselines, and keep the stale entries."""
        for file in self._report.documents:
            self._account(file)
        coverage = self._coverage()
        accounts = sorted(self._accounts.items())
        self._stale = {name: account.stale(coverage) for name, account in accounts}
        entries = tuple(entry for name, account in accounts for entry in account.entries(self._stale[name]))
        unused = self._ledger.unused(coverage, self._report.errors)
        review = SuppressionReview(unused, self._ledger.expired(), entries)
        return run(review, rules_for("suppressions"), "intent").findings if any(review) else ()

    def _coverage(self) -> RunCoverage:
        errors = self._report.errors
        broken = {os.path.abspath(error.file) for error in errors}
        files = frozenset(map(os.path.abspath, self._report.documents)) - broken
        folders = () if errors else self._terms.folders
        return RunCoverage(files, folders, self._lookup.chosen, self._terms.simulated)

    def _graded(self, finding: Finding) -> Finding:
        configuration = self._lookup.of(finding.origin.file)
        if configuration is None or not configuration.severities:
            return finding
        selector = most_precise(finding.code, configuration.severities)
        return finding if selector is None else finding._replace(severity=configuration.severities[selector])

    def _linked(self, finding: Finding) -> Finding:
        """Return a finding with the address of its rule's page, where the configuration of its file has addresses.

        Rules of plugins have no page there.
        """
        configuration = self._lookup.of(finding.origin.file)
        if configuration is None or not configuration.rules_url or finding.code not in RULES:
            return finding
        return finding._replace(url=configuration.rules_url.replace(CODE_IN_ADDRESS, finding.code))

    def _beside(self, findings: Sequence[Finding]) -> Iterator[Document]:
        """Yield the configurations and baselines that findings point into."""
        files = {finding.origin.file for finding in findings} - self._report.documents.keys()
        documents = [configuration.document for configuration in self._lookup.used()]
        documents += [account.baseline.document for account in self._accounts.values()]
        yield from (document for document in documents if document is not None and document.file in files)

    def _fail_on(self) -> str | None:
        """Return the least severity with which the run fails by the configurations, None if none states one.

        If configurations differ, the strictest counts; a file without a stated severity counts as one with error.
        """
        configured = {
            None if configuration is None else configuration.fail_on
            for configuration in map(self._lookup.of, self._report.documents)
        }
        if configured <= {None}:
            return None
        strictness = ("never", *SEVERITIES)
        return max((each or "error" for each in configured), key=strictness.index)


def _known_by(finding: Finding) -> tuple[str, str]:
    """Return the code and the data of a finding: the same in an intent and in the files of its switches."""
    return finding.code, json.dumps(finding.data, sort_keys=True)


_COMMENT = re.compile(r"(?:^|(?<=[ \t\r\n]))#[ \t]*lossless:")
_BREAK = re.compile(r"[\r\n]")
_DIRECTIVE = re.compile(r"([A-Za-z-]+)(?:[ \t]*\[([^\]]*)\])?(?:[ \t]*--[ \t]*+((?s:.*)))?")
_WORD = re.compile(r"([A-Za-z-]+)(\[?)")
_UNTIL = re.compile(r"(?:^|(?<=[ \t]))until=(\S*)[ \t]*")
_LINE_END = re.compile(r"\r\n?|\n")
_BLANK = re.compile(r"[ \t]*(?:#.*)?")
_FORM = "# lossless: ignore[CODE] -- reason"


def has_marker(text: str) -> bool:
    """Return whether a text has a comment that may be a suppression."""
    return _COMMENT.search(text) is not None


def in_comments(document: Document) -> tuple[list[Suppression], list[Problem]]:
    """Return the suppressions in the comments of a document, and the problems of invalid ones, sorted."""
    reader = _CommentReader(document)
    return list(reader.suppressions()), sorted(reader.problems)


class _Places(Protocol):
    """The places of keys and texts in a commented file: the key on a line, and whether a number sign is in a text."""

    def path_at(self, line: int) -> Path | None:
        """Return the path of the outermost key on a line, None where there is none."""

    def is_text(self, offset: int) -> bool:
        """Return whether a number sign at an offset is part of a text, and so begins no comment."""


class _InYaml:
    def __init__(self, root: YamlNode, lines: Lines) -> None:
        self._paths: dict[int, Path] = {}
        self._lines = lines
        self._note(root, ())
        self._texts = sorted(_texts(root))

    def path_at(self, line: int) -> Path | None:
        return self._paths.get(line)

    def is_text(self, offset: int) -> bool:
        # Texts do not overlap: it is the last that begins at or before the offset, or none.
        number = bisect_right(self._texts, offset, key=itemgetter(0))
        return number > 0 and offset < self._texts[number - 1][1]

    def _note(self, node: YamlNode, path: Path) -> None:
        """Note the line of each key of a node: a line belongs to its outermost key."""
        members = list(_members(node))
        for step, key, _ in members:
            self._paths.setdefault(self._lines.place(key.start)[0], (*path, step))
        for step, _, value in members:
            self._note(value, (*path, step))


class _InLines:
    """Files with a statement a line, in which a number sign always begins a comment."""

    def __init__(self, places: KnownPlaces, lines: Lines) -> None:
        self._paths = places.first_on_lines(lines)

    def path_at(self, line: int) -> Path | None:
        return self._paths.get(line)

    def is_text(self, _offset: int) -> bool:
        return False


def _places_of(document: Document, lines: Lines) -> _Places:
    if isinstance(document.locator, KnownPlaces):
        return _InLines(document.locator, lines)
    assert isinstance(document.locator, YamlLocator)
    return _InYaml(document.locator.node(()), lines)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each ``# lossless:`` comment: up to the next one, or the end of the line."""
    matches = list(_COMMENT.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=True):
        line_end = _BREAK.search(text, match.end(), end)
        yield match.start(), text[match.end() : line_end.start() if line_end else end].strip(" \t")


class _CommentReader:
    def __init__(self, document: Document) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._lines = Lines(document.text)
        self._places = _places_of(document, self._lines)
        self._following: list[int | None] = []
        self._rules_named = 0

    def suppressions(self) -> Iterator[Suppression]:
        """Yield valid suppressions, and record a problem for each invalid one, up to SUPPRESSED_RULES named rules."""
        for start, comment in _comments(self._document.text):
            if self._is_meant(comment) and not self._places.is_text(start):
                yield from self._read(start, _DIRECTIVE.fullmatch(comment))
            if self._rules_named > SUPPRESSED_RULES:
                self._note(
                    start,
                    f"the comments of a file name at most {SUPPRESSED_RULES:,} rules; the rest is not read",
                )
                return

    def _is_meant(self, comment: str) -> bool:
        """Return whether a comment is meant as a suppression; ``# lossless: v1`` is an intent's first line instead."""
        word = _WORD.match(comment)
        return word is not None and (word[2] == "[" or nearest(word[1], ["ignore"]) is not None)

    def _read(self, offset: int, directive: re.Match[str] | None) -> Iterator[Suppression]:
        line = self._target(offset)
        path = None if line is None else self._places.path_at(line)
        rules = self._rules(offset, directive)
        if directive is None or not rules:
            return
        reason, until = self._reason(offset, directive[3] or "")
        if line is None or path is None:
            self._note(offset, "this suppression stands at no key; put it behind a key, or on the line above")
        elif reason:
            origin = Origin(self._document.file, path, "key")
            yield Suppression(origin, rules, reason, until, line=line)

    def _rules(self, offset: int, directive: re.Match[str] | None) -> tuple[str, ...]:
        if directive is None or directive[1] != "ignore":
            self._note(offset, f"not a suppression as it is written; expected {_FORM}")
            return ()
        words = [word.strip() for word in (directive[2] or "").split(",") if word.strip()]
        self._rules_named += len(words)
        if self._rules_named > SUPPRESSED_RULES:
            return ()
        if not words:
            self._note(offset, f"this suppression names no rule; expected {_FORM}")
        for word in words:
            if not codes_of(word):
                self._note(offset, f"in a suppression: {unknown(word)}")
        return tuple(word for word in words if codes_of(word))

    def _reason(self, offset: int, comment: str) -> tuple[str, str]:
        """Return the reason and the last day of a suppression; both empty where a date is invalid or repeated.

        The last day is empty without one. A missing reason is noted, and empty.
        """
        days = _UNTIL.findall(comment)
        reason = _UNTIL.sub("", comment).strip()
        if not reason:
            self._note(offset, f"this suppression has no reason; expected {_FORM}")
        dates = [iso_date(day) for day in days]
        if len(days) > 1 or None in dates:
            self._note(
                offset, f"until={days[-1]} is no date of its own; expected one such as until=2026-12-31"
            )
            return "", ""
        return reason, "".join(date for date in dates if date)

    def _target(self, offset: int) -> int | None:
        """Return the line that a comment covers: its own, or the next one with a statement; None without one."""
        line, column = self._lines.place(offset)
        if self._lines.line_text(line)[: column - 1].strip():
            return line
        return self._next(line + 1)

    def _next(self, line: int) -> int | None:
        """Return the first line, from a given one on, that is neither blank nor only a comment; None without one."""
        if not self._following:
            following = None
            texts = _LINE_END.split(self._document.text)
            for number in range(len(texts), 0, -1):
                following = following if _BLANK.fullmatch(texts[number - 1]) else number
                self._following.append(following)
            self._following.reverse()
        return self._following[line - 1] if line <= len(self._following) else None

    def _note(self, offset: int, message: str) -> None:
        self.problems.append(Problem(self._document.file, *self._lines.place(offset), message))


def _members(node: YamlNode) -> Iterator[tuple[str | int, YamlNode, YamlNode]]:
    """Yield the members of a YAML node: step, key and value; an alias has none, since they are at its anchor."""
    if isinstance(node.children, dict):
        members = [(step, key, value) for step, (key, value) in node.children.items()]
    else:
        members = [(step, item, item) for step, item in enumerate(node.children or ())]
    yield from (member for member in members if node.start <= member[1].start < node.end)


def _texts(node: YamlNode) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each scalar below a YAML node: a number sign in it begins no comment."""
    if node.children is None:
        yield node.start, node.end
    for _, key, value in _members(node):
        for part in (key,) if key is value else (key, value):
            yield from _texts(part)
