"""What SONiC's config updater admits of a patch, and which ports it takes down on the way.

``config apply-patch`` and ``config replace`` hold every change to rules of their own, by chip and release, before the
YANG models are asked: ``profiles/sonic/updater.json`` has them with their sources. A release or a HWSKU that the
rules do not know is never guessed at: such a change needs ``config reload``.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.changes.patch import Operation, operations
from lossless.formats.sonic.changes.traffic import harms
from lossless.ground.basics.data_files import data_dir
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lossless.formats.sonic.validate.rows import RowFlaw

NEWEST = "master"
"""The release whose builds carry no number that the updater could compare."""


class UpdateRefusal(NamedTuple):
    """One change that the updater refuses: what it would have done, to which table, row and field, and why not."""

    op: str
    path: tuple[str, ...]
    why: str


class Update(NamedTuple):
    """How one running configuration becomes another: the steps, what is refused of them, ports taken down.

    ``ports_down`` are ports that are up, and that the updater takes down while it changes their rows. ``harms`` says
    what the change does to lossless traffic, whether or not a port goes down.
    """

    operations: tuple[Operation, ...]
    refusals: tuple[UpdateRefusal, ...]
    ports_down: tuple[str, ...]
    harms: tuple[str, ...] = ()

    @property
    def hitless(self) -> bool:
        """Whether a patch does it, with no port taken down and no lossless traffic harmed."""
        return not self.refusals and not self.ports_down and not self.harms


class _UpdaterRules(NamedTuple):
    """The rules of one release for one HWSKU; ``chip`` is the updater's own name, None where it has none."""

    release: str
    hwsku: str
    chip: str | None
    tables: Mapping[str, Any]
    never: Mapping[str, Sequence[str]]


def update(running: Mapping[str, Any], target: Mapping[str, Any], release: str | None, hwsku: str) -> Update:
    """Return how ``running`` becomes ``target``; ``release`` is None where the device's is not known."""
    steps = operations(running, target)
    seen = [step for step in steps if not _respells(step, running)]
    refused = [*_refusals(seen, running, release, hwsku), *(_by_models(running, target) if seen else ())]
    return Update(steps, tuple(refused), _ports_down(seen, running), harms(running, target) if seen else ())


def release_of(running: Mapping[str, Any]) -> str | None:
    """Return the release that a device says it runs, None where it says none that is known."""
    from lossless.formats.sonic.validate.schema import schema

    return schema().release(_at(running, ("VERSIONS", "DATABASE", "VERSION")))


def _by_models(running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield what SONiC's models refuse of either whole configuration.

    The updater asks them of the result before it starts, and loads the current configuration into them to find what
    refers to what while it puts its steps in order (sonic-utilities generic_config_updater, gu_common.py,
    PathAddressing.find_ref_paths @691b1bb).
    """
    from lossless.formats.sonic.validate.conformity import validate

    refused = {
        (problem.path, _refused_by_models(problem.flaw)): whole
        for whole, tables in (("current configuration", running), ("file", target))
        for problem in validate(tables).problems
        if problem.flaw.sure
    }
    for (path, message), whole in refused.items():
        why = f"the updater checks the whole {whole} by SONiC's models, which refuse it: {message}"
        yield UpdateRefusal("check", path, why)


def _refused_by_models(flaw: RowFlaw) -> str:
    if not flaw.reference:
        return flaw.message
    if flaw.value.startswith("["):
        return "rows are named in brackets, the form of before 202111"
    return f"{flaw.value!r} is named, and {flaw.reference[0]} has no such row"


def releases() -> tuple[str, ...]:
    """Return the releases whose rules are known."""
    return tuple(_table()["releases"])


@cache
def _table() -> dict[str, Any]:
    import json

    # Plain strings: pathlib costs a linter's start a third of an interpreter's.
    path = os.path.join(data_dir("profiles"), "sonic", "updater.json")  # noqa: PTH118
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        table: dict[str, Any] = json.load(file)
    return table


def _respells(step: Operation, running: Mapping[str, Any]) -> bool:
    """Return whether a step is none in the database of the switch, where every value is text."""
    before = _at(running, step.path)
    return step.op == "replace" and isinstance(before, int) and str(before) == step.value


def _at(data: Any, path: Iterable[str]) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _refusals(
    steps: Sequence[Operation], running: Mapping[str, Any], release: str | None, hwsku: str
) -> Iterator[UpdateRefusal]:
    table = _table()
    known = table["releases"].get(release)
    if known is None:
        why = f"the updater's rules of release {release} are not known" if release else _NO_RELEASE
        yield from (UpdateRefusal(step.op, step.path, why) for step in steps)
        return
    chip = _chip(hwsku, table["chips"][known["chips"]])
    rules = _UpdaterRules(str(release), hwsku, chip, table["rules"][known["rules"]]["tables"], table["never"])
    gone = [_at(running, step.path) for step in steps if step.op == "remove"]
    for step in steps:
        refused = _at_start(step) or _refused(step, rules, gone)
        if refused is not None:
            yield UpdateRefusal(step.op, step.path, refused)


_NO_RELEASE = "the release of the device is not known, and so not what its updater admits"


def _chip(hwsku: str, chips: Mapping[str, Mapping[str, Sequence[str]]]) -> str | None:
    """Return the updater's name of the chip: some products are listed whole, of others a part of the name."""
    name = hwsku.lower()
    for chip, listed in chips["whole"].items():
        if name in map(str.lower, listed):
            return chip
    for chip, listed in chips["part"].items():
        if any(part.lower() in name for part in listed):
            return chip
    return None


def _refused(step: Operation, rules: _UpdaterRules, gone: Sequence[Any]) -> str | None:
    """Return why the updater refuses a step, None where it does not."""
    if "/".join(step.path) in rules.never.get(step.op, ()):
        return "the updater never does that"
    own = rules.tables.get(step.path[0])
    if own is None:
        return None
    if len(step.path) <= 2 and "rows" in own:
        return None if step.op in own["rows"] else _not_admitted(step, rules)
    if rules.chip is None:
        return f"the updater of {rules.release} does not list HWSKU {rules.hwsku}"
    if step.op == "add" and step.value in gone:
        # jsonpatch makes one move of a removal and an addition of the same value, which no rule admits.
        return "the updater sees it as moved from a row that goes, and admits no moves"
    if all(_admitted(name, step.op, own, rules) for name in _names(step, whole=own["fields"] == "whole")):
        return None
    return _not_admitted(step, rules)


def _at_start(step: Operation) -> str | None:
    """Return why a change has no effect before the services start again, None where it has."""
    fields = _table()["at_start"]["fields"]
    return "it is read only when the services start" if "/".join(step.path) in fields else None


def _not_admitted(step: Operation, rules: _UpdaterRules) -> str:
    did = {"add": "adding", "replace": "changing", "remove": "removing"}[step.op]
    what = {1: "the table", 2: "a row"}.get(len(step.path), "this field")
    return f"the updater of {rules.release} does not admit {did} {what}"


def _names(step: Operation, *, whole: bool) -> list[str]:
    """Return the fields that the updater sees in a step: parts with digits count as ports, and are left out."""
    parts = [part for part in step.path[1:] if not (whole and any(map(str.isdigit, part)))]
    place = "/".join(parts).lower()
    if isinstance(step.value, dict):
        return [f"{place}/{key}" if place else key for key in step.value]
    return [place]


def _admitted(name: str, op: str, own: Mapping[str, Any], rules: _UpdaterRules) -> bool:
    seen = name if own["fields"] == "whole" else name.rpartition("/")[2]
    scenario = next(
        (scenario_row for scenario_row in own["scenarios"] if seen in scenario_row["fields"]), None
    )
    if scenario is None or op not in scenario["operations"]:
        return False
    since = scenario["since"].get(rules.chip)
    return since is not None and (rules.release == NEWEST or f"{rules.release}00" >= since)


def _ports_down(steps: Iterable[Operation], running: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ports that are up and have rows among the steps, of tables that need their port down."""
    from lossless.ground.basics.natural_order import natural_key

    need = _table()["ports_down"]["tables"]
    ports = {
        key.partition("|")[0]
        for step in steps
        if step.path[0] in need
        for key in (step.path[1:2] or _rows(running.get(step.path[0])) | _rows(step.value))
    }
    up = {port for port in ports if _at(running, ("PORT", port, "admin_status")) == "up"}
    return tuple(sorted(up, key=natural_key))


def _rows(table: Any) -> dict[str, Any]:
    return table if isinstance(table, dict) else {}
