"""The SONiC config updater's answer to a patch of CONFIG_DB: accepted, with its side effects, or refused at a stage.

The stages are those of ``config apply-patch``, in its order: the patch applies; the updater's own rules permit the
difference; no table is left empty; SONiC's models define every table of the patch; they accept the whole result.

``config apply-patch`` and ``config replace`` have rules of their own, by chip and release, which they apply before the
YANG models: ``profiles/sonic/updater.json`` has them with their sources. Nothing is guessed for a release without
rules, or in a table with rules by chip for a HWSKU that they lack: such a change needs ``config reload``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from lossless.formats.sonic.capabilities.updater_sorting import (
    NEWEST,
    UpdaterDevice,
    emptied_rows,
    ports_down,
    rules_of,
    updater_table,
)
from lossless.formats.sonic.changes.json_patch import (
    Operation,
    PatchDoesNotApply,
    applied,
    elements,
    harms,
    operations,
    parts,
)
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.sonic.capabilities.updater_sorting import EmptiedRow
    from lossless.formats.sonic.validate.checks import RowFlaw


Stage = Literal["patch", "field-operation", "empty-table", "table-without-yang", "target-yang"]


class UpdateRefusal(NamedTuple):
    """One reason why the updater refuses a patch: operation (``check``: of the whole result), path and text."""

    op: str
    path: tuple[str, ...]
    why: str


class PatchVerdict(NamedTuple):
    """The updater's answer to a patch of CONFIG_DB.

    ``stage`` is where it is refused, None if it is accepted; ``refusals`` are the changes refused there. ``target`` is
    the result, None if the patch does not apply. Of an accepted patch, ``ports_down`` are the ports that are up and go
    down on the way, each once, and ``emptied`` the removed rows that lose fields while others refer to them.
    """

    stage: Stage | None
    refusals: tuple[UpdateRefusal, ...] = ()
    target: Mapping[str, Any] | None = None
    ports_down: tuple[str, ...] = ()
    emptied: tuple[EmptiedRow, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the updater applies the patch."""
        return self.stage is None


def patch_verdict(
    running: Mapping[str, Any], patch: Sequence[Mapping[str, Any]], device: UpdaterDevice | None
) -> PatchVerdict:
    """Return the answer of a device's updater to an RFC 6902 patch of its running configuration.

    With device None, as its release is unknown, the updater's own rules are left out.
    """
    # The database has no tables without rows.
    running = {table: rows for table, rows in running.items() if rows}
    try:
        target = applied(running, patch)
    except PatchDoesNotApply as error:
        path = tuple(error.path.split("/")[1:])
        return PatchVerdict("patch", (UpdateRefusal(error.op, path, str(error)),))
    if misshapen := tuple(_misshapen(target)):
        return PatchVerdict("target-yang", misshapen, target)
    stages: tuple[tuple[Stage, Iterator[UpdateRefusal]], ...] = (
        ("field-operation", field_refusals(running, target, device) if device else iter(())),
        ("empty-table", _empty_tables(target)),
        ("table-without-yang", _tables_without_model(patch)),
        ("target-yang", model_refusals(target, device.release if device else None)),
        ("target-yang", _gone_ports_named(running, target)),
    )
    for stage, refusals in stages:
        refused = tuple(refusals)
        if refused:
            return PatchVerdict(stage, refused, target)
    return PatchVerdict(None, (), target, ports_down(running, target), emptied_rows(running, target))


def _misshapen(target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield the tables that are no objects of rows, and the rows that are no objects of fields."""
    for table, rows in target.items():
        if rows is not None and not isinstance(rows, dict):
            yield UpdateRefusal("check", (table,), "a table is an object of rows")
            continue
        for key, row in (rows or {}).items():
            if not isinstance(row, dict):
                yield UpdateRefusal("check", (table, key), "a row is an object of fields")


def field_refusals(
    running: Mapping[str, Any], target: Mapping[str, Any], device: UpdaterDevice
) -> Iterator[UpdateRefusal]:
    """Yield the changes of tables, rows and fields that the updater's own rules refuse; all if they are unknown."""
    rules = rules_of(device)
    for element in elements(running, target):
        why = (
            rules.refusal(element)
            if rules
            else f"the updater's rules of release {device.release} are not known"
        )
        if why is not None:
            yield UpdateRefusal(element.op, element.path, why)
    if rules and rules.own.get("typed_acl_rules"):
        yield from _rules_of_retyped_tables(running, target)


def _rules_of_retyped_tables(
    running: Mapping[str, Any], target: Mapping[str, Any]
) -> Iterator[UpdateRefusal]:
    """Yield refusals of ACL_RULE rows that change together with the type of their ACL_TABLE row."""
    before, after = _acl_types(running), _acl_types(target)
    retyped = {table for table in before.keys() & after.keys() if before[table] != after[table]}
    if not retyped:
        return
    old, new = running.get("ACL_RULE", {}), target.get("ACL_RULE", {})
    for key in sorted(old.keys() | new.keys()):
        if key.partition("|")[0] in retyped and old.get(key, {}) != new.get(key, {}):
            why = "the type of its ACL_TABLE row changes in the same patch"
            yield UpdateRefusal("replace", ("ACL_RULE", key), why)


def _acl_types(configuration: Mapping[str, Any]) -> dict[str, str]:
    types = {table: row.get("type") for table, row in configuration.get("ACL_TABLE", {}).items()}
    return {table: kind for table, kind in types.items() if kind and kind != "CTRLPLANE"}


def _empty_tables(target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    for table, rows in target.items():
        if not rows:
            yield UpdateRefusal(
                "check", (table,), "the patch leaves the table empty; remove the table itself"
            )


def _tables_without_model(patch: Sequence[Mapping[str, Any]]) -> Iterator[UpdateRefusal]:
    from lossless.formats.sonic.validate.schema import schema

    known = schema()
    for operation in patch:
        path = parts(operation["path"])
        for table in path[:1] or operation["value"]:
            if table not in known.tables and table not in known.others:
                yield UpdateRefusal(
                    operation["op"], (table, *path[1:]), "SONiC's models do not know the table"
                )


def model_refusals(configuration: Mapping[str, Any], release: str | None) -> Iterator[UpdateRefusal]:
    """Yield the parts of a whole configuration that SONiC's YANG models surely, or the updater's own checks, refuse.

    The models are those of a release; with None, those of the release that the configuration names, else of master.
    Rows may lack a field for which the updater has a default.
    """
    from lossless.formats.sonic.validate.conformity import validate

    defaults = updater_table()["defaults"]["tables"]
    for problem in validate(configuration, release).problems:
        if problem.flaw.sure and not (problem.flaw.kind == "missing" and problem.table in defaults):
            yield UpdateRefusal("check", problem.path, _said_by_models(problem.flaw))
    yield from _lanes_in_use(configuration)
    if release == NEWEST:
        yield from _fields_of_no_model(configuration)


def _fields_of_no_model(configuration: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield fields of ``DEVICE_METADATA|localhost`` that SONiC's models do not define."""
    from lossless.formats.sonic.validate.schema import table_schema

    described = table_schema("DEVICE_METADATA", NEWEST)
    row = configuration.get("DEVICE_METADATA", {}).get("localhost", {})
    known = {
        *updater_table()["device_fields"]["fields"],
        *(described.rows["localhost"].fields if described else ()),
    }
    for field in row.keys() - known:
        yield UpdateRefusal("check", ("DEVICE_METADATA", "localhost", field), f"has no field {field}")


def _said_by_models(flaw: RowFlaw) -> str:
    if not flaw.reference:
        return flaw.message
    if flaw.value.startswith("["):
        return "rows are named in brackets, the form of before 202111"
    return f"{flaw.value!r} is named, and {flaw.reference[0]} has no such row"


def _gone_ports_named(running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield rows of the target that name a removed port, in tables that this package does not check row by row."""
    gone = running.get("PORT", {}).keys() - target.get("PORT", {}).keys()
    users = updater_table()["port_users"]
    for table, field in (*((table, None) for table in users["keys"]), *users["fields"].items()):
        for key, row in target.get(table, {}).items() if gone else ():
            named = _listed(row.get(field)) if field else {key.split(".")[0], *key.split("|")}
            for port in sorted(gone & named):
                where = (table, key, field) if field else (table, key)
                yield UpdateRefusal("check", where, f"{port!r} is named, and PORT has no such row")


def _listed(value: Any) -> set[str]:
    names = value if isinstance(value, list) else str(value).split(",") if value else ()
    return {str(name).strip() for name in names}


def _lanes_in_use(target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield ports with a lane that is not a number, or that is used twice where the platform does not share lanes."""
    ports = target.get("PORT", {})
    lanes = {
        port: [lane.strip() for lane in str(row["lanes"]).split(",")]
        for port, row in ports.items()
        if "lanes" in row
    }
    uses = Counter(lane for own in lanes.values() for lane in own)
    for port, own in lanes.items():
        for lane in own:
            if not lane.isdigit():
                yield UpdateRefusal("check", ("PORT", port, "lanes"), f"{lane!r} is not a lane")
            elif uses[lane] > 1 and not _shares_lanes(target):
                yield UpdateRefusal("check", ("PORT", port, "lanes"), f"lane {lane} is used more than once")


def _shares_lanes(target: Mapping[str, Any]) -> bool:
    platform = target.get("DEVICE_METADATA", {}).get("localhost", {}).get("platform")
    return platform in updater_table()["shared_lanes"]["platforms"]


class Update(NamedTuple):
    """A change of a running CONFIG_DB: its operations, the updater's refusals, the ports that it takes down.

    ``ports_down`` are ports that are up, and that go down on the way or for good. ``harms`` lists effects of the change
    on lossless traffic, whether or not a port goes down.
    """

    operations: tuple[Operation, ...]
    refusals: tuple[UpdateRefusal, ...]
    ports_down: tuple[str, ...]
    harms: tuple[str, ...] = ()

    @property
    def hitless(self) -> bool:
        """Whether the updater accepts the change, with no port taken down and no lossless traffic harmed."""
        return not self.refusals and not self.ports_down and not self.harms


def update(running: Mapping[str, Any], target: Mapping[str, Any], release: str | None, hwsku: str) -> Update:
    """Return the change from ``running`` to ``target``; for an unknown ``release`` all that it writes is refused."""
    before, after = in_database(running), in_database(target)
    seen = operations(before, after)
    if not seen:
        return Update(operations(running, target), (), ())
    refused = (*_refusals(seen, before, after, release, hwsku), *_by_models(running, target))
    return Update(operations(running, target), refused, ports_down(before, after), harms(running, target))


def release_of(running: Mapping[str, Any]) -> str | None:
    """Return the release that VERSIONS|DATABASE of a running configuration names, None if it names no known one."""
    from lossless.formats.sonic.validate.schema import schema

    return schema().release(_at(running, ("VERSIONS", "DATABASE", "VERSION")))


def _by_models(running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield the violations of SONiC's models in the whole current configuration or in the whole target, each once.

    The updater checks the result before it starts, and loads the current configuration into the models to find
    references between rows while it puts its steps in order (sonic-utilities generic_config_updater, gu_common.py,
    PathAddressing.find_ref_paths @691b1bb).
    """
    refused = {
        (refusal.path, refusal.why): whole
        for whole, tables in (("current configuration", running), ("file", target))
        for refusal in model_refusals(tables, None)
    }
    for (path, message), whole in refused.items():
        why = f"the updater checks the whole {whole} by SONiC's models, which refuse it: {message}"
        yield UpdateRefusal("check", path, why)


def releases() -> tuple[str, ...]:
    """Return the SONiC releases whose updater rules are known."""
    return tuple(updater_table()["releases"])


def _at(data: Any, path: Iterable[str]) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _refusals(
    steps: Sequence[Operation],
    running: Mapping[str, Any],
    target: Mapping[str, Any],
    release: str | None,
    hwsku: str,
) -> Iterator[UpdateRefusal]:
    if release not in releases():
        why = f"the updater's rules of release {release} are not known" if release else _NO_RELEASE
        yield from (UpdateRefusal(step.op, step.path, why) for step in steps)
        return
    at_start = updater_table()["at_start"]["fields"]
    for step in steps:
        if "/".join(step.path) in at_start:
            yield UpdateRefusal(step.op, step.path, "it is read only when the services start")
    yield from kept_by_orchagent(steps)
    yield from field_refusals(running, target, UpdaterDevice(hwsku, release))


def kept_by_orchagent(steps: Iterable[Operation]) -> Iterator[UpdateRefusal]:
    """Yield the removals (SWITCH_TRIMMING) that the updater would do, and orchagent does not until it starts again."""
    tables = updater_table()["not_removed"]["tables"]
    for step in steps:
        if step.op == "remove" and step.path[0] in tables:
            yield UpdateRefusal(step.op, step.path, "orchagent does not take it away from a switch that runs")


_NO_RELEASE = (
    "the release of the device is not known, and so not what its updater permits; "
    "state sonic.release in the intent"
)


def in_database(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as the switch's database has it: integers of fields are text, empty tables are gone."""
    return {table: _as_text(rows) for table, rows in configuration.items() if rows}


def _as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_text(own) for name, own in value.items()}
    return str(value) if isinstance(value, int) else value
