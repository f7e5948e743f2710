"""Files of cables to the topology of an intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.errors import InputError
from lossless.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from lossless.errors import Problem


class Cabling(NamedTuple):
    """The section ``topology`` of an intent as text, and how many devices and links it lists."""

    text: str
    devices: int
    links: int


def cabled_topology(
    files: Sequence[str | PathLike[str]],
    *,
    roles: Sequence[tuple[str, str]] = (),
    speeds: Mapping[str, int] | None = None,
    cables: Mapping[str, int] | None = None,
    without: Sequence[str] = (),
) -> Cabling:
    """Return the devices and links that cabling files, outputs of LLDP and exports of NetBox amount to.

    ``roles`` are patterns of names (or ``role:NAME`` of an export), each with the role that it means, the first that
    fits counts. ``speeds`` in b/s and ``cables`` in metres are those of links that no file gives one, by tier.
    Devices that fit ``without`` are left out.

    Raises:
        InputError: a file cannot be read or is of no kind that is known; contradictions, and what is missing, located.
    """
    import os

    from lossless.importing.wired import Stated, read_wiring, topology_yaml
    from lossless.source.text import read_text

    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for file in (os.fspath(path) for path in files):
        try:
            texts[file] = read_text(file)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    wired = read_wiring(texts, Stated(tuple(roles), speeds or {}, cables or {}, tuple(without)))
    return Cabling(topology_yaml(wired), len(wired.roles), len(wired.links))
