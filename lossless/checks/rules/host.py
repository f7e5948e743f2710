"""One host as it was read beside the same host of an intent, as rules that compare the two are given it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.model.fabric.hosts import HostQos


class IntendedHost(NamedTuple):
    """A host as it was read, and as an intent wants it; ``names`` are all hosts of which the same was read."""

    have: HostQos
    want: HostQos
    names: tuple[str, ...]
