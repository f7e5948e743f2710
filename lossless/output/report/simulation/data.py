"""Results of simulations and sweeps as plain data for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.analysis.buffers.verdict import (
    MOST_NICS_PAUSED,
    MOST_TIME_IN_PAUSE,
    NOT_COMPUTED,
    NOT_EVALUATED,
)
from lossless.ground.basics.findings import MissingInput
from lossless.output.report.plain import plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated, NotRequired, TypedDict

    from lossless.analysis.buffers.verdict import BufferVerdict, FabricVerdict, PfcLoad
    from lossless.analysis.simulation.study.answer import SimulationResult
    from lossless.analysis.simulation.study.calculated_load import CalculatedLoad
    from lossless.analysis.simulation.study.grid import ThresholdSetting
    from lossless.analysis.simulation.study.load import Load
    from lossless.analysis.simulation.study.measure import PeakComparison
    from lossless.analysis.simulation.study.sweep import Sweep, SweepRow
    from lossless.analysis.simulation.study.verdict import LossVerdict, RunVerdict

    Data = dict[str, Any]
    RunData = Annotated[Data, RunVerdict, ("causes",)]

    class ReasonData(TypedDict):
        """The reason why there is no figure."""

        verdict: str
        reason: str

    class CarriedData(TypedDict):
        """The verdict on a permutation, and the costs that lower its flow rates."""

        verdict: str
        causes: list[str]

    LoadData = Annotated[Data, Load, CarriedData] | Annotated[Data, CalculatedLoad, CarriedData] | ReasonData

    class LimitedData(TypedDict):
        """A value beside its limit."""

        value: float
        limit: float

    class PfcLoadData(TypedDict):
        """The load on PFC in the runs of one scenario."""

        scenario: str
        seeds: int
        verdict: str
        above: list[str]
        nics_paused: LimitedData
        longest_pause_us: LimitedData
        time_in_pause: LimitedData

    class PacketLevelData(TypedDict):
        """The runs of the packet-level model on a fabric."""

        runs: list[RunData]
        not_run: str | None
        load: list[LoadData]
        pfc_load: list[PfcLoadData | ReasonData]

    class BothData(TypedDict):
        """The worst verdict of closed forms and runs, and what the runs and the switches measured."""

        overall: BufferVerdict
        packet_level: PacketLevelData
        measured_peaks: tuple[PeakComparison, ...]

    FabricData = Annotated[Data, FabricVerdict, BothData]

    class LossyRowData(TypedDict):
        """The results of a setting of a lossy class, beside its loss."""

        verdict: BufferVerdict
        goodput_bps: int
        egress_bytes: int
        marks: int

    RowData = (
        Annotated[Data, NotRequired[ThresholdSetting], SweepRow, ("setting", "loss")]
        | Annotated[Data, NotRequired[ThresholdSetting], LossVerdict, LossyRowData]
    )

    ClassData = TypedDict("ClassData", {"class": str})

    class SweptData(TypedDict):
        """A sweep of one class; the settings without loss are counted for a lossy one."""

        scenario: str
        varied: list[str]
        settings: int
        safe: int
        no_loss: NotRequired[int]
        silent: NotRequired[int]
        cut: NotRequired[int]
        order: str
        skipped: int
        seeds: int
        horizon_us: float
        events: int
        configured: RowData
        rows: list[RowData]
        assumed: list[str]

    SweepData = Annotated[Data, ClassData, SweptData]

_NO_FIGURES = ("setting", "loss")
"""Fields of a sweep's row that the data of a lossless class leave out."""


def verdict_data(result: SimulationResult) -> FabricData:
    """Return the verdict of a fabric: that of the closed forms, and below ``packet_level`` that of the runs."""
    return {
        **plain(result.closed._replace(not_checked=result.not_checked)),
        "overall": result.overall,
        "packet_level": {
            "runs": [run_data(run) for run in result.runs],
            "not_run": result.not_run,
            "load": [carried_data(load) for load in result.loads],
            "pfc_load": [load_data(load) for load in result.pfc_loads],
        },
        "measured_peaks": plain(result.peaks),
    }


def run_data(run: RunVerdict) -> RunData:
    """Return the verdict from the runs of a scenario as plain data, without its causes, which repeat the reasons."""
    return {name: value for name, value in plain(run).items() if name != "causes"}


def carried_data(load: Load | CalculatedLoad | MissingInput) -> LoadData:
    """Return the verdict on the load of a permutation as plain data, or the reason why it is unknown."""
    if isinstance(load, MissingInput):
        return {"verdict": NOT_COMPUTED, "reason": load.reason}
    return {"verdict": load.verdict, **plain(load), "causes": list(load.causes)}


def load_data(load: PfcLoad | MissingInput) -> PfcLoadData | ReasonData:
    """Return the PFC load as plain data: each measure beside its limit, or the reason why it is not evaluated."""
    if isinstance(load, MissingInput):
        return {"verdict": NOT_EVALUATED, "reason": load.reason}
    return {
        "scenario": load.scenario,
        "seeds": load.seeds,
        "verdict": load.verdict,
        "above": list(load.above),
        "nics_paused": {"value": load.nics_paused, "limit": MOST_NICS_PAUSED},
        "longest_pause_us": {"value": load.longest_pause_us, "limit": load.longest_pause_limit_us},
        "time_in_pause": {"value": load.time_in_pause, "limit": MOST_TIME_IN_PAUSE},
    }


def sweep_data(sweep: Sweep) -> SweepData:
    """Return a sweep as plain data, with counts of its settings before them."""
    return {
        "scenario": sweep.scenario,
        "class": sweep.class_name,
        "varied": list(sweep.names),
        "settings": len(sweep.rows),
        "safe": sum(row.verdict == "safe" for row in sweep.rows),
        **_counts(sweep),
        "order": sweep.order,
        "skipped": sweep.skipped,
        "seeds": sweep.seeds,
        "horizon_us": sweep.horizon_us,
        "events": sweep.events,
        "configured": row_data(sweep.configured, ()),
        "rows": [row_data(row, sweep.names) for row in sweep.rows],
        "assumed": list(sweep.assumed),
    }


def _counts(sweep: Sweep) -> Data:
    """Return the numbers of settings without PFC and with a cut run; for a lossy class, of settings without loss."""
    if sweep.is_lossy:
        return {"no_loss": sum(row.nothing_lost for row in sweep.rows)}
    return {"silent": sum(row.silent for row in sweep.rows), "cut": sweep.cut}


def row_data(row: SweepRow, names: Sequence[str]) -> RowData:
    """Return the named thresholds and the results of a sweep's row as plain data."""
    thresholds = {name: getattr(row.setting, name) for name in names}
    if row.loss is None:
        return thresholds | {name: value for name, value in row._asdict().items() if name not in _NO_FIGURES}
    figures = {name: getattr(row, name) for name in ("goodput_bps", "egress_bytes", "marks")}
    return {**thresholds, "verdict": row.verdict, **row.loss._asdict(), **figures}
