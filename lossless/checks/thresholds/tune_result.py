"""What tuning an intent found, and how the intent states it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.analysis.simulation.study.settings import TrialSetting
    from lossless.analysis.simulation.tune.tune import Tuned
    from lossless.formats.intent.class_changes import Place
    from lossless.formats.intent.thresholds import StatedThresholds


class TuneResult(NamedTuple):
    """What tuning found.

    ``workloads`` are what was searched for, by name, ``not_run`` says what was not, and why. ``headroom_bytes`` is what
    was raised before the search, by role and speed, because a port needs more than it has.
    """

    tuned: Tuned
    workloads: Mapping[str, str]
    not_run: tuple[str, ...]
    headroom_bytes: Mapping[Place, int]
    state: Callable[[TrialSetting], StatedThresholds]

    def stated(self, place: int | None = None) -> StatedThresholds:
        """Return how the intent states the setting at a place of the front, or without one the chosen setting.

        Raises:
            LosslessError: there is no such setting.
            InputError: what is written there leaves no place for it.
        """
        chosen, front = self.tuned.chosen, self.tuned.front
        if place is None:
            if chosen is None:
                raise LosslessError("no setting was chosen, so that there is nothing to write")
            if not self.improves:
                raise LosslessError(
                    "what is configured is the best of all that was tried: there is nothing to write"
                )
            return self.state(chosen.row.setting)
        if not 1 <= place <= len(front):
            raise LosslessError(f"place {place}: nothing was written; the front has {len(front):,} settings")
        return self.state(front[place - 1].setting)

    @property
    def improves(self) -> bool:
        """Whether a setting was chosen that is not what the intent has already."""
        chosen = self.tuned.chosen
        return chosen is not None and (chosen.row.step != "now" or bool(self.headroom_bytes))
