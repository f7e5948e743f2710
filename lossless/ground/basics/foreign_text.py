r"""Makes text from files and arguments harmless for a terminal, the log of a CI job, Markdown and XML.

It is applied in two places. Code that composes a text passes each name through :func:`visible` (or plain data through
:func:`spelled_out`), so that a line break in a name starts no line. The streams of the command line pass all output
through :func:`gated`, which escapes commands to a terminal or a CI runner; the colors of reports stay, and in the form
``github`` lines that begin with ``::``.

Only harmful characters are escaped (``\x1b``, ``\u202e``): control characters, format characters such as those
that turn the direction of text, line separators, lone surrogates, blanks other than the space, private-use and
unassigned code points, and invisible letters. Letters, marks and emoji of any script stay. Variation selectors stay
after a visible character beyond ASCII and before a keycap. U+200C and U+200D stay between two such characters, the
first with or without a selector: Persian and the scripts of India are spelled with them, and emoji joined. Next to
ASCII they would only make two names look the same.
"""

from __future__ import annotations

import os
from typing import Any, Literal

Form = Literal["text", "github", "json", "markup"]
"""The content of a stream: text for people, workflow commands for GitHub, JSON or YAML, Markdown or XML."""

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Fillers and a blank that Unicode counts as letters, marks or symbols, although they are invisible."""
_JOINERS = "\u200c\u200d"
_SELECTORS = frozenset(
    map(chr, (*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
"""Variation selectors, which choose the form of the character before them and are invisible themselves."""
_KEYCAP = "\u20e3"

_MARK = f"\x1b{os.urandom(8).hex()};"
"""The beginning of a color: random, so that no file can contain it."""
_COMMAND = "::"
"""The beginning, after blanks, of lines that GitHub's runner executes (actions/runner ActionCommand.cs @079cdb1)."""
_ANYWHERE = ("##[", "##vso[", "##teamcity[")
"""Sequences that a runner executes or hides anywhere in a line.

Sources: actions/runner ActionCommand.cs @079cdb1; microsoft/azure-pipelines-agent Command.cs @095e99b.
"""
_SPELLED: dict[Form, str] = {
    "text": "\\x{:02x}",
    "github": "\\x{:02x}",
    "json": "\\u{:04x}",
    "markup": "&#{};",
}
_MARKDOWN = str.maketrans(
    {char: f"&#{ord(char)};" for char in "\\`*[]<>#|&$~"}
    # The sign alone would still call a person: pages are searched for names after they were made.
    | {"@": "&#64;&#8203;"}
)
_MARKDOWN_STARTS = (
    r"^(?:[-+=]+|[0-9]{1,9}[.)])(?=\s|$)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?i:\bwww)(?=\.)"
)
"""The pattern of text that begins a list, an address or italic text, or underlines a heading.

An underscore within a word does not match.
"""
_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def visible(text: str) -> str:
    """Return text on one line in which characters that could move a cursor or hide others are escaped."""
    if text.isprintable() and (text.isascii() or not _may_hide(text)):
        return text
    return "".join(visible_chars(text))


def on_one_line(text: str) -> str:
    """Return text with only its line breaks escaped, for data that is made visible when it is shown."""
    return text.replace("\r", "\\r").replace("\n", "\\n") if "\n" in text or "\r" in text else text


def visible_chars(text: str) -> list[str]:
    """Return the characters of a text in their visible form: unchanged, or escaped."""
    if text.isprintable() and (text.isascii() or not _may_hide(text)):
        return [*text]
    return [_shown(text, at) for at in range(len(text))]


def visible_lines(text: str) -> str:
    """Return harmless text of several lines; for composed text, never for a name."""
    return text if text.isprintable() and text.isascii() else "\n".join(map(visible, text.split("\n")))


def spelled_out(data: Any) -> Any:
    """Return plain data in which every text, including keys, is :func:`visible`."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, dict):
        return {spelled_out(key): spelled_out(value) for key, value in data.items()}
    if isinstance(data, list):
        return [spelled_out(value) for value in data]
    if isinstance(data, tuple):
        values = map(spelled_out, data)
        return type(data)._make(values) if hasattr(data, "_make") else tuple(values)
    return data


def coloured(text: str, code: str) -> str:
    """Return text with a mark before and after it, which only :func:`gated` turns into colors."""
    return f"{_MARK}{code}m{text}{_MARK}0m"


def gated(text: str, form: Form = "text") -> str:
    """Return text for a stream, with harmful characters escaped and marks as colors.

    Commands of CI runners are escaped too; in the form ``github`` lines that begin with ``::`` stay.
    """
    flat = text.replace("\n", "")
    if (
        flat.isprintable()
        and _COMMAND not in flat
        and "##" not in flat
        and (flat.isascii() or not _may_hide(flat))
    ):
        return text
    return "\n".join(_gated_line(line, form) for line in text.split("\n"))


def markdown(text: str) -> str:
    """Return text that Markdown shows literally, on one line: without links, HTML, tables and mentions."""
    import re

    def entities(match: re.Match[str]) -> str:
        return "".join(f"&#{ord(char)};" for char in match[0])

    return re.sub(_MARKDOWN_STARTS, entities, visible(text).strip().translate(_MARKDOWN))


def xml(text: str) -> str:
    """Return text for XML, HTML and SVG, in an element or in quotes; without characters that XML 1.0, 2.2 forbids."""
    return visible_lines(text).translate(_XML)


def workflow_data(text: str) -> str:
    """Return text escaped for the data of a workflow command of GitHub's runner (ActionCommand.cs @079cdb1)."""
    return visible_lines(text).replace("%", "%25").replace("\n", "%0A")


def workflow_property(value: object) -> str:
    """Return text escaped for a property of a workflow command (ActionCommand.cs @079cdb1)."""
    return workflow_data(visible(str(value))).replace(":", "%3A").replace(",", "%2C")


def _gated_line(line: str, form: Form) -> str:
    parts = line.split(_MARK)
    # A color's code ends with its first m.
    codes, texts = zip(("", parts[0]), *(_divided(part) for part in parts[1:]), strict=True)
    plain = "".join(texts)
    shown = [("\t".join(map(visible, text.split("\t"))) if "\t" in text else visible(text)) for text in texts]
    if form != "github" and plain.lstrip().startswith(_COMMAND):
        shown = _without_command(shown, form)
    return "".join(code + _without_prefixes(text, form) for code, text in zip(codes, shown, strict=True))


def _divided(part: str) -> tuple[str, str]:
    code, _, text = part.partition("m")
    return f"\x1b[{code}m", text


def _without_command(texts: list[str], form: Form) -> list[str]:
    """Return the parts of a line with the first colon escaped."""
    first = next(at for at, text in enumerate(texts) if ":" in text)
    changed = texts[first].replace(":", _SPELLED[form].format(ord(":")), 1)
    return [*texts[:first], changed, *texts[first + 1 :]]


def _without_prefixes(text: str, form: Form) -> str:
    if "##" in text:
        for prefix in _ANYWHERE:
            text = text.replace(prefix, _SPELLED[form].format(ord("#")) + prefix[1:])
    return text


def _may_hide(text: str) -> bool:
    return not _UNSEEN.isdisjoint(text) or not _SELECTORS.isdisjoint(text)


def _shown(text: str, at: int) -> str:
    """Return the visible form of one character of a text."""
    char = text[at]
    if char in _JOINERS:
        kept = (
            0 < at < len(text) - 1 and _is_plain(text[at - 1], or_selector=True) and _is_plain(text[at + 1])
        )
    elif char in _SELECTORS:
        kept = at > 0 and (_is_plain(text[at - 1]) or text[at + 1 : at + 2] == _KEYCAP)
    else:
        kept = char.isprintable() and char not in _UNSEEN
    return char if kept else _escape(char)


def _is_plain(char: str, *, or_selector: bool = False) -> bool:
    """Return whether a character is visible and beyond ASCII; a variation selector is only with ``or_selector``."""
    seen = char.isprintable() and char not in _UNSEEN and not char.isascii()
    return seen and (or_selector or char not in _SELECTORS)


def _escape(char: str) -> str:
    # A printable one that is not seen is escaped by its number too.
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
