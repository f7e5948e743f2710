"""Natural order of names, with numbers compared by value."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=4096)
def natural_key(name: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key that orders ``Ethernet8`` before ``Ethernet10``."""
    # Digits compare by length, then as text: equal to their value, and no text is too long for it.
    parts = enumerate(re.split(r"([0-9]+)", name))
    return tuple((len(part.lstrip("0")), part) if i % 2 else (0, part) for i, part in parts)
