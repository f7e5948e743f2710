"""The files of folders that lint reads, and editor texts that replace files while they are edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.collect import Candidate, Inputs, read, search
from lossless.formats.inputs.switches import SUFFIXES as _OF_SWITCHES
from lossless.formats.inputs.texts import is_ours, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SUFFIXES", "Candidate", "Inputs", "candidates_below", "is_ours", "read", "read_text"]

SUFFIXES = (".json", ".yaml", ".yml", *_OF_SWITCHES)
"""Names of files that editors show the findings of."""


def candidates_below(folders: Sequence[str]) -> list[Candidate]:
    """Return the files of folders that may be intents or configurations."""
    return search(folders)[0]
