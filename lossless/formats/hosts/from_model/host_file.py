"""What a file of a host is made of: the one shape in which every maker of host files hands them on."""

from __future__ import annotations

from collections.abc import Mapping

from lossless.ground.basics.records import NamedTuple


class HostFile(NamedTuple):
    """One file of a host: its path in the host's folder, and the template and the values that make it."""

    path: str
    template: str
    context: Mapping[str, object]
    executable: bool
