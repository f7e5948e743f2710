"""The packet counts that upstream's tests of QoS expect on real switches, one measurement at a time.

Source of the files: sonic-net/sonic-mgmt tests/qos/files/qos_params.*.yaml @b4ba9de. What the counts mean is in
tests/saitests/py3/sai_qos_tests.py of that commit: packets of 64 bytes, each of one cell, into one group of one port,
while the egress port is stopped. Those that leak out before it stops are not counted, nor those held in egress memory.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

What = Literal["xoff point", "headroom", "pool limit", "ecn", "nothing"]

ASICS = {
    "td2": "Trident 2",
    "td3": "Trident 3",
    "th": "Tomahawk",
    "th2": "Tomahawk 2",
    "th3": "Tomahawk 3",
    "th4": "Tomahawk 4",
    "th5": "Tomahawk 5",
    "th6": "Tomahawk 6",
    "spc1": "Spectrum",
    "spc2": "Spectrum-2",
    "spc3": "Spectrum-3",
    "spc4": "Spectrum-4",
    "spc5": "Spectrum-5",
}
"""What the files call a chip, and what profiles call it."""
_MARGINS = {
    "wm_pg_headroom": 0,
    "xoff_1": 2,
    "xoff_2": 2,
    "pg_drop": 2,
    "hdrm_pool_size": 2,
    "lossy_queue_1": 2,
}
"""The margins of the tests where a row states none (sai_qos_tests.py)."""


class Recorded(NamedTuple):
    """One packet count: of which chip and row, by which test, with the margin that the test allows.

    ``groups`` are those that a test of the headroom pool fills.
    """

    asic: str
    topology: str
    row: str
    test: str
    what: What
    packets: int | None
    margin: int
    cell_bytes: int | None
    groups: int | None = None

    @property
    def speed_bps(self) -> int:
        """The speed of the row, which has it in Mb/s: ``400000_40m``."""
        return int(self.row.partition("_")[0]) * 10**6

    @property
    def cable_m(self) -> int:
        """The length of the row."""
        return int(self.row.partition("_")[2].removesuffix("m"))


def read(file: Path) -> tuple[Recorded, ...]:
    """Return every measurement of a file, in its order.

    Raises:
        KeyError, ValueError: the file is not of that kind.
    """
    asics = json.loads(file.read_text(encoding="utf-8"))["asics"]
    return tuple(
        measured
        for family in asics.values()
        for asic, topologies in family.items()
        for topology, found in topologies.items()
        for row, tests in found["rows"].items()
        for measured in _row(ASICS.get(asic, asic), topology, found.get("topology", {}), row, tests)
    )


def _row(
    asic: str, topology: str, shared: dict[str, Any], row: str, tests: dict[str, Any]
) -> Iterator[Recorded]:
    counts = [
        (test, what, packets, entry)
        for test, entry in tests.items()
        if isinstance(entry, dict)
        for what, packets in _counts(test, entry)
    ]
    for test, what, packets, entry in counts:
        margin: int = {"pkts_num_margin": entry.get("margin", _MARGINS.get(test, 0)), **entry}[
            "pkts_num_margin"
        ]
        cell_bytes = entry.get("cell_size", shared.get("cell_size"))
        yield Recorded(asic, topology, row, test, what, packets, margin, cell_bytes, entry.get("pgs_num"))
    if not counts:
        yield Recorded(asic, topology, row, "", "nothing", None, 0, None)


def _counts(test: str, entry: dict[str, Any]) -> Iterator[tuple[What, int | None]]:
    """Yield what one test of a row measures that a closed form speaks of.

    The packets that trigger PFC are held to a margin by the tests of XOFF alone, others only send them.
    """
    pauses, drops = "pkts_num_trig_pfc" in entry, "pkts_num_trig_ingr_drp" in entry
    if test.startswith("xoff_") and pauses:
        yield "xoff point", entry["pkts_num_trig_pfc"]
    if test.startswith(("xoff_", "pg_drop", "wm_pg_headroom")) and pauses and drops:
        yield "headroom", entry["pkts_num_trig_ingr_drp"] - entry["pkts_num_trig_pfc"]
    elif test == "hdrm_pool_size" and "pgs_num" in entry:
        full, partial = entry["pkts_num_hdrm_full"], entry["pkts_num_hdrm_partial"]
        yield "pool limit", (entry["pgs_num"] - 1) * full + partial
    elif test.startswith("lossy_queue") and "pkts_num_trig_egr_drp" in entry:
        yield "pool limit", entry["pkts_num_trig_egr_drp"]
    elif test.startswith("ecn_"):
        yield "ecn", entry.get("limit")
