"""The result of tuning an intent, and the thresholds of the intent that declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.ground.basics.errors import LosslessError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lossless.analysis.simulation.study.grid import TrialSetting
    from lossless.analysis.simulation.tune.tune import Tuned
    from lossless.formats.intent.class_changes import Place
    from lossless.formats.intent.thresholds import StatedThresholds


class TuneResult(NamedTuple):
    """The result of tuning.

    ``workloads`` are those of the search, by name, ``not_run`` those that were not run, with the reason.
    ``headroom_bytes`` is the headroom that was raised before the search, by role and speed, because it was too short.
    """

    tuned: Tuned
    workloads: Mapping[str, str]
    not_run: tuple[str, ...]
    headroom_bytes: Mapping[Place, int]
    state: Callable[[TrialSetting], StatedThresholds]

    def stated(self, place: int | None = None) -> StatedThresholds:
        """Return the thresholds that declare the setting at a place of the front, or without one the chosen setting.

        Raises:
            LosslessError: there is no such setting.
            InputError: the content of the intent leaves no place for it.
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
        """Whether a chosen setting differs from the current one of the intent."""
        chosen = self.tuned.chosen
        return chosen is not None and (chosen.row.step != "now" or bool(self.headroom_bytes))
