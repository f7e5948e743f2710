"""How much of upstream's configurations comes back the same when it is imported and rendered again.

    python tools/corpus_import.py FOLDER

Each file of ``full`` is imported by itself, its intent rendered onto the file as base, and the tables that rendering
owns are compared, by the rule of names of ``formats/sonic/changes/meaning.py``. What differs is listed by reason;
a difference without one is a fault, and so is a rule that calls error what it let pass on the device: exit 1.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lossless.api import lint_documents
from lossless.formats.device_files.switches import switch_file
from lossless.formats.importing.differences import (
    KINDS,
    UNEXPLAINED,
    Figures,
    ImportDifference,
    figures,
    total,
)
from lossless.formats.importing.model import devices_of
from lossless.formats.inputs.collect import collect
from lossless.formats.inputs.intents import intent_fabric
from lossless.formats.sonic.changes.meaning import Cell, compare
from lossless.formats.sonic.read.tables import Tables
from lossless.ground.basics.errors import InputError, RenderError
from lossless.ground.documents import load_text
from lossless.interfaces.api.import_ import ImportResult, import_documents
from lossless.output.report.changes_text import differences_text, figures_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.formats.importing.model import ImportDevice
    from lossless.ground.basics.errors import Problem
    from lossless.ground.documents.text import Document
    from lossless.model.fabric.model import Switch

EXPECTED = {"WD001"}
"""Rules that ask more of an intent than of a device: that nobody watches is a warning there, and an error here."""


class Outcome(NamedTuple):
    """What came of one file; ``refused`` says why it was not imported, or its intent not rendered."""

    file: str
    imported: ImportResult | None = None
    cells: tuple[Cell, ...] = ()
    refused: str = ""
    worse: tuple[str, ...] = ()

    @property
    def figures(self) -> Figures:
        """How much comes back the same."""
        return figures(self.cells)


def outcome(path: Path) -> Outcome:
    """Import the devices of one file and render their intent onto them."""
    documents, problems = collect([path])
    if problems or not documents:
        return Outcome(path.name, refused=_reason(problems[0]) if problems else "holds no device")
    try:
        imported = import_documents(documents)
    except InputError as error:
        return Outcome(path.name, refused=_reason(error.problems[0]))
    errors: list[Problem] = []
    intent = load_text(imported.text, "fabric.yaml")
    fabric = intent_fabric(intent, (), errors)
    if fabric is None:
        return Outcome(path.name, imported, refused=_reason(errors[0]))
    bases = {device.name: device for device in devices_of(documents)}
    try:
        cells = [cell for switch in fabric.switches for cell in _on_base(bases[switch.name], switch)]
    except RenderError as error:
        return Outcome(path.name, imported, refused=str(error).splitlines()[0].partition(": ")[2])
    return Outcome(path.name, imported, tuple(cells), worse=tuple(worse(documents, intent)))


def _on_base(device: ImportDevice, switch: Switch) -> tuple[Cell, ...]:
    """Compare a device with what its intent renders onto its own file."""
    rendered = json.loads(switch_file(switch, device.document).text)
    return compare(device.tables, Tables(switch.name, rendered), device.switch)


def worse(documents: Sequence[Document], intent: Document) -> Iterator[str]:
    """Yield the rules that call error in the intent what they say nothing graver of on the devices."""
    severities = {"info": 0, "warning": 1, "error": 2}
    here: dict[str, int] = {}
    for finding in lint_documents(documents).findings:
        here[finding.code] = max(here.get(finding.code, 0), severities[finding.severity])
    for finding in lint_documents([intent]).findings:
        if finding.severity != "info" and severities[finding.severity] > here.get(finding.code, -1):
            yield f"{finding.code} {finding.severity}: {finding.message}"


def _reason(problem: Problem) -> str:
    """Return what a problem says without the name of the HWSKU or device: to count what is identical."""
    message = problem.message.partition(";")[0].partition(": ")[0]
    return re.sub(r"HWSKU \S+", "HWSKU", message)


def outcomes(corpus: Path) -> list[Outcome]:
    """Return what comes of each whole configuration."""
    return [outcome(path) for path in sorted((corpus / "full").glob("*.json"))]


def text(found: Sequence[Outcome]) -> Iterator[str]:
    """Yield the figures and the table of differences."""
    back = [one for one in found if one.cells]
    imported = [one for one in found if one.imported]
    yield f"files: {len(found)}; imported {len(imported)}, rendered back {len(back)}"
    yield from (f"  not imported: {one.file}: {one.refused}" for one in found if not one.imported)
    yield from (f"  not rendered: {one.file}: {one.refused}" for one in imported if not one.cells)
    yield figures_text(total(one.figures for one in back))
    for one in back:
        yield f"  {one.figures.fields_same:5,} of {one.figures.fields:5,} fields  {one.file}"
    yield "what differs:"
    yield differences_text(differences(back), KINDS)
    yield "rules that are graver with the intent than on the device:"
    yield from (f"  {line}  {one.file}" for one in back for line in one.worse)


def differences(found: Sequence[Outcome]) -> list[ImportDifference]:
    """Return every difference; the files stand for devices."""
    return [
        difference._replace(device=one.file)
        for one in found
        if one.imported
        for difference in one.imported.differences
    ]


def faults(found: Sequence[Outcome]) -> list[str]:
    """Return what should not be: differences without a reason, errors that only the intent has."""
    lines = [f"{d.device}: {d.cell}" for d in differences(found) if d.kind == UNEXPLAINED]
    for one in found:
        lines += [
            f"{one.file}: {line}" for line in one.worse if line[:5] not in EXPECTED and " error" in line[:14]
        ]
        differs = sum(cell.state != "same" for cell in one.cells)
        if one.cells and one.imported and differs != len(one.imported.differences):
            lines.append(
                f"{one.file}: {differs} fields differ on the base, {len(one.imported.differences)} without it"
            )
    return lines


def main(arguments: Sequence[str]) -> int:
    """Print the figures; exit 1 where something is not explained."""
    found = outcomes(Path(arguments[0]))
    for line in text(found):
        print(line)
    wrong = faults(found)
    print(f"not explained: {len(wrong)}")
    for line in wrong:
        print(f"  {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
