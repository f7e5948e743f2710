"""The SONiC release of a switch, and the parts of a rendered configuration that this release does not support.

The facts are those of ``profiles/sonic/releases.toml``, each with its source; every release supports all tables that
are not listed there as lacking, as far as dates prove.
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
    """A rendered table: its fields (``*``: all that it maps), the month from which it is proved, and the source."""

    fields: tuple[str, ...]
    since: str
    source: str


class Lack(NamedTuple):
    """A table that some releases lack, and the keys of an intent that need it."""

    table: str
    releases: tuple[str, ...]
    keys: str
    source: str


class FixedTrim(NamedTuple):
    """A chip whose size and queue of trimmed packets no CONFIG_DB changes; ``queues`` are those of HWSKUs."""

    asic: str
    size_bytes: int
    queue: int
    queues: Mapping[str, int]
    source: str


class TrimFacts(NamedTuple):
    """Facts on trimming from upstream's tests: releases on which they skip it, and chips on which it is fixed."""

    untested: tuple[str, ...]
    untested_source: str
    fixed: tuple[FixedTrim, ...]


class Releases(NamedTuple):
    """Facts about releases; ``default`` is the release that applies if neither intent nor base names one."""

    names: tuple[str, ...]
    default: str
    tables: Mapping[str, RenderedTable]
    lacks: tuple[Lack, ...]
    trimming: TrimFacts


@cache
def releases() -> Releases:
    """Return the facts about releases.

    Raises:
        OSError: the installation is damaged.
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
    """Return the release of a switch: the one that its intent declares, else that of its base, else the default."""
    return _known_release(switch, base) or releases().default


def _known_release(switch: Switch, base: Mapping[str, object] | None) -> str | None:
    return switch.release or (_own_release(base) if base is not None else None)


def release_problems(switch: Switch, rendered: TableRows, base: Mapping[str, object] | None) -> Iterator[str]:
    """Yield the reasons why the release of a switch cannot take a rendered configuration, in an operator's words."""
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
    """Return the first release that supports a table that others lack."""
    return next(name for name in releases().names if name not in lack.releases)


def _own_release(base: Mapping[str, object]) -> str | None:
    """Return the known release of a device's own file: ``202411`` of ``version_202411_01``."""
    versions = base.get("VERSIONS")
    row = versions.get("DATABASE") if isinstance(versions, dict) else None
    parts = str(row.get("VERSION")).split("_") if isinstance(row, dict) else []
    return parts[1] if len(parts) > 1 and parts[1] in releases().names else None
