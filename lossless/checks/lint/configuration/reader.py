"""The keys of a configuration, their kinds of values, and the reader of valid settings and located mistakes.

Valid settings apply even if other settings in the file are invalid.

The keys, in ``lossless.toml`` or ``[tool.lossless]``, are declared once, for the reader and the JSON Schema. A kind of
value has the accepted values, the message for anything else, and its JSON Schema.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.host_counters.traffic_tests import PASS_MARKS
from lossless.checks.rules.registry import known_rules
from lossless.checks.rules.selectors import EVERY, RuleChoice, codes_of, families, unknown
from lossless.ground.basics.errors import InputError, OutsideError, Problem
from lossless.ground.basics.findings import SEVERITIES, Origin
from lossless.ground.basics.limits import GLOB_CHARACTERS
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import key_suggestion, nearest
from lossless.ground.documents.text import read_text
from lossless.ground.documents.toml_document import load_toml
from lossless.model.fabric.qos import DSCPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lossless.ground.basics.findings import Path, Severity
    from lossless.ground.documents.text import Document


_TABLE: Path = ("tool", "lossless")
"""Where a ``pyproject.toml`` has the configuration."""


class SuppressionEntry(NamedTuple):
    """Accepted findings: of the named rules, in the named files and objects; where none are named, in all."""

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    files: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    until: str = ""


class PortsEntry(NamedTuple):
    """Ports of switches that carry RDMA, or do not; without ``names`` all ports, without ``files`` all switches."""

    names: tuple[str, ...]
    files: tuple[str, ...]
    rdma: bool


class Configuration(NamedTuple):
    """The settings of one configuration file; ``folder`` is its absolute folder.

    ``document`` is None if the file is empty or was not read as TOML, ``baseline`` the path of the baseline, None
    without one.
    """

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
    pass_marks: Mapping[str, float] = {}
    rules_url: str = ""


@lru_cache(maxsize=16)
def has_table(text: str) -> bool:
    """Return whether a ``pyproject.toml`` has the table ``tool.lossless``, even if its syntax is wrong elsewhere.

    The last texts are kept: an editor's server and a pipeline of many runs in one process ask again for each run.
    """
    try:
        tools = load_toml(text, "pyproject.toml").data.get("tool")
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
    """The reader of a configuration file's valid settings, and of a problem for each invalid one."""

    def __init__(self, document: Document, base: Path) -> None:
        self._document = document
        self._base = base
        self._problems: list[Problem] = []

    def read(self, folder: str) -> Configuration:
        """Return the configuration with the valid settings, and the problems of the others."""
        data: Any = self._document.data
        for key in self._base:
            data = data.get(key, {}) if isinstance(data, dict) else data
        if not isinstance(data, dict):
            self._note((), "value", "expected a table, as in [tool.lossless]")
            data = {}
        top = self._members(data, (), TOP, beside=("severity", "suppress", "fabric", "ports", "bandwidth"))
        severities = self._severities(data.get("severity", {}))
        entries = tuple(self._entries(data.get("suppress", [])))
        fabrics = tuple(self._fabrics(data.get("fabric", [])))
        ports = tuple(self._ports(data.get("ports", [])))
        marks = self._pass_marks(data.get("bandwidth", {}))
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
            marks,
            top.get("rules-url", ""),
        )

    def _members(
        self,
        data: Mapping[str, Any],
        path: Path,
        keys: Mapping[str, ConfigurationKey],
        beside: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """Return the valid values of a table by key, and note the others; a list with an invalid member stays."""
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
                valid[name] = self._beside((*path, name), value) if keys[name].kind is FILE else value
        for name, key in keys.items():
            if key.required and name not in data:
                self._note(
                    path, "key", f"{name} is missing: {key.description[0].lower()}{key.description[1:]}"
                )
        return valid

    def _beside(self, path: Path, stated: str) -> str | None:
        """Return the path of a file that a key names; None, and a problem, if a configuration may not name it."""
        from lossless.ground.documents.folder import StatedPath

        try:
            return StatedPath(stated).beside(os.path.abspath(self._document.file))
        except OutsideError as error:
            self._note(path, "value", f"{path[-1]}: {error}")
            return None

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
        """Yield the file patterns of each fabric, in the order of the file."""
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

    def _pass_marks(self, data: object) -> dict[str, float]:
        if isinstance(data, dict):
            return self._members(data, ("bandwidth",), BANDWIDTH)
        self._note(("bandwidth",), "value", "expected a table, as in [bandwidth] with collective = 0.85")
        return {}

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


if TYPE_CHECKING:
    Faults = Iterator[tuple[Path, str]]
    """The errors of a value: the path below the value, and the message."""

_DATE = re.compile(r"[0-9]{4}-[0-9][0-9]-[0-9][0-9]")
CODE_IN_ADDRESS = "{code}"
RULE_ADDRESS_EXAMPLE = f"https://docs.example.net/rules/{CODE_IN_ADDRESS}/"
# The characters of RFC 3986, section 2, but for the brackets of an IPv6 address; one place for the code.
_ADDRESS_PART = r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]"
_RULE_ADDRESS = re.compile(rf"https?://{_ADDRESS_PART}+\{{code\}}{_ADDRESS_PART}*")


class ValueKind(NamedTuple):
    """A kind of value. ``faults`` yields the errors of a value, ``schema`` is its JSON Schema for editors."""

    faults: Callable[[Any], Faults]
    schema: Callable[[], dict[str, Any]]


def iso_date(value: object) -> str | None:
    """Return a date as 2026-12-31, from a date of TOML or a text of that form; None for another value."""
    from datetime import date, datetime

    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if not (isinstance(value, str) and _DATE.fullmatch(value)):
        return None
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        return None


def texts(value: object) -> tuple[str, ...]:
    """Return a text, or the texts in a list, as a tuple; values of other types are left out."""
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str))


def one_of(words: Sequence[str]) -> ValueKind:
    """Return the kind of a value that is one of the given words."""

    def faults(value: object) -> Faults:
        if value not in words:
            yield (), f"{shown(value)} is none of {', '.join(words)}{_near(value, words)}"

    return ValueKind(faults, lambda: {"enum": list(words)})


def shown(value: object) -> str:
    """Return a value as a message shows it: true and false as in TOML, of a long one the first 37 characters."""
    text = repr(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _near(value: object, words: Sequence[str]) -> str:
    near = nearest(value, words) if isinstance(value, str) else None
    return f"; did you mean {near}?" if near else ""


def _text(value: object) -> Faults:
    if not isinstance(value, str) or not value.strip():
        yield (), f"{shown(value)} is no text; expected one that says something, in quotes"


def _pattern(value: object) -> Faults:
    yield from _text(value)
    if isinstance(value, str) and len(value) > GLOB_CHARACTERS:
        yield (), f"a pattern of {len(value):,} characters; the most is {GLOB_CHARACTERS:,}"


def _patterns(value: object) -> Faults:
    if not isinstance(value, list):
        yield from _pattern(value)
        return
    if not value:
        yield (), "an empty list stands for nothing; leave the key out"
    for number, item in enumerate(value):
        for path, message in _pattern(item):
            yield (number, *path), message


def _selectors(value: object) -> Faults:
    if not isinstance(value, list) or not value:
        yield (), f'{shown(value)} is no list of rules; expected one such as ["WD001", "ECN"]'
        return
    for number, item in enumerate(value):
        if not isinstance(item, str):
            yield (number,), f"{shown(item)} is no rule; expected a code, a name or a family, in quotes"
        elif not codes_of(item):
            yield (number,), unknown(item)


def _date(value: object) -> Faults:
    if iso_date(value) is None:
        yield (), f"{shown(value)} is no date; expected one such as 2026-12-31"


def _rule_address(value: object) -> Faults:
    if not isinstance(value, str) or not _RULE_ADDRESS.fullmatch(value):
        yield (), f"{shown(value)} is no address of rules; expected one such as {RULE_ADDRESS_EXAMPLE}"


def _dscps(value: object) -> Faults:
    if not isinstance(value, list) or not value:
        yield (), f"{shown(value)} is no list of DSCPs; expected one such as [26]"
        return
    for number, item in enumerate(value):
        if isinstance(item, bool) or not isinstance(item, int) or item not in DSCPS:
            yield (number,), f"{shown(item)} is not a DSCP; expected a number from 0 to 63"


def _share(value: object) -> Faults:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        yield (), f"{shown(value)} is no share; expected a number above 0, up to 1"


def _boolean(value: object) -> Faults:
    if not isinstance(value, bool):
        yield (), f"{shown(value)} is neither true nor false"


def _selector_schema() -> dict[str, Any]:
    rules = known_rules()
    words = [*rules, *(row.name for row in rules.values()), *families(), EVERY]
    prefix = f"^({'|'.join(families())})[0-9]*$"
    item = {"anyOf": [{"enum": words}, {"type": "string", "pattern": prefix}]}
    return {"type": "array", "items": item, "minItems": 1}


def _patterns_schema() -> dict[str, Any]:
    text = _text_schema() | {"maxLength": GLOB_CHARACTERS}
    return {"anyOf": [text, {"type": "array", "items": text, "minItems": 1}]}


def _text_schema() -> dict[str, Any]:
    return {"type": "string", "pattern": r"\S"}


def _dscps_schema() -> dict[str, Any]:
    item = {"type": "integer", "minimum": DSCPS[0], "maximum": DSCPS[-1]}
    return {"type": "array", "items": item, "minItems": 1}


SHARE = ValueKind(_share, lambda: {"type": "number", "exclusiveMinimum": 0, "maximum": 1})
BOOLEAN = ValueKind(_boolean, lambda: {"type": "boolean"})
TEXT = ValueKind(_text, _text_schema)
FILE = ValueKind(_text, _text_schema)
"""The kind of keys that name a file; the reader makes their value a path that can be opened."""
PATTERNS = ValueKind(_patterns, _patterns_schema)
SELECTORS = ValueKind(_selectors, _selector_schema)
NAMED_DSCPS = ValueKind(_dscps, _dscps_schema)
RULE_ADDRESS = ValueKind(_rule_address, lambda: {"type": "string", "pattern": f"^{_RULE_ADDRESS.pattern}$"})
DATE = ValueKind(_date, lambda: {"type": "string", "format": "date", "pattern": f"^{_DATE.pattern}$"})


class ConfigurationKey(NamedTuple):
    """One key of the configuration: the kind of its value, and its purpose as text."""

    kind: ValueKind
    description: str
    required: bool = False


FAIL_ON = (*SEVERITIES, "never")

TOP: dict[str, ConfigurationKey] = {
    "select": ConfigurationKey(
        SELECTORS, "The rules to run: codes (WD001), names (watchdog-missing), families (WD) or ALL."
    ),
    "ignore": ConfigurationKey(
        SELECTORS, "Rules not to run; where both lists name a rule, the more precise word counts."
    ),
    "fail-on": ConfigurationKey(
        one_of(FAIL_ON), "Least severity of a finding that makes the exit code 1; error if not said."
    ),
    "baseline": ConfigurationKey(
        FILE,
        "File of findings that are known already, as `lossless baseline` writes it; from this folder, and in this "
        "repository.",
    ),
    "rdma-dscp": ConfigurationKey(
        NAMED_DSCPS,
        "The DSCPs that must be lossless on devices without an intent, as [26]; --rdma-dscp takes its place.",
    ),
    "rules-url": ConfigurationKey(
        RULE_ADDRESS,
        "The address of a rule's page, with {code} for its code; reports link to it, and to nothing if not said.",
    ),
    "exclude": ConfigurationKey(
        PATTERNS,
        "Files or folders that are not searched for files to check, from this folder, as in .gitignore: `fixtures`, "
        "`lab/*.json`. A path on the command line is checked nevertheless.",
    ),
    "force-exclude": ConfigurationKey(
        BOOLEAN, "Whether `exclude` holds for paths on the command line too; false if not said."
    ),
}
"""The keys at the top of a configuration, without those of tables, such as ``severity`` and ``suppress``."""

SEVERITY = ConfigurationKey(one_of(SEVERITIES), "The severity of a rule or family, in place of its own.")

SUPPRESS: dict[str, ConfigurationKey] = {
    "rules": ConfigurationKey(SELECTORS, "The rules whose findings are kept back.", required=True),
    "reason": ConfigurationKey(
        TEXT, "Why these findings are accepted, for whoever reads this later.", required=True
    ),
    "path": ConfigurationKey(
        PATTERNS,
        "Files or folders, from this folder, as in .gitignore: `legacy`, `configs/lab-*/*.json`. All if not said.",
    ),
    "object": ConfigurationKey(
        PATTERNS, "Objects, with everything below them: `PORT|Ethernet*`, `classes.rdma`. All if not said."
    ),
    "until": ConfigurationKey(DATE, "The last day on which it holds, as 2026-12-31; no end if not said."),
}


FABRIC: dict[str, ConfigurationKey] = {
    "paths": ConfigurationKey(
        PATTERNS,
        "Files or folders of the switches of one fabric, from this folder, as in .gitignore.",
        required=True,
    ),
}


PORTS: dict[str, ConfigurationKey] = {
    "names": ConfigurationKey(
        PATTERNS, "Ports, with or without their switch: `Ethernet48`, `leaf*:Ethernet1*`. All if not said."
    ),
    "paths": ConfigurationKey(
        PATTERNS, "Files or folders of switches, from this folder, as in .gitignore. All if not said."
    ),
    "rdma": ConfigurationKey(
        BOOLEAN,
        "Whether these ports carry RDMA: rules of lossless classes leave those out that do not, and count them. Where "
        "several tables name a port, the last one counts.",
        required=True,
    ),
}


BANDWIDTH: dict[str, ConfigurationKey] = {
    key: ConfigurationKey(
        SHARE, f"{mark.meaning[0].upper()}{mark.meaning[1:]}; {mark.share:g} if not said ({mark.source})."
    )
    for key, mark in PASS_MARKS.items()
}
"""The pass marks of traffic tests that ``lossless verify`` reads."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``lossless.toml``."""
    suppression = _object(SUPPRESS, "Findings that are accepted, where and why.")
    severity: dict[str, Any] = {
        "type": "object",
        "description": "Severities by rule: codes, names or families; the most precise word counts.",
        "additionalProperties": {**SEVERITY.kind.schema(), "description": SEVERITY.description},
    }
    whole = _object(TOP, "Configuration of lossless for the files in and below its folder.")
    fabric = _object(FABRIC, "Switches of one fabric: those of one role are compared within it alone.")
    ports = _object(PORTS, "Ports that carry RDMA, or do not.")
    whole["properties"] |= {
        "severity": severity,
        "suppress": {"type": "array", "items": suppression},
        "fabric": {"type": "array", "items": fabric},
        "ports": {"type": "array", "items": ports},
        "bandwidth": _object(BANDWIDTH, "Pass marks of traffic tests among captures."),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lossless.toml",
        **whole,
    }


def _object(keys: dict[str, ConfigurationKey], description: str) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "description": description,
        "properties": {name: {**k.kind.schema(), "description": k.description} for name, k in keys.items()},
        "additionalProperties": False,
    }
    required = [name for name, key in keys.items() if key.required]
    return schema | ({"required": required} if required else {})
