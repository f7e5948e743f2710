"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossless.api import Options

_DSCPS = range(64)


def _dscps(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> tuple[int, ...]:
    """Return the DSCPs of one or more comma lists, each once, ascending.

    Raises:
        BadParameter: not a number that six bits can hold.
    """
    found = set()
    for text in (part.strip() for value in values for part in value.split(",")):
        if not (text.isascii() and text.isdecimal() and int(text) in _DSCPS):
            raise click.BadParameter(f"{text!r} is not a DSCP; expected a number from 0 to 63")
        found.add(int(text))
    return tuple(sorted(found))


rdma_dscp = click.option(
    "--rdma-dscp",
    "rdma_dscps",
    metavar="N[,N...]",
    multiple=True,
    callback=_dscps,
    help="DSCPs that must be lossless on devices without an intent; may be repeated.",
)
profiles = click.option(
    "--profiles",
    "profile_dirs",
    metavar="DIR",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Folder of hardware profiles that add to the shipped ones; may be repeated, the first wins.",
)


def api_options(rdma_dscps: Sequence[int], profile_dirs: Sequence[str]) -> Options:
    """Return what the options above say, as the API takes it."""
    from lossless.api import Options

    return Options(rdma_dscps=tuple(rdma_dscps), profile_dirs=tuple(profile_dirs))
