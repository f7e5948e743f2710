"""Named tuples that are cheap to define: what a linter that starts for one file defines a hundred of.

``typing.NamedTuple`` compiles the annotation of every field, which takes two thirds of its time (ADR 8). To type
checkers this is ``typing.NamedTuple``; at run time it makes the same tuples and leaves annotations as text.

:class:`Record` is cheaper still, for records that nobody unpacks, sorts or hashes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, dataclass_transform

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    _MADE = frozenset(
        {"__annotations__", "__classcell__", "__dict__", "__orig_bases__", "__slots__", "__weakref__"}
    )

    class _Defining(type):
        """Turns a class body with annotated fields into a named tuple."""

        def __new__(metaclass, name, bases, body):
            if not bases:
                return super().__new__(metaclass, name, bases, body)
            annotations = body.get("__annotations__", {})
            defaults = [body[field] for field in annotations if field in body]
            made = namedtuple(name, annotations, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                if key not in _MADE and key not in annotations:
                    setattr(made, key, value)
            made.__annotations__ = made.__new__.__annotations__ = annotations
            return made

    class NamedTuple(metaclass=_Defining):
        """A tuple with named fields, as ``typing.NamedTuple``."""


@dataclass_transform(frozen_default=True)
class Record:
    """A record of the fields that are annotated, equal to one of the same class with the same values."""

    def __init__(self, *values: Any, **named: Any) -> None:
        self.__dict__.update(zip(type(self).__annotations__, values, strict=False), **named)

    def __eq__(self, other: object) -> bool:
        """Return whether another record says the same."""
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the fields by name."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"
