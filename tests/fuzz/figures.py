"""What a run of the fuzzer reaches: rules that fire, readers and renderers that run, branches that are taken."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from cProfile import Profile
from functools import cache
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from lossless.checks.lint import run as lint_run
from lossless.checks.rules.registry import RULES
from lossless.formats.hosts.forms import FACTS
from lossless.formats.hosts.read.facts import is_facts, read_facts
from lossless.formats.inputs.capture_forms import PACKAGES, declared_by, read_capture
from lossless.formats.inputs.patches import read_bytes
from lossless.ground.basics.errors import InputError
from tests.fuzz.laws import data_of
from tests.fuzz.stock import Drawn
from tests.fuzz.trials import FAILED, Outcome, Trial, outcome_of
from tests.paths import ROOT

CODE = f"{ROOT / 'lossless'}/"
READERS = (
    "formats/sonic/read",
    "formats/switches/eos/read",
    "formats/switches/nvue/read.py",
    "formats/switches/nxos/read",
    "formats/infiniband/read",
    "formats/importing/cabling",
    "formats/inputs/patches.py",
    "formats/intent/load.py",
    "formats/intent/infiniband/document.py",
    "checks/lint/baseline.py",
    "checks/lint/configuration/reader.py",
    "checks/plan/plan.py",
    "model/hardware/schema.py",
)
"""Modules and folders that read files, beside the readers of captures and facts, which have names of their own."""
RENDERERS = (
    "formats/sonic/from_model.py",
    "formats/switches/eos/from_model.py",
    "formats/switches/nvue/from_model.py",
    "formats/switches/nxos/from_model.py",
    "formats/hosts/from_model",
    "formats/infiniband/from_model.py",
    "formats/telemetry",
    "formats/device_files",
    "formats/importing/imported.py",
    "output/render",
    "output/report",
)
ASKED_EACH = 50
"""After so many inputs it is asked whether each reader and renderer was reached."""
Arc = tuple[str, int, int]
"""A file, the line that ran, and the next one in the same call."""


class Figures:
    """What is counted of a run."""

    def __init__(self) -> None:
        self.inputs = self.passed = self.raw = self.broken = 0
        self.families: Counter[str] = Counter()
        self.passed_of: Counter[str] = Counter()
        self.commands: Counter[str] = Counter()
        self.laws: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        self._calls = Profile(builtins=False, subcalls=False)
        self._all_reached = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count the rules that fire, and note the functions that are called until each reader and renderer was.

        This takes three quarters of the time of an input again.
        """
        finding = lint_run._finding

        def counted(rule: Any, *others: Any) -> Any:
            self.rules[rule.code] += 1
            return finding(rule, *others)

        with mock.patch.object(lint_run, "_finding", counted):
            if not self._all_reached:
                self._calls.enable()
            try:
                yield
            finally:
                self._calls.disable()

    def count(self, drawn: Drawn, outcome: Outcome) -> None:
        """Count a trial, and whether it passed."""
        self.inputs += 1
        self.raw += drawn.raw
        self.families[drawn.family] += 1
        self.commands[drawn.trial.command[0]] += 1
        self.laws[drawn.trial.law] += 1
        if passed(drawn, outcome):
            self.passed += 1
            self.passed_of[drawn.family] += 1
        if not self._all_reached and self.inputs % ASKED_EACH == 0:
            self._all_reached = not self.unreached(readers() | renderers())

    def report(self) -> Iterator[str]:
        """Yield lines with the figures."""
        share = 100 * self.passed / max(self.inputs, 1)
        yield f"passed validation with a changed value behind it: {self.passed:,} of {self.inputs:,}, {share:.1f} %"
        yield f"  changed as bytes are: {self.raw:,}"
        yield "  by family: " + ", ".join(
            f"{name} {self.passed_of[name]:,} of {count:,}" for name, count in self.families.most_common()
        )
        yield "  commands: " + ", ".join(f"{name} {count:,}" for name, count in self.commands.most_common())
        yield "  laws: " + ", ".join(f"{name} {count:,}" for name, count in self.laws.most_common() if name)
        silent = [code for code in RULES if code not in self.rules]
        fired = len(RULES) - len(silent)
        yield f"rules that fired: {fired} of {len(RULES)}, {100 * fired / len(RULES):.1f} %; not: {', '.join(silent)}"
        for what, wanted in (("readers", readers()), ("renderers", renderers())):
            missing = self.unreached(wanted)
            yield f"{what} reached: {len(wanted) - len(missing)} of {len(wanted)}; not: {', '.join(missing) or 'none'}"
        yield f"inputs that broke a command or a law: {self.broken:,}"

    def unreached(self, wanted: Mapping[str, tuple[str, str]]) -> list[str]:
        """Return the names of readers or renderers that no watched input has reached."""
        called = self._called()
        return [name for name, (file, function) in wanted.items() if not _is_called(file, function, called)]

    def _called(self) -> set[tuple[str, str]]:
        """Return the file and name of each function that was called; bodies of classes, and what has no name, are none.

        These run when a module is imported, which reads and renders nothing.
        """
        codes = (entry.code for entry in self._calls.getstats())
        return {
            (code.co_filename, code.co_name)
            for code in codes
            if not isinstance(code, str) and code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")
        }


def _is_called(file: str, function: str, called: set[tuple[str, str]]) -> bool:
    return (file, function) in called if function else any(file == other for other, _ in called)


@cache
def readers() -> dict[str, tuple[str, str]]:
    """Return the file and function of each reader, by its name; without function, any of the file counts."""
    forms = [form for source in PACKAGES for form in declared_by(source).FORMS]
    named = {
        f"{form.of} {form.name}": (f"{CODE}formats/{form.module.replace('.', '/')}.py", form.reads)
        for form in (*forms, *FACTS)
    }
    return named | {module: (CODE + module, "") for module in _modules(READERS)}


@cache
def renderers() -> dict[str, tuple[str, str]]:
    """Return the file of each module that renders."""
    return {module: (CODE + module, "") for module in _modules(RENDERERS)}


def _modules(places: Sequence[str]) -> list[str]:
    """Return the modules at places that have functions."""
    paths = [Path(CODE + place) for place in places]
    files = [file for path in paths for file in ([path] if path.suffix else sorted(path.rglob("*.py")))]
    return [
        file.as_posix().removeprefix(CODE) for file in files if "def " in file.read_text(encoding="utf-8")
    ]


def passed(drawn: Drawn, outcome: Outcome) -> bool:
    """Return whether the commands of a trial did their work, on a file that means something else than before."""
    if outcome.code == FAILED or outcome.broke is not None:
        return False
    return bool(meaning(drawn.name, drawn.trial.files[drawn.name]) != meaning(drawn.name, drawn.before))


def meaning(name: str, text: str) -> Any:
    """Return what a reader has of a text: its data, its captures or facts, or its words where it has no reader."""
    try:
        if (data := data_of(name, text)) is not None:
            return data
        if captures := read_capture(text, name):
            return repr(captures)
        if is_facts(text):
            return repr(read_facts(text, name))
        if documents := read_bytes(text.encode(errors="replace"), name).documents:
            return [document.data for document in documents]
    except (InputError, RecursionError):
        pass
    return text.split()


# --- branches ---


def arcs_of(trials: Sequence[Trial]) -> set[Arc]:
    """Return which line follows which in the modules of lossless while trials run."""
    found: set[Arc] = set()

    def called(frame: FrameType, _event: str, _argument: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(CODE):
            return None
        last = -frame.f_code.co_firstlineno

        def line(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal last
            if event == "line":
                found.add((file, last, frame.f_lineno))
                last = frame.f_lineno
            return line

        return line

    for trial in trials:
        before = sys.gettrace()
        sys.settrace(called)
        try:
            outcome_of(trial)
        finally:
            sys.settrace(before)
    return found


def branches(arcs: set[Arc]) -> set[Arc]:
    """Return the arcs that leave a line which more than one line follows."""
    followers: Counter[tuple[str, int]] = Counter((file, line) for file, line, _ in arcs)
    return {arc for arc in arcs if followers[arc[:2]] > 1}
