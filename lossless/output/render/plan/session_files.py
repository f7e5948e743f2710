"""The files of a session: its commands, the commands to undo it, and the order in which they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.device_files.deployment import PlannedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.checks.plan.plan import PlannedSwitches
    from lossless.checks.plan.systems import PlannedSession

_HEADINGS = {
    "begin": "Begin",
    "commands": "Enter",
    "commit": "Commit",
    "check": "Check",
    "confirm": "Confirm, if the check shows what is expected",
    "back": "Go back, if it does not",
}
_UNDO = "undo"


def session_files(group: PlannedSwitches, called: str) -> Iterator[PlannedFile]:
    """Yield the files of the sessions of a group; ``called`` is part of the names of sessions on a switch."""
    for number, batch in enumerate(group.batches, 1):
        if batch.session is not None:
            session, prefix = batch.session, f"{number:02}-"
            yield PlannedFile(f"{prefix}{session.file}", _lines(session.commands))
            yield PlannedFile(f"{prefix}{_UNDO}-{session.file}", _lines(session.undo))
            steps = "\n".join(_steps(session, prefix, f"lossless-{called}-{number:02}"))
            yield PlannedFile(f"{prefix}session.txt", steps + "\n")


def _lines(commands: tuple[str, ...]) -> str:
    return "".join(f"{command}\n" for command in commands)


def _steps(session: PlannedSession, prefix: str, name: str) -> Iterator[str]:
    """Yield the commands to run on a switch, in order."""
    for part, heading in _HEADINGS.items():
        yield f"{heading}:"
        for command in session.runs[part]:
            yield f"  {command.format(name=name).replace(session.file, prefix + session.file)}"
    yield "Expected of the check: what the commands set is there, and what they take away is not"
    yield f"Go back later: the same with {prefix}{_UNDO}-{session.file}"
    yield f"Meanwhile: {session.why}"
