"""Named tuples that are cheap to define, and known, absent and unknown values, kept apart.

A linter that starts for one file defines a hundred of them. ``typing.NamedTuple`` compiles the annotation of every
field, which takes two thirds of its time (ADR 8). To type checkers :data:`NamedTuple` is that one; at run time it
makes the same tuples and leaves annotations as text.

:class:`Record` is cheaper still, for records that are never unpacked, sorted or hashed.

A value is *known*, *absent* on the device (None), or *unknown* (:data:`UNKNOWN`): a CONFIG_DB has no facts
about NICs or chip sizes. Unknown values are not checked, and never a finding.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter as value_at
    from types import FunctionType

    class _Fields(tuple):
        """The methods that all named tuples share."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes):
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(map('{}={!r}'.format, self._fields, self))})"

        def __getnewargs__(self):
            return tuple(self)

    _SPACE = {"_new": tuple.__new__, "__builtins__": {}}
    _CONSTRUCTORS = {}

    def _first(cls, *values, **named):
        """Make the first tuple of a class, and its constructor for all others: most classes of a run have no tuple."""
        owner = next(owner for owner in cls.__mro__ if "_fields" in vars(owner))
        count = len(owner._fields)
        if count not in _CONSTRUCTORS:
            fields = "".join(f"_{number}, " for number in range(count))
            _CONSTRUCTORS[count] = eval(f"lambda _cls, {fields}: _new(_cls, ({fields}))", _SPACE).__code__
        # A constructor with as many fields, its variables renamed: compiling one takes 80 times as long.
        code = _CONSTRUCTORS[count].replace(co_varnames=("_cls", *owner._fields))
        new = FunctionType(code, _SPACE, "__new__", tuple(owner._field_defaults.values()))
        new.__annotations__ = owner.__annotations__
        owner.__new__ = staticmethod(new)
        return new(cls, *values, **named)

    class _Defining(type):
        """Turns a class body with annotated fields into a named tuple."""

        def __new__(metaclass, name, bases, body):
            if not bases:
                return super().__new__(metaclass, name, bases, body)
            fields = body["_fields"] = body["__match_args__"] = tuple(body.get("__annotations__", ()))
            body["_field_defaults"] = {field: body[field] for field in fields if field in body}
            for index, field in enumerate(fields):
                body[field] = value_at(index, "")
            return type(name, (_Fields,), {"__slots__": (), "__new__": _first, **body})

    class NamedTuple(metaclass=_Defining):
        """A tuple with named fields, as ``typing.NamedTuple``."""


@dataclass_transform(frozen_default=True)
class Record:
    """A record of its annotated fields, equal to one of the same class with the same given values."""

    def __init__(self, *values: Any, **named: Any) -> None:
        self.__dict__.update(zip(type(self).__annotations__, values, strict=False), **named)

    def __eq__(self, other: object) -> bool:
        """Return whether another record has the same class and given values; a default does not count as given."""
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the given fields by name."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


Provenance = Literal["intent", "deployed", "hosts"]
"""The source of facts: an intent, or deployed files.

``hosts``: only files of hosts are deployed; their fabric is that of an intent or of the switches they are attached to.
"""


class Unknown(Enum):
    """The type of :data:`UNKNOWN`."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown.UNKNOWN
_T = TypeVar("_T")
Maybe: TypeAlias = _T | Unknown | None
"""A value that may be known, absent or unknown."""


def certain(value: _T | Unknown) -> _T:
    """Return a value of a source in which no value is unknown, such as the hosts of an intent.

    Raises:
        TypeError: it is unknown, so a value of a device was used in place of one of an intent.
    """
    if value is UNKNOWN:
        raise TypeError("a value of an intent is unknown")
    return value
