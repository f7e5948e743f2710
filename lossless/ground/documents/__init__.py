"""Documents with positions, such as YAML and JSON: plain data, each value traceable to line and column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import InputError, Problem
from lossless.ground.documents.text import decode, is_marked, read_bytes, read_text

if TYPE_CHECKING:
    from os import PathLike

    from lossless.ground.documents.text import Document


def load(path: str | PathLike[str], *, lists: bool = False) -> Document:
    """Return the document of a JSON or YAML file, by its suffix; ``lists``: it may be a list, in YAML one of mappings.

    Raises UnreadableError when it cannot be read, InputError when its kind is unknown or it is invalid.
    """
    file = path if isinstance(path, str) else path.__fspath__()
    try:
        _kind(file)
    except InputError:
        # A path that is not there is missed before its name is checked.
        read_text(path)
        raise
    return load_bytes(read_bytes(path), file, lists=lists)


def load_bytes(raw: bytes, file: str, *, lists: bool = False) -> Document:
    """Return the document of bytes that are the content of ``file``; see :func:`load`."""
    document = load_text(decode(raw, file), file, lists=lists)
    document.marked = is_marked(raw)
    return document


def load_text(text: str, file: str, *, lists: bool = False) -> Document:
    """Return the document of a text, JSON or YAML by the suffix of the name ``file``; raises InputError."""
    if _kind(file) == "json":
        from lossless.ground.documents.json.document import load_json

        return load_json(text, file, lists=lists)
    from lossless.ground.documents.yaml.compose import load_yaml

    return load_yaml(text, file, lists=lists)


def _kind(file: str) -> str:
    name = file.lower()
    if name.endswith(".json"):
        return "json"
    if name.endswith((".yaml", ".yml")):
        return "yaml"
    raise InputError([Problem(file, None, None, "unknown kind of file; expected .json, .yaml or .yml")])
