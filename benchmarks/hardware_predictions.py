"""What the closed forms say of a row: one prediction for each HWSKU, and each place in the fabric, that it may be of.

A row names a chip, a speed and a length, and a topology that says what the switch is (``t1-isolated-d128``: a spine).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lossless.analysis.buffers.ecn_marking import Reserved, shared_bytes
from lossless.analysis.buffers.pools import chip_bytes
from lossless.analysis.buffers.simulation_facts import cells, filling_cells, group_cells
from lossless.ground.basics.records import NamedTuple
from lossless.model.hardware.buffers import (
    EGRESS_LOSSLESS_POOL,
    EGRESS_LOSSY_PROFILE,
    INGRESS_LOSSLESS_POOL,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.hardware_reasons import Recording
    from benchmarks.hardware_records import Recorded
    from lossless.model.hardware.model import BufferDefaults, HeadroomRow, Hwsku, SwitchProfile

Verdict = Literal["agrees", "differs", "not compared"]
LOSSLESS_GROUPS, LOSSY_QUEUES = 2, 5
"""A port's groups 3 and 4, and its queues 0 to 2, 5 and 6 (sonic-buildimage files/build_templates/buffers_config.j2
@086b03b)."""
_PLACES = {"dualtor": "t0", "ptf": "t0"}


class Memory(NamedTuple):
    """The pool of lossless groups, and what draws on it; ``queue_bytes`` is what a lossy queue has reserved of it.

    ``lossless_rows`` are the rows of all ports with lossless groups, None where the ports are not known.
    """

    pool_bytes: int
    headroom_bytes: int
    chip_bytes: int
    parts: int
    lossless_rows: tuple[HeadroomRow, ...] | None
    lossy_ports: int = 0
    queue_bytes: int = 0

    def part_cells(self, cell_bytes: int) -> int | None:
        """Return what groups share of one part of the buffer; None where that depends on ports that are not known."""
        spans = self.pool_bytes + self.headroom_bytes > self.chip_bytes or self.pool_bytes == self.chip_bytes
        if self.lossless_rows is None and spans:
            return None
        rows = self.lossless_rows or ()
        groups = LOSSLESS_GROUPS * sum(row.reserved_bytes for row in rows)
        queues = LOSSY_QUEUES * (len(rows) + self.lossy_ports) * self.queue_bytes
        reserved = Reserved(groups, queues).total_bytes(self.parts)
        shared = shared_bytes(self.pool_bytes, self.headroom_bytes, self.chip_bytes, reserved)
        return shared // cell_bytes // self.parts


class Candidate(NamedTuple):
    """One switch that a row may be of: its row, and its pool at one place; None: it has none for lossless groups."""

    name: str
    row: HeadroomRow
    cell_bytes: int
    shares_headroom: bool
    memory: Memory | None
    queue_th: int | None = None

    def packets(self, recorded: Recorded) -> int | None:
        """Return the packet count that the closed forms give for one measurement, None where they give none."""
        group = group_cells(self.row, self.cell_bytes, shared_headroom=self.shares_headroom)
        if recorded.what == "headroom":
            return group.to_drop
        if self.memory is None:
            return None
        if recorded.test == "hdrm_pool_size":
            return self.memory.headroom_bytes // self.cell_bytes // self.memory.parts or None
        shared = self.memory.part_cells(self.cell_bytes)
        if shared is None:
            return None
        if recorded.what == "xoff point":
            return filling_cells(shared, group.reserved, self.row.threshold)
        return self._lossy_drop(shared) if recorded.what == "pool limit" else None

    def _lossy_drop(self, shared: int) -> int | None:
        own_bytes = self.memory.queue_bytes if self.memory else 0
        held = filling_cells(shared, cells(own_bytes, self.cell_bytes), self.queue_th)
        return held + 1 if held is not None and own_bytes else None


def candidates(
    profiles: Sequence[SwitchProfile], recorded: Recorded, recording: Recording | None = None
) -> tuple[Candidate, ...]:
    """Return the switch profiles and HWSKUs that a recorded row may come from: by chip, speed, cable and template.

    ``recording``: the switch that upstream names. Profiles with ports of the row's speed count before all others.
    """
    at = _place(recorded.topology) if recording is None else recording.template
    known = [
        (profile, hwsku)
        for profile in profiles
        if profile.asic.name == recorded.asic
        for hwsku in profile.hwskus
        if hwsku.row(recorded.speed_bps, recorded.cable_m)
        and (recording is None or hwsku.name in recording.hwskus)
    ]
    known = [(p, h) for p, h in known if recorded.speed_bps in {port.speed_bps for port in h.ports}] or known
    there = [(p, h) for p, h in known if at is not None and h.buffer_defaults(at) is not None]
    in_use = (None, *(recording.ports_in_use if recording else ()))
    return tuple(
        found
        for p, h in there or known
        for ports in in_use
        for found in _at_places(p, h, recorded, at if there else None, ports)
    )


def _place(topology: str) -> str | None:
    """Return the buffer template of a topology: that of its switch; None where the topology says nothing of it."""
    name = topology.removeprefix("topo-").partition("-")[0]
    return None if name == "any" else _PLACES.get(name, name)


def _at_places(
    profile: SwitchProfile, hwsku: Hwsku, recorded: Recorded, at: str | None, ports: int | None
) -> Iterator[Candidate]:
    row = hwsku.row(recorded.speed_bps, recorded.cable_m)
    cell_bytes = profile.asic.cell_bytes or recorded.cell_bytes
    if row is None or cell_bytes is None:
        return
    templates: list[BufferDefaults | None] = [d for d in hwsku.buffers if at is None or d.template == at]
    for defaults in templates or [None]:
        memory = None if defaults is None else _memory(profile, hwsku, defaults, recorded.cable_m, ports)
        queue = defaults.profile(EGRESS_LOSSY_PROFILE) if defaults else None
        shares = defaults.uses_shared_headroom if defaults else hwsku.uses_shared_headroom
        yield Candidate(
            hwsku.name, row, cell_bytes, shares, memory, queue.dynamic_th if queue is not None else None
        )


def _memory(
    profile: SwitchProfile, hwsku: Hwsku, defaults: BufferDefaults, cable_m: int, ports: int | None
) -> Memory | None:
    """Return the memory of lossless groups with that many ports in use, None: all of them."""
    pool, queue = defaults.pool(INGRESS_LOSSLESS_POOL), defaults.profile(EGRESS_LOSSY_PROFILE)
    if pool is None or profile.asic.buffer_parts is None:
        return None
    queues_in = defaults.pool(queue.pool) if queue is not None else None
    whole = queues_in is not None and (
        queues_in.size_bytes == pool.size_bytes or queues_in.name == EGRESS_LOSSLESS_POOL
    )
    rows = tuple(row for port in hwsku.ports if (row := _port_row(hwsku, port.speed_bps, cable_m)))[:ports]
    return Memory(
        pool_bytes=pool.size_bytes,
        headroom_bytes=pool.shared_headroom_bytes or 0,
        chip_bytes=profile.asic.buffer_bytes or chip_bytes(defaults),
        parts=profile.asic.buffer_parts,
        lossless_rows=rows or None,
        queue_bytes=queue.reserved_bytes if queue is not None and whole else 0,
    )


def _port_row(hwsku: Hwsku, speed_bps: int, cable_m: int) -> HeadroomRow | None:
    """Return the row of a port as if all cables were as long, else that of its longest; None: it has no groups."""
    longest = max((r.cable_m for r in hwsku.headroom if r.speed_bps == speed_bps), default=0)
    return hwsku.row_covering(speed_bps, cable_m) or hwsku.row(speed_bps, longest)


class Prediction(NamedTuple):
    """What the switches that a measurement may be of give, by the count that they give."""

    recorded: Recorded
    candidates: tuple[Candidate, ...]
    by_packets: dict[int, list[str]]

    @property
    def join(self) -> str:
        """How the row is joined: by one prediction, by several, or by none."""
        if not self.candidates:
            return "none"
        many = len(self.by_packets) or len({candidate.name for candidate in self.candidates})
        return "unique" if many == 1 else "ambiguous"

    @property
    def nearest(self) -> int | None:
        """The predicted count that is nearest to the recorded one, as far as ports in use leave a choice."""
        recorded = self.recorded.packets or 0
        return min(self.by_packets, key=lambda packets: abs(packets - recorded), default=None)

    @property
    def verdict(self) -> Verdict:
        """Whether a prediction is within the margin of the test, where there is one."""
        if self.nearest is None or self.recorded.packets is None:
            return "not compared"
        return "agrees" if within(self.recorded, self.nearest) else "differs"


def within(recorded: Recorded, packets: int | None) -> bool:
    """Return whether a count is within the margin of a test of the recorded one."""
    if packets is None or recorded.packets is None:
        return False
    return abs(packets - recorded.packets) <= recorded.margin


def predicted(
    profiles: Sequence[SwitchProfile], recorded: Recorded, recording: Recording | None = None
) -> Prediction:
    """Return the count of packets that switch profiles predict for a measurement; ``recording`` names its switch."""
    found = candidates(profiles, recorded, recording)
    by_packets: dict[int, list[str]] = {}
    for candidate in found:
        packets = candidate.packets(recorded)
        if packets is not None and candidate.name not in by_packets.setdefault(packets, []):
            by_packets[packets].append(candidate.name)
    return Prediction(recorded, found, by_packets)
