"""Texts changed as somebody careless or hostile would: values, keys, words and lines, rather than bits."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

_WORD = re.compile(r"[A-Za-z0-9_.+-]+|[ \t]+|.|\n", re.DOTALL)
_OTHER: tuple[Any, ...] = (0, -1, 1.5, True, False, None, [], {}, [[]], 10**40, -(10**299), 1e308)
_WORDS = (
    "0", "-1", "8", "26", "48", "99999", "4294967296", "1e9", "nan", "inf", "0x1f", "0b1", "1_000", "010",
    "no", "null", "~", "3,3,4", "3-", "7-3", "0-99999999", "١٢", "½", ",", "|", ":", "/", "..",
    "../../etc/passwd", "*", "**", "%", "%s", "{}", "&a", "*a", "<<", "#", "'", "\"",
    "!!python/object:os.system", "<script>", "](javascript:x)", "é", "🦀", "Ethernet0", "Ethernet99999",
    "leaf1", "100%", "101%", "1us", "5ms", "400G", "0G", "ecn_all",
)  # fmt: skip
_TEXTS = (
    "",
    " ",
    "{{ x }}",
    "\\",
    "800 KiB",
    "1 x 400G",
    "-5 KiB",
    "99999999999 GiB",
    "9" * 40,
    "9" * 299,
    "a" * 3000,
)
_CONTROLS = ("\u202e", "\u2028", "\x1b[2J", "\x07", "\n::error::x", "\ufeff", "\x85")
SCALARS: tuple[Any, ...] = (*_OTHER, *_WORDS, *_TEXTS, *_CONTROLS)
"""Values that readers of numbers, names, lists, units, paths, markup and templates have stumbled on."""


def mutated(text: str, name: str, chance: random.Random) -> str:
    """Return a text with one to four changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        text = _mutation(text, name, chance)(text, chance)
    return text


def _mutation(text: str, name: str, chance: random.Random) -> Callable[[str, random.Random], str]:
    if name.endswith(".json") and text[:1] in "{[" and chance.random() < 0.7:
        return _in_json
    return chance.choice((_in_words, _in_words, _in_lines, _in_bytes))


def _in_json(text: str, chance: random.Random) -> str:
    try:
        data = json.loads(text)
    except ValueError:
        return _in_words(text, chance)
    places = list(_places(data))
    if not places:
        return _in_words(text, chance)
    holder, key = chance.choice(places)
    _change(holder, key, chance)
    return json.dumps(data)


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield data, key
        yield from _places(value)


def _change(holder: Any, key: Any, chance: random.Random) -> None:
    match chance.randrange(5):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[str(chance.choice(SCALARS))] = holder.pop(key)
        case 2 if isinstance(holder, dict) and isinstance(key, str):
            holder[key + str(chance.choice(SCALARS))] = holder[key]
        case 3:
            holder[key] = {str(chance.choice(SCALARS)): holder[key]}
        case _:
            holder[key] = chance.choice(SCALARS)


def _in_words(text: str, chance: random.Random) -> str:
    words = _WORD.findall(text)
    if not words:
        return str(chance.choice(SCALARS))
    at = chance.randrange(len(words))
    match chance.randrange(5):
        case 0:
            del words[at]
        case 1:
            words[at : at + 1] = words[at : at + 1] * chance.choice((2, 2, 50))
        case 2:
            words[at] = chance.choice(words)
        case 3:
            words.insert(at, str(chance.choice(SCALARS)))
        case _:
            words[at] = str(chance.choice(SCALARS))
    return "".join(words)


def _in_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(chance.randrange(len(lines)), lines[at])
        case 2:
            lines[at] = chance.choice((" ", "  ", "\t", "- ", "# ")) + lines[at]
        case 3:
            del lines[at:]
        case _:
            lines[at] = lines[at].lstrip()
    return "".join(lines)


def _in_bytes(text: str, chance: random.Random) -> str:
    """Return a text in which one character is another, which need not be one of text."""
    if not text:
        return "\0"
    at = chance.randrange(len(text))
    return text[:at] + chance.choice("\0\x01\t\r\x7f\x85\u2028\ufffe\"'{}[]:,#&*!|>%@`-0a") + text[at + 1 :]
