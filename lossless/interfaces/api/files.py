"""The files of folders that lint reads, and editor texts that replace files while they are edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.inputs.collect import Candidate, Inputs, read
from lossless.formats.inputs.patches import is_ours, read_text
from lossless.formats.inputs.switches import SUFFIXES as _OF_SWITCHES
from lossless.interfaces.api.discovery import found_at, without_excluded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.interfaces.api.options import Options

__all__ = [
    "SUFFIXES",
    "Candidate",
    "Inputs",
    "candidates_below",
    "is_excluded",
    "is_ours",
    "read",
    "read_text",
]

SUFFIXES = (".json", ".yaml", ".yml", *_OF_SWITCHES)
"""Names of files that editors show the findings of."""


def candidates_below(folders: Sequence[str], options: Options) -> tuple[Candidate, ...]:
    """Return the files of folders that may be intents or configurations."""
    return found_at(folders, options).candidates


def is_excluded(file: str, folder: str, options: Options) -> bool:
    """Return whether a file is excluded from those of a folder."""
    return not without_excluded([file], [folder], options)
