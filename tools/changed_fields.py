"""Counts what lint says of every rendered field changed alone, and shows harm that it is silent about.

    python tools/changed_fields.py [INTENT ...] [--all] [--packets] [--list LEVEL]

Of each intent (by default the examples, and the designs of the reference) one switch of a kind is rendered on a base.
Each field and row that lossless writes is changed alone: taken away, set to nearby and to far values, pointed at
another row. Lint sees the switch by itself and with its intent beside it. A change is counted as the gravest new
finding, as not checked where a rule says so, as harmless where SONiC's models accept it and closed forms and traces are
no worse than before (with --packets, an incast of the packet-level model at one seed, too), and as missed where one of
these calls it harmful and lint is silent. Missed changes are printed; the exit code is then 1.

Ports that are configured identical are changed once, unless ``--all`` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:] = [str(ROOT), *(path for path in sys.path if path != str(ROOT))]

from lossless.analysis.buffers.dynamic_model import with_computed_buffers  # noqa: E402
from lossless.analysis.buffers.verdict import BUFFER_VERDICTS, BufferVerdict, fabric_verdict  # noqa: E402
from lossless.analysis.simulation.question.request import Limits, SimulationRequest  # noqa: E402
from lossless.analysis.simulation.study.answer import answer  # noqa: E402
from lossless.api import Report, lint_documents, load_fabrics  # noqa: E402
from lossless.checks.lint.baseline import Baseline, BaselineAccount, entries_of  # noqa: E402
from lossless.checks.trace.running import trace  # noqa: E402
from lossless.formats.device_files.switches import switch_file  # noqa: E402
from lossless.formats.sonic.from_model import OWNED, tables  # noqa: E402
from lossless.ground.basics.errors import LosslessError  # noqa: E402
from lossless.ground.basics.findings import SEVERITIES  # noqa: E402
from lossless.ground.documents import load, load_text  # noqa: E402
from lossless.ground.documents.text import Document  # noqa: E402
from lossless.model.fabric.model import Fabric, Switch  # noqa: E402
from lossless.model.fabric.view import View  # noqa: E402
from tools.example_base import base_of  # noqa: E402

Data = dict[str, Any]
LEVELS = (*SEVERITIES, "not checked", "harmless", "missed")


class FieldChange(NamedTuple):
    """One change to a configuration: a row, its field (empty: the row is taken away), the value (None: taken away)."""

    table: str
    key: str
    field: str = ""
    value: str | None = None

    def of(self, before: Data) -> Data:
        """Return a configuration with this change."""
        after = {**before, self.table: deepcopy(before[self.table])}
        if not self.field:
            del after[self.table][self.key]
        elif self.value is None:
            del after[self.table][self.key][self.field]
        else:
            after[self.table][self.key][self.field] = self.value
        return after

    def __str__(self) -> str:
        place = "|".join(filter(None, (self.table, self.key, self.field)))
        return f"{place}: {'taken away' if self.value is None else self.value}"


class Subject(NamedTuple):
    """A switch whose fields are changed: its intent, its rendered configuration, and the rows that were rendered."""

    intent: Document
    fabric: Fabric
    switch: Switch
    config: Data
    rows: Data


class Outcome(NamedTuple):
    """What came of a change: the level of what lint says of the switch alone and with its intent, and the harm done."""

    change: FieldChange
    alone: str
    beside: str
    harm: str


def subjects(file: Path) -> Iterator[Subject]:
    """Yield one switch of each kind of an intent; none where it is not rendered, or has no switches of its own."""
    intent = load(file)
    report = lint_documents([intent])
    if report.errors or any(finding.severity == "error" for finding in report.findings):
        print(f"{file}: not rendered, as lint has errors for it")
        return
    fabrics, _ = load_fabrics([intent])
    kinds: set[tuple[str, ...]] = set()
    for fabric in fabrics:
        for switch in fabric.switches:
            rows = tables(switch)
            kind = (str(switch.tier), *sorted(map(str, switch_kinds(rows))))
            if kind not in kinds and "BUFFER_PG" in rows and not switch.asic:
                kinds.add(kind)
                yield Subject(intent, fabric, switch, rendered(fabric, switch), rows)


def rendered(fabric: Fabric, switch: Switch) -> Data:
    """Return the configuration of a switch on a base."""
    base = load_text(json.dumps(base_of(fabric, switch)), f"{switch.name}/config_db.json")
    config: Data = json.loads(switch_file(switch, base).text)
    return config


def _file(switch: str, config: Data) -> Document:
    return load_text(json.dumps(config), f"{switch}/config_db.json")


def switch_kinds(rows: Data) -> set[tuple[str, str]]:
    """Return the named rows of a switch, by which those that are configured identical are known."""
    return {
        (table, key)
        for table in ("BUFFER_PROFILE", "WRED_PROFILE", "SCHEDULER")
        for key in rows.get(table, {})
    }


def changes(subject: Subject, *, every_port: bool = False) -> Iterator[FieldChange]:
    """Yield each change to a rendered field or row of a switch."""
    seen: set[tuple[object, ...]] = set()
    for table, rows in subject.rows.items():
        for key in rows:
            fields: Data = subject.config[table][key]
            port, _, rest = key.partition("|")
            kind = (table, rest, _port_kind(subject, port), json.dumps(fields, sort_keys=True))
            if port in subject.config["PORT"] and not every_port and kind in seen:
                continue
            seen.add(kind)
            yield from _of_row(subject, table, key, rows[key], every_port=every_port)


def _port_kind(subject: Subject, port: str) -> tuple[object, ...]:
    config = subject.config
    cables = [row.get(port) for row in config.get("CABLE_LENGTH", {}).values()]
    neighbor = config.get("DEVICE_NEIGHBOR", {}).get(port, {}).get("name", "")
    kind = config.get("DEVICE_NEIGHBOR_METADATA", {}).get(neighbor, {}).get("type")
    return config["PORT"].get(port, {}).get("speed"), *cables, kind


def _of_row(
    subject: Subject, table: str, key: str, rendered: Data, *, every_port: bool
) -> Iterator[FieldChange]:
    if table not in {"DEVICE_METADATA", "PORT"}:
        yield FieldChange(table, key)
    values: set[str] = set()
    for field in rendered:
        value = subject.config[table][key][field]
        if table == "CABLE_LENGTH" and not every_port:
            kind = str(_port_kind(subject, field))
            if kind in values:
                continue
            values.add(kind)
        yield FieldChange(table, key, field)
        yield from (
            FieldChange(table, key, field, other)
            for other in dict.fromkeys(_others(subject.config, field, value))
            if other != value
        )


_WORDS = (("drop", "forward", "alert"), ("true", "false"), ("enable", "disable"), ("on", "off"))
_WORDS_OF = {
    word: words
    for words in (*_WORDS, ("ecn_all", "ecn_none", "ecn_green"), ("DWRR", "STRICT"))
    for word in words
}
_ROWS_OF = {
    "profile": "BUFFER_PROFILE",
    "profile_list": "BUFFER_PROFILE",
    "pool": "BUFFER_POOL",
    "scheduler": "SCHEDULER",
    "wred_profile": "WRED_PROFILE",
}


def _others(config: Data, field: str, value: str) -> Iterator[str]:
    """Yield other values of a field."""
    if value in _WORDS_OF:
        yield from _WORDS_OF[value]
    elif field in _ROWS_OF:
        yield from config.get(_ROWS_OF[field], {})
        yield from (",".join(value.split(",")[:count]) for count in range(1, value.count(",") + 1))
    elif value.removesuffix("m").lstrip("-").isdecimal():
        yield from (
            f"{number}{'m' if value.endswith('m') else ''}"
            for number in _numbers(int(value.removesuffix("m")))
        )
    elif "," in value:
        parts = value.split(",")
        yield from (",".join(parts[:at] + parts[at + 1 :]) for at in range(len(parts)))


def _numbers(value: int) -> Iterator[int]:
    """Yield numbers near by and far away; small ones are priorities, queues and powers of two."""
    if abs(value) < 16:
        yield from {0, max(value - 1, -8), value + 1, (value + 3) % 8}
    else:
        yield from (value - 1, value + 1, value // 2, value * 2, value // 20, value * 20)


_MOST_SWITCHES = 64
_MOST_NEIGHBORS = 4


class Oracles:
    """Lint, SONiC's models, closed forms, traces and runs on one switch, with what they say of it unchanged."""

    def __init__(self, subject: Subject, refuses: Callable[[Data], str], *, packets: bool = False) -> None:
        self.subject, self.refuses, self.packets = subject, refuses, packets
        near = _near(subject.fabric, subject.switch.name) if packets else set()
        self.others = [
            _file(switch.name, rendered(subject.fabric, switch))
            for switch in subject.fabric.switches
            if switch.name in near - {subject.switch.name}
        ]
        self.before = {beside: self._lint(subject.config, beside=beside) for beside in (False, True)}
        self.harm_before = self._measures(subject.config)

    def outcome(self, change: FieldChange) -> Outcome:
        """Return what came of a change."""
        config = change.of(self.subject.config)
        alone, beside = (self._level(config, beside=it) for it in (False, True))
        harm = self._harm(config) if "silent" in {alone, beside} else ""
        silent = "missed" if harm else "harmless"
        alone, beside = (silent if level == "silent" else level for level in (alone, beside))
        return Outcome(change, alone, beside, harm)

    def _lint(self, config: Data, *, beside: bool) -> Report:
        device = _file(self.subject.switch.name, config)
        return lint_documents([*([self.subject.intent] if beside else []), device])

    def _level(self, config: Data, *, beside: bool) -> str:
        before, after = self.before[beside], self._lint(config, beside=beside)
        if after.errors:
            return "error"
        entries = entries_of(before.findings, "")
        account = BaselineAccount(Baseline("", "", None, entries, dict.fromkeys(entries, 0)))
        severities = [finding.severity for finding in after.findings if account.unknown_part(finding)]
        if severities:
            return min(severities, key=SEVERITIES.index)
        known = {(gap.code, gap.reason): gap.times for gap in before.not_checked}
        more = any(gap.times > known.get((gap.code, gap.reason), 0) for gap in after.not_checked)
        return "not checked" if more else "silent"

    def _harm(self, config: Data) -> str:
        """Return what an oracle says is worse than before, nothing where none does."""
        refused = self.refuses(config)
        if refused:
            return f"SONiC's models refuse it: {refused}"
        after = self._measures(config)
        return ", ".join(name for name, value in after.items() if value > self.harm_before.get(name, 0))

    def _measures(self, config: Data) -> dict[str, int]:
        """Return how bad each oracle says that a configuration is, 0 for what is sound."""
        device = _file(self.subject.switch.name, config)
        dscps = tuple(dscp for cls in self.subject.fabric.classes.lossless for dscp in cls.dscps)
        fabrics, errors = load_fabrics([device])
        if errors or not fabrics:
            return {"the file cannot be read": 1}
        view = View(fabrics[0])
        verdict = fabric_verdict(view)
        measures = {"closed form": _badness([verdict.overall])}
        computed = View(with_computed_buffers(fabrics[0]))
        for source, target in _pairs(self.subject):
            for dscp in dscps:
                measures[f"trace {source} to {target}"] = _losses(computed, source, target, dscp)
        if self.packets:
            (fabric,) = load_fabrics([device, *self.others]).fabrics
            runs = answer(View(fabric), SimulationRequest(limits=Limits(seeds=1))).runs
            measures["packets"] = _badness(run.verdict for run in runs)
        return measures


def _near(fabric: Fabric, switch: str) -> set[str]:
    """Return the switches that packets are run through beside one: all of a small fabric, of a large one a part.

    The part has of each switch the first few of its neighbors, up to two links away: runs of a fabric of hundreds of
    switches would take hours, and a switch meets no more than its neighbors.
    """
    if len(fabric.switches) <= _MOST_SWITCHES:
        return {each.name for each in fabric.switches}
    neighbors: dict[str, dict[str, None]] = {each.name: {} for each in fabric.switches}
    for link in fabric.links:
        if not link.to_host:
            neighbors[link.a][link.b] = neighbors[link.b][link.a] = None
    near, edge = {switch}, [switch]
    for _ in range(2):
        edge = [other for each in edge for other in [*neighbors[each]][:_MOST_NEIGHBORS] if other not in near]
        near.update(edge)
    return near


def _pairs(subject: Subject) -> list[tuple[str, str]]:
    """Return two ports of each kind, each towards one of another kind or the other of its own."""
    kinds: dict[tuple[object, ...], list[str]] = {}
    for port in subject.switch.ports:
        if port.placed and port.qos and subject.config["PORT"].get(port.name, {}).get("admin_status") == "up":
            kinds.setdefault(_port_kind(subject, port.name), []).append(port.name)
    firsts = [ports[0] for ports in kinds.values()]
    lasts = [ports[-1] for ports in kinds.values()]
    return [(source, target) for source in firsts for target in lasts if source != target]


def _badness(verdicts: Iterable[BufferVerdict]) -> int:
    worst = min(map(BUFFER_VERDICTS.index, verdicts), default=len(BUFFER_VERDICTS))
    return len(BUFFER_VERDICTS) - worst


def _losses(view: View, source: str, target: str, dscp: int) -> int:
    try:
        return sum(len(hop.losses) or 0 for hop in trace(view, source, target, dscp).hops)
    except LosslessError:
        return 100


def standing_in(reference: Path) -> Callable[[Data], str]:
    """Return a check by the types, ranges and references of SONiC's models, as the reference has them."""
    from tests.output.render.sonic_schema import violations

    schema = json.loads((reference / "facts" / "sonic-schema.json").read_text())
    owned = {*OWNED, "FLEX_COUNTER_TABLE"}
    return lambda config: next(iter(violations(schema, config, owned)), "")


_SERVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from oracle import Oracle
models = Oracle()
for line in sys.stdin:
    accepted, why, _ = models.check(json.loads(line))
    print(json.dumps("" if accepted else why or "refused"), flush=True)
"""


def by_models(reference: Path, lab: Path) -> Callable[[Data], str]:
    """Return a check by SONiC's own loader and models, built in a folder (reference tools/yang)."""
    server = subprocess.Popen(
        [lab / "py/bin/python", "-c", _SERVER, reference / "tools" / "yang"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    asked, answers = server.stdin, server.stdout
    if asked is None or answers is None:
        raise SystemExit("the models were not started")

    def refuses(config: Data) -> str:
        print(json.dumps(config), file=asked, flush=True)
        why: str = json.loads(answers.readline())
        return why

    return refuses


def outcomes(
    subject: Subject, refuses: Callable[[Data], str], *, every_port: bool = False
) -> Iterator[Outcome]:
    """Yield what came of each change to a switch."""
    oracles = Oracles(subject, refuses)
    for change in changes(subject, every_port=every_port):
        yield oracles.outcome(change)


def main() -> int:
    """Print a line for each switch, and what was missed; return 1 where that is anything."""
    parser = argparse.ArgumentParser(description="what lint says of every rendered field changed alone")
    parser.add_argument("intents", nargs="*", type=Path, metavar="INTENT")
    parser.add_argument(
        "--all", action="store_true", help="change every port, not one of those that are identical"
    )
    parser.add_argument("--packets", action="store_true", help="run the packet-level model, too (slow)")
    parser.add_argument(
        "--list",
        choices=LEVELS,
        default=[],
        action="append",
        metavar="LEVEL",
        help="print the changes of a level, too",
    )
    options = parser.parse_args()
    reference = Path(os.environ.get("LOSSLESS_REFERENCE", ROOT.parent / "shared"))
    lab = os.environ.get("YANGLAB")
    refuses = by_models(reference, Path(lab)) if lab else standing_in(reference)
    files = options.intents or [
        *ROOT.glob("examples/*/fabric.yaml"),
        *reference.glob("reference/designs/*.yaml"),
    ]
    listed = {*options.list, "missed"}
    total: dict[str, Counter[str]] = {"alone": Counter(), "with intent": Counter()}
    for subject in (subject for file in sorted(files) for subject in subjects(file)):
        print(f"{subject.intent.file} {subject.switch.name}", flush=True)
        oracles = Oracles(subject, refuses, packets=options.packets)
        for outcome in map(oracles.outcome, changes(subject, every_port=options.all)):
            for way, level in zip(total, (outcome.alone, outcome.beside), strict=True):
                total[way][level] += 1
                if level in listed:
                    print(
                        f"  {level} {way}: {outcome.change}" + (f" ({outcome.harm})" if outcome.harm else ""),
                        flush=True,
                    )
    for way, count in total.items():
        print(f"{way:12}", *(f"{level} {count[level]}" for level in LEVELS), sep="  ")
    return int(any(count["missed"] for count in total.values()))


if __name__ == "__main__":
    sys.exit(main())
