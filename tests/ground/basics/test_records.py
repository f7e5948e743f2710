"""Named tuples that are made late do what those of the standard library do."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from typing import TYPE_CHECKING, Any

import pytest

from lossless.ground.basics import records

if TYPE_CHECKING:
    from collections.abc import Callable


class Port(records.NamedTuple):
    """A port of a switch."""

    name: str
    lanes: int = 4
    up: bool = True

    @property
    def label(self) -> str:
        """What is printed on it."""
        return f"{self.name}/{self.lanes}"


class StandardPort(typing.NamedTuple):
    """The same, as the standard library makes it."""

    name: str
    lanes: int = 4
    up: bool = True

    @property
    def label(self) -> str:
        """What is printed on it."""
        return f"{self.name}/{self.lanes}"


class Nothing(records.NamedTuple):
    """A tuple of nothing."""


class Wider(Port):
    """A port with a method of its own."""

    def twice(self) -> int:
        """Twice the lanes."""
        return 2 * self.lanes


USES: tuple[Callable[[Any], object], ...] = (
    lambda made: made("a"),
    lambda made: made("a", 8),
    lambda made: made(name="a", up=False),
    lambda made: made("a").label,
    lambda made: made("a")._replace(lanes=2),
    lambda made: made("a")._replace(speed=2),
    lambda made: made._make(["a", 1, False]),
    lambda made: made._make(["a"]),
    lambda made: made("a")._asdict(),
    lambda made: (made._fields, made._field_defaults, made.__match_args__, made.__slots__),
    lambda made: hash(made("a", 2)),
    lambda made: (made("a") == ("a", 4, True), made("a") < made("b"), [*made("a")]),
    lambda made: repr(made("a'\n")).replace("StandardPort", "Port"),
    lambda made: copy.deepcopy(made("a", 3)),
    lambda made: pickle.loads(pickle.dumps(made("a", 3))),
    lambda made: hasattr(made("a"), "__dict__"),
    lambda made: made(),
    lambda made: made("a", 1, True, 2),
    lambda made: made("a", speed=1),
    lambda made: setattr(made("a"), "name", "b"),
    lambda made: made("a").speed,
    lambda made: issubclass(made, tuple),
    lambda made: made("a") and [*inspect.signature(made).parameters],
    lambda made: typing.get_type_hints(made),
)


@pytest.mark.parametrize("use", USES)
def test_named_tuples_do_what_those_of_the_standard_library_do(use: Callable[[Any], object]) -> None:
    assert _outcome(use, Port) == _outcome(use, StandardPort)


def _outcome(use: Callable[[Any], object], made: object) -> object:
    try:
        return use(made)
    except (TypeError, ValueError, AttributeError) as error:
        return type(error)


def test_a_tuple_without_fields_is_empty() -> None:
    assert Nothing() == ()


def test_a_class_below_a_named_tuple_makes_its_own() -> None:
    """Whichever of the two is made first."""
    wide = Wider("a", 3)
    assert (type(wide), wide.twice(), type(Port("a")), type(wide._replace(lanes=5))) == (
        Wider,
        6,
        Port,
        Wider,
    )


def test_tuples_with_equally_many_fields_keep_their_own_names() -> None:
    class Queue(records.NamedTuple):
        port: str
        number: int = 3
        depth: int = 0

    assert (Port(name="a"), Queue(port="a", depth=1)) == (("a", 4, True), ("a", 3, 1))
    with pytest.raises(TypeError, match="'name'"):
        Queue(name="a")  # type: ignore[call-arg]
