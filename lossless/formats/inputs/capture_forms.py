"""The registry of forms of captures, and the reading of a text by the forms that it has.

The form of a text is found by its content, not by the file's name. A snapshot of the collector and a terminal's
transcript of a host have a section for each command; every other text of one is a section, or outputs that were written
into one file.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.databases import NO_COMMAND, command_of
from lossless.ground.basics.errors import Problem
from lossless.ground.documents.concatenated_json import printed_json
from lossless.ground.documents.printed_lines import LOOKED_INTO, printed_sections
from lossless.model.fabric.state import captured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.ground.documents.printed_lines import PrintedSection
    from lossless.model.fabric.state import (
        CaptureForm,
        Identity,
        StateCapture,
        StateItems,
        StateReading,
        Unit,
    )

PACKAGES = {
    "SONiC": "sonic.state",
    "EOS, NX-OS": "switches",
    "hosts": "hosts",
    "InfiniBand": "infiniband.state",
}
"""The sources of captures, and the package whose module ``forms`` has the forms, in the order in which they are
tried."""

_TAKEN = re.compile(r"^# taken ([0-9]{1,12})(?: UTC)?\s*$", re.MULTILINE)
_HEADER_LINES = 8
_SEARCHED = 4 * LOOKED_INTO
"""Characters of a text in which the first section of a known form begins, if it has one."""
_EARLY = "this JSON ends early or is damaged; it is read up to there"
_NAMELESS = "another output of {} that names no interface: write ==> and the command before each; not read"


def declared_by(source: str) -> Any:
    """Return the module ``forms`` of a source; its FORMS have the most specific first, its COMMANDS begin sections."""
    return import_module(f"lossless.formats.{PACKAGES[source]}.forms")


def read_capture(text: str, file: str, sources: Iterable[str] = PACKAGES) -> tuple[StateCapture, ...] | None:
    """Return the captures in a text, by the first source whose forms find one; None if none does."""
    return next((captures for source in sources if (captures := _read(text, file, source))), None)


def _read(text: str, file: str, source: str) -> tuple[StateCapture, ...]:
    forms = declared_by(source).FORMS
    if snapshot := next((form for form in _in(forms, "snapshot") if form.is_of(text)), None):
        return tuple(snapshot.read(text, file))
    documents = tuple(_documents(text, file, _in(forms, "json"))) if "{" in text else ()
    rows = tuple(capture for form in _in(forms, "rows") for capture in form.read(text, file))
    if documents:
        return (*documents, *rows)
    texts = tuple(capture for form in _in(forms, "text") for capture in form.read(text, file))
    return (*rows, *texts, *_sections(text, file, source))


def _in(forms: Iterable[CaptureForm], unit: Unit) -> tuple[CaptureForm, ...]:
    return tuple(form for form in forms if form.unit == unit)


def _documents(text: str, file: str, forms: Sequence[CaptureForm]) -> Iterator[StateCapture]:
    """Yield the captures in the JSON documents of a text, each read with the last command in the lines before it."""
    command = NO_COMMAND
    for printed in printed_json(text) if forms else ():
        command = next(filter(None, map(command_of, reversed(printed.before))), command)
        reading = (tuple(form.read(printed, command, file)) for form in forms)
        for capture in next(filter(None, reading), ()):
            yield _marked(capture, printed)


def _marked(capture: StateCapture, printed: PrintedJson) -> StateCapture:
    """Return a capture with remarks on its text: it ends early, or has a key twice."""
    notes = tuple(f"{key} is there twice; the last one is read" for key in dict.fromkeys(printed.repeated))
    problems = () if printed.whole else (Problem(capture.file, printed.line, None, _EARLY),)
    return capture._replace(notes=(*capture.notes, *notes), problems=(*capture.problems, *problems))


def _sections(text: str, file: str, source: str) -> Iterator[StateCapture]:
    """Yield captures of the sections of known forms, if one begins near the start; a host's have the time, if any."""
    package = declared_by(source)
    forms = _in(package.FORMS, "section")
    if not forms:
        return
    commands = package.COMMANDS
    if not any(_form(section, forms) for section in printed_sections(text[:_SEARCHED], file, commands)):
        return
    from lossless.formats.hosts.state.other_outputs import JOINED, of_interfaces, outputs_of

    def outputs() -> Iterator[PrintedSection]:
        for section in printed_sections(text, file, commands):
            form = _form(section, forms)
            yield from outputs_of(section) if form is not None and form.name in JOINED else (section,)

    taken_at = _taken_at(text) if source == "hosts" else None
    said: _Said = {}
    for output, again in of_interfaces(output for output in outputs() if output.lines):
        if form := _form(output, forms):
            capture = captured(file, form.name, _items(form, output, is_nameless=again), output.host)
            outdated = _outdated(capture, said) if form.name in JOINED and form.name not in _REPEATED else ()
            yield _of_its_host(capture)._replace(taken_at=taken_at, outdated=tuple(outdated))


_Said = dict[tuple[str | None, str, "Identity", str], "StateReading"]
"""The last reading of each value, by device, form, object and heading."""
_REPEATED = frozenset({"traffic test"})
"""Forms of which one file has several results that are not of one thing at two times."""


def _outdated(capture: StateCapture, said: _Said) -> Iterator[str]:
    """Yield a note on values that a later output of the same command prints again in a file; ``said`` is kept."""
    changed: list[tuple[StateReading, StateReading]] = []
    for reading in capture.readings:
        key = (capture.device, capture.form, reading.identity, reading.heading or reading.name)
        old = said.get(key)
        if old is not None and old.value != reading.value and old.path[1:2] != reading.path[1:2]:
            changed.append((old, reading))
        said[key] = reading
    if changed:
        old, new = changed[0]
        of = " ".join(f"{kind} {name}" for kind, name in new.identity)
        others = len(changed) - 1
        more = f", and {others} more {'value' if others == 1 else 'values'}" if others else ""
        yield (
            f"{new.heading or new.name}{f' of {of}' if of else ''} of line {old.path[1]}{more}: {capture.form} "
            f"printed it again in line {new.path[1]}, which holds"
        )


def _items(form: CaptureForm, output: PrintedSection, *, is_nameless: bool) -> StateItems:
    if is_nameless:
        # Its counters would be taken for those of the first.
        yield output.problem(output.lines[0], _NAMELESS.format(form.name))
    else:
        yield from form.read(output._replace(form=form.name))


def _form(section: PrintedSection, forms: Iterable[CaptureForm]) -> CaptureForm | None:
    return next((form for form in forms if form.is_of(section)), None)


def _taken_at(text: str) -> int | None:
    """Return the time of a capture in seconds since 1970, by ``# taken`` in one of its first lines; None without it."""
    match = _TAKEN.search(text[:_SEARCHED])
    return int(match[1]) if match and text.count("\n", 0, match.start()) < _HEADER_LINES else None


def _of_its_host(capture: StateCapture) -> StateCapture:
    """Return a capture with the host that all its readings name, where no snapshot or prompt names one."""
    hosts = {
        next((name for kind, name in reading.identity if kind == "host"), None)
        for reading in capture.readings
    }
    return capture._replace(device=hosts.pop()) if capture.device is None and len(hosts) == 1 else capture
