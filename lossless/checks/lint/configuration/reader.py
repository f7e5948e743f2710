"""Read a configuration: its valid settings, and each mistake with its location.

Valid settings apply even if other settings in the file are invalid.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from lossless.checks.lint.configuration.keys import FABRIC, PORTS, SEVERITY, SUPPRESS, TOP
from lossless.checks.lint.configuration.values import iso_date, texts
from lossless.checks.rules.selectors import RuleChoice, codes_of, unknown
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.findings import Origin
from lossless.ground.basics.nearest import key_suggestion
from lossless.ground.basics.records import NamedTuple
from lossless.ground.documents.text import read_text
from lossless.ground.documents.toml_document import load_toml
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.checks.lint.configuration.keys import ConfigurationKey
    from lossless.ground.basics.findings import Path, Severity
    from lossless.ground.documents.document import Document

_TABLE: Path = ("tool", "lossless")
"""Where a ``pyproject.toml`` has the configuration."""


class SuppressionEntry(NamedTuple):
    """Findings that are accepted: of some rules, in some files and objects, none named: all."""

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    files: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    until: str = ""


class PortsEntry(NamedTuple):
    """Ports of some switches that carry RDMA, or do not; no names: all ports, no files: all switches."""

    names: tuple[str, ...]
    files: tuple[str, ...]
    rdma: bool


class Configuration(NamedTuple):
    """The settings of one file; ``folder`` is its absolute folder, ``document`` None if it cannot be read."""

    folder: str
    document: Document | None
    problems: tuple[Problem, ...] = ()
    choice: RuleChoice = RuleChoice()
    severities: Mapping[str, Severity] = {}
    fail_on: str | None = None
    baseline: str | None = None
    entries: tuple[SuppressionEntry, ...] = ()
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    fabrics: tuple[tuple[str, ...], ...] = ()
    ports: tuple[PortsEntry, ...] = ()
    rdma_dscps: tuple[int, ...] = ()


def has_table(text: str, file: str) -> bool:
    """Return whether the text of a ``pyproject.toml`` has our table, even if its syntax is wrong elsewhere."""
    try:
        tools = load_toml(text, file).data.get("tool")
    except InputError:
        return re.search(r"^[ \t]*\[+\s*tool\s*\.\s*lossless\b", text, re.MULTILINE) is not None
    return isinstance(tools, dict) and "lossless" in tools


def read_configuration(file: str) -> Configuration:
    """Return the settings of a ``lossless.toml`` or ``pyproject.toml``, with its problems."""
    folder = os.path.dirname(os.path.abspath(file))
    try:
        document = load_toml(read_text(file), file)
    except InputError as error:
        if [problem.message for problem in error.problems] in (["the file is empty"], ["the file is blank"]):
            return Configuration(folder, None)
        note = "; the files below are checked as if it were not there"
        return Configuration(
            folder, None, tuple(p._replace(message=p.message + note) for p in error.problems)
        )
    return _ConfigurationReader(document, _TABLE if os.path.basename(file) == "pyproject.toml" else ()).read(
        folder
    )


class _ConfigurationReader:
    """Collects the valid settings, and a problem for each invalid one."""

    def __init__(self, document: Document, base: Path) -> None:
        self._document = document
        self._base = base
        self._problems: list[Problem] = []

    def read(self, folder: str) -> Configuration:
        """Return every valid setting."""
        data: Any = self._document.data
        for key in self._base:
            data = data.get(key, {}) if isinstance(data, dict) else data
        if not isinstance(data, dict):
            self._note((), "value", "expected a table, as in [tool.lossless]")
            data = {}
        top = self._members(data, (), TOP, beside=("severity", "suppress", "fabric", "ports"))
        severities = self._severities(data.get("severity", {}))
        entries = tuple(self._entries(data.get("suppress", [])))
        fabrics = tuple(self._fabrics(data.get("fabric", [])))
        ports = tuple(self._ports(data.get("ports", [])))
        return Configuration(
            folder,
            self._document,
            tuple(self._problems),
            RuleChoice(self._known(top.get("select")), self._known(top.get("ignore"))),
            severities,
            top.get("fail-on"),
            top.get("baseline"),
            entries,
            texts(top.get("exclude", [])),
            top.get("force-exclude", False),
            fabrics,
            ports,
            self._dscps(top.get("rdma-dscp", [])),
        )

    def _members(
        self,
        data: Mapping[str, Any],
        path: Path,
        keys: Mapping[str, ConfigurationKey],
        beside: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """Return the values of a table whose keys have a meaning; a list of rules stays where one of them has none."""
        valid = {}
        for name, value in data.items():
            if name in beside:
                continue
            if name not in keys:
                hint = key_suggestion(name, (*keys, *beside), data)
                self._note((*path, name), "key", f"no key {name!r}{hint}")
                continue
            faults = list(keys[name].kind.faults(value))
            for below, message in faults:
                self._note((*path, name, *below), "value", f"{name}: {message}")
            if not any(not below for below, _ in faults):
                valid[name] = value
        for name, key in keys.items():
            if key.required and name not in data:
                self._note(
                    path, "key", f"{name} is missing: {key.description[0].lower()}{key.description[1:]}"
                )
        return valid

    def _severities(self, data: object) -> dict[str, Severity]:
        if not isinstance(data, dict):
            self._note(("severity",), "value", 'expected a table, as in [severity] with WD013 = "info"')
            return {}
        severities: dict[str, Severity] = {}
        for selector, severity in data.items():
            path = ("severity", selector)
            faults = [message for _, message in SEVERITY.kind.faults(severity)]
            for message in faults:
                self._note(path, "value", message)
            if not codes_of(selector):
                self._note(path, "key", unknown(selector))
            elif not faults:
                severities[selector] = severity
        return severities

    def _entries(self, data: object) -> Iterator[SuppressionEntry]:
        for number, item in self._tables("suppress", data):
            path = ("suppress", number)
            before = len(self._problems)
            members = self._members(item, path, SUPPRESS)
            rules = self._known(members.get("rules"))
            # Half of an entry could keep back more than was meant; a rule that is unknown only keeps back less.
            if rules and self._only_rules_unknown(before):
                yield SuppressionEntry(
                    Origin(self._document.file, (*self._base, *path), "key"),
                    rules,
                    members["reason"],
                    texts(members.get("path", [])),
                    texts(members.get("object", [])),
                    iso_date(members["until"]) or "" if "until" in members else "",
                )

    def _fabrics(self, data: object) -> Iterator[tuple[str, ...]]:
        """Yield the patterns of each fabric."""
        for number, item in self._tables("fabric", data):
            yield texts(self._members(item, ("fabric", number), FABRIC).get("paths", []))

    def _ports(self, data: object) -> Iterator[PortsEntry]:
        for number, item in self._tables("ports", data):
            before = len(self._problems)
            members = self._members(item, ("ports", number), PORTS)
            # Half of an entry could leave out more than was meant.
            if len(self._problems) == before:
                yield PortsEntry(
                    texts(members.get("names", [])), texts(members.get("paths", [])), members["rdma"]
                )

    def _dscps(self, values: list[object]) -> tuple[int, ...]:
        return tuple(sorted({value for value in values if type(value) is int and value in DSCPS}))

    def _tables(self, name: str, data: object) -> Iterator[tuple[int, dict[str, Any]]]:
        if isinstance(data, list) and all(isinstance(item, dict) for item in data):
            yield from enumerate(data)
        else:
            self._note((name,), "value", f"expected tables, each under [[{name}]]")

    def _only_rules_unknown(self, before: int) -> bool:
        return all(problem.message.startswith("rules: no rule") for problem in self._problems[before:])

    def _known(self, value: object) -> tuple[str, ...]:
        return tuple(selector for selector in texts(value or []) if codes_of(selector))

    def _note(self, path: Path, mark: Any, message: str) -> None:
        span = self._document.locate((*self._base, *path), mark)
        self._problems.append(Problem(self._document.file, span.line, span.column, message))
