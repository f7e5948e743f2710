"""Accepted findings: baselines, suppressions, patterns for their files and objects, and the coverage of a run.

A baseline has recorded findings of a repository, by file, object, code and value, never by line. It hides only
recorded findings: another value, a higher severity or one more port or device is a new finding. One entry a line,
sorted, so that two branches that fix different findings can be merged. A finding that the run did not look for cannot
be reported as gone while its file exists, nor a suppression of such findings as unused: hence the coverage.

Patterns are similar to those of .gitignore: one that matches a name covers everything below it too. ``*`` and ``?``
stay within one part, ``**`` goes over any number of them, ``[0-3]`` is one character of a set.

A pattern is matched in one pass over the name, all alternatives at once, each a bit of a number (bit-parallel
simulation of the automaton, as in Baeza-Yates and Gonnet, "A new approach to text searching", CACM 35(10), 1992): no
pattern makes the time more than proportional to the name.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.registry import codes_for, known_rules
from lossless.checks.rules.selectors import codes_of, unknown
from lossless.checks.rules.subjects import ExpiredSuppression, StaleBaselineEntry, UnusedSuppression
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import SEVERITIES, Origin, Severity, grouped, natural_key
from lossless.ground.basics.limits import GLOB_CHARACTERS
from lossless.ground.basics.records import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.checks.lint.configuration.reader import Configuration, SuppressionEntry
    from lossless.checks.rules.registry import Codes
    from lossless.ground.basics.findings import Finding, Path
    from lossless.ground.documents.text import Document


VERSION = 2


class BaselineKey(NamedTuple):
    """The identity of a finding in a baseline; ``file`` is relative to the baseline's folder.

    ``value`` is the measurement of the rule, as JSON: the ``data`` of the finding, its message if there is no data.
    """

    file: str
    object: str
    code: str
    value: str = "{}"


class BaselineEntry(NamedTuple):
    """One recorded finding: its severity, and how often it affects each port or device; unnamed places are under ""."""

    severity: Severity
    elements: Mapping[str, int]


Entries = dict[BaselineKey, BaselineEntry]


class Baseline(NamedTuple):
    """A baseline as read: its entries, and the number of each in the file; ``document`` is None for a broken file."""

    file: str
    folder: str
    document: Document | None
    entries: Mapping[BaselineKey, BaselineEntry]
    places: Mapping[BaselineKey, int]
    problems: tuple[Problem, ...] = ()


def read_baseline(file: str) -> Baseline:
    """Return the baseline in a file, with its problems; valid entries count even if others are invalid."""
    from lossless.ground.documents.json.document import load_json
    from lossless.ground.documents.text import read_text

    folder = os.path.dirname(os.path.abspath(file))
    try:
        document = load_json(read_text(file), file)
    except InputError as error:
        return Baseline(file, folder, None, {}, {}, tuple(map(_with_help, error.problems)))
    problems: list[Problem] = []
    entries: Entries = {}
    places: dict[BaselineKey, int] = {}
    for number, key, entry in _entries(document, problems):
        # A merge can leave the same entry twice.
        entries[key] = _united(entries.get(key, entry), entry)
        places.setdefault(key, number)
    return Baseline(file, folder, document, entries, places, tuple(problems))


def _united(first: BaselineEntry, second: BaselineEntry) -> BaselineEntry:
    """Return one entry for two of the same finding: the higher severity, and the higher count of each element."""
    severity = min(first.severity, second.severity, key=SEVERITIES.index)
    return BaselineEntry(severity, Counter(first.elements) | Counter(second.elements))


def _with_help(problem: Problem) -> Problem:
    is_missing = problem.message == "no such file"
    return problem._replace(message="no such file; lossless baseline writes it") if is_missing else problem


class _Line(Record):
    """An entry of a baseline: a finding, the elements it is ``on`` by name, and the ``count`` of unnamed ones."""

    file: str
    object: str
    code: str
    severity: Severity
    value: Any = None
    on: list[str] | None = None
    count: int = 0


def _entries(document: Document, problems: list[Problem]) -> Iterator[tuple[int, BaselineKey, BaselineEntry]]:
    def note(message: str, *path: str | int) -> None:
        span = document.locate(path)
        problems.append(Problem(document.file, span.line, span.column, message))

    if document.data.get("version") != VERSION:
        note(
            f"not a baseline of version {VERSION}; delete the file, and lossless baseline writes it again",
            "version",
        )
        return
    entries = document.data.get("findings")
    if not isinstance(entries, list):
        note("findings is no list", "findings")
        return
    from lossless.ground.documents.json.own_records import own_record

    for number in range(len(entries)):
        try:
            line = own_record(document, _Line, ("findings", number))
        except InputError as error:
            problems += error.problems
            continue
        if fault := _fault(line):
            note(fault, "findings", number)
        else:
            elements = Counter({**Counter(line.on), "": line.count})
            value = {} if line.value is None else line.value
            key = BaselineKey(line.file, line.object, line.code, _json(value))
            yield number, key, BaselineEntry(line.severity, +elements)


def _fault(line: _Line) -> str:
    """Return the error message for an entry of a baseline, empty if it is valid."""
    if not all(line.on or ()):
        return "on is a list of names"
    if line.count < (not line.on):
        return "an entry needs a count of 1 or more, or a list of names in on"
    if line.code not in known_rules():
        return unknown(line.code)
    return ""


def key_of(finding: Finding, folder: str) -> BaselineKey:
    """Return the identity of a finding in a baseline of a folder."""
    file, name, code = _object_of(finding.code, finding.origin, finding.object_form, folder)
    return BaselineKey(file, name, code, measured(finding))


def measured(finding: Finding) -> str:
    """Return the measurement of a rule, as JSON: the data of the finding, its message if there is no data."""
    return _json(finding.data or {"message": finding.message})


def _object_of(code: str, origin: Origin, form: str, folder: str) -> tuple[str, str, str]:
    name = os.path.relpath(os.path.abspath(origin.file), folder).replace(os.sep, "/")
    separator = "." if form == "intent" else "|"
    return name, separator.join(map(str, origin.path)), code


def _wherever(key: BaselineKey) -> tuple[str, str, str]:
    """Return the file, code and measurement of a recorded finding, without its object."""
    return key.file, key.code, key.value


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def elements_of(finding: Finding) -> Counter[str]:
    """Return how often a finding affects each element; places without a name are under ""."""
    unnamed = max(finding.places, 1) - len(finding.elements)
    return +Counter({**Counter(finding.elements), "": max(unnamed, not finding.elements)})


def part_of(finding: Finding, elements: Counter[str]) -> Finding | None:
    """Return a finding reduced to the given elements, None where these are none."""
    if elements == elements_of(finding):
        return finding
    named = tuple(name for name in finding.elements if name in elements)
    return finding._replace(elements=named, places=elements.total()) if elements else None


def entries_of(findings: Iterable[Finding], folder: str) -> Entries:
    """Return the entries of findings in a baseline of a folder."""
    entries: Entries = {}
    for finding in findings:
        added_to(entries, key_of(finding, folder), BaselineEntry(finding.severity, elements_of(finding)))
    return entries


def added_to(entries: Entries, key: BaselineKey, more: BaselineEntry) -> None:
    """Add the elements of a finding to the entry of its key; a finding of higher severity replaces the entry."""
    entry = entries.get(key)
    if entry is None or SEVERITIES.index(more.severity) < SEVERITIES.index(entry.severity):
        entries[key] = more
    else:
        entries[key] = entry._replace(elements=Counter(entry.elements) + Counter(more.elements))


def baseline_text(entries: Mapping[BaselineKey, BaselineEntry]) -> str:
    """Return the text of a baseline; it does not depend on the order of its entries."""
    lines = [json.dumps(_line(key, entry)) for key, entry in sorted(entries.items(), key=itemgetter(0))]
    body = ",\n".join(lines)
    return f'{{"version": {VERSION}, "findings": [\n{body}\n]}}\n' if lines else _EMPTY


def _line(key: BaselineKey, entry: BaselineEntry) -> dict[str, object]:
    elements = Counter(entry.elements)
    count = elements.pop("", 0)
    names = sorted(elements.elements(), key=natural_key)
    line = {**key._asdict(), "severity": entry.severity, "value": json.loads(key.value)}
    return {**line, **({"on": names} if names else {}), **({"count": count} if count else {})}


_EMPTY = f'{{"version": {VERSION}, "findings": [\n]}}\n'


class BaselineAccount:
    """A baseline while findings are counted against it."""

    def __init__(self, baseline: Baseline) -> None:
        self.baseline = baseline
        self._left = {key: Counter(entry.elements) for key, entry in baseline.entries.items()}
        self._of_object = grouped((key[:3], key) for key in baseline.entries)
        self._of_place = grouped(
            ((*_wherever(key), name), key)
            for key, entry in baseline.entries.items()
            for name in entry.elements
        )

    def unknown_part(self, finding: Finding) -> Finding | None:
        """Return the part of a finding that is not recorded: the whole finding, its new places, or None.

        An entry hides as many places as it lists, not one more. A finding is reported at the first of its
        places, and a new place may become the first: places with names are looked up at every object of the file.
        """
        own = key_of(finding, self.baseline.folder)
        new = self._not_in(own, finding, elements_of(finding))
        for name in filter(None, tuple(new)):
            for key in self._of_place.get((*_wherever(own), name), ()):
                new[name] = self._not_in(key, finding, Counter({name: new[name]}))[name]
        return part_of(finding, +new)

    def _not_in(self, key: BaselineKey, finding: Finding, elements: Counter[str]) -> Counter[str]:
        """Count places of a finding against an entry; return those that it does not hide."""
        entry = self.baseline.entries.get(key)
        if entry is None:
            return elements
        known = self._left[key] & elements
        self._left[key] -= known
        is_graver = SEVERITIES.index(finding.severity) < SEVERITIES.index(entry.severity)
        return elements if is_graver else elements - known

    def saw(self, code: str, origin: Origin, form: str) -> None:
        """Mark the entries of a replaced finding as found: they are not stale."""
        for key in self._of_object.get(_object_of(code, origin, form, self.baseline.folder), ()):
            self._left[key].clear()

    def stale(self, coverage: RunCoverage) -> dict[BaselineKey, Mapping[str, int]]:
        """Return the entries whose findings no longer occur, with the elements of each.

        Only entries that this run has checked, or whose file does not exist.
        """
        return {key: left for key, left in self._left.items() if left and self._is_gone(key, coverage)}

    def _is_gone(self, key: BaselineKey, coverage: RunCoverage) -> bool:
        file = os.path.normpath(os.path.join(self.baseline.folder, key.file))
        if coverage.checked(key.code, file, self.baseline.folder):
            return True
        return file not in coverage.files and not os.path.exists(file)

    def entries(self, stale: Iterable[BaselineKey]) -> Iterator[StaleBaselineEntry]:
        """Yield the given stale entries as subjects of rules, in the order of the baseline's file."""
        for key in sorted(stale, key=self.baseline.places.__getitem__):
            place = ("findings", self.baseline.places[key])
            yield StaleBaselineEntry(Origin(self.baseline.file, place), key.file, key.object, key.code)


class RunCoverage(NamedTuple):
    """The files, folders and rules that a run has checked.

    ``files`` are those checked without an error in them, ``folders`` those checked whole, both absolute; ``chosen``
    returns the rules that ran on a file, None for all; ``simulated``: traffic was simulated.
    """

    files: frozenset[str]
    folders: tuple[str, ...]
    chosen: Callable[[str], Codes | None]
    simulated: bool

    def is_whole(self, folder: str) -> bool:
        """Return whether a folder was checked whole."""
        return any(folder == whole or folder.startswith(os.path.join(whole, "")) for whole in self.folders)

    def ran_all(self, codes: Codes, file: str) -> bool:
        """Return whether the given rules have all run on a file: they were chosen, and simulations ran if needed."""
        chosen = self.chosen(file)
        return (chosen is None or codes <= chosen) and (self.simulated or codes.isdisjoint(codes_for("runs")))

    def checked(self, code: str, file: str, folder: str) -> bool:
        """Return whether a rule has checked a file; one that compares files needs all of ``folder`` for that."""
        compares = code in codes_for("devices") or code in codes_for("device", needs="intent")
        return (
            os.path.abspath(file) in self.files
            and self.ran_all(frozenset({code}), file)
            and (not compares or self.is_whole(folder))
        )


_TOKEN = re.compile(r"\*\*|\*|\?|\[!?[^\[\]]+\]|.", re.DOTALL)


def fits_file(pattern: str, file: str, *, whole: bool = False) -> bool:
    """Return whether a pattern matches a file, or a folder that it is in; ``whole``: the file itself alone.

    The file is relative to the folder of the pattern. A pattern without a slash matches that name at any depth.
    """
    named = pattern.removeprefix("./").rstrip("/")
    anchored = named.lstrip("/") if "/" in named else f"**/{named}"
    return _glob(anchored, "/").fits(file, whole=whole)


def fits_object(pattern: str, path: Path, form: str) -> bool:
    """Return whether a pattern matches the object at a path, or one that contains it.

    ``form`` is the notation of objects: ``config_db``, ``intent`` or ``commands``.
    """
    separator = "." if form == "intent" else "|"
    return _glob(pattern, separator).fits(separator.join(map(str, path)))


@cache
def _glob(pattern: str, separator: str) -> _Glob:
    return _Glob(pattern, separator)


class _Glob:
    """A pattern for files or objects as an automaton: bit *n* is set when *n* tokens have matched."""

    def __init__(self, pattern: str, separator: str) -> None:
        self._separator = separator
        self._tokens = _tokens(pattern)
        self._end = 1 << len(self._tokens)
        self._within = self._bits("*")
        self._across = self._bits("**")
        # Any number of parts, also none: a/**/b is a/b too.
        self._skipped = self._across & (self._bits(separator) >> 1)
        self._next: dict[str, int] = {}

    def fits(self, name: str, *, whole: bool = False) -> bool:
        """Return whether the pattern matches a name or, unless ``whole``, one above it, as that of a folder."""
        reached = self._entered(1)
        for char in name:
            if not whole and reached & self._end and char == self._separator:
                return True
            staying = self._across if char == self._separator else self._across | self._within
            kept = reached & staying
            reached = self._entered((reached & self._taking(char)) << 1) | kept | kept << 1
            if not reached:
                return False
        return bool(reached & self._end)

    def _entered(self, reached: int) -> int:
        """Return the states reached if stars at the current states match the empty string."""
        stars = self._across | self._within
        while True:
            further = reached | (reached & stars) << 1 | (reached & self._skipped) << 2
            if further == reached:
                return reached
            reached = further

    def _taking(self, char: str) -> int:
        """Return the tokens that match a character, as bits."""
        if char not in self._next:
            self._next[char] = sum(
                1 << number for number, token in enumerate(self._tokens) if self._takes(token, char)
            )
        return self._next[char]

    def _takes(self, token: str, char: str) -> bool:
        if token == "?":
            return char != self._separator
        members = _set(token)
        return token == char if members is None else members.fullmatch(char) is not None

    def _bits(self, wanted: str) -> int:
        return sum(1 << number for number, token in enumerate(self._tokens) if token == wanted)


def _tokens(pattern: str) -> list[str]:
    """Return the tokens of a pattern; an invalid set, such as ``[z-a]``, stands for its characters."""
    tokens: list[str] = []
    for token in _TOKEN.findall(pattern):
        if token.startswith("*") and tokens and tokens[-1].startswith("*"):
            tokens[-1] = max(token, tokens[-1])
        elif len(token) > 1 and token.startswith("[") and _set(token) is None:
            tokens += token
        else:
            tokens.append(token)
    return tokens


@cache
def _set(token: str) -> re.Pattern[str] | None:
    """Return the regular expression for a set of characters, None for an invalid set."""
    if len(token) < 2 or not token.startswith("["):
        return None
    try:
        return re.compile(token.replace("\\", "\\\\").replace("[!", "[^"), re.DOTALL)
    except re.error:
        return None


class Suppression(NamedTuple):
    """A declaration that findings of the named rules are accepted; ``until`` is the last day, empty without one.

    One of a configuration applies below ``folder``, an absolute path, to findings that it ``covers``, a function of the
    place of a finding and the form of its object: those in ``files`` and of ``objects``, where it has such patterns.
    One in a file covers a ``line`` of it, and everything below a key on that line.
    """

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    until: str
    covers: Callable[[Origin, str], bool] | None = None
    folder: str = ""
    line: int = 0
    files: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


def of_configuration(configuration: Configuration, governed: Callable[[str], bool]) -> list[Suppression]:
    """Return the suppressions of a configuration; ``governed`` returns whether that applies to a file."""
    return [
        Suppression(
            entry.origin,
            entry.rules,
            entry.reason,
            entry.until,
            _covering(entry, configuration.folder, governed),
            configuration.folder,
            files=entry.files,
            objects=entry.objects,
        )
        for entry in configuration.entries
    ]


def _covering(
    entry: SuppressionEntry, folder: str, governed: Callable[[str], bool]
) -> Callable[[Origin, str], bool]:
    holds_in: dict[str, bool] = {}

    def holds(file: str) -> bool:
        name = os.path.relpath(os.path.abspath(file), folder).replace(os.sep, "/")
        return governed(file) and (not entry.files or any(fits_file(glob, name) for glob in entry.files))

    def covers(origin: Origin, form: str) -> bool:
        if origin.file not in holds_in:
            holds_in[origin.file] = holds(origin.file)
        return holds_in[origin.file] and (
            not entry.objects or any(fits_object(glob, origin.path, form) for glob in entry.objects)
        )

    return covers


_WILDCARDS = re.compile(r"[*?\[]|\.\.")
"""Signs by which a pattern may stand for another name than its own text."""


class _Entries:
    """The suppressions of configurations that may cover findings of one rule, by the text of their patterns.

    A suppression is looked up by its objects, or else its files, if these have no wildcards; any other suppression is a
    candidate for every finding.
    """

    def __init__(self) -> None:
        self._by_object: dict[str, list[int]] = {}
        self._by_file: dict[str, list[int]] = {}
        self._others: list[int] = []

    def add(self, number: int, suppression: Suppression) -> None:
        """Add a suppression by its number."""
        if suppression.objects and not any(map(_WILDCARDS.search, suppression.objects)):
            for pattern in dict.fromkeys(suppression.objects):
                self._by_object.setdefault(pattern, []).append(number)
        elif suppression.files and not any(map(_WILDCARDS.search, suppression.files)):
            for pattern in dict.fromkeys(suppression.files):
                name = pattern.removeprefix("./").rstrip("/")
                place = os.path.join(suppression.folder, name.lstrip("/")) if "/" in name else name
                self._by_file.setdefault(place, []).append(number)
        else:
            self._others.append(number)

    def candidates(self, origin: Origin, form: str, file_keys: Iterable[str]) -> set[int]:
        """Return the numbers of the suppressions that may cover a place; ``file_keys`` are those of its file."""
        found = {*self._others}
        for key in file_keys if self._by_file else ():
            found.update(self._by_file.get(key, ()))
        if self._by_object:
            separator = "." if form == "intent" else "|"
            # No pattern is longer.
            text = separator.join(map(str, origin.path))[: GLOB_CHARACTERS + 1]
            at = text.find(separator)
            while at >= 0:
                found.update(self._by_object.get(text[:at], ()))
                at = text.find(separator, at + 1)
            found.update(self._by_object.get(text, ()))
        return found


class SuppressionLedger:
    """The suppressions of a run, and the rules whose findings each of them has covered so far."""

    def __init__(
        self, suppressions: Sequence[Suppression], today: str, documents: Mapping[str, Document]
    ) -> None:
        self._suppressions = suppressions
        self._documents = documents
        self._lines: dict[tuple[str, Path], set[int]] = {}
        self._expired = [bool(each.until and today and each.until < today) for each in suppressions]
        self._codes: list[set[str]] = [set() for _ in suppressions]
        self._missed = [0] * len(suppressions)
        self._configured: dict[str, _Entries] = {}
        self._file_keys: dict[str, frozenset[str]] = {}
        self._on_line: dict[tuple[str, str, int], list[int]] = {}
        for number, suppression in enumerate(suppressions):
            for code in frozenset().union(*map(codes_of, suppression.rules)):
                if suppression.covers is not None:
                    self._configured.setdefault(code, _Entries()).add(number, suppression)
                else:
                    place = (code, suppression.origin.file, suppression.line)
                    self._on_line.setdefault(place, []).append(number)
        self._commented = frozenset(file for _, file, _ in self._on_line)

    def accepts(self, finding: Finding) -> bool:
        """Return whether a suppression that has not expired covers a finding; each that covers it counts as used."""
        accepted = False
        for number in self._covering(finding.code, finding.origin, finding.object_form):
            self._missed[number] += self._expired[number]
            accepted = accepted or not self._expired[number]
        return accepted

    def saw(self, code: str, origin: Origin, form: str) -> None:
        """Count the suppressions that cover a replaced finding as used."""
        for _ in self._covering(code, origin, form):
            pass

    def _covering(self, code: str, origin: Origin, form: str) -> Iterable[int]:
        entries = self._configured.get(code)
        for number in entries.candidates(origin, form, self._keys_of(origin.file)) if entries else ():
            covers = self._suppressions[number].covers
            if covers is not None and covers(origin, form):
                self._codes[number].add(code)
                yield number
        for line in self._lines_of(origin) if origin.file in self._commented else ():
            for number in self._on_line.get((code, origin.file, line), ()):
                self._codes[number].add(code)
                yield number

    def _keys_of(self, file: str) -> frozenset[str]:
        """Return the texts of patterns that match a file: its names, and the paths of it and of folders above it."""
        if file not in self._file_keys:
            names = os.path.abspath(file).split(os.sep)
            paths = (os.sep.join(names[:length]) for length in range(1, len(names) + 1))
            self._file_keys[file] = frozenset((*names, *paths))
        return self._file_keys[file]

    def _lines_of(self, origin: Origin) -> set[int]:
        """Return the lines of an object: that of its own key, and those of the keys above it."""
        file, path, *_ = origin
        if (file, path) not in self._lines:
            prefixes = [path[:length] for length in range(1, len(path) + 1)] or [path]
            spans = self._documents[file].locate_many(prefixes, "key").values()
            self._lines[file, path] = {span.line for span in spans}
        return self._lines[file, path]

    def expired(self) -> tuple[ExpiredSuppression, ...]:
        """Return the suppressions whose last day is over, each with the number of findings that it would accept."""
        return tuple(
            ExpiredSuppression(each.origin, each.rules, each.reason, each.until, self._missed[number])
            for number, each in enumerate(self._suppressions)
            if self._expired[number]
        )

    def unused(self, coverage: RunCoverage, errors: Sequence[Problem]) -> tuple[UnusedSuppression, ...]:
        """Return the unused suppressions, each with those of its rules that ran without a finding that it covers.

        Expired suppressions, comments in files with ``errors``, and configured suppressions whose folder was not
        checked whole are left out.
        """
        broken = {error.file for error in errors}
        unused = []
        for number, (origin, rules, reason, *_) in enumerate(self._suppressions):
            in_broken = not self._suppressions[number].folder and origin.file in broken
            if self._expired[number] or in_broken:
                continue
            idle = tuple(rule for rule in rules if self._is_unused(number, codes_of(rule), coverage))
            if idle:
                unused.append(UnusedSuppression(origin, idle, reason, len(idle) == len(rules)))
        return tuple(unused)

    def _is_unused(self, number: int, codes: Codes, coverage: RunCoverage) -> bool:
        suppression = self._suppressions[number]
        if codes & self._codes[number]:
            return False
        is_covered = not suppression.folder or coverage.is_whole(suppression.folder)
        return is_covered and coverage.ran_all(codes, suppression.origin.file)
