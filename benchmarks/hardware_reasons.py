"""Why a count that was recorded is not the one that is predicted: reasons that can be checked upstream.

``hardware_revisions.toml`` has what upstream shipped when counts were recorded, and what tests leave out on purpose.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.hardware_predictions import Candidate, Memory, predicted, within
from lossless.ground.basics.records import NamedTuple
from lossless.ground.basics.units import format_rate
from lossless.model.hardware.tables import parse_headroom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.hardware_predictions import Prediction
    from benchmarks.hardware_records import Recorded
    from lossless.model.hardware.model import SwitchProfile

UNEXPLAINED = "unexplained"
_FILE = Path(__file__).parent / "hardware_revisions.toml"


class Revision(NamedTuple):
    """What a count was recorded with, where that is not what profiles have, and where upstream says so."""

    candidate: Candidate
    asic: str
    topologies: tuple[str, ...]
    reason: str

    def speaks_of(self, recorded: Recorded) -> bool:
        """Return whether it is of the chip, speed, length and topology of a measurement."""
        row = self.candidate.row
        same = (self.asic, row.speed_bps, row.cable_m) == (
            recorded.asic,
            recorded.speed_bps,
            recorded.cable_m,
        )
        return same and (not self.topologies or recorded.topology in self.topologies)


class Remark(NamedTuple):
    """A count that a test keeps below what the switch holds, and by how many packets."""

    asic: str
    topology: str
    row: str
    test: str
    left_out_packets: int
    reason: str

    def speaks_of(self, recorded: Recorded) -> bool:
        """Return whether it is of a measurement."""
        return self[:4] == (recorded.asic, recorded.topology, recorded.row, recorded.test)


class Recording(NamedTuple):
    """A switch on which upstream recorded the rows of some topologies: its HWSKUs, buffer template and ports.

    ``template`` is the one of its buffers. ``ports_in_use`` are numbers beside all ports of the HWSKU, of the
    topologies that the rows are given for: which one they were recorded on is not stated. ``untested`` are speeds whose
    rows no switch was measured for.
    """

    asic: str
    topologies: tuple[str, ...]
    hwskus: tuple[str, ...]
    template: str
    source: str
    ports_in_use: tuple[int, ...] = ()
    untested: tuple[str, ...] = ()

    def speaks_of(self, recorded: Recorded) -> bool:
        """Return whether it is of the chip and topology of a measurement."""
        return self.asic == recorded.asic and recorded.topology in self.topologies


class Copy(NamedTuple):
    """Rows that repeat the counts of another row, and where that is; ``tests``: of these tests alone."""

    asic: str
    topologies: tuple[str, ...]
    rows: tuple[str, ...]
    of_asic: str
    of_topology: str
    of_row: str
    of_cell_bytes: int
    reason: str
    tests: tuple[str, ...] = ()

    def speaks_of(self, recorded: Recorded) -> bool:
        """Return whether it is of the chip, topology, row and test of a measurement."""
        same = self.asic == recorded.asic and recorded.topology in self.topologies
        return same and recorded.row in self.rows and (not self.tests or recorded.test in self.tests)


class Reasons:
    """Reasons for one file of records, from the profiles and from what is on record of upstream's changes."""

    def __init__(self, profiles: Sequence[SwitchProfile]) -> None:
        self._profiles = profiles
        self._asics = {profile.asic.name: profile.asic for profile in profiles}
        known = tomllib.loads(_FILE.read_text(encoding="utf-8"))
        self.revisions = tuple(map(self._revision, known["revision"]))
        self.remarks = tuple(Remark(**entry) for entry in known["remark"])
        self.recordings = tuple(Recording(**_frozen(entry)) for entry in known["recording"])
        self.copies = tuple(Copy(**_frozen(entry)) for entry in known["copy"])

    def recording_of(self, recorded: Recorded) -> Recording | None:
        """Return the switch on which upstream recorded a measurement, None where upstream states none."""
        return next((recording for recording in self.recordings if recording.speaks_of(recorded)), None)

    def apart(self, one: Prediction) -> str | None:
        """Return why a count is none of the chip with the buffers of today's files, None where it is one.

        These are counts of older files or of another HWSKU, copies of another row's, tests that
        cannot fill what they name, and rows that nobody measured.
        """
        recorded = one.recorded
        recording = self.recording_of(recorded)
        if recording is not None and recorded.row.partition("_")[0] in recording.untested:
            return f"no switch was measured for rows of this speed: {recording.source}"
        if one.verdict != "differs" or self._left_out(one) is not None:
            return self._repeated(recorded)
        return self._recorded_before(recorded) or self._repeated(recorded) or _too_few_groups(one)

    def _revision(self, entry: dict[str, Any]) -> Revision:
        asic, (row,) = self._asics[entry["asic"]], parse_headroom(entry["row"])
        memory = Memory(
            pool_bytes=entry["pool_bytes"],
            headroom_bytes=entry.get("shared_headroom_bytes", 0),
            chip_bytes=entry["chip_bytes"],
            parts=asic.buffer_parts or 1,
            lossless_rows=(row,) * entry.get("lossless_ports", 0) or None,
            lossy_ports=entry.get("lossy_ports", 0),
            queue_bytes=entry.get("queue_bytes", 0),
        )
        shares, queue_th = memory.headroom_bytes > 0, 0 if memory.queue_bytes else None
        candidate = Candidate(entry["source"], row, asic.cell_bytes or 1, shares, memory, queue_th)
        reason = f"{entry['reason']}: {entry['source']}"
        return Revision(candidate, entry["asic"], tuple(entry.get("topologies", ())), reason)

    def of(self, one: Prediction, topology: Sequence[Prediction]) -> str:
        """Return why a measurement is not compared, which switch it agrees with, or why it differs."""
        if one.verdict == "not compared":
            return self._why_not_compared(one)
        if one.verdict == "agrees":
            return f"as {', '.join(one.by_packets[one.nearest or 0])}" if one.join == "ambiguous" else ""
        return (
            self.apart(one)
            or self._left_out(one)
            or _copied(one.recorded, topology)
            or self._other_row(one.recorded)
            or UNEXPLAINED
        )

    def _why_not_compared(self, one: Prediction) -> str:
        recorded = one.recorded
        if recorded.what == "nothing":
            return "the row has no packet counts: upstream's qos_param_generator.py computes them from the switch"
        if recorded.what == "ecn":
            return "profiles have no ECN curve of a HWSKU"
        if recorded.asic not in self._asics:
            return "no profile has this ASIC"
        if not one.candidates:
            return "no HWSKU of this ASIC has a row for the speed and length"
        if recorded.what == "pool limit":
            return "the HWSKUs ship no headroom pool, or lossy queues draw on a pool of their own"
        return "the ports of the HWSKUs, or their pools, are not known"

    def _recorded_before(self, recorded: Recorded) -> str | None:
        """Return the revision of upstream's files that gives the count."""
        fitting = (
            revision.reason
            for revision in self.revisions
            if revision.speaks_of(recorded) and within(recorded, revision.candidate.packets(recorded))
        )
        return next(fitting, None)

    def _repeated(self, recorded: Recorded) -> str | None:
        """Return the row whose count this is, as the profiles predict it for that row."""
        for copy in self.copies:
            if copy.speaks_of(recorded):
                source = recorded._replace(
                    asic=copy.of_asic,
                    topology=copy.of_topology,
                    row=copy.of_row,
                    cell_bytes=copy.of_cell_bytes,
                )
                if predicted(self._profiles, source, self.recording_of(source)).verdict == "agrees":
                    return copy.reason
        return None

    def _left_out(self, one: Prediction) -> str | None:
        """Return what a test leaves out, where that is the difference."""
        for remark in self.remarks:
            packets = one.nearest - remark.left_out_packets if one.nearest is not None else None
            if remark.speaks_of(one.recorded) and within(one.recorded, packets):
                return remark.reason
        return None

    def _other_row(self, recorded: Recorded) -> str | None:
        """Return another speed or length of the same chip whose headroom this is."""
        if recorded.what != "headroom":
            return None
        for profile in self._profiles:
            cell_bytes = profile.asic.cell_bytes if profile.asic.name == recorded.asic else None
            for hwsku in profile.hwskus if cell_bytes else ():
                for row in hwsku.headroom:
                    if within(recorded, row.headroom_bytes // (cell_bytes or 1) + 1):
                        row_name = f"{format_rate(row.speed_bps)} {row.cable_m}m"
                        return f"the headroom of another row: {row_name} of {hwsku.name}"
        return None


def _too_few_groups(one: Prediction) -> str | None:
    """Return that a test of the headroom pool fills groups that cannot take all of it, where it is so."""
    groups = one.recorded.groups
    if one.recorded.test != "hdrm_pool_size" or groups is None or one.nearest is None:
        return None
    most = max(found.row.headroom_bytes // found.cell_bytes for found in one.candidates)
    if groups * most >= one.nearest:
        return None
    return f"the test fills {groups} groups, whose headroom of {groups * most:,} cells does not fill the pool"


def _frozen(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def _copied(recorded: Recorded, topology: Sequence[Prediction]) -> str | None:
    """Return the row of the same topology whose count this is: its switch has one profile for both."""
    for other in topology:
        same = (other.recorded.test, other.recorded.what, other.recorded.packets)
        if same == (recorded.test, recorded.what, recorded.packets) and other.verdict == "agrees":
            return f"one profile for all ports of the topology: the count of {other.recorded.row}"
    return None
