"""The prose of a file: what a person reads in it, with where it stands.

Of Markdown all but code; of templates the comments; of Python docstrings and comments, and of the package also string
literals: what a command prints is among them. Code, identifiers, paths and numbers become a code span, which a checker
does not read; so do the fields of an f-string.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_CODE = "`x`"
_UNIT = r"(?:\ (?:[num]?s|[kMGT]?i?B|[GM]?b/s|[mdrth])\b)?"
_NOT_PROSE = re.compile(
    rf"""``.+?``|`[^`]+`                                 # code, in Markdown and in docstrings
    | :\w+:(?=`)                                         # what reStructuredText calls a role
    | <[a-z/][^<>]*> | {{[{{%].*?[%}}]}}                    # tags of HTML and of Jinja
    | https?://\S+ | \]\([^)\s]*\)                       # addresses
    | (?<![\w-])--?[A-Za-z][\w-]*                        # options of commands
    | [\w.~-]*(?:[\w\]}}][_=/@|<>{{}}\\]|\w[.:](?=\w)|[/~@]\w)[^\s,;]*\w  # identifiers, paths, settings
    | (?<=\ )[\\\#](?:\w+|(?=\s)) | \bFibre\ Channel\b    # characters; a standard that is spelled so
    | \b\w\.\.\w\b | \w*_\w*
    | \w*\d\w*{_UNIT}                                    # numbers with their units, codes of rules
    | \b[a-z]+[A-Z]\w* | \b\w+Error\b | \bHWSKUs?\b      # names of fields and of classes
    | (?<!['’\w])[B-HJ-Zb-hj-z]\b\.?(?!['’])             # letters of formulas, initials
    """,
    re.VERBOSE | re.DOTALL,
)
# Several in one, what is glued to one, and its unit.
_GLUED = re.compile(r"(?:[\w'-]*`x`)+[\w'-]*" + _UNIT)
_WORD = re.compile(r"\b[A-Za-z]\w+\b")
_HUMPS = re.compile(r"(?:[A-Z]+[a-z]+){2,}[A-Z]?\w*")
# The readable name of a rule, alone or behind its code.
_RULE_NAME = re.compile(r"(?:# [A-Z]{2,3}\d{3} )?[a-z0-9]+(?:-[a-z0-9]+)+")
_PROGRAM_TEXT = re.compile(r"\(\?[:P=!<]|\\[dswb]|\$\(|\]\+|\{%")


class Passage(NamedTuple):
    """One paragraph, and the lines it is in."""

    file: str
    line: int
    last: int
    text: str


def paragraphs(file: str, line: int, text: str) -> Iterator[Passage]:
    """Yield the paragraphs of Markdown, of a docstring or of a comment: no code blocks, each cell of a table alone."""
    held: list[str] = []
    fence = ""
    for number, each in enumerate([*text.split("\n"), ""], line):
        row = each.strip()
        mark = row[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
            row = ""
        elif fence or row.startswith("<!--") or _RULE_NAME.fullmatch(row):
            row = ""
        if file.endswith(".md") and each.startswith("    ") and not held:
            row = ""
        if (not row or row.startswith("|") or re.match(r"(?:[-*#>]+|\d+\.) ", row)) and held:
            yield Passage(file, number - len(held), number - 1, "\n".join(held))
            held = []
        if row.startswith("|"):
            yield from (
                Passage(file, number, number, cell.strip())
                for cell in row.split("|")
                if cell.strip() and not _RULE_NAME.fullmatch(cell.strip())
            )
        elif row:
            held.append(row)


def _literal(node: ast.Constant | ast.JoinedStr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else _CODE
        for part in parts
    )


def _says_something(text: str) -> bool:
    return (
        len(re.findall(r"[A-Za-z]{2,}", text)) > 2 and " " in text.strip() and not _PROGRAM_TEXT.search(text)
    )


def _strings(tree: ast.AST) -> Iterator[tuple[ast.Constant | ast.JoinedStr, bool]]:
    """Yield each string literal of a module, and whether it is a docstring."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.value, True
        elif isinstance(node, ast.JoinedStr):
            yield node, False
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node, False
        elif not (isinstance(node, ast.Attribute) and node.attr == "split"):
            yield from _strings(node)


def _comments(file: str, numbered: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """Yield the paragraphs of comments: lines with text that follow each other are one."""
    block: list[str] = []
    following = 0
    for line, text in [*numbered, (0, "")]:
        if block and line != following:
            yield from paragraphs(file, following - len(block), "\n".join(block))
            block = []
        block.append("" if re.match(r"(?:type|noqa|fmt|ruff|shellcheck|pragma|mypy)\b|!", text) else text)
        following = line + 1


def python(file: str, text: str, *, literals: bool) -> Iterator[Passage]:
    """Yield the prose of a Python file: docstrings, comments, and with ``literals`` what other strings say."""
    for node, documents in _strings(ast.parse(text)):
        if documents or (literals and _says_something(_literal(node))):
            yield from paragraphs(file, node.lineno, _literal(node))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from _comments(
        file,
        ((each.start[0], each.string.lstrip("#: -")) for each in tokens if each.type == tokenize.COMMENT),
    )


def template(file: str, text: str) -> Iterator[Passage]:
    """Yield the comments of a template: those of Jinja, and those of the file that it renders."""
    for comment in re.finditer(r"\{#-?(.*?)-?#\}", text, re.DOTALL):
        yield from paragraphs(file, 1 + text.count("\n", 0, comment.start()), comment[1])
    lines = (re.match(r"\s*#+ (.*)", line) for line in text.split("\n"))
    yield from _comments(file, ((number, line[1]) for number, line in enumerate(lines, 1) if line))


def passages(file: str, text: str) -> Iterator[Passage]:
    """Yield the prose of one file."""
    if file.endswith(".md"):
        yield from paragraphs(file, 1, text)
    elif file.endswith(".py"):
        yield from python(file, text, literals=file.startswith("lossless/"))
    else:
        yield from template(file, text)


def plain(text: str, words: Collection[str], names: Collection[str] = ()) -> str:
    """Replace what is not prose, and the names that are given, with code spans; lines stay."""

    def code(found: re.Match[str]) -> str:
        return _CODE + "\n" * found[0].count("\n")

    def word(found: re.Match[str]) -> str:
        is_code = found[0] in names or (_HUMPS.fullmatch(found[0]) and found[0] not in words)
        return _CODE if is_code else found[0]

    return _GLUED.sub(code, _WORD.sub(word, _NOT_PROSE.sub(code, text)))
