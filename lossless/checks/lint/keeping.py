"""What is left to say once suppressions and baselines have kept back what is accepted, and what to say of those.

They only ever take findings away: what one finding supersedes or lessens was decided before, and stays so.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.checks.lint.baseline import Account, read_baseline
from lossless.checks.lint.extent import Extent
from lossless.checks.lint.governing import shown_path
from lossless.checks.lint.run import in_order, run
from lossless.checks.lint.suppressions import Ledger, of_configuration
from lossless.checks.rules.selectors import most_precise
from lossless.checks.rules.subjects import SuppressionReview
from lossless.formats.inputs.collect import is_json
from lossless.ground.basics.findings import SEVERITIES
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.document import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.checks.lint.configuration import Configuration
    from lossless.checks.lint.governing import Governing
    from lossless.checks.lint.repository import LintResult
    from lossless.checks.lint.suppressions import Suppression
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.findings import Finding, Origin


class Terms(NamedTuple):
    """What a run keeps findings back by, besides what stands in the files.

    ``baseline`` is the one that counts for all, None for those that are configured, empty for none. ``today`` is as
    2026-12-31, empty where no date counts. ``folders`` are those that were given whole.
    """

    governing: Governing
    baseline: str | None
    today: str
    simulated: bool
    folders: tuple[str, ...]


class Settled(NamedTuple):
    """What is reported: ``beside`` are documents that were not judged and that a finding points into.

    ``accounts`` are the baselines that were counted against, by name.
    """

    findings: tuple[Finding, ...]
    suppressed: int
    baselined: int
    problems: tuple[Problem, ...]
    beside: tuple[Document, ...]
    fail_on: str | None
    accounts: Mapping[str, Account]
    extent: Extent


def settled(result: LintResult, terms: Terms) -> Settled:
    """Return what is left of the findings of a run."""
    return _Keeping(result, terms).settle()


class _Keeping:
    def __init__(self, result: LintResult, terms: Terms) -> None:
        self._result = result
        self._governing = terms.governing
        self._terms = terms
        self._problems: list[Problem] = []
        for file in result.documents:
            self._governing.of(file)
        self._ledger = Ledger(list(self._suppressions()), terms.today)
        self._accounts: dict[str, Account] = {}
        self._suppressed = self._baselined = 0

    def settle(self) -> Settled:
        verdicts = self._result.verdicts
        left = [one for one in verdicts.findings if self._is_chosen(one) and self._is_left(one)]
        for code, origin in verdicts.superseded:
            self._saw(code, origin)
        left += filter(self._is_chosen, self._about_themselves())
        found = in_order(map(self._graded, left))
        problems = (*self._governing.problems(), *self._problems)
        return Settled(
            found,
            self._suppressed,
            self._baselined,
            problems,
            tuple(self._beside(found)),
            self._fail_on(),
            self._accounts,
            self._extent(),
        )

    def _suppressions(self) -> Iterator[Suppression]:
        from lossless.checks.lint.comments import has_marker, in_comments

        for configuration in self._governing.used():
            yield from of_configuration(configuration, self._governed_by(configuration))
        for document in self._result.documents.values():
            if isinstance(document, Document) and not is_json(document.file) and has_marker(document.text):
                found, problems = in_comments(document)
                self._problems += problems
                yield from found

    def _governed_by(self, configuration: Configuration) -> Callable[[str], bool]:
        return lambda file: self._governing.of(file) is configuration

    def _is_chosen(self, finding: Finding) -> bool:
        chosen = self._governing.chosen(finding.origin.file)
        return chosen is None or finding.code in chosen

    def _is_left(self, finding: Finding) -> bool:
        suppressed = self._ledger.keeps_back(finding)
        account = self._account(finding.origin.file)
        # What is suppressed is still there: its entry in a baseline is not stale.
        known = account is not None and account.takes(finding.code, finding.origin, finding.object_form)
        self._suppressed += suppressed
        self._baselined += known and not suppressed
        return not (suppressed or known)

    def _saw(self, code: str, origin: Origin) -> None:
        """Count a finding whose place another one has taken: it is neither shown nor gone."""
        form = "config_db" if is_json(origin.file) else "intent"
        self._ledger.saw(code, origin, form)
        account = self._account(origin.file)
        if account is not None:
            account.takes(code, origin, form)

    def _account(self, file: str) -> Account | None:
        """Return the baseline that knows the findings of a file."""
        named = self._terms.baseline
        name = self._configured_baseline(file) if named is None else named
        if not name:
            return None
        if name not in self._accounts:
            baseline = read_baseline(name)
            self._problems += baseline.problems
            self._accounts[name] = Account(baseline)
        return self._accounts[name]

    def _configured_baseline(self, file: str) -> str:
        configuration = self._governing.of(file)
        if configuration is None or configuration.baseline is None:
            return ""
        return shown_path(os.path.join(configuration.folder, configuration.baseline))

    def _about_themselves(self) -> tuple[Finding, ...]:
        """Return what the rules about suppressions find."""
        from lossless.checks.rules.registry import rules_for

        for file in self._result.documents:
            self._account(file)
        extent = self._extent()
        stale = [one for _, account in sorted(self._accounts.items()) for one in account.entries(extent)]
        idle = self._ledger.idle(extent, self._result.errors)
        kept = SuppressionReview(idle, self._ledger.expired(), tuple(stale))
        return run(kept, rules_for("suppressions"), "intent").findings if any(kept) else ()

    def _extent(self) -> Extent:
        errors = self._result.errors
        broken = {os.path.abspath(error.file) for error in errors}
        files = frozenset(map(os.path.abspath, self._result.documents)) - broken
        folders = () if errors else self._terms.folders
        return Extent(files, folders, self._governing.chosen, self._terms.simulated)

    def _graded(self, finding: Finding) -> Finding:
        configuration = self._governing.of(finding.origin.file)
        if configuration is None or not configuration.severities:
            return finding
        selector = most_precise(finding.code, configuration.severities)
        return finding if selector is None else finding._replace(severity=configuration.severities[selector])

    def _beside(self, findings: Sequence[Finding]) -> Iterator[Document]:
        """Yield the configurations and baselines that findings point into."""
        files = {finding.origin.file for finding in findings} - self._result.documents.keys()
        documents = [one.document for one in self._governing.used()]
        documents += [account.baseline.document for account in self._accounts.values()]
        yield from (one for one in documents if one is not None and one.file in files)

    def _fail_on(self) -> str | None:
        """Return what is said of the exit code; where folders say different things, the strictest of them."""
        said = {
            None if configuration is None else configuration.fail_on
            for configuration in map(self._governing.of, self._result.documents)
        }
        if said <= {None}:
            return None
        strictness = ("never", *SEVERITIES)
        return max((one or "error" for one in said), key=strictness.index)
