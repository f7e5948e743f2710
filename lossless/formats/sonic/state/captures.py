"""One text of a SONiC switch, whatever it is, as captures: recognized by what it holds, never by its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.state.commands import NO_COMMAND, SwitchCommand, command_of
from lossless.formats.sonic.state.databases import read_dump
from lossless.formats.sonic.state.dumps import dumps_of
from lossless.formats.sonic.state.gnmi import read_gnmi
from lossless.formats.sonic.state.redis_lines import dumps_in_transcript
from lossless.formats.sonic.state.script_json import read_script_json
from lossless.formats.sonic.state.show import read_show
from lossless.formats.sonic.state.snapshot import is_snapshot, read_snapshot
from lossless.ground.basics.errors import Problem
from lossless.ground.documents.concatenated_json import printed_json
from lossless.model.fabric.state.readings import StateCapture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.concatenated_json import PrintedJson
    from lossless.model.fabric.state.readings import CountedSince

_NAMESPACE = re.compile(r"For namespace (\S+?):|.*\(Namespace (\S+)\)")

_HASHES = re.compile(r"hgetall", re.IGNORECASE)


def read_capture(text: str, file: str) -> tuple[StateCapture, ...] | None:
    """Return what a text says of a switch; None where it is no output of one."""
    if is_snapshot(text):
        return read_snapshot(text, file)
    captures = tuple(_documents(text, file))
    rows = tuple(read_dump(dump, file) for dump in dumps_in_transcript(text)) if _HASHES.search(text) else ()
    if captures:
        return (*captures, *rows)
    return (*rows, *read_show(text, file)) or None


def _documents(text: str, file: str) -> Iterator[StateCapture]:
    if "{" not in text:
        return
    command = NO_COMMAND
    for printed in printed_json(text):
        command = next(filter(None, map(command_of, reversed(printed.before))), command)
        for capture in _document(printed, file, command):
            yield _marked(capture, printed, file)


def _document(printed: PrintedJson, file: str, command: SwitchCommand) -> Iterator[StateCapture]:
    if dumps := dumps_of(printed.value):
        yield from (read_dump(dump, file) for dump in dumps)
        return
    namespace = _namespace(printed.before) or command.namespace
    cleared: CountedSince = (
        "clear" if any("Last cached time" in line for line in printed.before) else "unknown"
    )
    prefix = (("namespace", namespace),) if namespace else ()
    if said := read_script_json(printed.value, command, prefix, cleared):
        form, readings = said
        yield StateCapture(file, command.form or form, readings, command.device)
    else:
        yield from _answers(printed.value, file)


def _answers(data: Any, file: str) -> Iterator[StateCapture]:
    answer = read_gnmi(data)
    if answer is not None:
        readings, notes = answer
        yield StateCapture(file, "gNMI", readings, notes=notes)


def _namespace(lines: tuple[str, ...]) -> str | None:
    matches = [match for line in lines if (match := _NAMESPACE.match(line))]
    return (matches[-1][1] or matches[-1][2]) if matches else None


def _marked(capture: StateCapture, printed: PrintedJson, file: str) -> StateCapture:
    """Return a capture with what is to be said of its text: it ends early, or says something twice."""
    notes = tuple(f"{key} is there twice; the last one is read" for key in dict.fromkeys(printed.repeated))
    problems: tuple[Problem, ...] = ()
    if not printed.whole:
        message = "this JSON ends early or is damaged; it is read up to there"
        problems = (Problem(file, printed.line, None, message),)
    return capture._replace(notes=(*capture.notes, *notes), problems=(*capture.problems, *problems))
