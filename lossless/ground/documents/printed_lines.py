"""Splits the output of commands into numbered lines and sections, and parses the values in it.

A section begins with a command. Values are numbers with or without thousands commas, and words for unknown values.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import Problem
from lossless.ground.basics.limits import DIGITS
from lossless.ground.basics.records import UNKNOWN, NamedTuple, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from lossless.ground.basics.records import Maybe


_BREAK = re.compile(r"\r\n?|\n")
_TITLE = re.compile(
    r"\s*(==>|\[[^\]\s][^\]\s@]*+@[^\]]*+\]\s*+[#$]|[\w.-]++@[^\s#$]++[#$]|[#$])\s*+(?:sudo\s++)?(\S.*)",
    re.DOTALL,
)
"""A command after ``==>``, after the prompt of a shell, or after a bare ``$`` or ``#``."""
_BARE = ("$", "#")
_HOST = re.compile(r"# (?:host|switch) (\S+)\s*$")
_PROMPT = re.compile(r"\s*\[?[\w.-]+@([\w-]+)")
_BY_OPTION = frozenset({"-i", "-d", "dev", "--dev", "link"})

LOOKED_INTO = 65536
"""Characters at the beginning of a section that are examined to recognize its form."""


class PrintedLine(NamedTuple):
    """One line and its number, from 1."""

    number: int
    text: str


class PrintedSection(NamedTuple):
    """The output of one command, or the content of one file: ``title`` is the command, empty where the file lacks it.

    ``host`` is the machine that a snapshot or a prompt names, None without either; ``form`` is the name of the
    form of the section.
    """

    file: str
    title: str
    host: str | None
    lines: tuple[PrintedLine, ...]
    form: str = ""

    @property
    def text(self) -> str:
        """The lines of the section, separated by line feeds."""
        return "\n".join(line.text for line in self.lines)

    @property
    def head(self) -> str:
        """The first lines of the section, by which its form is recognized: at most LOOKED_INTO characters."""
        lines = (f"{line.text[:LOOKED_INTO]}\n" for line in self.lines[: LOOKED_INTO // 64])
        return "".join(lines)[:LOOKED_INTO]

    @property
    def named(self) -> str:
        """The interface or device that the command of the section names, empty without one."""
        words = self.title.split()
        after = next((name for option, name in pairwise(words) if option in _BY_OPTION), "")
        if after or words[:1] != ["ethtool"]:
            return after
        return next((word for word in words[1:] if not word.startswith("-")), "")

    def place(self, line: PrintedLine, *parts: str) -> tuple[str | int, ...]:
        """Return the path of a line, or of a part of it, in the capture of the file."""
        return (self.form, line.number, *parts)

    def problem(self, line: PrintedLine, message: str, word: str = "") -> Problem:
        """Return a problem at a word of a line, in column 1 if it is not there; without a word at the first letter."""
        index = line.text.find(word) if word else len(line.text) - len(line.text.lstrip())
        return Problem(self.file, line.number, max(index, 0) + 1, message)


def printed_lines(text: str) -> tuple[PrintedLine, ...]:
    """Return the lines of a text, without the empty one after the last line break."""
    lines = _BREAK.split(text)
    if lines and not lines[-1]:
        lines.pop()
    return tuple(PrintedLine(number, line) for number, line in enumerate(lines, start=1))


def printed_sections(text: str, file: str, commands: Container[str]) -> Iterator[PrintedSection]:
    """Yield the sections of a text: each begins with a prompt or ``==>`` and a command, or a bare sign and a known one.

    ``commands`` are the known ones.

    The text before the first of them is a section without a title, unless it is blank.
    """
    lines = printed_lines(text)
    starts = [(-1, "")] + [
        (index, title) for index, line in enumerate(lines) if (title := _title(line.text, commands))
    ]
    host = _host(lines)
    for (index, title), (end, _) in pairwise([*starts, (len(lines), "")]):
        body = lines[index + 1 : end]
        if title or any(line.text.strip() for line in body):
            by_prompt = _PROMPT.match(lines[index].text) if index >= 0 else None
            yield PrintedSection(file, title, host or (by_prompt[1] if by_prompt else None), body)


def _title(line: str, commands: Container[str]) -> str:
    """Return the command that begins a section; after a bare sign, as of a comment, only one of ``commands``."""
    match = _TITLE.match(line)
    if match is None:
        return ""
    known = match[1] not in _BARE or match[2].split()[0].rpartition("/")[2] in commands
    return match[2].rstrip() if known else ""


def _host(lines: tuple[PrintedLine, ...]) -> str | None:
    return next((match[1] for line in lines[:8] if (match := _HOST.match(line.text))), None)


def json_of(
    section: PrintedSection, *, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any | Problem:
    """Return the JSON value that a section consists of, or a problem if it is not parsed; ``pairs`` builds objects."""
    first = section.lines[0].number if section.lines else 1
    try:
        return json.loads(section.text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        ends = not section.text[error.pos :].strip()
        says = "the JSON ends before it is complete" if ends else f"no JSON: {error.msg.lower()}"
        return Problem(section.file, first + error.lineno - 1, error.colno, says)
    except (ValueError, RecursionError):
        return Problem(section.file, first, 1, "the JSON holds a number too long, or is nested too deeply")


_UNKNOWN_WORDS = frozenset(
    {"", "n/a", "na", "-", "--", "none", "null", "nil", "nan", "unknown", "unavailable"}
)
_DIGITS = re.compile(r"[0-9]{1,39}|[0-9]{1,3}(?:,[0-9]{3}){1,12}")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,32}")
_MEASURE = re.compile(r"[+-]?[0-9]{1,39}(?:\.[0-9]{1,39})?(?:[eE][+-]?[0-9]{1,2})?")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?")


def stored_value(value: object) -> Maybe[int | float | str]:
    """Return a field's value in a database or document as number, text or UNKNOWN; a text with commas stays text."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        return value
    text = value.strip()
    return UNKNOWN if text.lower() in _UNKNOWN_WORDS else number(text, value)


def printed_value(cell: str) -> Maybe[int | float | str]:
    """Return a cell of a printed table: a number, also with commas between thousands, text, or UNKNOWN."""
    text = cell.strip()
    if text.lower() in _UNKNOWN_WORDS:
        return UNKNOWN
    return number(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text, text)


def number(text: str, otherwise: str) -> int | float | str:
    """Return a number where the text is one of at most ``DIGITS`` characters, else ``otherwise``."""
    if len(text) > DIGITS:
        return otherwise
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else otherwise


def counted(word: str) -> int | Unknown:
    """Return a count of up to 39 digits, also with commas between thousands, or 32 hexadecimal ones; else UNKNOWN."""
    bare = word.strip()
    if _DIGITS.fullmatch(bare):
        return int(bare.replace(",", ""))
    return int(bare, 16) if _HEXADECIMAL.fullmatch(bare) else UNKNOWN


def measured(word: str) -> int | float | Unknown:
    """Return a number, also with a fraction or an exponent; a whole one as an integer, UNKNOWN for any other text."""
    whole = counted(word)
    if whole is not UNKNOWN or not _MEASURE.fullmatch(word.strip()):
        return whole
    number = float(word)
    return int(number) if number.is_integer() else number


def value_of(word: str) -> int | float | str | Unknown:
    """Return a number where a word is one, UNKNOWN for the words of missing values, else the word."""
    bare = word.strip()
    if bare.lower() in _UNKNOWN_WORDS:
        return UNKNOWN
    number = measured(bare)
    return bare if number is UNKNOWN else number
