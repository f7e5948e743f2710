"""The coverage of a run: a finding that the run did not look for cannot be reported as gone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.checks.rules.registry import codes_for
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.checks.rules.registry import Codes


class RunCoverage(NamedTuple):
    """The files, folders and rules that a run has checked.

    ``files`` are those checked without an error in them, ``folders`` those checked whole, both absolute; ``chosen``
    returns the rules that ran on a file, ``simulated`` whether traffic was run.
    """

    files: frozenset[str]
    folders: tuple[str, ...]
    chosen: Callable[[str], Codes | None]
    simulated: bool

    def is_whole(self, folder: str) -> bool:
        """Return whether every file below a folder was checked, all together."""
        return any(folder == whole or folder.startswith(os.path.join(whole, "")) for whole in self.folders)

    def ran_all(self, codes: Codes, file: str) -> bool:
        """Return whether all of some rules have run, by the choice that holds for a file."""
        chosen = self.chosen(file)
        return (chosen is None or codes <= chosen) and (self.simulated or codes.isdisjoint(codes_for("runs")))

    def checked(self, code: str, file: str, folder: str) -> bool:
        """Return whether a rule has checked a file; one that compares files needs all of ``folder`` for that."""
        compares = code in codes_for("devices") or code in codes_for("device", needs="intent")
        return (
            os.path.abspath(file) in self.files
            and self.ran_all(frozenset({code}), file)
            and (not compares or self.is_whole(folder))
        )
