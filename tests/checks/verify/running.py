"""Captures of switches for tests, and what verify says of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lossless.api import verify
from tests.paths import RULE_BASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lossless.api import Report

Files = dict[str, str]
"""Texts of files by their path below a folder; the folder of a device has its name."""
Found = set[tuple[str, str]]
"""Findings as pairs of a code and an element."""

INTENT = {"fabric.yaml": (RULE_BASES / "leaf-spine.yaml").read_text()}


def leaf_config(renamed: Mapping[str, str] | None = None, **rows: dict[str, Any]) -> str:
    """Return the configuration of leaf1 with some ports renamed, and rows added to its tables."""
    text = (RULE_BASES / "leaf.json").read_text()
    for port, name in (renamed or {}).items():
        text = text.replace(f'"{port}"', f'"{name}"').replace(f'"{port}|', f'"{name}|')
    data = json.loads(text)
    for table, added in rows.items():
        for key, fields in added.items():
            data[table][key] = {**data[table].get(key, {}), **fields}
    return json.dumps(data, indent=1)


def report_on(folder: Path, files: Files, before: Files | None = None) -> Report:
    """Return what verify says of files, and of others as captures at an earlier time."""
    now = _written(folder / "now", files)
    return verify([now], since=[] if before is None else [_written(folder / "before", before)])


def findings(report: Report, *severities: str) -> Found:
    """Return codes and elements, of all severities where none is named."""
    assert report.errors == ()
    return {
        (finding.code, element)
        for finding in report.findings
        if not severities or finding.severity in severities
        for element in finding.elements
    }


def reasons(report: Report, code: str) -> list[str]:
    """Return why a rule did not check something."""
    return [item.reason for item in report.not_checked if item.code == code]


def rows_of(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return tables as the rows of CONFIG_DB."""
    return {f"{table}|{key}": row for table, rows in tables.items() for key, row in rows.items()}


def dumped(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return rows as ``sonic-db-dump -y`` prints them."""
    return {key: {"type": "hash", "value": row, "ttl": -1, "expireat": 1.5} for key, row in rows.items()}


def watchdog(records: Iterable[Mapping[str, Any]]) -> str:
    """Return what ``show pfcwd stats`` prints of some queues."""
    lines = [
        "     QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP",
        "----------  -----------  -------------------------  ------------  ------------",
    ]
    for record in records:
        tx, rx = (f"{record.get(f'{way}_ok', 0)}/{record.get(f'{way}_drop', 0)}" for way in ("tx", "rx"))
        storms = f"{record['detected']}/{record['restored']}"
        lines.append(
            f"{record['port']}:{record['queue']}  {record['status']:>11}  {storms:>25}  {tx:>12}  {rx:>12}"
        )
    return "\n".join(lines) + "\n"


def storm(port: str, status: str = "stormed", detected: int = 1) -> str:
    """Return what ``show pfcwd stats`` prints of queue 3 of one port."""
    restored = detected - (status == "stormed")
    return watchdog(
        [{"port": port, "queue": 3, "status": status, "detected": detected, "restored": restored, "tx_ok": 9}]
    )


def pauses(way: str, counts: Mapping[str, int], priority: int = 3) -> str:
    """Return what ``show pfc counters`` prints of pauses of one priority, all others 0."""
    lines = [f"  Port {way}  " + "  ".join(f"{f'PFC{n}':>9}" for n in range(8)), "  ".join(["-" * 9] * 9)]
    for port, count in counts.items():
        cells = (f"{count if n == priority else 0:>9}" for n in range(8))
        lines.append(f"{port:>9}  " + "  ".join(cells))
    return "\n".join(lines) + "\n\n"


def queue_counters(drops: Mapping[str, int]) -> str:
    """Return what ``show queue counters`` prints of drops, by port and queue (``Ethernet0 UC3``)."""
    lines = [
        "     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes",
        "---------  -----  --------------  ---------------  -----------  ------------",
    ]
    for name, dropped in drops.items():
        port, queue = name.split()
        lines.append(f"{port:>9}  {queue:>5}  {8193:>14}  {852072:>15}  {dropped:>11}  {dropped * 104:>12}")
    return "\n".join(lines) + "\n"


def _written(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
