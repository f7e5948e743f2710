"""Options of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike


class Options(NamedTuple):
    """Options of a run.

    ``rdma_dscps`` names the DSCPs that must be lossless on devices without an intent; ``profile_dirs`` are
    folders of hardware profiles that add to the shipped ones. ``simulate``: lint also runs traffic.

    ``select`` and ``ignore`` choose rules by code, name or family. ``configured``: settings of ``lossless.toml`` or
    ``pyproject.toml`` above a file apply to it; ``configuration`` names one file that applies to all instead.
    ``baseline`` replaces the configured file of known findings; empty means no baseline. ``today``, as 2026-12-31, ends
    suppressions whose date has passed; without it none ends.

    ``exclude`` replaces the configured patterns of files and folders that are not searched; ``extend_exclude`` adds
    patterns; both are relative to the current folder. ``force_exclude``: patterns also apply to paths named on the
    command line; None as configured.

    ``per_file``: every file is checked by itself, and a named file of an unknown kind is not an error. ``tell`` is
    called with the number of checked files and the total while files remain.
    """

    rdma_dscps: tuple[int, ...] = ()
    profile_dirs: tuple[str | PathLike[str], ...] = ()
    simulate: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    configured: bool = False
    configuration: str | None = None
    baseline: str | None = None
    today: str = ""
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool | None = None
    per_file: bool = False
    tell: Callable[[int, int], None] | None = None


DEFAULT_OPTIONS = Options()
