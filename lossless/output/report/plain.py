"""Records as plain data for JSON, and the JSON Schema of such data.

A schema is made from annotations: of records, and of the ``TypedDict`` beside a function that makes data of another
shape. ``Annotated[Data, A, ("x",), NotRequired[B]]`` is one object that has the fields of A, all but ``x``, and may
have those of B. The last one of two fields with one name counts.
"""

from __future__ import annotations

from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ForwardRef,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    is_typeddict,
)

from lossless.ground.basics.findings import Finding, Json, Origin
from lossless.ground.basics.records import Record
from lossless.ground.documents.excerpts import Locations
from lossless.output.report.lint.json_format import finding_data
from lossless.output.report.lint.text import shown_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Schema = dict[str, Any]

_NO_FILES = Locations({}, ())


def plain(value: Any, locations: Locations = _NO_FILES) -> Any:
    """Return records as objects of their fields, in order, tuples as lists, and findings as in the lint report.

    Origins become a file and a path. ``locations`` are the lines and columns of findings in it.
    """
    if isinstance(value, Finding):
        return finding_data(value, locations)
    if isinstance(value, Origin):
        return {"file": shown_file(value.file), "path": list(value.path)}
    if isinstance(value, Record):
        return {name: plain(item, locations) for name, item in vars(value).items()}
    if isinstance(value, dict):
        return {name: plain(item, locations) for name, item in value.items()}
    if not isinstance(value, tuple):
        return value
    fields = getattr(value, "_fields", None)
    if fields is None:
        return [plain(item, locations) for item in value]
    return {name: plain(item, locations) for name, item in zip(fields, value, strict=True)}


DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The version of JSON Schema in which data are described."""
_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def json_schema(kind: Any) -> Schema:
    """Return the JSON Schema of the data that :func:`plain` makes of a type, with the schema of each record once.

    The object of a record has no other keys than its fields.

    Raises:
        TypeError: JSON has no value for something in it.
    """
    walk = _SchemaWalk()
    return {**walk.schema(kind), "$defs": dict(sorted(walk.records.items()))}


class TypingNames(dict[str, Any]):
    """Names of a module that it has for type checkers alone: imports and definitions, each made when it is needed."""

    def __init__(self, module: str) -> None:
        """Read the module's text.

        Raises:
            ImportError: there is no such module.
        """
        import ast
        from importlib import import_module
        from inspect import getsource

        self._module = import_module(module)
        self._stated: dict[str, ast.stmt] = {}
        for block in ast.parse(getsource(self._module)).body:
            if not isinstance(block, ast.If) or ast.unparse(block.test) != "TYPE_CHECKING":
                continue
            for statement in block.body:
                if isinstance(statement, ast.ImportFrom):
                    names = [each.asname or each.name for each in statement.names]
                elif isinstance(statement, ast.Assign):
                    names = [ast.unparse(each) for each in statement.targets]
                else:
                    names = [statement.name] if isinstance(statement, ast.ClassDef) else []
                self._stated |= dict.fromkeys(names, statement)

    def __missing__(self, name: str) -> Any:
        """Return what a name stands for, an imported one by the names of its own module.

        Raises:
            KeyError: the module does not define the name for type checkers alone.
        """
        import __future__

        import ast
        from importlib import import_module

        statement = self._stated[name]
        if isinstance(statement, ast.ImportFrom):
            module = statement.module or ""
            (origin,) = [each.name for each in statement.names if name == (each.asname or each.name)]
            found = vars(import_module(module))
            self[name] = found[origin] if origin in found else typing_names(module)[origin]
        else:
            flags = __future__.annotations.compiler_flag
            code = compile(ast.Module([statement], []), str(self._module.__file__), "exec", flags, True)
            exec(code, vars(self._module), self)
        return self[name]

    def of(self, text: str) -> Any:
        """Return the type that an annotation of the module states."""
        return eval(text, vars(self._module), self)


typing_names = cache(TypingNames)
"""The names of a module for type checkers."""


class _SchemaWalk:
    """Makes schemas of types; ``records`` are those of the records that it met, by name."""

    def __init__(self) -> None:
        self.records: dict[str, Schema] = {}
        self._names: dict[Any, str] = {}

    def schema(self, kind: Any) -> Schema:
        """Return the schema of a type, a record as a reference to its own."""
        origin, args = get_origin(kind), get_args(kind)
        if kind is Any or kind == Json:
            return {}
        if kind in _SCALARS:
            return {"type": _SCALARS[kind]}
        if origin is Literal:
            return {"enum": [*args]}
        if origin is Annotated:
            return self._object(args[1:])
        if origin is not None:
            return self._of_parts(kind, origin, args)
        if kind is Finding:
            kind = typing_names(finding_data.__module__)["FindingData"]
        return {"$ref": f"#/$defs/{self._named(kind)}"}

    def _of_parts(self, kind: Any, origin: Any, args: tuple[Any, ...]) -> Schema:
        """Return the schema of alternatives, of an object with any keys, or of an array."""
        from collections.abc import Mapping, Sequence
        from types import UnionType

        if origin in (Union, UnionType):
            return {"anyOf": [self.schema(each) for each in args]}
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.schema(args[1])}
        if not issubclass(origin, Sequence):
            raise TypeError(f"{kind} is no type of JSON")
        if origin is tuple and args[-1] is not Ellipsis:
            size = len(args)
            items = [self.schema(each) for each in args]
            return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}
        return {"type": "array", "items": self.schema(args[0])}

    def _named(self, kind: Any) -> str:
        """Return the name of a record's schema, which is made when the record is first met."""
        if kind not in self._names:
            name = kind.__name__
            if name in self.records:
                name = f"{kind.__module__}.{name}"
            self._names[kind] = name
            self.records[name] = {}
            summary = (kind.__doc__ or "").partition("\n")[0]
            self.records[name] = {"description": summary} if summary else {}
            self.records[name] |= self._object((kind,))
        return self._names[kind]

    def _object(self, parts: Iterable[Any]) -> Schema:
        """Return the schema of one object with the fields of several records; see the head of the module."""
        fields = _fields_of(parts)
        return {
            "type": "object",
            "additionalProperties": False,
            "required": [name for name, (_, needed) in fields.items() if needed],
            "properties": {name: self.schema(kind) for name, (kind, _) in fields.items()},
        }


def _fields_of(parts: Iterable[Any]) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field of an object by name, and whether each object has it."""
    fields: dict[str, tuple[Any, bool]] = {}
    for part in parts:
        if isinstance(part, tuple):
            fields = {name: field for name, field in fields.items() if name not in part}
        elif get_origin(part) is NotRequired:
            fields |= {name: (kind, False) for name, (kind, _) in _fields_of(get_args(part)).items()}
        elif get_origin(part) is Annotated:
            fields |= _fields_of(get_args(part)[1:])
        else:
            fields |= {name: (kind, needed) for name, kind, needed in _stated(part)}
    return fields


def _stated(record: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield the name and the type of each field that a record states, and whether each object has it."""
    if record is Origin:
        yield from (("file", str, True), ("path", list[str | int], True))
        return
    by_keys = is_typeddict(record)
    if not by_keys and not hasattr(record, "_fields") and not issubclass(record, Record):
        raise TypeError(f"{record} is no record")
    # A Record has only the values that it was given.
    optional = vars(record) if issubclass(record, Record) else ()
    kind: Any
    for owner in [record] if by_keys else reversed(record.__mro__):
        for name, stated in vars(owner).get("__annotations__", {}).items():
            module, kind = owner.__module__, stated
            if isinstance(kind, ForwardRef):
                kind, module = kind.__forward_arg__, kind.__forward_module__ or module
            if isinstance(kind, str):
                kind = typing_names(module).of(kind)
            if get_origin(kind) is NotRequired:
                yield name, get_args(kind)[0], False
            else:
                yield name, kind, name not in optional
