"""What the classes of trimming cannot be, and the size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.problems import located
from lossless.ground.basics.nearest import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.document import Intent
    from lossless.formats.intent.trimming import TrimmingIntent
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.document import Document

LEAST_TRIM_BYTES = 64
"""The shortest Ethernet frame (IEEE 802.3, 3.2.7): no packet can be cut to less."""


def contradictions_of_trimming(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield what the classes of trimming cannot be; each is located."""
    trimming = intent.trimming
    if trimming is None:
        return
    if trimming.size < LEAST_TRIM_BYTES:
        message = f"trimming.size: {trimming.size} B is no frame; the shortest has {LEAST_TRIM_BYTES} B"
        yield located(document, ("trimming", "size"), message)
    for number, name in enumerate(trimming.of):
        entry = ("trimming", "of", number)
        path = entry if document.exists(entry) else entry[:-1]
        if name not in intent.classes:
            hint = suggestion(name, sorted(intent.classes))
            yield located(document, path, f"trimming.of: no class {name!r}{hint}")
        elif intent.classes[name].lossless:
            message = f"trimming.of: class {name} is lossless: its packets are paused, and none is trimmed"
            yield located(document, path, message)
    yield from _carrier(document, intent, trimming)


def _carrier(document: Document, intent: Intent, trimming: TrimmingIntent) -> Iterator[Problem]:
    """Yield why a class cannot carry what is left of packets."""
    name, path = trimming.into, ("trimming", "into")
    if name not in intent.classes:
        hint = suggestion(name, sorted(intent.classes))
        yield located(document, path, f"trimming.into: no class {name!r}{hint}")
    elif name in trimming.of:
        yield located(document, path, f"trimming.into: packets of class {name} are trimmed themselves")
    elif intent.classes[name].lossless:
        yield located(
            document, path, f"trimming.into: class {name} is lossless; trimmed packets must not pause"
        )
    elif len(intent.classes[name].dscps) != 1:
        message = f"trimming.into: class {name} has {len(intent.classes[name].dscps)} DSCPs; a trimmed packet gets one"
        yield located(document, path, message)
