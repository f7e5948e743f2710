"""How long a report of 5,000 findings takes in each form, as ratios to a bare interpreter's start in the same run.

The findings are of one rule, on ports of ten files with 512 ports each; two of three show on eight ports and one of ten
names another place, which is more than rules say of upstream's configurations. Places are looked up within the time
taken, from texts that are in memory.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measure import BARE, report, seconds
from lossless.api import Report
from lossless.ground.basics.findings import Finding, Origin, RelatedPlace
from lossless.ground.documents import load_text
from lossless.interfaces.api.lint import report_as

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.ground.documents.text import Document
    from lossless.interfaces.api.lint import ReportForm

FILES, PORTS, FINDINGS = 10, 512, 5_000
ROUNDS = 5
FORMS: tuple[ReportForm, ...] = ("sarif", "json", "github", "gitlab", "junit")
GOAL = 20.0
"""0.2 s, where a bare interpreter starts in 10 ms; asked of SARIF, and the others shall not be slower."""


def main() -> None:
    """Measure and print."""
    bare = min(seconds(BARE) for _ in range(ROUNDS))
    taken = {form: min(_taken(form) for _ in range(ROUNDS)) for form in FORMS}
    print(", ".join(f"{form} {found:.2f} s" for form, found in taken.items()), f"(bare {bare * 1000:.0f} ms)")
    report(
        [(f"{form} of {FINDINGS:,} findings", found / bare, GOAL, "x bare") for form, found in taken.items()]
    )


def _taken(form: ReportForm) -> float:
    checked = _checked()
    started = time.perf_counter()
    made = report_as(checked, form)
    taken = time.perf_counter() - started
    assert not made.notices
    return taken


def _checked() -> Report:
    """Return a run whose documents have not been looked into."""
    documents = {f"leaf{number}.json": _document(f"leaf{number}.json") for number in range(FILES)}
    return Report(tuple(_findings()), (), (), documents)


def _document(file: str) -> Document:
    ports = {f"Ethernet{n}": {"mtu": "9100", "pfc_enable": "3,4"} for n in range(PORTS)}
    return load_text(json.dumps({"PORT": ports}, indent=4), file)


def _findings() -> Iterator[Finding]:
    for number in range(FINDINGS):
        file, index = f"leaf{number % FILES}.json", number // FILES
        port, width = f"Ethernet{index}", 8 if number % 3 else 1
        other = RelatedPlace(Origin(file, ("PORT", port, "mtu")), "the other end of the link")
        yield Finding(
            code="WD001",
            name="watchdog-missing",
            severity="error",
            confidence="high",
            message="PFC is on and the port has no PFC_WD row, though other ports of the switch have one",
            origin=Origin(file, ("PORT", port, "pfc_enable")),
            note="a stuck NIC pauses the port permanently, and the pause propagates through the fabric",
            help=f"pfcwd start on {port}, or add its row to PFC_WD",
            related=() if number % 10 else (other,),
            places=width,
            elements=tuple(f"leaf1:Ethernet{n}" for n in range(index, index + width)),
            data={"priority": 3},
            object_form="config_db",
        )


if __name__ == "__main__":
    main()
