"""The options that say what a run looks at: files by themselves, what a change adds, and whether it goes on."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Extent(NamedTuple):
    """What a run looks at: every file by itself, what is new ``since`` a revision of git, and whether it goes on."""

    per_file: bool
    since: str | None
    watch: bool


_OPTIONS = (
    click.option(
        "--per-file",
        is_flag=True,
        help="Each file by itself, in any order, other files passed over: for hooks that name files.",
    ),
    click.option(
        "--since",
        metavar="REV",
        help="Only what was not found at a revision of git; REV... is where the work since forked off.",
    ),
    click.option("--watch", is_flag=True, help="Judge anew whenever a file changes, until Ctrl-C."),
)


def extent_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options to a command, which is given ``extent`` in their place."""

    @functools.wraps(command)
    def gathered(*, per_file: bool, since: str | None, watch: bool, **rest: Any) -> int:
        return command(extent=Extent(per_file, since, watch), **rest)

    with_options: Callable[..., int] = gathered
    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options


def require_extent(extent: Extent, paths: tuple[str, ...], *, simulate: bool, mending: bool) -> None:
    """Refuse what cannot be asked for together.

    Raises:
        UsageError: two options that contradict each other, or standard input where files are needed.
    """
    again = extent.watch or extent.since is not None
    if extent.per_file and simulate:
        raise click.UsageError(
            "--simulate runs traffic between devices; --per-file judges every file by itself"
        )
    if mending and again:
        raise click.UsageError("--fix and --diff go neither with --watch nor with --since")
    if extent.watch and extent.since is not None:
        raise click.UsageError("--watch and --since contradict each other")
    if "-" in paths and again:
        raise click.UsageError("standard input is no file that could have changed")
