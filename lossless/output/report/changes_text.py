"""Drift of one switch or many as text and as data, the updates to the target, and the report of an import.

The value of the device is shown beside that of the intent, identical rows in one line; switches with the same drift are
shown together. Switches are counted by how their update reaches the target: by patch, or by reload with the reason. An
import is reported by the share of fields that render the same again, and the differences by reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.ground.basics.findings import grouped, natural_key
from lossless.ground.basics.foreign_text import visible
from lossless.ground.basics.units import format_bytes, joined, listed
from lossless.output.report.columns import PLAIN, ROWS, TextStyle, cut, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Annotated, Literal, TypedDict

    from lossless.checks.drift.drift import Drift, NotCompared
    from lossless.formats.device_files.base_merge import UpdatePlan
    from lossless.formats.importing.differences import Figures, ImportDifference
    from lossless.formats.sonic.changes.json_patch import FieldDifference, RowDifference
    from lossless.formats.sonic.changes.meaning import Cell
    from lossless.output.report.lint.json_format import ProblemData

    class FieldData(TypedDict):
        """A field that differs; None for a row without fields, or a value that is on one side alone."""

        table: str
        key: str
        field: str | None
        before: str | None
        after: str | None

    class DeviceDriftData(TypedDict):
        """The comparison of one switch; there is no change where no update is planned."""

        device: str
        file: str
        intent: str
        drift: list[FieldData]
        change: Annotated[dict[str, Any], UpdatePlan, ("device",)] | None
        patch: tuple[dict[str, Any], ...] | None
        not_compared: list[Annotated[dict[str, Any], NotCompared]]
        errors: list[str]

    class DriftTotals(TypedDict):
        """Counts of a comparison: switches, differing rows, updates by kind, and errors."""

        compared: int
        drifted: int
        rows: int
        patch: int
        reload: int
        refused: int
        ports_down: int
        missing: int
        errors: int

    FileState = Literal["missing", "differs", "stale"]

    class TreeFileData(TypedDict):
        """A file that is not as rendered; a stale one is of an earlier render and does not belong there any more."""

        path: str
        state: FileState

    class FileCounts(TypedDict):
        """The number of files in each state."""

        missing: int
        differs: int
        stale: int

    class CheckedTreeData(TypedDict):
        """The comparison of a tree with what is rendered, and notes on parts that are not rendered."""

        version: Literal[1]
        output: str
        files: list[TreeFileData]
        total: FileCounts
        notes: list[str]

    class FabricDriftData(TypedDict):
        """The comparison of many switches."""

        version: Literal[1]
        intent: str
        devices: list[DeviceDriftData]
        missing: list[str]
        errors: list[ProblemData]
        total: DriftTotals


def checked_tree(output: str, states: Mapping[str, FileState], notes: Iterable[str]) -> CheckedTreeData:
    """Return the files of a tree that are not as rendered, each with its state, as plain data."""
    found = list(states.values())
    return {
        "version": VERSION,
        "output": output,
        "files": [{"path": path, "state": state} for path, state in states.items()],
        "total": {
            "missing": found.count("missing"),
            "differs": found.count("differs"),
            "stale": found.count("stale"),
        },
        "notes": list(notes),
    }


_PORTS = "port"
"""Stands for the table in a row of a system other than SONiC; it is not shown."""
VERSION: Literal[1] = 1
"""The version of the keys in the JSON object: keys once shipped stay."""
_MAPS = {
    "DSCP_TO_TC_MAP": ("DSCP", "TC"),
    "MAP_PFC_PRIORITY_TO_QUEUE": ("PFC priority", "queue"),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": ("PFC priority", "priority group"),
    "TC_TO_PRIORITY_GROUP_MAP": ("TC", "priority group"),
    "TC_TO_QUEUE_MAP": ("TC", "queue"),
}
"""Map tables of CONFIG_DB, each with the noun of its fields and that of their values."""


def drift_data(rows: Iterable[RowDifference]) -> list[FieldData]:
    """Return an object for each field that differs; a row without fields gives one object whose field is None."""
    return [
        {"table": row.table, "key": row.key, "field": field, "before": before, "after": after}
        for row in rows
        for field, before, after in _triples(row)
    ]


def _triples(row: RowDifference) -> Iterable[tuple[str | None, str | None, str | None]]:
    if row.fields:
        return [(field.field, field.before, field.after) for field in row.fields]
    return [(None, "" if row.kind == "removed" else None, "" if row.kind == "added" else None)]


def drift_lines(rows: Iterable[RowDifference], style: TextStyle = PLAIN) -> list[str]:
    """Return the causes of differing rows, one an entry; without -v at most ROWS of them."""
    return cut([wrapped(cause, style) for cause in causes_of(rows)], style)


def causes_of(rows: Iterable[RowDifference]) -> list[str]:
    """Return the differences in words; rows of one table with the same difference are one cause."""
    keys_of = grouped(((row.table, change), row.key) for row in rows for change in _changes(row))
    return [
        visible(f"{'' if table == _PORTS else f'{table}|'}{listed(keys)}: {change}")
        for (table, change), keys in keys_of.items()
    ]


def _changes(row: RowDifference) -> Iterator[str]:
    """Yield the differences of a row in words, without its table and key."""
    if row.kind == "changed":
        yield from _field_changes(row)
        return
    values = ", ".join(
        _value(row, field.field, field.after or field.before or "") for field in row.fields[:3]
    )
    more = f" and {len(row.fields) - 3} more fields" if len(row.fields) > 3 else ""
    what = f" ({values}{more})" if values else ""
    yield f"only on the device{what}" if row.kind == "removed" else f"missing on the device{what}"


def _field_changes(row: RowDifference) -> Iterator[str]:
    if row.table != "CABLE_LENGTH" and row.table not in _MAPS:
        yield from (_change(row, field) for field in row.fields)
        return
    identical = grouped(((field.before, field.after), field.field) for field in row.fields)
    for (before, after), names in identical.items():
        yield _moved(row.table, names, before, after)


def _moved(table: str, names: list[str], before: str | None, after: str | None) -> str:
    """Return the change of a map entry, ``DSCP 26 goes to TC 1; the intent says TC 3``, or of the cables of ports."""
    is_single = len(names) == 1
    if table == "CABLE_LENGTH":
        has = ("has" if is_single else "have") + (f" {before}" if before is not None else " no length")
        return f"{listed(names)} {has}; the intent says {after or 'none'}"
    source, target = _MAPS[table]
    goes = ("goes" if is_single else "go") + (f" to {target} {before}" if before is not None else " nowhere")
    return f"{source} {listed(names)} {goes}; the intent says {f'{target} {after}' if after else 'nowhere'}"


def _change(row: RowDifference, field: FieldDifference) -> str:
    name, words = field.field, _WORDS.get((row.table, field.field))
    what = f"{name} ({words[0]})" if words else name
    if field.before is None:
        return f"{what} is not set; the intent says {_shown_difference(row, name, field.after)}"
    says = "does not set it" if field.after is None else f"says {_shown_difference(row, name, field.after)}"
    return f"{what} is {_shown_difference(row, name, field.before)}; the intent {says}"


def _value(row: RowDifference, field: str, text: str) -> str:
    return f"{field} {_shown_difference(row, field, text)}"


def _shown_difference(row: RowDifference, field: str, text: str | None) -> str:
    words = _WORDS.get((row.table, field))
    digits = (text or "").removeprefix("-")
    if words is None or not digits.isascii() or not digits.isdecimal() or len(digits) > 20:
        return text or "empty"
    return words[1](int(text or "0"))


def _bytes(value: int) -> str:
    return format_bytes(value)


def _ms(value: int) -> str:
    return f"{value} ms"


def _percent(value: int) -> str:
    return f"{value} %"


def _alpha(value: int) -> str:
    """Return the exponent of a dynamic threshold, from -8 to 7 with its alpha, such as ``-1 (alpha 0.5)``."""
    return f"{value} (alpha {2.0**value:g})" if -8 <= value <= 7 else str(value)


_COLOURS: dict[str, tuple[str, Callable[[int], str]]] = {
    "min_threshold": ("Kmin", _bytes),
    "max_threshold": ("Kmax", _bytes),
    "drop_probability": ("Pmax", _percent),
}
_WORDS: dict[tuple[str, str], tuple[str, Callable[[int], str]]] = {
    ("BUFFER_POOL", "size"): ("shared and reserved", _bytes),
    ("BUFFER_POOL", "xoff"): ("shared headroom", _bytes),
    ("BUFFER_PROFILE", "dynamic_th"): ("exponent of alpha", _alpha),
    ("BUFFER_PROFILE", "size"): ("reserved", _bytes),
    ("BUFFER_PROFILE", "static_th"): ("static threshold", _bytes),
    ("BUFFER_PROFILE", "xoff"): ("headroom", _bytes),
    ("BUFFER_PROFILE", "xon"): ("resume below", _bytes),
    ("BUFFER_PROFILE", "xon_offset"): ("resume at most below the pause", _bytes),
    ("PFC_WD", "POLL_INTERVAL"): ("poll", _ms),
    ("PFC_WD", "detection_time"): ("detection", _ms),
    ("PFC_WD", "restoration_time"): ("restoration", _ms),
    **{
        ("WRED_PROFILE", f"{colour}_{field}"): words
        for colour in ("green", "yellow", "red")
        for field, words in _COLOURS.items()
    },
}
"""The usual name of a field, by table and field of CONFIG_DB, and the function that writes its value with the unit."""


def not_compared_lines(drifts: Iterable[Drift]) -> list[str]:
    """Return a line for each reason why settings are not compared."""
    by_why = grouped((why, what) for drift in drifts for what, why in drift.not_compared)
    return [f"not compared: {joined([*dict.fromkeys(what)])}: {why}" for why, what in by_why.items()]


def drift_json(drift: Drift) -> str:
    """Return the comparison of one switch as a JSON object."""
    import json

    return json.dumps({"version": VERSION, **device_drift(drift)}, indent=2)


def device_drift(drift: Drift) -> DeviceDriftData:
    """Return the comparison of one switch as plain data; ``change`` is None if no update is planned."""
    change = drift.change
    return {
        "device": drift.device,
        "file": drift.file,
        "intent": drift.intent,
        "drift": drift_data(drift.rows),
        "change": None
        if change is None
        else {
            "how": change.how,
            "ports_down": change.ports_down,
            "why": change.why,
            "harms": change.harms,
        },
        "patch": drift.patch,
        "not_compared": [each._asdict() for each in drift.not_compared],
        "errors": list(drift.problems),
    }


_NAMES = 6


def fabric_drift_lines(drifts: Iterable[Drift], style: TextStyle = PLAIN) -> list[str]:
    """Return each distinct drift below the names of its switches; without -v at most ROWS of them."""
    devices_of = grouped((tuple(causes_of(drift.rows)), drift.device) for drift in drifts if drift.rows)
    return cut([_together(devices, causes, style) for causes, devices in devices_of.items()], style)


def _together(devices: Sequence[str], causes: Sequence[str], style: TextStyle) -> str:
    number = f" ({len(devices):,} switches)" if len(devices) > 1 else ""
    below = cut([wrapped(cause, style, "  ") for cause in causes], style, "  ")
    return "\n".join([wrapped(f"{visible(named(devices))}{number}:", style), *below])


def named(devices: Iterable[str]) -> str:
    """Return the names of switches in natural order, of more than six the first ones and the number of the rest."""
    return listed(sorted(devices, key=natural_key), _NAMES)


def fabric_summary(intent: str, drifts: Sequence[Drift], missing: Sequence[str]) -> list[str]:
    """Return lines with how many switches were compared and differ, which have no file, and what was not compared."""
    rows = sum(len(drift.rows) for drift in drifts)
    drifted = sum(1 for drift in drifts if drift.rows)
    differ = f"{drifted:,} differ{'s' if drifted == 1 else ''} from {intent} in {rows:,} row{'' if rows == 1 else 's'}"
    same = "configured as it declares" if drifted else f"configured as {intent} declares"
    parts = [differ] if drifted else []
    parts += [f"{len(drifts) - drifted:,} {same}"] if drifted < len(drifts) else []
    lines = ["; ".join([f"{len(drifts):,} of {len(drifts) + len(missing):,} switches compared", *parts])]
    lines += [f"no configuration here of {named(missing)}"] if missing else []
    return lines + not_compared_lines(drifts)


def fabric_drift_json(
    intent: str, drifts: Sequence[Drift], missing: Sequence[str], errors: Sequence[ProblemData]
) -> str:
    """Return a comparison of many switches as one JSON object; ``errors`` are the files that were not compared."""
    import json

    data: FabricDriftData = {
        "version": VERSION,
        "intent": intent,
        "devices": [device_drift(drift) for drift in drifts],
        "missing": list(missing),
        "errors": list(errors),
        "total": _total(drifts, missing, errors),
    }
    return json.dumps(data, indent=2)


def _total(drifts: Sequence[Drift], missing: Sequence[str], errors: Sequence[ProblemData]) -> DriftTotals:
    changes = [drift.change for drift in drifts if drift.change is not None]
    return {
        "compared": len(drifts),
        "drifted": sum(1 for drift in drifts if drift.rows),
        "rows": sum(len(drift.rows) for drift in drifts),
        "patch": sum(1 for change in changes if change.how == "patch"),
        "reload": sum(1 for change in changes if change.how == "reload"),
        "refused": len(drifts) - len(changes),
        "ports_down": sum(len(change.ports_down) for change in changes),
        "missing": len(missing),
        "errors": len(errors),
    }


def figures_text(figures: Figures) -> str:
    """Return the figures in one sentence; fields that only the render has count as not the same.

    The share is rounded down, so that 100 % means every field.
    """
    fields = figures.fields + figures.added
    share = f"{1000 * figures.fields_same // fields / 10:.1f} %" if fields else "none"
    return (
        f"rendered again: {figures.fields_same:,} of {fields:,} fields the same ({share}), "
        f"{figures.rows_same:,} of {figures.rows:,} rows, {figures.tables_same} of {figures.tables} tables; "
        f"{figures.added:,} fields are added"
    )


def differences_text(
    differences: Sequence[ImportDifference], reasons: Mapping[str, str], style: TextStyle = PLAIN
) -> str:
    """Return a table of the differences of an import by kind: fields, devices, reason; then one example each.

    Without -v at most ROWS kinds are shown.
    """
    kinds = grouped((difference.kind, difference) for difference in differences)
    ranked = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [("fields", "devices", "kind", "why")]
    rows += [
        (f"{len(of_kind):,}", _devices(of_kind), kind, reasons.get(kind, "")) for kind, of_kind in ranked
    ]
    shown = ranked if style.verbose else ranked[:ROWS]
    examples = [
        wrapped(f"{kind}: {visible(_shown_import(of_kind[0].cell))}", style, "  ") for kind, of_kind in shown
    ]
    return "\n".join([table(rows, style, "  "), "one of each kind:", *examples])


def _devices(differences: Sequence[ImportDifference]) -> str:
    return str(len({difference.device for difference in differences}))


def _shown_import(cell: Cell) -> str:
    """Return a field that differs after an import as ``QUEUE|Ethernet0|3|scheduler: a, rendered b``."""
    was = "absent" if cell.deployed is None else cell.deployed or "empty"
    now = "left out" if cell.rendered is None else f"rendered {cell.rendered}"
    return f"{cell.table}|{cell.key}|{cell.field}: {was}, {now}"


def plan_lines(plans: Sequence[UpdatePlan]) -> list[str]:
    """Return a line for each list of reasons to reload switches, one for all patched ones, one for each list of harms.

    Each line names or counts its switches.
    """
    reloads = grouped((plan.why, plan.device) for plan in plans if plan.how == "reload")
    lines = [f"{listed(devices)}: reload, not patch; {'; '.join(why)}" for why, devices in reloads.items()]
    patched = [plan for plan in plans if plan.how == "patch"]
    hit = sum(1 for plan in patched if plan.ports_down)
    if patched:
        ports = f"; on {hit} of them it takes ports down on the way" if hit else "; no port goes down"
        lines.append(f"a patch brings {len(patched)} of {len(plans)} switches there{ports}")
    harmed = grouped((plan.harms, plan.device) for plan in patched if plan.harms)
    lines += (
        f"{listed(devices)}: lossless traffic is harmed: {'; '.join(why)}" for why, devices in harmed.items()
    )
    return lines
