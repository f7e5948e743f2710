"""Majority votes: one vote a port, ties broken by a fixed order, never at random."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_T = TypeVar("_T")


class Vote(NamedTuple):
    """The outcome of a vote: how many voted for the winner, of how many."""

    ayes: int
    votes: int

    @property
    def unanimous(self) -> bool:
        """Whether all votes were equal."""
        return self.ayes == self.votes


def most(values: Iterable[_T]) -> tuple[_T | None, Vote]:
    """Return the most frequent value and the outcome of the vote; None without votes."""
    counts = Counter(values)
    if not counts:
        return None, Vote(0, 0)
    winner = min(counts, key=lambda value: (-counts[value], repr(value)))
    return winner, Vote(counts[winner], counts.total())


def dissent_notes(vote: Vote, what: str) -> tuple[str, ...]:
    """Return a note that some votes differ, none where all agree."""
    if vote.unanimous:
        return ()
    others = vote.votes - vote.ayes
    return (f"{what}: {vote.ayes} of {vote.votes} ports have it so, {others} differ",)
