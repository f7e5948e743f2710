"""What a change adds to the findings, removes and leaves, against a revision of git."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.findings import SEVERITIES, Finding
from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.linting import Report, lint, lint_together
from lossless.interfaces.api.loading import DEFAULT_OPTIONS, Options, load_fabrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike

    from lossless.analysis.simulation.study.verdict import RunVerdict
    from lossless.ground.documents.document import Document
    from lossless.model.fabric.view import View

    Key = tuple[object, ...]


class Margin(NamedTuple):
    """What runs of traffic showed of one part of a fabric before and after; None where it was not run.

    ``part`` is the file of an intent, or the switches of deployed files that are linked.
    """

    part: str
    before: RunVerdict | None
    after: RunVerdict | None


class Kept(NamedTuple):
    """A finding that was there before; ``places`` says on how many elements it showed then."""

    finding: Finding
    places: int


class Change(NamedTuple):
    """What a change does, besides what it adds: that is what the report holds.

    ``revision`` is what was compared with. ``removed`` is a report of what is gone, as it stood then. ``unread`` are
    files that could not be read then: all that is found in them counts as added.
    """

    revision: str
    removed: Report
    left: tuple[Kept, ...]
    unread: tuple[str, ...]
    margins: tuple[Margin, ...]


class _Then(NamedTuple):
    report: Report
    documents: tuple[Document, ...]
    unread: tuple[str, ...]


def lint_since(
    revision: str, paths: Sequence[str | PathLike[str]], options: Options = DEFAULT_OPTIONS
) -> Report:
    """Judge files as they are and as they were, by the configuration of today; report what was not there then.

    A finding is the same where rule, file and object are, or rule, file and message; one that is graver now counts
    as added. ``revision`` with three dots behind it is where the work since forked off, as git has it.

    Raises:
        LosslessError: no repository, no such revision, or a path outside of the repository.
    """
    import os

    from lossless.formats.inputs.revision import revision_of, texts_at

    named = [os.fspath(path) for path in paths]
    found = revision_of(revision, named)
    then = _then(texts_at(found, named), set(named), options)
    now = lint(paths, options)
    unread = tuple(sorted({*then.unread} & now.documents.keys()))
    broken = {error.file for error in now.errors}
    added, left, gone = _compared(now.findings, then.report.findings)
    # What stands in a configuration was judged by the one of today, and a file that is broken now is not mended.
    removed = [
        one for one in gone if one.origin.file in then.report.documents and one.origin.file not in broken
    ]
    margins = _margins(then, paths, options) if options.simulate else ()
    before = then.report._replace(findings=tuple(removed))
    return now._replace(findings=tuple(added), change=Change(found.shown, before, left, unread, margins))


def _then(texts: dict[str, bytes], named: set[str], options: Options) -> _Then:
    """Return what was to be said of files as they were."""
    from lossless.formats.inputs.collect import Candidate, read
    from lossless.ground.documents import load_text
    from lossless.ground.documents.text import decode

    def load(file: str) -> Document:
        return load_text(decode(texts[file], file), file, lists=True)

    def text_of(file: str) -> str:
        return decode(texts[file], file)

    candidates = [Candidate(file, expected=file in named and not options.per_file) for file in sorted(texts)]
    found = [read(candidate, load, text_of) for candidate in candidates]
    documents = [document for one in found for document in one.documents]
    facts = [host for one in found for host in one.facts]
    files = {document.whole.file for document in (*documents, *(host.document for host in facts))}
    report = lint_together(documents, facts, options)
    judged = report._replace(documents={file: report.documents[file] for file in files})
    unread = {*(texts.keys() - files), *(error.file for error in report.errors)}
    return _Then(judged, tuple(documents), tuple(unread))


def _compared(
    now: Iterable[Finding], then: Iterable[Finding]
) -> tuple[list[Finding], tuple[Kept, ...], list[Finding]]:
    """Return what is new, what was there, and what is gone; pairs by object come before pairs by message."""
    left: list[Kept] = []
    graver: list[Finding] = []
    fresh, gone = list(now), list(then)
    for key in (_by_object, _by_message):
        fresh, gone, pairs = _paired(fresh, gone, key)
        graver += [one for one, was in pairs if _is_graver(one, was)]
        left += [Kept(one, was.places) for one, was in pairs if not _is_graver(one, was)]
    return [*fresh, *graver], tuple(left), gone


def _paired(
    now: Sequence[Finding], then: Sequence[Finding], key: Callable[[Finding], Key]
) -> tuple[list[Finding], list[Finding], list[tuple[Finding, Finding]]]:
    waiting: dict[Key, list[Finding]] = {}
    for finding in then:
        waiting.setdefault(key(finding), []).append(finding)
    fresh, pairs = [], []
    for finding in now:
        if waiting.get(key(finding)):
            pairs.append((finding, waiting[key(finding)].pop(0)))
        else:
            fresh.append(finding)
    return fresh, [one for some in waiting.values() for one in some], pairs


def _by_object(finding: Finding) -> Key:
    return (finding.code, finding.origin.file, finding.origin.path)


def _by_message(finding: Finding) -> Key:
    """Return what is the same where an entry was put before another one of a list."""
    return (finding.code, finding.origin.file, finding.message)


def _is_graver(now: Finding, then: Finding) -> bool:
    return SEVERITIES.index(now.severity) < SEVERITIES.index(then.severity)


def _margins(then: _Then, paths: Sequence[str | PathLike[str]], options: Options) -> tuple[Margin, ...]:
    """Return what runs show before and after, part by part."""
    from lossless.formats.inputs.collect import collect

    before = dict(_runs(then.documents, options))
    after = dict(_runs(collect(paths, lenient=options.per_file)[0], options))
    parts = dict.fromkeys((*after, *before))
    return tuple(Margin(part, before.get(key), after.get(key)) for key in parts for part in [key[0]])


def _runs(documents: Sequence[Document], options: Options) -> Iterator[tuple[tuple[str, int], RunVerdict]]:
    """Yield what runs show of fabrics, by the name of the part and the number of its run."""
    from lossless.analysis.simulation.study.answer import parts, why_not
    from lossless.model.fabric.view import View

    if why_not() is not None:
        return
    number = Counter[str]()
    for fabric in load_fabrics(documents, options).fabrics:
        for part in parts(View(fabric)):
            verdict = _verdict(part) if part.lossless_sets else None
            if verdict is not None:
                name = _name(part)
                number[name] += 1
                yield (name, number[name]), verdict


def _verdict(part: View) -> RunVerdict | None:
    """Return what runs show of one part, None where it cannot be run: lint counts that as not judged."""
    from lossless.analysis.buffers.headroom.port import MissingInput
    from lossless.analysis.simulation.question.request import Ask
    from lossless.analysis.simulation.study.answer import followed, posed
    from lossless.analysis.simulation.study.verdict import judge

    try:
        found = posed(part, Ask().question)
        if isinstance(found, MissingInput):
            return None
        seen, patient = followed(part, found, Ask())
    except LosslessError:
        return None
    return judge(seen, (), patient)


def _name(part: View) -> str:
    fabric = part.fabric
    if fabric.declared:
        return fabric.sources[0]
    names = [switch.name for switch in fabric.switches]
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
