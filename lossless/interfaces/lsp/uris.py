"""URIs of an editor as files; a URI without a file names a text without one, never an error."""

from __future__ import annotations

import os
from zlib import crc32

from pygls.uris import to_fs_path

from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.limits import PATH_BYTES
from lossless.interfaces.api.profiles import SUFFIXES

_SUFFIXES = {"json": ".json", "jsonc": ".json", "yaml": ".yaml"}
"""Of files in a language, as editors name it."""
_LONGEST = 200
"""Length of the name of a text without a file; a checksum distinguishes longer URIs."""


def path_of(uri: str) -> str | None:
    """Return the path of a URI, None if it has none that a file system could take."""
    try:
        path = to_fs_path(uri)
        encoded = os.fsencode(path or "")
    except ValueError:
        # A bracket that ends no address, or half a character.
        return None
    return path if 0 < len(encoded) < PATH_BYTES and b"\0" not in encoded else None


def file_of(uri: str, language: str | None) -> str | None:
    """Return the file of a URI; of a text that was never saved, a name by its language; None for other kinds."""
    path = path_of(uri)
    if path is not None:
        return path if path.lower().endswith(SUFFIXES) else None
    if language not in _SUFFIXES:
        return None
    name = visible(uri)
    return f"{name if len(name) <= _LONGEST else f'{name[:_LONGEST]}-{crc32(name.encode())}'}{_SUFFIXES[language]}"
