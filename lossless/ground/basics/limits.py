"""Limits of inputs, each with its reason.

Input beyond one of these is not processed; most messages about it name the limit.
"""

from __future__ import annotations

MIB = 1024 * 1024

FILE_BYTES = 64 * MIB
"""Bytes of one file: ten times a CONFIG_DB of 2,000 ports."""
NESTING = 100
"""Levels in a document: CONFIG_DB has 4, and recursion stays far from Python's limit."""
ALIASED_VALUES = 1_000_000
"""Values that the aliases of one YAML document stand for: a file of 64 MiB holds about as many itself."""
DIGITS = 300
"""Digits of one number: below 308 it still has a floating-point value (IEEE 754 binary64); 2^128 has 39."""
SUPPRESSED_RULES = 1000
"""Rules that the comments of one file name: there are fewer rules than that, and a configuration names files."""
GLOB_CHARACTERS = 1024
"""Characters of one pattern for files or objects: a path of a SONiC object has fewer than 100."""
PATH_BYTES = 4096
"""Bytes of a path, including the final zero byte: Linux opens no file by a longer path (limits.h, PATH_MAX)."""

LINKS = 2_000_000
"""Links of one fabric: nearly four times those to 65,536 hosts with eight links each."""
SWITCH_PORTS = 4096
"""Ports of one switch that an intent needs: about four times those that the largest of the profiles splits into."""
FRAMES_AHEAD = 1 << 20
"""Frames that a NIC accepts ahead of the next one in order: more than any NIC tracks of a flow."""

EDITOR_TEXT_CHARACTERS = 8 * MIB
"""Characters of one text in an editor: all of it is checked again in every pause of typing, which takes seconds."""
EDITOR_TEXTS_CHARACTERS = 64 * MIB
"""Characters of all texts that are open in an editor: a server keeps them in memory for days."""
EDITOR_MESSAGE_BYTES = 4 * EDITOR_TEXT_CHARACTERS
"""Bytes of one message of an editor: JSON writes quotes and line breaks with two, and letters with up to four."""
EDITOR_HEADER_BYTES = 8 * 1024
"""Bytes before a message of an editor, which has two fields there (Language Server Protocol 3.17, Base Protocol)."""
