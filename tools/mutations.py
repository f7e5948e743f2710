"""The deliberate faults that ``tools/mutants.py`` puts into a module: one small edit of its text each.

Text is replaced by the positions of the syntax tree, so that a fault changes one line and no other. Left alone is
what no test of behavior could notice: docstrings, messages, annotations, decorators, blocks for type checkers.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}
EMPTY = {
    "str": '""', "int": "0", "float": "0.0", "tuple": "()", "Sequence": "()", "list": "[]", "dict": "{}",
    "Mapping": "{}", "set": "set()", "frozenset": "frozenset()",
}  # fmt: skip
"""What a function returns instead, by the type it says it returns; None for all others."""

LARGE = 1e6
"""A number with a fraction above this is doubled, as 1 more would not show in it."""
_DEFAULTED = {"get": 1, "pop": 1, "next": 1, "getattr": 2}
_SEQUENCES = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple, ast.Dict)
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


class Fault(NamedTuple):
    """One edit of a module: the text from ``start`` to ``end``, in bytes, is replaced.

    ``lines`` are those of the statement it is in, of a compound one its head; none where that runs on import.
    """

    file: str
    line: int
    start: int
    end: int
    replacement: str
    lines: range

    def applied(self, source: bytes) -> bytes:
        """Return the text of the module with the fault in it."""
        return source[: self.start] + self.replacement.encode() + source[self.end :]

    def difference(self, source: bytes) -> tuple[str, str]:
        """Return the first line that differs, without and with the fault."""
        before, after = source.decode().splitlines(), self.applied(source).decode().splitlines()
        pairs = ((old.strip(), new.strip()) for old, new in zip(before, after, strict=False) if old != new)
        return next(pairs, ("", ""))


def faults(file: str, source: bytes) -> list[tuple[str, Fault]]:
    """Return every fault of a module, each with a name that stays while other lines are edited."""
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    seen: Counter[str] = Counter()
    named = []
    for fault in finder.faults:
        name = f"{file} {' '.join(fault.difference(source))}"
        seen[name] += 1
        named.append((f"{name} {seen[name]}", fault))
    return named


class _Finder(ast.NodeVisitor):
    """Walks a module and notes its faults."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.faults: list[Fault] = []
        self.statement: ast.stmt | None = None
        self.function: ast.FunctionDef | ast.Lambda | None = None

    def visit(self, node: ast.AST) -> None:
        """Note the faults of a node and of those below it that may have any."""
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        outer = self.statement, self.function
        if isinstance(node, ast.stmt):
            self.statement = node
        for start, end, replacement in self._edits(node):
            self._note(node, start, end, replacement)
        for child in _children(node):
            is_inner = isinstance(node, _FUNCTIONS) and child is not node.args
            self.function = node if is_inner and isinstance(node, _FUNCTIONS) else outer[1]
            self.visit(child)
        self.statement, self.function = outer

    def _note(self, node: ast.AST, start: int, end: int, replacement: str) -> None:
        fault = Fault(self.file, 0, start, end, replacement, range(0))
        try:
            ast.parse(fault.applied(self.source))
        except SyntaxError:
            return
        line = self.source[:start].count(b"\n") + 1
        first = last = line
        if self.function is not None and self.statement is not None:
            first = min(self.statement.lineno, line)
            last = _head_end(self.statement, max(line, getattr(node, "end_lineno", line)))
        lines = range(first, last + 1) if self.function is not None else range(0)
        self.faults.append(fault._replace(line=line, lines=lines))

    def _start(self, node: ast.expr) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr) -> int:
        return self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def _span(self, node: ast.expr) -> tuple[int, int]:
        return self._start(node), self._end(node)

    def _text(self, node: ast.expr) -> str:
        return self.source[slice(*self._span(node))].decode()

    def _between(
        self, left: ast.expr, right: ast.expr, kind: type[ast.AST]
    ) -> Iterator[tuple[int, int, str]]:
        old, new = OPERATORS.get(kind, ("", ""))
        start = self._end(left)
        pattern = r"\s+".join(map(re.escape, old.split()))
        match = re.search(pattern.encode(), self.source[start : self._start(right)]) if old else None
        if match:
            yield start + match.start(), start + match.end(), new

    def _edits(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            yield from method(node)
        test = getattr(node, "test", None)
        for condition in [test, *(getattr(node, "ifs", ()))]:
            if isinstance(condition, (ast.Name, ast.Attribute, ast.Call, ast.NamedExpr, ast.Subscript)):
                yield *self._span(condition), f"(not ({self._text(condition)}))"

    def _compare(self, node: ast.Compare) -> Iterator[tuple[int, int, str]]:
        for left, operator, right in zip(
            [node.left, *node.comparators], node.ops, node.comparators, strict=False
        ):
            yield from self._between(left, right, type(operator))

    def _boolop(self, node: ast.BoolOp) -> Iterator[tuple[int, int, str]]:
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from self._between(left, right, type(node.op))

    def _binop(self, node: ast.BinOp) -> Iterator[tuple[int, int, str]]:
        if not any(map(_is_no_number, (node.left, node.right))):
            yield from self._between(node.left, node.right, type(node.op))

    def _augassign(self, node: ast.AugAssign) -> Iterator[tuple[int, int, str]]:
        if not _is_no_number(node.value):
            yield from self._between(node.target, node.value, type(node.op))

    def _unaryop(self, node: ast.UnaryOp) -> Iterator[tuple[int, int, str]]:
        if isinstance(node.op, ast.Not):
            yield *self._span(node), f"({self._text(node.operand)})"

    def _constant(self, node: ast.Constant) -> Iterator[tuple[int, int, str]]:
        if isinstance(node.value, bool):
            yield *self._span(node), str(not node.value)
        elif isinstance(node.value, (int, float)):
            is_large = isinstance(node.value, float) and node.value > LARGE
            yield *self._span(node), str(2 * node.value if is_large else node.value + 1)

    def _slice(self, node: ast.Slice) -> Iterator[tuple[int, int, str]]:
        for bound in (node.lower, node.upper):
            if isinstance(bound, (ast.Name, ast.Attribute, ast.Call)):
                yield *self._span(bound), f"{self._text(bound)} + 1"

    def _call(self, node: ast.Call) -> Iterator[tuple[int, int, str]]:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if isinstance(node.func, ast.Name) and name in FUNCTIONS:
            yield *self._span(node.func), FUNCTIONS[name]
        default = _DEFAULTED.get(name)
        if default and len(node.args) == default + 1:
            is_none = isinstance(node.args[-1], ast.Constant) and node.args[-1].value is None
            if not (is_none and name == "get"):
                yield self._end(node.args[-2]), self._end(node.args[-1]), ""

    def _return(self, node: ast.Return) -> Iterator[tuple[int, int, str]]:
        value = node.value
        if value is None or isinstance(value, (ast.Constant, ast.JoinedStr)):
            return
        returns = getattr(self.function, "returns", None)
        annotation = re.match(r"\w*", ast.unparse(returns)) if returns else None
        name = annotation.group() if annotation else ""
        replacement = EMPTY.get(name, "None") if name != "bool" else f"not ({self._text(value)})"
        is_covered = name == "bool" and isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp))
        if not is_covered and self._text(value) != replacement:
            yield *self._span(value), replacement

    def _continue(self, node: ast.Continue) -> Iterator[tuple[int, int, str]]:
        start = self.starts[node.lineno - 1] + node.col_offset
        yield start, start + len("continue"), "break"

    def _break(self, node: ast.Break) -> Iterator[tuple[int, int, str]]:
        start = self.starts[node.lineno - 1] + node.col_offset
        yield start, start + len("break"), "continue"


def _head_end(statement: ast.stmt, last: int) -> int:
    body: list[ast.stmt] | None = getattr(statement, "body", None)
    return max(last, (statement.end_lineno or last) if body is None else body[0].lineno - 1)


def _is_no_number(node: ast.expr) -> bool:
    """Whether an operand is a text, a sequence or a type: what cannot be subtracted or divided anyway."""
    if isinstance(node, ast.BinOp):
        return _is_no_number(node.left) or _is_no_number(node.right)
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, str)
    is_type = isinstance(node, ast.Name) and (
        node.id in EMPTY or re.fullmatch("[A-Z].*[a-z].*", node.id) is not None
    )
    return is_type or isinstance(node, _SEQUENCES)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, without messages, annotations, decorators and base classes."""
    skipped = {"annotation", "returns", "decorator_list", "bases"}
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in skipped and not _is_skipped(child):
                yield child


def _is_skipped(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return True
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {
        "TypeVar",
        "NewType",
        "cast",
        "isinstance",
    }:
        return True
    return isinstance(node, ast.JoinedStr)
