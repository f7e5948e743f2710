"""Compare what is read of real configurations with what people read in them.

    check_dialects.py FOLDER

FOLDER holds ``index.json`` and ``faults.json`` in the form of its ``FORM.md``, and the files they name. One JSON
object goes to stdout: how many values ``agree`` and ``differ``, how many files are ``unread`` or of a dialect that is
``unsupported``, how many decidable faults of high and medium severity are ``faults_found`` and ``faults_missed``, and
how many findings of error level no fault explains (``false_errors``); all of it also ``by_dialect``, and what differs
in ``details``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from lossless.api import Options, lint
from lossless.formats.inputs.collect import Candidate, read
from lossless.formats.inputs.switches import read_switch
from lossless.formats.switches.nvue.read import listed_names
from lossless.formats.switches.nxos.read.grammar import port_names
from lossless.ground.basics.records import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lossless.model.fabric.configured_switch import ReadSwitch
    from lossless.model.fabric.model import Port
    from lossless.model.fabric.qos import PortQos, Queue

    Json = dict[str, Any]

COUNTS = (
    "agree", "differ", "unread", "unsupported", "faults_found", "faults_missed", "false_errors",
)  # fmt: skip
TIMERS = {"detect_ms": "detection_ms", "restore_ms": "restoration_ms", "action": "action"}


def main() -> None:
    """Compare the folder that is named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    json.dump(compared(parser.parse_args().folder), sys.stdout, indent=1)
    sys.stdout.write("\n")


def compared(folder: Path) -> Json:
    """Return the counts of all files of a folder, and what differs."""
    matches = {
        code: set(fault["matches"])
        for code, fault in json.loads((folder / "faults.json").read_text()).items()
    }
    counts: dict[str, Counter[str]] = {}
    details: list[str] = []
    for entry in json.loads((folder / "index.json").read_text()):
        counts.setdefault(entry["dialect"], Counter()).update(_entry(folder, entry, matches, details))
    return {
        **{name: sum(each[name] for each in counts.values()) for name in COUNTS},
        "by_dialect": {name: {key: each[key] for key in COUNTS} for name, each in counts.items()},
        "details": details,
    }


def _entry(folder: Path, entry: Json, matches: dict[str, set[str]], details: list[str]) -> Counter[str]:
    file = folder / entry["file"]
    documents = read(Candidate(str(file), expected=True)).documents
    name = documents[0].dialect if documents else ""
    if not name or not entry["dialect"].startswith(name):
        return Counter({"unsupported": 1})
    switch = read_switch(documents[0]).read
    count: Counter[str] = Counter()
    for key, expected, have in _pairs(entry["expect"], switch):
        count["agree" if expected == have else "differ"] += 1
        if expected != have:
            details.append(f"{entry['file']}: {key} is {have!r}, expected {expected!r}")
    count.update(_faults(file, entry, matches, details))
    return count


# --- faults ---


def _faults(file: Path, entry: Json, matches: dict[str, set[str]], details: list[str]) -> Counter[str]:
    findings = lint([file], Options()).findings
    count: Counter[str] = Counter()
    explained: set[int] = set()
    for fault in entry["faults"]:
        rules = matches[fault["code"]]
        at = {n for n, finding in enumerate(findings) if _says(finding, rules, fault)}
        explained |= at
        if fault["decidable"] and fault["severity"] in ("high", "medium"):
            count["faults_found" if at else "faults_missed"] += 1
            if not at:
                details.append(f"{entry['file']}: {fault['code']} at {fault['object']} is not found")
    for number, finding in enumerate(findings):
        if finding.severity == "error" and number not in explained:
            count["false_errors"] += 1
            details.append(f"{entry['file']}: {finding.code} {finding.message}")
    return count


def _says(finding: Any, rules: set[str], fault: Json) -> bool:
    """Return whether a finding is of a rule that says a fault, at its object: a port, or a name in one of its places.

    An object that is a range of ports is said at any of them, and a port that is split at its lanes.
    """
    if finding.code not in rules and finding.code not in NEW.get(fault["code"], ()):
        return False
    elements = {element.rpartition(":")[2] for element in finding.elements}
    places = elements | {re.sub(r"s[0-9]$", "", element) for element in elements}
    words = [str(key) for origin in finding.origins for key in origin.path]
    ports = {*port_names(fault["object"]), *listed_names(fault["object"])}
    return not places.isdisjoint(ports) or any(fault["object"] in word for word in words)


NEW = {
    "pfc-no-priority": ("PFC018",),
    "unbound-object": ("CFG013",),
    "watchdog-ineffective": ("CFG014",),
    "watchdog-without-pfc": ("CFG014",),
    "headroom-thresholds": ("CFG014",),
    "qos-on-member": ("CFG014",),
    "lossless-can-drop": ("CFG014",),
    "rdma-dscp-not-lossless": ("CFG014",),
    "pfc-one-sided": ("CFG014",),
    "pfc-not-on": ("CFG014",),
    "bandwidth-share": ("CFG014",),
    "ecn-line-broken": ("CFG014",),
    "ecn-curve": ("ECN001",),
    "link-pause": ("CFG014",),
    "mtu-differs": ("CFG014",),
    "unknown-syntax": ("CFG014",),
    "default-class-lossless": ("CLS012",),
    "wrong-class-type": ("CFG014",),
    "rewrite-wrong": ("CFG014",),
    "watchdog-timers": ("CFG014",),
}
"""Rules that say faults beside those of the table of faults."""


# --- values ---


def _pairs(expect: Json, read_switch: ReadSwitch) -> Iterator[tuple[str, Any, Any]]:
    """Yield each value that is expected, by what it is called, with the one that was read."""
    ports = {port.name.replace("swp*", "*"): port for port in read_switch.switch.ports}
    trusts = {name.replace("swp*", "*"): trust for name, trust in read_switch.trusts.items()}
    for name, trust in (expect["trust"] or {}).items():
        if trust is not None:
            yield f"trust of {name}", trust, trusts.get(name)
    for key, expected in (expect["classes"] or {}).items():
        yield from _class(key, expected, [port.qos for port in ports.values() if port.qos], read_switch)
    for name, pfc in (expect["pfc"] or {}).items():
        port = ports.get(name)
        priorities = sorted(port.qos.pfc.priorities) if port and port.qos else None
        if pfc["priorities"] is not None:
            yield f"pfc of {name}", sorted(pfc["priorities"]), priorities
    yield from _watchdog(expect["watchdog"] or {}, list(ports.values()), read_switch)
    for name, mtu in (expect["mtu"] or {}).items():
        port = ports.get(name)
        yield f"mtu of {name}", mtu, None if port is None or port.mtu_bytes is UNKNOWN else port.mtu_bytes


def _class(
    key: str, expected: Json, all_qos: list[PortQos], read_switch: ReadSwitch
) -> Iterator[tuple[str, Any, Any]]:
    number = int(key)
    maps = read_switch.maps
    if expected["dscp"] is not None:
        yield f"dscp of class {key}", sorted(expected["dscp"]), sorted(maps.dscp_to_tc.sources(number))
    if expected["pcp"] is not None:
        yield f"pcp of class {key}", sorted(expected["pcp"]), sorted(maps.dot1p_to_tc.sources(number))
    if expected["queue"] is not None:
        yield f"queue of class {key}", expected["queue"], maps.tc_to_queue.targets[number]
    lossless = {number for qos in all_qos for number, group in enumerate(qos.groups) if group is not None}
    if expected["lossless"] is not None:
        yield f"class {key} lossless", expected["lossless"], number in lossless
    if expected["pfc_priority"] is not None:
        paused = [p for qos in all_qos for p in qos.pfc.priorities if qos.pausing_group(p) == number]
        # Where DCBX decides which priorities are paused, the class alone says which one it would be.
        paused += [p for qos in all_qos if qos.pfc_to_pg for p in qos.pfc_to_pg.sources(number)]
        yield f"pfc priority of class {key}", expected["pfc_priority"], paused[0] if paused else None
    place = maps.tc_to_queue.targets[number] or 0
    queue = next((q for qos in all_qos if (q := qos.queues[place])), None)
    unbound = read_switch.defined[place] if queue is None and read_switch.defined else None
    yield from _queue(key, expected, queue or unbound, bound=unbound is None)


def _queue(key: str, expected: Json, queue: Queue | None, *, bound: bool) -> Iterator[tuple[str, Any, Any]]:
    scheduler, wred = (queue.scheduler, queue.wred) if queue else (None, None)
    kind = {"STRICT": "strict", "DWRR": "dwrr"}.get(scheduler.kind) if scheduler else None
    for name, have in (("kind", kind), ("percent", scheduler.weight if scheduler else None)):
        if expected["scheduler"][name] is not None:
            yield f"scheduler {name} of class {key}", expected["scheduler"][name], have
    ecn = expected["ecn"] or {}
    curve = wred.green if wred else None
    for name in ("min_bytes", "max_bytes", "probability_percent"):
        if ecn.get(name) is not None:
            yield f"ecn {name} of class {key}", ecn[name], getattr(curve, name, None)
    if ecn.get("enabled") is not None:
        yield f"ecn of class {key}", ecn["enabled"], bound and curve is not None and curve.enabled


def _watchdog(expected: Json, ports: list[Port], read_switch: ReadSwitch) -> Iterator[tuple[str, Any, Any]]:
    watchdogs = [port.qos.watchdog for port in ports if port.qos and port.qos.watchdog]
    watchdog = watchdogs[0] if watchdogs else None
    if expected.get("enabled") is not None:
        yield "watchdog", expected["enabled"], watchdog is not None
    for name, field in TIMERS.items():
        if expected.get(name) is not None:
            yield f"watchdog {name}", expected[name], getattr(watchdog, field, None)
    if expected.get("poll_ms") is not None:
        yield "watchdog poll_ms", expected["poll_ms"], read_switch.switch.qos.poll.poll_ms


if __name__ == "__main__":
    main()
