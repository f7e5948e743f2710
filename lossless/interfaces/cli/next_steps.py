"""The last line of a command: the next command to run."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.findings import SEVERITIES
from lossless.interfaces.cli.app import PLUGINS
from lossless.interfaces.cli.terminal import next_step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossless.api import Report

_INTENTS = (".yaml", ".yml")


def then(command: str, *words: str, quiet: bool = False, because: str = "") -> None:
    """Print the next command, its words quoted for a shell, with its purpose as a comment; nothing with ``quiet``.

    It has the plugins of this command too.
    """
    what = f"  # {because}" if because else ""
    context = click.get_current_context(silent=True)
    plugins = context.meta.get(PLUGINS, ()) if context else ()
    every = [*words, *(word for name in plugins for word in ("--plugin", name))]
    next_step(" ".join(["lossless", command, *map(quote, every)]) + what, quiet=quiet)


def is_intent(path: str) -> bool:
    """Return whether a path may name an intent: a name ending in .yaml or .yml, or a folder with a fabric.yaml."""
    # pathlib costs a tenth of an interpreter's start.
    return path.endswith(_INTENTS) or os.path.isfile(os.path.join(path, "fabric.yaml"))  # noqa: PTH113, PTH118


def render_onto(intent: str, files: Mapping[str, str], *, quiet: bool) -> None:
    """Print the command that renders an intent, with ``--base`` if all ``files`` are FOLDER/DEVICE/config_db.json.

    FOLDER has to be the same for all of them.
    """
    folders = {file.removesuffix(f"{device}/config_db.json") for device, file in files.items()}
    base = folders.pop()
    is_base = not folders and all(file.endswith("/config_db.json") for file in files.values())
    is_base = is_base and not base.endswith(".json")
    words = ("--base", base.rstrip("/") or ".", "-o", "rendered") if is_base else ("-o", "out")
    then("render", intent, *words, quiet=quiet, because="writes what the intent declares")


def after_lint(report: Report, paths: Sequence[str]) -> None:
    """Print the next command: the rule of the first most severe finding, else render an intent or simulate switches.

    Without findings nothing is printed for several paths, for standard input, and with problems of reading.
    """
    if report.findings:
        first = min(report.findings, key=lambda finding: SEVERITIES.index(finding.severity))
        then("rule", first.code, because=f"explains the first {first.severity}")
    elif len(paths) == 1 and not report.errors and paths[0] != "-":
        if is_intent(paths[0]):
            then("render", paths[0], "-o", "out", because="writes the configurations")
        elif any(file.endswith("config_db.json") for file in report.documents):
            then("simulate", paths[0], because="runs traffic through the buffers")


def after_verdict(
    path: str, overall: Sequence[str], *, quiet: bool, other_classes: Sequence[str] = ()
) -> None:
    """Print the next command: lint --simulate where values are at fault, else simulate another class, or lint."""
    if any(verdict not in ("safe", "not checked") for verdict in overall):
        then("lint", path, "--simulate", quiet=quiet, because="shows where the values are set")
    elif other_classes:
        words = (path, "--class", other_classes[0])
        then("simulate", *words, quiet=quiet, because="runs the other lossless class")
    else:
        then("lint", path, quiet=quiet, because="checks what traffic does not show: maps, watchdogs, hosts")
