"""The SONiC release of a switch, and the parts of a rendered configuration that this release does not support.

The facts are those of ``profiles/sonic/releases.toml``, each with its source; a rendered table counts as supported by
each release that is not listed there as lacking it.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from lossless.ground.basics.files import data_dir
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lossless.formats.sonic.from_model import TableRows
    from lossless.model.fabric.model import Switch


class RenderedTable(NamedTuple):
    """A rendered table of CONFIG_DB: its fields (``*``: any), the month since which SONiC has them, and the source."""

    fields: tuple[str, ...]
    since: str
    source: str


class Lack(NamedTuple):
    """A table of CONFIG_DB, the SONiC releases that lack it, and the keys of an intent that need it."""

    table: str
    releases: tuple[str, ...]
    keys: str
    source: str


class FixedTrim(NamedTuple):
    """An ASIC on which CONFIG_DB cannot set size and queue of trimmed packets; ``queues`` has exceptions by HWSKU."""

    asic: str
    size_bytes: int
    queue: int
    queues: Mapping[str, int]
    source: str


class TrimFacts(NamedTuple):
    """Packet trimming in sonic-mgmt's tests: releases on which they skip it, ASICs with fixed size and queue."""

    untested: tuple[str, ...]
    untested_source: str
    fixed: tuple[FixedTrim, ...]


class Releases(NamedTuple):
    """The SONiC releases, oldest first, and their facts; ``default`` applies if neither intent nor base names one."""

    names: tuple[str, ...]
    default: str
    tables: Mapping[str, RenderedTable]
    lacks: tuple[Lack, ...]
    trimming: TrimFacts


@cache
def releases() -> Releases:
    """Return the SONiC releases and their facts of ``profiles/sonic/releases.toml``.

    Raises:
        LosslessError: the installation has no profiles.
        OSError: it lacks this file.
    """
    import tomllib

    with open(os.path.join(data_dir("profiles"), "sonic", "releases.toml"), "rb") as file:  # noqa: PTH118, PTH123
        raw = tomllib.load(file)
    return Releases(
        names=tuple(raw["releases"]),
        default=raw["default"],
        tables={
            name: RenderedTable(tuple(entry["fields"].split()), entry["since"], entry["source"])
            for name, entry in raw["tables"].items()
        },
        lacks=tuple(
            Lack(entry["table"], tuple(entry["releases"]), entry["keys"], entry["source"])
            for entry in raw["lacks"]
        ),
        trimming=TrimFacts(
            untested=tuple(raw["trimming"]["untested"]),
            untested_source=raw["trimming"]["untested_source"],
            fixed=tuple(FixedTrim(**entry) for entry in raw["trimming"]["fixed"]),
        ),
    )


def release_of(switch: Switch, base: Mapping[str, object] | None) -> str:
    """Return the SONiC release of a switch: that of its intent, else a known one of its base, else the default."""
    return _known_release(switch, base) or releases().default


def _known_release(switch: Switch, base: Mapping[str, object] | None) -> str | None:
    return switch.release or (_own_release(base) if base is not None else None)


def release_problems(switch: Switch, rendered: TableRows, base: Mapping[str, object] | None) -> Iterator[str]:
    """Yield, as text, a base of another release than the intent's, and each rendered table that the release lacks."""
    own = _own_release(base) if base is not None else None
    if switch.release is not None and own not in (None, switch.release):
        yield f"is of SONiC {own} (VERSIONS|DATABASE); sonic.release makes {switch.name} {switch.release}"
    release, known = release_of(switch, base), _known_release(switch, base)
    why = f"which {switch.name} runs" if known else "which counts where sonic.release and a base say none"
    for lack in releases().lacks:
        if release in lack.releases and lack.table in rendered:
            yield (
                f"SONiC {release}, {why}, has no model of {lack.table}, which {lack.keys} asks for ({lack.source}); "
                f"{_first_with(lack)} is the first that has one{'' if known else ': state sonic.release'}"
            )


def _first_with(lack: Lack) -> str:
    """Return the oldest listed SONiC release that does not lack a table."""
    return next(name for name in releases().names if name not in lack.releases)


def _own_release(base: Mapping[str, object]) -> str | None:
    """Return the release in a CONFIG_DB's own version (``202411`` of ``version_202411_01``), None if it is unknown."""
    versions = base.get("VERSIONS")
    row = versions.get("DATABASE") if isinstance(versions, dict) else None
    parts = str(row.get("VERSION")).split("_") if isinstance(row, dict) else []
    return parts[1] if len(parts) > 1 and parts[1] in releases().names else None
