"""The type of a host file that all makers of host files return."""

from __future__ import annotations

from collections.abc import Mapping

from lossless.ground.basics.records import NamedTuple


class HostFile(NamedTuple):
    """One file of a host: its path in the host's folder, its template, and the values of the template."""

    path: str
    template: str
    context: Mapping[str, object]
    executable: bool
