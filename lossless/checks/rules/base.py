"""The interface of a rule: its module, the violations and missing inputs that it yields, and how violations are merged.

A rule is one module, ``rules/<family>/<code>_<name>.py``. Its docstring is its documentation and holds its metadata.
Its function for each subject (``check``, or the name in :data:`~lossless.checks.rules.rule_rows.FUNCTIONS`) is a pure
function of that subject. It yields values of :class:`Violation`, and of :class:`MissingInput` for values that it needs
and that are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from lossless.checks.rules.locations import places
from lossless.ground.basics.findings import (
    Confidence,
    Edit,
    Json,
    MissingInput as MissingInput,
    Origin,
    RelatedPlace,
    Severity,
    grouped,
)
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

    from lossless.ground.basics.errors import Problem
    from lossless.model.fabric.view import PortSet


class Violation(NamedTuple):
    """One violation of a rule, with the elements that it affects, such as ports, queues or devices (``elements``).

    ``places`` is the number that counts in place of that of ``elements``, None without one. ``severity`` overrides
    that of the rule: the same fact can be certain with an intent and likely without one. ``conclusive`` is False where
    the violation does not replace the findings that its rule supersedes at the same place
    (:mod:`lossless.checks.rules.precedence`). ``note_lines`` replace ``note`` where the note has several lines. ``fix``
    has the edits that fix the cause on all affected elements; ``Fix:`` in the docstring of the rule says whether they
    are safe.
    """

    origin: Origin
    message: str
    note: str = ""
    help: str = ""
    elements: tuple[str, ...] = ()
    places: int | None = None
    data: Mapping[str, Json] = {}
    related: tuple[RelatedPlace, ...] = ()
    severity: Severity | None = None
    confidence: Confidence | None = None
    conclusive: bool = True
    note_lines: tuple[str, ...] = ()
    fix: tuple[Edit, ...] = ()

    @property
    def total(self) -> int:
        """The number of affected elements: ``places``; without it that of ``elements``, or 1 where they are empty."""
        return (len(self.elements) or 1) if self.places is None else self.places

    def certain_if(self, certain: bool) -> Violation:
        """Return the violation unchanged if ``certain``, else as a warning of medium confidence."""
        return self if certain else self._replace(severity="warning", confidence="medium")

    def on_ports(self, *sets: PortSet) -> Violation:
        """Return the violation on the ports of port sets; ``elements`` names those of up to five switches a set."""
        elements = tuple(name for ports in sets for name in ports.elements)
        return self._replace(elements=elements, places=places(sets))


Results = Iterator[Violation | MissingInput]
"""The return type of the function of a rule: an iterator of violations and missing inputs."""


def unread(what: str, hosts: Collection[str]) -> MissingInput:
    """Return the missing input for a value, described by ``what``, that the files of ``hosts`` do not contain."""
    return MissingInput(f"no file of the host says {what}", len(hosts))


def merged(violations: Iterable[Violation]) -> Iterator[Violation]:
    """Yield one violation for each message and severity, with the affected elements of all such violations."""
    pairs = (((violation.message, violation.severity), violation) for violation in violations)
    return map(added_up, grouped(pairs).values())


def added_up(same: list[Violation]) -> Violation:
    """Return the first violation with the affected elements of all; with edits only if each violation has some."""
    if len(same) == 1:
        return same[0]
    # The same elements with another priority or queue are counted once.
    apart = [*{violation.elements or number: violation for number, violation in enumerate(same)}.values()]
    elements = tuple(dict.fromkeys(name for violation in apart for name in violation.elements))
    twice = sum(len(violation.elements) for violation in apart) - len(elements)
    named = elements and all(violation.places is None for violation in same)
    # No edits unless every violation has some: the finding would stay.
    fixes = [violation.fix for violation in same]
    return same[0]._replace(
        elements=elements,
        places=None if named else sum(violation.total for violation in apart) - twice,
        fix=tuple(dict.fromkeys(edit for fix in fixes for edit in fix)) if all(fixes) else (),
    )


def tightest(ranked: Iterable[tuple[tuple[float, ...], Violation]]) -> Iterator[Violation]:
    """Yield the violation of lowest rank for each origin, with the affected elements of all violations there."""
    for same in grouped((violation.origin, (rank, violation)) for rank, violation in ranked).values():
        _, worst = min(same, key=lambda pair: pair[0])
        together = added_up([violation for _, violation in same])
        yield worst._replace(elements=together.elements, places=together.total)


def guarded(code: str, check: Callable[[Any], Results], module: ModuleType) -> Callable[[Any], Results]:
    """Return the function of a plugin's rule, with every exception of it as an InputError that names the rule."""

    def checked(subject: Any) -> Results:
        from lossless.ground.basics.errors import InputError

        try:
            yielded = list(check(subject))
            for item in yielded:
                _require_result(item)
        except Exception as error:
            plugin = module.__name__.rpartition(".")[0]
            message = f"rule {code} of the plugin {plugin} failed: {type(error).__name__}: {error}"
            raise InputError([problem_at(error, module.__file__ or plugin, message)]) from error
        return iter(yielded)

    return checked


def _require_result(item: object) -> None:
    """Refuse a result that the function of a rule must not yield.

    Raises:
        TypeError: neither a violation with a place and a message nor a missing input.
    """
    if isinstance(item, Violation):
        origin, message = cast("tuple[object, object]", (item.origin, item.message))
        if not isinstance(origin, Origin) or not isinstance(message, str):
            raise TypeError("a Violation needs an Origin and a message")
    elif not isinstance(item, MissingInput):
        raise TypeError(f"it yields {type(item).__name__}; expected Violation or MissingInput")


def problem_at(error: BaseException, file: str, message: str) -> Problem:
    """Return the problem of an exception, at the last line of ``file`` that was executed for it."""
    from lossless.ground.basics.errors import Problem
    from lossless.ground.basics.foreign_text import on_one_line

    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return Problem(file, line, None, on_one_line(message))
