"""Takes findings away that suppressions and baselines accept, and checks these themselves.

They only ever take findings away: which finding supersedes or lessens which was decided before, and stays so.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.checks.lint.baseline import (
    BaselineAccount,
    RunCoverage,
    SuppressionLedger,
    of_configuration,
    read_baseline,
)
from lossless.checks.lint.configuration.lookup import shown_path
from lossless.checks.lint.run import in_order, run
from lossless.checks.rules.selectors import most_precise
from lossless.checks.rules.subjects import SuppressionReview
from lossless.formats.inputs.collect import is_json
from lossless.ground.basics.findings import SEVERITIES
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.checks.lint.baseline import BaselineKey, Suppression
    from lossless.checks.lint.configuration.lookup import ConfigurationLookup
    from lossless.checks.lint.configuration.reader import Configuration
    from lossless.checks.lint.report import Report
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, ObjectForm, Origin


class FilterTerms(NamedTuple):
    """The conditions that decide which findings of a run are accepted, besides suppressions in the files.

    ``baseline`` is the one that counts for all, None for those that are configured, empty for none. ``today`` is as
    2026-12-31, empty if no date counts. ``folders`` are those that were given whole.
    """

    lookup: ConfigurationLookup
    baseline: str | None
    today: str
    simulated: bool
    folders: tuple[str, ...]


def filtered(report: Report, terms: FilterTerms) -> Report:
    """Return a report without the findings that are accepted, and with those about suppressions and baselines."""
    return _Filter(report, terms).filtered()


class _Filter:
    def __init__(self, report: Report, terms: FilterTerms) -> None:
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
        self._accepted: list[Finding] = []

    def filtered(self) -> Report:
        report = self._report
        # A baseline records the severity that was shown.
        chosen = [*map(self._graded, filter(self._is_chosen, report.findings))]
        # What an intent accepts is accepted in the files of its switches too, so intents come first.
        chosen.sort(key=lambda finding: finding.object_form != "intent")
        left = [part for part in map(self._left_of, chosen) if part is not None]
        for code, origin in report.superseded:
            self._saw(code, origin)
        left += map(self._graded, filter(self._is_chosen, self._about_suppressions()))
        findings = in_order(left)
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
        from lossless.checks.lint.suppression_comments import has_marker, in_comments

        for configuration in self._lookup.used():
            yield from of_configuration(configuration, self._is_governed_by(configuration))
        for document in self._commentable().values():
            if has_marker(document.text):
                suppressions, problems = in_comments(document)
                self._problems += problems
                yield from suppressions

    def _commentable(self) -> dict[str, Document]:
        """Return the documents that can have comments."""
        documents = self._report.documents.items()
        return {file: each for file, each in documents if isinstance(each, Document) and not is_json(file)}

    def _is_governed_by(self, configuration: Configuration) -> Callable[[str], bool]:
        return lambda file: self._lookup.of(file) is configuration

    def _is_chosen(self, finding: Finding) -> bool:
        chosen = self._lookup.chosen(finding.origin.file)
        return chosen is None or finding.code in chosen

    def _left_of(self, finding: Finding) -> Finding | None:
        """Return a finding where nothing accepts it: all of it, or the part that no baseline knows."""
        suppressed = self._ledger.accepts(finding) or self._is_accepted_by_intent(finding)
        if suppressed and finding.object_form == "intent":
            self._accepted.append(finding)
        account = self._account(finding.origin.file)
        # What is suppressed is still there: its entry in a baseline is not stale.
        left = finding if account is None else account.unknown_part(finding)
        self._suppressed += suppressed
        self._baselined += left is None and not suppressed
        return None if suppressed else left

    def _is_accepted_by_intent(self, finding: Finding) -> bool:
        """Return whether an intent accepts the same of the switch that a finding is about: it was rendered so."""
        if finding.object_form == "intent" or not self._accepted:
            return False
        switches = {element.partition(":")[0] for element in finding.elements}
        return (
            bool(switches)
            and switches <= self._report.declared
            and any((known.code, known.data) == (finding.code, finding.data) for known in self._accepted)
        )

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
        return shown_path(os.path.join(configuration.folder, configuration.baseline))

    def _about_suppressions(self) -> tuple[Finding, ...]:
        """Return the findings of the rules about suppressions."""
        from lossless.checks.rules.registry import rules_for

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

    def _beside(self, findings: Sequence[Finding]) -> Iterator[Document]:
        """Yield the configurations and baselines that findings point into."""
        files = {finding.origin.file for finding in findings} - self._report.documents.keys()
        documents = [configuration.document for configuration in self._lookup.used()]
        documents += [account.baseline.document for account in self._accounts.values()]
        yield from (document for document in documents if document is not None and document.file in files)

    def _fail_on(self) -> str | None:
        """Return the severity at which configurations make the run fail; the strictest if they differ."""
        configured = {
            None if configuration is None else configuration.fail_on
            for configuration in map(self._lookup.of, self._report.documents)
        }
        if configured <= {None}:
            return None
        strictness = ("never", *SEVERITIES)
        return max((each or "error" for each in configured), key=strictness.index)
