"""What ``lossless verify`` says of captures of running devices, and what of it is right.

    python tools/capture_verdicts.py FOLDER            print the figures, exit 1 where they differ from the record
    python tools/capture_verdicts.py FOLDER --record   add what is new to the record, to be checked by hand

FOLDER holds captures and ``index.json``. Each file is verified by itself, and each folder of captures as a whole, as an
operator names one. The record is ``tests/checks/verify/capture-verdicts.toml``: every finding, of all severities, with
the verdict of a person; and every file that is not read, or not all of it, with what is said of it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from lossless.api import verify
from lossless.ground.basics.findings import grouped
from tools.verdict_record import UNJUDGED, differences, entry_text, on_record, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.api import Report
    from lossless.ground.basics.findings import Finding

RECORD = Path(__file__).parent.parent / "tests" / "checks" / "verify" / "capture-verdicts.toml"
VERDICTS = ("right", "cannot be said")
"""Verdicts that a finding on record may have; a rule that is wrong is changed."""
_NO_CAPTURES = ("README.md", "index.json")
_DEPTH = 2
_SHOWN = 3
_HEAD = """\
# What lossless verify says of captures of running devices, each file by itself and each folder as a whole: every
# finding, checked by hand. tools/capture_verdicts.py adds what is new; verdict (right, wrong, cannot be said) and why
# are written by a person. Below, the files that are not read, or not all of them, and what is said of each.
"""


class Said(NamedTuple):
    """What one rule says of a file, or a folder: its severity, how many findings, and on what they show."""

    capture: str
    code: str
    severity: str
    findings: int
    on: str


class Verified(NamedTuple):
    """What is found by file and folder, and the problems of files, by their paths below the folder."""

    findings: Mapping[Said, Sequence[Finding]]
    problems: Mapping[str, str]


def verified(folder: Path) -> Verified:
    """Verify each file by itself, and each folder of captures as a whole."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in _NO_CAPTURES]
    wholes = sorted({folder.joinpath(*path.relative_to(folder).parts[:-1][:_DEPTH]) for path in paths})
    findings: dict[Said, Sequence[Finding]] = {}
    problems = {}
    for path in (*paths, *wholes):
        report = verify([path])
        name = path.relative_to(folder).as_posix()
        findings.update(_said(name, report))
        if report.errors and path.is_file():
            problems[name] = "; ".join(str(error).removeprefix(f"{path}") for error in report.errors)
    return Verified(findings, problems)


def _said(name: str, report: Report) -> Iterator[tuple[Said, list[Finding]]]:
    by_rule = grouped(((finding.code, finding.severity), finding) for finding in report.findings)
    for (code, severity), findings in by_rule.items():
        elements = sorted({element for finding in findings for element in finding.elements})
        more = f" (+{len(elements) - _SHOWN})" if len(elements) > _SHOWN else ""
        yield Said(name, code, severity, len(findings), ", ".join(elements[:_SHOWN]) + more), findings


def differing(said: Verified) -> list[str]:
    """Return where findings and problems differ from the record, and verdicts that are open or wrong."""
    record = on_record(RECORD)
    lines = [*differences(said.findings, recorded(record, Said._fields), VERDICTS)]
    known = record.get("unread", {})
    for name in sorted(said.problems.keys() | known.keys()):
        now, then = said.problems.get(name), known.get(name)
        if now != then:
            lines.append(f"unread {name}: {now}, on record {then}")
    return lines


def _record(said: Verified) -> None:
    """Write the record again: entries that still hold as they were checked, what is new as open."""
    known = recorded(on_record(RECORD), Said._fields)
    similar = {key[:2]: one for key, one in known.items()}
    lines = [_HEAD]
    for key in sorted(said.findings):
        quoted = {"verdict": UNJUDGED, "says": said.findings[key][0].message, "why": ""}
        lines.append(entry_text({**key._asdict(), **quoted}, known.get(key) or similar.get(key[:2])))
    lines.append("\n[unread]\n")
    lines += [f"{json.dumps(name)} = {json.dumps(why)}\n" for name, why in sorted(said.problems.items())]
    RECORD.write_text("".join(lines), encoding="utf-8")


def _figures(folder: Path, said: Verified) -> Iterator[str]:
    known: dict[Any, Any] = recorded(on_record(RECORD), Said._fields)
    files = sum(path.is_file() and path.name not in _NO_CAPTURES for path in folder.rglob("*"))
    yield f"captures: {files}; not read, or not all of them: {len(said.problems)}"
    for key in sorted(said.findings, key=lambda key: (key.code, key.capture)):
        verdict = known.get(key, {"verdict": "new"})["verdict"]
        yield f"  {key.code} {key.severity:7} {key.findings:3}  {verdict:14}  {key.capture}: {key.on}"
    counts = Counter(one["verdict"] for one in known.values())
    yield "on record: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))


def main(arguments: Sequence[str]) -> int:
    """Print the figures, or record what is new."""
    folder = Path(arguments[0])
    said = verified(folder)
    if "--record" in arguments:
        _record(said)
        return 0
    differs = differing(said)
    print("\n".join([*_figures(folder, said), f"differences from the record: {len(differs)}", *differs]))
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
