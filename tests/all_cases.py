"""Slow tests take some of their cases, always the same ones; with LOSSLESS_ALL_CASES (``make cases``) all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL_CASES = bool(os.environ.get("LOSSLESS_ALL_CASES"))
Case = TypeVar("Case")


def some(cases: Sequence[Case], one_of: int, name: str) -> Sequence[Case]:
    """Return one of so many cases; ``name`` says where it begins, so that tests of one list take different ones."""
    return cases if ALL_CASES else cases[crc32(name.encode()) % one_of :: one_of]
