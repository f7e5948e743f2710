"""Every regular expression of the package, as it is compiled, with how it meets a text.

All modules are imported while the functions of ``re`` note what they are given. Each call of ``re`` in the sources is
read as well: for the patterns that are compiled in functions, and for the methods that are called of a pattern.
"""

from __future__ import annotations

import ast
import importlib
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from types import FrameType
from typing import Any, Literal, NamedTuple

from tests.paths import ROOT
from tests.patterns.automaton import Use
from tools.architecture import modules

_USES = {
    "match": Use.MATCH,
    "fullmatch": Use.FULLMATCH,
    "search": Use.SEARCH,
    **dict.fromkeys(("finditer", "findall", "sub", "subn", "split"), Use.SCAN),
}
_BESIDE = frozenset({"pattern", "flags", "groups", "groupindex"})
"""Attributes of a pattern that meet no text."""
ANY = frozenset({Use.FULLMATCH, Use.SCAN})
"""Uses of a pattern that is handed on: they include the others."""


class Pattern(NamedTuple):
    """A pattern, its module, the name or the expression that it has there, and what is done with it."""

    module: str
    name: str
    text: str | bytes
    flags: int
    uses: frozenset[Use]


Place = tuple[int | None, int | None]
"""The line and the column of a call."""


class _Compiled(NamedTuple):
    """What a call of ``re`` in a module was given."""

    module: str
    place: Place
    text: str | bytes
    flags: int


class _Call(NamedTuple):
    """A call of a function of ``re`` in a source."""

    node: ast.Call
    name: str
    """The name that its result gets, and nothing else does."""
    use: Use | None
    """The method that is taken of its result at once."""


class _Source(NamedTuple):
    """What the source of a module does with patterns."""

    calls: dict[Place, _Call]
    uses: dict[str, set[Use | None]]
    """By name the uses of what it stands for, None where it is handed on."""
    imported: dict[str, list[tuple[str, str]]]
    """By name the modules that it may be imported from, and its name there."""


def _reach() -> None:
    """Call functions whose patterns depend on what they are given, with all there is, or with one of a kind."""

    def of(module: str, name: str) -> Any:
        return getattr(importlib.import_module(f"lossless.{module}"), name)

    of("checks.lint.baseline", "_set")("[a-z]")
    of("formats.infiniband.read.sharp", "masked")("")
    of("formats.intent.base", "identifier")("leaf1", "a name", 63)
    of("formats.switches.other_systems", "other_system")("")
    schema = json.loads((ROOT / "profiles" / "sonic" / "schema.json").read_text(encoding="utf-8"))
    for kind in schema["types"].values():
        of("formats.sonic.validate.schema", "Alternative")("pattern", name=kind["pattern"]).accepts("")
    for load in _objects(of("formats.intent.load", "intent_schema")()):
        if load.get("patternProperties"):
            list(of("interfaces.api.reference", "_below")(load, "no key"))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(item)


class UnknownPatternError(LookupError):
    """A pattern depends on what a function is given: _reach has to call it."""


def freshly_collected() -> list[Pattern]:
    """Return the patterns of all modules, from a process in which none of them is imported yet."""
    program = (
        "import pickle, sys; from tests.patterns.collected import collected; "
        "pickle.dump(collected(), sys.stdout.buffer)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: list[Pattern] = pickle.loads(ran.stdout)
    return found


def collected() -> list[Pattern]:
    """Return the patterns of all modules, most of which are imported only now.

    Raises:
        UnknownPatternError: no import and no function of _reach compiles a pattern, and its module has no such names.
    """
    compiled = dict.fromkeys(_compiled())
    sources = {module: _source(path.read_text(encoding="utf-8")) for module, path in modules().items()}
    by_name = _uses_by_name(sources)

    def uses(module: str, call: _Call | None) -> frozenset[Use]:
        if call is None:
            return ANY
        known = {call.use} if call.use else by_name.get((module, call.name), {None})
        return frozenset(use for use in known if use) | (ANY if None in known else frozenset())

    found = []
    for module, place, text, flags in compiled:
        call = sources[module].calls.get(place)
        found.append(Pattern(module, call.name if call else "", text, flags, uses(module, call)))
    seen = {(module, place) for module, place, *_ in compiled}
    for module, source in sources.items():
        for place, call in source.calls.items():
            if (module, place) not in seen:
                whole = _evaluated(module, call)
                name = call.name or ast.unparse(call.node.args[0])
                found.append(Pattern(module, name, whole.pattern, whole.flags, uses(module, call)))
    return found


def _compiled() -> list[_Compiled]:
    """Import all modules, and return what they give to ``re`` meanwhile."""
    made: list[_Compiled] = []
    names = set(modules())
    functions = {name: getattr(re, name) for name in ("compile", *_USES)}

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(pattern: Any, *args: Any, **named: Any) -> Any:
            frame = sys._getframe(1)
            module = frame.f_globals.get("__name__", "")
            if module in names:
                flags = args[0] if function is functions["compile"] and args else named.get("flags", 0)
                whole = functions["compile"](pattern, flags)
                made.append(_Compiled(module, _place(frame), whole.pattern, whole.flags))
            return function(pattern, *args, **named)

        return call

    for name, function in functions.items():
        setattr(re, name, noting(function))
    try:
        for name in sorted(names):
            importlib.import_module(name)
        _reach()
    finally:
        for name, function in functions.items():
            setattr(re, name, function)
    return made


def _place(frame: FrameType) -> Place:
    """Return where the call is that a frame is in."""
    line, _, column, _ = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    return line, column


def _source(text: str) -> _Source:
    """Return what a source does with patterns."""
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    source = _Source({}, {}, {})
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _function(node):
            source.calls[node.lineno, node.col_offset] = _call(node, parents)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                source.imported.setdefault(alias.asname or alias.name, []).append((node.module, alias.name))
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            use = _use(node, parents)
            if use != "beside":
                source.uses.setdefault(node.id if isinstance(node, ast.Name) else node.attr, set()).add(use)
    return source


def _function(node: ast.Call) -> str:
    """Return the function of ``re`` that a call calls with a pattern; "" where it is another."""
    called = node.func
    of_re = (
        isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re"
    )
    name = called.attr if of_re and isinstance(called, ast.Attribute) else ""
    return name if name == "compile" or name in _USES else ""


def _call(node: ast.Call, parents: dict[ast.AST, ast.AST]) -> _Call:
    if _function(node) != "compile":
        return _Call(node, "", _USES[_function(node)])
    use = _use(node, parents)
    parent = parents[node]
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
    return _Call(node, name, None if use == "beside" else use)


def _use(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> Use | Literal["beside"] | None:
    """Return how an expression that may be a pattern is used; None: it is handed on."""
    parent = parents[node]
    if isinstance(parent, ast.Call) and _function(parent) and parent.args and parent.args[0] is node:
        return _USES.get(_function(parent))
    if not isinstance(parent, ast.Attribute):
        return None
    if parent.attr in _BESIDE:
        return "beside"
    use = _USES.get(parent.attr)
    called = parents[parent]
    at_a_place = isinstance(called, ast.Call) and len(called.args) + len(called.keywords) > 1
    return Use.SCAN if use and at_a_place and called.func is parent else use  # type: ignore[attr-defined]


def _uses_by_name(sources: dict[str, _Source]) -> dict[tuple[str, str], set[Use | None]]:
    """Return the uses of each name of a module, in whichever module."""
    found: dict[tuple[str, str], set[Use | None]] = {}
    for module, source in sources.items():
        for name, uses in source.uses.items():
            for place in [(module, name), *source.imported.get(name, ())]:
                found.setdefault(place, set()).update(uses)
    return found


def _evaluated(module: str, call: _Call) -> re.Pattern[Any]:
    """Return the pattern of a call in a function, by the names of its module."""
    names = {"re": re, **vars(importlib.import_module(module))}
    arguments = [call.node.args[0], *(word.value for word in call.node.keywords if word.arg == "flags")]
    at = {"compile": 1, "match": 2, "search": 2, "fullmatch": 2, "findall": 2, "finditer": 2}
    arguments += call.node.args[at.get(_function(call.node), 5) :][:1]
    try:
        return re.compile(*(eval(ast.unparse(argument), names) for argument in arguments))
    except NameError as error:
        raise UnknownPatternError(f"{module}: {ast.unparse(call.node)}: {error}") from error
