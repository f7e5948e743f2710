"""Named tuples that are cheap to define: what a linter that starts for one file defines a hundred of.

``typing.NamedTuple`` compiles the annotation of every field, which takes two thirds of its time (ADR 8). To type
checkers this is ``typing.NamedTuple``; at run time it makes the same tuples and leaves annotations as text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
