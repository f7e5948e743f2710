"""What the rules say of upstream's configurations, and what of it is true.

    python tools/corpus.py FOLDER            print the figures, exit 1 where they differ from what is on record
    python tools/corpus.py FOLDER --record   add what is new to the record, to be checked by hand

FOLDER is the corpus: ``full`` (real and rendered configurations), ``probes`` (one change each to a valid file) and
``rejected`` (cases that upstream's YANG refuses). The record is ``tests/checks/rules/corpus-verdicts.toml``.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from lossless.api import lint, lint_documents
from lossless.ground.documents import load_text
from tools.verdict_record import UNJUDGED, differences, entry_text, on_record, recorded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lossless.ground.basics.findings import Finding, Path as KeyPath

RECORD = Path(__file__).parent.parent / "tests" / "checks" / "rules" / "corpus-verdicts.toml"
_ONLY_SAID = ("SCM007",)
"""What says that a table has no schema, and refuses nothing."""


class Drawn(NamedTuple):
    """What one rule says of one file: its severity, how many findings, and on how many places they show."""

    file: str
    code: str
    severity: str
    findings: int
    places: int


class Probe(NamedTuple):
    """One change to the valid base, and the codes of the findings at the change that the base does not have."""

    name: str
    changes_device: bool
    accepted: bool
    at_change: tuple[str, ...]
    above_info: tuple[str, ...]
    schema: tuple[str, ...]


def accepted_files(corpus: Path) -> list[Path]:
    """Return the whole configurations that upstream's YANG accepts."""
    index = json.loads((corpus / "index.json").read_text())
    return sorted(corpus / e["file"] for e in index if e["yang_accepts"] and e["file"].startswith("full/"))


def drawn(corpus: Path) -> dict[Drawn, list[Finding]]:
    """Return every error and warning on the accepted files, each file a repository of its own."""
    found: dict[Drawn, list[Finding]] = {}
    for path in accepted_files(corpus):
        by_rule: dict[tuple[str, str], list[Finding]] = {}
        for finding in lint([path]).findings:
            if finding.severity != "info":
                by_rule.setdefault((finding.code, finding.severity), []).append(finding)
        for (code, severity), findings in by_rule.items():
            places = sum(finding.places for finding in findings)
            found[Drawn(path.name, code, severity, len(findings), places)] = findings
    return found


def probes(corpus: Path) -> list[Probe]:
    """Return the findings of each probe beyond those of its base."""
    folder = corpus / "probes"
    base = {_meaning(f) for f in lint([folder / "base.json"]).findings}
    index = json.loads((folder / "index.json").read_text())
    return [_probe(folder, entry, base) for entry in index if entry["probe"] != "base"]


def _meaning(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.severity, finding.origin.path, finding.message


def _probe(folder: Path, entry: dict[str, Any], base: set[tuple[object, ...]]) -> Probe:
    findings = [f for f in lint([folder / f"{entry['probe']}.json"]).findings if _meaning(f) not in base]
    grave = [f for f in findings if f.severity != "info"]
    here = [f for f in grave if any(_names(f, change) for change in entry["changed"])]
    return Probe(
        entry["probe"],
        entry["changes_device"],
        entry["yang_accepts"],
        *(
            _codes(found)
            for found in (
                here,
                grave,
                [f for f in findings if f.code.startswith("SCM") and f.code not in _ONLY_SAID],
            )
        ),
    )


def _names(finding: Finding, change: Sequence[str]) -> bool:
    """Return whether a finding lies in a changed row, or names it."""
    row = tuple(change[:2])
    paths = [finding.origin.path, *(related.origin.path for related in finding.related)]
    if any(path[:2] == row or (len(path) == 1 and path[0] == row[0]) for path in paths):
        return True
    key = row[-1].partition("|")[0]
    words = (finding.message, finding.note, finding.help, *finding.elements)
    return any(key in text or "|".join(row) in text for text in words)


def _codes(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(sorted({finding.code for finding in findings}))


def cases(corpus: Path, name: str) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield the cases of upstream's YANG tests: the name, the schema rules that fire, and those above info."""
    for entry in json.loads((corpus / "rejected" / name).read_text()):
        if entry["oracle_rejects"] != (name == "cases.json"):
            continue  # named after a refusal that upstream's own validator does not make
        document = load_text(json.dumps(entry["config_db"]), "config_db.json")
        findings = lint_documents([document]).findings
        schema = [f for f in findings if f.code.startswith("SCM") and f.code not in _ONLY_SAID]
        yield entry["test"], _codes(schema), _codes(f for f in schema if f.severity != "info")


def _value(path: Path, place: KeyPath) -> str:
    value: Any = json.loads(path.read_text())
    for key in place:
        value = value[key] if isinstance(value, dict) and key in value else None
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _entry(corpus: Path, key: Drawn, findings: Sequence[Finding], checked: dict[str, Any] | None) -> str:
    first = findings[0]
    row = f"{first.object} = {_value(corpus / 'full' / key.file, first.origin.path)}"
    quoted = {"verdict": UNJUDGED, "row": row, "says": first.message, "why": ""}
    return entry_text({**key._asdict(), **quoted}, checked)


def _record(corpus: Path) -> None:
    """Write the record again: entries that still hold as they were checked, what is new as open."""
    found = drawn(corpus)
    known = recorded(on_record(RECORD), Drawn._fields)
    similar = {key[:2]: one for key, one in known.items()}
    lines = [_HEAD]
    lines += [
        _entry(corpus, key, found[key], known.get(key) or similar.get(key[:2])) for key in sorted(found)
    ]
    lines.append("\n[probes]\n")
    lines += [f"{p.name} = {json.dumps([*p.at_change])}\n" for p in probes(corpus)]
    RECORD.write_text("".join(lines), encoding="utf-8")


_HEAD = """\
# What the rules say of the whole configurations that upstream's YANG accepts: every error and warning, checked by hand.
# tools/corpus.py adds what is new; verdict and why are written by a person. `row` is quoted from the file.
# Below, what each one-change probe draws at its change, warnings and above.
"""


def _difference(corpus: Path) -> list[str]:
    record = on_record(RECORD)
    lines = [*differences(drawn(corpus), recorded(record, Drawn._fields), ("true",))]
    lines += [
        f"probe {probe.name}: reports {probe.at_change}, on record {record['probes'].get(probe.name)}"
        for probe in probes(corpus)
        if [*probe.at_change] != record["probes"].get(probe.name)
    ]
    return lines


def _figures(corpus: Path) -> Iterator[str]:
    found = drawn(corpus)
    counts = Counter({"error": 0, "warning": 0})
    for key in found:
        counts[key.severity] += key.findings
    files = len(accepted_files(corpus))
    yield f"accepted configurations: {files}; errors {counts['error']}, warnings {counts['warning']}"
    for key in sorted(found, key=lambda k: (k.code, k.file)):
        yield f"  {key.code} {key.severity:7} {key.findings:3} ({key.places} places)  {key.file}"
    tried = probes(corpus)
    changing = [p for p in tried if p.changes_device]
    missed = [p.name for p in changing if not p.at_change]
    crying = [f"{p.name}: {', '.join(p.above_info)}" for p in tried if not p.changes_device and p.above_info]
    yield f"probes that change the device: {len(changing) - len(missed)} of {len(changing)} found"
    yield from (f"  missed: {name}" for name in missed)
    yield f"probes that do not: {sum(not p.changes_device for p in tried)}, above info on {len(crying)}"
    yield from (f"  {line}" for line in crying)
    unseen = [p.name for p in tried if not p.accepted and not p.schema]
    yield f"probes that YANG refuses: {sum(not p.accepted for p in tried)}, unseen by the schema {len(unseen)} {unseen}"
    refused = list(cases(corpus, "cases.json"))
    silent = [name for name, codes, _ in refused if not codes]
    yield f"cases that YANG refuses: {len(refused)}, unseen by the schema {len(silent)}"
    yield from (f"  {name}" for name in silent)


def main(arguments: Sequence[str]) -> int:
    """Print the figures, or record what is new."""
    corpus = Path(arguments[0])
    if "--record" in arguments:
        _record(corpus)
        return 0
    for line in _figures(corpus):
        print(line)
    differences = _difference(corpus)
    print(f"differences from the record: {len(differences)}")
    for line in differences:
        print(f"  {line}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
