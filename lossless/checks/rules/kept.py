"""What keeps findings back and should not any more, as the rules about suppressions are given it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from lossless.ground.basics.findings import Origin


class Idle(NamedTuple):
    """A suppression that keeps nothing back for ``rules``, some or all of those it names."""

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    is_whole: bool


class Expired(NamedTuple):
    """A suppression whose last day was ``until``; ``places`` is how many findings it would keep back."""

    origin: Origin
    rules: tuple[str, ...]
    reason: str
    until: str
    places: int


class Stale(NamedTuple):
    """An entry of a baseline that is not found any more, all or some of the times it counts."""

    origin: Origin
    file: str
    object: str
    code: str
    times: int


class Kept(NamedTuple):
    """What there is to say of all suppressions and baselines of a run."""

    idle: tuple[Idle, ...] = ()
    expired: tuple[Expired, ...] = ()
    stale: tuple[Stale, ...] = ()
