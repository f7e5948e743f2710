"""What runs of the packet-level model showed, as rules are given it: plain, so that rules need not know the model."""

from __future__ import annotations

from collections.abc import Mapping

from lossless.findings import Json, Origin
from lossless.records import NamedTuple


class Run(NamedTuple):
    """One scenario over its seeds.

    ``verdict``: unsafe, on the edge or safe, and ``reasons`` why; ``changes`` say which threshold to change. ``origin``
    is where what is to blame was written, ``element`` where it showed. ``not_run`` says why there was no run.
    """

    verdict: str
    scenario: str
    reasons: tuple[str, ...]
    changes: tuple[str, ...]
    origin: Origin
    element: str | None
    data: Mapping[str, Json]
    not_run: str | None = None
