"""Turns changes of single values into edits of the text: every other byte stays unchanged.

The result is parsed again and must equal the requested data; where it does not (an alias that others share, a merge
key), nothing is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.errors import InputError
from lossless.ground.documents.changes import changed, spliced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.ground.documents.changes import Replacement, ValueChange
    from lossless.ground.documents.document import Document


def edited(document: Document, changes: Sequence[ValueChange]) -> str | None:
    """Return the text of a document with some changes; None where no edit makes exactly these changes."""
    wanted = list({(change.path, change.action, repr(change.value)): change for change in changes}.values())
    expected = changed(document.data, wanted)
    if expected is None:
        return None
    text = spliced(document.text, _replacements(document, wanted))
    return text if text is not None and _reads(text, document.file) == expected else None


def _replacements(document: Document, changes: Sequence[ValueChange]) -> list[Replacement]:
    if document.file.lower().endswith(".json"):
        from lossless.ground.documents.json.edits import replacements as of_json

        return of_json(document, changes)
    from lossless.ground.documents.yaml.edits import replacements as of_yaml

    return of_yaml(document, changes)


def _reads(text: str, file: str) -> dict[Any, Any] | None:
    from lossless.ground.documents import load_text

    try:
        document = load_text(text, file)
    except InputError:
        return None
    return None if document.problems else document.data
