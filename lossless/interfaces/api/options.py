"""What a user can say about a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike


class Options(NamedTuple):
    """What a user can say about a run.

    ``rdma_dscps`` names the DSCPs that must be lossless on devices without an intent; ``profile_dirs`` are
    folders of hardware profiles that add to the shipped ones. ``simulate``: lint also runs traffic.

    ``select`` and ``ignore`` choose rules by code, name or family. ``configured``: what ``lossless.toml`` or
    ``pyproject.toml`` above a file says holds for it; ``configuration`` names one that holds for all instead.
    ``baseline`` is the file of known findings that counts instead of a configured one; empty, none counts. ``today``,
    as 2026-12-31, ends suppressions that have a date; without it none ends.

    ``exclude`` are patterns of files and folders that are not searched, in place of those that are configured;
    ``extend_exclude`` add to them, both from the current folder. ``force_exclude``: they hold for paths that are named
    too; None as configured.

    ``per_file``: every file is checked by itself, and one that is named need not be ours. ``tell`` is told how many
    files are done, of how many, while there is more to do.
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
