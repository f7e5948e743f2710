"""GUIDs in an intent or a file beside it, which has one line a switch or HCA: ``leaf1 0x0002c90300a1b2c3``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from lossless.formats.intent.infiniband.base import number_64
from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.basics.nearest import suggestion
from lossless.ground.documents.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.intent.infiniband.load import LoadedSubnet


def guids_of(loaded: LoadedSubnet, known: Mapping[str, object]) -> dict[str, int]:
    """Return the GUIDs of switches and HCAs by name; those of the intent override those of its file.

    Raises:
        InputError: a name that is not in ``known``, a GUID with two names, or a file that cannot be read.
    """
    problems: list[Problem] = []
    guid_of: dict[str, int] = {}
    owners: dict[int, str] = {}
    for name, guid, problem_of in (*_of_file(loaded, problems), *_of_intent(loaded)):
        if name not in known:
            problems.append(problem_of(f"there is no switch or HCA {name}{suggestion(name, known)}"))
        elif guid is not None and owners.setdefault(guid, name) != name:
            problems.append(problem_of(f"{guid:#018x} is already the GUID of {owners[guid]}"))
        elif guid is not None:
            guid_of[name] = guid
    if problems:
        raise InputError(problems)
    return guid_of


class _GuidPlace:
    """Creates problems located at one place."""

    def __init__(self, file: str, line: int | None, column: int | None) -> None:
        self._file, self._line, self._column = file, line, column

    def __call__(self, message: str) -> Problem:
        return Problem(self._file, self._line, self._column, message)


_Stated = tuple[str, int | None, _GuidPlace]


def _of_intent(loaded: LoadedSubnet) -> Iterator[_Stated]:
    for name, guid in loaded.intent.guids.items():
        span = loaded.document.locate(("guids", name))
        yield name, guid, _GuidPlace(loaded.document.file, span.line, span.column)


def _of_file(loaded: LoadedSubnet, problems: list[Problem]) -> Iterator[_Stated]:
    """Yield the GUIDs of the file that an intent names; text after a # is a comment."""
    if loaded.intent.guid_file is None:
        return
    path = str(Path(loaded.document.file).parent / loaded.intent.guid_file)
    for number, line in enumerate(_lines(loaded, path), 1):
        words = line.partition("#")[0].split()
        place = _GuidPlace(path, number, 1)
        if len(words) == 2:
            try:
                yield words[0], number_64(words[1]), place
            except PydanticCustomError as error:
                problems.append(place(error.message()))
        elif words:
            problems.append(place("expected a name and a GUID, as in: leaf1 0x0002c90300a1b2c3"))


def _lines(loaded: LoadedSubnet, path: str) -> list[str]:
    try:
        return read_text(path).splitlines()
    except InputError as error:
        says = f"guid_file: {error.problems[0].message}"
        raise InputError([loaded.problem(loaded.origin("guid_file"), says)]) from None
