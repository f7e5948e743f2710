"""Masks the values of keys, wherever content of files that only their owner may read is shown."""

from __future__ import annotations

import re

from lossless.formats.infiniband.read.sharp import SECRETS
from lossless.model.fabric.infiniband.subnet import options


def masked(text: str) -> str:
    """Return a text with the values of the keys that protect a subnet replaced by stars, the same number for each."""
    keys = "|".join(sorted({*SECRETS, *(key for key, definition in options().items() if definition.secret)}))
    return re.sub(rf"^([ \t]*(?:{keys})[ \t=]+)[^\n]*$", r"\1****", text, flags=re.MULTILINE)
