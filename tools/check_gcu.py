"""Whether our model of SONiC's config updater answers as the real one did, case by case.

    python tools/check_gcu.py FOLDER

FOLDER holds ``field-operations.json`` (what the updater's own rules permit, by chip and release) and ``sort.json``
(patches with verdict, moves and ports that went down), recorded from the real updater. One JSON object is printed:
``agree`` counts by stage, ``differ`` has the cases in which we say something else, ``explained`` those that differ
for a reason in the table below, ``out_of_scope`` what is not compared and why. Exit 1 where anything differs.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lossless.formats.sonic.capabilities.updater_sorting import (
    UpdaterDevice,
    chip_of,
    rules_of,
    updater_table,
)
from lossless.formats.sonic.capabilities.updater_verdict import patch_verdict
from lossless.formats.sonic.changes.json_patch import Element, applied, elements, parts
from lossless.formats.sonic.from_model import OWNED, SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lossless.formats.sonic.capabilities.updater_sorting import UpdaterRules
    from lossless.formats.sonic.capabilities.updater_verdict import PatchVerdict

Data = dict[str, Any]
EXPLAINED: dict[tuple[str, str], str] = {}
"""Why a case differs in a stage, by its name and the stage."""
MODEL_STAGES = ("table-without-yang", "target-yang")
"""Stages that SONiC's models decide: compared where the tables are those that are rendered."""


class Comparison(NamedTuple):
    """One thing that is on record: what it counts for, its name, what is recorded and what we say."""

    stage: str
    id: str
    recorded: Any
    ours: Any


class OutOfScope(NamedTuple):
    """A case that is not compared, why not, and whether we say the same all the same."""

    id: str
    reason: str
    agrees: bool | None


def main() -> int:
    """Print how our model compares with a folder of recorded cases."""
    folder = Path(sys.argv[1])
    found = [*compared_operations(_read(folder / "field-operations.json"))]
    found += compared_patches(_read(folder / "sort.json"))
    print(json.dumps(summary(found), indent=2))
    return 1 if any(map(_differs, found)) else 0


def _read(path: Path) -> Data:
    data: Data = json.loads(path.read_text(encoding="utf-8"))
    return data


def summary(found: Sequence[Comparison | OutOfScope]) -> Data:
    """Return what is printed."""
    compared = [item for item in found if isinstance(item, Comparison)]
    outside = [item for item in found if isinstance(item, OutOfScope)]
    agree = Counter(item.stage for item in compared if item.recorded == item.ours)
    return {
        "agree": dict(agree),
        "differ": [item._asdict() for item in compared if _differs(item)],
        "explained": [
            {**item._asdict(), "why": EXPLAINED[item.id, item.stage]}
            for item in compared
            if item.recorded != item.ours and (item.id, item.stage) in EXPLAINED
        ],
        "out_of_scope": {"count": len(outside), "cases": [item._asdict() for item in outside]},
    }


def _differs(item: Comparison | OutOfScope) -> bool:
    if isinstance(item, OutOfScope):
        return False
    return item.recorded != item.ours and (item.id, item.stage) not in EXPLAINED


@cache
def _release(commit: str) -> str:
    """Return the release of our rules that runs a version of the code."""
    for name, release in updater_table()["releases"].items():
        if release.get("commit") == commit:
            return str(name)
    raise SystemExit(f"the rules of sonic-utilities {commit} are not known")


def compared_operations(record: Data) -> Iterator[Comparison | OutOfScope]:
    """Yield everything that ``field-operations.json`` says, beside what we say."""
    operations = _Operations(record)
    yield from operations.verdicts()
    yield from operations.thresholds()
    yield from operations.changes()
    yield from operations.lookups()
    yield from operations.build_strings()
    yield from operations.direct_calls()
    yield from operations.ports()


class _Operations:
    """The record of single operations: which of them are permitted, by chip and release."""

    def __init__(self, record: Data) -> None:
        self.record = record
        self.release = _release(record["made_with"]["sonic-utilities"])
        self.rows = {row["id"]: row for row in record["operations"]}
        self.seen = {name: elements(row["old"], row["new"]) for name, row in self.rows.items()}

    def verdicts(self) -> Iterator[Comparison]:
        """Yield the verdict on each operation, for each HWSKU and release."""
        for chip, hwsku, asic_type in self._devices():
            for release in self.record["releases"]:
                rules = self._rules(hwsku, asic_type, f"SONiC.{release}.1")
                for name, row in self.rows.items():
                    recorded = self._allowed(row, chip, release)
                    ours = _permits(rules, self.seen[name])
                    yield Comparison("operations", f"{name} on {hwsku} {release}", recorded, ours)

    def _devices(self) -> Iterator[tuple[str, str, str]]:
        """Yield chip, HWSKU and type of each device on record, and of some that no rule lists."""
        for chip, row in self.record["asics"].items():
            for hwsku in row["hwskus"]:
                yield chip, hwsku, row["asic_type"]
        for probe in self.record["asic_lookup"]["probes"]:
            for asic_type in ("mellanox", "broadcom", "vs"):
                if probe[asic_type] == "unknown":
                    yield "unknown", probe["hwsku"], asic_type

    def _rules(self, hwsku: str, asic_type: str | None, build: str) -> UpdaterRules:
        rules = rules_of(UpdaterDevice(hwsku, self.release, asic_type, build))
        assert rules is not None
        return rules

    def _rules_of_chip(self, chip: str, build: str) -> UpdaterRules:
        row = self.record["asics"].get(chip, {"hwskus": ["no such product"], "asic_type": "vs"})
        return self._rules(row["hwskus"][0], row["asic_type"], build)

    def _allowed(self, row: Data, chip: str, release: str) -> bool:
        if row["allowed"] != "by_asic":
            return bool(row["allowed"] == "always")
        since = self.record["threshold_classes"][row["from"]]["from"][chip]
        return since is not None and release >= since

    def thresholds(self) -> Iterator[Comparison]:
        """Yield the first release that permits an operation, and the day before it."""
        for row in (row for row in self.rows.values() if row["allowed"] == "by_asic"):
            for chip, since in self.record["threshold_classes"][row["from"]]["from"].items():
                for date, allowed in _around(since):
                    rules = self._rules_of_chip(chip, f"SONiC.{date}.1")
                    ours = _permits(rules, self.seen[row["id"]])
                    yield Comparison("thresholds", f"{row['id']} on {chip} {date}", allowed, ours)

    def changes(self) -> Iterator[Comparison]:
        """Yield the verdicts that change from release to release."""
        for row in self.record["changes"]["rows"]:
            runs: list[Data] = []
            for release in self.record["releases"]:
                rules = self._rules_of_chip(row["asic"], f"SONiC.{release}.1")
                allowed = _permits(rules, self.seen[row["id"]])
                if not runs or runs[-1]["allowed"] != allowed:
                    runs.append({"from": release, "allowed": allowed})
            yield Comparison("changes", f"{row['id']} on {row['asic']}", row["verdicts"], runs)

    def lookups(self) -> Iterator[Comparison]:
        """Yield which chip a HWSKU is taken for."""
        chips = updater_table()["chips"][updater_table()["releases"][self.release]["chips"]]
        for probe in self.record["asic_lookup"]["probes"]:
            for asic_type in (key for key in probe if key != "hwsku"):
                ours = chip_of(probe["hwsku"], asic_type, chips) or "unknown"
                yield Comparison("asic-lookup", f"{probe['hwsku']!r} as {asic_type}", probe[asic_type], ours)

    def build_strings(self) -> Iterator[Comparison]:
        """Yield which chips a build string of another form permits."""
        element = Element("replace", ("PFC_WD", "Ethernet0", "action"), "forward")
        for case in self.record["build_version_forms"]["cases"]:
            for allowed in (True, False):
                for chip in case["allowed" if allowed else "refused"]:
                    rules = self._rules_of_chip(chip, case["build_version"])
                    ours = _permits(rules, (element,))
                    yield Comparison("build-version", f"{case['name']} on {chip}", allowed, ours)

    def direct_calls(self) -> Iterator[Comparison | OutOfScope]:
        """Yield what a table's validator says of elements that a difference never has."""
        for case in self.record["only_by_direct_call"]["cases"]:
            element = Element(
                case["element"]["op"], parts(case["element"]["path"]), case["element"].get("value")
            )
            for chip, recorded in case["validator_returns"].items():
                permitted = (
                    self._rules_of_chip(chip, f"SONiC.{release}.1").validator_refusal(element) is None
                    for release in self.record["releases"]
                )
                ours = "".join("1" if yes else "0" for yes in permitted)
                yield Comparison("direct-call", f"{case['id']} on {chip}", recorded, ours)

    def ports(self) -> Iterator[Comparison]:
        """Yield what is permitted of speed and FEC, by what the device advertises."""
        record = self.record["port_speed_and_fec"]
        for case in record["cases"]:
            field, value = case["field"], case["value"]
            offered = case["state_db_supported"]
            advertised = {} if offered is None else {f"supported_{field}s": offered}
            element = Element(case["op"], ("PORT", "Ethernet0", field), value)
            name = f"{case['op']} {field} {value} where {offered!r} is advertised"
            yield self._port(name, element, advertised, case["allowed"])
        for case in record["row_added"]:
            element = Element(case["op"], ("PORT", "Ethernet0"), case["row_added"])
            name = f"row {json.dumps(case['row_added'])}"
            yield self._port(name, element, case["state_db_supported"], case["allowed"])

    def _port(self, name: str, element: Element, advertised: Mapping[str, str], allowed: bool) -> Comparison:
        device = UpdaterDevice(
            "ACS-MSN2700", self.release, "mellanox", "SONiC.20251110.1", {"Ethernet0": advertised}
        )
        return Comparison("port", name, allowed, _permits(rules_of(device), (element,)))


def _permits(rules: UpdaterRules | None, seen: Sequence[Element]) -> bool:
    return rules is not None and all(rules.refusal(element) is None for element in seen)


def _around(since: str | None) -> Iterator[tuple[str, bool]]:
    """Yield dates about a threshold, and whether an operation is permitted then."""
    if since is None:
        yield from (("00000000", False), ("99999999", False))
        return
    yield since, True
    yield "99999999", True
    if since != "00000000":
        yield f"{int(since) - 1:08d}", False


def compared_patches(record: Data) -> Iterator[Comparison | OutOfScope]:
    """Yield everything that ``sort.json`` says of our concern, beside what we say."""
    release = _release(record["made_with"]["sonic-utilities"])
    cases = {case["id"]: case for case in record["cases"]}
    for case in record["cases"]:
        start = start_of(case, record["configurations"], cases)
        if start is None:
            yield OutOfScope(case["id"], "it starts from the end of a case that is not on record", None)
        else:
            verdict = patch_verdict(start, case["patch"], _device(case["device"], release))
            yield from _compared_patch(case, verdict)


def _device(device: Data, release: str) -> UpdaterDevice:
    return UpdaterDevice(device["hwsku"], release, device["asic_type"], device["build_version"])


def start_of(case: Data, configurations: Data, cases: Mapping[str, Data]) -> Data | None:
    """Return the configuration that a case starts from, None where what leads there is not on record."""
    start = case["start"]
    if isinstance(start, str):
        config: Data | None = configurations[start]["config"] if start in configurations else None
        return config
    before = cases.get(start["end_of"])
    config = start_of(before, configurations, cases) if before is not None else None
    if config is None or before is None:
        return None
    return applied(config, before["patch"])


def _compared_patch(case: Data, verdict: PatchVerdict) -> Iterator[Comparison | OutOfScope]:
    recorded, ours = case.get("stage") or "accepted", verdict.stage or "accepted"
    others = sorted({*_tables(case["patch"])} - {*OWNED, *SHARED})
    if others and (recorded in MODEL_STAGES or ours in MODEL_STAGES):
        reason = f"the models decide it, and {', '.join(others)} is not rendered"
        yield OutOfScope(case["id"], reason, recorded == ours)
        return
    yield Comparison(recorded, case["id"], recorded, ours)
    if case["end_sha256"] is not None and verdict.target is not None:
        yield Comparison("result", case["id"], case["end_sha256"], _hash(verdict.target))
    if recorded == ours == "accepted":
        yield from _compared_moves(case, verdict)


def _compared_moves(case: Data, verdict: PatchVerdict) -> Iterator[Comparison | OutOfScope]:
    yield Comparison("ports", case["id"], sorted(case["ports_taken_down"]), sorted(verdict.ports_down))
    yield Comparison("times-down", case["id"], case["admin_down_moves"], len(verdict.ports_down))
    yield from _compared_rows(case, verdict)


def _compared_rows(case: Data, verdict: PatchVerdict) -> Iterator[Comparison | OutOfScope]:
    """Yield which rows lose fields while others refer to them."""
    emptied = case.get("emptied_while_bound") or ()
    recorded = {row["row"]: row["fields_removed"] for row in emptied if row["while_a_user_is_up"]}
    ours = {f"/{row.table}/{row.key}": row.fields for row in verdict.emptied if row.in_use}
    yield Comparison("emptied", case["id"], recorded, ours)
    idle = {row["row"]: row["fields_removed"] for row in emptied if not row["while_a_user_is_up"]}
    if idle:
        said = {f"/{row.table}/{row.key}": row.fields for row in verdict.emptied if not row.in_use}
        yield OutOfScope(case["id"], "no user of the emptied row is up: it is not in use", idle == said)


def _tables(patch: Sequence[Data]) -> Iterator[str]:
    for operation in patch:
        for pointer in (operation.get("path", ""), operation.get("from", "")):
            yield from pointer.split("/")[1:2]


def _hash(configuration: Mapping[str, Any]) -> str:
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
