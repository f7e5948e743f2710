"""Reference: schemas of intents, settings and JSON output, keys of intents, rules, formats and hardware profiles.

A key is described by its path: that of a value in an intent, with an index for an item of a list. Without a known
``transport``, keys are those of any intent. A rule has its requirement and its reason, and words that select it; a
format has the evidence for reading and writing it, and a profile the sources of its facts.

For editors it lists the files of folders that lint reads, and reads a text in place of its file.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.checks.rules.documentation import Rule, add_plugins as add_plugins, rule_of
from lossless.checks.rules.registry import code_of, known_rules
from lossless.checks.rules.selectors import SEE_ALL, codes_of, families, unknown
from lossless.formats.inputs.collect import Candidate, Inputs, read
from lossless.formats.inputs.patches import is_ours, read_text
from lossless.formats.inputs.switches import SUFFIXES as _OF_SWITCHES, Format, supported_formats
from lossless.ground.basics.errors import LosslessError, ProfileError
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import nearest, suggestion
from lossless.interfaces.api.lint import found_at, without_excluded
from lossless.model.hardware.devices import NicProfile, ShippedControl
from lossless.model.hardware.infiniband import (
    HcaProfile,
    InfinibandSwitchProfile,
    hca_names,
    infiniband_switch_names,
    load_hca,
    load_infiniband_switch,
)
from lossless.model.hardware.load import load_nic, load_switch, nic_names, switch_names
from lossless.model.hardware.model import Hwsku, OfferedChoices, PacketReorder, PortNaming, SwitchProfile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from typing import Annotated, Literal, NotRequired, TypedDict

    from lossless.analysis.buffers.headroom.comparison import HeadroomKind
    from lossless.analysis.opensm.check import OpensmResult
    from lossless.analysis.storm.blast_radius import BlastRadiusData
    from lossless.analysis.topology.recabling import Pins
    from lossless.analysis.topology.summary import FabricSummary
    from lossless.checks.plan.acceptance import AcceptancePlan, AcceptanceResults
    from lossless.checks.plan.plan import PlanData
    from lossless.checks.plan.search import DeviceProgress
    from lossless.checks.rules.documentation import RuleData
    from lossless.formats.intent.key_docs import Schema
    from lossless.ground.basics.findings import Path
    from lossless.interfaces.api.lint import Options
    from lossless.output.report.changes_text import CheckedTreeData, DeviceDriftData, FabricDriftData
    from lossless.output.report.lint.json_format import ProblemData, ReportData
    from lossless.output.report.simulation.data import FabricData, SweepData
    from lossless.output.report.simulation.tune_text import TuneData
    from lossless.output.report.topology.text import RecablingData
    from lossless.output.report.trace import TraceData
    from lossless.output.report.traffic_text import EstimateData

    Data = dict[str, Any]

    class Version1(TypedDict):
        """The version of the keys of a document."""

        version: Literal[1]

    class ErrorData(Version1):
        """The errors of a run without a result."""

        errors: list[ProblemData]

    class MoreErrors(TypedDict):
        """Errors beside a result."""

        errors: list[ProblemData]

    class SomeErrors(TypedDict):
        """Errors beside the result for one switch: why no update is planned, and problems of reading."""

        errors: list[str | ProblemData]

    Result = Annotated[Data, Version1, NotRequired[MoreErrors]]

    class HeadroomNeeds(TypedDict):
        """The headroom of each kind of port."""

        kinds: tuple[HeadroomKind, ...]

    class FinishedData(TypedDict):
        """Whether a switch has completed every batch of a plan."""

        finished: bool

    class ProgressData(TypedDict):
        """The progress of switches in a plan; those that are missing have no file."""

        steps: int
        devices: list[Annotated[Data, DeviceProgress, FinishedData]]
        missing: list[str]

    class VerdictData(TypedDict):
        """The verdict on each fabric."""

        verdicts: list[FabricData]

    class StatedData(TypedDict):
        """The line by which an intent states the best setting."""

        intent: str | None

    class SweptClasses(TypedDict):
        """The sweep of each fabric."""

        sweeps: list[Annotated[Data, SweepData, StatedData]]

    class ComparedIntents(TypedDict):
        """An intent, and the one with which it is compared."""

        intent: str
        against: str

    class Documents:
        """The document that each command writes with ``--format json``, besides one of errors alone."""

        lint: ReportData | Annotated[Data, Result, ProgressData]
        verify: ReportData
        simulate: Annotated[Data, Result, VerdictData]
        headroom: Annotated[Data, Result, HeadroomNeeds]
        opensm: Annotated[Data, Result, OpensmResult]
        trace: Annotated[Data, Result, TraceData]
        topology: (
            Annotated[Data, Result, FabricSummary]
            | Annotated[Data, Result, ComparedIntents, RecablingData]
            | Annotated[Data, Result, ComparedIntents, Pins]
            | ReportData
        )
        workload: Annotated[Data, Result, EstimateData]
        storm: Annotated[Data, Result, BlastRadiusData]
        sweep: Annotated[Data, Result, SweptClasses]
        tune: Annotated[Data, Result, TuneData]
        diff: (
            Annotated[Data, Result, DeviceDriftData, SomeErrors]
            | Annotated[Data, Result, FabricDriftData]
            | ReportData
        )
        plan: Annotated[Data, Result, PlanData]
        render: Annotated[Data, CheckedTreeData, NotRequired[MoreErrors]] | ReportData
        acceptance: Annotated[Data, Result, AcceptancePlan] | Annotated[Data, Result, AcceptanceResults]
        rules: list[RuleData]
        formats: list[Annotated[Data, Format]]


__all__ = [
    "SUFFIXES",
    "Candidate",
    "Format",
    "Hardware",
    "HcaProfile",
    "Hwsku",
    "InfinibandSwitchProfile",
    "Inputs",
    "NicProfile",
    "OfferedChoices",
    "PacketReorder",
    "PortNaming",
    "Rule",
    "ShippedControl",
    "SwitchProfile",
    "candidates_below",
    "families",
    "find_rule",
    "formats",
    "hardware",
    "is_excluded",
    "is_ours",
    "load_nic",
    "read",
    "read_text",
    "rule",
    "rule_names",
    "rules",
    "unknown_selector",
]


def configuration_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``lossless.toml``, which is that of ``[tool.lossless]`` in a ``pyproject.toml`` too."""
    from lossless.checks.lint.configuration.reader import json_schema

    return json_schema()


def intent_schema() -> dict[str, Any]:
    """Return the JSON Schema of an intent, with one alternative for each kind of transport."""
    from lossless.formats.intent import load

    return load.intent_schema()


def documents() -> tuple[str, ...]:
    """Return the commands that write a document with ``--format json``."""
    from lossless.output.report.plain import typing_names

    return tuple(typing_names(__name__)["Documents"].__annotations__)


def document_schema(command: str) -> dict[str, Any]:
    """Return the JSON Schema of what a command writes with ``--format json``, a refusal included.

    Its ``$id`` is relative, and has the version of the document (1 for a list, which states none). Keys that are not
    in it are not written; findings of rules have ``data`` of their own.

    Raises:
        LosslessError: there is no such command, it writes no JSON, or the extra that it needs is not installed.
    """
    from lossless.ground.basics.programs import install_command
    from lossless.output.report.plain import DIALECT, json_schema, typing_names

    names = typing_names(__name__)
    if command not in documents():
        raise LosslessError(
            f"no command {command!r} writes JSON{suggestion(command, documents(), see='lossless schema --help')}"
        )
    try:
        schema = json_schema(names.of(names["Documents"].__annotations__[command]) | names["ErrorData"])
    except ModuleNotFoundError as error:
        raise LosslessError(f"{error}: {install_command('sim')} adds what {command} needs") from None
    return {
        "$schema": DIALECT,
        "$id": f"lossless-{command}-1.schema.json",
        "title": f"lossless {command} --format json, version 1",
        **schema,
    }


class IntentKey(NamedTuple):
    """One key of an intent: its path with dots, description, and default, choices and examples as YAML writes them."""

    name: str
    dotted_path: str
    description: str
    default: str | None
    choices: tuple[str, ...]
    examples: tuple[str, ...]


class IntentValues(NamedTuple):
    """The values that a key of an intent accepts: the words to choose from, and examples of other values."""

    choices: tuple[str, ...]
    examples: tuple[str, ...]


def intent_key(path: Path, transport: str | None = None) -> IntentKey | None:
    """Return the schema's description of the key at a path; for a chosen name or a list item, that of the key above it.

    Returns None if there is no such key.
    """
    if not path:
        return None
    schemas = _schemas_at(path[:-1], transport)
    described = [load["properties"][path[-1]] for load in schemas if path[-1] in load.get("properties", {})]
    if described:
        return _described(path, described[0])
    is_name = any(True for load in schemas for _ in _below(load, path[-1]))
    return intent_key(path[:-1], transport) if is_name else None


def intent_keys(path: Path, transport: str | None = None) -> tuple[IntentKey, ...]:
    """Return the keys that an intent can have below a path; none if the path has no mapping."""
    keys: dict[str, IntentKey] = {}
    for load in _schemas_at(path, transport):
        for name, described in load.get("properties", {}).items():
            keys.setdefault(name, _described((*path, name), described))
    return tuple(keys.values())


def intent_values(path: Path, transport: str | None = None) -> IntentValues:
    """Return the choices and examples of values at a path of an intent; examples leave out the choices."""
    from lossless.formats.intent.key_docs import words
    from lossless.ground.documents.yaml.edits import on_one_line

    choices = tuple(dict.fromkeys(word for load in _schemas_at(path, transport) for word in words(load)))
    keys = (load.get("properties", {}) for load in _schemas_at(path[:-1], transport))
    examples = (
        on_one_line(example)
        for key in keys
        for example in key.get(path[-1] if path else "", {}).get("examples", ())
    )
    return IntentValues(choices, tuple(example for example in examples if example not in choices))


def _described(path: Path, load: Schema) -> IntentKey:
    from lossless.formats.intent.key_docs import forms, words
    from lossless.ground.documents.yaml.edits import on_one_line

    return IntentKey(
        str(path[-1]),
        ".".join(str(key) for key in path if not isinstance(key, int)),
        load["description"],
        on_one_line(load["default"]) if "default" in load else None,
        tuple(word for form in forms(load) for word in words(form)),
        tuple(map(on_one_line, load.get("examples", ()))),
    )


def _schemas_at(path: Path, transport: str | None) -> list[Schema]:
    """Return the schemas of the forms that the value at a path can have; empty if no value is allowed there."""
    from lossless.formats.intent.key_docs import forms

    schemas = _schemas_of_intents(transport)
    for key in path:
        schemas = [form for load in schemas for inner in _below(load, key) for form in forms(inner)]
    return schemas


@cache
def _schema() -> Schema:
    return intent_schema()


def _schemas_of_intents(transport: str | None) -> list[Schema]:
    """Return the schemas of intents of a transport; of all transports for None or an unknown one."""
    from lossless.formats.intent.key_docs import forms, words

    every = list(forms(_schema()))
    return [load for load in every if transport in words(load["properties"]["transport"])] or every


def _below(load: Schema, key: str | int) -> Iterator[Schema]:
    if isinstance(key, int):
        if "items" in load:
            yield load["items"]
    elif key in load.get("properties", {}):
        yield load["properties"][key]
    else:
        named = load.get("patternProperties", {})
        yield from (inner for pattern, inner in named.items() if re.search(pattern, key))


def rules() -> tuple[Rule, ...]:
    """Return all rules, by code."""
    return tuple(map(rule_of, known_rules()))


def rule(word: str) -> Rule:
    """Return the rule of a code (``WD001``) or name (``watchdog-missing``).

    Raises:
        LosslessError: there is none; the message has the nearest one, if one is near.
    """
    match = find_rule(word)
    if match is not None:
        return match
    codes = {word: code for code, name in rule_names().items() for word in (code, name)}
    near = nearest(word, codes)
    if near is None:
        raise LosslessError(f"no rule {word!r}; {SEE_ALL}")
    meant = f"{codes[near]} ({known_rules()[codes[near]].name})"
    raise LosslessError(f"no rule {word!r}; did you mean {meant}? ({SEE_ALL})")


def find_rule(word: str) -> Rule | None:
    """Return the rule of a code or name, None where there is none."""
    code = code_of(word)
    return None if code is None else rule_of(code)


def rule_names() -> dict[str, str]:
    """Return the name of each rule by its code; no rule is loaded for it."""
    return {code: row.name for code, row in known_rules().items()}


def unknown_selector(word: str) -> str | None:
    """Return why a word of ``select`` or ``ignore`` matches no rule, None where it matches one."""
    return None if codes_of(word) else unknown(word)


def formats() -> tuple[Format, ...]:
    """Return the systems of switches, each with the name that ``format`` of an intent gives it, SONiC first."""
    return supported_formats()


class Hardware(NamedTuple):
    """Hardware profiles of switches, NICs, InfiniBand switches and HCAs, each kind sorted by name."""

    switches: tuple[SwitchProfile, ...] = ()
    nics: tuple[NicProfile, ...] = ()
    infiniband_switches: tuple[InfinibandSwitchProfile, ...] = ()
    hcas: tuple[HcaProfile, ...] = ()


def hardware(name: str | None = None, profile_dirs: Sequence[str | PathLike[str]] = ()) -> Hardware:
    """Return all hardware profiles, or only that called ``name``: a NIC of both transports is then among ``nics``.

    Raises:
        ProfileError: nothing has that name (the message has the nearest ones), or a user's file is unreadable or wrong.
    """
    switches, nics = switch_names(profile_dirs), nic_names(profile_dirs)
    if name in switches:
        return Hardware(switches=(load_switch(name, profile_dirs),))
    if name in nics:
        return Hardware(nics=(load_nic(name, profile_dirs),))
    infiniband_switches, hcas = infiniband_switch_names(profile_dirs), hca_names(profile_dirs)
    if name in infiniband_switches:
        return Hardware(infiniband_switches=(load_infiniband_switch(name, profile_dirs),))
    if name in hcas:
        return Hardware(hcas=(load_hca(name, profile_dirs),))
    if name is not None:
        raise ProfileError(_unknown(name, (*switches, *nics, *infiniband_switches, *hcas)))
    return Hardware(
        tuple(load_switch(known, profile_dirs) for known in switches),
        tuple(load_nic(known, profile_dirs) for known in nics),
        tuple(load_infiniband_switch(known, profile_dirs) for known in infiniband_switches),
        tuple(load_hca(known, profile_dirs) for known in hcas),
    )


def _unknown(name: str, names: Sequence[str]) -> str:

    return f"no profile is called {name!r}{suggestion(name.lower(), names, see='lossless profiles')}"


SUFFIXES = (".json", ".yaml", ".yml", *_OF_SWITCHES)
"""Suffixes of the files whose findings an editor shows."""


def candidates_below(folders: Sequence[str], options: Options) -> tuple[Candidate, ...]:
    """Return the files of folders that may be intents or configurations, without excluded ones."""
    return found_at(folders, options).candidates


def is_excluded(file: str, folder: str, options: Options) -> bool:
    """Return whether options or configurations exclude a file of a folder from checks."""
    return not without_excluded([file], [folder], options)
