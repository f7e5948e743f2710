"""Contradictions of trimming: classes that cannot be trimmed or carry trimmed packets, sizes, and releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.formats.intent.problems import located
from lossless.formats.intent.sonic import WITH_TRIMMING
from lossless.ground.basics.nearest import suggestion
from lossless.model.fabric.routing import LEAST_TRIM_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.formats.intent.document import Intent
    from lossless.formats.intent.trimming import TrimmingIntent
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.document import Document


def contradictions_of_trimming(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield each contradiction of the trimming section, located."""
    trimming = intent.trimming
    if trimming is None:
        return
    if trimming.size < LEAST_TRIM_BYTES:
        message = f"trimming.size: {trimming.size} B is no frame; the shortest has {LEAST_TRIM_BYTES} B"
        yield located(document, ("trimming", "size"), message)
    elif trimming.size > intent.mtu:
        message = (
            f"trimming.size: {trimming.size:,} B cuts no packet; none has more than {intent.mtu:,} B (mtu)"
        )
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
    yield from _releases(document, intent)


def _releases(document: Document, intent: Intent) -> Iterator[Problem]:
    """Yield declared releases that do not support trimming."""
    stated = {("release", role): release for role, release in intent.sonic.release.items()}
    stated |= {("devices", name): release for name, release in intent.sonic.devices.items()}
    told = set()
    for below, release in stated.items():
        path = ("sonic", *(below if document.exists(("sonic", *below)) else below[:1]))
        if release not in WITH_TRIMMING and path not in told:
            told.add(path)
            message = f"SONiC {release} has no packet trimming, which trimming asks for"
            yield located(
                document, path, f"{'.'.join(path)}: {message}; {WITH_TRIMMING[0]} is the first that has"
            )


def _carrier(document: Document, intent: Intent, trimming: TrimmingIntent) -> Iterator[Problem]:
    """Yield the reason why a class cannot carry trimmed packets."""
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
