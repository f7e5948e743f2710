"""The files that are opened while some code runs, as Python's audit events name them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_recording: list[set[str]] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _recording and event == "open" and isinstance(arguments[0], str):
        _recording[-1].add(os.path.realpath(arguments[0]))


@contextmanager
def opened_below(folder: Path) -> Iterator[set[str]]:
    """Give the set of files below a folder that are opened in this context, by their names there; filled at its end."""
    if not hasattr(opened_below, "is_hooked"):
        # A hook stays for the whole process.
        sys.addaudithook(_note)
        vars(opened_below)["is_hooked"] = True
    names: set[str] = set()
    paths: set[str] = set()
    _recording.append(paths)
    try:
        yield names
    finally:
        _recording.remove(paths)
        root = folder.resolve()
        names |= {str(Path(path).relative_to(root)) for path in paths if Path(path).is_relative_to(root)}
