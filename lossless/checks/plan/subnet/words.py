"""Descriptions of manual work in a subnet's change, and of the interruptions that it causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lossless.checks.plan.subnet.mixtures import lost_keys, routes_differ, used_levels
from lossless.checks.plan.subnet.order import aggregation_host
from lossless.checks.rules.infiniband.partitions import base_of, key_tables
from lossless.checks.rules.infiniband.subnet_queries import number, value
from lossless.ground.basics.wording import joined, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lossless.checks.plan.subnet.managers import ManagerMove
    from lossless.checks.plan.subnet.model import Phase, SubnetChange


def interrupts(move: ManagerMove, phase: Phase) -> Iterator[str]:
    """Yield the effects of a manager's change on traffic, or that it has none."""
    if move.before == "standby":
        yield f"{move.host} is a standby and sets nothing"
        if move.after == "master":
            yield f"{move.host} becomes the master by its priority: {_SILENT}"
        return
    if move.after == "standby":
        yield f"{move.host} hands over to a manager of higher priority: {_SILENT}"
    elif move.how == "hup":
        yield f"{move.host} sweeps the subnet: switches and ports are set one after another"
    elif move.alone:
        yield f"{move.host} is the only manager: {_SILENT}, from its stop on"
    else:
        subnet = phase.old.subnet
        ms = number(subnet, "sminfo_polling_timeout") * (number(subnet, "polling_retry_number") + 2)
        yield f"{move.host} is away, and a standby takes over after {ms / 1000:g} s at most: {_SILENT}"
    if routes_differ(phase.old.subnet, phase.new.subnet):
        yield "routes change: whether packets under way are lost or overtake each other is not known"
    yield "what switches do to packets in the moment that their tables change is not known"


_SILENT = (
    "paths and joins are not answered until its first sweep has ended (opensm/osm_sa_mad_ctrl.c @fa74b98); "
    "traffic on the paths that there are goes on"
)


def by_hand(phase: Phase, why: Sequence[str]) -> Iterator[str]:
    """Yield the manual work with jobs; ``why`` are the dangers while jobs run."""
    if phase.kind == "stop":
        yield "stop all jobs on this subnet: no order of steps keeps their traffic safe"
        yield from why
    elif phase.kind == "start":
        yield "start the jobs again"
    else:
        yield from _of_jobs(phase)


def _of_jobs(phase: Phase) -> Iterator[str]:
    old, new = phase.old.subnet, phase.new.subnet
    gone = sorted(used_levels(old) - used_levels(new))
    if gone:
        levels = joined(map(str, gone))
        yield f"restart every job that began before this step: its queue pairs keep SL {levels}"
    for key, names in lost_keys(old, new).items():
        yield f"end or restart what uses P_Key {key:#06x} on {listed(names, 3)}: they lose it next"
    if aggregation_host(phase.old) is not None and aggregation_host(phase.new) is None:
        yield "restart every job that uses SHARP: its manager ends next"


def notes(change: SubnetChange) -> Iterator[str]:
    """Yield the checks that a plan leaves to people."""
    old, new = change.current.subnet, change.target.subnet
    if value(old, "qos") is True and value(new, "qos") is not True:
        yield (
            "opensm leaves SL2VL and arbitration tables as they are once qos is FALSE (osm_qos.c @fa74b98): what "
            "switches have after they restart is not known"
        )
    before = key_tables(old)
    if any({*map(base_of, keys)} - {*map(base_of, before[hca])} for hca, keys in key_tables(new).items()):
        yield (
            "P_Keys that are added get the place after the last: check the places that jobs use before they start, "
            "with `smpquery pkeys`"
        )
