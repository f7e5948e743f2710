"""What a replay of a public issue about running state is.

Values are those that the issue reports, in the form in which the tool prints them; its prose is not repeated. What an
issue does not report is not made up: where a value is missing, or is ours, ``shown`` says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.checks.verify.running import Files, Found


class StateReplay(NamedTuple):
    """One capture: ``shown`` in words, its files, and all that verify finds in them, as codes and elements.

    ``before`` are the files of an earlier capture. ``not_checked`` are codes of rules that must say that something is
    missing. Where nothing is found, ``silent`` says why that is right.
    """

    shown: str
    files: Files
    found: Found
    silent: str = ""
    before: Files | None = None
    not_checked: tuple[str, ...] = ()


class StateIssue(NamedTuple):
    """One issue; without replays, ``unseen`` says why its running state cannot be replayed or does not answer it."""

    source: str
    what: str
    replays: tuple[StateReplay, ...] = ()
    unseen: str = ""
