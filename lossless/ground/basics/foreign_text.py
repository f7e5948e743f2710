"""Text from files and arguments, made harmless for what reads it: a terminal, the log of a CI job, Markdown, XML.

Two places use it. What composes a text passes each name through :func:`visible` (or plain data through
:func:`spelled_out`), so that a line break in a name starts no line. The streams of the command line pass all that
is written through :func:`gated`, which lets nothing through that a terminal or a CI runner obeys.

Only what can harm is spelled out (``\\x1b``, ``\\u202e``): control characters, format characters such as those
that turn the direction of text, line separators, lone surrogates, blanks other than the space, what has no assigned
meaning, and letters that cannot be seen. Letters, marks and emoji of any script stay. U+200C and U+200D stay between
two visible characters beyond ASCII: Persian and the scripts of India are spelled with them, and emoji joined. Next to
ASCII they would only make two names look the same.
"""

from __future__ import annotations

import os
from typing import Any, Literal

Form = Literal["text", "github", "json", "markup"]
"""What a stream is given: text for people, workflow commands for GitHub, JSON or YAML, Markdown or XML."""

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Fillers and a blank that Unicode counts as letters, marks or symbols, and that nobody sees."""
_JOINERS = "\u200c\u200d"
_SELECTORS = frozenset(
    map(chr, (*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
"""Variation selectors choose the form of the one character before them, and are not seen themselves."""
_KEYCAP = "\u20e3"

_MARK = f"\x1b{os.urandom(8).hex()};"
"""Begins a color: nobody who writes a file can know it."""
_COMMAND = "::"
"""What a line begins with that GitHub's runner obeys, after blanks (actions/runner ActionCommand.cs @079cdb1)."""
_ANYWHERE = ("##[", "##vso[", "##teamcity[")
"""What is obeyed or hidden anywhere in a line.

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
    r"^(?:[-+=]+|\d{1,9}[.)])(?=\s|$)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?i:\bwww)(?=\.)"
)
"""What begins a list or an address, or makes text italic; an underscore within a word does not."""
_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def visible(text: str) -> str:
    """Return text on one line with every character spelled out that could move a cursor or hide another."""
    if text.isprintable() and (text.isascii() or not _may_hide(text)):
        return text
    return "".join(visible_chars(text))


def on_one_line(text: str) -> str:
    """Return text whose line breaks alone are spelled out: what stays data is made visible where it is shown."""
    return text.replace("\r", "\\r").replace("\n", "\\n") if "\n" in text or "\r" in text else text


def visible_chars(text: str) -> list[str]:
    """Return the characters of a text, each as it is shown there: as it is, or its escape."""
    if text.isprintable() and (text.isascii() or not _may_hide(text)):
        return [*text]
    return [_shown(text, at) for at in range(len(text))]


def visible_lines(text: str) -> str:
    """Return text of several lines that is harmless; for text that we compose, never for a name."""
    return text if text.isprintable() and text.isascii() else "\n".join(map(visible, text.split("\n")))


def spelled_out(data: Any) -> Any:
    """Return plain data with every text in it :func:`visible`, keys too."""
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
    """Return text with a mark before and after it, which only :func:`gated` makes colors of."""
    return f"{_MARK}{code}m{text}{_MARK}0m"


def gated(text: str, form: Form = "text") -> str:
    """Return what may be written to a stream: lines as they are but for what a terminal or a CI runner obeys."""
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
    """Return text that Markdown shows as it is, on one line: no link, no HTML, no table, nobody is called."""
    import re

    def entities(match: re.Match[str]) -> str:
        return "".join(f"&#{ord(char)};" for char in match[0])

    return re.sub(_MARKDOWN_STARTS, entities, visible(text).strip().translate(_MARKDOWN))


def xml(text: str) -> str:
    """Return text for XML, HTML and SVG, in an element or in quotes; without what XML 1.0, 2.2 forbids."""
    return visible_lines(text).translate(_XML)


def workflow_data(text: str) -> str:
    """Escape what follows a workflow command, as GitHub's runner undoes it (ActionCommand.cs @079cdb1)."""
    return visible_lines(text).replace("%", "%25").replace("\n", "%0A")


def workflow_property(value: object) -> str:
    """Escape a property of a workflow command (ActionCommand.cs @079cdb1)."""
    return workflow_data(visible(str(value))).replace(":", "%3A").replace(",", "%2C")


def _gated_line(line: str, form: Form) -> str:
    parts = line.split(_MARK)
    # A color's code ends with its first m.
    codes, texts = zip(("", parts[0]), *(_divided(part) for part in parts[1:]), strict=True)
    plain = "".join(texts)
    shown = [_tabs_kept(text) for text in texts]
    if form != "github" and plain.lstrip().startswith(_COMMAND):
        shown = _without_command(shown, form)
    return "".join(code + _without_prefixes(text, form) for code, text in zip(codes, shown, strict=True))


def _divided(part: str) -> tuple[str, str]:
    code, _, text = part.partition("m")
    return f"\x1b[{code}m", text


def _tabs_kept(text: str) -> str:
    return "\t".join(map(visible, text.split("\t"))) if "\t" in text else visible(text)


def _without_command(texts: list[str], form: Form) -> list[str]:
    """Return the parts of a line with the first colon spelled out."""
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
    """Return one character of a text as it is shown there."""
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
    """Return whether a character is visible and beyond ASCII; after one a joiner or a selector has a meaning."""
    seen = char.isprintable() and char not in _UNSEEN and not char.isascii()
    return seen and (or_selector or char not in _SELECTORS)


def _escape(char: str) -> str:
    # A printable one that is not seen is escaped by its number too.
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
