"""The documentation of one key of an intent."""

from __future__ import annotations

from typing import Any

from lossless.ground.basics.records import NamedTuple


class KeyDoc(NamedTuple):
    """What a key means, with its unit, and what to write there; ``examples`` are values as YAML reads them."""

    description: str
    examples: tuple[Any, ...] = ()
