"""The page of what each preset contains, generated from ``profiles/presets/``.

``python tools/preset_page.py`` writes it; with ``--check`` it says whether it is stale.
"""

from __future__ import annotations

import sys
import tomllib
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossless.formats.intent.document import PRESETS
from lossless.ground.documents.yaml.edits import on_one_line
from lossless.output.report.columns import markdown_table
from tools.generated import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Keys = Mapping[str, Any]

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "profiles" / "presets"
PAGE = ROOT / "docs" / "presets.md"
TOP = """# What each preset contains

`preset: NAME` in an intent means the keys below. A key that you state replaces the same key of the preset, and all
others stay. Classes that you add join those of the preset, and the `bandwidth` of all of them may not exceed 100 %
together. To make room for a class, state a smaller share for one of the preset:

```yaml
classes:
  storage: {dscp: 18, priority: 2, bandwidth: 20%}
  default: {bandwidth: 30%}      # 50% in the preset nvidia
```

[Every key of an intent](intent-reference.md) says what the keys mean. This page is written by `tools/preset_page.py`
from `profiles/presets/`.
"""
_ABSENT = "-"
_HEADS = ("class", "`dscp`", "`priority`", "`lossless`", "`bandwidth`", "`ecn`")


def page() -> str:
    """Return the page: a chapter for each preset."""
    return "\n".join([TOP, *(part for name in PRESETS for part in _chapter(name))])


def _chapter(name: str) -> Iterator[str]:
    text = (FOLDER / f"{name}.toml").read_text("utf-8")
    intent = tomllib.loads(text)["intent"]
    said = (line.removeprefix("#").strip() for line in takewhile(lambda line: line, text.split("\n")))
    yield f"## `preset: {name}`\n\n{' '.join(said)}\n"
    yield markdown_table(_HEADS, [_row(*entry) for entry in intent.pop("classes").items()]) + "\n"
    rows = [(f"`{key}`", f"`{value}`") for key, value in _others(intent, ())]
    yield markdown_table(("key", "value"), rows) + "\n"


def _row(name: str, traffic: Keys) -> tuple[str, ...]:
    """Return the row of a class."""
    values = {**traffic, "lossless": on_one_line(traffic.get("lossless", False))}
    if values.pop("scheduling", None) == "strict":
        values["bandwidth"] = "`scheduling: strict`"
    if isinstance(curve := values.get("ecn"), dict):
        values["ecn"] = f"`{on_one_line(curve)}`"
    row = tuple(str(values.pop(head.strip("`"), _ABSENT)) for head in _HEADS[1:])
    if values:
        raise ValueError(f"class {name}: no column for {', '.join(values)}")
    return (f"`{name}`", *row)


def _others(keys: Keys, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield every key that has a value, by its path, and the value."""
    for key, value in keys.items():
        if isinstance(value, dict):
            yield from _others(value, (*path, key))
        else:
            yield ".".join((*path, key)), on_one_line(value)


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` report that it is stale."""
    return write_or_check({PAGE: page()}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
