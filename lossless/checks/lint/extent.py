"""How far a run has looked: what was not looked for cannot be said to be gone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lossless.checks.rules.registry import codes_for
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossless.checks.rules.registry import Codes


class Extent(NamedTuple):
    """What a run has judged.

    ``files`` are those judged without an error in them, ``folders`` those judged whole, both absolute; ``chosen`` says
    which rules ran on a file, ``simulated`` whether traffic did.
    """

    files: frozenset[str]
    folders: tuple[str, ...]
    chosen: Callable[[str], Codes | None]
    simulated: bool

    def is_whole(self, folder: str) -> bool:
        """Return whether every file below a folder was judged, all together."""
        return any(folder == whole or folder.startswith(os.path.join(whole, "")) for whole in self.folders)

    def ran_all(self, codes: Codes, file: str) -> bool:
        """Return whether all of some rules have run, by the choice that holds for a file."""
        chosen = self.chosen(file)
        return (chosen is None or codes <= chosen) and (self.simulated or codes.isdisjoint(codes_for("runs")))

    def judged(self, code: str, file: str, folder: str) -> bool:
        """Return whether a rule has judged a file; one that compares files needs all of ``folder`` for that."""
        compares = code in codes_for("devices") or code in codes_for("device", needs="intent")
        return (
            os.path.abspath(file) in self.files
            and self.ran_all(frozenset({code}), file)
            and (not compares or self.is_whole(folder))
        )
