"""Refusals of SONiC's YANG models in a file, as violations: rows that make the same mistake are one violation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lossless.checks.rules.base import MissingInput, Results, Violation
from lossless.formats.sonic.validate.checks import POLL
from lossless.formats.sonic.validate.schema import nearest_name
from lossless.ground.basics.findings import Origin, RelatedPlace, grouped
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lossless.checks.rules.subjects import Device
    from lossless.formats.sonic.validate.checks import Kind
    from lossless.formats.sonic.validate.conformity import SchemaViolation, ValidationResult
    from lossless.ground.basics.findings import Confidence, Severity

REFUSED = "config reload FILE, config apply-patch and gNMI refuse the whole file; a plain boot does not check"
"""The consequence of every refusal (sonic-utilities config/main.py, config_file_yang_validation)."""
_PORTS = "PORT"
_OF_TABLE = ("has no ", "is unknown ")
"""Parts of messages about the table itself, which therefore need its name."""


_UNKNOWN = ("has no field", "has no row")
_ELSEWHERE = "in part of a configuration such rows may lie in another file"


class RefusalCause(NamedTuple):
    """The problems of one mistake in a file, in the order of their places.

    ``who`` replaces the text on the programs that refuse these rows.
    """

    message: str
    problems: tuple[SchemaViolation, ...]
    related: tuple[RelatedPlace, ...] = ()
    origin: Origin | None = None
    help: str = ""
    severity: Severity | None = None
    who: str = ""


def refusals(device: Device, kind: Kind) -> Results:
    """Yield a violation for each mistake of one kind that SONiC's YANG models find in the file of a device.

    References of a file with one table to rows that may be in another file are missing inputs.
    """
    validation = device.conformity
    if not validation.problems:
        return
    problems = sorted((p for p in validation.problems if p.flaw.kind == kind), key=_place)
    if kind == "missing" and not device.tables.makes_ports:
        problems = [problem for problem in problems if problem.table != "PORT"]
    if kind == "reference" and validation.context.fragment and len(device.tables.data) == 1:
        for problem in problems:
            if _may_lie_elsewhere(device, problem):
                yield MissingInput(
                    f"{_target(problem)}, which rows name, is not in this part of a configuration"
                )
        problems = [problem for problem in problems if not _may_lie_elsewhere(device, problem)]
    causes = _references(device, problems) if kind == "reference" else _by_message(device, problems)
    yield from (_refusals(device, validation, cause) for cause in causes)


def _may_lie_elsewhere(device: Device, problem: SchemaViolation) -> bool:
    return _target(problem) not in device.tables.data and not _is_in_brackets(problem)


def _is_in_brackets(problem: SchemaViolation) -> bool:
    """Return whether a row is named in brackets, the form of before 202111, which no table accepts."""
    return problem.flaw.value.startswith("[")


def _place(problem: SchemaViolation) -> tuple[list[tuple[int, str]], str]:
    """Return a sort key of problems with numbers in numeric order: Ethernet4 before Ethernet12."""
    parts = re.findall(r"[0-9]+|[^0-9]+", "|".join(problem.path))
    return [(int(p[:20]) if p.isdecimal() and p.isascii() else -1, p) for p in parts], problem.flaw.message


def _by_message(device: Device, problems: Iterable[SchemaViolation]) -> Iterator[RefusalCause]:
    groups = grouped(((problem.table, _mistake(problem)), problem) for problem in problems)
    for (table, message), same in groups.items():
        message = _unknown_names(message, same)
        cause = RefusalCause(f"{table} {message}" if message.startswith(_OF_TABLE) else message, tuple(same))
        yield _at_poll(device, cause) if POLL in message and table == "PFC_WD" else cause


def _mistake(problem: SchemaViolation) -> str:
    """Return the key of a mistake: one for all unknown names of a table without a near name, its message for others."""
    flaw = problem.flaw
    of_table = next((words for words in _UNKNOWN if flaw.message == f"{words} {flaw.value}"), None)
    return of_table if of_table and not flaw.help.startswith("did you mean") else flaw.message


def _unknown_names(mistake: str, problems: list[SchemaViolation]) -> str:
    """Return the message of a mistake, with the names that a table does not have where it is about those."""
    if mistake not in _UNKNOWN:
        return mistake
    names = [*dict.fromkeys(problem.flaw.value for problem in problems)]
    return f"{mistake}{'s' if len(names) > 1 else ''} {listed(names)}"


def _at_poll(device: Device, cause: RefusalCause) -> RefusalCause:
    """Return timers below the poll interval as one cause: the interval itself, where all rows are below it."""
    rows = device.tables.data["PFC_WD"]
    poll = Origin(device.tables.file, ("PFC_WD", "GLOBAL", POLL))
    if isinstance(rows, dict) and len(cause.problems) == len(rows.keys() - {"GLOBAL"}):
        return cause._replace(origin=poll)
    return cause._replace(related=(RelatedPlace(poll, "the poll interval"),))


def _references(device: Device, problems: Iterable[SchemaViolation]) -> Iterator[RefusalCause]:
    for same in grouped((_reference_cause(device, problem), problem) for problem in problems).values():
        target = _target(same[0])
        if _is_in_brackets(same[0]):
            yield _in_brackets(tuple(same))
        elif target not in device.tables.data:
            yield _without_table(device, target, tuple(same))
        else:
            yield _without_rows(device, target, tuple(same))


def _target(problem: SchemaViolation) -> str:
    return problem.flaw.reference[0] if problem.flaw.reference else ""


def _reference_cause(device: Device, problem: SchemaViolation) -> tuple[object, ...]:
    target, value = _target(problem), problem.flaw.value
    if _is_in_brackets(problem):
        return ("[",)
    if target not in device.tables.data:
        return (target,)
    if target == _PORTS:
        return (target, problem.table, problem.flaw.message)
    return (target, problem.table, problem.flaw.message, value)


def _named(problems: tuple[SchemaViolation, ...]) -> list[str]:
    return list(dict.fromkeys(problem.flaw.value for problem in problems))


def _without_table(device: Device, target: str, problems: tuple[SchemaViolation, ...]) -> RefusalCause:
    tables = ", ".join(sorted({problem.table for problem in problems}))
    count = len(_named(problems))
    rows = f"{count} row" + ("s" if count > 1 else "")
    return RefusalCause(
        f"{tables}: {rows} of {target} {'are' if count > 1 else 'is'} named, and the file has no table {target}",
        problems,
        help="nothing to fix in a partial file; check the complete one, which render --base writes"
        if device.conformity.context.fragment
        else f"add {target}, or remove these rows",
        severity="info" if device.conformity.context.fragment else None,
        who=_ELSEWHERE if device.conformity.context.fragment else "",
    )


def _in_brackets(problems: tuple[SchemaViolation, ...]) -> RefusalCause:
    """Return one cause for all references in brackets; CFG002 reports their effect on the device."""
    first = problems[0]
    plain = re.split(r"[|:]", first.flaw.value.strip("[]"), maxsplit=1)[-1]
    fields = ", ".join(sorted({problem.flaw.message or "key" for problem in problems}))
    return RefusalCause(
        f"{fields}: rows are named in brackets, the form of before 202111",
        problems,
        help=f"write {plain!r} instead of {first.flaw.value!r}",
        severity="info",
    )


def _without_rows(device: Device, target: str, problems: tuple[SchemaViolation, ...]) -> RefusalCause:
    names, first = _named(problems), problems[0]
    where = f"{first.flaw.message} names " if first.flaw.message and target != _PORTS else ""
    rows = device.tables.data.get(target)
    near = nearest_name(names[0], rows) if isinstance(rows, dict) and len(names) == 1 else None
    what = f"{names[0]!r}" if len(names) == 1 else f"{len(names)} rows ({listed(names)})"
    return RefusalCause(
        f"{where or f'{first.table} names '}{what} of {target}, and {target} has no such row{'s'[: len(names) > 1]}",
        problems,
        help=f"did you mean {near!r}?" if near else "",
    )


def _refusals(device: Device, validation: ValidationResult, cause: RefusalCause) -> Violation:
    first = cause.problems[0]
    rows = dict.fromkeys("|".join(problem.path[:2]) for problem in cause.problems)
    return Violation(
        origin=cause.origin or Origin(device.tables.file, first.path),
        message=cause.message,
        note="; ".join(filter(None, (first.flaw.note, _who_refuses(cause)))),
        help=cause.help or first.flaw.help,
        elements=tuple(rows),
        data={
            "table": first.table,
            "release": validation.context.release,
            "values": list(_named(cause.problems)[:8]),
        },
        related=cause.related,
        severity=cause.severity if first.flaw.sure else "info",
        confidence=_confidence(validation),
    )


def _who_refuses(cause: RefusalCause) -> str:
    if cause.who:
        return cause.who
    if cause.problems[0].flaw.kind == "release":
        return REFUSED if cause.problems[0].flaw.sure else "the file does not say the release of the device"
    return f"{REFUSED}; checked by the models of master, from which no older release is known to differ here"


def _confidence(validation: ValidationResult) -> Confidence | None:
    """Return medium for a known release other than master, else None: the facts are those of the models on master."""
    return "medium" if validation.context.release not in (None, "master") else None
