"""One run looked at while it goes on: what pictures are drawn from.

Where it is worth looking is known only after a run. So a seed is run twice: the same seed is the same run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lossless.records import NamedTuple
from lossless.simulation.engine import Simulation
from lossless.simulation.kernel import recorder
from lossless.simulation.measure import place_of
from lossless.simulation.outcome import longest_pauses

if TYPE_CHECKING:
    from lossless.findings import Json
    from lossless.simulation.stage import Stage

SAMPLES = 800
"""Times at which a run is looked at: more than a picture has columns."""
MOST_GROUPS, MOST_LINKS, MOST_FLOWS = 6, 24, 8
"""How many of each are looked at, those that matter most; a picture with more cannot be read."""


class Series(NamedTuple):
    """What one probe saw, at the times of its recording.

    ``kind``: ``egress``, ``group``, ``threshold`` and ``memory`` are bytes, ``paused`` is the part of the time since
    the last look, ``rate`` is bits per second.
    """

    kind: str
    name: str
    values: tuple[float, ...]


class Recording(NamedTuple):
    """One run: when it was looked at, what was seen, and the lines that do not move (bytes, by name)."""

    title: str
    seed: int
    times_us: tuple[float, ...]
    series: tuple[Series, ...]
    limits: tuple[tuple[str, float], ...]

    def to_data(self) -> dict[str, Json]:
        """Return the recording as plain data, names as here."""
        series: list[Json] = [{"kind": s.kind, "name": s.name, "values": list(s.values)} for s in self.series]
        limits: list[Json] = [{"name": name, "bytes": size} for name, size in self.limits]
        times: list[Json] = list(self.times_us)
        return {"title": self.title, "seed": self.seed, "times_us": times, "series": series, "limits": limits}


class Probe(NamedTuple):
    """What is looked at: what it is called, and where the kernel finds it."""

    kind: str
    name: str
    probe: int
    at: int


def record(staged: Stage, seed: int, until_ns: float, title: str) -> Recording:
    """Run a seed up to a time, and once more while looking."""
    before = Simulation(staged.network, seed)
    before.advance(until_ns)
    probes = choose(before, staged)
    simulation = Simulation(staged.network, seed)
    every_ns = until_ns / SAMPLES
    simulation.record([(one.probe, one.at) for one in probes], every_ns, SAMPLES)
    simulation.advance(until_ns)
    taken = int(simulation.state.clock["samples"][0])
    samples = simulation.state.samples[:taken]
    return Recording(
        title=title,
        seed=seed,
        times_us=tuple((np.arange(taken) * every_ns / 1000).tolist()),
        series=tuple(_series(one, samples[:, at], every_ns) for at, one in enumerate(probes)),
        limits=_limits(before),
    )


def choose(seen: Simulation, staged: Stage) -> list[Probe]:
    """Return what is worth looking at in a run that is over."""
    state, classes = seen.state, seen.index.classes
    hottest = int(state.queues["max_bytes"].argmax())
    unit = int(state.links["sender_unit"][hottest // classes])
    groups = _largest(state.groups["max_bytes"] * (state.groups["unit"] == unit), MOST_GROUPS)
    found = [
        Probe(
            "egress", f"egress {_name(seen, staged, hottest, sending=True)}", recorder.QUEUE_BYTES, hottest
        ),
        Probe("memory", "all groups of the switch", recorder.UNIT_BYTES, unit),
        *(
            Probe("group", f"group {_name(seen, staged, at, sending=False)}", recorder.GROUP_BYTES, at)
            for at in groups
        ),
        *(Probe("threshold", "XOFF threshold of a group", recorder.GROUP_THRESHOLD, at) for at in groups[:1]),
        *(
            Probe("paused", _name(seen, staged, at, sending=True), recorder.PAUSED_PS, at)
            for at in _largest(longest_pauses(state), MOST_LINKS)
        ),
    ]
    return found + _rates(seen, staged)


def _rates(seen: Simulation, staged: Stage) -> list[Probe]:
    """Return flows with DCQCN, spread over all of them."""
    at = [seen.index.flow_at[n] for n, flow in enumerate(staged.network.flows) if flow.dcqcn is not None]
    step = max(1, len(at) // MOST_FLOWS)
    names = [staged.names[flow.path[0]] for flow in staged.network.flows if flow.dcqcn is not None]
    chosen = list(zip(at, names, strict=True))[::step][:MOST_FLOWS]
    return [Probe("rate", name, recorder.RATE, number) for number, name in chosen]


def _largest(values: Any, most: int) -> list[int]:
    order = np.argsort(-values, kind="stable")[:most]
    return [int(at) for at in order if values[at] > 0]


def _name(seen: Simulation, staged: Stage, at: int, *, sending: bool) -> str:
    return str(place_of(at // seen.index.classes, seen.index, staged, sending=sending))


def _series(one: Probe, values: Any, every_ns: float) -> Series:
    if one.kind == "paused":
        values = np.diff(values, prepend=0.0) / (every_ns * 1000)
    return Series(one.kind, one.name, tuple(values.tolist()))


def _limits(seen: Simulation) -> tuple[tuple[str, float], ...]:
    hottest = seen.state.queues[int(seen.state.queues["max_bytes"].argmax())]
    if not hottest["wred"]:
        return ()
    return (("Kmin", float(hottest["kmin"])), ("Kmax", float(hottest["kmax"])))
