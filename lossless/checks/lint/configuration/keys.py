"""The keys of a configuration, in ``lossless.toml`` or ``[tool.lossless]``: one table for reader and JSON Schema.

The kinds of values are defined in :mod:`lossless.checks.lint.configuration.values`.
"""

from __future__ import annotations

from typing import Any

from lossless.checks.lint.configuration.values import (
    BOOLEAN,
    DATE,
    NAMED_DSCPS,
    PATTERNS,
    SELECTORS,
    TEXT,
    ValueKind,
    one_of,
)
from lossless.ground.basics.findings import SEVERITIES
from lossless.ground.basics.records import NamedTuple


class ConfigurationKey(NamedTuple):
    """One key: the kind of its value, and its purpose."""

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
        TEXT, "File of findings that are known already, as `lossless baseline` writes it; from this folder."
    ),
    "rdma-dscp": ConfigurationKey(
        NAMED_DSCPS,
        "The DSCPs that must be lossless on devices without an intent, as [26]; --rdma-dscp takes its place.",
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
"""Keys with a value of their own; ``severity``, ``suppress``, ``fabric`` and ``ports`` have keys inside."""

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
