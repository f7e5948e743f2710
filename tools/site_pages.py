"""The pages of the documentation site that are no files of the repository: hardware, Python API, decisions, sources."""

from __future__ import annotations

import inspect
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from lossless import api
from lossless.interfaces.cli.reference import details, overview
from lossless.output.report.columns import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_GAP = re.compile(r" {2,}")
_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_SECTION = re.compile(r"^(Raises|Args|Returns|Yields):\n((?:    .*\n?|\n)+)", re.MULTILINE)
_HEADS = {
    "switches": ("profile", "product", "ASIC", "port layouts"),
    "network adapters": ("profile", "product", "rate"),
    "InfiniBand switches": ("profile", "product", "ports", "subnet manager"),
    "InfiniBand adapters": ("profile", "product", "rate"),
}
_LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".json": "json", ".txt": "text", "": "text"}


def pages(docs: Path) -> Iterator[tuple[str, str]]:
    """Yield the path below the site's pages and the text of each generated page."""
    yield from _hardware()
    yield "python-api.md", _python_api()
    yield "adr/README.md", _decisions(docs / "adr")


def source_page(name: str, text: str) -> str:
    """Return the page of a file that pages refer to."""
    language = _LANGUAGES.get("." + name.rpartition(".")[2], "text")
    return f"# {name}\n\n```{language}\n{text.rstrip()}\n```\n"


def _hardware() -> Iterator[tuple[str, str]]:
    """Yield the list of products, and a page for each: what ``lossless profiles`` prints, as tables."""
    known = api.hardware()
    names = {each.name for kind in known for each in kind}
    intro = "What an intent can name, as `lossless profiles` lists it. `lossless profiles NAME` prints one of them."
    yield "hardware/README.md", _linked(_as_markdown(["Hardware", intro, *overview(known)]))
    for name in sorted(names):
        yield f"hardware/{name}.md", _as_markdown(details(api.hardware(name)))


def _linked(page: str) -> str:
    """Return the list of products, each with a link to its page."""
    return re.sub(r"^\| ([a-z][\w-]+-[\w-]+) \|", r"| [\1](\1.md) |", page, flags=re.MULTILINE)


def _as_markdown(lines: Iterable[str]) -> str:
    """Return lines of the terminal as a page: the first is its title, others at the margin are headings."""
    first, *flat = (line for chunk in lines for line in chunk.split("\n"))
    parts, heading = [f"# {first}\n"], ""
    for is_table, group in groupby(filter(None, flat), lambda line: line.startswith("  ")):
        if is_table:
            parts.append(_table([_GAP.split(line.strip()) for line in group], heading))
        else:
            *prose, heading = group
            parts += [*prose, "", f"## {heading[0].upper()}{heading[1:]}"]
        parts.append("")
    return "\n".join(parts)


def _table(rows: list[list[str]], heading: str) -> str:
    if rows[0][0] == "parameter":
        return markdown_table(rows[0], rows[1:])
    return markdown_table(_HEADS.get(heading, ("property", "value")), rows)


def _python_api() -> str:
    """Return the page of the public names, by task, from their docstrings."""
    parts = [f"# Python API\n\n{_prose(inspect.getdoc(api) or '')}\n"]
    for module, names in api._MODULES.items():
        parts.append(f"## {module.rpartition('.')[2].strip('_').replace('_', ' ').capitalize()}\n")
        parts.extend(_name(name, getattr(api, name)) for name in names.split())
    return "\n".join(parts)


def _name(name: str, value: Any) -> str:
    lines = [
        f"### `{name}`\n",
        f"```python\n{_signature(name, value)}\n```\n",
        _prose(inspect.getdoc(value) or ""),
        "",
    ]
    if inspect.isclass(value):
        lines += [f"- `{member}`: {_first(text)}" for member, text in _members(value)] + [""]
    return "\n".join(lines)


def _signature(name: str, value: Any) -> str:
    """Return how a name is called, one parameter a line where one line is too long."""
    if hasattr(value, "_fields"):
        value(*value._fields)  # What makes a named tuple is compiled with the first one.
    try:
        signature = inspect.signature(value)
    except ValueError:  # An exception that takes what all take: the lines of its message.
        return f"{name}(*lines: str)"
    short = re.sub(r"'([^']*)'", r"\1", f"{name}{signature}")
    if len(short) <= 72:
        return short
    inner = [_parameter(parameter) for parameter in signature.parameters.values()]
    end = signature.return_annotation
    arrow = "" if end is inspect.Signature.empty else f" -> {end}"
    return "\n".join([f"{name}(", *(f"    {each}," for each in inner), f"){arrow}"])


def _parameter(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if isinstance(default, tuple) and default:
        parameter = parameter.replace(default=Ellipsis)
    return re.sub(r"'([^']*)'", r"\1", str(parameter)).replace("Ellipsis", "...")


def _members(value: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the public methods and properties of a class that are documented in it."""
    for member, what in vars(value).items():
        documented = isinstance(what, property) or inspect.isfunction(what)
        if documented and not member.startswith("_") and what.__doc__:
            yield member, what.__doc__


def _first(text: str) -> str:
    return _prose(text.strip().partition("\n\n")[0].replace("\n", " "))


def _prose(text: str) -> str:
    """Return a docstring as Markdown."""
    plain = _ROLE.sub(lambda role: f"`{role[1].rpartition('.')[2]}`", text).replace("``", "`")
    return _SECTION.sub(_section, plain + "\n").rstrip()


def _section(section: re.Match[str]) -> str:
    items = re.split(r"\n(?=    \S)", section[2].rstrip())
    return "\n".join([f"{section[1]}:\n", *(f"- {' '.join(item.split())}" for item in items), ""])


def _decisions(folder: Path) -> str:
    """Return the list of architecture decision records."""
    titles = {
        path.name: path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        for path in folder.glob("0*.md")
    }
    listed = "\n".join(f"- [{title}]({name})" for name, title in sorted(titles.items()))
    return f"{(folder / 'README.md').read_text('utf-8').rstrip()}\n\n{listed}\n"
