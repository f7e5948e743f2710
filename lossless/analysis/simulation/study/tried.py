"""All settings of a sweep tried in batches: the number of events needed, and the results in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from lossless.analysis.simulation.study.grid import ThresholdSetting
from lossless.ground.basics.errors import ScenarioError
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lossless.analysis.simulation.question.request import Limits
    from lossless.analysis.simulation.study.workers import WorkerPool

BATCH_EVENTS = 4_000_000
"""Events that a worker is sent at once: a tenth of a second or so, so that progress is seen."""


class Counted(Protocol):
    """The results of one setting with one seed, with their number of events."""

    @property
    def events(self) -> int:
        """The number of events that the trial took."""


_Task = TypeVar("_Task")
_Trial = TypeVar("_Trial", bound=Counted)
_Row = TypeVar("_Row")


class Followed(NamedTuple):
    """The limits of trials, and the callback that gets how many settings are done of how many."""

    limits: Limits
    progress: Callable[[int, int], None] | None = None


def tried_rows(
    tried: Sequence[ThresholdSetting],
    pool: WorkerPool[_Task, ThresholdSetting, tuple[_Trial, ...]],
    followed: Followed,
    row: Callable[[ThresholdSetting, Sequence[_Trial]], _Row],
) -> tuple[_Row, list[_Row], int]:
    """Return the row of the configured setting, one for each setting in their order, and the events of all of them.

    Raises:
        ScenarioError: it would take more events than the limits allow.
    """
    (probes,) = pool.map([(ThresholdSetting(), tried[0], tried[-1])])
    most = max(sum(trial.events for trial in seeds) for seeds in probes)
    _require_events(len(tried), most, followed.limits)
    batches = pool.batches(tried, max(1, BATCH_EVENTS // max(1, most)))
    rows: list[_Row] = []
    events = 0
    for batch, results in zip(batches, pool.map(batches), strict=True):
        rows += map(row, batch, results)
        events += sum(trial.events for seeds in results for trial in seeds)
        if followed.progress is not None:
            followed.progress(len(rows), len(tried))
    return row(ThresholdSetting(), probes[0]), rows, events


def _require_events(many: int, most: int, limits: Limits) -> None:
    if many * most > limits.events:
        raise ScenarioError(
            f"{many:,} settings would take about {many * most / 1e9:.1f} billion events ({most:,} each was measured),"
            f" more than the {limits.events / 1e9:g} billion allowed; name fewer values, make --horizon, --size, --nics"
            " or --seeds smaller, or allow more with --max-events"
        )
