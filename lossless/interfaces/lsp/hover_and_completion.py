"""Hovers and completions: the documentation of a rule or a key, and the valid words at the cursor.

The key of an intent at the cursor is found by indentation and brackets, line by line, because a text that is being
typed is often not valid YAML. Anchors, aliases and block scalars are ignored.
"""

from __future__ import annotations

import re

from lsprotocol.types import CompletionItem, CompletionItemKind, MarkupContent, MarkupKind

from lossless.ground.basics.records import NamedTuple
from lossless.interfaces.api.reference import IntentKey, find_rule, intent_key, intent_keys, intent_values


def of_rule(code: str) -> str | None:
    """Return the documentation of a rule as Markdown, None where there is none of that code."""
    rule = find_rule(code)
    return None if rule is None else rule.page


def of_key(path: Path, transport: str | None = None) -> str | None:
    """Return the description of an intent's key as Markdown, None if there is no such key.

    For a name that the user chose, such as that of a class, it is the description of the key above it.

    Without a known ``transport`` the key may be one of any intent.
    """
    key = intent_key(path, transport)
    return None if key is None else _markdown(key)


def _markdown(key: IntentKey) -> str:
    paragraphs = [f"**{key.dotted_path}**", key.description]
    if key.default is not None:
        paragraphs.append(f"Default: `{key.default}`")
    if key.choices:
        paragraphs.append(f"One of: {_code(key.choices)}")
    if key.examples:
        paragraphs.append(f"Example: {_code(key.examples)}")
    return "\n\n".join(paragraphs)


def _code(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def completions(cursor: Cursor, transport: str | None = None) -> list[CompletionItem]:
    """Return the keys or values that are valid at the cursor in an intent; of any ``transport`` if it is unknown."""
    if cursor.path == ("transport",):
        transport = None
    return _values(cursor.path, transport) if cursor.in_value else _keys(cursor.path, transport)


def _keys(path: Path, transport: str | None) -> list[CompletionItem]:
    return [
        CompletionItem(
            key.name,
            kind=CompletionItemKind.Property,
            documentation=MarkupContent(MarkupKind.Markdown, _markdown(key)),
            insert_text=f"{key.name}: ",
        )
        for key in intent_keys(path, transport)
    ]


def _values(path: Path, transport: str | None) -> list[CompletionItem]:
    choices, examples = intent_values(path, transport)
    return [
        *(CompletionItem(word, kind=CompletionItemKind.EnumMember) for word in choices),
        *(CompletionItem(word, kind=CompletionItemKind.Value, detail="an example") for word in examples),
    ]


Path = tuple[str | int, ...]
_LINE = re.compile(r"\r\n|\r|\n")
_BLOCK = re.compile(
    r"""(?P<indent>[ ]*)(?P<dashes>(?:-[ ]+)*)
        (?:(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^\s\#:{}\[\],"'-][^\s:{}\[\],"']*))[ ]*:(?=[ ]|$))?
        (?P<rest>.*)""",
    re.VERBOSE,
)
_TOKEN = re.compile(r"""\s*(?:(?P<mark>[{}\[\],]|:(?=[\s{\[]|$))|"(?P<double>[^"]*)"|'(?P<single>[^']*)'
    |(?P<comment>\#.*)|(?P<plain>[^\s{}\[\],:"'][^{}\[\],:"']*|:))""", re.VERBOSE)  # fmt: skip
_TRANSPORT = re.compile(r"^transport[ ]*:[ ]*([a-z0-9]+)", re.MULTILINE)
_AFTER = re.compile(r"""[\w./-]*""")


class Cursor(NamedTuple):
    """The position of a cursor: the keys above it, the typed part of a word, and whether the word is a value.

    The path of a value leads to its key, that of a key to its mapping.
    """

    path: Path
    typed: str
    in_value: bool


class _Brackets:
    """One open pair of brackets: the key before the last colon, and the words typed since that or the last comma."""

    __slots__ = ("is_list", "key", "word")

    def __init__(self, is_list: bool) -> None:
        self.is_list = is_list
        self.key: str | None = None
        self.word = ""

    @property
    def step(self) -> Path:
        return (0,) if self.is_list else () if self.key is None else (self.key,)


class _CursorReader:
    """Reads YAML line by line up to the cursor; ``block`` are keys by their indentation, ``flow`` the open brackets."""

    def __init__(self) -> None:
        self.block: list[tuple[int, Path]] = []
        self.flow: list[_Brackets] = []
        self.cursor = Cursor((), "", in_value=False)

    @property
    def path(self) -> Path:
        below: Path = ()
        for _, step in self.block:
            below += step
        for brackets in self.flow:
            below += brackets.step
        return below

    def read(self, line: str) -> None:
        """Read a line, and set the cursor to its end."""
        match = _BLOCK.match(line)
        assert match is not None  # every part of it may be empty
        if self.flow and not self._ends_brackets(match):
            self.read_flow(line)
            return
        self.flow.clear()
        rest = match["rest"].strip()
        key = next((match[name] for name in ("double", "single", "plain") if match[name] is not None), None)
        if key is None and (not rest or rest.startswith("#")) and not match["dashes"]:
            self.cursor = Cursor(self._at(len(line)), "", in_value=False)
            return
        self._step(len(match["indent"]), len(match["dashes"]), key)
        if rest.startswith(("{", "[")):
            self.read_flow(rest)
        elif rest.startswith("#"):
            self.cursor = Cursor(self.path, "", in_value=False)
        else:
            in_list = bool(self.block) and self.block[-1][1] == (0,)
            self.cursor = Cursor(self.path, rest, in_value=key is not None or (in_list and not rest))

    def read_flow(self, text: str) -> None:
        """Read text within or from an opening bracket, and set the cursor to its end."""
        at = 0
        while self.flow or not at:
            match = _TOKEN.match(text, at)
            if match is None or match["comment"]:
                break
            at = match.end()
            if match["mark"]:
                self._mark(match["mark"])
            elif self.flow:
                word = next(match[name] for name in ("double", "single", "plain") if match[name] is not None)
                self.flow[-1].word += word
        if self.flow:
            inner = self.flow[-1]
            self.cursor = Cursor(
                self.path, inner.word.strip(), in_value=inner.is_list or inner.key is not None
            )
        else:
            self.cursor = Cursor(self.path, "", in_value=False)

    def _ends_brackets(self, line: re.Match[str]) -> bool:
        """Return whether a key on a line ends brackets that were left open above it."""
        is_key = any(line[name] is not None for name in ("double", "single", "plain"))
        return is_key and bool(self.block) and len(line["indent"]) <= self.block[-1][0]

    def _at(self, indent: int) -> Path:
        """Return the path of keys with less indentation than ``indent``."""
        return tuple(key for at, step in self.block if at < indent for key in step)

    def _step(self, indent: int, dashes: int, key: str | None) -> None:
        self.block = [
            (at, step) for at, step in self.block if at < indent or (dashes and at == indent and step != (0,))
        ]
        if dashes:
            self.block.append((indent, (0,)))
        if key is not None:
            self.block.append((indent + dashes, (key,)))

    def _mark(self, mark: str) -> None:
        if mark in "{[":
            self.flow.append(_Brackets(mark == "["))
        elif mark in "}]":
            self.flow.pop()
        elif mark == ",":
            self.flow[-1].key, self.flow[-1].word = None, ""
        else:
            self.flow[-1].key, self.flow[-1].word = self.flow[-1].word.strip(), ""


def cursor_at(text: str, line: int, column: int) -> Cursor:
    """Return the cursor at a line and column of an intent, both from 0, the column in code points."""
    lines = _LINE.split(text)[: line + 1]
    reader = _CursorReader()
    for before in lines[:line]:
        reader.read(before)
    reader.read(lines[line][:column] if line < len(lines) else "")
    return reader.cursor


def key_at(text: str, line: int, column: int) -> Path:
    """Return the path of the key at the cursor, or of one whose value is there or before it on the line; else empty."""
    lines = _LINE.split(text)
    if line >= len(lines):
        return ()
    match = _AFTER.match(lines[line], column)
    end = match.end() if match else column
    path, typed, in_value = cursor_at(text, line, end)
    if in_value:
        return path if typed else ()
    return (*path, typed) if typed else ()


def transport_in(text: str) -> str | None:
    """Return the transport that an intent names, None if it names none yet."""
    match = _TRANSPORT.search(text)
    return match[1] if match else None
