"""A record of findings with the verdict of a person on each: read, compared and written again."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

UNJUDGED = "unjudged"


def on_record(record: Path) -> dict[str, Any]:
    """Return a record: ``finding`` entries, and what else it holds."""
    return tomllib.loads(record.read_text(encoding="utf-8")) if record.exists() else {}


def recorded(record: Mapping[str, Any], keys: Sequence[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the entries of a record by what they are about."""
    return {tuple(entry[key] for key in keys): entry for entry in record.get("finding", ())}


def entry_text(fields: Mapping[str, Any], checked: Mapping[str, Any] | None) -> str:
    """Return an entry as text: what it is about, and the verdict and why of one that was checked, if any was."""
    written = {**fields, **({key: checked[key] for key in ("verdict", "why")} if checked else {})}
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in written.items())
    return "\n[[finding]]\n" + "".join(lines)


def differences(
    found: Collection[tuple[Any, ...]],
    known: Mapping[tuple[Any, ...], Mapping[str, Any]],
    accepted: Collection[str],
) -> Iterator[str]:
    """Yield what is found and not on record, what is on record and gone, and verdicts that are not accepted."""
    yield from (f"new: {tuple(key)}" for key in sorted(set(found) - known.keys()))
    yield from (f"gone: {tuple(key)}" for key in sorted(known.keys() - set(found)))
    for key, one in sorted(known.items()):
        if one["verdict"] not in accepted:
            yield f"{one['verdict']}: {tuple(key)}"
