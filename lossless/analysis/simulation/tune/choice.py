"""The choice of a setting: of the best, the one that small changes harm least and that raises no objection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.analysis.simulation.tune.kpis import kpis
from lossless.analysis.simulation.tune.robust import Nearby, nearby
from lossless.analysis.simulation.tune.trials import Attempt
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lossless.analysis.simulation.study.settings import TrialSetting
    from lossless.analysis.simulation.tune.search import TriedSetting
    from lossless.analysis.simulation.tune.trials import Case, Tried

MOST_CANDIDATES = 12
"""Settings of the front that are looked at more closely, the best first."""


class Rejected(NamedTuple):
    """A setting that was not taken, and the reason."""

    setting: TrialSetting
    reason: str


class Choice(NamedTuple):
    """The chosen setting, and its results after small changes.

    ``place`` is its place in the front, from 1; those before it lose more by some small change, or are ``rejected``.
    """

    row: TriedSetting
    near: tuple[Nearby, ...]
    place: int
    rejected: tuple[Rejected, ...]

    @property
    def worst(self) -> Nearby:
        """The small change that harms it most."""
        return max(self.near, key=lambda each: each.kpis.rank)

    @property
    def harm(self) -> tuple[int, ...]:
        """The rank that it has after that change."""
        return max(self.row.kpis.rank, self.worst.kpis.rank)


def choose(
    best: Sequence[TriedSetting],
    run: Callable[[Sequence[Attempt]], Iterable[Tried]],
    cases: Sequence[Case],
    others: Mapping[str, int],
    acceptable: Callable[[TrialSetting], str | None],
) -> Choice | None:
    """Return which setting of a front to choose, the best first; ``others`` are variants that count as small changes.

    None where the front is empty, or none of those looked at is acceptable.
    """
    choices = [
        Choice(row, tuple(_near(row.setting, run, cases, others)), place, ())
        for place, row in enumerate(best[:MOST_CANDIDATES], 1)
    ]
    rejected: list[Rejected] = []
    for choice in sorted(choices, key=lambda choice: choice.harm):
        reason = acceptable(choice.row.setting)
        if reason is None:
            return choice._replace(rejected=tuple(rejected))
        rejected.append(Rejected(choice.row.setting, reason))
    return None


def _near(
    setting: TrialSetting,
    run: Callable[[Sequence[Attempt]], Iterable[Tried]],
    cases: Sequence[Case],
    others: Mapping[str, int],
) -> Iterator[Nearby]:
    changes = [(name, Attempt(changed)) for name, changed in nearby(setting)]
    changes += [(name, Attempt(setting, variant)) for name, variant in others.items()]
    tried = run([attempt for _, attempt in changes])
    for (name, _), shown in zip(changes, tried, strict=True):
        yield Nearby(name, kpis(cases, shown))
