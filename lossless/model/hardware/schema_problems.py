"""Problems of profile files, each with its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from lossless.ground.basics.errors import ProfileError, QuantityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic_core import ErrorDetails

Problem = tuple[str, str]
"""A key of a file, and its problem."""
_Model = TypeVar("_Model", bound=BaseModel)


def shape(path: str, model: type[_Model], raw: dict[str, Any]) -> _Model:
    """Return the contents of a file as a model.

    Raises:
        ProfileError: one line for each problem: file, key, value and the expected form.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        problems = [
            (_key(problem["loc"]), _shape_message(problem)) for problem in error.errors(include_url=False)
        ]
        raise _error(path, problems) from error


def _key(parts: tuple[int | str, ...]) -> str:
    # Arrays are counted from 1, as a person counts the [[hwsku]] of a file.
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in parts if part != "[key]")


def _shape_message(problem: ErrorDetails) -> str:
    if problem["type"] == "missing":
        return "is missing"
    if problem["type"] == "extra_forbidden":
        return "is not a key that a profile has here"
    expected = problem["msg"].removeprefix("Input should be ").replace("String should", "text to")
    return f"is {problem['input']!r}; expected {expected}"


def _error(path: str, problems: list[Problem]) -> ProfileError:
    return ProfileError(*(f"{path}: {key}: {message}" for key, message in problems))


def refuse(path: str, problems: list[Problem]) -> None:
    """Raise the problems of a file as one error, if there are any.

    Raises:
        ProfileError: one line for each problem.
    """
    if problems:
        raise _error(path, problems)


def columns(key: str, actual: str, expected: str) -> Iterator[Problem]:
    """Yield a problem where a table does not have its required columns."""
    if actual != expected:
        yield key, f"is {actual!r}; expected {expected!r}"


def readable(key: str, read: Callable[..., object], *arguments: object) -> Iterator[Problem]:
    """Yield the error of the function that parses a value, as a problem."""
    try:
        read(*arguments)
    except (ProfileError, QuantityError) as error:
        yield key, str(error)


def reference(key: str, name: str, known: Mapping[str, object]) -> Iterator[Problem]:
    """Yield a problem where a name does not refer to a known object."""
    if name not in known:
        yield key, f"is {name!r}; expected one of {', '.join(known) or 'none: there is no such table'}"
