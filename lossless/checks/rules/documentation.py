"""Documentation and metadata of rules, read from the docstrings of their modules when they are needed.

A docstring has the summary, lines ``Severity:`` and ``Subject:``, a line ``Confidence:`` unless it is ``high``, a line
``Fix:`` unless it is ``no``, a line ``Needs:`` if there are any, and then the sections.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, cast

from lossless.checks.rules.registry import RULES, Subject, module_of
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from types import ModuleType
    from typing import TypedDict

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


@cache
def rule_of(code: str) -> Rule:
    """Return the metadata of a rule by its code, from the docstring of its module."""
    row = RULES[code]
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
