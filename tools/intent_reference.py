"""The page of every key of an intent, generated from the models and the words below their fields.

``python tools/intent_reference.py`` writes it; with ``--check`` it says whether it is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lossless.formats.intent.key_docs import forms, words
from lossless.formats.intent.load import intent_schema
from lossless.ground.documents.yaml.edits import on_one_line
from lossless.output.report.columns import markdown_table
from tools.generated import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.intent.key_docs import Schema

    KeyPath = tuple[str, ...]

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "intent-reference.md"
TOP = """# Every key of an intent

Written by `tools/intent_reference.py` from what the program reads; `lossless schema` prints the same for editors, and
[Write an intent](guides/intent.md) explains it by example. [What each preset contains](presets.md) has the values that
`preset` gives. `NAME` stands for a name of your own, `[]` for each of a list. A key without a value under *left out*
may be left out; what then holds is said with its meaning.
"""


def page() -> str:
    """Return the page: a chapter for each kind of intent, and in it a table for each section."""
    return "\n".join([TOP, *(part for root in intent_schema()["anyOf"] for part in _chapter(root))])


def _chapter(root: Schema) -> Iterator[str]:
    transports = ", ".join(f"`{word}`" for word in words(root["properties"]["transport"]))
    kind = words(root["properties"]["transport"])[0]
    yield f"## transport: {transports}\n\n{_flat(root)}\n"
    found: dict[str, tuple[Schema, list[KeyPath]]] = {}
    for path, section in _sections(root, ()):
        found.setdefault(repr(section["properties"]), (section, []))[1].append(path)
    for section, paths in found.values():
        if paths[0]:
            ids = "".join(f'<a id="{_id(kind, path)}"></a>' for path in paths)
            first, *others = (f"`{'.'.join(path)}`" for path in paths)
            yield f"{ids}\n\n### {first}\n"
            yield from [f"These keys are also those of {', '.join(others)}.\n"] if others else []
            yield from [f"{_flat(section)}\n"] if _flat(section) else []
        yield _table(kind, paths[0], section) + "\n"


def _sections(part: Schema, path: KeyPath) -> Iterator[tuple[KeyPath, Schema]]:
    """Yield all that has keys, at and below a path, in the order in which keys are declared."""
    for form in forms(part):
        if form.get("properties"):
            yield path, form
        for key, inner in form.get("properties", {}).items():
            yield from _sections(inner, (*path, key))
        for inner in form.get("patternProperties", {}).values():
            yield from _sections(inner, (*path, "NAME"))
        if "items" in form:
            yield from _sections(form["items"], (*path, "[]"))


def _table(kind: str, path: KeyPath, section: Schema) -> str:
    rows = [
        (_key(kind, (*path, key), said), _flat(said), _left_out(key, section), _written_as(said))
        for key, said in section["properties"].items()
    ]
    return markdown_table(("key", "what it means", "left out", "written"), rows)


def _key(kind: str, path: KeyPath, said: Schema) -> str:
    """Return a key, and where it has keys of its own a link to the first section of them."""
    below = next((there for there, _ in _sections(said, path)), None)
    return f"`{path[-1]}`" if below is None else f"[`{path[-1]}`](#{_id(kind, below)})"


def _left_out(key: str, section: Schema) -> str:
    if key in section.get("required", ()):
        return "required"
    said = section["properties"][key]
    return f"`{on_one_line(said['default'])}`" if "default" in said else ""


def _written_as(said: Schema) -> str:
    choices = [word for form in forms(said) for word in words(form)]
    examples = [on_one_line(example) for example in said.get("examples", ())]
    return ", ".join(f"`{value}`" for value in dict.fromkeys([*choices, *examples]))


def _flat(said: Schema) -> str:
    return " ".join(said.get("description", "").split())


def _id(kind: str, path: KeyPath) -> str:
    return "-".join((kind, *path)).replace("[]", "each")


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` report that it is stale."""
    return write_or_check({PAGE: page()}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
