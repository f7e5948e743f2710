"""Retired phrases in what the repository holds: which, where, and what to write instead.

``docs/retired-phrases.toml`` has the phrases, as patterns, and where each is permitted. Without arguments all files
that git tracks are read; an underscore counts as a blank, so that names in code and in tests are read, too.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parent.parent
LIST = "docs/retired-phrases.toml"
# Between two words: blanks, or the end of a line and what begins the next one of a comment.
_BETWEEN = r"[\s#*]+"


class Phrase(NamedTuple):
    """A retired phrase: a pattern in lower case, what is written instead, and the globs of permitted paths."""

    pattern: re.Pattern[str]
    write: str
    permitted: tuple[str, ...]


class Use(NamedTuple):
    """One use of a retired phrase; lines count from 1."""

    file: str
    line: int
    text: str
    write: str


def phrases(text: str) -> list[Phrase]:
    """Return the phrases of a list.

    Raises:
        KeyError: an entry has no pattern, or does not say what to write instead.
    """
    return [
        Phrase(
            re.compile(each["pattern"].replace(" ", _BETWEEN)),
            each["write"],
            tuple(each.get("permitted", ())),
        )
        for each in tomllib.loads(text)["phrase"]
    ]


def uses(file: str, text: str, retired: Iterable[Phrase]) -> Iterator[Use]:
    """Yield the uses of retired phrases in one text, also where a line break divides a phrase."""
    plain = _plain(text)
    for phrase in retired:
        if any(fnmatchcase(file, glob) for glob in phrase.permitted):
            continue
        for use in phrase.pattern.finditer(plain):
            shown = text[use.start() : use.end()].replace("_", " ")
            yield Use(file, 1 + text.count("\n", 0, use.start()), shown, phrase.write)


def _plain(text: str) -> str:
    """Return a text as patterns match it: a search that ignores case takes ten times as long."""
    return text.lower().replace("_", " ")


def tracked() -> list[str]:
    """Return the files that git tracks, but for the list itself and its tests."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [file for file in listed.split("\0") if file and file not in (LIST, "tests/test_phrases.py")]


def main(arguments: list[str]) -> int:
    """Print every use of a retired phrase; 1 if there is one."""
    retired, count = phrases((ROOT / LIST).read_text(encoding="utf-8")), 0
    any_of_them = re.compile("|".join(phrase.pattern.pattern for phrase in retired))
    for file in arguments or tracked():
        try:
            text = (ROOT / file).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for use in uses(file, text, retired) if any_of_them.search(_plain(text)) else ():
            print(f"{use.file}:{use.line}: {use.text!r}: write {use.write}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
