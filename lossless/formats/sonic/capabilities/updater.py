"""Patches that SONiC's config updater permits, and the ports that it takes down on the way.

``config apply-patch`` and ``config replace`` check every change by rules of their own, by chip and release, before the
YANG models: ``profiles/sonic/updater.json`` has them with their sources. For a release or a HWSKU that is missing from
the rules nothing is guessed: such a change needs ``config reload``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lossless.formats.sonic.capabilities.updater_rules import UpdaterDevice, updater_table
from lossless.formats.sonic.capabilities.updater_sorting import ports_down
from lossless.formats.sonic.capabilities.updater_verdict import (
    UpdateRefusal,
    field_refusals,
    model_refusals,
)
from lossless.formats.sonic.changes.patch import Operation, operations
from lossless.formats.sonic.changes.traffic import harms
from lossless.ground.basics.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class Update(NamedTuple):
    """The change from one running configuration to another: its steps, the refused ones, the ports taken down.

    ``ports_down`` are ports that are up, and that the updater takes down while it changes their rows. ``harms`` lists
    effects of the change on lossless traffic, whether or not a port goes down.
    """

    operations: tuple[Operation, ...]
    refusals: tuple[UpdateRefusal, ...]
    ports_down: tuple[str, ...]
    harms: tuple[str, ...] = ()

    @property
    def hitless(self) -> bool:
        """Whether a patch does it, with no port taken down and no lossless traffic harmed."""
        return not self.refusals and not self.ports_down and not self.harms


def update(running: Mapping[str, Any], target: Mapping[str, Any], release: str | None, hwsku: str) -> Update:
    """Return the change from ``running`` to ``target``; ``release`` is None if the device's is unknown."""
    before, after = in_database(running), in_database(target)
    seen = operations(before, after)
    if not seen:
        return Update(operations(running, target), (), ())
    refused = (*_refusals(seen, before, after, release, hwsku), *_by_models(running, target))
    return Update(operations(running, target), refused, ports_down(before, after), harms(running, target))


def release_of(running: Mapping[str, Any]) -> str | None:
    """Return the release that a device reports, None if it reports none that is known."""
    from lossless.formats.sonic.validate.schema import schema

    return schema().release(_at(running, ("VERSIONS", "DATABASE", "VERSION")))


def _by_models(running: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[UpdateRefusal]:
    """Yield the violations of SONiC's models in either whole configuration.

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
    """Return the releases whose rules are known."""
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
    """Yield the rows that the updater would remove, and orchagent keeps until it starts again."""
    tables = updater_table()["not_removed"]["tables"]
    for step in steps:
        if step.op == "remove" and step.path[0] in tables:
            yield UpdateRefusal(step.op, step.path, "orchagent does not take it away from a switch that runs")


_NO_RELEASE = (
    "the release of the device is not known, and so not what its updater permits; "
    "state sonic.release in the intent"
)


def in_database(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as the database of the switch has it: numbers are text, no table is without rows."""
    return {table: _as_text(rows) for table, rows in configuration.items() if rows}


def _as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_text(own) for name, own in value.items()}
    return str(value) if isinstance(value, int) else value
