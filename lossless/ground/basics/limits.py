"""How much is taken at most, each with the reason; what is larger is refused by name before work is done for it."""

from __future__ import annotations

MIB = 1024 * 1024

EDITOR_TEXT_CHARACTERS = 8 * MIB
"""Of one text in an editor: all of it is checked anew whenever typing pauses, which takes seconds for as much."""

EDITOR_TEXTS_CHARACTERS = 64 * MIB
"""Of all texts that are open in an editor: what a server keeps in memory for days."""

EDITOR_MESSAGE_BYTES = 4 * EDITOR_TEXT_CHARACTERS
"""Of one message of an editor: JSON writes quotes and line breaks with two bytes, and letters with up to four."""

EDITOR_HEADER_BYTES = 8 * 1024
"""Of the lines before a message of an editor, which have two fields (Language Server Protocol 3.17, Base Protocol)."""

PATH_BYTES = 4096
"""Of a path with the byte that ends it: no file that Linux opens by its path has a longer one (limits.h, PATH_MAX)."""
