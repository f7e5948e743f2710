"""Whether captures of running state are read as people and scripts read them.

    python tools/check_state.py FOLDER

FOLDER holds captures and ``index.json``, which says of each what it shows. One JSON object is printed: ``agree``
counts the rows of ``expect`` that are read as expected, ``differ`` has those that are read otherwise, with the file,
the value expected and the values read, ``unread`` those that are not read, with the reason; ``expect_by`` and
``origin`` have the same counts by who wrote a row and what a file is. ``pairs`` compares texts with the databases from
which they were made; ``files`` says how many are read, and why the others are refused. Exit 1 where anything differs.

Keys of a row that name something select (``port``, ``queue``); what ``counter``, ``field``, ``column`` or ``metric``
names is compared with ``value``, and without ``value`` all other keys are.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:] = [str(ROOT), *(path for path in sys.path if path not in {str(ROOT), str(ROOT / "tools")})]

from lossless.formats.inputs.capture_forms import read_capture  # noqa: E402
from tools.state_pairs import compare_pairs  # noqa: E402
from tools.state_rows import ReadFile, Verdict, evaluated  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

FACTS = "-facts"
"""How kinds of files end that hold values in the form of the index itself, and no capture."""


def read(folder: Path, entry: dict[str, Any]) -> ReadFile:
    """Read one file of the folder."""
    path = entry["path"]
    if entry["kind"].endswith(FACTS):
        return ReadFile(entry, (), "values in the form of the index, no capture")
    text = (folder / path).read_bytes().decode(errors="replace")
    if not text.strip():
        return ReadFile(entry, (), "the file is empty")
    captures = read_capture(text, path)
    return ReadFile(entry, captures or (), "" if captures else "no reader recognises it")


def verdicts(folder: Path, file: ReadFile) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """Yield each row that is expected of a file with what comes of it."""
    is_facts = file.entry["kind"].endswith(FACTS)
    records = json.loads((folder / file.entry["path"]).read_bytes())["records"] if is_facts else []
    readings = file.readings
    for row in file.entry.get("expect") or ():
        if is_facts:
            yield row, Verdict("agree" if row in records else "differ", records)
        elif file.refused:
            yield row, Verdict("unread", (), file.refused)
        else:
            yield row, evaluated(row, readings)


def report(folder: Path) -> dict[str, Any]:
    """Return what is read of a folder, compared with its index."""
    index = json.loads((folder / "index.json").read_bytes())
    files = [read(folder, entry) for entry in index]
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    listed: dict[str, list[dict[str, Any]]] = {"differ": [], "unread": []}
    total: Counter[str] = Counter()
    for file in files:
        for row, verdict in verdicts(folder, file):
            total[verdict.result] += 1
            for kind in ("expect_by", "origin"):
                counts[kind][file.entry.get(kind) or "not said"][verdict.result] += 1
            if verdict.result != "agree":
                listed[verdict.result].append(_listed(file, row, verdict))
    return {
        "agree": total["agree"],
        **listed,
        **counts,
        "pairs": compare_pairs(files),
        "files": _files(files),
    }


def _listed(file: ReadFile, row: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    said: dict[str, Any] = {
        "file": file.entry["path"],
        "expect_by": file.entry.get("expect_by"),
        "expected": row,
    }
    if verdict.result == "differ":
        return {**said, "read": verdict.values}
    return {**said, "reason": verdict.reason}


def _files(files: list[ReadFile]) -> dict[str, Any]:
    refused = {file.entry["path"]: file.refused for file in files if file.refused}
    problems = {
        file.entry["path"]: [str(problem) for capture in file.captures for problem in capture.problems]
        for file in files
        if any(capture.problems for capture in file.captures)
    }
    return {"read": len(files) - len(refused), "refused": refused, "problems": problems}


def main() -> int:
    """Print the comparison; return 1 where a value or a pair differs."""
    said = report(Path(sys.argv[1]))
    print(json.dumps(said, indent=2, ensure_ascii=False, default=str))
    return 1 if said["differ"] or said["pairs"]["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
