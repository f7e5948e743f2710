"""Documentation and metadata of rules, read from the docstrings of their modules when they are needed; plugins.

A docstring has the summary, lines ``Severity:`` and ``Subject:``, a line ``Confidence:`` unless it is ``high``, a line
``Fix:`` unless it is ``no``, a line ``Needs:`` if there are any, and then the sections.

A plugin is an installed package with a module for each rule, as those of :mod:`lossless.checks.rules` are. The person
who runs names it; nothing in a checkout does.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Literal, cast, get_args

from lossless.checks.rules.registry import RULES, Subject, added, cached_with_plugins, known_rules, module_of
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType
    from typing import TypedDict

    from lossless.checks.rules.rule_rows import RuleRow
    from lossless.ground.basics.findings import Confidence, Fixable, Severity

_SOURCES = r"(?ms)^## Sources\n(.*?)(?=^## |\Z)"


if TYPE_CHECKING:

    class RuleData(TypedDict):
        """The metadata of one rule."""

        code: str
        name: str
        severity: Severity
        confidence: Confidence
        subjects: list[Subject]
        fixable: Fixable
        summary: str
        sources: list[str]


class Rule(NamedTuple):
    """The metadata of one rule; ``documentation`` has the sections of its docstring, from the first heading on."""

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    fixable: Fixable
    summary: str
    subjects: tuple[Subject, ...]
    documentation: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The items of the section "Sources"."""
        section = re.search(_SOURCES, self.documentation)
        items = re.split(r"^- ", section[1], flags=re.MULTILINE)[1:] if section else []
        return tuple(" ".join(item.split()) for item in items)

    @property
    def text(self) -> str:
        """The summary and the sections."""
        return f"{self.summary}.\n\n{self.documentation}"

    @property
    def page(self) -> str:
        """The text of the rule below a heading with its code, name and severity, as ``lossless rule`` prints it."""
        return f"# {self.code} {self.name} ({self.severity})\n\n{self.text}"

    def to_data(self) -> RuleData:
        """Return the metadata as plain data."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "confidence": self.confidence,
            "subjects": list(self.subjects),
            "fixable": self.fixable,
            "summary": self.summary,
            "sources": list(self.sources),
        }


@cached_with_plugins
def rule_of(code: str) -> Rule:
    """Return the metadata of a rule by its code, from the docstring of its module."""
    row = known_rules()[code]
    head, _, sections = _docstring(import_module(module_of(code))).partition("\n## ")
    summary, _, rest = head.partition("\n")
    fields = dict(line.split(": ", 1) for line in rest.split("\n") if line)
    return Rule(
        code,
        row.name,
        cast("Severity", fields["Severity"]),
        cast("Confidence", fields.get("Confidence", "high")),
        cast('Literal["no", "safe", "unsafe"]', fields.get("Fix", "no")),
        summary.rstrip("."),
        row.subjects,
        f"## {sections.strip()}",
    )


def _docstring(module: ModuleType) -> str:
    """Return the docstring of a module, from its file where Python runs without docstrings (-OO)."""
    if module.__doc__ is not None:
        return module.__doc__
    import ast

    assert module.__file__ is not None
    with open(module.__file__, encoding="utf-8") as file:  # noqa: PTH123 pathlib is slow to import
        return ast.get_docstring(ast.parse(file.read()), clean=False) or ""


_RULE_MODULE = re.compile(r"([a-z]++)([0-9]{3})_[a-z0-9_]++")
_NEARLY = re.compile(r"[a-zA-Z]++[0-9]++_\w*+")
"""The name of a module that is meant as a rule; other modules of a plugin are its own affair."""
_SHORTEST_PREFIX = 4
"""Letters of a plugin's codes at least: families of this package have two or three, in later versions too."""
_NOT_FOR_PLUGINS = ("suppressions", "cabling", "runs")
"""Subjects that are made only where a rule of this package needs them."""


@contextmanager
def using_plugins(plugins: Iterable[str]) -> Iterator[None]:
    """Add the rules of installed plugins, by the names of their packages, within a block.

    Functions of the API then run, select and explain them like other rules. Packages are imported, which runs their
    code; the current folder is not searched for them.

    Raises:
        InputError: a package is not installed or cannot be imported, or one of its rules is not as described in the
            guide, or has the code or name of another rule.
    """
    before = added.get()
    add_plugins(plugins)
    try:
        yield
    finally:
        added.set(before)


def add_plugins(plugins: Iterable[str]) -> None:
    """Add the rules of plugins for the rest of this context, as :func:`using_plugins` does within a block."""
    for name in dict.fromkeys(plugins):
        rows = _rows_of(_imported(name))
        present = added.get()
        if not set(rows) <= {*present}:
            _require_apart(name, rows)
            added.set((*present, *rows))


def _imported(name: str) -> ModuleType:
    """Return a module by its name, from any place that Python searches but the current folder.

    Raises:
        InputError: there is no such module, or it cannot be imported.
    """
    import os
    import sys

    if not all(part.isidentifier() for part in name.split(".")):
        raise _refused(name, f"{name!r} is not the name of a Python package")
    path, here = sys.path, os.path.realpath(os.curdir)
    # A checkout shall not pass its own folder off as the plugin: python -m puts it first.
    sys.path = [folder for folder in path if os.path.realpath(folder) != here]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _refused(name, f"the plugin cannot be imported: {error}") from error
        raise _refused(
            name,
            f"no such package beside lossless in {sys.prefix}; a plugin has to be installed there "
            "(the current folder is not searched)",
        ) from error
    except Exception as error:
        said = f"the plugin cannot be imported: {type(error).__name__}: {error}"
        raise _refused(name, said) from error
    finally:
        sys.path = path


def _rows_of(package: ModuleType) -> tuple[RuleRow, ...]:
    """Return the rows of the rules in a package, by code.

    Raises:
        InputError: the package has no rule, or a module of one is wrong.
    """
    from pkgutil import iter_modules

    name = package.__name__
    names = [
        found.name for found in iter_modules(getattr(package, "__path__", ())) if _NEARLY.match(found.name)
    ]
    if not names:
        raise _refused(
            package.__file__ or name, "no rule: a plugin is a package with modules like acme001_name"
        )
    rows = tuple(_row_of(_imported(f"{name}.{each}")) for each in sorted(names))
    prefixes = sorted({row.code[:-3] for row in rows})
    if len(prefixes) > 1:
        raise _refused(
            package.__file__ or name, f"codes of a plugin have one prefix, not {', '.join(prefixes)}"
        )
    return rows


def _row_of(module: ModuleType) -> RuleRow:
    """Return the row of one rule of a plugin.

    Raises:
        InputError: the name of the module, its docstring or its functions are not those of a rule.
    """
    from lossless.checks.rules.rule_rows import FUNCTIONS, RuleRow
    from lossless.ground.basics.findings import Confidence, Fixable, Severity

    file, name = module.__file__ or module.__name__, module.__name__.rpartition(".")[2]
    match = _RULE_MODULE.fullmatch(name)
    if match is None:
        raise _refused(
            file, f"the module of a rule is called like acme001_name, with three digits, not {name}"
        )
    _require_prefix(file, match[1].upper())
    head, _, sections = _docstring(module).partition("\n## ")
    summary, *lines = head.split("\n")
    fields = dict(line.partition(": ")[::2] for line in lines if line)
    words: dict[str, tuple[str, ...]] = {
        "Severity": get_args(Severity),
        "Confidence": get_args(Confidence),
        "Fix": get_args(Fixable),
        "Subject": tuple(word for word in get_args(Subject) if word not in _NOT_FOR_PLUGINS),
    }
    subjects = tuple(cast("Subject", word) for word in fields.get("Subject", "").split(", "))
    for key, allowed in words.items():
        given = subjects if key == "Subject" else (fields.get(key, allowed[0] if key in _OPTIONAL else ""),)
        wrong = next((word for word in given if word not in allowed), None)
        if wrong is not None:
            raise _refused(file, f"{key}: {wrong or 'missing'}; expected {', '.join(allowed)}")
    unknown = next((key for key in fields if key not in words and key != "Needs"), None)
    if not summary or not sections or unknown is not None:
        said = "a summary, lines of metadata and sections" if unknown is None else f"no line {unknown!r}"
        raise _refused(file, f"the docstring of a rule has {said} (docs/guides/plugins.md)")
    for subject in subjects:
        function = FUNCTIONS.get(subject, "check")
        if not callable(getattr(module, function, None)):
            raise _refused(file, f"no function {function}, which is given the subject {subject}")
    return RuleRow(f"{match[1]}{match[2]}".upper(), module.__name__, subjects, fields.get("Needs", ""))


_OPTIONAL = ("Confidence", "Fix")


def _require_prefix(file: str, prefix: str) -> None:
    """Refuse the prefix of a plugin's codes that is one of this package, or could be in a later version.

    Raises:
        InputError: it is.
    """
    from lossless.checks.rules.precedence import RESTATES

    if prefix in {code[:-3] for code in RULES}:
        raise _refused(file, f"{prefix} is a family of rules of lossless; a plugin has a prefix of its own")
    # What restates a finding, and what accepts one, is told by the first letters of its code.
    if len(prefix) < _SHORTEST_PREFIX or prefix.startswith((*RESTATES, "SUP")):
        raise _refused(
            file,
            f"the prefix {prefix} is kept for lossless; a plugin has one of {_SHORTEST_PREFIX} letters or more",
        )


def _require_apart(name: str, rows: Iterable[RuleRow]) -> None:
    """Refuse rules of a plugin that have the prefix or name of other rules.

    Raises:
        InputError: one has.
    """
    for row in rows:
        for other in known_rules().values():
            if row.code[:-3] == other.code[:-3] or row.name == other.name:
                said = f"{row.code} {row.name} of {name} clashes with {other.code} {other.name}"
                raise _refused(row.module, f"{said}; prefixes and names of rules are unique")


def _refused(file: str, message: str) -> InputError:
    return InputError([Problem(file, None, None, message)])
